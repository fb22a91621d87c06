#!/usr/bin/env python3
"""Undo without a name refers to this directory; and a rewind can be undone in part.

usage: undo_scope.py PROGRAM

Two projects and two stores: a change in one is not undone from the other, a change that can no longer be undone blocks
no other, and files that changed after a rewind do not prevent undoing the rest.
"""
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from support.program import Program

FIRST, SECOND = 'aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'


def put(path, body):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(body)


def get(path):
    try:
        with open(path, encoding='utf-8') as f:
            return f.read()
    except FileNotFoundError:
        return None


def flat(path):
    return ''.join(c if c.isalnum() and c.isascii() else '-' for c in path)


class World:
    """Projects in a home, each with one session that changed three files."""

    def __init__(self, path):
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.config = f'{self.top}/config'
        os.makedirs(f'{self.top}/home')
        self.program = Program(path, f'{self.top}/home', {
            'CLAUDE_CONFIG_DIR': self.config, 'GIT_CONFIG_GLOBAL': '/dev/null',
            **{f'XDG_{k}_HOME': f'{self.top}/{k}' for k in ('STATE', 'DATA', 'CACHE', 'CONFIG')}})

    def session(self, name, sid, prompt, config=None):
        """In the project of this name: a, b and c were 1 and are 2, and d is new."""
        config = config or self.config
        project = f'{self.top}/home/{name}'.rstrip('/')
        kept = {}
        for n in 'abc':
            copy = hashlib.sha256(n.encode()).hexdigest()[:16] + '@v1'
            put(f'{config}/file-history/{sid}/{copy}', f'{n} 1\n')
            put(f'{project}/{n}', f'{n} 2\n')
            kept[n] = {'backupFileName': copy, 'version': 1, 'backupTime': '2026-02-09T02:00:02.000Z'}
        put(f'{project}/d', 'd 2\n')
        kept['d'] = {'backupFileName': None, 'version': 1, 'backupTime': '2026-02-09T02:00:02.000Z'}
        row = {'isSidechain': False, 'cwd': project, 'sessionId': sid, 'version': '2.1.197', 'userType': 'external'}
        snapshot = {'messageId': FIRST, 'trackedFileBackups': kept, 'timestamp': '2026-02-09T02:00:02.000Z'}
        rows = [{**row, 'type': 'user', 'uuid': FIRST, 'parentUuid': None, 'timestamp': '2026-02-09T02:00:01.000Z',
                 'message': {'role': 'user', 'content': prompt}},
                {'type': 'file-history-snapshot', 'messageId': FIRST, 'snapshot': snapshot, 'isSnapshotUpdate': False}]
        rows += [{**row, 'type': 'assistant', 'uuid': f'bbbbbbbb-0000-4000-8000-00000000000{i}',
                  'parentUuid': FIRST if i == 0 else f'bbbbbbbb-0000-4000-8000-00000000000{i - 1}',
                  'timestamp': '2026-02-09T02:00:03.000Z',
                  'message': {'id': f'm{i}', 'type': 'message', 'role': 'assistant', 'model': 'm', 'content': [
                      {'type': 'tool_use', 'id': f't{i}', 'name': 'Write',
                       'input': {'file_path': f'{project}/{n}', 'content': f'{n} 2\n'}}]}}
                 for i, n in enumerate('abcd')]
        path = f'{config}/projects/{flat(project)}/{sid}.jsonl'
        put(path, ''.join(json.dumps(r) + '\n' for r in rows))
        os.utime(path, (1770000000, 1770000000))
        return project

    def rewind(self, sid):
        run = self.program.run('rewind', sid, '--to', FIRST, '--apply', '--overwrite-edited', '--json')
        return json.loads(run.stdout)['undo']

    def undo(self, where, *args):
        run = self.program.run('-C', where, 'undo', *args)
        return run.returncode, run.stdout.decode(), run.stderr.decode()

    def title(self, sid):
        return json.loads(self.program.run('info', sid, '--json').stdout).get('customTitle')


def state(project):
    return [get(f'{project}/{n}') for n in 'abcd']


