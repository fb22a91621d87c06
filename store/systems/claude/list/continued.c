#include "store/systems/claude/list/continued.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/io/line.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/prompt.h"

#define MARK "\"type\":\"continued-in\""
#define CHAIN "\"parentUuid\":"

enum { SCAN_BYTES = 16 << 20, SCAN_STEP = 1 << 20, SCAN_KEPT = sizeof CHAIN - 1 };

/* An answer of the model's own that came to an end. */
static bool is_answer(struct slice row)
{
    struct slice type, failed, message, reason;

    if (!json_get(row, "type", &type) || !json_string_is(type, "assistant"))
        return false;
    if (json_get(row, "isApiErrorMessage", &failed) && json_type(failed) != JSON_FALSE)
        return false;
    return json_get(row, "message", &message) && json_type(message) == JSON_OBJECT &&
           json_get(message, "stop_reason", &reason) && json_type(reason) == JSON_STRING;
}

static bool is_prompt_row(struct slice row, struct arena *a, bool *ok)
{
    struct prompt prompt = { 0 };

    *ok = prompt_of_row(row, a, &prompt);
    return prompt.text.p != NULL;
}

static bool names_target(struct slice row, struct arena *a, struct slice *id)
{
    struct slice type;

    return json_get(row, "type", &type) && json_string_is(type, "continued-in") &&
           json_get_text(row, "continuedInSessionId", a, id);
}

bool continued_in(struct slice tail, struct arena *a, struct slice *id)
{
    struct slice row;
    bool torn, ok = true;

    *id = (struct slice){ NULL, 0 };
    if (!slice_has(tail, MARK))
        return true;
    while (ok && line_last(&tail, &row, &torn)) {
        bool marked = slice_has(row, MARK);
        bool spoken =
            slice_has(row, "\"type\":\"user\"") || slice_has(row, "\"type\":\"assistant\"");

        if ((!marked && !spoken) || !json_valid(row))
            continue;
        if (marked && names_target(row, a, id)) {
            if (!claude_is_uuid(*id))
                *id = (struct slice){ NULL, 0 };
            return true;
        }
        if (spoken && (is_answer(row) || is_prompt_row(row, a, &ok)))
            return ok;
    }
    return ok;
}

/* A long file is looked at as far as its first 16 MiB; one that has not shown itself empty by then is
 * taken for a conversation. */
static bool scan(const struct file *f)
{
    char *bytes = malloc(SCAN_STEP + SCAN_KEPT);
    size_t kept = 0, got = 0;
    bool found = false;
    int64_t at = 0;

    while (bytes && !found && at < SCAN_BYTES) {
        if (file_read(f, at, bytes + kept, SCAN_STEP, &got, NULL) || got == 0)
            break;
        size_t n = kept + got;

        found = slice_has((struct slice){ bytes, n }, CHAIN);
        kept = n < SCAN_KEPT ? n : SCAN_KEPT;
        memmove(bytes, bytes + n - kept, kept);
        at += (int64_t)got;
    }
    free(bytes);
    return found || at >= SCAN_BYTES;
}

static bool path_in_same_folder(const struct session_ref *ref, struct slice id, struct arena *a,
                                struct slice *path)
{
    size_t folder = ref->path.n - ref->id.n - (sizeof CLAUDE_SUFFIX - 1);
    char *p = arena_alloc(a, folder + id.n + sizeof CLAUDE_SUFFIX);

    if (!p)
        return false;
    memcpy(p, ref->path.p, folder);
    memcpy(p + folder, id.p, id.n);
    memcpy(p + folder + id.n, CLAUDE_SUFFIX, sizeof CLAUDE_SUFFIX);
    *path = (struct slice){ p, folder + id.n + sizeof CLAUDE_SUFFIX - 1 };
    return true;
}

bool continued_target_exists(const struct session_ref *ref, struct slice id, struct arena *a)
{
    struct slice path;
    struct window w;
    bool lives = false;

    if (!path_in_same_folder(ref, id, a, &path) || window_init(&w, NULL))
        return false;
    if (window_open(&w, AT_FDCWD, path.p, 0, NULL) == ERR_OK && window_widen(&w, NULL) == ERR_OK)
        lives = slice_has(w.head, CHAIN) || slice_has(w.tail, CHAIN) ||
                (w.file.id.size > WINDOW_BYTES && scan(&w.file));
    window_fini(&w);
    return lives;
}
