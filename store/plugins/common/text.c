#include "store/plugins/common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "lite/json/json.h"

enum { TEXT_SECRET_MOST = 4096 };

int text_fail(struct reprise_plugin_call *call, int code, const char *why)
{
    snprintf(call->error, sizeof call->error, "%s", why);
    return code;
}

/* ---- URLs ---- */

static int common_digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

    return at ? (int)(at - digits) : -1;
}

const char *text_decode(struct arena *a, const char *p, size_t n)
{
    char *text = arena_alloc(a, n + 1), *to = text;

    for (size_t i = 0; text && i < n; i++) {
        bool coded = p[i] == '%' && i + 2 < n && common_digit_of(p[i + 1]) >= 0 &&
                     common_digit_of(p[i + 2]) >= 0;

        *to++ = coded ? (char)(common_digit_of(p[i + 1]) * 16 + common_digit_of(p[i + 2])) : p[i];
        i += coded ? 2 : 0;
    }
    if (text)
        *to = '\0';
    return text;
}

const char *text_parameters(struct arena *a, const char *p, text_option_fn *take, void *store)
{
    const char *why = NULL;

    while (*p && !why) {
        size_t n = strcspn(p, "&"), name = strcspn(p, "=&");
        const char *value = name < n ? text_decode(a, p + name + 1, n - name - 1) : "";
        const char *text = text_decode(a, p, name);

        if (!value || !text)
            break;
        why = take(store, text, value);
        p += n + (p[n] == '&');
    }
    return why;
}

const char *text_options(const struct reprise_plugin_option *option, size_t options,
                         text_option_fn *take, void *store)
{
    const char *why = NULL;

    for (size_t i = 0; i < options && !why; i++)
        why = take(store, option[i].name, option[i].value);
    return why;
}

/* ---- files that options name ---- */

const char *text_file_option(struct arena *a, const char *name, const char *value, const char **to)
{
    const char *home = getenv("HOME");

    if (strncmp(value, "~/", 2) == 0 && home && home[0] == '/')
        *to = arena_format(a, "%s%s", home, value + 1);
    else if (value[0] == '/')
        *to = arena_copy_text(a, value);
    else
        return arena_format(a, "%s needs an absolute path", name);
    return NULL;
}

int text_read_secret(struct arena *a, const char *option, const char *path,
                     struct reprise_plugin_call *call, const char **out)
{
    char text[TEXT_SECRET_MOST];
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat sb;
    ssize_t n = 0;

    if (fd < 0 || fstat(fd, &sb) != 0)
        why = strerror(errno);
    else if (!S_ISREG(sb.st_mode))
        why = "it is not a file";
    else if ((sb.st_mode & 077) != 0)
        why = "others can read it (chmod 600)";
    else if ((n = read(fd, text, sizeof text - 1)) < 0)
        why = strerror(errno);
    if (fd >= 0)
        close(fd);
    if (why) {
        snprintf(call->error, sizeof call->error, "%s: %s", option, why);
        return REPRISE_PLUGIN_REFUSED;
    }
    text[n] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    *out = arena_copy_text(a, text);
    explicit_bzero(text, sizeof text);
    return *out ? REPRISE_PLUGIN_OK : REPRISE_PLUGIN_NO_MEMORY;
}

/* ---- rows ---- */

bool text_is_row(struct slice row)
{
    return row.n > 0 && json_valid(row);
}

/* A newline in a row can only be between its members. */
int text_add_row(struct buf *out, struct slice row)
{
    size_t at = out->n;

    if (!text_is_row(row))
        return REPRISE_PLUGIN_OK;
    if (buf_reserve(out, row.n + 1) || buf_add(out, row) || buf_add_byte(out, '\n'))
        return REPRISE_PLUGIN_NO_MEMORY;
    for (; at + 1 < out->n; at++)
        if (out->p[at] == '\n')
            out->p[at] = ' ';
    return REPRISE_PLUGIN_OK;
}
