"""A recorded store of an agent, unpacked for one test as if its paths had always been those of the test.

The recordings were made in /home/dev. The test's directory has a path of the same length, so offsets and lengths in the
store stay true: every /home/dev, every folder named after it (-home-dev-...) and every hash of a path that the recording
knows is replaced, in names, in files, and in SQLite databases through SQLite.
"""
import glob
import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
import stat
import string
import subprocess
import tarfile
import tempfile

from agents import read_expected
from support.program import snapshot

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'fixtures', 'agents')
RECORDED = '/home/dev'
HEX = re.compile(rb'(?<![0-9A-Za-z])[0-9a-f]{12,64}(?![0-9A-Za-z])')
LENGTHS = 12, 16, 32, 64  # of the hashes of paths that agents use in names


def new_root():
    """A new directory whose path is as long as the recorded one."""
    while True:
        root = '/tmp/' + ''.join(random.choice(string.ascii_lowercase + string.digits) for _ in range(4))
        try:
            os.mkdir(root, 0o700)
            return root
        except FileExistsError:
            pass


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def clear(folder, keep=''):
    for entry in os.scandir(folder) if os.path.isdir(folder) else ():
        if entry.name != keep:
            remove(entry.path)


def manifest(top):
    """Every file below top with its kind, mode and bytes; .git left out."""
    seen = {}
    for folder, names, files in os.walk(top):
        if '.git' in names:
            names.remove('.git')
        for name in [n for n in files if n != '.git'] + [n for n in names if os.path.islink(os.path.join(folder, n))]:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            if os.path.islink(path):
                body = os.readlink(path).encode()
            else:
                with open(path, 'rb') as f:
                    body = f.read()
            seen[os.path.relpath(path, top)] = (st.st_mode & 0o777, body)
    return seen


def states(top):
    """What shows that something below top was changed, replaced, made or removed."""
    seen = [(top, os.lstat(top))]
    for folder, names, files in os.walk(top):
        seen += [(p, os.lstat(p)) for p in (os.path.join(folder, n) for n in names + files)]
    return [(p, st.st_ino, st.st_ctime_ns) for p, st in seen]


class Paths:
    """Replaces the recorded paths, and hashes of them, by those of the test."""

    def __init__(self, root, known):
        self.pairs = [(RECORDED, root), (RECORDED.replace('/', '-'), root.replace('/', '-')),
                      (RECORDED.replace('/', '%2F'), root.replace('/', '%2F'))]
        self.hashes = {}
        for path in known:
            for hashed in hashlib.sha256, hashlib.md5:
                old, new = (hashed(p.encode()).hexdigest() for p in (path, self.text(path)))
                for n in LENGTHS:
                    self.hashes[old[:n].encode()] = new[:n].encode()

    def text(self, text):
        for old, new in self.pairs:
            text = text.replace(old, new)
        return text

    def bytes(self, data):
        for old, new in self.pairs:
            data = data.replace(old.encode(), new.encode())
        return HEX.sub(lambda m: self.hashes.get(m.group(), m.group()), data)

    def name(self, name):
        return os.fsdecode(self.bytes(os.fsencode(name)))

    def value(self, x):
        """The same in what a JSON file contains."""
        if isinstance(x, str):
            return self.name(x)
        if isinstance(x, list):
            return [self.value(y) for y in x]
        return {self.name(k): self.value(v) for k, v in x.items()} if isinstance(x, dict) else x


def rewrite_sqlite(path, paths):
    """Through SQL, since the order of an index may change. What was in the WAL is in the database afterwards."""
    with sqlite3.connect(path) as db:
        db.create_function('moved', 1, lambda x: paths.name(x) if isinstance(x, str)
                           else paths.bytes(x) if isinstance(x, bytes) else x, deterministic=True)
        for (table,) in db.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' "
                                   "and sql not like 'create virtual%'").fetchall():
            for column in db.execute(f'pragma table_info("{table}")').fetchall():
                name = column[1].replace('"', '""')
                db.execute(f'update "{table}" set "{name}" = moved("{name}") where "{name}" is not moved("{name}")')
    db.execute('vacuum')  # free pages still have the recorded paths
    db.close()


def rewrite_file(path, paths):
    at = os.stat(path)
    with open(path, 'rb') as f:
        data = f.read()
    if data.startswith(b'SQLite format 3\0'):
        rewrite_sqlite(path, paths)
    elif data.startswith(b'\x28\xb5\x2f\xfd'):
        plain = subprocess.run(['zstd', '-dcq', path], check=True, capture_output=True).stdout
        packed = subprocess.run(['zstd', '-cq'], input=paths.bytes(plain), check=True, capture_output=True).stdout
        with open(path, 'wb') as f:
            f.write(packed)
    elif paths.bytes(data) != data:
        os.chmod(path, at.st_mode | 0o200)
        with open(path, 'wb') as f:
            f.write(paths.bytes(data))
        os.chmod(path, at.st_mode)
    os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))


