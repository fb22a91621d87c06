#!/bin/sh
# A team's store that cannot be opened: the screen names it and what is missing, at every size, and goes on with the others.
. "$(dirname "$0")/lib.sh"
demo
mkdir -p "$top/home/.config/reprise"
for size in "60 20" "80 24" "100 30" "120 36" "200 60"; do
    printf '[store.team]\nplugin = nonsense\n' >"$top/home/.config/reprise/config"
    # shellcheck disable=SC2086
    open $size --all
    see "Fix the payment" '✗ store "team" needs the plug-in' "problems: ^X x"
    acknowledge
    menu x
    match "^▌ +team "
    see "its last line is cut short"
    press C-c
    ended 130
    close
done

# A store whose directory does not exist, before and after that of the demo.
printf '[store.old]\nformat = claude\npath = ~/nowhere\n[store.team]\nplugin = nonsense\n' >"$top/home/.config/reprise/config"
open 120 36
see "Fix the payment" "no such directory" "and 1 more" "2 problems: ^X x"
acknowledge
menu x
see "2 problems" "~/nowhere" "cannot open store: no such directory"
press C-c
ended 130
close

# The commands say the same.
env HOME="$top/home" CLAUDE_CONFIG_DIR="$config" "$program" -C "$project" list 2>"$top/said" >/dev/null
grep -q '^reprise: cannot open store .*/nowhere: no such directory$' "$top/said" || fail "$(cat "$top/said")"
