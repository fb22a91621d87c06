#!/bin/sh
# The directory of a killed demo is removed by the next demo; that of a running one stays.
. "$(dirname "$0")/../lib.sh"
demo
mkdir "$top/tmp"
settings="TMPDIR=$top/tmp"
folders() { find "$top/tmp" -mindepth 1 -maxdepth 1 -type d; }
kill_it() { kill "-$1" "$(pgrep -P "$(tm display-message -p '#{pane_pid}')" reprise)"; }

open 100 30 demo
see "Payment page copy"
killed=$(folders)
kill_it KILL
see "exit 137"
[ -d "$killed" ] || fail "the killed demo left nothing to remove"
close

open 100 30 demo
see "Payment page copy"
[ -d "$killed" ] || fail "a young directory, which may be about to be locked, was removed"
running=$(folders | grep -vxF "$killed")
touch -d '5 minutes ago' "$killed" "$running"
ln -s "$project" "$top/tmp/reprise-demo.link"
other=$terminals

open 100 30 demo
see "Payment page copy"
[ ! -d "$killed" ] || fail "the directory of the killed demo still exists"
[ -d "$running" ] || fail "the directory of a running demo was removed"
[ -d "$project" ] || fail "a link was followed"
press Escape
ended 130
close

terminals=$other
press Escape
see "exit 130"
[ -z "$(folders)" ] || fail "a demo that ended left something"
