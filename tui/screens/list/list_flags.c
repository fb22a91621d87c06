#include <stdio.h>

#include "tui/screens/list/list.h"

void list_row_flags(const struct session_row *row, enum list_flag_form form,
                    struct list_flag out[LIST_FLAGS])
{
    const uint32_t damage = SESSION_DAMAGED | SESSION_TORN | SESSION_CHANGED;
    const bool live = row->flags & SESSION_LIVE;
    const struct mark {
        bool is;
        enum style style;
        const char *form[3]; /* enum list_flag_form */
    } on = { true, STYLE_LIVE, { "●", "*", "busy" } },
      asks = { true, STYLE_WARN, { "?", "?", "waiting" } },
      idle = { true, STYLE_LIVE, { "○", "o", "idle" } },
      cut = { row->flags & SESSION_INTERRUPTED, STYLE_WARN, { "!", "!", "interrupted" } };
    const char *kind = session_kind_name(row->kind);
    const struct mark known[LIST_FLAGS] = {
        /* a running session is not interrupted */
        row->flags & SESSION_WAITS           ? asks
        : live && row->state == SESSION_IDLE ? idle
        : live                               ? on
                                             : cut,
        { row->flags & damage, STYLE_WARN, { "⚠", "X", "damaged" } },
        { row->flags & SESSION_PARTIAL, STYLE_WARN, { "◐", "%", "partial" } },
        { row->restorable > 0, STYLE_OK, { NULL } }, /* the number of files, "3f" */
        { row->flags & SESSION_FORK, STYLE_BRANCH, { "↳", "Y", "fork" } },
        { row->flags & SESSION_KEPT, STYLE_OK, { "kept", "kept", "kept" } },
        { row->flags & SESSION_ARCHIVED, STYLE_DIM, { "zz", "zz", "archived" } },
        { row->kind != HIDDEN_NOT, STYLE_DIM, { kind, kind, kind } },
    };

    for (size_t i = 0; i < LIST_FLAGS; i++) {
        out[i] = (struct list_flag){ .style = known[i].style };
        if (!known[i].is)
            continue;
        if (known[i].form[0])
            snprintf(out[i].text, sizeof out[i].text, "%s", known[i].form[form]);
        else if (form == LIST_FLAG_WORDS)
            snprintf(out[i].text, sizeof out[i].text, "%u file%s", row->restorable,
                     row->restorable == 1 ? "" : "s");
        else
            snprintf(out[i].text, sizeof out[i].text, "%uf", row->restorable);
    }
}

int list_flags_width(const struct list_flag flag[LIST_FLAGS], int gap)
{
    int sum = 0;

    for (size_t i = 0; i < LIST_FLAGS; i++)
        if (flag[i].text[0])
            sum += frame_width(slice_of(flag[i].text)) + (sum > 0 ? gap : 0);
    return sum;
}

void list_flags_draw(struct frame *f, int y, int x, const struct list_flag flag[LIST_FLAGS],
                     int gap)
{
    for (size_t i = 0; i < LIST_FLAGS; i++)
        if (flag[i].text[0])
            x += frame_puts(f, y, x, f->cols - x, flag[i].style, flag[i].text) + gap;
}
