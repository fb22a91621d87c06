"""Seed 000: the session and checkpoint store of the Go specification."""
import hashlib
import json
import os
import stat

from support.seed_rows import seed

row, not_sensible = seed('000')
ROWS = [{'role': 'user', 'content': 'one'}, {'role': 'assistant', 'content': 'two'}, {'role': 'user', 'content': 'three'}]


def begin(place, rows=(), dialect='spec', **more):
    """Creates a session with rows; returns its id and directory, and the uuids."""
    options = [word for key, value in more.items() for word in (f'--{key}', value)]
    made = place.json('create', 'goat', '--dialect', dialect, *options)
    done = place.append(made['sessionId'], *rows) if rows else {'uuids': []}
    return made['sessionId'], made['path'], done['uuids']


def metadata(place, path):
    return json.loads(place.read(f'{path}/metadata.json'))


def moment(text):
    """Go leaves out the zeros at the end of a fraction, so the texts do not sort like the times."""
    whole, _, fraction = text.removesuffix('Z').partition('.')
    return whole, fraction.ljust(9, '0')


def lines(place, path, name='messages.jsonl'):
    return [json.loads(x) for x in place.read(f'{path}/{name}').splitlines()]


@row(1, 'layout ~/.claude/projects/{hash}/sessions/{id}')
def layout(place):
    sid, path, _ = begin(place, ROWS)
    place.holds('created there', path.startswith(f'{place.config}/projects/') and path.endswith(f'/sessions/{sid}'))
    place.holds('and found without an option', place.json('list')[0]['sessionId'] == sid)


@row(2, 'metadata.json read, all fields kept on update')
def kept(place):
    sid, path, _ = begin(place, ROWS)
    old = place.read(f'{path}/metadata.json').decode().rstrip('\n}') + ',\n  "future": {"x": 1.50}\n}'
    place.write(f'{path}/metadata.json', old)
    place.text('set', sid, 'total_tokens=99')
    new = place.read(f'{path}/metadata.json').decode()
    place.holds('an unknown member stays as it is', '"x": 1.50' in new and '"total_tokens": 99' in new)


@row(3, 'Create in the spec dialect')
def create(place):
    sid, path, _ = begin(place)
    place.holds('by option', list(metadata(place, path))[:3] == ['id', 'project_hash', 'cwd'] and 'total_tokens' in metadata(place, path))
    place.append(sid, *ROWS)
    other = place.json('create', 'goat')['path']
    place.holds('and in a store of that dialect', 'total_tokens' in metadata(place, other))


@row(4, 'Load')
def load(place):
    sid, _, _ = begin(place, ROWS)
    place.holds('metadata', place.json('info', sid)['messageCount'] == 3)
    place.holds('messages', [m['message']['content'] for m in place.json('messages', sid)] == ['one', 'two', 'three'])


@row(5, 'LoadLatest(cwd), and its error')
def latest(place):
    begin(place, ROWS)
    sid, _, _ = begin(place, ROWS)
    place.holds('the newest of the directory', place.json('info', 'latest')['sessionId'] == sid)
    os.makedirs(f'{place.top}/other')
    run = place.run('--continue', cwd=f'{place.top}/other')
    place.holds('none elsewhere', run.returncode == 3 and 'no previous session found' in run.stderr)


@row(6, 'Resume(id)')
def resume(place):
    sid, _, _ = begin(place, ROWS)
    place.holds('the command with the id', f'--resume {sid}' in place.text('--resume', sid, '--print'))


@row(7, 'Resume at, LoadMessagesUpTo')
def up_to(place):
    sid, _, ids = begin(place, ROWS)
    place.holds('inclusive, and nothing added', [m['uuid'] for m in place.json('messages', sid, '--at', ids[1])] == ids[:2])
    place.holds('in a restore', [m['uuid'] for m in place.json('restore', sid, '--at', ids[1])['messages']] == ids[:2])
    place.holds('an unknown uuid is an error', place.run('messages', sid, '--at', 'ffffffff').returncode == 3)


@row(8, 'Fork(source, newID)')
def fork(place):
    sid, path, _ = begin(place, ROWS)
    made = place.json('fork', sid, '--id', 'my-fork')
    new = metadata(place, os.path.dirname(made['path']))
    place.holds('the id of the caller', made['sessionId'] == new['id'] == 'my-fork')
    place.holds('parent_id and created_at', new['parent_id'] == sid and moment(new['created_at']) > moment(metadata(place, path)['created_at']))
    place.holds('all messages', len(place.json('messages', 'my-fork')) == 3)


