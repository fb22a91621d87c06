#include "store/api/session.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/io/window.h"
#include "store/git/repo.h"

static enum err_code api_session_add_trees(struct scope *scope, struct arena *a, struct err *e)
{
    struct worktree *list;
    size_t n;
    enum err_code rc = worktree_list(scope->project.p, a, &list, &n, e);

    if (rc || n < 2)
        return rc;
    struct slice *tree = arena_alloc(a, n * sizeof *tree);

    if (!tree)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        tree[i] = list[i].path;
    scope->tree = tree;
    scope->trees = n;
    return ERR_OK;
}

enum err_code session_scope_of(const char *dir, bool worktrees, struct arena *a, struct scope *out,
                               struct err *e)
{
    char real[PATH_MAX];
    const char *path = realpath(dir, real) ? real : dir;
    struct scope scope = { .project = arena_copy(a, slice_of(path)) };
    enum err_code rc = ERR_OK;

    if (!scope.project.p)
        return err_nomem(e);
    scope.leave_worktrees = !worktrees;
    if (worktrees)
        rc = api_session_add_trees(&scope, a, e);
    if (!rc)
        *out = scope;
    return rc;
}

void session_scope_left_out(const struct scope *scope, const char *path)
{
    struct err why = { 0 };

    if (scope && scope->left_out && errno != ENOENT && errno != ENOTDIR) {
        err_sys(&why, path, "list sessions in");
        scope->left_out(&why, scope->left_out_arg);
    }
}

void session_scope_left_out_in(const struct scope *scope, const char *folder, const char *name)
{
    const int why = errno;
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    errno = why;
    session_scope_left_out(scope, path);
}

struct slice session_linux_path(struct slice path, struct arena *a)
{
    static const char *const shares[] = { "\\\\wsl.localhost\\", "\\\\wsl$\\" };
    char *p = (char *)(uintptr_t)arena_copy(a, path).p;

    if (!p)
        return (struct slice){ NULL, 0 };
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t n = strlen(shares[i]);
        char *rest = strncasecmp(p, shares[i], n) == 0 ? strchr(p + n, '\\') : NULL;

        if (!rest)
            continue;
        for (char *c = rest; *c; c++)
            *c = *c == '\\' ? '/' : *c;
        return slice_of(rest);
    }
    if (!isalpha((unsigned char)p[0]) || p[1] != ':' || (p[2] != '\\' && p[2] != '/'))
        return path;
    for (char *c = p + 2; *c; c++)
        *c = *c == '\\' ? '/' : *c;
    p = arena_format(a, "/mnt/%c%s", tolower((unsigned char)p[0]), p + 2);
    return p ? slice_of(p) : (struct slice){ NULL, 0 };
}

/* Different texts may name one directory: those of Windows, and those whose letters are composed in another way, unless
 * both directories exist. */
static bool is_other_name(struct slice dir, struct slice known, struct arena *a)
{
    struct slice one = session_linux_path(dir, a), other = session_linux_path(known, a),
                 path = arena_copy(a, dir);

    return one.p && other.p && path.p && utf8_nfc(one, a, &one) && utf8_nfc(other, a, &other) &&
           slice_eq(one, other) && access(path.p, F_OK) != 0;
}

/* Where Claude Code makes a worktree of a repository that git no longer knows once it was removed. */
static bool is_worktree_below(struct slice dir, struct slice known)
{
    static const char inside[] = "/.claude/worktrees/";
    size_t n = known.n + sizeof inside - 1;

    return dir.n > n && memcmp(dir.p, known.p, known.n) == 0 &&
           memcmp(dir.p + known.n, inside, sizeof inside - 1) == 0 &&
           !memchr(dir.p + n, '/', dir.n - n);
}

static bool is_ascii_absolute(struct slice path)
{
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] >= 0x80)
            return false;
    return path.n && path.p[0] == '/';
}

bool session_scope_has(const struct scope *scope, struct slice dir)
{
    struct arena a = { 0 };
    bool has = slice_eq(dir, scope->project), plain = is_ascii_absolute(dir);

    for (size_t i = 0; i < scope->trees && !has; i++)
        has = slice_eq(dir, scope->tree[i]);
    for (size_t i = 0; dir.n && i <= scope->trees && !has; i++) {
        struct slice known = i < scope->trees ? scope->tree[i] : scope->project;

        has = (!scope->leave_worktrees && is_worktree_below(dir, known)) ||
              ((!plain || !is_ascii_absolute(known)) && !memchr(dir.p, '\0', dir.n) &&
               is_other_name(dir, known, &a));
    }
    arena_fini(&a);
    return has;
}

