"""Seed 004: the Go session store of the document."""
import ctypes
import fcntl
import json
import os
import stat
import subprocess

from installed import ffi
from seeds.seed_000 import ROWS, begin, checkpointed, lines, metadata
from seeds.seed_library import Store, background, plugin_store, writes_to
from support.seed_rows import answer, prompt, seed

row, not_sensible = seed('004')


def doc(place, rows=ROWS, **more):
    return begin(place, rows, 'doc', **more)


@row(1, 'metadata: session_id, cost, exit_reason ""')
def reads(place):
    sid, path, _ = doc(place)
    place.text('set', sid, 'total_cost_usd=0.0234')
    place.holds('read', place.json('info', sid)['totalCostUsd'] == 0.0234 and place.json('info', sid)['dialect'] == 'doc')
    place.text('set', sid, 'exit_reason=')
    place.holds('an empty exit_reason stays', metadata(place, path)['exit_reason'] == '')


@row(2, 'flat messages, of tools too')
def flat(place):
    sid, path, _ = doc(place, [*ROWS, {'role': 'tool', 'tool_call_id': 'call_1', 'content': 'ok'}])
    place.holds('written flat', all('message' not in x and 'role' in x for x in lines(place, path)))
    place.holds('read', place.json('messages', sid)[3]['message'] == {'role': 'tool', 'content': 'ok', 'tool_call_id': 'call_1'})


@row(3, 'Create in the dialect of the document')
def create(place):
    _, path, _ = doc(place)
    other = place.json('create', 'goat')['path']
    place.holds('by option, and in a store of that dialect', all('session_id' in metadata(place, p) and 'id' not in metadata(place, p)
                                                                for p in (path, other)))


@row(4, 'append in the dialect of the session')
def append(place):
    sid, path, _ = doc(place, ())
    place.append(sid, ROWS[0])
    place.holds('uuid and timestamp first', list(lines(place, path)[0]) == ['uuid', 'timestamp', 'role', 'content'])


@row(7, 'flock between processes, with a time limit')
def lock(place):
    sid, path, _ = doc(place)
    with open(f'{path}/messages.jsonl.lock', 'w') as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = subprocess.Popen([f'{place.prefix}/bin/reprise', 'append', sid], env=place.env, cwd=place.dir, stdin=subprocess.PIPE)
        done.stdin.write(json.dumps(ROWS[0]).encode())
        done.stdin.close()
        place.holds('waits', done.poll() is None and len(lines(place, path)) == 3)
        fcntl.flock(held, fcntl.LOCK_UN)
    place.holds('and then appends', done.wait(60) == 0 and len(lines(place, path)) == 4)


@row(8, 'UpdateMetadata: read, change, write')
def update(place):
    sid, path, _ = doc(place)
    old = metadata(place, path)
    place.write(f'{path}/metadata.json', json.dumps({**old, 'mine': [1]}, indent=2))
    place.text('set', sid, 'turn_count=5')
    place.holds('one member changes, an unknown one stays', metadata(place, path) == {**old, 'turn_count': 5, 'mine': [1]})
    store = Store(place, 'goat', path=os.path.dirname(path))
    session = store.open(sid)
    turns = store.info(session)['turnCount']
    store.lib.call('reprise_set', session, (ctypes.c_char_p * 1)(f'turn_count={turns + 1}'.encode()), ctypes.c_size_t(1))
    place.holds('a host reads a value and writes what it makes of it', metadata(place, path) == {**old, 'turn_count': 6, 'mine': [1]})


@row(9, 'errors are best effort')
def errors(place):
    place.holds('a code and one line', place.run('append', 'nothing', text='{}').returncode == 3
                and place.run('append', 'nothing', text='{}').stderr.count('\n') == 1)


@row(10, 'CreateCheckpoint with a free id, blobs/')
def checkpoint(place):
    sid, path, _ = doc(place)
    place.write('a', 'a\n')
    place.text('checkpoint', sid, '--id', 'cp-001', 'a')
    manifest = json.loads(place.read(f'{path}/checkpoints/cp-001/manifest.json'))
    place.holds('manifest', manifest['checkpoint_id'] == 'cp-001' and list(manifest['files'][0]) == ['path', 'hash'])
    place.holds('blobs/', os.listdir(f'{path}/checkpoints/cp-001/blobs') == [manifest['files'][0]['hash']])


