"""Transcripts, resuming and forks: conformance rows 47 to 52."""
import json
import os
import re

from entire.fixture import A, B, CA, CB, CT, World, document, get, listed, put, row
from support.program import snapshot


def transcripts(c):
    w = World(c, 'committed')
    away = os.path.join(w.home, 'away')
    os.rename(os.path.join(w.home, '.claude'), away)
    place = f'{w.claude}/{re.sub("[^A-Za-z0-9]", "-", w.repo)}/{CB}.jsonl'
    back = w.json('retrieve', 'entire:' + CB, '--at', '5f0c11d2ab34')
    mine = [b for b in back if b['sessionId'] == CB][0]
    c.same('47: the folder is the path with dashes', mine['path'], place)
    c.same('48: it was not here', (mine['state'], mine['written']), ('new', True))
    c.same('50: every session of it', sorted(b['sessionId'] for b in back), [CA, CB])
    c.same('48: the same', [b for b in w.json('retrieve', 'entire:' + CB) if b['sessionId'] == CB][0]['state'], 'unchanged')
    text = get(place)
    put(place, b''.join(text.splitlines(True)[:2]))
    c.same('48: the checkpoint is newer', w.json('retrieve', 'entire:' + CB)[0]['state'], 'checkpoint-newer')
    c.same('48: and written', get(place), text)
    longer = text + row('assistant', 'zz', 'ab2', 'x' * 200000, CB, 59).encode()
    put(place, longer)
    run = w.run('retrieve', 'entire:' + CB, '--json')
    c.same('48: newer here, behind a line of 200 KB: left alone', (run.returncode, get(place) == longer), (4, True))
    w.run('retrieve', 'entire:' + CB, '--force', ok=True)
    c.same('48: an explicit choice', get(place), text)
    w.run('undo', ok=True)
    c.same('48: the former transcript is kept', get(place), longer)
    task = w.json('retrieve', 'entire:' + CT, '--at', '0fedcba98765')
    c.same('49: a task ends where it ended', json.loads(get(task[0]['path']).splitlines()[-1])['uuid'], 'ra1')
    for folder, name in (('11/1111111111/', '../../evil'), ('22/2222222222/', '/abs/evil')):
        w.plant('refs/heads/entire/checkpoints/v1', {
            folder + 'metadata.json': document(sessions=[listed('/' + folder + '0/')]),
            folder + '0/metadata.json': document(session_id=name), folder + '0/full.jsonl': row('user', 'u', None, 'x', name)})
        c.need(f'52: {name} is no session', name not in {r['sessionId'] for r in w.json('list', '--all')})
        c.need(f'52: nor can it be retrieved', w.run('retrieve', 'entire:' + name).returncode in (2, 3))
    w.plant('refs/heads/entire/checkpoints/v1', {
        '33/3333333333/metadata.json': document(sessions=[listed('/33/3333333333/0/', transcript='../../../../11/1111111111/0/full.jsonl')]),
        '33/3333333333/0/metadata.json': document(session_id='climber'), '11/1111111111/0/full.jsonl': row('user', 'u', None, 'secret', 'x')})
    c.need('52: a transcript of another checkpoint is refused', b'secret' not in w.run('messages', 'entire:climber', '--json').stdout)
    w.close()


def dated(c):
    """An id of the old form is its agent's <uuid> in everything that is reported about a copy."""
    w = World(c, 'committed')
    old = [r['sessionId'] for r in w.json('list', '--all') if re.match(r'2026-01-06-', r['sessionId'])][0]
    made = w.json('fork', 'entire:' + old)
    c.same('51: the parent of a copy is what the agent calls it',
           (made['parentId'], {json.loads(l).get('forkedFrom', {}).get('sessionId') for l in get(made['path']).splitlines()} - {None}),
           (old[11:], {old[11:]}))
    c.same('51: as the list shows', [r.get('parentId') for r in w.json('list', '--all') if r['sessionId'] == made['sessionId']], [old[11:]])
    w.close()


def forks(c):
    w = World(c, 'two-sessions')
    live = w.state(A)['transcript_path']
    text, git, states = get(live), w.facts(), snapshot(w.repo + '/.git/entire-sessions')
    made = w.json('fork', 'entire:' + A)
    c.same('51: and the answer names its source', made['parentId'], A)
    copy = [json.loads(l) for l in get(made['path']).splitlines()]
    c.need('51: a new UUID', re.fullmatch(r'[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}', made['sessionId']) and made['sessionId'] != A)
    c.same('51: sessionId on every line', {r['sessionId'] for r in copy}, {made['sessionId']})
    c.same('51: every message', sum(r['type'] in ('user', 'assistant') for r in copy), len(text.splitlines()))
    c.same('51: for no other agent', os.stat(made['path']).st_mode & 0o777, 0o600)
    c.same('51: where the agent looks', os.path.dirname(made['path']), w.claude + '/' + re.sub('[^A-Za-z0-9]', '-', w.repo))
    c.same('51: the original is unchanged', get(live), text)
    first = w.points(A)[0]['id']
    early = w.json('fork', 'entire:' + A, '--at', first)
    c.same('51: as it was at a checkpoint', sum(json.loads(l)['type'] in ('user', 'assistant') for l in get(early['path']).splitlines()), 6)
    task = w.json('fork', 'entire:' + A, '--at', w.points(A)[2]['id'][:12])
    c.same('51: of a task up to its end', [r.get('forkedFrom', {}).get('messageUuid') for r in map(json.loads, get(task['path']).splitlines())
                                         if r['type'] in ('user', 'assistant')][-1], 'rt1')
    one = w.json('fork', 'entire:' + A, '--at', 'ua2')
    c.same('51: up to a message', sum(json.loads(l)['type'] in ('user', 'assistant') for l in get(one['path']).splitlines()), 7)
    c.same('51: of another session no point', w.run('fork', 'entire:' + A, '--at', w.points(B)[0]['id']).returncode, 3)
    c.same('51: no state, no ref', (w.facts(), snapshot(w.repo + '/.git/entire-sessions')), (git, states))
    c.same('51: it is a session of the agent', w.json('info', made['sessionId'])['system'], 'claude')
    w.run('undo', ok=True)
    c.need('51: and can be undone', not os.path.exists(one['path']) and os.path.exists(made['path']))
    os.rename(live, live + '.away')
    c.same('51: from the checkpoint alone', len(get(w.json('fork', 'entire:' + A)['path']).splitlines()), len(copy))
    c.need('51: resume-at needs it here', b'not on this machine' in w.run('resume-at', 'entire:' + A, first).stderr)
    os.rename(live + '.away', live)
    w.run('resume-at', 'entire:' + A, first, ok=True)
    c.same('51: and goes on where the checkpoint was', [m['uuid'] for m in w.json('restore', 'entire:' + A)['messages']][-1], 'aa3')
    w.close()
