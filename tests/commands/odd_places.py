#!/usr/bin/env python3
"""What commands say without a home, without a right to read, on a detached HEAD, and about costs.

usage: odd_places.py PROGRAM
"""
import json
import os
import shutil
import subprocess
import sys

from resume_by_id import World, flat

SID = 'aaaaaaaa-0000-4000-8000-000000000001'
NO_HOME = b'reprise: HOME is not set, so it is not known where the agents keep sessions'


def write(w, branch='main', more=()):
    path, rows, last = f'{w.config}/projects/{flat(w.home)}/{SID}.jsonl', [], None
    for k, kind in enumerate(('user', 'assistant')):
        rows.append({'parentUuid': last, 'isSidechain': False, 'type': kind, 'uuid': f'bbbbbbbb-0000-4000-8000-{k:012}', 'sessionId': SID,
                     'cwd': w.home, 'gitBranch': branch, 'timestamp': f'2026-03-01T10:00:0{k}.000Z',
                     'message': {'role': kind, 'content': 'hello' if kind == 'user' else [{'type': 'text', 'text': 'ok'}]}})
        last = rows[-1]['uuid']
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(''.join(json.dumps(row) + '\n' for row in [*rows, *more]))
    return path


def check_branches(w):
    """On a detached HEAD no branch is shown to a person; the row's own word stays in JSON."""
    for branch, shown in ('main', True), ('HEAD', False), ('HEADER', True):
        write(w, branch)
        w.program.same(f'info on {branch}', f'branch         {branch}\n' in w.program.run('info', SID).stdout.decode(), shown)
        w.program.same(f'list on {branch}', branch in w.program.run('list').stdout.decode(), shown)
        w.program.same(f'JSON on {branch}', json.loads(w.program.run('info', SID, '--json').stdout)['gitBranch'], branch)


def check_names(w):
    """A transcript that is named by its path may be called anything; what is written of it is JSON."""
    path = f'{os.path.dirname(write(w))}/an "odd"\\ name\n.jsonl'
    shutil.move(write(w), path)
    for words in ('fork', path), ('fork', path, '--at', 'bbbbbbbb-0000-4000-8000-000000000001'), ('rename', path, 'x'), ('tag', path, 'y'):
        w.program.same(f'{words[0]}', w.program.run(*words).returncode, 0)
    for name in os.listdir(os.path.dirname(path)):
        with open(f'{os.path.dirname(path)}/{name}', encoding='utf-8') as f:
            rows = [json.loads(line) for line in f.read().splitlines()]
        w.program.need(path.endswith(name) or rows[0]['forkedFrom']['sessionId'] == os.path.basename(path)[:-6], rows)
        os.unlink(f'{os.path.dirname(path)}/{name}')


def check_costs(w):
    """info says what the agent recorded, as usage does, and nothing if it recorded nothing."""
    for cost, text in (1.2345, 'cost           $1.23\n'), (0.0123, 'cost           $0.0123\n'), (None, None):
        row = {'type': 'cost-state', 'totalCostUSD': cost, 'sessionId': SID, 'timestamp': '2026-03-01T10:00:03.000Z',
               'modelUsage': {'claude-x': {'inputTokens': 10, 'outputTokens': 20, 'costUSD': cost}}}
        write(w, more=[row] if cost else [])
        said = w.program.run('info', SID).stdout.decode()
        w.program.need(text in said if text else 'cost' not in said, f'info with cost {cost}: {said}')
        w.program.same(f'JSON with cost {cost}', json.loads(w.program.run('info', SID, '--json').stdout).get('costUSD'), cost)


def check_no_home(w):
    """Without a home it is said so, not that there are no sessions; with a store that is named all goes on."""
    write(w)
    for home in None, '', 'relative':
        env = {k: v for k, v in w.program.env.items() if k not in ('HOME', 'CLAUDE_CONFIG_DIR')}
        env = {**env, **({} if home is None else {'HOME': home})}
        for args, code in (['list', '--all'], 0), (['info', SID], 3), (['info', SID[:8]], 3), (['-c', '--print'], 3), (['--resume', SID, '--print'], 3), \
                (['messages', SID], 3), (['rename', SID, 'x'], 3), (['delete', SID], 3), (['doctor'], 0), (['rewind', SID, '--to', 'x'], 3), \
                (['search', 'x'], 1), (['search', 'x', '--all'], 1), (['usage'], 0), (['touched', w.home], 0), (['sweep', '--older-than', '1d'], 0):
            run = subprocess.run([w.program.path, *args], env=env, cwd=w.home, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            w.program.need(run.returncode == code and NO_HOME in run.stderr and not run.stdout,
                           f'HOME={home!r}: {args}: {run.returncode} {run.stdout!r} {run.stderr!r}')
        for args in ['list', '--json'], ['usage', '--json']:
            run = subprocess.run([w.program.path, *args], env=env, cwd=w.home, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            w.program.same(f'HOME={home!r}: {args}', (json.loads(run.stdout), NO_HOME in run.stderr), ([], True))
        env['CLAUDE_CONFIG_DIR'] = w.config
        for args in ['info', SID], ['messages', SID], ['--resume', SID, '--print'], ['list', '--all']:
            run = subprocess.run([w.program.path, *args], env=env, cwd=w.home, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            w.program.need(run.returncode == 0 and run.stdout and NO_HOME not in run.stderr, f'HOME={home!r} with a store: {args}: {run}')


def check_unreadable(w):
    """A transcript that may not be read is called so, by every command. A superuser may read everything."""
    path = write(w)
    os.chmod(path, 0)
    if not os.access(path, os.R_OK):
        for args in ['info', SID], ['info', path], ['info', SID, '--json'], ['messages', SID], ['rename', SID, 'x'], \
                ['--resume', SID, '--print']:
            run = w.program.run(*args)
            w.program.need(run.returncode == 1 and b'Permission denied' in run.stderr and not run.stdout, f'{args}: {run}')
    os.chmod(path, 0o600)


def main():
    w = World(sys.argv[1])
    try:
        for check in check_branches, check_names, check_costs, check_no_home, check_unreadable:
            check(w)
    finally:
        shutil.rmtree(w.top, ignore_errors=True)
    w.program.finish(50)


if __name__ == '__main__':
    main()
