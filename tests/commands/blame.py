#!/usr/bin/env python3
"""`reprise blame` gives each line of a file to the turn that wrote it, and never to another.

usage: blame.py PROGRAM [SEED [WORLDS]]

Worlds are generated: several sessions of Claude Code, with sub-agents and dead branches, edit files; in between a person
edits, moves and restores them. Who wrote a line is known, because each change is made by position. Lines that are
attributed must be right, all of them; of the lines that agents wrote at least 95 % must be attributed. Both figures are
printed.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile

from support.program import Program, snapshot

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')
RECORDED_AT = '/home/dev/ws'

COMMON = ['', '}', '    return 0;', '    }', 'end', '\treturn;']


class Session:
    def __init__(self, world, number):
        self.world, self.id = world, f'{number:08x}-0000-4000-8000-000000000000'
        self.rows, self.agents, self.count = [], {}, 0
        self.last, self.turn, self.turns = None, None, []
        self.tip = {}

    def row(self, kind, body, agent=None):
        self.count += 1
        uuid = f'{self.count:08x}-{self.id[4:8]}-4000-8000-{"a" * 12 if agent else "0" * 12}'
        last = self.tip.get(agent)
        row = {'parentUuid': last, 'isSidechain': bool(agent), 'type': kind, **body, 'uuid': uuid,
               'timestamp': self.world.time(), 'cwd': self.world.cwd, 'sessionId': self.id}
        if agent:
            row['agentId'] = agent
        (self.agents.setdefault(agent, []) if agent else self.rows).append(row)
        self.tip[agent] = uuid
        return uuid

    def prompt(self, text):
        if self.turns and self.world.rng.random() < 0.15:  # the conversation goes on from an earlier prompt
            self.tip[None] = self.world.rng.choice(self.turns)
        self.turn = self.row('user', {'message': {'role': 'user', 'content': text}})
        self.turns.append(self.turn)

    def call(self, name, args, result, failed=False, agent=None, more=None):
        self.count += 1
        call = f'toolu_{self.id[:8]}_{self.count}'
        self.row('assistant', {'message': {'role': 'assistant', 'content': [
            {'type': 'tool_use', 'id': call, 'name': name, 'input': args}]}}, agent)
        content = {'tool_use_id': call, 'type': 'tool_result', 'content': 'Done'}
        if failed:
            content['is_error'] = True
        self.row('user', {'message': {'role': 'user', 'content': [content]}, 'toolUseResult': result, **(more or {})},
                 agent)


class File:
    """Its lines, each with the turn that wrote it (None: a person)."""

    def __init__(self, path, crlf, newline):
        self.path, self.crlf, self.newline, self.lines = path, crlf, newline, []

    def text(self):
        text = '\n'.join(line for line, _ in self.lines)
        return text + ('\n' if self.newline and self.lines else '')

    def bytes(self):
        return self.text().replace('\n', '\r\n' if self.crlf else '\n').encode()


class World:
    def __init__(self, rng, folder, number):
        self.rng, self.now, self.names, self.unique = rng, 1_772_359_200_000, 0, 0
        self.cwd = os.path.join(folder, 'ws')
        self.config = os.path.join(folder, 'cfg')
        os.makedirs(self.cwd)
        self.sessions = [Session(self, number * 100 + i + 1) for i in range(rng.randint(1, 4))]
        self.files, self.past = [], {}
        self.blind = number % 8 == 7  # results of edits do not have the text before

    def time(self):
        self.now += self.rng.randint(5, 60_000)
        s, ms = divmod(self.now, 1000)
        import datetime
        return datetime.datetime.fromtimestamp(s, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S') + f'.{ms:03d}Z'

    def line(self, common=True):
        self.unique += 1
        if common and self.rng.random() < 0.2:
            return self.rng.choice(COMMON)
        words = self.rng.choice(['value', 'total', 'été', '日本', 'x "q" \\n', 'tab\there', '<b>&amp;', 'count'])
        return f'{"    " * self.rng.randint(0, 2)}{words} = {self.unique};'

    def some(self, most, common=True):
        return [self.line(common) for _ in range(self.rng.randint(1, most))]

    def path(self):
        self.names += 1
        name = self.rng.choice(['main', 'übung', 'read me', 'a.b', 'x+y&z'])
        return os.path.join(self.cwd, self.rng.choice(['', 'src', 'src/deep']), f'{name}{self.names}.c')

    def keep(self, f):
        self.past.setdefault(id(f), []).append(list(f.lines))


def create(w, s, agent, owner):
    f = File(w.path(), False, w.rng.random() < 0.8)
    f.lines = [(line, owner) for line in w.some(12)]
    if f.lines[-1][0] == '':
        f.lines[-1] = (w.line(False), owner)
    text = f.text()
    s.call('Write', {'file_path': f.path, 'content': text},
           {'type': 'create', 'filePath': f.path, 'content': text, 'structuredPatch': [], 'originalFile': None,
            'userModified': False}, agent=agent)
    w.files.append(f)
    return f


def edit_call(s, f, old, new, before, agent, every=False, more=None):
    if s.world.blind:
        before = None
    s.call('Edit', {'file_path': f.path, 'old_string': old, 'new_string': new, 'replace_all': every},
           {'filePath': f.path, 'oldString': old, 'newString': new, 'originalFile': before, 'structuredPatch': [],
            'userModified': False, 'replaceAll': every, **(more or {})}, agent=agent)


def splice(f, at, n, new, owner):
    """The lines that old and new text have in common at both ends are not changed."""
    old = f.lines[at:at + n]
    head = 0
    while head < min(n, len(new)) and old[head][0] == new[head]:
        head += 1
    tail = 0
    while tail < min(n, len(new)) - head and old[n - 1 - tail][0] == new[len(new) - 1 - tail]:
        tail += 1
    f.lines[at:at + n] = old[:head] + [(t, owner) for t in new[head:len(new) - tail]] + old[n - tail:]


def edit(w, s, agent, owner, f):
    before = f.text()
    for _ in range(20):
        n = w.rng.randint(1, min(4, len(f.lines)))
        at = w.rng.randrange(len(f.lines) - n + 1)
        old = '\n'.join(line for line, _ in f.lines[at:at + n])
        if old.strip() and before.count(old) == 1 and '\n'.join([''] + [x for x, _ in f.lines] + ['']).count('\n' + old + '\n') == 1:
            break
    else:
        return
    keep = w.rng.randint(0, n - 1) if w.rng.random() < 0.5 else 0  # lines of context in front
    new = [line for line, _ in f.lines[at:at + keep]] + w.some(4, common=False)
    edit_call(s, f, old, '\n'.join(new), before, agent)
    splice(f, at, n, new, owner)


def edit_word(w, s, agent, owner, f):
    """A part of a line."""
    before = f.text()
    for i, (line, _) in enumerate(f.lines):
        if '= ' in line and before.count(line.strip()) == 1:
            break
    else:
        return
    old = line.strip()
    w.unique += 1
    new = f'{old[:-1]} + {w.unique};'
    edit_call(s, f, old, new, before, agent)
    f.lines[i] = (line.replace(old, new), owner)


def edit_everywhere(w, s, agent, owner, f):
    before = f.text()
    if 'value' not in before and 'count' not in before:
        return
    old = 'value' if 'value' in before else 'count'
    w.unique += 1
    new = f'renamed{w.unique}'
    edit_call(s, f, old, new, before, agent, every=True)
    f.lines = [(x.replace(old, new), owner if old in x else o) for x, o in f.lines]


def edit_several(w, s, agent, owner, f):
    before, edits = f.text(), []
    for _ in range(w.rng.randint(1, 3)):
        spots = [i for i, (x, _) in enumerate(f.lines) if '= ' in x and f.text().count(x) == 1]
        if not spots:
            break
        i = w.rng.choice(spots)
        new = w.some(2, common=False)
        edits.append({'old_string': f.lines[i][0], 'new_string': '\n'.join(new), 'replace_all': False})
        splice(f, i, 1, new, owner)
    if edits:
        s.call('MultiEdit', {'file_path': f.path, 'edits': edits},
               {'filePath': f.path, 'edits': edits, 'originalFileContents': before, 'structuredPatch': [],
                'userModified': False}, agent=agent)


def rewrite(w, s, agent, owner, f):
    before = f.text()
    unique = len({x for x, _ in f.lines}) == len(f.lines)
    if not unique:
        return
    at = w.rng.randrange(len(f.lines))
    f.lines[at:at + w.rng.randint(0, 3)] = [(x, owner) for x in w.some(4, common=False)]
    text = f.text()
    s.call('Write', {'file_path': f.path, 'content': text},
           {'type': 'update', 'filePath': f.path, 'content': text, 'structuredPatch': [], 'originalFile': before,
            'userModified': False}, agent=agent)


def fail(w, s, agent, owner, f):
    s.call('Edit', {'file_path': f.path, 'old_string': 'not there', 'new_string': f.lines[0][0]},
           'Error: String to replace not found in file.', failed=True, agent=agent)


def accept_changed(w, s, agent, owner, f):
    """A person changed the proposal before accepting it: one of its lines is the person's."""
    before = f.text()
    spots = [i for i, (x, _) in enumerate(f.lines) if '= ' in x and before.count(x) == 1]
    if not spots:
        return
    i = w.rng.choice(spots)
    old, agents, persons = f.lines[i][0], w.line(False), w.line(False)
    s.call('Edit', {'file_path': f.path, 'old_string': old, 'new_string': f'{agents}\n{w.line(False)}'},
           {'filePath': f.path, 'oldString': old, 'newString': f'{agents}\n{persons}', 'originalFile': before,
            'structuredPatch': [], 'userModified': True, 'replaceAll': False}, agent=agent)
    f.lines[i:i + 1] = [(agents, owner), (persons, None)]


