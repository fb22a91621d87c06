#include "tui/commands/session_line.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/clean.h"
#include "tui/text/when.h"

enum {
    AGE_COLUMNS = 8,
    ID_COLUMNS = 8,
    PROJECT_COLUMNS = 14,
    BRANCH_COLUMNS = 16,
    SIZE_COLUMNS = 7,
    GAP = 2,
};

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

void session_line_flags(unsigned flags, char out[SESSION_LINE_FLAGS])
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (flags & words[i].flag)
            n += (size_t)snprintf(out + n, SESSION_LINE_FLAGS - n, "%s%s", n ? ", " : "",
                                  words[i].word);
}

static enum err_code write_blanks(size_t n, struct out *out, struct err *e)
{
    enum err_code rc = ERR_OK;

    while (rc == ERR_OK && n-- > 0)
        rc = out_add(out, SLICE(" "), e);
    return rc;
}

/* How many bytes of the text fit in w columns, whole clusters only. */
static size_t fitting_bytes(struct slice text, size_t w, size_t *used)
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

/* As much of the text as fits; *used: the columns it took. */
static enum err_code cut_text(struct slice text, size_t w, size_t *used, struct out *out,
                              struct err *e)
{
    size_t n = fitting_bytes(text, w, used);

    if (n == text.n)
        return out_text(out, text, e);
    n = fitting_bytes(text, w - 1, used);
    ++*used;
    enum err_code rc = out_text(out, (struct slice){ text.p, n }, e);

    return rc ? rc : out_text(out, SLICE("…"), e);
}

enum err_code session_line_cut(struct slice text, size_t w, struct out *out, struct err *e)
{
    size_t used;

    return cut_text(text, w, &used, out, e);
}

enum err_code session_line_column(struct slice text, size_t w, struct out *out, struct err *e)
{
    size_t used;
    enum err_code rc = cut_text(text, w, &used, out, e);

    return rc ? rc : write_blanks(w - used, out, e);
}

enum err_code session_line_columns_open(const struct sessions *s, const struct out *out,
                                        int64_t now_ms, struct session_line_columns *look,
                                        struct err *e)
{
    struct session_line_columns made = { .now_ms = now_ms,
                                         .id_columns = ID_COLUMNS,
                                         .width = out->columns,
                                         .shows_projects = s->scope.all };
    enum err_code rc = short_ids_of_stores(s->store, s->n, &made.ids, e);

    if (!rc)
        *look = made;
    return rc;
}

/* Only the system before an id widens the column, not what tells one id from another. */
void session_line_columns_fit(struct session_line_columns *look, const struct session_ref *ref)
{
    char text[SHORT_ID];
    struct slice id = short_ids_of(look->ids, ref->store->ops, ref->id, text);
    size_t system = strlen(ref->store->ops->name);

    if (id.n > system && id.p[system] == ':' && memcmp(id.p, ref->store->ops->name, system) == 0 &&
        look->id_columns < system + 1 + ID_COLUMNS)
        look->id_columns = system + 1 + ID_COLUMNS;
}

void session_line_columns_close(struct session_line_columns *look)
{
    short_ids_free(look->ids);
}

enum err_code session_line_id(const struct session_ref *ref,
                              const struct session_line_columns *look, struct out *out,
                              struct err *e)
{
    char text[SHORT_ID];
    struct slice id = short_ids_of(look->ids, ref->store->ops, ref->id, text);
    size_t used;

    fitting_bytes(id, SHORT_ID, &used);
    enum err_code rc = out_text(out, id, e);

    return rc || used >= look->id_columns ? rc : write_blanks(look->id_columns - used, out, e);
}

/* Which columns a line has, and what is left for the title. */
struct layout {
    bool project, branch, size;
    size_t title; /* SIZE_MAX: all of it */
};

static struct layout layout_of(const struct session_line_columns *look, size_t indent)
{
    struct layout l = { look->shows_projects, true, true, SIZE_MAX };
    struct {
        bool *shown;
        size_t columns;
    } optional[] = { { &l.project, PROJECT_COLUMNS + GAP },
                     { &l.branch, BRANCH_COLUMNS + GAP },
                     { &l.size, SIZE_COLUMNS + GAP } };
    size_t used = indent + AGE_COLUMNS + GAP + look->id_columns + GAP;

    if (look->width == 0)
        return l;
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        used += *optional[i].shown ? optional[i].columns : 0;
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        if (*optional[i].shown && used + SESSION_LINE_TITLE_MIN > look->width) {
            *optional[i].shown = false;
            used -= optional[i].columns;
        }
    l.title = look->width > used + 8 ? look->width - used : 8;
    return l;
}

static enum err_code age_column(const struct session_row *row, int64_t now_ms, struct out *out,
                                struct err *e)
{
    char age[WHEN_AGE];

    /* Not the file's time: to touch a file is no activity. */
    when_age(now_ms, row->activity_ms != TIME_NONE ? row->activity_ms : row->modified_ms, age);
    enum err_code rc = out_style(out, OUT_AGE, e);

    if (rc == ERR_OK)
        rc = out_addf(out, e, "%*s", AGE_COLUMNS, age);
    if (rc == ERR_OK)
        rc = out_style(out, OUT_PLAIN, e);
    return rc ? rc : write_blanks(2, out, e);
}

