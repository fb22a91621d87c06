"""Repositories as Entire leaves them, the program run in them, and git's own view of the results."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support.fixture_homes import made_by_script
from support.program import Program, snapshot, whole_lines

A, B = 'a1b2c3d4-0001-4000-8000-00000000000a', 'b1b2c3d4-0002-4000-8000-00000000000b'
CA, CB = 'c1b2c3d4-0001-4000-8000-00000000000a', 'c1b2c3d4-0002-4000-8000-00000000000b'
CT, CR = 'd1b2c3d4-0003-4000-8000-00000000000c', 'f1b2c3d4-0004-4000-8000-00000000000d'
ENV = {'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null', 'GIT_OPTIONAL_LOCKS': '0'}
WHO = {f'GIT_{w}_{k}': v for w in ('AUTHOR', 'COMMITTER')
       for k, v in (('NAME', 'Dev One'), ('EMAIL', 'dev@example.invalid'), ('DATE', '1770700000 +0000'))}


def get(path):
    with open(path, 'rb') as f:
        return f.read()


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data.encode() if isinstance(data, str) else data)


def row(kind, uuid, parent, text, session, minute=0):
    """A row of Claude Code's."""
    return json.dumps({'parentUuid': parent, 'isSidechain': False, 'cwd': '/srv/demo', 'sessionId': session, 'type': kind,
                       'message': {'role': kind, 'content': text}, 'uuid': uuid,
                       'timestamp': f'2026-02-10T10:{minute:02d}:00.000Z'}) + '\n'


def document(**members):
    return json.dumps(members, indent=2) + '\n'


def listed(place, **more):
    names = {'metadata': 'metadata.json', 'transcript': 'full.jsonl', 'context': '', 'content_hash': '', 'prompt': 'prompt.txt', **more}
    return {k: place + v if v else '' for k, v in names.items()}


def sets(w, answer, *actions):
    return {os.path.relpath(f['path'], w.repo) for f in answer['files'] if f['action'] in actions}


class World:
    """A copy of what the script made, with its paths changed."""

    def __init__(self, c, name):
        made, self.top = made_by_script('all'), tempfile.mkdtemp()
        for part in name, 'home', 'wt', 'expected/' + name:
            if part != 'wt' or name == 'edge':
                shutil.copytree(f'{made}/{part}', f'{self.top}/{part}', symlinks=True)
        for folder, _, files in os.walk(self.top):
            for f in files:
                path = os.path.join(folder, f)
                if f.endswith('.json') and 'entire-sessions' in folder or f == 'gitdir' or f == '.git':
                    at = os.stat(path)
                    put(path, get(path).replace(made.encode(), self.top.encode()))
                    os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))
        self.repo = os.path.join(self.top, name)
        self.home = os.path.join(self.top, 'home')
        self.program = Program(c.path, self.home, {'XDG_STATE_HOME': self.top + '/state', 'XDG_DATA_HOME': self.top + '/data',
                                                   'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null'})
        self.claude = os.path.join(self.home, '.claude', 'projects')

    def run(self, *args, at='', ok=None, **more):
        run = self.program.run('-C', os.path.join(self.repo, at), *args, **more)
        if ok and run.returncode:
            sys.exit(f'{args}: exit {run.returncode}: {run.stderr!r}')
        return run

    def json(self, *args, **more):
        return whole_lines(self.run(*args, '--json', ok=True, **more).stdout)

    def git(self, *args, data=None, check=True, cwd=None):
        run = subprocess.run(['git', *args], cwd=cwd or self.repo, input=data, capture_output=True, check=False,
                             env={**os.environ, **ENV, **WHO})
        if check and run.returncode:
            sys.exit(f'git {args}: {run.stderr!r}')
        return run.stdout.decode('utf-8', 'replace').rstrip('\n')

    def blob(self, data):
        return self.git('hash-object', '-w', '--stdin', data=data.encode() if isinstance(data, str) else data)

    def tree(self, files, base=None):
        """A tree of {path: bytes}, on top of another one."""
        index = {'GIT_INDEX_FILE': os.path.join(self.top, 'an-index')}
        with tempfile.TemporaryDirectory() as top:  # one git for all blobs
            for k, data in enumerate(files.values()):
                put(f'{top}/{k}', data.encode() if isinstance(data, str) else data)
            paths = ''.join(f'{top}/{k}\n' for k in range(len(files)))
            blobs = self.git('hash-object', '-w', '--no-filters', '--stdin-paths', data=paths.encode()).split()
        lines = ''.join(f'100644 {blob}\t{p}\n' for blob, p in zip(blobs, files))
        def run(*args, data=None):
            return subprocess.run(['git', *args], cwd=self.repo, input=data, env={**os.environ, **ENV, **index},
                                  check=True, capture_output=True).stdout.decode().strip()
        run('read-tree', base or '--empty')
        run('update-index', '--add', '--index-info', data=lines.encode())
        os.remove(index['GIT_INDEX_FILE']) if not lines else None
        made = run('write-tree')
        os.remove(index['GIT_INDEX_FILE'])
        return made

    def plant(self, ref, files):
        """Adds a commit to a ref."""
        tip = self.git('rev-parse', '-q', '--verify', ref, check=False)
        parent = ['-p', tip] if tip else []
        made = self.git('commit-tree', self.tree(files, tip + '^{tree}' if tip else None), *parent, '-m', 'planted')
        self.git('update-ref', ref, made)
        return made

    def facts(self):
        """The facts that a rewind and a checkpoint must not change."""
        index = os.path.join(self.repo, '.git', 'index')
        return (self.git('rev-parse', 'HEAD'), self.git('symbolic-ref', '-q', 'HEAD', check=False),
                hashlib.sha256(get(index)).hexdigest(), os.stat(index).st_mtime_ns,
                self.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads'))

    def work(self):
        """The work tree: path, mode, bytes."""
        return {os.path.relpath(p, self.repo): (s[0], s[2]) for p, s in snapshot(self.repo).items()
                if s[2] is not None and '/.git/' not in p}

    def points(self, session):
        return self.json('checkpoints', 'entire:' + session)

    def state(self, session):
        return json.loads(get(f'{self.repo}/.git/entire-sessions/{session}.json'))

    def expected(self, *parts):
        return get(os.path.join(self.top, 'expected', *parts)).decode()

    def sound(self):
        """git's own check of every object and ref; a gc loses nothing that our refs name."""
        run = subprocess.run(['git', 'fsck', '--strict', '--no-dangling'], cwd=self.repo, capture_output=True, check=False,
                             env={**os.environ, **ENV})
        return run.returncode == 0, run.stdout + run.stderr

    def close(self):
        shutil.rmtree(self.top)


class Checks:
    def __init__(self, path):
        self.path = path
        self.passed = self.failed = 0
        self.rows = set()

    def same(self, what, got, want):
        self.rows |= {int(n) for n in re.findall(r'\b\d+\b', what.split(':')[0])}
        if got == want:
            self.passed += 1
        else:
            self.failed += 1
            print(f'{what}:\n  want {want!r}\n  got  {got!r}'[:3000])

    def need(self, what, holds):
        self.same(what, bool(holds), True)
