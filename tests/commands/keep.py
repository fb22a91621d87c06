#!/usr/bin/env python3
"""Kept sessions of every agent: they are read like before when the agent has removed them, and put back byte for byte.

usage: keep.py PROGRAM
"""
import json
import os
import shutil
import sys
import tarfile
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..')]

from support.agent_sessions import AGENTS, write
from support.fixture_homes import world
from support.program import Program, snapshot, whole_lines

AT = 1795770000
RECORDED = ['codex', 'copilot', 'gemini', 'kimi', 'pi', 'qwen', 'cline']
ROW = ['summary', 'customTitle', 'firstPrompt', 'cwd', 'gitBranch', 'createdAt', 'lastActivity', 'fileSize', 'system', 'tag']
# What an agent keeps in a database that is not a session's own.
ELSEWHERE = {'codex': ['summary', 'customTitle', 'firstPrompt', 'cwd', 'gitBranch', 'createdAt'], 'gemini': ['cwd']}


def settle():
    """Files that are as new as this tick of the clock are copied again, because they may change once more in it."""
    time.sleep(0.05)


def kept_dir(p):
    return f'{p.home}/.local/share/reprise/kept'


def manifest(p):
    """The sessions: {transcript: [(kind, path)]}"""
    found, files = {}, None
    with open(f'{kept_dir(p)}/manifest', encoding='ascii') as f:
        for line in f:
            word = line.rstrip('\n').split(' ')
            path = urllib.parse.unquote(word[-1], errors='surrogateescape')
            if word[0] == 'session':
                files = found.setdefault(path, [])
            else:
                files.append((word[0], path))
    return found


def lose(paths):
    """As an agent removes sessions: files, and directories that are then empty."""
    for path in sorted(paths, key=len, reverse=True):
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)


def states(paths):
    seen = {}
    for path in paths:
        st = os.lstat(path)
        body = None
        if not os.path.isdir(path):
            with open(path, 'rb') as f:
                body = f.read()
        seen[path] = (st.st_mode, st.st_mtime_ns, body)
    return seen


def rows_of(p):
    return {f"{r['system']}:{r['sessionId']}": r for r in p.json('list', '--all', '-n0')}


def said(p, ids):
    return {i: p.run('messages', '--system-messages', i).stdout for i in ids}


