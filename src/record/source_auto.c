// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the source of samples. */
#include "record/source_auto.h"

#include <stdio.h>
#include <unistd.h>

#include "record/kmod/kmod_source.h"
#include "record/timer/program_kind.h"
#include "record/perf/perf_source.h"
#include "record/ptrace/ptrace_source.h"
#include "record/timer/timer_source.h"
#include "tally/kmod.h"

/* Perf has more events and is everywhere; the module steps in where perf has not
 * what was asked for, or may not be used. */
static int choose_kernel(const struct source_target *target,
			 const struct source_options *o,
			 struct source **out, struct error *err)
{
	struct error other = { 0 };
	int r = perf_source_open(target, o, out, err);

	if ((r != -ERR_UNSUPPORTED && r != -ERR_PERM) ||
	    access(TALLY_DEVICE, R_OK | W_OK))
		return r;
	return kmod_source_open(target, o, out, &other) < 0 ? r : 0;
}

/* Sources that need no right of the kernel's. */
static int choose_other(const struct source_target *target,
			const struct source_options *o,
			struct source **out, struct error *err)
{
	struct error other = { 0 };

	if (o->launched && !program_is_dynamic(o->command, &other) &&
	    !timer_source_open(target, o, out, &other))
		return 0;
	return ptrace_source_open(target, o, out, err);
}

/* A service that runs already is stopped seldom, if no rate was asked for. */
enum { ATTACHED_RATE = 100 };

/* Frames of Python and PHP are read at the sample, in the program or while it stands still:
 * read a moment later they would be others. */
static bool choose_python(const struct source_target *target,
			  const struct source_options *o,
			  struct source **out, struct source_choice *why)
{
	struct source_options gently = *o;
	struct error other = { 0 };
	char rate[32] = "";
	int rc;

	if (!o->language || (!o->python && !o->launched))
		return false;
	if (!o->launched && o->default_rate) {
		gently.freq = ATTACHED_RATE;
		snprintf(rate, sizeof(rate), " at %d Hz", ATTACHED_RATE);
	}
	rc = o->launched ? timer_source_open(target, o, out, &other)
			 : ptrace_source_open(target, &gently, out, &other);
	if (rc >= 0)
		snprintf(why->text, sizeof(why->text), "a %s program: "
			 "recording CPU time and stacks by %s%s, for exact "
			 "%s frames", o->language, (*out)->ops->name, rate,
			 o->language);
	else if (!o->launched)
		snprintf(why->text, sizeof(why->text), "a Python program, but "
			 "its frames cannot be read: %s", other.msg);
	return rc >= 0;
}

/* Is nothing but the kernel asked for? */
static bool kernel_alone(const struct source_options *o)
{
	for (size_t i = 0; i < o->events->n; i++)
		if (!o->events->v[i].exclude_user)
			return o->kernel_only;
	return true;
}

static int choose(const struct source_target *target,
		  const struct source_options *o, struct source **out,
		  struct source_choice *why, struct error *err)
{
	struct error other = { 0 };
	int r;

	if (choose_python(target, o, out, why))
		return 0;
	r = choose_kernel(target, o, out, err);
	if (r != -ERR_PERM || kernel_alone(o))
		return r;
	if (choose_other(target, o, out, &other) < 0) {
		struct error first = *err;

		/* What they can never do is no news. */
		if (other.code == ERR_PERM)
			error_set(err, first.code, "%s; nor by ptrace: %s",
				  first.msg, other.msg);
		return r;
	}
	snprintf(why->text, sizeof(why->text), "recording by %s instead: %s",
		 (*out)->ops->name, err->msg);
	return 0;
}

int source_auto(enum record_source which, const struct source_target *target,
		const struct source_options *o, struct source **out,
		struct source_choice *why, struct error *err)
{
	why->text[0] = 0;
	switch (which) {
	case RECORD_SOURCE_PERF:
		return perf_source_open(target, o, out, err);
	case RECORD_SOURCE_KMOD:
		return kmod_source_open(target, o, out, err);
	case RECORD_SOURCE_TIMER:
		return timer_source_open(target, o, out, err);
	case RECORD_SOURCE_PTRACE:
		return ptrace_source_open(target, o, out, err);
	case RECORD_SOURCE_AUTO:
		break;
	}
	return choose(target, o, out, why, err);
}
