#!/usr/bin/env python3
"""Bundles that lie: nothing of them is written anywhere, and each is refused with one line.

usage: bundle_hostile.py PROGRAM

Each bundle is made from a true one by one change; the true one, made by the same code, is accepted.
"""
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile

from project_move import claude, session_id
from resume_by_id import World, flat
from support.program import snapshot


def pack(path, entries, manifest, tail=b'', form=tarfile.PAX_FORMAT, raw=None):
    """Writes a bundle; an entry is a name and bytes, or a tarfile.TarInfo."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=form) as tar:
        for name, body in [('manifest.json', manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()), *entries]:
            if isinstance(name, tarfile.TarInfo):
                tar.addfile(name)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    body = out.getvalue().rstrip(b'\0')
    body += bytes(-len(body) % 512)
    body = (raw or (lambda b: b))(body + bytes(1024)) + tail
    with open(path, 'wb') as f:
        f.write(subprocess.run(['zstd', '-cq', '--ultra', '-3'], input=body, check=True, capture_output=True).stdout)


def special(name, kind, target=''):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, None


class Truth:
    """What a true bundle has, to be changed."""

    def __init__(self, w):
        cwd = f'{w.top}/p'
        os.makedirs(cwd)
        path = claude(w, 1, cwd)
        self.top, self.cwd = f'projects/{flat(cwd)}', cwd
        self.files = []
        for where in (f'{self.top}/{session_id(1)}.jsonl', f'{self.top}/{session_id(1)}/subagents/agent-a1.jsonl'):
            with open(f'{w.config}/{where}', 'rb') as f:
                self.files.append([where, f.read()])
        self.path = path

    def session(self, those=None, **more):
        listed = [{'path': p, 'size': len(b), 'mtimeNs': 1700000000 * 10**9, 'sha256': hashlib.sha256(b).hexdigest()} for p, b in those or self.files]
        return {'agent': 'claude', 'id': session_id(1), 'title': 't', 'directory': self.cwd, 'transcript': self.files[0][0], 'messages': 1, 'files': listed, **more}

    def manifest(self, sessions=None, **more):
        return {'format': 'reprise-bundle', 'version': 1, 'home': '/home/x', 'redacted': False, 'sessions': sessions or [self.session()], **more}

    def entries(self, files=None, n=0):
        return [(f'{n}/{p}', b) for p, b in files or self.files]

    def with_file(self, where, body=b'{}', at=None):
        """A bundle that also has this file, in the manifest and the archive."""
        files = [*self.files, [where, body]]
        return self.entries(files), self.manifest([self.session(files)])


def changed(t, **more):
    """The size, the hash, ... of the first file in the manifest is another one."""
    session = t.session()
    session['files'][0].update(more)
    return t.entries(), t.manifest([session])


def lies(t):
    """Every bundle that has to be refused: its name, entries and manifest."""
    outside = '/etc/cron.d/x', '../../.bashrc', 'projects/../settings.json', './projects/x', 'projects//x', 'projects/./x', '..', 'a\nb', 'a\x1b[2Jb', \
        'a\x00b', 'a' * 300, '/'.join(['a'] * 2000), 'projects\\x', ''
    for path in outside:
        yield f'path {path[:20]!r}', t.entries(), t.manifest([t.session([*t.files, [path, b'{}']])])
    for path in 'settings.json', 'CLAUDE.md', 'plugins/x.js', f'{t.top}/other.jsonl', f'projects/x/{session_id(1)}.jsonl', f'{t.top}/{session_id(1)}.jsonl/x', \
            'skills/x/SKILL.md', f'file-history/{session_id(2)}/x':
        yield f'not a part: {path}', *t.with_file(path)
    main, side = t.entries()
    name = main[0]
    yield 'two of one name', *t.with_file(t.files[0][0], t.files[0][1])
    yield 'absolute in the archive', [('/' + name, main[1]), side], t.manifest()
    yield 'up in the archive', [('../' + name, main[1]), side], t.manifest()
    yield 'in another order', [side, main], t.manifest()
    yield 'one file less', [main], t.manifest()
    yield 'one file more', [main, side, ('0/x', b'x')], t.manifest()
    yield 'a link', [special(name, tarfile.SYMTYPE, '/etc/passwd'), side], t.manifest()
    yield 'a hard link', [special(name, tarfile.LNKTYPE, '/etc/passwd'), side], t.manifest()
    yield 'a device', [special(name, tarfile.CHRTYPE), side], t.manifest()
    yield 'a FIFO', [special(name, tarfile.FIFOTYPE), side], t.manifest()
    yield 'a directory', [special('0', tarfile.DIRTYPE), main, side], t.manifest()
    for more in {'size': 1}, {'size': len(main[1]) + 1}, {'size': 2**62}, {'size': -1}, {'size': 'x'}, {'sha256': '0' * 64}, {'sha256': 'x'}, {'path': 5}:
        yield f'file: {more}', *changed(t, **more)
    for more in {'agent': 'nobody'}, {'agent': '../x'}, {'id': session_id(2)}, {'id': '../../x'}, {'id': ''}, {'id': 'x' * 300}, {'directory': 'relative'}, \
            {'directory': '/a/../b'}, {'transcript': '../x'}, {'transcript': 'x'}, {'transcript': t.files[1][0]}, {'files': []}, {'files': {}}, {'title': 'x' * 9999}:
        yield f'session: {str(more)[:40]}', t.entries(), t.manifest([t.session(**more)])
    for more in {'version': 2}, {'version': None}, {'format': 'x'}, {'sessions': []}, {'sessions': {}}, {'home': 'x'}, {'sessions': [5]}:
        yield f'manifest: {more}', t.entries(), {**t.manifest(), **more}
    for text in b'', b'[]', b'{', b'null', b'[' * 200000, b'\xff', json.dumps(t.manifest()).encode()[:-1]:
        yield f'manifest {text[:9]!r}', t.entries(), text
    many = [{'path': f'x/{k}', 'size': 0, 'mtimeNs': 0, 'sha256': '0' * 64} for k in range(100001)]
    yield 'too many files', t.entries(), t.manifest([t.session(files=many)])
    huge = [{'path': f'x/{k}', 'size': 2**61, 'mtimeNs': 0, 'sha256': '0' * 64} for k in range(8)]
    yield 'a sum that overflows', t.entries(), t.manifest([t.session(files=huge)])
    bomb = bytes(3 << 19)
    yield 'a bomb', [main, ('0/x', bomb)], t.manifest([t.session(
        files=[*t.session()['files'], {'path': 'x', 'size': 1 << 42, 'mtimeNs': 0, 'sha256': '0' * 64}])])


def main():
    w, t_world = World(sys.argv[1]), World(sys.argv[1])
    t = Truth(t_world)
    os.makedirs(w.config + '/projects')
    bundle = f'{w.top}/x.bundle'
    before = snapshot(w.config)
    forks, views = f'{w.top}/DATA/reprise/forks', f'{w.top}/DATA/reprise/bundles'

    def refused(what):
        for args in ('unbundle', bundle, '--apply'), ('list', '--bundle', bundle), *[('bundle', '--list', bundle)] * (w.program.passed % 4 == 0):
            run = w.program.run(*args, timeout=60)
            shown = run.stdout + run.stderr
            w.program.need(run.returncode in (2, 3, 4, 5) or args[0] == 'bundle' and not run.returncode, f'{what}: {args[:1]}: exit {run.returncode}: {shown}')
            w.program.need(not any(b < 32 and b != 10 for b in shown), f'{what}: control characters: {shown}')
        w.program.same(f'{what}: nothing is written', snapshot(w.config), before)
        for place in forks, views:
            w.program.need(not os.path.isdir(place) or not os.listdir(place), f'{what}: left in {place}')

    for what, entries, manifest in lies(t):
        pack(bundle, entries, manifest)
        refused(what)
    for what, more in {'bytes behind it': {'tail': b'x'}, 'no end': {'raw': lambda b: b[:-1024]}, 'a sum': {'raw': lambda b: b'x' + b[1:]},
                       'cut': {'raw': lambda b: b[:-1500]}, 'blocks': {'raw': lambda b: b + bytes(512)}}.items():
        pack(bundle, t.entries(), t.manifest(), **more)
        refused(what)
    pack(bundle, t.entries(), t.manifest())
    with open(bundle, 'rb') as f:
        good = f.read()
    for cut in range(0, len(good), max(1, len(good) // 12)):
        with open(bundle, 'wb') as f:
            f.write(good[:cut])
        refused(f'cut at {cut}')
    for at in range(0, len(good), max(1, len(good) // 12)):
        with open(bundle, 'wb') as f:
            f.write(good[:at] + bytes([good[at] ^ 0x40]) + good[at + 1:])
        run = w.program.run('unbundle', bundle)  # a bit of the compression may mean nothing: the same bytes come out
        w.program.need(run.returncode in (0, 4, 5) and b'\0' not in run.stdout, f'bit at {at}: {run}')
        w.program.need(not os.listdir(forks), f'bit at {at}: left in {forks}')
    with open(bundle, 'wb') as f:
        f.write(good + b'garbage')
    refused('garbage behind it')
    os.unlink(bundle)
    os.mkfifo(bundle)
    refused('a FIFO')
    os.unlink(bundle)
    os.mkdir(bundle)
    refused('a directory')
    os.rmdir(bundle)
    pack(bundle, t.entries(), t.manifest())
    w.program.same('the true one is read', [r['sessionId'] for r in w.program.json('list', '--bundle', bundle)], [session_id(1)])
    # A link in the store, where a project's folder will be, is the user's own; a file there is in the way.
    os.symlink('/nowhere', f'{w.config}/projects/{flat(t.cwd)}')
    run = w.program.run('unbundle', bundle, '--apply')
    w.program.need(run.returncode != 0 and os.readlink(f'{w.config}/projects/{flat(t.cwd)}') == '/nowhere', f'a broken link: {run}')
    os.unlink(f'{w.config}/projects/{flat(t.cwd)}')
    run = w.program.run('unbundle', bundle, '--apply')
    w.program.same('the true one is accepted', (run.returncode, os.path.exists(f'{w.config}/{t.files[0][0]}')), (0, True))
    with open(f'{w.config}/{t.files[0][0]}', 'rb') as f:
        w.program.same('with its bytes', f.read(), t.files[0][1])
    shutil.rmtree(t_world.top)
    shutil.rmtree(w.top)
    w.program.finish(300)


if __name__ == '__main__':
    main()
