#include <string.h>

#include "store/api/store.h"
#include "tui/config/config.h"
#include "tui/text/nearest.h"

/* A store: [store.NAME] format = claude */

const struct config_store *config_store(const struct config *c, struct slice name)
{
    for (size_t i = 0; i < c->stores; i++)
        if (slice_eq(slice_of(c->store[i].plugin.name), name))
            return &c->store[i];
    return NULL;
}

const char *config_nearest_store(const struct config *c, const char *typed, size_t *best)
{
    const char *near = NULL;

    for (size_t i = 0; store_systems[i]; i++)
        if (nearest_is_nearer(typed, store_systems[i]->name, best))
            near = store_systems[i]->name;
    for (size_t i = 0; c && i < c->stores; i++)
        if (nearest_is_nearer(typed, c->store[i].plugin.name, best))
            near = c->store[i].plugin.name;
    return near;
}

/* The name goes into paths, and before the colon of "NAME:ID". */
static bool is_store_name(const char *name)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    return name[0] && name[strspn(name, letters)] == '\0' && strlen(name) <= 32;
}

/* Finds or begins the store of a section. NULL: a mistake was reported, or out of memory. */
static struct config_store *store_of_section(struct reading *r, const char *name)
{
    struct config *c = r->config;

    for (size_t i = 0; i < c->stores; i++)
        if (strcmp(c->store[i].plugin.name, name) == 0)
            return &c->store[i];
    if (!is_store_name(name))
        config_add_problem(r, "not a name for a store: %s", name);
    else if (store_system(slice_of(name)))
        config_add_problem(r, "a system has this name: %s", name);
    else if (c->stores == CONFIG_STORES_MAX)
        config_add_problem(r, "too many stores: %s", name);
    else if (!(name = arena_copy_text(&c->arena, name)))
        r->no_memory = true;
    else {
        c->store[c->stores] = (struct config_store){ .plugin = { .name = name } };
        return &c->store[c->stores++];
    }
    return NULL;
}

/* The names in a section of a store; a plug-in may know more. */
static const char *const store_keys[] = { "format", "path",    "resume",    "fork",  "plugin",
                                          "rename", "archive", "unarchive", "delete" };

void config_set_store(struct reading *r, const char *section, const char *name, const char *value)
{
    struct config_store *store = store_of_section(r, section);
    const char *text = store ? arena_copy_text(&r->config->arena, value) : NULL;
    if (!store)
        return;
    const char **member = strcmp(name, "plugin") == 0   ? &store->plugin.plugin
                          : strcmp(name, "path") == 0   ? &store->plugin.path
                          : strcmp(name, "resume") == 0 ? &store->resume
                          : strcmp(name, "fork") == 0   ? &store->fork
                                                        : NULL;
    if (strcmp(name, "format") == 0) {
        size_t best = nearest_limit(value);

        store->format = store_system(slice_of(value));
        if (!store->format)
            config_add_unknown(r, "unknown agent", value, config_nearest_store(NULL, value, &best));
    } else if (config_change_key(name) < STORE_COMMANDS)
        config_set_change(r, section, config_change_key(name), value);
    else if (member)
        *member = text && text[0] ? text : NULL;
    else {
        struct config *c = r->config;
        struct plugin_option *more = arena_grow(&c->arena, (void *)(uintptr_t)store->plugin.option,
                                                store->plugin.options, sizeof *more);

        if (more)
            more[store->plugin.options++] =
                (struct plugin_option){ arena_copy_text(&c->arena, name), text };
        store->plugin.option = more ? more : store->plugin.option;
    }
    r->no_memory |= r->config->arena.failed;
}

/* Whether a name is an option of a plug-in is only known at the end of the file. */
static bool is_unknown_key(const struct config *c, const struct config_entry *entry)
{
    const char *section = entry->section;
    const struct config_store *store;

    if (strncmp(section, STORE_SECTION, sizeof STORE_SECTION - 1) != 0)
        return false;
    store = config_store(c, slice_of(section + sizeof STORE_SECTION - 1));
    if (!store || (store->plugin.plugin && !store->format))
        return false;
    for (size_t i = 0; i < sizeof store_keys / sizeof *store_keys; i++)
        if (strcmp(entry->name, store_keys[i]) == 0) /* a store is kept by one of them */
            return store->format && strcmp(entry->name, "plugin") == 0;
    return true;
}

void config_check_stores(struct reading *r)
{
    struct config *c = r->config;
    size_t kept = 0;

    for (size_t n = 0; n < c->entries; n++) {
        const char *name = c->entry[n].name, *near = NULL;
        size_t best = nearest_limit(name);

        if (!is_unknown_key(c, &c->entry[n])) {
            c->entry[kept++] = c->entry[n];
            continue;
        }
        for (size_t i = 0; i < sizeof store_keys / sizeof *store_keys; i++)
            if (strcmp(name, store_keys[i]) != 0 && nearest_is_nearer(name, store_keys[i], &best))
                near = store_keys[i];
        r->line = c->entry[n].line;
        if (strcmp(name, "plugin") == 0)
            config_add_problem(r, "a store has a format or a plugin, not both");
        else
            config_add_unknown(r, "unknown setting", name, near);
    }
    c->entries = kept;
}
