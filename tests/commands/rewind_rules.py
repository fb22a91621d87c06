#!/usr/bin/env python3
"""What a rewind may touch, whoever wrote the session: only its own directory, and files that only the session wrote.

usage: rewind_rules.py PROGRAM
"""
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

from support.agent_sessions import AGENTS, write
from support.program import Program

SID = '11111111-2222-4333-8444-555555555555'
FIRST, SECOND = 'aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'
NOW = '2026-02-09T02:{:02}:00.000Z'


def put(path, body):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(body.encode() if isinstance(body, str) else body)
    return path


def get(path):
    with open(path, 'rb') as f:
        return f.read()


def flat(path):
    return ''.join(c if c.isalnum() and c.isascii() else '-' for c in path)


class World:
    """A home, a project in it, and a configuration directory."""

    def __init__(self, path):
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.home, self.project, self.config = (f'{self.top}/{n}' for n in ('home', 'home/src/shop', 'config'))
        os.makedirs(self.project)
        self.program = Program(path, self.project, {
            'HOME': self.home, 'CLAUDE_CONFIG_DIR': self.config, 'GIT_CONFIG_GLOBAL': '/dev/null',
            **{f'XDG_{k}_HOME': f'{self.top}/{k}' for k in ('STATE', 'DATA', 'CACHE', 'CONFIG')}})

    def rewind(self, sid, to, *args):
        return self.program.run('rewind', sid, '--to', to, *args)

    def dry(self, sid, to, *args):
        return json.loads(self.rewind(sid, to, '--json', *args).stdout)


@contextlib.contextmanager
def world(path):
    with contextlib.ExitStack() as stack:
        w = World(path)
        stack.callback(subprocess.run, ['rm', '-rf', w.top], check=False)
        yield w


def claude(w, cwd, before, after, folder=None):
    """Writes a session of two turns that left its files as in `after`; before and now are their texts, by path."""
    rows = []

    def row(kind, uid, parent, **more):
        rows.append({'type': kind, 'uuid': uid, 'parentUuid': parent, 'cwd': cwd, 'sessionId': SID, 'isSidechain': False,
                     'timestamp': NOW.format(len(rows)), 'version': '2.1.197', **more})

    def saved(files, version):
        seen = {}
        for path, body in files.items():
            name = None
            if body is not None:
                name = f'{hashlib.sha256(path.encode()).hexdigest()[:16]}@v{version}'
                put(f'{w.config}/file-history/{SID}/{name}', body)
            seen[path] = {'backupFileName': name, 'version': version, 'backupTime': NOW.format(0)}
        return seen

    for n, (uid, files) in enumerate(((FIRST, before), (SECOND, after))):
        row('user', uid, rows[-2]['uuid'] if n else None, message={'role': 'user', 'content': f'turn {n}'})
        rows.append({'type': 'file-history-snapshot', 'messageId': uid, 'isSnapshotUpdate': False,
                     'snapshot': {'messageId': uid, 'timestamp': NOW.format(n), 'trackedFileBackups': saved(files, n + 1)}})
        row('assistant', uid[:-1] + chr(ord('a') + n), uid,
            message={'role': 'assistant', 'content': [{'type': 'text', 'text': 'done'}]})
        rows[-1], rows[-2] = rows[-2], rows[-1]
    put(f'{w.config}/projects/{folder or flat(w.project)}/{SID}.jsonl', ''.join(json.dumps(r) + '\n' for r in rows))
    return SID


def goat(w, cwd, before, base=None, end=None):
    """Writes a Go directory session with one checkpoint, and optionally the states that it claims to have left."""
    top = f'{base or w.config + "/projects/" + flat(w.project)[1:] + "/sessions"}/shop-1'
    put(f'{top}/metadata.json', json.dumps({'id': 'shop-1', 'cwd': cwd, 'model': 'm', 'created_at': NOW.format(0),
                                            'updated_at': NOW.format(1), 'message_count': 1, 'turn_count': 1}))
    put(f'{top}/messages.jsonl', json.dumps({'uuid': FIRST, 'timestamp': NOW.format(0), 'message': {
        'role': 'user', 'content': 'turn'}}) + '\n')
    for name, files, n in ((FIRST, before, 0), ('session-end', end, 1)):
        if files is None:
            continue
        listed = []
        for path, body in files.items():
            entry = {'path': path, 'exists': body is not None}
            if body is not None:
                entry['hash'] = hashlib.sha256(body.encode()).hexdigest()
                entry['size'] = len(body)
                put(f'{top}/checkpoints/{name}/files/{entry["hash"]}', body)
            listed.append(entry)
        put(f'{top}/checkpoints/{name}/manifest.json',
            json.dumps({'user_message_uuid': name, 'created_at': NOW.format(n), 'files': listed}))
    return 'shop-1'


