#!/usr/bin/env python3
"""The undo of a fork takes the copy away from its agent, so it is refused once the conversation has gone on in the copy. The
same is true of a session that was restored from the trash.

usage: undo_of_a_copy.py PROGRAM
"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..')]

from support import agent_sessions, fixture_homes
from support.program import Program, snapshot


def files(top):
    """The bytes of every file that an agent can see."""
    out = {}
    for folder, _, names in os.walk(top):
        for name in names:
            with open(os.path.join(folder, name), 'rb') as f:
                out[os.path.relpath(os.path.join(folder, name), top)] = f.read()
    return {k: v for k, v in out.items() if not k.startswith(('DATA/', 'STATE/', 'home/.cache', 'home/.local'))}


def pi(top):
    project = f'{top}/project'
    os.makedirs(project)
    agent_sessions.pi(f'{top}/home', project, 1, 1760000000, 'Mend the gate', {})
    return project


def check(p, name, top):
    os.makedirs(f'{top}/home')
    project = pi(top) if name == 'pi' else fixture_homes.world(name, top)
    p.home = project
    p.env.update(HOME=f'{top}/home', XDG_DATA_HOME=f'{top}/DATA', XDG_STATE_HOME=f'{top}/STATE', **fixture_homes.ENV)
    source = next(row['sessionId'] for row in p.json('list', '--all') if 'fork' in row['can'] and p.json('messages', row['sessionId']))
    before = files(top)
    run = p.run('fork', source)
    p.same(f'{name}: forked', (run.returncode, run.stderr), (0, b''))
    made = files(top)
    new = sorted(k for k in made if k not in before)
    p.need(new, f'{name}: a copy was made')
    change = max(x['id'] for x in p.json('log', '--all'))

    # The agent goes on in any file of the copy, or beside it in its folder.
    for k in new:
        with open(f'{top}/{k}', 'ab') as f:
            f.write(made[k][-40:])
        went_on = files(top)
        for args in (('undo', change), ('undo', '--all'), ('undo', change, '--dry-run')):
            run = p.run(*args)
            if '--dry-run' not in args:
                p.need(run.returncode == 4 and b'the session has continued since' in run.stderr or b'its session has continued since' in run.stderr,
                       f'{name} {args}: {run.returncode} {run.stderr}')
            p.same(f'{name}: {args} leaves {k} alone', files(top), went_on)
        os.truncate(f'{top}/{k}', len(made[k]))

    # A copy that is as it was made goes, and comes back.
    p.same(f'{name}: undone', (p.run('undo', change).returncode, files(top)), (0, before))
    back = max(x['id'] for x in p.json('log', '--all'))
    p.same(f'{name}: done again', (p.run('undo', back).returncode, files(top)), (0, made))

    if name == 'pi':
        return  # it deletes its sessions itself
    for k in made:
        os.utime(f'{top}/{k}', (1760000000, 1760000000))  # a session that was written just now may be open
    run = p.run('delete', '--yes', source)
    p.same(f'{name}: deleted', (run.stderr, p.run('trash', 'restore', source).returncode, files(top)), (b'', 0, made))
    change = max(x['id'] for x in p.json('log', '--all'))
    k = next(k for k in sorted(before) if k.endswith('.jsonl') and source in k)
    with open(f'{top}/{k}', 'ab') as f:
        f.write(made[k][-40:])
    went_on = files(top)
    p.same(f'{name}: a restored session stays, too', (p.run('undo', change).returncode, files(top)), (4, went_on))
    os.truncate(f'{top}/{k}', len(made[k]))
    p.same(f'{name}: until it is as it was', p.run('undo', change).returncode, 0)
    p.need(k not in files(top), f'{name}: it is in the trash again')


def main():
    p = Program(sys.argv[1], '/', {})
    for name in ('claude', 'shipped', 'spec', 'doc', 'exathena', 'pi'):
        with tempfile.TemporaryDirectory() as top:
            check(p, name, os.path.realpath(top))
    p.finish(82)


if __name__ == '__main__':
    main()
