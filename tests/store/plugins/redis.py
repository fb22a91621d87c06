"""Sessions in Redis, with a real server that this test starts in a temporary directory and stops again.
   usage: redis.py REPRISE PLUGIN FIXTURES    exit 77: no server is installed"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from support import certificate
from support.program import Program
from support.redis_server import Server
from support.team_store import ONE, TWO, Team, large, make_local, put, read_rows, row_of

PROJECT = '-home-dev-ws-beta'


def conforms(p, server, team):
    for option in ([], ['prefix=team'], ['prefix=odd*[x]:']):
        server.call('FLUSHALL')
        team.keeps_rules(p, server.url(), *option)
        p.same(f'nothing is left {option}', server.keys(), [])


def up_and_down(p, server, team, fixtures):
    """Pushed, listed, read, removed here, retrieved: the same rows, under the keys of the reference."""
    server.call('FLUSHALL')
    team.configure(server.url(), 'prefix = team:')
    folder = make_local(p.home, fixtures)
    want = {path: read_rows(path) for path in glob.glob(f'{folder}/**/*.json*', recursive=True)}
    p.same('dry run', [r['rows'] > 0 for r in p.json('push', '--dry-run', 'team', ONE)], [True])
    p.same('nothing was written', server.keys(), [])
    before = int(time.time() * 1000)
    first = p.json('push', 'team', ONE)[0]
    p.same('pushed', (first['new'], first['rows']), (True, sum(len(r) for r in want.values())))
    p.same('again', p.json('push', 'team', ONE)[0]['rows'], 0)
    session = f'team:{PROJECT}:{ONE}'
    types = {f'team:{PROJECT}:__sessions': 'zset', session: 'list', f'{session}:__subkeys': 'set',
             f'{session}:subagents/agent-a1': 'list', f'{session}:subagents/nested/agent-b2': 'list'}
    p.same('keys', {key: server.call('TYPE', key)[0] for key in server.keys()}, types)
    p.same('subkeys', sorted(server.call('SMEMBERS', f'{session}:__subkeys')), ['subagents/agent-a1', 'subagents/nested/agent-b2'])
    index = server.call('ZRANGE', f'team:{PROJECT}:__sessions', '0', '-1', 'WITHSCORES')
    p.need(index[0] == ONE and before <= int(index[1]) <= time.time() * 1000, f'the index has the time in ms: {index}')
    p.same('rows', [json.loads(line) for line in server.call('LRANGE', session, '0', '-1')], want[f'{folder}/{ONE}.jsonl'])
    listed = p.json('list', '--all', '--store', 'team')
    p.same('listed', [(r['sessionId'], r['summary']) for r in listed], [(ONE, 'Mock generated title')])
    there = p.json('messages', f'team:{ONE}')
    p.same('the same messages', there, p.json('messages', f'claude:{ONE}'))
    p.same('the newest ones', p.json('messages', f'team:{ONE}', '--tail', '2'), p.json('messages', f'claude:{ONE}', '--tail', '2'))
    p.same('sub-agents', sorted(p.json('subagents', f'team:{ONE}')), ['a1', 'b2'])
    p.same('messages of a sub-agent', p.json('messages', '--agent', 'a1', f'team:{ONE}'), p.json('messages', '--agent', 'a1', f'claude:{ONE}'))
    shutil.rmtree(folder)
    p.same('retrieved', {r['written'] for r in p.json('retrieve', f'team:{ONE}')}, {True})
    got = {path: read_rows(path) for path in glob.glob(f'{folder}/**/*.json*', recursive=True)}
    p.same('the same files with the same rows', got == want, True)
    p.same('unchanged', {r['state'] for r in p.json('retrieve', f'team:{ONE}')}, {'unchanged'})
    server.call('SET', f'team:{PROJECT}:{TWO}', 'another session')
    p.run('delete', '--permanently', f'team:{ONE}')
    p.same('deleted with its sub-agents, and nothing else', server.keys(), [f'team:{PROJECT}:{TWO}'])
    shutil.rmtree(folder)


def mirrors(p, server, team):
    server.call('FLUSHALL')
    team.configure(server.url('?db=3'))
    ids = [f'{i:08d}-1111-4111-8111-111111111111' for i in range(300)]  # more than the list asks for at once
    for i in ids:
        put(f'{p.home}/.claude/projects/-w/{i}.jsonl', ''.join(row_of(i, n, f'Prompt {n}') + '\n' for n in range(30)))
    p.same('all sessions', len(p.json('mirror', '--all', 'team')), 300)
    p.same('in the database of the URL', server.keys(), [])
    p.same('all rows', server.call('-n', '3', 'LLEN', f'-w:{ids[7]}'), ['30'])
    p.same('again', {r['rows'] for r in p.json('mirror', '--all', 'team')}, {0})
    put(f'{p.home}/.claude/projects/-w/{ids[3]}.jsonl', ''.join(row_of(ids[3], n, f'Prompt {n}') + '\n' for n in range(40)))
    p.same('what was added', sum(r['rows'] for r in p.json('mirror', '--all', 'team')), 10)
    listed = p.json('list', '--all', '--store', 'team')
    p.same('first rows', len([r for r in listed if r['firstPrompt'] == 'Prompt 0']), 300)
    pages = p.json('messages', f'team:{ids[3]}', '--tail', '4')
    older = p.json('messages', f'team:{ids[3]}', '--before', pages[0]['uuid'], '--limit', '4')
    p.same('pages backwards', [m['uuid'].split('-')[1] for m in older + pages], [str(n) for n in range(32, 40)])
    shutil.rmtree(f'{p.home}/.claude/projects/-w')


def what_others_wrote(p, server, team):
    """Rows that are not JSON, keys of other types, sessions of which only the name is left."""
    server.call('FLUSHALL')
    team.configure(server.url())
    for member in (row_of(TWO, 0, 'First'), 'not JSON', '{"torn":', row_of(TWO, 1, 'Second\u2028'), ''):
        server.call('RPUSH', f'-w:{TWO}', member)
    server.call('ZADD', '-w:__sessions', '1795400000000', TWO)
    server.call('ZADD', '-w:__sessions', '1795400000001', 'expired')
    server.call('SET', 'foreign:__sessions', 'a text')
    p.same('listed', [(r['sessionId'], r['firstPrompt'], r['lastModified']) for r in p.json('list', '--all', '--store', 'team')],
           [(TWO, 'First', 1795400000000)])
    p.same('its messages', len(p.json('messages', f'team:{TWO}')), 2)
    p.json('retrieve', f'team:{TWO}')
    path = f'{p.home}/.claude/projects/-w/{TWO}.jsonl'
    p.same('retrieved without what is no row', len(read_rows(path)), 2)
    with open(path, 'a', encoding='utf-8') as f:
        f.write(row_of(TWO, 2, 'Third') + '\n')
    p.same('pushed behind what is no row', p.json('push', 'team', TWO)[0]['rows'], 1)
    p.same('there', server.call('LLEN', f'-w:{TWO}'), ['6'])
    server.call('DEL', '-w:__sessions')
    run = p.run('list', '--all', '--store', 'team')
    p.need(b'another type' in run.stderr, f'an index of another type: {run}')
    for wrong in (f'-w:{TWO}', '-w:__sessions'):
        server.call('FLUSHALL')
        server.call('SET', wrong, 'a text')
        run = p.run('push', 'team', TWO)
        p.need(run.returncode == 1 and b'another type' in run.stderr and run.stderr.count(b'\n') == 1, f'{wrong} is a text: {run}')
        p.same(f'{wrong} is a text: nothing was written', server.keys(), [wrong])
    server.call('SET', f'-w:{TWO}', 'a text')
    server.call('DEL', '-w:__sessions')
    server.call('ZADD', '-w:__sessions', '1795400000000', TWO)
    run = p.run('messages', f'team:{TWO}')
    p.need(run.returncode == 1 and b'another type' in run.stderr, f'a transcript of another type: {run}')
    p.same('the list goes on', p.run('list', '--all').returncode, 0)
    os.remove(path)


def passwords(p, server, team):
    server.call('FLUSHALL')
    server.call('RPUSH', f'-w:{TWO}', row_of(TWO, 0, 'First'))
    server.call('ZADD', '-w:__sessions', '1795400000000', TWO)
    server.call('ACL', 'SETUSER', 'ann', 'on', '>of ann', '~*', '+@all')
    server.call('ACL', 'SETUSER', 'default', 'resetpass', '>of all')

    def lists(code, why, *lines, path=server.url(), **env):
        team.configure(path, *lines)
        run = subprocess.run([p.path, 'list', '--all', '--store', 'team'], env={**p.env, **env}, cwd=p.home, capture_output=True, check=False)
        text = run.stdout + run.stderr
        p.need(run.returncode == code and why in text and b'of all' not in text and b'of ann' not in text, f'{path} {lines} {env}: {run}')

    secret = f'{p.home}/secret'
    lists(1, b'needs a password')
    lists(1, b'wrong password', REDISCLI_AUTH='of all that')
    lists(0, b'First', REDISCLI_AUTH='of all')
    lists(0, b'First', 'user = ann', REDISCLI_AUTH='of ann')
    lists(0, b'First', path=f'redis://ann@{server.socket}', REDISCLI_AUTH='of ann')
    put(secret, 'of all\n')
    os.chmod(secret, 0o644)
    lists(1, b'others can read it', f'password-file = {secret}')
    os.chmod(secret, 0o600)
    lists(0, b'First', f'password-file = {secret}')
    lists(0, b'First', 'password-file = ~/secret')
    lists(1, b'password-file: No such file', f'password-file = {p.home}/nowhere')
    for path in ('redis://ann:of%20ann@localhost', 'redis://localhost?password=of+ann'):
        lists(4, b'contains a password', path=path)
    server.call('ACL', 'SETUSER', 'default', 'nopass', user='of all')
    lists(0, b'First', REDISCLI_AUTH='any')
    for path, why in [(f'rediss://{server.socket}', b'no TLS'), ('rediss://localhost?ca-file=here', b'absolute path'), ('http://localhost', b'needs redis://'), ('redis://localhost/x', b'number of a database'),
                      ('redis://localhost:x', b'port'), (server.url('?db=9999'), b'out of range'), ('redis:///nowhere/socket', b'No such file')]:
        lists(1, why, path=path)
    lists(1, b'prefx is not a setting of this store', 'prefx = team:')
    lists(0, b'First', 'timeout = 9', 'project = p', REDISCLI_AUTH='any')


def gone_in_the_middle(p, server, team):
    """The server is killed while rows go up and come down: nothing half-written is listed, and the next run goes on."""
    server.call('FLUSHALL')
    team.configure(server.url())
    path, key = f'{p.home}/.claude/projects/-w/{TWO}.jsonl', f'-w:{TWO}'
    large(path, TWO, 20000)
    push = subprocess.Popen([p.path, 'push', 'team', TWO], env=p.env, cwd=p.home, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    while server.call('LLEN', key) == ['0'] and push.poll() is None:
        pass
    server.kill()
    _, text = push.communicate()
    p.need(push.returncode == 0 or (push.returncode == 1 and text.count(b'\n') == 1), f'killed in a push: {push.returncode} {text!r}')
    run = p.run('list', '--all')
    p.need(run.returncode == 0 and TWO[:8].encode() in run.stdout and run.stderr.count(b'\n') == 1, f'without a server: {run}')
    p.same('alone', p.run('list', '--all', '--store', 'team').returncode, 1)
    server.start()
    before = int(server.call('LLEN', key)[0])
    pushed = p.json('push', 'team', TWO)[0]['rows']
    p.same('it went on', before + pushed, 20000)
    rows = [json.loads(line)['uuid'] for line in server.call('LRANGE', key, '0', '-1')]
    p.same('no row twice, all in order', rows == [f'{i:08d}' for i in range(20000)], True)
    os.remove(path)
    pull = subprocess.Popen([p.path, 'retrieve', f'team:{TWO}'], env=p.env, cwd=p.home, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    time.sleep(0.03)
    server.kill()
    _, text = pull.communicate()
    whole = pull.returncode == 0
    p.need(whole or text.count(b'\n') == 1, f'killed in a retrieve: {pull.returncode} {text!r}')
    p.same('whole or not there', os.path.exists(path), whole)
    server.start()
    if not whole:
        p.run('retrieve', f'team:{TWO}')
    p.same('then all of it', len(read_rows(path)), 20000)
    silent(p, server, team)


def silent(p, server, team):
    """A server that takes connections and says nothing."""
    team.configure(server.url(), 'timeout = 1')
    server.process.send_signal(signal.SIGSTOP)
    run = p.run('list', '--all', '--store', 'team')
    server.process.send_signal(signal.SIGCONT)
    p.need(run.returncode == 1 and b'not answered for 1 second' in run.stderr, f'silent: {run}')


def encrypted(p, server, team):
    """A server that talks TLS only, and proves who it is; with a certificate of the client, too."""
    made = certificate.make(p.home)
    if not made:
        return
    cert, key = made
    port = certificate.free_port()
    server.kill()
    tls = ['--bind', '127.0.0.1', '--tls-port', str(port), '--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert]
    server.start(*tls, '--tls-auth-clients', 'no')
    server.call('FLUSHALL')
    path = f'{p.home}/.claude/projects/-w/{TWO}.jsonl'
    large(path, TWO, 20000)

    def lists(code, why, *lines, scheme='rediss', host='127.0.0.1'):
        team.configure(f'{scheme}://{host}:{port}', *lines)
        run = p.run('list', '--all', '--store', 'team')
        p.need(run.returncode == code and why in run.stderr and run.stderr.count(b'\n') == (why != b''), f'{scheme} {host} {lines}: {run}')

    lists(1, b'certificate')
    lists(1, b'certificate', f'ca-file = {cert}', host='localhost')
    lists(1, b'ca-file', f'ca-file = {p.home}/nowhere')
    lists(1, b'ca-file', f'ca-file = {server.socket}')
    lists(1, b'requires TLS', scheme='redis')
    lists(0, b'no sessions', f'ca-file = {cert}')
    p.same('pushed with TLS', p.json('push', 'team', TWO)[0]['rows'], 20000)
    os.remove(path)
    p.json('retrieve', f'team:{TWO}')
    p.same('retrieved with TLS', [row['uuid'] for row in read_rows(path)] == [f'{i:08d}' for i in range(20000)], True)
    os.remove(path)
    p.env['SSL_CERT_FILE'] = cert
    lists(0, b'')
    del p.env['SSL_CERT_FILE']
    server.kill()
    server.start(*tls)
    lists(1, b'open store', f'ca-file = {cert}')  # the server may close the connection before its reason is read
    lists(0, b'', f'ca-file = {cert}', f'cert-file = {cert}', f'key-file = {key}')
    lists(1, b'key-file', f'ca-file = {cert}', f'cert-file = {cert}', f'key-file = {cert}')
    server.kill()
    server.start('--bind', '127.0.0.1', '--port', str(port))
    lists(1, b'not answered', 'timeout = 1', f'ca-file = {cert}')
    lists(0, b'', scheme='redis')


def main():
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(f'{top}/redis')
        server = Server(f'{top}/redis')
        team = Team(f'{top}/home', sys.argv[2])
        p = Program(sys.argv[1], team.home, team.env)
        try:
            conforms(p, server, team)
            up_and_down(p, server, team, sys.argv[3])
            server.call('FLUSHALL')
            team.newer_wins(p, server.url(), sys.argv[3])
            p.same('the project of the configuration', server.call('ZCARD', 'tenant:__sessions'), ['1'])
            server.call('FLUSHALL')
            team.goes_round(p, server.url())
            mirrors(p, server, team)
            what_others_wrote(p, server, team)
            passwords(p, server, team)
            server.call('FLUSHALL')
            team.three_at_once(p, server.url(), lambda: server.call('LRANGE', f'-w:{TWO}', '0', '-1'))
            server.call('FLUSHALL')
            team.pages_far_back(p, server.url())
            server.call('FLUSHALL')
            team.pulls_in_little_memory(p)
            server.call('FLUSHALL')
            shutil.rmtree(f'{team.home}/state')
            team.pushes_without_secrets(p, lambda: server.call('LRANGE', f'-w:{TWO}', '0', '-1'))
            server.call('FLUSHALL')
            gone_in_the_middle(p, server, team)
            encrypted(p, server, team)
        finally:
            server.kill()
        print(f'{p.passed} passed, {p.failed} failed')
        sys.exit(p.failed > 0)


main()
