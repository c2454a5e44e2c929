// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses lists of events: names, modifiers, groups, raw codes. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "events/events.h"

#include <linux/perf_event.h>
#ifdef HAVE_LIBPFM
#include <perfmon/pfmlib_perf_event.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/vec.h"
#include "events/hw.h"
#include "events/pmu.h"

/* Converts K8 and P6 specifiers to perf events on a machine of that family. */

/* Returns whether a word names such an event, so that qualifiers may follow. */
static bool hw_event_is(const char *word, const char *sysfs)
{
	const struct hw_event *event;
	struct event_spec e;

	return !event_name_find(word, strcspn(word, ":,"), &e) &&
	       hw_spec_pmu(word, hw_pmu_here(sysfs), &event);
}

static int elsewhere(const char *word, const struct hw_pmu *pmu,
		     const struct hw_event *event, struct error *err)
{
	if (event->generic)
		return error_set(err, ERR_USAGE, "\"%s\" is an event of %s, not "
				 "of this processor; the nearest event of the "
				 "kernel is %s", word, pmu->summary,
				 event->generic);
	return error_set(err, ERR_USAGE, "\"%s\" is an event of %s, not of this "
			 "processor, and the kernel has no similar event (\"tally "
			 "list\" shows the events of this machine)", word,
			 pmu->summary);
}

/*
 * Parses a specifier of events/hw.h.  Returns 1 if this machine belongs to its
 * family, 0 if it names no such event, or an error.  On another machine, the error
 * names the kernel's nearest event.
 */
static int hw_event_parse(const char *word, const char *sysfs,
			  struct event_spec *e, struct error *err)
{
	const struct hw_pmu *here = hw_pmu_here(sysfs);
	const struct hw_event *event;
	const struct hw_pmu *pmu = hw_spec_pmu(word, here, &event);
	struct hw_spec spec;
	int r;

	if (!pmu)
		return 0;
	if (event && pmu != here)
		return elsewhere(word, pmu, event, err);
	r = hw_spec_parse(pmu, word, &spec, err);
	if (r < 0)
		return r;
	e->type = PERF_TYPE_RAW;
	e->config = pmu_event_config(&spec.sel);
	e->exclude_user = !spec.sel.usr;
	e->exclude_kernel = !spec.sel.os;
	e->exclude_hv = !spec.sel.os;
	e->exclude_guest = true;
	e->shared = hw_event_shared(pmu, spec.event);
	return 1;
}

/* The likely meaning of a misspelled word. */
struct hint {
	struct nearest near;
	char best[64];		/* copied, because names exist only while they are
				 * listed */
};

static void hint_try(struct hint *h, const char *name)
{
	nearest_try(&h->near, name);
	if (h->near.best != name)
		return;
	snprintf(h->best, sizeof(h->best), "%s", name);
	h->near.best = h->best;
}

static bool hint_cb(void *ctx, const struct event_info *info)
{
	hint_try(ctx, info->name);
	if (*info->alias)
		hint_try(ctx, info->alias);
	return true;
}

static int unknown_event(const char *word, const char *sysfs,
			 struct error *err)
{
	struct hint h = { .near = nearest_to(word) };
	const char *best;

	event_names_each(hint_cb, &h);
	pmu_each(sysfs, hint_cb, &h);
	best = nearest_best(&h.near);
	if (best)
		return error_set(err, ERR_USAGE,
				 "unknown event \"%s\"; did you mean %s?", word,
				 best);
	if (strchr(word, ':') && !tracepoints_readable(sysfs))
		return error_set(err, ERR_USAGE, "unknown event \"%s\"; "
				 "tracepoints cannot be read here: %s/kernel/"
				 "tracing is not mounted (\"mount -t tracefs "
				 "tracefs %s/kernel/tracing\") or not readable for "
				 "this user (see \"tally doctor\")", word, sysfs,
				 sysfs);
	return error_set(err, ERR_USAGE, "unknown event \"%s\"; \"tally list\" "
			 "shows the events of this machine", word);
}

static int unknown_pmu(const char *pmu, const char *sysfs, struct error *err)
{
	struct hint h = { .near = nearest_to(pmu) };
	const char *best;

	pmu_names_each(sysfs, hint_cb, &h);
	best = nearest_best(&h.near);
	return error_set(err, ERR_USAGE, "no PMU \"%s\" on this machine%s%s%s",
			 pmu, best ? "; did you mean " : "", best ? best : "",
			 best ? "?" : "");
}

/*
 * Parses modifiers as perf-list(1) defines them.  Naming one of u, k, h excludes the
 * others; G and H choose guest and host.  Guests are excluded by default.
 */
