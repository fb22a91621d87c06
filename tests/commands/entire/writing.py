"""Migration and writing: conformance rows 53 and 54, checked with git; the auto-commit strategy."""
import hashlib
import json
import os
import re
import subprocess

from entire.fixture import A, B, World, document, get, put, row


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
    c.need('git: another active session here is named', b'b1b2c3d4 is at work' in run.stderr and B.startswith('b1b2c3d4'))
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


def commit(w, subject, checkpoint=None):
    w.git('commit', '-q', '--allow-empty', '-m', subject + (f'\n\nEntire-Checkpoint: {checkpoint}' if checkpoint else ''))


def phases(c):
    """What a commit does in each phase, and what the end of a turn does to the checkpoints committed in it."""
    w = World(c, 'two-sessions')
    branch = 'entire/checkpoints/v1'
    old, tip = w.state(A), w.git('rev-parse', branch)
    commit(w, 'No trailer')
    for sid in A, B:
        w.run('set', 'entire:' + sid, 'event=commit', ok=True)
    c.same('2.8: without a trailer the base of an active session moves, and no other',
           (w.state(A)['base_commit'], w.state(B)['base_commit'], w.git('rev-parse', branch)),
           (old['base_commit'], w.git('rev-parse', 'HEAD'), tip))
    for name in 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge/interactive':
        put(f'{w.repo}/.git/{name}', w.git('rev-parse', 'HEAD') + '\n')
        commit(w, 'Picked', '0123456789ab')
        put(f'{w.repo}/.git/{name}', w.git('rev-parse', 'HEAD') + '\n')
        w.run('set', 'entire:' + B, 'event=commit', ok=True)
        c.same(f'2.3: {name}: nothing is condensed', w.git('rev-parse', branch), tip)
        os.remove(f'{w.repo}/.git/{name}')
    os.rmdir(f'{w.repo}/.git/rebase-merge')
    ids = '0123456789ab', 'ba9876543210'
    for cid in ids:
        commit(w, 'In a turn', cid)
        w.run('set', 'entire:' + B, 'event=commit', ok=True)
    c.same('2.8: the turn remembers all of its checkpoints', w.state(B)['turn_checkpoint_ids'], list(ids))
    tip = w.git('rev-parse', branch)
    facts = [w.git('show', f'{branch}:{cid[:2]}/{cid[2:]}/0/metadata.json') for cid in ids]
    with open(w.state(B)['transcript_path'], 'a') as f:
        f.write(row('assistant', 'at-the-end', None, 'All done', B))
    w.run('set', 'entire:' + B, 'event=turn-end', ok=True)
    c.same('2.8: at its end they get the whole transcript', [m + '.' for m in w.git('log', '-z', '--reverse', '--format=%B', tip + '..' + branch).split('\0') if m],
           [f'Finalize transcript for Checkpoint: {cid}.' for cid in ids])
    c.need('2.7: and that message ends without a newline', w.git('cat-file', '-s', branch) == str(len(w.git('cat-file', 'commit', branch))))
    for cid, before in zip(ids, facts):
        front = f'{branch}:{cid[:2]}/{cid[2:]}/0/'
        text = subprocess.run(['git', 'show', front + 'full.jsonl'], cwd=w.repo, capture_output=True, check=True).stdout
        c.need('2.8: up to the last row', b'All done' in text)
        c.same('2.8: with its hash', w.git('show', front + 'content_hash.txt'), 'sha256:' + hashlib.sha256(text).hexdigest())
        c.same('2.8: the rest stays', w.git('show', front + 'metadata.json'), before)
    c.same('2.8: then it is over', (w.state(B)['phase'], 'turn_checkpoint_ids' in w.state(B)), ('idle', False))
    tip = w.git('rev-parse', branch)
    w.run('set', 'entire:' + B, 'event=turn-end', ok=True)
    c.same('2.8: and nothing more is written', w.git('rev-parse', branch), tip)
    w.run('create', 'entire:' + w.repo, '--id', 'ends', '--cwd', w.repo, ok=True)
    w.run('set', 'entire:ends', 'event=session-stop', ok=True)
    commit(w, 'Later', 'cccccccccccc')
    w.run('set', 'entire:ends', 'event=commit', ok=True)
    c.same('2.3: an ended session that touched nothing is not condensed', w.git('rev-parse', branch), tip)
    c.same('2.3: git finds nothing wrong', w.sound(), (True, b''))
    w.close()

    w = World(c, 'two-sessions')
    w.run('create', 'entire:' + w.repo, '--id', 'new', '--cwd', w.repo, ok=True)
    os.symlink('/etc/hostname', w.repo + '/a-link')
    os.remove(w.repo + '/README.md')
    os.symlink('run.sh', w.repo + '/README.md')
    w.git('init', '-q', 'nested')
    put(w.repo + '/nested/file', 'x')
    put(w.repo + '/made.txt', 'made\n')
    was = w.git('rev-parse', 'entire/6d28ff0-e3b0c4:README.md')
    w.run('checkpoint', 'entire:new', '--id', 'Make it', 'made.txt', ok=True)
    names = w.git('ls-tree', '-r', '--name-only', 'entire/6d28ff0-e3b0c4').split('\n')
    c.same('2.5: links and other repositories are left out of a first checkpoint', [n for n in ('made.txt', 'a-link', 'nested/file') if n in names],
           ['made.txt'])
    c.same('2.5: a file that became a link keeps its former content', w.git('rev-parse', 'entire/6d28ff0-e3b0c4:README.md'), was)
    c.same('2.5: a named one is refused', w.run('checkpoint', 'entire:new', '--id', 'x', 'a-link').returncode, 4)
    w.close()


