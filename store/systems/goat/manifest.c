#include "store/systems/goat/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/goat/dialect.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/metadata.h"

/* ---- one document ---- */

/* Accepts 64 hex digits in either case; anything else could become another file's name. */
static bool parse_hash(struct slice text, char hash[GOAT_HASH_TEXT + 1])
{
    if (text.n != GOAT_HASH_TEXT)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        hash[i] = c;
    }
    hash[text.n] = '\0';
    return true;
}

static const char *read_manifest_file(struct slice object, struct arena *a, struct goat_saved *out)
{
    static const char *const names[] = { "path", "exists", "hash" };
    struct slice value[3], hash = { NULL, 0 };

    *out = (struct goat_saved){ 0 };
    goat_members(object, names, 3, value);
    if (json_type(object) != JSON_OBJECT || json_type(value[0]) != JSON_STRING)
        return "its manifest has a file without a path";
    if (value[1].p && json_type(value[1]) != JSON_NULL && json_type(value[1]) != JSON_TRUE &&
        json_type(value[1]) != JSON_FALSE)
        return "its manifest has a value that should be true or false";
    if (value[2].p && json_type(value[2]) != JSON_STRING && json_type(value[2]) != JSON_NULL)
        return "its manifest has a hash that is not a string";
    if (!json_text(value[0], a, &out->path) ||
        (json_type(value[2]) == JSON_STRING && !json_text(value[2], a, &hash)))
        return ERR_NOMEM_TEXT;

    /* Without `exists`, a hash means that the file existed: it is restored, never removed (goat.md
     * B4). */
    bool has_hash = parse_hash(hash, out->hash);

    out->was = GOAT_WAS_UNKNOWN;
    if (json_type(value[1]) == JSON_FALSE) {
        out->was = GOAT_WAS_ABSENT;
        out->hash[0] = '\0';
    } else if (has_hash) {
        out->was = GOAT_WAS_THERE;
    } else if (hash.n) {
        out->hash[0] = '\0';
        out->why = "its saved copy has a name that is not a SHA-256";
    } else {
        out->why = "the checkpoint does not record its content";
    }

    return NULL;
}

static enum err_code read_manifest_files(struct slice files, struct arena *a, struct goat_point *p)
{
    struct json_iter it;
    struct slice key, value;

    if (!files.p || json_type(files) == JSON_NULL)
        return ERR_OK;
    if (json_type(files) != JSON_ARRAY || !json_iter_open(&it, files)) {
        p->why = "its manifest has no list of files";
        return ERR_OK;
    }
    while (!p->why && json_iter_next(&it, &key, &value)) {
        struct goat_saved *list = arena_grow(a, p->saved, p->n, sizeof *list);

        if (!list)
            return ERR_NOMEM;
        p->saved = list;
        p->why = read_manifest_file(value, a, &list[p->n]);
        p->n += p->why == NULL;
    }
    return ERR_OK;
}

enum err_code goat_manifest_parse(struct slice document, struct arena *a, struct goat_point *p)
{
    static const char *const names[] = { "created_at", "CreatedAt", "files" };
    struct slice value[3], text;
    int64_t ns;

    p->time_ms = TIME_NONE;
    if (document.n >= 3 && memcmp(document.p, "\xef\xbb\xbf", 3) == 0)
        document = (struct slice){ document.p + 3, document.n - 3 };
    document = utf8_js_trim(document);
    if (json_type(document) != JSON_OBJECT || !json_valid(document)) {
        p->why = "its manifest is not a JSON object";
        return ERR_OK;
    }
    p->dialect = goat_dialect_of_manifest(document);
    goat_members(document, names, 3, value);
    if (!value[0].p)
        value[0] = value[1];
    if (json_type(value[0]) == JSON_STRING) {
        if (!json_text(value[0], a, &text))
            return ERR_NOMEM;
        if (goat_time(text, &ns) && ns)
            p->time_ms = ns / 1000000;
    }
    enum err_code rc = read_manifest_files(value[2], a, p);

    /* A manifest with a defect restores nothing. */
    if (p->why)
        p->n = 0;
    return rc;
}

/* ---- all of a session ---- */

static enum err_code goat_read_point(int dirfd, struct slice id, struct goat_points *ps,
                                     struct err *e)
{
    struct arena *a = &ps->arena;
    struct buf bytes = { 0 };
    struct goat_point *list = arena_grow(a, ps->point, ps->n, sizeof *list);
    const char *name = arena_format(a, "%.*s/manifest.json", SLICE_ARG(id));