# ---- the root ----

def claimed(w):
    """The directories that a session may claim, and their kind."""
    return {'the root of everything': '/', 'the home directory': w.home, 'above the home directory': w.top,
            'above the project': os.path.dirname(w.project), 'beside the project': w.home + '/src/other',
            'a way around': w.project + '/..', 'the root by another name': '/.', 'home by another name': w.home + '/src/..'}


def a_transcript_does_not_choose_its_root(path):
    with world(path) as w:
        planted = w.home + '/src/other/planted'
        os.makedirs(os.path.dirname(planted))
        for what, cwd in claimed(w).items():
            sid = claude(w, cwd, {planted: 'evil'}, {planted: None})
            run = w.rewind(sid, FIRST, '--apply')
            w.program.need(run.returncode == 4, f'claude, {what}: exit {run.returncode} {run.stderr!r}')
            w.program.need(not os.path.exists(planted), f'claude, {what}: a file was made')
            w.program.need(b'outside the session' in run.stdout, f'claude, {what}: {run.stdout!r}')
        yield w.program


def a_go_session_does_not_choose_its_root(path):
    for base in None, 'config/projects/{}/sessions', 'elsewhere/sessions':
        with world(path) as w:
            planted = w.home + '/src/other/planted'
            os.makedirs(os.path.dirname(planted))
            where = base and f'{w.top}/{base.format(flat(w.project))}'
            for what, cwd in claimed(w).items():
                if what == 'beside the project' and base == 'elsewhere/sessions':
                    continue  # its path contains no directory
                sid = goat(w, cwd, {planted: 'evil'}, where, {planted: None})
                run = w.program.run('rewind', '--store', f'goat:{where or w.config}', sid, '--to', FIRST, '--apply')
                w.program.need(run.returncode == 4, f'goat, {base}, {what}: exit {run.returncode} {run.stderr!r}')
                w.program.need(not os.path.exists(planted), f'goat, {base}, {what}: a file was made')
            yield w.program


def a_work_tree_is_one_that_holds_its_repository(path):
    """core.worktree of a hostile repository, and a home that is one."""
    with world(path) as w:
        def git(*args, cwd=w.project):
            subprocess.run(['git', '-c', 'user.name=x', '-c', 'user.email=x@x', *args], cwd=cwd, env=w.program.env,
                           check=True, capture_output=True)
        git('init', '-q', '-b', 'main')
        put(w.project + '/a', 'one')
        git('add', '-A')
        git('commit', '-qm', 'one')
        base = subprocess.run(['git', 'rev-parse', 'HEAD'], cwd=w.project, capture_output=True, check=True,
                              env=w.program.env, text=True).stdout.strip()
        put(w.project + '/other/planted', 'evil')
        git('checkout', '-q', '--detach')
        git('add', '-A')
        git('commit', '-qm', 'Checkpoint\n\nEntire-Metadata: .entire/metadata/s\nEntire-Session: s\nEntire-Strategy: '
            'manual-commit')
        git('branch', f'entire/{base[:7]}-e3b0c4')
        git('checkout', '-q', 'main')
        put(w.project + '/.git/entire-sessions/s.json', json.dumps(
            {'session_id': 's', 'base_commit': base, 'started_at': NOW.format(0), 'checkpoint_count': 1,
             'untracked_files_at_start': [], 'worktree_path': '', 'agent_type': 'Claude Code'}))
        points = json.loads(w.program.run('checkpoints', '--json', '--store', f'entire:{w.project}', 's').stdout)
        w.program.need(len(points) == 1, f'entire: {points}')
        git('config', 'core.worktree', w.home + '/src')
        run = w.program.run('rewind', '--store', f'entire:{w.project}', 's', '--to', points[0]['id'], '--apply')
        w.program.need(run.returncode == 4, f'entire: exit {run.returncode} {run.stdout!r} {run.stderr!r}')
        w.program.need(not os.path.exists(w.home + '/src/other/planted'), 'entire: a file was made')
        yield w.program


