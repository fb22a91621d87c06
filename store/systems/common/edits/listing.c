#include "store/systems/common/edits/tool_edits.h"

#include <fcntl.h>
#include <string.h>

#include "lite/io/file.h"
#include "store/api/edit.h"

enum { HEAD_BYTES = 256 << 10 };

/* One line of the tree. */
struct entry {
    size_t depth;
    struct slice name; /* without what follows that of a directory */
    bool is_dir;
    bool is_mark; /* more entries follow that are not shown */
};

/* Takes a part of the line, as UTF-8. */
static bool skip_text(struct slice *line, const char *part)
{
    if (!slice_starts(*line, part))
        return false;
    *line = (struct slice){ line->p + strlen(part), line->n - strlen(part) };
    return true;
}

/* Each level is four columns wide. */
static bool listing_read_entry(struct slice line, struct entry *out)
{
    *out = (struct entry){ .depth = 0 };
    while (skip_text(&line, "│   ") || skip_text(&line, "    "))
        out->depth++;
    if (!skip_text(&line, "├──") && !skip_text(&line, "└──"))
        return false;
    if (!skip_text(&line, "─") && !skip_text(&line, " "))
        return false;
    out->is_mark = slice_starts(line, "...") || slice_starts(line, "[not readable]");
    const char *slash = line.n ? memchr(line.p, '/', line.n) : NULL;

    out->is_dir = slash != NULL;
    out->name = (struct slice){ line.p, slash ? (size_t)(slash - line.p) : line.n };
    return true;
}

/* The search for a name, one component after the other. */
struct search {
    struct slice rest;    /* the components that were not found yet */
    size_t depth;         /* the depth of the directory that has them */
    bool any, is_partial; /* the directory has entries; not all of them are shown */
    bool found, is_over;
};

static void match_entry(struct search *s, const struct entry *x)
{
    struct slice name = s->rest;
    const char *slash = name.n ? memchr(name.p, '/', name.n) : NULL;
    struct slice part = (struct slice){ name.p, slash ? (size_t)(slash - name.p) : name.n };

    if (x->depth > s->depth || s->is_over)
        return;
    s->is_over = x->depth < s->depth;
    if (s->is_over)
        return;
    s->any = true;
    s->is_partial |= x->is_mark;
    if (x->is_mark || !slice_eq(x->name, part))
        return;
    s->is_over = s->found = part.n == s->rest.n || !x->is_dir;
    s->found &= part.n == s->rest.n;
    if (!s->is_over) {
        s->rest = (struct slice){ s->rest.p + part.n + 1, s->rest.n - part.n - 1 };
        s->depth++;
        s->any = s->is_partial = false;
    }
}

bool listing_lacks(const struct listing *l, struct slice name)
{
    struct search s = { .rest = name };
    struct slice text = l->tree, line;
    struct entry x;
    size_t entries = 0;
    bool torn, ignores = false;

    while (slice_line(&text, &line, &torn) && listing_read_entry(line, &x)) {
        entries++;
        ignores |=
            x.name.n > 6 && slice_eq((struct slice){ x.name.p + x.name.n - 6, 6 }, SLICE("ignore"));
        match_entry(&s, &x);
    }
    if (s.found || s.is_partial || (l->most && entries >= l->most) ||
        (ignores && l->skips_ignored) || memchr(name.p, '\n', name.n))
        return false;
    return s.any || (s.depth == 0 && !slice_starts(l->tree, "[not readable]"));
}

static enum err_code listing_read_head(const struct session_ref *ref, struct arena *a,
                                       struct slice *head, struct err *e)
{
    char *bytes = arena_alloc(a, HEAD_BYTES);
    struct file f;
    size_t got = 0;
    enum err_code rc = bytes ? file_open(AT_FDCWD, ref->path.p, FILE_FOLLOW, &f, e) : err_nomem(e);

    if (rc)
        return rc;
    rc = file_read(&f, 0, bytes, HEAD_BYTES, &got, e);
    file_close(&f);
    *head = (struct slice){ bytes, got };
    return rc;
}

enum err_code listing_report(const struct session_ref *ref, listing_find_fn *find,
                             const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct slice head = { NULL, 0 }, row;
    struct listing l;
    bool torn, found = false;
    enum err_code rc = listing_read_head(ref, &a, &head, e);

    while (!rc && !found && slice_line(&head, &row, &torn)) {
        found = find(ref, row, &a, &l);
        if (found) {
            size_t n = strlen(l.root);

            rc = ERR_OK;
            for (size_t i = 0; i < q->paths && !rc; i++) {
                const char *path = q->path[i];
                const struct edit seen = { .kind = EDIT_SEEN,
                                           .path = path,
                                           .time_ms = l.time_ms,
                                           .after_known = EDIT_ABSENT };

                if (strncmp(path, l.root, n) == 0 && path[n] == '/' && path[n + 1] &&
                    listing_lacks(&l, slice_of(path + n + 1)))
                    rc = fn(&seen, arg, e);
            }
        }
    }
    if (!rc && a.failed)
        rc = err_nomem(e);
    arena_fini(&a);
    return rc;
}