@row(9, 'Delete')
def delete(place):
    sid, path, _ = begin(place, ROWS)
    place.text('delete', sid)
    place.holds('gone', not os.path.exists(path))
    place.text('undo')
    place.holds('and back', len(place.json('messages', sid)) == 3)


@row(10, 'List')
def listing(place):
    ids = [begin(place, ROWS)[0] for _ in range(3)]
    place.holds('newest first', [r['sessionId'] for r in place.json('list')] == ids[::-1])


@row(11, 'AppendMessage: one JSON value a line, as Go writes it')
def append(place):
    _, path, _ = begin(place, [{'role': 'user', 'content': '<a> & \u2028'}])
    place.holds('escaped as by encoding/json', rb'\u003ca\u003e \u0026 \u2028' in place.read(f'{path}/messages.jsonl'))
    place.holds('one line', place.read(f'{path}/messages.jsonl').count(b'\n') == 1)


@row(12, 'AppendSDKMessage')
def append_stream(place):
    sid, path, _ = begin(place, ROWS)
    place.text('append', sid, '--transcript', text='{"type":"system","subtype":"init"}\n')
    place.holds('transcript.jsonl', lines(place, path, 'transcript.jsonl')[0]['subtype'] == 'init')


@row(13, 'transcript.jsonl read back')
def stream(place):
    sid, _, _ = begin(place, ROWS)
    place.text('append', sid, '--transcript', text='{"type":"system","subtype":"init","uuid":"t1"}\n{"type":"assistant","uuid":"t2",'
               '"message":{"role":"assistant","content":[{"type":"text","text":"streamed"}]}}\n')
    place.holds('row by row', [r['uuid'] for r in place.json('messages', sid, '--transcript', '--raw')] == ['t1', 't2'])
    place.holds('as a conversation', 'streamed' in place.text('messages', sid, '--transcript'))
    place.holds('beside the sub-agents', 'SDK stream' in place.text('subagents', sid))


@row(14, 'LoadMessages skips corrupt lines')
def corrupt(place):
    sid, path, _ = begin(place, ROWS)
    data = place.read(f'{path}/messages.jsonl').split(b'\n')
    place.write(f'{path}/messages.jsonl', b'\n'.join([data[0], b'{"role":', *data[1:]]))
    place.holds('the others are read', len(place.json('messages', sid)) == 3)
    place.holds('and it is named', len(place.json('info', sid)['damaged']) == 1)


@row(15, 'lines up to 10 MiB')
def long_lines(place):
    sid, _, _ = begin(place, ROWS)
    run = place.run('append', sid, text=json.dumps({'role': 'user', 'content': 'x' * (10 << 20)}))
    place.holds('a longer one is refused', run.returncode == 2)
    place.append(sid, {'role': 'user', 'content': 'x' * (9 << 20)})
    place.holds('a shorter one is not', len(place.json('messages', sid)) == 4)


@row(16, 'Session.Save')
def save(place):
    sid, path, _ = begin(place, ROWS)
    place.text('set', sid, 'turn_count=7')
    place.holds('set', metadata(place, path)['turn_count'] == 7)


@row(17, 'AppendAndSave: message_count and updated_at with the row')
def append_and_save(place):
    sid, path, _ = begin(place, ROWS)
    old = metadata(place, path)
    place.text('append', sid, '--save', text=json.dumps(ROWS[1]))
    new = metadata(place, path)
    place.holds('both', new['message_count'] == 4 and moment(new['updated_at']) > moment(old['updated_at']))
    place.holds('nothing else', {k for k in new if new[k] != old[k]} == {'message_count', 'updated_at'})


@row(18, 'turn_count, tokens and exit_reason shown')
def counts(place):
    sid, _, _ = begin(place, ROWS)
    place.text('set', sid, 'turn_count=7', 'total_tokens=99', 'exit_reason=end_turn')
    info = place.json('info', sid)
    place.holds('as JSON', (info['turnCount'], info['totalTokens'], info['exitReason']) == (7, 99, 'end_turn'))
    place.holds('as text', 'end_turn' in place.text('info', sid))


def checkpointed(place, dialect='spec'):
    """A session whose answer changed a, created b and deleted c."""
    sid, path, ids = begin(place, ROWS[:1], dialect)
    for name, text in ('a', 'old\n'), ('c', 'gone\n'):
        place.write(name, text)
    place.text('checkpoint', sid, '--id', ids[0], 'a', 'b', 'c')
    place.write('a', 'new\n')
    place.write('b', 'made\n')
    os.remove(place.path('c'))
    place.text('checkpoint', sid, '--end', 'a', 'b', 'c')
    return sid, path, ids[0]


