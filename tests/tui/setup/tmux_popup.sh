#!/bin/sh
# The line of `help init` for ~/.tmux.conf binds a key of a real tmux that opens the picker in a popup; the choice resumes there.
#   usage: tmux_popup.sh PROGRAM DEMO_STORE
screens=$(cd "$(dirname "$0")/../../screen" && pwd)
. "$screens/lib.sh"
demo
ln -s "$program" "$top/bin/reprise"
line=$("$program" help init | grep -o "run-shell .*") || fail "help init has no line for tmux"
printf '%s\nset -g default-command "sh -c \\"echo a pane; exec cat\\""\n' "$line" >"$top/home/tmux.conf"
printf '#!/bin/sh\nexec tmux -S "%s/tmux-inner" -f "%s/home/tmux.conf" new-session\n' "$top" "$top" >"$top/bin/inner"
chmod +x "$top/bin/inner"
program=$top/bin/inner
settings=TMUX=
open 100 30
see "a pane"
press C-b
press R
see "type to filter" "Payments: idemp"
press Escape
gone "type to filter"
see "a pane"
press C-b
press R
see "type to filter"
enter_text idempot
gone "Payment page copy"
press Enter
gone "type to filter"
until_true "the agent in the popup" test -s "$top/agent-stty"
