"""Committed checkpoints: conformance rows 36 to 46."""
import hashlib
import json
import os
import re
import shutil

from entire.fixture import A, CA, CB, CT, CR, World, document, get, listed, put, row


def committed(c):
    w = World(c, 'committed')
    rows = {r['sessionId']: r for r in w.json('list', '--all', '--system', 'entire')}
    points = {s: w.points(s) for s in rows}
    ids = [p['id'] for s in points for p in points[s]]
    c.same('36: six checkpoints', len(set(ids)), 6)
    c.same('36: two sessions in one, also where folders have a gap', (ids.count('5f0c11d2ab34'), ids.count('9c0d1e2f3a4b')), (2, 2))
    w.run('fork', 'entire:2026-01-06-' + CB, '--at', '9c0d1e2f3a4b', ok=True)
    whole = w.git('show', 'entire/checkpoints/v1:77/aa88bb99cc/0/content_hash.txt')
    shutil.rmtree(w.claude)
    back = w.json('retrieve', 'entire:' + CA, '--at', '77aa88bb99cc')
    c.same('37: three pieces, and their checksum', 'sha256:' + hashlib.sha256(get(back[0]['path'])).hexdigest(), whole)
    c.same('38: no hash is no error', [f for f in w.json('doctor', 'entire:' + CT) if f['kind'] != 'stuck'], [])
    c.same('38: tasks are at the root of the checkpoint', points[CT][0]['record']['tool_use_id'], 'toolu_01AutoTask')
    w.plant('refs/heads/entire/checkpoints/v1', {'e0/e1e2e3e4e5/0/content_hash.txt': 'sha256:' + '0' * 64})
    c.same('39: another hash is a warning', [f['kind'] for f in w.json('doctor', 'entire:' + CR)], ['checksum'])
    c.same('39: and nothing more', len(w.json('messages', 'entire:' + CR)), 4)
    c.same('39: it is retrieved all the same', w.json('retrieve', 'entire:' + CR, '--at', 'e0e1e2e3e4e5')[0]['written'], True)
    records = [p['record'] for s in points for p in points[s] if 'record' in p]
    c.same('40: logs_only.tsv', sorted({f"{r['id']}\t{r['condensation_id']}" for r in records}),
           sorted(w.expected('committed', 'logs_only.tsv').split('\n'))[1:])
    subjects = {l.split('\t')[0]: l.split('\t')[3] for l in w.expected('committed', 'history.tsv').splitlines()}
    c.same('40: history.tsv', [r['message'] for r in records], [subjects[r['id']] for r in records])
    c.need('40: one that no commit carries is marked', 'no commit' in points[CR][0]['why'] and not points[CR][0]['restorable'])
    c.same('41: a dangling trailer restores nothing', w.run('rewind', 'entire:' + CA, '--to', 'deadbeef0001').returncode, 3)
    both = w.json('retrieve', 'entire:2026-01-06-' + CA, '--at', '9c0d1e2f3a4b', '--dry-run')
    c.same('41: and folders 0 and 2 bring both sessions', [r['sessionId'] for r in both],
           ['2026-01-06-' + CA, '2026-01-06-' + CB])
    w.git('update-ref', 'refs/remotes/origin/entire/checkpoints/v1', 'refs/heads/entire/checkpoints/v1')
    w.git('update-ref', '-d', 'refs/heads/entire/checkpoints/v1')
    c.same('45: those of origin are used', set(rows) - {r['sessionId'] for r in w.json('list', '--all', '--system', 'entire')}, set())
    w.close()


