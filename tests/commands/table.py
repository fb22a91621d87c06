#!/usr/bin/env python3
"""Every row of the table of systems, and every command, on the fixtures of every system; the screen's half is screen/table.sh.

usage: table.py PROGRAM

For each world one table has the session, its abilities and the effect of a rewind; an operation that a system lacks
must be refused (4) with an explanation. Each change is undone, and then every byte of store and work tree is as before.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support import checks
from support.program import CUTS, Program, snapshot, undone
from support.fixture_homes import ENV, WORLDS, world

GOAT = {'tag': 'Go sessions have no tags', 'archive': 'cannot be archived', 'unarchive': 'cannot be archived',
        'resume-at': 'fork at this one instead', 'tombstone': 'loads every message', 'reappend': 'in its own file',
        'retrieve': 'where their host looks', 'agent': 'Go sessions have no sub-agents'}
ENTIRE = {'rename': 'named by their first prompt', 'tag': 'have no tags', 'archive': 'cannot be archived',
          'unarchive': 'cannot be archived', 'tombstone': 'Entire keeps copies', 'reappend': 'in its own file',
          'agent': 'no such sub-agent'}
AGENTS = {'two-sessions': ['ag01'], 'committed': ['ag02']}  # of tasks, in git
AWAY = {**ENTIRE, 'resume-at': 'not on this machine', 'delete': 'only its committed checkpoints are left',
        'append': 'use reprise retrieve', 'talk': 'not on this machine'}
CAN = {'goat': 'resume fork rewind rename delete', 'exathena': 'resume fork rewind delete',
       'claude': 'resume fork resume-at rewind rename tag archive delete'}
SPEC, CA = '0f0e0d0c-0b0a-4908-8706-050403020', 'c1b2c3d4-0001-4000-8000-00000000000a'

# world: system, session, its messages, the point to rewind to; the numbers of files restored, created and deleted; the
# message to fork at and the number in the copy; how the conversation is rewound; unsupported operations with their texts.
TABLE = {
    'claude': ('claude', '22222222-2222-4222-8222-222222222222', 63, '7810931c', (3, 0, 1), ('b8c1a772', 62), 'resume-at',
               {'retrieve': 'already where it looks', 'agent': 'sub-agent nobody'}),
    'shipped': ('goat', '7b1c0a52-0d0e-4c56-9f6e-0a1b2c3d4e5f', 8, '3e0f6c1e', (1, 2, 1), ('374caf41', 2), 'fork', GOAT),
    'spec': ('goat', SPEC + '100', 6, '5a000000-0000-4000-8000-000000000001', (1, 1, 1),
             ('5a000000-0000-4000-8000-000000000001', 1), 'fork', GOAT),
    'doc': ('goat', 'abc-123', 4, 'm-03', (1, 0, 0), ('m-03', 3), 'fork', GOAT),
    'exathena': ('exathena', 'deploy-123', 18, 'IgM1skz1JNE', (2, 0, 1), ('IgM1skz1JNE', 9), 'truncate',
                 {'rename': 'have no title', 'tag': 'have no tags', 'archive': 'cannot be archived',
                  'unarchive': 'cannot be archived', 'resume-at': 'fork at this one instead', 'tombstone': 'the only copy',
                  'reappend': 'no metadata', 'retrieve': 'where the library looks', 'set': 'no settings',
                  'agent': 'sub-agent nobody'}),
    'two-sessions': ('entire', 'a1b2c3d4-0001-4000-8000-00000000000a', 16, 'f952d5a1', (3, 1, 3), ('f952d5a1', 6), 'resume-at',
                     ENTIRE),
    'migration': ('entire', 'e1b2c3d4-0001-4000-8000-00000000000a', 8, 'cb7967ea', (1, 0, 0), ('cb7967ea', 4), 'resume-at', ENTIRE),
    'edge': ('entire', 'f1b2c3d4-0002-4000-8000-00000000000b', 3, '2284bd14', (0, 0, 0), ('2284bd14', 3), 'none', ENTIRE),
    'committed': ('entire', 'd1b2c3d4-0003-4000-8000-00000000000c', 8, '0fedcba9', (0, 0, 4), ('0fedcba9', 3), None, AWAY),
    'refs-ulid': ('entire', '01b2c3d4-0001-4000-8000-00000000000a', 2, '01KX37KN', (0, 0, 0), ('01KX37KN', 2), None, AWAY),
}
FLAT = '{"role":"user","content":"one more"}\n'
ROWS = {'goat': FLAT, 'exathena': FLAT, 'claude': '{"type":"user","message":{"role":"user","content":"one more"}}\n'}


class World:
    def __init__(self, path, name, top):
        self.name, self.top = name, top
        (self.system, self.sid, self.said, self.point, self.files, (self.message, self.kept), self.how,
         self.cannot) = TABLE[name]
        self.dir = world(name, top)
        self.program = Program(path, f'{top}/home', ENV)
        self.id = f'{self.system}:{self.sid}'

    def run(self, *args, text=None):
        feed = {'input': text.encode()} if text is not None else {'stdin': subprocess.DEVNULL}
        return subprocess.run([self.program.path, '-C', self.dir, *args], env=self.program.env, cwd=self.top, timeout=300,
                              capture_output=True, check=False, **feed)

    def json(self, *args):
        run = self.run(*args, '--json')
        if run.returncode:
            sys.exit(f'{self.name}: {args}: exit {run.returncode}: {run.stderr!r}')
        return json.loads(run.stdout)

    def image(self):
        """Everything except the data of undo: our records, git's objects and the refs that keep them."""
        out = ('/home/.local/', '/.git/objects', '/.git/logs', '/.git/refs/reprise', '.lock')
        return {p: (mode, body) for p, (mode, _, body) in snapshot(self.top).items()
                if body is not None and not any(o in p for o in out)}

    def sessions(self):
        return {(r['system'], r['sessionId']) for r in self.json('list', '--all')}

    def points(self):
        return [p['id'] for p in self.json('checkpoints', self.id)]


