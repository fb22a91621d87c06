#include "store/systems/claude/chain/log.h"

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

/* In a large file the vendor's reader starts at the last compaction boundary that kept no messages. It
 * finds boundaries block by block, and misses some; whoever wants its answers has to miss the same ones
 * (claude.md 3.6):
 *  - a line that ends in the block in which it began needs the key within its first 256 bytes;
 *  - a line that lies across the end of a block must begin with {"type":"system", unless hardly
 *    anything of it lay before that end: then it is treated as the others are. */
enum { SKIP_ABOVE = 5242880, BLOCK = 1048576, KEY_WITHIN = 256, HARDLY_ANYTHING = 30 };

static bool found_by_vendor(const struct index_line *line, struct slice row)
{
    static const char key[] = "\"compact_boundary\"", front[] = "{\"type\":\"system\"";
    int64_t last_block = (line->offset + line->length) / BLOCK * BLOCK;

    if (last_block - line->offset >= HARDLY_ANYTHING)
        return row.n >= sizeof front - 1 && memcmp(row.p, front, sizeof front - 1) == 0;
    if (row.n > KEY_WITHIN + sizeof key - 2)
        row.n = KEY_WITHIN + sizeof key - 2;
    return memmem(row.p, row.n, key, sizeof key - 1) != NULL;
}

static bool keeps_messages(struct slice row)
{
    struct slice metadata;

    return json_get(row, "compactMetadata", &metadata) && json_type(metadata) == JSON_OBJECT &&
           (claude_key_truthy(metadata, "preservedMessages") ||
            claude_key_truthy(metadata, "preservedSegment"));
}

/* The bytes of the line are meant here, not the row: a control byte in front hides a boundary. */
static enum err_code is_fresh_start(struct claude_log *log, size_t i, bool *fresh, struct err *e)
{
    const struct index_line *line = claude_line(log, i);
    struct slice row;
    enum err_code rc = logfile_row(&log->file, i, &row, e);

    if (rc)
        return rc;
    *fresh = found_by_vendor(line, row) && claude_is_boundary(row) && !keeps_messages(row) &&
             json_type(row) == JSON_OBJECT;
    return ERR_OK;
}

enum err_code claude_seen_from(struct claude_log *log, size_t *first_line, struct err *e)
{
    const struct index *ix = &log->file.index;
    size_t complete = ix->n - (ix->n && ix->torn_tail);

    *first_line = 0;
    if (log->file.file.id.size <= SKIP_ABOVE)
        return ERR_OK;
    for (size_t i = complete; i-- > 0;) {
        bool fresh = false;
        enum err_code rc = ERR_OK;

        if (claude_line_is(&ix->line[i], CLAUDE_SYSTEM))
            rc = is_fresh_start(log, i, &fresh, e);
        if (rc)
            return rc;
        if (fresh) {
            *first_line = i;
            return ERR_OK;
        }
    }
    return ERR_OK;
}
