#include "store/systems/claude/fork/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/rewind/file_history.h"

/* The file checkpoints of a fork: one whole snapshot for each prompt, with later additions merged in, as the client's
 * own fork writes them (claude.md C2). Saved copies are linked, not copied, because they are never written to again.
 * A snapshot is copied only if all of its saved copies exist and its own row was not lost. */
struct files {
    struct fork *f;
    struct arena arena;
    const char *from, *to; /* directories of saved copies */
    struct idset written;  /* prompts whose snapshot has a row of its own */
    bool any;              /* the directory was made */
};

static enum err_code find_written(struct files *w, struct err *e)
{
    const struct index *ix = &w->f->log.file.index;

    for (size_t i = 0; i < ix->n; i++) {
        struct slice row;
        uint32_t number;

        if (!claude_line_is(&ix->line[i], CLAUDE_SNAPSHOT))
            continue;
        TRY(claude_log_row(&w->f->log, i, &row, e));
        struct id128 id = claude_id_at(row, "snapshot.messageId", &w->arena);

        if (!id128_none(id) && idset_add(&w->written, id, &number))
            return err_nomem(e);
    }
    return ERR_OK;
}

static enum err_code link_copy(struct files *w, const char *name, bool *linked, struct err *e)
{
    const char *from = arena_format(&w->arena, "%s/%s", w->from, name);
    const char *to = arena_format(&w->arena, "%s/%s", w->to, name);
    struct stat st;

    if (!from || !to)
        return err_nomem(e);
    if (lstat(from, &st) == 0)
        *linked = S_ISREG(st.st_mode);
    else if (errno == ENOENT || errno == ENOTDIR)
        *linked = false;
    else
        return err_sys(e, from, "fork: examine a saved copy");
    if (!*linked)
        return ERR_OK;
    if (!w->any) {
        TRY(disk_private_dir(w->to, e));
        w->any = true;
    }
    if (linkat(AT_FDCWD, from, AT_FDCWD, to, 0) == 0 || errno == EEXIST)
        return ERR_OK;
    return copy_tree(from, to, e);
}

/* *all: every saved copy of the snapshot is now in the new directory. */
static enum err_code link_copies(struct files *w, struct slice tracked, bool *all, struct err *e)
{
    struct json_iter it;
    struct slice key, entry, value, name;

    *all = true;
    for (bool more = json_iter_open(&it, tracked);
         *all && more && json_iter_next(&it, &key, &entry);) {
        if (!json_get(entry, "backupFileName", &value) || json_type(value) == JSON_NULL)
            continue;
        *all = json_type(value) == JSON_STRING && json_text(value, &w->arena, &name) &&
               file_history_is_backup_name(name);
        if (!*all)
            continue;
        NEED((name = arena_copy(&w->arena, name)).p);
        TRY(link_copy(w, name.p, all, e));
    }
    return ERR_OK;
}

static enum err_code claude_add_snapshot(struct files *w, struct slice snapshot, struct buf *out,
                                         struct err *e)
{
    char id[FORK_QUOTED];
    struct slice value, tracked;
    AUTO_BUF mapped = { 0 };
    struct jsonout j;
    bool all = true;

    if (!json_get(snapshot, "messageId", &value) || !fork_new_quoted(w->f, value, true, id) ||
        !idset_has(&w->written, claude_id(value, &w->arena)))
        return ERR_OK;
    if (json_get(snapshot, "trackedFileBackups", &tracked))
        TRY(link_copies(w, tracked, &all, e));
    if (!all)
        return ERR_OK;
    const struct json_edit edit = { .name = "messageId", .value = slice_of(id) };

    NEED(!json_edit(&mapped, snapshot, &edit, 1));
    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("file-history-snapshot"));
    claude_write_value(&j, "messageId", edit.value);
    claude_write_value(&j, "snapshot", buf_slice(&mapped));
    jsonout_bool_member(&j, "isSnapshotUpdate", false);
    claude_end_row(&j);
    return j.rc ? err_nomem(e) : ERR_OK;
}

void fork_generate_id(char id[UUID_STR_LEN])
{
    uuid_t random;

    uuid_generate_random(random);
    uuid_unparse_lower(random, id);
}

