#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/api/finding.h"
#include "store/rewind/plan/source.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/manifest.h"
#include "store/systems/goat/metadata.h"

/* Reports damage of a session: lines that the host skips or cannot parse, metadata that it cannot
 * read, checkpoints that cannot be restored. Defects of the metadata as a whole are reported by
 * describe. */

struct checking {
    struct jsonl_check report;
    const struct session_ref *ref;
    const atomic_bool *cancel;
    struct goat_log log;
    struct arena arena;
};

/* ---- lines ---- */

static enum err_code check_line(struct checking *k, size_t i, struct err *e)
{
    const struct index_line *line = &k->log.file.index.line[i];

    if (goat_log_is_torn_end(&k->log, i))
        return jsonl_check_line(
            &k->report, FINDING_TORN_TAIL, i,
            k->log.file.index.line[i].state == LINE_BROKEN
                ? "unfinished write: the last line is cut, and the agent would append "
                  "its next row to it"
                : "the last line has no newline: the agent would append its next row "
                  "to it",
            e);
    if (line->length > GOAT_LINE_MAX)
        return jsonl_check_line(
            &k->report, FINDING_BROKEN_LINE, i,
            "the line is longer than 10 MiB: the agent cannot load this session", e);
    if (line->state == LINE_BROKEN) {
        enum goat_line_kind kind;
        enum message_kind message;
        struct slice row;
        enum err_code rc = goat_log_kind(&k->log.file, i, &kind, &message, e);

        if (rc || kind != GOAT_LINE_BROKEN)
            return rc;
        TRY(logfile_row(&k->log.file, i, &row, e));
        if (memchr(row.p, '\0', row.n))
            return jsonl_check_line(
                &k->report, FINDING_NUL_BYTES, i,
                "the line contains NUL bytes, as after a power cut, and does not parse", e);
        return jsonl_check_line(&k->report, FINDING_BROKEN_LINE, i,
                                "the line is not a JSON object: the agent skips it", e);
    }
    if (line->state != LINE_OK)
        return ERR_OK;
    /* A valid JSON row may be one that the host would skip. All of it is checked, while readers check
     * only parts of it. */
    struct goat_entry entry;

    TRY(goat_log_entry(&k->log, i, &entry, e));
    const char *why = goat_entry_fault(&entry);

    if (why)
        TRY(jsonl_check_line(&k->report, FINDING_BROKEN_LINE, i,
                             arena_format(&k->arena, "the agent skips the line: %s", why), e));
    return jsonl_check_id(&k->report, i, "an earlier message has the same uuid", e);
}

/* ---- metadata ---- */

/* ---- checkpoints ---- */

static enum err_code check_saved(struct checking *k, const struct goat_points *points,
                                 const struct goat_point *point, const struct goat_saved *s,
                                 struct source_content *content, struct err *e)
{
    bool there = true;

    if (s->was == GOAT_WAS_ABSENT)
        return ERR_OK;
    if (s->was == GOAT_WAS_UNKNOWN)
        return jsonl_check_report(&k->report, FINDING_WRONG_BACKUP, point->dir, s->why, e);
    struct rewind_source source = { .file = goat_blob(points, point, s->hash, &k->arena, &there),
                                    .sha256 = s->hash };

    if (source.file && there && source_read(&source, NULL, content, NULL) == ERR_OK)
        return ERR_OK;
    return jsonl_check_report(
        &k->report, there ? FINDING_WRONG_BACKUP : FINDING_MISSING_BACKUP, source.file,
        there ? "a saved copy does not match its name" : "a saved copy is gone", e);
}

static enum err_code goat_check_point(struct checking *k, const struct goat_points *points,
                                      const struct goat_point *point, struct err *e)
{
    struct source_content content = { 0 };
    enum err_code rc = ERR_OK;

    if (point->why)
        return jsonl_check_report(&k->report, FINDING_UNREADABLE, point->dir,
                                  arena_format(&k->arena, "a checkpoint: %s", point->why), e);
    for (size_t i = 0; i < point->n && !rc; i++)
        rc = check_saved(k, points, point, &point->saved[i], &content, e);
    source_content_fini(&content);
    return rc;
}

static enum err_code check_points(struct checking *k, struct err *e)
{
    struct goat_points points;
    enum err_code rc = goat_points_read(k->ref, &points, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < points.n && !rc; i++)
        rc = goat_check_point(k, &points, &points.point[i], e);
    goat_points_fini(&points);
    return rc;
}

enum err_code goat_check(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    struct checking k = { .report = { .ref = ref, .fn = fn, .arg = arg },
                          .ref = ref,
                          .cancel = cancel };
    enum err_code rc = goat_log_open(&k.log, ref, cancel, e);

    (void)st;
    if (rc)
        return rc;
    k.report.log = &k.log.file;
    for (size_t i = 0; i < k.log.file.index.n && !rc; i++) {
        if (k.cancel && atomic_load_explicit(k.cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, k.ref->path.p, "look for damage");
        else
            rc = check_line(&k, i, e);
    }
    idset_fini(&k.report.ids);
    if (!rc) {
        /* The metadata of the session. */
        struct goat_metadata m;
        const char *path = goat_path(k.ref, GOAT_METADATA, &k.arena);
        rc = path ? goat_metadata_read(AT_FDCWD, path, &k.arena, &m) : ERR_NOMEM;

        if (rc)
            rc = err_nomem(e);
        if (!rc && m.bom)
            rc =
                jsonl_check_report(&k.report, FINDING_METADATA, path,
                                   "it begins with a byte order mark: the agent cannot read it", e);
        if (!rc && !m.why && !slice_eq(m.text[GOAT_ID], k.ref->id))
            rc = jsonl_check_report(&k.report, FINDING_METADATA, path,
                                    arena_format(&k.arena,
                                                 "it names another session, %.*s: the agent lists "
                                                 "that id, but opens the directory's",
                                                 SLICE_ARG(m.text[GOAT_ID])),
                                    e);
    }
    if (!rc)
        rc = check_points(&k, e);
    goat_log_close(&k.log);
    arena_fini(&k.arena);
    return rc;
}

/* Reports directories that contain a session under a name that cannot be an id, because no list
 * shows them. */

struct naming {
    finding_fn *fn;
    void *arg;
    struct err *e;
    enum err_code rc;
};

static bool holds_session(int dirfd, const char *name)
{
    char path[NAME_MAX + 32];
    struct stat sb;

    snprintf(path, sizeof path, "%s/" GOAT_METADATA, name);
    return fstatat(dirfd, name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(sb.st_mode) &&
           fstatat(dirfd, path, &sb, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool check_base(const char *sessions, struct slice folder, void *arg)
{
    struct naming *k = arg;
    DIR *dir = opendir(sessions);
    struct dirent *entry;

    (void)folder;
    while (dir && !k->rc && (entry = readdir(dir))) {
        struct slice name = slice_of(entry->d_name);

        if (strcmp(name.p, ".") != 0 && strcmp(name.p, "..") != 0 && !goat_is_id(name) &&
            !goat_is_memory(name) && holds_session(dirfd(dir), name.p))
            k->rc = jsonl_check_name(sessions, name.p, k->fn, k->arg, k->e);
    }
    if (dir)
        closedir(dir);
    return !k->rc;
}

enum err_code goat_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                               void *arg, struct err *e)
{
    struct naming k = { .fn = fn, .arg = arg, .e = e };

    (void)scope;
    goat_each_base(goat_of(st), check_base, &k);
    return k.rc;
}
