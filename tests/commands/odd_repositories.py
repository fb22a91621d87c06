#!/usr/bin/env python3
"""Projects with repositories of odd kinds: flags, versions and damage of git's index, filters and encodings, work trees elsewhere,
names that git would not have. With the hooks of `snapshots on`, a rewind gives back the tree exactly or holds a file back with
a reason, an undo is exact, no program that a repository names is run, and nothing in .git changes.

usage: odd_repositories.py PROGRAM [PART OF A NAME]
"""
import hashlib
import os
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from support.snapshot_world import World, finish, need

COMMIT = 'git add -A && git commit -qm x'
# $OUT is a folder beside the project, and pwn a program that leaves a file there.
PLAIN = f'git init -q . && {COMMIT}'
SETTLE = 'touch -d @2000000000 .git/index'  # no entry of the index is as young as the index

# How the repository is made, before the first prompt. After it all blobs may be borrowed from it.
MADE = {
    'an empty repository': 'git init -q .',
    'everything staged, no commit': 'git init -q . && git add -A',
    'a detached head': f'{PLAIN} && git checkout -q --detach',
    'assume-unchanged': f'{PLAIN} && git update-index --assume-unchanged a.txt && echo other > a.txt',
    'skip-worktree': f'{PLAIN} && git update-index --skip-worktree a.txt keep.txt && echo mine > a.txt && rm keep.txt',
    'intent to add': f'{PLAIN} && echo n > n.txt && git add -N n.txt',
    'removed from the index only': f'{PLAIN} && git rm -q --cached a.txt',
    'index version 3': f'{PLAIN} && git update-index --index-version 3',
    'index version 4': f'{PLAIN} && git update-index --index-version 4',
    'a split index': f'{PLAIN} && git update-index --split-index && echo s > s.txt && git add s.txt',
    'sparse checkout': f'{PLAIN} && git sparse-checkout set sub',
    'a sparse index': f'{PLAIN} && git sparse-checkout init --cone --sparse-index && git sparse-checkout set sub',
    'an untracked cache': f'{PLAIN} && git update-index --untracked-cache',
    'fsmonitor': f'{PLAIN} && git config core.fsmonitor "$PWD/../pwn" && git update-index --fsmonitor',
    'SHA-256': f'git init -q --object-format=sha256 . && {COMMIT}',
    'reftable': f'(git init -q --ref-format=reftable . 2>/dev/null || git init -q .) && {COMMIT}',
    'no index': f'{PLAIN} && rm .git/index',
    'an empty index': f'{PLAIN} && : > .git/index',
    'a cut index': f'{PLAIN} && truncate -s 150 .git/index',
    'an index with a wrong checksum': f'{PLAIN} && printf x | dd of=.git/index bs=1 seek=90 conv=notrunc 2>/dev/null',
    # One that also had the inodes and times could only be made on this machine.
    'an index that lies': f'{PLAIN} && git update-index --cacheinfo 100644,$(git rev-parse :keep.txt),a.txt',
    'an index that is a directory': f'{PLAIN} && rm .git/index && mkdir .git/index',
    'an index that is a pipe': f'{PLAIN} && rm .git/index && mkfifo .git/index',
    'an index that is a link': f'{PLAIN} && mv .git/index .git/other && ln -s other .git/index',
    'a clean filter': f'git init -q . && git config filter.up.clean "tr a-z A-Z" && echo "*.txt filter=up" > .gitattributes && {COMMIT}',
    'a filter that is a program': f'{PLAIN} && echo "* filter=p diff=p merge=p" > .gitattributes && git config filter.p.clean ../pwn '
                                  '&& git config filter.p.smudge ../pwn && git config filter.p.process ../pwn && git config diff.p.textconv ../pwn',
    'hooks': f'{PLAIN} && git config core.hooksPath "$PWD/.." && cp ../pwn .git/hooks/post-index-change && cp ../pwn .git/hooks/pre-commit',
    'ident': f'echo "\\$Id\\$" > i.txt && git init -q . && echo "*.txt ident" > .gitattributes && {COMMIT} && rm i.txt && git checkout -q i.txt',
    'line ends by attributes': f'git init -q . && echo "* text eol=crlf" > .gitattributes && {COMMIT} && rm a.txt && git checkout -q a.txt',
    'line ends by configuration': f'git init -q . && git config core.autocrlf true && {COMMIT} 2>/dev/null && rm a.txt && git checkout -q a.txt',
    'attributes in info': f'git init -q . && git config filter.up.clean "tr a-z A-Z" && mkdir -p .git/info && echo "*.txt filter=up" > .git/info/attributes && {COMMIT}',
    'an encoding': f'git init -q . && echo "e.txt working-tree-encoding=UTF-16LE" > .gitattributes && printf "a\\0b\\0" > e.txt && {COMMIT}',
    'no file modes': f'git init -q . && git config core.fileMode false && {COMMIT} && chmod 755 a.txt',
    'no links': f'ln -s a.txt link && git init -q . && git config core.symlinks false && {COMMIT}',
    'case is ignored': f'git init -q . && git config core.ignoreCase true && {COMMIT} && mv a.txt t && mv t A.txt && echo b > b.TXT',
    'the git directory elsewhere': f'git init -q --separate-git-dir ../elsewhere . && {COMMIT}',
    'a linked work tree': 'git init -q ../main && git -C ../main commit -q --allow-empty -m x && mv * .gitignore .. && rmdir "$PWD" && '
                          'git -C ../main worktree add -q "$PWD" && cd "$PWD" && mv ../a.txt ../sub ../keep.txt ../odd* ../.gitignore ../z.log . && '
                          f'{COMMIT}',
    'its work tree elsewhere': f'{PLAIN} && mkdir ../tree && git config core.worktree "$PWD/../tree"',
    'bare, it says': f'{PLAIN} && git config core.bare true',
    'a submodule': 'git init -q ../lib && git -C ../lib commit -q --allow-empty -m x && git init -q . && '
                   f'git -c protocol.file.allow=always submodule --quiet add ../lib lib && echo in > lib/in.txt && {COMMIT}',
    'a repository inside': f'{PLAIN} && git init -q inner && echo in > inner/in.txt && git -C inner add -A && git -C inner commit -qm y',
    'a conflict': f'{PLAIN} && git checkout -q -b side && echo s > a.txt && git commit -qam s && git checkout -q - && echo m > a.txt && '
                  'git commit -qam m && ! git merge -q side >/dev/null',
    'a .git that is an empty directory': 'mkdir .git',
    'a .git that is garbage': 'echo nonsense > .git',
    'a .git that leads to itself': 'echo "gitdir: .git" > .git',
    'a .git that is a link': f'{PLAIN} && mv .git ../real && ln -s ../real .git',
    'a .git that is a pipe': 'mkfifo .git',
    'a broken configuration': f'{PLAIN} && echo "[core" >> .git/config',
    'a configuration that includes itself': f'{PLAIN} && printf "[include]\\n\\tpath = config\\n" >> .git/config',
    'an extension that nobody knows': f'{PLAIN} && git config core.repositoryFormatVersion 1 && git config extensions.unheard yes',
    'one pack': f'{PLAIN} && git gc -q',
    'a cut pack': f'{PLAIN} && git gc -q && chmod 600 .git/objects/pack/*.pack && truncate -s 40 .git/objects/pack/*.pack',
    'objects elsewhere': f'git init -q ../lib && echo "$PWD/../lib/.git/objects" > ../alt && git init -q . && cp ../alt .git/objects/info/alternates && {COMMIT}',
    'alternates that lead in a circle': f'{PLAIN} && echo "$PWD/.git/objects" > .git/objects/info/alternates',
    'a shallow clone': f'git init -q ../lib && git -C ../lib commit -q --allow-empty -m x && git clone -q --depth 1 "file://$PWD/../lib" ../copy && mv ../copy/.git . && {COMMIT}',
    'rules that take back others': f'printf "*\\n!*.txt\\n!sub/\\n!.gitignore\\n" > .gitignore && {PLAIN}',
    'tracked, and ignored': f'{PLAIN} && echo "*.txt" >> .gitignore',
    'rules that are a link': f'{PLAIN} && mv .gitignore rules && ln -s rules .gitignore',
    'rules that are a directory': f'{PLAIN} && rm .gitignore && mkdir .gitignore && echo x > .gitignore/x',
    'names with newlines and escapes': f'{PLAIN} && printf x > "$(printf "two\\nlines")" && printf y > "$(printf "\\033[2Jx")" && printf z > -rf && {COMMIT}',
    'names that are no UTF-8': f'printf x > "$(printf "bad\\377")" && mkdir "$(printf "d\\300")" && printf y > "$(printf "d\\300/f")" && {PLAIN}',
}

