#include "store/demo/demo.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "store/demo/entire.h"
#include "store/demo/exathena.h"
#include "store/demo/files.h"
#include "store/demo/goat.h"
#include "store/demo/play.h"
#include "store/systems/common/project_folder.h"

enum { MINUTE = 60 * 1000 };

/* The parts of a path, joined; out has PATH_MAX bytes. */
static enum err_code join_parts(char *out, const char *const *part, struct err *e)
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
#define JOIN(out, e, ...) join_parts(out, (const char *const[]){ __VA_ARGS__, NULL }, e)

static enum err_code write_text_file(const char *dir, const char *name, const char *text,
                                     int64_t when_ms, struct err *e)
{
    char path[PATH_MAX];
    enum err_code rc = JOIN(path, e, dir, "/", name);

    return rc ? rc : demo_put(path, slice_of(text), when_ms, e);
}

/* An empty git repository, as far as git and we look: enough to have a branch and worktrees. */
static enum err_code make_repository(const char *project, int64_t when_ms, struct err *e)
{
    char path[PATH_MAX];
    enum err_code rc = write_text_file(project, ".git/HEAD", "ref: refs/heads/main\n", when_ms, e);

    if (!rc)
        rc = write_text_file(
            project, ".git/config",
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = false\n"
            "[user]\n\tname = Mira\n\temail = mira@example.invalid\n",
            when_ms, e);
    if (!rc)
        rc = JOIN(path, e, project, "/.git/objects");
    if (!rc)
        rc = demo_make_dirs(path, e);
    if (!rc)
        rc = JOIN(path, e, project, "/.git/refs/heads");
    return rc ? rc : demo_make_dirs(path, e);
}

/* What `git worktree add` leaves behind, on both sides. */
static enum err_code add_worktree(const char *project, const char *worktree, int64_t when_ms,
                                  struct err *e)
{
    char admin[PATH_MAX], text[PATH_MAX];
    enum err_code rc = JOIN(admin, e, project, "/.git/worktrees/refunds");

    if (!rc)
        rc = write_text_file(admin, "HEAD", "ref: refs/heads/refunds\n", when_ms, e);
    if (!rc)
        rc = write_text_file(admin, "commondir", "../..\n", when_ms, e);
    if (!rc)
        rc = JOIN(text, e, worktree, "/.git\n");
    if (!rc)
        rc = write_text_file(admin, "gitdir", text, when_ms, e);
    if (!rc)
        rc = JOIN(text, e, "gitdir: ", admin, "\n");
    return rc ? rc : write_text_file(worktree, ".git", text, when_ms, e);
}

static enum err_code make_projects(const char *dir, int64_t when_ms, struct err *e)
{
    char shop[PATH_MAX], other[PATH_MAX];
    enum err_code rc = JOIN(shop, e, dir, "/code/shop");

    if (!rc)
        rc = make_repository(shop, when_ms, e);
    if (!rc)
        rc = JOIN(other, e, dir, "/code/shop-refunds");
    if (!rc)
        rc = add_worktree(shop, other, when_ms, e);
    if (!rc)
        rc = JOIN(other, e, dir, "/code/ledger");
    return rc ? rc : make_repository(other, when_ms, e);
}

static int64_t began_ms(const struct demo_session *s, int64_t now_ms)
{
    return now_ms - s->ended_min_ago * (int64_t)MINUTE - play_length_ms(s);
}

static const struct demo_session *session_of(const char *id)
{
    size_t i = 0;

    while (strcmp(demo_sessions[i].id, id) != 0)
        i++;
    return &demo_sessions[i];
}

static enum err_code put_archive_mark(const struct play *p, struct err *e)
{
    char text[128], stamp[TIME_TEXT];

    time_format(p->log.clock_ms + MINUTE, stamp);
    snprintf(text, sizeof text, "{\"archived\":true,\"at\":\"%s\",\"by\":\"sdk\"}", stamp);
    return write_text_file(p->side, "archived.json", text, p->log.clock_ms + MINUTE, e);
}

