#include <string.h>

#include "tui/config/config.h"
#include "tui/text/nearest.h"

/* The keys of an action in a context: [keys.list] delete = del ctrl-d */

static enum key_context context_named(struct reading *r, const char *name)
{
    const char *near = NULL;
    size_t best = nearest_limit(name);

    for (int p = 0; p < IN_COUNT; p++) {
        const char *known = keymap_context_name((enum key_context)p);

        if (strcmp(known, name) == 0)
            return (enum key_context)p;
        if (nearest_is_nearer(name, known, &best))
            near = known;
    }
    config_add_unknown(r, "unknown context", name, near);
    return IN_COUNT;
}

static enum action action_in(struct reading *r, enum key_context place, const char *name)
{
    enum action a = action_named(slice_of(name));
    const char *near = NULL;
    size_t best = nearest_limit(name);

    if (a != ACT_NONE && keymap_has(place, a))
        return a;
    for (int i = ACT_NONE + 1; i < ACT_COUNT; i++)
        if (keymap_has(place, (enum action)i) &&
            nearest_is_nearer(name, action_name((enum action)i), &best))
            near = action_name((enum action)i);
    if (a != ACT_NONE)
        config_add_problem(r, "%s is not an action of [keys.%s]", name, keymap_context_name(place));
    else
        config_add_unknown(r, "unknown action", name, near);
    return ACT_NONE;
}

/* The keys of a later line replace those of an earlier one. */
static void unset_keys(struct config *c, enum key_context place, enum action a)
{
    size_t n = 0;

    for (size_t i = 0; i < c->settings.keys.bounds; i++)
        if (c->bound[i].place != place || c->bound[i].action != a)
            c->bound[n++] = c->bound[i];
    c->settings.keys.bounds = n;
}

static bool add_key(struct reading *r, struct key_binding binding)
{
    struct config *c = r->config;
    size_t n = c->settings.keys.bounds;

    if (n == CONFIG_KEYS_MAX) {
        config_add_problem(r, "too many keys");
        return false;
    }
    struct key_binding *more = arena_grow(&c->arena, c->bound, n, sizeof *more);

    if (!more) {
        r->no_memory = true;
        return false;
    }
    c->bound = more;
    c->bound[n] = binding;
    c->settings.keys.bound = more;
    c->settings.keys.bounds = n + 1;
    return true;
}

static bool key_setting_next_word(const char **text, struct slice *word)
{
    *text += strspn(*text, " \t");
    *word = (struct slice){ *text, strcspn(*text, " \t") };
    *text += word->n;
    return word->n > 0;
}

static bool read_key(struct reading *r, struct slice word, struct key_binding *b)
{
    const char *why;

    if (!key_parse(word, &b->key, &why)) {
        config_add_problem(r, "not a key: %.*s (%s)", SLICE_ARG(word), why);
        return false;
    }
    if (key_is_exit(b->key) && b->action != ACT_QUIT) {
        config_add_problem(r, "%.*s always quits; it cannot be bound", SLICE_ARG(word));
        return false;
    }
    return true;
}

/* A key that opens the menu and the next one are a sequence: the second is that of the action in the menu. */
static bool add_keys(struct reading *r, const struct key_binding *b, const char *keys)
{
    struct key_binding none = *b, key = *b;
    struct slice word;
    size_t direct = 0, in_menu = 0;

    while (key_setting_next_word(&keys, &word)) {
        key.place = b->place;
        if (!read_key(r, word, &key))
            return false;
        bool opens = key.action != ACT_MENU && key.place != IN_MENU &&
                     keymap_has(IN_MENU, key.action) &&
                     keymap_find(&r->config->settings.keys, key.place, key.key) == ACT_MENU;
        bool sequence = opens && key_setting_next_word(&keys, &word);

        if (sequence) {
            key.place = IN_MENU;

            /* The first sequence replaces the keys that the action has in the menu. */
            if (!in_menu)
                unset_keys(r->config, IN_MENU, b->action);
            if (!read_key(r, word, &key))
                return false;
        }
        in_menu += sequence;
        direct += !sequence;
        if (!add_key(r, key))
            return false;
    }
    if (!direct && !in_menu)
        config_add_problem(r, "no keys; `none` unbinds the action");

    /* An action that has sequences only has no key of its own. */
    return direct || (in_menu && add_key(r, none));
}

