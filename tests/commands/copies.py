#!/usr/bin/env python3
"""Which copy a session's id means if several folders have it, and how sessions are found under other names of a directory.

usage: copies.py PROGRAM

What a list shows is what every command means: reading, changing, deleting and resuming. Where the list of the current
directory and that of all projects show different copies, the id is ambiguous, and the answer names both paths. A path
always means its copy, and --project and --all choose the list.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

import copies_matrix
from resume_by_id import World, flat
from support import agent_sessions
from support.program import CUTS, snapshot

SID = 'aaaaaaaa-0000-4000-8000-000000000001'
NOW = time.time()


def uuid(n):
    return f'bbbbbbbb-0000-4000-8000-{n:012}'


def write(w, folder, cwds, age, sid=SID, title=None, more=()):
    """A transcript in the folder of a directory: a prompt and an answer for each directory in which it went on."""
    path, rows, last = f'{w.config}/projects/{flat(folder)}/{sid}.jsonl', [], None
    for n, cwd in enumerate(cwds):
        for k, (kind, text) in enumerate((('user', f'prompt {n} in {os.path.basename(cwd)}'), ('assistant', 'ok'))):
            rows.append({'parentUuid': last, 'isSidechain': False, 'type': kind, 'uuid': uuid(2 * n + k), 'sessionId': sid, 'cwd': cwd,
                         'timestamp': time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(NOW - age - 10 + 2 * n + k)),
                         'message': {'role': kind, 'content': text if kind == 'user' else [{'type': 'text', 'text': text}]}})
            last = rows[-1]['uuid']
    rows += more
    if title:
        rows.append({'type': 'custom-title', 'customTitle': title, 'sessionId': sid})
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(''.join(json.dumps(row, separators=(',', ':')) + '\n' for row in rows))
    os.utime(path, (NOW - age,) * 2)
    return path


def listed(w, *args):
    run = w.program.run(*args, 'list', '--json')
    rows = json.loads(run.stdout or b'[]')
    return [row['path'] for row in rows if row['sessionId'] == SID]


def git(w, *args):
    w.program.need(os.system(' '.join(['env', 'GIT_CONFIG_GLOBAL=/dev/null', 'git', '-c', 'user.name=n', '-c', 'user.email=e', *args,
                                       '>/dev/null', '2>&1'])) == 0, f'git {args}')


def check_reading(w, where, copies):
    """Each way to name the session means the copy that the list with the same scope shows."""
    for scope in ['--all'], ['--project', where], []:
        at = ['-C', where, *scope]
        shown, everywhere = listed(w, *at), listed(w, '-C', where, '--all')
        meant = shown[0] if shown else everywhere[0]
        for name in SID, SID[:8]:
            run = w.program.run(*at, 'info', name, '--json')
            if not scope and meant != everywhere[0]:
                text = run.stderr.decode()
                w.program.need(run.returncode == 2 and 'ambiguous' in text and meant in text and everywhere[0] in text and
                               text.count('\n') == 1, f'{where}: info {name}: {run.returncode} {text}')
                continue
            if scope[:1] == ['--project'] and not shown:
                w.program.same(f'{where}: not in this project', run.returncode, 3)
                continue
            w.program.same(f'{where} {scope}: info {name}', json.loads(run.stdout)['path'], meant)
        if not scope and meant == everywhere[0]:
            w.program.same(f'{where}: messages', len(w.program.json('messages', *at, SID)), copies[meant])
            with open(meant, 'rb') as f:
                w.program.same(f'{where}: export', w.program.run(*at, 'export', SID, '--format', 'jsonl').stdout, f.read())


def check_changes(w, where, paths, brief):
    """A change touches the copy that is listed, and its undo restores it."""
    meant = listed(w, '-C', where, '--all')[0]
    changes = [['rename', SID, 'Another'], ['delete', SID], ['tag', SID, 'x'], ['archive', SID], ['fork', SID],
               ['delete', *[f'cccccccc-0000-4000-8000-{i:012}' for i in range(40)], SID]]
    for change in changes[:2] if brief else changes:
        others = [write(w, where, [where], 5000 + i, sid) for i, sid in enumerate(change[1:-1])] if len(change) > 10 else []
        before = {p: v[2] for p, v in snapshot(w.config).items() if v[2] is not None}
        run = w.program.run('-C', where, '--all', *change)
        w.program.need(run.returncode == 0, f'{change[0]}: {run.stderr!r}')
        after = {p: v[2] for p, v in snapshot(w.config).items() if v[2] is not None}
        changed = {p for p in before.keys() | after.keys() if before.get(p) != after.get(p)}
        for path in paths:
            mine = path == meant and change[0] in ('rename', 'tag', 'delete')
            w.program.same(f'{change[0]}: {path} is changed', path in changed, mine)
        if change[0] == 'archive':
            w.program.need(any(p.startswith(meant[:-6]) for p in changed), f'archive: {changed}')
        if change[0] == 'fork':
            w.program.same('fork: beside its source', {os.path.dirname(p) for p in changed}, {os.path.dirname(meant)})
        w.program.need(w.program.run('-C', where, '--all', 'undo').returncode == 0, f'undo of {change[0]}')
        now = {p: v[2] for p, v in snapshot(w.config).items() if v[2] is not None}
        w.program.same(f'{change[0]}: undone', {p for p in before.keys() | now.keys() if before.get(p) != now.get(p)}, set())
        for path in others:
            os.remove(path)


def printed(w, *args):
    run = w.program.run(*args, '--print', '--json')
    w.program.need(run.returncode == 0, f'{args}: {run.stderr!r}')
    answer = json.loads(run.stdout or b'{}')
    return answer.get('cwd'), answer.get('command', [])[2:]


def check_twins():
    """Two and three copies: in a repository and its worktree, and in directories that have nothing in common."""
    w = World(sys.argv[1])
    repo, tree, one, two, three, far = (f'{w.home}/{n}' for n in ('repo', 'repo/.claude/worktrees/w', 'one', 'two', 'three', 'far'))
    for path in repo, one, two, three, far:
        os.makedirs(path)
    git(w, 'init', '-q', repo)
    git(w, '-C', repo, 'commit', '-q', '--allow-empty', '-m', 'x')
    git(w, '-C', repo, 'worktree', 'add', '-q', tree)
    for ages in (3600, 60), (60, 3600):
        old, new = write(w, repo, [repo], ages[0]), write(w, tree, [repo, tree], ages[1])
        for where in repo, tree, far:
            check_reading(w, where, {old: 2, new: 4})
        check_changes(w, repo, [old, new], ages[0] == 60)
        w.program.same('by its path', len(w.program.json('messages', old)), 2)
        meant, other = (new, tree) if ages[1] < ages[0] else (old, repo)
        for args in ['--resume', SID], ['-c'], ['--resume', SID[:8]], ['--resume', meant]:
            w.program.same(f'{args} in {ages}', printed(w, '-C', repo, *args), (other, [SID]))
        rest = old if meant == new else new
        w.program.same('the other by its path', printed(w, '-C', repo, '--resume', rest), (repo if rest == old else tree, [SID]))
        shutil.rmtree(f'{w.config}/projects')
    for first, last in (one, three), (three, one):
        a, b, c = write(w, first, [one], 3600, title='First'), write(w, two, [one, two], 60), write(w, last, [one], 1800, title='Third')
        for where in one, two, three, far:
            check_reading(w, where, {a: 2, b: 4, c: 2})
        if first == one:
            check_changes(w, two, [a, b, c], False)
        w.program.same('-c of a directory', printed(w, '-C', two, '-c'), (two, [SID]))
        # no row of a copy names its directory: where that is the current one, it is found there, else by its path
        there = a if first == three else c
        w.program.same('-c of a copy', printed(w, '-C', three, '-c'), (three, [SID]))
        w.program.same('a copy elsewhere', printed(w, '-C', far, '--resume', there), (one, [there]))
        w.program.same('a title that no list of all projects shows', w.program.run('-C', far, '--resume', 'First', '--print').returncode, 3)
        shutil.rmtree(f'{w.config}/projects')
    check_parts(w, one, two)
    check_stores(w, one)
    shutil.rmtree(w.top)
    return w.program


def check_parts(w, one, two):
    """What belongs to the id stays until its last copy is deleted."""
    write(w, one, [one], 3600)
    write(w, two, [two], 60)
    saved = f'{w.config}/file-history/{SID}/0123456789abcdef@v1'
    os.makedirs(os.path.dirname(saved))
    open(saved, 'w').close()
    for left in True, False:
        w.program.need(w.program.run('-C', w.home, 'delete', SID).returncode == 0, 'delete')
        w.program.same('the saved copies are there', os.path.exists(saved), left)
    shutil.rmtree(f'{w.config}/projects')


def check_stores(w, one):
    """One store by two paths is one; an id in two stores is ambiguous, with both paths."""
    path = write(w, one, [one], 60)
    link, other = f'{w.top}/link', f'{w.top}/other'
    os.symlink(w.config, link)
    shutil.copytree(f'{w.config}/projects', f'{other}/projects')
    stores = ['--store', f'claude:{link}', '--store', f'claude:{w.config}', '--store', f'claude:{w.config}/.']
    w.program.same('one store, listed once', len(listed(w, *stores, '--all')), 1)
    w.program.same('one store', w.program.run(*stores, 'info', SID).returncode, 0)
    stores = ['--store', f'claude:{w.config}', '--store', f'claude:{other}']
    w.program.same('two stores, listed twice', len(listed(w, *stores, '--all')), 2)
    for name in SID, SID[:8]:
        run = w.program.run(*stores, 'rename', name, 'x')
        text = run.stderr.decode()
        w.program.need(run.returncode == 2 and path in text and path.replace(w.config, other) in text, f'two stores: {name}: {text}')
    os.remove(link)
    shutil.rmtree(other)


def check_file_elsewhere():
    """The agent is told the path of a transcript that it would not find by an id."""
    w = World(sys.argv[1])
    one = f'{w.home}/one'
    os.makedirs(one)
    path = write(w, one, [one], 60)
    for copy in f'{w.home}/my saved.jsonl', f'{w.home}/{SID}.jsonl', f'{os.path.dirname(path)}/copy of {SID}.jsonl':
        shutil.copy(path, copy)
        w.program.same(copy, printed(w, '--resume', copy), (one, [copy]))
    w.program.same('its own path', printed(w, '--resume', path), (one, [SID]))
    deep = f'{os.path.dirname(path)}/deep/{uuid(9)}.jsonl'
    os.makedirs(os.path.dirname(deep))
    shutil.copy(path, deep)
    shutil.copy(path, f'{w.config}/projects/{uuid(8)}.jsonl')
    os.symlink('/etc/passwd', f'{os.path.dirname(path)}/{uuid(7)}.jsonl')
    found = json.loads(w.program.run('doctor', '--all', '--json').stdout)
    for n, kinds in (9, ['misplaced']), (8, ['misplaced']), (7, ['hidden', 'unreadable']):
        w.program.same(f'doctor names {n}', [f['kind'] for f in found if uuid(n) in f['path']], kinds)
    run = w.program.run('doctor', uuid(7), '--json')
    w.program.need(b'broken-line' not in run.stdout, 'doctor followed a link')
    shutil.rmtree(w.top)
    return w.program


AGENTS = {  # a log, and another one of the same id; {d} is a directory, {D} its name as the agent writes it
    'qwen': ('.qwen/projects/{f}/chats/{s}.jsonl', lambda d: [
        {'uuid': 'u1', 'parentUuid': None, 'sessionId': SID, 'timestamp': '2026-03-01T10:00:00.000Z', 'type': 'user', 'cwd': d,
         'version': '0.24.4', 'message': {'role': 'user', 'parts': [{'text': 'hello'}]}}]),
    'pi': ('.pi/agent/sessions/--{p}--/2026-03-01T10-00-00-000Z_{s}.jsonl', lambda d: [
        {'type': 'session', 'version': 3, 'id': SID, 'timestamp': '2026-03-01T10:00:00.000Z', 'cwd': d},
        {'type': 'message', 'id': 'aaaa0001', 'parentId': None, 'timestamp': '2026-03-01T10:00:00.000Z',
         'message': {'role': 'user', 'content': [{'type': 'text', 'text': 'hello'}], 'timestamp': 1772359200000}}]),
    'droid': ('.factory/sessions/{f}/{s}.jsonl', lambda d: [
        {'type': 'session_start', 'id': SID, 'title': 'hello', 'owner': 'x', 'cwd': d},
        {'type': 'message', 'id': 'm1', 'timestamp': '2026-03-01T10:00:00.000Z', 'message': {
            'role': 'user', 'content': [{'type': 'text', 'text': 'hello'}]}}]),
    'copilot': ('.copilot/session-state/{s}{c}', lambda d: [
        {'type': 'session.start', 'data': {'sessionId': SID, 'version': 1, 'producer': 'copilot-agent', 'copilotVersion': '1.0.102',
                                           'startTime': '2026-03-01T10:00:00.000Z', 'context': {'cwd': d}},
         'id': 'e1', 'parentId': None, 'timestamp': '2026-03-01T10:00:00.000Z'},
        {'type': 'user.message', 'data': {'content': 'hello', 'attachments': []}, 'id': 'e2', 'parentId': 'e1',
         'timestamp': '2026-03-01T10:00:01.000Z'}]),
}


def check_other_agents():
    """The same of agents that keep a log for each session; the newer copy is once the first and once the last by name."""
    w = World(sys.argv[1])
    for system, (place, rows) in AGENTS.items():
        for newest in 'one', 'two':
            made = {}
            for name in 'one', 'two':
                d = f'{w.home}/{name}'
                os.makedirs(d, exist_ok=True)
                path = f'{w.home}/' + place.format(f=flat(d), p=d[1:].replace('/', '-'), s=SID, c='/events.jsonl' if name == 'one' else '.jsonl')
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as f:
                    f.write(''.join(json.dumps(row) + '\n' for row in rows(d)))
                os.utime(path, (NOW - (60 if name == newest else 3600),) * 2)
                made[name] = path
            rows_listed = json.loads(w.program.run('list', '--all', '--json').stdout)
            shown = [r['path'] for r in rows_listed if r['system'] == system]
            w.program.same(f'{system}: one copy is listed', shown, [made[newest]])
            for at in [], ['-C', f'{w.home}/{newest}']:
                for name in [SID] if at else [SID, SID[:8]]:
                    run = w.program.run(*at, 'info', name, '--json')
                    w.program.need(run.returncode == 0 and json.loads(run.stdout)['path'] == made[newest],
                                   f'{system}: {at} info {name}: {run.stdout!r} {run.stderr!r}')
            for name in 'one', 'two':
                run = w.program.run('info', made[name], '--json')
                w.program.need(run.returncode == 0 and json.loads(run.stdout)['path'] == made[name], f'{system}: {made[name]}')
            for path in made.values():
                shutil.rmtree(f'{w.home}/{os.path.relpath(path, w.home).split("/")[0]}', ignore_errors=True)
    shutil.rmtree(w.top)
    return w.program


def check_linked_folders():
    """Each folder of an agent's store may be a link, as after it was moved to another disk; a second link adds nothing."""
    w = World(sys.argv[1])
    cwd = f'{w.home}/work'
    os.makedirs(cwd)
    for agent in agent_sessions.AGENTS:
        parts = os.path.relpath(agent_sessions.write(agent, w.home, cwd, 1, NOW - 100, 'Linked'), w.home).split('/')
        path = f'{w.home}/{parts[0]}'
        for part in parts[1:] + ['']:
            moved = f'{w.top}/moved'
            os.rename(path, moved)
            os.symlink(moved, path)
            # The folder of a session of Kimi or Grok has its id for a name, and another name is another session.
            for twin in [None] if agent.startswith(('kimi', 'grok')) else [None, os.path.join(os.path.dirname(path), '2099')]:
                if twin:
                    os.symlink(moved, twin)
                for where in ['--all'], ['-C', cwd]:
                    rows = json.loads(w.program.run('list', *where, '--json').stdout)
                    w.program.same(f'{agent}: {path} is a link, {twin} {where}', [r['summary'] for r in rows], ['Linked'])
            if twin:
                os.unlink(twin)
            os.unlink(path)
            os.rename(moved, path)
            if os.path.isfile(f'{path}/{part}'):
                break
            path += f'/{part}'
        shutil.rmtree(f'{w.home}/{parts[0]}')
    shutil.rmtree(w.top)
    return w.program


