#!/usr/bin/env python3
"""Rewinds files and conversation of real sessions, and undoes it.

usage: rewind_both.py PROGRAM VERSION

rewind/base-VERSION.tar.gz is a session that changed files; it is rewound in each mode to every third of its
points and to the last one, with REPRISE_LONG to each of them. The sessions of corpus/corpus-VERSION.tar.gz have other
shapes of conversation; there each prompt is a point. Required:

  1. a dry run changes nothing, and reports the same as the apply;
  2. afterwards a resume restores the conversation up to before the prompt, with as many messages as were promised;
  3. `both` is one record, and one undo restores files and store, times included;
  4. the undo of the undo gives the result of the rewind again.
"""
import json
import os
import sys
import tarfile
import tempfile

from support.program import Program, snapshot, undone

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')
RECORDED_AT = b'/home/dev/ws'


def files_of(*tops):
    """Files only, because the times of directories change with temporary entries."""
    return {path: what for top in tops for path, what in snapshot(top).items() if what[2] is not None}


def bodies(seen):
    return {path: (mode, body) for path, (mode, _, body) in seen.items()}


def changed(now, before):
    now = undone(now, before)
    return {p for p in now.keys() | before.keys() if now.get(p) != before.get(p)}


def move_store(cfg, ws):
    for folder, _, files in os.walk(f'{cfg}/projects'):
        for name in files:
            with open(f'{folder}/{name}', 'rb') as f:
                body = f.read()
            with open(f'{folder}/{name}', 'wb') as f:
                f.write(body.replace(RECORDED_AT, ws.encode()))


def spoken(program, sid):
    """Ids of the messages that a resume restores; those that a host adds for the user have a new id each time."""
    restored = program.json('restore', sid, missing={'messages': []})
    return [m['uuid'] for m in restored['messages'] if m.get('type') in ('user', 'assistant') and 'uuid' in m
            and m.get('message', {}).get('content') != 'Continue from where you left off.']


def rewind(program, sid, to, mode, *options):
    return program.json('rewind', sid, '--to', to, '--mode', mode, '--allow-outside', '--overwrite-edited',
                        '--skip-refused', *options)


def go_back(program, sid, to, mode, tops):
    """Runs one rewind, its undo and its redo. Returns the files that the rewind left."""
    before, said = files_of(*tops), spoken(program, sid)
    records = len(program.json('rewinds'))
    dry = rewind(program, sid, to, mode)
    program.same(f'{mode} {to}: dry run', files_of(*tops) == before, True)
    done = rewind(program, sid, to, mode, '--apply', '--plan', dry['plan'])
    after = files_of(*tops)
    what = done.get('conversation')
    program.same(f'{mode} {to}: the messages', what, dry.get('conversation'))
    program.need((mode == 'code') == (what is None), f'{mode} {to}: conversation {what}')
    if what:
        left = spoken(program, sid)
        program.same(f'{mode} {to}: how', what['how'], 'resume-at')
        program.need(to not in left and what['dropped'] > 0, f'{mode} {to}: {what}, {to in left}')
        program.need(set(left) <= set(said), f'{mode} {to}: the conversation has other messages')
        program.need(what['kept'] >= len(left), f'{mode} {to}: {what["kept"]} kept, {len(left)} restored')
    if 'undo' not in done:
        program.need(not what and not done['filesChanged'], f'{mode} {to}: no undo record')
        return after
    program.same(f'{mode} {to}: one record', len(program.json('rewinds')), records + 1)
    newest = program.json('log')[0]
    program.same(f'{mode} {to}: in the log', (newest['id'], newest['kind'], newest['undone']), (done['undo'], 'rewind', False))
    program.need(newest['sessions'][0].endswith(':' + sid), f'{mode} {to}: the log says {newest["sessions"]}')
    undone = program.json('undo', done['undo'])
    program.same(f'{mode} {to}: undo', changed(files_of(*tops), before), set())
    program.same(f'{mode} {to}: the messages after the undo', spoken(program, sid), said)
    if mode == 'code':
        return after
    program.json('undo', undone['undo'])
    program.same(f'{mode} {to}: redo', changed(bodies(files_of(*tops)), bodies(after)), set())
    program.json('undo', '--all')
    program.same(f'{mode} {to}: and back', changed(bodies(files_of(*tops)), bodies(before)), set())
    return after


