#!/usr/bin/env python3
"""Sessions whose first prompt is behind or beside a long paste or a screenshot are listed by their prompts, for each agent, and the
time of the last message is found although it is in a long row.

usage: long_prompts.py PROGRAM
"""
import datetime
import json
import os
import re
import sqlite3
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..')]

from support.agent_sessions import AGENTS, DOCUMENTS, TIMELESS, uuid, write
from support.program import Program

AT = 1795770000
K = 1000
# What is in front of the prompt, beside it and behind it.
SHAPES = {
    'small': {},
    'many rows': {'pad': [700] * 300},
    'a long row': {'pad': [1500 * K]},
    'rows of all sizes': {'pad': [10, 70 * K, 5, 300 * K, 5, 900 * K]},
    'image before': {'front': 1200 * K},
    'image behind': {'behind': 1200 * K},
    'all': {'pad': [3000, 120 * K], 'front': 400 * K, 'behind': 700 * K},
    'a long end': {'last': 1500 * K},
    'long everywhere': {'pad': [700 * K], 'front': 200 * K, 'last': 700 * K},
}


def look_at(p, agent, cwd, texts):
    rows = p.json('list', '--project', cwd)
    p.same(f'{agent}: the titles', sorted(r['summary'][:60] for r in rows), sorted(t[:60] for t in texts))
    for r in rows:
        what = f"{agent} {r['summary'][:40]}"
        p.same(f'{what}: its first prompt', r.get('firstPrompt', '')[:60], r['summary'][:60])
        if rows.index(r) % 4 == 0:
            p.same(f'{what}: info', p.json('info', '--', f"{agent}:{r['sessionId']}")['summary'][:60], r['summary'][:60])
        if agent not in TIMELESS:
            p.same(f'{what}: the time of its last message', r['lastActivity'], AT * K)
    p.same(f'{agent}: -c', p.run('-C', cwd, '-c', '--print').returncode, 0)
    p.same(f'{agent}: doctor', p.run('doctor', '--project', cwd).stdout, b'no damage found\n')


def look_at_all(program, top):
    """Each agent in a home of its own. Yields the programs."""
    for agent in sorted(AGENTS):
        p = Program(program, f'{top}/{agent}', {})
        cwd = f'{p.home}/work'
        os.makedirs(cwd)
        texts = [f'{agent} with {shape}' for shape in SHAPES] + [f'{agent} with a paste ' + ('line ' if agent == 'qoder' else 'line\n') * 60000]
        for n, parts in enumerate([*SHAPES.values(), {'pad': [80 * K]}]):
            write(agent, p.home, cwd, n + 1, AT, texts[n], parts)
        look_at(p, agent, cwd, texts)
        yield p


def codex_forms(p, home):
    """What was read of a thread's beginning is not used after more of it was read; the index may know more."""
    cwd = f'{home}/work'
    os.makedirs(cwd)
    for n, kb in enumerate((60, 120, 300, 400, 1100)):
        write('codex', home, cwd, 200 + n, AT, f'with context and {kb}', {'context': True, 'front': kb * K})
    rows = p.json('list', '--project', cwd)
    p.same('threads with a context', sorted(r['summary'] for r in rows), sorted(f'with context and {kb}' for kb in (60, 120, 300, 400, 1100)))
    p.same('their model', {r['model'] for r in rows}, {'gpt-6-codex'})
    p.same('their directory', {r['cwd'] for r in rows}, {cwd})
    db = sqlite3.connect(f'{home}/.codex/state_5.sqlite')
    with db:
        db.execute('CREATE TABLE threads (id TEXT, updated_at INTEGER, name TEXT, cwd TEXT)')
        db.execute('INSERT INTO threads VALUES (?, ?, NULL, ?)', (uuid(203), AT, cwd))
    db.close()
    p.same('with a row in the index', sorted(r['summary'] for r in p.json('list', '--project', cwd)), sorted(r['summary'] for r in rows))