def move(w, s, agent, owner, f):
    to = w.path()
    relative = os.path.relpath
    old, new = relative(f.path, w.cwd), relative(to, w.cwd)
    command = f"mv '{old}' '{new}'" if w.rng.random() < 0.7 else f"mkdir -p src && git mv \"{old}\" \"{new}\""
    s.call('Bash', {'command': command}, {'stdout': '', 'stderr': '', 'interrupted': False}, agent=agent)
    f.path = to


def remove(w, s, agent, owner, f):
    s.call('Bash', {'command': f"rm '{f.path}'"}, {'stdout': '', 'stderr': '', 'interrupted': False}, agent=agent)
    if w.rng.random() < 0.5:
        f.lines = [(x, owner) for x in w.some(6)]
        if f.lines[-1][0] == '':
            f.lines[-1] = (w.line(False), owner)
        text = f.text()
        s.call('Write', {'file_path': f.path, 'content': text},
               {'type': 'create', 'filePath': f.path, 'content': text, 'structuredPatch': [], 'originalFile': None,
                'userModified': False}, agent=agent)
    else:
        w.files.remove(f)


AGENT = [edit] * 8 + [edit_word] * 3 + [edit_everywhere, edit_several, rewrite, fail, accept_changed, move, remove]


def by_hand(w):
    f = w.rng.choice(w.files)
    what = w.rng.random()
    if what < 0.15 and w.past.get(id(f)):  # git restores it
        f.lines = list(w.rng.choice(w.past[id(f)]))
        return
    if what < 0.25:
        f.crlf = not f.crlf
        return
    counts = {}
    for x, _ in f.lines:
        counts[x] = counts.get(x, 0) + 1
    # Of two equal lines beside each other nobody can say which one is new, so a person changes lines that occur once.
    spots = [i for i, (x, _) in enumerate(f.lines) if counts[x] == 1 and
             all(counts[f.lines[k][0]] == 1 for k in (i - 1, i + 1) if 0 <= k < len(f.lines))]
    if spots:
        i = w.rng.choice(spots)
        f.lines[i:i + w.rng.randint(0, 1)] = [(x, None) for x in w.some(3, common=False)]


