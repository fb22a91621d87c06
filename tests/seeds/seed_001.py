"""Seed 001: sessions and checkpoints of ExAthena."""
import ctypes
import hashlib
import json
import os
import re

from installed import ffi
from seeds.seed_library import Store, background, plugin_store, writes_to
from support.seed_rows import seed

row, not_sensible = seed('001')


def begin(place, *rows, **more):
    options = [word for key, value in more.items() for word in (f'--{key}', value)]
    made = place.json('create', f'exathena:{place.dir}/.exathena', *options)
    if rows:
        place.append(made['sessionId'], *rows)
    return made['sessionId'], made['path']


def said(role, content, **more):
    return {'role': role, 'content': content, **more}


TALK = said('user', 'one'), said('assistant', 'two'), said('user', 'three')


def events(place, path):
    return [json.loads(line) for line in place.read(path).splitlines()]


def history(place, sid):
    return f'{place.dir}/.exathena/file-history/{sid}'


def saved(place, *changes):
    """A session that changed a (twice) and made b; returns it with the uuid of its first event."""
    sid, path = begin(place, *TALK)
    first = events(place, path)[0]['uuid']
    place.write('a', 'old\n')
    place.text('checkpoint', sid, '--id', first, 'a', 'b')
    place.write('a', 'new\n')
    place.write('b', 'made\n')
    place.text('checkpoint', sid, '--end', 'a', 'b')
    return sid, path, first


@row(1, 'Store.append')
def append(place):
    sid, path = begin(place)
    place.append(sid, said('user', 'a message'), {'event': 'my_event', 'data': {'x': 1}},
                 {'event': 'user_message', 'data': {'message': said('user', 'whole')}, 'ts': '2026-04-26T12:34:56.789000Z', 'uuid': 'kY7vZb3eQaA'})
    place.holds('a message, an own event and a whole event', [e['event'] for e in events(place, path)][-3:] == ['user_message', 'my_event', 'user_message'])
    place.holds('as given', events(place, path)[-1]['uuid'] == 'kY7vZb3eQaA')


@row(2, 'read')
def read(place):
    sid, path = begin(place, *TALK)
    place.append(sid, {'event': 'my_event', 'data': {'x': 1}})
    place.holds('every event as it is', place.json('messages', sid, '--raw') == events(place, path))
    place.holds('one a line', place.text('messages', sid, '--raw').count('my_event') == 1)
    place.holds('the messages', [m['message']['content'] for m in place.json('messages', sid)] == ['one', 'two', 'three'])


@row(3, 'tail(n)')
def tail(place):
    sid, path = begin(place, *TALK)
    place.holds('messages', [m['message']['content'] for m in place.json('messages', sid, '--tail', '2')] == ['two', 'three'])
    place.holds('events', place.json('messages', sid, '--raw', '--tail', '1') == events(place, path)[-1:])
    place.holds('n is at least 1', place.run('messages', sid, '--tail', '0').returncode == 2)


@row(4, 'list')
def listing(place):
    ids = {begin(place, *TALK)[0] for _ in range(2)}
    place.holds('the files of the root', {r['sessionId'] for r in place.json('list')} == ids)


@row(5, 'shape of an event: ts, event, data, uuid')
def shape(place):
    _, path = begin(place, *TALK)
    all_of = events(place, path)
    place.holds('four members', all(set(e) == {'ts', 'event', 'data', 'uuid'} for e in all_of))
    place.holds('six digits of a second', all(re.fullmatch(r'\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z', e['ts']) for e in all_of))
    place.holds('a uuid of 11', all(re.fullmatch('[A-Za-z0-9_-]{11}', e['uuid']) for e in all_of))


@row(6, 'events are atoms of the library')
def atoms(place):
    _, path = begin(place, *TALK)
    place.holds('only names that it has', {e['event'] for e in events(place, path)} <= {'session_start', 'user_message', 'assistant_message'})


@row(8, 'Stores.Jsonl: <root>/<id>.jsonl')
def files(place):
    sid, path = begin(place)
    place.holds('there', path == f'{place.dir}/.exathena/sessions/{sid}.jsonl' and os.path.isfile(path))


not_sensible(10, 'flush/1', 'an append of a command is on disk when it returns; a host that buffers has flush of the session handle')


