#ifndef STORE_PLUGINS_COMMON_SERVER_H
#define STORE_PLUGINS_COMMON_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/cleanup.h"
#include "lite/base/slice.h"
#include "store/api/reprise_plugin.h"

/* What the plug-ins for servers share: waiting that can be stopped, and connections that are kept. */

/* Returns the code of a step that is not OK. */
#define PLUGIN_TRY(call)                                                                           \
    do {                                                                                           \
        int try_code = (call);                                                                     \
                                                                                                   \
        if (try_code)                                                                              \
            return try_code;                                                                       \
    } while (0)

int64_t server_now_ms(void);

/* What a server may send. A whole answer is in memory, so that its size is limited; its bytes must come at a rate, so
 * that a server which sends one from time to time is given up. The limits are far beyond what real sessions meet. */
enum {
    SERVER_BYTES_PER_MS = 16,
    SERVER_ANSWER_MOST = 128 << 20, /* bytes of one answer */
    SERVER_NAMES_MOST = 1000000,    /* in one list: keys, objects */
    SERVER_NAME_BYTES_MOST = 128 << 20,
};

/* The query with the members that the program does not know set to 0. */
struct reprise_plugin_query server_query(const struct reprise_plugin_query *query);

/* Returns false if the query leaves out the sessions of this project. */
bool server_wants(const struct reprise_plugin_query *query, struct slice project);
/* Lists a session without its rows. Returns STOPPED or OK. */
int server_list_bare(const char *project, const char *session, int64_t mtime_ms,
                     reprise_plugin_session_fn *fn, void *arg);

/* Fails because the server did not answer in time; returns the code. */
int server_timed_out(struct reprise_plugin_call *call);
/* The same because an answer or a list is larger than the limits. */
int server_sends_too_much(struct reprise_plugin_call *call);
/* Waits until the socket is ready. FAILED after the deadline, STOPPED if the answer is no longer wanted. A socket that
 * is always ready does not prevent either. */
int server_wait(int fd, short events, int64_t deadline, struct reprise_plugin_call *call);

/* The names that a list has so far. */
struct server_names {
    size_t n, bytes;
};

/* Counts a name; false if there are too many. */
static inline bool server_count_name(struct server_names *names, size_t bytes)
{
    names->n++;
    names->bytes += bytes;
    return names->n <= SERVER_NAMES_MOST && names->bytes <= SERVER_NAME_BYTES_MOST;
}

/* Connections that are not in use. */
enum { SERVER_POOL = 4 };

struct server_pool {
    pthread_mutex_t lock;
    void *idle[SERVER_POOL];
    int idles;
    bool (*is_usable)(void *connection); /* NULL: an idle connection always is */
    void (*close)(void *connection);
};

void server_pool_init(struct server_pool *pool, bool (*is_usable)(void *connection),
                      void (*close)(void *connection));
/* Returns an idle connection that can be used, and closes those that cannot. NULL: a new one is needed. */
void *server_pool_take(struct server_pool *pool);
/* Ends the use of a connection, which is closed if it cannot be used again or the pool is full. */
void server_pool_return(struct server_pool *pool, void *connection, bool usable);
/* Closes the idle connections. */
void server_pool_fini(struct server_pool *pool);

#endif
