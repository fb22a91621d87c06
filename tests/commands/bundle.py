#!/usr/bin/env python3
"""Sessions in one file: bundled on one machine, unpacked on another with another home, another path and other stores.

usage: bundle.py PROGRAM

What is unpacked is shown before, overwrites nothing, and is taken back byte for byte. Bundles of tests/commands/bundle_hostile.py
are refused.
"""
import json
import os
import shutil
import subprocess
import sys
import tarfile

import copies_matrix as agents
from project_move import UUIDS, claude, ids, save, session_id
from resume_by_id import World, flat
from support.program import snapshot

KEYED = ('grok', 'kiro')  # their folders are named after the directory in ways that move does not know
SECRET = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB'  # the form of a token; it opens nothing


def files(top):
    return {os.path.relpath(p, top): (mode, mtime, body) for p, (mode, mtime, body) in snapshot(top).items() if body is not None}


def git(where, *args):
    env = {'PATH': os.environ['PATH'], 'HOME': where, 'GIT_CONFIG_NOSYSTEM': '1', 'GIT_AUTHOR_NAME': 'a', 'GIT_AUTHOR_EMAIL': 'a@b', 'GIT_COMMITTER_NAME': 'a',
           'GIT_COMMITTER_EMAIL': 'a@b'}
    return subprocess.run(['git', '-C', where, *args], env=env, check=True, capture_output=True).stdout.decode().strip()


def repository(path, remote=None):
    os.makedirs(path)
    git(path, 'init', '-q')
    with open(f'{path}/a.txt', 'w', encoding='utf-8') as f:
        f.write('two\n')
    git(path, 'add', '.')
    git(path, 'commit', '-qm', 'first')
    if remote:
        git(path, 'remote', 'add', 'origin', remote)
    return path


def unpacked(w, *args):
    run = w.program.run('unbundle', '--json', *args)
    answer = json.loads(run.stdout) if run.stdout else {'sessions': []}
    return run.returncode, {s['sessionId']: s.get('why') or s.get('to') for s in answer['sessions']}, answer.get('change'), run.stderr


def entries(bundle):
    """The archive as tar reads it."""
    raw = subprocess.run(['zstd', '-dcq', bundle], check=True, capture_output=True).stdout
    with open(bundle + '.tar', 'wb') as f:
        f.write(raw)
    with tarfile.open(bundle + '.tar') as tar:
        found = [(m.name, tar.extractfile(m).read()) for m in tar]
    os.unlink(bundle + '.tar')
    return found


