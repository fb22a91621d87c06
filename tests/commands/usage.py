#!/usr/bin/env python3
"""`reprise usage` counts every answer once: the sums of generated stores, and recorded ones of real stores.

usage: usage.py PROGRAM
"""
import json
import os
import shutil
import sys
import tarfile
import tempfile

from support.program import Program
from support.usage_store import KINDS, Store

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What ccusage 18.0.11 and 20.0.24 print for the same stores.
RECORDED = {'corpus-330': [160720, 5250, 0, 0], 'corpus-197': [122610, 3990, 0, 0]}


def sums_of(p, by, *args):
    rows = p.json('usage', '--all', '--by', by, *args)
    for r in rows:
        p.need(r['total'] == sum(r[k] for k in KINDS), f'the total is not that of its kinds: {r}')
    return {r.get(by, ''): [r[k] for k in KINDS] for r in rows}


def generated_stores(p, config):
    for seed in range(1, 9):
        shutil.rmtree(config, ignore_errors=True)
        store = Store(config, seed)
        for by in ('day', 'model', 'project', 'session'):
            p.same(f'seed {seed} by {by}', sums_of(p, by), store.sums(by))
        days = sorted({r['day'] for r in store.counted()})
        some = days[len(days) // 3:2 * len(days) // 3 + 1]
        rows = [r for r in store.counted() if some[0] <= r['day'] < some[-1]]
        p.same(f'seed {seed}: some days', sums_of(p, 'day', '--since', some[0], '--before', some[-1]),
               store.sums('day', rows))
        one_session(p, store, seed)


def one_session(p, store, seed):
    """A session by itself has what it copied, too."""
    _, sid, _ = store.ids[-1]
    rows, store.rows = store.rows, [r for r in store.rows if r['session'] == sid]
    p.same(f'seed {seed}: one session', {r.get('model', ''): [r[k] for k in KINDS] for r in p.json('usage', sid)},
           store.sums('model'))
    store.rows = rows


def recorded_stores(p, config, top):
    for name, want in RECORDED.items():
        shutil.rmtree(config, ignore_errors=True)
        with tarfile.open(f'{HERE}/fixtures/corpus/{name}.tar.gz') as tar:
            tar.extractall(f'{top}/{name}')
        os.rename(f'{top}/{name}/cfg', config)
        got = [sum(s) for s in zip(*sums_of(p, 'day').values())]
        p.same(name, got, want)


def write(config, name, rows):
    path = f'{config}/projects/-x/{name}'
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(r if isinstance(r, str) else json.dumps(r) for r in rows) + '\n')


def answer(model, tokens, **more):
    return {'type': 'assistant', 'uuid': f'u{tokens}', 'timestamp': '2026-05-01T23:30:00Z', 'cwd': '/x',
            'message': {'role': 'assistant', 'id': f'm{tokens}{model}', 'model': model, 'content': 'x',
                        'usage': {'input_tokens': tokens, 'output_tokens': 1, 'cache_creation_input_tokens': 2,
                                  'cache_read_input_tokens': 3}}, **more}


PROMPT = {'type': 'user', 'uuid': 'p', 'timestamp': '2026-05-01T23:00:00Z', 'cwd': '/x', 'message': {'content': 'a \x1b[31mprompt'}}


def costs(p, config, top):
    """A recorded cost is taken as it is, others by the prices of the configuration, and without any there is none."""
    shutil.rmtree(config, ignore_errors=True)
    write(config, 'aaaaaaaa-0000-4000-8000-000000000000.jsonl',
          [PROMPT, answer('opus-1', 1_000_000), answer('opus-2', 10), answer('sonnet', 20, costUSD=0.5), answer('none', 30)])
    rows = {r['model']: r for r in p.json('usage', '--all', '--by', 'model')}
    p.same('a recorded cost', rows['sonnet'].get('costUSD'), 0.5)
    p.need('costUSD' not in rows['opus-1'] and rows['opus-1']['answersWithoutCost'] == 1, f'a cost out of nowhere: {rows}')
    with open(f'{top}/prices.conf', 'w', encoding='utf-8') as f:
        f.write('[prices]\nopus* = 5 25 6.25 0.5\nopus-2 = 1000000 0 0 0\nsonnet = 9 9 9 9\nbad = 1 2 3\nworse = 1 2 3 x\n')
    run = p.run('usage', '--all', '--by', 'model', '--json', '--config', f'{top}/prices.conf')
    rows = {r['model']: r for r in json.loads(run.stdout)}
    p.need(run.stderr.count(b'expected four prices') == 2, f'mistakes in prices: {run.stderr}')
    p.same('by a beginning', round(rows['opus-1']['costUSD'], 9), round(5 + (25 + 2 * 6.25 + 3 * 0.5) / 1e6, 9))
    p.same('by the whole name', rows['opus-2']['costUSD'], 10.0)
    p.same('the recorded one is not replaced', rows['sonnet']['costUSD'], 0.5)
    p.need('costUSD' not in rows['none'], 'a cost without a price')
    lines = p.text('usage', '--all', '--by', 'model', '--config', f'{top}/prices.conf').splitlines()
    p.need('30 1 2 3 36 - none' in lines and '20 1 2 3 26 0.500000 sonnet' in lines, f'{lines}')


