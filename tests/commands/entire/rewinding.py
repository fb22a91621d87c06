"""Rewinds: conformance rows 22 to 35, and undoing single turns."""
import json
import os
import shutil

from entire.fixture import A, B, CT, World, get, put, sets


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
    c.need('23: no ignored file is deleted', not touched & {'trace.log', 'build/new.o', 'build/old.o'})
    c.need('23: an unknown file is shown, and not ticked', 'scratch.txt' in sets(w, plain, 'refused'))
    c.need('24: files from before the session stay', not sets(w, plain, 'delete', 'refused') & {'notes.txt', 'build/old.o'})
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
    c.same('33: later changes of another session are reported', other, {p: B for p in ('README.md', 'docs/usage.md', 'run.sh')})
    c.need('33: and that it is active here', 'b1b2c3d4 is at work' in ' '.join(answer['notes']))
    c.same('33: the shared branch did not move', (w.git('rev-parse', 'entire/6d28ff0-e3b0c4'), w.facts()[4]), (shadow, facts[4]))
    kept = w.git('for-each-ref', '--format=%(refname)', 'refs/reprise/before')
    c.same('29: the safety ref has the former state', w.git('show', kept + ':src/session.c'), 'int session(void) { return 7; }')
    c.same('29: git finds nothing wrong', w.sound(), (True, b''))
    w.run('undo', answer['undo'], ok=True)
    c.same('29: undo restores every byte', w.work(), work)
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
    c.same('34: a plan that changed since it was shown', (stale.returncode, b'src/login.c: changed since this plan was shown' in stale.stderr, w.work()), (4, True, work))
    run = w.run('rewind', 'entire:' + A, '--to', first, '--apply', '--json')
    answer = json.loads(run.stdout)
    c.same('34: the file is refused, and the exit code shows it', (run.returncode, w.work()), (4, work))
    c.need('34: it is named', any(f['path'].endswith('src/login.c') and f['action'] == 'refused' and f['editedSince']
                                  for f in answer['files']))
    c.need('34: and the rest reported', 'src/session.c' in sets(w, answer, 'delete'))
    w.run('rewind', 'entire:' + A, '--to', first, '--apply', '--skip-refused', ok=True)
    c.same('34: skipped it keeps its bytes', get(w.repo + '/src/login.c'), b'by hand\n')
    w.close()


