#!/usr/bin/env python3
"""Maintenance of real sessions: the doctor changes nothing, a sweep moves what it showed, and undo restores all of it.

usage: maintenance_corpus.py PROGRAM VERSION
"""
import json
import os
import subprocess
import sys
import tarfile
import tempfile

from support.program import CUTS, Program, snapshot, undone

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')
KEYS = {'sessionId', 'path', 'kind', 'line', 'offset', 'why', 'repair', 'fixable', 'fixed'}


def files_of(store):
    """Files only, because the times of directories change with temporary entries."""
    return {path: what for path, what in snapshot(store).items() if what[2] is not None}


def check_doctor(program, top, rows):
    before = snapshot(top)
    findings = program.json('doctor')
    for f in findings:
        program.need(set(f) <= KEYS and {'path', 'kind', 'why', 'fixable'} <= set(f), f'finding: {f}')
    hidden = {f['sessionId'] for f in findings if f['kind'] == 'hidden'}
    shown = {r['sessionId'] for r in program.json('list', '--all', '--no-programmatic')}
    program.same('hidden', hidden, {r['sessionId'] for r in rows} - shown)
    for row in rows:
        own = program.json('doctor', row['sessionId'])
        program.same('of one session', {f.get('sessionId') for f in own}, {row['sessionId']})  # when it expires, at least
        program.need(any(f['kind'] == 'expires' for f in own), f'{row["sessionId"]}: expires?')
    expiring = [f for f in findings if f['kind'] == 'expires']
    said = [line for line in program.text('doctor').splitlines() if ': note: ' in line]
    program.same('what expires is one line', len(said), 1 if expiring else 0)
    program.need(snapshot(top) == before, 'the doctor changed the disk')


def check_words(program, rows):
    """Mistyped words are answered with a suggestion, and long prompts do not fill the screen."""
    for args, said in ((('lst',), b'did you mean list?'), (('list', '--jsn'), b'did you mean --json?'),
                       (('list', '--config=/nonexistent'), b'/nonexistent'), (('delete',), b'reprise delete ID')):
        run = program.run(*args)
        program.need(run.returncode != 0 and said in run.stderr, f'{args}: exit {run.returncode}: {run.stderr!r}')
    run = program.run('list', '--all', '--tag', 'no-session-has-this-tag')
    program.same('no line for no session', (run.returncode, run.stdout), (0, b''))
    program.need(b'no sessions match' in run.stderr, f'a sentence says so: {run.stderr!r}')
    for row in rows:
        for line in program.text('checkpoints', row['sessionId']).splitlines():
            program.need(len(line) < 250, f'checkpoints: {len(line)} characters in a line')


def check_sweep(program, store):
    rule = ('--all', '--older-than', '1m', '--include-tagged', '--include-named')
    before = files_of(store)
    tree = snapshot(store)
    shown = program.json('sweep', *rule)
    program.need(snapshot(store) == tree, 'a dry run changed the disk')
    program.same('applied', shown['applied'], False)
    program.same('bytes', shown['bytes'], sum(s['bytes'] for s in shown['sessions']))
    program.same('all', len(shown['sessions']), len(program.json('list', '--all')))
    moved = program.json('sweep', '--apply', *rule)
    same = ('sessionId', 'path', 'bytes', 'files', 'lastActivity', 'why')
    program.same('moved', [[s[k] for k in same] for s in moved['sessions']], [[s[k] for k in same] for s in shown['sessions']])
    program.same('in the trash', {t['trashId'] for t in program.json('trash', 'list')}, {s['trashId'] for s in moved['sessions']})
    program.same('listed', program.json('list', '--all'), [])
    program.json('undo', '--all')
    program.same('back', files_of(store), before)


def check_changes(program, store, rows):
    """Several sessions are one change; the answer has their new list rows and what undo would revert."""
    ids = [rows[0]['sessionId'], rows[1]['sessionId']]
    before = files_of(store)
    done = program.json('archive', *ids, ids[0])
    program.same('archived', [(d['sessionId'], d['archived']) for d in done], [(i, True) for i in [*ids, ids[0]]])
    dry = program.json('undo', '--all', '--dry-run')
    program.same('one change', (dry['undoes'], len(dry['sessions']), dry['dryRun']), (done[0]['change'], 2, True))
    program.same('a dry run', {r['sessionId'] for r in program.json('list', '--all', '--archived')}, set(ids))
    program.json('undo', '--all')
    program.same('taken back', undone(files_of(store), before), before)
    program.same('cleaned', program.json('tag', ids[0], 'ﬁx\u200b')['tag'], 'fix')
    program.same('in the log', program.json('log')[0]['text'], 'tagged fix')
    program.json('undo', '--all')
    program.same('twice is once', program.json('delete', ids[0], ids[0])['sessionId'], ids[0])
    program.json('undo', '--all')
    program.same('back again', undone(files_of(store), before), before)


