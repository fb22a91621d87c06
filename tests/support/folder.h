#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* A temporary folder for one test, and what a test puts into it and asks of it. Every call fails the test (cmocka) if
 * it cannot do its work. */
struct folder {
    char path[256];
};

/* Folders are made in memory from now on, if there is a place for them, whatever TMPDIR says: for tests that rewind
 * thousands of times, since a real fsync costs milliseconds. */
void folder_in_memory(void);
void folder_make(struct folder *f);
void folder_remove(struct folder *f);
/* "<folder>/<name>" in a buffer of the caller (4096 bytes). */
const char *folder_path(const struct folder *f, const char *name, char out[4096]);
void folder_dir(const struct folder *f, const char *name);
/* Creates missing directories too. */
void folder_put(const struct folder *f, const char *name, struct slice bytes);
void folder_mtime(const struct folder *f, const char *name, int64_t ns);
bool folder_has(const struct folder *f, const char *name);
/* The bytes of a file, malloc'ed. */
char *folder_get(const struct folder *f, const char *name, size_t *n);
bool folder_is(const struct folder *f, const char *name, const char *text);
/* A text that describes everything below a directory: kind, mode, mtime (of files), size and checksum, sorted. Two
 * trees are equal if their texts are. malloc'ed. */
char *folder_image(const struct folder *f, const char *name);
/* Returns true if two texts of folder_image differ in nothing but logs that became longer. */
bool folder_image_is_grown(const char *before, const char *now);
/* Returns true if these texts are from before a change and from after its undo. Without leases nothing is cut off a
 * log: the undo appends a row that contradicts the change. (HAS_LEASES: tests/test.h) */
#define IS_UNDONE(before, now)                                                                     \
    (HAS_LEASES ? strcmp(before, now) == 0 : folder_image_is_grown(before, now))

#endif