def round_trip(p, name, agent, least):
    settle()
    before = rows_of(p)
    ids = sorted(i for i, r in before.items() if r['system'] == agent)
    ids = ids if 'REPRISE_LONG' in os.environ else ids[:2]
    p.need(len(ids) >= least, f'{name}: {len(ids)} sessions')
    texts = said(p, ids)
    here = snapshot(p.home)
    plan = p.json('keep', '--dry-run', *ids)
    p.same(f'{name}: a dry run writes nothing', snapshot(p.home), here)
    answer = p.json('keep', *ids)
    p.same(f'{name}: kept', {r['state'] for r in answer['sessions']}, {'kept'})
    p.same(f'{name}: as announced', [r['bytes'] for r in plan['sessions']], [r['bytes'] for r in answer['sessions']])
    p.same(f'{name}: the directory', os.stat(kept_dir(p)).st_mode & 0o777, 0o700)
    p.same(f'{name}: nothing to do', {r['state'] for r in p.json('keep', *ids)['sessions']}, {'unchanged'})
    p.same(f'{name}: originals count', {i for i, r in rows_of(p).items() if r.get('kept')}, set())

    own = {path for files in manifest(p).values() for kind, path in files if kind != 'shared'}
    whole = states(own)
    lose(own)
    after = rows_of(p)
    p.same(f'{name}: all are left', sorted(i for i in after if after[i].get('kept')), ids)
    for i in ids:
        p.need(after[i].get('kept') and set(after[i]['can']) <= {'rewind', 'delete'}, f'{name}: {after[i]}')
        for member in ROW:
            if member not in ELSEWHERE.get(agent, []):
                p.same(f'{name} {i}: {member}', after[i].get(member), before[i].get(member))
    p.same(f'{name}: messages', said(p, ids), texts)
    p.need('kept' in p.text('list', '--all'), f'{name}: not marked')
    p.same(f'{name}: resumed', p.run('--print', '--resume', ids[0]).returncode, 4)
    for command in (['export', '-o', '-', ids[0]], ['info', ids[0]], ['search', '--all', '.'], ['doctor', ids[0]]):
        p.same(f'{name}: {command}', p.run(*command).returncode in (0, 3, 6), True)
    p.need('kept copy' not in p.run('doctor').stdout.decode(), f'{name}: {p.run("doctor").stdout}')

    here = snapshot(p.home)
    p.need('would put back' in p.text('keep', 'restore', '--dry-run', ids[0]), f'{name}: not shown')
    p.same(f'{name}: the dry run wrote', snapshot(p.home), here)
    changes = [c['change'] for c in p.json('keep', 'restore', *ids)]
    p.same(f'{name}: put back', states(own), whole)
    p.same(f'{name}: rows', {i: r.get('kept') for i, r in rows_of(p).items()}, {i: r.get('kept') for i, r in before.items()})
    p.same(f'{name}: messages at the end', said(p, ids), texts)
    p.same(f'{name}: twice', p.run('keep', 'restore', ids[0]).returncode, 4)
    for change in reversed(changes):
        p.same(f'{name}: undo', p.run('undo', change).returncode, 0)
    p.same(f'{name}: kept again', {r.get('kept') for i, r in rows_of(p).items() if i in ids}, {True})
    p.need(not any(os.path.isfile(x) for x in own), f'{name}: left behind')
    run = p.run('keep', 'restore', *ids)
    p.same(f'{name}: redo', run.returncode, 0)
    due = [i for i, r in rows_of(p).items() if i in ids and r.get('expiresAt', time.time() * 1e3 + 1) <= time.time() * 1e3]
    p.same(f'{name}: the agent would remove it again', run.stderr.count(b'resume it first'), len(due))
    p.need(due or name != 'corpus', f'{name}: none is due')
    p.same(f'{name}: put back again', states(own), whole)


def without_store(p, agent):
    """All that the agent had is gone, as after it was removed from the machine: its kept sessions are listed and put back."""
    own = states({path for files in manifest(p).values() for kind, path in files if kind == 'file'})
    before = {i: r for i, r in rows_of(p).items() if r['system'] == agent}
    for top in {path[len(p.home) + 1:].split('/')[0] for path in own} - {'.local', '.config'}:
        shutil.rmtree(f'{p.home}/{top}')
        now = rows_of(p)
        p.same(f'{agent}: kept without its store', [now.get(i, {}).get('kept') for i in before], [True] * len(before))
        run = p.run('keep', 'restore', *before)
        p.same(f'{agent}: put back without its store: {run.stderr}', (run.returncode, states(own)), (0, own))


def far_away(program, top):
    """The same where the paths are longer than an error remembers of them."""
    p = Program(program, f'{top}/{"far" * 30}/{"away" * 30}', {})
    os.makedirs(f'{p.home}/work')
    for n, agent in enumerate(AGENTS):
        write(agent, p.home, f'{p.home}/work', n + 1, AT + n, f'prompt of {agent}')
        p.run('keep', *[i for i, r in rows_of(p).items() if r['system'] == agent])
        without_store(p, agent)
        shutil.rmtree(kept_dir(p))
    return p


def beside_another(program, top):
    """Sessions of another agent are kept in the directory of an agent that has none: no store of its own is expected there."""
    p = Program(program, f'{top}/beside', {})
    for folder in ('.gemini', '.qwen', '.codex', '.copilot', '.pi', '.pi/agent', '.kimi', '.factory', '.grok', '.continue', '.local/share'):
        os.makedirs(f'{p.home}/{folder}', exist_ok=True)
        os.makedirs(f'{kept_dir(p)}/files{p.home}/{folder}', exist_ok=True)
    run = p.run('list', '--all')
    p.same('beside another agent', (run.returncode, run.stderr), (0, b'reprise: no sessions match\n'))
    return p


