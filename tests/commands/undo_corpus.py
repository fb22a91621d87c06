#!/usr/bin/env python3
"""Changes real sessions in random ways, undoes every change, and compares the store with its original state.

usage: undo.py PROGRAM VERSION [ROUNDS]

After the last undo every file of the store has its bytes, mode and mtime again, and each session its row in the list and its
messages. Without leases logs may have grown. On the way the answers are checked: a title shows in the list; a deleted session
does not, and is in the trash; what cannot be cut is refused.
"""
import os
import random
import sys
import tarfile
import tempfile

from support.program import CUTS, Program, snapshot, undone

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')


def files_of(store):
    """Files only, because the times of directories change with temporary entries."""
    return {path: what for path, what in snapshot(store).items() if what[2] is not None}


def meaning(program):
    """What is shown of each session, without the times and the size of its log."""
    of_the_file = {'fileSize', 'lastModified', 'lastActivity', 'expiresAt'}
    return {r['sessionId']: ({k: v for k, v in r.items() if k not in of_the_file}, program.json('messages', r['sessionId']))
            for kind in ([], ['--archived']) for r in program.json('list', '--all', *kind)}


def message(program, rng, sid):
    """One of the session's messages; None if it has none."""
    messages = program.json('messages', sid)
    return rng.choice(messages)['uuid'] if messages else None


def already_so(program, sid):
    """What would change nothing says so and is not recorded."""
    for words in (['rename', sid, 'A title'], ['tag', sid, 'infra'], ['tag', sid, '--none'], ['archive', sid], ['unarchive', sid]):
        program.json(*words)
        before = program.json('log')
        run = program.run(*words)
        program.same(f'{words} again', (run.returncode, run.stdout, program.json('log')), (0, b'nothing to change\n', before))
        program.need('change' not in program.json(*words), f'{words} again as JSON')


def change(program, rng, ids):
    """Makes one change; returns the number of undos that revert it."""
    sid = rng.choice(ids)
    what = rng.choice(('rename', 'tag', 'untag', 'archive', 'unarchive', 'delete', 'delete two', 'restore', 'undo, redo',
                       'fork', 'fork with files', 'fork at', 'resume at', 'clear', 'tombstone', 'cut', 'reappend'))
    if what == 'rename':
        title = rng.choice(('Plain', 'Größe "quoted" \\', 'line\nbreak', '🚀 launch', 'x' * 500))
        made = program.json('rename', sid, title)
        row = next(r for r in program.json('list', '--all') if r['sessionId'] == sid)
        program.same('title', row['customTitle'], title)
        return 'change' in made
    elif what == 'tag':
        return 'change' in program.json('tag', sid, rng.choice(('infra', 'ﬁne', '日本')))
    elif what == 'untag':
        return 'change' in program.json('tag', sid, '--none')
    elif what in ('archive', 'unarchive'):
        return 'change' in program.json(what, sid)
    elif what.startswith('delete'):
        gone = [sid] if what == 'delete' or len(ids) < 2 else rng.sample(ids, 2)
        program.json('delete', *gone)
        left = {r['sessionId'] for r in program.json('list', '--all')}
        program.need(not left & set(gone), f'{gone} still listed')
        lies = {t['sessionId'] for t in program.json('trash', 'list')}
        program.need(set(gone) <= lies, f'{gone} not in the trash')
    elif what.startswith('fork'):
        at = message(program, rng, sid) if what == 'fork at' else None
        made = program.json('fork', *(['--at', at] if at else []), *(['--with-files'] if what.endswith('files') else []), sid)
        program.need(os.path.exists(made['path']), f'{made}: no such file')
        program.same('forked from', program.json('info', made['sessionId']).get('parentId'), sid)
    elif what == 'clear':
        program.json('resume-at', '--clear', sid)
    elif what in ('resume at', 'tombstone', 'cut'):
        at = message(program, rng, sid)
        if not at:
            return 0
        how = {'resume at': ['resume-at'], 'tombstone': ['tombstone', '--yes'], 'cut': ['tombstone', '--yes', '--cut']}[what]
        if what == 'cut' and not CUTS:
            run = program.run(*how, sid, at)
            program.same('no cut', (run.returncode, b'there is no lease here' in run.stderr), (4, True))
            return 0
        program.json(*how, sid, at)
        if what != 'resume at':
            program.need(at not in {m['uuid'] for m in program.json('messages', sid)}, f'{at} still counts')
    elif what == 'reappend':
        return 1 if program.json('reappend', sid)['appended'] else 0
    elif what == 'restore':
        program.json('delete', sid)
        program.json('trash', 'restore', sid)
        return 2
    else:
        program.json('rename', sid, 'for a moment')
        program.json('undo', '--all')
        return 0
    return 1


def main():
    path, version = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    rng = random.Random(5)
    with tempfile.TemporaryDirectory() as top:
        with tarfile.open(os.path.join(FIXTURES, 'corpus', f'corpus-{version}.tar.gz')) as tar:
            tar.extractall(top)
        store = os.path.join(top, 'cfg')
        # Entries of processes on another machine that ended long ago: their state cannot be known here.
        for name in os.listdir(os.path.join(store, 'sessions')):
            os.remove(os.path.join(store, 'sessions', name))
        program = Program(path, top, {'CLAUDE_CONFIG_DIR': store, 'XDG_STATE_HOME': top + '/state', 'XDG_DATA_HOME': top + '/data'})
        before, meant = files_of(store), meaning(program)
        for turn in range(rounds):
            undos, known = 0, {x['id'] for x in program.json('log')}
            for _ in range(12):
                ids = [r['sessionId'] for r in program.json('list', '--all')]
                undos += change(program, rng, ids)
            if turn % 3 == 1:  # in one step, forward again, and back again
                first = min(x['id'] for x in program.json('log') if x['id'] not in known)
                made = program.json('undo', '--all', '--back-to', first)['made']
                program.need(made, 'nothing was undone')
                for one in made:
                    program.json('undo', one)
                program.json('undo', '--all', '--back-to', first)
                undos = 0
            for _ in range(undos):
                program.json('undo', '--all')
            after = undone(files_of(store), before)
            program.same('files', sorted(after), sorted(before))
            program.same('changed', [p for p in before if after.get(p) != before[p]], [])
            program.same('shown', meaning(program), meant)
        already_so(program, program.json('list', '--all')[0]['sessionId'])
        program.finish(rounds * 3)


main()
