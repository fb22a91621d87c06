#include "tui/commands/session.h"

#include <stdio.h>
#include <string.h>

#include "store/api/host.h"
#include "store/api/plugin.h"
#include "store/query/resolve.h"
#include "tui/commands/out.h"
#include "tui/text/clean.h"
#include "tui/text/when.h"

/* Makes "~/x" and "x" absolute: the shell does not expand ~ after a colon. */
static const char *absolute(const struct store_env *env, const char *path, struct arena *a)
{
    if (path[0] == '/')
        return path;
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0') && env->home)
        return arena_format(a, "%s%s", env->home, path + 1);
    return arena_format(a, "%s/%s", env->cwd, path);
}

static enum err_code note_looked_in(struct sessions *s, const char *system, const char *path,
                                    struct err *e)
{
    if (s->looked_in_count == OPTION_STORES_MAX)
        return ERR_OK;
    const char *line = arena_format(&s->arena, "%s  %s", system, path);

    if (!line)
        return err_nomem(e);
    s->looked_in[s->looked_in_count++] = line;
    return ERR_OK;
}

static bool is_wanted_system(const struct invocation *in, const char *name)
{
    return !in->options.system || strcmp(in->options.system, name) == 0;
}

/* Parses "SYSTEM:PATH" or "SYSTEM"; *path is NULL for the default place of the system. */
static enum err_code read_name(const struct invocation *in, const char *named, struct sessions *s,
                               const struct store_ops **ops, const char **path, struct err *e)
{
    size_t word = strcspn(named, ":");

    *ops = store_system((struct slice){ named, word });
    *path = NULL;
    if (word == 0 || strcmp(named + word, ":") == 0)
        return err_set(e, ERR_USAGE, named, "open store: needs SYSTEM:PATH");
    if (!*ops)
        return err_set(e, ERR_USAGE, named, "open store: no such system");
    if (!named[word])
        return ERR_OK;
    *path = absolute(&in->world->env, named + word + 1, &s->arena);
    return *path ? ERR_OK : err_nomem(e);
}

/* ---- stores of plug-ins ---- */

/* The store that "NAME", "NAME:" or a URL names. Returns false if no plug-in keeps it. */
static bool find_plugin(const struct config *config, const char *named, struct sessions *s,
                        struct plugin_config *out)
{
    size_t word = strcspn(named, ":");
    const struct plugin_config *found = named[word] == '\0' || named[word + 1] == '\0'
                                            ? config_store(config, (struct slice){ named, word })
                                            : NULL;

    if (found)
        *out = *found;
    return found || plugin_config_of_url(named, &s->arena, out);
}

static enum err_code open_plugin(const struct invocation *in, const struct plugin_config *plugin,
                                 bool connect, struct sessions *s, struct err *e)
{
    if (!is_wanted_system(in, plugin->name))
        return ERR_OK;
    enum err_code rc = plugin_store_open(&in->world->env, plugin, connect, &s->store[s->n], e);

    s->n += rc == ERR_OK;
    return rc ? rc : note_looked_in(s, plugin->name, plugin->path ? plugin->path : "", e);
}

/* The stores of the configuration: what cannot be loaded is a warning, and the rest goes on. */
static enum err_code open_configured(const struct invocation *in, const struct config *config,
                                     struct sessions *s, struct err *e)
{
    for (size_t i = 0; i < config->stores && s->n < OPTION_STORES_MAX; i++) {
        struct err problem = { 0 };
        enum err_code rc = open_plugin(in, &config->store[i], false, s, &problem);

        if (rc == ERR_NOMEM)
            return err_nomem(e);
        if (rc)
            out_report(in->err_fd, &problem);
    }
    return ERR_OK;
}

static enum err_code open_named(const struct invocation *in, const struct config *config,
                                const char *named, struct sessions *s, struct err *e)
{
    const struct store_ops *ops;
    const char *path;
    struct plugin_config plugin;

    if (find_plugin(config, named, s, &plugin))
        return open_plugin(in, &plugin, in->options.stores == 1, s, e);
    enum err_code rc = read_name(in, named, s, &ops, &path, e);

    if (!rc && !path)
        rc = err_set(e, ERR_USAGE, named, "open store: needs SYSTEM:PATH");
    if (rc || !is_wanted_system(in, ops->name))
        return rc;
    rc = ops->open(&in->world->env, path, &s->store[s->n], e);
    s->n += rc == ERR_OK;
    return rc ? rc : note_looked_in(s, ops->name, path, e);
}

/* Opens the default store of a system. It need not exist; if it cannot be read, that is a warning. */
static enum err_code open_default(const struct invocation *in, const struct store_ops *ops,
                                  struct sessions *s, struct err *e)
{
    struct err problem = { 0 };

