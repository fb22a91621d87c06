#!/usr/bin/env python3
"""Sessions of the Kimi CLI, in a store that is made here.

usage: kimi_cli_store.py PROGRAM
"""
import hashlib
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..'))

from support.program import Program, snapshot

T = 1_790_000_000


def put(home, cwd, id, rows, age, state=None, inside=''):
    folder = f'{home}/.kimi/sessions/{hashlib.md5(cwd.encode()).hexdigest()}/{id}{inside}'
    os.makedirs(folder, exist_ok=True)
    with open(f'{folder}/context.jsonl', 'w', encoding='utf-8') as f:
        f.write(''.join((row if isinstance(row, str) else json.dumps(row)) + '\n' for row in rows))
    if state is not None:
        with open(f'{folder}/state.json', 'w', encoding='utf-8') as f:
            f.write(json.dumps(state))
    os.utime(f'{folder}/context.jsonl', (T - age, T - age))


def user(text):
    return {'role': 'user', 'content': text}


def conversation(app):
    call = {'type': 'function', 'id': 'c1', 'function': {'name': 'Shell', 'arguments': json.dumps({'command': 'ls'})}}
    return [{'role': '_system_prompt', 'content': 'You are Kimi.'}, {'role': '_checkpoint', 'id': 0}, user('<system>CHECKPOINT 0</system>'),
            user([{'type': 'text', 'text': 'Mend the gate'}, {'type': 'image_url', 'image_url': {'url': 'data:'}}]),
            {'role': 'assistant', 'content': [{'type': 'think', 'think': 'Hm.'}, {'type': 'text', 'text': 'I look.'}], 'tool_calls': [call]},
            {'role': 'tool', 'content': [{'type': 'text', 'text': 'gate.txt'}], 'tool_call_id': 'c1'},
            {'role': '_usage', 'token_count': 42}, {'role': 'assistant', 'content': 'Done.'}, user('And the fence')]


def check(p, home, app, other):
    put(home, app, 'one', conversation(app), 3, {'custom_title': 'Der Zaun – größer', 'archived': False})
    put(home, app, 'one', [user('A task'), {'role': 'assistant', 'content': 'Its outcome'}], 3, inside='/subagents/helper')
    put(home, app, 'two', [user('Second'), {'role': 'assistant', 'content': 'Yes.'}], 1, {'custom_title': None, 'archived': True})
    put(home, app, 'empty', [{'role': '_checkpoint', 'id': 0}], 0)
    put(home, other, 'three', [user('Anderswo')], 2)
    put(home, app, 'torn', ['{"role": "us', user('After a damaged line')], 4, inside='')
    with open(f'{home}/.kimi/kimi.json', 'w', encoding='utf-8') as f:
        f.write(json.dumps({'work_dirs': [{'path': app, 'last_session_id': 'one'}, {'path': other}]}))
    before = snapshot(home)
    rows = p.json('list', '--all')
    p.same('sessions', [(r['sessionId'], r['summary'], r.get('cwd')) for r in rows], [
        ('two', 'Second', app), ('three', 'Anderswo', other), ('one', 'Der Zaun – größer', app), ('torn', 'After a damaged line', app)])
    p.same('prompts', [(r['firstPrompt'], r['lastPrompt']) for r in rows if r['sessionId'] == 'one'], [('Mend the gate', 'And the fence')])
    p.same('time', rows[0]['lastModified'], (T - 1) * 1000)
    p.same('archived', [r['sessionId'] for r in p.json('list', '--all', '--archived')], ['two'])
    p.same('of a directory', [r['sessionId'] for r in p.json('list', '-C', other)], ['three'])
    p.same('an empty one', {r['sessionId'] for r in p.json('list', '--all', '--all-kinds')} - {r['sessionId'] for r in rows}, {'empty'})
    messages = p.json('messages', '--all', 'one')
    p.same('messages', [m['type'] for m in messages], ['user', 'assistant', 'user', 'assistant', 'user'])
    p.same('a call', messages[1]['message']['content'], [{'type': 'thinking', 'thinking': 'Hm.'}, {'type': 'text', 'text': 'I look.'},
                                                        {'type': 'tool_use', 'id': 'c1', 'name': 'Shell', 'input': {'command': 'ls'}}])
    p.same('its result', messages[2]['message']['content'], [{'type': 'tool_result', 'tool_use_id': 'c1', 'content': 'gate.txt'}])
    p.same('sub-agents', p.json('subagents', '--all', 'one'), ['helper'])
    p.need('Its outcome' in p.text('messages', '--all', 'one', '--agent', 'helper'), 'the conversation of the sub-agent')
    p.need('kimi --session one' in p.text('--resume', 'one', '--all', '--print'), 'the command that resumes')
    p.need(snapshot(home) == before, 'reading changed something')


def check_hostile(p, home, app):
    bad = 'a\x1b]52;c;UEFZ\x07'
    put(home, app, 'bad', [user(bad), {'role': 'assistant', 'content': 7, 'tool_calls': 'x'}, {'role': 'assistant', 'tool_calls': [7, {}]},
                           {'role': 'tool'}, '[]', '7'], 0, {'custom_title': bad})
    with open(f'{home}/.kimi/kimi.json', 'w', encoding='utf-8') as f:
        f.write('{"work_dirs": [7, {"path": 7}')
    for command in ('list', '--all'), ('messages', '--all', 'bad'), ('info', '--all', 'bad'), ('doctor', '--all'):
        run = p.run(*command)
        raw = {b for b in run.stdout + run.stderr if b < 32 and b != 10}
        p.need(0 <= run.returncode < 64 and not raw, f'{command}: {run.returncode}, raw {sorted(raw)}')


def main():
    top = tempfile.mkdtemp(prefix='kimi-cli-')
    home = f'{top}/home'
    try:
        p = Program(sys.argv[1], home, {'XDG_STATE_HOME': f'{top}/state'})
        app, other = f'{home}/app', f'{home}/Öfen'
        os.makedirs(app)
        os.makedirs(other)
        check(p, home, app, other)
        check_hostile(p, home, app)
        p.finish(17)
    finally:
        shutil.rmtree(top)


main()
