/* How long a key waits for its frame with many sessions: bench_update [SESSIONS]
 *
 * The model of the screen, without a terminal: sessions arrive as workers would send them while keys are pressed,
 * then every kind of key is pressed with all of them listed. For each: the time until its frame is drawn (the median
 * and the worst of some), and the longest piece of work that follows it (another key would wait for that). For
 * comparison it prints the least that any fuzzy filter must do, a plain subsequence test over the same titles, and the
 * ratio. CPU times are used so that other programs matter little. Results are checked, times never. */
#include <string.h>

#include "bench.h"
#include "store/api/store.h"
#include "tui/app/model.h"
#include "words.h"

enum { ROWS = 60, COLS = 200, BATCH = 4096, PIECE = 64, TIMES = 5, TITLE = 96, PATH = 96, ID = 36 };

struct session {
    char title[TITLE], prompt[2 * TITLE], path[PATH], id[ID + 1];
    int64_t ms, size;
};

struct bench {
    struct store_ops ops;
    struct store store;
    struct session *session;
    size_t n;
    struct model *model;
    struct frame frame;
    int64_t now_ms;
    double longest; /* the longest piece of work since it was last set to 0 */
    struct effect waiting[64];
    size_t asked;
    size_t described;
};

static void sentence(char *out, size_t size, size_t count, unsigned *seed)
{
    size_t n = 0;

    for (size_t i = 0; i < count && n < size; i++) {
        *seed = *seed * 1103515245u + 12345u;
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "",
                              words[(*seed >> 16) % (sizeof words / sizeof *words)]);
    }
}

static void make_sessions(struct bench *b)
{
    unsigned seed = 1;

    for (size_t i = 0; i < b->n; i++) {
        struct session *s = &b->session[i];

        sentence(s->title, sizeof s->title, 7, &seed);
        sentence(s->prompt, sizeof s->prompt, 20, &seed);
        seed = seed * 1103515245u + 12345u;
        snprintf(s->id, sizeof s->id, "%08x-0000-4000-8000-%012zx", seed, i);
        snprintf(s->path, sizeof s->path,
                 "/home/user/.claude/projects/-home-user-src-%02zu/%s.jsonl", i % 20, s->id);
        s->ms = 1760000000000 + (int64_t)(seed >> 2) * 7;
        s->size = 1000 + (int64_t)(seed >> 8) % 5000000;
    }
}

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- replies of workers ---- */

static void take_effects(struct bench *b)
{
    struct effect e;

    while (effects_pop(model_effects(b->model), &e)) {
        bool question = e.kind == EFFECT_LIST || e.kind == EFFECT_DESCRIBE;

        if (question && b->asked < sizeof b->waiting / sizeof *b->waiting)
            b->waiting[b->asked++] = e;
        else
            effect_fini(&e);
    }
}

/* One turn of the loop without a frame. */
static void send(struct bench *b, struct msg m)
{
    double from = cpu_now();

    m.now_ms = b->now_ms;
    update(b->model, &m);
    double took = cpu_now() - from;

    if (took > b->longest)
        b->longest = took;
    take_effects(b);
}

static struct session_ref ref_of(const struct bench *b, size_t i)
{
    const struct session *s = &b->session[i];

    return (struct session_ref){
        .store = &b->store,
        .id = slice_of(s->id),
        .path = slice_of(s->path),
        .folder = SLICE("-home-user-src"),
        .file = { .ino = i + 1, .size = s->size, .mtime_ns = s->ms * 1000000 },
    };
}

static struct session_row *row_of(const struct bench *b, const struct session_ref *ref)
{
    struct session_row *row = session_row_new();

    bench_need(row != NULL, "make a row");
    const struct session *s = &b->session[ref->file.ino - 1];

    row->ref = *ref;
    row->ref.id = slice_of(s->id);
    row->ref.path = slice_of(s->path);
    row->ref.folder = SLICE("-home-user-src");
    row->summary = slice_of(s->title);
    row->first_prompt = slice_of(s->prompt);
    row->git_branch = SLICE("main");
    row->cwd = SLICE("/home/user/src/shop");
    row->created_ms = s->ms - 60000;
    row->modified_ms = row->activity_ms = s->ms;
    return row;
}

