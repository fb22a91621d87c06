#!/usr/bin/env python3
"""How many turns of the recorded stores are given back: by what each agent keeps, and with the hooks of `snapshots on`.

usage: turns_given_back.py PROGRAM [AGENT...]

The recordings have the project before each prompt, and were made without hooks. The snapshots are taken from these trees by
`reprise snapshot`, as the hooks would have taken them, with the times of the recording: the end of a turn is the tree before
the next prompt, or that at the end of the session. So what a person changed between two prompts is the turn's here, while
a hook at its end would have told the two apart.

With snapshots, a turn must not be wrong, and none may be given back that was held back for a reason that stays.

No recording of Claude Code has the project before each prompt. Its turns are those of tests/worlds, which writes what the client
writes: edits, its own copies, shell commands that change, make and remove files. There a hook runs at the end of each turn.
"""
import calendar
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, '..', '..', '..')
sys.path[:0] = [HERE, TESTS, os.path.join(TESTS, 'worlds')]

from agents import AGENTS
from claude import Claude
from recorded_agents import Recorded
from recorded_store import RecordedStore
from world import FILES, World

from support.program import Program

CLAUDE_WORLDS, CLAUDE_TURNS = 8, 5


def milliseconds(stamp):
    whole, _, part = stamp.rstrip('Z').partition('.')
    return calendar.timegm(time.strptime(whole, '%Y-%m-%dT%H:%M:%S')) * 1000 + int((part + '000')[:3])


class WithSnapshots(Recorded):
    def prompt_times(self, s):
        """The time of each prompt, in their order; None: it is not recorded."""
        run = self.p.run('messages', '--json', *self.session_args(s), f'{self.store.agent.name}:{s.id}')
        rows, times, at = json.loads(run.stdout or '[]'), [], 0
        for number, prompt in enumerate(s.prompts):
            point, *_ = self.point(s, number)
            if point and point.get('timestamp'):
                times.append(point['timestamp'])
                continue
            want, found = ' '.join(prompt.split()), None
            for i in range(at, len(rows)):
                text = rows[i].get('message', {}).get('content', '')
                if isinstance(text, list):
                    text = ' '.join(part.get('text', '') for part in text if isinstance(part, dict))
                if rows[i].get('type') == 'user' and ' '.join(text.split()) == want:
                    found, at = rows[i].get('timestamp'), i + 1
                    break
            times.append(milliseconds(found) if found else None)
        return times

    def snapshot(self, s, event, prompt, time_ms):
        agent = self.store.agent.name
        told = {'session_id': s.id, 'sessionId': s.id, 'sessionID': s.id, 'session': s.id, 'cwd': s.cwd, 'prompt': prompt}
        subprocess.run([self.p.path, 'snapshot', '--agent', agent, '--event', event], env=self.p.env, check=True,
                       input=json.dumps(told).encode(), stdout=subprocess.DEVNULL)
        for log in glob.glob(f'{self.p.env["XDG_STATE_HOME"]}/reprise/copies/*/log'):
            with open(log, encoding='utf-8') as f:
                lines = f.read().splitlines()
            row = json.loads(lines[-1])
            row['time'] = time_ms
            with open(log, 'w', encoding='utf-8') as f:
                f.write('\n'.join([*lines[:-1], json.dumps(row, separators=(',', ':'))]) + '\n')

    def take(self, s):
        shutil.rmtree(f'{self.p.env["XDG_STATE_HOME"]}/reprise/copies', ignore_errors=True)
        turns = {t.number: t for t in self.store.expected.turns if t.session == s.id}
        times = self.prompt_times(s)
        for number, turn in sorted(turns.items()):
            if times[number] is None:
                continue
            self.store.place(turn.before, s.cwd)
            self.snapshot(s, 'prompt', s.prompts[number], times[number] - 200)
            after = turns.get(number + 1)
            if not after and number + 1 < len(s.prompts):
                continue
            later = times[number + 1] if after else None
            self.store.place(after.before if after else turn.end, s.cwd)
            self.snapshot(s, 'end', '', later - 400 if later else times[number] + 1000)

    def count(self, hooks):
        self.turns = dict.fromkeys(self.turns, 0)
        by_id = {s.id: s for s in self.store.expected.sessions}
        taken = None
        for t in self.store.expected.turns:
            s = by_id[t.session]
            if hooks and taken != s.id:
                self.store.fill()
                self.take(s)
                taken = s.id
            word, faults = self.rewind(s, t)
            self.turns[word] += 1
            self.p.need(word != 'wrong', f'{s.name}, prompt {t.number}: {faults}')
        return self.turns


