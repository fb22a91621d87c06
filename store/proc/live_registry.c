#include "store/proc/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/api/env.h"
#include "store/api/store.h"
#include "store/fs/disk.h"
#include "store/proc/process.h"

/* Whoever deletes or moves a session has to know whether its agent still runs, but the entry of an
 * agent that was killed stays, and its process id may be given to another one. So each entry is
 * examined in this order, and no stage before the last can find that the agent runs:
 *
 *   file name -> JSON -> our domain -> our boot -> the process exists -> its start time -> running
 *
 * A new stage may end with LIVE_QUIET only if the process has certainly ended, and otherwise has to
 * end with LIVE_UNKNOWN. A published state counts only for a process that runs, because it stays in
 * the file after a kill. Entries of agents are never removed, since they are files of another
 * program; only those of hosts are. */

enum {
    ENTRIES_MAX = 10000,
    UUID_TEXT = 36,
    NOT_LOCKED_YET_MS = 2000,
};

struct reading {
    struct live_table *table;
    bool hosts;            /* files of hosts, not of agents */
    struct buf text;       /* the text of the current entry */
    char domain[PATH_MAX]; /* ours; "" if it cannot be determined */
};

/* "123.json" is an entry of process 123, and "123-<uuid>.json" one of a host; 0 for any other name. */
static pid_t pid_of_name(const char *name, bool hosts)
{
    long pid = 0;

    if (*name < '1' || *name > '9')
        return 0;
    for (; *name >= '0' && *name <= '9'; name++) {
        pid = pid * 10 + (*name - '0');
        if (pid > INT_MAX)
            return 0;
    }
    if (hosts)
        name = *name == '-' && strlen(name) > UUID_TEXT ? name + 1 + UUID_TEXT : "";
    return strcmp(name, ".json") == 0 ? (pid_t)pid : 0;
}

/* A host locks its file as soon as it is published, and locks are seen in every container of this boot. */
static bool lock_is_free(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct timespec now;
    struct stat st;

    if (fd < 0)
        return false;
    bool old = fstat(fd, &st) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
               time_ms_of(now) - time_ms_of(st.st_ctim) > NOT_LOCKED_YET_MS;
    bool unlocked = old && flock(fd, LOCK_SH | LOCK_NB) == 0;

    close(fd);
    return unlocked;
}

static struct live live_registry_judge_entry(struct reading *r, int dir, const char *name,
                                             pid_t pid, struct slice entry)
{
    struct slice domain, start = { NULL, 0 }, value, boot;
    struct arena *a = &r->table->arena;
    bool elsewhere =
        json_get_text(entry, "pidDomain", a, &domain) && !slice_eq(domain, slice_of(r->domain));

    if (elsewhere && json_get_text(entry, "bootId", a, &boot) && proc_is_boot(boot) &&
        lock_is_free(dir, name))
        return (struct live){ LIVE_QUIET, pid, false, "its process in another container ended" };
    if (elsewhere)
        return (struct live){ LIVE_UNKNOWN, pid, false,
                              "it was opened on another machine or in another container" };

    /* procStart is a string of digits; a number is accepted too. */
    if (json_get(entry, "procStart", &value)) {
        if (json_type(value) == JSON_NUMBER)
            start = value;
        else if (!json_text(value, a, &start))
            start.n = 0;
    }

    /* Another program of this kind records the boot before the start: "<boot id>:<digits>". */
    const char *colon = start.n ? memchr(start.p, ':', start.n) : NULL;

    if (colon) {
        if (!proc_is_boot((struct slice){ start.p, (size_t)(colon - start.p) }))
            return (struct live){ LIVE_QUIET, pid, false, "the machine was restarted since" };
        start = (struct slice){ colon + 1, (size_t)(start.p + start.n - colon) - 1 };
    }
    start = arena_copy(a, start); /* the buffer is reused for the process */

    /* An entry of our own domain is checked against the process table. */
    struct proc_info process;

    if (!proc_info(pid, &process))
        return kill(pid, 0) != 0 && errno == ESRCH
                   ? (struct live){ LIVE_QUIET, pid, false,
                                    "its process ended without unregistering" }
                   : (struct live){ LIVE_UNKNOWN, pid, false, "its process cannot be examined" };
    if (process.state == 'Z' || process.state == 'X')
        return (struct live){ LIVE_QUIET, pid, false, "its process has ended" };
    if (!start.n)
        return (struct live){ LIVE_UNKNOWN, pid, false,
                              "its entry does not record when the process started" };
    return slice_eq(slice_of(process.start), start)
               ? (struct live){ LIVE_RUNNING, pid, false, "its process is running" }
               : (struct live){ LIVE_QUIET, pid, false,
                                "its process id belongs to another program now" };
}

