"""A rewind of pi's sessions, from what their rows prove: the patches of edits, the texts of writes, and reads.
   usage: pi_rewind.py REPRISE"""
import datetime
import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from support.program import Program


counts = {'passed': 0, 'failed': 0}  # of the worlds that were removed


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.%f')[:23] + 'Z'


class World:
    """A session whose calls are done as pi does them, and recorded as pi records them."""

    def __init__(self, program, root='home/work'):
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.home, self.root = f'{self.top}/home', f'{self.top}/{root}'
        os.makedirs(self.root)
        self.p = Program(program, self.home, {'XDG_STATE_HOME': f'{self.top}/state', 'REPRISE_PROC_DIR': self.top})
        self.id, self.calls, self.trees, self.points = '01a203e0-7efc-71a2-810d-ce24696a2e5f', 0, [], []
        self.rows = [{'type': 'session', 'version': 3, 'id': self.id, 'timestamp': now(), 'cwd': self.root}]

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

    def edit(self, name, old, new, patched=True, as_path=None):
        before = self.get(name)
        self.call('edit', path=as_path or name, edits=[{'oldText': old, 'newText': new}])
        after = before.replace(old, new, 1)
        with open(self.path(name), 'r+', encoding='utf-8', newline='') as f:
            f.write(after)
            f.truncate()
        lines = [[line if line.endswith('\n') else line + '\n\\ No newline at end of file\n' for line in
                  text.replace('\r\n', '\n').splitlines(True)] for text in (before, after)]
        patch = ''.join(difflib.unified_diff(*lines, name, name, n=4))
        self.result('edit', f'Successfully replaced 1 block(s) in {name}.', **({'patch': patch} if patched else {'diff': 'x'}))

    def write(self, name, text):
        self.call('write', path=name, content=text)
        self.put(name, text)
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

    def plan(self, at):
        run = self.p.run('rewind', '-C', self.root, f'pi:{self.id}', '--to', self.points[at], '--dry-run')
        return run.stdout.decode() + run.stderr.decode()

    def gives_back(self, what, at, but=()):
        """All files but those named are as they were before the prompt, and the undo is exact."""
        final = self.tree()
        run = self.p.run('rewind', '-C', self.root, f'pi:{self.id}', '--to', self.points[at], '--apply', '--skip-refused')
        want = {**self.trees[at]}
        for name in but:
            want.pop(name, None)
            if name in final:
                want[name] = final[name]
        now = self.tree()
        self.p.same(f'{what}: prompt {at}', [name for name in {*now, *want} if now.get(name) != want.get(name)], [])
        if now != final:
            self.p.need(run.returncode in (0, 4), f'{what}: {run}')
            undo = self.p.run('undo', '--all')
            self.p.need(self.tree() == final, f'{what}: the undo: {undo.stderr!r}')

    def remove(self):
        shutil.rmtree(self.top)
        counts['passed'] += self.p.passed
        counts['failed'] += self.p.failed


LINES = ''.join(f'line {i}\n' for i in range(40))


def turns(program):
    """Edits of two turns in one file, a new file that is then rewritten, and a file in a folder with an odd name."""
    w = World(program)
    w.put('a.txt', LINES)
    w.put('odd é/b c.md', 'no newline')
    w.prompt('one')
    w.read('a.txt')
    w.edit('a.txt', 'line 3\n', 'line three\n')
    w.edit('odd é/b c.md', 'no', 'still no')
    w.write('new.txt', 'new\n')
    w.prompt('two')
    w.edit('a.txt', 'line 30\n', '')
    w.read('new.txt')
    w.write('new.txt', 'newer\n')
    w.prompt('three')
    w.edit('a.txt', 'line 31', 'row 31', as_path='@a.txt')
    w.edit('new.txt', 'newer', 'newest', as_path=f'~/{os.path.relpath(w.path("new.txt"), w.home)}')
    w.save()
    for at in (0, 1, 2):
        w.gives_back('turns', at)
    w.p.same('the points', [(p['id'], p['prompt'], p['files']) for p in w.p.json('checkpoints', '-C', w.root, f'pi:{w.id}')],
             [(i, n, k) for i, n, k in zip(w.points, ('one', 'two', 'three'), (3, 2, 2))])
    w.p.need('rewind' in w.p.json('list', '-C', w.root)[0]['can'], 'the list offers it')
    return w


def hands(program):
    """What a person changed is not the session's: before, between and after its patches."""
    w = World(program)
    w.put('a.txt', LINES)
    w.put('b.txt', LINES)
    w.prompt('one')
    w.edit('a.txt', 'line 3\n', 'line three\n')
    w.edit('b.txt', 'line 3\n', 'line three\n')
    time.sleep(0.05)
    w.put('a.txt', w.get('a.txt').replace('line three', 'my own'))
    w.save()
    w.p.need('changed by hand' in w.plan(0), f'a hand edit on the patch: {w.plan(0)}')
    w.gives_back('hands', 0, but=['a.txt'])
    return w