def days_are_local(p, config):
    p.same('UTC', list(sums_of(p, 'day')), ['2026-05-01'])
    p.env['TZ'] = 'Asia/Tokyo'
    p.same('Tokyo', list(sums_of(p, 'day')), ['2026-05-02'])
    p.env['TZ'] = 'UTC'


def hostile_rows(p, config, top):
    """Nothing from a transcript reaches the terminal raw, no number overflows, no link is followed."""
    shutil.rmtree(config, ignore_errors=True)
    big = answer('m\x1b]0;x\x07', 2**63 - 1)
    write(config, 'bbbbbbbb-0000-4000-8000-000000000000.jsonl',
          [PROMPT, big, dict(big, message=dict(big['message'], id='other')), answer('neg', -5),
           '{"message":{"id":"d","model":"\\ud800","usage":{"input_tokens":1e99,"output_tokens":5}},"timestamp":"9999999-"}',
           '[' * 100000 + '"usage"', '"usage"', '{"message":{"usage":' + '{"a":' * 50000])
    os.symlink(f'{config}/projects/-x/bbbbbbbb-0000-4000-8000-000000000000.jsonl',
               f'{config}/projects/-x/cccccccc-0000-4000-8000-000000000000.jsonl')
    rows = p.json('usage', '--all', '--by', 'model')
    largest = max(r['input'] for r in rows)
    p.same('the largest number stays', largest, 2**63 - 1)
    p.same('a negative count is none', [r['input'] for r in rows if r.get('model') == 'neg'], [0])
    for by in ('model', 'session', 'project', 'day'):
        p.text('usage', '--all', '--by', by)
    shutil.rmtree(config)
    os.makedirs(config)
    run = p.run('usage', '--all')
    p.need(run.returncode == 0 and b'no session' in run.stderr, f'an empty store: {run}')
    p.need(p.run('usage', 'nosuch').returncode in (2, 3), 'an unknown session')
    p.need(p.run('usage', '--by', 'week').returncode == 2, 'an unknown --by')


def other_systems(p, top):
    """The Go sessions count the costs of their metadata and the tokens of the stream; ExAthena records none."""
    goat = f'{HERE}/fixtures/goat/shipped'
    run = p.run('usage', '--all', '--json', '--by', 'session', '--store', f'goat:{goat}')
    rows = {r['session'][:8]: r for r in json.loads(run.stdout)}
    p.same('tokens and costs of a Go session', {k: rows['7b1c0a52'][k] for k in ('input', 'output', 'costUSD')},
           {'input': 4800, 'output': 1360, 'costUSD': 0.0348})
    p.need('answersWithoutCost' not in rows['7b1c0a52'], 'the session has its cost')
    exathena = f'{top}/exathena/.exathena'
    shutil.copytree(f'{HERE}/fixtures/exathena/damaged/sidechain-example', exathena + '/sessions/x', dirs_exist_ok=True)
    run = p.run('usage', '--all', '--json', '--store', f'exathena:{exathena}')
    p.same('a system that records none', (run.returncode, run.stdout.strip()), (0, b'[]'))


def main():
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(f'{top}/home')
        config = f'{top}/config'
        p = Program(sys.argv[1], f'{top}/home', {'CLAUDE_CONFIG_DIR': config})
        generated_stores(p, config)
        recorded_stores(p, config, top)
        costs(p, config, top)
        days_are_local(p, config)
        hostile_rows(p, config, top)
        other_systems(p, top)
        p.finish(8 * 6 + 20)


main()
