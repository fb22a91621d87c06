#include "store/query/resolve.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lite/base/buf.h"
#include "lite/base/id.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "store/query/listing.h"

/* Commands change and delete the session that a text resolves to, so a wrong session is worse than
 * an error: a doubt ends with the list of candidates and never with a guess. The order is
 *
 *   SYSTEM: -> latest -> path -> [this machine] id, prefix -> [servers] id, prefix
 *
 * and a server is asked only after everything on this machine has failed. A prefix and a title only
 * lead to an id. That id must then pass through find_exactly, because it may have several copies,
 * and the one that a list shows is meant. Titles are not part of this order, because they are found
 * only by reading every session. The look-up of many ids is a shortcut that may leave any of them
 * to resolve_session. */

enum {
    PREFIX_SHORTEST = 4,
    CANDIDATES_NAMED = 4,
    MANY = 32, /* fewer are looked up one by one, because reading all names would take longer */
};

struct search {
    struct store *const *store;
    size_t stores;
    const struct scope *scope;
    struct slice text;
    struct arena *a;
    struct session_ref *ref;
    bool refused; /* it was found, and its id means another copy: the search is at its end */
};

static enum err_code not_found(const struct search *s, struct err *e)
{
    int n = s->text.n < 150 ? (int)s->text.n : 150;

    if (s->text.n < PREFIX_SHORTEST)
        return err_set(e, ERR_NOT_FOUND, "",
                       "no session matches \"%.*s\"; give at least %d characters of an id", n,
                       s->text.p, PREFIX_SHORTEST);
    return err_set(e, ERR_NOT_FOUND, "", "no session%s matches \"%.*s\"; see reprise list --all",
                   s->scope->project.n && !s->scope->all ? " of this project" : "", n, s->text.p);
}

/* ---- latest ---- */

static enum err_code copy_first(const struct session_row *row, void *arg, struct err *e)
{
    struct search *s = arg;

    return session_ref_copy(s->a, &row->ref, s->ref) ? ERR_OK : err_nomem(e);
}

static enum err_code find_latest(struct search *s, struct err *e)
{
    struct listing_query q = { .scope = *s->scope,
                               .sort = LISTING_MODIFIED, /* as the agents' own --continue */
                               .limit = 1,
                               .since_ms = TIME_NONE,
                               .before_ms = TIME_NONE };
    struct session_ref found = { 0 }, *ref = s->ref;
    struct listing *l = NULL;
    enum err_code rc = ERR_OK;
    char dir[PATH_MAX];

    if (s->stores && q.scope.all)
        rc = session_scope_of(s->store[0]->env->cwd, !s->scope->leave_worktrees, s->a, &q.scope, e);
    s->ref = &found;
    /* Those on this machine first, since the agents' own --continue knows no others. */
    for (int remote = 0; remote <= 1 && !rc && !found.store; remote++) {
        struct store **part = arena_alloc(s->a, (s->stores + 1) * sizeof *part);
        size_t n = 0;

        for (size_t i = 0; part && i < s->stores; i++)
            if (s->store[i]->ops->remote == (remote == 1))
                part[n++] = s->store[i];
        rc = part ? listing_open(part, n, &q, &l, e) : err_nomem(e);
        if (!rc)
            rc = listing_each(l, copy_first, s, e);
        listing_close(l);
        l = NULL;
    }
    s->ref = ref;
    if (!rc && !found.store) {
        if (!q.scope.project.n)
            rc = err_set(e, ERR_NOT_FOUND, "", "there are no sessions yet");
        else {
            snprintf(dir, sizeof dir, "%.*s", SLICE_ARG(q.scope.project));
            rc = err_set(e, ERR_NOT_FOUND, dir,
                         "find the latest session of: no previous session found here");
        }
    }
    if (!rc)
        *ref = found;
    return rc;
}

/* ---- paths ---- */

static enum err_code absolute_path(const struct search *s, struct slice *path)
{
    const char *cwd = s->store[0]->env->cwd;
    struct buf full = { 0 };
    enum err_code rc = ERR_OK;

    if (s->text.p[0] != '/')
        rc = buf_addf(&full, "%s/", cwd);
    if (!rc)
        rc = buf_add(&full, s->text);
    while (!rc && full.n > 1 && full.p[full.n - 1] == '/')
        full.n--;
    if (!rc) {
        *path = arena_copy(s->a, buf_slice(&full));
        rc = path->p ? ERR_OK : ERR_NOMEM;
    }
    buf_fini(&full);
    return rc;
}

