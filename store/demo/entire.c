#include "store/demo/entire.h"

#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>
#include <stdio.h>

#include "lite/base/time.h"
#include "lite/json/jsonout.h"
#include "store/demo/files.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/rewind/disktree.h"
#include "store/systems/entire/write/committed_write.h"
#include "store/systems/entire/write/treewrite.h"

/* Named for the loom: threads of several sessions, and one cloth. Written by the code that writes for hosts; only the times of
 * the commits are told. */

#define CARD "e47113e0-0000-4000-8000-000000000001"
#define HELP "e47113e0-0000-4000-8000-000000000002"
#define CHECKPOINT "e4711ed0c0de"

enum {
    MINUTE_MS = 60000,
    HOUR_MS = 60 * MINUTE_MS,
    BEGAN_HOURS = 116,
    ROWS_A_TURN = 3,
    FIRST = 999
};

struct turn {
    int64_t minutes; /* since the session began: when the turn ended */
    const char *prompt, *said, *subject;
    const char *path, *text; /* the file as the turn left it */
};

static const char card_1[] = "export type Card = { code: string; left: number };\n"
                             "\n"
                             "export function pay(card: Card, total: number): number {\n"
                             "  const paid = Math.min(card.left, total);\n"
                             "  card.left -= paid;\n"
                             "  return total - paid;\n"
                             "}\n";
static const char card_2[] = "export type Card = { code: string; left: number; until: Date };\n"
                             "\n"
                             "export function pay(card: Card, total: number): number {\n"
                             "  if (card.until < new Date()) throw new Error('card has expired');\n"
                             "  const paid = Math.min(card.left, total);\n"
                             "  card.left -= paid;\n"
                             "  return total - paid;\n"
                             "}\n";
static const char balance[] = "import type { Card } from './card';\n"
                              "\n"
                              "export const balance = (card: Card) => `${card.left} left`;\n";
static const char help[] =
    "# Gift cards\n"
    "\n"
    "Type the code at the till. What the card does not cover is paid as usual.\n";

static const struct turn turns[] = {
    { 25, "Let customers pay with a gift card",
      "A gift card pays what it can; what is left of the total goes to the payment page.",
      "Let customers pay with a gift card", "gift/card.ts", card_1 },
    { 62, "Please refuse cards that have expired",
      "`pay` throws now when the card has expired. Existing cards need an `until`.",
      "Refuse cards that have expired", "gift/card.ts", card_2 },
    { 95, "Can you show what is left on a card?",
      "`balance(card)` says what is left; the till can print it below the total.",
      "Show what is left on a card", "gift/balance.ts", balance },
};
enum { TURNS = sizeof turns / sizeof *turns };

struct entire_writing {
    const char *dir;
    int64_t began_ms;
    git_repository *repo;
    struct arena arena;
    struct buf log; /* the transcript so far */
    git_oid tree;   /* of the newest commit or checkpoint */
    git_oid head, tip;
    git_odb_backend *gathered; /* of the repository's database */
    enum err_code rc;
    struct err *e;
};

static void *start_git(void *arg)
{
    return gitlib_ready() ? arg : NULL; /* whoever needs it asks again */
}

void demo_git_start_begin(struct demo_git_start *l)
{
    l->started = pthread_create(&l->starting, NULL, start_git, NULL) == 0;
}

void demo_git_start_join(struct demo_git_start *l)
{
    if (l->started)
        pthread_join(l->starting, NULL);
}

/* The first failure is kept; what comes after it is passed over. */
static void done(struct entire_writing *w, enum err_code rc)
{
    if (!w->rc)
        w->rc = rc;
}

static const char *said_at(struct entire_writing *w, int64_t ms)
{
    char text[TIME_TEXT];

    time_format(ms, text);
    return arena_copy(&w->arena, slice_of(text)).p;
}

/* ---- objects ---- */

/* Seventy small files would take longer than all else of the demo: objects are gathered in memory, and become one pack. */
static void use_mempack(struct entire_writing *w)
{
    git_odb *odb = NULL;
    int answer = git_repository_odb(&odb, w->repo);

    if (!answer)
        answer = git_mempack_new(&w->gathered);
    if (!answer)
        answer = git_odb_add_backend(odb, w->gathered, FIRST); /* the database's own now */
    git_odb_free(odb);
    if (answer)
        done(w, repo_error(w->e, answer, w->dir, "gather objects"));
}

