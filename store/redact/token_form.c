#include "store/redact/token_form.h"

#include <string.h>

enum { LOOK_MOST = 512 }; /* letters that are judged, so that the time stays linear */

/* Letters on both sides of a part that identifies the service. */
struct token_middle {
    const char *middle;
    unsigned before, least_before;
    unsigned after, least_after;
    const char *kind;
};

/* clang-format off */
const struct token_form token_forms[] = {
    { "00D", LETTERS_WORD | LETTERS_DOT | LETTERS_MARKS | LETTERS_LOW, 80, "salesforce session" },
    { "1//0", LETTERS_URL, 40, "google refresh token" },
    { "4b1d", LETTERS_WORD, 38, "clickhouse key" },
    { "A3-", LETTERS_UPPER | LETTERS_DASH, 31, "1password secret key" },
    { "A3T", LETTERS_UPPER, 17, "aws access key" },
    { "ABIA", LETTERS_UPPER, 16, "aws access key" },
    { "ABSK", LETTERS_WORD | LETTERS_BASE64, 100, "aws bedrock key" },
    { "ACCA", LETTERS_UPPER, 16, "aws access key" },
    { "AGE-SECRET-KEY-1", LETTERS_UPPER, 58, "age key" },
    { "AGPA", LETTERS_UPPER, 16, "aws access key" },
    { "AIDA", LETTERS_UPPER, 16, "aws access key" },
    { "AIPA", LETTERS_UPPER, 16, "aws access key" },
    { "AIza", LETTERS_URL, 35, "google key" },
    { "AKCp", LETTERS_WORD, 69, "artifactory key" },
    { "AKIA", LETTERS_UPPER, 16, "aws access key" },
    { "AKID", LETTERS_WORD, 32, "tencent key" },
    { "AKLT", LETTERS_WORD, 32, "volcengine key" },
    { "ANPA", LETTERS_UPPER, 16, "aws access key" },
    { "ANVA", LETTERS_UPPER, 16, "aws access key" },
    { "API-", LETTERS_UPPER, 26, "octopus key" },
    { "APKA", LETTERS_UPPER, 16, "aws access key" },
    { "AQVN", LETTERS_URL, 35, "yandex key" },
    { "AROA", LETTERS_UPPER, 16, "aws access key" },
    { "ASCA", LETTERS_UPPER, 16, "aws access key" },
    { "ASIA", LETTERS_UPPER, 16, "aws access key" },
    { "ATATT3", LETTERS_URL | LETTERS_BASE64, 60, "atlassian token" },
    { "ATBB", LETTERS_URL | LETTERS_BASE64, 24, "bitbucket token" },
    { "ATCTT3", LETTERS_URL | LETTERS_BASE64, 60, "atlassian token" },
    { "AVNS_", LETTERS_URL, 18, "aiven password" },
    { "BBDC-", LETTERS_WORD | LETTERS_BASE64, 40, "bitbucket token" },
    { "CCDB1_", LETTERS_URL, 40, "cockroach key" },
    { "CFPAT-", LETTERS_URL, 43, "contentful token" },
    { "CLOJARS_", LETTERS_WORD, 60, "clojars token" },
    { "EAAA", LETTERS_URL, 22, "square or facebook token" },
    { "EAAC", LETTERS_WORD, 60, "facebook token" },
    { "EAAG", LETTERS_WORD, 60, "facebook token" },
    { "EAAM", LETTERS_WORD, 60, "facebook token" },
    { "EZAK", LETTERS_WORD, 54, "easypost key" },
    { "EZTK", LETTERS_WORD, 54, "easypost key" },
    { "FLWPUBK_TEST-", LETTERS_WORD | LETTERS_DASH, 32, "flutterwave key" },
    { "FLWSECK", LETTERS_URL, 12, "flutterwave key" },
    { "FlyV1 fm", LETTERS_WORD | LETTERS_BASE64 | LETTERS_LOW | LETTERS_MARKS, 100, "fly token" },
    { "GOCSPX-", LETTERS_URL, 24, "google client secret" },
    { "GR1348941", LETTERS_URL, 20, "gitlab token" },
    { "HRKU-", LETTERS_URL, 30, "heroku key" },
    { "IGQV", LETTERS_URL, 80, "instagram token" },
    { "KEY0", LETTERS_URL | LETTERS_DOT, 40, "telnyx key" },
    { "KGAT_", LETTERS_HEX, 32, "kaggle token" },
    { "LTAI", LETTERS_WORD, 12, "alibaba key" },
    { "Mid-server-", LETTERS_URL, 20, "midtrans key" },
    { "NRAA", LETTERS_HEX, 42, "new relic key" },
    { "NRAK-", LETTERS_WORD, 27, "new relic key" },
    { "NRAL-", LETTERS_WORD, 27, "new relic key" },
    { "NRBR-", LETTERS_WORD, 19, "new relic key" },
    { "NRII-", LETTERS_URL, 32, "new relic key" },
    { "NRJS-", LETTERS_HEX, 19, "new relic key" },
    { "NRRA-", LETTERS_HEX, 42, "new relic key" },
    { "NRSP-", LETTERS_WORD, 27, "new relic key" },
    { "PMAK-", LETTERS_HEX | LETTERS_DASH, 59, "postman key" },
    { "PMAT-", LETTERS_UPPER, 26, "postman key" },
    { "SB-Mid-server-", LETTERS_URL, 20, "midtrans key" },
    { "SCW", LETTERS_UPPER, 17, "scaleway key" },
    { "SG.", LETTERS_URL | LETTERS_DOT, 66, "sendgrid key" },
    { "SK", LETTERS_HEX, 32, "twilio key" },
    { "YC", LETTERS_URL, 38, "yandex key" },
    { "ZXlK", LETTERS_WORD | LETTERS_BASE64, 40, "web token in base64" },
    { "_gitlab_session=", LETTERS_HEX, 32, "gitlab session" },
    { "access-development-", LETTERS_HEX | LETTERS_DASH, 36, "plaid token" },
    { "access-production-", LETTERS_HEX | LETTERS_DASH, 36, "plaid token" },
    { "access-sandbox-", LETTERS_HEX | LETTERS_DASH, 36, "plaid token" },
    { "aio_", LETTERS_WORD, 28, "adafruit key" },
    { "akab-", LETTERS_WORD | LETTERS_DASH, 16, "akamai token" },
    { "api_org_", LETTERS_WORD, 34, "hugging face token" },
    { "apify_api_", LETTERS_WORD, 36, "apify token" },
    { "b_", LETTERS_URL | LETTERS_BASE64, 44, "beamer token" },
    { "bb_live_", LETTERS_URL, 27, "browserbase key" },
    { "bb_test_", LETTERS_URL, 27, "browserbase key" },
    { "bedrock-api-key-", LETTERS_URL | LETTERS_BASE64, 24, "aws bedrock key" },
    { "bkaj_", LETTERS_WORD, 36, "buildkite token" },
    { "bkct_", LETTERS_WORD, 36, "buildkite token" },
    { "bkpt_", LETTERS_WORD, 36, "buildkite token" },
    { "bkua_", LETTERS_HEX, 40, "buildkite token" },
    { "cfat_", LETTERS_WORD, 36, "cloudflare token" },
    { "cfk_", LETTERS_WORD, 36, "cloudflare key" },
    { "cfut_", LETTERS_WORD, 36, "cloudflare token" },
    { "cfxk_", LETTERS_WORD | LETTERS_LOW, 20, "cfx key" },
    { "cio", LETTERS_WORD, 32, "crates.io token" },
    { "ck-", LETTERS_WORD, 40, "key of a model provider" },
    { "clojars_", LETTERS_WORD, 60, "clojars token" },
    { "cloudsmith_", LETTERS_WORD, 36, "cloudsmith token" },
    { "cmVmd", LETTERS_WORD, 55, "artifactory token" },
    { "crsr_", LETTERS_HEX, 40, "cursor key" },
    { "csk-", LETTERS_WORD, 40, "key of a model provider" },
    { "ctp_", LETTERS_WORD | LETTERS_LOW, 20, "cloudsmith token" },
    { "ctx7sk-", LETTERS_HEX | LETTERS_DASH, 36, "context7 key" },
    { "dG9rO", LETTERS_WORD | LETTERS_BASE64, 40, "intercom token" },
    { "dapi", LETTERS_HEX, 32, "databricks token" },
    { "dckr_oat_", LETTERS_URL, 26, "docker token" },
    { "dckr_pat_", LETTERS_URL, 26, "docker token" },
    { "ddog_", LETTERS_WORD, 30, "datadog token" },
    { "discord.com/api/webhooks/", LETTERS_URL | LETTERS_BASE64, 60, "discord webhook" },
    { "discordapp.com/api/webhooks/", LETTERS_URL | LETTERS_BASE64, 60, "discord webhook" },
    { "dkea", LETTERS_HEX, 32, "databricks token" },
    { "dnkey-", LETTERS_URL, 60, "defined networking token" },
    { "doo_v1_", LETTERS_HEX, 64, "digitalocean token" },
    { "dop_v1_", LETTERS_HEX, 64, "digitalocean token" },
    { "dor_v1_", LETTERS_HEX, 64, "digitalocean token" },
    { "dose", LETTERS_HEX, 32, "databricks token" },
    { "dp.audit.", LETTERS_WORD, 40, "doppler token" },
    { "dp.ct.", LETTERS_WORD, 40, "doppler token" },
    { "dp.pt.", LETTERS_WORD, 40, "doppler token" },
    { "dp.sa.", LETTERS_WORD, 40, "doppler token" },
    { "dp.scim.", LETTERS_WORD, 40, "doppler token" },
    { "dp.st.", LETTERS_URL | LETTERS_DOT, 40, "doppler token" },
    { "dsapi", LETTERS_HEX, 32, "databricks token" },
    { "dt0c01.", LETTERS_UPPER | LETTERS_DOT, 80, "dynatrace token" },
    { "dt0s01.", LETTERS_UPPER | LETTERS_DOT, 80, "dynatrace token" },
    { "dt0s02.", LETTERS_UPPER | LETTERS_DOT, 80, "dynatrace token" },
    { "dt0s06.", LETTERS_UPPER | LETTERS_DOT, 80, "dynatrace token" },
    { "dt0s08.", LETTERS_UPPER | LETTERS_DOT, 80, "dynatrace token" },
    { "duffel_live_", LETTERS_URL | LETTERS_BASE64, 43, "duffel token" },
    { "duffel_test_", LETTERS_URL | LETTERS_BASE64, 43, "duffel token" },
    { "dvc_client_", LETTERS_URL, 30, "devcycle key" },
    { "dvc_mobile_", LETTERS_URL, 30, "devcycle key" },
    { "dvc_server_", LETTERS_URL, 30, "devcycle key" },
    { "e2b_", LETTERS_HEX, 40, "e2b key" },
    { "essu_", LETTERS_WORD | LETTERS_LOW, 40, "elastic key" },
    { "expo_", LETTERS_URL, 30, "expo token" },
    { "eyJrIjoi", LETTERS_WORD | LETTERS_BASE64, 70, "grafana key" },
    { "fc-", LETTERS_HEX, 32, "firecrawl key" },
    { "figd_", LETTERS_URL, 36, "figma token" },
    { "figo_", LETTERS_URL, 36, "figma token" },
    { "figoh_", LETTERS_URL, 36, "figma token" },
    { "figor_", LETTERS_URL, 36, "figma token" },
    { "figu_", LETTERS_URL, 36, "figma token" },
    { "figuh_", LETTERS_URL, 36, "figma token" },
    { "figur_", LETTERS_URL, 36, "figma token" },
    { "fio-u-", LETTERS_URL | LETTERS_BASE64, 64, "frame.io token" },
    { "flb_live_", LETTERS_WORD, 20, "flutterwave key" },
    { "fm1a_", LETTERS_WORD | LETTERS_BASE64, 90, "fly token" },
    { "fm1r_", LETTERS_WORD | LETTERS_BASE64, 90, "fly token" },
    { "fm2_", LETTERS_WORD | LETTERS_BASE64, 90, "fly token" },
    { "fo1_", LETTERS_URL, 40, "fly token" },
    { "fw_", LETTERS_WORD, 22, "key of a model provider" },
    { "gat_", LETTERS_WORD, 30, "gitea token" },
    { "gho_", LETTERS_WORD, 36, "github token" },
    { "ghp_", LETTERS_WORD, 36, "github token" },
    { "ghr_", LETTERS_WORD, 36, "github token" },
    { "ghs_", LETTERS_WORD | LETTERS_LOW | LETTERS_DOT | LETTERS_DASH, 36, "github token" },
    { "ghu_", LETTERS_WORD, 36, "github token" },
    { "github_pat_", LETTERS_WORD | LETTERS_LOW, 36, "github token" },
    { "glagent-", LETTERS_URL, 40, "gitlab token" },
    { "glc_", LETTERS_WORD | LETTERS_BASE64, 32, "grafana token" },
    { "glcbt-", LETTERS_URL, 20, "gitlab token" },
    { "gldt-", LETTERS_URL, 20, "gitlab token" },
    { "glffct-", LETTERS_URL, 20, "gitlab token" },
    { "glft-", LETTERS_URL, 20, "gitlab token" },
    { "glimt-", LETTERS_URL, 20, "gitlab token" },
    { "gloas-", LETTERS_URL, 64, "gitlab secret" },
    { "glpat-", LETTERS_URL | LETTERS_DOT, 20, "gitlab token" },
    { "glptt-", LETTERS_HEX, 40, "gitlab token" },
    { "glrt-", LETTERS_URL | LETTERS_DOT, 20, "gitlab token" },
    { "glrtr-", LETTERS_URL, 20, "gitlab token" },
    { "glsa_", LETTERS_WORD | LETTERS_LOW, 40, "grafana token" },
    { "glsoat-", LETTERS_URL, 20, "gitlab token" },
    { "glwt-", LETTERS_URL, 20, "gitlab token" },
    { "gsk_", LETTERS_WORD, 48, "groq key" },
    { "hf_", LETTERS_WORD, 30, "hugging face token" },
    { "hooks.slack.com/services/", LETTERS_WORD | LETTERS_BASE64, 24, "slack webhook" },
    { "hooks.slack.com/triggers/", LETTERS_WORD | LETTERS_BASE64, 24, "slack webhook" },
    { "hooks.slack.com/workflows/", LETTERS_WORD | LETTERS_BASE64, 24, "slack webhook" },
    { "hooks.zapier.com/hooks/catch/", LETTERS_URL | LETTERS_BASE64, 12, "zapier webhook" },
    { "hvb.", LETTERS_URL, 80, "vault token" },
    { "hvr.", LETTERS_URL, 24, "vault token" },
    { "hvs.", LETTERS_URL, 24, "vault token" },
    { "ico-", LETTERS_WORD, 32, "infracost token" },
    { "ion_", LETTERS_WORD, 42, "ionic token" },
    { "key-", LETTERS_WORD, 32, "mailgun key" },
    { "lin_api_", LETTERS_WORD, 32, "linear key" },
    { "lin_oauth_", LETTERS_WORD, 32, "linear token" },
    { "lin_wh_", LETTERS_WORD, 32, "linear secret" },
    { "lip_", LETTERS_WORD, 20, "lichess token" },
    { "live_", LETTERS_URL | LETTERS_BASE64, 40, "gocardless token" },
    { "live_", LETTERS_HEX, 35, "lob key" },
    { "live_pub_", LETTERS_HEX, 31, "lob key" },
    { "lma_", LETTERS_URL | LETTERS_BASE64, 40, "logicmonitor token" },
    { "lmb_", LETTERS_WORD | LETTERS_BASE64, 40, "logicmonitor token" },
    { "ls-", LETTERS_WORD | LETTERS_DASH, 28, "localstack token" },
    { "lsv2_pt_", LETTERS_HEX | LETTERS_LOW, 40, "langsmith key" },
    { "lsv2_sk_", LETTERS_HEX | LETTERS_LOW, 40, "langsmith key" },
    { "m0-", LETTERS_WORD, 36, "key of a model provider" },
    { "maker.ifttt.com/use/", LETTERS_URL, 20, "ifttt webhook" },
    { "md-", LETTERS_URL, 22, "mandrill key" },
    { "mdb_sa_sk_", LETTERS_URL, 30, "mongodb secret" },
    { "mlsn.", LETTERS_HEX, 60, "mailersend token" },
    { "napi_", LETTERS_WORD, 40, "neon key" },
    { "nfp_", LETTERS_WORD, 36, "netlify token" },
    { "npm_", LETTERS_WORD, 36, "npm token" },
    { "ntn_", LETTERS_WORD, 40, "notion token" },
    { "nvapi-", LETTERS_URL, 50, "nvidia key" },
    { "ops_eyJ", LETTERS_WORD | LETTERS_BASE64, 100, "1password token" },
    { "outlook.office.com/webhook/", LETTERS_URL | LETTERS_BASE64 | LETTERS_MARKS, 60, "teams webhook" },
    { "oy2", LETTERS_WORD, 43, "nuget key" },
    { "p8e-", LETTERS_WORD, 32, "adobe secret" },
    { "pa-", LETTERS_URL, 40, "key of a model provider" },
    { "packagist_", LETTERS_WORD | LETTERS_LOW, 40, "packagist token" },
    { "pat", LETTERS_WORD | LETTERS_DOT, 79, "airtable token" },
    { "pat-eu1-", LETTERS_HEX | LETTERS_DASH, 32, "hubspot token" },
    { "pat-na1-", LETTERS_HEX | LETTERS_DASH, 32, "hubspot token" },
    { "pat.", LETTERS_URL | LETTERS_DOT, 60, "harness token" },
    { "pcsk_", LETTERS_WORD | LETTERS_LOW, 40, "pinecone key" },
    { "pdl_live_apikey_", LETTERS_WORD | LETTERS_LOW, 40, "paddle key" },
    { "pdl_sdbx_apikey_", LETTERS_WORD | LETTERS_LOW, 40, "paddle key" },
    { "persona_production_", LETTERS_URL, 30, "persona key" },
    { "persona_sandbox_", LETTERS_URL, 30, "persona key" },
    { "phc_", LETTERS_WORD, 40, "posthog key" },
    { "phs_", LETTERS_WORD, 40, "posthog key" },
    { "phx_", LETTERS_WORD, 40, "posthog key" },
    { "pk.", LETTERS_WORD | LETTERS_DOT, 80, "mapbox token" },
    { "pnb_", LETTERS_WORD, 36, "prefect token" },
    { "pnu_", LETTERS_WORD, 36, "prefect token" },
    { "polar_", LETTERS_WORD | LETTERS_LOW, 36, "polar token" },
    { "pplx-", LETTERS_WORD, 48, "perplexity key" },
    { "pscale_oauth_", LETTERS_URL | LETTERS_BASE64 | LETTERS_DOT, 32, "planetscale token" },
    { "pscale_pw_", LETTERS_URL | LETTERS_BASE64 | LETTERS_DOT, 32, "planetscale password" },
    { "pscale_tkn_", LETTERS_URL | LETTERS_BASE64 | LETTERS_DOT, 32, "planetscale token" },
    { "pubkey-", LETTERS_HEX, 32, "mailgun key" },
    { "pul-", LETTERS_HEX, 40, "pulumi token" },
    { "pypi-AgE", LETTERS_URL, 50, "pypi token" },
    { "r8_", LETTERS_WORD, 37, "replicate token" },
    { "rdme_", LETTERS_WORD, 70, "readme key" },
    { "re_", LETTERS_WORD | LETTERS_LOW, 24, "resend key" },
    { "rk_live_", LETTERS_WORD, 10, "stripe key" },
    { "rk_prod_", LETTERS_WORD, 10, "stripe key" },
    { "rk_test_", LETTERS_WORD, 10, "stripe key" },
    { "rnd_", LETTERS_WORD, 28, "render key" },
    { "rootly_", LETTERS_HEX, 40, "rootly key" },
    { "rpa_", LETTERS_WORD, 36, "key of a service" },
    { "rubygems_", LETTERS_HEX, 48, "rubygems key" },
    { "s-s4t2af-", LETTERS_HEX, 64, "intra42 secret" },
    { "s-s4t2ud-", LETTERS_HEX, 64, "intra42 secret" },
    { "s.", LETTERS_WORD, 24, "vault token" },
    { "samsara_api_", LETTERS_WORD, 30, "samsara token" },
    { "sat.", LETTERS_URL | LETTERS_DOT, 60, "harness token" },
    { "sb_secret_", LETTERS_URL, 30, "supabase key" },
    { "sbp_", LETTERS_HEX, 40, "supabase token" },
    { "secret-token:", LETTERS_URL | LETTERS_DOT, 20, "secret token" },
    { "secret_", LETTERS_WORD, 43, "notion token" },
    { "sgp_", LETTERS_WORD | LETTERS_LOW, 40, "sourcegraph token" },
    { "sha256~", LETTERS_URL, 43, "openshift token" },
    { "shippo_live_", LETTERS_HEX, 40, "shippo token" },
    { "shippo_test_", LETTERS_HEX, 40, "shippo token" },
    { "shpat_", LETTERS_HEX, 32, "shopify token" },
    { "shpca_", LETTERS_HEX, 32, "shopify token" },
    { "shppa_", LETTERS_HEX, 32, "shopify token" },
    { "shpss_", LETTERS_HEX, 32, "shopify secret" },
    { "shptka_", LETTERS_HEX, 32, "shopify token" },
    { "sk-", LETTERS_URL, 32, "key of a model provider" },
    { "sk-ant-", LETTERS_URL, 6, "key of a model provider" },
    { "sk.eyJ", LETTERS_URL | LETTERS_DOT, 60, "mapbox token" },
    { "sk_", LETTERS_WORD, 26, "key of a service" },
    { "sk_live_", LETTERS_WORD, 10, "stripe key" },
    { "sk_prod_", LETTERS_WORD, 10, "stripe key" },
    { "sk_sbox_", LETTERS_WORD, 20, "checkout key" },
    { "sk_test_", LETTERS_WORD, 10, "stripe key" },
    { "sl.", LETTERS_URL | LETTERS_BASE64, 60, "dropbox token" },
    { "slk_", LETTERS_HEX, 64, "sourcegraph token" },
    { "sm_aat_", LETTERS_WORD, 16, "settlemint token" },
    { "sm_pat_", LETTERS_WORD, 16, "settlemint token" },
    { "sm_sat_", LETTERS_WORD, 16, "settlemint token" },
    { "sntrys_", LETTERS_WORD | LETTERS_BASE64 | LETTERS_LOW, 60, "sentry token" },
    { "sntryu_", LETTERS_HEX, 64, "sentry token" },
    { "sq0atp-", LETTERS_URL, 22, "square token" },
    { "sq0csp-", LETTERS_URL, 40, "square secret" },
    { "sq0idp-", LETTERS_URL, 22, "square id" },
    { "sqa_", LETTERS_HEX, 40, "sonar token" },
    { "sqp_", LETTERS_HEX, 40, "sonar token" },
    { "squ_", LETTERS_HEX, 40, "sonar token" },
    { "t1.", LETTERS_URL | LETTERS_BASE64 | LETTERS_DOT, 90, "yandex token" },
    { "test_", LETTERS_HEX, 35, "lob key" },
    { "test_pub_", LETTERS_HEX, 31, "lob key" },
    { "tfp_", LETTERS_URL | LETTERS_BASE64 | LETTERS_DOT, 44, "typeform token" },
    { "tgp_v1_", LETTERS_URL, 40, "key of a model provider" },
    { "tk-us-", LETTERS_URL, 48, "scalingo token" },
    { "tr_dev_", LETTERS_WORD, 20, "trigger key" },
    { "tr_prod_", LETTERS_WORD, 20, "trigger key" },
    { "tskey-", LETTERS_WORD | LETTERS_DASH, 20, "tailscale key" },
    { "tss_", LETTERS_WORD, 30, "thunderstore token" },
    { "tvly-", LETTERS_URL, 28, "tavily key" },
    { "v1.0-", LETTERS_HEX | LETTERS_DASH, 150, "cloudflare key" },
    { "vck_", LETTERS_WORD, 24, "vercel token" },
    { "vcp_", LETTERS_WORD, 24, "vercel token" },
    { "vercel_", LETTERS_WORD | LETTERS_LOW, 24, "vercel token" },
    { "vtwn_", LETTERS_WORD, 30, "val town token" },
    { "waka_", LETTERS_HEX | LETTERS_DASH, 36, "wakatime key" },
    { "wandb_v1_", LETTERS_URL, 40, "wandb key" },
    { "whsec_", LETTERS_WORD | LETTERS_BASE64, 24, "webhook secret" },
    { "xai-", LETTERS_URL, 60, "key of a model provider" },
    { "xapp-", LETTERS_WORD | LETTERS_DASH, 20, "slack token" },
    { "xkeysib-", LETTERS_WORD | LETTERS_DASH, 70, "brevo key" },
    { "xoxa-", LETTERS_WORD | LETTERS_DASH, 8, "slack token" },
    { "xoxb-", LETTERS_WORD | LETTERS_DASH, 16, "slack token" },
    { "xoxc-", LETTERS_WORD | LETTERS_DASH, 16, "slack token" },
    { "xoxd-", LETTERS_WORD | LETTERS_DASH | LETTERS_MARKS, 16, "slack cookie" },
    { "xoxe", LETTERS_WORD | LETTERS_DASH | LETTERS_DOT, 30, "slack token" },
    { "xoxo-", LETTERS_WORD | LETTERS_DASH, 8, "slack token" },
    { "xoxp-", LETTERS_WORD | LETTERS_DASH, 16, "slack token" },
    { "xoxr-", LETTERS_WORD | LETTERS_DASH, 8, "slack token" },
    { "xoxs-", LETTERS_WORD | LETTERS_DASH, 8, "slack token" },
    { "xsmtpsib-", LETTERS_WORD | LETTERS_DASH, 70, "brevo key" },
    { "y0_", LETTERS_URL, 50, "yandex token" },
    { "ya29.", LETTERS_URL, 20, "google token" },
    { "zpka_", LETTERS_WORD | LETTERS_LOW, 30, "zuplo key" },
};