static int modifiers_parse(const char *s, struct event_spec *e,
			   struct error *err)
{
	bool u = false, k = false, h = false, g = false, host = false;
	unsigned int p = 0;

	for (const char *c = s; *c; c++) {
		switch (*c) {
		case 'u': u = true; break;
		case 'k': k = true; break;
		case 'h': h = true; break;
		case 'G': g = true; break;
		case 'H': host = true; break;
		case 'p': p++; break;
		case 'P': e->max_precise = true; break;
		case 'D': e->pinned = true; break;
		default:
			return error_set(err, ERR_USAGE,
					 "event \"%s\": unknown modifier '%c' "
					 "(known: u k h G H p P D)", e->text,
					 *c);
		}
	}
	if (p > 3)
		return error_set(err, ERR_USAGE,
				 "event \"%s\": at most three p (:ppp)",
				 e->text);
	e->precise = (uint8_t)p;
	if (u || k || h) {
		e->exclude_user = !u;
		e->exclude_kernel = !k;
		e->exclude_hv = !h;
	}
	e->exclude_guest = !g;
	e->exclude_host = g && !host;
	return 0;
}

static bool all_modifiers(const char *s)
{
	return strspn(s, "ukhGHpPD") == strlen(s);
}

static bool raw_parse(const char *s, size_t n, struct event_spec *e)
{
	if (n < 2 || n > 17 || s[0] != 'r' ||
	    strspn(s + 1, "0123456789abcdefABCDEF") < n - 1)
		return false;
	e->type = PERF_TYPE_RAW;
	e->config = strtoull(s + 1, NULL, 16);
	return true;
}

/* Parses an event of all units of a kind, by the first of them. */
static int family_parse(const char *family, const char *terms, size_t n,
			const char *sysfs, struct event_spec *e,
			struct error *err)
{
	struct pmu_units units = { 0 };
	int r = -ERR_NOTFOUND;

	if (strlen(family) < sizeof(e->family) &&
	    !pmu_units_of(sysfs, family, &units) && units.n) {
		r = pmu_parse(sysfs, units.v[0].name, terms, n, e, err);
		snprintf(e->family, sizeof(e->family), "%s", family);
	}
	pmu_units_fini(&units);
	return r;
}

/* Parses pmu/terms/modifiers; `first` is its first slash. */
static int slash_parse(const char *word, const char *first, const char *sysfs,
		       struct event_spec *e, struct error *err)
{
	const char *last = strrchr(word, '/');
	char pmu[EVENT_NAME_MAX], mods[EVENT_NAME_MAX];
	int r;

	if (last == first)
		return error_set(err, ERR_USAGE,
				 "event \"%s\": the second / is missing", word);
	snprintf(pmu, sizeof(pmu), "%.*s", (int)(first - word), word);
	snprintf(mods, sizeof(mods), "%s",
		 last[1] == ':' ? last + 2 : last + 1);
	r = pmu_parse(sysfs, pmu, first + 1, (size_t)(last - first - 1), e,
		      err);
	if (r == -ERR_NOTFOUND)
		r = family_parse(pmu, first + 1, (size_t)(last - first - 1),
				 sysfs, e, err);
	if (r == -ERR_NOTFOUND)
		return unknown_pmu(pmu, sysfs, err);
	return r < 0 ? r : modifiers_parse(mods, e, err);
}

/* Parses system:name or system:name:modifiers.  Returns 0 if the word is neither. */
static int tracepoint_parse(const char *word, const char *colon,
			    const char *sysfs, struct event_spec *e,
			    struct error *err)
{
	const char *second = strchr(colon + 1, ':');
	char system[EVENT_NAME_MAX], name[EVENT_NAME_MAX];
	int r;

	snprintf(system, sizeof(system), "%.*s", (int)(colon - word), word);
	snprintf(name, sizeof(name), "%.*s",
		 second ? (int)(second - colon - 1) : (int)strlen(colon + 1),
		 colon + 1);
	r = tracepoint_find(sysfs, system, name, e, err);
	if (r <= 0)
		return r;
	r = modifiers_parse(second ? second + 1 : "", e, err);
	return r < 0 ? r : 1;
}

/* Returns 1 if libpfm4 has the event on this machine, 0 if not (or without
 * libpfm4), and an error if the name is known but not what follows it. */
