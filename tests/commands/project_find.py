#!/usr/bin/env python3
"""A project's directory is gone: the directories that it may be now are found by what they have in common with it.

usage: project_find.py PROGRAM
"""
import json
import os
import shutil
import stat
import subprocess
import sys
import time
import unicodedata

from bundle import git, repository
from project_move import claude, moved, project, save, session_id
from resume_by_id import World
from support.program import snapshot

REMOTE = 'https://user:secret@example.invalid/dev/shop.git'


def found(w, gone):
    """The places, by their names below the top."""
    run = w.program.run('move', '--json', gone)
    if run.returncode:
        return run.returncode, run.stderr.decode()
    return [(os.path.relpath(p['from'], w.top), os.path.relpath(p['to'], w.top), p['why']) for p in json.loads(run.stdout)['places']]


def words(places):
    """Which place, and the kind of what it has in common."""
    kinds = {'same directory': 'same', 'work tree': 'worktree', 'first commit': 'first', 'same remote': 'remote', 'has the commit': 'commit',
             'files that': 'files', 'same name': 'name'}
    return [(to, next(kind for text, kind in kinds.items() if text in why)) for _, to, why in places] if isinstance(places, list) else places


def resume(w, number, cwd):
    """Resumes a session, with a program that ends at once."""
    run = w.program.run('--resume', session_id(number), '-C', cwd)
    w.program.need(run.returncode == 0, f'resumed: {run}')


def other(w):
    """Another repository, which has a file of this name."""
    os.makedirs(f'{w.top}/other')
    git(f'{w.top}/other', 'init', '-q')
    with open(f'{w.top}/other/a.txt', 'w', encoding='utf-8') as f:
        f.write('of another\n')
    git(f'{w.top}/other', 'add', '.')
    git(f'{w.top}/other', 'commit', '-qm', 'another')


def check_renamed(w):
    """What was noted when a session was resumed: the directory itself, its first commit, its remote. Other directories are left out."""
    old = repository(f'{w.top}/old', REMOTE)
    claude(w, 1, old)
    resume(w, 1, old)
    path = f"{w.program.env['XDG_STATE_HOME']}/reprise/projects"
    w.program.same('only for its owner', stat.S_IMODE(os.stat(path).st_mode), 0o600)
    with open(path, encoding='utf-8') as f:
        w.program.need('secret' not in f.read(), 'no password is noted')
    before = os.stat(path).st_mtime_ns
    resume(w, 1, old)
    w.program.same('once a day', os.stat(path).st_mtime_ns, before)
    w.program.need(w.program.run('move', old).returncode == 2, 'it exists')
    other(w)
    shutil.copytree(old, f'{w.top}/copy')
    subprocess.run(['git', 'clone', '-q', old, f'{w.top}/clone'], check=True)
    os.rename(old, f'{w.top}/new name')
    w.program.same('found', words(found(w, old)), [('new name', 'same'), ('clone', 'first'), ('copy', 'first')])
    said = w.program.text('move', old)
    w.program.need(said.startswith('it is the same directory under another name: reprise move ') and "new name'" in said, said)
    before = snapshot(w.home)
    found(w, old)
    w.program.same('only looked', snapshot(w.home), before)
    w.program.same('and moved', moved(w, old, f'{w.top}/new name', '--apply')[:2], (0, {session_id(1): f'{w.top}/new name'}))
    shutil.rmtree(f'{w.top}/new name')
    w.program.same('another remote history', words(found(w, old)), [('clone', 'first'), ('copy', 'first')])
    # A damaged note counts as none, and is written anew.
    for text in '', '{', '[]', '{"version":"1","projects":[{"dir":5},{"dir":"x"},7]}':
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        w.program.need(isinstance(found(w, old), (list, tuple)), f'damaged: {text}')
    claude(w, 2, f'{w.top}/copy')
    resume(w, 2, f'{w.top}/copy')
    with open(path, encoding='utf-8') as f:
        w.program.same('written anew', [p['dir'] for p in json.load(f)['projects']], [f'{w.top}/copy'])


def check_above(w):
    """A directory above it was renamed: all projects in it follow. A session of a directory in it finds the same place."""
    old = repository(f'{w.top}/code/shop/api')
    claude(w, 1, old)
    claude(w, 2, f'{w.top}/code/shop')
    resume(w, 1, old)
    os.makedirs(f'{w.top}/elsewhere/shop')
    os.rename(f'{w.top}/code', f'{w.top}/src')
    w.program.same('above', found(w, old), [('code', 'src', 'it is the same directory under another name')])
    places = found(w, f'{w.top}/code/shop')
    w.program.same('in it', places[0], ('code', 'src', 'it is the same directory under another name'))
    w.program.same('both move', moved(w, f'{w.top}/code', f'{w.top}/src', '--apply')[:2], (0, {session_id(1): f'{w.top}/src/shop/api', session_id(2): f'{w.top}/src/shop'}))


def check_files(w):
    """Without a note: the files that its sessions changed, and its name. A directory that was worked in before is another one."""
    old = project(w)
    claude(w, 1, old)
    for name in 'one', 'two':
        os.makedirs(f'{w.top}/{name}')
    os.rename(old, f'{w.top}/two/old')
    w.program.same('its files', found(w, old), [('old', 'two/old', '1 of 1 files that its sessions changed are there')])
    os.makedirs(f'{w.top}/one/old')
    w.program.same('a directory without them', words(found(w, old)), [('two/old', 'files')])
    os.unlink(f'{w.top}/two/old/a.txt')
    w.program.same('none has them', found(w, old)[0], 3)
    run = w.program.run('move', old)
    w.program.need(run.returncode == 3 and run.stderr.count(b'\n') == 1, f'none: {run}')
    with open(f'{w.top}/two/old/a.txt', 'w', encoding='utf-8') as f:
        f.write('three\n')
    claude(w, 2, f'{w.top}/two/old')
    path = f"{w.config}/projects/{(w.top + '/two/old').replace('/', '-').replace('_', '-')}/{session_id(2)}.jsonl"
    with open(path, encoding='utf-8') as f:
        rows = f.read()
    with open(path, 'w', encoding='utf-8') as f:
        f.write(rows.replace('2026-03-01', '2026-02-01'))
    w.program.same('it was worked in before', found(w, old)[0], 3)


