"""Seed 003: Entire's sessions and checkpoints in git."""
import json
import os
import re
import stat
import subprocess

from seeds.seed_library import Store
from support.seed_rows import Missing, seed

row, not_sensible = seed('003')
A, B = 'a1b2c3d4-0001-4000-8000-00000000000a', 'b1b2c3d4-0002-4000-8000-00000000000b'
SHADOW = 'entire/6d28ff0-e3b0c4'


def git(place, *args):
    run = subprocess.run(['git', '-c', 'user.name=n', '-c', 'user.email=e@x', *args], cwd=place.dir, env=place.env, capture_output=True,
                         text=True, check=False)
    if run.returncode:
        raise Missing(f'git {args}: {run.stderr.strip()}')
    return run.stdout.rstrip('\n')


def state(place, sid):
    return json.loads(place.read(f'.git/entire-sessions/{sid}.json'))


def two(place):
    place.use('two-sessions')


def committed(place, checkpoint='0123456789ab', sid=A):
    """The user commits the work of a session."""
    git(place, 'add', 'src')
    git(place, 'commit', '-qm', f'Login\n\nEntire-Checkpoint: {checkpoint}')
    place.text('set', 'entire:' + sid, 'event=commit')
    return f'entire/checkpoints/v1:{checkpoint[:2]}/{checkpoint[2:]}/'


@row(1, 'ListSessions')
def listing(place):
    two(place)
    place.holds('both', {r['sessionId'] for r in place.json('list') if r['system'] == 'entire'} == {A, B})


@row(2, 'GetSession by prefix')
def prefix(place):
    two(place)
    place.holds('four characters', place.json('info', 'entire:a1b2')['sessionId'] == A)


@row(3, 'Session: description, strategy, start')
def described(place):
    two(place)
    info = place.json('info', 'entire:' + A)
    place.holds('all three', info['firstPrompt'] and info['strategy'] == 'manual-commit' and info['createdAt'])


@row(4, 'Checkpoint: id, message, time, task, tool use id')
def point(place):
    two(place)
    task = [p for p in place.json('checkpoints', 'entire:' + A) if p['kind'] == 'task'][0]
    place.holds('of a task', re.fullmatch('[0-9a-f]{40}', task['id']) and task['timestamp'] and task['record']['message']
                and task['record']['is_task_checkpoint'] and task['record']['tool_use_id'].startswith('toolu_'))


@row(5, 'WriteTemporary')
def write_temporary(place):
    two(place)
    place.write('src/x.c', 'int x;\n')
    made = place.json('checkpoint', 'entire:' + A, '--id', 'Add x', 'src/x.c')
    place.holds('a commit of the shadow branch', git(place, 'rev-parse', SHADOW) == made['checkpointId'])
    place.holds('trailers', f'Entire-Session: {A}' in git(place, 'log', '-1', '--format=%B', SHADOW))


@row(6, 'ReadTemporary, ListTemporary')
def read_temporary(place):
    two(place)
    place.holds('seven in all', sum(len(place.json('checkpoints', 'entire:' + s)) for s in (A, B)) == 7)


@row(7, 'WriteCommitted, CondenseSession')
def condense(place):
    two(place)
    at = committed(place)
    place.text('set', 'entire:' + B, 'event=commit')
    place.holds('folders 0 and 1', [json.loads(git(place, 'show', f'{at}{n}/metadata.json'))['session_id'] for n in (0, 1)] == [A, B])


@row(8, 'ReadCommitted, ListCommitted')
def read_committed(place):
    place.use('committed')
    place.holds('all six', len({p['id'] for r in place.json('list', '--all') if r['system'] == 'entire'
                                for p in place.json('checkpoints', 'entire:' + r['sessionId'])}) == 6)


@row(9, 'ReadSessionContent by index')
def content(place):
    place.use('committed')
    parts = place.json('checkpoint-of', '5f0c11d2ab34')[0]['sessions']
    place.holds('in the order of the folders', len(parts) == 2)
    place.holds('restored at the checkpoint', all(
        place.json('restore', 'entire:' + p['sessionId'], '--at', '5f0c11d2ab34')['messages'] for p in parts))


