#!/bin/sh
# //text searches the conversations: sessions with a hit and its line are listed, and reading one begins at the hit.
. "$(dirname "$0")/../lib.sh"
demo
open 100 30
see "Payment page copy"
before=$(image)
enter_text //idempotency
see "2 lines in 1 session" "2× …send an idempotency key with" "Payments: idempotency keys"
see "│ ❯ Captures must be idempotent: send an" # the preview goes to the match
gone "Payment page copy"
press Right
see "/idempotency" "1 of 2" "Captures must be idempotent"
press n
see "2 of 2"
press Escape
press Escape
see "2 lines in 1 session"
enter_text " that nobody typed"
see "No matches" "16 conversations searched"
press Escape
see "Payment page copy"
enter_text 'dir:shop after:9w agent:claude // key idempotency'
see "27 lines in 1 session" "Payments: idempotency keys"
press Escape
see "Payment page copy"
enter_text 'agent:codex // idempotency'
see "0 lines in 0 sessions"
press Escape
see "Payment page copy"
enter_text '// "must be idempotent" Captures'
see "in 1 session" "Payments: idempotency keys"
press Escape
see "Payment page copy"
enter_text '// must-be-idempotent'
see "No matches"
press Escape
see "Payment page copy"
enter_text '// IDEMPOTENT'
see "No matches"
press Escape
see "Payment page copy"
enter_text 'agnt:claude // idempotency'
see "no field agnt:"
press Escape
see "Payment page copy"
enter_text //i
see "searches the text of the conversations" "Payment page copy"
[ "$before" = "$(image)" ] || { echo "searching changed the store"; exit 1; }
press C-c
ended 130