class Checks(checks.Checks):
    def undone(self, w, what, before):
        """Undoes the newest change."""
        run = w.run('undo')
        self.same(f'{what}: undo', (run.returncode, run.stderr), (0, b''))
        now = undone(w.image(), before)
        self.same(f'{what}: undone, as it was', sorted(p for p in now.keys() | before.keys() if now.get(p) != before.get(p)), [])

    def refused(self, w, what, run, code=4):
        words = w.cannot[what.split()[0]]
        self.same(f'{w.name}: {what} is refused in words', (run.returncode, words in run.stderr.decode(), run.stderr.count(b'\n')),
                  (code, True, 1))


def second_column(run):
    """Returns the name after the age, which can be typed again."""
    return [[part.strip() for part in line.split('  ') if part.strip()][1] for line in run.stdout.decode().splitlines()]


# ---- the rows of the table ----

def found(c, w):
    rows = {(r['system'], r['sessionId']): r for r in w.json('list')}
    row = rows.get((w.system, w.sid), {})
    want = CAN.get(w.system) or ' '.join(a for a in 'resume fork resume-at rewind delete'.split() if a not in w.cannot)
    c.same(f'{w.name}: listed, and what it can', ' '.join(row.get('can', [])), want)
    c.same(f'{w.name}: its directory', row.get('cwd'), f'{w.top}/wt/test-wt' if w.name == 'edge' else w.dir)
    for row, short in zip(w.json('list', '--all'), second_column(w.run('list', '--all'))):
        info = w.json('info', short)
        c.same(f'{w.name}: {short} names the session it is a prefix of', (info['system'], info['sessionId']), (row['system'], row['sessionId']))
        printed = w.run('--resume', short, '--print', '--json')
        if printed.returncode == 0:
            c.same(f'{w.name}: {short} to --resume', json.loads(printed.stdout)['id'], row['sessionId'])
        else:
            unknown = row['system'] == 'exathena' or row.get('agentName') == 'Agent'
            c.same(f'{w.name}: the resuming agent is unknown', (unknown, printed.returncode), (True, 4))


def read(c, w):
    before = w.image()
    info = w.json('info', w.id)
    said = w.json('messages', w.id)
    c.same(f'{w.name}: messages', (len(said), info['messageCount']), (w.said, w.said))
    c.same(f'{w.name}: a page of them', w.json('messages', w.id, '--offset', '1', '--limit', '1'), said[1:2])
    c.same(f'{w.name}: points', info['checkpointCount'], len(w.points()))
    c.same(f'{w.name}: sub-agents', w.json('subagents', w.id), AGENTS.get(w.name, []))
    for kind in [], ['--json']:
        c.refused(w, 'agent', w.run('messages', w.id, '--agent', 'nobody', *kind), 3)
    bundle = w.json('restore', w.id)
    c.same(f'{w.name}: restore', (bundle['sessionId'], bundle['system']), (w.sid, w.system))
    printed = w.run('--resume', w.id, '--print', '--json')
    if w.system == 'exathena':
        c.same(f'{w.name}: resume reports what is missing', (printed.returncode, b'under [exathena]' in printed.stderr), (4, True))
    else:
        there = json.loads(printed.stdout)
        c.same(f'{w.name}: restore and resume agree', (bundle['command'], bundle['commandCwd']), (there['command'], there['cwd']))
        c.same(f'{w.name}: by its own command', (there['command'][0], there['command'][-1]),
               ('goat' if w.system == 'goat' else 'claude', w.sid))
    for command in ['doctor'], ['doctor', w.id], ['sweep', '--older-than', '1d'], ['sweep', '--orphans', '--older-than', '0d'], ['log']:
        c.same(f'{w.name}: {command[0]}', w.run(*command).returncode, 0)
    for short, point in zip(second_column(w.run('checkpoints', w.id)), w.json('checkpoints', w.id)):
        run = w.run('rewind', w.id, '--to', short, '--json')
        c.same(f'{w.name}: the shown point {short}', (point['id'].startswith(short), run.returncode == 0), (True, point['restorable']))
    c.same(f'{w.name}: reading changes nothing', w.image(), before)


