#include "store/systems/common/patches/patch_log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/fs/kernel.h"
#include "store/systems/common/inferred.h"

/* A rewind overwrites files with what is inferred here, so a wrong text does more harm than none.
 * The first of these that applies decides what a file contained before its first change:
 *
 *   1. a command printed it between the point and the change    judge_read
 *   2. the earlier and the later changes give the same text
 *   3. the later changes, or the present file, give one         judge_later
 *   4. only the earlier changes give one                        judge_earlier
 *   5. the change adds the file, and nothing shows another one  was_replaced
 *
 * A text that may be wrong gets a `doubt`, and one that is not known a `why`. Each way from a known
 * text to another has to note the commands on it that may have changed the file (`passed`), because
 * what they did is not recorded. Commands are not replayed, and nothing is written here. */

enum { PRESENT_MAX = 16 << 20 };

static const char command_ran[] =
    "a command ran since that may have changed it: what it did is not recorded";
static const char by_hand[] = "it was changed by hand between its patches";
static const char changed_before[] = "it was changed at an unknown time before its first patch";

static bool patch_infer_is_of(const struct patch_change *x, const char *path)
{
    return strcmp(x->path, path) == 0;
}

static struct patch_state patch_known(struct slice text)
{
    return (struct patch_state){ .known = true, .text = text };
}

/* ---- what came before ---- */

static enum err_code patch_forward(struct patch_inference *p, struct slice diff,
                                   struct patch_state *s)
{
    const bool other_ends = p->c->lf_only && s->text.n && memchr(s->text.p, '\r', s->text.n);
    bool fits = false;
    enum err_code rc = ERR_OK;

    if (s->known && !s->absent && !other_ends)
        rc = inferred_patch(s->text, diff, false, p->arena, &s->text, &fits);
    s->known = fits;
    return rc;
}

/* The first or the newest text of a file that a command printed on these lines; NULL: none. */
static const struct patch_seen *find_seen(const struct patch_log *c, const char *path, size_t from,
                                          size_t to, bool newest)
{
    const struct patch_seen *found = NULL;

    for (size_t i = 0; i < c->seen_n && (newest || !found); i++)
        if (c->seen[i].whole && c->seen[i].at >= from && c->seen[i].at < to &&
            strcmp(c->seen[i].path, path) == 0)
            found = &c->seen[i];
    return found;
}

/* Updates the state of a file between two of its changes: commands may have changed it, or printed it before the
 * point. */
static void patch_pass(const struct patch_inference *p, const char *path, size_t from, size_t to,
                       struct patch_state *s)
{
    size_t until = to < p->from ? to : p->from;
    /* A text at the place of a change may have been printed before it. */
    const struct patch_seen *seen = find_seen(p->c, path, from + (from > 0), until, true);

    if (seen) {
        *s = patch_known(seen->text);
        from = seen->at;
    }
    s->passed |= from > 0 && patch_commands_between(p->c, from, to, path);
}

/* Computes the state of a file after the changes from `first` up to n; *s is its state on the line `last` before
 * them. */
static enum err_code patch_go_forward(struct patch_inference *p, const char *path, size_t first,
                                      size_t n, size_t last, struct patch_state *s)
{
    const struct patch_log *c = p->c;
    enum err_code rc = ERR_OK;

    for (size_t i = first; i < n && !rc; i++) {
        const struct patch_change *x = &c->change[i];

        if (!patch_infer_is_of(x, path))
            continue;
        patch_pass(p, path, last, x->at, s);
        last = x->at;
        if (x->kind == PATCH_ADDED)
            *s = patch_known(x->text);
        else if (x->kind == PATCH_DELETED || x->kind == PATCH_LEFT)
            *s = (struct patch_state){ .known = true, .absent = true };
        else if (x->kind == PATCH_UPDATED)
            rc = patch_forward(p, x->text, s);
        else
            s->known = false; /* its text came from another file, or it may contain a part of a
                               * patch */
    }
    if (n < c->changes)
        patch_pass(p, path, last, c->change[n].at, s);
    return rc;
}

/* ---- what came after ---- */

