#!/usr/bin/env python3
"""Lines that no test notices when they are broken.
usage: mutate.py BUILD_DIR [SEED [N]]

Copies the tree into BUILD_DIR, changes one place of lite, store or tui at a time, builds, and runs the unit tests until
one fails. Places are chosen at random from SEED (1); N (20) of them are to compile. A change that does not compile is
told and another takes its place. One that no test notices may be no defect: it is read by hand."""
import os
import random
import re
import shutil
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEST_SECONDS = 900  # tests that do not end have noticed it, too
OPERATORS = [
    (r'==', '!='), (r'!=', '=='), (r'(?<=\s)<=(?=\s)', '>'), (r'(?<=\s)>=(?=\s)', '<'), (r'(?<=\s)<(?=\s)', '>='),
    (r'(?<=\s)>(?=\s)', '<='), (r'&&', '||'), (r'\|\|', '&&'), (r'\btrue\b', 'false'), (r'\bfalse\b', 'true'),
    (r' \+ 1\b(?![.\w])', ''), (r' - 1\b(?![.\w])', ''), (r'(?<![\w.])0(?![\w.])', '1'), (r'(?<![\w.])1(?![\w.])', '0'),
]
# A statement on its own line whose answer, if any, nobody takes. What is not released only a sanitizer sees.
CALL = re.compile(r'^\s+(?!\w*(?:free|fini)\()[a-z]\w*\([^;]*\);$')
WORD = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.S)


def without_texts(text):
    """The same with comments and texts blanked, so that every place stays where it is."""
    return WORD.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)


def places(path):
    """Every (file, from, to, new text) that the operators know of in the bodies of functions."""
    with open(os.path.join(SRC, path), encoding='utf-8') as f:
        text = f.read()
    at, inside = 0, False
    for line, bare in zip(text.splitlines(True), without_texts(text).splitlines(True)):
        inside = bare.startswith('{') or inside and not bare.startswith('}')
        if inside and 'assert(' not in bare:
            for old, new in OPERATORS:
                for m in re.finditer(old, bare):
                    yield path, at + m.start(), at + m.end(), new
            if CALL.match(bare.rstrip('\n')) and bare.count('(') == bare.count(')'):
                yield path, at + len(line) - len(line.lstrip()), at + len(line.rstrip('\n')), ';'
        at += len(line)


def sources():
    for room in ('lite', 'store', 'tui'):
        for folder, _, names in sorted(os.walk(os.path.join(SRC, room))):
            yield from (os.path.relpath(os.path.join(folder, n), SRC) for n in sorted(names) if n.endswith('.c'))


def run(*command, seconds=None):
    """0 where all went well; who takes too long has failed. Children of the tests end with them."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as p:
        try:
            return p.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, 9)
            return 1


def copy_tree(copy):
    listed = subprocess.run(['git', '-C', SRC, 'ls-files', '-z'], check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split('\0')):
        to = os.path.join(copy, name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy2(os.path.join(SRC, name), to, follow_symlinks=False)


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    top, seed, wanted = sys.argv[1:] + ['1', '20'][len(sys.argv) - 2:]
    top, wanted = os.path.abspath(top), int(wanted)
    copy, build = os.path.join(top, 'tree'), os.path.join(top, 'build')
    shutil.rmtree(copy, ignore_errors=True)
    copy_tree(copy)
    make = ('cmake', '--build', build, '-j2')
    tests = ('ctest', '--test-dir', build, '-L', 'unit', '-j2', '--stop-on-failure')
    # Warnings are no errors here: && beside || is one, and the change is to be run.
    if run('cmake', '-S', copy, '-B', build, '-DCMAKE_BUILD_TYPE=Debug', '-DREPRISE_UNIT_ONLY=ON',
           '-DREPRISE_WERROR=OFF') or run(*make):
        sys.exit('mutate: the tree as it is does not build')
    if run(*tests, seconds=TEST_SECONDS):
        sys.exit('mutate: a test fails without any change')
    every = [p for path in sources() for p in places(path)]
    random.Random(seed).shuffle(every)
    noticed = counted = 0
    for path, begin, end, new in every:
        if counted == wanted:
            break
        name = os.path.join(copy, path)
        with open(name, encoding='utf-8') as f:
            text = f.read()
        with open(name, 'w', encoding='utf-8') as f:
            f.write(text[:begin] + new + text[end:])
        verdict = 'does not compile'
        if not run(*make):
            counted += 1
            verdict = 'noticed' if run(*tests, seconds=TEST_SECONDS) else 'not noticed'
            noticed += verdict == 'noticed'
        with open(name, 'w', encoding='utf-8') as f:
            f.write(text)
        old = ' '.join(text[begin:end].split())
        print(f'{verdict}: {path}:{text.count(chr(10), 0, begin) + 1}: `{old}` becomes `{new.strip()}`', flush=True)
    print(f'{noticed} of {counted} noticed')


if __name__ == '__main__':
    main()
