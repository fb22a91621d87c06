"""Deleting and cleaning up."""
import os
import re

from entire.fixture import A, B, CA, CT, World, get, put
from support.program import snapshot


def cleanups(c):
    """Deleting and cleaning up: what is deleted, what stays, and that undo restores everything."""
    w = World(c, 'two-sessions')
    refs, work = w.git('for-each-ref'), w.work()
    head = w.facts()
    for folder, _, files in os.walk(w.repo):  # a file that was written now is in use
        for f in files if 'entire-sessions' in folder else []:
            os.utime(os.path.join(folder, f), (1700000000, 1700000000))
    swept = w.json('sweep', '--older-than', '1d', '--apply')
    c.same('delete: a rule takes both', (len(swept['sessions']), swept['applied']), (2, True))
    c.same('delete: their branch stays, and each is told that the other uses it', w.facts(), head)
    c.need('delete: doctor names the branch', b'6d28ff0-e3b0c4' in w.run('doctor').stdout)
    orphans = w.json('sweep', '--older-than', '1d', '--orphans', '--apply')
    c.same('delete: then the branch is a leftover and is deleted', [s['sessionId'] for s in orphans['sessions']], ['6d28ff0-e3b0c4'])
    gone = w.git('for-each-ref')
    c.need('delete: under another name', 'heads/entire/6d28ff0' not in gone and 'refs/reprise/trash/' in gone)
    w.git('gc', '-q', '--prune=now')
    c.same('delete: git finds nothing wrong', w.sound(), (True, b''))
    for _ in range(2):
        w.json('undo')
    c.same('delete: undo restores everything', (w.git('for-each-ref'), w.work()), (refs, work))
    one = w.json('delete', 'entire:' + A, 'entire:' + B, '--force')
    c.same('delete: both at once', ['stays' in x for x in one], [True, True])
    w.json('undo')
    one = w.json('delete', 'entire:' + A, '--force')
    two = w.json('delete', 'entire:' + B, '--force')
    c.same('delete: the last session deletes the branch too', ('stays' in one, 'stays' in two), (True, False))
    w.git('update-ref', 'refs/heads/entire/6d28ff0-e3b0c4', 'HEAD')  # somebody began there anew
    c.same('delete: restore overwrites nothing', w.run('undo').returncode, 4)
    w.git('update-ref', '-d', 'refs/heads/entire/6d28ff0-e3b0c4')
    w.run('trash', 'restore', two['trashId'], ok=True)
    c.same('delete: the trash restores the branch', w.git('for-each-ref'), refs)
    w.json('delete', 'entire:' + B, '--force', '--permanently')
    c.same('delete: for good, and no ref of ours is left', [r for r in w.git('for-each-ref', '--format=%(refname)').split('\n') if 'entire/6d' in r or 'reprise' in r], [])
    w.close()
    w = World(c, 'two-sessions')
    tree = w.git('rev-parse', 'HEAD^{tree}')
    w.git('update-ref', 'refs/reprise/before/old', w.git('commit-tree', tree, '-m', 'Before going back'))
    w.run('rewind', 'entire:' + A, '--to', w.points(A)[0]['id'], '--apply', '--skip-refused', '--overwrite-edited', ok=True)
    kept = w.git('for-each-ref', 'refs/reprise/before')
    c.same('sweep: a rewind keeps the former state', len(kept.split('\n')), 2)
    rule = ('sweep', '--orphans')
    swept = w.json(*rule)
    c.same('sweep: old ones are found, a recent one stays', ([s['sessionId'] for s in swept['sessions']], len(swept['leftOut'])),
           (['before/old'], 1))
    c.same('sweep: a dry run changes nothing', w.git('for-each-ref', 'refs/reprise/before'), kept)
    w.json(*rule, '--apply')
    left = w.git('for-each-ref', 'refs/reprise/before')
    c.need('sweep: it is deleted, the other is not', len(left.split('\n')) == 1 and left in kept and 'before/old' not in left)
    w.run('undo', ok=True)
    c.same('sweep: and restored', w.git('for-each-ref', 'refs/reprise/before'), kept)
    for name in 'moved/tip', 'condensed/0123456789ab/6d28ff0-e3b0c4':
        w.git('update-ref', 'refs/reprise/' + name, w.git('commit-tree', tree, '-m', 'A former tip'))
    kept = w.git('for-each-ref', 'refs/reprise')
    c.same('sweep: former tips of shadow branches too', {s['sessionId'] for s in w.json(*rule, '--apply')['sessions']},
           {'before/old', 'moved/tip', 'condensed/0123456789ab/6d28ff0-e3b0c4'})
    c.need('sweep: they are gone', 'refs/reprise/moved' not in w.git('for-each-ref', 'refs/reprise'))
    w.run('undo', ok=True)
    c.same('sweep: and come back', w.git('for-each-ref', 'refs/reprise'), kept)
    w.close()
    w = World(c, 'committed')
    refs = w.git('for-each-ref')
    run = w.run('delete', 'entire:' + CT)
    c.need('delete: committed checkpoints are history', run.returncode == 4 and b'history' in run.stderr)
    c.need('delete: the answer says that they stay', 'committed' in w.json('delete', 'entire:' + CA)['stays'])
    c.need('delete: so does a rule', all('history' in x['why'] for x in w.json('sweep', '--older-than', '1d')['leftOut']))
    c.same('delete: no ref moved', w.git('for-each-ref'), refs)
    w.close()


