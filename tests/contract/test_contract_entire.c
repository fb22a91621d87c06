#include "tests/contract/contract.h"

#include "store/systems/entire/entire.h"
#include "tests/support/entire_fixture.h"
#include "tests/test.h"

/* Committed checkpoints; one session has a state and a live transcript as well. */
static void make(const struct folder *f)
{
    entire_fixture_build(f, "committed");
}

static const struct contract_session sessions[] = {
    { .id = "c1b2c3d4-0001-4000-8000-00000000000a",
      .title = "Implement login feature",
      .rows = 8,
      .messages = 8 },
    { .id = "c1b2c3d4-0002-4000-8000-00000000000b",
      .title = "Document login",
      .rows = 4,
      .messages = 4 },
    { .id = "d1b2c3d4-0003-4000-8000-00000000000c",
      .title = "Write tests",
      .rows = 8,
      .messages = 8 },
    { .id = "f1b2c3d4-0004-4000-8000-00000000000d",
      .title = "Remote work",
      .rows = 4,
      .messages = 4 },
    { .id = "2026-01-06-c1b2c3d4-0001-4000-8000-00000000000a",
      .title = "Add changelog",
      .rows = 8,
      .messages = 8 },
    { .id = "2026-01-06-c1b2c3d4-0002-4000-8000-00000000000b",
      .title = "Second session",
      .rows = 4,
      .messages = 4 },
};

TEST_MAIN
{
    const struct contract_system entire = {
        .ops = &entire_ops,
        .store = "committed",
        .make = make,
        .session = sessions,
        .n = sizeof sessions / sizeof *sessions,
        .unknown = "99990000-0000-4000-8000-000000000009",
        .shared = true,
    };

    return contract_run(&entire);
}
