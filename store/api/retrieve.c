#include "store/api/retrieve.h"

const char *retrieve_state_name(enum retrieve_state state)
{
    static const char *const words[] = {
        [RETRIEVE_NEW] = "new",
        [RETRIEVE_UNCHANGED] = "unchanged",
        [RETRIEVE_NEWER] = "checkpoint-newer",
        [RETRIEVE_LOCAL_NEWER] = "local-newer",
        [RETRIEVE_NOT_OURS] = "unknown-agent",
    };

    return words[state];
}

void retrieved_fini(struct retrieved *r)
{
    arena_fini(&r->arena);
    *r = (struct retrieved){ 0 };
}
