#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/maintenance/trash.h"
#include "store/query/listing.h"
#include "store/rewind/plan/by_snapshots.h"
#include "store/rewind/record/records.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"

/* Prints the candidates for completing a word, one per line: the word, a tab, and its description.
 * A line ":files" or ":dirs" leaves the completion to the shell, which knows best how to complete
 * file names. Everything comes from the tables of commands and options. Errors are not reported,
 * because they would appear in the middle of the line that is being typed. */

enum {
    ROWS_MAX = 60,       /* sessions that are offered */
    LOOKED_AT_MAX = 500, /* sessions that are searched for tags and branches */
    WORDS_MAX = 64,      /* different tags or branches */
};

struct completing {
    struct invocation *in; /* with the options on the line before the word */
    const char *word;      /* that is completed; of --sort=re the whole */
    const char *typed;     /* its part after the = */
    const char *session;   /* the first operand; NULL: none yet */
};

/* The text is from disk, so it is cleaned; `about` may be empty. */
static void complete_offer(const struct completing *c, struct slice value, struct slice about)
{
    struct out *o = &c->in->out;

    if (!value.n || !slice_starts(value, c->typed))
        return;
    out_add(o, (struct slice){ c->word, (size_t)(c->typed - c->word) });
    out_text(o, value);
    if (about.n) {
        out_add(o, SLICE("\t"));
        out_text(o, about);
    }
    out_add(o, SLICE("\n"));
}

/* Before anything is typed, those of --help; then all, since a person who types a letter of `unbundle` means it. */
static void offer_commands(const struct completing *c)
{
    for (const struct command *row = commands_table + 1; row->run || row->on_session; row++)
        if (row->summary && (row->audience == FOR_PEOPLE || *c->typed))
            complete_offer(c, slice_of(row->name), slice_of(row->summary));
}

static void offer_options(const struct completing *c, const char *command, option_bits allowed)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        struct option_about about = option_about((enum option_id)i, command);
        char name[64] = "-";

        if (!(allowed >> i & 1))
            continue;
        if (about.name)
            snprintf(name, sizeof name, "--%s", about.name);
        else
            name[1] = about.letter;
        complete_offer(c, slice_of(name), slice_of(about.help));
    }
}

/* ---- what only the stores know ---- */

static void offer_systems(const struct completing *c, bool with_colon)
{
    struct config config;
    char name[80];

    for (size_t i = 0; store_systems[i]; i++) {
        snprintf(name, sizeof name, "%s%s", store_systems[i]->name, with_colon ? ":" : "");
        complete_offer(c, slice_of(name), (struct slice){ 0 });
    }
    if (command_stores(c->in, &config, NULL))
        return;
    for (size_t i = 0; i < config.stores; i++)
        complete_offer(c, slice_of(config.store[i].plugin.name),
                       SLICE("a store of the configuration"));
    config_fini(&config);
}

typedef bool row_fn(const struct completing *c, const struct session_row *row, void *arg);

/* Describes the sessions whose ids begin with the word, newest first, until the function returns
 * false. */
static void each_session(const struct completing *c, struct sessions *s, const char *id, row_fn *fn,
                         void *arg)
{
    const struct listing_query q = {
        .scope = s->scope, .since_ms = TIME_NONE, .before_ms = TIME_NONE, .here = true
    };
    struct session_row *row = session_row_new();
    struct listing *listing = NULL;
    size_t n = 0;
    bool more = row && listing_open(s->store, s->n, &q, &listing, NULL) == ERR_OK;
    const struct session_ref *const *refs = more ? listing_refs(listing, &n) : NULL;

    for (size_t i = 0; more && i < n && i < (id[0] ? n : LOOKED_AT_MAX); i++)
        if (slice_starts(refs[i]->id, id) &&
            refs[i]->store->ops->describe(refs[i]->store, &s->scope, refs[i], row, NULL) ==
                ERR_OK &&
            row->hidden == HIDDEN_NOT)
            more = fn(c, row, arg);
    listing_close(listing);
    session_row_free(row);
}

