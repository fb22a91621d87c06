#include "store/systems/common/edits/tool_edits.h"

#include <string.h>

#include "lite/json/json.h"
#include "store/show/tool_call.h"

bool read_call_path(struct slice name, struct slice input, struct arena *a, struct slice *path)
{
    static const char *const readers[] = { "read_file", "Read", "read", "view" };
    struct slice key, value;
    struct json_iter it;
    size_t members = 0;
    bool reads = false;

    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        reads |= slice_eq(name, slice_of(readers[i]));
    if (!reads || json_type(input) != JSON_OBJECT || !json_iter_open(&it, input))
        return false;
    while (json_iter_next(&it, &key, &value))
        members++;
    return members == 1 && tool_inputs_path(input, a, path); /* others choose a part of the file */
}

bool read_call_is_missing(struct slice result, struct slice path)
{
    static const char *const says[] = { "ile not found", "oes not exist", "o such file", "ENOENT" };
    bool said = false;

    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        said |= slice_has(result, says[i]);
    return said && path.n && slice_find(result.p, result.n, path.p, path.n);
}

bool read_call_is_repeated(struct slice result)
{
    return slice_starts(result, "[File ") && slice_has(result, "unchanged since last read");
}

/* Takes "  12\t" or the like, with the right number. */
static bool skip_number(struct slice *line, size_t number)
{
    static const char *const after[] = { "\t", "→", ". ", ": ", "| " };
    size_t i = 0, n = 0;

    while (i < line->n && line->p[i] == ' ')
        i++;
    for (; i < line->n && line->p[i] >= '0' && line->p[i] <= '9' && n <= number; i++)
        n = n * 10 + (size_t)(line->p[i] - '0');
    struct slice rest = { line->p + i, line->n - i };

    for (size_t k = 0; n == number && k < sizeof after / sizeof *after; k++)
        if (slice_starts(rest, after[k])) {
            size_t passed = strlen(after[k]);

            *line = (struct slice){ rest.p + passed, rest.n - passed };
            return true;
        }
    return false;
}

struct slice read_call_text(struct slice result, struct arena *a)
{
    struct slice rest = result, line;
    char *text = arena_alloc(a, result.n + 1);
    size_t n = 0, number = 0;
    bool torn;

    while (text && slice_line(&rest, &line, &torn)) {
        if (!skip_number(&line, ++number))
            return result;
        if (number > 1)
            text[n++] = '\n';
        memcpy(text + n, line.p, line.n);
        n += line.n;
    }
    return text && number ? (struct slice){ text, n } : result;
}
