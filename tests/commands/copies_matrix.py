#!/usr/bin/env python3
"""Which copy every command means if several folders have one id: agents x arrangements x directories x commands.

usage: copies_matrix.py PROGRAM [LIBRARY] [AGENT...]

With agents, all arrangements of their copies are tried, which takes minutes; else some of every third agent, and with REPRISE_LONG
of every one. The library, if it is given, has to mean the same copies.

Each copy says its own word, so that an answer tells which copy was read. What `list` shows is what is meant; where the
lists of the directory and of all projects differ, the answer is "ambiguous", with both paths.
"""
import ctypes
import hashlib
import itertools
import json
import os
import shutil
import sqlite3
import sys
import time
import urllib.parse

from resume_by_id import World, flat
from support.program import snapshot

SID = 'aaaaaaaa-0000-4000-8000-000000000001'
NOW = time.time()
USAGE = 9  # REPRISE_USAGE


def iso(age):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(NOW - age))


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(value, f)


def claude(home, d, word, age):
    rows, last = [], None
    for k, kind in enumerate(('user', 'assistant')):
        text = f'{word} {kind}'
        rows.append({'parentUuid': last, 'isSidechain': False, 'type': kind, 'uuid': f'bbbbbbbb-0000-4000-8000-{k:012}', 'sessionId': SID, 'cwd': d,
                     'timestamp': iso(age + 1 - k), 'message': {'role': kind, 'content': text if kind == 'user' else [{'type': 'text', 'text': text}]}})
        last = rows[-1]['uuid']
    return f'{home}/.claude/projects/{flat(d)}/{SID}.jsonl', rows


def qwen(home, d, word, age):
    rows = [{'uuid': f'u{k}', 'parentUuid': f'u{k - 1}' if k else None, 'sessionId': SID, 'timestamp': iso(age + 1 - k), 'type': kind, 'cwd': d,
             'version': '0.24.4', 'message': {'role': role, 'parts': [{'text': f'{word} {kind}'}]}}
            for k, (kind, role) in enumerate((('user', 'user'), ('assistant', 'model')))]
    return f'{home}/.qwen/projects/{flat(d)}/chats/{SID}.jsonl', rows


def pi(home, d, word, age):
    rows = [{'type': 'session', 'version': 3, 'id': SID, 'timestamp': iso(age + 2), 'cwd': d}]
    for k, kind in enumerate(('user', 'assistant')):
        rows.append({'type': 'message', 'id': f'aaaa000{k}', 'parentId': 'aaaa0000' if k else None, 'timestamp': iso(age + 1 - k),
                     'message': {'role': kind, 'content': [{'type': 'text', 'text': f'{word} {kind}'}], 'timestamp': int((NOW - age - 1 + k) * 1000)}})
    return f'{home}/.pi/agent/sessions/--{d[1:].replace("/", "-")}--/2026-03-01T10-00-00-000Z_{SID}.jsonl', rows


def droid(home, d, word, age):
    rows = [{'type': 'session_start', 'id': SID, 'title': f'{word} user', 'owner': 'x', 'cwd': d}]
    rows += [{'type': 'message', 'id': f'm{k}', 'timestamp': iso(age + 1 - k), 'message': {'role': kind, 'content': [
        {'type': 'text', 'text': f'{word} {kind}'}]}} for k, kind in enumerate(('user', 'assistant'))]
    return f'{home}/.factory/sessions/{d.replace("/", "-")}/{SID}.jsonl', rows


def copilot(home, d, word, age):
    rows = [('session.start', {'sessionId': SID, 'version': 1, 'producer': 'copilot-agent', 'copilotVersion': '1.0.102', 'startTime': iso(age + 2),
                               'context': {'cwd': d}}),
            ('user.message', {'content': f'{word} user', 'attachments': []}),
            ('assistant.message', {'messageId': 'm', 'content': f'{word} assistant', 'toolRequests': []})]
    rows = [{'type': kind, 'data': data, 'id': f'e{k}', 'parentId': f'e{k - 1}' if k else None, 'timestamp': iso(age + 2 - k)}
            for k, (kind, data) in enumerate(rows)]
    return f'{home}/.copilot/session-state/{SID}' + ('/events.jsonl' if d.endswith('one') else '.jsonl'), rows


