#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/io/rows.h"
#include "lite/json/json.h"
#include "lite/scan/field.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/journal/contents.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/plugin/plugin.h"

/* Writes sessions of the store to this machine. Rows go to the change as they arrive (store/journal/contents.h), and a
 * local transcript is compared row by row, so a session may be larger than the memory that a pull should take. */

enum {
    LOCAL_MAX = 1 << 30,
    PIECE = 64 << 10,
    SMALL = 256 << 10,    /* contents up to this size stay in memory, */
    SMALL_MOST = 8 << 20, /* up to this size of all of them */
};

enum err_code plugin_local_folder(const struct plugin_store *p, const struct session_ref *ref,
                                  struct slice dir, struct arena *a, const char **out,
                                  struct err *e)
{
    struct slice name = { NULL, 0 };
    char *config;

    TRY(config_dir_default(p->base.env, &config, e));
    if (dir.n)
        name = config_dir_project_name(dir, a);
    else if (host_id_is_plain(ref->folder))
        name = config_dir_flatten(ref->folder, a);
    *out = name.n ? arena_format(a, "%s/projects/%.*s", config, SLICE_ARG(name)) : NULL;
    free(config);
    if (!name.n && !a->failed)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "retrieve: neither its rows nor its project name a directory");
    NEED(*out);
    return ERR_OK;
}

struct retrieving {
    const struct plugin_store *p;
    const struct session_ref *ref;
    const struct retrieve_request *req;
    struct change *change;
    struct retrieved out;
    const char *folder;
    size_t small; /* bytes of contents in memory */
    struct err *e;
};

static struct contents new_contents(const struct retrieving *r)
{
    return (struct contents){ .change = r->change,
                              .env = r->p->base.env,
                              .counted = r->req->dry_run,
                              .most = r->small < SMALL_MOST ? SMALL : 0 };
}

/* ---- the rows of one key ---- */

struct stored {
    struct contents rows; /* ended */
    struct slice bytes;
    struct step_part part;
    struct buf metadata, line; /* metadata: the document about a sub-agent */
    struct idset ids;          /* what each row is */
    int64_t *end;              /* by the number of the row: where it ends; owned */
    /* By the number: 1 if it was found here, or is about a request, which makes neither side newer; owned. */
    uint8_t *passed;
    size_t ends, passes, here; /* here: how many have a 1 */
    bool agent;
    struct slice dir; /* the session's directory, in the arena */
    struct retrieving *r;
    struct err why;
};

static void stored_fini(struct stored *s, bool unused)
{
    contents_fini(&s->rows, unused);
    buf_fini(&s->metadata);
    buf_fini(&s->line);
    idset_fini(&s->ids);
    free(s->end);
    free(s->passed);
}

/* A store that cannot refuse repeated rows may have them, and the uuid of a row shows that they are the same. */
static enum err_code row_is_repeated(struct stored *s, struct slice line, struct slice uuid,
                                     bool *is)
{
    const int64_t end = s->end[idset_find(&s->ids, id128_of(uuid))], n = (int64_t)line.n;
    const size_t before = end > n; /* the newline of the row before it */
    AUTO_BUF there = { 0 };

    *is = s->rows.counted;
    if (*is || end < n)
        return ERR_OK;
    if (buf_reserve(&there, line.n + before))
        return ERR_NOMEM;
    TRY(contents_read(&s->rows, end - n - (int64_t)before, there.p, line.n + before, &s->why));
    *is = (!before || there.p[0] == '\n') && memcmp(there.p + before, line.p, line.n) == 0;
    return ERR_OK;
}

static enum err_code add_stored_row(struct stored *s, struct slice line)
{
    AUTO_ARENA a = { 0 };
    struct slice row = { line.p, line.n - 1 }, uuid;
    const bool named = json_get_text(row, "uuid", &a, &uuid) && uuid.n;
    const bool request = row_is_request(row);
    bool is_new = false, repeated = false;

