#!/bin/sh
# Every source is formatted by the committed .clang-format.
#   usage: check_format.sh SOURCE_DIR
cd "$1" || exit 1
files=$(find lite store tui tests -name '*.[ch]')
[ "$(echo "$files" | wc -l)" -gt 40 ] || { echo "format: no sources in $1"; exit 1; }
# shellcheck disable=SC2086
clang-format --dry-run -Werror $files
