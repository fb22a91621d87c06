"""An object store in memory for a test. It checks the signature of every request by itself (AWS Signature Version 4)."""
import datetime
import hashlib
import hmac
import http.server
import re
import socket
import ssl
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape, unescape

REGION, KEY, SECRET, TOKEN = 'eu-test-1', 'AKIDTEST', 'a/secret+that=only/the/test+has', 'a+token/that=is+signed'


class Refused(Exception):
    def __init__(self, status, code, message, more=''):
        super().__init__(message)
        self.status, self.code, self.more = status, code, more


def encode(text, safe=''):
    return urllib.parse.quote(text, safe=safe + '-_.~')


def signature(method, path, query, headers, signed, scope):
    """headers: those that are signed, by their names in small letters. path and query as they were sent."""
    pairs = [tuple(urllib.parse.unquote(x) for x in (pair.split('=', 1) + [''])[:2]) for pair in query.split('&') if pair]
    canonical = '\n'.join([method, encode(urllib.parse.unquote(path), '/'), '&'.join(sorted(f'{encode(k)}={encode(v)}' for k, v in pairs)),
                           *[f'{name}:{" ".join(headers[name].split())}' for name in signed], '', ';'.join(signed), headers['x-amz-content-sha256']])
    text = '\n'.join(['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f'AWS4{SECRET}'.encode()
    for part in scope.split('/'):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def check(self, path, query, body):
        given = re.fullmatch(r'AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8}/([^/]+)/s3/aws4_request), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})',
                             self.headers.get('Authorization', ''))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not given:
            raise Refused(403, 'AccessDenied', 'Access Denied')
        key, scope, region, signed, signed_as = given.groups()
        if region != REGION:
            raise Refused(400, 'AuthorizationHeaderMalformed', f"the region '{region}' is wrong; expecting '{REGION}'", f'<Region>{REGION}</Region>')
        if key != KEY:
            raise Refused(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.')
        signed = signed.split(';')
        unsigned = [name for name in headers if (name.startswith('x-amz-') or name == 'host') and name not in signed]
        if unsigned or headers.get('x-amz-content-sha256') != hashlib.sha256(body).hexdigest():
            raise Refused(403, 'AccessDenied', f'There were headers present in the request which were not signed: {unsigned}')
        if signed != sorted(signed) or signature(self.command, path, query, headers, signed, scope) != signed_as:
            raise Refused(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match the signature you provided.')
        sent = datetime.datetime.strptime(headers['x-amz-date'] + '+0000', '%Y%m%dT%H%M%SZ%z').timestamp()
        if abs(sent - time.time()) > 900:
            raise Refused(403, 'RequestTimeTooSkewed', 'The difference between the request time and the current time is too large.')
        if self.server.store.token and headers.get('x-amz-security-token') != TOKEN:
            raise Refused(403, 'InvalidToken', 'The provided token is malformed or otherwise invalid.')

    def answer(self, status, body=b'', kind='application/xml', **headers):
        body = self.server.store.spoil(self, body)
        self.send_response(status)
        for name, value in {'Content-Type': kind, 'Content-Length': str(len(body)), **headers}.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        self.wfile.write(body if self.command != 'HEAD' else b'')

    def serve(self):
        store = self.server.store
        body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        path, _, query = self.path.partition('?')
        store.requests.append(f'{self.command} {self.path}')
        try:
            if store.delay:
                time.sleep(store.delay)
            if store.answers:
                raise store.answers.pop(0)
            self.check(path, query, body)
            bucket, _, key = urllib.parse.unquote(path)[1:].partition('/')
            if bucket != 'team':
                raise Refused(404, 'NoSuchBucket', 'The specified bucket does not exist')
            (self.object if key else self.bucket)(store, key, body, urllib.parse.parse_qs(query, keep_blank_values=True))
        except Refused as refused:
            where = {'Location': 'http://127.0.0.1:1/elsewhere'} if refused.status in (301, 307) else {}
            self.answer(refused.status, f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{refused.code}</Code><Message>{escape(str(refused))}'
                        f'</Message>{refused.more}</Error>'.encode(), **where)
        except OSError:
            self.close_connection = True

    do_GET = do_PUT = do_DELETE = do_POST = do_HEAD = serve

    def object(self, store, key, body, _query):
        if self.command == 'PUT':
            store.before_put(key)
            if self.headers.get('If-None-Match') and not store.conditions:
                raise Refused(501, 'NotImplemented', 'A header you provided implies functionality that is not implemented')
            with store.lock:
                if self.headers.get('If-None-Match') and key in store.objects and not store.ignores:
                    raise Refused(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold')
                store.objects[key] = body
            store.types.add(self.headers.get('Content-Type'))
            self.answer(200)
        elif self.command == 'DELETE':
            store.objects.pop(key, None)
            self.answer(204)
        elif key not in store.objects:
            raise Refused(404, 'NoSuchKey', 'The specified key does not exist.')
        else:
            self.read(store.objects[key])

    def read(self, data):
        given = re.fullmatch(r'bytes=(\d*)-(\d*)', self.headers.get('Range', ''))
        if not given:
            self.answer(200, data, 'application/x-ndjson')
            return
        first, last = given.groups()
        start = int(first) if first else 0  # as some servers do, which take the last bytes for the first ones
        end = min(len(data), int(last) + 1) if last else len(data)
        if start >= len(data):
            raise Refused(416, 'InvalidRange', 'The requested range is not satisfiable')
        self.answer(206, data[start:end], 'application/x-ndjson', Content_Range=f'bytes {start}-{end - 1}/{len(data)}')

    def bucket(self, store, _key, body, query):
        """ListObjectsV2, and for other clients DeleteObjects."""
        if self.command == 'POST' and 'delete' in query:
            for key in re.findall(r'<Key>([^<]*)</Key>', body.decode()):
                store.objects.pop(unescape(key), None)
            self.answer(200, b'<?xml version="1.0" encoding="UTF-8"?>\n<DeleteResult></DeleteResult>')
            return
        if self.command != 'GET' or query.get('list-type') != ['2']:
            raise Refused(501, 'NotImplemented', 'A header you provided implies functionality that is not implemented')
        prefix, delimiter, after, token, most = (query.get(name, [''])[0] for name in
                                                 ('prefix', 'delimiter', 'start-after', 'continuation-token', 'max-keys'))
        rows, seen = [], set()
        with store.lock:
            keys = sorted(store.objects, key=str.encode)
        for key in keys:
            rest = key[len(prefix):]
            name = prefix + rest.split(delimiter)[0] + delimiter if delimiter and delimiter in rest else key
            if name != key and not store.folders and '/' in rest.split('/', 1)[1]:
                continue
            if key.startswith(prefix) and name.encode() > max(after, token).encode() and name not in seen:
                seen.add(name)
                rows.append((name, name != key or name.endswith('//') and name not in store.objects))
        page = rows[:min(int(most or store.page), store.page)]
        more = len(rows) > len(page)
        text = ''.join(f'<CommonPrefixes><Prefix>{encode(name, "/")}</Prefix></CommonPrefixes>' if folder else
                       f'<Contents><Key>{encode(name, "/")}</Key><LastModified>2026-11-22T10:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag>'
                       f'<Size>{len(store.objects.get(name, b""))}</Size></Contents>' for name, folder in page)
        if query.get('encoding-type') == ['url']:
            text += '<EncodingType>url</EncodingType>'
        else:
            text = urllib.parse.unquote(text)
        if more:
            text += f'<NextContinuationToken>{escape(page[-1][0])}</NextContinuationToken>'
        self.answer(200, (f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>team</Name>'
                          f'<IsTruncated>{str(more).lower()}</IsTruncated>{text}</ListBucketResult>').encode())


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, store, port, secure):
        self.store = store
        self.open = set()
        super().__init__(('127.0.0.1', port), Handler)
        self.secure = None
        if secure:
            self.secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.secure.load_cert_chain(secure)

    def get_request(self):
        connection, address = super().get_request()
        self.open.add(connection)
        return connection, address

    def finish_request(self, request, client_address):
        if self.secure:
            request = self.secure.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        pass  # a client that is gone


class Server:
    """The bucket `team` on a port of this machine. Tests change its members while it runs."""

    def __init__(self):
        self.objects, self.requests, self.types = {}, [], set()
        self.lock = threading.Lock()
        self.page = 1000  # keys in an answer
        self.delay = 0  # seconds before each answer
        self.folders = True  # else none two levels down, as some servers do it
        self.conditions = True  # else If-None-Match is refused
        self.ignores = False  # If-None-Match
        self.token = False  # a session token is needed
        self.answers = []  # what the next requests get
        self.port = 0
        self.before_put = lambda key: None
        self.spoil = lambda handler, body: body
        self.start()

    def start(self, secure=None):
        self.listener = Listener(self, self.port, secure)
        self.port = self.listener.server_address[1]
        threading.Thread(target=self.listener.serve_forever, args=(0.01,), daemon=True).start()

    def kill(self):
        """Ends all connections in the middle of whatever they are doing."""
        self.listener.shutdown()
        self.listener.server_close()
        for connection in self.listener.open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def keys(self):
        return sorted(self.objects)

    def lines(self, folder):
        """The rows of a transcript, as the references read them."""
        keys = [key for key in self.keys() if key.startswith(folder) and '/' not in key[len(folder):]]
        return [line for key in keys for line in self.objects[key].decode().split('\n') if line.strip()]

    def url(self, prefix='', more=''):
        return f's3://team/{prefix}?endpoint=http://127.0.0.1:{self.port}&region={REGION}{more}'

    def env(self):
        return {'AWS_ACCESS_KEY_ID': KEY, 'AWS_SECRET_ACCESS_KEY': SECRET}