enum err_code patch_infer_present(struct patch_inference *p, const char *path,
                                  struct patch_state *out, struct err *e)
{
    struct buf text = { 0 };
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, PRESENT_MAX, &text, NULL);

    *out = (struct patch_state){ .known = false };
    if (rc == ERR_NOT_FOUND)
        *out = (struct patch_state){ .known = true, .absent = true };
    else if (!rc)
        *out = patch_known(arena_copy(p->arena, buf_slice(&text)));
    buf_fini(&text);
    return rc == ERR_NOMEM || p->arena->failed ? err_nomem(e) : ERR_OK;
}

enum err_code patch_infer_last(struct patch_inference *p, size_t i, struct patch_state before,
                               struct patch_state *out, struct err *e)
{
    const char *path = p->c->change[i].path;
    struct patch_state now;

    *out = before;
    if (patch_go_forward(p, path, i, p->c->changes, p->c->change[i].at, out))
        return err_nomem(e);
    if (!out->known || !out->passed)
        return ERR_OK;
    enum err_code rc = patch_infer_present(p, path, &now, e);

    out->known = now.known && now.absent == out->absent && slice_eq(now.text, out->text);
    return rc;
}

/* The changes of a file from change i on that have to be reverted to get its earlier state; the
 * last one provides a text or leads to one. */
struct trail {
    size_t step[256];
    size_t n;
    const char *path; /* where the file is in the end */
    bool ends; /* with a text: that of a deletion, or one that a command of the same turn printed */
    struct slice text; /* this text */
    size_t at;         /* its line */
};

static bool patch_prompt_between(const struct patch_log *c, size_t from, size_t to)
{
    for (size_t i = 0; i < c->prompts; i++)
        if (c->prompt[i] > from && c->prompt[i] < to)
            return true;
    return false;
}

/* Ends the trail, which has reached a line, with what a command printed of the file after its last step, in the turn of
 * its first one. */
static bool ends_before(const struct patch_inference *p, struct trail *t, size_t line)
{
    const struct patch_change *list = p->c->change;
    const struct patch_seen *seen =
        t->n ? find_seen(p->c, t->path, list[t->step[t->n - 1]].at + 1, line, false) : NULL;

    if (!seen || patch_prompt_between(p->c, list[t->step[0]].at, seen->at))
        return false;
    t->text = seen->text;
    t->at = seen->at;
    return t->ends = true;
}

static bool patch_follow(const struct patch_inference *p, size_t i, struct trail *t)
{
    *t = (struct trail){ .path = p->c->change[i].path };
    for (; i < p->c->changes; i++) {
        const struct patch_change *x = &p->c->change[i];

        if (!patch_infer_is_of(x, t->path))
            continue;
        if (ends_before(p, t, x->at))
            return true;
        if (t->n == sizeof t->step / sizeof *t->step || x->kind == PATCH_ADDED ||
            x->kind == PATCH_UNSURE)
            return false; /* another file took its place */
        if (x->kind == PATCH_ARRIVED &&
            !(t->n && p->c->change[t->step[t->n - 1]].kind == PATCH_LEFT))
            return false;
        if (x->kind == PATCH_ARRIVED)
            continue; /* the other half of the move */
        t->ends = x->kind == PATCH_DELETED;
        t->text = x->text;
        t->at = x->at;
        if (t->ends)
            return true;
        t->step[t->n++] = i;
        if (x->kind == PATCH_LEFT)
            t->path = x->other;
    }
    ends_before(p, t, SIZE_MAX);
    return true;
}

/* The facts about a file that follow from its later changes. */
struct later {
    struct patch_state state;
    bool seen;       /* the present file has been seen */
    bool is_written; /* which was written after the last of them */
    bool is_close;   /* or in the same second, as its time has no finer parts */
    bool turns;      /* they belong to several turns */
    const char *why;
};

static enum err_code revert_patches(struct patch_inference *p, struct trail *t,
                                    struct patch_state *s)
{
    enum err_code rc = ERR_OK;

    for (; t->n > 0 && !rc && s->known && !s->absent; t->n--) {
        struct slice diff = p->c->change[t->step[t->n - 1]].text;

        rc = inferred_patch(s->text, diff, true, p->arena, &s->text, &s->known);
    }
    if (s->absent)
        s->known = s->absent = false; /* it was removed since */
    return rc;
}

