#ifndef STORE_SYSTEMS_GOAT_DIALECT_H
#define STORE_SYSTEMS_GOAT_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/slice.h"

/* Finds members of an object as Go's encoding/json does: by the exact name first, then by any other
 * spelling; of several members the last one (goat.md B8). value[i] belongs to name[i] and is empty
 * if the member is missing. */
void goat_members(struct slice object, const char *const name[], size_t n, struct slice value[]);
/* The same, and in the same pass also finds the members of the object that is name[within]:
 * inside[i] belongs to name[i]. The object is valid JSON. */
void goat_members_both(struct slice object, const char *const name[], size_t n,
                       struct slice value[], size_t within, struct slice inside[]);

/* Returns true if a key (with its quotes) is this name, in any spelling. */
bool goat_key_is(struct slice key, const char *name);

/* The three dialects of the Go directory sessions (docs/formats/goat.md): one engine and these
 * tables of names. The dialect is detected for each document; the files of one session may have
 * different dialects. */
enum goat_dialect {
    GOAT_SHIPPED, /* written by the published package, and for new sessions */
    GOAT_SPEC,    /* `spec` in goat.md */
    GOAT_DOC,     /* `doc` in goat.md */
    GOAT_DIALECTS
};

/* The fields of metadata.json, independent of the dialect. */
enum goat_field {
    GOAT_ID,
    GOAT_HASH, /* the hash of the project */
    GOAT_CWD,
    GOAT_MODEL,
    GOAT_PARENT,
    GOAT_FORK_POINT,
    GOAT_CREATED,
    GOAT_UPDATED,
    GOAT_MESSAGES,
    GOAT_TURNS,
    GOAT_TOKENS,
    GOAT_COST,
    GOAT_TITLE,
    GOAT_EXIT,
    GOAT_AGENT,
    GOAT_FIELDS
};

enum goat_form { GOAT_TEXT, GOAT_TIME, GOAT_INT, GOAT_FLOAT };

/* A member in the order in which the dialect writes it. */
struct goat_member {
    const char *key;
    enum goat_field field;
    bool omit_empty;
};

enum { GOAT_MEMBERS = 16 };

struct goat_dialect_names {
    const char *name;                        /* for people and rows */
    struct goat_member member[GOAT_MEMBERS]; /* ends with key NULL */
    const char *blobs;                       /* the folder of a checkpoint's contents */
    const char *point, *point_time, *files;  /* the members of a manifest */
    /* the members of one of its files; NULL: the dialect has no such member */
    const char *path, *exists, *hash, *size;
    bool flat; /* messages are separate rows, not wrapped */
};

extern const struct goat_dialect_names goat_dialects[GOAT_DIALECTS];

/* Returns the dialect called "spec" or the like, or GOAT_DIALECTS for an unknown word. */
enum goat_dialect goat_dialect_named(struct slice name);
/* The key of a field; NULL if the dialect has no such field. */
const char *goat_key(enum goat_dialect d, enum goat_field field);
enum goat_form goat_form(enum goat_field field);

/* The keys of a metadata document that distinguish the dialects: true if the document has them. */
struct goat_telltale {
    bool id, session_id, parent_id, total_tokens, total_cost;
};
/* The dialect of a metadata document that is a valid object (goat.md B9). */
enum goat_dialect goat_dialect_of_metadata(struct slice object, const struct goat_telltale *has);
/* The dialect of a manifest that is a valid object. */
enum goat_dialect goat_dialect_of_manifest(struct slice object);

#endif
