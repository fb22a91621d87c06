#!/usr/bin/env python3
"""The notes that git-ai attaches to commits (refs/notes/ai, authorship/3.0.0) are read by `blame`, and `blame --notes` makes them.

usage: blame_notes.py PROGRAM LIBRARY

What is read is the specification's own examples on real commits; what is written is read again, by git and by this test's
own reader of the specification.
"""
import ctypes
import hashlib
import json
import os
import re
import subprocess
import sys

from resume_by_id import World, flat
from support.program import snapshot

SID = 'aaaaaaaa-0000-4000-8000-000000000001'
ME = {'GIT_AUTHOR_NAME': 'Ann Lee', 'GIT_AUTHOR_EMAIL': 'ann@example.org', 'GIT_COMMITTER_NAME': 'Ann Lee', 'GIT_COMMITTER_EMAIL': 'ann@example.org',
      'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null'}


def git(w, *args, at=None, check=True, **more):
    date = {'GIT_AUTHOR_DATE': at, 'GIT_COMMITTER_DATE': at} if at else {}
    run = subprocess.run(['git', '-C', w.project, *args], env={**os.environ, **ME, **date}, capture_output=True, **more)
    if check and run.returncode:
        raise RuntimeError(f'git {args}: {run.stderr}')
    return run.stdout.decode()


def write(w, name, text):
    os.makedirs(os.path.dirname(f'{w.project}/{name}'), exist_ok=True)
    with open(f'{w.project}/{name}', 'w', encoding='utf-8', newline='') as f:
        f.write(text)


def commit(w, at):
    git(w, 'add', '-A')
    git(w, 'commit', '-q', '--allow-empty', '-m', 'x', at=at)
    return git(w, 'rev-parse', 'HEAD').strip()


def note(w, which, text, *more):
    git(w, 'notes', '--ref', 'ai', 'add', '-F', '-', *more, which, input=text if isinstance(text, bytes) else text.encode())


def metadata(commit_id, **more):
    return json.dumps({'schema_version': 'authorship/3.0.0', 'base_commit_sha': commit_id, 'prompts': {}, **more}, indent=2)


def agent(tool, sid, model='m'):
    return {'agent_id': {'tool': tool, 'id': sid, 'model': model}, 'human_author': 'x'}


def ask(w, *args, at=None):
    run = w.program.run('-C', at or w.project, *args, '--json')
    w.program.same(f'{args}', (run.returncode, run.stderr), (0, b''))
    return json.loads(run.stdout)


def blame(w, name):
    return ask(w, 'blame', name)


def noted(w, name):
    """The note of each line, as (tool or author, session)."""
    return [(n.get('tool', n.get('author')), n.get('session')) if (n := row.get('note')) else None for row in blame(w, name)]


class Line(ctypes.Structure):
    """struct reprise_line"""
    _fields_ = [('size', ctypes.c_size_t), ('text', ctypes.c_char_p), ('text_length', ctypes.c_size_t),
                *((name, ctypes.c_char_p) for name in ('system', 'session', 'path', 'agent', 'turn', 'message', 'tool', 'prompt')), ('time_ms', ctypes.c_int64),
                *((name, ctypes.c_char_p) for name in ('incomplete', 'note_commit', 'note_tool', 'note_session', 'note_model', 'note_author'))]


def library_notes(w, path):
    """What reprise_blame answers, as `noted` does."""
    code = f"""
import ctypes, json, sys
sys.path[:0] = {sys.path!r}
from blame_notes import Line
lib = ctypes.CDLL({os.path.abspath(sys.argv[2])!r})
lib.reprise_lines_count.restype = ctypes.c_size_t
lib.reprise_lines_at.restype = ctypes.POINTER(Line)
r, lines = ctypes.c_void_p(), ctypes.c_void_p()
assert lib.reprise_open(None, ctypes.byref(r), None) == 0
assert lib.reprise_blame(r, {os.fsencode(path)!r}, None, ctypes.byref(lines), None) == 0
found = [lib.reprise_lines_at(lines, ctypes.c_size_t(i)).contents for i in range(lib.reprise_lines_count(lines))]
assert all(line.size == ctypes.sizeof(Line) for line in found)
print(json.dumps([((n.note_tool or n.note_author).decode(), n.note_session.decode() or None) if n.note_commit else None for n in found]))
"""
    run = subprocess.run([sys.executable, '-B', '-S', '-c', code], env=w.program.env, cwd=w.project, capture_output=True, check=False)
    if run.returncode:
        raise RuntimeError(f'the library: {run.stderr}')
    return [tuple(x) if x else None for x in json.loads(run.stdout)]


