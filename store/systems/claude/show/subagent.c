#include "store/systems/claude/claude.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/systems/claude/list/subagent_about.h"
#include "store/systems/claude/show/message_json.h"
#include "store/systems/claude/show/row_origin.h"

/* Sub-agents write transcripts of their own: <session>/subagents/, at any depth, agent-<id>.jsonl, and
 * beside it agent-<id>.meta.json, which says who started them (claude.md 3.8). */

#define FRONT "agent-"
#define SUFFIX ".jsonl"
enum { META_MOST = 16 * 1024 * 1024 };

/* What is still to be looked at, the next one last: a list, so that no depth can exhaust the stack. */
struct entry {
    struct slice path; /* in the arena */
    struct slice id;   /* of a sub-agent's transcript; .p is NULL for a directory */
};

struct walk {
    struct arena *a;
    struct entry *todo; /* owned */
    size_t n, cap;
    bool (*found)(const struct entry *agent, void *arg); /* false: enough */
    void *arg;
};

static enum err_code push_todo(struct walk *w, struct entry entry)
{
    if (w->n == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 16;
        struct entry *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(w->todo, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        w->todo = more;
        w->cap = cap;
    }
    w->todo[w->n++] = entry;
    return ERR_OK;
}

static struct slice join_dir(struct arena *a, struct slice dir, const char *name)
{
    size_t n = strlen(name);
    char *p = arena_alloc(a, dir.n + 1 + n + 1);

    if (!p)
        return (struct slice){ NULL, 0 };
    memcpy(p, dir.p, dir.n);
    p[dir.n] = '/';
    memcpy(p + dir.n + 1, name, n + 1);
    return (struct slice){ p, dir.n + 1 + n };
}

/* What an entry is, itself and not what it links to. */
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
    struct entry entry = { join_dir(w->a, dir, found->d_name), id };

    if (!entry.path.p)
        return ERR_NOMEM;
    if (id.p) /* the name is the directory's; the path stays */
        entry.id.p = entry.path.p + dir.n + 1 + sizeof FRONT - 1;
    return push_todo(w, entry);
}

/* Backwards, because the last one is looked at first. */
static int compare_path_reversed(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return strcmp(y->path.p, x->path.p);
}

/* Puts what a directory holds on the list. One that is not there, or not to be read, holds nothing. */
static enum err_code read_dir(struct walk *w, struct slice dir)
{
    DIR *d = opendir(dir.p);
    struct dirent *found;
    enum err_code rc = ERR_OK;
    size_t before = w->n;

    if (!d)
        return ERR_OK;
    while (!rc && (found = readdir(d)))
        rc = push_entry(w, dir, d, found);
    closedir(d);
    if (w->n > before)
        qsort(w->todo + before, w->n - before, sizeof *w->todo, compare_path_reversed);
    return rc;
}

/* In the order of the names, and what is in a directory where the directory is. */
static enum err_code each_agent(const struct session_ref *ref, struct walk *w, struct err *e)
{
    struct slice top = claude_side_path(ref, "subagents", w->a);
    bool more = true;
    enum err_code rc = top.p ? push_todo(w, (struct entry){ .path = top }) : ERR_NOMEM;

    while (!rc && more && w->n) {
        struct entry entry = w->todo[--w->n];

        if (entry.id.p)
            more = w->found(&entry, w->arg);
        else
            rc = read_dir(w, entry.path);
    }
    free(w->todo);
    return rc ? err_set(e, rc, ref->path.p, "look for sub-agents") : ERR_OK;
}

struct ids {
    struct arena *a;
    struct slice *id;
    size_t n, cap;
    bool failed;
};

static bool keep_id(const struct entry *agent, void *arg)
{
    struct ids *ids = arg;

    if (ids->n == ids->cap) {
        size_t cap = ids->cap ? 2 * ids->cap : 16;
        struct slice *more = arena_alloc(ids->a, cap * sizeof *more);

        ids->failed = !more;
        if (!more)
            return false;
        if (ids->n)
            memcpy(more, ids->id, ids->n * sizeof *more);
        ids->id = more;
        ids->cap = cap;
    }
    ids->id[ids->n] = arena_copy(ids->a, agent->id);
    ids->failed = !ids->id[ids->n++].p;
    return !ids->failed;
}

enum err_code claude_subagents(const struct store *st, const struct session_ref *ref,
                               struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct ids found = { .a = a };
    struct walk w = { .a = a, .found = keep_id, .arg = &found };
    enum err_code rc = each_agent(ref, &w, e);

    (void)st;
    if (!rc && found.failed)
        rc = err_nomem(e);
    if (rc)
        return rc;
    *ids = found.id;
    *n = found.n;
    return ERR_OK;
}

struct describing {
    struct subagent_list *list;
    struct window *window;
    const atomic_bool *cancel;
    enum err_code rc;
    struct err *e;
};

static bool describe(const struct entry *agent, void *arg)
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
    d->rc = claude_about_subagent(agent->path, d->window, &list->arena, &more[list->n++], d->e);
    return !d->rc;
}

enum err_code claude_describe_subagents(const struct store *st, const struct session_ref *ref,
                                        const atomic_bool *cancel, struct subagent_list *out,
                                        struct err *e)
{
    struct subagent_list list = { .n = 0 };
    struct window window;
    struct describing d = { .list = &list, .window = &window, .cancel = cancel, .e = e };
    struct walk w = { .a = &list.arena, .found = describe, .arg = &d };
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
    enum err_code rc = each_agent(ref, &w, e);

    if (rc)
        return rc;
    if (!wanted.path.p)
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no sub-agent %.*s", SLICE_ARG(agent));
    rc = file_open(AT_FDCWD, wanted.path.p, 0, &f, e);
    if (rc)
        return rc;
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
    struct slice stem = { agent->path.p, agent->path.n - (sizeof SUFFIX - 1) }, value, text;
    struct buf name = { 0 }, bytes = { 0 };
    enum err_code rc = buf_add(&name, stem);

    if (!rc)
        rc = buf_add(&name, SLICE(".meta.json"));
    if (rc || !buf_cstr(&name)) {
        buf_fini(&name);
        return err_nomem(e);
    }
    /* Without a readable file nobody knows, and that is no error. */
    if (!file_read_all(AT_FDCWD, name.p, FILE_FOLLOW, META_MOST, &bytes, NULL) &&
        json_valid(buf_slice(&bytes))) {
        if (json_get(buf_slice(&bytes), "toolUseId", &value) && claude_run_id(value) &&
            json_text(value, a, &text))
            parent->tool_use_id = arena_copy(a, text);
        if (json_get_text(buf_slice(&bytes), "parentAgentId", a, &text) && claude_is_agent_id(text))
            parent->agent_id = arena_copy(a, text);
    }
    buf_fini(&name);
    buf_fini(&bytes);
    return ERR_OK;
}