static bool live_registry_keep_text(struct arena *a, struct slice *text)
{
    *text = arena_copy(a, *text);
    return text->p != NULL;
}

/* The state counts only if the host is known to run. Returns false if out of memory. */
static bool read_host(struct arena *a, struct slice entry, struct live_entry *out)
{
    struct slice state, value;

    if (!json_get_text(entry, "system", a, &out->system) ||
        !live_registry_keep_text(a, &out->system))
        return false;
    if (out->live.state != LIVE_RUNNING || !json_get(entry, "state", &state))
        return true;
    for (int s = SESSION_IDLE; s <= SESSION_REQUIRES_ACTION; s++)
        if (json_string_is(state, session_state_name((enum session_state)s)))
            out->state = (enum session_state)s;
    if (json_get(entry, "metadata", &value) && json_valid(value) &&
        json_type(value) == JSON_OBJECT && !slice_eq(value, SLICE("{}"))) {
        out->metadata = value;
        if (!live_registry_keep_text(a, &out->metadata))
            return false;
    }
    if (out->state == SESSION_REQUIRES_ACTION &&
        json_at(entry, "metadata.pending_action.action_description", &value) &&
        json_type(value) == JSON_STRING && json_text(value, a, &out->waits_for))
        return live_registry_keep_text(a, &out->waits_for);
    return true;
}

/* The state counts only if the process is known to run. Claude Code calls a session "shell" if its turn has ended and a
 * command of it still runs. Returns false if out of memory. */
static bool read_status(struct arena *a, struct slice entry, struct live_entry *out)
{
    static const struct {
        const char *status;
        enum session_state state;
        unsigned flags;
    } known[] = { { "busy", SESSION_RUNNING, 0 },
                  { "shell", SESSION_RUNNING, SESSION_SHELL },
                  { "idle", SESSION_IDLE, 0 },
                  { "waiting", SESSION_REQUIRES_ACTION, 0 } };
    struct slice status, kind, value;

    if (out->live.state != LIVE_RUNNING)
        return true;
    if (!json_get(entry, "status", &status))
        out->state = SESSION_IDLE; /* older versions publish only that they are busy */
    else
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (json_string_is(status, known[i].status)) {
                out->state = known[i].state;
                out->flags = known[i].flags;
            }
    out->live.busy = out->state == SESSION_RUNNING;
    if (json_get(entry, "kind", &kind) && json_string_is(kind, "bg"))
        out->flags |= SESSION_BACKGROUND;
    if (json_get(entry, "statusUpdatedAt", &value))
        out->has_since = json_type(value) == JSON_NUMBER
                             ? json_int(value, &out->since_ms)
                             : json_text(value, a, &status) && time_parse(status, &out->since_ms);
    return out->state != SESSION_REQUIRES_ACTION || !json_get(entry, "waitingFor", &value) ||
           json_type(value) != JSON_STRING ||
           (json_text(value, a, &out->waits_for) && live_registry_keep_text(a, &out->waits_for));
}

/* An entry that can no longer be read belongs to an agent that has just ended. */
static enum err_code read_registry_entry(struct reading *r, int dir, const char *name)
{
    pid_t pid = pid_of_name(name, r->hosts);
    struct slice entry, id;
    enum err_code rc;

    if (!pid)
        return ERR_OK;
    r->text.n = 0;
    rc = file_read_all(dir, name, 0, LIVE_ENTRY_MAX, &r->text, NULL);
    if (rc)
        return rc == ERR_NOMEM ? rc : ERR_OK;
    entry = buf_slice(&r->text);
    if (!json_valid(entry) || !json_get_text(entry, "sessionId", &r->table->arena, &id))
        return ERR_OK;
    id = arena_copy(&r->table->arena, id);

    /* The text of the entry is copied, because reading the process table replaces it. */
    if (!id.p)
        return ERR_NOMEM;

    struct live_table *t = r->table;
    struct live_entry out = { .session_id = id };
    struct slice system;

