/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_HW_H
#define TALLY_EVENTS_HW_H
/*
 * The events of two processor families, according to these documents:
 *
 *	BKDG	AMD, BIOS and Kernel Developer's Guide for the AMD Athlon 64 and
 *		AMD Opteron Processors (26094), chapter 10
 *	pmc.k8	FreeBSD, pmc.k8(3), October 4, 2008
 *	EN	the P6 event list in English (VTune's, names with PP_)
 *	ZH	the P6 event list in Chinese, table 6-2
 *	SDM	Intel SDM 3B §18.22, PerfEvtSel of the P6 family
 *
 * The tables are constant.  Where the documents disagree, the row states the
 * decision and names both.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "tally/pmu.h"

enum { HW_BKDG = 1, HW_PMC_K8 = 2, HW_P6_EN = 4, HW_P6_ZH = 8 };

/* Whether instructions that are discarded after a mispredicted branch count. */
enum hw_when { HW_UNSAID, HW_SPECULATIVE, HW_RETIRED };

enum hw_mask_rule {
	HW_MASK_BITS,		/* any of the bits, or none */
	HW_MASK_MESI,		/* 0 counts nothing (EN note 1, ZH note 1) */
	HW_MASK_PATHS,		/* BKDG, event E9h: sums of its table */
};

struct hw_mask {
	uint8_t bits;
	const char *names;	/* separated by spaces; the first is shown */
	const char *what;
};

struct hw_event {
	uint16_t code;		/* 12 bits at most */
	uint8_t sources;	/* HW_BKDG | … */
	uint8_t when;		/* enum hw_when */
	const char *names;	/* without prefix; the first is shown */
	const char *title;	/* heading in the vendor's document */
	const char *generic;	/* nearest event of the kernel, or NULL */
	const char *what, *note, *revision;	/* may be NULL, except `what` */
	uint8_t default_mask;
	uint8_t counters;	/* bit i: may use counter i; 0: all */
	uint8_t rule;		/* enum hw_mask_rule */
	uint8_t nmasks;
	const struct hw_mask *masks;
};

/* Event names that FreeBSD defines for every PMU. */
struct hw_alias {
	const char *name, *event;
};

enum { HW_COUNTERS_MAX = 4, HW_CODE_MAX = 0xfff, HW_GENERIC = 7 };

struct pmu_model;

struct hw_pmu {
	const char *name;		/* "k8", "p6" */
	const char *prefix;		/* prefix of displayed names: "k8-" or "" */
	const char *doc_prefix;		/* prefix of names in documents: "PP_" or
					 * "" */
	/* Accepted prefixes, separated by spaces: "p6- pp-". */
	const char *prefixes;
	const char *summary;
	const struct pmu_model *model;	/* its registers */
	const struct hw_event *events;	/* ends with names == NULL */
	const struct hw_alias *aliases;	/* ends with name == NULL */
	uint32_t abi_id;		/* number in the kernel module's interface:
					 * TALLY_PMU_* */
	/* The kernel's generic events as event | mask << 8, by PERF_COUNT_HW_*,
	 * from the kernel's tables; 0: none. */
	uint16_t generic[HW_GENERIC];
};

/* A document that describes events, with its bit in hw_event.sources. */
struct hw_document {
	uint8_t bit;
	const char *title;
};

enum { HW_DOCUMENTS = 4 };
extern const struct hw_document hw_documents[HW_DOCUMENTS];

extern const struct hw_pmu hw_k8, hw_p6;

extern const struct hw_event hw_k8_events[], hw_p6_events[];

/* Returns the PMU "k8" or "p6", ignoring case; NULL otherwise. */
const struct hw_pmu *hw_pmu_find(const char *name);
/* Returns the PMU with this number in the kernel module's interface, or NULL. */
const struct hw_pmu *hw_pmu_of_abi(uint32_t id);
/* Returns the i-th known PMU, NULL after the last. */
const struct hw_pmu *hw_pmu_at(size_t i);
/* Returns the PMU of this machine by the family in
 * SYSFS/devices/system/cpu/modalias, or NULL. */
const struct hw_pmu *hw_pmu_here(const char *sysfs);

const struct hw_event *hw_event_code(const struct hw_pmu *pmu, uint32_t code);
/* Finds an event by any of its names, with or without the PMU's prefix,
 * ignoring case and '-' versus '_'; `s` has n bytes.  NULL if there is none. */
const struct hw_event *hw_event_find(const struct hw_pmu *pmu, const char *s,
				     size_t n);
/* Returns the counters an event may use, one bit each. */
uint8_t hw_event_counters(const struct hw_pmu *pmu, const struct hw_event *e);
/* Returns the valid bits of its mask. */
uint8_t hw_event_bits(const struct hw_event *e);
/* Returns whether it counts in the northbridge, which the cores of a node
 * share. */
bool hw_event_shared(const struct hw_pmu *pmu, const struct hw_event *e);
/* Returns whether BKDG allows `mask` for event E9h. */
bool hw_paths_legal(uint8_t mask);

/* Returns whether s (n bytes) is one of the names in `names`, ignoring case and
 * '-' versus '_'. */
bool hw_names_have(const char *names, const char *s, size_t n);
/* Copies the i-th of `names` to out; false after the last. */
bool hw_names_at(const char *names, size_t i, char *out, size_t size);

/*
 * hw_spec.c: specifiers of K8 and P6 events.  All forms work for both families:
 *
 *	k8-dc-refill-from-system,mask=modified+owner,usr,os,edge,inv,count=2
 *	L2_LD:M+E,usr    BUS_TRAN_MEM:ANY    p6-l2-ld,mask=mesi
 *	branches,usr     data-cache-misses   k8:0x76:0x00    p6:0x29:0x0f
 */
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

/* --- encode.c: computes register values for a set of K8 or P6 events. */

struct hw_encoded {
	struct hw_spec spec;
	uint8_t counter;
	uint64_t evtsel, preload;
	uint32_t msr_evtsel, msr_counter;
};

struct hw_program {
	const struct hw_pmu *pmu;
	struct hw_encoded ev[HW_COUNTERS_MAX];
	size_t n;
	/* P6: contents of PerfEvtSel0, which are needed even if counter 0 is not
	 * used. */
	uint64_t evtsel0;
	/* K8: counters that other cores of the node must not use at the same time. */
	uint8_t northbridge;
};

/* Encodes a set of events.  `period` NULL: count from 0 instead of sampling.  If
 * the set is refused, *out is empty. */
int hw_encode(const struct hw_pmu *pmu, char *const *specs, size_t n,
	      const uint64_t *period, bool interrupt, struct hw_program *out,
	      struct error *err);

/* Assigns to each of n events one of its allowed counters, bit i for counter i;
 * `text` names the events in the error if that is impossible. */
int hw_assign(const struct hw_pmu *pmu, const char *const *text,
	      const uint8_t *allowed, size_t n, uint8_t *counter,
	      struct error *err);
/* Returns whether a counter can overflow after this many events. */
int hw_period_check(const struct hw_pmu *pmu, uint64_t period,
		    struct error *err);

#endif
