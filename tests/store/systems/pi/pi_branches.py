#!/usr/bin/env python3
"""pi: a session continues elsewhere by an appended entry, and is forked into a new file. The fork that is expected here was
made by the session manager of pi 0.87.1 (createBranchedSession).

usage: pi_branches.py PROGRAM
"""
import json
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..')]

from support.program import Program

HEADER = '{"type":"session","version":3,"id":"s1","timestamp":"2026-11-22T15:29:40.000Z","cwd":"/w"}'
SOURCE = [
    '{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Mend the gate"}]},"id":"00000001","parentId":null,"timestamp":"2026-11-22T15:29:41.000Z"}',
    '{"type":"label","targetId":"00000001","label":"begin","id":"00000002","parentId":"00000001","timestamp":"2026-11-22T15:29:42.000Z"}',
    '{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"It creaks."}]},"id":"00000003","parentId":"00000002","timestamp":"2026-11-22T15:29:43.000Z"}',
    '{"type":"compaction","summary":"A gate.","firstKeptEntryId":"00000002","tokensBefore":9,"id":"00000004","parentId":"00000003","timestamp":"2026-11-22T15:29:44.000Z"}',
    '{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Oil it"}]},"id":"00000005","parentId":"00000004","timestamp":"2026-11-22T15:29:45.000Z"}',
    '{"type":"label","targetId":"00000003","label":"noise","id":"00000006","parentId":"00000005","timestamp":"2026-11-22T15:29:46.000Z"}',
    '{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]},"id":"00000007","parentId":"00000006","timestamp":"2026-11-22T15:29:47.000Z"}',
    '{"type":"label","targetId":"00000005","label":"oil","id":"00000008","parentId":"00000007","timestamp":"2026-11-22T15:29:48.000Z"}',
    '{"type":"label","targetId":"00000003","id":"00000009","parentId":"00000008","timestamp":"2026-11-22T15:29:49.000Z"}',
]
FORK = [
    '{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Mend the gate"}]},"id":"00000001","parentId":null,"timestamp":"2026-11-22T15:29:41.000Z"}',
    '{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"It creaks."}]},"id":"00000003","parentId":"00000001","timestamp":"2026-11-22T15:29:43.000Z"}',
    '{"type":"compaction","summary":"A gate.","firstKeptEntryId":"00000003","tokensBefore":9,"id":"00000004","parentId":"00000003","timestamp":"2026-11-22T15:29:44.000Z"}',
    '{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Oil it"}]},"id":"00000005","parentId":"00000004","timestamp":"2026-11-22T15:29:45.000Z"}',
    '{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]},"id":"00000007","parentId":"00000005","timestamp":"2026-11-22T15:29:47.000Z"}',
    '{"type":"label","id":"A","parentId":"00000007","timestamp":"2026-11-22T15:29:42.000Z","targetId":"00000001","label":"begin"}',
    '{"type":"label","id":"B","parentId":"A","timestamp":"2026-11-22T15:29:48.000Z","targetId":"00000005","label":"oil"}',
]


class World:
    def __init__(self, program):
        self.home = tempfile.mkdtemp(prefix='pi-')
        self.folder = f'{self.home}/.pi/agent/sessions/--w--'
        self.path = f'{self.folder}/2026-11-22T15-29-40-000Z_s1.jsonl'
        os.makedirs(self.folder)
        self.p = Program(program, self.home, {})
        self.put([HEADER] + SOURCE)

    def put(self, rows):
        with open(self.path, 'w', encoding='utf-8') as f:
            f.writelines(row + '\n' for row in rows)

    def rows(self, path=None):
        with open(path or self.path, encoding='utf-8') as f:
            return f.read().splitlines()

    def texts(self):
        return [m['message']['content'][0]['text'] for m in self.p.json('messages', '--all', 's1') if m['type'] in ('user', 'assistant')]

    def refused(self, what, code, words, *args):
        before = self.rows()
        run = self.p.run(*args, '--all')
        self.p.same(what, (run.returncode, words in run.stderr.decode(), self.rows() == before, len(os.listdir(self.folder))), (code, True, True, 1))


def branch(row):
    """What an appended entry says, without its id and time."""
    entry = json.loads(row)
    assert len(entry.pop('id')) == 8 and entry.pop('timestamp')
    return entry


