#!/bin/sh
# A branch is chosen from a list and read; a fork made there is a session, and undo removes it.
. "$(dirname "$0")/lib.sh"
corpus 330
image >"$top/before"
open 100 30 --all
see "32 sessions"
press Right
see "ping" "a resume continues here" "a branch leaves here"
enter_text B
see "the current conversation" "Change file one"
press Enter
see "Branch 2 of " "another branch begins here"
tm resize-window -x 200 -y 30
see "turn 2 of 3" "Change both files" "2.6k in, 84 out"
tm resize-window -x 100 -y 30
enter_text c
see "title of the fork up to here"
press Enter
see "forked: the fork is selected" "33 sessions"
image | cmp -s - "$top/before" && fail "no copy was made"
press C-x
see "undo"
enter_text u
see "undone: the fork of" "32 sessions"
image | cmp -s - "$top/before" || fail "undo left a part of the copy or removed more"
open_menu
see "redo"
enter_text U
see "redone: " "33 sessions"
open_menu
see "undo"
enter_text u
see "32 sessions"
image | cmp -s - "$top/before" || fail "undo of redo left something"
press C-c
ended 130
