#!/usr/bin/env python3
"""Turns in which commands make, change, move and remove files, links and directories, empty ones included, one in the place
of the other, with names of any kind. With the hooks of `snapshots on`, a rewind to each turn gives back the whole tree: bytes,
links, directories and modes; and so does the undo.

usage: rewind_snapshot_kinds.py PROGRAM [FIRST [WORLDS]]
"""
import os
import random
import shutil
import subprocess
import sys

from support.snapshot_world import PiWorld, World, finish, need

NAMES = ['a', 'b', 'c', '-rf', '--', 'two\nlines', '\x1b[2Jx', 'tab\tx', 'é', 'bad\udcff', ' lead', 'trail ', '..x', "q'u\"o`$"]
TEXTS = ['', 'one\n', 'one\ntwo\n', 'no end', 'crlf\r\n', '\0\1\2', 'x' * 5000]
MODES = [0o644, 0o600, 0o755, 0o664, 0o444]
DIR_MODES = [0o755, 0o700, 0o775, 0o1777]
TARGETS = ['a', 'b', '..', '/', '/etc/passwd', 'nowhere', 'a/b', '-rf', 'two\nlines']


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


class Hand:
    """One command after the other on random paths."""

    def __init__(self, world, seed):
        self.root, self.random = world.root, random.Random(seed)

    def dirs(self):
        found = [self.root]
        for folder, names, _ in os.walk(self.root):
            if '.git' in names:
                names.remove('.git')
            found += [os.path.join(folder, name) for name in names if not os.path.islink(os.path.join(folder, name))]
        return [path for path in found if path.count('/') - self.root.count('/') < 4]

    def path(self):
        pick = self.random
        return os.path.join(pick.choice(self.dirs()), pick.choice(NAMES))

    def write(self, path):
        pick = self.random
        if os.path.isdir(path) or os.path.islink(path) or pick.random() < 0.3:
            remove(path)
        with open(path, 'w', newline='', encoding='utf-8') as f:
            f.write(pick.choice(TEXTS) + (str(pick.random()) if pick.random() < 0.6 else ''))
        if pick.random() < 0.4:
            os.chmod(path, pick.choice(MODES))

    def make_dir(self, path):
        pick = self.random
        if pick.random() < 0.3:
            remove(path)
        if os.path.lexists(path):
            return
        os.mkdir(path)
        os.chmod(path, pick.choice(DIR_MODES))
        for name in pick.sample(NAMES, pick.choice((0, 0, 1, 2))):
            self.act(os.path.join(path, name))

    def link(self, path):
        remove(path)
        os.symlink(self.random.choice(TARGETS), path)

    def move(self, path):
        there = self.path()
        if os.path.lexists(path) and not there.startswith(path + '/') and not path.startswith(there + '/') and path != there:
            remove(there)
            os.rename(path, there)

    def change_mode(self, path):
        if not os.path.islink(path) and os.path.exists(path):
            os.chmod(path, self.random.choice(DIR_MODES if os.path.isdir(path) else MODES))

    def empty(self, path):
        """A directory loses what is in it, and stays."""
        if os.path.isdir(path) and not os.path.islink(path):
            for name in os.listdir(path):
                remove(os.path.join(path, name))

    def act(self, path=None):
        path = path or self.path()
        pick = self.random.choices((self.write, self.make_dir, self.link, self.move, remove, self.change_mode, self.empty),
                                   (5, 4, 3, 2, 2, 1, 1))[0]
        pick(path)

    def turn(self):
        for _ in range(self.random.choice((1, 1, 2, 3, 6, 12))):
            self.act()


def difference(a, b):
    return {path: (a.get(path), b.get(path)) for path in sorted({*a, *b}) if a.get(path) != b.get(path)}


def run_world(w, where, works, also_twice):
    """Works the turns, and rewinds to each of them and back; then twice one after another, from the turns in `also_twice`."""
    trees = []
    for i, work in enumerate(works):
        trees.append(w.whole_tree())
        w.turn(f'prompt {i}', work)
    w.write()
    final = w.whole_tree()

    def rewind(at):
        before = w.whole_tree()
        w.run('rewind', w.id, '--to', w.points[at], '--dry-run')
        need(w.whole_tree() == before, f'{where}: a dry run changed something')
        w.run('rewind', w.id, '--to', w.points[at], '--apply')
        need(w.whole_tree() == trees[at], f'{where}, turn {at}: {difference(w.whole_tree(), trees[at])}')
        return before

    def undo(before):
        if w.whole_tree() != before:
            w.run('undo')
        need(w.whole_tree() == before, f'{where}, undo: {difference(w.whole_tree(), before)}')

    for at in reversed(range(len(works))):
        undo(rewind(at))
    for at in also_twice:  # one rewind after another, both undone
        first, second = rewind(at), rewind(0)
        undo(second)
        undo(first)
    need(w.whole_tree() == final, f'{where}: the end is another one')
    w.remove()


def a_world(program, seed):
    pick = random.Random(seed)
    w = PiWorld(program) if pick.random() < 0.3 else World(program, pick.random() < 0.6)
    hand = Hand(w, seed)
    turns = pick.choice((1, 2, 3, 5))
    for _ in range(pick.choice((0, 3, 10))):
        hand.act()
    run_world(w, f'world {seed}', [hand.turn] * turns, [turns - 1] if turns > 1 else [])


# Directories that come and go with what is in them, so that no snapshot names them: one command of each turn.
DIRS = {
    'came with a file and stayed without it': ['mkdir d; echo x > d/f', 'rm d/f', 'echo y > a.txt'],
    'was empty, got a file and went with it': ['mkdir d', 'echo x > d/f', 'rm -r d'],
    'took the place of a link, and got a file': ['ln -s .. d', 'echo y > a.txt', 'rm d; mkdir d', 'echo x > d/f'],
    'came with a directory, which went': ['mkdir -p d/e/f; echo x > d/e/f/g', 'rm -r d/e', 'mkdir d/e', 'rm -r d'],
    'became a file and a directory again': ['mkdir d; echo x > d/f', 'rm -r d; echo x > d', 'rm d; mkdir -p d/f'],
    'came back empty': ['mkdir d; echo x > d/f', 'rm -r d', 'mkdir d', 'echo x > d/f', 'rm d/f'],
}


def dirs_world(program, name, git):
    w = World(program, git)
    commands = DIRS[name]
    run_world(w, name, [lambda c=c: subprocess.run(c, shell=True, cwd=w.root, check=True) for c in commands],
              range(1, len(commands)))


if len(sys.argv) == 2:
    for number, what in enumerate(DIRS):
        dirs_world(sys.argv[1], what, number % 2)
first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
for number in range(first, first + (int(sys.argv[3]) if len(sys.argv) > 3 else 12)):
    a_world(sys.argv[1], number)
finish()
