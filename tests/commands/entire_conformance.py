#!/usr/bin/env python3
"""Entire's sessions and checkpoints: the conformance list of the format by number, through the command line.

usage: entire.py PROGRAM INJECTOR|-

The repositories are made with git's plumbing by make_fixture.sh, which also writes the expected results; oddities of
real ones (v2 refs, other agents, sessions without one, keys of older versions) are added by the tests. Every ref and
tree that was written is checked with git. Rows about names and bytes alone are tested by the unit tests in UNIT.
"""
import sys

from entire.cleaning import cleanups, without_libgit2
from entire.committed import committed, many, odd, second
from entire.hosting import enabling, facts, origins, tasks
from entire.reading import damaged, listing, shadows
from entire.rewinding import adversity, interrupted, moving, rewinds, turns
from entire.transcripts import dated, forks, transcripts
from entire.fixture import Checks
from entire.writing import autocommits, broken_commits, phases, styles, writing

UNIT = {
    1: 'worktrees_have_the_hashes_of_the_table',
    2: 'a_shadow_branch_is_named_for_commit_and_worktree',
    3: 'a_shadow_branch_is_named_for_commit_and_worktree',
    5: 'checkpoint_ids_are_hex_or_ulids',
    7: 'real_commits_are_reproduced_byte_for_byte',
    11: 'an_unknown_future_member_keeps_its_place',
    12: 'states_are_written_as_they_were_read',
    14: 'phases_follow_the_table',
    19: 'trailers_are_read_anywhere_in_the_message',
    42: 'trailers_are_read_anywhere_in_the_message',
    55: 'real_commits_are_reproduced_byte_for_byte',
}
LOOKS = (listing, shadows, damaged, rewinds, adversity, committed, odd, second, many, transcripts, forks, dated, writing, phases, styles,
         autocommits, turns, moving, cleanups, enabling, facts, origins, tasks)


def main():
    path, injector = sys.argv[1:3]
    c = Checks(path)
    for look in LOOKS:
        look(c)
    if injector != '-':  # under the sanitizers nothing may be loaded before them
        interrupted(c, injector)
        broken_commits(c, injector)
        without_libgit2(c, injector)
        c.same('every row of the list', sorted(set(range(1, 57)) - set(UNIT) - c.rows), [])
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(1 if c.failed or c.passed < 150 else 0)


if __name__ == '__main__':
    main()
