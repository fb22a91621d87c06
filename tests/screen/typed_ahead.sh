#!/bin/sh
# Keys that are typed before the list is there, in a project of which the first sessions that are found are any of them.
. "$(dirname "$0")/lib.sh"
demo
folder=$(dirname "$(find "$config/projects" -name '4b7e0f91*.jsonl')")
for i in $(seq 1000 1600); do
    id=a1b2$i-0000-4000-8000-000000000000
    printf '{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Old question %s"},"uuid":"0000%s-0000-4000-8000-000000000000","timestamp":"2025-01-01T00:00:00.000Z","cwd":"%s","sessionId":"%s"}\n' \
        "$i" "$i" "$project" "$id" >"$folder/$id.jsonl"
done
# Before that, the terminal would read Enter as the end of a line.
begun() { [ "$(tm display-message -p '#{alternate_on}')" = 1 ]; }
touch -d 2025-01-01 "$folder"/a1b2*.jsonl
for _ in 1 2 3; do
    open 80 24
    until_true "the program's screen" begun
    press Down
    press Enter
    see "agent: --resume f3a97c58" # the second of the newest
    close
done

# An action on a session waits for it as well, and what is typed after it waits with it.
open 80 24
until_true "the program's screen" begun
press Down
press C-x
enter_text n
press C-u
enter_text "Money back"
see "title › Money back"
press Enter
see "renamed"
match "2h ago  Money back" # the second of the newest
press C-x
see "all sessions"
enter_text u
see "Payments: idempotency"
close

# What is typed filters, and Enter is for the best match.
open 80 24
until_true "the program's screen" begun
enter_text "retry"
press Enter
see "agent: --resume 4b7e0f91"
close

# The complete list says how many there are, without a sign that more come.
open 80 24
match " 61[0-9] of 61[0-9] sessions"
