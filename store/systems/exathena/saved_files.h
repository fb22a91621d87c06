#ifndef STORE_SYSTEMS_EXATHENA_SAVED_FILES_H
#define STORE_SYSTEMS_EXATHENA_SAVED_FILES_H

#include "store/systems/exathena/exathena.h"

/* The files before a session's edits, in file-history/<session>/<sha>/ with
 *
 *   path             the absolute path, without a newline; <sha> is the SHA-256 of these bytes
 *   <v>.bin          the file before an edit, v = 0, 1, 2, ...; not written if equal to the newest
 *   <v>.tombstone    empty, beside an empty <v>.bin: there was no file
 *
 * Other names are not versions and are left alone. */
struct saved_file {
    const char *dir;
    const char *path;  /* NULL: cannot be read */
    const char *why;   /* why the copies cannot be used; NULL: they can */
    bool first;        /* there is a 0.bin */
    bool first_absent; /* ... and a 0.tombstone */
    int64_t newest;    /* highest version, -1: none */
    int64_t newest_tombstone;
    bool newest_absent; /* ... of the same version */
    size_t versions;
    size_t strange; /* other names */
};

struct saved_files {
    struct saved_file *file; /* in the arena; by path */
    size_t n;
};

enum { SHA_HEX = 64 };

/* A session without saved files is not an error. Texts are in the arena. */
MUST_CHECK enum err_code saved_files_read(const struct exathena *x, struct slice session,
                                          struct arena *a, struct saved_files *out, struct err *e);
/* The name of the directory for a path. */
void saved_name(struct slice path, char hex[SHA_HEX + 1]);
/* Sets *is if these bytes equal the newest version. */
MUST_CHECK enum err_code saved_newest_is(const struct saved_file *f, struct slice bytes, bool *is,
                                         struct err *e);

#endif
