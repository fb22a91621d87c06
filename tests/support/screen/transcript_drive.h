#ifndef TESTS_SUPPORT_SCREEN_TRANSCRIPT_DRIVE_H
#define TESTS_SUPPORT_SCREEN_TRANSCRIPT_DRIVE_H

#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/scan/index.h"
#include "store/api/store.h"
#include "store/systems/claude/claude.h"
#include "tui/jobs/jobs.h"
#include "tui/screens/transcript/transcript.h"

/* Rows. */
#define USER(text) "{\"type\":\"user\",\"message\":{\"content\":\"" text "\"}}\n"
#define SAID(text)                                                                                 \
    "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"" text        \
    "\"}]}}\n"
#define CALL(id, name, input)                                                                      \
    "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"" id        \
    "\",\"name\":\"" name "\",\"input\":" input "}]}}\n"
#define RESULT(id, more, text)                                                                     \
    "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" id \
    "\"" more ",\"content\":\"" text "\"}]}}\n"

/* A transcript view over a file in which every line is a message, its requests served at once and in order, without
 * threads. The file belongs to a small system of our own; its rows are Claude Code's. */
struct drive {
    struct store store;
    char path[64];
    struct session_ref ref;
    struct settings settings;
    struct effects fx;
    struct transcript_view *view;
    struct frame frame;
    struct buf copied; /* the text copied last */
    size_t tail_rows;  /* number of rows in a tail; 0: all */
    unsigned reads;    /* requests of that kind so far */
    size_t read_first; /* messages in the first of their answers, the only one; 0: all */
    bool hold_load;    /* the request for the whole transcript is held back */
    struct effect held;
    struct slice cwd; /* of the session */
    size_t left_out;  /* number of messages at the beginning that a resume does not load */
    size_t lost;      /* by mistake, as the store tells */
    int64_t step_ms;  /* between two messages; 0: they have no time */
    bool counts;      /* the last turn has tokens */
    size_t branches;  /* number of branches; each leaves before its third message */
    /* On a server: a tail has tail_rows for each 512 KiB that are asked for. */
    bool remote, gone;     /* gone: every request fails */
    unsigned tails, loads; /* requests of these kinds so far */
};

static inline struct drive *drive_of(const struct store *st)
{
    return (struct drive *)(void *)st; /* the store is its first member */
}

static inline struct transcript *drive_transcript(const struct drive *d, size_t rows)
{
    struct transcript *t = calloc(1, sizeof *t);
    FILE *f = fopen(d->path, "rb");
    struct stat st;
    char *line = NULL;
    size_t cap = 0, offset = 0;

    assert_non_null(t);
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &st), 0);
    t->id = (struct file_id){ .dev = st.st_dev, .ino = st.st_ino, .size = st.st_size };
    t->size = st.st_size;
    t->path = strdup(d->path);
    for (ssize_t n; (n = getline(&line, &cap, f)) > 0; offset += (size_t)n) {
        if (line[n - 1] != '\n') {
            t->unfinished = true;
            t->unfinished_at = (int64_t)offset;
            break;
        }
        if ((t->n & (t->n - 1)) == 0) /* grows at every power of two */
            t->message = realloc(t->message, (t->n ? 2 * t->n : 1) * sizeof *t->message);
        assert_non_null(t->message);
        t->message[t->n++] = (struct message){ .offset = (int64_t)offset,
                                               .length = (uint32_t)n - 1,
                                               .time_ms = TIME_NONE };
        if (d->step_ms)
            t->message[t->n - 1].time_ms = (int64_t)t->n * d->step_ms;
    }
    free(line);
    fclose(f);
    if (rows && rows < t->n) {
        memmove(t->message, t->message + t->n - rows, rows * sizeof *t->message);
        t->n = rows;
        t->partial = true;
    }
    return t;
}

/* As a server hands it over: the rows themselves, counted from the first. */
static inline void drive_float(struct transcript *t)
{
    int64_t first = t->n ? t->message[0].offset : 0;
    struct buf all = { 0 };

    assert_int_equal(file_read_all(AT_FDCWD, t->path, 0, 1 << 24, &all, NULL), ERR_OK);
    assert_int_equal(buf_add(&t->bytes, (struct slice){ all.p + first, all.n - (size_t)first }),
                     ERR_OK);
    for (size_t i = 0; i < t->n; i++) {
        t->message[i].id = (struct id128){ 1, (uint64_t)t->message[i].offset + 1 };
        t->message[i].offset -= first;
    }
    t->relative_offsets = true;
    buf_fini(&all);
}

