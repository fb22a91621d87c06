#!/bin/sh
# Under tmux the background is the one that tmux answers: a light one gets the theme for it; a theme that is configured is not
# asked about.
. "$(dirname "$0")/../lib.sh"
demo
colours() { tm capture-pane -e -p | grep -qF "$1"; }
printf 'set -g window-style bg=#fdf6e3,fg=#222222\n' >"$top/tmux.conf"
tm() { tmux -S "$top/tmux$terminals" -f "$top/tmux.conf" "$@"; }
open 100 30
see "Fix the payment"
enter_text pay
until_true "a match in the colour for a light background" colours "38;5;94m"
press C-c
ended 130
printf 'theme = dark\n' >"$top/config"
open 100 30 --config "$top/config"
see "Fix the payment"
enter_text pay
until_true "a match in yellow" colours "[33"
press C-c
ended 130
