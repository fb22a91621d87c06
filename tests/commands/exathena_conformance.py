#!/usr/bin/env python3
"""ExAthena: the conformance list (E1 to E30) and what careful readers do with bad input (C4), through the program.

usage: exathena.py PROGRAM

exathena/v0.19 was written by the real library, with the states that its own rewinds left; exathena/damaged has logs
damaged by hand, and the results of its rewinds.
"""
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from support.program import Program, snapshot

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')
RECORDED_AT = b'/home/dev/proj'
SID = 'deploy-123'
U, FIRST = 'IgM1skz1JNE', 'xgYcUd3il1A'
# Without leases (docs/architecture.md, "Portability") no conversation is cut: then only files go back.
PORTABLE = 'REPRISE_PORTABLE' in os.environ
BOTH = 'code' if PORTABLE else 'both'


def sha(path):
    return hashlib.sha256(path.encode()).hexdigest()


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def write(path, body):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(body)


def stage(name, to):
    """A recorded project, copied to a directory of its own."""
    shutil.copytree(f'{FIXTURES}/exathena/v0.19/{name}', to)
    for folder, _, files in os.walk(to):
        os.chmod(folder, 0o755)
        for file in files:
            path = f'{folder}/{file}'
            os.chmod(path, 0o644)
            if file == '.keep_empty_dir':
                os.unlink(path)
            elif file.endswith('.jsonl') or file == 'path':
                write(path, read(path).replace(RECORDED_AT, to.encode()))
    for saved in os.listdir(f'{to}/.exathena/file-history/{SID}'):
        folder = f'{to}/.exathena/file-history/{SID}'
        os.rename(f'{folder}/{saved}', f'{folder}/{sha(read(f"{folder}/{saved}/path").decode())}')
    return to


def tree(top):
    """Names, modes and bytes, with the paths of the project replaced."""
    seen = {}
    for path, (mode, _, text) in snapshot(top).items():
        name = os.path.relpath(path, top)
        for part in re.findall('[0-9a-f]{64}', name):
            saved = os.path.join(top, name[:name.index(part)], part, 'path')
            owner = read(saved).decode().replace(top, 'WS') if os.path.exists(saved) else '?'
            name = name.replace(part, owner)
        seen[name] = (mode, text.replace(top.encode(), b'WS') if text is not None else None)
    return seen


class Case:
    """One staged project and the program run in it."""
    count = 0

    def __init__(self, test, name='before'):
        Case.count += 1
        self.test, self.ws = test, stage(name, f'{test.home}/w{Case.count}')
        self.store = f'{self.ws}/.exathena'

    def args(self, command, *more):
        return (command, '--store', f'exathena:{self.store}', '--all', *more)

    def json(self, command, *more, **kind):
        return self.test.json(command, *self.args(command, *more)[1:], **kind)

    def run(self, command, *more, **kind):
        return self.test.run(*self.args(command, *more), **kind)

    def feed(self, text, command, *more):
        return subprocess.run([self.test.path, *self.args(command, *more)], env=self.test.env, cwd=self.test.home,
                              input=text, capture_output=True, timeout=300, check=False)

    def log(self, sid=SID):
        return f'{self.store}/sessions/{sid}.jsonl'

    def saved(self, path):
        return f'{self.store}/file-history/{SID}/{sha(f"{self.ws}/{path}")}'

    def rewind(self, to=U, mode='both', *more, sid=SID):
        return self.run('rewind', sid, '--to', to, '--mode', mode, '--json', *more)


