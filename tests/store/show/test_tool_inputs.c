#include "tests/test.h"

#include "store/show/tool_call.h"

static void expect(const char *name, const char *input, const char *want)
{
    static const char *const kinds[] = { "write", "replace", "delete", "rename", "seen" };
    struct arena a = { 0 };
    struct tool_inputs in = { .a = &a };
    char got[4096] = "";

    tool_inputs_read(slice_of(name), slice_of(input), &in);
    for (size_t i = 0; i < in.n; i++) {
        const struct edit *edit = &in.edit[i];
        size_t n = strlen(got);

        n += (size_t)snprintf(got + n, sizeof got - n, "%s %s", kinds[edit->kind], edit->path);
        if (edit->to)
            n += (size_t)snprintf(got + n, sizeof got - n, " > %s", edit->to);
        if (edit->after_known == EDIT_TEXT)
            n += (size_t)snprintf(got + n, sizeof got - n, " =%.*s", SLICE_ARG(edit->after));
        for (size_t k = 0; k < edit->replacements; k++)
            n += (size_t)snprintf(
                got + n, sizeof got - n, " [%.*s|%.*s%s%s]",
                SLICE_ARG(edit->replacement[k].old_text), SLICE_ARG(edit->replacement[k].new_text),
                edit->replacement[k].all ? "|all" : "", edit->replacement[k].next ? "|next" : "");
        snprintf(got + n, sizeof got - n, ";");
    }
    assert_false(a.failed);
    assert_string_equal(got, want);
    arena_fini(&a);
}

TEST(files_are_edited_and_written)
{
    expect("Edit", "{\"file_path\":\"/a\",\"old_string\":\"x\",\"new_string\":\"y\\n\"}",
           "replace /a [x|y\n];");
    expect("edit",
           "{\"filePath\":\"a\",\"oldString\":\"x\",\"newString\":\"\",\"replaceAll\":true}",
           "replace a [x||all];");
    expect("MultiEdit",
           "{\"file_path\":\"/a\",\"edits\":[{\"old_string\":\"x\",\"new_string\":\"y\"},"
           "{\"old_string\":\"y\",\"new_string\":\"z\",\"replace_all\":true}]}",
           "replace /a [x|y] [y|z|all];");
    expect("Write", "{\"file_path\":\"/a\",\"content\":\"x\"}", "write /a =x;");
    expect("replace", "{\"file_path\":\"/a\",\"old_string\":\"\",\"new_string\":\"new\"}",
           "write /a =new;");
    expect("editor", "{\"path\":\"/a\",\"old_text\":\"x\",\"new_text\":\"y\"}",
           "replace /a [x|y];");
    expect("editor", "{\"path\":\"/a\",\"new_text\":\"y\",\"insert_line\":null}", "write /a =y;");
    expect("editor", "{\"path\":\"/a\",\"new_text\":\"y\",\"insert_line\":3}", "replace /a;");
    expect("write", "{\"command\":\"create\",\"path\":\"/a\",\"content\":\"x\"}", "write /a =x;");
    expect("write",
           "{\"command\":\"strReplace\",\"path\":\"/a\",\"oldStr\":\"x\",\"newStr\":\"y\"}",
           "replace /a [x|y];");
    expect("write", "{\"command\":\"insert\",\"path\":\"/a\",\"content\":\"x\"}", "replace /a;");
    expect("search_replace",
           "{\"file_path\":\"a\",\"content\":\"<<<<<<< "
           "SEARCH\\nx\\n\\n=======\\r\\ny\\nz\\n>>>>>>> REPLACE\\n"
           "\\n<<<<< SEARCH\\n=\\n=====\\n>>>>> REPLACE\"}",
           "replace a [x|y\nz] [=|];");
    expect("write_file",
           "{\"path\":\"a\",\"content\":\"<<<<< SEARCH\\nx\\n=====\\ny\\n>>>>> REPLACE\"}",
           "write a =<<<<< SEARCH\nx\n=====\ny\n>>>>> REPLACE;");
    expect("Write", "{\"file_path\":\"/a\"}", "replace /a;");
    expect("MultiEdit", "{\"file_path\":\"/a\",\"edits\":7}", "replace /a;");
    expect("MultiEdit",
           "{\"file_path\":\"/a\",\"edits\":[{\"old_string\":\"x\",\"new_string\":\"y\"},"
           "{\"old_string\":\"y\"}]}",
           "replace /a;");
    expect("NotebookEdit", "{\"notebook_path\":\"/a.ipynb\",\"new_source\":\"x\"}",
           "replace /a.ipynb;");
}

