"""Sessions in PostgreSQL, with a real server that this test starts in a temporary directory and stops again.
   usage: postgresql.py REPRISE PLUGIN FIXTURES    exit 77: no server is installed"""
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from support import certificate
from support.postgresql_server import Server
from support.program import Program
from support.team_store import ONE, TWO, Team, large, make_local, put, read_rows, row_of

PYTHON, TYPESCRIPT = 'claude_session_store', 'claude_session_entries'


def clear(server):
    server.sql(f'DROP TABLE IF EXISTS {PYTHON}; DROP TABLE IF EXISTS {TYPESCRIPT};')


def conforms(p, server, team):
    for schema in ('python', 'typescript'):
        clear(server)
        team.keeps_rules(p, server.url(), f'create={schema}')


def up_and_down(p, server, team, fixtures, schema, table):
    """Pushed, listed, read, removed here, retrieved: the same rows."""
    clear(server)
    team.configure(server.url(), f'create = {schema}')
    folder = make_local(p.home, fixtures)
    want = {path: read_rows(path) for path in glob.glob(f'{folder}/**/*.json*', recursive=True)}
    p.same(f'{schema}: dry run', [r['rows'] > 0 for r in p.json('push', '--dry-run', 'team', ONE)], [True])
    p.same(f'{schema}: nothing was written', server.sql(f'SELECT count(*) FROM {table}'), ['0'])
    first = p.json('push', 'team', ONE)[0]
    p.same(f'{schema}: pushed', (first['new'], first['rows']), (True, sum(len(r) for r in want.values())))
    p.same(f'{schema}: again', p.json('push', 'team', ONE)[0]['rows'], 0)
    rows = server.sql(f"SELECT DISTINCT coalesce(subpath, '') FROM {table} ORDER BY 1")
    p.same(f'{schema}: keys', rows, ['', 'subagents/agent-a1', 'subagents/nested/agent-b2'])
    listed = p.json('list', '--all', '--store', 'team')
    p.same(f'{schema}: listed', [(r['sessionId'], r['summary']) for r in listed], [(ONE, 'Mock generated title')])
    there = p.json('messages', f'team:{ONE}')
    p.same(f'{schema}: the same messages', there, p.json('messages', f'claude:{ONE}'))
    p.same(f'{schema}: sub-agents', sorted(p.json('subagents', f'team:{ONE}')), ['a1', 'b2'])
    p.same(f'{schema}: messages of a sub-agent', p.json('messages', '--agent', 'a1', f'team:{ONE}'),
           p.json('messages', '--agent', 'a1', f'claude:{ONE}'))
    shutil.rmtree(folder)
    p.same(f'{schema}: retrieved', {r['written'] for r in p.json('retrieve', f'team:{ONE}')}, {True})
    got = {path: read_rows(path) for path in glob.glob(f'{folder}/**/*.json*', recursive=True)}
    p.same(f'{schema}: the same files', sorted(got), sorted(want))
    p.same(f'{schema}: with the same rows', got == want, True)
    with open(f'{folder}/{ONE}.jsonl', encoding='utf-8') as f:
        p.need(all(line.startswith('{"type":') for line in f), f'{schema}: type comes first')
    p.same(f'{schema}: unchanged', {r['state'] for r in p.json('retrieve', f'team:{ONE}')}, {'unchanged'})
    p.same(f'{schema}: the same messages of the copy', p.json('messages', f'claude:{ONE}'), there)
    p.run('delete', '--permanently', f'team:{ONE}')
    p.same(f'{schema}: deleted with its sub-agents', server.sql(f'SELECT count(*) FROM {table}'), ['0'])
    shutil.rmtree(folder)


def bad_rows_are_named(p, server, team):
    clear(server)
    team.configure(server.url(), 'create = python')
    folder = f'{p.home}/.claude/projects/-w'
    row = '{"type":"user","uuid":"u%d","sessionId":"%s","message":{"role":"user","content":"%s"}}\n'
    for text in ('a \\u0000 b', 'a \\ud800 b'):
        put(f'{folder}/{TWO}.jsonl', row % (1, TWO, 'fine') + row % (2, TWO, text) + row % (3, TWO, 'fine'))
        run = p.run('push', 'team', TWO)
        p.need(run.returncode == 5 and b'line 2' in run.stderr and run.stderr.count(b'\n') == 1, f'{text}: {run}')
        p.same(f'{text}: nothing of the batch was added', server.sql(f'SELECT count(*) FROM {PYTHON}'), ['0'])
    shutil.rmtree(folder)