def going_back(c, w):
    before = w.image()
    # Sessions of these two do not record the states that they left.
    consent = ['--overwrite-edited'] if w.name in ('spec', 'doc') else []
    dry = w.json('rewind', w.id, '--to', w.point, *consent)
    count = tuple(sum(f['action'] == a for f in dry['files']) for a in ('restore', 'create', 'delete'))
    c.same(f'{w.name}: the effect of a rewind', count, w.files)
    c.same(f'{w.name}: a dry run does nothing', w.image(), before)
    w.json('rewind', w.id, '--to', w.point, '--apply', '--skip-refused', *consent)
    wrong = [f['path'] for f in dry['files'] if f['action'] in ('create', 'restore') and not os.path.exists(f['path']) or
             f['action'] == 'delete' and os.path.exists(f['path'])]
    c.same(f'{w.name}: done, files absent then are deleted', wrong, [])
    again = w.json('rewind', w.id, '--to', w.point, *consent)
    c.same(f'{w.name}: a second rewind has nothing to do', again['filesChanged'], [])
    if sum(w.files):
        c.undone(w, f'{w.name}: files', before)


def talk(c, w):
    before = w.image()
    if not w.how:
        c.refused(w, 'talk', w.run('rewind', w.id, '--to', w.point, '--mode', 'conversation'))
        return
    sessions, rewind = w.sessions(), ('rewind', w.id, '--to', w.point, '--mode', 'both', '--apply', '--skip-refused')
    if w.how == 'truncate' and not CUTS:
        run = w.run(*rewind)
        c.same(f'{w.name}: no cut', (run.returncode, b'there is no lease here' in run.stderr, w.image()), (4, True, before))
        return
    answer = w.json(*rewind)
    how = answer.get('conversation', {}).get('how')
    c.same(f'{w.name}: the conversation is rewound', how, w.how)
    if how == 'none':
        return
    dropped = answer['conversation']['dropped']
    c.same(f'{w.name}: some of it', dropped > 0, True)
    c.same(f'{w.name}: a copy if the mode is a fork', len(w.sessions()) - len(sessions), int(how == 'fork'))
    if how == 'truncate':
        c.same(f'{w.name}: what is left', len(w.json('messages', w.id)), w.said - dropped)
    c.undone(w, f'{w.name}: files and conversation under one undo', before)


def rivals(c, w):
    """Another session that worked on the same files later is named; the source of a copy is not."""
    if w.system not in ('goat', 'exathena'):
        return
    where = w.json('info', w.id)['path']
    where = os.path.dirname(where) if w.system == 'goat' else where
    later = {where: where.replace(w.sid, 'rival-1')}
    if w.system == 'exathena':
        saved = f'{w.dir}/.exathena/file-history/'
        later[saved + w.sid] = saved + 'rival-1'
    for old, new in later.items():
        (shutil.copytree if os.path.isdir(old) else shutil.copy2)(old, new)
        for path in [new] if os.path.isfile(new) else [f'{d}/{n}' for d, _, names in os.walk(new) for n in names]:
            with open(path, 'rb') as f:
                text = f.read().replace(w.sid.encode(), b'rival-1')
            with open(path, 'wb') as f:
                f.write(re.sub(rb'(\d-\d\dT)(\d\d):', lambda m: m[1] + b'%02d:' % (int(m[2]) + 1), text))
    dry = w.json('rewind', w.id, '--to', w.point)
    named = {f.get('alsoChangedBy', {}).get('sessionId') for f in dry['files'] if f['action'] != 'unchanged'}
    c.same(f'{w.name}: who worked on the files later', named, {'rival-1'})
    dry = w.json('rewind', f'{w.system}:rival-1', '--to', w.point)
    c.same(f'{w.name}: who did so before is not', [f for f in dry['files'] if 'alsoChangedBy' in f], [])