def reading(t):
    c = Case(t)
    want = json.loads(read(f'{FIXTURES}/exathena/v0.19/expected.json'))
    rows = {r['sessionId']: r for r in c.json('list')}
    t.same('E8: the sessions', sorted(rows), sorted(want['sessions']))
    t.same('E9: a stable order', [r['sessionId'] for r in c.json('list')], list(rows))
    for sid, facts in want['sessions'].items():
        said = c.json('messages', sid)
        t.same(f'E6: {sid}: messages', len(said), facts['resume_messages_v0.19'])
        t.same(f'E6: {sid}: as v0.4', len(c.json('messages', sid, '--spoken')), facts['resume_messages_v0.4'])
        t.same(f'E10: {sid}: first prompt', rows[sid].get('firstPrompt'), facts['first_user'])
        t.same(f'E3: {sid}: events', c.json('rewind', sid, '--to', facts['uuids'][0], '--mode', 'conversation')
               ['conversation'], {'dropped': facts['events'], 'kept': 0, 'how': 'truncate'})
        t.same(f'E7: {sid}: roles', {m['type'] for m in said} <= {'user', 'assistant', 'tool', 'system'}, True)
    said = [m['uuid'] for m in c.json('messages', SID)]
    spoken = [m['uuid'] for m in c.json('messages', SID, '--spoken')]
    t.same('E6: a page of what was spoken', [m['uuid'] for m in c.json('messages', SID, '--spoken', '--limit', '3',
                                                                      '--offset', '4')], spoken[4:7])
    for n in 1, 5, len(said), 1000:
        t.same(f'E12: the last {n}', [m['uuid'] for m in c.json('messages', SID, '--tail', str(n))], said[-n:])
    t.same('E12: of what was spoken', [m['uuid'] for m in c.json('messages', SID, '--spoken', '--tail', '2')], spoken[-2:])
    t.same('E12: the last of a page', [m['uuid'] for m in c.json('messages', SID, '--limit', '5', '--tail', '2')], said[3:5])
    t.same('E12: none is no number', c.run('messages', SID, '--tail', '0').returncode, 2)
    t.same('E10: times', [rows[SID][k] for k in ('createdAt', 'lastActivity')], [1795292519306, 1795292519423])
    t.same('E2: restored', len(c.json('restore', SID)['messages']), 18)
    shutil.copytree(f'{FIXTURES}/exathena/damaged/sidechain-example/sidechains', f'{c.store}/sessions/{SID}/sidechains')
    t.same('E11: sub-agents', c.json('subagents', SID), ['sub_1', 'sub_2'])
    t.same('E11: of one', [m['type'] for m in c.json('messages', SID, '--agent', 'sub_1')], ['user', 'assistant'])
    t.same('E8: no session of its own', len(c.json('list')), 4)
    for bad in ('../deploy-123', 'sub/dir', '..', '', '-x', 'deploy-123/'):
        t.need(c.run('info', '--', bad, '--json').returncode in (2, 3), f'E8: id {bad!r}')


def windows(t):
    """E4, E5, E7, E10 on a log that is larger than both windows."""
    c = Case(t)
    lines = [{'ts': '2026-01-01T00:00:00Z', 'event': 'session_start', 'data': {}, 'uuid': 'a' * 11},
             {'uuid': 'b' * 11, 'data': {'message': {'role': 'user', 'content': 'first'}}, 'event': 'odd', 'x': 1,
              'ts': '2026-01-01T00:00:01.5Z'}]
    lines += [{'event': 'note', 'data': {'message': 'none', 'n': 1.50, 'text': 'x' * 3000}, 'uuid': f'n{i:010}',
               'ts': f'2026-01-02T00:{i // 60:02}:{i % 60:02}.123456789Z'} for i in range(80)]
    lines += [{'data': {'message': {'content': 'last', 'role': 'user'}}, 'event': 'user_message', 'uuid': 'c' * 11,
               'ts': '2026-01-03T00:00:00.25Z'}]
    body = b''.join(json.dumps(line, separators=(', ', ' : ')).encode() + b'\n' for line in lines)
    write(c.log('large'), body)
    row = next(r for r in c.json('list') if r['sessionId'] == 'large')
    t.same('E10: prompts', (row['firstPrompt'], row['lastPrompt']), ('first', 'last'))
    t.same('E2: times', (row['createdAt'], row['lastActivity']), (1767225600000, 1767398400250))
    t.same('E7: only what is said', [m['message']['content'] for m in c.json('messages', 'large')], ['first', 'last'])
    fork = c.json('fork', 'large', '--at', 'n0000000079')
    t.same('E4: raw lines', read(fork['path']), body[:body.rindex(b'{"data"')])
    t.need(re.fullmatch('[A-Za-z0-9_-]{22}', fork['sessionId']), f'E1: {fork}')


