#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
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
    { "slack webhook", "hooks.slack.com/services/~w44" },
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

/* One letter too short, or in the middle of a word: these are not secrets. */
TEST(text_that_only_begins_like_a_secret_is_kept)
{
    static const char *const shapes_of_others[] = {
        "ghp_~w35", "AKIA~U15", "AIza~w34", "npm_~w35",
        "key-~h31", "SK~h31",   "xSK~h32",  "xAKIA~U16",
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
    /* The name of the member, and ids and images, in which only tokens are. */
    assert_rows("{\"password\":\"a1b2c3d4e5f6\",\"token\":\"plain words\"}\n",
                "{\"password\":\"REDACTED\",\"token\":\"plain words\"}\n");
    assert_rows("{\"requestID\":\"AKIAA2B3A2B3A2B3A2B3\",\"uuids\":[\"AKIAA2B3A2B3A2B3A2B3\"]}\n",
                "{\"requestID\":\"REDACTED\",\"uuids\":[\"REDACTED\"]}\n");
    assert_rows("{\"type\":\"image_url\",\"data\":\"AKIAA2B3A2B3A2B3A2B3\"}\n",
                "{\"type\":\"image_url\",\"data\":\"REDACTED\"}\n");
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

/* A name of each kind, in each spelling, before values of every length and alphabet. */
TEST(names_make_values_secret)
{
    static const char *const words[][2] = {
        { "PASSWORD", "password" },    { "PASS", "pass" },   { "PWD", "pwd" },
        { "SECRET", "secret" },        { "TOKEN", "token" }, { "API_KEY", "apiKey" },
        { "CREDENTIAL", "credential" }
    };
    static const char *const values[] = { "x",         "7",       "swordfish",        "hunter2",
                                          "p@ss!w0rd", "a-b-c-d", "0123456789abcdef", "zq9~zq9" };
    static const char *const forms[] = { "%s=%s\n", "export DB_%s=%s\n", "MY_%s_V2=%s",
                                         "docker run -e %s=%s x" };
    static const char *const small[] = { "%s: \"%s\"",   "{\\\"%s\\\":\\\"%s\\\"}",
                                         "--db-%s=%s ",  "<%s>%s<",
                                         "my_%s = '%s'", "--%s \"%s\"" };

    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            for (size_t k = 0; k < sizeof forms / sizeof *forms + sizeof small / sizeof *small;
                 k++) {
                bool upper = k < sizeof forms / sizeof *forms;
                const char *form = upper ? forms[k] : small[k - sizeof forms / sizeof *forms];
                char text[256], kept[64];
                struct buf out = { 0 };

                snprintf(text, sizeof text, form, words[w][!upper], values[v]);
                assert_int_equal(redact_text(slice_of(text), &out, NULL), ERR_OK);
                if (!slice_has(buf_slice(&out), "REDACTED"))
                    fail_msg("kept: %s", text);
                snprintf(kept, sizeof kept, "=%s", values[v]);
                assert_false(slice_has(buf_slice(&out), kept));
                buf_fini(&out);
            }
}

static const struct {
    const char *text, *secret;
} given[] = {
    { "mysql -u root -pS3cretPw db", "S3cretPw" },
    { "mysqldump -h x -u app -p'p@ss w0rd' db", "p@ss w0rd" },
    { "curl -u admin:hunter2 https://x", "hunter2" },
    { "curl --user admin:hunter2 https://x", "hunter2" },
    { "curl -uadmin:hunter2 x", "hunter2" },
    { "curl -H 'X-Api-Key: abc123def456' u", "abc123def456" },
    { "curl -H \"Authorization: Token abcdef\" u", "abcdef" },
    { "Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz" },
    { "Authorization: Bearer abc", "abc" },
    { "authorization: Digest username=\"u\", response=\"abc\"", "abc" },
    { "Cookie: sid=abcdef; theme=dark", "abcdef" },
    { "Set-Cookie: session=abc.def; Path=/", "abc.def" },
    { "machine github.com login joe password hunter", "hunter" },
    { "machine h\n  login joe\n  password s3cret", "s3cret" },
    { "db.example.com:5432:app:joe:hunter2", "hunter2" },
    { "*:*:*:postgres:swordfish", "swordfish" },
    { "postgres://u:p@ssw0rd@db/app", "ssw0rd" },
    { "redis://:hunter2@h:6379/0", "hunter2" },
    { "mongodb+srv://u:abc%40def@c.mongodb.net", "abc%40def" },
    { "https://oauth2:abc@gitlab.com/x.git", "abc" },
    { "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/1",
      "0123456789abcdef0123456789abcdef" },
    { "Server=db;User Id=sa;Password=Yukon!900;", "Yukon!900" },
    { "Server=db;Uid=sa;Pwd=abc;", "=abc" },
    { "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=abcd1234/+==;EndpointSuffix=y",
      "abcd1234" },
    { "<password>hunter</password>", "hunter" },
    { "<add key=\"ApiKey\" value=\"xyz\" />", "xyz" },
    { "<property name=\"password\">hunter</property>", "hunter" },
    { "<user password=\"hunter\"/>", "hunter" },
    { "<add key=\"ClearTextPassword\" value=\"abc\" />", "\"abc\"" },
    { "password: hunter\n", "hunter" },
    { "  db_password: correct horse\n", "correct" },
    { "DB_PASSWORD=hunter2\n", "hunter2" },
    { "export SECRET_KEY_BASE=abc", "abc" },
    { "PGPASSWORD=swordfish psql", "swordfish" },
    { "MYSQL_PWD=x", "=x" },
    { "API_KEY=a", "=a" },
    { "MY_TOKEN_V2=abc", "abc" },
    { "docker run -e MYSQL_ROOT_PASSWORD=my-secret-pw mysql", "my-secret-pw" },
    { "{\"auths\":{\"ghcr.io\":{\"auth\":\"dXNlcjpwYXNz\"}}}", "dXNlcjpwYXNz" },
    { "//registry.npmjs.org/:_authToken=abc-def", "abc-def" },
    { "_auth = dXNlcjpwYXNz", "dXNlcjpwYXNz" },
    { "_password=cGFzcw==", "cGFzcw" },
    { "    client-key-data: LS0tLS1CRUdJTiBSU0E=", "LS0tLS1" },
    { "    token: abc.def.ghi", "abc.def.ghi" },
    { "--password hunter", "hunter" },
    { "--password=hunter x", "hunter" },
    { "--token abc123", "abc123" },
    { "[\"mysql\",\"--password\",\"hunter\"]", "hunter" },
    { "--db-password 'hunter two'", "hunter two" },
    { "--api-key=abc", "abc" },
    { "sshpass -p hunter2 ssh x", "hunter2" },
    { "redis-cli -a hunter2 ping", "hunter2" },
    { "docker login -u joe -p hunter2 reg", "hunter2" },
    { "echo hunter2 | docker login --password-stdin", "hunter2" },
    { "echo 'hunter2' | sudo -S ls", "hunter2" },
    { "echo joe:hunter2 | chpasswd", "hunter2" },
    { "ldapsearch -x -w hunter2 -b x", "hunter2" },
    { "password = \"swordfish\"", "swordfish" },
    { "const apiKey = 'abc';", "'abc'" },
    { "clientSecret: \"x\"", "\"x\"" },
    { "'DB_PASSWORD' => 'abc'", "'abc'" },
    { "define('DB_PASSWORD', 'abc');", "abc" },
    { "#define WIFI_PASSWORD \"abc\"", "\"abc\"" },
    { "ENV DB_PASSWORD abc", "abc" },
    { "os.environ[\"API_TOKEN\"] = \"abc\"", "\"abc\"" },
    { "setPassword(\"hunter2\")", "hunter2" },
    { ":password => \"abc\"", "\"abc\"" },
    { "Password: hunter2", "hunter2" },
    { "the password is hunter2", "hunter2" },
    { "my api key: abc123def", "abc123def" },
    { "{\\\"password\\\":\\\"abc\\\"}", "\\\"abc" },
    { "{\\\\\\\"password\\\\\\\":\\\\\\\"abc\\\\\\\"}", "\"abc" },
    { "\"password\":\"a\\\"bcdef\"", "bcdef" },
    { "datadog api key = 0123456789abcdef0123456789abcdef", "0123456789abcdef" },
    { "CREATE USER x WITH PASSWORD 'abc'", "'abc'" },
    { "IDENTIFIED BY 'abc'", "'abc'" },
    { "-----BEGIN OPENSSH PRIVATE KEY-----\\nabc\\n-----END OPENSSH PRIVATE KEY-----", "abc" },
    { "-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc\n-----END PGP PRIVATE KEY BLOCK-----", "abc" },
    { "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\nabcdef\nPrivate-MAC: x", "abcdef" },
    { "root:$6$abcdefgh$0123456789abcdef0123456789abcdef:1:", "0123456789abcdef" },
    { "- name: DB_PASSWORD\n  value: hunter\n", "hunter" },
    { "{\"name\":\"DB_PASSWORD\",\"value\":\"hunter\"}", "hunter" },
    { "https://x/?token=abc&y=1", "=abc&" },
    { "X-Amz-Signature=0123456789abcdef0123456789abcdef0123456789abcdef", "0123456789abcdef" },
    { "?sig=abcDEF123%2Fxyz987654&se=1", "abcDEF123" },
    { "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalr" },
    { "aws configure set aws_secret_access_key wJalrXUtnFEMI1K7MDENG", "wJalr" },
    { "requirepass hunter2\n", "hunter2" },
    { "kind: Secret\ndata:\n  foo: aHVudGVyMg==\n", "aHVudGVyMg" },
    { "kubectl create secret generic x --from-literal=password=abc", "=abc" },
    { "wget --http-password=abc", "=abc" },
    { "TF_VAR_db_password=abc", "=abc" },
    { "dbPassword=abc123", "abc123" },
    { "spring.datasource.password=abc", "=abc" },
    { "gpg --passphrase abc", "abc" },
    { "openssl enc -aes-256-cbc -k hunter2 -in x", "hunter2" },
    { "npm config set //registry.example.com/:_authToken 8f14e45fceea167a", "8f14" },
    { "setx DB_PASSWORD correct-horse", "correct" },
    { "Log in as bob with the password x7Kq9vTz, then go on.", "x7Kq9vTz" },
    { "user bob, password hunter-2b!", "hunter" },
    { "openssl enc -pass pass:abc", "pass:abc" },
    { "wireguard PrivateKey = aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFg=", "aBcDeF" },
};

TEST(values_are_secret_by_what_is_beside_them)
{
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct buf out = { 0 };

        assert_int_equal(redact_text(slice_of(given[i].text), &out, NULL), ERR_OK);
        if (slice_has(buf_slice(&out), given[i].secret))
            fail_msg("kept: %s", given[i].text);
        buf_fini(&out);
    }
}

TEST(ordinary_text_is_kept)
{
    static const char *const texts[] = {
        "password = getpass()",
        "password = getpass.getpass(\"Password: \")",
        "password = request.form['password']",
        "const token = await getToken();",
        "token = tokenizer.next_token()",
        "if (token == NULL) return;",
        "def login(user: str, password: str) -> None:",
        "connect(user=user, password=password)",
        "password=os.environ[\"DB_PASSWORD\"]",
        "export TOKEN=$TOKEN",
        "PASSWORD=${DB_PASSWORD}",
        "password: ${{ secrets.PASSWORD }}",
        "\"password\": null, \"token\": true",
        "The password must be at least 8 characters.",
        "Password: must contain a digit and a letter",
        "token: the unit of text",
        "Unexpected token '<' at position 1",
        "commit 29dbe506c7f1a2b3c4d5e6f708192a3b4c5d6e7f",
        "session 4b7e0f91-d836-4a5c-b0f2-29c4e8a163cc",
        "/home/u/.claude/projects/-work-h/4b7e0f91-d836-4a5c-b0f2-29c4e8a163cc.jsonl",
        "\"input_tokens\":1234,\"output_tokens\":567,\"cache_read_input_tokens\":89000",
        "max_tokens=4096",
        "PWD=/home/user/project",
        "pwd: /home/user",
        "docker run -p 8080:80 nginx",
        "mkdir -p src/components",
        "ssh -p 2222 host",
        "\"integrity\": "
        "\"sha512-abcDEF123456789+/"
        "abcDEF123456789abcDEF123456789abcDEF123456789abcDEF123456789abcDEF12==\"",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8h2kQ7w3xZ5v9yBnM4cD6eF8gH0iJ1kL2mN3oP4qR5",
        "http://localhost:8080/path@x",
        "git@github.com:user/repo.git",
        "https://github.com/user/repo/blob/29dbe506c7f1a2b3c4d5e6f708192a3b4c5d6e7f/src/main.c#L10",
        "#include \"store/redact/redact.h\"",
        "static enum err_code redact_value(struct slice key, struct slice value, int depth)",
        "node_modules/@babel/plugin-transform-runtime/lib/index.js",
        "src/components/UserProfileSettings/ChangePasswordDialog.test.tsx",
        "let passwordInput = document.getElementById(\"password\");",
        "<input type=\"password\" name=\"password\" placeholder=\"Password\">",
        "\"message\": \"Enter your password\"",
        "password_reset_url = \"/accounts/reset\"",
        "SECRET_NAME=my-secret-name",
        "secretKeyRef: {name: db, key: password}",
        "token_count: 12",
        "for (const token of tokens) {",
        "keyboard: qwerty",
        "primary_key = True",
        "cache_key = f\"user:{id}\"",
        "author: John Smith",
        "authorize the user: yes",
        "Basic usage: run the command",
        "bearer of bad news",
        "2026-11-28T00:54:31.123Z INFO request_id=4b7e0f91-d836-4a5c-b0f2-29c4e8a163cc",
        "version = 1.2.3-beta.4",
        "sha256:29dbe506c7f1a2b3c4d5e6f708192a3b4c5d6e7f29dbe506c7f1a2b3c4d5e6f7",
        "a.c:10:5: error: expected ';'",
        "tests/test_x.py::test_login PASSED",
        "cd /work && make -j4 && ./run test",
        "0x7ffd1234abcd",
        "toolu_01A2b3C4d5E6f7G8h9J0k1L2",
        "msg_01XyZ9876543210AbCdEfGhIjK",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "ExtremelyLongJavaClassNameWithManyWordsInItFactoryBean2",
        "this_is_a_very_long_snake_case_identifier_with_number_42_inside",
        "com.example.project.authentication.PasswordEncoderFactories",
        "github_sha = 29dbe506c7f1a2b3c4d5e6f708192a3b4c5d6e7f",
        "GITHUB_SHA=29dbe506c7f1a2b3c4d5e6f708192a3b4c5d6e7f",
        "\"sessionId\":\"4b7e0f91-d836-4a5c-b0f2-29c4e8a163cc\"",
        "the sk-learn library, task-force, a hf_model and ya29.",
        "return hash_password(password)",
        "self.password = password",
        "user.password != other.password",
        "auth: enabled",
        "| token | description |",
        "| password | the user's password |",
        "--password-file /run/secrets/db",
        "use --token TOKEN or --password PASSWORD",
        "use the --password flag",
        "the password sha256sum and the password base64url",
        "a password field2024 in the form",
        "openssl req -key key1.pem -keyout key2.pem",
        "npm config set registry https://registry.npmjs.org",
        "The `--token` option is required",
        "import { secret } from './secret'",
        "password: z.string().min(8),",
        "token: JsonWebToken;",
        "password?: string",
        "fn new(token: &str) -> Self",
        "secrets: inherit",
        "\"key\": \"value\", \"id\": \"abc\"",
        "key: ctrl-alt-delete-2",
        "Author: a <a@b.c>",
        "npm_config_cache=/tmp/x",
        "mysql -p",
        "zip -r out.zip dir",
        "curl -u user https://x",
        "pass",
        "3 passed, 2 failed",
        "pass: 12 fail: 3",
        "Tests: 12 passed, pass rate: 93.5%",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_redacted(texts[i], texts[i]);
}

/* The number of looks is bounded for each byte: hostile texts of a megabyte end at once. */
TEST(hostile_texts_take_linear_time)
{
    static const char parts[] =
        "sk-aaaa-|eyJ-|password=|password=\"$|:::::|-----BEGIN PRIVATE KEY|"
        "-----BEGIN |a://|a=b |<a>|name=value=|mysql -p |password=\\|"
        "authorization: |1.1:99:a:b:|password \"|aB1/|login x password |auth(|jwt.sign([{ |";
    CLEANUP(redact_counts_fini) struct redact_counts counts = { 0 };
    AUTO_BUF text = { 0 };
    AUTO_BUF out = { 0 };

    for (const char *at = parts, *end; (end = strchr(at, '|')) != NULL; at = end + 1) {
        text.n = out.n = 0;
        while (text.n < 20000)
            assert_int_equal(buf_addf(&text, "%.*s", (int)(end - at), at), ERR_OK);
        assert_int_equal(redact_text(buf_slice(&text), &out, NULL), ERR_OK);
    }

    /* A picture, and a session that is full of tokens which begin alike. */
    text.n = out.n = 0;
    for (unsigned i = 0; text.n < 4000000; i++)
        assert_int_equal(buf_addf(&text, "%08x/ab9+Zk:%u/", i * 2654435761U, i), ERR_OK);
    assert_int_equal(redact_text(buf_slice(&text), &out, NULL), ERR_OK);
    text.n = out.n = 0;
    for (unsigned i = 0; i < 40000; i++)
        assert_int_equal(buf_addf(&text, "password: Aaaa-%u! Aaaa-%u?\n", i, i + 7), ERR_OK);
    assert_int_equal(redact_learn(buf_slice(&text), &counts), ERR_OK);
    assert_int_equal(redact_text(buf_slice(&text), &out, &counts), ERR_OK);
}

/* As grep, jq and others print them. */
TEST(colours_between_a_name_and_its_value_do_not_hide_it)
{
    assert_redacted("\x1b[32mDB_PASSWORD=\x1b[33mrt5\x1b[0m",
                    "\x1b[32mDB_PASSWORD=\x1b[33mREDACTED\x1b[0m");
    assert_redacted("DB_\x1b[01;31m\x1b[KPASS\x1b[m\x1b[KWORD=hun\x1b[1mter\x1b[0m2 x",
                    "DB_\x1b[01;31m\x1b[KPASS\x1b[m\x1b[KWORD=REDACTED x");
    assert_redacted(
        "\x1b[1mpassword\x1b[0m: \x1b[31mPa5s\x1b[0m; \x1b[1mtoken\x1b[0m=\x1b[31mab1\x1b[0m",
        "\x1b[1mpassword\x1b[0m: \x1b[31mREDACTED\x1b[0m; "
        "\x1b[1mtoken\x1b[0m=\x1b[31mREDACTED\x1b[0m");
    assert_redacted("\\\\u001b[1mpassword\\\\u001b[0m=x7",
                    "\\\\u001b[1mpassword\\\\u001b[0m=REDACTED");
    assert_redacted("\x1b[", "\x1b[");
    assert_redacted("\x1b[1mno secrets[0] are here\x1b[0m", "\x1b[1mno secrets[0] are here\x1b[0m");
}
