#include "tui/config/config.h"

#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/decimal.h"
#include "lite/io/file.h"
#include "store/api/store.h"
#include "store/fs/path.h"
#include "store/maintenance/session_change.h"
#include "tui/text/nearest.h"

/* A mistake in the configuration must not keep a person from the program, so reading never stops at
 * one: the line is reported and ignored, and the others apply.
 *
 *     defaults -> lines of the file -> check of the stores -> copy for `of_file` -> themes
 *     later, elsewhere: command line and environment -> check of the keys
 *
 * A setting counts as an entry if it added no problem, so code that ignores a value must add one,
 * and code that accepts a value must not. The words of a choice are in the order of its enum. All
 * texts are copied to the arena, because the text of the file is freed after it was read. The file
 * may name programs to run, so it is refused as a whole if other users could change it. It cannot
 * include other files. */

enum { FILE_MAX = 256 * 1024 };

/* The settings: the index of a word in the list is the value of the enum. */
struct choice {
    const char *name, *words; /* separated by | */
    size_t at;                /* an int-sized enum in struct settings */
    bool flag;                /* a bool instead; the words are its values */
};

/* clang-format off */
#define THEME_WORD(id, name) "|" name
#define AT(member) offsetof(struct settings, member)
static const struct choice choices[] = {
    { "keys",    "default|vim",               AT(keys.scheme),   false },
    { "density", "auto|one-line|two-lines",   AT(density),  false },
    { "preview", "auto|on|off",               AT(preview),  false },
    { "scope",   "worktrees|here|all",        AT(scope),    false },
    { "sort",    "recent|created|size|title", AT(sort),     false },
    { "colors",  "auto|none|16|256|true",     AT(colours),  false },
    { "theme",   "auto" THEMES(THEME_WORD),   AT(theme),    false },
    { "ascii",   "no|yes",                    AT(ascii),    true },
    { "mouse",   "yes|no",                    AT(no_mouse), true },
};
/* clang-format on */

_Static_assert(sizeof(enum key_scheme) == sizeof(int), "choices are written as int");

void config_add_problem(struct reading *r, const char *fmt, ...)
{
    struct err e = { 0 };
    char place[sizeof e.path], text[300];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(place, sizeof place, "%s:%d", r->path, r->line);
    err_set(&e, ERR_FORMAT, place, "%s", text);
    e.context = 0; /* the place says what was read */
    if (!r->config->problems)
        r->config->problems = problem_list_new();
    if (!r->config->problems || !problem_list_add(r->config->problems, NULL, &e))
        r->no_memory = true;
}

static void add_problem(struct reading *r, const char *what, const char *word)
{
    config_add_problem(r, "%s %s", what, word);
}

/* Names what was typed, and the nearest word if there is one. */
void config_add_unknown(struct reading *r, const char *what, const char *typed, const char *near)
{
    if (near)
        config_add_problem(r, "%s \"%s\"; did you mean %s?", what, typed, near);
    else
        config_add_problem(r, "%s \"%s\"; see man reprise-config", what, typed);
}

int config_word_index(const char *words, const char *word)
{
    size_t n = strlen(word);
    int place = 0;

    for (const char *w = words; w; place++) {
        const char *bar = strchr(w, '|');
        size_t len = bar ? (size_t)(bar - w) : strlen(w);

        if (len == n && memcmp(w, word, n) == 0)
            return place;
        w = bar ? bar + 1 : NULL;
    }
    return -1;
}

/* The word of "one|two|three" that was probably meant; empty if that would be a guess. */
static struct slice nearest_word(const char *words, const char *typed)
{
    struct slice near = { 0 };
    size_t best = nearest_limit(typed);

    for (size_t n; *words; words += n + (words[n] == '|')) {
        char word[NEAREST_WORD + 1];

        n = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        if (nearest_is_nearer(typed, word, &best))
            near = (struct slice){ words, n };
    }
    return near;
}