@row(11, 'root: option')
def root(place):
    _, path = begin(place, *TALK)
    logs = f'{place.top}/var/lib/myapp/logs'
    place.write(f'{logs}/deploy-123.jsonl', place.read(path))
    store = ('--store', f'exathena:{logs}')
    place.holds('listed', [r['sessionId'] for r in place.json(*store, 'list', '--all')] == ['deploy-123'])
    place.holds('read', len(place.json(*store, 'messages', 'deploy-123')) == 3)
    place.text(*store, 'append', 'deploy-123', text=json.dumps(TALK[0]))
    place.holds('appended to', len(place.json(*store, 'messages', 'deploy-123')) == 4)
    empty = f'{place.top}/var/lib/other'
    os.makedirs(empty)
    made = place.json('create', f'exathena:{empty}')
    place.holds('the first one in it', made['path'] == f'{empty}/{made["sessionId"]}.jsonl' and os.listdir(empty) == [f'{made["sessionId"]}.jsonl'])
    place.holds('and it is found', [r['sessionId'] for r in place.json('--store', f'exathena:{empty}', 'list', '--all', '--all-kinds')] == [made['sessionId']])


@row(12, 'session_start')
def start(place):
    _, path = begin(place)
    place.holds('the first event', [e['event'] for e in events(place, path)] == ['session_start'])


@row(13, 'user_message, assistant_message, tool_result')
def kinds(place):
    sid, path = begin(place, *TALK[:2], said('tool', 'ok', tool_call_id='c1'))
    place.holds('by role', [e['event'] for e in events(place, path)[1:]] == ['user_message', 'assistant_message', 'tool_result'])


@row(14, 'an id is generated')
def drawn(place):
    place.holds('22 characters', re.fullmatch('[A-Za-z0-9_-]{22}', begin(place)[0]))


@row(15, 'session_id given')
def given(place):
    place.holds('kept', begin(place, id='deploy-123')[0] == 'deploy-123')
    place.holds('and not used twice', place.run('create', f'exathena:{place.dir}/.exathena', '--id', 'deploy-123').returncode == 4)


@row(16, 'Session.resume rebuilds the messages')
def resume(place):
    sid, _ = begin(place, *TALK)
    place.holds('restore', [m['message']['content'] for m in place.json('restore', sid)['messages']] == ['one', 'two', 'three'])


@row(17, 'permissions do not survive')
def permissions(place):
    sid, _ = begin(place, *TALK)
    place.holds('nothing of them', 'permission' not in json.dumps(place.json('restore', sid)))


@row(18, 'snapshot before an edit')
def snapshot(place):
    sid, _, _ = saved(place)
    sha = hashlib.sha256(place.path('a').encode()).hexdigest()
    place.holds('below the hash of the path', place.read(f'{history(place, sid)}/{sha}/0.bin') == b'old\n')


@row(19, 'versions; identical contents reuse the latest')
def versions(place):
    sid, _, first = saved(place)
    place.text('checkpoint', sid, '--id', first, 'a')
    place.text('checkpoint', sid, '--id', first, 'a')
    sha = hashlib.sha256(place.path('a').encode()).hexdigest()
    place.holds('0 and 1', sorted(f for f in os.listdir(f'{history(place, sid)}/{sha}') if f.endswith('.bin')) == ['0.bin', '1.bin'])


@row(20, 'path sidecar')
def sidecar(place):
    sid, _, _ = saved(place)
    sha = hashlib.sha256(place.path('a').encode()).hexdigest()
    place.holds('without a newline', place.read(f'{history(place, sid)}/{sha}/path') == place.path('a').encode())


@row(21, 'tombstones')
def tombstone(place):
    sid, _, _ = saved(place)
    sha = hashlib.sha256(place.path('b').encode()).hexdigest()
    place.holds('beside an empty copy', sorted(os.listdir(f'{history(place, sid)}/{sha}')) == ['0.bin', '0.tombstone', 'path'])


not_sensible(22, 'failures are swallowed', 'a command reports them; a host may ignore its exit code')


@row(23, 'rewind, code_and_history', portable='nothing is cut off where no lease proves that no program has the session open')
def rewind(place):
    sid, path, first = saved(place)
    place.text('rewind', sid, '--to', first, '--mode', 'code_and_history', '--apply')
    place.holds('files', place.read('a') == b'old\n' and not os.path.exists(place.path('b')))
    place.holds('log', place.read(path) == b'')


@row(24, 'rewind, history_only', portable='nothing is cut off where no lease proves that no program has the session open')
def history_only(place):
    sid, path, _ = saved(place)
    to = events(place, path)[2]['uuid']
    place.text('rewind', sid, '--to', to, '--mode', 'history_only', '--apply')
    place.holds('only the log', place.read('a') == b'new\n' and len(events(place, path)) == 2)


@row(25, 'files_restored, events_dropped')
def words(place):
    sid, path, first = saved(place)
    count = len(events(place, path))
    both = place.json('rewind', sid, '--to', first, '--mode', 'code_and_history')
    place.holds('in the words of the library', (both['files_restored'], both['events_dropped']) == (2, count))
    log = place.json('rewind', sid, '--to', first, '--mode', 'history_only')
    place.holds('without files', (log['files_restored'], log['events_dropped']) == (0, count))


