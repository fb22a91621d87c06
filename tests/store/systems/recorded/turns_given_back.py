#!/usr/bin/env python3
"""How many turns of the recorded stores are given back: by what each agent keeps, and with the hooks of `snapshots on`.

usage: turns_given_back.py PROGRAM [AGENT...]

The recordings have the project before each prompt, and were made without hooks. The snapshots are taken from these trees by
`reprise snapshot`, as the hooks would have taken them, with the times of the recording: the end of a turn is the tree before
the next prompt, or that at the end of the session. So what a person changed between two prompts is the turn's here, while
a hook at its end would have told the two apart.

With snapshots, a turn must not be wrong, and none may be given back that was held back for a reason that stays.
"""
import calendar
import glob
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', '..', '..')]

from agents import AGENTS
from recorded_agents import Recorded
from recorded_store import RecordedStore


def milliseconds(stamp):
    whole, _, part = stamp.rstrip('Z').partition('.')
    return calendar.timegm(time.strptime(whole, '%Y-%m-%dT%H:%M:%S')) * 1000 + int((part + '000')[:3])


class WithSnapshots(Recorded):
    def prompt_times(self, s):
        """The time of each prompt, in their order; None: it is not recorded."""
        run = self.p.run('messages', '--json', *self.session_args(s), f'{self.store.agent.name}:{s.id}')
        rows, times, at = json.loads(run.stdout or '[]'), [], 0
        for number, prompt in enumerate(s.prompts):
            point, _ = self.point(s, number)
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


def main():
    names = sys.argv[2:] or [name for name, agent in AGENTS.items() if agent]
    failed = 0
    print(f'{"agent":12} {"turns":>5}  {"without hooks":>13}  {"with hooks":>10}  {"wrong":>5}')
    for name in names:
        store = RecordedStore(AGENTS[name])
        try:
            store.fill()
            r = WithSnapshots(sys.argv[1], store)
            without, given = r.count(False), r.count(True)
            print(f'{name:12} {sum(given.values()):5}  {without["given back"]:13}  {given["given back"]:10}  '
                  f'{without["wrong"] + given["wrong"]:5}', flush=True)
            failed += without['wrong'] + given['wrong'] + (given['given back'] < without['given back'])
        finally:
            store.remove()
    sys.exit(1 if failed else 0)


main()
