#!/usr/bin/env python3
"""Entire's sessions and checkpoints: the conformance list of the format by its numbers, through the command line.

usage: entire.py PROGRAM

The repositories are made with git's own plumbing (entire/make_fixture.sh), which says what it expects; what is odd in
real ones (v2 refs, other agents, sessions without one, keys of older versions) is put in here. Git itself is asked about
every ref and tree that was written. Rows about names and bytes alone stand in the unit tests: UNIT says which.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support.program import Program, snapshot

HERE = os.path.dirname(os.path.abspath(__file__))
UNIT = {1, 2, 3, 5, 7, 11, 12, 14, 19, 42, 55}
A, B = 'a1b2c3d4-0001-4000-8000-00000000000a', 'b1b2c3d4-0002-4000-8000-00000000000b'
CA, CB = 'c1b2c3d4-0001-4000-8000-00000000000a', 'c1b2c3d4-0002-4000-8000-00000000000b'
CT, CR = 'd1b2c3d4-0003-4000-8000-00000000000c', 'f1b2c3d4-0004-4000-8000-00000000000d'
ENV = {'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null', 'GIT_OPTIONAL_LOCKS': '0'}
WHO = {f'GIT_{w}_{k}': v for w in ('AUTHOR', 'COMMITTER')
       for k, v in (('NAME', 'Dev One'), ('EMAIL', 'dev@example.invalid'), ('DATE', '1770700000 +0000'))}


def get(path):
    with open(path, 'rb') as f:
        return f.read()


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data.encode() if isinstance(data, str) else data)


def row(kind, uuid, parent, text, session, minute=0):
    """A row of Claude Code's."""
    return json.dumps({'parentUuid': parent, 'isSidechain': False, 'cwd': '/srv/demo', 'sessionId': session, 'type': kind,
                       'message': {'role': kind, 'content': text}, 'uuid': uuid,
                       'timestamp': f'2026-02-10T10:{minute:02d}:00.000Z'}) + '\n'


class Fixtures:
    """Made once; a world is a copy with its paths changed."""

    def __init__(self):
        self.top = tempfile.mkdtemp()
        subprocess.run(['bash', os.path.join(HERE, 'entire', 'make_fixture.sh'), self.top], check=True, stdout=subprocess.DEVNULL)


