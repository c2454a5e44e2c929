/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_HW_SPEC_H
#define TALLY_EVENTS_HW_SPEC_H
/*
 * Specifiers of K8 and P6 events.  All forms work for both families:
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

/* Parses one specifier of this PMU's events.  Errors name the violated rule. */
int hw_spec_parse(const struct hw_pmu *pmu, const char *text,
		  struct hw_spec *out, struct error *err);

/* Returns the PMU of the event that a specifier names: `here` if that has the
 * event, otherwise any PMU, or NULL if none has it.  *event is NULL if only a
 * prefix (k8-, p6:, …) decides. */
const struct hw_pmu *hw_spec_pmu(const char *text, const struct hw_pmu *here,
				 const struct hw_event **event);

/* Returns whether the text (up to a comma or brace) is a qualifier that may
 * follow the name of an event. */
bool hw_spec_qualifier(const char *s);

/* Appends the displayed name of an event: its prefix and its first name. */
void hw_event_name(const struct hw_pmu *pmu, const struct hw_event *e,
		   char *out, size_t size);

#endif