#ifdef HAVE_LIBPFM
static int pfm_event_parse(const char *word, struct event_spec *e,
			   struct error *err)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	int r;

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	arg.attr = &attr;
	arg.size = sizeof(arg);
	if (pfm_initialize() != PFM_SUCCESS)
		return 0;
	r = pfm_get_os_event_encoding(word, PFM_PLM0 | PFM_PLM3,
				      PFM_OS_PERF_EVENT_EXT, &arg);
	switch (r) {
	case PFM_SUCCESS:
		break;
	case PFM_ERR_ATTR:
	case PFM_ERR_ATTR_VAL:
	case PFM_ERR_ATTR_SET:
	case PFM_ERR_UMASK:
	case PFM_ERR_FEATCOMB:
		return error_set(err, ERR_USAGE, "event \"%s\": %s (libpfm4)",
				 word, pfm_strerror(r));
	case PFM_ERR_NOMEM:
		return error_set(err, ERR_NOMEM, "out of memory for events");
	default:
		return 0;
	}
	e->type = attr.type;
	e->config = attr.config;
	e->config1 = attr.config1;
	e->config2 = attr.config2;
	e->exclude_user = attr.exclude_user;
	e->exclude_kernel = attr.exclude_kernel;
	e->exclude_hv = attr.exclude_hv;
	e->exclude_host = attr.exclude_host;
	e->exclude_guest = !attr.exclude_host;
	e->precise = attr.precise_ip & 3;
	return 1;
}
#endif

static int word_parse(const char *word, const char *sysfs,
		      struct event_spec *e, struct error *err)
{
	const char *slash = strchr(word, '/'), *colon = strchr(word, ':');
	size_t n = colon ? (size_t)(colon - word) : strlen(word);
	char name[EVENT_NAME_MAX];
	int r;

	memset(e, 0, sizeof(*e));
	snprintf(e->text, sizeof(e->text), "%s", word);
	if (slash && (!colon || slash < colon))
		return slash_parse(word, slash, sysfs, e, err);
	if (event_name_find(word, n, e) || raw_parse(word, n, e))
		return modifiers_parse(colon ? colon + 1 : "", e, err);
	snprintf(name, sizeof(name), "%.*s", (int)n, word);
	r = pmu_event_find(sysfs, name, e, err);
	if (r > 0)
		return modifiers_parse(colon ? colon + 1 : "", e, err);
	if (!r)
		r = hw_event_parse(word, sysfs, e, err);
	if (!r && colon)
		r = tracepoint_parse(word, colon, sysfs, e, err);
#ifdef HAVE_LIBPFM
	if (!r)
		r = pfm_event_parse(word, e, err);
#endif
	if (r)
		return r < 0 ? r : 0;
	return unknown_event(colon && !all_modifiers(colon + 1) ? word : name,
			     sysfs, err);
}

/* Returns the end of the first event of a list: a comma outside of pmu/…/. */
static const char *word_end(const char *s)
{
	bool inside = false;

	for (; *s && (inside || *s != ','); s++)
		if (*s == '/')
			inside = !inside;
	return s;
}

/* Returns the end of the first event including the qualifiers of a K8 or P6 event,
 * which also follow commas. */
static const char *event_end(const char *s, const char *sysfs)
{
	const char *end = word_end(s);

	s += strspn(s, " ");
	if (*end && hw_spec_qualifier(end + 1) && hw_event_is(s, sysfs))
		while (*end && hw_spec_qualifier(end + 1))
			end = word_end(end + 1);
	return end;
}

/*
 * Parses an opening brace before events of a group.  *group is the number of the
 * open group, or 0.
 */
static int brace_open(const char **text, const struct event_list *l,
		      uint32_t *group, struct error *err)
{
	*text += strspn(*text, " ");
	if (**text != '{')
		return 0;
	if (*group)
		return error_set(err, ERR_USAGE, "event groups { } cannot be "
				 "inside of each other");
	(*text)++;
	*group = 1;
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].group >= *group)
			*group = l->v[i].group + 1;
	return 0;
}

struct wild {
	const struct event_spec *like;	/* event with the modifiers */
	uint32_t group;
	struct event_list *out;
};

static int wild_cb(void *ctx, const char *name, uint64_t id)
{
	struct wild *w = ctx;
	struct event_spec e = *w->like;

	e.type = PERF_TYPE_TRACEPOINT;
	e.config = id;
	e.group = w->group;
	snprintf(e.text, sizeof(e.text), "%s", name);
	return vec_push(w->out, e) < 0 ? -ERR_NOMEM : 0;
}

/*
 * Adds all tracepoints that match system:pattern or system:pattern:modifiers with *
 * or ? in the names.  Returns 0 if the word has no such form.
 */
static int wild_parse(const char *word, const char *sysfs, uint32_t group,
		      struct event_list *out, struct error *err)
{
	const char *colon = strchr(word, ':'), *second;
	struct event_spec like = { 0 };
	struct wild w = { &like, group, out };
	char names[EVENT_NAME_MAX];
	size_t before = out->n;
	int r;

