// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of a report's columns, and the parser of lists of keys. */
#include "views/query/columns.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/cgroup_path.h"
#include "base/nearest.h"
#include "base/text.h"
#include "views/query/names.h"

enum { WORD_MAX = 32, SKIPPED = KEY_COUNT };

static void put_file(const struct column_at *x, enum column_use use,
		     struct buf *out)
{
	const char *file = x->frame ? profile_cstr(x->p, x->frame->file) : "";

	buf_str(out, *file || use == COLUMN_DATA ? file : "[unknown]");
}

static void put_line(const struct column_at *x, enum column_use use,
		     struct buf *out)
{
	put_file(x, use, out);
	if (x->frame && *profile_cstr(x->p, x->frame->file))
		buf_printf(out, ":%u", x->frame->line);
}

static int64_t line_of(const struct column_at *x)
{
	return x->frame ? x->frame->line : 0;
}

static void put_image(const struct column_at *x, enum column_use use,
		      struct buf *out)
{
	if (x->frame && (x->frame->image || use != COLUMN_DATA))
		name_image(x->p, x->keys, x->frame, use != COLUMN_SHORT, out);
}

static void put_symbol(const struct column_at *x, enum column_use use,
		       struct buf *out)
{
	if (x->frame)
		name_symbol(x->p, x->keys, x->frame,
			    use == COLUMN_SHORT ? NAME_SHORT : 0, out);
}

static void put_comm(const struct column_at *x, enum column_use use,
		     struct buf *out)
{
	(void)use;
	buf_str(out, profile_cstr(x->p, x->lane->comm));
}

/* Appends the event that was measured, named as in the lines above the table;
 * for CSV and JSON, the event that was requested. */
static void put_event(const struct column_at *x, enum column_use use,
		      struct buf *out)
{
	const struct prof_event *e = &x->p->events.v[x->lane->event];

	buf_str(out, use == COLUMN_DATA ? profile_cstr(x->p, e->name)
					: prof_event_actual(x->p, e));
}

static void put_wait(const struct column_at *x, enum column_use use,
		     struct buf *out)
{
	const char *text = profile_cstr(x->p, x->lane->wait);

	buf_str(out, *text || use == COLUMN_DATA ? text : "-");
}

/* Appends a label.  IDs of containers are shortened as container tools do. */
static void put_label(const struct report_column *c, const struct column_at *x,
		      enum column_use use, struct buf *out)
{
	const char *text = profile_cstr(x->p, x->lane->label[c->label]);

	if (c->label == LABEL_CONTAINER && use == COLUMN_SHORT &&
	    cgroup_is_id(text))
		buf_bytes(out, text, CGROUP_ID_SHORT);
	else
		buf_str(out, *text || use == COLUMN_DATA ? text : "-");
}

static int64_t known(uint32_t n)
{
	return n == PROF_NONE ? -1 : (int64_t)n;
}

static int64_t pid_of(const struct column_at *x)
{
	return known(x->lane->pid);
}

static int64_t tid_of(const struct column_at *x)
{
	return known(x->lane->tid);
}

static int64_t cpu_of(const struct column_at *x)
{
	return known(x->lane->cpu);
}

static int64_t run_of(const struct column_at *x)
{
	return x->lane->run + 1ll;
}

static uint64_t self_samples(const struct column_at *x)
{
	return x->v.self.count;
}

static uint64_t self_weight(const struct column_at *x)
{
	return x->v.self.weight;
}

static double self_percent(const struct column_at *x)
{
	return cell_percent(x->v.self, x->all);
}

static uint64_t total_samples(const struct column_at *x)
{
	return x->v.total.count;
}

static uint64_t total_weight(const struct column_at *x)
{
	return x->v.total.weight;
}

static double total_percent(const struct column_at *x)
{
	return cell_percent(x->v.total, x->all);
}

static uint64_t metric_samples(const struct column_at *x)
{
	return x->metric.count;
}

enum { LEAST = 6, MIN_NAME = 16, PERCENT_WIDTH = 8, COUNT_WIDTH = 11 };

