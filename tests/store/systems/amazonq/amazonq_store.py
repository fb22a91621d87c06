#!/usr/bin/env python3
"""Conversations of the Amazon Q CLI and of the Kiro CLI 1, in databases that are made here.

usage: amazonq_store.py PROGRAM
"""
import json
import os
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..'))

from support.program import Program, snapshot

T = 1_790_000_000_000
ONE, TWO, THREE, OLD = (f'{n}1111111-2222-4333-8444-555555555555' for n in range(4))


def user(content, **more):
    return {'additional_context': '', 'env_context': {'env_state': {'current_working_directory': '/app'}}, 'content': content,
            'timestamp': '2026-09-21T14:13:20+00:00', 'images': None, **more}


def prompt(text, **more):
    return user({'Prompt': {'prompt': text}}, **more)


def results(id, *content, status='Success'):
    return [{'tool_use_id': id, 'content': list(content), 'status': status}]


def said(text):
    return {'Response': {'message_id': 'm', 'content': text}}


def called(text, id, name, args):
    return {'ToolUse': {'message_id': 'm', 'content': text, 'tool_uses': [{'id': id, 'name': name, 'orig_name': name, 'args': args}]}}


def history(as_objects):
    """A call that worked, one that was cancelled by the next prompt, and its answer."""
    entries = [(prompt('Mend the gate', images=[{'format': 'png'}]), called('I look.', 'c1', 'execute_bash', {'command': 'ls'})),
               (user({'ToolUseResults': {'tool_use_results': results('c1', {'Text': 'gate.txt'}, {'Json': {'exit_status': '0'}})}}),
                called('', 'c2', 'fs_read', {'path': '/app/gate.txt'})),
               (user({'CancelledToolUses': {'prompt': 'No, the fence', 'tool_use_results': results('c2', {'Text': 'cancelled'}, status='Error')}}),
                said('Done.'))]
    return [{'user': u, 'assistant': a, 'request_metadata': None} for u, a in entries] if as_objects else [list(e) for e in entries]


