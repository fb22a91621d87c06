#ifndef STORE_GIT_LIBGIT2_H
#define STORE_GIT_LIBGIT2_H

#include <git2.h>
#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>
#if __has_include(<git2/sys/errors.h>) /* since libgit2 1.8 */
#include <git2/sys/errors.h>
#endif

#include <stdatomic.h>

#include "lite/base/err.h"

/* libgit2 under its own names. It is loaded when it is first needed and not when the program starts: a dozen other
 * libraries come with it (Kerberos, TLS, SSH), and loading them took half of the time in which an answer without any
 * repository is given. */

/* Loads and starts libgit2 and sets its options (extensions.worktreeConfig is accepted, files of refs are synced) unless
 * this was done already. Call it before any other function of libgit2, from any thread; only the functions whose name
 * ends in _free may be called without it, with NULL. Starting takes 10 ms, because libgit2 reads the certificates of
 * the system; once started, it runs until the process ends. Programs that start and stop libgit2 themselves are not
 * disturbed. No other function sets an option of LIBGIT2-> ERR_UNSUPPORTED: not installed, or another version. */
MUST_CHECK enum err_code gitlib_ready(struct err *e);

#ifndef REPRISE_STATIC
/* A function that is missing is added to one of these lists and to the names below. */
/* clang-format off */
#define LIBGIT2_FUNCTIONS(F) \
    F(attr_get) F(attr_value) F(blob_create_from_buffer) F(blob_lookup) F(blob_rawcontent) \
    F(blob_rawsize) F(branch_is_checked_out) F(branch_lookup) F(buf_dispose) F(commit_author) \
    F(commit_id) F(commit_lookup) F(commit_message_raw) F(commit_parent) F(commit_parent_id) \
    F(commit_parentcount) F(commit_summary) F(commit_time) F(commit_tree) F(commit_tree_id) \
    F(config_get_bool) F(config_get_path) F(config_get_string) F(diff_get_delta) \
    F(diff_num_deltas) F(diff_options_init) F(diff_tree_to_tree) F(error_last) F(error_set_str) \
    F(filter_list_apply_to_buffer) F(filter_list_load) F(graph_descendant_of) \
    F(ignore_path_is_ignored) F(index_add) F(index_find) F(index_find_prefix) F(index_new) \
    F(index_open) F(index_read) F(index_read_tree) F(index_remove) F(index_remove_bypath) \
    F(index_remove_directory) F(index_write) F(index_write_tree_to) F(indexer_append) \
    F(indexer_commit) F(indexer_new) F(libgit2_init) F(libgit2_opts) F(libgit2_shutdown) \
    F(mempack_dump) F(mempack_new) F(merge_file) F(note_commit_create) F(object_id) F(object_lookup_prefix) \
    F(object_peel) F(object_string2type) F(odb_add_backend) F(odb_add_disk_alternate) F(odb_exists) F(odb_foreach) F(odb_get_backend) \
    F(odb_init_backend) F(odb_num_backends) F(odb_object_data) F(odb_object_size) \
    F(odb_object_type) F(odb_open) F(odb_read) F(odb_read_header) F(odb_write) F(oid_cpy) \
    F(oid_equal) F(oid_fromstr) F(oid_fromstrn) F(oid_is_zero) F(oid_streq) F(oid_tostr) \
    F(patch_from_buffers) F(patch_from_diff) F(patch_get_hunk) F(patch_get_line_in_hunk) \
    F(patch_line_stats) F(patch_num_hunks) F(patch_num_lines_in_hunk) F(reference_create) \
    F(reference_create_matching) F(reference_delete) F(reference_is_branch) \
    F(reference_iterator_glob_new) F(reference_lookup) F(reference_name) F(reference_name_to_id) \
    F(reference_next) F(reference_next_name) F(reference_shorthand) F(reference_target) \
    F(repository_commondir) F(repository_config_snapshot) F(repository_head) F(repository_index) \
    F(repository_is_worktree) F(repository_item_path) F(repository_odb) F(repository_open) \
    F(repository_open_ext) F(repository_path) F(repository_set_workdir) F(repository_state) \
    F(repository_workdir) F(revparse_single) F(revwalk_hide_glob) F(revwalk_new) F(revwalk_next) \
    F(revwalk_push_glob) F(revwalk_push_head) F(revwalk_sorting) F(signature_default) \
    F(signature_now) F(status_byindex) F(status_list_entrycount) F(status_list_new) \
    F(status_options_init) F(strarray_dispose) F(tree_entry_byindex) F(tree_entry_byname) \
    F(tree_entry_bypath) F(tree_entry_filemode_raw) F(tree_entry_id) F(tree_entry_name) \
    F(tree_entry_type) F(tree_entrycount) F(tree_lookup) F(tree_walk) F(worktree_list) \
    F(worktree_lookup) F(worktree_path)
