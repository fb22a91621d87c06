#!/bin/sh
# Builds and installs the program and the library with makefiles, which know less than ninja of files that other folders
# make: from an empty directory, again when nothing has changed, and when an object is gone. What is tested is the order
# of the steps, so a script takes the compiler's place, and each library is one object. Its directory has a blank.
#   usage: check_makefiles.sh SOURCE_DIR
set -eu
src=$1
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
build="$top/a build"
unset MAKEFLAGS MFLAGS MAKELEVEL CMAKE_BUILD_PARALLEL_LEVEL

die() {
    cat "$top/log"
    echo "makefiles: $*"
    exit 1
}
run_build() { # ARGUMENTS OF CMAKE --BUILD...
    cmake --build "$build" "$@" >"$top/log" 2>&1 || die "cmake --build $* fails"
}
list_built() {
    find "$build" -name '*.[ao]' -printf '%p %T@\n' | sort
}

# Leaves an empty program where an object, a library, a program or a list of dependencies is asked for.
cat >"$top/compiler" <<'END'
#!/bin/sh
for argument; do
    case $previous in
    -MF) : >"$argument" ;;
    -o | qc) printf '#!/bin/sh\n' >"$argument" && chmod +x "$argument" ;;
    esac
    previous=$argument
done
END
chmod +x "$top/compiler"

cmake -S "$src" -B "$build" -G "Unix Makefiles" -DBUILD_TESTING=OFF -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 -DCMAKE_C_COMPILER_LAUNCHER="$top/compiler" \
    -DCMAKE_C_LINKER_LAUNCHER="$top/compiler" -DCMAKE_RANLIB=true -DCMAKE_LINKER="$top/compiler" \
    -DCMAKE_OBJCOPY=true >"$top/log" 2>&1 || die "the project cannot be configured"
run_build --target archive # needs an object of every library, none of which exists yet
run_build --parallel 4
list_built >"$top/before"
[ -s "$top/before" ] || die "nothing was built"
find "$build/store/export" -name '*.o' -exec rm {} +
run_build
[ -n "$(find "$build" -name libreprise.a -newer "$top/before")" ] || die "the archive keeps an old object"
list_built >"$top/before"
run_build
list_built | diff "$top/before" - >"$top/log" || die "what has not changed is built again"
cmake --install "$build" --prefix "$top/prefix" >"$top/log" 2>&1 || die "the build cannot be installed"
for file in bin/reprise include/reprise.h share/man/man3/reprise_open.3; do
    [ -e "$top/prefix/$file" ] || die "no $file is installed"
done