static void set_choice(struct reading *r, const struct choice *c, const char *value)
{
    char *at = (char *)&r->config->settings + c->at;
    int place = config_word_index(c->words, value);
    struct slice near = place < 0 ? nearest_word(c->words, value) : (struct slice){ 0 };

    if (place < 0)
        config_add_problem(r, "%s \"%s\"%s%.*s%s (%s)", c->name, value,
                           near.n ? "? Did you mean " : " is not known", SLICE_ARG(near),
                           near.n ? "?" : "", c->words);
    else if (c->flag)
        *(bool *)(void *)at = place == 1;
    else
        *(int *)(void *)at = place;
}

static void set_setting(struct reading *r, const char *name, const char *value)
{
    const char *near = NULL;
    size_t best = nearest_limit(name);

    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        if (strcmp(choices[i].name, name) == 0) {
            set_choice(r, &choices[i], value);
            return;
        }
        if (nearest_is_nearer(name, choices[i].name, &best))
            near = choices[i].name;
    }
    config_add_unknown(r, "unknown setting", name, near);
}

static const char *nearest_style(const char *typed)
{
    const char *near = NULL;
    size_t best = nearest_limit(typed);

    for (int i = 0; i < STYLE_COUNT; i++)
        if (nearest_is_nearer(typed, theme_style_name((enum style)i), &best))
            near = theme_style_name((enum style)i);
    return near;
}

static void set_resume(struct reading *r, const char *system, const char *command)
{
    struct config *c = r->config;
    size_t i = 0;

    while (i < c->resumes && strcmp(c->resume[i].system, system) != 0)
        i++;
    if (i == CONFIG_SYSTEMS_MAX) {
        add_problem(r, "too many systems:", system);
        return;
    }
    const char *name = arena_copy(&c->arena, slice_of(system)).p;
    const char *line = arena_copy(&c->arena, slice_of(command)).p;

    if (!name || !line) {
        r->no_memory = true;
        return;
    }
    c->resume[i] = (struct config_resume){ name, line };
    c->resumes += i == c->resumes;
}

/* The section that was probably meant; NULL if that would be a guess. */
static const char *nearest_section(const char *typed)
{
    static const char *const sections[] = { "screen",    "colors",    "prices",    "keep",
                                            "snapshots", "keys.list", "store.NAME" };
    const char *near = NULL, *system;
    size_t best = nearest_limit(typed);

    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        size_t stem = strcspn(sections[i], ".");

        if (nearest_is_nearer(typed, sections[i], &best) ||
            (strlen(typed) == stem && memcmp(typed, sections[i], stem) == 0))
            near = sections[i];
    }
    system = config_nearest_store(NULL, typed, &best);
    return system ? system : near;
}

/* A setting below [AGENT]. Stores such as Entire's name agents that are not systems here, so any name will do that does
 * not look like a mistake. */
static void set_agent(struct reading *r, const char *agent, const char *name, const char *value)
{
    enum store_command change = config_change_key(name);
    bool is_resume = strcmp(name, "resume") == 0, known = store_system(slice_of(agent)) != NULL;
    const char *near = known ? NULL : nearest_section(agent);
    size_t limit = nearest_limit(name);

    if (!known && (near || !is_resume))
        config_add_unknown(r, "unknown section", agent, near);
    else if (!is_resume && change == STORE_COMMANDS)
        config_add_unknown(r, "unknown setting", name,
                           nearest_is_nearer(name, "resume", &limit) ? "resume" : NULL);
    else if (value[0] && is_resume)
        set_resume(r, agent, value);
    else if (value[0])
        config_set_change(r, agent, change, value);
    else
        add_problem(r, "no command follows", name);
}

/* ---- [prices] ---- */