def kimi(home, d, word, age):
    at = int((NOW - age) * 1000)
    rows = [{'type': 'metadata', 'protocol_version': '1.5', 'created_at': at - 2000},
            {'type': 'turn.prompt', 'agentId': 'main', 'input': [{'type': 'text', 'text': f'{word} user'}], 'origin': {'kind': 'user'},
             'promptId': 'msg_0', 'turnId': 0, 'time': at - 1000},
            {'type': 'context.append_loop_event', 'agentId': 'main', 'event': {'type': 'content.part', 'part': {
                'type': 'text', 'text': f'{word} assistant'}}, 'time': at}]
    top = f'{home}/.kimi-code/sessions/wd_{os.path.basename(d)}_{hashlib.sha256(d.encode()).hexdigest()[:12]}/session_{SID}'
    write_json(f'{top}/state.json', {'cwd': d, 'archived': False})
    return f'{top}/agents/main/wire.jsonl', rows


def gemini(home, d, word, age):
    own = f'{home}/.gemini/tmp/{os.path.basename(d)}'
    os.makedirs(own, exist_ok=True)
    with open(f'{own}/.project_root', 'w', encoding='utf-8') as f:
        f.write(d)
    rows = [{'sessionId': SID, 'projectHash': 'x', 'startTime': iso(age + 2), 'lastUpdated': iso(age), 'kind': 'main'},
            {'id': 'g1', 'timestamp': iso(age + 1), 'type': 'user', 'content': [{'text': f'{word} user'}]},
            {'id': 'g2', 'timestamp': iso(age), 'type': 'gemini', 'content': f'{word} assistant', 'model': 'gemini-3'}]
    return f'{own}/chats/session-2026-11-20T09-00-{SID[:8]}.jsonl', rows


def codex(home, d, word, age):
    rows = [{'timestamp': iso(age + 2), 'type': 'session_meta', 'payload': {'id': SID, 'timestamp': iso(age + 2), 'cwd': d, 'originator': 'codex_cli_rs',
                                                                         'cli_version': '0.120.0', 'source': 'cli'}},
            {'timestamp': iso(age + 1), 'type': 'response_item', 'payload': {'type': 'message', 'role': 'user', 'content': [
                {'type': 'input_text', 'text': f'{word} user'}]}},
            {'timestamp': iso(age + 1), 'type': 'event_msg', 'payload': {'type': 'user_message', 'message': f'{word} user'}},
            {'timestamp': iso(age), 'type': 'response_item', 'payload': {'type': 'message', 'role': 'assistant', 'content': [
                {'type': 'output_text', 'text': f'{word} assistant'}]}}]
    n = ('one', 'two', 'three').index(os.path.basename(d))
    return f'{home}/.codex/sessions/2026/03/0{n + 1}/rollout-2026-03-0{n + 1}T10-00-00-{SID}.jsonl', rows


def codex_archived(home, d, word, age):
    """The same, where the copy of the second directory is in the archive."""
    path, rows = codex(home, d, word, age)
    return path.replace('sessions/2026/03/02', 'archived_sessions'), rows


def grok(home, d, word, age):
    top = f'{home}/.grok/sessions/{urllib.parse.quote(d, safe="")}/{SID}'
    write_json(f'{top}/summary.json', {'info': {'id': SID, 'cwd': d}, 'generated_title': '', 'last_active_at': iso(age)})
    return f'{top}/updates.jsonl', [{'timestamp': int(NOW - age - 1 + k), 'method': 'session/update', 'params': {'update': {
        'sessionUpdate': kind, 'content': {'type': 'text', 'text': f'{word} {text}'}}}}
        for k, (kind, text) in enumerate((('user_message_chunk', 'user'), ('agent_message_chunk', 'assistant')))]


