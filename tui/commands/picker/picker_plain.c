#include "tui/commands/picker/picker_plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/query/listing.h"
#include "tui/commands/picker/picker_choice.h"
#include "tui/commands/session_line.h"
#include "tui/filter/doc.h"
#include "tui/filter/fuzzy.h"
#include "tui/filter/query.h"

enum { SHOWN_MAX = 40, NUMBER_COLUMNS = 5, TYPED_MAX = 1024 };

/* A session that fits the query. */
struct fitting {
    int64_t time_ms; /* of its last activity, as on the screen: touching a file moves nothing */
    const struct session_ref *ref;
};

/* One round: the sessions that fit the query, newest first or as they were asked for. */
struct menu {
    struct out *out;
    const struct process_env *world;
    const struct query *query;
    struct arena arena;
    struct fitting *fits; /* in the arena, as their refs */
    size_t n;
    size_t shown;
    struct session_line_columns look;
};

static enum err_code fits_query(const struct menu *m, const struct session_row *row, bool *fits,
                                struct err *e)
{
    struct arena texts = { 0 };
    size_t room = 0;
    struct doc *doc = doc_new(row, &texts, NULL, &room);

    if (doc)
        *fits = doc_score(doc, m->query, false, DOC_EFFORT_BEST) != FUZZY_NO;
    arena_fini(&texts);
    return doc ? ERR_OK : err_nomem(e);
}

static enum err_code collect_row(const struct session_row *row, void *arg, struct err *e)
{
    struct menu *m = arg;
    bool fits = false;
    enum err_code rc = fits_query(m, row, &fits, e);

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

static enum err_code collect_sessions(struct menu *m, const struct sessions *s, enum sort_kind sort,
                                      struct err *e)
{
    const struct listing_query q = {
        .scope = s->scope,
        .sort = (enum listing_sort)sort,
        .since_ms = TIME_NONE,
        .before_ms = TIME_NONE,
    };
    struct listing *listing = NULL;
    enum err_code rc = listing_open(s->store, s->n, &q, &listing, e);

    if (rc == ERR_OK)
        rc = listing_each(listing, collect_row, m, e);
    listing_close(listing);
    if (rc == ERR_OK && m->n && sort == SORT_RECENT)
        qsort(m->fits, m->n, sizeof *m->fits, by_activity);
    m->shown = m->n < SHOWN_MAX ? m->n : SHOWN_MAX;
    return rc;
}

/* One that went meanwhile keeps its number. */
static enum err_code show_rows(const struct menu *m, const struct sessions *s, struct err *e)
{
    struct session_row *row = session_row_new();
    enum err_code rc = row ? ERR_OK : err_nomem(e);

    if (!rc && m->shown > 0)
        rc = session_line_header(&m->look, NUMBER_COLUMNS, m->out, e);
    for (size_t i = 0; i < m->shown && !rc; i++) {
        const struct session_ref *ref = m->fits[i].ref;

        rc = out_addf(m->out, e, "%*zu. ", NUMBER_COLUMNS - 2, i + 1);
        if (!rc && ref->store->ops->describe(ref->store, &s->scope, ref, row, NULL))
            rc = out_add(m->out, SLICE("(gone)\n"), e);
        else if (!rc)
            rc = session_line_write(row, &m->look, NUMBER_COLUMNS, m->out, e);
    }
    session_row_free(row);
    return rc;
}

static enum err_code show_end(struct menu *m, struct err *e)
{
    enum err_code rc = ERR_OK;

    if (m->n > m->shown)
        rc = out_addf(m->out, e, "and %zu more: type words to filter\n", m->n - m->shown);
    else if (m->n == 0)
        rc = out_addf(m->out, e, "no matches here; --all looks in all projects\n");
    if (rc == ERR_OK)
        rc = out_addf(m->out, e, "number, words to filter, or Enter to quit: ");
    return rc ? rc : out_flush(m->out, e);
}

static enum err_code show_sessions(struct menu *m, const struct sessions *s, enum sort_kind sort,
                                   struct err *e)
{
    enum err_code rc = collect_sessions(m, s, sort, e);

    if (rc == ERR_OK)
        rc = session_line_columns_open(s, m->out, m->world->env.now_ms, &m->look, e);
    for (size_t i = 0; i < m->shown && !rc; i++)
        session_line_columns_fit(&m->look, m->fits[i].ref);
    if (rc == ERR_OK)
        rc = show_rows(m, s, e);
    return rc ? rc : show_end(m, e);
}

/* A line from stdin, byte by byte: what follows it belongs to the program that we become. False at the end. */
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

/* The number typed, from 1; 0: it is none of those shown. */
static size_t parse_choice_number(const char *text, size_t shown)
{
    char *end = NULL;
    unsigned long n = strtoul(text, &end, 10);

    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && n <= shown ? n : 0;
}

static enum err_code choose_session(struct invocation *in, const struct config *config,
                                    const struct sessions *s, const struct session_ref *ref,
                                    struct err *e)
{
    struct session_row *row = session_row_new();
    enum err_code rc =
        row ? ref->store->ops->describe(ref->store, &s->scope, ref, row, e) : err_nomem(e);

    if (rc == ERR_OK)
        rc = picker_choice_run(in, config, row, NULL, e);
    session_row_free(row);
    return rc;
}

/* Shows what fits `typed` and reads the next line into it; *chosen stays NULL as long as it is no number. */
static enum err_code prompt_once(struct menu *m, const struct sessions *s, enum sort_kind sort,
                                 char typed[TYPED_MAX], const struct session_ref **chosen,
                                 struct err *e)
{
    struct query query;

    if (!query_parse(&query, slice_of(typed), m->world->env.now_ms))
        return err_nomem(e);
    m->query = &query;
    enum err_code rc = show_sessions(m, s, sort, e);

    if (rc)
        return rc;
    if (!read_typed_line(typed) || strcmp(typed, "q") == 0)
        return err_set(e, ERR_CANCELLED, "", "nothing was chosen");
    size_t n = parse_choice_number(typed, m->shown);

    *chosen = n ? m->fits[n - 1].ref : NULL;
    return ERR_OK;
}

enum err_code picker_plain_run(struct invocation *in, const struct config *config,
                               struct sessions *s, struct err *e)
{
    char typed[TYPED_MAX] = "";
    const struct session_ref *chosen = NULL;
    struct out menu_out;
    enum err_code rc = ERR_OK;

    if (in->options.query)
        strncat(typed, in->options.query, sizeof typed - 1);
    out_init(&menu_out, in->err_fd);
    while (rc == ERR_OK && !chosen) {
        struct menu m = { .out = &menu_out, .world = in->world };

        rc = prompt_once(&m, s, config->settings.sort, typed, &chosen, e);
        if (rc == ERR_OK && chosen)
            rc = choose_session(in, config, s, chosen, e);
        session_line_columns_close(&m.look);
        arena_fini(&m.arena);
    }
    out_fini(&menu_out);
    return rc;
}