def the_session_s_own_directory_is_inside(path):
    with world(path) as w:
        file = w.project + '/sub/a'
        for cwd in w.project, w.project + '/sub':
            put(file, 'two')
            sid = claude(w, cwd, {file: 'one'}, {file: 'two'})
            w.program.need(w.rewind(sid, FIRST, '--apply').returncode == 0, f'claude, {cwd}: refused')
            w.program.need(get(file) == b'one', f'claude, {cwd}: not restored')
        put(file, 'two')
        os.makedirs(w.project + '/deep')
        for start in w.project + '/deep', w.home:
            run = w.program.run('-C', start, 'rewind', sid, '--to', FIRST)
            w.program.need(b'restore' in run.stdout, f'claude, from {start}: {run.stdout!r}')
        sid = goat(w, w.project, {file: 'one'}, None, {file: 'two'})
        run = w.rewind(sid, FIRST, '--apply')
        w.program.need(run.returncode == 0 and get(file) == b'one', f'goat: {run.stdout!r} {run.stderr!r}')
        yield w.program


def nothing_of_a_repository_is_executed(path):
    """Filters, monitors, hooks and helpers that a repository configures, with files that all of them apply to."""
    with world(path) as w:
        def git(*args):
            subprocess.run(['git', '-c', 'user.name=x', '-c', 'user.email=x@x', *args], cwd=w.project, env=w.program.env,
                           check=True, capture_output=True)
        files = {put(f'{w.project}/{n}', 'two'): n for n in ('a', 'big.bin', 'sub/deep.bin')}
        git('init', '-q', '-b', 'main')
        git('add', '-A')
        git('commit', '-qm', 'one')
        ran = w.top + '/ran'
        evil = put(w.top + '/evil', f'#!/bin/sh\ntouch {ran}\ncat\n')
        os.chmod(evil, 0o755)
        put(w.project + '/.gitattributes', '* filter=evil diff=evil merge=evil\n')
        for name in ('filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process', 'diff.evil.textconv', 'diff.evil.command',
                     'merge.evil.driver', 'diff.external', 'core.fsmonitor', 'core.pager', 'pager.worktree', 'core.editor',
                     'core.sshCommand', 'core.alternateRefsCommand', 'credential.helper', 'gpg.program', 'uploadpack.packObjectsHook'):
            git('config', name, evil)
        for hook in ('post-checkout', 'post-index-change', 'reference-transaction', 'pre-commit'):
            shutil.copy(evil, f'{w.project}/.git/hooks/{hook}')
        git_ran = [os.path.exists(ran), os.path.exists(ran) and os.unlink(ran), subprocess.run(
            ['git', 'status'], cwd=w.project, env=w.program.env, capture_output=True, stdin=subprocess.DEVNULL, check=False)]
        w.program.need(os.path.exists(ran), f'the repository would not have run anything: {git_ran}')
        os.unlink(ran)
        sid = claude(w, w.project, {f: 'one' for f in files}, {f: 'two' for f in files})
        for words in (('list', '--all'), ('info', sid), ('files', sid), ('checkpoints', sid), ('blame', 'big.bin'), ('touched', 'big.bin'),
                      ('doctor', sid), ('rewind', sid, '--to', FIRST), ('rewind', sid, '--to', FIRST, '--apply'), ('undo',),
                      ('rewind', sid, '--to', FIRST, '--into', w.top + '/copy'), ('search', 'turn')):
            run = w.program.run(*words)
            w.program.need(run.returncode == 0, f'{words}: exit {run.returncode} {run.stderr!r}')
            w.program.need(not os.path.exists(ran), f'{words}: a program of the repository ran')
        w.program.same('undone', {get(f) for f in files}, {b'two'})
        told = {'session_id': sid, 'cwd': w.project, 'hook_event_name': 'UserPromptSubmit', 'prompt': 'turn 2'}
        subprocess.run([w.program.path, 'snapshot', '--agent', 'claude', '--event', 'prompt'], input=json.dumps(told), text=True, cwd=w.project,
                       env=w.program.env, capture_output=True, check=True)
        w.program.need(b'1 snapshot' in w.program.run('snapshots').stdout, 'no snapshot was taken')
        w.program.need(not os.path.exists(ran), 'snapshot: a program of the repository ran')
        yield w.program