class World:
    def __init__(self, c, name):
        self.top = tempfile.mkdtemp()
        for part in name, 'home', 'wt', 'expected/' + name:
            if part != 'wt' or name == 'edge':
                shutil.copytree(f'{c.fixtures.top}/{part}', f'{self.top}/{part}', symlinks=True)
        for folder, _, files in os.walk(self.top):
            for f in files:
                path = os.path.join(folder, f)
                if f.endswith('.json') and 'entire-sessions' in folder or f == 'gitdir' or f == '.git':
                    at = os.stat(path)
                    put(path, get(path).replace(c.fixtures.top.encode(), self.top.encode()))
                    os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))
        self.repo = os.path.join(self.top, name)
        self.home = os.path.join(self.top, 'home')
        self.program = Program(c.path, self.home, {'XDG_STATE_HOME': self.top + '/state', 'XDG_DATA_HOME': self.top + '/data',
                                                   'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null'})
        self.claude = os.path.join(self.home, '.claude', 'projects')

    def run(self, *args, at='', ok=None, **more):
        run = self.program.run('-C', os.path.join(self.repo, at), *args, **more)
        if ok and run.returncode:
            sys.exit(f'{args}: exit {run.returncode}: {run.stderr!r}')
        return run

    def json(self, *args, **more):
        return json.loads(self.run(*args, '--json', ok=True, **more).stdout)

    def git(self, *args, data=None, check=True, cwd=None):
        run = subprocess.run(['git', *args], cwd=cwd or self.repo, input=data, capture_output=True, check=False,
                             env={**os.environ, **ENV, **WHO})
        if check and run.returncode:
            sys.exit(f'git {args}: {run.stderr!r}')
        return run.stdout.decode('utf-8', 'replace').rstrip('\n')

    def blob(self, data):
        return self.git('hash-object', '-w', '--stdin', data=data.encode() if isinstance(data, str) else data)

    def tree(self, files, base=None):
        """A tree of {path: bytes}, upon another one."""
        index = {'GIT_INDEX_FILE': os.path.join(self.top, 'an-index')}
        lines = ''.join(f'100644 {self.blob(d)}\t{p}\n' for p, d in files.items())
        def run(*args, data=None):
            return subprocess.run(['git', *args], cwd=self.repo, input=data, env={**os.environ, **ENV, **index},
                                  check=True, capture_output=True).stdout.decode().strip()
        run('read-tree', base or '--empty')
        run('update-index', '--add', '--index-info', data=lines.encode())
        os.remove(index['GIT_INDEX_FILE']) if not lines else None
        made = run('write-tree')
        os.remove(index['GIT_INDEX_FILE'])
        return made

    def plant(self, ref, files):
        """One more commit upon a ref."""
        tip = self.git('rev-parse', '-q', '--verify', ref, check=False)
        parent = ['-p', tip] if tip else []
        made = self.git('commit-tree', self.tree(files, tip + '^{tree}' if tip else None), *parent, '-m', 'planted')
        self.git('update-ref', ref, made)
        return made

    def facts(self):
        """What a rewind and a checkpoint must leave as it is."""
        index = os.path.join(self.repo, '.git', 'index')
        return (self.git('rev-parse', 'HEAD'), self.git('symbolic-ref', '-q', 'HEAD', check=False),
                hashlib.sha256(get(index)).hexdigest(), os.stat(index).st_mtime_ns,
                self.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads'))

    def work(self):
        """The work tree: path, mode, bytes."""
        return {os.path.relpath(p, self.repo): (s[0], s[2]) for p, s in snapshot(self.repo).items()
                if s[2] is not None and '/.git/' not in p}

    def points(self, session):
        return self.json('checkpoints', 'entire:' + session)

    def state(self, session):
        return json.loads(get(f'{self.repo}/.git/entire-sessions/{session}.json'))

    def expected(self, *parts):
        return get(os.path.join(self.top, 'expected', *parts)).decode()

    def sound(self):
        """git's own opinion of every object and ref; a gc loses nothing that a ref of ours names."""
        run = subprocess.run(['git', 'fsck', '--strict', '--no-dangling'], cwd=self.repo, capture_output=True, check=False,
                             env={**os.environ, **ENV})
        return run.returncode == 0, run.stdout + run.stderr

    def close(self):
        shutil.rmtree(self.top)


class Checks:
    def __init__(self, path):
        self.path = path
        self.fixtures = Fixtures()
        self.passed = self.failed = 0
        self.rows = set(UNIT)

    def same(self, what, got, want):
        self.rows |= {int(n) for n in re.findall(r'\b\d+\b', what.split(':')[0])}
        if got == want:
            self.passed += 1
        else:
            self.failed += 1
            print(f'{what}:\n  want {want!r}\n  got  {got!r}'[:3000])

    def need(self, what, holds):
        self.same(what, bool(holds), True)


# ---- names, states, listing: 4 to 13, 15, 20 ----

def listing(c):
    w = World(c, 'edge')
    before = snapshot(w.repo + '/.git')
    rows = {r['sessionId']: r for r in w.json('list', '--all', '--system', 'entire')}
    c.same('8: four sessions', sorted(rows), ['2026-01-06-legacy', 'f1b2c3d4-0001-4000-8000-00000000000a',
                                             'f1b2c3d4-0002-4000-8000-00000000000b', 'no-phase'])
    found = w.json('doctor')
    named = ' '.join(f.get('path', '') + ' ' + f['why'] for f in found)
    c.need('8: what is broken is named', 'broken.json' in named and 'half.json.tmp' in named)
    c.need('8: and still there', os.path.exists(w.repo + '/.git/entire-sessions/broken.json'))
    c.need('9: active_committed is active', any(f['kind'] == 'stuck' and f.get('sessionId') == '2026-01-06-legacy'
                                               for f in found))
    c.need('9: no phase is idle', not any(f['kind'] == 'stuck' and f.get('sessionId') == 'no-phase' for f in found))
    c.need('4: a name that a person chose is doubtful', 'entire/1234567' in named and 'entire/notes' not in named)
    c.need('4: the old shape is known', 'entire/1ce4cc8' in named)
    c.need('20: a commit of nobody is unknown', re.search(r'entire/fedcba9-e3b0c4 [^/]*names no session', named))
    w.run('messages', 'entire:f1b2c3d4-0002-4000-8000-00000000000b', '--json')
    w.run('checkpoints', 'entire:f1b2c3d4-0001-4000-8000-00000000000a', '--json')
    w.run('rewind', 'entire:f1b2c3d4-0001-4000-8000-00000000000a', '--to', 'ffff')
    c.same('10: reading changes nothing', snapshot(w.repo + '/.git'), before)
    linked = w.json('list', '--system', 'entire', at='../wt/test-wt', )
    c.need('13: states are found from a linked work tree',
           'f1b2c3d4-0002-4000-8000-00000000000b' in {r['sessionId'] for r in linked})
    for bad in '../../x', 'a/b', 'a\\b', '', '..':
        run = w.run('info', 'entire:' + bad)
        c.need(f'15: {bad!r} is refused', run.returncode in (2, 3))
    for bad in '../x', 'a/b', '..':
        run = w.run('create', 'entire:' + w.repo, '--id', bad)
        c.same(f'15: {bad!r} is not made', run.returncode, 2)
    c.same('15: nothing was made of them', snapshot(w.repo + '/.git'), before)
    w.close()
    w = World(c, 'refs-ulid')
    ids = {p['id'] for r in w.json('list', '--all', '--system', 'entire') for p in w.points(r['sessionId'])}
    c.same('6: two checkpoints and no decoy', ids, {'01KX37KN6NXDTV10FKNCBPTP2Y', 'b7c8d9e0f1a2'})
    w.close()


# ---- shadow branches: 16 to 18, 21, 56 ----

SHAPE = ['id', 'message', 'metadata_dir', 'date', 'is_task_checkpoint', 'is_logs_only', 'session_id', 'session_prompt']


def shadows(c):
    w = World(c, 'two-sessions')
    points = {s: w.points(s) for s in (A, B)}
    c.same('16: five and two', [len(points[A]), len(points[B])], [5, 2])
    told = sorted(((p['timestamp'] // 1000, p['id'], s, p['record']['message']) for s in points for p in points[s]), reverse=True)
    c.same('16: as points.tsv has them', ''.join(f'{i}\t{t}\t{s}\t{m}\n' for t, i, s, m in told),
           w.expected('two-sessions', 'points.tsv'))
    c.same('17: two task points', [(p['prompt'], p['record']['tool_use_id']) for p in points[A] if p['kind'] == 'task'],
           [('Write test skeleton (toolu_01Task)', 'toolu_01TaskTestWriter'),
            ("Completed 'dev' agent: Write login test (toolu_01Task)", 'toolu_01TaskTestWriter')])
    first = points[A][0]
    c.same('18: the first has no parent, and yet files', (w.git('rev-list', '--count', first['id']), first['files']), ('1', 3))
    c.same('21: what each session changed', [[p['files'] for p in points[s]] for s in (A, B)], [[3, 1, 1, 2, 1], [2, 2]])
    c.same('56: the shape of rewind --list', list(first['record']), SHAPE)
    task = points[A][1]['record']
    c.same('56: of a task', list(task), SHAPE[:5] + ['tool_use_id'] + SHAPE[5:])
    c.same('56: values', (first['record']['date'], first['record']['metadata_dir'], first['record']['session_prompt'],
                          task['metadata_dir'], task['is_task_checkpoint']),
           ('2026-02-09T10:02:00Z', '.entire/metadata/' + A, 'Please add a login function?',
            f'.entire/metadata/{A}/tasks/toolu_01TaskTestWriter', True))
    w.close()
    w = World(c, 'committed')
    record = w.points(CA)[0]['record']
    c.same('56: of a commit', list(record), SHAPE[:6] + ['condensation_id'] + SHAPE[6:])
    c.same('56: logs only', (record['is_logs_only'], record['condensation_id'], record['metadata_dir']), (True, 'a3b2c4d5e6f7', ''))
    w.close()


# ---- rewinding: 22 to 35 ----

def sets(w, answer, *actions):
    return {os.path.relpath(f['path'], w.repo) for f in answer['files'] if f['action'] in actions}


def rewinds(c):
    w = World(c, 'two-sessions')
    for line in w.expected('two-sessions', 'points.tsv').splitlines():
        point, _, session, _ = line.split('\t')
        answer = w.json('rewind', 'entire:' + session, '--to', point, '--entire-rule', '--overwrite-edited', '--allow-sensitive')
        c.same(f'22: restored by their rule ({point[:7]})', sets(w, answer, 'restore', 'create', 'unchanged'),
               set(w.expected('two-sessions', point + '.restore').split('\n')) - {''})
        c.same(f'22: deleted by their rule ({point[:7]})', sets(w, answer, 'delete'),
               set(w.expected('two-sessions', point + '.delete').split('\n')) - {''})
    first, last = (w.points(A)[i]['id'] for i in (0, 3))
    facts, work = w.facts(), w.work()
    plain = w.json('rewind', 'entire:' + A, '--to', last)
    touched = sets(w, plain, 'restore', 'create', 'delete', 'refused')
    c.need('23: no ignored file goes', not touched & {'trace.log', 'build/new.o', 'build/old.o'})
    c.need('23: a file that nobody knows is shown, and off', 'scratch.txt' in sets(w, plain, 'refused'))
    c.need('24: what was there at the start stays', not sets(w, plain, 'delete', 'refused') & {'notes.txt', 'build/old.o'})
    c.same('25: a dry run changes nothing', (w.facts(), w.work()), (facts, work))
    c.need('30: nothing of .git .entire .claude .gemini', not any(
        p.split('/')[0] in ('.git', '.entire', '.claude', '.gemini') for p in touched))
    w.git('checkout', '-q', 'HEAD', '--', 'src/util.c')
    w.git('reset', '-q')
    c.need('27: ours removes what the checkpoint lacks', 'src/util.c' in sets(w, w.json(
        'rewind', 'entire:' + A, '--to', last, '--overwrite-edited'), 'delete'))
    c.need('27: theirs keeps it', 'src/util.c' not in sets(w, w.json(
        'rewind', 'entire:' + A, '--to', last, '--entire-rule', '--overwrite-edited'), 'delete'))
    os.remove(w.repo + '/src/util.c')

    facts, work, shadow = w.facts(), w.work(), w.git('rev-parse', 'entire/6d28ff0-e3b0c4')
    answer = w.json('rewind', 'entire:' + A, '--to', first, '--apply', '--skip-refused', at='src')
    c.need('32: from a folder further down', os.path.exists(w.repo + '/src/util.c') and
           not os.path.exists(w.repo + '/src/src') and not os.path.exists(w.repo + '/docs/usage.md'))
    wrong = [l for l in w.git('ls-tree', '-r', first).split('\n')
             if l.split('\t')[1].split('/')[0] not in ('.entire', '.claude') and
             (l.split()[2] != w.git('hash-object', '--no-filters', '--', l.split('\t')[1]) or
              (l[:6] == '100755') != os.access(os.path.join(w.repo, l.split('\t')[1]), os.X_OK))]
    c.same('26: every blob and mode', wrong, [])
    c.same('28: HEAD, branch and index', w.facts()[:4], facts[:4])
    other = {os.path.relpath(f['path'], w.repo): f['alsoChangedBy']['sessionId'] for f in answer['files'] if 'alsoChangedBy' in f}
    c.same('33: what another session changed since is said', other, {p: B for p in ('README.md', 'docs/usage.md', 'run.sh')})
    c.need('33: and that it is at work here', 'b1b2c3d4 is at work' in ' '.join(answer['notes']))
    c.same('33: the shared branch is where it was', (w.git('rev-parse', 'entire/6d28ff0-e3b0c4'), w.facts()[4]), (shadow, facts[4]))
    kept = w.git('for-each-ref', '--format=%(refname)', 'refs/reprise/before')
    c.same('29: the safety ref has what was there', w.git('show', kept + ':src/session.c'), 'int session(void) { return 7; }')
    c.same('29: git finds nothing wrong', w.sound(), (True, b''))
    w.run('undo', answer['undo'], ok=True)
    c.same('29: undo gives every byte back', w.work(), work)
    w.close()


def adversity(c):
    w = World(c, 'two-sessions')
    first = w.points(A)[0]['id']
    put(w.top + '/outside/secret', 'mine\n')
    os.remove(w.repo + '/src/login.c')
    os.symlink(w.top + '/outside/secret', w.repo + '/src/login.c')
    shutil.rmtree(w.repo + '/docs')
    os.symlink(w.top + '/outside', w.repo + '/docs')
    answer = w.json('rewind', 'entire:' + A, '--to', first, '--overwrite-edited')
    c.need('31: a planted link is flagged', 'src/login.c' in sets(w, answer, 'refused'))
    w.run('rewind', 'entire:' + A, '--to', first, '--apply', '--overwrite-edited', '--skip-refused')
    c.same('31: and not followed', (get(w.top + '/outside/secret'), os.listdir(w.top + '/outside'),
                                   os.path.islink(w.repo + '/src/login.c')), (b'mine\n', ['secret'], True))
    w.close()

    w = World(c, 'two-sessions')
    first = w.points(A)[0]['id']
    shown = w.json('rewind', 'entire:' + A, '--to', first, '--overwrite-edited')
    put(w.repo + '/src/login.c', 'by hand\n')
    work = w.work()
    stale = w.run('rewind', 'entire:' + A, '--to', first, '--overwrite-edited', '--apply', '--plan', shown['plan'])
    c.same('34: a plan that is not as shown', (stale.returncode, b'src/login.c: ' in stale.stderr, w.work()), (4, True, work))
    run = w.run('rewind', 'entire:' + A, '--to', first, '--apply', '--json')
    answer = json.loads(run.stdout)
    c.same('34: the file is refused, and the exit says so', (run.returncode, w.work()), (4, work))
    c.need('34: it is named', any(f['path'].endswith('src/login.c') and f['action'] == 'refused' and f['editedSince']
                                  for f in answer['files']))
    c.need('34: and the rest reported', 'src/session.c' in sets(w, answer, 'delete'))
    w.run('rewind', 'entire:' + A, '--to', first, '--apply', '--skip-refused', ok=True)
    c.same('34: skipped it keeps its bytes', get(w.repo + '/src/login.c'), b'by hand\n')
    w.close()


def interrupted(c, injector):
    """35: the program is killed between two calls: the next start ends it, a second go completes, undo gives all back."""
    w = World(c, 'two-sessions')
    first = w.points(A)[0]['id']
    before = w.work()
    counter = os.path.join(w.top, 'counter')
    go = ['rewind', 'entire:' + A, '--to', first, '--apply', '--skip-refused', '--json']
    put(counter, bytes(8))
    w.program.env.update(LD_PRELOAD=injector, INJECT_MODE='kill', INJECT_NTH='0', INJECT_COUNTER=counter)
    w.run(*go, ok=True)
    calls = int.from_bytes(get(counter), 'little')
    w.close()
    c.need('35: there is something to break', calls > 60)
    torn = set()
    for nth in range(3, calls, max(1, calls // 14)):
        w = World(c, 'two-sessions')
        w.program.env.update(LD_PRELOAD=injector, INJECT_MODE='kill', INJECT_NTH=str(nth))
        c.need(f'35: killed at {nth}', w.run(*go).returncode < 0)
        torn.add(w.work() == before)
        for name in 'LD_PRELOAD', 'INJECT_MODE', 'INJECT_NTH':
            del w.program.env[name]
        c.same(f'35: killed at {nth}: a second go completes', w.run(*go).returncode, 0)
        c.same(f'35: killed at {nth}: as it was then', get(w.repo + '/src/login.c'), b'int login(void) { return 0; }\n')
        c.same(f'35: killed at {nth}: no temporary name stays', [p for p in w.work() if '.reprise-' in p], [])
        c.same(f'35: killed at {nth}: git finds nothing wrong', w.sound(), (True, b''))
        for _ in range(2):  # the one that was killed may have been completed by the next start
            if w.work() != before:
                w.run('undo')
        c.same(f'35: killed at {nth}: undo gives all back', w.work(), before)
        w.close()
    c.same('35: before the first change and after it', torn, {True, False})


# ---- committed checkpoints: 36 to 46 ----

def committed(c):
    w = World(c, 'committed')
    rows = {r['sessionId']: r for r in w.json('list', '--all', '--system', 'entire')}
    points = {s: w.points(s) for s in rows}
    ids = [p['id'] for s in points for p in points[s]]
    c.same('36: six checkpoints', len(set(ids)), 6)
    c.same('36: two sessions in one, also where folders have a gap', (ids.count('5f0c11d2ab34'), ids.count('9c0d1e2f3a4b')), (2, 2))
    w.run('fork', 'entire:2026-01-06-' + CB, '--at', '9c0d1e2f3a4b', ok=True)
    whole = w.git('show', 'entire/checkpoints/v1:77/aa88bb99cc/0/content_hash.txt')
    shutil.rmtree(w.claude)
    back = w.json('retrieve', 'entire:' + CA, '--at', '77aa88bb99cc')
    c.same('37: three pieces, and the sum that is said of them', 'sha256:' + hashlib.sha256(get(back[0]['path'])).hexdigest(), whole)
    c.same('38: no hash is no error', [f for f in w.json('doctor', 'entire:' + CT) if f['kind'] != 'stuck'], [])
    c.same('38: tasks lie at the root of the checkpoint', points[CT][0]['record']['tool_use_id'], 'toolu_01AutoTask')
    w.plant('refs/heads/entire/checkpoints/v1', {'e0/e1e2e3e4e5/0/content_hash.txt': 'sha256:' + '0' * 64})
    c.same('39: another hash is a warning', [f['kind'] for f in w.json('doctor', 'entire:' + CR)], ['checksum'])
    c.same('39: and nothing more', len(w.json('messages', 'entire:' + CR)), 4)
    c.same('39: it is put back all the same', w.json('retrieve', 'entire:' + CR, '--at', 'e0e1e2e3e4e5')[0]['written'], True)
    records = [p['record'] for s in points for p in points[s] if 'record' in p]
    c.same('40: logs_only.tsv', sorted({f"{r['id']}\t{r['condensation_id']}" for r in records}),
           sorted(w.expected('committed', 'logs_only.tsv').split('\n'))[1:])
    subjects = {l.split('\t')[0]: l.split('\t')[3] for l in w.expected('committed', 'history.tsv').splitlines()}
    c.same('40: history.tsv', [r['message'] for r in records], [subjects[r['id']] for r in records])
    c.need('40: one that no commit carries says so', 'no commit' in points[CR][0]['why'] and not points[CR][0]['restorable'])
    c.same('41: a dangling trailer restores nothing', w.run('rewind', 'entire:' + CA, '--to', 'deadbeef0001').returncode, 3)
    both = w.json('retrieve', 'entire:2026-01-06-' + CA, '--at', '9c0d1e2f3a4b', '--dry-run')
    c.same('41: and folders 0 and 2 bring both sessions', [r['sessionId'] for r in both],
           ['2026-01-06-' + CA, '2026-01-06-' + CB])
    w.git('update-ref', 'refs/remotes/origin/entire/checkpoints/v1', 'refs/heads/entire/checkpoints/v1')
    w.git('update-ref', '-d', 'refs/heads/entire/checkpoints/v1')
    c.same('45: those of origin do', set(rows) - {r['sessionId'] for r in w.json('list', '--all', '--system', 'entire')}, set())
    w.close()


def document(**members):
    return json.dumps(members, indent=2) + '\n'


def listed(place, **more):
    names = {'metadata': 'metadata.json', 'transcript': 'full.jsonl', 'context': '', 'content_hash': '', 'prompt': 'prompt.txt', **more}
    return {k: place + v if v else '' for k, v in names.items()}


def odd(c):
    """43: what real repositories hold, each in a checkpoint of its own."""
    gemini = json.dumps({'sessionId': 'gem-1', 'messages': [
        {'id': 'g1', 'type': 'user', 'timestamp': '2026-02-10T10:00:00Z', 'content': 'Ask Gemini'},
        {'id': 'g2', 'type': 'gemini', 'timestamp': '2026-02-10T10:01:00Z', 'content': 'Gemini answers',
         'toolCalls': [{'name': 'write_file', 'args': {'file_path': 'a.c'}}]}]}, indent=2)
    codex = ''.join(json.dumps(r) + '\n' for r in (
        {'timestamp': '2026-02-10T10:00:09Z', 'type': 'session_meta',
         'payload': {'id': 'cod-1', 'timestamp': '2026-02-10T10:00:00Z', 'cwd': '/srv/demo'}},
        {'timestamp': '2026-02-10T10:00:01Z', 'type': 'response_item',
         'payload': {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'Ask Codex'}]}},
        {'timestamp': '2026-02-10T10:00:02Z', 'type': 'response_item',
         'payload': {'type': 'message', 'role': 'assistant', 'content': [{'type': 'output_text', 'text': 'Codex answers'}]}}))
    log = row('user', 'u1', None, 'Asked', 's') + row('assistant', 'u2', 'u1', 'Answered', 's', 1)
    shapes = {
        'aa0000000001': [('noagent', {}, {'full.jsonl': log})],
        'aa0000000002': [('legacy', {'agents': 'Agent', 'steps_count': 3, 'transcript_uuid_at_start': 'u1', 'files_touched': None,
                                     'created_at': '2026-01-06T19:44:48.712292+01:00'}, {'full.log': log})],
        'aa0000000003': [('gem-1', {'agent': 'Gemini CLI'}, {'full.jsonl': gemini})],
        'aa0000000004': [('cod-1', {'agent': 'Codex'}, {'full.jsonl': codex})],
        'aa0000000005': [('several-a', {'agent': 'Claude Code'}, {'full.jsonl': log}), None, None,
                         ('several-b', {'agent': 'Claude Code', 'summary': {'intent': 'x', 'friction': []}}, {'full.jsonl': log})],
        'aa0000000006': [('auto', {'strategy': 'auto-commit', 'is_task': True, 'tool_use_id': 'toolu_1'}, {'full.jsonl': log})],
        'aa0000000007': [('evil', {'agent': 'Claude Code', 'transcript_path': '../../../etc/passwd'}, {'full.jsonl': log})],
        'aa0000000008': [('nothing', {'agent': 'Claude Code'}, {})],
    }
    w = World(c, 'committed')
    files = {}
    for cid, sessions in shapes.items():
        folder = f'{cid[:2]}/{cid[2:]}/'
        names = []
        for n, s in enumerate(sessions):
            if s:
                names.append(listed(f'/{folder}{n}/'))
                files[f'{folder}{n}/metadata.json'] = document(checkpoint_id=cid, session_id=s[0], **{
                    'created_at': '2026-02-10T10:02:00Z', **s[1]})
                files[f'{folder}{n}/prompt.txt'] = 'Asked'
                files.update({f'{folder}{n}/{name}': text for name, text in s[2].items()})
        files[folder + 'metadata.json'] = document(checkpoint_id=cid, checkpoints_count=1, files_touched=None, sessions=names)
    w.plant('refs/heads/entire/checkpoints/v1', files)
    rows = {r['sessionId']: r for r in w.json('list', '--all', '--system', 'entire')}
    want = {s[0] for ss in shapes.values() for s in ss if s}
    c.same('43: all of them are listed', want - set(rows), set())
    c.same('43: one without an agent names none', 'agentName' in rows['noagent'], False)
    c.same('43: a time with an offset', rows['legacy']['createdAt'], 1767725088712)
    for name in ('noagent', 'legacy', 'several-a', 'several-b', 'auto', 'evil'):
        c.same(f'43: {name} is read', [m['message']['content'] for m in w.json('messages', 'entire:' + name)], ['Asked', 'Answered'])
    c.same('43: a conversation of Gemini', [(m['type'], m['message']['content']) for m in w.json('messages', 'entire:gem-1')],
           [('user', 'Ask Gemini'), ('assistant', 'Gemini answers')])
    c.same('43: one of Codex', [m['type'] for m in w.json('messages', 'entire:cod-1')], ['user', 'assistant'])
    c.need('43: the one without a transcript says so', w.run('messages', 'entire:nothing').returncode in (3, 5))
    run = w.run('retrieve', 'entire:evil', '--json')
    c.need('52: the place follows from the work tree, not from what was pushed', run.returncode == 0 and
           json.loads(run.stdout)[0]['path'].startswith(w.claude))
    back = w.json('retrieve', 'entire:gem-1')[0]
    sanitized = re.sub('[^A-Za-z0-9]', '-', w.repo)
    c.same('43: Gemini\'s goes where Entire puts it', (back['path'], back['state'], get(back['path']).decode()),
           (f'{w.home}/.gemini/tmp/{sanitized}/chats/gem-1.json', 'new', gemini))
    c.same('43: and is the same then', w.json('retrieve', 'entire:gem-1')[0]['state'], 'unchanged')
    own = f'{w.home}/.gemini/tmp/{hashlib.sha256(w.repo.encode()).hexdigest()}/chats'
    there = own + '/session-2026-02-10T10-00-gem-1.json'
    put(there, gemini.replace('10:01:00', '11:00:00'))
    run = w.run('retrieve', 'entire:gem-1', '--json')
    c.same('43: where the agent keeps a newer one that stays', (run.returncode, there in run.stderr.decode(), b'11:00' in get(there)),
           (4, True, True))
    back = w.json('retrieve', 'entire:cod-1')[0]
    c.same('43: Codex\'s goes to its day', (back['path'], get(back['path']).decode()),
           (w.home + '/.codex/sessions/2026/02/10/rollout-2026-02-10T10-00-00-cod-1.jsonl', codex))
    c.same('43: for nobody else', os.stat(back['path']).st_mode & 0o777, 0o600)
    os.rename(back['path'], back['path'].replace('T10-00-00', 'T11-00-00'))
    c.same('43: and is found by its id', w.json('retrieve', 'entire:cod-1')[0]['state'], 'unchanged')
    for name in 'gem-1', 'cod-1':
        c.need(f'43: {name} cannot be forked, and it says why', b'Claude Code' in w.run('fork', 'entire:' + name).stderr)
    w.close()


def second(c):
    """44: v2 is read and not written."""
    w = World(c, 'committed')
    w.git('update-ref', '-d', 'refs/heads/entire/checkpoints/v1')
    main, full = {}, {}
    for n in range(10):
        cid = f'bb000000000{n}'
        folder = f'{cid[:2]}/{cid[2:]}/'
        log = row('user', 'u1', None, f'Asked {n}', f'two-{n}') + row('assistant', 'u2', 'u1', 'Raw', f'two-{n}', 1)
        compact = document(v=1, agent='claude-code', type='user', ts='2026-02-10T10:00:00Z', content=[{'text': 'Compact'}])
        main[folder + 'metadata.json'] = document(checkpoint_id=cid, sessions=[listed(
            '/' + folder + '0/', transcript='transcript.jsonl', content_hash='transcript_hash.txt')])
        main[folder + '0/metadata.json'] = document(checkpoint_id=cid, session_id=f'two-{n}', agent='Claude Code',
                                                    created_at='2026-02-10T10:02:00Z', files_touched=['a.c'])
        main[folder + '0/transcript.jsonl'] = json.dumps(json.loads(compact)) + '\n'
        main[folder + '0/prompt.txt'] = f'Asked {n}'
        if n == 3:  # in pieces
            full[folder + '0/raw_transcript'], full[folder + '0/raw_transcript.001'] = log[:-1].split('\n')[0], log.split('\n')[1] + '\n'
        elif n == 4:
            old = {folder + '0/raw_transcript': log}
        elif n < 9:
            full[folder + '0/raw_transcript'] = log
    w.plant('refs/entire/checkpoints/v2/main', main)
    w.plant('refs/entire/checkpoints/v2/full/current', full)
    w.plant('refs/entire/checkpoints/v2/full/0000000000001', old)
    refs = w.git('for-each-ref')
    rows = {r['sessionId']: r for r in w.json('list', '--all', '--system', 'entire')}
    c.same('44: ten checkpoints', sorted(r for r in rows if r.startswith('two-')), [f'two-{n}' for n in range(10)])
    said = [[m['message']['content'] for m in w.json('messages', f'entire:two-{n}')] for n in (0, 3, 4)]
    c.same('44: what the agent wrote, in pieces and in an older generation too', said, [[f'Asked {n}', 'Raw'] for n in (0, 3, 4)])
    c.same('44: or the short form', [m['message']['content'] for m in w.json('messages', 'entire:two-9')], [[{'text': 'Compact'}]])
    c.same('44: and put back', w.json('retrieve', 'entire:two-3')[0]['state'], 'new')
    for args in (['checkpoint', 'entire:two-1', '--id', 'hm', 'x.txt'], ['set', 'entire:two-1', 'event=commit']):
        run = w.run(*args)
        c.need(f'44: {args[0]} is refused in a plain word', run.returncode in (1, 4) and b'no state' in run.stderr)
    c.same('44: nothing was written', w.git('for-each-ref'), refs)
    w.close()
    w = World(c, 'refs-ulid')
    run = w.run('create', 'entire:' + w.repo, '--id', 'ulid-1', '--cwd', w.repo, ok=True)
    refs = w.git('for-each-ref')
    run = w.run('set', 'entire:ulid-1', 'event=commit')
    c.need('44: a checkpoint with a ref of its own is read, not written', run.returncode in (1, 4) and b'01KX37KN6NXDTV10FKNCBPTP2Y' in run.stderr
           and b'does not write' in run.stderr)
    c.same('44: its ref is as it was', w.git('for-each-ref'), refs)
    w.close()


def many(c):
    """46: how many there are costs little; the bar itself is measured by the benches."""
    w = World(c, 'committed')
    files = {}
    for n in range(590):
        cid = f'cc{n:010x}'
        folder = f'{cid[:2]}/{cid[2:]}/'
        files[folder + 'metadata.json'] = document(checkpoint_id=cid, sessions=[listed('/' + folder + '0/')])
        files[folder + '0/metadata.json'] = document(checkpoint_id=cid, session_id=f'm-{n}', created_at='2026-02-10T10:02:00Z')
    w.plant('refs/heads/entire/checkpoints/v1', files)
    c.same('46: all of 590', len([r for r in w.json('list', '--all', '--system', 'entire') if r['sessionId'].startswith('m-')]), 590)
    w.close()


# ---- transcripts: 47 to 52 ----

def transcripts(c):
    w = World(c, 'committed')
    away = os.path.join(w.home, 'away')
    os.rename(os.path.join(w.home, '.claude'), away)
    place = f'{w.claude}/{re.sub("[^A-Za-z0-9]", "-", w.repo)}/{CB}.jsonl'
    back = w.json('retrieve', 'entire:' + CB, '--at', '5f0c11d2ab34')
    mine = [b for b in back if b['sessionId'] == CB][0]
    c.same('47: the folder is the path with dashes', mine['path'], place)
    c.same('48: it was not here', (mine['state'], mine['written']), ('new', True))
    c.same('50: every session of it', sorted(b['sessionId'] for b in back), [CA, CB])
    c.same('48: the same', [b for b in w.json('retrieve', 'entire:' + CB) if b['sessionId'] == CB][0]['state'], 'unchanged')
    text = get(place)
    put(place, b''.join(text.splitlines(True)[:2]))
    c.same('48: the checkpoint is newer', w.json('retrieve', 'entire:' + CB)[0]['state'], 'checkpoint-newer')
    c.same('48: and written', get(place), text)
    longer = text + row('assistant', 'zz', 'ab2', 'x' * 200000, CB, 59).encode()
    put(place, longer)
    run = w.run('retrieve', 'entire:' + CB, '--json')
    c.same('48: newer here, behind a line of 200 KB: left alone', (run.returncode, get(place) == longer), (4, True))
    w.run('retrieve', 'entire:' + CB, '--force', ok=True)
    c.same('48: an explicit choice', get(place), text)
    w.run('undo', ok=True)
    c.same('48: the one that was here is kept', get(place), longer)
    task = w.json('retrieve', 'entire:' + CT, '--at', '0fedcba98765')
    c.same('49: a task ends where it ended', json.loads(get(task[0]['path']).splitlines()[-1])['uuid'], 'ra1')
    for folder, name in (('11/1111111111/', '../../evil'), ('22/2222222222/', '/abs/evil')):
        w.plant('refs/heads/entire/checkpoints/v1', {
            folder + 'metadata.json': document(sessions=[listed('/' + folder + '0/')]),
            folder + '0/metadata.json': document(session_id=name), folder + '0/full.jsonl': row('user', 'u', None, 'x', name)})
        c.need(f'52: {name} is no session', name not in {r['sessionId'] for r in w.json('list', '--all')})
        c.need(f'52: nor can it be put back', w.run('retrieve', 'entire:' + name).returncode in (2, 3))
    w.plant('refs/heads/entire/checkpoints/v1', {
        '33/3333333333/metadata.json': document(sessions=[listed('/33/3333333333/0/', transcript='../../../../11/1111111111/0/full.jsonl')]),
        '33/3333333333/0/metadata.json': document(session_id='climber'), '11/1111111111/0/full.jsonl': row('user', 'u', None, 'secret', 'x')})
    c.need('52: a transcript of another checkpoint is none', b'secret' not in w.run('messages', 'entire:climber', '--json').stdout)
    w.close()


def forks(c):
    w = World(c, 'two-sessions')
    live = w.state(A)['transcript_path']
    text, git, states = get(live), w.facts(), snapshot(w.repo + '/.git/entire-sessions')
    made = w.json('fork', 'entire:' + A)
    copy = [json.loads(l) for l in get(made['path']).splitlines()]
    c.need('51: a new UUID', re.fullmatch(r'[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}', made['sessionId']) and made['sessionId'] != A)
    c.same('51: sessionId on every line', {r['sessionId'] for r in copy}, {made['sessionId']})
    c.same('51: every message', sum(r['type'] in ('user', 'assistant') for r in copy), len(text.splitlines()))
    c.same('51: for nobody else', os.stat(made['path']).st_mode & 0o777, 0o600)
    c.same('51: where the agent looks', os.path.dirname(made['path']), w.claude + '/' + re.sub('[^A-Za-z0-9]', '-', w.repo))
    c.same('51: the original is as it was', get(live), text)
    first = w.points(A)[0]['id']
    early = w.json('fork', 'entire:' + A, '--at', first)
    c.same('51: as it was at a checkpoint', sum(json.loads(l)['type'] in ('user', 'assistant') for l in get(early['path']).splitlines()), 6)
    task = w.json('fork', 'entire:' + A, '--at', w.points(A)[2]['id'][:12])
    c.same('51: of a task up to its end', [r.get('forkedFrom', {}).get('messageUuid') for r in map(json.loads, get(task['path']).splitlines())
                                         if r['type'] in ('user', 'assistant')][-1], 'rt1')
    one = w.json('fork', 'entire:' + A, '--at', 'ua2')
    c.same('51: up to a message', sum(json.loads(l)['type'] in ('user', 'assistant') for l in get(one['path']).splitlines()), 7)
    c.same('51: of another session no point', w.run('fork', 'entire:' + A, '--at', w.points(B)[0]['id']).returncode, 3)
    c.same('51: no state, no ref', (w.facts(), snapshot(w.repo + '/.git/entire-sessions')), (git, states))
    c.same('51: it is a session of the agent', w.json('info', made['sessionId'])['system'], 'claude')
    w.run('undo', ok=True)
    c.need('51: and can be taken back', not os.path.exists(one['path']) and os.path.exists(made['path']))
    os.rename(live, live + '.away')
    c.same('51: from the checkpoint alone', len(get(w.json('fork', 'entire:' + A)['path']).splitlines()), len(copy))
    c.need('51: resume-at needs it here', b'not on this machine' in w.run('resume-at', 'entire:' + A, first).stderr)
    os.rename(live + '.away', live)
    w.run('resume-at', 'entire:' + A, first, ok=True)
    c.same('51: and goes on where the checkpoint was', [m['uuid'] for m in w.json('restore', 'entire:' + A)['messages']][-1], 'aa3')
    w.close()


# ---- migration and writing: 53, 54, git itself ----

def writing(c):
    w = World(c, 'migration')
    said = dict(l.split(' ', 1) for l in w.expected('migration', 'expected.txt').splitlines())
    m = 'e1b2c3d4-0001-4000-8000-00000000000a'
    (old, tip), (new, _) = said['ref_before'].split(), said['ref_after'].split(' ', 1)
    put(w.repo + '/src/x.c', 'int x;\n')
    made = w.json('checkpoint', 'entire:' + m, '--id', 'More', 'src/x.c')
    c.same('53: the old ref is gone, the new one goes on from the same commit',
           (w.git('rev-parse', '-q', '--verify', 'refs/heads/' + old, check=False), w.git('rev-parse', new + '^')), ('', tip))
    c.same('53: the state', (w.state(m)['base_commit'], w.state(m)['attribution_base_commit']),
           (said['head'], said['state_before'].split('=')[1]))
    c.same('53: the id is the commit', made['checkpointId'], w.git('rev-parse', new))
    w.close()

    w = World(c, 'two-sessions')
    path = f'{w.repo}/.git/entire-sessions/{A}.json'
    head = w.git('rev-parse', 'HEAD')
    put(path, get(path).replace(head.encode(), head[:7].encode() + b'0' * 33))
    refs = w.git('for-each-ref', 'refs/heads/entire')
    put(w.repo + '/src/x.c', 'int x;\n')
    w.json('checkpoint', 'entire:' + A, '--id', 'More', 'src/x.c')
    c.same('54: the same seven digits: only the state changes', (w.state(A)['base_commit'], w.git('rev-parse', 'entire/6d28ff0-e3b0c4^')),
           (head, refs.split()[0]))
    w.close()

    w = World(c, 'two-sessions')
    before, user = w.facts(), w.git('status', '--porcelain=v2')
    put(w.repo + '/src/x.c', 'int x;\n')
    os.chmod(w.repo + '/src/x.c', 0o755)
    run = w.run('checkpoint', 'entire:' + A, '--id', 'Could you add x?', 'src/x.c', '--json', ok=True)
    c.need('git: another session that is at work here is named', b'b1b2c3d4 is at work' in run.stderr and B.startswith('b1b2c3d4'))
    os.remove(w.repo + '/src/x.c')
    c.same('git: HEAD, index and branches of the user', [w.facts()[i] for i in (0, 1, 2, 3)], list(before[:4]))
    c.same('git: status', w.git('status', '--porcelain=v2'), user)
    c.same('git: mode and blob', w.git('ls-tree', 'entire/6d28ff0-e3b0c4', 'src/x.c').split()[:3:2], ['100755', w.blob('int x;\n')])
    c.same('git: log', w.git('log', '-1', '--format=%s|%(trailers:key=Entire-Session,valueonly)', 'entire/6d28ff0-e3b0c4').split('\n')[0],
           'Add x|' + A)
    w.run('set', 'entire:' + B, 'event=turn-end', ok=True)
    w.git('add', 'src', 'tests', 'docs', 'README.md', 'run.sh')
    w.git('commit', '-qm', 'Login\n\nEntire-Checkpoint: 0123456789ab')
    head = w.facts()
    w.run('set', 'entire:' + A, 'event=commit', ok=True)
    w.run('set', 'entire:' + B, 'event=commit', ok=True)
    c.same('git: HEAD and index stay', w.facts()[:4], head[:4])
    c.same('git: fsck', w.sound(), (True, b''))
    trees = w.git('for-each-ref', '--format=%(refname) %(tree)', 'refs/heads/entire', 'refs/reprise')
    rows = w.json('list', '--all', '--system', 'entire')
    w.git('gc', '-q', '--prune=now')
    w.git('reflog', 'expire', '--expire=now', '--all')
    w.git('gc', '-q', '--prune=now')
    c.same('git: gc loses nothing', (w.sound()[0], w.git('for-each-ref', '--format=%(refname) %(tree)', 'refs/heads/entire', 'refs/reprise')),
           (True, trees))
    c.same('git: and the list is the same', w.json('list', '--all', '--system', 'entire'), rows)
    old = w.git('for-each-ref', '--format=%(objectname)', 'refs/reprise/condensed')
    c.same('33: commits that left the shared branch are still named', w.git('log', '-1', '--format=%s', old), 'Add x')
    w.close()


def autocommits(c):
    """The strategy that commits at once, where the repository asks for it."""
    w = World(c, 'two-sessions')
    settings = w.repo + '/.entire/settings.json'
    put(settings, get(settings).replace(b'manual-commit', b'auto-commit'))
    put(w.repo + '/.gitattributes', '*.c text eol=lf\n*.big filter=lfs\n')
    w.git('add', 'design.txt', 'run.sh')  # something else is staged, and stays so
    staged, head, shadow = w.git('diff', '--cached', '--name-only'), w.git('rev-parse', 'HEAD'), w.git('rev-parse', 'entire/6d28ff0-e3b0c4')
    put(w.repo + '/src/x.c', 'int x;\r\n')
    made = w.json('checkpoint', 'entire:' + A, '--id', 'Please add x?', 'src/x.c', 'src/util.c')
    cid = made['checkpointId']
    c.need('auto: an id of twelve digits', re.fullmatch('[0-9a-f]{12}', cid))
    c.same('auto: a commit of the branch', w.git('log', '-1', '--format=%P|%B', 'feature/login'), f'{head}|Add x\n\nEntire-Checkpoint: {cid}')
    c.same('auto: of these files alone', w.git('diff', '--name-status', 'HEAD^', 'HEAD'), 'D\tsrc/util.c\nA\tsrc/x.c')
    c.same('auto: as git would have stored it', w.git('cat-file', '-s', 'HEAD:src/x.c'), '7')
    c.same('auto: what was staged is staged', w.git('diff', '--cached', '--name-only'), staged)
    c.same('auto: of the rest there is nothing to say', w.git('status', '--porcelain', '--', 'src/x.c', 'src/util.c'), '')
    c.same('auto: HEAD is on its branch', w.git('symbolic-ref', 'HEAD'), 'refs/heads/feature/login')
    c.same('auto: the shadow branch is none of its business', w.git('rev-parse', 'entire/6d28ff0-e3b0c4'), shadow)
    names = w.git('ls-tree', '-r', '--name-only', 'entire/checkpoints/v1').split('\n')
    front = f'{cid[:2]}/{cid[2:]}/'
    c.same('auto: its metadata, without a hash', [n for n in names if n.startswith(front)],
           [front + n for n in ('0/full.jsonl', '0/metadata.json', '0/prompt.txt', 'metadata.json')])
    session = json.loads(w.git('show', f'entire/checkpoints/v1:{front}0/metadata.json'))
    c.same('auto: of the strategy', (session['strategy'], session['files_touched'], session['checkpoints_count']),
           ('auto-commit', ['src/util.c', 'src/x.c'], 1))
    c.same('auto: the state', (w.state(A)['base_commit'], w.state(A)['last_checkpoint_id']), (w.git('rev-parse', 'HEAD'), cid))
    c.need('auto: it is a point to go back to', [p for p in w.points(A) if p['id'] == cid and p['kind'] == 'commit' and p['restorable']])
    c.same('auto: git finds nothing wrong', w.sound(), (True, b''))
    head = w.facts()
    c.same('auto: nothing changed, nothing made', w.json('checkpoint', 'entire:' + A, '--id', 'Again', 'src/x.c')['fresh'], 0)
    put(w.repo + '/a.big', 'large\n')
    c.need('auto: a file of a filter program is git\'s', b'filter' in w.run('checkpoint', 'entire:' + A, '--id', 'Big', 'a.big').stderr)
    put(w.repo + '/.git/MERGE_HEAD', w.git('rev-parse', 'main') + '\n')
    put(w.repo + '/src/y.c', 'int y;\n')
    c.need('auto: not in the middle of a merge', b'merge' in w.run('checkpoint', 'entire:' + A, '--id', 'Merge', 'src/y.c').stderr)
    c.same('auto: nothing moved', w.facts(), head)
    os.remove(w.repo + '/.git/MERGE_HEAD')
    hook = w.repo + '/.git/hooks/pre-commit'
    put(hook, '#!/bin/sh\n# Entire CLI hooks\ntouch ran\n')
    os.chmod(hook, 0o755)
    made = w.json('checkpoint', 'entire:' + A, '--id', 'Hooked', 'src/y.c')
    c.need('auto: of hooks that are Entire\'s nothing is said', 'hooks' not in made.get('warning', ''))
    put(hook, '#!/bin/sh\ntouch ran\n')
    w.git('config', 'commit.gpgsign', 'true')
    put(w.repo + '/src/y.c', 'int yy;\n')
    made = w.json('checkpoint', 'entire:' + A, '--id', 'Hooked', 'src/y.c')
    c.need('auto: what git would have done besides is said', 'pre-commit' in made['warning'] and 'signed' in made['warning'])
    c.need('auto: and not done', not os.path.exists(w.repo + '/ran') and 'gpgsig' not in w.git('cat-file', 'commit', 'HEAD'))
    w.git('config', '--unset', 'commit.gpgsign')
    put(w.repo + '/src/y.c', 'int yyy;\n')
    head = w.facts()
    w.git('checkout', '-q', '--detach')
    made = w.json('checkpoint', 'entire:' + A, '--id', 'Detached', 'src/y.c')
    c.same('auto: a HEAD on no branch moves alone', (w.git('log', '-1', '--format=%s'), w.git('rev-parse', 'feature/login'),
                                                    w.git('symbolic-ref', '-q', 'HEAD', check=False)), ('Detached', head[0], ''))
    w.close()


def broken_commits(c, injector):
    """A commit of the session's that is cut short: git finds nothing wrong, nothing of the work tree is another, and a
    second go completes it. A lock file may stay, as git's own do: its name is said."""
    def ready():
        w = World(c, 'two-sessions')
        settings = w.repo + '/.entire/settings.json'
        put(settings, get(settings).replace(b'manual-commit', b'auto-commit'))
        put(w.repo + '/src/x.c', 'int x;\n')
        return w
    go = ['checkpoint', 'entire:' + A, '--id', 'Add x', 'src/x.c', '--json']
    w = ready()
    counter = os.path.join(w.top, 'counter')
    put(counter, bytes(8))
    w.program.env.update(LD_PRELOAD=injector, INJECT_MODE='kill', INJECT_NTH='0', INJECT_COUNTER=counter)
    w.run(*go, ok=True)
    calls = int.from_bytes(get(counter), 'little')
    w.close()
    c.need('auto: there is something to break', calls > 20)
    for mode in 'kill', 'err':
        for nth in range(2, calls, max(1, calls // (7 if mode == 'kill' else 3))):
            w, what = ready(), f'auto, {mode} at {nth}'
            old, work = w.git('rev-parse', 'HEAD', 'entire/checkpoints/v1'), w.work()
            w.program.env.update(LD_PRELOAD=injector, INJECT_MODE=mode, INJECT_NTH=str(nth))
            w.run(*go)
            for name in 'LD_PRELOAD', 'INJECT_MODE', 'INJECT_NTH':
                del w.program.env[name]
            c.same(f'{what}: no file is another', w.work(), work)
            c.same(f'{what}: git finds nothing wrong', w.sound(), (True, b''))
            c.need(f'{what}: one commit or none', w.git('rev-list', '--count', old.split('\n')[0] + '..HEAD') in ('0', '1'))
            again = w.run(*go)
            if again.returncode and b'lock' in again.stderr:
                for folder, _, files in os.walk(w.repo + '/.git'):
                    for f in files:
                        if f.endswith('.lock'):
                            os.remove(os.path.join(folder, f))
                again = w.run(*go)
            c.same(f'{what}: a second go', again.returncode, 0)
            c.same(f'{what}: it is committed', w.git('show', 'HEAD:src/x.c'), 'int x;')
            cid = w.git('log', '-1', '--format=%B').split('Entire-Checkpoint: ')[1].strip()
            c.need(f'{what}: its checkpoint is there', f'{cid[:2]}/{cid[2:]}/0/full.jsonl' in w.git('ls-tree', '-r', '--name-only', 'entire/checkpoints/v1'))
            c.same(f'{what}: and the state knows', (w.state(A)['base_commit'], w.state(A)['last_checkpoint_id']), (w.git('rev-parse', 'HEAD'), cid))
            c.same(f'{what}: of this file there is nothing to say', w.git('status', '--porcelain', '--', 'src/x.c'), '')
            w.close()


def turns(c):
    """What each turn changed, and one turn taken back alone: the trees of its checkpoint and of the one before say it."""
    w = World(c, 'two-sessions')
    for sid in A, B:
        for p in w.points(sid):
            # The first is beside the commit it was made on.
            up = w.git('log', '-1', '--format=%P', p['id']) or 'HEAD'
            told = w.git('diff', '--numstat', up, p['id'], '--', ':!.entire')
            want = [tuple(map(int, line.split('\t')[:2])) for line in told.split('\n')]
            c.same(f'turns, {p["id"][:7]}', (p['files'], p['insertions'], p['deletions']),
                   (len(want), sum(a for a, _ in want), sum(d for _, d in want)))
    before, head = w.work(), w.facts()
    first, _, _, fourth, last = [p['id'] for p in w.points(A)]

    def only(point, *more):
        return w.json('rewind', 'entire:' + A, '--to', point, '--only', *more)

    c.same('turns: of the last one, what it made goes', sets(w, only(last), 'delete'), {'src/session.c'})
    plan = only(fourth)
    c.same('turns: one in between alone', [sets(w, plan, a) for a in ('restore', 'create', 'delete')],
           [{'src/login.c'}, {'src/util.c'}, set()])
    c.same('turns: a dry run changes nothing', (w.work(), w.facts()), (before, head))
    only(fourth, '--apply')
    c.same('turns: what came after stays', [get(f'{w.repo}/src/{f}.c') for f in ('session', 'login', 'util')],
           [w.git('show', f'{r}:src/{f}.c').encode() + b'\n'
            for r, f in ((last, 'session'), (fourth + '~1', 'login'), ('HEAD', 'util'))])
    c.need('turns: kept by git first', 'refs/reprise/before/' in w.git('for-each-ref'))
    w.json('undo')
    c.same('turns: undo gives all back', (w.work(), w.facts()), (before, head))
    plan = only(first)
    c.need('turns: what was there before the session is not of its first turn', 'notes.txt' not in json.dumps(plan))
    c.same('turns: what was changed since is refused', sets(w, plan, 'refused'), {'src/login.c'})
    w.close()
    w = World(c, 'committed')
    point = [p for p in w.points(CT) if p['kind'] == 'commit'][0]
    c.same('turns: of a commit, what it did', (point['insertions'], point['deletions']), (1, 0))
    plan = w.json('rewind', 'entire:' + CT, '--to', point['id'], '--only')
    c.same('turns: and taken back alone', sets(w, plan, 'delete'), {'src/tests.c'})
    w.close()


def moving(c):
    """33: the shared shadow branch goes back where that is asked for, and nothing of it is lost."""
    w = World(c, 'two-sessions')
    branch = 'refs/heads/entire/6d28ff0-e3b0c4'
    refs, work, tip = w.git('for-each-ref'), w.work(), w.git('rev-parse', branch)
    first = w.points(A)[0]['id']
    go = ['rewind', 'entire:' + A, '--to', first, '--move-branch']
    plan = w.json(*go)
    c.need('33: it says whose checkpoints go', any('2 of other sessions' in n for n in plan['notes']))
    c.same('33: a dry run moves nothing', (w.git('for-each-ref'), w.work()), (refs, work))
    c.need('33: it is another plan', plan['plan'] != w.json(*go[:-1])['plan'])
    w.json(*go, '--apply', '--skip-refused', '--plan', plan['plan'])
    c.same('33: it stands at the point', w.git('rev-parse', branch), first)
    c.same('33: its old tip keeps a name', w.git('for-each-ref', '--format=%(objectname)', 'refs/reprise/moved'), tip)
    w.git('-c', 'gc.reflogExpire=now', 'gc', '-q', '--prune=now')
    c.same('33: nothing of it is lost', w.sound(), (True, b''))
    c.same('33: the points are those up to it', [p['id'] for p in w.points(A)], [first])
    w.json('undo')
    c.same('33: undo gives branch and files back', (w.git('rev-parse', branch), w.work()), (tip, work))
    c.same('33: and takes the name away', w.git('for-each-ref', 'refs/reprise/moved'), '')
    plan = w.json(*go)
    w.git('update-ref', branch, tip + '~1')  # another session was faster
    c.same('33: a branch that moved on is another plan', w.run(*go, '--apply', '--skip-refused', '--plan', plan['plan']).returncode, 4)
    c.same('33: and stays', (w.git('rev-parse', branch), w.work()), (w.git('rev-parse', tip + '~1'), work))
    both = w.json(*go, '--mode', 'both')
    c.need('33: with the conversation too', both['conversation']['how'] == 'resume-at' and any('shadow' in n for n in both['notes']))
    w.close()
    w = World(c, 'committed')
    c.need('33: of a committed point there is none', b'committed' in w.run('rewind', 'entire:' + CT, '--to', '0fedcba98765', '--move-branch').stderr)
    w.close()


def cleanups(c):
    """Deleting and cleaning up: what goes, what stays, and that all of it comes back."""
    w = World(c, 'two-sessions')
    refs, work = w.git('for-each-ref'), w.work()
    head = w.facts()
    swept = w.json('sweep', '--older-than', '1d', '--apply')
    c.same('delete: a rule takes both', (len(swept['sessions']), swept['applied']), (2, True))
    c.same('delete: their branch stays, of which each says that the other uses it', w.facts(), head)
    c.need('delete: doctor names the branch', b'6d28ff0-e3b0c4' in w.run('doctor').stdout)
    orphans = w.json('sweep', '--older-than', '1d', '--orphans', '--apply')
    c.same('delete: then it is left behind, and goes', [s['sessionId'] for s in orphans['sessions']], ['6d28ff0-e3b0c4'])
    gone = w.git('for-each-ref')
    c.need('delete: under another name', 'heads/entire/6d28ff0' not in gone and 'refs/reprise/trash/' in gone)
    w.git('gc', '-q', '--prune=now')
    c.same('delete: git finds nothing wrong', w.sound(), (True, b''))
    for _ in range(2):
        w.json('undo')
    c.same('delete: all of it comes back', (w.git('for-each-ref'), w.work()), (refs, work))
    one = w.json('delete', 'entire:' + A, 'entire:' + B, '--force')
    c.same('delete: both at once', ['stays' in x for x in one], [True, True])
    w.json('undo')
    one = w.json('delete', 'entire:' + A, '--force')
    two = w.json('delete', 'entire:' + B, '--force')
    c.same('delete: the last one takes the branch along', ('stays' in one, 'stays' in two), (True, False))
    w.git('update-ref', 'refs/heads/entire/6d28ff0-e3b0c4', 'HEAD')  # somebody began there anew
    c.same('delete: nothing is put in the place of something else', w.run('undo').returncode, 4)
    w.git('update-ref', '-d', 'refs/heads/entire/6d28ff0-e3b0c4')
    w.run('trash', 'restore', two['trashId'], ok=True)
    c.same('delete: the trash gives the branch back', w.git('for-each-ref'), refs)
    w.json('delete', 'entire:' + B, '--force', '--permanently')
    c.same('delete: for good, and no ref of ours is left', [r for r in w.git('for-each-ref', '--format=%(refname)').split('\n') if 'entire/6d' in r or 'reprise' in r], [])
    w.close()
    w = World(c, 'committed')
    refs = w.git('for-each-ref')
    run = w.run('delete', 'entire:' + CT)
    c.need('delete: committed checkpoints are history', run.returncode == 4 and b'history' in run.stderr)
    c.need('delete: that they stay is said', 'committed' in w.json('delete', 'entire:' + CA)['stays'])
    c.need('delete: a rule says it too', all('history' in x['why'] for x in w.json('sweep', '--older-than', '1d')['leftOut']))
    c.same('delete: no ref moved', w.git('for-each-ref'), refs)
    w.close()


def main():
    path, injector = sys.argv[1:3]
    c = Checks(path)
    for look in listing, shadows, rewinds, adversity, committed, odd, second, many, transcripts, forks, writing, autocommits, turns, moving, cleanups:
        look(c)
    if injector != '-':  # under the sanitizers nothing may be loaded before them
        interrupted(c, injector)
        broken_commits(c, injector)
        c.same('every row of the list', sorted(set(range(1, 57)) - c.rows), [])
    shutil.rmtree(c.fixtures.top)
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(1 if c.failed or c.passed < 150 else 0)


if __name__ == '__main__':
    main()
