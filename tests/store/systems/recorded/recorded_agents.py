#!/usr/bin/env python3
"""What reprise shows of the stores that real agents wrote, and what it gives back of their work.

usage: recorded_agents.py PROGRAM AGENT [FIXTURES [bare]]

bare: without the repositories of the projects, so no commit proves anything; `given_back_bare` is then the least number.

The list, titles, directories and prompts must be those of expected.json. Each turn of which the recording has the
project before it is rewound to, from the project as the session left it:

  given back   every file has the recorded bytes, and the mode unless the plan says that it is not recorded
  held back    some files stayed as they were, each of them named with a reason, or changed by a command of the shell
  wrong        a file has other bytes than both trees, or it stayed without a word: the test fails

A dry run changes nothing and names what an apply changes; undo gives every byte back; the store is never written.
"""
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', '..', '..')]

from agents import AGENTS
from recorded_store import FIXTURES, RecordedStore, manifest

from support.program import Program

# Rewinds to each turn, or to every second, third ... and to the last one.
STEP = 1 if 'REPRISE_LONG' in os.environ else int(os.environ.get('TURN_STEP', '1'))


class Recorded:
    def __init__(self, program, store):
        self.store = store
        self.p = Program(program, store.home, {**store.environment(), 'REPRISE_PROC_DIR': store.trees})
        self.right = set()
        self.wrong = set()
        self.turns = {'given back': 0, 'held back': 0, 'wrong': 0}

    def session_args(self, s):
        return ['--store', s.store.format(home=self.store.home)] if s.store else ['--all']

    def need(self, s, holds, otherwise):
        (self.right if holds else self.wrong).add(s.id)
        self.p.need(holds, f'{s.name}: {otherwise}')

    # ---- the list ----

    def prompts(self, s):
        """The prompts as `messages` prints them: the first line after '> ', the others indented."""
        run = self.p.run('messages', *self.session_args(s), f'{self.store.agent.name}:{s.id}')
        if run.returncode != 0:
            return [run.stderr.decode()]
        prompts, last = [], False
        for line in run.stdout.decode().split('\n'):
            if line.startswith('> ! '):
                last = False  # a command of the person's own
                continue
            if line.startswith('> ') and not last:
                prompts.append(line[2:])
            elif line.startswith(('> ', '  ')) and last:
                prompts[-1] += '\n' + line[2:]
            last = line.startswith('> ') or (last and line.startswith('  '))
        return prompts

    def check_row(self, s, row):
        self.need(s, (row or {}).get('kind') == ('command' if s.command else None), f'kind {row}')
        if not row:
            return self.need(s, not s.listed, 'is not in the list')
        shown = ' '.join(s.prompts[0].split()) if s.prompts else ''
        self.need(s, s.listed, 'is in the list')
        self.need(s, row['system'] == self.store.agent.name, f'system {row["system"]}')
        self.need(s, row.get('cwd') == s.cwd, f'cwd {row.get("cwd")}, recorded {s.cwd}')
        self.need(s, ' '.join(row.get('firstPrompt', '').split()) == shown, f'first prompt {row.get("firstPrompt")!r}, want {shown!r}')
        last = ' '.join((s.last or s.prompts[-1]).split()) if s.prompts else ''
        # one between the windows that a list reads is left out
        self.need(s, ' '.join(row.get('lastPrompt', last).split()) == last, f'last prompt {row.get("lastPrompt")!r}, want {last!r}')
        want = s.title or shown
        self.need(s, ' '.join(row['summary'].split()) == ' '.join(want.split()), f'title {row["summary"]!r}, want {want!r}')

    def check_prompts(self, s):
        clean = [' '.join(p.split()) for p in s.prompts]
        got = [' '.join(p.split()) for p in self.prompts(s)]
        self.need(s, got == clean, f'prompts {got}, recorded {clean}')

    def check_lists(self):
        before = self.store.contents()
        listed = {r['sessionId'] for r in self.p.json('list', '--all', missing=[])}
        rows = {r['sessionId']: r for r in self.p.json('list', '--all', '--all-kinds', missing=[])}
        hidden = {i for i, r in rows.items() if r.get('kind')}
        self.p.same('what only --all-kinds shows', hidden, set(rows) - listed)
        rows = {i: r for i, r in rows.items() if r.get('kind') in (None, 'command')}
        for s in self.store.expected.sessions:
            own = rows if not s.store else {r['sessionId']: r for r in self.p.json('list', *self.session_args(s), '--all')}
            self.check_row(s, own.get(s.id))
            self.check_prompts(s)
        known = {s.id for s in self.store.expected.sessions if s.listed and not s.store}
        self.p.same('sessions in the list', sorted(rows), sorted(known))
        lost = {s.id for s in self.store.expected.sessions if s.lost}
        for directory, ids, options in self.store.expected.orders:
            directory = self.store.paths.text(directory)
            rows = self.p.json('list', '--no-worktrees', '-C', directory, *options, missing=[])
            # most agents hide archived ones, and all of them hide those of the last two kinds
            got = [r['sessionId'] for r in rows if (not r.get('archived') or r['sessionId'] in ids) and
                   r['sessionId'] not in lost and r.get('kind') not in ('sub-agent', 'empty')]
            self.p.same(f'order in {directory} {options}', got, list(ids))
        self.p.need(self.store.contents() == before, 'reading changed the store')

    def check_forks(self):
        """Which session a fork was made from, where the agent records it."""
        for row in self.p.json('list', '--all') if self.store.agent.forks else []:
            with open(self.store.agent.forks(row['path']), encoding='utf-8') as f:
                m = re.search('"forkedFrom": ?(?:{"sessionId": ?)?"([^"]+)"', f.read())
            self.p.same(f'the parent of {row["sessionId"]}', row.get('parentId'), m.group(1) if m else None)

    def check_models(self):
        named = any(r.get('model') for r in self.p.json('list', '--all', '--all-kinds'))
        self.p.same('rows name their model', named, self.store.agent.models)

    # ---- the agent's own commands ----

    def check_commands(self):
        agent = self.store.agent
        rows = {r['sessionId']: r for r in self.p.json('list', '--all', '--all-kinds', missing=[])}
        for s in (s for s in self.store.expected.sessions if s.listed and not s.store):
            row = rows[s.id]
            for command, options in (agent.resume, ()), (agent.fork, ('--fork',)):
                if not command:
                    continue
                got = self.p.run('--all', '--print', '--json', *options, '--resume', f'{agent.name}:{s.id}')
                want = command.format(id=s.id, path=row['path'])
                answer = json.loads(got.stdout or '{}')
                self.need(s, ' '.join(answer.get('command', [])) == want, f'command {got.stdout} {got.stderr}, want {want}')
                self.need(s, answer.get('cwd') == s.cwd, f'the command runs in {answer.get("cwd")}')

    # ---- tokens ----

    def check_usage(self):
        """Every answer counts once, also if a fork copied it."""
        agent, answers = self.store.agent, {}
        for path in [p for kind in ('jsonl*', 'messages.json')
                     for p in glob.glob(f'{self.store.home}/.*/**/*.{kind}', recursive=True, include_hidden=True)]:
            if path.endswith('.zst'):
                data = subprocess.run(['zstd', '-dcq', path], check=True, capture_output=True).stdout
            else:
                with open(path, 'rb') as f:
                    data = f.read()
            if path.endswith('.messages.json'):
                rows = json.loads(data)['messages']
            else:
                rows = [json.loads(line) for line in data.splitlines() if line.strip()]
            if agent.answers and rows and rows[0].get('type', rows[0].get('kind')):
                answers.update(agent.answers(rows))
            elif agent.answer:
                answers.update(x for x in map(agent.answer, rows) if x)
        for path in glob.glob(f'{self.store.home}/{agent.documents[0]}') if agent.documents else ():
            with open(path, encoding='utf-8') as f:
                answers.update(agent.answers(json.load(f)[agent.documents[1]]))
        got = self.p.json('usage', '--all')
        self.p.same('answers', sum(r['answers'] for r in got), len(answers))
        kinds = ('input', 'output', 'cacheRead', 'cacheWrite') if agent.answers else ('output',)
        want = zip(*answers.values()) if agent.answers else [answers.values()]
        for kind, numbers in zip(kinds, want):
            self.p.same(f'{kind} tokens', sum(r[kind] for r in got), sum(numbers))

    def check_parents(self):
        """What a sub-agent used counts with its session, where it is known which one that is."""
        if not self.store.agent.parents:
            return
        helpers = {r['sessionId'] for r in self.p.json('list', '--all', '--all-kinds') if r.get('kind') == 'sub-agent'}
        counted = {r['session'] for r in self.p.json('usage', '--all', '--by', 'session', missing=[])}
        self.p.same('sub-agents that count by themselves', counted & helpers, set())

    # ---- sub-agents ----

    def check_subagents(self):
        """A person sees the same ones as a program."""
        for s in (s for s in self.store.expected.sessions if s.listed and not s.lost):
            of = (*self.session_args(s), f'{self.store.agent.name}:{s.id}')
            ids = self.p.json('subagents', *of, missing=[])
            if ids:
                shown = [line.split()[0] for line in self.p.text('subagents', *of).splitlines()]
                self.need(s, shown == ids, f'sub-agents {shown}, want {ids}')

    # ---- a rewind ----

    def point(self, s, number):
        """The checkpoint of a prompt or None, the reason why it has none, and whether commands of the shell ran since."""
        run = self.p.run('checkpoints', '--json', *self.session_args(s), f'{self.store.agent.name}:{s.id}')
        points = json.loads(run.stdout or '[]') if run.returncode == 0 else []
        want = ' '.join(s.prompts[number].split())
        same = [i for i, p in enumerate(s.prompts) if ' '.join(p.split()) == want].index(number)
        alike = [i for i, c in enumerate(points) if ' '.join(c.get('prompt', '').split()) == want]
        shell = any(c.get('shell') for c in points[(alike or [0])[0]:])
        mine = [points[i] for i in alike if points[i].get('kind') == 'turn']
        if same >= len(mine):
            return None, run.stderr.decode() or 'no point of this prompt', shell
        return mine[same], mine[same].get('why') or '', shell

    def answer(self, *args):
        run = self.p.run('rewind', '--json', *args)
        return (json.loads(run.stdout) if run.stdout.strip() else {}), run.stderr.decode()

    def is_said(self, now, want, row, dry):
        """Only the permissions differ, and the plan says that they are not recorded."""
        said = (row or {}).get('permissions') or any('permissions are not recorded' in n for n in dry.get('notes', []))
        return now and want and now[1] == want[1] and bool(said)

    def judge(self, t, cwd, now, dry, why, shell):
        """The word for a turn, and what is wrong with it."""
        start, want = self.store.tree(t.end), self.store.tree(t.before)
        named = {os.path.relpath(f['path'], cwd): f for f in dry.get('files', [])}
        word, faults = 'given back', []
        for path in sorted(set(start) | set(want) | set(now)):
            if now.get(path) == want.get(path) or self.is_said(now.get(path), want.get(path), named.get(path), dry):
                continue
            if now.get(path) != start.get(path):
                faults.append(f'{path} is neither as before nor as recorded')
            elif named.get(path, {}).get('action') == 'refused' and named[path].get('why'):
                word = 'held back'
            elif not dry.get('files') and why:
                word = 'held back'
            elif path not in named and (shell or any('command' in n or 'shell' in n for n in dry.get('notes', []))):
                word = 'held back'
            else:
                faults.append(f'{path} stays as it was without a reason: {named.get(path)}')
        return ('wrong' if faults else word), faults

    def rewind(self, s, t):
        store, cwd = self.store, s.cwd
        store.fill()
        store.place(t.end, cwd)
        point, why, shell = self.point(s, t.number)
        before, kept = manifest(cwd), store.contents()
        if not point:
            return self.judge(t, cwd, before, {}, why, False)
        ask = [*self.session_args(s), '-C', cwd, f'{store.agent.name}:{s.id}', '--to', point['id']]
        dry, error = self.answer(*ask, '--dry-run')
        self.p.need(manifest(cwd) == before, f'{s.name}: a dry run changed the project')
        self.p.need(store.contents() == kept, f'{s.name}: a dry run changed the store')
        if not dry.get('canRewind'):
            return self.judge(t, cwd, before, {}, dry.get('error') or error or why, False)
        done, error = self.answer(*ask, '--apply', '--skip-refused', '--plan', dry['plan'])
        now = manifest(cwd)
        changes = {os.path.relpath(f, cwd) for f in dry['filesChanged']}
        did = {p for p in set(now) | set(before) if now.get(p) != before.get(p)}
        self.p.need(did == changes, f'{s.name} {t.number}: the dry run named {sorted(changes)}, apply changed {sorted(did)}: {error}')
        word, faults = self.judge(t, cwd, now, dry, why, shell)
        if did:
            undo = self.p.run('undo', '--json', *([done['undo']] if done.get('undo') else []))
            self.p.need(undo.returncode == 0, f'{s.name} {t.number}: undo: {undo.stderr!r}')
            self.p.need(manifest(cwd) == before, f'{s.name} {t.number}: undo did not give everything back')
        return word, faults

    def check_rewinds(self):
        by_id = {s.id: s for s in self.store.expected.sessions}
        turns = self.store.expected.turns
        for t in turns[:-1:STEP] + turns[-1:]:
            s = by_id[t.session]
            word, faults = self.rewind(s, t)
            self.turns[word] += 1
            self.p.need(word != 'wrong', f'{s.name}, prompt {t.number}: {faults}')

    def report(self):
        agent = self.store.agent
        print(f'{agent.name}: {len(self.right - self.wrong)} of {len(self.store.expected.sessions)} sessions right; turns: ' +
              ', '.join(f'{n} {word}' for word, n in self.turns.items()))
        left_out = len(self.store.expected.turns) - sum(self.turns.values())
        least = self.store.least_given_back() - left_out
        self.p.need(self.turns['given back'] >= least, f'fewer than {least} turns given back')


def main():
    bare = sys.argv[4:] == ['bare']
    store = RecordedStore(AGENTS[sys.argv[2]], sys.argv[3] if len(sys.argv) > 3 else FIXTURES, bare)
    try:
        store.fill()
        r = Recorded(sys.argv[1], store)
        r.check_lists()
        if store.agent.resume:
            r.check_commands()
        r.check_forks()
        r.check_models()
        if store.agent.answer or store.agent.answers:
            r.check_usage()
        r.check_parents()
        r.check_subagents()
        r.check_rewinds()
        r.report()
    finally:
        store.remove()
    r.p.finish(4 * len(store.expected.sessions))


if __name__ == '__main__':
    main()
