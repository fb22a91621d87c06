#include <stdio.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/screens/list/list.h"
#include "tui/widgets/frame.h"

/* Only the next few values after the present one are collected; after the last, Tab begins again with the first. */
enum { NEXT_VALUES = 8 };

struct completion {
    enum term_kind kind;
    size_t at;            /* where the value is in the query */
    struct slice present; /* the value that is in the query */
    struct slice typed;   /* the part of it that was typed */
    bool replaces;        /* nothing begins with that: the values replace it */
    struct slice next[NEXT_VALUES], first;
    size_t n;
};

static char list_complete_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Compares without the case of ASCII letters, and with it only if the texts are equal otherwise. */
static int list_complete_compare(struct slice a, struct slice b)
{
    for (size_t i = 0; i < a.n && i < b.n; i++)
        if (list_complete_lower(a.p[i]) != list_complete_lower(b.p[i]))
            return (unsigned char)list_complete_lower(a.p[i]) -
                   (unsigned char)list_complete_lower(b.p[i]);
    return a.n != b.n ? (a.n > b.n) - (a.n < b.n) : slice_compare(a, b);
}

static bool list_complete_begins_with(struct slice value, struct slice typed)
{
    if (value.n < typed.n)
        return false;
    for (size_t i = 0; i < typed.n; i++)
        if (list_complete_lower(value.p[i]) != list_complete_lower(typed.p[i]))
            return false;
    return true;
}

static void list_complete_consider(struct completion *c, struct slice value)
{
    if (value.n == 0 || !list_complete_begins_with(value, c->typed))
        return;
    for (size_t i = 0; i < value.n;
         i++) /* a quote or a control character cannot be typed in a query */
        if ((unsigned char)value.p[i] < ' ' || value.p[i] == '"' || value.p[i] == '\\')
            return;
    if (!c->first.n || list_complete_compare(value, c->first) < 0)
        c->first = value;
    if (list_complete_compare(value, c->present) <= 0)
        return;

    size_t at = c->n;

    while (at > 0 && list_complete_compare(value, c->next[at - 1]) < 0)
        at--;
    if (at == NEXT_VALUES || (at > 0 && slice_eq(value, c->next[at - 1])))
        return;
    c->n += c->n < NEXT_VALUES;
    memmove(c->next + at + 1, c->next + at, (c->n - 1 - at) * sizeof *c->next);
    c->next[at] = value;
}

static struct slice last_component(struct slice path)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

    return slash ? (struct slice){ slash + 1, path.n - (size_t)(slash + 1 - path.p) } : path;
}

static struct slice list_complete_value_of(enum term_kind kind, const struct session_entry *e)
{
    if (kind == TERM_SYSTEM)
        return slice_of(e->ref.store->ops->name);
    if (!e->row)
        return (struct slice){ 0 };
    switch (kind) {
    case TERM_BRANCH: return session_row_branch(e->row);
    case TERM_DIR: return last_component(e->row->cwd);
    default: return (struct slice){ 0 };
    }
}

/* A session has several tags. */
static void consider_session(struct completion *c, const struct session_entry *e)
{
    struct slice tags = e->row ? e->row->tag : (struct slice){ 0 }, tag;

    if (c->kind != TERM_TAG)
        list_complete_consider(c, list_complete_value_of(c->kind, e));
    while (c->kind == TERM_TAG && (tag = session_tag_next(&tags)).n > 0)
        list_complete_consider(c, tag);
}

static void list_complete_collect(const struct list *l, struct completion *c)
{
    for (int i = 0; c->kind == TERM_IS && i < IS_COUNT; i++)
        list_complete_consider(c, slice_of(query_is_name((enum is_kind)i)));
    for (uint32_t i = 0; c->kind != TERM_IS && i < l->sessions.n; i++)
        if (session_table_is_listed(&l->sessions, i))
            consider_session(c, &l->sessions.entry[i]);
}

static bool find(const struct list *l, struct completion *c)
{
    struct slice query = line_editor_text(&l->query);

    *c = (struct completion){ 0 };
    if (l->query.cursor != query.n || !query_value_at_end(query, &c->kind, &c->at))
        return false;
    c->present = (struct slice){ query.p + c->at, query.n - c->at };
    if (c->present.n && c->present.p[c->present.n - 1] == '"')
        c->present.n--;
    c->typed = c->present;
    if (l->completed.end == query.n && l->completed.typed <= c->present.n)
        c->typed.n = l->completed.typed;
    list_complete_collect(l, c);
    c->replaces = !c->first.n && l->filter.hits == 0;
    if (c->replaces) {
        c->present.n = c->typed.n = 0;
        list_complete_collect(l, c);
    }
    if (c->n == 0 && c->first.n)
        c->next[c->n++] = c->first;
    return c->n > 0 && !slice_eq(c->next[0], c->present);
}

struct slice list_completion_rest(const struct list *l)
{
    struct completion c;

    if (!find(l, &c) || c.replaces || l->completed.end == l->query.n)
        return (struct slice){ 0 };
    return (struct slice){ c.next[0].p + c.typed.n, c.next[0].n - c.typed.n };
}

bool list_completion_next(const struct list *l, char *out, size_t cap, int w)
{
    enum { GAP = 2 };
    const char *more = l->settings->ascii ? "  ..." : "  …";
    struct completion c;
    size_t used = (size_t)snprintf(out, cap, "Tab: "), i = 0;

    if (!find(l, &c) || (c.n < 2 && !c.replaces) || w < (int)used) {
        out[0] = '\0';
        return false;
    }
    w -= (int)used + frame_width(slice_of(more));
    for (; i < c.n; i++) {
        int gap = i > 0 ? GAP : 0, width = gap + frame_width(c.next[i]);

        if (width > w || used + (size_t)gap + c.next[i].n + strlen(more) >= cap)
            break;
        used += (size_t)snprintf(out + used, cap - used, "%*s%.*s", gap, "", SLICE_ARG(c.next[i]));
        w -= width;
    }
    if (i < c.n || c.n == NEXT_VALUES)
        snprintf(out + used, cap - used, "%s", more);
    return i > 0;
}

const enum action *list_complete_footer(const struct model *m)
{
    static const enum action completing[] = { ACT_RESUME, ACT_VIEW, ACT_SCOPE,   ACT_FORK,
                                              ACT_MENU,   ACT_SORT, ACT_PREVIEW, ACT_NONE };
    struct completion c;

    return keymap_is_text(&m->settings->keys, IN_LIST) && find(m->list, &c) ? completing : NULL;
}

bool list_complete(struct list *l, struct effects *fx)
{
    struct completion c;

    if (!find(l, &c))
        return false;
    const struct slice next = c.next[0];
    bool quoted = memchr(next.p, ' ', next.n) != NULL;
    bool has_quote = l->query.text[c.at - 1] == '"';
    size_t typed = c.typed.n;

    /* the value is borrowed from a row, not from the query */
    l->query.n = l->query.cursor = c.at - has_quote;
    if (quoted)
        line_editor_insert(&l->query, SLICE("\""));
    line_editor_insert(&l->query, next);
    if (quoted)
        line_editor_insert(&l->query, SLICE("\""));
    list_query_changed(l, fx);
    l->completed = (struct list_completion){ .typed = typed, .end = l->query.n };
    return true;
}
