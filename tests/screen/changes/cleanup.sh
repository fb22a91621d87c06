#!/bin/sh
# Cleanup by rule: a rule, its list, one question, the trash; undo restores every byte.
. "$(dirname "$0")/../lib.sh"
demo
image >"$top/before"
open 100 30
match "[0-9]+ sessions.*recent"
press C-x
see "all sessions"
enter_text c
see "not used for"
press Enter
see "not used for (empty"
press C-u
enter_text 12h
press Enter
match "[1-9][0-9]* of [1-9][0-9]* sessions ticked"
enter_text d
match "Move [1-9][0-9]* sessions, .* to the trash"
press Enter
gone "to the trash?"
image | cmp -s - "$top/before" || fail "something was deleted although the answer was no"
enter_text d
see "to the trash?"
press Down
press Enter
match "moved to trash: [1-9][0-9]* sessions"
match "0 of [0-9]* sessions ticked" # tagged, named by hand, or of Entire
match "kept: [1-9] tagged, [1-9] named"
image | cmp -s - "$top/before" && fail "nothing was deleted"
enter_text u
see "undone: "
match "[1-9][0-9]* of [1-9][0-9]* sessions ticked"
image | cmp -s - "$top/before" || fail "not everything was restored"
acknowledge
press Escape
match "[0-9]+ sessions.*recent"
press C-c
ended 130
