#include <stdio.h>
#include <string.h>

#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"

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
    { SESSION_WAITS, "waits for you" },
    { SESSION_SHELL, "a command runs" },
    { SESSION_INTERRUPTED, "interrupted" },
    { SESSION_FORK, "fork" },
    { SESSION_KEPT, "kept" },
    { SESSION_ARCHIVED, "archived" },
    { SESSION_DAMAGED, "damaged" },
    { SESSION_PARTIAL, "partial" },
    { SESSION_TORN, "torn" },
    { SESSION_CHANGED, "changing now" },
};

void session_line_flags(const struct session_row *row, char out[SESSION_LINE_FLAGS])
{
    const unsigned flags = row->flags;
    size_t n = (size_t)snprintf(out, SESSION_LINE_FLAGS, "%s", session_kind_name(row->kind));

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (flags & words[i].flag)
            n += (size_t)snprintf(out + n, SESSION_LINE_FLAGS - n, "%s%s", n ? ", " : "",
                                  words[i].word);
}

static void write_blanks(size_t n, struct out *o)
{
    static const char blanks[] = "                ";
    const size_t most = sizeof blanks - 1;

    for (; n > most; n -= most)
        out_add(o, (struct slice){ blanks, most });
    out_add(o, (struct slice){ blanks, n });
}

/* The number of bytes that fit in w columns, whole clusters only; *used: the columns they take. */
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

/* Writes as much of the text as fits and returns the columns that it took. */
static size_t write_cut(struct slice text, size_t w, struct out *o)
{
    size_t used, n = fitting_bytes(text, w, &used);

    if (n == text.n) {
        out_text(o, text);
        return used;
    }
    n = fitting_bytes(text, w - 1, &used);
    out_text(o, (struct slice){ text.p, n });
    out_text(o, SLICE("…"));
    return used + 1;
}

void session_line_cut(struct slice text, size_t w, struct out *o)
{
    write_cut(text, w, o);
}

void session_line_column(struct slice text, size_t w, struct out *o)
{
    write_blanks(w - write_cut(text, w, o), o);
}

enum err_code session_line_columns_open(const struct sessions *s, const struct listing *all,
                                        const struct out *o, int64_t now_ms,
                                        struct session_line_columns *look, struct err *e)
{
    struct session_line_columns made = { .now_ms = now_ms,
                                         .id_columns = ID_COLUMNS,
                                         .width = o->columns,
                                         .shows_projects = s->scope.all };
    enum err_code rc;

    if (all && s->scope.all) {
        size_t n;
        const struct session_ref *const *refs = listing_refs(all, &n);

        rc = short_ids_of_refs(refs, n, &made.ids, e);
    } else {
        rc = short_ids_of_stores(s->store, s->n, &made.ids, e);
    }
    if (!rc)
        *look = made;
    return rc;
}

/* The column is as wide as the widest id, but takes no more than a third of the terminal: of near twins, which differ at
 * the end of their long ids, only the lines themselves are then wider. */
void session_line_columns_fit(struct session_line_columns *look, const struct session_ref *ref)
{
    char text[SHORT_ID];
    struct slice id = short_ids_of(look->ids, ref->store->ops, ref->id, text);
    const char *agent = ref->store->ops->name;
    size_t system = strlen(agent), columns;

    if (look->agent && (look->agent_columns || strcmp(look->agent, agent) != 0)) {
        size_t first = strlen(look->agent), widest = system > first ? system : first;

        look->agent_columns = widest > look->agent_columns ? widest : look->agent_columns;
    }
    look->agent = agent;
    fitting_bytes(id, SHORT_ID, &columns);
    if (look->width && columns > look->width / 3)
        return;
    look->id_columns = columns > look->id_columns ? columns : look->id_columns;
}

void session_line_columns_close(struct session_line_columns *look)
{
    short_ids_free(look->ids);
}

size_t session_line_id_columns(const struct session_ref *ref,
                               const struct session_line_columns *look)
{
    char text[SHORT_ID];
    size_t used;

    fitting_bytes(short_ids_of(look->ids, ref->store->ops, ref->id, text), SHORT_ID, &used);
    return used > look->id_columns ? used : look->id_columns;
}

void session_line_id(const struct session_ref *ref, const struct session_line_columns *look,
                     struct out *o)
{
    char text[SHORT_ID];
    struct slice id = short_ids_of(look->ids, ref->store->ops, ref->id, text);
    size_t used;

    fitting_bytes(id, SHORT_ID, &used);
    out_text(o, id);
    if (used < look->id_columns)
        write_blanks(look->id_columns - used, o);
}

/* The columns of a line, and the remaining width for the title. */
struct layout {
    bool age, agent, project, branch, size;
    size_t title; /* SIZE_MAX: all of it */
};

