#!/bin/sh
# The picker opens on the project's sessions, newest first, and Esc leaves no trace.
. "$(dirname "$0")/lib.sh"
demo
open 100 30
see "Fix the payment retry loop" "Payments: idempotency keys" "Payment page copy"
newest=$(screen | grep -n 'Fix the payment retry loop' | head -1 | cut -d: -f1)
older=$(screen | grep -n 'Payments: idempotency keys' | head -1 | cut -d: -f1)
[ "$newest" -lt "$older" ] || fail "not newest first"
press Escape
ended 130
