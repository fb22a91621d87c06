#include "tui/commands/line.h"

#include <stdio.h>
#include <string.h>

#include "tui/clean.h"
#include "tui/when.h"

enum { AGE_COLUMNS = 8, BRANCH_COLUMNS = 18 };

static const struct {
    unsigned flag;
    const char *word;
} words[] = {
    { SESSION_LIVE, "running" },
    { SESSION_INTERRUPTED, "interrupted" },
    { SESSION_FORK, "fork" },
    { SESSION_ARCHIVED, "archived" },
    { SESSION_DAMAGED, "damaged" },
    { SESSION_TORN, "torn" },
    { SESSION_CHANGED, "changing now" },
};

void line_flags(unsigned flags, char out[LINE_FLAGS])
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (flags & words[i].flag)
            n += (size_t)snprintf(out + n, LINE_FLAGS - n, "%s%s", n ? ", " : "", words[i].word);
}

static enum err_code blanks(size_t n, struct out *out, struct err *e)
{
    enum err_code rc = ERR_OK;

    while (rc == ERR_OK && n-- > 0)
        rc = out_add(out, SLICE(" "), e);
    return rc;
}

/* How many bytes of the text fit in w columns, whole clusters only. */
static size_t fits(struct slice text, size_t w, size_t *used)
{
    struct clean c;
    struct glyph g;
    size_t at = 0;

    *used = 0;
    clean_begin(&c, text);
    for (;;) {
        size_t cluster = clean_cluster_width(&c);

        at = c.at;
        if (cluster == 0 || *used + cluster > w)
            return cluster == 0 ? text.n : at;
        *used += cluster;
        for (size_t done = 0; done < cluster && clean_next(&c, &g); done += g.width)
            ;
    }
}

enum err_code line_column(struct slice text, size_t w, struct out *out, struct err *e)
{
    size_t used;
    size_t n = fits(text, w, &used);
    bool cut = n < text.n;

    if (cut)
        n = fits(text, w - 1, &used);
    enum err_code rc = out_text(out, (struct slice){ text.p, n }, e);

    if (rc == ERR_OK && cut)
        rc = out_text(out, SLICE("…"), e);
    return rc ? rc : blanks(w - used - cut, out, e);
}

enum err_code line_look_open(const struct sessions *s, int64_t now_ms, struct line_look *out,
                             struct err *e)
{
    struct line_look look = { .now_ms = now_ms };
    enum err_code rc = short_ids_of_stores(s->store, s->n, &look.ids, e);

    if (!rc)
        *out = look;
    return rc;
}

void line_look_fit(struct line_look *look, const struct session_ref *ref)
{
    char text[SHORT_ID];
    size_t columns;

    fits(short_ids_of(look->ids, ref->store->ops, ref->id, text), SHORT_ID, &columns);
    if (columns > look->id_columns)
        look->id_columns = columns;
}

void line_look_close(struct line_look *look)
{
    short_ids_free(look->ids);
}

enum err_code line_id(const struct session_ref *ref, const struct line_look *look, struct out *out,
                      struct err *e)
{
    char text[SHORT_ID];

    return line_column(short_ids_of(look->ids, ref->store->ops, ref->id, text), look->id_columns,
                       out, e);
}

static enum err_code age_column(const struct session_row *row, int64_t now_ms, struct out *out,
                                struct err *e)
{
    char age[WHEN_AGE];

    /* Not the file's time: to touch a file is no activity. */
    when_age(now_ms, row->activity_ms != TIME_NONE ? row->activity_ms : row->modified_ms, age);
    enum err_code rc = out_look(out, OUT_AGE, e);

    if (rc == ERR_OK)
        rc = out_addf(out, e, "%*s", AGE_COLUMNS, age);
    if (rc == ERR_OK)
        rc = out_look(out, OUT_PLAIN, e);
    return rc ? rc : blanks(2, out, e);
}

static enum err_code columns(const struct session_row *row, const struct line_look *look,
                             struct out *out, struct err *e)
{
    enum err_code rc = age_column(row, look->now_ms, out, e);

    if (rc == ERR_OK)
        rc = line_id(&row->ref, look, out, e);
    if (rc == ERR_OK)
        rc = blanks(2, out, e);
    if (rc == ERR_OK)
        rc = out_look(out, OUT_BRANCH, e);
    if (rc == ERR_OK)
        rc = line_column(row->git_branch, BRANCH_COLUMNS, out, e);
    if (rc == ERR_OK)
        rc = out_look(out, OUT_PLAIN, e);
    return rc ? rc : blanks(2, out, e);
}

static enum err_code tag_and_flags(const struct session_row *row, struct out *out, struct err *e)
{
    char flags[LINE_FLAGS];
    enum err_code rc = ERR_OK;

    line_flags(row->flags, flags);
    if (row->tag.n)
        rc = out_look(out, OUT_TAG, e);
    if (rc == ERR_OK && row->tag.n)
        rc = out_add(out, SLICE("  #"), e);
    if (rc == ERR_OK && row->tag.n)
        rc = out_text(out, row->tag, e);
    if (rc == ERR_OK && flags[0])
        rc = out_look(out, OUT_FLAGS, e);
    if (rc == ERR_OK && flags[0])
        rc = out_addf(out, e, "  (%s)", flags);
    return rc || (!row->tag.n && !flags[0]) ? rc : out_look(out, OUT_PLAIN, e);
}

enum err_code line_write(const struct session_row *row, const struct line_look *look,
                         struct out *out, struct err *e)
{
    enum err_code rc = columns(row, look, out, e);

    if (rc == ERR_OK)
        rc = out_text(out, row->summary, e);
    if (rc == ERR_OK)
        rc = tag_and_flags(row, out, e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}