def check_equal_copies():
    """Copies with equal times, as those that were made with their times: the first by the name of its folder is listed, as on the screen."""
    w = World(sys.argv[1])
    del w.program.env['CLAUDE_CONFIG_DIR']
    for agent in 'claude', 'qwen', 'kimi', 'gemini', 'grok':
        for names in ('one', 'two'), ('two', 'one'):
            made = {}
            for name in names:
                d = f'{w.home}/{name}'
                os.makedirs(d, exist_ok=True)
                made[name], rows = copies_matrix.AGENTS[agent](w.home, d, name, 60)
                os.makedirs(os.path.dirname(made[name]), exist_ok=True)
                with open(made[name], 'w', encoding='utf-8') as f:
                    f.write(''.join(json.dumps(row) + '\n' for row in rows))
                os.utime(made[name], (NOW - 60,) * 2)
            # The names of Kimi's folders end in a hash, which only follows the directory's own name.
            shown = [row['path'] for row in json.loads(w.program.run('list', '--all', '--json').stdout)]
            w.program.same(f'{agent}: {names} with equal times', shown, [made['one']])
            shutil.rmtree(f'{w.home}/{os.path.relpath(made["one"], w.home).split("/")[0]}')
    shutil.rmtree(w.top)
    return w.program


def check_names_of_a_folder():
    """The folder of a project is the link to that of another, or both lead out of the store: a session is meant by the name that is listed."""
    w = World(sys.argv[1])
    dirs = one, two, far = [f'{w.home}/{name}' for name in ('one', 'two', 'three')]
    for d in dirs:
        os.makedirs(d)
    del w.program.env['CLAUDE_CONFIG_DIR']
    for agent in 'claude', 'qwen', 'kimi', 'gemini':
        for first, last, outside in (one, two, False), (two, one, False), (one, two, True):
            path, rows = copies_matrix.AGENTS[agent](w.home, first, 'word', 60)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(''.join(json.dumps(row) + '\n' for row in rows))
            parts, others = path.split('/'), copies_matrix.AGENTS[agent](w.home, last, 'x', 60)[0].split('/')
            n = next(i for i, part in enumerate(parts) if part != others[i]) + 1
            folder, link = '/'.join(parts[:n]), '/'.join(others[:n])
            if agent == 'gemini':  # each project has a folder of its own, and the chats of one are those of the other
                folder, link = f'{folder}/chats', f'{link}/chats'
            shutil.rmtree(link, ignore_errors=True)
            moved = f'{w.home}/moved' if outside else folder
            if outside:
                os.rename(folder, moved)
                os.symlink(moved, folder)
            os.symlink(moved, link)
            seen = 0
            for d in dirs:
                for scope in ['--all'], []:
                    shown = json.loads(w.program.run('-C', d, *scope, 'list', '--json').stdout or b'[]')
                    w.program.need(len(shown) < 2, f'{agent} {outside} {d} {scope}: listed twice: {shown}')
                    for row in shown:
                        run = w.program.run('-C', d, *scope, 'info', row['sessionId'], '--json')
                        w.program.need(run.returncode == 0 and json.loads(run.stdout)['path'] == row['path'],
                                       f'{agent} {outside} {d} {scope}: {row["path"]} is listed: {run.stdout!r} {run.stderr!r}')
                        seen += 1
            w.program.need(seen > 3, f'{agent} {outside}: {seen} answers')
            saved = f'{w.home}/.claude/file-history/{SID}/0123456789abcdef@v1'
            os.makedirs(os.path.dirname(saved))
            open(saved, 'w').close()
            before = {p: v[2] for p, v in snapshot(w.home).items() if v[2] is not None and '/.config/' not in p}
            for d in last, far:
                run = w.program.run('-C', d, 'delete', row['sessionId'])
                gone = not os.path.exists(path)
                w.program.need(gone if run.returncode == 0 else run.returncode == 4, f'{agent} {outside}: delete in {d}: {run.returncode} {run.stderr!r}')
                if gone:
                    w.program.need(agent != 'claude' or not os.path.exists(saved), f'{outside}: delete in {d}: the saved copies are left')
                    w.program.need(w.program.run('-C', d, '--all', 'undo').returncode == 0, f'{agent} {outside}: undo')
            after = {p: v[2] for p, v in snapshot(w.home).items() if v[2] is not None and '/.config/' not in p}
            w.program.same(f'{agent} {outside}: undone', [p for p in before.keys() | after.keys() if before.get(p) != after.get(p)], [])
            for name in set(os.listdir(w.home)) - {os.path.basename(d) for d in dirs}:
                shutil.rmtree(f'{w.home}/{name}')
    shutil.rmtree(w.top)
    return w.program


