#include "tests/test.h"

#include <sys/resource.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "lite/json/jsonout.h"
#include "store/api/store.h"
#include "store/query/listing.h"
#include "store/query/resolve.h"
#include "store/systems/claude/list/discover.h"
#include "tests/support/folder.h"

/* A store in a temporary folder, listed, and ids as single digits: 3 is 00000000-...-000000000003. */
struct world {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct listing_query q;
    char got[4000];
};

static const char all_zero[] = "0000000%d-0000-4000-8000-000000000000";

static int set_up(void **state)
{
    static struct world w;

    w = (struct world){
        .q = { .sort = LISTING_MODIFIED, .since_ms = TIME_NONE, .before_ms = TIME_NONE }
    };
    folder_make(&w.folder);
    folder_dir(&w.folder, "projects");
    w.q.scope.all = true;
    w.env = (struct store_env){ .home = w.folder.path, .cwd = w.folder.path };
    assert_int_equal(claude_ops.open(&w.env, w.folder.path, &w.store, NULL), ERR_OK);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    store_close(w->store);
    folder_remove(&w->folder);
    return 0;
}

static void put(struct world *w, const char *project, int id, int64_t second, const char *rows)
{
    char name[200], file[60];

    snprintf(file, sizeof file, all_zero, id);
    snprintf(name, sizeof name, "projects/%s/%s.jsonl", project, file);
    folder_put(&w->folder, name, slice_of(rows));
    folder_mtime(&w->folder, name, second * 1000000000);
}

static void prompt(struct world *w, const char *project, int id, int64_t second, const char *text)
{
    char rows[500];

    snprintf(
        rows, sizeof rows,
        "{\"type\":\"user\",\"cwd\":\"/%s\",\"timestamp\":\"2026-01-0%dT00:00:00Z\",\"message\":{"
        "\"content\":\"%s\"}}\n",
        project, 9 - id % 9, text);
    put(w, project, id, second, rows);
}

/* "id:summary " for each row. */
static enum err_code note(const struct session_row *row, void *arg, struct err *e)
{
    struct world *w = arg;
    size_t n = strlen(w->got);

    (void)e;
    snprintf(w->got + n, sizeof w->got - n, "%.1s:%.*s ", row->ref.id.p + 7,
             SLICE_ARG(row->summary));
    return ERR_OK;
}

static const char *list(struct world *w)
{
    struct listing *l = NULL;

    w->got[0] = '\0';
    assert_int_equal(listing_open(&w->store, 1, &w->q, &l, NULL), ERR_OK);
    assert_int_equal(listing_each(l, note, w, NULL), ERR_OK);
    listing_close(l);
    return w->got;
}

/* The last message of session n is at the beginning of January (9 - n), whatever the time of its file. */
static const int64_t DAY_8_MS = 1767830400000, DAY_MS = 86400000;

#define IN_WORLD(name) TEST_WITH(name, set_up, tear_down)

IN_WORLD(newest_come_first_and_ties_by_id_descending)
{
    struct world *w = *state;

    prompt(w, "a", 1, 100, "one");
    prompt(w, "b", 2, 300, "two");
    prompt(w, "a", 3, 100, "three");
    put(w, "a", 4, 400, "{\"type\":\"x\"}\n");

    assert_string_equal(list(w), "2:two 3:three 1:one ");
}

/* Enumerate lets describe skip the sessions without a sidecar. */
IN_WORLD(titles_in_sidecars_are_found)
{
    struct world *w = *state;
    char side[60], name[200];

    for (int i = 1; i <= 4; i++)
        prompt(w, i < 4 ? "a" : "b", i, i, "p");
    for (int i = 4; i >= 1; i -= 2) {
        snprintf(side, sizeof side, all_zero, i);
        snprintf(name, sizeof name, "projects/%s/%s/custom-title.json", i < 4 ? "a" : "b", side);
        folder_put(&w->folder, name, SLICE("{\"customTitle\":\"t\"}"));
    }

    assert_string_equal(list(w), "4:t 3:p 2:t 1:p ");
}

