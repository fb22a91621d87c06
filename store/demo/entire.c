#include <limits.h>
#include <stdio.h>

#include "lite/base/arena.h"
#include "store/demo/demo_internal.h"
#include "store/git/repo.h"
#include "store/systems/entire/rewind/plan_common.h"
#include "store/systems/entire/state.h"
#include "store/systems/entire/write/committed_write.h"
#include "store/systems/entire/write/treewrite.h"

/* Sessions of Entire in the repository of a project. The content of the work tree becomes a commit.
 * Two sessions of two agents follow, which share a committed checkpoint, and one of them has two
 * more turns on a shadow branch. Trees, commits and checkpoints are made by the code that writes
 * for hosts; only their times come from the story. */

#define CARD "e47113e1-0000-4000-8000-000000000001"
#define HELP "e47113e2-0000-4000-8000-000000000002"
#define CHECKPOINT "e4711ed0c0de"
#define HELP_PROMPT "Explain gift cards to customers, in two sentences"

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

struct writing {
    const char *dir;
    int64_t began_ms;
    git_repository *repo;
    struct arena arena;
    struct buf log; /* the transcript so far */
    git_oid tree;   /* the tree of the newest commit or checkpoint */
    git_oid head, tip;
    git_odb_backend *mempack; /* owned by the repository's database */
    enum err_code rc;
    struct err *e;
};

/* The first failure is kept; later calls have no effect. */
static void done(struct writing *w, enum err_code rc)
{
    if (!w->rc)
        w->rc = rc == ERR_NOMEM ? err_nomem(w->e) : rc;
}

static void demo_put_file(struct writing *w, const char *name, struct slice text, int64_t minutes)
{
    char path[PATH_MAX];

    if (!w->rc)
        w->rc = DEMO_JOIN(path, w->e, w->dir, "/", name);
    if (!w->rc)
        w->rc = demo_put(path, text, w->began_ms + minutes * MINUTE_MS, w->e);
}

/* ---- objects ---- */

static void write_pack(struct writing *w)
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
    int answer = git_mempack_dump(&pack, w->repo, w->mempack);

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

/* ---- the transcript ---- */

static void demo_add_row(struct writing *w, const struct turn *t, int part)
{
    static const char *const roles[ROWS_A_TURN] = { "user", "assistant", "assistant" };
    int number = (int)(t - turns) * ROWS_A_TURN + part;
    struct buf content = { 0 };
    char uuid[40], before[40];

    snprintf(uuid, sizeof uuid, "e47113e0-0000-4000-8000-0000000001%02d", number);
    snprintf(before, sizeof before, "e47113e0-0000-4000-8000-0000000001%02d", number - 1);
    done(w, part == 1 ? demo_json(&content,
                                  "[{'type':'tool_use','id':$s,'name':'Write',"
                                  "'input':{'file_path':'$e/$e','content':$s}}]",
                                  uuid, w->dir, t->path, t->text)
                      : demo_json(&content, "$s", part ? t->said : t->prompt));
    done(w, demo_json(&w->log,
                      "{'parentUuid':$s,'isSidechain':false,'cwd':$s,'sessionId':'" CARD "',"
                      "'gitBranch':'main','type':$s,'message':{'role':$s,'content':$r},'uuid':$s,"
                      "'timestamp':$t}\n",
                      number ? before : NULL, w->dir, roles[part], roles[part], buf_slice(&content),
                      uuid, w->began_ms + (t->minutes - ROWS_A_TURN + part) * MINUTE_MS));
    buf_fini(&content);
}

static void write_turn(struct writing *w, const struct turn *t)
{
    for (int part = 0; part < ROWS_A_TURN; part++)
        demo_add_row(w, t, part);
}

/* ---- commits ---- */

static struct author author_at(int64_t ms)
{
    return (struct author){ .name = SLICE("Mira"),
                            .email = SLICE("mira@example.invalid"),
                            .at = ms / 1000 };
}