bool session_ref_copy(struct arena *a, const struct session_ref *ref, struct session_ref *out)
{
    struct session_ref copy = *ref;

    copy.id = arena_copy(a, ref->id);
    copy.path = arena_copy(a, ref->path);
    copy.folder = arena_copy(a, ref->folder);
    copy.preread = (struct slice){ NULL, 0 };
    copy.alone = false;
    *out = copy;
    return copy.id.p && copy.path.p && copy.folder.p;
}

const struct session_ref *session_ref_keep(struct arena *a, const struct session_ref *ref)
{
    struct session_ref *kept = arena_alloc(a, sizeof *kept);

    return kept && session_ref_copy(a, ref, kept) ? kept : NULL;
}

int64_t session_modified_ms(const struct file_id *file)
{
    int64_t second = file->mtime_ns / 1000000000, ns = file->mtime_ns % 1000000000;

    if (ns < 0) {
        second--;
        ns += 1000000000;
    }
    /* Computed in doubles, as in the vendor's runtime, because the last bits decide how some times
     * are rounded. */
    double ms = (double)second * 1e3 + (double)ns / 1e6 + 0.5;
    int64_t whole = (int64_t)ms;

    return (double)whole > ms ? whole - 1 : whole; /* down, before the epoch too */
}

int64_t session_recent_ns(const struct session_ref *ref)
{
    int64_t ms = ref->recent_ms ? ref->recent_ms : session_modified_ms(&ref->file);

    return time_ns_of_ms(ms) + ref->recent_ns;
}

bool session_wants_title(const struct session_row *row)
{
    return row->ref.file.size > 2 * (int64_t)WINDOW_BYTES && row->hidden != HIDDEN_SIDECHAIN &&
           row->hidden != HIDDEN_UNREADABLE &&
           (row->custom_title.n == 0 || (row->flags & SESSION_AI_TITLE));
}

void session_row_reset(struct session_row *row)
{
    struct arena arena = row->arena;

    arena_reset(&arena);
    *row = (struct session_row){
        .arena = arena,
        .created_ms = TIME_NONE,
        .modified_ms = TIME_NONE,
        .activity_ms = TIME_NONE,
        .expires_ms = TIME_NONE,
        .since_ms = TIME_NONE,
    };
}

const char *session_state_name(enum session_state state)
{
    static const char *const names[] = { [SESSION_UNKNOWN] = "",
                                         [SESSION_IDLE] = "idle",
                                         [SESSION_RUNNING] = "running",
                                         [SESSION_REQUIRES_ACTION] = "requires_action" };

    return names[state];
}

const char *session_kind_name(enum session_hidden kind)
{
    switch (kind) {
    case HIDDEN_SIDECHAIN: return "sub-agent";
    case HIDDEN_EMPTY: return "empty";
    case HIDDEN_COMMAND: return "command";
    default: return "";
    }
}

struct session_row *session_row_new(void)
{
    struct session_row *row = calloc(1, sizeof *row);

    if (row)
        session_row_reset(row);
    return row;
}

void session_row_free(struct session_row *row)
{
    if (!row)
        return;
    arena_fini(&row->arena);
    free(row);
}

bool session_row_keep(struct session_row *row)
{
    struct slice *const texts[] = { &row->ref.id,      &row->ref.path,      &row->ref.folder,
                                    &row->summary,     &row->custom_title,  &row->first_prompt,
                                    &row->last_prompt, &row->git_branch,    &row->cwd,
                                    &row->tag,         &row->model,         &row->agent_name,
                                    &row->parent_id,   &row->recorded_id,   &row->agent_setting,
                                    &row->agent_color, &row->mode,          &row->worktree_path,
                                    &row->pr_url,      &row->pr_repository, &row->waits_for,
                                    &row->shown_title, &row->bundle };

    row->metadata = SLICE("");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        /* A long text is cut between two characters. */
        struct slice *text = texts[i];

        if (text->n > SESSION_TEXT_MOST) {
            text->n = SESSION_TEXT_MOST;
            while (text->n && ((unsigned char)text->p[text->n] & 0xc0) == 0x80)
                text->n--;
        }
    }
    arena_fit(&row->arena, (const struct slice *const *)texts, sizeof texts / sizeof *texts);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = texts[i]->n ? arena_copy(&row->arena, *texts[i]) : SLICE("");
        if (!texts[i]->p)
            return false;
    }
    return true;
}

