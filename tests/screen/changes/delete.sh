#!/bin/sh
# Del asks and Enter keeps everything; after a yes the session goes to the trash completely, and undo restores every byte.
. "$(dirname "$0")/../lib.sh"
demo
id=f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb
parts() { find "$config" -name "*$id*" | sort; }
parts >"$top/parts-before"
[ -s "$top/parts-before" ] || fail "the demo has no such session"
transcript=$(find "$config/projects" -name "$id.jsonl")
cp -p "$transcript" "$top/before.jsonl"
open 80 24
see "Payments: idempotency"
press Down
press DC
see "Move 1 session" "cancel"
press Enter
gone "Move 1 session"
parts | cmp -s - "$top/parts-before" || fail "something was deleted although the answer was no"
press DC
see "Move 1 session"
press Down
press Enter
see "moved to trash: 1 session" "14 of 15 sessions"
gone "Payments: idempotency"
[ -z "$(parts)" ] || fail "a part of the session was left"
press C-x
see "undo"
enter_text u
see "undone: " "15 of 16 sessions"
match "2h ago  Payments: idempotency"
parts | cmp -s - "$top/parts-before" || fail "not everything was restored"
cmp -s "$transcript" "$top/before.jsonl" || fail "the transcript differs"
[ ! "$transcript" -nt "$top/before.jsonl" ] && [ ! "$transcript" -ot "$top/before.jsonl" ] ||
    fail "the transcript's time differs"
press C-c
ended 130
