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


def pi_log(w, parts):
    """A log of pi, and where it is; a message is every row but the first one."""
    rows = [{'type': 'session', 'version': 3, 'id': 'aaaaaaaa-0000-4000-8000-00000000000b', 'timestamp': '2026-03-01T00:00:00.000Z', 'cwd': w.home}]
    for k in range(2 * parts):
        text = f'{"pa"[k % 2]}{k // 2}'
        rows.append({'type': 'message', 'id': f'{k:08x}', 'parentId': f'{k - 1:08x}' if k else None, 'timestamp': '2026-03-01T00:00:00.000Z',
                     'message': {'role': ('user', 'assistant')[k % 2], 'content': [{'type': 'text', 'text': text}]}})
    folder = '--' + w.home.strip('/').replace('/', '-') + '--'
    return f'{w.home}/.pi/agent/sessions/{folder}/2026-03-01T00-00-00-000Z_{rows[0]["id"]}.jsonl', rows


def qwen_log(w, parts):
    sid = 'aaaaaaaa-0000-4000-8000-00000000000c'
    rows = [{'uuid': uuid(k), 'parentUuid': uuid(k - 1) if k else None, 'sessionId': sid, 'timestamp': '2026-03-01T00:00:00.000Z', 'cwd': w.home,
             'type': ('user', 'assistant')[k % 2], 'message': {'role': ('user', 'model')[k % 2], 'parts': [{'text': f'{"pa"[k % 2]}{k // 2}'}]}}
            for k in range(2 * parts)]
    return f'{w.home}/.qwen/projects/{flat(w.home)}/chats/{sid}.jsonl', rows


def said(w, sid):
    """The same for agents whose conversation `messages` prints."""
    return [''.join(part['text'] for part in m['message'].get('content') or m['message']['parts']) for m in w.program.json('messages', sid)]


def check_others(w):
    """pi and Qwen Code follow parents, too, and stop where a row is gone: from how many messages on the rest is left out, and by which
    of these rows the parts are joined."""
    for agent, make, key, head in ('pi', pi_log, 'parentId', 1), ('qwen', qwen_log, 'parentUuid', 0):
        path, rows = make(w, 6)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        sid = f'{agent}:{os.path.basename(path)[-42:-6]}'
        lines = [json.dumps(r, separators=(',', ':')).encode() + b'\n' for r in rows]
        every = [f'{who}{part}' for part in range(6) for who in 'pa']
        for gone, form in (([4], b''), ([4], b'\0' * 50 + b'\n'), ([4], b'{"ty\n'), ([9], b''), ([2, 3, 8], b''), ([3, 6, 9], b''), ([0], b''), ([11], b''), ([], b'')):
            what = f'{agent}: {gone} {form[:4]}'
            bad = [form if k - head in gone else line for k, line in enumerate(lines)]
            with open(path, 'wb') as f:
                f.write(b''.join(bad))
            os.utime(path, (1795770000,) * 2)
            # A row whose parent is gone, unless nothing was said before it.
            joints = [k for k in range(12) if k not in gone and k - 1 in gone and any(j not in gone for j in range(k))]
            top = joints[-1] if joints else min(set(range(12)) - set(gone))
            kept = [t for k, t in enumerate(every) if k not in gone]
            found = [f for f in w.program.json('doctor', sid) if f['kind'] == 'lost-part']
            w.program.same(f'{what}: found', len(found), len(joints))
            w.program.need(all(f['repair'].startswith('lets it follow line ') and 'the row it follows is not in the file' in f['why'] for f in found), f'{what}: {found}')
            info = w.program.json('info', sid)
            w.program.same(f'{what}: a resume restores', said(w, sid), [t for t in every[top:] if t in kept])
            w.program.same(f'{what}: info', info.get('lostMessageCount'), len([t for t in every[:top] if t in kept]) if joints else None)
            run = w.program.run('doctor', sid, '--fix', '--reconnect')
            w.program.same(f'{what}: joined', run.returncode, 0)
            w.program.same(f'{what}: all of it', said(w, sid), kept if joints else every[top:] if gone == [0] else kept)
            left = [k for k in range(12) if k not in gone]
            want = [{**rows[k + head], key: rows[left[i - 1] + head][key.replace('parentId', 'id').replace('parentUuid', 'uuid')]} if k in joints else rows[k + head]
                    for i, k in enumerate(left)]
            with open(path, 'rb') as f:
                now = [json.loads(x) for x in f.read().splitlines() if x.startswith(b'{') and x.endswith(b'}')]
            w.program.same(f'{what}: only parents differ', now[head:], want)
            w.program.same(f'{what}: healthy', [f['kind'] for f in w.program.json('doctor', sid) if f['kind'] in ('lost-part', 'nul-bytes', 'broken-line')], [])
            w.program.run('undo', '--all')
            w.program.run('undo', '--all')
            w.program.same(f'{what}: undone', bytes_of(path), b''.join(bad))
        # What was said before a compaction is not missed.
        mark = {'type': 'compaction', 'summary': 's', 'firstKeptEntryId': rows[-1].get('id')} if agent == 'pi' else {'type': 'system', 'subtype': 'chat_compression'}
        own = {'uuid': uuid(50), 'parentUuid': rows[-1].get('uuid'), 'sessionId': sid[5:], 'cwd': w.home} if agent == 'qwen' else {'id': '0000ffff', 'parentId': rows[-1]['id']}
        with open(path, 'wb') as f:
            f.write(b''.join(line for k, line in enumerate(lines) if k - head != 4) + json.dumps({**own, **mark, 'timestamp': '2026-03-01T00:00:00.000Z'}, separators=(',', ':')).encode() + b'\n')
        w.program.same(f'{agent}: before a compaction', [f['kind'] for f in w.program.json('doctor', sid) if f['kind'] == 'lost-part'], [])
        # A row above its own parent would be joined to its child.
        swapped = rows[:head] + [{**rows[head + 1], key: rows[head].get('id', rows[head].get('uuid'))}, {**rows[head], key: 'ffffffff' if agent == 'pi' else uuid(99)}]
        with open(path, 'wb') as f:
            f.writelines(json.dumps(r, separators=(',', ':')).encode() + b'\n' for r in swapped)
        w.program.same(f'{agent}: no circle', [f['kind'] for f in w.program.json('doctor', sid) if f['kind'] == 'lost-part'], [])
        os.remove(path)


def main():
    w = World(sys.argv[1])
    for check in check_missing, check_twice, check_odd_ids, check_compacted, check_whole, check_in_use, check_links, check_after, check_others:
        check(w)
    w.program.finish(50)


main()
