#include "support/rewind_fixture.h"
#include "tests/support/rewind/last_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/fs/file_at.h"
#include "test.h"

#define SPOKEN "p0\na0\np1\na1\np2\na2\n"

static const char *line_of(int i, bool wanted)
{
    if (i != 2 && i != 18)
        return NULL;
    return wanted ? (i == 2 ? "int seen(const char *key);" : "    return charge(key, cents);")
                  : (i == 2 ? "bool seen(struct slice key);" : "    return charge(key, cents, 0);");
}

/* Twenty lines; the two versions differ in the second and the eighteenth. */
static struct buf pay(bool wanted)
{
    struct buf out = { 0 };

    for (int i = 1; i <= 20; i++) {
        const char *line = line_of(i, wanted);

        assert_int_equal(line ? buf_addf(&out, "%s\n", line) : buf_addf(&out, "/* %d */\n", i),
                         ERR_OK);
    }
    return out;
}

void rewind_fixture_begin(struct rewind_fixture *g)
{
    struct buf now = pay(false);

    *g = (struct rewind_fixture){ 0 };
    folder_make(&g->folder);
    folder_put(&g->folder, "home/ws/src/pay.c", buf_slice(&now));
    folder_put(&g->folder, "home/ws/src/keys.c", SLICE("char *key(void);\nint keys;\n"));
    folder_put(&g->folder, "home/ws/README.md", SLICE("A shop.\nMine, by hand.\n"));
    folder_put(&g->folder, "home/ws/same.c", SLICE("same\n"));
    folder_put(&g->folder, "home/ws/.bashrc", SLICE("alias x=y\n"));
    folder_put(&g->folder, "home/ws/.git/config", SLICE("[core]\n"));
    folder_put(&g->folder, "home/session.jsonl", SLICE(SPOKEN));
    folder_put(&g->folder, "home/other/notes.txt", SLICE("notes\n"));
    folder_path(&g->folder, "home", g->home);
    folder_path(&g->folder, "home/ws", g->root);
    folder_path(&g->folder, "state", g->state);
    g->env = (struct store_env){ .home = g->home,
                                 .state_dir = g->state,
                                 .now_ms = (int64_t)REWIND_FIXTURE_NOW_S * 1000 };
    buf_fini(&now);
}

void rewind_fixture_end(struct rewind_fixture *g)
{
    folder_remove(&g->folder);
}

char *rewind_fixture_image(const struct rewind_fixture *g)
{
    return folder_image(&g->folder, "home");
}

static void add(struct rewind_plan *plan, const struct store *st, const char *name,
                struct slice text, const char *last)
{
    struct rewind_target t = { .want = text.p ? REWIND_BYTES : REWIND_ABSENT,
                               .source = { .bytes = text } };

    t.path = arena_format(&plan->arena, "%s/%s", st->path, name);
    if (last) {
        t.has_last = true;
        t.last.bytes = slice_of(last);
    } else {
        set_last_state(&t);
    }
    assert_int_equal(rewind_plan_add(plan, &t, NULL), ERR_OK);
}

static enum err_code plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e)
{
    struct rewind_plan p = { .system = "claude", .session = "s" };
    struct buf old = pay(true), now = pay(false);

    (void)ref;
    (void)e;
    p.point = arena_copy(&p.arena, point).p;
    p.root = arena_format(&p.arena, "%s/ws", st->path);
    p.point_ms = (int64_t)REWIND_FIXTURE_NOW_S * 1000 - 7200 * 1000;
    add(&p, st, "ws/src/pay.c", arena_copy(&p.arena, buf_slice(&old)), buf_cstr(&now));
    buf_fini(&old);
    buf_fini(&now);
    if (slice_eq(point, SLICE("p1"))) {
        add(&p, st, "ws/src/keys.c", (struct slice){ 0 }, NULL);
        add(&p, st, "ws/src/gone.c", SLICE("back\n"), NULL);
        add(&p, st, "ws/README.md", SLICE("A shop.\n"), "A shop.\nThe agent's.\n");
        add(&p, st, "ws/same.c", SLICE("same\n"), NULL);
        add(&p, st, "ws/.bashrc", SLICE(""), NULL);
        add(&p, st, "ws/.git/config", SLICE("[core]\n"), NULL);
        add(&p, st, "other/notes.txt", SLICE("other notes\n"), NULL);
    } else {
        assert_int_equal(
            rewind_plan_note(&p,
                             "2 shell commands ran since; their changes to other files "
                             "cannot be rewound",
                             NULL),
            ERR_OK);
    }
    *out = p;
    return ERR_OK;
}

/* The messages from the point on are cut off. */
static enum err_code plan_log_end(const struct store *st, const struct session_ref *ref,
                                  struct slice point, struct rewind_plan *plan, struct err *e)
{
    const size_t turn = (size_t)(point.p[1] - '0'), from = turn * 6;
    struct step cut = { .kind = STEP_TAIL, .offset = (int64_t)from, .mtime_ns = MTIME_NOW };

    (void)ref;
    (void)e;
    cut.path = arena_format(&plan->arena, "%s/session.jsonl", st->path);
    cut.old = (struct slice){ &SPOKEN[from], strlen(SPOKEN) - from };
    plan->conversation = (struct rewind_conversation){ .change = change_new("rewind"),
                                                       .how = CONVERSATION_TRUNCATE,
                                                       .kept = turn * 2,
                                                       .dropped = 6 - turn * 2 };
    assert_non_null(plan->conversation.change);
    assert_int_equal(change_add(plan->conversation.change, &cut, NULL), ERR_OK);
    return ERR_OK;
}

static enum err_code checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e)
{
    static const struct checkpoint all[] = {
        { .id = { "p0", 2 },
          .message = { "p0", 2 },
          .prompt = { "Begin with the shop", 19 },
          .files = 1,
          .why = "the saved copies of this point are gone (clients keep the last 100)" },
        { .id = { "p1", 2 },
          .message = { "p1", 2 },
          .prompt = { "Add idempotency keys", 20 },
          .files = 7 },
        { .id = { "p2", 2 },
          .message = { "p2", 2 },
          .prompt = { "Split the handler", 17 },
          .files = 1,
          .shell = true },
    };
    enum { N = sizeof all / sizeof *all };

    (void)st;
    (void)ref;
    (void)e;
    out->checkpoint = arena_zalloc(&out->arena, sizeof all);
    assert_non_null(out->checkpoint);
    memcpy(out->checkpoint, all, sizeof all);
    for (size_t i = 0; i < N; i++)
        out->checkpoint[i].time_ms =
            (int64_t)REWIND_FIXTURE_NOW_S * 1000 - (int64_t)(N - i) * 3600 * 1000;
    out->n = N;
    return ERR_OK;
}

static enum err_code count_lines(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct checkpoint_list *list,
                                 struct err *e)
{
    (void)st;
    (void)ref;
    (void)cancel;
    (void)e;
    for (size_t i = 1; i < list->n; i++) {
        list->checkpoint[i].counted = true;
        list->checkpoint[i].insertions = (unsigned)i * 40;
        list->checkpoint[i].deletions = (unsigned)i * 3;
        list->checkpoint[i].removed = i == 1 ? 2 : 0;
    }
    return ERR_OK;
}

void rewind_fixture_store(struct rewind_fixture *g, struct store *st, struct store_ops *ops)
{
    ops->name = "claude";
    ops->checkpoints = checkpoints;
    ops->count_lines = count_lines;
    ops->plan = plan;
    ops->plan_conversation = plan_log_end;
    st->ops = ops;
    st->env = &g->env;
    st->path = g->home;
}