def kiro(home, d, word, age):
    top = f'{home}/.kiro/sessions/{hashlib.sha256(d.encode()).hexdigest()[:16]}/sess_{SID}'
    write_json(f'{top}/session.json', {'id': f'sess_{SID}', 'title': '', 'workspacePaths': [d]})
    return f'{top}/messages.jsonl', [{'id': str(k), 'timestamp': iso(age + 1 - k), 'payload': {
        'type': kind, 'operationType': 'Say', 'content': f'{word} {kind}'}} for k, kind in enumerate(('user', 'assistant'))]


def cursor(home, d, word, age):
    top = f'{home}/.config/cursor/chats/{hashlib.md5(d.encode()).hexdigest()}/{SID}'
    write_json(f'{top}/meta.json', {'title': '', 'cwd': d, 'updatedAtMs': int((NOW - age) * 1000)})
    db = sqlite3.connect(':memory:', isolation_level=None)
    db.executescript('CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);')
    names = []
    for kind in 'user', 'assistant', None:
        text = f'<user_query>{word} {kind}</user_query>' if kind == 'user' else f'{word} {kind}'
        data = json.dumps({'role': kind, 'content': text}).encode() if kind else b''.join(b'\x0a\x20' + bytes.fromhex(n) for n in names)
        names.append(hashlib.sha256(data).hexdigest())
        db.execute('INSERT INTO blobs VALUES (?, ?)', (names[-1], data))
    meta = {'latestRootBlobId': names[-1], 'name': '', 'createdAt': int((NOW - age) * 1000)}
    db.execute("INSERT INTO meta VALUES ('0', ?)", (json.dumps(meta).encode().hex(),))
    return f'{top}/store.db', db.serialize()


AGENTS = {f.__name__: f for f in (
    claude, qwen, pi, kimi, droid, copilot, codex, gemini, grok, cursor, codex_archived, kiro)}


LIBRARY = next((a for a in sys.argv[2:] if '.so' in os.path.basename(a)), None)
NAMED = [a for a in sys.argv[2:] if a != LIBRARY]


class Options(ctypes.Structure):
    """The beginning of struct reprise_options."""
    _fields_ = [('size', ctypes.c_size_t), ('system', ctypes.c_char_p), ('path', ctypes.c_char_p), ('directory', ctypes.c_char_p),
                ('environment', ctypes.POINTER(ctypes.c_char_p))]


def library_path(env, directory, sid):
    """The path of the session that the library opens for the id, or the code of its refusal."""
    reprise = ctypes.CDLL(LIBRARY)
    reprise.reprise_session_path.restype = ctypes.c_char_p
    texts = [f'{k}={v}'.encode() for k, v in env.items()] + [None]
    options = Options(ctypes.sizeof(Options), None, None, directory.encode(), (ctypes.c_char_p * len(texts))(*texts))
    store, session = ctypes.c_void_p(), ctypes.c_void_p()
    code = reprise.reprise_open(ctypes.byref(options), ctypes.byref(store), None)
    if not code:
        code = reprise.reprise_session_open(store, sid.encode(), ctypes.byref(session), None)
    path = code or reprise.reprise_session_path(session).decode()
    reprise.reprise_session_close(session)
    reprise.reprise_close(store)
    return path


