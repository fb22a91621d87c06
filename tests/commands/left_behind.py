#!/usr/bin/env python3
"""What the agent or another program left where no list looks: prompts without a transcript, transcripts too deep, links.

usage: left_behind.py PROGRAM
"""
import json
import os
import sys

from resume_by_id import World, flat


def sid(n):
    return f'0000000{n}-0000-4000-8000-000000000000'


def write(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(''.join(json.dumps(r, separators=(',', ':')) + '\n' for r in rows))


def transcript(w, n, text, folder=None):
    path = f'{w.config}/projects/{folder or flat(w.home)}/{sid(n)}.jsonl'
    write(path, [{'parentUuid': None, 'type': 'user', 'uuid': sid(n), 'cwd': w.home, 'sessionId': sid(n),
                  'timestamp': '2026-11-20T09:00:00.000Z', 'message': {'role': 'user', 'content': text}}])
    return path


def prompt(w, n, text, project=None, **more):
    return {'display': text, 'pastedContents': {}, 'timestamp': 1763629200000 + n, 'project': project or w.home, 'sessionId': sid(n), **more}


def found(w, *args):
    run = w.program.run('search', '--json', *args)
    rows = [json.loads(line) for line in run.stdout.decode().splitlines()]
    return [(r['session'][7], r.get('gone', False), r.get('line', r.get('lines'))) for r in rows]


def check_prompts(w):
    """Prompts in history.jsonl of sessions whose transcripts are gone."""
    transcript(w, 1, 'a needle here')
    write(f'{w.config}/history.jsonl', [prompt(w, 1, 'a needle here'), prompt(w, 2, 'one needle\nand \x1b[31mred'), prompt(w, 3, 'a needle elsewhere', '/other'),
                                        prompt(w, 4, 'last needle'), prompt(w, 2, 'some hay'), {'display': 'a needle without a session'},
                                        {'display': 7, 'sessionId': sid(5), 'project': w.home}, prompt(w, 6, 'needle', sessionId='../../x')])
    with open(f'{w.config}/history.jsonl', 'a', encoding='utf-8') as f:
        f.write('{"display":"a torn needle","sessionId":"' + sid(7))
    here = [('1', False, 'a needle here'), ('4', True, 'last needle'), ('2', True, 'one needle')]
    w.program.same('here', found(w, 'needle'), here)
    w.program.same('all projects', found(w, '--all', 'needle'), [*here[:2], ('3', True, 'a needle elsewhere'), here[2]])
    w.program.same('both words in one session', found(w, '-e', 'needle', '-e', 'hay'), [('2', True, 'one needle'), ('2', True, 'some hay')])
    w.program.same('no replies', found(w, '--in', 'replies', 'needle'), [])
    w.program.same('counts', found(w, '--count', 'needle'), [('1', False, 1), ('4', True, 1), ('2', True, 1)])
    w.program.same('ids that other commands take', w.program.text('search', '--sessions', 'needle').split(), [sid(1)])
    w.program.same('limit', found(w, '--limit', '2', 'needle'), here[:2])
    w.program.same('since', found(w, '--since', '2026-01-01', 'needle'), here[:1])
    w.program.need(f'{sid(4)} prompt/gone: last needle' in w.program.text('search', 'needle'), w.program.text('search', 'needle'))
    w.program.need('\x1b[31m' not in w.program.text('search', 'red'), 'control characters of a prompt')
    transcript(w, 4, 'it is back')
    w.program.same('its transcript is back', found(w, 'last needle'), [])
    os.rename(f'{w.config}/history.jsonl', f'{w.config}/h')
    os.mkfifo(f'{w.config}/history.jsonl')
    w.program.same('a pipe', found(w, 'needle'), here[:1])
    os.remove(f'{w.config}/history.jsonl')


def check_deep(w):
    """A transcript in a folder of a project's folder, or in none."""
    folder = flat(w.home)
    paths = [transcript(w, 5, 'deep', f'{folder}/{folder}'), transcript(w, 6, 'deeper', f'{folder}/a/b'), transcript(w, 7, 'flat', '.')]
    listed = [r['sessionId'] for r in w.program.json('list', '--all')]
    hidden = {os.path.realpath(f['path']): f['why'] for f in w.program.json('doctor', '--all') if f['kind'] == 'hidden'}
    for path, why in zip(paths, ('below a project folder', 'below a project folder', 'not in a project folder')):
        path = os.path.realpath(path)
        w.program.need(why in hidden.get(path, '') and os.path.basename(path)[:36] not in listed, f'{path}: {hidden}')
        os.remove(path)


def check_links(w):
    """What a list refuses is not read by doctor: neither a transcript nor that of a sub-agent."""
    secret = f'{w.top}/secret'
    with open(secret, 'w', encoding='utf-8') as f:
        f.write('no row\n' * 3)
    agents = f'{w.config}/projects/{flat(w.home)}/{sid(1)}/subagents'
    os.makedirs(agents)
    places = [f'{w.config}/projects/{flat(w.home)}/{sid(8)}.jsonl', f'{agents}/agent-a1.jsonl']
    for place in places:
        os.symlink(secret, place)
    os.mkfifo(f'{w.config}/projects/{flat(w.home)}/{sid(9)}.jsonl')
    for args in ('--all',), (sid(1),):
        found = [(f['kind'], f['path']) for f in w.program.json('doctor', *args) if f['kind'] in ('broken-line', 'no-session')]
        w.program.same(f'doctor {args[0]}', found, [])
    for args in ('--all',), (sid(1),), (sid(8),):
        w.program.run('doctor', '--fix', *args)
    with open(secret, encoding='utf-8') as f:
        w.program.same('what the links lead to', f.read(), 'no row\n' * 3)


def main():
    w = World(sys.argv[1])
    for check in check_prompts, check_deep, check_links:
        check(w)
    w.program.finish(15)


main()