static bool store_contains(const struct store *st, struct slice path)
{
    size_t n = strlen(st->path);

    return slice_starts(path, st->path) && path.n > n && path.p[n] == '/';
}

/* A store that contains the path is tried first, but a transcript may also be elsewhere. The last system is tried
 * first, because the first one accepts any file of its kind, wherever it is, and would also accept those of the
 * others. */
static enum err_code resolve_find_path(struct search *s, struct err *e)
{
    struct slice path;

    if (!s->stores)
        return not_found(s, e);
    if (absolute_path(s, &path))
        return err_nomem(e);
    for (int inside = 1; inside >= 0; inside--) {
        for (size_t i = s->stores; i-- > 0;) {
            const struct store *st = s->store[i];

            if (!st->ops->at_path || store_contains(st, path) != (inside == 1))
                continue;
            enum err_code rc = st->ops->at_path(st, path, s->a, s->ref, e);

            if (rc != ERR_NOT_FOUND)
                return rc;
        }
    }
    return not_found(s, e);
}

/* ---- ids ---- */

/* All sessions with one id. */
struct copies {
    struct search *search;
    struct session_ref *ref; /* in the arena */
    size_t n;
    bool ok;
};

static bool add_copy_of_id(const struct session_ref *ref, void *arg)
{
    struct copies *c = arg;
    struct session_ref *more = arena_grow(c->search->a, c->ref, c->n, sizeof *more);

    c->ok = more && session_ref_copy(c->search->a, ref, &more[c->n]);
    if (c->ok) {
        c->ref = more;
        c->n++;
    }
    return c->ok;
}

/* Stores that cannot be read are skipped. A copy on this machine is found without asking a server, which may be slow. */
static enum err_code collect_copies(struct search *s, const struct scope *scope, struct copies *c,
                                    struct err *e)
{
    enum err_code rc = ERR_OK;

    *c = (struct copies){ .search = s, .ok = true };
    for (size_t i = 0; i < s->stores && c->ok && rc != ERR_NOMEM; i++) {
        const struct store *st = s->store[i];
        struct session_ref ref;

        if (st->ops->remote && !s->ref->store->ops->remote)
            continue;
        if (st == s->ref->store && st->ops->remote) /* it was just asked */
            add_copy_of_id(s->ref, c);
        else if (st->ops->find_each)
            rc = st->ops->find_each(st, scope, s->text, add_copy_of_id, c, NULL);
        else if ((rc = st->ops->find(st, scope, s->text, s->a, &ref, NULL)) == ERR_OK)
            add_copy_of_id(&ref, c);
    }
    return c->ok && rc != ERR_NOMEM ? ERR_OK : err_nomem(e);
}

static enum err_code ambiguous_copies(const struct search *s, const struct session_ref *one,
                                      const struct session_ref *other, struct err *e)
{
    const char *const one_name = one->store->ops->name, *const other_name = other->store->ops->name;
    char name[160];

    snprintf(name, sizeof name, "%.*s", SLICE_ARG(s->text));
    /* The agent's own system knows Entire's sessions by the same id. */
    if (strcmp(one_name, other_name) != 0)
        return err_set(e, ERR_USAGE, name, "find session: ambiguous: %s:%s, %s:%s", one_name, name,
                       other_name, name);
    return err_set(e, ERR_USAGE, name, "find session: ambiguous: %s, %s", one->path.p,
                   other->path.p);
}

/* Chooses the copy of the session that lists show. Copies in several local stores are several rows of a list, so the id
 * is then ambiguous. */
static enum err_code resolve_choose_copy(struct search *s, struct err *e)
{
    struct copies all, here;
    struct scope dir;
    const struct session_ref *meant = NULL, *other = NULL, *local = NULL;
    enum err_code rc = collect_copies(s, s->scope, &all, e);

    for (size_t i = 0; i < all.n && !rc; i++) {
        if (all.ref[i].store->ops->remote)
            continue;
        if (local && local->store != all.ref[i].store)
            return ambiguous_copies(s, local, &all.ref[i], e);
        local = &all.ref[i];
    }
    if (rc || all.n < 2)
        return rc;
    /* A list of all projects has a file by the first of its names, unless find_each is that list itself. */
    size_t kept = 0;

