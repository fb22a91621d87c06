#!/bin/sh
# --plain: numbered lines and a question, no screen; a dumb terminal gets it automatically.
. "$(dirname "$0")/../lib.sh"
demo
touch "$(grep -l 'Payment page copy' "$config"/projects/*/*.jsonl)" # not an activity, so the order stays
open 120 30 --plain
see "Payments: idempotency keys" "2h ago"
enter_text 2
press Enter
see "agent: --resume f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb in $project"
ended 0
