#include "store/systems/entire/read/trailer.h"

#include <string.h>

#include "store/systems/entire/names.h"

static bool is_trailer_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct slice trim(struct slice text)
{
    while (text.n && is_trailer_blank(text.p[0])) {
        text.p++;
        text.n--;
    }
    while (text.n && is_trailer_blank(text.p[text.n - 1]))
        text.n--;
    return text;
}

bool trailer_next(struct slice *rest, const char *key, struct slice *value)
{
    size_t n = strlen(key);

    while (rest->n) {
        const char *at = slice_find(rest->p, rest->n, key, n);

        if (!at)
            return false;
        struct slice line = { at + n, rest->n - (size_t)(at + n - rest->p) };
        const char *end = line.n ? memchr(line.p, '\n', line.n) : NULL;

        *rest = line;
        if (line.n == 0 || line.p[0] != ':')
            continue;
        if (end) {
            line.n = (size_t)(end - line.p);
            *rest = (struct slice){ end + 1, rest->n - line.n - 1 };
        } else {
            rest->n = 0;
        }
        *value = trim((struct slice){ line.p + 1, line.n - 1 });
        return true;
    }
    return false;
}

struct slice trailer_first(struct slice message, const char *key)
{
    struct slice value = SLICE("");

    return trailer_next(&message, key, &value) ? value : SLICE("");
}

bool trailer_checkpoint(struct slice *rest, struct slice *id)
{
    struct slice value;

    while (trailer_next(rest, TRAILER_CHECKPOINT, &value)) {
        size_t n = 0;

        while (n < value.n && !is_trailer_blank(value.p[n]))
            n++;
        value.n = n;
        if (entire_checkpoint_id_ok(value)) {
            *id = value;
            return true;
        }
    }
    return false;
}

struct slice trailer_subject(struct slice message)
{
    struct slice line = SLICE("");
    bool torn;

    while (slice_line(&message, &line, &torn)) {
        line = trim(line);
        if (line.n)
            return line;
    }
    return line;
}
