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

/* Codes a caller may branch on. Anything it would only show to a person is ERR_IO or ERR_FORMAT
 * plus text: add a code only when some caller does something different because of it. */
enum err_code {
    ERR_OK = 0,
    ERR_NOMEM,
    ERR_IO,        /* a system call failed; see sys */
    ERR_NOT_FOUND, /* the thing named does not exist */
    ERR_FORMAT,    /* bytes on disk are not what the format says */
    ERR_LOCKED,    /* somebody else holds the lock, or has the file open */
    ERR_STALE,     /* something else lies there than was read, or expected: plan again */
    ERR_UNSAFE,    /* a link, no regular file, or a stored name that would reach outside its root */
    ERR_UNSUPPORTED, /* this store cannot do that */
    ERR_USAGE, /* what was asked for is not a question we can answer: bad id, ambiguous prefix */
    ERR_CANCELLED, /* by who asked, and no failure: often without a text */
};

/* An error as a value: no heap, no thread-local, so it can be made when malloc fails, copied
 * through a job queue, and compared in a test. Of a long path the tail is kept: that differs. */
struct err {
    enum err_code code;
    int sys;        /* errno of the failing call, or 0 */
    char path[160]; /* the file concerned, or "" */
    /* What was being done, outermost first, and why it failed: "list sessions: open: there is none". */
    char text[200];
    /* How many bytes of the text are what was being done; with sys all of them. */
    unsigned char context;
};

/* All of them return the code, so a failing branch is one line: return err_sys(e, path, "open");
 * e may be NULL when the caller only branches on the code. err_sys reads errno first of all and answers ERR_NOT_FOUND
 * for ENOENT, ERR_NOMEM for ENOMEM, ERR_LOCKED for EWOULDBLOCK, else ERR_IO. err_wrap puts what was being done in front
 * of the text that is there. */
enum err_code err_sys(struct err *e, const char *path, const char *verb);
enum err_code err_set(struct err *e, enum err_code code, const char *path, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
enum err_code err_nomem(struct err *e);
enum err_code err_wrap(struct err *e, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Did the process or the machine run out of something (descriptors, memory)? Such an errno says nothing of the file. */
bool err_is_exhausted(int sys);

/* Names the file when an inner layer that only had a descriptor did not; passes the code on. */
enum err_code err_at(struct err *e, enum err_code code, const char *path);

#if defined(__clang_analyzer__) && !defined(ERR_ITSELF)
/* Across files the analyzer cannot see that these never answer ERR_OK. */
#define err_sys(e, path, verb) (err_sys(e, path, verb), ERR_IO)
#define err_set(e, code, ...) (err_set(e, code, __VA_ARGS__), code)
#define err_wrap(e, code, ...) (err_wrap(e, code, __VA_ARGS__), code)
#endif

/* One line for the status bar or stderr, always NUL-terminated, reason first, so that a narrow screen cuts the path and
 * not the reason: "Permission denied: open for appending: /a/b.jsonl". An ERR_USAGE keeps the word that was typed in
 * front. The path is data: clean the line before it is printed. Returns the offset at which the path begins, 0 where
 * none is at the end. */
unsigned long err_format(const struct err *e, char *out, unsigned long cap);

#endif
