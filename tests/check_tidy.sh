#!/bin/sh
# Runs clang-tidy, with the committed .clang-tidy, on lite, store and tui.
#   usage: check_tidy.sh SOURCE_DIR BUILD_DIR
src=$1 build=$2
[ -s "$build/compile_commands.json" ] || { echo "tidy: no $build/compile_commands.json"; exit 1; }
cd "$src" || exit 1
said=$(find lite store tui -name '*.c' -print0 |
    xargs -0 -n 4 -P "$(nproc)" clang-tidy -quiet -p "$build" 2>/dev/null)
status=$?
echo "$said" | grep -v 'warnings\? generated' | grep .
exit $status
