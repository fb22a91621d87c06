#!/bin/sh
# n and N go on in the next session with a hit; a hit in a sub-agent alone opens the sub-agent; turns show their tokens.
. "$(dirname "$0")/../lib.sh"
demo
open 100 30
see "Payment page copy"
enter_text //though
see "in 2 sessions"
press Right
see "Fix the payment retry" "/though" "1 of 1"
press n
see "Refund flow" "/though" "1 of 1" "session 2 of 2"
press n
see "Fix the payment retry" "session 1 of 2"
press N
see "Refund flow" "session 2 of 2" "5.6k in, 1.5k out"
acknowledge
press Escape
press Escape
see "in 2 sessions"
press C-c
ended 130
