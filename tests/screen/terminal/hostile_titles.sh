#!/bin/sh
# Text that tries to act on the terminal has no effect: the screen stays intact and the window title is not set.
. "$(dirname "$0")/../lib.sh"
demo
folder=$(dirname "$(ls "$config"/projects/*/f3a97c58-*.jsonl)")
evil='\\u001b]0;PWNED\\u0007\\u001b[2J\\u001b[31mred\\u009b2J\\r\\u202e'
sed -i -e "s/Payments: idempotency keys/evil $evil title/g" -e "s/Captures must be idempotent/$evil prompt/g" \
    "$folder/f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb.jsonl"
open 120 30
see "Fix the payment" "evil"
press Down
see "swallowed"
press Right
gone "Fix the payment"
press g
see "prompt"
[ "$(tm display-message -p '#{pane_title}')" != PWNED ] || fail "the window's title was set"
press C-c
ended 130
