#include "lite/io/file.h"
#include "store/systems/plugin/plugin.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/id.h"
#include "lite/base/time.h"
#include "store/query/listing.h"
#include "tests/support/scratch.h"
#include "tests/test.h"

/* What is refused, and how a plug-in that misbehaves is held off. */

static const struct plugin_option who = { "who", "Ann" };

static enum err_code open_store(struct folder *f, const char *plugin, const char *path,
                                struct store **out, struct err *e)
{
    static struct store_env env;
    const struct plugin_config config = {
        .name = "rude", .plugin = plugin, .path = path, .option = &who, .options = 1
    };

    env = (struct store_env){ .home = f->path, .cwd = f->path, .data_dir = f->path };
    return plugin_store_open(&env, &config, true, out, e);
}

static void is_refused(struct folder *f, const char *plugin, enum err_code code, const char *why)
{
    struct store *st = NULL;
    struct err e = { 0 };

    assert_int_equal(open_store(f, plugin, "", &st, &e), code);
    assert_non_null(strstr(e.text, why));
    assert_null(st);
}

/* A copy of a plug-in with a mode of its own; the path lives until the next call. */
static const char *copy_of(struct folder *f, const char *plugin, const char *name, mode_t mode)
{
    static char path[4200];
    struct buf bytes = { 0 };

    assert_int_equal(file_read_all(AT_FDCWD, plugin, 0, 1 << 24, &bytes, NULL), ERR_OK);
    folder_put(f, name, buf_slice(&bytes));
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    assert_int_equal(chmod(path, mode), 0);
    buf_fini(&bytes);
    return path;
}

IN_SCRATCH(another_version_is_refused)
{
    is_refused(*state, OTHER_ABI_STORE, ERR_UNSUPPORTED, "made for version 8 of the interface");
}

IN_SCRATCH(a_table_that_is_too_short_is_refused)
{
    is_refused(*state, SHORT_TABLE_STORE, ERR_FORMAT, "too short");
}

IN_SCRATCH(an_object_without_a_table_is_refused)
{
    is_refused(*state, NOT_A_PLUGIN, ERR_FORMAT, "exports no table");
}

IN_SCRATCH(a_broken_object_is_refused)
{
    struct folder *f = *state;
    char path[4200];

    folder_put(f, "broken.so", SLICE("not an object"));
    snprintf(path, sizeof path, "%s/broken.so", f->path);
    chmod(path, 0600);
    is_refused(f, path, ERR_FORMAT, "load plug-in");
}

IN_SCRATCH(a_file_that_others_can_write_is_refused)
{
    struct folder *f = *state;

    is_refused(f, copy_of(f, MISBEHAVING_STORE, "shared.so", 0666), ERR_UNSAFE,
               "the file can be written by others");
    folder_put(f, "open/x", SLICE(""));
    const char *path = copy_of(f, MISBEHAVING_STORE, "open/mine.so", 0600);
    char dir[4200];

    snprintf(dir, sizeof dir, "%s/open", f->path);
    chmod(dir, 0777);
    is_refused(f, path, ERR_UNSAFE, "its directory can be written by others");
    folder_put(f, "open/below/x", SLICE(""));
    is_refused(f, copy_of(f, MISBEHAVING_STORE, "open/below/deep.so", 0600), ERR_UNSAFE,
               "it can be written by others");
}

IN_SCRATCH(links_and_relative_paths_are_refused)
{
    struct folder *f = *state;
    char link[4200];

    snprintf(link, sizeof link, "%s/link.so", f->path);
    assert_int_equal(symlink(MISBEHAVING_STORE, link), 0);
    is_refused(f, link, ERR_UNSAFE, "a link");
    is_refused(f, "./rude.so", ERR_UNSAFE, "needs an absolute path");
    is_refused(f, "../rude.so", ERR_UNSAFE, "needs an absolute path");
    is_refused(f, "rude", ERR_NOT_FOUND, "needs the plug-in \"rude\", which is not installed");
}

IN_SCRATCH(a_name_is_looked_up_among_the_users_plugins)
{
    struct folder *f = *state;
    struct store *st;

    folder_put(f, "stores/x", SLICE(""));
    copy_of(f, MISBEHAVING_STORE, "stores/rude.so", 0600);
    assert_int_equal(open_store(f, "rude", "", &st, NULL), ERR_OK);
    assert_string_equal(st->ops->name, "rude");
    assert_null(st->ops->append);
    assert_null(st->ops->create);
    assert_null(st->ops->set);
    assert_null(st->ops->remove);
    store_close(st);
}

