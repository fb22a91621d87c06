#include "store/api/store.h"

bool store_has_size(const struct session_ref *ref)
{
    return ref->file.size > 0 || !(ref->store->ops->remote || ref->store->ops->size_unknown);
}

struct each_of_id {
    struct slice id;
    session_ref_fn *fn;
    void *arg;
};

static bool pass_if_same_id(const struct session_ref *ref, void *arg)
{
    const struct each_of_id *each = arg;

    return !slice_eq(ref->id, each->id) || each->fn(ref, each->arg);
}

enum err_code store_find_each_listed(const struct store *st, const struct scope *scope,
                                     struct slice id, session_ref_fn *fn, void *arg, struct err *e)
{
    struct each_of_id each = { id, fn, arg };

    return st->ops->enumerate(st, scope, pass_if_same_id, &each, e);
}

void store_close(struct store *st)
{
    if (st)
        st->ops->close(st);
}

enum err_code store_open_named(const struct store_ops *ops, const struct store_env *env,
                               const char *path, const char *name, struct arena *a,
                               struct store **out, struct err *e)
{
    struct store_ops *own = arena_alloc(a, sizeof *own);

    if (!own)
        return err_nomem(e);
    *own = *ops;
    own->name = arena_copy_text(a, name);
    own->format = ops->name;
    if (!own->name)
        return err_nomem(e);
    TRY(ops->open(env, path, out, e));
    (*out)->ops = own;
    return ERR_OK;
}

bool store_changes_at_once(const struct store_ops *ops)
{
    return ops->remote || ops->remove;
}

void store_ops_only_read(struct store_ops *ops, const char *why)
{
    ops->only_read = true;
    ops->hooks = NULL;
    ops->resume_command = ops->attach_command = ops->fork_command = NULL;
    memset(ops->change_command, 0, sizeof ops->change_command);
    ops->agent_variable = NULL;
    ops->live = NULL;
    ops->live_many = NULL;
    ops->parts = ops->deleted_parts = ops->files = ops->shared = NULL;
    ops->owned_refs = NULL;
    ops->copies = NULL;
    ops->leftovers = NULL;
    ops->check_store = NULL;
    ops->place = NULL;
    ops->log_rules = NULL;
    ops->one_document = false;
    ops->settings_note = NULL;

    /* These plan changes. */
    ops->retrieve = NULL;
    ops->rename = NULL;
    ops->tag = NULL;
    ops->archive = NULL;
    ops->resume_at = NULL;
    ops->fork = NULL;
    ops->tombstone = NULL;
    ops->reappend = NULL;
    ops->reconnect = NULL;
    ops->folder_of = NULL;
    ops->set_directory = NULL;
    ops->adopt = NULL;
    ops->plan_conversation = NULL;
    ops->plan_refs = NULL;

    /* These write at once. */
    ops->remove = NULL;
    ops->make = NULL;
    ops->create = NULL;
    ops->append = NULL;
    ops->checkpoint = NULL;
    ops->set = NULL;
    for (size_t i = 0; i < ABILITIES; i++)
        ops->why[i] = why;
}

bool store_can_rewind(const struct store_ops *ops)
{
    return (ops->plan && ops->checkpoints) || ops->hooks;
}

unsigned store_agent_abilities(const struct store_ops *ops)
{
    const char *const *command = ops->change_command;
    bool renames = !ops->rename && command[STORE_COMMAND_RENAME];
    bool archives = !ops->archive && command[STORE_COMMAND_ARCHIVE];
    bool deletes = !ops->parts && !ops->remove && command[STORE_COMMAND_DELETE];

    return (renames ? CAN_RENAME : 0U) | (archives ? CAN_ARCHIVE : 0U) |
           (deletes ? CAN_DELETE : 0U);
}

