#!/bin/sh
# The sentences that a review found hard to read, each where a person meets it, by the number that the review gave it.
. "$(dirname "$0")/lib.sh"
demo
wrong=0
home=$top/home

# Runs the command and compares what it says on both channels, one line of it or more.
run() { # ARG...
    (cd "$project" && setsid env -i PATH="$top/bin:$PATH" HOME="$home" CLAUDE_CONFIG_DIR="$config" REPRISE_PROC_DIR="$top" \
        LC_ALL=C.UTF-8 TZ=UTC ASAN_OPTIONS="${ASAN_OPTIONS-}" "$program" "$@" </dev/null 2>&1) || true
}
said() { # NUMBER LINE ARG...
    number=$1 line=$2
    shift 2
    run "$@" >"$top/said"
    grep -qxF -- "$line" "$top/said" || { echo "$number: $*: no \"$line\" in:" && cat "$top/said" && wrong=1; }
}
like() { # NUMBER PATTERN ARG...
    number=$1 pattern=$2
    shift 2
    run "$@" >"$top/said"
    grep -qE -- "$pattern" "$top/said" || { echo "$number: $*: no /$pattern/ in:" && cat "$top/said" && wrong=1; }
}

said 1 'reprise: no session matches "zzzz"; see reprise list --all' info zzzz
said 2 'reprise: no session matches "4"; give at least 4 characters of an id' info 4
said 3 'reprise: cannot change to /nonexist: no such directory; see reprise list --all' -C /nonexist list
said 4 'reprise: cannot write into /nonexist: no such directory' export f3a97c58 -o /nonexist/a.md
said 5 'reprise: no terminal to draw on; try reprise list'
said 6 'reprise: --by must be day, week, month, session, model, project or agent; see reprise usage --help' usage --by year
said 7 'reprise: sweep needs a rule, such as --older-than 30d' sweep
said 8 'reprise: "foo" is not an age; write 30d, 12h or 2w' trash empty --older-than foo
said 9 'reprise: unknown option --foo; see reprise --help' --foo
if [ -w /dev/full ]; then # 10: what cannot be written
    (cd "$project" && env HOME="$home" CLAUDE_CONFIG_DIR="$config" LC_ALL=C.UTF-8 "$program" list >/dev/full 2>"$top/said") || true
    grep -qxF 'reprise: cannot write to standard output: No space left on device' "$top/said" || { cat "$top/said" && wrong=1; }
fi
said 11 'reprise: "foo" is not an agent that reprise knows; see reprise help agents' list --store foo:/x

# 12, 13: an agent that is not installed, and one that archives its sessions itself.
tar -xzf "$screens/../fixtures/agents/kimi/store.tar.gz" -C "$home"
tar -xJf "$screens/../fixtures/agents/codex/store.tar.xz" -C "$home"
relocate "$home/.codex"
relocate "$home/.kimi-code"
kimi=session_0b6d0446-3cbb-44b6-8170-16ba6f744ed8 codex=01a203d6-0ae3-76c2-a735-5e859099353f
mkdir -p "$top/no/g-ki-garden"
said 12 'reprise: kimi is not on your PATH (or set `resume = ...` under [kimi] in the configuration)' --resume "$kimi"
printf '#!/bin/sh\n' >"$top/bin/codex"
chmod +x "$top/bin/codex"
said 13 "reprise: only the agent can archive it; add --yes to run \"cd $home && codex archive $codex\"" archive "$codex"

# 14 to 17: undo, and the log of it.
run delete 9b0c7b1e >"$top/said"
id=$(sed -n 's/.*reprise undo \([0-9a-f-]*\)).*/\1/p' "$top/said")
grep -qE "^moved to trash: 1 session, .* \(undo with: reprise undo [0-9a-f-]+\)$" "$top/said" || { echo "16: $(cat "$top/said")" && wrong=1; }
said 15 "reprise: nothing left to undo here; the newest change (delete of \"Refund flow\": moved to trash, now) is in $home/code/shop-refunds: reprise undo $id" \
    -C "$home/code/ledger" undo
