#include "tests/test.h"

#include "support/screen/screen.h"
#include "tui/app/view.h"
#include "tui/screens/list/list.h"

/* Details added to described rows: titles in the middle of long files, disk usage, days left. */

TEST(a_title_in_the_middle_of_a_long_file_appears_later)
{
    struct shop x;

    shop_begin(&x);
    x.fake[2].deep = "The title in the middle";
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "The title in the middle"));
    assert_false(screen_has(&x.s, "Refund flow, second try"));
    assert_int_equal(x.s.looked_deep, 1); /* the others are short or have a user title */
    screen_close(&x.s);
}

TEST(a_found_title_is_kept_while_the_file_grows)
{
    struct shop x;

    shop_begin(&x);
    x.fake[2].deep = "The title in the middle";
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_wait(&x.s, 200);
    x.fake[2].size += 100;
    screen_press(&x.s, "<F5>");
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "The title in the middle"));
    assert_int_equal(x.s.looked_deep, 1);
    x.fake[2].size = 200000; /* shorter than it was: another file */
    x.fake[2].deep = "Another title";
    screen_press(&x.s, "<F5>");
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "Another title"));
    assert_int_equal(x.s.looked_deep, 2);
    screen_close(&x.s);
}

TEST(a_users_title_takes_precedence)
{
    struct shop x;

    shop_begin(&x);
    x.fake[2].deep = "The title in the middle";
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_wait(&x.s, 200);
    x.fake[2].named = true;
    x.fake[2].title = "A newer title";
    x.fake[2].size += 100;
    screen_press(&x.s, "<F5>");
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "A newer title"));
    screen_close(&x.s);
}

TEST(an_answer_about_another_scope_is_dropped)
{
    struct shop x;
    unsigned generation = 0;

    shop_begin(&x);
    x.fake[2].deep = "The title in the middle";
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    /* The list and its rows are served; then the full scan is requested. */
    for (int i = 0; generation == 0 && i < 20; i++) {
        struct effect e;

        screen_take(&x.s);
        for (size_t k = 0; k < x.s.waiting.n; k++)
            if (x.s.waiting.item[k].kind == EFFECT_FULL_SCAN)
                generation = x.s.waiting.item[k].generation;
        if (generation == 0 && effects_pop(&x.s.waiting, &e)) {
            screen_answer_one(&x.s, &e);
            effect_fini(&e);
        }
    }
    assert_int_not_equal(generation, 0);
    screen_press_only(&x.s, "<C-a>");
    struct described_list *late = described_list_new(1);

    assert_non_null(late);
    late->item[late->n++] = (struct described){ .entry = 0, .bytes = 1 };
    screen_send(
        &x.s, (struct msg){ .kind = MSG_FULL_SCAN, .generation = generation, .u.described = late });
    screen_answer(&x.s);
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "5 sessions"));
    screen_close(&x.s);
}

/* Takes out the next request of this kind; the others are not served. */
static struct effect next_request(struct screen *s, enum effect_kind kind)
{
    struct effect e = { .kind = EFFECT_QUIT };

    while (effects_pop(&s->waiting, &e) && e.kind != kind)
        effect_fini(&e);
    assert_int_equal(e.kind, kind);
    return e;
}

/* The other scope cannot be listed at first, and the sizes of the old rows are looked up meanwhile. */
TEST(sizes_of_rows_that_were_replaced_are_dropped)
{
    struct shop x;

    shop_begin(&x);
    x.s.settings.query = SLICE("page"); /* one session */
    screen_ready(&x.s, x.fake, SHOP, 24, 99);
    screen_press_only(&x.s, "<C-a>");
    struct effect e = next_request(&x.s, EFFECT_LIST);

    screen_send(&x.s, (struct msg){ .kind = MSG_FAILED, .generation = e.generation });
    effect_fini(&e);
    screen_press_only(&x.s, "<Esc><Esc>"); /* the others come into view */
    e = next_request(&x.s, EFFECT_DISK_USAGE);
    x.fake[0].gone = true; /* so that the numbers of the rows are other ones */
    screen_press_only(&x.s, "<F5>");
    screen_answer(&x.s);
    x.s.side_bytes = INT64_C(5) << 30;
    screen_answer_one(&x.s, &e);
    effect_fini(&e);
    screen_press_only(&x.s, "<C-s><C-s>");
    assert_true(screen_has(&x.s, "4 sessions"));
    assert_false(screen_has(&x.s, "GB"));
    screen_close(&x.s);
}

