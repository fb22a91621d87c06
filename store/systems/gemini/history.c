#include "store/systems/gemini/gemini.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/systems/common/inferred.h"

enum { READ_MAX = 256 << 20 };

/* The position of the calls of a message. */
struct place {
    size_t at;
    int64_t time_ms;
};

/* ---- edits and commands ---- */

static const char *gemini_clean_path(const struct gemini_history *h, struct slice path,
                                     struct arena *a)
{
    if (!path.n || memchr(path.p, '\0', path.n) || (path.p[0] != '/' && !h->cwd))
        return NULL;
    path = arena_copy(a, path);
    return path.p ? path_normalize(h->cwd ? h->cwd : "", path.p, a) : NULL;
}

static void add_shell(struct gemini_history *h, struct slice call, struct place where)
{
    struct slice dir, command = { NULL, 0 };
    struct gemini_shell *list = arena_grow(&h->arena, h->shell, h->shells, sizeof *list);

    if (!json_at(call, "args.dir_path", &dir))
        command = json_copy_at(call, "args.command", &h->arena);
    if (!list)
        return;
    h->shell = list;
    list[h->shells++] = (struct gemini_shell){ command, where.at, where.time_ms };
}

static void gemini_add_edit(struct gemini_history *h, struct gemini_edit x)
{
    struct gemini_edit *list =
        x.path ? arena_grow(&h->arena, h->edit, h->edits, sizeof *list) : NULL;

    if (!list)
        return;
    h->edit = list;
    list[h->edits++] = x;
}

/* Reads an edit whose result is only a sentence. An edit that replaces an empty text creates the
 * file, and fails if it exists. */
static void add_replacement(struct gemini_history *h, struct slice call, bool writes,
                            struct place where)
{
    struct arena *a = &h->arena;
    struct slice old, new;
    struct gemini_edit x = { .path =
                                 gemini_clean_path(h, json_text_at(call, "args.file_path", a), a),
                             .at = where.at,
                             .time_ms = where.time_ms };

    x.known = x.is_new = !writes && json_at(call, "args.old_string", &old) &&
                         json_type(old) == JSON_STRING && old.n == 2 &&
                         json_at(call, "args.new_string", &new) && json_type(new) == JSON_STRING;
    if (x.known)
        x.after = json_text_at(call, "args.new_string", a);
    gemini_add_edit(h, x);
}

static void gemini_history_read_message(struct gemini_history *h, struct slice raw,
                                        struct place where)
{
    struct slice list, key, call;
    struct json_iter it;

