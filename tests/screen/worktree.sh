#!/bin/sh
# A session of another worktree is resumed there.
. "$(dirname "$0")/lib.sh"
demo
open 160 30
see "Refund flow, second try"
enter_text 'second try'
gone "Payment page copy"
press Enter
see "agent: --resume 1d82c5f4-90ab-4e63-a7c8-b3f60e5d2499 in $top/home/code/shop-refunds"
ended 0
