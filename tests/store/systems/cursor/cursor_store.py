#!/usr/bin/env python3
"""Sessions of the Cursor CLI in databases that are MADE HERE by what readers of it describe (docs/formats/cursor.md).

usage: cursor_store.py PROGRAM
"""
import hashlib
import json
import os
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..'))

from support.program import Program, snapshot


def compact(value):
    return json.dumps(value, separators=(',', ':'), ensure_ascii=False).encode()


def field(number, data):
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def said(role, *parts, **more):
    return compact({'role': role, 'content': parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts, **more})


def text(words):
    return {'type': 'text', 'text': words}


def query(words):
    return said('user', text(f'<timestamp>Monday</timestamp>\n<user_query>\n{words}\n</user_query>'))


class World:
    def __init__(self, program):
        self.top = tempfile.mkdtemp(prefix='cursor-')
        self.home = f'{self.top}/home'
        self.app = f'{self.home}/app äöü'
        os.makedirs(self.app)
        self.chats = f'{self.home}/.config/cursor/chats'
        self.p = Program(program, self.home, {'XDG_STATE_HOME': f'{self.top}/state'})

    def session(self, n, minute, messages, cwd=None, meta=(), state=b'', wal=False, **about):
        """about: meta.json; without it none is written. Returns the id."""
        cwd = cwd or self.app
        id = f'0000000{n}-dddd-4000-8000-0123456789ab'
        where = f'{self.chats}/{hashlib.md5(cwd.encode()).hexdigest()}/{id}'
        os.makedirs(where)
        db = sqlite3.connect(f'{where}/store.db', isolation_level=None)
        if wal:
            db.execute('PRAGMA journal_mode = WAL')
        db.executescript('CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);')
        names = [self.put(db, m) for m in messages]
        uri = 'file://' + cwd.replace(' ', '%20').replace('ä', '%C3%A4')
        root = self.put(db, b''.join(field(1, bytes.fromhex(n)) for n in names) + b'\x28\x05' + field(9, uri.encode()) + state)
        head = {'agentId': id, 'latestRootBlobId': root, 'name': 'New Agent', 'mode': 'default', 'createdAt': 1_780_000_000_000,
                'lastUsedModel': 'composer-2', **dict(meta)}
        db.execute("INSERT INTO meta VALUES ('0', ?)", (compact(head).hex(),))
        if wal:
            self.open_db = db
        else:
            db.close()
        at = 1_780_000_000 + 60 * minute
        os.utime(f'{where}/store.db', (at, at))
        if about:
            with open(f'{where}/meta.json', 'wb') as f:
                f.write(compact({'schemaVersion': 1, 'createdAtMs': 1_780_000_000_123, 'updatedAtMs': at * 1000 + 7, 'hasConversation': True, **about}))
            os.utime(f'{where}/meta.json', (at, at))
        return id

    def put(self, db, data):
        name = hashlib.sha256(data).hexdigest()
        db.execute('INSERT OR IGNORE INTO blobs VALUES (?, ?)', (name, data))
        return name


def gate(w):
    return w.session(1, 5, [
        said('system', 'You are an agent.'), said('user', f'<user_info>\nWorkspace Path: {w.app}\n</user_info>'), query('Mend the gate'),
        said('assistant', {'type': 'reasoning', 'text': 'Hm.'}, {'type': 'redacted-reasoning', 'data': 'x'}, text('I look.'),
             {'type': 'tool-call', 'toolCallId': 'c1', 'toolName': 'Shell', 'args': {'command': 'ls'}},
             {'type': 'tool-call', 'toolCallId': 'c2', 'toolName': 'Write', 'args': {'path': w.app + '/gate.txt', 'contents': 'shut\n'}}),
        said('tool', {'type': 'tool-result', 'toolCallId': 'c1', 'toolName': 'Shell', 'result': 'gate.txt'},
             {'type': 'tool-result', 'toolCallId': 'c2', 'toolName': 'Write', 'result': {'lines': 1}}),
        said('assistant', text('Done: größer.')), query('go on'), said('assistant', text('Better.')), query('go on'),
        said('assistant', text('Best.'))], title='Gate', cwd=w.app)


