"""Servers that misbehave: each behaviour is a function that is given one connection."""
import gzip
import socket
import threading
import time


class Hostile:
    """A server on a port of its own. `log`: what was received, for behaviours that must not be told something."""

    def __init__(self, behave):
        self.behave = behave
        self.listening = socket.socket()
        self.listening.bind(('127.0.0.1', 0))
        self.listening.listen(16)
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            self.behave(connection)
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    def close(self):
        self.listening.close()


def receive(c):
    got = c.recv(65536)
    if not got:
        raise OSError
    return got


def flood(c, piece):
    """Until the other side has had enough."""
    while True:
        c.sendall(piece)


def trickle(c, piece, pause=.2):
    while True:
        for byte in piece:
            c.sendall(bytes([byte]))
            time.sleep(pause)


def silent(c):
    receive(c)
    time.sleep(600)


# ---- Redis ----

def bulk(text):
    return b'$%d\r\n%s\r\n' % (len(text), text)


def redis(answers):
    """answers: for words of a command, bytes or a function of the connection; any other command is answered with OK."""
    def behave(c):
        while True:
            got = receive(c)
            for command in got.split(b'\r\n*'):
                for word, answer in answers.items():
                    if word in command:
                        c.sendall(answer) if isinstance(answer, bytes) else answer(c)
                        break
                else:
                    c.sendall(b'+OK\r\n')
    return behave


class Scan:
    """Cursors that never end."""

    def __init__(self, keys):
        self.keys = keys
        self.n = 0

    def __call__(self, c):
        self.n += 1
        keys = [b'p%d:__sessions' % (self.n * self.keys + i) for i in range(self.keys)]
        c.sendall(b'*2\r\n' + bulk(b'%d' % (self.n % 899 + 1)) + b'*%d\r\n' % len(keys) + b''.join(bulk(k) for k in keys))


ONE_PROJECT = b'*2\r\n' + bulk(b'0') + b'*1\r\n' + bulk(b'p:__sessions')
SESSION = b'00000000-0000-4000-8000-000000000001'
ONE_SESSION = {b'SCAN': ONE_PROJECT, b'ZREVRANGE': b'*2\r\n' + bulk(SESSION) + bulk(b'1700000000000'), b'ZSCORE': bulk(b'1700000000000')}
MANY = {b'SCAN': ONE_PROJECT, b'ZSCORE': bulk(b'1'), b'ZREVRANGE': b'*400\r\n' + b''.join(bulk(b'%08d-0000-4000-8000-000000000001' % i) + bulk(b'%d' % i) for i in range(200))}
REDIS = {
    'a scan that never ends': redis({b'SCAN': Scan(0)}),
    'a scan that never ends and grows': redis({b'SCAN': Scan(1000)}),
    'a bulk of 2 GB': lambda c: (receive(c), c.sendall(b'$2000000000\r\n'), flood(c, b'x' * 1000000)),
    'an endless simple string': lambda c: (receive(c), c.sendall(b'+'), flood(c, b'y' * 1000000)),
    'an endless error': lambda c: (receive(c), c.sendall(b'-ERR '), flood(c, b'y' * 1000000)),
    'slow bytes': lambda c: (receive(c), c.sendall(b'$5000\r\n'), trickle(c, b'x')),
    'slow bytes that keep a poll busy': lambda c: (receive(c), c.sendall(b'$5000000\r\n'), trickle(c, b'x', .03)),
    'an endless array': redis({b'SCAN': lambda c: (c.sendall(b'*2000000000\r\n'), flood(c, b':1\r\n' * 50000))}),
    'arrays in arrays': lambda c: (receive(c), c.sendall(b'*1\r\n' * 1000000), time.sleep(60)),
    'negative lengths': lambda c: (receive(c), c.sendall(b'*-5\r\n$-7\r\n'), time.sleep(60)),
    'silent': silent,
    'silent after the list': redis({**ONE_SESSION, b'LLEN': lambda c: time.sleep(60)}),
    'a session without end': redis({**ONE_SESSION, b'LLEN': b':4611686018427387904\r\n', b'LRANGE': b'*16\r\n' + bulk(b'') * 16}),
    'wrong types': redis({**ONE_SESSION, b'LLEN': bulk(b'x'), b'LRANGE': b':7\r\n'}),
    'many sessions whose rows never come': redis({**MANY, b'LLEN': b':5\r\n', b'LRANGE': b'*0\r\n'}),
    'closes': receive,
    'an error with escapes': lambda c: (receive(c), c.sendall(b'-ERR ' + b'\x1b]0;T\x07' * 2000 + b'\r\n'), time.sleep(60)),
}


# ---- PostgreSQL ----

def message(kind, body=b''):
    return kind + (len(body) + 4).to_bytes(4, 'big') + body


def columns(n):
    return message(b'T', n.to_bytes(2, 'big') + b''.join(b'c%d\0' % i + bytes(6) + b'\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0' for i in range(n)))


