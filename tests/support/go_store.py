"""A store of Go directory sessions and the program in it."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

from support.program import Program, snapshot

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def sha(data):
    return hashlib.sha256(data).hexdigest()


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def get(path):
    with open(path, 'rb') as f:
        return f.read()


def tree(top):
    """Returns the paths and bytes of a work tree."""
    return {os.path.relpath(p, top): what[2] for p, what in snapshot(top).items()
            if what[2] is not None and not p.endswith('.keep_empty_dir')}


class Shop:
    """A program and one store in a directory of its own."""

    def __init__(self, path, fixture=None):
        self.top = tempfile.mkdtemp()
        self.ws = os.path.join(self.top, 'ws')
        self.program = Program(path, self.top, {})
        self.store = os.path.join(self.top, 'store')
        if fixture:
            base = os.path.join(TESTS, 'fixtures/goat', fixture)
            shutil.copytree(os.path.join(base, 'projects'), os.path.join(self.store, 'projects'))
            shutil.copytree(os.path.join(base, 'ws.before-rewind'), self.ws)
            self.after = os.path.join(base, 'ws.after-rewind')
            for folder, _, files in os.walk(self.store):
                for name in files:
                    if name.endswith(('.json', '.jsonl')):
                        there = os.path.join(folder, name)
                        put(there, get(there).replace(b'/home/dev/ws', self.ws.encode()))
        else:
            os.makedirs(os.path.join(self.store, 'sessions'))
            os.makedirs(self.ws)

    def run(self, *args, **more):
        return self.program.run('--store', 'goat:' + self.store, *args, **more)

    def json(self, *args):
        run = self.run(*args, '--json')
        if run.returncode:
            sys.exit(f'{args}: exit {run.returncode}: {run.stderr!r}')
        return json.loads(run.stdout)

    def feed(self, rows, *args):
        """Runs `append` with these rows on its input; returns the finished process."""
        return subprocess.run([self.program.path, '--store', 'goat:' + self.store, 'append', *args], env=self.program.env,
                              cwd=self.top, input=rows.encode() if isinstance(rows, str) else rows, capture_output=True, check=False)

    def rows(self):
        return self.json('list', '--all')

    def dir(self, sid):
        for folder, names, _ in os.walk(self.store):
            if sid in names:
                return os.path.join(folder, sid)
        return os.path.join(self.store, 'sessions', sid)

    def close(self):
        shutil.rmtree(self.top)
