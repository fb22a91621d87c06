#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/file_history.h"
#include "store/systems/claude/write/host_write.h"

/* A checkpoint as the client makes it (claude.md C2): one snapshot for a prompt with every tracked file in it, and a
 * new backup only of files that changed since the last one; if another file is added in the same turn, the whole
 * snapshot again. Client 2.1.197 writes this form and 2.1.330 reads it too, but the older client does not know delta
 * rows. A backup is named after the path and never overwritten. */

enum { HASH_DIGITS = 16, BACKUP_MOST = 1 << 30, FOLDER_MODE = 0700 };

struct entry {
    const char *tracked; /* as the row names it */
    const char *path;    /* absolute */
    const char *backup;  /* name of the copy; NULL: there was no file */
    const char *parent;  /* real directory; NULL: gone */
    struct slice time;
    int64_t version;
};

struct saving {
    const struct store *st;
    const struct session_ref *ref;
    struct arena *a;
    struct transcript *transcript; /* owned */
    struct session_row *row;       /* owned */
    struct file_history history;
    const struct file_history_turn *turn; /* that of the message, if it has a snapshot already */
    const char *cwd, *dir;                /* the directories of the session and of its backups */
    char now[TIME_TEXT];
    struct entry *entry;
    size_t n, fresh;
};

/* ---- names ---- */

/* Relative to the session's directory if it is inside. */
static const char *tracked_of(const struct saving *s, const char *path)
{
    size_t n = strlen(s->cwd);

    return strncmp(path, s->cwd, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static const char *backup_name(const struct saving *s, const char *path, int64_t version)
{
    uint8_t sha[SHA256_BYTES];
    char hex[HASH_DIGITS + 1];

    if (!digest_of(DIGEST_SHA256, slice_of(path), sha))
        return NULL;
    digest_hex(sha, HASH_DIGITS / 2, hex);
    return arena_format(s->a, "%s@v%lld", hex, (long long)version);
}

static const char *real_parent(const struct saving *s, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dir = arena_format(s->a, "%.*s", slash > path ? (int)(slash - path) : 1, path);
    AUTO_FREE char *real = dir ? realpath(dir, NULL) : NULL;

    return real ? arena_format(s->a, "%s", real) : NULL;
}

/* ---- copies ---- */

static bool is_backup_current(const struct saving *s, const struct file_history_entry *old,
                              struct slice bytes, mode_t mode)
{
    AUTO_BUF saved = { 0 };
    struct stat sb;
    const char *path = arena_format(s->a, "%s/%s", s->dir, old->backup);

    return path && lstat(path, &sb) == 0 && (sb.st_mode & 07777) == mode &&
           file_read_all(AT_FDCWD, path, 0, bytes.n, &saved, NULL) == ERR_OK &&
           slice_eq(buf_slice(&saved), bytes);
}

static enum err_code claude_checkpoint_put_copy(const struct saving *s, const char *name,
                                                struct slice bytes, mode_t mode, struct err *e)
{
    CLEANUP(disk_new_discard) struct disk_new to = { .fd = -1, .dir = -1 };

    TRY(disk_make_dir(s->dir, FOLDER_MODE, e));
    TRY(disk_new_open(s->dir, mode, &to, e));
    if (fchmod(to.fd, mode))
        return err_sys(e, to.path, "checkpoint: set the mode");
    TRY(disk_write(to.fd, bytes, NULL, to.path, e));
    return disk_new_publish(&to, name, e);
}

/* A name that already exists belongs to a copy that no row mentions. */
static enum err_code save_bytes(struct saving *s, struct entry *x, struct slice bytes, mode_t mode,
                                struct err *e)
{
    enum err_code rc = ERR_STALE;

    for (; rc == ERR_STALE; x->version += rc == ERR_STALE) {
        x->backup = backup_name(s, x->path, x->version);
        rc = x->backup ? claude_checkpoint_put_copy(s, x->backup, bytes, mode, e) : err_nomem(e);
    }
    s->fresh += rc == ERR_OK;
    return rc;
}

/* The client numbers copies after the highest one of the file, in rows and in names of copies. */
static enum err_code next_version(const struct saving *s, struct entry *x, struct err *e)
{
    const char *none;
    const struct dirent *d;
    int64_t highest = 0;

    NEED(none = backup_name(s, x->path, 0));
    size_t stem = strlen(none) - 1;

    for (size_t t = 0; t < s->history.n; t++)
        for (size_t i = 0; i < s->history.turn[t].n; i++) {
            const struct file_history_entry *old = &s->history.turn[t].entry[i];

            if (strcmp(old->path, x->tracked) == 0 && old->version > highest)
                highest = old->version;
        }

    AUTO_DIR *dir = opendir(s->dir);

    if (!dir && errno != ENOENT)
        return err_sys(e, s->dir, "read saved copies");
    while (dir && (errno = 0, d = readdir(dir))) {
        int64_t version;

        if (strncmp(d->d_name, none, stem) == 0 && json_int(slice_of(d->d_name + stem), &version) &&
            version > highest)
            highest = version;
    }
    if (dir && errno)
        return err_sys(e, s->dir, "read saved copies");
    x->version = highest < INT64_MAX ? highest + 1 : 1;
    return ERR_OK;
}

static enum err_code save_backup(struct saving *s, struct entry *x,
                                 const struct file_history_entry *old, struct err *e)
{
    AUTO_BUF bytes = { 0 };
    struct stat sb;

    TRY(next_version(s, x, e));
    x->time = slice_of(s->now);
    x->parent = real_parent(s, x->path);
    if (lstat(x->path, &sb))
        return errno == ENOENT || errno == ENOTDIR ? ERR_OK : err_sys(e, x->path, "checkpoint");
    TRY(file_read_all(AT_FDCWD, x->path, 0, BACKUP_MOST, &bytes, e));
    if (!old || !old->backup || !old->valid ||
        !is_backup_current(s, old, buf_slice(&bytes), sb.st_mode & 07777))
        return save_bytes(s, x, buf_slice(&bytes), sb.st_mode & 07777, e);
    x->backup = old->backup;
    x->version = old->version;
    x->time = old->time.n ? old->time : x->time;
    return ERR_OK;
}

/* ---- the files of the snapshot ---- */

static const struct entry *claude_checkpoint_entry_of(const struct saving *s, const char *path)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->entry[i].path, path) == 0)
            return &s->entry[i];
    return NULL;
}

