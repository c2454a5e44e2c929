// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds events and masks in the tables of the processor families. */
#include "events/hw.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tally/kmod.h"
#include "tally/pmu.h"

/* pmc.k8, "Event Name Aliases".  The alias `interrupts` names an event that its
 * own list spells differently; hw_event_find() knows both. */
static const struct hw_alias k8_aliases[] = {
	{ "branches", "fr-retired-taken-branches" },
	{ "branch-mispredicts", "fr-retired-taken-branches-mispredicted" },
	{ "dc-misses", "dc-miss" },
	{ "ic-misses", "ic-miss" },
	{ "instructions", "fr-retired-x86-instructions" },
	{ "interrupts", "fr-taken-hardware-interrupts" },
	{ "unhalted-cycles", "bu-cpu-clk-unhalted" },
	{ NULL, NULL },
};

/* The same aliases for P6, as FreeBSD's pmc.p6(3) maps them. */
static const struct hw_alias p6_aliases[] = {
	{ "branches", "BR_INST_RETIRED" },
	{ "branch-mispredicts", "BR_MISS_PRED_RETIRED" },
	{ "dc-misses", "DCU_LINES_IN" },
	{ "ic-misses", "IFU_IFETCH_MISS" },
	{ "instructions", "INST_RETIRED" },
	{ "interrupts", "HW_INT_RX" },
	{ "unhalted-cycles", "CPU_CLK_UNHALTED" },
	{ NULL, NULL },
};

const struct hw_document hw_documents[HW_DOCUMENTS] = {
	{ HW_BKDG, "AMD BKDG 26094, chapter 10" },
	{ HW_PMC_K8, "FreeBSD pmc.k8(3)" },
	{ HW_P6_EN, "P6 event list (English, PP_ names)" },
	{ HW_P6_ZH, "P6 event list (Chinese, table 6-2)" },
};

/* The generic events are those of arch/x86/events/amd/core.c. */
const struct hw_pmu hw_k8 = {
	.name = "k8",
	.prefix = "k8-",
	.doc_prefix = "",
	.prefixes = "k8-",
	.summary = "AMD Athlon 64 and Opteron (K8, family 15)",
	.model = &pmu_models[PMU_K8],
	.events = hw_k8_events,
	.aliases = k8_aliases,
	.abi_id = TALLY_PMU_K8,
	.generic = {
		[PERF_COUNT_HW_CPU_CYCLES] = 0x0076,
		[PERF_COUNT_HW_INSTRUCTIONS] = 0x00c0,
		[PERF_COUNT_HW_CACHE_REFERENCES] = 0x077d,
		[PERF_COUNT_HW_CACHE_MISSES] = 0x077e,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x00c2,
		[PERF_COUNT_HW_BRANCH_MISSES] = 0x00c3,
	},
};

/* The generic events are those of arch/x86/events/intel/p6.c. */
const struct hw_pmu hw_p6 = {
	.name = "p6",
	.prefix = "",
	.doc_prefix = "PP_",
	.prefixes = "p6- pp-",
	.summary = "Intel P6 (Pentium Pro to Pentium M, family 6)",
	.model = &pmu_models[PMU_P6],
	.events = hw_p6_events,
	.aliases = p6_aliases,
	.abi_id = TALLY_PMU_P6,
	.generic = {
		[PERF_COUNT_HW_CPU_CYCLES] = 0x0079,
		[PERF_COUNT_HW_INSTRUCTIONS] = 0x00c0,
		[PERF_COUNT_HW_CACHE_REFERENCES] = 0x0f2e,
		[PERF_COUNT_HW_CACHE_MISSES] = 0x012e,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x00c4,
		[PERF_COUNT_HW_BRANCH_MISSES] = 0x00c5,
		[PERF_COUNT_HW_BUS_CYCLES] = 0x0062,
	},
};

static const struct hw_pmu *const pmus[] = { &hw_k8, &hw_p6 };
enum { PMUS = COUNT(pmus) };

const struct hw_pmu *hw_pmu_at(size_t i)
{
	return i < PMUS ? pmus[i] : NULL;
}

const struct hw_pmu *hw_pmu_find(const char *name)
{
	for (size_t i = 0; i < PMUS; i++)
		if (!strcasecmp(pmus[i]->name, name))
			return pmus[i];
	return NULL;
}

const struct hw_pmu *hw_pmu_of_abi(uint32_t id)
{
	for (size_t i = 0; i < PMUS; i++)
		if (pmus[i]->abi_id == id)
			return pmus[i];
	return NULL;
}

const struct hw_event *hw_event_code(const struct hw_pmu *pmu, uint32_t code)
{
	for (const struct hw_event *e = pmu->events; e->names; e++)
		if (e->code == code)
			return e;
	return NULL;
}

