#!/bin/sh
# Sessions that only their agent can change: the question shows its command, Enter runs nothing, undo puts a copy back.
. "$(dirname "$0")/../lib.sh"
demo
tar -xJf "$screens/../fixtures/agents/codex/store.tar.xz" -C "$top/home"
relocate "$top/home/.codex"
cat >"$top/bin/codex" <<'EOF'
#!/bin/sh
# The last argument is the id, as the real program wants it.
echo "codex $*" >>"$HOME/calls"
for id; do :; done
file=$(find "$HOME/.codex/sessions" "$HOME/.codex/archived_sessions" -name "rollout-*$id*")
case $1 in
delete) rm "$file" ;;
archive) mv "$file" "$HOME/.codex/archived_sessions/" ;;
esac
EOF
chmod +x "$top/bin/codex"
id=01a203d6-0ae3-76c2-a735-5e859099353f
there() { [ -n "$(find "$top/home/.codex/sessions" -name "*$id*")" ]; }
away() { ! there; }
calls() { cat "$top/home/calls" 2>/dev/null || true; }

open 80 28 --all
enter_text "system:codex long story"
see " 1 of " "Tell me a long story"

# The safe answer is the first one.
press DC
see "Only the agent can do this. Run its command?" "codex delete --force" "$id" "A copy of its files is kept in the trash"
press Enter
gone "Only the agent can do this"
there || fail "it was deleted without consent"
[ -z "$(calls)" ] || fail "something was run: $(calls)"

press DC
see "Only the agent can do this"
press Down Enter
see "deleted, with a copy in the trash: 1 session" "undo"
gone "Only the agent can do this" "main · 87 KB"
until_true "the file to leave" away
[ "$(calls)" = "codex delete --force $id" ] || fail "this was run: $(calls)"
press C-x
see "all sessions"
press u
see "undone: the delete of" "Tell me a long story"
until_true "the file to come back" there

# It cannot be done again without the agent.
press C-x
see "all sessions"
press U
see "only the session's agent can do that"
there || fail "it was deleted without its agent"

# A failure is reported in the agent's words.
mv "$top/bin/codex" "$top/codex"
printf '#!/bin/sh\necho "the index is locked" >&2\nexit 3\n' >"$top/bin/codex"
chmod +x "$top/bin/codex"
press DC
see "codex delete --force"
press Down Enter
see "codex: the index is locked"
mv "$top/codex" "$top/bin/codex"

# An archive mark, which undo does not cover.
press C-x
see "all sessions"
press a
see "codex archive" "$id" "unarchive the session instead"
press Down Enter
see "archived: 1 session"
until_true "the file to be archived" away
