#include <string.h>

#include "store/show/tool_inputs.h"

/* The patches of the tool apply_patch, which begin with "*** Begin Patch". */

struct patch {
    struct tool_inputs *t;
    struct slice rest;
    struct edit *edit; /* the file that is being read */
    struct buf old_text, new_text, after;
};

static bool take_header(struct slice line, const char *header, struct slice *value)
{
    if (!slice_starts(line, header))
        return false;
    *value = (struct slice){ line.p + strlen(header), line.n - strlen(header) };
    while (value->n && (value->p[value->n - 1] == ' ' || value->p[value->n - 1] == '\r'))
        value->n--;
    return value->n && !memchr(value->p, '\0', value->n);
}

static void end_hunk(struct patch *p)
{
    struct edit *edit = p->edit;
    struct arena *a = p->t->a;
    bool changed = p->old_text.n || p->new_text.n;

    if (changed && edit && edit->kind != EDIT_DELETE && edit->kind != EDIT_WRITE) {
        struct edit_replacement *list =
            arena_grow(a, (void *)(uintptr_t)edit->replacement, edit->replacements, sizeof *list);

        if (list) {
            list[edit->replacements++] =
                (struct edit_replacement){ .old_text = arena_copy(a, buf_slice(&p->old_text)),
                                           .new_text = arena_copy(a, buf_slice(&p->new_text)),
                                           .next = true };
            edit->replacement = list;
        }
    }
    p->old_text.n = p->new_text.n = 0;
}

static void end_file(struct patch *p)
{
    end_hunk(p);
    if (p->edit && p->edit->kind == EDIT_WRITE) {
        p->edit->after = arena_copy(p->t->a, buf_slice(&p->after));
        p->edit->after_known = EDIT_TEXT;
    }
    p->after.n = 0;
    p->edit = NULL;
}

static void begin_file(struct patch *p, enum edit_kind kind, struct slice path)
{
    struct edit edit = { .kind = kind, .path = arena_copy(p->t->a, path).p };

    end_file(p);
    if (edit.path)
        p->edit = tool_inputs_add(p->t, edit);
}

/* The edits that follow a renamed file are those of its new name. */
static void move_file(struct patch *p, struct slice to)
{
    if (!p->edit)
        return;
    p->edit->to = arena_copy(p->t->a, to).p;
    p->edit->kind = EDIT_RENAME;
    if (p->edit->to)
        p->edit = tool_inputs_add(p->t, (struct edit){ .kind = EDIT_REPLACE, .path = p->edit->to });
}

static enum err_code add_line(struct buf *b, struct slice line)
{
    enum err_code rc = buf_add(b, line);

    return rc ? rc : buf_add_byte(b, '\n');
}

static enum err_code take_patch_line(struct patch *p, struct slice line)
{
    struct slice text = { line.p + 1, line.n ? line.n - 1 : 0 };
    enum err_code rc = ERR_OK;

    if (!p->edit)
        return ERR_OK;
    if (p->edit->kind == EDIT_WRITE)
        return line.n && line.p[0] == '+' ? add_line(&p->after, text) : ERR_OK;
    if (slice_starts(line, "@@"))
        end_hunk(p);
    else if (!line.n)
        rc = add_line(&p->old_text, line) ? ERR_NOMEM : add_line(&p->new_text, line);
    else if (line.p[0] == ' ')
        rc = add_line(&p->old_text, text) ? ERR_NOMEM : add_line(&p->new_text, text);
    else if (line.p[0] == '-' || line.p[0] == '+')
        rc = add_line(line.p[0] == '-' ? &p->old_text : &p->new_text, text);
    return rc;
}

void apply_patch_read(struct slice patch, struct tool_inputs *out)
{
    struct patch p = { .t = out, .rest = patch };
    struct slice line, value;
    enum err_code rc = ERR_OK;
    bool torn;

    while (!rc && slice_line(&p.rest, &line, &torn)) {
        if (take_header(line, "*** Add File: ", &value))
            begin_file(&p, EDIT_WRITE, value);
        else if (take_header(line, "*** Delete File: ", &value))
            begin_file(&p, EDIT_DELETE, value);
        else if (take_header(line, "*** Update File: ", &value))
            begin_file(&p, EDIT_REPLACE, value);
        else if (take_header(line, "*** Move to: ", &value))
            move_file(&p, value);
        else if (!slice_starts(line, "*** "))
            rc = take_patch_line(&p, line);
    }
    end_file(&p);
    out->a->failed = out->a->failed || rc;
    buf_fini(&p.old_text);
    buf_fini(&p.new_text);
    buf_fini(&p.after);
}