def check_claude(a, b):
    """The whole session under another home, user and path: listed, resumed and rewound there; undo leaves nothing of it."""
    old = repository(f'{a.top}/work/app', 'https://user:hunter2@example.com/team/app.git')
    path = claude(a, 1, old)
    os.makedirs(b.config + '/projects')
    os.makedirs(f'{b.top}/other')
    claude(b, 2, f'{b.top}/other')
    new, bundle = f'{b.top}/elsewhere/app 2', f'{b.top}/one.bundle'
    os.makedirs(new)
    shutil.copy(f'{old}/a.txt', f'{new}/a.txt')
    before = snapshot(a.config)
    said = a.program.text('bundle', session_id(1)[:13], '-o', bundle)
    a.program.need('4 files' in said and 'one.bundle: 1 session' in said, f'made: {said}')
    a.program.same('only read', snapshot(a.config), before)
    a.program.same('for its owner', os.stat(bundle).st_mode & 0o777, 0o600)
    found = entries(bundle)
    manifest = json.loads(found[0][1])
    a.program.same('a tar archive', [n for n, _ in found[1:]], ['0/' + f['path'] for f in manifest['sessions'][0]['files']])
    a.program.same('with the bytes', dict(found)[f'0/projects/{flat(old)}/{session_id(1)}.jsonl'], open(path, 'rb').read())
    stored = manifest['sessions'][0]['repository']
    a.program.same('its repository', (stored['root'], stored['commit'], stored['remotes']),
                   (old, git(old, 'rev-parse', 'HEAD'), ['https://example.com/team/app.git']))
    a.program.same('an existing file stays', a.program.run('bundle', session_id(1), '-o', bundle).returncode, 4)
    a.program.same('unless it is said', a.program.run('bundle', session_id(1), '-o', bundle, '--force').returncode, 0)
    shutil.move(old, old + '-gone')

    listed = b.program.json('bundle', '--list', bundle)['sessions']
    b.program.same('what is in it', [(s['system'], s['sessionId'], s['title'], s['messages'], s['files']) for s in listed],
                   [('claude', session_id(1), a.program.json('info', session_id(1))['summary'], 6, 4)])
    b.program.need('change a in 1' in b.program.text('bundle', '--list', bundle), 'for people')
    before = files(b.config)
    rc, why, _, _ = unpacked(b, bundle)
    b.program.same('its directory is not here', (rc, why), (3, {session_id(1): f'its directory {old} is not here: name the project\'s with --to DIR'}))
    b.program.same('shown', unpacked(b, bundle, '--to', new)[:3], (0, {session_id(1): new}, None))
    said = b.program.text('unbundle', bundle, '--to', new)
    there = f'{b.config}/projects/{flat(new)}'
    b.program.need(f'would unpack: {there}/{session_id(1)}.jsonl\n' in said and f'for the directory {new}, which was {old}' in said, f'where: {said}')
    b.program.same('only shown', files(b.config), before)
    b.program.same('nothing is left of that', os.listdir(f'{b.top}/DATA/reprise/forks'), [])
    rc, went, change, said = unpacked(b, bundle, '--to', new, '--apply')
    b.program.same('unpacked', (rc, went), (0, {session_id(1): new}))
    b.program.need(b'its agent may remove it again' in said, f'it is old: {said!r}')
    b.program.same('listed', ids(b, new), [session_id(1)])
    b.program.same('only there', ids(b, f'{b.top}/other'), [session_id(2)])
    b.program.same('its sub-agent', b.program.json('subagents', session_id(1)), ['a1'])
    b.program.same('its time', os.stat(f'{there}/{session_id(1)}.jsonl').st_mtime, 1700000000)
    b.program.same('resumed there', b.out('--resume', session_id(1), '--print')[-1], f"cd '{new}' && claude --resume {session_id(1)}")
    run = b.program.run('rewind', session_id(1), '--to', UUIDS[0], '--all', '--apply')
    with open(f'{new}/a.txt', encoding='utf-8') as f:
        b.program.same('rewound there', (run.returncode, f.read()), (0, 'one\n'))
    b.program.run('undo', run.stdout.decode().split()[-1])
    rc, why, _, _ = unpacked(b, bundle, '--to', new, '--apply')
    b.program.need(rc == 4 and why[session_id(1)].startswith('it is there already: '), f'twice: {rc} {why}')
    log = f'{there}/{session_id(1)}.jsonl'
    size = os.path.getsize(log)
    with open(log, 'ab') as f:
        f.write(b'{}\n')
    b.program.same('it has gone on', (b.program.run('undo', change).returncode, os.path.getsize(log)), (4, size + 3))
    os.truncate(log, size)
    b.program.same('undone', b.program.run('undo', change).returncode, 0)
    b.program.same('byte for byte', files(b.config), before)
    newest = max(x['id'] for x in b.program.json('log', '--all'))
    b.program.same('done again', (b.program.run('undo', newest).returncode, ids(b, new)), (0, [session_id(1)]))