def agents(program, top):
    p = None
    for name in RECORDED:
        p = Program(program, f'{top}/{name}', {})
        with tarfile.open([x.path for x in os.scandir(f'{HERE}/../fixtures/agents/{name}') if x.name.startswith('store.tar')][0]) as tar:
            tar.extractall(p.home)
        round_trip(p, name, name, 2)
        yield p
    p = Program(program, f'{top}/made', {})
    os.makedirs(f'{p.home}/work')
    for n, agent in enumerate(AGENTS):
        write(agent, p.home, f'{p.home}/work', n + 1, AT + n, f'prompt of {agent}')
        round_trip(p, f'made {agent}', agent, 1)
        without_store(p, agent)
        shutil.rmtree(kept_dir(p))
    yield p
    yield beside_another(program, top)
    for name in ('claude', 'corpus'):
        cwd = world(name, f'{top}/{name}')
        p = Program(program, f'{top}/{name}/home', {})
        if name == 'corpus':  # as old as what the agent removes
            for d, _, names in os.walk(f'{p.home}/.claude/projects'):
                for f in names:
                    os.utime(os.path.join(d, f), (time.time() - 40 * 86400,) * 2)
            p.need(any('expiresAt' in r for r in rows_of(p).values()), 'nothing expires')
        round_trip(p, name, 'claude', 1)
        rewinds(p, name, cwd)
        yield p


def rewinds(p, name, cwd):
    """What a rewind would do does not depend on whether the session is only kept."""
    def plans():
        return {i: p.run('rewind', '-C', cwd, '--json', '--mode', 'code', '--to', turns[i], i).stdout.replace(kept, b'') for i in turns}
    kept = f'{kept_dir(p)}/files'.encode()
    rows = rows_of(p)
    points = {i: p.json('checkpoints', i) for i in rows}
    turns = {i: x[0]['id'] for i, x in points.items() if x}
    p.json('keep', *rows)
    was = plans()
    own = {path for files in manifest(p).values() for kind, path in files if kind != 'shared'}
    lose(own)
    p.same(f'{name}: points', {i: [c['id'] for c in p.json('checkpoints', i)] for i in rows}, {i: [c['id'] for c in x] for i, x in points.items()})
    p.need(was and all(was.values()), f'{name}: no plan')
    for i, plan in plans().items():
        p.need(b'"targets"' in plan or b'"files"' in plan, f'{name} {i}: {plan[:300]}')