def play(w):
    w.files.append(File(w.path(), w.rng.random() < 0.3, w.rng.random() < 0.7))
    w.files[0].lines = [(x, None) for x in w.some(15, common=False)]
    for _ in range(w.rng.randint(5, 40)):
        s = w.rng.choice(w.sessions)
        if s.turn is None or w.rng.random() < 0.4:
            s.prompt(f'Prompt {w.unique} of {s.id[:8]}')
        agent = f'a{w.unique}' if w.rng.random() < 0.2 else None
        if agent:
            s.row('user', {'message': {'role': 'user', 'content': 'The task'}}, agent)
        for _ in range(w.rng.randint(1, 3)):
            owner = (s.id, s.turn)
            if not w.files or w.rng.random() < 0.15:
                f = create(w, s, agent, owner)
            else:
                f = w.rng.choice(w.files)
                if f.lines:
                    w.rng.choice(AGENT)(w, s, agent, owner, f)
            w.keep(f)
        if w.files and w.rng.random() < 0.4:
            by_hand(w)


def write(w):
    for f in w.files:
        os.makedirs(os.path.dirname(f.path), exist_ok=True)
        with open(f.path, 'wb') as out:
            out.write(f.bytes())
    folder = os.path.join(w.config, 'projects', ''.join(c if c.isascii() and c.isalnum() else '-' for c in w.cwd))
    os.makedirs(folder)

    def dump(path, rows):
        with open(path, 'w') as out:
            for row in rows:
                out.write(json.dumps(row, ensure_ascii=w.rng.random() < 0.3, separators=(',', ':')) + '\n')
    for s in w.sessions:
        if s.rows:
            dump(os.path.join(folder, s.id + '.jsonl'), s.rows)
        for agent, rows in s.agents.items():
            os.makedirs(os.path.join(folder, s.id, 'subagents'), exist_ok=True)
            dump(os.path.join(folder, s.id, 'subagents', f'agent-{agent}.jsonl'), rows)


