// SPDX-License-Identifier: GPL-2.0-or-later
/* Assigns K8 and P6 events to counters and encodes their registers. */
#include "events/hw.h"

#include <string.h>

/* Names the first two events that conflict because both may use only the same
 * counter. */
static int explain(const char *const *text, const uint8_t *allowed, size_t n,
		   struct error *err)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++) {
			uint8_t a = allowed[i];

			if (a != allowed[j] || a & (a - 1))
				continue;
			return error_set(err, ERR_USAGE, "\"%s\" and \"%s\" "
					 "both count on counter %d only: "
					 "measure them one after the other",
					 text[i], text[j], __builtin_ctz(a));
		}
	return error_set(err, ERR_USAGE, "these events cannot be counted at "
			 "once on the counters that they may use");
}

int hw_assign(const struct hw_pmu *pmu, const char *const *text,
	      const uint8_t *allowed, size_t n, uint8_t *counter,
	      struct error *err)
{
	if (n > pmu->model->counters)
		return error_set(err, ERR_USAGE, "%zu events, but %s has %d "
				 "counters", n, pmu->name,
				 pmu->model->counters);
	if (!pmu_assign(pmu->model, allowed, (unsigned int)n, counter))
		return explain(text, allowed, n, err);
	return 0;
}

static int assign(struct hw_program *p, struct error *err)
{
	uint8_t allowed[HW_COUNTERS_MAX], counter[HW_COUNTERS_MAX];
	const char *text[HW_COUNTERS_MAX];
	int r;

	for (size_t i = 0; i < p->n; i++) {
		allowed[i] = p->ev[i].spec.sel.allowed;
		text[i] = p->ev[i].spec.text;
	}
	r = hw_assign(p->pmu, text, allowed, p->n, counter, err);
	for (size_t i = 0; !r && i < p->n; i++)
		p->ev[i].counter = counter[i];
	return r;
}

int hw_period_check(const struct hw_pmu *pmu, uint64_t period,
		    struct error *err)
{
	if (pmu_period_fits(pmu->model, period))
		return 0;
	if (!period)
		return error_set(err, ERR_USAGE, "a period is at least 1");
	if (pmu->model->shared_enable)
		return error_set(err, ERR_USAGE, "period %llu is beyond the "
				 "counter: at most 2^31 on %s, where writing "
				 "takes 32 bits and repeats bit 31",
				 (unsigned long long)period, pmu->name);
	return error_set(err, ERR_USAGE, "period %llu is beyond the counter: "
			 "at most 2^47 on %s, whose overflow shows in bit 47",
			 (unsigned long long)period, pmu->name);
}

static void fill(struct hw_program *p, struct hw_encoded *e,
		 const uint64_t *period)
{
	const struct pmu_model *m = p->pmu->model;

	e->evtsel = pmu_event_select(m, &e->spec.sel, e->counter);
	e->preload = period ? pmu_preload(m, *period) : 0;
	e->msr_evtsel = pmu_msr_evtsel(m, e->counter);
	e->msr_counter = pmu_msr_counter(m, e->counter);
	if (m->shared_enable && !e->counter)
		p->evtsel0 = e->evtsel;
	if (hw_event_shared(p->pmu, e->spec.event))
		p->northbridge |= (uint8_t)(1u << e->counter);
}

int hw_encode(const struct hw_pmu *pmu, char *const *specs, size_t n,
	      const uint64_t *period, bool interrupt, struct hw_program *out,
	      struct error *err)
{
	int r = 0;

	memset(out, 0, sizeof(*out));
	out->pmu = pmu;
	if (period && (r = hw_period_check(pmu, *period, err)) < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct hw_spec spec;

		r = hw_spec_parse(pmu, specs[i], &spec, err);
		if (r < 0)
			return r;
		spec.sel.interrupt = interrupt;
		if (i < pmu->model->counters)
			out->ev[i].spec = spec;
	}
	if (n > pmu->model->counters)
		return error_set(err, ERR_USAGE, "%zu events, but %s has %d "
				 "counters", n, pmu->name,
				 pmu->model->counters);
	out->n = n;
	r = assign(out, err);
	if (r < 0)
		return r;
	if (pmu->model->shared_enable)
		out->evtsel0 = PMU_SEL_EN;
	for (size_t i = 0; i < n; i++)
		fill(out, &out->ev[i], period);
	return 0;
}
