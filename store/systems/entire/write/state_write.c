#include "store/systems/entire/write/state_write.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/fs/disk.h"

enum { STATE_MAX = 64 << 20 };

/* Go's struct (entire.md 2.2). */
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

enum err_code state_change(const struct entire *x, const struct entire_state *state,
                           const struct go_json_member set[], size_t n, struct err *e)
{
    struct arena a = { 0 };
    struct buf old = { 0 }, new = { 0 };
    struct entire_state now;
    const char *name = arena_format(&a, "%.*s.json", SLICE_ARG(state->id));
    enum err_code rc = name ? state_read(x->states, name, &a, &now, &old, e) : err_nomem(e);

    if (!rc && !is_still(x->states, name, &state->file))
        rc = err_set(e, ERR_STALE, name, "write the state of a session: it was changed meanwhile");
    if (!rc && state_render(buf_slice(&old), set, n, &new))
        rc = err_nomem(e);
    if (!rc)
        rc = disk_replace_file(x->states, name, buf_slice(&new), 0600, e);
    buf_fini(&old);
    buf_fini(&new);
    arena_fini(&a);
    return rc;
}

enum err_code state_create(const struct entire *x, struct slice id,
                           const struct go_json_member set[], size_t n, struct err *e)
{
    struct disk_new f;
    struct buf text = { 0 };
    char name[512];
    enum err_code rc = disk_private_dir(x->states, e);

    snprintf(name, sizeof name, "%.*s.json", SLICE_ARG(id));
    if (!rc && state_render(SLICE("{}"), set, n, &text))
        rc = err_nomem(e);
    if (!rc)
        rc = disk_new_open(x->states, 0600, &f, e);
    if (!rc) {
        rc = disk_write(f.fd, buf_slice(&text), NULL, name, e);
        if (rc)
            disk_new_discard(&f);
        else
            rc = disk_new_publish(&f, name, e);
    }
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
