#!/bin/sh
# Cleanup by rule: a rule, its list, one question, the trash; undo restores every byte.
. "$(dirname "$0")/../lib.sh"
demo
image >"$top/before"
open 100 30
see "16 sessions"
press C-x
see "all sessions"
enter_text c
see "not used for"
press Enter
see "not used for (empty"
press C-u
enter_text 12h
press Enter
match "[1-9][0-9]* of [1-9][0-9]* sessions ticked"
enter_text d
match "Move [1-9][0-9]* sessions, .* to the trash"
press Enter
gone "to the trash?"
image | cmp -s - "$top/before" || fail "something was deleted although the answer was no"
enter_text d
see "to the trash?"
press Down
press Enter
match "moved to trash: [1-9][0-9]* sessions"
match "0 of [0-9]* sessions ticked" # tagged, named by hand, or of Entire
match "kept: [1-9] tagged, [1-9] named"
image | cmp -s - "$top/before" && fail "nothing was deleted"
enter_text u
see "undone: "
match "[1-9][0-9]* of [1-9][0-9]* sessions ticked"
image | cmp -s - "$top/before" || fail "not everything was restored"
acknowledge
press Escape
see "16 sessions"
press C-c
ended 130
close

# Snapshots beyond the limits of the configuration go for good, after a typed yes; the newest stays.
for turn in 1 2 3; do
    echo "$turn" >>"$project/notes.txt"
    for event in prompt end; do
        printf '{"session_id":"4b7e0f91-d836-4a5c-b0f2-29c4e8a163cc","cwd":"%s","prompt":"do %s"}' "$project" "$turn" |
            env HOME="$top/home" CLAUDE_CONFIG_DIR="$config" sh -c 'cd "$1" && "$2" snapshot --agent claude --event "$3"' \
                - "$project" "$program" "$event" >/dev/null
    done
done
kept=$(find "$top/home/.local" -path '*/copies/*' -name log)
[ "$(grep -c '"tree"' "$kept")" -ge 3 ] || fail "no snapshots were taken"
sed -i 's/"time":1[0-9]*/"time":1700000000000/' "$kept"
open 120 36
see "16 sessions"
menu c
match "[1-9] old snapshots: E removes them"
enter_text E
match "Remove [1-9] old snapshots for good"
press Enter
gone "for good?"
[ "$(grep -c '"tree"' "$kept")" -ge 3 ] || fail "they were removed without a yes"
enter_text E
match "Remove [1-9] old snapshots for good"
enter_text yes
press Enter
match "removed for good: [1-9] snapshots"
gone "old snapshots"
[ "$(grep -c '"tree"' "$kept")" = 1 ] || fail "the newest one did not stay"
press C-c
ended 130
close

# If the limits cannot be read, nothing is old.
sed -i 's/"time":1[0-9]*/"time":1600000000000/; p' "$kept"
mkdir -p "$top/home/.config/reprise"
printf '[snapshots]\nmax-age = 20d\n' >"$top/home/.config/reprise/config"
open 120 36
see "Fix the payment"
menu c
see "1 old snapshot: E removes them"
press Escape
see "16 sessions"
sed -i "\$s/\"time\":1[0-9]*/\"time\":$(date +%s)000/" "$kept"
menu c
see "1 old snapshot stays for a day: the clock has jumped"
press C-c
ended 130
close
printf '[snapshots]\nmax-age = many\n' >"$top/home/.config/reprise/config"
open 120 36
see "Fix the payment"
acknowledge
menu c
see "not used for"
settle
hides "old snapshot" || fail "snapshots are offered although their limits are not known"
press C-c
ended 130