def mirrors(p, server, team):
    clear(server)
    team.configure(server.url(), 'create = typescript')
    row = '{"type":"user","uuid":"%s-%d","sessionId":"%s","cwd":"/w","message":{"role":"user","content":"Prompt %d"}}\n'
    ids = [f'{i:08d}-1111-4111-8111-111111111111' for i in range(20)]
    for i in ids:
        put(f'{p.home}/.claude/projects/-w/{i}.jsonl', ''.join(row % (i, n, i, n) for n in range(30)))
    p.same('all sessions', len(p.json('mirror', '--all', 'team')), 20)
    p.same('all rows', server.sql(f'SELECT count(*) FROM {TYPESCRIPT}'), ['600'])
    p.same('again', {r['rows'] for r in p.json('mirror', '--all', 'team')}, {0})
    put(f'{p.home}/.claude/projects/-w/{ids[3]}.jsonl', ''.join(row % (ids[3], n, ids[3], n) for n in range(40)))
    p.same('what was added', sum(r['rows'] for r in p.json('mirror', '--all', 'team')), 10)
    p.same('of one directory', len(p.json('mirror', '--project', '/nowhere', 'team')), 0)
    p.same('first rows', len([r for r in p.json('list', '--all', '--store', 'team') if r['firstPrompt'] == 'Prompt 0']), 20)
    shutil.rmtree(f'{p.home}/.claude/projects/-w')


def newest_of_many(p, server, team, schema, table):
    """The newest sessions of a table that is read whole, as its statistics allow, are those found in the index."""
    clear(server)
    team.configure(server.url(), f'create = {schema}')
    p.run('list', '--all', '--store', 'team')
    main, at, of = ("''", 'mtime', '%s') if schema == 'python' else ('NULL', 'created_at', 'to_timestamp(%s / 1000.0)')

    def insert(sessions, rows, subpath=main, project="'-w'", later=0):
        time_ms = of % f'(1795400000000 + s * 7919 % 1000 * 1000 + r + {later})'
        server.sql(f"""INSERT INTO {table} (project_key, session_id, subpath, entry, {at})
            SELECT {project}, lpad(s::text, 8, '0') || '-1111-4111-8111-111111111111', {subpath}, jsonb_build_object('type', 'user', 'uuid', s || '-' || r,
            'cwd', '/w', 'message', jsonb_build_object('role', 'user', 'content', 'Prompt ' || s || repeat(' word', 20))), {time_ms}
            FROM generate_series({sessions}) s, generate_series(1, {rows}) r""")

    def newest():
        with open(f'{server.top}/log', 'r+', encoding='utf-8') as f:
            f.truncate(0)
            found = [(r['sessionId'], r['lastModified'], r['summary']) for r in p.json('list', '--all', '--store', 'team', '--limit', '70')]
            return found, 'HAVING' in f.read()

    server.sql("ALTER SYSTEM SET log_statement = 'all'; SELECT pg_reload_conf();")
    insert('1, 200', 5)
    insert('1, 200, 7', 2, "'subagents/agent-a1'", later=3600000)
    insert('500, 510', 2, "'subagents/agent-a1'", later=3600000)  # without a main transcript
    insert('600, 700', 3, project="'other'")
    in_index = newest()
    server.sql(f'ANALYZE {table}')
    p.same(f'{schema}: found in the index', (len(in_index[0]), in_index[1]), (70, False))
    p.same(f'{schema}: without times in the rows, the last one stored is the newest', in_index[0], sorted(in_index[0], key=lambda r: -r[1]))
    p.same(f'{schema}: the table is read', newest(), (in_index[0], True))
    server.sql(f'TRUNCATE {table}')
    insert('1, 3', 9000)
    server.sql(f'ANALYZE {table}')
    p.same(f'{schema}: many rows a session', newest()[1], False)
    if schema == 'python':  # the size of a partitioned table is 0, that of its parts is not
        server.sql(f"""ALTER TABLE {table} RENAME TO whole; CREATE TABLE {table} (LIKE whole INCLUDING DEFAULTS) PARTITION BY HASH (session_id);
            CREATE TABLE part PARTITION OF {table} FOR VALUES WITH (MODULUS 1, REMAINDER 0);""")
        insert('1, 3', 30)
        server.sql(f'ANALYZE {table}')
        found = newest()
        p.same('a partitioned table', (len(found[0]), found[1]), (3, False))
        server.sql(f'DROP TABLE {table}; DROP TABLE whole;')
    server.sql("ALTER SYSTEM RESET log_statement; SELECT pg_reload_conf();")


