#include "store/plugins/redis/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 6379, DATABASES = 1 << 20 };

/* ---- keys ---- */

const char *redis_key(const struct redis *rd, const struct reprise_plugin_key *key,
                      const char *tail, struct arena *a)
{
    if (!tail)
        tail = key->subpath;
    return arena_format(a, "%s%s:%s%s%s", rd->prefix, key->project, key->session, tail ? ":" : "",
                        tail ? tail : "");
}

const char *redis_index(const struct redis *rd, const char *project, struct arena *a)
{
    return arena_format(a, "%s%s:" RD_SESSIONS, rd->prefix, project);
}

/* ---- the path ---- */

static bool redis_read_number(const char *p, size_t n, int most, int *out)
{
    int value = 0;

    if (n == 0 || n > 9)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        value = value * 10 + (p[i] - '0');
    }
    *out = value;
    return value <= most;
}

/* [USER@]HOST[:PORT], in which an IPv6 address has brackets. */
static const char *read_server(struct redis *rd, const char *p, size_t n)
{
    const char *at = memchr(p, '@', n), *end = p + n;

    if (at) {
        if (memchr(p, ':', (size_t)(at - p)))
            return "its path contains a password; keep that in REDISCLI_AUTH or a password-file";
        rd->user = at > p ? text_decode(&rd->arena, p, (size_t)(at - p)) : NULL;
        p = at + 1;
    }
    const char *close = *p == '[' ? memchr(p, ']', (size_t)(end - p)) : NULL;
    const char *name = close ? p + 1 : p, *from = close ? close + 1 : p;
    const char *colon = memchr(from, ':', (size_t)(end - from));

    if (!close)
        close = colon ? colon : end;
    if (close > name)
        rd->host = text_decode(&rd->arena, name, (size_t)(close - name));
    if (colon && !redis_read_number(colon + 1, (size_t)(end - colon - 1), 65535, &rd->port))
        return "the port in its path is not a number";
    return NULL;
}

/* Where the name of a file is kept; NULL: the option does not name a file. */
static const char **file_option(struct redis *rd, const char *name)
{
    struct {
        const char *name, **place;
    } files[] = { { "password-file", &rd->password_file },
                  { "ca-file", &rd->ca_file },
                  { "cert-file", &rd->cert_file },
                  { "key-file", &rd->key_file } };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (strcmp(name, files[i].name) == 0)
            return files[i].place;
    return NULL;
}

/* Sets an option or a parameter of the URL. */
static const char *redis_set_option(void *store, const char *name, const char *value)
{
    struct redis *rd = store;
    size_t n = strlen(value);

    if (strcmp(name, "prefix") == 0) {
        while (n && value[n - 1] == ':')
            n--;
        rd->prefix = n ? arena_format(&rd->arena, "%.*s:", (int)n, value) : "";
    } else if (strcmp(name, "user") == 0) {
        rd->user = arena_copy_text(&rd->arena, value);
    } else if (file_option(rd, name)) {
        return text_file_option(&rd->arena, name, value, file_option(rd, name));
    } else if (strcmp(name, "db") == 0) {
        return redis_read_number(value, n, DATABASES, &rd->db)
                   ? NULL
                   : "db needs the number of a database";
    } else if (!text_is_common_option(name)) {
        return arena_format(&rd->arena, TEXT_UNKNOWN_OPTION, name);
    }
    return NULL;
}

/* Returns what is wrong with it, or NULL. */
static const char *redis_read_path(struct redis *rd, const char *path)
{
    rd->secure = strncmp(path, "rediss://", 9) == 0;
    if (!rd->secure && strncmp(path, "redis://", 8) != 0)
        return "its path needs redis://HOST, rediss://HOST or redis:///PATH/OF/A/SOCKET";
    const char *server = path + (rd->secure ? 9 : 8);
    const char *place = server + strcspn(server, "/?");
    size_t n = strcspn(place, "?");
    const char *why = read_server(rd, server, (size_t)(place - server));

    if (!why && n > 1 && !redis_read_number(place + 1, n - 1, DATABASES, &rd->db)) {
        if (place > server && place[-1] != '@')
            return "its path needs the number of a database after the server";
        if (rd->secure)
            return "a connection through a socket has no TLS";
        rd->socket = text_decode(&rd->arena, place, n);
    }
    if (!why && place[n] == '?')
        why = text_parameters(&rd->arena, place + n + 1, redis_set_option, rd);
    return why;
}

/* ---- the password ---- */

/* ---- opening ---- */

void redis_close(void *store)
{
    struct redis *rd = store;

    server_pool_fini(&rd->pool);
    redis_tls_close(rd);
    arena_fini(&rd->arena);
    free(rd);
}

static int redis_configure(struct redis *rd, const char *path,
                           const struct reprise_plugin_option *option, size_t options,
                           struct reprise_plugin_call *call)
{
    const char *why = redis_read_path(rd, path);

    if (!why)
        why = text_options(option, options, redis_set_option, rd);
    if (why)
        return text_fail(call, REPRISE_PLUGIN_REFUSED, why);
    const char *password = getenv("REDISCLI_AUTH");

    if (rd->password_file)
        PLUGIN_TRY(
            text_read_secret(&rd->arena, "password-file", rd->password_file, call, &rd->password));
    else if (password && password[0])
        rd->password = arena_copy_text(&rd->arena, password);
    if (rd->secure)
        PLUGIN_TRY(redis_tls_open(rd, call));
    return rd->arena.failed ? REPRISE_PLUGIN_NO_MEMORY : REPRISE_PLUGIN_OK;
}

/* Fails if a password is missing or the server does not answer. A user who may not PING may still read. */
static int ping_server(struct redis *rd, struct reprise_plugin_call *call)
{
    AUTO_CONNECTION *c = NULL;
    AUTO_REPLY *r = NULL;

    PLUGIN_TRY(redis_acquire(rd, call, &c));
    PLUGIN_TRY(redis_send(c, "PING"));
    int rc = redis_read_reply(c, call, &r);
    size_t n = strlen(call->error);

    /* A server that requires TLS ends a connection that begins without it. */
    if (rc == REPRISE_PLUGIN_FAILED && c->broken && !rd->secure && !rd->socket)
        snprintf(call->error + n, sizeof call->error - n,
                 " (if it requires TLS, the path must begin with rediss://)");
    if (!rc && r->type == REDIS_REPLY_ERROR && strncmp(r->str, "NOPERM", 6) != 0)
        rc = redis_fail_reply(call, r);
    return rc;
}

int redis_open(const char *path, const struct reprise_plugin_option *option, size_t options,
               struct reprise_plugin_call *call, void **store)
{
    struct redis *rd = calloc(1, sizeof *rd);

    if (!rd)
        return REPRISE_PLUGIN_NO_MEMORY;
    server_pool_init(&rd->pool, redis_is_usable, redis_disconnect);
    rd->host = "localhost";
    rd->port = PORT;
    rd->prefix = "";
    int rc = redis_configure(rd, path, option, options, call);

    if (!rc)
        rc = ping_server(rd, call);
    if (rc)
        redis_close(rd);
    else
        *store = rd;
    return rc;
}
