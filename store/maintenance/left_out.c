#include <fcntl.h>
#include <string.h>

#include "lite/base/buf.h"
#include "lite/base/id.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/disk.h"
#include "store/maintenance/session_change.h"

/* What leaves the conversation together with a message. Only the agent's own rules for a row whose parent is missing
 * can tell, so the conversation is read twice: as it is, and from a copy in which the change was made. The copy is a file
 * without a name, so that nothing of it remains when the program is killed. */

enum { TRANSCRIPT_MOST = 1 << 30 };

static enum err_code add_message_id(struct slice json, void *arg, struct err *e)
{
    struct left_out *list = arg;
    struct slice id = { NULL, 0 };
    struct slice *more = arena_grow(&list->arena, list->id, list->n, sizeof *more);

    if (more && json_get_text(json, "uuid", &list->arena, &id) && id.n) {
        list->id = more;
        list->id[list->n++] = arena_copy(&list->arena, id);
    }
    return more && !list->arena.failed ? ERR_OK : err_nomem(e);
}

enum err_code session_change_left_out(const struct session_ref *ref, const struct change *c,
                                      struct slice message, struct left_out *out, struct err *e)
{
    const struct store *st = ref->store;
    const struct message_query q = { .session = ref->id };
    struct left_out before = { .n = 0 }, after = { .n = 0 };
    struct session_ref copy = *ref;
    struct idset stay = { 0 };
    uint32_t number;
    struct buf bytes = { 0 };
    struct fs_memory_file changed = { .fd = -1 };

    /* The transcript as it is after the change. Nothing else reads these bytes, so the steps need
     * no journal. */
    enum err_code rc = file_read_all(AT_FDCWD, ref->path.p, 0, TRANSCRIPT_MOST, &bytes, e);

    for (size_t i = 0; !rc && i < c->n; i++) {
        const struct step *s = &c->step[i];
        size_t at = (size_t)s->offset;

        if (strcmp(s->path, ref->path.p) != 0 || at > bytes.n || s->bytes.n > bytes.n - at)
            continue;
        if (s->bytes.n)
            memcpy(bytes.p + at, s->bytes.p, s->bytes.n);
        if (s->kind == STEP_TAIL)
            bytes.n = at + s->bytes.n;
    }

    if (!rc)
        rc = fs_memory_file_open(&changed, buf_slice(&bytes), e);
    buf_fini(&bytes);
    if (!rc)
        rc = st->ops->messages(st, ref, &q, add_message_id, &before, e);
    if (!rc) {
        copy.path = slice_of(changed.path);
        rc = st->ops->messages(st, &copy, &q, add_message_id, &after, e);
    }
    for (size_t i = 0; !rc && i < after.n; i++)
        rc = idset_add(&stay, id128_of(after.id[i]), &number) ? err_nomem(e) : ERR_OK;

    /* What is left of the first list: its arena becomes the answer's. */
    size_t n = 0;

    for (size_t i = 0; !rc && i < before.n; i++) {
        const struct slice id = before.id[i];
        const bool removed = id.n >= message.n && memcmp(id.p, message.p, message.n) == 0;

        if (!removed && !idset_has(&stay, id128_of(id)))
            before.id[n++] = id;
    }
    before.n = n;
    *out = before;
    fs_memory_file_close(&changed);
    idset_fini(&stay);
    arena_fini(&after.arena);
    return rc;
}
