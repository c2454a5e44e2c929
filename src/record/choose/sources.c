// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists all sources of samples and chooses one. */
#include "record/choose/sources.h"

#include <stdio.h>
#include <string.h>

#include "record/kmod/kmod_source.h"
#include "record/perf/perf_source.h"
#include "record/ptrace/ptrace_source.h"
#include "record/timer/timer_source.h"

/* perf has more events and is available everywhere.  The kernel module stands in
 * where perf lacks the requested event or is not permitted.  The others need no
 * kernel privileges. */
const struct source_type *const source_types[] = {
	&perf_source_type, &kmod_source_type, &timer_source_type,
	&ptrace_source_type, NULL,
};

const struct source_type *source_find(const char *name)
{
	const struct source_type *const *t = source_types;

	while (*t && strcmp((*t)->name, name))
		t++;
	return *t;
}

void source_names(struct buf *out)
{
	buf_str(out, "auto");
	for (const struct source_type *const *t = source_types; *t; t++)
		buf_printf(out, "%s%s", t[1] ? ", " : " or ", (*t)->name);
}

/* Low default rate, because a running service must rarely be stopped. */
enum { ATTACHED_RATE = 100 };

/* Chooses a source for Python, PHP and Ruby.  Their frames must be read at the moment of
 * the sample, in the program or while it is stopped; a moment later they differ. */
static bool choose_interpreted(const struct source_target *target,
			  const struct source_options *o,
			  struct source **out, struct source_choice *why)
{
	const struct source_type *const *t = source_types;
	struct source_options gently = *o;
	struct error other = { 0 };
	char rate[32] = "";

	if (!o->language || (!o->python && !o->launched))
		return false;
	while (*t && !(o->launched ? (*t)->frames_of_launched
				   : (*t)->frames_of_running))
		t++;
	if (!*t)
		return false;
	if (!o->launched && o->default_rate) {
		gently.freq = ATTACHED_RATE;
		snprintf(rate, sizeof(rate), " at %d Hz", ATTACHED_RATE);
	}
	if ((*t)->open(target, &gently, out, &other) >= 0) {
		snprintf(why->text, sizeof(why->text), "a %s program: "
			 "recording CPU time and stacks by %s%s, for exact "
			 "%s frames", o->language, (*out)->ops->name, rate,
			 o->language);
		return true;
	}
	if (!o->launched)
		snprintf(why->text, sizeof(why->text), "a Python program, but "
			 "its frames cannot be read: %s", other.msg);
	return false;
}

/* Returns whether only kernel code is requested. */
static bool kernel_alone(const struct source_options *o)
{
	for (size_t i = 0; i < o->events->n; i++)
		if (!o->events->v[i].exclude_user)
			return o->kernel_only;
	return true;
}

/* Returns whether a source may replace the first one, which failed with `first`. */
static bool may_replace(const struct source_type *t,
			const struct source_options *o, int first)
{
	struct error err = { 0 };

	if (t->sees_kernel ? first != -ERR_UNSUPPORTED && first != -ERR_PERM
			   : first != -ERR_PERM || kernel_alone(o))
		return false;
	return !t->fits || !t->fits(o, &err);
}

static int choose(const struct source_target *target,
		  const struct source_options *o, struct source **out,
		  struct source_choice *why, struct error *err)
{
	const struct source_type *const *t = source_types, *last = NULL;
	struct error other = { 0 }, reason;
	int first = (*t)->open(target, o, out, err);

	while (first < 0 && *++t) {
		if (!may_replace(*t, o, first))
			continue;
		if ((*t)->open(target, o, out, &other) < 0) {
			last = (*t)->sees_kernel ? NULL : *t;
			continue;
		}
		if (!(*t)->sees_kernel)
			snprintf(why->text, sizeof(why->text),
				 "recording by %s instead: %s",
				 (*out)->ops->name, err->msg);
		return 0;
	}
	/* Do not report sources that can never record this target. */
	reason = *err;
	if (first < 0 && last && other.code == ERR_PERM)
		error_set(err, reason.code, "%s; nor by %s: %s", reason.msg,
			  last->name, other.msg);
	return first;
}

int source_open(const struct source_type *which,
		const struct source_target *target,
		const struct source_options *o, struct source **out,
		struct source_choice *why, struct error *err)
{
	why->text[0] = 0;
	if (which)
		return which->open(target, o, out, err);
	if (choose_interpreted(target, o, out, why))
		return 0;
	return choose(target, o, out, why, err);
}
