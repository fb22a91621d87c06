#include "store/host/host_state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/buf.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/env.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/proc/live.h"

/* Longer texts, and larger metadata, are not published, so that an entry stays below LIVE_ENTRY_MAX. */
enum { TEXT_MAX = 4096, PUBLISHED_METADATA_MAX = 16 * 1024 };

struct host_state {
    pthread_mutex_t lock; /* protects all members below; held while listeners are called */
    enum session_state now;
    bool pending;        /* the metadata has a pending_action */
    struct buf metadata; /* one JSON object */
    struct buf title, last_prompt;
    struct host_listener *listener; /* owned */
    size_t listeners, cap;
    /* publishing */
    pid_t owner; /* 0: not published */
    const struct store_env *env;
    bool writer;
    /* before that, the file is new: a crash then leaves nothing under another name */
    bool published;
    int held;                  /* the published file, locked; -1: none */
    char *dir, *name, *system; /* owned */
    struct buf session, cwd;
};

static enum err_code host_state_set_text(struct buf *b, struct slice text)
{
    b->n = 0;
    return buf_add(b, text);
}

/* ---- the lock ---- */

/* The lock notices a listener that calls back. */
static enum err_code host_state_begin_step(struct host_state *s, struct err *e)
{
    if (pthread_mutex_lock(&s->lock) == 0)
        return ERR_OK;
    return err_set(e, ERR_USAGE, "", "change the state: called by a listener");
}

static enum err_code init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;

    if (pthread_mutexattr_init(&attr))
        return ERR_NOMEM;
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    bool ok = pthread_mutex_init(lock, &attr) == 0;

    pthread_mutexattr_destroy(&attr);
    return ok ? ERR_OK : ERR_NOMEM;
}

/* ---- publishing ---- */

/* Claude Code's own registry knows busy and idle. */
static enum err_code print_entry(const struct host_state *s, struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    live_write_process(&j);
    jsonout_member(&j, "sessionId", buf_slice(&s->session));
    jsonout_member(&j, "cwd", buf_slice(&s->cwd));
    if (!s->writer)
        jsonout_member(&j, "status", s->now == SESSION_RUNNING ? SLICE("busy") : SLICE("idle"));
    jsonout_member(&j, "system", slice_of(s->system));
    if (!s->writer)
        jsonout_member(&j, "state", slice_of(session_state_name(s->now)));
    jsonout_int_member(&j, "updatedAt", env_now_ms(s->env));
    if (s->title.n <= TEXT_MAX)
        jsonout_member(&j, "title", buf_slice(&s->title));
    if (s->last_prompt.n <= TEXT_MAX)
        jsonout_member(&j, "lastPrompt", buf_slice(&s->last_prompt));

    /* Without the input of a pending action, which may be a whole file. */
    struct buf short_action = { 0 }, short_metadata = { 0 };
    struct slice action, all = buf_slice(&s->metadata);
    enum err_code rc = ERR_OK;

    if (json_get(all, "pending_action", &action) && json_type(action) == JSON_OBJECT) {
        rc = json_remove(&short_action, action, "input");
        if (!rc)
            rc = json_set(&short_metadata, all, "pending_action", buf_slice(&short_action));
        all = buf_slice(&short_metadata);
    }
    if (!rc && all.n <= PUBLISHED_METADATA_MAX)
        jsonout_raw_member(&j, "metadata", all);
    buf_fini(&short_action);
    buf_fini(&short_metadata);

    jsonout_close(&j, '}');
    return rc ? rc : j.rc;
}

static enum err_code publish(struct host_state *s, struct err *e)
{
    struct buf text = { 0 };

    if (!s->owner || s->owner != getpid())
        return ERR_OK;
    enum err_code rc = print_entry(s, &text) ? err_nomem(e) : ERR_OK;

