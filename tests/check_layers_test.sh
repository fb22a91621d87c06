#!/bin/sh
# Tests check_layers.sh: it passes a clean tree and finds each planted violation.
#   usage: check_layers_test.sh CC
set -eu
check=$(dirname "$0")/check_layers.sh
cc=$1 top=$(mktemp -d) failed=0
trap 'rm -rf "$top"' EXIT

# A tree with one source file in each room: ROOM NAME TEXT replaces its contents.
clean_tree() {
    rm -rf "$top/src"
    mkdir -p "$top/src/lite" "$top/src/store/systems/x" "$top/src/store/library" "$top/src/store/export" "$top/src/tui/term" \
        "$top/build/lite" "$top/build/store/library" "$top/build/store/export" "$top/build/tui"
    echo 'int reprise_x(void); int reprise_x(void) { return 4; }' >"$top/src/store/library/x.c"
    echo 'int export_x(void); int export_x(void) { return 5; }' >"$top/src/store/export/x.c"
    echo 'int lite_x(void); int lite_x(void) { return 1; }' >"$top/src/lite/x.c"
    printf '#include "lite/x.h"\nint store_x(void); int store_x(void) { return 2; }\n' >"$top/src/store/x.c"
    printf '#include "store/x.h"\n#include <string.h>\nint tui_x(void); int tui_x(void) { return 3; }\n' >"$top/src/tui/x.c"
    echo '#include <curses.h>' >"$top/src/tui/term/term.c"
    : >"$top/src/lite/x.h"
    : >"$top/src/store/x.h"
}

compile() { # ROOM LIBRARY, if its source is another one than last time
    cmp -s "$top/src/$1/x.c" "$top/build/$1/x.c" && return
    cp "$top/src/$1/x.c" "$top/build/$1"
    "$cc" -w -O1 -I"$top/src" -c "$top/src/$1/x.c" -o "$top/build/$1/x.o"
    ar rc "$top/build/$1/$2.a" "$top/build/$1/x.o"
}

verdict() { # WANT NAME
    compile lite liblite
    compile store libstore
    compile store/library libreprise
    compile store/export libexport
    compile tui libtui_core
    if said=$(sh "$check" "$top/src" "$top/build" 2>&1); then got=pass; else got=fail; fi
    if [ "$got" != "$1" ]; then
        echo "$2: expected $1, got $got: $said"
        failed=1
    fi
}

clean_tree
verdict pass "a clean tree"

