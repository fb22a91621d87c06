#include "store/blame/blame_text.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"

enum { STATES_MAX = 512, STATE_BYTES_MAX = 64 << 20 };

static void blame_states_drop_state(struct blame_states *s)
{
    s->bytes -= s->state[0].text.n;
    free(s->state[0].owner);
    buf_fini(&s->state[0].text);
    memmove(s->state, s->state + 1, --s->n * sizeof *s->state);
}

enum err_code blame_states_keep(struct blame_states *s, struct slice text, const uint32_t *owner,
                                size_t lines, struct err *e)
{
    struct blame_state x = { .hash = id128_of(text), .lines = lines };

    if (!s->wanted || !lines || text.n > STATE_BYTES_MAX)
        return ERR_OK;
    while (s->n && (s->n == STATES_MAX || s->bytes + text.n > STATE_BYTES_MAX))
        blame_states_drop_state(s);
    x.owner = malloc(lines * sizeof *x.owner);
    if (!x.owner || !array_reserve(s->state, s->cap, s->n + 1) || buf_add(&x.text, text)) {
        free(x.owner);
        return err_nomem(e);
    }
    memcpy(x.owner, owner, lines * sizeof *x.owner);
    s->bytes += text.n;
    s->state[s->n++] = x;
    return ERR_OK;
}

const struct blame_state *blame_states_find(const struct blame_states *s, struct slice content,
                                            size_t lines)
{
    struct id128 hash = s->n ? id128_of(content) : (struct id128){ 0, 0 };

    for (size_t i = s->n; i-- > 0;)
        if (id128_eq(s->state[i].hash, hash) && s->state[i].lines == lines)
            return &s->state[i];
    return NULL;
}

size_t blame_states_visible(struct slice s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += (unsigned char)s.p[i] > ' ';
    return n;
}

/* Counts the visible characters of those lines of a text that are also in the set, each line
 * once. */
enum err_code blame_states_common(struct slice text, const struct slice_set *lines, size_t *out)
{
    CLEANUP(slice_set_fini) struct slice_set seen = { 0 };
    struct slice line;
    bool torn;

    *out = 0;
    while (slice_line(&text, &line, &torn)) {
        size_t before = seen.n;
        uint32_t number;

        TRY(slice_set_add(&seen, line, &number));
        if (seen.n > before && (!lines || slice_set_find(lines, line) != SLICE_SET_NONE))
            *out += blame_states_visible(line);
    }
    return ERR_OK;
}

enum err_code blame_states_lines(struct slice text, struct slice_set *out)
{
    struct slice line;
    uint32_t number;
    bool torn;

    while (slice_line(&text, &line, &torn))
        TRY(slice_set_add(out, line, &number));
    return ERR_OK;
}

/* The newest of the former contents that is most like the text. */
enum err_code blame_states_most_alike(const struct blame_states *s, const struct slice_set *lines,
                                      size_t *best, const struct blame_state **state)
{
    size_t common;

    *best = 0;
    *state = NULL;
    for (size_t i = s->n; i-- > 0;) {
        TRY(blame_states_common(buf_slice(&s->state[i].text), lines, &common));
        if (common > *best) {
            *best = common;
            *state = &s->state[i];
        }
    }
    return ERR_OK;
}

/* Returns true if the text has this hash, as it is or with CRLF line ends. */
static bool text_has_hash(struct slice text, const uint8_t sha256[SHA256_BYTES])
{
    CLEANUP(hasher_fini) struct hasher hasher = { 0 };
    AUTO_BUF dos = { 0 };
    uint8_t sha[SHA256_BYTES];

    if (!hasher_bytes(&hasher, text, sha, NULL) && memcmp(sha, sha256, sizeof sha) == 0)
        return true;
    for (size_t i = 0; i < text.n; i++)
        if ((text.p[i] == '\n' && buf_add_byte(&dos, '\r')) || buf_add_byte(&dos, text.p[i]))
            return false;
    return !hasher_bytes(&hasher, buf_slice(&dos), sha, NULL) &&
           memcmp(sha, sha256, sizeof sha) == 0;
}

const struct blame_state *blame_states_with_hash(const struct blame_states *s,
                                                 const uint8_t sha256[SHA256_BYTES])
{
    for (size_t i = s->n; i-- > 0;)
        if (text_has_hash(buf_slice(&s->state[i].text), sha256))
            return &s->state[i];
    return NULL;
}

void blame_states_fini(struct blame_states *s)
{
    while (s->n)
        blame_states_drop_state(s);
    free(s->state);
}