def check(program, w, totals):
    for f in w.files:
        got = program.json('blame', f.path)
        lines = f.text().split('\n')[:-1] if f.newline and f.lines else f.text().split('\n')
        assert [g['text'] for g in got] == (lines if f.lines else []), (f.path, got, f.lines)
        for g, (text, owner) in zip(got, f.lines):
            said = (g['session'], g['turn']) if 'session' in g else None
            totals['agent'] += owner is not None
            totals['found'] += owner is not None and said == owner
            totals['said'] += said is not None
            totals['right'] += said is not None and said == owner
            if said is not None and said != owner:
                print(f'WRONG {f.path}:{g["line"]} {text!r}: {said}, not {owner}')


# ---- worlds of the real client ----

FIRST, SECOND = 'first: edit many files', 'second: edit again'
# Its lines in the end, and once the second prompt is rewound: a person wrote what no prompt did.
RECORDED = {
    'mod.txt': ([('line 1', None), ('line TWO', FIRST), ('line THREE', SECOND), ('line 3b', SECOND)],
                [('line 1', None), ('line TWO', FIRST), ('line 3', None)]),
    'same.txt': ([('same', SECOND)], [('SAME', FIRST)]),
    'del.txt': ([('deleted?', FIRST)],) * 2,
    'exec.sh': ([('#!/bin/sh', None), ('echo bye', FIRST)],) * 2,
    'nonl.txt': ([('top', None), ('NO newline', FIRST)],) * 2,
    'crlf.txt': ([('dos one', None), ('DOS TWO', FIRST)],) * 2,
    'ünï côdé.txt': ([('E', FIRST)],) * 2,
    'sub/dir/file.txt': ([('DEEP', FIRST)],) * 2,
    'sub/new/created2.txt': ([('nested new', FIRST)],) * 2,
    '../rw-out/out.txt': ([('OUT', FIRST)],) * 2,
    'created.txt': ([('brand', FIRST), ('newer', SECOND)], [('brand', FIRST), ('new', FIRST)]),
    'untracked.txt': ([('untracked', None)],) * 2,
    'late.txt': ([('late', SECOND)], None),
}