def check_other_names():
    """A directory that moved and left a link, project folders that are links, removed worktrees, letters, drives."""
    w = World(sys.argv[1])
    old, new, repo = f'{w.home}/foo/bar', f'{w.home}/baz/bar', f'{w.home}/repo'
    for path in f'{w.home}/foo', new, repo:
        os.makedirs(path)
    os.symlink(new, old)

    def ids(*args):
        run = w.program.run(*args, 'list', '--json')
        return sorted(row['sessionId'] for row in json.loads(run.stdout or b'[]'))

    write(w, old, [old, new], 60)
    for where in old, new:
        w.program.same(f'moved, in {where}', ids('-C', where), [SID])
        w.program.need(w.program.run('-C', where, '-c', '--print').returncode == 0, f'-c in {where}')
    w.program.same('moved, elsewhere', ids('-C', repo), [])

    git(w, 'init', '-q', repo)
    git(w, '-C', repo, 'commit', '-q', '--allow-empty', '-m', 'x')
    state = [{'type': 'worktree-state', 'worktreeSession': {'originalCwd': repo, 'worktreePath': f'{w.home}/far', 'worktreeName': 'far'}}]
    gone, out, sub, lost = (f'{repo}/.claude/worktrees/gone', f'{w.home}/far', f'{repo}/.claude/worktrees/gone/sub', f'{w.home}/lost')
    for n, (path, more) in enumerate(((gone, ()), (out, state), (sub, ()), (lost, ()), (repo, ()))):
        write(w, path, [path], 100 + n, uuid(20 + n), more=more)
    w.program.same('removed worktrees', ids('-C', repo), [uuid(20), uuid(21), uuid(24)])
    w.program.same('without worktrees', ids('-C', repo, '--no-worktrees'), [uuid(24)])
    w.program.same('not elsewhere', ids('-C', new), [SID])

    shutil.rmtree(f'{w.config}/projects')
    else_, top = f'{w.top}/else', f'{w.config}/projects'
    write(w, new, [new], 60)
    os.rename(f'{top}/{flat(new)}', else_)
    for name, to in (('-a-link', else_), ('-again', else_), ('-loop', top), ('-up', w.config), ('-dead', f'{w.top}/none'), ('-self', '-self')):
        os.symlink(to, f'{top}/{name}')
    w.program.same('a linked folder', ids('-C', repo, '--all'), [SID])
    w.program.same('a linked folder, searched', len(w.program.run('search', '--json', '--all', 'prompt').stdout.splitlines()), 1)
    w.program.need(w.program.run('-C', repo, 'info', SID[:6]).returncode == 0, 'a prefix in a linked folder')
    w.program.need(w.program.run('-C', repo, 'doctor', '--all').returncode == 0, 'doctor with linked folders')
    os.rename(else_, f'{top}/{flat(new)}')
    for name in '-a-link', '-again':
        os.remove(f'{top}/{name}')
        os.symlink(flat(new), f'{top}/{name}')
    w.program.same('beside the folder that it leads to', listed(w, '--all'), [f'{top}/{flat(new)}/{SID}.jsonl'])

    shutil.rmtree(top)
    nfc, nfd = f'{w.home}/caf\u00e9', f'{w.home}/cafe\u0301'
    for there, written in (nfc, nfd), (nfd, nfc):
        os.makedirs(there)
        write(w, written, [written], 60)
        w.program.same(f'letters {there!r}', ids('-C', there), [SID])
        os.makedirs(written)
        w.program.same('both directories exist', ids('-C', there), [])
        shutil.rmtree(top)
        os.rmdir(there)
        os.rmdir(written)

    for n, cwd in enumerate(('d:\\work\\private', 'D:\\work\\private', '/mnt/d/work/private', 'D:/work/private', 'E:\\work\\private',
                             '\\\\wsl.localhost\\Ubuntu\\mnt\\d\\work\\private', 'D:\\work')):
        write(w, cwd, [cwd], 60 + n, uuid(30 + n))
    for name in 'D:\\work\\private', 'd:\\work\\private', '/mnt/d/work/private':
        w.program.same(f'drives: {name}', ids('--project', name), [uuid(30 + n) for n in (0, 1, 2, 3, 5)])
    # A share of Windows' Subsystem for Linux leads to a directory of this machine, in which the agent is started.
    place = f'{w.home}/shop'
    os.makedirs(place)
    write(w, '\\\\wsl$\\Ubuntu' + place.replace('/', '\\'), ['\\\\wsl$\\Ubuntu' + place.replace('/', '\\')], 70, uuid(40))
    w.program.same('listed in the directory of a share', ids('-C', place), [uuid(40)])
    run = w.program.run('--resume', uuid(40), '--print')
    w.program.same('resumed in the directory of a share', (run.stdout, run.stderr), (f'cd {place} && claude --resume {uuid(40)}\n'.encode(), b''))
    rows = w.program.run('list', '--all').stdout.decode()
    w.program.need('  shop  ' in rows and rows.count('  private  ') == 6, f'the last part of a path of Windows is the name of its project: {rows}')
    shutil.rmtree(w.top)
    return w.program


