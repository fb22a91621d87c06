#include "store/demo/demo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/jsonout.h"
#include "store/demo/demo_internal.h"
#include "store/fs/disk.h"
#include "store/git/gitfiles.h"

/* ---- files ---- */

enum err_code demo_make_dirs(const char *path, struct err *e)
{
    char part[PATH_MAX];
    size_t n = strlen(path);

    if (n == 0 || n >= sizeof part)
        return err_set(e, ERR_USAGE, path, "make directory: name too long");
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return err_sys(e, part, "make directory");
    }
    return ERR_OK;
}

static enum err_code demo_make_parent(const char *path, struct err *e)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = (size_t)(slash - path);

    if (n >= sizeof parent)
        return err_set(e, ERR_USAGE, path, "make directory: name too long");
    memcpy(parent, path, n);
    parent[n] = '\0';
    return demo_make_dirs(parent, e);
}

enum err_code demo_put(const char *path, struct slice bytes, int64_t mtime_ms, struct err *e)
{
    const struct timespec t = { .tv_sec = mtime_ms / 1000, .tv_nsec = mtime_ms % 1000 * 1000000 };
    enum err_code rc = demo_make_parent(path, e);

    if (rc)
        return rc;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(e, path, "create");
    rc = disk_write(fd, bytes, NULL, path, e);
    if (!rc && futimens(fd, (const struct timespec[2]){ t, t }) != 0)
        rc = err_sys(e, path, "set time");
    if (close(fd) != 0 && !rc)
        rc = err_sys(e, path, "close");
    return rc;
}

enum err_code demo_join(char *out, const char *const *part, struct err *e)
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; part[i]; i++) {
        size_t m = strlen(part[i]);

        if (n + m >= PATH_MAX)
            return err_set(e, ERR_USAGE, out, "build the demo: name too long");
        memcpy(out + n, part[i], m + 1);
        n += m;
    }
    return ERR_OK;
}

/* ---- forms ---- */

static enum err_code add_literal(struct buf *out, struct slice text)
{
    struct jsonout j;

    jsonout_init(&j, out);
    if (text.p)
        jsonout_text(&j, text);
    else
        jsonout_null(&j);
    return j.rc;
}

/* Appends the content of a string literal, without quotes. */
static enum err_code demo_add_escaped(struct buf *out, struct slice text)
{
    AUTO_BUF literal = { 0 };

    TRY(add_literal(&literal, text));
    return buf_add(out, (struct slice){ literal.p + 1, literal.n - 2 });
}

enum err_code demo_json_list(struct buf *out, const char *form, va_list args)
{
    char stamp[TIME_TEXT];
    const char *text;
    enum err_code rc = ERR_OK;

    for (; *form && !rc; form++) {
        if (*form != '$') {
            rc = buf_add_byte(out, *form == '\'' ? '"' : *form);
            continue;
        }
        switch (*++form) {
        case 's':
            text = va_arg(args, const char *);
            rc = add_literal(out, text ? slice_of(text) : (struct slice){ NULL, 0 });
            break;
        case 'z': rc = add_literal(out, va_arg(args, struct slice)); break;
        case 'e': rc = demo_add_escaped(out, slice_of(va_arg(args, const char *))); break;
        case 'r': rc = buf_add(out, va_arg(args, struct slice)); break;
        case 'd': rc = buf_addf(out, "%lld", (long long)va_arg(args, int64_t)); break;
        default: time_format(va_arg(args, int64_t), stamp); rc = add_literal(out, slice_of(stamp));
        }
    }
    return rc;
}

enum err_code demo_json(struct buf *out, const char *form, ...)
{
    va_list args;

    va_start(args, form);
    enum err_code rc = demo_json_list(out, form, args);
    va_end(args);
    return rc;
}

/* ---- patches ---- */

enum { CONTEXT = 3, LINES_MAX = 256 };

struct lines {
    struct slice line[LINES_MAX];
    size_t n;
};

static void split_lines(struct slice text, struct lines *out)
{
    bool torn;

    out->n = 0;
    while (out->n < LINES_MAX && slice_line(&text, &out->line[out->n], &torn))
        out->n++;
}

/* Lines [from, to), each after its sign. */
static enum err_code demo_add_lines(struct buf *out, const char *sign, const struct lines *l,
                                    size_t from, size_t to)
{
    enum err_code rc = ERR_OK;

    for (size_t i = from; i < to && !rc; i++) {
        rc = demo_json(out, out->p[out->n - 1] == '[' ? "'$e" : ",'$e", sign);
        if (!rc)
            rc = demo_add_escaped(out, l->line[i]);
        if (!rc)
            rc = buf_add_byte(out, '"');
    }
    return rc;
}

