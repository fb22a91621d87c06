#!/usr/bin/env python3
"""Messages in one form for every agent: complete, in pages, after a message, and while the session grows.

usage: plain_messages.py PROGRAM FIXTURES
"""
import json
import os
import subprocess
import sys
import tarfile
import tempfile

from support import checks
from support.program import Program
from table import World

ROLES = {'user', 'assistant', 'tool', 'system'}
MEMBERS = {'id', 'role', 'time', 'text', 'thinking', 'tools', 'media'}
OF_TOOL = {'call', 'name', 'input', 'agent', 'result', 'ok'}
LONG = 'REPRISE_LONG' in os.environ
SESSIONS = 99 if LONG else 2
BIG = '11111111-1111-4111-8111-111111111111'


def empty(value):
    return value in (None, '', [], {})


def check_form(c, what, messages):
    ids = [m['id'] for m in messages]
    c.same(f'{what}: each has an id of its own', (len(set(ids)), all(ids)), (len(ids), True))
    c.same(f'{what}: roles', {m['role'] for m in messages} - ROLES, set())
    c.same(f'{what}: members', {k for m in messages for k in m} - MEMBERS, set())
    c.same(f'{what}: nothing is empty', [m for m in messages if any(empty(v) for v in m.values())], [])
    c.same(f'{what}: each says something', [m for m in messages if not m.keys() & {'text', 'thinking', 'tools', 'media'}], [])
    tools = [t for m in messages for t in m.get('tools', [])]
    c.same(f'{what}: members of a tool', {k for t in tools for k in t} - OF_TOOL, set())
    c.same(f'{what}: texts of tools', [t for t in tools if any(empty(v) for k, v in t.items() if k != 'input')], [])
    c.same(f'{what}: an answer says how it ended', [t for t in tools if 'result' in t and 'ok' not in t], [])


def check_pages(c, what, read, whole, size):
    """Pages from the newest to the oldest, joined, are the conversation; of many only the newest and the oldest are read."""
    pages = [read('--tail', str(size))]
    while pages[0] and len(pages) < 5:
        pages.insert(0, read('--before', pages[0][0]['id'], '--limit', str(size)))
    got = [m for page in pages for m in page]
    c.same(f'{what}: pages of {size}', got, whole[-len(got):])
    c.same(f'{what}: the oldest page', read('--before', whole[min(size, len(whole) - 1)]['id'], '--limit', str(size)),
           whole[:min(size, len(whole) - 1)])


def check_after(c, what, read, whole):
    at = len(whole) // 2
    middle = whole[at]['id']
    after = read('--after', middle)
    late = [m for m in after if m['role'] == 'tool' and m not in whole]  # of calls that were read before
    c.same(f'{what}: after a message', [m for m in after if m not in late], whole[at + 1:])
    first = read('--after', middle, '--limit', '1')  # results that are messages of their own do not count
    c.same(f'{what}: the first of them', (first, len([m for m in first if m['role'] != 'tool'])),
           (after[:len(first)], min(1, len([m for m in after if m['role'] != 'tool']))))
    c.same(f'{what}: after the last', {m['role'] for m in read('--after', whole[-1]['id'])} - {'tool'}, set())
    c.same(f'{what}: up to it', read('--at', middle), whole[:at + 1])
    c.same(f'{what}: a part', read('--offset', '1', '--limit', '2'), whole[1:3])


def check_session(c, what, run, name):
    def read(*args):
        got = run('messages', name, '--plain', '--json', *args)
        c.same(f'{what}: {args}', (got.returncode, got.stderr), (0, b''))
        return json.loads(got.stdout or b'[]')

    whole = read()
    if not whole:
        return whole
    check_form(c, what, whole)
    check_pages(c, what, read, whole, 2)
    check_after(c, what, read, whole)
    text = run('messages', name, '--plain').stdout.decode('utf-8', 'replace')
    at = [text.find(f'[{m["id"]}]\n') for m in whole]
    c.need(f'{what}: the text has the ids, in order', min(at) >= 0 and at == sorted(at))
    c.need(f'{what}: and what was said', all(m['text'].split('\n')[0].split('\t')[0].strip() in text for m in whole if m['role'] == 'user' and 'text' in m))
    c.same(f'{what}: no such message', run('messages', name, '--plain', '--after', 'nosuchmessage').returncode, 3)
    return whole


def check_follow(c, what, program, cwd, name, last, add):
    """What is added after a message comes once, also if it was added before the program began."""
    with subprocess.Popen([program.path, 'messages', name, '--plain', '--json', '--follow', '--after', last], env=program.env,
                          cwd=cwd, stdout=subprocess.PIPE) as reader:
        for text in 'first addition', 'second addition':
            add(text)
            got = json.loads(reader.stdout.readline() or b'{}')
            c.same(f'{what}: {text}', (got.get('role'), got.get('text'), bool(got.get('id'))), ('user', text, True))
        reader.terminate()


