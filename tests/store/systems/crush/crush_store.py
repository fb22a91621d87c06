#!/usr/bin/env python3
"""Sessions of Crush in databases that are made here by its schema: the list, the conversation, and a rewind from the whole
contents that its table `files` keeps.

usage: crush_store.py PROGRAM
"""
import json
import os
import shutil
import sqlite3
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..'), os.path.join(HERE, '..', 'recorded')]

from recorded_store import manifest

from support.program import Program, snapshot

SCHEMA = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL
    DEFAULT 0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE files (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, path TEXT NOT NULL, content TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, UNIQUE(path, session_id, version));
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts BLOB NOT NULL DEFAULT '[]',
    model TEXT, created_at INTEGER NOT NULL);
"""
T = 1_790_000_000  # seconds, as the triggers write them


class World:
    def __init__(self, program):
        self.top = tempfile.mkdtemp(prefix='crush-')
        self.home = f'{self.top}/home'
        self.project = f'{self.home}/app'
        self.data = f'{self.home}/.local/share/crush'
        os.makedirs(f'{self.project}/.crush')
        os.makedirs(self.data)
        self.p = Program(program, self.home, {'XDG_STATE_HOME': f'{self.top}/state'})
        self.db = sqlite3.connect(f'{self.project}/.crush/crush.db', isolation_level=None)
        self.db.executescript('PRAGMA journal_mode=WAL;' + SCHEMA)
        self.now = T
        self.projects([{'path': self.project, 'data_dir': f'{self.project}/.crush'}, {'path': f'{self.home}/gone', 'data_dir': '.crush'}])

    def projects(self, value):
        with open(f'{self.data}/projects.json', 'w', encoding='utf-8') as f:
            json.dump({'projects': value}, f)

    def session(self, id, title, parent=None, scale=1):
        self.db.execute('INSERT INTO sessions (id, parent_session_id, title, updated_at, created_at) VALUES (?,?,?,?,?)', (id, parent, title, self.now * scale, T * scale))

    def message(self, session, role, *parts, scale=1):
        self.now += 2
        id = f'm-{self.now}'
        body = json.dumps([{'type': t, 'data': d} for t, d in parts])
        self.db.execute('INSERT INTO messages VALUES (?,?,?,?,?,?)', (id, session, role, body, 'model-1', self.now * scale))
        self.db.execute('UPDATE sessions SET updated_at = ? WHERE id = ?', (self.now * scale, session))
        return id

    def put(self, name, text):
        os.makedirs(os.path.dirname(f'{self.project}/{name}'), exist_ok=True)
        with open(f'{self.project}/{name}', 'wb') as f:
            f.write(text.encode())

    def keep(self, session, name, text):
        path = f'{self.project}/{name}'
        (n,) = self.db.execute('SELECT count(*) FROM files WHERE path = ? AND session_id = ?', (path, session)).fetchone()
        self.db.execute('INSERT INTO files (session_id, path, content, version, created_at) VALUES (?,?,?,?,?)',
                        (session, path, text, n, self.now))

    def edit(self, session, name, text):
        """As Crush's tools do: version 0 at the first edit, a version for a change by hand, and one for the edit."""
        path = f'{self.project}/{name}'
        old = open(path, encoding='utf-8', newline='').read() if os.path.exists(path) else ''
        last = self.db.execute('SELECT content FROM files WHERE path = ? AND session_id = ? ORDER BY version DESC',
                               (path, session)).fetchone()
        call = f'c{self.now}'
        self.message(session, 'assistant', ('tool_call', {'id': call, 'name': 'write', 'input': json.dumps({'file_path': path, 'content': text})}))
        if not last or last[0] != old:
            self.keep(session, name, old.replace('\r\n', '\n'))
        self.keep(session, name, text)
        self.put(name, text)
        self.message(session, 'tool', ('tool_result', {'tool_call_id': call, 'content': 'done', 'is_error': False}))

    def rewind(self, session, prompt, *more):
        run = self.p.run('rewind', '--json', '--all', session, '--to', prompt, *more)
        return json.loads(run.stdout) if run.stdout.strip() else {'error': run.stderr.decode()}