class Hooked(Claude):
    """Turns with the hooks of `snapshots on`."""

    def hook(self, event, prompt=''):
        told = {'session_id': self.sid, 'cwd': self.cwd, 'prompt': prompt}
        subprocess.run([self.world.program.path, 'snapshot', '--agent', 'claude', '--event', event], env=self.world.program.env,
                       input=json.dumps(told).encode(), check=True, stdout=subprocess.DEVNULL)

    def message(self, kind, content, parent='leaf', **more):
        if kind == 'user' and isinstance(content, str):
            self.hook('prompt', content)
        return super().message(kind, content, parent, **more)

    def step_turn(self, step):
        super().step_turn(step)
        self.hook('end')


def claude_recipe(seed):
    rng = random.Random(seed)
    steps = [{'op': 'hand', 'project': 1, 'file': name, 'how': 'write', 'n': rng.randrange(100)} for name in FILES[:3]]
    steps += [{'op': 'git', 'project': 1}] if seed % 2 else []
    steps.append({'op': 'session', 's': 's', 'project': 1, 'agent': 'claude'})
    for _ in range(CLAUDE_TURNS):
        calls = [[{'file': rng.choice(FILES), 'n': rng.randrange(100),
                   'how': rng.choice(('write', 'edit', 'edit', 'remove', 'append'))} for _ in range(rng.choice((1, 1, 2)))]
                 for _ in range(rng.choice((1, 1, 2)))]
        steps.append({'op': 'turn', 's': 's', 'calls': calls})
    return {'steps': steps, 'live': True}


def count_claude(program, hooks):
    """How the turns of the worlds end: those of the world with this number are the same with hooks and without."""
    turns = {'given back': 0, 'held back': 0, 'wrong': 0}
    for seed in range(CLAUDE_WORLDS):
        top = os.path.realpath(tempfile.mkdtemp())
        w = World(f'{top}/w', claude_recipe(seed))
        w.agents = {'claude': Hooked if hooks else Claude}
        w.program = Program(program, w.home, {'XDG_STATE_HOME': f'{top}/state', 'REPRISE_PROC_DIR': w.home})
        s = w.build().sessions['s']
        final = w.state(s.cwd)
        for point, _, before in s.prompts:
            said = w.program.run('rewind', '--all', s.sid, '--to', point, '--apply', '--skip-refused').stdout
            now = w.state(s.cwd)
            # Without hooks, a file is what it was when the client first saved it, and the plan says that commands ran before.
            known = b'shell command' in said or all(now.get(path) in (before.get(path), final.get(path)) for path in {*now, *before, *final})
            turns['given back' if now == before else 'held back' if known else 'wrong'] += 1
            if now != final:
                w.program.run('undo', '--all')
            if w.state(s.cwd) != final:
                turns['wrong'] += 1
        w.remove()
        shutil.rmtree(top)
    return turns


def count_recorded(program, name):
    store = RecordedStore(AGENTS[name])
    try:
        store.fill()
        r = WithSnapshots(program, store)
        return r.count(False), r.count(True)
    finally:
        store.remove()


def main():
    names = sys.argv[2:] or ['claude', *(name for name, agent in AGENTS.items() if agent)]
    failed = 0
    print(f'{"agent":12} {"turns":>5}  {"without hooks":>13}  {"with hooks":>10}  {"wrong":>5}')
    for name in names:
        without, given = ([count_claude(sys.argv[1], hooks) for hooks in (False, True)] if name == 'claude' else
                          count_recorded(sys.argv[1], name))
        if not sum(given.values()):
            continue  # its recording has no trees
        print(f'{name:12} {sum(given.values()):5}  {without["given back"]:13}  {given["given back"]:10}  '
              f'{without["wrong"] + given["wrong"]:5}', flush=True)
        failed += without['wrong'] + given['wrong'] + (given['given back'] < without['given back'])
    sys.exit(1 if failed else 0)


main()
