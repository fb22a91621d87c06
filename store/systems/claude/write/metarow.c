#include "store/systems/claude/write/metarow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <utf8proc.h>

#include "lite/base/cleanup.h"
#include "lite/base/slice.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"

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

enum err_code metarow_write(enum metarow_type type, const char *key, struct slice text,
                            struct slice session, struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", slice_of(metarow_names[type]));
    jsonout_key(&j, key);
    jsonout_text(&j, text);
    jsonout_member(&j, "sessionId", session);
    claude_end_row(&j);
    return j.rc;
}

static int claude_type_of(struct slice line)
{
    struct slice type;

    /* Only short rows can be metadata, and only those are worth parsing. */
    if (line.n > WINDOW_BYTES || !json_valid(line) || !json_get(line, "type", &type))
        return -1;
    for (int t = 0; t < METAROW_TYPES; t++)
        if (json_string_is(type, metarow_names[t]))
            return t;
    return -1;
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
    /* One byte more than the window shows if its first line is whole. */
    int64_t start = from > 0 ? from - 1 : 0;

    TRY(file_read(f, start, bytes, (size_t)(f->id.size - start), &got, e));

    struct slice window = { bytes, got };

    if (from > 0 && got > 0) {
        cut_front = bytes[0] != '\n';
        window = (struct slice){ bytes + 1, got - 1 };
    }
    bool torn = got > 0 && bytes[got - 1] != '\n';
    struct metarows found = { .size = f->id.size, .end = f->id.size + torn };

    /* Backwards: the first of a type that is found is the newest. */
    struct slice rest = window, line;
    bool partial;

    while (slice_last_line(&rest, &line, &partial)) {
        if (cut_front && line.p == window.p)
            break; /* it began before the window and is not whole */
        int t = claude_type_of(line);

        if (t < 0 || found.row[t].found)
            continue;
        found.row[t] = (struct metarow){ .found = true,
                                         .offset = from + (line.p - window.p),
                                         .text = arena_copy(a, line) };
        NEED(found.row[t].text.p);
    }
    *out = found;
    return ERR_OK;
}

bool metarows_after(const struct metarows *m, struct slice lines, struct arena *a,
                    struct metarows *out)
{
    struct metarows after = *m;
    struct slice rest = lines, line;
    bool torn, ok = true;

    while (slice_line(&rest, &line, &torn)) {
        int t = claude_type_of(line);

        if (t >= 0)
            after.row[t] = (struct metarow){ .found = true,
                                             .offset = m->end + (line.p - lines.p),
                                             .text = line };
    }
    if (lines.n)
        after.size = after.end = m->end + (int64_t)lines.n;
    for (int t = 0; t < METAROW_TYPES; t++) {
        struct metarow *row = &after.row[t];

        row->found = row->found && row->offset >= after.size - WINDOW_BYTES;
        if (row->found)
            ok &= (row->text = arena_copy(a, row->text)).p != NULL;
    }
    *out = after;
    return ok;
}

enum err_code metarows_of(const char *path, struct arena *a, struct metarows *out, struct err *e)
{
    struct file f;

    TRY(file_open(AT_FDCWD, path, FILE_FOLLOW, &f, e));
    enum err_code rc = metarows_near_end(&f, a, out, e);

    file_close(&f);
    return rc;
}

/* Finds the last row of this type among whole lines that begin at `offset` in the file. */
static bool metarow_last_of(struct slice lines, int64_t offset, enum metarow_type type,
                            struct arena *a, struct metarow *out)
{
    const char *const end = lines.p + lines.n, *from = lines.p, *at;
    struct slice newest = { NULL, 0 };
    char quoted[32];

