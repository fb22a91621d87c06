"""The example plug-in through the whole program: listed, read, retrieved, resumed, changed, and refused.
   usage: plugin_store.py REPRISE EXAMPLE_STORE COMPLETE_STORE FIXTURES"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from support.fixture_homes import folder_of
from support.program import CUTS, Program, snapshot

ONE, TWO = '11111111-1111-4111-8111-111111111111', '22222222-1111-4111-8111-111111111111'


def put(path, text):
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def fixture(fixtures, name, session, home):
    with open(os.path.join(fixtures, 'claude', name), encoding='utf-8') as f:
        rows = f.read()
    return rows.replace('/home/dev', f'{home}/no').replace('5e55aaaa-0000-4000-8000-000000000000', session)


def make(top, example, fixtures):
    home = os.path.join(top, 'home')
    put(f'{home}/team/beta/{ONE}.jsonl', fixture(fixtures, 'rewound.jsonl', ONE, home))
    put(f'{home}/team/tenant/{TWO}.jsonl', fixture(fixtures, 'never-answered.jsonl', TWO, home))
    put(f'{home}/data/reprise/stores/x', '')
    shutil.copy(example, f'{home}/data/reprise/stores/folder.so')
    os.chmod(f'{home}/data/reprise/stores/folder.so', 0o700)
    put(f'{home}/config/reprise/config', f'[store.team]\nplugin = folder\npath = {home}/team\n')
    put(f'{home}/.claude/settings.json', '{}')
    return home


def lists_and_reads(p, home):
    before = snapshot(f'{home}/team')
    rows = {row['sessionId']: row for row in p.json('list', '--all')}
    p.same('two sessions', sorted(rows), [ONE, TWO])
    p.same('its system', rows[ONE]['system'], 'team')
    p.same('its title', rows[ONE]['summary'], 'Mock generated title')
    p.same('what can be done', rows[ONE]['can'], ['resume', 'fork', 'rename', 'tag'])
    p.same('a session of a directory', [r['sessionId'] for r in p.json('list', '--project', f'{home}/no/ws/beta')],
           [row['sessionId'] for row in p.json('list', '--all')])
    p.same('of one store', len(p.json('list', '--all', '--store', 'team')), 2)
    p.same('of a system', len(p.json('list', '--all', '--system', 'team')), 2)
    p.same('of no other', p.json('list', '--all', '--system', 'goat'), [])
    p.same('of another directory', p.json('list', '--project', f'{home}/no/ws'), [])
    p.same('by the start of its id', p.json('info', ONE[:8])['sessionId'], ONE)
    p.need(len(p.json('messages', f'team:{ONE}')) > 4, 'messages are read')
    p.same('the last message', p.json('messages', '--tail', '1', ONE), p.json('messages', ONE)[-1:])
    p.same('nothing was changed', snapshot(f'{home}/team') == before, True)


def changes(p, home):
    path = f'{home}/team/beta/{ONE}.jsonl'
    size = os.path.getsize(path)
    run = p.run('rename', ONE, 'Another title')
    p.need(run.returncode == 0 and b'keeps no undo' in run.stdout, f'rename: {run}')
    p.same('renamed', p.json('info', ONE)['summary'], 'Another title')
    p.need(os.path.getsize(path) > size, 'a row was appended')
    p.same('a blank title', p.run('rename', ONE, ' ').returncode, 2)
    p.same('tagged', (p.run('tag', ONE, 'blue').returncode, p.json('info', ONE)['tag']), (0, 'blue'))
    for words, code in [(['rewind', ONE, '--to', 'x'], 4), (['archive', ONE], 4), (['delete', ONE], 4),
                        (['delete', '--permanently', ONE], 4), (['tombstone', ONE, 'x'], 4)]:
        run = p.run(*words)
        p.same(f'{words} is refused', run.returncode, code)
        p.same(f'{words}: in one line', run.stderr.count(b'\n'), 1)
    fork = p.json('fork', TWO)
    p.need(fork['path'].startswith(f'{home}/.claude/projects/'), f'a fork is local: {fork}')
    p.same('and of the agent', p.json('info', fork['sessionId'])['system'], 'claude')
    p.run('undo', '--all')


def retrieves(p, home):
    local = f'{home}/.claude/projects/{folder_of(home)}-no-ws-beta/{ONE}.jsonl'
    p.same('a dry run', p.json('retrieve', '--dry-run', ONE)[0]['written'], False)
    p.need(not os.path.exists(local), 'a dry run writes nothing')
    item = p.json('retrieve', ONE)[0]
    p.same('written', (item['state'], item['written'], item['path']), ('new', True, local))
    with open(local, 'rb') as a, open(f'{home}/team/beta/{ONE}.jsonl', 'rb') as b:
        p.same('byte by byte', a.read() == b.read(), True)
    p.same('mode', oct(os.stat(local).st_mode & 0o777), '0o600')
    p.same('again', p.json('retrieve', f'team:{ONE}')[0]['state'], 'unchanged')
    both(p, home)
    p.run('rename', f'claude:{ONE}', 'Local title')
    run = p.run('retrieve', f'team:{ONE}')
    p.need(run.returncode == 4 and b'newer' in run.stderr, f'a newer local one is kept: {run}')
    p.same('a local session needs no server', p.json('info', ONE)['system'], 'claude')
    runs = [p.run('undo', '--all') for _ in range(2)]
    if not CUTS:  # the rename was contradicted by a row, and so the transcript is no longer the one that was retrieved
        p.same('kept', [(run.returncode, os.path.exists(local)) for run in runs], [(0, True), (4, True)])
        os.unlink(local)
    p.need(not os.path.exists(local), f'undone: {runs}')


def both(p, home):
    """A session in two places is one row, which says so: the one in which more was said, else the local one."""
    def shown():
        return [(r['system'], r.get('alsoIn')) for r in p.json('list', '--all') if r['sessionId'] == ONE]

    p.same('the local one', shown(), [('claude', 'team')])
    p.need(b'also in team' in p.run('list', '--all').stdout, 'in text')
    path = f'{home}/team/beta/{ONE}.jsonl'
    with open(path, encoding='utf-8') as f:
        before = f.read()
    put(path, before + '{"type":"assistant","uuid":"later","sessionId":"%s","timestamp":"2031-01-01T00:00:00.000Z",'
        '"message":{"role":"assistant","content":[{"type":"text","text":"More"}]}}\n' % ONE)
    p.same('the one with more', shown(), [('team', 'claude')])
    p.same('sorted otherwise', [r['sessionId'] for r in p.json('list', '--all', '--sort', 'title')].count(ONE), 1)
    put(path, before)


def resumes(p, home):
    put(f'{home}/bin/claude', '#!/bin/sh\necho "resumed $*"\n')
    os.chmod(f'{home}/bin/claude', 0o700)
    p.env['PATH'] = f'{home}/bin:' + p.env['PATH']
    run = p.run('--resume', ONE)
    p.need(run.stdout == f'resumed --resume {ONE}\n'.encode(), f'resumed by the agent: {run}')
    p.need(os.path.exists(f'{home}/.claude/projects/{folder_of(home)}-no-ws-beta/{ONE}.jsonl'), 'from a local copy')
    p.run('undo', '--all')


def deletes(p, home, plugin):
    """For good, with its sub-agents; what is here stays."""
    config = f'{home}/config/reprise/config'
    with open(config, encoding='utf-8') as f:
        before = f.read()
    put(config, f'[store.kept]\nplugin = {plugin}\npath = {home}/kept\n')
    put(f'{home}/kept/tenant/{ONE}.jsonl', fixture(FIXTURES, 'rewound.jsonl', ONE, home))
    put(f'{home}/kept/tenant/{ONE}/subagents/agent-a1.jsonl', fixture(FIXTURES, 'rewound.jsonl', ONE, home))
    put(f'{home}/kept/tenant/{TWO}.jsonl', fixture(FIXTURES, 'never-answered.jsonl', TWO, home))
    p.need('delete-permanently' in p.json('info', ONE)['can'], 'it can be deleted')
    run = p.run('delete', ONE)
    p.need(run.returncode == 4 and b'--permanently' in run.stderr and os.path.exists(f'{home}/kept/tenant/{ONE}.jsonl'), f'not by accident: {run}')
    p.run('retrieve', ONE)
    p.same('deleted', p.run('delete', '--permanently', f'kept:{ONE}').returncode, 0)
    p.same('nothing else', sorted(os.listdir(f'{home}/kept/tenant')), [f'{TWO}.jsonl'])
    p.same('the local one stays', p.json('info', ONE)['system'], 'claude')
    p.run('undo', '--all')
    goes_on(p, home)
    put(config, before)


def goes_on(p, home):
    """If one of several cannot be deleted, the others are."""
    ids = [f'3333333{n}-1111-4111-8111-111111111111' for n in range(3)]
    for i in ids:
        put(f'{home}/kept/tenant/{i}.jsonl', fixture(FIXTURES, 'rewound.jsonl', i, home))
    p.env['COMPLETE_STORE_UNDELETABLE'] = ids[0]
    run = p.run('delete', '--permanently', *(f'kept:{i}' for i in ids))
    p.same('which are left', sorted(os.listdir(f'{home}/kept/tenant')), sorted([f'{TWO}.jsonl', f'{ids[0]}.jsonl']))
    p.need(run.returncode == 1 and run.stdout == b'deleted for good: 2 sessions\n' and b'another program holds it' in run.stderr and
           b'1 of 3 sessions were not deleted' in run.stderr and run.stderr.count(b'\n') == 2, f'the others are deleted: {run}')
    run = p.run('delete', '--permanently', '--json', f'kept:{ids[0]}', f'kept:{TWO}')
    p.need(run.returncode == 1 and [r['sessionId'] for r in json.loads(run.stdout)] == [TWO], f'named: {run}')
    run = p.run('delete', '--permanently', f'kept:{ids[0]}')
    p.need(run.returncode == 1 and run.stdout == b'' and run.stderr.count(b'\n') == 1, f'one alone: {run}')
    del p.env['COMPLETE_STORE_UNDELETABLE']


def goes_on_without(p, home):
    """A store that cannot be opened is one line, and the rest goes on."""
    put(f'{home}/.claude/projects/-w/{ONE}.jsonl', fixture(FIXTURES, 'rewound.jsonl', ONE, home))
    config = f'{home}/config/reprise/config'
    for section, why in [('plugin = ./folder.so', b'needs an absolute path'), ('plugin = nothing', b'needs the plug-in'),
                         ('path = /x', b'names neither a plug-in nor a format'), ('plugin = folder\npath = /nowhere', b'not a directory'),
                         ('plugin = folder\npath = x://a:b@c/d', b'contains a password')]:
        put(config, f'[store.other]\n{section}\n')
        run = p.run('list', '--all')
        p.need(run.returncode == 0 and run.stderr.count(b'\n') == 1 and why in run.stderr, f'{section}: {run}')
        p.same(f'{section}: alone', p.run('list', '--all', '--store', 'other').returncode == 0, False)
    put(f'{home}/project/folder.so', 'x')
    os.chmod(f'{home}/data/reprise/stores/folder.so', 0o777)
    put(config, f'[store.team]\nplugin = folder\npath = {home}/team\n')
    run = p.run('list', '--all')
    p.need(run.returncode == 0 and b'can be written by others' in run.stderr, f'mode: {run}')
    put(config, '[store.a/b]\nplugin = folder\n[store.claude]\nplugin = folder\n')
    run = p.run('--resume', 'nothing')
    p.need(b'not a name for a store' in run.stderr and b'a system has this name' in run.stderr, f'names: {run}')


FIXTURES = sys.argv[4]


def goes_there(p, home):
    """Sessions that the store does not have; one that is refused keeps no other back, and the answers are complete."""
    one, two, three = ('%d4444444-1111-4111-8111-111111111111' % n for n in (1, 2, 3))

    def row(session, text):
        return json.dumps({'type': 'user', 'uuid': f'{session[:-1]}{len(text)}', 'parentUuid': None, 'sessionId': session, 'cwd': f'{home}/no',
                           'timestamp': '2026-02-09T02:48:28.000Z', 'message': {'role': 'user', 'content': text}}) + '\n'

    def local(session):
        return f'{home}/.claude/projects/{folder_of(home)}-no/{session}.jsonl'

    for session in one, two, three:
        put(local(session), row(session, 'here'))
    put(f'{local(two)[:-6]}/subagents/agent-a1.jsonl', row(two, 'sub-agent'))
    p.json('push', 'team', two)
    there = f'{home}/team/{folder_of(home)}-no'
    p.same('a session that was not there', sorted(os.listdir(there)), sorted([two, f'{two}.jsonl']))
    p.same('and its sub-agent', os.listdir(f'{there}/{two}/subagents'), ['agent-a1.jsonl'])
    put(f'{there}/{two}/subagents/nested/agent-b2.jsonl', row(two, 'nested'))
    put(f'{there}/{two}/subagents/notes.txt', 'of another program')
    p.same('its sub-agents there', sorted(p.json('subagents', f'team:{two}')), ['a1', 'b2'])
    shutil.rmtree(local(two)[:-6])
    p.json('pull', f'team:{two}')
    p.same('they come back', [os.path.exists(f'{local(two)[:-6]}/subagents/{name}') for name in ('agent-a1.jsonl', 'nested/agent-b2.jsonl', 'notes.txt')],
           [True, True, False])
    shutil.rmtree(f'{there}/{two}')
    shutil.rmtree(local(two)[:-6])
    put(f'{there}/{two}.jsonl', row(two, 'here') + row(two, 'there alone'))
    put(local(two), row(two, 'here') + row(two, 'only on this machine'))

    def several(*command):
        run = p.run(*command, '--json')
        p.need(run.returncode == 4 and run.stderr.count(b'\n') == 1, f'{command}: one is refused: {run}')
        return json.loads(run.stdout or b'null')

    p.same('pushed', [(r['sessionId'], r['rows']) for r in several('push', 'team', one, two, three)], [(one, 1), (three, 1)])
    p.same('no such session: nothing is pushed', p.run('push', 'team', one, 'nosuchid', '--json').stdout, b'')
    os.unlink(local(one))
    os.unlink(local(three))
    got = several('pull', *(f'team:{s}' for s in (one, two, three)))
    p.same('pulled', [(r['sessionId'], r['state'], r['written']) for r in got],
           [(one, 'new', True), (two, 'local-newer', False), (three, 'new', True)])
    p.same('as text', p.run('pull', *(f'team:{s}' for s in (one, two))).stdout.count(b'\n'), 2)
    for word in 'pull', 'retrieve':
        p.same(f'{word} of a local session', p.run(word, f'claude:{one}').stderr.decode(),
               f"reprise: cannot {word} claude:{one}: Claude Code's transcripts are already where it looks for them; "
               f"a copy in a team's store: reprise {word} team:{one}\n")
    p.need(p.run('pull', f'team:{two}').stderr.startswith(b'reprise: cannot pull '), 'a refused pull is named as it was typed')
    p.same('a checkpoint is of one session', p.run('pull', one, three, '--at', 'x').returncode, 2)


def at_once(p, home):
    """Several programs push one session: each row is there once, and only one push says that it began it."""
    path = f'{home}/.claude/projects/{folder_of(home)}-no'
    for turn in range(6):
        session = f'{turn}5555555-1111-4111-8111-111111111111'
        rows = [json.dumps({'type': 'user', 'uuid': f'{turn}5555555-1111-4111-8111-{n:012d}', 'parentUuid': None, 'sessionId': session,
                            'cwd': f'{home}/no', 'timestamp': '2026-02-09T02:48:28.000Z', 'message': {'role': 'user', 'content': f'row {n}'}})
                for n in range(2500)]
        put(f'{path}/{session}.jsonl', '\n'.join(rows) + '\n')
        p.same('dry', [(r['new'], r['rows']) for r in p.json('push', '--dry-run', 'team', session)], [(True, 2500)])
        pushes = [subprocess.Popen([p.path, 'push', 'team', session, '--json'], env=p.env, cwd=home, stdout=subprocess.PIPE) for _ in range(4)]
        got = [json.loads(push.communicate()[0])[0] for push in pushes]
        p.same('one of them began it', sum(g['new'] for g in got), 1)
        p.same('together they added it', sum(g['rows'] for g in got), 2500)
        with open(f'{home}/team/{folder_of(home)}-no/{session}.jsonl', encoding='utf-8') as f:
            p.same('each row once', sorted(f.read().splitlines()) == sorted(rows), True)
        p.same('later it is not new', [(r['new'], r['rows']) for r in p.json('push', 'team', session)], [(False, 0)])
        os.unlink(f'{path}/{session}.jsonl')
        os.unlink(f'{home}/team/{folder_of(home)}-no/{session}.jsonl')


def keeps_new_ones(p, home):
    """Sessions that a host begins there."""
    def append(session, *texts):
        rows = ''.join(json.dumps({'type': 'user', 'message': {'role': 'user', 'content': text}}) + '\n' for text in texts)
        return subprocess.run([p.path, 'append', session], env=p.env, cwd=home, input=rows.encode(), capture_output=True, check=False).returncode

    session = p.run('create', 'team', '--title', 'Payments').stdout.decode().strip()
    p.same('without a message it is not listed', [r for r in p.json('list', '--all', '--store', 'team') if r['sessionId'] == session], [])
    p.same('appended', [append(session, 'one'), append(f'team:{session}', 'two', 'three')], [0, 0])
    p.same('each row follows the one before', [m['message']['content'] for m in p.json('messages', session)], ['one', 'two', 'three'])
    p.same('it has its title', p.json('info', session)['customTitle'], 'Payments')
    p.same('it exists', p.run('create', 'team', '--id', session).returncode, 4)
    p.same('no other store', p.run('create', 'tame').returncode, 2)
    p.same('pulled', p.run('pull', session).returncode, 0)
    p.same('it is whole', len(p.json('messages', f'claude:{session}')), 3)


def main():
    with tempfile.TemporaryDirectory() as top:
        home = make(top, sys.argv[2], FIXTURES)
        kept = shutil.copy(sys.argv[3], f'{home}/kept.so')
        os.chmod(kept, 0o700)
        os.chmod(home, 0o700)
        p = Program(sys.argv[1], home, {'XDG_CONFIG_HOME': f'{home}/config', 'XDG_DATA_HOME': f'{home}/data',
                                        'XDG_STATE_HOME': f'{home}/state'})
        lists_and_reads(p, home)
        goes_there(p, home)
        at_once(p, home)
        shutil.rmtree(f'{home}/state', ignore_errors=True)
        shutil.rmtree(f'{home}/.claude/projects')
        shutil.rmtree(f'{home}/team/{folder_of(home)}-no')
        changes(p, home)
        retrieves(p, home)
        resumes(p, home)
        deletes(p, home, kept)
        keeps_new_ones(p, home)
        goes_on_without(p, home)
        print(f'{p.passed} passed, {p.failed} failed')
        sys.exit(p.failed > 0)


main()
