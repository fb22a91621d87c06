#include "tui/commands/plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/listing.h"
#include "tui/commands/choice.h"
#include "tui/commands/line.h"
#include "tui/conversation.h"
#include "tui/filter/doc.h"
#include "tui/filter/fuzzy.h"
#include "tui/filter/query.h"

enum { SHOWN_MAX = 40, TYPED_MAX = 1024 };

/* One round: the sessions that fit the query, newest first. */
struct menu {
    struct out *out;
    const struct world *world;
    const struct query *query;
    struct ref_list *shown; /* owned; what the numbers stand for */
    size_t fits;
};

static enum err_code no_memory(struct err *e)
{
    return err_set(e, ERR_NOMEM, "", "show the sessions: out of memory");
}

static enum err_code fits_query(const struct menu *m, const struct session_row *row, bool *fits,
                                struct err *e)
{
    struct arena texts = { 0 };
    size_t room = 0;
    struct doc *doc = doc_new(row, &texts, NULL, &room);

    if (doc)
        *fits = doc_score(doc, m->query, false, RIGOUR_BEST) != FUZZY_NO;
    arena_fini(&texts);
    return doc ? ERR_OK : no_memory(e);
}

static enum err_code show_row(const struct session_row *row, void *arg, struct err *e)
{
    struct menu *m = arg;
    bool fits = false;
    enum err_code rc = fits_query(m, row, &fits, e);

    if (rc || !fits || m->fits++ >= SHOWN_MAX)
        return rc;
    if (!ref_list_add(m->shown, &row->ref, 0))
        return no_memory(e);
    rc = out_addf(m->out, e, "%3zu. ", m->shown->n);
    return rc ? rc : line_write(row, m->world->env.now_ms, m->out, e);
}

static enum err_code show_end(struct menu *m, struct err *e)
{
    enum err_code rc = ERR_OK;

    if (m->fits > SHOWN_MAX)
        rc = out_addf(m->out, e, "and %zu more: type words to narrow the list\n",
                      m->fits - SHOWN_MAX);
    else if (m->fits == 0)
        rc = out_addf(m->out, e, "no session fits here; --all looks in every project\n");
    if (rc == ERR_OK)
        rc = out_addf(m->out, e, "number, words to search for, or nothing to leave: ");
    return rc ? rc : out_flush(m->out, e);
}

static enum err_code show(struct menu *m, const struct sessions *s, enum sort_kind sort,
                          struct err *e)
{
    const struct listing_query q = {
        .scope = s->scope,
        .sort = (enum listing_sort)sort,
        .since_ms = TIME_NONE,
        .before_ms = TIME_NONE,
    };
    struct listing *listing = NULL;
    enum err_code rc = m->shown ? ERR_OK : no_memory(e);

    if (rc == ERR_OK)
        rc = listing_open(s->store, s->n, &q, &listing, e);
    if (rc == ERR_OK)
        rc = listing_each(listing, show_row, m, e);
    listing_close(listing);
    return rc ? rc : show_end(m, e);
}

/* A line from stdin, byte by byte: what follows it belongs to the program that we become. False at the end. */
static bool read_line(char out[TYPED_MAX])
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
static size_t number_of(const char *text, size_t shown)
{
    char *end = NULL;
    unsigned long n = strtoul(text, &end, 10);

    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && n <= shown ? n : 0;
}

static enum err_code choose(struct invocation *in, const struct config *config,
                            const struct sessions *s, const struct session_ref *ref, struct err *e)
{
    struct session_row *row = session_row_new();
    enum err_code rc =
        row ? ref->store->ops->describe(ref->store, &s->scope, ref, row, e) : no_memory(e);

    if (rc == ERR_OK)
        rc = choice_carry_out(in, config, row, NULL, e);
    session_row_free(row);
    return rc;
}

/* Shows what fits `typed` and reads the next line into it; *chosen stays NULL as long as it is no number. */
static enum err_code ask(struct menu *m, const struct sessions *s, enum sort_kind sort,
                         char typed[TYPED_MAX], const struct session_ref **chosen, struct err *e)
{
    struct query query;

    if (!query_parse(&query, (struct slice){ typed, strlen(typed) }, m->world->env.now_ms))
        return no_memory(e);
    m->query = &query;
    enum err_code rc = show(m, s, sort, e);

    if (rc)
        return rc;
    if (!read_line(typed) || strcmp(typed, "q") == 0)
        return err_set(e, ERR_CANCELLED, "", "nothing was chosen");
    size_t n = number_of(typed, m->shown->n);

    *chosen = n ? &m->shown->ref[n - 1] : NULL;
    return ERR_OK;
}

enum err_code plain_run(struct invocation *in, const struct config *config, struct sessions *s,
                        struct err *e)
{
    char typed[TYPED_MAX] = "";
    const struct session_ref *chosen = NULL;
    struct out menu_out;
    enum err_code rc = ERR_OK;

    if (in->options.query)
        strncat(typed, in->options.query, sizeof typed - 1);
    out_init(&menu_out, in->err_fd);
    while (rc == ERR_OK && !chosen) {
        struct menu m = { .out = &menu_out, .world = in->world, .shown = ref_list_new() };

        rc = ask(&m, s, config->settings.sort, typed, &chosen, e);
        if (rc == ERR_OK && chosen)
            rc = choose(in, config, s, chosen, e);
        ref_list_free(m.shown);
    }
    out_fini(&menu_out);
    return rc;
}
