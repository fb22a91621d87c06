"""A store behind HTTP in the shape of the SDK's functions, which checks every request. `before` may answer one in its place."""
import http.server
import json
import ssl
import threading
import time


class Server:
    def __init__(self, tls=None):
        self.rows = {}     # (project, session, subpath or None): rows
        self.mtime = {}    # (project, session): ms
        self.log = []      # (call, request)
        self.token = None
        self.before = None  # a function of the handler, the call and the request; True: it has answered
        self.everything = False  # list-sessions without a project lists all of them
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *args):
                pass

            def reply(self, status, text):
                body = text if isinstance(text, bytes) else text.encode()
                self.send_response(status)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                raw = self.rfile.read(int(self.headers['Content-Length']))
                call = self.path.rpartition('/')[2]
                request = json.loads(raw)
                outer.log.append((self.path, request))
                if outer.before and outer.before(self, call, request):
                    return
                if outer.token and self.headers['Authorization'] != f'Bearer {outer.token}':
                    self.reply(401, '{"error":"no"}')
                    return
                with outer.lock:
                    answer = outer.call(call, request)
                self.reply(*(answer if isinstance(answer, tuple) else (200, json.dumps(answer) if answer is not None else '')))

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a reader that has gone away
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path='/api/sessions', scheme='http'):
        return f'{scheme}://127.0.0.1:{self.port}{path}'

    def call(self, call, q):
        key = (q.get('projectKey'), q.get('sessionId'), q.get('subpath'))
        if call == 'append' and isinstance(q['entries'], list) and q['entries']:
            rows = self.rows.setdefault(key, [])
            known = {row.get('uuid') for row in rows if isinstance(row.get('uuid'), str)}
            rows += [row for row in q['entries'] if row.get('uuid') not in known or row.get('uuid') is None]
            if key[2] is None:
                self.mtime[key[:2]] = max(int(time.time() * 1000), self.mtime.get(key[:2], 0) + 1)
            return None
        if call == 'load':
            return {'entries': self.rows.get(key)}
        if call == 'list-sessions':
            if key[0] is None and not self.everything:
                return 400, '{"error":"projectKey is missing"}'
            return {'sessions': [{'sessionId': s, 'mtime': ms, **({} if key[0] else {'projectKey': p})}
                                 for (p, s), ms in self.mtime.items() if key[0] in (None, p)]}
        if call == 'delete':
            for other in [k for k in self.rows if k[:2] == key[:2] and (key[2] is None or k == key)]:
                del self.rows[other]
            if key[2] is None:
                self.mtime.pop(key[:2], None)
            return None
        if call == 'list-subkeys':
            return {'subpaths': [k[2] for k in self.rows if k[:2] == key[:2] and k[2] is not None]}
        return 404, 'no'

    def close(self):
        self.server.shutdown()
        self.server.server_close()
