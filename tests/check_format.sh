#!/bin/sh
# Every source is formatted by the committed .clang-format. Each version of clang-format has its own idea of one style,
# so that only the one the sources were formatted with is asked; without it the check is skipped.
#   usage: check_format.sh SOURCE_DIR
version=14
cd "$1" || exit 1
for tool in clang-format-$version clang-format; do
    case $($tool --version 2>/dev/null) in
    *"version $version."*) break ;;
    esac
    tool=
done
[ -n "$tool" ] || { echo "format: skipped: there is no clang-format $version here"; exit 77; }
files=$(find lite store tui tests -name '*.[ch]')
[ "$(echo "$files" | wc -l)" -gt 40 ] || { echo "format: no sources in $1"; exit 1; }
# shellcheck disable=SC2086
$tool --dry-run -Werror $files
