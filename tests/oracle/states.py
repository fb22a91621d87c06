#!/usr/bin/env python3
"""Asks the real client of Claude Code which states a running session has, and whether the board names them.

usage: states.py PROGRAM FOLDER [VERSION]

Installs the client from npm below FOLDER (as newest.py does), starts it in a terminal of tmux against a scripted model, and
brings it into each state: idle, busy while the model thinks, waiting for a permission, running a shell command in the
background, idle again, and killed. In each, `board --json` has to say so, with what it waits for and the terminal, `list`
the same, and `status` the sum. It needs the network (npm only), node, git and tmux, and is no
part of the suite. Exit 1 if anything differs.
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from newest import FIRST, Trial

SLOW, WRITE, SHELL = 'Think for a while', 'Write to notes', 'Serve in the background'
PATIENCE = 60


class States(Trial):
    def __init__(self, program, folder, version):
        super().__init__(program, folder, 'claude', version)
        self.thinks = threading.Event()
        self.thinks.set()
        self.socket = os.path.join(self.top, 'tmux')
        self.wrong = 0
        answer = self.model.answer

        def slowly(handler, path, body):
            if SLOW in json.dumps(body.get('messages', '')):
                self.thinks.wait(PATIENCE)
            answer(handler, path, body)
        self.model.answer = slowly
        self.model.script.update({
            SLOW: [{'text': 'That took a while.'}],
            WRITE: [{'tool': 'Write', 'args': {'file_path': os.path.join(self.project, 'new.txt'), 'content': 'new\n'}},
                    {'text': 'Written.'}],
            SHELL: [{'tool': 'Bash', 'args': {'command': 'sleep 600', 'description': 'serve', 'run_in_background': True}},
                    {'text': 'It serves.'}]})

    def tmux(self, *args):
        return subprocess.run(['tmux', '-S', self.socket, '-f', '/dev/null', *args], env=self.env, capture_output=True, text=True,
                              check=False).stdout

    def screen(self):
        return self.tmux('capture-pane', '-p', '-t', 'client')

    def say(self, text):
        self.tmux('send-keys', '-t', 'client', '-l', text)
        time.sleep(0.5)  # a burst with Enter would be a paste
        self.tmux('send-keys', '-t', 'client', 'Enter')

    def until(self, what, holds):
        end = time.monotonic() + PATIENCE
        while not (value := holds()):
            if time.monotonic() > end:
                print(f'never: {what}\n{self.screen()}\nthe board: {self.board()}\nthe registry: {self.registry()}')
                self.wrong += 1
                return None
            time.sleep(0.05)
        return value

    def registry(self):
        folder = os.path.join(self.home, '.claude/sessions')
        found = []
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
            if name.endswith('.json'):
                with open(os.path.join(folder, name), encoding='utf-8') as f:
                    found.append(json.load(f))
        return found

    def board(self):
        return self.reprise.json('board')

    def state(self, name, published, holds, status):
        """The client publishes it, and the board, the list and the status say the same."""
        if not self.until(f'the client is {published}', lambda: any(r.get('status') == published for r in self.registry())):
            return
        row = self.until(f'the board says {name}', lambda: next((r for r in self.board() if holds(r)), None))
        if not row:
            return
        listed = self.reprise.json('list', '--all', '--all-kinds')
        same = any(r['sessionId'] == row['sessionId'] and r.get('state') == row['state'] for r in listed)
        said = self.reprise.run('status').stdout.decode()
        ok = same and said == status and row.get('terminal', {}).get('place') == 'client:0.0' and row.get('since')
        self.wrong += not ok
        short = {k: row.get(k) for k in ('state', 'shell', 'waitsFor', 'since', 'terminal') if row.get(k)}
        print(f'{name:10} {"ok" if ok else "WRONG"}  {short} status {said!r}{"" if same else " but not in the list"}', flush=True)

    def run(self):
        self.prepare()
        self.env.pop('CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', None)
        self.reprise.env['REPRISE_PROC_DIR'] = '/proc'
        self.tmux('new-session', '-d', '-s', 'client', '-x', '120', '-y', '40', '-c', self.project, self.program,
                  '--permission-mode', 'default')
        self.until('the prompt of the client', lambda: '>' in self.screen() or '❯' in self.screen())
        time.sleep(1)
        self.say(FIRST)
        self.until('the first answer', lambda: 'A file of notes' in self.screen())
        self.state('idle', 'idle', lambda r: r.get('state') == 'idle', '\n')

        self.thinks.clear()
        self.say(SLOW)
        self.state('busy', 'busy', lambda r: r.get('state') == 'running' and not r.get('shell'), '1 busy\n')
        self.thinks.set()
        self.until('the slow answer', lambda: 'That took a while' in self.screen())

        self.say(WRITE)
        self.state('waiting', 'waiting', lambda r: r.get('state') == 'requires_action' and r.get('waitsFor'), '1 waiting\n')
        self.tmux('new-window', '-d', '-t', 'client', '-n', 'other', 'sleep 600')
        self.tmux('send-keys', '-t', 'client', 'Enter')
        self.until('the file', lambda: os.path.exists(os.path.join(self.project, 'new.txt')))

        self.say(SHELL)
        if self.until('the question or the command', lambda: any(r.get('status') in ('waiting', 'shell') for r in self.registry())):
            if any(r.get('status') == 'waiting' for r in self.registry()):
                self.tmux('send-keys', '-t', 'client', 'Enter')
            self.state('shell', 'shell', lambda r: r.get('state') == 'running' and r.get('shell'), '1 busy\n')

        pid = self.registry()[0]['pid']
        os.kill(pid, signal.SIGKILL)
        gone = self.until('the killed one leaves the board', lambda: not any(r.get('pid') == pid for r in self.board()))
        print(f'killed     {"ok" if gone else "WRONG"}')
        self.tmux('kill-server')
        self.end_daemons()
        return self.wrong


if __name__ == '__main__':
    sys.exit(bool(States(*sys.argv[1:3], sys.argv[3] if len(sys.argv) > 3 else None).run()))