def check_resume_at(w):
    w.p.text('resume-at', '--all', 's1', '00000003')
    w.p.same('only appended', w.rows()[:-1], [HEADER] + SOURCE)
    w.p.same('the entry', branch(w.rows()[-1]), {'type': 'custom', 'customType': 'reprise', 'parentId': '00000003'})
    w.p.same('the conversation', w.texts(), ['Mend the gate', 'It creaks.'])
    w.p.same('its last prompt', w.p.json('list', '--all')[0]['lastPrompt'], 'Mend the gate')
    w.p.text('undo', '--all')
    w.p.same('undone', w.rows()[:len(SOURCE) + 1], [HEADER] + SOURCE)
    w.p.same('the last prompt again', w.p.json('list', '--all')[0]['lastPrompt'], 'Oil it')
    # Without leases (docs/architecture.md, "Portability") the entry is not cut off, and another names the leaf again.
    more = 2 if 'REPRISE_PORTABLE' in os.environ else 0
    w.p.same('undone: by which rows', (len(w.rows()), branch(w.rows()[-1])['parentId'] if more else '00000009'),
             (len(SOURCE) + 1 + more, '00000009'))
    leaf = json.loads(w.rows()[-1])['id'] if more else '00000009'
    w.p.text('resume-at', '--all', 's1', '--clear')
    w.p.same('an empty conversation', (branch(w.rows()[-1])['parentId'], w.texts()), (None, []))
    with open(w.path, 'a', encoding='utf-8') as f:
        f.write(SOURCE[0].replace('00000001', '0000000a') + '\n')
    w.p.text('undo', '--all')  # the session went on: the leaf is named again, and what came in between stays
    w.p.same('undone by an entry', (len(w.rows()), branch(w.rows()[-1])['parentId'], w.texts()),
             (len(SOURCE) + 4 + more, leaf, ['Mend the gate', 'It creaks.', 'Oil it', 'Done.']))
    w.put([HEADER] + SOURCE)


def check_fork(w):
    answer = w.p.json('fork', '--all', 's1', '--at', '00000007')
    rows = w.rows(answer['path'])
    header, marks = json.loads(rows[0]), [json.loads(row)['id'] for row in rows[-2:]]
    w.p.same('header', {k: v for k, v in header.items() if k != 'timestamp'},
             {'type': 'session', 'version': 3, 'id': answer['sessionId'], 'cwd': '/w', 'parentSession': w.path})
    w.p.same('name', os.path.basename(answer['path']), header['timestamp'].replace(':', '-').replace('.', '-') + f'_{header["id"]}.jsonl')
    w.p.same('version of the id', header['id'][14], '7')
    w.p.same('rows', [row.replace(marks[0], 'A').replace(marks[1], 'B') for row in rows[1:]], FORK)
    w.p.text('undo', '--all')
    w.p.same('undone', os.listdir(w.folder), [os.path.basename(w.path)])
    named = [HEADER] + SOURCE + ['{"type":"session_info","id":"0000000c","parentId":"00000009","timestamp":"2026-11-22T15:29:50.000Z","name":"Gate"}']
    w.put(named)
    answer = w.p.json('fork', '--all', 's1')
    w.p.same('title', [r['summary'] for r in w.p.json('list', '--all') if r['sessionId'] == answer['sessionId']], ['Gate (fork)'])
    w.p.text('undo', '--all')
    w.put([HEADER] + SOURCE)


def check_refused(w):
    w.refused('no such entry', 3, 'no', 'resume-at', 's1', 'deadbeef')
    w.refused('the header is no entry', 3, 'no such message', 'resume-at', 's1', 's1')
    w.put([HEADER.replace('"version":3', '"version":2')] + SOURCE)
    for args in ('resume-at', 's1', '00000003'), ('fork', 's1'):
        w.refused('an older version', 4, 'open it in pi first', *args)
    w.put([HEADER, SOURCE[1].replace('"00000001"', 'null')])
    w.refused('nothing to fork', 3, 'no messages', 'fork', 's1')


def check_places(w):
    """The settings name a directory without folders; a variable goes before them."""
    agent, flat = f'{w.home}/.pi/agent', f'{w.home}/flat'
    os.makedirs(agent, exist_ok=True)
    os.mkdir(flat)
    for id in 'f1', 'f2':
        with open(f'{flat}/2026-11-22T15-29-40-000Z_{id}.jsonl', 'w', encoding='utf-8') as f:
            f.write(''.join(row + '\n' for row in [HEADER.replace('"s1"', f'"{id}"')] + SOURCE))
    for dir, listed in (('~/flat', True), (flat, True), ('flat', True), ('elsewhere', False)):
        with open(f'{agent}/settings.json', 'w', encoding='utf-8') as f:
            json.dump({'sessionDir': dir}, f)
        w.p.same(f'sessions in {dir}', 'f1' in [r['sessionId'] for r in w.p.json('list', '--all', missing=[])], listed)
    p = Program(w.p.path, w.home, {'PI_CODING_AGENT_SESSION_DIR': '~/flat'})
    w.p.same('sessions by the variable', sorted(r['sessionId'] for r in p.json('list', '--all')), ['f1', 'f2'])


def main(program):
    w = World(program)
    try:
        for check in check_resume_at, check_fork, check_refused, check_places:
            check(w)
        w.p.finish(35)
    finally:
        shutil.rmtree(w.home)


if __name__ == '__main__':
    main(sys.argv[1])
