"""What a repository is given with its first session, what info shows, and the way from a commit to its prompt and back."""
import json
import os

from entire.fixture import A, B, CA, World, document, get, put


def enabling(c):
    """The files are those of `entire enable`; nothing that exists is changed."""
    w = World(c, 'two-sessions')
    for ref in w.git('for-each-ref', '--format=%(refname)', 'refs/heads/entire').split():
        w.git('update-ref', '-d', ref)
    settings = get(w.repo + '/.entire/settings.json')
    for f in os.listdir(w.repo + '/.git/entire-sessions'):
        os.remove(w.repo + '/.git/entire-sessions/' + f)
    os.rmdir(w.repo + '/.git/entire-sessions')
    w.run('create', 'entire', '--id', 'first', ok=True)
    c.same('enable: existing settings stay', get(w.repo + '/.entire/settings.json'), settings)
    os.remove(w.repo + '/.git/entire-sessions/first.json')
    os.rmdir(w.repo + '/.git/entire-sessions')
    w.git('update-ref', '-d', 'refs/heads/entire/checkpoints/v1')
    for f in 'settings.json', '.gitignore':
        os.remove(w.repo + '/.entire/' + f)
    before = w.facts()
    w.run('create', 'entire', '--id', 'first', ok=True)
    c.same('enable: settings', get(w.repo + '/.entire/settings.json'), b'{\n  "strategy": "manual-commit",\n  "enabled": true\n}\n')
    c.same('enable: what git ignores', get(w.repo + '/.entire/.gitignore'), b'tmp/\nsettings.local.json\nmetadata/\nlogs/\n')
    c.same('enable: modes', [oct(os.stat(f'{w.repo}/{f}').st_mode & 0o777) for f in ('.entire/settings.json', '.git/entire-sessions/first.json')],
           ['0o644', '0o600'])
    c.same('enable: the branch of the checkpoints has an empty tree and no parent',
           (w.git('ls-tree', 'entire/checkpoints/v1'), w.git('log', '--format=%P|%s', 'entire/checkpoints/v1')), ('', '|Initialize metadata branch'))
    c.same('enable: HEAD and index stay', w.facts()[:4], before[:4])
    tip = w.git('rev-parse', 'entire/checkpoints/v1')
    os.remove(w.repo + '/.entire/settings.json')
    w.run('create', 'entire', '--id', 'second', ok=True)
    c.same('enable: once', (os.path.exists(w.repo + '/.entire/settings.json'), w.git('rev-parse', 'entire/checkpoints/v1')), (False, tip))
    c.same('enable: both are listed', {r['sessionId'] for r in w.json('list')}, {'first', 'second'})
    w.close()

    w = World(c, 'two-sessions')
    w.git('init', '-q', w.top + '/fresh')
    os.makedirs(w.top + '/away')
    os.symlink(w.top + '/away', w.top + '/fresh/.entire')
    run = w.program.run('-C', w.top + '/fresh', 'create', 'entire', '--id', 'x')
    c.same('enable: a link in place of .entire is refused', (run.returncode, os.listdir(w.top + '/away')), (4, []))
    w.close()


def usage(message, out):
    """The message of an answer with its usage."""
    counts = dict(zip(('input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'), (10, 20, 30)), output_tokens=out)
    return dict(id=message, usage=counts)


