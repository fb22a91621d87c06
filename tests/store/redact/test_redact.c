#include "tests/test.h"

#include <stdlib.h>

#include "store/redact/redact.h"

/* Made up here, in the shape of each kind: 'h' becomes a hex digit, 'w' a letter or digit, 'U' a capital or digit, all
 * else stays. The runs are regular, so that they are found by their shape and not by their entropy. */
static const struct {
    const char *kind, *shape;
} shapes[] = {
    { "aws access key", "AKIA~U16" },
    { "github token", "ghp_~w36" },
    { "github token", "github_pat_~w82" },
    { "gitlab token", "glpat-~w20" },
    { "slack token", "xoxb-~w40" },
    { "slack webhook", "https://hooks.slack.com/services/~w44" },
    { "stripe key", "sk_live_~w24" },
    { "key of a model provider", "sk-ant-api03-~w95" },
    { "key of a model provider", "sk-proj-~w48" },
    { "google key", "AIza~w35" },
    { "google client secret", "GOCSPX-~w28" },
    { "npm token", "npm_~w36" },
    { "pypi token", "pypi-AgEIcHlwaS5vcmc~w60" },
    { "rubygems key", "rubygems_~h48" },
    { "sendgrid key", "SG.~w22.~w43" },
    { "mailgun key", "key-~h32" },
    { "twilio key", "SK~h32" },
    { "digitalocean token", "dop_v1_~h64" },
    { "vault token", "hvs.~w95" },
    { "databricks token", "dapi~h32" },
    { "shopify token", "shpat_~h32" },
    { "hugging face token", "hf_~w34" },
    { "grafana token", "glsa_~w32_~h8" },
    { "age key", "AGE-SECRET-KEY-1~U58" },
    { "web token", "eyJ~w20.eyJ~w30.~w43" },
    { "telegram token", "123456789:AA~w33" },
    { "linear key", "lin_api_~w40" },
    { "notion token", "ntn_~w45" },
    { "supabase token", "sbp_~h40" },
    { "tailscale key", "tskey-auth-~w30" },
};

/* "ghp_~w36": 36 letters of a run that repeats itself. */
static char *spell(const char *shape)
{
    static const char of_h[] = "a1b2", of_w[] = "aB1c", of_u[] = "A2B3";
    char *text = calloc(1, 512);
    size_t n = 0;

    while (*shape) {
        if (*shape != '~') {
            text[n++] = *shape++;
            continue;
        }
        const char *of = shape[1] == 'h' ? of_h : shape[1] == 'U' ? of_u : of_w;
        char *end;
        long left = strtol(shape + 2, &end, 10);

        for (long i = 0; i < left; i++)
            text[n++] = of[i % 4];
        shape = end;
    }
    return text;
}

static void assert_redacted(const char *before, const char *after)
{
    struct buf out = { 0 };

    assert_int_equal(redact_text(slice_of(before), &out, NULL), ERR_OK);
    if (!slice_eq(buf_slice(&out), slice_of(after)))
        fail_msg("%s\nbecame\n%.*s\ninstead of\n%s", before, (int)out.n, out.p, after);
    buf_fini(&out);
}

TEST(known_kinds_of_secrets_are_redacted)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct secret_list list = { .n = 0 };
        char *secret = spell(shapes[i].shape), text[1024];

        snprintf(text, sizeof text, "use %s, please", secret);
        assert_int_equal(redact_find(slice_of(text), &list), ERR_OK);
        if (list.n != 1 || list.secret[0].at != 4 || list.secret[0].n != strlen(secret))
            fail_msg("%s: %zu found in: %s", shapes[i].kind, list.n, text);
        assert_string_equal(list.secret[0].kind, shapes[i].kind);
        assert_redacted(text, "use REDACTED, please");
        redact_list_fini(&list);
        free(secret);
    }
}

/* One letter too short, one too long, or in the middle of a word: these are not secrets. */
TEST(text_that_only_begins_like_a_secret_is_kept)
{
    static const char *const shapes_of_others[] = {
        "ghp_~w35", "ghp_~w37",  "AKIA~U15", "AIza~w34",
        "npm_~w35", "xghp_~w36", "key-~h31", "SK~h31",
    };

    for (size_t i = 0; i < sizeof shapes_of_others / sizeof *shapes_of_others; i++) {
        char *text = spell(shapes_of_others[i]);

        assert_redacted(text, text);
        free(text);
    }
    assert_redacted("the sk-learn library, task-force, a hf_model and ya29.",
                    "the sk-learn library, task-force, a hf_model and ya29.");
    assert_redacted("mask-configuration-of-everything-that-is-there-at-all",
                    "mask-configuration-of-everything-that-is-there-at-all");
}