IN_WORLD(pages_count_listable_sessions)
{
    struct world *w = *state;

    for (int i = 1; i <= 9; i++)
        if (i % 3)
            prompt(w, "a", i, i, "p");
        else
            put(w, "a", i, i, "{\"isSidechain\":true,\"summary\":\"s\"}\n");
    w->q.limit = 2;
    w->q.offset = 1;
    assert_string_equal(list(w), "7:p 5:p ");
    w->q.offset = 5;
    assert_string_equal(list(w), "1:p ");
    w->q.offset = 9;
    assert_string_equal(list(w), "");
}

IN_WORLD(the_newest_listable_copy_is_shown)
{
    struct world *w = *state;

    prompt(w, "a", 1, 100, "older");
    prompt(w, "b", 1, 200, "newer");
    put(w, "c", 1, 300, "{\"type\":\"x\"}\n");
    prompt(w, "a", 2, 100, "first by name");
    prompt(w, "b", 2, 100, "second by name");

    assert_string_equal(list(w), "1:newer 2:first by name ");
    w->q.before_ms = DAY_8_MS;
    assert_string_equal(list(w), "2:first by name ");
}

IN_WORLD(other_orders_and_filters)
{
    struct world *w = *state;

    prompt(w, "a", 1, 100, "bb");
    prompt(w, "a", 2, 200, "cccc");
    prompt(w, "a", 3, 300, "a");
    put(w, "a", 4, 50,
        "{\"type\":\"tag\",\"tag\":\"t\",\"lastPrompt\":\"d\",\"gitBranch\":\"g\"}\n");

    w->q.sort = LISTING_TITLE;
    assert_string_equal(list(w), "3:a 1:bb 2:cccc 4:d ");
    w->q.sort = LISTING_SIZE;
    w->q.limit = 2;
    assert_string_equal(list(w), "2:cccc 1:bb ");
    w->q.sort = LISTING_CREATED;
    w->q.limit = 0;
    assert_string_equal(list(w), "1:bb 2:cccc 3:a 4:d ");
    w->q.sort = LISTING_RECENT;
    assert_string_equal(list(w), "1:bb 2:cccc 3:a 4:d ");
    w->q.limit = 1;
    w->q.offset = 1;
    assert_string_equal(list(w), "2:cccc ");
    w->q.limit = w->q.offset = 0;
    w->q.since_ms = DAY_8_MS - DAY_MS;
    w->q.before_ms = DAY_8_MS;
    assert_string_equal(list(w), "2:cccc ");
    w->q.since_ms = w->q.before_ms = TIME_NONE;
    w->q.tag = SLICE("t");
    assert_string_equal(list(w), "4:d ");
    w->q.branch = SLICE("main");
    assert_string_equal(list(w), "");
}

static enum err_code count(const struct session_row *row, void *arg, struct err *e)
{
    (void)row;
    (void)e;
    ++*(size_t *)arg;
    return ERR_OK;
}

/* So many that they are delivered while others are still described: the newest message is in the oldest file. */
IN_WORLD(last_messages_are_in_order_however_many_there_are)
{
    struct world *w = *state;
    char name[200], row[200];

    for (int i = 0; i < 1200; i++) {
        snprintf(name, sizeof name, "projects/p/%08d-0000-4000-8000-000000000000.jsonl", i);
        snprintf(row, sizeof row,
                 "{\"type\":\"user\",\"timestamp\":\"2001-01-01T00:%02d:%02dZ\","
                 "\"message\":{\"content\":\"%d\"}}\n",
                 i / 60, i % 60, i);
        folder_put(&w->folder, name, slice_of(row));
        folder_mtime(&w->folder, name, (int64_t)(2000 - i) * 1000000000);
    }
    w->q.sort = LISTING_RECENT;
    w->q.limit = 3;
    assert_string_equal(list(w), "9:1199 8:1198 7:1197 ");
    w->q.offset = 1197;
    assert_string_equal(list(w), "2:2 1:1 0:0 ");
}

