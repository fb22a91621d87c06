"""Names, states, listing and shadow branches: the reading part of conformance rows 4 to 21 and 56."""
import json
import os
import re

from entire.fixture import A, B, CA, World, get, put
from support.program import snapshot

SHAPE = ['id', 'message', 'metadata_dir', 'date', 'is_task_checkpoint', 'is_logs_only', 'session_id', 'session_prompt']


def listing(c):
    w = World(c, 'edge')
    before = snapshot(w.repo + '/.git')
    rows = {r['sessionId']: r for r in w.json('list', '--all', '--system', 'entire')}
    c.same('8: four sessions', sorted(rows), ['2026-01-06-legacy', 'f1b2c3d4-0001-4000-8000-00000000000a',
                                             'f1b2c3d4-0002-4000-8000-00000000000b', 'no-phase'])
    found = w.json('doctor')
    named = ' '.join(f.get('path', '') + ' ' + f['why'] for f in found)
    c.need('8: broken states are named', 'broken.json' in named and 'half.json.tmp' in named)
    c.need('8: and kept', os.path.exists(w.repo + '/.git/entire-sessions/broken.json'))
    c.need('9: active_committed is active', any(f['kind'] == 'stuck' and f.get('sessionId') == '2026-01-06-legacy'
                                               for f in found))
    c.need('9: no phase is idle', not any(f['kind'] == 'stuck' and f.get('sessionId') == 'no-phase' for f in found))
    c.need('4: a name that a person chose is doubtful', 'entire/1234567' in named and 'entire/notes' not in named)
    c.need('4: the old shape is known', 'entire/1ce4cc8' in named)
    c.need('20: a commit without a session is unknown', re.search(r'entire/fedcba9-e3b0c4 [^/]*names no session', named))
    w.run('messages', 'entire:f1b2c3d4-0002-4000-8000-00000000000b', '--json')
    w.run('checkpoints', 'entire:f1b2c3d4-0001-4000-8000-00000000000a', '--json')
    w.run('rewind', 'entire:f1b2c3d4-0001-4000-8000-00000000000a', '--to', 'ffff')
    c.same('10: reading changes nothing', snapshot(w.repo + '/.git'), before)
    linked = w.json('list', '--system', 'entire', at='../wt/test-wt', )
    c.need('13: states are found from a linked work tree',
           'f1b2c3d4-0002-4000-8000-00000000000b' in {r['sessionId'] for r in linked})
    for bad in '../../x', 'a/b', 'a\\b', '', '..':
        run = w.run('info', 'entire:' + bad)
        c.need(f'15: {bad!r} is refused', run.returncode in (2, 3))
    for bad in '../x', 'a/b', '..':
        run = w.run('create', 'entire:' + w.repo, '--id', bad)
        c.same(f'15: {bad!r} is not made', run.returncode, 2)
    c.same('15: nothing was made of them', snapshot(w.repo + '/.git'), before)
    w.close()
    w = World(c, 'refs-ulid')
    ids = {p['id'] for r in w.json('list', '--all', '--system', 'entire') for p in w.points(r['sessionId'])}
    c.same('6: two checkpoints and no decoy', ids, {'01KX37KN6NXDTV10FKNCBPTP2Y', 'b7c8d9e0f1a2'})
    w.close()


