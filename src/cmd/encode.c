// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally encode`: shows the register values of a set of K8 or P6 events. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/show_options.h"
#include "events/hw.h"
#include "events/metrics.h"

struct encode_opts {
	const char *pmu;
	uint64_t period;	/* or NOT_GIVEN; 0 is valid */
	int json;
	bool no_int;
};

#define NOT_GIVEN UINT64_MAX
#define AT(field) offsetof(struct encode_opts, field)
static const struct opt encode_opt_table[] = {
	{ OPT_STR, 0, "pmu", "k8|p6", AT(pmu),
	  "Processor family. Default: this machine's." },
	{ OPT_UINT, 'c', "period", "N", AT(period),
	  "Interrupt after N events; suffixes k, M and G. Default: the counter "
	  "starts at 0." },
	{ OPT_FLAG, 0, "no-int", NULL, AT(no_int),
	  "Do not interrupt on overflow; for counting." },
	OPT_ROW_JSON(AT(json)),
	OPT_END
};

static int pmu_choose(const char *name, const struct hw_pmu **out,
		      struct error *err)
{
	const struct hw_pmu *pmu;
	struct buf all = { 0 };

	*out = name ? hw_pmu_find(name) : hw_pmu_here("/sys");
	if (*out)
		return 0;
	for (size_t i = 0; (pmu = hw_pmu_at(i)); i++)
		buf_printf(&all, "%s%s%s", i ? " or " : "", name ? "" : "--pmu ",
			   pmu->name);
	if (name)
		error_set(err, ERR_USAGE, "--pmu must be %s, not \"%s\"", buf_cstr(&all),
			  name);
	else
		error_set(err, ERR_USAGE, "this processor has none of the known PMUs: "
			  "use %s", buf_cstr(&all));
	buf_fini(&all);
	return -ERR_USAGE;
}

/* BKDG §10.2: the event counts what the mask selects.  An empty mask is not
 * forbidden. */
static const char *note(const struct hw_encoded *e)
{
	const struct hw_event *ev = e->spec.event;

	if (e->spec.sel.umask || !hw_event_bits(ev))
		return NULL;
	for (size_t i = 0; i < ev->nmasks; i++)
		if (!ev->masks[i].bits)
			return NULL;	/* 0 is a valid choice */
	return "mask 0 selects nothing of this event";
}

static void bits_json(struct json *j, const char *key, uint8_t bits)
{
	json_array(j, key);
	for (unsigned int i = 0; i < HW_COUNTERS_MAX; i++)
		if (bits >> i & 1)
			json_uint(j, NULL, i);
	json_end(j);
}

static void event_json(struct json *j, const struct hw_encoded *e)
{
	char name[HW_SPEC_MAX];

	hw_event_name(e->spec.pmu, e->spec.event, name, sizeof(name));
	json_object(j, NULL);
	json_str(j, "spec", e->spec.text);
	json_str(j, "name", name);
	json_hex(j, "event", e->spec.sel.event);
	json_hex(j, "umask", e->spec.sel.umask);
	json_uint(j, "counter", e->counter);
	bits_json(j, "allowed", e->spec.sel.allowed);
	json_hex(j, "evtsel", e->evtsel);
	json_hex(j, "preload", e->preload);
	json_hex(j, "msr_evtsel", e->msr_evtsel);
	json_hex(j, "msr_ctr", e->msr_counter);
	if (note(e))
		json_str(j, "note", note(e));
	json_end(j);
}

static void print_json(struct cmd_io *io, const struct hw_program *p)
{
	struct buf b = { 0 };
	struct json j = json_on(&b);

	json_object(&j, NULL);
	json_str(&j, "pmu", p->pmu->name);
	json_array_lines(&j, "events");
	for (size_t i = 0; i < p->n; i++)
		event_json(&j, &p->ev[i]);
	json_end(&j);
	json_object(&j, "shared");
	if (p->pmu->model->shared_enable) {
		json_hex(&j, "evtsel0", p->evtsel0);
		json_hex(&j, "msr_evtsel0", p->pmu->model->msr_evtsel);
	} else if (p->northbridge) {
		bits_json(&j, "northbridge_counters", p->northbridge);
	}
	json_end(&j);
	json_end(&j);
	fprintf(io->out, "%s\n", buf_cstr(&b));
	buf_fini(&b);
}