TEST(what_only_reads_or_is_odd_is_no_edit)
{
    expect("Read", "{\"file_path\":\"/a\"}", "");
    expect("Read", "{\"file_path\":\"/a\",\"content\":\"x\"}", "");
    expect("Write", "{\"file_path\":\"\",\"content\":\"x\"}", "");
    expect("Write", "{\"file_path\":\"/a\\u0000b\",\"content\":\"x\"}", "");
    expect("Write", "{\"file_path\":7,\"content\":\"x\"}", "");
    expect("Write", "[\"/a\"]", "");
    expect("text_editor", "{\"command\":\"view\",\"path\":\"/a\"}", "");
    expect("Write", "", "");
    expect("Grep", "{\"path\":\"/a\",\"edits\":7}", "");
}

TEST(patches_are_read_by_file_and_hunk)
{
    expect(
        "apply_patch",
        "{\"input\":\"*** Begin Patch\\n*** Add File: new\\n+one\\n+two\\n*** Update File: a\\n@@ "
        "f\\n k\\n-x\\n+y\\n@@\\n-z\\n*** Delete File: gone\\n*** End Patch\"}",
        "write new =one\ntwo\n;replace a [k\nx\n|k\ny\n|next] [z\n||next];delete gone;");
    expect("apply_patch",
           "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch\n",
           "rename a > b;replace b [x\n|y\n|next];");
    expect("apply_patch", "\"*** Begin Patch\\n*** Delete File: a\\n*** End Patch\"", "delete a;");
    expect(
        "shell",
        "{\"command\":[\"apply_patch\",\"*** Begin Patch\\n*** Delete File: a\\n*** End Patch\"]}",
        "delete a;");
    expect("shell",
           "{\"command\":[\"bash\",\"-lc\",\"apply_patch <<'EOF'\\n*** Begin Patch\\n*** Update "
           "File: a\\n"
           "@@\\n-x\\n+y\\n*** End Patch\\nEOF\"]}",
           "replace a [x\n|y\n|next];");
    expect("shell",
           "{\"command\":[\"bash\",\"-lc\",\"cat <<'EOF'\\n*** Begin Patch\\n*** Delete File: "
           "a\\n*** End Patch\\nEOF\"]}",
           "");
}

TEST(plain_shell_commands_are_read)
{
    expect("Bash", "{\"command\":\"mv a b\"}", "rename a > b;");
    expect("run_commands", "{\"commands\":[\"cd c && mv a b\",7,\"rm d\"]}",
           "rename c/a > c/b;delete d;");
    expect("Bash", "{\"command\":\"git mv -f 'a b' c/ && rm -rf x y\"}",
           "rename a b > c//a b;delete x;delete y;");
    expect("Bash", "{\"command\":\"cd src && mv a ../b; rm /tmp/x\"}",
           "rename src/a > src/../b;delete /tmp/x;");
    expect("shell", "{\"command\":[\"bash\",\"-lc\",\"mv a b c dir\"]}",
           "rename a > dir/a;rename b > dir/b;rename c > dir/c;");
    expect("Bash", "{\"command\":\"ls\\nmv a b\\n\"}", "rename a > b;");
    expect("Bash", "{\"command\":\"mv a b 2>/dev/null; rm c > log 2>&1 && ls | head\"}",
           "rename a > b;delete c;");
    expect("Bash", "{\"command\":\"echo \\\"$HOME\\\" *.c && mv a b && rm *.o\"}", "rename a > b;");
    expect("Bash", "{\"command\":\"mkdir -p d && git mv a d/ && git commit -m 'a; b'\"}",
           "rename a > d//a;");
}

TEST(shell_commands_that_are_not_plain_are_left_alone)
{
    expect("Bash", "{\"command\":\"mv *.c dir\"}", "");
    expect("Bash", "{\"command\":\"mv $A b\"}", "");
    expect("Bash", "{\"command\":\"mv 'a b\"}", "");
    expect("Bash", "{\"command\":\"test -f a || mv a b\"}", "");
    expect("Bash", "{\"command\":\"cd - && mv a b\"}", "");
    expect("Bash", "{\"command\":\"cd $D && mv a b\"}", "");
    expect("Bash", "{\"command\":\"cat > x <<EOF\\nmv a b\\nEOF\"}", "");
    expect("Bash", "{\"command\":\"if true; then mv a b; fi\"}", "");
    expect("Bash", "{\"command\":\"# mv a b\\n(mv a b)\"}", "");
    expect("Bash", "{\"command\":\"sleep 1 & mv a b\"}", "");
    expect("Bash", "{\"command\":\"echo \\\\\\nmv a b\"}", "");
    expect("Bash", "{\"command\":\"for f in a b; do rm $f; done\"}", "");
    expect("Bash", "{\"command\":\"mv\"}", "");
    expect("Bash", "{\"command\":\"\"}", "");
    expect("Read", "{\"command\":\"mv a b\"}", "");
}
