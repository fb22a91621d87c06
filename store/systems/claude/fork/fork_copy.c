#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/fs/file_at.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/fork/fork.h"

/* Makes one row of a fork: the bytes of the source's row, with new ids instead of the old ones. */

/* The members that are read, all found in one pass. */
enum member {
    UUID,
    LOGICAL,
    REQUEST,
    FORKED,
    SESSION,
    SUBTYPE,
    COMPACT,
    ATTACHMENT,
    FOLD,
    MEMBERS
};

static const char *const member_names[MEMBERS] = {
    [UUID] = "uuid",
    [LOGICAL] = "logicalParentUuid",
    [REQUEST] = "requestSessionId",
    [FORKED] = "forkedFrom",
    [SESSION] = "sessionId",
    [SUBTYPE] = "subtype",
    [COMPACT] = "compactMetadata",
    [ATTACHMENT] = "attachment",
    [FOLD] = "fold",
};

/* Space for the edited values of one row; each thread has its own. */
struct row_space {
    struct buf nested[3]; /* edited values inside the row */
    struct buf origin;
};

struct row_edit {
    const struct fork *f;
    struct row_space *space;
    struct slice member[MEMBERS]; /* empty: none */
    struct json_edit edit[JSON_EDITS_MAX];
    size_t n;
    enum err_code rc;
    char id[FORK_QUOTED], parent[FORK_QUOTED], logical[FORK_QUOTED];
    char session[FORK_QUOTED], time[TIME_TEXT + 2];
};

static void claude_set_member(struct row_edit *r, const char *name, struct slice value)
{
    r->edit[r->n++] = (struct json_edit){ .name = name, .value = value };
}

static void put_if_there(struct row_edit *r, const char *name, struct slice value)
{
    r->edit[r->n++] = (struct json_edit){ .name = name, .value = value, .if_there = true };
}

static struct slice claude_quote(const char *text, char *out)
{
    size_t n = strlen(text);

    out[0] = '"';
    memcpy(out + 1, text, n);
    out[n + 1] = '"';
    return (struct slice){ out, n + 2 };
}

/* ---- ids inside values ---- */

/* Replaces the known ids in a list; the others are kept or dropped. */
static void map_list(struct row_edit *r, struct slice list, bool keep_unknown, struct buf *out)
{
    struct json_iter it;
    struct slice key, value;
    char quoted[FORK_QUOTED];
    enum err_code rc = buf_add_byte(out, '[');
    bool any = false;

    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value) && !rc;) {
        bool known = fork_new_quoted(r->f, value, keep_unknown, quoted);

        if (!known && !keep_unknown)
            continue;
        if (any)
            rc = buf_add_byte(out, ',');
        if (!rc)
            rc = buf_add(out, known ? slice_of(quoted) : value);
        any = true;
    }
    if (!rc)
        rc = buf_add_byte(out, ']');
    if (rc)
        r->rc = rc;
}

/* Maps the rows that a compaction kept: members that are an id, or a list of ids. */
static void map_kept(struct row_edit *r, struct slice kept, const char *const names[], size_t n,
                     struct buf *out)
{
    enum { MOST = 3 };
    struct json_edit edit[MOST];
    struct buf list[MOST] = { 0 };
    char id[MOST][FORK_QUOTED];
    size_t edits = 0;

    for (size_t i = 0; i < n && i < MOST; i++) {
        struct slice value;

        if (!json_get(kept, names[i], &value))
            continue;
        if (json_type(value) == JSON_ARRAY) {
            map_list(r, value, true, &list[i]);
            value = buf_slice(&list[i]);
        } else if (fork_new_quoted(r->f, value, true, id[i])) {
            value = slice_of(id[i]);
        }
        edit[edits++] = (struct json_edit){ .name = names[i], .value = value };
    }
    enum err_code rc = json_edit(out, kept, edit, edits);

    if (rc)
        r->rc = rc;
    for (size_t i = 0; i < MOST; i++)
        buf_fini(&list[i]);
}

