#!/usr/bin/env python3
"""Damage to the transcripts of a recorded store, the same for every agent.

usage: damaged_agents.py PROGRAM AGENT

Whatever is done to a transcript: no command crashes or hangs, nothing in the store is written, no raw control byte is
printed, and every other session is listed as before. Agents share the kinds of damage, because most of them are read by
the same code; REPRISE_SWEEP=long does everything to two transcripts of each.
"""
import glob
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', '..', '..')]

from agents import AGENTS
from recorded_store import RecordedStore

from support.program import Program

LONG = os.environ.get('REPRISE_SWEEP') == 'long'
MOST = 2 if LONG else 1  # transcripts that are damaged, the longest ones
SHARE = 1 if LONG else 3 * int(os.environ.get('DAMAGE_STEP', '1'))  # each agent gets every third kind of damage, and three agents get all of them


def lines(data):
    return data.splitlines(keepends=True)


def middle(data, new):
    """The line in the middle replaced."""
    rows = lines(data)
    at = len(rows) // 2
    return b''.join(rows[:at] + [new(rows[at])] + rows[at + 1:])


def retype(value):
    """Every text of the members is a number and every number a text; what they are called stays."""
    if isinstance(value, dict):
        return {k: retype(v) for k, v in value.items()}
    if isinstance(value, list):
        return {str(i): retype(v) for i, v in enumerate(value)}
    return 7 if isinstance(value, str) else [] if isinstance(value, bool) else 'x'


def as_json(change):
    def apply(data):
        out = []
        for row in lines(data):
            try:
                out.append(json.dumps(change(json.loads(row))).encode() + b'\n')
            except ValueError:
                out.append(row)
        return b''.join(out)
    return apply


def without(key):
    def drop(value):
        if isinstance(value, dict):
            return {k: drop(v) for k, v in value.items() if k != key}
        return [drop(v) for v in value] if isinstance(value, list) else value
    return as_json(drop)


def with_texts(new):
    """Every text that is not a short word is replaced."""
    def change(value):
        if isinstance(value, dict):
            return {k: change(v) for k, v in value.items()}
        if isinstance(value, list):
            return [change(v) for v in value]
        return new if isinstance(value, str) and (' ' in value or '/' in value) else value
    return as_json(change)


