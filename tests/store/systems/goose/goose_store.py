#!/usr/bin/env python3
"""Sessions of Goose in databases that are made here by its schemas, the present and an older one.

usage: goose_store.py PROGRAM
"""
import json
import os
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..'))

from support.program import Program, snapshot

MESSAGES = """
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL);
"""
NEW = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
    session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
    parent_session_id TEXT);
""" + MESSAGES
SUMS = """
ALTER TABLE sessions ADD COLUMN accumulated_input_tokens INTEGER;
ALTER TABLE sessions ADD COLUMN accumulated_output_tokens INTEGER;
"""
LEDGER = """
CREATE TABLE usage_ledger (session_id TEXT NOT NULL, created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER,
    output_tokens INTEGER, total_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL,
    cost_source TEXT, is_compaction INTEGER NOT NULL DEFAULT 0);
"""
OLD = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL,
    created_at TIMESTAMP, updated_at TIMESTAMP);
""" + MESSAGES


def compact(value):
    return json.dumps(value, separators=(',', ':'))


class World:
    def __init__(self, program):
        self.top = tempfile.mkdtemp(prefix='goose-')
        self.home = f'{self.top}/home'
        self.data = f'{self.home}/.local/share/goose/sessions'
        os.makedirs(self.data)
        self.p = Program(program, self.home, {'XDG_STATE_HOME': f'{self.top}/state'})

    def open(self, schema):
        for name in os.listdir(self.data):
            os.unlink(f'{self.data}/{name}')
        db = sqlite3.connect(f'{self.data}/sessions.db', isolation_level=None)
        db.executescript(schema)
        return db


def session(db, id, minute, **more):
    row = {'id': id, 'working_dir': '/app', 'created_at': '2026-09-21 10:00:00', 'updated_at': f'2026-09-21 10:{minute:02}:00', **more}
    db.execute(f'INSERT INTO sessions ({",".join(row)}) VALUES ({",".join("?" * len(row))})', tuple(row.values()))


def message(db, session, role, *parts):
    db.execute('INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?,?,?,?)',
               (session, role, compact(parts), 1790000000))


def text(words):
    return {'type': 'text', 'text': words}


def check(w):
    db = w.open(NEW)
    session(db, '20260921_1', 5, name='Gate')
    message(db, '20260921_1', 'user', text('Mend the gate'))
    message(db, '20260921_1', 'assistant', {'type': 'thinking', 'thinking': 'Hm.', 'signature': ''}, text('I look.'),
            {'type': 'toolRequest', 'id': 'c1', 'toolCall': {'status': 'success', 'value': {'name': 'shell', 'arguments': {'command': 'ls'}}}})
    message(db, '20260921_1', 'user', {'type': 'toolResponse', 'id': 'c1', 'toolResult': {'status': 'success', 'value': [text('gate.txt')]}})
    message(db, '20260921_1', 'assistant', text('Done.'))
    session(db, '20260921_2', 9, name='', description='Fence')
    message(db, '20260921_2', 'user', text('Paint the fence'))
    session(db, '20260921_3', 8, name='Empty')
    session(db, '20260921_4', 7, name='Helper', session_type='sub_agent', parent_session_id='20260921_1')
    message(db, '20260921_4', 'user', text('Help'))
    message(db, '20260921_4', 'assistant', text('Helped.'))
    session(db, '20260921_5', 6, name='Hidden', session_type='hidden')
    message(db, '20260921_5', 'user', text('Nothing'))
    before = snapshot(w.home)
    rows = w.p.json('list', '--all')
    w.p.same('sessions', [(r['sessionId'], r['summary'], r['cwd']) for r in rows],
             [('20260921_2', 'Fence', '/app'), ('20260921_1', 'Gate', '/app')])
    w.p.same('prompts', [r['lastPrompt'] for r in rows], ['Paint the fence', 'Mend the gate'])
    w.p.same('time', rows[1]['lastModified'], 1789985100000)
    said = w.p.json('messages', '--all', '20260921_1')
    w.p.same('messages', [m['type'] for m in said], ['user', 'assistant', 'user', 'assistant'])
    w.p.same('the call', said[1]['message']['content'][2], {'type': 'tool_use', 'id': 'c1', 'name': 'shell', 'input': {'command': 'ls'}})
    w.p.same('its result', said[2]['message']['content'], [{'type': 'tool_result', 'tool_use_id': 'c1', 'content': 'gate.txt'}])
    w.p.same('sub-agents', w.p.json('subagents', '--all', '20260921_1'), ['20260921_4'])
    w.p.need('the fence' in w.p.text('search', '--all', 'Paint the'), 'search')
    for command in 'rename', 'archive', 'delete', 'fork':
        run = w.p.run(command, '--all', '20260921_1', *(['x'] if command == 'rename' else []))
        w.p.need(run.returncode != 0 and b'goose' in run.stderr.lower(), f'{command}: {run.stderr!r}')
    w.p.need(snapshot(w.home) == before, 'reading changed something')

    bad = 'a\x1b]52;c;UEFZ\x07'
    session(db, '20260921_6', 1, name=bad, created_at='never')
    message(db, '20260921_6', 'user', text(bad), {'type': 'new'}, 7, {'type': 'toolRequest'}, {'type': 'toolResponse', 'toolResult': 7})
    db.execute("INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20260921_6', 'user', '[{\"type\":', 0)")
    for command in ('list', '--all'), ('messages', '--all', '20260921_6'), ('info', '--all', '20260921_6'), ('doctor', '--all'):
        run = w.p.run(*command)
        raw = {b for b in run.stdout + run.stderr if b < 32 and b != 10}
        w.p.need(0 <= run.returncode < 64 and not raw, f'{command}: {run.returncode}, raw {sorted(raw)}')
    db.close()

    db = w.open(OLD)
    session(db, 'old', 3, description='Of an old version')
    message(db, 'old', 'user', text('Hello'))
    w.p.same('an old schema', [r['summary'] for r in w.p.json('list', '--all')], ['Of an old version'])
    w.p.same('no sub-agents', w.p.json('subagents', '--all', 'old'), [])
    db.close()