OLD, NEW = ['a 1\n', 'b 1\n', 'c 1\n', None], ['a 2\n', 'b 2\n', 'c 2\n', 'd 2\n']
P, Q, R, S = ('11111111-2222-4333-8444-55555555555' + n for n in '5678')


def scopes(w, t):
    """Undo in one directory does not revert a change in another."""
    p, q = w.session('p', P, 'Pay the bills'), w.session('q', Q, 'Quote the prices')
    record = w.rewind(P)
    t.run('rename', P, 'Bills')
    code, out, err = w.undo(q)
    t.same('elsewhere: exit', code, 3)
    t.need('nothing left to undo here; the newest change (rename of' in err and 'made elsewhere' not in err and err.count('\n') == 1 and 'Pay the bills' in err and p in err, f'elsewhere: {out}{err}')
    named = err.split('reprise undo ')[1].split()[0]
    t.same('elsewhere: nothing was undone', (w.title(P), state(p)), ('Bills', OLD))
    code, out, _ = w.undo(q, named, '--dry-run')
    t.need(code == 0 and 'Pay the bills' in out, f'named elsewhere: {out}')
    t.run('rename', Q, 'Prices')
    code, out, _ = w.undo(p)
    t.same('the scope\'s newest', (code, w.title(P), w.title(Q)), (0, None, 'Prices'))
    t.need('rename of "Pay the bills"' in out and 'now' in out, f'what was undone is named: {out}')
    code, out, err = w.undo(p)
    t.same('then the rewind', (code, state(p)), (0, NEW))
    t.need('rewind of "Pay the bills"' in out, f'the rewind is named: {out}')
    t.same('then nothing', w.undo(p)[0], 3)
    t.same('all projects', (w.undo(p, '--all')[0], w.title(Q)), (0, None))
    code, out, err = w.undo(q, record)
    t.same('a rewind that was undone', code, 4)
    log = t.run('log').stdout.decode()
    t.need('"Pay the bills"' in log and '"Quote the prices"' in log, f'log without titles: {log}')
    rows = t.json('log')
    t.need(all(r.get('title') for r in rows), f'log --json without titles: {rows}')
    t.run('delete', P)
    t.same('a deletion elsewhere', w.undo(q)[0], 3)
    t.same('a deletion here', (w.undo(p)[0], w.title(P)), (0, None))


def stores(w, t):
    """The same directory in two stores: each has its own newest change."""
    other = f'{w.top}/other'
    p = w.session('p', P, 'Pay the bills')
    w.session('p', R, 'In another store', other)
    t.run('rename', P, 'Bills')
    t.run('rename', '--store', f'claude:{other}', R, 'Other')
    t.same('the default store', (w.undo(p)[0], w.title(P)), (0, None))
    t.same('and no more', w.undo(p)[0], 3)
    code, out, _ = w.undo(p, '--store', f'claude:{other}')
    t.need(code == 0 and '"In another store"' in out, f'the other store: {out}')


def gone(w, t):
    """Missing stores and sessions block nothing."""
    other = f'{w.top}/other'
    p = w.session('s', S, 'It stays')
    t.run('rename', S, 'Stays')
    w.session('p', P, 'Pay the bills')
    gone_project = w.session('r', R, 'Soon gone', other)
    t.run('rename', P, 'Bills')
    t.run('rename', '--store', f'claude:{other}', R, 'Gone')
    t.run('rewind', '--store', f'claude:{other}', R, '--to', FIRST, '--apply', '--overwrite-edited')
    shutil.rmtree(other)
    shutil.rmtree(gone_project)
    t.run('delete', P)
    t.run('trash', 'empty')
    w.session('q', Q, 'Quote the prices')
    t.run('rename', Q, 'Prices')
    t.run('delete', Q)
    t.run('trash', 'empty')
    t.same('what stands', (w.undo(p, '--all')[0], w.title(S)), (0, None))
    code, _, err = w.undo(p, '--all')
    t.same('then nothing', code, 3)
    t.need('nothing left to undo' in err and re.search(r'reprise: skipped \d changes? to sessions that are gone; the newest is the delete of "Prices" [(]now, ', err),
           f'what is gone is said: {err}')