    if (!rc)
        rc = s->published ? disk_replace_file(s->dir, s->name, buf_slice(&text), 0600, e)
                          : disk_create_file(s->dir, s->name, buf_slice(&text), 0600, e);
    if (!rc) {
        /* The lock is only for programs in other containers; on a file system without locks they
         * see an unknown process. */
        char path[PATH_MAX];
        int fd = -1;

        if (snprintf(path, sizeof path, "%s/%s", s->dir, s->name) < (int)sizeof path)
            fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB))
            errno = 0;
        if (s->held >= 0)
            close(s->held);
        s->held = fd;
    }
    s->published |= !rc;
    buf_fini(&text);
    return rc ? err_wrap(e, rc, "publish the state of the session") : ERR_OK;
}

static enum err_code begin_publishing(struct host_state *s, const struct host_published *where,
                                      struct err *e)
{
    char dir[PATH_MAX], id[HOST_ID], name[64];

    TRY(env_state_path(where->env, LIVE_HOSTS_DIR, dir, e));
    TRY(disk_own_dir(where->env->state_dir, dir, e));
    live_sweep_hosts(dir);
    host_generate_id(id);
    snprintf(name, sizeof name, "%ld-%s.json", (long)getpid(), id);
    s->env = where->env;
    s->writer = where->writer;
    s->dir = strdup(dir);
    s->name = strdup(name);
    s->system = strdup(where->system);
    if (!s->dir || !s->name || !s->system || host_state_set_text(&s->session, where->session) ||
        host_state_set_text(&s->cwd, where->cwd))
        return err_nomem(e);
    s->owner = getpid();
    return publish(s, e);
}

/* ---- opening ---- */