    for (size_t i = 0; i < all.n; i++) {
        const bool listed = all.ref[i].store->ops->find_each == store_find_each_listed;
        bool again = false;

        for (size_t k = 0; k < kept && !again && !listed; k++)
            again = resolve_same_copy(&all.ref[k], &all.ref[i]);
        if (!again)
            all.ref[kept++] = all.ref[i];
    }
    all.n = kept;
    rc = listing_shown_copy(all.ref, all.n, s->scope, &meant, e);

    /* If no scope was given, the copy that this directory would choose has to be the same one. */
    if (!rc && meant && s->scope->implied_all) {
        rc = session_scope_of(s->store[0]->env->cwd, !s->scope->leave_worktrees, s->a, &dir, e);
        if (!rc)
            rc = collect_copies(s, &dir, &here, e);
        if (!rc)
            rc = listing_shown_copy(here.ref, here.n, &dir, &other, e);
    }
    if (!rc && other && !resolve_same_copy(meant, other))
        rc = ambiguous_copies(s, meant, other, e);
    meant = other ? other : meant; /* by the path that the list of this directory shows */
    if (!rc && meant && !resolve_same_copy(meant, s->ref)) {
        CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
        const struct store *st = s->ref->store;

        s->refused = row && !st->ops->describe(st, s->scope, s->ref, row, NULL) &&
                     row->hidden == HIDDEN_SIDECHAIN;
    }
    if (s->refused)
        rc = err_set(e, ERR_NOT_FOUND, meant->path.p,
                     "find session: its agent finds %s, which is a sub-agent's; name the path of "
                     "the other",
                     s->ref->path.p);
    if (!rc && meant)
        *s->ref = *meant;
    return rc;
}

/* In the stores on this machine, or in those on servers. */
static enum err_code find_exactly(struct search *s, bool remote, struct err *e)
{
    for (size_t i = 0; i < s->stores; i++) {
        const struct store *st = s->store[i];

        if (st->ops->remote != remote)
            continue;
        enum err_code rc = st->ops->find(st, s->scope, s->text, s->a, s->ref, e);

        if (rc == ERR_OK)
            return resolve_choose_copy(s, e);
        if (rc != ERR_NOT_FOUND && rc != ERR_USAGE)
            return rc;
    }
    return not_found(s, e);
}

/* Ids that begin alike, each once. */
struct candidates {
    struct search *search;
    const struct store *store[CANDIDATES_NAMED];
    struct slice id[CANDIDATES_NAMED];
    size_t n; /* may be more than are listed */
    bool ok;
};

static void add_candidate(const struct session_ref *ref, struct candidates *c)
{
    if (c->n < CANDIDATES_NAMED) {
        c->store[c->n] = ref->store;
        c->id[c->n] = arena_copy(c->search->a, ref->id);
        c->ok = c->id[c->n].p != NULL;
    }
    c->n++;
}

static bool resolve_match_id(const struct session_ref *ref, void *arg)
{
    struct candidates *c = arg;
    struct slice prefix = c->search->text;
    bool is_new = ref->id.n >= prefix.n && memcmp(ref->id.p, prefix.p, prefix.n) == 0;

    for (size_t i = 0; i < c->n && i < CANDIDATES_NAMED && is_new; i++)
        is_new = c->store[i]->ops != ref->store->ops || !slice_eq(c->id[i], ref->id);
    if (is_new)
        add_candidate(ref, c);
    return c->ok && c->n <= CANDIDATES_NAMED;
}

static bool is_of_two_systems(const struct candidates *c, size_t i)
{
    for (size_t k = 0; k < c->n && k < CANDIDATES_NAMED; k++)
        if (c->store[k]->ops != c->store[i]->ops && slice_eq(c->id[k], c->id[i]))
            return true;
    return false;
}

static enum err_code ambiguous(const struct candidates *c, struct err *e)
{
    struct buf names = { 0 };
    char name[160];
    enum err_code rc = ERR_OK;

