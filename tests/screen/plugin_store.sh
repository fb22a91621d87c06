#!/bin/sh
# The store of a plug-in is listed, previewed, read and resumed like any other; what it cannot is dimmed with the reason.
example=$(realpath "$3")
rude=$(realpath "$4")
kept=$(realpath "$5")
. "$(dirname "$0")/lib.sh"
demo
one=11111111-1111-4111-8111-111111111111
mkdir -p "$top/home/team/-w" "$top/home/.config/reprise" "$top/home/.local/share/reprise/stores"
cp "$example" "$top/home/.local/share/reprise/stores/folder.so"
chmod -R go-w "$top/home/.local"
sed "s,/home/dev/ws/beta,$project,g" "$screens/../fixtures/claude/rewound.jsonl" >"$top/home/team/-w/$one.jsonl"
printf '[store.team]\nplugin = folder\npath = %s\n' "$top/home/team" >"$top/home/.config/reprise/config"
open 140 30 --all
see "Mock generated title"
enter_text "Mock gen"
gone "Payments: idempotency"
see "three.txt made after the rewind."
press C-r
see "title › Mock generated title"
press C-u
enter_text "A shared title"
press Enter
see "renamed to"
press C-u
enter_text "A shared"
see "A shared title"
# What it cannot is dimmed, and its letter shows the reason.
press C-x
see "all sessions"
press w
see "the saved copies of its files are only on the machine where the agent ran"
press Escape
press Right
see "one.txt made." "a resume continues here" "entry 11 of 11"
press Escape
see "all projects"
# It is retrieved before its agent continues it.
press Enter
see "agent: --resume $one in $project"
grep -rqF "A shared title" "$config/projects"/*/"$one.jsonl" || fail "the transcript was not retrieved"
ended 0
# Now it is here and there: one row.
open 140 30 --all -q "A shared"
match "A shared title +shop +claude.team"
press C-c
ended 130
# It is deleted from the store for good, if "yes" is typed; the local one stays. One question is about one store.
cp "$kept" "$top/home/.local/share/reprise/stores/kept.so"
chmod -R go-w "$top/home/.local"
mkdir -p "$top/home/kept/-w"
for id in 22222222-1111-4111-8111-111111111111 33333333-1111-4111-8111-111111111111; do
    sed "s/$one/$id/g" "$top/home/team/-w/$one.jsonl" >"$top/home/kept/-w/$id.jsonl"
done
printf '[store.kept]\nplugin = kept\npath = %s\n' "$top/home/kept" >"$top/home/.config/reprise/config"
open 140 30 --all
see "Payments: idempotency" "A shared title"
enter_text "system:kept"
gone "Payments: idempotency"
press Delete
see "Delete 1 session from kept for good?" "This cannot be undone."
press Enter
gone "This cannot be undone."
[ "$(find "$top/home/kept" -type f | wc -l)" = 2 ] || fail "deleted without yes"
press Delete
enter_text yes
press Enter
see "deleted for good: 1 session"
[ "$(find "$top/home/kept" -type f | wc -l)" = 1 ] || fail "not deleted, or too much"
press C-u
see "Payments: idempotency"
press M-a
press Delete
see "sessions of this machine and of each store are deleted separately"
press C-c
ended 130
# A server that never answers holds up neither the other sessions nor a key nor the way out.
cp "$rude" "$top/home/.local/share/reprise/stores/rude.so"
chmod -R go-w "$top/home/.local"
printf '[store.slow]\nplugin = rude\npath = hangs\n' >"$top/home/.config/reprise/config"
open 140 30 --all
see "Payments: idempotency"
enter_text "Card pay"
gone "Payments: idempotency"
see "Card payments: three ways compared"
see "no answer from slow yet"
press C-c
ended 130
# The viewer of a conversation on such a server says the same, takes keys, and is left at once; then it answers again.
printf '[store.kept]\nplugin = kept\npath = %s\ntimeout = 3600\n' "$top/home/kept" >"$top/home/.config/reprise/config"
settings=COMPLETE_STORE_SILENT=$top/silent
open 140 30 --all
enter_text "system:kept"
gone "Payments: idempotency"
see "A shared title" "three.txt made after the rewind."
touch "$top/silent"
press Right
see "no answer from kept yet"
press '?'
see "type to search" "no answer from kept yet"
press Escape
gone "type to search"
press Escape
gone "no answer from kept yet"
see "system:kept"
press Right
see "no answer from kept yet"
rm "$top/silent"
see "a resume continues here"
gone "no answer from kept yet"
press C-c
ended 130
# Its list fills while it is silent.
touch "$top/silent"
open 140 30 --all
see "A shared title" "no answer from kept yet"
press C-c
ended 130