def no_cut(t):
    for mode, to in ('both', U), ('conversation', U), ('conversation', FIRST):
        c = Case(t)
        before = {p: (m, b) for p, (m, _, b) in snapshot(c.ws).items()}
        run = c.rewind(to, mode, '--apply')
        t.same(f'{mode} without leases: refused', (run.returncode, b'there is no lease' in run.stderr), (4, True))
        t.same(f'{mode} without leases: nothing changed', {p: (m, b) for p, (m, _, b) in snapshot(c.ws).items()}, before)


def rewinding(t):
    for mode, after in (('both', 'after-code_and_history'), ('conversation', 'after-history_only')):
        c, want = Case(t), stage(after, f'{t.home}/{after}')
        os.chmod(c.log(), 0o640)
        os.chmod(f'{want}/.exathena/sessions/{SID}.jsonl', 0o640)
        before = snapshot(c.ws)
        dry = json.loads(c.rewind(U, mode).stdout)
        t.same(f'{mode}: a dry run changes nothing', snapshot(c.ws) == before, True)
        done = json.loads(c.rewind(U, mode, '--apply', '--plan', dry['plan']).stdout)
        t.same(f'E30: {mode}', [done[k] for k in ('filesChanged', 'conversation')],
               [dry[k] for k in ('filesChanged', 'conversation')])
        t.same(f'E13: {mode}: dropped', done['conversation'], {'dropped': 10, 'kept': 9, 'how': 'truncate'})
        t.same(f'E21: {mode}: in the words of the library', [done[k] for k in ('files_restored', 'events_dropped')],
               [3 if mode == 'both' else 0, 10])
        t.same(f'E20, E21: {mode}: files', len(done['filesChanged']), 3 if mode == 'both' else 0)
        t.same(f'E13, E19, E20, E21, E23: {mode}: the library\'s end state', tree(c.ws), tree(want))
        if mode == 'both':
            t.need(any('first edit' in n for n in done['notes']), f'the rule is said: {done}')
            again = json.loads(c.rewind('vMpnKLh4neE', 'both', '--apply').stdout)
            t.same('E27: again', (again['filesChanged'], again['conversation']['kept']), ([], 8))
            c.json('undo')
        t.same(f'{mode}: undo', c.run('undo').returncode, 0)
        t.same(f'{mode}: taken back', {p: (m, b) for p, (m, _, b) in snapshot(c.ws).items()},
               {p: (m, b) for p, (m, _, b) in before.items()})
        shutil.rmtree(want)
    c = Case(t)
    before = snapshot(c.ws)
    run = c.rewind('nosuchevent', 'both', '--apply')
    t.same('E14: no such event', (run.returncode, json.loads(run.stdout)['canRewind']), (3, False))
    t.same('E14: nothing changed', snapshot(c.ws) == before, True)
    for word, how in ('code_and_history', 3), ('history_only', 0):
        t.same(f'E29: {word}', len(json.loads(c.rewind(U, word).stdout)['filesChanged']), how)
    t.same('E29: needs a point', c.run('rewind', SID, '--mode', 'both', '--json').returncode, 2)
    t.same('E16: all of it', c.rewind(FIRST, 'conversation', '--apply').returncode, 0)
    t.same('E16: empty', read(c.log()), b'')
    t.need(SID in [r['sessionId'] for r in c.json('list')], 'E16: still listed')


def cutting_damaged(t):
    points = {'d1-garbage-and-partial': ('ddddddddddd', 2), 'd2-no-final-newline': ('zzzzzzzzzzz', 1),
              'd3-duplicate-uuid': ('bbbbbbbbbbb', 3)}
    for sid, (to, dropped) in points.items():
        c = Case(t)
        write(c.log(sid), read(f'{FIXTURES}/exathena/damaged/before/sessions/{sid}.jsonl'))
        done = json.loads(c.rewind(to, 'conversation', '--apply', sid=sid).stdout)
        t.same(f'E15, E17, E18: {sid}: dropped', done['conversation']['dropped'], dropped)
        t.same(f'E17, E18: {sid}', read(c.log(sid)), read(f'{FIXTURES}/exathena/damaged/after/sessions/{sid}.jsonl'))
        t.same(f'{sid}: undo', c.run('undo').returncode, 0)
        t.same(f'{sid}: back', read(c.log(sid)), read(f'{FIXTURES}/exathena/damaged/before/sessions/{sid}.jsonl'))