# ---- whose work it is ----

def a_hand_edit_is_held_back_again_after_an_undo(path):
    with world(path) as w:
        file = put(w.project + '/a', 'by hand')
        sids = claude(w, w.project, {file: 'one'}, {file: 'two'}), goat(w, w.project, {file: 'one'}, None, {file: 'two'})
        for sid in sids:
            for _ in range(2):
                said = w.dry(sid, FIRST)['files'][0]
                w.program.same(f'{sid}: held back', (said['action'], said.get('editedSince')), ('refused', True))
                w.program.same(f'{sid}: with consent', w.rewind(sid, FIRST, '--apply', '--overwrite-edited').returncode, 0)
                w.program.same(f'{sid}: nobody edited that', w.dry(sid, SECOND if sid == SID else FIRST)['files'][0]['action'],
                               'restore' if sid == SID else 'unchanged')
                w.program.same(f'{sid}: undo', w.program.run('undo').returncode, 0)
                w.program.same(f'{sid}: it is back', get(file), b'by hand')
        yield w.program


def what_nobody_can_be_shown_to_have_written_is_held_back(path):
    with world(path) as w:
        file = put(w.project + '/a', 'who knows')
        sid = goat(w, w.project, {file: 'one', w.project + '/gone': 'back'})
        said = {os.path.basename(f['path']): f for f in w.dry(sid, FIRST)['files']}
        w.program.same('goat: unknown', [said[n]['action'] for n in ('a', 'gone')], ['refused', 'create'])
        w.program.need('session' in said['a']['why'] and 'editedSince' not in said['a'], f'goat: why {said["a"]}')
        w.program.same('goat: not without consent', (w.rewind(sid, FIRST, '--apply').returncode, get(file)), (4, b'who knows'))
        w.program.same('goat: consent', w.dry(sid, FIRST, '--overwrite-edited')['files'][0]['action'], 'restore')
        log = f'{w.config}/projects/{flat(w.project)[1:]}/sessions/{sid}/messages.jsonl'
        calls = (('Write', {'file_path': file, 'content': 'one two one'}),
                 ('Edit', {'file_path': file, 'old_string': 'one', 'new_string': 'six', 'replace_all': True}),
                 ('Read', {'file_path': file}))
        with open(log, 'a', encoding='utf-8') as f:
            for n, (name, arguments) in enumerate(calls):
                f.write(json.dumps({'uuid': f'c{n}', 'timestamp': NOW.format(n + 1), 'message': {
                    'role': 'assistant', 'content': None, 'tool_calls': [
                        {'id': 'x', 'type': 'function', 'function': {'name': name, 'arguments': json.dumps(arguments)}}]}}) + '\n')
        put(file, 'six two six')
        w.program.same('goat: its tools say so', w.dry(sid, FIRST)['files'][0]['action'], 'restore')
        put(file, 'six two six and mine')
        w.program.same('goat: and that is not theirs', w.dry(sid, FIRST)['files'][0].get('editedSince'), True)
        yield w.program


def what_is_no_path_is_listed_as_refused(path):
    with world(path) as w:
        file = put(w.project + '/a', 'two')
        sid = claude(w, w.project, {file: 'one', '': 'x', 'b\0c': 'x', 'd\0': None}, {file: 'two'})
        said = {f['path']: f for f in w.dry(sid, FIRST)['files']}
        bad = {os.path.basename(p) for p, f in said.items() if f['action'] == 'refused' and 'not a path' in f['why']}
        w.program.same('refused', bad, {'(no name)', 'b\\0c', 'd\\0'})
        w.program.same('the other', said[file]['action'], 'restore')
        w.program.same('not all of it', (w.rewind(sid, FIRST, '--apply').returncode, get(file)), (4, b'two'))
        w.program.same('the rest', (w.rewind(sid, FIRST, '--apply', '--skip-refused').returncode, get(file)), (0, b'one'))
        yield w.program