bool fork_new_id(const struct fork *f, struct id128 old, char id[UUID_STR_LEN])
{
    uint32_t node = id128_none(old) ? CHAIN_NONE : chain_find(&f->log.chain, old);

    if (node == CHAIN_NONE || uuid_is_null(f->id_of[node]))
        return false;
    uuid_unparse_lower(f->id_of[node], id);
    return true;
}

bool fork_new_quoted(const struct fork *f, struct slice old, bool copied, char quoted[FORK_QUOTED])
{
    AUTO_ARENA a = { 0 };
    struct slice text;

    if (json_type(old) != JSON_STRING || !json_text(old, &a, &text) ||
        !fork_new_id(f, id128_of(text), quoted + 1) ||
        (copied && !(f->log.chain.mark[chain_find(&f->log.chain, id128_of(text))] & NODE_LISTED)))
        return false;
    quoted[0] = '"';
    quoted[UUID_STR_LEN] = '"';
    quoted[UUID_STR_LEN + 1] = '\0';
    return true;
}

/* ---- what is copied ---- */

/* Random bytes are generated for many ids at a time, because a large session has hundreds of thousands. getentropy
 * returns at most 256 bytes. */
struct ids {
    uuid_t id[16];
    size_t left;
};

static void generate_uuid(struct ids *ids, uuid_t out)
{
    if (ids->left == 0) {
        if (getentropy(ids->id, sizeof ids->id)) {
            uuid_generate_random(out);
            return;
        }
        ids->left = sizeof ids->id / sizeof *ids->id;
    }
    uuid_copy(out, ids->id[--ids->left]);
    out[6] = (unsigned char)((out[6] & 0x0f) | 0x40); /* version 4 ... */
    out[8] = (unsigned char)((out[8] & 0x3f) | 0x80); /* ... of RFC 4122 */
}

static enum err_code assign_ids(struct fork *f, struct err *e)
{
    const struct index *ix = &f->log.file.index;
    struct ids ids = { .left = 0 };
    bool any = false;

    NEED(f->id_of = calloc(f->log.chain.n + 1, sizeof *f->id_of));
    for (size_t i = 0; i < ix->n; i++) {
        if (!f->keep[i] && !claude_line_is(&ix->line[i], CLAUDE_PROGRESS))
            continue;
        uint32_t node = chain_find(&f->log.chain, ix->line[i].id);

        if (node != CHAIN_NONE && uuid_is_null(f->id_of[node]))
            generate_uuid(&ids, f->id_of[node]);
        if (f->keep[i]) {
            f->log.chain.mark[node] |= NODE_LISTED;
            f->last = i;
            any = true;
        }
    }
    return any ? ERR_OK
               : err_set(e, ERR_NOT_FOUND, f->ref->id.p, "fork: the session has no messages");
}

/* ---- progress rows, which are not copied ---- */

#define ABOVE_UNKNOWN (CHAIN_NONE - 1)
#define ABOVE_VISITED (CHAIN_NONE - 2)

/* Climbs from a progress row to the first node that is not one, or that was reached before. Progress rows in a circle
 * have nothing above them; each is its own result, as in the SDK's forks. */
static void find_above_note(struct fork *f, uint32_t note)
{
    const struct chain_node *node = f->log.chain.node;
    uint32_t top = note;

    while (top != CHAIN_NONE && f->above[top] == ABOVE_UNKNOWN) {
        f->above[top] = ABOVE_VISITED;
        top = node[top].parent;
    }
    for (uint32_t n = top; n != CHAIN_NONE && f->above[n] == ABOVE_VISITED; n = node[n].parent)
        f->above[n] = n;
    uint32_t above = top == CHAIN_NONE ? CHAIN_NONE : f->above[top];

    for (uint32_t n = note; n != CHAIN_NONE && f->above[n] == ABOVE_VISITED; n = node[n].parent)
        f->above[n] = above;
}

static enum err_code find_above(struct fork *f, struct err *e)
{
    const struct chain *c = &f->log.chain;

    f->above = malloc((c->n + 1) * sizeof *f->above);
    if (!f->above)
        return err_nomem(e);
    for (uint32_t n = 0; n < c->n; n++) {
        bool progress =
            chain_has_row(c, n) && claude_line_is(claude_node_line(&f->log, n), CLAUDE_PROGRESS);

        f->above[n] = progress ? ABOVE_UNKNOWN : n;
    }
    for (uint32_t n = 0; n < c->n; n++)
        if (f->above[n] == ABOVE_UNKNOWN)
            find_above_note(f, n);
    return ERR_OK;
}

