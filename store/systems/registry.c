#include "store/api/store.h"

/* The only list of the systems. A new agent adds its line here; the systems are tried in this
 * order. */
#define SYSTEMS(SYSTEM)                                                                            \
    SYSTEM(claude_ops)                                                                             \
    SYSTEM(goat_ops)                                                                               \
    SYSTEM(exathena_ops)                                                                           \
    SYSTEM(entire_ops)                                                                             \
    SYSTEM(qoder_ops)                                                                              \
    SYSTEM(qwen_ops)                                                                               \
    SYSTEM(pi_ops)                                                                                 \
    SYSTEM(kimi_ops)                                                                               \
    SYSTEM(kimi_cli_ops)                                                                           \
    SYSTEM(codex_ops)                                                                              \
    SYSTEM(copilot_ops)                                                                            \
    SYSTEM(gemini_ops)                                                                             \
    SYSTEM(opencode_ops)                                                                           \
    SYSTEM(kilo_ops)                                                                               \
    SYSTEM(continue_ops)                                                                           \
    SYSTEM(auggie_ops)                                                                             \
    SYSTEM(crush_ops)                                                                              \
    SYSTEM(goose_ops)                                                                              \
    SYSTEM(vibe_ops)                                                                               \
    SYSTEM(grok_ops)                                                                               \
    SYSTEM(droid_ops)                                                                              \
    SYSTEM(cline_ops)                                                                              \
    SYSTEM(kiro_ops)                                                                               \
    SYSTEM(kiro_classic_ops)                                                                       \
    SYSTEM(amazonq_ops)                                                                            \
    SYSTEM(cursor_ops)                                                                             \
    SYSTEM(antigravity_ops)

#define DECLARE(ops) extern const struct store_ops ops;
#define ADDRESS(ops) &ops,

SYSTEMS(DECLARE)

const struct store_ops *const store_systems[] = { SYSTEMS(ADDRESS) NULL };

const struct store_ops *store_system(struct slice name)
{
    for (size_t i = 0; store_systems[i]; i++)
        if (slice_eq(name, slice_of(store_systems[i]->name)))
            return store_systems[i];
    return NULL;
}