/* Reads "3 15 3.75 0.3". */
static bool read_prices(const char *value, double out[USAGE_KINDS])
{
    size_t n = 0;

    for (; n < USAGE_KINDS; n++) {
        char *end;

        out[n] = decimal_read(value, &end);
        if (end == value || !isfinite(out[n]) || out[n] < 0)
            return false;
        value = end;
    }
    return value[strspn(value, " \t")] == '\0';
}

static void set_price(struct reading *r, const char *model, const char *value)
{
    struct config *c = r->config;
    struct config_price price = { .model = NULL };
    size_t i = 0;

    while (i < c->prices && strcmp(c->price[i].model, model) != 0)
        i++;
    if (!read_prices(value, price.price))
        add_problem(r, "expected four prices (input output cache-write cache-read), not", value);
    else if (i == CONFIG_PRICES_MAX)
        add_problem(r, "too many prices:", model);
    else if (!(price.model = arena_copy_text(&c->arena, model)))
        r->no_memory = true;
    else {
        c->price[i] = price;
        c->prices += i == c->prices;
    }
}

/* Notes a valid setting of the file. A later one with the same name replaces it. */
static void config_note_entry(struct reading *r, const char *section, const char *name,
                              const char *value)
{
    struct config *c = r->config;
    struct config_entry *more = arena_grow(&c->arena, c->entry, c->entries, sizeof *more);
    struct config_entry entry = { .section = arena_copy_text(&c->arena, section),
                                  .name = arena_copy_text(&c->arena, name),
                                  .value = arena_copy(&c->arena, slice_of(value)),
                                  .line = r->line };

    r->no_memory |= c->arena.failed;
    if (!more || c->arena.failed)
        return;
    c->entry = more;
    c->entry[c->entries++] = entry;
}

static int handle_setting(void *user, const char *section, const char *name, const char *value)
{
    struct reading *r = user;
    size_t before = r->config->problems ? r->config->problems->n : 0;

    if (section[0] == '\0' || strcmp(section, "screen") == 0)
        set_setting(r, name, value);
    else if (strcmp(section, "colors") == 0) {
        enum style style = theme_find_style(slice_of(name));

        if (style == STYLE_COUNT)
            config_add_unknown(r, "unknown style", name, nearest_style(name));
        else if (!theme_parse_style(slice_of(value), &r->config->style[style]))
            add_problem(r, "not a style:", value);
        else
            r->config->styled[style] = true;
    } else if (strncmp(section, STORE_SECTION, sizeof STORE_SECTION - 1) == 0)
        config_set_store(r, section + sizeof STORE_SECTION - 1, name, value);
    else if (strncmp(section, KEYS_SECTION, sizeof KEYS_SECTION - 1) == 0)
        config_set_keys(r, section + sizeof KEYS_SECTION - 1, name, value);
    else if (strcmp(section, "prices") == 0)
        set_price(r, name, value);
    else if (strcmp(section, "keep") == 0)
        config_set_keep(r, name, value);
    else if (strcmp(section, "snapshots") == 0)
        config_set_snapshots(r, name, value);
    else
        set_agent(r, section, name, value);

    /* Only a setting that is valid is an entry of the configuration. */
    if (before == (r->config->problems ? r->config->problems->n : 0))
        config_note_entry(r, strcmp(section, "screen") == 0 ? "" : section, name, value);
    return 1;
}

/* Returns one line per call to inih, as fgets() does, and counts lines, because inih's handler does
 * not receive line numbers. A line that is longer than inih's buffer would be read as two, so it is
 * reported and ignored. */
static char *config_next_line(char *out, int cap, void *user)
{
    struct reading *r = user;
    struct slice line;
    bool torn;

    while (slice_line(&r->rest, &line, &torn)) {
        r->line++;
        if (line.n + 2 <= (size_t)cap) {
            memcpy(out, line.p, line.n);
            memcpy(out + line.n, "\n", 2);
            return out;
        }
        add_problem(r, "the line is", "too long");
    }
    return NULL;
}