IN_SCRATCH(a_password_in_a_url_is_refused)
{
    struct store *st;
    struct err e = { 0 };

    assert_int_equal(open_store(*state, MISBEHAVING_STORE, "rude://ann:secret@host/db", &st, &e),
                     ERR_UNSAFE);
    assert_non_null(strstr(e.text, "contains a password"));
    assert_null(strstr(e.text, "secret"));
    assert_null(strstr(e.path, "secret"));
    assert_int_equal(open_store(*state, MISBEHAVING_STORE, "rude://ann@host/db?x=a:b@c", &st, &e),
                     ERR_OK);
    store_close(st);
}

IN_SCRATCH(a_reason_becomes_one_plain_line)
{
    struct store *st;
    struct err e = { 0 };

    assert_int_equal(open_store(*state, MISBEHAVING_STORE, "refuses", &st, &e), ERR_IO);
    assert_string_equal(e.text, "open store: no  [31mway  in, Ann");
    assert_int_equal(open_store(*state, MISBEHAVING_STORE, "forgets", &st, &e), ERR_IO);
}

static bool count_ref(const struct session_ref *ref, void *arg)
{
    assert_true(slice_eq(ref->id, SLICE("s")));
    assert_true(slice_eq(ref->path, SLICE("rude:p/s")));
    (*(int *)arg)++;
    return true;
}

static void copy_trouble(const struct err *trouble, void *arg)
{
    *(struct err *)arg = *trouble;
}

IN_SCRATCH(what_is_no_session_is_left_out)
{
    const struct scope all = { .all = true };
    struct store *st;
    int n = 0;

    assert_int_equal(open_store(*state, MISBEHAVING_STORE, "", &st, NULL), ERR_OK);
    assert_int_equal(st->ops->enumerate(st, &all, count_ref, &n, NULL), ERR_OK);
    assert_int_equal(n, 1);
    store_close(st);
}

IN_SCRATCH(a_list_that_fails_is_reported_and_not_an_error)
{
    const struct scope all = { .all = true };
    struct store *st;
    struct err trouble = { 0 };
    int n = 0;

    assert_int_equal(open_store(*state, MISBEHAVING_STORE, "silent", &st, NULL), ERR_OK);
    assert_int_equal(st->ops->enumerate(st, &all, count_ref, &n, NULL), ERR_OK);
    assert_int_equal(n, 0);
    assert_int_equal(st->ops->unreadable(st, &all, copy_trouble, &trouble, NULL), ERR_OK);
    assert_int_equal(trouble.code, ERR_IO);
    assert_string_equal(trouble.text, "list sessions: the plug-in gives no reason");
    store_close(st);
}

static void *list_it(void *st)
{
    const struct scope all = { .all = true };
    int n = 0;

    assert_int_equal(((struct store *)st)->ops->enumerate(st, &all, count_ref, &n, NULL), ERR_OK);
    return NULL;
}

