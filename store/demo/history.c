#include "store/demo/history.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "store/demo/files.h"

/* <first 16 hex digits of sha256(absolute path)>@v<version> */
static bool name_backup(const char *cwd, struct history_file *t)
{
    char path[PATH_MAX];
    unsigned char sum[EVP_MAX_MD_SIZE];
    int n = snprintf(path, sizeof path, "%s/%s", cwd, t->file->path);

    if (n < 0 || (size_t)n >= sizeof path ||
        !EVP_Digest(path, (size_t)n, sum, NULL, EVP_sha256(), NULL))
        return false;
    for (size_t i = 0; i < 8; i++)
        snprintf(t->name + 2 * i, 3, "%02x", sum[i]);
    snprintf(t->name + 16, sizeof t->name - 16, "@v%u", t->version);
    return true;
}

/* Keeps the file's present bytes as the next version. */
static enum err_code back_up(struct demo_history *h, struct demo_log *l, struct history_file *t,
                             struct err *e)
{
    char path[PATH_MAX];

    t->version++;
    t->changed = false;
    t->backup_ms = l->clock_ms;
    t->name[0] = '\0';
    if (!t->file->exists)
        return ERR_OK;
    if (!name_backup(l->cwd, t))
        return err_set(e, ERR_IO, t->file->path, "name the backup");
    int n = snprintf(path, sizeof path, "%s/%s", h->dir, t->name);
    if (n < 0 || (size_t)n >= sizeof path)
        return err_set(e, ERR_USAGE, h->dir, "name the backup: too long");
    return demo_put(path, buf_slice(&t->file->text), l->clock_ms, e);
}

static void write_backup(struct demo_log *l, struct jsonout *j, const struct history_file *t)
{
    char stamp[TIME_TEXT], parent[PATH_MAX];
    const char *slash = strrchr(t->file->path, '/');
    int depth = slash ? (int)(slash - t->file->path) : 0;

    time_format(t->backup_ms, stamp);
    snprintf(parent, sizeof parent, "%s%s%.*s", l->cwd, depth ? "/" : "", depth, t->file->path);
    jsonout_open(j, '{');
    if (t->name[0]) {
        demo_log_member(j, "backupFileName", t->name);
    } else {
        jsonout_key(j, "backupFileName");
        jsonout_null(j);
    }
    jsonout_key(j, "version");
    jsonout_int(j, t->version);
    demo_log_member(j, "backupTime", stamp);
    demo_log_member(j, "realParentDir", parent);
    jsonout_close(j, '}');
}

static void write_stamp(struct demo_log *l, struct jsonout *j)
{
    char stamp[TIME_TEXT];

    time_format(l->clock_ms, stamp);
    demo_log_member(j, "timestamp", stamp);
}

enum err_code demo_history_snapshot(struct demo_history *h, struct demo_log *l, struct err *e)
{
    struct jsonout j;

    for (size_t i = 0; i < h->n; i++)
        if (h->file[i].changed) {
            enum err_code rc = back_up(h, l, &h->file[i], e);

            if (rc)
                return rc;
        }
    demo_log_open(l, &j, "file-history-snapshot");
    demo_log_member(&j, "messageId", l->prompt);
    jsonout_key(&j, "snapshot");
    jsonout_open(&j, '{');
    demo_log_member(&j, "messageId", l->prompt);
    jsonout_key(&j, "trackedFileBackups");
    jsonout_open(&j, '{');
    for (size_t i = 0; i < h->n; i++) {
        jsonout_key(&j, h->file[i].file->path);
        write_backup(l, &j, &h->file[i]);
    }
    jsonout_close(&j, '}');
    write_stamp(l, &j);
    jsonout_close(&j, '}');
    jsonout_key(&j, "isSnapshotUpdate");
    jsonout_bool(&j, false);
    demo_log_close(l, &j);
    return ERR_OK;
}

static void write_delta(struct demo_log *l, const struct history_file *t)
{
    struct jsonout j;

    demo_log_open(l, &j, "file-history-delta");
    demo_log_member(&j, "messageId", l->last);
    demo_log_member(&j, "snapshotMessageId", l->prompt);
    demo_log_member(&j, "trackingPath", t->file->path);
    jsonout_key(&j, "backup");
    write_backup(l, &j, t);
    write_stamp(l, &j);
    demo_log_close(l, &j);
}

enum err_code demo_history_touch(struct demo_history *h, struct demo_log *l,
                                 const struct world_file *f, struct err *e)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->file[i].file == f) {
            h->file[i].changed = true;
            return ERR_OK;
        }
    if (h->n == HISTORY_MAX)
        return err_set(e, ERR_USAGE, f->path, "one demo session edits too many files");
    struct history_file *t = &h->file[h->n];
    *t = (struct history_file){ .file = f };
    enum err_code rc = back_up(h, l, t, e);
    if (rc)
        return rc;
    h->n++;
    t->changed = true;
    write_delta(l, t);
    return ERR_OK;
}
