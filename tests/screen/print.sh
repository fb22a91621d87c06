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
! LC_ALL=C grep -q "$(printf '\033')" "$top/stdout" || fail "escapes in stdout"
close

# A session that only its agent can fork: the key prints, or runs, the agent's command.
tar -xzf "$screens/../fixtures/agents/pi/store.tar.gz" -C "$top/home"
printf '#!/bin/sh\necho "agent: pi $*"\n' >"$top/bin/pi"
chmod +x "$top/bin/pi"
open 100 30 --all --print --query 'system:pi Other project'
see "Other project talk" "pi"
gone "Payments: idemp"
press C-f
ended 0
grep -qx 'cd .* && pi --fork my-own-id.1' "$top/stdout" || fail "stdout: $(cat "$top/stdout")"
close

open 100 30 --all --query 'system:pi Other project'
see "Other project talk"
gone "Payments: idemp"
press C-f
see "no longer exists"
press 2
ended 0
grep -qx 'agent: pi --fork my-own-id.1' "$top/stdout" || fail "stdout: $(cat "$top/stdout")"
