#ifndef TESTS_SUPPORT_REWIND_REWIND_CASE_H
#define TESTS_SUPPORT_REWIND_REWIND_CASE_H

#include "tests/test.h"

#include <stdlib.h>

#include "store/rewind/plan/rewind.h"
#include "tests/support/folder.h"

/* A small work tree, a plan for it, and the steps that the cases share. */
static const struct rewind_options all = { .allow_edited = true };

struct rewind_case {
    struct folder folder;
    struct store_env env;
    char root[4096], state[4096], f[4096];
    struct rewind_plan plan;
    struct rewind_preview preview;
    struct rewind_result result;
    struct err e;
};

/* The name that a replaced file gets in the record. Without leases it may be open, and so it is moved there itself. */
#ifdef REPRISE_PORTABLE
#define KEPT(number) number ".live"
#else
#define KEPT(number) number
#endif

static inline int set_up(void **state)
{
    struct rewind_case *p = calloc(1, sizeof *p);

    folder_make(&p->folder);
    folder_put(&p->folder, "ws/d/f", SLICE("present\n"));
    folder_put(&p->folder, "ws/d/g", SLICE("also\n"));
    folder_dir(&p->folder, "saved");
    folder_path(&p->folder, "ws", p->root);
    folder_path(&p->folder, "state", p->state);
    folder_path(&p->folder, "ws/d/f", p->f);
    p->env = (struct store_env){ .state_dir = p->state, .now_ms = 1800000000000 };
    p->plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = p->root };
    *state = p;
    return 0;
}

static inline void forget(struct rewind_case *p)
{
    rewind_result_fini(&p->result);
    rewind_preview_fini(&p->preview);
    rewind_plan_fini(&p->plan);
}

static inline int tear_down(void **state)
{
    struct rewind_case *p = *state;

    forget(p);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static inline void want(struct rewind_case *p, const char *path, const char *text)
{
    struct rewind_target t = { .path = path,
                               .want = text ? REWIND_BYTES : REWIND_ABSENT,
                               .source = { .bytes = { text, text ? strlen(text) : 0 } } };

    assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
}

static inline void want_in(struct rewind_case *p, const char *name, const char *text)
{
    char path[4096];

    want(p, folder_path(&p->folder, name, path), text);
}

static inline enum err_code look(struct rewind_case *p)
{
    rewind_preview_fini(&p->preview);
    return rewind_preview(&p->plan, &all, &p->preview, &p->e);
}

static inline enum err_code apply(struct rewind_case *p)
{
    rewind_result_fini(&p->result);
    enum err_code rc = rewind_apply(&p->env, &p->preview, &p->result, &p->e);

    p->env.now_ms++;
    return rc;
}

static inline enum err_code undo(struct rewind_case *p)
{
    forget(p);
    enum err_code rc = rewind_undo_plan(&p->env, NULL, &p->plan, &p->e);

    if (!rc)
        rc = look(p);
    return rc ? rc : apply(p);
}

static inline bool nothing_of_ours_is_left(struct rewind_case *p)
{
    char *image = folder_image(&p->folder, "ws");
    bool clean = strstr(image, ".reprise") == NULL;
    struct rewind_records records;

    free(image);
    if (rewind_records_read(&p->env, &records, NULL))
        return false;
    clean = clean && records.n == 0;
    rewind_records_fini(&records);
    return clean;
}

#endif