def interrupted(c, injector):
    """Row 35: after a kill between two calls the next start recovers, a second try completes, and undo restores everything."""
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
    c.need('35: there are calls to break', calls > 60)
    torn = set()
    for nth in range(3, calls, max(1, calls // 14)):
        w = World(c, 'two-sessions')
        w.program.env.update(LD_PRELOAD=injector, INJECT_MODE='kill', INJECT_NTH=str(nth))
        c.need(f'35: killed at {nth}', w.run(*go).returncode < 0)
        torn.add(w.work() == before)
        for name in 'LD_PRELOAD', 'INJECT_MODE', 'INJECT_NTH':
            del w.program.env[name]
        c.same(f'35: killed at {nth}: a second try completes', w.run(*go).returncode, 0)
        c.same(f'35: killed at {nth}: the state of the point', get(w.repo + '/src/login.c'), b'int login(void) { return 0; }\n')
        c.same(f'35: killed at {nth}: no temporary name stays', [p for p in w.work() if '.reprise-' in p], [])
        c.same(f'35: killed at {nth}: git finds nothing wrong', w.sound(), (True, b''))
        for _ in range(2):  # the killed rewind may have been completed by the next start
            if w.work() != before:
                w.run('undo')
        c.same(f'35: killed at {nth}: undo restores everything', w.work(), before)
        w.close()
    c.same('35: before the first change and after it', torn, {True, False})


def turns(c):
    """What each turn changed, and undoing one turn alone, by the trees of its checkpoint and of the previous one."""
    w = World(c, 'two-sessions')
    for sid in A, B:
        for p in w.points(sid):
            # The first is beside the commit it was made on.
            up = w.git('log', '-1', '--format=%P', p['id']) or 'HEAD'
            told = w.git('diff', '--numstat', up, p['id'], '--', ':!.entire')
            want = [tuple(map(int, line.split('\t')[:2])) for line in told.split('\n')]
            gone = w.git('diff', '--name-only', '--diff-filter=D', '--no-renames', up, p['id'], '--', ':!.entire').split()
            c.same(f'turns, {p["id"][:7]}', (p['files'], p['insertions'], p['deletions'], p.get('filesDeleted', 0)),
                   (len(want), sum(a for a, _ in want), sum(d for _, d in want), len(gone)))
    before, head = w.work(), w.facts()
    first, _, _, fourth, last = [p['id'] for p in w.points(A)]

    def only(point, *more):
        return w.json('rewind', 'entire:' + A, '--to', point, '--only', *more)

    c.same('turns: files created by the last one are deleted', sets(w, only(last), 'delete'), {'src/session.c'})
    plan = only(fourth)
    c.same('turns: a middle one alone', [sets(w, plan, a) for a in ('restore', 'create', 'delete')],
           [{'src/login.c'}, {'src/util.c'}, set()])
    c.same('turns: a dry run changes nothing', (w.work(), w.facts()), (before, head))
    only(fourth, '--apply')
    c.same('turns: later work stays', [get(f'{w.repo}/src/{f}.c') for f in ('session', 'login', 'util')],
           [w.git('show', f'{r}:src/{f}.c').encode() + b'\n'
            for r, f in ((last, 'session'), (fourth + '~1', 'login'), ('HEAD', 'util'))])
    c.need('turns: saved by git first', 'refs/reprise/before/' in w.git('for-each-ref'))
    w.json('undo')
    c.same('turns: undo restores everything', (w.work(), w.facts()), (before, head))
    plan = only(first)
    c.need('turns: files from before the session are not part of its first turn', 'notes.txt' not in json.dumps(plan))
    c.same('turns: files changed since are refused', sets(w, plan, 'refused'), {'src/login.c'})
    w.close()
    w = World(c, 'committed')
    point = [p for p in w.points(CT) if p['kind'] == 'commit'][0]
    c.same('turns: the changes of a commit', (point['insertions'], point['deletions']), (1, 0))
    plan = w.json('rewind', 'entire:' + CT, '--to', point['id'], '--only')
    c.same('turns: and undone alone', sets(w, plan, 'delete'), {'src/tests.c'})
    w.close()


def moving(c):
    """Row 33: the shared shadow branch is rewound on request, and nothing of it is lost."""
    w = World(c, 'two-sessions')
    branch = 'refs/heads/entire/6d28ff0-e3b0c4'
    refs, work, tip = w.git('for-each-ref'), w.work(), w.git('rev-parse', branch)
    first = w.points(A)[0]['id']
    go = ['rewind', 'entire:' + A, '--to', first, '--move-branch']
    plan = w.json(*go)
    c.need('33: the plan names the sessions whose checkpoints go', any('2 of other sessions' in n for n in plan['notes']))
    c.same('33: a dry run moves nothing', (w.git('for-each-ref'), w.work()), (refs, work))
    c.need('33: it is another plan', plan['plan'] != w.json(*go[:-1])['plan'])
    w.json(*go, '--apply', '--skip-refused', '--plan', plan['plan'])
    c.same('33: it is at the point', w.git('rev-parse', branch), first)
    c.same('33: its old tip keeps a name', w.git('for-each-ref', '--format=%(objectname)', 'refs/reprise/moved'), tip)
    w.git('-c', 'gc.reflogExpire=now', 'gc', '-q', '--prune=now')
    c.same('33: nothing of it is lost', w.sound(), (True, b''))
    c.same('33: the points are those up to it', [p['id'] for p in w.points(A)], [first])
    w.json('undo')
    c.same('33: undo restores branch and files', (w.git('rev-parse', branch), w.work()), (tip, work))
    c.same('33: and removes the name', w.git('for-each-ref', 'refs/reprise/moved'), '')
    plan = w.json(*go)
    w.git('update-ref', branch, tip + '~1')  # another session was faster
    c.same('33: a branch that moved on is another plan', w.run(*go, '--apply', '--skip-refused', '--plan', plan['plan']).returncode, 4)
    c.same('33: and stays', (w.git('rev-parse', branch), w.work()), (w.git('rev-parse', tip + '~1'), work))
    both = w.json(*go, '--mode', 'both')
    c.need('33: with the conversation too', both['conversation']['how'] == 'resume-at' and any('shadow' in n for n in both['notes']))
    w.close()
    w = World(c, 'committed')
    c.need('33: a committed point has none', b'committed' in w.run('rewind', 'entire:' + CT, '--to', '0fedcba98765', '--move-branch').stderr)
    w.close()
