#!/bin/sh
# A key that a slow line delivers byte by byte is that key where Esc would end the program. Elsewhere its Esc is one step
# back, and the rest of it is not typed.
. "$(dirname "$0")/../lib.sh"
demo
pieces() { # HEX...
    for byte; do
        tm send-keys -H "$byte"
        sleep 0.4
    done
}
open 100 30
match "▌ .*Fix the payment"
pieces 1b 5b 42
match "▌ .*Payments: idempotency"
pieces 1b 4f 41
match "▌ .*Fix the payment"
enter_text payment
gone "Move the cart"
pieces 1b 5b 31 3b 35 42
see "type to filter" "Move the cart"
press C-x
see "log of changes"
pieces 1b 5b 33 7e
gone "log of changes"
see "type to filter"
tm send-keys Escape
ended 130
