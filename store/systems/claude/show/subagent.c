#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/array.h"
#include "lite/base/slice.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/claude/show/item_list.h"

enum { META_BYTES = 64 * 1024, LAST_ROWS = 200, OUTCOME_BYTES = 400 };

struct about {
    struct arena *a;
    struct subagent *out;
    bool went_on; /* a row that is not an answer follows what was found */
};

static bool claude_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static struct slice claude_first_line(struct slice text)
{
    while (text.n && claude_is_space(*text.p))
        text = (struct slice){ text.p + 1, text.n - 1 };
    const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;

    if (end)
        text.n = (size_t)(end - text.p);
    if (text.n > OUTCOME_BYTES)
        text.n = utf8_valid_prefix((struct slice){ text.p, OUTCOME_BYTES });
    return text;
}

/* Searches backwards for the last text. A line that is still being written, or begins before the window, is skipped. */
static enum err_code see_tail(struct about *x, const struct window *w)
{
    bool whole = w->head.p == w->tail.p, torn;
    struct slice rest = w->tail, row;
    enum err_code rc = ERR_OK;

    for (int i = 0;
         i < LAST_ROWS && !rc && !x->out->outcome.n && slice_last_line(&rest, &row, &torn); i++)
        if (!torn && (whole || rest.n) && json_valid(row)) {
            struct block_list list = { .n = 0 };
            struct slice value;

            rc = claude_blocks(NULL, row, &list, NULL);
            for (size_t k = list.n; !rc && k-- > 0 && !x->out->outcome.n;) {
                const struct block *b = &list.block[k];
                struct slice line = claude_first_line(b->text);

                /* The search goes backwards: a call or a prompt that was seen before comes after this text. */
                if (b->kind == BLOCK_TEXT && line.n) {
                    x->out->outcome = arena_copy(x->a, line);
                    if (!x->went_on)
                        x->out->end = SUBAGENT_DONE;
                }
                if (b->kind == BLOCK_PROMPT || b->kind == BLOCK_TOOL_CALL ||
                    b->kind == BLOCK_TOOL_RESULT)
                    x->went_on = true;
            }
            transcript_blocks_fini(&list);
            if (!rc && x->out->end == SUBAGENT_DONE && json_get(row, "isApiErrorMessage", &value) &&
                slice_eq(value, SLICE("true")))
                x->out->end = SUBAGENT_FAILED;
            rc = rc == ERR_NOMEM ? rc : ERR_OK;
        }
    return rc;
}

/* Reads the metadata file beside a transcript. A missing or unreadable file is empty. Returns false if out of
 * memory. */
static bool read_meta_file(struct slice transcript, size_t max, struct arena *a, struct buf *out)
{
    struct slice stem = { transcript.p, transcript.n - (sizeof CLAUDE_SUFFIX - 1) };
    const char *name = arena_format(a, "%.*s.meta.json", SLICE_ARG(stem));

    if (name && !file_read_all(AT_FDCWD, name, FILE_FOLLOW, max, out, NULL) &&
        !json_valid(buf_slice(out)))
        out->n = 0;
    return name != NULL;
}

/* Fills in what the transcript at this path and the metadata file beside it show, from at most 64 KiB of each end;
 * the id is unchanged. If the transcript cannot be read, only the metadata is filled in. Texts are in the arena. */
static enum err_code claude_read_about(struct slice path, struct window *w, struct arena *a,
                                       struct subagent *out, struct err *e)
{
    struct about x = { .a = a, .out = out };
    struct prompt prompt = { .text = { 0 } };
    enum err_code rc = window_open(w, AT_FDCWD, path.p, 0, e);

    if (!rc)
        rc = window_widen(w, e);
    if (rc == ERR_NOMEM)
        return rc;

    struct buf bytes = { 0 };
    struct slice text;

    if (read_meta_file(path, META_BYTES, x.a, &bytes)) {
        if (json_get_text(buf_slice(&bytes), "agentType", x.a, &text))
            x.out->type = arena_copy(x.a, claude_first_line(text));
        if (json_get_text(buf_slice(&bytes), "description", x.a, &text))
            x.out->task = arena_copy(x.a, claude_first_line(text));
    }
    buf_fini(&bytes);

    if (rc) /* it is gone or cannot be read: only its name is known */
        return ERR_OK;
    out->bytes = w->file.id.size;
    out->time_ms = w->file.id.mtime_ns / 1000000;
    rc = see_tail(&x, w);
    if (!rc && !out->task.n && !prompt_first(w->head, a, &prompt))
        rc = ERR_NOMEM;
    if (!out->task.n)
        out->task = arena_copy(a, prompt_or_command(&prompt)); /* the window is closed */
    window_close(w);
    return rc || a->failed ? err_nomem(e) : ERR_OK;
}

