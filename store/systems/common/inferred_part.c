#include <string.h>

#include "lite/base/cleanup.h"
#include "store/systems/common/inferred.h"

/* Whether a command may have kept a part of a file that was there. Commands are not understood here as the rest of
 * inferred.h understands them: a wrong yes only holds a file back. */

/* The words of a command that is not understood, without the signs around them. */
static bool next_rough_word(struct slice *rest, struct slice *word)
{
    static const char signs[] = " \t\"'(){}`";
    size_t n = 0;

    while (rest->n && strchr(signs, rest->p[0]))
        *rest = (struct slice){ rest->p + 1, rest->n - 1 };
    while (n < rest->n && !strchr(signs, rest->p[n]))
        n++;
    *word = (struct slice){ rest->p, n };
    *rest = (struct slice){ rest->p + n, rest->n - n };
    return n > 0;
}

static bool is_one_of(struct slice word, const char *const *list, size_t n)
{
    const char *slash = word.n ? memrchr(word.p, '/', word.n) : NULL;

    if (slash)
        word = (struct slice){ slash + 1, (size_t)(word.p + word.n - slash) - 1 };
    for (size_t i = 0; i < n; i++)
        if (slice_eq(word, slice_of(list[i])))
            return true;
    return false;
}

/* Returns true if a command has no output: it has only words that print nothing, or reads nothing. */
static bool prints_nothing(struct slice command)
{
    static const char *const silent[] = { ":",       "true", "echo", "printf", "sudo", "doas",
                                          "env",     "exec", "sh",   "bash",   "zsh",  "dash",
                                          "command", "then", "do",   "nohup",  "else", "busybox" };
    struct slice word;
    bool nothing = true;

    while (next_rough_word(&command, &word)) {
        if (slice_eq(word, SLICE("/dev/null")))
            return true;
        nothing = nothing && (word.p[0] == '-' || memchr(word.p, '=', word.n) ||
                              is_one_of(word, silent, COUNT_OF(silent)));
    }
    return nothing;
}

/* Returns true if a command may begin at this byte. The & of a redirection ends none. */
static bool command_begins(struct slice text, const char *p)
{
    return strchr("\n;|", p[-1]) ||
           (p[-1] == '&' && !(p - 1 > text.p && strchr("<>", p[-2])) && *p != '>');
}

/* Whether the command that names the file there may do so. */
static bool may_shorten_at(struct slice text, const char *name)
{
    const char *p = name;

    while (p > text.p && !strchr(" \t\n;&|><\"'()`=", p[-1]))
        p--;
    while (p > text.p && strchr(" \t\"'", p[-1]))
        p--;
    const bool forced = p - 1 > text.p && p[-1] == '|' && p[-2] == '>';
    const bool written = forced || (p > text.p && p[-1] == '>');

    p -= written + forced;
    if (written && p > text.p && p[-1] == '>') /* it is appended to */
        return false;

    const char *end = p;

    while (p > text.p && !command_begins(text, p))
        p--;
    struct slice command = { p, (size_t)(end - p) };

    /* Otherwise, one of its words is a program that works on present contents, or its source is empty. */
    if (written)
        return prints_nothing(command);

    static const char *const programs[] = {
        "truncate", "head", "tail", "sed",  "perl",  "awk",   "dd",   "split", "gzip", "bzip2",
        "xz",       "zstd", "jq",   "sort", "shred", "strip", "cat",  "tac",   ":",    "true",
        "less",     "wc",   "ls",   "du",   "stat",  "grep",  "uniq", "cut",   "tr",   "logrotate"
    };
    struct slice word;

    while (next_rough_word(&command, &word))
        if (is_one_of(word, programs, COUNT_OF(programs)) || slice_eq(word, SLICE("/dev/null")))
            return true;
    return false;
}

bool inferred_may_shorten(struct slice command, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n = strlen(name);
    const char *at = slice_find(command.p, command.n, name, n), *end = command.p + command.n;

    if (!at)
        return slice_has(command, "truncate") || slice_has(command, "shred") ||
               slice_has(command, "logrotate") || slice_has(command, "/dev/null") ||
               slice_has(command, ": >") || slice_has(command, ":>");
    for (; at; at = slice_find(at + 1, (size_t)(end - at) - 1, name, n))
        if (may_shorten_at(command, at))
            return true;
    return false;
}
