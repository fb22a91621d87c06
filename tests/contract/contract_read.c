#include "tests/contract/contract.h"

#include "tests/test.h"

#include <stdlib.h>

#include "lite/json/json.h"
#include "store/rewind/plan/rewind.h"

/* Readers. They return what the adapter wrote, refuse everything else, and leave the store as it was. */

static void a_missing_store_is_reported_as_not_found(struct contract *c)
{
    struct store *st = NULL;
    char path[4096];

    folder_path(&c->folder, "nowhere", path);
    assert_int_equal(c->ops->open(&c->env, path, &st, NULL), ERR_NOT_FOUND);
    assert_null(st);
    assert_false(folder_has(&c->folder, "nowhere"));
}

static void every_session_is_enumerated_once(struct contract *c)
{
    assert_int_equal(contract_count(c), c->system->n);
    for (size_t i = 0; i < c->system->n; i++)
        assert_true(contract_lists(c, contract_text(c->system->session[i].id)));
}

static bool stop_at_once(const struct session_ref *ref, void *arg)
{
    (void)ref;
    ++*(size_t *)arg;
    return false;
}

static void enumeration_stops_when_the_callback_asks(struct contract *c)
{
    size_t seen = 0;

    assert_int_equal(c->ops->enumerate(c->store, &c->scope, stop_at_once, &seen, NULL), ERR_OK);
    assert_int_equal(seen, 1);
}

static void a_session_is_found_by_its_id(struct contract *c)
{
    for (size_t i = 0; i < c->system->n; i++) {
        struct session_ref ref = contract_find(c, &c->system->session[i]);

        assert_true(slice_eq(ref.id, contract_text(c->system->session[i].id)));
        assert_true(c->ops->remote || ref.path.p[0] == '/');
        assert_int_equal(strlen(ref.path.p), ref.path.n);
        assert_ptr_equal(ref.store, c->store);
    }
}

static void an_unknown_id_is_not_found(struct contract *c)
{
    struct session_ref ref;

    assert_int_equal(
        c->ops->find(c->store, &c->scope, contract_text(c->system->unknown), &c->arena, &ref, NULL),
        ERR_NOT_FOUND);
}

/* An id becomes part of file names. */
static void an_id_that_is_no_plain_name_is_refused(struct contract *c)
{
    static char lengthy[5001];
    const char *known = c->system->session[0].id;
    char below[512], above[512], absolute[8192];
    struct session_ref ref;

    memset(lengthy, 'a', sizeof lengthy - 1);
    snprintf(below, sizeof below, "%s/x", known);
    snprintf(above, sizeof above, "../%s", known);
    snprintf(absolute, sizeof absolute, "%s/%s", c->root, known);
    const struct slice bad[] = {
        SLICE(""),
        SLICE("."),
        SLICE(".."),
        SLICE("../x"),
        SLICE("a/b"),
        SLICE("/etc/passwd"),
        SLICE("a\0b"),
        SLICE("a\nb"),
        SLICE("-rf"),
        SLICE("*"),
        { lengthy, 5000 },
        contract_text(below),
        contract_text(above),
        contract_text(absolute),
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        enum err_code rc = c->ops->find(c->store, &c->scope, bad[i], &c->arena, &ref, NULL);

        if (rc != ERR_USAGE && rc != ERR_NOT_FOUND)
            fail_msg("id %zu was answered with %d", i, rc);
    }
}

static void a_session_is_found_by_its_path(struct contract *c)
{
    struct session_ref ref = contract_find(c, &c->system->session[1]), same;

    if (!c->ops->at_path)
        skip();
    assert_int_equal(c->ops->at_path(c->store, ref.path, &c->arena, &same, NULL), ERR_OK);
    assert_true(slice_eq(same.id, ref.id));
    assert_int_equal(c->ops->at_path(c->store, SLICE("/nowhere/at/all"), &c->arena, &same, NULL),
                     ERR_NOT_FOUND);
}

