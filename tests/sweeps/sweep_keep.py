#!/usr/bin/env python3
"""Breaks `keep`, what its limits remove, and `keep restore` at their calls.

usage: sweep_keep.py PROGRAM INJECTOR

After a broken `keep` the originals are as they were, each copy is a whole one of the old or the new state, success means
that all of them are there, and the next `keep` completes it. After a broken `keep restore` the session is in its place as
a whole or not at all, and its copies are whole. REPRISE_SWEEP=long: at every call.
"""
import errno
import json
import os
import shutil
import signal
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, f'{TESTS}/sweeps']
from support.program import Program, compact, snapshot
from sweep_program import ID, LOG, STEM, STRIDE, WAYS, Sweep, image, make, row

FIRST, AGAIN, BACK, PRUNE = 'keep', 'keep again', 'put back', 'prune'
OTHER, THIRD = STEM + '9', STEM + '8'
COMMANDS = {BACK: ['keep', 'restore', ID], PRUNE: ['keep', '--all', '--query', 'agent:claude']}


def files_of(top):
    return {path[len(top):]: (mode, mtime, body) for path, (mode, mtime, body) in snapshot(top).items() if body is not None}


class KeepSweep(Sweep):
    def kept(self):
        return files_of(f'{self.now}/data/reprise/kept/files{self.now}/cfg')

    def begin(self, name):
        """The tree to begin with; the states of the files that a copy may have."""
        make(self.now)
        old = files_of(f'{self.now}/cfg')
        if name != FIRST:
            self.program(self.now).json('keep', ID)
        if name == AGAIN:
            with open(f'{self.now}/{LOG}', 'a', encoding='utf-8') as f:
                f.write(compact(row('5', '4')) + '\n')
        new = files_of(f'{self.now}/cfg')
        if name == BACK:
            shutil.rmtree(f'{self.now}/cfg/projects')
            shutil.rmtree(f'{self.now}/cfg/file-history')
            os.makedirs(f'{self.now}/cfg/projects')
        if name == PRUNE:
            for sid in THIRD, OTHER:
                with open(f'{self.now}/{LOG.replace(ID, sid)}', 'w', encoding='utf-8') as f:
                    f.write(compact({**row('2', None), 'sessionId': sid}) + '\n')
                self.program(self.now).json('keep', sid)
            shutil.rmtree(f'{self.now}/cfg/file-history')
            os.unlink(f'{self.now}/{LOG}')
            os.unlink(f'{self.now}/{LOG.replace(ID, THIRD)}')
            os.makedirs(f'{self.now}/config/reprise')
            with open(f'{self.now}/config/reprise/config', 'w', encoding='utf-8') as f:
                f.write('[keep]\nmax-sessions = 1\n')
            old = self.kept()
            new = {path: state for path, state in old.items() if OTHER in path}
        shutil.copytree(self.now, f'{self.top}/old', symlinks=True)
        shutil.rmtree(self.now)
        return old, new

    def broken_once(self, program, name, way, nth, states):
        old, new = states
        shutil.copytree(f'{self.top}/old', self.now, symlinks=True)
        before = image(self.now)
        command = COMMANDS.get(name, ['keep', ID])
        code, said, calls = self.broken(self.now, command, *way, nth)
        if calls >= nth:
            at = f'{name}, {way} at {nth}: exit {code}, {said!r}'
            self.runs += 1
            self.killed += code < 0
            program.need(code in (-signal.SIGKILL, 0, 1, 4), f'{at}: it ended by itself')
            for path, state in self.kept().items():
                program.need(state in (old.get(path), new.get(path)), f'{at}: the copy of {path} is not whole')
            if name == BACK:
                program.need(self.program(self.now).run('log').returncode == 0, f'{at}: the next command failed')
                now = files_of(f'{self.now}/cfg')
                program.need(now in ({}, new), f'{at}: neither there nor gone: {sorted(now)}')
                program.need(code != 0 or now == new, f'{at}: success was reported')
                program.need(self.kept() == new, f'{at}: a copy is gone')
            else:
                program.need(image(self.now) == before, f'{at}: an original changed')
                program.need(code != 0 or self.kept() == new, f'{at}: success was reported')
                program.need(self.program(self.now).run(*command).returncode == 0, f'{at}: the next one failed')
                program.need(self.kept() == new, f'{at}: it was not completed')
                doctor = self.program(self.now).run('doctor').stdout
                program.need(b'kept' not in doctor, f'{at}: {doctor}')
                left = [x for x in snapshot(f'{self.now}/data') if os.path.basename(x).startswith('.reprise') or x.endswith('/incoming')]
                program.need(not left, f'{at}: left {left}')
        shutil.rmtree(self.now)
        return calls >= nth

    def run(self, program):
        for name in (FIRST, AGAIN, BACK, PRUNE):
            states = self.begin(name)
            before = self.runs
            for i, way in enumerate(WAYS):
                stride = 1 if name == PRUNE and way[0] == 'error' else STRIDE
                nth = 1 + i % stride
                while self.broken_once(program, name, way, nth, states):
                    nth += stride
            print(f'{name}: {self.runs - before} runs')
            shutil.rmtree(f'{self.top}/old')


def full_disk(program, injector):
    """A long answer that ends because the disk is full is JSON all the same."""
    for n in range(500):
        path = f'{program.home}/{LOG.replace(ID, f"{n:08}{STEM[8:]}0")}'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(compact({**row('2', None), 'sessionId': f'{n:08}{STEM[8:]}0'}) + '\n')
    program.env |= {'LD_PRELOAD': injector, 'INJECT_MODE': 'error', 'INJECT_ERRNO': str(errno.ENOSPC), 'INJECT_STAYS': '1',
                    'INJECT_NTH': '13000', 'CLAUDE_CONFIG_DIR': f'{program.home}/cfg'}
    run = program.run('keep', '--all', '--query', 'agent:claude', '--json')
    program.need(run.returncode == 1 and 200 < len(json.loads(run.stdout)['sessions']) < 500, f'full: {run.returncode} {run.stdout[-200:]} {run.stderr}')
    del program.env['LD_PRELOAD']


def main():
    path, injector = (os.path.abspath(p) for p in sys.argv[1:3])
    place = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as top:
        program = Program(path, top, {})
        sweep = KeepSweep(path, injector, top)
        sweep.run(program)
        full_disk(program, injector)
        print(f'{sweep.runs} runs, {sweep.killed} of them killed')
        program.need(sweep.killed > 10, 'too few were killed: is the injector loaded?')
        program.finish(200)


main()
