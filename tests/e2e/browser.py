# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives a headless Chromium through its debugging pipe, with nothing but
Python's own library.

    with Browser() as b:
        page = b.open('/tmp/report.html')
        page.run('document.title')

Messages are JSON with a NUL after each, over two descriptors (the switch
--remote-debugging-pipe: 3 is read, 4 is written by the browser).
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ('chromium', 'chromium-browser', 'google-chrome',
         'google-chrome-stable')
TIMEOUT = 60


def ok(name, good, got=''):
    print('%s %s' % ('ok' if good else 'not ok', name))
    if not good:
        print('got: %s' % (got,))
    sys.stdout.flush()


def same(name, got, want):
    ok(name, got == want, '%r, want: %r' % (got, want))


class BrowserError(Exception):
    pass


def find():
    """The browser's path, or None."""
    for name in (os.environ.get('CHROMIUM'),) + NAMES:
        path = name and shutil.which(name)
        if path:
            return path
    return None


class Browser:
    def __init__(self, path=None):
        self.path = path or find()
        self.dir = tempfile.mkdtemp(prefix='tally-browser.')
        self.last = 0
        self.events = []
        self.answers = {}
        self.rest = b''

    def __enter__(self):
        down, self.to = os.pipe()
        self.of, up = os.pipe()
        args = [self.path, '--headless=new', '--no-sandbox', '--disable-gpu',
                '--disable-dev-shm-usage', '--no-first-run',
                '--disable-extensions', '--disable-background-networking',
                '--disable-component-update', '--disable-sync',
                '--hide-scrollbars', '--force-color-profile=srgb',
                '--user-data-dir=' + self.dir, '--remote-debugging-pipe',
                'about:blank']

        def pipes():
            # both may be 3 or 4 themselves
            a, b = os.dup(down), os.dup(up)
            c, d = os.dup(a), os.dup(b)
            os.dup2(c, 3)
            os.dup2(d, 4)
            os.setsid()

        self.proc = subprocess.Popen(
            args, preexec_fn=pipes, close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        return self

    def __exit__(self, *_):
        try:
            self.call('Browser.close')
            self.proc.wait(10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            pass
        if self.proc.poll() is None:
            os.killpg(self.proc.pid, signal.SIGKILL)
            self.proc.wait()
        os.close(self.to)
        os.close(self.of)
        shutil.rmtree(self.dir, ignore_errors=True)

    def call(self, method, session=None, **params):
        self.last += 1
        message = {'id': self.last, 'method': method, 'params': params}
        if session:
            message['sessionId'] = session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.to, data):]
        end = time.monotonic() + TIMEOUT
        while self.last not in self.answers:
            self.read(end)
        answer = self.answers.pop(self.last)
        if 'error' in answer:
            raise BrowserError('%s: %s' % (method, answer['error']))
        return answer['result']

    def read(self, end):
        left = end - time.monotonic()
        if left <= 0 or not select.select([self.of], [], [], left)[0]:
            raise BrowserError('no answer from the browser')
        data = os.read(self.of, 1 << 20)
        if not data:
            raise BrowserError('the browser ended')
        *whole, self.rest = (self.rest + data).split(b'\0')
        for text in whole:
            message = json.loads(text)
            if 'id' in message:
                self.answers[message['id']] = message
            else:
                self.events.append(message)

    def open(self, path, width=1280, height=800, dark=False, fragment='',
             mobile=False):
        return Page(self, path, width, height, dark, fragment, mobile)


class Page:
    def __init__(self, browser, path, width, height, dark, fragment, mobile):
        self.browser = browser
        target = browser.call('Target.createTarget', url='about:blank')
        self.target = target['targetId']
        self.session = browser.call('Target.attachToTarget',
                                    targetId=self.target,
                                    flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')
        self.call('Network.emulateNetworkConditions', offline=True, latency=0,
                  downloadThroughput=0, uploadThroughput=0)
        self.size(width, height, mobile)
        self.scheme(dark)
        self.go(path, fragment)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def size(self, width, height, mobile=False):
        self.call('Emulation.setDeviceMetricsOverride', width=width,
                  height=height, deviceScaleFactor=2 if mobile else 1,
                  mobile=mobile)

    def scheme(self, dark):
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme',
             'value': 'dark' if dark else 'light'}])

    def go(self, path, fragment=''):
        self.call('Page.navigate', url='file://' + os.path.abspath(path) +
                  (fragment and '#' + fragment))
        self.wait('document.documentElement && '
                  'document.documentElement.dataset.ready')

    def run(self, script):
        r = self.call('Runtime.evaluate', expression=script,
                      returnByValue=True, awaitPromise=True,
                      userGesture=True)
        if 'exceptionDetails' in r:
            d = r['exceptionDetails']
            raise BrowserError('%s: %s' % (script, d.get('exception', {}).get(
                'description', d['text'])))
        return r['result'].get('value')

    def wait(self, script):
        end = time.monotonic() + TIMEOUT
        while not self.run(script):
            if time.monotonic() > end:
                raise BrowserError('waited in vain for ' + script)
            time.sleep(0.02)

    def key(self, key, modifiers=0):
        text = {'Enter': '\r', ' ': ' '}.get(key, key if len(key) == 1 else '')
        codes = {'Enter': 13, 'Escape': 27, 'ArrowUp': 38, 'ArrowDown': 40,
                 'ArrowLeft': 37, 'ArrowRight': 39, 'Tab': 9,
                 'Backspace': 8, 'F10': 121, 'ContextMenu': 93}
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key,
                      text=text if kind == 'keyDown' and not modifiers & 7
                      else '',
                      windowsVirtualKeyCode=codes.get(key, 0),
                      modifiers=modifiers)

    def mouse(self, kind, x, y, button='left'):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y,
                  button='none' if kind == 'mouseMoved' else button,
                  clickCount=0 if kind == 'mouseMoved' else 1)

    def click(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y)
        self.mouse('mouseReleased', x, y)

    def right(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y, 'right')
        self.mouse('mouseReleased', x, y, 'right')

    def type(self, text):
        self.call('Input.insertText', text=text)

    def close(self):
        self.browser.call('Target.closeTarget', targetId=self.target)

    def shot(self, path):
        data = self.call('Page.captureScreenshot', format='png')['data']
        with open(path, 'wb') as f:
            f.write(base64.b64decode(data))

    def problems(self):
        """What the console and the network had to say: nothing is right."""
        found = []
        for e in self.browser.events:
            p = e.get('params', {})
            if e.get('sessionId') != self.session:
                continue
            if e['method'] == 'Runtime.exceptionThrown':
                d = p['exceptionDetails']
                found.append('exception: ' + d.get('exception', {}).get(
                    'description', d['text']))
            elif e['method'] == 'Runtime.consoleAPICalled':
                found.append('console: %s' % p['args'])
            elif e['method'] == 'Log.entryAdded':
                found.append('log: ' + p['entry']['text'])
            elif e['method'] == 'Network.requestWillBeSent':
                url = p['request']['url']
                if not url.startswith(('file:', 'about:')):
                    found.append('request: ' + url)
            elif e['method'] == 'Page.javascriptDialogOpening':
                found.append('dialog: ' + p['message'])
        return found