class Case:
    def __init__(self, agent):
        self.w, self.agent, self.name = World(sys.argv[1]), agent, ''
        for name in 'CLAUDE_CONFIG_DIR', 'XDG_CONFIG_HOME':
            del self.w.program.env[name]
        self.home = self.w.home
        self.dirs = {n: f'{self.home}/{n}' for n in ('one', 'two', 'three', 'far')}
        for d in self.dirs.values():
            os.makedirs(d)
        self.before = set(os.listdir(self.home))
        self.copies = {}

    def clear(self):
        for name in set(os.listdir(self.home)) - self.before:
            shutil.rmtree(f'{self.home}/{name}')
        self.copies, self.silent = {}, ['nothing']

    def write(self, where, message, file, kind=None):
        path, rows = AGENTS[self.agent](self.home, self.dirs[where], f'word{where}', message)
        data = rows if isinstance(rows, bytes) else b''.join(json.dumps(r, separators=(',', ':')).encode() + b'\n' for r in rows)
        if kind:
            self.silent.append(f'word{where}')
        if kind == 'empty':
            data = b''
        elif kind == 'binary':
            data = b'\0' * 300
        elif kind == 'torn':
            data = data[:40]
        elif kind == 'metadata':
            data = json.dumps({} if isinstance(rows, bytes) else rows[0] if self.agent != 'claude' else {'type': 'custom-title', 'customTitle': 'T', 'sessionId': SID}).encode() + b'\n'
        elif kind == 'sidechain':
            data = data.replace(b'"isSidechain":false', b'"isSidechain":true')
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data)
        os.utime(path, (NOW - file,) * 2)
        self.copies[where] = path
        return path

    def need(self, holds, text):
        self.w.program.need(holds, f'{self.agent} {self.name}: {text}')

    def run(self, where, *args):
        return self.w.program.run('-C', self.dirs[where], *args)

    def listed(self, where, *args):
        run = self.run(where, *args, 'list', '--json')
        rows = json.loads(run.stdout or b'[]')
        return [(r['path'], r['sessionId']) for r in rows]

    def word(self, path):
        return next((f'word{n}' for n, p in self.copies.items() if os.path.realpath(p) == os.path.realpath(path)
                     or os.path.realpath(p).startswith(os.path.realpath(path) + '/')), 'nothing')

    # ---- checks ----

    def check(self, changes):
        for where in ('one', 'two', 'far') if NAMED else ('one', 'far'):
            self.reading(where)
        if changes:
            self.changing()

    def reading(self, where):
        everywhere, here = self.listed(where, '--all'), self.listed(where)
        self.need(len(everywhere) <= 1 and len(here) <= 1, f'{where}: listed twice: {everywhere} {here}')
        self.newest(where, here)
        if LIBRARY and everywhere and 'sidechain' not in self.name:
            path = library_path(self.w.program.env, self.dirs[where], everywhere[0][1])
            shown = {os.path.realpath(rows[0][0]) for rows in (everywhere, here) if rows}
            self.need(path == USAGE if len(shown) > 1 else isinstance(path, str) and os.path.realpath(path) in shown,
                      f'{where}: the library opens {path}, listed: {shown}')
        for scope in (['--all'], []) if NAMED or where == 'far' else ([],):
            shown = everywhere if scope else here or everywhere
            if not shown:
                continue
            path, sid = shown[0]
            torn = not scope and everywhere and os.path.realpath(path) != os.path.realpath(everywhere[0][0])
            word, others = self.word(path), [f'word{n}' for n in self.copies if f'word{n}' != self.word(path)]
            if word == 'nothing':
                others = []
            for command in (['info', sid, '--json'], ['info', sid[:12], '--json'], ['messages', sid], ['export', sid, '--format', 'md', '-o', '-'],
                            ['restore', sid], ['checkpoints', sid, '--json'], ['rewind', sid, '--to', 'bbbbbbbb-0000-4000-8000-000000000000', '--json'], ['files', sid, '--json'], ['doctor', sid, '--json']):
                run = self.run(where, *scope, *command)
                if run.returncode == 3 and command[0] != 'rewind' and 'sidechain' in self.name:
                    # The agent and its SDK find the sub-agent's copy first, so that both paths are named.
                    self.need(all(c.encode() in run.stderr for c in self.copies.values()), f'{where} {scope} {command}: {run.stderr}')
                    continue
                if torn and not (run.returncode == 0 and command[0] == 'doctor'):
                    text = run.stderr.decode()
                    self.need(run.returncode == 2 and 'ambiguous' in text and path in text and everywhere[0][0] in text,
                              f'{where} {scope}: {command}: not refused: {run.returncode} {run.stdout[:300]} {text}')
                    continue
                text = run.stdout.decode(errors='replace')
                if command[0] == 'info':
                    self.need(run.returncode == 0 and json.loads(text)['path'] == path, f'{where} {scope}: {command}: {run.returncode} {text[:300]} {run.stderr}')
                self.need(not any(o in text for o in others), f'{where} {scope} {command}: reads another copy than {word}: {text[:400]}')
                if command[0] in ('messages', 'export') and word not in self.silent:
                    self.need(run.returncode == 0 and word in text, f'{where} {scope} {command}: {run.returncode} {text[:300]} {run.stderr}')
            run = self.run(where, *scope, '--resume', sid, '--print', '--json')
            if run.returncode == 3 and 'sidechain' in self.name:
                continue
            if torn:
                self.need(run.returncode == 2, f'{where} --resume: {run.returncode} {run.stdout}')
            elif run.returncode == 0:
                answer = json.loads(run.stdout)
                self.resumes(where, answer, path)
            else:
                self.need(run.returncode in (4,) and not run.stdout, f'{where} --resume: {run.returncode} {run.stderr}')

    def newest(self, where, here):
        """-c means the copy that the list of the directory shows."""
        run = self.run(where, '-c', '--print', '--json')
        if run.returncode == 0 and here:
            self.resumes(where, json.loads(run.stdout), here[0][0])
        else:
            self.need(run.returncode == (4 if here else 3) and not run.stdout, f'{where} -c: {here} {run.returncode} {run.stdout} {run.stderr}')

    def resumes(self, where, answer, path):
        """The agent, started there with that word, would find the copy."""
        if answer['command'][-1] == path:
            return
        found = self.listed(os.path.basename(answer['cwd']))
        self.need([os.path.realpath(p) for p, _ in found] == [os.path.realpath(path)], f'{where}: --resume {answer}: its directory lists {found}, not {path}')

    def changing(self):
        everywhere = self.listed('far', '--all')
        if not everywhere:
            return
        path, sid = everywhere[0]
        folder = os.path.realpath(path)
        for change in (['rename', sid, 'Another name'], ['tag', sid, 'x'], ['archive', sid], ['fork', sid], ['delete', sid]):
            before = self.bytes_of()
            # Two hard links are one file: what is written to it has both names, and a deletion takes one of them.
            one_file = {copy for copy in self.copies.values() if change[0] != 'delete' and os.path.samefile(copy, path)}
            run = self.run('far', '--all', *change)
            after = self.bytes_of()
            if run.returncode:
                handed = run.returncode == 1 and b'not on your PATH' in run.stderr  # only the agent itself can do it
                empty = run.returncode == 3 and (b'no messages' in run.stderr or self.name.startswith('sidechain'))
                self.need(before == after and (handed or empty or run.returncode in (4, 5)), f'{change}: {run.returncode} {run.stderr}')
                continue
            changed = {p for p in before.keys() | after.keys() if before.get(p) != after.get(p) and os.path.basename(p) != '.'}
            for where, copy in self.copies.items():
                if copy not in one_file and os.path.realpath(copy) != folder and self.word(path) != f'word{where}':
                    self.need(copy not in changed, f'{change[0]}: another copy is changed: {copy}')
                elif change[0] == 'delete':
                    self.need(copy in changed, f'delete: {copy} is left: {changed}')
            if change[0] == 'rename':
                left = self.listed('far', '--all')
                self.need([p for p, _ in left] == [path], f'rename: {left} is listed, not {path}')
                shown = json.loads(self.run('far', '--all', 'info', sid, '--json').stdout or b'{}')
                self.need(shown.get('path') == path and 'Another name' in json.dumps(shown), f'rename: info: {shown}')
            if change[0] == 'archive':
                run = self.run('far', '--all', 'unarchive', sid)
                self.need(run.returncode == 0, f'unarchive: {run.returncode} {run.stderr}')
                self.need(self.run('far', '--all', 'undo').returncode == 0, 'undo of unarchive')
            undo = self.run('far', '--all', 'undo')
            now = self.bytes_of()
            self.need(undo.returncode == 0 and now == before,
                      f'undo of {change[0]}: {undo.returncode} {undo.stderr} {sorted(p for p in before.keys() | now.keys() if before.get(p) != now.get(p))}')
            again = self.listed('far', '--all')
            self.need(again == everywhere, f'after the undo of {change[0]}: {again}, was {everywhere}')

    def bytes_of(self):
        return {p: v[2] for p, v in snapshot(self.home).items() if v[2] is not None and '/.config/reprise' not in p}


