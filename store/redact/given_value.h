#ifndef STORE_REDACT_GIVEN_VALUE_H
#define STORE_REDACT_GIVEN_VALUE_H

#include "store/redact/redact.h"
#include "store/redact/secret_name.h"
#include "store/redact/token_form.h"

/* Values that a name beside them makes secret: assignments and members in any language, flags, headers, elements. */

struct given {
    size_t at, n;
    bool quoted;
};

/* The value at a place in quotes, which may be escaped to any depth (\"), or up to where a word ends. `literal`: marks
 * that end an expression belong to the word. */
struct given given_read(struct slice text, size_t at, bool literal);
/* The next word of a line of commands, with its quotes; an empty one at the end of the line. In SQL a comma ends words. */
struct given given_read_word(struct slice text, size_t at);
/* Authorization: SCHEME CREDENTIALS, Cookie: NAME=VALUE; ... up to the end of the line or of the quotes. */
struct given given_read_header(struct slice text, size_t at, bool cookie);
/* How many backslashes escape what is at a place. */
size_t given_depth(struct slice text, size_t at);
/* "482 193": a code in two parts, if the value at a place is the first one. */
struct given given_read_code(struct slice text, enum name_kind kind, struct given v);
/* The words of a passphrase, if the value at a place is the first one: the rest of a line that begins with the name. */
struct given given_read_phrase(struct slice text, struct slice name, enum name_kind kind,
                               bool colon, struct given v);
/* Returns true if it stands for a value or is the label of a field: "${TOKEN}", "<password>", "***", "Password". */
bool given_is_placeholder(struct slice value);
/* Returns true if a quoted value of such a name is a secret. */
bool given_is_secret(enum name_kind kind, struct slice value);
/* Adds the secret whose name ends at an operator, a blank or the end of a line. */
MUST_CHECK enum err_code given_find(struct slice text, size_t at, struct secret_list *list);

/* The parts of given_find. A blank is at the place: --password WORD, the password is w0rd, w0rd as the password. */
MUST_CHECK enum err_code given_find_beside(struct slice text, size_t at, struct secret_list *list);
/* A line ends at the place: "Password:" and the word on the next line, "Recovery codes:" and a code on each, the names
 * of a table's columns and its rows. */
MUST_CHECK enum err_code given_find_below(struct slice text, size_t at, struct secret_list *list);
/* A colon or a slash is at the place: log in with bob / w0rd. */
MUST_CHECK enum err_code given_find_pair(struct slice text, size_t at, struct secret_list *list);
/* A bracket opens at the place: server.login("user", "w0rd"). */
MUST_CHECK enum err_code given_find_in_call(struct slice text, size_t at, struct secret_list *list);

/* What they share. A list of words has a blank before and behind each. */
static inline bool given_is_any(char c, const char *of)
{
    while (*of && *of != c)
        of++;
    return *of;
}
static inline bool given_is_blank(char c)
{
    return c == ' ' || c == '\t';
}
static inline bool given_is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool given_is_name_letter(char c)
{
    return letters_have(LETTERS_URL | LETTERS_DOT, c) || c == '$' || c == '@';
}
/* The word in front of a place and its blanks, at most 32 letters. */
struct slice given_word_before(struct slice text, size_t at);
/* Returns true if a word comes before a place in the same line, at most 64 letters away. */
bool given_is_word_before(struct slice text, size_t at, const char *word);
/* The nth field of the line that begins at a place, without blanks and quotes; fields: how many the line has. */
struct given given_read_field(struct slice text, size_t at, char separator, size_t nth,
                              size_t *fields);
/* The words that a wallet is made from: twelve or more of three to eight small letters. */
bool given_is_seed_phrase(struct slice value);
bool given_is_word_of(struct slice word, const char *list);
/* "${TOKEN}", "<token>", "***" */
bool given_is_hole(struct slice value);
bool given_is_plain(struct slice value);
bool given_is_path(struct slice value);
/* Digits between letters, or with a mark, as a password is in a sentence. */
bool given_is_mixed_word(struct slice value);
bool given_has_digit(struct slice value);
/* Letters and digits as a machine chooses them, at least so many; of a service they may be less random. */
bool given_is_tokenish(struct slice value, size_t least, bool service);
bool given_is_salt(struct slice value);
/* A name that a program gives to a variable: new_password, userPassword. */
bool given_is_variable(struct slice value);
/* password.go:12:5: the place of a message of a compiler. */
bool given_is_place_in_file(struct slice name, struct slice value);
/* The kind of the name of the object in which a member is: "bearer": {"example.org": ... */
enum name_kind given_kind_around(struct slice text, size_t at);
/* process.env.PASSWORD, self->token, tokens[i] */
bool given_is_reference(struct slice text, struct given value);
bool given_is_line_start(struct slice text, size_t at);
bool given_is_line_end(struct slice text, size_t at);
struct slice given_name_ending_at(struct slice text, size_t end);
MUST_CHECK enum err_code given_add(struct secret_list *list, enum name_kind kind, struct given v);

#endif
