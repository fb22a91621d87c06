#!/usr/bin/env python3
"""A session whose files only shell commands changed, with the hooks of `snapshots on`: each turn is given back exactly, with
git and without, and an undo is exact.

usage: rewind_snapshots.py PROGRAM
"""
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import uuid

from support.snapshot_world import DroidWorld, PiWorld, World, finish, need


def first(w):
    w.put('a.txt', 'two\n')
    os.remove(f'{w.root}/keep.txt')
    w.put('new/dir/n.txt', 'n\n')


def second(w):
    shutil.rmtree(f'{w.root}/odd é name')
    os.rename(f'{w.root}/sub/b.sh', f'{w.root}/moved.sh')


def third(w):
    w.put('a.txt', 'three\n')
    os.chmod(f'{w.root}/moved.sh', 0o600)


def each_turn_is_given_back(program, git, by_hand):
    w = World(program, git)
    w.turn('first prompt', lambda: first(w))
    w.turn('second prompt', lambda: second(w))
    if by_hand:
        w.put('mine.txt', 'by hand\n')
    w.turn('third prompt', lambda: third(w))
    w.write()
    final = w.tree()
    for at in (2, 1, 0):
        want = dict(w.trees[at])
        if by_hand:
            want['mine.txt'] = final['mine.txt']
        before = w.tree()
        w.run('rewind', w.id, '--to', w.points[at], '--dry-run')
        need(w.tree() == before, 'a dry run changed a file')
        w.run('rewind', w.id, '--to', w.points[at], '--apply')
        need(w.tree() == want, f'turn {at} (git {git}, by hand {by_hand}) is {sorted(set(w.tree()) ^ set(want))}')
        w.run('undo')
        need(w.tree() == final, f'the undo of turn {at} is not exact')
    w.remove()


def permissions_alone_are_given_back(program):
    """Whichever of them git knows nothing of, and whether or not another file changed."""
    for modes in ((0o644, 0o600), (0o600, 0o644), (0o664, 0o640), (0o755, 0o700), (0o644, 0o755)):
        w = World(program, True)
        for name in ('a.txt', 'sub/b.sh'):
            os.chmod(f'{w.root}/{name}', modes[0])
        w.turn('first prompt', lambda: os.chmod(f'{w.root}/a.txt', modes[1]))
        w.turn('second prompt', lambda: (w.put('sub/b.sh', 'other\n', modes[1]), os.chmod(f'{w.root}/keep.txt', modes[1])))
        w.write()
        final = w.tree()
        listed = json.loads(w.run('checkpoints', w.id, '--json'))
        need([p['files'] for p in listed] == [1, 1 + (modes[1] != 0o644)], f'{modes}: {listed}')
        need([(p['insertions'], p['deletions']) for p in listed] == [(0, 0), (1, 1)], f'{modes}: {listed}')
        for at in (1, 0):
            w.run('rewind', w.id, '--to', w.points[at], '--apply')
            need(w.tree() == w.trees[at], f'{modes}, turn {at}: {sorted(set(w.tree().items()) ^ set(w.trees[at].items()))}')
            w.run('undo')
            need(w.tree() == final, f'{modes}: the undo of turn {at} is not exact')
        os.chmod(f'{w.root}/a.txt', modes[0])
        w.remove()


def lines_are_those_of_the_snapshots(program, kind):
    """Also where the agent's own copies show other files, or none."""
    w = kind(program, True)
    w.turn('first prompt', lambda: first(w))
    w.turn('second prompt', lambda: second(w))
    w.turn('third prompt', lambda: os.symlink('a.txt', f'{w.root}/link'))
    w.write()
    listed = [{k: p.get(k) for k in ('files', 'insertions', 'deletions', 'filesDeleted')}
              for p in json.loads(w.run('checkpoints', w.id, '--json'))]
    need(listed == [{'files': 3, 'insertions': 2, 'deletions': 2, 'filesDeleted': 1},
                    {'files': 3, 'insertions': 1, 'deletions': 2, 'filesDeleted': 2},
                    {'files': 1, 'insertions': 0, 'deletions': 0, 'filesDeleted': None}], f'{kind.__name__}: {listed}')
    w.remove()


def a_hand_edit_between_turns_is_held_back(program):
    w = World(program, True)
    w.turn('first prompt', lambda: first(w))
    w.put('a.txt', 'a person wrote this\n')
    w.turn('second prompt', lambda: w.put('a.txt', 'three\n'))
    w.write()
    said = w.dry_run(0)
    need('edited by hand between turns' in said, f'not held back: {said}')
    w.remove()


