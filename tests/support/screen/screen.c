#include "support/screen/screen.h"

#include "tests/test.h"

#include <stdlib.h>

#include "lite/base/utf8.h"

static struct slice text_of(const char *text)
{
    return text ? slice_of(text) : (struct slice){ 0 };
}

/* Paths are made from ids in static buffers; refs borrow them for a call. */
struct session_ref screen_ref(const struct screen *s, const struct fake *f, char path[160])
{
    int n = snprintf(path, 160, "/home/u/.claude/projects/%s/%s.jsonl",
                     f->folder ? f->folder : "shop", f->id);

    return (struct session_ref){
        .store = &s->store,
        .id = text_of(f->id),
        .path = { path, (size_t)n },
        .folder = text_of(f->folder ? f->folder : "shop"),
        .file = { .ino = (uint64_t)(f - s->fake) + 1,
                  .size = f->size,
                  .mtime_ns = (s->now_ms - f->ago_ms) / 1000 * 1000 * 1000000 },
    };
}

static struct slice keep(struct session_row *row, const char *text)
{
    return arena_copy(&row->arena, text_of(text));
}

static struct session_row *row_of(const struct screen *s, const struct fake *f,
                                  const struct session_ref *ref)
{
    struct session_row *row = session_row_new();

    assert_non_null(row);
    row->ref = *ref;
    row->ref.id = arena_copy(&row->arena, ref->id);
    row->ref.path = arena_copy(&row->arena, ref->path);
    row->ref.folder = arena_copy(&row->arena, ref->folder);
    row->hidden = (enum session_hidden)f->hidden;
    row->problem = f->problem;
    row->flags = f->flags;
    row->can = (CAN_RESUME | CAN_REWIND | CAN_RENAME | CAN_TAG | CAN_ARCHIVE | CAN_FORK |
                CAN_RESUME_AT | (s->ops.remote ? CAN_REMOVE : CAN_DELETE)) &
               ~f->unsupported;
    row->summary = keep(row, f->title);
    if (f->named)
        row->custom_title = row->summary;
    row->first_prompt = keep(row, f->prompt);
    row->last_prompt = keep(row, f->last);
    row->git_branch = keep(row, f->branch);
    row->tag = keep(row, f->tag);
    row->parent_id = keep(row, f->parent);
    row->cwd = keep(row, f->cwd);
    row->created_ms = s->now_ms - f->ago_ms - HOUR;
    row->modified_ms = row->activity_ms = s->now_ms - f->ago_ms;
    row->restorable = f->restorable;
    if (f->expires_ms)
        row->expires_ms = s->now_ms + f->expires_ms;
    row->live_pid = f->flags & SESSION_LIVE ? 4242 : 0;
    return row;
}

void screen_open(struct screen *s, struct fake *fake, size_t n, int rows, int cols)
{
    if (!s->now_ms)
        s->now_ms = INT64_C(1772000000000);
    s->ops.name = "claude";
    s->store.ops = &s->ops;
    s->fake = fake;
    s->fakes = n;
    s->settings.home = SLICE("/home/u");
    s->settings.project = SLICE("/home/u/src/shop");
    /* Hunks are the same at any width. */
    if (s->settings.density == DENSITY_AUTO)
        s->settings.density = DENSITY_ONE_LINE;
    s->model = model_new(&s->settings, s->now_ms);
    assert_non_null(s->model);
    screen_resize(s, rows, cols);
}

void screen_close(struct screen *s)
{
    effects_fini(&s->waiting);
    model_free(s->model);
    frame_fini(&s->frame);
    free(s->text);
    problem_list_free(s->problems);
}

void screen_note(struct screen *s, const char *fmt, ...)
{
    size_t n = strlen(s->log);
    va_list args;

    va_start(args, fmt);
    vsnprintf(s->log + n, sizeof s->log - n, fmt, args);
    va_end(args);
}

static void log_rows(struct screen *s, const struct effect *e)
{
    for (size_t i = 0; i < e->row_count; i++)
        screen_note(s, " %.8s", e->rows[i]->ref.id.p);
}

static void done_outside(struct screen *s, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_RESUME:
        screen_note(s, "resume");
        log_rows(s, e);
        screen_note(s, " in %.*s\n", (int)e->text.n, e->text.p);
        break;
    case EFFECT_GO:
    case EFFECT_PRINT:
        screen_note(s, e->kind == EFFECT_GO ? "go" : "print");
        log_rows(s, e);
        screen_note(s, "\n");
        break;
    case EFFECT_COPY: screen_note(s, "copy %.*s\n", (int)e->text.n, e->text.p); break;
    case EFFECT_EDIT: screen_note(s, "edit %.*s\n", (int)e->text.n, e->text.p); break;
    case EFFECT_SUSPEND: screen_note(s, "suspend\n"); break;
    case EFFECT_REDRAW: screen_note(s, "redraw\n"); break;
    case EFFECT_QUIT: screen_note(s, "quit %d\n", e->code); break;
    default: break;
    }
}

