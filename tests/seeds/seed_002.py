"""Seed 002: the sessions of Claude Code."""
import json
import os
import re
import stat
import subprocess
import uuid

from installed import ffi
from seeds.seed_library import Store, background, plugin_store
from support.agent_sessions import write
from support.seed_rows import answer, attachment, call, prompt, result, seed

row, not_sensible = seed('002')


def texts(messages):
    """What the messages of a restore or of `messages` say, as plain texts."""
    out = []
    for m in messages:
        content = m.get('message', {}).get('content', '')
        out += [content] if isinstance(content, str) else [b.get('text', b['type']) for b in content]
    return out


def meta(kind, **members):
    return {'type': kind, **members}


@row(1, 'sessions in CONFIG/projects/<sanitised cwd>/<uuid>.jsonl, 0600/0700')
def where(place):
    made = place.json('create', 'claude')
    place.append(made['sessionId'], prompt('hello'))
    path = place.claude_path(made['sessionId'])
    place.holds('the path is that of the seed', made['path'] == path)
    place.holds('file 0600', stat.S_IMODE(os.stat(path).st_mode) == 0o600)
    place.holds('folder 0700', stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700)


@row(2, 'CLAUDE_CONFIG_DIR')
def config_dir(place):
    place.config = f'{place.top}/elsewhere'
    place.claude(prompt('hello'))
    place.holds('sessions of another configuration', len(place.json('list', env={'CLAUDE_CONFIG_DIR': place.config})) == 1)
    place.holds('none without it', place.json('list') == [])


@row(3, 'realpath of the start directory')
def symlinked(place):
    session = place.claude(prompt('hello'))
    os.symlink(place.dir, f'{place.top}/link')
    place.holds('a linked directory has its sessions',
                place.json('list', cwd=f'{place.top}/link')[0]['sessionId'] == session)


@row(4, 'lite read: head and tail of 64 KiB')
def lite(place):
    far = [prompt('x' * 70_000), meta('custom-title', customTitle='too deep'), prompt('y' * 70_000)]
    place.claude(prompt('first'), *far)
    listed = place.json('list')[0]
    place.holds('a title between the windows is not read by the list', listed['summary'] == 'first')


@row(5, 'full load of the chosen session')
def full(place):
    session = place.claude(*[prompt(f'{i} ' + 'x' * 30_000) for i in range(10)])
    place.holds('messages has all ten', len(place.json('messages', session)) == 10)


@row(6, 'chain walk from the newest leaf by parentUuid')
def chain(place):
    first, dead = str(uuid.uuid4()), str(uuid.uuid4())
    session = place.claude(prompt('a', uuid=first), prompt('dead', uuid=dead), answer('b', parentUuid=first))
    place.holds('the abandoned branch is left out', texts(place.json('messages', session)) == ['a', 'b'])


@row(7, 'cycle detection')
def cycle(place):
    one, two = str(uuid.uuid4()), str(uuid.uuid4())
    session = place.claude(prompt('a', uuid=one, parentUuid=two), answer('b', uuid=two))
    place.holds('both rows are restored', texts(place.json('restore', session)['messages'])[:2] == ['a', 'b'])


@row(8, 'results of parallel tool calls recovered')
def parallel(place):
    one, two = ({'id': 'msg_1', 'role': 'assistant', 'content': [call('Read', t, file_path=t)]} for t in ('t1', 't2'))
    ids = [str(uuid.uuid4()) for _ in range(4)]
    session = place.claude(
        prompt('read both', uuid=ids[0]), {'type': 'assistant', 'message': one, 'uuid': ids[1]},
        {'type': 'assistant', 'message': two, 'uuid': ids[2]}, result('t1', 'one', parentUuid=ids[1]),
        result('t2', 'two', parentUuid=ids[2]), answer('done'))
    said = json.dumps(place.json('messages', session))
    place.holds('both calls and both results', all(f'"{t}"' in said for t in ('t1', 't2', 'one', 'two')))


@row(9, 'compact_boundary; preserved segment relinked')
def compact(place):
    kept, bound = [str(uuid.uuid4()) for _ in range(2)], str(uuid.uuid4())
    segment = {'headUuid': kept[0], 'anchorUuid': bound, 'tailUuid': kept[1]}
    session = place.claude(
        prompt('old'), prompt('kept', uuid=kept[0]), answer('kept too', uuid=kept[1]),
        {'type': 'system', 'subtype': 'compact_boundary', 'uuid': bound, 'parentUuid': None, 'content': 'Compacted',
         'compactMetadata': {'preservedSegment': segment}}, prompt('after'))
    place.holds('boundary, kept pair and what follows',
                texts(place.json('messages', session)) == ['kept', 'kept too', 'after'])