def facts(c):
    w = World(c, 'two-sessions')
    c.same('info: phase and strategy of a running session', [w.json('info', 'entire:' + A)[k] for k in ('phase', 'strategy', 'uncommittedCheckpoints')],
           ['idle', 'manual-commit', 3])
    c.same('list: the phase', {r['sessionId']: r['phase'] for r in w.json('list') if r['system'] == 'entire'}[A], 'idle')
    w.run('set', 'entire:' + A, 'input-tokens=5', 'output-tokens=7', 'api-calls=2', ok=True)
    w.run('set', 'entire:' + A, 'cache-read-tokens=11', 'input-tokens=6', ok=True)
    c.same('set: token usage', list(w.state(A)['token_usage'].items()),
           [('input_tokens', 6), ('cache_creation_tokens', 0), ('cache_read_tokens', 11), ('output_tokens', 7), ('api_call_count', 2)])
    c.same('info: it is shown', w.json('info', 'entire:' + A)['tokenUsage'], w.state(A)['token_usage'])
    for bad in '5x', '-1', '1.5', 'many':
        c.same('set: not a number of tokens: ' + bad, w.run('set', 'entire:' + A, 'input-tokens=' + bad).returncode, 2)
    live = w.state(A)['transcript_path']
    put(live, get(live) + (json.dumps({'type': 'assistant', 'sessionId': A, 'uuid': 'u9', 'parentUuid': None, 'message': usage('m1', 4)}) + '\n').encode())
    w.git('add', 'src')
    w.git('commit', '-qm', 'Login\n\nEntire-Checkpoint: 0123456789ab')
    w.run('set', 'entire:' + A, 'event=commit', ok=True)
    at = 'entire/checkpoints/v1:01/23456789ab/'
    want = {'input_tokens': 10, 'cache_creation_tokens': 20, 'cache_read_tokens': 30, 'output_tokens': 4, 'api_call_count': 1}
    c.same('commit: the usage of this part of the transcript, in both documents',
           [json.loads(w.git('show', at + f)).get('token_usage') for f in ('metadata.json', '0/metadata.json')], [want, want])
    text = w.run('info', 'entire:' + A, ok=True).stdout.decode()
    c.need('info: in words', '6 in, 7 out, 11 read from the cache' in text and 'strategy       manual-commit' in text)
    w.close()

    w = World(c, 'committed')
    summary = {'intent': 'a \x1b[31mred one', 'outcome': 'done', 'learnings': {}, 'friction': [], 'open_items': []}
    drawn = {'calculated_at': '2026-02-10T10:00:00Z', 'agent_lines': 3, 'human_added': 1, 'human_modified': 0, 'human_removed': 2,
             'total_committed': 4, 'agent_percentage': 75.5}
    sid = 'abcd0000-0001-4000-8000-00000000000a'
    w.plant('refs/heads/entire/checkpoints/v1', {
        'ab/cd00000001/metadata.json': document(checkpoint_id='abcd00000001', sessions=[]),
        'ab/cd00000001/0/metadata.json': document(session_id=sid, strategy='manual-commit', created_at='2026-02-10T10:00:00Z', agent='Gemini CLI',
                                                  token_usage={'input_tokens': 3, 'output_tokens': 2}, initial_attribution=drawn, summary=summary),
        'ab/cd00000001/0/prompt.txt': 'Say it'})
    info = w.json('info', 'entire:' + sid)
    c.same('info: attribution and summary as recorded', (info['attribution'], info['aiSummary'], info['tokenUsage']['input_tokens']), (drawn, summary, 3))
    text = w.run('info', 'entire:' + sid, ok=True).stdout
    c.need('info: in words', b'75 % by the agent: 3 of 4 lines; by hand 1 added, 0 changed, 2 removed' in text and b'\x1b' not in text)
    w.close()