def commands(program):
    """Commands may have changed anything, unless they are known to be harmless; tools of extensions likewise."""
    for step, held in ((lambda w: w.bash('ls -la'), False), (lambda w: w.bash('make 2>/dev/null; true'), True),
                       (lambda w: w.bash('git status', run=False), False), (lambda w: (w.call('deploy', to='x'), w.result('deploy', 'ok')), True),
                       (lambda w: (w.call('ls', path='.'), w.result('ls', 'a.txt')), False),
                       (lambda w: w.row('bashExecution', 'x', command='make'), True)):
        w = World(program)
        w.put('a.txt', LINES)
        w.prompt('one')
        w.edit('a.txt', 'line 3\n', 'line three\n')
        step(w)
        time.sleep(0.02)
        w.edit('a.txt', 'line 7\n', 'line seven\n')
        w.save()
        w.gives_back('commands', 0, but=['a.txt'] if held else [])
        w.remove()
    w = World(program)
    w.put('a.txt', LINES)
    w.prompt('one')
    w.edit('a.txt', 'line 3\n', 'line three\n')
    w.bash('rm a.txt')
    w.save()
    w.p.need('restore' not in w.plan(0).split('note:')[0], f'removed by a command after its patch: {w.plan(0)}')
    return w


def unsure(program):
    """Calls that failed or have no result, rows that are torn, edits without a patch: the file is held back with the reason."""
    for say, name, add in (('no result', 'edit', lambda w: w.call('edit', path='a.txt', edits=[])),
                           ('failed, perhaps', 'edit', lambda w: (w.call('edit', path='a.txt'), w.result('edit', 'Operation aborted', True))),
                           ('not recorded', 'edit', lambda w: w.edit('a.txt', 'line 1\n', 'LINE\n', patched=False)),
                           ('no result', 'write', lambda w: w.call('write', path='a.txt', content='x'))):
        w = World(program)
        w.put('a.txt', LINES)
        w.prompt('one')
        add(w)
        w.prompt('two')
        w.edit('a.txt', 'line 3\n', 'line three\n')
        w.save()
        w.p.need(say in w.plan(0), f'{name} {say}: {w.plan(0)}')
        w.gives_back(f'unsure, {name}', 0, but=['a.txt'])
        w.gives_back(f'unsure, {name}', 1)
        w.remove()
    w = World(program)
    w.put('a.txt', LINES)
    w.prompt('one')
    w.edit('a.txt', 'line 3\n', 'line three\n')
    w.write('a.txt', w.get('a.txt').replace('line 3', 'row 3'))
    w.edit('a.txt', 'line 9\n', 'line nine\n')
    w.rows[-3]['parentId'] = w.rows[-4]['parentId']
    del w.rows[-4]  # the call of the write
    w.save()
    w.gives_back('a call whose row is lost', 0, but=['a.txt'])
    w.remove()
    w = World(program)
    w.put('a.txt', LINES)
    w.prompt('one')
    for words in ('Could not find the exact text in a.txt.', 'Found 2 occurrences of the text in a.txt.'):
        w.call('edit', path='a.txt', edits=[])
        w.result('edit', words, True)
    w.edit('a.txt', 'line 3\n', 'line three\n')
    w.save()
    w.gives_back('an edit that found nothing did nothing', 0)
    w.save('{"type":"message","id":"torn","message":{"role":"toolRes')
    w.gives_back('a torn last row is no change', 0)
    return w


def replaced(program):
    """A write replaces a file of which only a read shows the text; line ends that pi does not record."""
    w = World(program)
    w.put('old.txt', 'mine\n')
    w.put('read.txt', 'seen\n')
    w.put('dos.txt', 'a\r\nb\r\nc\r\n')
    w.prompt('one')
    w.write('old.txt', 'theirs\n')
    w.read('read.txt', cut=True)
    w.write('read.txt', 'changed\n')
    w.edit('dos.txt', 'b', 'B')
    w.save()
    w.gives_back('replaced', 0, but=['old.txt', 'read.txt', 'dos.txt'])
    return w


def branches(program):
    """A prompt of a branch that was left is no point, but what its turn did counts."""
    w = World(program)
    w.put('a.txt', LINES)
    w.prompt('one')
    w.read('a.txt')
    w.edit('a.txt', 'line 3\n', 'line three\n')
    w.prompt('left')
    w.edit('a.txt', 'line 7\n', 'line seven\n')
    w.prompt('again')
    w.rows[-1]['parentId'] = next(row['parentId'] for row in w.rows if row.get('id') == w.points[1])
    w.edit('a.txt', 'line 9\n', 'line nine\n')
    w.save()
    w.p.same('its points', [p['prompt'] for p in w.p.json('checkpoints', '-C', w.root, f'pi:{w.id}')], ['one', 'again'])
    w.p.same('not a point', w.p.run('rewind', '-C', w.root, f'pi:{w.id}', '--to', w.points[1], '--dry-run').returncode, 3)
    for at in (0, 2):
        w.gives_back('branches', at)
    return w


def main():
    for kind in (turns, hands, commands, unsure, replaced, branches):
        kind(sys.argv[1]).remove()
    print(f'{counts["passed"]} passed, {counts["failed"]} failed')
    sys.exit(counts['failed'] > 0 or counts['passed'] < 60)


main()
