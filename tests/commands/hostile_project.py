#!/usr/bin/env python3
"""A project that is made to hurt: many files, names of any bytes, directories deeper than a path can say, pipes, sockets, links
that lead out and around, another file system in it, files that change while they are read. Each snapshot ends in time and in
little memory, says what it left out, and never waits for a pipe; a rewind to it is exact for the rest.

usage: hostile_project.py PROGRAM [FILES]
"""
import json
import os
import resource
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time

from support.snapshot_world import World, finish, need

# A snapshot gives up after two seconds; the rest is for a machine that has other work.
LIMIT_S, SLACK_S = 2, 8
FOLDER = 1000


def make_many(root, files):
    for first in range(0, files, FOLDER):
        folder = f'{root}/many/{first // FOLDER}'
        os.makedirs(folder)
        fd = os.open(folder, os.O_RDONLY)
        for i in range(min(FOLDER, files - first)):
            new = os.open(f'f{i}', os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=fd)
            if files <= 100000:
                os.write(new, b'%d' % (first + i))
            os.close(new)
        os.close(fd)


def make_deep(root, depth):
    """Directories in each other, with a path that no system call takes."""
    fd = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir('d' * 100, dir_fd=fd)
        below = os.open('d' * 100, os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(os.open('bottom', os.O_WRONLY | os.O_CREAT, dir_fd=fd))
    os.close(fd)


def make_hostile(w, files):
    root = os.fsencode(w.root)
    make_many(w.root, files)
    make_deep(w.root, 200)
    os.mkfifo(f'{w.root}/pipe')
    os.mkfifo(f'{w.root}/.gitattributes')
    os.mkdir(f'{w.root}/rules')
    os.mkfifo(f'{w.root}/rules/.gitignore')
    with socket.socket(socket.AF_UNIX) as s:
        os.chdir(w.root)
        s.bind('socket')
    for name, to in (('out', '/'), ('home', w.home), ('around', '.'), ('up', '../..'), ('nowhere', 'x' * 200), ('tty', '/dev/tty'),
                     ('self', 'self'), ('zero', '/dev/zero')):
        os.symlink(to, f'{w.root}/{name}')
    for name in (b'two\nlines', b'\x1b[2Jx', b'bad\xff', b' ', b'-rf', b'"', b'\\', b'x' * 255, b'.git ', b'\xe2\x80\x8f'):
        with open(root + b'/' + name, 'wb') as f:
            f.write(name)
    with open(f'{w.root}/large', 'wb') as f:
        f.truncate(9 << 20)
    with open(f'{w.root}/holes', 'wb') as f:
        f.truncate(1 << 40)
    os.mkdir(f'{w.root}/closed', 0)


def is_mounted(w):
    """Puts another file system into the project, if this user may."""
    os.mkdir(f'{w.root}/mounted')
    done = subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', f'{w.root}/mounted'], capture_output=True, check=False)
    if done.returncode == 0:
        with open(f'{w.root}/mounted/inside', 'w', encoding='utf-8') as f:
            f.write('not of this project\n')
    return done.returncode == 0


class Restless(threading.Thread):
    """Files that are written, cut, renamed and removed, and directories that become links, without an end."""

    def __init__(self, root):
        super().__init__()
        self.root, self.ends = f'{root}/restless', False
        os.mkdir(self.root)

    def run(self):
        n = 0
        while not self.ends:
            n += 1
            path = f'{self.root}/{n % 7}'
            try:
                if n % 5 == 0:
                    shutil.rmtree(path, ignore_errors=True)
                    os.symlink('/', path)
                elif n % 5 == 1 and os.path.lexists(path):
                    os.remove(path)
                elif n % 5 == 2:
                    os.mkdir(path)
                    os.rename(path, f'{self.root}/m{n % 3}')
                else:
                    with open(f'{self.root}/w{n % 4}', 'wb') as f:
                        f.write(b'x' * (n % 100000))
            except OSError:
                pass


class Hostile(World):
    LEFT_OUT = ('d' * 100, 'restless', 'mounted', 'large', 'holes', 'closed')

    def whole_tree(self):
        """The tree, but for what a snapshot leaves out."""
        seen, folders = {}, ['']
        while folders:
            folder = folders.pop()
            for entry in os.scandir(os.path.join(self.root, folder)):
                path = os.path.join(folder, entry.name)
                mode = entry.stat(follow_symlinks=False).st_mode
                if path in self.LEFT_OUT or path == '.git':
                    continue
                if stat.S_ISLNK(mode):
                    seen[path] = 'link', os.readlink(entry.path)
                elif stat.S_ISREG(mode):
                    with open(entry.path, 'rb') as f:
                        seen[path] = 'file', f.read(), mode & 0o7777
                elif stat.S_ISDIR(mode):
                    folders.append(path)
        return seen


def log_rows(w):
    rows = []
    copies = f'{w.top}/state/reprise/copies'
    for name in os.listdir(copies):
        with open(f'{copies}/{name}/log', encoding='utf-8') as f:
            rows += [json.loads(line) for line in f]
    return rows


def take(w, event, prompt, files):
    """Runs one hook. Returns the line of its snapshot."""
    before = len(log_rows(w)) if os.path.isdir(f'{w.top}/state/reprise/copies') else 0
    began = time.monotonic()
    w.hook(event, prompt, again=False)
    took = time.monotonic() - began
    rows = log_rows(w)
    need(took < LIMIT_S + SLACK_S, f'{event}: it took {took:.1f} s')
    need(len(rows) == before + 1, f'{event}: {len(rows) - before} lines in the log')
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    need(peak < 64 + files // 4000, f'{event}: {peak} MB')
    print(f'{files} files, {event}: {took:.2f} s, {peak} MB: {rows[-1].get("why") or str(rows[-1]["skipped"]) + " left out"}')
    return rows[-1]


def whole_snapshot(w, event, prompt, files):
    """Repeats the hook until a snapshot is whole: each one goes on where the last one was given up."""
    for _ in range(40 if files <= 100000 else 4):
        row = take(w, event, prompt, files)
        if row.get('tree'):
            return row
        need(row['why'] in ('it took too long', 'another one was under way'), row)
    return row


def main():
    program, files = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    w = Hostile(program, True)
    mounted = False
    try:
        mounted = is_mounted(w)
        make_hostile(w, files)
        restless = Restless(w.root)
        restless.start()
        row = whole_snapshot(w, 'UserPromptSubmit', 'first prompt', files)
        small = files <= 100000
        if small:
            need(row.get('tree'), 'no snapshot was whole')
        else:  # more than two seconds of lstat alone: it says so, each time
            need(row.get('tree') or row['why'], row)
        restless.ends = True
        restless.join()
        if small:
            whole_snapshot(w, 'UserPromptSubmit', 'first prompt', files)
            before = w.whole_tree()

            def work():
                w.put('a.txt', 'changed\n')
                shutil.rmtree(f'{w.root}/many/3')
                os.remove(os.fsencode(w.root) + b'/two\nlines')
                os.remove(f'{w.root}/out')
                os.symlink('/etc', f'{w.root}/out')

            w.hooks, hooks = {'UserPromptSubmit': [], 'Stop': []}, w.hooks
            w.turn('first prompt', work)
            w.hooks = hooks
            whole_snapshot(w, 'Stop', None, files)
            w.write()
            final = w.whole_tree()
            said = w.dry_run(0)
            need('not in the snapshots' in said, f'what was left out is not said: {said}')
            w.run('rewind', w.id, '--to', w.points[0], '--apply')
            need(w.whole_tree() == before, 'the rewind is not exact')
            w.run('undo')
            need(w.whole_tree() == final, 'the undo is not exact')
        need(stat.S_ISFIFO(os.lstat(f'{w.root}/pipe').st_mode), 'the pipe')
        listed = w.run('snapshots')
        need('Claude Code' in listed or 'claude' in listed, listed)
    finally:
        if mounted:
            subprocess.run(['umount', f'{w.root}/mounted'], check=True)
        subprocess.run(['rm', '-rf', w.top], check=True)
    finish()


main()