TEST(member_names_and_urls_reveal_secrets)
{
    assert_redacted("DB_PASSWORD=hunter2hunter3", "DB_PASSWORD=REDACTED");
    assert_redacted("clientSecret: 'a1b2c3d4e5f6'", "clientSecret: 'REDACTED'");
    assert_redacted("\"api_key\" => \"a1b2c3d4e5f6\"", "\"api_key\" => \"REDACTED\"");
    assert_redacted("postgres://app:s3cr3t!@db/app", "postgres://app:REDACTED@db/app");
    assert_redacted("curl -H 'Authorization: Bearer a1b2c3d4e5f6g7h8'",
                    "curl -H 'Authorization: Bearer REDACTED'");
    assert_redacted(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\nend",
        "REDACTED\nend");
    assert_redacted("-----BEGIN PRIVATE KEY-----\nMIIE, and then it was cut", "REDACTED");

    assert_redacted("password = process.env.PASSWORD", "password = process.env.PASSWORD");
    assert_redacted("the token: it is in the vault", "the token: it is in the vault");
    assert_redacted("http://localhost:8080/x@y", "http://localhost:8080/x@y");
    assert_redacted("-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
                    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----");
    assert_redacted("https://${USER}:${PASS}@host", "https://${USER}:${PASS}@host");
}

static void assert_rows(const char *before, const char *after)
{
    struct buf out = { 0 };

    assert_int_equal(redact_json_rows(slice_of(before), &out, NULL), ERR_OK);
    if (!slice_eq(buf_slice(&out), slice_of(after)))
        fail_msg("%s\nbecame\n%.*s\ninstead of\n%s", before, (int)out.n, out.p, after);
    buf_fini(&out);
}

TEST(rows_are_redacted_in_decoded_form)
{
    assert_rows(
        "{\"text\":\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\nend\"}\n",
        "{\"text\":\"REDACTED\\nend\"}\n");
    /* Escapes hide nothing, and a row without a secret keeps its bytes. */
    assert_rows("{\"a\":\"\\u0070assword=hunter2hunter3\"}\n", "{\"a\":\"password=REDACTED\"}\n");
    assert_rows("{\"a\" : \"\\u0061\\/b\",\"n\":1e9}\n", "{\"a\" : \"\\u0061\\/b\",\"n\":1e9}\n");
    /* The name of the member, and names that Entire leaves alone. */
    assert_rows("{\"password\":\"a1b2c3d4e5f6\",\"token\":\"plain words\"}\n",
                "{\"password\":\"REDACTED\",\"token\":\"plain words\"}\n");
    assert_rows("{\"requestID\":\"AKIAA2B3A2B3A2B3A2B3\",\"uuids\":[\"AKIAA2B3A2B3A2B3A2B3\"]}\n",
                "{\"requestID\":\"AKIAA2B3A2B3A2B3A2B3\",\"uuids\":[\"AKIAA2B3A2B3A2B3A2B3\"]}\n");
    assert_rows("{\"type\":\"image_url\",\"data\":\"AKIAA2B3A2B3A2B3A2B3\"}\n",
                "{\"type\":\"image_url\",\"data\":\"AKIAA2B3A2B3A2B3A2B3\"}\n");
    /* One document over many lines; lines that are no JSON; a torn one. */
    assert_rows("{\n  \"a\": \"AKIAA2B3A2B3A2B3A2B3\"\n}\n", "{\n  \"a\": \"REDACTED\"\n}\n");
    assert_rows("not JSON: AKIAA2B3A2B3A2B3A2B3\n{\"a\":\"AKIAA2B3A2B3A2B3A2B3",
                "not JSON: REDACTED\n{\"a\":\"REDACTED");
}

TEST(no_depth_hides_a_secret)
{
    struct buf text = { 0 }, out = { 0 };

    for (int i = 0; i < 200; i++)
        assert_int_equal(buf_add_byte(&text, '['), ERR_OK);
    assert_int_equal(buf_add(&text, SLICE("\"AKIAA2B3A2B3A2B3A2B3\"")), ERR_OK);
    for (int i = 0; i < 200; i++)
        assert_int_equal(buf_add_byte(&text, ']'), ERR_OK);
    assert_int_equal(redact_json_rows(buf_slice(&text), &out, NULL), ERR_OK);
    assert_false(slice_has(buf_slice(&out), "AKIA"));
    buf_fini(&text);
    buf_fini(&out);
}
