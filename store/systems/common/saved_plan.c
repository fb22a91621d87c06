#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/io/file.h"
#include "store/fs/span.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"
#include "store/systems/common/inferred.h"
#include "store/systems/common/saved_states.h"

/* The state of each file at a turn, as the saved states of a session show it. */

/* The copy of the turn itself, else the first one of a later turn. A later copy that is not the session's first one
 * means that earlier ones existed and are gone. */
static const struct saved_state *copy_at(const struct saved_path *p, int64_t turn)
{
    const struct saved_state *best = NULL;

    for (size_t i = 0; i < p->n; i++) {
        const struct saved_state *x = &p->state[i];

        if (!x->is_write && x->turn >= turn && (!best || x->turn < best->turn))
            best = x;
    }
    return best;
}

/* The first write from the turn on, or the last one before it. */
static const struct saved_state *write_near(const struct saved_path *p, int64_t turn, bool before)
{
    const struct saved_state *best = NULL;

    for (size_t i = 0; i < p->n; i++) {
        const struct saved_state *x = &p->state[i];

        if (x->is_write && (x->turn < turn) == before &&
            (!best || (before ? x->time_ms >= best->time_ms : x->time_ms < best->time_ms)))
            best = x;
    }
    return best;
}

/* ---- contradictions ---- */

/* A copy that cannot be read is left to the engine, which names the reason. */
static bool copy_equals(const struct saved_state *copy, struct slice text)
{
    struct buf bytes = { 0 };

    if (copy->content == SAVED_ABSENT)
        return text.n == 0;
    if (copy->content == SAVED_BYTES)
        return source_same_text(copy->bytes, text);
    bool same =
        file_read_all(AT_FDCWD, copy->file, 0, SAVED_COMPARED_MOST, &bytes, NULL) != ERR_OK ||
        source_same_text(buf_slice(&bytes), text);

    buf_fini(&bytes);
    return same;
}

static bool is_one_copy(const struct saved_state *a, const struct saved_state *b)
{
    return a->content == b->content && a->file && b->file && strcmp(a->file, b->file) == 0 &&
           (!a->sha256 || !b->sha256 || strcmp(a->sha256, b->sha256) == 0);
}

/* The copy was made before the last write, which left something else. */
static bool is_outdated(const struct saved_path *p, const struct saved_state *copy, int64_t turn)
{
    const struct saved_state *w = write_near(p, turn, true);

    if (!w || w->content != SAVED_BYTES || copy->content != SAVED_FILE)
        return false;
    for (size_t i = 0; i < p->n; i++)
        if (!p->state[i].is_write && p->state[i].turn <= w->turn && is_one_copy(&p->state[i], copy))
            return !copy_equals(copy, w->bytes);
    return false;
}

/* Returns true if the write found what the copy contains, and no other copy was made in between, as after a change by
 * another program. */
static bool is_for(const struct saved_path *p, const struct saved_state *copy,
                   const struct saved_state *write)
{
    const struct saved_state *own = copy_at(p, write->turn);

    return !own || own->turn > write->turn || own == copy || is_one_copy(own, copy);
}

/* A command from one time to before another may have changed the file; absent: may have removed it. */
static bool shell_may_change(const struct saved_states *s, const char *path, int64_t from,
                             int64_t to, bool absent)
{
    for (size_t i = 0; i < s->shells; i++) {
        const struct saved_shell *x = &s->shell[i];

        if (x->time_ms >= from && x->time_ms < to &&
            (!x->dir || !x->command.n ||
             (absent ? inferred_may_remove : inferred_may_change)(x->command, x->dir, path)))
            return true;
    }
    return false;
}

/* A command that names the file is the reason why an edit found something else than the copy of its own turn. */
static bool shell_explains(const struct saved_states *s, const struct saved_path *p,
                           const struct saved_state *copy, const struct saved_state *write)
{
    const char *slash = strrchr(p->path, '/'), *name = slash ? slash + 1 : p->path;

    for (size_t i = 0; i < s->shells; i++) {
        const struct saved_shell *x = &s->shell[i];

        if (x->time_ms >= copy->time_ms && x->time_ms < write->time_ms && x->dir &&
            slice_find(x->command.p, x->command.n, name, strlen(name)) &&
            inferred_may_change(x->command, x->dir, p->path))
            return true;
    }
    return false;
}

/* ---- doubts ---- */

