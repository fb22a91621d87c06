#!/bin/sh
# A rewind on the screen: shown first, asked once, done, undone; and a rewind cut short by a crash is finished at the start.
. "$(dirname "$0")/../lib.sh"
demo
keys=$project/src/keys.ts
cp "$keys" "$top/keys.before"
untouched() { cmp -s "$keys" "$top/keys.before"; }
touched() { ! untouched; }
rewinds=$top/home/.local/state/reprise/rewinds

open 100 30
see "Payments: idemp"
enter_text idempot
gone "Payment page copy"
press C-x
see "all sessions"
press w
see "dry run: nothing has been changed" "[x] M src/keys.ts" "1 shell command ran"
press Tab
press t
see "history of ~/code/shop/src/keys.ts" "2 turns" "created"
press Tab
see "lines of ~/code/shop/src/keys.ts"
tm resize-window -x 200 -y 30 # a third of the screen is for the prompts, and most of it for the code
see "Captures must be idempotent: send an idempotency key"
tm resize-window -x 60 -y 30
see 'import { createHash } from' "L right"
press L L L L L L
see 'digest("base64url");'
press H H H H H H
see 'import { createHash } from'
tm resize-window -x 100 -y 30
press /
see "find ›"
enter_text RETURN # in the last line but one, which another prompt wrote
press Enter
see "idempotency keys  ❯ Yes"
press /
enter_text nowhere
press Enter
see "no line and no prompt has this"
press Escape
gone "find ›"
press Tab
see "2 turns"
press Enter
see "prev prompt" "❯ Yes"
press Escape
see "2 turns"
press Escape
see "dry run: nothing has been changed"
press Enter
press Enter
press Enter
press a
see "restore 1 file" "an undo record is kept"
press Enter
gone "an undo record is kept"
untouched || fail "Enter alone changed a file"
[ ! -e "$rewinds" ] || fail "the preview wrote something"
press a
see "an undo record is kept"
press Down
press Enter
see "restored 1 file - u undo"
touched || fail "no file was restored"
press u
see "restored 1 file - U redo"
until_true "the file as it was" untouched

# Files and conversation together, under one undo.
press m
press m
see "undone, files and conversation" "messages go" "[x] M src/keys.ts"
press a
see "restore 1 file, drop" "one undo restores both"
press Down
press Enter
see "restored 1 file, dropped"
touched || fail "no file was restored with the conversation"
press u
see "restored 1 file, brought back"
until_true "the file as it was" untouched
press m
see "undone: U redo"

# That turn alone.
press o
see "undone, this turn only" "[x] M src/keys.ts"
press o
see "undone: U redo"
press Escape
press Escape
see "of 16 sessions"
press C-c
ended 130
close

# By name, and from a rewind that was cut short.
mkdir -p "$rewinds/000000000000001-00000000/undo"
open 80 24 rewind f3a97c58
see "finished 1 rewind that had been interrupted" "[x] M src/keys.ts"
acknowledge
press Escape
ended 0
untouched || fail "the file differs"
