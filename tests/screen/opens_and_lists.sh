#!/bin/sh
# The picker opens on the project's sessions, newest first, and Esc leaves no trace.
. "$(dirname "$0")/lib.sh"
demo
open 100 30
see "Fix the payment" "Payments: idemp" "Payment page copy"
newest=$(screen | grep -n 'Fix the payment' | head -1 | cut -d: -f1)
older=$(screen | grep -n 'Payments: idemp' | head -1 | cut -d: -f1)
[ "$newest" -lt "$older" ] || fail "not newest first"
press Escape
ended 130
