#include "store/systems/common/jsonl.h"

enum err_code jsonl_check_name(const char *folder, const char *name, finding_fn *fn, void *arg,
                               struct err *e)
{
    struct arena a = { 0 };
    const struct finding f = { .kind = FINDING_UNREADABLE,
                               .path = arena_format(&a, "%s/%s", folder, name),
                               .why = "its name cannot be a session's id" };
    enum err_code rc = f.path ? fn(&f, arg, e) : err_nomem(e);

    arena_fini(&a);
    return rc;
}

enum err_code jsonl_check_report(const struct jsonl_check *k, enum finding_kind kind,
                                 const char *path, const char *why, struct err *e)
{
    const struct finding f = { .kind = kind, .session = k->ref->id, .path = path, .why = why };

    return path && why ? k->fn(&f, k->arg, e) : err_nomem(e);
}

enum err_code jsonl_check_line(const struct jsonl_check *k, enum finding_kind kind, size_t line,
                               const char *why, struct err *e)
{
    const struct finding f = { .kind = kind,
                               .session = k->ref->id,
                               .path = k->ref->path.p,
                               .line = (int64_t)line + 1,
                               .offset = k->log->index.line[line].offset,
                               .why = why,
                               .fixable = kind == FINDING_TORN_TAIL };

    return why ? k->fn(&f, k->arg, e) : err_nomem(e);
}

enum err_code jsonl_check_id(struct jsonl_check *k, size_t line, const char *why, struct err *e)
{
    struct id128 id = k->log->index.line[line].id;
    uint32_t number;

    if (k->log->index.line[line].state != LINE_OK || id128_none(id))
        return ERR_OK;
    if (idset_has(&k->ids, id))
        return jsonl_check_line(k, FINDING_DUPLICATE_ID, line, why, e);
    return idset_add(&k->ids, id, &number) ? err_nomem(e) : ERR_OK;
}
