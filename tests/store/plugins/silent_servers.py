"""A server that accepts and never answers costs nothing where this machine has the answer.
   usage: silent_servers.py REPRISE PLUGINS"""
import os
import pty
import select
import subprocess
import sys
import tempfile
import threading
import time

from support.hostile_server import Hostile
from support.program import Program
from support.team_store import Team, put, row_of

FOREVER = 100  # seconds; a machine may be busy
SESSION = '00000003-1111-4111-8111-111111111111'
PATHS = {'redis': 'redis://127.0.0.1:{}/0', 'postgresql': 'host=127.0.0.1 port={} user=u dbname=d',
         'http': 'http://127.0.0.1:{}/s', 's3': 's3://bucket/s?endpoint=http://127.0.0.1:{}&region=x'}
# What this machine answers: no server is asked.
HERE = (['info', SESSION], ['info', SESSION[:8]], ['info', 'latest'], ['info', 'PATH'], ['messages', SESSION, '--tail', '2'], ['checkpoints', SESSION],
        ['subagents', SESSION], ['export', SESSION], ['usage', SESSION], ['blame', 'hello.txt'], ['touched', 'hello.txt'], ['status'], ['board'],
        ['-c', '--print'], ['-r', SESSION, '--print'], ['-r', 'Title 2', '--print'], ['compare', SESSION, '00000004'], ['doctor'], ['doctor', SESSION],
        ['sweep', '--older-than', '1d'], ['tag', SESSION, 'a'], ['rename', SESSION, 'Title 3'], ['archive', '00000004'], ['fork', SESSION],
        ['delete', '00000005'], ['log'], ['undo'], ['trash'], ['complete', '--', 'info', '000'])


class Silent(Hostile):
    """Counts who asked; `give_up` ends all connections."""

    def __init__(self):
        self.asked = 0
        self.over = threading.Event()
        super().__init__(self.wait)

    def wait(self, _connection):
        self.asked += 1
        self.over.wait(FOREVER)

    def give_up(self):
        self.over.set()


def make(top, plugins, kind, servers):
    team = Team(f'{top}/home', os.path.join(plugins, f'{kind}.so'))
    lines = [line for n, server in enumerate(servers) for line in
             (f'[store.team{n}]', f'plugin = {team.plugin}', f'path = {PATHS[kind].format(server.port)}', 'timeout = 1000')]
    put(f'{team.home}/config/reprise/config', '\n'.join([*lines, '']))
    project = f'{team.home}/w'
    folder = f'{team.home}/.claude/projects/' + ''.join(c if c.isalnum() else '-' for c in project)
    for i in range(7):
        session = f'{i:08d}-1111-4111-8111-111111111111'
        rows = [row_of(session, n, f'Prompt {n}').replace('"/w"', f'"{project}"') for n in range(9)]
        put(f'{folder}/{session}.jsonl', '\n'.join([*rows, f'{{"type":"custom-title","customTitle":"Title {i}","sessionId":"{session}"}}', '']))
    put(f'{project}/hello.txt', 'x\n')
    subprocess.run('git init -q . && git add . && git -c user.name=a -c user.email=b commit -qm x', shell=True, cwd=project, check=True)
    p = Program(sys.argv[1], team.home, {**team.env, 'AWS_ACCESS_KEY_ID': 'A', 'AWS_SECRET_ACCESS_KEY': 'B', 'PGPASSWORD': 'C'})
    return p, project, f'{folder}/{SESSION}.jsonl'


def begin(p, project, *words, **more):
    return subprocess.Popen([p.path, *words], env=p.env, cwd=project, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)


def local_commands(p, kind, project, path, server):
    for words in HERE:
        run = p.run('-C', project, *(path if word == 'PATH' else word for word in words))
        p.need(run.returncode == 0 and server.asked == 0, f'{kind}: {words} asked a server: {server.asked} {run}')


def screen(p, kind, project, server):
    """Local rows are there, and the program can be left, while the server is silent."""
    pid, fd = pty.fork()
    if not pid:
        os.chdir(project)
        os.execve(p.path, [p.path], p.env)
    seen, until = b'', time.monotonic() + FOREVER
    while b'Title 6' not in seen and time.monotonic() < until:
        if select.select([fd], [], [], .1)[0]:
            seen += os.read(fd, 65536)
    p.need(b'Title 6' in seen and not server.over.is_set(), f'{kind}: the screen shows no local row: {seen[-500:]!r}')
    os.write(fd, b'\x03')
    gone = 0
    while not gone and time.monotonic() < until:
        if select.select([fd], [], [], .1)[0]:
            try:
                os.read(fd, 65536)
            except OSError:
                pass
        gone = os.waitpid(pid, os.WNOHANG)[0]
    p.need(gone, f'{kind}: the screen waits for the server at its end')
    os.close(fd)


def lists(p, kind, project, servers):
    """What is here comes first, and all servers are asked at the same time."""
    running = [begin(p, project, *words, stdout=subprocess.PIPE) for words in (['list'], ['list', '--limit', '3'], ['search', 'Prompt'])]
    first = [child.stdout.readline() for child in running]
    p.need(all(b'Title' in line or b'Prompt' in line for line in first), f'{kind}: local rows first: {first}')
    left = begin(p, project, 'list', stdout=subprocess.PIPE)
    left.stdout.readline()
    left.terminate()
    p.need(left.wait(FOREVER) != 0, f'{kind}: a list can be ended while it waits')
    left.stdout.close()
    left.stderr.close()
    until = time.monotonic() + FOREVER
    while not all(server.asked for server in servers) and time.monotonic() < until:
        time.sleep(.02)
    p.same(f'{kind}: both servers were asked', [server.asked > 0 for server in servers], [True, True])
    for server in servers:
        server.give_up()
    for child in running:
        out, said = child.communicate(timeout=FOREVER)
        p.need(child.returncode == 0 and said.count(b'\n') == 2, f'{kind}: a line for each server: {child.args} {child.returncode} {out} {said}')


def main():
    kinds = [kind for kind in PATHS if os.path.exists(os.path.join(sys.argv[2], f'{kind}.so'))]
    if not kinds:
        sys.exit(77)
    failed = 0
    for kind in kinds:
        with tempfile.TemporaryDirectory() as top:
            servers = [Silent(), Silent()]
            p, project, path = make(top, sys.argv[2], kind, servers)
            local_commands(p, kind, project, path, servers[0])
            screen(p, kind, project, servers[0])
            lists(p, kind, project, servers)
            for server in servers:
                server.close()
            failed += p.failed + (p.passed < 30)
            print(f'{kind}: {p.passed} passed, {p.failed} failed')
    sys.exit(failed > 0)


main()