void store_admit_row(struct session_row *row, const struct scope *scope)
{
    const enum session_hidden kind = row->hidden;
    /* without a folder or a directory of its own, it belongs to every project */
    const bool is_here = scope->all || row->cwd.n > 0 || row->ref.folder.n > 0;

    if (scope->runs_agents && row->hidden != HIDDEN_SIDECHAIN)
        row->can |= store_agent_abilities(row->ref.store->ops);
    if (row->hidden != HIDDEN_SIDECHAIN && row->ref.store->ops->hooks)
        row->can |= CAN_REWIND;
    if (!scope->all_kinds || !is_here || session_kind_name(kind)[0] == '\0')
        return;
    row->hidden = HIDDEN_NOT;
    row->kind = kind;
    if (row->modified_ms == TIME_NONE)
        row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    if (kind == HIDDEN_SIDECHAIN) /* it is continued by its own agent alone */
        row->can = 0;
}

const char *store_format(const struct store_ops *ops)
{
    return ops->format ? ops->format : ops->name;
}

store_parts_fn *store_session_parts(const struct store_ops *ops)
{
    return ops->parts ? ops->parts : ops->deleted_parts ? ops->deleted_parts : ops->files;
}

/* From its row, if its transcript is not a part of the session's own. */
static void describe_subagent(const struct session_ref *ref, struct arena *a, struct subagent *x)
{
    static const struct scope everywhere = { .all = true };
    const struct store *st = ref->store;
    struct session_ref own;

    if (!st->ops->subagent || st->ops->subagent(st, ref, x->id, a, &own, NULL) ||
        slice_eq(own.path, ref->path))
        return;
    struct session_row *row = session_row_new();

    if (row && !st->ops->describe(st, &everywhere, &own, row, NULL)) {
        x->task = arena_copy(a, session_row_title(row));
        x->end = row->flags & SESSION_INTERRUPTED ? SUBAGENT_OPEN : SUBAGENT_DONE;
        x->time_ms = row->activity_ms;
        x->bytes = own.file.size > 0 ? own.file.size : x->bytes;
    }
    session_row_free(row);
}

static enum err_code describe_by_id(const struct session_ref *ref, const atomic_bool *cancel,
                                    struct subagent_list *out, struct err *e)
{
    const struct store *st = ref->store;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = st->ops->subagents(st, ref, &out->arena, &ids, &n, e);

    out->agent = rc ? NULL : arena_alloc(&out->arena, (n ? n : 1) * sizeof *out->agent);
    for (; out->agent && out->n < n && !(cancel && *cancel); out->n++) {
        out->agent[out->n] =
            (struct subagent){ .id = ids[out->n], .end = SUBAGENT_DONE, .bytes = -1 };
        describe_subagent(ref, &out->arena, &out->agent[out->n]);
    }
    return rc ? rc : out->arena.failed ? err_nomem(e) : ERR_OK;
}

enum err_code store_describe_subagents(const struct session_ref *ref, const atomic_bool *cancel,
                                       struct subagent_list *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    enum err_code rc = ERR_OK;

    *out = (struct subagent_list){ .n = 0 };
    if (ops->describe_subagents)
        rc = ops->describe_subagents(ref->store, ref, cancel, out, e);
    else if (ops->subagents)
        rc = describe_by_id(ref, cancel, out, e);
    if (rc)
        subagent_list_fini(out);
    for (size_t i = 0; ops->size_unknown && i < out->n; i++)
        out->agent[i].bytes = -1;
    return rc;
}

const char *store_unsupported_reason(const struct store_ops *ops, unsigned ability)
{
    for (size_t i = 0; i < ABILITIES; i++)
        if (ability == 1u << i)
            return ops->why[i];
    return NULL;
}

enum err_code store_unsupported_error(const struct session_ref *ref, unsigned ability,
                                      const char *what, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    const char *why = store_unsupported_reason(ops, ability);

    return why ? err_set(e, ERR_UNSUPPORTED, ref->path.p, "%s: %s", what, why)
               : err_set(e, ERR_UNSUPPORTED, ref->path.p, "%s: not possible for sessions of %s",
                         what, ops->name);
}

enum err_code store_restore(const struct session_ref *ref, struct slice at, struct restore *out,
                            struct err *e)
{
    const struct store_ops *ops = ref->store->ops;

    return ops->restore ? ops->restore(ref->store, ref, at, out, e)
                        : err_set(e, ERR_UNSUPPORTED, ref->path.p,
                                  "restore: what %s would send to its model is not known; see "
                                  "reprise messages",
                                  ops->label ? ops->label : ops->name);
}
