#!/usr/bin/env python3
"""Who wrote the lines of the recorded projects, as `reprise blame` has it from the edits that real agents recorded.

usage: recorded_edits.py PROGRAM AGENT [FIXTURES]

The project is as it was after a session. A line that is attributed to a turn must be in the project as it was recorded after
that turn, and not in the same file as it was before it. Each agent has a number of lines that must be attributed at least.
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', '..', '..')]

from agents import AGENTS
from recorded_store import FIXTURES, RecordedStore

from support.program import Program


def lines_of(tree, path=None):
    bodies = [body for name, (_, body) in tree.items() if path in (None, name)]
    return {line.rstrip(b'\r') for body in bodies for line in body.splitlines()}


class Edits:
    def __init__(self, program, store):
        self.store = store
        self.p = Program(program, store.home, {**store.environment(), 'REPRISE_PROC_DIR': store.trees})
        self.sessions = {s.id: s for s in store.expected.sessions}
        self.all = store.expected.turns + store.expected.edits
        self.turns = {}  # (session, prompt): (tree before, tree after)
        self.right = 0
        self.ids = {}
        for t in self.all:
            later = re.sub(r'\d+$', lambda m: str(int(m.group()) + 1), t.before)
            after = later if os.path.isdir(f'{store.trees}/{later}') else t.end
            key = t.session, self.sessions[t.session].prompts[t.number]
            self.turns[key] = None if key in self.turns else (t.before, after)  # None: it was typed twice

    def points(self, session):
        """The ids of a session's prompts that are still in its conversation."""
        if session not in self.ids:
            run = self.p.run('checkpoints', '--json', '--all', f'{self.store.agent.name}:{session}')
            self.ids[session] = {c['id'] for c in json.loads(run.stdout or '[]')}
        return self.ids[session]

    def check_line(self, s, path, line):
        turn = self.turns.get((line['session'], line['prompt']))
        if self.store.expected.turns and line.get('turn') not in self.points(line['session']):
            return  # the prompt was taken back and typed again
        text = line['text'].encode().rstrip(b'\r')
        if not turn or not text.strip():
            return
        before, after = map(self.store.tree, turn)
        self.p.need(text in lines_of(after), f'{s.name}: {path}: {text} is not what "{line["prompt"]}" left')
        self.p.need(text not in lines_of(before, path), f'{s.name}: {path}: {text} was there before "{line["prompt"]}"')
        self.right += 1

    def check_end(self, s, first, end):
        self.store.fill()
        self.store.place(end, s.cwd)
        start = self.store.tree(first)
        for path, state in self.store.tree(end).items():
            if start.get(path) == state or b'\0' in state[1] or os.path.islink(os.path.join(s.cwd, path)):
                continue
            run = self.p.run('blame', '--json', '-C', s.cwd, path)
            self.p.need(run.returncode == 0, f'{s.name}: blame {path}: {run.stderr!r}')
            for line in json.loads(run.stdout or '[]'):
                if line.get('session') in self.sessions:
                    self.check_line(s, path, line)
            touched = self.p.run('touched', '--json', '-C', s.cwd, path).stdout
            self.p.need(b'"session"' not in run.stdout or touched.strip(), f'{s.name}: nothing touched {path}')

    def check(self):
        ends = {}
        for t in sorted(self.all, key=lambda t: t.number):
            ends.setdefault((t.session, t.end), t.before)
        for (session, end), first in ends.items():
            self.check_end(self.sessions[session], first, end)
        agent = self.store.agent
        print(f'{agent.name}: {self.right} lines attributed to the turn that wrote them')
        least = self.store.expected.written or agent.written
        self.p.need(self.right >= least, f'fewer than {least} lines are attributed')


def main():
    store = RecordedStore(AGENTS[sys.argv[2]], sys.argv[3] if len(sys.argv) > 3 else FIXTURES)
    try:
        e = Edits(sys.argv[1], store)
        e.check()
    finally:
        store.remove()
    e.p.finish(e.right)


main()
