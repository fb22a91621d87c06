#include "store/systems/claude/rewind/file_history.h"

#include <fcntl.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/scan/index.h"

/* The log amends and repeats the snapshots of files, and may lack some. A rewind needs one table of
 * them, from which it can look up the copy of a file that belongs to a prompt:
 *
 *   prompts of the conversation -> turns -> snapshot and delta rows -> turns without rows removed
 *   -> first and newest entries -> (by file_history_carry) entries that later snapshots lack
 *
 * A turn has the number of its prompt only until turns are removed, so no row may be read after
 * that. A snapshot replaces all entries of its turn, and a delta only one of them, so the rows have
 * to be read in the order of the file. Prompts outside of the conversation have no turn. The saved
 * copies are not opened here, so an entry is no proof that its copy exists. */

enum { HISTORY_SNAPSHOT = 1, HISTORY_DELTA }; /* indexes into the table below, from 1 */

static const char *const kinds[] = { "file-history-snapshot", "file-history-delta", NULL };

struct reader {
    struct file_history *h;
    struct idset prompts; /* the prompts of the turns; a turn has the number of its prompt */
    struct arena scratch; /* decoded texts of one row */
    struct buf row;
    struct file file;
    struct index ix;
};

/* ---- helpers ---- */

bool file_history_is_backup_name(struct slice s)
{
    size_t hex = 0, i;

    while (hex < s.n && strchr("0123456789abcdef", s.p[hex]) && s.p[hex])
        hex++;
    if ((hex != 16 && hex != 64) || s.n < hex + 3 || memcmp(s.p + hex, "@v", 2) != 0)
        return false;
    for (i = hex + 2; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

static bool get_id(struct reader *r, struct slice object, const char *key, struct id128 *id)
{
    struct slice text;
    bool found = json_get_text(object, key, &r->scratch, &text);

    if (found)
        *id = id128_of(text);
    return found;
}

static struct file_history_turn *claude_find_turn(const struct reader *r, struct id128 prompt)
{
    uint32_t number = idset_find(&r->prompts, prompt);

    return number == IDSET_NONE ? NULL : &r->h->turn[number];
}

/* ---- entries ---- */

/* A recorded text that is not a path is kept in a form that can be shown. */
static const char *keep_path(struct arena *a, struct slice path, bool *is_none)
{
    struct buf text = { 0 };
    bool ok = true;

    *is_none = path.n == 0 || memchr(path.p, '\0', path.n);
    if (!*is_none)
        return arena_copy(a, path).p;
    for (size_t i = 0; i < path.n && ok; i++)
        ok = (path.p[i] ? buf_add(&text, (struct slice){ path.p + i, 1 })
                        : buf_add(&text, SLICE("\\0"))) == ERR_OK;
    const char *kept = ok ? arena_copy(a, path.n ? buf_slice(&text) : SLICE("(no name)")).p : NULL;

    buf_fini(&text);
    return kept;
}

static bool read_backup_entry(struct reader *r, struct slice path, struct slice value,
                              struct file_history_entry *out)
{
    struct arena *a = &r->h->arena;
    struct slice name, parent, v;

    *out = (struct file_history_entry){ .valid = true };
    out->path = keep_path(a, path, &out->no_path);
    if (!out->path)
        return false;
    if (json_get_text(value, "backupFileName", &r->scratch, &name)) {
        out->valid = file_history_is_backup_name(name);
        out->backup = arena_copy(a, name).p;
        if (!out->backup)
            return false;
    } else if (!json_get(value, "backupFileName", &v) || json_type(v) != JSON_NULL) {
        /* Only null means that the file did not exist. */
        out->valid = false;
        out->backup = "";
    }
    if (json_get_text(value, "backupTime", &r->scratch, &out->time) &&
        !(out->time = arena_copy(a, out->time)).p)
        return false;
    if (json_get_text(value, "realParentDir", &r->scratch, &parent) && parent.n) {
        out->real_parent = arena_copy(a, parent).p;
        if (!out->real_parent)
            return false;
    }
    if (!json_get(value, "version", &v) || !json_int(v, &out->version))
        out->version = 0;
    return true;
}

/* Adds an entry to a turn, in place of an older one of the same file. */
static enum err_code set_turn_entry(struct file_history *h, struct file_history_turn *t,
                                    const struct file_history_entry *entry)
{
    const size_t before = h->number.n;
    uint32_t number;

    /* A path that is new gets a number. */
    if (slice_set_add(&h->number, slice_of(entry->path), &number))
        return ERR_NOMEM;
    if (h->number.n > before) {
        const char **path = arena_grow(&h->arena, h->path, h->paths, sizeof *path);

        if (!path)
            return ERR_NOMEM;
        h->path = path;
        h->path[h->paths++] = entry->path;
    }
    if (number >= t->ats) {
        size_t n = h->paths > 2 * t->ats ? h->paths : 2 * t->ats;
        uint32_t *at = arena_zalloc(&h->arena, n * sizeof *at);

        if (!at)
            return ERR_NOMEM;
        if (t->ats)
            memcpy(at, t->at, t->ats * sizeof *at);
        t->at = at;
        t->ats = n;
    }
    if (t->at[number]) {
        t->entry[t->at[number] - 1] = *entry;
        return ERR_OK;
    }
    struct file_history_entry *list = arena_grow(&h->arena, t->entry, t->n, sizeof *list);

    if (!list)
        return ERR_NOMEM;
    t->entry = list;
    t->entry[t->n++] = *entry;
    t->at[number] = (uint32_t)t->n;
    return ERR_OK;
}

static const struct file_history_entry *claude_entry_of(const struct file_history_turn *t,
                                                        uint32_t number)
{
    return number < t->ats && t->at[number] ? &t->entry[t->at[number] - 1] : NULL;
}

/* ---- rows ---- */

/* A prompt counts if it is part of the conversation, from which the turns were made. A turn is lost until one of its
 * rows is read. */
static enum err_code claude_read_snapshot(struct reader *r, struct slice row)
{
    struct slice snapshot, files, key, value, stamp;
    struct id128 prompt;
    struct json_iter it;
    struct file_history_turn *t;

    if (!json_get(row, "snapshot", &snapshot) || !get_id(r, snapshot, "messageId", &prompt) ||
        !json_get(snapshot, "trackedFileBackups", &files) || !(t = claude_find_turn(r, prompt)))
        return ERR_OK;
    const struct file_history_turn before = *t;
    bool update = json_get_true(row, "isSnapshotUpdate");

    t->lost = false;
    t->n = 0; /* a later row for the same prompt repeats all of it */
    t->entry = NULL;
    t->at = NULL;
    t->ats = 0;
    if (json_get_text(snapshot, "timestamp", &r->scratch, &stamp))
        time_parse(stamp, &t->time_ms);
    enum err_code rc = json_iter_open(&it, files) ? ERR_OK : ERR_FORMAT;

    while (!rc && json_iter_next(&it, &key, &value)) {
        struct file_history_entry entry;
        struct slice path;

        if (!json_text(key, &r->scratch, &path) || !read_backup_entry(r, path, value, &entry))
            return ERR_NOMEM;
        uint32_t number = slice_set_find(&r->h->number, slice_of(entry.path));
        const struct file_history_entry *was =
            number == SLICE_SET_NONE ? NULL : claude_entry_of(&before, number);

        entry.touched = update && (!was || was->touched || was->version != entry.version);
        rc = set_turn_entry(r->h, t, &entry);
    }
    return rc == ERR_FORMAT ? ERR_OK : rc;
}

static enum err_code read_delta(struct reader *r, struct slice row)
{
    struct slice path, backup;
    struct id128 prompt;
    struct file_history_entry entry;
    struct file_history_turn *t;

    if (!get_id(r, row, "snapshotMessageId", &prompt) || !(t = claude_find_turn(r, prompt)) ||
        !json_get_text(row, "trackingPath", &r->scratch, &path) ||
        !json_get(row, "backup", &backup))
        return ERR_OK;
    if (!read_backup_entry(r, path, backup, &entry))
        return ERR_NOMEM;
    entry.touched = true;
    return set_turn_entry(r->h, t, &entry);
}

static enum err_code claude_read_history_row(struct reader *r, const struct index_line *line,
                                             struct err *e)
{
    enum err_code rc = file_read_part(&r->file, line->offset, line->length, &r->row, e);
    struct slice row = buf_slice(&r->row);

    arena_reset(&r->scratch);
    if (rc)
        return rc;
    if (!json_valid(row))
        return ERR_OK;
    rc = line->kind == HISTORY_SNAPSHOT ? claude_read_snapshot(r, row) : read_delta(r, row);
    return rc ? err_nomem(e) : ERR_OK;
}

/* ---- the whole history ---- */

/* One turn for each user row of the conversation; those without any row of the history are removed at the end. */
static enum err_code add_turns(struct reader *r, const struct transcript *t)
{
    struct file_history *h = r->h;
    uint32_t number;

    h->turn = arena_zalloc(&h->arena, sizeof *h->turn * (t->n + 1));
    if (!h->turn)
        return ERR_NOMEM;
    for (size_t i = 0; i < t->n; i++) {
        const struct message *m = &t->message[i];

        if (m->kind != MESSAGE_USER || id128_none(m->id))
            continue;
        if (idset_add(&r->prompts, m->id, &number))
            return ERR_NOMEM;
        h->turn[number] = (struct file_history_turn){
            .prompt = m->id, .time_ms = m->time_ms, .lost = true, .message = i
        };
    }
    h->n = r->prompts.n;
    return ERR_OK;
}

/* Sets the uuids of the remaining turns, as they are written. */
static enum err_code name_turns(struct file_history *h, const struct transcript *t, struct err *e)
{
    struct buf row = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < h->n && !rc; i++) {
        rc = transcript_read(t, h->turn[i].message, &row, e);
        if (!rc && !json_get_text(buf_slice(&row), "uuid", &h->arena, &h->turn[i].id))
            h->turn[i].id = (struct slice){ NULL, 0 };
        if (!rc && h->turn[i].id.n)
            h->turn[i].id = arena_copy(&h->arena, h->turn[i].id);
    }
    buf_fini(&row);
    return rc;
}

/* Records the first version and the newest entry of each path. */
static enum err_code note_ends(struct file_history *h)
{
    size_t size = sizeof *h->first * (h->paths + 1);
    uint32_t number;

    h->first = arena_zalloc(&h->arena, size);
    h->newest = arena_zalloc(&h->arena, size);
    h->newest_turn = arena_zalloc(&h->arena, sizeof *h->newest_turn * (h->paths + 1));
    if (!h->first || !h->newest || !h->newest_turn)
        return ERR_NOMEM;
    for (size_t i = 0; i < h->n; i++)
        for (size_t k = 0; k < h->turn[i].n; k++) {
            const struct file_history_entry *entry = &h->turn[i].entry[k];

            number = slice_set_find(&h->number, slice_of(entry->path));
            h->newest[number] = entry;
            h->newest_turn[number] = i;
            if (!h->first[number] && entry->version == 1)
                h->first[number] = entry;
        }
    return ERR_OK;
}

enum err_code file_history_read(const struct session_ref *ref, const struct transcript *t,
                                struct file_history *out, struct err *e)
{
    struct file_history h = { 0 };
    struct reader r = { .h = &h };
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, FILE_FOLLOW, &r.file, e);

    if (rc)
        return rc;
    if (add_turns(&r, t))
        rc = err_nomem(e);
    if (!rc) {
        static const struct index_keys keys = { .type = "type", .kinds = kinds };

        rc = index_build(&r.ix, &r.file, &keys, 0, NULL, e);
        for (size_t i = 0; i < r.ix.n && !rc; i++)
            if (r.ix.line[i].kind && r.ix.line[i].state == LINE_OK)
                rc = claude_read_history_row(&r, &r.ix.line[i], e);
    }
    if (!rc) {
        size_t kept = 0;

        /* A turn whose snapshot row was lost stays if it has at least deltas. */
        for (size_t i = 0; i < h.n; i++)
            if (!h.turn[i].lost || h.turn[i].n)
                h.turn[kept++] = h.turn[i];
        h.n = kept;

        rc = note_ends(&h) ? err_nomem(e) : name_turns(&h, t, e);
    }
    file_close(&r.file);
    index_fini(&r.ix);
    buf_fini(&r.row);
    arena_fini(&r.scratch);
    idset_fini(&r.prompts);
    if (rc)
        file_history_fini(&h);
    else
        *out = h;
    return rc;
}