IN_SCRATCH(a_call_that_hangs_can_be_interrupted)
{
    struct store *st;
    pthread_t thread;

    assert_int_equal(open_store(*state, MISBEHAVING_STORE, "hangs", &st, NULL), ERR_OK);
    assert_int_equal(pthread_create(&thread, NULL, list_it, st), 0);
    st->ops->interrupt(st, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    store_close(st);
}

/* A list waits a second for servers. One answers just before that, one just after it, and one while the list is closed. */
IN_SCRATCH(an_answer_that_comes_too_late_is_taken_later_or_never)
{
    static const struct store_env env = { .home = "/", .cwd = "/" };
    static const char *const when[] = { "late 990", "late 1005", "late 1200" };
    const struct listing_query q = {
        .scope.all = true, .since_ms = TIME_NONE, .before_ms = TIME_NONE, .late = true
    };
    struct store *st[4];
    struct listing *l;
    bool more = false;

    folder_put(*state, "claude/projects/-w/11111111-1111-4111-8111-111111111111.jsonl",
               SLICE("{\"type\":\"user\",\"uuid\":\"1\",\"message\":{\"role\":\"user\","
                     "\"content\":\"x\"}}\n"));
    assert_int_equal(claude_ops.open(&env, scratch_path(state, "claude"), &st[0], NULL), ERR_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(open_store(*state, MISBEHAVING_STORE, when[i], &st[i + 1], NULL), ERR_OK);
    assert_int_equal(listing_open(st, 4, &q, &l, NULL), ERR_OK);
    listing_close(l);
    struct store *const two[] = { st[0], st[3] };

    assert_int_equal(listing_open(two, 2, &q, &l, NULL), ERR_OK);
    assert_int_equal(listing_late(l, &more, NULL), ERR_OK);
    assert_true(more);
    listing_close(l);
    for (size_t i = 0; i < 4; i++)
        store_close(st[i]);
}

IN_SCRATCH(rows_of_a_store_that_reorders_begin_with_their_type)
{
    struct session_ref ref;
    struct arena a = { 0 };
    struct store *st;
    struct plugin_text t;
    const struct scope all = { .all = true };

    assert_int_equal(open_store(*state, MISBEHAVING_STORE, "", &st, NULL), ERR_OK);
    assert_int_equal(st->ops->find(st, &all, SLICE("s"), &a, &ref, NULL), ERR_OK);
    assert_int_equal(plugin_text_open(plugin_of(st), &ref, NULL, &t, NULL), ERR_OK);
    const struct file rows = { .fd = t.file.fd };
    char text[256];
    size_t n;

    assert_int_equal(file_read(&rows, 0, text, sizeof text, &n, NULL), ERR_OK);
    assert_true(
        slice_eq((struct slice){ text, n },
                 SLICE("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Say "
                       "\\\" hello\"},\"uuid\":\"u1\",\"sessionId\":\"s\"}\n"
                       "no row at all\n"
                       "\n")));
    plugin_text_close(&t);
    arena_fini(&a);
    store_close(st);
}

/* ---- comparing ---- */

static bool are_same(const char *x, const char *y)
{
    struct arena a = { 0 };
    struct id128 p = row_contents(slice_of(x), &a), q = row_contents(slice_of(y), &a);

    arena_fini(&a);
    return id128_eq(p, q);
}

TEST(contents_count_and_not_their_spelling)
{
    assert_true(are_same("{\"a\":1,\"b\":[1,2]}", "{ \"b\" : [1, 2], \"a\" : 1 }"));
    assert_true(are_same("\"\\u0041\\/\"", "\"A/\""));
    assert_true(are_same("100", "1e2"));
    assert_true(are_same("100", "100.0"));
    assert_true(are_same("-0.0000001", "-1E-7"));
    assert_true(are_same("0", "0.00"));
    assert_true(are_same("9007199254740993", "9007199254740993"));
    assert_false(are_same("9007199254740993", "9007199254740992"));
    assert_false(are_same("1", "-1"));
    assert_false(are_same("10", "1"));
    assert_false(are_same("[1,2]", "[2,1]"));
    assert_false(are_same("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"));
    assert_false(are_same("{\"a\":[]}", "{\"a\":{}}"));
    assert_false(are_same("[[1],2]", "[1,[2]]"));
    assert_false(are_same("null", "\"null\""));
    assert_false(are_same("[null]", "[null,null]"));
}

static void add(struct idset *set, const char *row, bool want_new)
{
    bool is_new;

    assert_int_equal(row_set_add(set, slice_of(row), &is_new), ERR_OK);
    assert_int_equal(is_new, want_new);
}

static void find(const struct idset *set, uint8_t *passed, const char *row, uint32_t want)
{
    uint32_t number;

    assert_int_equal(row_set_find(set, passed, slice_of(row), &number), ERR_OK);
    assert_int_equal(number, want);
    if (number != IDSET_NONE)
        passed[number] = 1;
}

TEST(a_row_with_an_id_counts_once_and_others_as_often_as_they_are_there)
{
    struct idset here = { 0 };
    uint8_t passed[3] = { 0 };

    add(&here, "{\"uuid\":\"u1\",\"x\":1}", true);
    add(&here, "{\"uuid\":\"u1\",\"x\":2}", false);
    add(&here, "{\"type\":\"tag\",\"tag\":\"t\"}", true);
    add(&here, "{\"tag\":\"t\",\"type\":\"tag\"}", true);
    find(&here, passed, "{\"uuid\":\"u1\"}", 0);
    find(&here, passed, "{\"uuid\":\"u1\",\"x\":3}", 0);
    find(&here, passed, "{\"type\":\"tag\",\"tag\":\"t\"}", 1);
    find(&here, passed, "torn {", IDSET_NONE);
    find(&here, passed, "{\"type\":\"tag\",\"tag\":\"t\"}", 2);
    find(&here, passed, "{\"type\":\"tag\",\"tag\":\"t\"}", IDSET_NONE);
    idset_fini(&here);
}
