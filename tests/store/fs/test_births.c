#include "tests/test.h"

#include "store/fs/kernel.h"

/* Others replace a file when it is written (overlayfs), or report what a server makes of it. */
TEST(only_some_file_systems_keep_times_of_birth)
{
    static const uint32_t true_ones[] = { 0xef53, 0x58465342, 0x9123683e, 0xf2f52010 };
    static const uint32_t others[] = { 0x794c7630 /* overlayfs */,
                                       0x6969 /* NFS */,
                                       0x65735546 /* FUSE */,
                                       0x01021997 /* 9p */,
                                       0xff534d42 /* CIFS */,
                                       0,
                                       0xdeadbeef };

    NEEDS("birth times");
    for (size_t i = 0; i < sizeof true_ones / sizeof *true_ones; i++)
        assert_true(fs_kind_keeps_births(true_ones[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(fs_kind_keeps_births(others[i]));
}

TEST(a_file_that_cannot_be_asked_proves_nothing)
{
    assert_false(fs_births_are_true(-1));
    assert_true(fs_keeps_dir_numbers(-1));
}