const struct report_column report_columns[] = {
	[KEY_COMM] = { "comm", NULL, "COMM", COLUMN_SAMPLE, FIT_END, LEAST,
		       .text = put_comm },
	[KEY_PID] = { "pid", NULL, "PID", COLUMN_SAMPLE, FIT_END, LEAST,
		      .integer = pid_of },
	[KEY_TID] = { "tid", NULL, "TID", COLUMN_SAMPLE, FIT_END, LEAST,
		      .integer = tid_of },
	[KEY_CPU] = { "cpu", NULL, "CPU", COLUMN_SAMPLE, FIT_END, LEAST,
		      .integer = cpu_of },
	[KEY_RUN] = { "run", NULL, "RUN", COLUMN_SAMPLE, FIT_END, LEAST,
		      .integer = run_of },
	[KEY_EVENT] = { "event", NULL, "EVENT", COLUMN_SAMPLE, FIT_END, LEAST,
			.text = put_event },
	[KEY_WAIT] = { "wait", NULL, "WAIT", COLUMN_SAMPLE, FIT_END, LEAST,
		       .text = put_wait },
	[KEY_LABEL] = { "label", "labels", "LABELS", COLUMN_SAMPLE, FIT_END,
			LEAST, .label = LABEL_GIVEN, .is_label = true },
	[KEY_HOST] = { "host", "hostname", "HOST", COLUMN_SAMPLE, FIT_END,
		       LEAST, .label = LABEL_HOST, .is_label = true },
	[KEY_SERVICE] = { "service", NULL, "SERVICE", COLUMN_SAMPLE, FIT_END,
			  LEAST, .label = LABEL_SERVICE, .is_label = true },
	[KEY_CONTAINER] = { "container", NULL, "CONTAINER", COLUMN_SAMPLE,
			    FIT_END, LEAST, .label = LABEL_CONTAINER, .is_label = true },
	[KEY_POD] = { "pod", NULL, "POD", COLUMN_SAMPLE, FIT_END, LEAST,
		      .label = LABEL_POD, .is_label = true },
	[KEY_CGROUP] = { "cgroup", NULL, "CGROUP", COLUMN_SAMPLE, FIT_PATH,
			 LEAST, .label = LABEL_CGROUP, .is_label = true },
	[KEY_TASK] = { "task", NULL, "TASK", COLUMN_SAMPLE, FIT_END, LEAST,
		       .label = LABEL_TASK, .is_label = true },
	[KEY_SYMBOL] = { "symbol", "sym", "SYMBOL", COLUMN_FRAME, FIT_NAME,
			 MIN_NAME, .text = put_symbol },
	[KEY_IMAGE] = { "image", "dso", "IMAGE", COLUMN_FRAME, FIT_END, LEAST,
			.text = put_image },
	[KEY_FILE] = { "file", "srcfile", "FILE", COLUMN_FRAME, FIT_PATH, LEAST,
		       .text = put_file },
	[KEY_LINE] = { "line", "srcline", "LINE", COLUMN_FRAME, FIT_PATH, LEAST,
		       .text = put_line, .integer = line_of },

	{ "samples", .object = "self", .kind = COLUMN_NUMBER, .data = true,
	  .of_self = true, .count = self_samples },
	{ "weight", .object = "self", .kind = COLUMN_NUMBER, .data = true,
	  .of_self = true, .count = self_weight },
	{ "percent", .object = "self", .kind = COLUMN_NUMBER, .data = true,
	  .of_self = true, .percent = self_percent,
	  .head = "SELF", .width = PERCENT_WIDTH, .shown = SHOWN_SELF },
	{ "samples", .object = "total", .kind = COLUMN_NUMBER, .data = true,
	  .count = total_samples },
	{ "weight", .object = "total", .kind = COLUMN_NUMBER, .data = true,
	  .count = total_weight },
	{ "percent", .object = "total", .kind = COLUMN_NUMBER, .data = true,
	  .percent = total_percent,
	  .head = "TOTAL", .width = PERCENT_WIDTH, .shown = SHOWN_TOTAL },
	{ "samples", .kind = COLUMN_NUMBER, .count = metric_samples,
	  .head = "SAMPLES", .width = COUNT_WIDTH, .shown = SHOWN_SAMPLES },
};

size_t report_columns_count(void)
{
	static_assert(COUNT(report_columns) <=
		      COLUMNS_MAX, "arrays of columns are too small");
	return COUNT(report_columns);
}

const struct report_column *report_next_number(const struct report_column *c,
					       bool totals, bool samples)
{
	const struct report_column *end =
		report_columns + report_columns_count();

	for (c = c ? c + 1 : report_columns + KEY_COUNT; c < end; c++)
		if (c->shown == SHOWN_SELF ||
		    (c->shown == SHOWN_TOTAL && totals) ||
		    (c->shown == SHOWN_SAMPLES && samples))
			return c;
	return NULL;
}