    if (r->hosts && (!json_get(entry, "system", &system) || json_type(system) != JSON_STRING))
        return ERR_OK;
    if (!live_registry_keep_text(&t->arena, &entry))
        return ERR_NOMEM;
    out.live = live_registry_judge_entry(r, dir, name, pid, entry);
    if (!(r->hosts ? read_host : read_status)(&t->arena, entry, &out))
        return ERR_NOMEM;
    if (!array_reserve(t->entry, t->cap, t->n + 1))
        return ERR_NOMEM;
    t->entry[t->n++] = out;
    return ERR_OK;
}

static enum err_code read_registry(const char *path, bool hosts, struct live_table *out,
                                   struct err *e)
{
    struct reading r = { .table = out, .hosts = hosts };
    enum err_code rc = ERR_OK;
    DIR *dir = opendir(path);

    *out = (struct live_table){ 0 };
    if (!dir) {
        /* A registry that does not exist is empty. */
        out->unreadable = errno != ENOENT && errno != ENOTDIR;
        return ERR_OK;
    }

    rc = ERR_OK;
    struct dirent *d;

    proc_domain(r.domain, sizeof r.domain);
    while (!rc && r.table->n < ENTRIES_MAX && (errno = 0, d = readdir(dir)))
        rc = read_registry_entry(&r, dirfd(dir), d->d_name);
    out->unreadable = !rc && (r.table->n >= ENTRIES_MAX || errno);

    closedir(dir);
    buf_fini(&r.text);
    if (rc) {
        live_fini(out);
        return err_set(e, rc, path, "read the registry of running agents");
    }
    return ERR_OK;
}

enum err_code live_read(const char *config, struct live_table *out, struct err *e)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%ssessions", config, *config ? "/" : "");

    *out = (struct live_table){ .unreadable = true };
    return n < 0 || (size_t)n >= sizeof path ? ERR_OK : read_registry(path, false, out, e);
}

/* The most active of several entries for one session; NULL if there is no entry. */
static const struct live_entry *live_entry_of(const struct live_table *table,
                                              struct slice session_id)
{
    const struct live_entry *best = NULL;

    for (size_t i = 0; i < table->n; i++) {
        const struct live_entry *entry = &table->entry[i];

        if ((!best || entry->live.state > best->live.state) &&
            slice_eq(entry->session_id, session_id))
            best = entry;
    }
    return best;
}

struct live live_of(const struct live_table *table, struct slice session_id)
{
    const struct live_entry *entry = live_entry_of(table, session_id);

    if (entry)
        return entry->live;
    if (table->unreadable)
        return (struct live){ LIVE_UNKNOWN, 0, false,
                              "the registry of running agents cannot be read" };
    return (struct live){ LIVE_QUIET, 0, false, "no running agent has registered it" };
}

void live_fini(struct live_table *table)
{
    arena_fini(&table->arena);
    free(table->entry);
    *table = (struct live_table){ 0 };
}

/* ---- sessions of hosts ---- */

enum err_code live_read_hosts(const struct store_env *env, struct live_table *out, struct err *e)
{
    char path[PATH_MAX];

    *out = (struct live_table){ 0 };
    if (!env || env_state_path(env, LIVE_HOSTS_DIR, path, NULL))
        return ERR_OK;
    return read_registry(path, true, out, e);
}

const struct live_entry *live_find_host(const struct live_table *table,
                                        const struct session_ref *ref, pid_t except)
{
    const struct live_entry *best = NULL;

    for (size_t i = 0; i < table->n; i++) {
        const struct live_entry *entry = &table->entry[i];

        bool better = entry->live.state > (best ? best->live.state : LIVE_QUIET) ||
                      (best && entry->live.state == best->live.state && !best->state);

        if (better && entry->live.pid != except && slice_eq(entry->session_id, ref->id) &&
            slice_eq(entry->system, slice_of(store_format(ref->store->ops))))
            best = entry;
    }
    return best;
}

pid_t live_host_pid(const struct store_env *env, const char *system, const char *session)
{
    struct live_table table;
    pid_t pid = 0;

    if (live_read_hosts(env, &table, NULL))
        return 0;
    for (size_t i = 0; i < table.n && !pid; i++) {
        const struct live_entry *entry = &table.entry[i];

        if (entry->live.state == LIVE_RUNNING && entry->live.pid != getpid() &&
            slice_eq(entry->session_id, slice_of(session)) &&
            slice_eq(entry->system, slice_of(system)))
            pid = entry->live.pid;
    }
    live_fini(&table);
    return pid;
}

