#!/usr/bin/env python3
"""Rows that the model's API refuses: doctor names the row and the reason, --fix replaces exactly that, undo brings every byte back.

usage: doctor_poison.py PROGRAM
"""
import base64
import json
import os
import struct
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..')]

from support.program import Program

SID = '00000001-0000-4000-8000-00000000000%d'


def png(w, h):
    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    return base64.b64encode(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 8, 0, 0, 0, 0)) +
                            chunk(b'IDAT', zlib.compress(b'\0')) + chunk(b'IEND', b'')).decode()


def image(w, h):
    return {'type': 'image', 'source': {'type': 'base64', 'media_type': 'image/png', 'data': png(w, h)}}


def document(data):
    return {'type': 'document', 'source': {'type': 'base64', 'media_type': 'application/pdf', 'data': base64.b64encode(data).decode()}}


def said(text):
    return {'type': 'text', 'text': text}


def result(content):
    return {'type': 'tool_result', 'tool_use_id': 't1', 'content': content}


WORDS = {'type': 'text', 'text': 'WORDS'}
# What is in the row; part of the reason (None: it is fine); the row after the repair.
HALF, NUL, EMPTY, LARGE, BROKEN = 'half of a pair', 'a NUL', 'an empty text', 'more than 8000', 'a PDF'
TEXTS = {
    r'a \ud83d b': (HALF, r'a \ufffd b'), r'\uDE00 tail': (HALF, r'\ufffd tail'), r'end \uD83D': (HALF, r'end \ufffd'),
    r'\ud83d\ud83d\ude00': (HALF, r'\ufffd\ud83d\ude00'), r'\ude00\ud83d': (HALF, r'\ufffd\ufffd'),
    r'\ud83d\ude00 \uD83D\uDE00': (None, None), r'\\ud83d': (None, None), r'\\\ud83d\n': (HALF, r'\\\ufffd\n'),
    r'PK\u0000\u0001': (NUL, r'PK\ufffd\u0001'), r'\\u0000': (None, None), 'plain': (None, None),
}
BLOCKS = [
    ([said('')], EMPTY, [said('[an empty text was here]')]),
    ([image(9000, 100), said('x')], LARGE, [said('[an image of 9000 x 100 pixels was here]'), said('x')]),
    ([said('x'), image(7, 8001)], LARGE, [said('x'), said('[an image of 7 x 8001 pixels was here]')]),
    ([image(8000, 8000)], None, None),
    ([document(b'not a pdf')], BROKEN, [said('[a PDF document was here that is not valid]')]),
    ([document(b'%PDF-1.7 etc')], None, None),
    ([result([image(8001, 1), said('y')])], LARGE, [result([said('[an image of 8001 x 1 pixels was here]'), said('y')])]),
    ([result('')], None, None),
    ([said(''), image(9999, 9), said('')], '', [said('[an empty text was here]'), said('[an image of 9999 x 9 pixels was here]'),
                                                said('[an empty text was here]')]),
]


def dump(value):
    return json.dumps(value, separators=(',', ':'))


def row(n, kind, content):
    parent = f'"{SID % 0}{n - 1}"' if n > 1 else 'null'
    return f'{{"parentUuid":{parent},"isSidechain":false,"cwd":"/w","sessionId":"{SID % 1}","type":"{kind}","uuid":"{SID % 0}{n}",' \
        f'"message":{{"role":"{kind}","content":{content}}},"toolUseResult":"keep \\ud83d","timestamp":"2026-11-20T09:00:0{n}.000Z"}}\n'


def cases():
    for text, (reason, mended) in TEXTS.items():
        for kind, content in (('user', '"TEXT"'), ('assistant', '[{"type":"text","text":"TEXT"}]'),
                              ('user', dump([result('TEXT')])),
                              ('assistant', '[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"TEXT"}}]')):
            yield kind, content.replace('TEXT', text), reason, content.replace('TEXT', mended or text)
    for blocks, reason, mended in BLOCKS:
        yield 'user', dump(blocks), reason, dump(mended or blocks)


def look_at(p, path, place, kind, content, reason, mended):
    what = f'{kind} {content[:60]} at {place}'
    rows = [row(1, 'user', '"one"'), row(2, 'assistant', dump([WORDS])), row(3, 'user', '"two"')]
    whole = [*rows[:place], row(place + 1, kind, content), *rows[place + 1:]]
    with open(path, 'w', encoding='utf-8') as f:
        f.write(''.join(whole))
    os.utime(path, (1795770000, 1795770000))
    found = [f for f in p.json('doctor', SID % 1) if f['kind'] == 'poisoned-row']
    if reason is None:
        p.same(f'{what}: found', found, [])
        return
    p.same(f'{what}: found', [f['line'] for f in found], [place + 1])
    p.need(reason in found[0]['why'] and found[0]['fixable'], f'{what}: {found}')
    p.same(f'{what}: --fix', p.run('doctor', '--fix', SID % 1).returncode, 0)
    with open(path, encoding='utf-8') as f:
        p.same(f'{what}: repaired', f.read(), ''.join([*whole[:place], row(place + 1, kind, mended), *whole[place + 1:]]))
    p.same(f'{what}: again', [f for f in p.json('doctor', SID % 1) if f['kind'] == 'poisoned-row'], [])
    p.same(f'{what}: undo', p.run('undo', '--all').returncode, 0)
    with open(path, encoding='utf-8') as f:
        p.same(f'{what}: undone', f.read(), ''.join(whole))


def main():
    with tempfile.TemporaryDirectory() as top:
        p = Program(sys.argv[1], top, {})
        path = f'{p.home}/.claude/projects/-w/{SID % 1}.jsonl'
        os.makedirs(os.path.dirname(path))
        for n, case in enumerate(cases()):
            look_at(p, path, n % 3, *case)
        p.finish(100)


main()