void screen_take(struct screen *s)
{
    struct effect e;

    while (effects_pop(model_effects(s->model), &e)) {
        if (e.kind < EFFECT_CANCEL) {
            assert_true(s->waiting.n < EFFECTS_MAX);
            s->waiting.item[s->waiting.n++] = e;
            continue;
        }
        done_outside(s, &e);
        effect_fini(&e);
    }
}

void screen_send(struct screen *s, struct msg msg)
{
    msg.now_ms = s->now_ms;
    update(s->model, &msg);
    screen_take(s);
}

static void answer_list(struct screen *s, const struct effect *e)
{
    struct ref_list *refs = ref_list_new();

    assert_non_null(refs);
    s->scope = e->scope;
    s->listings++;
    for (size_t i = 0; i < s->fakes; i++) {
        char path[160];
        struct session_ref ref = screen_ref(s, &s->fake[i], path);

        if (!s->fake[i].gone)
            assert_true(ref_list_add(refs, &ref, 0));
    }
    screen_send(
        s, (struct msg){ .kind = MSG_SESSIONS, .generation = e->generation, .u.sessions = refs });
    struct msg end = { .kind = MSG_LISTED, .generation = e->generation };

    end.u.listed.problems = s->problems;
    end.u.listed.worktrees = s->worktrees;
    s->problems = NULL;
    screen_send(s, end);
}

static void answer_describe(struct screen *s, const struct effect *e)
{
    struct described_list *list = described_list_new(e->refs->n);

    assert_non_null(list);
    for (size_t i = 0; i < e->refs->n; i++) {
        const struct session_ref *ref = &e->refs->ref[i];
        const struct fake *f = &s->fake[ref->file.ino - 1];

        list->item[list->n++] = (struct described){ .entry = e->refs->entry[i],
                                                    .row = f->gone ? NULL : row_of(s, f, ref),
                                                    .code = f->gone ? ERR_NOT_FOUND : ERR_OK };
    }
    screen_send(
        s, (struct msg){ .kind = MSG_DESCRIBED, .generation = e->generation, .u.described = list });
}

static void answer_weights(struct screen *s, const struct effect *e)
{
    struct described_list *list = described_list_new(e->refs->n);

    assert_non_null(list);
    for (size_t i = 0; i < e->refs->n; i++)
        list->item[list->n++] =
            (struct described){ .entry = e->refs->entry[i],
                                .bytes = e->refs->ref[i].file.size + s->side_bytes };
    screen_send(s, (struct msg){
                       .kind = MSG_DISK_USAGE, .generation = e->generation, .u.described = list });
}

static void answer_deep(struct screen *s, const struct effect *e)
{
    struct described_list *list = described_list_new(e->refs->n);

    assert_non_null(list);
    for (size_t i = 0; i < e->refs->n; i++) {
        const struct fake *f = &s->fake[e->refs->ref[i].file.ino - 1];
        struct described *d = &list->item[list->n++];

        *d = (struct described){ .entry = e->refs->entry[i] };
        s->looked_deep++;
        if (!f->deep || f->gone)
            continue;
        d->row = row_of(s, f, &e->refs->ref[i]);
        d->row->custom_title = d->row->summary = keep(d->row, f->deep);
    }
    screen_send(
        s, (struct msg){ .kind = MSG_FULL_SCAN, .generation = e->generation, .u.described = list });
}

static void answer_place(struct screen *s, const struct effect *e)
{
    struct resume_dirs *p = calloc(1, sizeof *p);

    assert_non_null(p);
    if (s->no_command.code) {
        msg_resume_dirs_free(p);
        screen_send(s, (struct msg){ .kind = MSG_FAILED,
                                     .generation = e->generation,
                                     .u.error = s->no_command });
        return;
    }
    p->missing = s->dir_gone;
    p->session_dir = e->text.n ? strndup(e->text.p, e->text.n) : NULL;
    p->main_worktree = s->dir_gone ? strdup("/home/u/src/main") : NULL;
    p->present_dir = strdup("/home/u/src/shop");
    screen_send(s,
                (struct msg){ .kind = MSG_RESUME_DIRS, .generation = e->generation, .u.place = p });
}

static void answer_terminal(struct screen *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_TERMINAL, .generation = e->generation };

    m.u.terminal.shown = e->shows;
    if (e->shows)
        screen_note(s, "show %s\n", s->pane);
    else if (s->pane) {
        m.u.terminal.kind = TERMINAL_TMUX;
        m.u.terminal.near = true;
        snprintf(m.u.terminal.name, sizeof m.u.terminal.name, "/dev/pts/4");
        snprintf(m.u.terminal.pane, sizeof m.u.terminal.pane, "%s", s->pane);
        snprintf(m.u.terminal.place, sizeof m.u.terminal.place, "work:1.0");
    }
    screen_send(s, m);
}

