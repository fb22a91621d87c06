#!/bin/sh
# The static program: it is small, hardened, needs no other file, and starts fast. The tests that read every kind of store, and
# those of the screen, run with it in a root in which there is nothing but the program and the folder for temporary files: no
# library, no terminal description, no locale, no /etc/passwd; /proc only for agents whose sessions are converted, and two devices
# only for the screen.
#   usage: empty_root.sh SOURCE_DIR STATIC_BUILD_DIR FOLDER_BUILD_DIR        77: not root, or no sources to be had
set -eu
src=$1 build=$2 helpers=$3/tests
. "$src/tests/installed/root.sh"
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 77; }
top=$(mktemp -d)
trap 'rm -rf --one-file-system "$top"' EXIT

die() {
    echo "empty_root: $*"
    exit 1
}

if [ ! -e "$build/static-libraries/complete" ]; then
    apt-get -q update >"$top/log" 2>&1 || { echo "skipped: no sources of the libraries can be had"; exit 77; }
fi
{ cmake --preset static -S "$src" -B "$build" && ninja -C "$build" reprise; } >"$top/log" 2>&1 || { cat "$top/log"; die "does not build"; }
mkdir -p "$top/root/tmp"
program=$top/root/reprise
strip -o "$program" "$build/reprise"

# ---- the file ----

size=$(stat -c %s "$program")
[ "$size" -le 10000000 ] || die "$size bytes are more than 10 MB"
readelf -h "$program" | grep -q 'Type:.*DYN' || die "not position independent"
readelf -lW "$program" >"$top/segments"
readelf -dW "$program" >"$top/dynamic"
readelf -sW "$build/reprise" >"$top/symbols"
! grep -q INTERP "$top/segments" || die "needs a loader"
! grep -q NEEDED "$top/dynamic" || die "needs a shared library"
grep -q GNU_RELRO "$top/segments" || die "no RELRO"
grep -Eq 'BIND_NOW|FLAGS_1.*NOW' "$top/dynamic" || die "RELRO is partial"
! grep GNU_STACK "$top/segments" | grep -q RWE || die "the stack can be executed"
for symbol in __stack_chk_fail __memcpy_chk; do
    grep -q " $symbol$" "$top/symbols" || die "no $symbol: not hardened"
done
! strings -a "$program" | grep -F -e "$src/" -e "$build/" || die "the path of the build is in the program"

# ---- the same bytes from the source tarball, in other directories, with the libraries built again ----

{
    cpack --config "$3/CPackSourceConfig.cmake" -B "$top" && tar -xf "$top"/reprise-*.tar.xz -C "$top" && rm "$top"/reprise-*.tar.xz* &&
        cmake --preset static -S "$top"/reprise-* -B "$top/again" && ninja -C "$top/again" reprise
} >"$top/log" 2>&1 || { cat "$top/log"; die "does not build from the source tarball"; }
cmp "$build/reprise" "$top/again/reprise" || die "a build in another directory gives other bytes"
rm -rf "$top"/reprise-* "$top/again"

# ---- the start, only told: the shortest of many, in turn with /bin/true, so that both see the same machine ----

python3 - "$program" <<'END' || die "does not start"
import os, sys, time
def once(*argv):
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, {}, file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)])
    assert os.waitpid(pid, 0)[1] == 0
    return time.perf_counter() - start
pairs = [(once(sys.argv[1], '--version'), once('/bin/true')) for _ in range(400)]
ours, true = (min(column) * 1000 for column in zip(*pairs))
print(f'starts in {ours:.2f} ms, {ours / true:.2f} times /bin/true')
END

# ---- in the empty root ----

cat >"$top/reprise" <<END
#!/bin/sh
exec unshare --root="$top/root" --wd="\$PWD" /reprise "\$@"
END
chmod +x "$top/reprise"
export PYTHONPATH="$src/tests:$src/tests/commands" PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8 TZ=UTC TMPDIR=/tmp
cat >"$top/tests" <<END
set -e
cd "$top"
mount --bind /tmp "$top/root/tmp"
run() {
    "\$@" >"$top/log" 2>&1 && echo "passed: \${*#$top/}" || { cat "$top/log"; echo "empty_root: failed: \$*"; exit 1; }
}
run "$top/reprise" --version
run sh -c 'echo | "$top/reprise" demo --plain 2>&1 | grep "Payments: idempotency keys"'
run python3 "$src/tests/commands/recorded.py" "$top/reprise" list
run python3 "$src/tests/commands/search.py" "$top/reprise"
run python3 "$src/tests/commands/rewind_rules.py" "$top/reprise"
# A terminal is opened by its name.
mkdir "$top/root/dev"
cp -a /dev/tty /dev/null "$top/root/dev"
for screen in opens_and_lists transcript filter; do
    run sh "$src/tests/screen/\$screen.sh" "$top/reprise" "$helpers/demo_store"
done
# Sessions that are converted to be read, compressed ones, those in databases and Entire's, are held in memory that has its name there.
mkdir "$top/root/proc"
mount -t proc proc "$top/root/proc"
for agent in codex opencode kimi; do
    run python3 "$src/tests/store/systems/recorded/recorded_agents.py" "$top/reprise" \$agent
done
run python3 "$src/tests/commands/entire_conformance.py" "$top/reprise" -
END
unshare --mount --pid --fork --kill-child --mount-proc sh "$top/tests"
echo "static program: $size bytes"
