#!/usr/bin/env python3
"""Databases of every agent that keeps its sessions, or an index of them, in SQLite, changed by somebody who means harm or by a disk.

usage: crafted_databases.py PROGRAM [AGENT...]

Whatever a database contains: no command crashes or hangs, nothing is written to it or beside it, no raw control byte is printed, the
sessions of another agent are listed as before, and a database that cannot be read is named in one line. The agents share the kinds of
damage, because they are read by the same code; REPRISE_SWEEP=long does everything to each, and to every page.
"""
import hashlib
import json
import os
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', '..'))

from support.program import Program, snapshot

LONG = os.environ.get('REPRISE_SWEEP') == 'long'
SHARE = 1 if LONG else 5 * int(os.environ.get('DAMAGE_STEP', '1'))  # each agent gets every fifth kind of damage, and five agents get all of them
T = 1_790_000_000
PI = '01a203e0-7efc-71a2-810d-ce24696a2e5f'
CODEX = [f'01a203d5-bcf2-7a10-a5db-e553b935bb{n:02}' for n in range(2)]


def compact(value):
    return json.dumps(value, separators=(',', ':'), ensure_ascii=False)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


# ---- a small store of each agent: makers fill a database and return the ids of its sessions ----

def opencode(db, home):
    db.executescript("""CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, sandboxes text NOT NULL);
        CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL, title text NOT NULL,
            version text NOT NULL, revert text, model text, time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
        CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
        CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
        CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
            time_updated integer NOT NULL, data text NOT NULL);
        CREATE INDEX part_message_id_id_idx ON part (message_id, id);
        CREATE INDEX session_parent_idx ON session (parent_id);""")
    db.execute("INSERT INTO project VALUES ('p1', ?, '[]')", (f'{home}/app',))
    for n in range(2):
        db.execute('INSERT INTO session VALUES (?,?,NULL,?,?,?,NULL,NULL,?,?,NULL)', (f'ses_{n}', 'p1', f'{home}/app', f'Title {n}', '1', T * 1000, T * 1000 + n))
        for role in 'user', 'assistant':
            db.execute('INSERT INTO message VALUES (?,?,?,?,?)', (f'msg_{n}{role}', f'ses_{n}', T * 1000, T, compact({'role': role, 'time': {'created': T, 'completed': T}})))
            db.execute('INSERT INTO part VALUES (?,?,?,?,?,?)', (f'prt_{n}{role}', f'msg_{n}{role}', f'ses_{n}', T, T, compact({'type': 'text', 'text': f'a prompt {n}'})))
    return ['ses_0', 'ses_1']


def kilo(db, home):
    """SQLite 3.40 refuses these indexes unless it trusts the schema."""
    db.executescript("CREATE TABLE recalled (data text NOT NULL); CREATE INDEX recalled_idx ON recalled (json_extract(data, '$.role')) WHERE json_valid(data);")
    return opencode(db, home)


def crush(db, home):
    db.executescript("""CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0,
            cost REAL, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
        CREATE TABLE files (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, path TEXT NOT NULL, content TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL);
        CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts BLOB NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL);
        CREATE INDEX idx_messages_session_id ON messages (session_id);""")
    for n in range(2):
        db.execute('INSERT INTO sessions VALUES (?,NULL,?,2,0.5,?,?)', (f's{n}', f'Title {n}', T + n, T))
        for role in 'user', 'assistant':
            parts = [{'type': 'text', 'data': {'text': f'a prompt {n}'}}, {'type': 'finish', 'data': {'reason': 'end_turn'}}]
            db.execute('INSERT INTO messages VALUES (?,?,?,?,?,?)', (f'm{n}{role}', f's{n}', role, compact(parts), 'model-1', T))
        for k in range(2):
            db.execute('INSERT INTO files VALUES (NULL,?,?,?,?,?)', (f's{n}', f'{home}/app/gate.txt', f'text {k}\n', k, T))
    write(f'{home}/.local/share/crush/projects.json', compact({'projects': [{'path': f'{home}/app', 'data_dir': f'{home}/app/.crush'}]}))
    return ['s0', 's1']


