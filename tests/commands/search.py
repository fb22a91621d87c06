#!/usr/bin/env python3
"""`reprise search` finds every line of the decoded text that matches, and no other.

usage: search.py PROGRAM

A store is generated whose rows spell their texts in every way that JSON allows; what Python's regular expressions find in
the texts before they were spelled is compared with what the program finds in the files.
"""
import ctypes
import json
import os
import random
import re
import sys
import tempfile

from support.program import Program

WORDS = ['session', 'Kelvin', 'needle', 'Needle', 'ſhort', 'tas\u212a', 'été', 'naïve', 'x<y', 'a && b', 'path\\to', '"quoted"',
         "it's", 'tab\there', 'C:\\new', '日本語', '🚀 go', 'foo_bar', 'foo', 'a/b/c', 'nul\u0000l', 'end.', '{"type":"text"}',
         'uuid', 'role', '\u202emark', 'STRASSE', 'straße', '&lt;', 'neeedle']
PATTERNS = [
    (['needle'], []), (['Needle'], []), (['session'], []), (['task'], []), (['short'], []), (['kelvin'], []),
    (['foo'], ['-w']), (['foo_bar|été'], []), (['x<y'], ['-F']), (['a && b'], ['-F']), (['path\\to'], ['-F']),
    (['C:\\new'], ['-F']), (['"quoted"'], ['-F']), (["it's"], ['-F']), (['ne+dle'], []), (['n.{3}le'], []),
    (['^needle'], []), (['end\\.$'], []), (['[Nn]eedle|日本'], ['-s']), (['NEEDLE'], ['-i']), (['été'], ['-i']),
    (['STRASSE'], []), (['(?:foo|bar)_?b'], []), (['a/b'], ['-F']), (['naïve', 'needle'], ['--any']), (['b64payload'], []),
    (['type'], []), (['uuid'], []), (['\\bfoo\\b'], []), (['fo{1,2}x?'], []), (['nee?edle'], []), (['\\d\\dz'], []),
    (['role'], ['--in', 'prompts']), (['needle'], ['--in', 'replies']), (['needle'], ['--in', 'thinking']),
    (['needle'], ['--in', 'tools']), (['needle'], ['--in', 'all']),
]
PLACES = {'default': {'prompt', 'reply', 'tool'}, 'prompts': {'prompt'}, 'replies': {'reply'}, 'thinking': {'thinking'},
          'tools': {'tool'}, 'all': {'prompt', 'reply', 'tool', 'thinking', 'note'}}