/* Commits the tree to a ref, which must not have moved. */
static void commit_tree(struct writing *w, const char *ref, git_oid *tip, bool has_tip,
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

/* The tree with one more file and, for a shadow commit, the metadata of the session. */
static void add_file_to_tree(struct writing *w, const char *path, const char *text,
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

/* `git status` then shows the changes of the last two turns only. */
static void demo_write_index(struct writing *w)
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

static void put_committed(struct writing *w, struct committed_session s, const char *path)
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

/* Writes another agent's conversation, in that agent's own format. */
static void put_help(struct writing *w)
{
    int64_t at = w->began_ms + 10 * MINUTE_MS;
    struct buf log = { 0 };

    done(w, demo_json(&log,
                      "{\n  'sessionId': '" HELP "',\n  'messages': [\n"
                      "    {'id': '1', 'type': 'user', 'timestamp': $t, 'content': '" HELP_PROMPT
                      "'},\n"
                      "    {'id': '2', 'type': 'gemini', 'timestamp': $t, 'content': "
                      "'`docs/gift-cards.md` says where to type the code, and what happens to the "
                      "rest.'}\n  ]\n}\n",
                      at, at + 2 * MINUTE_MS));
    put_committed(w,
                  (struct committed_session){ .session = SLICE(HELP),
                                              .agent = SLICE("Gemini CLI"),
                                              .transcript = buf_slice(&log),
                                              .prompt = SLICE(HELP_PROMPT),
                                              .created_ms = at + 3 * MINUTE_MS },
                  "docs/gift-cards.md");
    buf_fini(&log);
}

/* Each later turn is a commit of the shadow branch. */
static void put_shadow(struct writing *w, const struct turn *t)
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

/* Writes the state of the session that is not finished. */
static void put_state(struct writing *w)
{
    char hex[GIT_OID_HEXSZ + 1];
    int64_t last = w->began_ms + turns[TURNS - 1].minutes * MINUTE_MS;
    struct buf text = { 0 };

    git_oid_tostr(hex, sizeof hex, &w->head);
    done(w, demo_json(&text,
                      "{\n  'session_id': '" CARD "',\n  'cli_version': '0.4.4',\n"
                      "  'base_commit': $s,\n  'attribution_base_commit': $s,\n"
                      "  'worktree_path': $s,\n  'started_at': $t,\n  'phase': 'idle',\n"
                      "  'last_interaction_time': $t,\n  'checkpoint_count': 2,\n"
                      "  'checkpoint_transcript_start': 3,\n"
                      "  'files_touched': [\n    'gift/balance.ts',\n    'gift/card.ts'\n  ],\n"
                      "  'last_checkpoint_id': '" CHECKPOINT "',\n"
                      "  'agent_type': 'Claude Code',\n  'first_prompt': $s\n}\n",
                      hex, hex, w->dir, w->began_ms, last, turns[0].prompt));
    demo_put_file(w, ".git/" ENTIRE_STATES "/" CARD ".json", buf_slice(&text),
                  turns[TURNS - 1].minutes);
    buf_fini(&text);
}

static void demo_write_all(struct writing *w)
{
    struct treewrite t;

    /* The sessions of ExAthena are in the project, but are not files of it. */
    demo_put_file(w, ".git/info/exclude", SLICE(".exathena/\n"), 0);

    /* Seventy small files would take longer than the rest of the demo, so objects are collected
     * in memory and become one pack. */
    git_odb *odb = NULL;
    int answer = git_repository_odb(&odb, w->repo);

    if (!answer)
        answer = git_mempack_new(&w->mempack);
    if (!answer)
        answer = git_odb_add_backend(odb, w->mempack, FIRST); /* now owned by the database */
    git_odb_free(odb);
    if (answer)
        done(w, repo_error(w->e, answer, w->dir, "gather objects"));

    /* Add everything in the work tree. */
    struct disktree disk = { .n = 0 };

    if (!w->rc) {
        done(w, disktree_read(NULL, w->dir, &w->arena, &disk, w->e));
        done(w, treewrite_open(w->repo, NULL, &t, w->e));
        for (size_t i = 0; i < disk.n && !w->rc; i++)
            done(w, treewrite_add_file(&t, w->dir, disk.path[i], w->e));
        if (!w->rc)
            done(w, treewrite_finish(&t, &w->tree, w->e));
        treewrite_close(&t);
    }

    commit_tree(w, ENTIRE_HEADS "main", &w->head, false, "The shop as it is\n",
                w->began_ms - 100 * (int64_t)HOUR_MS);
    write_turn(w, &turns[0]);
    add_file_to_tree(w, turns[0].path, turns[0].text, NULL);
    add_file_to_tree(w, "docs/gift-cards.md", help, NULL);
    commit_tree(w, ENTIRE_HEADS "main", &w->head, true,
                "Let customers pay with a gift card\n\nEntire-Checkpoint: " CHECKPOINT "\n",
                w->began_ms + 30 * MINUTE_MS);
    demo_write_index(w);
    put_committed(w,
                  (struct committed_session){ .session = SLICE(CARD),
                                              .agent = SLICE("Claude Code"),
                                              .transcript = buf_slice(&w->log),
                                              .prompt = slice_of(turns[0].prompt),
                                              .created_ms = w->began_ms + 30 * MINUTE_MS },
                  turns[0].path);
    put_help(w);
    for (size_t i = 1; i < TURNS; i++)
        put_shadow(w, &turns[i]);
    write_pack(w);
    put_state(w);
    demo_put_file(w, "docs/gift-cards.md", SLICE(help), 12);
    for (size_t i = 1; i < TURNS; i++)
        demo_put_file(w, turns[i].path, slice_of(turns[i].text), turns[i].minutes);
}

enum err_code demo_entire(const char *project, int64_t now_ms, struct err *e)
{
    struct writing w = { .dir = project,
                         .began_ms = now_ms - BEGAN_HOURS * (int64_t)HOUR_MS,
                         .e = e };

    w.rc = repo_open(project, &w.repo, e);
    if (!w.rc)
        demo_write_all(&w);
    repo_close(w.repo);
    arena_fini(&w.arena);
    buf_fini(&w.log);
    return w.rc;
}
