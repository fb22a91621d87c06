#ifndef STORE_PLUGINS_S3_S3_H
#define STORE_PLUGINS_S3_S3_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/plugins/common/server.h"
#include "store/plugins/common/text.h"

/* Sessions in S3 or a server like it, under the keys of the reference adapters of the agent's SDK:
 *
 *   PREFIX/PROJECT/SESSION/part-MS-HEX.jsonl            rows of the main transcript
 *   PREFIX/PROJECT/SESSION/SUBPATH/part-MS-HEX.jsonl    rows of a sub-agent
 *
 * MS is the time in milliseconds since 1970, 13 digits; HEX are 6 digits. Each append adds one part, which is never
 * changed; the order of the parts is that of their names. Parts with other names are read too. The path is
 * s3://BUCKET/PREFIX?endpoint=URL&region=NAME&profile=NAME; its parameters are also options. Other settings come from
 * where S3 programs usually look for them: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION,
 * AWS_PROFILE, AWS_CA_BUNDLE, ~/.aws/config. The access keys are in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
 * AWS_SESSION_TOKEN, or in ~/.aws/credentials.
 *
 * The position of a row is the time of its part, and the number of its line among those of the parts with this time. */

enum { S3_LINE_BITS = 19 };
#define S3_LINES ((int64_t)1 << S3_LINE_BITS)

/* What the server does with If-None-Match. */
enum s3_conditions { S3_CONDITIONS_UNKNOWN, S3_CONDITIONS_KEPT, S3_CONDITIONS_NONE };

struct s3 {
    struct arena arena; /* owns the texts */
    const char *bucket;
    const char *prefix; /* how all keys begin: "" or with the slash */
    const char *endpoint, *region, *profile;
    const char *key, *secret, *token, *ca_file;
    const char *origin; /* https://HOST[:PORT] */
    const char *host;   /* the header */
    const char *path;   /* the bucket's path: "" or without a slash at the end */
    struct server_pool pool;
    atomic_int conditions;  /* enum s3_conditions */
    pthread_mutex_t lock;   /* guards everything below */
    int64_t last_ms;        /* when this program last named a part by the clock */
    char *known_part;       /* the key of the newest part of the last transcript */
    int64_t known_position; /* the position of that part's last row */
};

/* ---- profile.c ---- */

/* Fills in members that are NULL from the environment and from the files of the profile. */
int s3_find_credentials(struct s3 *s3, struct reprise_plugin_call *call);

/* ---- open.c ---- */

/* The common prefix of the keys of a transcript's parts, up to the slash. NULL: out of memory. */
const char *s3_folder(const struct s3 *s3, const struct reprise_plugin_key *key, struct arena *a);
/* Returns true if the name cannot lead elsewhere: no empty parts, no dots. */
bool s3_is_plain(const char *name, bool with_slashes);
int s3_open(const char *path, const struct reprise_plugin_option *option, size_t options,
            struct reprise_plugin_call *call, void **store);
void s3_close(void *store);

/* ---- sign.c ---- */

/* The signed parts of a request, as they are sent. Path and query are encoded as by s3_encode; the query is sorted, or
 * "". */
struct s3_signed {
    const char *method, *path, *query;
    const char *sum;  /* the SHA-256 of the contents */
    const char *date; /* YYYYMMDDTHHMMSSZ */
};

enum { S3_SHA256_TEXT = 65, S3_DATE = 17 };

/* The SHA-256 in hexadecimal digits. Returns NO_MEMORY or OK. */
int s3_sha256(struct slice bytes, char out[S3_SHA256_TEXT]);
/* The header Authorization that goes with the headers Host, x-amz-content-sha256, x-amz-date, and x-amz-security-token
 * if there is a token (AWS Signature Version 4). libcurl could do this, but its versions differ in how they sign paths
 * and queries: 8.14 refuses a path with dots, and signs a plus as a blank. NULL: out of memory. */
const char *s3_sign(const struct s3 *s3, const struct s3_signed *x, struct arena *a);

/* ---- http.c ---- */

enum { S3_REQUESTS = 32 }; /* at the same time on one connection */

struct s3_request {
    const char *method;    /* NULL: GET */
    const char *key;       /* NULL: the bucket itself */
    const char *query;     /* encoded, sorted; may be NULL */
    const char *range;     /* which bytes are wanted; NULL: all */
    const struct buf *put; /* the bytes of a PUT */
    int64_t expected;      /* bytes of the answer, by a list; not much more is accepted */
    void *owner;
    long status;
    struct buf answer;
    int tries;
    /* Used by http.c. */
    struct s3_conn *conn;
    size_t header_bytes;
    bool too_much;
};

/* It may be several connections of libcurl. */
struct s3_conn;