enum err_code demo_patch(struct buf *out, struct slice before, struct slice after)
{
    struct lines a, b;
    size_t head = 0, tail = 0;

    split_lines(before, &a);
    split_lines(after, &b);

    /* There is one hunk, from the first line that differs to the last one. */
    while (head < a.n && head < b.n && slice_eq(a.line[head], b.line[head]))
        head++;
    if (head == a.n && head == b.n)
        return buf_add(out, SLICE("[]"));
    while (tail < a.n - head && tail < b.n - head &&
           slice_eq(a.line[a.n - 1 - tail], b.line[b.n - 1 - tail]))
        tail++;
    size_t from = head > CONTEXT ? head - CONTEXT : 0, more = tail > CONTEXT ? CONTEXT : tail;
    size_t a_end = a.n - tail, b_end = b.n - tail;
    enum err_code rc =
        demo_json(out, "[{'oldStart':$d,'oldLines':$d,'newStart':$d,'newLines':$d,'lines':[",
                  (int64_t)from + 1, (int64_t)(a_end + more - from), (int64_t)from + 1,
                  (int64_t)(b_end + more - from));

    if (!rc)
        rc = demo_add_lines(out, " ", &a, from, head);
    if (!rc)
        rc = demo_add_lines(out, "-", &a, head, a_end);
    if (!rc)
        rc = demo_add_lines(out, "+", &b, head, b_end);
    if (!rc)
        rc = demo_add_lines(out, " ", &a, a_end, a_end + more);
    return rc ? rc : buf_add(out, SLICE("]}]"));
}

/* ---- repositories ---- */

static enum err_code demo_put_text(const char *dir, const char *name, const char *text,
                                   int64_t when_ms, struct err *e)
{
    char path[PATH_MAX];

    TRY(DEMO_JOIN(path, e, dir, "/", name));
    return demo_put(path, slice_of(text), when_ms, e);
}

/* An empty git repository: enough for git and for us to have a branch and work trees. */
static enum err_code make_repository(const char *project, int64_t when_ms, struct err *e)
{
    char path[PATH_MAX];

    TRY(demo_put_text(project, ".git/HEAD", "ref: refs/heads/main\n", when_ms, e));
    TRY(demo_put_text(
        project, ".git/config",
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = false\n"
        "[user]\n\tname = Mira\n\temail = mira@example.invalid\n",
        when_ms, e));
    TRY(DEMO_JOIN(path, e, project, "/.git/objects"));
    TRY(demo_make_dirs(path, e));
    TRY(DEMO_JOIN(path, e, project, "/.git/refs/heads"));
    return demo_make_dirs(path, e);
}

/* ---- together ---- */

static void *start_git(void *arg)
{
    return gitlib_ready(NULL) ? NULL : arg; /* on failure, every later user tries again */
}

static enum err_code build_all(const char *dir, int64_t now_ms, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const char *shop = arena_format(&a, "%s/" DEMO_PROJECT, dir);
    const char *refunds = arena_format(&a, "%s/code/shop-refunds", dir);
    const char *ledger = arena_format(&a, "%s/code/ledger", dir);
    const char *config = arena_format(&a, "%s/" DEMO_CONFIG, dir);

    NEED(!a.failed);
    TRY(make_repository(shop, now_ms, e));

    /* Writes the files of `git worktree add`, in the repository and in the worktree. */
    char admin[PATH_MAX], text[PATH_MAX];

    TRY(DEMO_JOIN(admin, e, shop, "/.git/worktrees/refunds"));
    TRY(demo_put_text(admin, "HEAD", "ref: refs/heads/refunds\n", now_ms, e));
    TRY(demo_put_text(admin, "commondir", "../..\n", now_ms, e));
    TRY(DEMO_JOIN(text, e, refunds, "/.git\n"));
    TRY(demo_put_text(admin, "gitdir", text, now_ms, e));
    TRY(DEMO_JOIN(text, e, "gitdir: ", admin, "\n"));
    TRY(demo_put_text(refunds, ".git", text, now_ms, e));

    TRY(make_repository(ledger, now_ms, e));
    TRY(demo_claude(dir, now_ms, e));
    TRY(demo_goat(config, shop, now_ms, e));
    TRY(demo_exathena(shop, now_ms, e));
    return demo_entire(shop, now_ms, e);
}

/* libgit2 starts slowly, so another thread waits for it. */
enum err_code demo_build(const char *dir, int64_t now_ms, struct err *e)
{
    pthread_t starting;
    bool started = pthread_create(&starting, NULL, start_git, NULL) == 0;
    enum err_code rc = build_all(dir, now_ms, e);

    if (started)
        pthread_join(starting, NULL);
    return rc ? err_wrap(e, rc, "build the demo") : ERR_OK;
}