    if (!json_get(raw, "toolCalls", &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return;
    while (json_iter_next(&it, &key, &call)) {
        struct arena scratch = { 0 };
        struct slice name = json_text_at(call, "name", &scratch), display;
        bool done = slice_eq(json_text_at(call, "status", &scratch), SLICE("success"));
        bool writes = slice_eq(name, SLICE("write_file"));

        if (slice_eq(name, SLICE("run_shell_command"))) {
            if (!inferred_only_reads(json_text_at(call, "args.command", &scratch)))
                add_shell(h, call, where);
        } else if (done && json_get(call, "resultDisplay", &display) &&
                   json_type(display) == JSON_OBJECT) {
            /* The line ends of `before`: write_file records the file's, and replace line feeds. */
            struct arena *a = &h->arena;
            struct slice before, after;
            struct gemini_edit x = { .path = gemini_clean_path(
                                         h, json_text_at(display, "filePath", a), a),
                                     .is_new = json_get_true(display, "isNewFile"),
                                     .is_exact = writes,
                                     .at = where.at,
                                     .time_ms = where.time_ms };

            x.known = json_get(display, "newContent", &after) && json_type(after) == JSON_STRING &&
                      (x.is_new || (json_get(display, "originalContent", &before) &&
                                    json_type(before) == JSON_STRING));
            if (x.known) {
                x.after = json_text_at(display, "newContent", a);
                x.before = json_text_at(display, "originalContent", a);
            }
            gemini_add_edit(h, x);
        } else if (done && (writes || slice_eq(name, SLICE("replace")))) {
            add_replacement(h, call, writes, where);
        }
        arena_fini(&scratch);
    }
}

/* ---- sub-agents ---- */

/* The last message of the session that had been written by that time. */
static size_t place_at(const struct gemini_history *h, const int64_t *times, int64_t time_ms)
{
    size_t at = 0;

    for (size_t i = 0; i < h->chat.ever_n; i++)
        if (times[i] <= time_ms)
            at = i;
    return at;
}

/* A log that cannot be read is skipped: its edits are unknown. */
static enum err_code gemini_read_subagent(struct gemini_history *h, const int64_t *times,
                                          const char *path, struct err *e)
{
    struct gemini_chat chat;
    struct arena a = { 0 };
    enum err_code rc = gemini_chat_read(path, READ_MAX, &chat, NULL);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    for (size_t i = 0; i < chat.ever_n; i++) {
        int64_t time_ms = json_time_at(chat.ever[i].raw, "timestamp", &a);
        struct slice raw = arena_copy(&h->arena, chat.ever[i].raw);

        gemini_history_read_message(h, raw, (struct place){ place_at(h, times, time_ms), time_ms });
    }
    bool failed = a.failed;

    arena_fini(&a);
    gemini_chat_fini(&chat);
    return failed ? err_nomem(e) : ERR_OK;
}

/* ---- the history ---- */

void gemini_history_fini(struct gemini_history *h)
{
    gemini_chat_fini(&h->chat);
    arena_fini(&h->arena);
}

enum err_code gemini_history_read(const struct store *st, const struct session_ref *ref,
                                  struct gemini_history *out, struct err *e)
{
    struct gemini_history h = { .edits = 0 };
    enum err_code rc = gemini_chat_read(ref->path.p, READ_MAX, &h.chat, e);

    if (rc)
        return rc;
    struct slice cwd = gemini_project(ref, NULL, &h.arena);

    int64_t *times = arena_zalloc(&h.arena, (h.chat.ever_n + 1) * sizeof *times);

    h.cwd = cwd.n ? cwd.p : NULL;
    for (size_t i = 0; times && i < h.chat.ever_n; i++) {
        times[i] = json_time_at(h.chat.ever[i].raw, "timestamp", &h.arena);
        gemini_history_read_message(&h, h.chat.ever[i].raw, (struct place){ i, times[i] });
    }
    struct session_ref agent;
    struct slice *ids = NULL;
    size_t n = 0;

    if (times)
        rc = gemini_subagents(st, ref, &h.arena, &ids, &n, e);
    for (size_t i = 0; !rc && i < n; i++)
        if (!gemini_subagent(st, ref, ids[i], &h.arena, &agent, NULL))
            rc = gemini_read_subagent(&h, times, agent.path.p, e);
    if (!rc && h.arena.failed)
        rc = err_nomem(e);
    if (rc) {
        gemini_history_fini(&h);
        return rc;
    }
    /* Sort the edits by message, and those of one message by time. */
    for (size_t i = 1; i < h.edits; i++) {
        struct gemini_edit x = h.edit[i];
        size_t k = i;

        for (; k > 0 && (h.edit[k - 1].at > x.at ||
                         (h.edit[k - 1].at == x.at && h.edit[k - 1].time_ms > x.time_ms));
             k--)
            h.edit[k] = h.edit[k - 1];
        h.edit[k] = x;
    }
    *out = h;
    return ERR_OK;
}

size_t gemini_history_place(const struct gemini_history *h, struct slice id)
{
    size_t i = 0;

    while (i < h->chat.ever_n && !slice_eq(h->chat.ever[i].id, id))
        i++;
    return i;
}

bool gemini_history_shell(const struct gemini_history *h, size_t from, size_t to)
{
    for (size_t i = 0; i < h->shells; i++)
        if (h->shell[i].at >= from && h->shell[i].at < to)
            return true;
    return false;
}

bool gemini_history_shell_before(const struct gemini_history *h, size_t from,
                                 const struct gemini_edit *edit)
{
    for (size_t i = 0; i < h->shells; i++) {
        const struct gemini_shell *x = &h->shell[i];
        bool before = x->at < edit->at || (x->at == edit->at && x->time_ms <= edit->time_ms);

        if (x->at >= from && before &&
            (!h->cwd || !x->command.n ||
             (edit->is_new ? inferred_may_remove : inferred_may_change)(x->command, h->cwd,
                                                                        edit->path)))
            return true;
    }
    return false;
}

bool gemini_history_chmod(const struct gemini_history *h, size_t from, const char *path)
{
    for (size_t i = 0; i < h->shells; i++)
        if (h->shell[i].at >= from && h->cwd &&
            inferred_may_chmod(h->shell[i].command, h->cwd, path))
            return true;
    return false;
}

bool gemini_history_rewound(const struct gemini_history *h, const struct gemini_edit *edit,
                            size_t from, size_t to)
{
    for (size_t i = 0; i < h->chat.rewound_n; i++) {
        const struct gemini_rewound *r = &h->chat.rewound[i];

        if (r->at > from && r->at <= to && r->to <= edit->at && edit->at < r->at)
            return true;
    }
    return false;
}