@row(10, 'progress rows bridged on load')
def progress(place):
    session = place.claude(prompt('a'), {'type': 'progress', 'data': {}}, answer('b'))
    place.holds('the chain goes on across them', texts(place.json('messages', session)) == ['a', 'b'])


@row(11, 'progress rows never persisted')
def progress_written(place):
    session = place.json('create', 'claude')['sessionId']
    place.append(session, prompt('a'), {'type': 'progress', 'data': {'type': 'bash_progress'}}, answer('b'))
    place.holds('not in the file', not any(r['type'] == 'progress' for r in place.claude_rows(session)))
    place.holds('the row after it follows the one before', texts(place.json('messages', session)) == ['a', 'b'])


@row(12, 'user, assistant, attachment and system rows')
def kinds(place):
    session = place.claude(prompt('a'), attachment(type='todo_reminder', content=[]),
                           {'type': 'system', 'subtype': 'informational', 'content': 'note'}, answer('b'))
    got = [m['type'] for m in place.json('restore', session)['messages']]
    place.holds('restore has each', {'user', 'assistant', 'attachment', 'system'} <= set(got))


@row(13, 'legacy attachments migrated')
def legacy(place):
    session = place.claude(prompt('a'), attachment(type='new_file', filename=f'{place.dir}/a.txt', content='x'), answer('b'))
    got = next(m['attachment'] for m in place.json('restore', session)['messages'] if m['type'] == 'attachment')
    place.holds('new_file becomes file with displayPath', got['type'] == 'file' and got['displayPath'] == 'a.txt')


@row(14, 'invalid permissionMode stripped')
def modes(place):
    session = place.claude(prompt('a', permissionMode='bogus'), prompt('b', permissionMode='plan'), answer('c'))
    got = place.json('restore', session)['messages']
    place.holds('bogus is gone, plan stays', [m.get('permissionMode') for m in got[:2]] == [None, 'plan'])


@row(15, 'unresolved tool_use, whitespace-only and orphan thinking rows filtered')
def filtered(place):
    session = place.claude(prompt('a'), answer('  \n', message={'id': 'm1', 'role': 'assistant', 'content': [{'type': 'text', 'text': ' \n'}]}),
                           {'type': 'assistant', 'message': {'id': 'm2', 'role': 'assistant', 'content': [{'type': 'thinking', 'thinking': 'hm', 'signature': 's'}]}},
                           answer(call('Read', 't8', file_path='x')), prompt('b'), answer('c'), answer(call('Read', 't9', file_path='x')))
    said = json.dumps(place.json('messages', session))
    place.holds('blank answer and lone thinking gone', '\\n' not in said and 'thinking' not in said)
    place.holds('call without a result gone', 't8' not in said)
    place.holds('one at the very end gets a result, as in 2.1.330', 'Tool call interrupted' in json.dumps(place.json('restore', session)))


@row(16, 'interrupted turn: "Continue from where you left off."')
def interrupted_turn(place):
    session = place.claude(prompt('a'), answer(call('Read', 't1', file_path='x')), result('t1', 'text'))
    got = place.json('restore', session)
    place.holds('the message is added', 'Continue from where you left off.' in texts(got['messages']))
    place.holds('the kind is reported', got['interruption']['kind'] in ('interrupted_turn', 'interrupted_prompt'))


@row(17, 'interrupted prompt returned for a retry')
def interrupted_prompt(place):
    session = place.claude(prompt('a'), answer('b'), prompt('do it'))
    got = place.json('restore', session)['interruption']
    place.holds('kind and prompt', got['kind'] == 'interrupted_prompt' and got['prompt']['message']['content'] == 'do it')


