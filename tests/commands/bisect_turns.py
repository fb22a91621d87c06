#!/usr/bin/env python3
"""The first turn after which a command fails: found for sessions of several agents whose true trees are known, in a copy of the
project, with as few runs as git needs.

usage: bisect_turns.py PROGRAM
"""
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..'), os.path.join(HERE, '..', 'worlds')]

import others
from claude import Claude
from codex import Codex
from support import fixture_homes
from support.program import Program, snapshot
from world import World

TURNS = 12
# Fails if the files here are those of a state from the bad one on; writes down which one it is.
JUDGE = """
import hashlib, json, os, sys
want = json.load(open(sys.argv[1]))
here = {}
for folder, names, files in os.walk('.'):
    names[:] = [n for n in names if n != '.exathena']
    for name in files:
        path = os.path.relpath(os.path.join(folder, name), '.')
        if not os.path.islink(path):
            here[path] = hashlib.sha256(open(path, 'rb').read()).hexdigest()
known = [i for i, state in enumerate(want['states']) if state == here]
open(want['log'], 'a').write(json.dumps([known, os.getcwd(), os.path.realpath(os.readlink('link')), os.path.exists('.git')]) + '\\n')
print('the words of the command')
sys.exit(200 if not known else 125 if set(known) & set(want['skip']) else known[0] >= want['bad'])
"""


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Case:
    def __init__(self, p, top, agent, how):
        self.p, self.agent, self.top = p, agent, f'{top}/{agent}'
        os.makedirs(self.top)
        w = World(self.top, {})
        w.agents = {'claude': Claude, 'codex': Codex, **others.AGENTS}
        s = w.agents[agent](w, {'s': 's0', 'project': 0})
        for i in range(5):
            w.put(f'{s.cwd}/{"abcde"[i]}.txt', b'first\nsecond\nthird\n')
        for turn in range(TURNS):  # the fourth turn of each changes nothing
            calls = [] if turn % 4 == 3 else [[{'how': how, 'file': f'{"abc"[turn % 3]}.txt', 'n': turn}]]
            s.step_turn({'calls': calls})
        self.s, self.sid, self.project = s, s.sid, s.cwd
        os.symlink(f'{s.cwd}/d.txt', f'{s.cwd}/link')
        os.makedirs(f'{s.cwd}/.git')
        self.states = [{k: digest(v) for k, v in before.items()} for _, _, before in s.prompts]
        self.states.append({k: digest(v) for k, v in w.state(s.cwd).items() if k != 'link'})
        self.log, self.want, self.judge, self.temp = (f'{self.top}/{x}' for x in ('log', 'want', 'judge.py', 'temp'))
        os.makedirs(self.temp)
        with open(self.judge, 'w', encoding='utf-8') as f:
            f.write(JUDGE)
        p.home = self.project
        p.env.update(HOME=w.home, TMPDIR=self.temp)

    def prepare(self, bad, skip=()):
        with open(self.want, 'w', encoding='utf-8') as f:
            json.dump({'states': self.states, 'bad': bad, 'skip': list(skip), 'log': self.log}, f)
        open(self.log, 'w', encoding='utf-8').close()

    def bisect(self, bad, *args, skip=()):
        self.prepare(bad, skip)
        before = snapshot(self.project)
        run = self.p.run('bisect', '--json', *args, self.sid, '--', sys.executable, '-S', self.judge, self.want)
        with open(self.log, encoding='utf-8') as f:
            log = [json.loads(line) for line in f]
        self.p.same(f'{self.agent} {bad}: the project is untouched', snapshot(self.project), before)
        self.p.same(f'{self.agent} {bad}: no copy is left', os.listdir(self.temp), [])
        for known, cwd, link, git in log:
            self.p.need(known, f'{self.agent} {bad}: a state that never was')
            self.p.need(cwd.startswith(self.temp), f'{self.agent}: ran in {cwd}')
            self.p.same(f'{self.agent}: a link stays in the copy', link, f'{cwd}/d.txt')
            self.p.same(f'{self.agent}: no repository', git, False)
        return run, log

    def turns(self, run):
        """The numbers of the turns that the answer names."""
        return [next(i for i, (_, mark, _) in enumerate(self.s.prompts) if mark in t['prompt']) for t in run]

    def check(self):
        changes = [i for i in range(TURNS) if self.states[i] != self.states[i + 1]]
        for bad in [i + 1 for i in changes]:
            run, log = self.bisect(bad)
            answer = json.loads(run.stdout or '{}')
            self.p.same(f'{self.agent}: turn {bad - 1} is bad', (run.returncode, answer.get('found'), self.turns(answer.get('turns', []))),
                        (0, True, [bad - 1]))
            self.p.need(len(log) <= math.ceil(math.log2(TURNS + 1)) + 1, f'{self.agent}: {len(log)} runs')
            self.p.same(f'{self.agent}: runs', answer.get('runs'), len(log))
            self.p.need(b'the words of the command' in run.stderr, f'its output: {run.stderr}')


