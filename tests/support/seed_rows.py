"""The rows of coverage_of_seeds.py: how they are declared, and the place in which each one is tried."""
import json
import os
import re
import subprocess
import uuid

from support.fixture_homes import ENV, world
from support.program import CUTS, whole_lines

ROWS = {}  # of each seed, by number


class Missing(Exception):
    """The capability is not there: raised by a row with the reason."""


class Row:
    def __init__(self, title, run, reason):
        self.title, self.run, self.reason = title, run, reason


def seed(name):
    """row and not_sensible for one seed: row, not_sensible = seed('002')
    portable: why the row does not hold in the build without what only Linux has."""
    table = ROWS.setdefault(name, {})

    def add(number, title, run, reason):
        assert number not in table, f'{name}/{number} twice'
        table[number] = Row(title, run, reason)

    def row(number, title, reason='', portable=''):
        return lambda run: add(number, title, run, reason if CUTS else reason or portable)

    def not_sensible(number, title, reason):
        add(number, title, None, reason)

    return row, not_sensible


class Place:
    """One row's own home, work tree, and installed program. top is removed by the caller."""

    def __init__(self, prefix, top):
        self.prefix, self.top = prefix, top
        self.home, self.dir = f'{top}/home', f'{top}/ws'
        self.config = f'{self.home}/.claude'
        self.env = {'PATH': os.environ['PATH'], 'HOME': self.home, 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', 'TERM': 'xterm-256color',
                    'REPRISE_PROC_DIR': self.home, 'REPRISE_ETC_DIR': self.home, **ENV,
                    **{k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS') or k == 'REPRISE_PORTABLE'}}
        self.held, self.lacks = [], []
        os.makedirs(self.dir)
        os.makedirs(self.home)

    # ---- what holds ----

    def holds(self, evidence, condition):
        (self.held if condition else self.lacks).append(evidence)

    # ---- the program ----

    def run(self, *args, text='', env=None, cwd=None):
        """text: standard input. The result has returncode, stdout and stderr as text."""
        return subprocess.run([f'{self.prefix}/bin/reprise', *args], input=text, env={**self.env, **(env or {})}, timeout=600,
                              cwd=cwd or self.dir, capture_output=True, encoding='utf-8', errors='replace', check=False)

    def text(self, *args, **more):
        run = self.run(*args, **more)
        if run.returncode:
            raise Missing(f'{" ".join(args)}: exit {run.returncode}: {run.stderr.strip()}')
        return run.stdout

    def json(self, *args, **more):
        return whole_lines(self.text(*args, '--json', **more).encode())

    def append(self, session, *rows, env=None):
        """Appends rows (dicts) as a host does."""
        return self.json('append', session, text=''.join(json.dumps(row) + '\n' for row in rows), env=env)

    # ---- files ----

    def path(self, *parts):
        """An absolute path; relative parts are below the work tree."""
        return os.path.join(self.dir, *parts)

    def write(self, path, data):
        path = self.path(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data.encode() if isinstance(data, str) else data)
        return path

    def read(self, path):
        with open(self.path(path), 'rb') as f:
            return f.read()

    def files(self, top=None):
        """The paths of all files below the home (or top)."""
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(top or self.home) for name in names)

    def use(self, name):
        """Puts a fixture of support/fixture_homes.py here and uses its work tree: 'spec', 'doc', 'exathena', 'two-sessions', ..."""
        self.dir = world(name, self.top)
        return self.dir

    # ---- Claude Code's transcripts ----

    def claude_path(self, session):
        return f'{self.config}/projects/{re.sub("[^A-Za-z0-9]", "-", os.path.realpath(self.dir))}/{session}.jsonl'

    def claude(self, *rows, session=None, raw=''):
        """Writes a transcript and returns the session's id. Rows of conversations (dicts without parentUuid) are linked to
        the one before; raw is appended as it is."""
        session = session or str(uuid.uuid4())
        before, lines = None, []
        for n, row in enumerate(rows):
            row = {'sessionId': session, **row}
            if row['type'] in ('user', 'assistant', 'attachment', 'system', 'progress'):
                row = {'parentUuid': before, 'isSidechain': False, 'uuid': str(uuid.uuid4()), 'cwd': self.dir,
                       'timestamp': f'2026-11-01T10:{n // 60:02}:{n % 60:02}.000Z', **row}
                before = row['uuid']
            lines.append(json.dumps(row, separators=(',', ':')) + '\n')
        self.write(self.claude_path(session), ''.join(lines) + raw)
        return session

    def claude_rows(self, session):
        """The rows of a transcript as they are on disk."""
        return [json.loads(line) for line in self.read(self.claude_path(session)).splitlines()]

    # ---- host programs ----

    def compile(self, source, name='host'):
        """Compiles a C program against the installed library alone, and returns its path."""
        path = self.write(f'{self.top}/{name}.c', source)
        pc = subprocess.run(['find', self.prefix, '-name', 'reprise.pc'], capture_output=True, text=True, check=True).stdout
        flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'reprise'], capture_output=True, text=True, check=True,
                               env={**self.env, 'PKG_CONFIG_PATH': os.path.dirname(pc.strip())}).stdout.split()
        run = subprocess.run([os.environ.get('CC', 'cc'), '-std=c11', '-Wall', '-Wextra', '-o', path[:-2], path, *flags],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            raise Missing(f'does not compile: {run.stderr[:300]}')
        return path[:-2]

    def start(self, program, *args, text=''):
        """Runs a compiled host in the work tree."""
        return subprocess.run([program, *args], input=text, env=self.env, cwd=self.dir, capture_output=True, text=True,
                              timeout=600, check=False)

    def begin(self, program, *args):
        """The same, still running, with pipes; for a with statement."""
        return subprocess.Popen([program, *args], env=self.env, cwd=self.dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True)


def prompt(text, **more):
    return {'type': 'user', 'message': {'role': 'user', 'content': text}, **more}


def answer(*blocks, **more):
    """An answer of the model: texts, or blocks as dicts."""
    content = [{'type': 'text', 'text': b} if isinstance(b, str) else b for b in blocks]
    return {'type': 'assistant', 'message': {'role': 'assistant', 'content': content}, **more}


def call(name, tool_id, **arguments):
    return {'type': 'tool_use', 'id': tool_id, 'name': name, 'input': arguments}


def result(tool_id, text, **more):
    return prompt([{'type': 'tool_result', 'tool_use_id': tool_id, 'content': text}], **more)


def attachment(**what):
    return {'type': 'attachment', 'attachment': what}