static enum err_code patch_go_back(struct patch_inference *p, size_t i, struct later *out,
                                   struct err *e)
{
    struct trail t;

    *out = (struct later){ .why = "its patches do not lead to a known text" };
    if (!patch_follow(p, i, &t) || (!t.n && !t.ends))
        return ERR_OK;
    enum err_code rc = ERR_OK;
    size_t behind = t.at;

    out->seen = !t.ends;
    out->turns = patch_prompt_between(p->c, p->c->change[i].at, t.at);
    if (t.ends) {
        out->state = patch_known(t.text);
    } else {
        rc = patch_infer_present(p, t.path, &out->state, e);

        /* A program that writes a file sets its time. */
        const char *path = t.path;
        int64_t time_ms = p->c->change[t.step[t.n - 1]].time_ms;
        struct stat sb;

        out->is_written =
            time_ms == TIME_NONE || stat(path, &sb) != 0 || time_ms_of(sb.st_mtim) > time_ms;
        out->is_close = !out->is_written && sb.st_mtim.tv_nsec == 0 &&
                        time_ms / 1000 == (int64_t)sb.st_mtim.tv_sec;

        /* A command may have written it in the same millisecond as the patch. */
        if (out->is_written || (time_ms_of(sb.st_mtim) == time_ms && !out->is_close))
            behind = SIZE_MAX;
    }

    /* A command from the point up to `behind` may have changed the file, under any of its names. */
    bool any = patch_commands_between(p->c, p->from, behind, p->c->change[i].path);

    for (size_t k = 0; k < t.n && !any; k++)
        any = patch_commands_between(p->c, p->from, behind, p->c->change[t.step[k]].path);

    bool passed = any || patch_commands_between(p->c, p->from, behind, t.path);

    if (!rc && revert_patches(p, &t, &out->state))
        rc = err_nomem(e);
    out->state.passed = passed;
    out->why = passed ? command_ran
                      : "the patches since do not fit its present text: it was changed by hand";
    return rc;
}

enum err_code patch_infer_is_moved(struct patch_inference *p, size_t i, bool *out, struct err *e)
{
    struct later source = { .seen = false };
    struct trail t;
    bool whole = i > 0 && p->c->change[i - 1].kind == PATCH_LEFT && patch_follow(p, i - 1, &t) &&
                 !t.ends && patch_infer_is_of(&p->c->change[i], t.path);
    enum err_code rc = whole ? patch_go_back(p, i - 1, &source, e) : ERR_OK;

    *out = whole && !rc && source.state.known && !source.state.passed && source.seen;
    return rc;
}

/* ---- both ---- */

/* A patch can add or move a file over an existing one, which it does not record. Returns the reason
 * why the earlier file is unknown; NULL if nothing shows that one existed. */
static const char *was_replaced(const struct patch_inference *p, size_t i)
{
    static const char why[] = "it replaced a file of that name, whose text is not recorded";
    const struct patch_log *c = p->c;
    const struct patch_change *x = &c->change[i], *y = NULL;

    for (size_t k = 0; k < i; k++)
        if (patch_infer_is_of(&c->change[k], x->path))
            y = &c->change[k];
    if (y && y->kind != PATCH_DELETED && y->kind != PATCH_LEFT)
        return patch_commands_between(c, y->at, x->at, x->path) ? command_ran : why;
    for (size_t k = 0; k < c->seen_n; k++)
        if (!c->seen[k].gone && c->seen[k].at < x->at && (!y || c->seen[k].at > y->at) &&
            strcmp(c->seen[k].path, x->path) == 0)
            return why;
    return !y && patch_commit_mode(&p->commit, x->path) ? why : NULL;
}

/* Something shows that there was no file directly before change i, which adds one or moves one there: it was removed in
 * the same turn, a command did not find it, or the present file began with the change. A commit without the file shows
 * nothing, because the file may have been untracked. */