class Recorded(Case):
    """A recorded session. What its trees were is what a rewind to each point gives."""

    def __init__(self, p, top, name):
        self.p, self.agent, self.top = p, name, f'{top}/{name}'
        os.makedirs(self.top)
        self.project = fixture_homes.world(name, self.top)
        p.home = self.project
        p.env.update(HOME=f'{self.top}/home', **fixture_homes.ENV)
        self.log, self.want, self.judge, self.temp = (f'{self.top}/{x}' for x in ('log', 'want', 'judge.py', 'temp'))
        os.makedirs(self.temp)
        p.env['TMPDIR'] = self.temp
        with open(self.judge, 'w', encoding='utf-8') as f:
            f.write(JUDGE)
        os.symlink(f'{self.project}/d.txt', f'{self.project}/link')
        points = {row['sessionId']: [c for c in p.json('checkpoints', row['sessionId'], missing=[]) if c['restorable']] for row in p.json('list')}
        self.sid = max(points, key=lambda sid: len(points[sid]))
        self.points = points[self.sid]
        self.states = []
        for c in self.points:
            run = p.run('rewind', self.sid, '--to', c['id'], '--apply', '--skip-refused', '--overwrite-edited', '--allow-sensitive',
                        *['--inferred'] * (name == 'exathena'))
            self.states.append(self.tree())
            if run.returncode == 0 and 'undo' in run.stdout.decode():
                p.run('undo', '--overwrite-edited')
        self.states.append(self.tree())

    def tree(self):
        out = {}
        for folder, names, files in os.walk(self.project):
            names[:] = [n for n in names if n not in ('.git', '.exathena')]
            for name in files:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    with open(path, 'rb') as f:
                        out[os.path.relpath(path, self.project)] = digest(f.read())
        return out

    def check(self):
        changes = [i for i in range(len(self.points)) if self.states[i] != self.states[i + 1] and self.states[i + 1] not in self.states[:i + 1]]
        self.p.need(changes, f'{self.agent}: no turn changed anything')
        for i in changes:
            run, _ = self.bisect(i + 1)
            answer = json.loads(run.stdout or '{}')
            self.p.same(f'{self.agent}: {self.points[i]["id"]} is bad', [t['id'] for t in answer.get('turns', [])], [self.points[i]['id']])


