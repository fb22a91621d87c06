#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/blame/blame_text.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"

/* Who changed a file after the session's last recorded work on it: a later session, a command of the session itself
 * that names the file or covers it, or else a person. A later session did not leave the file as it is if the last text
 * that it gave it is known and is another one. A project that moved took all of its files with it. */

/* What the session's own records show about one file. */
struct own_work {
    int64_t edit_ms; /* the newest; 0: none */
    struct {
        int64_t ms;
        const char *line;      /* its first line */
    } command[BY_COMMAND + 1]; /* the newest one that perhaps changed the file, and that did */
};

struct file_works {
    struct rewind_preview *preview;
    const char **path;
    struct own_work *work;   /* the work of each path */
    size_t *entry;           /* its number in the preview */
    struct blame_text *left; /* the last text that a later session gave it */
    bool *is_read;           /* by the session whose edits are read */
    bool *is_replayed;
    size_t n;
};

/* The session that changed the file after this one; NULL if none did. */
static const struct rewind_other *later_of(const struct file_works *w, size_t i)
{
    const struct rewind_other *other = w->preview->entry[w->entry[i]].target->other;

    return other && other->at_ms > w->work[i].edit_ms ? other : NULL;
}

enum { COMMAND_SHOWN = 80 };

/* The name of the file is a word of the command, or the end of a path in it. */
static bool command_names(struct slice command, const char *path)
{
    static const char ends[] = " \t\n;&|<>(){},'\"`=*/";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);

    if (!command.n)
        return false;
    for (const char *p = command.p, *end = command.p + command.n;
         n && (p = memmem(p, (size_t)(end - p), name, n)); p++)
        if ((p == command.p || memchr(ends, p[-1], sizeof ends - 1)) &&
            (p + n == end || memchr(ends, p[n], sizeof ends - 1)))
            return true;
    return false;
}

/* ---- commands that name what is above a file, or a pattern ---- */

enum { WORD_MOST = 256 };

/* Cuts the first word off a command, without quotes. Returns false if it has no more words. */
static bool cut_word(struct slice *command, char word[WORD_MOST])
{
    static const char between[] = " \t\n;&|<>(){},'\"`=";
    size_t n = 0;

    for (; command->n; command->p++, command->n--)
        if (memchr(between, command->p[0], sizeof between)) {
            if (n)
                break;
        } else if (n < WORD_MOST - 1) {
            word[n++] = command->p[0];
        }
    word[n] = '\0';
    return n > 0;
}

/* A word of a command, perhaps a pattern, is the path below the root of this file or of a directory above it, or the end
 * of that path: where the command ran is not known. */
static bool word_covers(const char *word, const char *root, const char *path)
{
    const int how = FNM_PATHNAME | FNM_PERIOD | FNM_LEADING_DIR;
    const char *name = root ? strrchr(root, '/') : NULL, *from = path + (root ? strlen(root) : 0);
    const char *below = name ? strstr(word, name) : NULL;
    char pattern[WORD_MOST];
    size_t n;

    if (below && below[strlen(name)] == '/')
        word = below + strlen(name);
    while (*word == '/' || slice_starts(slice_of(word), "./") ||
           slice_starts(slice_of(word), "../"))
        word += strcspn(word, "/") + 1;
    snprintf(pattern, sizeof pattern, "%s", word);
    for (n = strlen(pattern); n && pattern[n - 1] == '/'; n--)
        pattern[n - 1] = '\0';
    while (n && (from = strchr(from, '/')))
        if (fnmatch(pattern, ++from, how) == 0)
            return true;
    return false;
}

/* Whether `find` selects a file: certainly if it asks for nothing or for this name, perhaps if it asks for more. */
static enum rewind_by_command find_selects(struct slice command, const char *path)
{
    static const char *const others[] = { "-amin",     "-atime", "-cmin",  "-ctime", "-empty",
                                          "-maxdepth", "-mmin",  "-mtime", "-newer", "-not",
                                          "-path",     "-perm",  "-prune", "-regex", "-size",
                                          "-user",     "!" };
    char word[WORD_MOST];
    bool finds = false, asks = false, named = false, others_ask = false, pattern = false;

    while (cut_word(&command, word)) {
        const bool name = strcmp(word, "-name") == 0 || strcmp(word, "-iname") == 0;

        finds = finds || strcmp(word, "find") == 0;
        asks = asks || name;
        named = named || (pattern && fnmatch(word, strrchr(path, '/') + 1, 0) == 0);
        pattern = name;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            others_ask = others_ask || slice_starts(slice_of(word), others[i]);
    }
    return !finds || (!others_ask && (named || !asks)) ? BY_COMMAND
           : asks && !named && !others_ask             ? BY_NO_COMMAND
                                                       : BY_COMMAND_PERHAPS;
}