def text(words):
    return 'text', {'text': words}


def actions(w, answer):
    return {os.path.relpath(f['path'], w.project): f['action'] for f in answer.get('files', [])}


def check_list(w):
    w.session('s1', 'Gate')
    w.message('s1', 'user', text('Mend the gate'))
    w.message('s1', 'assistant', ('reasoning', {'thinking': 'Hm.'}), text('Done.'), ('finish', {'reason': 'end_turn'}))
    w.session('m1$$call1', 'Look', parent='s1')
    w.message('m1$$call1', 'user', text('Look at it'))
    w.message('m1$$call1', 'assistant', text('It is a gate.'), ('finish', {'reason': 'end_turn'}))
    w.session('title-s1', 'Generate a title', parent='s1')
    w.session('s2', 'Milliseconds', scale=1000)
    w.message('s2', 'user', text('Which unit?'), scale=1000)
    before = snapshot(w.home)
    rows = w.p.json('list', '--all')
    w.p.same('sessions', [(r['sessionId'], r['summary'], r['cwd']) for r in rows],
             [('s2', 'Milliseconds', w.project), ('s1', 'Gate', w.project)])
    w.p.need(all(T * 1000 <= r['lastModified'] < T * 1000 + 10 ** 6 for r in rows), f'times: {rows}')
    w.p.same('here', [r['sessionId'] for r in w.p.json('list', '-C', w.project)], ['s2', 's1'])
    w.p.same('elsewhere', w.p.json('list', '-C', w.top, missing=[]), [])
    w.p.same('messages', [m['type'] for m in w.p.json('messages', '--all', 's1')], ['user', 'assistant'])
    w.p.same('sub-agents', w.p.json('subagents', '--all', 's1'), ['m1$$call1'])
    w.p.need('It is a gate.' in w.p.text('messages', '--all', 's1', '--agent', 'm1$$call1'), 'the sub-agent')
    for command in 'rename', 'archive', 'delete', 'fork':
        run = w.p.run(command, '--all', 's1', *(['x'] if command == 'rename' else []))
        w.p.need(run.returncode != 0 and b'crush' in run.stderr.lower(), f'{command}: {run.stderr!r}')
    w.p.need(snapshot(w.home) == before, 'reading changed something')
    # its tokens are those of the last request, so only the cost of a session is a sum
    w.db.execute('ALTER TABLE sessions ADD COLUMN cost REAL NOT NULL DEFAULT 0.0')
    w.db.execute("UPDATE sessions SET cost = 0.5 WHERE id = 's1'")
    rows = w.p.json('usage', '--all', '--by', 'session')
    w.p.same('costs', [(r['session'], r['costUSD'], r['total']) for r in rows], [('s1', 0.5, 0)])
    w.projects({w.project: {'data_dir': '.crush'}})
    w.p.same('old projects.json', len(w.p.json('list', '--all')), 2)
    w.p.same('by the project', len(w.p.json('list', '--all', '--store', f'crush:{w.project}')), 2)