def origins(c):
    w = World(c, 'committed')
    single = w.json('checkpoint-of', 'a3b2c4d5e6f7')
    c.same('checkpoint-of: a checkpoint', (len(single), single[0]['checkpointId'], [s['sessionId'] for s in single[0]['sessions']]),
           (1, 'a3b2c4d5e6f7', [CA]))
    commit = single[0]['commits'][0]
    c.same('checkpoint-of: its commit names it', w.git('log', '-1', '--format=%(trailers:key=Entire-Checkpoint,valueonly)', commit['id']).strip(),
           'a3b2c4d5e6f7')
    c.same('checkpoint-of: and back', w.json('checkpoint-of', commit['id'][:9]), single)
    c.same('checkpoint-of: the beginning of an id', w.json('checkpoint-of', 'a3b2c4'), single)
    c.same('checkpoint-of: both sessions of a checkpoint', len(w.json('checkpoint-of', '5f0c11d2ab34')[0]['sessions']), 2)
    c.same('checkpoint-of: the record is the metadata', single[0]['sessions'][0]['record'],
           json.loads(w.git('show', 'entire/checkpoints/v1:a3/b2c4d5e6f7/0/metadata.json')))
    w.git('commit', '-q', '--allow-empty', '-m', 'Squash\n\nEntire-Checkpoint: a3b2c4d5e6f7\nEntire-Checkpoint: 5f0c11d2ab34\nEntire-Checkpoint: a3b2c4d5e6f7')
    c.same('checkpoint-of: every trailer of a squash, once', [x['checkpointId'] for x in w.json('checkpoint-of', 'HEAD')], ['a3b2c4d5e6f7', '5f0c11d2ab34'])
    c.same('checkpoint-of: both commits, newest first', [x['id'] for x in w.json('checkpoint-of', 'a3b2c4d5e6f7')[0]['commits']],
           [w.git('rev-parse', 'HEAD'), commit['id']])
    w.git('commit', '-q', '--allow-empty', '-m', 'Lost\n\nEntire-Checkpoint: deadbeef0009')
    lost = w.json('checkpoint-of', 'HEAD')
    c.same('checkpoint-of: a checkpoint that is not here', (lost[0]['checkpointId'], lost[0]['sessions'], len(lost[0]['commits'])), ('deadbeef0009', [], 1))
    w.git('commit', '-q', '--allow-empty', '-m', 'Plain')
    for name, code in ('HEAD', 3), ('nothing', 3), ('--', 2), ('0' * 300, 3):
        run = w.run('checkpoint-of', name)
        c.same(f'checkpoint-of: {name[:10]}', (run.returncode, run.stderr.count(b'\n') if code == 3 else 1), (code, 1))
    w.close()

    w = World(c, 'two-sessions')
    tip = w.git('rev-parse', 'entire/6d28ff0-e3b0c4')
    shadow = w.json('checkpoint-of', tip)
    c.same('checkpoint-of: a temporary checkpoint', (shadow[0]['checkpointId'], [s['sessionId'] for s in shadow[0]['sessions']]), (tip, [A]))
    w.close()