static struct entry *add_file_entry(struct saving *s, const char *tracked, const char *path)
{
    struct entry *list = arena_grow(s->a, s->entry, s->n, sizeof *list);

    if (!list || !path)
        return NULL;
    s->entry = list;
    list[s->n] = (struct entry){ .tracked = tracked, .path = path };
    return &list[s->n++];
}

/* Entries that the snapshot of this turn already has are not changed. */
static enum err_code add_turn_files(struct saving *s, struct err *e)
{
    for (size_t i = 0; s->turn && i < s->turn->n; i++) {
        const struct file_history_entry *old = &s->turn->entry[i];

        if (old->no_path)
            continue;
        struct entry *x = add_file_entry(s, old->path, path_normalize(s->cwd, old->path, s->a));

        if (!x)
            return err_nomem(e);
        x->backup = old->backup;
        x->parent = old->real_parent;
        x->version = old->version;
        x->time = old->time;
    }
    return ERR_OK;
}

/* Saves the files of earlier turns as they are now. A file that can no longer be read keeps its last copy. */
static enum err_code add_tracked_files(struct saving *s, struct err *e)
{
    for (size_t i = 0; !s->turn && i < s->history.paths; i++) {
        const char *tracked = s->history.path[i];
        const struct file_history_entry *old = file_history_newest(&s->history, tracked);

        if (old && old->no_path)
            continue;
        struct entry *x = add_file_entry(s, tracked, path_normalize(s->cwd, tracked, s->a));

        if (!x || !old)
            return err_nomem(e);
        enum err_code rc = save_backup(s, x, old, e);

        if (rc == ERR_NOMEM)
            return rc;
        if (rc) {
            x->backup = old->backup;
            x->version = old->version;
            x->time = old->time;
        }
    }
    return ERR_OK;
}

/* ---- the row ---- */

static enum err_code claude_checkpoint_write_snapshot_row(struct saving *s, struct slice message,
                                                          struct err *e)
{
    AUTO_BUF row = { 0 };
    struct jsonout j;

