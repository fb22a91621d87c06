# Runs in the terminal of a test: the program, and the checks of the terminal around it.
#   pane.sh TOP DIRECTORY PROGRAM ARG...
top=$1
cd "$2" || exit 1
shift 2
stty -g >"$top/stty-before"
if [ -e "$top/piped" ]; then
    "$@" | cat >"$top/stdout"
else
    "$@"
fi
code=$?
stty -g >"$top/stty-after"
echo "exit $code"
exec cat