static bool offer_session(const struct completing *c, const struct session_row *row, void *arg)
{
    size_t *count = arg;

    complete_offer(c, row->ref.id, row->summary);
    return ++*count < ROWS_MAX;
}

/* Before a letter is typed, offers the sessions of this directory, if any; otherwise those of every
 * project. */
static void offer_sessions(const struct completing *c)
{
    const char *colon = strchr(c->typed, ':');
    struct completing part = *c;
    struct sessions s;
    size_t count = 0;

    part.typed = colon ? colon + 1 : c->typed;
    for (bool everywhere = c->typed[0] != '\0'; !count; everywhere = true) {
        if (sessions_open(c->in, everywhere, &s, NULL))
            return;
        each_session(&part, &s, part.typed, offer_session, &count);
        sessions_close(&s);
        if (everywhere)
            break;
    }
    complete_offer(c, SLICE("latest"), SLICE("the newest session"));
}

struct words {
    struct slice (*of)(const struct session_row *row);
    struct arena arena;
    struct slice word[WORDS_MAX];
    size_t n;
};

static struct slice tag_of(const struct session_row *row)
{
    return row->tag;
}

static struct slice branch_of(const struct session_row *row)
{
    return session_row_branch(row);
}

static bool offer_word_once(const struct completing *c, const struct session_row *row, void *arg)
{
    struct words *w = arg;
    struct slice rest = w->of(row);

    while (rest.n && w->n < WORDS_MAX) {
        struct slice word = rest;
        bool is_known = false;

        if (w->of == tag_of)
            word = session_tag_next(&rest);
        else
            rest.n = 0;
        for (size_t i = 0; i < w->n; i++)
            is_known |= slice_eq(w->word[i], word);
        if (is_known || !word.n)
            continue;
        w->word[w->n++] = arena_copy(&w->arena, word);
        complete_offer(c, word, (struct slice){ 0 });
    }
    return w->n < WORDS_MAX && !w->arena.failed;
}

static void offer_words_of_sessions(const struct completing *c,
                                    struct slice (*of)(const struct session_row *row))
{
    struct words w = { .of = of };
    struct sessions s;

    if (sessions_open(c->in, true, &s, NULL))
        return;
    each_session(c, &s, "", offer_word_once, &w);
    sessions_close(&s);
    arena_fini(&w.arena);
}

struct offering_changes {
    const struct completing *c;
    size_t n;
};

static enum err_code offer_change(const struct history_entry *x, void *arg, struct err *e)
{
    struct offering_changes *o = arg;
    char text[300];

    (void)e;
    if (x->undone || o->n == ROWS_MAX)
        return ERR_OK;
    o->n++;
    snprintf(text, sizeof text, "%.120s%s%.120s", x->text, x->title ? ": " : "",
             x->title ? x->title : "");
    complete_offer(o->c, slice_of(x->id), slice_of(text));
    return ERR_OK;
}

/* The points of the session that the line names, newest first, each with the first line of its prompt. */
static void offer_points(const struct completing *c)
{
    enum { PROMPT_SHOWN = 120 };
    struct checkpoint_list list = { 0 };
    struct session_ref ref;
    struct sessions s;

    if (!c->session || sessions_open(c->in, true, &s, NULL))
        return;
    if (sessions_find(&s, c->session, &ref, NULL) == ERR_OK && store_can_rewind(ref.store->ops) &&
        rewind_checkpoints(&ref, &list, NULL) == ERR_OK)
        for (size_t i = list.n, n = 0; i-- > 0 && n < ROWS_MAX;) {
            struct slice prompt = list.checkpoint[i].prompt;
            const char *newline = prompt.n ? memchr(prompt.p, '\n', prompt.n) : NULL;

            if (list.checkpoint[i].why)
                continue;
            if (newline)
                prompt.n = (size_t)(newline - prompt.p);
            prompt.n = prompt.n < PROMPT_SHOWN ? prompt.n : PROMPT_SHOWN;
            complete_offer(c, list.checkpoint[i].id, prompt);
            n++;
        }
    checkpoint_list_fini(&list);
    sessions_close(&s);
}