def goose(db, home):
    db.executescript("""CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
            session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP, parent_session_id TEXT,
            accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER);
        CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL);
        CREATE INDEX idx_messages_session ON messages (session_id);""")
    for n in range(2):
        db.execute("INSERT INTO sessions VALUES (?,?,'','user',?,'2026-09-21 10:00:00',?,NULL,100,7)", (f'2026092{n}_1', f'Title {n}', f'{home}/app', f'2026-09-21 10:0{n}:00'))
        for role in 'user', 'assistant':
            db.execute('INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?,?,?,?)',
                       (f'2026092{n}_1', role, compact([{'type': 'text', 'text': f'a prompt {n}'}]), T))
    return ['20260920_1', '20260921_1']


def kiro_classic(db, home):
    db.execute("""CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT PRIMARY KEY, value TEXT NOT NULL,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL)""")
    ids = [f'0000000{n}-eeee-4000-8000-0123456789ab' for n in range(2)]
    for n, id in enumerate(ids):
        entry = {'user': {'content': {'Prompt': {'prompt': f'a prompt {n}'}}, 'timestamp': None}, 'assistant': {'Response': {'content': 'an answer'}}}
        db.execute('INSERT INTO conversations_v2 VALUES (?,?,?,?,?)', (f'{home}/app', id, compact({'history': [entry]}), T, T + n))
    return ids


def cursor_id(n):
    return f'0000000{n}-dddd-4000-8000-0123456789ab'


def cursor_db(db, n):
    def put(data):
        name = hashlib.sha256(data).hexdigest()
        db.execute('INSERT OR IGNORE INTO blobs VALUES (?, ?)', (name, data))
        return name
    db.executescript('CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);')
    names = [put(compact({'role': role, 'content': f'<user_query>a prompt {n}</user_query>'}).encode()) for role in ('user', 'assistant')]
    root = put(b''.join(b'\x0a\x20' + bytes.fromhex(name) for name in names))
    db.execute("INSERT INTO meta VALUES ('0', ?)", (compact({'latestRootBlobId': root, 'name': f'Title {n}', 'createdAt': T * 1000}).encode().hex(),))


def cursor(db, home):
    """The other session has a database of its own."""
    cursor_db(db, 0)
    folder = f'{home}/.config/cursor/chats/{hashlib.md5(f"{home}/app".encode()).hexdigest()}'
    for n in range(2):
        write(f'{folder}/{cursor_id(n)}/meta.json', compact({'title': f'Title {n}', 'cwd': f'{home}/app', 'updatedAtMs': T * 1000 + n}))
    other = sqlite3.connect(f'{folder}/{cursor_id(1)}/store.db', isolation_level=None)
    cursor_db(other, 1)
    other.close()
    return [cursor_id(0), cursor_id(1)]


def codex(db, home):
    """The sessions are in logs, and the database has their names."""
    db.execute('CREATE TABLE threads (id TEXT PRIMARY KEY, updated_at INTEGER NOT NULL, title TEXT NOT NULL, name TEXT, updated_at_ms INTEGER)')
    for n, id in enumerate(CODEX):
        db.execute('INSERT INTO threads VALUES (?,?,?,?,?)', (id, T, 'x', f'Title {n}', T * 1000 + n))
        rows = [('session_meta', {'id': id, 'timestamp': '2026-11-22T15:00:00Z', 'cwd': f'{home}/app', 'source': 'cli'}),
                ('event_msg', {'type': 'user_message', 'message': f'a prompt {n}'}), ('event_msg', {'type': 'agent_message', 'message': 'Yes.'})]
        write(f'{home}/.codex/sessions/2026/11/22/rollout-2026-11-22T15-00-00-{id}.jsonl',
              ''.join(compact({'timestamp': '2026-11-22T15:00:00Z', 'type': t, 'payload': p}) + '\n' for t, p in rows))
    return list(CODEX)


