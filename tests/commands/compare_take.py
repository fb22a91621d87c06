#!/usr/bin/env python3
"""Files and hunks taken from either of two compared sessions: of Claude Code, Codex and pi, over files that were changed by hand, links,
line ends and modes. Nothing changes without --apply, and an undo is exact.

usage: compare_take.py PROGRAM
"""
import json
import os
import shutil
import sys

from resume_by_id import World
from support.program import snapshot

A, B, TREE, OUT = (f'{n * 8}-0000-4000-8000-000000000000' for n in '1234')
CODEX, PI = '019a0000-0000-4000-8000-000000000005', '019a0000-0000-4000-8000-000000000006'
LONG = ''.join(f'line {i}\n' for i in range(40))


class Claude:
    """A transcript of Claude Code."""

    def __init__(self, cwd, sid, rows=()):
        self.cwd, self.sid = cwd, sid
        self.rows = [dict(row, sessionId=sid) for row in rows]

    def row(self, kind, content, **more):
        n = len(self.rows) + 1
        self.rows.append({'parentUuid': self.rows[-1]['uuid'] if self.rows else None, 'isSidechain': False, 'type': kind,
                          'uuid': f'{self.sid[:4]}{n:04}-0000-4000-8000-000000000000', 'sessionId': self.sid, 'cwd': self.cwd,
                          'timestamp': f'2026-03-01T10:{n:02}:{self.sid[0]}0.000Z', 'message': {'role': kind, 'content': content}, **more})

    def write(self, name, text):
        path, call = os.path.join(self.cwd, name), f'toolu_{self.sid[:4]}_{len(self.rows)}'
        self.row('assistant', [{'type': 'tool_use', 'id': call, 'name': 'Write', 'input': {'file_path': path, 'content': text}}])
        self.row('user', [{'tool_use_id': call, 'type': 'tool_result', 'content': 'Done'}],
                 toolUseResult={'type': 'create', 'filePath': path, 'content': text, 'structuredPatch': [], 'originalFile': None})

    def edit(self, name, old, new):
        path, call = os.path.join(self.cwd, name), f'toolu_{self.sid[:4]}_{len(self.rows)}'
        self.row('assistant', [{'type': 'tool_use', 'id': call, 'name': 'Edit', 'input': {'file_path': path, 'old_string': old, 'new_string': new}}])
        self.row('user', [{'tool_use_id': call, 'type': 'tool_result', 'content': 'Done'}],
                 toolUseResult={'filePath': path, 'oldString': old, 'newString': new, 'originalFile': None, 'structuredPatch': []})

    def save(self, config):
        path = f'{config}/projects/{"".join(c if c.isalnum() else "-" for c in self.cwd)}/{self.sid}.jsonl'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.writelines(json.dumps(row) + '\n' for row in self.rows)


