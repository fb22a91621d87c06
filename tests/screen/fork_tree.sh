#!/bin/sh
# A letter of the menu lists forks below the session they were made from; a new fork joins them.
. "$(dirname "$0")/lib.sh"
corpus 330
open 100 30 --all
see "32 sessions" "second-branch"
press C-x
see "branches"
enter_text b
see "recent, tree" "forks are listed below"
match "└╴second-branch"
enter_text "'second"
see "1 of 32 sessions"
press C-f
see "title of the fork"
press C-u
enter_text "third-branch"
press Enter
see "forked: the fork is selected"
press C-u
see "33 sessions"
match "  └╴third-branch"
press C-c
ended 130
