#include "store/systems/entire/read/catalog.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/digest.h"
#include "lite/base/time.h"
#include "store/git/repo.h"
#include "store/systems/entire/names.h"

/* Why everything is read at once: a session of Entire is spread over a state file, commits of a shadow branch and folders
 * of committed checkpoints, and each of these names the session, but the session names none of them. So finding one
 * session costs as much as finding all. A catalog is therefore made whole, never changed, and shared by all threads of a
 * store; describe takes its lock only to read prompts through its repository.
 *
 * A cached catalog is used again if its mark is that of the repository: a hash of the refs of Entire and of the facts
 * about state files that change when they are written. This costs a walk of the refs and no object. A catalog that is
 * replaced while others use it is freed by the last of them. */

/* ---- whether anything has changed ---- */

static void mark_refs(struct digest *d, git_repository *repo, const char *glob)
{
    AUTO_REFS *it = NULL;
    git_reference *ref = NULL;

    if (git_reference_iterator_glob_new(&it, repo, glob))
        return;
    while (git_reference_next(&ref, it) == 0) {
        const git_oid *id = git_reference_target(ref);
        const char *name = git_reference_name(ref);

        digest_add(d, (struct slice){ name, strlen(name) + 1 });
        if (id)
            digest_add(d, (struct slice){ (const char *)id->id, sizeof id->id });
        git_reference_free(ref);
    }
}