def twice(place):
    sid, path, _ = doc(place)
    place.write('a', 'a\n')
    place.write('b', 'b\n')
    first = place.json('checkpoint', sid, '--id', 'cp-001', 'a', 'b')
    place.write('a', 'changed\n')
    return path, first, place.json('checkpoint', sid, '--id', 'cp-002', 'a', 'b')


@row(11, 'a blob shared by checkpoints')
def shared(place):
    path, _, _ = twice(place)
    links = [os.stat(f).st_nlink for f in place.files(f'{path}/checkpoints') if '/blobs/' in f]
    place.holds('as a hard link', sorted(links) == [1, 1, 2, 2])


@row(12, 'only changed blobs are new')
def fresh(place):
    _, first, second = twice(place)
    place.holds('counted', (first['fresh'], second['fresh']) == (2, 1))


@row(13, 'relative paths')
def relative(place):
    path, _, _ = twice(place)
    manifest = json.loads(place.read(f'{path}/checkpoints/cp-001/manifest.json'))
    place.holds('relative to cwd', [f['path'] for f in manifest['files']] == ['a', 'b'])


@row(14, 'an absent file')
def absent(place):
    _, path, uid = checkpointed(place, 'doc')
    files = {f['path']: f for f in json.loads(place.read(f'{path}/checkpoints/{uid}/manifest.json'))['files']}
    place.holds('"exists": false as an extension', files['b'] == {'path': 'b', 'exists': False})


@row(15, 'RewindFiles, dry or for real')
def rewind(place):
    sid, _, uid = checkpointed(place, 'doc')
    dry = place.json('rewind', sid, '--to', uid)
    place.holds('a dry run writes nothing', len(dry['filesChanged']) == 3 and place.read('a') == b'new\n')
    place.text('rewind', sid, '--to', uid, '--apply')
    place.holds('restored', place.read('a') == b'old\n' and not os.path.exists(place.path('b')))


@row(16, 'a manifest without exists never deletes')
def careful(place):
    sid, path, uid = checkpointed(place, 'doc')
    name = f'{path}/checkpoints/{uid}/manifest.json'
    manifest = json.loads(place.read(name))
    place.write(name, json.dumps({**manifest, 'files': [{'path': 'b'}, *(f for f in manifest['files'] if f['path'] != 'b')]}))
    place.run('rewind', sid, '--to', uid, '--apply', '--skip-refused')
    place.holds('the file stays', place.read('b') == b'made\n')


@row(17, 'Load, List, LoadLatest')
def load(place):
    first, second = doc(place)[0], doc(place)[0]
    place.holds('list', {r['sessionId'] for r in place.json('list')} == {first, second})
    place.holds('load', place.json('info', first)['messageCount'] == 3)
    place.holds('latest', place.json('info', 'latest')['sessionId'] == second)


@row(18, 'Fork from a message')
def fork(place):
    sid, _, ids = doc(place)
    made = place.json('fork', sid, '--at', ids[1])['sessionId']
    place.holds('up to it', [m['uuid'] for m in place.json('messages', made)] == ids[:2])
    place.holds('the original is whole', len(place.json('messages', sid)) == 3)


@row(19, 'Continue: fork of the latest')
def forked(place):
    sid, _, _ = doc(place)
    line = place.text('--continue', '--fork', '--print')
    new = {r['sessionId'] for r in place.json('list')} - {sid}
    place.holds('by option', len(new) == 1 and new.pop() in line)
    place.holds('without it the session itself', sid in place.text('--resume', sid, '--print'))


@row(20, 'Resume with the values of the metadata')
def resume(place):
    sid, path, _ = doc(place)
    place.text('set', sid, 'turn_count=5', 'total_cost_usd=0.5')
    info = place.json('info', sid)
    place.holds('turns and cost', (info['turnCount'], info['totalCostUsd']) == (5, 0.5))
    store = Store(place, 'goat', path=os.path.dirname(path))
    info = store.info(store.open(sid))
    place.holds('by the library', (info['turnCount'], info['totalCostUsd']) == (5, 0.5))
    place.holds('messages', len(place.json('restore', sid)['messages']) == 3)


