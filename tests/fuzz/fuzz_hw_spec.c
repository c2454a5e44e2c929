// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets of K8 and P6 specifiers, one a line: what is accepted must be what the
 * registers can hold. */
#include <stdlib.h>
#include <string.h>

#include "events/hw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 6 };

static void check(const struct hw_program *p)
{
	const struct pmu_model *m = p->pmu->model;
	unsigned int taken = 0;

	if (p->n > m->counters)
		abort();
	for (size_t i = 0; i < p->n; i++) {
		const struct hw_encoded *e = &p->ev[i];
		const struct pmu_event *s = &e->spec.sel;

		if (taken >> e->counter & 1 || !(s->allowed >> e->counter & 1))
			abort();
		taken |= 1u << e->counter;
		if (e->evtsel >> 32 || e->preload >> m->width)
			abort();
		if (s->umask & ~hw_event_bits(e->spec.event) ||
		    s->cmask > m->cmask_max || (s->inv && !s->cmask) ||
		    (!s->usr && !s->os))
			abort();
		if (e->spec.event->rule == HW_MASK_MESI && !s->umask)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hw_event *event;
	struct hw_program p;
	struct error err;
	char *text, *rest, *lines[LINES];
	uint64_t period = 1000;
	size_t n = 0;

	if (size > 4096)
		return 0;
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	rest = text;
	while (rest && n < LINES)
		lines[n++] = strsep(&rest, "\n");
	for (size_t i = 0; i < n; i++) {
		hw_spec_pmu(lines[i], NULL, &event);
		hw_spec_qualifier(lines[i]);
	}
	for (size_t i = 0; hw_pmu_at(i); i++)
		if (hw_encode(hw_pmu_at(i), lines, n, &period, true, &p,
			      &err) == 0)
			check(&p);
	free(text);
	return 0;
}