def recorded(path, version, totals):
    with tempfile.TemporaryDirectory(prefix='blame.') as folder:
        top = os.path.realpath(folder)
        with tarfile.open(os.path.join(FIXTURES, 'rewind', f'base-{version}.tar.gz')) as tar:
            tar.extractall(top)
        ws = os.path.join(top, 'ws', 'rw')
        projects = os.path.join(top, 'cfg', 'projects')
        for name in os.listdir(projects):
            for log in os.listdir(os.path.join(projects, name)):
                log = os.path.join(projects, name, log)
                with open(log, 'rb') as f:
                    rows = f.read()
                with open(log, 'wb') as f:
                    f.write(rows.replace(RECORDED_AT.encode(), os.path.join(top, 'ws').encode()))
            os.rename(os.path.join(projects, name),
                      os.path.join(projects, ''.join(c if c.isascii() and c.isalnum() else '-' for c in ws)))
        program = Program(path, ws, {'CLAUDE_CONFIG_DIR': os.path.join(top, 'cfg'),
                                     'XDG_STATE_HOME': os.path.join(top, 'state')})
        session = '22222222'
        for after in (0, 1):
            if after:
                second = program.json('checkpoints', session)[1]
                assert SECOND in json.dumps(second), second
                done = program.run('rewind', session, '--to', second['id'], '--apply', '--allow-outside')
                assert done.returncode == 0, done
            for name, lines in RECORDED.items():
                if lines[after] is None:
                    assert program.run('blame', name).returncode == 3
                    continue
                for got, (text, prompt) in zip(program.json('blame', name), lines[after], strict=True):
                    program.same(f'{name}:{got["line"]} after {after} rewinds', (got['text'], got.get('prompt')),
                                 (text, prompt))
                    totals['recorded'] += 1
        # A person goes on from what the rewind put back: the lines of before keep their turns.
        with open(os.path.join(ws, 'mod.txt'), 'a') as f:
            f.write('by hand\n')
        program.same('after a rewind', [(g['text'], g.get('prompt')) for g in program.json('blame', 'mod.txt')],
                     RECORDED['mod.txt'][1] + [('by hand', None)])
        with open(os.path.join(ws, 'created.txt'), 'w') as f:
            f.write('brand\nnew\nby hand\n')
        program.same('after a rewind', [(g['text'], g.get('prompt')) for g in program.json('blame', 'created.txt')],
                     RECORDED['created.txt'][1] + [('by hand', None)])
        touched(program)
        return program.failed


def touched(program):
    turns = program.json('touched', 'mod.txt')
    program.same('turns', [(t['prompt'], t['added'], t['removed'], t['did']) for t in turns],
                 [(SECOND, 2, 1, 'edited'), (FIRST, 1, 1, 'edited')])
    program.same('files below', len(program.json('touched', 'sub')), 2)
    program.same('nothing', program.json('touched', 'nothing'), [])
    files = {os.path.basename(f['path']): f for f in program.json('files', '22222222')}
    program.same('mod.txt', [(t['added'], t['removed']) for t in files['mod.txt']['turns']], [(1, 1), (2, 1)])
    program.same('created.txt', (files['created.txt']['added'], files['created.txt']['removed'],
                                 files['created.txt']['turns'][0]['did']), (3, 1, 'created'))


# ---- one small world ----

def small(path):
    with tempfile.TemporaryDirectory(prefix='blame.') as folder:
        top = os.path.realpath(folder)
        w = World(random.Random(1), top, 0)
        s = w.sessions[0]
        s.prompt('\x1b[31mWrite it\nand more')
        owner = (s.id, s.turn)
        f = create(w, s, None, owner)
        f.path = os.path.join(w.cwd, 'a.c')
        s.rows = s.rows[:1]
        f.lines = [('one', owner), ('', owner), ('three', owner)]
        s.call('Write', {'file_path': f.path, 'content': 'one\n\nthree\n'},
               {'type': 'create', 'filePath': f.path, 'content': 'one\n\nthree\n', 'originalFile': None})
        f.newline = True
        w.files = [f]
        write(w)
        program = Program(path, w.cwd, {'CLAUDE_CONFIG_DIR': w.config})
        before = snapshot(w.config)
        forms(program, s)
        scope(program, w)
        hostile(program, w)
        in_git(program, w)
        program.need(snapshot(w.config) == before, 'a read wrote into the store')
        return program.failed