def parts(w, t):
    """Files changed since a rewind stay, the rest is undone, and later they are too."""
    p = w.session('p', P, 'Pay the bills')
    older = w.rewind(P)
    t.same('rewound', state(p), OLD)
    put(f'{p}/a', 'mine\n')
    code, _, err = w.undo(p)
    t.same('refused', (code, state(p)), (4, ['mine\n', *OLD[1:]]))
    t.need('--skip-edited' in err, f'the way on is named: {err}')
    code, out, _ = w.undo(p, '--skip-edited')
    t.same('the rest', (code, state(p)), (0, ['mine\n', *NEW[1:]]))
    t.need(older in out, f'how to take back what is left: {out}')
    record = next(r for r in t.json('rewinds') if r['id'] == older)
    t.same('what is left', (record['undone'], record.get('left')), (False, [f'{p}/a']))
    code, _, err = w.undo(p)
    t.need(code == 3 and older in err, f'passed over: {err}')
    shown = t.json('rewinds', 'show', older)
    t.same('files of a record', sorted((f['path'], f['did'], f['undone']) for f in shown['files']),
           [(f'{p}/a', 'restore', False), (f'{p}/b', 'restore', True), (f'{p}/c', 'restore', True), (f'{p}/d', 'delete', True)])
    t.same('kept bytes', t.run('rewinds', 'show', older[:-3], f'{p}/a').stdout, b'a 2\n')
    t.same('by a shorter name', t.run('rewinds', 'show', older, 'a').stdout, b'a 2\n')
    t.same('no such file', t.run('rewinds', 'show', older, 'nothing').returncode, 3)
    t.same('no such record', t.run('rewinds', 'show', '12345').returncode, 3)
    put(f'{p}/a', 'a 1\n')
    t.same('what was left', (w.undo(p)[0], state(p)), (0, NEW))
    t.same('all of it is undone', next(r for r in t.json('rewinds') if r['id'] == older)['undone'], True)
    t.same('nothing left', w.undo(p)[0], 3)
    # both undos are undone: the whole record is in force again
    undos = [r['id'] for r in t.json('rewinds') if r.get('undoes') == older]
    t.same('two undos', len(undos), 2)
    for x in undos:
        t.same(f'redo {x}', w.undo(p, x)[0], 0)
    t.same('as rewound', state(p), OLD)
    t.same('and undone at once', (w.undo(p)[0], state(p)), (0, NEW))


def directories(w, t):
    """A missing directory: each file by name, or all of them."""
    p = w.session('p', P, 'Pay the bills')
    record = w.rewind(P)
    shutil.rmtree(p)
    os.makedirs(p)
    t.same('refused', (w.undo(p)[0], state(p)), (4, [None] * 4))
    t.same('one of them', (w.undo(p, '--overwrite-edited', '--file', 'b')[0], get(f'{p}/b'), get(f'{p}/d')), (0, 'b 2\n', None))
    t.same('what can', (w.undo(p, record, '--skip-edited')[0], state(p)), (0, [None, 'b 2\n', None, 'd 2\n']))
    t.same('nothing more can', w.undo(p, record, '--skip-edited')[0], 4)
    t.same('the others', (w.undo(p, record, '--overwrite-edited')[0], state(p)), (0, NEW))


def settled(w, t):
    """If everything was restored by hand, undo has nothing to do and goes on to the older change."""
    p = w.session('p', P, 'Pay the bills')
    t.run('rename', P, 'Bills')
    w.rewind(P)
    for n, body in zip('abcd', NEW):
        put(f'{p}/{n}', body)
    t.same('nothing to do', (w.undo(p)[0], state(p)), (0, NEW))
    t.same('the older one', (w.undo(p)[0], w.title(P)), (0, None))


