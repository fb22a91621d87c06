#!/bin/sh
# Typed letters filter at once, a fuzzy match is found, Esc clears, Backspace edits.
. "$(dirname "$0")/lib.sh"
demo
open 100 30
see "Payment page copy"
enter_text idemp
see "Payments: idemp"
gone "Payment page copy"
press C-u
see "Payment page copy"
enter_text pgcopy
see "Payment page copy"
gone "idempotency"
press Escape
see "Fix the payment"
enter_text zzzzqq
gone "Payment page copy" "idempotency"
press C-c
ended 130