static inline enum err_code drive_tail(const struct store *st, const struct session_ref *ref,
                                       size_t bytes, const atomic_bool *cancel,
                                       struct transcript **out, struct err *e)
{
    (void)cancel;
    (void)ref;
    (void)bytes;
    (void)e;
    *out = drive_transcript(drive_of(st), drive_of(st)->tail_rows);
    return ERR_OK;
}

static inline enum err_code drive_load(const struct store *st, const struct session_ref *ref,
                                       const atomic_bool *cancel, struct transcript **out,
                                       struct err *e)
{
    (void)ref;
    (void)cancel;
    (void)e;
    *out = drive_transcript(drive_of(st), 0);
    return ERR_OK;
}

static inline enum err_code drive_blocks(const struct store *st, struct slice row,
                                         struct block_list *out, struct err *e)
{
    (void)st;
    return claude_ops.blocks(NULL, row, out, e);
}

static inline enum err_code drive_branches(const struct store *st, const struct session_ref *ref,
                                           const atomic_bool *cancel, struct branch_list *out,
                                           struct err *e)
{
    (void)ref;
    (void)cancel;
    (void)e;
    out->n = drive_of(st)->branches;
    out->branch = arena_zalloc(&out->arena, (out->n + 1) * sizeof *out->branch);
    assert_non_null(out->branch);
    for (size_t i = 0; i < out->n; i++)
        out->branch[i] = (struct branch){ .leaf = { 7, i },
                                          .time_ms = TIME_NONE,
                                          .messages = i + 1,
                                          .prompt = i ? SLICE("") : SLICE("Try a queue") };
    return ERR_OK;
}

static inline enum err_code drive_subagents(const struct store *st, const struct session_ref *ref,
                                            struct arena *a, struct slice **ids, size_t *n,
                                            struct err *e)
{
    (void)st;
    (void)ref;
    (void)a;
    (void)e;
    *ids = NULL;
    *n = 0;
    return ERR_OK;
}

static const struct store_ops drive_ops = { .name = "drive",
                                            .tail = drive_tail,
                                            .load = drive_load,
                                            .branches = drive_branches,
                                            .blocks = drive_blocks };

static const struct store_ops drive_remote_ops = {
    .name = "drive", .remote = true, .tail = drive_tail, .load = drive_load, .blocks = drive_blocks
};

static inline void drive_answer(struct drive *d, struct msg msg)
{
    msg.now_ms = 0;
    if (!transcript_view_msg(d->view, &msg, &d->fx))
        msg_fini(&msg);
}

static inline void drive_transcript_asked(struct drive *d, const struct effect *q)
{
    size_t pages = d->remote ? q->bytes / (512 * 1024) : 1;
    struct msg gone = { .kind = MSG_FAILED, .generation = q->generation };

    d->tails += q->kind == EFFECT_TAIL;
    d->loads += q->kind == EFFECT_LOAD;
    if (d->gone) {
        err_set(&gone.u.error, ERR_IO, "team", "the server is gone");
        drive_answer(d, gone);
        return;
    }
    struct transcript *t = drive_transcript(d, q->kind == EFFECT_TAIL ? d->tail_rows * pages : 0);

    if (d->remote)
        drive_float(t);
    for (size_t i = 0; i < d->left_out && i < t->n; i++)
        t->message[i].flags |= MESSAGE_LEFT_OUT;
    if (d->lost)
        t->restored = t->n - (t->lost = d->lost);
    if (!id128_none(q->branch) && t->n > 2) {
        t->message[2].flags |= MESSAGE_ASIDE;
        t->message[2].id = q->branch;
    } else if (d->branches > 0 && t->n > 0) {
        t->message[t->n - 1].flags |= MESSAGE_LEAF;
    }

    drive_answer(d, (struct msg){ .kind = MSG_TRANSCRIPT,
                                  .generation = q->generation,
                                  .u.conversation = conversation_new(&d->store, t) });
}

