#!/usr/bin/env python3
"""Transcripts with all the damage that a disk, a crash or an attacker can do.

usage: malformed.py PROGRAM

Each case is a transcript of four messages with one defect, the number of messages that must still be readable as a
conversation (as many as the vendor's reader finds, or more), and whether `info` must name the damage. FOUND has the
findings that the doctor must report.
"""
import json
import os
import sys
import tempfile

from support.program import Program, snapshot

FOLDER = 'projects/-w'


def uuid(i):
    return f'{i:08x}-0000-4000-8000-{i:012x}'


def row(i, text='hello', parent=None, kind=None, **more):
    """Message i of a conversation, as a line of bytes. Odd ones are the user's."""
    kind = kind or ('user' if i % 2 else 'assistant')
    whole = {'parentUuid': uuid(parent) if parent else None, 'isSidechain': False, 'type': kind,
             'message': {'role': kind, 'content': f'{text} {i}'}, 'uuid': uuid(i),
             'timestamp': f'2026-01-01T00:00:{i % 60:02d}.000Z', 'cwd': '/w', 'sessionId': uuid(999), 'version': '2.1.330'}
    return json.dumps(whole | more, ensure_ascii=False, separators=(',', ':')).encode('utf-8', 'surrogatepass') + b'\n'


A, B, C, D = row(1), row(2, parent=1), row(3, parent=2), row(4, parent=3)
TITLE = b'{"type":"custom-title","customTitle":"t","sessionId":"s"}\n'
HOSTILE_PATHS = ['../../etc/passwd', '/etc/shadow', '.git/hooks/post-checkout', 'a\0b', 'line\nbreak', '-rf', '',
                 'x/' * 2100 + 'y']


def snapshot_row():
    tracked = {p: {'backupFileName': '../../../etc/passwd', 'version': 1} for p in HOSTILE_PATHS}
    return json.dumps({'type': 'file-history-snapshot', 'messageId': uuid(1), 'isSnapshotUpdate': False,
                       'snapshot': {'messageId': uuid(1), 'trackedFileBackups': tracked}}).encode() + b'\n'


def inside(old, new):
    """The second message with other content in its text or its row."""
    assert old in B
    return A + B.replace(old, new, 1) + C + D


# name: (bytes, messages, damage to be named)
CASES = {
    'plain': (A + B + C + D, 4, False),
    'empty': (b'', 0, False),
    'only newlines': (b'\n\n\n', 0, False),
    'last row cut': (A + B + C + D[:60], 3, True),  # an unfinished write, by a writer that died or is in the middle of it
    'last newline missing': (A + B + C + D[:-1], 4, True),
    'row cut, next one glued to it': (A + B[:70] + C + D, 1, True),
    'newline between two rows missing': (A + B[:-1] + C + D, 1, True),
    'a line of NULs': (A + B + b'\0' * 300 + b'\n' + C + D, 4, True),
    'NULs before a row': (A + b'\0' * 300 + B + C + D, 4, True),
    'NULs at the end': (A + B + C + D + b'\0' * 4096, 4, True),
    'a row blanked': (A + b' ' * (len(B) - 1) + b'\n' + C + D, 2, False),
    'CRLF': ((A + B + C + D).replace(b'\n', b'\r\n'), 4, False),
    'byte order mark': (b'\xef\xbb\xbf' + A + B + C + D, 3, True),
    'broken UTF-8': (inside(b'hello', b'he\xff\xfe\xc0\x80lo'), 4, False),
    'lone surrogate': (inside(b'hello', b'he\\ud800llo'), 4, True),
    'escaped NUL': (inside(b'hello', b'he\\u0000llo'), 4, True),
    'raw control bytes': (inside(b'hello', b'he\x1b]52;c;UEFZ\x07llo'), 2, True),
    'escaped control bytes': (inside(b'hello', b'he\\u001b]52;c;UEFZ\\u0007\\u009b2Jllo'), 4, False),
    'bidi and tags': (inside(b'hello', 'he\u202ello\u2066x\u2069\u200bz\U000e0041'.encode()), 4, False),
    'a key twice': (inside(b'"type":"assistant"', b'"type":"user","type":"assistant"'), 4, False),
    'a key in capitals': (inside(b'"type":"assistant"', b'"TYPE":"user","type":"assistant"'), 4, False),
    '100,000 levels in a row': (A + b'{"type":"x","a":' + b'[' * 100000 + b']' * 100000 + b'}\n' + B + C + D, 4, False),
    '5,000 levels in a message': (inside(b'"hello 2"', b'[' * 5000 + b']' * 5000), 4, False),
    'huge numbers': (inside(b'"isSidechain":false', b'"isSidechain":false,"n":1e999,"m":' + b'9' * 5000), 4, False),
    '200,000 keys': (A + b'{"type":"x",' + b','.join(b'"k%d":1' % i for i in range(200000)) + b'}\n' + B + C + D, 4, False),
    'a line of 20 MB': (inside(b'hello', b'x' * 20_000_000), 4, False),
    'metadata floods the tail': (A + B + C + D + TITLE * 3000, 4, False),
    'a title within a text': (inside(b'hello', b'\\"customTitle\\":\\"FAKE\\"'), 4, False),
    'a title within a tool call': (inside(b'"hello 2"', b'[{"type":"tool_use","input":{"customTitle":"FAKE"}}]'), 4, False),
    'parents in a circle': (row(1, parent=3) + row(2, parent=1) + row(3, parent=2), 0, False),
    'its own parent': (row(1, parent=1) + B, 2, False),
    'a uuid twice': (A + B + row(2, 'again', parent=1) + C + D, 4, False),
    'parent not in the file': (A + row(5, parent=77, kind='assistant'), 1, False),
    'a chain of 50,000': (b''.join(row(i, parent=i - 1) for i in range(1, 50001)), 50000, False),
    'hostile tracked paths': (A + snapshot_row() + B, 2, False),
}