/* The session's last edit before the turn left what the copy is, so nothing changed the file in between. */
static bool saved_plan_is_left(const struct saved_path *p, const struct saved_state *copy,
                               int64_t turn)
{
    const struct saved_state *left = write_near(p, turn, true);
    struct buf bytes = { 0 };

    if (!left || left->content == SAVED_UNKNOWN)
        return false;
    if (left->content == SAVED_BYTES)
        return copy_equals(copy, left->bytes);
    if (left->content == SAVED_ABSENT || copy->content == SAVED_ABSENT)
        return left->content == copy->content;
    if (left->sha256 && copy->sha256)
        return strcmp(left->sha256, copy->sha256) == 0;
    bool same =
        file_read_all(AT_FDCWD, left->file, 0, SAVED_COMPARED_MOST, &bytes, NULL) == ERR_OK &&
        copy_equals(copy, buf_slice(&bytes));

    buf_fini(&bytes);
    return same;
}

static bool is_first_change(const struct saved_path *p, int64_t turn)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->state[i].turn < turn)
            return false;
    return true;
}

/* A command in this time may have changed the permissions. */
static bool shell_may_chmod(const struct saved_states *s, const char *path, int64_t from,
                            int64_t to)
{
    for (size_t i = 0; i < s->shells; i++) {
        const struct saved_shell *x = &s->shell[i];

        if (x->time_ms >= from && x->time_ms < to && x->dir &&
            inferred_may_chmod(x->command, x->dir, path))
            return true;
    }
    return false;
}

/* The same bytes can be expected in the file that a link led to: no line ends or encoding that texts do not show. */
static bool is_plain_text(struct slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\r' || (unsigned char)text.p[i] >= 0x80)
            return false;
    return true;
}

static bool has_state(const struct saved_path *p, struct slice text)
{
    struct buf bytes = { 0 };
    bool same = false;

    for (size_t i = 0; i < p->n && !same; i++) {
        bytes.n = 0;
        same = saved_state_read(&p->state[i], &bytes) && slice_eq(buf_slice(&bytes), text);
    }
    buf_fini(&bytes);
    return same;
}

/* Another file of the project, or of the session, has or had this text. */
static bool may_have_twin(const struct saved_states *s, const struct saved_path *p,
                          struct slice text, const char *root)
{
    for (size_t i = 0; i < s->n; i++)
        if (&s->path[i] != p && has_state(&s->path[i], text))
            return true;
    return !is_plain_text(text) || twin_may_exist(root, p->path, text);
}

/* A command removed the file, which may have been a link: its copy has the text of the target. A file that the session
 * created was not a link. */
static bool may_be_link(const struct saved_states *s, const struct saved_path *p,
                        const struct saved_state *copy, int64_t from, const char *root)
{
    bool removed = false;

    for (size_t i = 0; i < p->n; i++)
        if (p->state[i].content == SAVED_ABSENT && p->state[i].time_ms < copy->time_ms)
            return false;
    for (size_t i = 0; i < s->shells && !removed; i++) {
        const struct saved_shell *x = &s->shell[i];

        removed = x->time_ms >= from && x->dir && inferred_may_replace(x->command, x->dir, p->path);
    }

    /* If the file was a link, each of its states was one of another file. */
    if (!removed)
        return false;

    enum { STATES_MAX = 16 };

    struct buf bytes = { 0 };
    bool may = p->n > STATES_MAX;

    for (size_t i = 0; i < p->n && !may; i++) {
        bytes.n = 0;
        may = p->state[i].content != SAVED_ABSENT && (!saved_state_read(&p->state[i], &bytes) ||
                                                      may_have_twin(s, p, buf_slice(&bytes), root));
    }
    buf_fini(&bytes);
    return may;
}

/* ---- targets ---- */

static void set_source(const struct saved_state *x, bool *absent, struct rewind_source *source)
{
    *absent = x->content == SAVED_ABSENT;
    source->file = x->content == SAVED_FILE ? x->file : NULL;
    source->sha256 = x->sha256;
    source->bytes = x->content == SAVED_BYTES ? x->bytes : (struct slice){ NULL, 0 };
    if (x->content == SAVED_BYTES && !source->bytes.p)
        source->bytes = SLICE("");
}

static bool has_hash(const struct saved_state *x, const char *sha256)
{
    struct hasher h = { 0 };
    struct buf bytes = { 0 };
    uint8_t hash[SHA256_BYTES];
    char hex[SHA256_BYTES * 2 + 1] = "";

    if (saved_state_read(x, &bytes) && !hasher_bytes(&h, buf_slice(&bytes), hash, NULL))
        hasher_hex(hash, hex);
    hasher_fini(&h);
    buf_fini(&bytes);
    return strcmp(hex, sha256) == 0;
}

/* An agent may delete old copies and reuse their names; the result of an edit, or another copy, may have the same
 * content. */
static const struct saved_state *still_there(const struct saved_path *p,
                                             const struct saved_state *copy)
{
    if (copy->content != SAVED_FILE || !copy->sha256 || has_hash(copy, copy->sha256))
        return copy;
    for (size_t i = 0; i < p->n; i++)
        if (has_hash(&p->state[i], copy->sha256))
            return &p->state[i];
    return copy;
}

