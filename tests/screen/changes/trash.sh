#!/bin/sh
# A deleted session is in the trash; Enter restores it, every byte of it.
. "$(dirname "$0")/../lib.sh"
demo
id=f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb
transcript=$(find "$config/projects" -name "$id.jsonl")
cp -p "$transcript" "$top/before.jsonl"
open 80 24
see "Payments: idempotency"
press Down
press DC
see "Move 1 session"
press Down
press Enter
see "moved to trash: 1 session"
[ ! -e "$transcript" ] || fail "the transcript still exists"
press C-x
see "D  trash"
enter_text D
see "trash  1 session" "Payments: idempotency keys"
press Enter
see "restored: 1 session" "The trash is empty"
cmp -s "$transcript" "$top/before.jsonl" || fail "the transcript differs"
acknowledge
press Escape
see "15 of 16 sessions" "Payments: idempotency"
press C-c
ended 130
close

# On a large screen the trash shows the conversation too.
open 120 30
see "Payments: idempotency"
press Down
press DC
see "Move 1 session"
press Down
press Enter
see "moved to trash: 1 session"
press C-x
see "D  trash"
enter_text D
see "trash  1 session" "delivery now, and all 149 tests"
press C-c
ended 130
