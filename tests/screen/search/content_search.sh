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
see "match 1 of 2"
press M-n
see "match 2 of 2"
press M-N
see "match 1 of 2"
press M-N # with one session only, it goes round
see "match 2 of 2"
press M-n
see "match 1 of 2" "Alt+n next"
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
see "no such field (agent project"
press Escape
see "Payment page copy"
enter_text //i
see "searches the text of the conversations" "Payment page copy"
[ "$before" = "$(image)" ] || { echo "searching changed the store"; exit 1; }
press Escape
see "Payment page copy"
press M-n
see "type // and words to search in the conversations"

# Beyond the last match of a conversation the next session is selected, and back again at its last match.
enter_text //retry
see "5 lines in 2 sessions" "match 1 of 1"
press M-n
see "match 1 of 4" "71.5k tokens"
press M-n
see "match 2 of 4"
press M-N
press M-N
see "match 1 of 1" "47.6k tokens"
press M-N
see "match 4 of 4" "71.5k tokens"
press C-c
ended 130
