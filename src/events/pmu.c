// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads PMUs, their terms and named events from sysfs. */
#include "events/pmu.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/sysfs_files.h"
#include "events/units.h"

/* One bit range "7" or "0-7" at *p, moved behind it; false when damaged. */
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

/* Puts a value into the bits that a format file names ("config1:0-7,32-35"):
 * low bits go into the first range.  1 done, 0 the value does not fit, -1 the
 * file is damaged. */
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

/* Takes the next term off a list; false at its end. */
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

/* Terms that every PMU has; 1 known, 0 not known, or an error. */
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
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
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

/* A word that is one of the PMU's format files. */
static int term_format(struct pmu *pmu, const struct term *t, bool nested,
		       struct event_spec *out, struct error *err)
{
	const char *format = pmu_file(&pmu->file, pmu->sysfs, pmu->name,
				      "format", t->key);
	uint64_t value = 1;
	int r;

	if (!format)
		return 0;
	/* A described event may leave a value open ("umask=?"). */
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

/* events/NAME.scale and .unit: what one count stands for. */
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

/* A word that is one of the PMU's named events. */
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
		/* Its like have it, too. */
		pmu_family_name(list[i]->d_name, out->family,
				sizeof(out->family));
	}
	sysfs_list_free(list, n);
	buf_fini(&b);
	return r;
}

bool pmu_type_number(const char *sysfs, const char *pmu, uint32_t *type)
{
	struct buf b = { 0 };
	const char *text = pmu_file(&b, sysfs, pmu, "type", "");
	uint64_t v = 0;
	bool known = text && sysfs_number(text, &v) && v <= UINT32_MAX;

	*type = (uint32_t)v;
	buf_fini(&b);
	return known;
}

bool pmu_has_file(const char *sysfs, const char *pmu, const char *file)
{
	struct buf b = { 0 };
	bool has = pmu_file(&b, sysfs, pmu, file, "");

	buf_fini(&b);
	return has;
}
