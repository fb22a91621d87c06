#!/bin/sh
# r on a message of a dead branch takes the session up again there, in place: asked once, and undo takes it back.
. "$(dirname "$0")/lib.sh"
corpus 330
image >"$top/before"
open 100 30 --all
see "32/32"
press Right
see "a resume continues here"
enter_text b
see "the current conversation"
press Enter
see "another branch begins here"
enter_text r
see "Resume after this message?"
press Enter
gone "Resume after this message?"
image | cmp -s - "$top/before" || fail "something was written although the answer was no"
enter_text r
see "Resume after this message?"
press Down
press Enter
see "The session's directory no longer exists"
press Escape
see "another branch of ping"
image | cmp -s - "$top/before" && fail "nothing was written"
press Escape
see "a resume continues here" "another branch splits off here"
enter_text u
see "undone: resume-at of"
image | cmp -s - "$top/before" || fail "undo did not give every byte back"
enter_text U
see "redone: "
enter_text u
see 'undone: "ping"'
image | cmp -s - "$top/before" || fail "undo of redo did not give every byte back"
press C-c
ended 130
