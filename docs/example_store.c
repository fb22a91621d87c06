/* A store as a plug-in, complete: a folder of JSONL files, as docs/plugins.md goes through it.
 *
 *   PATH/PROJECT/SESSION.jsonl                        the rows of a session, one a line
 *   PATH/PROJECT/SESSION/subagents/agent-ID.jsonl     those of a sub-agent
 *
 * The position of a row is the number of bytes up to its end. */
#define _GNU_SOURCE
#include <reprise_plugin.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct reprise_plugin_call *call, const char *path)
{
    snprintf(call->error, sizeof call->error, "%s: %.150s", strerror(errno), path);
    return errno == ENOMEM   ? REPRISE_PLUGIN_NO_MEMORY
           : errno == EACCES ? REPRISE_PLUGIN_REFUSED
                             : REPRISE_PLUGIN_FAILED;
}

/* The store is the path alone. A store with settings would look for them in the options. */
static int folder_open(const char *path, const struct reprise_plugin_option *option, size_t options,
                       struct reprise_plugin_call *call, void **store)
{
    (void)option, (void)options;
    if (path[0] != '/' || access(path, R_OK | X_OK) != 0) {
        snprintf(call->error, sizeof call->error, "not a directory that can be read: %.150s", path);
        return REPRISE_PLUGIN_NOT_FOUND;
    }
    *store = strdup(path);
    return *store ? REPRISE_PLUGIN_OK : REPRISE_PLUGIN_NO_MEMORY;
}

/* The names of a key become a path, so none of them may lead out of the folder. */
static int path_of(const char *store, const struct reprise_plugin_key *key, char out[PATH_MAX])
{
    const char *sub = key->subpath ? key->subpath : "";

    if (strchr(key->project, '/') || strchr(key->session, '/') || key->project[0] == '.' ||
        key->session[0] == '.' || strstr(sub, ".."))
        return 0;
    return snprintf(out, PATH_MAX, "%s/%s/%s%s%s.jsonl", store, key->project, key->session,
                    sub[0] ? "/" : "", sub) < PATH_MAX;
}

/* ---- the list: names, sizes and times; the program asks for the rows that it shows ---- */

