"""A project with a session whose turns are worked by the test itself, with the hooks of `reprise snapshots on`, which are
run as the agent runs them, from its own configuration."""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import uuid

from support.program import Program

counts = {'passed': 0, 'failed': 0}


def need(ok, what):
    counts['passed' if ok else 'failed'] += 1
    if not ok:
        print(f'{os.path.basename(sys.argv[0])}: {what}')


def finish():
    print(f'{counts["passed"]} passed, {counts["failed"]} failed')
    sys.exit(1 if counts['failed'] else 0)


class World:
    """A project, and a session of Claude Code that works in it."""
    SETTINGS = '/.claude'

    def __init__(self, program, git):
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.home, self.root = f'{self.top}/home', f'{self.top}/home/work/project'
        os.makedirs(self.home + self.SETTINGS)
        os.makedirs(self.root)
        self.reprise = Program(program, self.home, {'XDG_STATE_HOME': f'{self.top}/state'})
        self.rows, self.last, self.points, self.trees = [], None, [], []
        self.id = str(uuid.uuid4())
        self.put('a.txt', 'one\n')
        self.put('sub/b.sh', '#!/bin/sh\n', 0o700)
        self.put('keep.txt', 'k\n')
        self.put('odd é name/x/y.txt', 'deep\r\n')
        self.put('.gitignore', '*.log\n')
        self.put('z.log', 'ignored\n')
        if git:
            for words in ('init -q .', 'add -A', '-c user.name=a -c user.email=a@b commit -qm x'):
                subprocess.run(['git', *words.split()], cwd=self.root, check=True, env=self.reprise.env)
            os.utime(f'{self.root}/.git/index', (2000000000, 2000000000))
        self.switch_on()

    def switch_on(self):
        self.run('snapshots', 'on', 'claude', '--yes')
        with open(f'{self.home}/.claude/settings.json') as f:
            self.hooks = json.load(f)['hooks']

    def put(self, name, text, mode=0o644):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', newline='') as f:
            f.write(text)
        os.chmod(path, mode)

    def run(self, *words, code=0):
        return self.run_at(self.root, *words, code=code)

    def run_at(self, cwd, *words, code=0):
        done = subprocess.run([self.reprise.path, *words], env=self.reprise.env, cwd=cwd, capture_output=True, text=True,
                              check=False)
        need(done.returncode == code, f'{words}: {done.returncode} {done.stdout} {done.stderr}')
        return done.stdout

    def dry_run(self, at):
        done = subprocess.run([self.reprise.path, 'rewind', self.id, '--to', self.points[at], '--dry-run'],
                              env=self.reprise.env, cwd=self.root, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def hook(self, event, prompt=None, again=True):
        told = {'session_id': self.id, 'cwd': self.root, 'hook_event_name': event, **({'prompt': prompt} if prompt else {})}
        for group in self.hooks[event]:
            for hook in group['hooks']:
                self.run_hook(event, hook['command'], told, again)

    def run_hook(self, event, command, told, again=True):
        """A machine that is busy may not have two seconds for a snapshot; the next one goes on from there."""
        for _ in range(10):
            late = self.given_up()
            done = subprocess.run(command, shell=isinstance(command, str), input=json.dumps(told), text=True, cwd=self.root,
                                  env=self.reprise.env, capture_output=True, check=False)
            need(done.returncode == 0 and done.stdout == '', f'{event}: {done}')
            if not again or self.given_up() == late:
                break

    def given_up(self):
        """How many snapshots took too long."""
        log = f'{self.top}/state/reprise/snapshots.log'
        if not os.path.exists(log):
            return 0
        with open(log, encoding='utf-8', errors='replace') as f:
            return f.read().count('it took too long')

    def row(self, kind, content, **more):
        uid = str(uuid.uuid4())
        now = time.time()
        self.rows.append({'parentUuid': self.last, 'isSidechain': False, 'userType': 'external', 'cwd': self.root,
                          'sessionId': self.id, 'version': '2.1.332', 'type': kind, 'uuid': uid,
                          'timestamp': time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now)) + f'.{int(now % 1 * 1000):03}Z',
                          'message': {'role': kind, 'content': content, **more}})
        self.last = uid
        return uid

    def turn(self, prompt, work, ends=True):
        """One prompt, one shell command."""
        self.trees.append(self.tree())
        self.hook('UserPromptSubmit', prompt)
        point = self.row('user', prompt)
        self.points.append(point)
        self.rows.append({'type': 'file-history-snapshot', 'messageId': point, 'isSnapshotUpdate': False,
                          'snapshot': {'messageId': point, 'trackedFileBackups': {}, 'timestamp': self.rows[-1]['timestamp']}})
        self.row('assistant', [{'type': 'tool_use', 'id': f't{len(self.rows)}', 'name': 'Bash', 'input': {'command': 'make'}}],
                 id=f'm{len(self.rows)}', model='claude-x', stop_reason='tool_use')
        work()
        self.row('user', [{'type': 'tool_result', 'tool_use_id': f't{len(self.rows) - 1}', 'content': 'ok'}])
        self.row('assistant', [{'type': 'text', 'text': 'done'}], id=f'm{len(self.rows)}', model='claude-x',
                 stop_reason='end_turn')
        if ends:
            self.hook('Stop')

    def write(self):
        name = ''.join(c if c.isalnum() else '-' for c in self.root)
        os.makedirs(f'{self.home}/.claude/projects/{name}')
        with open(f'{self.home}/.claude/projects/{name}/{self.id}.jsonl', 'w') as f:
            f.writelines(json.dumps(row) + '\n' for row in self.rows)

    def tree(self):
        """Files with their bytes and modes."""
        return {path: what[1:] for path, what in self.whole_tree().items() if what[0] == 'file'}

    def whole_tree(self):
        """Everything but .git: files, links with their texts, directories with their modes."""
        seen = {}
        for folder, names, files in os.walk(self.root):
            if folder == self.root and '.git' in names:
                names.remove('.git')
            for name in names + files:
                path = os.path.join(folder, name)
                info = os.lstat(path)
                if stat.S_ISLNK(info.st_mode):
                    what = 'link', os.readlink(path)
                elif stat.S_ISREG(info.st_mode):
                    with open(path, 'rb') as f:
                        what = 'file', f.read(), info.st_mode & 0o7777
                else:
                    what = 'dir' if stat.S_ISDIR(info.st_mode) else 'special', info.st_mode & 0o7777
                seen[os.path.relpath(path, self.root)] = what
        return seen

    def remove(self):
        shutil.rmtree(self.top)