PLACES = {
    'opencode': (opencode, '.local/share/opencode/opencode.db'),
    'kilo': (kilo, '.local/share/kilo/kilo.db'),
    'crush': (crush, 'app/.crush/crush.db'),
    'goose': (goose, '.local/share/goose/sessions/sessions.db'),
    'kiro-classic': (kiro_classic, '.local/share/kiro-cli/data.sqlite3'),
    'cursor': (cursor, None),  # its folder is named after a hash of the home
    'codex': (codex, '.codex/state_5.sqlite'),
}


class World:
    def __init__(self, program, agent):
        self.agent = agent
        self.top = os.path.realpath(tempfile.mkdtemp(prefix='crafted-'))
        self.home = f'{self.top}/home'
        make, place = PLACES[agent]
        place = place or f'.config/cursor/chats/{hashlib.md5(f"{self.home}/app".encode()).hexdigest()}/{cursor_id(0)}/store.db'
        self.path = f'{self.home}/{place}'
        os.makedirs(f'{self.home}/app')
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.p = Program(program, self.home, {'XDG_STATE_HOME': f'{self.top}/state', 'REPRISE_PROC_DIR': self.top})
        db = self.open()
        self.ids = make(db, self.home)
        db.close()
        write(f'{self.home}/.pi/agent/sessions/--app--/2026-11-22T15-29-33-949Z_{PI}.jsonl', ''.join(compact(r) + '\n' for r in (
            {'type': 'session', 'version': 3, 'id': PI, 'timestamp': '2026-11-22T15:29:33Z', 'cwd': f'{self.home}/app'},
            {'type': 'message', 'id': 'aaaaaaaa', 'parentId': None, 'timestamp': '2026-11-22T15:29:34Z', 'message': {'role': 'user', 'content': 'Which bread?'}})))
        write(f'{self.home}/app/gate.txt', 'text 1\n')
        shutil.copytree(self.home, f'{self.top}/master')
        self.whole = self.rows('as made')[0]
        self.p.same(f'{agent}: sessions', sorted(self.whole), sorted(self.ids))

    def open(self):
        return sqlite3.connect(self.path, isolation_level=None)

    def fill(self):
        shutil.rmtree(self.home)
        shutil.copytree(f'{self.top}/master', self.home)

    def run(self, what, *args):
        run = self.p.run(*args, timeout=300)
        self.p.need(0 <= run.returncode < 64, f'{what}: {args}: exit {run.returncode}: {run.stderr[-300:]!r}')
        raw = {b for b in run.stdout + run.stderr if b < 32 and b != 10 or b == 127}
        self.p.need(not raw, f'{what}: {args}: raw control bytes {sorted(raw)}')
        try:
            return (json.loads(run.stdout) if '--json' in args and run.stdout.strip() else None), run.stderr.decode()
        except ValueError as e:
            self.p.need(False, f'{what}: {args}: {e}: {run.stdout[-200:]!r}')
            return None, ''

    def rows(self, what):
        got, error = self.run(what, 'list', '--all', '--all-kinds', '--json')
        rows = {r['sessionId']: r for r in got or []}
        self.p.need(PI in rows, f'{what}: the session of another agent is not listed: {error}')
        rows.pop(PI, None)
        return {i: r['summary'] for i, r in rows.items() if r['system'] == self.agent}, error

    def check(self, what, change, may_hide=False):
        """may_hide: the change takes sessions away, or their names, in a database that can be read; 'names': only the names."""
        what = f'{self.agent}: {what}'
        self.fill()
        kept = change(self)
        before = snapshot(self.home)
        rows, error = self.rows(what)
        named = [line for line in error.splitlines() if self.path in line]
        self.p.need(len(named) <= 1, f'{what}: named more than once: {named}')
        if self.agent == 'cursor':  # a damaged one is a row of the list
            self.p.need(self.ids[1] in rows, f'{what}: the other session is not listed')
        elif rows != self.whole and may_hide is not True and not (may_hide == 'names' and set(rows) == set(self.whole)):
            self.p.need(len(named) == 1, f'{what}: rows {rows}, and no line names the database: {error!r}')
        if self.agent == 'codex':
            self.p.same(f'{what}: sessions', sorted(rows), sorted(self.ids))
        me = f'{self.agent}:{self.ids[0]}'
        for args in (('list', '--all'), ('messages', '--all', '--json', me), ('usage', '--all', '--json'), ('search', '--all', 'prompt'),
                     ('subagents', '--all', '--json', me), *((('messages', '--all', me), ('files', '--all', '--json', me),
                                                              ('doctor', '--all', '--json', me)) if LONG else ())):
            self.run(what, *args)
        points = self.run(what, 'checkpoints', '--all', '--json', me)[0] or []
        for c in points[:2]:
            self.run(what, 'rewind', '--all', '--json', me, '--to', c['id'], '--dry-run')
        self.p.need(snapshot(self.home) == before, f'{what}: something was written')
        if kept:
            kept.close()

    def close(self):
        shutil.rmtree(self.top)