    snprintf(quoted, sizeof quoted, "\"%s\"", metarow_names[type]);
    while ((at = slice_find(from, (size_t)(end - from), quoted, strlen(quoted)))) {
        const char *before = memrchr(from, '\n', (size_t)(at - from)),
                   *after = memchr(at, '\n', (size_t)(end - at));
        struct slice line = { before ? before + 1 : from, 0 };

        from = after ? after : end;
        line.n = (size_t)(from - line.p);
        if (claude_type_of(line) == (int)type)
            newest = line;
    }
    if (!newest.p)
        return true;
    *out = (struct metarow){ .found = true,
                             .offset = offset + (newest.p - lines.p),
                             .text = arena_copy(a, newest) };
    return out->text.p != NULL;
}

/* Backwards in blocks, each of which ends where the first whole line of the block after it begins. Only lines with the
 * name of a type that is still missing are parsed, so a long transcript costs little more than reading it. A line longer
 * than a block is too long for metadata, and the part of it that begins in a block is no valid JSON. */
enum err_code metarows_anywhere(const struct file *f, unsigned types, const atomic_bool *stop,
                                struct arena *a, struct metarows *out, struct err *e)
{
    enum { BLOCK = 1 << 20 };
    AUTO_FREE char *bytes = malloc(BLOCK);
    struct metarows found = { .size = f->id.size, .end = f->id.size };
    int64_t end = f->id.size;

    NEED(bytes);
    while (end > 0 && types) {
        int64_t from = end > BLOCK ? end - BLOCK : 0;
        size_t got;

        if (stop && atomic_load(stop))
            return err_set(e, ERR_CANCELLED, "", "search for metadata: cancelled");
        TRY(file_read(f, from, bytes, (size_t)(end - from), &got, e));

        if (end == f->id.size)
            found.end += got > 0 && bytes[got - 1] != '\n';
        /* The last byte is the end of a line that began before it, or within a long one. */
        const char *nl = from > 0 && got > 0 ? memchr(bytes, '\n', got - 1) : NULL;
        const char *first = nl ? nl + 1 : bytes;
        struct slice lines = { first, from == 0 || nl ? got - (size_t)(first - bytes) : 0 };

        end = from + (first - bytes);
        for (int t = 0; t < METAROW_TYPES; t++)
            if (types & 1u << t) {
                NEED(metarow_last_of(lines, end, (enum metarow_type)t, a, &found.row[t]));
                types &= ~((unsigned)found.row[t].found << t);
            }
    }
    *out = found;
    return ERR_OK;
}

struct slice metarow_value(const struct metarow *row, const char *key, struct arena *a)
{
    struct slice text = { NULL, 0 };

    if (row->found && json_get_text(row->text, key, a, &text))
        return text;
    return (struct slice){ NULL, 0 };
}

/* Rows that are written again push other rows out of the window, so the set grows until it is stable, after at most
 * as many rounds as there are types. */
static int64_t claude_metarow_choose_rows(const struct metarows *m, size_t coming,
                                          enum metarow_type except, bool chosen[METAROW_TYPES])
{
    int64_t added = (int64_t)coming;
    bool grew = true;

    while (grew) {
        grew = false;
        for (int t = 0; t < METAROW_TYPES; t++) {
            const struct metarow *row = &m->row[t];

            if (!row->found || chosen[t] || t == (int)except)
                continue;
            if (row->offset >= m->end + added - WINDOW_BYTES)
                continue;
            chosen[t] = grew = true;
            added += (int64_t)row->text.n + 1;
        }
    }
    return added;
}

enum err_code metarows_reappend(const struct metarows *m, size_t coming, enum metarow_type except,
                                struct buf *out, size_t *rows)
{
    bool chosen[METAROW_TYPES] = { false };
    enum err_code rc = ERR_OK;
    size_t n = 0;

    claude_metarow_choose_rows(m, coming, except, chosen);
    for (int t = 0; t < METAROW_TYPES && !rc; t++) {
        if (!chosen[t])
            continue;
        rc = buf_add(out, m->row[t].text);
        if (!rc)
            rc = buf_add_byte(out, '\n');
        n++;
    }
    *rows = n;
    return rc;
}

