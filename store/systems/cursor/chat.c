#include <string.h>

#include "lite/json/json.h"
#include "store/systems/common/memory_rows.h"
#include "store/systems/cursor/cursor.h"

enum { FIELD_MESSAGE = 1, FIELD_WORKSPACE = 9, BYTES = 2, MESSAGES_MOST = 200000 };

/* ---- reading the database ---- */

static enum err_code cursor_copy_bytes(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct buf *out = arg;

    out->n = 0;
    return buf_add(out, sqlite_row_text(row, 0)) ? err_nomem(e) : ERR_OK;
}

enum err_code cursor_blob_read(struct sqlite_db *db, struct slice name, struct buf *out,
                               struct err *e)
{
    out->n = 0;
    return sqlite_db_each(db, "SELECT data FROM blobs WHERE id = ?1", &name, 1, cursor_copy_bytes,
                          out, e);
}

/* Decodes pairs of hex digits; with `escaped`, those after a percent sign, as in URLs. The result
 * is NUL-terminated; empty if the text does not have this form. */
static struct slice cursor_decode(struct slice text, bool escaped, struct arena *a)
{
    char *out = arena_alloc(a, text.n + 1);
    size_t n = 0, i = 0;

    while (out && i < text.n) {
        bool plain = escaped && text.p[i] != '%';
        size_t at = i + (escaped && !plain);
        int high = !plain && at + 1 < text.n ? slice_hex_digit(text.p[at]) : -1;
        int low = high >= 0 ? slice_hex_digit(text.p[at + 1]) : -1;

        if (!plain && low < 0)
            return SLICE("");
        out[n++] = plain ? text.p[i] : (char)(high * 16 + low);
        i = plain ? i + 1 : at + 2;
    }
    if (out)
        out[n] = '\0';
    return out ? (struct slice){ out, n } : SLICE("");
}

/* ---- the fields of a protobuf message ---- */

static bool parse_varint(struct slice *rest, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && rest->n; shift += 7) {
        unsigned char c = (unsigned char)*rest->p;

        *rest = (struct slice){ rest->p + 1, rest->n - 1 };
        *out |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return true;
    }
    return false;
}

/* Reads the next field; only a field of bytes has a value. Returns false at the end, or if the
 * message is damaged. */
static bool cursor_parse_field(struct slice *rest, uint64_t *number, unsigned *type,
                               struct slice *value)
{
    uint64_t key, n = 0;

    *value = SLICE("");
    if (!parse_varint(rest, &key))
        return false;
    *number = key >> 3;
    *type = key & 7;
    switch (*type) {
    case 0: return parse_varint(rest, &n);
    case 1: n = 8; break;
    case BYTES:
        if (!parse_varint(rest, &n))
            return false;
        break;
    case 5: n = 4; break;
    default: return false;
    }
    if (n > rest->n)
        return false;
    *value = (struct slice){ rest->p, (size_t)n };
    *rest = (struct slice){ rest->p + n, rest->n - (size_t)n };
    return true;
}

static void cursor_parse_state(struct cursor_state *s, struct slice bytes)
{
    static const char scheme[] = "file://";
    struct slice value, *list, path;
    uint64_t number;
    unsigned type;

    while (!s->arena.failed && cursor_parse_field(&bytes, &number, &type, &value)) {
        if (type != BYTES)
            continue;
        if (number == FIELD_WORKSPACE && slice_starts(value, scheme)) {
            path = cursor_decode(
                (struct slice){ value.p + sizeof scheme - 1, value.n - sizeof scheme + 1 }, true,
                &s->arena);
            if (path.n && path.p[0] == '/' && !memchr(path.p, '\0', path.n))
                s->workspace = path;
        }
        if (number != FIELD_MESSAGE || s->n == MESSAGES_MOST)
            continue;
        list = arena_grow(&s->arena, s->message, s->n, sizeof *list);
        if (!list)
            return;
        s->message = list;
        char *out = arena_alloc(&s->arena, value.n * 2 + 1);

        for (size_t i = 0; out && i < value.n * 2; i++) {
            unsigned char c = (unsigned char)value.p[i / 2];

            out[i] = "0123456789abcdef"[i % 2 ? c & 15 : c >> 4];
        }
        list[s->n++] = out ? (struct slice){ out, value.n * 2 } : SLICE("");
    }
}

enum err_code cursor_state_read(struct sqlite_db *db, struct cursor_state *out, struct err *e)
{
    struct buf bytes = { 0 };
    struct slice name;
    enum err_code rc = sqlite_db_each(db, "SELECT value FROM meta WHERE key = '0'", NULL, 0,
                                      cursor_copy_bytes, &bytes, e);

    *out = (struct cursor_state){ .meta = SLICE(""), .workspace = SLICE("") };
    if (!rc)
        out->meta = cursor_decode(buf_slice(&bytes), false, &out->arena);
    if (!json_valid(out->meta) || json_type(out->meta) != JSON_OBJECT)
        out->meta = SLICE("");
    if (!rc && json_get_text(out->meta, "latestRootBlobId", &out->arena, &name)) {
        rc = cursor_blob_read(db, name, &bytes, e);
        if (!rc)
            cursor_parse_state(out, buf_slice(&bytes));
    }
    buf_fini(&bytes);
    if (!rc && out->arena.failed)
        rc = err_nomem(e);
    if (rc)
        cursor_state_fini(out);
    return rc;
}

void cursor_state_fini(struct cursor_state *s)
{
    arena_fini(&s->arena);
    *s = (struct cursor_state){ .n = 0 };
}

/* ---- one message ---- */

bool cursor_role_is(struct slice message, const char *role)
{
    return json_get_is(message, "role", role);
}

/* A text without such an element is a prompt unless it begins with context. */
struct slice cursor_typed(struct slice text, struct arena *a)
{
    static const char open[] = "<user_query>", close[] = "</user_query>";
    struct slice rest = text, all = SLICE("");
    bool found = false;
    const char *at, *end;

    while ((at = rest.n ? slice_find(rest.p, rest.n, open, sizeof open - 1) : NULL)) {
        at += sizeof open - 1;
        rest = (struct slice){ at, (size_t)(rest.p + rest.n - at) };
        end = rest.n ? slice_find(rest.p, rest.n, close, sizeof close - 1) : NULL;
        const struct slice inner =
            slice_trim((struct slice){ at, end ? (size_t)(end - at) : rest.n });
        const struct slice both[] = { all, SLICE("\n"), inner };
        const char *joined = all.n && inner.n ? arena_concat(a, both, 3) : NULL;

        found = true;
        all = joined ? slice_of(joined) : all.n ? all : inner;
        if (!end || joined) /* Cursor writes one element */
            break;
        rest = (struct slice){ end, (size_t)(rest.p + rest.n - end) };
    }
    if (found)
        return all;
    return slice_starts(text, "<user_info>") || slice_starts(text, "<system_reminder>")
               ? all
               : slice_trim(text);
}

struct slice cursor_prompt(struct slice message, struct arena *a)
{
    struct slice content;

    return cursor_role_is(message, "user") && json_get(message, "content", &content)
               ? cursor_typed(content_texts(content, a), a)
               : SLICE("");
}