/* The files that it changes are named elsewhere: in its input, in rules of a project, in a script, in a commit. */
static bool command_may_sweep(struct slice command, bool changes)
{
    static const char *const programs[] = { "apply",       "autopep8", "black",  "checkout",
                                            "cherry-pick", "isort",    "merge",  "parallel",
                                            "patch",       "pull",     "rebase", "revert",
                                            "rustfmt",     "switch",   "tar",    "unzip" };
    static const char *const shells[] = { "python", "python3", "node", "perl",
                                          "ruby",   "php",     "bash", "sh" };
    static const char *const no_script[] = { "-m", "-V", "-v", "--version", "--test" };
    char word[WORD_MOST];
    bool runs = false, may = false;

    while (!may && cut_word(&command, word)) {
        const bool option = word[0] == '-';

        may = runs || (changes && strcmp(word, "xargs") == 0) ||
              (!option && (strstr(word, "clean") || strstr(word, "fmt") || strstr(word, "format")));
        for (size_t i = 0; may && runs && i < sizeof no_script / sizeof *no_script; i++)
            may = strcmp(word, no_script[i]) != 0;
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            may = may || strcmp(word, programs[i]) == 0;
        runs = false;
        for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
            runs = runs || strcmp(word, shells[i]) == 0;
    }
    return may;
}

/* "rm -rf src", "rm *", "git stash": it changes files, and names a directory above this one, a pattern, or all. */
static enum rewind_by_command command_sweeps(struct slice command, const char *root,
                                             const char *path)
{
    static const char *const changing[] = { "rm",    "mv",    "rmdir",    "shred",   "rsync",
                                            "clean", "reset", "checkout", "restore", "-delete",
                                            "-i",    "-pi",   "--write",  "--fix" };
    struct slice rest = command;
    char word[WORD_MOST];
    bool changes = false;

    if (!command.n || (root && strncmp(path, root, strlen(root)) != 0))
        return BY_NO_COMMAND;
    if (slice_has(command, "git clean") || slice_has(command, "git stash") ||
        slice_has(command, "git reset --hard"))
        return BY_COMMAND;
    while (cut_word(&rest, word))
        for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
            changes = changes || strcmp(word, changing[i]) == 0;
    for (rest = command; changes && cut_word(&rest, word);)
        if (word_covers(word, root, path) || strcmp(word, ".") == 0)
            return find_selects(command, path);
    return command_may_sweep(command, changes) ? BY_COMMAND_PERHAPS : BY_NO_COMMAND;
}

static enum err_code note_own_work(const struct edit *edit, void *arg, struct err *e)
{
    struct file_works *w = arg;
    bool command = edit->kind == EDIT_SEEN && edit->after_known == EDIT_UNKNOWN;

    /* A file that was only read was not changed, but a command may have done more than was seen. */
    if (edit->time_ms == TIME_NONE || (edit->kind == EDIT_SEEN && !command))
        return ERR_OK;
    for (size_t i = 0; i < w->n; i++) {
        const struct edit_query of_file = { .path = &w->path[i], .paths = 1 };
        struct own_work *work = &w->work[i];

        if (!edit_wanted(&of_file, edit))
            continue;
        if (!command && edit->time_ms >= work->edit_ms)
            work->edit_ms = edit->time_ms;
        const enum rewind_by_command by =
            !command ? BY_NO_COMMAND
            : command_names(edit->command, w->path[i])
                ? BY_COMMAND
                : command_sweeps(edit->command, w->preview->plan->root, w->path[i]);

        if (!by || edit->time_ms < work->command[by].ms)
            continue;
        const char *newline = memchr(edit->command.p, '\n', edit->command.n);
        size_t n = newline ? (size_t)(newline - edit->command.p) : edit->command.n;
        struct slice shown = { edit->command.p, n < COMMAND_SHOWN ? n : COMMAND_SHOWN };

        work->command[by].ms = edit->time_ms;
        work->command[by].line = arena_copy(&w->preview->arena, shown).p;
        if (!work->command[by].line)
            return err_nomem(e);
    }
    return ERR_OK;
}

/* ---- the last version of a later session ---- */

/* The edits of one session, replayed for each file. */
static enum err_code edited_by_replay_edit(const struct edit *edit, void *arg, struct err *e)
{
    struct file_works *w = arg;

    for (size_t i = 0; i < w->n; i++) {
        const struct edit_query of_file = { .path = &w->path[i], .paths = 1 };
        struct blame_text *left = &w->left[i];
        bool whole = edit->kind == EDIT_RENAME || strcmp(edit->path, w->path[i]) != 0;

        if (!w->is_read[i] || !edit_wanted(&of_file, edit))
            continue;
        if (edit->kind == EDIT_SEEN && edit->after_known != EDIT_UNKNOWN)
            continue;
        if (edit->kind != EDIT_SEEN && !whole)
            TRY(blame_text_edit(left, edit, BLAME_NOBODY, e));
        else if (edit->kind != EDIT_SEEN || command_names(edit->command, w->path[i]))
            left->known = false;
    }
    return ERR_OK;
}

