# SPDX-License-Identifier: GPL-2.0-or-later
"""bad_server.py HOW: an HTTP server on a free port, which it writes to the file `port`.
Each requested path becomes a line of the file `asked`.

  files    answers with served/PATH, "/" replaced by "_"; 404 without such a file
  mixed    the same, but drips without such a file
  gate     the same as files, once there is a file `gate`
  500      answers with this status, or any other
  silent   never answers
  drip     announces 100 MB and sends 2 KB a second
  flood    announces 100 MB and sends 200 KB a second
  endless  announces no size and sends without end
"""
import os
import socket
import sys
import threading
import time

HOW = sys.argv[1]
SIZED = b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n'
ENDLESS = {     # head, bytes of a piece, seconds between pieces
    'drip': (SIZED % 99999999, 100, 0.05),
    'flood': (SIZED % 99999999, 10000, 0.05),
    'endless': (b'HTTP/1.1 200 OK\r\n\r\n', 65536, 0),
}


def answer(c, path):
    name = 'served/' + path.replace('/', '_')
    while HOW == 'gate' and not os.path.exists('gate'):
        time.sleep(0.05)
    if HOW == 'silent':
        threading.Event().wait()
    elif HOW.isdigit():
        c.sendall(b'HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n' % int(HOW))
    elif HOW in ENDLESS or (HOW == 'mixed' and not os.path.exists(name)):
        head, size, pause = ENDLESS['drip' if HOW == 'mixed' else HOW]
        c.sendall(head)
        while True:
            c.sendall(b'x' * size)
            time.sleep(pause)
    elif os.path.exists(name):
        with open(name, 'rb') as f:
            data = f.read()
        c.sendall(SIZED % len(data) + data)
    else:
        c.sendall(b'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')


def serve(c):
    path = c.recv(65536).split()[1].decode()
    with open('asked', 'a') as f:
        f.write(path + '\n')
    try:
        answer(c, path)
    except OSError:
        pass
    c.close()


s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen(8)
with open('port.new', 'w') as f:
    f.write(str(s.getsockname()[1]))
os.rename('port.new', 'port')
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