def check_damage(w):
    for name, data in {'text': b'{"projects":', 'array': b'[]', 'NULs': b'\0' * 99, 'odd': b'{"projects":[7,{},{"path":7}]}'}.items():
        with open(f'{w.data}/projects.json', 'wb') as f:
            f.write(data)
        run = w.p.run('list', '--all')
        w.p.need(0 <= run.returncode < 64 and (name == 'odd' or b'projects.json' in run.stderr), f'{name}: {run.stderr!r}')
    other = f'{w.home}/other'
    os.makedirs(f'{other}/.crush')
    with open(f'{other}/.crush/crush.db', 'wb') as f:
        f.write(b'no database at all, but long enough to be looked at ' * 9)
    w.projects([{'path': other, 'data_dir': '.crush'}, {'path': w.project, 'data_dir': '.crush'}])
    run = w.p.run('list', '--all')
    w.p.need(b'Gate' in run.stdout and b'other/.crush/crush.db' in run.stderr, f'a damaged database: {run.stderr!r}')
    bad = 'a\x1b]52;c;UEFZ\x07'
    w.session('s-bad', bad)
    w.db.execute("INSERT INTO messages VALUES ('m-bad', 's-bad', 'user', '[{\"type\":', '', 5)")
    w.message('s-bad', 'user', text(bad), ('tool_call', {'input': 'no JSON'}), ('new', {}), ('text', {}))
    for command in ('list', '--all'), ('messages', '--all', 's-bad'), ('checkpoints', '--all', 's-bad'), ('info', '--all', 's-bad'):
        run = w.p.run(*command)
        raw = {b for b in run.stdout + run.stderr if b < 32 and b != 10}
        w.p.need(0 <= run.returncode < 64 and not raw, f'{command}: {run.returncode}, raw {sorted(raw)}')


def check_rewind(w):
    w.session('s3', 'Work')
    w.put('a.txt', 'one\n')
    w.put('crlf.txt', 'x\r\ny\r\n')
    start = manifest(w.project)
    one = w.message('s3', 'user', text('First'))
    w.edit('s3', 'a.txt', 'two\n')
    w.edit('s3', 'new/b.txt', 'new\n')
    w.edit('s3', 'crlf.txt', 'x\r\nz\r\n')
    middle = manifest(w.project)
    two = w.message('s3', 'user', text('Second'))
    w.edit('s3', 'a.txt', 'three\n')
    end = manifest(w.project)

    dry = w.rewind('s3', two, '--dry-run')
    w.p.same('the second point', actions(w, dry), {'a.txt': 'restore'})
    w.p.need(manifest(w.project) == end, 'a dry run changed the project')
    done = w.rewind('s3', two, '--apply', '--plan', dry['plan'])
    w.p.same('after it', {k: v for k, v in manifest(w.project).items() if '.crush' not in k},
             {k: v for k, v in middle.items() if '.crush' not in k})
    w.p.need(w.p.run('undo', done['undo']).returncode == 0 and manifest(w.project) == end, 'undo')

    dry = w.rewind('s3', one, '--dry-run')
    w.p.same('the first point', actions(w, dry), {'a.txt': 'restore', 'new/b.txt': 'restore', 'crlf.txt': 'refused'})
    done = w.rewind('s3', one, '--apply', '--skip-refused', '--plan', dry['plan'])
    w.p.same('the beginning', open(f'{w.project}/a.txt', encoding='utf-8').read(), 'one\n')
    w.p.same('no record shows that there was no file', os.path.getsize(f'{w.project}/new/b.txt'), 0)
    w.p.need(w.p.run('undo', done['undo']).returncode == 0 and manifest(w.project) == end and start != end, 'undo of all')

    w.put('a.txt', 'by hand\n')
    w.p.same('a hand edit', actions(w, w.rewind('s3', two, '--dry-run')), {'a.txt': 'refused'})
    w.edit('s3', 'a.txt', 'four\n')  # keeps the hand edit as a version
    dry = w.rewind('s3', two, '--dry-run')
    w.p.same('a hand edit between two edits', actions(w, dry), {'a.txt': 'refused'})

    w.session('s4', 'Other work')
    w.message('s4', 'user', text('More'))
    w.edit('s4', 'new/b.txt', 'newer\n')
    files = {os.path.relpath(f['path'], w.project): f for f in w.rewind('s3', one, '--dry-run')['files']}
    w.p.need('Other work' in json.dumps(files['new/b.txt']), f'the other session is named: {files}')


def main():
    w = World(sys.argv[1])
    try:
        check_list(w)
        check_damage(w)
        check_rewind(w)
    finally:
        w.db.close()
        shutil.rmtree(w.top)
    w.p.finish(34)


main()