    jsonout_init(&j, &row);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("file-history-snapshot"));
    jsonout_member(&j, "messageId", message);
    jsonout_key(&j, "snapshot");
    jsonout_open(&j, '{');
    jsonout_member(&j, "messageId", message);
    jsonout_key(&j, "trackedFileBackups");
    jsonout_open(&j, '{');
    for (size_t i = 0; i < s->n; i++) {
        const struct entry *x = &s->entry[i];

        jsonout_key(&j, x->tracked);
        jsonout_open(&j, '{');
        jsonout_text_or_null(&j, "backupFileName", slice_of(x->backup ? x->backup : ""));
        jsonout_int_member(&j, "version", x->version);
        jsonout_member(&j, "backupTime", x->time);
        if (x->parent)
            jsonout_member(&j, "realParentDir", slice_of(x->parent));
        jsonout_close(&j, '}');
    }
    jsonout_close(&j, '}');
    jsonout_member(&j, "timestamp", slice_of(s->now));
    jsonout_close(&j, '}');

    /* The row updates the snapshot of its prompt if there is one already. */
    jsonout_bool_member(&j, "isSnapshotUpdate", s->turn != NULL);
    jsonout_close(&j, '}');
    NEED(!j.rc && !buf_add_byte(&row, '\n'));
    return claude_write_rows(s->st->env, s->ref, buf_slice(&row), e);
}

/* ---- the checkpoint ---- */

static void claude_saving_close(struct saving *s)
{
    file_history_fini(&s->history);
    transcript_free(s->transcript);
    session_row_free(s->row);
}

/* The caller closes it, also after a failure. */
static enum err_code claude_saving_open(struct saving *s, struct slice message, struct err *e)
{
    const struct scope everywhere = { .all = true };

    NEED(s->row = session_row_new());
    TRY(claude_describe(s->st, &everywhere, s->ref, s->row, e));
    TRY(claude_load(s->st, s->ref, NULL, &s->transcript, e));
    TRY(file_history_read(s->ref, s->transcript, &s->history, e));
    s->cwd = s->row->cwd.n && s->row->cwd.p[0] == '/' ? arena_copy(s->a, s->row->cwd).p
                                                      : arena_format(s->a, "%s", s->st->env->cwd);
    s->dir = arena_format(s->a, "%s/file-history/%.*s", s->st->path, SLICE_ARG(s->ref->id));
    time_format(env_now_ms(s->st->env), s->now);
    NEED(s->cwd && s->dir);

    /* A rewind finds a snapshot by the id of its prompt, so that prompt has to be in the conversation. */
    const struct id128 id = id128_of(message);
    bool known = false;

    for (size_t i = 0; i < s->transcript->n; i++)
        known |= s->transcript->message[i].kind == MESSAGE_USER &&
                 id128_eq(s->transcript->message[i].id, id);
    if (!known)
        return err_set(e, ERR_NOT_FOUND, s->ref->path.p,
                       "checkpoint: no prompt %.*s in the conversation", SLICE_ARG(message));
    for (size_t i = 0; i < s->history.n; i++)
        if (id128_eq(s->history.turn[i].prompt, id) && !s->history.turn[i].lost)
            s->turn = &s->history.turn[i];
    return ERR_OK;
}

enum err_code claude_checkpoint(const struct store *st, const struct session_ref *ref,
                                const struct host_checkpoint *req, struct arena *a,
                                struct host_checkpointed *out, struct err *e)
{
    CLEANUP(claude_saving_close) struct saving s = { .st = st, .ref = ref, .a = a };

    if (!claude_is_uuid(ref->id))
        return err_set(e, ERR_UNSAFE, ref->path.p, "checkpoint: not the id of a session");
    TRY(claude_saving_open(&s, req->message, e));
    TRY(add_turn_files(&s, e));
    TRY(add_tracked_files(&s, e));
    for (size_t i = 0; i < req->files; i++) {
        const char *path = path_normalize(s.cwd, req->file[i], s.a);

        /* A file that is in the checkpoint already keeps its copy. */
        if (path && claude_checkpoint_entry_of(&s, path))
            continue;
        const char *tracked = path ? tracked_of(&s, path) : NULL;
        struct entry *x = add_file_entry(&s, tracked, path);

        NEED(x);
        TRY(save_backup(&s, x, file_history_newest(&s.history, tracked), e));
    }
    TRY(claude_checkpoint_write_snapshot_row(&s, req->message, e));
    *out = (struct host_checkpointed){ .id = arena_copy(a, req->message),
                                       .files = req->files,
                                       .fresh = s.fresh };
    return out->id.p ? ERR_OK : err_nomem(e);
}
