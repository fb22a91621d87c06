# Writes man(3) pages from the comments of reprise.h, one for each part of it that begins with
# "/* ==== NAME - WHAT IT DOES ==== */", and a page that leads there for each other function of the part.
# The part of a second file that begins with "/* ==== NAME ==== */" is the page's example.
#   usage: awk -v version=0.2.0 -v date=2026-11-30 -v folder=DIR -v examples=examples.c -f manual.awk reprise.h
# In a part, a comment that is followed by a function describes it; one that is followed by a struct or an enum stands
# before its members; any other is a paragraph of the description.

function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/)
        text = "\\&" text
    return text
}

function squeezed(text) {
    gsub(/[ \t\n]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    return text
}

# A comment without its stars; an empty line in it begins a paragraph.
function paragraphs(comment,   line, n, i, out) {
    gsub(/^[ \t]*\/\*[ ]?|[ ]?\*\/[ \t]*$/, "", comment)
    n = split(comment, line, "\n")
    out = ""
    for (i = 1; i <= n; i++) {
        sub(/^[ \t]*\*?[ \t]*/, "", line[i])
        sub(/[ \t]+$/, "", line[i])
        out = out (line[i] == "" ? ".PP" : escaped(line[i])) "\n"
    }
    return out
}

# A prototype in lines that fit a terminal.
function wrapped(text,   part, n, i, out, line) {
    n = split(text, part, ", ")
    line = part[1]
    for (i = 2; i <= n; i++)
        if (length(line) + length(part[i]) > 70) {
            out = out line ",\n"
            line = "        " part[i]
        } else
            line = line ", " part[i]
    return escaped(out line)
}

function name_of(declaration,   at) {
    at = index(declaration, "(")
    declaration = substr(declaration, 1, at - 1)
    sub(/.*[ *]/, "", declaration)
    return declaration
}

function add_function(declaration, comment,   name) {
    sub(/^REPRISE_API /, "", declaration)
    name = name_of(declaration)
    names = names (names == "" ? "" : ", ") name
    functions[++function_count] = name
    synopsis = synopsis wrapped(declaration) "\n"
    body = body ".SS " name "()\n" comment
}

# struct and enum: each member with its comment, which is behind it or above it.
function add_members(declaration, comment,   line, n, i, code, said, above) {
    n = split(declaration, line, "\n")
    code = line[1]
    sub(/ \{.*/, "", code)
    body = body ".SS " code "\n" comment
    above = ""
    for (i = 2; i < n; i++) {
        code = said = squeezed(line[i])
        if (code ~ /^(\/\*|\* )/) {
            gsub(/^\/\* |^\* | ?\*\/$/, "", said)
            above = above (above == "" ? "" : "\n") escaped(said)
            continue
        }
        sub(/ ?\/\*.*/, "", code)
        if (sub(/^[^\/]*\/\* /, "", said))
            sub(/ ?\*\/$/, "", said)
        else
            said = ""
        sub(/[;,]$/, "", code)
        body = body ".TP\n.B " escaped(code) "\n"
        body = body (above != "" ? above "\n" : said != "" ? escaped(said) "\n" : "\\&\n")
        above = ""
    }
}

function finish_page(   i, file) {
    if (page == "")
        return
    file = folder "/" page ".3"
    sub(/^\.PP\n/, "", body)
    printf ".\\\" from reprise.h\n.TH %s 3 \"%s\" \"reprise %s\" \"Library Functions Manual\"\n", toupper(page), date, version >file
    printf ".SH NAME\n%s \\- %s\n", (names == "" || page == "reprise" ? page : names), escaped(title) >file
    printf ".SH SYNOPSIS\n.nf\n#include <reprise.h>\n" >file
    if (synopsis != "")
        printf ".PP\n%s", synopsis >file
    printf ".fi\n.SH DESCRIPTION\n%s", body >file
    if (page != "reprise")
        printf ".SH RETURN VALUE\nA function that takes a\n.I struct reprise_error\nreturns\n.B REPRISE_OK\n(0), or another value of\n.I enum reprise_code\n(see\n.BR reprise (3)).\n" >file
    if (sub(/\n+$/, "", example[page]) && example[page] != "")
        printf ".SH EXAMPLES\n.nf\n%s\n.fi\n", example[page] >file
    printf ".SH SEE ALSO\n.BR reprise (1)%s\n", page == "reprise" ? parts : ",\n.BR reprise (3)" >file
    close(file)
    for (i = 1; i <= function_count; i++)
        if (functions[i] != page) {
            printf ".so man3/%s.3\n", page >(folder "/" functions[i] ".3")
            close(folder "/" functions[i] ".3")
        }
}

function begin_page(line) {
    finish_page()
    gsub(/^\/\* ==== | ==== \*\/$/, "", line)
    page = title = line
    sub(/ - .*/, "", page)
    sub(/^[^-]*- /, "", title)
    names = synopsis = body = comment = ""
    function_count = 0
}

# The first page names the others, so their titles are read beforehand.
BEGIN {
    while ((getline line <ARGV[1]) > 0)
        if (line ~ /^\/\* ==== reprise_/) {
            split(line, word, " ")
            parts = parts ",\n.BR " word[3] " (3)"
        }
    close(ARGV[1])
    while ((getline line <examples) > 0)
        if (line ~ /^\/\* ==== /) {
            split(line, word, " ")
            at = word[3]
        } else if (at != "" && (line != "" || example[at] != ""))
            example[at] = example[at] escaped(line) "\n"
}

/^\/\* ==== / { begin_page($0); next }
page == "" || /^#|^extern|^}$/ { next }
/^\/\*/ { text = $0; while (text !~ /\*\/[ \t]*$/ && (getline line) > 0) text = text "\n" line; comment = paragraphs(text); next }
/^[A-Za-z]/ {
    declaration = $0
    while (declaration !~ /;([ \t]*\/\*.*\*\/)?$/ || (declaration ~ /\{/ && declaration !~ /\};$/)) {
        if ((getline line) <= 0)
            break
        declaration = declaration "\n" line
    }
    if (declaration ~ /^(struct|enum) [a-z_]+ \{/)
        add_members(declaration, comment)
    else if (declaration ~ /^(REPRISE_API|typedef)/)
        add_function(squeezed(declaration), comment)
    else if (declaration ~ /^struct [a-z_]+;/)
        body = body ".SS " substr(declaration, 1, index(declaration, ";") - 1) "\n" comment
    comment = ""
    next
}
/^$/ && comment != "" { body = body ".PP\n" comment; comment = "" }
END { finish_page() }
