#ifndef TESTS_BENCH_WORDS_H
#define TESTS_BENCH_WORDS_H

/* The words of generated titles and prompts. */
static const char *const words[] = {
    "fix",     "the",    "payment",     "retry",   "loop",   "refactor", "Session", "picker",
    "webhook", "tests",  "for",         "config",  "parser", "cache",    "deploy",  "script",
    "update",  "README", "handler",     "migrate", "schema", "users",    "login",   "rate",
    "limiter", "add",    "search",      "panel",   "broken", "build",    "of",      "docker",
    "image",   "upload", "idempotency", "keys",
};

#endif