/* Sub-agents write transcripts of their own: <session>/subagents/, at any depth, agent-<id>.jsonl, and beside it
 * agent-<id>.meta.json, which records who started them (claude.md 3.8). */

#define FRONT "agent-"
#define SUFFIX ".jsonl"
enum { META_MOST = 16 * 1024 * 1024 };

/* Entries still to be visited, the next one last: a list, so that no depth can exhaust the stack. */
struct entry {
    struct slice path; /* in the arena */
    struct slice id;   /* the id of a sub-agent's transcript; .p is NULL for a directory */
};

struct walk {
    struct arena *a;
    struct entry *todo; /* owned */
    size_t n, cap;
    bool (*found)(const struct entry *agent, void *arg); /* returns false to stop */
    void *arg;
};

static enum err_code push_todo(struct walk *w, struct entry entry)
{
    if (!array_reserve(w->todo, w->cap, w->n + 1))
        return ERR_NOMEM;
    w->todo[w->n++] = entry;
    return ERR_OK;
}

/* The type of an entry itself, not of the target of a link. */
static mode_t entry_type(DIR *d, const struct dirent *entry)
{
    struct stat sb;

    if (entry->d_type == DT_DIR)
        return S_IFDIR;
    if (entry->d_type == DT_REG)
        return S_IFREG;
    if (entry->d_type != DT_UNKNOWN || fstatat(dirfd(d), entry->d_name, &sb, AT_SYMLINK_NOFOLLOW))
        return 0;
    return sb.st_mode & S_IFMT;
}

static bool agent_id(const char *name, struct slice *id)
{
    size_t n = strlen(name), front = sizeof FRONT - 1, suffix = sizeof SUFFIX - 1;

    if (strncmp(name, FRONT, front) != 0 || n < suffix || strcmp(name + n - suffix, SUFFIX) != 0)
        return false;
    *id = (struct slice){ name + front, n > front + suffix ? n - front - suffix : 0 };
    return true;
}

static enum err_code push_entry(struct walk *w, struct slice dir, DIR *d,
                                const struct dirent *found)
{
    mode_t kind = entry_type(d, found);
    struct slice id = { NULL, 0 };

    if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0 ||
        (kind != S_IFDIR && !(kind == S_IFREG && agent_id(found->d_name, &id))))
        return ERR_OK;
    struct entry entry = {
        { arena_format(w->a, "%s/%s", dir.p, found->d_name), dir.n + 1 + strlen(found->d_name) }, id
    };

    if (!entry.path.p)
        return ERR_NOMEM;
    if (id.p) /* the name is only valid while the directory is read; the path stays */
        entry.id.p = entry.path.p + dir.n + 1 + sizeof FRONT - 1;
    return push_todo(w, entry);
}

/* Reversed, because the last one is visited first. */
static int compare_path_reversed(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return strcmp(y->path.p, x->path.p);
}

/* Adds the entries of a directory to the list. A directory that is missing has no entries. */
static enum err_code read_dir(struct walk *w, struct slice dir, struct err *e)
{
    DIR *d = opendir(dir.p);
    struct dirent *found = NULL;
    enum err_code rc = ERR_OK;
    size_t before = w->n;

    while (d && !rc && (errno = 0, found = readdir(d)))
        if (push_entry(w, dir, d, found))
            rc = err_nomem(e);
    if (!rc && !found && errno && errno != ENOENT && errno != ENOTDIR)
        rc = err_sys(e, dir.p, "look for sub-agents");
    if (d)
        closedir(d);
    if (w->n > before)
        qsort(w->todo + before, w->n - before, sizeof *w->todo, compare_path_reversed);
    return rc;
}

/* In the order of the names, with the entries of a directory in place of the directory. */
static enum err_code each_agent(const struct session_ref *ref, struct walk *w, struct err *e)
{
    struct slice top = claude_side_path(ref, "subagents", w->a);
    bool more = true;
    enum err_code rc =
        !top.p || push_todo(w, (struct entry){ .path = top }) ? err_nomem(e) : ERR_OK;

    while (!rc && more && w->n) {
        struct entry entry = w->todo[--w->n];

        if (entry.id.p)
            more = w->found(&entry, w->arg);
        else
            rc = read_dir(w, entry.path, e);
    }
    free(w->todo);
    return rc;
}

struct agent_walk {
    claude_agent_fn *fn;
    void *arg;
    enum err_code rc;
    struct err *e;
};

static bool visit_agent(const struct entry *agent, void *arg)
{
    struct agent_walk *w = arg;

    w->rc = w->fn(agent->id, agent->path.p, w->arg, w->e);
    return !w->rc;
}