def unanswered(p):
    """The last message begins before the end that is read: its own time counts, none that is in an object or a text of it."""
    later = '2030-01-01T00:00:00.000Z'
    more = {'an object': {'toolUseResult': {'timestamp': later, 'n': 1}}, 'an object at the end': {'toolUseResult': {'n': 1, 'timestamp': later}},
            'a list': {'toolUseResult': [{'timestamp': later}]}, 'a text': {'note': f'"timestamp":"{later}"}}'}, 'nothing': {}}
    for n, (what, members) in enumerate(more.items()):
        for size in 70 * K, 400 * K:
            cwd = f'{p.home}/{n}-{size}'
            folder = f'{p.home}/.claude/projects/{re.sub("[^A-Za-z0-9]", "-", cwd)}'
            os.makedirs(cwd)
            os.makedirs(folder)
            sid = uuid(900 + n)
            stamp = datetime.datetime.fromtimestamp(AT, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.000Z')
            row = {'parentUuid': None, 'isSidechain': False, 'cwd': cwd, 'sessionId': sid, 'version': '2.1.332', 'type': 'user',
                   'message': {'role': 'user', 'content': 'Read this. ' + 'line\n' * (size // 5)}, 'uuid': uuid(n), 'timestamp': stamp,
                   **members}
            with open(f'{folder}/{sid}.jsonl', 'w', encoding='utf-8') as f:
                for r in row, {'type': 'last-prompt', 'lastPrompt': 'Read this.', 'sessionId': sid}:
                    f.write(json.dumps(r, separators=(',', ':')) + '\n')
            os.utime(f'{folder}/{sid}.jsonl', (AT + 500, AT + 500))
            p.same(f'unanswered prompt of {size} bytes with {what}', [r['lastActivity'] for r in p.json('list', '--project', cwd)], [AT * K])


def long_last_rows(p):
    """The last element of a document is longer than what is read of its end: its time counts, not that of one before."""
    for n, size in enumerate((10, 70 * K, 300 * K, 1500 * K)):
        cwd = f'{p.home}/last-{n}'
        path = write('auggie', p.home, cwd, 500 + n, AT - 3600, 'the first prompt')
        with open(path, encoding='utf-8') as f:
            document = json.load(f)
        first = document['chatHistory'][0]
        document['chatHistory'].append({**first, 'exchange': {**first['exchange'], 'request_message': 'again ' * (size // 6)},
                                        'finishedAt': datetime.datetime.fromtimestamp(AT, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.000Z')})
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(document, f, indent=2)
        rows = p.json('list', '--project', cwd)
        p.same(f'auggie with a last prompt of {size}', [(r['summary'], r['lastActivity']) for r in rows], [('the first prompt', AT * K)])


def undated(p):
    """A last message without a time does not make the session as new as its file."""
    for agent in sorted(AGENTS.keys() - TIMELESS - DOCUMENTS - {'codex'}):
        for n, end in enumerate(('\n', '')):
            cwd = f'{p.home}/{n}/{agent}'
            os.makedirs(cwd)
            path = write(agent, p.home, cwd, 700 + n, AT, f'{agent} without a time')
            with open(path, encoding='utf-8') as f:
                row = json.loads([line for line in f if 'done' in line][-1])
            with open(path, 'a', encoding='utf-8') as f:
                f.write(json.dumps({k: v for k, v in row.items() if k not in ('timestamp', 'time')} | ({'id': 'another'} if 'id' in row else {}),
                                   separators=(',', ':')) + end)
            os.utime(path, (AT + 500, AT + 500))
            p.same(f'{agent}: a last message without a time, end {end!r}', {r['lastActivity'] for r in p.json('list', '--project', cwd)}, {AT * K})


def main():
    with tempfile.TemporaryDirectory() as home:
        top = os.path.realpath(home)
        all = list(look_at_all(sys.argv[1], top))
        all.append(Program(sys.argv[1], f'{top}/forms', {}))
        codex_forms(all[-1], all[-1].home)
        all.append(Program(sys.argv[1], f'{top}/unanswered', {}))
        unanswered(all[-1])
        long_last_rows(all[-1])
        all.append(Program(sys.argv[1], f'{top}/undated', {}))
        undated(all[-1])
        passed, failed = sum(p.passed for p in all), sum(p.failed for p in all)
        print(f'{passed} passed, {failed} failed')
        sys.exit(1 if failed or not passed else 0)


main()