@row(10, 'ReadSessionContentByID')
def content_by_id(place):
    place.use('committed')
    sid = place.json('checkpoint-of', 'a3b2c4d5e6f7')[0]['sessions'][0]['sessionId']
    for path in place.files():
        if sid in path:
            os.remove(path)
    place.text('retrieve', 'entire:' + sid, '--at', 'a3b2c4d5e6f7')
    place.holds('its transcript is put where the agent looks', any(f.endswith(f'{sid}.jsonl') for f in place.files()))


@row(11, 'token usage')
def tokens(place):
    two(place)
    place.text('set', 'entire:' + A, 'input-tokens=5', 'api-calls=2')
    place.holds('set and shown', place.json('info', 'entire:' + A)['tokenUsage'] == state(place, A)['token_usage']
                and state(place, A)['token_usage']['input_tokens'] == 5)
    live = state(place, A)['transcript_path']
    usage = {'input_tokens': 1, 'cache_creation_input_tokens': 2, 'cache_read_input_tokens': 3, 'output_tokens': 4}
    place.write(live, place.read(live) + (json.dumps({'type': 'assistant', 'sessionId': A, 'uuid': 'u9', 'parentUuid': None,
                                                      'message': {'id': 'm1', 'usage': usage}}) + '\n').encode())
    at = committed(place)
    place.holds('counted in the transcript at a commit', json.loads(git(place, 'show', at + '0/metadata.json'))['token_usage']['output_tokens'] == 4)


@row(12, 'attribution, AI summary')
def attribution(place):
    two(place)
    at = committed(place)
    document = json.loads(git(place, 'show', at + '0/metadata.json'))
    document['initial_attribution'] = {'agent_lines': 3, 'total_committed': 4, 'agent_percentage': 75.0}
    document['summary'] = {'intent': 'to log in', 'outcome': 'done'}
    place.write(f'{place.top}/m.json', json.dumps(document))
    index = {**place.env, 'GIT_INDEX_FILE': f'{place.top}/index'}
    script = ('set -e; git read-tree entire/checkpoints/v1; b=$(git hash-object -w "$0"); '
              'git update-index --add --cacheinfo 100644,$b,01/23456789ab/0/metadata.json; '
              'git update-ref refs/heads/entire/checkpoints/v1 $(git -c user.name=n -c user.email=e@x commit-tree -p entire/checkpoints/v1 -m x $(git write-tree))')
    subprocess.run(['sh', '-c', script, f'{place.top}/m.json'], cwd=place.dir, env=index, check=True)
    info = place.json('info', 'entire:' + A)
    place.holds('as recorded', info['attribution'] == document['initial_attribution'] and info['aiSummary'] == document['summary'])
    place.holds('in words', '75 % by the agent' in place.text('info', 'entire:' + A) and 'to log in' in place.text('info', 'entire:' + A))


@row(13, 'state file')
def state_file(place):
    two(place)
    place.text('create', 'entire', '--id', 'mine')
    path = place.path('.git/entire-sessions/mine.json')
    place.holds('0600', stat.S_IMODE(os.stat(path).st_mode) == 0o600)
    place.holds('the bytes of Go', place.read(path).startswith(b'{\n  "session_id": "mine",\n  "cli_version"'))


@row(14, 'phases and events')
def phases(place):
    two(place)
    seen = []
    for event in 'turn-start', 'turn-end', 'session-stop', 'session-start':
        place.text('set', 'entire:' + A, 'event=' + event)
        seen.append(place.json('info', 'entire:' + A)['phase'])
    place.holds('the table', seen == ['active', 'idle', 'ended', 'idle'])
    place.holds('in the list', {r['sessionId']: r.get('phase') for r in place.json('list')}[A] == 'idle')
    place.holds('the events are in the help', 'turn-start' in place.text('set', '--help'))


@row(15, 'state shared by worktrees')
def worktrees(place):
    place.use('edge')
    linked = f'{place.top}/wt/test-wt'
    place.holds('listed from a linked one', len(place.json('list', '--all', cwd=linked)) == len(place.json('list', '--all')))


