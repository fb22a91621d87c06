#!/usr/bin/env python3
"""Every command over a recorded or made store of an agent: it works, or is refused with a reason, as `help agents` says.

usage: agent_matrix.py PROGRAM [AGENT...]

Without agents, some of them are tried, each with half of the commands that `help agents` says nothing about, and with REPRISE_LONG all
of them with every command. VERBOSE prints the reasons.
"""
import json
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
    ('bundle', '--all', '{id}', '-o', '{top}/one.bundle'), ('list', '--all', '--all-kinds', '--bundle', '{top}/one.bundle'), ('restore', '--all', '{id}'),
    ('resume-at', '--all', '{id}', '{message}'), ('tombstone', '--all', '--yes', '{id}', '{message}'), ('reappend', '--all', '{id}'),
    ('rewind', '--all', '{id}', '--to', '{point}'), ('bisect', '--all', '{id}', '--', 'false'), ('blame', '--all', '{file}'),
    ('set', '--all', '{id}', 'a=b'), ('untag', '--all', '{id}', 'a-tag'), ('unarchive', '--all', '{id}'), ('status', '--all'),
    ('sweep', '--all', '--older-than', '1d'), ('move', '--all', '{cwd}', '{top}'), ('log', '--all'), ('rewinds', '--all'), ('trash',),
    ('keep', '--all', '{id}'), ('delete', '--all', '--yes', '{id}'), ('undo', '--all'),
)
QUIET = ('touched', 'rename', 'tag', 'archive', 'keep', 'board', 'fork', 'resume-at', 'tombstone', 'reappend', 'rewind', 'set', 'untag', 'unarchive',
         'sweep', 'log', 'rewinds', 'trash', 'subagents')  # there may be nothing to print
NOTHING_LEFT = 'nothing left to undo|the command fails at the first point already'
# What is not about a session that an agent wrote, or waits for somebody.
OTHERS = {'go', 'snapshots', 'demo', 'config', 'init', 'help', 'mcp', 'snapshot', 'create', 'append', 'checkpoint', 'completion', 'unbundle'}
# The columns of `help agents`, and the command that must agree with each.
COLUMNS = {'resume': '--all', 'fork': 'fork', 'files': 'checkpoints', 'tokens': 'usage', 'rename': 'rename', 'archive': 'archive', 'delete': 'delete'}


def check(p, agent, store, home, commands):
    s, other = ([s for s in store.expected.sessions if s.listed and s.prompts and not s.store] * 2)[:2]
    name = {'id': f'{agent}:{s.id}', 'other': f'{agent}:{other.id}', 'cwd': s.cwd, 'word': max(re.findall(r'\w+', s.prompts[0]), key=len), 'top': home}
    points = p.run('checkpoints', '--all', '--json', name['id'])
    messages = p.run('messages', '--all', '--plain', '--json', name['id'])
    name['point'] = ([x['id'] for x in json.loads(points.stdout)] if points.returncode == 0 else ['none'])[-1]
    name['message'] = next((x['id'] for x in reversed(json.loads(messages.stdout)) if x.get('id')), 'none') if messages.returncode == 0 else 'none'
    name['file'] = f'{s.cwd}/blamed.txt'
    os.makedirs(s.cwd, exist_ok=True)
    with open(name['file'], 'w', encoding='utf-8') as f:
        f.write('a line that a person wrote\n')
    refused = {}
    for command in commands:
        words = [w.format(**name) for w in command]
        if '--bundle' in words and not os.path.exists(words[-1]):
            continue # it was refused
        run = p.run(*words)
        what = f'{agent}: {" ".join(command)}'
        said = run.stderr.decode()
        if run.returncode == 0:
            p.need(run.stdout or command[0] in QUIET, f'{what}: prints nothing')
            continue
        p.need(run.returncode in (1, 2, 4) or re.search(NOTHING_LEFT, said), f'{what}: exit {run.returncode}: {said}')
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


def every_command(p):
    """Commands of the program that are neither tried nor said to be about something else."""
    named = {line.split()[0] for topic in ((), ('more',), ('hosts',)) for line in p.run('help', *topic).stdout.decode().split('\n')
             if re.match(r'  [a-z][a-z-]+ {2,}[a-z]', line)}
    p.need(len(named) > 40, f'help names {len(named)} commands')
    p.same('commands that the matrix does not try', sorted(named - {c[0] for c in COMMANDS} - OTHERS), [])


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
            every_command(p)
            for command, reason in check(p, agent, store, store.trees, commands).items():
                if 'VERBOSE' in os.environ:
                    print(f'{agent:10} {command:10} {reason}')
        finally:
            store.remove()
        passed, failed, tried = passed + p.passed, failed + p.failed, tried + len(commands)
    p.passed, p.failed = passed, failed
    p.finish(tried)


main()
