// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads PMUs, their terms and named events from sysfs. */
#include "events/pmu.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "events/sysfs_files.h"

#define NO_CPU UINT32_MAX

/* Decides on which processors events are to be opened. */

/* Reads the PMU's type.  Returns false if there is none. */
static bool pmu_type_number(const char *sysfs, const char *pmu, uint32_t *type)
{
	struct buf b = { 0 };
	const char *text = pmu_file(&b, sysfs, pmu, "type", "");
	uint64_t v = 0;
	bool known = text && sysfs_number(text, &v) && v <= UINT32_MAX;

	*type = (uint32_t)v;
	buf_fini(&b);
	return known;
}

/* Returns whether the PMU is a kind of cores with this processor; NO_CPU: with any. */
static bool pmu_lists_cpu(const char *sysfs, const char *pmu, uint32_t cpu)
{
	struct buf b = { 0 };
	const char *text = pmu_file(&b, sysfs, pmu, "cpus", "");
	bool has = text && (cpu == NO_CPU || cpu_list_has(text, cpu));

	buf_fini(&b);
	return has;
}

bool pmu_counts_on(const char *sysfs, uint32_t type, uint32_t cpu,
		   const uint32_t *cpus, size_t n)
{
	struct dirent **list;
	struct buf b = { 0 };
	bool yes = true;
	int found;

	if (type < PERF_TYPE_MAX)
		return true;
	found = sysfs_pmus(sysfs, &list);
	for (int i = 0; i < found; i++) {
		const char *text;
		uint32_t number;

		if (!pmu_type_number(sysfs, list[i]->d_name, &number) ||
		    number != type)
			continue;
		text = pmu_file(&b, sysfs, list[i]->d_name, "cpumask", "");
		if (!text || !*text)
			break;
		/* If -C excludes all processors in the list, use the first of -C. */
		for (size_t k = 0; k < n && yes; k++)
			yes = !cpu_list_has(text, cpus[k]);
		yes = yes ? n && cpu == cpus[0] : cpu_list_has(text, cpu);
		break;
	}
	sysfs_list_free(list, found);
	buf_fini(&b);
	return yes;
}

static bool cpu_package(const char *sysfs, uint32_t cpu, uint64_t *package)
{
	char path[SYSFS_PATH];
	struct buf b = { 0 };
	const char *text;
	bool known;

	snprintf(path, sizeof(path),
		 "%s/devices/system/cpu/cpu%u/topology/physical_package_id",
		 sysfs, cpu);
	text = sysfs_read(&b, path);
	known = text && sysfs_number(text, package);
	buf_fini(&b);
	return known;
}

bool cpu_first_of_package(const char *sysfs, uint32_t cpu,
			  const uint32_t *cpus, size_t n)
{
	uint64_t mine, other;

	if (!cpu_package(sysfs, cpu, &mine))
		return true;
	for (size_t i = 0; i < n && cpus[i] != cpu; i++)
		if (cpu_package(sysfs, cpus[i], &other) && other == mine)
			return false;
	return true;
}

/* Expands events to all instances of a unit and all kinds of cores. */

/* Type numbers of the kernel's own kinds of events carry their PMU in the upper
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
		return pmu_lists_cpu(s->sysfs, name, NO_CPU);
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

/* By number, so that _2 precedes _10. */
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

	vec_sort(out, unit_order);
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
	return pmu_lists_cpu(sysfs, kind->name, cpu);
}

/* The type of raw events is also that of one kind (Intel's cpu_core). */
bool event_is_of_cores(const struct event_spec *s)
{
	return (s->type == PERF_TYPE_RAW && !s->of_pmu) ||
	       ((s->type == PERF_TYPE_HARDWARE ||
		 s->type == PERF_TYPE_HW_CACHE) && !(s->config >> KIND_SHIFT));
}