@row(18, 'NO_RESPONSE_REQUESTED after the last user row')
def sentinel(place):
    session = place.claude(prompt('a'), answer('b'), prompt('do it'))
    got = place.json('restore', session)['messages']
    place.holds('an assistant row after an unanswered prompt',
                got[-1]['type'] == 'assistant' and texts(got)[-1] == 'No response requested.')
    session = place.claude(prompt('a'), answer(call('Read', 't1', file_path='x')), result('t1', 'text'))
    place.holds('and after a last result, before the continuation, as the client sends them',
                texts(place.json('restore', session)['messages'])[-2:] ==
                ['No response requested.', 'Continue from where you left off.'])
    session = place.claude(prompt('a'), answer('b'))
    place.holds('not after an answer', 'No response requested.' not in texts(place.json('restore', session)['messages']))


@row(19, 'to-dos from the transcript')
def todos(place):
    todo = {'content': 'ship', 'status': 'pending', 'activeForm': 'Shipping'}
    session = place.claude(prompt('a'), answer(call('TodoWrite', 't1', todos=[todo])), result('t1', 'ok'), answer('b'))
    place.holds('the last list', place.json('restore', session)['todos'] == [todo])


@row(20, 'invoked skills restored')
def skills(place):
    good = {'name': 'pdf', 'path': '/s/pdf', 'content': 'text'}
    session = place.claude(prompt('a'), attachment(type='invoked_skills', skills=[good, {'path': '/s/x', 'content': 'y'}]), answer('b'))
    place.holds('the one with name, path and content', place.json('restore', session)['invokedSkills'] == [good])


@row(21, 'skill_listing suppresses the next listing')
def listing(place):
    with_it = place.claude(prompt('a'), attachment(type='skill_listing', content='- pdf'), answer('b'))
    place.holds('flag in the bundle', place.json('restore', with_it).get('suppressSkillListing') is True)
    without = place.claude(prompt('a'), answer('b'))
    place.holds('not without one', not place.json('restore', without).get('suppressSkillListing'))


@row(22, 'content replacements in the bundle, and in forks under the new id')
def replacements(place):
    kept = {'kind': 'tool-result', 'toolUseId': 't1', 'replacement': 'short'}
    session = place.claude(prompt('a'), answer('b'))
    place.write(place.claude_path(session), place.read(place.claude_path(session)).decode() + json.dumps(
        {'type': 'content-replacement', 'sessionId': session, 'replacements': [kept], 'uuid': str(uuid.uuid4())}) + '\n')
    place.holds('in the bundle', place.json('restore', session)['contentReplacements'] == [kept])
    fork = place.json('fork', session)['sessionId']
    place.holds('in the fork', place.json('restore', fork)['contentReplacements'] == [kept])


@row(23, 'file-history snapshots in the bundle; rewind')
def history(place):
    session = place.json('create', 'claude')['sessionId']
    message = place.append(session, prompt('change it'))['uuids'][0]
    place.write('a.txt', 'one\n')
    place.text('checkpoint', session, '--id', message, 'a.txt')
    place.write('a.txt', 'two\n')
    call_row = answer(call('Write', 't1', file_path=place.path('a.txt'), content='two\n'))
    place.append(session, call_row, result('t1', 'ok'), answer('done'))
    place.text('checkpoint', session, '--end', 'a.txt')
    place.holds('in the bundle', len(place.json('restore', session)['fileHistory']) > 0)
    place.text('rewind', session, '--to', message, '--apply')
    place.holds('rewind brings it back', place.read('a.txt') == b'one\n')
    place.text('undo')
    place.holds('undo', place.read('a.txt') == b'two\n')


@row(24, 'attribution snapshots and context-collapse rows restored')
def collapse(place):
    old, new = ({'type': 'attribution-snapshot', 'messageId': 'm', 'surface': s} for s in ('old', 'new'))
    commit = {'type': 'marble-origami-commit', 'collapseId': 'c1', 'summary': 's'}
    snapshot = {'type': 'marble-origami-snapshot', 'staged': [], 'armed': False}
    got = place.json('restore', place.claude(prompt('a'), old, commit, snapshot, new, answer('b')))
    place.holds('the newest attributionSnapshot', got.get('attributionSnapshot', {}).get('surface') == 'new')
    place.holds('contextCollapseCommits', [c['collapseId'] for c in got.get('contextCollapseCommits', [])] == ['c1'])
    place.holds('contextCollapseSnapshot', got.get('contextCollapseSnapshot', {}).get('armed') is False)


def worktree_row(path, cwd):
    return meta('worktree-state', worktreeSession={'originalCwd': cwd, 'worktreePath': path, 'worktreeName': 'fix'})


