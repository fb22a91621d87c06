"""Deleting and cleaning up."""
import os

from entire.fixture import A, B, CA, CT, World, put


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
