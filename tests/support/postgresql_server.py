"""A PostgreSQL server of its own for a test."""
import glob
import os
import pwd
import shutil
import subprocess
import sys


class Server:
    """One that listens on a Unix socket only. It refuses to run as root, so then another user runs it."""

    def __init__(self, top):
        programs = sorted(glob.glob('/usr/lib/postgresql/*/bin/initdb'))
        found = programs[-1] if programs else shutil.which('initdb')
        if not found:
            print('skipped: PostgreSQL\'s server is not installed')
            sys.exit(77)
        self.bin = os.path.dirname(found)
        self.top = top
        self.user = {}
        if os.geteuid() == 0:
            who = next((u for u in pwd.getpwall() if u.pw_name == 'postgres'), pwd.getpwnam('nobody'))
            self.user = {'user': who.pw_uid, 'group': who.pw_gid, 'extra_groups': []}
            os.chown(top, who.pw_uid, who.pw_gid)
        self.call('initdb', '-D', f'{top}/data', '-A', 'trust', '-U', 'me', '-N', '-E', 'UTF8', '--locale=C')
        with open(f'{top}/data/pg_hba.conf', 'w', encoding='utf-8') as f:
            f.write('local all ann scram-sha-256\nlocal all all trust\n')
        self.start()

    def call(self, program, *args):
        run = subprocess.run([f'{self.bin}/{program}', *args], cwd=self.top, capture_output=True, check=False, **self.user)
        if run.returncode != 0:
            sys.exit(f'{program}: {run.stdout!r} {run.stderr!r}')

    def start(self, more="-c listen_addresses=''"):
        self.call('pg_ctl', '-D', f'{self.top}/data', '-w', '-l', f'{self.top}/log', '-o',
                  f'-k {self.top} {more} -c fsync=off -c shared_buffers=32MB', 'start')

    def start_with_tls(self, cert, key, port):
        """On the loopback interface, where nobody gets in without TLS."""
        for name, path in (('server.crt', cert), ('server.key', key)):
            shutil.copy(path, f'{self.top}/data/{name}')
            if self.user:
                os.chown(f'{self.top}/data/{name}', self.user['user'], self.user['group'])
            os.chmod(f'{self.top}/data/{name}', 0o600)
        with open(f'{self.top}/data/pg_hba.conf', 'a', encoding='utf-8') as f:
            f.write('hostssl all all 127.0.0.1/32 trust\n')
        self.start(f'-c listen_addresses=127.0.0.1 -p {port} -c ssl=on')

    def stop(self):
        self.call('pg_ctl', '-D', f'{self.top}/data', '-m', 'immediate', 'stop')

    def pid(self):
        with open(f'{self.top}/data/postmaster.pid', encoding='utf-8') as f:
            return int(f.readline())

    def sql(self, text):
        """Runs statements; returns the rows as lines."""
        run = subprocess.run([f'{self.bin}/psql', '-h', self.top, '-U', 'me', '-d', 'postgres', '-qAt', '-v', 'ON_ERROR_STOP=1'],
                             input=text.encode(), capture_output=True, check=False)
        if run.returncode != 0:
            sys.exit(f'psql: {run.stderr!r}')
        return run.stdout.decode().splitlines()

    def url(self, user='me'):
        return f'postgresql:///postgres?host={self.top}&user={user}'
