#!/bin/sh
# Damaged sessions have a list of their own; the doctor checks one of them, repairs what can be repaired, and undo
# reverts the repair.
. "$(dirname "$0")/../lib.sh"
demo
id=f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb
transcript=$(find "$config/projects" -name "$id.jsonl")
truncate -s -1 "$transcript"
touch -d '2 hours ago' "$transcript"
cp -p "$transcript" "$top/before.jsonl"
open 100 30
see "15 of 16 sessions" "1 damaged: ^X x"
press C-x
see "x  damaged"
enter_text x
see "damaged  ~/code/shop" "1 session" "Payments: idempotency keys" "its last line is cut short"
press Enter
see "all 149 tests pass"
press Escape
see "its last line is cut short"
enter_text X
see "doctor  Payments: idempotency keys" "torn-tail" "1 can be repaired"
enter_text F
see "Repair 1 of"
tm resize-window -x 60 -y 20
see "written again at the end. No other byte" # lines break where the screen ends, and not where a wider one would
tm resize-window -x 100 -y 30
press Down
press Enter
if ! cuts; then # nobody may be in the middle of writing the line
    see "(not repaired: there is" "no lease here"
    cmp -s "$transcript" "$top/before.jsonl" || fail "something was written"
    exit 0
fi
see "repaired: 1 finding"
cmp -s "$transcript" "$top/before.jsonl" && fail "nothing was repaired"
acknowledge
press Escape
see "Nothing here is damaged"
enter_text u
see "undone: " "its last line is cut short"
cmp -s "$transcript" "$top/before.jsonl" || fail "undo did not restore the bytes"
acknowledge
press Escape
see "15 of 16 sessions"

# A session in a wrong folder is in no list; it is put back from here, and undo moves it away again.
folder=$(dirname "$transcript")
astray=$folder/$(basename "$folder")/$id.jsonl
mkdir "$(dirname "$astray")"
mv "$transcript" "$astray"
see "14 of 15 sessions"
menu x
see "no list shows it: Claude Code does not" "F repair"
enter_text F
see "Put the session back?"
enter_text y
see "repaired: 1 finding"
[ -f "$transcript" ] && [ ! -e "$astray" ] || fail "it is not where its agent looks"
see "its last line is cut short"
acknowledge
enter_text u
see "undone: " "no list shows it"
[ -f "$astray" ] || fail "undo did not move it"
acknowledge
press Escape
see "14 of 15 sessions"
press C-c
ended 130