def faults(p, server, team, fixtures):
    clear(server)
    team.configure(server.url())
    one_line = [(['list', '--all'], 0, b'no table'), (['list', '--all', '--store', 'team'], 3, b'no table')]
    for words, code, why in one_line:
        run = p.run(*words)
        p.need(run.returncode == code and why in run.stderr, f'table missing: {words}: {run}')
    server.sql('CREATE TABLE other (a int)')
    team.configure(server.url(), 'table = other')
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 1 and b'none of the two known schemas' in run.stderr, f'another schema: {run}')
    team.configure(server.url(), 'create = typescript', 'table = third')
    p.same('a table of another name', [p.run('list', '--all', '--store', 'team').returncode for _ in range(2)], [0, 0])
    server.sql('DROP TABLE third')
    team.configure(server.url(), 'table = x; DROP TABLE other')
    p.need(p.run('list', '--all', '--store', 'team').returncode == 1, 'a table name that is none')
    team.configure(server.url(), 'tabel = other')
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 1 and b'tabel is not a setting of this store' in run.stderr, f'an unknown setting: {run}')
    server.sql("DROP TABLE other; CREATE USER ann PASSWORD 'right'")
    for path, why in [(server.url('ann'), b'password'), (server.url('ann') + '&password=right', b'contains a password'),
                      (f'host={server.top} user=ann password=right', b'contains a password')]:
        put(f'{p.home}/config/reprise/config', f'[store.team]\nplugin = {team.plugin}\npath = {path}\n')
        run = p.run('list', '--all', '--store', 'team')
        p.need(run.returncode in (1, 4) and why in run.stderr and b'right' not in run.stderr, f'{path}: {run}')
    put(f'{p.home}/.pgpass', '*:*:*:ann:right\n')
    os.chmod(f'{p.home}/.pgpass', 0o600)
    put(f'{p.home}/config/reprise/config', f'[store.team]\nplugin = {team.plugin}\npath = {server.url("ann")}\n')
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 3 and b'no table' in run.stderr, f'the password of ~/.pgpass: {run}')
    os.rename(f'{p.home}/.pgpass', f'{p.home}/passwords')
    p.env['PGPASSFILE'] = f'{p.home}/passwords'
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 3 and b'no table' in run.stderr, f'the password of PGPASSFILE: {run}')
    del p.env['PGPASSFILE']
    p.same('without it', p.run('list', '--all', '--store', 'team').returncode == 3, False)
    rows_of_others(p, server, team)
    without_tls(p, team)
    with_tls(p, server, team)
    gone_in_the_middle(p, server, team, fixtures)


def rows_of_others(p, server, team):
    """JSON that no agent has written is no session, and holds up none."""
    clear(server)
    team.configure(server.url(), 'create = python')
    p.run('list', '--all', '--store', 'team')
    for i, entry in enumerate(('{"a": 1}', '[1]', '"text"', 'null', '{"type": 7, "message": 8, "uuid": []}')):
        server.sql(f"INSERT INTO {PYTHON}(project_key, session_id, entry, mtime) VALUES ('-w', 'other-{i}', '{entry}', 1795400000000)")
    server.sql(f"INSERT INTO {PYTHON}(project_key, session_id, entry, mtime) VALUES ('-w', '{TWO}', '{row_of(TWO, 0, 'First')}', 1795400000000)")
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 0 and b'First' in run.stdout and run.stdout.count(b'\n') == 1 and not run.stderr, f'rows of others: {run}')
    for i in range(5):
        run = p.run('messages', f'team:other-{i}')
        p.need(run.returncode >= 0 and run.stderr.count(b'\n') <= 1, f'messages of others: {run}')
    clear(server)


def without_tls(p, team):
    """A server that has no TLS, where the configuration wants it."""
    with socket.create_server(('127.0.0.1', 0)) as listening:
        def refuse():
            connection, _ = listening.accept()
            with connection:
                connection.recv(8)  # the request for TLS
                connection.sendall(b'N')
        thread = threading.Thread(target=refuse)
        thread.start()
        team.configure(f'postgresql://me@127.0.0.1:{listening.getsockname()[1]}/postgres?sslmode=require')
        run = p.run('list', '--all', '--store', 'team')
        thread.join()
    p.need(run.returncode == 1 and b'does not support SSL' in run.stderr and run.stderr.count(b'\n') == 1, f'without TLS: {run}')