class RecordedStore:
    """agent: a row of agents.AGENTS. The home, the project directories and a copy of the answers are below root."""

    def __init__(self, agent, fixtures=FIXTURES, bare=False):
        self.agent = agent
        self.own = tempfile.mkdtemp(prefix='recorded-')
        self.filled = None  # what a filled home contains
        self.projects = {}  # the states of what is in each project after it was filled
        self.bare = bare  # without the repositories of the projects
        self.fixtures = os.path.join(fixtures, agent.name)
        if agent.make and fixtures == FIXTURES:
            self.fixtures = f'{self.own}/made'
            os.mkdir(self.fixtures)
            agent.make(self.fixtures)
        with open(f'{self.fixtures}/expected.json', encoding='utf-8') as f:
            recorded = json.load(f)
        self.root = new_root()
        try:
            self.unpack(recorded)
        except BaseException:
            self.remove()
            raise

    def unpack(self, recorded):
        self.trees = f'{self.own}/trees'
        self.master = f'{self.own}/store'
        for name, place in ('trees', self.trees), ('store', self.master):
            (archive,) = glob.glob(f'{glob.escape(self.fixtures)}/{name}.tar.*')
            with tarfile.open(archive) as tar:
                tar.extractall(place)
                for link in (m for m in tar if m.issym()):  # tarfile leaves them the time of now
                    os.utime(os.path.join(place, link.name), (link.mtime, link.mtime), follow_symlinks=False)
        if self.bare:
            for git in glob.glob(f'{self.master}/**/.git', recursive=True, include_hidden=True):
                remove(git)
        self.paths = Paths(self.root, self.known_paths(recorded))
        self.expected = read_expected(self.agent, recorded)
        self.recorded_least = recorded.get('given_back_bare') if self.bare else self.expected.given_back
        self.home = self.paths.text(self.expected.home)
        self.move()
        for s in self.expected.sessions:
            s.cwd = self.paths.text(s.cwd)

    def least_given_back(self):
        return self.recorded_least or self.agent.given_back

    def known_paths(self, recorded):
        """The directories that the recording names, and the files of its trees in each of them."""
        read = read_expected(self.agent, recorded)
        known = {s.cwd for s in read.sessions} | {read.home}
        inside = set()
        for folder, _, files in os.walk(self.trees):
            for name in files:
                parts = os.path.relpath(os.path.join(folder, name), self.trees).split('/')
                inside |= {'/'.join(parts[i:]) for i in range(len(parts))}
        return known | {f'{k}/{i}' for k in known for i in inside}

    def move(self):
        """Rewrites the master copy of the store, and then the names in it."""
        for folder, names, files in os.walk(self.master, topdown=False):
            for name in files:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    target = os.readlink(path)
                    os.unlink(path)
                    os.symlink(self.paths.name(target), path)
                elif name.endswith(('-wal', '-shm')):
                    continue
                elif not self.agent.verbatim(os.path.relpath(path, self.master)):
                    rewrite_file(path, self.paths)
            for name in files + names:
                at = os.path.join(folder, name)
                if os.path.lexists(at) and self.paths.name(name) != name:
                    os.rename(at, os.path.join(folder, self.paths.name(name)))

    def fill(self):
        """Puts the store into the home as it was recorded, and empty projects, without whatever an earlier check left. Only
        what differs is written: a check changes little, and a new file is what costs most."""
        if not self.filled:
            shutil.rmtree(self.root)
            shutil.copytree(self.master, self.home, symlinks=True)
        self.empty_projects()
        now = self.contents()
        for path in sorted(set(now) - set(self.filled or now), reverse=True):
            if not path.endswith('/.'):
                remove(path)
        for path, was in sorted((self.filled or {}).items()):
            if now.get(path) != was and not path.endswith('/.'):
                self.put_back(path, was)
        for path in sorted(self.filled or (), reverse=True):
            if os.path.isdir(path) and not os.path.islink(path):
                os.utime(path, ns=(self.filled[path][1],) * 2)
        self.filled = self.filled or now

    def empty_projects(self):
        """Those that nothing has touched since the last time stay: copying their repositories is most of the work."""
        projects = sorted({s.cwd for s in self.expected.sessions})
        for top in (p for p in projects if not any(p.startswith(f'{other}/') for other in projects)):
            if os.path.isdir(top) and states(top) == self.projects.get(top):
                continue
            for cwd in (p for p in projects if p == top or p.startswith(f'{top}/')):
                if os.path.lexists(cwd) and not os.path.isdir(cwd):
                    os.unlink(cwd)
                os.makedirs(cwd, exist_ok=True)
                if cwd == top:
                    clear(cwd)
            if os.path.isdir(self.recorded(top)):
                shutil.copytree(self.recorded(top), top, symlinks=True, dirs_exist_ok=True)
            self.projects[top] = states(top)

    def recorded(self, path):
        return f'{self.master}/{os.path.relpath(path, self.home)}'

    def put_back(self, path, was):
        mode, _, _ = was
        if not stat.S_ISDIR(mode):
            remove(path)
            shutil.copy2(self.recorded(path), path, follow_symlinks=False)
        elif not os.path.isdir(path) or os.path.islink(path):
            remove(path)
            os.makedirs(path)
        if not stat.S_ISLNK(mode):
            os.chmod(path, stat.S_IMODE(mode))

    def contents(self):
        """Everything in the home, without the projects."""
        projects = {s.cwd for s in self.expected.sessions}
        inside = tuple(f'{p}/' for p in projects)
        return {k: v for k, v in snapshot(self.home).items() if k not in projects and not k.startswith(inside) and k != f'{self.home}/.'}

    def place(self, tree, cwd):
        """The project as it was at that point of the recording; a repository in it stays."""
        clear(cwd, keep='.git')
        shutil.copytree(f'{self.trees}/{tree}', cwd, symlinks=True, dirs_exist_ok=True)

    def tree(self, name):
        return manifest(f'{self.trees}/{name}')

    def environment(self):
        return {'XDG_STATE_HOME': f'{self.own}/state', **self.agent.environment(self)}

    def remove(self):
        for top in self.root, self.own:
            shutil.rmtree(top, ignore_errors=True)
