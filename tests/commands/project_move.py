#!/usr/bin/env python3
"""Sessions follow a project's directory that was moved: they are listed, resumed and rewound in the new place.

usage: project_move.py PROGRAM

What the move changes is shown before; a session that runs or is in the way stays; an undo restores every byte.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

import copies_matrix as agents
from resume_by_id import World, flat
from support.program import snapshot

UUIDS = [f'bbbbbbbb-0000-4000-8000-{k:012}' for k in range(8)]


def session_id(n):
    return f'aaaaaaaa-0000-4000-8000-{n:012}'


def save(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.writelines(json.dumps(row, separators=(',', ':')) + '\n' for row in rows)
    os.utime(path, (1700000000,) * 2)
    return path


def claude(w, number, cwd, folder=None):
    """A session that edited a.txt, with a sub-agent and a saved copy."""
    sid, file = session_id(number), f'{cwd}/a.txt'
    top = f'{w.config}/projects/{folder or flat(cwd)}'
    common = {'isSidechain': False, 'sessionId': sid, 'cwd': cwd, 'version': '2.1.332', 'gitBranch': 'main'}

    def row(k, kind, content, **more):
        return {'parentUuid': UUIDS[k - 1] if k else None, 'type': kind, 'uuid': UUIDS[k], 'timestamp': f'2026-03-01T10:00:0{k}.000Z',
                'message': {'role': kind, 'content': content, **({'id': f'm{k}', 'model': 'x'} if kind == 'assistant' else {})}, **common, **more}

    def kept(k, name, version):
        return {'type': 'file-history-snapshot', 'messageId': UUIDS[k], 'isSnapshotUpdate': False, 'snapshot': {
            'messageId': UUIDS[k], 'timestamp': f'2026-03-01T10:00:0{k}.000Z',
            'trackedFileBackups': {file: {'backupFileName': name, 'version': version, 'backupTime': f'2026-03-01T10:00:0{k}.000Z'}}}}
    copies = []
    for version, text in (1, 'one\n'), (2, 'two\n'):
        copies.append(f'{number:016x}@v{version}')
        os.makedirs(f'{w.config}/file-history/{sid}', exist_ok=True)
        with open(f'{w.config}/file-history/{sid}/{copies[-1]}', 'w', encoding='utf-8') as f:
            f.write(text)
    save(f'{top}/{sid}/subagents/agent-a1.jsonl', [{**row(0, 'user', 'look'), 'isSidechain': True, 'agentId': 'a1'}])
    return save(f'{top}/{sid}.jsonl', [
        row(0, 'user', f'change a in {number}'), kept(0, copies[0], 1),
        row(1, 'assistant', [{'type': 'tool_use', 'id': 't1', 'name': 'Write', 'input': {'file_path': file, 'content': 'two\n'}}]),
        row(2, 'user', [{'type': 'tool_result', 'tool_use_id': 't1', 'content': 'ok'}],
            toolUseResult={'type': 'update', 'filePath': file, 'content': 'two\n', 'structuredPatch': [], 'originalFile': 'one\n'}),
        row(3, 'assistant', [{'type': 'text', 'text': 'done'}]), row(4, 'user', 'thanks'), kept(4, copies[1], 2),
        row(5, 'assistant', [{'type': 'text', 'text': 'welcome'}])])


def ids(w, cwd, *args):
    run = subprocess.run([w.program.path, '-C', cwd, 'list', '--json', *args], env=w.program.env, capture_output=True, check=False)
    return sorted(r['sessionId'] for r in json.loads(run.stdout or b'[]'))


def moved(w, *args):
    """The answer of `move` by id: where the session goes, or why it stays."""
    run = w.program.run('move', '--json', *args)
    answer = json.loads(run.stdout)
    return run.returncode, {s['sessionId']: s.get('why') or s['to'] for s in answer['sessions']}, answer.get('change')


def project(w, name='old'):
    top = f'{w.top}/{name}'
    os.makedirs(f'{top}/sub')
    with open(f'{top}/a.txt', 'w', encoding='utf-8') as f:
        f.write('two\n')
    return top


def check_claude(w):
    """All that belongs to a session goes along; a rewind finds the files in the new place; undo is exact."""
    old, new = project(w), f'{w.top}/new name'
    paths = [claude(w, 1, old), claude(w, 2, f'{old}/sub'), claude(w, 3, f'{w.top}/older')]
    claude(w, 4, f'{old}-two')
    before = snapshot(w.config)
    os.rename(old, new)
    goes = {session_id(1): new, session_id(2): f'{new}/sub'}
    w.program.same('shown', moved(w, old, new), (0, goes, None))
    w.program.same('only shown', snapshot(w.config), before)
    w.program.need('(see reprise move)' in w.program.text('rewind', session_id(1), '--to', UUIDS[0], '--all'), 'a rewind names the command')
    rc, went, change = moved(w, old, new, '--apply')
    w.program.same('moved', (rc, went), (0, goes))
    w.program.same('listed in the new place', ids(w, new), [session_id(1)])
    w.program.same('and below', ids(w, f'{new}/sub'), [session_id(2)])
    w.program.same('its time stays', os.stat(paths[0].replace(flat(old), flat(new))).st_mtime, 1700000000)
    w.program.same('the sub-agent went along', w.program.json('subagents', session_id(1)), ['a1'])
    w.program.same('others stay', [os.path.exists(p) for p in paths], [False, False, True])
    w.program.same('resumes there', w.out('--resume', session_id(1), '--print')[-1], f"cd '{new}' && claude --resume {session_id(1)}")
    said = w.program.text('rewind', session_id(1), '--to', UUIDS[0], '--all')
    w.program.need(f'the project moved: files of {old} are those of {new}' in said and f'{new}/a.txt' in said, f'the rewind says so: {said}')
    run = w.program.run('rewind', session_id(1), '--to', UUIDS[0], '--all', '--apply')
    rewound = run.stdout.decode().split()[-1]
    with open(f'{new}/a.txt', encoding='utf-8') as f:
        w.program.same('rewound in the new place', (run.returncode, f.read()), (0, 'one\n'))
    w.program.run('undo', rewound)
    with open(f'{new}/a.txt', encoding='utf-8') as f:
        w.program.same('and undone', f.read(), 'two\n')
    w.program.same('nothing of the old place is left', moved_nothing(w, old, new), 3)
    # The folder that became empty may have been removed since.
    os.rmdir(os.path.dirname(paths[0]))
    run = w.program.run('undo', change)
    w.program.same('undone', (run.returncode, run.stderr), (0, b''))
    now = {p: s for p, s in snapshot(w.config).items() if s[2] is not None}
    w.program.same('byte for byte', {p: s[2] for p, s in now.items()}, {p: s[2] for p, s in before.items() if s[2] is not None})
    w.program.same('with its times', {p: s[1] for p, s in now.items() if p in paths}, {p: before[p][1] for p in paths})
    newest = max(x['id'] for x in w.program.json('log', '--all'))
    w.program.same('done again', w.program.run('undo', newest).returncode, 0)
    w.program.same('and there again', ids(w, new), [session_id(1)])
    os.rename(new, old)
    w.program.same('moved back', moved(w, new, old, '--apply')[:2], (0, {session_id(1): old, session_id(2): f'{old}/sub'}))
    w.program.same('listed at home', ids(w, old), [session_id(1)])
    said = w.program.text('rewind', session_id(1), '--to', UUIDS[0], '--all')
    w.program.need('the project moved' not in said and f'{old}/a.txt' in said, f'at home nothing is mapped: {said}')


def check_doubt(w):
    """A saved copy that is cut short is doubted by what the session's own edit found, also after the project moved."""
    old, new = project(w), f'{w.top}/new'
    claude(w, 1, old)
    with open(f'{w.config}/file-history/{session_id(1)}/{1:016x}@v1', 'w', encoding='utf-8') as f:
        f.write('on')
    for place in old, new:
        if place == new:
            os.rename(old, new)
            moved(w, old, new, '--apply')
        said = w.program.json('rewind', session_id(1), '--to', UUIDS[0], '--all', '--dry-run')
        w.program.need('is cut short' in json.dumps(said), f'{place}: {said}')


