#!/bin/sh
# The turn that broke something, found from the rewind view: the command runs in a copy, its output is read, the turn is selected.
. "$(dirname "$0")/../lib.sh"
demo
(cd "$project" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >"$top/files"
mkdir "$top/copies"
settings="TMPDIR=$top/copies"
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
see "It has ended." "the first bad turn, after" "before turn 1" "tested in $top/copies/" "rewind  Payments"
match "turn 1, .*: Captures must be idempotent" # before the id, which a narrow screen cuts
hides "what it changed: reprise" || fail "a command to type is cut at the edge"
see "It has ended. Enter selects that turn."
hides "tested in $project" || fail "the command ran in the project"
press Enter
see "▌ Captures must be" "the first bad turn is selected" "[x] D src/keys.ts"
(cd "$project" && find . -type f -print0 | sort -z | xargs -0 sha256sum) | cmp -s - "$top/files" || fail "the project was changed"
acknowledge

# A command that does not fail; one with much output, which is scrolled, and with what it leaves running.
press '!'
see 'tested in $PWD'
press C-u
enter_text true
press Enter
see "It has ended." "cannot bisect: the command does not fail now"
press Enter
gone "It has ended."
acknowledge
press '!'
see "command that fails now"
press C-u
enter_text 'sleep 1000 & seq 100000; printf "one\rtwo\n"; exit 1'
press Enter
see "It has ended." "the command fails at the first point already" "two"
says '^.. one' && fail "the first state of a line is shown"
press Up Up Up Up Up Up Up Up Up Up Up Up
see "99970"
press q
gone "It has ended."
acknowledge

# One that does not end is ended, with the copy of the project; the shell of the terminal is not.
copies() { [ "$(find "$top/copies" -mindepth 1 -maxdepth 1 | wc -l)" = "$1" ]; }
until_true "no copy is left" copies 0
press '!'
see "command that fails now"
press C-u
enter_text 'trap "" TERM; echo begun; sleep 1000; sleep 1000'
press Enter
see "begun" "It runs in a copy of the project"
press Escape
see "the bisect was ended; nothing was changed" "▌ Captures must be"
until_true "no copy is left" copies 0
press C-c
ended 130
close

# The program ends it, too.
open 100 30 rewind f3a97c58
see "[x] M src/keys.ts"
press '!'
see "command that fails now"
enter_text 'echo begun; sleep 1000'
press Enter
see "begun"
press C-c
see "exit "
until_true "no copy is left" copies 0
