#!/bin/sh
# Makes a corpus and runs every bench over it.
#   usage: bench.sh BENCH_PROGRAMS_DIR REPRISE SESSIONS BYTES ROUNDS
set -eu
programs=$1 reprise=$2 sessions=$3 bytes=$4 rounds=$5
dir=$(mktemp -d "${TMPDIR:-/tmp}/reprise-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM

"$programs/gen_corpus" --one "$dir/large.jsonl" "$bytes"
"$programs/bench_index" "$dir/large.jsonl" "$rounds"
