#include "store/systems/claude/list.h"

#include <stdlib.h>

enum err_code claude_list_add(struct claude_list *list, const struct claude_item *item)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap + list->cap / 2 : 64;
        struct claude_item *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(list->item, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        list->item = more;
        list->cap = cap;
    }
    list->item[list->n++] = *item;
    return ERR_OK;
}

void claude_list_fini(struct claude_list *list)
{
    free(list->item);
    *list = (struct claude_list){ 0 };
}

enum err_code claude_item_row(struct claude_log *log, const struct claude_item *item,
                              struct slice *row, struct err *e)
{
    if (item->made.n == 0)
        return claude_log_row(log, item->line, row, e);
    *row = item->made;
    return ERR_OK;
}