static void a_described_session_has_a_title(struct contract *c)
{
    for (size_t i = 0; i < c->system->n; i++) {
        const struct contract_session *s = &c->system->session[i];
        struct session_row *row = contract_describe(c, s);

        assert_int_equal(row->hidden, HIDDEN_NOT);
        assert_true(row->summary.n > 0);
        if (s->title)
            assert_true(slice_eq(row->summary, contract_text(s->title)));
        assert_true(slice_eq(row->ref.id, contract_text(s->id)));
        session_row_free(row);
    }
}

static void same_rows(const struct session_row *a, const struct session_row *b)
{
    assert_int_equal(a->hidden, b->hidden);
    assert_true(slice_eq(a->summary, b->summary));
    assert_true(slice_eq(a->custom_title, b->custom_title));
    assert_true(slice_eq(a->cwd, b->cwd));
    assert_true(slice_eq(a->model, b->model));
    assert_int_equal(a->created_ms, b->created_ms);
    assert_int_equal(a->activity_ms, b->activity_ms);
    assert_int_equal(a->can, b->can);
}

static bool describe_from_both_refs(const struct session_ref *ref, void *arg)
{
    struct contract *c = arg;
    struct session_row *told = session_row_new(), *read = session_row_new();
    struct session_ref alone;

    assert_true(told && read && session_ref_copy(&c->arena, ref, &alone));
    assert_int_equal(alone.preread.n, 0);
    assert_int_equal(c->ops->describe(c->store, &c->scope, ref, told, NULL), ERR_OK);
    assert_int_equal(c->ops->describe(c->store, &c->scope, &alone, read, NULL), ERR_OK);
    assert_int_equal(told->ref.preread.n, 0); /* rows outlive the callback, the refs do not */
    same_rows(told, read);
    session_row_free(told);
    session_row_free(read);
    return true;
}

static void facts_from_enumeration_are_not_read_again(struct contract *c)
{
    assert_int_equal(c->ops->enumerate(c->store, &c->scope, describe_from_both_refs, c, NULL),
                     ERR_OK);
}

static void an_unsupported_operation_is_explained(struct contract *c)
{
    const struct {
        unsigned ability;
        bool can;
    } all[] = { { CAN_RENAME, c->ops->rename },   { CAN_TAG, c->ops->tag },
                { CAN_ARCHIVE, c->ops->archive }, { CAN_RESUME_AT, c->ops->resume_at },
                { CAN_FORK, c->ops->fork },       { CAN_REWIND, c->ops->plan } };

    if (!c->ops->why[ABILITY_TAG] && !c->ops->tag)
        skip(); /* a made-up agent */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!all[i].can) /* single sessions may lack the others */
            assert_non_null(store_unsupported_reason(c->ops, all[i].ability));
}