# What happens between the prompt and the first change, with the index as it was: what only looks unchanged, or what is gone.
LATER = {
    'the same size and time': 'printf "ONE\\n" > "$OUT/t" && touch -r a.txt "$OUT/t" && cat "$OUT/t" > a.txt && touch -r "$OUT/t" a.txt',
    'git reset in the turn': 'echo x > a.txt && git reset -q --hard',
    'a commit in the turn': 'echo x > a.txt && git add -A && git commit -qm y',
    'another branch in the turn': 'git checkout -q -b other && git rm -q keep.txt && git commit -qm y',
    'stash in the turn': 'echo x > a.txt && git stash -q -u',
    'the repository goes in the turn': 'rm -rf .git',
    'the repository comes in the turn': f'rm -rf .git && {PLAIN}',
    'git gc in the turn': 'echo x > a.txt && git commit -qam y && git reflog expire --expire=now --all && git gc -q --prune=now',
}

# What git ignores, so that no snapshot has it; and where a blob is gone before a snapshot could copy it.
IGNORED = {'rules that take back others': ('moved.sh', 'sub/b.sh', 'new/dir/n.txt'), 'tracked, and ignored': ('new/dir/n.txt',)}
HELD_BACK = {*IGNORED, 'a cut pack'}


def git_state(w):
    """Bytes and kinds of everything in .git and beside the project."""
    seen = {}
    for top in (f'{w.root}/.git', f'{w.home}/work'):
        for folder, names, files in os.walk(top):
            if folder == f'{w.home}/work' and 'project' in names:
                names.remove('project')
            for name in [*names, *files, '']:
                path = os.path.join(folder, name)
                info = os.lstat(path)
                content = b''
                if stat.S_ISREG(info.st_mode):
                    with open(path, 'rb') as f:
                        content = f.read()
                seen[path] = info.st_mode, info.st_mtime_ns if content else 0, hashlib.sha256(content).hexdigest()
    return seen


