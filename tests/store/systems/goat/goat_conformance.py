#!/usr/bin/env python3
"""Go directory sessions: the conformance lists of the format (G: spec and shipped, H: the document) by their numbers; bad
input is tested by goat_bad_input.py.

usage: goat.py PROGRAM

goat/shipped was written by the real package and its loop, goat/spec by a program that follows the specification; what a
rewind makes of their work trees was recorded from both. Stores of the document's dialect are written here.
"""
import fcntl
import json
import os
import subprocess
import sys

from support.checks import Checks
from support.go_store import Shop, get, put, sha, tree
from support.program import snapshot

SHIPPED = '7b1c0a52-0d0e-4c56-9f6e-0a1b2c3d4e5f'
SPEC = '0f0e0d0c-0b0a-4908-8706-050403020100'
TURN = '3e0f6c1e-2b7a-4c9b-8a51-5d1c2f7f0a01'
U = '5a000000-0000-4000-8000-00000000000'

# ---- G ----

def reading(c):
    s = Shop(c.path, 'shipped')
    rows = s.rows()
    c.same('G4 newest first, by instant', [r['sessionId'][:8] + r['sessionId'][-1] for r in rows],
           ['c0ffee001', 'c0ffee002', '7b1c0a52f', 'c0ffee003'])
    c.same('dialect', {r['dialect'] for r in rows}, {'shipped'})
    c.same('title', rows[0]['customTitle'], 'Odd <title> & "quotes"')
    c.same('parent', rows[1]['parentId'], 'c0ffee00-0000-4000-8000-000000000001')
    c.same('G11 messages are counted', s.json('info', SHIPPED)['messageCount'], 8)
    c.same('G10 up to a message, itself included',
           len(s.json('restore', SHIPPED, '--at', 'b60c0698-46d4-4baa-b98f-ab26ea6a5a97')['messages'][:3]), 3)
    c.same('G10 unknown', s.run('restore', SHIPPED, '--at', 'ffffffff').returncode, 3)
    c.same('G7 exactly this directory', s.run('--project', s.ws + '/src', 'list').stdout, b'')
    c.need('G7 and what is said of one without any',
           b'no previous session found' in s.run('-C', s.top, '--continue').stderr)
    said = s.json('messages', 'c0ffee00-0000-4000-8000-000000000002')
    c.same('G9 parts pass through', said[3]['message']['content'][1]['type'], 'image_url')
    c.same('G9 null', said[2]['message']['content'], None)
    c.same('latest', s.json('--project', s.ws, 'info', 'latest')['sessionId'][:8], 'c0ffee00')
    before = snapshot(s.store)
    for command in ('list', '--all'), ('info', SHIPPED), ('messages', SHIPPED), ('checkpoints', SHIPPED), ('doctor',):
        s.run(*command)
    c.same('reading changes nothing', snapshot(s.store), before)
    s.close()
    s = Shop(c.path, 'spec')
    c.same('G4 ties by name', [r['sessionId'][-3:] for r in s.rows()], ['102', '100', '101', '1ff'])
    c.same('G3 dialect', {r['dialect'] for r in s.rows()}, {'spec'})
    c.same('G8 flat messages', s.json('messages', SPEC)[2]['message'],
           {'role': 'tool', 'content': 'ok', 'tool_call_id': 'call_1'})
    c.same('damaged lines', [(d['line'], d['why']) for d in s.json('info', SPEC[:-3] + '1ff')['damaged']],
           [(2, 'not a JSON object'), (5, 'unfinished write')])
    c.same('and what is whole beside them', s.json('info', SPEC[:-3] + '1ff')['messageCount'], 2)
    s.close()


