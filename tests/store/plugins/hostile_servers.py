"""No server can keep the program for ever, make it take gigabytes, end it, or write to the terminal.
   usage: hostile_servers.py REPRISE PLUGINS SANITIZED [KIND [NAME]]"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time

from support.hostile_server import HTTP, POSTGRESQL, REDIS, S3, SESSION, Hostile
from support.program import Program
from support.team_store import Team

FOREVER = 120  # seconds; a machine may be busy
MEMORY = 600 << 10
COMMANDS = (['list', '--all', '--json', '--store', 'team'], ['info', 'team:' + SESSION.decode()], ['messages', 'team:' + SESSION.decode()])


def configure(kind, team, port):
    if kind == 'redis':
        team.configure(f'redis://127.0.0.1:{port}/0', 'timeout = 1')
    elif kind == 'postgresql':
        team.configure(f'host=127.0.0.1 port={port} user=u dbname=d', 'timeout = 1')
    elif kind == 'http':
        with open(f'{team.home}/token', 'w', encoding='utf-8', opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            f.write('KEPTSECRET')
        team.configure(f'http://127.0.0.1:{port}/s', f'token-file = {team.home}/token', 'timeout = 1')
    else:
        team.configure('s3://bucket/s', f'endpoint = http://127.0.0.1:{port}', 'region = x', 'timeout = 1')


def run(p, home, command):
    """The exit code, None if it did not end; what was written; the most memory in kB."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([p.path, *command], env=p.env, cwd=home, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        until = time.monotonic() + FOREVER
        pid = 0
        while not pid and time.monotonic() < until:
            time.sleep(.02)
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if not pid:
            child.kill()
            child.wait()
            return None, b'', 0
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return child.returncode, out.read(), usage.ru_maxrss


def attack(program, plugins, sanitized, kind, name, behave):
    wrong = []
    server = Hostile(behave)
    with tempfile.TemporaryDirectory() as home:
        team = Team(home, os.path.join(plugins, f'{kind}.so'))
        configure(kind, team, server.port)
        p = Program(program, home, {**team.env, 'AWS_ACCESS_KEY_ID': 'A', 'AWS_SECRET_ACCESS_KEY': 'KEPTSECRET',
                                    'PGPASSWORD': 'KEPTSECRET', 'PGCONNECT_TIMEOUT': '5'})
        for command in COMMANDS:
            code, said, memory = run(p, home, command)
            what = f'{kind}, {name}: {command[0]}'
            if code is None:
                wrong.append(f'{what} does not end')
            elif code not in (0, 1, 3, 4, 5):
                wrong.append(f'{what}: exit {code}: {said[-1500:]!r}')
            if memory > MEMORY and sanitized == 'no':
                wrong.append(f'{what}: {memory} kB of memory')
            if any(b < 32 and b != 10 or b == 127 for b in said):
                wrong.append(f'{what}: raw control bytes: {said[:300]!r}')
            if b'KEPTSECRET' in said or b'collation' in said:
                wrong.append(f'{what}: {said[:300]!r}')
            if b'its path' in said:
                wrong.append(f'{what}: the server was not asked: {said[:300]!r}')
            errors = [line for line in said.splitlines() if line.startswith(b'reprise')]
            if code and len(errors) != 1:
                wrong.append(f'{what}: one line is wanted: {said[:300]!r}')
    server.close()
    return wrong


def main():
    program, plugins, sanitized, *only = sys.argv[1:]
    cases = [(kind, name, behave) for kind, table in (('redis', REDIS), ('postgresql', POSTGRESQL), ('s3', S3), ('http', HTTP))
             for name, behave in table.items()
             if os.path.exists(os.path.join(plugins, f'{kind}.so')) and only in ([], [kind], [kind, name])]
    if not cases:
        sys.exit(77)
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda case: attack(program, plugins, sanitized, *case), cases))
    wrong = [line for lines in found for line in lines]
    print('\n'.join(wrong))
    print(f'{len(cases)} servers, {len(wrong)} failed')
    sys.exit(1 if wrong else 0)


main()