IN_WORLD(many_sessions_need_few_descriptors)
{
    struct world *w = *state;
    struct rlimit before, few;
    struct listing *l = NULL;
    size_t n = 0;
    char name[200];

    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof name, "projects/p%d/%08d-0000-4000-8000-000000000000.jsonl", i % 7,
                 i);
        folder_put(&w->folder, name,
                   SLICE("{\"type\":\"user\",\"message\":{\"content\":\"x\"}}\n"));
    }
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = 24;
    setrlimit(RLIMIT_NOFILE, &few);
    assert_int_equal(listing_open(&w->store, 1, &w->q, &l, NULL), ERR_OK);
    assert_int_equal(listing_each(l, count, &n, NULL), ERR_OK);
    setrlimit(RLIMIT_NOFILE, &before);

    assert_int_equal(n, 600);
    listing_close(l);
}

static enum err_code make_note(const struct session_row *row, struct buf *text, void *arg)
{
    (void)arg;
    return buf_addf(text, "%.1s:%.*s ", row->ref.id.p + 7, SLICE_ARG(row->summary));
}

static enum err_code add_note(struct slice text, void *arg, struct err *e)
{
    struct world *w = arg;
    size_t n = strlen(w->got);

    (void)e;
    snprintf(w->got + n, sizeof w->got - n, "%.*s", SLICE_ARG(text));
    return ERR_OK;
}

/* Sessions are described in the order of their files, and all of these have a message older than other files. */
IN_WORLD(rows_that_wait_as_text_are_in_the_order_of_rows)
{
    static const struct listing_texts texts = { make_note, add_note };
    struct world *w = *state;
    char rows[sizeof w->got];

    for (int i = 1; i < 9; i++)
        prompt(w, i % 2 ? "a" : "b", i, i, i % 3 ? "p" : "a longer prompt");
    w->q.sort = LISTING_RECENT;
    snprintf(rows, sizeof rows, "%s", list(w));
    assert_string_equal(rows, "1:p 2:p 3:a longer prompt 4:p 5:p 6:a longer prompt 7:p 8:p ");

    w->q.texts = &texts;
    assert_string_equal(list(w), rows);
    w->q.limit = 3;
    w->q.offset = 2;
    assert_string_equal(list(w), "3:a longer prompt 4:p 5:p ");
}

static enum err_code refuse(const struct session_row *row, void *arg, struct err *e)
{
    (void)row;
    ++*(size_t *)arg;
    return err_set(e, ERR_IO, "", "write");
}

IN_WORLD(an_error_of_the_callback_ends_the_walk)
{
    struct world *w = *state;
    struct listing *l = NULL;
    size_t n = 0;

    for (int i = 1; i < 9; i++)
        prompt(w, "a", i, i, "p");
    assert_int_equal(listing_open(&w->store, 1, &w->q, &l, NULL), ERR_OK);
    assert_int_equal(listing_each(l, refuse, &n, NULL), ERR_IO);
    assert_int_equal(n, 1);
    listing_close(l);
}

static enum err_code resolve(struct world *w, const char *text, char id[2], struct err *e)
{
    struct scope everything = { .all = true };
    struct session_ref ref;
    struct arena a = { 0 };
    enum err_code rc = resolve_session(&w->store, 1, &everything, slice_of(text), &a, &ref, e);

    id[0] = rc ? '-' : ref.id.p[7];
    id[1] = '\0';
    arena_fini(&a);
    return rc;
}

