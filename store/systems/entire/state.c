#include "store/systems/entire/state.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/disk.h"
#include "store/systems/entire/names.h"

/* The file belongs to Entire, which may write it at any time, and whose versions add members. So a change reads the bytes
 * again, compares inode, size and time with what was read before, edits single members and replaces the file, which is
 * compared once more when it is out of the way. The transcript's start has had three names; all are read, the newest
 * first, and whoever changes the newest removes the others. */

enum { STATE_MAX = 64 << 20 };

/* ---- phases ---- */

static const char *const phase_names[] = {
    [PHASE_IDLE] = "idle", [PHASE_ACTIVE] = "active", [PHASE_ENDED] = "ended"
};

const char *entire_phase_name(enum entire_phase phase)
{
    assert(phase <= PHASE_ENDED);
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

    assert(phase <= PHASE_ENDED && event < EVENT_COUNT);
    return after[phase][event];
}

/* ---- the document ---- */

int64_t entire_number_at(struct slice json, const char *key)
{
    struct slice value;
    int64_t n;

    return json_get(json, key, &value) && json_int(value, &n) ? n : 0;
}

/* Texts are copied. Returns false, with the reason, if the document is not a state. */
static bool entire_parse_state(struct slice json, struct arena *a, struct entire_state *s,
                               const char **why)
{
    static const char *const keys[] = {
        "session_id",    "base_commit",     "attribution_base_commit",
        "worktree_path", "worktree_id",     "agent_type",
        "branch",        "transcript_path", "first_prompt",
        "last_prompt",   "turn_id",         "last_checkpoint_id",
    };
    static const char *const starts[] = { "checkpoint_transcript_start",
                                          "condensed_transcript_lines",
                                          "transcript_lines_at_start" };
    enum { TEXTS = COUNT_OF(keys) };
    struct slice value[TEXTS], usage,
        phase = SLICE(""),
        *const text[TEXTS] = {
            &s->id,           &s->base,        &s->attribution_base, &s->worktree_path,
            &s->worktree_id,  &s->agent,       &s->branch,           &s->transcript_path,
            &s->first_prompt, &s->last_prompt, &s->turn_id,          &s->last_checkpoint,
        };

    *s = (struct entire_state){ .id = SLICE("") };
    *why = "not a JSON document";
    if (json.n == 0 || !json_valid(json))
        return false;

    json_get_each(json, keys, TEXTS, value);
    for (size_t i = 0; i < TEXTS; i++)
        *text[i] = arena_copy(a, json_text_of(value[i], a));
    if (!json_get(json, "token_usage", &usage) || json_type(usage) != JSON_OBJECT)
        usage = SLICE("");
    s->token_usage = arena_copy(a, usage);
    json_get_text(json, "phase", a, &phase);
    s->phase = entire_phase_parse(phase);

    /* Older versions have other names for the start; the first one that is not 0 counts. */
    for (size_t i = 0; i < COUNT_OF(starts) && s->transcript_start == 0; i++)
        s->transcript_start = entire_number_at(json, starts[i]);
    s->checkpoint_count = entire_number_at(json, "checkpoint_count");
    s->started_ms = json_time_at(json, "started_at", a);
    s->ended_ms = json_time_at(json, "ended_at", a);
    s->interaction_ms = json_time_at(json, "last_interaction_time", a);
    if (s->attribution_base.n == 0)
        s->attribution_base = s->base;

    /* The id becomes a part of paths. */
    *why = a->failed ? ERR_NOMEM_TEXT : "the session id cannot be the name of a file";
    return !a->failed && entire_session_id_ok(s->id);
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

enum err_code state_read(const char *dir, const char *name, struct arena *a,
                         struct entire_state *out, struct buf *json, struct err *e)
{
    const char *path = arena_format(a, "%s/%s", dir, name), *why = "";
    AUTO_BUF own = { 0 };
    CLEANUP(file_close) struct file f = { .fd = -1 };
    struct buf *bytes = json ? json : &own;
    struct entire_state s;
    struct slice id;

    NEED(path);
    TRY(file_open(AT_FDCWD, path, 0, &f, e));
    if (f.id.size > STATE_MAX)
        return err_set(e, ERR_FORMAT, path, "read the state of a session: it is too large");
    enum err_code rc = file_read_part(&f, 0, (size_t)f.id.size, bytes, e);

    if (rc)
        return err_at(e, rc, path);
    if (!entire_parse_state(buf_slice(bytes), a, &s, &why))
        return err_set(e, ERR_FORMAT, path, "read the state of a session: %s", why);
    if (!state_name(name, &id) || !slice_eq(id, s.id))
        return err_set(e, ERR_FORMAT, path,
                       "read the state of a session: it belongs to another one");
    s.file = f.id;
    *out = s;
    return ERR_OK;
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

static enum err_code state_expects(const char *path, void *arg, bool *is, struct err *e)
{
    const struct buf *old = arg;
    AUTO_BUF now = { 0 };

    TRY(file_read_all(AT_FDCWD, path, 0, STATE_MAX, &now, e));
    *is = slice_eq(buf_slice(&now), buf_slice(old));
    return ERR_OK;
}

enum err_code state_change(const char *states, const struct entire_state *state,
                           const struct go_json_member set[], size_t n, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF old = { 0 };
    AUTO_BUF new = { 0 };
    struct entire_state now;
    struct disk_new f;
    const char *name = arena_format(&a, "%.*s.json", SLICE_ARG(state->id)), *path;
    struct stat st;

    NEED(name && (path = arena_format(&a, "%s/%s", states, name)));
    TRY(state_read(states, name, &a, &now, &old, e));
    if (lstat(path, &st) || !S_ISREG(st.st_mode) || st.st_ino != state->file.ino ||
        st.st_size != state->file.size || time_ns(st.st_mtim) != state->file.mtime_ns)
        return err_set(e, ERR_STALE, name,
                       "write the state of a session: it was changed meanwhile");
    NEED(!state_render(buf_slice(&old), set, n, &new));
    disk_new_sweep(states); /* temporary files that a crash left */
    TRY(disk_new_open(states, 0600, &f, e));
    enum err_code rc = disk_new_write(buf_slice(&new), &f, e);

    if (rc) {
        disk_new_discard(&f);
        return rc;
    }
    return disk_new_replace_expected(&f, name, state_expects, &old, e);
}

enum err_code state_create(const char *states, struct slice id, const struct go_json_member set[],
                           size_t n, struct err *e)
{
    AUTO_BUF text = { 0 };
    char name[512];

    assert(entire_session_id_ok(id));
    snprintf(name, sizeof name, "%.*s.json", SLICE_ARG(id));
    TRY(disk_private_dir(states, e));
    NEED(!state_render(SLICE("{}"), set, n, &text));
    return disk_create_file(states, name, buf_slice(&text), 0600, e);
}

/* ---- values ---- */

static struct slice state_list_or_text(struct arena *a, const struct slice *text, size_t n,
                                       bool list)
{
    AUTO_BUF out = { 0 };
    struct go_json_document g;

    go_json_document_init(&g, &out);
    if (list)
        go_json_document_open(&g, '[');
    for (size_t i = 0; i < n; i++)
        go_json_document_text(&g, text[i]);
    if (list)
        go_json_document_close(&g, ']');
    return g.rc ? (struct slice){ NULL, 0 } : arena_copy(a, buf_slice(&out));
}

struct slice state_text(struct arena *a, struct slice text)
{
    return state_list_or_text(a, &text, 1, false);
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
    return state_list_or_text(a, text, n, true);
}
