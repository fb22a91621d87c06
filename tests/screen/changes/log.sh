#!/bin/sh
# The operation log: what was changed, undo of any of it with a question, and back to the state before an entry.
. "$(dirname "$0")/../lib.sh"

demo
run() {
    env HOME="$top/home" CLAUDE_CONFIG_DIR="$config" REPRISE_PROC_DIR="$top" "$program" -C "$project" "$@" >/dev/null
}
id=4b7e0f91
run rename "$id" "First name"
run tag "$id" money
run rename "$id" "Second name"

# An older entry alone: the question names it, and no other change is undone.
open 100 30
see "Enter resume"
menu H
see "log  3 changes" "renamed to Second name" "tagged money" "newest first"
press Down
press Enter
see "Undo the tag of “First name” (tagged money, just now)?"
press Escape
gone "Undo the tag"
press Enter
see "Undo the tag"
enter_text y
see "undone: the tag" "undid: tagged money" "(undone)"
# On a narrow screen the kind says what was done, so that the title has the room.
tm resize-window -x 60 -y 20
gone "undid: tagged money"
match "tag +First name +\(undone\)"
match "^  tagged money" # the selected entry is whole below
close

# Everything since: it is listed first, Esc does nothing, and one key goes forward again.
open 80 24
see "Enter resume"
press M-l
see "log  4 changes"
press End
press b
# The undo of the tag is undone too, since the second name was given between the two.
see "undo up to" "4 changes" "renamed to First name" "renamed to Second name"
press Escape
see "log  4 changes"
press End
press b
see "4 changes"
press b
see "Undo all 4 changes?" "or none"
enter_text y
see "undone: " "log  8 changes"
press U
see "redone" "log  9 changes" "redid: renamed to"
press Home
press Down
press Enter
see "it was undone already"
press q
see "First name"
press C-c
ended 130
close

env HOME="$top/home" CLAUDE_CONFIG_DIR="$config" "$program" -C "$project" log >"$top/log"
[ "$(grep -c 'undo  *undid: ' "$top/log")" = 4 ] && grep -q 'redo  *redid: renamed to' "$top/log" || fail "$(cat "$top/log")"

# The cursor stays on its entry, the newest one too, when a newer one appears above it.
open 80 24
see "Enter resume"
menu H
match "^▌ .*redid: "
run rename "$id" "Third name"
see "log  10 changes"
match "^▌ .*redid: "
press Up
match "^▌ .*renamed to Third name"
press Enter
see "Undo the rename of"
enter_text y
see "log  11 changes"
match "^▌ .*renamed to Third… .undone"
press C-c
ended 130
close

# A change that spans directories says so where there is room, behind what was done.
HOME=$top/home CLAUDE_CONFIG_DIR=$config "$program" -C "$project" delete 2f6d1c02 d4c8b2aa >/dev/null
open 80 24
see "Enter resume"
menu H
match "delete .* \+1 +moved to trash"
press C-c
close
open 140 24
see "Enter resume"
menu H
match "delete .* \+1 +moved to trash.*, other directories too"
press C-c
ended 130
close

# What the columns cut is whole below them, on a narrow screen, too.
run rename "$id" "A title that is longer than any column for it can be on a screen of sixty columns"
run rename "$id" "Short"
open 60 20
see "Enter resume"
menu H
match "^▌ .*A title that is longer.*…"
match "^  A title that is longer than any column for it can be on$"
match "^  a screen of sixty columns"
match "^  renamed to Short"
press C-c
ended 130
