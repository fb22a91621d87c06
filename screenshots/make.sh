#!/bin/sh
# Takes the pictures: runs the real program on the demo's store in a terminal and draws what is on the screen.
#   usage: make.sh PROGRAM DEMO_STORE [DIRECTORY]     (screenshots/ by default)
pictures=$(cd "${3:-$(dirname "$0")}" && pwd)
svg=$(cd "$(dirname "$0")" && pwd)/svg.py
screens=$(cd "$(dirname "$0")/../tests/screen" && pwd)
. "$screens/lib.sh"

# The demo's temporary directory has another name each time.
capture() {
    tm capture-pane -N -e -p | sed "s|$top/home|/home/ada|g"
}

picture() { # NAME COLUMNS
    capture | python3 "$svg" "$2" "reprise" >"$pictures/$1.svg"
}

demo
open 120 32
see "Fix the payment" "All 152 tests pass" "on disk" "47.6k tokens"
picture list 120
enter_text idempot
gone "Payment page copy"
see "149 tests" "on disk" "71.5k tokens"
picture filter 120
press C-x
see "all sessions"
press w
see "dry run" "[x] M src/keys.ts"
press Tab
see "Space tick" "createHash"
picture rewind 120
press Escape
press Escape
see "149 tests"
press Right
gone "Enter resume"
see "149 tests" " in, "
press z
see "deliveryId: string"
picture transcript 120
close
open 120 32
see "Fix the payment" "on disk"
enter_text "// retry"
see "5 lines in 2 sessions" "match 1 of 1"
picture search 120
close

# Four sessions that run: their agents sleep in windows of tmux, and what Claude Code publishes about them is written here.
agents() {
    tmux -S "$top/tmux-agents" -f /dev/null "$@"
}
publish() { # PROCESS SESSION STATUS SECONDS [MORE]
    start=$(sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20)
    id=$(basename "$(find "$config/projects" -name "$2*.jsonl")" .jsonl)
    mkdir -p "$config/sessions"
    printf '{"pid":%d,"sessionId":"%s","cwd":"%s","procStart":"%s","kind":"interactive","status":"%s","statusUpdatedAt":%s000%s}' \
        "$1" "$id" "$project" "$start" "$3" "$(($(date +%s) - $4))" "${5-}" >"$config/sessions/$1.json"
}
agents new-session -d -s work -x 80 -y 24 'exec sleep 600'
for window in 1 2 3; do
    agents new-window -d -t "work:$window" 'exec sleep 600'
done
# shellcheck disable=SC2046
set -- $(agents list-panes -s -F '#{pane_pid}')
publish "$1" 4b7e0f91 busy 5
publish "$2" f3a97c58 waiting 130 ',"waitingFor":"permission to use Bash: npm test"'
publish "$3" 8e46b0d3 shell 370
publish "$4" 71e3f0c8 idle 4000
settings="TMUX=$top/tmux-agents,1,0"
open 120 16
see "Fix the payment"
press C-x
see "all sessions"
enter_text B
see "▌ waiting" "tmux work:3.0"
picture board 120
close
settings=
agents kill-server
rm -r "$config/sessions"

project_of_demo() {
    env HOME="$top/home" CLAUDE_CONFIG_DIR="$config" "$program" -C "$project" "$@" >/dev/null
}
project_of_demo rename 4b7e0f91 "Retries with backoff"
project_of_demo tag 4b7e0f91 payments
project_of_demo archive f3a97c58
project_of_demo undo
open 120 32
see "Retries with backoff" "on disk"
press C-x
see "all sessions"
enter_text H
see "renamed to Retries" "undone"
picture log 120
project_of_demo undo --back-to "$(env HOME="$top/home" CLAUDE_CONFIG_DIR="$config" "$program" -C "$project" log --json |
    sed -n 's/.*"id":"\([^"]*\)".*/\1/p' | tail -1)"

# ---- the first minute: find, read, rewind, undo ----

frames=
frame() { # SECONDS
    set -- "$1" "$top/frame$(echo "$frames" | wc -w)"
    capture >"$2"
    frames="$frames $1=$2"
}
close
open 100 28
see "Fix the payment" "All 152 tests pass" "on disk" "47.6k tokens"
frame 2.5
typed=
for letter in i d e m p o; do
    typed=$typed$letter
    enter_text "$letter"
    see "> $typed" "71.5k tokens"
    frame 0.25
done
gone "Payment page copy"
frame 2
press Right
gone "Enter resume"
see "149 tests"
frame 2.5
press z
see "deliveryId: string"
frame 2.5
press Escape
see "Enter resume"
press C-x
see "all sessions"
frame 1.5
press w
see "dry run" "[x] M src/keys.ts"
frame 2.5
press Tab
see "Space tick" "createHash"
frame 2.5
press a
see "an undo record is kept"
frame 2
press Down
press Enter
see "restored 1 file - u undo"
frame 2.5
press u
see "restored 1 file - U redo"
frame 2.5
press Escape # out of the pane
press Escape
see "Enter resume"
press C-u
see "Payment page copy"
typed=
for letter in / / " " r e t r y; do
    typed=$typed$letter
    enter_text "$letter"
    see "> ${typed% }"
    frame 0.25
done
see "5 lines in 2 sessions" "match 1 of 1"
frame 3
press C-u
see "Payment page copy"
press C-x
see "all sessions"
enter_text H
see "restored" "undone"
frame 3
# shellcheck disable=SC2086
python3 "$svg" --film 100 "reprise" $frames >"$pictures/film.svg"