# ---- what is done to a database ----

def tables(db):
    return [t for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")]


def columns(db, table):
    return [row[1] for row in db.execute(f'PRAGMA table_info({table})')]


def sql(*statements):
    def change(w):
        db = w.open()
        for s in statements:
            try:
                db.execute(s)
            except sqlite3.Error as e:
                raise SystemExit(f'{w.agent}: {s}: {e}') from e
        db.close()
    return change


def every_value(value, only=None):
    """Every value becomes this one, where the table allows it; the ids stay."""
    def change(w):
        db = w.open()
        for table in tables(db):
            for column in columns(db, table):
                if column not in ('id', 'session_id', 'message_id', 'key') and (not only or column in only):
                    try:
                        db.execute(f'UPDATE {table} SET {column} = {value}')
                    except sqlite3.IntegrityError:
                        pass
        db.close()
    return change


def anew(change_sql):
    """The tables made again by a changed schema, with their rows."""
    def change(w):
        db = w.open()
        for table, text in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall():
            db.execute(f'ALTER TABLE {table} RENAME TO old_{table}')
            db.execute(change_sql(text))
            db.execute(f'INSERT INTO {table} SELECT * FROM old_{table}')
            db.execute(f'DROP TABLE old_{table}')
        db.close()
    return change


def as_views(w):
    db = w.open()
    for table in tables(db):
        db.execute(f'ALTER TABLE {table} RENAME TO real_{table}')
        db.execute(f'CREATE VIEW {table} AS SELECT * FROM real_{table}')
    db.close()


def endless_views(w):
    db = w.open()
    for table in tables(db):
        names = columns(db, table)
        db.execute(f'DROP TABLE {table}')
        db.execute(f'CREATE VIEW {table}({",".join(names)}) AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {",".join("i" for _ in names)} FROM n')
    db.close()


def evil_triggers(w):
    db = w.open()
    for table in tables(db):
        db.execute(f"CREATE TRIGGER t_{table} AFTER UPDATE ON {table} BEGIN SELECT load_extension('/tmp/x'); END")
        db.execute(f'ALTER TABLE {table} ADD COLUMN evil GENERATED ALWAYS AS (hex(zeroblob(100000000))) VIRTUAL')
    db.close()


def bytes_of(change_bytes):
    def change(w):
        with open(w.path, 'rb') as f:
            data = f.read()
        with open(w.path, 'wb') as f:
            f.write(change_bytes(data))
    return change


def page(n, fill):
    def change(data):
        size = int.from_bytes(data[16:18], 'big')
        at = n * size + (100 if n == 0 else 0)
        return data[:at] + fill(size - (at - n * size)) + data[(n + 1) * size:] if at < len(data) else data
    return bytes_of(change)


def flipped(step):
    return bytes_of(lambda d: bytes(b ^ 0x55 if i >= 100 and i % step == 0 else b for i, b in enumerate(d)))


def replaced(at, new):
    return bytes_of(lambda d: d[:at] + new + d[at + len(new):])


def in_utf16(w):
    with sqlite3.connect(w.path) as old:
        dump = list(old.iterdump())
    os.unlink(w.path)
    db = w.open()
    db.execute("PRAGMA encoding = 'UTF-16le'")
    db.executescript('\n'.join(dump))
    db.close()


def pending(w):
    """A transaction that is only in the -wal, and one that was never ended."""
    db = w.open()
    db.execute('PRAGMA journal_mode = WAL')
    db.execute('PRAGMA wal_autocheckpoint = 0')
    db.execute('CREATE TABLE more (x)')
    db.execute('BEGIN')
    db.execute('INSERT INTO more VALUES (zeroblob(100000))')
    return db


def damaged_wal(w):
    db = pending(w)
    with open(w.path + '-wal', 'r+b') as f:
        f.seek(40)
        f.write(b'\xff' * 4000)
    return db


def foreign_wal(w):
    db = w.open()
    db.execute('PRAGMA journal_mode = WAL')
    db.close()
    with open(w.path + '-wal', 'wb') as f:
        f.write(os.urandom(50_000))


def locked(w):
    db = w.open()
    db.execute('PRAGMA journal_mode = DELETE')
    db.execute('BEGIN EXCLUSIVE')
    db.execute('CREATE TABLE more (x)')
    return db


def hot_journal(w):
    """As a program leaves it that was killed while it wrote."""
    with open(w.path + '-journal', 'wb') as f:
        f.write(bytes.fromhex('d9d505f920a163d7') + b'\0' * 504)


def bad_schema(w):
    db = w.open()
    db.execute('PRAGMA writable_schema = ON')
    db.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE ' || name || ' ((((' WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    db.close()


def cyclic(w):
    db = w.open()
    for table in tables(db):
        for column in ('parent_id', 'parent_session_id'):
            if column in columns(db, table):
                db.execute(f'UPDATE {table} SET {column} = ?, id = id WHERE id = ?', (w.ids[1], w.ids[0]))
                db.execute(f'UPDATE {table} SET {column} = ? WHERE id = ?', (w.ids[0], w.ids[1]))
    db.close()


def cyclic_blobs(w):
    """A state that lists itself, and a missing one, ten thousand times."""
    db = w.open()
    if 'blobs' in tables(db):
        (value,) = db.execute("SELECT value FROM meta WHERE key = '0'").fetchone()
        root = json.loads(bytes.fromhex(value))['latestRootBlobId']
        db.execute('UPDATE blobs SET data = ? WHERE id = ?', ((b'\x0a\x20' + bytes.fromhex(root) + b'\x0a\x20' + b'\0' * 32) * 10_000, root))
    db.close()


def many_rows(w):
    db = w.open()
    db.execute('BEGIN')
    for table in tables(db):
        names = columns(db, table)
        if names[0] not in ('id', 'key') or db.execute(f'SELECT typeof(id) FROM {table} LIMIT 1' if names[0] == 'id' else "SELECT 'no'").fetchone()[0] != 'text':
            continue
        rest = ','.join(names[1:])
        db.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO {table} SELECT id || 'x' || i, {rest} FROM {table}, n")
    db.execute('COMMIT')
    db.close()


def longer(bytes_count):
    return every_value(f'zeroblob({bytes_count})')


CRAFTED = [
    ('blobs for values', every_value("x'00ff1b5b'"), True),
    ('texts for numbers', every_value("'not a number'"), True),
    ('NULL for every value', every_value('NULL'), True),
    ('reals for every value', every_value('1e300'), True),
    ('negative values', every_value('-9223372036854775807'), True),
    ('largest values', every_value('9223372036854775807'), True),
    ('bytes that are not UTF-8', every_value("CAST(x'ff41c3fe' AS TEXT)"), True),
    ('texts with NUL and escapes', every_value("CAST(x'41001b5d35323b63070a9b324a' AS TEXT)"), True),
    ('deep JSON', every_value("(WITH RECURSIVE n(s, i) AS (SELECT '[', 1 UNION ALL SELECT s || s, i + 1 FROM n WHERE i < 17) SELECT s FROM n ORDER BY i DESC LIMIT 1)"), True),
    ('JSON of the wrong type', every_value("'[{\"type\":7,\"role\":[],\"data\":\"x\",\"text\":{},\"content\":null}]'"), True),
    ('large values', longer(3_000_000), True),
    ('cyclic parents', cyclic, True),
    ('cyclic blobs', cyclic_blobs, True),
    ('3,000 times as many rows', many_rows, True),
    ('views for tables', as_views, False),
    ('endless views', endless_views, False),
    ('triggers and generated columns', evil_triggers, False),
    ('tables without a rowid', anew(lambda s: s if 'AUTOINCREMENT' in s else s.rstrip(') \n') + ') WITHOUT ROWID' if 'PRIMARY KEY' in s else s), False),
    ('no types and no keys', anew(lambda s: s.split('(')[0] + '(' + ','.join(p.strip().split()[0] for p in s.split('(', 1)[1].rsplit(')', 1)[0].split(',')) + ')'), False),
    ('a broken schema', bad_schema, False),
    ('UTF-16', in_utf16, False),
    ('an empty file', bytes_of(lambda d: b''), False),
    ('half of it', bytes_of(lambda d: d[:len(d) // 2]), False),
    ('half a page', bytes_of(lambda d: d[:-2000]), False),
    ('only the header', bytes_of(lambda d: d[:100]), False),
    ('no database', bytes_of(lambda d: b'hello' * 1000), False),
    ('NULs', bytes_of(lambda d: b'\0' * len(d)), False),
    ('page size 0', replaced(16, b'\0\0'), False),
    ('page size 3', replaced(16, b'\0\3'), False),
    ('the largest page size', replaced(16, b'\0\1'), False),
    ('much reserved space', replaced(20, b'\xff'), False),
    ('another version of the format', replaced(18, b'\x09\x09'), False),
    ('a size of 2^32 pages', replaced(28, b'\xff\xff\xff\xff'), False),
    ('a free list into nowhere', replaced(32, b'\x7f\xff\xff\xff\0\0\0\7'), False),
    ('every 97th byte', flipped(97), False),
    ('every 1009th byte', flipped(1009), False),
    ('a pending transaction', pending, False),
    ('a damaged -wal', damaged_wal, False),
    ('a -wal of garbage', foreign_wal, False),
    ('a locked one', locked, False),
    ('a hot journal', hot_journal, False),
    ('a directory', lambda w: (os.unlink(w.path), os.mkdir(w.path))[0], True),
    ('a pipe', lambda w: (os.unlink(w.path), os.mkfifo(w.path))[0], True),
    ('a link to itself', lambda w: (os.unlink(w.path), os.symlink(w.path, w.path))[0], True),
    *((f'page {n} of {name}', page(n, fill), False) for n in range(0, 30, 1 if LONG else 4)
      for name, fill in (('0xff', lambda k: b'\xff' * k), ('noise', lambda k: hashlib.shake_128(b'x').digest(k)))),
]


def check_agent(program, agent):
    w = World(program, agent)
    changes = list(CRAFTED)
    db = w.open()
    for table in tables(db):
        optional = table in ('files', 'project', 'conversations_v2')  # not needed for a list, or the database is for other things
        changes.append((f'no table {table}', sql(f'DROP TABLE {table}'), optional))
        for column in columns(db, table):
            changes.append((f'no {table}.{column}', sql(f'ALTER TABLE {table} RENAME COLUMN {column} TO gone'), 'names'))
    db.close()
    for name, change, may_hide in changes[list(PLACES).index(agent) % SHARE::SHARE]:
        w.check(name, change, may_hide)
    w.close()
    return w.p


def main(program, *agents):
    failed = passed = 0
    for agent in agents or PLACES:
        p = check_agent(program, agent)
        failed, passed = failed + p.failed, passed + p.passed
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or passed < 300 else 0)


if __name__ == '__main__':
    main(*sys.argv[1:])