def check_doubt_holds_deletions(w):
    """Created files stay while the copy of another file is in doubt, and go if it is restored all the same."""
    old = project(w, 'held')
    path = claude(w, 5, old)
    with open(path, encoding='utf-8') as f:
        rows = [json.loads(line) for line in f]
    made = {**rows[2]['message']['content'][0], 'id': 't2', 'input': {'file_path': f'{old}/made', 'content': 'made\n'}}
    rows[2]['message']['content'].append(made)
    rows.insert(4, {**rows[3], 'uuid': UUIDS[6], 'parentUuid': UUIDS[2], 'message': {'role': 'user', 'content': [
        {'type': 'tool_result', 'tool_use_id': 't2', 'content': 'ok'}]},
        'toolUseResult': {'type': 'create', 'filePath': f'{old}/made', 'content': 'made\n', 'structuredPatch': [], 'originalFile': None}})
    rows[1]['snapshot']['trackedFileBackups'][f'{old}/made'] = {'backupFileName': None, 'version': 1, 'backupTime': rows[0]['timestamp']}
    rows[5]['parentUuid'] = UUIDS[6]
    save(path, rows)
    for name, text in ('made', 'made\n'), ('a.txt', 'two\n'):
        with open(f'{old}/{name}', 'w', encoding='utf-8') as f:
            f.write(text)
    for text, more, action in ('one\n', (), 'delete'), ('on', (), 'refused'), ('on', ('--overwrite-edited',), 'delete'):
        with open(f'{w.config}/file-history/{session_id(5)}/{5:016x}@v1', 'w', encoding='utf-8') as f:
            f.write(text)
        said = w.program.json('rewind', session_id(5), '--to', UUIDS[0], '--all', '--dry-run', *more)
        does = {os.path.basename(x['path']): x['action'] for x in said['files']}
        w.program.same(f'with a copy of {text!r} {more}', does['made'], action)


