#!/bin/sh
# What an agent's own list leaves out is hidden, and shown with --all-kinds as what it is.
. "$(dirname "$0")/lib.sh"
demo
threads=$top/home/.codex/sessions/2026/11/22

thread() { # LAST-DIGIT SOURCE PROMPT
    id=01a203d5-3d33-73f3-8acc-99da0d00000$1
    mkdir -p "$threads"
    {
        printf '{"timestamp":"2026-11-22T15:17:16.000Z","type":"session_meta","payload":{"id":"%s","timestamp":"2026-11-22T15:17:16.000Z","cwd":"%s","source":%s}}\n' \
            "$id" "$project" "$2"
        [ -z "$3" ] || printf '{"timestamp":"2026-11-22T15:17:17.000Z","type":"event_msg","payload":{"type":"user_message","message":"%s"}}\n' "$3"
    } >"$threads/rollout-2026-11-22T16-17-16-$id.jsonl"
}
thread 1 '"cli"' "Typed by a person"
thread 2 '"exec"' "Begun by a command"
thread 3 '{"subagent":"review"}' "Asked by an agent"
thread 4 '"cli"' ""

open 120 40 -q system:codex
see "Typed by a person" " 1 of "
hides "Begun by a command" || fail "shown without --all-kinds"
press C-c
ended 130
open 120 40 --all-kinds -q system:codex
see "Typed by a person" " 4 of "
match "Begun by a command.* command"
match "Asked by an agent.* sub-agent"
match "01a203d5-3d33.* empty"
press C-c
ended 130