def check_worlds(c, program):
    for name in ['claude', 'shipped', 'exathena'] + ['two-sessions', 'committed'] * LONG:
        with tempfile.TemporaryDirectory() as top:
            w = World(program, name, os.path.realpath(top))
            whole = check_session(c, name, w.run, w.id)
            c.need(f'{name}: calls have their results', any('result' in t for m in whole for t in m.get('tools', [])))
            if name in ('shipped', 'exathena'):
                row = '{"role":"user","content":"%s"}\n'
                check_follow(c, name, w.program, w.dir, w.id, whole[-1]['id'],
                             lambda text, w=w: c.same(f'append {text}', w.run('append', w.id, text=row % text).returncode, 0))


def check_agents(c, path, fixtures):
    """Kimi Code gives no ids to what the agent says."""
    for agent in ['kimi', 'pi'] + ['qwen', 'opencode', 'cline'] * LONG:
        with tempfile.TemporaryDirectory() as home:
            with tarfile.open(f'{fixtures}/agents/{agent}/store.tar.gz') as store:
                store.extractall(home, filter='fully_trusted') if sys.version_info >= (3, 12) else store.extractall(home)
            p = Program(path, home, {'XDG_STATE_HOME': f'{home}/state'})
            sessions = p.json('list', '--all')
            c.need(f'{agent}: sessions', len(sessions) > 1)
            places = 0
            for row in sessions[:SESSIONS]:
                whole = check_session(c, f'{agent} {row["sessionId"]}', p.run, f'{agent}:{row["sessionId"]}')
                places += sum(m['id'][0] == '@' for m in whole)
            c.same(f'{agent}: messages named by their places', places > 0, agent in ('kimi', 'cline'))
            if agent == 'kimi':
                rows = p.run('messages', f'kimi:{sessions[0]["sessionId"]}', '--raw').stdout.decode().splitlines()
                said = json.loads(next(r for r in rows if '"turn.prompt"' in r))

                def add(text, said=said, log=sessions[0]['path']):
                    log = log if log.endswith('.jsonl') else f'{log}/agents/main/wire.jsonl'
                    with open(log, 'a', encoding='utf-8') as f:
                        f.write(json.dumps({**said, 'promptId': f'msg_{text[:5]}', 'input': [{'type': 'text', 'text': text}]},
                                           separators=(',', ':')) + '\n')

                last = p.json('messages', f'kimi:{sessions[0]["sessionId"]}', '--plain')[-1]['id']
                check_follow(c, agent, p, home, f'kimi:{sessions[0]["sessionId"]}', last, add)


def check_long(c, path):
    """A conversation of which a page needs only the end, with a result that is far from its call."""
    def row(n, role, content):
        return json.dumps({'type': role, 'uuid': '%08d-1111-4111-8111-111111111111' % n, 'parentUuid': '%08d-1111-4111-8111-111111111111' % (n - 1) if n else None,
                           'sessionId': BIG, 'cwd': '/w', 'timestamp': '2026-02-09T02:48:28.000Z', 'message': {
                               'role': role, 'content': content, **({'id': f'm{n}', 'model': 'x', 'stop_reason': 'end_turn'} if role == 'assistant' else {})}}) + '\n'

    rows = []
    for n in range(0, 2400, 4):
        rows += [row(n, 'user', f'prompt {n} {"x" * 600}'),
                 row(n + 1, 'assistant', [{'type': 'tool_use', 'id': f'call{n}', 'name': 'Bash', 'input': {'command': f'echo {n}'}}]),
                 row(n + 2, 'user', [{'type': 'tool_result', 'tool_use_id': f'call{n}', 'content': f'out {n}', 'is_error': n % 3 == 0}]),
                 row(n + 3, 'assistant', [{'type': 'text', 'text': f'done {n}'}])]
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(f'{home}/.claude/projects/-w')
        log = f'{home}/.claude/projects/-w/{BIG}.jsonl'
        with open(log, 'w', encoding='utf-8') as f:
            f.write(''.join(rows))
        p = Program(path, home, {'XDG_STATE_HOME': f'{home}/state'})

        def read(*args):
            return p.json('messages', BIG, '--plain', *args)

        whole = read()
        c.same('long: a message for each row that is no result', len(whole), 1800)
        c.same('long: a call', whole[1]['tools'], [{'call': 'call0', 'name': 'Bash', 'input': {'command': 'echo 0'}, 'result': 'out 0', 'ok': False}])
        for size in 1, 7, 200:
            check_pages(c, 'long', read, whole, size)
        for at in 1799, 1797, 1200, 3:
            c.same(f'long: after {at}', [m for m in read('--after', whole[at]['id']) if m['role'] != 'tool'], whole[at + 1:])
        short = p.run('messages', BIG, '--tail', '3').stdout
        c.need('long: the end as text', short and p.run('messages', BIG).stdout.endswith(short))
        own = p.json('messages', BIG, '--after', whole[1790]['id'])
        c.same('long: in the form of the agent', [m['uuid'] for m in own], ['%08d-1111-4111-8111-111111111111' % n for n in range(2388, 2400)])
        for args in ['--plain', '--raw'], ['--plain', '--as-sdk'], ['--after', 'x', '--tail', '1'], ['--follow', '--json'], ['--follow', '--limit', '1']:
            c.same(f'{args}', p.run('messages', BIG, *args).returncode, 2)


def main():
    c = checks.Checks()
    check_worlds(c, sys.argv[1])
    check_agents(c, sys.argv[1], sys.argv[2])
    check_long(c, sys.argv[1])
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(c.failed > 0)


main()
