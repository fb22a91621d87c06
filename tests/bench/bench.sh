#!/bin/sh
# Makes a corpus and runs every bench over it.
#   usage: bench.sh BENCH_PROGRAMS_DIR REPRISE SESSIONS BYTES ROUNDS FILES ROWS
set -eu
programs=$1 reprise=$2 sessions=$3 bytes=$4 rounds=$5 files=$6 rows=$7
dir=$(mktemp -d "${TMPDIR:-/tmp}/reprise-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM

large=$dir/large/projects/-home-dev-large/01234567-89ab-4cde-8f01-23456789abcd.jsonl
mkdir -p "${large%/*}"
"$programs/gen_corpus" --one "$large" "$bytes"
"$programs/gen_corpus" "$dir/many" "$sessions"

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