def held(w, t):
    """A program that has a file open continues with the old one: undo restores it with the later writes."""
    p = w.session('p', P, 'Pay the bills')
    with open(f'{p}/a', 'a', encoding='utf-8') as f:
        dry = t.json('rewind', P, '--to', FIRST)
        said = [x['path'] for x in dry['files'] if x.get('openForWriting')]
        text = t.run('rewind', P, '--to', FIRST, '--overwrite-edited').stdout.decode()
        record = w.rewind(P)
        f.write('later\n')
        f.flush()
        t.same('rewound', state(p), OLD)
        shown = next(x for x in t.json('rewinds', 'show', record)['files'] if x['path'] == f'{p}/a')
        t.same('the kept bytes, and the present ones', (shown['kept'], shown['now']), (4, 10))
        t.same('its bytes now', t.run('rewinds', 'show', record, 'a').stdout, b'a 2\nlater\n')
        code, out, _ = w.undo(p)
        t.same('undone', (code, state(p)), (0, ['a 2\nlater\n', *NEW[1:]]))
        t.need('6 bytes were written' in out, f'said: {out}')
        f.write('on\n')
    t.same('the program goes on with it', get(f'{p}/a'), 'a 2\nlater\non\n')
    if said: # not every file system tells
        t.same('the preview says so', (said, text.count('a program has it open'), 'note: a program' in text), ([f'{p}/a'], 1, True))


def went_on(w, t):
    """A change that cannot be undone because its session continued does not block older ones, which are named."""
    p = w.session('p', P, 'Pay the bills')
    t.run('rename', P, 'Bills')
    sid = t.json('create', f'exathena:{p}/.exathena', '--cwd', p)['sessionId']

    def say(text):
        row = json.dumps({'type': 'message', 'role': 'user', 'content': text}) + '\n'
        subprocess.run([t.path, '-C', p, 'append', sid], env=t.env, input=row.encode(), check=True)

    for text in ('one', 'two'):
        say(text)
    point = json.loads(t.run('-C', p, 'checkpoints', sid, '--json').stdout)[1]['id']
    run = t.run('-C', p, 'rewind', sid, '--to', point, '--mode', 'conversation', '--apply')
    if 'REPRISE_PORTABLE' in os.environ: # no leases: docs/architecture.md, "Portability"
        t.same('no conversation is cut', (run.returncode, b'there is no lease' in run.stderr), (4, True))
        return
    t.same('the conversation went back', run.returncode, 0)
    say('three')
    code, _, err = w.undo(p)
    t.same('refused', (code, w.title(P)), (4, 'Bills'))
    t.need('continued since' in err and 'rename of "Pay the bills"' in err, f'the older is named: {err}')
    named = err.split('reprise undo ')[1].split()[0]
    t.same('by its name', (w.undo(p, named)[0], w.title(P)), (0, None))
    code, _, err = w.undo(p)
    t.need(code == 4 and 'nothing older' in err, f'nothing older: {err}')