static const struct token_middle token_middles[] = {
    { ".acc-", LETTERS_WORD | LETTERS_LOW | LETTERS_DOT, 12, LETTERS_URL | LETTERS_DOT | LETTERS_BASE64, 40, "authress key" },
    { ".acc_", LETTERS_WORD | LETTERS_LOW | LETTERS_DOT, 12, LETTERS_URL | LETTERS_DOT | LETTERS_BASE64, 40, "authress key" },
    { ".apps.googleusercontent.com", LETTERS_WORD | LETTERS_DASH, 20, 0, 0, "google client id" },
    { ".atlasv1.", LETTERS_WORD, 14, LETTERS_URL | LETTERS_BASE64, 60, "terraform token" },
    { ".webhook.office.com/webhookb2/", LETTERS_WORD, 1, LETTERS_URL | LETTERS_BASE64 | LETTERS_MARKS, 60, "teams webhook" },
    { ":A", LETTERS_DIGIT, 5, LETTERS_URL, 34, "telegram token" },
    { ":APA91b", LETTERS_URL, 11, LETTERS_URL, 60, "firebase token" },
    { "%", LETTERS_DIGIT, 15, LETTERS_URL, 27, "facebook token" },
    { "-us", LETTERS_HEX, 32, LETTERS_DIGIT, 1, "mailchimp key" },
    { "JQQJ99", LETTERS_WORD, 30, LETTERS_WORD, 20, "azure key" },
    { "NRAL", LETTERS_HEX, 36, 0, 0, "new relic key" },
    { "Q~", LETTERS_URL | LETTERS_DOT | LETTERS_MARKS, 4, LETTERS_URL | LETTERS_DOT | LETTERS_MARKS, 31, "azure secret" },
    { "T3BlbkFJ", LETTERS_URL, 16, LETTERS_URL, 16, "key of a model provider" },
    { "_mmk", LETTERS_WORD | LETTERS_LOW, 36, 0, 0, "maxmind key" },
    { "|", LETTERS_DIGIT, 15, LETTERS_URL, 27, "facebook token" },
};
/* clang-format on */

