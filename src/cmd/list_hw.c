// SPDX-License-Identifier: GPL-2.0-or-later
/* tally list k8 and p6: the events of one processor family. */
#include "cmd/list_hw.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/text.h"
#include "events/hw_spec.h"
#include "events/names.h"

enum { NAME_MAX_HW = 128, WIDTH = 80 };

static const struct {
	uint8_t bit;
	const char *title;
} documents[] = {
	{ HW_BKDG, "AMD BKDG 26094, chapter 10" },
	{ HW_PMC_K8, "FreeBSD pmc.k8(3)" },
	{ HW_P6_EN, "P6 event list (English, PP_ names)" },
	{ HW_P6_ZH, "P6 event list (Chinese, table 6-2)" },
};
enum { DOCUMENTS = sizeof(documents) / sizeof(documents[0]) };

static const char *when_text(const struct hw_event *e)
{
	return e->when == HW_RETIRED ? "retired"
	       : e->when == HW_SPECULATIVE ? "speculative" : NULL;
}

static void strs_json(struct json *j, const char *key, const char *names)
{
	char name[NAME_MAX_HW];

	json_array(j, key);
	for (size_t i = 0; hw_names_at(names, i, name, sizeof(name)); i++)
		json_str(j, NULL, name);
	json_end(j);
}

/* All spellings, with the prefixes of the documents; FreeBSD's aliases. */
static void names_json(struct json *j, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	const char *prefix = pmu == &hw_p6 ? "PP_" : "";
	char name[NAME_MAX_HW], full[NAME_MAX_HW + 8];

	json_array(j, "names");
	for (size_t i = 0; hw_names_at(e->names, i, name, sizeof(name)); i++) {
		snprintf(full, sizeof(full), "%s%s", pmu->prefix, name);
		json_str(j, NULL, full);
		snprintf(full, sizeof(full), "%s%s", prefix, name);
		if (*prefix)
			json_str(j, NULL, full);
	}
	json_end(j);
	json_array(j, "aliases");
	for (const struct hw_alias *a = pmu->aliases; a->name; a++)
		if (hw_event_find(pmu, a->event, strlen(a->event)) == e)
			json_str(j, NULL, a->name);
	json_end(j);
}

static void optional_json(struct json *j, const char *key, const char *s)
{
	if (s && *s)
		json_str(j, key, s);
}

static void masks_json(struct json *j, const struct hw_event *e)
{
	json_hex(j, "default_mask", e->default_mask);
	json_hex(j, "mask_bits", hw_event_bits(e));
	json_array(j, "masks");
	for (size_t i = 0; i < e->nmasks; i++) {
		json_object(j, NULL);
		json_hex(j, "bits", e->masks[i].bits);
		strs_json(j, "names", e->masks[i].names);
		json_str(j, "summary", e->masks[i].what);
		json_end(j);
	}
	json_end(j);
}

static void event_json(struct json *j, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	uint8_t counters = hw_event_counters(pmu, e);
	char name[NAME_MAX_HW];

	hw_event_name(pmu, e, name, sizeof(name));
	json_object(j, NULL);
	json_str(j, "name", name);
	json_str(j, "pmu", pmu->name);
	names_json(j, pmu, e);
	optional_json(j, "title", e->title);
	json_hex(j, "event", e->code);
	masks_json(j, e);
	json_array(j, "counters");
	for (unsigned int i = 0; i < pmu->model->counters; i++)
		if (counters >> i & 1)
			json_uint(j, NULL, i);
	json_end(j);
	json_bool(j, "northbridge", hw_event_shared(pmu, e));
	optional_json(j, "speculation", when_text(e));
	json_str(j, "summary", e->what);
	optional_json(j, "note", e->note);
	optional_json(j, "revision", e->revision);
	optional_json(j, "generic", e->generic);
	json_array(j, "documents");
	for (int i = 0; i < DOCUMENTS; i++)
		if (e->sources & documents[i].bit)
			json_str(j, NULL, documents[i].title);
	json_end(j);
	json_end(j);
}

/* "counter 0 only", or nothing to say. */
static const char *pinned(const struct hw_event *e)
{
	return e->counters == 1 ? "counter 0 only"
	       : e->counters == 2 ? "counter 1 only" : NULL;
}

