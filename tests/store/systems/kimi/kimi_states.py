#!/usr/bin/env python3
"""Sessions of Kimi Code whose state names the directory in each of the known ways, or not at all.

usage: kimi_states.py PROGRAM
"""
import hashlib
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..'))

from support.program import Program, snapshot

T = 1_790_000_000_000


def session(home, cwd, number, state, *rows, text=''):
    id = f'session_00000000-0000-4000-8000-{number:012}'
    name = f'wd_app_{hashlib.sha256(cwd.encode()).hexdigest()[:12]}'
    folder = f'{home}/.kimi-code/sessions/{name}/{id}'
    os.makedirs(f'{folder}/agents/main')
    with open(f'{folder}/state.json', 'w', encoding='utf-8') as f:
        f.write(state if isinstance(state, str) else json.dumps(state))
    prompt = text is not None and {'type': 'turn.prompt', 'input': [{'type': 'text', 'text': text or f'Prompt {number}'}], 'origin': {'kind': 'user'},
              'promptId': f'msg_{number}', 'turnId': 0, 'time': T + number}
    answer = {'type': 'context.append_loop_event', 'event': {'type': 'content.part', 'part': {'type': 'text', 'text': 'Done.'}}, 'time': T + number}
    with open(f'{folder}/agents/main/wire.jsonl', 'w', encoding='utf-8') as f:
        turn = (prompt, *rows, answer) if prompt else rows
        for row in ({'type': 'metadata', 'protocol_version': '1.5', 'time': T}, *turn):
            f.write(json.dumps(row) + '\n')
    return id


def main():
    top = tempfile.mkdtemp(prefix='kimi-')
    home, app = f'{top}/home', f'{top}/home/app'
    os.makedirs(app)
    try:
        p = Program(sys.argv[1], home, {'XDG_STATE_HOME': f'{top}/state'})
        named = {'cwd': {'cwd': app}, 'workDir': {'workDir': app}, 'custom': {'custom': {'cwd': app}},
                 'first': {'cwd': app, 'workDir': '/other', 'custom': {'cwd': '/other'}}, 'empty': {'cwd': '', 'custom': {'cwd': app}}}
        ids = {key: session(home, app, n, state) for n, (key, state) in enumerate(named.items())}
        ids['number'] = session(home, app, 6, {'custom': {'cwd': 7}})
        ids['damaged'] = session(home, app, 7, '{"cwd":')
        old = {'type': 'usage.record', 'model': 'old', 'usage': {'inputOther': 1, 'output': 2}, 'time': T}
        ids['model'] = session(home, app, 8, {'cwd': app}, old, {**old, 'model': 'new'})
        long = 'Ein sehr langer Satz. ' * 20000
        ids['long'] = session(home, app, 9, {'cwd': app}, text=long)
        shell = {'type': 'context.append_message', 'message': {'role': 'user', 'content': [{'type': 'text', 'text': '<bash-input>ls</bash-input>'}],
                                                               'origin': {'kind': 'shell_command', 'phase': 'input'}}, 'time': T}
        ids['shell'] = session(home, app, 10, {'cwd': app}, shell, text=None)
        ids['nothing'] = session(home, app, 11, '', text=None)
        before = snapshot(home)
        rows = {r['sessionId']: r for r in p.json('list', '--all')}
        for key in named:
            p.same(f'directory by {key}', rows[ids[key]].get('cwd'), app)
        for key in 'number', 'damaged':
            p.same(f'directory by {key}', rows[ids[key]].get('cwd'), None)
            p.need(rows[ids[key]].get('firstPrompt', '').startswith('Prompt'), f'{key}: its prompt')
        p.need(rows[ids['long']].get('firstPrompt') == long[:len(rows[ids['long']]['firstPrompt'])] != '', 'a prompt that is longer than a window')
        p.same('model', rows[ids['model']].get('model'), 'new')
        p.need(ids['shell'] in rows and ids['nothing'] not in rows, 'a session without prompts is listed if it has a state')
        said = p.json('messages', '--all', ids['shell'], '--system-messages')
        p.need('bash-input' in json.dumps(said), f'a command that a person ran: {said}')
        here = {r['sessionId'] for r in p.json('list', '-C', app)}
        p.need({ids[k] for k in named} <= here, f'listed in the directory: {sorted(here)}')
        p.need(snapshot(home) == before, 'reading changed the directory')
        p.finish(13)
    finally:
        shutil.rmtree(top)


main()