@row(25, 'worktree state: path, and whether it exists')
def worktree(place):
    os.makedirs(place.path('tree'))
    here = place.claude(prompt('a'), answer('b'), worktree_row(place.path('tree'), place.dir))
    gone = place.claude(prompt('a'), answer('b'), worktree_row(place.path('gone'), place.dir))
    place.holds('exists', place.json('restore', here)['worktree'] == {'path': place.path('tree'), 'exists': True})
    place.holds('gone', place.json('restore', gone)['worktree']['exists'] is False)
    place.holds('then the original directory', place.json('restore', gone)['commandCwd'] == place.dir)


@row(26, '"exited" recorded when the worktree is gone')
def exited(place):
    session = place.claude(prompt('a'), answer('b'), worktree_row(place.path('gone'), place.dir))
    place.text('reappend', session)
    last = [r for r in place.claude_rows(session) if r['type'] == 'worktree-state'][-1]
    place.holds('reappend records that the session left it', last.get('worktreeSession', 0) is None)
    place.text('undo')
    last = [r for r in place.claude_rows(session) if r['type'] == 'worktree-state'][-1]
    place.holds('undo', last['worktreeSession'] is not None)


@row(27, 'agent-setting and mode in the bundle')
def setting(place):
    got = place.json('restore', place.claude(prompt('a'), answer('b'), meta('agent-setting', agentSetting='tester'),
                                             meta('mode', mode='coordinator')))
    place.holds('both', (got['agentSetting'], got['mode']) == ('tester', 'coordinator'))


not_sensible(28, '--agent precedence, warning for a deleted agent',
             'the agent decides it when it resumes; options after -- are passed on')


def fake_agent(place):
    place.write(f'{place.top}/bin/claude', '#!/bin/sh\necho "$@"\n')
    os.chmod(f'{place.top}/bin/claude', 0o755)
    return {'PATH': f'{place.top}/bin:{place.env["PATH"]}'}


@row(29, '--continue, --resume by id, by path, by title')
def ways(place):
    env, session = fake_agent(place), place.claude(prompt('a'), answer('b'), meta('custom-title', customTitle='Pay by card'))
    for words, operand in (('--continue', ('--continue',)), ('by id', (f'--resume={session}',)),
                           ('by path', (f'--resume={place.claude_path(session)}',)), ('by title', ('--resume=Pay by card',))):
        run = place.run(*operand, env=env)
        place.holds(words, run.stdout == f'--resume {session}\n')


@row(30, 'metadata re-appended into the tail window')
def reappend(place):
    session = place.claude(prompt('a'), meta('custom-title', customTitle='Kept'), *[prompt('x' * 30_000) for _ in range(4)], answer('b'))
    place.text('reappend', session)
    place.holds('written again', b'"Kept"' in place.read(place.claude_path(session))[-1000:])
    size = os.path.getsize(place.claude_path(session))
    place.text('reappend', session)
    place.holds('once', os.path.getsize(place.claude_path(session)) == size)


@row(31, 'title, tag, last prompt and agent name shown')
def shown(place):
    session = place.claude(prompt('a'), answer('b'), meta('custom-title', customTitle='T'), meta('tag', tag='t'),
                           meta('last-prompt', lastPrompt='a'), meta('agent-name', agentName='n'))
    said = place.text('info', session)
    got = place.json('list')[0]
    place.holds('info and list', [got[k] for k in ('summary', 'tag')] == ['T', 't'] and 'T' in said and got.get('agentName') == 'n')


@row(32, 'pr-link, agent-color, agent-setting, mode and worktree shown')
def more_shown(place):
    os.makedirs(place.path('tree'))
    session = place.claude(prompt('a'), answer('b'), meta('agent-color', agentColor='green'), meta('agent-setting', agentSetting='tester'),
                           meta('mode', mode='coordinator'), worktree_row(place.path('tree'), place.dir),
                           meta('pr-link', prNumber=7, prUrl='https://example.org/o/r/pull/7', prRepository='o/r'))
    said, got, listed = place.text('info', session), place.json('info', session), place.json('list')[0]
    place.holds('info', all(w in said for w in ('green', 'tester', 'coordinator', place.path('tree'), 'o/r#7')))
    want = {'agentColor': 'green', 'agentSetting': 'tester', 'mode': 'coordinator', 'worktreePath': place.path('tree'),
            'prNumber': 7, 'prUrl': 'https://example.org/o/r/pull/7', 'prRepository': 'o/r'}
    place.holds('info --json', {k: got.get(k) for k in want} == want)
    place.holds('list --json', {k: listed.get(k) for k in want} == want)


