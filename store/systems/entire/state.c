#include "store/systems/entire/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/disk.h"
#include "store/systems/entire/names.h"

enum { STATE_MAX = 64 << 20 };

/* ---- phases ---- */

static const char *const phase_names[] = {
    [PHASE_IDLE] = "idle", [PHASE_ACTIVE] = "active", [PHASE_ENDED] = "ended"
};

const char *entire_phase_name(enum entire_phase phase)
{
    return phase_names[phase];
}

enum entire_phase entire_phase_parse(struct slice text)
{
    if (slice_eq(text, SLICE("active")) || slice_eq(text, SLICE("active_committed")))
        return PHASE_ACTIVE;
    return slice_eq(text, SLICE("ended")) ? PHASE_ENDED : PHASE_IDLE;
}

enum entire_phase entire_phase_after(enum entire_phase phase, enum entire_event event)
{
    static const enum entire_phase after[][EVENT_COUNT] = {
        /* clang-format off */
        [PHASE_IDLE] = { PHASE_ACTIVE, PHASE_IDLE, PHASE_IDLE, PHASE_IDLE, PHASE_ENDED },
        [PHASE_ACTIVE] = { PHASE_ACTIVE, PHASE_IDLE, PHASE_ACTIVE, PHASE_ACTIVE, PHASE_ENDED },
        [PHASE_ENDED] = { PHASE_ACTIVE, PHASE_ENDED, PHASE_ENDED, PHASE_IDLE, PHASE_ENDED },
        /* clang-format on */
    };

    return after[phase][event];
}

/* ---- the document ---- */

/* In the order of the table in read_texts. */
static const char *const text_keys[] = {
    "session_id",    "base_commit",     "attribution_base_commit",
    "worktree_path", "worktree_id",     "agent_type",
    "branch",        "transcript_path", "first_prompt",
    "last_prompt",   "turn_id",         "last_checkpoint_id",
};
enum { TEXTS = sizeof text_keys / sizeof *text_keys };

static bool read_texts(struct slice json, struct arena *a, struct entire_state *s)
{
    struct slice *const to[TEXTS] = {
        &s->id,           &s->base,        &s->attribution_base, &s->worktree_path,
        &s->worktree_id,  &s->agent,       &s->branch,           &s->transcript_path,
        &s->first_prompt, &s->last_prompt, &s->turn_id,          &s->last_checkpoint,
    };
    struct slice value[TEXTS];

    json_get_each(json, text_keys, TEXTS, value);
    for (size_t i = 0; i < TEXTS; i++) {
        struct slice text = SLICE("");

        if (json_type(value[i]) == JSON_STRING && !json_text(value[i], a, &text))
            return false;
        *to[i] = arena_copy(a, text);
        if (!to[i]->p)
            return false;
    }
    return true;
}

static int64_t time_at(struct slice json, const char *key)
{
    char text[64];
    struct slice value;
    int64_t ms;

    if (!json_get(json, key, &value) || value.n < 2 || value.n > sizeof text)
        return TIME_NONE;
    return time_parse((struct slice){ value.p + 1, value.n - 2 }, &ms) ? ms : TIME_NONE;
}

static int64_t number_at(struct slice json, const char *key)
{
    struct slice value;
    int64_t n;

    return json_get(json, key, &value) && json_int(value, &n) ? n : 0;
}

static void read_numbers(struct slice json, struct entire_state *s)
{
    static const char *const starts[] = { "checkpoint_transcript_start",
                                          "condensed_transcript_lines",
                                          "transcript_lines_at_start" };

    for (size_t i = 0; i < sizeof starts / sizeof *starts && s->transcript_start == 0; i++)
        s->transcript_start = number_at(json, starts[i]);
    s->checkpoint_count = number_at(json, "checkpoint_count");
    s->started_ms = time_at(json, "started_at");
    s->ended_ms = time_at(json, "ended_at");
    s->interaction_ms = time_at(json, "last_interaction_time");
}