const struct pmu_unit *event_own_kind(const struct event_spec *s,
				      const struct pmu_units *kinds)
{
	for (size_t i = 0; i < kinds->n && s->of_pmu; i++)
		if (kinds->v[i].type == s->type)
			return &kinds->v[i];
	return NULL;
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

/* Parses one bit range "7" or "0-7" at *p and moves *p past it.  Returns false if
 * it is damaged. */
static bool range_parse(const char **p, unsigned int *lo, unsigned int *hi)
{
	char *end;
	unsigned long a, b;

	if (**p < '0' || **p > '9')
		return false;
	a = b = strtoul(*p, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return false;
		b = strtoul(end + 1, &end, 10);
	}
	*p = end;
	if (a > b || b > 63)
		return false;
	*lo = (unsigned int)a;
	*hi = (unsigned int)b;
	return true;
}

/* Puts a value into the bits that a format file names ("config1:0-7,32-35"), low
 * bits into the first range.  Returns 1 if done, 0 if the value does not fit, -1
 * if the file is damaged. */
static int format_apply(const char *format, uint64_t value,
			struct event_spec *out)
{
	uint64_t *word;

	if (!strncmp(format, "config:", 7))
		word = &out->config, format += 7;
	else if (!strncmp(format, "config1:", 8))
		word = &out->config1, format += 8;
	else if (!strncmp(format, "config2:", 8))
		word = &out->config2, format += 8;
	else
		return -1;
	for (;;) {
		unsigned int lo, hi, bits;
		uint64_t mask;

		if (!range_parse(&format, &lo, &hi))
			return -1;
		bits = hi - lo + 1;
		mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
		*word = (*word & ~(mask << lo)) | (value & mask) << lo;
		value = bits == 64 ? 0 : value >> bits;
		if (*format != ',')
			break;
		format++;
	}
	if (*format)
		return -1;
	return value == 0;
}

struct term {
	char key[EVENT_NAME_MAX], value[EVENT_NAME_MAX];
	bool has_value;
};

/* Takes the next term off a list.  Returns false at its end. */
static bool term_next(const char **p, const char *end, struct term *t,
		      bool *too_long)
{
	const char *comma, *eq;
	size_t nk, nv;

	while (*p < end && **p == ',')
		(*p)++;
	if (*p >= end)
		return false;
	comma = memchr(*p, ',', (size_t)(end - *p));
	if (!comma)
		comma = end;
	eq = memchr(*p, '=', (size_t)(comma - *p));
	nk = (size_t)((eq ? eq : comma) - *p);
	nv = eq ? (size_t)(comma - eq - 1) : 0;
	*too_long = nk >= sizeof(t->key) || nv >= sizeof(t->value);
	if (*too_long)
		return false;
	memcpy(t->key, *p, nk);
	t->key[nk] = 0;
	if (nv)
		memcpy(t->value, eq + 1, nv);
	t->value[nv] = 0;
	t->has_value = eq != NULL;
	*p = comma;
	return true;
}

/* Parses terms that every PMU has.  Returns 1 if known, 0 if not, or an error. */
static int term_common(const struct term *t, struct event_spec *out,
		       struct error *err)
{
	static const char *const words[] = { "config", "config1", "config2",
					     "period", "freq" };
	uint64_t *const to[] = { &out->config, &out->config1, &out->config2,
				 &out->period, &out->freq };

	if (!strcmp(t->key, "name") && t->has_value) {
		snprintf(out->text, sizeof(out->text), "%s", t->value);
		return 1;
	}
	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcmp(t->key, words[i]))
			continue;
		if (!sysfs_number(t->value, to[i]))
			return error_set(err, ERR_USAGE,
					 "%s= needs a number, not \"%s\"",
					 t->key, t->value);
		return 1;
	}
	return 0;
}

struct pmu {
	const char *sysfs, *name;
	struct buf file, event;
};

static int pmu_terms(struct pmu *pmu, const char *terms, size_t n, bool nested,
		     struct event_spec *out, struct error *err);

/* Parses a word that is the name of one of the PMU's format files. */
static int term_format(struct pmu *pmu, const struct term *t, bool nested,
		       struct event_spec *out, struct error *err)
{
	const char *format = pmu_file(&pmu->file, pmu->sysfs, pmu->name,
				      "format", t->key);
	uint64_t value = 1;
	int r;

	if (!format)
		return 0;
	/* An event's description may leave a value open ("umask=?"). */
	if (t->has_value && !sysfs_number(t->value, &value))
		return error_set(err, ERR_USAGE,
				 nested ? "PMU %s: this event needs %s= (it "
					  "says \"%s\")"
					: "PMU %s: %s= needs a number, not "
					  "\"%s\"",
				 pmu->name, t->key, t->value);
	r = format_apply(format, value, out);
	if (r < 0)
		return error_set(err, ERR_FORMAT,
				 "PMU %s: cannot read the format of %s: \"%s\"",
				 pmu->name, t->key, format);
	if (!r)
		return error_set(err, ERR_USAGE,
				 "PMU %s: %s=%s does not fit its bits (%s)",
				 pmu->name, t->key, t->value, format);
	return 1;
}

/* Reads events/NAME.scale and .unit: the value and unit of one count. */
static void event_scale(struct pmu *pmu, const char *name,
			struct event_spec *out)
{
	char file[EVENT_NAME_MAX + 8];
	const char *text;
	char *end;
	double v;

	snprintf(file, sizeof(file), "%s.scale", name);
	text = pmu_file(&pmu->event, pmu->sysfs, pmu->name, "events", file);
	if (!text)
		return;
	v = strtod(text, &end);
	if (end == text || *end || !isfinite(v) || v <= 0)
		return;
	out->scale = v;
	snprintf(file, sizeof(file), "%s.unit", name);
	text = pmu_file(&pmu->event, pmu->sysfs, pmu->name, "events", file);
	snprintf(out->scaled, sizeof(out->scaled), "%.15s", text ? text : "");
}

/* Parses a word that is the name of one of the PMU's events. */
static int term_event(struct pmu *pmu, const struct term *t,
		      struct event_spec *out, struct error *err)
{
	const char *terms = pmu_file(&pmu->event, pmu->sysfs, pmu->name,
				     "events", t->key);
	int r;

