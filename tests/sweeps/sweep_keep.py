#!/usr/bin/env python3
"""Breaks `keep` and `keep restore` at their calls.

usage: sweep_keep.py PROGRAM INJECTOR

After a broken `keep` the originals are as they were, each copy is a whole one of the old or the new state, success means
that all of them are there, and the next `keep` completes it. After a broken `keep restore` the session is in its place as
a whole or not at all, and its copies are whole. REPRISE_SWEEP=long: at every call.
"""
import json
import os
import shutil
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, f'{TESTS}/sweeps']
from support.program import Program, snapshot
from sweep_program import ID, LOG, STRIDE, WAYS, Sweep, image, make, row

FIRST, AGAIN, BACK = 'keep', 'keep again', 'put back'


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
                f.write(json.dumps(row('5', '4')) + '\n')
        new = files_of(f'{self.now}/cfg')
        if name == BACK:
            shutil.rmtree(f'{self.now}/cfg/projects')
            shutil.rmtree(f'{self.now}/cfg/file-history')
            os.makedirs(f'{self.now}/cfg/projects')
        shutil.copytree(self.now, f'{self.top}/old', symlinks=True)
        shutil.rmtree(self.now)
        return old, new

    def broken_once(self, program, name, way, nth, states):
        old, new = states
        shutil.copytree(f'{self.top}/old', self.now, symlinks=True)
        before = image(self.now)
        command = ['keep', 'restore', ID] if name == BACK else ['keep', ID]
        code, said, calls = self.broken(self.now, command, *way, nth)
        if calls >= nth:
            at = f'{name}, {way} at {nth}: exit {code}, {said!r}'
            self.runs += 1
            self.killed += code < 0
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
                program.need(self.program(self.now).run('keep', ID).returncode == 0, f'{at}: the next one failed')
                program.need(self.kept() == new, f'{at}: it was not completed')
                doctor = self.program(self.now).run('doctor').stdout
                program.need(b'kept' not in doctor, f'{at}: {doctor}')
                left = [x for x in snapshot(f'{self.now}/data') if os.path.basename(x).startswith('.reprise') or x.endswith('/incoming')]
                program.need(not left, f'{at}: left {left}')
        shutil.rmtree(self.now)
        return calls >= nth

    def run(self, program):
        for name in (FIRST, AGAIN, BACK):
            states = self.begin(name)
            before = self.runs
            for i, way in enumerate(WAYS):
                nth = 1 + i % STRIDE
                while self.broken_once(program, name, way, nth, states):
                    nth += STRIDE
            print(f'{name}: {self.runs - before} runs')
            shutil.rmtree(f'{self.top}/old')


def main():
    path, injector = (os.path.abspath(p) for p in sys.argv[1:3])
    place = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as top:
        program = Program(path, top, {})
        sweep = KeepSweep(path, injector, top)
        sweep.run(program)
        print(f'{sweep.runs} runs, {sweep.killed} of them killed')
        program.need(sweep.killed > 10, 'too few were killed: is the injector loaded?')
        program.finish(200)


main()
