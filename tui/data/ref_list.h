#ifndef TUI_DATA_REF_LIST_H
#define TUI_DATA_REF_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "store/api/session.h"

/* Names: of sub-agents, sessions, things in the trash. */
struct name_list {
    struct arena arena;
    struct slice *name; /* in the arena */
    size_t n;
};

struct name_list *name_list_new(void);
/* Copies the name. Returns false if out of memory; the list is then unchanged. */
bool name_list_add(struct name_list *list, struct slice name);
void name_list_fini(struct name_list *list);
void name_list_free(struct name_list *list); /* NULL is fine */

/* Sessions to look at: refs whose texts were copied into the arena. */
struct ref_list {
    struct arena arena;
    struct session_ref *ref; /* owned */
    /* owned; the number that the requester assigned to each ref; 0 by default */
    uint32_t *entry;
    size_t n, cap;
    struct slice agent; /* in the arena; a sub-agent of the first session, else empty */
};

struct ref_list *ref_list_new(void);
/* Makes room for n sessions in all. Returns false if out of memory; the list is then unchanged. */
bool ref_list_reserve(struct ref_list *list, size_t n);
/* Copies the ref with its texts. Returns false if out of memory; the list is then unchanged. */
bool ref_list_add(struct ref_list *list, const struct session_ref *ref, uint32_t entry);
/* Returns a list of one session, with one of its sub-agents unless `agent` is empty. NULL if out of
 * memory. */
struct ref_list *ref_list_one(const struct session_ref *ref, struct slice agent);
struct ref_list *ref_list_copy(const struct ref_list *list); /* NULL if out of memory */
void ref_list_free(struct ref_list *list);                   /* NULL is fine */

/* The answer to one ref of a describe effect: a row, or an error (ERR_NOT_FOUND: the session is gone). */
struct described {
    uint32_t entry;
    struct session_row *row; /* owned; NULL with an error */
    enum err_code code;
    int64_t bytes; /* the size of all its files; only if disk usage was requested */
};

struct described_list {
    struct described *item; /* owned */
    size_t n, cap;
};

struct described_list *described_list_new(size_t cap);
void described_list_free(struct described_list *list); /* also frees its rows */

#endif