bool live_show_host(const struct live_table *table, struct session_row *row)
{
    const struct live_entry *host = table->n ? live_find_host(table, &row->ref, 0) : NULL;

    if (!host || host->live.state != LIVE_RUNNING)
        return true;
    row->flags |= SESSION_LIVE | (host->state == SESSION_REQUIRES_ACTION ? SESSION_WAITS : 0U);
    row->live_pid = host->live.pid;
    row->state = host->state;
    row->waits_for = arena_copy(&row->arena, host->waits_for);
    row->metadata = arena_copy(&row->arena, host->metadata);
    return row->waits_for.p && row->metadata.p;
}

void live_write_process(struct jsonout *j)
{
    struct proc_info self;
    char domain[PATH_MAX];

    jsonout_int_member(j, "pid", getpid());
    if (proc_info(getpid(), &self))
        jsonout_member(j, "procStart", slice_of(self.start));
    proc_domain(domain, sizeof domain);
    jsonout_member(j, "pidDomain", slice_of(domain));
    proc_boot(domain, sizeof domain);
    if (domain[0])
        jsonout_member(j, "bootId", slice_of(domain));
}

void live_sweep_hosts(const char *dir)
{
    struct live_table table;
    struct reading r = { .table = &table, .hosts = true };
    DIR *d = opendir(dir);
    struct dirent *entry;

    if (!d)
        return;
    proc_domain(r.domain, sizeof r.domain);
    while ((entry = readdir(d))) {
        table = (struct live_table){ 0 };
        if (read_registry_entry(&r, dirfd(d), entry->d_name) == ERR_OK && table.n == 1 &&
            table.entry[0].live.state == LIVE_QUIET)
            unlinkat(dirfd(d), entry->d_name, 0);
        live_fini(&table);
    }
    closedir(d);
    buf_fini(&r.text);
    (void)disk_new_sweep(dir); /* what a host left that was killed while it published */
}

enum { STALE_AFTER_MS = 1000 };

struct live_cache {
    pthread_mutex_t lock; /* protects all members below except config */
    char *config;
    struct live_table table;
    int64_t read_ms;
    bool known; /* the table has been read */
};

struct live_cache *live_cache_new(const char *config)
{
    struct live_cache *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->config = strdup(config);
    if (!w->config || pthread_mutex_init(&w->lock, NULL) != 0) {
        free(w->config);
        free(w);
        return NULL;
    }
    return w;
}

void live_cache_free(struct live_cache *w)
{
    if (!w)
        return;
    pthread_mutex_destroy(&w->lock);
    live_fini(&w->table);
    free(w->config);
    free(w);
}

static void refresh_registry(struct live_cache *w)
{
    int64_t now = time_coarse_ms();
    struct live_table fresh;

    if (w->known && now - w->read_ms < STALE_AFTER_MS)
        return;
    live_fini(&w->table);
    w->known = live_read(w->config, &fresh, NULL) == ERR_OK;
    w->table = w->known ? fresh : (struct live_table){ .unreadable = true };
    w->read_ms = now;
}

struct live live_cache_lookup(struct live_cache *w, struct slice session_id)
{
    struct live live;

    pthread_mutex_lock(&w->lock);
    refresh_registry(w);
    live = live_of(&w->table, session_id);
    pthread_mutex_unlock(&w->lock);
    return live;
}

void live_cache_each(struct live_cache *w, bool (*fn)(const struct live_entry *entry, void *arg),
                     void *arg)
{
    pthread_mutex_lock(&w->lock);
    w->known = false;
    refresh_registry(w);
    for (size_t i = 0; i < w->table.n && fn(&w->table.entry[i], arg); i++)
        ;
    pthread_mutex_unlock(&w->lock);
}

bool live_cache_show(struct live_cache *w, struct session_row *row)
{
    bool ok = true;

    pthread_mutex_lock(&w->lock);
    refresh_registry(w);
    const struct live_entry *entry = live_entry_of(&w->table, row->ref.id);

    if (entry && entry->live.state == LIVE_RUNNING) {
        row->flags |= SESSION_LIVE | entry->flags |
                      (entry->state == SESSION_REQUIRES_ACTION ? SESSION_WAITS : 0U);
        row->live_pid = entry->live.pid;
        row->state = entry->state;
        row->waits_for = arena_copy(&row->arena, entry->waits_for);
        if (entry->has_since)
            row->since_ms = entry->since_ms;
        ok = row->waits_for.p != NULL;
    }
    pthread_mutex_unlock(&w->lock);
    return ok;
}
