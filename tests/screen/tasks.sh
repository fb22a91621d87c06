#!/bin/sh
# Tasks of a working day, each done with the keys of a person and each with a bar: the most keys that it may take. A bar
# is 1.3 times the keys of the best way that other programs have for it. A word that is typed counts with each letter.
. "$(dirname "$0")/lib.sh"
demo
keys=0

key() { # KEY...
    keys=$((keys + $#))
    press "$@"
}

text() { # TEXT
    keys=$((keys + ${#1}))
    enter_text "$1"
}

# One letter in the menu of actions.
act() { # LETTER
    key C-x
    see "all sessions"
    text "$1"
}

begin() {
    keys=0
    open "$@"
    see "Enter resume"
}

within() { # TASK BAR
    [ "$keys" -le "$2" ] || fail "$1: $keys keys, at most $2"
    echo "$1: $keys keys (at most $2)"
}

# An old session of the project, as its agent would have left it.
old_session() { # NUMBER TITLE TAG
    id=0ld0000$1-0000-4000-8000-000000000000
    id=$(echo "$id" | tr l 1)
    file=$(find "$config/projects" -name '4b7e0f91*.jsonl')
    file=${file%/*}/$id.jsonl
    printf '{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"%s"},"uuid":"%08d-0000-4000-8000-000000000000","timestamp":"2025-01-0%d\x5400:00:00.000Z","cwd":"%s","sessionId":"%s"}\n' \
        "$2" "$1" "$1" "$project" "$id" >"$file"
    [ -z "$3" ] || printf '{"type":"tag","tag":"%s","sessionId":"%s"}\n' "$3" "$id" >>"$file"
    touch -d 2025-01-01 "$file"
}

# 1: the retry session of last week, resumed; by its title, and by a word of the text and a date.
begin 80 24
text retry
see "4 of 16 sessions"
key Enter
see "agent: --resume 4b7e0f91"
within "resume by title" 7
close
begin 80 24
text "after:1w // hammers"
see "1 line in 1 session"
key Enter
see "agent: --resume 4b7e0f91"
within "resume by text and date" 26
close

# 2: one file back that was deleted since, and nothing else.
rm "$project/src/keys.ts"
begin 80 24
key Down
act w
see "deleted since" "later, 3m ago"
key Tab
see "Space tick"
key Enter
see "include the file"
key y
see "[x] A src/keys.ts"
key a
see "an undo record is kept"
key y
see "1 file"
until_true "the file" test -e "$project/src/keys.ts"
within "one deleted file" 10
close

# 3: who wrote line 14 of a file.
begin 80 24
key Down
act w
see "src/pay.ts"
key t
see "history of"
key Tab
see "lines of" "14 " "not written by a session"
match "│ +[0-9]+ " # lines of one turn are joined
key :
see "line ›"
text 14
key Enter
match "▌.* 14 "
see "Fix the payment retry loop  ❯ Great. The retry loop"
key Enter
see "entry "
within "who wrote line 14" 13
close

# 4: delete what is older than a month, and keep what is tagged.
old_session 1 "An old question" ""
old_session 2 "A second old question" ""
old_session 3 "An old session to keep" keep
begin 80 24
act c
see "2 of 3 sessions ticked" "kept: 1 tagged"
key d
match "Move 2 sessions, .* to the trash"
key y
see "moved to trash: 2 sessions"
[ "$(find "$config/projects" -name '01d0000*.jsonl')" = "${file%/*}/$id.jsonl" ] || fail "not the tagged one is left"
within "delete the old, keep the tagged" 23
close

# 10: undo that clean-up, not everything in the trash.
begin 80 24
act H
see "moved to trash"
key Enter
see "Undo the sweep of"
key y
see "undone: "
[ "$(find "$config/projects" -name '01d0000*.jsonl' | wc -l)" = 3 ] || fail "not all are back"
within "undo the clean-up" 5
close

# 5: a session of Codex is continued in Claude Code.
codex=$top/home/.codex/sessions/2026/11/01
mkdir -p "$codex"
row() { # TYPE PAYLOAD
    printf '{"timestamp":"2026-11-01T10:00:00.000Z","type":"%s","payload":%s}\n' "$1" "$2"
}
said() { # ROLE TEXT
    row response_item '{"type":"message","role":"'"$1"'","content":[{"type":"'"$3"'_text","text":"'"$2"'"}]}'
}
{
    row session_meta '{"id":"c0de0001-0000-4000-8000-000000000001","timestamp":"2026-11-01T10:00:00.000Z","cwd":"'"$project"'","originator":"codex_cli_rs","cli_version":"0.100.0"}'
    said user "Rename the zebra crossing" input
    row event_msg '{"type":"user_message","message":"Rename the zebra crossing"}'
    said assistant "It is called the striped one." output
    row event_msg '{"type":"agent_message","message":"It is called the striped one."}'
} >"$codex/rollout-2026-11-01T10-00-00-c0de0001-0000-4000-8000-000000000001.jsonl"
begin 80 24
text zebra
see "1 of "
act i
see "Continue in which agent?" "Claude Code"
key Enter
see "It keeps 1 prompt, 1 reply." "The original is not changed" "make the session"
key y
see "continued in Claude Code: its session is selected" "undo"
[ "$(grep -l "striped one" "$config"/projects/*/*.jsonl | wc -l)" = 1 ] || fail "no session of Claude Code"
within "a session of Codex, continued in Claude Code" 10
menu u
see "undone: "
grep -q "striped one" "$config"/projects/*/*.jsonl && fail "the new session is still there"
rm -r "$top/home/.codex"
close

# 6: two forks are compared, and a file is taken from one of them.
shop=$project project=$project-refunds
rm "$project/src/due.ts"
begin 80 24
key Down Down
key Tab Tab
see "2 marked"
key M-c
see "here they part" "src/due.ts"
key Down Down
see "added by B" "+ B added it"
key B
see "Take the file as B left it?"
key y
see "the file is as B left it"
grep -q "What we owe" "$project/src/due.ts" || fail "the file was not taken"
project=$shop
within "compare two forks, take a file" 10
close

# 7: what the week cost, by project: one command.
HOME=$top/home CLAUDE_CONFIG_DIR=$config "$program" -C "$project" usage --by project --since 1w --all >"$top/usage"
grep -q "shop" "$top/usage" && grep -q "ledger" "$top/usage" || fail "not by project: $(cat "$top/usage")"

# 8: a session for a colleague, without secrets.
begin 120 30
key Down
act e
see "Secrets       replaced" "Write the file"
key Enter
see "secrets replaced"
find "$project" -name 'payments-idempotency-keys-*.md' | grep -q . || fail "no document"
within "a session without secrets" 13
close

# 9: the agent that waits for an answer, among those that run: the pane of tmux in which it runs is shown.
agents() {
    tmux -S "$top/tmux-agents" -f /dev/null "$@"
}
agents new-session -d -x 80 -y 24 "exec cat"
agents new-window -d 'echo "Allow this edit?"; exec sleep 600'
tmux -S "$top/tmux-client" -f /dev/null new-session -d -x 80 -y 25 "TMUX= exec tmux -S '$top/tmux-agents' attach"
until [ -n "$(agents list-clients)" ]; do sleep 0.05; done
waiting=$(agents list-panes -s -F '#{window_active} #{pane_pid}' | sed -n 's/^0 //p')
start=$(sed 's/.*) //' "/proc/$waiting/stat" | cut -d ' ' -f 20)
mkdir -p "$config/sessions"
printf '{"pid":%d,"sessionId":"%s","cwd":"%s","procStart":"%s","kind":"interactive","status":"waiting","waitingFor":"permission"}' \
    "$waiting" f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb "$project" "$start" >"$config/sessions/$waiting.json"
settings="TMUX=$top/tmux-agents,1,0"
begin 80 24
text is:wait
see "1 of 16 sessions" "waiting  3 files"
hides "Fix the payment" || fail "a session that does not wait is shown"
key Enter
see "go to it (tmux" "has it open on /dev/pts/"
key 2
see "exit 0"
until_true "the agent" sh -c 'tmux -S "$1" capture-pane -p | grep -qF "Allow this edit?"' sh "$top/tmux-client"
within "the agent that waits" 13
close