static int list_project(const char *path, const char *project, reprise_plugin_session_fn *fn,
                        void *arg)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    char id[NAME_MAX + 1];
    struct stat sb;
    int stop = 0;

    while (dir && !stop && (entry = readdir(dir))) {
        struct reprise_plugin_session s = { .size = sizeof s, .project = project, .session = id };
        size_t n = strlen(entry->d_name);

        if (n <= 6 || strcmp(entry->d_name + n - 6, ".jsonl") != 0 ||
            fstatat(dirfd(dir), entry->d_name, &sb, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        snprintf(id, sizeof id, "%.*s", (int)n - 6, entry->d_name);
        s.bytes = sb.st_size;
        s.mtime_ms = (int64_t)sb.st_mtim.tv_sec * 1000 + sb.st_mtim.tv_nsec / 1000000;
        stop = fn(&s, arg);
    }
    if (dir)
        closedir(dir);
    return stop;
}

static int folder_list(void *store, const struct reprise_plugin_query *query,
                       reprise_plugin_session_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    DIR *dir = opendir(store);
    struct dirent *entry;
    char path[PATH_MAX];
    int stop = 0;

    (void)query; /* more than it asks for is fine */
    if (!dir)
        return fail(call, store);
    while (!stop && (entry = readdir(dir))) {
        snprintf(path, sizeof path, "%s/%s", (char *)store, entry->d_name);
        if (entry->d_name[0] != '.')
            stop = list_project(path, entry->d_name, fn, arg);
    }
    closedir(dir);
    return stop ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
}

/* ---- rows ---- */

/* Hands over rows of the newest `rows`, of about `bytes` bytes, among those that end after `after` and begin before
 * `before`. A last line without a newline is still being written. */
static int hand_rows(const char *path, int64_t after, int64_t before, size_t rows, size_t bytes,
                     reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    FILE *in = fopen(path, "re");
    char *text = NULL;
    size_t cap = 0, from;
    ssize_t n = in ? getdelim(&text, &cap, EOF, in) : 0; /* no text has this byte */
    int stop = 0;

    if (!in)
        return errno == ENOENT ? REPRISE_PLUGIN_OK : fail(call, path);
    fclose(in);
    size_t end = n > 0 ? (size_t)n : 0;

    while (end > 0 && (text[end - 1] != '\n' || (before > 0 && (int64_t)end >= before)))
        end--;
    for (from = end; from > (size_t)after && rows > 0 && end - from < bytes; rows--)
        do
            from--;
        while (from > 0 && text[from - 1] != '\n');
    while (!stop && from < end && !call->stopped(call->arg)) {
        size_t line = (size_t)((char *)memchr(text + from, '\n', end - from) - (text + from));
        struct reprise_plugin_text row = { text + from, line };

        from += line + 1;
        stop = line ? fn((int64_t)from, row, arg) : 0;
    }
    free(text);
    return from < end || stop ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
}

static int folder_read(void *store, const struct reprise_plugin_key *key, int64_t after,
                       reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    char path[PATH_MAX];

    if (!path_of(store, key, path))
        return REPRISE_PLUGIN_OK;
    return hand_rows(path, after, 0, SIZE_MAX, SIZE_MAX, fn, arg, call);
}

static int folder_page(void *store, const struct reprise_plugin_key *key, int64_t before,
                       size_t rows, size_t bytes, reprise_plugin_row_fn *fn, void *arg,
                       struct reprise_plugin_call *call)
{
    char path[PATH_MAX];

    if (!path_of(store, key, path))
        return REPRISE_PLUGIN_OK;
    return hand_rows(path, 0, before, rows, bytes, fn, arg, call);
}

/* ---- sub-agents: the files in the directory beside that of the session ---- */

/* sub: the directory below that of the session; "" is itself. */
static int hand_subpaths(const char *session, const char *sub, reprise_plugin_name_fn *fn,
                         void *arg, struct reprise_plugin_call *call)
{
    char path[PATH_MAX], name[PATH_MAX];
    struct dirent *entry;
    struct stat sb;
    int stop = 0;

    snprintf(path, sizeof path, "%s/%s", session, sub);
    DIR *dir = opendir(path);

    if (!dir) /* most sessions have none */
        return errno == ENOENT || errno == ENOTDIR ? REPRISE_PLUGIN_OK : fail(call, path);
    while (!stop && (entry = readdir(dir))) {
        const char *file = entry->d_name, *end = strrchr(file, '.');

        if (file[0] == '.' || fstatat(dirfd(dir), file, &sb, AT_SYMLINK_NOFOLLOW) != 0 ||
            snprintf(name, sizeof name, "%s%s%s", sub, sub[0] ? "/" : "", file) >= PATH_MAX)
            continue;
        if (S_ISDIR(sb.st_mode)) {
            stop = hand_subpaths(session, name, fn, arg, call);
        } else if (end && strcmp(end, ".jsonl") == 0) {
            name[strlen(name) - 6] = '\0';
            stop = fn(name, arg) ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
        }
    }
    closedir(dir);
    return stop;
}

static int folder_subkeys(void *store, const struct reprise_plugin_key *key,
                          reprise_plugin_name_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    char path[PATH_MAX];

    if (!path_of(store, key, path))
        return REPRISE_PLUGIN_OK;
    path[strlen(path) - 6] = '\0'; /* without ".jsonl" */
    return hand_subpaths(path, "", fn, arg, call);
}

/* ---- a change: one write, so that a reader never sees a part; locked, so that no other one is in between ---- */

/* Opens the file of a session, which is made with its folders if it is not there yet. */
static int open_to_append(const char *store, char *path)
{
    for (char *at = path + strlen(store) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return -1;
    }
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int folder_append(void *store, const struct reprise_plugin_key *key, int64_t after,
                         const struct reprise_plugin_text *row, size_t rows, int64_t *last,
                         struct reprise_plugin_call *call)
{
    char path[PATH_MAX], *text, *to;
    struct stat sb;
    size_t n = 0;

    if (!path_of(store, key, path)) {
        snprintf(call->error, sizeof call->error, "not a name of a session: %.150s", key->session);
        return REPRISE_PLUGIN_REFUSED;
    }
    int fd = open_to_append(store, path);

    for (size_t i = 0; i < rows; i++)
        n += row[i].n + 1;
    if (fd < 0 || fstat(fd, &sb) != 0 || !(text = to = malloc(n + 1)))
        return fail(call, path);
    for (size_t i = 0; i < rows; i++) {
        to = (char *)mempcpy(to, row[i].p, row[i].n);
        *to++ = '\n';
    }
    int same = after < 0 || sb.st_size == after;
    int done = same && write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;

    *last = sb.st_size + (int64_t)n;
    free(text);
    close(fd);
    return !same ? REPRISE_PLUGIN_CHANGED : done ? REPRISE_PLUGIN_OK : fail(call, path);
}

const struct reprise_plugin reprise_plugin = {
    .abi = REPRISE_PLUGIN_ABI,
    .size = sizeof(struct reprise_plugin),
    .flags = REPRISE_PLUGIN_THREADS,
    .name = "folder",
    .open = folder_open,
    .close = free,
    .list = folder_list,
    .read = folder_read,
    .page = folder_page,
    .subkeys = folder_subkeys,
    .append = folder_append,
};
