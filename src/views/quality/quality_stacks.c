// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports how many stacks are complete, why others are not, and what would
 * help. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/query/framekey.h"
#include "views/query/lines.h"
#include "views/quality/quality.h"

enum {
	ENDS_LISTED = 3,		/* number of reasons in one line of a report */
	COPY_LIMIT = 65528,	/* tally-record(1): --call-graph=dwarf,BYTES */
};

static bool by_tables(const struct quality *t)
{
	return !strcmp(profile_fact(t->p, "callgraph"), "dwarf");
}

/* Appends reason and place: "no unwind data in libx.so". */
static void reason_text(const struct quality *t, const struct stack_end *e,
			struct buf *out)
{
	buf_str(out, e->mark == PROF_MARK_DAMAGED
		     ? "rows lost from the file" : prof_end_text(e->reason));
	if (e->image == PROF_NONE)
		return;
	buf_str(out, " in ");
	text_safe(out, path_base(profile_cstr(t->p, t->p->images.v[e->image].path)));
}

void stack_end_text(const struct quality *t, const struct stack_end *e,
		    struct buf *out)
{
	if (e->mark == PROF_MARK_READ_LATE) {
		buf_str(out, "outer callers read later: probably correct");
		return;
	}
	if (e->mark == PROF_MARK_HEURISTIC) {
		buf_str(out, "a caller found by heuristics, for lack of unwind "
			"data: probably correct");
		return;
	}
	if (e->mark == PROF_MARK_CUT) {
		buf_str(out, "truncated: ");
		if (e->reason != PROF_END_UNKNOWN)
			buf_str(out, prof_end_text(e->reason));
		else
			buf_str(out, "deeper than the copy");
		return;
	}
	buf_str(out, "broken: ");
	reason_text(t, e, out);
}

static bool is_broken(const struct stack_end *e)
{
	return e->mark != PROF_MARK_CUT && e->mark != PROF_MARK_READ_LATE &&
	       e->mark != PROF_MARK_HEURISTIC;
}

/* Appends why a stack is truncated or broken, with its share unless all of the
 * `all` samples are.  Returns whether it did, after `listed` others. */
static bool put_reason(const struct quality *t, const struct stack_end *e,
		       uint64_t all, int listed, struct buf *out)
{
	double share = line_share(e->samples, t->shown);

	if (listed >= ENDS_LISTED || (listed && share < 0.05))
		return false;
	buf_str(out, listed ? ", " : ": ");
	reason_text(t, e, out);
	if (e->samples != all)
		buf_printf(out, " %.1f%%", share);
	return true;
}

/* Appends the known reasons of truncated stacks. */
static void cut_reasons(const struct quality *t, struct buf *out)
{
	int listed = 0;

	for (size_t i = 0; i < t->ends.n; i++) {
		const struct stack_end *e = &t->ends.v[i];

		if (e->mark == PROF_MARK_CUT && e->reason != PROF_END_UNKNOWN)
			listed += put_reason(t, e, t->cut, listed, out);
	}
}

static void broken_reasons(const struct quality *t, struct buf *out)
{
	int listed = 0;

	for (size_t i = 0; i < t->ends.n; i++) {
		const struct stack_end *e = &t->ends.v[i];

		if (!is_broken(e))
			continue;
		/* the only reason is unknown */
		if (!listed && e->samples == t->broken &&
		    e->reason == PROF_END_UNKNOWN)
			break;
		listed += put_reason(t, e, t->broken, listed, out);
	}
	if (!listed)
		buf_str(out, " (callers missing)");
}

/* Appends a share.  If it would be 0.0%, appends the number of stacks
 * instead. */
static void part(const struct quality *t, uint64_t n, struct buf *out)
{
	double share = line_share(n, t->shown);

	if (share >= 0.05) {
		buf_printf(out, " %.1f%%", share);
		return;
	}
	buf_u8(out, ' ');
	text_count(out, n);
	buf_str(out, " of ");
	text_count(out, t->shown);
}

void quality_stacks(const struct quality *t, struct buf *out)
{
	const char *shortened = profile_fact(t->p, PROF_ENV_SHORTENED);

	if (!t->cut && !t->broken && !t->later && !t->guessed &&
	    !t->frameless && !*shortened)
		return;
	buf_str(out, "Stacks:");
	if (t->cut) {
		part(t, t->cut, out);
		buf_str(out, " truncated");
		cut_reasons(t, out);
		buf_u8(out, ';');
	}
	if (t->broken) {
		part(t, t->broken, out);
		buf_str(out, " broken");
		broken_reasons(t, out);
		buf_u8(out, ';');
	}
	if (t->later) {
		part(t, t->later, out);
		buf_str(out, " with outer callers read later (probably "
			"correct);");
	}
	if (t->guessed) {
		part(t, t->guessed, out);
		buf_str(out, " with a caller found by heuristics (probably "
				"correct);");
	}
	if (t->frameless) {
		part(t, t->frameless, out);
		buf_str(out, " without any frame;");
	}
	if (*shortened) {
		buf_u8(out, ' ');
		text_safe(out, shortened);
		buf_str(out, " copies shortened because the recorder could not "
			"keep up;");
	}
	out->n--;
	if (by_tables(t) && (t->cut || t->broken))
		buf_str(out, "; see tally info");
}

