// SPDX-License-Identifier: GPL-2.0-or-later
/* Expands events to all instances of a unit and all kinds of cores. */
#include "events/units.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "events/pmu.h"

/* Type numbers of the kernel's own kinds of events name their PMU in the upper
 * half of config (PERF_PMU_TYPE_SHIFT, Linux 5.13). */
enum { KIND_SHIFT = 32 };

void pmu_units_fini(struct pmu_units *u)
{
	vec_fini(u);
}

bool pmu_family_name(const char *unit, char *family, size_t size)
{
	const char *end = strrchr(unit, '_');

	if (!end || end == unit || !end[1] ||
	    strspn(end + 1, "0123456789") != strlen(end + 1) ||
	    (size_t)(end - unit) >= size)
		return false;
	memcpy(family, unit, (size_t)(end - unit));
	family[end - unit] = 0;
	return true;
}

struct search {
	const char *sysfs, *family;	/* NULL: kinds of cores */
	struct pmu_units *out;
	bool no_memory;
};

static bool is_wanted(const struct search *s, const char *name)
{
	char family[EVENT_UNIT_MAX];

	if (!s->family)
		return pmu_has_file(s->sysfs, name, "cpus");
	return pmu_family_name(name, family, sizeof(family)) &&
	       !strcmp(family, s->family);
}

static bool add_unit(void *ctx, const struct event_info *info)
{
	struct search *s = ctx;
	struct pmu_unit u = { .type = 0 };

	if (strlen(info->name) >= sizeof(u.name) ||
	    !is_wanted(s, info->name) ||
	    !pmu_type_number(s->sysfs, info->name, &u.type))
		return true;
	snprintf(u.name, sizeof(u.name), "%s", info->name);
	s->no_memory = vec_push(s->out, u) < 0;
	return !s->no_memory && s->out->n < UNITS_MAX;
}

/* By number: _2 before _10. */
static int unit_order(const void *a, const void *b)
{
	const struct pmu_unit *x = a, *y = b;
	size_t nx = strlen(x->name), ny = strlen(y->name);

	return nx != ny ? (nx > ny) - (nx < ny) : strcmp(x->name, y->name);
}

static int find_units(struct search *s)
{
	s->out->n = 0;
	pmu_names_each(s->sysfs, add_unit, s);
	return s->no_memory ? -ERR_NOMEM : 0;
}

int pmu_units_of(const char *sysfs, const char *family, struct pmu_units *out)
{
	struct search s = { sysfs, family, out, false };
	int r = find_units(&s);

	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), unit_order);
	return r;
}

int pmu_core_kinds(const char *sysfs, struct pmu_units *out)
{
	struct search s = { sysfs, NULL, out, false };
	int r = find_units(&s);

	if (out->n < 2)
		out->n = 0;
	return r;
}

bool pmu_kind_has(const char *sysfs, const struct pmu_unit *kind, uint32_t cpu)
{
	return pmu_lists_cpu(sysfs, kind->name, "cpus", cpu);
}

bool event_is_of_cores(const struct event_spec *s)
{
	return s->type == PERF_TYPE_RAW ||
	       ((s->type == PERF_TYPE_HARDWARE ||
		 s->type == PERF_TYPE_HW_CACHE) && !(s->config >> KIND_SHIFT));
}

void event_on_unit(const struct event_spec *s, const struct pmu_unit *u,
		   uint32_t *type, uint64_t *config)
{
	*type = s->type;
	*config = s->config;
	if (s->type == PERF_TYPE_HARDWARE || s->type == PERF_TYPE_HW_CACHE)
		*config |= (uint64_t)u->type << KIND_SHIFT;
	else
		*type = u->type;
}