def forms(program, s):
    text = program.text('blame', 'a.c').splitlines()
    program.same('lines', len(text), 3)
    program.need(text[0].startswith(s.id[:8]) and 'Write it' in text[0] and text[0].endswith(' 1 one'), text[0])
    program.same('a range', program.text('blame', 'a.c:2-3').splitlines(), text[1:])
    program.same('one line', program.text('blame', 'a.c:3').splitlines(), text[2:])
    program.same('from a line on', program.text('blame', 'a.c:3-').splitlines(), text[2:])
    program.same('up to a line', program.text('blame', 'a.c:-1').splitlines(), text[:1])
    program.same('the blank line', program.json('blame', 'a.c:2')[0]['text'], '')
    porcelain = program.run('blame', 'a.c', '--porcelain').stdout.decode().splitlines()
    heads = [x.split() for x in porcelain if len(x.split()) in (3, 4) and len(x.split()[0]) == 40]
    program.same('porcelain', [h[1:] for h in heads], [['1', '1', '3'], ['2', '2'], ['3', '3']])
    program.same('porcelain lines', [x[1:] for x in porcelain if x.startswith('\t')], ['one', '', 'three'])
    program.need('author claude' in porcelain and f'turn {s.turn}' in porcelain, repr(porcelain))
    for bad in ('a.c:9', 'a.c:3-2'):
        program.same(bad, program.run('blame', bad).returncode, 2)


def scope(program, w):
    """Sessions of all projects count, wherever the program is started: an agent edits files of other projects too."""
    file, elsewhere = w.files[0].path, os.path.join(w.cwd, 'elsewhere')
    os.mkdir(elsewhere)
    for args, found in ((['-C', elsewhere], True), (['--project', w.cwd], True), (['--project', elsewhere], False)):
        program.same(f'blame {args}', 'session' in program.json('blame', *args, file)[0], found)
        program.same(f'touched {args}', len(program.json('touched', *args, file)), int(found))
    os.rmdir(elsewhere)


def hostile(program, w):
    os.symlink('a.c', os.path.join(w.cwd, 'link.c'))
    os.symlink('/dev/zero', os.path.join(w.cwd, 'zero'))
    os.symlink('loop', os.path.join(w.cwd, 'loop'))
    os.mkfifo(os.path.join(w.cwd, 'fifo'))
    os.mkdir(os.path.join(w.cwd, 'dir'))
    with open(os.path.join(w.cwd, 'binary'), 'wb') as f:
        f.write(b'a\0b\n')
    with open(os.path.join(w.cwd, 'huge'), 'wb') as f:
        f.truncate(1 << 40)
    with open(os.path.join(w.cwd, 'empty'), 'wb'):
        pass
    with open(os.path.join(w.cwd, 'raw'), 'wb') as f:
        f.write(b'\xff\xfe\x1b[2J\r\n\xe2\x80\xae')
    program.same('by a link', [g.get('turn') for g in program.json('blame', 'link.c')],
                 [g.get('turn') for g in program.json('blame', 'a.c')])
    program.same('empty', program.json('blame', 'empty'), [])
    program.same('raw', len(program.text('blame', 'raw').splitlines()), 2)
    program.same('outside', [g.get('session') for g in program.json('blame', '../../../../../etc/passwd')][:1], [None])
    for name, code in (('zero', 4), ('fifo', 4), ('dir', 4), ('loop', 1), ('binary', 4), ('huge', 4), ('nothing', 3),
                       ('a.c/b', 1)):
        run = program.run('blame', name)
        program.same(f'blame {name}', (run.returncode, run.stdout, len(run.stderr.splitlines())), (code, b'', 1))


