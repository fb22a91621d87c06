#!/usr/bin/env bash
# make_fixture.sh - git-plumbing recipe for Entire CLI on-disk structures.
#
# Builds fixture repositories that have the shape Entire CLI gives them
# (session state files, shadow branches, committed checkpoints), without the
# Entire binary.  Formats: seed time (cli main f446dcfc, 2026-02-15) unless a
# fixture says otherwise.  Everything in git objects is deterministic: fixed
# dates (+0000), fixed ids, fixed text; a second run gives the same hashes.
#
#   make_fixture.sh OUTDIR [NAMES]    build all fixtures under OUTDIR, or these
#   make_fixture.sh --selftest BUNDLE rebuild real checkpoint commits from the
#                                     roger-roger bundle and compare their ids
#
# Fixtures:
#   two-sessions  two concurrent sessions, 7 interleaved shadow checkpoints
#   committed     entire/checkpoints/v1: single, multi-session, chunked,
#                 auto-commit task, legacy index gap, summary, finalize, merge
#   migration     HEAD moved under a session (stash, pull, apply): ref rename due
#   edge          linked worktree, orphan and legacy shadow branches, carry-forward
#                 commit, broken and legacy state files, look-alike branches
#   refs-ulid     later layout: one ref per checkpoint, ULID ids, decoy refs
set -euo pipefail
export LC_ALL=C TZ=UTC GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
NAME='Dev One'; EMAIL='dev@example.invalid'
T0=1770631200            # 2026-02-09T10:00:00Z

iso()  { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }
isoms(){ date -u -d "@$1" +%Y-%m-%dT%H:%M:%S.000Z; }
sha256(){ sha256sum | cut -d' ' -f1; }
# worktree id -> 6 hex: first 6 hex digits of sha256(id); id is '' for the main worktree
wthash(){ printf '%s' "$1" | sha256sum | cut -c1-6; }
shadow(){ printf 'entire/%s-%s' "$(printf '%.7s' "$1")" "$(wthash "${2:-}")"; }

# ---- object helpers (cwd = repo) -------------------------------------------
blob() { git hash-object -w --stdin; }                      # stdin -> blob id
# commit TREE PARENTS("a b"|"") TIME NAME EMAIL  (message on stdin, byte exact)
commit_obj() {
  local tree=$1 parents=$2 t=$3 n=$4 e=$5 p
  { printf 'tree %s\n' "$tree"
    for p in $parents; do printf 'parent %s\n' "$p"; done
    printf 'author %s <%s> %s +0000\ncommitter %s <%s> %s +0000\n\n' "$n" "$e" "$t" "$n" "$e" "$t"
    cat; } | git hash-object -t commit -w --stdin ${6:-}
}
# tree_edit BASE_TREE  reads ops on stdin:  "+ MODE BLOB PATH" / "- PATH" -> new tree id
tree_edit() {
  local idx; idx=$(mktemp -u)
  GIT_INDEX_FILE=$idx git read-tree "${1:-4b825dc642cb6eb9a060e54bf8d69288fbee4904}" 2>/dev/null || GIT_INDEX_FILE=$idx git read-tree --empty
  while read -r op a b c; do
    case $op in
      +) GIT_INDEX_FILE=$idx git update-index --add --cacheinfo "$a,$b,$c" ;;
      -) GIT_INDEX_FILE=$idx git update-index --force-remove -- "$a" ;;
    esac
  done
  GIT_INDEX_FILE=$idx git write-tree
  rm -f "$idx"
}
mode_of(){ if [ -x "$1" ]; then echo 100755; else echo 100644; fi; }
# "+" lines for work-tree files
add_files(){ local f; for f in "$@"; do printf '+ %s %s %s\n' "$(mode_of "$f")" "$(git hash-object -w --no-filters -- "$f")" "$f"; done; }
# "+" lines for every file below a directory
add_dir(){ find "$1" -type f | sort | while read -r f; do printf '+ %s %s %s\n' "$(mode_of "$f")" "$(git hash-object -w --no-filters -- "$f")" "$f"; done; }

