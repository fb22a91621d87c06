#!/bin/sh
# A session of which a resume restores only a part is marked in the list and says so when it is read; one that is whole is not.
. "$(dirname "$0")/lib.sh"
demo
folder=$(dirname "$(find "$config/projects" -name '4b7e0f91*.jsonl')")

# Eight exchanges; the one with this number follows a row that is not in the file.
session() { # ID CUT
    at=0 parent=null
    while [ $at -lt 8 ]; do
        at=$((at + 1))
        [ $at != "$2" ] || parent='"eeeeeeee-0000-4000-8000-000000000000"'
        for type in user assistant; do
            uuid=$(printf '%s%06d-0000-4000-8000-000000000000' "$([ $type = user ] && echo aa || echo bb)" $at)
            content='"question '$at'"'
            [ $type = user ] || content='[{"type":"text","text":"answer '$at'"}]'
            printf '{"parentUuid":%s,"isSidechain":false,"type":"%s","message":{"role":"%s","content":%s},"uuid":"%s","timestamp":"2026-11-20T09:0%d:00.000Z","cwd":"%s","sessionId":"%s"}\n' \
                "$parent" $type $type "$content" "$uuid" $at "$project" "$1"
            parent='"'$uuid'"'
        done
    done >"$folder/$1.jsonl"
    printf '{"type":"custom-title","customTitle":"%s","sessionId":"%s"}\n' "$3" "$1" >>"$folder/$1.jsonl"
}
session 0a000001-0000-4000-8000-000000000000 6 "Cut before the sixth"
session 0a000002-0000-4000-8000-000000000000 9 "Whole as it was"
for size in "60 20" "80 24" "200 50"; do
    # shellcheck disable=SC2086
    open $size -q "/sixth|Whole/"
    match "Cut before the sixth.* partial"
    hides "damaged" || fail "it is no damage"
    says "Whole as it was[^│]*partial" && fail "a whole session is marked"
    press C-c
    ended 130
    close
done
open 100 30 -q "/sixth|Whole/"
match "Cut before the sixth.* partial"
press C-u
enter_text sixth
gone "Whole as it was"
press Right
see "a resume restores 6 of 16 messages: reprise doctor 0a000001 --fix --reconnect" "10 lost to a resume"
press C-c
ended 130
close

# pi and Qwen Code follow parents, too: the row that the third of four follows is gone.
agent() { # FILE ROW BEGIN: printf's form of a row (number, parent, role, text), and the first row
    mkdir -p "${1%/*}"
    printf '%s' "${3:-}" >"$1"
    parent=null
    for at in 1 2 3 4; do
        [ $at != 3 ] || parent='"0000eeee"'
        # shellcheck disable=SC2059
        printf "$2\n" $at "$parent" "$([ $((at % 2)) = 1 ] && echo user || echo assistant)" "asks $at" >>"$1"
        parent="\"0000000$at\""
    done
}
id=0b000001-0000-4000-8000-00000000000
agent "$top/home/.qwen/projects/$(echo "$project" | tr -c 'A-Za-z0-9\n' -)/chats/${id}1.jsonl" \
    '{"uuid":"0000000%s","parentUuid":%s,"sessionId":"'${id}1'","timestamp":"2026-11-20T09:00:00.000Z","type":"%s","cwd":"'"$project"'","message":{"parts":[{"text":"Qwen %s"}]}}'
agent "$top/home/.pi/agent/sessions/--$(echo "${project#/}" | tr / -)--/2026-11-20T09-00-00-000Z_${id}2.jsonl" \
    '{"type":"message","id":"0000000%s","parentId":%s,"timestamp":"2026-11-20T09:00:00.000Z","message":{"role":"%s","content":[{"type":"text","text":"pi %s"}]}}' \
    '{"type":"session","version":3,"id":"'${id}2'","timestamp":"2026-11-20T09:00:00.000Z","cwd":"'"$project"'"}
'
open 100 30 -q "asks"
match "Qwen asks 1.* partial"
match "pi asks 1.* partial"
for agent in Qwen pi; do
    press C-u
    enter_text "\"$agent asks\""
    match " 1 (of [0-9]+ )?session"
    press Right
    see "a resume restores 2 of 4 messages: reprise doctor 0b000001 --fix --reconnect" "2 lost to a resume"
    press Escape
    gone "lost to a resume"
done
press C-c
ended 130
close

# After the repair it is whole.
HOME=$top/home CLAUDE_CONFIG_DIR=$config "$program" -C "$project" doctor 0a000001 --fix --reconnect >"$top/repair"
open 200 50 -q sixth
see "Cut before the sixth" "question 8"
hides "partial" || fail "it is marked after its repair: $(cat "$top/repair")"
press C-c
ended 130
