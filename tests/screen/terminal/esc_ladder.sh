#!/bin/sh
# Esc goes one step back at a time: menu, query, list, out.
. "$(dirname "$0")/../lib.sh"
demo
open 100 30
see "Payment page copy"
enter_text payment
gone "Move the cart"
press C-x
see "rename the session"
press Escape
gone "rename the session"
see "payment"
press Escape
see "Move the cart"
press Escape
ended 130
