#!/bin/sh
# Makes a corpus and runs every bench over it.
#   usage: bench.sh BENCH_PROGRAMS_DIR REPRISE STATIC SESSIONS BYTES ROUNDS FILES ROWS LISTED LISTED_LONG SEARCHED COPIES
# LISTED and LISTED_LONG are the numbers of sessions of a list and of a long one, SEARCHED the bytes of each of four transcripts,
# COPIES the sessions of each other agent. STATIC is the static program, if there is one.
set -eu
programs=$1 reprise=$2 static=$3 sessions=$4 bytes=$5 rounds=$6 files=$7 rows=$8
shift 8
listed=$1 listed_long=$2 searched=$3 copies=$4
here=$(dirname "$0")
dir=$(mktemp -d "${TMPDIR:-/tmp}/reprise-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM

large=$dir/large/projects/-home-dev-large/01234567-89ab-4cde-8f01-23456789abcd.jsonl
mkdir -p "${large%/*}"
"$programs/gen_corpus" --one "$large" "$bytes"
"$programs/gen_corpus" --live "$dir/many" "$sessions"

"$programs/bench_start" process "$reprise" "$static" "$rounds"
"$programs/gen_corpus" --live "$dir/listed" "$listed" 28000
"$programs/bench_list" "$reprise" "$dir/listed" "$rounds" "list of ten thousand" 12
"$programs/bench_start" "screen of ten thousand" "$reprise" "$dir/listed" 20 "$rounds"
"$programs/bench_search" "$reprise" "$dir/listed" "$rounds" "search of small sessions"
rm -rf "$dir/listed"
"$programs/gen_corpus" --live "$dir/long" "$listed_long" 4000
"$programs/bench_list" "$reprise" "$dir/long" "$rounds" "list of a hundred thousand" 30
"$programs/bench_start" "screen of a hundred thousand" "$reprise" "$dir/long" 60 "$rounds"
rm -rf "$dir/long"
mkdir -p "$dir/searched/projects/-home-dev-large"
for i in 1 2 3 4; do
    "$programs/gen_corpus" --one "$dir/searched/projects/-home-dev-large/0000000$i-89ab-4cde-8f01-23456789abcd.jsonl" "$searched" "$i"
done
"$programs/bench_search" "$reprise" "$dir/searched" "$rounds" "search of large sessions"
rm -rf "$dir/searched"

"$programs/bench_index" "$large" "$rounds"
"$programs/bench_list" "$reprise" "$dir/many" "$rounds"
"$programs/bench_messages" "$reprise" "$dir/large" "$large" "$rounds"
"$programs/bench_export" "$reprise" "$dir/large" "$large" "$rounds"
"$programs/bench_search" "$reprise" "$dir/many" "$rounds"
"$programs/bench_blame" "$reprise" "$dir/many" "$rounds"
"$programs/bench_usage" "$reprise" "$dir/many" "$rounds"
"$programs/bench_fork" "$reprise" "$dir/large" "$large" "$rounds"
mkdir "$dir/entire"
"$programs/bench_entire" "$reprise" "$dir/entire" $((sessions < 590 ? sessions / 10 : 590)) "$rounds"
mkdir "$dir/athena"
"$programs/bench_athena" "$reprise" "$dir/athena" "$sessions" "$rounds"
mkdir "$dir/changes"
"$programs/bench_change" "$reprise" "$dir/changes" "$files" "$rounds"
"$programs/bench_keys" "$reprise" "$dir/many" "$dir" $((rounds * 4))
"$programs/bench_rewind" "$dir" "$files" "$rounds" "$bytes"
mkdir "$dir/snapshot"
"$programs/bench_snapshot" "$dir/snapshot" $((files * 50)) "$rounds"
"$programs/bench_goat" "$dir/goat" "$((sessions / 2))" "$files" "$rounds"
mkdir "$dir/turns"
"$programs/bench_turns" "$dir/turns" 112 "$rounds"
mkdir "$dir/tracked"
"$programs/bench_files" "$dir/tracked" $((files * 40)) "$rounds"
"$programs/bench_filter" "$rows"
"$programs/bench_update" "$rows"
mkdir "$dir/session"
"$programs/bench_session" "$dir/session" "$dir/large" "$large" "$rounds"
PYTHONPATH=$here/.. python3 "$here/bench_agents.py" "$reprise" "$copies" "$rounds" gemini pi codex droid opencode auggie qwen continue cline
