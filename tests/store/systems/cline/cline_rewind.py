#!/usr/bin/env python3
"""Rewinds from checkpoints of Cline that are made here, as its source makes them, where a recording has none: a checkpoint that is
HEAD and not the project, files that git ignores or converts, objects that are gone, and metadata that is damaged.

usage: cline_rewind.py PROGRAM
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..'))

from support.program import Program

SESSION = '1795464391094_aaaaa'
AT = 1_795_464_391_000


class World:
    def __init__(self, program):
        self.top = tempfile.mkdtemp(prefix='cline-')
        self.home = f'{self.top}/home'
        self.app = f'{self.home}/app'
        os.makedirs(self.home)
        self.p = Program(program, self.home, {'XDG_STATE_HOME': f'{self.top}/state', 'GIT_CONFIG_NOSYSTEM': '1'})
        self.env = {'PATH': os.environ['PATH'], 'HOME': self.home, 'GIT_CONFIG_NOSYSTEM': '1',
                    **{f'GIT_{who}_{what}': 'dev@example.invalid' for who in ('AUTHOR', 'COMMITTER') for what in ('NAME', 'EMAIL')}}

    def git(self, *args, index=None):
        env = {**self.env, **({'GIT_INDEX_FILE': index} if index else {})}
        return subprocess.run(['git', '-C', self.app, *args], env=env, check=True, capture_output=True, text=True).stdout.strip()

    def begin(self, **files):
        """A new project, committed."""
        shutil.rmtree(self.app, ignore_errors=True)
        os.mkdir(self.app)
        self.git('init', '-q', '-b', 'main')
        self.put(**files)
        self.git('add', '-A')
        self.git('commit', '-q', '--allow-empty', '-m', 'first')

    def put(self, **files):
        for name, data in files.items():
            with open(f'{self.app}/{name}', 'wb') as f:
                f.write(data.encode())

    def stash(self):
        """The tracked files as they are, and the others as a third parent."""
        plain = self.git('stash', 'create')
        others = self.git('ls-files', '--others', '--exclude-standard')
        parents = [plain + '^1', plain + '^2'] if plain else ['HEAD', self.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'index')]
        if others:
            index = f'{self.top}/index'
            self.git('add', '--force', '--', *others.split('\n'), index=index)
            parents.append(self.git('commit-tree', self.git('write-tree', index=index), '-m', 'untracked'))
            os.unlink(index)
        parents = [x for p in parents for x in ('-p', p)]
        return self.git('commit-tree', (plain or 'HEAD') + '^{tree}', *parents, '-m', 'cline checkpoint'), 'stash'

    def head(self):
        return self.git('rev-parse', 'HEAD'), 'commit'

    def session(self, turns, history):
        """turns: of calls (name, input, result). history: of checkpoints, or any value."""
        where = f'{self.home}/.cline/data/sessions/{SESSION}'
        os.makedirs(where, exist_ok=True)
        messages, at = [], AT
        for n, calls in enumerate(turns):
            messages.append({'role': 'user', 'content': f'<user_input mode="act">prompt {n}</user_input>'})
            for k, (name, given, result) in enumerate(calls):
                messages.append({'role': 'assistant', 'content': [{'type': 'tool_use', 'id': f'c{n}-{k}', 'name': name, 'input': given}]})
                messages.append({'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': f'c{n}-{k}', 'name': name, 'content': result}]})
            messages.append({'role': 'assistant', 'content': [{'type': 'text', 'text': 'Done.'}]})
        for i, m in enumerate(messages):
            m.update(id=f'm{i}', ts=at + 1000 * i)
        prompts = [m['ts'] for m in messages if isinstance(m['content'], str)]
        if isinstance(history, list):
            history = [h if not isinstance(h, tuple) else {'ref': h[0], 'kind': h[1], 'runCount': i + 1, 'createdAt': prompts[i] + 500}
                       for i, h in enumerate(history)]
        for name, document in (f'{SESSION}.json', {'session_id': SESSION, 'cwd': self.app, 'metadata': {'checkpoint': {'history': history}}}), \
                (f'{SESSION}.messages.json', {'version': 1, 'messages': messages}):
            with open(f'{where}/{name}', 'w', encoding='utf-8') as f:
                json.dump(document, f, indent=2)

    def edit(self, name, old, new):
        return 'editor', {'path': f'{self.app}/{name}', 'old_text': old, 'new_text': new}, f'Edited {self.app}/{name}'

    def make(self, name, text):
        return 'editor', {'path': f'{self.app}/{name}', 'new_text': text}, f'File created successfully at: {self.app}/{name}'

    def shell(self, *commands):
        return 'run_commands', {'commands': commands}, [{'query': c, 'result': '', 'success': True} for c in commands]

    def files(self):
        found = {}
        for name in sorted(os.listdir(self.app)):
            if name != '.git':
                with open(f'{self.app}/{name}', 'rb') as f:
                    found[name] = f.read().decode()
        return found

    def rewind(self, what, want, refused=(), point='m0'):
        """want: the files afterwards; refused: part of the reason for each file that is held back."""
        run = self.p.run('rewind', '--json', '--all', SESSION, '--to', point, '--apply', '--skip-refused')
        answer = json.loads(run.stdout) if run.stdout.strip() else {}
        self.p.same(f'{what}: files', self.files(), want)
        got = {os.path.basename(f['path']): f.get('why') or '' for f in answer.get('files', []) if f.get('action') == 'refused'}
        for name, why in dict(refused).items():
            self.p.need(why in got.get(name, '(not held back)'), f'{what}: {name}: {got} {run.stderr!r}')
        self.p.same(f'{what}: held back', sorted(got), sorted(dict(refused)))


def check(w):
    by_hand = 'not by this session'
    w.begin(a='one\n', b='bee\n')
    w.session([[w.edit('a', 'one', 'two'), w.make('new', 'n\n')]], [w.head()])
    w.put(a='two\n', new='n\n')
    w.rewind('HEAD, which the project was', {'a': 'one\n', 'b': 'bee\n'})

    w.begin(a='one\nand\n', b='bee\n')
    w.put(a='one\nand more\n')
    w.session([[w.edit('a', 'one', 'two'), w.shell('rm b')]], [w.head()])
    w.put(a='two\nand more\n')
    os.unlink(f'{w.app}/b')
    w.rewind('HEAD, which the project was not', {'a': 'two\nand more\n'}, {'a': by_hand, 'b': 'only the commit'})

    w.begin(**{'a': 'one\n', '.gitignore': 'log*\n'})
    w.put(log1='old\n', loose='loose\n')
    point = w.stash()
    w.session([[w.edit('log1', 'old', 'new'), w.make('log2', 'made\n'), w.shell('rm loose'), w.shell('mv a c')]], [point])
    w.put(log1='new\n', log2='made\n')
    os.unlink(f'{w.app}/loose')
    os.rename(f'{w.app}/a', f'{w.app}/c')
    w.rewind('files that git ignores', {'.gitignore': 'log*\n', 'a': 'one\n', 'log1': 'new\n', 'loose': 'loose\n'}, {'log1': 'ignores'})

    w.begin(a='one\n')
    w.put(a='two\n')
    point = w.stash()
    os.unlink(f'{w.app}/.git/objects/{point[0][:2]}/{point[0][2:]}')
    w.session([[w.edit('a', 'two', 'three')]], [point])
    w.put(a='three\n')
    w.rewind('objects that are gone', {'a': 'three\n'}, {'a': 'no longer in the repository'})

    w.begin(a='one\n')
    w.put(loose='loose\n')
    point = w.stash()
    gone = w.git('rev-parse', point[0] + '^3')
    os.unlink(f'{w.app}/.git/objects/{gone[:2]}/{gone[2:]}')
    w.session([[w.shell('mv a loose')]], [point])
    os.rename(f'{w.app}/a', f'{w.app}/loose')
    w.rewind('the others are gone', {'loose': 'one\n'}, {'a': 'no longer in', 'loose': 'no longer in'})

    w.begin(a='one\n')
    first, other = w.stash(), w.head()
    w.put(theirs='by hand\n')
    w.session([[], [w.edit('theirs', 'hand', 'Cline')], [w.shell('rm theirs')]], [first, w.stash(), other])
    os.unlink(f'{w.app}/theirs')
    w.rewind('a file that a person made later', {'a': 'one\n'}, {'theirs': 'created later'})

    w.begin(**{'a': 'one\n', '.gitattributes': '* text eol=crlf\n'})
    w.put(a='two\r\n')
    w.session([[w.edit('a', 'two', 'three')]], [w.stash()])
    w.put(a='three\r\n')
    w.rewind('line ends', {'.gitattributes': '* text eol=crlf\n', 'a': 'three\r\n'}, {'a': 'converts'})

    w.begin(run='#!/bin/sh\n')
    os.chmod(f'{w.app}/run', 0o755)
    w.session([[w.shell('rm run')]], [w.stash()])
    os.unlink(f'{w.app}/run')
    w.rewind('a program', {'run': '#!/bin/sh\n'})
    w.p.same('its mode', os.stat(f'{w.app}/run').st_mode & 0o777, 0o755)

    w.begin(a='one\n')
    first = w.stash()
    w.put(a='one, by hand\n')
    second = w.stash()
    w.session([[], [w.edit('a', 'by hand', 'by Cline')]], [first, second])
    w.put(a='one, by Cline\n')
    w.rewind('the second prompt', {'a': 'one, by hand\n'}, point='m2')
    w.put(a='one, by Cline\n')
    w.rewind('a prompt before an edit by hand', {'a': 'one\n'}, point='m0')

    for history in None, 7, {}, [], [7], [{'ref': 7}], [{'ref': 'x' * 40, 'runCount': 1}], [{'ref': '0' * 40, 'runCount': 1, 'kind': 'stash'}], \
            [{'ref': '0' * 40, 'runCount': 10 ** 18}], [{'ref': '0' * 40, 'runCount': 1, 'createdAt': 'x'}] * 50:
        w.begin(a='one\n')
        w.session([[w.edit('a', 'one', 'two')]], history)
        w.put(a='two\n')
        run = w.p.run('rewind', '--json', '--all', SESSION, '--to', 'm0', '--apply')
        w.p.need(0 <= run.returncode < 64 and w.files() == {'a': 'two\n'}, f'{history}: {run.returncode} {run.stderr!r} {w.files()}')
    shutil.rmtree(f'{w.app}/.git')
    w.session([[w.edit('a', 'one', 'two')]], [('0' * 40, 'stash')])
    w.rewind('no repository', {'a': 'two\n'}, {'a': 'not in the repository'})


def check_places(w):
    """Where Cline looks for sessions, each place before the one that follows it here."""
    w.begin(a='one\n')
    w.session([[w.edit('a', 'one', 'two')]], [])
    data = f'{w.home}/.cline/data'
    for variable, place in ('CLINE_SESSION_DATA_DIR', f'{data}/sessions'), ('CLINE_DATA_DIR', data), ('CLINE_DIR', f'{w.home}/.cline'):
        w.p.env[variable] = place
        w.p.same(variable, [r['sessionId'] for r in w.p.json('list', '--all')], [SESSION])
        w.p.env[variable] = f'{w.top}/nowhere'
        w.p.same(f'{variable}: nothing there', w.p.json('list', '--all', missing=[]), [])
        del w.p.env[variable]
    w.p.env.update(CLINE_SESSION_DATA_DIR=f'{data}/sessions', CLINE_DATA_DIR=f'{w.top}/nowhere')
    w.p.same('the sessions alone', [r['sessionId'] for r in w.p.json('list', '--all')], [SESSION])
    del w.p.env['CLINE_SESSION_DATA_DIR'], w.p.env['CLINE_DATA_DIR']


def main():
    w = World(sys.argv[1])
    try:
        check(w)
        check_places(w)
    finally:
        shutil.rmtree(w.top, ignore_errors=True)
    w.p.finish(1)


main()
