#!/bin/sh
# Checks that every source is formatted by the committed .clang-format. Versions of clang-format format differently,
# so only the version that the sources were formatted with is used; without it the check is skipped.
#   usage: check_format.sh SOURCE_DIR
version=14
cd "$1" || exit 1
for tool in clang-format-$version clang-format; do
    case $($tool --version 2>/dev/null) in
    *"version $version."*) break ;;
    esac
    tool=
done
[ -n "$tool" ] || { echo "format: skipped: clang-format $version is not installed"; exit 77; }
files=$(find lite store tui tests -name '*.[ch]')
[ "$(echo "$files" | wc -l)" -gt 40 ] || { echo "format: no sources in $1"; exit 1; }
# shellcheck disable=SC2086
$tool --dry-run -Werror $files
