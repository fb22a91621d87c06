#!/bin/sh
# r on a message of a dead branch takes the session up again there, in place: asked once, and undo takes it back.
. "$(dirname "$0")/lib.sh"
corpus 330
image >"$top/before"
open 100 30 --all
see "32/32"
press Right
see "here the session goes on"
enter_text b
see "what the session goes on with"
press Enter
see "from here on another branch"
enter_text r
see "Resume here, in place?"
press Enter
gone "Resume here, in place?"
image | cmp -s - "$top/before" || fail "something was written although the answer was no"
enter_text r
see "Resume here, in place?"
press Down
press Enter
see "The session's directory is gone"
press Escape
see "another branch of ping"
image | cmp -s - "$top/before" && fail "nothing was written"
press Escape
see "here the session goes on" "another branch leaves here"
enter_text u
see "undone: resume-at of"
image | cmp -s - "$top/before" || fail "undo did not give every byte back"
enter_text U
see "done again: "
enter_text u
see 'undone: "ping"'
image | cmp -s - "$top/before" || fail "undo of redo did not give every byte back"
press C-c
ended 130