planted() { # NAME FILE LINE...
    name=$1 file=$2
    shift 2
    clean_tree
    printf '%s\n' "$@" >>"$top/src/$file"
    verdict fail "$name"
}
planted "lite includes store" lite/x.c '#include "store/x.h"'
planted "lite includes store, with blanks" lite/x.c '  #  include  "store/x.h"'
planted "store includes tui" store/x.c '#ifdef NEVER' '#include "tui/widgets/frame.h"' '#endif'
planted "a header counts too" store/x.h '#ifdef NEVER' '#include "tui/widgets/frame.h"' '#endif'
planted "tui includes a system" tui/x.c '#ifdef NEVER' '#include "store/systems/x/x.h"' '#endif'
planted "tui includes the library for hosts" tui/x.c '#ifdef NEVER' '#include "store/library/reprise.h"' '#endif'
planted "the library ends the process" store/library/x.c '#include <stdlib.h>' 'void reprise_y(void) { exit(1); }'
planted "the library includes a system" store/library/x.c '#ifdef NEVER' '#include "store/systems/x/x.h"' '#endif'
planted "curses outside term" tui/x.c '#ifdef NEVER' '#include <ncursesw/curses.h>' '#endif'
mkdir_room() { mkdir -p "$top/src/tui/app" "$top/src/tui/screens" "$top/src/tui/jobs" "$top/src/tui/widgets"; : >"$top/src/tui/screens/s.h"; : >"$top/src/tui/app/view.h"; : >"$top/src/tui/app/key.h"; mkdir -p "$top/src/store/fs" "$top/src/store/log" "$top/src/store/api" "$top/src/store/systems/y"; : >"$top/src/store/log/l.h"; : >"$top/src/store/systems/y/y.h"; }
between() { # NAME FILE INCLUDED
    clean_tree
    mkdir_room
    printf '#include "%s"\n' "$3" >"$top/src/$2"
    verdict "${4:-fail}" "$1"
}
between "fs includes log" store/fs/f.c store/log/l.h
between "a system includes another" store/systems/x/x.c store/systems/y/y.h
between "api includes the journal" store/api/a.c store/log/l.h
between "api includes a system" store/api/a.c store/systems/y/y.h
between "the registry includes a system" store/systems/registry.c store/systems/y/y.h
between "a system includes log" store/systems/x/x.c store/log/l.h pass
between "update includes a screen" tui/app/update.c tui/screens/s.h
between "the model includes a screen" tui/app/model.c tui/screens/s.h pass
between "a widget includes a view" tui/widgets/w.c tui/app/view.h
between "a widget includes a key" tui/widgets/w.c tui/app/key.h pass
between "a job includes a view" tui/jobs/j.c tui/app/view.h
between "a screen includes the stack of views" tui/screens/s.c tui/app/view.h pass
planted "lite writes" lite/x.c 'long write(int, const void *, unsigned long); long w(void); long w(void) { return write(1, "", 0); }'
planted "lite renames" lite/x.c 'int rename(const char *, const char *); int r(void) { return rename("a", "b"); }'
planted "lite unlinks" lite/x.c 'int unlinkat(int, const char *, int); int r(void) { return unlinkat(3, "a", 0); }'
planted "store exits" store/x.c 'void exit(int); void q(void) { exit(1); }'
planted "store prints" store/x.c 'int puts(const char *); void q(void) { puts("x"); }'
planted "store reads the environment" store/x.c 'char *getenv(const char *); char *q(void) { return getenv("HOME"); }'
planted "the screen's core prints" tui/x.c 'int puts(const char *); void q(void) { puts("x"); }'
planted "a banned function" store/x.c 'char *strcpy(char *, const char *); char *q(char *a, char *b) { return strcpy(a, b); }'
planted "a counter in a file" store/x.c 'static int count; int next(void) { return ++count; }'
planted "a set variable in a file" tui/x.c 'int level = 3;'
planted "a hidden static" lite/x.c 'char *ring(int i) { static char r[4][8]; return r[i]; }'
planted "an option of libgit2" store/x.c '#ifdef NEVER' 'git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, known, 1);' '#endif'
planted "getenv outside main" tui/term/term.c 'char *x(void) { return getenv("TERM"); }'

planted "a header of Linux" store/x.c '#ifdef NEVER' '#include <linux/openat2.h>' '#endif'
planted "inotify in the screen" tui/term/term.c '#ifdef NEVER' '#include <sys/inotify.h>' '#endif'
planted "a call of Linux" store/x.c 'int memfd_create(const char *, unsigned); int m(void) { return memfd_create("x", 0); }'
planted "a flag of Linux" store/x.c '#ifdef NEVER' 'int f = O_TMPFILE;' '#endif'
planted "/proc" store/x.c 'const char *p(void) { return "/proc/self"; }'
clean_tree
mkdir_room
echo 'int f = O_TMPFILE; const char *p = "/proc";' >"$top/src/store/fs/kernel_linux.c"
verdict pass "the same where it belongs"
clean_tree
mkdir_room
echo '/* the link of "/proc" that O_TMPFILE needs */' >"$top/src/store/fs/f.c"
verdict pass "a comment about it"

clean_tree
printf '%s\n' 'static const char *const names[] = { "a", "b" }; const char *n(int i) { return names[i]; }' >>"$top/src/store/x.c"
verdict pass "a constant table of pointers"

clean_tree
compile lite liblite
compile store libstore
if sh "$check" "$top/src" "$top/build-nowhere" >/dev/null 2>&1; then
    echo "passes without libraries"
    failed=1
fi
exit $failed
