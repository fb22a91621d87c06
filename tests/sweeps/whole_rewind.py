#!/usr/bin/env python3
"""Breaks the built program in `rewind --apply` and `undo` of a real session at every call that changes a file.

usage: whole_rewind.py PROGRAM INJECTOR [AGENT...]   (sessions of these agents instead, recorded or made)

For each way and each call: the program runs with that call failing (see inject.h), the next command runs undisturbed,
and then the work tree is the old one or the new one; the exit code was right (an unfinished rewind is reported);
no temporary file is left; and `undo` restores the old tree, times included.
REPRISE_SWEEP=long: every call, else some.
"""
import errno
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, f'{TESTS}/commands', f'{TESTS}/store/systems/recorded']
from agents import AGENTS  # noqa: E402
from recorded_store import RecordedStore  # noqa: E402
from rewind_corpus import Case, tree  # noqa: E402
from support.program import Program, snapshot  # noqa: E402

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
        self.place(program)
        self.counter = f'{top}/counter'
        self.tally = dict.fromkeys(('runs', 'old', 'new', 'torn', 'untrue', 'unrecovered', 'undo failed', 'temps'), 0)

    def place(self, program):
        self.live = f'{self.top}/live'
        os.mkdir(self.live)
        case = Case(program, self.live, VERSION, CASE, SECOND)
        self.program, self.ws = case.program, case.ws
        self.point, self.skip = (CASE['session'], '--to', CASE['to'], '--allow-outside'), ('--skip-refused',)

    def rewind_args(self):
        return 'rewind', *self.point, '--overwrite-edited', *self.skip, '--apply', '--json'

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
                              capture_output=True, timeout=300, check=False)

    def calls(self):
        with open(self.counter, 'rb') as f:
            return struct.unpack('q', f.read(8))[0]

    def temps(self):
        return [p for top in (self.ws, f'{self.live}/state') for p in snapshot(top) if '.reprise' in p]

    def images(self):
        return tree(self.ws), files_of(self.ws)


class AgentStage(Stage):
    """The turn of an agent whose rewind changes most files."""

    def __init__(self, program, injector, top, agent):
        self.store = RecordedStore(agent)
        super().__init__(program, injector, top)

    def place(self, program):
        store = self.store
        self.live = store.root
        self.program = Program(program, store.home, {**store.environment(), 'XDG_STATE_HOME': f'{store.root}/state'})
        by_id = {s.id: s for s in store.expected.sessions}
        most, turn = 0, None
        for t in store.expected.turns:
            changes = len(self.look(by_id[t.session], t))
            if changes > most:
                most, turn = changes, t
        self.look(by_id[turn.session], turn)
        self.ws = by_id[turn.session].cwd

    def look(self, s, t):
        """Puts the session and the tree there, and returns the files that a rewind to the prompt would change."""
        store = self.store
        store.fill()
        store.place(t.end, s.cwd)
        name, more = f'{store.agent.name}:{s.id}', ('--all', '-C', s.cwd, *(['--store', s.store.format(home=store.home)] if s.store else []))
        run = self.run(('checkpoints', '--json', *more, name))
        same = [c['id'] for c in json.loads(run.stdout or '[]') if c.get('kind') == 'turn' and
                c.get('prompt', '').split() == s.prompts[t.number].split()]
        if not same:
            return ()
        self.point = name, '--to', same[0], *more
        run = self.run(('rewind', *self.point, '--skip-refused', '--dry-run', '--json'))
        answer = json.loads(run.stdout or '{}')
        # A saved copy that cannot be read is held back, and then nothing is to change.
        self.skip = ('--skip-refused',) if any(f['action'] == 'refused' for f in answer.get('files', ())) else ()
        return answer.get('filesChanged', ())


def sweep(stage, start, args, back, step):
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
        for nth in range(1 + number % 3, total + 50, 1 if long else step):
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
    # One of the note about projects, which is written after the change, is removed with the next note: by the undo.
    if [p for p in stage.temps() if os.path.dirname(p) != f'{stage.live}/state/reprise']:
        bad.append('temps')
    if now == old:
        tally['old'] += 1
        bad += ['untrue'] * (code == DONE)
    elif now == new:
        tally['new'] += 1
        bad += ['untrue'] * (code == FAILED and b'unfinished' not in run.stderr)
        undo = stage.run(back())
        if undo.returncode != 0 or files_of(stage.ws) != old_files or tree(stage.ws) != old:
            bad.append('undo failed')
        elif stage.temps():
            bad.append('temps')
    else:
        bad.append('torn')
    for what in bad:
        tally[what] += 1
        print(f'{point}: {what} (exit {code})')


def newest_record(stage):
    return os.path.basename(max(p for p in os.listdir(f'{stage.live}/state/reprise/rewinds') if p[0].isdigit()))


def sweep_both(stage, name, step, least):
    stage.keep('before')
    calls = sweep(stage, 'before', stage.rewind_args(), lambda: ('undo', '--all', '--json'), step)
    stage.put_back('before')
    stage.run(stage.rewind_args())
    stage.keep('rewound')
    undone = sweep(stage, 'rewound', ('undo', '--all', '--json'), lambda: ('undo', newest_record(stage), '--json'), step)
    tally = stage.tally
    print(f'{name}: rewind --apply: {calls} calls, undo: {undone} calls; ' + ', '.join(f'{k} {v}' for k, v in tally.items()), flush=True)
    bad = sum(tally[k] for k in ('torn', 'untrue', 'unrecovered', 'undo failed', 'temps'))
    return not bad and tally['runs'] >= least and tally['old'] and tally['new']


def main():
    program, injector, *names = sys.argv[1:]
    place = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    good = True
    if not names:
        with tempfile.TemporaryDirectory(dir=place) as top:
            good = sweep_both(Stage(program, injector, top), 'claude', 13, 50)
    for name in names:
        with tempfile.TemporaryDirectory(dir=place) as top:
            stage = AgentStage(os.path.abspath(program), injector, top, AGENTS[name])
            try:
                good = sweep_both(stage, name, 97, 20) and good
            finally:
                stage.store.remove()
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()
