#include "store/library/call.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(REPRISE_VERSION_NUMBER == LIBRARY_VERSION_NUMBER,
               "the version of reprise.h is not the version of the project");
_Static_assert(sizeof(struct reprise_error) == 1024, "its layout never changes");

const char *reprise_version(void)
{
    return REPRISE_VERSION;
}

int reprise_version_number(void)
{
    return REPRISE_VERSION_NUMBER;
}

/* ---- begin and end ---- */

void call_begin(struct call *c)
{
    c->err = (struct err){ .code = ERR_OK };
    fs_signal_hold(&c->pipe, SIGPIPE);
    fs_signal_hold(&c->size, SIGXFSZ);
}

static enum reprise_code library_code_of(enum err_code rc)
{
    switch (rc) {
    case ERR_OK: return REPRISE_OK;
    case ERR_NOMEM: return REPRISE_NOMEM;
    case ERR_IO: return REPRISE_IO;
    case ERR_NOT_FOUND: return REPRISE_NOT_FOUND;
    case ERR_FORMAT: return REPRISE_FORMAT;
    case ERR_LOCKED: return REPRISE_LOCKED;
    case ERR_STALE: return REPRISE_STALE;
    case ERR_UNSAFE: return REPRISE_UNSAFE;
    case ERR_UNSUPPORTED: return REPRISE_UNSUPPORTED;
    case ERR_USAGE: return REPRISE_USAGE;
    case ERR_CANCELLED: return REPRISE_CANCELLED;
    }
    return REPRISE_IO;
}

void call_describe_error(const struct err *e, struct reprise_error *out)
{
    *out = (struct reprise_error){ .code = (int32_t)library_code_of(e->code), .system = e->sys };
    snprintf(out->path, sizeof out->path, "%s", e->path);
    snprintf(out->text, sizeof out->text, "%s", e->text);
    err_format(e, out->message, sizeof out->message);
}

int call_end(struct call *c, enum err_code rc, struct reprise_error *error)
{
    if (rc && error) {
        call_describe_error(&c->err, error);
        error->code = (int32_t)library_code_of(rc);
    }
    fs_signal_release(&c->size, -1);
    fs_signal_release(&c->pipe, -1);
    return (int)library_code_of(rc);
}

int call_refuse(struct reprise_error *error)
{
    struct err e = { .code = ERR_OK };

    err_set(&e, ERR_USAGE, "",
            "a handle or an argument that the function needs is NULL, or a length is too large");
    if (error)
        call_describe_error(&e, error);
    return REPRISE_USAGE;
}

/* ---- structs with a size ---- */

static bool is_zero(const char *bytes, size_t n)
{
    while (n > 0 && bytes[n - 1] == '\0')
        n--;
    return n == 0;
}

static size_t library_size_of(const void *given)
{
    size_t size;

    memcpy(&size, given, sizeof size);
    return size;
}

enum err_code call_options(const void *given, void *out, size_t size, struct err *e)
{
    size_t known = given ? library_size_of(given) : 0;

    memset(out, 0, size);
    if (!given)
        return ERR_OK;
    if (known < sizeof known)
        return err_set(e, ERR_USAGE, "", "the size of a struct is not set");
    if (known > size && !is_zero((const char *)given + size, known - size))
        return err_set(e, ERR_USAGE, "", "this version of the library lacks an option");
    memcpy(out, given, known < size ? known : size);
    return ERR_OK;
}

enum err_code call_check_result(const void *out, struct err *e)
{
    return !out || library_size_of(out) >= sizeof(size_t)
               ? ERR_OK
               : err_set(e, ERR_USAGE, "", "the size of a struct is not set");
}

enum err_code call_result(const void *result, size_t size, void *out, struct err *e)
{
    if (!out)
        return ERR_OK;
    TRY(call_check_result(out, e));
    size_t known = library_size_of(out);
    size_t end = known < size ? known : size;

    memcpy((char *)out + sizeof known, (const char *)result + sizeof known, end - sizeof known);
    return ERR_OK;
}

struct store_env call_env(const struct reprise *r)
{
    struct store_env now = r->env;

    now.now_ms = env_now_ms(&r->env);
    return now;
}

/* ---- answers ---- */

struct answer *answer_new(size_t size)
{
    struct answer *x = calloc(1, sizeof *x);

    if (x)
        x->size = size;
    return x;
}

void *answer_add(struct answer *x)
{
    char *grown = arena_grow(&x->arena, x->item, x->n, x->size);

    if (!grown)
        return NULL;
    x->item = grown;
    return grown + x->n++ * x->size;
}

enum err_code answer_finish(struct answer *x, enum err_code rc, struct err *e)
{
    if (!x || (!rc && x->arena.failed))
        rc = err_nomem(e);
    if (rc)
        answer_free(x);
    return rc;
}

void answer_free(struct answer *x)
{
    if (x)
        arena_fini(&x->arena);
    free(x);
}

/* ---- texts ---- */

struct slice call_text(const char *text)
{
    return text ? slice_of(text) : SLICE("");
}

const char *call_copy(struct arena *a, struct slice text)
{
    const char *copy = text.n ? arena_copy(a, text).p : "";

    return copy ? copy : "";
}

struct reprise_texts *texts_new(void)
{
    return calloc(1, sizeof(struct reprise_texts));
}

enum err_code texts_add(struct reprise_texts *t, struct slice text, struct err *e)
{
    struct slice *grown = arena_grow(&t->arena, t->text, t->n, sizeof *grown);

    if (!grown)
        return err_nomem(e);
    t->text = grown;
    t->text[t->n] = arena_copy(&t->arena, text);
    if (!t->text[t->n].p)
        return err_nomem(e);
    t->n++;
    return ERR_OK;
}

enum err_code texts_add_rows(struct reprise_texts *t, const struct transcript *rows, struct err *e)
{
    AUTO_BUF row = { 0 };

    for (size_t i = 0; i < rows->n; i++) {
        TRY(transcript_read(rows, i, &row, e));
        TRY(texts_add(t, buf_slice(&row), e));
    }
    return ERR_OK;
}

enum err_code texts_add_json(struct reprise_texts *t, const struct jsonout *j, struct err *e)
{
    return j->rc ? err_nomem(e) : texts_add(t, buf_slice(j->out), e);
}

enum err_code texts_finish(struct reprise_texts *t, enum err_code rc, struct reprise_texts **out)
{
    if (rc)
        reprise_texts_free(t);
    else
        *out = t;
    return rc;
}

size_t reprise_texts_count(const struct reprise_texts *texts)
{
    return texts ? texts->n : 0;
}

const char *reprise_texts_at(const struct reprise_texts *texts, size_t i, size_t *length)
{
    if (!texts || i >= texts->n)
        return NULL;
    if (length)
        *length = texts->text[i].n;
    return texts->text[i].p;
}

void reprise_texts_free(struct reprise_texts *texts)
{
    if (texts)
        arena_fini(&texts->arena);
    free(texts);
}