static bool read_usage(struct slice json, struct arena *a, struct entire_state *s)
{
    struct slice usage;

    if (!json_get(json, "token_usage", &usage) || json_type(usage) != JSON_OBJECT)
        usage = SLICE("");
    s->token_usage = arena_copy(a, usage);
    return s->token_usage.p != NULL;
}

/* Texts are copied. Returns false, with the reason, if the document is not a state. */
static bool parse_state(struct slice json, struct arena *a, struct entire_state *out,
                        const char **why)
{
    struct entire_state s = { 0 };
    struct slice phase = SLICE("");

    *why = "not a JSON document";
    if (!json_valid(json) || json_type(json.n ? json : SLICE(" ")) == JSON_NONE)
        return false;
    if (!read_texts(json, a, &s)) {
        *why = ERR_NOMEM_TEXT;
        return false;
    }
    *why = "the session id cannot be the name of a file";
    if (!entire_session_id_ok(s.id))
        return false;
    json_get_text(json, "phase", a, &phase);
    s.phase = entire_phase_parse(phase);
    if (!read_usage(json, a, &s)) {
        *why = ERR_NOMEM_TEXT;
        return false;
    }
    read_numbers(json, &s);
    if (s.attribution_base.n == 0)
        s.attribution_base = s.base;
    *out = s;
    return true;
}

/* ---- the file ---- */

bool state_exists(const char *dir, struct slice id)
{
    static const char *const ends[] = { ".json", ".json.tmp" };
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int n = snprintf(path, sizeof path, "%s/%.*s%s", dir, SLICE_ARG(id), ends[i]);

        if (n < 0 || (size_t)n >= sizeof path || access(path, F_OK) == 0 || errno != ENOENT)
            return true;
    }
    return false;
}

bool state_name(const char *name, struct slice *id)
{
    static const char suffix[] = ".json";
    size_t n = strlen(name), k = sizeof suffix - 1;

    if (n <= k || strcmp(name + n - k, suffix) != 0)
        return false;
    *id = (struct slice){ name, n - k };
    return true;
}

static enum err_code read_bytes(const struct file *f, const char *path, struct buf *out,
                                struct err *e)
{
    size_t got;

    if (f->id.size > STATE_MAX)
        return err_set(e, ERR_FORMAT, path, "read the state of a session: it is too large");
    out->n = 0;
    if (buf_reserve(out, (size_t)f->id.size + 1))
        return err_nomem(e);
    enum err_code rc = file_read(f, 0, out->p, (size_t)f->id.size, &got, e);

    out->n = rc ? 0 : got;
    return rc ? err_at(e, rc, path) : ERR_OK;
}

enum err_code state_read(const char *dir, const char *name, struct arena *a,
                         struct entire_state *out, struct buf *json, struct err *e)
{
    const char *path = arena_format(a, "%s/%s", dir, name), *why = "";
    struct buf own = { 0 }, *bytes = json ? json : &own;
    struct entire_state s = { 0 };
    struct slice id;
    struct file f;

    if (!path)
        return err_nomem(e);
    enum err_code rc = file_open(AT_FDCWD, path, 0, &f, e);

    if (rc)
        return rc;
    rc = read_bytes(&f, path, bytes, e);
    if (!rc && !parse_state(buf_slice(bytes), a, &s, &why))
        rc = err_set(e, ERR_FORMAT, path, "read the state of a session: %s", why);
    if (!rc && (!state_name(name, &id) || !slice_eq(id, s.id)))
        rc = err_set(e, ERR_FORMAT, path, "read the state of a session: it belongs to another one");
    s.file = f.id;
    file_close(&f);
    buf_fini(&own);
    if (!rc)
        *out = s;
    return rc;
}

enum err_code state_read_again(const char *dir, struct slice id, struct arena *a,
                               struct entire_state *out, struct buf *json, struct err *e)
{
    const char *name = arena_format(a, "%.*s.json", SLICE_ARG(id));