	if (!colon || strchr(word, '/') || !strpbrk(word, "*?"))
		return 0;
	second = strchr(colon + 1, ':');
	snprintf(names, sizeof(names), "%.*s",
		 second ? (int)(second - word) : (int)strlen(word), word);
	snprintf(like.text, sizeof(like.text), "%s", word);
	r = modifiers_parse(second ? second + 1 : "", &like, err);
	if (!r)
		r = tracepoints_match(sysfs, names, wild_cb, &w, err);
	if (r < 0)
		return r;
	if (out->n == before && !tracepoints_readable(sysfs))
		return unknown_event(word, sysfs, err);
	if (out->n == before)
		return error_set(err, ERR_USAGE, "no tracepoint is called "
				 "\"%s\"; they are below %s/kernel/tracing/"
				 "events", names, sysfs);
	if (out->n - before > EVENTS_OF_PATTERN)
		return error_set(err, ERR_USAGE, "\"%s\" matches %zu tracepoints, "
				 "but at most %d can be used at once, because "
				 "each needs a file for each processor and thread: "
				 "use a more specific name", names, out->n - before,
				 EVENTS_OF_PATTERN);
	return 1;
}

/* Parses one event of a list, n bytes.  Removes blanks, and the group's closing
 * brace, which sets *group to 0. */
static int item_parse(const char *text, size_t n, const char *sysfs,
		      uint32_t *group, struct event_list *out,
		      struct error *err)
{
	char word[EVENT_NAME_MAX];
	struct event_spec e;
	bool closed;
	int r;

	while (n && *text == ' ')
		text++, n--;
	while (n && text[n - 1] == ' ')
		n--;
	if (*group && n && text[n - 1] != '}' && memchr(text, '}', n))
		return error_set(err, ERR_USAGE, "\"%.*s\": write modifiers after "
				 "the events in a group, not after the group "
				 "({cycles:u,instructions:u}); omit :S, all events "
				 "of a group are sampled",
				 n < EVENT_NAME_MAX ? (int)n : EVENT_NAME_MAX,
				 text);
	closed = *group && n && text[n - 1] == '}';
	n -= closed;
	if (!n)
		return error_set(err, ERR_USAGE, "an event name is empty");
	if (n >= sizeof(word))
		return error_set(err, ERR_USAGE, "event \"%.20s…\" is longer "
				 "than %d characters", text,
				 EVENT_NAME_MAX - 1);
	memcpy(word, text, n);
	word[n] = 0;
	r = wild_parse(word, sysfs, *group, out, err);
	if (!r)
		r = word_parse(word, sysfs, &e, err);
	if (r < 0)
		return r;
	e.group = *group;
	if (closed)
		*group = 0;
	if (!r && vec_push(out, e) < 0)
		return error_set(err, ERR_NOMEM, "out of memory for events");
	return 0;
}

int events_parse(const char *text, const char *sysfs, struct event_list *out,
		 struct error *err)
{
	const char *whole = text, *end;
	size_t before = out->n;
	uint32_t group = 0;
	int r;

	for (;; text = end + 1) {
		r = brace_open(&text, out, &group, err);
		if (r < 0)
			break;
		end = event_end(text, sysfs);
		r = item_parse(text, (size_t)(end - text), sysfs, &group, out,
			       err);
		if (r < 0 || !*end)
			break;
	}
	if (!r && group)
		r = error_set(err, ERR_USAGE, "\"%s\": the group's } is "
			      "missing", whole);
	if (r < 0)
		out->n = before;
	return r;
}

bool event_is_cycles(const struct event_spec *e)
{
	return e->type == PERF_TYPE_HARDWARE &&
	       e->config == PERF_COUNT_HW_CPU_CYCLES;
}

bool event_pin_control(const struct event_spec *e)
{
#if defined(__x86_64__) || defined(__i386__)
	return e->type == PERF_TYPE_RAW && e->config & PMU_SEL_PC;
#else
	(void)e;
	return false;
#endif
}

bool event_is_tracepoint(const struct event_spec *e)
{
	return e->type == PERF_TYPE_TRACEPOINT;
}

const char *event_mode(const struct event_spec *e)
{
	if (e->exclude_kernel == e->exclude_user)
		return "";
	return e->exclude_kernel ? ":u" : ":k";
}

void event_list_fini(struct event_list *l)
{
	vec_fini(l);
}

void events_each(const char *sysfs, event_info_cb *cb, void *ctx)
{
	if (event_names_each(cb, ctx))
		pmu_each(sysfs, cb, ctx);
}
