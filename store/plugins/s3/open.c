#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/plugins/s3/s3.h"

/* ---- keys ---- */

const char *s3_folder(const struct s3 *s3, const struct reprise_plugin_key *key, struct arena *a)
{
    return arena_format(a, "%s%s/%s/%s%s", s3->prefix, key->project, key->session,
                        key->subpath ? key->subpath : "", key->subpath ? "/" : "");
}

bool s3_is_plain(const char *name, bool with_slashes)
{
    if (!with_slashes && strchr(name, '/'))
        return false;
    for (;; name++) {
        size_t n = strcspn(name, "/");

        if (n == 0 || (n == 1 && name[0] == '.') || (n == 2 && strncmp(name, "..", 2) == 0))
            return false;
        name += n;
        if (!*name)
            return true;
    }
}

/* ---- the path ---- */

static const char *s3_set_option(void *store, const char *name, const char *value)
{
    struct s3 *s3 = store;
    const char **to = strcmp(name, "endpoint") == 0  ? &s3->endpoint
                      : strcmp(name, "region") == 0  ? &s3->region
                      : strcmp(name, "profile") == 0 ? &s3->profile
                                                     : NULL;

    if (to && value[0])
        *to = arena_copy_text(&s3->arena, value);
    if (strstr(name, "secret") || strstr(name, "access") || strstr(name, "token"))
        return "its section contains a key; keep that in AWS_SECRET_ACCESS_KEY or "
               "~/.aws/credentials";
    if (!to && !text_is_common_option(name))
        return arena_format(&s3->arena, TEXT_UNKNOWN_OPTION, name);
    return NULL;
}

/* As in the reference adapters, the prefix of the keys ends in one slash. */
static const char *s3_read_path(struct s3 *s3, const char *path)
{
    static const char scheme[] = "s3://";

    if (strncmp(path, scheme, strlen(scheme)) != 0)
        return "its path needs s3://BUCKET/PREFIX";
    const char *bucket = path + strlen(scheme), *prefix = bucket + strcspn(bucket, "/?");
    size_t n = (size_t)(prefix - bucket);

    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    if (n < 3 || n > 255 || strspn(bucket, letters) < n || bucket[0] == '.')
        return "its path needs the name of a bucket after s3://: 3 to 255 letters, digits, - . _";

    s3->bucket = arena_format(&s3->arena, "%.*s", (int)n, bucket);
    prefix += *prefix == '/';
    n = strcspn(prefix, "?");
    const char *parameters = prefix[n] ? prefix + n + 1 : "";

    while (n && prefix[n - 1] == '/')
        n--;
    prefix = n ? text_decode(&s3->arena, prefix, n) : "";
    s3->prefix = prefix && prefix[0] ? arena_format(&s3->arena, "%s/", prefix) : "";
    return text_parameters(&s3->arena, parameters, s3_set_option, s3);
}

/* ---- where the bucket is ---- */

/* At Amazon a bucket has a host of its own; a dot in its name would not be covered by the certificate. */
static const char *find_bucket(struct s3 *s3)
{
    const char *given = s3->endpoint, *url;

    if (!s3->region)
        s3->region = "us-east-1";
    if (!s3->region[0] ||
        s3->region[strspn(s3->region, "abcdefghijklmnopqrstuvwxyz0123456789-")] != '\0')
        return "region needs a name such as eu-central-1";
    if (given) {
        size_t n = strlen(given);

        if ((strncmp(given, "http://", 7) != 0 && strncmp(given, "https://", 8) != 0) ||
            strpbrk(given, "@?# \t\r\n"))
            return "endpoint needs http://HOST or https://HOST";
        while (n && given[n - 1] == '/')
            n--;
        url = arena_format(&s3->arena, "%.*s/%s", (int)n, given, s3->bucket);
    } else {
        const char *domain =
            strncmp(s3->region, "cn-", 3) == 0 ? "amazonaws.com.cn" : "amazonaws.com";

        url = strchr(s3->bucket, '.')
                  ? arena_format(&s3->arena, "https://s3.%s.%s/%s", s3->region, domain, s3->bucket)
                  : arena_format(&s3->arena, "https://%s.s3.%s.%s", s3->bucket, s3->region, domain);
    }
    if (url) { /* NULL: out of memory, which the caller notices */
        /* The port of the scheme is not in the header. */
        const char *host = strstr(url, "//") + 2, *port = url[4] == 's' ? ":443" : ":80";
        size_t n = strcspn(host, "/"), front = (size_t)(host - url) + n, own = strlen(port);

        s3->origin = arena_format(&s3->arena, "%.*s", (int)front, url);
        s3->path = arena_copy_text(&s3->arena, host + n);
        if (n > own && strncmp(host + n - own, port, own) == 0)
            n -= own;
        s3->host = arena_format(&s3->arena, "%.*s", (int)n, host);
    }
    return NULL;
}

/* ---- opening ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_library(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

void s3_close(void *store)
{
    struct s3 *s3 = store;

    server_pool_fini(&s3->pool);
    pthread_mutex_destroy(&s3->lock);
    free(s3->known_part);
    arena_fini(&s3->arena);
    free(s3);
}

static int s3_configure(struct s3 *s3, const char *path, const struct reprise_plugin_option *option,
                        size_t options, struct reprise_plugin_call *call)
{
    const char *why = s3_read_path(s3, path);
    int rc = REPRISE_PLUGIN_OK;

    if (!why)
        why = text_options(option, options, s3_set_option, s3);
    if (!why)
        rc = s3_find_credentials(s3, call);
    if (!why && !rc)
        why = find_bucket(s3);
    if (s3->arena.failed)
        return REPRISE_PLUGIN_NO_MEMORY;
    return why ? text_fail(call, REPRISE_PLUGIN_REFUSED, why) : rc;
}

int s3_open(const char *path, const struct reprise_plugin_option *option, size_t options,
            struct reprise_plugin_call *call, void **store)
{
    struct s3 *s3 = calloc(1, sizeof *s3);

    if (!s3)
        return REPRISE_PLUGIN_NO_MEMORY;
    pthread_once(&once, init_library);
    server_pool_init(&s3->pool, NULL, s3_disconnect);
    pthread_mutex_init(&s3->lock, NULL);
    int rc = s3_configure(s3, path, option, options, call);

    if (rc)
        s3_close(s3);
    else
        *store = s3;
    return rc;
}
