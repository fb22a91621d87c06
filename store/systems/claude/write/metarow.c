#include "store/systems/claude/write/metarow.h"

#include <fcntl.h>

#include "lite/io/line.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/scan/index.h"

/* clang-format off */
const char *const metarow_names[METAROW_TYPES + 1] = {
    [METAROW_LAST_PROMPT] = "last-prompt",     [METAROW_CUSTOM_TITLE] = "custom-title",
    [METAROW_AI_TITLE] = "ai-title",           [METAROW_TAG] = "tag",
    [METAROW_RELOCATED] = "relocated",         [METAROW_AGENT_NAME] = "agent-name",
    [METAROW_AGENT_COLOR] = "agent-color",     [METAROW_AGENT_SETTING] = "agent-setting",
    [METAROW_MODE] = "mode",                   [METAROW_PERMISSION_MODE] = "permission-mode",
    [METAROW_ATIS_LATCH] = "atis-latch",       [METAROW_WORKTREE_STATE] = "worktree-state",
    [METAROW_PR_LINK] = "pr-link",
};
/* clang-format on */

static int type_of(struct slice line)
{
    struct slice type;

    /* Only short rows can be metadata, and only those are worth a parse. */
    if (line.n > WINDOW_BYTES || !json_valid(line) || !json_get(line, "type", &type))
        return -1;
    for (int t = 0; t < METAROW_TYPES; t++)
        if (json_string_is(type, metarow_names[t]))
            return t;
    return -1;
}

/* From the end backwards: the first of a type that is met is the newest. */
static bool take_newest(struct slice bytes, int64_t offset, bool cut_front, struct arena *a,
                        struct metarows *out)
{
    struct slice rest = bytes, line;
    bool torn;

    while (line_last(&rest, &line, &torn)) {
        int64_t at = offset + (line.p - bytes.p);

        if (cut_front && line.p == bytes.p)
            break; /* began before the window: not whole */
        int t = type_of(line);

        if (t < 0 || out->row[t].found)
            continue;
        out->row[t] = (struct metarow){ .found = true, .offset = at, .text = arena_copy(a, line) };
        if (!out->row[t].text.p)
            return false;
    }
    return true;
}

enum err_code metarows_near_end(const struct file *f, struct arena *a, struct metarows *out,
                                struct err *e)
{
    int64_t from = f->id.size > WINDOW_BYTES ? f->id.size - WINDOW_BYTES : 0;
    char *bytes = arena_alloc(a, WINDOW_BYTES + 1);
    bool cut_front = false;
    size_t got;

    if (!bytes)
        return err_nomem(e);
    /* One byte more than the window tells whether its first line is whole. */
    int64_t start = from > 0 ? from - 1 : 0;
    enum err_code rc = file_read(f, start, bytes, (size_t)(f->id.size - start), &got, e);

    if (rc)
        return rc;
    struct slice window = { bytes, got };

    if (from > 0 && got > 0) {
        cut_front = bytes[0] != '\n';
        window = (struct slice){ bytes + 1, got - 1 };
    }
    bool torn = got > 0 && bytes[got - 1] != '\n';
    struct metarows found = { .size = f->id.size, .end = f->id.size + torn };

    if (!take_newest(window, from, cut_front, a, &found))
        return err_nomem(e);
    *out = found;
    return ERR_OK;
}

enum err_code metarows_of(const char *path, struct arena *a, struct metarows *out, struct err *e)
{
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, path, FILE_FOLLOW, &f, e);

    if (rc)
        return rc;
    rc = metarows_near_end(&f, a, out, e);
    file_close(&f);
    return rc;
}

static enum err_code read_metarow(const struct file *f, const struct index_line *line,
                                  struct arena *a, struct metarow *row, struct err *e)
{
    char *p = arena_alloc(a, line->length + 1);
    size_t got;

    if (!p)
        return err_nomem(e);
    enum err_code rc = file_read(f, line->offset, p, line->length, &got, e);

    if (rc)
        return rc;
    *row = (struct metarow){ .found = got == line->length,
                             .offset = line->offset,
                             .text = { p, got } };
    return ERR_OK;
}

enum err_code metarows_anywhere(const struct file *f, const atomic_bool *stop, struct arena *a,
                                struct metarows *out, struct err *e)
{
    static const struct index_keys keys = { .type = "type", .kinds = metarow_names };
    struct index ix = { 0 };
    struct metarows found = { .size = f->id.size };
    enum err_code rc = index_build(&ix, f, &keys, 0, stop, e);

    for (size_t i = ix.n; i > 0 && !rc; i--) {
        const struct index_line *line = &ix.line[i - 1];

        if (line->state != LINE_OK || line->kind == 0 || line->length > WINDOW_BYTES ||
            found.row[line->kind - 1].found)
            continue;
        rc = read_metarow(f, line, a, &found.row[line->kind - 1], e);
        if (!json_valid(found.row[line->kind - 1].text))
            found.row[line->kind - 1].found = false;
    }
    found.end = found.size + ix.torn_tail;
    index_fini(&ix);
    if (!rc)
        *out = found;
    return rc;
}

struct slice metarow_value(const struct metarow *row, const char *key, struct arena *a)
{
    struct slice text = { NULL, 0 };

    if (row->found && json_get_text(row->text, key, a, &text))
        return text;
    return (struct slice){ NULL, 0 };
}