@row(19, 'CreateCheckpoint')
def checkpoint(place):
    _, path, uid = checkpointed(place)
    manifest = json.loads(place.read(f'{path}/checkpoints/{uid}/manifest.json'))
    names = {os.path.basename(f['Path']): f for f in manifest['Files']}
    place.holds('in the spelling of the specification', manifest['UserMessageUUID'] == uid)
    place.holds('SHA-256', names['a']['Hash'] == hashlib.sha256(b'old\n').hexdigest())
    place.holds('a missing file', names['b']['Exists'] is False)


@row(20, 'dry run: canRewind, filesChanged, insertions, deletions')
def dry_run(place):
    sid, _, uid = checkpointed(place)
    answer = place.json('rewind', sid, '--to', uid)
    place.holds('counted', answer['canRewind'] and len(answer['filesChanged']) == 3 and answer['insertions'] > 0 and answer['deletions'] > 0)
    place.holds('nothing changed', place.read('a') == b'new\n')


@row(21, 'rewind: files as they were, new ones deleted')
def rewind(place):
    sid, _, uid = checkpointed(place)
    place.text('rewind', sid, '--to', uid, '--apply')
    place.holds('restored', (place.read('a'), place.read('c')) == (b'old\n', b'gone\n'))
    place.holds('the new one is deleted', not os.path.exists(place.path('b')))
    place.text('undo')
    place.holds('undone', (place.read('a'), place.read('b')) == (b'new\n', b'made\n'))


@row(22, 'checkpoint not found')
def no_checkpoint(place):
    sid, _, _ = checkpointed(place)
    run = place.run('rewind', sid, '--to', 'nothing', '--json')
    place.holds('canRewind is false', run.returncode == 3 and json.loads(run.stdout)['canRewind'] is False)


@row(23, 'checkpoint data missing')
def no_blob(place):
    sid, path, uid = checkpointed(place)
    os.remove(f'{path}/checkpoints/{uid}/files/{hashlib.sha256(b"gone" + bytes([10])).hexdigest()}')
    place.holds('refused', place.run('rewind', sid, '--to', uid, '--apply').returncode == 4)
    place.holds('nothing changed', place.read('a') == b'new\n')


@row(24, 'persistSession: false')
def no_persist(place):
    made = place.json('create', 'goat', '--no-persist')
    place.text('append', made['sessionId'], '--no-persist', text=json.dumps(ROWS[0]))
    place.holds('nothing is written', place.files() == [])


@row(25, 'concurrent writers')
def writers(place):
    sid, path, _ = begin(place, ROWS[:1])
    script = 'for i in 1 2 3 4 5; do echo \'{"role":"user","content":"x"}\' | "$0" append "$1" & done; wait'
    place.holds('started', place.start('/bin/sh', '-c', script, f'{place.prefix}/bin/reprise', sid).returncode == 0)
    place.holds('every row is there and whole', len(lines(place, path)) == 6)


@row(26, 'survives partial writes')
def partial(place):
    sid, path, _ = begin(place, ROWS)
    place.write(f'{path}/messages.jsonl', place.read(f'{path}/messages.jsonl') + b'{"role":"us')
    place.append(sid, {'role': 'user', 'content': 'after'})
    place.holds('the next row is a line of its own', place.json('messages', sid)[-1]['message']['content'] == 'after')


@row(27, '1000 messages and more')
def many(place):
    sid, _, _ = begin(place, [{'role': 'user', 'content': str(n)} for n in range(1500)])
    place.holds('in one call', len(place.json('messages', sid)) == 1500)


@row(28, 'audit trails of sub-agents')
def trails(place):
    sid, _, _ = begin(place, ROWS)
    place.text('append', sid, '--transcript', text='{"type":"assistant","uuid":"t2","parent_tool_use_id":"toolu_1",'
               '"message":{"role":"assistant","content":[{"type":"text","text":"by the sub-agent"}]}}\n')
    place.holds('kept in the stream, with the call that began it',
                place.json('messages', sid, '--transcript')[0]['parent_tool_use_id'] == 'toolu_1')


@row(29, 'memory/summary.md')
def memory(place):
    sid, path, _ = begin(place, ROWS)
    place.write(f'{os.path.dirname(os.path.dirname(path))}/memory/summary.md', 'Use make.\n')
    place.holds('shown', place.json('info', sid)['memorySummary'] == 'Use make.\n')
    place.holds('not a session', len(place.json('list')) == 1)


@row(30, 'transcript_path for hooks')
def transcript_path(place):
    sid, path, _ = begin(place, ROWS)
    place.holds('in info', place.json('info', sid)['transcriptPath'] == f'{path}/transcript.jsonl')
    place.holds('private to nobody: mode of the session', stat.S_IMODE(os.stat(path).st_mode) == 0o755)