def an_interrupted_turn_is_no_proof(program):
    w = World(program, False)
    w.turn('first prompt', lambda: first(w), ends=False)
    w.turn('second prompt', lambda: second(w))
    w.write()
    said = w.dry_run(0)
    need('the turn was interrupted' in said and 'moved.sh' in said, f'after an interrupted turn: {said}')
    w.remove()


def the_rest_is_as_without(program):
    """A session from before the hooks says nothing of snapshots."""
    w = World(program, True)
    w.hooks = {'UserPromptSubmit': [], 'Stop': []}
    w.turn('first prompt', lambda: first(w))
    w.write()
    said = w.dry_run(0)
    need('snapshot before the prompt' not in said, said)
    w.remove()


def what_was_ignored_is_not_removed(program):
    """A turn that changes .gitignore brings files into its snapshot that were there before."""
    w = World(program, True)
    w.put('out/deep/made.txt', 'a person keeps this\n')
    w.put('.gitignore', '*.log\nout/\n')
    w.turn('first prompt', lambda: w.put('.gitignore', '*.bak\n'))
    w.write()
    said = w.dry_run(0)
    need('git ignored it then' in said and 'delete' not in said, f'ignored before: {said}')
    w.run('rewind', w.id, '--to', w.points[0], '--apply', '--skip-refused')
    need({'z.log', 'out/deep/made.txt'} <= set(w.tree()), 'a file that was ignored is gone')
    w.remove()


def the_same_words_again_prove_nothing(program):
    """The second of two equal prompts has no snapshot: it does not take that of the first."""
    w = World(program, False)
    w.turn('continue', lambda: first(w))
    hooks, w.hooks = w.hooks, {'UserPromptSubmit': [], 'Stop': []}
    w.turn('continue', lambda: second(w))
    w.hooks = hooks
    w.turn('and on', lambda: third(w))
    w.write()
    need('keep.txt' not in w.dry_run(1), f'the first turn is rewound, too: {w.dry_run(1)}')
    need('keep.txt' in w.dry_run(0), f'the first turn is lost: {w.dry_run(0)}')
    need('a turn without a snapshot' in w.dry_run(0), f'no reason: {w.dry_run(0)}')
    w.remove()


def the_same_words_elsewhere_prove_nothing(program):
    """A session without hooks does not take the snapshots of another one that was told the same."""
    w = World(program, True)
    own, w.id = w.id, str(uuid.uuid4())
    w.turn('continue', lambda: first(w))
    w.id = own
    w.rows = [{**row, 'sessionId': own} if 'sessionId' in row else row for row in w.rows]
    w.write()
    need('snapshot before the prompt' not in w.dry_run(0), f'a snapshot of another session: {w.dry_run(0)}')
    w.remove()


def the_copies_of_the_agent_are_corrected(program):
    """The agent keeps a copy of a file that its command changed, too: both are one entry of the plan."""
    w = World(program, True)
    kept = f'{w.home}/.claude/file-history/{w.id}'
    os.makedirs(kept)
    with open(f'{kept}/0123456789abcdef@v1', 'w') as f:
        f.write('one\n')
    w.turn('first prompt', lambda: first(w))
    at = next(r for r in w.rows if r['type'] == 'file-history-snapshot')
    at['snapshot']['trackedFileBackups'] = {'a.txt': {'backupFileName': '0123456789abcdef@v1', 'version': 1,
                                                      'backupTime': at['snapshot']['timestamp']}}
    w.write()
    w.run('rewind', w.id, '--to', w.points[0], '--dry-run')
    w.run('rewind', w.id, '--to', w.points[0], '--apply')
    need(w.tree() == w.trees[0], f'with copies of the agent: {sorted(set(w.tree()) ^ set(w.trees[0]))}')
    w.remove()


def another_session_at_work_is_named(program):
    w = World(program, True)
    own, other = w.id, str(uuid.uuid4())

    def both():
        w.id = other
        w.hook('UserPromptSubmit', 'other work')
        w.put('other.txt', 'o\n')
        w.hook('Stop')
        w.id = own
        w.put('a.txt', 'two\n')
    w.turn('first prompt', both)
    w.write()
    said = w.dry_run(0)
    need('another session was at work at the same time' in said and f'(also changed by {other})' in said, said)
    w.remove()