static void write_pack(struct entire_writing *w)
{
    const char *dir = arena_format(&w->arena, "%s/.git/objects/pack", w->dir);
    git_buf pack = { 0 };
    git_indexer *indexer = NULL;
    git_indexer_progress progress;

    if (!dir)
        done(w, ERR_NOMEM);
    if (!w->rc)
        done(w, demo_make_dirs(dir, w->e));
    if (w->rc)
        return;
    int answer = git_mempack_dump(&pack, w->repo, w->gathered);

    if (!answer)
        answer = git_indexer_new(&indexer, dir, 0, NULL, NULL);
    if (!answer)
        answer = git_indexer_append(indexer, pack.ptr, pack.size, &progress);
    if (!answer)
        answer = git_indexer_commit(indexer, &progress);
    git_indexer_free(indexer);
    git_buf_dispose(&pack);
    if (answer)
        done(w, repo_error(w->e, answer, dir, "write a pack"));
}

/* ---- what is said ---- */

static void put_row(struct entire_writing *w, const struct turn *t, int part)
{
    static const char *const roles[ROWS_A_TURN] = { "user", "assistant", "assistant" };
    struct jsonout j;
    int number = (int)(t - turns) * ROWS_A_TURN + part;
    char uuid[40], before[40];

    snprintf(uuid, sizeof uuid, "e47113e0-0000-4000-8000-0000000001%02d", number);
    snprintf(before, sizeof before, "e47113e0-0000-4000-8000-0000000001%02d", number - 1);
    jsonout_init(&j, &w->log);
    jsonout_open(&j, '{');
    jsonout_key(&j, "parentUuid");
    number ? jsonout_text(&j, slice_of(before)) : jsonout_null(&j);
    jsonout_key(&j, "isSidechain");
    jsonout_bool(&j, false);
    jsonout_member(&j, "cwd", slice_of(w->dir));
    jsonout_member(&j, "sessionId", SLICE(CARD));
    jsonout_member(&j, "gitBranch", SLICE("main"));
    jsonout_member(&j, "type", slice_of(roles[part]));
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", slice_of(roles[part]));
    jsonout_key(&j, "content");
    if (part == 1) {
        jsonout_open(&j, '[');
        jsonout_open(&j, '{');
        jsonout_member(&j, "type", SLICE("tool_use"));
        jsonout_member(&j, "id", slice_of(uuid));
        jsonout_member(&j, "name", SLICE("Write"));
        jsonout_key(&j, "input");
        jsonout_open(&j, '{');
        jsonout_member(&j, "file_path",
                       slice_of(arena_format(&w->arena, "%s/%s", w->dir, t->path)));
        jsonout_member(&j, "content", slice_of(t->text));
        jsonout_close(&j, '}');
        jsonout_close(&j, '}');
        jsonout_close(&j, ']');
    } else {
        jsonout_text(&j, slice_of(part ? t->said : t->prompt));
    }
    jsonout_close(&j, '}');
    jsonout_member(&j, "uuid", slice_of(uuid));
    jsonout_member(
        &j, "timestamp",
        slice_of(said_at(w, w->began_ms + (t->minutes - ROWS_A_TURN + part) * MINUTE_MS)));
    jsonout_close(&j, '}');
    done(w, j.rc ? j.rc : buf_add_byte(&w->log, '\n'));
}

static void write_turn(struct entire_writing *w, const struct turn *t)
{
    for (int part = 0; part < ROWS_A_TURN; part++)
        put_row(w, t, part);
}

/* ---- commits ---- */

static struct author author_at(int64_t ms)
{
    return (struct author){ .name = SLICE("Mira"),
                            .email = SLICE("mira@example.invalid"),
                            .at = ms / 1000 };
}

/* A commit of the tree; onto a ref that must be where it was. */
static void commit_tree(struct entire_writing *w, const char *ref, git_oid *tip, bool has_tip,
                        const char *message, int64_t at_ms)
{
    const struct author who = author_at(at_ms);
    struct commit_text c = { .tree = w->tree,
                             .parent = tip,
                             .parents = has_tip,
                             .author = who,
                             .committer = who,
                             .message = slice_of(message) };
    git_oid made;

    if (!w->rc)
        done(w, treewrite_commit(w->repo, &c, &made, w->e));
    if (!w->rc)
        done(w, repo_ref_move(w->repo, ref, has_tip ? tip : NULL, &made, "demo", w->e));
    if (!w->rc)
        *tip = made;
}