def rows_to(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.writelines(json.dumps(row) + '\n' for row in rows)


def codex(home, cwd):
    def row(kind, payload):
        return {'timestamp': '2026-03-01T11:00:00.000Z', 'type': kind, 'payload': payload}
    rows_to(f'{home}/.codex/sessions/2026/03/01/rollout-2026-03-01T11-00-00-{CODEX}.jsonl', [
        row('session_meta', {'id': CODEX, 'timestamp': '2026-03-01T11:00:00.000Z', 'cwd': cwd, 'source': 'cli', 'cli_version': '0.171.0'}),
        row('event_msg', {'type': 'user_message', 'message': 'the same', 'images': []}),
        row('event_msg', {'type': 'item_completed', 'thread_id': CODEX, 'turn_id': 't1', 'started_at_ms': 1, 'completed_at_ms': 2, 'item': {
            'type': 'FileChange', 'id': 'i1', 'status': 'completed', 'stdout': 'Success.', 'stderr': '',
            'changes': {f'{cwd}/a.txt': {'type': 'add', 'content': 'codex\n'}, f'{cwd}/sub/c.txt': {'type': 'add', 'content': 'c\n'}}}}),
        row('event_msg', {'type': 'agent_message', 'message': 'done'})])


def pi(home, cwd):
    def message(n, **what):
        return {'type': 'message', 'id': f'm{n}', 'parentId': f'm{n - 1}' if n > 1 else None, 'timestamp': f'2026-03-01T12:00:0{n}.000Z', 'message': what}
    rows_to(f'{home}/.pi/agent/sessions/--{cwd.strip("/").replace("/", "-")}--/2026-03-01T12-00-00-000Z_{PI}.jsonl', [
        {'type': 'session', 'version': 3, 'id': PI, 'timestamp': '2026-03-01T12:00:00.000Z', 'cwd': cwd},
        message(1, role='user', content=[{'type': 'text', 'text': 'the same'}]),
        message(2, role='assistant', content=[{'type': 'toolCall', 'id': 'c1', 'name': 'write', 'arguments': {'path': f'{cwd}/a.txt', 'content': 'pi\n'}}]),
        message(3, role='toolResult', toolCallId='c1', toolName='write', content=[{'type': 'text', 'text': 'ok'}], isError=False),
        message(4, role='assistant', content=[{'type': 'text', 'text': 'done'}])])


class Takes(World):
    def __init__(self, path):
        super().__init__(path)
        self.ws, self.tree = f'{self.home}/ws', f'{self.home}/tree'
        first = Claude(self.ws, A)
        first.row('user', 'set it up')
        first.write('a.txt', 'one\ntwo\nthree\n')
        first.write('long.txt', LONG)
        first.write('gone.txt', 'gone\n')
        common = list(first.rows)
        first.row('user', 'say TWO')
        first.edit('a.txt', 'two', 'TWO')
        fork = Claude(self.ws, B, common)
        fork.row('user', 'say zwei')
        fork.edit('a.txt', 'two', 'zwei')
        fork.edit('long.txt', 'line 3\n', 'drei\n')
        fork.edit('long.txt', 'line 33\n', 'dreiunddreissig\n')
        fork.write('sub/new.txt', 'new\n')
        fork.edit('blind.txt', 'x', 'y')
        fork.write('empty.txt', '')
        other = Claude(self.tree, TREE)
        other.row('user', 'set it up')
        other.write('a.txt', 'tree\n')
        out = Claude(self.ws, OUT)
        out.row('user', 'outside')
        for name in f'{self.home}/outside.txt', '../ws2/up.txt', '.git/hooks/pre-commit', '.claude/settings.json':
            out.write(name, 'evil\n')
        for session in first, fork, other, out:
            session.save(self.config)
        codex(self.home, self.ws)
        pi(self.home, self.ws)

    def put(self, **files):
        """The work tree as session A left it, and with other files."""
        shutil.rmtree(self.ws, ignore_errors=True)
        os.makedirs(self.tree, exist_ok=True)
        for name, text in {'a.txt': 'one\nTWO\nthree\n', 'long.txt': LONG, 'gone.txt': 'gone\n', **files}.items():
            if text is None:
                continue
            path = f'{self.ws}/{name.replace("_", ".")}'
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as f:
                f.write(text if isinstance(text, bytes) else text.encode())
        self.program.home = self.ws

    def read(self, name, folder=None):
        try:
            with open(f'{folder or self.ws}/{name}', 'rb') as f:
                return f.read().decode()
        except FileNotFoundError:
            return None

    def take(self, *args, code=0, sessions=(A, B)):
        run = self.program.run('compare', *sessions, '--take', *args)
        self.program.need(run.returncode == code, f'--take {args}: exit {run.returncode}, not {code}: {run.stdout!r} {run.stderr!r}')
        return (run.stdout + run.stderr).decode()

    def same_files(self, what, before):
        now, before = ({k: (v[0], v[1] if v[2] is not None else 0, v[2]) for k, v in x.items()} for x in (snapshot(self.ws), before))
        self.program.same(what, {k: now.get(k) for k in {*now, *before} if now.get(k) != before.get(k)},
                          {k: before.get(k) for k in {*now, *before} if now.get(k) != before.get(k)})

    def undo(self, what, before):
        run = self.program.run('undo')
        self.program.need(run.returncode == 0, f'{what}: undo: {run.stderr!r}')
        self.same_files(f'{what}: after the undo', before)


def check_forks(w):
    p = w.program
    w.put()
    before = snapshot(w.ws)
    said = w.take('b')
    for words in ('dry run', 'create', 'sub/new.txt', 'refused', 'blind.txt', 'does not record the whole text', 'hunk 2 of 2', '+dreiunddreissig'):
        p.need(words in said, f'no {words!r} in {said}')
    w.take('b', '--apply', code=4)
    p.same('nothing is changed', snapshot(w.ws), before)
    w.take('b', '--apply', '--skip-refused')
    p.same('the files of B', [w.read(x) for x in ('a.txt', 'sub/new.txt', 'gone.txt', 'blind.txt')], ['one\nzwei\nthree\n', 'new\n', 'gone\n', None])
    p.same('both hunks', w.read('long.txt'), LONG.replace('line 3\n', 'drei\n').replace('line 33', 'dreiunddreissig'))
    # And back to A's, which is no hand's work.
    w.take('a', '--apply')
    p.same('the files of A', [w.read(x) for x in ('a.txt', 'long.txt')], ['one\nTWO\nthree\n', LONG])
    p.need(p.run('undo').returncode == 0, 'undo of the second')
    p.same('B again', w.read('a.txt'), 'one\nzwei\nthree\n')
    w.undo('B', before)
    # One file, and only as it was shown.
    plan = json.loads(w.take('b', '--file', 'a.txt', '--json'))
    p.same('one file', (plan['canRewind'], [os.path.basename(x) for x in plan['filesChanged']]), (True, ['a.txt']))
    w.take('b', '--file', 'a.txt', '--apply', '--plan', '0' * 64, code=4)
    w.same_files('another plan', before)
    w.take('b', '--file', 'a.txt', '--apply', '--plan', plan['plan'])
    p.same('only a.txt', (w.read('a.txt'), w.read('long.txt'), w.read('sub/new.txt')), ('one\nzwei\nthree\n', LONG, None))
    w.undo('one file', before)
    w.take('b', '--file', 'no.txt', code=3)
    # One hunk.
    for number, want in (1, LONG.replace('line 3\n', 'drei\n')), (2, LONG.replace('line 33', 'dreiunddreissig')):
        w.take('b', '--file', 'long.txt', '--hunk', str(number), '--apply')
        p.same(f'hunk {number}', w.read('long.txt'), want)
        w.undo(f'hunk {number}', before)
    for number in '0', '3':
        w.take('b', '--file', 'long.txt', '--hunk', number, '--apply', code=3)
    for wrong in (('b', '--hunk', '1'), ('c',)):
        w.take(*wrong, code=2)
    p.same('--apply alone', p.run('compare', A, B, '--apply').returncode, 2)
    w.same_files('nothing more is changed', before)


def check_held_back(w):
    """Files that are not as one of the sessions left them stay, and what is in the way of a file is not followed."""
    p = w.program
    for what, name, files in (('by hand', 'a.txt', {'a_txt': 'by hand\n'}), ('deleted', 'a.txt', {'a.txt': None}), ('never seen', 'sub/new.txt', {'sub/new_txt': 'mine\n'}),
                              ('mixed ends', 'a.txt', {'a_txt': 'one\r\nTWO\nthree\r\n'}), ('no text', 'a.txt', {'a_txt': b'one\0TWO\n'})):
        w.put(**files)
        before = snapshot(w.ws)
        w.take('b', '--file', name, '--apply', code=4)
        p.same(f'{what}: it stays', snapshot(w.ws), before)
    w.put(a_txt='by hand\n')
    before = snapshot(w.ws)
    w.take('b', '--file', 'a.txt', '--apply', '--overwrite-edited')
    p.same('consent', w.read('a.txt'), 'one\nzwei\nthree\n')
    w.undo('consent', before)
    outside = f'{w.home}/outside'
    for make in ((lambda path: os.symlink(outside, path)), (lambda path: os.link(outside, path)), os.mkdir, os.mkfifo):
        w.put(**{'a.txt': None})
        with open(outside, 'w', encoding='utf-8') as f:
            f.write('one\nTWO\nthree\n')
        make(f'{w.ws}/a.txt')
        before = snapshot(w.home)
        w.take('b', '--file', 'a.txt', '--apply', '--overwrite-edited', code=4)
        p.same('an obstacle stays', snapshot(w.home), before)
    w.put()
    shutil.rmtree(f'{w.home}/there', ignore_errors=True)
    os.mkdir(f'{w.home}/there')
    os.symlink(f'{w.home}/there', f'{w.ws}/sub')
    w.take('b', '--file', 'sub/new.txt', '--apply', code=4)
    p.same('through a link', os.listdir(f'{w.home}/there'), [])
    w.put()
    before = snapshot(w.home)
    said = w.take('b', '--apply', code=4, sessions=(A, OUT))
    p.same('what a session may not write', snapshot(w.home), before)
    p.same('all of it', said.count('refused  '), 4)


def check_kept(w):
    """Line ends, a byte order mark and the mode of the present file stay."""
    p = w.program
    for what, present, want in (('CRLF', b'one\r\nTWO\r\nthree\r\n', 'one\r\nzwei\r\nthree\r\n'), ('mark', b'\xef\xbb\xbfone\nTWO\nthree\n', '\ufeffone\nzwei\nthree\n'),
                                ('both', b'\xef\xbb\xbfone\r\nTWO\r\nthree\r\n', '\ufeffone\r\nzwei\r\nthree\r\n')):
        w.put(a_txt=present)
        os.chmod(f'{w.ws}/a.txt', 0o755)
        before = snapshot(w.ws)
        w.take('b', '--file', 'a.txt', '--apply')
        p.same(what, (w.read('a.txt'), os.stat(f'{w.ws}/a.txt').st_mode & 0o777), (want, 0o755))
        w.undo(what, before)
        p.need('unchanged' in json.dumps(json.loads(w.take('a', '--file', 'a.txt', '--json'))), f'{what}: A is there already')


def check_empty(w):
    """An empty text is one like any other, in the session and in the work tree."""
    for present, name, want in ((None, 'empty.txt', ''), ('', 'empty.txt', ''), ('x\n', 'empty.txt', ''), ('', 'a.txt', 'one\nzwei\nthree\n')):
        w.put(**{name.replace('.', '_'): present})
        before = snapshot(w.ws)
        w.take('b', '--file', name)
        w.take('b', '--file', name, '--apply', '--overwrite-edited')
        w.program.same(f'{name}, which was {present!r}', w.read(name), want)
        if present != want:
            w.undo(f'{name}, which was {present!r}', before)


def check_places(w):
    """The work tree is that of the session in whose directory the person is."""
    p = w.program
    w.put()
    before = snapshot(w.ws)
    p.home = w.tree
    with open(f'{w.tree}/a.txt', 'w', encoding='utf-8') as f:
        f.write('tree\n')
    w.take('a', '--file', 'a.txt', '--apply', sessions=(A, TREE))
    p.same('into the other worktree', (w.read('a.txt', w.tree), snapshot(w.ws)), ('one\nTWO\nthree\n', before))
    run = p.run('undo')
    p.same('undo there', (run.stderr, w.read('a.txt', w.tree)), (b'', 'tree\n'))
    p.home = w.ws
    w.take('b', '--file', 'a.txt', '--apply', sessions=(A, TREE))
    p.same('into this one', w.read('a.txt'), 'tree\n')
    w.undo('this one', before)
    for place in w.home, w.top, '/':
        p.home = place
        said = w.take('b', '--apply', code=4)
        p.need('project of neither session' in said, f'{place}: {said}')
    os.makedirs(f'{w.ws}/deep')
    p.home = f'{w.ws}/deep'
    w.take('b', '--file', '../a.txt', '--apply', code=4)  # without a repository, nothing but a session says that it is a project
    for name in 'objects', 'refs':
        os.makedirs(f'{w.ws}/.git/{name}')
    with open(f'{w.ws}/.git/HEAD', 'w', encoding='utf-8') as f:
        f.write('ref: refs/heads/main\n')
    before, p.home = snapshot(w.ws), f'{w.ws}/deep'
    w.take('b', '--file', '../a.txt', '--apply')
    p.same('from below', w.read('a.txt'), 'one\nzwei\nthree\n')
    p.home = w.ws
    w.undo('from below', before)


def check_agents(w):
    p = w.program
    for other, text, more in ((CODEX, 'codex\n', 'c\n'), (PI, 'pi\n', None)):
        w.put()
        before = snapshot(w.ws)
        w.take('b', '--apply', sessions=(A, other))
        p.same(other, (w.read('a.txt'), w.read('sub/c.txt')), (text, more))
        w.take('b', '--apply', sessions=(other, A))  # and A's in its place
        p.same(f'{other}: back to A', w.read('a.txt'), 'one\nTWO\nthree\n')
        p.need(p.run('undo').returncode == 0, 'undo of the second')
        w.undo(other, before)
        w.put(a_txt='by hand\n')
        w.take('b', '--file', 'a.txt', '--apply', code=4, sessions=(A, other))
        p.same(f'{other}: by hand', w.read('a.txt'), 'by hand\n')


def main():
    w = Takes(sys.argv[1])
    check_forks(w)
    check_held_back(w)
    check_kept(w)
    check_empty(w)
    check_places(w)
    check_agents(w)
    w.program.finish(120)


main()
