#!/bin/sh
# kill -TERM gives the terminal back.
. "$(dirname "$0")/../lib.sh"
demo
open 100 30
see "Payment page copy"
pid=$(tm display-message -p '#{pane_pid}')
kill -TERM "$(pgrep -P "$pid" reprise)"
ended 143
