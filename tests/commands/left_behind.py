#!/usr/bin/env python3
"""What the agent or another program left where no list looks: prompts without a transcript, transcripts too deep, links.

usage: left_behind.py PROGRAM
"""
import json
import os
import sys

from resume_by_id import World, flat
from support.agent_sessions import write as write_session
from support.program import snapshot


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


def files(w):
    return {p: x for p, x in snapshot(w.config).items() if x[2] is not None}


def misplaced(w, *args):
    return {os.path.realpath(f['path']): f for f in w.program.json('doctor', '--all', *args) if f['kind'] == 'misplaced'}


def check_deep(w):
    """A transcript in a folder of a project's folder, or in none: it goes back to where the agent looks, and an undo takes it away."""
    folder = flat(w.home)
    projects = os.path.realpath(f'{w.config}/projects')
    paths = [os.path.realpath(p) for p in (transcript(w, 5, 'deep', f'{folder}/{folder}'), transcript(w, 6, 'deeper', f'{folder}/a/b'), transcript(w, 7, 'flat', '.'))]
    beside = f'{os.path.dirname(paths[0])}/{sid(5)}/subagents'
    write(f'{beside}/agent-a1.jsonl', [{'parentUuid': None, 'isSidechain': True, 'type': 'user', 'uuid': sid(9), 'agentId': 'a1', 'cwd': w.home,
                                        'sessionId': sid(5), 'message': {'role': 'user', 'content': 'look'}}])
    write(f'{w.config}/file-history/{sid(5)}/0123456789abcdef@v1', [])
    before, orphans = files(w), [f for f in w.program.json('doctor', '--all') if 'orphan' in f['kind']]
    w.program.same('its parts are no leftovers', orphans, [])
    shown = misplaced(w)
    w.program.same('found', sorted(shown), sorted(paths))
    for path in paths:
        there = f'{projects}/{folder}/{os.path.basename(path)}'
        w.program.same(f'{path}: shown first', (shown[path].get('repair'), shown[path]['fixable']), (f'moves it to {there}', True))
    w.program.same('from the project itself', len([f for f in w.program.json('doctor') if f['kind'] == 'misplaced']), 3)
    w.program.same('only shown', files(w), before)
    w.program.same('put back', [f.get('fixed') for f in misplaced(w, '--fix').values()], [True] * 3)
    w.program.same('listed', sorted(r['sessionId'][7] for r in w.program.json('list')), ['1', '4', '5', '6', '7'])
    w.program.same('with its sub-agent', w.program.json('info', sid(5))['subagents'], ['a1'])
    w.program.same('nothing is left', misplaced(w), {})
    for _ in paths:
        w.program.run('undo', '--all')
    w.program.same('undone', files(w), before)
    run = w.program.run('doctor', sid(2))
    w.program.need(run.returncode == 3 and b'no damage' not in run.stdout, f'an id that nothing has: {run}')
    w.program.same('by its id', [os.path.realpath(f['path']) for f in w.program.json('doctor', f'claude:{sid(6)}')], [paths[1]])
    w.program.json('doctor', sid(5)[:8], '--fix')
    w.program.same('one alone', [os.path.exists(p) for p in paths], [False, True, True])
    with open(f'{projects}/{folder}/{sid(5)}.jsonl', 'a', encoding='utf-8') as out:
        out.write(json.dumps({'parentUuid': sid(5), 'type': 'user', 'uuid': sid(3), 'cwd': w.home, 'sessionId': sid(5), 'message': {'role': 'user', 'content': 'more'}}) + '\n')
    run = w.program.run('undo', '--all')
    w.program.need(run.returncode != 0 and not os.path.exists(paths[0]), f'the undo of one that went on: {run}')

    # What stays: a place that is taken, a copy that is listed, two for one place, no directory, and what no list shows.
    taken = transcript(w, 5, 'another', f'{folder}/{folder}')
    copies = [transcript(w, 8, 'copy', f'{folder}/{k}') for k in 'xy']
    write(f'{projects}/{sid(9)}.jsonl', [{'type': 'user', 'uuid': sid(9), 'message': {'role': 'user', 'content': 'without a directory'}}])
    write(f'{projects}/{folder}/z/{sid(2)}.jsonl', [{'type': 'mode', 'mode': 'x'}])
    os.symlink(paths[1], f'{projects}/{folder}/z/{sid(3)}.jsonl')
    os.symlink(f'{projects}/{folder}/x', f'{projects}/{folder}/linked')
    before = files(w)
    w.program.same('those', sorted((os.path.relpath(p, projects).replace(folder, 'F'), f['why'].partition('it stays: ')[2].split(' /')[0].rstrip(')'))
                                   for p, f in misplaced(w).items() if not f['fixable']),
                   sorted([(f'F/F/{sid(5)}.jsonl', 'something is already there:'), (f'F/x/{sid(8)}.jsonl', 'another copy is'), (f'F/y/{sid(8)}.jsonl', 'another copy is'),
                           (f'{sid(9)}.jsonl', 'it does not say to which directory it belongs'), (f'F/z/{sid(2)}.jsonl', 'nothing in it is a session that a list would show')]))
    w.program.run('doctor', '--all', '--fix')
    moved = {os.path.relpath(p, w.config) for p in before} - {os.path.relpath(p, w.config) for p in files(w)}
    w.program.need(all(os.path.exists(p) for p in (taken, *copies)) and not os.path.exists(paths[1]), moved)
    for path in taken, *copies, f'{projects}/{sid(9)}.jsonl', f'{projects}/{folder}/z/{sid(2)}.jsonl':
        os.remove(path)


def check_other_agents(w):
    """The same for agents that keep a folder for each project or day."""
    for number, agent in enumerate(('codex', 'droid', 'pi', 'qoder', 'qwen')):
        path = write_session(agent, w.home, w.home, 70 + number, 1763629200, f'{agent} deep')
        for way in 'twice', 'above':
            top, name = os.path.split(path)
            if agent == 'qwen':
                top = os.path.dirname(top)
            deep = {'twice': f'{top}/{os.path.basename(top)}{"/chats" if agent == "qwen" else ""}/{name}', 'above': f'{os.path.dirname(top)}/a/b/{name}'}[way]
            side = f'{top}/subagents/{name[:-6]}'
            if agent == 'qwen':
                write(f'{side}/agent-a.jsonl', [{'uuid': sid(1), 'parentUuid': None, 'type': 'user', 'message': {'role': 'user', 'parts': [{'text': 'look'}]}}])
                if way == 'twice':
                    os.renames(side, f'{os.path.dirname(os.path.dirname(deep))}/subagents/{name[:-6]}')
            os.renames(path, deep)
            found = [(f['path'], f.get('repair')) for f in w.program.json('doctor', '--all') if f['kind'] == 'misplaced']
            w.program.same(f'{agent}, {way}: found', found, [(deep, f'moves it to {path}')])
            w.program.run('doctor', '--all', '--fix')
            w.program.same(f'{agent}, {way}: put back', (os.path.exists(path), os.path.exists(deep), agent != 'qwen' or os.path.exists(f'{side}/agent-a.jsonl')), (True, False, True))
            w.program.same(f'{agent}, {way}: listed', [r['path'] for r in w.program.json('list', '--all') if r['system'] == agent], [path])
            w.program.run('undo', '--all')
            w.program.same(f'{agent}, {way}: undone', (os.path.exists(path), os.path.exists(deep)), (False, True))
            os.renames(deep, path)


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
    for check in check_prompts, check_deep, check_other_agents, check_links:
        check(w)
    w.program.finish(79)


main()
