#!/bin/sh
# Every row of the table of systems, and every action, on the fixtures of every system; the commands' half is ../table.py.
. "$(dirname "$0")/lib.sh"
for agent in claude goat; do
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho "agent %s: $* in $(pwd)"\n' $agent >"$top/bin/$agent"
    chmod +x "$top/bin/$agent"
done
settings="GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null"

# Everything of a world except the data of undo.
world_image() {
    (cd "$world" && find . \( -path ./home/.local -o -path '*/.git/objects' -o -path '*/.git/logs' -o \
        -path '*/.git/refs/reprise' -o -name '*.lock' \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum)
}

as_before() { world_image >"$top/now" && cmp -s "$top/now" "$top/before"; }

as_undone() { if cuts; then as_before; else only_grown "$top/copy" "$world" && said_before; fi; }

# The conversation that a resume would restore.
said() {
    # shellcheck disable=SC2086
    env -i PATH="$PATH" HOME="$top/home" LC_ALL=C.UTF-8 ASAN_OPTIONS="${ASAN_OPTIONS-}" $settings \
        "$program" -C "$project" restore "$sid" --json
}

said_before() { said | cmp -s - "$top/said"; }

# A world with one of its sessions under the cursor.
begin() { # WORLD SYSTEM:ID QUERY
    name=$1 world=$top/$1 sid=$2
    rm -rf "$top/home"
    mkdir "$world"
    project=$("${PYTHON:-python3}" "$screens/../support/fixture_homes.py" "$1" "$world")
    ln -s "$world/home" "$top/home"
    config=$world/home/.claude
    world_image >"$top/before"
    cuts || { rm -rf "$top/copy" && cp -a "$world" "$top/copy"; }
    said >"$top/said" 2>/dev/null || : # it may have no conversation left
    open 110 32
    # The first word as a phrase: its letters alone may also match the random name of the folder.
    word=${3%% *}
    enter_text "\"$word\"${3#"$word"}"
    match " 1 (of [0-9]+ )?session"
}

# Choosing an unavailable action in the menu shows the reason and does nothing.
cannot() { # LETTER WORDS
    open_menu
    enter_text "$1"
    match "^ · [a-z ]+: .*$2"
    as_before || fail "$name: $1 did something"
}

# The change was made, and is undone to the last byte.
undone() { # WORDS
    see "$1"
    as_before && fail "$name: nothing was done: $1"
    open_menu
    enter_text u
    see "undone: "
    until_true "$name: as it was before: $1" as_undone
}

deletes() {
    press DC
    see "to the trash?" "cancel"
    press Down
    press Enter
    undone "moved to trash: 1 session"
}

renames() {
    press C-r
    see "title"
    press C-u
    enter_text "$1"
    press Enter
    undone "renamed"
}

forks() { # QUESTION
    press C-f
    see "$1"
    [ "$1" = "title of the fork" ] || press Down
    press Enter
    undone "forked"
}

reads() { # TEXT WORDS_ABOUT_SUBAGENTS
    press Right
    see "$1"
    press s
    see "$2"
    press Escape # puts the reason away
    gone "$2"
    press Escape
    see "recent"
}

# Waits for the question before a rewind, which is not shown while the files are still being read.
asked() {
    shows "cancel" || {
        press a
        false
    }
}

# Rewinds to the turn so many above the last; obstructed files stay. HELD: an unknown file is ticked first.
goes_back() { # UP FILE DONE [HELD]
    open_menu
    enter_text w
    see "dry run"
    match "^▌ " # the turns are listed
    for _ in $1; do press Up; done
    if [ -n "${4-}" ]; then
        see "[ ] $4"
        press Tab
        press Space
        press Down # to yes in the question
        press Enter
        see "[x] M ${4#held back }"
        press BTab
    fi
    see "$2"
    until_true "$name: the question" asked
    press Down
    press Enter
    see "$3"
    as_before && fail "$name: no file was restored"
    press u
    see "U redo"
    until_true "$name: the files as they were" as_undone
}

# The conversation of the same turn.
talks_back() { # WORDS
    press m
    see "conversation only" "$1"
    until_true "$name: the question" asked
    press Down
    press Enter
    case $sid in
    exathena:*)
        if ! cuts; then # its log is cut, or nothing is done
            see "there is no lease here"
            as_undone || fail "$name: something was done"
            leave
            return
        fi
        ;;
    esac
    see "✓ dropped"
    as_before && fail "$name: the conversation was not rewound"
    press u
    see "✓ brought back"
    case $sid in # Claude Code's own log gets another row if it cannot be cut because it is being read
    claude:* | entire:*) until_true "$name: the conversation as it was" said_before ;;
    *) until_true "$name: the conversation as it was" as_undone ;;
    esac
    leave
}

