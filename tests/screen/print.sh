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

# A session that only its agent can fork: the key prints, or runs, the agent's command and opens the fork.
tar -xzf "$screens/../fixtures/agents/kimi/store.tar.gz" -C "$top/home"
relocate "$top/home"
# shellcheck disable=SC2016
printf '#!/bin/sh\ncase $1 in fork) echo "Forked to made-of-$3 (\\"Fork: $3\\") in 5ms" ;; *) echo "agent: kimi $*" ;; esac\n' >"$top/bin/kimi"
chmod +x "$top/bin/kimi"
mkdir -p "$top/no/g-ki-garden"
open 100 30 --all --print --query 'system:kimi Never end'
see "Never end this" "kimi"
gone "Payments: idemp"
press C-f
ended 0
PATH=$top/bin:$PATH sh -c "$(cat "$top/stdout") --flag" >"$top/said"
grep -qx 'agent: kimi --session made-of-session_0b6d0446-3cbb-44b6-8170-16ba6f744ed8 --flag' "$top/said" ||
    fail "stdout: $(cat "$top/stdout") $(cat "$top/said")"
close

open 100 30 --all --query 'system:kimi Never end'
see "Never end this"
gone "Payments: idemp"
press C-f
ended 0
grep -qx 'agent: kimi --session made-of-session_0b6d0446-3cbb-44b6-8170-16ba6f744ed8' "$top/stdout" || fail "stdout: $(cat "$top/stdout")"
close

# Kimi finds a session only where it began: a project that moved takes its sessions along, and one that is gone cannot be
# resumed.
mv "$top/no/g-ki-garden" "$top/no/moved"
open 100 30 --all --query 'system:kimi Never end'
see "Never end this"
gone "Payments: idemp"
press Enter
see "take its sessions to" "no/moved"
press Escape
gone "take its sessions to"
rmdir "$top/no/moved"
press Enter
see "directory where it began" # the line may break before it
close
