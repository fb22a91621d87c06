#!/bin/sh
# Two terminals with the same sessions, in two named stores: each shows what was changed in the other, and acts on that.
. "$(dirname "$0")/lib.sh"
demo
mkdir -p "$top/home/.config/reprise" "$top/home/work"
cp -a "$config/projects" "$top/home/work/"
printf '[store.work]\nformat = claude\npath = ~/work\n' >"$top/home/.config/reprise/config"

in_terminal() { terminals=$1; }
change() { # LETTER: of the selected session
    press C-x
    see "all sessions"
    enter_text "$1"
}

# Each has one of the stores in view.
open 100 30 --all
see "Enter resume"
enter_text "agent:claude "
match "[0-9]+ of [0-9]+ sessions"
open 100 30 --all
see "Enter resume"
enter_text "agent:claude "
match "[0-9]+ of [0-9]+ sessions"

# A new title, in the transcript; a mark that is beside it; and back.
in_terminal 1
press C-r
see "title"
press C-u
enter_text "Retries with backoff"
press Enter
see "renamed to"
in_terminal 2
see "Retries with backoff"
press Down
change a
see "archived: 1 session"
see "3f zz"
in_terminal 1
see "3f zz"
in_terminal 2
change u
see "undone"
gone "3f zz"
in_terminal 1
gone "3f zz"

# The other terminal undoes what was done here, after a question that names it: it is not a change of its own.
in_terminal 1
press Down
change t
see "tag"
press C-u
enter_text "hot"
press Enter
see "tagged #hot"
in_terminal 2
see "#hot"
change u
see "Undo the"
enter_text y
see "undone"
gone "#hot"
in_terminal 1
gone "#hot"

# A session that is deleted there is gone here; the trash shows it, and a restoration there takes it out of the trash here.
in_terminal 2
press C-u
enter_text "agent:claude Upgrade"
see " 1 of "
press DC
see "to the trash?"
enter_text y
see "moved to trash: 1 session"
in_terminal 1
gone "Upgrade to Node"
change D
see "1 session," "Upgrade to Node"
in_terminal 2
change u
see "undone"
in_terminal 1
see "The trash is empty"
press Escape
see "Enter resume" "Upgrade to Node"

# The log follows, too. The sessions of the other store are those of before.
change H
see "newest first" "undone"
in_terminal 2
press C-u
enter_text "agent:work Refund flow, second"
see " 1 of "
change a
see "archived: 1 session"
in_terminal 1
match "archive +Refund flow, second try"
press C-c
ended 130
close
in_terminal 2
press C-u
enter_text "agent:claude Refund flow, second"
see " 1 of " "Refund flow, second try"
hides "zz" || fail "the session of the other store was archived"
press C-c
ended 130