/* Text from column `in` on, where the cursor is; broken at WIDTH. */
static void wrap(struct cmd_io *io, int in, const char *s)
{
	size_t at = (size_t)in;

	for (bool first = true; *s; first = false) {
		size_t n = strcspn(s, " ");

		if (!first && at + 1 + n > WIDTH) {
			fprintf(io->out, "\n%*s", in, "");
			at = (size_t)in;
		} else if (!first) {
			fputc(' ', io->out);
			at++;
		}
		fprintf(io->out, "%.*s", (int)n, s);
		at += n;
		s += n + strspn(s + n, " ");
	}
	fputc('\n', io->out);
}

static void event_line(struct cmd_io *io, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	char name[NAME_MAX_HW];
	struct buf b = { 0 };

	hw_event_name(pmu, e, name, sizeof(name));
	fprintf(io->out, "0x%02x  %s\n      ", e->code, name);
	buf_str(&b, e->what);
	if (pinned(e))
		buf_printf(&b, " (%s)", pinned(e));
	wrap(io, 6, buf_cstr(&b));
	buf_reset(&b);
	for (size_t i = 0; i < e->nmasks; i++) {
		hw_names_at(e->masks[i].names, 0, name, sizeof(name));
		buf_printf(&b, "%s%s=0x%02x", i ? " " : "", name,
			   e->masks[i].bits);
	}
	if (b.n) {
		fprintf(io->out, "      masks: ");
		wrap(io, 13, buf_cstr(&b));
	}
	buf_fini(&b);
}

static void field(struct cmd_io *io, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	fprintf(io->out, "  %-13s", key);
	wrap(io, 15, value);
}

static void masks_text(struct cmd_io *io, const struct hw_event *e)
{
	struct buf b = { 0 };

	buf_printf(&b, "0x%02x; default 0x%02x", hw_event_bits(e),
		   e->default_mask);
	if (e->rule == HW_MASK_MESI)
		buf_str(&b, "; 0 counts nothing and is refused");
	field(io, "mask bits", e->nmasks ? buf_cstr(&b) : "none");
	for (size_t i = 0; i < e->nmasks; i++) {
		char name[NAME_MAX_HW];

		buf_reset(&b);
		buf_printf(&b, "0x%02x", e->masks[i].bits);
		for (size_t k = 0; hw_names_at(e->masks[i].names, k, name,
					       sizeof(name)); k++)
			buf_printf(&b, "%s%s", k ? ", or " : "  ", name);
		buf_printf(&b, ": %s", e->masks[i].what);
		field(io, "", buf_cstr(&b));
	}
	buf_fini(&b);
}

static void names_text(struct cmd_io *io, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	char name[NAME_MAX_HW];
	struct buf b = { 0 };

	for (size_t i = 1; hw_names_at(e->names, i, name, sizeof(name)); i++)
		buf_printf(&b, "%s%s%s", b.n ? ", " : "", pmu->prefix, name);
	for (const struct hw_alias *a = pmu->aliases; a->name; a++)
		if (hw_event_find(pmu, a->event, strlen(a->event)) == e)
			buf_printf(&b, "%s%s", b.n ? ", " : "", a->name);
	hw_names_at(e->names, 0, name, sizeof(name));
	if (pmu == &hw_p6)
		buf_printf(&b, "%sPP_%s", b.n ? ", " : "", name);
	buf_printf(&b, "%s%s:0x%02x", b.n ? ", " : "", pmu->name, e->code);
	field(io, "other names", buf_cstr(&b));
	buf_fini(&b);
}