def check_places(a, b):
    """Without --to: the same directory, the same below the home, and the repository of the current directory."""
    own, shared = f'{a.home}/src/x', f'{a.top}/shared'
    os.makedirs(shared)
    far = repository(f'{a.top}/far', 'git@example.com:team/app.git')
    os.makedirs(f'{far}/sub')
    for number, cwd in (1, own), (2, shared), (3, f'{far}/sub'):
        claude(a, number, cwd)
    bundle = f'{a.top}/three.bundle'
    a.program.text('bundle', *(session_id(n) for n in (1, 2, 3)), session_id(2), '-o', bundle)
    shutil.rmtree(far)
    os.makedirs(b.config + '/projects')
    os.makedirs(f'{b.home}/src/x')
    here = repository(f'{b.top}/here', 'https://example.com/team/app')
    os.makedirs(f'{here}/sub')
    want = {session_id(1): f'{b.home}/src/x', session_id(2): shared, session_id(3): f'{here}/sub'}
    rc, went, _, _ = unpacked(b, '-C', here, bundle, '--apply')
    b.program.same('each in its place', (rc, went), (0, want))
    for sid, cwd in want.items():
        b.program.same('listed there', ids(b, cwd), [sid])
    claude(a, 5, shared)
    a.program.text('bundle', session_id(2), session_id(5), '-o', bundle, '--force')
    rc, went, _, said = unpacked(b, bundle, '--apply')
    b.program.same('one is there already', (rc, went[session_id(5)], said), (4, shared, said))
    b.program.same('the other is unpacked', ids(b, shared), [session_id(2), session_id(5)])


def check_redacted(a, b):
    """No secret is in a redacted bundle, and what cannot be redacted is named. The rows are still a conversation."""
    cwd = f'{a.top}/p'
    os.makedirs(cwd)
    path = claude(a, 1, cwd)
    with open(path, encoding='utf-8') as f:
        text = f.read().replace('"thanks"', json.dumps(f'my key is {SECRET}\nDB_PASSWORD=zq7-Kappa')).replace('change a in 1', f'change {SECRET} as zq7-Kappa')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    os.makedirs(b.config + '/projects')
    bundle = f'{a.top}/clean.bundle'
    said = a.program.text('bundle', session_id(1), '-o', bundle, '--redact')
    a.program.same('the saved copies are left out', said.count('it cannot be redacted'), 2)
    a.program.need('github token' in said, f'reported: {said}')
    a.program.need(not any(SECRET.encode() in body or b'zq7-Kappa' in body for _, body in entries(bundle)), 'no secret is in it, also above the row that names it')
    b.program.same('unpacked', unpacked(b, bundle, '--apply')[0], 0)
    said = b.program.text('messages', session_id(1))
    b.program.need('my key is REDACTED' in said and 'welcome' in said, f'read: {said}')


def check_agents(a, b):
    """Each agent with files: bundled, unpacked where the project has another directory, or the reason. Databases are refused."""
    cwd, new = f'{a.top}/one', f'{b.top}/other'
    os.makedirs(cwd)
    os.makedirs(new)
    system = {}
    for name, make in agents.AGENTS.items():
        if name in ('claude', 'codex_archived'):
            continue
        path, rows = make(a.home, cwd, 'word', 1000)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(rows, bytes):
            with open(path, 'wb') as f:
                f.write(rows)
        else:
            save(path, rows)
    kept, refused = {}, {}
    for row in a.program.json('list', '--all'):
        bundle = f"{a.top}/{row['system']}.bundle"
        run = a.program.run('bundle', f"{row['system']}:{row['sessionId']}", '-o', bundle)
        system[row['system']] = row['sessionId']
        (refused if run.returncode else kept)[row['system']] = run.stderr if run.returncode else bundle
        a.program.same(f"{row['system']}: a file or a reason", os.path.exists(bundle), not run.returncode)
    b.program.same('these have files', sorted(kept), ['codex', 'copilot', 'droid', 'gemini', 'grok', 'kimi', 'kiro', 'pi', 'qwen'])
    a.program.need(all(b'reprise: cannot bundle' in why and b'database' in why for why in refused.values()), f'the others: {refused}')
    shutil.copytree(a.home, b.home, dirs_exist_ok=True)  # the agents were used here, for something else
    for folder, _, names in os.walk(b.home, topdown=False):
        for name in names:
            os.unlink(f'{folder}/{name}')
        if agents.SID in folder:
            shutil.rmtree(folder)
    before = files(b.home)
    for name, bundle in kept.items():
        to = cwd if name in KEYED else new
        rc, went, change, said = unpacked(b, bundle, '--to', to, '--apply')
        b.program.same(f'{name}: unpacked {said}', (rc, list(went.values())), (0, [to]))
        rows = b.program.json('list', '--all', '--system', name)
        b.program.same(f'{name}: listed', [r['sessionId'] for r in rows], [system[name]])
        b.program.need('word' in b.program.text('messages', f'{name}:{system[name]}'), f'{name}: its conversation')
        if name in KEYED or name in ('droid', 'gemini', 'kimi', 'pi', 'qwen'):
            b.program.same(f'{name}: in its directory', ids(b, to, '--system', name), [system[name]])
        b.program.same(f'{name}: undone', (b.program.run('undo', change).returncode, files(b.home)), (0, before))
        if name in KEYED:
            rc, why, _, _ = unpacked(b, bundle, '--to', new, '--apply')
            b.program.need(rc == 4 and list(why.values())[0].startswith('its agent would look for it in another folder'), f'{name}: {why}')
            b.program.same(f'{name}: nothing changed', files(b.home), before)
    # The same in one file.
    together = f'{a.top}/together.bundle'
    a.program.text('bundle', *(f'{name}:{system[name]}' for name in kept), '-o', together)
    rc, _, change, _ = unpacked(b, together, '--to', new, '--apply')
    b.program.same('together: two have folders that are not known', rc, 4)
    b.program.same('together: listed', sorted(r['system'] for r in b.program.json('list', '--all')), sorted(set(kept) - set(KEYED)))
    b.program.same('together: undone', (b.program.run('undo', change).returncode, files(b.home)), (0, before))


