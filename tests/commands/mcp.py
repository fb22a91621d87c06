#!/usr/bin/env python3
"""A server of the Model Context Protocol: handshakes, every tool, pages, hostile input; and nothing is written.

usage: mcp.py PROGRAM
"""
import json
import os
import subprocess
import sys
import tempfile

from support import checks
from support.program import snapshot
from table import World

NEW = '2026-07-28'
META = {'io.modelcontextprotocol/protocolVersion': NEW, 'io.modelcontextprotocol/clientCapabilities': {}}
ANSWER_MAX = 16000  # and the members beside the rows
TOKENS = 600


class Server:
    def __init__(self, w, *args):
        self.w = w
        self.n = 0
        self.process = subprocess.Popen([w.program.path, '-C', w.dir, 'mcp', *args], env=w.program.env, cwd=w.top,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b'\n')
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline().decode('utf-8') or '{}')

    def request(self, method, params=None):
        self.n += 1
        self.send({'jsonrpc': '2.0', 'id': self.n, 'method': method, **({} if params is None else {'params': params})})
        got = self.read()
        assert got.get('id') == self.n, got
        return got

    def call(self, name, **arguments):
        """The answer of a tool as its text, or the text of its error."""
        got = self.request('tools/call', {'name': name, 'arguments': arguments})['result']
        text = got['content'][0]['text']
        return text if got.get('isError') else json.loads(text)

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait(timeout=60), rest


def check_handshakes(c, w):
    s = Server(w)
    for asked, given in (NEW, '2025-11-25'), ('2025-06-18', '2025-06-18'), ('2024-11-05', '2024-11-05'), ('1999-01-01', '2025-11-25'):
        got = s.request('initialize', {'protocolVersion': asked, 'capabilities': {}, 'clientInfo': {'name': 't', 'version': '0'}})
        c.same(f'initialize with {asked}', got['result']['protocolVersion'], given)
        c.same(f'{asked}: the server', (got['result']['serverInfo']['name'], got['result']['capabilities']), ('reprise', {'tools': {}}))
    s.send({'jsonrpc': '2.0', 'method': 'notifications/initialized'})
    c.same('ping', s.request('ping')['result'], {})
    tools = s.request('tools/list')['result']
    size = len(json.dumps(tools['tools'], separators=(',', ':'), ensure_ascii=False).encode())
    c.need(f'{size} bytes of definitions are less than {TOKENS} tokens', size / 4 < TOKENS)
    c.same('the tools only read', {t['annotations']['readOnlyHint'] for t in tools['tools']}, {True})
    c.same('their arguments', {t['inputSchema']['type'] for t in tools['tools']}, {'object'})

    got = s.request('server/discover', {'_meta': META})['result']
    c.same('discover', (got['resultType'], got['supportedVersions'], got['capabilities']), ('complete', [NEW], {'tools': {}}))
    got = s.request('tools/list', {'_meta': META})['result']
    c.same('the same tools without a handshake', (got['tools'], got['resultType'], got['ttlMs'] > 0), (tools['tools'], 'complete', True))
    got = s.request('tools/list', {'_meta': {**META, 'io.modelcontextprotocol/protocolVersion': '2031-01-01'}})['error']
    c.same('a version that does not exist', (got['code'], got['data']), (-32022, {'supported': [NEW], 'requested': '2031-01-01'}))
    c.same('no capabilities', s.request('tools/list', {'_meta': {k: v for k, v in META.items() if 'proto' in k and 'V' in k}})['error']['code'], -32602)
    c.same('discover without a version', s.request('server/discover')['error']['code'], -32602)
    c.same('it ends with its input', s.end(), (0, b''))


