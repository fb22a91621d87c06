#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/io/rows.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/redact/redact.h"
#include "store/systems/plugin/plugin.h"

/* Pushes local sessions. Rows are first compared with those of the store, so an interrupted push
 * continues where it stopped, and no row is added twice: each batch is added only after the row
 * that was the newest one when the rows were compared. */

enum {
    LOCAL_MAX = 1 << 30,
    BATCH_ROWS = 500, /* as the agent's SDK sends them */
    BATCH_BYTES = 1 << 20,
    CLEAN_PIECE = 256 << 10,
    TRIES = 8, /* without a new row in the store */
};

/* A row of the file, which is read again when it is sent, or of its redacted copy; n is 0 if it is not pushed. */
struct local_row {
    int64_t at;
    uint32_t n, line;
};

/* The local rows of one key. */
struct local {
    struct file file;
    struct buf metadata;
    struct local_row *row; /* owned; rows that do not parse are left out */
    size_t n, cap;
    struct idset set; /* what each row is, by its number */
    /* While they are read. */
    const struct plugin_store *p;
    const struct plugin_push *how;
    size_t *left_out;
    int64_t at;
    uint32_t line;
    enum err_code rc;
    struct err *e;
    /* The rows without secrets. */
    struct disk_new *copy; /* without a name; owned; NULL: none */
    struct buf clean;      /* those at the end of the copy, which are not written yet */
    int64_t copied;        /* bytes before them */
};

static enum err_code write_clean(struct local *l)
{
    if (l->copy)
        TRY(disk_new_write(buf_slice(&l->clean), l->copy, l->e));
    l->copied += (int64_t)l->clean.n;
    l->clean.n = 0;
    return ERR_OK;
}

/* A row without an id is known by its contents, which therefore depend on no other row: another row may come later. */
static enum err_code redact_row_alone(struct slice row, struct buf *out,
                                      struct redact_counts *counts)
{
    struct known_values *known = counts->known;

    const bool learned = counts->learned;

    counts->known = NULL;
    counts->learned = false;
    const enum err_code rc = redact_json_rows(row, out, counts);

    known_values_free(counts->known);
    counts->known = known;
    counts->learned = learned;
    return rc;
}

/* Repeated rows with the same uuid are counted once. */
static enum err_code add_local_row(struct local *l, struct slice row)
{
    struct err *e = l->e;
    const size_t before = l->clean.n;
    int64_t at = l->at;
    bool is_new;

    if (!json_valid(row) || json_type(row) != JSON_OBJECT) {
        (*l->left_out)++;
        return ERR_OK;
    }
    if (l->how->redacted) {
        struct slice uuid;
        const bool named = json_get(row, "uuid", &uuid);

        NEED(!(named ? redact_json_rows(row, &l->clean, l->how->redacted)
                     : redact_row_alone(row, &l->clean, l->how->redacted)));
        row = (struct slice){ l->clean.p + before, l->clean.n - before };
        at = l->copied + (int64_t)before;
    }
    NEED(!row_set_add(&l->set, row, &is_new));
    if (!is_new) {
        l->clean.n = before;
        return ERR_OK;
    }
    NEED(array_reserve(l->row, l->cap, l->n + 1));
    bool pushed = l->how->requests || !row_is_request(row);

    l->row[l->n++] = (struct local_row){ at, pushed ? (uint32_t)row.n : 0, l->line };
    return l->clean.n > CLEAN_PIECE ? write_clean(l) : ERR_OK;
}

/* A last line without a newline is still being written. */
static bool take_local_row(struct slice row, void *arg)
{
    struct local *l = arg;

    l->line++;
    if (row.n && l->at + (int64_t)row.n < l->file.id.size)
        l->rc = add_local_row(l, row);
    l->at += (int64_t)row.n + 1;
    return !l->rc;
}

/* Replaces what is not a row by what has no secrets. */
static enum err_code redact_bytes(struct buf *text, struct redact_counts *counts, struct err *e)
{
    struct buf clean = { 0 };
    enum err_code rc = redact_row_alone(buf_slice(text), &clean, counts);

    buf_fini(rc ? &clean : text);
    if (rc)
        return err_nomem(e);
    *text = clean;
    return ERR_OK;
}

/* Where a new file needs a name, the operation log removes what a kill left. */
static enum err_code open_clean_copy(struct local *l)
{
    const struct store_env *env = l->p->base.env;
    char dir[PATH_MAX];