void column_text(const struct report_column *c, const struct column_at *x,
		 enum column_use use, struct buf *out)
{
	int64_t n;

	if (c->text) {
		c->text(x, use, out);
	} else if (c->is_label) {
		put_label(c, x, use, out);
	} else if (c->integer) {
		n = c->integer(x);
		if (n < 0)
			buf_str(out, "?");
		else
			buf_printf(out, "%" PRId64, n);
	} else if (c->count) {
		text_count(out, c->count(x));
	} else {
		buf_printf(out, "%.2f%%", fmin(c->percent(x), 999.99));
	}
}

void column_json(const struct report_column *c, const struct column_at *x,
		 struct buf *tmp, struct json *j)
{
	if (c->integer) {
		json_int(j, c->name, c->integer(x));
	} else if (c->count) {
		json_uint(j, c->name, c->count(x));
	} else if (c->percent) {
		json_fixed(j, c->name, c->percent(x), 4);
	} else {
		buf_again(tmp);
		column_text(c, x, COLUMN_DATA, tmp);
		json_str(j, c->name, buf_cstr(tmp));
	}
}

void column_csv(const struct report_column *c, const struct column_at *x,
		struct buf *tmp, struct buf *out)
{
	if (c->integer && c->integer(x) >= 0) {
		buf_printf(out, "%" PRId64, c->integer(x));
	} else if (c->count) {
		buf_printf(out, "%" PRIu64, c->count(x));
	} else if (c->percent) {
		buf_printf(out, "%.4f", c->percent(x));
	} else {
		buf_again(tmp);
		column_text(c, x, COLUMN_DATA, tmp);
		text_csv(out, buf_cstr(tmp));
	}
}

/* Writes numbers.  Columns of one object are adjacent. */
void column_json_numbers(const struct column_at *x, bool self, struct json *j)
{
	const char *open = NULL;

	for (size_t i = KEY_COUNT; i < report_columns_count(); i++) {
		const struct report_column *c = &report_columns[i];

		if (!c->data || (c->of_self && !self))
			continue;
		if (open && (!c->object || strcmp(open, c->object) != 0)) {
			json_end(j);
			open = NULL;
		}
		if (c->object && !open) {
			json_object(j, c->object);
			open = c->object;
		}
		column_json(c, x, NULL, j);
	}
	if (open)
		json_end(j);
}

const char *key_name(enum view_key k)
{
	return report_columns[k].name;
}

static void put_names(struct buf *out)
{
	for (int k = 0; k < KEY_COUNT; k++)
		buf_printf(out, "%s%s", k ? ", " : "", key_name(k));
}

static int find_key(const char *word, struct error *err)
{
	struct nearest near = nearest_to(word);
	struct buf all = { 0 };
	const char *best;

	for (int k = 0; k < KEY_COUNT; k++) {
		const struct report_column *c = &report_columns[k];

		if (!strcmp(word, c->name) ||
		    (c->alias && !strcmp(word, c->alias)))
			return k;
		nearest_try(&near, c->name);
		if (c->alias)
			nearest_try(&near, c->alias);
	}
	/* words of other tools */
	if (!strcmp(word, "function"))
		return KEY_SYMBOL;
	if (!strcmp(word, "thread"))
		return KEY_COMM;
	if (!strcmp(word, "overhead"))
		return SKIPPED;
	best = nearest_best(&near);
	if (best)
		return error_set(err, ERR_USAGE,
				 "no sort key '%s'; did you mean '%s'?", word,
				 best);
	put_names(&all);
	error_set(err, ERR_USAGE, "no sort key '%s'; there are %s", word,
		  buf_cstr(&all));
	buf_fini(&all);
	return -ERR_USAGE;
}

int key_list_parse(const char *text, struct key_list *out, struct error *err)
{
	*out = (struct key_list){ 0 };
	for (;;) {
		size_t n = strcspn(text, ",");
		char word[WORD_MAX];
		int key;

		if (n >= sizeof(word))
			n = sizeof(word) - 1;
		memcpy(word, text, n);
		word[n] = 0;
		key = find_key(word, err);
		if (key < 0)
			return key;
		if (key != SKIPPED && !(out->mask & KEY_BIT(key))) {
			out->v[out->n++] = (uint8_t)key;
			out->mask |= KEY_BIT(key);
		}
		text += strcspn(text, ",");
		if (!*text)
			break;
		text++;
	}
	if (!out->n)
		return error_set(
			err, ERR_USAGE,
			"no sort key to group by; try -s image,symbol");
	return 0;
}