/* One column in a colour of its own, and the gap after it. */
static enum err_code styled_column(struct slice text, size_t w, enum out_style style,
                                   struct out *out, struct err *e)
{
    enum err_code rc = out_style(out, style, e);

    if (rc == ERR_OK)
        rc = session_line_column(text, w, out, e);
    if (rc == ERR_OK)
        rc = out_style(out, OUT_PLAIN, e);
    return rc ? rc : write_blanks(GAP, out, e);
}

static enum err_code size_column(int64_t bytes, struct out *out, struct err *e)
{
    char text[SIZE_TEXT];

    text_size(bytes, text);
    enum err_code rc = out_addf(out, e, "%*s", SIZE_COLUMNS, text);

    return rc ? rc : write_blanks(GAP, out, e);
}

static enum err_code text_columns(const struct session_row *row,
                                  const struct session_line_columns *look, const struct layout *l,
                                  struct out *out, struct err *e)
{
    enum err_code rc = age_column(row, look->now_ms, out, e);

    if (rc == ERR_OK)
        rc = session_line_id(&row->ref, look, out, e);
    if (rc == ERR_OK)
        rc = write_blanks(GAP, out, e);
    if (rc == ERR_OK && l->project)
        rc = session_line_column(text_path_last(row->cwd), PROJECT_COLUMNS, out, e);
    if (rc == ERR_OK && l->project)
        rc = write_blanks(GAP, out, e);
    if (rc == ERR_OK && l->branch)
        rc = styled_column(row->git_branch, BRANCH_COLUMNS, OUT_BRANCH, out, e);
    if (rc == ERR_OK && l->size)
        rc = size_column(row->ref.file.size, out, e);
    return rc;
}

enum err_code session_line_header(const struct session_line_columns *look, size_t indent,
                                  struct out *out, struct err *e)
{
    struct layout l = layout_of(look, indent);
    enum err_code rc = write_blanks(indent, out, e);

    if (rc == ERR_OK)
        rc = out_style(out, OUT_AGE, e);
    if (rc == ERR_OK)
        rc = out_addf(out, e, "%*s  %-*s  ", AGE_COLUMNS, "AGE", (int)look->id_columns, "ID");
    if (rc == ERR_OK && l.project)
        rc = out_addf(out, e, "%-*s  ", PROJECT_COLUMNS, "PROJECT");
    if (rc == ERR_OK && l.branch)
        rc = out_addf(out, e, "%-*s  ", BRANCH_COLUMNS, "BRANCH");
    if (rc == ERR_OK && l.size)
        rc = out_addf(out, e, "%*s  ", SIZE_COLUMNS, "SIZE");
    if (rc == ERR_OK)
        rc = out_add(out, SLICE("TITLE"), e);
    if (rc == ERR_OK)
        rc = out_style(out, OUT_PLAIN, e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}

/* How wide the tag and the flags are behind the title. */
static size_t end_columns(const struct session_row *row)
{
    char flags[SESSION_LINE_FLAGS];
    size_t tag = 0;

    session_line_flags(row->flags, flags);
    if (row->tag.n) {
        fitting_bytes(row->tag, SIZE_MAX / 2, &tag);
        tag += sizeof "  #" - 1;
    }
    return tag + (flags[0] ? sizeof "  ()" - 1 + strlen(flags) : 0);
}

static enum err_code tag_and_flags(const struct session_row *row, struct out *out, struct err *e)
{
    char flags[SESSION_LINE_FLAGS];
    enum err_code rc = ERR_OK;

    session_line_flags(row->flags, flags);
    if (row->tag.n)
        rc = out_style(out, OUT_TAG, e);
    if (rc == ERR_OK && row->tag.n)
        rc = out_add(out, SLICE("  #"), e);
    if (rc == ERR_OK && row->tag.n)
        rc = out_text(out, row->tag, e);
    if (rc == ERR_OK && flags[0])
        rc = out_style(out, OUT_FLAGS, e);
    if (rc == ERR_OK && flags[0])
        rc = out_addf(out, e, "  (%s)", flags);
    return rc || (!row->tag.n && !flags[0]) ? rc : out_style(out, OUT_PLAIN, e);
}

/* The title, cut so that tag and flags fit behind it; where they leave it too little, they go. */
static enum err_code title_and_end(const struct session_row *row, size_t room, struct out *out,
                                   struct err *e)
{
    size_t end = end_columns(row);
    bool has_end = room == SIZE_MAX || end + SESSION_LINE_TITLE_MIN / 2 <= room;
    size_t most = room == SIZE_MAX ? SIZE_MAX / 2 : room - (has_end ? end : 0);
    enum err_code rc = session_line_cut(session_row_title(row), most, out, e);

    return rc || !has_end ? rc : tag_and_flags(row, out, e);
}

enum err_code session_line_write(const struct session_row *row,
                                 const struct session_line_columns *look, size_t indent,
                                 struct out *out, struct err *e)
{
    struct layout l = layout_of(look, indent);
    enum err_code rc = text_columns(row, look, &l, out, e);

    if (rc == ERR_OK)
        rc = title_and_end(row, l.title, out, e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}