static void edit_compaction(struct row_edit *r, size_t line)
{
    static const struct {
        const char *name;
        const char *const part[3];
    } ways[2] = {
        { "preservedMessages", { "anchorUuid", "uuids", "allUuids" } },
        { "preservedSegment", { "headUuid", "anchorUuid", "tailUuid" } },
    };
    struct buf kept[2] = { 0 };
    struct slice metadata = r->member[COMPACT], value;
    struct json_edit edit[4] = { { .name = "runningTurnSends" } };
    size_t n = 1;
    bool strip = r->f->keep[line] == FORK_STRIPPED;

    if (json_type(metadata) != JSON_OBJECT)
        return;
    for (size_t i = 0; i < 2; i++) {
        if (!strip && json_get(metadata, ways[i].name, &value) && json_type(value) == JSON_OBJECT)
            map_kept(r, value, ways[i].part, 3, &kept[i]);

        /* An edit without a value removes the member. */
        if (strip || kept[i].n)
            edit[n++] = (struct json_edit){ ways[i].name, buf_slice(&kept[i]), true };
    }
    if (strip)
        edit[n++] = (struct json_edit){ .name = "postTokens" };
    enum err_code rc = json_edit(&r->space->nested[0], metadata, edit, n);

    if (rc)
        r->rc = rc;
    buf_fini(&kept[0]);
    buf_fini(&kept[1]);
    put_if_there(r, "compactMetadata", buf_slice(&r->space->nested[0]));
}

static void edit_attachment(struct row_edit *r)
{
    struct slice attachment = r->member[ATTACHMENT], value;
    struct json_edit edit;
    char id[FORK_QUOTED];

    if (json_type(attachment) != JSON_OBJECT)
        return;
    if (claude_value_is(attachment, "type", "queued_command") &&
        json_get(attachment, "source_uuid", &value) && fork_new_quoted(r->f, value, false, id)) {
        edit = (struct json_edit){ .name = "source_uuid", .value = slice_of(id) };
    } else if (claude_value_is(attachment, "type", "deferred_tools_record") &&
               json_get(attachment, "nameOnlyAnnouncements", &value) &&
               json_type(value) == JSON_ARRAY) {
        map_list(r, value, false, &r->space->nested[1]);
        edit = (struct json_edit){ .name = "nameOnlyAnnouncements",
                                   .value = buf_slice(&r->space->nested[1]) };
    } else {
        return;
    }
    enum err_code rc = json_edit(&r->space->nested[2], attachment, &edit, 1);

    if (rc)
        r->rc = rc;
    put_if_there(r, "attachment", buf_slice(&r->space->nested[2]));
}

/* A queued command that was folded into a voice row. */
static void edit_fold(struct row_edit *r)
{
    struct slice fold = r->member[FOLD], command, value;
    char id[FORK_QUOTED];

    if (json_type(fold) != JSON_OBJECT || !json_get(fold, "command", &command) ||
        json_type(command) != JSON_OBJECT || !json_get(command, "source_uuid", &value) ||
        !fork_new_quoted(r->f, value, false, id))
        return;
    enum err_code rc = json_set(&r->space->nested[1], command, "source_uuid", slice_of(id));

    if (!rc)
        rc = json_set(&r->space->nested[2], fold, "command", buf_slice(&r->space->nested[1]));
    if (rc)
        r->rc = rc;
    put_if_there(r, "fold", buf_slice(&r->space->nested[2]));
}

/* ---- the row's own members ---- */

/* The session to whose requests the answer belongs, which is that of the first fork. Dropped if it is not recorded. */
static struct slice claude_request_session(struct row_edit *r)
{
    struct slice forked = { NULL, 0 };

    json_get(r->member[FORKED], "sessionId", &forked);
    const struct slice values[] = { r->member[REQUEST], forked, r->member[SESSION] };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (json_type(values[i]) == JSON_STRING)
            return values[i];
    return (struct slice){ NULL, 0 };
}

static void edit_system(struct row_edit *r, size_t line)
{
    struct slice subtype = r->member[SUBTYPE];

    edit_compaction(r, line);
    if (json_type(subtype) != JSON_STRING)
        return;
    if (json_string_is(subtype, "model_refusal_fallback"))
        claude_set_member(r, "neutralizedByFork", SLICE("true"));
    if (json_string_is(subtype, "voice_call_talk"))
        edit_fold(r);
}