def arrange(c):
    """All arrangements, each with whether it is also changed."""
    for names in ('one', 'two'), ('two', 'one'):
        for message, file in itertools.product((60, 0, -60), repeat=2):
            c.clear()
            c.name = f'{names} message {message} file {file}'
            c.write(names[0], 3600, 3600)
            c.write(names[1], 3600 + message, 3600 + file)
            yield names[0] == 'one' or (message, file) in ((60, 60), (0, 0))
    for kind in ('empty', 'binary', 'torn', 'metadata', 'sidechain'):
        if kind == 'sidechain' and c.agent != 'claude':
            continue
        for bad, file in itertools.product(('one', 'two'), (60, -60)):
            c.clear()
            c.name = f'{kind} copy in {bad} file {file}'
            c.write(bad, 3600 + file, 3600 + file, kind)
            c.write('two' if bad == 'one' else 'one', 3600, 3600)
            yield file < 0
    if c.agent != 'copilot':
        for ages in itertools.permutations((100, 200, 300)):
            c.clear()
            c.name = f'three copies {ages}'
            for where, age in zip(('one', 'two', 'three'), ages):
                c.write(where, age, age)
            yield ages[0] == 100
        for target, link in ('one', 'two'), ('two', 'one'):
            for what in 'file', 'hard', 'folder':
                c.clear()
                c.name = f'{link} is a {what} link to {target}'
                path = c.write(target, 3600, 3600)
                other, _ = AGENTS[c.agent](c.home, c.dirs[link], 'x', 0)
                if what == 'folder':
                    if os.path.exists(os.path.dirname(other)):
                        continue
                    os.makedirs(os.path.dirname(os.path.dirname(other)), exist_ok=True)
                    os.symlink(os.path.dirname(path), os.path.dirname(other))
                else:
                    os.makedirs(os.path.dirname(other), exist_ok=True)
                    (os.symlink if what == 'file' else os.link)(path, other)
                yield what != 'file'


def few(c):
    """The newer one by name first and last, times that contradict each other, equal times, an empty copy that is newer, a sub-agent's copy
    that the agent finds first."""
    for names, message, file, kind, changes in ((('one', 'two'), -60, -60, None, True), (('two', 'one'), -60, -60, None, False),
                                                (('one', 'two'), 60, -60, None, True), (('one', 'two'), 0, 0, None, False),
                                                (('one', 'two'), 0, -60, 'empty', False), (('two', 'one'), -60, -60, 'sidechain', False)):
        if kind == 'sidechain' and c.agent != 'claude':
            continue
        c.clear()
        c.name = f'{names} message {message} file {file} {kind}'
        c.write(names[0], 3600, 3600)
        c.write(names[1], 3600 + message, 3600 + file, kind)
        yield changes


def main():
    passed = failed = 0
    for agent in NAMED or list(AGENTS)[::1 if 'REPRISE_LONG' in os.environ else 3]:
        c = Case(agent)
        try:
            for changes in arrange(c) if NAMED else few(c):
                c.check(changes)
        finally:
            shutil.rmtree(c.w.top, ignore_errors=True)
        passed += c.w.program.passed
        failed += c.w.program.failed
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or passed < 500 else 0)


if __name__ == '__main__':
    main()
