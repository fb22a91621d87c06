#!/bin/sh
# What the sessions used: bars by day, by project and so on, the sessions behind a bar, and the conversation of one.
. "$(dirname "$0")/lib.sh"
demo
open 80 24
see "Enter resume"
menu "\$"
see "usage by day" "this repository" "tokens" "without a known price"
press C-a
see "usage by day" "all projects"
gone "sessions of all projects"
press Right
press Right
press Right
see "usage by project" "~/code/shop" "~/code/ledger"
press Enter
see "usage by session  ~/code/shop" "Payments: idempotency keys"
press Down
press Enter
see "entry "
press Escape
see "usage by session"
press Escape
see "usage by project"
press Escape
see "Enter resume"
press C-c
ended 130
