#!/usr/bin/env python3
"""What reads in the library needs no more than a stack of 64 kB, whatever the sessions of any agent contain.

usage: small_stack.py SMALL_STACK PROGRAM [BYTES]

Every call is made for every third session of the fixtures of every agent, with REPRISE_LONG for each: as they are, and with values
nested 1,500 deep in each row and in each input of a tool. PROGRAM makes changes and a rewind first, so that there is something to undo.
"""
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HERE}/../systems/recorded', f'{HERE}/../../commands', f'{HERE}/../..']

from agents import AGENTS
from recorded_store import RecordedStore
from support.checks import Checks
from support.fixture_homes import ENV, WORLDS, world
from support.program import Program

DEPTH = 1500
DEEP = b'"deep":' + b'[' * DEPTH + b'1' + b']' * DEPTH + b',"deeper":' + b'{"d":' * DEPTH + b'[]' + b'}' * DEPTH + b','
INSIDE = re.compile(rb'("(?:input|arguments|args|parameters|message|payload|result|data)":\s*\{)(?=\s*")')


def deepened(text):
    """A JSON text with nested values at the beginning of its objects."""
    return re.sub(rb'^(\s*\{)(?=\s*")', lambda m: m.group() + DEEP, INSIDE.sub(lambda m: m.group() + DEEP, text))


def deepen_database(path):
    with sqlite3.connect(path) as db:
        db.create_function('deepened', 1, lambda x: deepened(x.encode()).decode() if isinstance(x, str) and x.startswith('{') else x,
                           deterministic=True)
        for (table,) in db.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' "
                                   "and sql not like 'create virtual%'").fetchall():
            for column in db.execute(f'pragma table_info("{table}")').fetchall():
                name = column[1].replace('"', '""')
                db.execute(f'update "{table}" set "{name}" = deepened("{name}") where "{name}" is not deepened("{name}")')
    db.close()


def deepen(top):
    for folder, _, names in os.walk(top):
        for path in (f'{folder}/{n}' for n in names if n.endswith(('.json', '.jsonl', '.db', '.sqlite', '.vscdb'))):
            if os.path.islink(path):
                continue
            with open(path, 'rb') as f:
                data = f.read()
            if data.startswith(b'SQLite format 3\0'):
                deepen_database(path)
                continue
            rows = data.split(b'\n') if path.endswith('.jsonl') else [data]
            os.chmod(path, 0o600)
            with open(path, 'wb') as f:
                f.write(b'\n'.join(map(deepened, rows)))


class SmallStack(Checks):
    def __init__(self):
        super().__init__()
        self.calls = {}  # the most that each took

    def read(self, name, directory, env):
        run = subprocess.run([sys.argv[1], directory, *sys.argv[3:]], env={**os.environ, **env}, capture_output=True, text=True, check=False)
        last = run.stdout.splitlines()[-3:]
        self.same(f'{name}: exit', (run.returncode, run.stderr), (0, ''))
        if run.returncode:
            print(f'{name}: the last calls:', *last, sep='\n  ')
            return
        for line in run.stdout.splitlines()[:-1]:
            took, call = int(line.split()[0]), ' '.join(line.split()[1:])
            self.calls[call.split()[0]] = max(self.calls.get(call.split()[0], (0, '')), (took, f'{name} {call}'))
        print(f'{name}: {last[-1]}')

    def both(self, name, directory, env, top):
        self.read(name, directory, env)
        if name not in ('opencode', 'kilo'):  # SQLite reads the files of its first versions, and its JSON functions recurse
            deepen(top)
            self.read(f'{name}, nested deeply', directory, env)


def changed(program, directory):
    """Makes entries in the log: a name, a copy, and a rewind."""
    rows = program.run('list', '--json', '-C', directory).stdout
    for sid in re.findall(rb'"sessionId":"([^"]+)"', rows)[:3]:
        for command in (['rename', sid.decode(), 'x'], ['fork', sid.decode()],
                        ['rewind', sid.decode(), '--to', 'first', '--apply', '--skip-refused']):
            program.run(*command, '-C', directory)


def main():
    c = SmallStack()
    for name in WORLDS:
        top = os.path.realpath(tempfile.mkdtemp(prefix='small-stack-'))
        directory = world(name, top)
        program = Program(sys.argv[2], f'{top}/home', ENV)
        changed(program, directory)
        c.both(name, directory, program.env, top)
        shutil.rmtree(top)
    for name, agent in sorted(AGENTS.items())[::1 if 'REPRISE_LONG' in os.environ else 3]:
        store = RecordedStore(agent)
        store.fill()
        program = Program(sys.argv[2], store.home, store.environment())
        if store.expected.turns:
            turn = store.expected.turns[0]
            directory = next(s.cwd for s in store.expected.sessions if s.id == turn.session)
            store.place(turn.end, directory)
        else:
            directory = store.expected.sessions[0].cwd
        changed(program, directory)
        c.both(name, directory, program.env, store.home)
        store.remove()
    for call, (took, where) in sorted(c.calls.items(), key=lambda x: x[1])[-8:]:
        print(f'{took:6} {call}: {where}')
    sys.exit(1 if c.failed else 0)


main()
