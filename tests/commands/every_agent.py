#!/usr/bin/env python3
"""Search, export, usage, files, touched and blame answer for the sessions of every system; the screen's half is screen/every_agent.sh.

usage: every_agent.py PROGRAM
"""
import json
import os
import sys
import tempfile

from support import checks
from support.fixture_homes import replace
from table import TABLE, World

# world: a word of a prompt, and one that also occurs in the session; the tokens of the session (None: none are recorded,
# or the number of the refusal); a file that it wrote, with the numbers of its lines and of those that it wrote.
FACTS = {
    'claude': ('many files', 'Reading', [7620, 252, 0, 0], 'created.txt', 2, 2),
    'shipped': ('print a greeting', 'read it first', [4800, 1360, 0, 0], 'src/main.go', 5, 3),
    'spec': ('also add a new', 'Editing', None, 'made.txt', 2, 2),
    'doc': ('Change the', 'Done', None, 'made.txt', 2, 2),
    'exathena': ('config & add', 'update the config', 4, 'lib/new/created.ex', 3, 3),
    'two-sessions': ('a login function', 'Added login', [30, 120, 60, 90], 'src/login.c', 1, 1),
    'migration': ('Add a parser', 'Parser added', [20, 80, 40, 60], 'src/parse.c', 1, 1),
    'edge': ('linked tree', 'wt.c', None, None, 0, 0),
    'committed': ('Implement login', 'validate', [20, 80, 40, 60], None, 0, 0),
    'refs-ulid': ('Bump dependencies', 'Bumped', [10, 40, 20, 30], None, 0, 0),
}
WITH_AGENTS = ['two-sessions', 'committed']
ADDED = [
    {'uuid': 'w-1', 'timestamp': '2026-02-09T03:00:00Z', 'role': 'user', 'content': 'Write one more'},
    {'uuid': 'w-2', 'timestamp': '2026-02-09T03:00:01Z', 'role': 'assistant', 'content': '', 'tool_calls': [
        {'id': 'call_9', 'type': 'function',
         'function': {'name': 'Write', 'arguments': '{"file_path":"made.txt","content":"one\\ntwo\\n"}'}}]},
    {'uuid': 'w-3', 'timestamp': '2026-02-09T03:00:02Z', 'role': 'tool', 'content': 'ok', 'tool_call_id': 'call_9'},
]


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def prepare(w):
    """Where a recording has no edit, or one of a directory that is not there, it gets one."""
    if w.name in ('spec', 'doc'):
        for folder, _, names in os.walk(f'{w.top}/home/.claude/projects'):
            if 'messages.jsonl' in names and os.path.basename(folder) == w.sid:
                with open(f'{folder}/messages.jsonl', 'a', encoding='utf-8') as f:
                    f.write(''.join(json.dumps(row) + '\n' for row in ADDED))
        put(f'{w.dir}/made.txt', 'one\ntwo\n')
    if w.name == 'doc':
        put(f'{w.top}/home/.claude/projects/doc/sessions/abc-124/messages.jsonl',
            ''.join(json.dumps({**row, 'timestamp': row['timestamp'].replace('T03', 'T04')}) + '\n' for row in ADDED))
    if w.name in ('two-sessions', 'migration'):
        for store in f'{w.top}/home/.claude', f'{w.dir}/.entire':
            replace(store, '/srv/demo', w.dir, '.jsonl')
        put(f'{w.dir}/{FACTS[w.name][3]}', '...')


def lines(run):
    return [json.loads(line) for line in run.stdout.splitlines()]