def check_doubt_of_two_names(w):
    """It belongs to its own file, also after another one that the client tracks by two names."""
    old = project(w, 'names')
    path = claude(w, 2, old)
    with open(path, encoding='utf-8') as f:
        rows = [json.loads(line.replace(f'{old}/a.txt', f'{old}/b.txt')) for line in f]
    copy = {'backupFileName': f'{9:016x}@v1', 'version': 1, 'backupTime': '2026-03-01T10:00:00.000Z'}
    rows[1]['snapshot']['trackedFileBackups'] = {'a.txt': copy, f'{old}/a.txt': copy, **rows[1]['snapshot']['trackedFileBackups']}
    save(path, rows)
    for name, text in (f'{2:016x}@v1', 'on'), (f'{9:016x}@v1', 'another\n'):
        with open(f'{w.config}/file-history/{session_id(2)}/{name}', 'w', encoding='utf-8') as f:
            f.write(text)
    with open(f'{old}/b.txt', 'w', encoding='utf-8') as f:
        f.write('two\n')
    said = w.program.json('rewind', session_id(2), '--to', UUIDS[0], '--all', '--dry-run')
    doubted = [os.path.basename(x['path']) for x in said['files'] if 'is cut short' in x.get('why', '')]
    w.program.same('the doubt', doubted, ['b.txt'])


def check_continued(w):
    """A session that went on in the new place goes back with all that was said there."""
    old, new = project(w), f'{w.top}/new'
    path = claude(w, 1, old)
    os.rename(old, new)
    there = path.replace(flat(old), flat(new))
    _, _, change = moved(w, old, new, '--apply')
    more = {'parentUuid': UUIDS[5], 'isSidechain': False, 'type': 'user', 'uuid': UUIDS[6], 'timestamp': '2026-03-02T10:00:00.000Z', 'cwd': new,
            'sessionId': session_id(1), 'message': {'role': 'user', 'content': 'one more'}}
    with open(there, 'a', encoding='utf-8') as f:
        f.write(json.dumps(more, separators=(',', ':')) + '\n')
    os.rename(new, old)
    w.program.same('undone', w.program.run('undo', change).returncode, 0)
    w.program.same('nothing stays there', os.path.exists(there), False)
    w.program.same('listed at home', ids(w, old), [session_id(1)])
    w.program.same('its directory', w.program.json('info', session_id(1))['cwd'], old)
    w.program.need('one more' in w.program.text('messages', session_id(1)), 'what was said there is kept')


def check_worktree(w):
    """A session that left a worktree, which was removed then, edited files of the worktree, not those of the project."""
    for place in 'inside', 'beside':
        root = project(w, place)
        began = f'{root}/.claude/worktrees/x' if place == 'inside' else f'{w.top}/{place}-gone/.claude/worktrees/x'
        path = claude(w, 1, began, flat(root))
        with open(path, 'a', encoding='utf-8') as f:
            f.write(json.dumps({'type': 'relocated', 'relocatedCwd': root, 'sessionId': session_id(1)}, separators=(',', ':')) + '\n')
        run = w.program.run('rewind', session_id(1), '--to', UUIDS[0], '--all', '--apply', '--skip-refused')
        with open(f'{root}/a.txt', encoding='utf-8') as f:
            w.program.same(f'{place}: the file of the project is another', f.read(), 'two\n')
        w.program.need(b'the project moved: files' not in run.stdout, f'{place}: {run.stdout!r}')
        os.unlink(path)


def moved_nothing(w, *args):
    return w.program.run('move', *args).returncode


def check_in_the_way(w):
    """Nothing is overwritten, and a session that runs stays; the others move."""
    old, new = project(w), project(w, 'new')
    claude(w, 1, old)
    claude(w, 2, old)
    there = claude(w, 2, new)
    os.makedirs(f'{w.config}/sessions')
    claude(w, 5, old)
    agent = subprocess.Popen(['sleep', '100'])
    try:
        with open(f'/proc/{agent.pid}/stat', encoding='ascii') as f:
            start = f.read().rsplit(')', 1)[1].split()[19]
        with open(f'{w.config}/sessions/{agent.pid}.json', 'w', encoding='utf-8') as f:
            json.dump({'pid': agent.pid, 'procStart': start, 'sessionId': session_id(5), 'cwd': old, 'status': 'busy'}, f)
        with open(there, 'rb') as f:
            theirs = f.read()
        rc, went, _ = moved(w, old, new, '--apply')
    finally:
        agent.kill()
        agent.wait()
    w.program.same('exit code', rc, 4)
    w.program.same('one moved', went[session_id(1)], new)
    w.program.need(went[session_id(2)].startswith('a session is already there: '), f'in the way: {went}')
    w.program.need(went[session_id(5)].startswith('an agent may have it open'), f'running: {went}')
    with open(there, 'rb') as f:
        w.program.same('not overwritten', f.read(), theirs)
    w.program.same('they stay', sorted(os.path.basename(p) for p in os.listdir(f'{w.config}/projects/{flat(old)}') if p.endswith('l')),
                   [f'{session_id(n)}.jsonl' for n in (2, 5)])


def check_wrong(w):
    old, new = project(w), project(w, 'new')
    claude(w, 1, old)
    before = snapshot(w.config)
    for code, args in (3, (old, f'{w.top}/none')), (2, (old, old)), (2, (old, f'{old}/sub')), (3, (f'{w.top}/never', new)), (2, (old,)), \
                      (2, (old, f'{old}/a.txt')), (2, ('/', new)):
        run = w.program.run('move', *args, '--apply')
        w.program.need(run.returncode == code and run.stderr.count(b'\n') == 1, f'{args}: exit {run.returncode}: {run.stderr!r}')
    w.program.same('nothing changed', snapshot(w.config), before)


