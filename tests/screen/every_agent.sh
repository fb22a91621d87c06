#!/bin/sh
# Search, tokens, export and who touched a file, by key, on the sessions of every system; the commands' half is commands/every_agent.py.
. "$(dirname "$0")/lib.sh"
settings="GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null"

touched() { # UP FILE
    gone "Export the session"
    press C-x
    see "all sessions"
    enter_text w
    see "dry run"
    match "^▌ " # the turns are listed
    for _ in $1; do press Up; done
    see "$2"
    press Tab
    see "Space tick"
    enter_text t
    see "history of /" "Enter read"
    match "^▌ .*edited"
}

# //words, the session at its hit, the document of e, and who touched a file of the rewind view.
answers() { # WORLD WORDS TOKENS [UP FILE]
    world=$top/$1
    rm -rf "$top/home"
    mkdir "$world"
    project=$("${PYTHON:-python3}" "$screens/../support/fixture_homes.py" "$1" "$world")
    ln -s "$world/home" "$top/home"
    config=$world/home/.claude
    open 120 32
    see "recent"
    enter_text "//\"$2\""
    match "[0-9]+ lines? in [0-9]+ session"
    see "$3"
    press Right
    see "/$2" "1 of "
    press n
    see "1 of "
    acknowledge
    press Escape
    press Escape
    match "[0-9]+ lines? in [0-9]+ session"
    press C-x
    see "export"
    enter_text e
    see "Export the session"
    press Up
    press Enter
    see "file ›"
    press C-u
    enter_text "$top/$1.md"
    press Enter
    gone "file ›"
    press Down
    press Enter
    see "wrote "
    grep -q "$2" "$top/$1.md" || fail "$1: the document does not have the words"
    [ -z "${5-}" ] || touched "$4" "$5"
    press C-c
    ended 130
    close
}

answers claude "many files" "7.9k tokens" "1" "[x] M mod.txt"
answers shipped "read it first" "6.2k tokens" "1" "[x] M src/main.go"
answers spec "also add a new" "change the greeting"
answers doc "Change the" "Hello there"
answers exathena "edit again" "edit again" " " "config.txt"
answers two-sessions "Added login" "300 tokens"
answers refs-ulid "Bump dependencies" "100 tokens"
