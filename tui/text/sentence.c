#include "tui/text/human.h"

#include <stdio.h>
#include <string.h>

#include "lite/base/buf.h"

/* The sentence is made from the contexts that each caller added to an error: the innermost operation is the one that the
 * path belongs to, outer ones are left out, and states follow in brackets. */

/* Returns true if these words describe what was being done ("open the file"), and not a state ("a copy remains"). */
static bool sentence_is_operation(const char *words)
{
    static const char *const states[] = {
        "a",       "ambiguous", "an",    "and",   "another", "done,",   "end",        "has",
        "invalid", "it",        "its",   "needs", "no",      "not",     "only",       "row",
        "several", "the",       "there", "takes", "usage",   "command", "unfinished", "unfinished,"
    };
    size_t n = strcspn(words, " :");

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strlen(states[i]) == n && memcmp(words, states[i], n) == 0)
            return false;
    return *words >= 'a' && *words <= 'z';
}

/* Returns true if a path can follow these words at once: "open", "read directory", "look at". */
static bool takes_object(const char *operation, size_t n)
{
    static const char *const last[] = { "at",      "for",          "from",       "directory",
                                        "file",    "files",        "into",       "link",
                                        "links",   "session",      "store",      "to",
                                        "in",      "with",         "blob",       "database",
                                        "message", "appending",    "transcript", "plug-in",
                                        "bundle",  "configuration" };
    size_t begin = n;

    while (begin && operation[begin - 1] != ' ')
        begin--;
    for (size_t i = 0; begin && i < sizeof last / sizeof *last; i++)
        if (strlen(last[i]) == n - begin && memcmp(operation + begin, last[i], n - begin) == 0)
            return true;
    return begin == 0;
}

/* The innermost operation is the one of the path. A word that was typed wrong has no operation, and an option is the subject
 * of its sentence. */
struct slice err_sentence(const struct err *e, char *out, size_t cap)
{
    struct buf states = { 0 };
    const char *operation = NULL, *text = e->text;
    size_t n = 0, at = 0, context = e->context;
    bool is_option = e->code == ERR_USAGE && e->path[0] == '-';

    if (e->code == ERR_USAGE && !context && strstr(text, ": ") && sentence_is_operation(text))
        context = (size_t)(strstr(text, ": ") - text);
    while (at < context) {
        const char *part = text + at, *end = strstr(part, ": ");
        size_t most = context - at,
               length = end && (size_t)(end - part) < most ? (size_t)(end - part) : most;

        if (memchr(part, '"', length)) /* a sentence that quotes a colon */
            break;
        if (sentence_is_operation(part)) {
            operation = part;
            n = length;
        } else if (buf_addf(&states, "%s%.*s", states.n ? "; " : "", (int)length, part)) {
            break;
        }
        at += length + 2;
    }
    at = at < strlen(text) ? at : strlen(text); /* the text may have been cut */

    const char *reason = e->sys ? strerror(e->sys) : text + at;
    bool is_predicate = strncmp(reason, "must ", 5) == 0 || strncmp(reason, "needs ", 6) == 0 ||
                        strncmp(reason, "names ", 6) == 0 || strncmp(reason, "takes ", 6) == 0 ||
                        strncmp(reason, "works ", 6) == 0 || strncmp(reason, "is ", 3) == 0 ||
                        strncmp(reason, "does ", 5) == 0 || strncmp(reason, "prints ", 7) == 0;

    if (e->code == ERR_USAGE && (is_option || !operation) && !states.n)
        snprintf(out, cap, "%s%s%s", e->path, !e->path[0] ? "" : is_predicate ? " " : ": ", reason);
    else if (!operation && !states.n && e->code == ERR_FORMAT && e->path[0]) /* a line of a file */
        snprintf(out, cap, "%s: %s", e->path, reason);
    else if (!operation && !states.n)
        snprintf(out, cap, "%s%s%s", reason, e->path[0] ? ": " : "", e->path);
    else if (!operation)
        err_format(e, out, cap);
    else
        snprintf(out, cap, "cannot %.*s%s%s%s: %s%s%.*s%s", (int)n, operation,
                 !e->path[0]                  ? ""
                 : takes_object(operation, n) ? " "
                                              : " (",
                 e->path, e->path[0] && !takes_object(operation, n) ? ")" : "", reason,
                 states.n ? " (" : "", (int)states.n, states.n ? states.p : "",
                 states.n ? ")" : "");
    buf_fini(&states);

    const char *path = e->path[0] && e->code != ERR_USAGE ? strstr(out, e->path) : NULL;

    return (struct slice){ path, path ? strlen(e->path) : 0 };
}
