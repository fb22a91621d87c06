#!/usr/bin/env python3
"""What the patches of Codex do not prove is held back: files that a patch replaced, that were changed by hand between patches, far
from them, or after them, or that a patch changed before it failed. The work of sub-agents belongs to the turn. The rows are those that Codex 0.169.0 writes.

usage: codex_rewind.py PROGRAM
"""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..')]

from support.program import Program

START = 1795463999  # a second before the sessions
ADDED = 'it was added or moved there, and nothing shows that it did not replace a file'
THREAD = '01a20a10-4e0a-7153-911c-f3fe4c56d{:03}'


def added(text):
    return {'type': 'add', 'content': text}


def deleted(text):
    return {'type': 'delete', 'content': text}


def updated(diff, to=None):
    return {'type': 'update', 'unified_diff': diff, 'move_path': to}


class Threads:
    def __init__(self, program, home):
        self.p = Program(program, home, {'XDG_STATE_HOME': f'{home}/state'})
        self.home = home
        self.number = self.second = 0

    def project(self, files):
        """A new project with these files as they are in the end."""
        self.number += 1
        self.cwd = f'{self.home}/project{self.number}'
        os.mkdir(self.cwd)
        for name, text in files.items():
            self.put(name, text)

    def put(self, name, text, by_hand=False):
        """A file as the session left it, or changed after it."""
        path = f'{self.cwd}/{name}'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        if not by_hand:
            os.utime(path, (START, START))

    def item(self, type_, **more):
        self.second += 1
        return 'event_msg', {'type': 'item_completed', 'turn_id': 't', 'item': {'type': type_, 'id': f'i{self.second}', **more}}, self.second

    def prompt(self, text):
        return self.item('UserMessage', content=[{'type': 'text', 'text': text}])

    def patch(self, status='completed', **changes):
        return self.item('FileChange', status=status, changes={f'{self.cwd}/{name.replace("_", ".")}': c for name, c in changes.items()})

    def command(self, text, kind, output=None, code=0, **part):
        printed = {} if output is None else {'aggregated_output': output}
        return self.item('CommandExecution', command=['sh', '-c', text], cwd=f'file://{self.cwd}', status='failed' if code else 'completed', exit_code=code,
                         parsed_cmd=[{'type': kind, 'cmd': text, **part}], **printed)

    def started(self, ahead):
        return self.item('SubAgentActivity', kind='started', agent_thread_id=THREAD.format(self.number + ahead))

    def write(self, rows, parent=None, commit=None):
        self.number += 1
        sid = THREAD.format(self.number)
        meta = {'id': sid, 'session_id': parent or sid, 'cwd': self.cwd, 'source': 'cli', 'history_mode': 'paginated'}
        if parent:
            meta.update(parent_thread_id=parent, source={'subagent': {'thread_spawn': {'parent_thread_id': parent}}})
        if commit:
            meta['git'] = {'commit_hash': commit}
        folder = f'{self.home}/.codex/sessions/2026/11/23'
        os.makedirs(folder, exist_ok=True)
        with open(f'{folder}/rollout-2026-11-23T21-21-43-{sid}.jsonl', 'w', encoding='utf-8') as f:
            for n, (kind, payload, second) in enumerate([('session_meta', meta, 0), *rows]):
                time = f'2026-11-23T20:{second // 60:02}:{second % 60:02}.000Z'
                f.write(json.dumps({'timestamp': time, 'ordinal': n, 'type': kind, 'payload': payload}) + '\n')
        return sid

    def plan(self, sid, turn):
        """{name: action, or the reason why it stays} of a rewind to the prompt with this number, and the answer."""
        points = self.p.json('checkpoints', '--all', f'codex:{sid}')
        answer = self.p.json('rewind', '--dry-run', '--all', '-C', self.cwd, f'codex:{sid}', '--to', points[turn]['id'])
        return {os.path.relpath(f['path'], self.cwd): f.get('why') or f['action'] for f in answer['files'] if f['action'] != 'unchanged'}, points[turn], answer

    def says(self, what, sid, turn, want):
        self.p.same(what, self.plan(sid, turn)[0], want)

    def text(self, name):
        with open(f'{self.cwd}/{name}', encoding='utf-8') as f:
            return f.read()

    # ---- the cases ----

    def git(self, *args):
        run = subprocess.run(['git', '-C', self.cwd, '-c', 'user.name=x', '-c', 'user.email=x@example.invalid', *args],
                             capture_output=True, text=True, check=True, env={**self.p.env, 'GIT_CONFIG_GLOBAL': '/dev/null'})
        return run.stdout.strip()

    def replaced(self):
        """A patch that adds a file replaces one that is there, with the same record."""
        self.project({'of-git': 'old', 'run': '#!/bin/sh\n'})
        os.chmod(f'{self.cwd}/run', 0o755)
        os.symlink('of-git', f'{self.cwd}/link')
        self.git('init', '-q')
        self.git('add', '.')
        self.git('commit', '-qm', 'first')
        commit = self.git('rev-parse', 'HEAD')
        for name in 'run', 'link':
            os.unlink(f'{self.cwd}/{name}')
        for name, text in ('of-git', 'new\n'), ('read', 'new\n'), ('new', 'new\n'), ('edited', 'again\n'):
            with open(f'{self.cwd}/{name}', 'w', encoding='utf-8') as f:
                f.write(text)
        rows = [self.prompt('First'), self.patch(edited=updated('@@ -1 +1 @@\n-a\n+b\n')),
                self.prompt('Second'), self.command('cat read', 'read', name='read', path='read'),
                self.patch(**{'of-git': added('new\n'), 'read': added('new\n'), 'new': added('new\n'), 'edited': added('again\n'),
                              'run': deleted('#!/bin/sh\n'), 'link': deleted('old')})]
        why = 'it replaced a file of that name, whose text is not recorded'
        sid = self.write(rows, commit=commit)
        self.says('files that were replaced', sid, 1,
                  {'of-git': why, 'read': why, 'new': ADDED, 'edited': why, 'run': 'create',
                   'link': 'it was a symbolic link: only the text of its target is recorded'})
        plan = self.plan(sid, 1)
        self.p.json('rewind', '--all', '--apply', '--skip-refused', '-C', self.cwd, f'codex:{sid}', '--to', plan[1]['id'], '--plan',
                    plan[2]['plan'])
        self.p.same('the mode of a script', os.stat(f'{self.cwd}/run').st_mode & 0o777, 0o755)

    def moved_over(self):
        self.project({'to': 'third\n'})
        sid = self.write([self.prompt('First'), self.patch(**{'from': updated('@@ -1 +1 @@\n-a\n+b\n', f'{self.cwd}/to')}),
                          self.prompt('Second'), self.patch(to=deleted('b\n')), self.patch(to=added('third\n'))])
        plan = self.plan(sid, 0)[0]
        self.p.same('what a file was moved to', plan['to'], ADDED)

    def by_hand(self):
        """The text that was deleted is not the one that the patches made."""
        lines = ''.join(f'{n}\n' for n in range(1, 21))
        self.project({})
        sid = self.write([self.prompt('First'), self.patch(a=added(lines)), self.prompt('Second'),
                          self.patch(a=updated('@@ -18,3 +18,3 @@\n 18\n-19\n+x\n 20\n')), self.prompt('Third'),
                          self.patch(a=deleted(lines.replace('3\n', '3 by hand\n', 1).replace('19\n', 'x\n')))])
        self.says('changed by hand', sid, 1, {'a': 'it was changed by hand between its patches'})
        self.says('deleted', sid, 2, {'a': 'create'})

    def failed(self):
        """A patch failed after its first file."""
        lines = ''.join(f'{n}\n' for n in range(1, 21))
        self.project({'b': 'B\n'})
        part = self.patch('failed', a=updated('@@ -1,2 +1,2 @@\n-1\n+x\n 2\n'), b=updated('@@ -1 +1 @@\n-b\n+B\n'))
        done = lines.replace('1\n', 'x\n', 1)
        sid = self.write([self.prompt('First'), self.patch(a=added(lines)), part, self.prompt('Second'),
                          self.patch(a=updated('@@ -18,3 +18,3 @@\n 18\n-19\n+y\n 20\n')), self.patch(a=deleted(done.replace('19\n', 'y\n'))),
                          self.patch('declined', b=updated('@@ -1 +1 @@\n-B\n+c\n'))])
        self.says('a patch that failed', sid, 0, {'a': ADDED, 'b': 'a patch failed, perhaps after it had changed this file'})
        plan = self.plan(sid, 1)
        self.p.same('after it', plan[0], {'a': 'create'})
        self.p.json('rewind', '--all', '--apply', '-C', self.cwd, f'codex:{sid}', '--to', plan[1]['id'], '--plan', plan[2]['plan'])
        self.p.same('what the failed patch did is there', self.text('a'), done)

    def agents(self):
        """A sub-agent, one that it started, and their thread change one file."""
        self.project({'a': 'x\n2\n3\n4\n5\n6\n7\n8\ny\n', 'new': 'n\n'})
        parent = THREAD.format(self.number + 1)
        rows = [self.prompt('First'), self.started(2)]
        one = [self.started(3), self.patch(a=updated('@@ -1,2 +1,2 @@\n-1\n+one\n 2\n')), self.patch(gone=deleted('g\n'))]
        two = [self.patch(a=updated('@@ -8,2 +8,2 @@\n 8\n-9\n+y\n')), self.patch(new=added('n\n'))]
        rows += [self.patch(a=updated('@@ -1,2 +1,2 @@\n-one\n+x\n 2\n')), self.prompt('Second')]
        self.p.same('id of the thread', self.write(rows), parent)
        self.write(one, parent)
        self.write(two, parent)
        plan, point, answer = self.plan(parent, 0)
        self.p.same('with the work of sub-agents', plan, {'a': 'restore', 'gone': 'create', 'new': ADDED})
        self.p.same('files of the turn', point['files'], 3)
        self.says('after them', parent, 1, {})
        self.p.json('rewind', '--all', '--apply', '--skip-refused', '-C', self.cwd, f'codex:{parent}', '--to', point['id'], '--plan', answer['plan'])
        self.p.same('their edits are taken out', self.text('a'), '1\n2\n3\n4\n5\n6\n7\n8\n9\n')

    def moved(self):
        """What a file was moved to may go if its name was free, and if it is what the patches made of it."""
        self.project({'a': 'A\n2\nC\n'})
        there = updated('@@ -1,3 +1,3 @@\n-a\n+A\n 2\n 3\n', f'{self.cwd}/b')
        back = updated('@@ -1,3 +1,3 @@\n A\n 2\n-3\n+C\n', f'{self.cwd}/a')
        sid = self.write([self.prompt('First'), self.patch(a=there), self.prompt('Second'), self.patch(b=back)])
        self.says('moved there and back', sid, 1, {'a': ADDED, 'b': 'create'})
        sid = self.write([self.prompt('First'), self.patch(a=there), self.prompt('Second'), self.listing('ls', 'b\n'), self.patch(b=back)])
        self.says('moved back to where nothing was', sid, 1, {'a': 'delete', 'b': 'create'})
        self.put('a', 'A\n2 by hand\nC\n', by_hand=True)
        self.says('moved and changed by hand', sid, 1, {'a': "its present content is not known to be the session's work",
                                              'b': 'the patches since do not fit its present text: it was changed by hand'})

    def far(self):
        """A diff shows only the lines around it. The commit on which the thread began shows the others."""
        lines = ''.join(f'{n}\n' for n in range(1, 31))
        done = lines.replace('2\n', 'two\n', 1).replace('\n5\n', '\nfive\n')
        self.project({'a': lines, 'b': lines, 'c': lines, 'd': lines})
        self.git('init', '-q')
        self.git('add', 'a', 'b')
        self.git('commit', '-qm', 'first')
        commit = self.git('rev-parse', 'HEAD')
        for name in 'abcd':
            self.put(name, done.replace('25\n', '25 by hand\n') if name == 'b' else done)
        first, second = updated('@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n'), updated('@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n')
        both = updated(first['unified_diff'] + second['unified_diff'])
        sid = self.write([self.prompt('First'), self.patch(a=first, b=first, c=first, d=both), self.prompt('Second'),
                          self.patch(a=second, b=second, c=second)], commit=commit)
        several = 'its patches of several turns do not show all of it, so it may have been changed by hand between them'
        self.says('patches of two turns', sid, 0, {'a': 'restore', 'b': several, 'c': several, 'd': 'restore'})
        self.says('of the last turn', sid, 1, {'a': 'restore', 'b': 'restore', 'c': 'restore'})
        for name in 'cd':
            self.put(name, done.replace('25\n', '25 by hand\n'), by_hand=True)
        written = 'it was written again after its last patch, and its patches do not show all of it'
        self.says('written afterwards', sid, 1, {'a': 'restore', 'b': 'restore', 'c': written})
        self.says('written after the turn', sid, 0, {'a': 'restore', 'b': several, 'c': written, 'd': written})

    def late(self):
        """A file that a later turn first changed is held back if it was not as in the commit."""
        lines = ''.join(f'{n}\n' for n in range(1, 31))
        self.project({'a': lines})
        self.git('init', '-q')
        self.git('add', '.')
        self.git('commit', '-qm', 'first')
        commit = self.git('rev-parse', 'HEAD')
        self.put('a', lines.replace('\n5\n', '\nfive\n').replace('25\n', '25 by hand\n'))
        sid = self.write([self.prompt('First'), self.prompt('Second'), self.patch(a=updated('@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n'))], commit=commit)
        self.says('changed before its first patch', sid, 0, {'a': 'it was changed at an unknown time before its first patch'})
        self.says('in the turn of its first patch', sid, 1, {'a': 'restore'})

    def overwritten(self):
        """Nothing shows that a file which a patch replaced was still as the patch before had left it."""
        self.project({'a': 'third\n', 'b': 'two\n'})
        sid = self.write([self.prompt('First'), self.patch(a=added('first\n'), b=added('one\n')), self.prompt('Second'),
                          self.patch(a=added('third\n'), b=updated('@@ -1 +1 @@\n-one\n+two\n')), self.prompt('Third'),
                          self.patch(b=added('two\n'))])
        self.says('a file that was replaced', sid, 1, {
            'a': 'it was replaced, and nothing shows that it was still as the last patch before had left it', 'b': 'restore'})

    def listing(self, text, output, code=0):
        return self.command(text, 'list_files', output=output, code=code)

    def missing(self, name):
        return self.command(f'cat {name}', 'read', path=name, output=f'cat: {name}: No such file or directory\n', code=1)

    def free(self):
        """In the turn of a patch, a listing, a read that failed or a deletion show that it replaced nothing."""
        names = 'listed', 'missing', 'deleted', 'early', 'made', 'there', 'failed', 'out/deep'
        self.project({name: 'new\n' for name in names})
        new = {name: added('new\n') for name in names}
        sid = self.write([self.prompt('First'), self.listing('ls', 'old\n'), self.prompt('Second'), self.patch(early=new['early']),
                          self.listing('ls', 'early\nold\nthere\n'), self.missing('missing'), self.command('make made', 'unknown'),
                          self.listing('ls made', '', 2), self.patch(failed=new['failed'], made=new['made'], there=new['there'])])
        self.says('what shows nothing', sid, 1, {name: ADDED for name in ('early', 'there', 'failed')} |
                  {'made': 'a command ran since that may have changed it: what it did is not recorded'})
        sid = self.write([self.prompt('First'), self.patch(deleted=updated('@@ -1 +1 @@\n-a\n+b\n')), self.prompt('Second'),
                          self.listing('ls -R', '.:\nearly\nout\n\n./out:\n'), self.missing('missing'), self.patch(deleted=deleted('b\n')),
                          self.patch(**{name: new[name] for name in ('listed', 'missing', 'deleted', 'out/deep')})])
        self.says('what shows it', sid, 1, {'listed': 'delete', 'missing': 'delete', 'deleted': 'restore', 'out/deep': 'delete'})

    def late_free(self):
        """Before an earlier turn, too, if something showed it then, and nothing may have changed it since."""
        self.project({'a': 'new\n', 'b': 'new\n'})
        def add():
            return self.patch(a=added('new\n'), b=added('new\n'))

        def empty():
            return self.listing('ls', 'other\n')
        never = 'a later turn created it, and nothing shows that there was none before'
        sid = self.write([self.prompt('First'), self.prompt('Second'), empty(), self.prompt('Third'), empty(), add()])
        self.says('listed before', sid, 2, {'a': 'delete', 'b': 'delete'})
        self.says('listed in the turn of the point', sid, 1, {'a': 'delete', 'b': 'delete'})
        self.says('not listed then', sid, 0, {'a': never, 'b': never})
        sid = self.write([self.prompt('First'), empty(), self.command('touch a', 'unknown'), self.prompt('Second'), self.prompt('Third'), empty(), add()])
        self.says('listed before a command', sid, 1, {'a': never, 'b': 'delete'})

    def born(self):
        """A present file that began while the patch was at work replaced none, because Codex writes into one that exists."""
        self.project({'old': 'x\n'})
        patch = self.patch(old=added('new\n'), new=added('new\n'), later=added('new\n'))
        time.sleep(0.03)
        patch[1]['started_at_ms'] = time.time_ns() // 1000000
        for name in 'old', 'new':
            self.put(name, 'new\n')
        patch[1]['completed_at_ms'] = time.time_ns() // 1000000 + 1
        time.sleep(0.03)
        self.put('later', 'new\n')
        sid = self.write([self.prompt('First'), patch])
        plan = self.plan(sid, 0)[0]
        self.p.need(plan['new'] in ('delete', ADDED), f'born in the patch: {plan}')  # not every file system has the time
        self.p.same('born before and after it', [plan['old'], plan['later']], [ADDED, ADDED])

    def replaced_by_another(self):
        """That another thread removed it once does not show that nobody made it again."""
        self.project({'a': 'two\n', 'b': 'two\n'})
        one = [self.prompt('First'), self.patch(a=added('one\n'), b=added('one\n')), self.patch(b=deleted('one\n'))]
        two = [self.prompt('Other'), self.patch(a=added('two\n'), b=added('two\n'))]
        self.write(one + [self.prompt('Last')])
        sid = self.write(two)
        self.says('added by another thread before', sid, 0, {'a': ADDED, 'b': ADDED})

    def links(self):
        """A file that is reached through a link to its directory is one file."""
        self.project({'real/a': 'one\ntwo\n'})
        os.symlink('real', f'{self.cwd}/link')
        os.utime(f'{self.cwd}/link', (START, START), follow_symlinks=False)
        sid = self.write([self.prompt('First'), self.patch(**{'link/a': updated('@@ -1,2 +1,2 @@\n-1\n+one\n 2\n')}),
                          self.patch(**{'real/a': updated('@@ -1,2 +1,2 @@\n one\n-2\n+two\n')})])
        plan = self.plan(sid, 0)
        self.p.same('through a link', plan[0], {'real/a': 'restore'})
        self.p.json('rewind', '--all', '--apply', '-C', self.cwd, f'codex:{sid}', '--to', plan[1]['id'], '--plan', plan[2]['plan'])
        self.p.same('both patches are taken out', self.text('real/a'), '1\n2\n')
        self.p.need(os.path.islink(f'{self.cwd}/link'), 'the link is there')

    def newer_link(self):
        """A link that was made after the point leads no text into another file."""
        self.project({'other': 'A\n'})
        os.symlink('other', f'{self.cwd}/a')
        sid = self.write([self.prompt('First'), self.patch(a=updated('@@ -1 +1 @@\n-a\n+A\n'))])
        plan = self.plan(sid, 0)[0]
        self.p.same('a link in the place of the file', set(plan), {'a'})
        self.p.need(plan['a'] not in ('restore', 'create', 'delete'), f'not held back: {plan}')

    def agents_commands(self):
        """A command of a sub-agent may have changed its file, although the log of the thread has no line in between."""
        self.project({'a': 'x\n'})
        self.git('init', '-q')
        self.git('commit', '-qm', 'first', '--allow-empty')
        parent = THREAD.format(self.number + 1)
        rows = [self.prompt('First'), self.started(2)]
        agent = [self.patch(a=added('1\n')), self.command('sed -i s/1/2/ a', 'unknown'), self.patch(a=updated('@@ -1 +1 @@\n-2\n+x\n'))]
        self.write(rows + [self.prompt('Second')], commit=self.git('rev-parse', 'HEAD'))
        self.write(agent, parent)
        self.says('a command of a sub-agent', parent, 0, {'a': ADDED})

    def agents_listings(self):
        """What a sub-agent listed and read counts in its place between the lines of the thread."""
        self.project({'a': 'new\n', 'b': 'two\n', 'c': 'new\n'})
        parent = THREAD.format(self.number + 1)
        rows = [self.prompt('First'), self.started(2), self.listing('ls', 'b\n')]
        agent = [self.listing('ls', 'a\nb\n'), self.command('cat b', 'read', path='b', output='zero\n')]
        rows += [self.patch(a=added('new\n'))]
        agent += [self.listing('ls', 'a\nb\n')]
        rows += [self.command('cat b', 'read', path='b', output='one\n'), self.prompt('Second'), self.patch(b=updated('@@ -1 +1 @@\n-one\n+two\n'))]
        rows += [self.patch(c=added('new\n'))]
        self.write(rows)
        self.write(agent, parent)
        self.says('listed by a sub-agent', parent, 0, {'a': ADDED, 'b': 'restore', 'c': ADDED})

    def printed(self):
        """What a command printed of a file before its patch is the file, if it printed all of it and the patch fits."""
        lines = ''.join(f'{n}\n' for n in range(1, 31))
        done = lines.replace('2\n', 'two\n', 1).replace('\n5\n', '\nfive\n')
        names = {'whole': lines, 'lines': lines, 'noise': 'a warning\n' + lines, 'part': lines[:50], 'early': lines, 'after': lines}
        self.project({name: done for name in names} | {'new': 'new\n'})
        first, second = updated('@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n'), updated('@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n')

        def cat(name, text, command='cat'):
            return self.command(f'{command} {name}', 'read', path=name, output=text)
        sid = self.write([cat('early', lines), self.prompt('First'), cat('whole', lines), cat('lines', lines, "sed -n '1,99p'"),
                          cat('noise', names['noise']), cat('part', lines[:50], "sed -n '1,20p'"), self.patch(**{n: first for n in names}),
                          cat('after', lines.replace('2\n', 'two\n', 1)),
                          self.prompt('Second'), self.patch(**{n: second for n in names})])
        several = 'its patches of several turns do not show all of it, so it may have been changed by hand between them'
        self.says('printed in the turn', sid, 0, {'whole': 'restore', 'lines': 'restore', 'after': 'restore', 'early': 'restore',
                                                  'noise': several, 'part': several})
        sid = self.write([self.prompt('First'), self.command('make', 'unknown'), cat('whole', lines), self.patch(whole=first),
                          self.prompt('Second'), self.patch(whole=second, new=added('new\n'))])
        ran = 'a command ran since that may have changed it: what it did is not recorded'
        self.says('printed after a command', sid, 0, {'whole': ran, 'new': ADDED})

    def commands(self):
        """A command matters to the files that it may have changed."""
        self.project({'a': 'x\n', 'b': 'x\n', 'c': 'x\n', 'deep/d': 'x\n'})
        patch = updated('@@ -1 +1 @@\n-1\n+x\n')
        sid = self.write([self.prompt('First'), self.command('git status --short && sed -i s/1/2/ b && rm -r deep', 'unknown'),
                          self.patch(**{'a': patch, 'b': patch, 'deep/d': patch}),
                          self.prompt('Second'), self.command('python3 x.py', 'unknown'), self.patch(c=patch)])
        ran = 'a command ran since that may have changed it: what it did is not recorded'
        self.says('commands that name files', sid, 0, {'a': 'restore', 'b': ran, 'c': ran, 'deep/d': ran})

    def permissions(self):
        """Those of a file that comes back are not known if a command changed them, or if it is a script."""
        self.project({})
        sid = self.write([self.prompt('First'), self.command('chmod +x a', 'unknown'), self.prompt('Second'),
                          self.patch(a=deleted('a\n'), b=deleted('b\n'), c=deleted('#!/bin/sh\n'))])
        self.says('permissions', sid, 1, {'a': 'it was deleted, and a command had changed its permissions', 'b': 'create',
                                          'c': 'it is a script that was deleted, and whether it was executable is not recorded'})
        self.project({'a': 'A\n', 'b': 'B\n'})
        patch = self.patch(a=updated('@@ -1 +1 @@\n-a\n+A\n'), b=updated('@@ -1 +1 @@\n-b\n+B\n'), c=deleted('c\n'))
        sid = self.write([self.prompt('First'), patch, self.command('chmod +x a', 'unknown')])
        self.says('permissions that a command changed since', sid, 0, {
            'a': 'a command changed its permissions, and the former ones are not recorded', 'b': 'restore', 'c': 'create'})
        rows = {os.path.basename(f['path']): f.get('permissions') for f in self.plan(sid, 0)[2]['files']}
        self.p.same('what is known of them', rows, {'a': None, 'b': 'those of today: not recorded', 'c': 'those of a new file: not recorded'})

    def deleted_link(self):
        """A link that was deleted is recorded as the file behind it, so a file that had the text of another one may have been one."""
        self.project({'real': 'text\n', 'deep/untouched': 'never read\n', 'nothing': ''})
        sid = self.write([self.prompt('First'), self.patch(real=updated('@@ -1 +1 @@\n-old\n+text\n'), copy=added('text\n')),
                          self.prompt('Second'), self.patch(link=deleted('text\n'), copy=deleted('text\n'), other=deleted('other\n'),
                                                          unread=deleted('never read\n'), empty=deleted(''))])
        why = 'it was deleted, and had the text of another file: whether it was a link is not recorded'
        self.says('deleted, with the text of another', sid, 1, {'link': why, 'copy': 'create', 'other': 'create', 'unread': why, 'empty': why})

    def unconfirmed(self):
        """Without a commit nothing shows what a file was before the turn that first changed it."""
        self.project({'a': 'A\n', 'new': 'new\n'})
        sid = self.write([self.prompt('First'), self.prompt('Second'), self.patch(a=updated('@@ -1 +1 @@\n-a\n+A\n'), new=added('new\n'))])
        self.says('changed by a later turn only', sid, 0, {
            'a': 'a later turn was the first to change it, and no commit shows that it was the same before', 'new': ADDED})
        self.says('changed by the turn', sid, 1, {'a': 'restore', 'new': ADDED})

    def same_second(self):
        """A time without parts of a second does not tell whether the file was written after its patch of that second."""
        self.project({'a': 'A\n2\nby hand\n', 'b': 'A\n2\nby hand\n'})
        patch = updated('@@ -1,2 +1,2 @@\n-1\n+A\n 2\n')
        sid = self.write([self.prompt('First'), self.patch(a=added('1\n2\n'), b=added('1\n2\n')), self.prompt('Second'), self.patch(a=patch, b=patch)])
        at = START + 1 + self.second
        os.utime(f'{self.cwd}/a', (at, at))
        self.says('changed in the second of its patch, or before', sid, 1, {'a': 'it was changed by hand between its patches', 'b': 'restore'})

    def same_moment(self):
        """A command that wrote the file in the millisecond of its last patch."""
        why = 'a command ran since that may have changed it: what it did is not recorded'
        for text, want in ('echo more >> "a"', why), ('echo more >> b', 'restore'):
            self.project({'a': 'A\n2\nmore\n'})
            patch = self.patch(a=updated('@@ -1,2 +1,2 @@\n-1\n+A\n 2\n'))
            at = (START + 1 + self.second) * 10**9 + 500_000
            sid = self.write([self.prompt('First'), patch, self.command(text, 'unknown')])
            os.utime(f'{self.cwd}/a', ns=(at, at))
            self.says(text, sid, 0, {'a': want})

    def unended(self):
        """Only the last line can be without a line end, so a line that was appended by hand is in the way."""
        self.project({'a': '1\nend\nby hand\n', 'b': '1\nend\n'})
        patch = updated('@@ -1,2 +1,2 @@\n 1\n-end\n\\ No newline at end of file\n+end\n')
        sid = self.write([self.prompt('First'), self.patch(a=patch, b=patch)])
        self.says('a line after the end', sid, 0, {'a': 'the patches since do not fit its present text: it was changed by hand', 'b': 'restore'})

    def inferred(self):
        """Every rewind of Codex is made from patches, so there is no other state to ask for, and no version was saved."""
        self.project({'a': 'A\n'})
        sid = self.write([self.prompt('First'), self.patch(a=updated('@@ -1 +1 @@\n-a\n+A\n'))])
        point = self.p.json('checkpoints', '--all', f'codex:{sid}')[0]['id']
        for more in [], ['--apply']:
            run = self.p.run('rewind', '--all', '-C', self.cwd, f'codex:{sid}', '--to', point, '--inferred', *more)
            self.p.need(run.returncode == 4 and b'as of this turn anyway' in run.stderr and b'saved' not in run.stderr, f'{more}: {run}')
        self.p.same('nothing was changed', self.text('a'), 'A\n')

    def later_command(self):
        """A command changed a file after the patch that added it: of the same session, or of a later one with a patch of its own,
        with the file's name or without it, or without any text."""
        by_hand = 'changed later, not by this session'
        for words, why in ('sed -i s/A/C/ a', 'changed since by a command of the session: sed -i s/A/C/ a'), ('./gen', by_hand), (None, by_hand):
            def command(text=words):
                return self.command(text, 'unknown') if text else self.item('CommandExecution', cwd=self.cwd, status='completed', exit_code=0)
            self.project({'a': 'C\n'})
            one = self.write([self.prompt('First'), self.patch(a=added('A\n')), command()])
            self.says(f'own: {words}', one, 0, {'a': why})
            self.project({'a': 'C\n'})
            one = self.write([self.prompt('First'), self.patch(a=added('A\n'))])
            self.write([self.prompt('Second'), self.patch(a=updated('@@ -1 +1 @@\n-A\n+B\n')), command()])
            self.says(f'later: {words}', one, 0, {'a': 'changed later by "Second"'})

    def images(self):
        """The list shows a prompt without its images."""
        self.project({})
        parts = [{'type': 'local_image', 'path': '/i.png'}, {'type': 'text', 'text': 'What is it?'}, {'type': 'image', 'url': 'data:'}]
        sid = self.write([self.item('UserMessage', content=parts), self.item('UserMessage', content=parts[:1])])
        row = next(r for r in self.p.json('list', '--all') if r['sessionId'] == sid)
        self.p.same('prompts with images', (row['firstPrompt'], row['lastPrompt']), ('What is it?', '[Image]'))


def main():
    with tempfile.TemporaryDirectory(prefix='codex-rewind-') as home:
        t = Threads(sys.argv[1], home)
        for case in t.replaced, t.moved_over, t.by_hand, t.failed, t.moved, t.agents, t.agents_commands, t.agents_listings, t.far, t.late, t.free, t.late_free, t.born, t.overwritten, t.links, t.newer_link, t.replaced_by_another, t.printed, t.commands, \
                t.permissions, t.deleted_link, t.unconfirmed, t.same_second, t.same_moment, t.unended, t.inferred, t.later_command, t.images:
            case()
    t.p.finish(45)


if __name__ == '__main__':
    main()
