#include <stdio.h>

#include "tui/commands/rewind.h"

/* clang-format off */
static const struct { const char *word, *past; } actions[] = {
    [REWIND_RESTORE] = { "restore", "restored" },      [REWIND_CREATE] = { "create", "created" },
    [REWIND_DELETE] = { "delete", "deleted" },         [REWIND_UNCHANGED] = { "unchanged", "unchanged" },
    [REWIND_REFUSED] = { "refused", "refused" },
};
/* clang-format on */

static bool changes(const struct rewind_entry *x)
{
    return x->action == REWIND_RESTORE || x->action == REWIND_CREATE || x->action == REWIND_DELETE;
}

/* ---- JSON ---- */

/* A later change of the file by another session. */
static void write_other_json(const struct rewind_other *other, struct out *o)
{
    out_open(o, "alsoChangedBy", '{');
    out_string(o, "system", other->system);
    out_string(o, "sessionId", other->session);
    out_string(o, "title", other->title);
    out_int(o, "at", other->at_ms);
    out_close(o, '}');
}

/* What is not known of the permissions that the file gets; NULL: nothing. */
static const char *permissions_of(const struct rewind_entry *x)
{
    const struct rewind_target *t = x->target;

    if (t->want != REWIND_BYTES || x->action == REWIND_REFUSED)
        return NULL;
    if (t->permissions || t->has_mode)
        return t->permissions;
    return x->seen.exists ? "those of today: not recorded" : "those of a new file: not recorded";
}

static void write_entry_json(const struct rewind_entry *x, struct out *o)
{
    char mode[16] = "";

    if (changes(x) && x->target->has_mode && x->target->want == REWIND_BYTES &&
        x->target->mode != x->seen.mode)
        snprintf(mode, sizeof mode, "%04o", (unsigned)x->target->mode);
    out_open(o, NULL, '{');
    out_string(o, "path", x->target->path);
    out_string(o, "action", actions[x->action].word);
    out_int(o, "insertions", x->insertions);
    out_int(o, "deletions", x->deletions);
    out_bool_if_true(o, "binary", x->binary);
    out_string(o, "mode", mode);
    out_string(o, "permissions", permissions_of(x));
    out_bool_if_true(o, "editedSince", x->edited);
    out_bool_if_true(o, "openForWriting", x->held_open);
    out_bool_if_true(o, "unproven", x->unproven);
    if (x->target->other)
        write_other_json(x->target->other, o);
    out_string(o, "why", x->why);
    out_close(o, '}');
}

static void write_files_json(const struct rewind_preview *p, struct out *o)
{
    out_open(o, "filesChanged", '[');
    for (size_t i = 0; i < p->n; i++)
        if (changes(&p->entry[i]))
            jsonout_text(out_json(o), slice_of(p->entry[i].target->path));
    out_close(o, ']');
    out_int(o, "insertions", p->insertions);
    out_int(o, "deletions", p->deletions);
    out_string(o, "plan", p->id);
    out_open(o, "files", '[');
    for (size_t i = 0; i < p->n; i++)
        write_entry_json(&p->entry[i], o);
    out_close(o, ']');
}

/* Returns true if the conversation was to be rewound but already ends at the point. */
static bool already_ends(const struct rewind_conversation *t)
{
    return t->how == CONVERSATION_NONE && t->kept > 0;
}

static void write_conversation_json(const struct rewind_conversation *t, struct out *o)
{
    if (!already_ends(t) && (!t->change || !rewind_conversation_moves(t->how)))
        return;
    out_open(o, "conversation", '{');
    out_int(o, "dropped", (int64_t)t->dropped);
    out_int(o, "kept", (int64_t)t->kept);
    out_string(o, "how", rewind_conversation_name(t->how));
    out_close(o, '}');
}

/* The library of ExAthena counts every file of which it has a copy, even one that already matches. */
static void write_counts_json(const struct rewind_preview *p, struct out *o)
{
    int64_t restored = 0;

    for (size_t i = 0; i < p->n; i++)
        restored += p->entry[i].action != REWIND_REFUSED;
    if (p->plan->restored_key)
        out_int(o, p->plan->restored_key, restored);
    if (p->plan->dropped_key)
        out_int(o, p->plan->dropped_key, (int64_t)p->plan->conversation.dropped);
}

static void write_result_json(const struct rewind_preview *p, const struct rewind_result *r,
                              struct out *o)
{
    out_string(o, "undo", r->undo);
    out_string(o, "undoes", p->plan->undoes);
    if (!r->conflicts)
        return;
    out_open(o, "conflicts", '[');
    for (size_t i = 0; i < p->n; i++)
        if (r->outcome[i] == REWIND_CONFLICT)
            jsonout_text(out_json(o), slice_of(p->entry[i].target->path));
    out_close(o, ']');
}

static void write_rewind_json(const struct rewind_preview *p, const struct rewind_result *r,
                              struct out *o)
{
    out_open(o, NULL, '{');
    out_bool(o, "canRewind", true);
    write_files_json(p, o);
    write_conversation_json(&p->plan->conversation, o);
    write_counts_json(p, o);
    if (p->plan->notes)
        out_strings(o, "notes", (const char *const *)p->plan->note, p->plan->notes);
    if (r)
        write_result_json(p, r, o);
    out_end(o, '}');
}

