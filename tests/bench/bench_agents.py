"""Lists many sessions of each agent, copied with new ids from the recorded or made stores, against reading all of their files.
Every copy must be listed.
   usage: bench_agents.py REPRISE SESSIONS ROUNDS [AGENT...]"""
import glob
import os
import re
import resource
import sqlite3
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..'), os.path.join(HERE, '..', 'store', 'systems', 'recorded')]

from agents import AGENTS
from recorded_store import RecordedStore
from support.program import Program

FIRST = 0x10000000  # the number in the first new id


def new_id(id, number):
    """The first eight digits are another number, because agents name files after them; of an id that begins with a time, the last."""
    if re.fullmatch('[0-9a-f-]{14}7[0-9a-f-]{21}', id):
        return f'{id[:28]}{number:08x}'
    return re.sub('[0-9a-f]{8}', f'{number:08x}', id, count=1)


def copy_rows(path, old, new, number):
    """The session's row, and rows about it, whose own ids become new ones."""
    db = sqlite3.connect(path)
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('session', 'message', 'part')").fetchall():
        of = 'id' if table == 'session' else 'session_id'
        found = db.execute(f'SELECT * FROM {table} WHERE {of} = ?', (old,))
        names = [d[0] for d in found.description]
        for row in found.fetchall():
            made = [v.replace(old, new) if isinstance(v, str) else v for v in row]
            for i, name in enumerate(names):
                if made[i] and made[i] != new and (name, table) in (('id', 'message'), ('id', 'part'), ('message_id', 'part')):
                    made[i] = f'{made[i]}{number:06}'
            db.execute(f'INSERT INTO {table} VALUES ({",".join("?" * len(made))})', made)
    db.commit()
    db.close()


def copy_session(home, files, databases, old, new, number):
    for path, data, times in files:
        at = path.replace(old, new)
        at = at.replace(old[:8], new[:8]) if at == path else at
        assert at != path, path
        os.makedirs(os.path.dirname(f'{home}/{at}'), exist_ok=True)
        with open(f'{home}/{at}', 'wb') as f:
            f.write(data.replace(old.encode(), new.encode()))
        os.utime(f'{home}/{at}', ns=times)
    for path in databases:
        copy_rows(path, old, new, number)


def session_files(home, id, ids):
    """Those that have its id, or the first eight digits if no other has them, in their paths; compressed ones are left out."""
    paths = [p for p in glob.glob(f'{home}/.*/**/*', recursive=True, include_hidden=True) if os.path.isfile(p) and not p.endswith('.zst')]
    short = f'[_-]{re.escape(id[:8])}[./]' if sum(i[:8] == id[:8] for i in ids) == 1 else re.escape(id)
    made = []
    for path in (p for p in paths if id in p or re.search(short, p)):
        st = os.stat(path)
        with open(path, 'rb') as f:
            made.append((os.path.relpath(path, home), f.read(), (st.st_atime_ns, st.st_mtime_ns)))
    return made


def read_all(home):
    n = 0
    for folder, _, files in os.walk(home):
        for name in files:
            with open(os.path.join(folder, name), 'rb', buffering=0) as f:
                while piece := f.read(1 << 20):
                    n += len(piece)
    return n


def timed(act, who):
    """The time of a call, and its time on a processor, of this process or of its children."""
    begin, before = time.perf_counter(), resource.getrusage(who)
    act()
    took, after = time.perf_counter() - begin, resource.getrusage(who)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def race(rounds, ours, theirs):
    """The shortest times of both, which run alternately, so that they see the same machine."""
    taken = [(*timed(ours, resource.RUSAGE_CHILDREN), *timed(theirs, resource.RUSAGE_SELF)) for _ in range(rounds)]
    return (min(column) for column in zip(*taken))


def measure(program, agent, sessions, rounds):
    store = RecordedStore(agent)
    try:
        store.fill()
        p = Program(program, store.home, store.environment())
        listed = {r['sessionId'] for r in p.json('list', '--all') if r['system'] == agent.name}
        databases = glob.glob(f'{store.home}/.local/share/opencode/*.db') if agent.name == 'opencode' else []
        sources = [s.id for s in store.expected.sessions if s.listed and not s.store and s.id in listed and re.search('[0-9a-f]{8}', s.id)]
        files = {id: session_files(store.home, id, listed) for id in sources}
        sources = [id for id in sources if files[id] or databases]
        p.need(sources, f'{agent.name}: no session can be copied')
        for number in range(sessions):
            old = sources[number % len(sources)]
            copy_session(store.home, files[old], databases, old, new_id(old, FIRST + number), number)
        rows = p.json('list', '--all')
        p.need(len(rows) >= sessions + len(listed), f'{agent.name}: {len(rows)} sessions are listed, want {sessions + len(listed)}')
        size = read_all(store.home)
        ours, ours_cpu, theirs, theirs_cpu = race(rounds, lambda: p.run('list', '--all', '--json'), lambda: read_all(store.home))
        print(f'  {agent.name:9} {len(rows):5} sessions {size / 1e6:7.1f} MB   list {ours * 1e3:7.1f} ms   reading {theirs * 1e3:7.1f} ms   '
              f'cpu {ours_cpu / theirs_cpu:5.2f} times   ratio {ours / theirs:5.2f}', flush=True)
        return p
    finally:
        store.remove()


def main(program, sessions, rounds, *names):
    failed = 0
    print('agents: lists beside reading all files, best of the rounds', flush=True)
    for name in names or AGENTS:
        failed += measure(program, AGENTS[name], int(sessions), int(rounds)).failed
    sys.exit(1 if failed else 0)


main(*sys.argv[1:])