def styles(c):
    """The characters <, > and & are spelled as in the file already; unknown members stay in their place."""
    w = World(c, 'two-sessions')
    branch = 'refs/heads/entire/checkpoints/v1'
    text = document(zz='a<b', checkpoint_id='x', files_touched=['z<1>.txt'], sessions=[], new={'n': 12345678901234567890, 'k&': [{}]})
    escaped = text.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026')
    for cid, before in ('0123456789a0', text), ('0123456789a1', escaped):
        place = f'{cid[:2]}/{cid[2:]}/metadata.json'
        w.plant(branch, {place: before})
        put(w.repo + '/src/a<b>.c', cid)
        w.run('checkpoint', 'entire:' + A, '--id', 'More', 'src/a<b>.c', ok=True)
        w.git('add', 'src')
        commit(w, 'More', cid)
        w.run('set', 'entire:' + A, 'event=commit', ok=True)
        after = w.git('show', f'{branch}:{place}')
        c.same(f'2.1: one style ({cid})', ('\\u003c' in after, '<' in after), (before is escaped, before is text))
        c.need('2.1: and the name is in it', 'src/a<b>.c' in json.loads(after)['files_touched'])
        c.same('2.1: unknown members stay in place', after.split('\n')[1], before.split('\n')[1])
        c.need('2.1: so do its numbers', '"n": 12345678901234567890' in after)
    w.close()


