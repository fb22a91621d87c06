#ifndef TESTS_STORE_SYSTEMS_PLUGIN_QUERY_STORE_H
#define TESTS_STORE_SYSTEMS_PLUGIN_QUERY_STORE_H

#include "store/api/reprise_plugin.h"

/* What the plug-in query_store.c was asked for. It has this many sessions in each of the projects "-w", "-other" and
 * "named", the first one the newest. Those of the first and the last one belong to the directory /w. */
enum { QUERY_SESSIONS = 100 };
#define QUERY_NEWEST_MS INT64_C(1772366500000)

struct query_seen {
    int lists, reads;                  /* since the test set them to 0 */
    struct reprise_plugin_query query; /* of the last list; its texts are gone */
    char project[64];                  /* the names of its projects, each with a blank */
};

#endif