    if (a.failed)
        return ERR_NOMEM;
    if (named || !request)
        TRY(row_set_add(&s->ids, row, &is_new));
    if (named && !is_new)
        TRY(row_is_repeated(s, line, uuid, &repeated));
    if (repeated)
        return ERR_OK;
    TRY(contents_add(&s->rows, line, &s->why));
    if (!is_new)
        return ERR_OK;
    if (!array_reserve(s->end, s->ends, s->ids.n) || !array_reserve(s->passed, s->passes, s->ids.n))
        return ERR_NOMEM;
    s->end[s->ids.n - 1] = s->rows.n;
    s->passed[s->ids.n - 1] = request;
    s->here += request;
    return ERR_OK;
}

static enum err_code store_row(int64_t position, struct slice row, void *arg)
{
    struct stored *s = arg;

    (void)position;
    if (s->agent && json_valid(row) && json_get_is(row, "type", "agent_metadata")) {
        s->metadata.n = 0;
        return json_remove(&s->metadata, row, "type");
    }
    s->line.n = 0;
    TRY(plugin_row_add(&s->line, row, plugin_reorders(s->r->p)));
    if (!s->agent && !s->dir.n) {
        struct arena *arena = &s->r->out.arena;

        if (!field_first(buf_slice(&s->line), true, "cwd", arena, &s->dir) ||
            (s->dir.n && !(s->dir = arena_copy(arena, s->dir)).p))
            return ERR_NOMEM;
    }
    return add_stored_row(s, buf_slice(&s->line));
}

static enum err_code read_stored(struct retrieving *r, const struct reprise_plugin_key *key,
                                 struct stored *out)
{
    *out = (struct stored){ .rows = new_contents(r), .agent = key->subpath != NULL, .r = r };
    enum err_code rc = plugin_read(r->p, key, 0, NULL, store_row, out, r->e);

    if (rc && out->why.code && r->e)
        *r->e = out->why;
    return rc || r->req->dry_run ? rc : contents_end(&out->rows, &out->bytes, &out->part, r->e);
}

/* ---- the transcript on this machine ---- */

/* Lines that only this machine has, and where they belong among those of the store. */
struct kept_lines {
    int64_t to, at, n;
};

struct local_transcript {
    struct file file;
    struct stored *stored;
    int64_t at;     /* the next line */
    bool only_here; /* it has a row that the store lacks */
    /* Rows about requests stay behind the row that they follow here. */
    struct kept_lines *kept; /* owned */
    size_t n, cap;
    struct kept_lines now; /* the lines between the row that was found last and the next one */
    bool requests;         /* among them */
    bool no_memory;
};

static bool keep_lines(struct local_transcript *l)
{
    l->now.n = l->at - l->now.at;
    if (!l->requests)
        return true;
    if (!array_reserve(l->kept, l->cap, l->n + 1))
        return false;
    l->kept[l->n++] = l->now;
    l->requests = false;
    return true;
}

static bool compare_local_row(struct slice row, void *arg)
{
    struct local_transcript *l = arg;
    struct stored *s = l->stored;
    const int64_t next = l->at + (int64_t)row.n + (l->at + (int64_t)row.n < l->file.id.size);
    uint32_t number;

    if (row.n && row_is_request(row)) {
        l->requests = true;
    } else if (row.n) {
        l->no_memory = row_set_find(&s->ids, s->passed, row, &number) != ERR_OK;
        l->only_here = !l->no_memory && number == IDSET_NONE;
        if (l->no_memory || l->only_here)
            return false;
        if (!s->passed[number]) {
            s->passed[number] = 1;
            s->here++;
            l->no_memory = !keep_lines(l);
            l->now = (struct kept_lines){ .to = s->end[number], .at = next };
        }
    }
    l->at = next;
    return !l->no_memory;
}

/* If only one side has rows that the other lacks, it is newer. If both have, the local one is kept. */
static enum err_code compare_local(struct local_transcript *l, const char *path,
                                   enum retrieve_state *state, struct err *e)
{
    int64_t before = -1;