    if (!l->how->redacted || l->how->dry_run)
        return ERR_OK;
    TRY(env_state_path(env, "changes", dir, l->e));
    TRY(disk_own_dir(env->state_dir, dir, l->e));
    struct disk_new *copy = malloc(sizeof *copy);
    enum err_code rc = copy ? disk_new_open(dir, 0600, copy, l->e) : err_nomem(l->e);

    if (rc)
        free(copy);
    else
        l->copy = copy;
    return rc;
}

/* A session may be larger than the memory that a push should take, so the rows are read when they are sent, and redacted
 * ones are in a copy until then. */
static enum err_code read_local(const char *path, struct local *l)
{
    struct err *e = l->e;
    int64_t before = -1;

    TRY(file_open(AT_FDCWD, path, 0, &l->file, e));
    if (l->file.id.size > LOCAL_MAX)
        return err_set(e, ERR_FORMAT, path, "push: the file is larger than 1 GB");
    TRY(open_clean_copy(l));
    while (l->at < l->file.id.size && l->at > before && !l->rc) { /* in several walks */
        before = l->at;
        TRY(rows_forward(&l->file, l->at, take_local_row, l, e));
    }
    if (!l->rc && l->at < l->file.id.size)
        return err_set(e, ERR_FORMAT, path, "push: line %u is too long", l->line + 1);
    return l->rc ? l->rc : write_clean(l);
}

/* Reads a row again. Its id shows that it is still the same. */
static enum err_code add_row_text(const struct local *l, size_t i, const char *path,
                                  struct buf *out, struct err *e)
{
    const struct local_row *row = &l->row[i];
    const struct file from = { .fd = l->copy ? l->copy->fd : l->file.fd };
    AUTO_ARENA a = { 0 };
    struct slice text, uuid;
    size_t got = row->n;
    bool is_new;

    NEED(!buf_reserve(out, row->n));
    TRY(file_read(&from, row->at, out->p + out->n, row->n, &got, e));
    text = (struct slice){ out->p + out->n, got };
    is_new = got < row->n || (json_get_text(text, "uuid", &a, &uuid) && uuid.n &&
                              !id128_eq(id128_of(uuid), l->set.id[i]));
    if (a.failed || is_new)
        return a.failed ? err_nomem(e)
                        : err_set(e, ERR_IO, path, "push: the file was changed meanwhile");
    out->n += got;
    return ERR_OK;
}

/* The document about a sub-agent is a row in a store, which has one for each of its states. */
static enum err_code read_metadata(const char *transcript, const struct plugin_push *how,
                                   struct local *l, struct err *e)
{
    struct buf path = { 0 }, text = { 0 };
    size_t stem = strlen(transcript) - strlen(".jsonl");
    enum err_code rc = buf_addf(&path, "%.*s.meta.json", (int)stem, transcript);

    if (rc || !buf_cstr(&path))
        rc = err_nomem(e);
    else
        rc = file_read_all(AT_FDCWD, path.p, 0, LOCAL_MAX, &text, e);
    if (!rc && how->redacted)
        rc = redact_bytes(&text, how->redacted, e);
    if (rc == ERR_NOT_FOUND)
        rc = ERR_OK;
    else if (!rc && json_valid(buf_slice(&text)) && json_type(buf_slice(&text)) == JSON_OBJECT &&
             json_set(&l->metadata, buf_slice(&text), "type", SLICE("\"agent_metadata\"")))
        rc = err_nomem(e);
    buf_fini(&path);
    buf_fini(&text);
    return rc;
}

/* ---- what the store has ---- */

struct remote {
    const struct idset *local;
    uint8_t *has;          /* by the number of a local row: 1 if the store has it; owned */
    size_t rows, only;     /* only: those that are not here */
    struct id128 metadata; /* the contents of the newest document about a sub-agent */
    int64_t last;          /* position of the newest row */
};

/* The documents are states of one file, of which only the newest counts. */
static enum err_code add_remote_row(int64_t position, struct slice row, void *arg)
{
    struct remote *r = arg;
    struct arena a = { 0 };
    uint32_t number;
    enum err_code rc = ERR_OK;

    r->last = position > r->last ? position : r->last;
    if (json_get_is(row, "type", "agent_metadata")) {
        r->metadata = row_contents(row, &a);
        rc = a.failed ? ERR_NOMEM : ERR_OK;
    } else {
        rc = row_set_find(r->local, r->has, row, &number);
        r->rows += !rc;
        if (!rc && number != IDSET_NONE)
            r->has[number] = 1;
        else if (!rc)
            r->only += !row_is_request(row);
    }
    arena_fini(&a);
    return rc;
}

/* ---- one key ---- */

