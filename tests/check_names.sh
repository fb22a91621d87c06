#!/bin/sh
# Checks that each static function has a name of its own in its library, so that tags, a search, a debugger and a
# backtrace lead to one place. Each plug-in is a library.
#   usage: check_names.sh SOURCE_DIR      or --test: that the check finds what it looks for
names() { # DIRECTORY: "name file" of each static function that is defined there
    find "$1" -name '*.c' ! -path "$2" | sort | xargs awk '
        /^static [^=;]*[^[:alnum:]_=;][[:alpha:]_][[:alnum:]_]*\(/ && !/^static (const )?(_Thread_local )?(struct|union|enum)?[^(]*\[/ {
            name = $0
            sub(/\(.*/, "", name)
            sub(/.*[^[:alnum:]_]/, "", name)
            if (name != "__attribute__")
                print name, FILENAME
        }' | sort -u
}

doubled() { # DIRECTORY NOT-THERE
    names "$@" | awk '{ of[$1] = of[$1] " " $2; n[$1]++ } END { for (x in n) if (n[x] > 1) print "name: " x ":" of[x] }' |
        sort
}

if [ "$1" = --test ]; then
    dir=$(mktemp -d) || exit 1
    trap 'rm -rf "$dir"' EXIT
    printf 'static int one(void);\n\nstatic int one(void)\n{\n}\nstatic int list[2] = { 0 };\n' >"$dir/a.c"
    printf 'static struct x *one(int a,\n                     int b)\n{\n}\nstatic int list[2];\n' >"$dir/b.c"
    found=$(doubled "$dir" none)
    [ "$found" = "name: one: $dir/a.c $dir/b.c" ] && exit 0
    echo "names: the test found \"$found\""
    exit 1
fi

cd "$1" || exit 1
found=$(
    doubled lite none
    doubled store 'store/plugins/*'
    doubled tui none
    for plugin in store/plugins/*/; do
        doubled "$plugin" none
    done
)
[ -z "$found" ] && exit 0
echo "$found"
exit 1