/* ---- which of them ---- */

/* The help text names the value of an option or operand: "ID", "DIR", "auto|always|never". */
static void offer_value(const struct completing *c, struct slice what)
{
    struct trash_list list;

    while (what.n && what.p[what.n - 1] == '.') /* ID... */
        what.n--;
    if (!what.n)
        return;
    if (islower((unsigned char)what.p[0])) {
        /* Offer the words of "auto|always|never". */
        while (what.n) {
            const char *bar = memchr(what.p, '|', what.n);
            size_t n = bar ? (size_t)(bar - what.p) : what.n;

            complete_offer(c, (struct slice){ what.p, n }, (struct slice){ 0 });
            what.p += bar ? n + 1 : n;
            what.n -= bar ? n + 1 : n;
        }
    } else if (slice_eq(what, SLICE("ID")))
        offer_sessions(c);
    else if (slice_eq(what, SLICE("CHANGE"))) {
        /* The newest come first. */
        struct offering_changes o = { .c = c };

        (void)!history_each(&c->in->world->env, NULL, offer_change, &o, NULL);
    } else if (slice_eq(what, SLICE("TRASHED"))) {
        /* Offer the ids in the trash, each with the title of what was deleted. */
        if (!trash_read(&c->in->world->env, &list, NULL)) {
            for (size_t i = 0; i < list.n && i < ROWS_MAX; i++)
                complete_offer(c, slice_of(list.item[i].trash_id), slice_of(list.item[i].title));
            trash_list_fini(&list);
        }
    } else if (slice_eq(what, SLICE("MSG")))
        offer_points(c);
    else if (slice_eq(what, SLICE("TAG")))
        offer_words_of_sessions(c, tag_of);
    else if (slice_eq(what, SLICE("BRANCH")))
        offer_words_of_sessions(c, branch_of);
    else if (slice_starts(what, "SYSTEM") || slice_eq(what, SLICE("STORE")))
        offer_systems(c, !slice_eq(what, SLICE("SYSTEM")));
    else if (slice_eq(what, SLICE("COMMAND")))
        offer_commands(c);
    else if (slice_eq(what, SLICE("DIR")))
        out_add(&c->in->out, SLICE(":dirs\n"));
    else if (slice_starts(what, "FILE") || slice_starts(what, "PATH"))
        out_add(&c->in->out, SLICE(":files\n"));
}

/* The next word of an operands text, without brackets; false at the end of the text or of the alternative. */
static bool complete_next_token(const char **rest, struct slice *out)
{
    for (;;) {
        const char *p = *rest + strspn(*rest, " []");
        size_t n = strcspn(p, " []");

        *rest = p + n;
        *out = (struct slice){ p, n };
        if (n == 0 || slice_eq(*out, SLICE("|")))
            return false;
        if (p[0] != '-')
            return true;
    }
}

/* The words of the line before the one that is completed. */
struct line {
    const struct command *command; /* NULL: none yet */
    enum option_id open;           /* its value is the word; OPTION_COUNT: none */
    const char *first;             /* operand */
    size_t operands;
    bool ended; /* by -- */
};