# ---- the shadow-branch writer ----------------------------------------------
# shadow_msg SUBJECT KIND(Metadata|Metadata-Task) DIR SESSION
shadow_msg(){ printf '%s\n\nEntire-%s: %s\nEntire-Session: %s\nEntire-Strategy: manual-commit\n' "$1" "$2" "$3" "$4"; }
# shadow_write BRANCH TIME MSGFILE   (tree ops on stdin).  A new branch starts from
# HEAD's TREE but its first commit has NO PARENT; an equal tree is skipped.
shadow_write() {
  local br=$1 t=$2 msg=$3 tip='' base tree c
  if tip=$(git rev-parse -q --verify "refs/heads/$br"); then base=$(git rev-parse "$tip^{tree}"); else tip=''; base=$(git rev-parse 'HEAD^{tree}'); fi
  tree=$(tree_edit "$base")
  if [ -n "$tip" ] && [ "$tree" = "$base" ]; then echo "skipped (same tree)" >&2; return 0; fi
  c=$(commit_obj "$tree" "$tip" "$t" "${SW_NAME-$NAME}" "${SW_EMAIL-$EMAIL}" ${SW_FLAGS:-} <"$msg")
  git update-ref "refs/heads/$br" "$c"; echo "$c"
}
# first checkpoint of a session: everything `git status --porcelain -z -uall` shows
# except .entire/ (untracked and changed in, deleted out)
status_ops() {
  git status --porcelain -z -uall | tr '\0' '\n' | while IFS= read -r l; do
    local xy=${l:0:2} f=${l:3}
    case $f in .entire/*) continue;; esac
    case $xy in *D*) printf -- '- %s\n' "$f";; *) add_files "$f";; esac
  done
}

# ---- transcripts (Claude Code JSONL) ---------------------------------------
u_line(){ # sid uuid parent time text
  local par=null; [ -n "$3" ] && par="\"$3\""
  printf '{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/srv/demo","sessionId":"%s","version":"2.1.0","gitBranch":"%s","type":"user","message":{"role":"user","content":"%s"},"uuid":"%s","timestamp":"%s"}\n' "$par" "$1" "$BRANCH" "$5" "$2" "$(isoms "$4")"; }
a_line(){ printf '{"parentUuid":"%s","isSidechain":false,"userType":"external","cwd":"/srv/demo","sessionId":"%s","version":"2.1.0","gitBranch":"%s","type":"assistant","message":{"role":"assistant","model":"claude-demo","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":40}},"uuid":"%s","timestamp":"%s"}\n' "$3" "$1" "$BRANCH" "$5" "$2" "$(isoms "$4")"; }
w_line(){ # sid uuid parent time tool toolid path
  printf '{"parentUuid":"%s","isSidechain":false,"userType":"external","cwd":"/srv/demo","sessionId":"%s","version":"2.1.0","gitBranch":"%s","type":"assistant","message":{"role":"assistant","model":"claude-demo","content":[{"type":"tool_use","id":"%s","name":"%s","input":{"file_path":"/srv/demo/%s","content":"..."}}]},"uuid":"%s","timestamp":"%s"}\n' "$3" "$1" "$BRANCH" "$6" "$5" "$7" "$2" "$(isoms "$4")"; }
r_line(){ # sid uuid parent time toolid text
  printf '{"parentUuid":"%s","isSidechain":false,"userType":"external","cwd":"/srv/demo","sessionId":"%s","version":"2.1.0","gitBranch":"%s","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"%s"}]},"uuid":"%s","timestamp":"%s"}\n' "$3" "$1" "$BRANCH" "$5" "$6" "$2" "$(isoms "$4")"; }

# meta_dir SID SUBJECT PROMPT SUMMARY LIVE ACTIONS...   writes .entire/metadata/<sid>/ as the stop hook does
meta_dir(){ local sid=$1 subj=$2 prompt=$3 summary=$4 live=$5; shift 5
  local d=.entire/metadata/$sid; mkdir -p "$d"
  cp "$live" "$d/full.jsonl"; printf '%s' "$prompt" >"$d/prompt.txt"; printf '%s' "$summary" >"$d/summary.txt"
  { printf '# Session Context\n\n**Session ID:** %s\n\n**Commit Message:** %s\n\n## Prompt\n\n%s\n\n## Summary\n\n%s\n\n## Key Actions\n\n' "$sid" "$subj" "$prompt" "$summary"
    local a; for a in "$@"; do printf -- '- - %s\n' "$a"; done; } >"$d/context.md"   # the doubled "- -" is theirs
  chmod 600 "$d"/*; }

# ---- repositories ------------------------------------------------------------
gc(){ # TIME MESSAGE : plain user commit with fixed date
  GIT_AUTHOR_NAME=$NAME GIT_AUTHOR_EMAIL=$EMAIL GIT_COMMITTER_NAME=$NAME GIT_COMMITTER_EMAIL=$EMAIL \
  GIT_AUTHOR_DATE="$1 +0000" GIT_COMMITTER_DATE="$1 +0000" git commit -q --no-verify --allow-empty -m "$2"; }
new_repo(){ rm -rf "$1"; git init -q -b main "$1"; cd "$1"; git config user.name "$NAME"; git config user.email "$EMAIL"; git config commit.gpgsign false; git config core.abbrev 7
  mkdir -p src .entire .claude
  printf '# demo\n' >README.md; printf 'int main(void) { return 0; }\n' >src/app.c; printf 'int util(void) { return 1; }\n' >src/util.c
  printf '#!/bin/sh\necho demo\n' >run.sh; chmod 755 run.sh; printf 'build/\n*.log\n' >.gitignore
  git add -A; gc $((T0-86400)) 'Initial commit'
  printf '{\n  "strategy": "manual-commit",\n  "enabled": true,\n  "telemetry": false\n}\n' >.entire/settings.json
  printf 'tmp/\nsettings.local.json\nmetadata/\nlogs/\n' >.entire/.gitignore
  printf '{\n  "hooks": {}\n}\n' >.claude/settings.json
  git add -A; gc $((T0-82800)) 'Enable Entire'
  # entire/checkpoints/v1: orphan commit with the empty tree
  local c; c=$(printf 'Initialize metadata branch\n\nThis branch stores session metadata for the auto-commit strategy.\n' | commit_obj "$(git mktree </dev/null)" '' $((T0-82000)) "$NAME" "$EMAIL")
  git update-ref refs/heads/entire/checkpoints/v1 "$c"; mkdir -p .git/entire-sessions .entire/tmp; }
home_dir(){ mkdir -p "$OUT/home/.claude/projects/-srv-demo"; }
live(){ printf '%s/home/.claude/projects/-srv-demo/%s.jsonl' "$OUT" "$1"; }
# every file outside .git .entire .claude .gemini, in filepath.Walk order, as a JSON string list
walk_json(){ find . -path ./.git -prune -o -path ./.entire -prune -o -path ./.claude -prune -o -path ./.gemini -prune -o -type f -print | sed 's|^\./||' | sort | sed 's/.*/    "&"/' | paste -sd, | sed 's/,    "/,\n    "/g'; }
jlist(){ local i=$1; shift; local n=$# k=0 x; for x in "$@"; do k=$((k+1)); printf '%s"%s"' "$i" "$x"; [ $k -lt $n ] && printf ','; printf '\n'; done; }
# state SID BASE ATTRBASE WTPATH WTID START PHASE LAST COUNT LASTCP LIVE PROMPT -- files_touched...   (UNTRACKED env = json list body)
state(){ local sid=$1 base=$2 abase=$3 wt=$4 wid=$5 st=$6 ph=$7 last=$8 cnt=$9 lcp=${10} lv=${11} pr=${12}; shift 13
  { printf '{\n  "session_id": "%s",\n  "cli_version": "0.4.4",\n  "base_commit": "%s",\n  "attribution_base_commit": "%s",\n  "worktree_path": "%s",\n' "$sid" "$base" "$abase" "$wt"
    [ -n "$wid" ] && printf '  "worktree_id": "%s",\n' "$wid"
    printf '  "started_at": "%s",\n' "$(iso "$st")"
    [ "$ph" = ended ] && printf '  "ended_at": "%s",\n' "$(iso "$last")"
    printf '  "phase": "%s",\n  "turn_id": "0123456789ab",\n  "last_interaction_time": "%s",\n  "checkpoint_count": %s,\n' "$ph" "$(iso "$last")" "$cnt"
    [ -n "${UNTRACKED:-}" ] && printf '  "untracked_files_at_start": [\n%s\n  ],\n' "$UNTRACKED"
    [ $# -gt 0 ] && { printf '  "files_touched": [\n'; jlist '    ' "$@"; printf '  ],\n'; }
    [ -n "$lcp" ] && printf '  "last_checkpoint_id": "%s",\n' "$lcp"
    printf '  "agent_type": "Claude Code",\n  "transcript_path": "%s",\n  "first_prompt": "%s"\n}\n' "$lv" "$pr"
  } >".git/entire-sessions/$sid.json"; chmod 600 ".git/entire-sessions/$sid.json"; }
# expected rewind result of the seed-time CLI for each checkpoint of a branch
expect_rewind(){ local br=$1 dst=$2 sid c; mkdir -p "$dst"
  for c in $(git rev-list "refs/heads/$br"); do
    sid=$(git log -1 --format='%(trailers:key=Entire-Session,valueonly)' "$c" | head -1)
    git ls-tree -r --name-only "$c" | grep -v '^\.entire' | sort >"$dst/$c.restore"
    find . -path ./.git -prune -o -path ./.entire -prune -o -path ./.claude -prune -o -path ./.gemini -prune -o -type f -print | sed 's|^\./||' | sort >"$dst/.all"
    git ls-tree -r --name-only HEAD | sort >"$dst/.head"
    sed -n '/untracked_files_at_start/,/\]/p' ".git/entire-sessions/$sid.json" 2>/dev/null | sed -n 's/^    "\(.*\)",*$/\1/p' | sort >"$dst/.keep" || :
    comm -23 "$dst/.all" <(sort -u "$dst/$c.restore" "$dst/.head" "$dst/.keep") >"$dst/$c.delete"
    git log -1 --format="%H%x09%at%x09$sid%x09%s" "$c" >>"$dst/points.tsv"
  done; rm -f "$dst"/.all "$dst"/.head "$dst"/.keep; }

# ============================ two-sessions ====================================
fx_two_sessions(){
  local R=$OUT/two-sessions A=a1b2c3d4-0001-4000-8000-00000000000a B=b1b2c3d4-0002-4000-8000-00000000000b
  new_repo "$R"; home_dir; BRANCH=feature/login; git checkout -q -b $BRANCH; printf 'login design\n' >design.txt; git add -A; gc $((T0-3600)) 'Add design note'
  local H br LA LB MA MB m; H=$(git rev-parse HEAD); br=$(shadow "$H" ''); LA=$(live $A); LB=$(live $B); MA=.entire/metadata/$A; MB=.entire/metadata/$B; m=$(mktemp)
  printf 'user notes, untracked at start\n' >notes.txt; mkdir -p build; printf 'old object, ignored, present at start\n' >build/old.o
  local UA UB; UA=$(walk_json)
  # A turn 1
  { u_line $A ua1 '' $((T0+60)) 'Please add a login function?'; w_line $A aa1 ua1 $((T0+90)) Edit toolu_01A1 src/app.c; r_line $A ra1 aa1 $((T0+91)) toolu_01A1 ok
    w_line $A aa2 ra1 $((T0+95)) Write toolu_01A2 src/login.c; r_line $A ra2 aa2 $((T0+96)) toolu_01A2 ok; a_line $A aa3 ra2 $((T0+118)) 'Added login().'; } >"$LA"
  printf 'int login(void);\nint main(void) { return login(); }\n' >src/app.c; printf 'int login(void) { return 0; }\n' >src/login.c
  meta_dir $A 'Add a login function' 'Please add a login function?' 'Added login().' "$LA" '**Edit**: /srv/demo/src/app.c' '**Write**: /srv/demo/src/login.c'
  shadow_msg 'Add a login function' Metadata $MA $A >$m; { status_ops; add_dir $MA; } | shadow_write $br $((T0+120)) $m >/dev/null
  # B turn 1 (its first checkpoint takes all of git status, so A's files too)
  UB=$(walk_json)
  { u_line $B ub1 '' $((T0+300)) 'Write usage docs'; w_line $B ab1 ub1 $((T0+330)) Edit toolu_01B1 README.md; r_line $B rb1 ab1 $((T0+331)) toolu_01B1 ok
    w_line $B ab2 rb1 $((T0+340)) Write toolu_01B2 docs/usage.md; r_line $B rb2 ab2 $((T0+341)) toolu_01B2 ok; a_line $B ab3 rb2 $((T0+419)) 'Docs written.'; } >"$LB"
  printf '# demo\n\nSee docs/usage.md\n' >README.md; mkdir -p docs; printf 'usage v1\n' >docs/usage.md
  meta_dir $B 'Write usage docs' 'Write usage docs' 'Docs written.' "$LB" '**Edit**: /srv/demo/README.md' '**Write**: /srv/demo/docs/usage.md'
  shadow_msg 'Write usage docs' Metadata $MB $B >$m; { status_ops; add_dir $MB; } | shadow_write $br $((T0+420)) $m >/dev/null
  # A turn 2: a subagent, one incremental (TodoWrite) and one final task checkpoint
  local TU=toolu_01TaskTestWriter TD=$MA/tasks/toolu_01TaskTestWriter
  { u_line $A ua2 aa3 $((T0+500)) 'Now write a test with a subagent and drop util.c'; w_line $A at1 ua2 $((T0+510)) Task $TU tests/login_test.c; } >>"$LA"
  mkdir -p tests; printf '/* test v1 */\n' >tests/login_test.c
  { printf '{\n  "type": "TodoWrite",\n  "tool_use_id": "%s",\n  "timestamp": "%s",\n  "data": {\n    "todos": [\n      {\n        "content": "Write test skeleton",\n        "status": "completed",\n        "activeForm": "Writing test skeleton"\n      }\n    ]\n  }\n}\n' $TU "$(iso $((T0+540)))"; } >$m.inc
  shadow_msg 'Write test skeleton (toolu_01Task)' Metadata-Task $TD $A >$m
  { add_files tests/login_test.c; printf '+ 100644 %s %s\n' "$(blob <$m.inc)" $TD/checkpoints/001-$TU.json; } | shadow_write $br $((T0+540)) $m >/dev/null
  printf '/* test v2 */\nint main(void) { return 0; }\n' >tests/login_test.c; r_line $A rt1 at1 $((T0+598)) $TU 'subagent done' >>"$LA"
  printf '{"type":"user","uuid":"s1","sessionId":"%s","isSidechain":true,"agentId":"ag01","message":{"role":"user","content":"write tests"},"timestamp":"%s"}\n' $A "$(isoms $((T0+515)))" >$m.agent
  printf '{\n  "session_id": "%s",\n  "tool_use_id": "%s",\n  "checkpoint_uuid": "%s",\n  "agent_id": "%s"\n}' $A $TU rt1 ag01 >$m.cp     # no final newline on the shadow branch
  shadow_msg "Completed 'dev' agent: Write login test (toolu_01Task)" Metadata-Task $TD $A >$m
  { add_files tests/login_test.c; printf '+ 100644 %s %s\n' "$(blob <"$LA")" $MA/full.jsonl; printf '+ 100644 %s %s\n' "$(blob <$m.agent)" $TD/agent-ag01.jsonl; printf '+ 100644 %s %s\n' "$(blob <$m.cp)" $TD/checkpoint.json; } | shadow_write $br $((T0+600)) $m >/dev/null
  # A turn 2 stop: edits login.c, deletes util.c
  { w_line $A aa4 rt1 $((T0+610)) Edit toolu_01A3 src/login.c; r_line $A ra4 aa4 $((T0+611)) toolu_01A3 ok; a_line $A aa5 ra4 $((T0+718)) 'Test written, util.c removed.'; } >>"$LA"
  printf 'int login(void) { return 42; }\n' >src/login.c; rm src/util.c
  meta_dir $A 'Now write a test with a subagent and drop util.c' 'Now write a test with a subagent and drop util.c' 'Test written, util.c removed.' "$LA" '**Task**: /srv/demo/tests/login_test.c' '**Edit**: /srv/demo/src/login.c'
  shadow_msg 'Now write a test with a subagent and drop util.c' Metadata $MA $A >$m; { add_files src/login.c; echo '- src/util.c'; add_dir $MA; } | shadow_write $br $((T0+720)) $m >/dev/null
  # B turn 2: executable file changes
  { u_line $B ub2 ab3 $((T0+800)) 'Let'"'"'s mention run.sh'; w_line $B ab4 ub2 $((T0+830)) Edit toolu_01B3 docs/usage.md; r_line $B rb4 ab4 $((T0+831)) toolu_01B3 ok; a_line $B ab5 rb4 $((T0+899)) 'Done.'; } >>"$LB"
  printf 'usage v2: ./run.sh\n' >docs/usage.md; printf '#!/bin/sh\necho demo v2\n' >run.sh
  meta_dir $B 'Mention run.sh' "Let's mention run.sh" 'Done.' "$LB" '**Edit**: /srv/demo/docs/usage.md'
  shadow_msg 'Mention run.sh' Metadata $MB $B >$m; { add_files docs/usage.md run.sh; add_dir $MB; } | shadow_write $br $((T0+900)) $m >/dev/null
  # A turn 3
  { u_line $A ua3 aa5 $((T0+1000)) 'Add a session module'; w_line $A aa6 ua3 $((T0+1030)) Write toolu_01A4 src/session.c; r_line $A ra6 aa6 $((T0+1031)) toolu_01A4 ok; a_line $A aa7 ra6 $((T0+1198)) 'Session module added.'; } >>"$LA"
  printf 'int session(void) { return 7; }\n' >src/session.c
  meta_dir $A 'Add a session module' 'Add a session module' 'Session module added.' "$LA" '**Write**: /srv/demo/src/session.c'
  shadow_msg 'Add a session module' Metadata $MA $A >$m; { add_files src/session.c; add_dir $MA; } | shadow_write $br $((T0+1200)) $m >/dev/null
  # an equal tree must be skipped
  { add_dir $MA; } | shadow_write $br $((T0+1260)) $m 2>/dev/null || :
  # afterwards, on disk only
  printf 'made after the last checkpoint\n' >scratch.txt; printf 'ignored, made after start\n' >build/new.o; printf 'noise\n' >trace.log
  UNTRACKED=$UA state $A "$H" "$H" "$R" '' $((T0+0)) idle $((T0+1200)) 3 '' "$LA" 'Please add a login function?' -- src/app.c src/login.c src/session.c src/util.c tests/login_test.c
  UNTRACKED=$UB state $B "$H" "$H" "$R" '' $((T0+290)) active $((T0+900)) 2 '' "$LB" 'Write usage docs' -- README.md docs/usage.md run.sh
  expect_rewind $br "$OUT/expected/two-sessions"; rm -f $m $m.*
}

# ---- committed checkpoint writer ---------------------------------------------
# cp_path ID -> ab/cdef...
cp_path(){ printf '%s/%s' "${1:0:2}" "${1:2}"; }
# cp_commit TIME MSGFILE [PARENTS]  (ops on stdin) on entire/checkpoints/v1
cp_commit(){ local tip tree c; tip=$(git rev-parse refs/heads/entire/checkpoints/v1); tree=$(tree_edit "$(git rev-parse "$tip^{tree}")"); c=$(commit_obj "$tree" "${3:-$tip}" "$1" "$NAME" "$EMAIL" <"$2"); git update-ref refs/heads/entire/checkpoints/v1 "$c"; }
cp_msg(){ printf 'Checkpoint: %s\n\n' "$1"; [ -n "${5:-}" ] && printf '%s\n\n' "$5"; printf 'Entire-Session: %s\nEntire-Strategy: %s\nEntire-Agent: Claude Code\n' "$2" "$3"; [ -n "${4:-}" ] && printf 'Ephemeral-branch: %s\n' "$4"; [ -n "${6:-}" ] && printf 'Entire-Metadata-Task: %s\n' "$6"; return 0; }
ctx(){ printf '# Session Context\n\n## User Prompts\n\n'; local i=0 p; for p in "$@"; do i=$((i+1)); printf '### Prompt %d\n\n%s\n\n' $i "$p"; done; }
# root_meta ID STRATEGY BRANCH COUNT TOKENS SESSIONDIRS(" 0 1") -- files   (fields in Go struct order)
root_meta(){ local id=$1 s=$2 b=$3 n=$4 tk=$5 dirs=$6 p d k=0 nd; p=$(cp_path $id); shift 7; nd=$(set -- $dirs; echo $#)
  printf '{\n  "cli_version": "0.4.4",\n  "checkpoint_id": "%s",\n  "strategy": "%s",\n' $id $s; [ -n "$b" ] && printf '  "branch": "%s",\n' "$b"
  printf '  "checkpoints_count": %s,\n  "files_touched": [\n' $n; jlist '    ' "$@"; printf '  ],\n  "sessions": [\n'
  for d in $dirs; do k=$((k+1)); printf '    {\n      "metadata": "/%s/%s/metadata.json",\n      "transcript": "/%s/%s/full.jsonl",\n      "context": "/%s/%s/context.md",\n      "content_hash": "/%s/%s/content_hash.txt",\n      "prompt": "/%s/%s/prompt.txt"\n    }' $p $d $p $d $p $d $p $d $p $d; [ $k -lt $nd ] && printf ','; printf '\n'; done
  printf '  ]'; [ -n "$tk" ] && printf ',\n  "token_usage": {\n    "input_tokens": %s,\n    "cache_creation_tokens": %s,\n    "cache_read_tokens": %s,\n    "output_tokens": %s,\n    "api_call_count": %s\n  }' $tk; printf '\n}\n'; }
# sess_meta ID SID STRATEGY TIME BRANCH COUNT EXTRA TOKENS TAIL -- files
sess_meta(){ local id=$1 sid=$2 s=$3 t=$4 b=$5 n=$6 ex=$7 tk=$8 tail=$9; shift 10
  printf '{\n  "cli_version": "0.4.4",\n  "checkpoint_id": "%s",\n  "session_id": "%s",\n  "strategy": "%s",\n  "created_at": "%s",\n' $id $sid $s "$t"; [ -n "$b" ] && printf '  "branch": "%s",\n' "$b"
  printf '  "checkpoints_count": %s,\n  "files_touched": [\n' $n; jlist '    ' "$@"; printf '  ],\n  "agent": "Claude Code"'; [ -n "$ex" ] && printf ',\n%b' "$ex"
  [ -n "$tk" ] && printf ',\n  "token_usage": {\n    "input_tokens": %s,\n    "cache_creation_tokens": %s,\n    "cache_read_tokens": %s,\n    "output_tokens": %s,\n    "api_call_count": %s\n  }' $tk
  [ -n "$tail" ] && printf ',\n%b' "$tail"; printf '\n}\n'; }
hash_txt(){ printf 'sha256:%s' "$(sha256)"; }           # 71 bytes, no newline
op(){ printf '+ 100644 %s %s\n' "$(blob)" "$1"; }       # stdin -> blob at path

# ============================ committed =======================================
fx_committed(){
  local R=$OUT/committed A=c1b2c3d4-0001-4000-8000-00000000000a B=c1b2c3d4-0002-4000-8000-00000000000b m; m=$(mktemp)
  new_repo "$R"; home_dir; BRANCH=feature/login; git checkout -q -b $BRANCH
  local LA LB TP; LA=$(live $A); LB=$(live $B); TP=.claude/projects/-srv-demo
  # 1: single session, manual-commit
  local I=a3b2c4d5e6f7 P; P=$(cp_path $I)
  { u_line $A ua1 '' $((T0+60)) 'Implement login feature'; w_line $A aa1 ua1 $((T0+90)) Write toolu_01A1 src/login.c; r_line $A ra1 aa1 $((T0+91)) toolu_01A1 ok; a_line $A aa2 ra1 $((T0+118)) 'Login implemented.'; } >"$LA"
  local base1; base1=$(git rev-parse HEAD); printf 'int login(void) { return 0; }\n' >src/login.c; git add -A; gc $((T0+200)) "Implement login feature

Entire-Checkpoint: $I"
  cp_msg $I $A manual-commit "$(shadow $base1)" >$m
  { op $P/0/full.jsonl <"$LA"; hash_txt <"$LA" | op $P/0/content_hash.txt; printf 'Implement login feature' | op $P/0/prompt.txt; ctx 'Implement login feature' | op $P/0/context.md
    sess_meta $I $A manual-commit "$(date -u -d @$((T0+201)) +%Y-%m-%dT%H:%M:%S).123456Z" $BRANCH 1 '  "turn_id": "1111111111aa"' '10 20 30 40 1' "  \"initial_attribution\": {\n    \"calculated_at\": \"$(iso $((T0+201)))\",\n    \"agent_lines\": 1,\n    \"human_added\": 0,\n    \"human_modified\": 0,\n    \"human_removed\": 0,\n    \"total_committed\": 1,\n    \"agent_percentage\": 100\n  },\n  \"transcript_path\": \"$TP/$A.jsonl\"" -- src/login.c | op $P/0/metadata.json
    root_meta $I manual-commit $BRANCH 1 '10 20 30 40 1' '0' -- src/login.c | op $P/metadata.json; } | cp_commit $((T0+201)) $m
  # 2: two sessions in one checkpoint, one v1 commit each; then finalize
  local J=5f0c11d2ab34 Q; Q=$(cp_path $J)
  { u_line $A ua2 aa2 $((T0+300)) 'Now validate passwords & <limits>'; w_line $A aa3 ua2 $((T0+330)) Edit toolu_01A2 src/login.c; r_line $A ra3 aa3 $((T0+331)) toolu_01A2 ok; a_line $A aa4 ra3 $((T0+398)) 'Validation added.'; } >>"$LA"
  { u_line $B ub1 '' $((T0+310)) 'Document login'; w_line $B ab1 ub1 $((T0+340)) Write toolu_01B1 docs/login.md; r_line $B rb1 ab1 $((T0+341)) toolu_01B1 ok; } >"$LB"
  local base2; base2=$(git rev-parse HEAD); printf 'int login(void) { return 1; }\n' >src/login.c; mkdir -p docs; printf 'login docs\n' >docs/login.md; git add -A; gc $((T0+400)) "Validate passwords and document login

Entire-Checkpoint: $J"
  cp_msg $J $A manual-commit "$(shadow $base2)" >$m
  { op $Q/0/full.jsonl <"$LA"; hash_txt <"$LA" | op $Q/0/content_hash.txt; printf 'Implement login feature\n\n---\n\nNow validate passwords & <limits>' | op $Q/0/prompt.txt; ctx 'Implement login feature' 'Now validate passwords & <limits>' | op $Q/0/context.md
    sess_meta $J $A manual-commit "$(iso $((T0+401)))" $BRANCH 1 '  "turn_id": "2222222222aa",\n  "transcript_identifier_at_start": "aa2",\n  "checkpoint_transcript_start": 4,\n  "transcript_lines_at_start": 4' '5 6 7 8 1' "  \"transcript_path\": \"$TP/$A.jsonl\"" -- src/login.c | op $Q/0/metadata.json
    root_meta $J manual-commit $BRANCH 1 '5 6 7 8 1' '0' -- src/login.c | op $Q/metadata.json; } | cp_commit $((T0+401)) $m
  cp_msg $J $B manual-commit "$(shadow $base2)" >$m
  { op $Q/1/full.jsonl <"$LB"; hash_txt <"$LB" | op $Q/1/content_hash.txt; printf 'Document login' | op $Q/1/prompt.txt; ctx 'Document login' | op $Q/1/context.md
    sess_meta $J $B manual-commit "$(iso $((T0+402)))" $BRANCH 2 '  "turn_id": "2222222222bb"' '1 2 3 4 1' "  \"transcript_path\": \"$TP/$B.jsonl\"" -- docs/login.md | op $Q/1/metadata.json
    root_meta $J manual-commit $BRANCH 3 '6 8 10 12 2' '0 1' -- docs/login.md src/login.c | op $Q/metadata.json; } | cp_commit $((T0+402)) $m
  a_line $B ab2 rb1 $((T0+450)) 'Docs finished.' >>"$LB"
  printf 'Finalize transcript for Checkpoint: %s' $J >$m        # no newline at the end
  { op $Q/1/full.jsonl <"$LB"; hash_txt <"$LB" | op $Q/1/content_hash.txt; } | cp_commit $((T0+451)) $m
  # 3: chunked transcript (real chunks are 50 MB; the naming and joining rule are what matters)
  local K=77aa88bb99cc S; S=$(cp_path $K)
  local base3; base3=$(git rev-parse HEAD); printf 'int session(void) { return 7; }\n' >src/session.c; git add -A; gc $((T0+500)) "Add session module

Signed-off-by: $NAME <$EMAIL>
Entire-Checkpoint: $K"
  # each chunk drops one newline at its end; reading joins the chunks with one newline
  cp "$LA" $m.all; sed -n 1,3p $m.all | head -c -1 >$m.0; sed -n 4,6p $m.all | head -c -1 >$m.1; tail -n +7 $m.all >$m.2
  cp_msg $K $A manual-commit "$(shadow $base3)" >$m
  { op $S/0/full.jsonl <$m.0; op $S/0/full.jsonl.001 <$m.1; op $S/0/full.jsonl.002 <$m.2; hash_txt <$m.all | op $S/0/content_hash.txt; printf 'Add session module' | op $S/0/prompt.txt; ctx 'Add session module' | op $S/0/context.md
    sess_meta $K $A manual-commit "$(iso $((T0+501)))" $BRANCH 1 '' '' "  \"transcript_path\": \"$TP/$A.jsonl\"" -- src/session.c | op $S/0/metadata.json
    root_meta $K manual-commit $BRANCH 1 '' '0' -- src/session.c | op $S/metadata.json; } | cp_commit $((T0+501)) $m
  # 4: auto-commit strategy, task checkpoint: body line, tasks/ at the checkpoint root, no content_hash.txt, summary.txt copied
  local L=0fedcba98765 V C4=d1b2c3d4-0003-4000-8000-00000000000c; V=$(cp_path $L)
  printf 'int tests(void) { return 0; }\n' >src/tests.c; git add -A; gc $((T0+600)) "Completed 'dev' agent: Write tests (toolu_01Auto)

Entire-Checkpoint: $L"
  cp_msg $L $C4 auto-commit '' "Completed 'dev' agent: Write tests (toolu_01Auto)" "$V/tasks/toolu_01AutoTask" >$m
  { printf '{\n  "session_id": "%s",\n  "tool_use_id": "toolu_01AutoTask",\n  "checkpoint_uuid": "ra1",\n  "agent_id": "ag02"\n}\n' $C4 | op $V/tasks/toolu_01AutoTask/checkpoint.json; printf '{"type":"user","uuid":"s1","message":{"role":"user","content":"write tests"}}\n' | op $V/tasks/toolu_01AutoTask/agent-ag02.jsonl
    op $V/0/full.jsonl <"$LA"; printf 'Write tests' | op $V/0/prompt.txt; printf 'Tests written.' | op $V/0/summary.txt
    sess_meta $L $C4 auto-commit "$(iso $((T0+601)))" $BRANCH 1 '  "is_task": true,\n  "tool_use_id": "toolu_01AutoTask"' '' '' -- src/tests.c | op $V/0/metadata.json
    root_meta $L auto-commit $BRANCH 1 '' '0' -- src/tests.c | op $V/metadata.json; } | cp_commit $((T0+601)) $m
  # 5: AI summary written afterwards on checkpoint 1
  printf 'Update summary for checkpoint %s (session: %s)' $I $A >$m
  sess_meta $I $A manual-commit "$(date -u -d @$((T0+201)) +%Y-%m-%dT%H:%M:%S).123456Z" $BRANCH 1 '  "turn_id": "1111111111aa"' '10 20 30 40 1' "  \"summary\": {\n    \"intent\": \"Add login\",\n    \"outcome\": \"login() exists\",\n    \"learnings\": {\n      \"repo\": [],\n      \"code\": [],\n      \"workflow\": []\n    },\n    \"friction\": [],\n    \"open_items\": []\n  },\n  \"initial_attribution\": {\n    \"calculated_at\": \"$(iso $((T0+201)))\",\n    \"agent_lines\": 1,\n    \"human_added\": 0,\n    \"human_modified\": 0,\n    \"human_removed\": 0,\n    \"total_committed\": 1,\n    \"agent_percentage\": 100\n  },\n  \"transcript_path\": \"$TP/$A.jsonl\"" -- src/login.c | op $P/0/metadata.json | cp_commit $((T0+610)) $m
  # 6: legacy shapes seen in real data: session dirs 0 and 2, no agent, old key names, offset time, null files
  local N=9c0d1e2f3a4b W; W=$(cp_path $N)
  git checkout -q main; printf 'changelog\n' >CHANGES; git add -A; gc $((T0+700)) "Add changelog

Entire-Checkpoint: $N"
  printf 'Checkpoint: %s\n' $N >$m
  { op $W/0/full.jsonl <"$LA"; printf 'Add changelog' | op $W/0/prompt.txt
    printf '{\n  "checkpoint_id": "%s",\n  "session_id": "2026-01-06-%s",\n  "strategy": "manual-commit",\n  "created_at": "2026-01-06T19:44:48.712292+01:00",\n  "steps_count": 0,\n  "files_touched": null,\n  "transcript_uuid_at_start": "ua1"\n}\n' $N $A | op $W/0/metadata.json
    op $W/2/full.jsonl <"$LB"; printf 'Second session' | op $W/2/prompt.txt
    printf '{\n  "checkpoint_id": "%s",\n  "session_id": "2026-01-06-%s",\n  "strategy": "manual-commit",\n  "created_at": "2026-01-06T20:00:00Z",\n  "checkpoints_count": 2,\n  "files_touched": [\n    "CHANGES"\n  ],\n  "agent": "Agent",\n  "agents": "Agent",\n  "transcript_lines_at_start": 2\n}\n' $N $B | op $W/2/metadata.json
    printf '{\n  "checkpoint_id": "%s",\n  "strategy": "manual-commit",\n  "branch": "",\n  "migration_source_commit": "%s",\n  "checkpoints_count": 2,\n  "files_touched": [\n    "CHANGES"\n  ],\n  "sessions": [\n    {\n      "metadata": "/%s/0/metadata.json",\n      "transcript": "/%s/0/full.jsonl",\n      "context": "/%s/0/context.md",\n      "content_hash": "/%s/0/content_hash.txt",\n      "prompt": "/%s/0/prompt.txt"\n    },\n    {\n      "metadata": "/%s/2/metadata.json",\n      "transcript": "/%s/2/full.jsonl",\n      "context": "",\n      "content_hash": "/%s/2/content_hash.txt",\n      "prompt": "/%s/2/prompt.txt"\n    }\n  ]\n}\n' $N "$base1" $W $W $W $W $W $W $W $W $W | op $W/metadata.json; } | cp_commit $((T0+701)) $m
  # 7: another clone's v1 history merged in ("Merge remote session logs", two parents)
  local O=e0e1e2e3e4e5 X oc rt; X=$(cp_path $O)
  oc=$(printf 'Initialize metadata branch\n\nThis branch stores session metadata for the auto-commit strategy.\n' | commit_obj "$(git mktree </dev/null)" '' $((T0+10)) 'Dev Two' 'two@example.invalid')
  rt=$({ op $X/0/full.jsonl <"$LB"; hash_txt <"$LB" | op $X/0/content_hash.txt; printf 'Remote work' | op $X/0/prompt.txt; sess_meta $O f1b2c3d4-0004-4000-8000-00000000000d manual-commit "$(iso $((T0+650)))" main 1 '' '' '' -- remote.c | op $X/0/metadata.json; root_meta $O manual-commit main 1 '' '0' -- remote.c | op $X/metadata.json; } | tree_edit 4b825dc642cb6eb9a060e54bf8d69288fbee4904)
  oc=$(cp_msg $O f1b2c3d4-0004-4000-8000-00000000000d manual-commit entire/abcdef0-e3b0c4 | commit_obj "$rt" "$oc" $((T0+650)) 'Dev Two' 'two@example.invalid')
  printf 'Merge remote session logs' >$m
  git ls-tree -r "$rt" | awk '{print "+",$1,$3,$4}' | cp_commit $((T0+800)) $m "$(git rev-parse refs/heads/entire/checkpoints/v1) $oc"
  # user history around it: dangling and malformed trailers, newer commits without one, a merge
  git checkout -q $BRANCH; printf 'x\n' >x.txt; git add -A; gc $((T0+900)) "Trailer without metadata

Entire-Checkpoint: deadbeef0001"
  printf 'y\n' >y.txt; git add -A; gc $((T0+910)) "Malformed trailer

Entire-Checkpoint: NOTHEX"
  GIT_AUTHOR_NAME=$NAME GIT_AUTHOR_EMAIL=$EMAIL GIT_COMMITTER_NAME=$NAME GIT_COMMITTER_EMAIL=$EMAIL GIT_AUTHOR_DATE="$((T0+920)) +0000" GIT_COMMITTER_DATE="$((T0+920)) +0000" git merge -q --no-ff -m 'Merge main' main
  printf 'z\n' >z.txt; git add -A; gc $((T0+930)) 'Plain commit, no trailer'
  UNTRACKED='' state $A "$(git rev-parse HEAD)" "$(git rev-parse HEAD)" "$R" '' $((T0+0)) idle $((T0+501)) 0 $K "$LA" 'Implement login feature' --
  mkdir -p "$OUT/expected/committed"; git log --format='%H%x09%at%x09%(trailers:key=Entire-Checkpoint,valueonly,separator=%x2C)%x09%s' HEAD >"$OUT/expected/committed/history.tsv"
  # what rewind --list shows at seed time: commits within 50 of HEAD whose trailer has metadata on v1
  git log -50 --format='%H%x09%(trailers:key=Entire-Checkpoint,valueonly,separator=%x2C)' HEAD | while IFS=$'\t' read -r h i; do case $i in [0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]) git cat-file -e "entire/checkpoints/v1:$(cp_path $i)/metadata.json" 2>/dev/null && printf '%s\t%s\n' "$h" "$i";; esac; done >"$OUT/expected/committed/logs_only.tsv" || :
  printf 'resume feature/login: first-parent walk from HEAD stops at deadbeef0001 with 2 newer commits that are not merges; its metadata is missing, so: message, nothing restored\nresume main: HEAD has 9c0d1e2f3a4b; session dirs are 0 and 2, so reading by position (0,1) misses the second session: read by sessions[].metadata path\n' >"$OUT/expected/committed/resume.txt"
  git ls-tree -r entire/checkpoints/v1 >"$OUT/expected/committed/v1-tree.txt"; git log --format='%H %P%x09%s' entire/checkpoints/v1 >"$OUT/expected/committed/v1-log.txt"; rm -f $m $m.*
}

# ============================ migration =======================================
fx_migration(){
  local R=$OUT/migration A=e1b2c3d4-0001-4000-8000-00000000000a m X Y br; m=$(mktemp)
  new_repo "$R"; home_dir; BRANCH=main; X=$(git rev-parse HEAD); br=$(shadow "$X" '')
  local U LA MA=.entire/metadata/$A; U=$(walk_json); LA=$(live $A)
  { u_line $A ua1 '' $((T0+60)) 'Add a parser'; w_line $A aa1 ua1 $((T0+90)) Write toolu_01M1 src/parse.c; r_line $A ra1 aa1 $((T0+91)) toolu_01M1 ok; a_line $A aa2 ra1 $((T0+118)) 'Parser added.'; } >"$LA"
  printf 'int parse(void) { return 1; }\n' >src/parse.c
  meta_dir $A 'Add a parser' 'Add a parser' 'Parser added.' "$LA" '**Write**: /srv/demo/src/parse.c'
  shadow_msg 'Add a parser' Metadata $MA $A >$m; { status_ops; add_dir $MA; } | shadow_write $br $((T0+120)) $m >/dev/null
  { u_line $A ua2 aa2 $((T0+200)) 'Make it faster'; w_line $A aa3 ua2 $((T0+230)) Edit toolu_01M2 src/parse.c; r_line $A ra3 aa3 $((T0+231)) toolu_01M2 ok; a_line $A aa4 ra3 $((T0+298)) 'Faster now.'; } >>"$LA"
  printf 'int parse(void) { return 2; }\n' >src/parse.c
  meta_dir $A 'Make it faster' 'Make it faster' 'Faster now.' "$LA" '**Edit**: /srv/demo/src/parse.c'
  shadow_msg 'Make it faster' Metadata $MA $A >$m; { add_files src/parse.c; add_dir $MA; } | shadow_write $br $((T0+300)) $m >/dev/null
  UNTRACKED=$U state $A "$X" "$X" "$R" '' $((T0+0)) idle $((T0+300)) 2 '' "$LA" 'Add a parser' -- src/parse.c
  # stash, pull, apply: HEAD is another commit now, the work tree is as before
  Y=$({ printf '+ 100644 %s %s\n' "$(printf 'upstream change\n' | blob)" UPSTREAM; } | tree_edit "$(git rev-parse 'HEAD^{tree}')"); Y=$(printf 'Upstream work\n' | commit_obj "$Y" "$X" $((T0+400)) 'Dev Two' 'two@example.invalid')
  git update-ref refs/heads/main "$Y"; git read-tree HEAD; printf 'upstream change\n' >UPSTREAM; git update-index -q --refresh || :
  mkdir -p "$OUT/expected/migration"
  { echo "state_before base_commit=$X"; echo "ref_before $br $(git rev-parse refs/heads/$br)"; echo "head $Y"
    echo "ref_after $(shadow "$Y" '') $(git rev-parse refs/heads/$br)  (old ref gone, same commit, nothing rewritten)"; echo "state_after base_commit=$Y attribution_base_commit=$X"; } >"$OUT/expected/migration/expected.txt"; rm -f $m
}

# ============================ edge ============================================
fx_edge(){
  local R=$OUT/edge A=f1b2c3d4-0001-4000-8000-00000000000a B=f1b2c3d4-0002-4000-8000-00000000000b m H; m=$(mktemp)
  new_repo "$R"; home_dir; BRANCH=main; H=$(git rev-parse HEAD)
  T=$OUT/wt; mkdir -p "$T"; rm -rf "$T/test-wt"; git worktree prune; git worktree add -q -b side "$T/test-wt" HEAD      # .git/worktrees/test-wt -> id test-wt
  local LB MB=.entire/metadata/$B; LB=$(live $B); { u_line $B ub1 '' $((T0+60)) 'Work in the linked tree'; w_line $B ab1 ub1 $((T0+90)) Write toolu_01W1 wt.c; r_line $B rb1 ab1 $((T0+91)) toolu_01W1 ok; } >"$LB"
  ( cd "$OUT/wt/test-wt"; printf 'int wt;\n' >wt.c; meta_dir $B 'Work in the linked tree' 'Work in the linked tree' '' "$LB" '**Write**: /srv/demo/wt.c'
    shadow_msg 'Work in the linked tree' Metadata $MB $B >$m; { status_ops; add_dir $MB; } | shadow_write "$(shadow "$H" test-wt)" $((T0+120)) $m >/dev/null )
  UNTRACKED='' state $B "$H" "$H" "$OUT/wt/test-wt" test-wt $((T0+0)) idle $((T0+120)) 1 '' "$LB" 'Work in the linked tree' -- wt.c
  # orphan: shadow branch of the main worktree, no state file for its session
  shadow_msg 'Orphaned checkpoint' Metadata .entire/metadata/orphaned-session-id orphaned-session-id >$m
  { printf '+ 100644 %s orphan.txt\n' "$(printf 'orphan\n' | blob)"; printf '+ 100644 %s .entire/metadata/orphaned-session-id/prompt.txt\n' "$(printf 'Orphan prompt' | blob)"; } | shadow_write "$(shadow "$H" '')" $((T0+30)) $m >/dev/null
  # carry-forward commit: empty Entire-Metadata value, empty author
  printf 'carry forward: uncommitted session files\n\nEntire-Metadata: \nEntire-Session: %s\nEntire-Strategy: manual-commit\n' $A >$m
  SW_NAME='' SW_EMAIL='' SW_FLAGS=--literally; printf '+ 100644 %s rest.c\n' "$(printf 'int rest;\n' | blob)" | shadow_write "$(shadow "$H" '')" $((T0+150)) $m >/dev/null; unset SW_NAME SW_EMAIL SW_FLAGS
  # old name without the worktree hash, a trailer-less one, and look-alike branches of a human
  git update-ref "refs/heads/entire/$(printf '%.7s' "$(git rev-parse HEAD^)")" "$(printf 'old format\n\nEntire-Session: 2026-01-06-old\nEntire-Strategy: manual-commit\n' | commit_obj "$(git rev-parse 'HEAD^^{tree}')" '' $((T0-50000)) "$NAME" "$EMAIL")"
  git update-ref refs/heads/entire/fedcba9-e3b0c4 "$(printf 'no trailers here\n' | commit_obj "$(git rev-parse 'HEAD^{tree}')" '' $((T0-40000)) "$NAME" "$EMAIL")"
  git update-ref refs/heads/entire/notes HEAD; git update-ref refs/heads/entire/1234567 HEAD
  # state files: active without a shadow branch, legacy keys, broken, temp, hostile name
  UNTRACKED='' state $A "$H" "$H" "$R" '' $((T0+0)) active $((T0+150)) 1 '' "$(live $A)" 'Carry forward' -- rest.c
  printf '{\n  "session_id": "2026-01-06-legacy",\n  "base_commit": "%s",\n  "worktree_path": "%s",\n  "started_at": "2026-01-06T10:00:00+01:00",\n  "phase": "active_committed",\n  "checkpoint_count": 2,\n  "condensed_transcript_lines": 12,\n  "concurrent_warning_shown": true,\n  "agent_type": "Claude Code"\n}\n' "$H" "$R" >.git/entire-sessions/2026-01-06-legacy.json
  printf '{\n  "session_id": "no-phase",\n  "base_commit": "%s",\n  "started_at": "2026-01-05T10:00:00Z",\n  "checkpoint_count": 0,\n  "transcript_lines_at_start": 9\n}\n' "$H" >.git/entire-sessions/no-phase.json
  printf '{ "session_id": "broken", ' >.git/entire-sessions/broken.json; printf '{}' >.git/entire-sessions/half.json.tmp
  rm -f $m; mkdir -p "$OUT/expected/edge"; git for-each-ref --format='%(objectname) %(refname)' >"$OUT/expected/edge/refs.txt"
}

# ============================ refs-ulid =======================================
# Later layout (2026): refs/entire/checkpoints/<last two chars>/<id>; the checkpoint is the ROOT of the tree.
fx_refs(){
  local R=$OUT/refs-ulid A=01b2c3d4-0001-4000-8000-00000000000a m I=01KX37KN6NXDTV10FKNCBPTP2Y J=b7c8d9e0f1a2 c LA; m=$(mktemp)
  new_repo "$R"; home_dir; BRANCH=main; LA=$(live $A)
  { u_line $A ua1 '' $((T0+60)) 'Bump dependencies'; a_line $A aa1 ua1 $((T0+118)) 'Bumped.'; } >"$LA"
  printf '{"v":1,"agent":"claude-code","cli_version":"0.9.0","type":"user","ts":"%s","content":[{"id":"ua1","text":"Bump dependencies"}]}\n{"v":1,"agent":"claude-code","cli_version":"0.9.0","type":"assistant","ts":"%s","id":"aa1","content":[{"type":"text","text":"Bumped."}]}\n' "$(isoms $((T0+60)))" "$(isoms $((T0+118)))" >$m.compact
  printf 'v2\n' >deps.txt; git add -A; gc $((T0+200)) "Bump dependencies

Entire-Checkpoint: $I"
  refmeta(){ printf '{\n  "cli_version": "0.9.0",\n  "checkpoint_id": "%s",\n  "strategy": "manual-commit",\n  "branch": "main",\n  "checkpoints_count": 1,\n  "files_touched": [\n    "deps.txt"\n  ],\n  "sessions": [\n    {\n      "metadata": "/0/metadata.json",\n      "transcript": "/0/full.jsonl",\n      "compact_transcript": "/0/transcript.jsonl",\n      "content_hash": "/0/content_hash.txt",\n      "prompt": "/0/prompt.txt"\n    }\n  ]\n}\n' $1; }
  refsess(){ printf '{\n  "cli_version": "0.9.0",\n  "checkpoint_id": "%s",\n  "session_id": "%s",\n  "strategy": "manual-commit",\n  "created_at": "%s",\n  "branch": "main",\n  "checkpoints_count": 1,\n  "save_step_count": 1,\n  "files_touched": [\n    "deps.txt"\n  ],\n  "agent": "Claude Code",\n  "model": "",\n  "turn_id": "aaaaaaaaaaaa",\n  "compact_transcript_start": 0,\n  "session_metrics": {\n    "turn_count": 1\n  }\n}\n' $1 $A "$(iso $((T0+201)))"; }
  tr(){ { op 0/full.jsonl <"$LA"; hash_txt <"$LA" | op 0/content_hash.txt; op 0/transcript.jsonl <$m.compact; printf 'Bump dependencies' | op 0/prompt.txt; refsess $1 | op 0/metadata.json; refmeta $1 | op metadata.json; } | tree_edit 4b825dc642cb6eb9a060e54bf8d69288fbee4904; }
  c=$(cp_msg $I $A manual-commit entire/abcdef0-e3b0c4 | commit_obj "$(tr $I)" '' $((T0+201)) "$NAME" "$EMAIL")          # first write: no parent
  c=$(printf 'Finalize transcript for Checkpoint: %s' $I | commit_obj "$(tr $I)" "$c" $((T0+230)) "$NAME" "$EMAIL"); git update-ref refs/entire/checkpoints/2Y/$I "$c"
  git update-ref refs/entire/checkpoints/a2/$J "$(cp_msg $J $A manual-commit entire/abcdef0-e3b0c4 | commit_obj "$(tr $J)" '' $((T0+150)) "$NAME" "$EMAIL")"   # hex id migrated into refs
  # decoys under the same prefix: not <shard>/<id>, or shard does not match
  git update-ref refs/entire/checkpoints/v2/main HEAD; git update-ref refs/entire/checkpoints/v2/full/current HEAD; git update-ref refs/entire/checkpoints/zz/$I HEAD
  rm -f $m $m.*; mkdir -p "$OUT/expected/refs-ulid"; git for-each-ref --format='%(objectname) %(refname)' >"$OUT/expected/refs-ulid/refs.txt"
}

# ============================ self test =======================================
selftest(){
  local B=$1 d ok=0 bad=0 c; d=$(mktemp -d); git clone -q --bare "$B" "$d/r"; cd "$d/r"; git config core.abbrev 7
  for c in $(git rev-list refs/heads/entire/checkpoints/v1); do
    local tree par an ae at tz sub id sid agent eph idx got
    tree=$(git rev-parse $c^{tree}); par=$(git log -1 --format=%P $c); an=$(git log -1 --format=%an $c); ae=$(git log -1 --format=%ae $c); at=$(git log -1 --format=%at $c)
    tz=$(git cat-file commit $c | sed -n 's/^author .* \([+-][0-9]*\)$/\1/p'); sub=$(git log -1 --format=%s $c)
    # tree again from a flat list
    idx=$(mktemp -u); git ls-tree -r $c | awk '{print $1" "$3"\t"$4}' | GIT_INDEX_FILE=$idx git update-index --add --index-info; [ -f $idx ] || GIT_INDEX_FILE=$idx git read-tree --empty; got=$(GIT_INDEX_FILE=$idx git write-tree); rm -f $idx
    [ "$got" = "$tree" ] || { echo "tree differs $c"; bad=$((bad+1)); continue; }
    case $sub in
      Checkpoint:*) id=${sub#Checkpoint: }; sid=$(git log -1 --format='%(trailers:key=Entire-Session,valueonly)' $c | head -1); agent=$(git log -1 --format='%(trailers:key=Entire-Agent,valueonly)' $c | head -1); eph=$(git log -1 --format='%(trailers:key=Ephemeral-branch,valueonly)' $c | head -1)
        printf 'Checkpoint: %s\n\nEntire-Session: %s\nEntire-Strategy: manual-commit\nEntire-Agent: %s\nEphemeral-branch: %s\n' "$id" "$sid" "$agent" "$eph" >"$d/m" ;;
      *) printf 'Initialize metadata branch\n\nThis branch stores session metadata.\n' >"$d/m" ;;   # after 0.4.8; at seed time "... for the auto-commit strategy."
    esac
    got=$({ printf 'tree %s\n' $tree; [ -n "$par" ] && printf 'parent %s\n' $par; printf 'author %s <%s> %s %s\ncommitter %s <%s> %s %s\n\n' "$an" "$ae" $at "$tz" "$an" "$ae" $at "$tz"; cat "$d/m"; } | git hash-object -t commit --stdin)
    if [ "$got" = "$c" ]; then ok=$((ok+1)); else bad=$((bad+1)); echo "commit differs $c"; fi
    # the shadow branch name in the trailer: <7 hex of the parent of the linking user commit>-sha256('')[:6]
    if [ -n "${eph:-}" ]; then local uc; uc=$(git log --all --format='%H %(trailers:key=Entire-Checkpoint,valueonly,separator=%x2C)' | awk -v i="$id" '$2==i{print $1}' | head -1); [ "$(shadow "$(git rev-parse $uc^)" '')" = "$eph" ] && echo "shadow name ok: $eph" || { echo "shadow name differs: $eph"; bad=$((bad+1)); }; eph=''; fi
    for f in $(git ls-tree -r --name-only $c | grep content_hash.txt); do [ "$(git show "$c:$f")" = "sha256:$(git show "$c:${f%content_hash.txt}full.jsonl" | sha256)" ] || { echo "content hash differs $f"; bad=$((bad+1)); }; done
  done; echo "selftest: $ok commits rebuilt byte-equal, $bad failures"; rm -rf "$d"; [ $bad = 0 ]
}

case ${1:-} in
  --selftest) selftest "$(realpath "$2")" ;;
  ''|-h|--help) sed -n 2,25p "$0" ;;
  *) mkdir -p "$1"; OUT=$(cd "$1" && pwd); rm -rf "$OUT/expected" "$OUT/home" "$OUT/wt"
     for r in ${2:-two-sessions committed migration edge refs-ulid}; do
       case $r in refs-ulid) f=fx_refs;; *) f=fx_${r//-/_};; esac
       ( $f ); echo "== $r"; git -C "$OUT/$r" for-each-ref --format='%(objectname:short) %(refname)'
     done ;;
esac