static void free_state(struct host_state *s)
{
    if (s->held >= 0)
        close(s->held);
    buf_fini(&s->metadata);
    buf_fini(&s->title);
    buf_fini(&s->last_prompt);
    buf_fini(&s->session);
    buf_fini(&s->cwd);
    free(s->listener);
    free(s->dir);
    free(s->name);
    free(s->system);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

enum err_code host_state_open(const struct host_published *where, struct host_state **out,
                              struct err *e)
{
    struct host_state *s = calloc(1, sizeof *s);

    if (!s || init_lock(&s->lock)) {
        free(s);
        return err_nomem(e);
    }
    s->now = SESSION_IDLE;
    s->held = -1;
    enum err_code rc = host_state_set_text(&s->metadata, SLICE("{}")) ? err_nomem(e) : ERR_OK;

    if (!rc && where)
        rc = begin_publishing(s, where, e);
    if (rc) {
        free_state(s);
        return rc;
    }
    *out = s;
    return ERR_OK;
}

void host_state_close(struct host_state *s)
{
    char path[PATH_MAX];

    if (!s)
        return;
    if (s->owner == getpid() &&
        snprintf(path, sizeof path, "%s/%s", s->dir, s->name) < (int)sizeof path)
        unlink(path);
    free_state(s);
}

enum err_code host_state_listen(struct host_state *s, const struct host_listener *l, struct err *e)
{
    enum err_code rc = host_state_begin_step(s, e);

    if (rc)
        return rc;
    if (!array_reserve(s->listener, s->cap, s->listeners + 1))
        rc = err_nomem(e);
    else
        s->listener[s->listeners++] = *l;
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* ---- steps ---- */

static enum err_code print_action(const struct host_action *action, struct jsonout *j)
{
    jsonout_open(j, '{');
    jsonout_key(j, "tool_name");
    jsonout_text(j, action->tool_name);
    jsonout_key(j, "action_description");
    jsonout_text(j, action->description);
    jsonout_key(j, "tool_use_id");
    jsonout_text(j, action->tool_use_id);
    jsonout_key(j, "request_id");
    jsonout_text(j, action->request_id);
    if (action->input.n)
        jsonout_raw_member(j, "input", action->input);
    jsonout_close(j, '}');
    return j->rc;
}

/* Keeps the old metadata if it fails. */
static enum err_code merge_metadata(struct host_state *s, struct slice patch, struct err *e)
{
    struct buf merged = { 0 };
    enum err_code rc = json_merge(&merged, buf_slice(&s->metadata), patch);

    if (!rc && merged.n > HOST_METADATA_MAX)
        rc = ERR_USAGE;
    if (rc) {
        buf_fini(&merged);
        return rc == ERR_NOMEM
                   ? err_nomem(e)
                   : err_set(e, rc, "", "change the metadata: too large, or nested too deeply");
    }
    buf_fini(&s->metadata);
    s->metadata = merged;
    return ERR_OK;
}

static bool is_object(struct slice json)
{
    return json_type(json) == JSON_OBJECT && json_valid(json);
}

/* Applies a patch, and calls the listeners. */
static enum err_code apply_patch(struct host_state *s, struct slice patch, struct err *e)
{
    TRY(merge_metadata(s, patch, e));

    for (size_t i = 0; i < s->listeners; i++)
        if (s->listener[i].metadata)
            s->listener[i].metadata(patch, s->listener[i].arg);

    return ERR_OK;
}

enum err_code host_state_change(struct host_state *s, enum session_state state,
                                const struct host_action *action, struct err *e)
{
    if (state != SESSION_REQUIRES_ACTION)
        action = NULL;
    if (state == SESSION_UNKNOWN || (action && action->input.n && !is_object(action->input)))
        return err_set(e, ERR_USAGE, "", "change the state: not a state, or not a JSON object");
    enum err_code rc = host_state_begin_step(s, e);

    if (rc)
        return rc;

    /* The order is that of the seed: state, pending_action, task_summary. */
    s->now = state;

    for (size_t i = 0; i < s->listeners; i++)
        if (s->listener[i].state)
            s->listener[i].state(s->now, action, s->listener[i].arg);

    if (action || s->pending) {
        /* The action that the person is asked about, or null. */
        struct buf patch = { 0 };
        struct jsonout j;

        jsonout_init(&j, &patch);
        jsonout_open(&j, '{');
        jsonout_key(&j, "pending_action");
        if (action)
            print_action(action, &j);
        else
            jsonout_null(&j);
        jsonout_close(&j, '}');
        rc = j.rc ? err_nomem(e) : apply_patch(s, buf_slice(&patch), e);

        if (!rc)
            s->pending = action != NULL;
        buf_fini(&patch);
    }
    if (!rc && state == SESSION_IDLE)
        rc = apply_patch(s, SLICE("{\"task_summary\":null}"), e);
    enum err_code published = publish(s, rc ? NULL : e);
    if (!rc)
        rc = published;
    pthread_mutex_unlock(&s->lock);
    return rc;
}

enum err_code host_state_merge(struct host_state *s, struct slice patch, struct err *e)
{
    if (!is_object(patch))
        return err_set(e, ERR_USAGE, "", "change the metadata: the patch is not a JSON object");
    TRY(host_state_begin_step(s, e));
    enum err_code rc = apply_patch(s, patch, e);

    if (!rc)
        rc = publish(s, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

enum err_code host_state_title(struct host_state *s, struct slice title, struct err *e)
{
    TRY(host_state_begin_step(s, e));
    enum err_code rc = host_state_set_text(&s->title, title) ? err_nomem(e) : ERR_OK;

    for (size_t i = 0; !rc && i < s->listeners; i++)
        if (s->listener[i].title)
            s->listener[i].title(title, s->listener[i].arg);
    if (!rc)
        rc = publish(s, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

enum err_code host_state_last_prompt(struct host_state *s, struct slice prompt, struct err *e)
{
    TRY(host_state_begin_step(s, e));
    enum err_code rc = host_state_set_text(&s->last_prompt, prompt) ? err_nomem(e) : ERR_OK;

    for (size_t i = 0; !rc && i < s->listeners; i++)
        if (s->listener[i].last_prompt)
            s->listener[i].last_prompt(prompt, s->listener[i].arg);
    if (!rc)
        rc = publish(s, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

enum session_state host_state_now(struct host_state *s)
{
    enum session_state now = SESSION_UNKNOWN;

    if (host_state_begin_step(s, NULL) == ERR_OK) {
        now = s->now;
        pthread_mutex_unlock(&s->lock);
    }
    return now;
}

enum err_code host_state_metadata(struct host_state *s, struct arena *a, struct slice *json,
                                  struct err *e)
{
    TRY(host_state_begin_step(s, e));
    *json = arena_copy(a, buf_slice(&s->metadata));
    pthread_mutex_unlock(&s->lock);
    return json->p ? ERR_OK : err_nomem(e);
}
