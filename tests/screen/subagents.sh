#!/bin/sh
# A sub-agent is a transcript of its own: chosen from the sub-agents of a session, and left by Escape.
. "$(dirname "$0")/lib.sh"
demo
open 140 30 --all
see "Audit: who may call"
enter_text "Audit: who"
gone "Payment page copy"
press Right
see "receipt"
press g
see "Audit"
gone "List every route"
# From a message that is no call of one: all of them, to choose from.
press s
match 'done .* KB  Explore  Audit the shop.s endpoints: 23 routes'
match 'done .* KB  Explore  Audit the ledger.s endpoints: 9 routes'
press Down Enter
see "List every route of code/" "sub-agent: Audit the"
match '23 routes|9 routes'
press i
see '"isSidechain"'
press Escape
press Escape
# Back to where it was chosen, and from there to the conversation.
gone "List every route"
match 'Explore  Audit the shop'
match 'Explore  Audit the ledger'
press Escape
gone "Explore  Audit"
see "Audit"
press Escape
see "Audit: who may call"
press C-c
ended 130