    snprintf(name, sizeof name, "%.*s", SLICE_ARG(c->search->text));
    for (size_t i = 0; !rc && i < c->n && i < CANDIDATES_NAMED; i++)
        rc = buf_addf(&names, "%s%s%s%.*s", i ? ", " : "",
                      is_of_two_systems(c, i) ? c->store[i]->ops->name : "",
                      is_of_two_systems(c, i) ? ":" : "", SLICE_ARG(c->id[i]));
    if (!rc && c->n > CANDIDATES_NAMED)
        rc = buf_addf(&names, ", ...");
    if (!rc)
        rc = err_set(e, ERR_USAGE, name, "find session: ambiguous: %.*s",
                     SLICE_ARG(buf_slice(&names)));
    buf_fini(&names);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

static enum err_code find_prefix(struct search *s, bool remote, struct err *e)
{
    struct candidates c = { .search = s, .ok = true };
    struct scope names = *s->scope;
    enum err_code rc = ERR_OK;

    if (s->text.n < PREFIX_SHORTEST)
        return not_found(s, e);
    if (remote)
        names.newest = 1; /* the ids are enough, without the rows of each session */
    for (size_t i = 0; !rc && c.ok && i < s->stores; i++)
        if (s->store[i]->ops->enumerate && s->store[i]->ops->remote == remote)
            rc = s->store[i]->ops->enumerate(s->store[i], &names, resolve_match_id, &c, e);
    if (rc || !c.ok)
        return rc ? rc : err_nomem(e);
    if (c.n == 0)
        return not_found(s, e);
    if (c.n > 1)
        return ambiguous(&c, e);
    s->text = c.id[0];
    return find_exactly(s, remote, e);
}

static bool is_named(const struct store *st, struct slice name)
{
    return slice_eq(slice_of(st->ops->name), name);
}

/* "SYSTEM:ID" selects the stores of that system, or the store of a plug-in with this name; a colon in an id has no
 * meaning. */
static size_t choose_system(struct slice *text, struct store *const stores[], size_t n,
                            struct store *chosen[])
{
    const char *colon = memchr(text->p, ':', text->n);
    struct slice name = { text->p, colon ? (size_t)(colon - text->p) : 0 };
    bool named = colon && store_system(name);
    size_t kept = 0;

    for (size_t i = 0; i < n && colon; i++)
        named |= is_named(stores[i], name);
    for (size_t i = 0; i < n; i++)
        if (!named || is_named(stores[i], name))
            chosen[kept++] = stores[i];
    if (named)
        *text = (struct slice){ colon + 1, (size_t)(text->p + text->n - colon) - 1 };
    return kept;
}

static bool looks_like_path(struct slice text)
{
    static const char suffix[] = ".jsonl";
    size_t n = sizeof suffix - 1;

    return memchr(text.p, '/', text.n) ||
           (text.n > n && memcmp(text.p + text.n - n, suffix, n) == 0);
}

enum err_code resolve_session(struct store *const stores[], size_t n, const struct scope *scope,
                              struct slice text, struct arena *a, struct session_ref *ref,
                              struct err *e)
{
    struct store **chosen = arena_alloc(a, (n + 1) * sizeof(struct store *));
    struct search s = { .store = chosen, .scope = scope, .a = a, .ref = ref };
    enum err_code rc;

    if (!chosen)
        return err_nomem(e);
    s.stores = choose_system(&text, stores, n, chosen);
    s.text = text;
    if (slice_eq(text, SLICE("latest")))
        return find_latest(&s, e);
    if (text.n && looks_like_path(text))
        return resolve_find_path(&s, e);
    /* A server is only asked for what is not found on this machine. */
    rc = ERR_NOT_FOUND;
    for (int remote = 0; remote <= 1 && rc == ERR_NOT_FOUND && !s.refused; remote++) {
        rc = find_exactly(&s, remote == 1, e);
        if (rc == ERR_NOT_FOUND && !s.refused)
            rc = find_prefix(&s, remote == 1, e);
    }
    return rc;
}

/* ---- titles ---- */

static enum err_code match_title(const struct session_row *row, void *arg, struct err *e)
{
    struct candidates *c = arg;
    const struct slice titles[] = { utf8_js_trim(session_row_title(row)),
                                    utf8_js_trim(row->summary) };
    struct slice text = c->search->text;
    bool is = false;

