#!/usr/bin/env python3
"""Where Qwen Code keeps its sessions, by its variables and settings: the recorded store, moved. The saved copies of files stay with the
program's own files, as in Qwen Code 0.24.4.

usage: qwen_places.py PROGRAM
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'recorded'), os.path.join(HERE, '..', '..', '..')]

from agents import AGENTS
from recorded_store import RecordedStore

from support.program import Program


def settings(home, text):
    with open(f'{home}/.qwen/settings.json', 'w', encoding='utf-8') as f:
        f.write(text)


def answers(p, id):
    """The list, and what a rewind to the first prompt would do."""
    rows = [(r['sessionId'], r['summary']) for r in p.json('list', '--all')]
    points = p.json('checkpoints', '--all', f'qwen:{id}')
    run = p.run('rewind', '--json', '--all', f'qwen:{id}', '--to', points[0]['id'], '--dry-run')
    return rows, [(f['path'], f['action']) for f in json.loads(run.stdout)['files']]


def main():
    store = RecordedStore(AGENTS['qwen'])
    try:
        store.fill()
        home = store.home
        edit = next(s for s in store.expected.sessions if s.name == 'edit')
        store.place(next(t.end for t in store.expected.turns if t.session == edit.id), edit.cwd)

        def program(**env):
            return Program(sys.argv[1], home, {'REPRISE_PROC_DIR': store.trees, 'XDG_STATE_HOME': f'{home}/state', **env})
        p = program()
        want = answers(p, edit.id)
        p.need(want[0] and want[1], f'nothing to compare: {want}')

        commands = '00000000-0000-4000-8000-000000000001'
        folder = os.path.dirname(next(r['path'] for r in p.json('list', '--all') if r['sessionId'] == edit.id))
        path = f'{folder}/{commands}.jsonl'
        with open(path, 'w', encoding='utf-8') as f:
            f.write(json.dumps({'uuid': 'u', 'parentUuid': None, 'sessionId': commands, 'timestamp': '2026-11-27T01:00:00.000Z', 'type': 'system',
                                'subtype': 'slash_command', 'cwd': edit.cwd, 'systemPayload': {'phase': 'invocation', 'rawCommand': '/about'}}) + '\n')
        p.need(commands in {r['sessionId'] for r in p.json('list', '-C', edit.cwd)}, 'a session with commands only is listed, as by Qwen')
        for time in '2026/11/27', '99999-01-01T00:00:00Z', None, 7:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(json.dumps({'uuid': 'u', 'parentUuid': None, 'sessionId': commands, 'timestamp': time, 'type': 'user', 'cwd': edit.cwd,
                                    'message': {'role': 'user', 'parts': [{'text': 'Mend the gate'}]}}) + '\n')
            p.need(commands in {r['sessionId'] for r in p.json('list', '-C', edit.cwd)}, f'a prompt with the time {time!r} is listed')
        open(path, 'w').close()
        p.need(commands not in {r['sessionId'] for r in p.json('list', '-C', edit.cwd)}, 'an empty file is not listed')
        os.unlink(path)

        os.mkdir(f'{home}/run')
        os.rename(f'{home}/.qwen/projects', f'{home}/run/projects')
        p.same('without sessions', p.json('list', '--all', missing=[]), [])
        p.same('by the variable', answers(program(QWEN_RUNTIME_DIR=f'{home}/run'), edit.id), want)
        p.same('by the variable, from the home', answers(program(QWEN_RUNTIME_DIR='~/run'), edit.id), want)
        for dir in '~/run', f'{home}/run':
            settings(home, json.dumps({'advanced': {'runtimeOutputDir': dir}}))
            p.same(f'by the settings, {dir}', answers(p, edit.id), want)
        settings(home, json.dumps({'advanced': {'runtimeOutputDir': 'run'}}))
        p.same('a relative directory, from the home', answers(p, edit.id), want)
        run = subprocess.run([p.path, 'list', '--all', '--json'], env=p.env, cwd='/', capture_output=True, check=False)
        p.same('a relative directory, from elsewhere', run.stdout.strip(), b'[]')
        settings(home, '// a comment\n{"advanced": {"runtimeOutputDir": "~/run"}}')
        p.same('settings that do not parse', p.json('list', '--all', missing=[]), [])

        os.rename(f'{home}/.qwen', f'{home}/qwen')
        p.same('no directory', p.json('list', '--all', missing=[]), [])
        os.rename(f'{home}/run/projects', f'{home}/qwen/projects')
        os.unlink(f'{home}/qwen/settings.json')
        p.same('by the home of Qwen', answers(program(QWEN_HOME=f'{home}/qwen'), edit.id), want)
    finally:
        store.remove()
    p.finish(9)


main()