static void fill_theme(const struct config *c, enum theme_id id, struct theme *out)
{
    theme_fill(out, id);
    for (int i = 0; i < STYLE_COUNT; i++)
        if (c->styled[i])
            out->look[i] = out->few_colours[i] = c->style[i];
}

static void fill_themes(struct config *c)
{
    enum theme_choice chosen = c->settings.theme;

    fill_theme(c, chosen == THEME_AUTO ? THEME_DARK : (enum theme_id)(chosen - THEME_FIRST),
               &c->theme);
    fill_theme(c, THEME_LIGHT, &c->light);
}

void config_init(struct config *c)
{
    *c = (struct config){ 0 };
    fill_themes(c);
    for (size_t i = 0; store_systems[i] && c->resumes < CONFIG_SYSTEMS_MAX; i++)
        if (store_systems[i]->resume_command)
            c->resume[c->resumes++] =
                (struct config_resume){ store_systems[i]->name, store_systems[i]->resume_command };
}

enum err_code config_read(struct config *c, const char *path, struct err *e)
{
    struct buf text = { 0 };
    enum err_code rc = file_read_all(AT_FDCWD, path, FILE_FOLLOW, FILE_MAX, &text, e);

    if (!rc) /* it names programs to run and plug-ins to load */
        rc = path_trusted("/", path, e);
    if (rc) {
        buf_fini(&text);
        return err_wrap(e, rc, "read the configuration");
    }
    struct reading r = { .config = c, .path = path, .rest = buf_slice(&text) };
    int bad_line = ini_parse_stream(config_next_line, &r, handle_setting, &r);

    if (bad_line > 0) {
        r.line = bad_line;
        add_problem(&r, "neither a [section] nor", "name = value");
    }
    buf_fini(&text);
    config_check_stores(&r);
    c->of_file = c->settings;
    fill_themes(c);
    return r.no_memory || bad_line < 0 ? err_nomem(e) : ERR_OK;
}

void config_fini(struct config *c)
{
    problem_list_free(c->problems);
    arena_fini(&c->arena);
    *c = (struct config){ 0 };
}

const char *config_resume_command(const struct config *c, const char *system)
{
    const struct config_store *store = config_store(c, slice_of(system));
    const struct store_ops *ops = store ? store->format : store_system(slice_of(system));

    if (store && store->resume)
        return store->resume;
    for (size_t i = 0; i < c->resumes; i++)
        if (strcmp(c->resume[i].system, ops ? ops->name : system) == 0)
            return c->resume[i].command;
    return NULL;
}

/* The number of bytes of the model's name that the price matches, plus one for an exact match; 0:
 * no match. */
static size_t price_match(const char *name, struct slice model)
{
    size_t n = strlen(name);

    if (n && name[n - 1] == '*')
        return n - 1 <= model.n && memcmp(name, model.p, n - 1) == 0 ? n : 0;
    return slice_eq(slice_of(name), model) ? n + 2 : 0;
}

double config_cost(const struct config *c, const struct usage_answer *a, struct slice model)
{
    static const double million = 1e6;
    const struct config_price *price = NULL;
    size_t best = 0;
    double cost = 0;

    if (!isnan(a->cost))
        return a->cost;
    for (size_t i = 0; i < c->prices; i++) {
        size_t match = price_match(c->price[i].model, model);

        if (match > best) {
            best = match;
            price = &c->price[i];
        }
    }
    for (size_t i = 0; price && i < USAGE_KINDS; i++)
        cost += (double)a->tokens[i] * price->price[i] / million;
    return price ? cost : (double)NAN;
}

/* ---- all settings ---- */

/* The entry of the file that set it; NULL if the file does not. */
static const struct config_entry *set_by(const struct config *c, const char *section,
                                         const char *name)
{
    for (size_t i = c->entries; i > 0; i--)
        if (strcmp(c->entry[i - 1].section, section) == 0 &&
            strcmp(c->entry[i - 1].name, name) == 0)
            return &c->entry[i - 1];
    return NULL;
}