struct pushing {
    const struct plugin_store *p;
    const struct plugin_push *how;
    struct plugin_pushed *out;
    struct err *e;
    bool began; /* the first row of the session in the store is from this push */
};

/* Adds the rows that the store lacks, from *at on, in one call; the document about a sub-agent comes last. */
static enum err_code push_batch(struct pushing *x, const struct reprise_plugin_key *key,
                                const char *path, const struct local *l, struct remote *r,
                                size_t *at, bool *metadata)
{
    struct reprise_plugin_text row[BATCH_ROWS + 1];
    uint32_t line[BATCH_ROWS + 1];
    AUTO_BUF text = { 0 };
    size_t n = 0, bytes = 0, bad = 0, i = *at;
    int64_t last = 0;

    /* A row that is larger than a batch is sent alone. */
    for (; i < l->n && n < BATCH_ROWS && (n == 0 || bytes + l->row[i].n <= BATCH_BYTES); i++) {
        if (!l->row[i].n || r->has[i])
            continue;
        if (!x->how->dry_run)
            TRY(add_row_text(l, i, path, &text, x->e));
        row[n] = (struct reprise_plugin_text){ NULL, l->row[i].n };
        line[n++] = l->row[i].line;
        bytes += l->row[i].n;
    }
    for (size_t k = 0, from = 0; k < n && text.n; from += row[k++].n)
        row[k].p = text.p + from;
    if (i == l->n && *metadata) {
        row[n] = (struct reprise_plugin_text){ l->metadata.p, l->metadata.n };
        line[n++] = 1;
    }
    *metadata = *metadata && i < l->n;
    if (n == 0) {
        *at = i;
        return ERR_OK;
    }
    if (x->how->dry_run) {
        x->out->rows += n;
        *at = i;
        return ERR_OK;
    }

    /* The store refuses the batch if another program added a row since the comparison. */
    enum err_code rc = plugin_append(x->p, key, r->last, row, n, &last, &bad, x->e);

    if (rc == ERR_FORMAT && bad < n)
        return x->e ? err_set(x->e, ERR_FORMAT, path, "push: line %u: %.120s", line[bad],
                              strrchr(x->e->text, ':') ? strrchr(x->e->text, ':') + 2 : x->e->text)
                    : ERR_FORMAT;
    if (rc)
        return rc;
    x->began = x->began || (!key->subpath && r->rows + r->only == 0);
    r->last = last ? last : r->last;
    x->out->rows += n;
    *at = i;
    return ERR_OK;
}

/* Rows that only the store has were written on another machine and come first. *there: the rows that it has. */
static enum err_code push_once(struct pushing *x, const struct reprise_plugin_key *key,
                               const char *path, const struct local *l, size_t *there)
{
    struct remote r = { .local = &l->set, .has = calloc(l->set.n + 1, 1) };
    size_t at = 0;
    bool metadata = false;
    enum err_code rc = r.has ? plugin_ids(x->p, key, add_remote_row, &r, x->e) : err_nomem(x->e);

    *there = r.rows;
    if (!rc && !x->how->force && r.only > 0)
        rc = err_set(x->e, ERR_UNSAFE, path,
                     "push: the store has rows that are not here: retrieve it first (--force adds "
                     "to it anyway)");
    if (!rc) {
        /* Set *adds to whether the document about a sub-agent differs from its newest state in
         * the store. */
        struct arena a = { 0 };

        metadata =
            l->metadata.n && !id128_eq(row_contents(buf_slice(&l->metadata), &a), r.metadata);

        rc = a.failed ? err_nomem(x->e) : ERR_OK;
        arena_fini(&a);
    }
    while (!rc && (at < l->n || metadata))
        rc = push_batch(x, key, path, l, &r, &at, &metadata);
    free(r.has);
    return rc;
}

struct learning {
    struct redact_counts *counts;
    int64_t at;
    enum err_code rc;
};

static bool learn_local_row(struct slice row, void *arg)
{
    struct learning *l = arg;

    l->rc = redact_learn(row, l->counts);
    l->at += (int64_t)row.n + 1;
    return !l->rc;
}

/* Looks for secrets that stand in other rows, too. */
static enum err_code learn_key(struct pushing *x, const struct reprise_plugin_key *key,
                               const char *path)
{
    CLEANUP(file_close) struct file file = { .fd = -1 };
    struct learning l = { .counts = x->how->redacted };
    int64_t before = -1;

    (void)key;
    TRY(file_open(AT_FDCWD, path, 0, &file, x->e));
    while (l.at < file.id.size && l.at > before && !l.rc) { /* in several walks */
        before = l.at;
        TRY(rows_forward(&file, l.at, learn_local_row, &l, x->e));
    }
    return l.rc ? err_nomem(x->e) : ERR_OK;
}

