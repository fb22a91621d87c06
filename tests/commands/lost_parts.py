#!/usr/bin/env python3
"""What a resume leaves out although the person did not go back: doctor names it, and joins it when told to.

usage: lost_parts.py PROGRAM

Rows whose parent was never written, or is before a compaction above them (anthropics/claude-code#46603, #61188, #92849). A
repair changes the parent of these rows and nothing else, and an undo restores every byte.
"""
import json
import os
import subprocess
import sys

from resume_by_id import World, flat

NOWHERE = 'ffffffff-dead-4000-8000-000000000001'


def uuid(n):
    return f'{n:08}-0000-4000-8000-000000000000'


class Transcript:
    """A conversation that is written row by row, each an hour after the one before."""

    def __init__(self, world, number):
        self.id = f'aaaaaaaa-0000-4000-8000-{number:012}'
        self.world, self.rows, self.last = world, [], None
        self.path = f'{world.config}/projects/{flat(world.home)}/{self.id}.jsonl'

    def add(self, kind, parent=..., **more):
        row = {'parentUuid': self.last if parent is ... else parent, 'isSidechain': False, 'type': kind, 'uuid': uuid(len(self.rows) + 1),
               'timestamp': f'2026-03-{1 + len(self.rows) // 24 % 28:02}T{len(self.rows) % 24:02}:00:00.000Z', 'cwd': self.world.home,
               'sessionId': self.id, **more}
        self.rows.append(row)
        if not row['isSidechain']:
            self.last = row['uuid']
        return row['uuid']

    def user(self, text, parent=..., **more):
        return self.add('user', parent, message={'role': 'user', 'content': text}, **more)

    def answer(self, text, parent=..., **more):
        return self.add('assistant', parent, message={'role': 'assistant', 'id': f'm{len(self.rows)}', 'model': 'x',
                                                      'content': [{'type': 'text', 'text': text}]}, **more)

    def talk(self, parts, broken=()):
        """Prompts and answers; the parents of the broken prompts were never written."""
        for part in range(parts):
            self.user(f'p{part}', NOWHERE[:-2] + f'{part:02}' if part in broken else ...)
            self.answer(f'a{part}')
        return self

    def compact(self):
        self.add('system', None, subtype='compact_boundary', content='Conversation compacted', logicalParentUuid=self.last,
                 compactMetadata={'trigger': 'auto', 'preTokens': 1000})
        self.user('Summary', isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def agent(self):
        """A sub-agent's rows in the same file."""
        first = self.add('user', None, isSidechain=True, message={'role': 'user', 'content': 'look'})
        self.add('assistant', first, isSidechain=True, message={'role': 'assistant', 'id': f's{first}', 'content': [{'type': 'text', 'text': 'seen'}]})

    def save(self, end=b'\n'):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, 'wb') as f:
            f.write(b'\n'.join(json.dumps(row, separators=(',', ':')).encode() for row in self.rows) + end)
        os.utime(self.path, (1700000000,) * 2)
        return self.id


def bytes_of(path):
    with open(path, 'rb') as f:
        return f.read()


def texts(w, session):
    """What a resume restores, message by message."""
    out = []
    for m in json.loads(w.program.run('restore', session, '--json').stdout)['messages']:
        content = m['message']['content'] if 'message' in m else m['content']
        out.append(content if isinstance(content, str) else ''.join(b.get('text', '') for b in content))
    return out


def lost(w, session, *args):
    return [(f['line'], f['why'].split(':')[0], f.get('repair'), f['fixable'], f.get('fixed', False))
            for f in w.program.json('doctor', session, *args) if f['kind'] == 'lost-part']


def messages(w, session):
    return len(w.program.json('messages', session))


def says(w, session):
    """What info says, as text and as (messages restored, lost)."""
    info = w.program.json('info', session)
    line = [x for x in w.program.text('info', session).split('\n') if x.startswith('lost ')]
    return (line or [''])[0], info['messageCount'], info.get('lostMessageCount')