static void a_row_supports_what_its_system_supports(struct contract *c)
{
    struct session_row *row = contract_describe(c, &c->system->session[0]);
    bool sets = c->ops->remote && c->ops->set; /* such a store has no steps to plan */
    const struct {
        unsigned can;
        bool there;
    } pairs[] = {
        { CAN_FORK, c->ops->fork != NULL },     { CAN_RESUME_AT, c->ops->resume_at != NULL },
        { CAN_RENAME, c->ops->rename || sets }, { CAN_TAG, c->ops->tag || sets },
        { CAN_DELETE, c->ops->parts != NULL },  { CAN_ARCHIVE, c->ops->archive != NULL },
        { CAN_REMOVE, c->ops->remove != NULL },
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if ((row->can & pairs[i].can) && !pairs[i].there)
            fail_msg("the row promises %#x", pairs[i].can);
    session_row_free(row);
}

static void a_conversation_is_loaded_completely(struct contract *c)
{
    for (size_t i = 0; i < c->system->n; i++) {
        struct session_ref ref = contract_find(c, &c->system->session[i]);
        struct transcript *t = contract_load(c, &ref);
        struct buf row = { 0 };

        assert_int_equal(t->n, c->system->session[i].rows);
        for (size_t k = 0; k < t->n; k++) {
            struct block_list blocks = { 0 };

            assert_int_equal(transcript_read(t, k, &row, NULL), ERR_OK);
            assert_int_equal(c->ops->blocks(c->store, buf_slice(&row), &blocks, NULL), ERR_OK);
            transcript_blocks_fini(&blocks);
        }
        buf_fini(&row);
        transcript_free(t);
    }
}

static void a_tail_is_the_end_of_the_conversation(struct contract *c)
{
    for (size_t i = 0; i < c->system->n; i++) {
        struct session_ref ref = contract_find(c, &c->system->session[i]);
        struct transcript *all = contract_load(c, &ref), *end;

        assert_int_equal(c->ops->tail(c->store, &ref, 1 << 20, NULL, &end, NULL), ERR_OK);
        assert_true(end->n > 0 && end->n <= all->n);
        for (size_t k = 1; k <= end->n; k++)
            assert_true(id128_eq(end->message[end->n - k].id, all->message[all->n - k].id));
        transcript_free(all);
        transcript_free(end);
    }
}

struct heard {
    struct buf text; /* one object per line */
    size_t n, stop;  /* 0: no limit */
};

static enum err_code hear(struct slice json, void *arg, struct err *e)
{
    struct heard *h = arg;

    assert_int_equal(json_type(json), JSON_OBJECT);
    assert_int_equal(buf_add(&h->text, json), ERR_OK);
    assert_int_equal(buf_add_byte(&h->text, '\n'), ERR_OK);
    return ++h->n == h->stop ? err_set(e, ERR_CANCELLED, "", "enough") : ERR_OK;
}

static void ask(struct contract *c, const struct session_ref *ref, struct message_query q,
                struct heard *h)
{
    q.session = ref->id;
    assert_int_equal(c->ops->messages(c->store, ref, &q, hear, h, NULL), ERR_OK);
}

static void messages_are_complete_json_objects(struct contract *c)
{
    for (size_t i = 0; i < c->system->n; i++) {
        struct session_ref ref = contract_find(c, &c->system->session[i]);
        struct heard h = { 0 };

        ask(c, &ref, (struct message_query){ .cancel = NULL }, &h);
        assert_int_equal(h.n, c->system->session[i].messages);
        buf_fini(&h.text);
    }
}

static void a_page_is_a_slice_of_all_messages(struct contract *c)
{
    struct session_ref ref = contract_find(c, &c->system->session[0]);
    struct heard all = { 0 }, pages = { 0 };

    ask(c, &ref, (struct message_query){ .cancel = NULL }, &all);
    for (size_t i = 0; i < all.n; i++)
        ask(c, &ref, (struct message_query){ .has_limit = true, .limit = 1, .offset = (int64_t)i },
            &pages);
    assert_int_equal(pages.n, all.n);
    assert_true(slice_eq(buf_slice(&pages.text), buf_slice(&all.text)));
    buf_fini(&all.text);
    buf_fini(&pages.text);
}

static void a_message_walk_stops_when_the_callback_asks(struct contract *c)
{
    struct session_ref ref = contract_find(c, &c->system->session[0]);
    struct message_query q = { .session = ref.id };
    struct heard h = { .stop = 1 };

    assert_int_equal(c->ops->messages(c->store, &ref, &q, hear, &h, NULL), ERR_CANCELLED);
    assert_int_equal(h.n, 1);
    buf_fini(&h.text);
}

static void every_checkpoint_can_be_planned(struct contract *c)
{
    struct checkpoint_list list = { 0 };
    struct rewind_plan plan = { 0 };
    struct session_ref ref = contract_find(c, &c->system->session[0]);

    if (!c->ops->checkpoints || !c->ops->plan)
        skip();
    assert_int_equal(c->ops->checkpoints(c->store, &ref, &list, NULL), ERR_OK);
    for (size_t i = 0; i < list.n; i++) {
        if (list.checkpoint[i].why)
            continue;
        assert_int_equal(c->ops->plan(c->store, &ref, list.checkpoint[i].id, &plan, NULL), ERR_OK);
        rewind_plan_fini(&plan);
    }
    checkpoint_list_fini(&list);
    assert_int_equal(c->ops->plan(c->store, &ref, contract_text(c->system->unknown), &plan, NULL),
                     ERR_NOT_FOUND);
}

/* No process of the test has the session open: "unknown" may be reported, "running" may not. */
static void a_session_without_an_agent_is_not_running(struct contract *c)
{
    struct session_ref ref = contract_find(c, &c->system->session[0]);
    struct live live;

    if (!c->ops->live)
        skip();
    assert_int_equal(c->ops->live(c->store, &ref, &live, NULL), ERR_OK);
    assert_int_not_equal(live.state, LIVE_RUNNING);
}

static void a_deleted_session_is_not_described(struct contract *c)
{
    struct session_ref ref;
    struct session_row *row;
    char away[4200];

    if (c->system->shared)
        skip();
    row = session_row_new();
    ref = contract_find(c, &c->system->session[0]);
    snprintf(away, sizeof away, "%s/away", c->folder.path);
    assert_int_equal(rename(ref.path.p, away), 0);
    assert_int_equal(c->ops->describe(c->store, &c->scope, &ref, row, NULL), ERR_NOT_FOUND);
    session_row_free(row);
}

/* The session was deleted after it was found; no reader may report damage. */
static void every_reader_reports_a_deleted_session_as_not_found(struct contract *c)
{
    struct session_ref ref;
    struct transcript *t = NULL;
    struct restore r = { 0 };
    struct heard h = { 0 };
    char away[4200];

    if (c->system->shared)
        skip();
    ref = contract_find(c, &c->system->session[0]);
    snprintf(away, sizeof away, "%s/away", c->folder.path);
    assert_int_equal(rename(ref.path.p, away), 0);
    assert_int_equal(c->ops->load(c->store, &ref, NULL, &t, NULL), ERR_NOT_FOUND);
    if (c->ops->messages)
        assert_int_equal(c->ops->messages(c->store, &ref,
                                          &(struct message_query){ .session = ref.id }, hear, &h,
                                          NULL),
                         ERR_NOT_FOUND);
    if (c->ops->restore)
        assert_int_equal(c->ops->restore(c->store, &ref, SLICE(""), &r, NULL), ERR_NOT_FOUND);
    buf_fini(&h.text);
}

/* Where transcripts are lines, a line that cannot be read is shown in its place, and one that is cut short at the end. */
static void a_damaged_line_is_shown_in_its_place(struct contract *c)
{
    static const char damage[] = "{\"a\": [damaged\n", torn[] = "{\"type\": \"tor";
    struct session_ref ref = contract_find(c, &c->system->session[0]);
    struct transcript *t = contract_load(c, &ref);
    size_t n = 0, broken = 0;
    char path[4096];

    snprintf(path, sizeof path, "%s", t->path);
    transcript_free(t);
    char *text = NULL, *second;
    FILE *f = fopen(path, "r");

    if (f && getdelim(&text, &n, EOF, f) > 0)
        n = (size_t)ftell(f);
    if (f)
        fclose(f);
    second = text ? memchr(text, '\n', n) : NULL;
    bool lines = second && text[0] == '{' && text[1] != '\n' && text[n - 1] == '\n';

    /* a store in memory has no file that could be damaged */
    if (!lines || strncmp(path, "/proc/", 6) == 0) {
        free(text);
        skip();
    }
    f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, (size_t)(second + 1 - text), f), second + 1 - text);
    fputs(damage, f);
    assert_int_equal(fwrite(second + 1, 1, n - (size_t)(second + 1 - text), f),
                     n - (size_t)(second + 1 - text));
    fputs(torn, f);
    assert_int_equal(fclose(f), 0);
    free(text);
    ref = contract_find(c, &c->system->session[0]);
    t = contract_load(c, &ref);
    for (size_t i = 0; i < t->n; i++)
        broken += (t->message[i].flags & MESSAGE_BROKEN) != 0;
    assert_int_equal(broken, 1);
    assert_true(t->n >= 2 && t->message[t->n - 1].flags != MESSAGE_BROKEN);
    assert_true(t->unfinished);
    transcript_free(t);
}

