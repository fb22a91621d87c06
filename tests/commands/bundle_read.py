#!/usr/bin/env python3
"""The sessions of a bundle are read without unpacking it: every reading command answers as it did where the bundle was made.

usage: bundle_read.py PROGRAM

No agent was ever used on the machine that reads. Nothing is written outside of our own directory, in which nothing is left.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import copies_matrix as agents
from project_move import claude, save, session_id
from resume_by_id import World
from support.program import snapshot

READING = 'info', 'messages', 'usage', 'files', 'subagents', 'export'


def made(a, cwd):
    """Sessions of each agent with files, three of Claude Code, and two of them with one id in two folders. Returns their names."""
    for name, make in agents.AGENTS.items():
        if name in ('claude', 'codex_archived'):
            continue
        path, rows = make(a.home, cwd, 'word', 1000)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(rows, bytes):
            with open(path, 'wb') as f:
                f.write(rows)
        else:
            save(path, rows)
    for number in 1, 2, 3:
        claude(a, number, f'{cwd}/{number}')
    names = [f"{r['system']}:{r['sessionId']}" for r in a.program.json('list', '--all')]
    return [n for n in names if a.program.run('bundle', n, '-o', f'{a.top}/x', '--force').returncode == 0]


def same(a, b, what, bundle, *args):
    """Both say the same, but for where the files are, and that there nothing is rewound."""
    there, here = a.program.run(*args), b.program.run(*args, '--bundle', bundle)
    tops = f'{a.home}/.', f'{a.config}/', f'{b.top}/DATA/reprise/bundles/'

    def said(run):
        lines = (run.stdout + run.stderr).decode().splitlines()
        return run.returncode, [x[:min((x.find(t) for t in tops if t in x), default=None)] for x in lines if not x.startswith(('file ', 'bundle '))]
    b.program.same(f'{what}: {args}', said(here), said(there))


def check_commands(a, b):
    cwd, bundle = f'{a.top}/one', f'{a.top}/all.bundle'
    os.makedirs(cwd)
    names = made(a, cwd)
    a.program.need(len(names) >= 11, f'agents: {names}')
    a.program.text('bundle', *names, '-o', bundle)
    before = snapshot(b.home), snapshot(bundle)
    rows = b.program.json('list', '--bundle', bundle)
    theirs = {f"{r['system']}:{r['sessionId']}": r for r in a.program.json('list', '--all')}
    b.program.same('all are listed', sorted(f"{r['system']}:{r['sessionId']}" for r in rows), sorted(names))
    for row in rows:
        was = theirs[f"{row['system']}:{row['sessionId']}"]
        for key in 'summary', 'cwd', 'lastModified', 'fileSize', 'gitBranch':
            b.program.same(f"{row['system']}: {key}", row.get(key), was.get(key))
        b.program.same(f"{row['system']}: it can only be read", (row['can'], row.get('expires')), ([], None))
    for name in names:
        for command in READING:
            same(a, b, name, bundle, command, name)
        said, was = b.program.json('info', name, '--bundle', bundle), a.program.json('info', name)
        b.program.same(f'{name}: where it is', (said['path'], said['store']), (bundle, f"{said['system']}:{bundle}"))
        b.program.same(f'{name}: its checkpoints', said.get('checkpointCount'), was.get('checkpointCount'))
        b.program.need(f'bundle         {bundle}\n' in b.program.text('info', name, '--bundle', bundle), f'{name}: the bundle is named')
    found = b.program.run('search', '--bundle', bundle, 'word user', '--sessions').stdout.decode().split()
    b.program.same('searched', len(found), len(names) - 3)
    b.program.same('one agent', [r['system'] for r in b.program.json('list', '--bundle', bundle, '--system', 'pi')], ['pi'])
    b.program.same('one directory', [r['sessionId'] for r in b.program.json('list', '--bundle', bundle, '--project', f'{cwd}/2')], [session_id(2)])
    run = b.program.run('--bundle', bundle, '--resume', f'claude:{session_id(2)}')
    b.program.need(run.returncode == 4 and b'reprise unbundle FILE' in run.stderr, f'not resumed: {run}')
    for code, args in (2, ('rename', session_id(2), 'x')), (2, ('delete', session_id(2))), (2, ('doctor', session_id(2), '--fix')), \
                      (2, ('list', '--store', f'claude:{a.config}')), (3, ('info', session_id(9))):
        run = b.program.run(*args, '--bundle', bundle)
        b.program.need(run.returncode == code and run.stderr.count(b'\n') == 1, f'{args}: {run}')
    for code, other in (3, bundle + 'x'), (5, f'{b.bin}/claude'), (3, ''):
        run = b.program.run('list', '--bundle', other)
        b.program.need(run.returncode == code and run.stderr.count(b'\n') == 1, f'{other}: {run}')
    b.program.same('only read', (snapshot(b.home), snapshot(bundle)), before)
    b.program.same('nothing is left', os.listdir(f'{b.top}/DATA/reprise/bundles'), [])


def check_copies(a, b):
    """A second copy of a session, and more sessions than there may be stores."""
    bundle, cwds = f'{a.top}/many.bundle', [f'{a.top}/{k}' for k in range(2)]
    for cwd in cwds:
        os.makedirs(cwd)
    paths = [claude(a, number, cwds[0]) for number in range(1, 50)]
    second = claude(a, 1, cwds[1])
    a.program.text('bundle', *paths, second, '-o', bundle)
    rows = b.program.json('list', '--bundle', bundle, '--limit', '0')
    b.program.same('listed', sorted(r['sessionId'] for r in rows), [session_id(n) for n in (1, *range(1, 50))])
    said = b.program.run('info', '--bundle', bundle, session_id(1))
    b.program.need(said.returncode == 2 and b'ambiguous' in said.stderr or said.returncode == 0, f'two of one id: {said}')
    b.program.need('change a in 7' in b.program.text('messages', '--bundle', bundle, session_id(7)), 'the conversation')


def check_killed(a, b):
    """What a killed reader left is removed by the next one, but not what a running one reads."""
    cwd, bundle = f'{a.top}/p', f'{a.top}/x.bundle'
    os.makedirs(cwd)
    claude(a, 1, cwd)
    a.program.text('bundle', session_id(1), '-o', bundle)
    views = f'{b.top}/DATA/reprise/bundles'
    reader = subprocess.Popen([b.program.path, '--plain', '--bundle', bundle], env=b.program.env, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    reader.stderr.readline()
    b.program.same('it reads', len(os.listdir(views)), 1)
    b.program.same('another one reads, too', len(b.program.json('list', '--bundle', bundle)), 1)
    b.program.same('it still reads', len(os.listdir(views)), 1)
    reader.send_signal(signal.SIGKILL)
    reader.wait()
    reader.stdin.close()
    reader.stderr.close()
    b.program.same('left', len(os.listdir(views)), 1)
    b.program.json('list', '--bundle', bundle)
    b.program.same('removed', os.listdir(views), [])


def check_screen(a, b):
    """The list and the conversation on the screen; Enter says why it does not resume."""
    if not shutil.which('tmux'):
        return
    cwd, bundle = f'{a.top}/p', f'{a.top}/x.bundle'
    os.makedirs(cwd)
    claude(a, 1, cwd)
    a.program.text('bundle', session_id(1), '-o', bundle)
    tmux = ['tmux', '-S', f'{b.top}/tmux', '-f', '/dev/null']
    run = [*tmux, 'new-session', '-d', '-x', '120', '-y', '30', f'{b.program.path} --bundle {bundle}; echo ended $?; cat']
    subprocess.run(run, env=b.program.env, cwd=b.home, check=True)

    def shows(text, *keys):
        subprocess.run([*tmux, 'send-keys', *keys], check=True)
        for _ in range(200):
            seen = subprocess.run([*tmux, 'capture-pane', '-p'], capture_output=True, check=True).stdout.decode()
            if text in seen:
                break
            time.sleep(0.05)
        b.program.need(text in seen, f'{keys}: no {text!r} in {seen}')
    try:
        shows('change a in 1', '')
        shows('it is in a bundle', 'Enter')
        shows('welcome', 'Right')
        shows('ended 130', 'C-c')
        b.program.same('nothing is left', os.listdir(f'{b.top}/DATA/reprise/bundles'), [])
    finally:
        subprocess.run([*tmux, 'kill-server'], check=False)


def main():
    passed = failed = 0
    program = None
    for check in check_commands, check_copies, check_killed, check_screen:
        a, b = World(sys.argv[1]), World(sys.argv[1])
        check(a, b)
        program = a.program
        for w in (a, b):
            passed, failed = passed + w.program.passed, failed + w.program.failed
            shutil.rmtree(w.top)
    program.passed, program.failed = passed, failed
    program.finish(100)


if __name__ == '__main__':
    main()
