#ifndef STORE_PLUGINS_HTTP_HTTP_H
#define STORE_PLUGINS_HTTP_HTTP_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/json/json.h"
#include "store/plugins/common/server.h"
#include "store/plugins/common/text.h"

/* A plug-in for stores behind HTTP. The agent's SDK calls five functions of a store, and teams that put one behind a server
 * have an address for each of them, which takes and returns JSON by POST (HttpSessionStore of github.com/ceedaragents/cyrus):
 *
 *   PATH/append         { projectKey, sessionId, subpath?, entries }
 *   PATH/load           { projectKey, sessionId, subpath? }    ->  { entries: [row...] or null }
 *   PATH/list-sessions  { projectKey }                         ->  { sessions: [{ sessionId, mtime }] }
 *   PATH/delete         { projectKey, sessionId, subpath? }
 *   PATH/list-subkeys   { projectKey, sessionId }              ->  { subpaths: [text...] }
 *
 * There are no pages and no conditions. The position of a row is its number in `entries`, beginning with 1. */

struct http {
    const char *url; /* without a slash at the end */
    const char *project, *ca_file, *token_file;
    const char *authorization; /* the header; NULL: no token */
    struct server_pool pool;
    struct arena arena;
};

int http_open(const char *path, const struct reprise_plugin_option *option, size_t options,
              struct reprise_plugin_call *call, void **store);
void http_close(void *store);

/* ---- entries.c ---- */

/* A session with more rows is refused, so that a server cannot send short ones for ever. */
enum { HTTP_ROWS_MOST = 1 << 20 };

enum http_entry_failed {
    HTTP_ENTRY_FINE,
    HTTP_ENTRY_BAD, /* it is not JSON */
    HTTP_ENTRY_STOPPED,
    HTTP_ENTRY_TOO_MUCH,
    HTTP_ENTRY_NO_MEMORY
};

/* The rows of an answer with a list `entries`, which are handed over as they come. */
struct http_entries {
    reprise_plugin_row_fn *fn;
    void *arg;
    int64_t after, at; /* rows up to `after` are left out; `at` is the position of the last row */
    struct buf *rest;  /* the answer without the rows; borrowed */
    struct buf entry;  /* the beginning of the next row; owned */
    size_t depth, matched;
    bool string, escaped; /* the next byte is in a string, after a backslash */
    bool inside, found;   /* the next byte is in the list; it has begun */
    enum http_entry_failed failed;
};

/* Takes the next bytes of the answer. Returns false if no more are wanted, for which `failed` is the reason. */
bool http_entries_add(struct http_entries *x, struct slice bytes);

/* ---- request.c ---- */

/* Closes an idle connection. */
void http_disconnect(void *connection);
/* Posts a JSON object to PATH/name. The answer is valid JSON, or empty, and belongs to the caller, also after a failure.
 * entries: takes an answer that is not an error, whose rest is then in `answer`; may be NULL. */
int http_post(struct http *http, const char *name, struct slice body, struct http_entries *entries,
              struct buf *answer, struct reprise_plugin_call *call);

#endif