enum err_code rewind_answer_none(struct invocation *in, const struct err *why, struct err *e)
{
    struct out *o = &in->out;

    if (!o->wants_json)
        return ERR_OK;
    out_open(o, NULL, '{');
    out_bool(o, "canRewind", false);
    out_string(o, "error", why->text);
    out_end(o, '}');
    return out_flush(o, e);
}

void rewind_answer_into(struct invocation *in, const char *dir, const struct rewind_scratch_copy *r)
{
    struct out *o = &in->out;

    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_bool(o, "canRewind", true);
        out_string(o, "into", dir);
        out_int(o, "written", (int64_t)r->written);
        out_int(o, "leftOut", (int64_t)r->left_out);
        out_end(o, '}');
        return;
    }
    out_addf(o, "%zu file%s written, %zu left out: ", r->written, r->written == 1 ? "" : "s",
             r->left_out);
    out_text(o, slice_of(dir));
    out_addf(o, "\n");
}

/* ---- text ---- */

static void write_entry_text(const struct rewind_entry *x, bool conflict, bool done, struct out *o)
{
    const char *word = done ? actions[x->action].past : actions[x->action].word;
    const struct rewind_other *other = x->target->other;
    char counts[40] = "";

    if (x->action == REWIND_UNCHANGED)
        return;
    if (x->binary && changes(x))
        snprintf(counts, sizeof counts, "binary");
    else if (x->mode_only)
        snprintf(counts, sizeof counts, "mode");
    else if (changes(x))
        snprintf(counts, sizeof counts, "+%u -%u", x->insertions, x->deletions);
    out_addf(o, "%-9s %-12s ", conflict ? "conflict" : word, counts);
    out_text(o, slice_of(x->target->path));
    if (x->why)
        out_addf(o, "  (%s)", x->why);
    if (x->action == REWIND_CREATE && permissions_of(x))
        out_addf(o, "  (permissions: %s)", permissions_of(x));
    if (x->held_open && changes(x))
        out_addf(o, "  (a program has it open for writing)");
    if (other) {
        out_addf(o, "  (also changed by ");
        out_text(o, slice_of(other->title ? other->title : other->session));
        out_addf(o, other->system ? " of %s)" : ")", other->system);
    }
    out_addf(o, "\n");
}

static void write_conversation_text(const struct rewind_conversation *t, bool done, struct out *o)
{
    if (already_ends(t))
        out_addf(o, "%-9s the conversation: it already ends there\n", done ? "kept" : "keep");
    else if (!t->change)
        return;
    else if (!rewind_conversation_moves(t->how))
        out_addf(o, "%-9s the shadow branch\n", done ? "moved" : "move");
    else if (t->added > 0)
        out_addf(o, "%-9s %zu message%s of the conversation, of %zu\n",
                 done ? "restored" : "restore", t->added, t->added == 1 ? "" : "s", t->kept);
    else
        out_addf(o, "%-9s %zu message%s of the conversation, %zu %s (%s)\n",
                 done ? "dropped" : "drop", t->dropped, t->dropped == 1 ? "" : "s", t->kept,
                 t->kept == 1 ? "stays" : "stay", rewind_conversation_name(t->how));
}

static bool any_held_open(const struct rewind_preview *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->entry[i].held_open && changes(&p->entry[i]))
            return true;
    return false;
}

static void write_rewind_text(const struct rewind_preview *p, const struct rewind_result *r,
                              bool dry, struct out *o)
{
    const char *undoes = p->plan->undoes;

    for (size_t i = 0; i < p->n; i++)
        write_entry_text(&p->entry[i], r && r->outcome[i] == REWIND_CONFLICT, r != NULL, o);
    write_conversation_text(&p->plan->conversation, r != NULL, o);
    if (any_held_open(p))
        out_addf(o,
                 "note: a program that has a file open keeps writing to the old one, in the undo "
                 "record;\n      reprise undo restores it with everything that was written\n");
    for (size_t i = 0; i < p->plan->notes; i++)
        out_addf(o, "note: %s\n", p->plan->note[i]);
    if (r && r->undo[0] && undoes && p->refused)
        out_addf(o, "%zu file%s skipped; to undo the rest later: reprise undo %s\n", p->refused,
                 p->refused == 1 ? "" : "s", undoes);
    if (r && r->undo[0])
        out_addf(o, "to undo: reprise undo %s\n", r->undo);
    /* An apply that refused files is not a dry run; apply_preview() reports it. */
    if (!r && dry)
        out_addf(o, "dry run: nothing has been changed (+%u -%u)\n", p->insertions, p->deletions);
}

static bool is_dry(const struct invocation *in)
{
    return in->command->options & OPTION_BIT(APPLY) ? !option_given(&in->options, OPTION_APPLY)
                                                    : option_given(&in->options, OPTION_DRY_RUN);
}

enum err_code rewind_answer(struct invocation *in, const struct rewind_preview *p,
                            const struct rewind_result *result, struct err *e)
{
    if (in->out.wants_json)
        write_rewind_json(p, result, &in->out);
    else
        write_rewind_text(p, result, is_dry(in), &in->out);
    return out_flush(&in->out, e);
}