static bool was_free(const struct patch_inference *p, size_t i)
{
    const struct patch_log *c = p->c;
    const struct patch_change *x = &c->change[i], *y = NULL;
    size_t turn = 0;

    for (size_t k = 0; k < c->prompts; k++)
        if (c->prompt[k] < x->at)
            turn = c->prompt[k];
    for (size_t k = 0; k < i; k++)
        if (patch_infer_is_of(&c->change[k], x->path) && c->change[k].at > turn)
            y = &c->change[k];
    if (y)
        return (y->kind == PATCH_DELETED || y->kind == PATCH_LEFT) &&
               !patch_commands_between(c, y->at, x->at, x->path);

    /* The present file was born while the patch was at work: Codex writes into a file that exists,
     * which stays the same one, except on file systems that replace it (overlayfs copies a file of
     * a lower layer when it is first written). The clock of a file system may be a few milliseconds
     * late. */
    if (patch_shows_free(c, turn, x->at, x->path))
        return true;

    enum { TICK_MS = 10 };
    struct file f;

    if (x->begin_ms == TIME_NONE || x->end_ms == TIME_NONE ||
        file_open(AT_FDCWD, x->path, 0, &f, NULL))
        return false;
    int64_t born_ms = fs_births_are_true(f.fd) ? fs_born_ns(f.fd) / 1000000 : 0;

    file_close(&f);
    return born_ms >= x->begin_ms - TICK_MS && born_ms <= x->end_ms;
}

/* Returns whether the changes from i on found what the earlier ones left. */
static enum err_code agrees(struct patch_inference *p, size_t i, struct patch_state s, bool *out)
{
    const struct patch_log *c = p->c;
    const char *path = c->change[i].path;
    enum err_code rc = ERR_OK;
    size_t last = i;

    *out = true;
    for (; i < c->changes && *out && !rc; i++) {
        const struct patch_change *x = &c->change[i];

        if (!patch_infer_is_of(x, path))
            continue;
        if (patch_commands_between(c, c->change[last].at, x->at, path))
            break;
        last = i;
        if (x->kind == PATCH_DELETED)
            *out = !s.absent && slice_eq(s.text, x->text);
        if (x->kind != PATCH_UPDATED && x->kind != PATCH_LEFT)
            break;
        rc = patch_forward(p, x->text, &s);
        *out = s.known;
    }
    return rc;
}

/* The diff shows every line of the text. */
static bool patch_shows_all(struct slice diff, struct slice text)
{
    struct slice line;
    size_t lines = 0;
    bool torn;

    while (slice_line(&text, &line, &torn))
        lines++;
    while (slice_line(&diff, &line, &torn))
        lines -= lines > 0 && line.n && (line.p[0] == ' ' || line.p[0] == '-');
    return lines == 0;
}

/* Only the earlier changes give the text. */
static enum err_code judge_earlier(struct patch_inference *p, size_t i, struct patch_state s,
                                   struct patch_before *out)
{
    const struct patch_change *x = &p->c->change[i];
    bool agree = true;
    enum err_code rc = ERR_OK;

    out->why = command_ran;
    if (s.passed || patch_commands_between(p->c, p->from, x->at, x->path))
        return ERR_OK;
    rc = agrees(p, i, s, &agree);
    out->why = by_hand;
    out->state = s;
    out->state.known = agree;
    if (!s.absent && (x->kind == PATCH_ADDED || x->kind == PATCH_ARRIVED))
        out->doubt = "it was replaced, and nothing shows that it was still as the last patch "
                     "before had left it";
    else if (!s.absent && !patch_shows_all(x->text, s.text))
        out->doubt = "its later texts are not known, so it may have been changed by hand before";
    return rc;
}

/* The later changes give a text that the earlier ones do not confirm: `earlier` gives no text, or
 * another one. */
static void judge_later(const struct patch_inference *p, size_t i, const struct later *l,
                        struct patch_state earlier, struct patch_before *out)
{
    bool late = patch_prompt_between(p->c, p->from, p->c->change[i].at);
    bool contradicted = l->is_close && earlier.known && !earlier.from_commit;
    const struct slice text = l->state.text;

    out->state = l->state;
    out->seen = l->seen;
    out->why = by_hand;
    if (p->c->lf_only && text.n && memchr(text.p, '\n', text.n))
        out->doubt =
            "its line ends are not recorded, and no read or write of the session shows them";
    if (!l->is_written && !l->turns && !late && !contradicted)
        return; /* all of it is the work of the turn */
    out->state.known = !earlier.known || earlier.from_commit;
    if (l->is_written)
        out->doubt = "it was written again after its last patch, and its patches do not show all "
                     "of it";
    else if (l->turns)
        out->doubt = "its patches of several turns do not show all of it, so it may have been "
                     "changed by hand between them";
    else if (!earlier.known)
        out->is_late = true;
    else
        out->doubt = changed_before;
}