/* All that lies in the work tree. */
static void take_disk(struct entire_writing *w)
{
    struct treewrite t;
    struct disktree disk = { .n = 0 };

    if (w->rc)
        return;
    done(w, disktree_read(NULL, w->dir, &w->arena, &disk, w->e));
    done(w, treewrite_open(w->repo, NULL, &t, w->e));
    for (size_t i = 0; i < disk.n && !w->rc; i++)
        done(w, treewrite_add_file(&t, w->dir, disk.path[i], w->e));
    if (!w->rc)
        done(w, treewrite_finish(&t, &w->tree, w->e));
    treewrite_close(&t);
}

/* The tree with one more text, and what a shadow commit keeps beside it. */
static void add_file_to_tree(struct entire_writing *w, const char *path, const char *text,
                             const char *prompt)
{
    static const char folder[] = ".entire/metadata/" CARD;
    struct treewrite t;
    char name[128];

    if (w->rc)
        return;
    w->rc = treewrite_open(w->repo, &w->tree, &t, w->e);
    if (w->rc)
        return;
    done(w, treewrite_add_bytes(&t, path, slice_of(text), w->e));
    if (prompt) {
        snprintf(name, sizeof name, "%s/full.jsonl", folder);
        done(w, treewrite_add_bytes(&t, name, buf_slice(&w->log), w->e));
        snprintf(name, sizeof name, "%s/prompt.txt", folder);
        done(w, treewrite_add_bytes(&t, name, slice_of(prompt), w->e));
    }
    if (!w->rc)
        done(w, treewrite_finish(&t, &w->tree, w->e));
    treewrite_close(&t);
}

/* The files as git has them too: `git status` tells of the last two turns alone. */
static void write_index(struct entire_writing *w)
{
    git_index *index = NULL;
    git_tree *tree = NULL;

    if (w->rc)
        return;
    int answer = git_repository_index(&index, w->repo);

    if (!answer)
        answer = git_tree_lookup(&tree, w->repo, &w->tree);
    if (!answer)
        answer = git_index_read_tree(index, tree);
    if (!answer)
        answer = git_index_write(index);
    git_tree_free(tree);
    git_index_free(index);
    if (answer)
        done(w, repo_error(w->e, answer, w->dir, "write the index of the demo"));
}

/* ---- checkpoints ---- */

static void put_committed(struct entire_writing *w, struct committed_session s, const char *path)
{
    const struct author who = author_at(s.created_ms);
    git_oid made;

    if (w->rc)
        return;
    s.checkpoint = SLICE(CHECKPOINT);
    s.strategy = SLICE("manual-commit");
    s.branch = SLICE("main");
    s.count = 1;
    s.touched.a = &w->arena;
    s.by = &who;
    if (!names_add(&s.touched, slice_of(path)))
        w->rc = ERR_NOMEM;
    else
        done(w, committed_write(w->repo, &s, &made, w->e));
}

/* Another agent's conversation, in that agent's own form. */
static void put_help(struct entire_writing *w)
{
    int64_t at = w->began_ms + 10 * MINUTE_MS;
    const char *log = arena_format(
        &w->arena,
        "{\n  \"sessionId\": \"" HELP "\",\n  \"messages\": [\n"
        "    {\"id\": \"1\", \"type\": \"user\", \"timestamp\": \"%s\", \"content\": \"Explain "
        "gift "
        "cards to customers, in two sentences\"},\n"
        "    {\"id\": \"2\", \"type\": \"gemini\", \"timestamp\": \"%s\", \"content\": \"`docs/"
        "gift-cards.md` says where to type the code, and what happens to the rest.\"}\n  ]\n}\n",
        said_at(w, at), said_at(w, at + 2 * MINUTE_MS));

    if (log)
        put_committed(w,
                      (struct committed_session){
                          .session = SLICE(HELP),
                          .agent = SLICE("Gemini CLI"),
                          .transcript = slice_of(log),
                          .prompt = SLICE("Explain gift cards to customers, in two sentences"),
                          .created_ms = at + 3 * MINUTE_MS },
                      "docs/gift-cards.md");
    else
        w->rc = ERR_NOMEM;
}

static void put_card(struct entire_writing *w)
{
    put_committed(w,
                  (struct committed_session){ .session = SLICE(CARD),
                                              .agent = SLICE("Claude Code"),
                                              .transcript = buf_slice(&w->log),
                                              .prompt = slice_of(turns[0].prompt),
                                              .created_ms = w->began_ms + 30 * MINUTE_MS },
                  turns[0].path);
}