def codex(w, number, cwd, **about):
    meta = {'id': session_id(number), 'timestamp': '2026-03-01T10:00:00.000Z', 'cwd': cwd, 'originator': 'codex_cli', 'cli_version': '0.171.0', 'source': 'cli', **about}
    at = '2026-03-01T10:00:00.000Z'
    return save(f'{w.home}/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{session_id(number)}.jsonl', [
        {'timestamp': at, 'type': 'session_meta', 'payload': meta},
        {'timestamp': at, 'type': 'event_msg', 'payload': {'type': 'user_message', 'message': 'hello', 'images': []}},
        {'timestamp': at, 'type': 'response_item', 'payload': {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'hello'}]}}])


def check_recorded(w):
    """What the agents record about the repository."""
    old = repository(f'{w.top}/old', REMOTE)
    head = git(old, 'rev-parse', 'HEAD')
    codex(w, 1, old, git={'commit_hash': head, 'branch': 'main'})
    other(w)
    os.rename(old, f'{w.top}/new')
    w.program.same('by its commit', words(found(w, old)), [('new', 'commit')])
    codex(w, 2, old, git={'commit_hash': 'f' * 40, 'repository_url': 'git@example.invalid:dev/shop'})
    w.program.same('by its remote', words(found(w, old)), [('new', 'remote')])
    shutil.rmtree(f'{w.home}/.codex')
    # The text of a prompt is no record.
    codex(w, 3, old, instructions='"commit_hash":"' + head)
    w.program.same('not by a text', words(found(w, old))[0], 3)


def check_worktree(w):
    """A linked work tree: its repository has the former place on record."""
    main, old = repository(f'{w.top}/main'), f'{w.top}/tree'
    git(main, 'worktree', 'add', '-q', old)
    claude(w, 1, old)
    os.unlink(f'{old}/a.txt')
    os.rename(old, f'{w.top}/moved')
    w.program.same('by git', words(found(w, old)), [('moved', 'worktree')])


def check_names(w):
    """A name in another normal form is the same; names of other programs act on nothing, and a pipe stops nothing."""
    nfc, nfd = (unicodedata.normalize(form, 'Käfer') for form in ('NFC', 'NFD'))
    os.makedirs(f'{w.top}/{nfd}')
    with open(f'{w.top}/{nfd}/a.txt', 'w', encoding='utf-8') as f:
        f.write('two\n')
    claude(w, 1, f'{w.top}/{nfc}')
    w.program.same('another form', words(found(w, f'{w.top}/{nfc}')), [(nfd, 'files')])
    old, odd = project(w), f'{w.top}/x\x1b[31m\ny'
    claude(w, 2, old)
    os.makedirs(f'{odd}/old')
    with open(f'{odd}/old/a.txt', 'w', encoding='utf-8') as f:
        f.write('two\n')
    for place in f'{w.top}/pipe', f'{w.top}/pipe/old':
        os.makedirs(place)
        os.mkfifo(f'{place}/.git')
    os.rename(old, f'{w.top}/z')
    said = w.program.text('move', old)
    w.program.need('\x1b' not in said and said.count('\n') == 1, f'an odd name: {said!r}')
    run = subprocess.run(['sh', '-c', 'set -- ' + said.split('reprise move ')[1].rstrip() + '; printf %s "$2"'], capture_output=True, check=True)
    w.program.same('the line is one for a shell', run.stdout.decode(), f'{odd}/old')


def check_links(w):
    """The directory above it is a link, by which the session knows it."""
    os.makedirs(f'{w.top}/real')
    os.symlink('real', f'{w.top}/link')
    old = repository(f'{w.top}/real/shop')
    claude(w, 1, f'{w.top}/link/shop')
    resume(w, 1, f'{w.top}/link/shop')
    os.rename(old, f'{w.top}/real/store')
    w.program.same('by the link', words(found(w, f'{w.top}/link/shop')), [('link/store', 'same')])
    w.program.same('moved', moved(w, f'{w.top}/link/shop', f'{w.top}/link/store', '--apply')[0], 0)
    w.program.same('listed there', len(w.program.json('list', '--project', f'{w.top}/real/store')), 1)


def check_time(w):
    """Many directories do not take long."""
    old = project(w)
    claude(w, 1, old)
    for k in range(4000):
        os.makedirs(f'{w.top}/d{k}/old')
    os.rename(old, f'{w.top}/z')
    os.unlink(f'{w.top}/z/a.txt')
    began = time.monotonic()
    found(w, old)
    w.program.need(time.monotonic() - began < 10, f'{time.monotonic() - began:.1f} s')


def main():
    passed = failed = 0
    w = None
    for check in check_renamed, check_above, check_files, check_recorded, check_worktree, check_names, check_links, check_time:
        w = World(sys.argv[1])
        top, w.top = w.top, f'{w.top}/a/b/c'
        os.makedirs(w.top)
        check(w)
        passed, failed = passed + w.program.passed, failed + w.program.failed
        shutil.rmtree(top)
    w.program.passed, w.program.failed = passed, failed
    w.program.finish(20)


if __name__ == '__main__':
    main()