/* ---- the copy ---- */

static enum err_code claude_flush(struct buf *out, struct disk_new *to, struct err *e)
{
    enum err_code rc = disk_write(to->fd, buf_slice(out), NULL, to->path, e);

    out->n = 0;
    return rc;
}

struct staging {
    struct fork *f;
    const struct fork_request *req;
    const char *dir;         /* the directory in which the copy is made */
    const char *name;        /* the name of the copy's file */
    struct fork_result made; /* staged_files: the directory for saved copies */
    bool files;              /* there are saved copies */
};

static void files_fini(struct files *w)
{
    idset_fini(&w->written);
    arena_fini(&w->arena);
}

/* Copies the file checkpoints of the rows that are copied, in the order of the file, and their saved copies into a new
 * directory. */
static enum err_code copy_checkpoints(struct staging *s, struct buf *out, struct err *e)
{
    CLEANUP(files_fini) struct files w = { .f = s->f, .to = s->made.staged_files };
    struct claude_values snapshots = { 0 };
    AUTO_FREE uint32_t *nodes = NULL;
    size_t n = 0;

    NEED(w.from =
             arena_format(&w.arena, "%s/file-history/%s", s->f->c->base.path, s->f->ref->id.p));
    NEED(nodes = malloc((s->f->log.chain.n + 1) * sizeof *nodes));
    for (uint32_t i = 0; i < s->f->log.chain.n; i++)
        if (s->f->log.chain.mark[i] & NODE_LISTED)
            nodes[n++] = i;
    TRY(find_written(&w, e));
    TRY(claude_snapshots(&s->f->log, nodes, n, &w.arena, &snapshots, e));
    for (size_t i = 0; i < snapshots.n; i++)
        TRY(claude_add_snapshot(&w, snapshots.p[i], out, e));
    s->files = w.any;
    return w.any ? disk_sync_dir(s->made.staged_files, e) : ERR_OK;
}

static enum err_code write_transcript(struct staging *s, struct disk_new *to, struct err *e)
{
    AUTO_BUF out = { 0 };

    TRY(fork_metadata_before(s->f, &out, e));
    TRY(claude_flush(&out, to, e));
    TRY(fork_copy(s->f, to, e));
    if (s->req->with_files)
        TRY(copy_checkpoints(s, &out, e));
    TRY(fork_metadata_after(s->f, &out, e));
    TRY(fork_title(s->f, s->req->title, &out, e));
    return claude_flush(&out, to, e);
}

/* The copy is written to another directory, completely and durably, before any of it appears among the sessions. */
static enum err_code claude_stage(struct staging *s, struct err *e)
{
    CLEANUP(disk_new_discard) struct disk_new to = { .fd = -1, .dir = -1 };

    TRY(disk_private_dir(s->dir, e));
    TRY(disk_new_open(s->dir, 0600, &to, e));
    TRY(write_transcript(s, &to, e));
    return disk_new_publish(&to, s->name, e);
}

static enum err_code claude_name_places(struct staging *s, struct arena *a, struct err *e)
{
    const char *id = s->f->id;
    char forks[PATH_MAX];

    TRY(env_data_path(s->f->c->base.env, "forks", forks, e));

    struct slice source = s->f->ref->path;
    const char *slash = memrchr(source.p, '/', source.n);
    struct slice folder = { source.p, slash ? (size_t)(slash - source.p) : 0 };

    if (s->req->folder)
        folder = slice_of(s->req->folder);

    s->dir = arena_format(a, "%s", forks);
    s->name = arena_format(a, "%s" CLAUDE_SUFFIX, id);
    s->made.staged = arena_format(a, "%s/%s" CLAUDE_SUFFIX, forks, id);
    s->made.staged_files = arena_format(a, "%s/%s.files", forks, id);
    s->made.path = arena_format(a, "%.*s/%s" CLAUDE_SUFFIX, SLICE_ARG(folder), id);
    s->made.id = arena_copy(a, slice_of(id));
    if (!s->dir || !s->name || !s->made.staged || !s->made.staged_files || !s->made.path ||
        !s->made.id.p)
        return err_nomem(e);
    return ERR_OK;
}

