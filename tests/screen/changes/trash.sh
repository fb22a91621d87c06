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
close

# Each row names its project and its agent; the age is shown once for what one command deleted.
rm -r "$top/home"
demo
as_person() { HOME=$top/home CLAUDE_CONFIG_DIR=$config "$program" -C "$project" "$@"; }
as_person delete 2f6d1c02 d4c8b2aa
as_person delete "$(as_person list --json --system exathena | sed -n 's/.*"sessionId":"\([^"]*\)".*/\1/p' | head -1)"
open 80 24
see "Enter resume"
press C-x
see "D  trash"
enter_text D
match "^▌ +now .* shop +exathena"
match "^ +now .* Is psycopg 3.2 safe .* ledger +claude"
match "^ +7.6 KB  Upgrade to Node 22 .* shop +claude"
press C-c
ended 130