def saved_files(t):
    c = Case(t)
    for v in (2, 10):
        write(f'{c.saved("config.txt")}/{v}.bin', b'version %d\n' % v)
    t.same('what the log does not tell is held back', c.rewind(U, 'code', '--apply').returncode, 4)
    done = json.loads(c.rewind(U, 'code', '--apply', '--overwrite-edited').stdout)
    t.same('E22: version 0', read(f'{c.ws}/config.txt'), read(f'{c.saved("config.txt")}/0.bin'))
    t.same('E23: tombstone', (os.path.exists(f'{c.ws}/lib/new/created.ex'), os.path.isdir(f'{c.ws}/lib/new')),
           (False, True))
    t.same('E21: all three', len(done['filesChanged']), 3)

    c = Case(t)
    os.unlink(f'{c.saved("config.txt")}/path')
    os.unlink(f'{c.saved("lib/app.ex")}/0.bin')
    done = json.loads(c.rewind(U, 'code', '--apply').stdout)
    t.same('E24: the third', [os.path.basename(p) for p in done['filesChanged']], ['created.ex'])
    t.need(any('2 saved files' in n for n in done['notes']), f'E24: said: {done}')

    c = Case(t)
    write(f'{c.saved("config.txt")}/path', f'{c.ws}/other.txt'.encode())
    before = snapshot(c.ws)
    run = c.rewind(U, BOTH, '--apply')
    t.same('E25: refused', run.returncode, 4)
    t.same('E25: nothing changed', snapshot(c.ws) == before, True)
    t.same('E25: the rest', len(json.loads(c.rewind(U, BOTH, '--apply', '--skip-refused').stdout)['filesChanged']), 2)


def inferring(t):
    c = Case(t)
    done = json.loads(c.rewind(U, 'code', '--apply', '--inferred').stdout)
    t.need(any(n.startswith('reconstructed') for n in done['notes']), f'A7: labelled: {done}')
    t.same('A7: as it was at the event', read(f'{c.ws}/config.txt'), b'v1 <edited> & "quoted"\n')
    t.same('A7: a created file stays', read(f'{c.ws}/lib/new/created.ex'), read(f'{c.saved("lib/new/created.ex")}/1.bin'))