static enum err_code copy_session(struct fork *f, const struct fork_request *req, struct change *c,
                                  struct fork_result *out, struct err *e)
{
    struct staging s = { .f = f, .req = req };

    TRY(claude_name_places(&s, &c->arena, e));
    enum err_code rc = claude_stage(&s, e);

    if (!rc) {
        /* The transcript is moved last, so that a session has its files once it appears. */
        struct step move = { .kind = STEP_MOVE, .path = s.made.staged_files, .made = true };

        if (s.files) {
            move.to = arena_format(&c->arena, "%s/file-history/%s", s.f->c->base.path, s.made.id.p);
            rc = move.to ? change_add(c, &move, e) : err_nomem(e);
        }
        move.path = s.made.staged;
        move.to = s.made.path;
        if (!rc)
            rc = change_add(c, &move, e);
    }
    if (rc) {
        change_discard_fork(&s.made);
        return rc;
    }
    if (!s.files)
        s.made.staged_files = NULL;
    *out = s.made;
    return ERR_OK;
}

/* Replaces a prefix with the whole id, if exactly one message has it; an id that is not found is left as it is. */
static enum err_code whole_id(struct fork *f, struct slice *at, struct arena *a, struct err *e)
{
    uint32_t node = CHAIN_NONE;
    struct err none;

    if (at->n >= UUID_STR_LEN - 1)
        return ERR_OK;
    enum err_code rc = claude_find_message(&f->log, *at, &node, &none);

    if (!rc)
        rc = claude_node_uuid(&f->log, node, a, at, &none);
    if (rc && rc != ERR_NOT_FOUND && e)
        *e = none;
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

/* A copy has no last-prompt rows, so a resume continues at its newest row. If a resume of the session itself would
 * continue elsewhere, for example after a resume-at, the copy ends there, as with the client's --fork-session. */
static enum err_code resumed_id(struct fork *f, struct slice *at, struct arena *a, struct err *e)
{
    uint32_t leaf = CHAIN_NONE, newest = CHAIN_NONE;
    bool cleared;

    TRY(claude_resume_leaf(&f->log, &leaf, &cleared, e));
    TRY(claude_newest_leaf(&f->log, &newest, e));
    return leaf == CHAIN_NONE || leaf == newest ? ERR_OK
                                                : claude_node_uuid(&f->log, leaf, a, at, e);
}

static void fork_fini(struct fork *f)
{
    claude_log_close(&f->log);
    free(f->keep);
    free(f->id_of);
    free(f->above);
}

enum err_code claude_fork(const struct store *st, const struct session_ref *ref,
                          const struct fork_request *req, struct change *c, struct fork_result *out,
                          struct err *e)
{
    CLEANUP(fork_fini)
    struct fork f = { .c = claude_of(st), .ref = ref, .log.file.file.fd = -1 };
    struct slice at = req->at;
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS,
                                          .as_written = true,
                                          .no_sidechain = true };

    TRY(claude_log_open(&f.log, ref->path.p, &want, e));
    fork_generate_id(f.id);
    time_format(env_now_ms(st->env), f.now);

    /* Without a message, `at` stays empty unless a resume would continue at another row than the newest. */
    TRY(at.n ? whole_id(&f, &at, &c->arena, e) : resumed_id(&f, &at, &c->arena, e));

    /* Every row of the conversation is copied, including abandoned branches. Sub-agents have files of their own. */
    const struct index *ix = &f.log.file.index;
    const unsigned kinds =
        1U << CLAUDE_USER | 1U << CLAUDE_ASSISTANT | 1U << CLAUDE_SYSTEM | 1U << CLAUDE_ATTACHMENT;

    NEED(f.keep = calloc(ix->n + 1, 1));
    for (size_t i = 0; i < ix->n; i++)
        f.keep[i] = (ix->line[i].state == LINE_OK && ix->line[i].kind < 32 &&
                     (kinds >> ix->line[i].kind & 1) && !id128_none(ix->line[i].id))
                        ? FORK_COPIED
                        : FORK_NOT;
    if (at.n)
        TRY(fork_cut(&f, at, e));
    TRY(assign_ids(&f, e));
    TRY(find_above(&f, e));
    return copy_session(&f, req, c, out, e);
}
