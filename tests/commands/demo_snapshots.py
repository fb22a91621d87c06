#!/usr/bin/env python3
"""In the demo, hooks took snapshots of one session: the file that a command of it deleted is given back.

usage: demo_snapshots.py PROGRAM DEMO_STORE
"""
import os
import subprocess
import sys
import tempfile

from support.program import Program

program, demo_store = sys.argv[1:]
failed = 0


def need(ok, what):
    global failed
    failed += not ok
    if not ok:
        print(f'demo_snapshots.py: {what}')


with tempfile.TemporaryDirectory() as top:
    top = os.path.realpath(top)
    os.mkdir(f'{top}/demo')
    subprocess.run([demo_store, f'{top}/demo'], check=True)
    os.rename(f'{top}/demo/state', f'{top}/reprise')  # `reprise demo` reads it where it is
    p = Program(program, f'{top}/demo', {'CLAUDE_CONFIG_DIR': f'{top}/demo/claude', 'XDG_STATE_HOME': top})
    file = f'{top}/demo/code/ledger/ledger/rounding.py'
    session = next(row for row in p.json('list', '--all') if row['summary'] == 'One cent of VAT')['sessionId']
    turns = p.json('checkpoints', session)
    need([turn['restorable'] for turn in turns] == [True, True], turns)
    need((turns[1]['files'], turns[1]['deletions'], turns[1]['filesDeleted']) == (1, 6, 1), turns[1])
    need(not os.path.exists(file), 'the command did not delete its file')
    p.run('rewind', session, '--to', turns[1]['id'], '--apply')
    with open(file, encoding='utf-8') as f:
        need('def per_piece' in f.read(), 'the file is another one')
    p.run('undo', '--all')
    need(not os.path.exists(file), 'the undo left the file')
sys.exit(1 if failed else 0)
