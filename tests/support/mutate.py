#!/usr/bin/env python3
"""Finds lines that can be broken without any test failing.
usage: mutate.py DIR [SEED [N]]

Copies the tree into DIR, changes one place of lite, store or tui at a time, builds, and runs the tests that execute
that line, the quickest first, until one fails. The source tests and the tests that fail calls on purpose are left out;
the lines that each test executes are counted once, by a build with counters. Places depend on SEED (1) and the sources
alone; N (20) of them must compile. Changes that no test noticed are listed again at the end, to be read by a person: a
change may be harmless.

A broken program may write anywhere, so it runs in name spaces of its own, which requires root, with everything but
DIR read-only. DIR is reused: unchanged sources are not built again.
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MEMORY = 8 << 30  # bounds the memory of an endless loop
OPERATORS = [
    (r'==', '!='), (r'!=', '=='), (r'(?<=\s)<=(?=\s)', '>'), (r'(?<=\s)>=(?=\s)', '<'), (r'(?<=\s)<(?=\s)', '>='),
    (r'(?<=\s)>(?=\s)', '<='), (r'(?<=\s)<(?=\s)', '<='), (r'(?<=\s)>(?=\s)', '>='), (r'&&', '||'), (r'\|\|', '&&'),
    (r'\btrue\b', 'false'), (r'\bfalse\b', 'true'), (r'(?<!\w)!(?=[\w(])', ''), (r' \+ 1\b(?![.\w])', ''),
    (r' - 1\b(?![.\w])', ''), (r'\+=', '-='),
]
# A statement on its own line whose result is unused. A missing release is seen only by a sanitizer.
CALL = re.compile(r'^\s+(?!\w*(?:free|fini|close)\()[a-z]\w*\([^;]*\);$')
WORD = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.S)
# Everything except the directory $1 and its /tmp is read-only. Paths stay the same; coverage counters are written to
# $2, whatever environment a test gives to the program.
CAGE = r'''
cd "$1" && mount --bind tmp /tmp && mkdir -p "$1" && mount -c --bind . "$1" || exit 99
for room in lite store tui; do
    [ ! -d "$2" ] || { mkdir -p "$2/$room" && mount --bind "$2/$room" "$1/build/$room/CMakeFiles"; } || exit 99
done
cut -d ' ' -f 2 /proc/self/mounts | while read -r at; do
    case $at in "$1" | "$1"/* | /tmp | /proc | /proc/*) ;; *) mount -o remount,bind,ro "$at" 2>/dev/null ;; esac
done
cd "$3" && shift 3 && exec "$@"
'''
Test = collections.namedtuple('Test', 'name command folder environment targets')
Place = collections.namedtuple('Place', 'path begin end new')


def without_texts(text):
    """Returns the source with comments and literals blanked, so that all offsets stay the same."""
    return WORD.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)


def places(tree, path):
    """Returns every place in the bodies of functions to which an operator applies."""
    with open(os.path.join(tree, path), encoding='utf-8') as f:
        text = f.read()
    at, inside = 0, False
    for line, bare in zip(text.splitlines(True), without_texts(text).splitlines(True)):
        inside = bare.startswith('{') or inside and not bare.startswith('}')
        if inside and 'assert(' not in bare:
            for old, new in OPERATORS:
                for m in re.finditer(old, bare):
                    yield Place(path, at + m.start(), at + m.end(), new)
            if CALL.match(bare.rstrip('\n')) and bare.count('(') == bare.count(')'):
                yield Place(path, at + len(line) - len(line.lstrip()), at + len(line.rstrip('\n')), ';')
        at += len(line)


def sources(tree):
    for room in ('lite', 'store', 'tui'):
        for folder, _, names in sorted(os.walk(os.path.join(tree, room))):
            yield from (os.path.relpath(os.path.join(folder, n), tree) for n in sorted(names) if n.endswith('.c'))


def run(command, seconds=None, **more):
    """Returns 0 on success; a timeout is a failure, and child processes end with the program."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True, **more) as p:
        try:
            return p.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            return 1


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def copy_tree(copy):
    """Returns a fingerprint of the tree. Unchanged files keep their times."""
    listed = subprocess.run(['git', '-C', SRC, 'ls-files', '-z'], check=True, capture_output=True, text=True).stdout
    names = sorted(filter(None, listed.split('\0')))
    sums = hashlib.sha256()
    for folder, _, there in os.walk(copy):
        for name in there:
            if os.path.relpath(os.path.join(folder, name), copy) not in set(names):
                os.remove(os.path.join(folder, name))
    for name in names:
        source, to = os.path.join(SRC, name), os.path.join(copy, name)
        what = os.readlink(source).encode() if os.path.islink(source) else read(source)
        sums.update(name.encode() + b'\0' + what + b'\0')
        if os.path.islink(source) or not os.path.exists(to) or read(to) != what:
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if os.path.lexists(to):
                os.remove(to)
            shutil.copy(source, to, follow_symlinks=False)
    return sums.hexdigest()


