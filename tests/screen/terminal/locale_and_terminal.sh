#!/bin/sh
# A locale without UTF-8 gets ASCII only; a locale that is not installed and an unknown terminal work all the same.
. "$(dirname "$0")/../lib.sh"
demo
folder=$(dirname "$(ls "$config"/projects/*/f3a97c58-*.jsonl)")
sed -i 's/Payments: idempotency keys/Größere Änderungen 日本/g' "$folder"/f3a97c58-*.jsonl
settings=LC_ALL=C
open 100 30
see "Gro?ere Anderungen ? ?" "Payment page copy"
tm pipe-pane -o "cat >'$top/sent'"
press Down Right
gone "Payment page copy"
press Escape
see "Payment page copy"
LC_ALL=C grep -q '[^ -~[:cntrl:]]' "$top/sent" && fail "not ASCII"
press C-c
ended 130
close
settings='LC_ALL= LANG=xx_XX.UTF-8 TERM=no-such-terminal'
open 100 30
see "Größere Änderungen 日本"
press C-c
ended 130
close
settings='TERM=no-such-terminal TERMINFO=/nonexistent TERMINFO_DIRS=/nonexistent'
open 100 30
until_true "an answer" says "terminfo entry|Payment page copy"
close

# The Linux console has no other screen to go back to: the shell goes on in an empty line.
settings=TERM=linux
open 100 30
see "Enter resume"
press C-c
see "exit 130"
match '^exit 130$'
close