def check_system():
    """--system leaves the sessions of other systems out where an id is looked up."""
    w = World(sys.argv[1])
    os.makedirs(f'{w.home}/one')
    write(w, f'{w.home}/one', [f'{w.home}/one'], 60)
    for command in 'info', 'doctor':
        for system, code in ('claude', 0), ('codex', 3):
            w.program.same(f'{command} --system {system}', w.program.run(command, SID, '--system', system).returncode, code)
    # Each command that takes an id has the option.
    names = [line.split()[0] for page in (('--help',), ('help', 'more'), ('help', 'hosts'), ('help', 'teams')) for line in w.program.run(*page).stdout.decode().split('Options:')[0].splitlines()
             if re.match('  [a-z][a-z-]*  ', line)]
    usage = {name: w.program.run(name, '--help').stdout.decode() for name in names}
    of_ids = [name for name, text in usage.items() if re.search(r'\bID\b', text.splitlines()[0]) and name not in ('undo', 'trash', 'log')]
    w.program.need(len(of_ids) > 20, f'commands with an id: {of_ids}')
    w.program.same('of these without --system', [name for name in of_ids if '--system' not in usage[name]], [])
    w.program.same('--resume --system', w.program.run('--system', 'codex', '--resume', SID, '--print').returncode, 3)
    shutil.rmtree(w.top)
    return w.program