@row(16, 'name of the shadow branch')
def shadow_name(place):
    two(place)
    git(place, 'update-ref', '-d', f'refs/heads/{SHADOW}')
    place.write('src/x.c', 'int x;\n')
    place.text('checkpoint', 'entire:' + A, '--id', 'Add x', 'src/x.c')
    place.holds('commit and worktree', git(place, 'rev-parse', '--verify', SHADOW))


@row(17, 'sessions interleave on one branch')
def interleave(place):
    two(place)
    place.write('src/x.c', 'int x;\n')
    for sid in A, B:
        place.write('src/x.c', f'int {sid[0]};\n')
        place.text('checkpoint', 'entire:' + sid, '--id', 'x', 'src/x.c')
    place.holds('one after the other', [git(place, 'log', '-1', '--format=%(trailers:key=Entire-Session,valueonly)', c).strip()
                                        for c in (SHADOW, SHADOW + '^')] == [B, A])


@row(18, 'warning for concurrent sessions')
def concurrent(place):
    two(place)
    place.holds('when it starts', re.search('shares? this work tree', place.run('create', 'entire').stderr))
    store = Store(place, 'entire', path=place.dir)
    warning = store.lib.c.reprise_session_warning
    place.holds('when a host starts it', re.search('shares? this work tree', (warning(store.create()) or b'').decode()))
    place.holds('no session that is opened warns', warning(store.open(A)) is None)
    place.write('src/x.c', 'int x;\n')
    place.holds('with the checkpoint', 'at work' in place.run('checkpoint', 'entire:' + A, '--id', 'x', 'src/x.c').stderr)


@row(19, 'shadow branch migration')
def migration(place):
    place.use('migration')
    sid = place.json('list')[0]['sessionId']
    old = git(place, 'for-each-ref', '--format=%(refname)', 'refs/heads/entire/8ed0cea*')
    place.write('src/x.c', 'int x;\n')
    place.text('checkpoint', 'entire:' + sid, '--id', 'x', 'src/x.c')
    place.holds('renamed for HEAD', old and not git(place, 'for-each-ref', old)
                and state(place, sid)['base_commit'] == git(place, 'rev-parse', 'HEAD'))


@row(20, 'deleted after condensation')
def condensed(place):
    two(place)
    committed(place)
    place.text('set', 'entire:' + B, 'event=commit')
    place.holds('gone, and its tip kept', not git(place, 'for-each-ref', f'refs/heads/{SHADOW}')
                and git(place, 'for-each-ref', 'refs/reprise/condensed'))


@row(21, 'orphaned shadow branch')
def orphan(place):
    two(place)
    for sid in A, B:
        os.remove(place.path(f'.git/entire-sessions/{sid}.json'))
    place.text('create', 'entire', '--id', 'next')
    place.write('src/x.c', 'int x;\n')
    place.holds('a new session proceeds', place.json('checkpoint', 'entire:next', '--id', 'x', 'src/x.c')['checkpointId'])


@row(22, 'sharded tree of v1')
def shards(place):
    two(place)
    committed(place)
    place.holds('<2>/<10>/', git(place, 'ls-tree', '--name-only', 'entire/checkpoints/v1', '01/') == '01/23456789ab')


@row(23, 'CheckpointSummary, sessions[]')
def sessions(place):
    place.use('committed')
    place.holds('with a gap in the numbers', len(place.json('checkpoint-of', '9c0d1e2f3a4b')[0]['sessions']) == 2)


@row(24, 'stable index of a session')
def index(place):
    two(place)
    at = committed(place)
    place.text('set', 'entire:' + B, 'event=commit')
    place.text('set', 'entire:' + A, 'event=commit')
    place.holds('used again', json.loads(git(place, 'show', at + '0/metadata.json'))['session_id'] == A
                and len(json.loads(git(place, 'show', at + 'metadata.json'))['sessions']) == 2)


@row(25, 'files_touched is a union')
def touched(place):
    two(place)
    at = committed(place)
    place.text('set', 'entire:' + B, 'event=commit')
    root, one, other = (set(json.loads(git(place, 'show', at + n + 'metadata.json'))['files_touched']) for n in ('', '0/', '1/'))
    place.holds('of both', root == one | other and one != other)


