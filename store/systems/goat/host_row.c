#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/entry.h"
#include "store/systems/goat/goat.h"

/* A row that a host appends later: its id and its time are those of the call. */

enum err_code goat_host_row(const struct store *st, struct slice row, bool transcript,
                            struct arena *a, struct slice *complete, struct slice *id,
                            struct err *e)
{
    char drawn[HOST_ID], *text;
    struct goat_entry entry;
    struct json_edit lacking[2];
    struct buf now = { 0 }, out = { 0 };
    size_t n = 0;

    goat_entry_read(row, &entry);
    enum err_code rc = goat_hostrow_check(&entry, transcript, e);

    if (rc)
        return rc;
    if (json_type(entry.uuid) != JSON_STRING || json_string_is(entry.uuid, "")) {
        host_generate_id(drawn);
        text = arena_format(a, "\"%s\"", drawn);
        entry.uuid = (struct slice){ text, text ? HOST_ID + 1 : 0 };
        rc = text ? ERR_OK : ERR_NOMEM;
        lacking[n++] = (struct json_edit){ .name = "uuid", .value = entry.uuid };
    }
    if (!rc && !transcript && json_type(entry.timestamp) != JSON_STRING) {
        rc = go_json_time(&now, env_now_ms(st->env) * 1000000);
        lacking[n++] = (struct json_edit){ .name = "timestamp", .value = buf_slice(&now) };
    }
    if (!rc)
        rc = n ? json_edit(&out, row, lacking, n) : buf_add(&out, row);
    if (rc || !json_text(entry.uuid, a, id) || !(*id = arena_copy(a, *id)).p ||
        !(*complete = arena_copy(a, buf_slice(&out))).p)
        rc = err_nomem(e);
    buf_fini(&now);
    buf_fini(&out);
    return rc;
}
