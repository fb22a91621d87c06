#!/bin/sh
# Keys that the configuration binds act, and footer, menu, help and `help keys` show them; conflicts are named at the start.
. "$(dirname "$0")/lib.sh"
demo
cat >"$top/keys" <<'END'
[keys.list]
menu = f9
rename = ctrl-g
delete = ctrl-x alt-d
scope = none
fork = ctrl-x ctrl-y
[keys.menu]
tag = j alt-t
archive = f12
[keys.everywhere]
help = f2
END
open 120 30 --config "$top/keys"
see "Fix the payment"
see "^X in [keys.list] is bound to delete already, not to fork"
press C-g
see "title ›" "Enter OK  Esc cancel"
press Escape
gone "title ›"
see "^Y fork" "^G rename" "F9 actions" "F2 help"
hides "^A scope" || fail "an unbound action is in the footer"
press C-a
enter_text "?"
see "> ?"
press BSpace
press F9
see " j    tag " " n    rename " " F12  archive "
press Escape
gone "tag the session"
press F2
see "^X Alt+d" "move the session to the trash"
hides "Del " || fail "help shows a default key that does nothing"
press Escape
gone "move the session to the trash"
press Home
press M-d
see "Move 1 session, 34 KB, to the trash?"
press C-c
ended 130
see "in [keys.list] is bound"
