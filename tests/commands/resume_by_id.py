#!/usr/bin/env python3
"""Which session an id means, and how the agent is started for it.

usage: resume_by_id.py PROGRAM

An id that two systems have is refused by every command, with both named. The agent finds the store of the session and
gets the words after "--"; "--no-worktrees" applies to the newest session, too.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from support.program import Program, snapshot

SHARED = 'aaaaaaaa-0000-4000-8000-000000000001'
MESSAGE = 'bbbbbbbb-0000-4000-8000-000000000001'
AGENTS = f'{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/fixtures/agents'
AGENT = '#!/bin/sh\nprintf "%s\\n" "${CLAUDE_CONFIG_DIR-none}" "$@"\n'
ON_ONE = {
    'info': [], 'messages': [], 'subagents': [], 'restore': [], 'fork': [], 'checkpoints': [], 'reappend': [], 'append': [], 'doctor': [],
    'resume-at': [MESSAGE], 'tombstone': [MESSAGE], 'rename': ['T'], 'tag': ['t'], 'archive': [], 'unarchive': [], 'delete': [],
    'rewind': ['--to', MESSAGE], 'set': ['model=m'], 'checkpoint': ['--id', MESSAGE, 'f'],
}


def flat(path):
    return ''.join(c if c.isalnum() and c.isascii() else '-' for c in path)


def write_session(config, cwd, sid, minute=0):
    path = f'{config}/projects/{flat(cwd)}/{sid}.jsonl'
    os.makedirs(os.path.dirname(path), exist_ok=True)
    row = {'parentUuid': None, 'isSidechain': False, 'type': 'user', 'uuid': MESSAGE, 'sessionId': sid, 'cwd': cwd,
           'timestamp': f'2026-03-01T10:{minute:02}:00.000Z', 'message': {'role': 'user', 'content': 'hello'}}
    with open(path, 'w', encoding='utf-8') as f:
        f.write(json.dumps(row) + '\n')
    os.utime(path, (1700000000 + 60 * minute,) * 2)
    return path


class World:
    def __init__(self, path):
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.home, self.config, self.bin = f'{self.top}/home', f'{self.top}/config', f'{self.top}/bin'
        os.makedirs(self.home)
        os.makedirs(self.bin)
        with open(f'{self.bin}/claude', 'w', encoding='utf-8') as f:
            f.write(AGENT)
        os.chmod(f'{self.bin}/claude', 0o755)
        self.program = Program(path, self.home, {
            'CLAUDE_CONFIG_DIR': self.config, 'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_NOSYSTEM': '1',
            **{f'XDG_{k}_HOME': f'{self.top}/{k}' for k in ('STATE', 'DATA', 'CACHE', 'CONFIG')}})
        self.program.env['PATH'] = f'{self.bin}:{self.program.env["PATH"]}'

    def out(self, *args):
        run = self.program.run(*args)
        self.program.need(run.returncode == 0, f'{args}: exit {run.returncode}: {run.stderr!r}')
        return run.stdout.decode().splitlines()


def refused(w, *args):
    run = w.program.run(*args)
    w.program.need(run.returncode == 2 and b'claude:' + SHARED.encode() in run.stderr and b'goat:' + SHARED.encode() in run.stderr,
                   f'{args}: exit {run.returncode}: {run.stderr!r}')


def check_ambiguous(w):
    """Both stores are searched, and no command changes anything in either."""
    stores = ['--store', f'claude:{w.config}', '--store', f'goat:{w.home}/sessions']
    write_session(w.config, w.home, SHARED)
    w.out('create', f'goat:{w.home}/sessions', '--id', SHARED)
    w.out('--store', f'goat:{w.home}/sessions', 'rename', SHARED, 'Theirs')
    before = [snapshot(w.config), snapshot(f'{w.home}/sessions')]
    for command, more in ON_ONE.items():
        refused(w, *stores, command, SHARED, *more)
        refused(w, *stores, command, SHARED[:8], *more)
    refused(w, *stores, '--resume', SHARED, '--print')
    others = [f'cccccccc-0000-4000-8000-{i:012}' for i in range(40)]
    for sid in others:
        write_session(w.config, w.home, sid)
    refused(w, *stores, 'delete', *others, SHARED)
    for sid in others:
        w.program.need(os.path.exists(f'{w.config}/projects/{flat(w.home)}/{sid}.jsonl'), f'{sid} was deleted beside one that is refused')
        os.remove(f'{w.config}/projects/{flat(w.home)}/{sid}.jsonl')
    for path in (w.config, f'{w.home}/sessions'):
        after = {p: v[2] for p, v in snapshot(path).items()}
        was = {p: v[2] for b in before for p, v in b.items() if p == path or p.startswith(path + '/')}
        w.program.same(f'{path} after what was refused', after, was)
    for system in ('claude', 'goat'):
        w.program.same(f'info {system}:', json.loads('\n'.join(w.out(*stores, 'info', f'{system}:{SHARED}', '--json')))['system'], system)
    shutil.rmtree(f'{w.home}/sessions')


def check_store_of_agent(w):
    """The agent is told of a store that is not its usual one, and only then."""
    other, usual, sid = f'{w.top}/the other', f'{w.home}/.claude', SHARED
    for config in (other, usual):
        write_session(config, w.home, sid)
    named, at_home = ['--store', f'claude:{other}'], ['--store', f'claude:{usual}']
    w.program.same('env of another store', w.out(*named, '--resume', sid)[0], other)
    w.program.same('env of the store at home', w.out(*at_home, '--resume', sid)[0], 'none')
    w.program.same('env of our own', w.out('--resume', sid)[0], w.config)
    w.program.same('line', w.out(*named, '--print', '--resume', sid), [f"cd {w.home} && CLAUDE_CONFIG_DIR='{other}' claude --resume {sid}"])
    w.program.same('line at home', w.out(*at_home, '--print', '--resume', sid), [f'cd {w.home} && env -u CLAUDE_CONFIG_DIR claude --resume {sid}'])
    answer = json.loads('\n'.join(w.out(*named, '--print', '--json', '--resume', sid)))
    w.program.same('JSON', answer.get('env'), {'CLAUDE_CONFIG_DIR': other})
    answer = json.loads('\n'.join(w.out(*at_home, '--print', '--json', '--resume', sid)))
    w.program.same('JSON at home', answer.get('env'), {'CLAUDE_CONFIG_DIR': None})
    w.program.same('JSON of our own', json.loads('\n'.join(w.out('--print', '--json', '--resume', sid))).get('env', 'none'), 'none')


def check_words(w):
    """Words after "--" go to the agent, after the words of its own command."""
    words = ['--model', 'a b', '-c']
    w.program.same('words', w.out('--resume', SHARED, '--', *words)[1:], ['--resume', SHARED, *words])
    answer = json.loads('\n'.join(w.out('--print', '--json', '--resume', SHARED, '--', *words)))
    w.program.same('words in JSON', answer['command'][1:], ['--resume', SHARED, *words])
    w.program.need(w.out('--print', '--resume', SHARED, '--', *words)[0].endswith("--model 'a b' -c"), 'words of the line')


def check_worktrees(w):
    """The newest session is in another worktree: it is the latest only if worktrees count."""
    main, side = f'{w.home}/main', f'{w.home}/side'
    old, new = 'dddddddd-0000-4000-8000-000000000001', 'dddddddd-0000-4000-8000-000000000002'
    for args in (['init', '-q', main], ['-C', main, '-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-q', '--allow-empty', '-m', 'x'],
                 ['-C', main, 'worktree', 'add', '-q', side]):
        subprocess.run(['git', *args], env=w.program.env, check=True, stdout=subprocess.DEVNULL)
    write_session(w.config, main, old, 1)
    write_session(w.config, side, new, 2)
    for flag, want in ([], new), (['--no-worktrees'], old):
        w.program.same(f'-c {flag}', json.loads('\n'.join(w.out('-C', main, '-c', *flag, '--print', '--json')))['id'], want)
        w.program.same(f'--resume latest {flag}', json.loads('\n'.join(w.out('-C', main, *flag, '--print', '--json', '--resume', 'latest')))['id'], want)
        w.program.same(f'info latest {flag}', json.loads('\n'.join(w.out('-C', main, 'info', 'latest', *flag, '--json')))['sessionId'], want)


def check_text(w):
    """The conversation as text is the one that the agent resumes."""
    sid, call = 'eeeeeeee-0000-4000-8000-000000000001', 'eeeeeeee-0000-4000-8000-000000000002'
    with open(write_session(w.config, w.home, sid), 'a', encoding='utf-8') as f:
        for row in ({'type': 'assistant', 'uuid': call, 'parentUuid': MESSAGE, 'message': {'id': 'm', 'content': [
                        {'type': 'tool_use', 'id': 't', 'name': 'NeverAnswered', 'input': {}}]}},
                    {'type': 'user', 'uuid': sid, 'parentUuid': call, 'message': {'role': 'user', 'content': 'and now'}}):
            f.write(json.dumps({**row, 'timestamp': '2026-03-01T10:30:00.000Z', 'sessionId': sid, 'cwd': w.home}) + '\n')
    for args, want in ([], False), (['--as-sdk'], True):
        text = '\n'.join(w.out('messages', sid, *args))
        w.program.need('> hello' in text and '> and now' in text and ('NeverAnswered' in text) == want, f'messages {args}: {text!r}')


def check_moved_projects(path):
    """Some agents find a session only in the directory where it began: what cannot work is not printed. Others find it anywhere."""
    said = b'only in the directory where it began'
    for agent, in_place in (('gemini', True), ('qwen', True), ('kimi', True), ('copilot', False), ('pi', False)):
        w = World(path)
        p = w.program
        try:
            subprocess.run(['tar', '-xf', glob.glob(f'{AGENTS}/{agent}/store.tar.?z')[0], '-C', w.home], check=True)
            subprocess.run(['find', w.home, '-type', 'f', '(', '-name', '*.json*', '-o', '-name', '*.yaml', '-o', '-name', '.project_root', ')',
                            '-exec', 'sed', '-i', f's|/home/dev|{w.top}/dev|g', '{}', '+'], check=True)
            row = next(r for r in p.json('list', '--all') if r.get('cwd', '').startswith(f'{w.top}/dev/'))
            began, moved, here = row['cwd'], f'{w.top}/moved', ['--all', '--print', '--resume', f'{agent}:{row["sessionId"]}']
            os.makedirs(began)
            p.need(p.run(*here).returncode == 0, f'{agent}: where it began')
            os.rename(began, moved)
            for what in 'gone', 'a link', 'back':
                if what == 'a link':
                    os.symlink(moved, began)
                elif what == 'back':
                    os.remove(began)
                    os.rename(moved, began)
                run = p.run(*here, *(['-C', moved] if what == 'gone' else []))
                refused_there = in_place and what != 'back'
                p.need((run.returncode != 0 and said in run.stderr and not run.stdout) if refused_there else run.returncode == 0,
                       f'{agent}: {what}: exit {run.returncode}: {run.stdout!r} {run.stderr!r}')
            os.rename(began, moved)
            with open(f'{w.top}/own.conf', 'w', encoding='utf-8') as f:
                f.write(f'[{agent}]\nresume = my-own {{id}}\n')
            run = p.run(*here, '-C', moved, '--config', f'{w.top}/own.conf')
            p.need(run.returncode == 0 and b'my-own' in run.stdout, f'{agent}: a configured command is not judged: {run}')
        finally:
            shutil.rmtree(w.top, ignore_errors=True)
        if p.failed:
            return p.failed
    return 0


def check_marked_events(path):
    """Copilot's sessions without workspace.yaml are listed in their directory, also if their log begins with a byte order mark."""
    w = World(path)
    try:
        subprocess.run(['tar', '-xf', f'{AGENTS}/copilot/store.tar.xz', '-C', w.home], check=True)
        state = f'{w.home}/.copilot/session-state'
        for sid in os.listdir(state):
            if os.path.exists(f'{state}/{sid}/workspace.yaml'):
                os.remove(f'{state}/{sid}/workspace.yaml')
        plain = {r['sessionId']: r.get('cwd') for r in w.program.json('list', '--all')}
        w.program.need(len(plain) > 9 and all(plain.values()), f'without workspace.yaml: {plain}')
        for sid in plain:
            with open(f'{state}/{sid}/events.jsonl', 'rb+') as f:
                text = f.read()
                f.seek(0)
                f.write(b'\xef\xbb\xbf' + text)
        w.program.same('with a mark', {r['sessionId']: r.get('cwd') for r in w.program.json('list', '--all')}, plain)
    finally:
        shutil.rmtree(w.top, ignore_errors=True)
    return w.program.failed


