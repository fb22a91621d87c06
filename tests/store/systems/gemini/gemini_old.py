#!/usr/bin/env python3
"""Sessions of older versions of the Gemini CLI: one document each, in a folder that is named after a hash of the project's directory;
and sessions that begin with a command. The documents are MADE HERE, in the form that the present version still reads.

usage: gemini_old.py PROGRAM
"""
import hashlib
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..')]

from support.program import Program


def said(n, type, text, **more):
    return {'id': f'00000000-0000-4000-8000-{n:012}', 'timestamp': f'2025-10-01T10:00:{n:02}.000Z', 'type': type, 'content': text, **more}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def put(home, folder, number, messages, cwd, lines=False, **more):
    """A session of this number, as one document or as lines."""
    id = f'{number:08x}-1111-4222-8333-444444444444'
    about = {'sessionId': id, 'projectHash': hashlib.sha256(cwd.encode()).hexdigest(), 'startTime': '2025-10-01T10:00:00.000Z',
             'lastUpdated': f'2025-10-01T10:{number:02}:59.000Z', **more}
    path = f'{home}/.gemini/tmp/{folder}/chats/session-2025-10-01T10-00-{id[:8]}.json'
    if lines:
        write(path + 'l', ''.join(json.dumps(row) + '\n' for row in (about, *messages)))
    else:
        write(path, json.dumps({**about, 'messages': messages}, indent=2))
    return id


def check(p, home):
    cwd, other = f'{home}/app', f'{home}/Öfen'
    for directory in cwd, other:
        os.mkdir(directory)
    hashed = hashlib.sha256(cwd.encode()).hexdigest()
    write(f'{home}/.gemini/projects.json', json.dumps({'projects': {'relative': 'x', cwd: 'app', other: 'fen'}}))
    call = {'id': 'c1', 'name': 'read_file', 'args': {'absolute_path': f'{cwd}/a'}, 'status': 'success',
            'result': [{'functionResponse': {'response': {'output': 'shut'}}}]}
    gate = put(home, hashed, 1, [
        said(1, 'user', 'Mend the gate'), said(2, 'info', 'Update successful'),
        said(3, 'gemini', 'Mended.', toolCalls=[call], tokens={'input': 100, 'output': 7, 'cached': 60, 'thoughts': 3, 'tool': 0}, model='gemini-2.5-pro'),
        said(4, 'user', 'Oil it')], cwd)
    large = put(home, hashed, 2, [said(1, 'user', 'A long tale'), said(2, 'gemini', 'word ' * 600_000), said(3, 'user', 'The end')], cwd, summary='A tale')
    named = put(home, 'fen', 3, [said(1, 'user', '/help'), said(2, 'user', 'Bake'), said(3, 'gemini', 'Baked.')], other, lines=True)
    command = put(home, 'fen', 4, [said(1, 'user', '/stats'), said(2, 'info', 'no')], other, lines=True)
    answered = put(home, 'fen', 5, [said(1, 'user', '/plan'), said(2, 'gemini', 'A plan.')], other, lines=True)
    blank = put(home, 'fen', 6, [said(1, 'user', '   '), said(2, 'gemini', 'What?')], other, lines=True)
    nothing = put(home, 'fen', 7, [said(1, 'user', '   ')], other, lines=True)

    rows = p.json('list', '-C', cwd)
    p.same('sessions of a folder with a hash', [(r['sessionId'], r['cwd'], r['summary'], r['firstPrompt'], r['lastPrompt']) for r in rows],
           [(gate, cwd, 'Mend the gate', 'Mend the gate', 'Oil it'), (large, cwd, 'A tale', 'A long tale', 'The end')])
    p.same('whose directory is not known', [r.get('cwd') for r in p.json('list', '--all') if r['sessionId'] == gate], [None])
    rows = p.json('list', '-C', other, '--all-kinds')
    p.same('sessions of a folder without its directory', [(r['sessionId'], r['cwd'], r['summary'], r.get('kind')) for r in rows],
           [(named, other, 'Bake', None), (blank, other, blank, None), (answered, other, '/plan', None), (command, other, '/stats', 'empty'), (nothing, other, nothing, 'empty')])
    p.same('the conversation of a document', [l for l in p.text('messages', '-C', cwd, f'gemini:{gate}').splitlines() if l.startswith(('> ', 'Mended'))],
           ['> Mend the gate', 'Mended.', '> Oil it'])
    used = p.json('usage', '-C', cwd)
    p.same('its tokens', [(r['input'], r['output'], r['cacheRead']) for r in used], [(40, 10, 60)])


def check_expiry(p, home):
    """lastUpdated and the period of the settings, if the program would accept it."""
    last = 1_759_312_919_000  # 2025-10-01T10:01:59Z
    day = 24 * 60 * 60 * 1000
    for settings, days in ((None, 30), ('{}', 30), ('{"general": {"sessionRetention": {"maxAge": "2w"}}}', 14), ('// a comment\n{}', None),
                           ('{"general": {"sessionRetention": {"enabled": false}}}', None), ('{"general": {"sessionRetention": {"maxAge": "48h"}}}', 2),
                           ('{"general": {"sessionRetention": {"maxAge": "1h"}}}', None), ('{"general": {"sessionRetention": {"maxAge": "soon"}}}', None)):
        if settings:
            write(f'{home}/.gemini/settings.json', settings)
        row = next(r for r in p.json('list', '--all') if r['sessionId'].startswith('00000001'))
        p.same(f'expiry with {settings}', row.get('expiresAt'), last + days * day if days else None)
        odd = '1h' in (settings or '') or 'soon' in (settings or '')
        for command in 'list --all', 'doctor':
            r = p.run(*command.split())
            p.same(f'{command} names a period that is none in {settings}', b'maxAge is no period' in r.stdout + r.stderr, odd)


def main():
    with tempfile.TemporaryDirectory(prefix='gemini-old-') as home:
        home = os.path.realpath(home)
        p = Program(sys.argv[1], home, {'XDG_STATE_HOME': f'{home}/state'})
        check(p, home)
        check_expiry(p, home)
    p.finish(29)


main()
