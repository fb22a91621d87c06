#!/usr/bin/env python3
"""Every command over a recorded or made store of an agent: it works, or is refused with a reason, as `help agents` says.

usage: agent_matrix.py PROGRAM [AGENT...]

Without agents, some of them are tried, each with half of the commands that `help agents` says nothing about, and with REPRISE_LONG all
of them with every command. VERBOSE prints the reasons.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..'), os.path.join(HERE, '..', 'store', 'systems', 'recorded')]

from agents import AGENTS
from recorded_store import RecordedStore

from support.program import Program

SOME = 'droid', 'kiro', 'codex', 'opencode', 'continue'
COMMANDS = (
    ('list', '--all'), ('info', '--all', '{id}'), ('messages', '--all', '{id}'), ('messages', '--all', '--json', '{id}'),
    ('search', '--all', '{word}'), ('export', '--all', '{id}', '--format', 'md', '-o', '-'), ('export', '--all', '{id}', '--format', 'html', '-o', '-'),
    ('usage', '--all', '--json', '{id}'), ('files', '--all', '--json', '{id}'), ('touched', '--all', '--json', '{cwd}/README.md'),
    ('subagents', '--all', '--json', '{id}'), ('checkpoints', '--all', '--json', '{id}'), ('compare', '--all', '{id}', '{other}'),
    ('doctor', '--all'), ('board', '--all'), ('--all', '--print', '--resume', '{id}'), ('fork', '--all', '{id}'), ('rename', '--all', '{id}', 'A name'),
    ('tag', '--all', '{id}', 'a-tag'), ('archive', '--all', '{id}'), ('continue', '--all', '{id}', '--in', 'codex'),
    ('bundle', '--all', '{id}', '-o', '{top}/one.bundle'), ('keep', '--all', '{id}'), ('delete', '--all', '--yes', '{id}'),
)
QUIET = 'touched', 'rename', 'tag', 'archive', 'keep', 'board', 'fork'  # there may be nothing to print
# The columns of `help agents`, and the command that must agree with each.
COLUMNS = {'resume': '--all', 'fork': 'fork', 'files': 'checkpoints', 'tokens': 'usage', 'rename': 'rename', 'archive': 'archive', 'delete': 'delete'}


def check(p, agent, store, home, commands):
    s, other = ([s for s in store.expected.sessions if s.listed and s.prompts and not s.store] * 2)[:2]
    name = {'id': f'{agent}:{s.id}', 'other': f'{agent}:{other.id}', 'cwd': s.cwd, 'word': max(re.findall(r'\w+', s.prompts[0]), key=len), 'top': home}
    refused = {}
    for command in commands:
        words = [w.format(**name) for w in command]
        run = p.run(*words)
        what = f'{agent}: {" ".join(command)}'
        said = run.stderr.decode()
        if run.returncode == 0:
            p.need(run.stdout or command[0] in QUIET, f'{what}: prints nothing')
            continue
        p.need(run.returncode in (1, 2, 4), f'{what}: exit {run.returncode}: {said}')
        lines = said.strip().split('\n')
        p.need(lines[0].startswith('reprise: ') and len(lines) <= 3, f'{what}: {said!r}')
        p.need(not re.search(r'not supported|unsupported|unknown (command|option)', said), f'{what}: without a reason: {said!r}')
        refused[command[0]] = lines[0]
    head, *rows = [line.split() for line in p.run('help', 'agents').stdout.decode().split('\n') if line.strip()]
    said = dict(zip(head, next(r for r in rows if r[0] == agent)))
    for column, command in COLUMNS.items():
        if said[column] in ('yes', '-'):
            p.same(f'{agent}: {command} is refused', command in refused, said[column] == '-')
    return refused


def main():
    agents = sys.argv[2:] or (AGENTS if 'REPRISE_LONG' in os.environ else SOME)
    half = not sys.argv[2:] and 'REPRISE_LONG' not in os.environ
    passed = failed = tried = 0
    for number, agent in enumerate(agents):
        commands = [c for i, c in enumerate(COMMANDS) if not half or c[0] in COLUMNS.values() or i % 2 == number % 2]
        store = RecordedStore(AGENTS[agent])
        try:
            store.fill()
            os.makedirs(f'{store.home}/.codex/sessions', exist_ok=True)  # of an agent in which a session can be continued
            p = Program(sys.argv[1], store.home, {**store.environment(), 'REPRISE_PROC_DIR': store.trees})
            for command, reason in check(p, agent, store, store.trees, commands).items():
                if 'VERBOSE' in os.environ:
                    print(f'{agent:10} {command:10} {reason}')
        finally:
            store.remove()
        passed, failed, tried = passed + p.passed, failed + p.failed, tried + len(commands)
    p.passed, p.failed = passed, failed
    p.finish(tried)


main()
