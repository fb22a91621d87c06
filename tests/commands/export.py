#!/usr/bin/env python3
"""`reprise export`: every format, every option, and nothing of a session that becomes markup.

usage: export.py PROGRAM [chromium]

With "chromium" the HTML is rendered by a headless Chromium, whose tree is looked at; without one the test is skipped (77).
"""
import html.parser
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

from support.program import Program, snapshot

ID = '11111111-0000-4000-8000-000000000001'
EVIL = ('</script><script>document.title="PWNED"</script><img src=x onerror="document.title=\'PWNED\'"></title></style></details>'
        '</pre></article> \x1b[31mred\x1b[0m\x1b]0;t\x07 \u202edelrevo\u202c \u200bzw ```` `x` **b** [l](javascript:alert(1))')
KEY = 'ghp_' + 'aB1c' * 9
REPLY = f'''# Plan

Some *emphasis* and `code`, [good](https://example.org/?a=1&b=2), [bad](javascript:alert(1)), ![img](https://evil.test/t.png).

| a | b |
|---|:-:|
| 1 | 2 |

<script>document.title="PWNED"</script>

```js
an open fence {EVIL}'''


class Talk:
    """The rows of a session, linked one after the other."""

    def __init__(self, session=ID, first=1, **more):
        self.session, self.count, self.last, self.rows, self.more = session, first - 1, None, [], more

    def add(self, kind, content, parent=None, **more):
        self.count += 1
        uuid = f'{self.count:08x}-aaaa-4000-8000-000000000000'
        self.rows.append({'parentUuid': parent or self.last, 'isSidechain': False, 'type': kind, 'uuid': uuid, 'sessionId': self.session,
                          'cwd': '/w', 'gitBranch': 'main', 'version': '2.0.0', 'timestamp': f'2026-03-01T10:{self.count // 60:02}:{self.count % 60:02}.000Z',
                          'message': {'role': kind, 'content': content}, **self.more, **more})
        self.last = uuid
        return uuid

    def bytes(self):
        return ''.join(json.dumps(r) + '\n' for r in self.rows).encode()


def talk():
    t = Talk()
    t.add('user', 'First prompt\n\n    indented\n# no heading ' + EVIL)
    t.add('assistant', [{'type': 'thinking', 'thinking': 'A secret thought ' + EVIL, 'signature': 'x'}])
    t.add('assistant', [{'type': 'text', 'text': REPLY}])
    t.add('assistant', [{'type': 'tool_use', 'id': 't1', 'name': 'Bash', 'input': {'command': 'npm test; echo ' + EVIL}}])
    t.add('user', [{'type': 'tool_result', 'tool_use_id': 't1', 'content': 'Exit code 2\nOUTPUT ' + EVIL, 'is_error': True}])
    t.add('assistant', [{'type': 'tool_use', 'id': 't2', 'name': 'Edit', 'input': {'file_path': '/w/src/a.c', 'old_string': 'int b;', 'new_string': 'long b; // </code>'}}])
    t.add('user', [{'type': 'tool_result', 'tool_use_id': 't2', 'content': 'ok'}],
          toolUseResult={'structuredPatch': [{'oldStart': 3, 'oldLines': 1, 'newStart': 3, 'newLines': 1, 'lines': ['-int b;', '+long b; // </code>']}]})
    t.add('assistant', [{'type': 'tool_use', 'id': 't3', 'name': 'Task', 'input': {'description': 'Look around', 'prompt': 'look'}}])
    t.add('user', [{'type': 'tool_result', 'tool_use_id': 't3', 'content': 'looked'}], toolUseResult={'agentId': 'ab12cd34'})
    t.left = t.add('user', 'A prompt that was left ' + EVIL)
    t.add('user', 'The prompt that stayed', parent=t.rows[-2]['uuid'])
    t.add('assistant', [{'type': 'text', 'text': f'The key is {KEY}. Afterwards **still** fine.'}])
    t.rows.append({'type': 'custom-title', 'customTitle': f'Hostile {EVIL} `title` | *x* {KEY}', 'sessionId': ID})
    return t