@row(33, 'no file before the first user or assistant row')
def lazy(place):
    made = place.json('create', 'claude', '--title', 'First light')
    place.holds('not listed', place.json('list') == [])
    place.append(made['sessionId'], prompt('a'))
    place.holds('the title is there with the first row', place.json('list')[0]['summary'] == 'First light')


@row(34, 'write queue of a file, drained in batches in the background')
def queue(place):
    background(place, 'claude', lambda i: prompt(f'row {i}'))


@row(35, 'rows written once by uuid; parent of a repeated prefix')
def once(place):
    session = place.json('create', 'claude')['sessionId']
    rows = [prompt('a', uuid=str(uuid.uuid4())), answer('b', uuid=str(uuid.uuid4()))]
    place.append(session, *rows)
    place.holds('repeated rows are not written', place.append(session, *rows, prompt('c'))['appended'] == 1)
    place.holds('the next one follows them', texts(place.json('messages', session)) == ['a', 'b', 'c'])


@row(36, 'rows of sub-agents go to agent-<id>.jsonl')
def agent_rows(place):
    session = place.json('create', 'claude')['sessionId']
    place.append(session, prompt('main'), prompt('task', isSidechain=True, agentId='a1'), answer('ok', isSidechain=True, agentId='a1'))
    place.holds('the conversation is without them', texts(place.json('messages', session)) == ['main'])
    path = f'{place.claude_path(session)[:-6]}/subagents/agent-a1.jsonl'
    place.holds('they are in their own file', place.read(path).count(b'\n') == 2)


@row(37, 'sub-agents read and listed')
def agents(place):
    session = place.claude(prompt('main'), answer('b'))
    rows = [{**prompt('task'), 'uuid': str(uuid.uuid4()), 'parentUuid': None, 'isSidechain': True, 'agentId': 'a1', 'sessionId': session}]
    place.write(f'{place.claude_path(session)[:-6]}/subagents/agent-a1.jsonl', ''.join(json.dumps(r) + '\n' for r in rows))
    place.holds('listed', 'a1' in place.text('subagents', session))
    place.holds('read', texts(place.json('messages', session, '--agent', 'a1')) == ['task'])


@row(38, 'persistence switches')
def switches(place):
    session = place.claude(prompt('a'), answer('b'))
    before = place.read(place.claude_path(session))
    row_text = json.dumps(prompt('c')) + '\n'
    run = place.run('append', session, '--no-persist', text=row_text)
    place.holds('--no-persist', run.returncode == 0 and place.read(place.claude_path(session)) == before)
    run = place.run('append', session, text=row_text, env={'CLAUDE_CODE_SKIP_PROMPT_HISTORY': '1'})
    place.holds('CLAUDE_CODE_SKIP_PROMPT_HISTORY', run.returncode == 0 and run.stderr and place.read(place.claude_path(session)) == before)
    run = place.run('append', session, text=row_text, env={'NODE_ENV': 'test'})
    place.holds('NODE_ENV test', run.returncode == 0 and run.stderr and place.read(place.claude_path(session)) == before)
    place.write(f'{place.config}/settings.json', '{"cleanupPeriodDays": 0}')
    run = place.run('append', session, text=row_text)
    place.holds('cleanupPeriodDays 0', run.returncode == 0 and run.stderr and place.read(place.claude_path(session)) == before)
    made = place.json('create', 'claude')['sessionId']
    run = place.run('append', made, text=row_text)
    place.holds('nor is a new session', run.returncode == 0 and not os.path.exists(place.claude_path(made)))
    place.write(f'{place.config}/settings.json', '{"cleanupPeriodDays": 30}')
    place.append(session, prompt('c'))
    written = place.read(place.claude_path(session))
    place.holds('otherwise it is written', written != before)
    place.run('append', session, text=row_text, env={'NODE_ENV': 'test', 'TEST_ENABLE_SESSION_PERSISTENCE': '1'})
    place.holds('TEST_ENABLE_SESSION_PERSISTENCE', place.read(place.claude_path(session)) != written)


