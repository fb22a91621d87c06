#!/usr/bin/env python3
"""A rewind names the sessions of other agents that changed a file since: what Codex changed after the turn of another agent.

usage: rewind_other_agents.py PROGRAM AGENT
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', '..', '..')]

from agents import AGENTS
from recorded_store import RecordedStore

from support.program import Program

THREAD = '01a203d5-3d33-73f3-8acc-99da0d0{:05}'


def thread(home, cwd, number, prompt, path, change, time):
    """A session of Codex that changed one file."""
    sid = THREAD.format(number)
    folder = f'{home}/.codex/sessions/2026/11/22'
    os.makedirs(folder, exist_ok=True)
    rows = [('session_meta', {'id': sid, 'timestamp': time, 'cwd': cwd, 'source': 'cli', 'history_mode': 'paginated'}),
            ('event_msg', {'type': 'task_started', 'turn_id': 't'}),
            ('event_msg', {'type': 'item_completed', 'turn_id': 't',
                           'item': {'type': 'UserMessage', 'id': 'p', 'content': [{'type': 'text', 'text': prompt}]}}),
            ('event_msg', {'type': 'item_completed', 'turn_id': 't',
                           'item': {'type': 'FileChange', 'id': 'c', 'status': 'completed', 'changes': {path: change}}}),
            ('event_msg', {'type': 'task_complete', 'turn_id': 't'})]
    with open(f'{folder}/rollout-2026-11-22T16-17-16-{sid}.jsonl', 'w', encoding='utf-8') as f:
        for n, (kind, payload) in enumerate(rows):
            f.write(json.dumps({'timestamp': time, 'ordinal': n, 'type': kind, 'payload': payload}, separators=(',', ':')) + '\n')
    return sid


class Others:
    def __init__(self, program, store):
        self.store = store
        self.p = Program(program, store.home, {**store.environment(), 'REPRISE_PROC_DIR': store.trees})

    def turn(self):
        """The first recorded turn whose rewind restores or deletes a file that exists: (session, words, paths)."""
        for t in self.store.expected.turns:
            s = next(s for s in self.store.expected.sessions if s.id == t.session)
            self.store.fill()
            self.store.place(t.end, s.cwd)
            name = f'{self.store.agent.name}:{s.id}'
            points = json.loads(self.p.run('checkpoints', '--json', '--all', name).stdout or '[]')
            mine = [c for c in points if ' '.join(c.get('prompt', '').split()) == ' '.join(s.prompts[t.number].split())]
            words = ['--all', '-C', s.cwd, name, '--to', mine[0]['id']] if mine else []
            dry = self.p.run('rewind', '--json', '--dry-run', *words) if words else None
            answer = json.loads(dry.stdout) if dry and dry.stdout.strip() else {}
            paths = [f['path'] for f in answer.get('files', []) if f['action'] in ('restore', 'delete')]
            if len(paths) > 1:
                return s, words, paths
        sys.exit('no turn changes two files')

    def named(self, words):
        """What Codex changed; other sessions of the same agent did so, too, and have no system here."""
        answer = self.p.json('rewind', '--dry-run', *words)
        others = {f['path']: f['alsoChangedBy'] for f in answer['files'] if 'alsoChangedBy' in f}
        return {k: v['sessionId'] for k, v in others.items() if v.get('system') == 'codex'}, answer

    def check(self):
        p, home = self.p, self.store.home
        s, words, paths = self.turn()
        changed = {'type': 'update', 'unified_diff': '@@ -1 +1,2 @@\n a\n+b\n', 'move_path': None}
        thread(home, s.cwd, 1, 'Before the turn', paths[0], changed, '2020-01-01T00:00:00.000Z')
        thread(home, s.cwd, 2, 'Of another file', f'{s.cwd}/no-such-file', changed, '2030-01-01T00:00:00.000Z')
        got, _ = self.named(words)
        p.same('an earlier edit, and one of another file', got, {})
        later = thread(home, s.cwd, 3, 'Later by Codex', paths[0], changed, '2030-01-01T00:00:01.000Z')
        got, answer = self.named(words)
        p.same('the file that Codex changed', got, {paths[0]: later})
        about = next(f for f in answer['files'] if f['path'] == paths[0])['alsoChangedBy']
        p.same('its system and title', (about['system'], about['title']), ('codex', 'Later by Codex'))
        gone = thread(home, s.cwd, 4, 'Deleted by Codex', paths[0], {'type': 'delete', 'content': 'x'}, '2030-01-01T00:00:02.000Z')
        moved = thread(home, s.cwd, 5, 'Moved by Codex', f'{s.cwd}/from', {**changed, 'move_path': paths[1]}, '2030-01-01T00:00:03.000Z')
        got, answer = self.named(words)
        p.same('the newest, and the name that a file got', got, {paths[0]: gone, paths[1]: moved})
        text = p.run('rewind', '--dry-run', *words).stdout.decode()
        p.need('(also changed by Deleted by Codex of codex)' in text, f'in text: {text}')
        only = f'{self.store.agent.name}:{self.store.home}/.{self.store.agent.name}'
        p.same('not asked', self.named(['--store', only, *words])[0], {})
        done = p.run('rewind', '--apply', '--skip-refused', *words, '--plan', answer['plan'])
        p.same('the plan is the same with and without them', done.returncode, 0)


def main():
    store = RecordedStore(AGENTS[sys.argv[2]])
    try:
        others = Others(sys.argv[1], store)
        others.check()
    finally:
        store.remove()
    others.p.finish(7)


main()
