#include "store/systems/claude/show/item_list.h"

#include <stdlib.h>

#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/show/restore.h"

enum err_code claude_item_list_add(struct claude_item_list *list, const struct claude_item *item)
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

enum err_code claude_item_list_add_line(struct claude_item_list *list, const struct claude_log *log,
                                        uint32_t line, unsigned flags)
{
    const struct index_line *l = claude_line(log, line);

    return claude_item_list_add(
        list, &(struct claude_item){
                  .line = line, .marks = l->marks, .kind = l->kind, .flags = (uint8_t)flags });
}

enum err_code claude_item_list_add_made(struct claude_item_list *list, struct claude_log *log,
                                        uint32_t line, struct slice row, struct err *e)
{
    struct index one = { 0 };
    struct claude_item item = { .made = arena_copy(&log->arena, row), .line = line };
    enum err_code rc = index_bytes(&one, row, 0, &claude_index_keys, 0, e);

    if (!rc && (!item.made.p || one.n != 1))
        rc = err_nomem(e);
    if (!rc) {
        item.marks = one.line[0].marks;
        item.kind = one.line[0].kind;
        rc = claude_item_list_add(list, &item);
    }
    index_fini(&one);
    return rc;
}

struct id128 claude_item_id(struct claude_log *log, const struct claude_item *item)
{
    if (item->made.n)
        return claude_id_at(item->made, "uuid", &log->arena);
    return claude_line(log, item->line)->id;
}

void claude_item_list_fini(struct claude_item_list *list)
{
    free(list->item);
    *list = (struct claude_item_list){ 0 };
}

enum err_code claude_item_row(struct claude_log *log, const struct claude_item *item,
                              struct slice *row, struct err *e)
{
    if (item->made.n == 0)
        return claude_log_row(log, item->line, row, e);
    *row = item->made;
    return ERR_OK;
}

static uint8_t list_kind(void *rows, size_t i)
{
    const struct claude_list_rows *r = rows;

    return r->list->item[i].kind;
}

static enum err_code list_read(void *rows, size_t i, struct slice *row, struct err *e)
{
    const struct claude_list_rows *r = rows;

    if (r->stop && atomic_load_explicit(r->stop, memory_order_relaxed))
        return err_set(e, ERR_CANCELLED, r->log->file.path, "read the conversation");
    return claude_item_row(r->log, &r->list->item[i], row, e);
}

struct claude_rows claude_list_rows(struct claude_list_rows *rows)
{
    return (struct claude_rows){
        .kind = list_kind, .read = list_read, .arg = rows, .n = rows->list->n
    };
}
