#include "tests/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/rewind.h"
#include "support/rewind/rewind_case.h"

/* Random trees and random plans over them, from a seed each: names in several scripts and in none, deep directories, modes,
 * links, obstructions, texts and bytes, single hunks. These must hold for all of them:
 *
 *   a preview writes nothing, and a second one is equal; apply does what the preview showed, file by file, and touches
 *   nothing else; a new preview is then empty; undo restores everything, times and modes included; redo repeats the
 *   apply, and can be undone again.
 *
 * REPRISE_SEEDS sets the number of seeds (40), REPRISE_SEED the first one (1). */

enum { FILES = 12, TEXT = 2000 };

struct made {
    char name[600];
    char present[TEXT], wanted[TEXT];
    size_t present_n, wanted_n;
    bool is_file, absent; /* a plain file is at the path; no file is wanted */
    uint32_t mode;        /* the wanted mode; 0: unspecified */
};

struct world {
    struct rewind_case *p;
    struct made made[FILES];
    unsigned long first, seed; /* the seed, and the generator's state */
};

static unsigned draw(struct world *w, unsigned n)
{
    w->seed = w->seed * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(w->seed >> 33) % n;
}

/* ---- trees ---- */

static const char *const parts[] = {
    "src",
    "a b",
    "\xc3\xbc",
    "u\xcc\x88",
    "\xe6\x97\xa5\xe6\x9c\xac",
    "\xf0\x9f\x98\x80",
    "\xff\xfe",
    ".hidden",
    "%2F",
    "e\xcc\x81.txt",
    "'quoted\"",
    "x",
};

static void draw_name(struct world *w, size_t i)
{
    struct made *m = &w->made[i];
    unsigned depth = draw(w, 8) ? draw(w, 4) : 30;
    int n = snprintf(m->name, sizeof m->name, "ws");

    for (unsigned k = 0; k < depth; k++)
        n += snprintf(m->name + n, sizeof m->name - (size_t)n, "/%s",
                      parts[draw(w, sizeof parts / sizeof *parts)]);
    snprintf(m->name + n, sizeof m->name - (size_t)n, "/f%zu%s", i,
             parts[draw(w, sizeof parts / sizeof *parts)]);
}

/* Lines that mostly repeat, so that there are hunks; with and without a final newline, with CRLF; or arbitrary
 * bytes. */
static size_t draw_text(struct world *w, char out[TEXT], unsigned kind)
{
    size_t n = 0;
    unsigned lines = kind == 0 ? 0 : 1 + draw(w, 60);

    for (unsigned i = 0; i < lines; i++)
        n += (size_t)snprintf(out + n, TEXT - n, "line %u%s%s", i, draw(w, 9) ? "" : " changed",
                              kind == 2 ? "\r\n" : "\n");
    if (kind == 3 && n > 4)
        memcpy(out + 2, "\0\xff", 2);
    return n > 0 && draw(w, 4) == 0 ? n - 1 : n;
}

/* With the modes that a rewind gives recreated directories: it does not keep those of directories that were empty. */
static void open_dirs(struct world *w, const char *name)
{
    char path[4096], *slash;

    folder_path(&w->p->folder, name, path);
    while ((slash = strrchr(path, '/')) && strcmp(path, w->p->root) != 0) {
        *slash = '\0';
        assert_int_equal(chmod(path, 0755), 0);
    }
}