void config_set_keys(struct reading *r, const char *context, const char *action, const char *keys)
{
    enum key_context place = context_named(r, context);
    enum action a = place == IN_COUNT ? ACT_NONE : action_in(r, place, action);
    const struct key_binding binding = { .place = place, .action = a, .line = r->line };

    if (a != ACT_NONE) {
        unset_keys(r->config, binding.place, binding.action);
        if (strcmp(keys, "none") == 0)
            add_key(r, binding);
        else if (!add_keys(r, &binding, keys))
            unset_keys(r->config, binding.place, binding.action);
    }
}

/* ---- conflicts ---- */

/* Reports a binding that conflicts with an earlier one. */
static bool report_refused(struct reading *r, const struct keymap *before,
                           const struct key_binding *b)
{
    const char *context = keymap_context_name(b->place), *action = action_name(b->action);
    char key[KEY_NAME];

    if (b->key.code == KEYCODE_NONE)
        return false;
    key_label(b->key, true, key);
    if (key_is_text(b->key) && keymap_is_text(before, b->place)) {
        config_add_problem(r, "%s is text that is typed in [keys.%s]; it cannot be bound to %s",
                           key, context, action);
        return true;
    }
    for (size_t i = 0; i < before->bounds; i++)
        if (before->bound[i].place == b->place && key_eq(before->bound[i].key, b->key) &&
            before->bound[i].action != b->action) {
            config_add_problem(r, "%s in [keys.%s] is bound to %s already, not to %s", key, context,
                               action_name(before->bound[i].action), action);
            return true;
        }
    return false;
}

/* Returns true if the action can still be reached by a key or through the menu, or is deliberately
 * unbound. */
static bool is_reached(const struct keymap *k, enum key_context place, enum action a)
{
    char menu[KEYMAP_MENU_KEYS];
    struct key key;

    keymap_menu_keys(k, place, a, true, menu);

    /* The action may also have been set to `none`. */
    if (menu[0] || keymap_key_of(k, place, a, &key))
        return true;
    for (size_t i = 0; i < k->bounds; i++)
        if ((k->bound[i].place == place || k->bound[i].place == IN_ANY) &&
            k->bound[i].action == a && k->bound[i].key.code == KEYCODE_NONE)
            return true;
    return false;
}

/* Reports the action that has lost its only key, in the first context where it has no key now. */
static void report_lost(struct reading *r, const struct keymap *k, const struct key_binding *b)
{
    const struct keymap usual = { .scheme = k->scheme };
    char key[KEY_NAME];

    for (int p = 0; p < IN_ANY && b->key.code != KEYCODE_NONE; p++) {
        enum key_context place = (enum key_context)p;
        enum action lost = keymap_find(&usual, place, b->key);

        if ((b->place != place && b->place != IN_ANY) || lost == ACT_NONE || lost == b->action ||
            is_reached(k, place, lost))
            continue;
        key_label(b->key, true, key);
        config_add_problem(r,
                           "%s, now %s, was the only key of %s in [keys.%s]; bind it, or %s = none",
                           key, action_name(b->action), action_name(lost),
                           keymap_context_name(place), action_name(lost));
        return;
    }
}

bool config_check_keys(struct config *c, const char *path)
{
    struct reading r = { .config = c, .path = path };
    struct keymap *k = &c->settings.keys;
    struct keymap before = { .scheme = k->scheme, .bound = c->bound };

    for (size_t i = 0; i < k->bounds; i++) {
        const struct key_binding b = c->bound[i];

        r.line = b.line;
        if (!report_refused(&r, &before, &b))
            c->bound[before.bounds++] = b;
    }
    k->bounds = before.bounds;
    for (size_t i = 0; i < k->bounds; i++) {
        r.line = c->bound[i].line;
        report_lost(&r, k, &c->bound[i]);
    }
    return !r.no_memory;
}
