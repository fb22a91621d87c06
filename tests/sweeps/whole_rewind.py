#!/usr/bin/env python3
"""Breaks the built program in `rewind --apply` and `undo` of a real session at every call that changes a file.

usage: whole_rewind.py PROGRAM INJECTOR

For each way and each call: the program runs with that call failing (see inject.h), the next command runs undisturbed,
and then the work tree is the old one or the new one; the exit code was right (an unfinished rewind is reported);
no temporary file is left; and `undo` restores the old tree, times included.
REPRISE_SWEEP=long: every call, else some.
"""
import errno
import os
import shutil
import struct
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, f'{TESTS}/commands']
from rewind_corpus import Case, tree  # noqa: E402
from support.program import snapshot  # noqa: E402

VERSION = '330'
SECOND = 'f7b2415d-95eb-4e8c-8e74-3b725c0c2894'
CASE = {'name': '01-all-to-first', 'session': '22222222-2222-4222-8222-222222222222', 'to': SECOND, 'mutate': ''}
WAYS = (('kill', 0, 0), ('kill-after', 0, 0), ('torn', 0, 0), ('short', 0, 0), ('power-cut', 0, 0),
        ('power-cut-zeros', 0, 0), ('error', errno.ENOSPC, 0), ('error', errno.ENOSPC, 1), ('error', errno.EIO, 0),
        ('error', errno.EROFS, 0), ('error-after', errno.EIO, 0))
DONE, FAILED = 0, 1


def files_of(top):
    return {path: what for path, what in snapshot(top).items() if what[2] is not None}


class Stage:
    """One store and work tree, reset to the same state before every run, because the store contains paths."""

    def __init__(self, program, injector, top):
        self.top = top
        self.injector = os.path.abspath(injector)
        self.live = f'{top}/live'
        os.mkdir(self.live)
        self.case = Case(program, self.live, VERSION, CASE, SECOND)
        self.program = self.case.program
        self.counter = f'{top}/counter'
        self.tally = dict.fromkeys(('runs', 'old', 'new', 'torn', 'untrue', 'unrecovered', 'undo failed', 'temps'), 0)

    def keep(self, name):
        shutil.copytree(self.live, f'{self.top}/{name}', symlinks=True)

    def put_back(self, name):
        shutil.rmtree(self.live)
        shutil.copytree(f'{self.top}/{name}', self.live, symlinks=True)

    def run(self, args, mode='', nth=0, error=0, stays=0):
        env = dict(self.program.env)
        if mode:
            with open(self.counter, 'wb') as f:
                f.write(bytes(8))
            env.update(LD_PRELOAD=self.injector, INJECT_MODE=mode, INJECT_NTH=str(nth), INJECT_ERRNO=str(error),
                       INJECT_STAYS=str(stays), INJECT_COUNTER=self.counter)
        return subprocess.run([self.program.path, *args], env=env, cwd=self.live, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)

    def calls(self):
        with open(self.counter, 'rb') as f:
            return struct.unpack('q', f.read(8))[0]

    def images(self):
        return tree(self.case.ws), files_of(self.case.ws)


def rewind_args():
    return ('rewind', CASE['session'], '--to', CASE['to'], '--allow-outside', '--overwrite-edited', '--skip-refused',
            '--apply', '--json')


def sweep(stage, start, args, back):
    """args: the operation; back: the operation that undoes it."""
    long = os.environ.get('REPRISE_SWEEP') == 'long'
    stage.put_back(start)
    old, old_files = stage.images()
    if stage.run(args, 'nothing').returncode != DONE:
        sys.exit(f'{args}: failed undisturbed')
    new, _ = stage.images()
    total = stage.calls()
    if old == new or total < 20:
        sys.exit(f'{args}: {total} calls, nothing is tested')
    for number, (mode, error, stays) in enumerate(WAYS):
        for nth in range(1 + number % 3, total + 50, 1 if long else 13):
            stage.put_back(start)
            run = stage.run(args, mode, nth, error, stays)
            if stage.calls() < nth:
                break
            judge(stage, run, (old, old_files, new), back, f'{mode} {error} at {nth}')
    return total


def judge(stage, run, images, back, point):
    code = run.returncode
    old, old_files, new = images
    tally = stage.tally
    bad = []
    tally['runs'] += 1
    if stage.run(('rewinds', '--json')).returncode != 0:
        bad.append('unrecovered')
    now, _ = stage.images()
    left = [p for top in (stage.case.ws, f'{stage.live}/state') for p in snapshot(top) if '.reprise' in p]
    if left:
        bad.append('temps')
    if now == old:
        tally['old'] += 1
        bad += ['untrue'] * (code == DONE)
    elif now == new:
        tally['new'] += 1
        bad += ['untrue'] * (code == FAILED and b'unfinished' not in run.stderr)
        undo = stage.run(back())
        if undo.returncode != 0 or files_of(stage.case.ws) != old_files or tree(stage.case.ws) != old:
            bad.append('undo failed')
    else:
        bad.append('torn')
    for what in bad:
        tally[what] += 1
        print(f'{point}: {what} (exit {code})')


def newest_record(stage):
    return os.path.basename(max(p for p in os.listdir(f'{stage.live}/state/reprise/rewinds') if p[0].isdigit()))


def main():
    program, injector = sys.argv[1:]
    place = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as top:
        stage = Stage(program, injector, top)
        stage.keep('before')
        calls = sweep(stage, 'before', rewind_args(), lambda: ('undo', '--all', '--json'))
        stage.put_back('before')
        stage.run(rewind_args())
        stage.keep('rewound')
        undone = sweep(stage, 'rewound', ('undo', '--all', '--json'), lambda: ('undo', newest_record(stage), '--json'))
    tally = stage.tally
    print(f'rewind --apply: {calls} calls, undo: {undone} calls; ' + ', '.join(f'{k} {v}' for k, v in tally.items()))
    bad = sum(tally[k] for k in ('torn', 'untrue', 'unrecovered', 'undo failed', 'temps'))
    sys.exit(1 if bad or tally['runs'] < 50 or not tally['old'] or not tally['new'] else 0)


main()
