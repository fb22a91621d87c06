#ifndef STORE_SYSTEMS_EXATHENA_SAVED_FILES_H
#define STORE_SYSTEMS_EXATHENA_SAVED_FILES_H

#include "store/systems/exathena/exathena.h"

/* What files were before a session's edits: file-history/<session>/<sha>/ with
 *
 *   path             the absolute path, without a newline; <sha> is the SHA-256 of these bytes
 *   <v>.bin          the file before an edit, v = 0, 1, 2, ...; equal to the newest one: no new version
 *   <v>.tombstone    empty, beside an empty <v>.bin: there was no file
 *
 * Other names are no versions and are left alone. */
struct saved_file {
    const char *dir;
    const char *path;   /* NULL: not to be read */
    const char *why;    /* what is wrong with it as a whole; NULL: nothing */
    bool first;         /* there is a 0.bin */
    bool first_absent;  /* ... and a 0.tombstone */
    int64_t newest;     /* highest version, -1: none */
    bool newest_absent; /* ... and its tombstone */
    size_t versions;
    size_t strange; /* names that are none of these */
};

struct saved_files {
    struct saved_file *file; /* in the arena; by path */
    size_t n;
};

enum { SHA_HEX = 64 };

/* A session without any has none. Texts live in the arena. */
MUST_CHECK enum err_code saved_files_read(const struct exathena *x, struct slice session,
                                          struct arena *a, struct saved_files *out, struct err *e);
/* One of them, by its directory. */
MUST_CHECK enum err_code saved_file_read(const char *dir, const char *name, struct arena *a,
                                         struct saved_file *out, struct err *e);
/* ERR_UNSAFE where a link stands in the place of all saved files, or of this session's. */
MUST_CHECK enum err_code saved_no_link(const struct exathena *x, const char *dir, struct err *e);
/* The name of a path's directory. */
void saved_name(struct slice path, char hex[SHA_HEX + 1]);
/* Do these bytes lie in the newest version? */
MUST_CHECK enum err_code saved_newest_is(const struct saved_file *f, struct slice bytes, bool *is,
                                         struct err *e);

#endif