/* Names are compared ignoring case, and '_' equals '-'. */
static int fold(char c)
{
	return c == '_' ? '-' : tolower((unsigned char)c);
}

static bool same(const char *a, size_t an, const char *b, size_t bn)
{
	if (an != bn)
		return false;
	for (size_t i = 0; i < an; i++)
		if (fold(a[i]) != fold(b[i]))
			return false;
	return true;
}

bool hw_names_have(const char *names, const char *s, size_t n)
{
	while (*names) {
		size_t k = strcspn(names, " ");

		if (same(names, k, s, n))
			return true;
		names += k + (names[k] == ' ');
	}
	return false;
}

bool hw_names_at(const char *names, size_t i, char *out, size_t size)
{
	size_t k;

	for (; i; i--) {
		names += strcspn(names, " ");
		if (!*names)
			return false;
		names++;
	}
	k = strcspn(names, " ");
	snprintf(out, size, "%.*s", (int)k, names);
	return k > 0;
}

/* Returns whether a word is made from a heading: "L2 Fill/Writeback" is
 * l2-fill-writeback. */
static bool titled(const char *title, const char *s, size_t n)
{
	size_t at = 0;

	while (*title) {
		bool gap = !isalnum((unsigned char)*title);
		int want;

		while (*title && !isalnum((unsigned char)*title))
			title++;
		if (!*title)
			break;
		want = fold(*title++);
		if (gap && (at >= n || fold(s[at++]) != '-'))
			return false;
		if (at >= n || fold(s[at++]) != want)
			return false;
	}
	return at && at == n;
}

/* Skips the prefix that documents of this PMU put before names. */
static void prefix_skip(const struct hw_pmu *pmu, const char **s, size_t *n)
{
	for (const char *p = pmu->prefixes; *p;) {
		size_t k = strcspn(p, " ");

		if (*n > k && same(*s, k, p, k)) {
			*s += k;
			*n -= k;
			return;
		}
		p += k + (p[k] == ' ');
	}
}

const struct hw_event *hw_event_find(const struct hw_pmu *pmu, const char *s,
				     size_t n)
{
	prefix_skip(pmu, &s, &n);
	for (const struct hw_event *e = pmu->events; e->names; e++)
		if (hw_names_have(e->names, s, n) || titled(e->title, s, n))
			return e;
	for (const struct hw_alias *a = pmu->aliases; a->name; a++)
		if (same(a->name, strlen(a->name), s, n))
			return hw_event_find(pmu, a->event, strlen(a->event));
	return NULL;
}

uint8_t hw_event_counters(const struct hw_pmu *pmu, const struct hw_event *e)
{
	return e->counters ? e->counters
			   : (uint8_t)((1u << pmu->model->counters) - 1);
}

uint8_t hw_event_bits(const struct hw_event *e)
{
	uint8_t bits = 0;

	for (size_t i = 0; i < e->nmasks; i++)
		bits |= e->masks[i].bits;
	return bits;
}

bool hw_event_shared(const struct hw_pmu *pmu, const struct hw_event *e)
{
	return pmu->model->shared_events &&
	       e->code >= pmu->model->shared_events;
}

bool hw_paths_legal(uint8_t mask)
{
	/* BKDG, event E9h: rows local to local, local to remote, remote to
	 * local; columns CPU to Mem, CPU to I/O, I/O to Mem, I/O to I/O. */
	static const uint8_t paths[] = {
		0xa8, 0xa4, 0xa2, 0xa1, 0x98, 0x94, 0x92, 0x91, 0x64, 0x61,
	};
	uint8_t sum = 0;

	for (size_t i = 0; i < sizeof(paths); i++)
		if (!(paths[i] & ~mask))
			sum |= paths[i];
	return mask && sum == mask;
}

/*
 * "cpu:type:x86,ven0002fam000Fmod0005:feature:…": drivers/base/cpu.c and
 * arch/x86/include/asm/cpu_device_id.h; vendor 0 is Intel, 2 is AMD.
 */
const struct hw_pmu *hw_pmu_here(const char *sysfs)
{
	char path[512], text[128];
	struct pmu_cpu_id id = { 0 };
	struct pmu_model model;
	enum pmu_row row;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/modalias", sysfs);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	if (sscanf(text, "cpu:type:x86,ven%4hxfam%4hxmod%4hx", &id.vendor,
		   &id.family, &id.model) != 3)
		return NULL;
	row = pmu_detect(&id, &model);
	for (size_t i = 0; i < PMUS && row < PMU_ROWS; i++)
		if (pmus[i]->model == &pmu_models[row])
			return pmus[i];
	return NULL;
}
