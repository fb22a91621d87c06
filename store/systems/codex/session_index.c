#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/array.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/codex/codex.h"
#include "store/systems/common/config_dir.h"

/* session_index.jsonl: each new name of a thread is appended as a line, so the last line of a
 * thread is valid. A file over the limit is read from its end, which leaves out the oldest names. */

enum { NAMES_MAX = 64 << 20 };

struct codex_names {
    pthread_mutex_t mutex;
    char *path;
    struct file_id seen; /* the file that was read; zero: none */
    struct arena arena;
    struct slice_set threads;
    struct slice *name; /* by number */
    size_t cap;
};

struct codex_names *codex_names_new(const char *store)
{
    struct codex_names *n = calloc(1, sizeof *n);

    if (n && pthread_mutex_init(&n->mutex, NULL) != 0) {
        free(n);
        return NULL;
    }
    if (n && !(n->path = config_dir_join(store, "session_index.jsonl"))) {
        codex_names_free(n);
        return NULL;
    }
    return n;
}

static void forget(struct codex_names *n)
{
    arena_fini(&n->arena);
    slice_set_fini(&n->threads);
    free(n->name);
    n->name = NULL;
    n->cap = 0;
    n->seen = (struct file_id){ 0 };
}

void codex_names_free(struct codex_names *n)
{
    if (!n)
        return;
    forget(n);
    pthread_mutex_destroy(&n->mutex);
    free(n->path);
    free(n);
}

static bool put_name(struct codex_names *n, struct slice id, struct slice name)
{
    uint32_t number = slice_set_find(&n->threads, id);

    name = arena_copy(&n->arena, name);
    if (!name.p || !array_reserve(n->name, n->cap, n->threads.n + 1))
        return false;
    if (number == SLICE_SET_NONE) {
        id = arena_copy(&n->arena, id);
        if (!id.p || slice_set_add(&n->threads, id, &number))
            return false;
    }
    n->name[number] = name;
    return true;
}

static void read_names(struct codex_names *n, struct slice text)
{
    struct arena scratch = { 0 };
    struct slice line, id, name;
    bool torn, more = true;

    while (more && slice_line(&text, &line, &torn)) {
        arena_reset(&scratch);
        if (!json_valid(line) || !json_get_text(line, "id", &scratch, &id) || !codex_is_id(id) ||
            !json_get_text(line, "thread_name", &scratch, &name))
            continue;
        more = put_name(n, id, name);
    }
    arena_fini(&scratch);
}

static void read_file(struct codex_names *n)
{
    struct file f;
    struct buf text = { 0 };

    if (file_open(AT_FDCWD, n->path, 0, &f, NULL))
        return;
    size_t size = f.id.size > NAMES_MAX ? NAMES_MAX : (size_t)f.id.size;

    n->seen = f.id;
    if (!file_read_part(&f, f.id.size - (int64_t)size, size, &text, NULL))
        read_names(n, buf_slice(&text));
    file_close(&f);
    buf_fini(&text);
}

/* A list asks for the name of each row, but the file is read only after a change. */
static void refresh(struct codex_names *n)
{
    struct stat sb;
    struct file_id now = { 0 };

    if (lstat(n->path, &sb) == 0 && S_ISREG(sb.st_mode))
        now = file_id_of(&sb);
    if (memcmp(&now, &n->seen, sizeof now) == 0)
        return;
    forget(n);
    if (now.ino)
        read_file(n);
}

struct slice codex_names_find(struct codex_names *n, struct slice thread, struct arena *a)
{
    struct slice name = { NULL, 0 };

    pthread_mutex_lock(&n->mutex);
    refresh(n);
    uint32_t number = slice_set_find(&n->threads, thread);

    if (number != SLICE_SET_NONE)
        name = arena_copy(a, n->name[number]);
    pthread_mutex_unlock(&n->mutex);
    return name;
}