def build(top):
    folder = f'{top}/config/projects/-w'
    os.makedirs(f'{folder}/{ID}/subagents')
    t = talk()
    broken = b'{"type":"user","uuid":"broken \xff\xfe \x1b]0;t\x07</pre>\n'
    with open(f'{folder}/{ID}.jsonl', 'wb') as f:
        f.write(t.bytes() + broken + b'{"torn":')
    sub = Talk(first=100, isSidechain=True, agentId='ab12cd34')
    sub.add('user', 'Look around ' + EVIL)
    sub.add('assistant', [{'type': 'text', 'text': 'SUBAGENT ' + EVIL}])
    with open(f'{folder}/{ID}/subagents/agent-ab12cd34.jsonl', 'wb') as f:
        f.write(sub.bytes())
    return t, f'{folder}/{ID}.jsonl'


# ---- HTML ----

TAGS = set('html head meta title style body h1 h2 h4 h5 h6 dl dt dd main article header b time a div p br em strong code del pre span '
           'details summary table thead tbody tr th td ul ol li blockquote hr nav'.split())
VOID = {'meta', 'br', 'hr'}
ATTRIBUTES = {'lang', 'charset', 'http-equiv', 'content', 'name', 'class', 'id', 'href', 'rel', 'dir', 'open', 'start'}


