#!/bin/sh
# A second configuration directory of Claude Code, under a name of its own: listed, filtered, rewound and resumed beside
# the first one.
. "$(dirname "$0")/lib.sh"
demo
mkdir -p "$top/home/.config/reprise" "$top/home/work"
cp -a "$config/projects" "$config/file-history" "$top/home/work/"
printf '[store.work]\nformat = claude\npath = ~/work\nresume = claude --work {id}\n' >"$top/home/.config/reprise/config"
keys=$project/src/keys.ts
cp "$keys" "$top/keys.before"
touched() { ! cmp -s "$keys" "$top/keys.before"; }
untouched() { cmp -s "$keys" "$top/keys.before"; }

open 140 40 --all
match "Payments: idempotency .* +work "
match "Payments: idempotency .* +claude "
enter_text "system:work idempot"
see " 1 of "
press C-x
see "all sessions"
press w
see "dry run: nothing has been changed" "[x] M src/keys.ts"
press a
see "an undo record is kept"
press Down
press Enter
see "restored 1 file - u undo"
touched || fail "no file was restored"
press u
see "restored 1 file - U redo"
until_true "the file as it was" untouched
press Escape
see "system:work"
press Enter
see "agent: --work f3a97c58" "in $project"
ended 0

# ^F runs the store's own command, which wins over a copy of ours
sessions() { find "$top/home/work/projects" -name '*.jsonl' | wc -l; }
before=$(sessions)
printf 'fork = claude --work-fork {id}\n' >>"$top/home/.config/reprise/config"
open 140 40 --all
enter_text "system:work idempot"
see " 1 of "
press C-f
see "agent: --work-fork f3a97c58" "in $project"
ended 0
[ "$(sessions)" = "$before" ] || fail "a copy was made, too"