IN_WORLD(ids_are_found_by_what_people_type)
{
    struct world *w = *state;
    struct err e = { 0 };
    char id[2], path[4096];

    prompt(w, "a", 1, 100, "one");
    prompt(w, "b", 2, 200, "two");
    assert_int_equal(resolve(w, "00000001", id, NULL), ERR_OK);
    assert_string_equal(id, "1");
    assert_int_equal(resolve(w, "claude:00000002-0000-4000-8000-000000000000", id, NULL), ERR_OK);
    assert_string_equal(id, "2");
    assert_int_equal(resolve(w, "0000", id, &e), ERR_USAGE);
    assert_non_null(strstr(e.text, "00000001-0000-4000-8000-000000000000"));
    assert_non_null(strstr(e.text, "00000002-0000-4000-8000-000000000000"));
    assert_int_equal(resolve(w, "000", id, NULL), ERR_NOT_FOUND);
    assert_int_equal(resolve(w, "nothing", id, NULL), ERR_NOT_FOUND);
    folder_path(&w->folder, "projects/b/00000002-0000-4000-8000-000000000000.jsonl", path);
    assert_int_equal(resolve(w, path, id, NULL), ERR_OK);
    assert_string_equal(id, "2");
    path[strlen(path) - 6] = '\0';
    assert_int_equal(resolve(w, path, id, NULL), ERR_OK);
    assert_int_equal(resolve(w, "./no.jsonl", id, NULL), ERR_NOT_FOUND);
    assert_int_equal(resolve(w, "latest", id, NULL), ERR_NOT_FOUND);
}

IN_WORLD(a_json_row_omits_missing_fields)
{
    struct world *w = *state;
    struct session_row row = { .ref = { .store = w->store, .id = SLICE("i"), .path = SLICE("/p") },
                               .summary = SLICE("s \"q\""),
                               .created_ms = TIME_NONE,
                               .modified_ms = 5,
                               .activity_ms = 4,
                               .expires_ms = 6,
                               .flags = SESSION_ARCHIVED_KNOWN,
                               .can = CAN_RESUME | CAN_DELETE };
    struct buf out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &out);
    listing_row_json(&j, &row);

    assert_int_equal(j.rc, ERR_OK);
    assert_string_equal(
        buf_cstr(&out),
        "{\"system\":\"claude\",\"sessionId\":\"i\",\"summary\":\"s \\\"q\\\"\","
        "\"lastModified\":5,\"lastActivity\":4,\"expiresAt\":6,\"fileSize\":0,\"archived\":false,"
        "\"path\":\"/p\",\"can\":[\"resume\",\"delete\"]}");
    buf_fini(&out);
}

IN_WORLD(a_json_row_has_the_marks_of_the_screen)
{
    struct world *w = *state;
    struct session_row row = { .ref = { .store = w->store, .id = SLICE("i"), .path = SLICE("/p") },
                               .flags = SESSION_INTERRUPTED | SESSION_FORK | SESSION_PARTIAL };
    struct buf out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &out);
    listing_row_json(&j, &row);
    assert_non_null(strstr(buf_cstr(&out), "\"marks\":[\"interrupted\",\"fork\",\"partial\"],"));

    /* A turn that runs has not been interrupted. */
    out.n = 0;
    row.flags |= SESSION_LIVE;
    jsonout_init(&j, &out);
    listing_row_json(&j, &row);
    assert_non_null(strstr(buf_cstr(&out), "\"marks\":[\"fork\",\"partial\"],"));
    buf_fini(&out);
}

enum { ASKED = 60 };

/* Each text gets the result of resolve_session, or none. */
static void check_many(struct world *w, const struct slice text[ASKED], size_t least)
{
    struct scope everything = { .all = true };
    struct session_ref found[ASKED] = { 0 }, one;
    struct arena a = { 0 };
    size_t n = 0;

    assert_int_equal(resolve_sessions(&w->store, 1, &everything, text, ASKED, &a, found, NULL),
                     ERR_OK);
    for (int i = 0; i < ASKED; i++) {
        if (!found[i].store)
            continue;
        n++;
        assert_int_equal(resolve_session(&w->store, 1, &everything, text[i], &a, &one, NULL),
                         ERR_OK);
        assert_true(slice_eq(found[i].path, one.path));
        assert_true(slice_eq(found[i].id, one.id));
        assert_true(slice_eq(found[i].folder, one.folder));
        assert_int_equal(found[i].file.ino, one.file.ino);
    }
    assert_int_equal(n, least);
    arena_fini(&a);
}

