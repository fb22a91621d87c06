#ifndef TESTS_SUPPORT_FAULTS_ACCESS_LIST_H
#define TESTS_SUPPORT_FAULTS_ACCESS_LIST_H

#include <stdint.h>

/* The extended attribute of an access list, and the bytes of one that admits one more user. */
#define ACL "system.posix_acl_access"

static const struct {
    uint32_t version;
    struct {
        uint16_t tag, perm;
        uint32_t id;
    } entry[5];
} acl = { 2, { { 1, 6, ~0U }, { 2, 7, 1234 }, { 4, 4, ~0U }, { 16, 7, ~0U }, { 32, 4, ~0U } } };

#endif