/* Each turn after the commit is one commit of the shadow branch. */
static void put_shadow(struct entire_writing *w, const struct turn *t)
{
    char hex[GIT_OID_HEXSZ + 1], name[ENTIRE_SHADOW_NAME], ref[ENTIRE_SHADOW_NAME + 16];
    bool first = t == &turns[1];
    const char *message =
        arena_format(&w->arena,
                     "%s\n\nEntire-Metadata: .entire/metadata/" CARD "\nEntire-Session: " CARD
                     "\nEntire-Strategy: manual-commit\n",
                     t->subject);

    write_turn(w, t);
    add_file_to_tree(w, t->path, t->text, t->prompt);
    git_oid_tostr(hex, sizeof hex, &w->head);
    entire_shadow_name(slice_of(hex), SLICE(""), name);
    snprintf(ref, sizeof ref, ENTIRE_HEADS "%s", name);
    if (message)
        commit_tree(w, ref, &w->tip, !first, message, w->began_ms + t->minutes * MINUTE_MS);
    else
        w->rc = ERR_NOMEM;
}

/* What Entire knows of the session that goes on. */
static void put_state(struct entire_writing *w)
{
    char hex[GIT_OID_HEXSZ + 1];
    int64_t last = w->began_ms + turns[TURNS - 1].minutes * MINUTE_MS;
    const char *path = arena_format(&w->arena, "%s/.git/" ENTIRE_STATES "/" CARD ".json", w->dir);

    git_oid_tostr(hex, sizeof hex, &w->head);
    const char *text = arena_format(
        &w->arena,
        "{\n  \"session_id\": \"" CARD "\",\n  \"cli_version\": \"0.4.4\",\n"
        "  \"base_commit\": \"%s\",\n  \"attribution_base_commit\": \"%s\",\n"
        "  \"worktree_path\": \"%s\",\n  \"started_at\": \"%s\",\n  \"phase\": \"idle\",\n"
        "  \"last_interaction_time\": \"%s\",\n  \"checkpoint_count\": 2,\n"
        "  \"checkpoint_transcript_start\": 3,\n  \"files_touched\": [\n    \"gift/balance.ts\",\n"
        "    \"gift/card.ts\"\n  ],\n  \"last_checkpoint_id\": \"" CHECKPOINT "\",\n"
        "  \"agent_type\": \"Claude Code\",\n  \"first_prompt\": \"%s\"\n}\n",
        hex, hex, w->dir, said_at(w, w->began_ms), said_at(w, last), turns[0].prompt);

    if (!path || !text)
        done(w, ERR_NOMEM);
    else if (!w->rc)
        done(w, demo_put(path, slice_of(text), last, w->e));
}

static void put_file(struct entire_writing *w, const char *name, const char *text, int64_t minutes)
{
    const char *path = arena_format(&w->arena, "%s/%s", w->dir, name);

    if (!path)
        done(w, ERR_NOMEM);
    else if (!w->rc)
        done(w, demo_put(path, slice_of(text), w->began_ms + minutes * MINUTE_MS, w->e));
}

static void weave(struct entire_writing *w)
{
    /* The sessions of another system lie in the project, and are none of its files. */
    put_file(w, ".git/info/exclude", ".exathena/\n", 0);
    use_mempack(w);
    take_disk(w);
    commit_tree(w, ENTIRE_HEADS "main", &w->head, false, "The shop as it is\n",
                w->began_ms - 100 * (int64_t)HOUR_MS);
    write_turn(w, &turns[0]);
    add_file_to_tree(w, turns[0].path, turns[0].text, NULL);
    add_file_to_tree(w, "docs/gift-cards.md", help, NULL);
    commit_tree(w, ENTIRE_HEADS "main", &w->head, true,
                "Let customers pay with a gift card\n\nEntire-Checkpoint: " CHECKPOINT "\n",
                w->began_ms + 30 * MINUTE_MS);
    write_index(w);
    put_card(w);
    put_help(w);
    for (size_t i = 1; i < TURNS; i++)
        put_shadow(w, &turns[i]);
    write_pack(w);
    put_state(w);
    put_file(w, "docs/gift-cards.md", help, 12);
    put_file(w, turns[1].path, turns[1].text, turns[1].minutes);
    put_file(w, turns[2].path, turns[2].text, turns[2].minutes);
}

enum err_code demo_entire(const char *dir, int64_t now_ms, struct err *e)
{
    struct entire_writing w = { .dir = dir,
                                .began_ms = now_ms - BEGAN_HOURS * (int64_t)HOUR_MS,
                                .e = e };

    w.rc = repo_open(dir, &w.repo, e);
    if (!w.rc)
        weave(&w);
    repo_close(w.repo);
    arena_fini(&w.arena);
    buf_fini(&w.log);
    return w.rc == ERR_NOMEM ? err_nomem(e) : w.rc;
}
