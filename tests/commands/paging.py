#!/usr/bin/env python3
"""Paging backwards through a conversation, and resuming by title.

usage: paging.py PROGRAM

Pages from the newest to the oldest, joined, are the whole conversation, in every system and for every size of a page. A
cursor is an id or a beginning of one; one that is missing (3) or fits several messages (2) is refused.
"""
import json
import os
import sys
import tempfile

from table import TABLE, World
from support import checks


def whole_by_pages(w, size, *more):
    """The pages, joined. Of many small ones only the last six and the first three are read, except in the long form."""
    whole = w.json('messages', w.id, *more)
    pages = [w.json('messages', w.id, '--tail', str(size), *more)]
    while pages[0]:
        left = len(whole) - sum(map(len, pages))
        if len(pages) == 6 and left > 4 * size and 'REPRISE_LONG' not in os.environ:
            pages.insert(0, whole[3 * size:left])
        pages.insert(0, w.json('messages', w.id, '--before', pages[0][0]['uuid'], '--limit', str(size), *more))
    return [m for page in pages for m in page]


def check_pages(check, w):
    whole = w.json('messages', w.id)
    for size in 1, 3, len(whole):
        check.same(f'{w.name}: pages of {size}', whole_by_pages(w, size), whole)
    spoken = w.json('messages', w.id, '--spoken')
    check.same(f'{w.name}: spoken', whole_by_pages(w, 2, '--spoken'), spoken)
    middle = whole[len(whole) // 2]['uuid']
    check.same(f'{w.name}: all before it', w.json('messages', w.id, '--before', middle), whole[:len(whole) // 2])
    text = w.run('messages', w.id, '--before', middle).stdout
    check.need(f'{w.name}: as text', text and w.run('messages', w.id).stdout.startswith(text))


def check_cursors(check, w):
    ids = [m['uuid'] for m in w.json('messages', w.id)]
    short = next(n for n in range(4, 37) if len({i[:n] for i in ids}) == len(ids))
    check.same('a beginning of an id', w.json('messages', w.id, '--before', ids[5][:short]),
               w.json('messages', w.id, '--before', ids[5]))
    for cursor, code in ('zzzz', 3), ('', 3), (ids[5][:1], 2 if sum(i[0] == ids[5][0] for i in ids) > 1 else 0):
        for form in [], ['--json']:
            run = w.run('messages', w.id, '--before', cursor, *form)
            check.same(f'--before {cursor!r} {form}', run.returncode, code)
            check.same(f'--before {cursor!r} {form}: one line', run.stderr.count(b'\n'), 1 if code else 0)


def check_titles(check, w):
    def resumed(title):
        run = w.run(f'--resume={title}', '--print', '--json')
        return run.returncode, json.loads(run.stdout)['command'][-1] if run.returncode == 0 else run.stderr

    w.run('rename', w.id, 'Pay by card')
    check.same('by title', resumed('Pay by card'), (0, w.sid))
    check.same('upper and lower case', resumed(' pay BY card'), (0, w.sid))
    check.same('part of a title', resumed('Pay by')[0], 3)
    check.same('no title', resumed(' ')[0], 3)
    w.run('fork', w.id, '--title', 'Pay by card')
    code, said = resumed('Pay by card')
    check.need('two of them are named', code == 2 and w.sid.encode() in said)


def main():
    check = checks.Checks()
    for name in TABLE:
        with tempfile.TemporaryDirectory() as top:
            w = World(sys.argv[1], name, os.path.realpath(top))
            check_pages(check, w)
            if name == 'claude':
                check_cursors(check, w)
                check_titles(check, w)
    print(f'{check.passed} passed, {check.failed} failed')
    sys.exit(1 if check.failed or check.passed < 6 * len(TABLE) else 0)


if __name__ == '__main__':
    main()