static void help_line(const char *before, struct buf *text, struct buf *out)
{
	buf_str(out, before);
	buf_bytes(out, text->p, text->n);
	buf_u8(out, '\n');
	buf_reset(text);
}

static void cut_help(const struct quality *t, struct buf *text)
{
	long copied = strtol(profile_fact(t->p, "stack_copy_bytes"), NULL, 10);

	if (!by_tables(t)) {
		buf_str(text, "the kernel follows at most ");
		text_safe(text, *profile_fact(t->p, "max_stack") ? profile_fact(t->p, "max_stack")
						     : "127");
		buf_str(text, " frames (sysctl kernel.perf_event_max_stack); "
			"record with --call-graph=dwarf");
	} else if (copied > 0 && copied < COPY_LIMIT) {
		buf_printf(text, "%ld bytes of each stack were copied; record "
			   "with --call-graph=dwarf,%d", copied, COPY_LIMIT);
	} else if (copied > COPY_LIMIT) {
		buf_printf(text, "at most %ld KB of a stack are copied, and the "
			   "remainder could not be read from the running program",
			   copied >> 10);
	} else {
		buf_str(text, "the kernel copies at most 64 KB of a stack, and "
			"the remainder could not be read from the running "
			"program; record programs with frame pointers with "
			"--call-graph=fp, others with --source=timer or ptrace, "
			"which copy 256 or 512 KB");
	}
}

/* Returns what makes stacks complete that end in code without unwind data, or NULL. */
static const char *unwind_help(const struct quality *t, uint32_t image)
{
	const struct prof_image *im = &t->p->images.v[image];
	const char *path = profile_cstr(t->p, im->path);

	if (im->kind != PROF_IMAGE_ANON)
		return "build it with -fasynchronous-unwind-tables or "
		       "-fno-omit-frame-pointer";
	if (!strcmp(path, PROF_IMAGE_JAVA))
		return "run java with -XX:+PreserveFramePointer";
	/* V8 keeps frame pointers everywhere but at the start of functions */
	if (!strcmp(path, PROF_IMAGE_JAVASCRIPT) ||
	    !strcmp(path, PROF_IMAGE_TIMER))
		return NULL;
	return "code generated at run time; have its compiler keep frame pointers";
}

void quality_stacks_help(const struct quality *t, const char *before,
			 struct buf *out)
{
	struct buf text = { 0 };

	if (t->cut) {
		cut_help(t, &text);
		help_line(before, &text, out);
	}
	if (t->broken && !by_tables(t)) {
		buf_str(&text, "programs without frame pointers need "
			"--call-graph=dwarf");
		help_line(before, &text, out);
	}
	for (size_t i = 0; i < t->ends.n; i++) {
		const struct stack_end *e = &t->ends.v[i];
		const char *help;

		if (e->mark != PROF_MARK_BROKEN || e->image == PROF_NONE ||
		    e->reason != PROF_END_NO_DATA || !by_tables(t))
			continue;
		help = unwind_help(t, e->image);
		if (!help)
			continue;
		text_safe(&text, path_base(profile_cstr(t->p,
				t->p->images.v[e->image].path)));
		buf_printf(&text, ": %s", help);
		help_line(before, &text, out);
	}
	buf_fini(&text);
}

static const char *mark_name(uint32_t mark)
{
	return mark == PROF_MARK_CUT ? "cut" :
	       mark == PROF_MARK_READ_LATE ? "later" :
	       mark == PROF_MARK_HEURISTIC ? "guessed" :
	       mark == PROF_MARK_DAMAGED ? "damaged" : "broken";
}

void quality_stacks_json(const struct quality *t, struct json *j)
{
	json_object(j, "stacks");
	json_uints(j,
		   { "whole", t->shown - t->cut - t->broken - t->later - t->guessed },
		   { "later", t->later }, { "guessed", t->guessed },
		   { "cut", t->cut }, { "broken", t->broken });
	json_array_lines(j, "ends");
	for (size_t i = 0; i < t->ends.n; i++) {
		const struct stack_end *e = &t->ends.v[i];

		json_object(j, NULL);
		json_str(j, "state", mark_name(e->mark));
		json_str(j, "reason", prof_end_text(e->reason));
		json_str(j, "image", e->image == PROF_NONE ? "" :
			 profile_cstr(t->p, t->p->images.v[e->image].path));
		json_uint(j, "samples", e->samples);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}