SHORT = {'"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '/': '\\/', '\b': '\\b', '\f': '\\f', '\r': '\\r'}


def spelled(rng, text):
    """A JSON string, each character in one of the ways that JSON allows."""
    out = ['"']
    plain = rng.random() < 0.5
    for c in text:
        units = [c] if ord(c) < 0x10000 else list(c.encode('utf-16-be').hex(' ', 2).split())
        number = ''.join('\\u' + (u if len(u) == 4 else f'{ord(u):04x}') for u in units)
        number = number if rng.random() < 0.5 else number.replace('\\u', '\0').upper().replace('\0', '\\u')
        must = c in '"\\' or ord(c) < 0x20
        if rng.random() < (0.0 if plain else 0.05) or (must and c not in SHORT):
            out.append(number)
        elif c in SHORT and (must or rng.random() < 0.3):
            out.append(SHORT[c])
        else:
            out.append(c)
    return ''.join(out) + '"'


class Text(str):
    """What somebody said, as against the words of the format."""


def dump(rng, value):
    if isinstance(value, Text):
        return spelled(rng, value)
    if isinstance(value, list):
        return '[' + ','.join(dump(rng, v) for v in value) + ']'
    if isinstance(value, dict):
        return '{' + ','.join(f'{json.dumps(k)}:{dump(rng, v)}' for k, v in value.items()) + '}'
    return json.dumps(value)


def some_text(rng):
    lines = [' '.join(rng.choice(WORDS) for _ in range(rng.randint(1, 6))) for _ in range(rng.randint(1, 5))]
    return Text('\n'.join(lines))


class Session:
    """Rows of one session, and the texts in them: (message, place, text)."""

    def __init__(self, rng, number):
        self.rng, self.rows, self.texts, self.count = rng, [], [], 0
        self.id = f'{number:08x}-0000-4000-8000-000000000000'
        self.last = None

    def add(self, kind, content, place_texts, **more):
        self.count += 1
        uuid = f'{self.count:08x}-1111-4111-8111-{self.id[:8]:>012}'
        row = {'type': kind, 'uuid': uuid, 'parentUuid': self.last, 'timestamp': f'2026-01-01T00:{self.count // 60:02}:{self.count % 60:02}.000Z',
               'sessionId': self.id, 'cwd': '/x', 'message': {'role': kind, 'content': content}, **more}
        self.rows.append(dump(self.rng, row))
        self.texts += [(uuid, place, text) for place, text in place_texts]
        self.last = uuid
        return uuid

    def turn(self):
        rng = self.rng
        prompt, answer, thought = some_text(rng), some_text(rng), some_text(rng)
        self.add('user', prompt, [('prompt', prompt)])
        self.add('assistant', [{'type': 'thinking', 'thinking': thought, 'signature': 'needle'},
                               {'type': 'text', 'text': answer}], [('thinking', thought), ('reply', answer)])
        call, a, b, result = f'toolu_needle{self.count}', some_text(rng), some_text(rng), some_text(rng)
        self.add('assistant', [{'type': 'tool_use', 'id': call, 'name': 'Strange', 'input': {'needle': a, 'deep': [{'uuid': b}, 7]}}],
                 [('tool', a), ('tool', b)])
        self.add('user', [{'type': 'tool_result', 'tool_use_id': call, 'content': [{'type': 'text', 'text': result}]},
                          {'type': 'image', 'source': {'type': 'base64', 'media_type': 'image/png', 'data': 'b64payload'}}],
                 [('tool', result)])


def expected(session, patterns, flags):
    where = PLACES[flags[flags.index('--in') + 1] if '--in' in flags else 'default']
    compiled = []
    for p in patterns:
        capital = re.search(r'[A-Z]', p if '-F' in flags else re.sub(r'\\.', '', p))
        ignore = '-i' in flags or ('-s' not in flags and not capital)
        text = re.escape(p) if '-F' in flags else p
        text = rf'(?<!\w)(?:{text})(?!\w)' if '-w' in flags else text
        compiled.append(re.compile(text, (re.I if ignore else 0) | re.M))
    found = []
    for uuid, place, text in session.texts:
        if place not in where:
            continue
        for line in text.split('\n'):
            if any(p.search(line) for p in compiled):
                found.append((session.id, uuid, place, line))
    return found


def store(top, rng):
    sessions = []
    folder = f'{top}/config/projects/-x'
    os.makedirs(folder)
    for number in range(1, 25):
        s = Session(rng, number)
        for _ in range(rng.randint(1, 8)):
            s.turn()
        with open(f'{folder}/{s.id}.jsonl', 'w', encoding='utf-8') as f:
            f.write('\n'.join(s.rows) + ('\n' if number % 3 else ''))
        sessions.append(s)
    return sessions


def ranges_are_inside(hit):
    line = hit['line'].encode('utf-8', 'surrogatepass')
    return all(0 <= a < b <= len(line) for a, b in hit['matches'])


def compare(p, sessions):
    for patterns, flags in PATTERNS:
        args = [x for pattern in patterns for x in ('-e', pattern)]
        run = p.run('search', '--all', '--json', *flags, *args)
        hits = [json.loads(line) for line in run.stdout.splitlines()]
        got = sorted((h['session'], h['message'], h['place'], h['line']) for h in hits)
        want = sorted(x for s in sessions for x in expected(s, patterns, flags))
        p.need(run.returncode == (not want) and got == want,
               f'{patterns} {flags}: exit {run.returncode} {run.stderr!r}\n  missing {[w for w in want if w not in got][:3]}\n'
               f'  too much {[g for g in got if g not in want][:3]}, {len(got)} of {len(want)}')
        p.need(all(ranges_are_inside(h) for h in hits), f'{patterns}: a range outside of its line')
        counts = p.run('search', '--all', '--json', '--count', *flags, *args).stdout.splitlines()
        p.same(f'{patterns} --count', sum(json.loads(c)['lines'] for c in counts), len(want))
        listed = p.run('search', '--all', '--sessions', *flags, *args).stdout.decode().split()
        p.same(f'{patterns} --sessions', sorted(listed), sorted({w[0] for w in want}))


def several_must_all_occur(p, sessions):
    run = p.run('search', '--all', '--sessions', '-e', 'needle', '-e', 'kelvin', '-e', 'naïve')
    want = sorted(s.id for s in sessions if all(expected(s, [x], []) for x in ('needle', 'kelvin', 'naïve')))
    p.same('all of three patterns', sorted(run.stdout.decode().split()), want)


def places_and_branches(p, top):
    """Branches are marked, sub-agents named, damaged rows searched, context shown."""
    folder = f'{top}/config/projects/-y'
    sid = 'eeeeeeee-0000-4000-8000-000000000000'
    os.makedirs(f'{folder}/{sid}/subagents')
    rng = random.Random(2)
    s = Session(rng, 0xeeeeeeee)
    first = s.add('user', 'one marmalade\nfiller\ntwo', [])
    s.add('assistant', [{'type': 'text', 'text': 'left marmalade'}], [])
    s.last = first
    s.add('assistant', [{'type': 'text', 'text': 'above\nkept marmalade\nbelow'}], [])
    agent = Session(rng, 0xeeeeeeef)
    agent.add('user', 'task marmalade', [], isSidechain=True, agentId='a1')
    with open(f'{folder}/{sid}.jsonl', 'w', encoding='utf-8') as f:
        f.write('\n'.join([*s.rows[:2], '{"type":"user","message":{"content":"torn marmalade', *s.rows[2:]]) + '\n')
    with open(f'{folder}/{sid}/subagents/agent-a1.jsonl', 'w', encoding='utf-8') as f:
        f.write('\n'.join(agent.rows) + '\n')
    hits = [json.loads(x) for x in p.run('search', '--all', '--json', 'marmalade').stdout.splitlines()]
    by_line = {h['line']: h for h in hits}
    p.need(by_line.get('left marmalade', {}).get('otherBranch') is True, f'the branch is not marked: {hits}')
    p.need('otherBranch' not in by_line.get('kept marmalade', {'otherBranch': 1}), 'the conversation is marked as a branch')
    p.same('the sub-agent', by_line.get('task marmalade', {}).get('agent'), 'a1')
    p.need(any(h['place'] == 'damaged' and 'torn marmalade' in h['line'] for h in hits), 'the damaged row is not searched')
    with open(f'{folder}/{sid}.jsonl', 'a', encoding='utf-8') as f:
        f.write('{"type":"user","message":{"content":"half marmalade')
    half = [json.loads(x) for x in p.run('search', '--all', '--json', 'half marm').stdout.splitlines()]
    p.same('a torn last line is searched and on no branch', [(h['place'], h.get('otherBranch')) for h in half],
           [('damaged', None)])
    lines = [json.loads(x) for x in p.run('search', '--all', '--json', '--context', '1', 'kept marm').stdout.splitlines()]
    p.same('context', [(x['line'], x.get('context', False)) for x in lines],
           [('above', True), ('kept marmalade', False), ('below', True)])
    text = p.text('search', '--all', 'marmalade')
    p.need('eeeeeeee reply/branch: left marmalade' in text and 'eeeeeeee prompt/sub-agent: task marmalade' in text, text)
    p.same('--limit', len(p.run('search', '--all', '--limit', '2', 'marmalade').stdout.splitlines()), 2)
    for flags in ['--json'], [], ['--json', '--count']:
        whole = p.run('search', '--all', *flags, 'e').stdout.splitlines(keepends=True)
        most = sum(map(len, whole[:3])) + 1
        run = p.run('search', '--all', *flags, '--max-bytes', str(most), 'e')
        got = run.stdout.splitlines(keepends=True)
        note = json.loads(got.pop()) if flags else None
        p.need(run.returncode == 0 and got == whole[:3] and b'--offset 3' in run.stderr, f'--max-bytes {flags}: {run}')
        p.same('its note', note, {'truncated': True, 'offset': 3} if flags else None)
        run = p.run('search', '--all', *flags, '--max-bytes', str(sum(map(len, whole))), 'e')
        p.same('all of it', (run.stdout, run.stderr), (b''.join(whole), b''))


def commands_are_found_as_they_are_shown(p, top):
    """The blank between a command and its arguments, and that before a line of the shell, are not in the file."""
    folder = f'{top}/config/projects/-c'
    os.makedirs(folder)
    s = Session(random.Random(5), 0xbbbbbbbb)
    s.add('user', '<command-name>/paint</command-name>\n<command-args>walls blue</command-args>', [])
    s.add('user', '<bash-input>mix paint</bash-input>', [])
    with open(f'{folder}/{s.id}.jsonl', 'w', encoding='utf-8') as f:
        f.write('\n'.join(s.rows) + '\n')
    for pattern, line in (('/paint walls', '/paint walls blue'), ('paint walls', '/paint walls blue'), ('! mix', '! mix paint')):
        for flags in ([], ['-s']):
            hits = [json.loads(x) for x in p.run('search', '--all', '--json', *flags, pattern).stdout.splitlines()]
            p.same(f'{pattern} {flags}', [h['line'] for h in hits], [line])


def bad_requests(p):
    for args, code, said in ((['('], 2, b'"(" is not a pattern: '), (['-e', ''], 2, b'empty'), ([], 2, b'pattern'),
                             (['--in', 'walls', 'x'], 2, b'not a place'), (['zzzzzzzz'], 1, b'no session has a match'),
                             (['--json', 'zzzzzzzz'], 1, b'no session has a match'), (['--count', 'zzzzzzzz'], 1, b'no session has a match')):
        run = p.run('search', '--all', *args)
        p.need(run.returncode == code and said in run.stderr and run.stdout == b'', f'{args}: {run}')


def a_pattern_that_takes_too_long_ends_the_search(p, top):
    folder = f'{top}/config/projects/-z'
    os.makedirs(folder)
    s = Session(random.Random(3), 0xdddddddd)
    for _ in range(40):
        s.add('user', 'a' * 5000 + '!', [])
    with open(f'{folder}/{s.id}.jsonl', 'w', encoding='utf-8') as f:
        f.write('\n'.join(s.rows) + '\n')
    run = p.run('search', '--all', '(a+)+(b|c)+$', timeout=600)
    p.need(run.returncode == 4 and b'too long' in run.stderr, f'{run.returncode} {run.stderr!r}')


def links_are_not_opened(p, top):
    """A link in place of a transcript is not searched, and what it leads to is not even opened."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder = f'{top}/config/projects/-l'
    os.makedirs(folder)
    os.makedirs(f'{top}/elsewhere')
    s = Session(random.Random(4), 0xcccccccc)
    s.add('user', 'marzipan', [])
    secret = f'{top}/elsewhere/{s.id}.jsonl'
    with open(secret, 'w', encoding='utf-8') as f:
        f.write('\n'.join(s.rows) + '\n')
    os.symlink(secret, f'{folder}/{s.id}.jsonl')
    watch = libc.inotify_init1(os.O_NONBLOCK)
    if watch < 0 or libc.inotify_add_watch(watch, secret.encode(), 0x20) < 0:  # IN_OPEN
        sys.exit('inotify cannot be used')
    run = p.run('search', '--all', 'marzipan')
    p.need(run.returncode == 1 and run.stdout == b'' and b'no session has a match' in run.stderr, f'a link was searched: {run}')
    try:
        p.need(not os.read(watch, 4096), 'the target of a link was opened')
    except BlockingIOError:
        p.need(True, '')
    with open(secret, 'rb'):
        p.need(bool(os.read(watch, 4096)), 'the watch sees no opening')
    os.close(watch)


def main():
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(f'{top}/home')
        p = Program(sys.argv[1], f'{top}/home', {'CLAUDE_CONFIG_DIR': f'{top}/config'})
        sessions = store(top, random.Random(20261122))
        compare(p, sessions)
        several_must_all_occur(p, sessions)
        bad_requests(p)
        commands_are_found_as_they_are_shown(p, top)
        places_and_branches(p, top)
        links_are_not_opened(p, top)
        a_pattern_that_takes_too_long_ends_the_search(p, top)
        p.finish(len(PATTERNS) * 4 + 10)


main()
