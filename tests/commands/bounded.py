#!/usr/bin/env python3
"""Answers of a bounded size, and the messages around one of them.

usage: bounded.py PROGRAM

With --max-bytes, the rows have at most so many bytes, and the note at the end says from where to go on. The parts, joined, are
the whole answer, for every command that has the option, for every agent, and for every bound. The daily form takes a third of the agents, and
bounds of one row and of three in turn.
"""
import glob
import json
import os
import sys
import tempfile

from table import TABLE, World
from support import checks
from support.agent_sessions import AGENTS, write
from support.program import Program


LONG = 'REPRISE_LONG' in os.environ


def bounds(row, number):
    """A bound that one row of this size fits in, and one for three of them."""
    both = row, 3 * row
    return both if LONG else both[number % 2:][:1]


def parts(run, words, most):
    """The rows of all parts of an answer, and how often one row alone was too large."""
    rows, left, more = [], 0, []
    for _ in range(10000):
        answer = run(*words, '--json', '--max-bytes', str(most), *more)
        text = answer.stdout.decode()
        got = json.loads(text) if text[:1] == '[' else [json.loads(line) for line in text.splitlines()]
        note = got.pop() if got and got[-1].get('truncated') else None
        rows += got
        if len(json.dumps(got, ensure_ascii=False, separators=(',', ':'))) > most + 2 * len(got) + 2:
            return 'too much', got
        if not note:
            return rows, left
        left += note.get('leftOut', False)
        assert ('after' in note) == (words[0] == 'messages' and '--as-sdk' not in words)
        more = ['--after', note['after']] if 'after' in note else ['--offset', str(note['offset'])]
    return 'endless', left


def page_parts(run, words, page, most):
    """The rows of all parts of a page: each note says how many messages of it are left."""
    rows, more = [], page
    while True:
        got = json.loads(run(*words, '--json', '--max-bytes', str(most), *more).stdout)
        note = got.pop() if got and got[-1].get('truncated') else None
        rows += [m for m in got if m.get('role') != 'tool']
        if not note:
            return rows
        more = ['--after', note['after'], '--limit', str(note['limit'])]


def joined(answer):
    """A result whose call is in the part before is there again, as a message of its own."""
    rows, left = answer
    calls = {t['call'] for m in rows if m.get('role') != 'tool' for t in m.get('tools', [])}
    return [m for m in rows if m.get('role') != 'tool' or not {t['call'] for t in m['tools']} <= calls], left