    if (l->file.id.size > LOCAL_MAX)
        return err_set(e, ERR_FORMAT, path, "retrieve: the file is larger than 1 GB");
    while (l->at < l->file.id.size && l->at > before && !l->no_memory && !l->only_here) {
        before = l->at; /* in several walks */
        TRY(rows_forward(&l->file, l->at, compare_local_row, l, e));
    }
    if (l->no_memory || !keep_lines(l))
        return err_nomem(e);
    if (l->at < l->file.id.size && !l->only_here)
        return err_set(e, ERR_FORMAT, path, "retrieve: a line is too long to be compared");
    *state = l->only_here                         ? RETRIEVE_LOCAL_NEWER
             : l->stored->here < l->stored->ids.n ? RETRIEVE_NEWER
                                                  : RETRIEVE_UNCHANGED;
    return ERR_OK;
}

static enum err_code add_local_lines(const struct file *from, int64_t at, int64_t n,
                                     struct contents *to, const char *path, struct err *e)
{
    AUTO_BUF piece = { 0 };
    size_t got;

    NEED(!buf_reserve(&piece, PIECE));
    for (; n > 0; at += (int64_t)got, n -= (int64_t)got) {
        TRY(err_at(e, file_read(from, at, piece.p, n < PIECE ? (size_t)n : PIECE, &got, e), path));
        if (!got)
            return err_set(e, ERR_STALE, path, "retrieve: the file was changed meanwhile");
        TRY(contents_add(to, (struct slice){ piece.p, got }, e));
    }
    return ERR_OK;
}

static enum err_code add_stored_lines(const struct contents *from, int64_t at, int64_t end,
                                      struct contents *to, struct err *e)
{
    AUTO_BUF piece = { 0 };
    size_t n;

    NEED(!buf_reserve(&piece, PIECE));
    for (; at < end; at += (int64_t)n) {
        n = end - at < PIECE ? (size_t)(end - at) : PIECE;
        TRY(contents_read(from, at, piece.p, n, e));
        TRY(contents_add(to, (struct slice){ piece.p, n }, e));
    }
    return ERR_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct kept_lines *x = a, *y = b;

    return x->to != y->to ? (x->to > y->to) - (x->to < y->to) : (x->at > y->at) - (x->at < y->at);
}

/* Adds the rows about requests of the present file to those of the store, which has all its other rows. */
static enum err_code merge_kept_lines(struct local_transcript *l, struct contents *out,
                                      const char *path, struct err *e)
{
    const struct contents *rows = &l->stored->rows;
    int64_t at = 0;

    if (l->n)
        qsort(l->kept, l->n, sizeof *l->kept, by_place);
    for (size_t i = 0; i < l->n; i++) {
        const struct kept_lines *k = &l->kept[i];
        char last;
        size_t got;

        TRY(add_stored_lines(rows, at, k->to, out, e));
        TRY(add_local_lines(&l->file, k->at, k->n, out, path, e));
        TRY(err_at(e, file_read(&l->file, k->at + k->n - 1, &last, 1, &got, e), path));
        if (!got || last != '\n')
            TRY(contents_add(out, SLICE("\n"), e));
        at = k->to;
    }
    return add_stored_lines(rows, at, rows->n, out, e);
}

/* ---- the plan ---- */

/* Plans to write the contents in the place of the local file, which is read once more. Its fd is -1 if it does not exist. */
static enum err_code put_contents(struct retrieving *r, struct slice bytes,
                                  const struct step_part *part, const struct file *here,
                                  struct contents *old, const char *path)
{
    struct step s = { .kind = STEP_PUT,
                      .path = path,
                      .bytes = bytes,
                      .bytes_part = *part,
                      .old_absent = here->fd < 0,
                      .mtime_ns = INT64_MIN,
                      .mode = here->fd < 0 ? 0600 : 0 };
    struct stat st;

    if (here->fd >= 0) {
        TRY(add_local_lines(here, 0, here->id.size, old, path, r->e));
        TRY(contents_end(old, &s.old, &s.old_part, r->e));
        if (fstat(here->fd, &st))
            return err_sys(r->e, path, "examine the file");
        const struct file_id now = file_id_of(&st);

        if (now.size != here->id.size || now.mtime_ns != here->id.mtime_ns ||
            now.ctime_ns != here->id.ctime_ns)
            return err_set(r->e, ERR_STALE, path, "retrieve: the file was changed meanwhile");
    }
    r->small += s.bytes.n + s.old.n;
    return change_add(r->change, &s, r->e);
}

