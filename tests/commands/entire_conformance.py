#!/usr/bin/env python3
"""Entire's sessions and checkpoints: the conformance list of the format by its numbers, through the command line.

usage: entire.py PROGRAM INJECTOR|-

The repositories are made with git's own plumbing (entire/make_fixture.sh), which says what it expects; what is odd in
real ones (v2 refs, other agents, sessions without one, keys of older versions) is put in by the tests. Git itself is
asked about every ref and tree that was written. Rows about names and bytes alone stand in the unit tests: UNIT says which.
"""
import shutil
import sys

from entire.cleaning import cleanups
from entire.committed import committed, many, odd, second
from entire.reading import damaged, listing, shadows
from entire.rewinding import adversity, interrupted, moving, rewinds, turns
from entire.transcripts import dated, forks, transcripts
from entire.world import Checks
from entire.writing import autocommits, broken_commits, phases, styles, writing

UNIT = {1, 2, 3, 5, 7, 11, 12, 14, 19, 42, 55}
LOOKS = (listing, shadows, damaged, rewinds, adversity, committed, odd, second, many, transcripts, forks, dated, writing, phases, styles,
         autocommits, turns, moving, cleanups)


def main():
    path, injector = sys.argv[1:3]
    c = Checks(path)
    for look in LOOKS:
        look(c)
    if injector != '-':  # under the sanitizers nothing may be loaded before them
        interrupted(c, injector)
        broken_commits(c, injector)
        c.same('every row of the list', sorted(set(range(1, 57)) - UNIT - c.rows), [])
    shutil.rmtree(c.fixtures.top)
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(1 if c.failed or c.passed < 150 else 0)


if __name__ == '__main__':
    main()