def check(w):
    first = gate(w)
    fence = w.session(2, 9, [query('Paint the fence')], meta={'name': 'The fence'}.items(), wal=True)
    empty = w.session(3, 8, [said('system', 'You are an agent.')], hasConversation=False)
    helper = w.session(4, 7, [query('Look at it')], isSubagent=True, title='Helper')
    far = w.session(5, 6, [said('user', 'Anderswo'), said('assistant', 'Ja.')], cwd=w.home + '/far away')
    before = snapshot(w.home)
    rows = w.p.json('list', '--all')
    w.p.same('sessions', [(r['sessionId'], r['summary'], r['cwd']) for r in rows],
             [(fence, 'The fence', w.app), (far, 'Anderswo', w.home + '/far away'), (first, 'Gate', w.app)])
    w.p.same('prompts', [(r['firstPrompt'], r['lastPrompt']) for r in rows],
             [('Paint the fence', 'Paint the fence'), ('Anderswo', 'Anderswo'), ('Mend the gate', 'go on')])
    w.p.same('times', (rows[2]['lastActivity'], rows[2]['createdAt'], rows[1]['createdAt']), (1_780_000_300_007, 1_780_000_000_123, 1_780_000_000_000))
    w.p.same('model', rows[2]['model'], 'composer-2')
    w.p.same('kinds', {r['sessionId']: r.get('kind') for r in w.p.json('list', '--all', '--all-kinds')},
             {first: None, fence: None, far: None, empty: 'empty', helper: 'sub-agent'})
    w.p.same('of a directory', [r['sessionId'] for r in w.p.json('list', '-C', w.app)], [fence, first])
    said_ = w.p.json('messages', '--all', first)
    w.p.same('messages', [m['type'] for m in said_], ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user', 'assistant'])
    w.p.same('the prompt', said_[0]['message']['content'], [{'type': 'text', 'text': 'Mend the gate'}])
    w.p.same('the call', said_[1]['message']['content'][2], {'type': 'tool_use', 'id': 'c1', 'name': 'Shell', 'input': {'command': 'ls'}})
    w.p.same('its result', said_[2]['message']['content'][0], {'type': 'tool_result', 'tool_use_id': 'c1', 'content': 'gate.txt'})
    w.p.same('ids', len({m['uuid'] for m in said_}), len(said_))
    w.p.need('Oiled' not in w.p.text('search', '--all', 'größer') and 'größer' in w.p.text('search', '--all', 'größer'), 'search')
    w.p.same('files', [f['path'] for f in w.p.json('files', '--all', first)], [w.app + '/gate.txt'])
    resume = json.loads(w.p.run('--all', '--print', '--json', '--resume', f'cursor:{first}').stdout)
    w.p.same('resume', (' '.join(resume['command']), resume['cwd']), (f'cursor-agent --resume {first}', w.app))
    for command in 'rename', 'archive', 'delete', 'fork':
        run = w.p.run(command, '--all', first, *(['x'] if command == 'rename' else []))
        w.p.need(run.returncode != 0 and b'Cursor' in run.stderr, f'{command}: {run.stderr!r}')
    w.p.need(snapshot(w.home) == before, 'reading changed something')
    w.open_db.close()
    w.p.same('after its end', [r['sessionId'] for r in w.p.json('list', '--all')], [fence, far, first])
    os.rename(w.chats, w.home + '/.cursor-chats')
    w.p.same('nothing', w.p.json('list', '--all', missing=[]), [])
    for variable, place in ('XDG_CONFIG_HOME', '/xdg/cursor'), ('CURSOR_CONFIG_DIR', '/own'), ('HOME', '/.cursor'):
        os.makedirs(w.home + place)
        os.rename(w.home + '/.cursor-chats', f'{w.home}{place}/chats')
        w.p.env[variable] = w.home + place.removesuffix('/cursor').removesuffix('/.cursor')
        w.p.same(variable, w.p.json('list', '--all')[0]['sessionId'], fence)
        os.rename(f'{w.home}{place}/chats', w.home + '/.cursor-chats')
        if variable != 'HOME':
            del w.p.env[variable]
    os.rename(w.home + '/.cursor-chats', w.chats)
    return first


def quiet(w, what, *commands):
    for command in commands:
        run = w.p.run(*command, timeout=300)
        raw = {b for b in run.stdout + run.stderr if b < 32 and b != 10}
        w.p.need(0 <= run.returncode < 64 and not raw, f'{what}: {command}: {run.returncode}, raw {sorted(raw)}')


def damage(w, whole):
    """Whatever a database has, no command crashes, and the other session is listed as before."""
    bad = 'a\x1b]52;c;UEFZ\x07'
    states = {'nothing': b'', 'a length that is too long': b'\x0a\xff\xff\xff\xff\x0f', 'an endless number': b'\xff' * 30, 'a group': b'\x0b',
              'a name that is no hash': field(1, b'x' * 3), 'a missing blob': field(1, b'\1' * 32), 'a path that climbs': field(9, b'file://../x'),
              'a NUL in a path': field(9, b'file:///a%00b'), 'half a percent': field(9, b'file:///a%2'), 'many': field(1, b'\2' * 32) * 3000}
    messages = {'no JSON': [b'{"role":'], 'control bytes': [query(bad), said('assistant', text(bad))], 'other types': [compact({'role': 7, 'content': {}})],
                'a list': [b'[]'], 'odd parts': [said('user', 7, {'type': 'new'}, {'type': 'tool-call'}, {'type': 'tool-result', 'result': 7}, {'type': 'text'})]}
    heads = {'no state': {'latestRootBlobId': ''}, 'another type': {'latestRootBlobId': 7}, 'control bytes in the name': {'name': bad}}
    for what, given in [*((k, {'state': v}) for k, v in states.items()), *((k, {'messages': v}) for k, v in messages.items()),
                        *((k, {'meta': tuple(v.items())}) for k, v in heads.items())]:
        shutil.rmtree(w.chats)
        first = gate(w)
        id = w.session(6, 1, **{'messages': [query('Hello')], **given})
        quiet(w, what, ('list', '--all'), ('messages', '--all', id), ('info', '--all', id), ('doctor', '--all'), ('usage', '--all'))
        rows = {r['sessionId']: r for r in w.p.json('list', '--all')}
        w.p.same(f'{what}: the other session', rows.get(first, {}).get('summary'), whole)
    for what, data in {'an empty file': b'', 'no database': b'x' * 9000, 'half a database': None, 'an index alone': b'SQLite format 3\0' + bytes(4096)}.items():
        shutil.rmtree(w.chats)
        first = gate(w)
        id = w.session(6, 1, [query('Hello')])
        path = next(f'{d}/store.db' for d, _, _ in os.walk(w.chats) if d.endswith(id))
        with open(path, 'rb') as f:
            data = f.read()[:6000] if data is None else data
        with open(path, 'wb') as f:
            f.write(data)
        with open(os.path.dirname(path) + '/meta.json', 'w', encoding='utf-8') as f:
            f.write('{"title":' if data else '[]')
        quiet(w, what, ('list', '--all'), ('messages', '--all', id), ('info', '--all', id), ('doctor', '--all'))
        rows = {r['sessionId']: r for r in w.p.json('list', '--all')}
        w.p.same(f'{what}: the other session', rows.get(first, {}).get('summary'), whole)


def main():
    w = World(sys.argv[1])
    try:
        check(w)
        damage(w, 'Gate')
    finally:
        shutil.rmtree(w.top, ignore_errors=True)
    w.p.finish(1)


main()