static enum err_code put_session(struct play *p, struct err *e)
{
    char path[PATH_MAX];
    enum err_code rc = JOIN(path, e, p->side, ".jsonl");

    if (!rc)
        rc = demo_put(path, buf_slice(&p->log.out), p->log.clock_ms, e);
    if (!rc && p->log.session->archived)
        rc = put_archive_mark(p, e);
    return rc;
}

/* CONFIG/projects/<folder of the project>/<id> */
static enum err_code side_path(char *out, const char *dir, const char *cwd, const char *id,
                               struct err *e)
{
    struct arena a = { 0 };
    struct slice folder = project_folder_name(slice_of(cwd), &a);
    enum err_code rc = folder.p ? JOIN(out, e, dir, "/" DEMO_CONFIG "/projects/", folder.p, "/", id)
                                : err_nomem(e);

    arena_fini(&a);
    return rc;
}

static enum err_code build_session(const char *dir, struct world *w, const struct demo_session *s,
                                   int64_t now_ms, struct err *e)
{
    char cwd[PATH_MAX], side[PATH_MAX], history[PATH_MAX];
    struct play p = { .cwd = cwd, .side = side, .world = w, .history = { .dir = history } };
    enum err_code rc = JOIN(cwd, e, dir, "/", s->project);

    if (!rc)
        rc = side_path(side, dir, cwd, s->id, e);
    if (!rc)
        rc = JOIN(history, e, dir, "/" DEMO_CONFIG "/file-history/", s->id);
    if (rc)
        return rc;
    demo_log_init(&p.log, s, cwd, now_ms);
    rc = play_session(&p, began_ms(s, now_ms),
                      s->fork_of ? began_ms(session_of(s->fork_of), now_ms) : 0, e);
    if (!rc)
        rc = put_session(&p, e);
    demo_log_fini(&p.log);
    return rc;
}

static enum err_code put_world(const char *dir, const struct world *w, int64_t when_ms,
                               struct err *e)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < w->n; i++) {
        const struct world_file *f = &w->file[i];
        enum err_code rc = JOIN(path, e, dir, "/", f->project, "/", f->path);

        if (!rc && f->exists)
            rc = demo_put(path, buf_slice(&f->text), when_ms, e);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static enum err_code write_goat(const char *dir, int64_t now_ms, struct err *e)
{
    char config[PATH_MAX], project[PATH_MAX];
    enum err_code rc = JOIN(config, e, dir, "/" DEMO_CONFIG);

    if (!rc)
        rc = JOIN(project, e, dir, "/" DEMO_PROJECT);
    return rc ? rc : demo_goat(config, project, now_ms, e);
}

static enum err_code write_exathena(const char *dir, int64_t now_ms, struct err *e)
{
    char path[PATH_MAX];
    enum err_code rc = JOIN(path, e, dir, "/" DEMO_PROJECT);

    return rc ? rc : demo_exathena(path, now_ms, e);
}

static enum err_code write_entire(const char *dir, int64_t now_ms, struct err *e)
{
    char path[PATH_MAX];
    enum err_code rc = JOIN(path, e, dir, "/" DEMO_PROJECT);

    return rc ? rc : demo_entire(path, now_ms, e);
}

enum err_code demo_build(const char *dir, int64_t now_ms, struct err *e)
{
    struct world w = { .n = 0 };
    struct demo_git_start loom;
    enum err_code rc = make_projects(dir, now_ms, e);

    demo_git_start_begin(&loom);
    if (!rc)
        rc = world_init(&w, e);
    for (size_t i = 0; !rc && i < demo_session_count; i++)
        rc = build_session(dir, &w, &demo_sessions[i], now_ms, e);
    if (!rc)
        rc = put_world(dir, &w, now_ms, e);
    if (!rc)
        rc = write_goat(dir, now_ms, e);
    if (!rc)
        rc = write_exathena(dir, now_ms, e);
    if (!rc)
        rc = write_entire(dir, now_ms, e);
    demo_git_start_join(&loom);
    world_fini(&w);
    return rc ? err_wrap(e, rc, "build the demo") : ERR_OK;
}