    if (!is_wanted_system(in, ops->name))
        return ERR_OK;
    enum err_code rc = ops->open(&in->world->env, NULL, &s->store[s->n], &problem);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc == ERR_OK)
        return note_looked_in(s, ops->name, s->store[s->n++]->path, e);
    if (rc != ERR_NOT_FOUND)
        out_report(in->err_fd, &problem);
    return note_looked_in(s, ops->name, problem.path, e);
}

/* Opens a store that was named. If several were named, a failure is a warning. */
static enum err_code open_wanted(const struct invocation *in, const struct config *config,
                                 const char *named, struct sessions *s, struct err *e)
{
    struct err problem = { 0 };
    enum err_code rc = open_named(in, config, named, s, &problem);

    if (rc && rc != ERR_USAGE && rc != ERR_NOMEM && in->options.stores > 1) {
        out_report(in->err_fd, &problem);
        return note_looked_in(s, "", named, e);
    }
    if (rc && e)
        *e = problem;
    return rc;
}

static enum err_code open_all(const struct invocation *in, const struct config *config,
                              struct sessions *s, struct err *e)
{
    const char *system = in->options.system;
    enum err_code rc = ERR_OK;

    if (system && !store_system(option_text(system)) && !config_store(config, option_text(system)))
        return err_set(e, ERR_USAGE, system, "no such system");
    for (size_t i = 0; rc == ERR_OK && i < in->options.stores; i++)
        rc = open_wanted(in, config, in->options.store[i], s, e);
    if (!rc && in->options.stores > 1 && s->n == 0 && !system)
        rc = err_set(e, ERR_NOT_FOUND, in->options.store[0],
                     "open stores: none of these stores can be read");
    if (in->options.stores)
        return rc;
    for (size_t i = 0; rc == ERR_OK && store_systems[i]; i++)
        rc = open_default(in, store_systems[i], s, e);
    return rc || in->demo ? rc : open_configured(in, config, s, e);
}

static enum err_code open_stores(const struct invocation *in, struct sessions *s, struct err *e)
{
    struct config config;
    enum err_code rc = command_stores(in, &config, e);

    if (rc)
        return rc;
    rc = open_all(in, &config, s, e);
    config_fini(&config);
    return rc;
}

static enum err_code choose_scope(const struct invocation *in, bool everywhere, struct sessions *s,
                                  struct err *e)
{
    const struct options *o = &in->options;
    const char *dir = o->project ? o->project : in->world->env.cwd;
    bool worktrees = !option_given(o, OPTION_NO_WORKTREES);
    enum err_code rc = ERR_OK;

    if (!o->project && (everywhere || option_given(o, OPTION_ALL)))
        s->scope.all = true;
    else
        rc = session_scope_of(dir, worktrees, &s->arena, &s->scope, e);
    s->scope.leave_worktrees = !worktrees;
    s->scope.leave_programmatic = option_given(o, OPTION_NO_PROGRAMMATIC);
    return rc;
}

enum err_code sessions_open(struct invocation *in, bool everywhere, struct sessions *out,
                            struct err *e)
{
    *out = (struct sessions){ 0 };
    enum err_code rc = choose_scope(in, everywhere, out, e);

    if (rc == ERR_OK)
        rc = open_stores(in, out, e);
    if (rc)
        sessions_close(out);
    return rc;
}

enum err_code sessions_make(struct invocation *in, const char *named, struct sessions *out,
                            struct err *e)
{
    const struct store_env *env = &in->world->env;
    const struct store_ops *ops;
    const char *path;

    *out = (struct sessions){ 0 };
    enum err_code rc = read_name(in, named, out, &ops, &path, e);

    if (!rc && ops->make)
        rc = host_make(ops, env, path, e);
    if (!rc)
        rc = ops->open(env, path, &out->store[0], e);
    if (!rc)
        out->n = 1;
    else
        sessions_close(out);
    return rc;
}

void sessions_close(struct sessions *s)
{
    for (size_t i = 0; i < s->n; i++)
        store_close(s->store[i]);
    idset_fini(&s->named);
    arena_fini(&s->arena);
    *s = (struct sessions){ 0 };
}

enum err_code sessions_find(struct sessions *s, const char *id, struct session_ref *ref,
                            struct err *e)
{
    return resolve_session(s->store, s->n, &s->scope, option_text(id), &s->arena, ref, e);
}

enum err_code sessions_find_all(struct sessions *s, char *const *ids, size_t n,
                                struct session_ref **ref, struct err *e)
{
    struct slice *text = arena_alloc(&s->arena, (n + 1) * sizeof *text);
    struct session_ref *found = arena_zalloc(&s->arena, (n + 1) * sizeof *found);

    if (!text || !found)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        text[i] = option_text(ids[i]);
    enum err_code rc = resolve_sessions(s->store, s->n, &s->scope, text, n, &s->arena, found, e);

    for (size_t i = 0; i < n && !rc; i++)
        if (!found[i].store)
            rc = sessions_find(s, ids[i], &found[i], e);
    if (!rc)
        *ref = found;
    return rc;
}

