#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/read/prompts.h"

/* One row. All but the prompts stands in the catalog already; those of committed sessions are read here. */

enum { TITLE_UNITS = 200 };

/* Blanks and line ends in a row become one blank, as Entire itself stores a first prompt. */
static bool collapse_blanks(struct slice text, struct arena *a, struct slice *out)
{
    char *p = arena_alloc(a, text.n + 1);
    size_t n = 0;

    if (!p)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        bool blank =
            text.p[i] == ' ' || text.p[i] == '\n' || text.p[i] == '\t' || text.p[i] == '\r';

        if (!blank)
            p[n++] = text.p[i];
        else if (n && p[n - 1] != ' ')
            p[n++] = ' ';
    }
    while (n && p[n - 1] == ' ')
        n--;
    *out = utf8_utf16_prefix((struct slice){ p, n }, TITLE_UNITS);
    return true;
}

/* The prompts of a committed session: the first of its oldest checkpoint, the last of its newest. */
static bool committed_prompts(struct catalog *c, const struct catalog_session *s,
                              struct session_row *row)
{
    struct buf text = { 0 };
    bool ok = true;

    pthread_mutex_lock(&c->lock);
    if (row->first_prompt.n == 0 && prompts_read(c->repo, catalog_oldest(s), &text))
        ok = collapse_blanks(prompts_first(buf_slice(&text)), &row->arena, &row->first_prompt);
    if (ok && row->last_prompt.n == 0 && prompts_read(c->repo, catalog_newest(s), &text))
        ok = collapse_blanks(prompts_last(buf_slice(&text)), &row->arena, &row->last_prompt);
    pthread_mutex_unlock(&c->lock);
    buf_fini(&text);
    return ok;
}

/* Without a prompt the agent's name says at least something. */
static bool name_row(struct session_row *row)
{
    const char *title = arena_format(&row->arena, "%.*s%ssession", SLICE_ARG(row->agent_name),
                                     row->agent_name.n ? " " : "");

    if (!title)
        return false;
    row->summary = row->first_prompt.n  ? row->first_prompt
                   : row->last_prompt.n ? row->last_prompt
                                        : slice_of(title);
    return true;
}

static void take_times(const struct catalog_session *s, struct session_row *row)
{
    row->modified_ms = session_modified_ms(&row->ref.file);
    row->created_ms = s->state ? s->state->started_ms : TIME_NONE;
    for (size_t i = 0; i < s->n && row->created_ms == TIME_NONE; i++)
        row->created_ms = s->point[i].time_ms;
    row->activity_ms = catalog_activity(s);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
}

/* A text of the newest point that has one. */
static struct slice newest_text(const struct catalog_session *s, size_t offset)
{
    for (size_t i = s->n; i-- > 0;) {
        struct slice text;

        memcpy(&text, (const char *)&s->point[i] + offset, sizeof text);
        if (text.n && s->point[i].source != POINT_SHADOW)
            return text;
    }
    return SLICE("");
}

static bool take_texts(const struct entire *x, const struct catalog_session *s,
                       struct session_row *row)
{
    const struct entire_state *state = s->state;
    struct arena *a = &row->arena;
    struct slice branch = state ? state->branch : SLICE(""),
                 agent = state ? state->agent : SLICE(""),
                 cwd = state && state->worktree_path.n ? state->worktree_path : SLICE("");

    if (branch.n == 0)
        branch = newest_text(s, offsetof(struct point, branch));
    if (agent.n == 0)
        agent = newest_text(s, offsetof(struct point, agent));
    if (cwd.n == 0)
        cwd =
            (struct slice){ x->worktree ? x->worktree : "", x->worktree ? strlen(x->worktree) : 0 };
    row->git_branch = arena_copy(a, branch);
    row->agent_name = arena_copy(a, agent);
    row->model = arena_copy(a, newest_text(s, offsetof(struct point, model)));
    row->cwd = arena_copy(a, cwd);
    row->first_prompt = arena_copy(a, state ? state->first_prompt : SLICE(""));
    row->last_prompt = arena_copy(a, state ? state->last_prompt : SLICE(""));
    return row->git_branch.p && row->agent_name.p && row->model.p && row->cwd.p &&
           row->first_prompt.p && row->last_prompt.p;
}

static void take_size(struct catalog *c, const struct catalog_session *s, struct session_row *row)
{
    const struct point *p = catalog_newest(s);
    git_tree *tree = NULL;

    if (s->state || !p || p->transcript.n == 0)
        return;
    pthread_mutex_lock(&c->lock);
    if (git_tree_lookup(&tree, c->repo, &p->tree) == 0)
        row->ref.file.size = repo_size_at(c->repo, tree, p->transcript.p);
    git_tree_free(tree);
    pthread_mutex_unlock(&c->lock);
}

/* A conversation of Claude Code can be copied from wherever it is kept, and gone on with in the middle where it lies on
 * this machine. An old checkpoint calls its agent "Agent", which says nothing. */
static unsigned abilities(const struct entire *x, const struct catalog_session *s)
{
    struct slice agent = entire_conversation_agent(s);
    unsigned can = CAN_RESUME | (s->n ? CAN_REWIND : 0) | (s->state ? CAN_DELETE : 0);
    struct arena a = { 0 };
    const char *path;
    struct stat sb;

    if (entire_conversation_may_be_claude(agent)) {
        bool here = entire_conversation_live_path(x, s, &a, &path) && stat(path, &sb) == 0 &&
                    S_ISREG(sb.st_mode);

        can |= here ? CAN_FORK | CAN_RESUME_AT : s->n ? CAN_FORK : 0;
    }
    arena_fini(&a);
    return can;
}

static enum err_code fill_row(const struct entire *x, struct catalog *c,
                              const struct catalog_session *s, struct session_row *row,
                              struct err *e)
{
    bool ok = entire_ref(x, s, &row->arena, &row->ref) && take_texts(x, s, row) &&
              committed_prompts(c, s, row) && name_row(row);

    if (!ok)
        return err_nomem(e);
    take_times(s, row);
    take_size(c, s, row);
    for (size_t i = s->n; i-- > 0 && row->restorable == 0;)
        row->restorable = (unsigned)s->point[i].files;
    row->can = abilities(x, s);
    row->stays = s->state ? NULL : entire_only_committed;
    return ERR_OK;
}

enum err_code entire_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row, struct err *e)
{
    const struct entire *x = entire_of(st);
    const struct catalog_session *s;
    struct catalog *c;
    struct stat sb;
    /* A session that lies in objects only cannot go without a ref that moves, and enumerating sees that. */
    bool fresh = ref->file.dev && stat(ref->path.p, &sb) != 0;
    enum err_code rc = entire_catalog(x, fresh, &c, e);

    (void)scope;
    session_row_reset(row);
    if (rc)
        return rc;
    s = catalog_find(c, ref->id);
    rc = s ? fill_row(x, c, s, row, e)
           : err_set(e, ERR_NOT_FOUND, ref->path.p, "read a session: it is gone");
    catalog_close(x->cache, c);
    return rc;
}
