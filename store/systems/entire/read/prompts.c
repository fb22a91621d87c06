#include "store/systems/entire/read/prompts.h"

#include <stdio.h>

#include "store/git/repo.h"

enum { PROMPTS_MAX = 8 << 20 };

static const char between[] = "\n\n---\n\n";
enum { BETWEEN = sizeof between - 1 };

bool prompts_read(git_repository *repo, const struct point *p, struct buf *out)
{
    git_tree *tree = NULL;
    char path[600];

    if (!p || git_tree_lookup(&tree, repo, &p->tree))
        return false;
    if (p->source == POINT_SHADOW)
        snprintf(path, sizeof path, "%s/prompt.txt", p->metadata.p);
    else
        snprintf(path, sizeof path, "%s", p->prompt.p);
    bool read = path[0] && repo_blob_at(repo, tree, path, PROMPTS_MAX, out, NULL) == ERR_OK;

    git_tree_free(tree);
    return read;
}

struct slice prompts_first(struct slice text)
{
    const char *end = slice_find(text.p, text.n, between, BETWEEN);

    return end ? (struct slice){ text.p, (size_t)(end - text.p) } : text;
}

struct slice prompts_last(struct slice text)
{
    const char *at;

    while ((at = slice_find(text.p, text.n, between, BETWEEN)))
        text = (struct slice){ at + BETWEEN, text.n - (size_t)(at + BETWEEN - text.p) };
    return text;
}