@row(39, 'tombstone in the tail, far from it, in a large file', portable='nothing is cut off where no lease proves that no program has the session open')
def tombstone(place):
    doomed = str(uuid.uuid4())
    near = place.claude(prompt('a'), answer('b'), answer('orphan', uuid=doomed))
    place.text('tombstone', near, doomed)
    place.holds('in the tail', texts(place.json('messages', near)) == ['a', 'b'])
    far = place.claude(prompt('a'), answer('orphan', uuid=doomed), *[prompt('x' * 30_000) for _ in range(4)])
    place.text('tombstone', far, doomed, '--cut')
    place.holds('64 KiB away', 'orphan' not in texts(place.json('messages', far)))
    place.text('undo')
    place.holds('undo', 'orphan' in texts(place.json('messages', far)))


@row(40, 'fork: a fresh id, the original untouched, lineage')
def fork(place):
    session = place.claude(prompt('a'), answer('b'))
    before = place.read(place.claude_path(session))
    made = place.json('fork', session)['sessionId']
    place.holds('the original is untouched', place.read(place.claude_path(session)) == before)
    place.holds('new id, same conversation', made != session and texts(place.json('messages', made)) == ['a', 'b'])
    place.holds('parent', place.json('info', made).get('parentId') == session)


HOST = r"""
#include <reprise.h>
#include <stdio.h>
static void changed(int32_t state, const struct reprise_action *action, void *data)
{
    (void)data;
    printf("%d %s\n", (int)state, action ? action->tool_name : "-");
}
static void metadata(const char *patch, void *data)
{
    (void)data;
    puts(patch);
}
int main(int argc, char **argv)
{
    const struct reprise_listener listener = { .size = sizeof listener, .changed = changed, .metadata = metadata };
    const struct reprise_action action = { .size = sizeof action, .tool_name = "Edit", .description = "Editing src/foo.ts" };
    struct reprise_session *session = NULL;
    struct reprise_state *state = NULL;
    struct reprise *r = NULL;
    int next;
    if (reprise_open(NULL, &r, NULL) || reprise_session_open(r, argv[argc - 1], &session, NULL) ||
        reprise_state_open(session, &state, NULL) || reprise_state_listen(state, &listener, NULL))
        return 1;
    while (scanf("%d", &next) == 1) {
        if (reprise_state_change(state, next, &action, NULL))
            return 2;
        puts("done");
        fflush(stdout);
    }
    return 0;
}
"""


@row(41, 'state machine idle, running, requires_action; listeners and external metadata',
     portable='a process id that exists counts as unknown where there is no /proc')