static void event_text(struct cmd_io *io, const struct hw_pmu *pmu,
		       const struct hw_event *e)
{
	char text[NAME_MAX_HW];
	struct buf b = { 0 };

	hw_event_name(pmu, e, text, sizeof(text));
	fprintf(io->out, "%s: event 0x%02x of %s\n", text, e->code,
		pmu->summary);
	field(io, "headed", e->title);
	field(io, "counts", e->what);
	names_text(io, pmu, e);
	masks_text(io, e);
	field(io, "counters", pinned(e) ? pinned(e)
	      : pmu->model->counters == 4 ? "any of 0 to 3" : "0 or 1");
	if (hw_event_shared(pmu, e))
		field(io, "northbridge", "shared by the cores of a node: while "
		      "one counts this in a counter, the others may not use "
		      "their counter of that number; halted processors do not "
		      "count");
	field(io, "speculation", e->when == HW_RETIRED
	      ? "retired work only" : e->when == HW_SPECULATIVE
	      ? "speculative work is included" : NULL);
	field(io, "note", e->note);
	field(io, "revision", e->revision);
	field(io, "elsewhere", e->generic);
	for (int i = 0; i < DOCUMENTS; i++)
		if (e->sources & documents[i].bit)
			buf_printf(&b, "%s%s", b.n ? "; " : "",
				   documents[i].title);
	field(io, "documents", buf_cstr(&b));
	buf_fini(&b);
}

/* 0x42 or 42h */
static bool is_code(const char *word, uint8_t code)
{
	char *end;
	unsigned long v = strtoul(word, &end, 16);

	return end != word && v == code &&
	       (strcasecmp(end, "h") == 0 ||
		(!*end && !strncasecmp(word, "0x", 2)));
}

static bool matches(const struct hw_event *e, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (strcasestr(e->names, argv[i]) ||
		    strcasestr(e->title, argv[i]) ||
		    strcasestr(e->what, argv[i]) || is_code(argv[i], e->code))
			return true;
		for (size_t k = 0; k < e->nmasks; k++)
			if (strcasestr(e->masks[k].names, argv[i]))
				return true;
	}
	return !argc;
}

/* One event that a word names; kernel names go first, as in `record -e`. */
static const struct hw_pmu *named(const char *word,
				  const struct hw_event **event)
{
	struct event_spec spec;

	if (event_name_find(word, strlen(word), &spec))
		return NULL;
	return hw_spec_pmu(word, hw_pmu_here("/sys"), event);
}

static void json_print(struct cmd_io *io, struct json *j)
{
	json_end(j);
	json_end(j);
	fprintf(io->out, "%s\n", buf_cstr(j->out));
	buf_fini(j->out);
}

static void all(struct cmd_io *io, const struct hw_pmu *pmu, int argc,
		char **argv, struct json *j)
{
	const struct hw_event *e;
	size_t shown = 0;

	if (!j)
		fprintf(io->out, "%s:\n\n", pmu->summary);
	for (size_t i = 0; (e = hw_event_at(pmu, i)); i++) {
		if (!matches(e, argc, argv))
			continue;
		shown++;
		if (j)
			event_json(j, pmu, e);
		else
			event_line(io, pmu, e);
	}
	if (!shown && !j)
		fprintf(io->err, "tally: no event of %s matches\n",
			pmu->name);
}

static int explain(struct cmd_io *io, int argc, char **argv, struct json *j,
		   struct error *err)
{
	for (int i = 0; i < argc; i++) {
		const struct hw_event *e;
		const struct hw_pmu *pmu = named(argv[i], &e);
		struct hw_spec spec;

		if (!e)		/* a known prefix: say what is wrong */
			return hw_spec_parse(pmu, argv[i], &spec, err);
		if (j)
			event_json(j, pmu, e);
		else if (i)
			fputc('\n', io->out);
		if (!j)
			event_text(io, pmu, e);
	}
	return 1;
}

int list_hw(struct cmd_io *io, int argc, char **argv, bool json,
	    struct error *err)
{
	const struct hw_pmu *pmu = argc ? hw_pmu_find(argv[0]) : NULL;
	struct buf b = { 0 };
	struct json j = json_on(&b);
	const struct hw_event *e;
	int r = 1;

	for (int i = 0; i < argc && !pmu; i++)
		if (!named(argv[i], &e))
			return 0;
	if (!argc)
		return 0;
	if (!json && pmu && io->start_pager)
		io->start_pager(io);
	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	if (pmu)
		json_str(&j, "pmu", pmu->name);
	json_array_lines(&j, "events");
	if (pmu)
		all(io, pmu, argc - 1, argv + 1, json ? &j : NULL);
	else
		r = explain(io, argc, argv, json ? &j : NULL, err);
	if (json && r > 0)
		json_print(io, &j);
	buf_fini(&b);
	return r;
}
