#!/usr/bin/env python3
"""A session whose file is a link: one rule for every agent. No list shows it, doctor names it, commands refuse it by its id, and
nothing is changed, neither the link nor what it leads to.

usage: linked_logs.py PROGRAM
"""
import os
import sys
import tempfile

from support.agent_sessions import AGENTS, write
from support.program import Program, snapshot

AT = 1795770000
# Like the client itself, these read a conversation through a link.
FOLLOW = {'qoder'}


def stored(top):
    return {path: what for path, what in snapshot(top).items() if '/.local' not in path and what[2] is not None}


def check(program, agent, top):
    home, other = f'{top}/home', f'{top}/other'
    os.makedirs(f'{home}/work')
    os.makedirs(other)
    p = Program(program, home, {})
    path = write(agent, home, f'{home}/work', 1, AT, 'a prompt')
    sid = p.json('list', '--all')[0]['sessionId']
    os.rename(path, f'{other}/{os.path.basename(path)}')
    os.symlink(f'{other}/{os.path.basename(path)}', path)
    before = stored(top)
    run = p.run('list', '--all')
    p.same(f'{agent}: list', (run.returncode, run.stdout), (0, b''))
    p.same(f'{agent}: info', p.run('info', sid).returncode, 3)
    p.same(f'{agent}: messages', p.run('messages', sid).returncode, 0 if agent in FOLLOW else 4)
    run = p.run('doctor')
    p.need(path.encode() in run.stdout and b'a link' in run.stdout, f'{agent}: doctor: {run}')
    for words in ('rename', sid, 'x'), ('tag', sid, 'y'), ('fork', sid), ('delete', sid), ('archive', sid), ('rewind', sid, '--to', 'x', '--apply'):
        run = p.run(*words)
        p.need(run.returncode in (1, 3, 4), f'{agent}: {words[0]}: {run}')
    p.same(f'{agent}: nothing is changed', stored(top), before)

    # A second name of a session in the same folder takes nothing from it.
    os.unlink(path)
    os.rename(f'{other}/{os.path.basename(path)}', path)
    beside = os.path.join(os.path.dirname(path), os.path.basename(path).replace('2026-11', '2026-10'))
    if beside != path:
        os.symlink(path, beside)
        p.same(f'{agent}: beside it', [r['sessionId'] for r in p.json('list', '--all')], [sid])
        p.same(f'{agent}: its messages', p.run('messages', sid).returncode, 0)
    return p


def main():
    passed = failed = 0
    for agent in AGENTS:
        with tempfile.TemporaryDirectory() as top:
            p = check(os.path.abspath(sys.argv[1]), agent, os.path.realpath(top))
            passed, failed = passed + p.passed, failed + p.failed
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or passed < 120 else 0)


main()