enum err_code claude_each_agent(const struct session_ref *ref, claude_agent_fn *fn, void *arg,
                                struct err *e)
{
    struct arena a = { 0 };
    struct agent_walk visit = { .fn = fn, .arg = arg, .e = e };
    struct walk w = { .a = &a, .found = visit_agent, .arg = &visit };
    enum err_code rc = each_agent(ref, &w, e);

    arena_fini(&a);
    return rc ? rc : visit.rc;
}

struct ids {
    struct arena *a;
    struct claude_values list;
    bool failed;
};

static bool claude_keep_id(const struct entry *agent, void *arg)
{
    struct ids *ids = arg;

    struct slice id = arena_copy(ids->a, agent->id);

    ids->failed = !id.p || claude_values_add(&ids->list, ids->a, id);
    return !ids->failed;
}

enum err_code claude_subagents(const struct store *st, const struct session_ref *ref,
                               struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct ids found = { .a = a };
    struct walk w = { .a = a, .found = claude_keep_id, .arg = &found };

    (void)st;
    TRY(each_agent(ref, &w, e));
    if (found.failed)
        return err_nomem(e);
    *ids = found.list.p;
    *n = found.list.n;
    return ERR_OK;
}

struct describing {
    struct subagent_list *list;
    struct window *window;
    const atomic_bool *cancel;
    enum err_code rc;
    struct err *e;
};

static bool claude_subagent_describe(const struct entry *agent, void *arg)
{
    struct describing *d = arg;
    struct subagent_list *list = d->list;
    struct subagent *more = arena_grow(&list->arena, list->agent, list->n, sizeof *more);

    if (!more)
        d->rc = err_nomem(d->e);
    else if (d->cancel && atomic_load(d->cancel))
        d->rc = ERR_CANCELLED;
    if (d->rc)
        return false;
    list->agent = more;
    more[list->n] = (struct subagent){ .id = agent->id, .time_ms = TIME_NONE };
    d->rc = claude_read_about(agent->path, d->window, &list->arena, &more[list->n++], d->e);
    return !d->rc;
}

enum err_code claude_describe_subagents(const struct store *st, const struct session_ref *ref,
                                        const atomic_bool *cancel, struct subagent_list *out,
                                        struct err *e)
{
    struct subagent_list list = { .n = 0 };
    struct window window;
    struct describing d = { .list = &list, .window = &window, .cancel = cancel, .e = e };
    struct walk w = { .a = &list.arena, .found = claude_subagent_describe, .arg = &d };
    enum err_code rc = window_init(&window, e);

    (void)st;
    if (rc)
        return rc;
    rc = each_agent(ref, &w, e);
    window_fini(&window);
    rc = rc ? rc : d.rc;
    if (rc)
        subagent_list_fini(&list);
    else
        *out = list;
    return rc;
}

struct wanted {
    struct slice id, path;
};

static bool is_wanted_agent(const struct entry *agent, void *arg)
{
    struct wanted *w = arg;

    if (!slice_eq(agent->id, w->id))
        return true;
    w->path = agent->path;
    return false;
}

enum err_code claude_subagent(const struct store *st, const struct session_ref *ref,
                              struct slice agent, struct arena *a, struct session_ref *out,
                              struct err *e)
{
    struct wanted wanted = { .id = agent };
    struct walk w = { .a = a, .found = is_wanted_agent, .arg = &wanted };
    struct session_ref sub = *ref;
    struct file f;

    TRY(each_agent(ref, &w, e));
    if (!wanted.path.p)
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "read sub-agent %.*s: no such sub-agent; see reprise subagents",
                       SLICE_ARG(agent));
    TRY(file_open(AT_FDCWD, wanted.path.p, 0, &f, e));
    sub.store = st;
    sub.file = f.id;
    sub.path = wanted.path;
    sub.id = arena_copy(a, agent);
    file_close(&f);
    if (!sub.id.p)
        return err_nomem(e);
    *out = sub;
    return ERR_OK;
}

bool claude_is_agent_id(struct slice id)
{
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-')
            return false;
    }
    return id.n >= 1 && id.n <= 128;
}

enum err_code claude_agent_parent(const struct session_ref *agent, struct arena *a,
                                  struct claude_parent *parent, struct err *e)
{
    struct slice value, text;
    struct buf bytes = { 0 };

    if (!read_meta_file(agent->path, META_MOST, a, &bytes))
        return err_nomem(e);
    if (json_get(buf_slice(&bytes), "toolUseId", &value) && claude_run_id(value) &&
        json_text(value, a, &text))
        parent->tool_use_id = arena_copy(a, text);
    if (json_get_text(buf_slice(&bytes), "parentAgentId", a, &text) && claude_is_agent_id(text))
        parent->agent_id = arena_copy(a, text);
    buf_fini(&bytes);
    return ERR_OK;
}