TEST(sorted_by_size_each_row_shows_its_disk_usage)
{
    struct shop x;

    shop_begin(&x);
    x.s.side_bytes = 1 << 20;
    screen_ready(&x.s, x.fake, SHOP, 24, 99); /* no conversation beside it */
    assert_false(screen_has(&x.s, "MB"));
    screen_press(&x.s, "<C-s><C-s>");
    screen_wait(&x.s, 200);
    assert_non_null(strstr(screen_line(&x.s, 0), "5 sessions  6.5 MB  size"));
    assert_non_null(strstr(screen_line(&x.s, 2), "2.1 MB"));
    assert_non_null(strstr(screen_line(&x.s, 3), "1.3 MB"));
    assert_non_null(strstr(screen_line(&x.s, 6), "1.0 MB"));
    screen_close(&x.s);
}

TEST(a_row_warns_before_the_agent_removes_it)
{
    struct shop x;

    shop_begin(&x);
    x.fake[1].expires_ms = INT64_C(30) * DAY;
    x.fake[3].expires_ms = 3 * DAY + HOUR;
    x.fake[4].expires_ms = 5 * HOUR + MINUTE;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    assert_null(strstr(screen_line(&x.s, 3), "expires"));
    assert_non_null(strstr(screen_line(&x.s, 5), "expires 3d"));
    assert_non_null(strstr(screen_line(&x.s, 6), "expires 5h"));
    screen_press(&x.s, "<C-l>");
    assert_true(screen_has(&x.s, "expires 3d"));
    screen_close(&x.s);
}

/* The tokens of a large session take a moment to read. */
TEST(that_tokens_are_being_read_is_shown)
{
    struct shop x;

    shop_begin(&x);
    x.fake[0].size = (int64_t)600 << 20;
    screen_ready(&x.s, x.fake, SHOP, 30, 140);
    assert_true(screen_has(&x.s, "summing up tokens"));
    screen_press(&x.s, "<Down>");
    screen_wait(&x.s, 1000);
    assert_false(screen_has(&x.s, "summing up tokens"));
    screen_close(&x.s);
}

TEST(the_preview_shows_the_disk_usage)
{
    struct shop x;

    shop_begin(&x);
    x.s.side_bytes = 1 << 20;
    screen_ready(&x.s, x.fake, SHOP, 30, 120);
    assert_non_null(strstr(screen_line(&x.s, 2), "┌─ 1.0 MB on disk, transcript 47 KB ─"));
    screen_press(&x.s, "<Down>");
    screen_wait(&x.s, 100);
    assert_non_null(strstr(screen_line(&x.s, 2), "┌─ 2.1 MB on disk, transcript 1.1 MB"));
    screen_resize(&x.s, 40, 80);
    assert_true(screen_has(&x.s, "── 2.1 MB on disk, transcript 1.1 MB ─"));
    screen_close(&x.s);
}

AT_SHOP(a_model_is_of_more_use_than_the_disk_usage, 30, 100)
{
    x->s.model->list->sessions.entry[0].row->model = SLICE("a-model-with-a-long-name");
    assert_non_null(strstr(screen_line(&x->s, 2), "┌─ a-model-with-a-long-name ──────"));
    screen_resize(&x->s, 30, 120);
    assert_non_null(strstr(screen_line(&x->s, 2), "─ a-model-with-a-long-name · 47 KB on disk ─"));
}

/* The list does not wait for the disk usage: until it is known, the transcript's own size is shown. */
TEST(the_transcript_size_is_shown_until_the_usage_is_known)
{
    struct shop x;
    struct effect e, weights = { 0 };

    shop_begin(&x);
    x.s.side_bytes = 1 << 20;
    screen_open(&x.s, x.fake, SHOP, 30, 120);
    screen_take(&x.s);
    while (effects_pop(&x.s.waiting, &e)) {
        if (e.kind == EFFECT_DISK_USAGE && !weights.refs) {
            weights = e;
            continue;
        }
        screen_answer_one(&x.s, &e);
        effect_fini(&e);
        screen_take(&x.s);
    }
    screen_wait(&x.s, 100);
    assert_non_null(weights.refs);
    assert_non_null(strstr(screen_line(&x.s, 2), "┌─ transcript 47 KB ─"));
    screen_answer_one(&x.s, &weights);
    assert_non_null(strstr(screen_line(&x.s, 2), "┌─ 1.0 MB on disk, transcript 47 KB ─"));
    effect_fini(&weights);
    screen_close(&x.s);
}
