/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_HW_SPEC_H
#define TALLY_EVENTS_HW_SPEC_H
/*
 * Specifiers of K8 and P6 events, all forms for both:
 *
 *	k8-dc-refill-from-system,mask=modified+owner,usr,os,edge,inv,count=2
 *	L2_LD:M+E,usr    BUS_TRAN_MEM:ANY    p6-l2-ld,mask=mesi
 *	branches,usr     data-cache-misses   k8:0x76:0x00    p6:0x29:0x0f
 */
#include "base/error.h"
#include "events/hw.h"
#include "tally/pmu.h"

enum { HW_SPEC_MAX = 256 };

struct hw_spec {
	char text[HW_SPEC_MAX];		/* as the user wrote it */
	const struct hw_pmu *pmu;
	const struct hw_event *event;
	struct pmu_event sel;		/* without interrupt */
};

/* Parses one specifier of this PMU's events.  Errors name the rule. */
int hw_spec_parse(const struct hw_pmu *pmu, const char *text,
		  struct hw_spec *out, struct error *err);

/* The PMU whose event a specifier names: `here` when that has it, else any;
 * NULL when no PMU has.  *event is NULL when only a prefix (k8-, p6:, …) tells. */
const struct hw_pmu *hw_spec_pmu(const char *text, const struct hw_pmu *here,
				 const struct hw_event **event);

/* Is this (up to a comma or brace) one of the words that may follow an event's
 * name? */
bool hw_spec_qualifier(const char *s);

/* How an event is shown: with its prefix, by its first name. */
void hw_event_name(const struct hw_pmu *pmu, const struct hw_event *e,
		   char *out, size_t size);

#endif