class Page(html.parser.HTMLParser):
    """Collects the tags of a page, and what is not one of ours."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.stack, self.foreign, self.ids, self.links, self.classes, self.text = [], [], [], [], [], {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in TAGS or set(attributes) - ATTRIBUTES:
            self.foreign.append((tag, attrs))
        if tag not in VOID:
            self.stack.append(tag)
        self.ids += [attributes['id']] if 'id' in attributes else []
        self.links += [attributes['href']] if 'href' in attributes else []
        self.classes += (attributes.get('class') or '').split()

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.foreign.append(('closes', tag))

    def handle_data(self, data):
        where = self.stack[-1] if self.stack else ''
        self.text[where] = self.text.get(where, '') + data

    def handle_comment(self, data):
        self.foreign.append(('comment', data))


def check_page(p, what, page):
    seen = Page(page)
    p.same(f'{what}: tags', (seen.foreign, seen.stack), ([], []))
    p.same(f'{what}: anchors are unique', len(seen.ids), len(set(seen.ids)))
    p.need(all(re.match(r'https?://|mailto:|#', link) for link in seen.links), f'{what}: links {seen.links}')
    p.need(all(link[1:] in seen.ids for link in seen.links if link.startswith('#')), f'{what}: links within {seen.links}')
    p.need("default-src 'none'" in page and 'script-src' not in page, f'{what}: no policy')
    return seen


def clean(p, what, text):
    bad = sorted({f'{ord(c):x}' for c in text if (ord(c) < 32 and c not in '\n\t') or 0x7f <= ord(c) < 0xa0 or 0x2028 <= ord(c) <= 0x202e
                  or 0x200b <= ord(c) <= 0x200f or 0x2066 <= ord(c) <= 0x2069})
    p.same(f'{what}: characters that act or hide', bad, [])


def documents(p):
    for fmt in ('md', 'html', 'txt'):
        for tools in ('folded', 'none', 'full'):
            for extra in ([], ['--thinking'], ['--with-subagents'], ['--redact']):
                what = f'{fmt} {tools} {extra}'
                run = p.run('export', ID, '--format', fmt, '--tools', tools, *extra)
                p.same(f'{what}: exit', run.returncode, 0)
                text = run.stdout.decode('utf-8')
                clean(p, what, text)
                if fmt == 'html':
                    check_page(p, what, text)
                p.need('The prompt that stayed' in text and 'A prompt that was left' not in text, f'{what}: the conversation')
                p.same(f'{what}: thinking', 'A secret thought' in text, '--thinking' in extra)
                p.same(f'{what}: tools', 'npm test' in text, tools != 'none')
                p.same(f'{what}: results', 'OUTPUT' in text, tools == 'full' or (tools == 'folded' and fmt != 'txt'))
                p.same(f'{what}: sub-agent', 'SUBAGENT' in text, '--with-subagents' in extra)
                p.same(f'{what}: secret', KEY in text, '--redact' not in extra)
                if '--redact' in extra:
                    p.need(re.search(rb'^reprise: \d+ secrets were redacted: .*\d+ github token', run.stderr), f'{what}: {run.stderr!r}')


def markdown(p):
    text = p.run('export', ID).stdout.decode()
    rest = re.sub(r'(?m)^(`{3,}).*\n(?:.*\n)*?\1$', '', text)  # without its blocks of code
    tags = set(re.findall(r'(?<!\\)<[/a-zA-Z!?][^>]*>', re.sub(r'\(<[^>]*>\)', '()', rest)))
    p.same('md: tags', tags - {'<span class="sign">', '</span>'},
           {'<details>', '</details>', '<summary>', '</summary>', '<b>', '</b>', '<code>', '</code>'})
    p.same('md: details are closed', rest.count('<details>'), rest.count('</details>'))
    p.need('](javascript' not in re.sub(r'\\\]', '', rest) and '![' not in rest, 'md: a link of a foreign scheme, or an image')
    p.need('`````js\n' in text and '\n`````\n' in text, 'md: the fence is longer than what it holds')
    p.need('```diff\n@@ -3,1 +3,1 @@\n-int b;\n+long b; // </code>\n```' in text, 'md: the diff')


# ---- which part ----

def parts(p, t, path):
    with open(path, 'rb') as f:
        whole = f.read()
    lines = whole.split(b'\n')
    uuid = [r.get('uuid') for r in t.rows]
    p.same('jsonl: the bytes of the file', p.run('export', ID, '--format', 'jsonl').stdout, whole)
    with_sub = p.run('export', ID, '--format', 'jsonl', '--with-subagents').stdout
    p.need(with_sub.startswith(whole + b'\n') and with_sub.endswith(b'}\n') and b'SUBAGENT' in with_sub, 'jsonl: with the sub-agent')
    part = p.run('export', ID, '--format', 'jsonl', '--from', uuid[2], '--to', uuid[4][:12]).stdout
    p.same('jsonl: a part', part, b'\n'.join(lines[2:5]) + b'\n')
    p.same('jsonl: by number', p.run('export', ID, '--format', 'jsonl', '--from', '#3', '--to', '#5').stdout, part)
    branch = p.run('export', ID, '--format', 'jsonl', '--branch', t.left).stdout
    p.need(branch.endswith(lines[9] + b'\n' + lines[-2] + b'\n') and b'stayed' not in branch and branch.startswith(lines[0]), f'jsonl: a branch: {branch[-900:]!r}')
    text = p.run('export', ID, '--branch', t.left[:10]).stdout.decode()
    p.need('A prompt that was left' in text and 'The prompt that stayed' not in text, 'md: a branch')
    clean_rows = p.run('export', ID, '--format', 'jsonl', '--redact').stdout
    p.same('jsonl: redacted', clean_rows.count(b'REDACTED') >= 2 and KEY.encode() not in clean_rows, True)
    p.same('jsonl: rows without a secret keep their bytes', clean_rows.split(b'\n')[3], lines[3])
    for args, code, why in ((['--from', 'nonesuch'], 3, 'no such message'), (['--from', '0000'], 2, 'several messages'),
                            (['--from', uuid[4], '--to', uuid[2]], 2, 'before the first'), (['--branch', uuid[0]], 3, 'no such message'),
                            (['--from', '#99'], 3, 'no such message'), (['--from', ''], 3, 'no such message'),
                            (['--format', 'jsonl', '--tools', 'none'], 2, 'not for jsonl'), (['--format', 'pdf'], 2, 'must be md, html, txt or jsonl'),
                            (['--json'], 2, 'needs --output')):
        run = p.run('export', ID, *args)
        p.need((run.returncode, run.stdout) == (code, b'') and why in run.stderr.decode(), f'{args}: {run}')


# ---- files ----

def files(p, path):
    before = snapshot(os.path.dirname(os.path.dirname(path)))
    run = p.run('export', ID, '-o', 'out.html')
    p.same('-o: prints the name', (run.returncode, run.stdout), (0, b'out.html\n'))
    out = f'{p.home}/out.html'
    with open(out, 'rb') as f:
        first = f.read()
    p.need(first.startswith(b'<!DOCTYPE html>'), '-o: the format is that of the name')
    p.same('-o: mode', stat.S_IMODE(os.stat(out).st_mode), 0o600)
    run = p.run('export', ID, '-o', 'out.html', '--format', 'md')
    p.need(run.returncode == 4 and b'the file exists' in run.stderr, f'-o: an existing file: {run}')
    with open(out, 'rb') as f:
        p.same('-o: an existing file is kept', f.read(), first)
    # As on a full disk: the former file stays, and no part of a new one is left.
    no_room = {'preexec_fn': lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))}
    run = p.run('export', ID, '-o', 'out.html', '--force', **no_room)
    with open(out, 'rb') as f:
        p.same('-o: without room the file is kept', (run.returncode, f.read()), (1, first))
    p.same('-o: without room there is no new file', p.run('export', ID, '-o', 'new.html', **no_room).returncode, 1)
    answer = p.json('export', ID, '-o', 'out.html', '--format', 'md', '--force', '--redact')
    with open(out, 'rb') as f:
        data = f.read()
    p.same('--force', (answer['bytes'], answer['format'], data[:2]), (len(data), 'md', b'# '))
    p.need(any(r['kind'] == 'github token' and r['count'] >= 2 for r in answer['redacted']), f'--json: {answer}')
    os.symlink(out, f'{p.home}/link')
    os.mkdir(f'{p.home}/folder')
    for name, code in (('link', 4), ('folder', 4), ('none/x.md', 3), ('', 2), ('link/', 1), (path, 4),
                       (f'{os.path.dirname(path)}/{ID}/x.md', 4)):
        run = p.run('export', ID, '-o', name, '--force')
        p.need(run.returncode == code and run.stdout == b'', f'-o {name!r}: {run}')
    p.same('files that are left', sorted(n for n in os.listdir(p.home) if n not in ('config', 'state', 'data')), ['folder', 'link', 'out.html'])
    p.same('the store is untouched', snapshot(os.path.dirname(os.path.dirname(path))), before)
    p.same('-o -', p.run('export', ID, '-o', '-').stdout, p.run('export', ID).stdout)


def several(p, path):
    """Several sessions go into a directory, one file each; no file is replaced without a word."""
    other, folder = ID[:-1] + '9', os.path.dirname(path)
    with open(f'{folder}/{other}.jsonl', 'wb') as f:
        t = Talk(other)
        t.add('user', 'Another talk')
        f.write(t.bytes())
    out = f'{p.home}/several'
    run = p.run('export', ID, other, ID, '-o', 'several/')
    names = run.stdout.decode().split('\n')[:-1]
    p.need(run.returncode == 0 and len(names) == 2, f'several: {run}')
    p.same('several: files', sorted(os.listdir(out)), sorted(os.path.basename(n) for n in names))
    p.need('another-talk-11111111.md' in os.listdir(out), f'several: names {names}')
    p.same('several: mode', {stat.S_IMODE(os.stat(f'{out}/{n}').st_mode) for n in os.listdir(out)}, {0o600})
    with open(f'{out}/another-talk-11111111.md', 'rb') as f:
        p.same('several: the same document', f.read(), p.run('export', other).stdout)
    with open(f'{out}/another-talk-11111111.md', 'wb') as f:
        f.write(b'mine')
    rows = p.json('export', other, ID, '-o', 'several')
    p.same('several: --json', [r['sessionId'] for r in rows], [other, ID])
    p.same('several: a name that is taken gets a number', rows[0]['file'], 'several/another-talk-11111111-2.md')
    with open(f'{out}/another-talk-11111111.md', 'rb') as f:
        p.same('several: the file that had it is kept', f.read(), b'mine')
    p.same('one into a directory', p.run('export', other, '-o', 'several/').stdout, b'several/another-talk-11111111-3.md\n')
    run = p.run('export', other, '-o', 'several/', '--force')
    with open(f'{out}/another-talk-11111111.md', 'rb') as f:
        p.need(run.returncode == 0 and f.read() != b'mine', f'several: --force: {run}')
    count = len(os.listdir(out))
    for args, code, why in (([ID, other], 2, 'need --output'), ([ID, other, '-o', '-'], 2, 'need --output'),
                            ([ID, other, '-o', 'several', '--from', '#1'], 2, 'only one session'),
                            ([ID, 'ffffffff', '-o', 'several'], 3, 'ffffffff'), ([ID, other, '-o', ''], 2, 'not the name')):
        run = p.run('export', *args)
        p.need(run.returncode == code and run.stdout == b'' and why in run.stderr.decode(), f'several {args}: {run}')
    p.same('several: refused requests write nothing', len(os.listdir(out)), count)
    # One for which there is no room is reported, and the other is written.
    run = p.run('export', ID, other, '-o', 'rest', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
    p.need(run.returncode == 1 and run.stderr and os.listdir(f'{p.home}/rest') == ['another-talk-11111111.md'], f'several: no room for one: {run}')
    shutil.rmtree(f'{p.home}/rest')
    os.remove(f'{folder}/{other}.jsonl')
    shutil.rmtree(out)


def documents_in(folder):
    return [n for n in os.listdir(folder) if n.endswith('.md')]


def writes_file(pid, folder):
    """Whether the process is writing a file in the folder that does not have its name yet."""
    for fd in os.listdir(f'/proc/{pid}/fd'):
        try:
            target = os.readlink(f'/proc/{pid}/fd/{fd}')
            if target.startswith(folder + '/') and not target.endswith('.md') and os.stat(f'/proc/{pid}/fd/{fd}').st_size:
                return True
        except OSError:
            pass
    return False


def stopped_in_the_middle(p, args, out, done, ignored):
    """An export that was stopped while it writes a file, behind so many that are complete. One that is through before is repeated."""
    while True:
        for name in os.listdir(out):
            os.remove(f'{out}/{name}')
        run = subprocess.Popen(args, cwd=p.home, env=p.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) if ignored else None)
        while run.poll() is None and not (len(documents_in(out)) == done and writes_file(run.pid, out)):
            pass
        run.send_signal(signal.SIGSTOP)
        if run.poll() is None and len(documents_in(out)) == done:
            return run
        run.kill()
        run.communicate()


def interrupted(p, path):
    """A signal in the middle of a long export leaves nothing of the file behind, and complete files as they are."""
    long, folder, out = ID[:-1] + '8', os.path.dirname(path), f'{p.home}/long'
    t = Talk(long)
    for i in range(400):
        t.add('user', f'prompt {i}')
        t.add('assistant', [{'type': 'text', 'text': 'A *word* of `many`, and another.\n' * 5000}])
    with open(f'{folder}/{long}.jsonl', 'wb') as f:
        f.write(t.bytes())
    os.mkdir(out)
    for number, ids, want, ignored in ((signal.SIGINT, [long], [], False), (signal.SIGTERM, [ID, long], [f'-{ID[:8]}.md'], False),
                                       (signal.SIGHUP, [long], [], True)):
        run = stopped_in_the_middle(p, [p.path, 'export', *ids, '-o', 'long/' if len(ids) > 1 else 'long/long.md'], out, len(want), ignored)
        run.send_signal(number)
        run.send_signal(signal.SIGCONT)
        said, names = run.communicate(), sorted(os.listdir(out))
        if ignored:  # as by nohup
            p.same(f'{number}: ignored', (run.returncode, names), (0, ['long.md']))
        else:
            p.same(f'{number}: how it ends', (run.returncode, said[1]), (128 + number, b''))
            p.need(len(names) == len(want) and all(n.endswith(w) for n, w in zip(names, want)), f'{number}: files {names}')
    shutil.rmtree(out)
    os.remove(f'{folder}/{long}.jsonl')


def empty(p):
    other = ID[:-1] + '2'
    with open(f'{p.home}/config/projects/-w/{other}.jsonl', 'wb') as f:
        f.write(json.dumps({'type': 'summary', 'summary': 'nothing', 'leafUuid': 'x'}).encode() + b'\n')
    for fmt in ('md', 'html', 'txt', 'jsonl'):
        run = p.run('export', other, '--format', fmt)
        p.need(run.returncode in (0, 3) and b'Traceback' not in run.stderr, f'empty session, {fmt}: {run}')
    p.same('no such session', p.run('export', 'ffffffff').returncode, 3)


# ---- Chromium ----

def chromium(p, program):
    out = f'{p.home}/page.html'
    run = p.run('export', ID, '-o', out, '--tools', 'full', '--thinking', '--with-subagents')
    p.same('page', run.returncode, 0)
    base = [program, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', f'--user-data-dir={p.home}/chromium']
    tree = subprocess.run([*base, '--dump-dom', f'file://{out}'], capture_output=True, timeout=120, check=False, env={**os.environ, 'HOME': p.home})
    dom = tree.stdout.decode('utf-8', 'replace')
    if tree.returncode != 0 or '<main>' not in dom:
        print(f'Chromium does not run here: {tree.stderr[-300:]!r}')
        sys.exit(77)
    seen = Page(dom)
    p.same('Chromium: tags', (seen.foreign, seen.stack), ([], []))
    p.need('PWNED' not in seen.text['title'].replace('document.title="PWNED"', '').replace("document.title='PWNED'", ''), 'Chromium: a script ran')
    p.need({'m1', 'm3', 's1', 's1m1'} <= set(seen.ids), f'Chromium: anchors {seen.ids}')
    p.need({'add', 'del', 'hunk', 'tool', 'thinking', 'prompt', 'sign'} <= set(seen.classes), f'Chromium: classes {seen.classes}')
    with open(out, encoding='utf-8') as f:
        plain = Page(f.read())
    p.same('Chromium: it reads the text that was written', {k: v for k, v in seen.text.items() if k not in ('html', 'head', 'body')},
           {k: v for k, v in plain.text.items() if k not in ('html', 'head', 'body')})
    for name, more in (('light', []), ('dark', ['--blink-settings=preferredColorScheme=0'])):
        picture = f'{p.home}/{name}.png'
        subprocess.run([*base, *more, '--window-size=800,600', f'--screenshot={picture}', f'file://{out}'], capture_output=True,
                       timeout=120, check=False, env={**os.environ, 'HOME': p.home})
        p.need(os.path.exists(picture) and os.path.getsize(picture) > 10000, f'Chromium: {name} picture')
    light, dark = (corner(f'{p.home}/{n}.png') for n in ('light', 'dark'))
    p.need(min(light) > 240 and max(dark) < 40, f'Chromium: the corner is {light} and {dark}: the style does not apply')


def corner(path):
    """The colour of the first pixel of a PNG."""
    import struct
    import zlib
    with open(path, 'rb') as f:
        data = f.read()
    at, packed = 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b'IDAT' else b''
        at += 12 + size
    return zlib.decompress(packed)[1:4]  # the first row's filter adds to nothing at its first pixel


def main():
    program = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    browser = sys.argv[2:] == ['chromium']
    if browser and not program:
        print('skipped: there is no Chromium')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as top:
        t, path = build(top)
        p = Program(sys.argv[1], top, {'CLAUDE_CONFIG_DIR': f'{top}/config', 'XDG_STATE_HOME': f'{top}/state', 'XDG_DATA_HOME': f'{top}/data'})
        if browser:
            chromium(p, program)
            p.finish(8)
        documents(p)
        markdown(p)
        parts(p, t, path)
        files(p, path)
        several(p, path)
        interrupted(p, path)
        empty(p)
        p.finish(300)


main()