def joined(w, name, t, found, after, of=None):
    """found: (line, messages left out, the line it will follow); after: what a resume restores then; of: how many messages
    info calls the whole, where a summary takes the place of some."""
    before, now = bytes_of(t.path), texts(w, t.id)
    restored, info = messages(w, t.id), says(w, t.id)
    want = [(line, f'a resume leaves out {n} message{"" if n == 1 else "s"} before it', f'lets it follow line {to}') for line, n, to in found]
    w.program.same(f'{name}: found', lost(w, t.id), [(*f, False, False) for f in want])
    w.program.run('doctor', t.id, '--fix')
    w.program.same(f'{name}: not without being told to', bytes_of(t.path), before)
    w.program.same(f'{name}: shown first', lost(w, t.id, '--reconnect'), [(*f, True, False) for f in want])
    w.program.same(f'{name}: only shown', bytes_of(t.path), before)
    w.program.same(f'{name}: joined', lost(w, t.id, '--fix', '--reconnect'), [(*f, True, True) for f in want])
    w.program.same(f'{name}: a resume restores', texts(w, t.id), after)
    w.program.same(f'{name}: nothing is left to join', lost(w, t.id), [])
    whole = of or messages(w, t.id)
    w.program.same(f'{name}: info', info, (f'lost           a resume restores {restored} of {whole} messages: reprise doctor {t.id} --fix --reconnect',
                                           restored, whole - restored))
    w.program.same(f'{name}: info then', says(w, t.id), ('', messages(w, t.id), None))
    changed = [i for i, (a, b) in enumerate(zip(before.split(b'\n'), bytes_of(t.path).split(b'\n'))) if a != b]
    w.program.same(f'{name}: only these rows change', changed, sorted(f[0] - 1 for f in found))
    w.program.same(f'{name}: the time of the file', os.stat(t.path).st_mtime, 1700000000)
    w.program.run('undo')
    w.program.same(f'{name}: undone', (bytes_of(t.path), texts(w, t.id)), (before, now))


def check_missing(w):
    """The newest prompts follow a row that was never written, with rows of a sub-agent in between."""
    t = Transcript(w, 1)
    for i in range(3):
        t.user(f'old {i}')
        t.answer(f'old answer {i}')
    t.compact()
    t.user('after one')
    t.answer('after answer')
    t.agent()
    t.user('after two', NOWHERE)
    t.answer('newest answer')
    t.save()
    joined(w, 'a missing parent', t, [(13, 3, 10)], ['Conversation compacted', 'Summary', 'after one', 'after answer', 'after two', 'newest answer'])
    t.save(end=b'')
    before = bytes_of(t.path)
    w.program.run('doctor', t.id, '--fix', '--reconnect')
    w.program.same('a torn last line', bytes_of(t.path), before.replace(NOWHERE.encode(), uuid(10).encode()) + b'\n')


def check_twice(w):
    """Two parts are missing; both are joined by one change."""
    t = Transcript(w, 2).talk(3, broken=(1, 2))
    t.save()
    joined(w, 'two missing parents', t, [(5, 4, 4), (3, 2, 2)], ['p0', 'a0', 'p1', 'a1', 'p2', 'a2'])


def check_odd_ids(w):
    """Ids of other programs may hold what JSON escapes."""
    t = Transcript(w, 12).talk(2)
    odd = 'an "odd"\\ id\n'
    t.rows[1]['uuid'] = odd
    t.rows[2]['parentUuid'] = NOWHERE
    t.save()
    w.program.run('doctor', t.id, '--fix', '--reconnect')
    with open(t.path, encoding='utf-8') as f:
        w.program.same('the parent', json.loads(f.read().splitlines()[2])['parentUuid'], odd)
    w.program.run('undo')


def check_compacted(w):
    """The second compaction of a process lets the conversation go on before the first one."""
    t = Transcript(w, 3)
    t.user('p1')
    first = t.answer('a1')
    t.user('p2')
    t.answer('a2')
    t.compact()
    t.user('p3')
    t.answer('a3')
    t.compact()
    t.user('p4', first)
    t.answer('a4')
    t.save()
    joined(w, 'before a compaction', t, [(11, 6, 10)], ['Conversation compacted', 'Summary', 'p4', 'a4'], of=10)