def in_git(program, w):
    """The commit that came after is named."""
    def git(*args, when):
        subprocess.run(['git', *args], cwd=w.cwd, check=True, capture_output=True,
                       env={'PATH': os.environ['PATH'], 'HOME': w.cwd, 'GIT_CONFIG_GLOBAL': '/dev/null',
                            'GIT_AUTHOR_NAME': 'A', 'GIT_AUTHOR_EMAIL': 'a@b', 'GIT_COMMITTER_NAME': 'A',
                            'GIT_COMMITTER_EMAIL': 'a@b', 'GIT_AUTHOR_DATE': when, 'GIT_COMMITTER_DATE': when})

    if not shutil.which('git'):
        return
    git('init', '-q', when='1772359200 +0000')
    git('add', 'link.c', when='1772359300 +0000')
    git('commit', '-q', '-m', 'before', when='1772000000 +0000')
    program.need('commit' not in program.json('blame', 'a.c')[0], 'not committed')
    git('add', 'a.c', when='1772400000 +0000')
    git('commit', '-q', '-m', 'Take it', when='1772400000 +0000')
    git('commit', '-q', '-m', 'later', '--allow-empty', when='1772500000 +0000')
    program.same('commit', program.json('blame', 'a.c')[0]['commit']['subject'], 'Take it')
    program.need(b'commit ' in program.run('blame', '--porcelain', 'a.c').stdout, 'no commit in the porcelain form')


def copies(path):
    """A call that edits a file twice counts once, and as a whole, in a session that two stores have."""
    with tempfile.TemporaryDirectory(prefix='blame.') as folder:
        top, sid = os.path.realpath(folder), '019a0000-0000-7000-8000-000000000001'
        program = Program(path, top, {})
        said = [('session_meta', {'id': sid, 'timestamp': '2026-11-01T10:00:00.000Z', 'cwd': top, 'cli_version': '0.60.0'})]
        for call, patch in (('c1', '*** Add File: f.txt\n+one\n+two\n+three\n'),
                            ('c2', '*** Update File: f.txt\n@@\n-one\n+ONE\n*** Update File: f.txt\n@@\n-three\n+THREE\n')):
            said += [('response_item', {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': call}]}),
                     ('event_msg', {'type': 'user_message', 'message': call}),
                     ('response_item', {'type': 'custom_tool_call', 'call_id': call, 'name': 'apply_patch', 'status': 'completed',
                                        'input': f'*** Begin Patch\n{patch}*** End Patch\n'}),
                     ('response_item', {'type': 'custom_tool_call_output', 'call_id': call,
                                        'output': json.dumps({'output': 'Success', 'metadata': {'exit_code': 0}})})]
        rows = [{'timestamp': f'2026-11-01T10:00:{i:02}.000Z', 'type': kind, 'payload': said} for i, (kind, said) in enumerate(said)]
        with open(f'{top}/f.txt', 'w', encoding='utf-8') as f:
            f.write('ONE\ntwo\nTHREE\n')
        for number, store in enumerate('ab'):
            os.makedirs(f'{top}/{store}/sessions/2026/11/01')
            name = f'{top}/{store}/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{sid}.jsonl'
            with open(name, 'w', encoding='utf-8') as f:
                f.write(''.join(json.dumps(row) + '\n' for row in rows))
            os.utime(name, (1793527300 + number,) * 2)
        for stores in 'a', 'b', 'ab', 'ba':
            lines = program.json('blame', 'f.txt', *(x for store in stores for x in ('--store', f'codex:{top}/{store}')))
            program.same(f'stores {stores}', [line.get('prompt') for line in lines], ['c2', 'c1', 'c2'])
        return program.failed


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 14
    worlds = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    totals = {'agent': 0, 'found': 0, 'said': 0, 'right': 0, 'recorded': 0}
    failed = small(sys.argv[1]) + copies(sys.argv[1]) + recorded(sys.argv[1], '197', totals) + recorded(sys.argv[1], '330', totals)
    assert totals['recorded'] > 60
    for i in range(worlds):
        with tempfile.TemporaryDirectory(prefix='blame.') as folder:
            w = World(random.Random(seed * 1000 + i), os.path.realpath(folder), i)
            play(w)
            write(w)
            check(Program(sys.argv[1], w.cwd, {'CLAUDE_CONFIG_DIR': w.config}), w, totals)
    assert totals['agent'] > 50 * worlds / 2, 'the worlds are too small to say anything'
    print(f'attributed lines that are right: {100 * totals["right"] / totals["said"]:.2f} % of {totals["said"]}')
    print(f'lines of agents that are attributed: {100 * totals["found"] / totals["agent"]:.2f} % of {totals["agent"]}')
    sys.exit(bool(failed) or totals['right'] != totals['said'] or totals['found'] < 0.95 * totals['agent'])


main()