FOUND = {
    'last row cut': {'torn-tail'},
    'last newline missing': {'torn-tail'},
    'row cut, next one glued to it': {'spliced-line', 'dangling-parent'},
    'newline between two rows missing': {'spliced-line', 'dangling-parent'},
    'a line of NULs': {'nul-bytes'},
    'NULs before a row': {'nul-bytes'},
    'NULs at the end': {'torn-tail'},
    'a row blanked': {'dangling-parent'},
    'lone surrogate': {'poisoned-row'},
    'escaped NUL': {'poisoned-row'},
    'byte order mark': {'broken-line', 'dangling-parent'},
    'raw control bytes': {'broken-line', 'dangling-parent'},
    'parents in a circle': {'cycle'},
    'its own parent': {'cycle'},
    'a uuid twice': {'duplicate-id'},
    'parent not in the file': {'dangling-parent'},
    'hostile tracked paths': {'wrong-backup'},
}


def check_doctor(program, name, sid):
    found = {f['kind'] for f in program.json('doctor', sid, missing=[])} - {'hidden', 'expires'}
    program.same(f'{name}: doctor', found, FOUND.get(name, set()))


def check(program, top, name, case, sid):
    data, messages, damaged = case
    path = f'{top}/{FOLDER}/{sid}.jsonl'
    with open(path, 'wb') as f:
        f.write(data)
    before = snapshot(top)
    for command in ('info', 'messages', 'restore', 'doctor'):
        run = program.run(command, sid)
        program.need(run.returncode in (0, 3, 5), f'{name}: {command}: exit {run.returncode}: {run.stderr!r}')
        raw = {b for b in run.stdout + run.stderr if b < 32 and b != 10 or b == 127}
        program.need(not raw, f'{name}: {command}: raw bytes {sorted(raw)}')
    got = program.json('messages', sid, missing=[])
    program.need(len(got) >= messages, f'{name}: {len(got)} messages, not {messages}')
    if messages:
        info = program.json('info', sid)
        program.need(bool(info.get('damaged')) == damaged, f'{name}: damaged is {info.get("damaged")}')
        program.need('FAKE' not in json.dumps([info.get('customTitle'), info['summary']]), f'{name}: fake title')
    check_doctor(program, name, sid)
    program.need(snapshot(top) == before, f'{name}: reading changed the disk')


def main():
    sys.setrecursionlimit(20000)  # for the Python reader of the answers
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(f'{top}/{FOLDER}')
        program = Program(sys.argv[1], top, {'CLAUDE_CONFIG_DIR': top})
        for i, (name, case) in enumerate(CASES.items()):
            check(program, top, name, case, uuid(1000 + i))
        rows = program.json('list', '--all')
        unlistable = sum(1 for data, _, _ in CASES.values() if not data.strip())
        program.same('all of them listed', len(rows), len(CASES) - unlistable)
        program.text('list', '--all')
        program.text('sweep', '--all', '--older-than', '1m')
        swept = program.json('sweep', '--all', '--older-than', '1m', '--empty')['sessions']
        program.need(all(s['why'] and s['sessionId'] for s in swept), f'sweep: {swept}')
        program.text('doctor')
        # The first row can be read again, and is no missing parent of the second one.
        sid = uuid(1000 + list(CASES).index('byte order mark'))
        repaired = [(f['kind'], f.get('fixed')) for f in program.json('doctor', '--fix', sid) if f['kind'] != 'expires']
        program.same('a byte order mark: repaired', repaired, [('broken-line', True)])
        program.finish(len(CASES) * 5)


main()
