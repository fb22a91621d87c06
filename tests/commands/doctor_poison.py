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


def call(number, name='Read'):
    return {'type': 'tool_use', 'id': f't{number}', 'name': name, 'input': {}}


def answer_to(number, content='seen'):
    return {'type': 'tool_result', 'tool_use_id': f't{number}', 'content': content}


def error(text):
    return {'error': text}


def dimensions(text='many-image requests: 2000 pixels'):
    return error(f'API Error: 400 image dimensions exceed max allowed size for {text}')


PAIRS = error('API Error: 400 tool_use ids were found without tool_result blocks immediately after')
OVERLOADED = error('API Error: 529 Overloaded')
CALL, READ = 'a call of a tool without its result', said('[a call of Read without its result was here]')
LONE, RESULT = 'a result without its call', said('[a result without its call was here]')
SECOND, TWICE = 'a second result', said('[a second result of a call was here]')
SAME, AGAIN = 'a second call', said('[a second call with the same id was here]')
MANY = 'more than 2000 pixels'
# The contents of the rows, answers and prompts by turns; {row: (part of the reason, its content after the repair)}.
TALKS = {
    'a call without a result': ([[said('one')], [call(1)], 'two', PAIRS], {1: (CALL, [READ])}),
    'beside one with a result': ([[call(1), call(2)], [answer_to(2)], 'on', PAIRS], {0: (CALL, [READ, call(2)])}),
    'a result without a call': ([[answer_to(7)], 'on', PAIRS], {0: (LONE, [RESULT])}),
    'and a text': ([[answer_to(7), said('x')], 'on', PAIRS], {0: (LONE, [RESULT, said('x')])}),
    'a result twice': ([[call(1)], [answer_to(1)], [answer_to(1)], 'on', PAIRS], {2: (SECOND, [TWICE])}),
    'a call twice': ([[call(1)], [answer_to(1)], [call(1)], 'on', PAIRS], {2: (SAME, [AGAIN])}),
    'both in one row': ([[call(1), call(2, 'Bash')], 'on', PAIRS, 'again', PAIRS],
                        {0: (CALL, [READ, said('[a call of Bash without its result was here]')])}),
    'a name that is too long': ([[call(1, 'x' * 99)], 'on', PAIRS], {0: (CALL, [said('[a call without its result was here]')])}),
    'a name with an escape': ([[call(1, 'x\ny')], 'on', PAIRS], {0: (CALL, [said('[a call without its result was here]')])}),
    'the call is the last that was said': ([[said('one')], PAIRS, [call(1)]], {}),
    'no error': ([[call(1)], 'two', [said('fine')]], {}),
    'an error of another kind': ([[call(1)], 'two', OVERLOADED], {}),
    'an error before an answer': ([[call(1)], 'two', PAIRS, 'three', [said('fine')]], {}),
    'nothing is wrong': ([[call(1)], [answer_to(1)], 'two', PAIRS], {}),
    '20 images': ([[image(2001, 9)] * 20], {}),
    '21 images': ([[image(2001, 9)] + [image(2000, 2000)] * 20], {0: (MANY, [said('[an image of 2001 x 9 pixels was here]')] +
                                                                     [image(2000, 2000)] * 20)}),
    'images in results': ([[call(1)], [answer_to(1, [image(9, 3000)] * 21)], dimensions()],
                          {1: (MANY, [answer_to(1, [said('[an image of 9 x 3000 pixels was here]')] * 21)])}),
    'an empty prompt': (['', [said('one')]], {0: ('an empty message', '[an empty text was here]')}),
}


def spoken(n, content, parent):
    more = {}
    if isinstance(content, dict):
        kind, more, content = 'assistant', {'isApiErrorMessage': True}, [said(content['error'])]
    else:
        kind = 'user' if isinstance(content, str) or any(b['type'] in ('tool_result', 'image') for b in content) else 'assistant'
    return {'parentUuid': parent, 'isSidechain': False, 'cwd': '/w', 'sessionId': SID % 1, 'type': kind, 'uuid': f'00000001-0000-4000-8000-0000000000{n:02}',
            'message': {'id': f'm{n}', 'role': kind, 'content': content}, 'timestamp': f'2026-11-20T09:00:{n:02}.000Z', **more}


