#!/bin/sh
# The transcript opens at its end, scrolls, searches, jumps between prompts, is exported, and closes.
. "$(dirname "$0")/lib.sh"
demo
open 100 30
see "Payments: idemp"
enter_text idempot
gone "Payment page copy"
press Right
see "all 149 tests pass"
press g
see "Captures must be idempotent"
gone "all 149 tests pass"
press G
see "all 149 tests pass"
press /
see "Enter find"
enter_text swallowed
press Enter
see "1 of 2" "n next  N previous"
press Escape
gone "1 of 2"
press e
see "Export the session" "Markdown"
press Down
press Right
see "HTML"
press Up
press Enter
see "wrote " "/payments-"
gone "Export the session"
page=$(ls "$project"/payments-*.html)
grep -q "^<!DOCTYPE html>" "$page" || fail "no page in $page"
press e
see "Export the session"
press Enter
see "The file exists."
press Escape
gone "Export the session"
press Escape
see "Payments: idemp"
press C-c
ended 130

# On a wide screen, the turns are beside the text; the list follows the cursor, and a click goes to a turn.
open 180 40
see "Payments: idemp"
enter_text idempot
gone "Payment page copy"
press Right
see "turn 3 of 3" "What if an order is captured twice with the same"
press "{"
press "{"
see "turn 2 of 3"
# The mouse as terminals report it: pressed and released on the list's first turn.
enter_text "$(printf '\033[<0;130;3M\033[<0;130;3m')"
see "turn 1 of 3"
match "[│┃] ▌ Captures must be idempotent"
close
open 140 40
see "Payments: idemp"
enter_text idempot
gone "Payment page copy"
press Right
see "all 149 tests pass" "Then the second capture" "26.1k in"
hides "turn 3 of 3" || fail "turns on a screen without room for them"
close
