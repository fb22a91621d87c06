#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/io/rows.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/gemini/gemini.h"

enum {
    FIRST_LINE = 4096,
    TAIL = 16 << 10, /* of a log, in which its last time usually is */
    TWIN_MAX = 64 << 20,
    WORTH_A_THREAD = 64, /* fewer files take less time than a thread takes to start */
    DESCRIBE_MAX = 1 << 20,
};

bool gemini_is_id(struct slice id)
{
    if (id.n < 8 || id.n > 64 || id.p[0] == '-')
        return false;
    for (size_t i = 0; i < id.n; i++)
        if (!id.p[i] || !strchr("0123456789abcdefABCDEF-", id.p[i]))
            return false;
    return true;
}

/* ---- the files of a folder ---- */

struct found {
    struct slice id, path;
    struct file_id file;
    int64_t updated_ms; /* as recorded in the session; 0: not recorded */
};

struct folder {
    struct arena arena, second; /* own the texts */
    struct found *file;
    size_t n;
};

bool gemini_is_document(const char *name)
{
    size_t n = strlen(name);

    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

bool gemini_is_chat(const char *name)
{
    size_t n = strlen(name);

    return strncmp(name, "session-", 8) == 0 &&
           (gemini_is_document(name) || (n > 6 && strcmp(name + n - 6, JSONL_SUFFIX) == 0));
}

/* The newest of the times in these lines; 0: none. */
static int64_t newest_update(struct slice lines)
{
    struct arena a = { 0 };
    struct slice line, value = { NULL, 0 }, time;
    int64_t ms = 0;
    bool torn;

    while (!ms && slice_last_line(&lines, &line, &torn)) {
        bool is =
            slice_has(line, "\"lastUpdated\"") &&
            (json_at(line, "$set.lastUpdated", &value) || json_get(line, "lastUpdated", &value));

        if (!is || json_type(value) != JSON_STRING || !json_text(value, &a, &time) ||
            !time_parse(time, &ms) || ms < 0)
            ms = 0;
    }
    arena_fini(&a);
    return ms;
}

static bool see_update(struct slice line, void *arg)
{
    int64_t *ms = arg;

    *ms = newest_update(line);
    return !*ms;
}

/* Gemini sorts its list by this time. Titles that it adds later, and a resume without a prompt, change the file all the
 * same, and a resume repeats the whole conversation in one line, however long. */
static int64_t read_update(const struct file *f, struct buf *text)
{
    int64_t ms = 0;

    if (f->id.size <= TAIL)
        return newest_update(buf_slice(text));
    if (!file_read_part(f, f->id.size - TAIL, TAIL, text, NULL))
        ms = newest_update(buf_slice(text));
    if (!ms && rows_backward(f, f->id.size, see_update, &ms, NULL))
        ms = 0;
    return ms;
}

/* Only the id is read through a link, because commands refuse it by its id. */
static bool read_head_and_end(int dir, const char *name, bool link, struct arena *a,
                              struct found *out)
{
    bool document = gemini_is_document(name);
    struct file f;
    struct buf text = { 0 };

    out->id = (struct slice){ NULL, 0 };
    if (file_open(dir, name, link ? FILE_FOLLOW : 0, &f, NULL))
        return false;
    out->file = f.id;
    /* One reading is enough for both ends of a short file. */
    const size_t most = document || link || f.id.size > TAIL ? FIRST_LINE : TAIL;
    const size_t size = f.id.size < (int64_t)most ? (size_t)f.id.size : most;

    if (!file_read_part(&f, 0, size, &text, NULL)) {
        /* The id is in the first bytes of a file, as is the time of a document. */
        const size_t n = text.n < FIRST_LINE ? text.n : FIRST_LINE;
        struct slice head = rows_skip_mark((struct slice){ text.p, n });
        const char *end = document || !head.n ? NULL : memchr(head.p, '\n', head.n);

        if (end)
            head.n = (size_t)(end - head.p);
        out->id = arena_copy(a, json_text_at(head, "sessionId", a));
        if (document && (!time_parse(json_text_at(head, "lastUpdated", a), &out->updated_ms) ||
                         out->updated_ms < 0))
            out->updated_ms = 0;
    }
    if (gemini_is_id(out->id) && !document && !link)
        out->updated_ms = read_update(&f, &text);
    file_close(&f);
    buf_fini(&text);
    return gemini_is_id(out->id);
}

bool gemini_is_of_another(int dir, const char *name, struct slice id, struct arena *a)
{
    struct found x;

    return gemini_is_chat(name) && read_head_and_end(dir, name, true, a, &x) && !slice_eq(x.id, id);
}

struct chat_name {
    const char *name;
    unsigned char type; /* as in struct dirent */
};

static size_t messages_in(const struct found *x)
{
    struct gemini_chat c;
    size_t n;

    if (gemini_chat_read(x->path.p, TWIN_MAX, &c, NULL))
        return 0;
    n = c.n;
    gemini_chat_fini(&c);
    return n;
}

static int compare_found(const void *x, const void *y)
{
    const struct found *a = x, *b = y;
    int by_id = slice_compare(a->id, b->id);

    return by_id ? by_id : strcmp(a->path.p, b->path.p);
}

/* If several files have one id, the one with the most messages stays, or the newer of equal ones. */
static void drop_twins(struct folder *f)
{
    size_t n = 0;

    if (f->n)
        qsort(f->file, f->n, sizeof *f->file, compare_found);
    for (size_t i = 0; i < f->n; i++) {
        struct found *a = n ? &f->file[n - 1] : NULL, *b = &f->file[i];

        if (!a || !slice_eq(a->id, b->id)) {
            f->file[n++] = *b;
            continue;
        }
        size_t in_a = messages_in(a), in_b = messages_in(b);

        if (in_b > in_a || (in_b == in_a && b->file.mtime_ns > a->file.mtime_ns))
            *a = *b;
    }
    f->n = n;
}

/* The files that one thread reads. */
struct share {
    int dir;
    const char *path;
    const struct chat_name *name;
    size_t n;
    struct folder folder;
};

static void *gemini_read_share(void *arg)
{
    struct share *s = arg;

    for (size_t i = 0; i < s->n; i++) {
        const char *name = s->name[i].name;
        const bool is_known = s->name[i].type == DT_REG; /* opening it shows the rest */
        struct folder *f = &s->folder;
        struct stat sb;
        struct found x = { .path = { NULL, 0 } };

        if (!is_known && (fstatat(s->dir, name, &sb, AT_SYMLINK_NOFOLLOW) != 0 ||
                          !(S_ISREG(sb.st_mode) || S_ISLNK(sb.st_mode))))
            continue;
        if (read_head_and_end(s->dir, name, !is_known && S_ISLNK(sb.st_mode), &f->arena, &x))
            x.path.p = arena_format(&f->arena, "%s/%s", s->path, name);
        struct found *list = x.path.p ? arena_grow(&f->arena, f->file, f->n, sizeof *list) : NULL;

        if (!list)
            continue;
        x.path.n = strlen(x.path.p);
        if (!is_known)
            x.file = file_id_of(&sb);
        f->file = list;
        list[f->n++] = x;
    }
    return NULL;
}

/* errno is not 0 if some names could not be read. */
static struct chat_name *read_chat_names(DIR *dir, struct arena *a, size_t *n)
{
    struct chat_name *name = NULL, *grown;
    const struct dirent *entry;

    for (*n = 0; (errno = 0, entry = readdir(dir));) {
        if (!gemini_is_chat(entry->d_name))
            continue;
        const char *copy = arena_copy_text(a, entry->d_name);

        grown = copy ? arena_grow(a, name, *n, sizeof *name) : NULL;
        if (!grown)
            break;
        name = grown;
        name[(*n)++] = (struct chat_name){ copy, entry->d_type };
    }
    return name;
}

/* Each file is opened for its id, which takes as long as the rest of a list, so a second thread reads half of many. */
static bool gemini_read_folder(const struct scope *scope, const char *path, struct folder *out)
{
    struct arena names = { 0 };
    DIR *dir = opendir(path);
    pthread_t thread;
    size_t n;

    *out = (struct folder){ .n = 0 };
    if (!dir) {
        session_scope_left_out(scope, path);
        return false;
    }
    const struct chat_name *name = read_chat_names(dir, &names, &n);

    if (errno || faccessat(dirfd(dir), ".", X_OK, AT_EACCESS) != 0)
        session_scope_left_out(scope, path);
    /* The id is in the file, so that one that cannot be opened has no row to report it. */
    for (; scope && scope->left_out && n; n--)
        if (faccessat(dirfd(dir), name[n - 1].name, R_OK, AT_EACCESS) != 0 && errno == EACCES)
            session_scope_left_out_in(scope, path, name[n - 1].name);
    const size_t half = n < WORTH_A_THREAD ? n : n / 2;
    struct share first = { dirfd(dir), path, name, half, { .n = 0 } };
    struct share second = { dirfd(dir), path, name ? name + half : NULL, n - half, { .n = 0 } };
    const bool started = second.n && pthread_create(&thread, NULL, gemini_read_share, &second) == 0;

    gemini_read_share(&first);
    if (started)
        pthread_join(thread, NULL);
    else
        gemini_read_share(&second);
    closedir(dir);

    *out = first.folder;
    out->second = second.folder.arena;
    struct found *all = second.folder.n
                            ? arena_alloc(&out->arena, (out->n + second.folder.n) * sizeof *all)
                            : out->file;

    if (all && second.folder.n) {
        if (out->n)
            memcpy(all, out->file, out->n * sizeof *all);
        memcpy(all + out->n, second.folder.file, second.folder.n * sizeof *all);
        out->n += second.folder.n;
        out->file = all;
    }
    out->arena.failed |= out->second.failed || names.failed;
    arena_fini(&names);
    drop_twins(out);
    return true;
}

/* ---- enumerate, find ---- */

struct walk {
    const struct store *store;
    const struct scope *scope; /* NULL: everything */
    session_ref_fn *fn;
    void *arg;
    struct folder_places seen;
    bool more;
};

static bool gemini_visit_project(struct walk *w, const char *folder, const char *name)
{
    struct arena a = { 0 };
    struct folder f;
    const char *dir = arena_format(&a, "%s/%s", folder, name);
    const char *chats = dir ? arena_format(&a, "%s/chats", dir) : NULL;
    struct slice root =
        dir ? gemini_directory(w->store, w->scope, slice_of(dir), &a) : (struct slice){ NULL, 0 };
    bool ok = true;

    /* The folder of a project outside of the scope is not read at all. */
    if (chats && (!w->scope || config_dir_in_scope(w->scope, root, &a)) &&
        gemini_read_folder(w->scope, chats, &f)) {
        for (size_t i = 0; i < f.n && w->more; i++) {
            const struct session_ref ref = { .store = w->store,
                                             .id = f.file[i].id,
                                             .path = f.file[i].path,
                                             .folder = slice_of(name),
                                             .file = f.file[i].file,
                                             .preread = root,
                                             .recent_ms = f.file[i].updated_ms };

            w->more = w->fn(&ref, w->arg);
        }
        ok = !f.arena.failed;
        arena_fini(&f.arena);
        arena_fini(&f.second);
    }
    ok = ok && !a.failed;
    arena_fini(&a);
    return ok;
}

static enum err_code walk_projects(struct walk *w, struct err *e)
{
    const char *folder = ((const struct jsonl_store *)w->store)->folder;
    const struct dirent *entry = NULL;
    DIR *dir = opendir(folder);
    bool ok = true;

    w->more = true;
    if (!dir)
        session_scope_left_out(w->scope, folder);
    for (int links = 0; dir && links <= 1; links++, rewinddir(dir)) { /* a folder by its own name */
        while (ok && w->more && (errno = 0, entry = readdir(dir))) {
            if (entry->d_name[0] == '.' || (entry->d_type == DT_LNK) != links)
                continue;
            int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            bool first = false;

            if (fd < 0 && errno == EACCES)
                session_scope_left_out_in(w->scope, folder, entry->d_name);
            ok = fd < 0 || !folder_places_add(&w->seen, fd, &first);
            if (fd >= 0)
                close(fd);
            if (ok && first)
                ok = gemini_visit_project(w, folder, entry->d_name);
        }
        if (!entry && errno && !links)
            session_scope_left_out(w->scope, folder);
    }
    if (dir)
        closedir(dir);
    folder_places_fini(&w->seen);
    return ok ? ERR_OK : err_nomem(e);
}

enum err_code gemini_enumerate(const struct store *st, const struct scope *scope,
                               session_ref_fn *fn, void *arg, struct err *e)
{
    struct walk w = { .store = st, .scope = scope, .fn = fn, .arg = arg };

    return walk_projects(&w, e);
}

struct search {
    struct slice id;
    struct arena *arena;
    struct session_ref ref;
    bool found, failed;
};

static bool gemini_match_id(const struct session_ref *ref, void *arg)
{
    struct search *s = arg;

    if (!slice_eq(ref->id, s->id))
        return true;
    s->found = true;
    s->failed = !session_ref_copy(s->arena, ref, &s->ref);
    return false;
}

enum err_code gemini_find(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e)
{
    struct search s = { .id = id, .arena = a };
    struct walk w = { .store = st, .fn = gemini_match_id, .arg = &s };

    (void)scope;
    if (!gemini_is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not a Gemini session id");
    enum err_code rc = walk_projects(&w, e);

    if (rc || s.failed)
        return rc ? rc : err_nomem(e);
    if (!s.found)
        return err_set(e, ERR_NOT_FOUND, st->path, "find session: no such session");
    *ref = s.ref;
    return ERR_OK;
}

enum err_code gemini_at_path(const struct store *st, struct slice path, struct arena *a,
                             struct session_ref *ref, struct err *e)
{
    const char *file = arena_copy(a, path).p;
    const char *name = file ? strrchr(file, '/') : NULL;
    struct found x = { .updated_ms = 0 };

    return name && gemini_is_chat(name + 1) && read_head_and_end(AT_FDCWD, file, true, a, &x)
               ? jsonl_ref_at(st, file, x.id, a, ref, e)
               : err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
}

/* ---- describe ---- */

/* Gemini's own list does not use these as a title. */
static bool gemini_is_command(struct slice text)
{
    return slice_starts(text, "/") || slice_starts(text, "?");
}

static bool has_answer(const struct gemini_chat *c, struct arena *a)
{
    struct slice text;

    for (size_t i = 0; i < c->n; i++)
        if (gemini_kind(&c->message[i], a, &text) == GEMINI_ANSWER)
            return true;
    return false;
}

static void gemini_read_end(const struct gemini_chat *c, struct session_row *row, struct arena *a)
{
    bool ended = false;
    struct slice text;

    for (size_t i = c->n; i > 0 && (!ended || row->activity_ms == TIME_NONE); i--) {
        const struct gemini_message *m = &c->message[i - 1];
        enum gemini_kind kind = gemini_kind(m, a, &text);

        if (row->activity_ms == TIME_NONE)
            row->activity_ms = json_time_at(m->raw, "timestamp", a);
        if (ended)
            continue;
        if (!row->model.n)
            row->model = json_text_at(m->raw, "model", a);
        row->flags |= kind == GEMINI_PROMPT ? SESSION_INTERRUPTED : 0U;
        ended = kind == GEMINI_PROMPT || kind == GEMINI_ANSWER;
    }
}

/* Returns true if the parts of a long log that were read contain the first prompt and the last message. */
static bool has_both_ends(const struct gemini_chat *c, struct arena *a)
{
    const char *gap = c->text.p + c->front;
    struct slice text;
    size_t i = 0;

    while (i < c->n &&
           (!json_string_is(c->message[i].type, "user") ||
            gemini_kind(&c->message[i], a, &text) != GEMINI_PROMPT || gemini_is_command(text)))
        i++;
    return i < c->n && c->message[i].raw.p < gap && c->message[c->n - 1].raw.p >= gap;
}

static void gemini_complete_row(const struct gemini_chat *c, const struct scope *scope,
                                struct session_row *row, struct arena *a)
{
    /* A command is the first prompt only if there is no other one. */
    struct slice text;

    for (size_t i = 0; i < c->n; i++) {
        if (!json_string_is(c->message[i].type, "user") ||
            gemini_kind(&c->message[i], a, &text) != GEMINI_PROMPT)
            continue;
        if (!row->first_prompt.n ||
            (gemini_is_command(row->first_prompt) && !gemini_is_command(text)))
            row->first_prompt = text;
        row->last_prompt = text;
    }

    gemini_read_end(c, row, a);
    if (!time_parse(c->start, &row->created_ms))
        row->created_ms = TIME_NONE;
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;

    /* The time in the file counts, not that of the file. */
    const struct gemini *x = (const struct gemini *)row->ref.store;
    int64_t updated = row->ref.recent_ms ? row->ref.recent_ms : row->modified_ms;

    if (x->retention_ms != TIME_NONE)
        row->expires_ms = updated + x->retention_ms;

    row->custom_title = c->summary;
    row->flags |= c->summary.n ? SESSION_AI_TITLE : 0U;
    row->flags |=
        c->text.n && c->text.p[c->text.n - 1] != '\n' && !gemini_is_document(row->ref.path.p)
            ? SESSION_TORN
            : 0U;
    row->flags |= rows_skip_mark(buf_slice(&c->text)).n < c->text.n ? SESSION_DAMAGED : 0U;
    for (size_t i = 0; i < c->damaged_n; i++)
        row->flags |= c->damaged[i].torn ? 0U : SESSION_DAMAGED;
    row->summary = c->summary.n          ? c->summary
                   : row->first_prompt.n ? row->first_prompt
                                         : row->ref.id;
    row->can = CAN_RESUME | CAN_REWIND;
    const bool elsewhere = !config_dir_in_scope(scope, row->cwd, a);

    if (elsewhere && row->cwd.n)
        row->hidden = HIDDEN_COLLISION;
    else if (c->sub_agent)
        row->hidden = HIDDEN_SIDECHAIN;
    else if ((!row->first_prompt.n || gemini_is_command(row->first_prompt)) && !has_answer(c, a))
        row->hidden = HIDDEN_EMPTY;
    else if (elsewhere)
        row->hidden = HIDDEN_COLLISION;
}

enum err_code gemini_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct arena a = { 0 };
    struct gemini_chat c = { .n = 0 };
    enum err_code rc;

    (void)st;
    session_row_reset(row);
    row->ref = *ref;
    row->ref.preread = (struct slice){ NULL, 0 };

    /* Read more of a session only if a screenshot or a paste is in front of its first prompt, or
     * after its last one. */
    const size_t most[] = { DESCRIBE_MAX, DESCRIBE_MAX * 8, TWIN_MAX };
    size_t i = gemini_is_document(ref->path.p) ? 2 : 0;

    rc = gemini_chat_read(ref->path.p, most[i], &c, e);
    struct arena scratch = { 0 };

    while (!rc && i < 2 && c.partial && !has_both_ends(&c, &scratch)) {
        gemini_chat_fini(&c);
        arena_reset(&scratch);
        rc = gemini_chat_read(ref->path.p, most[++i], &c, e);
    }
    arena_fini(&scratch);

    if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
        return rc;
    if (rc) {
        row->hidden = HIDDEN_UNREADABLE;
        row->modified_ms = row->activity_ms = session_modified_ms(&ref->file);
    } else {
        row->cwd = ref->preread.n ? ref->preread : gemini_project(ref, scope, &a);
        gemini_complete_row(&c, scope, row, &a);
    }
    rc = !a.failed && session_row_keep(row) ? ERR_OK : err_nomem(e);
    gemini_chat_fini(&c);
    arena_fini(&a);
    return rc;
}