/* Hashes all refs of Entire, and of every state file the facts that change when it is written. */
static bool make_mark(git_repository *repo, const char *states, uint8_t out[SHA256_BYTES])
{
    CLEANUP(digest_fini) struct digest d = { 0 };
    struct dirent **name = NULL;

    digest_begin(&d, DIGEST_SHA256);
    mark_refs(&d, repo, ENTIRE_HEADS "entire/*");
    mark_refs(&d, repo, ENTIRE_V1_REMOTE);
    mark_refs(&d, repo, "refs/entire/*");

    int n = scandir(states, &name, NULL, alphasort);
    AUTO_DIR *dir = n > 0 ? opendir(states) : NULL;

    for (int i = 0; i < n; i++) {
        struct stat st;

        if (dir && fstatat(dirfd(dir), name[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            int64_t facts[] = { (int64_t)st.st_ino, st.st_size, st.st_mtim.tv_sec,
                                st.st_mtim.tv_nsec };

            digest_add(&d, (struct slice){ name[i]->d_name, strlen(name[i]->d_name) + 1 });
            digest_add(&d, (struct slice){ (const char *)facts, sizeof facts });
        }
        free(name[i]);
    }
    free(name);
    return digest_end(&d, out);
}

/* ---- making one ---- */

struct states {
    struct entire_state *state; /* in the arena */
    size_t n;
};

/* Every file that ends in .json should be a state; temporary files, folders and a README are ignored. */
static enum err_code entire_read_state(struct catalog *c, const char *dir, const char *name,
                                       struct states *list, struct err *e)
{
    static const char temp[] = ".json.tmp";
    const char *path, *why = "not the state of a session: damaged, unreadable, or named after "
                             "another one";
    size_t n = strlen(name), k = sizeof temp - 1;
    struct entire_state s = { 0 };
    struct slice id;

    if (state_name(name, &id)) {
        enum err_code rc = state_read(dir, name, &c->arena, &s, NULL, e);

        if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
            return rc == ERR_NOMEM ? rc : ERR_OK; /* it was removed meanwhile */
        if (!rc) {
            struct entire_state *more;

            NEED(more = arena_grow(&c->arena, list->state, list->n, sizeof *more));
            list->state = more;
            more[list->n++] = s;
            return ERR_OK;
        }
    } else if (n > k && strcmp(name + n - k, temp) == 0) {
        why = "a half-written state of a session";
    } else {
        return ERR_OK;
    }
    NEED(path = arena_format(&c->arena, "%s/%s", dir, name));
    return point_problem_add(&c->problems, &c->arena, path, why);
}

static enum err_code read_states(struct catalog *c, const char *dir, struct states *list,
                                 struct err *e)
{
    AUTO_DIR *d = opendir(dir);
    const struct dirent *x;

    if (!d && (errno == ENOENT || errno == ENOTDIR))
        return ERR_OK;
    if (!d)
        return point_problem_add(&c->problems, &c->arena, dir,
                                 "the folder of the states cannot be read");
    while ((x = readdir(d)))
        TRY(entire_read_state(c, dir, x->d_name, list, e));
    return ERR_OK;
}

/* Sorts by session, oldest first; branches were walked from their tips. */
static int by_session(const void *x, const void *y)
{
    const struct point *a = x, *b = y;
    int d = slice_compare(a->session, b->session);

    if (d)
        return d;
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    return (a->order < b->order) - (a->order > b->order);
}

static int compare_state_id(const void *x, const void *y)
{
    const struct entire_state *a = x, *b = y;

    return slice_compare(a->id, b->id);
}

/* Joins two sorted lists, the states and the points. */
static enum err_code join_sessions(struct catalog *c, const struct states *states, struct err *e)
{
    /* An empty list is NULL, to which no offset may be added. */
    const struct point *p = c->points.point, *end = c->points.n ? p + c->points.n : p;
    const struct entire_state *s = states->state, *last = states->n ? s + states->n : s;

    c->session = arena_zalloc(&c->arena, (c->points.n + states->n + 1) * sizeof *c->session);
    if (!c->session)
        return err_nomem(e);
    while (p < end && p->session.n == 0)
        p++; /* commits without a session */
    while (p < end || s < last) {
        struct catalog_session *x = &c->session[c->n++];
        int d = p == end ? 1 : s == last ? -1 : slice_compare(p->session, s->id);

        x->id = d <= 0 ? p->session : s->id;
        x->state = d >= 0 ? s++ : NULL;
        x->point = p;
        for (; p < end && slice_eq(p->session, x->id); p++, x->n++)
            x->committed += p->source != POINT_SHADOW;
    }
    return ERR_OK;
}

static void catalog_free(struct catalog *c)
{
    repo_close(c->repo);
    pthread_mutex_destroy(&c->lock);
    arena_fini(&c->arena);
    free(c);
}

static enum err_code build_catalog(const char *states_dir, struct catalog *c, struct err *e)
{
    struct states states = { 0 };

    TRY(read_states(c, states_dir, &states, e));
    TRY(point_shadows_read(c->repo, &c->arena, &c->shadows, &c->points, &c->problems, e));
    TRY(committed_read(c->repo, &c->arena, &c->points, &c->problems, e));
    if (c->points.n)
        qsort(c->points.point, c->points.n, sizeof *c->points.point, by_session);
    if (states.n)
        qsort(states.state, states.n, sizeof *states.state, compare_state_id);
    return join_sessions(c, &states, e);
}

/* ---- the cache ---- */

void catalog_cache_init(struct catalog_cache *cache)
{
    *cache = (struct catalog_cache){ .present = NULL };
    pthread_mutex_init(&cache->lock, NULL);
}

void catalog_cache_fini(struct catalog_cache *cache)
{
    if (cache->present)
        catalog_free(cache->present);
    pthread_mutex_destroy(&cache->lock);
}

static void unlock(pthread_mutex_t **held)
{
    pthread_mutex_unlock(*held);
}

enum err_code catalog_open(struct catalog_cache *cache, const char *dir, const char *states,
                           bool fresh, struct catalog **out, struct err *e)
{
    struct catalog *made;
    unsigned char now[32];

    CLEANUP(unlock) pthread_mutex_t *held = &cache->lock;

    pthread_mutex_lock(held);
    struct catalog *old = cache->present;
    bool same = old && !fresh;

    if (old && fresh) { /* it is used again only if nothing has changed */
        pthread_mutex_lock(&old->lock);
        same = make_mark(old->repo, states, now) && memcmp(now, old->mark, sizeof now) == 0;
        pthread_mutex_unlock(&old->lock);
    }
    if (!same) {
        struct catalog *c = calloc(1, sizeof *c);

        NEED(c);
        c->cache = cache;
        pthread_mutex_init(&c->lock, NULL);
        enum err_code rc = repo_open(dir, &c->repo, e);

        if (!rc && !make_mark(c->repo, states, c->mark))
            rc = err_nomem(e);
        if (!rc)
            rc = build_catalog(states, c, e);
        if (rc)
            catalog_free(c);
        else
            made = c;
        TRY(rc);

        cache->present = made;
        if (old && old->holders == 0)
            catalog_free(old); /* otherwise its last user frees it */
    }
    cache->present->holders++;
    *out = cache->present;
    return ERR_OK;
}

void catalog_close(struct catalog *c)
{
    if (!c)
        return;
    CLEANUP(unlock) pthread_mutex_t *held = &c->cache->lock;

    pthread_mutex_lock(held);
    assert(c->holders > 0);
    if (--c->holders == 0 && c != c->cache->present)
        catalog_free(c);
}

/* ---- look-ups ---- */

static int compare_session_id(const void *key, const void *x)
{
    return slice_compare(*(const struct slice *)key, ((const struct catalog_session *)x)->id);
}

const struct catalog_session *catalog_find(const struct catalog *c, struct slice id)
{
    return id.n && c->n ? bsearch(&id, c->session, c->n, sizeof *c->session, compare_session_id)
                        : NULL;
}

bool catalog_listed(const struct catalog_session *s)
{
    return s->state || s->committed;
}

const struct point *catalog_newest(const struct catalog_session *s)
{
    for (size_t i = s->n; i-- > 0;)
        if (s->point[i].source != POINT_SHADOW)
            return &s->point[i];
    return NULL;
}

const struct point *catalog_oldest(const struct catalog_session *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->point[i].source != POINT_SHADOW)
            return &s->point[i];
    return NULL;
}

static int64_t later(int64_t a, int64_t b)
{
    return a == TIME_NONE || (b != TIME_NONE && b > a) ? b : a;
}

int64_t catalog_activity(const struct catalog_session *s)
{
    int64_t at = TIME_NONE;

    if (s->state)
        at = later(s->state->started_ms, later(s->state->interaction_ms, s->state->ended_ms));
    for (size_t i = 0; i < s->n; i++)
        at = later(at, s->point[i].time_ms);
    return at;
}

/* ---- concurrent sessions ---- */

enum { ID_SHOWN = 8, DATED_SHOWN = 19 };

static bool shares_branch(const struct entire_state *mine, const struct entire_state *other)
{
    return other && other != mine && slice_eq(other->base, mine->base) &&
           slice_eq(other->worktree_id, mine->worktree_id);
}

bool catalog_is_concurrent(const struct entire_state *mine, const struct entire_state *other)
{
    return shares_branch(mine, other) && other->phase == PHASE_ACTIVE;
}

const char *catalog_concurrent_note(const struct catalog *c, const struct catalog_session *s,
                                    struct arena *a)
{
    const struct entire_state *one = NULL;
    size_t n = 0;

    for (size_t i = 0; s->state && i < c->n; i++) {
        const struct entire_state *other = c->session[i].state;
        bool active = catalog_is_concurrent(s->state, other);

        if (!active && !(shares_branch(s->state, other) && other->phase != PHASE_ENDED &&
                         other->checkpoint_count > 0))
            continue;
        if (!one || (active && one->phase != PHASE_ACTIVE))
            one = other; /* prefer one that is at work */
        n++;
    }
    if (n == 0)
        return NULL;

    /* An id with a date in front is shown longer, because the date alone would name nothing. */
    size_t most = one->id.n > 4 && one->id.p[4] == '-' ? DATED_SHOWN : ID_SHOWN;
    int shown = (int)(one->id.n < most ? one->id.n : most);
    const char *does = one->phase == PHASE_ACTIVE ? "is at work" : "has uncommitted checkpoints";

    return n == 1 ? arena_format(a, "another session shares this work tree: %.*s %s", shown,
                                 one->id.p, does)
                  : arena_format(a, "%zu other sessions share this work tree: %.*s %s", n, shown,
                                 one->id.p, does);
}