def check_wrong(a, b):
    cwd = f'{a.top}/p'
    os.makedirs(cwd)
    path = claude(a, 1, cwd)
    os.makedirs(b.config + '/projects')
    bundle = f'{a.top}/x.bundle'
    for code, args in (2, ()), (2, (session_id(1),)), (2, (session_id(1), '-o', '-')), (3, (session_id(8), '-o', bundle)), \
                      (3, (session_id(1), '-o', f'{a.top}/none/x')), (4, (session_id(1), '-o', cwd)), (2, (session_id(1), '-o', f'{cwd}/')), \
                      (4, (session_id(1), '-o', path[:-6] + '/x')), (2, ('--list',)), (3, ('--list', bundle)), (5, ('--list', path)):
        run = a.program.run('bundle', *args)
        a.program.need(run.returncode == code and run.stderr.count(b'\n') == 1, f'{args}: exit {run.returncode}: {run.stderr!r}')
    # ".." behind a link is the directory above its target, for all that is written.
    os.makedirs(f'{a.top}/deep/inner')
    os.symlink('deep/inner', f'{a.top}/link')
    for args, name in (('bundle', '-o'), 'b'), (('export', '-o'), 'c.md'), (('export', session_id(1)[:12], '-o'), 'several/'):
        a.program.run(args[0], session_id(1), *args[1:], f'{a.top}/link/../{name}')
        a.program.same(f'{args}: through the link', (os.path.lexists(f'{a.top}/{name}'), os.path.exists(f'{a.top}/deep/{name}')), (False, True))
    a.program.text('bundle', session_id(1), '-o', bundle)
    odd = os.fsencode(b.top) + b'/n\xe9w'
    os.makedirs(odd)
    for code, args in (2, (bundle, '--to', f'{a.top}/none')), (2, (bundle, '--to', bundle)), (3, (bundle + 'x',)), (2, ()), (4, (bundle, '--to', odd)):
        run = b.program.run('unbundle', *args)
        b.program.need(run.returncode == code and run.stderr.count(b'\n') == 1, f'{args}: exit {run.returncode}: {run.stderr!r}')
    os.rmdir(b.config + '/projects')
    os.rmdir(b.config)
    rc, why, _, _ = unpacked(b, bundle, '--apply')
    b.program.need(rc == 3 and why[session_id(1)].startswith('its agent has no sessions here'), f'no store: {rc} {why}')


def main():
    passed = failed = 0
    program = None
    for check in (check_claude, check_places, check_redacted, check_agents, check_wrong):
        a, b = World(sys.argv[1]), World(sys.argv[1])
        check(a, b)
        program = a.program
        for w in (a, b):
            passed, failed = passed + w.program.passed, failed + w.program.failed
            shutil.rmtree(w.top)
    program.passed, program.failed = passed, failed
    program.finish(60)


if __name__ == '__main__':
    main()
