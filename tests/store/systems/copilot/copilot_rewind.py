#!/usr/bin/env python3
"""A turn that was killed has no snapshot: the file that it made is not what the next turn found, so it is held back, and so is every
file if a command ran. The rows are those that Copilot CLI 1.0.102 writes.

usage: copilot_rewind.py PROGRAM
"""
import hashlib
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..')]

from support.program import Program

SID = '632f1287-0372-43a3-95e3-c77635d0b5c9'
KILLED, LATER = '11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def content(path, text):
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {'kind': 'content', 'contentHash': digest, 'backupFile': digest, 'mode': 0o100644, 'size': len(text), 'resolvedPath': path}


def row(kind, second, data, row_id=None):
    return json.dumps({'type': kind, 'data': data, 'id': row_id or f'{second:08}-0000-4000-8000-000000000000',
                       'timestamp': f'2026-11-23T20:44:{second:02}.000Z', 'parentId': None}) + '\n'


def edit(second, path, kind):
    return row('tool.execution_complete', second, {'toolCallId': f'c{second}', 'success': True, 'fileEdits': [{'path': path, 'kind': kind}],
                                                   'result': {'content': 'done'}})


def asked(command):
    return row('assistant.message', 2, {'content': '', 'toolRequests': [{'toolCallId': 'c', 'name': 'bash', 'arguments': {'command': command}}]})


def make(home, cwd, commands, edits=True):
    session = f'{home}/.copilot/session-state/{SID}'
    a, other, b = (f'{cwd}/{n}' for n in ('a', 'other', 'b'))
    write(f'{session}/workspace.yaml', f'id: {SID}\ncwd: {cwd}\nname: Killed\ncreated_at: 2026-11-23T20:44:00.000Z\n')
    write(f'{session}/events.jsonl', row('session.start', 0, {'sessionId': SID, 'context': {'cwd': cwd}}) +
          row('user.message', 1, {'content': 'Make a'}, KILLED) + (edit(2, a, 'create') + edit(3, other, 'edit') if edits else '') + commands +
          row('user.message', 4, {'content': 'Change a'}, LATER) + edit(5, a, 'edit') + edit(6, b, 'edit'))
    saved = f'{session}/rewind-file-snapshots'
    files = {}
    for path, before, after in (a, 'first\n', 'second\n'), (b, 'b\n', 'B\n'):
        files[hashlib.sha256(path.encode()).hexdigest()[:32]] = {'path': path, 'preimage': content(path, before),
                                                                 'postimage': content(path, after)}
        write(f'{saved}/backups/{content(path, before)["contentHash"]}', before)
        write(path, after)
    write(other, 'other\n')
    write(f'{saved}/index.json', json.dumps({'schema': 1, 'snapshots': [
        {'snapshotId': 's', 'eventId': LATER, 'userMessage': 'Change a', 'timestamp': '2026-11-23T20:44:04.000Z', 'files': files}]}))


def main():
    may = 'an earlier turn may have changed it, and Copilot kept no copies of that turn'
    lost = 'Copilot kept no copy of it'
    late = 'a later turn was the first to change it, and no commit shows that it was the same before'
    with tempfile.TemporaryDirectory(prefix='copilot-rewind-') as home:
        cwd = f'{home}/project'
        p = Program(sys.argv[1], home, {'XDG_STATE_HOME': f'{home}/state'})
        command = row('tool.execution_complete', 3, {'toolCallId': 'c', 'success': True, 'shellExecution': {'exitCode': 0}})
        for commands, b in ('', late), (command, may):
            make(home, cwd, commands)
            for point, want in (KILLED, {'a': may, 'b': b, 'other': lost}), (LATER, {'a': 'restore', 'b': 'restore'}):
                answer = p.json('rewind', '--dry-run', '--all', '-C', cwd, f'copilot:{SID}', '--to', point)
                p.same(point, {os.path.relpath(f['path'], cwd): f.get('why') or f['action'] for f in answer['files']}, want)
        answer = row('assistant.message', 3, {'content': 'Done.', 'toolRequests': []})
        for what, rows, want in (('killed while a command ran', asked('make'), may), ('killed after a command', asked('make') + command, may),
                                 ('a command that only reads', asked('ls -l') + command, late),
                                 ('a turn that ended', asked('make') + command + answer, late)):
            make(home, cwd, rows, edits=False)
            answers = p.json('rewind', '--dry-run', '--all', '-C', cwd, f'copilot:{SID}', '--to', KILLED)
            p.same(what, {os.path.relpath(f['path'], cwd): f.get('why') or f['action'] for f in answers['files']}, {'a': want, 'b': want})
            point = next(c for c in p.json('checkpoints', '--all', f'copilot:{SID}') if c['id'] == KILLED)
            p.same(f'{what}: the point', bool(point.get('why')), want == may)
    p.finish(12)


main()
