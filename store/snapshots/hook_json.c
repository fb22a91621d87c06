#include "store/snapshots/hook_edit.h"

#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"

/* Our hook in an agent's JSON, one event at a time:
 *
 *     "hooks": { EVENT: [ { "hooks": [ {"type": "command", "command": ..., "timeout": ...} ] } ] }
 *
 * What is missing of this is added after the last member of what exists, with the indentation of that member. To remove it,
 * the smallest part is tried first: our group alone, with the array that it leaves empty, with the object that this leaves
 * empty, and at last the whole document. The right one is the one from which hook_json_add makes the present text again. For
 * this to be unique, a container that existed and was empty is filled in another way than a new one is written: on
 * its line, with a blank before its end. */

/* A member of an object, or an element of an array, as offsets. */
struct hook_node {
    size_t begin; /* where the key begins */
    size_t end;   /* where the value ends */
    struct slice key, value;
};

/* What is added or removed, from the inside: the command, its group, the member of the event, the member "hooks". */
enum hook_level { HOOK_GROUP, HOOK_EVENT, HOOK_MEMBER, HOOK_DOCUMENT, HOOK_LEVELS };

/* `>` and `<` begin a line one level further in or out, `=` one on the same level. `$` is the event, `@` the
 * command, `#` the timeout, `*` the level inside. */
static const char *const hook_json_parts[HOOK_LEVELS] = {
    [HOOK_GROUP] = "{>\"hooks\":[>{>\"type\":\"command\",=\"command\":@,=\"timeout\":#<}<]<}",
    [HOOK_EVENT] = "\"$\":[>*<]",
    [HOOK_MEMBER] = "\"hooks\":{>*<}",
    [HOOK_DOCUMENT] = "{>*<}",
};

/* The same for a command without a group. The version is behind, which tells a new document from one that had it. */
static const char *const hook_json_flat_parts[HOOK_LEVELS] = {
    [HOOK_GROUP] = "{>\"command\":@,=\"timeout\":#<}",
    [HOOK_EVENT] = "\"$\":[>*<]",
    [HOOK_MEMBER] = "\"hooks\":{>*<}",
    [HOOK_DOCUMENT] = "{>*,=\"version\":1<}",
};

/* The same for a server. `*` is the entry of the agent. */
static const char *const hook_json_server_parts[HOOK_LEVELS] = {
    [HOOK_EVENT] = "\"reprise\":*",
    [HOOK_MEMBER] = "\"$\":{>*<}",
    [HOOK_DOCUMENT] = "{>*<}",
};

struct hook_writer {
    const struct hook_step *step;
    struct buf *out;
    bool lines; /* else everything is on one line */
    const char *newline;
    struct slice indent, unit; /* the indentation of the first line, and what each level adds */
    size_t depth;
};

static enum err_code hook_json_write(struct hook_writer *w, int level)
{
    const struct agent_mcp *mcp = w->step->mcp;
    const char *part = mcp && level == HOOK_GROUP      ? mcp->entry
                       : mcp                           ? hook_json_server_parts[level]
                       : w->step->h->form == HOOK_FLAT ? hook_json_flat_parts[level]
                                                       : hook_json_parts[level];