@row(26, 'to_uuid is required')
def to_uuid(place):
    sid, _, _ = saved(place)
    place.holds('a mistake of use', place.run('rewind', sid, '--mode', 'history_only').returncode == 2)


@row(27, 'cwd option')
def cwd(place):
    sid, _, _ = saved(place)
    place.holds('-C', [r['sessionId'] for r in place.json('-C', place.dir, 'list', cwd='/')] == [sid])


@row(28, 'sweeper: histories older than 30 days')
def sweeper(place):
    sid, _, _ = saved(place)
    os.utime(history(place, sid), (1_700_000_000, 1_700_000_000))
    place.text('sweep', '--saved-files', '--older-than', '30d', '--apply')
    place.holds('moved', not os.path.exists(history(place, sid)))
    place.text('undo')
    place.holds('and restored', os.path.exists(history(place, sid)))


not_sensible(29, 'sweeper at boot, and its switch', 'reprise cleans up on request only, so that starting it removes nothing')
not_sensible(31, 'store of PubSub and Repo', 'an example of a host; its events are in a database of its own')


@row(32, 'sidechain transcripts')
def sidechains(place):
    sid, path = begin(place, *TALK)
    place.write(f'{path[:-len(".jsonl")]}/sidechains/agent-1.jsonl', json.dumps(
        {'ts': '2026-04-26T12:34:56.789000Z', 'subagent_id': 'agent-1', 'parent_session_id': sid, 'prompt': 'look', 'opts': {},
         'result': {'ok': True, 'text': 'found'}}) + '\n')
    place.holds('listed', place.json('subagents', sid) == ['agent-1'])
    place.holds('read', 'found' in place.text('messages', sid, '--agent', 'agent-1'))


@row(33, 'hand-off to the host')
def resume_by_id(place):
    sid, _ = begin(place, *TALK)
    run = place.run('--resume', sid)
    place.holds('without a command it is refused, with what to set', run.returncode == 4 and 'set `resume' in run.stderr)
    place.write(f'{place.home}/.config/reprise/config', '[exathena]\nresume = /bin/echo resumed {id}\n')
    place.holds('with one it runs', f'resumed {sid}' in place.text('--resume', sid))


def changed(path, before, after):
    """The result of a tool that changed a file."""
    diff = {'kind': 'diff', 'payload': {'path': path, 'before': before, 'after': after, 'replacements': 1}}
    return {'role': 'tool', 'content': None, 'tool_results': [{'tool_call_id': 'c', 'content': 'ok', 'is_error': None, 'ui_payload': diff}]}


@row(34, 'rewind to the event itself')
def inferred(place):
    sid, path = begin(place, TALK[0])
    a = place.write('a', 'old\n')
    place.text('checkpoint', sid, '--id', events(place, path)[0]['uuid'], 'a')
    place.append(sid, changed(a, 'old\n', 'mid\n'), TALK[2], changed(a, 'mid\n', 'new\n'))
    place.write('a', 'new\n')
    place.text('checkpoint', sid, '--end', 'a')
    to = events(place, path)[3]['uuid']
    place.text('rewind', sid, '--to', to, '--inferred', '--apply')
    place.holds('--inferred, which the library has not', place.read('a') == b'mid\n')


@row(9, 'buffered flush')
def queue(place):
    background(place, 'exathena', lambda i: {'role': 'user', 'content': f'row {i}'})


@row(7, 'Stores.InMemory')
def in_memory(place):
    store = Store(place, 'memory')
    session = store.create()
    for i in range(3):
        ffi.append(store.lib, session, {'event': 'user_message', 'uuid': f'e-{i}', 'data': {'message': {'role': 'user', 'content': f'row {i}'}}})
    place.holds('events are kept in order', [m['message']['content'] for m in store.messages(session)] == [f'row {i}' for i in range(3)])
    for own in ({'role': 'user', 'content': 'of goat'}, {'type': 'user', 'uuid': 'c-1', 'message': {'role': 'user', 'content': 'of Claude Code'}}):
        ffi.append(store.lib, session, own)
    place.holds('rows of the other agents, too', [m['message']['content'] for m in store.messages(session)[3:]] == ['of goat', 'of Claude Code'])
    copy = ctypes.c_void_p()
    store.lib.call('reprise_fork', session, None, None, ctypes.byref(copy))
    store.lib.call('reprise_delete', session, 0, None)
    place.holds('a fork outlives the original', len(store.messages(copy)) == 5)
    place.holds('nothing is on a disk', place.files() == [])


@row(30, 'a custom store')
def custom(place):
    session = writes_to(place, plugin_store(place))
    place.holds('it is listed', [r['sessionId'] for r in place.json('list', '--all', '--store', 'team')] == [session])
    place.text('set', session, 'title=Payments')
    place.holds('it is named', place.json('info', session)['customTitle'] == 'Payments')
