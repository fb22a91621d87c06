#!/bin/sh
# The transcript opens at its end, scrolls, searches, jumps between prompts, and closes.
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
see "swallowed"
press Escape
press Escape
see "Payments: idemp"
press C-c
ended 130