static void offer_for(struct completing *c, const struct line *l)
{
    const struct command *command = l->command ? l->command : commands_table;
    option_bits own = command->options;
    enum option_id of_word = l->ended ? OPTION_COUNT : option_of_word(c->word);
    bool takes =
        of_word != OPTION_COUNT && option_about(of_word, NULL).value != OPTION_WITHOUT_VALUE;

    c->session = l->first;
    if (l->open != OPTION_COUNT) {
        const char *arg = option_about(l->open, command->name).arg;

        offer_value(c, slice_of(l->open == OPTION_SYSTEM ? "SYSTEM" : arg));
    } else if (takes && c->word[1] == '-' && strchr(c->word, '=')) {
        c->typed = strchr(c->word, '=') + 1;
        offer_value(c,
                    slice_of(of_word == OPTION_SYSTEM ? "SYSTEM"
                                                      : option_about(of_word, command->name).arg));
    } else if (c->word[0] == '-' && !l->ended) {
        offer_options(c, command->name, own);
        offer_options(c, command->name, OPTION_GLOBALS & ~own);
    } else if (l->command) {
        /* Operand number `at` of "list | restore [--join] ID | empty", after the operand
         * `first`. */
        const char *rest = l->command->operands;

        while (*rest) {
            struct slice token = { 0 }, last = { 0 };
            bool fits = true, more = true;
            size_t i = 0;

            for (; i <= l->operands && (more = complete_next_token(&rest, &token)); i++) {
                last = token;
                fits &= i > 0 || l->operands == 0 || !islower((unsigned char)token.p[0]) ||
                        slice_eq(token, slice_of(l->first));
            }
            bool repeats = last.n > 3 && memcmp(last.p + last.n - 3, "...", 3) == 0;

            if (fits && (i > l->operands || repeats))
                offer_value(c, last);
            while (more && complete_next_token(&rest, &token))
                ;
        }
    } else if (!l->ended && l->operands == 0) {
        offer_commands(c);
    }
}

/* reprise complete -- WORD...: the last one is completed. */
enum err_code complete_run(struct invocation *in, struct err *e)
{
    int n = in->argc > 0 ? in->argc - 1 : 0, first;
    struct completing c = { .in = in, .word = in->argc ? in->argv[n] : "" };
    struct line line = { .open = OPTION_COUNT };
    struct process_env world = *in->world;
    struct arena arena = { 0 };
    char dir[PATH_MAX];
    char **argv = arena_zalloc(&arena, ((size_t)n + 2) * sizeof *argv);

    NEED(argv);
    for (int i = 0; i < n; i++) {
        argv[i + 1] = in->argv[i];

        /* The words before it decide which kind of word it is. */
        enum option_id which = line.ended ? OPTION_COUNT : option_of_word(in->argv[i]);

        if (line.open != OPTION_COUNT) {
            line.open = OPTION_COUNT;
        } else if (which != OPTION_COUNT) {
            bool whole = in->argv[i][1] == '-' ? !strchr(in->argv[i], '=') : in->argv[i][2] == '\0';

            if (whole && option_about(which, NULL).value != OPTION_WITHOUT_VALUE)
                line.open = which;
        } else if (strcmp(in->argv[i], "--") == 0) {
            line.ended = true;
        } else if (!line.command && !line.ended && command_named(in->argv[i])) {
            line.command = command_named(in->argv[i]);
        } else if (in->argv[i][0] != '-' && line.operands++ == 0) {
            line.first = in->argv[i];
        }
    }
    argv[0] = in->argv[n];
    c.typed = c.word;
    in->err_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    /* The options that are already on the line select the stores and the project; reading stops at
     * a mistake. */
    int argc = n + 1 - (line.open != OPTION_COUNT);

    option_bits all = 0;

    for (int i = 0; i < OPTION_COUNT; i++)
        all |= (option_bits)1 << i;
    if (!options_read(argc, argv, all, false, &in->options, &first, NULL)) {
        if (in->options.directory && chdir(in->options.directory) == 0 && getcwd(dir, PATH_MAX))
            world.env.cwd = dir;
        in->world = &world;
    }

    in->out.wants_json = false;
    offer_for(&c, &line);
    if (in->err_fd >= 0)
        close(in->err_fd);
    in->err_fd = STDERR_FILENO;
    arena_fini(&arena);
    return ERR_OK;
}
