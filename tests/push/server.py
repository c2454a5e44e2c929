#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that takes profiles as Pyroscope, Parca and collectors do, checks each
by rules.py, and fails as it is told to.

    server.py DIR [--tls CERT KEY] [--grpc] [--max BYTES] [--old SECONDS]

DIR/port is written when it listens.  DIR/faults holds what the next requests get,
a word a line, taken from the top (the file may be written at any time):

    STATUS[:RETRY-AFTER]  that status        reset    the connection is reset
    slow                  the answer never comes to its end
    partial               OTLP: 3 profiles are left out
    lost                  the request is taken, and the answer is not sent
    echoSTATUS            that status, and the token
    html                  a web page
    grpc:CODE             that status of gRPC

DIR/log gets a line of JSON for each request."""
import argparse
import base64
import email
import email.policy
import gzip
import http.server
import json
import os
import re
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import rules  # noqa: E402

LOCK = threading.Lock()


def definitions(where):
    subprocess.run(['protoc', '-I', HERE, '--python_out', where,
                    'profiles.proto'], check=True)
    sys.path.insert(0, where)
    import profiles_pb2
    return profiles_pb2


def next_fault():
    path = os.path.join(OPT.dir, 'faults')
    with LOCK:
        try:
            with open(path) as f:
                lines = f.read().split()
        except FileNotFoundError:
            return ''
        if not lines:
            return ''
        if lines[0].startswith('always='):
            return lines[0][7:]
        with open(path + '.new', 'w') as f:
            f.write('\n'.join(lines[1:]) + '\n')
        os.rename(path + '.new', path)
        return lines[0]


def log(**what):
    with LOCK, open(os.path.join(OPT.dir, 'log'), 'a') as f:
        f.write(json.dumps(dict(at=time.time(), **what)) + '\n')


def series_of(pairs, packed, uuid):
    of = rules.labels(pairs)
    return dict(labels=of, uuid=uuid, **rules.pprof(PB, packed))


def pairs_of(labels):
    return [(l.name, l.value) for l in labels]


def push(body):
    r = rules.decode(PB.PushRequest, body)
    rules.want(r.series, 'no series')
    return [series_of(pairs_of(s.labels), x.raw_profile, x.ID)
            for s in r.series for x in s.samples]


def write_raw(body):
    r = rules.decode(PB.WriteRawRequest, body)
    rules.want(r.series and r.normalized, 'no series')
    return [series_of(pairs_of(s.labels.labels), x.raw_profile, '')
            for s in r.series for x in s.samples], r.tenant


def write_raw_json(body):
    r = json.loads(body)
    rules.want(set(r) <= {'tenant', 'series', 'normalized'} and r['normalized'],
               'fields')
    return [series_of([(l['name'], l['value']) for l in s['labels']['labels']],
                      base64.b64decode(x['rawProfile'], validate=True), '')
            for s in r['series'] for x in s['samples']], r.get('tenant', '')


def ingest(query, headers, body):
    q = urllib.parse.parse_qs(query, strict_parsing=True)
    name = q['name'][0]
    rules.want(name.endswith('}') and name.count('{') == 1, f'name {name}')
    service, rest = name[:-1].split('{')
    pairs = dict(kv.split('=') for kv in rest.split(',') if kv)
    # Pyroscope's labelset.ValidateServiceName
    rules.want(re.match(r'[-a-zA-Z0-9_./]+$', service), f'service {service}')
    form = email.message_from_bytes(
        b'Content-Type: ' + headers['content-type'].encode() + b'\r\n\r\n' + body,
        policy=email.policy.HTTP)
    parts = {p.get_param('name', header='content-disposition'):
             p.get_payload(decode=True) for p in form.iter_parts()}
    rules.want(set(parts) == {'profile', 'sample_type_config'}, f'{list(parts)}')
    config = json.loads(parts['sample_type_config'])
    pairs.setdefault('service_name', service)
    pairs.update(__name__='process_cpu'
                 if 'cpu' in config else list(config)[0])
    out = series_of(sorted(pairs.items()), parts['profile'], '')
    start = int(q['from'][0])
    rules.want(start <= out['time'] / 1e9 < int(q['until'][0]), 'from, until')
    return [out]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def answer(self, status, body=b'', **headers):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        for k, v in headers.items():
            self.send_header(k.replace('_', '-'), v)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        path, _, query = self.path.partition('?')
        head = {k.lower(): v for k, v in self.headers.items()}
        fault = next_fault()
        about = dict(path=path, bytes=len(body), fault=fault,
                     tenant=head.get('x-scope-orgid'),
                     authorization=head.get('authorization'),
                     agent=head.get('user-agent'))
        if fault == 'reset':
            log(**about)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                       struct.pack('ii', 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if fault == 'slow':
            log(**about)
            self.send_response(200)
            self.send_header('Content-Length', '1000')
            self.end_headers()
            try:
                for _ in range(600):
                    self.wfile.write(b' ')
                    self.wfile.flush()
                    time.sleep(0.1)
            except OSError:
                pass
            self.close_connection = True
            return
        if fault.startswith('echo'):
            log(**about)
            self.answer(int(fault[4:]), b'no such token: ' +
                        head['authorization'].split(' ')[-1].encode())
            return
        if fault == 'html':
            log(**about)
            self.answer(200, b'<html>log in</html>', Content_Type='text/html')
            return
        if fault and fault[0].isdigit():
            log(**about)
            status, _, after = fault.partition(':')
            message = json.dumps({'code': 'x', 'message': f'told to say {status}'})
            more = {'Retry-After': after} if after else {}
            if status.startswith('3'):
                more['Location'] = 'http://elsewhere.example/'
            self.answer(int(status), message.encode(),
                        Content_Type='application/json', **more)
            return
        if OPT.max and len(body) > OPT.max:
            log(**about, refused='too large')
            self.answer(413, b'request body too large')
            return
        try:
            if path.endswith('/push.v1.PusherService/Push'):
                rules.want(head['content-type'] == 'application/proto' and
                           head['connect-protocol-version'] == '1', 'headers')
                got, reply, kind = push(body), b'', 'application/proto'
            elif path.endswith('/ingest'):
                got, reply, kind = ingest(query, head, body), b'', 'text/plain'
            elif path.endswith('/api/profiles/writeraw'):
                rules.want(head['content-type'] == 'application/json', 'headers')
                (got, about['in_tenant']), reply = write_raw_json(body), b'{}'
                kind = 'application/json'
            elif path.endswith('/v1development/profiles'):
                rules.want(head['content-type'] == 'application/x-protobuf' and
                           head['content-encoding'] == 'gzip', 'headers')
                got = rules.otlp(PB, gzip.decompress(body), OPT.old)
                reply, kind = b'', 'application/x-protobuf'
                if fault == 'partial':
                    reply = PB.ExportResponse(partial_success=PB.Partial(
                        rejected_profiles=3,
                        error_message='three too many')).SerializeToString()
            else:
                log(**about, refused='no such path')
                self.answer(404, b'page not found')
                return
        except (rules.Refused, KeyError, ValueError, IndexError) as e:
            log(**about, refused=f'{type(e).__name__}: {e}')
            self.answer(400, json.dumps({'code': 'invalid_argument',
                                         'message': str(e)}).encode())
            return
        log(**about, got=got)
        if fault == 'lost':
            self.connection.close()
            self.close_connection = True
            return
        self.answer(200, reply, Content_Type=kind)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, *_):
        pass


def serve_http():
    server = Server(('127.0.0.1', OPT.port), Handler)
    if OPT.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*OPT.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    return server.server_address[1], server.serve_forever


def add_debuginfo(server, grpc):
    """Uploads, kept as DIR/BUILD-ID.debug.  DIR/have lists build IDs that are not
    wanted; DIR/signed makes the server want a signed URL, DIR/no-debuginfo have no
    such service."""
    def there(name):
        return os.path.exists(os.path.join(OPT.dir, name))

    def have():
        try:
            with open(os.path.join(OPT.dir, 'have')) as f:
                return f.read().split()
        except FileNotFoundError:
            return []

    def keep(build_id, data):
        with open(os.path.join(OPT.dir, build_id + '.debug'), 'wb') as f:
            f.write(data)

    service = rules.Debuginfo(
        PB, have, keep, lambda: 2 if there('signed') else 1)

    def call(take, context, request):
        if there('no-debuginfo'):
            context.abort(grpc.StatusCode.UNIMPLEMENTED, 'unknown service')
        try:
            about, answer = take(request)
        except (rules.Refused, ValueError, KeyError) as e:
            log(refused=str(e))
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(e))
        log(**about)
        return answer.SerializeToString()

    def handler(take, kind):
        return kind(lambda request, context: call(take, context, request))

    unary = grpc.unary_unary_rpc_method_handler
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
        'parca.debuginfo.v1alpha1.DebuginfoService', {
            'ShouldInitiateUpload': handler(service.should, unary),
            'InitiateUpload': handler(service.initiate, unary),
            'Upload': handler(service.upload,
                              grpc.stream_unary_rpc_method_handler),
            'MarkUploadFinished': handler(service.finished, unary)})])


def serve_grpc():
    import grpc
    from concurrent import futures

    def call(take, context, request):
        fault = next_fault()
        head = dict(context.invocation_metadata())
        about = dict(fault=fault, bytes=len(request), grpc=True,
                     authorization=head.get('authorization'),
                     tenant=head.get('x-scope-orgid'))
        if fault.startswith('grpc:'):
            log(**about)
            codes = {c.value[0]: c for c in grpc.StatusCode}
            context.abort(codes[int(fault[5:])], f'told to say {fault}')
        try:
            got = take(request)
        except (rules.Refused, ValueError) as e:
            log(**about, refused=str(e))
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(e))
        log(**about, got=got)
        if fault == 'partial':
            return PB.ExportResponse(partial_success=PB.Partial(
                rejected_profiles=3, error_message='three too many')
                ).SerializeToString()
        return b''

    methods = {
        'parca.profilestore.v1alpha1.ProfileStoreService':
            ('WriteRaw', lambda b: write_raw(b)[0]),
        'opentelemetry.proto.collector.profiles.v1development.ProfilesService':
            ('Export', lambda b: rules.otlp(PB, b, OPT.old)),
    }
    options = [('grpc.max_receive_message_length', OPT.max or 4 << 20)]
    server = grpc.server(futures.ThreadPoolExecutor(4), options=options)
    for service, (method, take) in methods.items():
        handler = grpc.unary_unary_rpc_method_handler(
            lambda request, context, take=take: call(take, context, request))
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
            service, {method: handler})])
    add_debuginfo(server, grpc)
    port = server.add_insecure_port(f'127.0.0.1:{OPT.port}')
    server.start()
    return port, server.wait_for_termination


parser = argparse.ArgumentParser()
parser.add_argument('dir')
parser.add_argument('--tls', nargs=2)
parser.add_argument('--grpc', action='store_true')
parser.add_argument('--max', type=int, default=0)
parser.add_argument('--old', type=int, default=3600)
parser.add_argument('--port', type=int, default=0)
OPT = parser.parse_args()
os.makedirs(OPT.dir, exist_ok=True)
PB = definitions(OPT.dir)
number, forever = serve_grpc() if OPT.grpc else serve_http()
with open(os.path.join(OPT.dir, 'port.new'), 'w') as out:
    out.write(f'{number}\n')
os.rename(os.path.join(OPT.dir, 'port.new'), os.path.join(OPT.dir, 'port'))
forever()