def check_tools(c, w):
    s = Server(w)
    found = s.call('find_sessions')['found']
    c.need('sessions', w.sid in [r['sessionId'] for r in found] and 'can' not in found[0])
    c.same('all projects', len(s.call('find_sessions', project='*')['found']), len(w.json('list', '--all', '--limit', '20')))
    c.same('another project', s.call('find_sessions', project='/nowhere')['found'], [])
    hits = s.call('find_sessions', text='first: edit', limit=1)
    c.same('a search', (hits['found'][0]['session'], hits['found'][0]['place']), (w.sid, 'prompt'))
    none = s.call('find_sessions', text='no such words at all')
    c.same('a search without a match', (none['found'], len(none['notes'])), ([], 1))

    whole = w.json('messages', w.id, '--plain')
    pages, before = [], {}
    while not pages or before:
        got = s.call('read_messages', session=w.id, limit=3, **before)
        pages.insert(0, got['messages'])
        before = {'before': got['earlier']} if 'earlier' in got else {}
    c.same('pages backwards are the conversation', [m['id'] for p in pages for m in p], [m['id'] for m in whole])
    c.same('unless they are too long, they are the same', pages[-1], whole[-3:])
    middle = whole[2]['id']
    got = s.call('read_messages', session=w.id, after=middle, limit=4)
    ids = [m['id'] for m in got['messages'] if m['role'] != 'tool']
    c.same('forwards', (ids, got['later']), ([m['id'] for m in whole[3:3 + len(ids)]], got['messages'][-1]['id']))
    c.need('no such message', 'nosuch' in s.call('read_messages', session=w.id, after='nosuch'))
    c.need('no such session', 'nosuch' in s.call('read_messages', session='nosuch'))
    c.need('--help is the name of a session', '--help' in s.call('read_messages', session='--help'))

    touched, at = [], {}
    while not touched or at:
        got = s.call('who_touched', path='.', limit=4, **at)
        touched += got['touched']
        at = {'cursor': got['cursor']} if 'cursor' in got else {}
    c.same('who touched', touched, w.json('touched', '.'))
    with open(f'{w.dir}/mod.txt', encoding='utf-8') as f:
        lines = len(f.readlines())
    got = s.call('blame_lines', path='mod.txt')['lines']
    c.same('blame: every line once', [n for r in got for n in range(r['from'], r['to'] + 1)], list(range(1, lines + 1)))
    c.same('blame: by turn', got, w.json('blame', 'mod.txt', '--by', 'turn'))
    each = w.json('blame', 'mod.txt')
    c.same('the same turns as line by line', [(r.get('turn'), r.get('prompt')) for r in got for _ in range(r['from'], r['to'] + 1)],
           [(r.get('turn'), r.get('prompt')) for r in each])
    c.same('blame: one line', [(r['from'], r['to']) for r in s.call('blame_lines', path='mod.txt', lines='1')['lines']], [(1, 1)])
    c.need('blame: no such file', 'nosuch' in s.call('blame_lines', path='nosuch'))

    plan = w.json('rewind', w.id, '--to', w.point)
    changed = [f for f in plan['files'] if f['action'] != 'unchanged']
    got = s.call('plan_rewind', session=w.id, to=w.point)
    c.same('plan a rewind', (got['files'], got['canRewind'], got['plan']), (changed, True, plan['plan']))
    first, second = (s.call('plan_rewind', session=w.id, to=w.point, limit=2, cursor=n)['files'] for n in (0, 2))
    c.same('in pages', first + second, changed[:4])
    c.need('no such point', isinstance(s.call('plan_rewind', session=w.id, to='nosuch'), str))
    for what, name, arguments in (('no session', 'read_messages', {}), ('unknown', 'who_touched', {'path': '.', 'apply': True}),
                                  ('type', 'who_touched', {'path': 1}), ('number', 'find_sessions', {'limit': 'x'}),
                                  ('zero', 'find_sessions', {'limit': 0}), ('NUL', 'who_touched', {'path': 'a\0b'})):
        c.need(f'a mistake in the arguments: {what}', isinstance(s.call(name, **arguments), str))
    c.same('no such tool', s.request('tools/call', {'name': 'delete'})['error']['code'], -32602)
    c.same('arguments that are no object', s.request('tools/call', {'name': 'who_touched', 'arguments': []})['error']['code'], -32602)
    c.same('the end', s.end(), (0, b''))


def check_long_texts(c, w):
    """An answer is bounded however long a message is, and remains one valid JSON text."""
    texts = ['x' * 300_000, '\\"' * 50_000, '\U0001f600' * 40_000, '\u2028\x01\t' * 30_000, 'kept', 'é' * 999]
    rows = ''.join(json.dumps({'role': 'user', 'content': t}, ensure_ascii=i % 2 == 0) + '\n' for i, t in enumerate(texts))
    c.same('append', w.run('append', w.id, text=rows).returncode, 0)
    s = Server(w)
    for limit in 1, 6:
        got = s.call('read_messages', session=w.id, limit=limit)
        said = [m['text'] for m in got['messages']]
        c.need(f'{limit}: bounded', len(json.dumps(got, ensure_ascii=False).encode()) < ANSWER_MAX + 4000)
        for text, whole in zip(said, texts[-len(said):]):
            cut = text.split('… [')[0]
            c.need(f'{limit}: a beginning of what was said, in whole characters', whole.startswith(cut) and (text == whole or 'bytes more]' in text))
            c.same(f'{limit}: no halves of pairs', cut.encode('utf-8', 'replace').count(b'?'), whole[:len(cut)].count('?'))
    c.same('the end', s.end(), (0, b''))