def check_ends(c):
    """A command that always or never fails, states that cannot be tested, ranges, and words that are wrong."""
    p = c.p
    for bad, words in ((99, b'the command does not fail now'), (0, b'fails at the first point already')):
        run, _ = c.bisect(bad)
        p.need(run.returncode == 3 and words in run.stderr, f'{bad}: {run}')
    run, log = c.bisect(6, skip=(5, 6, 7))
    answer = json.loads(run.stdout)
    p.need(not answer['found'] and set(c.turns(answer['turns'])) >= {5}, f'skipped: {run.stdout}')
    point = [x for x, _, _ in c.s.prompts]
    run, log = c.bisect(6, '--from', point[2], '--to', point[9])
    p.same('in a range', c.turns(json.loads(run.stdout)['turns']), [5])
    p.need(all(2 <= max(known) and min(known) <= 9 for known, *_ in log), f'outside of the range: {log}')
    for args, code in (((c.s.sid,), 2), ((c.s.sid, '--', '/no/such/program'), 3), (('no-such-id', '--', 'true'), 3),
                       ((c.s.sid, '--from', 'nothing', '--', 'true'), 3), (('--from', point[9], '--to', point[2], c.s.sid, '--', 'true'), 2),
                       ((c.s.sid, '--', 'sh', '-c', 'exit 130'), 1), ((c.s.sid, '--', 'sh', '-c', 'kill -9 $$'), 1)):
        run = p.run('bisect', *args)
        p.need(run.returncode == code and run.stderr.startswith(b'reprise: '), f'{args}: {run}')
        p.same(f'{args}: no copy is left', os.listdir(c.temp), [])
    c.prepare(6)
    text = p.text('bisect', c.s.sid, '--', sys.executable, '-S', c.judge, c.want)
    p.need('the first bad turn, after ' in text and f'--only --to {point[5]}' in text, text)

    # A parent that ignores SIGCHLD takes no codes away.
    run = p.run('bisect', c.s.sid, '--json', '--', sys.executable, '-S', c.judge, c.want, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    p.same(f'with SIGCHLD ignored: {run}', c.turns(json.loads(run.stdout or b'{"turns": []}')['turns']), [5])

    # A directory below that of the project is that directory of the copy.
    os.makedirs(f'{c.project}/below')
    p.home = f'{c.project}/below'
    run = p.run('bisect', c.s.sid, '--', 'sh', '-c', 'case $PWD in */tree/below) exit 1;; esac')
    p.need(run.returncode == 3 and b'first point already' in run.stderr, f'below: {run}')
    p.home = c.project


def check_places(c):
    """The project is reached through a link, its directory is one, and other programs write in it meanwhile."""
    p, point = c.p, [x for x, _, _ in c.s.prompts]

    def found(what):
        c.prepare(6)
        run = p.run('bisect', '--json', c.s.sid, '--', sys.executable, '-S', c.judge, c.want)
        p.same(what, (run.returncode, [t['id'] for t in json.loads(run.stdout or '{"turns":[]}')['turns']]), (0, [point[5]]))
        p.same(f'{what}: no copy is left', os.listdir(c.temp), [])

    os.symlink(c.project, f'{c.top}/link')
    p.home = f'{c.top}/link'
    found('through a link')
    p.home = c.project
    os.mkfifo(f'{c.project}/fifo')
    found('beside a FIFO')
    os.unlink(f'{c.project}/fifo')
    os.rename(c.project, f'{c.top}/moved')
    os.symlink(f'{c.top}/moved', c.project)
    found('the project is a link')
    os.unlink(c.project)
    os.rename(f'{c.top}/moved', c.project)

    # What the others write is not in the state that the judge knows, so only its end counts here.
    ended, path = threading.Event(), f'{c.project}/server.log'

    def write():
        turn = 0
        while not ended.is_set():
            with open(path, 'ab') as f:
                f.write(b'x' * 100000)
            if os.path.getsize(path) > 10_000_000:
                os.truncate(path, 0)
            open(f'{c.project}/one{turn % 7}', 'wb').close()
            other = f'{c.project}/one{(turn + 3) % 7}'
            if os.path.exists(other):
                os.unlink(other)
            turn += 1
    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(4):
        run = p.run('bisect', c.s.sid, '--', 'test', '-f', 'a.txt')
        p.need(run.returncode == 3 and b'does not fail now' in run.stderr, f'others write: {run}')
    ended.set()
    writer.join()
    for name in ['server.log'] + [f'one{i}' for i in range(7)]:
        if os.path.exists(f'{c.project}/{name}'):
            os.unlink(f'{c.project}/{name}')


def check_interrupted(c):
    """A signal ends the command, and the copy is removed. Beside one that never sleeps, on the same processor, the command often
    runs before this program waits for it."""
    processor = {min(os.sched_getaffinity(0))}

    def share():
        os.sched_setaffinity(0, processor)
        os.nice(5)
    busy = subprocess.Popen(['sh', '-c', 'while :; do :; done'], preexec_fn=lambda: os.sched_setaffinity(0, processor))
    try:
        for sig in (signal.SIGINT, signal.SIGTERM) * 4:
            child = subprocess.Popen([c.p.path, 'bisect', c.s.sid, '--', 'sh', '-c', f'touch {c.top}/runs; sleep 1000'], env=c.p.env, cwd=c.project,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=share)
            end = time.monotonic() + 100
            while not os.path.exists(f'{c.top}/runs') and time.monotonic() < end:
                time.sleep(0.001)
            child.send_signal(sig)
            child.communicate(timeout=100)
            os.unlink(f'{c.top}/runs')
            c.p.same(f'{sig}: no copy is left', (child.returncode, os.listdir(c.temp)), (128 + sig, []))
    finally:
        busy.kill()
        busy.wait()


def main():
    p = Program(sys.argv[1], '/', {})
    with tempfile.TemporaryDirectory() as home:
        top = os.path.realpath(home)
        for agent, how in (('claude', 'write'), ('codex', 'edit')):
            c = Case(p, top, agent, how)
            c.check()
            if agent == 'claude':
                check_ends(c)
                check_places(c)
                check_interrupted(c)
        for name in 'spec', 'exathena':
            Recorded(p, top, name).check()
    p.finish(100)


if __name__ == '__main__':
    main()
