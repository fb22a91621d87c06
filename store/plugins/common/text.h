#ifndef STORE_PLUGINS_COMMON_TEXT_H
#define STORE_PLUGINS_COMMON_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "store/api/reprise_plugin.h"

/* Shared by the plug-ins that keep rows as texts, under names that they make themselves. */

/* Sets the reason of a failure; returns the code. */
int text_fail(struct reprise_plugin_call *call, int code, const char *why);

/* A part of a URL, with %XX decoded. NULL: out of memory. */
const char *text_decode(struct arena *a, const char *p, size_t n);

/* Sets an option, or a parameter of the URL. Returns what is wrong with it, or NULL. */
typedef const char *text_option_fn(void *store, const char *name, const char *value);
/* Sets each NAME=VALUE after the question mark of a URL. */
const char *text_parameters(struct arena *a, const char *p, text_option_fn *take, void *store);
const char *text_options(const struct reprise_plugin_option *option, size_t options,
                         text_option_fn *take, void *store);

/* Sets an option that names a file by an absolute path, or one that begins with ~/. Returns what is wrong with it, or
 * NULL. */
const char *text_file_option(struct arena *a, const char *name, const char *value, const char **to);
/* Reads the first line of a file, which only its owner may be able to read. `option` names it in the reason of a
 * failure, which never contains the secret. */
int text_read_secret(struct arena *a, const char *option, const char *path,
                     struct reprise_plugin_call *call, const char **out);

/* Returns true for the options that reprise itself reads. A plug-in refuses those of the others that it does not
 * know. */
static inline bool text_is_common_option(const char *name)
{
    return strcmp(name, "timeout") == 0 || strcmp(name, "project") == 0;
}
#define TEXT_UNKNOWN_OPTION "%s is not a setting of this store"

bool text_is_row(struct slice row);
/* Adds a line with the row, or nothing if it is not a row. Returns NO_MEMORY or OK. */
int text_add_row(struct buf *out, struct slice row);

#endif