static enum err_code push_key(struct pushing *x, const struct reprise_plugin_key *key,
                              const char *path)
{
    struct local l = {
        .file.fd = -1, .p = x->p, .how = x->how, .left_out = &x->out->left_out, .e = x->e
    };
    size_t there = 0, most = 0;
    enum err_code rc = read_local(path, &l);

    if (!rc && key->subpath)
        rc = read_metadata(path, x->how, &l, x->e);
    if (!rc)
        rc = ERR_STALE;
    for (int i = 0; i < TRIES && rc == ERR_STALE; i++) {
        rc = push_once(x, key, path, &l, &there);
        if (there > most) { /* another program adds the same rows */
            most = there;
            i = 0;
        }
    }
    file_close(&l.file);
    if (l.copy)
        disk_new_discard(l.copy);
    free(l.copy);
    buf_fini(&l.clean);
    buf_fini(&l.metadata);
    free(l.row);
    idset_fini(&l.set);

    return rc;
}

/* ---- a session ---- */

typedef enum err_code key_fn(struct pushing *x, const struct reprise_plugin_key *key,
                             const char *path);

static enum err_code each_pushed_agent(struct pushing *x, struct reprise_plugin_key key,
                                       const struct session_ref *local, struct arena *a, key_fn *fn)
{
    const struct store_ops *ops = local->store->ops;
    size_t side = local->path.n - strlen(".jsonl") + 1; /* <folder>/<id>/ */
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc =
        ops->subagents ? ops->subagents(local->store, local, a, &ids, &n, x->e) : ERR_OK;

    for (size_t i = 0; i < n && !rc; i++) {
        struct session_ref agent;

        rc = ops->subagent(local->store, local, ids[i], a, &agent, x->e);
        if (rc || agent.path.n <= side + strlen(".jsonl"))
            continue;
        key.subpath = arena_format(a, "%.*s", (int)(agent.path.n - side - strlen(".jsonl")),
                                   agent.path.p + side);
        rc = key.subpath ? fn(x, &key, agent.path.p) : err_nomem(x->e);
    }
    return rc;
}

/* A session that the store already has stays in its project, whatever the project's name. */
static enum err_code choose_project(struct pushing *x, const struct session_ref *local,
                                    struct arena *a, struct reprise_plugin_key *key)
{
    const struct scope everything = { .all = true };
    struct session_ref there;
    enum err_code rc = plugin_find(&x->p->base, &everything, local->id, a, &there, x->e);

    key->session = arena_copy(a, local->id).p;
    if (!rc)
        key->project = there.folder.p;
    else if (rc == ERR_NOT_FOUND)
        key->project = plugin_option(x->p, "project");
    if (!key->project)
        key->project = arena_copy(a, local->folder).p;
    x->out->is_new = rc == ERR_NOT_FOUND;
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    return a->failed ? err_nomem(x->e) : ERR_OK;
}

enum err_code plugin_push_session(const struct store *st, const struct session_ref *local,
                                  const struct plugin_push *how, struct plugin_pushed *out,
                                  struct err *e)
{
    struct pushing x = { .p = plugin_of(st), .how = how, .out = out, .e = e };
    struct reprise_plugin_key key = { .subpath = NULL };
    struct arena a = { 0 };

    *out = (struct plugin_pushed){ 0 };
    if (!x.p->table.append)
        return err_set(e, ERR_UNSUPPORTED, st->path, "push: its store is read-only");
    if (local->store->ops->open != claude_ops.open)
        return err_set(e, ERR_UNSUPPORTED, local->path.p,
                       "push: a store accepts only sessions of Claude Code");
    enum err_code rc = choose_project(&x, local, &a, &key);

    if (!rc && how->redacted) {
        known_values_free(how->redacted->known); /* those of another session */
        how->redacted->known = NULL;
        rc = learn_key(&x, &key, local->path.p);
        if (!rc)
            rc = each_pushed_agent(&x, key, local, &a, learn_key);
    }
    if (!rc) /* before the session itself, so that a listed session has them all */
        rc = each_pushed_agent(&x, key, local, &a, push_key);
    if (!rc)
        rc = push_key(&x, &key, local->path.p);
    out->is_new = how->dry_run ? out->is_new : x.began; /* others may push it, too */
    arena_fini(&a);
    return rc;
}
