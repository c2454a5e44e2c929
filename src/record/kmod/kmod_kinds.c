// SPDX-License-Identifier: GPL-2.0-or-later
/* Spreads events over the kinds of cores for the kernel module. */
#include "record/kmod/kmod_kinds.h"

#include <stdlib.h>
#include <string.h>

int kmod_kinds_read(const char *sysfs, uint32_t ncpus, struct pmu_units *kinds,
		    uint8_t **of)
{
	*of = NULL;
	if (pmu_core_kinds(sysfs, kinds) < 0)
		return -ERR_NOMEM;
	if (!kinds->n)
		return 0;
	*of = malloc(ncpus ? ncpus : 1);
	if (!*of)
		return -ERR_NOMEM;
	memset(*of, TALLY_KIND_UNKNOWN, ncpus);
	/* CPUs that are offline are of no kind yet. */
	for (size_t k = 0; k < kinds->n && k < TALLY_KINDS_MAX; k++)
		for (uint32_t c = 0; c < ncpus; c++)
			if (pmu_kind_has(sysfs, &kinds->v[k], c))
				(*of)[c] = (uint8_t)k;
	return 0;
}

static int check_module(const struct tally_info *info,
			const struct pmu_units *kinds, const char *text,
			struct error *err)
{
	if (info->abi_minor < 7)
		return error_set(err, ERR_UNSUPPORTED, "event %s: this processor "
				 "has several kinds of cores, and the loaded kernel "
				 "module is too old to sample all of them: load "
				 "the one that belongs to this tally, or use "
				 "\"--source=perf\"", text);
	if (kinds->n > TALLY_KINDS_MAX)
		return error_set(err, ERR_UNSUPPORTED, "event %s: this processor "
				 "has %zu kinds of cores, and the kernel module "
				 "samples at most %d; \"--source=perf\" samples "
				 "all", text, kinds->n, TALLY_KINDS_MAX);
	return 0;
}

int kmod_kinds_fill(const struct tally_info *info, const struct pmu_units *kinds,
		    const struct event_spec *s, size_t i,
		    struct tally_setup *setup, struct error *err)
{
	const struct pmu_unit *own = event_own_kind(s, kinds);
	int r;

	if (!kinds->n || (!own && !event_is_of_cores(s)))
		return 0;
	r = check_module(info, kinds, s->text, err);
	if (r < 0)
		return r;
	for (size_t k = 0; k < kinds->n; k++) {
		struct tally_perf_event *e = &setup->kinds[k][i];
		uint32_t type = setup->perf[i].type;
		uint64_t config = setup->perf[i].config;

		if (own && own != &kinds->v[k]) {
			*e = (struct tally_perf_event){ .type = TALLY_PERF_NONE };
			continue;
		}
		if (!own)
			event_on_unit(s, &kinds->v[k], &type, &config);
		*e = setup->perf[i];
		e->type = type;
		e->config = config;
	}
	memset(&setup->perf[i], 0, sizeof(setup->perf[i]));
	setup->events[i].flags |= TALLY_EVENT_KINDS;
	setup->nkinds = (uint32_t)kinds->n;
	return 0;
}

unsigned int kmod_kinds_counters(const struct tally_setup *setup, size_t i)
{
	unsigned int n = 0;

	if (!(setup->events[i].flags & TALLY_EVENT_KINDS))
		return 1;
	for (size_t k = 0; k < setup->nkinds; k++)
		n += setup->kinds[k][i].type != TALLY_PERF_NONE;
	return n;
}