static void doubt_permissions(const struct saved_states *s, const struct saved_path *p,
                              int64_t from, int64_t to, struct rewind_target *t)
{
    if (t->want != REWIND_BYTES || !shell_may_chmod(s, p->path, from, to))
        return;
    t->permissions = "a command changed them since, and the former ones are not recorded";
    if (!t->doubt)
        t->doubt = "a command changed its permissions, and the former ones are not recorded";
}

static bool has_lines(struct slice text)
{
    return memchr(text.p, '\n', text.n) != NULL;
}

/* The file had the bytes of the text that the write left, without anything that a text does not show: they are in a copy,
 * or still in the file. If the session's next edit found this text, that edit may show it as well, because agents keep the
 * encoding and the line ends of a file. */
static bool shows_bytes(const struct saved_states *s, const struct saved_path *p,
                        const struct saved_state *write)
{
    bool same = false;

    for (bool more = true; more;) {
        const struct saved_state *best = NULL;

        /* The session's next write to the file. */
        for (size_t i = 0; i < p->n; i++) {
            const struct saved_state *x = &p->state[i];

            if (x->is_write && x->time_ms > write->time_ms && (!best || x->time_ms < best->time_ms))
                best = x;
        }

        /* A copy that was made after the next write does not show what this one left. */
        const struct saved_state *next = best, *later = copy_at(p, write->turn + 1);
        const struct saved_state *copy = later && next && later->turn > next->turn ? NULL : later;
        bool is_last = saved_states_by(p, INT64_MAX) == write;
        struct buf bytes = { 0 };
        bool read = copy ? saved_state_read(copy, &bytes)
                    : is_last
                        ? !file_read_all(AT_FDCWD, p->path, 0, SAVED_COMPARED_MOST, &bytes, NULL)
                        : false;

        same = read && write->content == SAVED_BYTES && slice_eq(buf_slice(&bytes), write->bytes);
        buf_fini(&bytes);
        more = !same && !copy && next && next->has_found && write->content == SAVED_BYTES &&
               slice_eq(next->found, write->bytes) && is_plain_text(next->bytes) &&
               has_lines(next->bytes) &&
               !shell_may_change(s, p->path, write->time_ms, next->time_ms, false);
        write = next;
    }
    return same;
}

/* What the first edit of the turn found, if the session has no copy of it, or a wrong one from before the turn. If the
 * sizes differ, Qwen would have made a new copy, so the file was changed in the turn. */
static const struct saved_state *found_in(const struct saved_states *s, const struct saved_path *p,
                                          int64_t turn, int64_t from,
                                          const struct saved_state *copy)
{
    const struct saved_state *next = write_near(p, turn, false);
    struct stat sb;

    if (!next || next->turn != turn)
        return NULL;
    if (copy && copy->turn == turn &&
        (copy->content != SAVED_FILE || !copy->saved_ms || copy->saved_ms >= from ||
         next->found_absent || stat(copy->file, &sb) != 0 || (size_t)sb.st_size != next->found.n))
        return NULL;
    return next->found_absent ||
                   (next->has_found && is_plain_text(next->found) && is_plain_text(next->bytes) &&
                    has_lines(next->bytes) && shows_bytes(s, p, next))
               ? next
               : NULL;
}

/* Why the copy is not the state at the turn. */
static const char *fault(const struct saved_states *s, const struct saved_path *p,
                         const struct saved_state *copy, int64_t turn)
{
    static const char none[] = "the session edited it without keeping a copy";
    const struct saved_state *next = write_near(p, turn, false);

    if (!copy)
        return none;
    if (copy->turn != turn && !copy->is_first)
        return "the session does not record what it contained then";
    if (next && next->turn < copy->turn && !next->has_found)
        return none; /* the copy has what this edit left */

    /* Something may contradict the copy; otherwise nothing is wrong with it. */
    if (copy->content == SAVED_UNKNOWN)
        return copy->why;
    if (next && next->has_found && is_for(p, copy, next) && !shell_explains(s, p, copy, next))
        return copy_equals(copy, next->found)
                   ? NULL
                   : "its saved copy is not what the session's next edit found";
    return is_outdated(p, copy, turn) ? "its saved copy is from before the session's last edit"
                                      : NULL;
}

static void set_copied(const struct saved_states *s, const struct saved_path *p,
                       const struct saved_state *copy, int64_t turn, const struct rewind_plan *plan,
                       struct rewind_target *t)
{
    const int64_t from = plan->point_ms;
    bool absent;
    struct stat sb;

    set_source(still_there(p, copy), &absent, &t->source);
    t->want = absent ? REWIND_ABSENT : REWIND_BYTES;

