#ifndef TESTS_SUPPORT_REWIND_MIXED_PLAN_H
#define TESTS_SUPPORT_REWIND_MIXED_PLAN_H

#include "tests/test.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "support/rewind/rewind_case.h"

/* A plan with one entry of each kind, in the project and outside of it, and the checks of its files. */
static const struct rewind_options everything = { .allow_outside = true, .allow_edited = true };

static inline void mixed_plan_target(struct rewind_case *p, const char *name, const char *text,
                                     unsigned prune, uint32_t mode)
{
    char path[4096], saved[4096];
    struct rewind_target t = { .path = folder_path(&p->folder, name, path),
                               .want = text ? REWIND_BYTES : REWIND_ABSENT,
                               .source.bytes = { text, text ? strlen(text) : 0 },
                               .prune = prune,
                               .has_mode = mode != 0,
                               .mode = mode };

    if (strcmp(name, "ws/new/deep/h") == 0)
        t.source = (struct rewind_source){ .file = folder_path(&p->folder, "saved/h", saved) };
    assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
}

static inline void mixed_plan(struct rewind_case *p)
{
    mixed_plan_target(p, "ws/d/f", "old\n", 0, 0640);
    mixed_plan_target(p, "out/o", "old outside\n", 0, 0);
    mixed_plan_target(p, "ws/gone/deep/only", NULL, 9, 0);
    mixed_plan_target(p, "ws/new/deep/h", "back\n", 0, 0);
    mixed_plan_target(p, "ws/m", "same\n", 0, 0755);
    mixed_plan_target(p, "out/gone/too", NULL, 1, 0);
}

/* The conversation goes back with them: its log ends after the first line. */
static inline void mixed_plan_conversation(struct rewind_case *p)
{
    char log[4096];
    struct step cut = { .kind = STEP_TAIL,
                        .path = folder_path(&p->folder, "out/log", log),
                        .old = SLICE("two\n"),
                        .offset = 4,
                        .mtime_ns = MTIME_NOW };

    p->plan.conversation = (struct rewind_conversation){
        .change = change_new("rewind"), .how = CONVERSATION_TRUNCATE, .kept = 1, .dropped = 1
    };
    assert_non_null(p->plan.conversation.change);
    assert_int_equal(change_add(p->plan.conversation.change, &cut, NULL), ERR_OK);
}

static inline void mixed_tree(struct rewind_case *p)
{
    static const char *const dirs[] = { "ws/gone", "ws/gone/deep", "out", "out/gone" };
    char path[4096];

    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        assert_int_equal(mkdir(folder_path(&p->folder, dirs[i], path), 0755), 0);
    folder_put(&p->folder, "ws/gone/deep/only", SLICE("only\n"));
    folder_put(&p->folder, "saved/h", SLICE("back\n"));
    folder_put(&p->folder, "ws/m", SLICE("same\n"));
    folder_put(&p->folder, "out/o", SLICE("new outside\n"));
    folder_put(&p->folder, "out/gone/too", SLICE("too\n"));
    folder_put(&p->folder, "out/mine", SLICE("mine\n"));
    folder_put(&p->folder, "out/log", SLICE("one\ntwo\n"));
    /* Only on file systems that have it. */
    (void)setxattr(folder_path(&p->folder, "ws/gone/deep", path), "user.x", "y", 1, 0);
    (void)setxattr(folder_path(&p->folder, "ws/gone/deep/only", path), "user.x", "y", 1, 0);
}

/* Ready to be applied. */
static inline struct rewind_case *mixed_place(bool conversation)
{
    /* more than the first allocation, and no space for the NUL */
    static char longest[8193];
    struct rewind_case *p;

    memset(longest, 'm', sizeof longest - 1);

    assert_int_equal(set_up((void **)&p), 0);
    mixed_tree(p);
    p->plan.point = longest;
    /* A directory in the plan that no file of it needs. */
    assert_true(beneath_dirs_add(&p->plan.dirs, &p->plan.arena,
                                 (struct slice){ longest, sizeof longest - 1 },
                                 &(struct attrs){ 0 }));
    mixed_plan(p);
    if (conversation)
        mixed_plan_conversation(p);
    assert_int_equal(rewind_preview(&p->plan, &everything, &p->preview, &p->e), ERR_OK);
    assert_int_equal(p->preview.refused, 0);
    return p;
}

static inline void mixed_remove(struct rewind_case *p)
{
    tear_down((void **)&p);
}

static inline enum err_code mixed_undo(struct rewind_case *p)
{
    forget(p);
    enum err_code rc = rewind_undo_plan(&p->env, NULL, &p->plan, &p->e);

    if (!rc)
        rc = rewind_preview(&p->plan, &everything, &p->preview, &p->e);
    return rc ? rc : apply(p);
}

/* Names, modes, bytes and times of all files of the user; malloc'ed. */
static inline char *mixed_image(struct rewind_case *p)
{
    char *ws = folder_image(&p->folder, "ws"), *out = folder_image(&p->folder, "out");
    size_t n = strlen(ws) + strlen(out) + 2;
    char *both = malloc(n);

    snprintf(both, n, "%s\n%s", ws, out);
    free(ws);
    free(out);
    return both;
}

static inline bool mixed_is(struct rewind_case *p, const char *image)
{
    char *now = mixed_image(p);
    bool same = strcmp(now, image) == 0;

    free(now);
    return same;
}

static inline bool mixed_is_clean(struct rewind_case *p)
{
    char *now = mixed_image(p);
    bool clean = strstr(now, ".reprise") == NULL;

    free(now);
    return clean;
}

static inline bool mixed_is_new(struct rewind_case *p, bool conversation)
{
    struct stat st;
    char path[4096];

    return mixed_is_clean(p) && folder_is(&p->folder, "ws/d/f", "old\n") &&
           folder_is(&p->folder, "ws/d/g", "also\n") &&
           folder_is(&p->folder, "out/o", "old outside\n") && !folder_has(&p->folder, "ws/gone") &&
           folder_is(&p->folder, "ws/new/deep/h", "back\n") &&
           stat(folder_path(&p->folder, "ws/m", path), &st) == 0 && (st.st_mode & 0777) == 0755 &&
           !folder_has(&p->folder, "out/gone") && folder_is(&p->folder, "out/mine", "mine\n") &&
           folder_is(&p->folder, "out/log", conversation ? "one\n" : "one\ntwo\n");
}

#endif
