#!/usr/bin/env python3
"""`reprise usage` counts every answer once: the sums of generated stores, and recorded ones of real stores.

usage: usage.py PROGRAM
"""
import datetime
import glob
import itertools
import json
import os
import shutil
import sys
import tarfile
import tempfile

from support.program import Program
from support.usage_store import KINDS, Store

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What ccusage 18.0.11 and 20.0.24 print for the same stores, and the calls that only the client's own totals count: those
# that made the summaries of two compactions.
RECORDED = {'corpus-330': [160720 + 2600, 5250 + 84, 0, 0], 'corpus-197': [122610, 3990, 0, 0]}


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
        for by, of_day in ('week', lambda d: '{}-W{:02}'.format(*datetime.date.fromisoformat(d).isocalendar()[:2])), ('month', lambda d: d[:7]):
            sums = {}
            for day, tokens in store.sums('day').items():
                key = of_day(day) if day else ''
                sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(KINDS)), tokens)]
            p.same(f'seed {seed} by {by}', sums_of(p, by), sums)
        p.same(f'seed {seed} by agent', {r['system']: [r[k] for k in KINDS] for r in p.json('usage', '--all', '--by', 'agent')},
               {'claude': [sum(x) for x in zip(*store.sums('day').values())]})
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
        if name == 'corpus-330':
            recorded_costs(p, config)


def recorded_costs(p, config):
    """Each session costs what the client itself says at its end; only answers that the SDK copied have no cost."""
    seen = 0
    for path in sorted(glob.glob(f'{config}/projects/*/*.jsonl')):
        with open(path, encoding='utf-8') as f:
            rows = [json.loads(line) for line in f if line.strip()]
        totals = [r for r in rows if r.get('type') == 'cost-state']
        if not totals:
            continue
        seen += 1
        copied = {r['message']['id'] for r in rows if r.get('forkedFrom') and r['type'] == 'assistant'}
        got = p.json('usage', path)
        p.same(f'the cost of {path}', round(sum(r['costUSD'] for r in got), 9), round(totals[-1]['totalCostUSD'], 9))
        p.same(f'what has no cost in {path}', sum(r.get('answersWithoutCost', 0) for r in got), len(copied))
    p.need(seen == 29, f'{seen} sessions with totals')
    all_of = p.json('usage', '--all', '--by', 'model')[0]
    p.same('the cost of all', round(all_of['costUSD'], 9), 0.75424)


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


def totals(run, costs=None, unknown=False, **models):
    """A row with the client's own totals: input, output, cache write, cache read, and a cost by prices of 1, 5, 1.25 and 0.1."""
    names = ['inputTokens', 'outputTokens', 'cacheCreationInputTokens', 'cacheReadInputTokens']
    usage = {m.replace('_', '-').replace('LONG', '[1m]'): {**dict(zip(names, n)), 'costUSD': price(*n) if costs is None else costs}
             for m, n in models.items()}
    return {'type': 'cost-state', 'startTime': run, 'hasUnknownModelCost': unknown, 'modelUsage': usage}


def price(read, written, cache_write, cache_read):
    return (read + 5 * written + 1.25 * cache_write + 0.1 * cache_read) / 1000


