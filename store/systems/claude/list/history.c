#include <fcntl.h>

#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/claude/claude.h"

/* CONFIG/history.jsonl has every prompt that was typed, with its project and, since 2.0, its session:
 *
 *     {"display":"Fix it","pastedContents":{},"timestamp":1763629200000,"project":"/w","sessionId":"..."}
 *
 * The agent's clean-up removes transcripts and leaves these rows. */

enum { HISTORY_MOST = 64 << 20 };

struct history {
    const struct claude *c;
    const struct scope *scope;
    struct arena arena;
    const char *path;
    struct idset there, ids; /* `ids` are numbered as in `gone` */
    struct gone_session *gone;
};

static void history_fini(struct history *h)
{
    idset_fini(&h->there);
    idset_fini(&h->ids);
    arena_fini(&h->arena);
}

static enum err_code history_row(struct history *h, struct slice row, struct err *e)
{
    struct slice id, cwd, text, time;
    int64_t time_ms;

    if (!json_get_text(row, "sessionId", &h->arena, &id) || !claude_is_uuid(id) ||
        idset_has(&h->there, id128_of(id)) || !json_get_text(row, "project", &h->arena, &cwd) ||
        !(h->scope->all || session_scope_has(h->scope, cwd)) ||
        !json_get_text(row, "display", &h->arena, &text) || !text.n)
        return ERR_OK;
    /* The session of the row, added if it is new. */
    const size_t n = h->ids.n;
    uint32_t number;

    NEED(idset_add(&h->ids, id128_of(id), &number) == ERR_OK);
    if (number == n) {
        NEED(h->gone = arena_grow(&h->arena, h->gone, n, sizeof *h->gone));
        h->gone[n] =
            (struct gone_session){ .id = arena_copy(&h->arena, id), .cwd = cwd, .path = h->path };
        NEED(!h->arena.failed);
    }
    struct gone_session *gone = &h->gone[number];
    struct gone_prompt *more = arena_grow(&h->arena, gone->prompt, gone->n, sizeof *more);

    NEED(more);
    gone->prompt = more;
    if (!json_get(row, "timestamp", &time) || !json_int(time, &time_ms))
        time_ms = TIME_NONE;
    more[gone->n++] = (struct gone_prompt){ text, time_ms };
    return ERR_OK;
}

enum err_code claude_gone(const struct store *st, const struct scope *scope, gone_fn *fn, void *arg,
                          struct err *e)
{
    CLEANUP(history_fini) struct history h = { .c = claude_of(st), .scope = scope };
    AUTO_BUF bytes = { 0 };

    NEED(h.path = arena_format(&h.arena, "%s/history.jsonl", st->path));
    enum err_code rc = file_read_all(AT_FDCWD, h.path, 0, HISTORY_MOST, &bytes, e);

    if (!rc && bytes.n)
        rc = claude_transcript_ids(h.c, &h.there, e);
    if (rc)
        return rc == ERR_NOMEM ? rc : ERR_OK;
    for (struct slice rest = buf_slice(&bytes), row; rest.n;) {
        const char *end = memchr(rest.p, '\n', rest.n);

        row = (struct slice){ rest.p, end ? (size_t)(end - rest.p) : rest.n };
        rest = (struct slice){ row.p + row.n, rest.n - row.n };
        if (end)
            rest = (struct slice){ end + 1, rest.n - 1 };
        if (json_type(row) == JSON_OBJECT && json_valid(row))
            TRY(history_row(&h, row, e));
    }
    for (size_t i = h.ids.n; i-- > 0;)
        TRY(fn(&h.gone[i], arg, e));
    return ERR_OK;
}
