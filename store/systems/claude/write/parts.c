#include <string.h>

#include "store/systems/claude/claude.h"

/* Everything that is named by a session's id. The first two are what the vendor's own delete removes; file history,
 * tasks and the rest it leaves behind for good (claude.md 5.2, 8). The former lie beside the transcript and begin with
 * its name without the suffix, the latter lie below the configuration directory and begin with the id. */
enum { OWN_PARTS = 2 };

/* clang-format off */
static const struct slice parts_beside[] = {
    { CLAUDE_SUFFIX, sizeof CLAUDE_SUFFIX - 1 }, { "", 0 },
#define BESIDE(suffix) { suffix, sizeof suffix - 1 }
    BESIDE(".ccr-tip.json"), BESIDE(".precompact.json"), BESIDE(".dir-sync.json"),
};
#define ELSEWHERE(dir, suffix) { { "/" dir "/", sizeof dir + 1 }, { suffix, sizeof suffix - 1 } }
static const struct { struct slice dir, suffix; } parts_elsewhere[] = {
    ELSEWHERE("file-history", ""), ELSEWHERE("tasks", ""),     ELSEWHERE("session-env", ""),
    ELSEWHERE("todos", ".json"),   ELSEWHERE("debug", ".txt"),
};
/* clang-format on */

struct part_list {
    struct arena *a;
    const char **part;
    size_t n;
    bool ok; /* until memory is refused */
};

static void add_part_path(struct part_list *list, const struct slice text[], size_t n)
{
    const char *part = arena_concat(list->a, text, n);

    list->part[list->n++] = part;
    list->ok = list->ok && part;
}

static void add_own(struct part_list *list, const struct session_ref *ref, size_t n)
{
    const struct slice stem = { ref->path.p, ref->path.n - (sizeof CLAUDE_SUFFIX - 1) };

    for (size_t i = 0; i < n; i++)
        add_part_path(list, (struct slice[]){ stem, parts_beside[i] }, 2);
}

static void add_elsewhere(struct part_list *list, const struct store *st, struct slice id)
{
    const struct slice config = slice_of(st->path);

    for (size_t i = 0; i < sizeof parts_elsewhere / sizeof *parts_elsewhere; i++)
        add_part_path(list, (struct slice[]){ config, parts_elsewhere[i].dir, id, parts_elsewhere[i].suffix }, 4);
    add_part_path(list,
             (struct slice[]){ config, SLICE("/todos/"), id, SLICE("-agent-"), id, SLICE(".json") },
             6);
}

enum err_code claude_parts(const struct store *st, const struct session_ref *ref, bool all,
                           struct arena *a, const char ***part, size_t *n, struct err *e)
{
    size_t near = sizeof parts_beside / sizeof *parts_beside, far = sizeof parts_elsewhere / sizeof *parts_elsewhere + 1;
    struct part_list list = { .a = a };

    /* The id becomes part of file names. */
    if (!claude_is_uuid(ref->id))
        return err_set(e, ERR_UNSAFE, ref->path.p,
                       "name what belongs to a session: its id is no plain name");
    list.part = arena_alloc(a, (near + far) * sizeof *list.part);
    list.ok = list.part != NULL;
    if (list.ok)
        add_own(&list, ref, all ? near : OWN_PARTS);
    if (list.ok && all)
        add_elsewhere(&list, st, ref->id);
    if (!list.ok)
        return err_nomem(e);
    *part = list.part;
    *n = list.n;
    return ERR_OK;
}