int s3_acquire(struct s3 *s3, struct s3_conn **out);
/* Ends the requests that are under way. Their memory belongs to the caller again. */
void s3_conn_stop(struct s3_conn *c);
/* The same, and ends the use of the connection. */
void s3_release(struct s3_conn *c);
DEFINE_CLEANUP(struct s3_conn, s3_release);
#define AUTO_CONNECTION CLEANUP(s3_release_at) struct s3_conn
/* The function of the pool. */
void s3_disconnect(void *connection);
/* Starts a request, of at most S3_REQUESTS. It and its texts must stay valid until it is finished. */
int s3_start(struct s3_conn *c, struct s3_request *r);
/* Waits for one of them, in any order; *done is NULL if all are finished. Any status is an answer. */
int s3_finish(struct s3_conn *c, struct reprise_plugin_call *call, struct s3_request **done);
/* Fails if the status is an error; returns the code. */
int s3_check(const struct s3_request *r, struct reprise_plugin_call *call);
/* Runs one request. */
int s3_run(struct s3 *s3, struct s3_request *r, struct reprise_plugin_call *call);
/* Adds a text as a part of a URL. `slashes`: they are not encoded. Returns NO_MEMORY or OK. */
int s3_encode(struct buf *out, const char *text, bool slashes);

/* ---- objects.c ---- */

struct s3_object {
    const char *name; /* after the prefix */
    int64_t size, modified_ms;
    bool folder; /* the name ends in a slash, and several objects begin with it */
};

/* Valid during the call. */
typedef int s3_object_fn(const struct s3_object *object, void *arg);

/* A listing of objects. */
struct s3_query {
    const char *prefix;
    const char *after; /* only names greater than this; may be NULL */
    bool deep;         /* lists the objects in folders, not the folders */
    s3_object_fn *fn;
    void *arg;
    /* Used by s3_run_queries. */
    struct arena a;
    struct s3_request request;
    const char *token; /* names the next page */
};

/* Asks all questions in parallel. */
int s3_run_queries(struct s3 *s3, struct s3_query *q, size_t n, struct reprise_plugin_call *call);
/* The texts of an error document; "" if they are missing. */
struct s3_error {
    char code[64], message[128], region[32];
};
void s3_error_parse(const struct buf *xml, struct s3_error *out);

/* ---- parts.c ---- */

struct s3_part {
    const char *name;
    int64_t size, modified_ms;
    int64_t ms; /* in its name; a name without a time belongs to the part before it */
};

struct s3_parts {
    struct arena a;
    const char *folder;
    struct s3_part *part; /* sorted */
    size_t n, cap;
};

/* Sorts the parts and sets their times. */
void s3_parts_sort(struct s3_part *part, size_t n);
/* Loads the parts of a transcript, from a time on. */
int s3_parts_load(struct s3 *s3, const char *folder, int64_t ms, struct s3_parts *out,
                  struct reprise_plugin_call *call);
void s3_parts_fini(struct s3_parts *p);

typedef int s3_row_fn(int64_t position, struct slice row, void *arg);
/* Passes the rows of the parts from..to-1 to fn in their order. `from` is the first part with its time. Several parts
 * are read in parallel. */
int s3_parts_read(struct s3 *s3, const struct s3_parts *p, size_t from, size_t to, s3_row_fn *fn,
                  void *arg, struct reprise_plugin_call *call);

/* ---- part_name.c ---- */

enum { S3_PART_NAME = 48 };

/* The time in the name of a part, or -1. */
int64_t s3_part_ms(const char *name);
/* The time of a row; TIME_NONE if it has none, or if the clock that made it was ahead of ours. */
int64_t s3_row_ms(struct slice row);
/* A name with the present time, but after the newest part (NULL: none). CHANGED: there is no such time. */
int s3_part_now(struct s3 *s3, const struct s3_part *newest, unsigned random,
                char out[S3_PART_NAME]);
/* The name of a part that must follow the newest one. It depends only on that part and on the time of the first row, so
 * that programs which add the same rows choose the same name. NOT_FOUND: no time is known. */
int s3_part_chain(const struct s3_part *newest, struct slice rows, char out[S3_PART_NAME]);
/* Returns true if the name was chosen by s3_part_chain for a part that follows this one. */
bool s3_part_continues(const char *name, const char *before);

/* ---- rows.c, list.c, append.c, objects.c ---- */

int s3_list(void *store, const struct reprise_plugin_query *query, reprise_plugin_session_fn *fn,
            void *arg, struct reprise_plugin_call *call);
int s3_append(void *store, const struct reprise_plugin_key *key, int64_t after,
              const struct reprise_plugin_text *row, size_t rows, int64_t *last,
              struct reprise_plugin_call *call);
int s3_remove(void *store, const struct reprise_plugin_key *key, struct reprise_plugin_call *call);

#endif
