#define _GNU_SOURCE
#include "store/api/reprise_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A plug-in that behaves as badly as its path says: tests/store/systems/plugin/test_plugin.c. */

static int misbehaving_open(const char *path, const struct reprise_plugin_option *option,
                            size_t options, struct reprise_plugin_call *call, void **store)
{
    (void)options;
    if (strcmp(path, "refuses") == 0) {
        snprintf(call->error, sizeof call->error, "no \033[31mway\n in, %s.\n", option[0].value);
        return REPRISE_PLUGIN_REFUSED;
    }
    *store = strcmp(path, "forgets") == 0 ? NULL : (void *)(uintptr_t)path;
    return REPRISE_PLUGIN_OK;
}

static void misbehaving_close(void *store)
{
    (void)store;
}

/* Returns only when the caller no longer waits. */
static int wait_for_ever(struct reprise_plugin_call *call)
{
    while (!call->stopped(call->arg))
        usleep(1000);
    return REPRISE_PLUGIN_STOPPED;
}

static int misbehaving_list(void *store, const struct reprise_plugin_query *query,
                            reprise_plugin_session_fn *fn, void *arg,
                            struct reprise_plugin_call *call)
{
    struct reprise_plugin_session s = { .size = offsetof(struct reprise_plugin_session, tail),
                                        .project = "p",
                                        .session = "s",
                                        .mtime_ms = 1000 };

    (void)query;
    if (strcmp(store, "hangs") == 0)
        return wait_for_ever(call);
    if (strcmp(store, "silent") == 0)
        return REPRISE_PLUGIN_FAILED;
    if (strncmp(store, "late ", 5) == 0) /* after so many ms, whatever the program says */
        usleep((useconds_t)atoi((const char *)store + 5) * 1000);
    fn(&s, arg);       /* a plug-in that does not stop when it is asked to */
    s.session = "a/b"; /* no id: it would make paths ambiguous */
    fn(&s, arg);
    s.session = "s"; /* twice */
    fn(&s, arg);
    s.session = NULL;
    return fn(&s, arg) ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
}

static int misbehaving_read(void *store, const struct reprise_plugin_key *key, int64_t after,
                            reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    static const char *const rows[] = {
        "{\n \"message\": {\"role\": \"user\", \"content\": \"Say \\\" hello\"},\n"
        " \"type\": \"user\", \"uuid\": \"u1\", \"sessionId\": \"s\"\n}",
        "no row\nat all",
        "",
    };

    (void)store, (void)key, (void)after, (void)call;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fn((int64_t)i + 1, (struct reprise_plugin_text){ rows[i], strlen(rows[i]) }, arg);
    return REPRISE_PLUGIN_OK;
}

const struct reprise_plugin reprise_plugin = {
    .abi = REPRISE_PLUGIN_ABI + MISBEHAVING_ABI,
    .size = MISBEHAVING_SIZE,
    .flags = REPRISE_PLUGIN_REORDERS,
    .name = "rude",
    .open = misbehaving_open,
    .close = misbehaving_close,
    .list = misbehaving_list,
    .read = misbehaving_read,
};