def one(program, run, want):
    program.same(' '.join(run.args[1:]), run.returncode, want)


def try_files(path, version, top):
    with tarfile.open(f'{FIXTURES}/rewind/base-{version}.tar.gz') as tar:
        tar.extractall(top)
    cfg, ws = f'{top}/cfg', f'{top}/ws'
    move_store(cfg, ws)
    program = Program(path, top, {'CLAUDE_CONFIG_DIR': cfg, 'XDG_STATE_HOME': f'{top}/state'})
    sid = program.json('list', '--all')[0]['sessionId']
    points = [p for p in program.json('checkpoints', sid) if p['restorable']]
    for point in points[:-1:1 if 'REPRISE_LONG' in os.environ else 3] + points[-1:]:
        left = {mode: go_back(program, sid, point['id'], mode, (cfg, ws)) for mode in ('code', 'conversation', 'both')}
        joined = {**{p: w for p, w in bodies(left['code']).items() if p.startswith(ws)},
                  **{p: w for p, w in bodies(left['conversation']).items() if p.startswith(cfg)}}
        program.same(f'{point["id"]}: both is code and conversation', changed(bodies(left['both']), joined), set())
    refuse(program, sid, point['id'])
    return program


def refuse(program, sid, point):
    """A conversation that has changed by now, and invalid requests."""
    first = program.json('checkpoints', sid)[0]['id']
    stale = rewind(program, sid, first, 'conversation')['plan']
    one(program, program.run('resume-at', sid, spoken(program, sid)[-2]), 0)
    one(program, program.run('rewind', sid, '--to', first, '--mode', 'conversation', '--apply', '--plan', stale), 4)
    one(program, program.run('undo', '--all'), 0)
    one(program, program.run('rewind', sid, '--to', point, '--mode', 'both', '--into', 'x'), 2)
    one(program, program.run('rewind', sid, '--to', point, '--mode', 'conversation', '--file', 'x'), 2)
    one(program, program.run('rewind', sid, '--to', 'nothing', '--mode', 'conversation', '--json'), 3)


def prompts_of(messages):
    """Ids of the prompts."""
    typed = []
    for m in messages:
        content = m.get('message', {}).get('content')
        text = isinstance(content, str) or any(b.get('type') == 'text' for b in content or [])
        if m.get('type') == 'user' and not m.get('isMeta') and text and 'uuid' in m:
            typed.append(m['uuid'])
    return typed


def try_conversations(path, version, top):
    with tarfile.open(f'{FIXTURES}/corpus/corpus-{version}.tar.gz') as tar:
        tar.extractall(top)
    cfg = next(folder for folder, names, _ in os.walk(top) if 'projects' in names)
    program = Program(path, top, {'CLAUDE_CONFIG_DIR': cfg, 'XDG_STATE_HOME': f'{top}/state'})
    tried = 0
    for row in program.json('list', '--all'):
        sid = row['sessionId']
        prompts = prompts_of(program.json('restore', sid, missing={'messages': []})['messages'])
        for prompt in dict.fromkeys(prompts[:1] + prompts[-1:]):
            go_back(program, sid, prompt, 'conversation', (cfg,))
            tried += 1
    program.need(tried >= 20, f'only {tried} prompts')
    return program


def main():
    path, version = sys.argv[1:]
    done = []
    for case in (try_files, try_conversations):
        with tempfile.TemporaryDirectory() as top:
            done.append(case(path, version, top))
    failed = sum(p.failed for p in done)
    print(json.dumps({'passed': sum(p.passed for p in done), 'failed': failed}))
    sys.exit(1 if failed else 0)


main()