def search(c, w):
    word, other, *_ = FACTS[w.name]

    def found(what, *args, some=True):
        run = w.run('search', '--json', *args)
        hits = [h for h in lines(run) if (h['system'], h['session']) == (w.system, w.sid)]
        c.same(f'{w.name}: search {what}', (run.returncode, bool(hits)), (not run.stdout, some))
        return hits

    hits = found('for a prompt', '-F', word)
    for h in hits:
        cut = [h['line'].encode()[a:b].decode() for a, b in h['matches']]
        c.same(f'{w.name}: search: the range is the match', set(cut), {word})
    found('in prompts', '-F', '--in', 'prompts', word)
    found('in thinking', '-F', '--in', 'thinking', word, some=False)
    found('everywhere', '-F', '--in', 'all', '--all', other)
    found('-i', '-i', '-F', word.upper())
    found('-s', '-s', '-F', word.swapcase(), some=False)
    found('-w', '-w', '-F', word)
    found('-w of a part', '-w', '-F', word[1:], some=False)
    found('a pattern', word[0] + '.' + word[2:].replace(' ', r'\s'))
    found('both', '-e', word, '-e', other)
    found('both, of which one does not occur', '-e', word, '-e', 'nosuchword', some=False)
    found('any', '--any', '-e', word, '-e', 'nosuchword')
    found('this system', '--system', w.system, '-F', word)
    found('another system', '--system', 'exathena' if w.system != 'exathena' else 'goat', '-F', word, some=False)
    found('since', '--since', '2020-01-01', '-F', word)
    found('before', '--before', '2020-01-01', '-F', word, some=False)
    found('a tag', '--tag', 'nosuchtag', '-F', word, some=False)
    found('a branch', '--branch', 'nosuchbranch', '-F', word, some=False)
    found('archived', '--archived', '-F', word, some=False)
    found('in a project', '--project', f'{w.top}/wt/test-wt' if w.name == 'edge' else w.dir, '-F', word)
    found('in another', '--project', '/nowhere', '-F', word, some=False)
    counts = [r['lines'] for r in lines(w.run('search', '--json', '--count', '-F', word)) if r['session'] == w.sid]
    c.same(f'{w.name}: search --count', counts, [len(hits)])
    ids = w.run('search', '--sessions', '-F', word).stdout.decode().split()
    c.same(f'{w.name}: search --sessions', w.sid in ids, True)
    c.same(f'{w.name}: search --limit', len(lines(w.run('search', '--json', '--limit', '1', '-F', word))), 1)
    context = w.run('search', '--context', '1', '-F', word)
    c.same(f'{w.name}: search as text', (context.returncode, word in context.stdout.decode()), (0, True))
    c.same(f'{w.name}: search, a wrong pattern', w.run('search', '(').returncode, 2)


def export(c, w):
    word = FACTS[w.name][0]
    marks = {'md': '# ', 'html': '<!DOCTYPE html>', 'txt': 'Session: ', 'jsonl': '{'}
    written = {}
    for form, mark in marks.items():
        run = w.run('export', w.id, '--format', form)
        text = written[form] = run.stdout.decode('utf-8', 'replace')
        said = word.replace('&', '&amp;') if form == 'html' else word.replace('&', '\\&') if form == 'md' else word
        c.same(f'{w.name}: export as {form}', (run.returncode, mark.lower() in text.lower(), said in text or word in text),
               (0, True, True))
        into = f'{w.top}/out.{form}'
        run = w.run('export', w.id, '-o', into)
        with open(into, 'rb') as f:
            c.same(f'{w.name}: export into {form}', (run.returncode, f.read().decode('utf-8', 'replace')), (0, text))
        c.same(f'{w.name}: export keeps what is there', w.run('export', w.id, '-o', into).returncode, 4)
    sizes = {t: len(w.run('export', w.id, '--format', 'html', '--tools', t).stdout) for t in ('none', 'folded', 'full')}
    c.same(f'{w.name}: export --tools', sizes['none'] <= min(sizes['folded'], sizes['full']), True)
    for more in ['--thinking'], ['--with-subagents'], ['--redact']:
        run = w.run('export', w.id, *more)
        c.same(f'{w.name}: export {more[0]}', (run.returncode, word.split()[0] in run.stdout.decode()), (0, True))
    more = w.run('export', w.id, '--with-subagents').stdout.decode('utf-8', 'replace')
    c.same(f'{w.name}: export --with-subagents', len(more) > len(written['md']), w.name in WITH_AGENTS)
    said = w.json('messages', w.id)
    ids = [m['uuid'] for m in said if m.get('uuid')]
    whole, first, rest = (w.run('export', w.id, '--format', 'txt', *part) for part in
                          ([], ['--to', '#1'], ['--from', '#2']))
    c.same(f'{w.name}: export --from, --to', ([r.returncode for r in (whole, first, rest)],
                                              max(len(first.stdout), len(rest.stdout)) < len(whole.stdout)), ([0, 0, 0], True))
    c.same(f'{w.name}: export --from by id', w.run('export', w.id, '--from', ids[0]).returncode, 0)
    run = w.run('export', w.id, '--branch', 'nosuchmessage')  # branches that there are: export.py
    c.same(f'{w.name}: export --branch', (run.returncode, b'branch' in run.stderr or b'no such message' in run.stderr),
           (3 if w.system == 'claude' else 4, True))