def with_tls(p, server, team):
    """A server that requires TLS, and proves who it is."""
    made = certificate.make(p.home)
    if not made:
        return
    port = certificate.free_port()
    clear(server)
    server.stop()
    server.start_with_tls(*made, port)

    def lists(code, why, mode, host='127.0.0.1'):
        team.configure(f'postgresql://me@{host}:{port}/postgres?{mode}', 'create = python')
        run = p.run('list', '--all', '--store', 'team')
        p.need(run.returncode == code and why in run.stderr and run.stderr.count(b'\n') == 1, f'TLS {mode} {host}: {run}')

    lists(1, b'no encryption', 'sslmode=disable')
    lists(1, b'certificate', 'sslmode=verify-full')
    lists(1, b'certificate', f'sslmode=verify-full&sslrootcert={made[0]}', 'localhost')
    with socket.socket() as closed:  # bound, but nothing listens
        closed.bind(('127.0.0.1', 0))
        lists(1, b'certificate', f'sslmode=verify-full&sslrootcert={made[0]}', f'127.0.0.1:{closed.getsockname()[1]},localhost')
    lists(0, b'no sessions', f'sslmode=verify-full&sslrootcert={made[0]}')
    lists(0, b'no sessions', 'sslmode=require')
    server.stop()
    server.start()


def gone_in_the_middle(p, server, team, fixtures):
    """The server is killed while rows go up and come down: nothing half-written is listed, and the next run goes on."""
    team.configure(server.url(), 'create = python')
    path = f'{p.home}/.claude/projects/-w/{TWO}.jsonl'
    large(path, TWO, 20000)
    push = subprocess.Popen([p.path, 'push', 'team', TWO], env=p.env, cwd=p.home, stderr=subprocess.PIPE)
    while not server.sql(f"SELECT 1 FROM pg_class WHERE relname = '{PYTHON}'") or int(server.sql(f'SELECT count(*) FROM {PYTHON}')[0]) == 0:
        time.sleep(0.01)
        if push.poll() is not None:
            break
    server.stop()
    _, text = push.communicate()
    p.need(push.returncode == 1 and text.count(b'\n') == 1, f'killed in a push: {push.returncode} {text!r}')
    run = p.run('list', '--all')
    p.need(run.returncode == 0 and TWO[:8].encode() in run.stdout and run.stderr.count(b'\n') == 1, f'without a server: {run}')
    p.same('alone', p.run('list', '--all', '--store', 'team').returncode, 1)
    server.start()
    before = int(server.sql(f'SELECT count(*) FROM {PYTHON}')[0])
    pushed = p.json('push', 'team', TWO)[0]['rows']
    p.same('it went on', before + pushed, 20000)
    p.same('no row twice', server.sql(f"SELECT count(*), count(DISTINCT entry->>'uuid') FROM {PYTHON}"), ['20000|20000'])
    os.remove(path)
    pull = subprocess.Popen([p.path, 'retrieve', f'team:{TWO}'], env=p.env, cwd=p.home, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    time.sleep(0.05)
    os.kill(server.pid(), signal.SIGQUIT)
    _, text = pull.communicate()
    whole = pull.returncode == 0
    p.need(whole or text.count(b'\n') == 1, f'killed in a retrieve: {pull.returncode} {text!r}')
    p.same('whole or not there', os.path.exists(path), whole)
    while os.path.exists(f'{server.top}/data/postmaster.pid'):
        time.sleep(0.05)
    server.start()
    if not whole:
        p.run('retrieve', f'team:{TWO}')
    p.same('then all of it', len(read_rows(path)), 20000)


def main():
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        os.mkdir(f'{top}/pg')
        server = Server(f'{top}/pg')
        team = Team(f'{top}/home', sys.argv[2])
        p = Program(sys.argv[1], team.home, team.env)
        try:
            conforms(p, server, team)
            up_and_down(p, server, team, sys.argv[3], 'python', PYTHON)
            up_and_down(p, server, team, sys.argv[3], 'typescript', TYPESCRIPT)
            clear(server)
            team.newer_wins(p, server.url(), sys.argv[3], 'create = python')
            p.same('the project of the configuration', server.sql(f'SELECT DISTINCT project_key FROM {PYTHON}'), ['tenant'])
            server.sql(f'TRUNCATE {PYTHON}')
            team.goes_round(p, server.url())
            server.sql(f'TRUNCATE {PYTHON}')
            team.three_at_once(p, server.url(), lambda: server.sql(f"SELECT entry FROM {PYTHON} WHERE session_id = '{TWO}' ORDER BY seq"))
            server.sql(f'TRUNCATE {PYTHON}')
            team.pages_far_back(p, server.url())
            server.sql(f'TRUNCATE {PYTHON}')
            team.pulls_in_little_memory(p)
            server.sql(f'TRUNCATE {PYTHON}')
            bad_rows_are_named(p, server, team)
            mirrors(p, server, team)
            newest_of_many(p, server, team, 'python', PYTHON)
            newest_of_many(p, server, team, 'typescript', TYPESCRIPT)
            faults(p, server, team, sys.argv[3])
        finally:
            server.stop()
        print(f'{p.passed} passed, {p.failed} failed')
        sys.exit(p.failed > 0)


main()