static inline void drive_read_asked(struct drive *d, const struct effect *q)
{
    struct passage_list *list = conversation_passages_new(q->n);

    assert_non_null(list);
    d->reads++;
    for (size_t i = 0; i < q->n && (!d->read_first || d->reads > 1 || i < d->read_first); i++) {
        struct passage *p = &list->passage[list->n++];

        p->message = q->first + i;
        if (transcript_read(q->conversation->transcript, p->message, &p->bytes, &p->error) == 0)
            assert_int_equal(drive_blocks(NULL, buf_slice(&p->bytes), &p->blocks, NULL), ERR_OK);
    }
    drive_answer(
        d, (struct msg){ .kind = MSG_PASSAGES, .generation = q->generation, .u.passages = list });
}

static inline void drive_usage_asked(struct drive *d, const struct effect *q)
{
    struct conversation_usage *u = calloc(1, sizeof *u);

    assert_non_null(u);
    if (d->counts && q->conversation) {
        const struct transcript *t = q->conversation->transcript;

        u->turn = calloc(1, sizeof *u->turn);
        assert_non_null(u->turn);
        u->n = 1;
        u->turn[0].end = t->message[t->n - 1].offset;
        u->turn[0].sum.tokens[USAGE_INPUT] = 1200;
        u->turn[0].sum.tokens[USAGE_OUTPUT] = 34;
    }
    drive_answer(
        d, (struct msg){ .kind = MSG_USAGE, .generation = q->generation, .u.token_usage = u });
}

static inline void drive_branches_asked(struct drive *d, const struct effect *q)
{
    struct branch_list *list = calloc(1, sizeof *list);

    assert_non_null(list);
    assert_int_equal(drive_branches(&d->store, NULL, NULL, list, NULL), ERR_OK);
    drive_answer(
        d, (struct msg){ .kind = MSG_BRANCHES, .generation = q->generation, .u.branches = list });
}

static inline void drive_agents_asked(struct drive *d, const struct effect *q)
{
    struct subagent_list *list = calloc(1, sizeof *list);

    assert_non_null(list);
    list->n = 2;
    list->agent = arena_zalloc(&list->arena, 2 * sizeof *list->agent);
    assert_non_null(list->agent);
    list->agent[0] = (struct subagent){ .id = SLICE("a1"),
                                        .type = SLICE("Explore"),
                                        .task = SLICE("Audit the shop"),
                                        .outcome = SLICE("23 routes"),
                                        .end = SUBAGENT_DONE,
                                        .bytes = 4200 };
    list->agent[1] = (struct subagent){ .id = SLICE("b2"), .bytes = 12 };
    drive_answer(
        d, (struct msg){ .kind = MSG_SUBAGENTS, .generation = q->generation, .u.subagents = list });
}

struct drive_search {
    struct drive *drive;
    unsigned generation;
};

static inline void drive_found(struct search_hits *list, void *arg)
{
    const struct drive_search *s = arg;

    drive_answer(s->drive,
                 (struct msg){ .kind = MSG_FOUND, .generation = s->generation, .u.found = list });
}

static inline void drive_answer_all(struct drive *d)
{
    struct effect q;

    while (effects_pop(&d->fx, &q)) {
        struct drive_search search = { d, q.generation };

        if (q.kind == EFFECT_LOAD && d->hold_load) {
            effect_fini(&d->held);
            d->held = q;
            continue;
        }
        if (q.kind == EFFECT_TAIL || q.kind == EFFECT_LOAD)
            drive_transcript_asked(d, &q);
        else if (q.kind == EFFECT_READ)
            drive_read_asked(d, &q);
        else if (q.kind == EFFECT_SEARCH)
            assert_int_equal(jobs_search_transcript(q.conversation, buf_slice(&q.text), NULL,
                                                    drive_found, &search, NULL),
                             ERR_OK);
        else if (q.kind == EFFECT_USAGE)
            drive_usage_asked(d, &q);
        else if (q.kind == EFFECT_BRANCHES)
            drive_branches_asked(d, &q);
        else if (q.kind == EFFECT_SUBAGENTS)
            drive_agents_asked(d, &q);
        else if (q.kind == EFFECT_COPY) {
            buf_fini(&d->copied);
            d->copied = q.text;
            q.text = (struct buf){ 0 };
        }
        const bool stop = q.kind == EFFECT_READ && d->read_first && d->reads == 1;

        effect_fini(&q);
        if (stop)
            return;
    }
}

