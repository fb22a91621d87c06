#!/usr/bin/env python3
"""Which copy every command means if several folders have one id: agents x arrangements x directories x commands.

usage: copies_matrix.py PROGRAM [AGENT...]

With agents, all arrangements of their copies are tried, which takes minutes; else some of every second agent, and with REPRISE_LONG
of every one.

Each copy says its own word, so that an answer tells which copy was read. What `list` shows is what is meant; where the
lists of the directory and of all projects differ, the answer is "ambiguous", with both paths.
"""
import itertools
import json
import os
import shutil
import sys
import time

from resume_by_id import World, flat
from support.program import snapshot

SID = 'aaaaaaaa-0000-4000-8000-000000000001'
NOW = time.time()


def iso(age):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(NOW - age))


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
    return f'{home}/.factory/sessions/{flat(d)}/{SID}.jsonl', rows


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
    top = f'{home}/.kimi-code/sessions/wd_{os.path.basename(d)}_{flat(d)[-12:]}/session_{SID}'
    os.makedirs(top, exist_ok=True)
    with open(f'{top}/state.json', 'w', encoding='utf-8') as f:
        json.dump({'cwd': d, 'archived': False}, f)
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


AGENTS = {f.__name__: f for f in (claude, qwen, pi, droid, copilot, kimi, gemini, codex)}


class Case:
    def __init__(self, agent):
        self.w, self.agent, self.name = World(sys.argv[1]), agent, ''
        del self.w.program.env['CLAUDE_CONFIG_DIR']
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
        data = b''.join(json.dumps(r, separators=(',', ':')).encode() + b'\n' for r in rows)
        if kind:
            self.silent.append(f'word{where}')
        if kind == 'empty':
            data = b''
        elif kind == 'binary':
            data = b'\0' * 300
        elif kind == 'torn':
            data = data[:40]
        elif kind == 'metadata':
            data = json.dumps(rows[0] if self.agent != 'claude' else {'type': 'custom-title', 'customTitle': 'T', 'sessionId': SID}).encode() + b'\n'
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
        for where in ('one', 'two', 'far') if len(sys.argv) > 2 else ('one', 'far'):
            self.reading(where)
        if changes:
            self.changing()

    def reading(self, where):
        everywhere, here = self.listed(where, '--all'), self.listed(where)
        self.need(len(everywhere) <= 1 and len(here) <= 1, f'{where}: listed twice: {everywhere} {here}')
        for scope in (['--all'], []) if len(sys.argv) > 2 or where == 'far' else ([],):
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
                if run.returncode == 3 and self.name.startswith('sidechain'):
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
            if run.returncode == 3 and self.name.startswith('sidechain'):
                continue
            if torn:
                self.need(run.returncode == 2, f'{where} --resume: {run.returncode} {run.stdout}')
            elif run.returncode == 0:
                answer = json.loads(run.stdout)
                self.resumes(where, answer, path)
            else:
                self.need(run.returncode in (4,) and not run.stdout, f'{where} --resume: {run.returncode} {run.stderr}')

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
            run = self.run('far', '--all', *change)
            after = self.bytes_of()
            if run.returncode:
                handed = run.returncode == 1 and b'not on your PATH' in run.stderr  # only the agent itself can do it
                empty = run.returncode == 3 and (b'no messages' in run.stderr or self.name.startswith('sidechain'))
                self.need(before == after and (handed or empty or run.returncode in (4, 5)), f'{change}: {run.returncode} {run.stderr}')
                continue
            changed = {p for p in before.keys() | after.keys() if before.get(p) != after.get(p) and os.path.basename(p) != '.'}
            for where, copy in self.copies.items():
                if os.path.realpath(copy) != folder and self.word(path) != f'word{where}':
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
        return {p: v[2] for p, v in snapshot(self.home).items() if v[2] is not None and '/.config/' not in p}


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
    """The newer one by name first and last, times that contradict each other, equal times, an empty copy that is newer."""
    for names, message, file, kind, changes in ((('one', 'two'), -60, -60, None, True), (('two', 'one'), -60, -60, None, False),
                                                (('one', 'two'), 60, -60, None, True), (('one', 'two'), 0, 0, None, False),
                                                (('one', 'two'), 0, -60, 'empty', False)):
        c.clear()
        c.name = f'{names} message {message} file {file} {kind}'
        c.write(names[0], 3600, 3600)
        c.write(names[1], 3600 + message, 3600 + file, kind)
        yield changes


def main():
    passed = failed = 0
    for agent in sys.argv[2:] or list(AGENTS)[::1 if 'REPRISE_LONG' in os.environ else 2]:
        c = Case(agent)
        try:
            for changes in arrange(c) if sys.argv[2:] else few(c):
                c.check(changes)
        finally:
            shutil.rmtree(c.w.top, ignore_errors=True)
        passed += c.w.program.passed
        failed += c.w.program.failed
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or passed < 500 else 0)


if __name__ == '__main__':
    main()