def shadows(c):
    w = World(c, 'two-sessions')
    points = {s: w.points(s) for s in (A, B)}
    c.same('16: five and two', [len(points[A]), len(points[B])], [5, 2])
    told = sorted(((p['timestamp'] // 1000, p['id'], s, p['record']['message']) for s in points for p in points[s]), reverse=True)
    c.same('16: as points.tsv has them', ''.join(f'{i}\t{t}\t{s}\t{m}\n' for t, i, s, m in told),
           w.expected('two-sessions', 'points.tsv'))
    c.same('17: two task points', [(p['prompt'], p['record']['tool_use_id']) for p in points[A] if p['kind'] == 'task'],
           [('Write test skeleton (toolu_01Task)', 'toolu_01TaskTestWriter'),
            ("Completed 'dev' agent: Write login test (toolu_01Task)", 'toolu_01TaskTestWriter')])
    first = points[A][0]
    c.same('18: the first has no parent, and yet files', (w.git('rev-list', '--count', first['id']), first['files']), ('1', 3))
    c.same('21: what each session changed', [[p['files'] for p in points[s]] for s in (A, B)], [[3, 1, 1, 2, 1], [2, 2]])
    c.same('56: the shape of rewind --list', list(first['record']), SHAPE)
    task = points[A][1]['record']
    c.same('56: of a task', list(task), SHAPE[:5] + ['tool_use_id'] + SHAPE[5:])
    c.same('56: values', (first['record']['date'], first['record']['metadata_dir'], first['record']['session_prompt'],
                          task['metadata_dir'], task['is_task_checkpoint']),
           ('2026-02-09T10:02:00Z', '.entire/metadata/' + A, 'Please add a login function?',
            f'.entire/metadata/{A}/tasks/toolu_01TaskTestWriter', True))
    w.close()
    w = World(c, 'committed')
    record = w.points(CA)[0]['record']
    c.same('56: of a commit', list(record), SHAPE[:6] + ['condensation_id'] + SHAPE[6:])
    c.same('56: logs only', (record['is_logs_only'], record['condensation_id'], record['metadata_dir']), (True, 'a3b2c4d5e6f7', ''))
    w.close()


def damaged(c):
    """Truncated objects, as a crash leaves them: libgit2 alone would never return from one. They are named, and the rest is shown."""
    w = World(c, 'committed')
    tree = 'entire/checkpoints/v1:a3/b2c4d5e6f7/'
    whole = {r['sessionId'] for r in w.json('list', '--all', '--system', 'entire')}
    for what in tree + '0/metadata.json', tree + 'metadata.json', 'entire/checkpoints/v1:a3/b2c4d5e6f7', 'entire/checkpoints/v1^{tree}':
        name = w.git('rev-parse', what)
        path = f'{w.repo}/.git/objects/{name[:2]}/{name[2:]}'
        text, mode = get(path), os.stat(path).st_mode
        for size in 0, 1, len(text) // 2, len(text) - 8:
            os.chmod(path, 0o644)
            put(path, text[:size])
            before = snapshot(w.repo)
            rows = {r['sessionId'] for r in w.json('list', '--all', '--system', 'entire')}
            c.need(f'damaged: {what} of {size} bytes: nothing new, and no end of the list', rows <= whole)
            c.need(f'damaged: {what} of {size} bytes: it is named', w.json('doctor'))
            c.same('damaged: reading changes nothing', snapshot(w.repo), before)
        put(path, text)
        os.chmod(path, mode)
    c.same('damaged: whole again', {r['sessionId'] for r in w.json('list', '--all', '--system', 'entire')}, whole)
    w.git('gc', '-q')
    pack, = [f'{w.repo}/.git/objects/pack/{n}' for n in os.listdir(w.repo + '/.git/objects/pack') if n.endswith('.pack')]
    text = get(pack)
    os.chmod(pack, 0o644)
    for size in 0, 40, len(text) // 2, len(text) - 30:
        put(pack, text[:size])
        c.same(f'damaged: a pack of {size} bytes', w.run('list', '--all', '--system', 'entire').returncode, 0)
    w.close()
    w = World(c, 'two-sessions')
    name = w.git('rev-parse', 'entire/6d28ff0-e3b0c4~2')
    path = f'{w.repo}/.git/objects/{name[:2]}/{name[2:]}'
    os.chmod(path, 0o644)
    put(path, get(path)[:-9])
    c.same('damaged: a truncated commit ends the readable part of a shadow branch', [len(w.points(s)) for s in (A, B)], [1, 1])
    run = w.run('checkpoints', 'entire:' + A)
    c.same('damaged: checkpoints lists the rest and says that some are missing', (run.returncode, b'not all of its shadow branch can be read' in run.stderr), (0, True))
    c.need('damaged: and it is named', 'a commit of this shadow branch' in json.dumps(w.json('doctor')))
    w.close()
