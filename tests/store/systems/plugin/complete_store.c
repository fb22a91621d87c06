/* The example store, complete: it also creates and deletes sessions, and they have sub-agents. For tests without a
 * server. COMPLETE_STORE_ROWS=N: after N rows, its "server" is gone. COMPLETE_STORE_UNDELETABLE=ID: this session cannot
 * be deleted. COMPLETE_STORE_HEADS=1: a list has all rows of the sessions. COMPLETE_STORE_SILENT=PATH: while that file
 * exists, the "server" stops answering after the sessions of a list, and before the rows of a page and those that were
 * added. */
#define reprise_plugin example_plugin /* the example's table, and the struct of it */
#include "docs/example_store.c"
#undef reprise_plugin

#include <ftw.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/file.h>
#include <time.h>

/* ---- a server that is gone ---- */

static atomic_long handed;

struct counting {
    reprise_plugin_row_fn *fn;
    void *arg;
    long most; /* -1: all */
    bool gone;
};

static int count_row(int64_t position, struct reprise_plugin_text row, void *arg)
{
    struct counting *c = arg;

    c->gone = c->most >= 0 && atomic_fetch_add(&handed, 1) >= c->most;
    return c->gone ? 1 : c->fn(position, row, c->arg);
}

static struct counting counting(reprise_plugin_row_fn *fn, void *arg)
{
    const char *rows = getenv("COMPLETE_STORE_ROWS");

    if (!rows)
        atomic_store(&handed, 0);
    return (struct counting){ .fn = fn, .arg = arg, .most = rows ? atol(rows) : -1 };
}

static int counted(const struct counting *c, int answer, struct reprise_plugin_call *call)
{
    if (!c->gone)
        return answer;
    snprintf(call->error, sizeof call->error, "the server is gone");
    return REPRISE_PLUGIN_FAILED;
}

/* ---- a server that is silent ---- */

static int wait_while_silent(int answer, struct reprise_plugin_call *call)
{
    const struct timespec tick = { .tv_nsec = 10000000 };
    const char *path = getenv("COMPLETE_STORE_SILENT");

    while (answer == REPRISE_PLUGIN_OK && path && access(path, F_OK) == 0) {
        if (call->stopped(call->arg))
            return REPRISE_PLUGIN_STOPPED;
        nanosleep(&tick, NULL);
    }
    return answer;
}

/* ---- the list ---- */

struct listing {
    void *store;
    reprise_plugin_session_fn *fn;
    void *arg;
};

static int hand_whole(const struct reprise_plugin_session *s, void *arg)
{
    const struct listing *l = arg;
    const struct reprise_plugin_key key = { s->project, s->session, NULL };
    struct reprise_plugin_session whole = *s;
    char path[PATH_MAX], *text = malloc((size_t)s->bytes + 1);
    FILE *file = text && path_of(l->store, &key, path) ? fopen(path, "r") : NULL;
    int answer = 1;

    if (file) {
        whole.head.p = text;
        whole.head.n = fread(text, 1, (size_t)s->bytes, file);
        whole.whole = 1;
        answer = l->fn(&whole, l->arg);
        fclose(file);
    }
    free(text);
    return answer;
}

static int kept_list(void *store, const struct reprise_plugin_query *query,
                     reprise_plugin_session_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    struct listing l = { store, fn, arg };
    bool whole = getenv("COMPLETE_STORE_HEADS") != NULL;

    return wait_while_silent(
        folder_list(store, query, whole ? hand_whole : fn, whole ? &l : arg, call), call);
}

/* ---- rows ---- */

static int kept_read(void *store, const struct reprise_plugin_key *key, int64_t after,
                     reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    struct counting c = counting(fn, arg);
    int answer = after ? wait_while_silent(REPRISE_PLUGIN_OK, call) : REPRISE_PLUGIN_OK;

    return answer ? answer : counted(&c, folder_read(store, key, after, count_row, &c, call), call);
}

static int kept_page(void *store, const struct reprise_plugin_key *key, int64_t before, size_t rows,
                     size_t bytes, reprise_plugin_row_fn *fn, void *arg,
                     struct reprise_plugin_call *call)
{
    struct counting c = counting(fn, arg);
    int answer = wait_while_silent(REPRISE_PLUGIN_OK, call);

    return answer ? answer
                  : counted(&c, folder_page(store, key, before, rows, bytes, count_row, &c, call),
                            call);
}

static int kept_ids(void *store, const struct reprise_plugin_key *key, reprise_plugin_row_fn *fn,
                    void *arg, struct reprise_plugin_call *call)
{
    return kept_read(store, key, 0, fn, arg, call);
}

struct seeking {
    const char *uuid;
    int64_t found;
};

static int seek_row(int64_t position, struct reprise_plugin_text row, void *arg)
{
    struct seeking *x = arg;
    char member[80];

    snprintf(member, sizeof member, "\"uuid\":\"%s\"", x->uuid);
    if (memmem(row.p, row.n, member, strlen(member)))
        x->found = position;
    return 0;
}

/* No row leaves the "server". */
static int kept_find(void *store, const struct reprise_plugin_key *key, const char *uuid,
                     int64_t *position, struct reprise_plugin_call *call)
{
    struct seeking x = { .uuid = uuid };
    int answer = folder_read(store, key, 0, seek_row, &x, call);

    *position = x.found;
    return answer;
}

/* ---- adding: all rows or none, as far as a killed process can keep that ---- */

