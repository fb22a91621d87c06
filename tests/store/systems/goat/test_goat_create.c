#include <stdlib.h>

#include "store/maintenance/sweep.h"
#include "tests/store/systems/goat/goat_host.h"

/* A host that creates Go sessions beside others, and one that writes a message twice. */

#define U(id) "{\"uuid\":\"" id "\",\"role\":\"user\",\"content\":\"x\"}"

/* A store with one session in it, and another session created beside that. */
static char *made_beside(struct shop *s, const char *metadata)
{
    const struct host_create req = { .id = SLICE("new"), .model = SLICE("m") };
    struct host_created made;
    struct store *st;
    char base[4096];
    size_t n;

    folder_put(&s->folder, "q/sessions/old/metadata.json", slice_of(metadata));
    folder_path(&s->folder, "q/sessions", base);
    assert_int_equal(goat_ops.open(&s->env, base, &st, NULL), ERR_OK);
    assert_int_equal(host_create(st, &req, &s->a, &made, NULL), ERR_OK);
    store_close(st);
    return folder_get(&s->folder, "q/sessions/new/metadata.json", &n);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_new_session_is_of_the_dialect_of_its_store)
{
    struct shop *s = *state;
    char want[8192];
    char *doc = made_beside(s, "{\"session_id\":\"old\",\"created_at\":\"2026-01-01T00:00:00Z\","
                               "\"model\":\"m\",\"cwd\":\"/x\"}");

    snprintf(want, sizeof want,
             "{\n  \"session_id\": \"new\",\n  \"created_at\": \"2026-02-09T02:48:28.12Z\",\n"
             "  \"model\": \"m\",\n  \"cwd\": \"%s\",\n  \"turn_count\": 0,\n"
             "  \"total_cost_usd\": 0,\n  \"exit_reason\": \"\",\n  \"agent_name\": \"\"\n}",
             s->cwd);
    assert_string_equal(doc, want);
    free(doc);
}

CASE(a_new_session_takes_the_hash_of_its_project)
{
    struct shop *s = *state;
    char want[8192];
    char *spec = made_beside(s, "{\"id\":\"old\",\"project_hash\":\"h1\",\"cwd\":\"/x\","
                                "\"created_at\":\"2026-01-01T00:00:00Z\",\"total_tokens\":3}");

    snprintf(want, sizeof want,
             "{\n  \"id\": \"new\",\n  \"project_hash\": \"h1\",\n  \"cwd\": \"%s\",\n"
             "  \"model\": \"m\",\n  \"created_at\": \"2026-02-09T02:48:28.12Z\",\n"
             "  \"updated_at\": \"2026-02-09T02:48:28.12Z\",\n  \"message_count\": 0,\n"
             "  \"turn_count\": 0,\n  \"total_tokens\": 0\n}",
             s->cwd);
    assert_string_equal(spec, want);
    free(spec);
}

CASE(an_existing_message_is_not_written_again)
{
    struct shop *s = *state;

    assert_int_equal(append(s, U("u-1") "\n" U("u-2"), false), ERR_OK);
    assert_int_equal(append(s, U("u-2") "\n" U("u-3") "\n" U("u-3"), false), ERR_OK);

    size_t n, rows = 0;
    char *text = folder_get(&s->folder, "p/sessions/s-1/messages.jsonl", &n);

    for (size_t i = 0; i < n; i++)
        rows += text[i] == '\n';
    free(text);
    assert_int_equal(rows, 3);
}
