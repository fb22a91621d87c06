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
close

# The tokens stay in the preview when the rest has to be shortened for them.
open 80 32
see "~/code/shop · fix/webhook-retry · 47.6k tokens · 20"
press C-c
ended 130
close
open 120 32
see "│ shop · fix/webhook-retry · 47.6k tokens" "┌─ claude · opus-5-5 · 34 KB on disk ─"
press C-c
ended 130
