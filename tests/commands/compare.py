#!/usr/bin/env python3
"""Two sessions next to each other: forks of one conversation, two attempts in two worktrees, and two agents.

usage: compare.py PROGRAM
"""
import json
import os
import sys

from resume_by_id import World, flat
from support import agent_sessions

FIRST, FORK, OTHER = (f'{n}{n}{n}{n}{n}{n}{n}{n}-0000-4000-8000-000000000000' for n in (1, 2, 3))
BEFORE = 'one\ntwo\nthree\n'


class Session:
    """A transcript of Claude Code."""

    def __init__(self, cwd, sid, rows=()):
        self.cwd, self.sid, self.minute = cwd, sid, 0
        self.rows = [dict(row, sessionId=sid) for row in rows]

    def row(self, kind, message, **more):
        n = len(self.rows) + 1
        self.rows.append({'parentUuid': self.rows[-1]['uuid'] if self.rows else None, 'isSidechain': False, 'type': kind,
                          'uuid': f'{self.sid[:4]}{n:04}-0000-4000-8000-000000000000', 'sessionId': self.sid, 'cwd': self.cwd,
                          'timestamp': f'2026-03-01T10:{n:02}:{self.sid[0]}0.000Z', 'message': message, **more})

    def prompt(self, text):
        self.row('user', {'role': 'user', 'content': text})

    def call(self, name, args, result):
        call = f'toolu_{self.sid[:4]}_{len(self.rows)}'
        self.row('assistant', {'id': f'msg_{call}', 'role': 'assistant', 'model': 'claude-sonnet-4', 'usage': {'input_tokens': 100, 'output_tokens': 20},
                               'content': [{'type': 'tool_use', 'id': call, 'name': name, 'input': args}]})
        self.row('user', {'role': 'user', 'content': [{'tool_use_id': call, 'type': 'tool_result', 'content': 'Done'}]},
                 toolUseResult=result)

    def write(self, name, text):
        path = f'{self.cwd}/{name}'
        self.call('Write', {'file_path': path, 'content': text},
                  {'type': 'create', 'filePath': path, 'content': text, 'structuredPatch': [], 'originalFile': None})

    def edit(self, name, old, new, before):
        path = f'{self.cwd}/{name}'
        self.call('Edit', {'file_path': path, 'old_string': old, 'new_string': new},
                  {'filePath': path, 'oldString': old, 'newString': new, 'originalFile': before, 'structuredPatch': []})

    def save(self, config):
        path = f'{config}/projects/{flat(self.cwd)}/{self.sid}.jsonl'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.writelines(json.dumps(row) + '\n' for row in self.rows)


def claude_worlds(w):
    """A session, a fork of it, and an attempt at the same task in another worktree."""
    first = Session(f'{w.home}/ws', FIRST)
    first.prompt('set it up')
    first.write('a.txt', BEFORE)
    first.write('same.txt', 'the same\n')
    common = list(first.rows)
    first.prompt('say TWO\nsecond line')
    first.edit('a.txt', 'two', 'TWO', BEFORE)
    first.edit('blind.txt', 'x', 'y', None)
    fork = Session(f'{w.home}/ws', FORK, common)
    fork.prompt('say zwei')
    fork.edit('a.txt', 'two', 'zwei', BEFORE)
    fork.edit('blind.txt', 'x', 'z', None)
    fork.write('new.txt', 'new\n')
    fork.prompt('thanks')
    other = Session(f'{w.home}/tree', OTHER)
    other.prompt('set it up')
    other.write('a.txt', 'one\n')
    for session in first, fork, other:
        session.save(w.config)
    return len(common)


def check_forks(w, common):
    p, got = w.program, w.program.json('compare', FIRST[:8], FORK[:8])
    p.same('common', (got['commonMessages'], got['a']['commonPrompts'], got['b']['commonPrompts']), (common, 1, 1))
    p.same('prompts', [got[k]['prompts'] for k in 'ab'],
           [['set it up', 'say TWO\nsecond line'], ['set it up', 'say zwei', 'thanks']])
    p.same('tokens', [got[k]['tokens'] for k in 'ab'], [480, 600])
    files = {f['path']: f for f in got['files']}
    p.same('files', {k: f.get('result') for k, f in files.items()},
           {'a.txt': 'differs', 'same.txt': 'same', 'blind.txt': 'not known', 'new.txt': None})
    p.same('a.txt', [files['a.txt'][k] for k in ('insertions', 'deletions')], [1, 1])
    p.need('a' not in files['new.txt'] and files['new.txt']['b']['added'] == 1, f'new.txt: {files["new.txt"]}')

    text = p.text('compare', FIRST[:8], FORK[:8]).splitlines()
    for line in (f'{common} common messages, up to prompt 1: set it up', 'A 2: say TWO', 'B 2: say zwei', 'B 3: thanks',
                 '--- a/a.txt', '+++ b/a.txt', '@@ -1,3 +1,3 @@', '-TWO', '+zwei'):
        p.need(line in text, f'no line {line!r}: {text}')
    p.need('A 1: set it up' not in text, f'a common prompt is repeated: {text}')


def check_worktrees(w):
    """The same prompt at another time is another message; the file is the same one below each directory."""
    p, got = w.program, w.program.json('compare', FIRST[:8], OTHER[:8])
    p.same('worktrees', got['commonMessages'], 0)
    p.same('a.txt of both', [f.get('result') for f in got['files'] if f['path'] == 'a.txt'], ['differs'])
    p.need('no common message' in p.text('compare', OTHER, FIRST), 'it is not said')
    p.same('with itself', {f['result'] for f in p.json('compare', FORK, FORK)['files']}, {'same', 'not known'})


def check_agents(w):
    """The same task in other agents, which may record neither edits nor tokens."""
    p = w.program
    for number, agent in enumerate(('codex', 'pi', 'gemini'), 1):
        getattr(agent_sessions, agent)(w.home, f'{w.home}/ws', number, 1_772_000_000, 'set it up', {})
        got = p.json('compare', FIRST, agent_sessions.uuid(number))
        p.same(agent, (got['commonMessages'], got['b']['system'], got['b']['prompts']), (0, agent, ['set it up']))
        p.need(all('b' not in f for f in got['files']), f'{agent}: {got["files"]}')
    p.same('unknown', p.run('compare', FIRST, 'nothing').returncode, 3)
    p.same('one', p.run('compare', FIRST).returncode, 2)


def check_own_fork(w):
    """A fork that reprise makes has messages with ids of their own."""
    p = w.program
    done = p.json('fork', FORK)
    got = p.json('compare', FORK, done['sessionId'])
    p.same('own fork', (got['commonMessages'], got['a']['messages'] - got['b']['messages']), (got['a']['messages'], 0))


def main():
    w = World(sys.argv[1])
    common = claude_worlds(w)
    check_forks(w, common)
    check_worktrees(w)
    check_agents(w)
    check_own_fork(w)
    w.program.finish(25)


main()