run undo "$id" >"$top/said"
like 17 'undo       undid: moved to trash  "Refund flow"' log
run rename 9b0c7b1e "Gone soon" >"$top/said"
rm "$config"/projects/*/9b0c7b1e*.jsonl
like 14 '^reprise: skipped 1 change to sessions that are gone; the newest is the rename of "Refund flow" \(now, [0-9a-f-]+\)$' undo

# 30 to 35: configuration, filter, team store, headings of usage, and the README.
printf 'theme = lihgt\n' >"$top/theme"
like 30 '^reprise: .*/theme:1: theme "lihgt"\? Did you mean light\?' --config "$top/theme" config --check
printf '[store.team]\nplugin = postgresql\n' >"$top/team"
like 32 '^reprise: store "team" needs the plug-in "postgresql", which is not installed \(package reprise-postgresql; set by' \
    --config "$top/team" list

for line in 'Nothing in a session file can control your terminal, and the terminal is always restored on exit.' \
    'Every action is also a command, with `--json` ([docs/json.md](docs/json.md)). A C [library](docs/library.md)'; do # 34, 35
    grep -qF -- "$line" "$screens/../../README.md" || { echo "README: no \"$line\"" && wrong=1; }
done
# 26: the help of the demo; 33: the columns of usage.
like 26 'Undo in the demo never touches' demo --help
open 130 36 usage --by day
see "DAY" "CACHE WRITE  CACHE READ"
close

# 31, 18 and 36: the filter, the menu, and labels that are words.
open 80 24
see "Payments: idemp" "^X actions" "3 files"
enter_text "is:foo"
see "is: takes running waiting archived fork"
press C-u
enter_text "is:archived"
match "Card payments.* archived"
press C-u
menu ' '
see "f  fork" "y  copy"
enter_text y
match "copied: [0-9a-f]{8}-"
press Escape
# 19 to 24, 27 to 29: the rewind of a file that another session changed later.
tm resize-window -x 120 -y 30
enter_text idempot
gone "Payment page copy"
menu w
see "dry run: nothing has been changed" "[ ] held back src/pay.ts" "later: “Fix the payment r" "1 shell command ran since; its" "cannot be" # 21, 36
press i
see "not needed" # 24
press Up
see "this turn changed no files" # 22
press Down
see "[x] M src/keys.ts"
press Tab
see "Space tick"
press Up
see 'changed later by "Fix the payment retry loop"' # 20
press Space
see "That change would be replaced. You can undo this." # 19
press Escape
press m
see "the last 8 messages go, 24 stay" # 28
press m
press m
see "dry run: nothing has been changed" "1 unchanged"
press a
see "restore 1 file" "1 file is not ticked and stays as it is" # 29
press Down Enter
see "u undo"
close

# 27, 29: a change of an earlier run, and a clean-up.
open 100 30
see "Payments: idemp"
menu u
see "Undo the rewind of “Payments: idempotency keys” (1 file, just now)?"
press Escape
menu c
see "not used for"
press Enter
press C-u
enter_text 12h
press Enter
match "[1-9][0-9]* of [1-9][0-9]* sessions ticked"
press Tab
press Space
enter_text d
see "1 session stays: not ticked." # 29
close

# 28: the prompts that go and those that stay, by name.
open 120 32 --query idempot
see "Payments: idemp"
menu w
see "▌ Yes"
press m
see "stays   ❯ Captures must be idempotent" "stays   ❯ What if an order" "goes    ❯ Yes" "The messages that go stay in the file as a"
close
# On a narrow screen, which has no room for the prompts that go.
open 60 20 --query idempot
see "Payments: idemp"
menu w
see "▌ Yes"
press m
see "the last 8 messages go, 24 stay; files are not changed"
close

# 23: an agent that keeps no copies; 25: branches.
open 120 30 --all --query "agent:codex story"
see "Tell me a long story"
gone "Payments: idemp"
menu w
see "reconstructed from the"
close
rm -r "$top/home"
corpus 330
open 100 30 --all
see "32 sessions"
press Right
see "a branch leaves here" "entry "
enter_text B
see "the current conversation"
press Enter
see "Branch 2 of "
close
[ "$wrong" = 0 ]