def an_apply_that_refuses_is_no_dry_run(path):
    with world(path) as w:
        file, other = put(w.project + '/a', 'by hand'), put(w.project + '/b', 'two')
        sid = claude(w, w.project, {file: 'one', other: 'one'}, {file: 'two', other: 'two'})
        w.program.need(b'dry run: nothing has been changed' in w.rewind(sid, FIRST).stdout, 'a dry run does not say so')
        run = w.rewind(sid, FIRST, '--apply')
        w.program.need(run.returncode == 4 and b'dry run' not in run.stdout + run.stderr, f'refused: {run.stdout!r}')
        w.program.need(b'nothing was changed' in run.stderr and b'--skip-refused' in run.stderr, f'refused: {run.stderr!r}')
        run = w.rewind(sid, FIRST, '--apply', '--skip-refused')
        w.program.need(run.returncode == 0 and b'dry run' not in run.stdout, f'skipped: {run.stdout!r}')
        put(other, 'mine')
        run = w.program.run('undo')
        w.program.need(run.returncode == 4 and b'dry run' not in run.stdout + run.stderr, f'undo: {run.stdout!r}')
        yield w.program


def skipping_all_files_is_a_refusal(path):
    """There is nothing that an undo could take back, and it must not take back an earlier change instead."""
    for others, code in (('hand',), 4), (('hand', 'same'), 0), (('hand', 'other'), 0), (('same',), 0):
        with world(path) as w:
            now = {'hand': 'by hand', 'same': 'one', 'other': 'two'}
            files = {n: put(f'{w.project}/{n}', now[n]) for n in others}
            sid = claude(w, w.project, {f: 'one' for f in files.values()}, {f: 'one' if n == 'same' else 'two' for n, f in files.items()})
            w.program.same('a change before', w.program.run('rename', sid, 'Kept title').returncode, 0)
            for as_json in (), ('--json',):
                run = w.rewind(sid, FIRST, '--apply', '--skip-refused', *as_json)
                w.program.same(f'{others} {as_json}: exit', run.returncode, code)
                if code:
                    w.program.need(b'1 file is refused' in run.stderr and b'nothing was changed' in run.stderr, f'{run.stderr!r}')
                    w.program.need(not as_json or 'undo' not in json.loads(run.stdout), f'an undo: {run.stdout!r}')
                if 'other' in files:
                    w.program.same(f'{others}: undo', (w.program.run('undo').returncode, get(files['other'])), (0, b'two'))
            w.program.same(f'{others}: the hand edit', 'hand' not in files or get(files['hand']), 'hand' not in files or b'by hand')
            w.program.need(b'Kept title' in w.program.run('info', sid).stdout, f'{others}: the title is gone')
        yield w.program


def shared_snapshots(w, shape):
    """A turn that changed a file, and two prompts that were queued and run as one turn, which changed it and made another.
    Both share one snapshot; how many rows it has, and which of them has the added file, varies."""
    ids = [f'aaaaaaaa-0000-4000-8000-00000000001{n}' for n in range(3)]
    a, new = w.project + '/a', w.project + '/new'
    rows = []

    def row(kind, uid, parent, content):
        rows.append({'type': kind, 'uuid': uid, 'parentUuid': parent, 'cwd': w.project, 'sessionId': SID, 'isSidechain': False,
                     'timestamp': NOW.format(len(rows)), 'version': '2.1.332', 'message': {'role': kind, 'content': content}})

    def saved(path, version, body):
        name = f'{hashlib.sha256(path.encode()).hexdigest()[:16]}@v{version}' if body else None
        if body:
            put(f'{w.config}/file-history/{SID}/{name}', body)
        return {'backupFileName': name, 'version': version, 'backupTime': NOW.format(len(rows))}

    def snapshot(uid, files, **more):
        rows.append({'type': 'file-history-snapshot', 'messageId': uid, 'isSnapshotUpdate': False,
                     'snapshot': {'messageId': uid, 'timestamp': NOW.format(len(rows)), 'trackedFileBackups': files, **more}})

    def delta(uid, path, backup):
        rows.append({'type': 'file-history-delta', 'messageId': uid, 'snapshotMessageId': uid, 'trackingPath': path, 'backup': backup,
                     'timestamp': NOW.format(1)})

    text = [{'type': 'text', 'text': 'done'}]
    if 'pre' in shape:
        snapshot(ids[0], {}, preCheckpoint=True)
    snapshot(ids[0], {})
    row('user', ids[0], None, 'first')
    delta(ids[0], a, saved(a, 1, 'a 0'))
    row('assistant', ids[0][:-1] + 'a', ids[0], text)
    if 'pre' in shape:  # the state before the turn that is just over was written down
        snapshot(ids[1], {a: saved(a, 1, 'a 0')}, preCheckpoint=True)
        snapshot(ids[2], {a: saved(a, 1, 'a 0')}, preCheckpoint=True)
    for uid in ids[1:]:
        for version in ((1, 2) if 'twice' in shape else (2,)):
            snapshot(uid, {a: saved(a, version, f'a {version - 1}')})
    row('user', ids[1], ids[0][:-1] + 'a', 'second')
    row('user', ids[2], ids[1], 'third')
    for uid in ids[2:] if shape[0] == 'last' else ids[1:]:
        delta(uid, new, saved(new, 1, None))
    row('assistant', ids[0][:-1] + 'b', ids[2], text)
    put(a, 'a 2')
    put(new, 'new')
    put(f'{w.config}/projects/{flat(w.project)}/{SID}.jsonl', ''.join(json.dumps(r) + '\n' for r in rows))
    return ids


