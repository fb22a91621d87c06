"""Compares reprise with the server's own client on servers that this program starts: the list of many sessions, and of the newest 50,
with reading the rows that it is made from; a push and a retrieve with sending and writing the same rows; and the newest messages with
all of them. Prints the goal, if there is one, beside each ratio.
   usage: bench_remote.py postgresql|redis|s3 REPRISE PLUGIN SESSIONS BYTES ROUNDS"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from support import postgresql_server, redis_server, s3_server
from support.program import Program
from support.team_store import Team

SESSION = '11111111-1111-4111-8111-111111111111'
ROWS = 20  # of a session in the list
SQL = """INSERT INTO claude_session_store (project_key, session_id, entry, mtime)
SELECT '-w', lpad(s::text, 8, '0') || '-1111-4111-8111-111111111111',
  jsonb_build_object('parentUuid', CASE WHEN r > 1 THEN s || '-' || r - 1 END) ||
  CASE WHEN mod(r, 2) = 1 THEN jsonb_build_object('type', 'user', 'uuid', s || '-' || r, 'cwd', '/w', 'gitBranch', 'main',
    'timestamp', t, 'message', jsonb_build_object('role', 'user', 'content', 'Prompt ' || r || ' of ' || s))
  ELSE jsonb_build_object('type', 'assistant', 'uuid', s || '-' || r, 'timestamp', t, 'message',
    jsonb_build_object('role', 'assistant', 'content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('word ', %d))))) END,
  1795400000000 + s * 1000 FROM generate_series(%d, %d) s, generate_series(1, %d) r,
  to_char(to_timestamp(1795400000 + s) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"') t;"""


def time_of(session):
    """In seconds: of its rows, and when it was stored."""
    return 1795400000 + session


def row(session, number, words):
    """The same row as that of the SQL."""
    at = time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(time_of(session)))
    if number % 2:
        made = {'type': 'user', 'uuid': f'{session}-{number}', 'cwd': '/w', 'gitBranch': 'main', 'timestamp': at,
                'message': {'role': 'user', 'content': f'Prompt {number} of {session}'}}
    else:
        made = {'type': 'assistant', 'uuid': f'{session}-{number}', 'timestamp': at,
                'message': {'role': 'assistant', 'content': [{'type': 'text', 'text': 'word ' * words}]}}
    made['parentUuid'] = f'{session}-{number - 1}' if number > 1 else None
    return json.dumps(made, separators=(',', ':')).encode()


def id_of(session):
    return f'{session:08d}-1111-4111-8111-111111111111'


class PostgreSQL:
    create = ['create = python']

    def __init__(self, top):
        self.server = postgresql_server.Server(top)
        self.url = self.server.url()
        self.env = {}

    def put_sessions(self, sessions):
        self.server.sql(SQL % (100, 1, sessions, ROWS) + 'ANALYZE claude_session_store;')

    def read_sessions(self, _sessions):
        self.server.sql("SELECT k.session_id, e.entry FROM (SELECT DISTINCT project_key, session_id FROM claude_session_store) k CROSS JOIN LATERAL "
                        "(SELECT entry FROM claude_session_store c WHERE c.project_key = k.project_key AND c.session_id = k.session_id "
                        f"AND subpath = '' ORDER BY seq LIMIT {ROWS}) e;")

    def read_newest(self):
        """What a screen full of rows is made from, in one statement."""
        some = "SELECT string_agg(e::text, E'\\n') FROM (SELECT entry e FROM claude_session_store WHERE project_key = k.p AND session_id = k.s " \
               "AND subpath = '' ORDER BY seq {} LIMIT {}) x"
        self.server.sql("SELECT * FROM (SELECT project_key p, session_id s, max(mtime) FROM claude_session_store WHERE subpath = '' GROUP BY 1, 2 "
                        f"ORDER BY 3 DESC LIMIT 50) k CROSS JOIN LATERAL ({some.format('', 8)}) h CROSS JOIN LATERAL ({some.format('DESC', 12)}) t;")

    def clear(self):
        self.server.sql('TRUNCATE claude_session_store;')

    def copy_back(self, path):
        """Sends the rows of a file as the vendor's adapter keeps them."""
        subprocess.run([f'{self.server.bin}/psql', '-h', self.server.top, '-U', 'me', '-d', 'postgres', '-qc',
                        'CREATE TEMP TABLE t (entry jsonb)', '-c', f"\\copy t from {path} csv quote e'\\x01' delimiter e'\\x02'", '-c',
                        f"INSERT INTO claude_session_store (project_key, session_id, entry, mtime) SELECT '-w', '{SESSION}', entry, 1 FROM t"],
                       check=True)

    def put_large(self, rows):
        self.server.sql('TRUNCATE claude_session_store;' + (SQL % (1000, 1, 1, rows)).replace("lpad(s::text, 8, '0')", "'11111111'"))

    def copy_large(self, path):
        subprocess.run([f'{self.server.bin}/psql', '-h', self.server.top, '-U', 'me', '-d', 'postgres', '-qc',
                        f'\\copy (SELECT entry FROM claude_session_store ORDER BY seq) to {path}'], check=True)

    def stop(self):
        self.server.stop()


class Redis:
    create = []

    def __init__(self, top):
        self.server = redis_server.Server(top)
        self.url = self.server.url()
        self.env = {}

    def put(self, session, rows, at=1795400000):
        """The commands in the form in which redis-cli takes them fastest."""
        words = [[b'RPUSH', b'-w:' + session.encode(), *rows], [b'ZADD', b'-w:__sessions', b'%d000' % at, session.encode()]]
        return b''.join(b'*%d\r\n' % len(w) + b''.join(b'$%d\r\n%s\r\n' % (len(x), x) for x in w) for w in words)

    def pipe(self, text):
        subprocess.run(['redis-cli', '-s', self.server.socket, '--pipe'], input=text, check=True, stdout=subprocess.DEVNULL)

    def put_sessions(self, sessions):
        self.pipe(b''.join(self.put(id_of(s), [row(s, r, 100) for r in range(1, ROWS + 1)], time_of(s)) for s in range(sessions)))

    def read_sessions(self, sessions):
        self.server.call(text=b''.join(b'LRANGE -w:%s 0 -1\n' % id_of(s).encode() for s in range(sessions)))

    def read_newest(self):
        ids = self.server.call('ZREVRANGE', '-w:__sessions', '0', '49')
        self.server.call(text=b''.join(b'LRANGE -w:%s 0 7\nLRANGE -w:%s -12 -1\n' % (s.encode(), s.encode()) for s in ids))

    def clear(self):
        self.server.call('FLUSHALL')

    def copy_back(self, path):
        with open(path, 'rb') as f:
            while rows := f.readlines(1 << 20):
                self.pipe(self.put(SESSION, [row.rstrip(b'\n') for row in rows]))

    def put_large(self, rows):
        self.server.call('FLUSHALL')
        for first in range(1, rows, 500):
            self.pipe(self.put(SESSION, [row(1, r, 1000) for r in range(first, min(first + 500, rows + 1))]))

    def copy_large(self, path):
        with open(path, 'wb') as f:
            subprocess.run(['redis-cli', '-s', self.server.socket, 'LRANGE', f'-w:{SESSION}', '0', '-1'], check=True, stdout=f)

    def stop(self):
        self.server.kill()


class S3:
    """The server is a program in Python, which takes most of the time of both."""
    create = []

    def __init__(self, top):
        if not shutil.which('curl'):
            print('skipped: curl is not installed')
            sys.exit(77)
        self.top = top
        self.server = s3_server.Server()
        self.url = self.server.url()
        self.env = self.server.env()

    def put_sessions(self, sessions):
        for s in range(sessions):
            self.server.objects[f'-w/{id_of(s)}/part-{time_of(s)}000-0000aa.jsonl'] = b'\n'.join(row(s, r, 100) for r in range(1, ROWS + 1)) + b'\n'

    def fetch(self, path):
        with open(f'{self.top}/curl', 'w', encoding='utf-8') as f:
            for key in self.server.keys():
                f.write(f'url = "http://127.0.0.1:{self.server.port}/team/{key}"\noutput = "{path}"\n')
        subprocess.run(['curl', '-sfZ', '--no-progress-meter', '--parallel-max', '32', '--aws-sigv4', f'aws:amz:{s3_server.REGION}:s3', '--user',
                        f'{s3_server.KEY}:{s3_server.SECRET}', '-H', f'x-amz-content-sha256: {hashlib.sha256(b"").hexdigest()}', '-K',
                        f'{self.top}/curl'], check=True)

    def read_sessions(self, _sessions):
        self.fetch('/dev/null')

    def put_large(self, rows):
        self.server.objects.clear()
        for first in range(1, rows, 500):
            text = b'\n'.join(row(1, r, 1000) for r in range(first, min(first + 500, rows + 1))) + b'\n'
            self.server.objects[f'-w/{SESSION}/part-{1795400000000 + first}-0000aa.jsonl'] = text

    def copy_large(self, path):
        self.fetch(path)

    def stop(self):
        self.server.kill()


def best(rounds, call):
    times = []
    for _ in range(rounds):
        began = time.monotonic()
        call()
        times.append(time.monotonic() - began)
    return min(times)


def show(what, ours, theirs, goal=''):
    print(f'{what:45} {ours * 1000:9.0f} ms {theirs * 1000:9.0f} ms {ours / theirs:6.2f} {goal}', flush=True)


def measure(p, kind, at, top, sessions, size, rounds):
    p.run('list', '--all', '--store', 'team')  # which makes the table
    at.put_sessions(sessions)
    found = len(p.json('list', '--all', '--store', 'team'))
    if found != sessions:
        sys.exit(f'{found} sessions instead of {sessions}')
    show(f'{kind}: list {sessions} sessions / their rows', best(rounds, lambda: p.run('list', '--all', '--json', '--store', 'team', timeout=600)),
         best(rounds, lambda: at.read_sessions(sessions)))
    if hasattr(at, 'read_newest'):
        show(f'{kind}: list the newest 50 of {sessions} / their rows',
             best(rounds, lambda: p.run('list', '--all', '--limit', '50', '--json', '--store', 'team', timeout=600)), best(rounds, at.read_newest), 1.5)
    at.put_large(size // 2600)

    def retrieve():
        shutil.rmtree(f'{p.home}/.claude', ignore_errors=True)
        shutil.rmtree(f'{p.home}/state', ignore_errors=True)
        run = p.run('retrieve', f'team:{SESSION}', timeout=600)
        if run.returncode:
            sys.exit(f'{run}')

    ours = best(rounds, retrieve)
    written = os.path.getsize(f'{p.home}/.claude/projects/-w/{SESSION}.jsonl')
    newest, whole = [], []
    show(f'{kind}: newest 4 of {size // 2600} messages / all',
         best(rounds, lambda: newest.append(p.json('messages', f'team:{SESSION}', '--tail', '4'))),
         best(rounds, lambda: whole.append(p.json('messages', f'team:{SESSION}'))))
    if newest[0] != whole[0][-4:]:
        sys.exit('the newest messages are not the last ones')
    show(f'{kind}: retrieve {written / 1e6:.0f} MB / copy to a file', ours, best(rounds, lambda: at.copy_large(f'{top}/copy')))
    if not hasattr(at, 'copy_back'):
        return
    path = shutil.copy(f'{p.home}/.claude/projects/-w/{SESSION}.jsonl', f'{top}/rows')

    def again(call):
        def run():
            at.clear()
            call()
        return best(rounds, run)

    def push():
        run = p.run('push', 'team', SESSION, timeout=600)
        if run.returncode:
            sys.exit(f'{run}')

    theirs = again(lambda: at.copy_back(path))
    show(f'{kind}: push {written / 1e6:.0f} MB / send its rows', again(push), theirs)
    show(f'{kind}: push again, nothing new / send its rows', best(rounds, push), theirs)


def main():
    kind, reprise, plugin = sys.argv[1:4]
    sessions, size, rounds = (int(text) for text in sys.argv[4:7])
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        os.mkdir(f'{top}/server')
        at = {'postgresql': PostgreSQL, 'redis': Redis, 's3': S3}[kind](f'{top}/server')
        try:
            team = Team(f'{top}/home', plugin)
            team.configure(at.url, *at.create)
            measure(Program(reprise, team.home, {**team.env, **at.env}), kind, at, top, sessions, size, rounds)
        finally:
            at.stop()


main()