def check_orphans(program, store, row):
    """Leftovers of a session are found, moved as shown, and restored."""
    copies = os.path.join(store, 'file-history', row['sessionId'])
    os.makedirs(copies, exist_ok=True)
    with open(os.path.join(copies, '0123456789abcdef@v1'), 'w', encoding='utf-8') as f:
        f.write('x')
    os.rename(row['path'], row['path'] + '.away')
    rule = ('--all', '--orphans')
    found = program.json('sweep', *rule)
    program.same('a day old at least', (found['sessions'], [s['sessionId'] for s in found['leftOut']]), ([], [row['sessionId']]))
    for top, names, files in os.walk(store):
        for name in ['.', *names, *files]:
            if row['sessionId'] in os.path.join(top, name):
                os.utime(os.path.join(top, name), (1700000000, 1700000000), follow_symlinks=False)
    before = files_of(store)
    moved = program.json('sweep', '--apply', *rule)
    program.same('orphans', [s['sessionId'] for s in moved['sessions']], [row['sessionId']])
    program.need(copies in moved['sessions'][0]['parts'] and not os.path.exists(copies), f'moved: {moved}')
    program.json('undo', '--all')
    program.same('orphans are restored', files_of(store), before)
    os.rename(row['path'] + '.away', row['path'])
    program.same('none', program.json('sweep', *rule)['sessions'], [])


def check_repair(program, store, row):
    """A torn last line and a title in the middle, repaired at once, and undone at once."""
    path = row['path']
    with open(path, 'rb') as f:
        whole = f.read()
    title = {'type': 'custom-title', 'customTitle': 'in the middle', 'sessionId': row['sessionId']}
    filler = b'{"type":"x"}\n' * 12000
    with open(path, 'ab') as f:
        f.write(filler + json.dumps(title).encode() + b'\n' + filler + b'{"type":"mo')
    before = files_of(store)
    with open(path, 'rb'):
        run = program.run('doctor', '--fix', '--json', row['sessionId'])
    program.same('what is open is not repaired, and the exit code says so',
                 (run.returncode, [f for f in json.loads(run.stdout) if f.get('fixed')]), (4, []))
    kinds = {f['kind'] for f in program.json('doctor', row['sessionId']) if f['fixable']}
    program.need({'torn-tail', 'metadata-outside-window'} <= kinds, f'to be repaired: {kinds}')
    fixed = {f['kind'] for f in program.json('doctor', '--fix', row['sessionId']) if f.get('fixed')}
    program.same('repaired', fixed, kinds)
    program.same('title', program.json('info', row['sessionId'])['customTitle'], 'in the middle')
    with open(path, 'rb') as f:
        repaired = f.read()
    program.need(repaired.startswith(whole + filler), 'a repair only adds')
    program.need(b'\n\n' not in repaired, 'a repair adds no empty line')
    if not CUTS:  # there is no row that says the opposite of a repair
        run = program.run('undo', '--all')
        program.same('the undo is refused', (run.returncode, b'there is no lease here' in run.stderr), (4, True))
        return
    program.json('undo', '--all')
    program.same('undone', files_of(store), before)


def check_answers(program, row):
    """A change is made even if the answer cannot be written."""
    for done, *command in ((True, 'rename', row['sessionId'], 'told to nobody'), (True, 'undo', '--all'), (False, 'list', '--all')):
        with open('/dev/full', 'wb') as full:
            run = subprocess.run([program.path, *command], env=program.env, cwd=program.home, stdin=subprocess.DEVNULL,
                                 stdout=full, stderr=subprocess.PIPE, timeout=300, check=False)
        program.same(f'{command[0]} into a full disk', run.returncode, 0 if done else 1)
        program.need((b'done, but the answer could not be written' in run.stderr) == done, f'{command}: {run.stderr!r}')


def main():
    path, version = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as top:
        with tarfile.open(os.path.join(FIXTURES, 'corpus', f'corpus-{version}.tar.gz')) as tar:
            tar.extractall(top)
        store = os.path.join(top, 'cfg')
        # Entries of processes on another machine that ended long ago: their state cannot be known here.
        for name in os.listdir(os.path.join(store, 'sessions')):
            os.remove(os.path.join(store, 'sessions', name))
        program = Program(path, top, {'CLAUDE_CONFIG_DIR': store, 'XDG_STATE_HOME': top + '/state', 'XDG_DATA_HOME': top + '/data'})
        rows = program.json('list', '--all')
        check_doctor(program, top, rows)
        check_words(program, rows)
        check_sweep(program, store)
        check_changes(program, store, rows)
        check_orphans(program, store, rows[0])
        check_repair(program, store, rows[0])
        check_answers(program, rows[0])
        program.finish(len(rows) + 42)


main()