static struct layout layout_of(const struct session_line_columns *look, size_t id_columns,
                               size_t indent)
{
    struct layout l = { true, look->agent_columns > 0, look->shows_projects, true, true, SIZE_MAX };
    struct {
        bool *shown;
        size_t columns;
    } optional[] = { { &l.branch, BRANCH_COLUMNS + GAP },
                     { &l.size, SIZE_COLUMNS + GAP },
                     { &l.agent, look->agent_columns + GAP },
                     { &l.project, PROJECT_COLUMNS + GAP },
                     { &l.age, AGE_COLUMNS + GAP } };
    const size_t droppable = look->without_ids ? 5 : 4;
    size_t used = indent + (look->without_ids ? 0 : id_columns + GAP);

    if (look->width == 0)
        return l;
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        used += *optional[i].shown ? optional[i].columns : 0;
    for (size_t i = 0; i < droppable; i++)
        if (*optional[i].shown && used + SESSION_LINE_TITLE_MIN > look->width) {
            *optional[i].shown = false;
            used -= optional[i].columns;
        }
    l.title = look->width > used + 8 ? look->width - used : 8;
    return l;
}

/* A column with a separate style, and the gap after it. */
static void styled_column(struct slice text, size_t w, enum out_style style, struct out *o)
{
    out_style(o, style);
    session_line_column(text, w, o);
    out_style(o, OUT_PLAIN);
    write_blanks(GAP, o);
}

void session_line_header(const struct session_line_columns *look, size_t indent, struct out *o)
{
    struct layout l = layout_of(look, look->id_columns, indent);

    write_blanks(indent, o);
    out_style(o, OUT_AGE);
    if (l.age)
        out_addf(o, "%*s  ", AGE_COLUMNS, "AGE");
    if (!look->without_ids)
        out_addf(o, "%-*s  ", (int)look->id_columns, "ID");
    if (l.agent)
        out_addf(o, "%-*s  ", (int)look->agent_columns, "AGENT");
    if (l.project)
        out_addf(o, "%-*s  ", PROJECT_COLUMNS, "PROJECT");
    if (l.branch)
        out_addf(o, "%-*s  ", BRANCH_COLUMNS, "BRANCH");
    if (l.size)
        out_addf(o, "%*s  ", SIZE_COLUMNS, "SIZE");
    out_addf(o, "TITLE");
    out_style(o, OUT_PLAIN);
    out_addf(o, "\n");
}

#define ALSO "  also in "

/* The width of the tag and the flags after the title. */
static size_t end_columns(const struct session_row *row)
{
    char flags[SESSION_LINE_FLAGS];
    size_t tag = 0;

    session_line_flags(row, flags);
    if (row->tag.n) {
        fitting_bytes(row->tag, SIZE_MAX / 2, &tag);
        tag += sizeof "  #" - 1;
    }
    if (row->ref.also)
        tag += sizeof ALSO - 1 + strlen(row->ref.also->ops->name);
    return tag + (flags[0] ? sizeof "  ()" - 1 + strlen(flags) : 0);
}

static void tag_and_flags(const struct session_row *row, struct out *o)
{
    char flags[SESSION_LINE_FLAGS];

    session_line_flags(row, flags);
    if (row->tag.n) {
        out_style(o, OUT_TAG);
        out_addf(o, "  #");
        out_text(o, row->tag);
    }
    if (flags[0]) {
        out_style(o, OUT_FLAGS);
        out_addf(o, "  (%s)", flags);
    }
    if (row->ref.also) {
        out_style(o, OUT_FLAGS);
        out_addf(o, ALSO "%s", row->ref.also->ops->name);
    }
    if (row->tag.n || flags[0] || row->ref.also)
        out_style(o, OUT_PLAIN);
}

void session_line_write(const struct session_row *row, const struct session_line_columns *look,
                        size_t indent, struct out *o)
{
    struct layout l = layout_of(look, session_line_id_columns(&row->ref, look), indent);
    char size[HUMAN_SIZE], age[HUMAN_AGE];

    if (l.age) {
        int64_t now_ms = look->now_ms;

        /* The file's time is not used, because touching the file is not activity. */
        human_age(now_ms, row->activity_ms != TIME_NONE ? row->activity_ms : row->modified_ms, age);
        out_style(o, OUT_AGE);
        out_addf(o, "%*s", AGE_COLUMNS, age);
        out_style(o, OUT_PLAIN);
        write_blanks(GAP, o);
    }
    if (!look->without_ids) {
        session_line_id(&row->ref, look, o);
        write_blanks(GAP, o);
    }
    if (l.agent)
        styled_column(slice_of(row->ref.store->ops->name), look->agent_columns, OUT_AGE, o);
    if (l.project) {
        session_line_column(text_path_last(row->cwd), PROJECT_COLUMNS, o);
        write_blanks(GAP, o);
    }
    if (l.branch)
        styled_column(session_row_branch(row), BRANCH_COLUMNS, OUT_BRANCH, o);
    if (l.size) {
        if (store_has_size(&row->ref))
            human_size(row->ref.file.size, size);
        else
            snprintf(size, sizeof size, "-");
        out_addf(o, "%*s%*s", SIZE_COLUMNS, size, GAP, "");
    }

    /* The title, cut so that tag and flags fit after it; they are left out if the title would
     * become too short. */
    size_t end = end_columns(row);
    bool has_end = l.title == SIZE_MAX || end + SESSION_LINE_TITLE_MIN / 2 <= l.title;
    size_t most = l.title == SIZE_MAX ? SIZE_MAX / 2 : l.title - (has_end ? end : 0);

    session_line_cut(session_row_title(row), most, o);
    if (has_end)
        tag_and_flags(row, o);

    out_addf(o, "\n");
}