@row(21, 'LoadMessagesUpTo')
def up_to(place):
    sid, _, ids = doc(place)
    place.holds('inclusive', [m['uuid'] for m in place.json('messages', sid, '--at', ids[1])] == ids[:2])


@row(24, 'Delete')
def delete(place):
    sid, path, _ = doc(place)
    place.text('delete', sid)
    place.holds('gone, and in the trash', not os.path.exists(path) and len(place.json('trash', 'list')) == 1)


@row(25, 'integration into the loop: initialize, persist, finalize')
def loop(place):
    sid, path, _ = doc(place, ())
    for one in ROWS:
        place.append(sid, one)
    place.text('set', sid, 'turn_count=2', 'total_cost_usd=0.01', 'exit_reason=end_turn')
    place.holds('all of it', [metadata(place, path)[k] for k in ('turn_count', 'exit_reason')] == [2, 'end_turn'] and len(lines(place, path)) == 3)


@row(26, 'transcript.jsonl')
def stream(place):
    sid, path, _ = doc(place)
    place.text('append', sid, '--transcript', text='{"type":"system","subtype":"init","uuid":"t1"}\n')
    place.holds('written and read back', place.json('messages', sid, '--transcript', '--raw') == lines(place, path, 'transcript.jsonl'))


@row(27, 'agent_name shown')
def agent(place):
    sid, _, _ = doc(place, ())
    place.text('set', sid, 'agent_name=explore')
    place.holds('as the title of a session without messages', place.json('info', sid)['summary'] == 'explore')


@row(28, 'a manifest with a trailing comma')
def comma(place):
    sid, path, uid = checkpointed(place, 'doc')
    name = f'{path}/checkpoints/{uid}/manifest.json'
    place.write(name, place.read(name).rstrip().rstrip(b'}').rstrip() + b',\n}\n')
    place.holds('is damaged, not guessed', place.run('rewind', sid, '--to', uid).returncode == 3)


@row(29, 'lock files stay, 0600')
def lock_mode(place):
    _, path, _ = doc(place)
    place.holds('ours', stat.S_IMODE(os.stat(f'{path}/messages.jsonl.lock').st_mode) == 0o600)


@row(5, 'AppendMessage returns at once; one writer drains a queue')
def queue(place):
    background(place, 'goat', lambda i: {'uuid': f'r-{i}', 'role': 'user', 'content': 'x'})


@row(6, 'flush when the session is closed')
def flushed(place):
    store = Store(place, 'goat')
    session, options = store.create(), ffi.WriterOptions(flags=ffi.REPRISE_WRITER_BACKGROUND, interval_ms=600_000)
    w = store.lib.make('reprise_writer_open', session, ctypes.byref(options))
    for i in range(300):  # more than its queue of 256
        ffi.append(store.lib, w, {'uuid': f'r-{i}', 'role': 'user', 'content': 'x'}, call='reprise_writer_append')
    store.lib.call('reprise_writer_close', w)
    place.holds('all rows that waited are written', [m['uuid'] for m in store.messages(session)] == [f'r-{i}' for i in range(300)])


@row(22, 'SessionStore: stores of others behind one interface')
def interface(place):
    session = writes_to(place, plugin_store(place))
    place.holds('the program lists and reads it', [r['sessionId'] for r in place.json('list')] == [session] and
                len(place.json('messages', session)) == 4)


@row(23, 'NoOp store')
def noop(place):
    store = Store(place, 'noop')
    session = store.create()
    ffi.append(store.lib, session, {'role': 'user', 'content': 'x'})
    store.lib.call('reprise_fork', session, None, None, None)
    store.lib.call('reprise_delete', session, 0, None)
    place.holds('an append, a fork and a deletion succeed', True)
    place.holds('nothing is kept', store.messages(session) == [] and not os.path.exists(store.path))