    return name ? state_read(dir, name, a, out, json, e) : err_nomem(e);
}

/* The order of Entire's Go struct. */
static const char *const order[] = {
    "session_id",
    "cli_version",
    "base_commit",
    "attribution_base_commit",
    "worktree_path",
    "worktree_id",
    "started_at",
    "ended_at",
    "phase",
    "turn_id",
    "turn_checkpoint_ids",
    "last_interaction_time",
    "checkpoint_count",
    "checkpoint_transcript_start",
    "condensed_transcript_lines",
    "transcript_lines_at_start",
    "untracked_files_at_start",
    "files_touched",
    "last_checkpoint_id",
    "agent_type",
    "token_usage",
    "transcript_identifier_at_start",
    "transcript_path",
    "first_prompt",
    "prompt_attributions",
    "pending_prompt_attribution",
    NULL,
};

enum err_code state_render(struct slice json, const struct go_json_member set[], size_t n,
                           struct buf *out)
{
    return go_json_document_edit(json, order, set, n, out);
}

static bool is_still(const char *dir, const char *name, const struct file_id *id)
{
    char path[8192];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == id->ino &&
           st.st_size == id->size && time_ns(st.st_mtim) == id->mtime_ns;
}

enum err_code state_change(const char *states, const struct entire_state *state,
                           const struct go_json_member set[], size_t n, struct err *e)
{
    struct arena a = { 0 };
    struct buf old = { 0 }, new = { 0 };
    struct entire_state now;
    const char *name = arena_format(&a, "%.*s.json", SLICE_ARG(state->id));
    enum err_code rc = name ? state_read(states, name, &a, &now, &old, e) : err_nomem(e);

    if (!rc && !is_still(states, name, &state->file))
        rc = err_set(e, ERR_STALE, name, "write the state of a session: it was changed meanwhile");
    if (!rc && state_render(buf_slice(&old), set, n, &new))
        rc = err_nomem(e);
    if (!rc)
        rc = disk_replace_file(states, name, buf_slice(&new), 0600, e);
    buf_fini(&old);
    buf_fini(&new);
    arena_fini(&a);
    return rc;
}

enum err_code state_create(const char *states, struct slice id, const struct go_json_member set[],
                           size_t n, struct err *e)
{
    struct buf text = { 0 };
    char name[512];
    enum err_code rc = disk_private_dir(states, e);

    snprintf(name, sizeof name, "%.*s.json", SLICE_ARG(id));
    if (!rc && state_render(SLICE("{}"), set, n, &text))
        rc = err_nomem(e);
    if (!rc)
        rc = disk_create_file(states, name, buf_slice(&text), 0600, e);
    buf_fini(&text);
    return rc;
}

/* ---- values ---- */

static struct slice kept(struct arena *a, struct buf *text, enum err_code rc)
{
    struct slice out = { NULL, 0 };

    if (!rc)
        out = arena_copy(a, buf_slice(text));
    buf_fini(text);
    return out;
}

struct slice state_text(struct arena *a, struct slice text)
{
    struct buf out = { 0 };
    struct go_json_document g;

    go_json_document_init(&g, &out);
    go_json_document_text(&g, text);
    return kept(a, &out, g.rc);
}

struct slice state_number(struct arena *a, int64_t n)
{
    const char *p = arena_format(a, "%lld", (long long)n);

    return (struct slice){ p, p ? strlen(p) : 0 };
}

struct slice state_time(struct arena *a, int64_t ms)
{
    char text[TIME_TEXT];

    time_format(ms, text);
    return state_text(a, slice_of(text));
}

struct slice state_list(struct arena *a, const struct slice *text, size_t n)
{
    struct buf out = { 0 };
    struct go_json_document g;

    go_json_document_init(&g, &out);
    go_json_document_open(&g, '[');
    for (size_t i = 0; i < n; i++)
        go_json_document_text(&g, text[i]);
    go_json_document_close(&g, ']');
    return kept(a, &out, g.rc);
}
