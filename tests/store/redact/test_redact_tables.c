#include "tests/test.h"

#include <inttypes.h>
#include <string.h>

#include "store/redact/redact.h"
#include "store/redact/secret_name.h"
#include "store/redact/token_form.h"

/* Made from the tables of tokens and of names. */

/* A token of the form, whose letters are chosen by a number. */
static void spell_form(const struct token_form *f, uint32_t random, char out[512])
{
    static const char all[] = "0123456789abcdefABCDEFghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strlen(f->front);

    memcpy(out, f->front, n);
    for (unsigned i = 0; i < f->least;) {
        random = random * 1103515245u + 12345u;
        char c = all[(random >> 16) % (sizeof all - 1)];

        if (i % 3 == 2 && letters_have(f->letters, '5')) /* as in most tokens */
            c = "0123456789"[(random >> 16) % 10];
        if (letters_have(f->letters, c)) {
            out[n++] = c;
            i++;
        }
    }
    out[n] = '\0';
}

/* %s: the token, in every place where a text can stand. */
static const char *const places[] = {
    "%s",
    "use %s, please",
    "x=%s;",
    "key_%s b",
    "'%s'",
    "(%s)",
    "<a>%s</a>",
    "a\\n%s\\nb",
    "a\\t%s\\tb",
    "{\\\"a\\\":\\\"%s\\\"}",
    "{\\\\\\\"a\\\\\\\":\\\\\\\"%s\\\\\\\"}",
    "\x1b[32m%s\x1b[0m",
    "\\x1b[1;31m%s",
    "\\u001b[32m%s",
    "a%%3D%s",
    "?t=%s&u=1",
    "\\u0022%s\\u0022",
    "`%s`",
    "[%s]",
    "Bearer %s",
};

TEST(each_form_is_found_in_each_place)
{
    for (size_t i = 0; i < token_forms_n; i++)
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            char token[512], text[1024];
            struct buf out = { 0 };

            spell_form(&token_forms[i], (uint32_t)(i * 31 + k), token);
            snprintf(text, sizeof text, places[k], token);
            assert_int_equal(redact_text(slice_of(text), &out, NULL), ERR_OK);
            if (slice_has(buf_slice(&out), token + strlen(token_forms[i].front)))
                fail_msg("%s in: %s", token_forms[i].kind, text);
            buf_fini(&out);
        }
}

/* A service beside a value without any form of its own, and the names of secrets. */
TEST(each_name_is_found_in_each_place)
{
    static const char *const given[] = {
        "adobe=d6903eb94b6cf1609f0b6f65de10bb4d",
        "heroku=a1273c6d-bb59-1756-7273-1423410000f4",
        "adafruit=52loi03p8hssr_rxqqm2plppjs-muezq",
        "netlify=w2p763007lnanwze2t_h4qzwx8wfqdpfx_pwnsnu",
        "snykkey=0876fb12-122e-4335-df11-66619b364e21",
        "sonarlogin=s8yrk5vndm1ifb9q4guif1b8i2olfwwt7likq3e0",
        "twitch=pe7tpflxlwlow4lnp6qe52dzg315pf",
        "travis=vz7d2sl8iitea9mibw306o",
        "DB_PASSWORD=correct7horse",
        "client_secret=m9hoqgm7q5o93o8h6f0e2i696h6g3z8k",
    };

    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            struct buf out = { 0 };
            char text[1024];

            snprintf(text, sizeof text, places[k], given[i]);
            assert_int_equal(redact_text(slice_of(text), &out, NULL), ERR_OK);
            if (slice_has(buf_slice(&out), strchr(given[i], '=') + 1))
                fail_msg("%s", text);
            buf_fini(&out);
        }
}

static const char *form_at(size_t i)
{
    return token_forms[i].front;
}

static const char *word_at(size_t i)
{
    return secret_words[i].word;
}

/* A name that is not in its order, or has other letters, would not be found. */
static void assert_table(size_t n, const char *(*name_at)(size_t), const struct front_letters *have)
{
    struct front_letters of[128] = { 0 };

    for (size_t i = 0; i < n; i++) {
        const char *name = name_at(i);
        struct front_letters *f = &of[(unsigned char)name[0]];

        assert_true(i == 0 || strcmp(name_at(i - 1), name) <= 0);
        f->second |= front_bit(name[1]);
        f->third |= name[2] ? front_bit(name[2]) : UINT64_MAX;
    }
    for (int c = 0; c < 128; c++)
        if (of[c].second != have[c].second || of[c].third != have[c].third)
            fail_msg("must be ['%c'] = { 0x%" PRIx64 ", 0x%" PRIx64 " }", c, of[c].second,
                     of[c].third);
}

TEST(the_tables_are_sorted_and_their_letters_known)
{
    assert_table(token_forms_n, form_at, token_fronts);
    assert_table(secret_words_n, word_at, secret_word_fronts);
}

TEST(each_form_is_found_in_each_member)
{
    static const char *const rows[] = {
        "{\"AccessKeyId\":\"%s\"}\n",
        "{\"signature\":\"%s\"}\n",
        "{\"ids\":[\"%s\"]}\n",
        "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"data\":\"%s\"}}\n",
        "{\"a\":\"{\\\"b\\\":\\\"%s\\\"}\"}\n",
    };

    for (size_t i = 0; i < token_forms_n; i++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            char token[512], text[1024];
            struct buf out = { 0 };

            spell_form(&token_forms[i], (uint32_t)(i * 17 + k), token);
            snprintf(text, sizeof text, rows[k], token);
            assert_int_equal(redact_json_rows(slice_of(text), &out, NULL), ERR_OK);
            if (slice_has(buf_slice(&out), token + strlen(token_forms[i].front)))
                fail_msg("%s in: %s", token_forms[i].kind, text);
            buf_fini(&out);
        }
}
