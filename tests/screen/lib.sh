# Drives the real program in a terminal of its own. Sourced by every script here:
#   . "$(dirname "$0")/../lib.sh"    with the arguments PROGRAM DEMO_STORE
# Tests wait for text on the screen, never for time: a slow machine makes a test slow, not wrong.
# shellcheck shell=sh
set -eu
umask 022 # a configuration that a group can write to is not read
program=$(realpath "$1") demo_store=$(realpath "$2")
screens=${screens:-$(cd "$(dirname "$0")" && pwd)}
[ -f "$screens/lib.sh" ] || screens=${screens%/*} # the script is in a folder of its kind
top=$(mktemp -d)
patience=${PATIENCE:-300} # seconds to wait for a text before the test fails
terminals=0
trap 'close_all; remove_all' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$top/home" "$top/bin"

tm() {
    tmux -S "$top/tmux$terminals" -f /dev/null "$@"
}

# Ends the terminal and whatever still runs in it.
close() {
    tm kill-server 2>/dev/null || true
}

# Ends every terminal of this script.
close_all() {
    for socket in "$top"/tmux*; do
        [ ! -S "$socket" ] || tmux -S "$socket" kill-server 2>/dev/null || true
    done
}

# What ran in a terminal may still write for a moment after its terminal has gone.
remove_all() {
    tries=200
    until rm -rf "$top" 2>/dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || exec rm -rf "$top"
        sleep 0.05
    done
}

# The store of the demo, and a fake agent that only prints how it was called.
demo() {
    "$demo_store" "$top/home"
    config=$top/home/claude project=$top/home/code/shop
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho "agent: $* in $(pwd)"\nstty -a >"%s/agent-stty"\n' "$top" >"$top/bin/claude"
    chmod +x "$top/bin/claude"
}

# Recorded sessions name the directories of the machine they were made on; here these are below one that does not exist,
# whatever the test's machine has in their place.
relocate() { # DIRECTORY
    find "$1" -type f \( -name '*.jsonl' -o -name '*.json' \) -exec sed -i "s|/home/dev|$top/no|g" {} +
}

# Sessions of the real client of a version instead of the demo's.
corpus() { # VERSION
    demo
    config=$top/home/corpus project=$top/home
    mkdir "$config"
    tar -xzf "$screens/../fixtures/corpus/corpus-$1.tar.gz" -C "$config" --strip-components 1
    relocate "$config/projects"
}

# Prints a checksum of every byte and every time of the store.
image() {
    (cd "$config" && find projects file-history ! -type d -printf '%p %s %T@\n' | sort &&
        find projects file-history -type f -print0 | sort -z | xargs -0 cat | sha256sum)
}

# Without leases (docs/architecture.md, "Portability") nothing is cut off: an undo contradicts what was appended.
cuts() { [ -z "${REPRISE_PORTABLE-}" ]; }

# Every file of a copy is still there with its bytes, and only logs are longer; the data of undo does not count.
only_grown() { # COPY DIRECTORY
    (cd "$1" && find . -type f ! -path '*/home/.local/*' ! -path '*/.git/objects/*' ! -path '*/.git/logs/*' \
        ! -path '*/.git/refs/reprise/*' ! -name '*.lock') | while read -r file; do
        case $file in
        *.jsonl) head -c "$(stat -c %s "$1/$file")" "$2/$file" ;;
        *) cat "$2/$file" ;;
        esac 2>/dev/null | cmp -s - "$1/$file" || exit 1
    done
}

# Runs the program in a new terminal, in the project. `settings` may add to the environment.
settings=
open() { # COLUMNS ROWS ARG...
    columns=$1 rows=$2
    shift 2
    : >"$top/stdout"
    terminals=$((terminals + 1)) # each has its own server
    # shellcheck disable=SC2086
    tm new-session -d -x "$columns" -y "$rows" \
        env -i PATH="$top/bin:$PATH" HOME="$top/home" TZ=UTC LC_ALL=C.UTF-8 TERM=screen-256color \
        CLAUDE_CONFIG_DIR="$config" REPRISE_PROC_DIR="$top" ASAN_OPTIONS="${ASAN_OPTIONS-}" $settings \
        sh "$screens/../support/pane.sh" "$top" "$project" "$program" "$@"
    tm set -g status off >/dev/null
}

screen() {
    tm capture-pane -p 2>/dev/null
}

fail() {
    echo "$*"
    echo "the screen:"
    screen | sed 's/^/    |/'
    exit 1
}

# Waits until a command succeeds.
until_true() { # WHAT COMMAND...
    what=$1 tries=$((patience * 20))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "never came: $what"
        # Processes are what a test of the screen spends its time on.
        [ $((tries % 8)) != 0 ] || tm has-session 2>/dev/null || fail "the terminal died before it came: $what"
        sleep 0.05
    done
}

# Rows may move until every session has been read: dots follow the count until then, and it is not seen with them.
shows() {
    case $1 in
    *sessions) screen | grep -qE 'sessions(…|\.\.\.)' && return 1 ;;
    esac
    screen | grep -qF -- "$1"
}
hides() { ! shows "$1"; }
says() { screen | grep -qE -- "$1"; }

# Waits until the screen stays the same: the rows of a list are put in order when they have been read, which may be a
# moment after they are shown.
settle() {
    tries=20 seen=
    until [ "$(screen)" = "$seen" ] || [ $tries -eq 0 ]; do
        seen=$(screen) tries=$((tries - 1))
        sleep 0.2
    done
}
see() {
    for text in "$@"; do until_true "\"$text\" on the screen" shows "$text"; done
    [ "$*" != "Enter resume" ] || settle
}
gone() { for text in "$@"; do until_true "\"$text\" to leave the screen" hides "$text"; done; }
match() { until_true "/$1/ on the screen" says "$1"; }

# Puts a message away with a key that does nothing else: Esc would go back if the message had gone by itself.
acknowledge() {
    press C-l
}

# Opens the menu. In the moment after the selected session went, the key is meant for that one, and refused.
open_menu() {
    press C-x
    until_true "the menu of actions" menu_is_open
}
menu_is_open() {
    shows "all sessions" && return
    shows "has just gone from the list" || return 1
    sleep 1
    shows "all sessions" || press C-x
    sleep 1
    shows "all sessions"
}

# Chooses an action in the menu.
menu() { # LETTER
    open_menu
    enter_text "$1"
}

# Esc is sent as terminals with CSI u send it: the single byte and a key right behind it are Alt and that key to a
# program that a busy machine has kept from reading them apart. `esc_ladder` presses the byte.
press() { # KEY...
    case $1 in
    Escape) tm send-keys -l "$(printf '\033[27u')" ;;
    *) tm send-keys "$@" ;;
    esac
}
enter_text() { tm send-keys -l -- "$1"; }

# Waits until the program has ended with this code, and checks that the terminal is as before.
ended() { # CODE
    see "exit $1"
    cmp -s "$top/stty-before" "$top/stty-after" || fail "the terminal's modes were not restored"
    [ "$(tm display-message -p '#{alternate_on}#{cursor_flag}')" = 01 ] ||
        fail "still on the alternate screen, or without a cursor"
}