def rewinding(c):
    s = Shop(c.path, 'shipped')
    points = s.json('checkpoints', SHIPPED)
    c.same('G25 kinds', [(p['id'], p['kind']) for p in points], [(TURN, 'turn'), ('session-end', 'session-end')])
    before = tree(s.ws)
    dry = s.json('rewind', SHIPPED, '--to', TURN)
    c.same('G20 files', [os.path.relpath(p, s.ws) for p in dry['filesChanged']],
           ['src/main.go', 'dup-b.txt', 'bin.dat', 'src/new/created.go'])
    c.same('G20 a dry run writes nothing', tree(s.ws), before)
    mtime = os.stat(s.ws + '/README.md').st_mtime_ns
    s.json('rewind', SHIPPED, '--to', TURN, '--apply')
    c.same('G20 the tree is the package\'s own', tree(s.ws), tree(s.after))
    c.same('G22 what is the same is not written', os.stat(s.ws + '/README.md').st_mtime_ns, mtime)
    c.need('a directory that was made stays', os.path.isdir(s.ws + '/src/new'))
    c.same('G20 again: nothing', s.json('rewind', SHIPPED, '--to', TURN)['filesChanged'], [])
    s.run('undo', '--all')
    c.same('undone', tree(s.ws), before)
    os.remove(os.path.join(s.dir(SHIPPED), 'checkpoints', TURN, 'files', sha(b'same bytes\n')))
    c.need('G24 a blob is gone: known in the dry run',
           any(f['action'] == 'refused' for f in s.json('rewind', SHIPPED, '--to', TURN)['files']))
    c.same('G24 and nothing is changed', s.run('rewind', SHIPPED, '--to', TURN, '--apply').returncode, 4)
    c.same('G24 nothing was', tree(s.ws), before)
    c.same('G24 unless it is wanted', s.run('rewind', SHIPPED, '--to', TURN, '--apply', '--skip-refused').returncode, 0)
    c.same('no such point', s.run('rewind', SHIPPED, '--to', 'nowhere').returncode, 3)
    s.close()
    s = Shop(c.path, 'spec')
    c.same('what no record shows to be the session\'s is held back',
           s.run('rewind', SPEC, '--to', U + '1', '--apply').returncode, 4)
    s.json('rewind', SPEC, '--to', U + '1', '--apply', '--overwrite-edited')
    c.same('G18 G21 manifests of the specification', tree(s.ws), tree(s.after))
    s.close()


def changing(c):
    s = Shop(c.path, 'shipped')
    before = snapshot(s.store)
    source = get(s.dir(SHIPPED) + '/messages.jsonl')
    made = s.json('fork', SHIPPED, '--at', '374caf41')
    there = s.dir(made['sessionId'])
    c.same('G13 up to the message, byte for byte', get(there + '/messages.jsonl'),
           b''.join(source.splitlines(True)[:2]))
    meta = json.loads(get(there + '/metadata.json'))
    c.same('G12 parent', meta['parent_session_id'], SHIPPED)
    c.same('G13 where', meta['fork_point_uuid'], '374caf41-8bfa-4730-8b8c-b55ce3c20344')
    c.same('G12 times', meta['created_at'], meta['updated_at'])
    c.same('no lock, no stream', sorted(os.listdir(there)), ['messages.jsonl', 'metadata.json'])
    s.run('undo', '--all')
    s.run('rename', SHIPPED, 'a < b')
    c.need('G2 escaped, no newline at the end',
           get(s.dir(SHIPPED) + '/metadata.json').endswith(b'"leaf_title": "a \\u003c b",\n  "exit_reason": "end_turn"\n}'))
    s.run('undo', '--all')
    s.run('delete', 'c0ffee00-0000-4000-8000-000000000003')
    c.same('deleted', len(s.rows()), 3)
    s.run('undo', '--all')
    left = {p: w for p, w in snapshot(s.store).items() if w[2] is not None}
    c.same('all of it undone', left, {p: w for p, w in before.items() if w[2] is not None})
    for bad in '', '.', '..', 'a/b', '-x':
        c.need(f'G27 {bad!r}', s.run('delete', '--', bad).returncode in (2, 3))
    s.close()
    s = Shop(c.path, 'spec')
    made = s.json('fork', SPEC)
    meta = json.loads(get(s.dir(made['sessionId']) + '/metadata.json'))
    c.same('G12 the specification\'s parent', meta['parent_id'], SPEC)
    c.same('G12 its time is copied', meta['updated_at'], '2026-02-08T10:01:01.5Z')
    s.close()