static enum err_code count_finding(const struct finding *f, void *arg, struct err *e)
{
    (void)f, (void)e;
    ++*(size_t *)arg;
    return ERR_OK;
}

static void read_everything(struct contract *c, const struct contract_session *s)
{
    struct session_ref ref = contract_find(c, s);
    struct session_row *row = contract_describe(c, s);
    struct heard h = { 0 };
    struct slice *agents;
    size_t n = 0;

    transcript_free(contract_load(c, &ref));
    ask(c, &ref, (struct message_query){ .system_messages = true }, &h);
    buf_fini(&h.text);
    if (c->ops->subagents)
        assert_int_equal(c->ops->subagents(c->store, &ref, &c->arena, &agents, &n, NULL), ERR_OK);
    if (c->ops->subagents) {
        struct subagent_list list;

        assert_int_equal(store_describe_subagents(&ref, NULL, &list, NULL), ERR_OK);
        assert_int_equal(list.n, n);
        for (size_t i = 0; i < n; i++)
            assert_true(slice_eq(list.agent[i].id, agents[i]));
        subagent_list_fini(&list);
    }
    if (c->ops->check)
        assert_int_equal(c->ops->check(c->store, &ref, NULL, count_finding, &n, NULL), ERR_OK);
    if (c->ops->check_store)
        assert_int_equal(c->ops->check_store(c->store, &c->scope, count_finding, &n, NULL), ERR_OK);
    if (c->ops->restore) {
        struct restore r = { 0 };

        assert_int_equal(c->ops->restore(c->store, &ref, SLICE(""), &r, NULL), ERR_OK);
        restore_fini(&r);
    }
    session_row_free(row);
}

