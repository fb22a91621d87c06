#!/bin/sh
# A session has several tags: each is added and removed alone, each is found, and undo brings the former ones back.
. "$(dirname "$0")/../lib.sh"
demo
cd "$project"
run() {
    HOME=$top/home CLAUDE_CONFIG_DIR=$config XDG_CONFIG_HOME=$top/xc XDG_DATA_HOME=$top/xd XDG_STATE_HOME=$top/xs \
        "$program" "$@"
}
id=$(run list --tag infra --json | sed -n 's/.*"sessionId":"\([^"]*\)".*/\1/p' | head -n 1)
tags() {
    run info "$id" | sed -n 's/^tag  *//p'
}
expect() {
    [ "$(tags)" = "$1" ] || { echo "tags are '$(tags)', not '$1'"; exit 1; }
}
before=$(tags)
[ -n "$before" ] || { echo "no session with a tag"; exit 1; }
run tag "$id" spike "two words" >/dev/null
expect "$before, spike, two words"
[ "$(run tag "$id" spike)" = "nothing to change" ] || { echo "a tag was added twice"; exit 1; }
expect "$before, spike, two words"
for tag in "$before" spike "two words"; do
    run list --tag "$tag" --json | grep -q "$id" || { echo "not found by its tag $tag"; exit 1; }
done
[ -z "$(run list --tag words 2>/dev/null)" ] || { echo "found by a part of a tag"; exit 1; }
run untag "$id" "$before" "two words" never >/dev/null
expect "spike"
run undo --all >/dev/null
expect "$before, spike, two words"
run tag "$id" --none >/dev/null
expect ""
run tag "$id" a b >/dev/null
expect "a, b"
run tag "$id" zeta >/dev/null

# On the screen Tab offers each tag by itself.
open 80 24
see "Enter resume"
enter_text "tag:z"
press Tab
see "> tag:zeta" "1 of "
press Escape

# A pinned session is above newer ones; the pin is a tag, so a clean-up keeps the session, and undo unpins it.
pinned=Größentabelle
press End
match "▌ .*$pinned"
menu P
see "pinned: 1 session"
match "▌▴ .*$pinned"
press Home
match "▌▴ .*$pinned"
run list --tag pinned | grep -q "$pinned" || fail "the pin is no tag"
run sweep --larger-than 1k | grep "$pinned" | grep -q "stays: tagged" || fail "a clean-up does not keep it"
press Down
match "▌ .*Fix the payment"
press Up
menu P
see "unpinned: 1 session"
menu u
match "▴ .*$pinned"
close_all
