#!/bin/sh
# e writes the marked sessions into a directory, one file each; Esc during a long one leaves nothing of its file.
. "$(dirname "$0")/lib.sh"
demo
transcript=$(find "$config/projects" -name 'f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb.jsonl')
long=01234567-0000-4000-8000-000000000000
awk -v parent=null -v cwd="$project" -v id="$long" -v now="$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" 'BEGIN {
    for (text = "a line of many"; length(text) < 100000; text = text "\\n" text) {}
    for (i = 1; i <= 400; i++) {
        printf "{\"parentUuid\":%s,\"isSidechain\":false,\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"%s\"},\"uuid\":\"%08d-0000-4000-8000-000000000000\",\"timestamp\":\"%s\",\"cwd\":\"%s\",\"sessionId\":\"%s\"}\n",
            parent, (i == 1 ? "Endless talk" : text), i, now, cwd, id
        parent = sprintf("\"%08d-0000-4000-8000-000000000000\"", i)
    }
}' >"${transcript%/*}/$long.jsonl"
files() { find "$top/out" -type f | sort; }
open 80 24
see "Endless talk"
press Home
see "Endless talk"
press C-x
see "export"
enter_text e
see "Export the session" "~/code/shop/endless-talk-01234567.md"
press Up
press Enter
see "file ›"
press C-u
enter_text "$top/out.md"
press Enter
gone "file ›"
see "out.md"
press Down
press Enter
see "going back cancels"
press Escape
see "cancelled: nothing was written"
[ -z "$(find "$top" -name '*out.md*')" ] || fail "a part of the file was left"
enter_text "payment"
see "Fix the payment retry"
press Tab
press Tab
see "2 marked"
press C-x
see "export"
enter_text e
see "Export 2 sessions" "Directory"
press Up
press Enter
see "directory ›"
press C-u
enter_text "$top/out"
press Enter
gone "directory ›"
press Down
press Enter
see "wrote 2 files into"
[ "$(files | wc -l)" = 2 ] || fail "not two files: $(files)"
press C-c
ended 130
