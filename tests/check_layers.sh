#!/bin/sh
# Checks the layers by the includes that the compiler saw and the symbols that the linker would need.
#   usage: check_layers.sh SOURCE_DIR BUILD_DIR
src=$1 build=$2 bad=0
libs="lite/liblite store/libstore store/export/libexport store/library/libreprise tui/libtui_core"
for lib in $libs; do
    # A missing library must fail here, because nm without input would pass every check below.
    [ -s "$build/$lib.a" ] || { echo "layer: no $build/$lib.a"; exit 1; }
done
say() { echo "layer: $*"; bad=1; }
includes() { # WHAT WHERE...: the lines that include it
    what=$1
    shift
    grep -rnE --include='*.[ch]' "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<]$what" "$@"
}
calls() { # SYMBOLS: those that the library needs from the linker, by $undefined
    echo "$undefined" | grep -E " U ($1)(64)?(_chk)?(@|\$)"
}

# 1. Include direction: tui -> store -> lite, never back. The screen knows no system by name.
includes '(store|tui|tests)/' "$src/lite" && say "lite includes upward"
includes '(tui|tests)/' "$src/store" && say "store includes upward"
includes 'tests/' "$src/tui" && say "tui includes tests"
includes 'store/systems/' "$src/tui" && say "tui knows a system"
includes 'store/library/' "$src/lite" "$src/store" "$src/tui" | grep -v '/store/library/' &&
    say "a file of the program includes the library for hosts"
# 2. curses is named in tui/term/ only.
includes '(n?curses|ncursesw/)' "$src/lite" "$src/store" "$src/tui" | grep -v '/tui/term/' &&
    say "curses outside tui/term/"
# 3. lite cannot change a file: it calls no function that could.
undefined=$(nm -u "$build/lite/liblite.a")
calls 'p?write|p?writev|fwrite|creat|rename|renameat2?|unlink|unlinkat|remove|rmdir|f?truncate|mkdir|mkdirat|mknod|link|linkat|symlink|symlinkat|f?chmod|fchmodat|f?chown|utimensat|futimens|fsync|fdatasync|copy_file_range|sendfile' &&
    say "lite can write"
for lib in $libs; do
    undefined=$(nm -u "$build/$lib.a")
    # 4. The libraries and the screen's core never end the process, print, or read the environment. A host may leave the
    #    current directory to reprise_open().
    cwd='getcwd|'
    [ $lib = store/library/libreprise ] && cwd=
    calls "exit|_exit|_Exit|quick_exit|abort|getenv|secure_getenv|${cwd}printf|vprintf|puts|putchar|perror|err|errx|warn|warnx" &&
        say "$lib calls what only main may"
    # 5. Functions that cannot be used safely.
    calls 'strcpy|strcat|sprintf|vsprintf|strncpy|strncat|strtok|gets|atoi|atol|localtime|gmtime|ctime|asctime|tmpnam|mktemp|rand|system|popen' &&
        say "$lib calls a banned function"
    # 6. No mutable file-level state: nothing in .data or .bss (tables of pointers are .data.rel.ro), except the lock of
    #    libgit2's options, which belong to the process, and the functions of libcrypto.
    nm -f sysv "$build/$lib.a" | grep -E '\| *(OBJECT|TLS) *\|.*\|\.(data|bss|tdata|tbss)(\.[^r]|\.r[^e]|$)' |
        grep -vE '^(gitlib_(lock|started|functions)|libcrypto|libcrypto_once)[. ]' &&
        say "$lib keeps state in a file"
done
# 7. Only main reads the environment and ends the process; the rest of tui is handed what it needs.
grep -rnE --include='*.[ch]' '\b(secure_)?getenv *\(|\bexit *\(' "$src/tui" | grep -v '/tui/main\.c:' &&
    say "only tui/main.c reads the environment or exits"
# 8. Directions between the folders of store: FOLDER may include these. api is for all but fs, and
#    includes nothing above git; a system knows no other, and the registry (systems/) includes none of them.
directions='fs:
git: fs proc
proc: api fs
log: api fs proc/process.h
sqlite: fs
journal: api fs git log sqlite
snapshots: api fs git journal
keep: api fs journal/record.h
bundle: api fs git journal keep redact
query: api fs log proc
host: api fs journal log proc query
grep: api query
redact: 
show: api query rewind
export: api fs redact show
blame: api fs git journal query rewind
rewind: api fs git journal log snapshots proc/live.h blame/blame_text.h
library: api blame export fs grep host journal maintenance query redact rewind show
maintenance: api fs git journal keep log proc query rewind show
systems/common: api fs git journal log sqlite rewind/plan show/tool_call.h
api: fs git proc/process.h
systems: api
demo: api fs git journal log snapshots systems/common systems/claude systems/entire systems/exathena systems/goat'
system='api fs git proc sqlite journal log redact rewind/plan rewind/diff systems/common'
grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"store/' "$src/store" |
    sed -nE "s,^$src/store/([^:]*):[0-9]*:.*\"store/([^\"]*)\".*,\1 \2,p" |
    awk -v directions="$directions" -v system_may="$system" '
        function folder(path,   part, n) {
            n = split(path, part, "/")
            if (part[1] == "systems" && n > 2) return part[1] "/" part[2]
            return n > 1 ? part[1] : "."
        }
        BEGIN { n = split(directions, line, "\n"); for (i = 1; i <= n; i++) { split(line[i], half, ":"); may[half[1]] = half[2] " " } }
        {
            from = folder($1); to = folder($2)
            allowed = (from in may) ? may[from] : from ~ /^systems\// ? " " system_may " " : ""
            if (from == to || from == "." || allowed == "") next
            if (index(allowed, " " to " ") || index(allowed, " " $2 " ")) next
            split($2, part, "/")
            if (index(allowed, " " part[1] "/" part[2] " ")) next
            print "layer: store/" $1 " includes store/" $2; found = 1
        }
        END { exit found }' || bad=1