def check_usage(w):
    """Each answer where there is a ledger, else the sums of a session; the input has what came from a cache."""
    def sums(*args):
        rows = w.p.json('usage', '--all', '--by', 'session', *args, missing=[])
        return {r['session']: [r[k] for k in ('input', 'output', 'cacheRead', 'cacheWrite')] for r in rows}

    db = w.open(NEW)
    session(db, 'old', 1, name='Sums')
    message(db, 'old', 'user', text('Add it up'))
    w.p.same('no counts', w.p.run('usage', '--all', '--json').stdout.strip(), b'[]')
    db.executescript(SUMS)
    db.execute("UPDATE sessions SET accumulated_input_tokens = 700, accumulated_output_tokens = 30 WHERE id = 'old'")
    w.p.same('sums', sums(), {'old': [700, 30, 0, 0]})
    db.executescript(LEDGER)
    session(db, 'new', 2, name='Ledger', accumulated_input_tokens=9999, accumulated_output_tokens=9999)
    message(db, 'new', 'user', text('Count it'))
    session(db, 'helper', 3, name='Helper', session_type='sub_agent', parent_session_id='new')
    for id, tokens in ('new', (100, 5, 60, 10)), ('new', (200, 7, 0, 0)), ('helper', (40, 1, -3, None)):
        db.execute("INSERT INTO usage_ledger VALUES (?, 1790000000, 'model-1', ?, ?, 0, ?, ?, 0.25, 'provider_reported', 0)", (id, *tokens))
    w.p.same('a ledger', sums(), {'old': [700, 30, 0, 0], 'new': [100 - 70 + 200 + 40, 13, 60, 10]})
    w.p.same('costs', [r['costUSD'] for r in w.p.json('usage', '--all', '--by', 'model') if r.get('model') == 'model-1'], [0.75])
    db.close()


def check_files(w):
    """Sessions of old versions, a file each; with a database they are not read."""
    for name in os.listdir(w.data):
        os.unlink(f'{w.data}/{name}')
    big = 'x' * 200000
    about = {'working_dir': '/app', 'description': 'Gate', 'message_count': 4, 'accumulated_input_tokens': 70, 'accumulated_output_tokens': 3}
    said = [('user', text('Mend the gate')), ('assistant', {'type': 'toolRequest', 'id': 'c1', 'toolCall': {
        'status': 'success', 'value': {'name': 'shell', 'arguments': {'command': 'ls'}}}}),
            ('user', {'type': 'toolResponse', 'id': 'c1', 'toolResult': {'status': 'success', 'value': [text(big)]}}),
            ('assistant', text(big)), ('user', text('And the fence')), ('assistant', text('Done.'))]
    rows = [json.dumps({'id': None, 'role': role, 'created': 1790000000 + i, 'content': [part]}) for i, (role, part) in enumerate(said)]
    files = {'20250921_1': [json.dumps(about), *rows], '20250921_2': rows[:1], '20250921_3': [json.dumps(about)],
             '20250921_4': ['{"working_dir":', rows[0], '{"role":'], '20250921_5': []}
    for n, (id, lines) in enumerate(files.items()):
        with open(f'{w.data}/{id}.jsonl', 'w', encoding='utf-8') as f:
            f.write(''.join(f'{line}\n' for line in lines))
        os.utime(f'{w.data}/{id}.jsonl', (1790000000 + n, 1790000000 + n))
    before = snapshot(w.home)
    listed = w.p.json('list', '--all')
    w.p.same('in files', [(r['sessionId'], r['summary'], r.get('firstPrompt'), r.get('lastPrompt')) for r in listed], [
        ('20250921_4', 'Mend the gate', 'Mend the gate', 'Mend the gate'), ('20250921_2', 'Mend the gate', 'Mend the gate', 'Mend the gate'),
        ('20250921_1', 'Gate', 'Mend the gate', 'And the fence')])
    w.p.same('times', [listed[2][k] for k in ('createdAt', 'lastModified')], [1790000000000, 1790000000000])
    messages = w.p.json('messages', '--all', '20250921_1')
    w.p.same('messages', [m['type'] for m in messages], [role for role, _ in said])
    w.p.same('a large result', len(messages[2]['message']['content'][0]['content']), len(big))
    w.p.same('tokens', [r['input'] for r in w.p.json('usage', '--all', '--by', 'session') if r['session'] == '20250921_1'], [70])
    w.p.need(w.p.run('messages', '--all', '20250921_4').returncode == 0, 'damaged lines')
    w.p.need(snapshot(w.home) == before, 'reading changed something')
    db = sqlite3.connect(f'{w.data}/sessions.db')
    db.executescript(OLD)
    db.close()
    w.p.same('with a database', w.p.json('list', '--all'), [])


def main():
    w = World(sys.argv[1])
    try:
        check(w)
        check_usage(w)
        check_files(w)
    finally:
        shutil.rmtree(w.top)
    w.p.finish(30)


main()
