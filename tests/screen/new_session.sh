#!/bin/sh
# A session that another process writes appears by itself, and disappears when it is deleted.
. "$(dirname "$0")/lib.sh"
demo
open 100 30
see "Payment page copy"
folder=$(dirname "$(ls "$config"/projects/*/f3a97c58-*.jsonl)")
sed -e 's/f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb/0f0f0f0f-0000-4000-8000-00000000abcd/g' \
    -e 's/Payments: idempotency keys/A session from elsewhere/' \
    "$folder/f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb.jsonl" >"$top/new.jsonl"
mv "$top/new.jsonl" "$folder/0f0f0f0f-0000-4000-8000-00000000abcd.jsonl"
see "A session from elsewhere"
rm "$folder/0f0f0f0f-0000-4000-8000-00000000abcd.jsonl"
gone "A session from elsewhere"
press C-c
ended 130