void file_history_fini(struct file_history *h)
{
    slice_set_fini(&h->number);
    arena_fini(&h->arena);
    *h = (struct file_history){ 0 };
}

static bool lacks_tracked_files(const struct file_history *h)
{
    for (size_t i = 1; i < h->n; i++)
        for (size_t k = 0; k < h->turn[i - 1].n; k++)
            if (!claude_entry_of(
                    &h->turn[i],
                    slice_set_find(&h->number, slice_of(h->turn[i - 1].entry[k].path))))
                return true;
    return false;
}

enum err_code file_history_carry(struct file_history *h, file_history_mark_fn *mark, void *arg,
                                 struct err *e)
{
    bool *edited = arena_zalloc(&h->arena, h->paths + 1);
    enum err_code rc = edited ? ERR_OK : err_nomem(e);

    if (rc || !lacks_tracked_files(h))
        return rc;
    for (size_t i = 0; i < h->n && !rc; i++) {
        for (uint32_t number = 0; number < h->paths && !rc; number++) {
            const struct file_history_entry *own = claude_entry_of(&h->turn[i], number);
            const struct file_history_entry *before =
                own || i == 0 ? NULL : claude_entry_of(&h->turn[i - 1], number);

            if (before) {
                struct file_history_entry carried = *before;

                carried.stale |= edited[number];
                if (set_turn_entry(h, &h->turn[i], &carried))
                    rc = err_nomem(e);
            }

            /* A touched file was edited after its copy was made, in the same turn. */
            edited[number] = own && own->touched;
        }
        if (!rc && i + 1 < h->n)
            rc = mark(arg, i, edited, e);
    }
    return rc;
}

/* ---- queries ---- */

const struct file_history_entry *file_history_at(const struct file_history *h, size_t turn,
                                                 const char *path)
{
    uint32_t number = slice_set_find(&h->number, slice_of(path));
    const struct file_history_entry *own =
        number == SLICE_SET_NONE ? NULL : claude_entry_of(&h->turn[turn], number);

    if (own || number == SLICE_SET_NONE || !h->first[number])
        return own;
    /* A version that was saved earlier was edited before this turn. */
    int64_t saved_ms;

    return time_parse(h->first[number]->time, &saved_ms) && saved_ms < h->turn[turn].time_ms
               ? NULL
               : h->first[number];
}

const struct file_history_entry *file_history_newest(const struct file_history *h, const char *path)
{
    uint32_t number = slice_set_find(&h->number, slice_of(path));

    return number == SLICE_SET_NONE ? NULL : h->newest[number];
}
