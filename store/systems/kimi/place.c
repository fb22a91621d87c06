#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/systems/kimi/kimi.h"

/* Where Kimi Code looks for the sessions of a directory (read in 2.1.0 and tried with it): in one folder, whose name
 * follows from the directory. It never asks session_index.jsonl for them. `state.json` has to name the directory, and
 * the newest `runtime.set_binding` of each log the folder. */

enum { SLUG_MOST = 40, HEAD_MOST = 64 << 10 };

/* ---- the folder ---- */

static bool kimi_is_slug_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/* Removes hyphens from both ends. */
static struct slice kimi_trim(struct slice slug)
{
    for (; slug.n && slug.p[0] == '-'; slug.n--)
        slug.p++;
    while (slug.n && slug.p[slug.n - 1] == '-')
        slug.n--;
    return slug;
}

struct slice kimi_folder_of(const struct store *st, struct slice directory, struct arena *a)
{
    const char *slash = memrchr(directory.p, '/', directory.n);
    const char *p = slash ? slash + 1 : directory.p, *const end = directory.p + directory.n;
    char hex[2 * SHA256_BYTES + 1];
    uint8_t sum[SHA256_BYTES];
    char *name = arena_alloc(a, (size_t)(end - p) + 1);
    size_t n = 0;

    (void)st;
    if (!name || !digest_of(DIGEST_SHA256, directory, sum))
        return (struct slice){ NULL, 0 };
    digest_hex(sum, SHA256_BYTES, hex);

    /* A run of other characters is one hyphen. */
    for (bool other = false; p < end; p++) {
        const char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;

        if (kimi_is_slug_byte(c))
            name[n++] = c;
        else if (!other)
            name[n++] = '-';
        other = !kimi_is_slug_byte(c);
    }
    struct slice slug = kimi_trim((struct slice){ name, n });

    slug.n = slug.n < SLUG_MOST ? slug.n : SLUG_MOST;
    slug = kimi_trim(slug);
    if (!slug.n || slice_eq(slug, SLICE(".")) || slice_eq(slug, SLICE("..")))
        slug = SLICE("workspace");
    const char *folder =
        arena_format(a, "wd_%.*s_%.*s", SLICE_ARG(slug), (int)KIMI_HASH_DIGITS, hex);

    return folder ? slice_of(folder) : (struct slice){ NULL, 0 };
}

/* ---- the directory ---- */

/* The row with another folder. It is not newer than the session was. */
static enum err_code kimi_bind(struct slice row, struct slice folder, int64_t mtime_ns,
                               struct arena *a, struct buf *out, struct err *e)
{
    const char *name = arena_format(a, "\"%.*s\"", SLICE_ARG(folder));
    const char *time = arena_format(a, "%lld", (long long)(mtime_ns / 1000000));
    struct json_edit edits[] = { { .name = "workspaceId" }, { .name = "time", .if_there = true } };

    NEED(name && time);
    edits[0].value = slice_of(name);
    edits[1].value = slice_of(time);
    NEED(!json_edit(out, row, edits, 2) && !buf_add_byte(out, '\n'));
    return ERR_OK;
}

static enum err_code kimi_bind_log(const char *path, struct slice from, struct slice to,
                                   struct change *c, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF now = { 0 };
    AUTO_BUF before = { 0 };
    struct stat st;
    struct slice row;

    if (lstat(path, &st))
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "move");

    /* The first row that binds the log to a folder, which is at its beginning; .p is NULL if older
     * programs wrote it. */
    char *head = arena_alloc(&a, HEAD_MOST);
    struct file f;
    size_t n;

    row = (struct slice){ NULL, 0 };
    NEED(head);
    TRY(file_open(AT_FDCWD, path, 0, &f, e));
    const enum err_code rc = file_read(&f, 0, head, HEAD_MOST, &n, e);

    file_close(&f);
    if (rc)
        return err_at(e, rc, path);
    for (const char *p = head, *newline; (newline = memchr(p, '\n', n - (size_t)(p - head)));
         p = newline + 1) {
        const struct slice line = { p, (size_t)(newline - p) };

        if (json_valid(line) && json_get_is(line, "type", "runtime.set_binding")) {
            row = line;
            break;
        }
    }

    if (!row.p)
        return ERR_OK;
    const int64_t mtime_ns = time_ns(st.st_mtim);

    TRY(kimi_bind(row, to, mtime_ns, &a, &now, e));
    TRY(kimi_bind(row, from, mtime_ns, &a, &before, e));
    const struct step append = { .kind = STEP_APPEND,
                                 .path = path,
                                 .bytes = buf_slice(&now),
                                 .opposite = buf_slice(&before),
                                 .mtime_ns = mtime_ns };

    return change_add(c, &append, e);
}

enum err_code kimi_set_directory(const struct store *st, const struct session_ref *ref,
                                 struct slice from, struct slice to, struct change *c,
                                 struct err *e)
{
    AUTO_ARENA a = { 0 };

    const struct slice dir = kimi_session_dir(ref), folder = kimi_folder_of(st, to, &a);
    const char *path = arena_format(&a, "%.*s/state.json", SLICE_ARG(dir));
    struct slice *agent;
    size_t n;

    (void)from;
    NEED(folder.p && path);

    /* The state is a document that the program writes anew, so its time is its own affair. */
    static const char *const members[] = { "cwd", "workDir", "custom.cwd" };
    AUTO_BUF state = { 0 };
    bool named = false;
    struct slice value;

    TRY(file_read_all(AT_FDCWD, path, 0, KIMI_STATE_MOST, &state, e));
    const struct slice all = buf_slice(&state);

    for (size_t i = 0; json_valid(all) && !named && i < sizeof members / sizeof *members; i++)
        named = json_at(all, members[i], &value) && json_type(value) == JSON_STRING && value.n > 2;
    if (!named)
        return err_set(e, ERR_UNSUPPORTED, path, "move: it names no directory");
    TRY(jsonl_put_text(path, all, value, to, MTIME_NOW, c, e));

    TRY(kimi_bind_log(ref->path.p, ref->folder, folder, c, e));
    TRY(kimi_subagents(st, ref, &a, &agent, &n, e));
    for (size_t i = 0; i < n; i++) {
        NEED(path = arena_format(&a, "%.*s/agents/%.*s/wire.jsonl", SLICE_ARG(dir),
                                 SLICE_ARG(agent[i])));
        TRY(kimi_bind_log(path, ref->folder, folder, c, e));
    }
    return ERR_OK;
}