/* A command printed the file after the point, before its first change. The output may have more lines than the file,
 * which a diff shows; for a file that was replaced, another source has to agree. */
static enum err_code judge_read(struct patch_inference *p, size_t i, struct patch_state earlier,
                                bool *decides, struct patch_before *out)
{
    const struct patch_change *x = &p->c->change[i];
    const struct patch_seen *seen = find_seen(p->c, x->path, p->from, x->at, false);
    bool diff = x->kind == PATCH_UPDATED || x->kind == PATCH_LEFT, fits = !diff;
    bool same = seen && earlier.known && !earlier.absent && slice_eq(earlier.text, seen->text);
    enum err_code rc = seen && diff ? agrees(p, i, patch_known(seen->text), &fits) : ERR_OK;

    *decides = seen && fits && x->kind != PATCH_DELETED && x->kind != PATCH_UNSURE;
    if (!*decides)
        return rc;
    out->state = patch_known(seen->text);
    if (patch_commands_between(p->c, p->from, seen->at, x->path)) {
        out->state.known = same;
        out->why = same ? NULL : command_ran;
    } else if (!same && !diff) {
        out->doubt = "it was replaced, and only the output of a command shows its text";
    } else if (!same && patch_prompt_between(p->c, p->from, seen->at)) {
        out->is_late = !earlier.known;
        out->doubt = earlier.known ? changed_before : NULL;
    }
    return rc;
}

static enum err_code find_earlier(struct patch_inference *p, size_t i, struct patch_state *out,
                                  struct err *e)
{
    const char *path = p->c->change[i].path;
    struct buf text = { 0 };
    enum err_code rc = patch_commit_text(&p->commit, path, PRESENT_MAX, &text);

    *out = (struct patch_state){ .known = rc == ERR_OK, .from_commit = true };
    if (!rc)
        out->text = arena_copy(p->arena, buf_slice(&text));
    buf_fini(&text);
    if (rc == ERR_NOMEM || p->arena->failed || patch_go_forward(p, path, 0, i, 0, out))
        return err_nomem(e);
    return ERR_OK;
}

enum err_code patch_infer_before(struct patch_inference *p, size_t i, struct patch_before *out,
                                 struct err *e)
{
    const struct patch_change *x = &p->c->change[i];
    bool adds = x->kind == PATCH_ADDED || x->kind == PATCH_ARRIVED;
    struct later later = { .why = x->why };
    struct patch_state earlier;
    enum err_code rc = find_earlier(p, i, &earlier, e);

    bool read = false;

    *out = (struct patch_before){ .why = NULL };

    /* A file that was added has no earlier text, and a patch that failed cannot be reverted. */
    if (!rc && !adds && x->kind != PATCH_UNSURE)
        rc = patch_go_back(p, i, &later, e);

    /* Output that shows the file between the point and its first change decides before all else. */
    if (!rc && judge_read(p, i, earlier, &read, out))
        rc = err_nomem(e);
    if (rc || read)
        return rc;

    /* A text on which both directions agree is certain. Otherwise the later changes decide first. */
    if (earlier.known && later.state.known && !earlier.absent &&
        slice_eq(earlier.text, later.state.text)) {
        out->state = later.state;
        out->seen = later.seen;
    } else if (later.state.known && !later.state.passed) {
        judge_later(p, i, &later, earlier, out);
    } else if (earlier.known && !earlier.from_commit) {
        if (judge_earlier(p, i, earlier, out))
            return err_nomem(e);
    } else if (adds) {
        out->why = patch_removals_between(p->c, p->from, x->at, x->path) ? command_ran
                                                                         : was_replaced(p, i);
        out->state.known = out->state.absent = !out->why;
        out->is_late = out->state.absent && patch_prompt_between(p->c, p->from, x->at);
    } else {
        out->why = later.why;
    }
    out->was_free = adds && out->state.known && out->state.absent && was_free(p, i);
    return ERR_OK;
}
