#include <stdio.h>
#include <string.h>

#include "tui/screens/rewind/rewind_internal.h"

/* What is asked before files change, and before a rule is lifted. The first answer is the safe one. */

static void fill_apply_question(const struct rewind_view *v, struct dialog *d,
                                dialog_answer_fn *answer)
{
    struct rewind_tally t = rewind_tally(v);
    const struct checkpoint *c = rewind_turn(v);
    size_t listed = v->rows - t.files;
    char what[120];

    rewind_tally_text(&t, what, sizeof what);
    dialog_begin(d,
                 v->mode == REWIND_TURN ? "Undo only this turn and keep the later ones?"
                 : c && c->after        ? "Rewind to the end of this turn?"
                                        : "Rewind to before this turn?",
                 answer);
    dialog_line(d, "%s", what);
    if (t.files > 0)
        dialog_line(d, "+%u -%u lines; an undo record is kept", t.insertions, t.deletions);
    if (t.talks)
        dialog_line(d, "%zu message%s of the conversation stay%s; %s",
                    rewind_conversation_of(v)->kept,
                    rewind_conversation_of(v)->kept == 1 ? "" : "s",
                    rewind_conversation_of(v)->kept == 1 ? "s" : "",
                    t.files > 0 ? "one undo restores both" : "an undo record is kept");
    if (t.consented > 0)
        dialog_line(d,
                    "%zu of them with your consent; the present content is kept in the undo record",
                    t.consented);
    if (t.partial > 0)
        dialog_line(d, "%zu of them in part: only the ticked hunks", t.partial);
    if (listed > 0)
        dialog_line(d, "%zu file%s not ticked and stay%s as %s", listed,
                    listed == 1 ? " is" : "s are", listed == 1 ? "s" : "",
                    listed == 1 ? "it is" : "they are");
    if (t.held_open > 0)
        dialog_line(d, "%zu of them a program has open: what it writes goes to the old file%s",
                    t.held_open, t.held_open == 1 ? "" : "s");
    if (v->at.live)
        dialog_line(d, "An agent has this session open, and may be writing files right now.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "%s", what);
}

static void fill_consent_question(const struct rewind_view *v, struct dialog *d,
                                  dialog_answer_fn *answer)
{
    const struct rewind_entry *x = rewind_file(v);
    char room[512];
    struct slice path = rewind_path(v, x, room, sizeof room);

    dialog_begin(d,
                 x->rule == REWIND_RULE_EDITED    ? "Edited since the last snapshot"
                 : x->rule == REWIND_RULE_UNKNOWN ? "Not known to be the session's work"
                 : x->rule == REWIND_RULE_OUTSIDE ? "Outside the session's project"
                                                  : "Programs run or trust this file",
                 answer);
    dialog_line(d, "%.*s", (int)(path.n < 200 ? path.n : 200), path.p);
    dialog_line(d, "%s", x->why);
    if (x->rule == REWIND_RULE_UNKNOWN)
        dialog_line(d, "Its present content would be replaced; the undo record keeps it.");
    if (x->edited)
        dialog_line(d, "Your later edit would be replaced; the undo record keeps it.");
    dialog_offer(d, CHOICE_CANCEL, "exclude the file");
    if (x->rule == REWIND_RULE_SENSITIVE)
        dialog_want_yes(d);
    else
        dialog_offer(d, CHOICE_DO, "include the file");
}

void rewind_view_question(const struct rewind_view *v, struct dialog *d, dialog_answer_fn *answer)
{
    if (v->question == QUESTION_APPLY)
        fill_apply_question(v, d, answer);
    else
        fill_consent_question(v, d, answer);
}
