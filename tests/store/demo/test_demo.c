#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/demo/demo.h"
#include "store/demo/demo_internal.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/entire/entire.h"
#include "tests/support/scratch.h"

static const int64_t now_ms = 1795300000000; /* a day in November 2026 */

static void build(void **state)
{
    struct err e = { 0 };

    if (demo_build(*state, now_ms, &e))
        fail_msg("%s: %s", e.path, e.text);
}

static struct buf read_file(const char *path)
{
    struct buf b = { 0 };
    struct err e;

    if (file_read_all(AT_FDCWD, path, 0, 1 << 20, &b, &e))
        fail_msg("%s: %s", path, e.text);
    return b;
}

/* Calls fn with each file of the tree whose name ends with the suffix. */
struct visit {
    const char *ending;
    void (*fn)(const char *path);
    int seen;
};
static struct visit visit;

static int visit_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    size_t n = strlen(path), m = strlen(visit.ending);

    (void)st, (void)ftw;
    if (type == FTW_F && n > m && strcmp(path + n - m, visit.ending) == 0) {
        visit.fn(path);
        visit.seen++;
    }
    return 0;
}

static int each_file(void **state, const char *ending, void (*fn)(const char *path))
{
    visit = (struct visit){ ending, fn, 0 };
    nftw(*state, visit_one, 16, FTW_PHYS);
    return visit.seen;
}

static void rows_parse(const char *path)
{
    struct buf b = read_file(path);
    struct slice rest = buf_slice(&b), line;
    bool torn;

    while (slice_line(&rest, &line, &torn))
        if (!torn && !json_valid(line))
            fail_msg("%s: a row does not parse: %.*s", path, SLICE_ARG(line));
    buf_fini(&b);
}

IN_SCRATCH(every_row_parses)
{
    build(state);

    /* Sub-agents, two Go sessions and two of ExAthena are counted too. */
    assert_int_equal(each_file(state, ".jsonl", rows_parse), (int)demo_session_count + 2 + 2 + 2);
}

static void parents_come_first(const char *path)
{
    if (strstr(path, "/.exathena/"))
        return; /* its events have no parents */
    struct buf b = read_file(path);
    struct slice rest = buf_slice(&b), line;
    struct arena a = { 0 };
    int64_t before = INT64_MIN;
    bool torn;

    while (slice_line(&rest, &line, &torn)) {
        struct slice parent, uuid, stamp;
        int64_t ms = 0;

        if (torn || !json_get_text(line, "uuid", &a, &uuid))
            continue;
        if (json_get_text(line, "parentUuid", &a, &parent))
            assert_non_null(memmem(b.p, (size_t)(line.p - b.p), parent.p, parent.n));
        assert_true(json_get_text(line, "timestamp", &a, &stamp) && time_parse(stamp, &ms));
        assert_true(ms >= before && ms <= now_ms);
        before = ms;
    }
    arena_fini(&a);
    buf_fini(&b);
}

IN_SCRATCH(rows_follow_their_parents_in_time)
{
    build(state);

    assert_true(each_file(state, ".jsonl", parents_come_first) > 0);
}

IN_SCRATCH(one_transcript_is_torn)
{
    struct buf b;

    build(state);
    /* The folder's name depends on the directory: look through all of them. */
    int torn = 0;
    DIR *d = opendir(scratch_path(state, "claude/projects"));
    for (struct dirent *folder; (folder = readdir(d));)
        for (size_t i = 0; i < demo_session_count; i++) {
            char name[512];

            snprintf(name, sizeof name, "claude/projects/%s/%s.jsonl", folder->d_name,
                     demo_sessions[i].id);
            if (access(scratch_path(state, name), F_OK) != 0)
                continue;
            b = read_file(scratch_path(state, name));
            torn += b.p[b.n - 1] != '\n';
            buf_fini(&b);
        }
    closedir(d);

    assert_int_equal(torn, 1);
}

/* A sum over all paths and bytes that does not depend on the order of the walk. Packs are left out: libgit2 does not
 * always choose the same deltas, and the refs name their objects by content. So is the list of the files of the newest
 * snapshot, which has their inodes. */
static uint64_t tree_sum;

static void remember(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (strstr(path, "/objects/pack/") || (slash && strcmp(slash, "/files") == 0))
        return;
    struct buf b = read_file(path);
    uint64_t sum = 0xcbf29ce484222325u;

    for (const char *p = path; *p; p++)
        sum = (sum ^ (unsigned char)*p) * 0x100000001b3u;
    for (size_t i = 0; i < b.n; i++)
        sum = (sum ^ (unsigned char)b.p[i]) * 0x100000001b3u;
    tree_sum += sum;
    buf_fini(&b);
}

