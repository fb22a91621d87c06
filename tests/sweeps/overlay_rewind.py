#!/usr/bin/env python3
"""Rewinds of projects on overlayfs, as in a container: the rewind is the first change below their directory, is killed on
the way, and finds a copy of the project in its place.

usage: overlay_rewind.py PROGRAM INJECTOR

On overlayfs the first write to a file gives it another time of birth, a directory gets another one (and sometimes another
number) when something below it is written, and a copied layer has new numbers everywhere. The upper layer has a file that
existed before as one that began when it was first written; so a patch of Codex that adds a file proves nothing there.
Exit 77: this machine mounts no overlay.
REPRISE_SWEEP=long: killed at more calls.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, f'{HERE}/../store/systems/codex']
from codex_rewind import ADDED, Threads, added  # noqa: E402
from whole_rewind import AGENTS, DONE, AgentStage, Stage  # noqa: E402
from support.program import snapshot  # noqa: E402

SKIPPED = 77
INSIDE = 'REPRISE_TEST_MOUNTS'
LONG = os.environ.get('REPRISE_SWEEP') == 'long'
STEP = 3 if LONG else 53


def mount_overlay(lower, upper, at):
    """upper is the folder of the upper layer. Ends the test where that is not possible. A user keeps what the overlay notes of
    a file in other attributes."""
    for part in 'upper', 'work':
        os.makedirs(f'{upper}/{part}', exist_ok=True)
    for more in ('',) if os.environ[INSIDE] == '-m' else (',userxattr', ''):
        how = f'lowerdir={lower},upperdir={upper}/upper,workdir={upper}/work{more}'
        run = subprocess.run(['mount', '-t', 'overlay', 'overlay', '-o', how, at], capture_output=True, text=True, check=False)
        if run.returncode == 0:
            return
    print(f'skipped: this machine mounts no overlay here: {run.stderr.strip()}')
    sys.exit(SKIPPED)


class Overlay:
    """Lays an overlay over a part of a stage: what was kept is the lower layer, and what a run changes is in the upper one."""

    def __init__(self, stage, at, upper):
        self.stage, self.at, self.upper, self.mounted = stage, at, upper, False

    def unmount(self):
        if self.mounted:
            subprocess.run(['umount', '-l', self.at], check=True)
        self.mounted = False

    def mount(self, name):
        mount_overlay(f'{self.stage.top}/{name}{self.at[len(self.stage.live):]}', self.upper, self.at)
        self.mounted = True

    def put_back(self, name):
        """As it was kept, with nothing in the upper layer."""
        self.unmount()
        Stage.put_back(self.stage, name)
        for part in 'upper', 'work':
            shutil.rmtree(f'{self.upper}/{part}', ignore_errors=True)
        self.mount(name)

    def copy_layer(self, name):
        """The upper layer is copied, as when a container is moved: every file in it has another number."""
        self.unmount()
        subprocess.run(['cp', '-a', f'{self.upper}/upper', f'{self.upper}/copy'], check=True)
        for part in 'upper', 'work':
            shutil.rmtree(f'{self.upper}/{part}')
        os.rename(f'{self.upper}/copy', f'{self.upper}/upper')
        self.mount(name)

    def copy_project(self, _):
        """A copy of the project takes its place, without a mount."""
        subprocess.run(['cp', '-a', self.at, f'{self.upper}/project'], check=True)
        self.unmount()
        shutil.rmtree(self.at)
        shutil.move(f'{self.upper}/project', self.at)


class Checks:
    def __init__(self, name):
        self.name, self.good, self.passed, self.ended = name, True, 0, {}

    def need(self, holds, what):
        self.passed += 1
        if not holds:
            self.good = False
            print(f'{self.name}: {what}'[:2000])


def temps(stage):
    return [p for top in (stage.ws, f'{stage.live}/state') for p in snapshot(top) if '.reprise' in p]


def bytes_of(image):
    """The files of a tree without what a copy changes."""
    return {path: what[:2] if isinstance(what, tuple) else what for path, what in image.items()}


def first_write(stage, overlay, check, partly=False):
    """Nothing stops the rewind, and its undo restores all bytes. partly: a file or a directory that cannot go may stay."""
    overlay.put_back('before')
    old, _ = stage.images()
    run = stage.run(stage.rewind_args(), 'nothing')
    calls = stage.calls()
    new, _ = stage.images()
    check.need(run.returncode == (4 if partly else DONE) and new != old, f'rewind: {run}')
    check.need(not partly or b'cannot be moved, and ' in run.stderr, f'rewind: {run}')
    check.need(not temps(stage), f'temporary files: {temps(stage)}')
    run = stage.run(('undo', '--all', '--json'))
    check.need(run.returncode == DONE and bytes_of(stage.images()[0]) == bytes_of(old), f'undo: {run}')
    return calls, old, new


def killed(stage, overlay, check, images, calls):
    """After a kill the next command finishes or takes back what was begun. If a copy of the project took its place meanwhile,
    that, or giving the rewind up, leaves no temporary file, and no file that is in neither tree."""
    whole = [bytes_of(image) for image in images]
    known = {(path, what) for image in whole for path, what in image.items()}
    for number, nth in enumerate(range(2, calls, STEP)):
        move = (None, overlay.copy_layer, overlay.copy_project)[number % 3]
        overlay.put_back('before')
        run = stage.run(stage.rewind_args(), 'kill', nth)
        if stage.calls() < nth:
            break
        where = f'killed at {nth}, then {move.__name__ if move else "the next command"}'
        if move:
            move('before')
        run = stage.run(('rewinds', '--json'))
        check.need(run.returncode == DONE, f'{where}: {run}')
        waits = [r['id'] for r in json.loads(run.stdout or '[]') if r.get('interrupted')]
        for record in waits:
            run = stage.run(('rewinds', 'abandon', record))
            check.need(run.returncode == DONE, f'{where}: {run}')
        check.ended['abandoned' if waits else 'finished'] = check.ended.get('abandoned' if waits else 'finished', 0) + 1
        check.need(not temps(stage), f'{where}: temporary files {temps(stage)}')
        now = bytes_of(stage.images()[0])
        check.need(now in whole or bool(waits), f'{where}: neither the old nor the new tree')
        check.need(set(now.items()) <= known, f'{where}: {set(now.items()) - known}')
        again = stage.run(stage.rewind_args())
        check.need(again.returncode in (DONE, 4) and not temps(stage), f'{where}, again: {again} {temps(stage)}')


def try_at(name, stage, at, upper, partly=False):
    """With an overlay mounted there."""
    check, overlay = Checks(name), Overlay(stage, at, upper)
    try:
        calls, old, new = first_write(stage, overlay, check, partly)
        killed(stage, overlay, check, (old, new), calls)
    finally:
        overlay.unmount()
    print(f'{name}: {calls} calls, {check.passed} checks, {check.ended}', flush=True)
    return check.good and check.passed > 8


def try_stage(name, stage, folders):
    """The overlay is laid over everything, or over the project alone, its layers on one file system or on two."""
    stage.keep('before')
    good = True
    for what, at in ('all', stage.live), ('project', stage.ws):
        for n, folder in enumerate(folders):
            with tempfile.TemporaryDirectory(dir=folder) as upper:
                good = try_at(f'{name}, {what}, {"one file system" if n == 0 else "two"}', stage, at, upper) and good
        Stage.put_back(stage, 'before')
    return good


def try_bare(name, stage, top):
    """An upper layer without extended attributes, in which an overlayfs cannot rename a lower file nor remove a lower directory."""
    if subprocess.run(['mount', '-t', 'ramfs', 'ramfs', top], capture_output=True, check=False).returncode:
        return True
    try:
        return try_at(f'{name}, without attributes', stage, stage.ws, f'{top}/layers', partly=True)
    finally:
        subprocess.run(['umount', '-l', top], check=True)


def try_added(program, folder):
    """A patch of Codex adds files, of which some were there. The project is then looked at on the overlay, on another one whose
    lower layer it became (a new container), and without an overlay, as its upper layer and as a copy."""
    with tempfile.TemporaryDirectory(dir=folder) as top:
        for part in 'lower', 'image', 'home/project1':
            os.makedirs(f'{top}/{part}')
        for name in 'old', 'src/old':
            os.makedirs(os.path.dirname(f'{top}/lower/{name}'), exist_ok=True)
            with open(f'{top}/lower/{name}', 'w', encoding='utf-8') as f:
                f.write('of a person\n')
        t = Threads(program, f'{top}/home')
        t.number, t.cwd = 1, f'{top}/home/project1'
        mount_overlay(f'{top}/lower', f'{top}/first', t.cwd)
        patch = t.item('FileChange', status='completed', changes={f'{t.cwd}/{name}': added('new\n') for name in ('old', 'src/old')})
        time.sleep(0.03)
        patch[1]['started_at_ms'] = time.time_ns() // 1000000
        for name in 'old', 'src/old':
            t.put(name, 'new\n', by_hand=True)
        patch[1]['completed_at_ms'] = time.time_ns() // 1000000 + 1
        sid = t.write([t.prompt('First'), patch])
        t.says('on the overlay', sid, 0, {'old': ADDED, 'src/old': ADDED})
        subprocess.run(['cp', '-a', f'{t.cwd}/.', f'{top}/image'], check=True)
        subprocess.run(['umount', '-l', t.cwd], check=True)
        mount_overlay(f'{top}/image', f'{top}/second', t.cwd)
        t.says('in a new container', sid, 0, {'old': ADDED, 'src/old': ADDED})
        subprocess.run(['umount', '-l', t.cwd], check=True)
        for what, place in ('the upper layer', f'{top}/first/upper'), ('a copy', f'{top}/image'):
            os.rmdir(t.cwd)
            os.rename(place, t.cwd)
            t.says(what, sid, 0, {'old': ADDED, 'src/old': ADDED})
            os.rename(t.cwd, place)
            os.mkdir(t.cwd)
        return t.p.failed == 0 and t.p.passed == 4


def main():
    if not os.environ.get(INSIDE):
        how = '-m' if os.geteuid() == 0 else '-rm'
        if subprocess.run(['unshare', how, 'true'], capture_output=True, check=False).returncode:
            print('skipped: mounts of its own are not allowed here')
            sys.exit(SKIPPED)
        os.environ[INSIDE] = how
        os.execvp('unshare', ['unshare', how, sys.executable, *sys.argv])
    program, injector = sys.argv[1:]
    folders = [None] + (['/dev/shm'] if os.access('/dev/shm', os.W_OK) else [])
    good = all([try_added(program, folder) for folder in folders])
    with tempfile.TemporaryDirectory() as top:
        stage = Stage(program, injector, top)
        good = try_stage('claude', stage, folders) and good
        with tempfile.TemporaryDirectory() as bare:
            good = try_bare('claude', stage, bare) and good
    for name in 'codex', 'opencode':
        with tempfile.TemporaryDirectory() as top:
            stage = AgentStage(os.path.abspath(program), injector, top, AGENTS[name])
            try:
                good = try_stage(name, stage, folders if LONG else folders[:1]) and good
            finally:
                stage.store.remove()
    sys.exit(0 if good else 1)


main()
