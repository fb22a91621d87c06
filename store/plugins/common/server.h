#ifndef STORE_PLUGINS_COMMON_SERVER_H
#define STORE_PLUGINS_COMMON_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/api/reprise_plugin.h"

/* What the plug-ins for servers share: waiting that can be stopped, and connections that are kept. */

int64_t server_now_ms(void);

/* Fails because the server did not answer in time; returns the code. */
int server_timed_out(struct reprise_plugin_call *call);
/* Waits until the socket is ready. FAILED after the deadline, STOPPED if the answer is no longer wanted. */
int server_wait(int fd, short events, int64_t deadline, struct reprise_plugin_call *call);

/* Connections that are not in use. */
enum { SERVER_POOL = 4 };

struct server_pool {
    pthread_mutex_t lock;
    void *idle[SERVER_POOL];
    int idles;
};

void server_pool_init(struct server_pool *pool);
/* NULL: no connection is idle. */
void *server_pool_take(struct server_pool *pool);
/* Returns false if the pool is full; the caller then closes the connection. */
bool server_pool_keep(struct server_pool *pool, void *connection);
/* The pool must be empty. */
void server_pool_fini(struct server_pool *pool);

#endif