void screen_answer_one(struct screen *s, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_LIST: answer_list(s, e); return;
    case EFFECT_DESCRIBE: answer_describe(s, e); return;
    case EFFECT_DISK_USAGE: answer_weights(s, e); return;
    case EFFECT_FULL_SCAN: answer_deep(s, e); return;
    case EFFECT_TERMINAL: answer_terminal(s, e); return;
    case EFFECT_RESUME_DIRS: answer_place(s, e); return;
    default: break;
    }
    if (!screen_answer_change(s, e) && s->answer)
        s->answer(s, e);
}

void screen_answer(struct screen *s)
{
    struct effect e;

    screen_take(s);
    while (effects_pop(&s->waiting, &e)) {
        screen_answer_one(s, &e);
        effect_fini(&e);
    }
}

void screen_wait(struct screen *s, int64_t ms)
{
    s->now_ms += ms;
    screen_send(s, (struct msg){ .kind = MSG_TICK });
    screen_answer(s);
}

void screen_ready(struct screen *s, struct fake *fake, size_t n, int rows, int cols)
{
    screen_open(s, fake, n, rows, cols);
    screen_answer(s);
    screen_wait(s, 100);
}

void screen_resize(struct screen *s, int rows, int cols)
{
    frame_fini(&s->frame);
    assert_true(frame_init(&s->frame, rows, cols, s->settings.ascii));
    screen_send(s, (struct msg){ .kind = MSG_RESIZE, .u.size = { rows, cols } });
}

static const struct {
    const char *name;
    uint32_t code;
} named[] = {
    { "Enter", KEYCODE_ENTER },  { "Esc", KEYCODE_ESC },        { "Tab", KEYCODE_TAB },
    { "Up", KEYCODE_UP },        { "Down", KEYCODE_DOWN },      { "Left", KEYCODE_LEFT },
    { "Right", KEYCODE_RIGHT },  { "Home", KEYCODE_HOME },      { "End", KEYCODE_END },
    { "PgUp", KEYCODE_PAGE_UP }, { "PgDn", KEYCODE_PAGE_DOWN }, { "Del", KEYCODE_DELETE },
    { "BS", KEYCODE_BACKSPACE }, { "F1", KEYCODE_F1 },          { "F5", KEYCODE_F1 + 4 },
};

static struct key named_key(const char *name, size_t n)
{
    struct key key = { 0 };

    while (n > 2 && name[1] == '-') {
        key.mods |= name[0] == 'C' ? MOD_CTRL : name[0] == 'A' ? MOD_ALT : MOD_SHIFT;
        name += 2;
        n -= 2;
    }
    if (n == 1)
        key.code = (unsigned char)name[0];
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strlen(named[i].name) == n && memcmp(named[i].name, name, n) == 0)
            key.code = named[i].code;
    assert_int_not_equal(key.code, 0);
    return key;
}

static void press(struct screen *s, const char *keys, bool answer)
{
    struct slice rest = text_of(keys);

    while (rest.n > 0) {
        struct key key = { 0 };
        const char *end = *rest.p == '<' ? memchr(rest.p, '>', rest.n) : NULL;

        if (end && end > rest.p + 1) {
            key = named_key(rest.p + 1, (size_t)(end - rest.p - 1));
            rest = (struct slice){ end + 1, rest.n - (size_t)(end + 1 - rest.p) };
        } else {
            key.code = utf8_next(&rest, false);
        }
        screen_send(s, (struct msg){ .kind = MSG_KEY, .u.key = key });
        if (answer)
            screen_answer(s);
    }
}

void screen_press(struct screen *s, const char *keys)
{
    press(s, keys, true);
}

void screen_press_only(struct screen *s, const char *keys)
{
    press(s, keys, false);
}

const char *screen_text(struct screen *s)
{
    render(s->model, &s->frame);
    free(s->text);
    s->text = frame_dump(&s->frame);
    assert_non_null(s->text);
    return s->text;
}

const char *screen_line(struct screen *s, int y)
{
    const char *p = screen_text(s);

    for (int i = 0; i < y && p; i++) {
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    const char *end = p ? strchr(p, '\n') : NULL;

    snprintf(s->line, sizeof s->line, "%.*s", p && end ? (int)(end - p) : 0, p ? p : "");
    return s->line;
}

bool screen_has(struct screen *s, const char *text)
{
    return strstr(screen_text(s), text) != NULL;
}

const char *screen_cursor_line(struct screen *s)
{
    screen_text(s);
    return screen_line(s, s->frame.cursor_y);
}