/* Each takes one pointer to git_NAME. */
#define LIBGIT2_FREES(F) \
    F(blob) F(commit) F(config) F(diff) F(filter_list) F(index) F(indexer) F(merge_file_result) \
    F(object) F(odb) F(odb_object) F(patch) F(reference) F(reference_iterator) F(repository) \
    F(revwalk) F(signature) F(status_list) F(tree_entry) F(tree) F(worktree)
/* clang-format on */

struct libgit2 {
#define MEMBER(name) __typeof__(git_##name) *name;
#define MEMBER_FREE(name) void (*name##_free)(git_##name *);
    LIBGIT2_FUNCTIONS(MEMBER)
    LIBGIT2_FREES(MEMBER_FREE)
#undef MEMBER
#undef MEMBER_FREE
};
/* Before the library is loaded, a table in which only the functions that free are; other threads may be using it then. */
extern const struct libgit2 *_Atomic libgit2_table;
#define LIBGIT2 atomic_load_explicit(&libgit2_table, memory_order_acquire)

#define git_attr_get LIBGIT2->attr_get
#define git_attr_value LIBGIT2->attr_value
#define git_blob_create_from_buffer LIBGIT2->blob_create_from_buffer
#define git_blob_free LIBGIT2->blob_free
#define git_blob_lookup LIBGIT2->blob_lookup
#define git_blob_rawcontent LIBGIT2->blob_rawcontent
#define git_blob_rawsize LIBGIT2->blob_rawsize
#define git_branch_is_checked_out LIBGIT2->branch_is_checked_out
#define git_branch_lookup LIBGIT2->branch_lookup
#define git_buf_dispose LIBGIT2->buf_dispose
#define git_commit_author LIBGIT2->commit_author
#define git_commit_free LIBGIT2->commit_free
#define git_commit_id LIBGIT2->commit_id
#define git_commit_lookup LIBGIT2->commit_lookup
#define git_commit_message_raw LIBGIT2->commit_message_raw
#define git_commit_parent LIBGIT2->commit_parent
#define git_commit_parent_id LIBGIT2->commit_parent_id
#define git_commit_parentcount LIBGIT2->commit_parentcount
#define git_commit_summary LIBGIT2->commit_summary
#define git_commit_time LIBGIT2->commit_time
#define git_commit_tree LIBGIT2->commit_tree
#define git_commit_tree_id LIBGIT2->commit_tree_id
#define git_config_free LIBGIT2->config_free
#define git_config_get_bool LIBGIT2->config_get_bool
#define git_config_get_path LIBGIT2->config_get_path
#define git_config_get_string LIBGIT2->config_get_string
#define git_diff_free LIBGIT2->diff_free
#define git_diff_get_delta LIBGIT2->diff_get_delta
#define git_diff_num_deltas LIBGIT2->diff_num_deltas
#define git_diff_options_init LIBGIT2->diff_options_init
#define git_diff_tree_to_tree LIBGIT2->diff_tree_to_tree
#define git_error_last LIBGIT2->error_last
#define git_error_set_str LIBGIT2->error_set_str
#define git_filter_list_apply_to_buffer LIBGIT2->filter_list_apply_to_buffer
#define git_filter_list_free LIBGIT2->filter_list_free
#define git_filter_list_load LIBGIT2->filter_list_load
#define git_graph_descendant_of LIBGIT2->graph_descendant_of
#define git_ignore_path_is_ignored LIBGIT2->ignore_path_is_ignored
#define git_index_add LIBGIT2->index_add
#define git_index_find LIBGIT2->index_find
#define git_index_find_prefix LIBGIT2->index_find_prefix
#define git_index_free LIBGIT2->index_free
#define git_index_new LIBGIT2->index_new
#define git_index_open LIBGIT2->index_open
#define git_index_read LIBGIT2->index_read
#define git_index_read_tree LIBGIT2->index_read_tree
#define git_index_remove LIBGIT2->index_remove
#define git_index_remove_bypath LIBGIT2->index_remove_bypath
#define git_index_remove_directory LIBGIT2->index_remove_directory
#define git_index_write LIBGIT2->index_write
#define git_index_write_tree_to LIBGIT2->index_write_tree_to
#define git_indexer_append LIBGIT2->indexer_append
#define git_indexer_commit LIBGIT2->indexer_commit
#define git_indexer_free LIBGIT2->indexer_free
#define git_indexer_new LIBGIT2->indexer_new
#define git_libgit2_init LIBGIT2->libgit2_init
#define git_libgit2_opts LIBGIT2->libgit2_opts
#define git_libgit2_shutdown LIBGIT2->libgit2_shutdown
#define git_mempack_dump LIBGIT2->mempack_dump
#define git_mempack_new LIBGIT2->mempack_new
#define git_merge_file LIBGIT2->merge_file
#define git_merge_file_result_free LIBGIT2->merge_file_result_free
#define git_note_commit_create LIBGIT2->note_commit_create
#define git_object_free LIBGIT2->object_free
#define git_object_id LIBGIT2->object_id
#define git_object_lookup_prefix LIBGIT2->object_lookup_prefix
#define git_object_peel LIBGIT2->object_peel
#define git_object_string2type LIBGIT2->object_string2type
#define git_odb_add_backend LIBGIT2->odb_add_backend
#define git_odb_add_disk_alternate LIBGIT2->odb_add_disk_alternate
#define git_odb_exists LIBGIT2->odb_exists
#define git_odb_foreach LIBGIT2->odb_foreach
#define git_odb_free LIBGIT2->odb_free
#define git_odb_get_backend LIBGIT2->odb_get_backend
#define git_odb_init_backend LIBGIT2->odb_init_backend
#define git_odb_num_backends LIBGIT2->odb_num_backends
#define git_odb_object_data LIBGIT2->odb_object_data
#define git_odb_object_free LIBGIT2->odb_object_free
#define git_odb_object_size LIBGIT2->odb_object_size
#define git_odb_object_type LIBGIT2->odb_object_type
#define git_odb_open LIBGIT2->odb_open
#define git_odb_read LIBGIT2->odb_read
#define git_odb_read_header LIBGIT2->odb_read_header
#define git_odb_write LIBGIT2->odb_write
#define git_oid_cpy LIBGIT2->oid_cpy
#define git_oid_equal LIBGIT2->oid_equal
#define git_oid_fromstr LIBGIT2->oid_fromstr
#define git_oid_fromstrn LIBGIT2->oid_fromstrn
#define git_oid_is_zero LIBGIT2->oid_is_zero
#define git_oid_streq LIBGIT2->oid_streq
#define git_oid_tostr LIBGIT2->oid_tostr
#define git_patch_free LIBGIT2->patch_free
#define git_patch_from_buffers LIBGIT2->patch_from_buffers
#define git_patch_from_diff LIBGIT2->patch_from_diff
#define git_patch_get_hunk LIBGIT2->patch_get_hunk
#define git_patch_get_line_in_hunk LIBGIT2->patch_get_line_in_hunk
#define git_patch_line_stats LIBGIT2->patch_line_stats
#define git_patch_num_hunks LIBGIT2->patch_num_hunks
#define git_patch_num_lines_in_hunk LIBGIT2->patch_num_lines_in_hunk
#define git_reference_create LIBGIT2->reference_create
#define git_reference_create_matching LIBGIT2->reference_create_matching
#define git_reference_delete LIBGIT2->reference_delete
#define git_reference_free LIBGIT2->reference_free
#define git_reference_is_branch LIBGIT2->reference_is_branch
#define git_reference_iterator_free LIBGIT2->reference_iterator_free
#define git_reference_iterator_glob_new LIBGIT2->reference_iterator_glob_new
#define git_reference_lookup LIBGIT2->reference_lookup
#define git_reference_name LIBGIT2->reference_name
#define git_reference_name_to_id LIBGIT2->reference_name_to_id
#define git_reference_next LIBGIT2->reference_next
#define git_reference_next_name LIBGIT2->reference_next_name
#define git_reference_shorthand LIBGIT2->reference_shorthand
#define git_reference_target LIBGIT2->reference_target
#define git_repository_commondir LIBGIT2->repository_commondir
#define git_repository_config_snapshot LIBGIT2->repository_config_snapshot
#define git_repository_free LIBGIT2->repository_free
#define git_repository_head LIBGIT2->repository_head
#define git_repository_index LIBGIT2->repository_index
#define git_repository_is_worktree LIBGIT2->repository_is_worktree
#define git_repository_item_path LIBGIT2->repository_item_path
#define git_repository_odb LIBGIT2->repository_odb
#define git_repository_open LIBGIT2->repository_open
#define git_repository_open_ext LIBGIT2->repository_open_ext
#define git_repository_path LIBGIT2->repository_path
#define git_repository_set_workdir LIBGIT2->repository_set_workdir
#define git_repository_state LIBGIT2->repository_state
#define git_repository_workdir LIBGIT2->repository_workdir
#define git_revparse_single LIBGIT2->revparse_single
#define git_revwalk_free LIBGIT2->revwalk_free
#define git_revwalk_hide_glob LIBGIT2->revwalk_hide_glob
#define git_revwalk_new LIBGIT2->revwalk_new
#define git_revwalk_next LIBGIT2->revwalk_next
#define git_revwalk_push_glob LIBGIT2->revwalk_push_glob
#define git_revwalk_push_head LIBGIT2->revwalk_push_head
#define git_revwalk_sorting LIBGIT2->revwalk_sorting
#define git_signature_default LIBGIT2->signature_default
#define git_signature_free LIBGIT2->signature_free
#define git_signature_now LIBGIT2->signature_now
#define git_status_byindex LIBGIT2->status_byindex
#define git_status_list_entrycount LIBGIT2->status_list_entrycount
#define git_status_list_free LIBGIT2->status_list_free
#define git_status_list_new LIBGIT2->status_list_new
#define git_status_options_init LIBGIT2->status_options_init
#define git_strarray_dispose LIBGIT2->strarray_dispose
#define git_tree_entry_byindex LIBGIT2->tree_entry_byindex
#define git_tree_entry_byname LIBGIT2->tree_entry_byname
#define git_tree_entry_bypath LIBGIT2->tree_entry_bypath
#define git_tree_entry_filemode_raw LIBGIT2->tree_entry_filemode_raw
#define git_tree_entry_free LIBGIT2->tree_entry_free
#define git_tree_entry_id LIBGIT2->tree_entry_id
#define git_tree_entry_name LIBGIT2->tree_entry_name
#define git_tree_entry_type LIBGIT2->tree_entry_type
#define git_tree_entrycount LIBGIT2->tree_entrycount
#define git_tree_free LIBGIT2->tree_free
#define git_tree_lookup LIBGIT2->tree_lookup
#define git_tree_walk LIBGIT2->tree_walk
#define git_worktree_free LIBGIT2->worktree_free
#define git_worktree_list LIBGIT2->worktree_list
#define git_worktree_lookup LIBGIT2->worktree_lookup
#define git_worktree_path LIBGIT2->worktree_path
#endif

#endif