def queued_prompts_share_a_snapshot(path):
    for shape in [(which, *more) for which in ('last', 'both') for more in ((), ('pre',), ('twice',), ('pre', 'twice'))]:
        with world(path) as w:
            ids = shared_snapshots(w, shape)
            for uid, want in (ids[1], b'a 1'), (ids[2], b'a 1'), (ids[0], b'a 0'):
                run = w.rewind(SID, uid, '--apply', '--overwrite-edited')
                w.program.same(f'{shape} {uid[-1]}', (run.returncode, get(w.project + '/a'), os.path.exists(w.project + '/new')),
                               (0, want, False))
                w.program.need(w.program.run('undo').returncode == 0 and get(w.project + '/a') == b'a 2', f'{shape}: undo')
            yield w.program


def a_rewind_that_is_not_possible_has_an_answer(path):
    """In JSON it is an object with the reason, for every agent and every mode; the exit code is the same as without."""
    with tempfile.TemporaryDirectory() as top:
        program = Program(path, top, {})
        os.makedirs(f'{program.home}/work')
        for n, agent in enumerate(AGENTS):
            write(agent, program.home, f'{program.home}/work', n + 1, 1795770000 + n, f'prompt of {agent}')
        for row in program.json('list', '--all'):
            for mode in 'code', 'conversation', 'both':
                args = 'rewind', f'{row["system"]}:{row["sessionId"]}', '--to', 'nothing', '--mode', mode
                said, run = program.run(*args), program.run(*args, '--json')
                program.same(f'{args}: exit', (run.returncode, run.returncode in (3, 4)), (said.returncode, True))
                answer = json.loads(run.stdout or '{}')
                program.same(f'{args}: members', sorted(answer), ['canRewind', 'error', 'schemaVersion'])
                program.need(answer.get('canRewind') is False and answer['error'], f'{args}: {run}')
        program.same('agents', len(program.json('list', '--all')), len(AGENTS))
        yield program


def main():
    checks = [a_rewind_that_is_not_possible_has_an_answer, queued_prompts_share_a_snapshot, skipping_all_files_is_a_refusal,
              an_apply_that_refuses_is_no_dry_run, what_is_no_path_is_listed_as_refused,
              a_hand_edit_is_held_back_again_after_an_undo, what_nobody_can_be_shown_to_have_written_is_held_back,
              a_transcript_does_not_choose_its_root, a_go_session_does_not_choose_its_root,
              a_work_tree_is_one_that_holds_its_repository, nothing_of_a_repository_is_executed, the_session_s_own_directory_is_inside]
    passed = failed = 0
    for check in checks:
        for program in check(sys.argv[1]):
            passed, failed = passed + program.passed, failed + program.failed
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or passed < 100 else 0)


if __name__ == '__main__':
    main()
