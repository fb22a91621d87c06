#!/bin/sh
# The name of each agent has a colour of its own, and none where colours are not wanted.
. "$(dirname "$0")/lib.sh"
demo
# The sequences that begin the name of an agent, each once.
before() { # AGENT
    tm capture-pane -e -p | grep -oE "$(printf '\033')\[[0-9;]*m$1" | sed 's/.*\[//' | sort -u
}
open 140 24 --all
see "Payments: idempotency" exathena entire
[ "$(before goat)" = 36mgoat ] || fail "goat: $(before goat)"
[ "$(before exathena)" = 32mexathena ] || fail "exathena: $(before exathena)"
[ "$(before entire)" = 35mentire ] || fail "entire: $(before entire)"
[ "$(before claude)" = 2mclaude ] || fail "claude: $(before claude)"
press C-c
ended 130
settings="NO_COLOR=1"
open 140 24 --all
see "Payments: idempotency" exathena entire
for name in goat exathena entire claude; do
    [ "$(before $name)" = "2m$name" ] || fail "$name: $(before $name)"
done
press C-c
ended 130