# ---- the operations ----

def forks(c, w):
    for at in None, w.message:
        before, sessions = w.image(), w.sessions()
        made = w.json('fork', w.id, *(['--at', at] if at else []))
        new = w.sessions() - sessions
        c.same(f'{w.name}: a copy', [sid for _, sid in new], [made['sessionId']])
        kind = 'claude' if w.system == 'entire' else w.system
        said = len(w.json('messages', f'{kind}:{made["sessionId"]}'))
        c.same(f'{w.name}: as long as asked ({at})', said, w.kept if at else w.said)
        c.undone(w, f'{w.name}: fork', before)


CHANGES = [['rename', 'A new title'], ['tag', 'shiny'], ['archive'], ['unarchive'], ['resume-at', None], ['tombstone', None],
           ['reappend'], ['retrieve']]


def changes(c, w):
    for name, *more in CHANGES:
        first = w.image()
        archived = name == 'unarchive' and name not in w.cannot  # otherwise there is nothing to change
        if archived:
            c.same(f'{w.name}: archive first', w.run('archive', w.id).returncode, 0)
        before = w.image()
        run = w.run(name, w.id, *[w.message if m is None else m for m in more])
        if name in w.cannot:
            c.refused(w, name, run)
            c.same(f'{w.name}: {name} did nothing', w.image(), before)
            continue
        c.same(f'{w.name}: {name}', (run.returncode, run.stderr), (0, b''))
        changed = w.image() != before
        c.same(f'{w.name}: {name} changes something', changed,
               name != 'reappend' and (name != 'retrieve' or 'talk' in w.cannot))
        if changed:
            c.undone(w, f'{w.name}: {name}', before)
        if archived:
            c.undone(w, f'{w.name}: archive first', first)


def deleting(c, w):
    for command in ['delete', w.id], ['sweep', '--older-than', '0d', '--apply']:
        before = w.image()
        run = w.run(*command)
        if 'delete' in w.cannot:
            if command[0] == 'delete':
                c.refused(w, 'delete', run)
            c.same(f'{w.name}: {command[0]} leaves it', (w.system, w.sid) in w.sessions(), True)
        else:
            c.same(f'{w.name}: {command[0]}', (run.returncode, (w.system, w.sid) in w.sessions()), (0, False))
            c.same(f'{w.name}: {command[0]}: in the trash', w.sid in [t['sessionId'] for t in w.json('trash', 'list')], True)
        if w.image() != before:
            c.undone(w, f'{w.name}: {command[0]}', before)


def writing(c, w):
    row = ROWS.get(w.system, ROWS['claude'])
    if 'append' in w.cannot:
        c.refused(w, 'append', w.run('append', w.id, text=row))
    else:
        run = w.run('append', w.id, text=row)
        c.same(f'{w.name}: append', (run.returncode, run.stderr, len(w.json('messages', w.id))), (0, b'', w.said + 1))
    if 'set' in w.cannot:
        c.refused(w, 'set', w.run('set', w.id, 'model=m'))
    own = {'claude': '33333333-2222-4222-8222-222222222222'}.get(w.system, 'made-1')
    made = w.json('create', w.system, '--id', own)
    c.same(f'{w.name}: create', made['sessionId'], own)
    path = f'{w.dir}/a-file'
    with open(path, 'w', encoding='ascii') as f:
        f.write('before\n')
    c.same(f'{w.name}: append to it', w.run('append', own, text=row).returncode, 0)
    said = w.json('messages', f'{w.system}:{own}')
    c.same(f'{w.name}: it is said', len(said), 1)
    c.same(f'{w.name}: checkpoint', w.run('checkpoint', f'{w.system}:{own}', '--id', said[0]['uuid'] or 'x', path).returncode, 0)
    with open(path, 'w', encoding='ascii') as f:
        f.write('after\n')
    point = w.json('checkpoints', f'{w.system}:{own}')[0]['id']
    run = w.run('rewind', f'{w.system}:{own}', '--to', point, '--apply', '--overwrite-edited', '--skip-refused')
    with open(path, encoding='ascii') as f:
        c.same(f'{w.name}: and back ({run.stderr!r})', f.read(), 'before\n')


def main():
    c = Checks()
    for name in TABLE:
        for parts in (found, read, going_back, talk, forks, changes, deleting), (writing,), (rivals,):
            with tempfile.TemporaryDirectory() as top:
                w = World(sys.argv[1], name, os.path.realpath(top))
                for part in parts:
                    part(c, w)
    c.same('every world', sorted(set(WORLDS) - set(TABLE)), ['corpus'])
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(1 if c.failed or c.passed < 700 else 0)


if __name__ == '__main__':
    main()