def mcp_lines(w, path):
    """What the tool of `reprise mcp` answers."""
    calls = [{'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': {'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 't', 'version': '1'}}},
             {'jsonrpc': '2.0', 'id': 2, 'method': 'tools/call', 'params': {'name': 'blame_lines', 'arguments': {'path': path}}}]
    run = subprocess.run([w.program.path, 'mcp'], env=w.program.env, cwd=w.project, input=''.join(json.dumps(x) + '\n' for x in calls).encode(),
                         capture_output=True, check=False)
    answer = json.loads(run.stdout.splitlines()[-1])['result']
    return json.loads(answer['content'][0]['text'])['lines']


def fan_out(w, rows, depth):
    """A commit with the same notes below as many directories."""
    index = {'GIT_INDEX_FILE': f'{w.top}/index'}
    lines = ''
    for mode, _, blob, name in rows:
        name = name.replace('/', '')
        lines += f'{mode} {blob}\t' + '/'.join([*(name[2 * k:2 * k + 2] for k in range(depth)), name[2 * depth:]]) + '\n'
    env = {**os.environ, **ME, **index}
    subprocess.run(['git', '-C', w.project, 'update-index', '--add', '--index-info'], input=lines.encode(), env=env, check=True)
    tree = subprocess.run(['git', '-C', w.project, 'write-tree'], env=env, check=True, capture_output=True).stdout.decode().strip()
    os.remove(f'{w.top}/index')
    return git(w, 'commit-tree', '-m', 'x', tree).strip()


def world(program):
    w = World(program)
    w.home = w.program.env['HOME']
    w.program.env['CLAUDE_CONFIG_DIR'] = f'{w.home}/.claude'
    w.project = f'{w.top}/one'
    os.makedirs(w.project)
    git(w, 'init', '-q', '-b', 'main', '.')
    return w


def check_read(w):
    lines = [f'line {k}\n' for k in range(1, 11)]
    write(w, 'a b.txt', ''.join(lines))
    write(w, 'plain.txt', ''.join(lines))
    first = commit(w, '2026-03-01T10:00:00Z')
    before = snapshot(w.program.env['HOME'])
    w.program.same('no notes', noted(w, 'plain.txt'), [None] * 10)
    note(w, first, '"a b.txt"\n  s_c9883b05a2487d::t_9f8e7d6c5b4a32 1-3,5\n  h_31dce776f88375 7\n  d9978a8723e02b52 9-10\nplain.txt\n'
         '  s_c9883b05a2487d::t_a1b2c3d4e5f678 2,4-4,8-900\n  s_unknown0000000::t_1 1\n---\n' +
         metadata(first, sessions={'s_c9883b05a2487d': agent('cursor', '6ef2299e-a67f')}, humans={'h_31dce776f88375': {'author': 'Bob <b@x>'}},
                  prompts={'d9978a8723e02b52': agent('codex', 'old')}))
    c, old, bob = ('cursor', '6ef2299e-a67f'), ('codex', 'old'), ('Bob <b@x>', None)
    w.program.same('a name with a blank, a person and an old key', noted(w, 'a b.txt'), [c, c, c, None, c, None, bob, None, old, old])
    w.program.same('ranges, unknown keys and lines that are not there', noted(w, 'plain.txt'), [None, c, None, c, None, None, None, c, c, c])
    text = w.program.run('-C', w.project, 'blame', 'plain.txt').stdout.decode().split('\n')
    w.program.need('note: cursor, m' in text[1] and 'note' not in text[0], f'as text: {text[:2]}')

    # The other forms, and those who ask in other ways.
    runs = [(r['from'], r['to'], r.get('note', {}).get('session', r.get('note', {}).get('author'))) for r in ask(w, 'blame', '--by', 'turn', 'a b.txt')]
    w.program.same('by turn', runs, [(1, 3, c[1]), (4, 4, None), (5, 5, c[1]), (6, 6, None), (7, 7, bob[0]), (8, 8, None), (9, 10, old[1])])
    text = w.program.run('-C', w.project, 'blame', '--by', 'turn', 'a b.txt').stdout.decode().split('\n')
    w.program.need('note: cursor, m' in text[0] and 'note' not in text[1], f'by turn as text: {text[:2]}')
    text = w.program.run('-C', w.project, 'blame', '--porcelain', 'a b.txt').stdout.decode()
    heads = re.findall(r'^([0-9a-f]{40}) (\d+) \d+(?: (\d+))?$', text, re.M)
    w.program.same('porcelain: runs', [(line, n) for _, line, n in heads if n], [('1', '3'), ('4', '1'), ('5', '1'), ('6', '1'), ('7', '1'), ('8', '1'), ('9', '2')])
    w.program.same('porcelain: who', [heads[k][0] == heads[0][0] for k in (1, 2, 4, 3, 6, 8)] + [heads[3][0]], [True, True, True, False, False, False, '0' * 40])
    for words in ('author cursor\nauthor-mail <6ef2299e-a67f>\n', f'\nnote {first}\nmodel m\n', 'author Bob <b@x>\n', 'author codex\n'):
        w.program.need(words in text, f'porcelain: {words!r} in {text}')
    for name in ('a b.txt', 'plain.txt'):
        w.program.same(f'the library: {name}', library_notes(w, f'{w.project}/{name}'), noted(w, name))
    w.program.same('an agent', [(r['from'], r['to'], r.get('note', {}).get('tool')) for r in mcp_lines(w, f'{w.project}/a b.txt')][:3],
                   [(1, 3, 'cursor'), (4, 4, None), (5, 5, 'cursor')])

    # Lines move and change; the newest note of a line counts.
    write(w, 'plain.txt', 'new\n' + ''.join(lines[:3]) + 'other\n' + ''.join(lines[4:]))
    w.program.same('not committed', noted(w, 'plain.txt'), [None, None, c, None, None, None, None, None, c, c, c])
    second = commit(w, '2026-03-02T10:00:00Z')
    note(w, second, 'plain.txt\n  s_e7f2a90b31cc48::t_deadbeef012345 1,3,5\n---\n' + metadata(second, sessions={'s_e7f2a90b31cc48': agent('claude', 'k')}))
    k = ('claude', 'k')
    w.program.same('two commits', noted(w, 'plain.txt'), [k, None, k, None, k, None, None, None, c, c, c])
    os.makedirs(f'{w.project}/sub')
    w.program.same('from below', [bool(r.get('note')) for r in ask(w, 'blame', '../plain.txt', at=f'{w.project}/sub')], [bool(x) for x in noted(w, 'plain.txt')])
    git(w, 'worktree', 'add', '-q', '-b', 'other', f'{w.top}/two')
    w.program.same('in another work tree', [bool(r.get('note')) for r in ask(w, 'blame', 'plain.txt', at=f'{w.top}/two')], [bool(x) for x in noted(w, 'plain.txt')])
    w.program.same('nothing is written', snapshot(w.program.env['HOME']), before)

    # Git puts many notes below directories.
    want = noted(w, 'plain.txt')
    rows = [line.split() for line in git(w, 'ls-tree', '-r', 'refs/notes/ai').strip().split('\n')]
    for depth in 1, 2, 0:
        git(w, 'update-ref', 'refs/notes/ai', fan_out(w, rows, depth))
        w.program.same(f'notes below {depth} directories', noted(w, 'plain.txt'), want)

    # What is damaged says nothing; the other notes are read.
    head = commit(w, '2026-03-04T10:00:00Z')
    good = metadata(head, sessions={'s_1': agent('pi', 'p')})
    for name, text in (('nothing', b'\n'), ('no divider', b'plain.txt\n  s_1 1-3\n'), ('no JSON', b'plain.txt\n  s_1::t 1-3\n---\n{"schema'),
                       ('another schema', b'plain.txt\n  s_1::t 1-3\n---\n' + good.replace('3.0.0', 'x').replace('authorship/', '').encode()),
                       ('odd ranges', b'plain.txt\n  s_1::t -,3-1,x,99999999999999999999999-1,0\n---\n' + good.encode()),
                       ('no lines', b'plain.txt\n  s_1::t\n  \n   \nplain.txt2\n  s_1::t 1\n---\n' + good.encode()),
                       ('bytes', bytes(range(1, 256)) * 40 + b'\n---\n' + good.encode())):
        note(w, head, text, '-f')
        w.program.same(f'damaged: {name}', noted(w, 'plain.txt')[0], ('claude', 'k'))
    note(w, head, 'plain.txt\n  s_1::t 1-4000000000\n---\n' + metadata(head, sessions={'s_1': agent('\x1b[31mpi', 'p\n\x07')}), '-f')
    shown = w.program.run('-C', w.project, 'blame', 'plain.txt').stdout
    w.program.need(b'\x1b[31m' not in shown and b'\x07' not in shown and b'[31mpi' in shown, f'raw: {shown[:200]}')
    git(w, 'update-ref', 'refs/notes/ai', git(w, 'hash-object', '-w', '--stdin', input=b'x').strip())
    w.program.same('a ref to a blob', noted(w, 'plain.txt'), [None] * 11)
    git(w, 'update-ref', '-d', 'refs/notes/ai')


class Session:
    def __init__(self, w, sid):
        self.w, self.sid, self.rows = w, sid, []

    def row(self, kind, content, at, **more):
        self.rows.append({'parentUuid': self.rows[-1]['uuid'] if self.rows else None, 'isSidechain': False, 'type': kind,
                          'uuid': f'{len(self.rows):08x}-{self.sid[-4:]}-4000-8000-000000000000', 'sessionId': self.sid, 'cwd': self.w.project, 'timestamp': at,
                          'message': {'role': kind, 'content': content, **({'model': 'claude-x-1', 'id': f'm{len(self.rows)}'} if kind == 'assistant' else {})}, **more})

    def write(self, name, text, at):
        path = f'{self.w.project}/{name}'
        call = f'toolu_{self.sid[-4:]}_{len(self.rows)}'
        self.row('user', f'write {name}', at)
        self.row('assistant', [{'type': 'tool_use', 'id': call, 'name': 'Write', 'input': {'file_path': path, 'content': text}}], at)
        self.row('user', [{'type': 'tool_result', 'tool_use_id': call, 'content': 'ok'}], at, toolUseResult={'type': 'create', 'filePath': path, 'content': text})
        write(self.w, name, text)

    def save(self):
        folder = f'{self.w.home}/.claude/projects/{flat(self.w.project)}'
        os.makedirs(folder, exist_ok=True)
        with open(f'{folder}/{self.sid}.jsonl', 'w', encoding='utf-8') as f:
            f.writelines(json.dumps(r, separators=(',', ':')) + '\n' for r in self.rows)


def read_note(text, w):
    """The specification's form: {file: [(session, trace, lines)]} and the metadata."""
    head, data = text.split('\n---\n')
    files, name = {}, None
    for line in head.split('\n'):
        if not line.startswith(' '):
            name = re.fullmatch(r'"([^"]*)"|([^" ]+)', line)
            w.program.need(name, f'a file: {line}')
            name = name[1] or name[2]
            files[name] = []
            continue
        entry = re.fullmatch(r'  (s_[0-9a-f]{14})::(t_[0-9a-f]{14}) ((?:[1-9]\d*(?:-[1-9]\d*)?)(?:,[1-9]\d*(?:-[1-9]\d*)?)*)', line)
        w.program.need(entry, f'an entry: {line!r}')
        lines = []
        for part in entry[3].split(','):
            a, _, b = part.partition('-')
            lines += range(int(a), int(b or a) + 1)
        w.program.same('ascending', lines, sorted(set(lines)))
        files[name].append((entry[1], entry[2], lines))
    return files, json.loads(data)


def check_write(w):
    write(w, 'src/main.rs', 'mine\nmine too\n')
    base = commit(w, '2026-04-01T10:00:00Z')
    one, two = Session(w, SID), Session(w, SID[:-1] + '2')
    one.write('src/main.rs', 'mine\na1\na2\nmine too\n', '2026-04-02T10:00:00.000Z')
    two.write('my file.txt', 'b1\nb2\nb3\n', '2026-04-02T10:00:01.000Z')
    one.write('src/main.rs', 'mine\na1\na2\nmine too\na3\n', '2026-04-02T10:00:02.000Z')
    write(w, 'my file.txt', 'b1\nby hand\nb3\n')
    write(w, 'hand.txt', 'by hand\n')
    target = commit(w, '2026-04-02T11:00:00Z')
    two.write('src/main.rs', 'later\na1\n', '2026-04-03T10:00:00.000Z')
    one.save()
    two.save()
    later = commit(w, '2026-04-03T11:00:00Z')
    before, refs = snapshot(w.home), git(w, 'for-each-ref')

    shown = ask(w, 'blame', '--notes', target)
    w.program.same('a dry run', (shown['dryRun'], shown['commit'], shown['files'], shown['lines'], shown['sessions']), (True, target, 2, 5, 2))
    w.program.same('writes nothing', (snapshot(w.home), git(w, 'for-each-ref')), (before, refs))
    files, data = read_note(shown['note'], w)
    key = {s.sid: 's_' + hashlib.sha256(f'claude:{s.sid}'.encode()).hexdigest()[:14] for s in (one, two)}
    w.program.same('who wrote what', {n: sorted((s, l) for s, _, l in e) for n, e in files.items()},
                   {'src/main.rs': sorted([(key[one.sid], [2, 3]), (key[one.sid], [5])]), 'my file.txt': [(key[two.sid], [1, 3])]})
    w.program.same('a trace for each turn', len({t for e in files.values() for _, t, _ in e}), 3)
    w.program.same('metadata', data, {'schema_version': 'authorship/3.0.0', 'base_commit_sha': target, 'prompts': {},
                                      'sessions': {key[s.sid]: {'agent_id': {'tool': 'claude', 'id': s.sid, 'model': 'claude-x-1'}, 'human_author': 'Ann Lee <ann@example.org>'} for s in (one, two)}})
    w.program.same('as text', w.program.run('-C', w.project, 'blame', '--notes', target).stdout.decode(),
                   shown['note'] + 'nothing was written (--apply attaches the note to the commit)\n')

    # A lock as a killed git leaves it.
    lock = os.path.join(w.project, '.git/refs/notes/ai.lock')
    os.makedirs(os.path.dirname(lock))
    open(lock, 'w').close()
    run = w.program.run('-C', w.project, 'blame', '--notes', target, '--apply')
    w.program.need(run.returncode not in (0, -11, -6) and lock.encode() in run.stderr and b'remove the lock if no other git' in run.stderr, f'a lock: {run}')
    os.remove(lock)

    made = ask(w, 'blame', '--notes', target[:12], '--apply')
    w.program.same('the note that was shown', git(w, 'notes', '--ref', 'ai', 'show', target), shown['note'])
    w.program.same('nothing but the ref', sorted(git(w, 'for-each-ref').split('\n')), sorted((refs + git(w, 'for-each-ref', 'refs/notes/ai')).split('\n')))
    w.program.same('nothing is staged or changed', git(w, 'status', '--porcelain'), '')
    git(w, 'fsck', '--strict')
    run = w.program.run('-C', w.project, 'blame', '--notes', target, '--apply')
    w.program.need(run.returncode == 4 and b'has a note already' in run.stderr, f'again: {run}')
    for row in w.program.json('log', '--all'):
        if row['id'] == made['change']:
            w.program.same('logged', row['kind'], 'note')

    # One more, and a foreign one in between: an undo never takes another program's note away.
    second = ask(w, 'blame', '--notes', later, '--apply')
    w.program.same('the first is still there', git(w, 'notes', '--ref', 'ai', 'show', target), shown['note'])
    tip = git(w, 'rev-parse', 'refs/notes/ai')
    note(w, base, 'x')
    run = w.program.run('undo', second['change'])
    w.program.need(run.returncode == 4, f'the ref was moved since: {run}')
    git(w, 'update-ref', 'refs/notes/ai', tip.strip())
    for change in second, made:
        run = w.program.run('undo', change['change'])
        w.program.same('undo', (run.returncode, run.stderr), (0, b''))
    w.program.same('all refs as before', git(w, 'for-each-ref'), refs)

    # What cannot be noted.
    git(w, 'checkout', '-q', '-b', 'side', target)
    commit(w, '2026-04-03T12:00:00Z')
    git(w, 'merge', '-q', '--no-ff', '-m', 'm', 'main')
    for args, code, words in ((('HEAD', ), 1, 'a merge has no note'), ((base, ), 1, 'no session wrote'), (('nothing', ), 1, 'no commit "nothing"'),
                              ((target, '--by', 'turn'), 2, '--notes'), ((target, '--porcelain'), 2, '--notes')):
        run = w.program.run('-C', w.project, 'blame', '--notes', *args)
        w.program.need(run.returncode not in (0, -11, -6) and words in run.stderr.decode() and not run.stdout, f'{args}: {run}')
    run = w.program.run('-C', w.top, 'blame', '--notes', 'HEAD')
    w.program.need(run.returncode not in (0, -11), f'no repository: {run}')
    run = w.program.run('-C', w.project, 'blame', 'src/main.rs', '--apply')
    w.program.need(run.returncode == 2 and b'--notes' in run.stderr, f'--apply alone: {run}')

    # A first commit, and a bare name of the committer in no configuration.
    git(w, 'checkout', '-q', '--orphan', 'fresh')
    first = commit(w, '2026-04-05T10:00:00Z')
    made = ask(w, 'blame', '--notes', first, '--apply')
    w.program.same('a first commit', git(w, 'notes', '--ref', 'ai', 'show', first), made['note'])


def main():
    program = sys.argv[1]
    read, w = world(program), world(program)
    check_read(read)
    check_write(w)
    w.program.passed += read.program.passed
    w.program.failed += read.program.failed
    w.program.finish(80)


if __name__ == '__main__':
    main()
