#include "tests/test.h"

#include <string.h>

#include "lite/base/cleanup.h"
#include "store/redact/redact.h"

/* What a tool printed when it was called with a command that prints a secret, in the rows of each agent. %C is the command
 * and %O the output. */
static const char *const agents[] = {
    /* Claude */
    "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_1\",\"content\":[{\"type\":\"tool_use\","
    "\"id\":\"toolu_1\","
    "\"name\":\"Bash\",\"input\":{\"command\":\"%C\",\"description\":\"x\"}}]},\"uuid\":\"a\"}\n"
    "{\"message\":{\"content\":[{\"tool_use_id\":\"toolu_1\",\"type\":\"tool_result\",\"content\":["
    "{\"type\":\"text\","
    "\"text\":\"%O\"}]}]},\"toolUseResult\":{\"stdout\":\"%O\",\"stderr\":\"\"},\"uuid\":\"b\"}\n",
    /* Codex */
    "{\"payload\":{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{\\\"command\\\":["
    "\\\"bash\\\",\\\"-lc\\\","
    "\\\"%C\\\"]}\",\"call_id\":\"call_1\"}}\n"
    "{\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"{"
    "\\\"output\\\":\\\"%O\\\\n\\\"}\"}}\n",
    "{\"payload\":{\"type\":\"function_call\",\"arguments\":\"{\\\"cmd\\\":\\\"%C\\\"}\",\"call_"
    "id\":\"call_1\"}}\n"
    "{\"payload\":{\"type\":\"exec_command_end\",\"call_id\":\"call_1\",\"stdout\":\"%O\","
    "\"aggregated_output\":\"%O\"}}\n"
    "{\"payload\":{\"call_id\":\"call_1\",\"output\":\"Exit code: 0\\nOutput:\\n%O\"}}\n",
    /* Gemini */
    "{\"id\":\"m1\",\"toolCalls\":[{\"id\":\"shell-1\",\"name\":\"run_shell_command\",\"args\":{"
    "\"command\":\"%C\"},"
    "\"result\":[{\"functionResponse\":{\"id\":\"shell-1\",\"response\":{\"output\":\"%O\"}}}],"
    "\"resultDisplay\":\"%O\"}]}\n",
    /* Copilot */
    "{\"data\":{\"toolCallId\":\"tool_1\",\"toolName\":\"bash\",\"arguments\":{\"command\":\"%C\"}}"
    "}\n"
    "{\"data\":{\"toolCallId\":\"tool_1\",\"result\":{\"content\":\"%O\\n<exited with exit code "
    "0>\",\"detailedContent\":\"%O\"}}}\n",
    /* OpenCode */
    "{\"id\":\"prt_1\",\"callID\":\"call_1\",\"tool\":\"bash\",\"state\":{\"input\":{\"command\":"
    "\"%C\"},\"output\":\"%O\"}}\n",
    /* pi */
    "{\"message\":{\"content\":[{\"type\":\"toolCall\",\"id\":\"call_1\",\"arguments\":{"
    "\"command\":\"%C\"}}]}}\n"
    "{\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"call_1\",\"content\":[{\"type\":"
    "\"text\",\"text\":\"%O\"}]}}\n",
    /* the Go sessions */
    "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"call_1\",\"function\":{\"name\":\"bash\","
    "\"arguments\":\"{\\\"command\\\":\\\"%C\\\"}\"}}]}\n{\"role\":\"tool\",\"tool_call_id\":"
    "\"call_1\",\"content\":\"%O\"}\n",
    /* ExAthena */
    "{\"message\":{\"tool_calls\":[{\"id\":\"call_1\",\"name\":\"bash\",\"arguments\":{\"command\":"
    "\"%C\"}}]}}\n"
    "{\"message\":{\"tool_results\":[{\"tool_call_id\":\"call_1\",\"content\":\"%O\"}]}}\n",
    /* Goose */
    "{\"content\":[{\"type\":\"toolRequest\",\"id\":\"call_1\",\"toolCall\":{\"value\":{"
    "\"arguments\":{\"command\":\"%C\"}}}}]}\n"
    "{\"content\":[{\"type\":\"toolResponse\",\"id\":\"call_1\",\"toolResult\":{\"value\":[{"
    "\"type\":\"text\",\"text\":\"%O\"}]}}]}\n",
};

/* The rows of an agent, after redaction: with what was learned before, and without. */
static void redact_call(const char *rows, const char *command, const char *output, bool learns,
                        struct buf *out)
{
    CLEANUP(redact_counts_fini) struct redact_counts counts = { 0 };
    AUTO_BUF text = { 0 };

    for (const char *at = rows; *at; at++) {
        const bool hole = at[0] == '%';

        assert_int_equal(hole ? buf_addf(&text, "%s", at[1] == 'C' ? command : output)
                              : buf_add_byte(&text, at[0]),
                         ERR_OK);
        at += hole;
    }
    out->n = 0;
    if (learns)
        assert_int_equal(redact_learn(buf_slice(&text), &counts), ERR_OK);
    assert_int_equal(redact_json_rows(buf_slice(&text), out, learns ? &counts : NULL), ERR_OK);
}

TEST(what_a_command_prints_that_prints_secrets_is_one)
{
    static const char *const commands[] = {
        "pass show mail/bob",
        "pass show mail/bob | head -1",
        "op read op://vault/item/password",
        "security find-generic-password -s x -w",
        "openssl rand -hex 16",
        "FOO=1 pwgen 20 1",
        "sudo cat /run/secrets/db",
        "echo $DB_PASSWORD",
        "aws --profile p ecr get-login-password",
        "kubectl -n prod get secret x -o jsonpath={.data.pw} | base64 -d",
    };
    AUTO_BUF out = { 0 };

    for (size_t a = 0; a < COUNT_OF(agents); a++)
        for (size_t c = 0; c < 2 * COUNT_OF(commands); c++) {
            redact_call(agents[a], commands[c / 2], "hunterpw", c % 2, &out);
            if (slice_has(buf_slice(&out), "hunterpw"))
                fail_msg("%s: %.*s", commands[c / 2], (int)out.n, out.p);
            redact_call(agents[a], commands[c / 2], "correct horse battery staple", c % 2, &out);
            if (slice_has(buf_slice(&out), "horse"))
                fail_msg("%s: %.*s", commands[c / 2], (int)out.n, out.p);
        }
}

TEST(what_other_commands_print_is_kept)
{
    static const char *const commands[] = {
        "ls",         "cat src/token.c",     "pass show x | pbcopy",
        "echo hello", "rg 'pass show' docs", "openssl rand -hex 16 > key",
        "cat README", "cat /etc/passwd",     "X=$(pass show x) ./run",
    };
    AUTO_BUF out = { 0 };

    for (size_t a = 0; a < COUNT_OF(agents); a++)
        for (size_t c = 0; c < COUNT_OF(commands); c++) {
            redact_call(agents[a], commands[c], "hunterpw", false, &out);
            if (slice_has(buf_slice(&out), "REDACTED"))
                fail_msg("%s: %.*s", commands[c], (int)out.n, out.p);
        }

    /* Among other commands, only what looks like a secret is one. */
    redact_call(agents[0], "cd src && ls && pass show x", "main.c\\nsrc\\nq7Kq-92xZ!v4", false,
                &out);
    assert_true(slice_has(buf_slice(&out), "main.c\\nsrc\\nREDACTED"));
}

/* An agent goes on while its session is exported: what a new row names is replaced in the whole row, and below it. */
TEST(rows_that_were_added_after_the_first_reading_are_learned)
{
    CLEANUP(redact_counts_fini) struct redact_counts counts = { 0 };
    AUTO_BUF out = { 0 };

    assert_int_equal(redact_learn(SLICE("{\"a\":\"password=old7-Kappa\"}\n"), &counts), ERR_OK);
    assert_int_equal(redact_json_rows(SLICE("{\"a\":\"use zq7-Kappa and old7-Kappa\","
                                            "\"b\":\"password=zq7-Kappa\"}\n"),
                                      &out, &counts),
                     ERR_OK);
    assert_int_equal(redact_json_rows(SLICE("{\"a\":\"zq7-Kappa\"}\n"), &out, &counts), ERR_OK);
    assert_true(slice_eq(buf_slice(&out),
                         SLICE("{\"a\":\"use REDACTED and REDACTED\",\"b\":\"password=REDACTED\"}\n"
                               "{\"a\":\"REDACTED\"}\n")));
    assert_int_equal(redact_counts_total(&counts), 4);
}