def a_repository_that_goes_is_noticed(program):
    """Files that were only named by the project's own repository are lost with it: they are held back."""
    w = World(program, True)

    def work():
        shutil.rmtree(f'{w.root}/.git')
        first(w)
    w.turn('first prompt', work)
    w.write()
    before = w.tree()
    said = w.dry_run(0)
    need(said.count('its copy is no longer in the snapshots') == 2, f'without .git: {said}')
    w.run('rewind', w.id, '--to', w.points[0], '--apply', '--skip-refused', code=4)
    need(before == w.tree(), f'without .git, something was changed: {sorted(w.tree())}')
    w.remove()


def what_is_no_file_is_left_alone(program):
    """Pipes are not opened, links are not followed, and names with control characters are shown escaped."""
    w = World(program, False)
    os.symlink('/', f'{w.root}/out')
    os.mkfifo(f'{w.root}/pipe')
    w.put('old\nname', 'c\n')

    def work():
        os.rename(f'{w.root}/old\nname', f'{w.root}/new\x1b[2Jname')
        os.mkfifo(f'{w.root}/pipe too')
        os.remove(f'{w.root}/out')
    w.turn('first prompt', work)
    w.write()
    said = w.dry_run(0)
    need('\x1b' not in said and 'pipe' not in said and said.count('\n') == 6 and 'refused' not in said,
         f'no files: {said!r}')
    copy = f'{w.top}/copy'
    w.run('rewind', w.id, '--to', w.points[0], '--into', copy)
    need(sorted(os.listdir(copy)) == ['old\nname', 'out'] and os.readlink(f'{copy}/out') == '/', f'{os.listdir(copy)}')
    w.run('rewind', w.id, '--to', w.points[0], '--apply')
    need('3 files or folders are not in the snapshots' in said, f'the pipe and the log are not counted: {said!r}')
    need(os.readlink(f'{w.root}/out') == '/' and 'old\nname' in w.tree(), f'no files: {w.whole_tree()}')
    need(os.path.exists(f'{w.root}/pipe too'), 'a pipe was removed')
    w.remove()


def prompts_are_points_where_the_agent_keeps_no_copies(program):
    for kind, timed in ((kind, timed) for kind in (PiWorld, DroidWorld) for timed in (True, False)):
        w = kind(program, timed)
        w.turn('first prompt', lambda: first(w))
        w.turn('second prompt', lambda: second(w))
        w.turn('third prompt', lambda: third(w))
        w.write()
        final = w.tree()
        listed = json.loads(w.run('checkpoints', w.id, '--json'))
        need([(p['id'], p['prompt'], p['files'], p['restorable']) for p in listed] ==
             [(i, f'{n} prompt', k, True) for i, n, k in zip(w.points, ('first', 'second', 'third'), (3, 3, 2))],
             f'points: {listed}')
        row = json.loads(w.run('list', '--json'))[0]
        need('rewind' in row['can'], f'the list: {row["can"]}')
        for at in (2, 1, 0):
            w.run('rewind', w.id, '--to', w.points[at], '--apply')
            need(w.tree() == w.trees[at], f'{w.AGENT}, turn {at} is {sorted(set(w.tree()) ^ set(w.trees[at]))}')
            w.run('undo')
            need(w.tree() == final, f'{w.AGENT}, the undo of turn {at} is not exact')
        w.remove()


def what_cannot_be_read_is_not_pruned(program):
    """The objects of a pack whose index is damaged are still there."""
    w = World(program, False)
    for n in range(3):
        w.turn(f'prompt {n}', lambda n=n: w.put('a.txt', f'{n}\n'))
    w.write()
    final = w.tree()
    packs = sorted(os.path.join(folder, x) for folder, _, files in os.walk(f'{w.top}/state') for x in files if 'pack-' in x)
    for index in [x for x in packs if x.endswith('.idx')]:
        with open(index, 'rb') as f:
            good = f.read()
        for bad in good[:100], b'':
            with open(index, 'wb') as f:
                f.write(bad)
            w.run('snapshots', 'prune', '--older-than', '0d', code=5)
            need(all(os.path.exists(x) for x in packs), 'a pack that could not be read is gone')
        with open(index, 'wb') as f:
            f.write(good)
    for at in 2, 0:
        w.run('rewind', w.id, '--to', w.points[at], '--apply')
        need(w.tree() == w.trees[at], f'turn {at} after that')
        w.run('undo')
        need(w.tree() == final, f'the undo of turn {at}')
    w.run('snapshots', 'prune', '--older-than', '0d')
    need(not all(os.path.exists(x) for x in packs), 'nothing was pruned')
    w.remove()