def autocommits(c):
    """The auto-commit strategy, in a repository that is configured for it."""
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
    c.same('auto: with these files alone', w.git('diff', '--name-status', 'HEAD^', 'HEAD'), 'D\tsrc/util.c\nA\tsrc/x.c')
    c.same('auto: stored as by git', w.git('cat-file', '-s', 'HEAD:src/x.c'), '7')
    c.same('auto: staged changes stay staged', w.git('diff', '--cached', '--name-only'), staged)
    c.same('auto: nothing else changed', w.git('status', '--porcelain', '--', 'src/x.c', 'src/util.c'), '')
    c.same('auto: HEAD is on its branch', w.git('symbolic-ref', 'HEAD'), 'refs/heads/feature/login')
    c.same('auto: the shadow branch is not touched', w.git('rev-parse', 'entire/6d28ff0-e3b0c4'), shadow)
    names = w.git('ls-tree', '-r', '--name-only', 'entire/checkpoints/v1').split('\n')
    front = f'{cid[:2]}/{cid[2:]}/'
    c.same('auto: its metadata, without a hash', [n for n in names if n.startswith(front)],
           [front + n for n in ('0/full.jsonl', '0/metadata.json', '0/prompt.txt', 'metadata.json')])
    session = json.loads(w.git('show', f'entire/checkpoints/v1:{front}0/metadata.json'))
    c.same('auto: of the strategy', (session['strategy'], session['files_touched'], session['checkpoints_count']),
           ('auto-commit', ['src/util.c', 'src/x.c'], 1))
    c.same('auto: the state', (w.state(A)['base_commit'], w.state(A)['last_checkpoint_id']), (w.git('rev-parse', 'HEAD'), cid))
    c.need('auto: it is a checkpoint', [p for p in w.points(A) if p['id'] == cid and p['kind'] == 'commit' and p['restorable']])
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
    c.need('auto: hooks of Entire are not mentioned', 'hooks' not in made.get('warning', ''))
    put(hook, '#!/bin/sh\ntouch ran\n')
    w.git('config', 'commit.gpgsign', 'true')
    put(w.repo + '/src/y.c', 'int yy;\n')
    made = w.json('checkpoint', 'entire:' + A, '--id', 'Hooked', 'src/y.c')
    c.need('auto: skipped actions of git are reported', 'pre-commit' in made['warning'] and 'signed' in made['warning'])
    c.need('auto: and not carried out', not os.path.exists(w.repo + '/ran') and 'gpgsig' not in w.git('cat-file', 'commit', 'HEAD'))
    w.git('config', '--unset', 'commit.gpgsign')
    put(w.repo + '/src/y.c', 'int yyy;\n')
    head = w.facts()
    w.git('checkout', '-q', '--detach')
    made = w.json('checkpoint', 'entire:' + A, '--id', 'Detached', 'src/y.c')
    c.same('auto: a HEAD on no branch moves alone', (w.git('log', '-1', '--format=%s'), w.git('rev-parse', 'feature/login'),
                                                    w.git('symbolic-ref', '-q', 'HEAD', check=False)), ('Detached', head[0], ''))
    w.close()


def broken_commits(c, injector):
    """An interrupted commit of the session: git finds nothing wrong, the work tree is unchanged, and a second try completes
    it. A lock file may stay, as git's own do; it is named."""
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
    c.need('auto: there are calls to break', calls > 20)
    for mode in 'kill', 'err':
        for nth in range(2, calls, max(1, calls // (7 if mode == 'kill' else 3))):
            w, what = ready(), f'auto, {mode} at {nth}'
            old, work = w.git('rev-parse', 'HEAD', 'entire/checkpoints/v1'), w.work()
            w.program.env.update(LD_PRELOAD=injector, INJECT_MODE=mode, INJECT_NTH=str(nth))
            w.run(*go)
            for name in 'LD_PRELOAD', 'INJECT_MODE', 'INJECT_NTH':
                del w.program.env[name]
            c.same(f'{what}: no file changed', w.work(), work)
            c.same(f'{what}: git finds nothing wrong', w.sound(), (True, b''))
            c.need(f'{what}: one commit or none', w.git('rev-list', '--count', old.split('\n')[0] + '..HEAD') in ('0', '1'))
            again = w.run(*go)
            if again.returncode and b'lock' in again.stderr:
                for folder, _, files in os.walk(w.repo + '/.git'):
                    for f in files:
                        if f.endswith('.lock'):
                            os.remove(os.path.join(folder, f))
                again = w.run(*go)
            c.same(f'{what}: a second try', again.returncode, 0)
            c.same(f'{what}: it is committed', w.git('show', 'HEAD:src/x.c'), 'int x;')
            cid = w.git('log', '-1', '--format=%B').split('Entire-Checkpoint: ')[1].strip()
            c.need(f'{what}: its checkpoint is there', f'{cid[:2]}/{cid[2:]}/0/full.jsonl' in w.git('ls-tree', '-r', '--name-only', 'entire/checkpoints/v1'))
            c.same(f'{what}: and the state knows', (w.state(A)['base_commit'], w.state(A)['last_checkpoint_id']), (w.git('rev-parse', 'HEAD'), cid))
            c.same(f'{what}: this file is unchanged', w.git('status', '--porcelain', '--', 'src/x.c'), '')
            w.close()
