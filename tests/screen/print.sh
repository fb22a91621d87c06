#!/bin/sh
# --print draws on the terminal while stdout is a pipe, which gets the choice and nothing else.
. "$(dirname "$0")/lib.sh"
demo
: >"$top/piped"
open 100 30 --print
see "Payments: idemp"
enter_text idempot
gone "Payment page copy"
press Enter
ended 0
grep -q 'f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb' "$top/stdout" || fail "stdout: $(cat "$top/stdout")"
[ "$(wc -l <"$top/stdout")" = 1 ] || fail "not one line: $(cat "$top/stdout")"
LC_ALL=C grep -q "$(printf '\033')" "$top/stdout" && fail "escapes in stdout"
exit 0