def check_messages(check, w):
    for number, form in enumerate(([], ['--plain'])):
        whole = w.json('messages', w.id, *form)
        for most in bounds(max(len(json.dumps(m, ensure_ascii=False).encode()) for m in whole) + 8, number):
            got = parts(w.run, ['messages', w.id, *form], most)
            check.same(f'{w.name} {form} {most}', joined(got) if form else got, (whole, 0))
            middle = whole[len(whole) // 2].get('id' if form else 'uuid', '')
            for page in ['--limit', '3'], ['--before', middle, '--limit', '3'], ['--around', middle, '--limit', '4']:
                if middle and len(w.name) % 2 == number:
                    want = [m for m in w.json('messages', w.id, *form, *page) if m.get('role') != 'tool']
                    check.same(f'{w.name} {form} {most} {page}', page_parts(w.run, ['messages', w.id, *form], page, most), want)
    if w.name == 'claude':
        whole_sdk = w.json('messages', w.id, '--as-sdk')
        most = max(len(json.dumps(m, ensure_ascii=False).encode()) for m in whole_sdk) * 3
        check.same('the list of the SDK goes on by its offset', parts(w.run, ['messages', w.id, '--as-sdk'], most), (whole_sdk, 0))
        for found in ['--tail', '2'], ['--at', whole_sdk[-1]['uuid']]:
            run = w.run('messages', w.id, '--as-sdk', '--json', '--max-bytes', '9', *found)
            check.same(f'{found}: no next step', json.loads(run.stdout), [{'truncated': True, 'leftOut': True}])
            check.need(f'{found}: none is named', run.returncode == 0 and b'; the rest' not in run.stderr)
        text = w.run('messages', w.id, '--as-sdk', '--max-bytes', '1').stderr
        check.need('as text', b'--offset 1:' in text and b'--after' not in text)
    first = json.loads(w.run('messages', w.id, '--plain', '--json', '--max-bytes', '9').stdout)
    check.same(f'{w.name}: too large', first, [{'truncated': True, 'leftOut': True, 'after': whole[0]['id']}])
    ids = [m['id'] for m in whole]
    for at in 0, len(ids) // 2:
        for limit in (2, None):
            want = whole[max(0, at - (limit or 11) // 2):][:limit or 11]
            if at < (limit or 11) // 2:
                want = whole[:limit or 11]
            more = ['--limit', str(limit)] if limit else []
            check.same(f'{w.name}: around {at} {limit}', w.json('messages', w.id, '--plain', '--around', ids[at], *more), want)
            text = w.run('messages', w.id, '--plain', '--around', ids[at], *more).stdout.decode()
            shown = [line[1:-1] for line in text.splitlines() if line[:1] == '[' and line[1:-1] in ids]
            check.need(f'{w.name}: as text {at} {limit}', ids[at] in shown and set(shown) <= {m['id'] for m in want})
    own = w.json('messages', w.id)
    for m in own[0], own[-1]:
        if m.get('uuid'):
            at = own.index(m)
            check.same(f'{w.name}: its own form', w.json('messages', w.id, '--around', m['uuid'], '--limit', '3'),
                       own[max(0, at - 1):][:3])
            check.same(f'{w.name}: after', w.json('messages', w.id, '--after', m['uuid']), own[at + 1:])
    for words in ['--around', ids[0], '--tail', '1'], ['--around', ids[0], '--raw'], ['--max-bytes', '9', '--raw']:
        run = w.run('messages', w.id, *words)
        check.same(f'{w.name}: {words[0]} {words[-1]}', (run.returncode, run.stderr.count(b'\n')), (2, 1))
    check.same(f'{w.name}: around nothing', w.run('messages', w.id, '--around', 'zzzz').returncode, 3)


def edited(home):
    """Five sessions that write a file, in turn."""
    project = f'{home}/no/p'
    os.makedirs(project)
    folder = f'{home}/.claude/projects/' + ''.join(c if c.isalnum() else '-' for c in project)
    os.makedirs(folder)
    text = ''
    for n in range(5):
        sid, more, base = f'{n}0000000-1111-4111-8111-111111111111', text + f'line {n}\nsecond {n}\n', {}
        at = f'2026-01-0{n + 1}T00:00:0%d.000Z'
        rows = [{'type': 'user', 'uuid': f'u{n}', 'parentUuid': None, 'timestamp': at % 1, 'message': {'role': 'user', 'content': f'write {n}'}},
                {'type': 'assistant', 'uuid': f'a{n}', 'parentUuid': f'u{n}', 'timestamp': at % 2, 'message': {'role': 'assistant', 'content': [
                    {'type': 'tool_use', 'id': f't{n}', 'name': 'Write', 'input': {'file_path': f'{project}/f', 'content': more}}]}},
                {'type': 'user', 'uuid': f'r{n}', 'parentUuid': f'a{n}', 'timestamp': at % 3, 'message': {'role': 'user', 'content': [
                    {'type': 'tool_result', 'tool_use_id': f't{n}', 'content': 'ok'}]},
                 'toolUseResult': {'type': 'update' if text else 'create', 'filePath': f'{project}/f', 'content': more, 'originalFile': text or None,
                                   'structuredPatch': []}}]
        base = {'sessionId': sid, 'cwd': project, 'version': '2.1.0', 'isSidechain': False, 'userType': 'external', 'gitBranch': ''}
        with open(f'{folder}/{sid}.jsonl', 'w', encoding='utf-8') as f:
            f.write(''.join(json.dumps({**row, **base}, separators=(',', ':')) + '\n' for row in rows))
        text = more
    with open(f'{project}/f', 'w', encoding='utf-8') as f:
        f.write(text)
    return project


def check_others(check, top):
    p = Program(sys.argv[1], top, {})
    path = edited(top) + '/f'
    for number, words in enumerate((['list', '--all'], ['touched', path], ['blame', path], ['blame', path, '--by', 'turn'], ['search', '--all', 'line|write'],
                                    ['search', '--all', '--count', 'line'], ['search', '--all', '--context', '1', 'second'])):
        text = p.run(*words, '--json').stdout.decode()
        whole = json.loads(text) if text[:1] == '[' else [json.loads(line) for line in text.splitlines()]
        check.need(f'{words}: rows', len(whole) >= 5)
        for most in bounds(max(len(json.dumps(r).encode()) for r in whole) + 8, number):
            check.same(f'{words} {most}', parts(p.run, words, most), (whole, 0))
        lines = p.run(*words).stdout.splitlines(keepends=True)
        run = p.run(*words, '--max-bytes', str(sum(map(len, lines[:2]))))
        check.same(f'{words}: text', (run.stdout, run.stderr.count(b'\n'), run.returncode), (b''.join(lines[:2]), 1, 0))
        check.need(f'{words}: the next step', b'--offset 2' in run.stderr)
        run = p.run(*words, '--offset', '2')
        check.same(f'{words}: the rest', run.stdout, b''.join(lines[2:]))
        if LONG or len(words) < 4:  # once for each command
            check.same(f'{words}: one row too large', parts(p.run, words, 10), ([], len(whole)))
    hits = len(p.run('search', '--all', 'line', '--json').stdout.splitlines())
    for words, code in ((['line', '--offset', str(hits)], 0), (['never written', '--offset', '1'], 1)):
        run = p.run('search', '--all', '--json', *words)
        check.same(f'search {words}: nothing is left', (run.returncode, run.stdout, run.stderr != b''), (code, b'', code == 1))
    for bound in '0', '9223372036854775807':
        check.same(f'no bound: {bound}', p.run('touched', path, '--max-bytes', bound).stdout, p.run('touched', path).stdout)
    run = p.run('search', '--all', 'line', '--json', '--limit', '3', '--max-bytes', str(len(p.run('search', '--all', 'line', '--json', '--limit', '2').stdout)))
    check.same('the limit of the rest', json.loads(run.stdout.splitlines()[-1]), {'truncated': True, 'offset': 2, 'limit': 1})
    check.need(f'as text: {run.stderr}', b'--offset 2 --limit 1' in run.stderr)
    check.same('--limit counts from the offset', p.run('search', '--all', 'line', '--offset', '2', '--limit', '2').stdout.splitlines(),
               p.run('search', '--all', 'line').stdout.splitlines()[2:4])
    for wrong in '-1', 'x', '':
        check.same(f'a bound of {wrong!r}', p.run('list', '--max-bytes', wrong).returncode, 2)
    with open(f'{top}/escaped.jsonl', 'w', encoding='utf-8') as f:
        f.write(json.dumps({'type': 'user', 'uuid': 'u', 'parentUuid': None, 'sessionId': 'e0000000-1111-4111-8111-111111111111', 'cwd': top,
                            'timestamp': '2026-01-09T00:00:00.000Z', 'message': {'role': 'user', 'content': 'x \x9b' + '\x9b' * 400}}, ensure_ascii=False,
                           separators=(',', ':')) + '\n')
    os.rename(f'{top}/escaped.jsonl', os.path.dirname(glob.glob(f'{top}/.claude/projects/*/*.jsonl')[0]) + '/e0000000-1111-4111-8111-111111111111.jsonl')
    for form in [], ['--plain']:
        run = p.run('messages', 'claude:e0000000-1111-4111-8111-111111111111', '--json', '--max-bytes', '1500', *form)
        check.need(f'what is escaped counts: {run}', run.returncode == 0 and len(run.stdout) < 1600 and json.loads(run.stdout)[-1]['leftOut'])
    check.same('no offset', p.run('blame', path, '--porcelain', '--offset', '1').returncode, 2)


def check_places(check, top):
    """Messages without ids are named by their places, with --plain and without."""
    p = Program(sys.argv[1], top, {})
    os.makedirs(f'{p.home}/work')
    for n, agent in enumerate(AGENTS):
        write(agent, p.home, f'{p.home}/work', n + 1, 1795770000 + n, f'prompt of {agent}')
    for row in p.json('list', '--all'):
        name = f'{row["system"]}:{row["sessionId"]}'
        first = p.json('messages', '--plain', name)[0]['id']
        for form in [], ['--plain']:
            for option, want in ('--after', 1), ('--around', 2):
                check.same(f'{name} {option} {form}', len(p.json('messages', *form, name, option, first)), want)


def bytes_read():
    """By this process and the ones it waited for."""
    with open('/proc/self/io', encoding='ascii') as f:
        return int(f.readline().split()[1])


def check_end_of_a_long_session(check, top):
    """What comes after a message near the end takes no more than the end, in every form."""
    p = Program(sys.argv[1], top, {})
    session, name = '11111111-1111-4111-8111-111111111111', '%08d-0000-4000-8000-000000000000'
    os.makedirs(f'{p.home}/.claude/projects/-w')
    with open(f'{p.home}/.claude/projects/-w/{session}.jsonl', 'w', encoding='utf-8') as f:
        for n in range(10000):
            kind = ('user', 'assistant')[n % 2]
            text = f'{n} {"word " * 400}'
            f.write(json.dumps({'parentUuid': name % (n - 1) if n else None, 'isSidechain': False, 'type': kind, 'cwd': '/w', 'sessionId': session, 'message': {
                'role': kind, 'content': [{'type': 'text', 'text': text}] if n % 2 else text}, 'uuid': name % n, 'timestamp': '2026-02-09T02:48:28.000Z'},
                               separators=(',', ':')) + '\n')
            if n % 16 == 15:
                f.write(json.dumps({'type': 'last-prompt', 'lastPrompt': 'word', 'leafUuid': name % n, 'sessionId': session}, separators=(',', ':')) + '\n')
    for at, most in (9999, 3 << 20), (9990, 3 << 20), (9900, 6 << 20), (9000, 1 << 30), (3, 1 << 30):
        for form in ['--json'], ['--plain', '--json'], []:
            before = bytes_read()
            said = p.run('messages', f'claude:{session}', '--after', name % at, *form).stdout
            read = bytes_read() - before - len(said)
            check.need(f'--after {at} of 10000 {form}: {read} bytes are read', read < most)
            if form:
                check.same(f'--after {at} {form}', [m.get('id', m.get('uuid')) for m in json.loads(said)], [name % n for n in range(at + 1, 10000)])


def main():
    check = checks.Checks()
    names = list(TABLE) if LONG else list(TABLE)[::3]
    for name in names:
        with tempfile.TemporaryDirectory() as top:
            check_messages(check, World(sys.argv[1], name, os.path.realpath(top)))
    with tempfile.TemporaryDirectory() as top:
        check_others(check, os.path.realpath(top))
    with tempfile.TemporaryDirectory() as top:
        check_places(check, os.path.realpath(top))
    with tempfile.TemporaryDirectory() as top:
        check_end_of_a_long_session(check, os.path.realpath(top))
    print(f'{check.passed} passed, {check.failed} failed')
    sys.exit(1 if check.failed or check.passed < 18 * len(names) else 0)


if __name__ == '__main__':
    main()