static struct retrieve_item *new_item(struct retrieving *r)
{
    struct arena *a = &r->out.arena;
    struct retrieve_item *more = arena_grow(a, r->out.item, r->out.n, sizeof *more);

    if (!more)
        return NULL;
    r->out.item = more;
    struct retrieve_item *item = &more[r->out.n++];

    *item = (struct retrieve_item){ .session = arena_copy(a, r->ref->id),
                                    .agent = SLICE("Claude Code") };
    return item->session.p ? item : NULL;
}

/* Plans to write what was read to a path, if that is newer. */
static enum err_code plugin_plan_file(struct retrieving *r, struct stored *s, const char *folder,
                                      const char *path, bool *planned)
{
    struct local_transcript l = { .file = { .fd = -1 }, .stored = s };
    struct retrieve_item *item = new_item(r);

    if (!item)
        return err_nomem(r->e);
    item->path = path;
    item->folder = folder;

    /* The local file is replaced only if it lacks rows, or if the request accepts the loss of its own. */
    enum err_code rc = file_open(AT_FDCWD, path, 0, &l.file, r->e);

    item->state = RETRIEVE_NEW;
    if (!rc)
        rc = compare_local(&l, path, &item->state, r->e);
    else if (rc == ERR_NOT_FOUND)
        rc = ERR_OK;
    item->planned = item->state == RETRIEVE_NEW || item->state == RETRIEVE_NEWER ||
                    (r->req->overwrite && item->state == RETRIEVE_LOCAL_NEWER);

    if (!rc && item->planned && !r->req->dry_run) {
        struct contents merged = new_contents(r), old = new_contents(r);
        struct slice bytes = s->bytes;
        struct step_part part = s->part;

        if (item->state == RETRIEVE_NEWER && l.n) {
            rc = merge_kept_lines(&l, &merged, item->path, r->e);
            if (!rc)
                rc = contents_end(&merged, &bytes, &part, r->e);
        }
        if (!rc)
            rc = put_contents(r, bytes, &part, &l.file, &old, item->path);
        contents_fini(&merged, false);
        contents_fini(&old, false);
    }
    *planned = item->planned;
    file_close(&l.file);
    free(l.kept);
    return rc;
}

/* ---- sub-agents ---- */

/* A subpath becomes a path, so each of its parts has to be an ordinary name. */
static bool is_plain_subpath(const char *subpath)
{
    for (const char *part = subpath;; part += strcspn(part, "/") + 1) {
        struct slice name = { part, strcspn(part, "/") };

        for (size_t i = 0; i < name.n; i++)
            if ((unsigned char)name.p[i] < 0x20 || name.p[i] == '\\')
                return false;
        if (!host_id_is_plain(name))
            return false;
        if (!part[name.n])
            return true;
    }
}

/* The document belongs to the rows: whoever has the newer rows has its newer state. */
static enum err_code plan_metadata(struct retrieving *r, const struct stored *s, const char *stem)
{
    const char *path = arena_format(&r->out.arena, "%s.meta.json", stem);
    struct buf here = { 0 };
    bool same = false;

    if (!path)
        return err_nomem(r->e);
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, LOCAL_MAX, &here, r->e);
    bool exists = rc == ERR_OK;

    if (exists) {
        struct slice x = buf_slice(&here);
        struct slice y = buf_slice(&s->metadata);
        struct err *e = r->e;
        AUTO_ARENA a = { 0 };

        same = json_valid(x) && id128_eq(row_contents(x, &a), row_contents(y, &a));
        rc = a.failed ? err_nomem(e) : ERR_OK;
    }
    if (rc == ERR_NOT_FOUND || (!rc && !same)) {
        const struct step put = { .kind = STEP_PUT,
                                  .path = path,
                                  .bytes = buf_slice(&s->metadata),
                                  .old = buf_slice(&here),
                                  .old_absent = !exists,
                                  .mtime_ns = INT64_MIN,
                                  .mode = exists ? 0 : 0600 };

        rc = change_add(r->change, &put, r->e);
    }
    buf_fini(&here);
    return rc;
}