	if (!terms)
		return 0;
	r = pmu_terms(pmu, terms, pmu->event.n, true, out, err);
	if (r < 0)
		return r;
	event_scale(pmu, t->key, out);
	return 1;
}

static int pmu_terms(struct pmu *pmu, const char *terms, size_t n, bool nested,
		     struct event_spec *out, struct error *err)
{
	const char *p = terms, *end = terms + n;
	bool too_long = false;
	struct term t;

	while (term_next(&p, end, &t, &too_long)) {
		int r = term_common(&t, out, err);

		if (!r && !nested && !t.has_value)
			r = term_event(pmu, &t, out, err);
		if (!r)
			r = term_format(pmu, &t, nested, out, err);
		if (r < 0)
			return r;
		if (!r)
			return error_set(err, ERR_USAGE,
					 "PMU %s has no term \"%s\": see %s/bus/"
					 "event_source/devices/%s/format and "
					 "events", pmu->name, t.key,
					 pmu->sysfs, pmu->name);
	}
	if (too_long)
		return error_set(err, ERR_USAGE,
				 "PMU %s: a term is longer than %d characters",
				 pmu->name, EVENT_NAME_MAX - 1);
	return 0;
}

static int pmu_type(struct pmu *pmu, struct event_spec *out, struct error *err)
{
	const char *type = pmu_file(&pmu->file, pmu->sysfs, pmu->name, "type",
				    "");
	uint64_t v;

	if (!type)
		return error_set(err, ERR_NOTFOUND,
				 "no PMU \"%s\" on this machine (%s/bus/"
				 "event_source/devices has none)", pmu->name,
				 pmu->sysfs);
	if (!sysfs_number(type, &v) || v > UINT32_MAX)
		return error_set(err, ERR_FORMAT, "PMU %s: type is \"%s\"",
				 pmu->name, type);
	out->type = (uint32_t)v;
	out->of_pmu = true;
	out->software = v == PERF_TYPE_SOFTWARE;
	return 0;
}

int pmu_parse(const char *sysfs, const char *name, const char *terms, size_t n,
	      struct event_spec *out, struct error *err)
{
	struct pmu pmu = { .sysfs = sysfs, .name = name };
	int r = pmu_type(&pmu, out, err);

	if (!r)
		r = pmu_terms(&pmu, terms, n, false, out, err);
	buf_fini(&pmu.file);
	buf_fini(&pmu.event);
	return r;
}

int pmu_event_find(const char *sysfs, const char *name, struct event_spec *out,
		   struct error *err)
{
	struct dirent **list;
	struct buf b = { 0 };
	int n = sysfs_pmus(sysfs, &list), r = 0;

	for (int i = 0; i < n && !r; i++) {
		if (!pmu_file(&b, sysfs, list[i]->d_name, "events", name))
			continue;
		r = pmu_parse(sysfs, list[i]->d_name, name, strlen(name), out,
			      err);
		if (r)
			break;
		r = 1;
		/* Other units of the kind have it, too. */
		pmu_family_name(list[i]->d_name, out->family,
				sizeof(out->family));
	}
	sysfs_list_free(list, n);
	buf_fini(&b);
	return r;
}

/* Lists all PMUs and their events. */

static int not_attribute(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	/* cpu/events/x.scale and x.unit are attributes of the event x */
	return sysfs_dir_plain(d) && !strchr(d->d_name, '.') && n < 64;
}

static bool pmu_events_each(const char *sysfs, const char *pmu,
			    event_info_cb *cb, void *ctx)
{
	char path[SYSFS_PATH], name[EVENT_NAME_MAX * 2];
	struct dirent **list;
	bool go = true;
	int n;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/events",
		 sysfs, pmu);
	n = scandir(path, &list, not_attribute, alphasort);
	for (int i = 0; i < n && go; i++) {
		struct buf b = { 0 };
		struct event_info info = { name, "", pmu, "" };
		const char *terms = pmu_file(&b, sysfs, pmu, "events",
					     list[i]->d_name);

		snprintf(name, sizeof(name), "%.64s/%.64s/", pmu,
			 list[i]->d_name);
		info.summary = terms ? terms : "";
		go = cb(ctx, &info);
		buf_fini(&b);
	}
	sysfs_list_free(list, n);
	return go;
}

bool pmu_each(const char *sysfs, event_info_cb *cb, void *ctx)
{
	struct dirent **list;
	int n = sysfs_pmus(sysfs, &list);
	bool go = true;

	for (int i = 0; i < n && go; i++)
		go = pmu_events_each(sysfs, list[i]->d_name, cb, ctx);
	sysfs_list_free(list, n);
	return go;
}

bool pmu_names_each(const char *sysfs, event_info_cb *cb, void *ctx)
{
	struct dirent **list;
	int n = sysfs_pmus(sysfs, &list);
	bool go = true;

	for (int i = 0; i < n && go; i++) {
		struct event_info info = { list[i]->d_name, "", "PMU", "" };

		go = cb(ctx, &info);
	}
	sysfs_list_free(list, n);
	return go;
}
