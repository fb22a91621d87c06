#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/io/file.h"
#include "store/plugins/s3/s3.h"

/* libinih is not used, because it cuts lines at 200 bytes and a session token has more than a thousand. */

enum { FILE_MOST = 1 << 20 };

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

static struct slice s3_profile_trim(struct slice s)
{
    while (s.n && strchr(" \t\r", s.p[0]))
        s = (struct slice){ s.p + 1, s.n - 1 };
    while (s.n && strchr(" \t\r", s.p[s.n - 1]))
        s.n--;
    return s;
}

/* A line that begins with a blank belongs to a group of nested settings, which are not used here. */
static void parse_profile(struct s3 *s3, struct slice text)
{
    struct slice line;
    bool torn, wanted = false;

    while (slice_line(&text, &line, &torn)) {
        if (!line.n || strchr("#; \t", line.p[0]))
            continue;
        const char *equals = memchr(line.p, '=', line.n);

        line = s3_profile_trim(line);
        if (line.n && line.p[0] == '[') {
            /* "[NAME]", in the configuration "[profile NAME]" except for "default". */
            const char *profile = s3->profile;
            struct slice name = s3_profile_trim((struct slice){ line.p + 1, line.n - 1 });

            if (!name.n || name.p[name.n - 1] != ']')
                wanted = false;
            else {
                name = s3_profile_trim((struct slice){ name.p, name.n - 1 });
                if (slice_starts(name, "profile "))
                    name = s3_profile_trim((struct slice){ name.p + 8, name.n - 8 });
                wanted = slice_eq(name, slice_of(profile));
            }
        } else if (wanted && equals) {
            struct slice name =
                s3_profile_trim((struct slice){ line.p, (size_t)(equals - line.p) });
            struct slice value = s3_profile_trim(
                (struct slice){ equals + 1, line.n - (size_t)(equals + 1 - line.p) });

            const struct {
                const char *name, **to;
            } known[] = {
                { "aws_access_key_id", &s3->key },   { "aws_secret_access_key", &s3->secret },
                { "aws_session_token", &s3->token }, { "region", &s3->region },
                { "endpoint_url", &s3->endpoint },   { "ca_bundle", &s3->ca_file },
            };

            for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (slice_eq(name, slice_of(known[i].name)) && !*known[i].to && value.n)
                    *known[i].to = arena_copy(&s3->arena, value).p;
        }
    }
}

static int s3_read_file(struct s3 *s3, const char *variable, const char *usual,
                        struct reprise_plugin_call *call)
{
    const char *home = getenv("HOME"), *path = from_environment(variable);
    struct buf text = { 0 };

    if (!path && home && home[0] == '/')
        path = arena_format(&s3->arena, "%s/.aws/%s", home, usual);
    if (!path)
        return s3->arena.failed ? REPRISE_PLUGIN_NO_MEMORY : REPRISE_PLUGIN_OK;
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, FILE_MOST, &text, NULL);

    if (!rc)
        parse_profile(s3, buf_slice(&text));
    buf_fini(&text);
    if (rc && rc != ERR_NOT_FOUND) {
        snprintf(call->error, sizeof call->error, "cannot read the file \"%s\" of AWS", usual);
        return rc == ERR_NOMEM ? REPRISE_PLUGIN_NO_MEMORY : REPRISE_PLUGIN_REFUSED;
    }
    return REPRISE_PLUGIN_OK;
}

static void set_from_environment(const char **to, const char *name)
{
    if (!*to)
        *to = from_environment(name);
}

int s3_find_credentials(struct s3 *s3, struct reprise_plugin_call *call)
{
    static const char none[] = "";
    int rc;

    /* A profile that the store names takes precedence over the keys in the environment; a profile
     * from the environment does not. */
    if (!s3->profile) {
        set_from_environment(&s3->key, "AWS_ACCESS_KEY_ID");
        set_from_environment(&s3->secret, "AWS_SECRET_ACCESS_KEY");
        set_from_environment(&s3->token, "AWS_SESSION_TOKEN");
        set_from_environment(&s3->profile, "AWS_PROFILE");
    }
    set_from_environment(&s3->region, "AWS_REGION");
    set_from_environment(&s3->region, "AWS_DEFAULT_REGION");
    set_from_environment(&s3->endpoint, "AWS_ENDPOINT_URL_S3");
    set_from_environment(&s3->endpoint, "AWS_ENDPOINT_URL");
    set_from_environment(&s3->ca_file, "AWS_CA_BUNDLE");
    if (!s3->profile)
        s3->profile = "default";

    if (s3->key && s3->secret && !s3->token)
        s3->token = none; /* that of a file belongs to another key */
    rc = s3_read_file(s3, "AWS_SHARED_CREDENTIALS_FILE", "credentials", call);
    if (!rc)
        rc = s3_read_file(s3, "AWS_CONFIG_FILE", "config", call);
    if (s3->token == none)
        s3->token = NULL;
    if (!rc && (!s3->key || !s3->secret))
        rc = text_fail(call, REPRISE_PLUGIN_REFUSED,
                       "no access key: neither in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY nor "
                       "in ~/.aws/credentials");
    return rc;
}