/* Appends a list of bits: "0, 1". */
static void bits_text(struct buf *b, uint8_t bits)
{
	const char *sep = "";

	for (unsigned int i = 0; i < HW_COUNTERS_MAX; i++)
		if (bits >> i & 1) {
			buf_printf(b, "%s%u", sep, i);
			sep = ", ";
		}
}

static void print_text(struct cmd_io *io, const struct hw_program *p)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		const struct hw_encoded *e = &p->ev[i];

		text_safe(&b, e->spec.text);
		buf_printf(&b, "\n  event 0x%02x, mask 0x%02x: counter %u (of ",
			   e->spec.sel.event, e->spec.sel.umask, e->counter);
		bits_text(&b, e->spec.sel.allowed);
		buf_printf(&b, ")\n  PerfEvtSel%u  MSR 0x%08x  0x%08llx\n"
			   "  PerfCtr%u     MSR 0x%08x  0x%012llx\n",
			   e->counter, e->msr_evtsel,
			   (unsigned long long)e->evtsel, e->counter,
			   e->msr_counter, (unsigned long long)e->preload);
		if (note(e))
			buf_printf(&b, "  note: %s\n", note(e));
	}
	if (p->pmu->model->shared_enable)
		buf_printf(&b, "PerfEvtSel0 holds the enable bit of both "
			   "counters\n  PerfEvtSel0  MSR 0x%08x  0x%08llx: "
			   "write it last, clear it first\n",
			   p->pmu->model->msr_evtsel,
			   (unsigned long long)p->evtsel0);
	if (p->northbridge) {
		buf_str(&b, "northbridge events: other cores of the node may "
			"not use counter ");
		bits_text(&b, p->northbridge);
		buf_str(&b, " meanwhile\n");
	}
	fputs(buf_cstr(&b), io->out);
	buf_fini(&b);
}

typedef VEC(char *) word_list;

/* Expands the words to specifiers.  A metric of this PMU is replaced by its
 * events. */
static int words_expand(const struct hw_pmu *pmu, int argc, char **argv,
			word_list *out, struct error *err)
{
	int r = 0;

	for (int i = 0; i < argc; i++) {
		const struct metric *m = metric_find(argv[i], strlen(argv[i]));

		if (!m || m->pmu != pmu) {
			r |= vec_push(out, argv[i]);
			continue;
		}
		for (size_t k = 0; k < metric_events(m); k++)
			r |= vec_push(out, (char *)(uintptr_t)m->events[k]);
	}
	return r ? error_nomem(err) : 0;
}

static int encode_run(struct cmd_io *io, void *opts, int argc, char **argv,
		      struct error *err)
{
	const struct encode_opts *o = opts;
	const struct hw_pmu *pmu;
	word_list words = { 0 };
	struct hw_program p;
	int r = pmu_choose(o->pmu, &pmu, err);

	if (!r && !argc)
		r = error_set(err, ERR_USAGE, "no event given: \"tally list "
			      "%s\" "
			      "shows them", pmu->name);
	if (!r)
		r = words_expand(pmu, argc, argv, &words, err);
	if (!r)
		r = hw_encode(pmu, words.v, words.n,
			      o->period != NOT_GIVEN ? &o->period : NULL, !o->no_int, &p, err);
	vec_fini(&words);
	if (r < 0)
		return r;
	if (o->json)
		print_json(io, &p);
	else
		print_text(io, &p);
	return 0;
}

const struct command cmd_encode = {
	.name = "encode",
	.summary = "show the register values of K8 or P6 events",
	.args = "SPEC|METRIC...",
	.opts = encode_opt_table,
	.opts_size = sizeof(struct encode_opts),
	.defaults = &(const struct encode_opts){
		.period = NOT_GIVEN,
	},
	.run = encode_run,
};