enum err_code sessions_is_first(struct sessions *s, const struct session_ref *ref, bool *once,
                                struct err *e)
{
    size_t before = s->named.n;
    struct id128 name = id128_of(ref->id);
    uint32_t number;

    name.hi ^= ref->file.ino; /* copies in different folders have the same id */
    if (idset_add(&s->named, name, &number))
        return err_nomem(e);
    *once = s->named.n > before;
    return ERR_OK;
}

enum err_code sessions_of_operand(struct invocation *in, struct sessions *out,
                                  struct session_ref *ref, struct err *e)
{
    enum err_code rc = sessions_open(in, true, out, e);

    if (rc)
        return rc;
    rc = sessions_find(out, in->argv[0], ref, e);
    if (rc)
        sessions_close(out);
    return rc;
}

enum err_code command_with_session(struct invocation *in, command_session_fn *use, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = use(in, &s, &ref, e);
    sessions_close(&s);
    return rc;
}

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

static void write_blanks(size_t n, struct out *o)
{
    out_addf(o, "%*s", (int)n, "");
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

enum err_code session_line_columns_open(const struct sessions *s, const struct out *o,
                                        int64_t now_ms, struct session_line_columns *look,
                                        struct err *e)
{
    struct session_line_columns made = { .now_ms = now_ms,
                                         .id_columns = ID_COLUMNS,
                                         .width = o->columns,
                                         .shows_projects = s->scope.all };
    enum err_code rc = short_ids_of_stores(s->store, s->n, &made.ids, e);

    if (!rc)
        *look = made;
    return rc;
}

/* Only a system in front of the id widens the column, not the bytes that tell it from another id. */
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

/* A column with a style of its own, and the gap after it. */
static void styled_column(struct slice text, size_t w, enum out_style style, struct out *o)
{
    out_style(o, style);
    session_line_column(text, w, o);
    out_style(o, OUT_PLAIN);
    write_blanks(GAP, o);
}

static void age_column(const struct session_row *row, int64_t now_ms, struct out *o)
{
    char age[WHEN_AGE];

    /* Not the time of the file, because touching it is not activity. */
    when_age(now_ms, row->activity_ms != TIME_NONE ? row->activity_ms : row->modified_ms, age);
    out_style(o, OUT_AGE);
    out_addf(o, "%*s", AGE_COLUMNS, age);
    out_style(o, OUT_PLAIN);
    write_blanks(GAP, o);
}

static void text_columns(const struct session_row *row, const struct session_line_columns *look,
                         const struct layout *l, struct out *o)
{
    char size[SIZE_TEXT];

    age_column(row, look->now_ms, o);
    session_line_id(&row->ref, look, o);
    write_blanks(GAP, o);
    if (l->project) {
        session_line_column(text_path_last(row->cwd), PROJECT_COLUMNS, o);
        write_blanks(GAP, o);
    }
    if (l->branch)
        styled_column(row->git_branch, BRANCH_COLUMNS, OUT_BRANCH, o);
    if (l->size) {
        text_size(row->ref.file.size, size);
        out_addf(o, "%*s%*s", SIZE_COLUMNS, size, GAP, "");
    }
}

void session_line_header(const struct session_line_columns *look, size_t indent, struct out *o)
{
    struct layout l = layout_of(look, indent);

    write_blanks(indent, o);
    out_style(o, OUT_AGE);
    out_addf(o, "%*s  %-*s  ", AGE_COLUMNS, "AGE", (int)look->id_columns, "ID");
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

/* The width of the tag and the flags after the title. */
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

static void tag_and_flags(const struct session_row *row, struct out *o)
{
    char flags[SESSION_LINE_FLAGS];

    session_line_flags(row->flags, flags);
    if (row->tag.n) {
        out_style(o, OUT_TAG);
        out_addf(o, "  #");
        out_text(o, row->tag);
    }
    if (flags[0]) {
        out_style(o, OUT_FLAGS);
        out_addf(o, "  (%s)", flags);
    }
    if (row->tag.n || flags[0])
        out_style(o, OUT_PLAIN);
}

/* The title, cut so that tag and flags fit after it; they are left out if the title would become
 * too short. */
static void title_and_end(const struct session_row *row, size_t room, struct out *o)
{
    size_t end = end_columns(row);
    bool has_end = room == SIZE_MAX || end + SESSION_LINE_TITLE_MIN / 2 <= room;
    size_t most = room == SIZE_MAX ? SIZE_MAX / 2 : room - (has_end ? end : 0);

    session_line_cut(session_row_title(row), most, o);
    if (has_end)
        tag_and_flags(row, o);
}

void session_line_write(const struct session_row *row, const struct session_line_columns *look,
                        size_t indent, struct out *o)
{
    struct layout l = layout_of(look, indent);

    text_columns(row, look, &l, o);
    title_and_end(row, l.title, o);
    out_addf(o, "\n");
}
