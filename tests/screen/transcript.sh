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
enter_text swallowed
press Enter
see "1 of 2"
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
