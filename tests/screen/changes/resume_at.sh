#!/bin/sh
# r on a message of another branch resumes the session there, in place, after one question; undo reverts it.
. "$(dirname "$0")/../lib.sh"
corpus 330
image >"$top/before"
cp -a "$config" "$top/copy"
as_before() { if cuts; then image | cmp -s - "$top/before"; else only_grown "$top/copy" "$config"; fi; }
open 100 30 --all
see "32 sessions"
press Right
see "a resume continues here"
enter_text B
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
see "Branch 2 of 4: "
image | cmp -s - "$top/before" && fail "nothing was written"
acknowledge
press Escape
see "a resume continues here" "a branch leaves here"
menu u
see "undone: the resume-at of"
as_before || fail "undo did not restore every byte"
menu U
see "redone: "
menu u
see 'undone: “ping”'
as_before || fail "undo of redo did not restore every byte"
press C-c
ended 130
