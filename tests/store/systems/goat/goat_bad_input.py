#!/usr/bin/env python3
"""Go directory sessions with unusual and bad input that no fixture has: dialects and spellings (B1, B2, B9), and C4.

usage: goat_bad.py PROGRAM
"""
import json
import os
import shutil
import sys

from support.checks import Checks
from support.go_store import Shop, get, put, sha, tree

T = '2026-02-09T02:48:28'


def session(s, sid, *rows, **metadata):
    """Writes a session of the shipped dialect with these lines; returns its directory."""
    own = f'{s.store}/sessions/{sid}'
    put(own + '/metadata.json', json.dumps({'id': sid, 'cwd': s.ws, 'created_at': T + 'Z', 'updated_at': T + 'Z', **metadata}))
    put(own + '/messages.jsonl', ''.join(r + '\n' for r in rows))
    return own


def row(uuid, text, **more):
    return json.dumps({'uuid': uuid, 'timestamp': T + 'Z', 'message': {'role': 'user', 'content': text}, **more})


# ---- spellings ----

def spellings(c):
    """C4, case variants of keys; B9, detection per session and per line."""
    s = Shop(c.path)
    own = session(s, 'mixed', row('a-nested', 'nested'),
                  '{"uuid":"b-flat","timestamp":"%sZ","role":"assistant","content":"flat"}' % T,
                  '{"UUID":"c-case","Timestamp":"%sZ","Message":{"Role":"user","Content":"cased"}}' % T,
                  '{"uuid":"d-both","role":"user","content":"outer","message":{"role":"assistant","content":"inner"}}',
                  '{"uuid":"e-last","message":{"role":"user","content":"one"},"message":{"role":"assistant","content":"two"}}')
    said = s.json('messages', 'mixed')
    c.same('B9 a line at a time', [(m['uuid'], m['type']) for m in said],
           [('a-nested', 'user'), ('b-flat', 'assistant'), ('c-case', 'user'), ('d-both', 'assistant'), ('e-last', 'assistant')])
    c.same('B9 an object message is a nested one', said[3]['message']['content'], 'inner')
    c.same('C4 of a key twice the last counts', said[4]['message']['content'], 'two')
    made = s.json('fork', 'mixed', '--at', 'c-case')
    c.same('C4 a message whose key is spelled otherwise is found', get(made['path']),
           b''.join(get(own + '/messages.jsonl').splitlines(True)[:3]))
    c.same('C4 by its beginning too', len(s.json('restore', 'mixed', '--at', 'c-ca')['messages']), 3)
    session(s, 'call', json.dumps({'uuid': 'f-call', 'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 't1', 'name': 'Bash'}]}))
    c.same('a call without an input is searched', s.run('search', '--all', 'Bash').returncode, 1)
    s.close()
    s = Shop(c.path)
    base = s.store + '/sessions'
    times = {'late': '{"id":"late","Updated_At":"2026-02-09T12:00:00Z"}',
             'early': '{\n  "id": "early",\n  "x": {\n    "updated_at": "2030-01-01T00:00:00Z"\n  },\n  "updated_at": "2026-02-09T10:00:00Z"\n}',
             'twice': '{\n  "id": "twice",\n  "updated_at": "2030-01-01T00:00:00Z",\n  "updated_at": "2026-02-09T11:00:00Z"\n}',
             'text': '{"y":"\\"updated_at\\": \\"2031-01-01T00:00:00Z\\"","updated_at":"2026-02-09T09:00:00Z"  ,"id":"text"}'}
    for name, text in times.items():
        put(f'{base}/{name}/metadata.json', text)
    c.same('G4 the time of a list is the one that the rows tell', [r['sessionId'] for r in s.rows()],
           ['late', 'twice', 'early', 'text'])
    s.close()


KINDS = {
    'doc': ['{"session_id":"x","cwd":"/w"}', '{"cwd":"/w","session_id":"x","total_cost_usd":1}'],
    'spec': ['{"id":"x","parent_id":"y"}', '{"id":"x","total_tokens":1}', '{"id":"x","project_hash":"","cwd":"/w"}'],
    'shipped': ['{"id":"x"}', '{"session_id":"y","id":"x"}', '{"id":"x","cwd":"/w","project_hash":"h"}',
                '{"id":"x","total_tokens":1,"total_cost_usd":0}'],
}


def dialects(c):
    """B9: the dialect of a session, and that an update keeps unknown members."""
    s = Shop(c.path)
    for kind, texts in KINDS.items():
        for i, text in enumerate(texts):
            put(f'{s.store}/sessions/{kind}-{i}/metadata.json', text)
    rows = {r['sessionId']: r['dialect'] for r in s.rows()}
    c.same('B9 dialects', rows, {f'{k}-{i}': k for k, texts in KINDS.items() for i in range(len(texts))})
    own = s.store + '/sessions/odd/metadata.json'
    put(own, '{"zeta":{"b":[1,2.50,1e400],"a":"\\u003c\\/"},"id":"odd","total_cost_usd":100.0,"n":12345678901234567890,"e":{},"f":[]}\r\n')
    s.run('set', 'odd', 'turn_count=7', 'model=a<b')
    said = get(own).decode()
    updated = said[said.index('"updated_at"'):].split(',')[0]
    c.same('G1 what is unknown survives, its bytes and its place', said.replace(updated, '"updated_at": "?"'), '''{
  "zeta": {
    "b": [
      1,
      2.50,
      1e400
    ],
    "a": "\\u003c\\/"
  },
  "id": "odd",
  "model": "a\\u003cb",
  "updated_at": "?",
  "turn_count": 7,
  "total_cost_usd": 100.0,
  "n": 12345678901234567890,
  "e": {},
  "f": []
}''')
    s.close()


NUMBERS = {'1e-7': '1e-7', '1e21': '1e+21', '1e20': '100000000000000000000', '0.000001': '0.000001', '100.0': '100', '0.0234': '0.0234',
           '1e-6': '0.000001', '9.5e-7': '9.5e-7', '123456789.123456789': '123456789.12345679', '5e-324': '5e-324', '-0': '-0'}
TEXTS = {'<a> & b': '\\u003ca\\u003e \\u0026 b', '\u2028\u2029': '\\u2028\\u2029', '\b\f\n\r\t"\\': '\\b\\f\\n\\r\\t\\"\\\\',
         '\x01\x1f\x7f/é😀': '\\u0001\\u001f\x7f/é😀'}


def bytes_of_go(c):
    """B7."""
    s = Shop(c.path)
    own = s.json('create', 'goat:' + s.store, '--id', 'new', '--cwd', s.ws)['path'] + '/metadata.json'
    for given, want in NUMBERS.items():
        s.run('set', 'new', 'total_cost_usd=' + given)
        c.need(f'B7 {given}', f'"total_cost_usd": {want}\n' in get(own).decode())
    for given, want in TEXTS.items():
        s.run('set', 'new', 'title=x' + given + 'x')
        c.need(f'B7 {given!r}', f'"leaf_title": "x{want}x"' in get(own).decode())
        s.feed(json.dumps({'role': 'user', 'content': given}) + '\n', 'new')
        c.need(f'B7 {given!r} in a row', f'"content":"{want}"' in get(os.path.dirname(own) + '/messages.jsonl').decode())
    s.run('set', 'new', b'title=x\xff\xc3(x')
    c.need('B7 a byte that is none', b'"leaf_title": "x\\ufffd\\ufffd(x"' in get(own))
    s.close()


# ---- C4 ----

BAD_METADATA = {
    'empty': b'', 'torn': b'{"id":"x"', 'list': b'[]', 'null': b'null', 'text': b'"x"',
    'id a number': b'{"id":5}', 'cwd a number': b'{"id":"x","cwd":5}', 'no id': b'{}',
    'time': b'{"id":"x","updated_at":"yesterday"}', 'count': b'{"id":"x","message_count":3.5}',
    'large count': b'{"id":"x","message_count":1e20}', 'NUL': b'{"id":"x"}\0', 'junk behind': b'{"id":"x"} x',
    'deep': b'{"id":"x","a":' + b'[' * 100000, 'bytes': b'{"id":"x",\xff}',
}

BAD_FILES = {
    'missing blob': {'path': 'a', 'exists': True, 'hash': '0' * 64},
    'climbing hash': {'path': 'a', 'exists': True, 'hash': '../../../../../etc/hostname'},
    'short hash': {'path': 'a', 'exists': True, 'hash': 'abc'},
    'no hash': {'path': 'a', 'exists': True},
    'nothing said': {'path': 'a'},
    'absolute, elsewhere': {'path': '/etc/hostname', 'exists': False},
    'climbing': {'path': '../a', 'exists': False},
    'empty path': {'path': '', 'exists': False},
    'NUL in the path': {'path': 'a\0b', 'exists': False},
    'a directory': {'path': 'dir', 'exists': False},
    'a link': {'path': 'link', 'exists': False},
    '.git': {'path': '.git/config', 'exists': False},
}

BAD_MANIFESTS = ['', '{', '[]', 'null', '{"files":{}}', '{"files":[5]}', '{"files":[{"path":5}]}',
                 '{"files":[{"path":"a","exists":"yes"}]}', '{"files":[{"path":"a","hash":7}]}',
                 '{"checkpoint_id":"c","files":[{"path":"a"},]}']


def bad_input(c):
    s = Shop(c.path)
    base = s.store + '/sessions'
    good = {'id': 'good', 'cwd': s.ws, 'updated_at': '2026-02-09T02:48:28Z'}
    put(base + '/good/metadata.json', json.dumps(good))
    put(base + '/good/messages.jsonl',
        b'\xef\xbb\xbf{"uuid":"a","role":"user","content":"bom"}\n{"uuid":"b","role":"user","content":"one"}\r\n'
        b'null\n{}\n[1]\n{"uuid":"c","role":"user","role":"assistant","content":"two"}\n\0\0\0\n'
        b'{"UUID":"d","Role":"user","Content":"\xff\\ud800"}\n' + b'[' * 100000 + b'\n{"uuid":"e","ro')
    for i, (name, data) in enumerate(BAD_METADATA.items()):
        put(f'{base}/bad-{i}/metadata.json', data)
    os.mkfifo(base + '/bad-0/messages.jsonl')
    os.symlink('/etc/passwd', base + '/bad-1/messages.jsonl')
    os.makedirs(base + '/fifo')
    os.mkfifo(base + '/fifo/metadata.json')
    c.same('damaged metadata hides nobody else', [r['sessionId'] for r in s.rows()], ['good'])
    found = s.json('doctor')
    for i, name in enumerate(BAD_METADATA):
        c.need(f'named: {name}', any(f.get('sessionId') == f'bad-{i}' for f in found))
    said = s.json('messages', 'good')
    c.same('what is whole is read', [(m['uuid'], m['type']) for m in said],
           [('b', 'user'), ('c', 'assistant'), ('d', 'user')])
    c.same('a BOM is accepted in metadata', s.run('list', '--all').returncode, 0)
    put(base + '/bom/metadata.json', b'\xef\xbb\xbf' + json.dumps({**good, 'id': 'bom'}).encode())
    c.need('a BOM', any(r['sessionId'] == 'bom' for r in s.rows()) and b'byte order mark' in s.run('doctor', 'bom').stdout)
    put(s.ws + '/a', 'mine')
    os.makedirs(s.ws + '/dir')
    os.symlink('/etc/hostname', s.ws + '/link')
    for i, (name, file) in enumerate(BAD_FILES.items()):
        put(f'{base}/good/checkpoints/f-{i}/manifest.json', json.dumps({'files': [file]}))
        before = tree(s.ws)
        dry = s.json('rewind', 'good', '--to', f'f-{i}')
        refused = all(f['action'] in ('refused', 'unchanged') for f in dry['files']) and dry['files']
        c.need(f'refused: {name}', refused)
        s.run('rewind', 'good', '--to', f'f-{i}', '--apply')
        c.same(f'untouched: {name}', tree(s.ws), before)
    for i, text in enumerate(BAD_MANIFESTS):
        put(f'{base}/good/checkpoints/m-{i}/manifest.json', text)
        want = 3
        c.same(f'damaged manifest {text}', s.run('rewind', 'good', '--to', f'm-{i}').returncode, want)
    wrong = sha(b'right')
    put(f'{base}/good/checkpoints/w/manifest.json',
        json.dumps({'files': [{'path': 'a', 'exists': True, 'hash': wrong.upper(), 'size': 1e20}]}))
    put(f'{base}/good/checkpoints/w/files/{wrong}', 'wrong')
    c.same('contents that are not what their name says', s.json('rewind', 'good', '--to', 'w')['files'][0]['action'],
           'refused')
    put(f'{base}/good/checkpoints/w/files/{wrong}', 'right')
    c.same('upper case is folded, the size means nothing',
           s.json('rewind', 'good', '--to', 'w', '--overwrite-edited')['files'][0]['action'], 'restore')
    twice = [{'path': 'a', 'exists': True, 'hash': wrong}, {'path': './a', 'exists': False}]
    put(f'{base}/good/checkpoints/t/manifest.json', json.dumps({'files': twice}))
    put(f'{base}/good/checkpoints/t/files/{wrong}', 'right')
    c.same('said in two ways', [f['action'] for f in s.json('rewind', 'good', '--to', 't')['files']], ['refused'])
    put(f'{base}/good/checkpoints/n/manifest.json', json.dumps({'files': [{'path': 'a', 'exists': None, 'hash': wrong}]}))
    c.same('B9 null says nothing: with a hash it comes back',
           s.json('rewind', 'good', '--to', 'n', '--overwrite-edited')['files'][0]['action'], 'restore')
    c.same('B9 the directory that all share is no checkpoint', s.run('checkpoint', 'good', '--id', 'blobs', s.ws + '/a').returncode, 2)
    plan = s.json('rewind', 'good', '--to', 'w')['plan']
    put(s.ws + '/a', 'changed since')
    stale = s.run('rewind', 'good', '--to', 'w', '--apply', '--plan', plan)
    c.same('changed since the dry run', (stale.returncode, (s.ws + '/a').encode() in stale.stderr), (4, True))
    s.close()


MISTYPED = ['{"uuid":5,"message":{"role":"user","content":"x"}}', '{"uuid":"m","timestamp":"yesterday","message":{"role":"user"}}',
            '{"uuid":"m","timestamp":7,"message":{"role":"user"}}', '{"uuid":"m","message":{"role":5}}',
            '{"uuid":"m","message":{"role":"user","content":5}}', '{"uuid":"m","message":{"role":"user","content":{}}}',
            '{"uuid":"m","message":{"role":"user","content":["x"]}}', '{"uuid":"m","message":"x"}', '"x"', '5', '[]', 'true',
            '{"uuid":"m","role":"tool","tool_call_id":5}', '{"uuid":"m","role":"assistant","tool_calls":{}}']


def lines(c):
    """C4: wrong types, and an unfinished last line."""
    s = Shop(c.path)
    own = session(s, 'typed', row('first', 'one'), *MISTYPED, 'null', '{}', row('last', 'two'))
    c.same('C4 wrong types are no messages', [m['uuid'] for m in s.json('messages', 'typed')], ['first', 'last'])
    said = s.json('info', 'typed')
    c.same('C4 each is counted and named, null and {} are not', ([d['line'] for d in said['damaged']], said['messageCount']),
           (list(range(2, 2 + len(MISTYPED))), 2))
    c.same('C4 doctor says it too', [f['line'] for f in s.json('doctor', 'typed') if f['kind'] == 'broken-line'], list(range(2, 2 + len(MISTYPED))))
    with open(own + '/messages.jsonl', 'ab') as f:
        f.write(b'{"uuid":"torn","timest')
    c.same('C4 an unfinished write', s.json('info', 'typed')['damaged'][-1]['why'], 'unfinished write')
    before = get(own + '/messages.jsonl')
    s.feed('{"role":"user","content":"more"}\n', 'typed')
    c.need('C4 it stays, on a line of its own', get(own + '/messages.jsonl').startswith(before + b'\n{"uuid":'))
    s.close()


def in_the_place_of(c):
    """C4: links, pipes and directories in place of a log are neither followed, waited for nor ignored."""
    s = Shop(c.path)
    session(s, 'whole', row('a', 'fine'))
    put(s.top + '/elsewhere', row('secret', 'not of this session') + '\n')
    for kind, make in (('link', lambda p: os.symlink(s.top + '/elsewhere', p)), ('pipe', os.mkfifo), ('directory', os.mkdir)):
        log = session(s, kind) + '/messages.jsonl'
        os.remove(log)
        make(log)
        for command in 'messages', 'restore', 'fork':
            c.same(f'C4 a {kind} for a log: {command}', (s.run(command, kind).returncode, s.run(command, kind).stdout), (4, b''))
        c.need(f'C4 a {kind} for a log: append', s.feed('{"role":"user","content":"x"}\n', kind).returncode in (1, 4))
    for i, part in enumerate(('checkpoints', 'checkpoints/p', 'checkpoints/p/files')):
        own = session(s, f'points-{i}', row('p', 'x'))
        os.makedirs(os.path.dirname(f'{own}/{part}'), exist_ok=True)
        os.makedirs(f'{s.top}/away-{i}')
        os.symlink(f'{s.top}/away-{i}', f'{own}/{part}')
        c.same(f'C4 a link for {part}', (s.run('checkpoint', f'points-{i}', '--id', 'p', s.top + '/elsewhere').returncode,
                                         os.listdir(f'{s.top}/away-{i}')), (4, []))
        shutil.rmtree(own)
    c.same('C4 nobody else is hidden', [r['sessionId'] for r in s.rows()], ['whole'])
    c.same('C4 each is named', {f['sessionId'] for f in s.json('doctor')}, {'link', 'pipe', 'directory'})
    c.need('C4 and what a link names is as it was', get(s.top + '/elsewhere').startswith(b'{"uuid": "secret"'))
    s.close()


def main():
    c = Checks(sys.argv[1])
    for part in spellings, dialects, bytes_of_go, bad_input, lines, in_the_place_of:
        part(c)
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(1 if c.failed or c.passed < 100 else 0)


if __name__ == '__main__':
    main()