@row(26, 'content_hash.txt')
def content_hash(place):
    two(place)
    at = committed(place)
    place.holds('71 bytes', re.fullmatch('sha256:[0-9a-f]{64}', git(place, 'show', at + '0/content_hash.txt')))


not_sensible(27, 'context.md', 'Entire itself stopped writing it in 0.5.0')


@row(28, 'commit to metadata')
def to_metadata(place):
    two(place)
    committed(place)
    one = place.json('checkpoint-of', 'HEAD')[0]
    place.holds('checkpoint, session and prompt', (one['checkpointId'], one['sessions'][0]['sessionId']) == ('0123456789ab', A)
                and one['sessions'][0]['prompt'])


@row(29, 'metadata to commits')
def to_commits(place):
    two(place)
    committed(place)
    place.holds('checkpoint-of with a checkpoint', [c['id'] for c in place.json('checkpoint-of', '0123456789ab')[0]['commits']]
                == [git(place, 'rev-parse', 'HEAD')])


@row(30, 'subject of a commit on v1')
def subject(place):
    two(place)
    committed(place)
    place.holds('Checkpoint: <id>', git(place, 'log', '-1', '--format=%s', 'entire/checkpoints/v1') == 'Checkpoint: 0123456789ab')


not_sensible(31, 'prepare-commit-msg hook', 'a hook runs Entire itself; a host reports the commit with set event=commit')


@row(32, 'manual-commit strategy')
def manual(place):
    two(place)
    head = git(place, 'rev-parse', 'HEAD')
    place.write('src/x.c', 'int x;\n')
    place.text('checkpoint', 'entire:' + A, '--id', 'x', 'src/x.c')
    place.holds('no commit of the user', git(place, 'rev-parse', 'HEAD') == head)


@row(33, 'auto-commit strategy')
def auto(place):
    two(place)
    place.write('.entire/settings.json', place.read('.entire/settings.json').replace(b'manual-commit', b'auto-commit'))
    place.write('src/x.c', 'int x;\n')
    made = place.json('checkpoint', 'entire:' + A, '--id', 'Add x', 'src/x.c')['checkpointId']
    place.holds('a commit with the trailer', f'Entire-Checkpoint: {made}' in git(place, 'log', '-1', '--format=%B'))


@row(34, 'rewind points with the prompt of the session')
def prompts(place):
    two(place)
    place.holds('in the record', all(p['record'].get('session_prompt') for p in place.json('checkpoints', 'entire:' + B)))


@row(35, 'rewind restores')
def rewind(place):
    two(place)
    first = place.json('checkpoints', 'entire:' + A)[0]['id']
    place.text('rewind', 'entire:' + A, '--to', first, '--apply', '--skip-refused', '--overwrite-edited')
    place.holds('the file of the checkpoint', place.read('src/app.c').decode().rstrip('\n') == git(place, 'show', first + ':src/app.c'))


@row(36, 'safety ref')
def safety(place):
    two(place)
    first = place.json('checkpoints', 'entire:' + A)[0]['id']
    place.text('rewind', 'entire:' + A, '--to', first, '--apply', '--skip-refused', '--overwrite-edited')
    place.holds('the work tree before it', git(place, 'for-each-ref', 'refs/reprise/before'))
    place.text('undo')
    place.holds('gone when it was undone', not git(place, 'for-each-ref', 'refs/reprise/before'))
    old = dict(place.env)
    place.env['GIT_COMMITTER_DATE'] = '1770700000 +0000'
    git(place, 'update-ref', 'refs/reprise/before/old', git(place, 'commit-tree', 'HEAD^{tree}', '-m', 'before'))
    place.env = old
    place.text('sweep', '--orphans', '--apply')
    place.holds('an old one is swept', not git(place, 'for-each-ref', 'refs/reprise/before'))
    place.text('undo')
    place.holds('and restored', git(place, 'for-each-ref', 'refs/reprise/before'))


@row(37, 'logs only')
def logs_only(place):
    place.use('committed')
    sid = place.json('checkpoint-of', 'a3b2c4d5e6f7')[0]['sessions'][0]['sessionId']
    place.holds('the record says so', place.json('checkpoints', 'entire:' + sid)[0]['record']['is_logs_only'])


