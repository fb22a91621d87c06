#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "store/fs/watch.h"

/* Scans may take a fiftieth of the time. */
enum { LOOK_MS = 1000, SHARE = 50 };

struct folder {
    char *path;
    bool deep;
    uint64_t state; /* of all its files: names, sizes, times */
};

struct fs_watch {
    int out, in; /* a pipe: a byte for each change */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake;
    bool stop;
    struct folder *folder;
    size_t n, cap;
};

static uint64_t mix(uint64_t h, uint64_t x)
{
    return (h ^ x) * UINT64_C(0x100000001b3);
}

static uint64_t mix_file(const char *name, const struct stat *st)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        h = mix(h, (unsigned char)*name);
    h = mix(h, st->st_ino);
    h = mix(h, (uint64_t)st->st_size);
    return mix(h, (uint64_t)time_ns(st->st_mtim));
}

/* The order of a folder's names does not matter. Only the names of subfolders count, because they have watches of their
 * own. */
static bool look(const char *path, uint64_t *state)
{
    DIR *dir = opendir(path);
    const struct dirent *d;
    struct stat st;

    *state = 0;
    while (dir && (d = readdir(dir))) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISDIR(st.st_mode))
            st = (struct stat){ .st_ino = st.st_ino };
        *state += mix_file(d->d_name, &st);
    }
    if (dir)
        closedir(dir);
    return dir != NULL;
}

static bool add_locked(struct fs_watch *w, const char *path, bool deep)
{
    struct folder f = { .deep = deep };

    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->folder[i].path, path) == 0)
            return true;
    if (!look(path, &f.state) || !array_reserve(w->folder, w->cap, w->n + 1))
        return false;
    f.path = strdup(path);
    if (f.path)
        w->folder[w->n++] = f;
    return f.path != NULL;
}

/* Files that are in a new folder already are part of this change. */
static void add_folders_in(struct fs_watch *w, const char *root)
{
    char path[PATH_MAX];
    DIR *dir = opendir(root);
    const struct dirent *d;
    struct stat st;

    while (dir && (d = readdir(dir)))
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
            snprintf(path, sizeof path, "%s/%s", root, d->d_name) < (int)sizeof path)
            add_locked(w, path, false);
    if (dir)
        closedir(dir);
}

static bool look_at_all(struct fs_watch *w)
{
    bool changed = false;

    for (size_t i = 0, n = w->n; i < n; i++) {
        uint64_t state;

        look(w->folder[i].path, &state);
        if (state == w->folder[i].state)
            continue;
        w->folder[i].state = state;
        changed = true;
        if (w->folder[i].deep)
            add_folders_in(w, w->folder[i].path);
    }
    return changed;
}

static struct timespec after_ms(int64_t ms)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int64_t monotonic_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return time_ns(t) / 1000000;
}

static void *keep_looking(void *arg)
{
    struct fs_watch *w = arg;
    int64_t rest = LOOK_MS;

    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        struct timespec until = after_ms(rest);

        if (pthread_cond_timedwait(&w->wake, &w->lock, &until) != ETIMEDOUT)
            continue;
        int64_t begun = monotonic_ms();

        if (look_at_all(w) && write(w->in, "", 1) != 1)
            errno = 0; /* the pipe is full, and so it is readable */
        rest = (monotonic_ms() - begun) * SHARE;
        rest = rest > LOOK_MS ? rest : LOOK_MS;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct fs_watch *fs_watch_new(void)
{
    struct fs_watch *w = calloc(1, sizeof *w);
    int ends[2] = { -1, -1 };

    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    if (pipe(ends) == 0) {
        for (int i = 0; i < 2; i++)
            (void)(fcntl(ends[i], F_SETFD, FD_CLOEXEC) | fcntl(ends[i], F_SETFL, O_NONBLOCK));
        w->out = ends[0];
        w->in = ends[1];
        if (pthread_create(&w->thread, NULL, keep_looking, w) == 0)
            return w;
        close(w->out);
        close(w->in);
    }
    free(w);
    return NULL;
}

void fs_watch_free(struct fs_watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    close(w->out);
    close(w->in);
    for (size_t i = 0; i < w->n; i++)
        free(w->folder[i].path);
    free(w->folder);
    free(w);
}

int fs_watch_fd(const struct fs_watch *w)
{
    return w->out;
}

bool fs_watch_add(struct fs_watch *w, const char *folder, bool deep)
{
    pthread_mutex_lock(&w->lock);
    bool added = add_locked(w, folder, deep);

    pthread_mutex_unlock(&w->lock);
    return added;
}

bool fs_watch_read(struct fs_watch *w)
{
    char bytes[64];
    bool changed = false;

    while (read(w->out, bytes, sizeof bytes) > 0)
        changed = true;
    return changed;
}
