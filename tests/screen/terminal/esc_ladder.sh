#!/bin/sh
# Esc goes one step back at a time: menu, query, list, out. The key is the single byte that most terminals send.
. "$(dirname "$0")/../lib.sh"
demo
open 100 30
see "Payment page copy"
enter_text payment
gone "Move the cart"
press C-x
see "log of changes"
tm send-keys Escape
gone "log of changes"
see "payment"
tm send-keys Escape
see "Move the cart"
tm send-keys Escape
ended 130
