#!/bin/sh
# NO_COLOR: nothing on the screen has a colour. --ascii: only texts of people are drawn outside ASCII.
. "$(dirname "$0")/../lib.sh"
demo
settings=NO_COLOR=1
open 100 30
see "Payment page copy"
tm capture-pane -p -e | LC_ALL=C grep -qE "$(printf '\033')\[[0-9;]*(3|4|9|10)[0-7](;[0-9]+)*m" && fail "colours"
press C-c
ended 130
close
settings=
open 100 30 --ascii -q 'Node 22'
see "Upgrade to Node 22" "1 of 16 sessions"
screen | LC_ALL=C grep -q '[^ -~]' && fail "not ASCII"
press C-c
ended 130
