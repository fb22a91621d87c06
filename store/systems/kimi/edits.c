#include <string.h>

#include "lite/json/json.h"
#include "store/systems/common/edits/listing.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/kimi/kimi.h"

/* The edits are those of the tool calls. The instructions of the model are one of the first rows, and have a listing of the
 * directory. */

static bool find_listing(const struct session_ref *ref, struct slice row, struct arena *a,
                         struct listing *out)
{
    static const char before[] = "The current working directory is `";
    static const char title[] = "The directory listing of current working directory is:\n\n```\n";
    struct slice text;

    (void)ref;
    if (!json_valid(row) || !json_get_text(row, "systemPrompt", a, &text))
        return false;
    const char *end = text.p + text.n, *tree = slice_find(text.p, text.n, title, strlen(title));
    const char *root = slice_find(text.p, text.n, before, strlen(before));
    const char *close = root ? memchr(root, '\n', (size_t)(end - root)) : NULL;

    root = root ? root + strlen(before) : NULL;
    close = close ? memchr(root, '`', (size_t)(close - root)) : NULL;
    if (!tree || !close)
        return false;
    tree += strlen(title);
    *out =
        (struct listing){ .root = arena_copy(a, (struct slice){ root, (size_t)(close - root) }).p,
                          .tree = { tree, (size_t)(end - tree) },
                          .time_ms = kimi_time(row) };
    return out->root != NULL;
}

enum err_code kimi_edits(const struct store *st, const struct session_ref *ref,
                         const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    enum err_code rc = q->reads ? listing_report(ref, find_listing, q, fn, arg, e) : ERR_OK;

    return rc ? rc : tool_edits_logged(st, ref, q, fn, arg, e);
}