def check_places(w):
    """The old directory by another spelling, through a link, and left as a link to the new one."""
    old, new = project(w), f'{w.top}/new'
    claude(w, 1, old)
    os.symlink(old, f'{w.top}/link')
    os.rename(old, new)
    w.program.same('by a relative path', moved(w, '../old/', '../new/')[:2], (0, {session_id(1): new}))
    os.symlink(new, old)
    w.program.same('a link was left', moved(w, old, new, '--apply')[:2], (0, {session_id(1): new}))
    w.program.same('listed once', ids(w, new), [session_id(1)])


def check_links(w):
    """A link to the project, or to a directory above it, and the directory itself are one place, also when it is gone: whichever
    of the names the sessions recorded, and whichever is given."""
    os.makedirs(f'{w.top}/deep')
    os.symlink('deep/../deep', f'{w.top}/up')
    for number, (recorded, given, target) in enumerate((
            ('link', 'real', 'real'), ('real', 'link', 'real'), ('link', 'real', f'{w.top}/real'), ('link', 'again', 'real'), ('up/real', 'deep/real', None),
            ('deep/real', 'up/real', None)), 1):
        place = f'{w.top}/deep/real' if target is None else f'{w.top}/real'
        new = f'{w.top}/new{number}'
        os.makedirs(f'{place}/sub')
        if target:
            os.symlink(target, f'{w.top}/link')
            os.symlink('link', f'{w.top}/again')
        claude(w, 1, f'{w.top}/{recorded}')
        claude(w, 2, f'{w.top}/{recorded}/sub')
        os.rename(place, new)
        rc, went, change = moved(w, f'{w.top}/{given}', new, '--apply')
        w.program.same(f'{recorded} recorded, {given} given', (rc, went), (0, {session_id(1): new, session_id(2): f'{new}/sub'}))
        w.program.same('listed there', (ids(w, new), ids(w, f'{new}/sub')), ([session_id(1)], [session_id(2)]))
        if target:
            # A link that leads to the new place needs no move, and it does not lead elsewhere.
            w.program.same('undone from there', subprocess.run([w.program.path, '-C', new, 'undo', change], env=w.program.env, capture_output=True, check=False).returncode, 0)
            os.unlink(f'{w.top}/link')
            os.symlink(new, f'{w.top}/link')
            w.program.same('the link follows', moved_nothing(w, f'{w.top}/real', new), 0 if recorded == 'real' else 3)
            w.program.same('listed through it', ids(w, new), [] if recorded == 'real' else [session_id(1)])
            os.unlink(f'{w.top}/link')
            os.unlink(f'{w.top}/again')
        shutil.rmtree(f'{w.config}/projects')
    # A link that leads elsewhere by now: its own sessions and those of the directory behind it, which are told apart.
    other, new = f'{w.top}/elsewhere', f'{w.top}/new9'
    os.makedirs(other)
    os.makedirs(new)
    claude(w, 1, f'{w.top}/link')
    claude(w, 2, other)
    os.symlink(other, f'{w.top}/link')
    lines = w.program.text('move', f'{w.top}/link', new).splitlines()
    w.program.same('of two directories', sorted(lines)[1:], [f'claude:{session_id(1)}: would move to {new}',
                                                            f'claude:{session_id(2)}: would move to {new}, from {other}'])
    os.unlink(f'{w.top}/link')
    shutil.rmtree(f'{w.config}/projects')
    # A link that leads in a circle is no place.
    os.symlink('round', f'{w.top}/round')
    claude(w, 1, f'{w.top}/round')
    w.program.same('a circle', moved(w, f'{w.top}/round', new, '--apply')[:2], (0, {session_id(1): new}))