/* Sends the whole transcript, which was held back. */
static inline void drive_release_load(struct drive *d)
{
    struct effect q = d->held;

    d->hold_load = false;
    d->held = (struct effect){ .generation = 0 };
    assert_int_equal(q.kind, EFFECT_LOAD);
    drive_transcript_asked(d, &q);
    effect_fini(&q);
    drive_answer_all(d);
}

static inline void drive_append(struct drive *d, struct slice rows)
{
    FILE *f = fopen(d->path, "ab");

    assert_non_null(f);
    assert_int_equal(fwrite(rows.p, 1, rows.n, f), rows.n);
    fclose(f);
}

static inline void drive_init(struct drive *d, struct slice rows)
{
    *d = (struct drive){ .store = { .ops = &drive_ops } };
    snprintf(d->path, sizeof d->path, "/tmp/transcript-XXXXXX");
    int fd = mkstemp(d->path);

    assert_true(fd >= 0);
    close(fd);
    drive_append(d, rows);
    d->ref = (struct session_ref){ .store = &d->store,
                                   .id = SLICE("id"),
                                   .path = { d->path, strlen(d->path) },
                                   .folder = SLICE("") };
}

static inline void drive_open(struct drive *d, enum requester requester, int rows, int cols)
{
    d->view = transcript_view_new(&d->settings, requester);
    assert_non_null(d->view);
    assert_true(frame_init(&d->frame, rows, cols, d->settings.ascii));
    transcript_view_resize(d->view, rows, cols, &d->fx);
    assert_true(transcript_view_open(d->view, &d->ref, SLICE("A title"), d->cwd, &d->fx));
    drive_answer_all(d);
}

static inline enum transcript_view_result drive_act(struct drive *d, enum action a)
{
    enum transcript_view_result request = transcript_view_act(d->view, a, &d->fx);

    drive_answer_all(d);
    return request;
}

static inline void drive_type(struct drive *d, const char *text)
{
    for (; *text; text++) {
        transcript_view_key(d->view, (struct key){ (unsigned char)*text, 0 }, &d->fx);
        drive_answer_all(d);
    }
}

static inline void drive_resize(struct drive *d, int rows, int cols)
{
    frame_fini(&d->frame);
    assert_true(frame_init(&d->frame, rows, cols, d->settings.ascii));
    transcript_view_resize(d->view, rows, cols, &d->fx);
    drive_answer_all(d);
}

/* The contents of the screen; the caller frees. */
static inline char *drive_screen(struct drive *d)
{
    frame_clear(&d->frame);
    transcript_view_draw(d->view, &d->frame, (struct rect){ 0, 0, d->frame.rows, d->frame.cols });
    return frame_dump(&d->frame);
}

static inline void drive_fini(struct drive *d)
{
    transcript_view_free(d->view);
    effect_fini(&d->held);
    effects_fini(&d->fx);
    buf_fini(&d->copied);
    frame_fini(&d->frame);
    unlink(d->path);
}

static inline void assert_screen(struct drive *d, const char *want)
{
    char *got = drive_screen(d);

    assert_non_null(got);
    assert_string_equal(got, want);
    free(got);
}

static inline bool screen_holds(struct drive *d, const char *text)
{
    char *got = drive_screen(d);
    bool held = strstr(got, text) != NULL;

    free(got);
    return held;
}

/* n turns: a prompt "prompt <i>", an answer "answer <i>". */
static inline struct buf long_conversation(int n)
{
    struct buf rows = { 0 };

    for (int i = 0; i < n; i++)
        assert_int_equal(buf_addf(&rows, USER("prompt %d") SAID("answer %d"), i, i), ERR_OK);
    return rows;
}

static inline void open_long_conversation(struct drive *d, int turns, enum requester requester,
                                          int rows, int cols)
{
    struct buf rows_text = long_conversation(turns);

    drive_init(d, buf_slice(&rows_text));
    drive_open(d, requester, rows, cols);
    buf_fini(&rows_text);
}

/* The text of the line the cursor is on. */
static inline void assert_cursor_on(struct drive *d, const char *text)
{
    char *got = drive_screen(d), *line = got;

    for (int y = 0; y < d->frame.cursor_y; y++)
        line = strchr(line, '\n') + 1;
    *strchrnul(line, '\n') = '\0';
    assert_true(d->frame.cursor_y > 0);
    if (!strstr(line, text))
        fail_msg("the cursor is on \"%s\", not on \"%s\"", line, text);
    free(got);
}

#endif