static int make_folders(char *path, const char *below)
{
    for (char *slash = path + strlen(below) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        int failed = mkdir(path, 0700) != 0 && errno != EEXIST;

        *slash = '/';
        if (failed)
            return -1;
    }
    return open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The end of the last whole row. The rest, left by a killed program, is cut off; -1: failed. */
static int64_t whole_rows(int fd)
{
    int64_t end = lseek(fd, 0, SEEK_END), at = end;
    char c;

    while (at > 0 && pread(fd, &c, 1, at - 1) == 1 && c != '\n')
        at--;
    return end >= 0 && at < end && ftruncate(fd, at) != 0 ? -1 : at;
}

static size_t join(const struct reprise_plugin_text *row, size_t rows, char *to)
{
    char *p = to;

    for (size_t i = 0; i < rows; i++) {
        p = (char *)mempcpy(p, row[i].p, row[i].n);
        *p++ = '\n';
    }
    return (size_t)(p - to);
}

static int kept_append(void *store, const struct reprise_plugin_key *key, int64_t after,
                       const struct reprise_plugin_text *row, size_t rows, int64_t *last,
                       struct reprise_plugin_call *call)
{
    char path[PATH_MAX], *text = NULL;
    size_t room = 1;
    int answer = REPRISE_PLUGIN_OK;

    for (size_t i = 0; i < rows; i++)
        room += row[i].n + 1;
    int fd = path_of(store, key, path) ? make_folders(path, store) : -1;
    int64_t at = fd < 0 || flock(fd, LOCK_EX) != 0 ? -1 : whole_rows(fd); /* until it is closed */

    if (at < 0 || !(text = malloc(room))) {
        answer = fail(call, path);
    } else if (after >= 0 && at != after) {
        answer = REPRISE_PLUGIN_CHANGED;
    } else {
        size_t n = join(row, rows, text);

        errno = ENOSPC; /* of a write that is too short */
        if (write(fd, text, n) != (ssize_t)n || fsync(fd) != 0) {
            answer = fail(call, path);
            if (ftruncate(fd, at) != 0)
                answer = fail(call, path);
        }
        *last = at + (int64_t)n;
    }
    free(text);
    if (fd >= 0)
        close(fd);
    return answer;
}

/* ---- sub-agents, and deleting ---- */

struct walk {
    reprise_plugin_name_fn *fn;
    void *arg;
    int stop;
};

static void walk(struct walk *w, const char *top, const char *below)
{
    char path[PATH_MAX], name[PATH_MAX];
    struct dirent *entry;

    snprintf(path, sizeof path, "%s%s", top, below);
    DIR *dir = opendir(path);

    while (dir && !w->stop && (entry = readdir(dir))) {
        size_t n = strlen(entry->d_name);

        if (entry->d_name[0] == '.' ||
            snprintf(name, sizeof name, "%s/%s", below, entry->d_name) >= (int)sizeof name)
            continue;
        if (n > 6 && strcmp(entry->d_name + n - 6, ".jsonl") == 0) {
            name[strlen(name) - 6] = '\0';
            w->stop = w->fn(name + 1, w->arg);
        } else {
            walk(w, top, name);
        }
    }
    if (dir)
        closedir(dir);
}

/* PATH/PROJECT/SESSION: the folder of its sub-agents. */
static int folder_of(void *store, const struct reprise_plugin_key *key, char path[PATH_MAX])
{
    const struct reprise_plugin_key session = { key->project, key->session, NULL };

    if (!path_of(store, &session, path))
        return 0;
    path[strlen(path) - strlen(".jsonl")] = '\0';
    return 1;
}

static int kept_subkeys(void *store, const struct reprise_plugin_key *key,
                        reprise_plugin_name_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    struct walk w = { .fn = fn, .arg = arg };
    char path[PATH_MAX];

    (void)call;
    if (folder_of(store, key, path))
        walk(&w, path, "");
    return w.stop ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
}

static int remove_entry(const char *path, const struct stat *sb, int kind, struct FTW *at)
{
    (void)sb, (void)kind, (void)at;
    return remove(path);
}

/* The session before its sub-agents, so that it is no longer listed when they go. */
static int kept_remove(void *store, const struct reprise_plugin_key *key,
                       struct reprise_plugin_call *call)
{
    const char *stays = getenv("COMPLETE_STORE_UNDELETABLE");
    char path[PATH_MAX];

    if (!path_of(store, key, path))
        return REPRISE_PLUGIN_OK;
    if (stays && strcmp(stays, key->session) == 0) {
        snprintf(call->error, sizeof call->error, "another program holds it");
        return REPRISE_PLUGIN_FAILED;
    }
    if (unlink(path) != 0 && errno != ENOENT)
        return fail(call, path);
    if (!key->subpath && folder_of(store, key, path) &&
        nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        return fail(call, path);
    return REPRISE_PLUGIN_OK;
}

const struct example_plugin reprise_plugin = {
    .abi = REPRISE_PLUGIN_ABI,
    .size = sizeof(struct example_plugin),
    .flags = REPRISE_PLUGIN_THREADS,
    .name = "kept",
    .open = folder_open,
    .close = free,
    .list = kept_list,
    .read = kept_read,
    .page = kept_page,
    .ids = kept_ids,
    .subkeys = kept_subkeys,
    .append = kept_append,
    .remove = kept_remove,
    .find = kept_find,
};