class Bench:
    """The copy, its build, and the lines that each test executes."""

    def __init__(self, top):
        self.top, self.copy, self.build = top, os.path.join(top, 'tree'), os.path.join(top, 'build')
        os.makedirs(os.path.join(top, 'tmp'), exist_ok=True)
        self.lines, self.seconds = {}, {}
        if run(self.caged('', '/', 'true')) or not run(self.caged('', '/', 'touch', os.path.join(SRC, '.mutate'))):
            sys.exit('mutate: no name spaces of its own for the broken program: is this root?')
        self.sum = copy_tree(self.copy)
        options = ['-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_C_FLAGS_RELEASE=-O0', '-DREPRISE_COVERAGE=ON',
                   '-DREPRISE_WERROR=OFF']
        if shutil.which('mold'):
            options.append('-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold')
        if shutil.which('ccache'):
            options.append('-DCMAKE_C_COMPILER_LAUNCHER=ccache')
        if shutil.which('ninja'):
            options.append('-GNinja')
        if run(['cmake', '-S', self.copy, '-B', self.build, *options]):
            sys.exit('mutate: the tree cannot be configured')
        if self.make(['all']):
            sys.exit('mutate: the unchanged tree does not build')
        self.tests = {t.name: t for t in self.listed()}

    def caged(self, counters, folder, *command):
        return ['unshare', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child',
                'sh', '-c', CAGE, 'sh', self.top, counters, folder, *command]

    def make(self, targets):
        return run(['cmake', '--build', self.build, '-j2', '--target', *targets])

    def listed(self):
        said = subprocess.run(['ctest', '--test-dir', self.build, '-L', 'unit|recorded|corpus|screen|hostile',
                               '--show-only=json-v1'], check=True, capture_output=True, text=True).stdout
        for t in json.loads(said)['tests']:
            facts = {p['name']: p['value'] for p in t['properties']}
            built = [os.path.basename(x) for x in t['command'] if x.startswith(self.build + '/')]
            yield Test(t['name'], t['command'], facts['WORKING_DIRECTORY'],
                       dict(x.split('=', 1) for x in facts['ENVIRONMENT']), built)

    def passes(self, test, counters):
        """Returns true if the test passes within ten times its usual time."""
        shutil.rmtree(counters, ignore_errors=True)
        os.makedirs(counters)
        return run(self.caged(counters, test.folder, *test.command), 30 + 10 * self.seconds.get(test.name, 60),
                   env={**os.environ, **test.environment},
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))) == 0

    def count(self):
        """Runs every test once and keeps its counters beside the notes of the compiler."""
        known = os.path.join(self.top, 'seconds.json')
        if os.path.exists(known):
            told, self.seconds = json.loads(read(known))
            if told == self.sum:
                return
            self.seconds = {}
        notes = os.path.join(self.top, 'notes')
        shutil.rmtree(notes, ignore_errors=True)
        shutil.copytree(self.build, notes, ignore=lambda folder, names: [
            n for n in names if not n.endswith('.gcno') and not os.path.isdir(os.path.join(folder, n))])

        def one(test):
            at = time.monotonic()
            counters = os.path.join(self.top, 'counters', test.name)
            if not self.passes(test, counters):
                return test.name, None
            for folder, _, names in os.walk(counters):
                for name in names:
                    note = os.path.join(folder, name)[len(counters) + 1:-len('gcda')] + 'gcno'
                    room, rest = note.split('/', 1)
                    os.link(os.path.join(notes, room, 'CMakeFiles', rest), os.path.join(counters, note))
            return test.name, time.monotonic() - at

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.seconds = dict(pool.map(one, self.tests.values()))
        for name in [n for n, s in self.seconds.items() if s is None]:
            print(f'mutate: {name} fails without any change, and is not used', flush=True)
            del self.seconds[name]
        with open(known, 'w', encoding='utf-8') as f:
            json.dump((self.sum, self.seconds), f)

    def lines_of(self, name, path):
        """{line: how often} of a source in a test."""
        room, rest = path.split('/', 1)
        told = subprocess.run(f'gcov --json-format --stdout {room}/*.dir/{rest}.gcda', shell=True,
                              cwd=os.path.join(self.top, 'counters', name), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False).stdout
        lines = collections.Counter()
        for row in told.splitlines():
            for file in json.loads(row)['files'] if row.startswith('{') else ():
                if file['file'].endswith(path):
                    lines.update({x['line_number']: x['count'] for x in file['lines']})
        return lines

    def passers(self, path, line):
        """Returns the tests that execute a line, or the statement that it belongs to, the quickest first."""
        if path not in self.lines:
            self.lines[path] = {n: self.lines_of(n, path) for n in self.seconds}
        for name in sorted(self.seconds, key=self.seconds.get):
            lines = self.lines[path][name]
            if lines[max((x for x in lines if x <= line), default=line)]:
                yield self.tests[name]

    def noticed(self, path, line):
        """Returns the outcome and whether a test failed, or None if the change does not compile."""
        tests = list(self.passers(path, line))
        if self.make([path.split('/')[0] + '/all']):
            return 'does not compile', None
        for i in range(0, len(tests), 6):
            if self.make(sorted({x for t in tests[i:i + 6] for x in t.targets})):
                return 'does not compile', None
            for t in tests[i:i + 6]:
                if not self.passes(t, os.path.join(self.top, 'scratch')):
                    return f'noticed by {t.name}', True
        return f'not noticed by {len(tests)} tests' if tests else 'no test executes it', False


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    top, seed, wanted = sys.argv[1:] + ['1', '20'][len(sys.argv) - 2:]
    bench = Bench(os.path.abspath(top))
    bench.count()
    every = [p for path in sources(bench.copy) for p in places(bench.copy, path)]
    random.Random(seed).shuffle(every)
    counted, left = 0, []
    for p in every:
        if counted == int(wanted):
            break
        name = os.path.join(bench.copy, p.path)
        with open(name, encoding='utf-8') as f:
            text = f.read()
        line = text.count('\n', 0, p.begin) + 1
        with open(name, 'w', encoding='utf-8') as f:
            f.write(text[:p.begin] + p.new + text[p.end:])
        try:
            verdict, noticed = bench.noticed(p.path, line)
        finally:
            with open(name, 'w', encoding='utf-8') as f:
                f.write(text)
        counted += noticed is not None
        row = text.splitlines()[line - 1].strip()
        change = f'{p.path}:{line}: `{row}`: `{text[p.begin:p.end].strip()}` becomes `{p.new.strip()}`'
        print(f'{verdict}: {change}', flush=True)
        if noticed is False:
            left.append(f'{verdict}: {change}')
    print(''.join(f'left: {x}\n' for x in left) + f'{counted - len(left)} of {counted} noticed')


if __name__ == '__main__':
    main()