@row(38, 'checkpoints of tasks read')
def tasks(place):
    two(place)
    place.holds('two', sum(p['kind'] == 'task' for p in place.json('checkpoints', 'entire:' + A)) == 2)


@row(39, 'checkpoints of tasks written')
def write_task(place):
    two(place)
    place.write('src/x.c', 'int x;\n')
    place.text('checkpoint', 'entire:' + A, '--task', 'toolu_9', '--agent', 'ag9', '--id', 'Look', 'src/x.c')
    place.holds('checkpoint.json', json.loads(git(place, 'show', f'{SHADOW}:.entire/metadata/{A}/tasks/toolu_9/checkpoint.json'))['agent_id'] == 'ag9')
    place.holds('trailer', 'Entire-Metadata-Task: ' in git(place, 'log', '-1', '--format=%B', SHADOW))


@row(40, 'transcripts of sub-agents of tasks')
def task_agents(place):
    two(place)
    place.holds('listed', place.json('subagents', 'entire:' + A) == ['ag01'])
    place.holds('read', place.json('messages', 'entire:' + A, '--agent', 'ag01'))


@row(41, 'SessionIDConflictError')
def conflict(place):
    two(place)
    place.holds('refused', place.run('create', 'entire', '--id', A).returncode == 4)


@row(42, 'enable')
def enable(place):
    git(place, 'init', '-q')
    place.text('create', 'entire', '--id', 'first')
    place.holds('the first session of a repository', [r['sessionId'] for r in place.json('list')] == ['first'])
    place.holds('settings and branch', json.loads(place.read('.entire/settings.json')) == {'strategy': 'manual-commit', 'enabled': True}
                and git(place, 'rev-parse', '--verify', 'entire/checkpoints/v1'))


@row(43, 'status')
def status(place):
    two(place)
    rows = {r['sessionId']: r for r in place.json('list') if r['system'] == 'entire'}
    place.holds('phase, directory and branch of each', all(r['phase'] and r['cwd'] == place.dir for r in rows.values())
                and rows[B]['phase'] == 'active')


@row(44, 'resume of a branch')
def resume(place):
    place.use('committed')
    named = [r for r in place.json('list', '--all') if r.get('gitBranch')]
    place.holds('list --branch', named and place.json('list', '--all', '--branch', named[0]['gitBranch']))


@row(45, 'explain')
def explain(place):
    two(place)
    committed(place)
    one = place.json('checkpoint-of', 'HEAD')[0]['sessions'][0]
    place.holds('from a commit, with its metadata', one['record']['checkpoint_id'] == '0123456789ab')
    place.holds('files and strategy', one['record']['files_touched'] and one['record']['strategy'] == 'manual-commit')


@row(46, 'clean, reset, doctor')
def clean(place):
    two(place)
    place.text('delete', 'entire:' + A, '--force')
    place.text('delete', 'entire:' + B, '--force')
    place.holds('state and branch are gone', not git(place, 'for-each-ref', f'refs/heads/{SHADOW}') and not os.listdir(place.path('.git/entire-sessions')))
    place.text('undo')
    place.holds('undo', git(place, 'for-each-ref', f'refs/heads/{SHADOW}'))


@row(47, 'chunked transcripts')
def chunks(place):
    place.use('committed')
    sid = place.json('checkpoint-of', '77aa88bb99cc')[0]['sessions'][0]['sessionId']
    place.holds('joined', len(place.json('restore', 'entire:' + sid, '--at', '77aa88bb99cc')['messages']) > 2)


@row(48, 'one ref for each checkpoint')
def refs(place):
    place.use('refs-ulid')
    place.holds('exactly two checkpoints', sum(len(place.json('checkpoints', 'entire:' + r['sessionId'])) for r in place.json('list', '--all')
                                               if r['system'] == 'entire') == 2)


@row(49, 'ids of the old form, date-uuid')
def old_ids(place):
    two(place)
    sid = '2026-01-06-3a782158-6c7c-4d4d-9c73-eae031da5b18'
    place.text('create', 'entire', '--id', sid)
    place.holds('the agent gets its uuid', place.text('--resume', 'entire:' + sid, '--print').rstrip().endswith('--resume ' + sid[11:]))