def shell(w, command):
    env = {**w.reprise.env, 'OUT': f'{w.home}/work', 'GIT_CONFIG_NOSYSTEM': '1', 'GIT_CONFIG_COUNT': '3', 'GIT_CONFIG_KEY_0': 'user.name',
           'GIT_CONFIG_VALUE_0': 'a', 'GIT_CONFIG_KEY_1': 'user.email', 'GIT_CONFIG_VALUE_1': 'a@b', 'GIT_CONFIG_KEY_2': 'safe.directory',
           'GIT_CONFIG_VALUE_2': '*'}
    done = subprocess.run(['sh', '-c', command], cwd=w.root, env=env, capture_output=True, text=True, check=False)
    need(done.returncode == 0, f'{command}: {done.stdout} {done.stderr}')
    if os.path.isfile(f'{w.root}/.git/index'):
        subprocess.run(['sh', '-c', SETTLE], cwd=w.root, check=True)


def first(w):
    w.put('a.txt', 'two\n')
    if os.path.exists(f'{w.root}/keep.txt'):
        os.remove(f'{w.root}/keep.txt')
    w.put('new/dir/n.txt', 'n\n')
    for name in os.listdir(os.fsencode(w.root)):
        path = os.path.join(os.fsencode(w.root), name)
        if name not in (b'a.txt', b'.gitignore', b'.gitattributes') and stat.S_ISREG(os.lstat(path).st_mode) and name[-4:] != b'.log':
            if name != b'.git':
                os.remove(path)


def second(w):
    os.rename(f'{w.root}/sub/b.sh', f'{w.root}/moved.sh')
    w.put('a.txt', 'three\n')


def difference(a, b):
    return sorted(path for path in {*a, *b} if a.get(path) != b.get(path))


def a_world(program, name, made, later):
    w = World(program, False)
    with open(f'{w.home}/work/pwn', 'w', encoding='utf-8') as f:
        f.write(f'#!/bin/sh\ntouch {w.top}/pwned\nexit 1\n')
    os.chmod(f'{w.home}/work/pwn', 0o755)
    shell(w, made)
    if os.path.exists(f'{w.top}/pwned'):  # git runs such a program itself
        os.remove(f'{w.top}/pwned')
    git = git_state(w)
    w.turn('first prompt', lambda: first(w) if not later else shell(w, later))
    w.turn('second prompt', lambda: second(w))
    w.write()
    if not later:
        need(git_state(w) == git, f'{name}: a snapshot changed {difference(git_state(w), git)}')
    git, final, end = git_state(w), w.whole_tree(), w.tree()
    for at in (1, 0):
        said = w.dry_run(at)
        need(w.whole_tree() == final, f'{name}: a dry run changed something')
        done = subprocess.run([w.reprise.path, 'rewind', w.id, '--to', w.points[at], '--apply'], cwd=w.root, env=w.reprise.env,
                              capture_output=True, text=True, check=False)
        need(done.returncode == (4 if 'refused' in said else 0), f'{name}: {done}')
        wrong = difference(w.tree(), w.trees[at])
        for path in wrong:
            need((path in said or path in IGNORED.get(name, ())) and w.tree().get(path) == end.get(path),
                 f'{name}, turn {at}: {path} is wrong\n{said}')
        need(not wrong or name in HELD_BACK, f'{name}, turn {at}: held back: {said}')
        if w.whole_tree() != final:
            w.run('undo')
        need(w.whole_tree() == final, f'{name}: the undo of turn {at} left {difference(w.whole_tree(), final)}')
    need(git_state(w) == git, f'{name}: a rewind changed {difference(git_state(w), git)}')
    need(not os.path.exists(f'{w.top}/pwned'), f'{name}: a program of the repository was run')
    subprocess.run(['chmod', '-R', 'u+rwX', w.top], check=True)
    w.remove()


def main():
    part = sys.argv[2] if len(sys.argv) > 2 else ''
    worlds = [(name, made, None) for name, made in MADE.items()] + [(name, PLAIN, later) for name, later in LATER.items()]
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(a_world, sys.argv[1], *world) for world in worlds if part in world[0]]:
            done.result()
    finish()


main()