DAMAGE = {
    'empty': lambda d: b'',
    'one newline': lambda d: b'\n',
    'cut in half': lambda d: d[:len(d) // 2],
    'cut after 10 bytes': lambda d: d[:10],
    'last byte missing': lambda d: d[:-1],
    'first line missing': lambda d: b''.join(lines(d)[1:]),
    'only the last line': lambda d: lines(d)[-1] if d else d,
    'lines backwards': lambda d: b''.join(reversed(lines(d))),
    'every line twice': lambda d: b''.join(r + r for r in lines(d)),
    'garbage': lambda d: bytes(range(256)) * 40,
    'garbage in the middle': lambda d: middle(d, lambda r: b'\xff\xfe}{"[' * 50 + b'\n'),
    'NULs': lambda d: b'\0' * len(d),
    'NULs in the middle': lambda d: middle(d, lambda r: b'\0' * len(r)),
    'NULs at the end': lambda d: d + b'\0' * 4096,
    'CRLF': lambda d: d.replace(b'\n', b'\r\n'),
    'byte order mark': lambda d: b'\xef\xbb\xbf' + d,
    'a line of 20 MB': lambda d: middle(d, lambda r: b'{"type":"' + b'x' * 20_000_000 + b'"}\n'),
    '50,000 levels': lambda d: middle(d, lambda r: b'{"type":' + b'[' * 50000 + b']' * 50000 + b'}\n'),
    'huge numbers': lambda d: middle(d, lambda r: r.rstrip()[:-1] + b',"timestamp":1e999,"time":' + b'9' * 400 + b'}\n'),
    'broken UTF-8': lambda d: d.replace(b'e', b'\xc3', 40),
    'raw control bytes': lambda d: d.replace(b' ', b'\x1b]52;c;UEFZ\x07'),
    'escaped control bytes': with_texts('a\x1b]52;c;UEFZ\x07\x9b2J \0 /\u202ex'),
    'lone surrogates': with_texts('a \ud800/'),
    'paths that climb': with_texts('../../../../etc/passwd /'),
    'very long texts': with_texts('y/ ' * 30000),
    'other types': as_json(retype),
    'rows are arrays': as_json(lambda r: [r]),
    'rows are empty objects': as_json(lambda r: {}),
    **{f'without {key}': without(key) for key in ('id', 'uuid', 'parentUuid', 'parentId', 'type', 'message', 'payload', 'timestamp',
                                                  'cwd', 'sessionId', 'content', 'text', 'role', 'version')},
}


def a_link(path, body):
    os.rename(path, path + '.real')
    os.symlink(path + '.real', path)


def a_loop(path, body):
    os.unlink(path)
    os.symlink(path, path)


def a_directory(path, body):
    os.unlink(path)
    os.mkdir(path)


def a_pipe(path, body):
    os.unlink(path)
    os.mkfifo(path)


def unreadable(path, body):
    os.chmod(path, 0)


def missing(path, body):
    os.unlink(path)


PLACES = {f.__name__.replace('_', ' '): f for f in (a_link, a_loop, a_directory, a_pipe, unreadable, missing)}


def put(change):
    def do(path, body):
        with open(path, 'wb') as f:
            f.write(change(body))
    return do


class Damaged:
    def __init__(self, program, store):
        self.store = store
        self.p = Program(program, store.home, {**store.environment(), 'REPRISE_PROC_DIR': store.trees})

    def run(self, what, *args):
        """No signal, no control bytes, JSON that can be read."""
        run = self.p.run(*args, timeout=300)
        self.p.need(0 <= run.returncode < 64, f'{what}: {args}: exit {run.returncode}: {run.stderr[-300:]!r}')
        raw = {b for b in run.stdout + run.stderr if b < 32 and b not in (10,) or b == 127}
        self.p.need(not raw, f'{what}: {args}: raw control bytes {sorted(raw)}')
        try:
            return json.loads(run.stdout) if '--json' in args and run.stdout.strip() else None
        except ValueError:
            self.p.need(False, f'{what}: {args}: no JSON: {run.stdout[-200:]!r}')
            return None

    def rows(self, what):
        return {r['sessionId']: {k: r.get(k) for k in ('summary', 'cwd', 'firstPrompt', 'path')}
                for r in self.run(what, 'list', '--all', '--all-kinds', '--json') or []}

    def check(self, what, path, change, whole):
        self.store.fill()
        path = os.path.join(self.store.home, path)
        with open(path, 'rb') as f:
            body = f.read()
        change(path, body)
        before = self.store.contents()
        mine = self.store.agent.damaged(path) if self.store.agent.damaged else os.path.basename(path).rsplit('.', 1)[0]
        rows = self.rows(what)
        mixed = {mine} | {s.id for s in self.store.expected.sessions if s.parent == mine}
        lost = {i for i, r in whole.items() if i not in mixed and rows.get(i) != r}
        self.p.need(not lost, f'{what}: other sessions are not listed as before: {sorted(lost)[:4]}')
        name = f'{self.store.agent.name}:{mine}'
        self.run(what, 'list', '--all')
        self.run(what, 'info', '--all', name)
        self.run(what, 'messages', '--all', name)
        self.run(what, 'messages', '--all', '--json', name)
        self.run(what, 'search', '--all', 'price')
        self.run(what, 'usage', '--all', '--json')
        self.run(what, 'files', '--all', '--json', name)
        self.run(what, 'doctor', '--all', '--json', name)
        self.run(what, 'restore', '--all', '--json', name)
        for c in (self.run(what, 'checkpoints', '--all', '--json', name) or [])[:3]:
            self.run(what, 'rewind', '--all', '--json', name, '--to', c['id'], '--dry-run')
        self.p.need(self.store.contents() == before, f'{what}: the store was written')


def main():
    store = RecordedStore(AGENTS[sys.argv[2]])
    kinds = [*((n, put(c)) for n, c in DAMAGE.items()), *PLACES.items()][sorted(AGENTS).index(sys.argv[2]) % SHARE::SHARE]
    try:
        store.fill()
        d = Damaged(sys.argv[1], store)
        whole = d.rows('as recorded')
        paths = {p for pattern in store.agent.transcripts for p in glob.glob(f'{store.master}/{pattern}', include_hidden=True)}
        longest = sorted(paths, key=lambda p: (-os.path.getsize(p), p))[:MOST]
        for path in longest:
            for name, change in kinds:
                path = os.path.relpath(path, store.master) if path.startswith('/') else path
                d.check(f'{os.path.basename(path)}: {name}', path, change, whole)
    finally:
        store.remove()
    d.p.finish(MOST * len(kinds))


main()
