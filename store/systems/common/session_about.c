#include "store/systems/common/session_about.h"

#include <assert.h>
#include <fcntl.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_dirs.h"
#include "store/systems/common/usage_rows.h"

static const struct session_about *about_of(const struct session_ref *ref)
{
    return ((const struct jsonl_store *)ref->store)->format->about;
}

/* `out` is empty if the document cannot be read or is not an object. ERR_NOMEM. */
static enum err_code about_read(const struct session_ref *ref, struct buf *out)
{
    const struct session_about *about = about_of(ref);
    struct arena a = { 0 };
    size_t stem = ref->path.n - (sizeof JSONL_SUFFIX - 1);

    assert(!about->suffix || ref->path.n >= sizeof JSONL_SUFFIX);
    if (!about->suffix)
        return about->file ? session_dirs_json(ref, about->file, about->most, out) : ERR_OK;
    const char *path = arena_format(&a, "%.*s%s", (int)stem, ref->path.p, about->suffix);
    enum err_code rc = path ? file_read_all(AT_FDCWD, path, 0, about->most, out, NULL) : ERR_NOMEM;

    arena_fini(&a);
    if (rc || !json_valid(buf_slice(out)) || json_type(buf_slice(out)) != JSON_OBJECT)
        out->n = 0;
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

/* A member that the document lacks leaves the row as it is. */
static void about_set(const struct session_about *about, struct slice document,
                      struct session_row *row, struct arena *a)
{
    for (size_t i = 0; i < ABOUT_MEMBERS && about->member[i].path; i++) {
        const struct about_member *m = &about->member[i];
        void *field = (char *)row + m->field;
        struct slice value, text;
        int64_t ms;

        if (!row_value(document, m->path, &value) || !json_text(value, a, &text))
            continue;
        if (!m->time)
            *(struct slice *)field = arena_copy(a, text);
        else if (time_parse(text, &ms))
            *(int64_t *)field = ms;
    }
    row->flags |= row->parent_id.n ? SESSION_FORK : 0U;
    if (about->ai_title && row_is(document, about->ai_title))
        row->flags |= SESSION_AI_TITLE;
    if (about->archived)
        row->flags |=
            SESSION_ARCHIVED_KNOWN | (row_is(document, about->archived) ? SESSION_ARCHIVED : 0U);
}

enum err_code session_about_complete(const struct store *st, const struct scope *scope,
                                     struct session_row *row, struct arena *a, struct err *e)
{
    const struct session_about *about = about_of(&row->ref);
    struct buf document = { 0 };
    enum err_code rc = about_read(&row->ref, &document);

    if (!rc && document.n)
        about_set(about, buf_slice(&document), row, a);
    if (!row->hidden)
        row->can = CAN_RESUME | (st->ops->plan ? (unsigned)CAN_REWIND : 0u);
    if (!rc && about->complete)
        about->complete(scope, buf_slice(&document), row, a);
    if (!rc && !row->hidden) {
        bool titled = row->custom_title.n && !about->needs_prompt;

        if ((about->required && !document.n) ||
            (!row->first_prompt.n && !row->last_prompt.n && !titled))
            row->hidden = HIDDEN_EMPTY;
        else if (!config_dir_in_scope(scope, row->cwd, a))
            row->hidden = HIDDEN_COLLISION;
    }
    buf_fini(&document);
    return rc || a->failed ? err_nomem(e) : ERR_OK;
}

/* ---- tokens ---- */

static int64_t about_count(struct slice document, const char *path)
{
    struct slice number;
    int64_t n;

    return path && row_value(document, path, &number) && json_int(number, &n) && n > 0 ? n : 0;
}

static enum err_code about_report(const struct session_ref *ref, struct slice agent, usage_fn *fn,
                                  void *arg, struct err *e)
{
    const struct session_about *about = about_of(ref);
    struct usage_record u = usage_record_empty();
    struct buf text = { 0 };
    struct arena a = { 0 };
    enum err_code rc = about_read(ref, &text);
    struct slice document = buf_slice(&text), end;

    if (!rc && text.n) {
        u.input = about_count(document, about->input);
        u.output = about_count(document, about->output);

        /* Thinking counts as output, unless the sum would overflow. */
        if (u.output <= INT64_MAX - about_count(document, about->thinking))
            u.output += about_count(document, about->thinking);
        u.cache_read = about_count(document, about->cache_read);
        u.cache_write = about_count(document, about->cache_write);
        u.agent = agent;
        u.answer = u.request = about->answer ? json_text_at(document, about->answer, &a) : ref->id;
        u.model = about->model ? json_text_at(document, about->model, &a) : SLICE("");
        end = about->end ? json_text_at(document, about->end, &a) : SLICE("");
        if (!time_parse(end, &u.time_ms))
            u.time_ms = session_modified_ms(&ref->file);

        /* A session without any tokens has no record. */
        if (u.input || u.output || u.cache_read || u.cache_write)
            rc = a.failed ? ERR_NOMEM : fn(&u, arg, e);
    }
    buf_fini(&text);
    arena_fini(&a);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

enum err_code session_about_usage(const struct store *st, const struct session_ref *ref,
                                  const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = about_report(ref, SLICE(""), fn, arg, e);

    if (!rc && st->ops->subagents)
        rc = st->ops->subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; i < n && !rc; i++)
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "read token usage");
        else if (!st->ops->subagent(st, ref, ids[i], &a, &agent, NULL))
            rc = about_report(&agent, ids[i], fn, arg, e);
    arena_fini(&a);
    return rc;
}

enum err_code jsonl_files(const struct store *st, const struct session_ref *ref, bool all,
                          struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const struct session_about *about = about_of(ref);
    const int stem = (int)(ref->path.n - (sizeof JSONL_SUFFIX - 1));

    (void)st, (void)all;
    *part = NULL;
    *n = 0;
    NEED(arena_add_text(a, part, n, ref->path.p));
    if (about && about->suffix)
        NEED(arena_add_text(a, part, n,
                            arena_format(a, "%.*s%s", stem, ref->path.p, about->suffix)));
    return ERR_OK;
}
