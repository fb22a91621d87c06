#!/bin/sh
# What leaves a conversation is chosen from a list and read; a fork made there is a session, and undo takes it away.
. "$(dirname "$0")/lib.sh"
corpus 330
image >"$top/before"
open 100 30 --all
see "32/32"
press Right
see "ping" "here the session goes on" "another branch leaves here"
enter_text b
see "what the session goes on with" "messages  Change file one"
press Enter
see "another branch of ping" "from here on another branch"
enter_text f
see "a copy up to here"
press Enter
see "forked: the copy is selected" "33/33"
image | cmp -s - "$top/before" && fail "no copy was made"
press C-x
see "undo"
enter_text u
see "undone: fork of" "32/32"
image | cmp -s - "$top/before" || fail "undo left something of the copy, or took more"
press C-x
see "redo"
enter_text U
see "done again: " "33/33"
press C-x
see "undo"
enter_text u
see "32/32"
image | cmp -s - "$top/before" || fail "undo of redo left something"
press C-c
ended 130