/* In two folders, empty in the first of two, named twice, as prefixes, not at all. */
IN_WORLD(many_ids_are_resolved_like_single_ones)
{
    struct world *w = *state;
    struct slice text[ASKED];
    char name[ASKED][60];

    for (int i = 0; i < ASKED; i++) {
        snprintf(name[i], sizeof name[i], all_zero, i % 8);
        text[i] = slice_of(name[i]);
    }
    prompt(w, "a", 1, 100, "one");
    prompt(w, "b", 1, 200, "one again");
    prompt(w, "b", 2, 200, "two");
    put(w, "a", 3, 100, "");
    prompt(w, "b", 3, 200, "three");
    put(w, "a", 4, 100, "");
    prompt(w, "a", 5, 100, "five");
    text[5] = SLICE("00000005");
    text[6] = SLICE("latest");
    text[7] = SLICE("");
    check_many(w, text,
               8 + 8 + 6); /* the first one is in two folders, and is left to the other call */
}

/* "d-/--d", "d----d" and "d/../d" map to the same folder name. */
IN_WORLD(a_session_of_another_directory_collides_unless_its_path_climbs)
{
    struct world *w = *state;
    struct arena a = { 0 };
    char project[4096], other[4096], climbing[4096], link[4096];

    folder_dir(&w->folder, "d----d");
    folder_dir(&w->folder, "q/z");
    assert_int_equal(symlink("q/z", folder_path(&w->folder, "d", link)), 0);
    assert_int_equal(symlink("../d----d", folder_path(&w->folder, "q/d", link)), 0);
    struct slice p = slice_of(folder_path(&w->folder, "d-/--d", project));
    struct slice cwd = slice_of(folder_path(&w->folder, "d----d", other));
    struct slice climbs = slice_of(folder_path(&w->folder, "d/../d", climbing));
    struct scope here = { .project = p };

    assert_int_equal(access(climbs.p, F_OK), 0);
    assert_true(claude_folder_collides(&here, p, cwd, &a));
    assert_false(claude_folder_collides(&here, p, climbs, &a));
    assert_false(claude_folder_collides(&here, p, p, &a));
    here.all = true;
    assert_false(claude_folder_collides(&here, p, cwd, &a));
    arena_fini(&a);
}

struct delivered {
    size_t n, of_newer; /* sessions, and those of them in the newer folder */
    bool newer_first;
};

static bool note_delivered(const struct session_ref *ref, void *arg)
{
    struct delivered *d = arg;

    if (slice_eq(ref->folder, SLICE("-newer")) && d->of_newer++ == d->n)
        d->newer_first = true;
    d->n++;
    return true;
}

/* So that a screen has its first rows before the others are examined. */
IN_WORLD(a_stream_of_every_project_begins_with_the_folder_that_changed_last)
{
    struct world *w = *state;

    for (int i = 0; i < 300; i++) {
        char name[100];

        for (int newer = 0; newer < 2; newer++) {
            snprintf(name, sizeof name, "projects/%s/%08d-0000-4000-8000-000000000000.jsonl",
                     newer ? "-newer" : "-a", i * 2 + newer);
            folder_put(&w->folder, name, SLICE("{}\n"));
        }
    }
    folder_mtime(&w->folder, "projects/-a", 1000000000);
    folder_mtime(&w->folder, "projects/-newer", 2000000000);
    for (int streams = 0; streams < 2; streams++) {
        struct delivered d = { 0 };
        const struct scope scope = { .all = true, .streams = streams };

        assert_int_equal(claude_ops.enumerate(w->store, &scope, note_delivered, &d, NULL), ERR_OK);
        assert_int_equal(d.n, 600);
        assert_int_equal(d.of_newer, 300);
        assert_int_equal(d.newer_first, streams);
    }
}