def odd(c):
    """Row 43: oddities of real repositories, each in a checkpoint of its own."""
    gemini = json.dumps({'sessionId': 'gem-1', 'messages': [
        {'id': 'g1', 'type': 'user', 'timestamp': '2026-02-10T10:00:00Z', 'content': 'Ask Gemini'},
        {'id': 'g2', 'type': 'gemini', 'timestamp': '2026-02-10T10:01:00Z', 'content': 'Gemini answers',
         'toolCalls': [{'name': 'write_file', 'args': {'file_path': 'a.c'}}]}]}, indent=2)
    codex = ''.join(json.dumps(r) + '\n' for r in (
        {'timestamp': '2026-02-10T10:00:09Z', 'type': 'session_meta',
         'payload': {'id': 'cod-1', 'timestamp': '2026-02-10T10:00:00Z', 'cwd': '/srv/demo'}},
        {'timestamp': '2026-02-10T10:00:01Z', 'type': 'response_item',
         'payload': {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'Ask Codex'}]}},
        {'timestamp': '2026-02-10T10:00:02Z', 'type': 'response_item',
         'payload': {'type': 'message', 'role': 'assistant', 'content': [{'type': 'output_text', 'text': 'Codex answers'}]}}))
    log = row('user', 'u1', None, 'Asked', 's') + row('assistant', 'u2', 'u1', 'Answered', 's', 1)
    shapes = {
        'aa0000000001': [('noagent', {}, {'full.jsonl': log})],
        'aa0000000002': [('legacy', {'agents': 'Agent', 'steps_count': 3, 'transcript_uuid_at_start': 'u1', 'files_touched': None,
                                     'created_at': '2026-01-06T19:44:48.712292+01:00'}, {'full.log': log})],
        'aa0000000003': [('gem-1', {'agent': 'Gemini CLI'}, {'full.jsonl': gemini})],
        'aa0000000004': [('cod-1', {'agent': 'Codex'}, {'full.jsonl': codex})],
        'aa0000000005': [('several-a', {'agent': 'Claude Code'}, {'full.jsonl': log}), None, None,
                         ('several-b', {'agent': 'Claude Code', 'summary': {'intent': 'x', 'friction': []}}, {'full.jsonl': log})],
        'aa0000000006': [('auto', {'strategy': 'auto-commit', 'is_task': True, 'tool_use_id': 'toolu_1'}, {'full.jsonl': log})],
        'aa0000000007': [('evil', {'agent': 'Claude Code', 'transcript_path': '../../../etc/passwd'}, {'full.jsonl': log})],
        'aa0000000008': [('nothing', {'agent': 'Claude Code'}, {})],
    }
    w = World(c, 'committed')
    files = {}
    for cid, sessions in shapes.items():
        folder = f'{cid[:2]}/{cid[2:]}/'
        names = []
        for n, s in enumerate(sessions):
            if s:
                names.append(listed(f'/{folder}{n}/'))
                files[f'{folder}{n}/metadata.json'] = document(checkpoint_id=cid, session_id=s[0], **{
                    'created_at': '2026-02-10T10:02:00Z', **s[1]})
                files[f'{folder}{n}/prompt.txt'] = 'Asked'
                files.update({f'{folder}{n}/{name}': text for name, text in s[2].items()})
        files[folder + 'metadata.json'] = document(checkpoint_id=cid, checkpoints_count=1, files_touched=None, sessions=names)
    place = '01/KX37KN6NXDTV10FKNCBPTP2Y/'
    files[place + 'metadata.json'] = document(sessions=[listed('/' + place + '0/')])
    files[place + '0/metadata.json'] = document(session_id='in-a-branch')
    w.plant('refs/heads/entire/checkpoints/v1', files)
    rows = {r['sessionId']: r for r in w.json('list', '--all', '--system', 'entire')}
    want = {s[0] for ss in shapes.values() for s in ss if s}
    c.same('43: all of them are listed', want - set(rows), set())
    c.need('3: a newer id is that of a ref, not of a folder in a branch', 'in-a-branch' not in rows)
    c.same('43: one without an agent names none', 'agentName' in rows['noagent'], False)
    c.same('43: a time with an offset', rows['legacy']['createdAt'], 1767725088712)
    for name in ('noagent', 'legacy', 'several-a', 'several-b', 'auto', 'evil'):
        c.same(f'43: {name} is read', [m['message']['content'] for m in w.json('messages', 'entire:' + name)], ['Asked', 'Answered'])
    c.same('43: a conversation of Gemini', [(m['type'], m['message']['content']) for m in w.json('messages', 'entire:gem-1')],
           [('user', 'Ask Gemini'), ('assistant', 'Gemini answers')])
    for page in (['--offset', '1'], ['--offset', '1', '--limit', '9223372036854775807'], ['--tail', '1']):
        c.same(f'43: {page}', [m['type'] for m in w.json('messages', 'entire:gem-1', *page)], ['assistant'])
    c.same('43: one of Codex', [m['type'] for m in w.json('messages', 'entire:cod-1')], ['user', 'assistant'])
    c.need('43: the one without a transcript is marked', w.run('messages', 'entire:nothing').returncode in (3, 5))
    run = w.run('retrieve', 'entire:evil', '--json')
    c.need('52: the place follows from the work tree, not from what was pushed', run.returncode == 0 and
           json.loads(run.stdout)[0]['path'].startswith(w.claude))
    back = w.json('retrieve', 'entire:gem-1')[0]
    sanitized = re.sub('[^A-Za-z0-9]', '-', w.repo)
    c.same('43: Gemini\'s goes where Entire puts it', (back['path'], back['state'], get(back['path']).decode()),
           (f'{w.home}/.gemini/tmp/{sanitized}/chats/gem-1.json', 'new', gemini))
    c.same('43: and is the same then', w.json('retrieve', 'entire:gem-1')[0]['state'], 'unchanged')
    own = f'{w.home}/.gemini/tmp/{hashlib.sha256(w.repo.encode()).hexdigest()}/chats'
    there = own + '/session-2026-02-10T10-00-gem-1.json'
    put(there, gemini.replace('10:01:00', '11:00:00'))
    run = w.run('retrieve', 'entire:gem-1', '--json')
    c.same('43: where the agent keeps a newer one that stays', (run.returncode, there in run.stderr.decode(), b'11:00' in get(there)),
           (4, True, True))
    back = w.json('retrieve', 'entire:cod-1')[0]
    c.same('43: Codex\'s goes to its day', (back['path'], get(back['path']).decode()),
           (w.home + '/.codex/sessions/2026/02/10/rollout-2026-02-10T10-00-00-cod-1.jsonl', codex))
    c.same('43: for no other agent', os.stat(back['path']).st_mode & 0o777, 0o600)
    os.rename(back['path'], back['path'].replace('T10-00-00', 'T11-00-00'))
    c.same('43: and is found by its id', w.json('retrieve', 'entire:cod-1')[0]['state'], 'unchanged')
    for name in 'gem-1', 'cod-1':
        c.need(f'43: {name} cannot be forked, and it says why', b'Claude Code' in w.run('fork', 'entire:' + name).stderr)
    w.close()