    for (const char *p = part; *p; p++) {
        enum err_code rc = ERR_OK;

        switch (*p) {
        case '>':
        case '<':
        case '=':
            w->depth = *p == '>' ? w->depth + 1 : *p == '<' ? w->depth - 1 : w->depth;
            if (w->lines && !(rc = buf_addf(w->out, "%s", w->newline)))
                rc = buf_add(w->out, w->indent);
            for (size_t i = 0; i < w->depth && w->lines && !rc; i++)
                rc = buf_add(w->out, w->unit);
            break;
        case '*':
            /* The innermost part has nothing inside it, so its `*` is an ordinary character. */
            rc = level > HOOK_GROUP ? hook_json_write(w, level - 1) : buf_add_byte(w->out, '*');
            break;
        case '$':
            rc = buf_addf(w->out, "%s", mcp ? mcp->member : w->step->h->event[w->step->event]);
            break;
        case '@': rc = buf_add(w->out, w->step->command); break;
        case '#': rc = buf_addf(w->out, "%d", w->step->h->timeout); break;
        case ':': rc = buf_addf(w->out, w->lines ? ": " : ":"); break;
        default: rc = buf_add_byte(w->out, *p);
        }
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* ---- reading ---- */

enum err_code hook_json_plain(struct slice text, bool comments, struct arena *a,
                              struct slice *plain, struct err *e)
{
    struct slice copy = arena_copy(a, text);
    char *p = (char *)(uintptr_t)copy.p;

    NEED(p);
    if (slice_starts(copy, "\xef\xbb\xbf"))
        memset(p, ' ', 3);
    for (size_t i = 0; i + 1 < copy.n && comments; i++) {
        const char *end = copy.p + copy.n, *after = NULL;

        if (p[i] == '"') {
            after = json_string_end(p + i + 1, end);
            i = after ? (size_t)(after - p) - 1 : copy.n;
        } else if (p[i] == '/' && p[i + 1] == '/') {
            for (; i < copy.n && p[i] != '\n' && p[i] != '\r'; i++)
                p[i] = ' ';
        } else if (p[i] == '/' && p[i + 1] == '*') {
            after = slice_find(p + i + 2, copy.n - i - 2, "*/", 2);
            if (!after)
                break;
            for (; p + i < after + 2; i++)
                if (p[i] != '\n' && p[i] != '\r')
                    p[i] = ' ';
            i--;
        }
    }
    if (!json_valid(copy))
        return err_set(e, ERR_FORMAT, "", "it is not valid JSON");

    /* Blanks at the front are passed over only to see the type: offsets in the result are those of the text. */
    *plain = copy;
    while (plain->n > 0 && strchr(" \t\r\n", *plain->p)) {
        plain->p++;
        plain->n--;
    }
    if (json_type(*plain) != JSON_OBJECT)
        return err_set(e, ERR_FORMAT, "", "it is not a JSON object");
    *plain = copy;
    return ERR_OK;
}

/* The members of a container. */
static enum err_code hook_json_nodes(struct slice plain, struct slice container, struct arena *a,
                                     struct hook_node **out, size_t *n, struct err *e)
{
    struct json_iter it;
    struct slice key, value;

    *out = NULL;
    *n = 0;
    if (!json_iter_open(&it, container))
        return ERR_OK;
    while (json_iter_next(&it, &key, &value)) {
        NEED(*out = arena_grow(a, *out, *n, sizeof **out));
        (*out)[(*n)++] = (struct hook_node){
            .begin = (size_t)((key.n ? key.p : value.p) - plain.p),
            .end = (size_t)(value.p + value.n - plain.p),
            .key = key,
            .value = value,
        };
    }
    return ERR_OK;
}

/* A container on the way to our hook, with its members and the one on the way. */
struct hook_place {
    struct slice container;
    struct hook_node *node;
    size_t n, at; /* at == n: missing */
};

struct hook_places {
    struct slice plain;
    /* By the level of their members: that of HOOK_GROUP is an array of groups. */
    struct hook_place place[HOOK_LEVELS];
    struct hook_place commands; /* in the group that has ours, perhaps with others */
    bool found;
};

static bool hook_json_is_ours(const struct hook_step *s, struct slice entry, struct arena *a)
{
    struct slice command;

    return json_get_text(entry, "command", a, &command) &&
           hook_is_ours(command, s->agent, s->event);
}

static enum err_code hook_json_find_group(const struct hook_step *s, struct hook_places *p,
                                          struct arena *a, struct err *e)
{
    struct hook_place *groups = &p->place[HOOK_GROUP];

    for (groups->at = 0; groups->at < groups->n; groups->at++) {
        struct hook_place *c = &p->commands;

        if (s->h->form == HOOK_FLAT) {
            *c = (struct hook_place){ .node = &groups->node[groups->at], .n = 1 };
            p->found = hook_json_is_ours(s, c->node->value, a);
            if (p->found)
                return ERR_OK;
            continue;
        }
        if (!json_get(groups->node[groups->at].value, "hooks", &c->container))
            continue;
        TRY(hook_json_nodes(p->plain, c->container, a, &c->node, &c->n, e));
        for (c->at = 0; c->at < c->n; c->at++)
            if (hook_json_is_ours(s, c->node[c->at].value, a)) {
                p->found = true;
                return ERR_OK;
            }
    }
    return ERR_OK;
}

static enum err_code hook_json_find(const struct hook_step *s, struct slice text, struct arena *a,
                                    struct hook_places *p, struct err *e)
{
    const char *const names[] = {
        [HOOK_EVENT] = s->mcp ? "reprise" : s->h->event[s->event],
        [HOOK_MEMBER] = s->mcp ? s->mcp->member : "hooks",
    };

    *p = (struct hook_places){ .found = false };
    TRY(hook_json_plain(text, s->mcp ? s->mcp->comments : s->h->comments, a, &p->plain, e));
    struct slice container = p->plain;

    for (int level = HOOK_MEMBER; level >= HOOK_GROUP; level--) {
        struct hook_place *in = &p->place[level];

        in->container = container;
        TRY(hook_json_nodes(p->plain, container, a, &in->node, &in->n, e));
        if (level == HOOK_GROUP)
            return hook_json_find_group(s, p, a, e);
        in->at = in->n;
        for (size_t i = 0; i < in->n; i++)
            if (json_string_is(in->node[i].key, names[level]))
                in->at = i; /* the last of duplicates counts */
        if (in->at == in->n)
            return ERR_OK;
        if (s->mcp && level == HOOK_EVENT) {
            p->found = true;
            return ERR_OK;
        }
        container = in->node[in->at].value;
        if (json_type(container) != (level == HOOK_MEMBER ? JSON_OBJECT : JSON_ARRAY))
            return err_set(e, ERR_FORMAT, "", "\"%s\" in it has another form than expected",
                           names[level]);
    }
    return ERR_OK;
}

enum err_code hook_json_server(const struct hook_step *s, struct slice text, struct arena *a,
                               struct slice *entry, struct err *e)
{
    struct hook_places p;

    *entry = (struct slice){ NULL, 0 };
    if (slice_is_of(text, " \t\r\n"))
        return ERR_OK;
    TRY(hook_json_find(s, text, a, &p, e));
    if (p.found)
        *entry = p.place[HOOK_EVENT].node[p.place[HOOK_EVENT].at].value;
    return ERR_OK;
}

bool hook_json_trusted(const struct hook_step *s, const char *path, struct hook_text text)
{
    AUTO_ARENA a = { 0 };
    struct hook_places p;
    struct slice command;

    return s->h->trusted && hook_json_find(s, text.text, &a, &p, NULL) == ERR_OK && p.found &&
           json_get_text(p.commands.node[p.commands.at].value, "command", &a, &command) &&
           s->h->trusted(path, command);
}

/* ---- adding ---- */

/* The blanks in front of a position if nothing else is on its line. */
static bool hook_json_indent(struct slice text, size_t at, struct slice *indent)
{
    size_t begin = at;

    while (begin > 0 && (text.p[begin - 1] == ' ' || text.p[begin - 1] == '\t'))
        begin--;
    *indent = (struct slice){ text.p + begin, at - begin };
    return begin > 0 && text.p[begin - 1] == '\n';
}

enum err_code hook_json_add(const struct hook_step *s, struct hook_text before, struct buf *out,
                            struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct slice text = before.text;
    struct hook_places places;
    struct hook_writer w = { .step = s, .out = out, .lines = true, .unit = SLICE("  ") };

    w.newline = hook_newline(text);
    if (before.absent || slice_is_of(text, " \t\r\n")) {
        NEED(!buf_add(out, text) && !hook_json_write(&w, HOOK_DOCUMENT));
        NEED(!before.absent || !buf_add_byte(out, '\n'));
        return ERR_OK;
    }
    TRY(hook_json_find(s, text, &a, &places, e));
    struct slice version;

    if (!s->mcp && s->h->form == HOOK_FLAT && !json_get(places.plain, "version", &version))
        return err_set(e, ERR_FORMAT, "", "it has no \"version\", so the agent does not read it");
    int level = HOOK_GROUP;

    while (!places.place[level].container.p)
        level++;
    const struct hook_place *in = &places.place[level], *root = &places.place[HOOK_MEMBER];
    size_t at;

    if (!root->n || !hook_json_indent(text, root->node[root->n - 1].begin, &w.unit))
        w.unit = SLICE("  ");
    if (in->n == 0) {
        /* After the bracket, on its line, with a blank behind: see above. */
        at = (size_t)(in->container.p - places.plain.p);
        while (!strchr("{[", places.plain.p[at]))
            at++;
        at++;
        w.lines = false;
    } else {
        const struct hook_node *last = &in->node[in->n - 1];

        at = last->end;
        w.lines = hook_json_indent(text, last->begin, &w.indent);
    }
    NEED(!buf_add(out, (struct slice){ text.p, at }));
    if (in->n)
        NEED(!buf_addf(out, w.lines ? ",%s" : ", ", w.newline) &&
             (!w.lines || !buf_add(out, w.indent)));
    NEED(!hook_json_write(&w, level) && (in->n || !buf_add_byte(out, ' ')));
    NEED(!buf_add(out, (struct slice){ text.p + at, text.n - at }));
    return ERR_OK;
}

/* ---- removing ---- */

/* Adds the bytes between two members without the comma if a comment is among them. */
static enum err_code hook_json_keep_comment(struct slice text, struct slice plain, size_t begin,
                                            size_t end, struct buf *out)
{
    const char *comma = memchr(plain.p + begin, ',', end - begin);
    size_t at = comma ? (size_t)(comma - plain.p) : end;

    if (memcmp(text.p + begin, plain.p + begin, end - begin) == 0)
        return ERR_OK;
    enum err_code rc = buf_add(out, (struct slice){ text.p + begin, at - begin });

    return rc || !comma ? rc : buf_add(out, (struct slice){ text.p + at + 1, end - at - 1 });
}

/* Removes a member with the comma and the blanks that separate it; the last one of a container with the blank that
 * hook_json_add wrote. */
static enum err_code hook_json_cut(struct slice text, struct slice plain,
                                   const struct hook_place *in, struct buf *out)
{
    const struct hook_node *node = &in->node[in->at];
    size_t begin = node->begin, end = node->end;
    enum err_code rc;

    if (in->at > 0)
        begin = node[-1].end;
    else if (in->n > 1)
        end = node[1].begin;
    else if (end < text.n && text.p[end] == ' ')
        end++;
    rc = buf_add(out, (struct slice){ text.p, begin });
    if (!rc && in->at > 0)
        rc = hook_json_keep_comment(text, plain, begin, node->begin, out);
    else if (!rc && in->n > 1)
        rc = hook_json_keep_comment(text, plain, node->end, end, out);
    return rc ? rc : buf_add(out, (struct slice){ text.p + end, text.n - end });
}

/* Returns true if adding the hook to this text makes the present one. */
static bool hook_json_makes(const struct hook_step *s, struct hook_text from, struct slice present)
{
    AUTO_BUF made = { 0 };

    return !hook_json_add(s, from, &made, NULL) && slice_eq(buf_slice(&made), present);
}

/* Removes the whole document if adding the hook to nothing, or to blanks, makes it. */
static bool hook_json_remove_all(const struct hook_step *s, struct slice text, struct buf *out,
                                 size_t start, bool *absent)
{
    size_t blanks = 0;

    while (blanks < text.n && strchr(" \t\r\n", text.p[blanks]))
        blanks++;
    *absent = hook_json_makes(s, (struct hook_text){ { text.p, 0 }, true }, text);
    if (!*absent && !hook_json_makes(s, (struct hook_text){ { text.p, blanks }, false }, text))
        return false;
    out->n = start;
    return *absent || !buf_add(out, (struct slice){ text.p, blanks });
}

enum err_code hook_json_remove(struct hook_step *s, struct hook_text before, struct buf *out,
                               bool *absent, bool *found, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct hook_places places;
    struct slice text = before.text;
    size_t start = out->n;
    int level = HOOK_GROUP;

    *absent = *found = false;
    if (before.absent || slice_is_of(text, " \t\r\n"))
        return ERR_OK;
    TRY(hook_json_find(s, text, &a, &places, e));
    *found = places.found;
    if (!places.found)
        return ERR_OK;
    if (s->mcp)
        level = HOOK_EVENT;
    else if (places.commands.n > 1)
        return hook_json_cut(text, places.plain, &places.commands, out) ? err_nomem(e) : ERR_OK;
    else
        NEED(json_get(places.commands.node[places.commands.at].value, "command", &s->command));

    if (!s->mcp && s->h->form == HOOK_FLAT && hook_json_remove_all(s, text, out, start, absent))
        return ERR_OK;
    for (; level < HOOK_DOCUMENT; level++) {
        out->n = start;
        NEED(!hook_json_cut(text, places.plain, &places.place[level], out));
        struct hook_text left = { { out->p + start, out->n - start }, false };

        if (places.place[level].n > 1 || hook_json_makes(s, left, text))
            return ERR_OK;
    }
    /* Nothing else is in the document. Without a better reason it stays, as an empty one. */
    (void)hook_json_remove_all(s, text, out, start, absent);
    return ERR_OK;
}
