#!/bin/sh
# The key binding of `init` puts the command that resumes the choice on the prompt, and restores the terminal for the shell,
# however the program ended; rcd goes to a session's directory; the completions complete in a real shell. With `packaged`, only the completions are tried, those that a package installed.
#   usage: key_binding.sh PROGRAM DEMO_STORE SHELL [packaged]        77: the shell is not installed
screens=$(cd "$(dirname "$0")/../../screen" && pwd)
shell=$3 packaged=${4-}
command -v "$shell" >/dev/null || exit 77
. "$screens/lib.sh"
demo
printf '#!/bin/sh\necho $$ >%s/pid\nexec %s "$@"\n' "$top" "$program" >"$top/bin/reprise"
chmod +x "$top/bin/reprise"
load="eval \"\$(reprise init $shell)\""
[ $shell != fish ] || load="reprise init fish | source"
[ -z "$packaged" ] || load=
[ $shell$packaged != bashpackaged ] || load=". /usr/share/bash-completion/bash_completion"
case $shell in
bash)
    printf 'PS1="ready> "\n%s\n' "$load" >"$top/home/rc"
    start="bash --noprofile --rcfile $top/home/rc"
    ;;
zsh)
    mkdir "$top/home/zsh"
    printf 'PROMPT="ready> "\nautoload -U compinit && compinit -u -D\n%s\n' "$load" >"$top/home/zsh/.zshrc"
    start="env ZDOTDIR=$top/home/zsh zsh -d"
    ;;
fish)
    # Without this folder fish makes completions of all manuals, in the background.
    mkdir -p "$top/home/.config/fish" "$top/home/.local/share/fish/generated_completions"
    printf 'function fish_prompt\n printf "ready> "\nend\nset -g fish_greeting\n%s\n' "$load" \
        >"$top/home/.config/fish/config.fish"
    start=fish
    ;;
esac
printf '#!/bin/sh\nexec %s\n' "$start" >"$top/bin/shell"
chmod +x "$top/bin/shell"
program=$top/bin/shell

# The shell edits the line again: the program has ended, and what is typed goes where the cursor was moved to.
prompted() {
    enter_text "bc"
    press C-a
    enter_text "a"
    see "abc"
    press C-a C-k
}

# Shells lose a ^C that comes while they still draw what was pasted.
cancels() {
    press C-c
    press C-l
    hides "tw''ice"
}

# Pasted lines wait for Enter.
pastes() {
    prompted
    tm set-buffer "echo pas''ted
echo tw''ice"
    tm paste-buffer -p
    see "echo tw''ice"
    hides "pasted" || fail "a pasted line ran $1"
    until_true "the pasted lines to leave the screen" cancels
}

# An editor of lines.
printf '#!/bin/sh\necho "the editor reads"\nread -r line\n' >"$top/bin/lines"
chmod +x "$top/bin/lines"
# shellcheck disable=SC2034
settings=EDITOR=$top/bin/lines
open 140 30
see "ready>"
if [ -z "$packaged" ]; then
    enter_text ": one two"
    see "ready> : one two"
    press M-b # the cursor is before the last word
    press M-r
    see "Payments: idemp"
    enter_text idempot
    gone "Payment page copy"
    press Enter
    see "claude --resume f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb"
    match '^ready> : one (cd|claude) .*f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb *two'
    hides "agent:" || fail "the command ran before anybody pressed Enter"
    press C-a C-k
    pastes "after a choice"
    press M-r
    see "type to filter"
    press C-c
    gone "type to filter"
    pastes "after ^C"
    press M-r
    see "type to filter"
    menu o
    see "the editor reads"
    press Enter
    see "type to filter"
    menu o
    see "the editor reads"
    press C-c
    see "type to filter"
    press C-c
    gone "type to filter"
    pastes "after ^C in an editor"
    press M-r
    see "type to filter"
    kill -9 "$(cat "$top/pid")"
    gone "type to filter"
    [ "$(tm display-message -p '#{alternate_on}#{cursor_flag}#{mouse_any_flag}')" = 010 ] || fail "the screen is not as before"
    pastes "after a crash"
    press M-r
    see "Payments: idemp"
    enter_text idempot
    gone "Payment page copy"
    press Enter
    see "claude --resume f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb"
    press Enter
    see "agent: --resume f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb in $project"
    press M-r
    see "type to filter"
    press Escape
    gone "type to filter"
    enter_text "cd /; rcd f3a97c58; pwd"
    press Enter
    match "^$project *$"
fi
press C-l
enter_text "reprise unarch"
press Tab
see "reprise unarchive"
enter_text "1d82"
press Tab
see "reprise unarchive 1d82c5f4-90ab-4e63-a7c8-b3f60e5d2499"
press C-u # fish 4 only closes its completions on the first ^C
enter_text "exit 0"
press Enter
match '^exit 0' # it has ended, and writes no more into its home, which is removed