def talk(p, path, what, contents, wrong):
    """Blocks that are refused because of what else is sent; only what a resume restores counts."""
    contents = ['start', *contents]
    rows = []
    for content in contents:
        rows.append(spoken(len(rows), content, rows[-1]['uuid'] if rows else None))
    aside = spoken(90, [call(90)], rows[0]['uuid'])
    lines = [dump(r) + '\n' for r in (rows[0], aside, *rows[1:])]
    with open(path, 'w', encoding='utf-8') as f:
        f.write(''.join(lines))
    os.utime(path, (1795770000, 1795770000))
    found = [f for f in p.json('doctor', SID % 1) if f['kind'] == 'poisoned-row']
    p.same(f'{what}: found', [f['line'] for f in found], [i + 3 for i in wrong])
    for f, (reason, _) in zip(found, wrong.values()):
        since = 'every resume has failed since 2026-11-20 09:00 UTC' if isinstance(contents[-1], dict) else ''
        p.need(reason in f['why'] and f['fixable'] and since in f['why'], f'{what}: {f}')
    p.same(f'{what}: info', [d['why'] for d in p.json('info', SID % 1)['damaged']], [f['why'] for f in found])
    if not wrong:
        return
    p.same(f'{what}: --fix', p.run('doctor', '--fix', SID % 1).returncode, 0)
    for i, (_, content) in wrong.items():
        rows[i + 1]['message']['content'] = content
    with open(path, encoding='utf-8') as f:
        p.same(f'{what}: repaired', f.read(), ''.join(dump(r) + '\n' for r in (rows[0], aside, *rows[1:])))
    p.same(f'{what}: again', [f for f in p.json('doctor', SID % 1) if f['kind'] == 'poisoned-row'], [])
    p.same(f'{what}: undo', p.run('undo', '--all').returncode, 0)
    with open(path, encoding='utf-8') as f:
        p.same(f'{what}: undone', f.read(), ''.join(lines))


def twice(p, path):
    """A session that was repaired goes on, is poisoned once more and repaired again: the undo of the second repair is exact, and
    the first one is not undone over what was said since."""
    def now():
        with open(path, encoding='utf-8') as f:
            return f.read()

    def fix():
        os.utime(path, (1795770000, 1795770000))
        p.same('twice: --fix', p.run('doctor', '--fix', SID % 1).returncode, 0)
        return max(x['id'] for x in p.json('log', '--all'))
    poison = r'"a \ud83d b"'
    with open(path, 'w', encoding='utf-8') as f:
        f.write(row(1, 'user', '"one"') + row(2, 'user', poison) + row(3, 'user', '"two"'))
    old = now()
    first, once = fix(), now()
    with open(path, 'a', encoding='utf-8') as f:
        f.write(row(4, 'user', poison) + row(5, 'user', '"three"'))
    went_on = now()
    second, again = fix(), now()
    p.need(poison not in again and again.startswith(once), f'twice: repaired: {again}')
    for change in first, second, first:
        run = p.run('undo', change)
        if change == second:
            p.same('twice: the second is undone', (run.returncode, now()), (0, went_on))
        else:
            p.need(run.returncode == 4 and b'the session has continued since' in run.stderr and now() in (again, went_on), f'twice: the first stays: {run}')
    back = max(x['id'] for x in p.json('log', '--all'))
    p.same('twice: and done again', (p.run('undo', back).returncode, now()), (0, again))
    with open(path, 'w', encoding='utf-8') as f:
        f.write(once)
    p.same('twice: without what was said since', (p.run('undo', first).returncode, now()), (0, old))


def main():
    with tempfile.TemporaryDirectory() as top:
        p = Program(sys.argv[1], top, {})
        path = f'{p.home}/.claude/projects/-w/{SID % 1}.jsonl'
        os.makedirs(os.path.dirname(path))
        for n, case in enumerate(cases()):
            look_at(p, path, n % 3, *case)
        for what, (contents, wrong) in TALKS.items():
            talk(p, path, what, contents, wrong)
        twice(p, path)
        p.finish(100)


main()
