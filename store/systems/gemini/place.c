#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/gemini/gemini.h"

/* Which folder is that of a directory. The program asks projects.json first, and then looks for a folder whose mark,
 * .project_root, has the directory; it believes the first only if the mark does not say otherwise (0.61.0). */

enum { ROOT_MAX = 8192, PROJECTS_MAX = 4 << 20, HASH_DIGITS = 8, NAME_MOST = 64 };

static struct slice gemini_read_root(const char *dir, struct arena *a)
{
    struct slice root = { NULL, 0 };
    AUTO_BUF text = { 0 };
    const char *path = arena_format(a, "%s/.project_root", dir);

    if (path && !file_read_all(AT_FDCWD, path, 0, ROOT_MAX, &text, NULL)) {
        while (text.n && (unsigned char)text.p[text.n - 1] <= ' ')
            text.n--;
        if (text.n && text.p[0] == '/' && !memchr(text.p, '\0', text.n))
            root = arena_copy(a, buf_slice(&text));
    }
    return root;
}

/* Looks in projects.json, {"projects": {directory: name of its folder}}, for a directory or for a name; the other one
 * is NULL. Returns the other one, or nothing. */
static struct slice gemini_registered(const struct store *st, const struct slice *directory,
                                      const struct slice *name, struct arena *a)
{
    struct slice key, value, list, found = { NULL, 0 };
    AUTO_BUF text = { 0 };
    struct json_iter it;
    const char *path = arena_format(a, "%s/projects.json", st->path);

    if (path && !file_read_all(AT_FDCWD, path, 0, PROJECTS_MAX, &text, NULL) &&
        json_valid(buf_slice(&text)) && json_get(buf_slice(&text), "projects", &list) &&
        json_type(list) == JSON_OBJECT && json_iter_open(&it, list))
        while (!found.n && json_iter_next(&it, &key, &value)) {
            struct slice dir, folder;

            if (json_type(value) != JSON_STRING || !json_text(value, a, &folder) ||
                !json_text(key, a, &dir) || !dir.n || dir.p[0] != '/' ||
                memchr(dir.p, '\0', dir.n) || !folder.n || folder.p[0] == '.' ||
                memchr(folder.p, '/', folder.n) || memchr(folder.p, '\0', folder.n))
                continue;
            if (directory && slice_eq(dir, *directory))
                found = arena_copy(a, folder);
            if (name && slice_eq(folder, *name))
                found = arena_copy(a, dir);
        }
    return found;
}

struct slice gemini_directory(const struct store *st, const struct scope *scope,
                              struct slice folder, struct arena *a)
{
    struct slice path = arena_copy(a, folder), root = { NULL, 0 };
    const char *slash = path.p ? strrchr(path.p, '/') : NULL;
    const struct slice name = slice_of(slash ? slash + 1 : "");

    if (slash)
        root = gemini_read_root(path.p, a);
    if (!root.n && slash)
        root = gemini_registered(st, NULL, &name, a);
    if (!root.n && scope && name.n == 2 * SHA256_BYTES)
        root = config_dir_of_hash(scope, DIGEST_SHA256, name);
    return root;
}

struct slice gemini_project(const struct session_ref *ref, const struct scope *scope,
                            struct arena *a)
{
    const char *chats = NULL, *next = ref->path.p;

    while ((next = strstr(next, "/chats/")))
        chats = next++;
    return chats ? gemini_directory(ref->store, scope,
                                    (struct slice){ ref->path.p, (size_t)(chats - ref->path.p) }, a)
                 : (struct slice){ NULL, 0 };
}

/* The folder that is a directory's already; .p is NULL: none, or out of memory. */
static struct slice gemini_folder_known(const struct store *st, struct slice directory,
                                        struct arena *a)
{
    const char *tmp = ((const struct jsonl_store *)st)->folder;
    const struct slice listed = gemini_registered(st, &directory, NULL, a);
    const char *path = listed.n ? arena_format(a, "%s/%.*s", tmp, SLICE_ARG(listed)) : NULL;
    const struct slice mark = path ? gemini_read_root(path, a) : SLICE("");
    const struct dirent *x;

    if (path && (!mark.n || slice_eq(mark, directory)))
        return listed;
    AUTO_DIR *dir = opendir(tmp);

    while (dir && (x = readdir(dir))) {
        path = x->d_name[0] == '.' ? NULL : arena_format(a, "%s/%s", tmp, x->d_name);
        if (path && slice_eq(gemini_read_root(path, a), directory))
            return arena_copy(a, slice_of(x->d_name));
    }
    return (struct slice){ NULL, 0 };
}

/* A folder that is new has the name of the directory, as the program would give it, with the beginning of the
 * directory's SHA-256 instead of a number, so that no two of them get the same. */
struct slice gemini_folder_of(const struct store *st, struct slice directory, struct arena *a)
{
    struct slice known = gemini_folder_known(st, directory, a);
    const char *slash = memrchr(directory.p, '/', directory.n);
    const char *base = slash ? slash + 1 : directory.p, *end = directory.p + directory.n;
    char name[NAME_MOST + 1], hex[2 * SHA256_BYTES + 1];
    uint8_t sum[SHA256_BYTES];
    size_t n = 0;

    if (known.p || a->failed || !digest_of(DIGEST_SHA256, directory, sum))
        return known;
    digest_hex(sum, SHA256_BYTES, hex);
    for (const char *p = base; p < end && n < NAME_MOST; p++) {
        const char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            name[n++] = c;
        else if (n && name[n - 1] != '-')
            name[n++] = '-';
    }
    while (n && name[n - 1] == '-')
        n--;
    name[n] = '\0';
    const char *made = arena_format(a, "%s-%.*s", n ? name : "project", HASH_DIGITS, hex);

    return made ? slice_of(made) : known;
}

/* Nothing in a session names its directory. */
enum err_code gemini_set_directory(const struct store *st, const struct session_ref *ref,
                                   struct slice from, struct slice to, struct change *c,
                                   struct err *e)
{
    (void)st, (void)ref, (void)from, (void)to, (void)c, (void)e;
    return ERR_OK;
}

/* The mark by which the program finds a new folder. */
enum err_code gemini_adopt(const struct store *st, struct slice folder, struct slice directory,
                           struct change *c, struct err *e)
{
    struct arena a = { 0 };
    const char *tmp = ((const struct jsonl_store *)st)->folder;
    const char *path = arena_format(&a, "%s/%.*s/.project_root", tmp, SLICE_ARG(folder));
    const struct step mark = { .kind = STEP_PUT,
                               .path = path,
                               .bytes = directory,
                               .mtime_ns = MTIME_NOW,
                               .old_absent = true,
                               .with_dir = true };
    bool planned = false;
    enum err_code rc = path ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i < c->n && path; i++)
        planned = planned || strcmp(c->step[i].path, path) == 0;
    if (path && !planned && !gemini_folder_known(st, directory, &a).p)
        rc = a.failed ? err_nomem(e) : change_add(c, &mark, e);
    arena_fini(&a);
    return rc;
}