const size_t token_forms_n = sizeof token_forms / sizeof *token_forms;
static const size_t token_middles_n = sizeof token_middles / sizeof *token_middles;

size_t first_with_front(const void *table, size_t size, size_t n, const char *two)
{
    size_t low = 0;

    while (low < n) {
        const size_t middle = low + (n - low) / 2;
        const char *const *name = (const void *)((const char *)table + middle * size);

        if (compare_front(*name, two) < 0)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static bool token_form_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool token_form_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool token_form_is_hex(char c)
{
    return letters_have(LETTERS_HEX, c);
}

bool token_may_begin(struct slice text, size_t at)
{
    const char *p = text.p;

    if (at == 0 || !letters_have(LETTERS_WORD, p[at - 1]))
        return true;
    if (at >= 2 && p[at - 2] == '\\' && strchr("nrtbfvae0", p[at - 1]))
        return true;
    if (at >= 3 && p[at - 3] == '%' && token_form_is_hex(p[at - 1]) && token_form_is_hex(p[at - 2]))
        return true;
    if (at >= 4 && p[at - 4] == '\\' && (p[at - 3] == 'x' || token_form_is_digit(p[at - 3])) &&
        token_form_is_hex(p[at - 1]) && token_form_is_hex(p[at - 2]))
        return true;
    if (at >= 6 && p[at - 6] == '\\' && p[at - 5] == 'u' && token_form_is_hex(p[at - 1]))
        return true;

    /* ESC[32m, also with the escape character written as \x1b, \033, \e or ^[. */
    size_t i = 1;

    while (p[at - 1] == 'm' && i < at && i < 16 &&
           (token_form_is_digit(p[at - 1 - i]) || p[at - 1 - i] == ';'))
        i++;
    return i < at && i < 16 && p[at - 1 - i] == '[' && p[at - 1] == 'm';
}

/* In words a capital begins one, and digits end them. */
bool token_is_random(struct slice text)
{
    size_t digits = 0, changes = 0, letters = 0;
    char last = 0;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (!letters_have(LETTERS_WORD, c)) {
            last = 0;
            continue;
        }
        digits += token_form_is_digit(c);
        changes += (last && token_form_is_digit(last) != token_form_is_digit(c)) ||
                   (token_form_is_lower(last) && is_upper(c));
        letters++;
        last = c;
    }
    return digits && (changes * 4 >= letters || digits * 4 >= letters);
}

/* Fronts that ordinary words contain count only where a word begins. */
static bool is_distinctive(const char *front, size_t n)
{
    return n >= 8 || (n >= 4 && strpbrk(front, "_-.:"));
}

/* Letters that could also spell words must look random. */
static bool is_ambiguous(const struct token_form *f, size_t n)
{
    if (!(f->letters & LETTERS_WORD))
        return false;
    if (f->letters & (LETTERS_LOW | LETTERS_DASH | LETTERS_DOT | LETTERS_BASE64))
        return true;
    return f->letters & LETTERS_WORD && (n < 3 || letters_have(LETTERS_WORD, f->front[n - 1]));
}

/* After a distinctive front, only words are ordinary text. */
static bool is_mixed(struct slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (token_form_is_digit(text.p[i]) ||
            (i && token_form_is_lower(text.p[i - 1]) && is_upper(text.p[i])))
            return true;
    return false;
}

/* clang-format off */
const struct front_letters token_fronts[128] = {
    ['0'] = { 0x1000000000000, 0x10 }, ['1'] = { 0x800000000000, 0x800000000000 }, ['4'] = { 0x400000000, 0x2000000000000 },
    ['A'] = { 0x80000005f4a8c, 0x40020000059da3e }, ['B'] = { 0x4, 0x10 }, ['C'] = { 0x1048, 0x18010 }, ['E'] = { 0x4000002, 0x100002 },
    ['F'] = { 0x100000001000, 0x200000000800000 }, ['G'] = { 0x48000, 0x2000000000008 }, ['H'] = { 0x40000, 0x800 }, ['I'] = { 0x80, 0x20000 },
    ['K'] = { 0xa0, 0x2000002 }, ['L'] = { 0x100000, 0x2 }, ['M'] = { 0x20000000000, 0x1000000000 }, ['N'] = { 0x40000, 0xc0606 },
    ['P'] = { 0x2000, 0x2 }, ['S'] = { 0x88c, UINT64_MAX }, ['Y'] = { 0x8, UINT64_MAX }, ['Z'] = { 0x1000000, 0x100000000000 },
    ['_'] = { 0x8000000000, 0x20000000000 }, ['a'] = { 0x10a0800000000, 0x820a00000000 }, ['b'] = { 0x82480000000, UINT64_MAX },
    ['c'] = { 0x1c3a4000000000, 0x129a80200400000 }, ['d'] = { 0x79ca1a00000080, 0x20dc86a00000000 }, ['e'] = { 0x30c000000000000, 0x9000400000400 },
    ['f'] = { 0x80b20800000000, 0x6a08480000000 }, ['g'] = { 0x8130200000000, 0xbd8a5a00000000 }, ['h'] = { 0x40804000000000, 0xc800480000000 },
    ['i'] = { 0x800800000000, 0xc00000000000 }, ['k'] = { 0x2000000000, 0x200000000000000 }, ['l'] = { 0x8220000000000, 0x41600600000000 },
    ['m'] = { 0x1101200000000, 0x8280400000000 }, ['n'] = { 0x51004200000000, 0x1600200000000 }, ['o'] = { 0x221000000000000, 0x1c000000000000 },
    ['p'] = { 0x329c93a00000000, 0x13d702c00000000 }, ['r'] = { 0x121c83000000000, 0xa01680000000 }, ['s'] = { 0x279a600000000, UINT64_MAX },
    ['t'] = { 0x4e08e000000000, 0x9780080000000 }, ['v'] = { 0x12002800000000, 0x85480000000000 }, ['w'] = { 0x10200000000, 0x8480000000000 },
    ['x'] = { 0x8880200000000, 0x101222000000000 }, ['y'] = { 0x1000200000000, 0x4000080000000 }, ['z'] = { 0x1000000000000, 0x80000000000 },
};
/* clang-format on */

static struct token_found find_token_front(struct slice text, size_t at)
{
    struct token_found found = { .at = at };
    const char *p = text.p + at;
    int begins = -1; /* not known yet */

    if (text.n - at < 3 || !front_may_be(token_fronts, p))
        return found;
    size_t low = 0, high = token_forms_n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_front(token_forms[middle].front, p) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < token_forms_n && compare_front(token_forms[low].front, p) == 0; low++) {
        const struct token_form *f = &token_forms[low];
        size_t front = 2, n;

        while (f->front[front] && at + front < text.n && f->front[front] == text.p[at + front])
            front++;
        if (f->front[front] || text.n - at < front + f->least)
            continue;
        if (!is_distinctive(f->front, front)) {
            if (begins < 0)
                begins = token_may_begin(text, at);
            if (!begins)
                continue;
        }
        if (letters_run(text, at + front, f->letters, f->least) < f->least)
            continue;
        n = letters_run(text, at + front, f->letters, LOOK_MOST);
        struct slice letters = { text.p + at + front, n };

        if (is_ambiguous(f, front) && !token_is_random(letters) &&
            !(is_distinctive(f->front, front) && is_mixed(letters)))
            continue;
        n += letters_run(text, at + front + n, f->letters, text.n);
        if (front + n > found.n) {
            found.n = front + n;
            found.kind = f->kind;
        }
    }
    return found;
}

static struct token_found find_token_middle(struct slice text, size_t at, size_t from)
{
    enum { BEFORE_MOST = 128 };

    for (size_t i = 0; i < token_middles_n; i++) {
        const struct token_middle *m = &token_middles[i];
        if (m->middle[0] != text.p[at])
            continue;
        size_t n = strlen(m->middle), before = 0;

        if (text.n - at < n + m->least_after || memcmp(text.p + at, m->middle, n) != 0)
            continue;
        while (before < BEFORE_MOST && at - before > from &&
               letters_have(m->before, text.p[at - before - 1]))
            before++;
        if (before < m->least_before ||
            letters_run(text, at + n, m->after, m->least_after) < m->least_after)
            continue;
        if (strcmp(m->middle, "Q~") == 0 && !token_form_is_digit(text.p[at - 1]))
            continue;
        return (struct token_found){ m->kind, at - before,
                                     before + n + letters_run(text, at + n, m->after, text.n) };
    }
    return (struct token_found){ .n = 0 };
}

struct token_found token_find(struct slice text, size_t at, size_t from)
{
    struct token_found found = find_token_front(text, at);

    if (!found.n && token_may_be_middle(text.p[at]))
        found = find_token_middle(text, at, from);
    return found;
}
