#include <reprise.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/* The same library from C++17: what host.c left is read and undone, and every misuse is an error instead of a crash.
 *   usage: host SESSIONS HOME FILE */

namespace
{

struct Close {
    void operator()(reprise *r) const { reprise_close(r); }
    void operator()(reprise_session *s) const { reprise_session_close(s); }
    void operator()(reprise_rows *rows) const { reprise_rows_free(rows); }
    void operator()(reprise_points *points) const { reprise_points_free(points); }
    void operator()(reprise_rewind *w) const { reprise_rewind_close(w); }
    void operator()(reprise_texts *texts) const { reprise_texts_free(texts); }
    void operator()(reprise_trash *trash) const { reprise_trash_free(trash); }
    void operator()(reprise_log *log) const { reprise_log_free(log); }
    void operator()(reprise_agents *agents) const { reprise_agents_free(agents); }
    void operator()(reprise_lines *lines) const { reprise_lines_free(lines); }
    void operator()(reprise_touches *touches) const { reprise_touches_free(touches); }
    void operator()(reprise_usage *usage) const { reprise_usage_free(usage); }
    void operator()(reprise_branches *branches) const { reprise_branches_free(branches); }
};
template <typename T> using Handle = std::unique_ptr<T, Close>;

/* Calls a function of the library and throws what it reports. */
template <typename T, typename F> Handle<T> get(F call)
{
    T *made = nullptr;
    reprise_error e;

    if (call(&made, &e) != REPRISE_OK)
        throw std::runtime_error(e.message);
    return Handle<T>(made);
}

void need(bool holds, const char *what)
{
    if (!holds)
        throw std::runtime_error(what);
}

int collect(const char *json, size_t length, void *arg)
{
    auto *all = static_cast<std::vector<std::string> *>(arg);

    all->emplace_back(json, length);
    return 0;
}

int stop(const char *, size_t, void *)
{
    return 1;
}

void read(const reprise *r)
{
    auto rows = get<reprise_rows>([&](auto out, auto e) { return reprise_list(r, nullptr, out, e); });

    for (size_t i = 0; i < reprise_rows_count(rows.get()); i++) {
        const reprise_row *row = reprise_rows_at(rows.get(), i);
        std::vector<std::string> messages;
        auto s = get<reprise_session>(
            [&](auto out, auto e) { return reprise_session_open(r, row->id, out, e); });
        reprise_error e;

        std::printf("%s: %s\n", row->system, row->title);
        need(row->size == sizeof *row && std::strlen(row->json) == row->json_length, "a row");
        need(reprise_messages_each(s.get(), nullptr, collect, &messages, &e) == REPRISE_OK, "messages");
        for (const std::string &message : messages)
            std::printf("  %s\n", message.c_str());
        need(reprise_messages_each(s.get(), nullptr, stop, nullptr, &e) == REPRISE_CANCELLED, "an early end");
        auto points = get<reprise_points>(
            [&](auto out, auto e) { return reprise_checkpoints(s.get(), out, e); });
        need(reprise_points_count(points.get()) == 1, "one point");
        need(std::strcmp(reprise_points_at(points.get(), 0)->id, "m-1") == 0, "its id");
        need(reprise_points_at(points.get(), 1) == nullptr, "no second point");
    }
}

/* A caller that was compiled with a newer header, in which the struct has another member. */
void options_of_a_newer_version(const reprise *r)
{
    struct {
        reprise_query known;
        const char *unknown;
    } query = {};
    reprise_rows *rows = nullptr;
    reprise_error e;

    need(reprise_list(r, &query.known, &rows, &e) == REPRISE_USAGE, "a struct without a size");
    query.known.size = sizeof query;
    need(reprise_list(r, &query.known, &rows, nullptr) == REPRISE_OK, "an unknown member that is not used");
    reprise_rows_free(rows);
    query.unknown = "x";
    need(reprise_list(r, &query.known, &rows, &e) == REPRISE_USAGE, "an unknown member that is used");
    /* And one with an older header, in which it ended earlier. */
    query.known.size = offsetof(reprise_query, limit);
    need(reprise_list(r, &query.known, &rows, &e) == REPRISE_OK, "an older struct");
    reprise_rows_free(rows);
}

void undo(const reprise *r)
{
    reprise_rewind_summary summary = {};
    reprise_error e;
    auto w = get<reprise_rewind>(
        [&](auto out, auto e) { return reprise_rewind_undo(r, nullptr, nullptr, out, e); });

    need(reprise_rewind_apply(w.get(), 0, &e) == REPRISE_OK, e.message);
    summary.size = sizeof summary;
    need(reprise_rewind_describe(w.get(), &summary, &e) == REPRISE_OK, e.message);
    need(summary.files == 1 && summary.undo[0], "the summary of the undo");
    need(reprise_rewind_apply(w.get(), 0, &e) == REPRISE_STALE, "a second apply");
}

int count_hit(const reprise_hit *hit, void *arg)
{
    need(std::string(hit->line + hit->ranges[0].from, hit->ranges[0].to - hit->ranges[0].from) == "pay",
         "the match of a hit");
    ++*static_cast<int *>(arg);
    return 0;
}

/* What host.c deleted comes back, is found, named, and deleted by the undo of its return. */
void bring_back(const reprise *r)
{
    auto trash = get<reprise_trash>([&](auto out, auto e) { return reprise_list_trash(r, out, e); });
    const char *pattern = "pay";
    reprise_search_query query = {};
    reprise_change change = {};
    reprise_error e;
    int hits = 0;

    need(reprise_trash_count(trash.get()) == 1, "one session in the trash");
    need(reprise_trash_restore(r, reprise_trash_at(trash.get(), 0)->id, 0, &e) == REPRISE_OK, e.message);
    query.size = sizeof query;
    query.patterns = &pattern;
    query.patterns_count = 1;
    need(reprise_search(r, &query, count_hit, &hits, &e) == REPRISE_OK && hits == 2, "a hit in each session");
    auto s = get<reprise_session>([&](auto out, auto e) { return reprise_session_open(r, "pay-2", out, e); });
    auto bundle = get<reprise_texts>([&](auto out, auto e) { return reprise_restore(s.get(), nullptr, out, e); });
    auto agents = get<reprise_agents>([&](auto out, auto e) { return reprise_list_agents(s.get(), out, e); });
    auto branches = get<reprise_branches>([&](auto out, auto e) { return reprise_list_branches(s.get(), out, e); });

    need(reprise_texts_count(bundle.get()) == 1, "a bundle");
    need(reprise_agents_count(agents.get()) == 0 && reprise_branches_count(branches.get()) == 0, "no others");
    change.size = sizeof change;
    need(reprise_rename(s.get(), "Again", &change, &e) == REPRISE_OK, e.message);
    need(reprise_undo(r, change.id, nullptr, &e) == REPRISE_OK, e.message);
    need(reprise_delete(s.get(), 0, nullptr, &e) == REPRISE_OK, e.message);
    auto log = get<reprise_log>([&](auto out, auto e) { return reprise_list_log(r, out, e); });
    need(std::strcmp(reprise_log_at(log.get(), 0)->kind, "delete") == 0, "the log begins with the newest");
}

/* A session as a page of HTML, and what is wrong with it: nothing. */
void document(const reprise *r)
{
    auto s = get<reprise_session>([&](auto out, auto e) { return reprise_session_open(r, "pay-1", out, e); });
    reprise_export_request request = {};
    reprise_error e;
    std::string page;
    int findings = 0;

    request.size = sizeof request;
    request.format = REPRISE_FORMAT_HTML;
    need(reprise_export(s.get(), &request, [](const char *p, size_t n, void *to) {
        static_cast<std::string *>(to)->append(p, n);
        return 0;
    }, &page, nullptr, &e) == REPRISE_OK, e.message);
    need(page.find("Payments") != std::string::npos, "the title is in the document");
    need(reprise_session_doctor(s.get(), 0, [](const reprise_finding *, void *n) {
        ++*static_cast<int *>(n);
        return 0;
    }, &findings, &e) == REPRISE_OK && findings == 0, "no damage");
}

/* No tool call of a session wrote it. */
void blame(const reprise *r, const char *file)
{
    auto lines = get<reprise_lines>([&](auto out, auto e) { return reprise_blame(r, file, nullptr, out, e); });

    need(reprise_lines_count(lines.get()) == 1, "one line");
    need(std::strcmp(reprise_lines_at(lines.get(), 0)->text, "what the agent wrote") == 0, "the line");
    need(reprise_lines_at(lines.get(), 0)->session[0] == '\0', "the session of a line");
    auto touches = get<reprise_touches>([&](auto out, auto e) { return reprise_touched(r, file, nullptr, out, e); });
    auto usage = get<reprise_usage>([&](auto out, auto e) { return reprise_sum_usage(r, nullptr, out, e); });

    need(reprise_touches_count(touches.get()) == 0 && reprise_usage_count(usage.get()) == 0, "no edits and no tokens");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    try {
        const std::string home = std::string("HOME=") + argv[2];
        const char *environment[] = { home.c_str(), nullptr };
        reprise_options options = {};

        options.size = sizeof options;
        options.system = "goat";
        options.path = argv[1];
        options.environment = environment;
        auto r = get<reprise>([&](auto out, auto e) { return reprise_open(&options, out, e); });

        need(reprise_version_number() == REPRISE_VERSION_NUMBER, "the version");
        read(r.get());
        options_of_a_newer_version(r.get());
        document(r.get());
        undo(r.get());
        bring_back(r.get());
        blame(r.get(), argv[3]);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "host: %s\n", e.what());
        return 1;
    }
}