def tasks(c):
    """Checkpoints of sub-agents' tasks: the fixture's are read, and ours have the same form."""
    w = World(c, 'two-sessions')
    c.same('tasks: the sub-agent of the fixture', w.json('subagents', 'entire:' + A), ['ag01'])
    said = w.json('messages', 'entire:' + A, '--agent', 'ag01')
    c.need('tasks: its messages', said and said[0]['message']['content'])
    text = w.run('messages', 'entire:' + A, '--agent', 'ag01', ok=True).stdout
    c.need('tasks: its messages as text', said[0]['message']['content'].encode()[:20] in text if isinstance(said[0]['message']['content'], str) else text)
    c.same('tasks: no such sub-agent', w.run('messages', 'entire:' + A, '--agent', 'nobody').returncode, 3)
    live = w.state(A)['transcript_path']
    tool = 'toolu_01OursTask42'
    put(live, get(live) + (json.dumps({'type': 'user', 'sessionId': A, 'uuid': 'u-result', 'parentUuid': None, 'message': {
        'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': tool, 'content': 'ok'}]}}) + '\n').encode())
    rows = b'{"type":"user","uuid":"g1","isSidechain":true,"agentId":"ag77","sessionId":"%s","message":{"role":"user","content":"look <here>"}}\n' % A.encode()
    rows += b'{"type":"assistant","uuid":"g2","parentUuid":"g1","isSidechain":true,"agentId":"ag77","sessionId":"%s","message":{"role":"assistant","content":[{"type":"text","text":"nothing \xc3\xa4"}]}}\n' % A.encode()
    put(live[:-len('.jsonl')] + '/subagents/agent-ag77.jsonl', rows)
    put(w.repo + '/src/task.c', 'int t;\n')
    count = w.state(A)['checkpoint_count']
    before = w.facts()
    made = w.json('checkpoint', 'entire:' + A, '--task', tool, '--agent', 'ag77', '--id', 'Look at everything there is and tell me what you have found in it', 'src/task.c')
    tip = 'entire/6d28ff0-e3b0c4'
    at = f'{tip}:.entire/metadata/{A}/tasks/{tool}/'
    c.same('task: the tip is the checkpoint', made['checkpointId'], w.git('rev-parse', tip))
    c.same('task: message', w.git('log', '-1', '--format=%B', tip).rstrip('\n'),
           f'Completed agent: Look at everything there is and tell me what you have fou... (toolu_01Ours)\n\n'
           f'Entire-Metadata-Task: .entire/metadata/{A}/tasks/{tool}\nEntire-Session: {A}\nEntire-Strategy: manual-commit')
    c.same('task: checkpoint.json, without a final newline as Entire writes it', w.git('cat-file', '-p', at + 'checkpoint.json'),
           f'{{\n  "session_id": "{A}",\n  "tool_use_id": "{tool}",\n  "checkpoint_uuid": "u-result",\n  "agent_id": "ag77"\n}}')
    c.same('task: the transcript of the sub-agent', w.git('cat-file', '-p', at + 'agent-ag77.jsonl').encode(), rows.rstrip(b'\n'))
    c.same('task: only the named file', w.git('diff', '--name-only', tip + '^', tip, '--', ':!.entire').split(), ['src/task.c'])
    c.same('task: it does not count as a checkpoint of a turn', w.state(A)['checkpoint_count'], count)
    c.need('task: but its file is touched', 'src/task.c' in w.state(A)['files_touched'])
    c.same('task: HEAD and index stay', w.facts()[:4], before[:4])
    point = [p for p in w.points(A) if p['id'] == made['checkpointId']]
    c.same('task: listed as one', [(p['kind'], p['record']['is_task_checkpoint'], p['record']['tool_use_id']) for p in point], [('task', True, tool)])
    c.same('task: on this machine and in git it is one sub-agent', w.json('subagents', 'entire:' + A), ['ag77', 'ag01'])
    os.remove(live[:-len('.jsonl')] + '/subagents/agent-ag77.jsonl')
    os.remove(live)
    c.same('task: from git alone', (sorted(w.json('subagents', 'entire:' + A)), [m['uuid'] for m in w.json('messages', 'entire:' + A, '--agent', 'ag77')]),
           (['ag01', 'ag77'], ['g1', 'g2']))
    c.need('task: as text', 'nothing ä' in w.run('messages', 'entire:' + A, '--agent', 'ag77', ok=True).stdout.decode())
    c.need('task: in words', b'ag77  done' in w.run('subagents', 'entire:' + A, ok=True).stdout)
    for bad, code in (('../x', 2), ('a b', 2), ('x' * 300, 2), ('', 2)):
        c.same('task: not the id of a tool: ' + bad[:9], w.run('checkpoint', 'entire:' + A, '--task', bad, 'src/task.c').returncode, code)
    c.same('task: --agent needs --task', w.run('checkpoint', 'entire:' + A, '--agent', 'a', '--id', 'x', 'src/task.c').returncode, 2)
    w.close()

    w = World(c, 'committed')
    c.same('task: a committed one', w.json('subagents', 'entire:' + next(
        s['sessionId'] for s in w.json('checkpoint-of', '0fedcba98765')[0]['sessions'])), ['ag02'])
    w.close()

    w = World(c, 'two-sessions')
    settings = w.repo + '/.entire/settings.json'
    put(settings, get(settings).replace(b'manual-commit', b'auto-commit'))
    live = w.state(B)['transcript_path']
    put(live[:-len('.jsonl')] + '/subagents/agent-ag88.jsonl', rows.replace(A.encode(), B.encode()))
    put(w.repo + '/src/task.c', 'int t;\n')
    made = w.json('checkpoint', 'entire:' + B, '--task', tool, '--agent', 'ag88', '--id', 'Look', 'src/task.c')['checkpointId']
    at = f'entire/checkpoints/v1:{made[:2]}/{made[2:]}/'
    c.same('task, auto-commit: at the root of the checkpoint', json.loads(w.git('show', f'{at}tasks/{tool}/checkpoint.json')),
           {'session_id': B, 'tool_use_id': tool, 'checkpoint_uuid': '', 'agent_id': 'ag88'})
    c.same('task, auto-commit: the metadata says so', [json.loads(w.git('show', at + '0/metadata.json'))[k] for k in ('is_task', 'tool_use_id')], [True, tool])
    c.same('task, auto-commit: message', w.git('log', '-1', '--format=%B', 'entire/checkpoints/v1').split('\n')[:3],
           ['Checkpoint: ' + made, '', 'Completed agent: Look (toolu_01Ours)'])
    c.same('task, auto-commit: git fsck', w.sound(), (True, b''))
    w.close()