def check_other_agents(w):
    """Each agent whose sessions are found by a folder is moved and lists them there; for others it is said why not."""
    old, new = project(w, 'one'), f'{w.top}/other'
    can = {}
    for name, make in agents.AGENTS.items():
        if name in ('claude', 'codex_archived'):
            continue
        path, rows = make(w.home, old, 'word', 1000)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(rows, bytes):
            with open(path, 'wb') as f:
                f.write(rows)
        else:
            save(path, rows)
        can[name] = path
    before = files_of(w.home)
    os.rename(old, new)
    answer = w.program.json('move', old, new)
    why = {s['system']: s.get('why') for s in answer['sessions']}
    goes = sorted(s for s, reason in why.items() if not reason)
    w.program.same('these move', goes, ['droid', 'gemini', 'kimi', 'pi', 'qwen'])
    w.program.need(all(why.get(s) or s in goes for s in why) and len(why) >= 8, f'the others say why: {why}')
    said = [line.split() for line in w.program.text('help', 'agents').splitlines()]
    w.program.same('as the table of agents says', {row[0] for row in said if row and row[0] in why and row[-1] == 'yes'}, set(goes))
    done = json.loads(w.program.run('move', '--json', old, new, '--apply').stdout)
    change = done['change']
    w.program.same('where they are said to be', [s['path'] for s in done['sessions'] if not os.path.exists(s['path'])], [])
    for system in goes:
        rows = w.program.json('list', '--all', '--system', system)
        w.program.same(f'{system}: its directory', [r['cwd'] for r in rows], [new])
        w.program.same(f'{system}: listed there', ids(w, new, '--system', system), [rows[0]['sessionId']])
        w.program.same(f'{system}: its time', [r['lastModified'] // 1000 for r in rows], [1700000000])
    w.program.run('undo', change)
    w.program.same('undone', files_of(w.home), before)
    # A byte order mark hides the first row from none of them.
    for system in goes:
        with open(can[system], 'rb') as f:
            log = f.read()
        with open(can[system], 'wb') as f:
            f.write(b'\xef\xbb\xbf' + log)
    marked = files_of(w.home)
    _, _, change = moved(w, old, new, '--apply')
    rows = json.loads(w.program.run('-C', new, 'list', '--json').stdout)
    w.program.same('with marks', sorted((r['system'], r['cwd']) for r in rows if r['system'] in goes), [(system, new) for system in goes])
    w.program.run('undo', change)
    w.program.same('with marks: undone', files_of(w.home), marked)


def gemini(w, number, cwd, folder=None):
    """A session that edited a.txt, with a sub-agent. Gemini finds its folder by a mark in it, or by its list of projects."""
    sid, top = session_id(number), f'{w.home}/.gemini/tmp/{folder or os.path.basename(cwd)}'
    chats = f'{top}/chats'
    os.makedirs(f'{chats}/{sid}', exist_ok=True)
    with open(f'{top}/.project_root', 'w', encoding='utf-8') as f:
        f.write(cwd)
    save(f'{chats}/{sid}/bbbbbbbb.jsonl', [{'sessionId': 'bbbbbbbb', 'projectHash': 'x', 'kind': 'subagent'}])
    call = {'id': 'c1', 'name': 'write_file', 'args': {'file_path': f'{cwd}/a.txt', 'content': 'two\n'}, 'status': 'success',
            'result': [{'functionResponse': {'id': 'c1', 'name': 'write_file', 'response': {'output': 'ok'}}}],
            'resultDisplay': {'filePath': f'{cwd}/a.txt', 'fileName': 'a.txt', 'originalContent': 'one\n', 'newContent': 'two\n', 'isNewFile': False}}
    return save(f'{chats}/session-2026-03-01T10-00-{number:08}.jsonl', [
        {'sessionId': sid, 'projectHash': 'x', 'startTime': '2026-03-01T10:00:00.000Z', 'lastUpdated': '2026-03-01T10:00:00.000Z', 'kind': 'main'},
        {'id': f'g{number}', 'timestamp': '2026-03-01T10:00:00.000Z', 'type': 'user', 'content': [{'text': 'change a'}]},
        {'id': f'h{number}', 'timestamp': '2026-03-01T10:00:01.000Z', 'type': 'gemini', 'content': 'done', 'toolCalls': [call]}])


def check_gemini(w):
    """Folders with a mark: a new one, one that is there, one that the list of projects names, and one that belongs to another."""
    old, new = project(w), f'{w.top}/New name'
    os.makedirs(f'{old}/x/sub')
    os.makedirs(f'{old}/y/sub')
    tmp = f'{w.home}/.gemini/tmp'
    path = gemini(w, 1, old)
    gemini(w, 2, f'{old}/x/sub', 'sub')
    gemini(w, 3, f'{old}/y/sub', 'sub-1')
    os.makedirs(f'{w.top}/another')
    gemini(w, 4, f'{w.top}/another', 'new-name')
    # Two folders for one directory, as after a lost list of projects.
    gemini(w, 5, old, 'old-1')
    before = files_of(w.home)
    os.rename(old, new)
    goes = {session_id(1): new, session_id(2): f'{new}/x/sub', session_id(3): f'{new}/y/sub', session_id(5): new}
    w.program.same('gemini: shown', moved(w, old, new), (0, goes, None))
    rc, went, change = moved(w, old, new, '--apply')
    w.program.same('gemini: moved', (rc, went), (0, goes))
    for place, sessions in (new, [1, 5]), (f'{new}/x/sub', [2]), (f'{new}/y/sub', [3]), (f'{w.top}/another', [4]):
        w.program.same(f'gemini: listed in {place}', ids(w, place), [session_id(n) for n in sessions])
    w.program.same('gemini: no file is left', os.path.exists(path), False)
    marks = []
    for folder in os.listdir(tmp):
        with open(f'{tmp}/{folder}/.project_root', encoding='utf-8') as f:
            marks.append(f.read())
    w.program.same('gemini: a mark for each place', sorted(marks), sorted([old, old, new, f'{old}/x/sub', f'{old}/y/sub', f'{new}/x/sub', f'{new}/y/sub', f'{w.top}/another']))
    w.program.same('gemini: the sub-agent went along', w.program.json('subagents', session_id(1)), ['bbbbbbbb'])
    said = w.program.text('rewind', session_id(1), '--to', 'g1', '--all')
    w.program.need(f'the project moved: files of {old} are those of {new}' in said and f'{new}/a.txt' in said, f'gemini: the rewind says so: {said}')
    run = w.program.run('undo', change)
    w.program.same('gemini: undone', (run.returncode, files_of(w.home)), (0, before))
    # The list of projects names a folder for the new place, in which there is no mark.
    os.makedirs(f'{tmp}/elsewhere/chats')
    with open(f'{w.home}/.gemini/projects.json', 'w', encoding='utf-8') as f:
        json.dump({'projects': {f'{w.top}/another': 'new-name', new: 'elsewhere'}}, f)
    moved(w, old, new, '--apply')
    w.program.same('gemini: into the known folder', sorted(os.listdir(f'{tmp}/elsewhere')), ['chats'])
    w.program.same('gemini: both', len([n for n in os.listdir(f'{tmp}/elsewhere/chats') if n.endswith('l')]), 2)
    # A name that is no folder is not followed.
    with open(f'{w.home}/.gemini/projects.json', 'w', encoding='utf-8') as f:
        json.dump({'projects': {f'{w.top}/third': '../../x', f'{w.top}/fourth': '..'}}, f)
    for place in 'third', 'fourth':
        os.makedirs(f'{w.top}/{place}')
        w.program.same(f'gemini: {place}', moved(w, f'{w.top}/another', f'{w.top}/{place}', '--apply')[0], 0)
        w.program.same(f'gemini: listed in {place}', ids(w, f'{w.top}/{place}'), [session_id(4)])
        w.program.run('undo')


def check_gemini_same_digits(w):
    """Two ids with the same first eight digits: neither is a part of the other."""
    old, new = project(w), f'{w.top}/new'
    own, other = gemini(w, 1, old), gemini(w, 2, old)
    os.rename(old, new)
    # Both are named after these digits, and the first one has a second file, as after a resume.
    for k, path in enumerate((own, other)):
        os.rename(path, f'{os.path.dirname(path)}/session-2026-03-01T10-0{k}-aaaaaaaa.jsonl')
    resumed = f'{os.path.dirname(own)}/session-2026-03-01T10-02-aaaaaaaa.jsonl'
    save(resumed, [{'sessionId': session_id(1), 'projectHash': 'x', 'kind': 'main'}])
    before = files_of(w.home)
    goes = {session_id(1): new, session_id(2): new}
    w.program.same('same digits: shown', moved(w, old, new), (0, goes, None))
    w.program.same('same digits: moved', moved(w, old, new, '--apply')[:2], (0, goes))
    w.program.same('same digits: listed', ids(w, new), [session_id(1), session_id(2)])
    w.program.same('same digits: the second file went along', os.path.exists(resumed), False)
    w.program.same('same digits: undone', (w.program.run('undo').returncode, files_of(w.home)), (0, before))
    # Its two files and that of its sub-agent.
    w.program.run('bundle', session_id(1), '-o', f'{w.top}/one')
    w.program.same('same digits: in a bundle', w.program.json('bundle', '--list', f'{w.top}/one')['sessions'][0]['files'], 3)


def qwen(w, cwd, shell=None):
    """A session that edited a.txt and perhaps ran a command before that."""
    sid, file, rows = session_id(1), f'{cwd}/a.txt', []

    def row(kind, role, parts, **more):
        k = len(rows)
        rows.append({'uuid': UUIDS[k], 'parentUuid': UUIDS[k - 1] if k else None, 'sessionId': sid, 'timestamp': f'2026-03-01T10:00:0{k}.000Z', 'type': kind,
                     'cwd': cwd, 'version': '0.24.4', **({'message': {'role': role, 'parts': parts}} if parts else {}), **more})

    def call(name, args):
        row('assistant', 'model', [{'functionCall': {'id': f'c{len(rows)}', 'name': name, 'args': args}}])
        return f'c{len(rows) - 1}'
    row('user', 'user', [{'text': 'change a'}])
    row('system', None, None, subtype='file_history_snapshot', systemPayload={'snapshots': [
        {'promptId': f'{sid}########0', 'timestamp': '2026-03-01T10:00:01.000Z', 'trackedFileBackups': {}}]})
    if shell:
        made = call('run_shell_command', {'command': shell})
        row('tool_result', 'user', [{'functionResponse': {'id': made, 'name': 'run_shell_command', 'response': {'output': ''}}}])
    made = call('edit', {'file_path': file, 'old_string': 'one', 'new_string': 'two'})
    row('tool_result', 'user', [{'functionResponse': {'id': made, 'name': 'edit', 'response': {'output': 'ok'}}}],
        toolCallResult={'callId': made, 'status': 'success', 'resultDisplay': {
            'fileName': 'a.txt', 'filePath': file, 'originalContent': 'one\n', 'newContent': 'two\n', 'fileDiff': ''}})
    row('assistant', 'model', [{'text': 'done'}])
    return save(f'{w.home}/.qwen/projects/{flat(cwd)}/chats/{sid}.jsonl', rows)


def check_rewinds(w):
    """What the sessions of other agents recorded about the old place is about the new one; a command that names it is not known."""
    old, new, newest = project(w), f'{w.top}/new', f'{w.top}/newest'
    for make, point in (gemini, 'g1'), (qwen, UUIDS[0]):
        name, sid = make.__name__, session_id(1)
        make(*((w, 1, old) if make is gemini else (w, old)))

        def rewound(where, *froms):
            said = w.program.text('rewind', sid, '--to', point, '--all')
            for was in froms:
                w.program.need(f'the project moved: files of {was} are those of {where}' in said, f'{name}: {said}')
            w.program.need(said.startswith('restore ') and f'{where}/a.txt' in said and 'outside' not in said, f'{name}: {said}')
            w.program.same(f'{name}: no more notes', said.count('the project moved'), len(froms))
            run = w.program.run('rewind', sid, '--to', point, '--all', '--apply')
            with open(f'{where}/a.txt', encoding='utf-8') as f:
                w.program.same(f'{name}: rewound in {where}', (run.returncode, f.read()), (0, 'one\n'))
            w.program.same(f'{name}: undone', w.program.run('undo', run.stdout.decode().split()[-1]).returncode, 0)
        rewound(old)
        for was, now in (old, new), (new, newest):
            os.rename(was, now)
            w.program.same(f'{name}: moved', moved(w, was, now, '--apply')[:2], (0, {sid: now}))
            rewound(now, old)
        os.rename(newest, old)
        w.program.same(f'{name}: moved home', moved(w, newest, old, '--apply')[:2], (0, {sid: old}))
        rewound(old)
        shutil.rmtree(f'{w.home}/.{name}')
    for command in f"sed -i s/one/ONE/ {old}/a.txt", 'ls':
        qwen(w, old, command)
        os.rename(old, new)
        moved(w, old, new, '--apply')
        said = w.program.text('rewind', session_id(1), '--to', UUIDS[0], '--all')
        w.program.same(f'after {command}: {said}', 'may have changed' in said, command != 'ls')
        os.rename(new, old)
        shutil.rmtree(f'{w.home}/.qwen')


def check_kimi(w):
    """The state and the bindings of all logs name the new place, and all other bytes stay; undo also after it was moved twice."""
    old, sid, top = project(w, 'A b'), f'session_{session_id(1)}', f'{w.home}/.kimi-code/sessions'
    names = {'A b': 'a-b', 'Käfer & Co.': 'k-fer-co.', '--x--': 'x', 'y' * 39 + '-z': 'y' * 39, '日本': 'workspace', '..x_': '..x_', 'A b ': 'a-b'}

    def folder(path):
        return f'wd_{names[os.path.basename(path)]}_{hashlib.sha256(path.encode()).hexdigest()[:12]}'
    binding = {'type': 'runtime.set_binding', 'workspaceId': folder(old), 'runtimeId': 'local', 'agentId': 'main', 'time': 1}
    first = {'type': 'metadata', 'protocol_version': '1.5', 'created_at': 1}
    said = {'type': 'turn.prompt', 'agentId': 'main', 'input': [{'type': 'text', 'text': 'hello'}], 'origin': {'kind': 'user'}, 'promptId': 'm0', 'turnId': 0, 'time': 2}
    save(f'{top}/{folder(old)}/{sid}/agents/main/wire.jsonl', [first, binding, said])
    save(f'{top}/{folder(old)}/{sid}/agents/a1/wire.jsonl', [first, {**binding, 'agentId': 'a1'}])
    save(f'{top}/{folder(old)}/{sid}/agents/old/wire.jsonl', [first])
    state = '{"id":"%s",  "cwd":%s, "n":1.50, "agents":{}}'
    with open(f'{top}/{folder(old)}/{sid}/state.json', 'w', encoding='utf-8') as f:
        f.write(state % (sid, json.dumps(old)))
    os.utime(f'{top}/{folder(old)}/{sid}/state.json', (1700000000,) * 2)
    before, here, changes = snapshot(w.home), old, []
    for name in list(names)[1:]:
        there = f'{w.top}/{name}'
        os.rename(here, there)
        rc, went, change = moved(w, here, there, '--apply')
        w.program.same(f'{name}: moved', (rc, went), (0, {sid: there}))
        changes.append((here, there, change))
        w.program.same(f'{name}: listed', ids(w, there, '--system', 'kimi'), [sid])
        with open(f'{top}/{folder(there)}/{sid}/state.json', encoding='utf-8') as f:
            w.program.same(f'{name}: its state', json.loads(f.read()), {'id': sid, 'cwd': there, 'n': 1.5, 'agents': {}})
        for agent, more in ('main', {}), ('a1', {'agentId': 'a1'}), ('old', None):
            with open(f'{top}/{folder(there)}/{sid}/agents/{agent}/wire.jsonl', encoding='utf-8') as f:
                last = json.loads(f.readlines()[-1])
            want = first if more is None else {**binding, **more, 'workspaceId': folder(there), 'time': 1700000000000}
            w.program.same(f'{name}: {agent} is bound', last, want)
        w.program.same(f'{name}: its time', w.program.json('list', '--all', '--system', 'kimi')[0]['lastModified'], 1700000000000)
        here = there
    for was, now, change in reversed(changes):
        os.rename(now, was)
        w.program.same(f'back from {now}', w.program.run('undo', change).returncode, 0)
    w.program.same('byte for byte', {p: s[1:] for p, s in snapshot(w.home).items() if s[2] is not None}, {p: s[1:] for p, s in before.items() if s[2] is not None})
    # A state that names no directory, or is no document, stays as it is.
    for text in '{}', '{"cwd":5}', '{"cwd":""}', 'x', '':
        with open(f'{top}/{folder(old)}/{sid}/state.json', 'w', encoding='utf-8') as f:
            f.write(text)
        os.utime(f'{top}/{folder(old)}/{sid}/state.json', (1700000000,) * 2)
        w.program.run('move', old, f'{w.top}/home', '--apply')
        with open(f'{top}/{folder(old)}/{sid}/state.json', encoding='utf-8') as f:
            w.program.same('not touched', f.read(), text)


def check_hostile(w):
    """Where the new folder cannot be made, or the new name cannot be written, nothing is moved and nothing is left unfinished."""
    old, new = project(w), project(w, 'new')
    path, other = claude(w, 1, old), qwen(w, old)
    there, odd = f'{w.config}/projects/{flat(new)}', os.fsencode(w.top) + b'/n\xe9w'
    os.makedirs(odd)

    def stays(what, code, to, why):
        before = snapshot(w.top)
        run = w.program.run('move', old, to, '--apply')
        w.program.need(run.returncode == code and why in run.stdout + run.stderr and b'unfinished' not in run.stderr, f'{what}: {run}')
        return before, snapshot(w.top)
    w.program.same('nothing is moved', *stays('no UTF-8', 4, odd, b'in UTF-8'))
    for what in 'a file', 'a link to nothing':
        save(there, []) if what == 'a file' else os.symlink('none', there)
        before, after = stays(what, 4, new, b'its new folder is none: ')
        w.program.same(f'{what}: the session stays as it is', after[path], before[path])
        w.program.need(other not in after, f'{what}: those of other agents move')
        w.program.same(f'{what}: undone', (w.program.run('undo', '--all').returncode, os.path.exists(other)), (0, True))
        w.program.same(f'{what}: what is there stays', after[there], before[there])
        os.unlink(there)
    for n, name in enumerate(('tmp', 'chats', os.path.basename(w.home), os.path.basename(w.top), 'projects')):
        # The folder of a project may be named as one above it.
        place = f'{w.top}/{n}/{name}'
        os.makedirs(place)
        gemini(w, 1, place, name)
        gone = files_of(f'{w.home}/.gemini')
        os.rename(place, f'{new}/{n}')
        rc, went, change = moved(w, place, f'{new}/{n}', '--apply')
        w.program.same(f'a folder named {name}', (rc, went, ids(w, f'{new}/{n}')), (0, {session_id(1): f'{new}/{n}'}, [session_id(1)]))
        w.program.run('undo', change)
        w.program.same(f'a folder named {name}: undone', files_of(f'{w.home}/.gemini'), gone)
        shutil.rmtree(f'{w.home}/.gemini')
    # The list of projects names a file, or a folder of which no file system has the name.
    gemini(w, 1, old)
    save(f'{w.home}/.gemini/tmp/file', [])
    os.unlink(other)
    os.unlink(path)
    for name in 'file', 'x' * 300:
        with open(f'{w.home}/.gemini/projects.json', 'w', encoding='utf-8') as f:
            json.dump({'projects': {new: name}}, f)
        w.program.same(f'{name[:9]}: nothing is moved', *stays(name, 4, new, b'its new folder is none: '))


def check_read_only(w):
    """What cannot be written keeps its own sessions where they are, with its name and the reason before anything is moved."""
    old, new = project(w), f'{w.top}/new'
    path, sub, other = claude(w, 1, old), claude(w, 2, f'{old}/sub'), qwen(w, old)
    chats, keeps = gemini(w, 3, old), w.program.path
    os.rename(old, new)
    if os.geteuid() == 0:
        w.program.path = f'{w.bin}/bound'
        with open(w.program.path, 'w', encoding='utf-8') as f:
            f.write(f'#!/bin/sh\nexec setpriv --bounding-set -dac_override,-dac_read_search {keeps} "$@"\n')
        os.chmod(w.program.path, 0o755)
    before = files_of(w.top)
    of = {'claude': {path, sub}, 'qwen': {other}, 'gemini': {chats}}
    for what, stays in ((os.path.dirname(path), {path}), (path, {path}), (path[:-6], {path}), (f'{w.config}/projects', of['claude']),
                        (os.path.dirname(other), of['qwen']), (f'{w.home}/.gemini/tmp', of['gemini'])):
        mode = os.stat(what).st_mode
        os.chmod(what, mode & ~0o222)
        shown = json.loads(w.program.run('move', '--json', old, new).stdout)['sessions']
        w.program.same(f'{what}: shown', {s['path'] for s in shown if s.get('why') == f'Permission denied: write to: {what}'}, stays)
        run = w.program.run('move', '--json', old, new, '--apply')
        w.program.same(f'{what}: as it was shown', (run.returncode, json.loads(run.stdout)['sessions']), (1, shown))
        w.program.same(f'{what}: the rest is moved', {p for p in (path, sub, other, chats) if os.path.exists(p)}, stays)
        w.program.same(f'{what}: undone', (w.program.run('undo', '--all').returncode, os.chmod(what, mode)), (0, None))
        w.program.same(f'{what}: as before', {p: b for p, b in files_of(w.top).items() if p in before}, before)
        for empty in [folder for top in (w.config, w.home) for folder, names, files in os.walk(top, topdown=False) if 'new' in folder]:
            os.rmdir(empty)


def files_of(top):
    return {p: s[2] for p, s in snapshot(top).items() if s[2] is not None}


def main():
    passed = failed = 0
    w = None
    for check in (check_claude, check_doubt, check_doubt_holds_deletions, check_doubt_of_two_names, check_continued, check_worktree, check_in_the_way,
                  check_wrong, check_places, check_links, check_gemini, check_gemini_same_digits, check_kimi, check_rewinds, check_other_agents, check_hostile, check_read_only):
        w = World(sys.argv[1])
        check(w)
        passed, failed = passed + w.program.passed, failed + w.program.failed
        shutil.rmtree(w.top)
    w.program.passed, w.program.failed = passed, failed
    w.program.finish(45)


if __name__ == '__main__':
    main()
