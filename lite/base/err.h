#ifndef LITE_BASE_ERR_H
#define LITE_BASE_ERR_H

#include <stdbool.h>

#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define MUST_CHECK __attribute__((warn_unused_result))
#else
#define PRINTF_LIKE(fmt, args)
#define MUST_CHECK
#endif

/* Codes that a caller can act on. A code exists only if some caller does something different because of it; anything
 * that is only shown to a person is ERR_IO or ERR_FORMAT with a text. */
enum err_code {
    ERR_OK = 0,
    ERR_NOMEM,
    ERR_IO,        /* a system call failed; see sys */
    ERR_NOT_FOUND, /* the thing named does not exist */
    ERR_FORMAT,    /* bytes on disk violate the format */
    ERR_LOCKED,    /* another process holds the lock or has the file open */
    ERR_STALE,     /* the file is not what was read or expected: plan again */
    ERR_UNSAFE, /* a link, not a regular file, or a stored name that would reach outside its root */
    ERR_UNSUPPORTED, /* this store cannot do that */
    ERR_USAGE,       /* the request itself is wrong: a bad id, an ambiguous prefix */
    ERR_CANCELLED,   /* the caller cancelled; not a failure, often without a text */
};

/* An error as a value: no heap and no thread-local data, so it can be made when malloc fails, copied through a job
 * queue and compared in a test. A long path keeps its last names, behind "...". */
struct err {
    enum err_code code;
    int sys;        /* errno of the failing call, or 0 */
    char path[160]; /* the file concerned, or "" */
    /* The operations, outermost first, and the reason of the failure: "list sessions: open: no such
     * directory". */
    char text[640];
    /* The length of the part of the text that describes what was being done: all of it if sys is set. */
    unsigned short context;
};

/* All of these return the code, so a failing branch is one line: return err_sys(e, path, "open"); e may be NULL if the
 * caller only needs the code. err_sys reads errno before anything else and returns ERR_NOT_FOUND for ENOENT, ERR_NOMEM
 * for ENOMEM, ERR_LOCKED for EWOULDBLOCK and ERR_IO otherwise. err_wrap prepends what was being done to the text. */
enum err_code err_sys(struct err *e, const char *path, const char *verb);
enum err_code err_set(struct err *e, enum err_code code, const char *path, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
#define ERR_NOMEM_TEXT "out of memory"
enum err_code err_nomem(struct err *e);
enum err_code err_wrap(struct err *e, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Returns true if the process or the machine ran out of something (descriptors, memory), in which
 * case the file is not the cause. */
bool err_is_exhausted(int sys);

/* Adds the path unless an inner layer has already set one. Returns the code. */
enum err_code err_at(struct err *e, enum err_code code, const char *path);

#if defined(__clang_analyzer__) && !defined(ERR_ITSELF)
/* The analyzer cannot see across files that these never return ERR_OK. */
#define err_sys(e, path, verb) (err_sys(e, path, verb), ERR_IO)
#define err_set(e, code, ...) (err_set(e, code, __VA_ARGS__), code)
#define err_wrap(e, code, ...) (err_wrap(e, code, __VA_ARGS__), code)
#endif

/* The reason alone, for a place where a person sees what was tried and with which session. */
const char *err_reason(const struct err *e);
/* Writes one line for the status bar, always NUL-terminated, with the reason first, so that a narrow screen
 * cuts the path and not the reason: "Permission denied: open for appending: /a/b.jsonl". For ERR_USAGE the word that
 * was typed stays in front. The path is data: clean the line before it is printed. Returns the offset at which the
 * path begins, 0 if the line does not end with one. */
unsigned long err_format(const struct err *e, char *out, unsigned long cap);

#endif