/* Removes state that belongs to the original session and not to a copy of it. */
static void claude_drop_state(struct row_edit *r)
{
    static const char *const names[] = {
        "teamName",
        "agentName",
        "sessionKind",
        "slug",
        "sourceToolAssistantUUID",
        "summarizedTurnPromptUuids",
        "droppedPromptUuids",
        "sentAsUuid",
        "rowsAheadOfPutBack",
        "turnAttributionKey",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        r->edit[r->n++] = (struct json_edit){ .name = names[i] };
}

/* Writes the row of a line as the copy has it, with its newline. */
static enum err_code claude_write_row(const struct fork *f, size_t line, struct slice row,
                                      struct row_space *space, struct buf *out)
{
    struct row_edit r = { .f = f, .space = space };
    const struct index_line *l = claude_line(&f->log, line);

    space->nested[0].n = space->nested[1].n = space->nested[2].n = space->origin.n = 0;
    json_get_each(row, member_names, MEMBERS, r.member);

    /* The parent is the nearest row above that is not a progress row; null if no such row exists. */
    uint32_t node = id128_none(l->parent) ? CHAIN_NONE : chain_find(&f->log.chain, l->parent);
    char text[UUID_STR_LEN];

    if (node != CHAIN_NONE)
        node = f->above[node];
    claude_set_member(&r, "parentUuid",
                      node != CHAIN_NONE && fork_new_id(f, chain_id(&f->log.chain, node), text)
                          ? claude_quote(text, r.parent)
                          : SLICE("null"));

    /* The other ids, and what the copy has of its own. */
    if (r.member[LOGICAL].n)
        put_if_there(&r, "logicalParentUuid",
                     fork_new_quoted(f, r.member[LOGICAL], false, r.logical) ? slice_of(r.logical)
                                                                             : SLICE("null"));
    if (fork_new_quoted(f, r.member[UUID], false, r.id))
        claude_set_member(&r, "uuid", slice_of(r.id));
    claude_set_member(&r, "sessionId", claude_quote(f->id, r.session));
    if (line == f->last)
        claude_set_member(&r, "timestamp", claude_quote(f->now, r.time));
    claude_set_member(&r, "isSidechain", SLICE("false"));
    claude_drop_state(&r);
    if (claude_line_is(l, CLAUDE_SYSTEM))
        edit_system(&r, line);
    if (claude_line_is(l, CLAUDE_ATTACHMENT))
        edit_attachment(&r);
    claude_set_member(&r, "requestSessionId",
                      claude_line_is(l, CLAUDE_ASSISTANT) ? claude_request_session(&r)
                                                          : (struct slice){ NULL, 0 });

    /* The members are still those of the source, so this names the row that was copied. */
    struct jsonout j;
    struct buf *origin = &r.space->origin;

    jsonout_init(&j, origin);
    jsonout_open(&j, '{');
    jsonout_member(&j, "sessionId", r.f->ref->id);
    /* Invalid bytes of the row's id stay. */
    if (j.rc || buf_add(origin, SLICE(",\"messageUuid\":")) || buf_add(origin, r.member[UUID]) ||
        buf_add_byte(origin, '}'))
        r.rc = ERR_NOMEM;
    claude_set_member(&r, "forkedFrom", buf_slice(&r.space->origin));

    if (!r.rc)
        r.rc = json_edit(out, row, r.edit, r.n);
    if (!r.rc)
        r.rc = buf_add_byte(out, '\n');
    return r.rc;
}

/* The rows of the messages, made by two threads if there are many. The source is divided into stretches of lines:
 *
 *   claimed -> read, its rows made (in parallel) -> placed (in order) -> written (in parallel)
 *
 * The offset of a stretch in the copy is known once all before it are made: each waits for its turn, sets the offset
 * of the next one, and is then written. Memory: two stretches and their rows. */
enum { STRETCH = 2 * 1024 * 1024, WORTH_A_THREAD = 4 * STRETCH };

struct copying {
    struct fork *f;
    struct disk_new *to;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t line;    /* first line of the next stretch */
    size_t claimed; /* stretches claimed so far */
    size_t placed;  /* stretches placed so far */
    int64_t at;     /* offset of the next one to be placed */
    enum err_code rc;
    struct err e;
};

struct stretch {
    size_t number, first, end; /* lines [first, end) */
    struct buf source, rows;
    struct row_space space;
};

static enum err_code read_stretch(struct copying *c, struct stretch *s, struct err *e)
{
    const struct logfile *file = &c->f->log.file;
    const struct index_line *first = claude_line(&c->f->log, s->first),
                            *last = claude_line(&c->f->log, s->end - 1);
    size_t n = (size_t)(last->offset + last->length - first->offset);

    TRY(file_read_part(&file->file, first->offset, n, &s->source, e));
    if (s->source.n < n)
        return err_set(e, ERR_STALE, file->path, "fork: the file became shorter");
    return logfile_check(file, e);
}

/* Waits for the turn of the stretch. Returns false if the copying has failed. */
static bool claim_offset(struct copying *c, const struct stretch *s, int64_t *at)
{
    pthread_mutex_lock(&c->lock);
    while (c->placed < s->number && !c->rc)
        pthread_cond_wait(&c->turn, &c->lock);
    *at = c->at;
    c->at += (int64_t)s->rows.n;
    c->placed++;
    bool fine = !c->rc;

    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
    return fine;
}

/* Claims a stretch that begins and ends with a row that is copied. Returns false if all stretches are claimed. */
static bool next_stretch(struct copying *c, struct stretch *s)
{
    const struct index_line *line = c->f->log.file.index.line;
    size_t last = c->f->last;

    pthread_mutex_lock(&c->lock);
    size_t i = c->line;

    while (i <= last && !c->f->keep[i])
        i++;
    bool any = i <= last && !c->rc;

    if (any) {
        s->first = s->end = i;
        for (; i <= last && line[i].offset - line[s->first].offset < STRETCH; i++)
            if (c->f->keep[i])
                s->end = i + 1;
        c->line = s->end;
        s->number = c->claimed++;
    }
    pthread_mutex_unlock(&c->lock);
    return any;
}

static void *copy_worker(void *arg)
{
    struct copying *c = arg;
    struct stretch s = { 0 };
    int64_t at;

    while (next_stretch(c, &s)) {
        struct err e = { 0 };

        int64_t begin = claude_line(&c->f->log, s.first)->offset;
        enum err_code rc = read_stretch(c, &s, &e);

        s.rows.n = 0;
        for (size_t i = s.first; i < s.end && !rc; i++) {
            const struct index_line *l = claude_line(&c->f->log, i);
            struct slice row = { s.source.p + (l->offset - begin), l->length };

            if (c->f->keep[i] && claude_write_row(c->f, i, claude_row(row), &s.space, &s.rows))
                rc = err_nomem(&e);
        }

        /* Without a turn, the other thread has failed, and its error is the one that is reported. */
        if (!rc && !claim_offset(c, &s, &at))
            break;
        if (!rc)
            rc = file_at_write(c->to->fd, buf_slice(&s.rows), at, c->to->path, &e);
        if (rc) {
            /* The other thread may be waiting for this stretch to be placed. */
            pthread_mutex_lock(&c->lock);
            if (!c->rc) {
                c->rc = rc;
                c->e = e;
            }
            pthread_cond_broadcast(&c->turn);
            pthread_mutex_unlock(&c->lock);

            break;
        }
        disk_start_sync(c->to->fd, at, (int64_t)s.rows.n);
    }
    buf_fini(&s.source);
    buf_fini(&s.rows);
    for (size_t i = 0; i < sizeof s.space.nested / sizeof *s.space.nested; i++)
        buf_fini(&s.space.nested[i]);
    buf_fini(&s.space.origin);

    return NULL;
}

enum err_code fork_copy(struct fork *f, struct disk_new *to, struct err *e)
{
    struct copying c = { .f = f, .to = to, .at = lseek(to->fd, 0, SEEK_CUR) };
    pthread_t other;

    if (c.at < 0)
        return err_sys(e, to->path, "write");
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.turn, NULL);
    bool two = f->log.file.file.id.size >= WORTH_A_THREAD &&
               pthread_create(&other, NULL, copy_worker, &c) == 0;

    copy_worker(&c);
    if (two)
        pthread_join(other, NULL);
    pthread_cond_destroy(&c.turn);
    pthread_mutex_destroy(&c.lock);
    if (c.rc && e)
        *e = c.e;
    if (!c.rc && lseek(to->fd, c.at, SEEK_SET) < 0)
        return err_sys(e, to->path, "write");
    return c.rc;
}