# 9. Directions between the folders of tui: FOLDER may include these folders and files. Of app only model.c names screens,
# and only what opens the terminal includes model.h: update() and render() know views through `view_ops` alone.
directions='text:
filter: text
widgets: text app/action.h app/key.h
config: data text widgets app/action.h app/key.h
data: config filter text
app: config data widgets
app/model.c: screens
screens: config data filter text widgets app/action.h app/effect.h app/key.h app/msg.h app/program.h app/view.h
jobs: config data text app/effect.h app/msg.h screens/transcript/layout.h
term: app config jobs text widgets
commands: app config data filter term text
setup: app commands config text'
grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"tui/' "$src/tui" |
    sed -nE "s,^$src/tui/([^:]*):[0-9]*:.*\"tui/([^\"]*)\".*,\1 \2,p" |
    awk -v directions="$directions" '
        function folder(path,   part, n) { n = split(path, part, "/"); return n > 1 ? part[1] : "." }
        BEGIN { n = split(directions, line, "\n"); for (i = 1; i <= n; i++) { split(line[i], half, ":"); may[half[1]] = half[2] " " } }
        {
            from = folder($1); to = folder($2); allowed = may[from] may[$1]
            if (from == to || from == "." || index(allowed, " " to " ") || index(allowed, " " $2 " ")) next
            print "layer: tui/" $1 " includes tui/" $2; found = 1
        }
        END { exit found }' || bad=1
# 10. What only Linux has stands in store/fs/*_linux.c and store/proc/*_linux.c, beside its second way (*_portable.c).
only_linux() { # WHAT PATTERN: lines outside those files, other than comments, that have it
    grep -rnE --include='*.[ch]' "$2" "$src/lite" "$src/store" "$src/tui" |
        grep -vE '/store/(fs|proc)/[a-z_]*_(linux|portable)\.c:|^[^:]*:[0-9]*:[[:space:]]*(/\*|\*|#undef O_NOATIME|#define O_NOATIME)' |
        grep -vE '/lite/io/file\.c:.*O_NOATIME' && say "$1 outside store/fs and store/proc"
}
only_linux "a header of Linux" '^[[:space:]]*#[[:space:]]*include[[:space:]]*<(linux/|asm/|sys/(inotify|fanotify|signalfd|eventfd|timerfd|epoll|pidfd|syscall|prctl|sendfile|vfs|sysmacros|sysinfo|capability|personality|xattr)\.h)'
only_linux "a call of Linux" '\b(renameat2|memfd_create|inotify_[a-z0-9_]+|fanotify_[a-z]+|signalfd|eventfd|timerfd_[a-z]+|epoll_[a-z0-9_]+|statx|f?statfs|sync_file_range|pipe2|accept4|dup3|pidfd_[a-z_]+|gettid|syscall|prctl|getrandom|copy_file_range|sendfile|fallocate|readahead|mremap|getdents64|posix_spawn_file_actions_addclosefrom_np) *\('
only_linux "a flag of Linux" '\b(O_TMPFILE|O_PATH|O_NOATIME|F_[GS]ETLEASE|F_SETSIG|F_SETOWN_EX|F_OFD_[A-Z]+|RENAME_(NOREPLACE|EXCHANGE|WHITEOUT)|AT_EMPTY_PATH|CLOCK_BOOTTIME|MAP_POPULATE|SOCK_NONBLOCK)\b'
only_linux "/proc" '"/proc\b'
# 11. Options of libgit2 belong to the process, and only its start sets them.
grep -rnE --include='*.[ch]' '\bgit_libgit2_(init|shutdown|opts) *\(' "$src/lite" "$src/store" "$src/tui" |
    grep -vE '/store/git/libgit2\.c:|GIT_OPT_GET_|^[^:]*:[0-9]*:[[:space:]]*(/\*|\*)' && say "libgit2 is started or set up outside store/git/libgit2.c"
exit $bad
