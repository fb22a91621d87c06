#!/bin/sh
# The demo neither reads nor changes the user's data: its undo reverts the changes made in it and no others, and the
# user's operation log, trash and undo records stay the same byte for byte.
. "$(dirname "$0")/lib.sh"
demo
id=f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb
as_person() {
    env -i PATH="$PATH" HOME="$top/home" LC_ALL=C.UTF-8 CLAUDE_CONFIG_DIR="$config" "$program" -C "$project" "$@"
}
state_of_person() { (cd "$top/home/.local" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }
as_person rename "$id" "A real title" >"$top/renamed"
state_of_person >"$top/before"
image >"$top/image"

mkdir "$top/tmp"
settings="TMPDIR=$top/tmp"
open 100 30 demo
see "Payment page copy"
press C-x
see "undo"
enter_text u
see "nothing left to undo"
press Down
press C-r
see "title ›"
press C-u
enter_text "Renamed in the demo"
press Enter
see "renamed to"
press DC
see "Move 1 session"
press Down
press Enter
see "moved to trash: 1 session"
press C-x
see "undo"
enter_text u
see "undone: the delete of"
press C-c
ended 130
close
state_of_person >"$top/after"
cmp -s "$top/before" "$top/after" || fail "the demo wrote into the user's own state"
image | cmp -s - "$top/image" || fail "the demo changed the user's own sessions"
[ -z "$(find "$top/tmp" -mindepth 1)" ] || fail "the demo left something"
as_person undo >"$top/undone"
grep -q "A real title" "$top/undone" || fail "the user's own change is no longer the newest"
