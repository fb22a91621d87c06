#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/api/store.h"
#include "store/query/listing.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/filter/filter.h"
#include "tui/filter/fuzzy.h"
#include "tui/filter/query.h"

enum { SHOWN_MAX = 40, NUMBER_COLUMNS = 5, TYPED_MAX = 1024 };

/* ---- without a screen ---- */

/* A session that fits the query. */
struct fitting {
    int64_t time_ms; /* the time of its last activity, as on the screen; not the time of the file */
    const struct session_ref *ref;
};

/* One round: the sessions that match the query, newest first or in the order of --sort. */
struct menu {
    struct out *out;
    const struct process_env *world;
    const struct query *query;
    struct arena arena;
    struct fitting *fits; /* in the arena, like their refs */
    size_t n;
    size_t shown, most;
    struct session_line_columns look;
};

static enum err_code collect_row(const struct session_row *row, void *arg, struct err *e)
{
    struct menu *m = arg;
    bool fits = false;

    /* The query has to be in one of its texts. */
    struct arena texts = { 0 };
    size_t room = 0;
    struct doc *doc = doc_new(row, &texts, NULL, &room);

    if (doc)
        fits = doc_score(doc, m->query, false, DOC_EFFORT_BEST) != FUZZY_NO_MATCH;
    arena_fini(&texts);

    enum err_code rc = doc ? ERR_OK : err_nomem(e);

    if (rc || !fits)
        return rc;
    struct fitting *more = arena_grow(&m->arena, m->fits, m->n, sizeof *more);
    struct session_ref *ref = more ? arena_alloc(&m->arena, sizeof *ref) : NULL;

    if (!ref || !session_ref_copy(&m->arena, &row->ref, ref))
        return err_nomem(e);
    m->fits = more;
    m->fits[m->n++] = (struct fitting){
        .time_ms = row->activity_ms != TIME_NONE ? row->activity_ms : row->modified_ms,
        .ref = ref,
    };
    return ERR_OK;
}

static int by_activity(const void *x, const void *y)
{
    const struct fitting *a = x, *b = y;
    const struct slice p = a->ref->id, q = b->ref->id;
    const int longer = (p.n > q.n) - (p.n < q.n), d = memcmp(p.p, q.p, p.n < q.n ? p.n : q.n);

    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? 1 : -1;
    return d ? -d : -longer;
}

/* A session that has vanished keeps its number. */
static enum err_code show_rows(const struct menu *m, const struct sessions *s, struct err *e)
{
    struct session_row *row = session_row_new();

    NEED(row);
    if (m->shown > 0)
        session_line_header(&m->look, NUMBER_COLUMNS, m->out);
    for (size_t i = 0; i < m->shown; i++) {
        const struct session_ref *ref = m->fits[i].ref;

        out_addf(m->out, "%*zu. ", NUMBER_COLUMNS - 2, i + 1);
        if (ref->store->ops->describe(ref->store, &s->scope, ref, row, NULL))
            out_addf(m->out, "(gone)\n");
        else
            session_line_write(row, &m->look, NUMBER_COLUMNS, m->out);
    }
    session_row_free(row);
    return ERR_OK;
}

static enum err_code show_sessions(struct menu *m, const struct sessions *s, enum sort_kind sort,
                                   struct err *e)
{
    /* Collect the sessions that fit, and sort them. */
    const struct listing_query q = {
        .scope = s->scope,
        .sort = (enum listing_sort)sort,
        .since_ms = TIME_NONE,
        .before_ms = TIME_NONE,
    };
    struct listing *listing = NULL;
    enum err_code rc = listing_open(s->store, s->n, &q, &listing, e);

    if (!rc)
        rc = listing_each(listing, collect_row, m, e);
    listing_close(listing);
    if (!rc && m->n && sort == SORT_RECENT)
        qsort(m->fits, m->n, sizeof *m->fits, by_activity);
    m->shown = m->n < m->most ? m->n : m->most;