def unreadable(state, root):
    """The log of a project's snapshots can no longer be read."""
    for folder, _, files in os.walk(f'{state}/state'):
        if 'root' in files and 'log' in files:
            with open(f'{folder}/root', encoding='utf-8') as f:
                if f.read() == root:
                    os.rename(f'{folder}/log', f'{folder}/log before')
                    os.mkdir(f'{folder}/log')
                    return
    need(False, f'no snapshots of {root}')


def snapshots_follow_a_project_that_moved(program):
    """They were taken under the old path; the files are those under the new one, in the same directory below it."""
    for kind, below in ((lambda: World(program, True), ''), (lambda: World(program, False), ''), (lambda: PiWorld(program), ''), (lambda: DroidWorld(program), ''), (lambda: World(program, True), '/sub')):
        w = kind()
        top, w.root = w.root, w.root + below
        w.turn('first prompt', lambda: first(w) if not below else w.put('b.sh', 'two\n'))
        w.turn('second prompt', lambda: w.put('new/dir/n.txt', 'two\n'))
        w.write()
        final, moved = w.tree(), f'{w.home}/work/elsewhere'
        os.rename(top, moved)
        w.root = moved + below
        w.run('move', top, moved, '--apply')
        for at in (1, 0):
            said = w.dry_run(at)
            need('snapshot before the prompt' in said and f'files of {top} are those of {moved}' in said, f'not said: {said}')
            w.run('rewind', w.id, '--to', w.points[at], '--apply')
            need(w.tree() == w.trees[at], f'after the move, turn {at} is {sorted(set(w.tree()) ^ set(w.trees[at]))}')
            w.run('undo')
            need(w.tree() == final, f'after the move, the undo of turn {at} is not exact')
        need(not os.path.exists(top), 'something was written to the old path')
        need('is there again' not in w.dry_run(0), 'the old path is not there')
        os.makedirs(top + below)
        said = w.dry_run(0)
        need('files of' not in said and (below or top in said and 'is there again' in said), f'the old path is there again: {said}')
        unreadable(w.top, top)  # nothing of it is used
        without = w.dry_run(0)
        need('is there again' not in without and 'cannot open' not in without, f'an unread log fails the plan: {without}')
        w.remove()


def append_rows(w, known):
    """The rows that the session got since, wherever its transcript is now."""
    found = [os.path.join(folder, name) for top in ('.claude/projects', '.pi/agent/sessions')
             for folder, _, names in os.walk(f'{w.home}/{top}') for name in names if w.id in name and name.endswith('.jsonl')]
    need(len(found) == 1, f'the transcript: {found}')
    with open(found[0], 'a', encoding='utf-8') as f:
        f.writelines(json.dumps(row) + '\n' for row in w.rows[known:])


def both_sides_of_a_move_are_used(program):
    """Turns before it have their snapshots under the old path, turns after it under the new one."""
    for kind in (lambda: World(program, True), lambda: World(program, False), lambda: PiWorld(program)):
        for moves in (1, 2):
            w = kind()
            w.turn('first prompt', lambda w=w: first(w))
            w.write()
            places = [w.root]
            for i in range(moves):
                if i:
                    w.turn('between', lambda w=w: w.put('between.txt', 'b\n'))
                    append_rows(w, known)
                moved, known = f'{w.home}/work/place {i}', len(w.rows)
                os.rename(w.root, moved)
                w.run_at(w.home, 'move', w.root, moved, '--apply')
                w.root = moved
                places.append(moved)
            w.turn('second prompt', lambda w=w: second(w))
            w.turn('third prompt', lambda w=w: third(w))
            append_rows(w, known)
            final = w.tree()
            for at in reversed(range(len(w.points))):
                said = w.dry_run(at)
                need(all(f'files of {place} are those of {w.root}' in said for place in places[:-1]), f'not said: {said}')
                w.run('rewind', w.id, '--to', w.points[at], '--apply')
                need(w.tree() == w.trees[at], f'{moves} moves, turn {at} is {sorted(set(w.tree()) ^ set(w.trees[at]))}\n{said}')
                w.run('undo')
                need(w.tree() == final, f'{moves} moves, the undo of turn {at} is not exact')
            w.remove()


