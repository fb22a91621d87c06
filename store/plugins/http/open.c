#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "store/plugins/http/http.h"

static const char *http_set_option(void *store, const char *name, const char *value)
{
    struct http *http = store;

    if (strcmp(name, "token-file") == 0)
        return text_file_option(&http->arena, name, value, &http->token_file);
    if (strcmp(name, "ca-file") == 0)
        return text_file_option(&http->arena, name, value, &http->ca_file);
    if (strstr(name, "token") || strstr(name, "key") || strstr(name, "password"))
        return "its section contains a token; keep that in a token-file";
    if (strcmp(name, "project") == 0)
        http->project = arena_copy_text(&http->arena, value);
    else if (!text_is_common_option(name))
        return arena_format(&http->arena, TEXT_UNKNOWN_OPTION, name);
    return NULL;
}

/* Whoever sees the packets of this machine alone sees those of its own servers. */
static bool is_this_machine(const char *host)
{
    static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
    const size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strlen(names[i]) == n && strncmp(host, names[i], n) == 0)
            return true;
    return false;
}

static const char *http_read_path(struct http *http, const char *path)
{
    size_t n = strlen(path);

    if ((strncmp(path, "http://", 7) != 0 && strncmp(path, "https://", 8) != 0) ||
        strpbrk(path, "@?# \t\r\n") || !strstr(path, "://")[3] || strstr(path, ":///"))
        return "its path needs https://HOST/PATH, without a user, a password or parameters";
    while (path[n - 1] == '/')
        n--;
    http->url = arena_format(&http->arena, "%.*s", (int)n, path);
    return NULL;
}

static int http_configure(struct http *http, const char *path,
                          const struct reprise_plugin_option *option, size_t options,
                          struct reprise_plugin_call *call)
{
    const char *why = http_read_path(http, path), *token;

    if (!why)
        why = text_options(option, options, http_set_option, http);
    if (!why && http->token_file && path[4] != 's' && !is_this_machine(path + strlen("http://")))
        why = "the token would be sent without encryption; its path needs https://";
    if (why)
        return text_fail(call, REPRISE_PLUGIN_REFUSED, why);
    if (http->token_file) {
        PLUGIN_TRY(text_read_secret(&http->arena, "token-file", http->token_file, call, &token));
        if (!token[0] || strspn(token, " ") == strlen(token))
            return text_fail(call, REPRISE_PLUGIN_REFUSED, "token-file: its first line is empty");
        http->authorization = arena_format(&http->arena, "Authorization: Bearer %s", token);
    }
    return http->arena.failed ? REPRISE_PLUGIN_NO_MEMORY : REPRISE_PLUGIN_OK;
}

static pthread_once_t http_once = PTHREAD_ONCE_INIT;

static void http_init_library(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

void http_close(void *store)
{
    struct http *http = store;

    server_pool_fini(&http->pool);
    arena_fini(&http->arena);
    free(http);
}

int http_open(const char *path, const struct reprise_plugin_option *option, size_t options,
              struct reprise_plugin_call *call, void **store)
{
    struct http *http = calloc(1, sizeof *http);

    if (!http)
        return REPRISE_PLUGIN_NO_MEMORY;
    pthread_once(&http_once, http_init_library);
    server_pool_init(&http->pool, NULL, http_disconnect);
    const int rc = http_configure(http, path, option, options, call);

    if (rc)
        http_close(http);
    else
        *store = http;
    return rc;
}