class PiWorld(World):
    """The same with pi, which keeps no copies. `timed`: its rows have times."""

    AGENT, SETTINGS = 'pi', '/.pi/agent'

    def __init__(self, program, timed=True):
        self.timed = timed
        super().__init__(program, True)

    def switch_on(self):
        self.run('snapshots', 'on', self.AGENT, '--yes')

    def hook(self, event, prompt=None):
        told = {'session': self.id, 'session_id': self.id, 'cwd': self.root, **({'prompt': prompt} if prompt else {})}
        event = 'prompt' if event == 'UserPromptSubmit' else 'end'
        self.run_hook(event, [self.reprise.path, 'snapshot', '--agent', self.AGENT, '--event', event], told)

    def turn(self, prompt, work, ends=True, hooked=True):
        self.trees.append(self.tree())
        if hooked:
            self.hook('UserPromptSubmit', prompt)
        self.points.append(self.pi_row('user', prompt))
        work()
        self.pi_row('assistant', 'done')
        if ends and hooked:
            self.hook('Stop')

    def pi_row(self, role, text):
        id, now = uuid.uuid4().hex[:8], time.time()
        stamp = time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now)) + f'.{int(now % 1 * 1000):03}Z' if self.timed else ''
        self.rows.append({'type': 'message', 'id': id, 'parentId': self.last, 'timestamp': stamp,
                          'message': {'role': role, 'content': [{'type': 'text', 'text': text}]}})
        self.last = id
        return id

    def write(self):
        folder = f'{self.home}/.pi/agent/sessions/--{self.root[1:].replace("/", "-")}--'
        os.makedirs(folder)
        with open(f'{folder}/2026-11-29T01-00-00-000Z_{self.id}.jsonl', 'w') as f:
            f.write(json.dumps({'type': 'session', 'version': 3, 'id': self.id, 'timestamp': '2026-11-29T01:00:00.000Z',
                                'cwd': self.root}) + '\n')
            f.writelines(json.dumps(row) + '\n' for row in self.rows)


class DroidWorld(PiWorld):
    """The same with Droid, whose sessions prove nothing about files: the points are the prompts of the session."""

    AGENT, SETTINGS = 'droid', '/.factory'

    def write(self):
        folder = f'{self.home}/.factory/sessions/{self.root.replace("/", "-")}'
        os.makedirs(folder)
        with open(f'{folder}/{self.id}.jsonl', 'w') as f:
            f.write(json.dumps({'type': 'session_start', 'id': self.id, 'title': 'New Session', 'cwd': self.root}) + '\n')
            f.writelines(json.dumps(row) + '\n' for row in self.rows)