    if (!list || !name)
        return err_nomem(e);
    ps->point = list;
    struct goat_point *p = &list[ps->n];

    *p = (struct goat_point){ .id = arena_copy(a, id),
                              .dir = arena_format(a, "%s/%.*s", ps->dir, SLICE_ARG(id)),
                              .time_ms = TIME_NONE };
    enum err_code rc = file_read_all(dirfd, name, 0, GOAT_MANIFEST_MAX, &bytes, NULL);
    struct slice document = rc ? (struct slice){ NULL, 0 } : arena_copy(a, buf_slice(&bytes));

    /* A checkpoint that cannot be read is listed with the reason, so this is not an error. */
    if (rc && rc != ERR_NOMEM) {
        p->begun = rc == ERR_NOT_FOUND;
        p->why = p->begun ? "it has no manifest" : "its manifest cannot be read";
        rc = ERR_OK;
    } else if (!rc) {
        rc = document.p ? goat_manifest_parse(document, a, p) : ERR_NOMEM;
    }
    buf_fini(&bytes);
    ps->n++;
    return rc || !p->id.p || !p->dir ? err_nomem(e) : ERR_OK;
}

static int compare_point_time(const void *x, const void *y)
{
    const struct goat_point *a = x, *b = y;

    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    return strcmp(a->id.p, b->id.p);
}

/* If it cannot be determined whether a checkpoint exists, this is an error, because a new
 * checkpoint could overwrite it. */
static enum err_code is_point_dir(int dir, const char *name, bool *is, const char *path,
                                  struct err *e)
{
    struct stat sb;

    *is = false;
    if (fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "read checkpoints");
    *is = S_ISDIR(sb.st_mode);
    return ERR_OK;
}

enum err_code goat_points_read(const struct session_ref *ref, struct goat_points *out,
                               struct err *e)
{
    struct goat_points ps = { 0 };
    struct dirent *entry;
    DIR *dir = NULL;
    bool is;

    ps.dir = goat_path(ref, GOAT_POINTS, &ps.arena);
    if (!ps.dir)
        return err_nomem(e);
    enum err_code rc = is_point_dir(AT_FDCWD, ps.dir, &is, ps.dir, e);

    if (!rc && is && !(dir = opendir(ps.dir)))
        rc = err_sys(e, ps.dir, "read checkpoints");

    /* A failure of readdir differs from the end of the directory in errno alone. */
    while (dir && !rc && (errno = 0, entry = readdir(dir))) {
        struct slice id = slice_of(entry->d_name);

        if (!goat_is_point_id(id))
            continue;
        rc = is_point_dir(dirfd(dir), entry->d_name, &is, ps.dir, e);
        if (!rc && is)
            rc = goat_read_point(dirfd(dir), id, &ps, e);
    }
    if (dir && !rc && errno)
        rc = err_sys(e, ps.dir, "read checkpoints");
    if (dir)
        closedir(dir);
    if (rc) {
        goat_points_fini(&ps);
        return rc;
    }
    if (ps.n)
        qsort(ps.point, ps.n, sizeof *ps.point, compare_point_time);
    *out = ps;
    return ERR_OK;
}

void goat_points_fini(struct goat_points *p)
{
    arena_fini(&p->arena);
    *p = (struct goat_points){ 0 };
}

/* ---- contents ---- */

static const char *goat_blob_in(const char *dir, const char *folder, const char *hash,
                                struct arena *a, bool *there)
{
    const char *path = arena_format(a, "%s/%s/%s", dir, folder, hash);
    struct stat sb;

    *there = path && lstat(path, &sb) == 0;
    return path;
}

const char *goat_blob(const struct goat_points *points, const struct goat_point *point,
                      const char *hash, struct arena *a, bool *there)
{
    static const char *const folders[] = { "files", "blobs" };
    const char *own = NULL, *path;

    for (size_t f = 0; f < 2; f++) {
        path = goat_blob_in(point->dir, folders[f], hash, a, there);
        if (*there || !path)
            return path;
        if (strcmp(folders[f], goat_dialects[point->dialect].blobs) == 0)
            own = path;
    }
    for (size_t i = 0; i < points->n; i++)
        for (size_t f = 0; f < 2; f++) {
            path = goat_blob_in(points->point[i].dir, folders[f], hash, a, there);
            if (*there || !path)
                return path;
        }
    path = goat_blob_in(points->dir, "blobs", hash, a, there);
    return *there ? path : own;
}