static int choice_value(const struct choice *row, const struct settings *s)
{
    const char *at = (const char *)s + row->at;

    return row->flag ? *(const bool *)(const void *)at : *(const int *)(const void *)at;
}

bool config_entry_at(const struct config *c, size_t n, struct config_entry *out)
{
    const size_t fixed = sizeof choices / sizeof choices[0];

    if (n < fixed) {
        /* The value in force, which the command line and the environment may have changed. */
        const struct choice *row = &choices[n];
        int place = choice_value(row, &c->settings);
        const struct config_entry *line = set_by(c, "", row->name);
        struct config_entry entry = { .section = "", .name = row->name, .words = row->words };
        const char *word = row->words;

        entry.overridden = place != choice_value(row, &c->of_file);
        entry.line = line ? line->line : 0;
        while (place-- > 0 && strchr(word, '|'))
            word = strchr(word, '|') + 1;
        entry.value = (struct slice){ word, strcspn(word, "|") };
        *out = entry;

        return true;
    }
    if (n < fixed + c->resumes) {
        const struct config_resume *r = &c->resume[n - fixed];
        const struct config_entry *line = set_by(c, r->system, "resume");

        *out = (struct config_entry){ .section = r->system,
                                      .name = "resume",
                                      .value = slice_of(r->command),
                                      .line = line ? line->line : 0 };

        return true;
    }
    n -= fixed + c->resumes;
    for (size_t i = 0; i < c->entries; i++) {
        const struct config_entry *line = &c->entry[i];

        if (line->section[0] == '\0' ||
            (strcmp(line->name, "resume") == 0 && config_resume_command(c, line->section)) ||
            set_by(c, line->section, line->name) != line || n-- > 0)
            continue;
        *out = *line;
        return true;
    }
    return false;
}

/* The commands with which agents change sessions themselves. */

enum store_command config_change_key(const char *name)
{
    int what = 0;

    while (what < STORE_COMMANDS && strcmp(agent_change_name((enum store_command)what), name) != 0)
        what++;
    return (enum store_command)what;
}

void config_set_change(struct reading *r, const char *section, enum store_command what,
                       const char *value)
{
    struct config *c = r->config;

    if (c->changes == CONFIG_CHANGES_MAX) {
        config_add_problem(r, "too many commands: %s", value);
        return;
    }
    c->change[c->changes] = (struct config_change){ arena_copy_text(&c->arena, section), what,
                                                    arena_copy_text(&c->arena, value) };
    r->no_memory |= c->arena.failed;
    c->changes += !c->arena.failed;
}

static const char *config_find_change(const struct config *c, const char *section,
                                      enum store_command what)
{
    for (size_t i = c->changes; i > 0; i--)
        if (c->change[i - 1].what == what && strcmp(c->change[i - 1].section, section) == 0)
            return c->change[i - 1].line;
    return NULL;
}

const char *config_change_command(const struct config *c, const struct store_ops *ops,
                                  enum store_command what, bool *own)
{
    const char *line = ops->format ? config_find_change(c, ops->name, what) : NULL;

    *own = line != NULL;
    return line ? line : config_find_change(c, store_format(ops), what);
}

enum err_code config_use_changes(const struct config *c, struct store *st, struct arena *a,
                                 struct err *e)
{
    struct store_ops ops = *st->ops;
    bool any = false, own;

    for (int what = 0; what < STORE_COMMANDS; what++) {
        const char *line = config_change_command(c, st->ops, (enum store_command)what, &own);

        if (line)
            ops.change_command[what] = arena_copy_text(a, line);
        any |= line != NULL;
    }
    struct store_ops *copy = any ? arena_alloc(a, sizeof *copy) : NULL;

    if (any && a->failed)
        return err_nomem(e);
    if (copy) {
        *copy = ops;
        st->ops = copy;
    }
    return ERR_OK;
}