    /* A copy that was made after the turn had begun may not be what the file contained then. */
    const struct saved_state *left = write_near(p, turn, true);

    if (saved_plan_is_left(p, copy, turn))
        t->doubt = NULL;
    else if (shell_may_change(s, p->path, from, copy->time_ms, copy->content == SAVED_ABSENT))
        t->doubt = "a shell command may have changed it before the session saved it";
    else
        t->doubt = left && left->content != SAVED_UNKNOWN && copy->turn > turn
                       ? "it was changed at an unknown time before the session saved it"
                       : NULL;

    t->is_late = copy->turn > turn && !saved_plan_is_left(p, copy, turn);
    t->may_be_link = !absent && may_be_link(s, p, copy, from, plan->wide ? NULL : plan->root);
    t->is_first = is_first_change(p, turn);
    t->found_ms = copy->time_ms;
    doubt_permissions(s, p, from, s->keeps_modes ? copy->time_ms : INT64_MAX, t);
    if (copy->runs && stat(p->path, &sb) != 0) {
        t->has_mode = true;
        t->mode = 0755;
    }
    if (s->keeps_modes && !t->permissions && copy->file && stat(copy->file, &sb) == 0) {
        t->has_mode = true;
        t->mode = sb.st_mode & 07777;
    }
}

/* The copy is only the beginning of what the session's next edit found, whose line ends may differ. */
static bool saved_plan_is_cut(const struct saved_path *p, const struct saved_state *copy,
                              int64_t turn)
{
    const struct saved_state *next = copy ? write_near(p, turn, false) : NULL;
    struct buf bytes = { 0 };
    bool is =
        next && next->has_found && copy->content == SAVED_FILE && saved_state_read(copy, &bytes);
    size_t k = 0;

    for (size_t i = 0; is && i < bytes.n; i++) {
        if (bytes.p[i] == '\r')
            continue;
        k += k < next->found.n && next->found.p[k] == '\r';
        is = k < next->found.n && bytes.p[i] == next->found.p[k++];
    }
    is = is && k < next->found.n;
    buf_fini(&bytes);
    return is;
}

static void saved_plan_set_wanted(const struct saved_states *s, const struct saved_path *p,
                                  int64_t turn, const struct rewind_plan *plan,
                                  struct rewind_target *t)
{
    const struct saved_state *copy = copy_at(p, turn), *found;

    t->want = REWIND_UNKNOWN;
    t->why = fault(s, p, copy, turn);
    if (!t->why)
        set_copied(s, p, copy, turn, plan, t);
    else if ((found = found_in(s, p, turn, plan->point_ms, copy))) {
        const int64_t from = plan->point_ms;
        bool absent = found->found_absent;

        t->why = NULL;
        t->want = absent ? REWIND_ABSENT : REWIND_BYTES;
        t->source.bytes = found->found.n ? found->found : SLICE("");
        t->found_ms = found->time_ms;
        t->is_first = is_first_change(p, found->turn);
        t->permissions = absent ? NULL : "not recorded for this turn";
        if (shell_may_change(s, p->path, from, found->time_ms, absent))
            t->doubt = "a shell command may have changed it before the session's edit";
        t->may_be_link = !absent && may_be_link(s, p, found, from, plan->wide ? NULL : plan->root);
        doubt_permissions(s, p, from, INT64_MAX, t);
    } else
        t->copy_lost = saved_plan_is_cut(p, copy, turn);
}

static bool concerns(const struct saved_path *p, int64_t turn)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->state[i].turn >= turn)
            return true;
    return false;
}

enum err_code saved_states_plan(struct saved_states *s, int64_t turn, struct rewind_plan *plan,
                                struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < s->n; i++) {
        struct rewind_target t = { .path = s->path[i].path };

        if (!concerns(&s->path[i], turn))
            continue;
        saved_plan_set_wanted(s, &s->path[i], turn, plan, &t);

        /* The newest state of the file in the session shows whether a person changed it
         * since. */
        const struct saved_path *p = &s->path[i];
        const struct saved_state *newest = saved_states_by(p, INT64_MAX);
        struct buf present = { 0 };

        t.has_last = newest->content != SAVED_UNKNOWN;
        if (t.has_last)
            set_source(newest, &t.last_absent, &t.last);
        /* an agent keeps the line ends of a file, which are not visible in the text that it wrote */
        if (newest->content == SAVED_BYTES &&
            !file_read_all(AT_FDCWD, p->path, 0, SAVED_COMPARED_MOST, &present, NULL) &&
            present.n && source_same_text(buf_slice(&present), newest->bytes))
            t.last.bytes = arena_copy(&s->arena, buf_slice(&present));
        buf_fini(&present);

        rc = rewind_plan_add(plan, &t, e);
    }
    return rc;
}