leave() {
    press Escape
    see "recent"
}

resumes() { # AGENT
    press Enter
    see "agent $1: --resume ${sid#*:} in"
    ended 0
    close
}

begin claude claude:22222222-2222-4222-8222-222222222222 third
reads "Nothing to do" "no sub-agents"
renames "Another name"
forks "title of the fork"
deletes
goes_back "1" "[x] M mod.txt" "restored 3 files"
talks_back "12 messages go"
resumes claude

# The only sub-agent is opened at once: for a Go session that is the stream of SDK messages.
reads_agent() { # TEXT TITLE
    press Right
    see "$1"
    press s
    see "$2"
    press Escape
    gone "$2"
    press Escape
    see "recent"
}

begin shipped goat:7b1c0a52-0d0e-4c56-9f6e-0a1b2c3d4e5f greeting
reads_agent "make main print a greeting" "sub-agent: every message of the run"
cannot t "have no tags"
cannot a "cannot be archived"
renames "Another name"
forks "title of the fork"
deletes
goes_back "1" "[x] M src/main.go" "restored 1 file"
talks_back "8 messages go"
resumes goat

begin spec goat:0f0e0d0c-0b0a-4908-8706-050403020100 "greeting !is:fork !is:damaged"
reads_agent "also add a new file" "sub-agent: every message of the run"
cannot t "have no tags"
renames "change the greeting again"
forks "title of the fork"
deletes
goes_back "1" "[x] A notes/todo.md" "re-created 1 file"
talks_back "6 messages go"
resumes goat

begin doc goat:abc-123 Hello
reads "Change the file" "this session has no sub-agents"
cannot a "cannot be archived"
renames "Hello again"
forks "title of the fork"
deletes
goes_back "" "[x] M a.txt" "restored 1 file" "held back a.txt"
talks_back "2 messages go"
resumes goat

begin exathena exathena:deploy-123 config
reads "Second turn done" "this session has no sub-agents"
cannot n "have no title"
cannot t "have no tags"
cannot a "cannot be archived"
forks "The fork gets no title"
deletes
goes_back "" "[x] D lib/new/created.ex" "restored 2 files"
talks_back "10 messages go"
press Enter
see "no command is configured; set"
press C-o
see "no command is configured; set"
press C-c # the fake agent stays on the screen
ended 130
close

begin two-sessions entire:a1b2c3d4-0001-4000-8000-00000000000a login
reads_agent "Session module added." "sub-agent: Completed 'dev' agent"
cannot n "have no title"
cannot t "have no tags"
cannot a "cannot be archived"
forks "title of the fork"
press DC
see "Its shadow branch stays: others use it."
press Escape
deletes
goes_back "1 2" "[x] A src/util.c" "restored 3 files"
talks_back "messages go"
resumes claude

begin migration entire:e1b2c3d4-0001-4000-8000-00000000000a parser
reads "parser" "this session has no sub-agents"
forks "title of the fork"
deletes
goes_back "1" "[x] M src/parse.c" "restored 1 file"
talks_back "4 messages go"
resumes claude

# Committed checkpoints have files, and a transcript that is retrieved by a resume; nothing can be deleted.
begin committed entire:d1b2c3d4-0003-4000-8000-00000000000c tests
reads_agent "Validation added." "sub-agent ag02"
cannot d "only its committed checkpoints are left"
goes_back "" "[x] D CHANGES" "deleted 4 files"
press m
see "conversation is not on this machine (use reprise" "retrieve)"
leave
forks "title of the fork"
find "$world/home/.claude" -name 'd1b2c3d4-*' | grep -q . && fail "its transcript was retrieved too early"
resumes claude
find "$world/home/.claude" -name 'd1b2c3d4-*' | grep -q . || fail "its transcript was not retrieved"

begin refs-ulid entire:01b2c3d4-0001-4000-8000-00000000000a dependencies
reads "Bumped." "this session has no sub-agents"
cannot d "only its committed checkpoints are left"
forks "title of the fork"
press C-x
enter_text w
see "the files already match"
press Up
see "This turn cannot be restored."
leave
resumes claude

begin edge entire:f1b2c3d4-0001-4000-8000-00000000000a Carry
see "transcript of it is left"
deletes
press C-x
enter_text x
see "half.json.tmp" "broken.json"
press Escape
see "recent"
press C-c
ended 130
