#ifndef TESTS_SUPPORT_SCREEN_SCREEN_H
#define TESTS_SUPPORT_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/api/store.h"
#include "tui/app/model.h"

/* The screen without a terminal: a model with sessions that exist in memory only, keys pressed by name, effects served
 * as by workers, frames as text.
 *
 * The conversation beside the list and in the viewer is a stand-in that draws "conversation of TITLE": what the
 * transcript view does has tests of its own. Link with screen_views. */
struct fake {
    const char *id, *title, *prompt, *branch, *tag, *cwd, *folder;
    int64_t ago_ms; /* before now */
    int64_t size;
    unsigned flags, restorable;
    bool named;                    /* the title was given by a person */
    unsigned hidden;               /* enum session_hidden */
    bool gone;                     /* no longer listed */
    const char *last;              /* last prompt */
    unsigned unsupported;          /* enum session_can */
    const char *parent;            /* the session it was forked from */
    const char *deep;              /* a title in the middle of its file */
    const char *problem;           /* with HIDDEN_DAMAGED */
    const struct finding *finding; /* findings of the doctor about it */
    size_t findings;
    int64_t expires_ms; /* from now on; 0: never */
};

enum { MINUTE = 60 * 1000, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

struct screen {
    struct settings settings;
    struct store store;
    struct store_ops ops;
    struct fake *fake; /* borrowed */
    size_t fakes;
    int64_t now_ms;
    struct model *model;
    struct effects waiting; /* requests that screen_answer has not yet served */
    /* The effects outside of the model, one a line: "resume ID in DIR", "quit 130", "copy TEXT", "trash ID ID",
     * "rename ID: TEXT". */
    char log[4096];
    size_t worktrees;
    /* Serves requests that screen_answer cannot; may be NULL. */
    void (*answer)(struct screen *s, const struct effect *e);
    bool dir_gone;         /* the reply to EFFECT_RESUME_DIRS */
    int looked_deep;       /* sessions whose whole file was scanned */
    size_t unsure;         /* number that may be in use, for the delete estimate: unknown */
    int64_t side_bytes;    /* size of each session's side files, for disk usage */
    size_t old_snapshots;  /* counted like these: */
    size_t held_snapshots; /* of these, too */
    size_t undo_records;   /* that are old, with a sweep that asks for them */
    bool place_taken;      /* a newer transcript is at the path to restore */
    struct err no_command; /* the reply to a resume-at request, unless its code is ERR_OK */
    const char *pane;      /* of tmux, in which every agent runs; NULL: in none */
    struct err refusal;    /* the reply to the next change, unless its code is ERR_OK */
    char renamed[256];     /* the last title or tag that was given */
    const struct finding *store_findings; /* damage around the sessions */
    size_t arounds;
    struct problem_list *problems; /* of the next listing; ownership passes on */
    enum scope_kind scope;         /* of the last listing */
    int listings;
    struct frame frame;
    char *text;
    char line[2048];
};

/* Five sessions of a shop project, newest first, which together show everything that a row can have. */
enum { SHOP = 5 };
extern const struct fake shop[SHOP];

/* Opens the model; no request is served yet. Settings may have been filled before. */
void screen_open(struct screen *s, struct fake *fake, size_t n, int rows, int cols);
void screen_close(struct screen *s);
/* Takes the effects out of the model; those that are no requests go to the log. */
void screen_take(struct screen *s);
/* Serves one request, which remains the caller's. */
void screen_answer_one(struct screen *s, const struct effect *e);
/* Serves all requests, and those that follow from them, until no request is left. */
void screen_answer(struct screen *s);
/* Opens, serves the requests, and lets the delay pass after which the preview follows. */
void screen_ready(struct screen *s, struct fake *fake, size_t n, int rows, int cols);

/* A screen over the shop; the test may change its sessions. */
struct shop {
    struct screen s;
    struct fake fake[SHOP];
};

void shop_begin(struct shop *x); /* nothing is opened yet */
void shop_ready(struct shop *x, int rows, int cols);
/* A test on the opened list of a shop: AT_SHOP(the_title_is_shown, 24, 80) { ... x ... } */
#define AT_SHOP(name, rows, cols)                                                                  \
    static void name##_on(struct shop *x);                                                         \
    TEST(name)                                                                                     \
    {                                                                                              \
        struct shop x;                                                                             \
                                                                                                   \
        shop_ready(&x, rows, cols);                                                                \
        name##_on(&x);                                                                             \
        screen_close(&x.s);                                                                        \
    }                                                                                              \
    static void name##_on(struct shop *x)

/* Presses keys: letters as they are, others as <Enter> <Esc> <Tab> <S-Tab> <Up> <Down> <Left> <Right> <Home>
 * <End> <PgUp> <PgDn> <Del> <BS> <F1> <C-a> <A-b>. Requests are served after each key. */
void screen_press(struct screen *s, const char *keys);
/* The same without serving requests. */
void screen_press_only(struct screen *s, const char *keys);
void screen_send(struct screen *s, struct msg msg);
void screen_wait(struct screen *s, int64_t ms); /* lets time pass and serves requests */
void screen_resize(struct screen *s, int rows, int cols);

/* The frame as text: valid until the next call. */
const char *screen_text(struct screen *s);
/* One line of it. */
const char *screen_line(struct screen *s, int y);
bool screen_has(struct screen *s, const char *text);
/* The line with the cursor. */
const char *screen_cursor_line(struct screen *s);

/* --- for tests/support/screen*.c */
void screen_note(struct screen *s, const char *fmt, ...);
/* Paths are made from ids: the ref borrows its own. */
struct session_ref screen_ref(const struct screen *s, const struct fake *f, char path[160]);
/* Serves the requests before a change, and the change; returns false for other effects. */
bool screen_answer_change(struct screen *s, const struct effect *e);

#endif
