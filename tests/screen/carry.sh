#!/bin/sh
# A session is put into a bundle by key: the file is asked for, what goes in is shown, and nothing is written before.
. "$(dirname "$0")/lib.sh"
demo
file=$project/one.tar.zst

bundle_to() { # FILE
    menu z
    see "file of the bundle"
    press C-u
    enter_text "$1"
    see "$1"
    press Enter
}

open 80 24
see "Enter resume"
menu i
see "no other agent to continue in yet; start qwen" "or kilo once"
press Escape
gone "no other agent"
menu z
see "file of the bundle" ".tar.zst"
press Escape
gone "file of the bundle"

bundle_to one.tar.zst
see "Write this bundle?" "one.tar.zst in ~/" "1 session with 25 messages" "reprise unbundle FILE"
press Escape
gone "Write this bundle?"
[ ! -e "$file" ] || fail "written before it was confirmed"

bundle_to one.tar.zst
see "Write this bundle?"
press 3
see "bundled: 1 session"
HOME=$top/home CLAUDE_CONFIG_DIR=$config "$program" bundle --list "$file" >"$top/list"
grep -q "Fix the payment retry loop" "$top/list" || fail "another session: $(cat "$top/list")"

# A file that exists is not replaced, and one without secrets is written.
bundle_to one.tar.zst
see "the file exists"
press Escape
gone "the file exists"
bundle_to two.tar.zst
see "Write this bundle?"
press 2
see "bundled: 1 session"
HOME=$top/home CLAUDE_CONFIG_DIR=$config "$program" bundle --list --json "$project/two.tar.zst" >"$top/list"
grep -q '"redacted":true' "$top/list" || fail "with secrets: $(cat "$top/list")"

# Marked sessions go into one file; only one can be continued in another agent, which must be there.
press Escape
press Tab
press Tab
menu i
see "it takes one session"
press Escape
bundle_to three.tar.zst
see "2 sessions with"
press Escape
gone "Write this bundle?"
close