def check_printed_fork(w):
    """--print changes nothing if the agent can fork the session itself, and no other command is configured."""
    place = f'{w.home}/forked'
    os.makedirs(place)
    one = 'dddddddd-0000-4000-8000-000000000001'
    write_session(w.config, place, one)
    p = w.program
    before, log = snapshot(w.config), p.json('log')
    p.same('the printed fork', p.run('-C', place, '--print', '--fork', '--continue').stdout.decode().split(' && ')[-1],
           f'claude --resume {one} --fork-session\n')
    p.same('its directory', p.run('-C', place, '--print-directory', '--fork', '--continue').stdout.decode(), f'{place}\n')
    p.same('nothing was made', (snapshot(w.config), p.json('log')), (before, log))
    os.makedirs(f'{w.top}/CONFIG/reprise', exist_ok=True)
    with open(f'{w.top}/CONFIG/reprise/config', 'w', encoding='utf-8') as f:
        f.write('[claude]\nresume = my-claude {id}\n')
    said = p.run('-C', place, '--print', '--fork', '--continue').stdout.decode().split()
    p.need(said[-2] == 'my-claude' and said[-1] != one and len(p.json('log')) == len(log) + 1, f'with a command of one\'s own: {said}')
    os.remove(f'{w.top}/CONFIG/reprise/config')


def main():
    w = World(sys.argv[1])
    try:
        check_ambiguous(w)
        check_store_of_agent(w)
        check_words(w)
        check_worktrees(w)
        check_text(w)
        check_printed_fork(w)
    finally:
        shutil.rmtree(w.top, ignore_errors=True)
    print(f'{w.program.passed} passed, {w.program.failed} failed')
    return 1 if w.program.failed or check_moved_projects(sys.argv[1]) or check_marked_events(sys.argv[1]) else 0


if __name__ == '__main__':
    sys.exit(main())