def appending(c):
    s = Shop(c.path, 'shipped')
    log = s.dir(SHIPPED) + '/messages.jsonl'
    inode = os.stat(log).st_ino
    row = b'{"role":"user","content":"%d"}\n'
    procs = [subprocess.Popen([s.program.path, '--store', 'goat:' + s.store, 'append', SHIPPED], env=s.program.env,
                              cwd=s.top, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(10)]
    for i, p in enumerate(procs):
        p.communicate(b''.join(row % (100 * i + k) for k in range(20)))
    lines = get(log).split(b'\n')
    c.same('G30 ten writers: every line whole', len([json.loads(x) for x in lines[:-1]]), 8 + 200)
    c.same('G17 never renamed over', os.stat(log).st_ino, inode)
    s.close()


def oversized(c):
    s = Shop(c.path, 'shipped')
    log = s.dir(SHIPPED) + '/messages.jsonl'
    with open(log, 'ab') as f:
        f.write(b'{"uuid":"big","timestamp":"2026-11-21T20:15:57Z","message":{"role":"user","content":"'
                + b'x' * (10 << 20) + b'"}}\n')
    c.same('G28 the rest is read', s.json('info', SHIPPED)['messageCount'], 9)
    c.need('G28 shown as what it is', b'10 MiB' in s.run('messages', SHIPPED).stdout)
    c.need('G28 the agent cannot load it', b'cannot load' in s.run('doctor', SHIPPED).stdout)
    s.close()


def protected(c):
    s = Shop(c.path, 'spec')
    base = os.path.dirname(s.dir(SPEC))
    for name in 'memory', 'agent-memory', 'x-memory':
        put(f'{base}/{name}/metadata.json', '{"id":"%s"}' % name)
        c.same(f'G26 {name}', s.run('delete', '--', name).returncode, 3)
        c.need(f'G26 {name} is there', os.path.exists(f'{base}/{name}/metadata.json'))
    put(base + '/a-file', 'x')
    os.mkdir(base + '/empty')
    os.symlink(s.dir(SPEC), base + '/link')
    c.same('G5 files, links and other directories are no sessions', len(s.rows()), 4)
    put(base + '/hurt/metadata.json', '{"id":')
    c.same('G5 a damaged one does not hide the others', len(s.rows()), 4)
    c.need('G5 and is named', b'hurt' in s.run('doctor').stdout)
    put(base + '/-odd/metadata.json', get(s.dir(SPEC) + '/metadata.json'))
    found = s.json('doctor')
    c.same('G5 one whose name cannot be an id is named, memory is not',
           [os.path.basename(f['path']) for f in found if 'name' in f['why']], ['-odd'])
    for time in '2026-02-29T00:00:00Z', '2026-02-09T24:00:00Z', '2026-02-09T02:48:60Z', '2026-02-09 02:48:28Z':
        put(base + '/no-time/metadata.json', '{"id":"no-time","updated_at":"%s"}' % time)
        c.need(f'G3 {time} is no time for Go', all(r['sessionId'] != 'no-time' for r in s.rows()))
    c.need('G5 beside a list too', any(l.startswith(b'reprise: metadata.json is not JSON: list: ') and l.endswith(b'/hurt/metadata.json')
                                           for l in s.run('list', '--all').stderr.splitlines()))
    put(base + '/dir-name/metadata.json', '{"id":"own-name","cwd":"/x","updated_at":"2026-02-08T10:01:01Z"}')
    c.same('G6 both names', [r['recordedId'] for r in s.rows() if r['sessionId'] == 'dir-name'], ['own-name'])
    c.same('G6 by either', s.json('info', 'own-name')['sessionId'], 'dir-name')
    s.close()


STREAM = [
    {'uuid': 't-1', 'session_id': 's', 'type': 'system', 'subtype': 'init', 'cwd': '/srv/app'},
    {'uuid': 't-2', 'session_id': 's', 'type': 'user', 'message': {'role': 'user', 'content': 'Oil the hinge'}},
    {'uuid': 't-3', 'session_id': 's', 'type': 'stream_event', 'event': {'delta': 'It cre'}},
    {'uuid': 't-4', 'session_id': 's', 'type': 'assistant', 'parent_tool_use_id': None, 'message': {
        'id': 'm', 'type': 'message', 'role': 'assistant', 'content': [{'type': 'text', 'text': 'It creaks.'}], 'model': 'm'}},
    {'uuid': 't-5', 'session_id': 's', 'type': 'tool_progress', 'elapsed': 3},
    {'uuid': 't-6', 'session_id': 's', 'type': 'weather_report', 'sky': ['grey', None, 1e-7]},
    {'uuid': 't-7', 'session_id': 's', 'type': 'result', 'subtype': 'success', 'result': 'Oiled.'},
]


def stream(c):
    s = Shop(c.path)
    put(s.store + '/sessions/silent/metadata.json', '{"id":"silent","updated_at":"2026-02-09T02:48:28Z"}')
    put(s.store + '/sessions/silent/messages.jsonl', '{"uuid":"a","message":{"role":"user","content":"Paint"}}\n')
    c.same('G29 no stream is normal', (s.json('doctor'), len(s.json('messages', 'silent'))), ([], 1))
    own = s.store + '/sessions/streamed'
    put(own + '/metadata.json', json.dumps({'id': 'streamed', 'cwd': s.ws, 'updated_at': '2026-02-09T02:48:28Z'}))
    log = b''.join(json.dumps(line).encode() + b'\n' for line in STREAM)
    put(own + '/transcript.jsonl', log)
    c.same('G29 what is said in it', [(m['uuid'], m['type']) for m in s.json('messages', 'streamed')],
           [('t-2', 'user'), ('t-4', 'assistant')])
    c.same('G29 a title', s.json('info', 'streamed')['summary'], 'Oil the hinge')
    c.same('G29 unknown types are no damage', s.json('info', 'streamed').get('damaged', []), [])
    added = s.feed('{"type":"tree_report","uuid":"t-8"}\n', 'streamed', '--transcript').returncode
    c.same('G29 and stay as they are', (added, get(own + '/transcript.jsonl').startswith(log)), (0, True))
    s.close()


# ---- H ----

def queue(c):
    s = Shop(c.path)
    own = s.store + '/sessions/abc-123'
    put(own + '/metadata.json', json.dumps({'session_id': 'abc-123', 'cwd': s.ws, 'created_at': '2026-02-09T02:48:28Z'}))
    names = [own + '/messages.jsonl', own + '/transcript.jsonl']
    with open(s.store + '/sessions/.lock', 'w') as a, open(s.store + '/sessions/store.lock', 'w') as b:
        fcntl.flock(a, fcntl.LOCK_EX)
        fcntl.flock(b, fcntl.LOCK_EX)
        for first in 0, 50:
            some = range(first, first + 50)
            c.same('H19 beside a lock of the whole store',
                   (s.feed(''.join(f'{{"role":"user","content":"{i}"}}\n' for i in some), 'abc-123').returncode,
                    s.feed(''.join(f'{{"type":"status","n":{i}}}\n' for i in some), 'abc-123', '--transcript').returncode), (0, 0))
    c.same('H19 a lock for each file', [(os.stat(n + '.lock').st_mode & 0o777, os.stat(n + '.lock').st_size) for n in names],
           [(0o600, 0), (0o600, 0)])
    c.same('H20 messages in their order', [json.loads(x)['content'] for x in get(names[0]).splitlines()],
           [str(i) for i in range(100)])
    c.same('H20 and the stream in its own', [json.loads(x)['n'] for x in get(names[1]).splitlines()], list(range(100)))
    with open(names[0] + '.lock', 'w') as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        c.same('H19 one does not stop the other', s.feed('{"type":"status","n":100}\n', 'abc-123', '--transcript').returncode, 0)
    s.close()


def deleting(c):
    """A turn that deleted files says how many, in a dialect that records which files were absent."""
    s = Shop(c.path)
    base, old, new = s.store + '/sessions/abc-125', b'old\n', b'new\n'
    put(base + '/metadata.json', json.dumps({'session_id': 'abc-125', 'created_at': '2026-02-09T02:48:28Z', 'cwd': s.ws}))
    put(base + '/messages.jsonl', '{"uuid":"m-1","timestamp":"2026-02-09T02:48:28Z","role":"user","content":"Hello"}\n')
    states = [{'a.txt': old, 'b.txt': old, 'c.txt': old}, {'a.txt': None, 'b.txt': new, 'c.txt': None},
              {'a.txt': new, 'b.txt': None, 'c.txt': None}, {'a.txt': new, 'b.txt': None, 'c.txt': None}]
    for i, state in enumerate(states):
        put(f'{base}/checkpoints/cp-{i}/manifest.json', json.dumps(
            {'checkpoint_id': f'cp-{i}', 'created_at': f'2026-02-09T02:5{i}:00Z',
             'files': [{'path': p, 'exists': b is not None, 'hash': sha(b) if b else None} for p, b in state.items()]}))
    for content in old, new:
        put(f'{base}/checkpoints/blobs/{sha(content)}', content)
    c.same('files that each turn deleted', [p.get('filesDeleted') for p in s.json('checkpoints', 'abc-125')], [2, 1, None, None])
    s.close()


def document(c):
    s = Shop(c.path)
    old, new = b'old\n', b'new\n'
    base = s.store + '/sessions'
    put(base + '/abc-123/metadata.json', json.dumps(
        {'session_id': 'abc-123', 'created_at': '2026-02-09T02:48:28Z', 'model': 'm', 'cwd': s.ws, 'turn_count': 5,
         'total_cost_usd': 0.0234, 'exit_reason': 'end_turn', 'agent_name': ''}))
    put(base + '/abc-123/messages.jsonl',
        '{"uuid":"m-1","timestamp":"2026-02-09T02:48:28Z","role":"user","content":"Hello"}\n'
        '{"uuid":"m-2","timestamp":"2026-02-09T02:48:29Z","role":"assistant","content":"Hi!"}\n')
    put(base + '/abc-124/metadata.json', '{"session_id":"abc-124","created_at":"2026-02-09T02:48:28Z"}')

    def manifest(name, files, time='2026-02-09T02:48:28Z', text=None):
        put(f'{base}/abc-123/checkpoints/{name}/manifest.json', text or json.dumps(
            {'checkpoint_id': name, 'created_at': time, 'files': files}))

    manifest('cp-001', [{'path': 'a.txt', 'hash': sha(old)}])
    put(f'{base}/abc-123/checkpoints/cp-001/blobs/{sha(old)}', old)
    manifest('cp-002', [{'path': 'a.txt', 'hash': sha(new)}], '2026-02-09T02:49:00Z')
    put(f'{base}/abc-123/checkpoints/blobs/{sha(new)}', new)
    manifest('cp-003', [{'path': 'a.txt', 'hash': sha(old)}], '2026-02-09T02:50:00Z')
    os.makedirs(f'{base}/abc-123/checkpoints/cp-003/blobs')
    manifest('cp-004', [], text='{"checkpoint_id":"cp-004","files":[{"path":"a.txt","hash":"x"},]}')
    manifest('cp-005', [{'path': '../b.txt', 'hash': sha(old)}], '2026-02-09T02:51:00Z')
    put(s.ws + '/a.txt', 'now\n')
    rows = {r['sessionId']: r for r in s.rows()}
    c.same('H1 dialect', rows['abc-123']['dialect'], 'doc')
    c.same('H24 a session without messages', rows['abc-124']['summary'], '(no messages)')
    c.same('H2 rows', [m['type'] for m in s.json('messages', 'abc-123')], ['user', 'assistant'])
    c.same('H10 H11 in order', [p['id'] for p in s.json('checkpoints', 'abc-123')],
           ['cp-004', 'cp-001', 'cp-002', 'cp-003', 'cp-005'])
    c.same('lines of a turn, where the next says what it left', [(p.get('insertions'), p.get('deletions')) for p in s.json('checkpoints', 'abc-123')],
           [(None, None), (1, 1), (1, 1), (None, None), (None, None)])
    before = snapshot(s.top)
    dry = s.json('rewind', 'abc-123', '--to', 'cp-001', '--overwrite-edited')
    c.same('H3 restored, never removed', dry['files'][0]['action'], 'restore')
    c.same('H12', {p: w for p, w in snapshot(s.top).items() if '/store' in p or '/ws' in p},
           {p: w for p, w in before.items() if '/store' in p or '/ws' in p})
    for point, want, which in ('cp-001', old, 'H5 its own'), ('cp-002', new, 'H7 of all'), ('cp-003', old, 'H6 of another'):
        s.run('rewind', 'abc-123', '--to', point, '--apply', '--overwrite-edited')
        c.same(f'{which} contents', get(s.ws + '/a.txt'), want)
    c.same('H13 again: nothing', s.json('rewind', 'abc-123', '--to', 'cp-003')['filesChanged'], [])
    c.same('H4 .. is refused', s.json('rewind', 'abc-123', '--to', 'cp-005')['files'][0]['action'], 'refused')
    c.same('H22 a manifest that is no JSON', s.run('rewind', 'abc-123', '--to', 'cp-004').returncode, 3)
    s.run('set', 'abc-123', 'turn_count=6', 'exit_reason=')
    meta = get(base + '/abc-123/metadata.json')
    c.need('H14 H15', b'"total_cost_usd": 0.0234' in meta and b'"exit_reason": ""' in meta and b'"agent_name": ""' in meta)
    made = s.json('fork', 'abc-123', '--at', 'm-1')
    c.same('H17 only up to the message', len(s.json('messages', made['sessionId'])), 1)
    c.same('H16 parent', s.json('info', made['sessionId'])['parentId'], 'abc-123')
    c.same('H18 a resume keeps the id', s.json('restore', 'abc-123')['sessionId'], 'abc-123')
    s.close()
    s = Shop(c.path)
    run = s.program.run('create', 'goat:' + s.store + '/none', '--no-persist')
    c.same('H21 nothing is kept', (run.returncode, os.path.exists(s.store + '/none')), (0, False))
    s.close()


def newest(c):
    """Files that no later checkpoint covers: only the agent's own writes prove a file to be its work."""
    s = Shop(c.path)
    for sid in 'one', 'two':
        s.program.run('create', f'goat:{s.store}/sessions', '--id', sid, '--cwd', s.ws)
    put(s.ws + '/told.txt', 'before\n')
    put(s.ws + '/untold.txt', 'before\n')
    s.feed('{"uuid":"p1","role":"user","content":"go"}\n', 'one')
    s.run('checkpoint', 'one', '--id', 'p1', s.ws + '/told.txt', s.ws + '/untold.txt')
    def write(text):
        call = {'id': 'c1', 'type': 'function', 'function': {
            'name': 'write', 'arguments': json.dumps({'file_path': s.ws + '/told.txt', 'content': text})}}
        s.feed(json.dumps({'role': 'assistant', 'content': None, 'tool_calls': [call]}) + '\n'
               + '{"role":"tool","tool_call_id":"c1","content":"ok"}\n', 'one')
        put(s.ws + '/told.txt', text)
        put(s.ws + '/untold.txt', text)
    def dry(*more):
        return {os.path.basename(f['path']): [f['action'], *(k for k in ('editedSince', 'unproven') if f.get(k))]
                for f in s.json('rewind', 'one', '--to', 'p1', *more)['files']}
    write('agent\n')
    c.same('A7 the newest checkpoint: proven, and not', dry(), {'told.txt': ['restore'], 'untold.txt': ['refused', 'unproven']})
    put(s.ws + '/told.txt', 'a person\n')
    c.same('A7 a hand edit', dry()['told.txt'], ['refused', 'editedSince'])
    run = s.run('rewind', 'one', '--to', 'p1', '--apply')
    c.same('A7 nothing of it', (run.returncode, get(s.ws + '/told.txt'), get(s.ws + '/untold.txt')), (4, b'a person\n', b'agent\n'))
    s.json('undo', s.json('rewind', 'one', '--to', 'p1', '--apply', '--overwrite-edited')['undo'])
    c.same('A7 and again after an undo', (get(s.ws + '/told.txt'), dry()['told.txt']), (b'a person\n', ['refused', 'editedSince']))
    s.feed('{"uuid":"q1","role":"user","content":"me too"}\n', 'two')
    s.run('checkpoint', 'two', '--id', 'q1', s.ws + '/told.txt')
    put(s.ws + '/told.txt', 'the other agent\n')
    c.same('A7 what another session of the project did', dry()['told.txt'][0], 'refused')
    s.close()


def locked(c):
    s = Shop(c.path, 'shipped')
    with open(s.dir(SHIPPED) + '/messages.jsonl.lock', 'w') as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        c.same('a session in use is not removed', s.run('delete', SHIPPED).returncode, 4)
        c.same('G15 nor written to', s.run('rename', SHIPPED, 'x').returncode, 4)
    s.close()


def hosting(c):
    """The writing side by option: dialects, counts together with a row, ids of forks; and what else is read."""
    s = Shop(c.path)
    store = 'goat:' + s.store
    keys = {'shipped': 'id', 'spec': 'id', 'doc': 'session_id'}
    for name, key in keys.items():
        s.run('create', store, '--id', name, '--dialect', name, '--cwd', s.ws)
        c.same('dialect by option: ' + name, [r['dialect'] for r in s.rows() if r['sessionId'] == name], [name])
        c.same('its id key: ' + name, json.loads(get(s.dir(name) + '/metadata.json'))[key], name)
    c.same('no such dialect', s.run('create', store, '--dialect', 'x').returncode, 2)
    c.same('the document\'s always has these', [json.loads(get(s.dir('doc') + '/metadata.json'))[k] for k in ('exit_reason', 'agent_name')], ['', ''])
    for name in keys:
        before = json.loads(get(s.dir(name) + '/metadata.json'))
        s.feed('{"role":"user","content":"one"}\n', name)
        c.same('a plain append leaves the metadata: ' + name, json.loads(get(s.dir(name) + '/metadata.json')), before)
        s.feed('{"role":"assistant","content":"two"}\n{"role":"user","content":"three"}\n', name, '--save')
        after = json.loads(get(s.dir(name) + '/metadata.json'))
        changed = {k for k in after if after[k] != before.get(k)}
        c.same('AppendAndSave: ' + name, (changed, after.get('message_count')),
               (set(), None) if name == 'doc' else ({'message_count', 'updated_at'}, 3))
    said = s.json('messages', 'spec')
    c.same('messages --at, itself included, without a message to continue',
           s.json('messages', 'spec', '--at', said[1]['uuid']), said[:2])
    c.same('messages --at: the beginning of a uuid', s.json('messages', 'spec', '--at', said[0]['uuid'][:8]), said[:1])
    c.same('messages --at with --tail', s.json('messages', 'spec', '--at', said[1]['uuid'], '--tail', '1'), said[1:2])
    c.need('messages --at as text', b'one' in s.run('messages', 'spec', '--at', said[0]['uuid']).stdout
           and b'two' not in s.run('messages', 'spec', '--at', said[0]['uuid']).stdout)
    c.same('messages --at: unknown', [s.run('messages', 'spec', '--at', 'ffffffff', *more).returncode for more in ((), ('--json',))], [3, 3])
    c.same('no stream yet', (s.run('messages', 'spec', '--transcript').returncode, s.run('subagents', 'spec').stdout), (3, b''))
    stream = ['{"uuid":"t1","session_id":"spec","type":"system","subtype":"init"}',
              '{"uuid":"t2","session_id":"spec","type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"in the stream"}]},"parent_tool_use_id":"toolu_1"}',
              '{"uuid":"t3","session_id":"spec","type":"result","subtype":"success","result":"done"}']
    s.feed('\n'.join(stream) + '\n', 'spec', '--transcript')
    c.same('the stream, row by row', s.run('messages', 'spec', '--transcript', '--raw').stdout.decode().splitlines(), stream)
    c.same('the same as JSON', s.json('messages', 'spec', '--transcript', '--raw', '--limit', '1', '--offset', '1'), [json.loads(stream[1])])
    c.same('its messages', [m['uuid'] for m in s.json('messages', 'spec', '--transcript')], ['t2'])
    c.need('as text', b'in the stream' in s.run('messages', 'spec', '--transcript').stdout)
    c.need('listed where sub-agents are, and not counted', b'SDK stream' in s.run('subagents', 'spec').stdout and s.json('subagents', 'spec') == [])
    c.same('the conversation row by row', [m['content'] for m in s.json('messages', 'spec', '--raw')], ['one', 'two', 'three'])
    s.run('set', 'spec', 'turn_count=3', 'total_tokens=99', 'exit_reason=end_turn')
    s.run('set', 'doc', 'turn_count=2', 'total_cost_usd=0.5')
    info = s.json('info', 'spec')
    c.same('info: what the agent counted', [info[k] for k in ('turnCount', 'totalTokens', 'exitReason', 'transcriptPath')],
           [3, 99, 'end_turn', s.dir('spec') + '/transcript.jsonl'])
    c.same('info: cost', s.json('info', 'doc')['totalCostUsd'], 0.5)
    c.need('info: in words', b'exit reason    end_turn' in s.run('info', 'spec').stdout)
    memory = os.path.join(os.path.dirname(os.path.dirname(s.dir('spec'))), 'memory/summary.md')
    put(memory, 'The build needs make.\n')
    info = s.json('info', 'spec')
    c.same('info: the memory of the project', (info['memoryPath'], info['memorySummary']), (memory, 'The build needs make.\n'))
    c.same('fork: an id of the caller\'s', s.json('fork', 'spec', '--id', 'mine')['sessionId'], 'mine')
    c.same('fork: it exists', (s.run('fork', 'spec', '--id', 'mine').returncode, s.run('fork', 'spec', '--id', '../x').returncode), (4, 2))
    before = {r['sessionId'] for r in s.rows()}
    run = s.run('-C', s.ws, '--continue', '--fork', '--print')
    new = {r['sessionId'] for r in s.rows()} - before
    c.need('continue as a fork of the latest', len(new) == 1 and new.pop().encode() in run.stdout)
    c.same('--fork alone', s.run('--fork').returncode, 2)
    put(s.ws + '/a', 'a\n')
    fresh = [s.json('checkpoint', 'doc', '--id', f'cp-{n}', s.ws + '/a')['fresh'] for n in (1, 2)]
    put(s.ws + '/a', 'b\n')
    c.same('only changed contents are fresh', fresh + [s.json('checkpoint', 'doc', '--id', 'cp-3', s.ws + '/a')['fresh']], [1, 0, 1])
    s.close()


def main():
    c = Checks(sys.argv[1])
    for part in (reading, rewinding, changing, appending, stream, oversized, protected, queue, document, deleting, newest, locked, hosting):
        part(c)
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(1 if c.failed or c.passed < 95 else 0)


if __name__ == '__main__':
    main()