static void answer_describe(struct bench *b, struct effect *e)
{
    for (size_t i = 0; i < e->refs->n;) {
        struct described_list *list = described_list_new(PIECE);

        bench_need(list != NULL, "answer");
        for (; i < e->refs->n && list->n < PIECE; i++)
            list->item[list->n++] = (struct described){
                .entry = e->refs->entry[i],
                .row = row_of(b, &e->refs->ref[i]),
            };
        b->described += list->n;
        send(b, (struct msg){
                    .kind = MSG_DESCRIBED, .generation = e->generation, .u.described = list });
    }
}

static void draw(struct bench *b)
{
    frame_clear(&b->frame);
    render(b->model, &b->frame);
}

/* Works until the model has nothing more to do. */
static void settle(struct bench *b)
{
    for (;;) {
        int64_t wake = model_wake_ms(b->model);

        if (b->asked > 0) {
            struct effect e = b->waiting[0];

            memmove(b->waiting, b->waiting + 1, --b->asked * sizeof *b->waiting);
            if (e.kind == EFFECT_DESCRIBE)
                answer_describe(b, &e);
            effect_fini(&e);
        } else if (wake != TIME_NONE && wake <= b->now_ms) {
            send(b, (struct msg){ .kind = MSG_TICK });
        } else {
            return;
        }
    }
}

/* Returns the time until the key's frame is drawn; the work that follows is done as well. */
static double press(struct bench *b, struct key key)
{
    double from = cpu_now();

    send(b, (struct msg){ .kind = MSG_KEY, .u.key = key });
    draw(b);
    return cpu_now() - from;
}

/* ---- while sessions arrive ---- */

static void arrive(struct bench *b)
{
    unsigned generation = b->waiting[0].generation;
    double worst = 0, from = cpu_now();

    bench_need(b->asked == 1 && b->waiting[0].kind == EFFECT_LIST, "a listing is asked for");
    effect_fini(&b->waiting[0]);
    b->asked = 0;
    b->longest = 0;
    for (size_t i = 0; i < b->n;) {
        struct ref_list *refs = ref_list_new();

        bench_need(refs != NULL, "list");
        for (size_t end = i + BATCH; i < b->n && i < end; i++) {
            struct session_ref ref = ref_of(b, i);

            bench_need(ref_list_add(refs, &ref, 0), "list");
        }
        send(b, (struct msg){ .kind = MSG_SESSIONS, .generation = generation, .u.sessions = refs });
        b->now_ms += 10;
    }
    send(b, (struct msg){ .kind = MSG_LISTED, .generation = generation });
    printf("  %zu sessions listed: longest piece of work %.1f ms\n", b->n, b->longest * 1e3);
    b->longest = 0;
    /* Presses some keys for every few thousand rows, in a list that is still being read. */
    const struct key keys[] = { { .code = 'p' },
                                { .code = 'a' },
                                { .code = KEYCODE_DOWN },
                                { .code = 'u', .mods = MOD_CTRL } };

    for (size_t at = 0; b->asked > 0; at++) {
        struct effect e = b->waiting[0];

        memmove(b->waiting, b->waiting + 1, --b->asked * sizeof *b->waiting);
        answer_describe(b, &e);
        effect_fini(&e);
        b->now_ms += 7;
        send(b, (struct msg){ .kind = MSG_TICK });
        if (at % 8 == 0) {
            double took = press(b, keys[at / 8 % 4]);

            worst = took > worst ? took : worst;
        }
    }
    b->now_ms += 1000;
    settle(b);
    send(b, (struct msg){ .kind = MSG_KEY, .u.key = { .code = 'u', .mods = MOD_CTRL } });
    settle(b);
    printf("  described in %.0f ms, with keys between: longest wait for a frame %.1f ms, longest "
           "piece of work %.1f ms\n",
           (cpu_now() - from) * 1e3, worst * 1e3, b->longest * 1e3);
    bench_need(b->described >= b->n, "all are described");
}

/* ---- keys ---- */

static size_t plain_pass(const struct bench *b, struct slice letters)
{
    size_t found = 0;

    for (size_t i = 0; i < b->n; i++) {
        const char *p = b->session[i].title;

        for (size_t k = 0; p && k < letters.n; k++) {
            p = strchr(p, letters.p[k]);
            p = p ? p + 1 : NULL;
        }
        found += p != NULL;
    }
    return found;
}