def row(*values):
    return message(b'D', len(values).to_bytes(2, 'big') + b''.join(b'\xff' * 4 if v is None else len(v).to_bytes(4, 'big') + v for v in values))


NOTICE = message(b'N', b'SWARNING\0C01000\0M\x1b]0;T\x07 a collation version mismatch\0\0')
READY = message(b'Z', b'I')
WELCOME = message(b'R', bytes(4)) + b''.join(message(b'S', s) for s in (b'server_version\x0015.0\0', b'client_encoding\0UTF8\0')) + READY
BEGIN = message(b'1') + message(b'2')
DONE = message(b'C', b'SELECT 1\0') + READY
TABLE = BEGIN + columns(1) + row(b'seq') + row(b'mtime') + DONE


def postgresql(answer, welcome=WELCOME, table=b''):
    """answer: bytes or a function of the connection, to each query; with `table`, to all but the first."""
    def behave(c):
        first = receive(c)
        if first[4:8] == b'\x04\xd2\x16\x2f':
            c.sendall(b'N')
            receive(c)
        c.sendall(welcome) if isinstance(welcome, bytes) else welcome(c)
        for n in range(1000000):
            receive(c)
            now = table if table and n == 0 else answer
            c.sendall(now) if isinstance(now, bytes) else now(c)
    return behave


LISTED = row(b'p', SESSION, b'1700000000000', b'{"type":"user","cwd":"/w","message":{"role":"user","content":"x"}}', None, b'1')
POSTGRESQL = {
    'an answer without columns': postgresql(BEGIN + columns(0) + row() * 3 + DONE),
    'one column, which is NULL': postgresql(BEGIN + columns(1) + row(None) * 3 + DONE),
    'two columns': postgresql(BEGIN + columns(2) + row(b'x', b'y') * 3 + DONE, table=TABLE),
    'no column in the list': postgresql(BEGIN + columns(0) + row() * 3 + DONE, table=TABLE),
    'columns that are NULL': postgresql(BEGIN + columns(6) + row(*[None] * 6) * 3 + DONE, table=TABLE),
    'endless rows of a table': postgresql(lambda c: (c.sendall(BEGIN + columns(1)), flood(c, row(b'x' * 1000) * 200))),
    'endless sessions': postgresql(lambda c: (c.sendall(BEGIN + columns(6)), flood(c, LISTED * 200)), table=TABLE),
    'warns while it is connected to': postgresql(BEGIN + columns(0) + DONE, welcome=NOTICE * 3 + WELCOME[:-6] + NOTICE + READY),
    'endless notices': postgresql(lambda c: flood(c, NOTICE * 1000)),
    'endless notices while connecting': postgresql(b'', welcome=lambda c: (c.sendall(WELCOME[:-6]), flood(c, NOTICE * 1000))),
    'a row of 2 GB': postgresql(lambda c: (c.sendall(BEGIN + columns(1) + b'D\x7f\xff\xff\xff'), flood(c, b'x' * 1000000))),
    'slow bytes': postgresql(lambda c: trickle(c, BEGIN)),
    'slow notices': postgresql(lambda c: trickle(c, NOTICE * 20, .03)),
    'silent': silent,
    'silent after the query': postgresql(lambda c: time.sleep(60)),
    'silent after the table': postgresql(lambda c: time.sleep(60), table=TABLE),
    'begins to copy': postgresql(message(b'H', b'\0\0\1\0\0')),
    'endless results': postgresql(lambda c: flood(c, message(b'C', b'SELECT 0\0') * 1000)),
    'an error with escapes': postgresql(message(b'E', b'SERROR\0C42501\0M\x1b]0;T\x07\nno\0\0') + READY),
}


# ---- S3 ----

def http(body, headers=b'', status=b'200 OK'):
    def behave(c):
        while True:
            got = receive(c)
            now = body(got) if callable(body) else body
            c.sendall(b'HTTP/1.1 ' + status + b'\r\nContent-Length: %d\r\n' % len(now) + headers + b'\r\n' + now)
    return behave


def objects(*keys, token=b'', size=10):
    return (b'<?xml version="1.0"?><ListBucketResult><IsTruncated>%s</IsTruncated>' % (b'true' if token else b'false')
            + (b'<NextContinuationToken>' + token + b'</NextContinuationToken>' if token else b'')
            + b''.join(b'<Contents><Key>%s</Key><Size>%d</Size></Contents>' % (k, size) for k in keys) + b'</ListBucketResult>')


class Pages:
    """Pages that never end, with names that are new or not."""

    def __init__(self, names):
        self.names = names
        self.n = 0

    def __call__(self, _got):
        self.n += 1
        return objects(*(b's/p%d/s/part-0000000000001-%06x.jsonl' % (self.n, i) for i in range(self.names)), token=b't%d' % self.n)