def second(c):
    """Row 44: v2 is read and not written."""
    w = World(c, 'committed')
    w.git('update-ref', '-d', 'refs/heads/entire/checkpoints/v1')
    main, full = {}, {}
    for n in range(10):
        cid = f'bb000000000{n}'
        folder = f'{cid[:2]}/{cid[2:]}/'
        log = row('user', 'u1', None, f'Asked {n}', f'two-{n}') + row('assistant', 'u2', 'u1', 'Raw', f'two-{n}', 1)
        compact = document(v=1, agent='claude-code', type='user', ts='2026-02-10T10:00:00Z', content=[{'text': 'Compact'}])
        main[folder + 'metadata.json'] = document(checkpoint_id=cid, sessions=[listed(
            '/' + folder + '0/', transcript='transcript.jsonl', content_hash='transcript_hash.txt')])
        main[folder + '0/metadata.json'] = document(checkpoint_id=cid, session_id=f'two-{n}', agent='Claude Code',
                                                    created_at='2026-02-10T10:02:00Z', files_touched=['a.c'])
        main[folder + '0/transcript.jsonl'] = json.dumps(json.loads(compact)) + '\n'
        main[folder + '0/prompt.txt'] = f'Asked {n}'
        if n == 3:  # in pieces
            full[folder + '0/raw_transcript'], full[folder + '0/raw_transcript.001'] = log[:-1].split('\n')[0], log.split('\n')[1] + '\n'
        elif n == 4:
            old = {folder + '0/raw_transcript': log}
        elif n < 9:
            full[folder + '0/raw_transcript'] = log
    w.plant('refs/entire/checkpoints/v2/main', main)
    w.plant('refs/entire/checkpoints/v2/full/current', full)
    w.plant('refs/entire/checkpoints/v2/full/0000000000001', old)
    refs = w.git('for-each-ref')
    rows = {r['sessionId']: r for r in w.json('list', '--all', '--system', 'entire')}
    c.same('44: ten checkpoints', sorted(r for r in rows if r.startswith('two-')), [f'two-{n}' for n in range(10)])
    said = [[m['message']['content'] for m in w.json('messages', f'entire:two-{n}')] for n in (0, 3, 4)]
    c.same('44: what the agent wrote, in pieces and in an older generation too', said, [[f'Asked {n}', 'Raw'] for n in (0, 3, 4)])
    c.same('44: or the short form', [m['message']['content'] for m in w.json('messages', 'entire:two-9')], [[{'text': 'Compact'}]])
    c.same('44: and retrieved', w.json('retrieve', 'entire:two-3')[0]['state'], 'new')
    for args in (['checkpoint', 'entire:two-1', '--id', 'hm', 'x.txt'], ['set', 'entire:two-1', 'event=commit']):
        run = w.run(*args)
        c.need(f'44: {args[0]} is refused with an explanation', run.returncode in (1, 4) and b'no state' in run.stderr)
    c.same('44: nothing was written', w.git('for-each-ref'), refs)
    w.close()
    w = World(c, 'refs-ulid')
    run = w.run('create', 'entire:' + w.repo, '--id', 'ulid-1', '--cwd', w.repo, ok=True)
    refs = w.git('for-each-ref')
    run = w.run('set', 'entire:ulid-1', 'event=commit')
    c.need('44: a checkpoint with a ref of its own is read, not written', run.returncode in (1, 4) and b'01KX37KN6NXDTV10FKNCBPTP2Y' in run.stderr
           and b'does not write' in run.stderr)
    c.same('44: its ref is as it was', w.git('for-each-ref'), refs)
    w.close()


def many(c):
    """Row 46: many checkpoints cost little; the limit itself is measured by the benches."""
    w = World(c, 'committed')
    files = {}
    for n in range(590):
        cid = f'cc{n:010x}'
        folder = f'{cid[:2]}/{cid[2:]}/'
        files[folder + 'metadata.json'] = document(checkpoint_id=cid, sessions=[listed('/' + folder + '0/')])
        files[folder + '0/metadata.json'] = document(checkpoint_id=cid, session_id=f'm-{n}', created_at='2026-02-10T10:02:00Z')
    w.plant('refs/heads/entire/checkpoints/v1', files)
    c.same('46: all of 590', len([r for r in w.json('list', '--all', '--system', 'entire') if r['sessionId'].startswith('m-')]), 590)
    w.close()
