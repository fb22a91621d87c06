#include "store/systems/claude/claude.h"
#include "store/systems/claude/write/metarow.h"

/* Settings of the session that no row of a list has. */
enum err_code claude_facts(const struct store *st, const struct session_ref *ref,
                           struct session_facts *out, struct err *e)
{
    struct session_facts facts = { .n = 0 };
    struct metarows m;
    AUTO_ARENA a = { 0 };

    (void)st;
    TRY(metarows_of(ref->path.p, &a, &m, e));
    enum err_code rc = session_facts_text(
        &facts, "aiTitle", NULL, metarow_value(&m.row[METAROW_AI_TITLE], "aiTitle", &a), e);

    if (!rc)
        rc = session_facts_text(
            &facts, "permissionMode", "permissions",
            metarow_value(&m.row[METAROW_PERMISSION_MODE], "permissionMode", &a), e);
    if (rc)
        session_facts_fini(&facts);
    else
        *out = facts;
    return rc;
}
