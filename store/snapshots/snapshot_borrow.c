#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/api/env.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"
#include "store/snapshots/snapshot_walk.h"

enum { ATTRIBUTES_MAX = 1 << 20 };

/* What the attributes in a file allow git to do with files. */
static void note_attributes(struct snapshot_borrow *b, const char *path)
{
    AUTO_BUF text = { 0 };
    enum err_code rc = file_read_all(AT_FDCWD, path, FILE_FOLLOW, ATTRIBUTES_MAX, &text, NULL);
    const struct slice s = buf_slice(&text);

    if (rc == ERR_NOT_FOUND)
        return;
    b->by_hash |= rc || slice_has(s, "filter") || slice_has(s, "ident") || slice_has(s, "encoding");
    b->by_size |= slice_has(s, "text") || slice_has(s, "eol") || slice_has(s, "crlf");
}

static void find_conversions(struct snapshot_borrow *b)
{
    static const char name[] = ".gitattributes";
    const char *xdg = env_value(b->env->environment, "XDG_CONFIG_HOME"), *home = b->env->home;
    char path[PATH_MAX];
    git_config *config = NULL;
    git_buf value = GIT_BUF_INIT;
    bool named = false;

    if (git_repository_config_snapshot(&config, b->repo) == 0) {
        const char *crlf = NULL;

        b->by_size |= git_config_get_string(&crlf, config, "core.autocrlf") == 0 &&
                      strcmp(crlf, "false") != 0;
        named = git_config_get_path(&value, config, "core.attributesfile") == 0;
        if (named)
            note_attributes(b, value.ptr);
    }

    /* Where git looks unasked: for the user, for the system, and in the project, where it need not be tracked. */
    if (!named && xdg && *xdg && snprintf(path, sizeof path, "%s/git/attributes", xdg) < PATH_MAX)
        note_attributes(b, path);
    else if (!named && home &&
             snprintf(path, sizeof path, "%s/.config/git/attributes", home) < PATH_MAX)
        note_attributes(b, path);
    note_attributes(b, "/etc/gitattributes");
    if ((size_t)snprintf(path, sizeof path, "%s/%s", b->root, name) < sizeof path)
        note_attributes(b, path);
    git_buf_dispose(&value);
    git_config_free(config);
    snprintf(path, sizeof path, "%sinfo/attributes", git_repository_commondir(b->repo));
    note_attributes(b, path);

    /* git uses the attributes of the work tree, so the files are read and not their blobs. */
    for (uint32_t i = 0; i < b->index.n; i++) {
        const char *entry = b->index.name[i].path;
        size_t length = strlen(entry), own = sizeof name - 1;

        if (length >= own && strcmp(entry + length - own, name) == 0 &&
            (size_t)snprintf(path, sizeof path, "%s/%s", b->root, entry) < sizeof path)
            note_attributes(b, path);
    }
}

static void borrow_open(struct snapshot_borrow *b)
{
    b->asked = true;
    if (!repo_may_be_found(b->root) || gitfiles_check(b->root, false, NULL) ||
        repo_open(b->root, &b->repo, NULL))
        return;
    /* A repository somewhere above, or one with its work tree elsewhere, does not have these paths. */
    const char *top = git_repository_workdir(b->repo);
    size_t n = strlen(b->root);

    if (top && strncmp(top, b->root, n) == 0 && strcmp(top + n, "/") == 0 &&
        git_repository_odb(&b->odb, b->repo))
        b->odb = NULL;
}

bool snapshot_borrow_has_index(struct snapshot_borrow *b)
{
    char path[PATH_MAX];
    struct stat st;

    if (b->asked_index)
        return b->has_index;
    b->asked_index = true;
    if (!b->asked)
        borrow_open(b);
    if (!b->odb)
        return false;
    snprintf(path, sizeof path, "%sindex", git_repository_path(b->repo));
    b->index_s = stat(path, &st) == 0 ? st.st_mtime : 0;
    enum err_code rc = index_file_read(path, &b->index, NULL);

    /* A repository to which nothing was added has no index. */
    b->has_index = !rc || rc == ERR_NOT_FOUND;
    if (b->has_index)
        find_conversions(b);
    return b->has_index;
}

bool snapshot_borrow_entry(struct snapshot_borrow *b, const char *path, struct index_entry *out)
{
    return snapshot_borrow_has_index(b) && index_file_find(&b->index, path, out);
}

bool snapshot_borrow_tracks_below(struct snapshot_borrow *b, const char *dir)
{
    return snapshot_borrow_has_index(b) && index_file_has_below(&b->index, dir);
}

bool snapshot_borrow_has(struct snapshot_borrow *b, const uint8_t oid[SNAPSHOT_OID])
{
    git_oid id;

    memcpy(id.id, oid, SNAPSHOT_OID);
    if (!b->asked)
        borrow_open(b);
    return b->odb && git_odb_exists(b->odb, &id);
}

bool snapshot_borrow_file(struct snapshot_borrow *b, const char *path, const struct stat *st,
                          uint8_t oid[SNAPSHOT_OID])
{
    struct index_entry entry;
    git_object_t type;
    git_oid id;
    size_t size;

    if (!snapshot_borrow_entry(b, path, &entry) || b->by_hash ||
        entry.size != (uint32_t)st->st_size || entry.ino != (uint32_t)st->st_ino ||
        st->st_mtim.tv_sec >= b->index_s || entry.mtime_s != (uint32_t)st->st_mtim.tv_sec ||
        entry.mtime_ns != (uint32_t)st->st_mtim.tv_nsec ||
        entry.ctime_s != (uint32_t)st->st_ctim.tv_sec ||
        entry.ctime_ns != (uint32_t)st->st_ctim.tv_nsec ||
        S_ISLNK(entry.mode) != S_ISLNK(st->st_mode))
        return false;
    memcpy(id.id, entry.oid, SNAPSHOT_OID);
    if (b->by_size &&
        (git_odb_read_header(&size, &type, b->odb, &id) || size != (size_t)st->st_size))
        return false;
    memcpy(oid, entry.oid, SNAPSHOT_OID);
    return true;
}

enum err_code snapshot_borrow_copy(struct snapshot_borrow *b, const uint8_t oid[SNAPSHOT_OID],
                                   struct snapshot_pack *pack, struct err *e)
{
    git_odb_object *object = NULL;
    uint8_t copy[SNAPSHOT_OID];
    git_oid id;
    enum err_code rc = ERR_OK;

    memcpy(id.id, oid, SNAPSHOT_OID);
    if (!b->asked)
        borrow_open(b);
    if (!b->odb || snapshot_pack_has(pack, oid) || git_odb_read(&object, b->odb, &id))
        return ERR_OK;
    if (git_odb_object_type(object) == GIT_OBJECT_BLOB)
        rc = snapshot_pack_add(
            pack, GIT_OBJECT_BLOB,
            (struct slice){ git_odb_object_data(object), git_odb_object_size(object) }, copy, e);
    git_odb_object_free(object);
    return rc;
}

void snapshot_borrow_fini(struct snapshot_borrow *b)
{
    git_odb_free(b->odb);
    index_file_fini(&b->index);
    repo_close(b->repo);
    if (b->has_outside)
        tree_ignore_fini(&b->outside);
    *b = (struct snapshot_borrow){ .root = NULL };
}