    (void)e;
    for (size_t i = 0; i < 2; i++)
        is |= titles[i].n == text.n && strncasecmp(titles[i].p, text.p, text.n) == 0;
    if (is)
        add_candidate(&row->ref, c);
    return c->ok ? ERR_OK : err_nomem(e);
}

enum err_code resolve_title(struct store *const stores[], size_t n, const struct scope *scope,
                            struct slice title, struct arena *a, struct session_ref *ref,
                            struct err *e)
{
    const struct listing_query q = { .scope = *scope,
                                     .since_ms = TIME_NONE,
                                     .before_ms = TIME_NONE };
    struct search s = { .store = stores,
                        .stores = n,
                        .scope = scope,
                        .text = utf8_js_trim(title),
                        .a = a,
                        .ref = ref };
    struct candidates c = { .search = &s, .ok = true };
    struct listing *l = NULL;

    if (s.text.n == 0)
        return not_found(&s, e);
    enum err_code rc = listing_open(stores, n, &q, &l, e);

    if (!rc)
        rc = listing_each(l, match_title, &c, e);
    listing_close(l);
    if (rc)
        return rc;
    if (c.n != 1)
        return c.n ? ambiguous(&c, e) : not_found(&s, e);

    /* The id that has the title is resolved like one that was given, since it may have copies. */
    s.text = c.id[0];
    return find_exactly(&s, c.store[0]->ops->remote, e);
}

/* ---- many ids ---- */

/* The found sessions, to detect those that are also in another store. */
struct found_elsewhere {
    struct idset ids;
    size_t *place; /* by number of the id */
    struct session_ref *ref;
};

static bool leave_ambiguous(const struct session_ref *other, void *arg)
{
    struct found_elsewhere *f = arg;
    uint32_t number = idset_find(&f->ids, id128_of(other->id));

    if (number != IDSET_NONE) {
        struct session_ref *ref = &f->ref[f->place[number]];

        if (ref->store && ref->store != other->store)
            *ref = (struct session_ref){ 0 };
    }
    return true;
}

/* Leaves ids that two stores have to resolve_session, which names them or chooses. A store that cannot
 * be read is skipped, as there. */
static enum err_code leave_all_ambiguous(struct store *const stores[], size_t n,
                                         const struct scope *scope, const struct slice *text,
                                         size_t texts, struct arena *a, struct session_ref *ref,
                                         struct err *e)
{
    struct found_elsewhere f = { .place = arena_alloc(a, (texts + 1) * sizeof *f.place),
                                 .ref = ref };
    enum err_code rc = f.place ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i < texts && !rc; i++) {
        uint32_t number;
        size_t before = f.ids.n;

        if (!ref[i].store)
            continue;
        if (idset_add(&f.ids, id128_of(text[i]), &number))
            rc = err_nomem(e);
        else if (f.ids.n > before)
            f.place[number] = i;
    }
    for (size_t i = 1; i < n && !rc; i++)
        if (f.ids.n && !stores[i]->ops->remote && stores[i]->ops->enumerate &&
            stores[i]->ops->enumerate(stores[i], scope, leave_ambiguous, &f, NULL) == ERR_NOMEM)
            rc = err_nomem(e);
    idset_fini(&f.ids);
    return rc;
}

/* The stores are searched in the order of resolve_session, up to the first that cannot find many at once, because a
 * session of a later store may also be in that one. */
enum err_code resolve_sessions(struct store *const stores[], size_t n, const struct scope *scope,
                               const struct slice *text, size_t texts, struct arena *a,
                               struct session_ref *ref, struct err *e)
{
    struct slice *id = arena_alloc(a, (texts + 1) * sizeof *id);
    size_t *place = arena_alloc(a, (texts + 1) * sizeof *place);

    if (!id || !place)
        return err_nomem(e);
    for (size_t i = 0; i < n && stores[i]->ops->find_many; i++) {
        size_t missing = 0;

        for (size_t k = 0; k < texts; k++) {
            if (ref[k].store)
                continue;
            place[missing] = k;
            id[missing++] = text[k];
        }
        if (missing < MANY)
            break;
        struct session_ref *found = arena_zalloc(a, missing * sizeof *found);
        enum err_code rc =
            found ? stores[i]->ops->find_many(stores[i], scope, id, missing, a, found, e)
                  : err_nomem(e);

        if (rc)
            return rc;

        /* The found sessions belong at the indexes of the requested ids. */
        for (size_t k = 0; k < missing; k++)
            if (found[k].store)
                ref[place[k]] = found[k];
    }
    return leave_all_ambiguous(stores, n, scope, text, texts, a, ref, e);
}
