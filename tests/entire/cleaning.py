"""Deleting and cleaning up."""
from entire.world import A, B, CA, CT, World, put


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