def own_totals(p, config):
    """The client's own totals give the costs, whatever they include and whoever continued the run."""
    day = '2026-05-0{}T10:00:00Z'
    one = [PROMPT, answer('m-a', 100, timestamp=day.format(1)), totals(7, m_a=[100, 1, 2, 3], small=[50, 5, 0, 0]),
           answer('m-a', 200, timestamp=day.format(2)), answer('m-a', 200, timestamp=day.format(2)),
           totals(7, m_aLONG=[300, 2, 4, 6], small=[50, 5, 0, 0])]
    fork = one[:2] + one[3:5] + [answer('m-a', 400, timestamp=day.format(3)), totals(7, m_a=[700, 3, 6, 9], small=[60, 5, 0, 0])]
    killed = [PROMPT, answer('m-a', 1000, timestamp=day.format(4)), answer('m-a', 30, timestamp=day.format(4)),
              totals(8, m_a=[30, 1, 2, 3]), answer('m-a', 40, timestamp=day.format(4))]
    cost = {id(one): price(350, 7, 4, 6), id(fork): price(760, 8, 6, 9), id(killed): price(30, 1, 2, 3)}
    names = [f'{c * 8}-0000-4000-8000-000000000000.jsonl' for c in 'abc']
    for order in itertools.permutations([one, fork, killed]):
        shutil.rmtree(config, ignore_errors=True)
        for name, rows in zip(names, order):
            write(config, name, rows)
            os.utime(f'{config}/projects/-x/{name}', (names.index(name), names.index(name)))
        rows = {r['model']: r for r in p.json('usage', '--all', '--by', 'model')}
        p.same('all sessions', [round(rows['m-a']['costUSD'], 9), rows['m-a']['answersWithoutCost'], rows['m-a']['answers']],
               [round(price(730, 4, 8, 12), 9), 2, 6])
        p.same('calls without an answer', [rows['small'][k] for k in ('input', 'output', 'answers', 'costUSD')],
               [60, 5, 0, price(60, 5, 0, 0)])
        days = {r['day']: round(r['costUSD'], 9) for r in p.json('usage', '--all', '--by', 'day')}
        p.same('the first day', days['2026-05-01'], round(price(100, 1, 2, 3), 9))
        p.same('all days', round(sum(days.values()), 9), round(price(790, 9, 8, 12), 9))
        for name, session in zip(names, order):
            got = p.json('usage', name[:8])
            p.same(f'session by itself {name}', round(sum(r['costUSD'] for r in got), 9), round(cost[id(session)], 9))


def odd_totals(p, config):
    """Totals that are smaller than before, have no name of the run, no cost, or are no totals."""
    agent = answer('m-a', 500, timestamp='2026-05-01T23:31:00Z', isSidechain=True)
    cases = {
        'reset': ([totals(1, 4, m_a=[100, 1, 2, 3])], [answer('m-a', 10), totals(1, 0.5, m_a=[10, 1, 2, 3])], 4.5, 0),
        'unnamed': ([totals(None, 4, m_a=[100, 1, 2, 3])], [], 4, 0),
        'no cost': ([totals(1, 0, True, m_a=[100, 1, 2, 3])], [], 0, 1),
        'hostile': (['{"type":"cost-state","modelUsage":{"m-a":' + '{"a":' * 9999, {'type': 'cost-state', 'modelUsage': [1, {}]},
                     totals(2, -1, **{f'x{i}': [1, 1, 1, 1] for i in range(200)}),
                     totals(3, 1e308, m_a=[2**63 - 1, 2**63 - 1, -4, 3]), totals(1, 4, m_a=[100, 1, 2, 3])], [], 4, 0),
    }
    for name, (middle, rest, cost, without) in cases.items():
        shutil.rmtree(config, ignore_errors=True)
        write(config, 'dddddddd-0000-4000-8000-000000000000.jsonl', [PROMPT, answer('m-a', 100), *middle, *rest])
        got = {r['model']: r for r in p.json('usage', 'dddd')}['m-a']
        if name != 'hostile':
            p.same(name, [round(got.get('costUSD', 0), 9), got.get('answersWithoutCost', 0)], [cost, without])
    shutil.rmtree(config)
    write(config, 'dddddddd-0000-4000-8000-000000000000.jsonl', [PROMPT, answer('m-a', 100), totals(1, 6, m_a=[600, 2, 4, 6])])
    write(config, 'dddddddd-0000-4000-8000-000000000000/subagents/agent-a1.jsonl', [agent])
    got = p.json('usage', 'dddd')[0]
    p.same('a sub-agent', [got['answers'], got['total'], round(got['costUSD'], 9), got.get('answersWithoutCost')], [2, 612, 6.0, None])


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
    p.need(p.run('usage', '--by', 'year').returncode == 2, 'an unknown --by')


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
        own_totals(p, config)
        odd_totals(p, config)
        days_are_local(p, config)
        hostile_rows(p, config, top)
        other_systems(p, top)
        p.finish(8 * 6 + 20)


main()
