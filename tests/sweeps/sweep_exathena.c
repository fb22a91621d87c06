#include "tests/test.h"

#include "lite/base/digest.h"
#include "store/api/store.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/exathena/exathena.h"
#include "tests/sweeps/rewind_sweep.h"

/* A rewind of an ExAthena session, files and log: wherever it breaks, both are rewound or neither is, and no line is
 * lost. The plan is the system's own, made anew at every try. */

#define AT(n) "\"2026-11-21T20:21:5" n ".343990Z\""
#define USER(n, text)                                                                              \
    "{\"data\":{\"message\":{\"role\":\"user\",\"content\":\"" text                                \
    "\"}},\"ts\":" AT(n) ",\"event\":\"user_message\",\"uuid\":\"event00000" n "\"}\n"
#define SESSIONS "user/.exathena/sessions/"
#define HISTORY "/.exathena/file-history/"
#define SAVED "user" HISTORY "deploy-123/"

/* Saves it under the name that the library gives to a path. */
static void save(struct trial_dir *y, const char *file, const char *first)
{
    char path[4096], name[256];
    uint8_t sha[SHA256_BYTES];
    char hex[SHA256_BYTES * 2 + 1];

    folder_path(&y->folder, file, path);
    assert_true(digest_of(DIGEST_SHA256, slice_of(path), sha));
    digest_hex(sha, sizeof sha, hex);
    snprintf(name, sizeof name, SAVED "%s/path", hex);
    folder_put(&y->folder, name, slice_of(path));
    snprintf(name, sizeof name, SAVED "%s/0.bin", hex);
    folder_put(&y->folder, name, (struct slice){ first ? first : "", first ? strlen(first) : 0 });
    snprintf(name, sizeof name, SAVED "%s/0.tombstone", hex);
    if (!first)
        folder_put(&y->folder, name, SLICE(""));
}

static void make_project(struct trial_dir *y)
{
    folder_put(&y->folder, SESSIONS "deploy-123.jsonl",
               SLICE(USER("1", "one") "\nnot an event\r\n" USER("2", "two") USER("3", "three")));
    folder_put(&y->folder, "user/lib/changed", SLICE("present\n"));
    folder_put(&y->folder, "user/lib/created", SLICE("created\n"));
    save(y, "user/lib/changed", "first\n");
    save(y, "user/lib/created", NULL);
    save(y, "user/deep/er/gone", "gone\n");
}

static enum err_code plan_of(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct store *st = NULL;
    struct arena a = { 0 };
    struct session_ref ref;
    enum err_code rc = exathena_ops.open(&y->env, y->user, &st, e);

    if (!rc)
        rc = exathena_ops.find(st, &everywhere, SLICE("deploy-123"), &a, &ref, e);
    if (!rc)
        rc = rewind_plan_make(&ref, SLICE("event000002"), HAS_LEASES ? REWIND_BOTH : REWIND_CODE,
                              plan, e);
    store_close(st);
    arena_fini(&a);
    return rc;
}

static enum trial_end apply(struct trial_dir *y)
{
    return rewind_sweep_apply(y, plan_of);
}

/* The names and bytes of saved files depend on the path of the tree; a rewind only reads them. */
static void blur(char *image)
{
    char *saved = strstr(image, HISTORY), *behind = strstr(image, "/.exathena/sessions");

    if (saved && behind > saved)
        memmove(saved, behind, strlen(behind) + 1);
}

TEST(files_and_log_go_back_together)
{
    struct trial s = { .name = "rewind of an ExAthena session",
                       .make = make_project,
                       .act = apply,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_undo,
                       .blur = blur,
                       .thorough = true,
                       .stride = 7 };

    trial_must_hold(&s);
}