def check_errors(c, w):
    s = Server(w)

    def answer(line):
        s.send(line)
        return s.read()

    deep = 100_000
    for what, line, code in (
            ('half a message', b'{"jsonrpc":"2.0","id":1,\n', -32700), ('no JSON', b'hello\n', -32700), ('no UTF-8', b'{"jsonrpc":"2.0","id":1,"method":"\xff"}\n', -32700),
            ('a NUL', b'{"jsonrpc":"2.0","id":1,"method":"ping"}\0\n', -32700), ('a number', b'1\n', -32600), ('nothing', b'null\n', -32600),
            ('an empty array', b'[]\n', -32600), ('deep arrays', b'[' * deep + b']' * deep + b'\n', -32600),
            ('too long', b'{"jsonrpc":"2.0","id":1,"method":"' + b'x' * 3_000_000 + b'"}\n', -32600),
            ('no version', b'{"id":1,"method":"ping"}\n', -32600), ('version 1', b'{"jsonrpc":"1.0","id":1,"method":"ping"}\n', -32600),
            ('no method', b'{"jsonrpc":"2.0","id":1}\n', -32600), ('a number as the method', b'{"jsonrpc":"2.0","id":1,"method":7}\n', -32600),
            ('an id that is an object', b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600), ('null as the id', b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600),
            ('no such method', b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}\n', -32601),
            ('params in an array', b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}\n', -32602),
            ('deep params', b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":' + b'[' * deep + b']' * deep + b'}}\n', -32602),
            ('initialize with nothing', b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n', -32602)):
        got = answer(line)
        got = got[0] if what == 'deep arrays' else got  # a batch of one
        c.same(f'{what}: an error', (got.get('jsonrpc'), got['error']['code'], 'id' in got), ('2.0', code, True))
    for number in b'1.5', b'-0', b'1e400', b'9' * 40, b'123456789012345678.90':
        s.send(b'{"jsonrpc":"2.0","id":' + number + b',"method":"ping"}\n')
        c.same('an id comes back as it was sent', s.process.stdout.readline(), b'{"jsonrpc":"2.0","id":' + number + b',"result":{}}\n')
    for line in b'\n', b' \r\n', b'{"jsonrpc":"2.0","method":"nosuch"}\n', b'{"jsonrpc":"2.0","id":9,"result":{}}\n', b'[{"jsonrpc":"2.0","method":"x"}]\n':
        s.send(line)
    c.same('after what needs no answer', answer(b' {"id":"\\u00e9","method":"ping","jsonrpc":"2.0"}\r\n'), {'jsonrpc': '2.0', 'id': 'é', 'result': {}})
    ping = {'jsonrpc': '2.0', 'id': 1, 'method': 'ping'}
    c.same('a batch', [m.get('id') for m in answer([ping, {'jsonrpc': '2.0', 'method': 'x'}, {**ping, 'id': 2}, 3])], [1, 2, None])
    s.send(json.dumps(ping).encode())  # without its end
    c.same('half a line at the end', s.end(), (0, b''))

    s = Server(w)
    call = {'jsonrpc': '2.0', 'id': 'a', 'method': 'tools/call', 'params': {'name': 'find_sessions'}}
    cancel = {'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': 'a'}}
    s.send(b''.join(json.dumps(m).encode() + b'\n' for m in (call, cancel, ping)))
    c.same('a request that was cancelled is not answered', s.read().get('id'), 1)
    s.send({**call, 'id': 'b'})
    c.same('the next one is', s.read().get('id'), 'b')
    c.same('the end', s.end(), (0, b''))
    full = subprocess.run([w.program.path, 'mcp'], env=w.program.env, input=(json.dumps(ping) + '\n').encode() * 9, cwd=w.dir, check=False,
                          capture_output=True, timeout=60)
    c.same('requests before the end of the input are answered', (full.returncode, full.stdout.count(b'\n')), (0, 9))


def main():
    c = checks.Checks()
    with tempfile.TemporaryDirectory() as top:
        w = World(sys.argv[1], 'claude', os.path.realpath(top))
        before = snapshot(w.top)
        check_handshakes(c, w)
        check_tools(c, w)
        check_errors(c, w)
        c.same('nothing was written', snapshot(w.top), before)
    with tempfile.TemporaryDirectory() as top:
        check_long_texts(c, World(sys.argv[1], 'shipped', os.path.realpath(top)))
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(c.failed > 0)


main()