def check(p, data):
    os.makedirs(f'{data}/kiro-cli')
    os.makedirs(f'{data}/amazon-q')
    db = sqlite3.connect(f'{data}/kiro-cli/data.sqlite3', isolation_level=None)
    db.execute('CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL, '
               'created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id))')
    for n, (id, value) in enumerate({ONE: {'history': history(True), 'model_info': {'model_id': 'a model'}},
                                     TWO: {'history': history(True)[:1]}, THREE: {'history': []}}.items()):
        db.execute('INSERT INTO conversations_v2 VALUES (?,?,?,?,?)', ('/app', id, json.dumps({'conversation_id': id, **value}), T, T + n))
    db.execute('INSERT INTO conversations_v2 VALUES (?,?,?,?,?)', ('/app', 'broken', '{"history":[', T, T - 1))
    old = sqlite3.connect(f'{data}/amazon-q/data.sqlite3', isolation_level=None)
    old.execute('CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)')
    old.execute('INSERT INTO conversations VALUES (?,?)', ('/app', json.dumps({'conversation_id': OLD, 'history': history(False), 'model': 'q'})))
    old.execute('INSERT INTO conversations VALUES (?,?)', ('/b', 'no JSON'))
    before = snapshot(data)
    rows = p.json('list', '--all')
    p.same('conversations', [(r['system'], r['sessionId'], r['cwd'], r.get('model')) for r in rows],
           [('kiro-classic', TWO, '/app', None), ('amazonq', OLD, '/app', 'q'), ('kiro-classic', ONE, '/app', 'a model')])
    p.same('prompts', [(r['firstPrompt'], r['lastPrompt']) for r in rows],
           [('Mend the gate', 'Mend the gate'), ('Mend the gate', 'No, the fence'), ('Mend the gate', 'No, the fence')])
    p.same('times', [r['lastModified'] for r in rows], [T + 1, T, T])
    p.same('empty and damaged ones', {r['sessionId'] for r in p.json('list', '--all', '--all-kinds')} - {ONE, TWO, OLD}, {THREE, 'broken'})
    for id in ONE, OLD:
        messages = p.json('messages', '--all', id)
        p.same(f'messages of {id}', [m['type'] for m in messages], ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'])
        content = [m['message']['content'] for m in messages]
        p.same('a call', content[1][1], {'type': 'tool_use', 'id': 'c1', 'name': 'execute_bash', 'input': {'command': 'ls'}})
        p.same('its result', content[2], [{'type': 'tool_result', 'tool_use_id': 'c1', 'content': 'gate.txt\n{"exit_status": "0"}'}])
        p.need('cancelled' in json.dumps(content[4]) and 'No, the fence' in json.dumps(content[4]), f'a cancelled call: {content[4]}')
    p.need('the fence' in p.text('search', '--all', 'No, the fence'), 'search')
    p.same('commands', [p.text('--resume', f'{s}:{id}', '--all', '--print').split('\n')[0].rsplit('&& ', 1)[-1].split('# ')[0].strip() for s, id in
                        (('kiro-classic', ONE), ('amazonq', OLD))], [f'kiro-cli chat --resume-id {ONE}', 'q chat --resume'])
    for command in 'rename', 'archive', 'delete', 'fork':
        run = p.run(command, '--all', ONE, *(['x'] if command == 'rename' else []))
        p.need(run.returncode != 0, f'{command}: {run.stdout!r}')
    p.need(p.run('messages', '--all', 'broken').returncode == 0, 'a damaged conversation')
    p.need(snapshot(data) == before, 'reading changed something')


def check_hostile(p, data):
    bad = 'a\x1b]52;c;UEFZ\x07'
    db = sqlite3.connect(f'{data}/kiro-cli/data.sqlite3', isolation_level=None)
    entries = [7, [], [1], {'user': 7, 'assistant': 7}, {'user': prompt(bad), 'assistant': {'ToolUse': 7}},
               {'user': user({'ToolUseResults': {'tool_use_results': [7, {}]}}), 'assistant': {'Response': {'content': 7}}}]
    db.execute('INSERT INTO conversations_v2 VALUES (?,?,?,?,?)', (bad, 'hostile', json.dumps({'history': entries}), T, T))
    db.execute('INSERT INTO conversations_v2 VALUES (?,?,?,?,?)', ('/app', '../../etc', json.dumps({'history': 'x'}), T, T))
    for command in ('list', '--all'), ('messages', '--all', 'hostile'), ('info', '--all', 'hostile'), ('doctor', '--all'):
        run = p.run(*command)
        raw = {b for b in run.stdout + run.stderr if b < 32 and b != 10}
        p.need(0 <= run.returncode < 64 and not raw, f'{command}: {run.returncode}, raw {sorted(raw)}')
    p.need('hostile' in {r['sessionId'] for r in p.json('list', '--all')}, 'it is listed')


def check_missing(p, data):
    """Databases that are used for other things only."""
    for name, table in ('kiro-cli', 'conversations_v2'), ('amazon-q', 'conversations'):
        db = sqlite3.connect(f'{data}/{name}/data.sqlite3', isolation_level=None)
        db.execute(f'DROP TABLE {table}')
        db.execute('CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT)')
        db.close()
    run = p.run('list', '--all', '--json')
    p.same('without the tables', (run.stdout.strip(), run.stderr), (b'[]', b''))


def main():
    top = tempfile.mkdtemp(prefix='amazonq-')
    try:
        p = Program(sys.argv[1], f'{top}/home', {'XDG_STATE_HOME': f'{top}/state'})
        data = f'{top}/home/.local/share'
        check(p, data)
        check_hostile(p, data)
        check_missing(p, data)
        p.finish(26)
    finally:
        shutil.rmtree(top)


main()