def check_running():
    """What a running agent publishes about its session is in the list; one in the background is attached."""
    w = World(sys.argv[1])
    one = f'{w.home}/one'
    os.makedirs(one)
    write(w, one, [one], 60)
    process = subprocess.Popen(['sleep', '600'])
    try:
        with open(f'/proc/{process.pid}/stat', encoding='utf-8') as f:
            start = f.read().rpartition(')')[2].split()[19]
        for kind, status, more, state in (
                ('interactive', 'busy', {}, {'state': 'running'}), ('interactive', 'shell', {}, {'state': 'running', 'shell': True}),
                ('interactive', 'idle', {'statusUpdatedAt': 1772359200000}, {'state': 'idle', 'since': 1772359200000}),
                ('bg', 'waiting', {'waitingFor': 'permission'}, {'state': 'requires_action', 'waitsFor': 'permission', 'background': True})):
            os.makedirs(f'{w.config}/sessions', exist_ok=True)
            with open(f'{w.config}/sessions/{process.pid}.json', 'w', encoding='utf-8') as f:
                json.dump({'pid': process.pid, 'sessionId': SID, 'cwd': one, 'procStart': start, 'kind': kind, 'status': status,
                           'jobs': 'x' * 100000, **more}, f)
            row = json.loads(w.program.run('-C', one, 'list', '--json').stdout)[0]
            w.program.same(status, {k: row[k] for k in ('state', 'shell', 'background', 'waitsFor', 'since') if k in row}, state)
            info = json.loads(w.program.run('info', SID, '--json').stdout)
            w.program.same(f'info: {status}', {k: info[k] for k in state}, state)
            line = w.program.run('--resume', SID, '--print').stdout.decode()
            w.program.need(line.rstrip().endswith(f'claude attach {SID}' if kind == 'bg' else f'claude --resume {SID}'), f'{kind}: {line}')
    finally:
        process.kill()
        process.wait()
    line = w.program.run('--resume', SID, '--print').stdout.decode()
    w.program.need(line.rstrip().endswith(f'claude --resume {SID}'), f'ended: {line}')
    shutil.rmtree(w.top)
    return w.program


def main():
    total = [check() for check in (check_twins, check_file_elsewhere, check_other_agents, check_linked_folders, check_equal_copies, check_names_of_a_folder, check_other_names, check_system)]
    if CUTS and os.path.exists('/proc/self/stat'):
        total.append(check_running())
    total[0].failed += sum(p.failed for p in total[1:])
    total[0].passed += sum(p.passed for p in total[1:])
    total[0].finish(150)


if __name__ == '__main__':
    main()