def two_rewinds_at_once_end_as_one_after_the_other(program):
    """Of a project that moved. The second one waits, or finds its plan stale; undo gives back what was there."""
    w = World(program, True)
    w.turn('first prompt', lambda: first(w))
    w.turn('second prompt', lambda: second(w))
    w.write()
    moved = f'{w.home}/work/elsewhere'
    os.rename(w.root, moved)
    w.run_at(w.home, 'move', w.root, moved, '--apply')
    w.root = moved
    final = w.tree()
    for _ in range(4):
        both = [subprocess.Popen([w.reprise.path, 'rewind', w.id, '--to', w.points[at], '--apply'], env=w.reprise.env, cwd=w.root,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for at in (0, 1)]
        codes = [one.wait() for one in both]
        need(0 in codes and set(codes) <= {0, 1, 3, 4}, f'two at once: {codes}')
        need(w.tree() in w.trees, f'two at once ({codes}): {sorted(w.tree())}')
        for _ in range(codes.count(0)):
            if w.tree() != final:
                w.run('undo')
        need(w.tree() == final, f'two at once ({codes}): the undo is not exact')
    w.remove()


def a_project_that_moves_while_it_is_read(program):
    """Each snapshot that was taken is that of the whole project, wherever it was then."""
    w = World(program, True)
    for i in range(2000):
        w.put(f'many/{i % 50}/{i}', f'{i}\n')
    away, ends = f'{w.home}/work/away', threading.Event()

    def move():
        while not ends.is_set():
            for one, other in ((w.root, away), (away, w.root)):
                os.rename(one, other)
                time.sleep(0.002)

    mover = threading.Thread(target=move)
    mover.start()
    told = json.dumps({'session_id': w.id, 'cwd': w.root, 'prompt': 'x'})
    for _ in range(25):
        done = subprocess.run([w.reprise.path, 'snapshot', '--agent', 'claude', '--event', 'prompt'], input=told, text=True, cwd=w.home,
                              env=w.reprise.env, capture_output=True, check=False)
        need(done.returncode == 0, f'while it moves: {done}')
    ends.set()
    mover.join()
    seen = 0
    for name in os.listdir(f'{w.top}/state/reprise/copies'):
        store = f'{w.top}/state/reprise/copies/{name}'
        with open(f'{store}/log', encoding='utf-8') as f:
            trees = {json.loads(line).get('tree') for line in f} - {None}
        for tree in trees:
            listed = subprocess.run(['git', '-C', store, 'ls-tree', '-r', '--name-only', tree], capture_output=True, text=True, check=True)
            need(len(listed.stdout.splitlines()) == 2005, f'while it moves: {len(listed.stdout.splitlines())} files')
            seen += 1
    need(seen > 0, 'while it moves: no snapshot at all')
    w.remove()


def a_part_that_moved_takes_no_other_files_along(program):
    """The rest of the project, which is gone, is not planned beside the part that moved."""
    w = World(program, True)
    top, w.root = w.root, w.root + '/sub'
    w.turn('first prompt', lambda: (w.put('b.sh', 'two\n'), w.put('../a.txt', 'two\n'), os.remove(f'{top}/keep.txt')))
    w.write()
    place = f'{w.home}/work/place'
    os.makedirs(place)
    os.rename(f'{top}/sub', f'{place}/sub')
    shutil.rmtree(top)
    w.root = f'{place}/sub'
    w.run('move', f'{top}/sub', f'{place}/sub', '--apply')
    said = w.dry_run(0)
    need(f'{place}/keep.txt' not in said and f'{place}/a.txt' not in said, f'beside the part: {said}')
    w.remove()


def snapshots_that_cannot_be_read_are_named(program):
    """The plan is then made of the agent's own copies, and says what it lacks."""
    w = World(program, True)
    w.turn('first prompt', lambda: first(w))
    w.write()
    log = next(folder for folder, _, files in os.walk(f'{w.top}/state') if 'log' in files and 'objects' in os.listdir(folder))
    os.makedirs(f'{log}/objects/info', exist_ok=True)
    os.mkfifo(f'{log}/objects/info/alternates')
    said = w.dry_run(0)
    need('snapshots of this project cannot be read' in said and 'a pipe or a device' in said and 'memory' not in said, f'unread: {said}')
    os.unlink(f'{log}/objects/info/alternates')
    need('cannot be read' not in w.dry_run(0), 'they can be read again')
    w.remove()


def a_prompt_without_a_snapshot_says_so(program):
    """Two equal prompts without times, of which one has a snapshot: it may be either."""
    for timed in (True, False):
        w = DroidWorld(program, timed)
        w.turn('go', lambda: first(w), hooked=False)
        w.turn('go', lambda: second(w))
        w.turn('and on', lambda: third(w))
        w.write()
        got = [p['restorable'] for p in json.loads(w.run('checkpoints', w.id, '--json'))]
        need(got == [False, timed, True], f'timed {timed}: {got}')
        need('no snapshot from before' in w.dry_run(0), w.dry_run(0))
        w.remove()
    w = DroidWorld(program)
    w.turn('go', lambda: first(w), hooked=False)
    w.write()
    need('snapshots on droid' in w.dry_run(0), f'what to do: {w.dry_run(0)}')
    w.remove()


def git(w, line, at=None):
    subprocess.run(['sh', '-ec', line], cwd=at or w.root, env=w.reprise.env, check=True, stdout=subprocess.DEVNULL)


def a_file_that_git_forgets_is_kept(program):
    """Its blob was only named, and nothing in the repository needs that any more: the next snapshot has to copy it."""
    forget = 'git rm -q --cached {0} && git -c user.name=a -c user.email=a@b commit -q --amend --allow-empty -m y && git reflog expire --expire=now --all && git gc -q --prune=now'
    for names in 'keep.txt', '-r .':
        for gone in False, True:
            w = World(program, True)
            w.turn('first prompt', lambda w=w: git(w, forget.format(names) if not gone else forget.format(names).split(' && git reflog')[0]))
            if gone:
                git(w, 'git reflog expire --expire=now --all && git gc -q --prune=now')
            w.turn('second prompt', lambda w=w: (first(w), w.put('sub/b.sh', 'other\n')))
            w.turn('third prompt', lambda w=w: w.put('keep.txt', 'another\n'))
            w.write()
            final = w.tree()
            for at in (2, 1, 0):
                w.run('rewind', w.id, '--to', w.points[at], '--apply')
                need(w.tree() == w.trees[at], f'git forgot {names} ({gone}): turn {at} is {sorted(set(w.tree()) ^ set(w.trees[at]))}')
                w.run('undo')
                need(w.tree() == final, f'git forgot {names} ({gone}): the undo of turn {at} is not exact')
            w.remove()


def what_a_linked_work_tree_tracks_is_noticed(program):
    """Its index is elsewhere. A file that git ignores is taken as soon as it is added there, and its rules are asked again."""
    w = World(program, True)
    main = w.root
    git(w, 'git worktree add -q ../linked')
    w.root = f'{w.home}/work/linked'
    w.put('z.log', 'ignored\n')
    w.put('y.bak', 'not ignored yet\n')
    w.turn('first prompt', lambda: w.put('a.txt', 'two\n'))
    git(w, 'git add -f z.log')
    w.turn('second prompt', lambda: w.put('z.log', 'added\n'))
    w.turn('third prompt', lambda: w.put('z.log', 'third\n'))
    git(w, 'echo "*.bak" >> .git/info/exclude', main)
    w.turn('fourth prompt', lambda: w.put('y.bak', 'ignored now\n'))
    w.write()
    for at, name, text in ((2, 'z.log', 'added\n'), (1, 'z.log', 'ignored\n')):
        w.run('rewind', w.id, '--to', w.points[at], '--apply', '--skip-refused')
        with open(f'{w.root}/{name}', encoding='utf-8') as f:
            need(f.read() == text, f'linked work tree: turn {at} has another {name}')
        w.run('undo')
    need('y.bak' not in w.dry_run(3), f'linked work tree: what is ignored now: {w.dry_run(3)}')
    w.remove()


def an_index_without_a_checksum_is_read(program):
    """As git writes it with index.skipHash."""
    w = World(program, True)
    git(w, 'git config index.skipHash true && git add -f z.log')
    with open(f'{w.root}/.git/index', 'r+b') as f:  # git before 2.40 writes one
        f.seek(-20, os.SEEK_END)
        f.write(bytes(20))
    w.turn('first prompt', lambda: w.put('z.log', 'tracked\n'))
    w.write()
    w.run('rewind', w.id, '--to', w.points[0], '--apply')
    need(w.tree() == w.trees[0], f'without a checksum: {sorted(set(w.tree().items()) ^ set(w.trees[0].items()))}')
    w.remove()


def pruning_keeps_the_newest(program):
    w = World(program, False)
    w.turn('first prompt', lambda: first(w))
    w.write()
    w.run('snapshots', 'prune')
    need('2 snapshots' in w.run('snapshots'), 'a prune removed what is not old')
    need(json.loads(w.run('snapshots', 'prune', '--older-than', '0d', '--json', '--dry-run'))['removed'] == 1, 'dry run')
    file = f'{w.root}/sub/b.sh'
    need(json.loads(w.run('snapshots', 'prune', file, '--json', '--dry-run'))['removed'] == 2, 'dry run of a file')
    need('removed for good from 2 snapshots' in w.run('snapshots', 'prune', file), 'both had the file')
    need('sub/b.sh' not in w.dry_run(0), 'another file is named')
    w.run('snapshots', 'prune', file, code=3)
    copies = os.path.dirname(next(folder for folder, _, files in os.walk(f'{w.top}/state') if 'root' in files and 'log' in files))
    others = [f'{copies}/{x * 32}' for x in '0123']
    for other in others:  # projects whose snapshots a newer version made do not keep those of this one
        os.mkdir(other)
        with open(f'{other}/log', 'w', encoding='ascii') as f:
            f.write('{"v":9}\n')
    w.run('snapshots', 'prune', '--older-than', '0d', code=4)
    for other in others:
        shutil.rmtree(other)
    need('1 snapshot ' in w.run('snapshots'), 'the newest does not stay alone')
    need('snapshot before the prompt' not in w.dry_run(0), 'a snapshot that is gone is used')
    w.run('snapshots', 'prune', '--older-than', 'soon', code=2)
    w.remove()


def old_ones_go_by_themselves(program):
    """At the end of a turn, in a process that the agent does not wait for, by the limits of the configuration."""
    w = World(program, True)
    for i in range(3):
        w.turn(f'prompt {i}', lambda i=i: w.put('a.txt', f'{i}\n'))
    w.write()
    log = next(os.path.join(folder, 'log') for folder, _, files in os.walk(f'{w.top}/state/reprise/copies') if 'log' in files)
    mark = f'{os.path.dirname(log)}/pruned'
    need(not os.path.exists(mark), 'a new store is pruned')
    os.utime(f'{os.path.dirname(log)}/root', (0, 0))
    with open(log, encoding='utf-8') as f:
        rows = [json.loads(line) for line in f]
    need(len(rows) == 6, f'{len(rows)} snapshots')
    for i, row in enumerate(rows[:3]):
        row['time'] -= (6 - i) * 86400000
    with open(log, 'w', encoding='utf-8') as f:
        f.writelines(json.dumps(row, separators=(',', ':')) + '\n' for row in rows)
    os.makedirs(f'{w.home}/.config/reprise', exist_ok=True)
    with open(f'{w.home}/.config/reprise/config', 'w', encoding='utf-8') as f:
        f.write('[snapshots]\nmax-age = 3d\nmax-size = 5G\n')
    w.hook('Stop')
    wait_for(lambda: os.path.exists(mark))
    with open(log, encoding='utf-8') as f:
        need(len(f.readlines()) == 4, 'the old ones did not go')
    w.run('rewind', w.id, '--to', w.points[2], '--apply')
    need(w.tree() == w.trees[2], 'a newer turn is not given back')
    w.remove()


def limits_that_cannot_be_read_remove_nothing(program):
    """The defaults are not what the person wrote down, and what they would remove is gone for good."""
    w = World(program, False)
    for i in range(2):
        w.turn(f'prompt {i}', lambda i=i: w.put('a.txt', f'{i}\n'))
    w.write()
    log = next(os.path.join(folder, 'log') for folder, _, files in os.walk(f'{w.top}/state/reprise/copies') if 'log' in files)
    with open(log, encoding='utf-8') as f:
        rows = [json.loads(line) for line in f]
    for row in rows[:2]:
        row['time'] -= 100 * 86400000
    with open(log, 'w', encoding='utf-8') as f:
        f.writelines(json.dumps(row, separators=(',', ':')) + '\n' for row in rows)
    config = f'{w.home}/.config/reprise/config'
    os.makedirs(os.path.dirname(config))
    for text, mode in ('[snapshots]\nmax-age = 1000d\n', 0o666), ('[snapshots]\nmax-age = a year\n', 0o644), ('[snapshots]\nmax_age = 1000d\n', 0o644):
        with open(config, 'w', encoding='utf-8') as f:
            f.write(text)
        os.chmod(config, mode)
        w.run('snapshots', 'prune', code=4)
        os.utime(f'{os.path.dirname(log)}/root', (0, 0))
        w.hook('Stop')
        time.sleep(0.3)
        with open(log, encoding='utf-8') as f:
            need(len([line for line in f if '"kind":"prompt"' in line]) == 2, f'{text!r}: what the limits keep is gone')
        need(not os.path.exists(f'{os.path.dirname(log)}/pruned'), f'{text!r}: it counts as pruned')
    # A line that is written twice is no mistake, and 0 is not the default.
    for text, code in ('[snapshots]\nmax-age = 1000d\n' * 2, 0), ('[snapshots]\nmax-size = 5G\nmax-age = 1000d\nmax-size = 5G\n', 0), (
            '[snapshots]\nmax-age = 1000d\nmax-size = 0\n', 4):
        with open(config, 'w', encoding='utf-8') as f:
            f.write(text)
        w.run('snapshots', 'prune', code=code)
        with open(log, encoding='utf-8') as f:
            need(len([line for line in f if '"kind":"prompt"' in line]) == 2, f'{text!r}: what the limits keep is gone')
    os.unlink(config)

    # So do snapshots that a newer version took.
    with open(log, encoding='utf-8') as f:
        good = f.read()
    for old, new in ('"v":1', '"v":2'), ('"kind":"end"', '"kind":"new"'):
        with open(log, 'w', encoding='utf-8') as f:
            f.write(good.replace(old, new, 1))
        w.run('snapshots', 'prune', '--older-than', '0d', code=4)
        with open(log, encoding='utf-8') as f:
            need(f.read() == good.replace(old, new, 1), f'{new}: the log is another one')
    with open(log, 'w', encoding='utf-8') as f:
        f.write(good)
    # What only a clock that is wrong may have made old needs an age that a person names.
    for words, stays in ((), 2), (('--older-than', '30d'), 1):
        told = subprocess.run([w.reprise.path, 'snapshots', 'prune', *words], env=w.reprise.env, cwd=w.root, capture_output=True, check=True)
        with open(log, encoding='utf-8') as f:
            need(len([line for line in f if '"kind":"prompt"' in line]) == stays, f'prune {words}: {told}')
        need((b'2 old snapshots stay because' in told.stderr) == (not words), f'prune {words}: {told}')
    w.remove()


def wait_for(is_so):
    while not is_so():
        time.sleep(0.01)


for with_git in (True, False):
    for edited in (True, False):
        each_turn_is_given_back(sys.argv[1], with_git, edited)
a_hand_edit_between_turns_is_held_back(sys.argv[1])
permissions_alone_are_given_back(sys.argv[1])
for a_kind in (World, PiWorld):
    lines_are_those_of_the_snapshots(sys.argv[1], a_kind)
an_interrupted_turn_is_no_proof(sys.argv[1])
the_rest_is_as_without(sys.argv[1])
pruning_keeps_the_newest(sys.argv[1])
old_ones_go_by_themselves(sys.argv[1])
limits_that_cannot_be_read_remove_nothing(sys.argv[1])
prompts_are_points_where_the_agent_keeps_no_copies(sys.argv[1])
snapshots_follow_a_project_that_moved(sys.argv[1])
both_sides_of_a_move_are_used(sys.argv[1])
two_rewinds_at_once_end_as_one_after_the_other(sys.argv[1])
a_project_that_moves_while_it_is_read(sys.argv[1])
a_part_that_moved_takes_no_other_files_along(sys.argv[1])
snapshots_that_cannot_be_read_are_named(sys.argv[1])
what_cannot_be_read_is_not_pruned(sys.argv[1])
a_prompt_without_a_snapshot_says_so(sys.argv[1])
a_repository_that_goes_is_noticed(sys.argv[1])
a_file_that_git_forgets_is_kept(sys.argv[1])
what_a_linked_work_tree_tracks_is_noticed(sys.argv[1])
an_index_without_a_checksum_is_read(sys.argv[1])
what_is_no_file_is_left_alone(sys.argv[1])
the_copies_of_the_agent_are_corrected(sys.argv[1])
another_session_at_work_is_named(sys.argv[1])
what_was_ignored_is_not_removed(sys.argv[1])
the_same_words_elsewhere_prove_nothing(sys.argv[1])
the_same_words_again_prove_nothing(sys.argv[1])
finish()