def refusals(p, top):
    """What is hostile or lost does not harm what was kept, and each refusal has a word."""
    os.makedirs(f'{p.home}/work')
    path = write('kimi', p.home, f'{p.home}/work', 1, AT, 'a prompt')
    other = write('pi', p.home, f'{p.home}/work', 2, AT + 1, 'another prompt')
    sid, pi = 'kimi:session_019a0000-0000-4000-8000-000000000001', 'pi:019a0000-0000-4000-8000-000000000002'
    own = path[:path.index('/agents/')]
    os.symlink('/etc/passwd', f'{own}/link')
    os.mkfifo(f'{own}/fifo')
    settle()
    answer = p.json('keep', sid)['sessions'][0]
    p.same('a link beside it', (answer['state'], answer['files']), ('kept', 2))
    p.need('not kept' in answer['why'], answer)
    copies = [os.path.join(d, f) for d, _, names in os.walk(f'{kept_dir(p)}/files') for f in names]
    p.same('no link', [x for x in copies if os.path.islink(x) or not os.path.isfile(x)], [])

    with open(path, 'rb') as f:
        whole = f.read()
    copy = f'{kept_dir(p)}/files{path}'
    for lost in (b'', whole[:len(whole) // 3]):
        with open(path, 'wb') as f:
            f.write(lost)
        run = p.run('keep', '--json', sid)
        p.same('emptied: exit', run.returncode, 4)
        answer = whole_lines(run.stdout)['sessions'][0]
        p.same('emptied', answer['state'], 'refused')
        p.need('more than half' in answer['why'], answer)
        with open(copy, 'rb') as f:
            p.same('its copy', f.read(), whole)
    with open(path, 'wb') as f:
        f.write(whole + whole)
    p.same('it grew', p.json('keep', sid)['sessions'][0]['state'], 'kept')
    os.unlink(path)
    os.symlink(copy, path)
    p.same('its transcript is a link', p.run('keep', sid).returncode in (0, 3, 4), True)
    os.unlink(path)

    # What another file has the place of is not replaced.
    with open(path, 'wb') as f:
        f.write(b'')
    p.need(p.run('keep', 'restore', sid).returncode == 4, 'put over another file')
    shutil.rmtree(own)
    os.makedirs(own)
    with open(f'{own}/state.json', 'w', encoding='ascii') as f:
        f.write('{"title": "of somebody else"}')
    run = p.run('keep', 'restore', sid)
    p.need(run.returncode == 4 and not os.path.exists(path), f'{run}')
    with open(f'{own}/state.json', encoding='ascii') as f:
        p.need('somebody' in f.read(), 'another file was replaced')
    shutil.rmtree(own)

    # A copy that rots is found; one that was deleted is not missed, and undo brings it back.
    p.need('no damage found' in p.text('doctor'), p.text('doctor'))
    with open(copy, 'ab') as f:
        f.write(b'x')
    p.need('no longer has the bytes' in p.text('doctor'), 'rot is not found')
    p.same('delete', p.run('delete', sid).returncode, 0)
    p.same('gone', sid in rows_of(p), False)
    p.need('no damage found' in p.text('doctor'), p.text('doctor'))
    p.same('undo of delete', p.run('undo').returncode, 0)
    p.same('there again', rows_of(p)[sid].get('kept'), True)

    # It is not swept, and a session that is deleted takes its copy along.
    p.same('keep', p.run('keep', pi).returncode, 0)
    os.unlink(other)
    swept = p.json('sweep', '--all', '--older-than', '0h')
    p.same('swept', swept['sessions'], [])
    p.need(all('kept' in x['why'] for x in swept['leftOut']), swept)

    # A damaged manifest costs what it says and no copy.
    with open(f'{kept_dir(p)}/manifest', 'rb') as f:
        good = f.read()
    for bad in (b'', b'session\n', b'file 1 2 3 4 5 6 7\n', good[:len(good) // 2], good.replace(b' ', b'  '), b'\0' * 300, good + b'session a b c d %2e%2e\n'):
        with open(f'{kept_dir(p)}/manifest', 'wb') as f:
            f.write(bad)
        p.same(f'{bad[:9]}: list', p.run('list', '--all').returncode, 0)
        p.need(p.run('keep', 'restore', '--dry-run', pi).returncode in (0, 3), f'{bad[:9]}: restore')
        p.same(f'{bad[:9]}: keep', p.run('keep', '--query', 'agent:pi').returncode, 0)
    for bad in (b'\0\n', b'session\0\n', b'\0'):  # only the line that has a NUL is lost
        with open(f'{kept_dir(p)}/manifest', 'wb') as f:
            f.write(bad + good if bad.endswith(b'\n') else good + bad)
        p.same(f'{bad}: restore', p.run('keep', 'restore', '--dry-run', pi).returncode, 0)
    with open(f'{kept_dir(p)}/manifest', 'wb') as f:
        f.write(good)
    p.same('it is whole again', p.run('keep', 'restore', pi).returncode, 0)

    # What was put back before a refusal is in the answer.
    os.unlink(other)
    os.makedirs(own)
    with open(f'{own}/state.json', 'w', encoding='ascii') as f:
        f.write('{"title": "of somebody else"}')
    run = p.run('keep', 'restore', '--json', pi, sid)
    shutil.rmtree(own)
    p.same('put back, and refused', (run.returncode, [x['sessionId'] for x in json.loads(run.stdout or '[]')], os.path.exists(other)),
           (4, [pi[3:]], True))

    # A clock that has jumped ahead makes nothing old until a day later.
    with open(f'{kept_dir(p)}/manifest', 'rb') as f:
        good = f.read()
    config = f'{p.home}/.config/reprise/config'
    os.makedirs(os.path.dirname(config))
    with open(config, 'w', encoding='ascii') as f:
        f.write('[keep]\nsessions = agent:codex\nmax-age = 1d\n')
    shutil.copytree(f'{kept_dir(p)}/files', f'{top}/files.clock')
    now, day = time.time_ns() // 1000000, 86400000
    first = good.index(b'session kimi')
    for clock, left in ((f'{now - 50 * day} 0', True), (f'{now - day // 2} {now - day // 2}', True), (f'{now - day // 2} {now - 2 * day}', False),
                        (f'{now + 400 * day} {now + 400 * day}', False), ('x', False)):
        with open(f'{kept_dir(p)}/clock', 'w', encoding='ascii') as f:
            f.write(clock)
        with open(f'{kept_dir(p)}/manifest', 'wb') as f:
            f.write(good[:first] + good[first:].replace(b' ' + good[first:].split(b' ', 5)[4] + b' ', b' 1 ', 1))
        p.same(f'{clock}: keep', p.run('keep').returncode, 0)
        p.same(f'{clock}: the copies', [os.path.exists(f'{kept_dir(p)}/files{x}') for x in (path, other)], [left, True])
        shutil.rmtree(f'{kept_dir(p)}/files')
        shutil.copytree(f'{top}/files.clock', f'{kept_dir(p)}/files')
    with open(f'{kept_dir(p)}/manifest', 'wb') as f:
        f.write(good)

    # The files that follow a line that cannot be read are not those of the session before it.
    with open(f'{kept_dir(p)}/manifest', 'rb') as f:
        good = f.read()
    stamp = good[first:].split(b' ', 5)[4]
    for n, bad in enumerate((b'sessiom pi', b'session  pi', b'session')):
        with open(f'{kept_dir(p)}/manifest', 'wb') as f:
            f.write(good.replace(b' ' + stamp + b' ', b' 1 ', 1).replace(b'session pi' if n < 2 else b'\nsession pi', bad))
        shutil.copytree(f'{kept_dir(p)}/files', f'{top}/files{n}')
        p.same(f'{bad}: keep', p.run('keep').returncode, 0)
        p.same(f'{bad}: the copies', [os.path.exists(f'{kept_dir(p)}/files{x}') for x in (path, other)], [False, True])
        shutil.rmtree(f'{kept_dir(p)}/files')
        shutil.copytree(f'{top}/files{n}', f'{kept_dir(p)}/files')
    with open(f'{kept_dir(p)}/manifest', 'wb') as f:
        f.write(good)

    # Limits remove what has lost its original, the oldest first, and never what is still there.
    p.same('both', sorted(i for i, r in rows_of(p).items() if r.get('kept')), [sid])
    store = path[:path.index('/sessions/')]
    for setting, left in (('max-sessions = 1000', 1), ('max-size = 1G', 1), ('max-age = 1d', 1), ('max-sessions = 1', 1), ('max-sessions = 1', 0)):
        away = setting == 'max-sessions = 1' and left  # its whole store is, as a disk that is not mounted
        with open(config, 'w', encoding='ascii') as f:
            f.write(f'[keep]\nsessions = agent:pi\n{setting}\n')
        if away:
            os.rename(store, f'{top}/away')
            os.makedirs(store)
        p.same(f'{setting}: keep', p.run('keep').returncode, 0)
        if away:
            os.rmdir(store)
            os.rename(f'{top}/away', store)
        p.same(setting, sum(r.get('kept', False) for r in rows_of(p).values()), left)
    p.need(os.path.exists(other) and os.path.exists(f'{kept_dir(p)}/files{other}'), 'what is there was removed')
    with open(config, 'w', encoding='ascii') as f:
        f.write('[keep]\nsessions = all\nmax-size = 1k\nmax-age = old\nmax-colour = red\n')
    problems = p.run('config', '--check')
    p.same('mistakes', (problems.returncode, [w in problems.stdout + problems.stderr for w in (b'max-size', b'old', b'max-colour')]), (5, [False, True, True]))
    write('droid', p.home, f'{p.home}/work', 3, AT, 'x' * 5000)
    answer = whole_lines(p.run('keep', '--json').stdout)
    p.need([x for x in answer['sessions'] if x['system'] == 'droid' and 'max-size' in x.get('why', '')], answer)
    p.same('nothing is said', p.run('keep', '--query', 'is:').returncode, 2)


def neighbours(p):
    """What becomes of one session takes nothing from another one."""
    def claude(folder, name, body):
        path = f'{p.home}/.claude/{folder}/{name}'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='ascii') as f:
            f.write(body)
        return path
    def copy_of(path):
        return f'{kept_dir(p)}/files{path}'
    def states_of():
        run = p.run('keep', '--json', '--all', '--query', 'agent:claude')
        return run.stdout and {x['sessionId']: x['state'] for x in whole_lines(run.stdout)['sessions']}

    os.makedirs(f'{p.home}/work')
    rows = [json.dumps({'type': 'user', 'uuid': f'aaaaaaaa-0000-4000-8000-00000000000{n}', 'parentUuid': None, 'cwd': f'{p.home}/work', 'sessionId': '',
                        'timestamp': '2026-02-09T02:00:01.000Z', 'message': {'role': 'user', 'content': f'prompt {n}'}}) + '\n' for n in (1, 2)]
    sid = [f'{n}0000000-0000-4000-8000-000000000000' for n in range(2)]
    one = claude('projects/-one', f'{sid[0]}.jsonl', rows[0].replace('""', f'"{sid[0]}"'))
    saved = claude(f'file-history/{sid[0]}', '0123456789abcdef@v1', 'saved\n')
    last = claude('projects/-two', f'{sid[1]}.jsonl', rows[0].replace('""', f'"{sid[1]}"'))
    side = claude(f'projects/-two/{sid[1]}/tool-results', 'x', 'a file\n')
    settle()

    p.same('all are kept', states_of(), {x: 'kept' for x in sid})

    # A directory that takes the place of a file is kept nowhere, and ends nothing.
    os.unlink(side)
    claude(f'projects/-two/{sid[1]}/tool-results/x', 'y', 'another file\n')
    claude('projects/-two', f'{sid[1]}.jsonl', rows[0].replace('""', f'"{sid[1]}"') + rows[1].replace('""', f'"{sid[1]}"'))
    two = one.replace('-one', '-two')
    os.rename(one, two)
    p.same('a directory in the place of a file', states_of(), {sid[0]: 'kept', sid[1]: 'refused'})
    # What was copied before the refusal is not taken for damage.
    p.same('a copy that was replaced', [os.stat(x).st_size for x in (last, copy_of(last))], [os.stat(last).st_size] * 2)
    p.need('no longer has the bytes' not in p.text('doctor'), p.text('doctor'))

    # Limits leave the saved copies of a session that was moved to another folder.
    with open(f'{kept_dir(p)}/manifest', encoding='ascii') as f:
        lines = [' '.join(w[:4] + ['1'] + w[5:]) if w[0] == 'session' and w[-1].startswith(urllib.parse.quote(one)) else ' '.join(w)
                 for w in (line.split(' ') for line in f)]
    with open(f'{kept_dir(p)}/manifest', 'w', encoding='ascii') as f:
        f.write(''.join(lines))
    config = f'{p.home}/.config/reprise/config'
    os.makedirs(os.path.dirname(config))
    with open(config, 'w', encoding='ascii') as f:
        f.write('[keep]\nsessions = agent:claude\nmax-age = 1d\n')
    p.run('keep')
    p.same('the copies', [os.path.exists(copy_of(x)) for x in (one, two, saved)], [False, True, True])


def main():
    with tempfile.TemporaryDirectory() as top:
        p = Program(sys.argv[1], f'{top}/refused', {})
        refusals(p, top)
        passed, failed = p.passed, p.failed
        p = Program(sys.argv[1], f'{top}/neighbours', {})
        neighbours(p)
        passed, failed = passed + p.passed, failed + p.failed
        p = far_away(sys.argv[1], top)
        passed, failed = passed + p.passed, failed + p.failed
        for p in agents(sys.argv[1], top):
            passed, failed = passed + p.passed, failed + p.failed
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or passed < 300 else 0)


main()