def without_libgit2(c, injector):
    """A deletion that moves a branch is killed, and libgit2 cannot be loaded afterwards: the next start says so and leaves what
    there is. Once it can be loaded again, the refs are those of before or those of a complete deletion."""
    library = re.search(rb'libgit2[.]so[.][0-9.]+', get(c.path))
    if not library:
        return

    def killed(nth):
        w = World(c, 'two-sessions')
        w.run('delete', 'entire:' + A, '--force', ok=True)
        w.refs, w.counter, plain = w.git('for-each-ref'), w.top + '/counter', dict(w.program.env)
        put(w.counter, bytes(8))
        w.program.env.update(LD_PRELOAD=injector, INJECT_MODE='kill', INJECT_NTH=str(nth), INJECT_COUNTER=w.counter)
        w.run('delete', 'entire:' + B, '--force')  # the last session of the branch
        w.program.env = plain
        return w

    w = killed(0)
    calls = int.from_bytes(get(w.counter), 'little')
    done = len(w.git('for-each-ref', 'refs/reprise/trash').split())
    w.close()
    seen = set()
    for nth in range(3, calls, max(1, calls // 9)):
        w = killed(nth)
        plain, what = w.program.env, f'no libgit: killed at {nth}'
        put(f'{w.top}/broken/{library[0].decode()}', 'not a library')
        began = any('intent' in p for p in snapshot(w.top + '/state'))
        before = w.git('for-each-ref'), w.work(), {p: s[2] for p, s in snapshot(w.top + '/state').items() if 'intent' in p}
        w.program.env = {**plain, 'LD_LIBRARY_PATH': w.top + '/broken'}
        run = w.run('log')
        after = w.git('for-each-ref'), w.work(), {p: s[2] for p, s in snapshot(w.top + '/state').items() if 'intent' in p}
        w.program.env = plain
        for path in [p for p in snapshot(w.repo + '/.git') if p.endswith('.lock')]:
            os.remove(path)  # what a killed git leaves, too
        waits = began and b'cannot load libgit2' in run.stderr
        seen.add(waits)
        c.need(f'{what}: nothing changed, and the reason is named', after == before if waits else not began or not after[2])
        w.run('log')
        kept = len(w.git('for-each-ref', 'refs/reprise/trash').split())
        c.need(f'{what}: then all or nothing', w.git('for-each-ref') == w.refs or kept == done)
        c.same(f'{what}: nothing is left to do', [p for p in snapshot(w.top + '/state') if 'intent' in p], [])
        c.same(f'{what}: git finds nothing wrong', w.sound(), (True, b''))
        w.close()
    c.need('no libgit: some waited', True in seen)
