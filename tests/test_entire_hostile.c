#include "tests/support/entire.h"

#include "tests/test.h"

#include <stdlib.h>

/* What somebody else pushed, half wrote, or planted: named under problems, and never in the way of the rest. */

static const char plant[] =
    /* v1: a good checkpoint is there already; these lie beside it. */
    "cd committed && T=$(mktemp -u) && export GIT_INDEX_FILE=$T && "
    "git read-tree entire/checkpoints/v1 && "
    "put() { git update-index --add --cacheinfo 100644,$(git hash-object -w --stdin),\"$1\"; } && "
    "printf 'not json' | put 11/1111111111/metadata.json && "
    "printf '{\"sessions\":[{\"metadata\":\"/../../../etc/passwd\"}]}' | put "
    "22/2222222222/metadata.json && "
    "printf '{\"sessions\":[{\"metadata\":\"/33/3333333333/0/metadata.json\"}]}' | "
    "put 33/3333333333/metadata.json && "
    "printf '{\"session_id\":\"../../evil\"}' | put 33/3333333333/0/metadata.json && "
    "printf '{\"sessions\":[{\"metadata\":\"/44/4444444444/7/metadata.json\"}]}' | "
    "put 44/4444444444/metadata.json && "
    "head -c 200000 /dev/zero | tr '\\0' '[' | put 55/5555555555/metadata.json && "
    "printf '{\"session_id\":\"esc\\\\u001b[31m\"}' | put 66/6666666666/metadata.json && "
    "printf 'file where a folder should be' | put 88 && "
    "C=$(git commit-tree -p entire/checkpoints/v1 -m planted $(git write-tree)) && "
    "git update-ref refs/heads/entire/checkpoints/v1 $C && rm -f $T && unset GIT_INDEX_FILE && "
    /* Refs that are none. */
    "B=$(echo x | git hash-object -w --stdin) && "
    "git update-ref refs/entire/checkpoints/12/abcdefabcd12 $B && "
    /* Shadow commits of nobody. */
    "S=$(printf 'x\\n\\nEntire-Session: ../../evil\\nEntire-Metadata-Task: a/tasks/../../b\\n' | "
    "git commit-tree HEAD^{tree}) && git update-ref refs/heads/entire/abcdef0-e3b0c4 $S && "
    /* States. */
    "cd .git/entire-sessions && mkdir dir.json && mkfifo fifo.json && ln -s /etc/passwd link.json "
    "&& "
    "printf '{\"session_id\":\"a/b\"}' > slash.json && printf '{\"session_id\":\"other\"}' > "
    "named.json && "
    "printf 'null' > null.json && printf '[]' > array.json && : > empty.json && "
    "printf '{\"session_id\":\"README\"}' > README";

struct seen {
    size_t n;
    char ids[8192];
};

static bool see(const struct session_ref *ref, void *arg)
{
    struct seen *s = arg;
    size_t n = strlen(s->ids);

    snprintf(s->ids + n, sizeof s->ids - n, "%.*s\n", SLICE_ARG(ref->id));
    s->n++;
    return true;
}

static enum err_code hear(const struct finding *f, void *arg, struct err *e)
{
    char *text = arg;
    size_t n = strlen(text);

    (void)e;
    snprintf(text + n, 16384 - n, "%s %s: %s\n", finding_name(f->kind), f->path, f->why);
    return ERR_OK;
}

static void the_rest_is_listed_and_the_bad_named(void **state)
{
    (void)state;
    static const char *const named[] = { "checkpoint 111111111111",
                                         "checkpoint 222222222222",
                                         "checkpoint 333333333333",
                                         "checkpoint 444444444444",
                                         "checkpoint 555555555555",
                                         "checkpoint 666666666666",
                                         "checkpoint abcdefabcd12",
                                         "dir.json",
                                         "fifo.json",
                                         "link.json",
                                         "slash.json",
                                         "named.json",
                                         "null.json",
                                         "array.json",
                                         "empty.json" };
    struct entire_world w;
    struct seen all = { .n = 0 };
    char *problems = calloc(1, 16384);

    entire_world_make(&w, "committed");
    free(entire_world_sh(&w, "%s", plant));
    assert_int_equal(entire_ops.enumerate(w.store, &(struct scope){ .all = true }, see, &all, NULL),
                     ERR_OK);
    assert_int_equal(all.n, 6);
    assert_null(strstr(all.ids, "evil"));
    assert_int_equal(
        entire_ops.check_store(w.store, &(struct scope){ .all = true }, hear, problems, NULL),
        ERR_OK);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (!strstr(problems, named[i]))
            fail_msg("%s is not named in:\n%s", named[i], problems);
    free(problems);
    entire_world_remove(&w);
}

/* Rows 4 and 8 in the words of doctor. */
static void look_alikes_and_orphans_are_named(void **state)
{
    (void)state;
    struct entire_world w;
    char *problems = calloc(1, 16384);

    entire_world_make(&w, "edge");
    assert_int_equal(
        entire_ops.check_store(w.store, &(struct scope){ .all = true }, hear, problems, NULL),
        ERR_OK);
    assert_non_null(strstr(problems, "broken.json"));
    assert_non_null(strstr(problems, "half.json.tmp"));
    assert_non_null(strstr(problems, "entire/1234567"));
    assert_null(strstr(problems, "entire/notes"));
    free(problems);
    entire_world_remove(&w);
}

/* Row 39: said, and nothing more. */
static void a_wrong_checksum_is_a_warning(void **state)
{
    (void)state;
    struct entire_world w;
    char *problems = calloc(1, 16384);

    entire_world_make(&w, "committed");
    free(entire_world_sh(
        &w, "cd committed && T=$(mktemp -u) && export GIT_INDEX_FILE=$T && "
            "git read-tree entire/checkpoints/v1 && "
            "B=$(printf 'sha256:%%064d' 0 | git hash-object -w --stdin) && "
            "git update-index --add --cacheinfo 100644,$B,e0/e1e2e3e4e5/0/content_hash.txt && "
            "C=$(git commit-tree -p entire/checkpoints/v1 -m x $(git write-tree)) && "
            "git update-ref refs/heads/entire/checkpoints/v1 $C && rm -f $T"));
    struct session_ref ref = entire_world_find(&w, "f1b2c3d4-0004-4000-8000-00000000000d");
    struct transcript *t;

    assert_int_equal(entire_ops.load(w.store, &ref, NULL, &t, NULL), ERR_OK);
    assert_int_equal(t->n, 4);
    transcript_free(t);
    assert_int_equal(entire_ops.check(w.store, &ref, NULL, hear, problems, NULL), ERR_OK);
    assert_non_null(strstr(problems, "checksum checkpoint e0e1e2e3e4e5"));
    free(problems);
    entire_world_remove(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_listed_and_the_bad_named),
        cmocka_unit_test(look_alikes_and_orphans_are_named),
        cmocka_unit_test(a_wrong_checksum_is_a_warning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
