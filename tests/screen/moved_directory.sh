#!/bin/sh
# A session whose project moved: the place that looks like it is offered, what would move is shown, and undo takes it back.
. "$(dirname "$0")/lib.sh"
demo
mv "$top/home/code/shop-refunds" "$top/home/code/back office"
before=$(image)

choose() {
    see "Refund flow, second try"
    enter_text 'second try'
    gone "Payment page copy"
    press Enter
    see "directory no longer exists" "Moved to ~/code/back office? It is the work tree" "take its sessions to ~/code/back office" "in its repository"
}

# Nothing is written before the last answer.
open 80 24 --all
choose
press Escape
gone "directory no longer exists"
press Enter
see "directory no longer exists"
press 2
see "Let the sessions follow" "From ~/code/shop-refunds" "To   ~/code/back office" "2 sessions would move"
press Escape
gone "Let the sessions follow"
[ "$(image)" = "$before" ] || fail "written before it was confirmed"
press Enter
see "directory no longer exists"
press 2
see "Let the sessions follow"
press 2
see "moved: 2 sessions to"
HOME=$top/home CLAUDE_CONFIG_DIR=$config "$program" list --project "$top/home/code/back office" >"$top/list"
grep -q "Refund flow, second try" "$top/list" || fail "not there: $(cat "$top/list")"

# Enter resumes the session in the new place.
see "Refund flow, second try"
press Enter
see "agent: --resume 1d82c5f4" "/code/back office"
ended 0
close

# Undo takes all of it back.
HOME=$top/home CLAUDE_CONFIG_DIR=$config "$program" undo --all >"$top/undo" 2>&1 || fail "not undone: $(cat "$top/undo")"
[ "$(image)" = "$before" ] || fail "undo left something"

# A narrow screen offers it, too, beneath the reason.
open 60 16 --all
see "Refund flow, second"
enter_text 'second try'
gone "Payment page copy"
press Enter
see "directory no longer exists" "back office? It is the" "take its sessions to"
press Escape
close

# An agent that finds a session only where its project is: nothing but the move is offered.
mkdir -p "$top/home/code/tools"
echo one >"$top/home/code/tools/a.txt"
folder=$top/home/.qwen/projects/$(echo "$top/home/code/tools" | sed 's/[^A-Za-z0-9]/-/g')/chats
mkdir -p "$folder"
sid=aaaaaaaa-0000-4000-8000-000000000009
printf '{"uuid":"u1","parentUuid":null,"sessionId":"%s","timestamp":"2026-03-01T10:00:00.000Z","type":"user","cwd":"%s","version":"0.24.4","message":{"role":"user","parts":[{"text":"Sharpen the tools"}]}}\n' \
    $sid "$top/home/code/tools" >"$folder/$sid.jsonl"
ln -s claude "$top/bin/qwen"
mv "$top/home/code/tools" "$top/home/code/ledger/tools"
open 80 24 --all
see "Enter resume"
enter_text 'sharpen'
gone "Payment page copy"
press Enter
see "directory no longer exists" "take its sessions to ~/code/ledger/tools"
hides "here:" || fail "the agent does not find it here"
press 2
see "1 session would move; its agent lists"
press 2
see "moved: 1 session to"
press Enter
see "agent: --resume $sid" "/code/ledger/tools"
ended 0
close