def check_whole(w):
    """Nothing is lost: a person went back, nothing is above the row, the rows are a circle, or a compaction went well."""
    t = Transcript(w, 4)
    t.user('p1')
    first = t.answer('a1')
    t.user('p2')
    t.answer('a2')
    t.user('instead', first)
    t.answer('a3')
    t.save()
    w.program.same('a branch', (lost(w, t.id), says(w, t.id)), ([], ('', 4, None)))
    t = Transcript(w, 5)
    t.user('p1', NOWHERE)
    t.answer('a1')
    t.save()
    w.program.same('nothing above', lost(w, t.id), [])
    t = Transcript(w, 6)
    t.user('p1', uuid(2))
    t.answer('a1')
    t.save()
    w.program.same('a circle', lost(w, t.id), [])
    t = Transcript(w, 7)
    for part in range(3):
        t.user(f'p{part}')
        t.answer(f'a{part}')
        t.compact()
    t.user('p4')
    t.answer('a4')
    t.save()
    w.program.same('compactions', (lost(w, t.id), says(w, t.id)[0::2]), ([], ('', None)))
    run = w.program.run('doctor', '--fix', '--reconnect')
    w.program.need(run.returncode == 2 and b'needs the id of a session' in run.stderr, f'all sessions at once: {run}')


def check_in_use(w):
    """A session that an agent has open stays as it is."""
    t = Transcript(w, 8).talk(2, broken=(1,))
    t.save()
    before = bytes_of(t.path)
    with subprocess.Popen(['sleep', '600']) as agent:
        with open(f'/proc/{agent.pid}/stat', encoding='utf-8') as f:
            began = f.read().rpartition(')')[2].split()[19]
        os.makedirs(f'{w.config}/sessions', exist_ok=True)
        with open(f'{w.config}/sessions/{agent.pid}.json', 'w', encoding='utf-8') as f:
            json.dump({'pid': agent.pid, 'sessionId': t.id, 'cwd': w.home, 'procStart': began, 'status': 'idle'}, f)
        run = w.program.run('doctor', t.id, '--fix', '--reconnect')
        w.program.need(run.returncode != 0 and b'not repaired' in run.stdout and bytes_of(t.path) == before, f'in use: {run}')
        agent.kill()
    joined(w, 'after its agent has ended', t, [(3, 2, 2)], ['p0', 'a0', 'p1', 'a1'])


def check_links(w):
    """Through a folder that is a link as in its place; a transcript that is a link is in no list, and stays as it is."""
    t = Transcript(w, 10).talk(2, broken=(1,))
    t.save()
    folder, elsewhere = os.path.dirname(t.path), f'{w.top}/elsewhere'
    os.rename(folder, elsewhere)
    os.symlink(elsewhere, folder)
    joined(w, 'a linked folder', t, [(3, 2, 2)], ['p0', 'a0', 'p1', 'a1'])
    os.rename(t.path, f'{w.top}/moved')
    os.symlink(f'{w.top}/moved', t.path)
    before = bytes_of(t.path)
    run = w.program.run('doctor', t.id, '--fix', '--reconnect')
    w.program.need(run.returncode != 0 and b'a link is not followed' in run.stderr and bytes_of(t.path) == before, f'a linked transcript: {run}')
    os.remove(t.path)
    os.remove(folder)
    os.rename(elsewhere, folder)


def check_after(w):
    """What was added to a joined session, and its forks, go on from it."""
    t = Transcript(w, 9).talk(20, broken=(3, 8, 13, 18))
    t.save()
    every = [f'{who}{part}' for part in range(20) for who in 'pa']
    joined(w, 'four parts', t, [(37, 36, 36), (27, 26, 26), (17, 16, 16), (7, 6, 6)], every)
    w.program.run('doctor', t.id, '--fix', '--reconnect')
    row = {'type': 'user', 'message': {'role': 'user', 'content': 'and now'}}
    run = subprocess.run([w.program.path, 'append', t.id], env=w.program.env, cwd=w.home, input=json.dumps(row).encode() + b'\n',
                         capture_output=True, check=False)
    w.program.same('append', run.returncode, 0)
    fork = json.loads(w.program.run('fork', t.id, '--json').stdout)['sessionId']
    for name in t.id, fork:
        w.program.same('what follows', texts(w, name), [*every, 'and now', 'No response requested.'])


def main():
    w = World(sys.argv[1])
    for check in check_missing, check_twice, check_odd_ids, check_compacted, check_whole, check_in_use, check_links, check_after:
        check(w)
    w.program.finish(50)


main()