def usage(c, w):
    want = FACTS[w.name][2]
    run = w.run('usage', w.id)
    if isinstance(want, list):
        c.same(f'{w.name}: usage', (run.returncode, [int(x) for x in run.stdout.split()[:4]]), (0, want))
    elif want:
        c.same(f'{w.name}: usage is refused', (run.returncode, b'records no tokens' in run.stderr), (want, True))
    else:
        c.same(f'{w.name}: usage of none', (run.returncode, run.stdout, b'records no tokens' in run.stderr), (0, b'', True))
    for by in 'day', 'session', 'model', 'project':
        run = w.run('usage', '--by', by, '--all', '--json')
        c.same(f'{w.name}: usage by {by}', (run.returncode, bool(json.loads(run.stdout))),
               (0, isinstance(want, list)))


def edits(c, w):
    name, count, own = FACTS[w.name][3:]
    if not name:
        name = {'edge': '/srv/demo/wt.c', 'committed': '/srv/demo/src/login.c'}.get(w.name)
        path = name
    else:
        path = f'{w.dir}/{name}'
    paths = [f['path'] for f in w.json('files', w.id)]
    c.same(f'{w.name}: files', path in paths if path else paths, True if path else [])
    if not path:
        return
    for asked in path, os.path.dirname(path):
        sessions = {(t['system'], t['session']) for t in w.json('touched', asked) if t['path'] == path}
        # An edit that Entire committed with two sessions is named once.
        c.same(f'{w.name}: touched {os.path.basename(asked)}',
               any(t[0] == w.system if w.name == 'committed' else t == (w.system, w.sid) for t in sessions), True)
    if w.name == 'doc':
        c.same('two sessions whose calls have the same number', sorted(t['session'] for t in w.json('touched', path)),
               ['abc-123', 'abc-124'])
    text = w.run('touched', os.path.dirname(path)).stdout.decode()
    c.same(f'{w.name}: touched names the file below a directory', os.path.basename(path) in text, True)
    if not count:
        return
    blamed = w.json('blame', name)
    c.same(f'{w.name}: blame', (len(blamed), sum(r.get('session') == w.sid for r in blamed)), (count, own))
    c.same(f'{w.name}: blame of a line', w.json('blame', f'{name}:1-1'), blamed[:1])
    run = w.run('blame', '--porcelain', name)
    c.same(f'{w.name}: blame --porcelain', (run.returncode, run.stdout.count(b'\n\t')), (0, count))


def main():
    c = checks.Checks()
    for name in TABLE:
        with tempfile.TemporaryDirectory() as top:
            w = World(sys.argv[1], name, os.path.realpath(top))
            prepare(w)
            before = w.image()
            for part in search, usage, edits:
                part(c, w)
            c.same(f'{name}: nothing was changed', w.image(), before)
            export(c, w)
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(1 if c.failed or c.passed < 500 else 0)


if __name__ == '__main__':
    main()