/* Sets another leaf. It is where a resume would have continued anyway, so it is not explicit. */
static bool claude_metarow_put_leaf(struct metarow *row, struct slice leaf, struct arena *a)
{
    struct buf text = { 0 }, out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    jsonout_text(&j, leaf);
    const struct json_edit edit[] = { { .name = "leafUuid", .value = buf_slice(&text) },
                                      { .name = "explicit" } };

    row->text = j.rc || json_edit(&out, row->text, edit, 2) ? (struct slice){ NULL, 0 }
                                                            : arena_copy(a, buf_slice(&out));
    buf_fini(&text);
    buf_fini(&out);
    return row->text.p != NULL;
}

enum err_code metarows_set_leaf(struct metarows *m, const char *path, size_t coming,
                                const struct slice *leaf, struct arena *a, struct err *e)
{
    struct metarow *row = &m->row[METAROW_LAST_PROMPT];
    struct claude_resume_point point = { 0 };
    bool chosen[METAROW_TYPES] = { false };
    struct slice named, text = { NULL, 0 };
    enum err_code rc = ERR_OK;

    claude_metarow_choose_rows(m, coming, METAROW_TYPES, chosen);
    if (!chosen[METAROW_LAST_PROMPT] || !json_get(row->text, "leafUuid", &named))
        return ERR_OK;
    if (!leaf)
        rc = claude_resume_point_of(path, a, &point, e);
    if (rc)
        return rc;
    if (!leaf)
        leaf = &point.leaf;
    bool same = json_type(named) == JSON_STRING
                    ? json_text(named, a, &text) && slice_eq(text, *leaf)
                    : !leaf->n;

    /* A row that counts as missing is not written again. */
    if (same && json_get_true(row->text, "explicit"))
        row->found = false;
    else if (!same && leaf->n && !claude_metarow_put_leaf(row, *leaf, a))
        rc = err_nomem(e);
    return rc;
}

enum err_code metarows_leave_worktree(struct metarows *m, struct arena *a, struct err *e)
{
    struct metarow *row = &m->row[METAROW_WORKTREE_STATE];
    struct slice value, path;
    struct buf out = { 0 };
    const char *name;

    if (!row->found || !json_at(row->text, "worktreeSession.worktreePath", &value) ||
        json_type(value) != JSON_STRING)
        return ERR_OK;
    if (!json_text(value, a, &path) || !(name = arena_copy(a, path).p))
        return err_nomem(e);
    if (!path.n || access(name, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
        return ERR_OK;
    if (json_set(&out, row->text, "worktreeSession", SLICE("null")) == ERR_OK)
        row->text = arena_copy(a, buf_slice(&out));
    else
        row->text.p = NULL;
    row->offset = INT64_MIN / 2; /* outside of every window */
    buf_fini(&out);
    return row->text.p ? ERR_OK : err_nomem(e);
}

/* Searches between the two windows of a long transcript for a title or tag that its writer did not keep near the
 * end. */

struct full_scan {
    struct session_row *row;
    bool found, ok;
};

static void claude_metarow_set_text(struct full_scan *d, struct slice *text, struct slice value)
{
    if (value.n == 0)
        return;
    *text = arena_copy(&d->row->arena, value);
    d->ok &= text->p != NULL;
    d->found = true;
}

/* A title that a person set, wherever it is, takes precedence over one that the agent generated. */
static void claude_set_title(struct full_scan *d, const struct metarows *m, struct arena *a)
{
    struct session_row *row = d->row;
    bool none = row->custom_title.n == 0;
    struct slice own = metarow_value(&m->row[METAROW_CUSTOM_TITLE], "customTitle", a);

    if (own.n)
        row->flags &= ~(unsigned)SESSION_AI_TITLE;
    else if (none && (own = metarow_value(&m->row[METAROW_AI_TITLE], "aiTitle", a)).n)
        row->flags |= SESSION_AI_TITLE;
    claude_metarow_set_text(d, &row->custom_title, own);
    if (!own.n || !d->ok)
        return;
    row->summary = row->custom_title;
    row->shown_title = (struct slice){ NULL, 0 };
    d->ok = prompt_without_tags(row->summary, &row->arena, &row->shown_title);
}

enum err_code claude_full_scan(const struct store *st, const struct session_ref *ref,
                               const atomic_bool *cancel, struct session_row *row, bool *found,
                               struct err *e)
{
    const unsigned titles = 1u << METAROW_CUSTOM_TITLE | 1u << METAROW_AI_TITLE,
                   wanted = (session_wants_title(row) ? titles : 0) |
                            (row->tag.n == 0 ? 1u << METAROW_TAG : 0);
    struct full_scan d = { .row = row, .ok = true };
    struct arena a = { 0 };
    struct metarows m;
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, 0, &f, e);

    (void)st;
    if (rc)
        return rc;

    /* The whole file is searched, so only for what the row still lacks. */
    rc = metarows_anywhere(&f, wanted, cancel, &a, &m, e);
    file_close(&f);
    if (!rc && session_wants_title(row))
        claude_set_title(&d, &m, &a);
    if (!rc && row->tag.n == 0)
        claude_metarow_set_text(&d, &row->tag, metarow_value(&m.row[METAROW_TAG], "tag", &a));
    if (!rc && !d.ok)
        rc = err_nomem(e);
    arena_fini(&a);
    if (!rc)
        *found = d.found;
    return rc;
}

/* ---- tags ---- */

enum { MOST_ROUNDS = 10 };

static bool is_ascii(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    return true;
}

static bool goes(uint32_t cp)
{
    if (cp >= 0xD800 && cp <= 0xDFFF)
        return false; /* a lone surrogate is in no category below */
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN: return true;
    default: return cp == 0xFEFF;
    }
}