ENTITIES = (b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">'
            + b''.join(b'<!ENTITY %c "%s">' % (98 + i, b'&%c;' % (97 + i) * 10) for i in range(12))
            + b']><ListBucketResult><Contents><Key>&m;</Key></Contents></ListBucketResult>')
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><ListBucketResult><Contents><Key>&x;</Key></Contents></ListBucketResult>'
PART = b's/p/' + SESSION + b'/part-0000000000001-000001.jsonl'


def parts(answer, size=10):
    """Lists are answered with one part, and the part with what `answer` does."""
    def behave(c):
        while True:
            got = receive(c)
            if b'list-type' in got:
                listed = objects(PART, size=size)
                c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % len(listed) + listed)
            else:
                answer(c)
    return behave


HEAD = b'HTTP/1.1 200 OK\r\n'
S3 = {
    'pages that never end': http(Pages(1)),
    'pages that never end and grow': http(Pages(1000)),
    'entities of entities': http(ENTITIES),
    'a file as an entity': http(OUTSIDE),
    'an endless page': lambda c: (receive(c), c.sendall(HEAD + b'\r\n<ListBucketResult>'), flood(c, b'<Contents><Key>' + b'k' * 1000 + b'</Key></Contents>' * 1000)),
    'endless headers': lambda c: (receive(c), c.sendall(HEAD), flood(c, b'X-Y: z\r\n' * 1000)),
    'an endless header': lambda c: (receive(c), c.sendall(HEAD + b'X: '), flood(c, b'z' * 100000)),
    'endless beginnings': lambda c: (receive(c), flood(c, b'HTTP/1.1 100 Continue\r\n\r\n' * 1000)),
    'packed zeros': http(gzip.compress(bytes(20000000)), b'Content-Encoding: gzip\r\n'),
    'deep elements': http(b'<a>' * 3000000),
    'slow bytes': lambda c: (receive(c), trickle(c, HEAD)),
    'slow headers that keep a poll busy': lambda c: (receive(c), c.sendall(HEAD), trickle(c, b'X-Y: z\r\n' * 100, .03)),
    'slow contents': lambda c: (receive(c), c.sendall(HEAD + b'Content-Length: 9999\r\n\r\n'), trickle(c, b'<a>')),
    'silent': silent,
    'redirects to itself': http(b'', b'Location: /\r\n', b'307 Temporary Redirect'),
    'a negative length': lambda c: (receive(c), c.sendall(HEAD + b'Content-Length: -1\r\n\r\nxx'), time.sleep(60)),
    'chunks that lie': lambda c: (receive(c), c.sendall(HEAD + b'Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nxx'), time.sleep(60)),
    'always busy': http(b'', status=b'503 Slow Down'),
    'an endless part': parts(lambda c: (c.sendall(HEAD + b'\r\n'), flood(c, b'{"type":"user"}\n' * 50000))),
    'a part of 2^60 bytes': parts(lambda c: (c.sendall(HEAD + b'\r\n'), flood(c, b'{"type":"user"}\n' * 50000)), size=1 << 60),
    'a silent part': parts(lambda c: time.sleep(60)),
    'an error with escapes': http(b'<Error><Code>\x1b]0;T\x07</Code><Message>\x1b[31m</Message></Error>', status=b'403 Forbidden'),
}


# ---- a store behind HTTP ----

def listed(answer):
    """A list is answered with one session, and its rows with what `answer` does."""
    def behave(c):
        while True:
            if b'list-sessions' in receive(c):
                text = b'{"sessions":[{"sessionId":"%s","mtime":1700000000000,"projectKey":"p"}]}' % SESSION
                c.sendall(HEAD + b'Content-Length: %d\r\n\r\n' % len(text) + text)
            else:
                answer(c)
    return behave


HTTP = {
    'an endless answer': lambda c: (receive(c), c.sendall(HEAD + b'\r\n{"sessions":['), flood(c, b'{"sessionId":"x","mtime":1},' * 10000)),
    'endless rows': listed(lambda c: (c.sendall(HEAD + b'\r\n{"entries":['), flood(c, b'{"type":"user"},' * 50000))),
    'endless headers': S3['endless headers'],
    'endless beginnings': S3['endless beginnings'],
    'slow bytes': S3['slow bytes'],
    'slow headers that keep a poll busy': S3['slow headers that keep a poll busy'],
    'slow rows': listed(lambda c: (c.sendall(HEAD + b'Content-Length: 9999\r\n\r\n'), trickle(c, b'{"'))),
    'silent': silent,
    'silent after the list': listed(lambda c: time.sleep(60)),
    'a length that is too large': lambda c: (receive(c), c.sendall(HEAD + b'Content-Length: 99\r\n\r\n{"sessions":[]}')),
    'a negative length': S3['a negative length'],
    'chunks that lie': S3['chunks that lie'],
    'packed zeros': S3['packed zeros'],
    'deep arrays': http(b'{"sessions":' + b'[' * 3000000 + b']' * 3000000 + b'}'),
    'redirects to itself': S3['redirects to itself'],
    'closes': receive,
    'an error with escapes': http(b'\x1b]0;T\x07' * 100, status=b'500 \x1b]0;T\x07'),
}