static enum err_code plan_agent(struct retrieving *r, struct reprise_plugin_key *key)
{
    struct arena *a = &r->out.arena;
    const char *stem = arena_format(a, "%s/%s/%s", r->folder, key->session, key->subpath);
    const char *path = stem ? arena_format(a, "%s.jsonl", stem) : NULL;
    struct stored s;

    if (!path)
        return err_nomem(r->e);
    const char *folder =
        arena_copy(a, (struct slice){ stem, (size_t)(strrchr(stem, '/') - stem) }).p;
    bool planned = false;

    if (!folder)
        return err_nomem(r->e);
    enum err_code rc = read_stored(r, key, &s);

    if (!rc)
        rc = plugin_plan_file(r, &s, folder, path, &planned);
    if (!rc && s.metadata.n && planned)
        rc = plan_metadata(r, &s, stem);
    stored_fini(&s, !planned);
    return rc;
}

struct subpaths {
    struct arena *a;
    const char **path;
    size_t n;
};

static enum err_code add_subpath(const char *subpath, void *arg)
{
    struct subpaths *s = arg;
    const char **more = arena_grow(s->a, s->path, s->n, sizeof(char *));

    if (!more || !(more[s->n] = arena_copy_text(s->a, subpath)))
        return ERR_NOMEM;
    s->path = more;
    s->n++;
    return ERR_OK;
}

/* Sub-agents are written before the session itself, so that a listed session has all of them. */
static enum err_code plan_agents(struct retrieving *r, struct reprise_plugin_key key)
{
    struct subpaths s = { .a = &r->out.arena };
    enum err_code rc = plugin_subkeys(r->p, &key, add_subpath, &s, r->e);

    for (size_t i = 0; i < s.n && !rc; i++) {
        key.subpath = s.path[i];
        rc = is_plain_subpath(key.subpath)
                 ? plan_agent(r, &key)
                 : err_set(r->e, ERR_UNSAFE, r->ref->path.p,
                           "retrieve: a sub-agent's name cannot be part of a path");
    }
    return rc;
}

static enum err_code plan_read_session(struct retrieving *r, struct reprise_plugin_key key,
                                       struct stored *s, bool *planned)
{
    struct arena *a = &r->out.arena;
    const char *path;

    if (!s->rows.n)
        return err_set(r->e, ERR_NOT_FOUND, r->ref->path.p, "retrieve: it has no rows");
    TRY(plugin_local_folder(r->p, r->ref, s->dir, a, &r->folder, r->e));
    path = arena_format(a, "%s/%s.jsonl", r->folder, key.session);
    if (!path)
        return err_nomem(r->e);
    TRY(plan_agents(r, key));
    return plugin_plan_file(r, s, r->folder, path, planned);
}

static enum err_code plan_session(struct retrieving *r)
{
    struct reprise_plugin_key key;
    struct stored s;
    bool planned = false;

    TRY(plugin_key_of(r->p, r->ref, &r->out.arena, &key, r->e));
    if (!host_id_is_plain(r->ref->id))
        return err_set(r->e, ERR_UNSAFE, r->ref->path.p,
                       "retrieve: its id cannot be a file's name");
    enum err_code rc = read_stored(r, &key, &s);

    if (!rc)
        rc = plan_read_session(r, key, &s, &planned);
    stored_fini(&s, !planned);
    return rc;
}

enum err_code plugin_retrieve(const struct store *st, const struct session_ref *ref,
                              const struct retrieve_request *req, struct change *c,
                              struct retrieved *out, struct err *e)
{
    struct retrieving r = { .p = plugin_of(st), .ref = ref, .req = req, .change = c, .e = e };
    enum err_code rc = req->at.n ? err_set(e, ERR_UNSUPPORTED, ref->path.p,
                                           "retrieve: its store keeps no checkpoints")
                                 : plan_session(&r);

    if (rc)
        retrieved_fini(&r.out);
    else
        *out = r.out;
    return rc;
}