def interrupted(w, t):
    """A delete interrupted before its last rename: readers are warned, and the next log finishes it."""
    p = w.session('p', P, 'Pay the bills')
    t.run('delete', P)
    changes = f'{w.top}/STATE/reprise/changes'
    record, = (n for n in os.listdir(changes) if n[0].isdigit())
    os.rename(f'{changes}/{record}', f'{changes}/{record}.intent')

    def said(*args):
        return b'interrupted change is not finished' in t.run('-C', p, *args).stderr

    t.same('list and info say so', (said('list'), said('info', P)), (True, True))
    with open(f'{changes}/lock', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        t.same('not while it is under way', said('list'), False)
    t.same('nothing was touched', os.listdir(changes).count(f'{record}.intent'), 1)
    t.same('the log ends it', (t.run('log').returncode, said('list'), os.path.exists(f'{changes}/{record}')), (0, False, True))


def advice(w, t):
    """What a command advises to type is the line that undoes it, whatever the directory and whatever came after."""
    p, q = w.session('p', P, 'Pay the bills'), w.session('q', Q, 'Quote the prices')
    w.session('r', R, 'Rent')
    w.session('s', S, 'Sell')
    commands = [['rename', P, 'New'], ['tag', P, 'tag'], ['archive', P, R], ['delete', P], ['delete', P, R],
                ['resume-at', P, FIRST], ['sweep', '--older-than', '1d', '--all', '--apply', '--project', p],
                ['rewind', P, '--to', FIRST, '--apply', '--overwrite-edited'], ['--store', f'claude:{w.config}', 'tag', P, 'x']]
    for command in commands:
        before = t.run('list', '--all', '--json').stdout, state(p)
        run = t.run('-C', q, *command)
        said = re.search(r'(?:undo with|to undo): (reprise undo [^)\n]*)', run.stdout.decode())
        t.need(run.returncode == 0 and said, f'{command}: no advice: {run}')
        if not said:
            continue
        t.run('tag', S, command[0])
        shell = subprocess.run(['sh', '-c', f'reprise() {{ "$P" "$@"; }}; cd "$1" && {said.group(1)}', 'sh', q],
                               env={**t.env, 'P': t.path}, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        t.need(shell.returncode == 0, f'{command}: {said.group(1)}: {shell}')
        t.run('tag', S, '--none')
        t.same(f'{command}: as before', (t.run('list', '--all', '--json', '--sort', 'title').stdout.count(b'sessionId'), state(p)),
               (before[0].count(b'sessionId'), before[1]))
    trashed = t.json('delete', P)['trashId']
    said = re.search(r'undo with: (reprise undo [^)]*)', t.run('-C', q, 'trash', 'restore', trashed).stdout.decode())
    t.need(said and t.run('-C', q, *said.group(1).split()[1:]).returncode == 0, f'trash restore: {said}')
    for word, code in (P[:3], 3), (P[:4], 0):
        t.same(f'trash restore {word}', t.run('trash', 'restore', word).returncode, code)


def pruned(w, t):
    """Undo records go by number, age and size; what is still needed stays, and nothing half removed counts."""
    p, q = w.session('p', P, 'Pay the bills'), w.session('q', Q, 'Quote the prices')
    records = f'{w.top}/STATE/reprise/rewinds'

    def ids():
        return [r['id'] for r in t.json('rewinds')]

    def prune(*args):
        return json.loads(t.run('rewinds', 'prune', '--json', *args).stdout)

    def again(project, sid):
        for n in 'abc':
            put(f'{project}/{n}', f'{n} {len(os.listdir(records)) if os.path.exists(records) else 0}\n')
        return w.rewind(sid)

    t.same('nothing yet', prune(), {'schemaVersion': 1, 'removed': [], 'bytes': 0, 'dryRun': False})
    of_q = w.rewind(Q)
    of_p = [again(p, P) for _ in range(5)]
    every = ids()
    t.same('the defaults keep them', (prune()['removed'], ids()), ([], every))
    dry = prune('--keep', '2', '--dry-run')
    t.same('a dry run', (dry['removed'], dry['dryRun'], ids()), (of_p[2::-1], True, every))
    t.need(dry['bytes'] > 0, f'their size: {dry}')
    t.same('by number, the newest of a project stays', (prune('--keep', '2')['removed'], ids()), (of_p[2::-1], [of_p[4], of_p[3], of_q]))
    t.same('by age', prune('--older-than', '1d')['removed'], [])
    t.same('a young one stays, whatever the number', prune('--older-than', '1d', '--keep', '0')['removed'], [])
    t.same('what fits stays, whatever the age', prune('--older-than', '0d', '--larger-than', '1G')['removed'], [])
    t.same('by size', (prune('--larger-than', '1')['removed'], ids()), ([of_p[3]], [of_p[4], of_q]))
    t.same('the newest can be undone', w.undo(q, of_p[4])[0], 0)
    undo = ids()[0]
    t.same('an undo and what it undid', (prune('--keep', '0')['removed'], ids()), ([of_p[4]], [undo, of_q]))
    # A clock that has jumped ahead makes no record old: ages count from the newest, without those of a day after a gap.
    def older(record, days):
        with open(f'{records}/{record}/plan', encoding='utf-8') as f:
            plan = json.load(f)
        plan['at'] = str(int(plan['at']) - days * 86400000)
        put(f'{records}/{record}/plan', json.dumps(plan, separators=(',', ':')) + '\n')
    some = [again(p, P) for _ in range(3)]
    for record in ids():
        older(record, 100 if record != some[2] else 0)
    t.same('before a gap', prune('--dry-run')['removed'], [])
    older(some[2], 100)
    t.same('all old', prune('--dry-run')['removed'], [])
    t.same('a named age', len(prune('--dry-run', '--older-than', '90d')['removed']), len(ids()) - 2)
    older(some[0], 100)
    t.same('much older than the newest', prune('--dry-run')['removed'], [some[0]])
    # A record that is not finished stays, and so does what nothing can read.
    last = again(p, P)
    os.remove(f'{records}/{of_q}/done')
    os.makedirs(f'{records}/000000000000001-00000000')
    put(f'{records}/000000000000001-00000000/plan', '{')
    out = prune('--keep', '0', '--dry-run')['removed']
    t.need(of_q not in out and last not in out and '000000000000001-00000000' not in out, f'not finished: {out}')
    shutil.rmtree(f'{records}/000000000000001-00000000')
    # A kill after a record lost its name: it is none, and the next rewind removes the rest.
    again(q, Q)
    os.rename(f'{records}/{of_q}', f'{records}/pruned-{of_q}')
    t.need(of_q not in ids() and os.path.exists(f'{records}/pruned-{of_q}'), 'half removed')
    t.same('it cannot be undone', w.undo(q, of_q)[0], 3)
    again(q, Q)
    t.need(not os.path.exists(f'{records}/pruned-{of_q}'), 'it is removed')
    for wrong in (['--keep', '1'], ['prune', '--older-than', 'x'], ['prune', '--larger-than', 'x'], ['prune', 'x'], ['prune', '--keep', '-1']):
        t.same(f'{wrong}: exit', t.run('rewinds', *wrong).returncode, 2)


def back_to(w, t):
    """Back to the state before a change: rewinds and changes together, or nothing of it."""
    p, q = w.session('p', P, 'Pay the bills'), w.session('q', Q, 'Quote the prices')
    t.run('rename', P, 'Older')
    first = w.rewind(P)
    t.run('rename', P, 'Bills')
    t.run('rename', Q, 'Prices')
    put(f'{p}/a', 'a 3\n')
    w.rewind(P)
    t.run('undo', '--all')
    t.same('the second rewind is undone', get(f'{p}/a'), 'a 3\n')
    put(f'{p}/a', 'a 1\n')
    t.run('tag', P, 'money')
    before = t.json('log')

    # A later change that cannot be undone: nothing is changed, and it is named.
    put(f'{p}/b', 'mine\n')
    code, out, err = w.undo(p, '--back-to', first)
    t.same('refused: exit', code, 4)
    t.need('rewind of "Older"' in err and f'{p}/b' in err, f'refused: {out}{err}')
    t.same('refused: nothing done', (w.title(P), get(f'{p}/b'), t.json('log')), ('Bills', 'mine\n', before))
    put(f'{p}/b', 'b 1\n')

    code, out, _ = w.undo(p, '--back-to', first, '--dry-run')
    t.need(code == 0 and out.count('would undo') == 3 and '1 later change elsewhere stays' in out, f'dry run: {out}')
    t.need('renamed to Bills' in out and 'tagged money' in out and 'Prices' not in out, f'dry run: {out}')
    t.same('dry run: nothing done', (w.title(P), state(p), t.json('log')), ('Bills', OLD, before))
    there = t.run('-C', q, 'undo', '--back-to', first)
    t.same('from elsewhere', (there.returncode, b'add --all' in there.stderr), (3, True))

    answer = json.loads(t.run('-C', p, 'undo', '--back-to', first, '--json').stdout)
    t.same('the answer', [x['kind'] for x in answer['undoes']], ['tag', 'rename', 'rewind'])
    t.same('a record for each', (len(answer['made']), answer['elsewhere']), (3, 1))
    t.same('the older one stays', (w.title(P), w.title(Q), state(p)), ('Older', 'Prices', NEW))
    t.same('again', w.undo(p, '--back-to', first)[0], 3)
    for made in answer['made']:
        t.same(f'forward again {made}', w.undo(p, made)[0], 0)
    t.same('as before', (w.title(P), state(p)), ('Bills', OLD))
    code, out, _ = w.undo(p, t.json('log', '--all')[0]['id'], '--dry-run')
    t.need(code == 0 and out.startswith('would undo: redo of "Bills": '), f'dry run of a redo: {out}')
    t.same('no such change', w.undo(p, '--back-to', '000000000000001-00000000')[0], 3)

    # A deletion that was reverted by hand is undone after that; one that is out of the trash for good refuses.
    t.run('delete', P)
    first = t.json('log')[0]['id']
    t.run('trash', 'restore', P)
    t.same('restored and deleted', w.undo(p, '--back-to', first)[0], 0)
    t.same('it is there', w.title(P), 'Bills')
    t.run('delete', P)
    first = t.json('log')[0]['id']
    t.run('rename', Q, 'Again')
    t.run('trash', 'empty')
    code, out, err = w.undo(p, '--all', '--back-to', first)
    t.same('deleted for good: exit', code, 3)
    t.need('delete of "Bills"' in err and w.title(Q) == 'Again', f'deleted for good: {out}{err}')


def back_through(w, t):
    """Whatever was done and undone by name since, in any order: the bytes before the change are there again."""
    p = w.session('p', P, 'Pay the bills')
    q = w.session('q', Q, 'Quote the prices')
    t.run('rename', P, 'Bills')
    t.run('tag', P, 'money')
    path = t.json('info', P)['path']
    before = get(path), state(q)

    def whole(what, *steps):
        made = []
        for args in steps:
            run = t.run(*[made[a] if isinstance(a, int) else a for a in args])
            t.same(f'{what}: {args}: {run.stderr}', run.returncode, 0)
            made.append(t.json('log', '--all')[0]['id'])
        after = get(path), state(q)
        code, out, err = w.undo(p, '--all', '--back-to', made[0])
        t.same(f'{what}: {out}{err}', (code, (get(path), state(q))), (0, before))
        for undone in re.findall('reprise undo ([0-9a-f-]+)', out):
            t.same(f'{what}: forward again', w.undo(p, undone)[0], 0)
        t.same(f'{what}: as it was', (get(path), state(q)), after)
        t.same(f'{what}: back', w.undo(p, '--all', '--back-to', made[0])[0], 0)

    conversation = ['rewind', P, '--to', FIRST, '--apply', '--mode', 'conversation']
    files = ['rewind', Q, '--to', FIRST, '--apply', '--overwrite-edited']
    whole('a change, a rewind, the deletion', ['archive', P], files, ['delete', P])
    whole('an older title', ['rename', P, 'One'], ['rename', P, 'Two'], ['undo', 0])
    whole('an older title, and again', ['rename', P, 'One'], ['tag', P, 'x'], ['undo', 0], ['undo', 2], ['tag', P, 'y'])
    whole('a tag below a rewind', ['tag', P, 'x'], conversation, ['undo', 0], ['rename', P, 'Two'])
    whole('an older rewind', conversation, ['rename', P, 'One'], ['undo', 0], conversation, files)

    # An undo that finds the files as it wants them cannot be undone itself; going back passes through it.
    old = {n: get(f'{q}/{n}') for n in 'abcd'}
    t.run(*files)
    first = t.json('log', '--all')[0]['id']
    t.run('tag', Q, 'x')
    for n in 'abcd':
        put(f'{q}/{n}', old[n])
    t.same('an undo that changes nothing', w.undo(q, first)[0], 0)
    code, out, err = w.undo(q, '--back-to', first)
    t.same(f'through it: {out}{err}', (code, state(q), t.json('info', Q).get('tag')), (0, before[1], None))

    whole('undone, redone, undone by its own name', ['rename', P, 'One'], ['undo', 0], ['undo', 1], ['undo', 0], ['tag', P, 'x'])
    whole('redone between others', files, ['undo', 0], ['tag', Q, 'x'], files, ['undo', 1], ['undo', 3])
    whole('an undo that was undone twice', ['rename', P, 'One'], ['undo', 0], ['undo', 1], ['undo', 2], ['tag', P, 'x'])


def several(w, t):
    """A change of sessions of two projects belongs to both: each can undo it, and is told that it reaches the other."""
    p, q = w.session('p', P, 'Pay the bills'), w.session('q', Q, 'Quote the prices')
    w.session('r', R, 'Read the news')
    for here in (p, q):
        t.same('both', t.run('delete', P, Q).returncode, 0)
        log = t.run('log').stdout.decode().split('\n')[0]
        t.need('and 1 more (other directories too)' in log, f'log: {log}')
        code, _, err = w.undo(f'{w.top}/home/r')
        t.need(code == 3 and 'is in several places' in err, f'neither belongs to a third: {err}')
        code, out, _ = w.undo(here, '--dry-run')
        t.need(code == 0 and 'and 1 more (other directories too)' in out, f'dry run: {out}')
        code, out, err = w.undo(here)
        t.same(f'from {here}: {err}', (code, w.title(P), w.title(Q)), (0, None, None))
        t.same('both are back', len(t.json('list', '--all')), 3)
        t.need('(other directories too)' in out, f'undone: {out}')
    # A fork has two sessions of one place.
    t.same('fork', t.run('fork', P).returncode, 0)
    code, _, err = w.undo(f'{w.top}/home/r')
    t.need(code == 3 and f'is in {p}: reprise undo {t.json("log")[0]["id"]}' in err, f'one place: {err}')
    t.run('undo', '--all')
    t.run('delete', P, Q)
    first = t.json('log')[0]['id']
    code, out, _ = w.undo(p, '--back-to', first)
    t.same(f'back to: {out}', (code, len(t.json('list', '--all'))), (0, 3))


def waited(w, t):
    """The log is in the order in which changes were made, not in that in which their programs began."""
    p = w.session('p', P, 'Pay the bills')
    for i in range(12):
        put(f'{p}/a', f'a {i}\n')
        both = [['rewind', P, '--to', FIRST, '--apply', '--overwrite-edited'], ['rename', P, f'Bills {i}']]
        running = []
        for args in both if i % 2 else both[::-1]:
            running.append(subprocess.Popen([t.path, *args], env=t.env, cwd=p, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            time.sleep(i // 2 / 1000)
        for each in running:
            each.wait()
    ids = [x['id'] for x in t.json('log')]
    t.need(len(ids) > 12, ids)
    t.same('log', ids, sorted(ids, reverse=True))


def subdirectory(w, t):
    """What was done in a project is undone from the directories below it, but not from another repository there."""
    p = w.session('p', P, 'Pay the bills')
    deep, other = f'{p}/src/deep', f'{p}/vendor/other'
    os.makedirs(deep)
    os.makedirs(f'{other}/.git')
    os.makedirs(f'{other}/src')
    t.run('rename', P, 'Bills')
    t.same('another repository', [w.undo(d)[0] for d in (other, f'{other}/src')], [3, 3])
    t.same('without the rest of the repository', w.undo(deep, '--no-worktrees')[0], 3)
    t.same('a change', (w.undo(deep)[0], w.title(P)), (0, None))
    w.rewind(P)
    t.same('rewound', state(p), OLD)
    t.same('a rewind', (w.undo(f'{p}/src')[0], state(p)), (0, NEW))
    t.run('delete', P)
    t.same('a deletion', (w.undo(deep)[0], w.title(P)), (0, None))
    t.run('tag', P, 'one')
    t.run('tag', P, 'two')
    first = t.json('log')[1]['id']
    t.same('back to a change', w.undo(deep, '--back-to', first)[0], 0)
    t.same('then nothing', w.undo(deep)[0], 3)
    home = w.session('', Q, 'At home')
    os.makedirs(f'{home}/elsewhere')
    t.run('rename', Q, 'Home')
    t.same('the home directory contains every project', (w.undo(p)[0], w.undo(f'{home}/elsewhere')[0]), (3, 3))
    t.same('but it is a place', (w.undo(home)[0], w.title(Q)), (0, None))


def main():
    failed = passed = 0
    for part in (back_to, back_through, scopes, stores, gone, parts, directories, settled, held, went_on, interrupted, advice, pruned, several, waited, subdirectory):
        w = World(sys.argv[1])
        try:
            part(w, w.program)
        finally:
            subprocess.run(['rm', '-rf', w.top], check=False)
        failed, passed = failed + w.program.failed, passed + w.program.passed
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or passed < (40 if 'REPRISE_PORTABLE' in os.environ else 45) else 0)


main()
