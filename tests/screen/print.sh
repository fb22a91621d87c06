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
tar -xzf "$screens/../fixtures/agents/kimi/store.tar.gz" -C "$top/home"
relocate "$top/home"
printf '#!/bin/sh\necho "agent: kimi $*"\n' >"$top/bin/kimi"
chmod +x "$top/bin/kimi"
open 100 30 --all --print --query 'system:kimi Never end'
see "Never end this" "kimi"
gone "Payments: idemp"
press C-f
ended 0
grep -qx 'cd .* && kimi fork session_0b6d0446-3cbb-44b6-8170-16ba6f744ed8' "$top/stdout" || fail "stdout: $(cat "$top/stdout")"
close

open 100 30 --all --query 'system:kimi Never end'
see "Never end this"
gone "Payments: idemp"
press C-f
see "no longer exists"
press 2
ended 0
grep -qx 'agent: kimi fork session_0b6d0446-3cbb-44b6-8170-16ba6f744ed8' "$top/stdout" || fail "stdout: $(cat "$top/stdout")"