static void reading_changes_nothing(struct contract *c)
{
    char *before = contract_image(c);

    for (size_t i = 0; i < c->system->n; i++)
        read_everything(c, &c->system->session[i]);
    char *after = contract_image(c);

    assert_string_equal(before, after);
    free(before);
    free(after);
}

#define CASE(x)                                                                                    \
    {                                                                                              \
#x, x                                                                                      \
    }

const struct contract_case contract_reads[] = {
    CASE(a_missing_store_is_reported_as_not_found),
    CASE(every_session_is_enumerated_once),
    CASE(enumeration_stops_when_the_callback_asks),
    CASE(a_session_is_found_by_its_id),
    CASE(an_unknown_id_is_not_found),
    CASE(an_id_that_is_no_plain_name_is_refused),
    CASE(a_session_is_found_by_its_path),
    CASE(a_described_session_has_a_title),
    CASE(facts_from_enumeration_are_not_read_again),
    CASE(an_unsupported_operation_is_explained),
    CASE(a_row_supports_what_its_system_supports),
    CASE(a_conversation_is_loaded_completely),
    CASE(a_tail_is_the_end_of_the_conversation),
    CASE(messages_are_complete_json_objects),
    CASE(a_page_is_a_slice_of_all_messages),
    CASE(a_message_walk_stops_when_the_callback_asks),
    CASE(every_checkpoint_can_be_planned),
    CASE(a_session_without_an_agent_is_not_running),
    CASE(a_deleted_session_is_not_described),
    CASE(every_reader_reports_a_deleted_session_as_not_found),
    CASE(a_damaged_line_is_shown_in_its_place),
    CASE(reading_changes_nothing),
    { NULL, NULL },
};