struct stroke {
    const char *name;
    struct key key;
    const char *typed; /* the query with this letter; NULL: no letter */
};

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double press_and_settle(struct bench *b, struct key key, double *after)
{
    double took = press(b, key);

    b->longest = 0;
    settle(b);
    *after = b->longest > *after ? b->longest : *after;
    return took;
}

static void measure(struct bench *b, const struct stroke *strokes, size_t n)
{
    double frame[16][TIMES], after[16] = { 0 }, plain[16] = { 0 };
    size_t found = 0;

    for (int round = 0; round < TIMES; round++) {
        for (size_t i = 0; i < n; i++) {
            frame[i][round] = press_and_settle(b, strokes[i].key, &after[i]);
            double from = cpu_now();

            found += plain_pass(b, slice_of(strokes[i].typed ? strokes[i].typed : "fix"));
            double took = cpu_now() - from;

            if (plain[i] == 0 || took < plain[i])
                plain[i] = took;
            b->now_ms += 1000;
            settle(b);
        }
    }
    bench_need(found > 0, "a plain pass finds something");
    for (size_t i = 0; i < n; i++) {
        qsort(frame[i], TIMES, sizeof frame[i][0], by_size);
        printf("  %-14s frame after %5.1f ms, at most %5.1f, then pieces of %5.1f ms at most   "
               "plain pass %5.1f ms   ratio %5.2f\n",
               strokes[i].name, frame[i][TIMES / 2] * 1e3, frame[i][TIMES - 1] * 1e3,
               after[i] * 1e3, plain[i] * 1e3, frame[i][TIMES / 2] / plain[i]);
    }
}

static bool shows(const struct bench *b, const char *text)
{
    size_t n = strlen(text);

    for (int y = 0; y < b->frame.rows; y++) {
        char line[COLS * 8];
        size_t used = 0;

        for (int x = 0; x < b->frame.cols; x++) {
            const struct cell *c = &b->frame.cell[y * b->frame.cols + x];

            memcpy(line + used, c->bytes, c->len);
            used += c->len;
        }
        if (memmem(line, used, text, n))
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    static const struct stroke strokes[] = {
        { "p", { .code = 'p' }, "p" },
        { "pa", { .code = 'a' }, "pa" },
        { "pay", { .code = 'y' }, "pay" },
        { "payr", { .code = 'r' }, "payr" },
        { "payre", { .code = 'e' }, "payre" },
        { "payret", { .code = 't' }, "payret" },
        { "Backspace", { .code = KEYCODE_BACKSPACE }, "payre" },
        { "Down", { .code = KEYCODE_DOWN }, NULL },
        { "End", { .code = KEYCODE_END }, NULL },
        { "Ctrl+S created", { .code = 's', .mods = MOD_CTRL }, NULL },
        { "Ctrl+U", { .code = 'u', .mods = MOD_CTRL }, NULL },
        { "Ctrl+S size", { .code = 's', .mods = MOD_CTRL }, NULL },
        { "Ctrl+S title", { .code = 's', .mods = MOD_CTRL }, NULL },
        { "Ctrl+S recent", { .code = 's', .mods = MOD_CTRL }, NULL },
        { "Ctrl+T preview", { .code = 't', .mods = MOD_CTRL }, NULL },
        { "Home", { .code = KEYCODE_HOME }, NULL },
    };
    struct settings settings = { .project = SLICE("/home/user/src/shop") };
    struct bench b = { .n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000,
                       .now_ms = 1775000000000 };

    b.ops.name = "claude";
    b.store.ops = &b.ops;
    b.session = calloc(b.n, sizeof *b.session);
    b.model = model_new(&settings, b.now_ms);
    bench_need(b.session && b.model && frame_init(&b.frame, ROWS, COLS, false), "start");
    make_sessions(&b);
    printf("update and render with %zu sessions at %dx%d\n", b.n, COLS, ROWS);
    send(&b, (struct msg){ .kind = MSG_RESIZE, .u.size = { ROWS, COLS } });
    arrive(&b);
    draw(&b);
    char total[64];

    snprintf(total, sizeof total, " %zu sessions", b.n);
    bench_need(shows(&b, total), "all sessions are on the list");
    measure(&b, strokes, sizeof strokes / sizeof *strokes);
    frame_fini(&b.frame);
    model_free(b.model);
    while (b.asked > 0)
        effect_fini(&b.waiting[--b.asked]);
    free(b.session);
    return 0;
}
