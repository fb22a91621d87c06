"""Compares reprise with plain SQL on a server that this program starts: the list of many sessions with one SELECT of the rows that it
is made from, and a retrieve with a COPY of the same rows to a file.
   usage: bench_postgresql.py REPRISE PLUGIN SESSIONS BYTES ROUNDS"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from support.postgresql_server import Server
from support.program import Program

SESSION = '11111111-1111-4111-8111-111111111111'
ROWS = """INSERT INTO claude_session_store (project_key, session_id, entry, mtime)
SELECT '-w', lpad(s::text, 8, '0') || '-1111-4111-8111-111111111111',
  CASE WHEN mod(r, 2) = 1 THEN jsonb_build_object('type', 'user', 'uuid', s || '-' || r, 'cwd', '/w', 'gitBranch', 'main',
    'timestamp', '2026-02-09T02:48:28.000Z', 'message', jsonb_build_object('role', 'user', 'content', 'Prompt ' || r || ' of ' || s))
  ELSE jsonb_build_object('type', 'assistant', 'uuid', s || '-' || r, 'timestamp', '2026-02-09T02:48:29.000Z', 'message',
    jsonb_build_object('role', 'assistant', 'content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('word ', %d))))) END,
  1795400000000 + s FROM generate_series(%d, %d) s, generate_series(1, %d) r;"""


def best(rounds, call):
    times = []
    for _ in range(rounds):
        began = time.monotonic()
        call()
        times.append(time.monotonic() - began)
    return min(times)


def show(what, ours, theirs):
    print(f'{what:45} {ours * 1000:9.0f} ms {theirs * 1000:9.0f} ms {ours / theirs:6.2f}')


def main():
    sessions, size, rounds = (int(text) for text in sys.argv[3:6])
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        os.mkdir(f'{top}/pg')
        server = Server(f'{top}/pg')
        home = f'{top}/home'
        os.makedirs(f'{home}/config/reprise', mode=0o700)
        shutil.copy(sys.argv[2], f'{home}/postgresql.so')
        os.chmod(f'{home}/postgresql.so', 0o700)
        with open(f'{home}/config/reprise/config', 'w', encoding='utf-8') as f:
            f.write(f'[store.team]\nplugin = {home}/postgresql.so\npath = {server.url()}\ncreate = python\n')
        p = Program(sys.argv[1], home, {'XDG_CONFIG_HOME': f'{home}/config', 'XDG_STATE_HOME': f'{home}/state',
                                        'XDG_DATA_HOME': f'{home}/data'})
        try:
            p.run('list', '--all', '--store', 'team')
            server.sql(ROWS % (100, 1, sessions, 20) + 'ANALYZE claude_session_store;')
            found = len(p.json('list', '--all', '--store', 'team'))
            if found != sessions:
                sys.exit(f'{found} sessions instead of {sessions}')
            select = ("SELECT k.session_id, e.entry FROM (SELECT DISTINCT project_key, session_id FROM claude_session_store) k CROSS JOIN "
                      "LATERAL (SELECT entry FROM claude_session_store c WHERE c.project_key = k.project_key AND c.session_id = k.session_id "
                      "AND subpath = '' ORDER BY seq LIMIT 20) e;")
            show(f'list {sessions} sessions / SELECT of their rows', best(rounds, lambda: p.run('list', '--all', '--json', '--store', 'team')),
                 best(rounds, lambda: server.sql(select)))
            server.sql('TRUNCATE claude_session_store;' + (ROWS % (1000, 1, 1, size // 2600)).replace("lpad(s::text, 8, '0')", "'11111111'"))
            bytes_there = int(server.sql('SELECT sum(length(entry::text)) FROM claude_session_store')[0])

            def retrieve():
                shutil.rmtree(f'{home}/.claude', ignore_errors=True)
                shutil.rmtree(f'{home}/state', ignore_errors=True)
                run = p.run('retrieve', f'team:{SESSION}')
                if run.returncode:
                    sys.exit(f'{run}')

            show(f'retrieve {bytes_there / 1e6:.0f} MB / COPY to a file', best(rounds, retrieve),
                 best(rounds, lambda: subprocess.run([f'{server.bin}/psql', '-h', server.top, '-U', 'me', '-d', 'postgres', '-qc',
                                                      f'\\copy (SELECT entry FROM claude_session_store ORDER BY seq) to {top}/copy'], check=True)))
        finally:
            server.stop()


main()