/* Replays what each later session did to its files. */
static enum err_code read_later_work(struct file_works *w, struct err *e)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct rewind_other *other = later_of(w, i);
        struct edit_query q = { .path = w->path, .paths = w->n, .reads = true, .files_only = true };

        if (!other || !other->ref || !other->ref->store->ops->edits || w->is_replayed[i])
            continue;
        for (size_t k = 0; k < w->n; k++) {
            const struct rewind_other *same = later_of(w, k);

            w->is_read[k] = same && same->ref && same->ref->store == other->ref->store &&
                            strcmp(same->session, other->session) == 0;
            w->is_replayed[k] |= w->is_read[k];
        }
        enum err_code rc = other->ref->store->ops->edits(other->ref->store, other->ref, &q,
                                                         edited_by_replay_edit, w, NULL);

        if (rc == ERR_NOMEM)
            return err_nomem(e);
        for (size_t k = 0; rc && k < w->n; k++)
            w->left[k].known &= !w->is_read[k];
    }
    return ERR_OK;
}

/* Sets *differs to true if the later session left another text than that of the present file. */
static enum err_code differs_from_left(const struct rewind_preview *p, const struct rewind_entry *x,
                                       const struct blame_text *left, bool *differs, struct err *e)
{
    AUTO_BUF b = { 0 };
    struct rewind_inspected look = { 0 };
    struct slice plain;

    *differs = false;
    if (!left->known || left->fragments)
        return ERR_OK;
    enum err_code rc = rewind_inspect(p->plan, x->target, &look, e);

    if (!rc && !look.rule && look.seen.exists && look.present.held) {
        if (blame_text_plain(buf_slice(&look.present.bytes), &b, &plain))
            rc = err_nomem(e);
        else
            *differs = !blame_text_is(left, EDIT_TEXT, plain);
    }
    rewind_inspected_fini(&look);
    return rc;
}

/* ---- the reason ---- */

static enum err_code explain(struct rewind_preview *p, struct rewind_entry *x,
                             const struct own_work *own, const struct blame_text *left,
                             struct err *e)
{
    const struct rewind_other *other = x->target->other;
    const char *did = x->seen.exists ? "changed" : "deleted", *why;
    bool by_person;

    if (p->moved && rewind_is_inside(p->plan, x->target->path)) {
        why = arena_format(&p->arena,
                           "the project moved or was deleted: %s is gone (see reprise move)",
                           p->plan->root);
    } else if (own->command[BY_COMMAND].line && own->command[BY_COMMAND].ms >= own->edit_ms &&
               (!other || other->at_ms < own->command[BY_COMMAND].ms)) {
        x->by_command = BY_COMMAND;
        why = arena_format(&p->arena, "%s since by a command of the session: %s", did,
                           own->command[BY_COMMAND].line);
    } else if (other && other->at_ms > own->edit_ms && x->seen.exists) {
        TRY(differs_from_left(p, x, left, &by_person, e));
        x->later = by_person ? NULL : other;
        why = arena_format(&p->arena,
                           by_person ? "edited by hand since \"%s\" changed it"
                                     : "changed later by \"%s\"",
                           other->title ? other->title : other->session);
    } else if (own->command[BY_COMMAND_PERHAPS].line &&
               own->command[BY_COMMAND_PERHAPS].ms >= own->edit_ms) {
        x->by_command = BY_COMMAND_PERHAPS;
        why = arena_format(&p->arena, "%s since, perhaps by a command of the session: %s", did,
                           own->command[BY_COMMAND_PERHAPS].line);
    } else {
        return ERR_OK;
    }
    x->why = why;
    return why ? ERR_OK : err_nomem(e);
}

enum err_code rewind_explain_edited(struct rewind_preview *p, struct err *e)
{
    struct file_works w = { .preview = p };
    struct arena *a = &p->arena;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < p->n; i++)
        w.n += p->entry[i].rule == REWIND_RULE_EDITED;
    if (w.n == 0)
        return ERR_OK;
    w.path = arena_zalloc(a, w.n * sizeof *w.path);
    w.work = arena_zalloc(a, w.n * sizeof *w.work);
    w.entry = arena_zalloc(a, w.n * sizeof *w.entry);
    w.left = arena_zalloc(a, w.n * sizeof *w.left);
    w.is_read = arena_zalloc(a, w.n * sizeof *w.is_read);
    w.is_replayed = arena_zalloc(a, w.n * sizeof *w.is_replayed);
    if (!w.path || !w.work || !w.entry || !w.left || !w.is_read || !w.is_replayed)
        return err_nomem(e);
    w.n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->entry[i].rule == REWIND_RULE_EDITED) {
            w.path[w.n] = p->entry[i].target->path;
            w.entry[w.n++] = i;
        }

    /* The session's own work is read first, because a later session is one that changed a file after it. */
    const struct session_ref *ref = p->plan->ref;
    const struct edit_query q = { .path = w.path, .paths = w.n, .reads = true, .files_only = true };

    if (ref && ref->store->ops->edits &&
        ref->store->ops->edits(ref->store, ref, &q, note_own_work, &w, NULL) == ERR_NOMEM)
        rc = err_nomem(e);
    if (!rc)
        rc = read_later_work(&w, e);
    for (size_t i = 0; i < w.n && !rc; i++)
        rc = explain(p, &p->entry[w.entry[i]], &w.work[i], &w.left[i], e);
    for (size_t i = 0; i < w.n; i++)
        blame_text_fini(&w.left[i]);
    return rc;
}
