#!/bin/sh
# The board: the sessions that run now, those that wait first. It follows what their agents publish, reads along, and
# goes to the terminal of one of them.
. "$(dirname "$0")/lib.sh"
demo
agents() {
    tmux -S "$top/tmux-agents" -f /dev/null "$@"
}

# What Claude Code writes about a session that it runs; with a rename, as it does.
publish() { # PROCESS SESSION STATUS [MORE]
    start=$(sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20)
    mkdir -p "$config/sessions"
    printf '{"pid":%d,"sessionId":"%s","cwd":"%s","procStart":"%s","kind":"interactive","status":"%s"%s}' \
        "$1" "$2" "$project" "$start" "$3" "${4-}" >"$config/sessions/new"
    mv "$config/sessions/new" "$config/sessions/$1.json"
}

agents new-session -d -s work -x 80 -y 24 'echo "The first agent"; exec sleep 600'
agents new-window -d 'echo "Allow this edit?"; exec sleep 600'
tmux -S "$top/tmux-client" -f /dev/null new-session -d -x 80 -y 25 "TMUX= exec tmux -S '$top/tmux-agents' attach"
until [ -n "$(agents list-clients)" ]; do sleep 0.05; done
first=$(agents list-panes -s -F '#{window_index} #{pane_pid}' | sed -n 's/^0 //p')
second=$(agents list-panes -s -F '#{window_index} #{pane_pid}' | sed -n 's/^1 //p')
retries=4b7e0f91-2c3d-4a58-9e6b-7f10c4d2a8e5
retries=$(basename "$(find "$config/projects" -name '4b7e0f91*.jsonl')" .jsonl)
refunds=f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb
publish "$first" "$retries" idle
settings="TMUX=$top/tmux-agents,1,0"

open 120 36
see "Enter resume"
menu B
see "Enter go to it" "idle" "tmux work:0.0"
hides "waiting" || fail "one waits already"

# It follows: one begins to work, another one appears and waits, and the cursor stays where it is.
publish "$first" "$retries" busy
see "1 busy"
publish "$second" "$refunds" waiting ',"waitingFor":"permission to use Edit"'
see "1 waiting" "permission to use Edit" "tmux work:1.0"
match "^▌ waiting"

# Reading along, from the end on; and back.
press Right
see "entry "
press Escape
see "1 waiting"

# There, without a key for the agent.
press Enter
see "exit 0"
until_true "the agent" sh -c 'tmux -S "$1" capture-pane -p | grep -qF "Allow this edit?"' sh "$top/tmux-client"
[ "$(agents capture-pane -p -t work:1 | grep -c .)" = 1 ] || fail "something was typed to the agent"
close

# A process that ends changes no file; without any, the board says so. Esc leaves.
open 80 24
see "Enter resume"
press M-b
see "1 waiting"
kill "$second"
gone "permission to use"
kill "$first"
see "No session is running"
press Escape
see "Enter resume"
press C-c
ended 130
