#!/bin/sh
# A session is kept by a key, stays in the list when its agent has removed it, and a key puts it back.
. "$(dirname "$0")/lib.sh"
demo
open 110 30 --all
see "Refund flow, second try"
enter_text 'second try'
gone "Payment page copy"
press C-x
see "keep a copy"
press K
see "kept: 1 session"
menu K
see "the kept copy is up to date"
press C-c
close
file=$(find "$config/projects" -name '1d82c5f4*.jsonl')
cp -p "$file" "$top/was"
rm "$file"

open 110 30 --all
see "Refund flow, second try"
enter_text 'second try'
gone "Payment page copy"
see kept
press Enter
see "only its kept copy is left: put it back first"
press C-x
see "put back"
press K
see "put back: 1 session"
cmp "$file" "$top/was"
enter_text ' is:kept'
gone "Refund flow, second try"
close
