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

# At 80 columns each session has one line: all fifteen are on a screen of 24.
open 80 24
see "Fix the payment" "Größentabelle"
press C-c
ended 130
close

# The tokens stay in the preview when the rest has to be shortened for them. Below the list, it leaves out what the row says.
open 80 32
see "── ~/code/shop · opus-5-5 · 47.6k tokens · 20" "fix/webhook-retry · 34 KB · Great."
press C-c
ended 130
close
open 120 32
see "│ shop · fix/webhook-retry · 3 files · 47.6k tokens" "┌─ claude · opus-5-5 · 34 KB on disk ─"
press C-c
ended 130
close

# In narrow rows a tag gives way to the title, and the preview names it; a path keeps its last part.
open 100 30 --all
see "Payments: idempotency keys " "Audit: who may call what "
press Down
see "· #infra"
press C-c
ended 130
close
open 60 20 -q zzqqx
see "~/code/shop" "0 of 16 sessions"
press C-u
see "Fix the payment"
menu X
match '^▌ +expires? |^▌ {1,4}the agent'
press C-c
ended 130
