#!/bin/sh
# The turn that broke something, found from the rewind view: the command runs in a copy, its output is read, the turn is selected.
. "$(dirname "$0")/../lib.sh"
demo
(cd "$project" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >"$top/files"
open 100 30
see "Payments: idemp"
enter_text idempot
gone "Payment page copy"
menu w
see "[x] M src/keys.ts" "▌ Yes"
press '!'
see "command that fails now"
press Enter
see "a command, such as: make test"
enter_text 'echo "tested in $PWD"; test ! -e src/keys.ts'
press Enter
see "the first bad turn, after" "before turn 1" "tested in /tmp" "Press Enter to go back."
hides "tested in $project" || fail "the command ran in the project"
press Enter
see "▌ Captures must be" "the first bad turn is selected" "[x] D src/keys.ts"
(cd "$project" && find . -type f -print0 | sort -z | xargs -0 sha256sum) | cmp -s - "$top/files" || fail "the project was changed"
acknowledge

# A command that does not fail, and one that is interrupted.
press '!'
see 'tested in $PWD'
press C-u
enter_text true
press Enter
see "Press Enter to go back."
press Enter
see "the command does not fail now"
press C-c
ended 130
close

# The shell of the terminal is interrupted, too, and ends with the program.
open 100 30 rewind f3a97c58
see "[x] M src/keys.ts"
press '!'
see "command that fails now"
enter_text 'echo begun; sleep 1000'
press Enter
see "begun"
press C-c
see "Press Enter to go back."
press Enter
see "interrupted: bisect"
see "▌ Yes"