    if (!rc)
        rc = session_line_columns_open(s, NULL, m->out, m->world->env.now_ms, &m->look, e);
    for (size_t i = 0; i < m->shown && !rc; i++)
        session_line_columns_fit(&m->look, m->fits[i].ref);
    m->look.without_ids = true;
    if (!rc)
        rc = show_rows(m, s, e);

    if (rc)
        return rc;
    /* The line fits a braille display of 40 cells. */
    if (m->query->problem[0])
        out_addf(m->out, "%s\n", m->query->problem);
    if (m->query->content)
        out_addf(m->out, "// is for the screen; reprise search WORDS searches the text\n");
    if (m->n > m->shown)
        out_addf(m->out, "and %zu more: type words to filter\n", m->n - m->shown);
    else if (m->n == 0)
        out_addf(m->out, "no matches here; try --all\n");
    out_addf(m->out, "number, words, or Enter to quit: ");
    return out_flush(m->out, e);
}

/* Reads a line from stdin byte by byte, because what follows it is for the program that replaces
 * us. Returns false at the end. */
static bool read_typed_line(char out[TYPED_MAX])
{
    size_t n = 0;
    char c;

    for (;;) {
        ssize_t got = read(STDIN_FILENO, &c, 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || c == '\n')
            break;
        if (n + 1 < TYPED_MAX)
            out[n++] = c;
    }
    out[n] = '\0';
    return n > 0;
}

/* Shows the sessions that match `typed` and reads the next line into it; *chosen stays NULL until
 * the line is a number. */
static enum err_code prompt_once(struct menu *m, const struct sessions *s, enum sort_kind sort,
                                 char typed[TYPED_MAX], const struct session_ref **chosen,
                                 struct err *e)
{
    struct query query;

    if (!query_parse(&query, slice_of(typed), m->world->env.now_ms))
        return err_nomem(e);
    m->query = &query;
    enum err_code rc = show_sessions(m, s, sort, e);

    query_fini(&query);
    if (rc)
        return rc;
    if (!read_typed_line(typed) || strcmp(typed, "q") == 0)
        return err_set(e, ERR_CANCELLED, "", "nothing was chosen");

    /* A number that is not one of those shown is a new filter. */
    char *end = NULL;
    unsigned long n = strtoul(typed, &end, 10);
    bool is_shown = typed[0] >= '0' && typed[0] <= '9' && *end == '\0' && n > 0 && n <= m->shown;

    *chosen = is_shown ? m->fits[n - 1].ref : NULL;
    return ERR_OK;
}

enum err_code plain_menu_choose(const struct invocation *in, const struct sessions *s,
                                enum sort_kind sort, struct arena *a, struct session_ref *out,
                                struct err *e)
{
    char typed[TYPED_MAX] = "";
    const struct session_ref *chosen = NULL;
    struct out menu_out;
    size_t rows;
    enum err_code rc = ERR_OK;

    if (in->options.query)
        strncat(typed, in->options.query, sizeof typed - 1);
    out_init(&menu_out, in->err_fd);
    menu_out.columns = command_terminal_size(in->err_fd, &rows);

    /* The sessions have to fit above the question, with the headings and the line with the number of further ones: lines
     * that have scrolled away cannot be read again on a braille display. */
    const size_t others = 3, least = 5;
    const size_t most = rows == 0 || rows > SHOWN_MAX + others ? SHOWN_MAX
                        : rows > others + least                ? rows - others
                                                               : least;

    while (!rc && !chosen) {
        struct menu m = { .out = &menu_out, .world = in->world, .most = most };

        rc = prompt_once(&m, s, sort, typed, &chosen, e);
        if (!rc && chosen && !session_ref_copy(a, chosen, out))
            rc = err_nomem(e);
        session_line_columns_close(&m.look);
        arena_fini(&m.arena);
    }
    out_fini(&menu_out);
    return rc;
}