bool session_row_copy(const struct session_row *row, struct session_row *out)
{
    struct arena a = out->arena;

    *out = *row;
    out->arena = a;
    return session_row_keep(out);
}

struct slice session_row_path(const struct session_row *row)
{
    return row->bundle.n ? row->bundle : row->ref.path;
}

struct slice session_row_branch(const struct session_row *row)
{
    return slice_eq(row->git_branch, SLICE("HEAD")) ? (struct slice){ NULL, 0 } : row->git_branch;
}

struct slice session_tag_next(struct slice *tags)
{
    struct slice tag = { NULL, 0 };

    while (tag.n == 0 && tags->n > 0) {
        const char *comma = memchr(tags->p, ',', tags->n);
        size_t n = comma ? (size_t)(comma - tags->p) : tags->n, used = n + (comma != NULL);

        tag = utf8_js_trim((struct slice){ tags->p, n });
        *tags = (struct slice){ tags->p + used, tags->n - used };
    }
    return tag;
}

static bool has_tag(struct slice tags, struct slice tag)
{
    struct slice one;

    while ((one = session_tag_next(&tags)).n > 0)
        if (slice_eq(one, tag))
            return true;
    return false;
}

bool session_tags_include(struct slice tags, struct slice wanted)
{
    struct slice one;

    while ((one = session_tag_next(&wanted)).n > 0)
        if (!has_tag(tags, one))
            return false;
    return true;
}

enum err_code session_tags_join(struct slice tags, struct slice others, bool without,
                                struct buf *out)
{
    struct slice text[] = { tags, others }, one;

    for (size_t i = 0; i < (without ? 1u : 2u); i++)
        while ((one = session_tag_next(&text[i])).n > 0)
            if (!has_tag(without ? others : buf_slice(out), one) &&
                ((out->n > 0 && buf_add(out, SLICE(", "))) || buf_add(out, one)))
                return ERR_NOMEM;
    return ERR_OK;
}

struct slice session_row_title(const struct session_row *row)
{
    const struct slice names[] = { row->shown_title, row->summary, row->first_prompt,
                                   row->last_prompt };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (utf8_js_trim(names[i]).n > 0)
            return names[i];
    return SLICE("(no prompt yet)");
}

enum err_code session_facts_add(struct session_facts *f, const struct session_fact *fact,
                                struct err *e)
{
    if (fact->text.n == 0 && fact->json.n == 0)
        return ERR_OK;
    struct session_fact *more = arena_grow(&f->arena, f->fact, f->n, sizeof *more);

    if (!more)
        return err_nomem(e);
    f->fact = more;
    more[f->n] = *fact;
    more[f->n].text = arena_copy(&f->arena, fact->text);
    more[f->n].json = arena_copy(&f->arena, fact->json);
    if (!more[f->n].text.p || !more[f->n].json.p)
        return err_nomem(e);
    f->n++;
    return ERR_OK;
}

enum err_code session_facts_text(struct session_facts *f, const char *key, const char *label,
                                 struct slice text, struct err *e)
{
    const struct session_fact fact = { .key = key, .label = label, .text = text };

    return session_facts_add(f, &fact, e);
}

enum err_code session_facts_int(struct session_facts *f, const char *key, const char *label,
                                int64_t n, struct err *e)
{
    const char *text = arena_format(&f->arena, "%" PRId64, n);

    if (!text)
        return err_nomem(e);
    const struct session_fact fact = {
        .key = key, .label = label, .text = slice_of(text), .json = slice_of(text)
    };

    return session_facts_add(f, &fact, e);
}

void session_facts_fini(struct session_facts *f)
{
    arena_fini(&f->arena);
    *f = (struct session_facts){ .n = 0 };
}