def writing(t):
    c = Case(t)
    made = c.test.json('create', f'exathena:{c.store}')
    t.need(re.fullmatch('[A-Za-z0-9_-]{22}', made['sessionId']), f'E1: {made}')
    first = json.loads(read(made['path']))
    t.need(re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z', first['ts']), f'E2: {first}')
    t.need(re.fullmatch('[A-Za-z0-9_-]{11}', first['uuid']), f'E1: {first}')
    t.same('a start', (list(first), first['event'], first['data']['resumed']),
           (['data', 'ts', 'event', 'uuid'], 'session_start', False))
    for _ in range(150):
        drawn = c.test.json('create', f'exathena:{c.store}')['sessionId']
        whole = base64.urlsafe_b64encode(base64.urlsafe_b64decode(drawn + '==')).decode().rstrip('=')
        if drawn != whole or drawn.startswith('-'):
            t.same('E1: drawn ids are 16 bytes, and no option', drawn, whole)
    dashed = '-' + 'A' * 21
    write(c.log(dashed), read(made['path']))
    t.need(dashed in [r['sessionId'] for r in c.json('list')], 'E1: the library draws ids that begin so, too')
    t.same('E1: and they can be said', c.run('info', '--', dashed).returncode, 0)
    t.same('no second one', c.test.run('create', f'exathena:{c.store}', '--id', made['sessionId']).returncode, 4)
    t.same('an empty id', c.test.run('create', f'exathena:{c.store}', '--id', '').returncode, 2)
    t.same('no path', c.test.run('create', f'exathena:{c.store}', '--id', '../../esc').returncode, 2)

    before = read(c.log())
    c.feed(b'{"role":"user","content":"go on"}\n{"event":"deployed","data":{"to": 1.0}}\n', 'append', SID)
    added = read(c.log())[len(before):].decode().splitlines()
    t.same('E26: the file\'s own order', [list(json.loads(line)) for line in added], [['data', 'ts', 'event', 'uuid']] * 2)
    t.same('the old bytes', read(c.log())[:len(before)], before)
    t.need('{"to":1.0}' in added[1] and '"user_message"' in added[0], f'A2: compact: {added}')
    before = read(c.log())
    c.feed(b'{"role": "user", "content": "\\u001f\\/ \\u00e9 <&> \\u2028 \\ud83d\\ude00 \\"\\n \\ud800"}\n{"event":"w", "ts":"t", "data":{}, "uuid":"x"}\n',
           'append', SID)
    added = read(c.log())[len(before):].decode().split('\n')
    t.need('{"role":"user","content":"\\u001F/ é <&> \u2028 😀 \\"\\n \ufffd\ufffd\ufffd"}' in added[0], f'A2: texts: {added}')
    t.same('A2: a whole event is written as it was handed in', added[1], '{"event":"w", "ts":"t", "data":{}, "uuid":"x"}')
    write(c.log('old'), b'{"data":{"message":{"role":"user","content":"x"}},"event":"user_message",'
          b'"ts":"2026-01-01T00:00:00.000000Z","uuid":"aaaaaaaaaaa"}\n{"torn')
    c.feed(b'{"role":"assistant","content":"y"}', 'append', 'old')
    torn = read(c.log('old')).splitlines()
    t.same('never glued', (torn[1], list(json.loads(torn[2]))), (b'{"torn', ['data', 'event', 'ts', 'uuid']))
    t.same('five keys', sorted(json.loads(torn[2])['data']['message']),
           ['content', 'name', 'role', 'tool_calls', 'tool_results'])
    t.same('nothing half', c.feed(b'{"role":"user"}\n[]', 'append', 'old').returncode, 2)
    t.same('nothing half', read(c.log('old')).splitlines(), torn)

    folder = c.saved('config.txt')
    c.json('checkpoint', SID, '--id', U, f'{c.ws}/./lib/../config.txt', f'{c.ws}/absent')
    t.same('E26: the next version', read(f'{folder}/2.bin'), read(f'{c.ws}/config.txt'))
    c.json('checkpoint', SID, '--id', U, f'{c.ws}/config.txt')
    t.same('E26: equal, so none', sorted(os.listdir(folder)), ['0.bin', '1.bin', '2.bin', 'path'])
    absent = c.saved('absent')
    t.same('E26: a pair', {n: read(f'{absent}/{n}') for n in os.listdir(absent)},
           {'0.bin': b'', '0.tombstone': b'', 'path': f'{c.ws}/absent'.encode()})
    t.same('E26: no directory', c.run('checkpoint', SID, '--id', U, c.ws).returncode, 4)
    t.same('no metadata', c.run('set', SID, 'title=x').returncode, 4)
    t.same('nothing is kept', c.run('create', '--no-persist').returncode, 2)


def repeating(t):
    """Existing data is not written again: events are compared by uuid, copies by the bytes of the newest (A6)."""
    c = Case(t)
    event = '{"data":{"message":{"role":"user","content":"%s"}},"event":"user_message","ts":"2026-01-01T00:00:00.000000Z","uuid":"%s"}\n'
    def feed(*ids):
        run = c.feed(''.join(event % (i, i * 11) for i in ids).encode(), 'append', SID, '--json')
        done = json.loads(run.stdout)
        return done['appended'], done['present'], done['uuids']
    t.same('A2: new ones', feed('a', 'b'), (2, 0, ['a' * 11, 'b' * 11]))
    once = read(c.log())
    t.same('A2: a retry', (feed('a', 'b'), read(c.log())), ((0, 2, ['a' * 11, 'b' * 11]), once))
    t.same('A2: the rest of one', feed('b', 'c'), (1, 1, ['b' * 11, 'c' * 11]))
    t.same('A2: twice in one go', feed('d', 'd')[:2], (1, 1))
    t.same('A2: each is there once', [read(c.log()).count(b'"uuid":"' + i * 11) for i in (b'a', b'b', b'c', b'd')], [1] * 4)
    t.same('A2: the old bytes', read(c.log())[:len(once)], once)

    file = f'{c.ws}/turns.txt'
    def save():
        c.json('checkpoint', SID, '--id', U, file)
        return sorted(n for n in os.listdir(c.saved('turns.txt')) if n != 'path')
    for text in (b'A', b'B', b'A', b'A'):
        write(file, text)
        kept = save()
    t.same('A6: the newest alone is compared', kept, ['0.bin', '1.bin', '2.bin'])
    os.unlink(file)
    save()
    t.same('A6: a missing file is a version each time', save()[3:], ['3.bin', '3.tombstone', '4.bin', '4.tombstone'])
    write(file, b'')
    t.same('A6: an empty one is the same as none', len(save()), 7)
    for n in range(5, 11):
        write(file, b'%d' % n)
        save()
    write(file, b'10')
    t.same('A6: numbers, not names', (len(save()), read(f'{c.saved("turns.txt")}/10.bin')), (13, b'10'))


def own_roots(t):
    """A root named by a host (`root:`) has its logs directly in it."""
    c = Case(t)
    root = f'{t.home}/var/myapp'
    shutil.copytree(f'{c.store}/sessions', root)
    write(f'{root}/SHORT.jsonl', read(c.log()).splitlines(True)[0])
    names = sorted(n[:-6] for n in os.listdir(root) if n.endswith('.jsonl'))
    def at(path, command, *more, cwd=c.ws):
        return t.run('-C', cwd, command, '--store', f'exathena:{path}', '--json', *more)
    def rows(path, *more, **kind):
        return {r['sessionId']: r for r in json.loads(at(path, 'list', *more, **kind).stdout)}
    t.same('its logs', sorted(rows(root)), names)
    t.same('named with a slash', sorted(rows(root + '/')), names)
    t.same('of the project that we are in', {r['cwd'] for r in rows(root).values()}, {c.ws})
    t.same('sessions/ itself is the store around it', at(f'{c.store}/sessions', 'list').stdout, at(c.store, 'list').stdout)
    t.same('with its messages', at(root, 'messages', SID).stdout, at(c.store, 'messages', SID).stdout)
    t.same('and its file', t.run('-C', c.ws, 'info', f'{root}/{SID}.jsonl', '--store', f'exathena:{root}').returncode, 0)
    gone = [f['path'] for f in json.loads(at(root, 'rewind', SID, '--to', U, '--mode', 'code').stdout)['files']]
    t.same('files of the project', gone, [f['path'] for f in json.loads(at(c.store, 'rewind', SID, '--to', U, '--mode', 'code').stdout)['files']])
    made = json.loads(t.run('-C', c.ws, 'create', f'exathena:{root}', '--id', 'new', '--json').stdout)
    t.same('a new one', (made['path'], os.path.exists(f'{root}/sessions')), (f'{root}/new.jsonl', False))
    t.same('not the saved files of the log of that name', at(root, 'delete', SID).returncode, 0)
    t.same('it alone', (os.path.exists(f'{root}/{SID}.jsonl'), os.path.exists(c.saved('config.txt')), os.path.exists(c.log())),
           (False, True, True))
    left = json.loads(at(root, 'sweep', '--orphans').stdout)
    t.same('nor as left behind', (left['sessions'], left['leftOut']), ([], []))
    away = f'{t.home}/away'
    os.makedirs(away)
    alone = rows(root, cwd=away)
    t.same('with no project near', (sorted(alone), {r.get('cwd') for r in alone.values()}),
           (sorted(set(names) - {SID} | {'new'}), {None}))
    data = f'{t.home}/data'
    write(f'{data}/set.jsonl', b'{"prompt":"x","label":1}\n')
    t.same('other JSONL is no log', rows(data), {})


def bad_lines(t):
    """C4 for logs: every complete event is shown, nothing ends a listing."""
    c = Case(t)
    said = '{"data":{"message":{"role":"user","content":"%s"}},"event":"user_message","ts":"2026-01-01T00:00:00Z","uuid":"%s"}'
    lines = {
        'bom': (b'\xef\xbb\xbf' + (said % ('one', 'a' * 11)).encode() + b'\n', 1, 0),
        'crlf': ((said % ('one', 'a' * 11) + '\r\n').encode() * 2, 2, 0),
        'nul': (b'\0\0\0' + (said % ('one', 'a' * 11)).encode() + b'\nx\0y\n', 1, 1),
        'utf8': ((said % ('one', 'a' * 11)).encode().replace(b'one', b'\xff\xfe') + b'\n', 1, 0),
        'surrogate': ((said % ('\\ud800', 'a' * 11)).encode() + b'\n', 1, 0),
        'deep': (b'[' * 200000 + b']' * 200000 + b'\n' + (said % ('one', 'a' * 11)).encode() + b'\n', 1, 1),
        'types': (b'null\n{}\n[1]\n"x"\n7\n{"event":5,"ts":9,"uuid":[],"data":3}\n{"data":{"message":[1]}}\n'
                  + (said % ('one', 'a' * 11)).encode() + b'\n', 1, 4),
        'long': ((said % ('x' * (17 << 20), 'a' * 11)).encode() + b'\n' + (said % ('two', 'b' * 11)).encode() + b'\n', 2, 0),
        'twice': (b'{"uuid":"aaaaaaaaaaa","uuid":"bbbbbbbbbbb","data":{"message":{"role":"user","role":"assistant",'
                  b'"content":"first","content":"second"}},"event":"user_message"}\n', 1, 0),
        'torn': ((said % ('one', 'a' * 11)).encode() + b'\n{"data":', 1, 1),
        'glued': ((said % ('one', 'a' * 11)).encode() * 2 + b'\n' + (said % ('two', 'b' * 11)).encode() + b'\n', 1, 1),
    }
    for sid, (body, messages, damaged) in lines.items():
        write(c.log(sid), body)
        info = c.json('info', sid)
        t.same(f'C4: {sid}: messages, damaged', (info['messageCount'], len(info['damaged'])), (messages, damaged))
        t.same(f'C4: {sid}: bytes', read(c.log(sid)), body)
    t.same('C4: the first of two keys', [(m['type'], m['uuid']) for m in c.json('messages', 'twice')],
           [('user', 'a' * 11)])
    t.same('C4: and for a rewind', json.loads(c.rewind('a' * 11, 'conversation', sid='twice').stdout)['conversation'],
           {'dropped': 1, 'kept': 0, 'how': 'truncate'})
    t.same('C4: all listed', len(c.json('list')), 4 + len(lines))
    os.symlink(c.log(), c.log('link'))
    os.mkfifo(c.log('fifo'))
    os.mkdir(c.log('folder'))
    t.same('C4: no links, pipes or folders', len(c.json('list')), 4 + len(lines))
    write(c.log('-rf'), b'')
    found = c.run('doctor', '--json').stdout.decode()
    t.need('cannot be a session' in found, f'C4: odd names are told: {found[:300]}')


def bad_paths(t):
    """C4: stored paths lead nowhere outside."""
    outside = f'{t.home}/outside.txt'
    write(outside, b'mine\n')
    for name in (outside, '../outside.txt', 'relative', '/', '', 'a\nb', '/etc/../etc/passwd', f'{t.home}/w/.git/config'):
        c = Case(t)
        folder = f'{c.store}/file-history/{SID}/{sha(name)}'
        write(f'{folder}/path', name.encode())
        write(f'{folder}/0.bin', b'evil\n')
        before = snapshot(c.ws)
        t.same(f'C4: path {name!r}', c.rewind(U, BOTH, '--apply').returncode, 0 if name == '' else 4)
        if name:
            t.same(f'C4: path {name!r}: nothing', snapshot(c.ws) == before, True)
        t.same(f'C4: path {name!r}: outside', read(outside), b'mine\n')

    def refused(what, prepare):
        c = Case(t)
        prepare(c)
        before = snapshot(c.ws)
        t.same(f'C4: {what}', c.rewind(U, BOTH, '--apply').returncode, 4)
        t.same(f'C4: {what}: nothing', snapshot(c.ws) == before, True)

    def replace(make):
        def prepare(c):
            os.unlink(f'{c.ws}/config.txt')
            make(f'{c.ws}/config.txt')
        return prepare

    def blob(c):
        os.unlink(f'{c.saved("config.txt")}/0.bin')
        os.symlink('/etc/passwd', f'{c.saved("config.txt")}/0.bin')

    refused('a link at the target', replace(lambda p: os.symlink(outside, p)))
    refused('a directory at the target', replace(os.mkdir))
    refused('a pipe at the target', replace(os.mkfifo))
    refused('a saved copy that is a link', blob)
    refused('edited by hand', lambda c: write(f'{c.ws}/config.txt', b'by hand\n'))

    c = Case(t)
    os.rename(f'{c.store}/file-history/{SID}', f'{c.ws}/elsewhere')
    os.symlink(f'{c.ws}/elsewhere', f'{c.store}/file-history/{SID}')
    before = snapshot(c.ws)
    t.same('C4: a link in the place of saved files', c.rewind(U, BOTH, '--apply').returncode, 4)
    t.same('C4: nor is anything saved through it', c.run('checkpoint', SID, '--id', U, f'{c.ws}/config.txt').returncode, 4)
    t.need(any('link' in f['why'] for f in c.json('doctor')), 'C4: it is named')
    t.same('C4: and nothing changed', snapshot(c.ws) == before, True)
    c = Case(t)
    plan = json.loads(c.rewind(mode=BOTH).stdout)['plan']
    write(f'{c.ws}/config.txt', b'since\n')
    t.same('C4: changed since', c.rewind(U, BOTH, '--apply', '--plan', plan).returncode, 4)
    c = Case(t)
    for junk in ('x.bin', '-5.bin', '007.bin'):
        write(f'{c.saved("config.txt")}/{junk}', b'junk\n')
    t.same('C4: junk names', json.loads(c.rewind(U, BOTH, '--apply').stdout)['filesChanged'][0], f'{c.ws}/config.txt')
    t.same('C4: and their bytes', read(f'{c.ws}/config.txt'), read(f'{c.saved("config.txt")}/0.bin'))
    c = Case(t)
    os.chmod(f'{c.ws}/config.txt', 0o750)
    c.rewind(U, BOTH, '--apply')
    t.same('C4: the mode stays', os.stat(f'{c.ws}/config.txt').st_mode & 0o777, 0o750)
    c = Case(t)
    with open(c.log(), 'ab'):
        t.same('C4: a live writer', (c.rewind(U, 'both', '--apply').returncode, c.run('delete', SID).returncode), (4, 4))


def tidying(t):
    c = Case(t)
    before = snapshot(c.store)
    c.json('delete', SID)
    t.same('deleted with its files', (os.path.exists(c.log()), os.path.exists(f'{c.store}/file-history/{SID}')),
           (False, False))
    t.same('undo', c.run('undo').returncode, 0)
    t.same('back', {p: b for p, (_, _, b) in snapshot(c.store).items()}, {p: b for p, (_, _, b) in before.items()})
    saved, now = f'{c.store}/file-history/{SID}', time.time()
    write(f'{saved}/fresh', b'')
    for age, goes in ((30 * 86400 - 60, 0), (30 * 86400 + 60, 1)):
        os.utime(saved, (now - age, now - age))
        swept = c.json('sweep', '--saved-files', '--older-than', '30d')
        t.same(f'E28: {age} s', [s['sessionId'] for s in swept['sessions']], [SID] * goes)
        t.need(os.path.exists(saved), 'E28: only on request')
    c.json('sweep', '--saved-files', '--older-than', '30d', '--apply')
    t.same('E28: the copies alone', (os.path.exists(saved), os.path.exists(c.log())), (False, True))
    t.same('E28: undo', (c.run('undo').returncode, os.path.exists(f'{saved}/fresh')), (0, True))
    os.unlink(f'{saved}/fresh')
    fork = c.json('fork', SID, '--with-files')
    copy = {n: sorted(os.listdir(f'{c.store}/file-history/{fork["sessionId"]}/{n}'))
            for n in os.listdir(f'{c.store}/file-history/{fork["sessionId"]}')}
    t.same('a fork with its files', copy, {n: sorted(os.listdir(f'{c.store}/file-history/{SID}/{n}'))
                                           for n in os.listdir(f'{c.store}/file-history/{SID}')})
    os.unlink(c.log())
    found = c.json('doctor')
    t.need(any(SID in json.dumps(f) and 'orphan' in json.dumps(f) for f in found), f'orphans: {found}')


def main():
    with tempfile.TemporaryDirectory() as home:
        t = Program(sys.argv[1], home, {})
        cutting = (no_cut,) if PORTABLE else (rewinding, cutting_damaged)
        for test in (reading, windows, *cutting, saved_files, inferring, writing, repeating, own_roots, bad_lines, bad_paths,
                     tidying):
            test(t)
        t.finish(180 if PORTABLE else 221)


if __name__ == '__main__':
    main()