static enum err_code add_nfkc(struct slice valid, struct buf *out)
{
    AUTO_FREE utf8proc_uint8_t *nfkc = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)valid.p, (utf8proc_ssize_t)valid.n,
                                      &nfkc, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);

    return n < 0 ? ERR_NOMEM : buf_add(out, (struct slice){ (char *)nfkc, (size_t)n });
}

/* Normalises the parts between lone surrogates, which utf8proc rejects and JavaScript keeps. */
static enum err_code normalise(struct slice tag, struct buf *out)
{
    struct slice rest = tag;
    const char *from = tag.p;
    enum err_code rc = ERR_OK;

    while (rest.n && !rc) {
        const char *at = rest.p;
        uint32_t cp = utf8_next(&rest, true);

        if (cp < 0xD800 || cp > 0xDFFF)
            continue;
        rc = add_nfkc((struct slice){ from, (size_t)(at - from) }, out);
        if (!rc)
            rc = buf_add(out, (struct slice){ at, (size_t)(rest.p - at) });
        from = rest.p;
    }
    return rc ? rc : add_nfkc((struct slice){ from, (size_t)(tag.p + tag.n - from) }, out);
}

bool metarow_tag_text(struct slice tag, struct arena *a, struct slice *out)
{
    struct buf scratch = { 0 }, now = { 0 };
    bool settled = is_ascii(tag), failed = false;
    struct slice text = tag;

    for (int i = 0; i < MOST_ROUNDS && !settled && !failed; i++) {
        /* Normalise the text, and leave out the characters that a tag may not have. */
        struct slice rest;
        char bytes[4];

        scratch.n = now.n = 0;
        enum err_code rc = normalise(text, &scratch);

        rest = buf_slice(&scratch);
        while (rest.n && !rc) {
            uint32_t cp = utf8_next(&rest, true);

            if (!goes(cp))
                rc = buf_add(&now, (struct slice){ bytes, utf8_encode(bytes, cp) });
        }

        failed = rc != ERR_OK;

        settled = !failed && slice_eq(text, buf_slice(&now));
        text = failed ? text : arena_copy(a, buf_slice(&now));
        failed = failed || !text.p;
    }
    buf_fini(&scratch);
    buf_fini(&now);
    if (settled)
        *out = utf8_js_trim(text);
    return settled;
}