def state(place):
    session = place.claude(prompt('a'), answer('b'))
    place.holds('without a host no state', 'state' not in place.json('list')[0])
    place.env['LD_LIBRARY_PATH'] = os.path.dirname(next(f for f in place.files(place.prefix) if f.endswith('libreprise.so')))
    with subprocess.Popen([place.compile(HOST), session], env=place.env, cwd=place.dir, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as host:
        def step(number):
            host.stdin.write(f'{number}\n')
            host.stdin.flush()
            said = []
            while not said or said[-1] not in ('done\n', ''):
                said.append(host.stdout.readline())
            return said[:-1], place.json('list')[0]
        said, shown_now = step(2)
        place.holds('running', said == ['2 -\n'] and shown_now.get('state') == 'running')
        said, shown_now = step(3)
        place.holds('requires_action with its details', said[0] == '3 Edit\n' and
                    json.loads(said[1])['pending_action']['action_description'] == 'Editing src/foo.ts')
        place.holds('list shows what it waits for', (shown_now.get('state'), shown_now.get('waitsFor')) ==
                    ('requires_action', 'Editing src/foo.ts'))
        place.holds('and the external metadata', shown_now.get('metadata', {}).get('pending_action', {}).get('tool_name') == 'Edit')
        place.holds('info shows it', 'waits for you: Editing src/foo.ts' in place.text('info', session))
        said, shown_now = step(1)
        place.holds('idle clears both', [json.loads(s) for s in said[1:]] == [{'pending_action': None}, {'task_summary': None}])
        host.kill()
    place.holds('a killed host does not count', 'state' not in place.json('list')[0])


@row(42, 'hydrate from the remote, session ingress')
def hydrate(place):
    team, session = plugin_store(place), place.claude(prompt('asked elsewhere'), answer('answered there'))
    here = place.claude_path(session)
    place.text('push', 'team', session)
    there = next(path for path in place.files(team) if path.endswith(f'/{session}.jsonl'))
    os.remove(here)
    place.holds('a remote session is listed and read', place.json('list')[0]['system'] == 'team' and
                texts(place.json('messages', session)) == ['asked elsewhere', 'answered there'])
    resumed = place.run(f'--resume={session}', env=fake_agent(place))
    place.holds('resumed from a local copy, byte by byte', resumed.stdout == f'--resume {session}\n' and
                place.read(here) == place.read(there))
    with open(here, 'ab') as f:  # which the agent keeps on its own machine
        f.write(b'{"type":"api-request","sessionId":"%s"}\n' % session.encode())
    place.append(f'claude:{session}', prompt('went on here'))
    place.text('push', 'team', session)
    local = place.read(here)
    place.holds('what was said here goes up, once', place.read(there) == re.sub(rb'{"type":"api-request.*\n', b'', local) and
                place.json('push', 'team', session)[0]['rows'] == 0)
    rows = place.read(there)
    place.write(there, rows + rows.split(b'\n')[1].replace(b'"uuid":"', b'"uuid":"1') + b'\n')
    place.holds('rows of another machine are not lost', place.run('push', 'team', session).returncode == 4)
    place.text('retrieve', f'team:{session}')
    place.holds('but come down, without --force', place.read(here) == local + place.read(there).splitlines(keepends=True)[-1])


@row(43, 'history in pages: newest first, then before a cursor')
def pages(place):
    ids = [str(uuid.uuid4()) for _ in range(10)]
    session = place.claude(*[prompt(str(i), uuid=ids[i]) for i in range(10)])
    newest = place.json('messages', session, '--tail', '4')
    place.holds('newest page', texts(newest) == ['6', '7', '8', '9'])
    older = place.json('messages', session, '--before', newest[0]['uuid'], '--limit', '4')
    place.holds('the page before', texts(older) == ['2', '3', '4', '5'])
    oldest = place.json('messages', session, '--before', older[0]['uuid'], '--limit', '4')
    place.holds('the oldest page is short', texts(oldest) == ['0', '1'])
    more = [len(place.json('messages', session, '--before', first, '--limit', '5')) > 4 for first in (newest[0]['uuid'], ids[4])]
    place.holds('one more than the page tells whether older ones exist', more == [True, False])
    write('kimi', place.home, place.dir, 1, 1795770000, 'asked')
    kimi = next(r['sessionId'] for r in place.json('list', '--all') if r['system'] == 'kimi')
    whole = place.json('messages', '--plain', kimi)
    place.holds('of an agent whose messages have no ids as well', len(whole) > 1 and all(m['id'] for m in whole) and
                place.json('messages', '--plain', kimi, '--before', whole[-1]['id'], '--limit', '1') == [whole[-2]])


@row(44, 'SessionStore adapters', portable='plug-ins are found below the prefix of the build only')
def adapters(place):
    place.write(f'{place.home}/.config/reprise/config', '[store.team]\nplugin = postgresql\npath = host=/nowhere\n')
    run = place.run('list', '--all')
    place.holds('the plug-in for PostgreSQL is found by its name', 'load plug-in' not in run.stderr)
    place.holds('a server that is gone is one line', run.returncode == 0 and run.stderr.count('\n') <= 2 and '/nowhere' in run.stderr)
    try:  # from a host in another prefix, by the URL alone
        Store(place, 'postgresql', path='postgresql:///x?host=/nowhere', plugin='postgresql')
        why = 'opened'
    except ffi.Failed as failed:
        why = str(failed)
    place.holds('a library finds them beside itself', 'no plug-in' not in why)
    for name in ('redis', 's3'):
        place.write(f'{place.home}/.config/reprise/config', f'[store.team]\nplugin = {name}\n')
        place.holds(name, 'load plug-in' not in place.run('list', '--all').stderr)


@row(45, 'expiry (cleanupPeriodDays) shown')
def expiry(place):
    place.write(f'{place.config}/settings.json', '{"cleanupPeriodDays": 10}')
    place.claude(prompt('a'), answer('b'))
    got = place.json('list')[0]
    place.holds('expiresAt', got['expiresAt'] - got['lastModified'] == 10 * 86_400_000)
