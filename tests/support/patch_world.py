"""A project in which the test works as an agent that records patches, and the rewinds of its sessions."""
import datetime
import difflib
import json
import os
import shutil
import subprocess
import tempfile
import time

from support.program import Program

counts = {'passed': 0, 'failed': 0}  # of the worlds that were removed


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.%f')[:23] + 'Z'


class PatchWorld:
    """A session whose calls are done as its agent does them, and recorded as it records them."""

    def __init__(self, program, root='home/work'):
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.home, self.root = f'{self.top}/home', f'{self.top}/{root}'
        os.makedirs(self.root)
        self.p = Program(program, self.home, {'XDG_STATE_HOME': f'{self.top}/state', 'REPRISE_PROC_DIR': self.top})
        self.id, self.calls, self.trees, self.points, self.rows = '01a203e0-7efc-71a2-810d-ce24696a2e5f', 0, [], [], []

    def path(self, name):
        return os.path.join(self.root, name)

    def put(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w', encoding='utf-8', newline='') as f:
            f.write(text)

    def get(self, name):
        with open(self.path(name), encoding='utf-8', newline='') as f:
            return f.read()

    def tree(self):
        return {os.path.relpath(os.path.join(folder, x), self.root): self.get(os.path.join(folder, x))
                for folder, _, files in os.walk(self.root) for x in files}

    def patch(self, name, before, after, context):
        lines = [[line if line.endswith('\n') else line + '\n\\ No newline at end of file\n' for line in text.splitlines(True)]
                 for text in (before, after)]
        return ''.join(difflib.unified_diff(*lines, name, name, n=context))

    def plan(self, at):
        run = self.p.run('rewind', '-C', self.root, f'{self.AGENT}:{self.id}', '--to', self.points[at], '--dry-run')
        return run.stdout.decode() + run.stderr.decode()

    def gives_back(self, what, at, but=()):
        """All files but those named are as they were before the prompt, and the undo is exact."""
        final = self.tree()
        run = self.p.run('rewind', '-C', self.root, f'{self.AGENT}:{self.id}', '--to', self.points[at], '--apply', '--skip-refused')
        want = {**self.trees[at]}
        for name in but:
            want.pop(name, None)
            if name in final:
                want[name] = final[name]
        now = self.tree()
        wrong = [name for name in {*now, *want} if now.get(name) != want.get(name)]
        self.p.same(f'{what}: prompt {at}' + (f': {run}' if wrong else ''), wrong, [])
        if now != final:
            self.p.need(run.returncode in (0, 4), f'{what}: {run}')
            undo = self.p.run('undo', '--all')
            self.p.need(self.tree() == final, f'{what}: the undo: {undo.stderr!r}')

    def remove(self):
        shutil.rmtree(self.top)
        counts['passed'] += self.p.passed
        counts['failed'] += self.p.failed


class PiWorld(PatchWorld):
    """pi, and what it records."""

    AGENT = 'pi'

    def __init__(self, program, root='home/work'):
        super().__init__(program, root)
        self.rows = [{'type': 'session', 'version': 3, 'id': self.id, 'timestamp': now(), 'cwd': self.root}]

    def row(self, role, content, **more):
        self.rows.append({'type': 'message', 'id': f'{len(self.rows):08x}', 'parentId': self.rows[-1]['id'] if len(self.rows) > 1 else None,
                          'timestamp': now(), 'message': {'role': role, 'content': content, **more}})
        return self.rows[-1]['id']

    def prompt(self, text):
        self.trees.append(self.tree())
        self.points.append(self.row('user', [{'type': 'text', 'text': text}]))
        time.sleep(0.02)

    def call(self, name, **arguments):
        self.calls += 1
        self.row('assistant', [{'type': 'toolCall', 'id': f'call_{self.calls}', 'name': name, 'arguments': arguments}])

    def result(self, name, text, failed=False, **details):
        self.row('toolResult', [{'type': 'text', 'text': text}], toolCallId=f'call_{self.calls}', toolName=name, isError=failed,
                 **({'details': details} if details else {}))

    def wait(self, name):
        """The row of a change is later than the file, which says that nothing was written in the same millisecond."""
        while time.time_ns() // 10**6 <= os.stat(self.path(name)).st_mtime_ns // 10**6:
            time.sleep(0.001)

    def edit(self, name, old, new, patched=True, as_path=None):
        before = self.get(name)
        self.call('edit', path=as_path or name, edits=[{'oldText': old, 'newText': new}])
        after = before.replace(old, new, 1)
        with open(self.path(name), 'r+', encoding='utf-8', newline='') as f:
            f.write(after)
            f.truncate()
        self.wait(name)
        patch = self.patch(name, before.replace('\r\n', '\n'), after.replace('\r\n', '\n'), 4)
        self.result('edit', f'Successfully replaced 1 block(s) in {name}.', **({'patch': patch} if patched else {'diff': 'x'}))

    def write(self, name, text):
        self.call('write', path=name, content=text)
        self.put(name, text)
        self.wait(name)
        self.result('write', f'Successfully wrote to {name}')

    def read(self, name, cut=False):
        self.call('read', path=name)
        self.result('read', self.get(name), **({'truncation': {'truncated': True}} if cut else {}))

    def bash(self, command, run=True):
        self.call('bash', command=command)
        done = subprocess.run(['sh', '-c', command], cwd=self.root, capture_output=True, check=False) if run else None
        self.result('bash', done.stdout.decode() if done and done.stdout else '(no output)')

    def save(self, tail=''):
        folder = f'{self.home}/.pi/agent/sessions/--{self.root[1:].replace("/", "-")}--'
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(f'{folder}/2026-11-29T01-00-00-000Z_{self.id}.jsonl', 'w', encoding='utf-8') as f:
            f.writelines(json.dumps(row, ensure_ascii=False) + '\n' for row in self.rows)
            f.write(tail)


class ContinueWorld(PatchWorld):
    """Continue's CLI. Its elements have no times; each answer has one call, or those that `together` makes."""

    AGENT = 'continue'

    def prompt(self, text):
        self.trees.append(self.tree())
        self.points.append(f'prompt-{len(self.points) + 1}')
        self.rows.append({'message': {'role': 'user', 'content': text}, 'contextItems': []})

    def call(self, name, said, status='done', together=False, **arguments):
        self.calls += 1
        state = {'toolCallId': f'call_{self.calls}', 'status': status, 'parsedArgs': arguments,
                 'toolCall': {'id': f'call_{self.calls}', 'type': 'function', 'function': {'name': name, 'arguments': json.dumps(arguments)}}}
        if said is not None:
            state['output'] = [{'content': said, 'name': 'Tool Result', 'description': 'Tool execution result'}]
        if together:
            self.rows[-1]['toolCallStates'].append(state)
        else:
            self.rows.append({'message': {'role': 'assistant', 'content': '', 'toolCalls': []}, 'contextItems': [], 'toolCallStates': [state]})

    def read(self, name, together=False):
        path = self.path(name)
        if os.path.exists(path):
            with open(path, encoding='utf-8', errors='replace', newline='') as f:
                self.call('Read', f'Content of {path}:\n{f.read()}', together=together, filepath=path)
        else:
            self.call('Read', f'Error executing tool Read: File does not exist: {path}', 'errored', together, filepath=path)

    def overwrite(self, name, change):
        with open(self.path(name), encoding='utf-8', errors='replace', newline='') as f:
            before = f.read()
        with open(self.path(name), 'w', encoding='utf-8', newline='') as f:
            f.write(change(before))
        return 'Diff:\n' + '=' * 67 + '\n' + self.patch(self.path(name), before, change(before), 3)

    def edit(self, name, old, new, together=False):
        diff = self.overwrite(name, lambda text: text.replace(old, new, 1))
        self.call('Edit', f'Successfully edited {self.path(name)}\n{diff}', together=together, file_path=self.path(name), old_string=old, new_string=new)

    def write(self, name, text):
        there = os.path.exists(self.path(name)) and os.path.getsize(self.path(name))
        diff = self.overwrite(name, lambda _: text) if there else ''
        if not there:
            self.put(name, text)
        self.call('Write', f'Successfully wrote to file: {self.path(name)}\n{diff}' if there else f'Successfully created file: {self.path(name)}',
                  filepath=self.path(name), content=text)

    def bash(self, command, together=False):
        done = subprocess.run(['sh', '-c', command], cwd=self.root, capture_output=True, check=False)
        self.call('Bash', done.stdout.decode(), together=together, command=command)

    def save(self):
        folder = f'{self.home}/.continue/sessions'
        os.makedirs(folder, exist_ok=True)
        with open(f'{folder}/{self.id}.json', 'w', encoding='utf-8') as f:
            json.dump({'sessionId': self.id, 'title': 'Untitled Session', 'workspaceDirectory': self.root, 'history': self.rows}, f, indent=2,
                      ensure_ascii=False)


LINES = ''.join(f'line {i}\n' for i in range(40))
ONE = LINES.replace('\n', ' ')  # has no line ends, which pi does not record
