"""A Redis server of its own for a test."""
import os
import shutil
import subprocess
import sys
import time


class Server:
    """One that listens on a Unix socket only, with a snapshot that it reads again when it is started again."""

    def __init__(self, top):
        self.program = shutil.which('redis-server')
        if not self.program or not shutil.which('redis-cli'):
            print('skipped: Redis\'s server is not installed')
            sys.exit(77)
        self.top = top
        self.socket = f'{top}/redis.sock'
        self.process = None
        self.start()

    def start(self, *options):
        with open(f'{self.top}/log', 'ab') as log:
            self.process = subprocess.Popen(
                [self.program, '--port', '0', '--unixsocket', self.socket, '--unixsocketperm', '700', '--dir', self.top, '--save', '',
                 '--appendonly', 'yes', '--appendfsync', 'no', '--daemonize', 'no', *options], stdout=log, stderr=log, cwd=self.top)
        while True:
            run = subprocess.run(['redis-cli', '-s', self.socket, 'PING'], capture_output=True, check=False)
            if b'PONG' in run.stdout or b'NOAUTH' in run.stdout:
                return
            if self.process.poll() is not None:
                sys.exit('redis-server ended')
            time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def call(self, *words, text=None, user=None):
        """Runs a command; returns the lines of the answer. text: many commands."""
        env = {**os.environ, **({'REDISCLI_AUTH': user} if user else {})}
        run = subprocess.run(['redis-cli', '-s', self.socket, *words], input=text, capture_output=True, check=False, env=env)
        if run.returncode != 0:
            sys.exit(f'redis-cli: {run}')
        return run.stdout.decode().splitlines()

    def keys(self):
        return sorted(key for key in self.call('KEYS', '*') if key)

    def url(self, more=''):
        return f'redis://{self.socket}{more}'