IN_SCRATCH(the_same_time_gives_the_same_store)
{
    build(state);
    tree_sum = 0;
    assert_true(each_file(state, "", remember) > 40);
    uint64_t first = tree_sum;
    folder_remove(*state);
    scratch_need(mkdir(*state, 0700) == 0, *state);

    build(state);
    tree_sum = 0;
    each_file(state, "", remember);

    assert_true(tree_sum == first);
}

IN_SCRATCH(nothing_is_overwritten)
{
    struct err e = { 0 };

    build(state);

    assert_int_equal(demo_build(*state, now_ms, &e), ERR_IO);
    assert_int_equal(e.sys, EEXIST);
}

/* The Entire part of the demo: sessions of two agents, a commit and temporary checkpoints, and a work tree as the last
 * of these left it. */
IN_SCRATCH(a_repository_has_checkpoints_of_both_kinds)
{
    static const enum checkpoint_kind kinds[] = { CHECKPOINT_COMMIT, CHECKPOINT_TURN,
                                                  CHECKPOINT_TURN };
    const struct scope all = { .all = true };
    const struct rewind_options none = { .only = NULL };
    struct arena a = { 0 };
    struct checkpoint_list list;
    struct session_ref ref;
    struct store *st;
    struct rewind_plan plan;
    struct rewind_preview preview;
    size_t changed = 0;

    build(state);
    const struct store_env env = {
        .home = *state,
        .cwd = arena_format(&a, "%s/" DEMO_PROJECT, (const char *)*state),
        .now_ms = now_ms,
    };

    assert_int_equal(entire_ops.open(&env, NULL, &st, NULL), ERR_OK);
    for (int i = 2; i > 0; i--) {
        const char *id = arena_format(&a, "e47113e%d-0000-4000-8000-00000000000%d", i, i);

        assert_int_equal(entire_ops.find(st, &all, slice_of(id), &a, &ref, NULL), ERR_OK);
    }
    assert_int_equal(entire_ops.checkpoints(st, &ref, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 3);
    for (size_t i = 0; i < list.n; i++) {
        assert_int_equal(list.checkpoint[i].kind, kinds[i]);
        assert_null(list.checkpoint[i].why);
    }
    assert_int_equal(entire_ops.plan(st, &ref, list.checkpoint[2].id, &plan, NULL), ERR_OK);
    assert_int_equal(rewind_preview(&plan, &none, &preview, NULL), ERR_OK);
    for (size_t i = 0; i < preview.n; i++)
        changed += preview.entry[i].action != REWIND_UNCHANGED;
    assert_int_equal(changed, 0);
    rewind_preview_fini(&preview);
    rewind_plan_fini(&plan);
    checkpoint_list_fini(&list);
    store_close(st);
    arena_fini(&a);
}

IN_SCRATCH(files_are_as_the_last_session_left_them)
{
    build(state);
    struct buf b = read_file(scratch_path(state, DEMO_PROJECT "/src/pay.ts"));

    assert_non_null(memmem(b.p, b.n, "const TRIES = 5;", 16));
    assert_non_null(memmem(b.p, b.n, "captureKey(order.id, deliveryId)", 32));
    buf_fini(&b);
}

TEST(a_patch_shows_three_lines_around)
{
    struct buf out = { 0 };

    assert_int_equal(demo_patch(&out, SLICE("1\n2\n3\n4\nold\n6\n7\n8\n9\n"),
                                SLICE("1\n2\n3\n4\nnew\nmore\n6\n7\n8\n9\n")),
                     ERR_OK);

    assert_true(slice_eq(buf_slice(&out),
                         SLICE("[{\"oldStart\":2,\"oldLines\":7,\"newStart\":2,\"newLines\":8,"
                               "\"lines\":[\" 2\",\" 3\","
                               "\" 4\",\"-old\",\"+new\",\"+more\",\" 6\",\" 7\",\" 8\"]}]")));
    buf_fini(&out);
}

TEST(a_form_becomes_json)
{
    struct buf out = { 0 };

    assert_int_equal(demo_json(&out, "{'a':$s,'b':$s,'c':'<$e>','d':$z,'e':$r,'f':$d,'g':$t}",
                               "it's", NULL, "\"x\"\n", SLICE("z"), SLICE("[1]"), (int64_t)-7,
                               (int64_t)0),
                     ERR_OK);

    assert_true(slice_eq(buf_slice(&out),
                         SLICE("{\"a\":\"it's\",\"b\":null,\"c\":\"<\\\"x\\\"\\n>\",\"d\":\"z\","
                               "\"e\":[1],\"f\":-7,\"g\":\"1970-01-01T00:00:00.000Z\"}")));
    buf_fini(&out);
}

TEST(equal_texts_have_no_patch)
{
    struct buf out = { 0 };

    assert_int_equal(demo_patch(&out, SLICE("a\n"), SLICE("a\n")), ERR_OK);

    assert_true(slice_eq(buf_slice(&out), SLICE("[]")));
    buf_fini(&out);
}