static void put_present(struct world *w, struct made *m)
{
    static const mode_t modes[] = { 0600, 0644, 0755, 0400, 0664 };
    struct folder *f = &w->p->folder;
    char path[4096], other[4200];
    unsigned kind = draw(w, 12);

    if (kind < 3)
        return; /* nothing at the path */
    folder_put(f, m->name, (struct slice){ m->present, m->present_n });
    folder_path(f, m->name, path);
    open_dirs(w, m->name);
    folder_mtime(f, m->name, 1600000000000000000 + (int64_t)draw(w, 1U << 31));
    assert_int_equal(chmod(path, modes[draw(w, 5)]), 0);
    m->is_file = kind < 9;
    if (m->is_file)
        return;
    snprintf(other, sizeof other, "%s.other", path);
    if (kind == 9) {
        assert_int_equal(link(path, other), 0);
        return;
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(kind == 10 ? symlink("/etc/passwd", path) : mkdir(path, 0755), 0);
}

static void draw_world(struct world *w)
{
    struct rewind_case *p = w->p;
    char path[4096];

    for (size_t i = 0; i < FILES; i++) {
        struct made *m = &w->made[i];
        unsigned kind = draw(w, 4);

        *m = (struct made){ .absent = draw(w, 4) == 0, .mode = draw(w, 3) ? 0 : 0750 };
        draw_name(w, i);
        m->present_n = draw_text(w, m->present, kind);
        m->wanted_n = draw_text(w, m->wanted, draw(w, 6) ? kind : draw(w, 4));
        if (draw(w, 6) == 0) {
            memcpy(m->wanted, m->present, m->present_n);
            m->wanted_n = m->present_n;
        }
        put_present(w, m);
        struct rewind_target t = { .path = folder_path(&p->folder, m->name, path),
                                   .want = m->absent ? REWIND_ABSENT : REWIND_BYTES,
                                   .prune = m->absent ? draw(w, 3) : 0,
                                   .source.bytes = { m->wanted, m->absent ? 0 : m->wanted_n },
                                   .has_mode = m->mode != 0,
                                   .mode = m->mode };

        assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
    }
}

/* ---- invariants ---- */

static void is_as_wanted(const struct world *w, size_t i)
{
    const struct made *m = &w->made[i];
    char path[4096];
    struct stat st;
    size_t n;

    if (m->absent) {
        assert_int_equal(lstat(folder_path(&w->p->folder, m->name, path), &st), -1);
        return;
    }
    char *bytes = folder_get(&w->p->folder, m->name, &n);

    assert_int_equal(n, m->wanted_n);
    if (n)
        assert_memory_equal(bytes, m->wanted, n);
    free(bytes);
    assert_int_equal(stat(folder_path(&w->p->folder, m->name, path), &st), 0);
    if (m->mode)
        assert_int_equal(st.st_mode & 07777, m->mode);
}

static void did_what_it_said(struct world *w)
{
    const struct rewind_preview *p = &w->p->preview;

    for (size_t i = 0; i < p->n; i++) {
        enum rewind_action action = p->entry[i].action;
        bool done = action != REWIND_REFUSED && action != REWIND_UNCHANGED;

        assert_int_equal(w->p->result.outcome[i], done ? REWIND_DONE : REWIND_SKIPPED);
        if (action != REWIND_REFUSED)
            is_as_wanted(w, i);
        /* Only paths that are no plain file, or have another name, are refused. */
        if (w->made[i].is_file)
            assert_int_not_equal(action, REWIND_REFUSED);
    }
}

static void must_be(const struct world *w, const char *image, const char *when)
{
    char *now = folder_image(&w->p->folder, "ws");

    if (strcmp(now, image) != 0)
        fail_msg("seed %lu, %s:\n%s\nis not\n%s", w->first, when, now, image);
    free(now);
}

static void take_back(struct world *w, const char *id)
{
    struct rewind_case *p = w->p;
    char record[40];

    snprintf(record, sizeof record, "%s", id);
    forget(p);
    assert_int_equal(rewind_undo_plan(&p->env, record, &p->plan, &p->e), ERR_OK);
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
    assert_int_equal(p->result.conflicts, 0);
}

/* Undo, redo and undo; after the redo only the times of files differ. */
static void back_and_forth(struct world *w, const char *before)
{
    if (!w->p->result.undo[0])
        return;
    take_back(w, w->p->result.undo);
    must_be(w, before, "after the undo");
    take_back(w, w->p->result.undo);
    for (size_t i = 0; i < FILES; i++)
        if (w->made[i].is_file)
            is_as_wanted(w, i);
    take_back(w, w->p->result.undo);
    must_be(w, before, "after the undo of the redo");
}

static void whole(struct world *w)
{
    struct rewind_case *p = w->p;
    char *before = folder_image(&p->folder, "ws"), id[65];

    assert_int_equal(look(p), ERR_OK);
    memcpy(id, p->preview.id, sizeof id);
    assert_int_equal(look(p), ERR_OK);
    assert_string_equal(id, p->preview.id);
    must_be(w, before, "after the dry run");
    assert_int_equal(apply(p), ERR_OK);
    did_what_it_said(w);
    assert_int_equal(look(p), ERR_OK);
    for (size_t i = 0; i < p->preview.n; i++)
        assert_true(p->preview.entry[i].action == REWIND_UNCHANGED ||
                    p->preview.entry[i].action == REWIND_REFUSED);
    back_and_forth(w, before);
    free(before);
}

/* ---- hunks ---- */

/* Some hunks of each file first, then all the rest; together they are the full rewind. */
static void in_two_pieces(struct world *w)
{
    struct rewind_case *p = w->p;
    struct rewind_selection pick[FILES] = { 0 };
    bool hunk[FILES][64] = { { false } };
    char *before = folder_image(&p->folder, "ws"), first[40];

    assert_int_equal(look(p), ERR_OK);
    for (size_t i = 0; i < p->preview.n; i++) {
        const struct made *m = &w->made[i];
        struct linediff d;

        pick[i].ticked = draw(w, 2);
        if (p->preview.entry[i].action != REWIND_RESTORE || p->preview.entry[i].binary)
            continue;
        assert_int_equal(linediff_make((struct slice){ m->present, m->present_n },
                                       (struct slice){ m->wanted, m->wanted_n }, REWIND_CONTEXT, &d,
                                       NULL),
                         ERR_OK);
        for (size_t k = 0; k < d.hunks && k < 64; k++)
            hunk[i][k] = draw(w, 2);
        pick[i].hunk = hunk[i];
        pick[i].hunks = d.hunks;
        linediff_fini(&d);
    }
    assert_int_equal(rewind_apply_selected(&p->env, &p->preview, pick, &p->result, &p->e), ERR_OK);
    p->env.now_ms++;
    assert_int_equal(p->result.conflicts, 0);
    memcpy(first, p->result.undo, sizeof first);
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
    did_what_it_said(w);
    if (p->result.undo[0])
        take_back(w, p->result.undo);
    if (first[0])
        take_back(w, first);
    must_be(w, before, "after both pieces were undone");
    free(before);
}

/* ---- all seeds ---- */

static void run(unsigned long seed, void (*property)(struct world *))
{
    struct world w = { .first = seed, .seed = seed };
    char top[4096];

    assert_int_equal(set_up((void **)&w.p), 0);
    assert_int_equal(chmod(folder_path(&w.p->folder, "ws", top), 0755), 0);
    draw_world(&w);
    property(&w);
    tear_down((void **)&w.p);
}

static unsigned long number_of(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

static void all_seeds(void (*property)(struct world *))
{
    unsigned long from = number_of("REPRISE_SEED", 1), n = number_of("REPRISE_SEEDS", 40);

    for (unsigned long seed = from; seed < from + n; seed++) {
        if (n == 1)
            print_message("seed %lu\n", seed);
        run(seed, property);
    }
}

TEST(the_apply_matches_the_preview_and_can_be_undone)
{
    all_seeds(whole);
}

TEST(partial_rewinds_add_up_and_can_be_undone)
{
    all_seeds(in_two_pieces);
}

TEST_MAIN
{
    folder_in_memory();
    umask(022);
    return test_run(NULL, NULL);
}
