// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes and reads the state of a continuous recording: see status.h. */
#include "continuous/status.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_in.h"
#include "base/text.h"
#include "base/vec.h"

enum kind {
	TEXT, NUMBER, REAL, TRUTH,
	TOTAL,		/* a number to which earlier keepers add theirs */
};

/* Members of the JSON object, in order. */
static const struct member {
	const char *name;
	enum kind kind;
	size_t at, room;
} members[] = {
#define M(kind, name) \
	{ #name, kind, offsetof(struct continuous_status, name), \
	  sizeof(((struct continuous_status *)0)->name) }
#define K(kind, name, member) \
	{ #name, kind, offsetof(struct continuous_status, keeper_says.member), \
	  sizeof(((struct continuous_status *)0)->keeper_says.member) }
	M(TEXT, state), M(TEXT, why), M(NUMBER, pid), M(NUMBER, recorder),
	M(NUMBER, keeper), M(NUMBER, started_s), M(NUMBER, written_s),
	M(NUMBER, running_s),
	M(REAL, cpu_seconds), M(NUMBER, memory_bytes), M(NUMBER, restarts),
	M(NUMBER, files), M(NUMBER, bytes), M(NUMBER, removed),
	M(NUMBER, free_bytes), M(TRUTH, pushing),
	/* from the keeper; its number of files counts since the start */
	K(TOTAL, files_finished, files), K(TOTAL, samples, samples),
	K(TOTAL, lost, lost), K(TOTAL, unreadable, unreadable),
	K(TOTAL, files_full, full), K(TOTAL, pushed_files, pushed_files),
	K(TOTAL, sent, push.sent), K(TOTAL, sent_bytes, push.sent_bytes),
	K(TOTAL, sent_samples, push.samples), K(TOTAL, tries, push.tries),
	K(TOTAL, refused, push.refused), K(TOTAL, rejected, push.rejected),
	K(TOTAL, dropped, push.dropped), K(NUMBER, waiting, push.waiting),
	K(NUMBER, waiting_bytes, push.waiting_bytes),
	K(NUMBER, last_push_s, last_push_s), K(TEXT, problem, push.problem),
#undef M
#undef K
};
enum { MEMBERS = COUNT(members) };

void status_add(struct continuous_status *s, const struct keeper_report *earlier)
{
	const char *from = (const char *)earlier;
	size_t start = offsetof(struct continuous_status, keeper_says);

	for (int i = 0; i < MEMBERS; i++) {
		const struct member *m = &members[i];

		if (m->kind == TOTAL)
			*(uint64_t *)((char *)s + m->at) +=
				*(const uint64_t *)(from + m->at - start);
	}
}

void status_json(const struct continuous_status *s, struct buf *out)
{
	struct json j = json_on(out);

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	for (int i = 0; i < MEMBERS; i++) {
		const struct member *m = &members[i];
		const char *p = (const char *)s + m->at;

		switch (m->kind) {
		case TEXT:
			json_str(&j, m->name, p);
			break;
		case NUMBER:
		case TOTAL:
			json_uint(&j, m->name, *(const uint64_t *)p);
			break;
		case REAL:
			json_fixed(&j, m->name, *(const double *)p, 3);
			break;
		case TRUTH:
			json_bool(&j, m->name, *(const bool *)p);
			break;
		}
	}
	json_end(&j);
	buf_u8(out, '\n');
}

static void take(struct json_in *j, const struct member *m,
		 struct continuous_status *s)
{
	char *p = (char *)s + m->at;
	struct buf text = { 0 };
	double v;

	if (m->kind == TEXT) {
		if (json_in_is(j, '"'))
			json_in_string(j, &text);
		else
			json_in_skip(j);
		snprintf(p, m->room, "%s", buf_cstr(&text));
		buf_fini(&text);
		return;
	}
	v = json_in_number(j);
	if (m->kind == TRUTH)
		*(bool *)p = v == 1;
	else if (m->kind == REAL)
		*(double *)p = isfinite(v) ? v : 0;
	else
		*(uint64_t *)p = v > 0 && v < 0x1p53 ? (uint64_t)v : 0;
}

int status_parse(const void *p, size_t n, struct continuous_status *out,
		 struct error *err)
{
	struct json_in j = json_in_of(p, n);
	struct buf key = { 0 };
	double schema = 0;

	*out = (struct continuous_status){ .pid = 0 };
	if (json_in_is(&j, '{') && json_in_object(&j))
		while (json_in_key(&j, &key)) {
			int i = 0;

			while (i < MEMBERS &&
			       strcmp(members[i].name, buf_cstr(&key)) != 0)
				i++;
			if (!strcmp(buf_cstr(&key), "schema"))
				schema = json_in_number(&j);
			else if (i < MEMBERS)
				take(&j, &members[i], out);
			else
				json_in_skip(&j);
		}
	buf_fini(&key);
	return !j.bad && schema == 1 ? 0
	       : error_set(err, ERR_FORMAT, "is not the status of a "
			   "continuous recording");
}

static void duration(struct buf *b, uint64_t s)
{
	if (s >= 86400)
		buf_printf(b, "%llu d %llu h", (unsigned long long)(s / 86400),
			   (unsigned long long)(s / 3600 % 24));
	else if (s >= 3600)
		buf_printf(b, "%llu h %llu min", (unsigned long long)(s / 3600),
			   (unsigned long long)(s / 60 % 60));
	else if (s >= 60)
		buf_printf(b, "%llu min %llu s", (unsigned long long)(s / 60),
			   (unsigned long long)(s % 60));
	else
		buf_printf(b, "%llu s", (unsigned long long)s);
}

static uint64_t since(uint64_t then, uint64_t now)
{
	return now > then ? now - then : 0;
}

static void megabytes(struct buf *b, uint64_t n)
{
	buf_printf(b, "%.1f MB", (double)n / (1 << 20));
}

static void counted(struct buf *b, const char *before, uint64_t n,
		    const char *after)
{
	buf_str(b, before);
	text_count(b, n);
	buf_str(b, after);
}

static void push_text(const struct keeper_report *k, uint64_t now_s,
		      struct buf *b)
{
	counted(b, "push       ", k->push.sent, " requests sent with ");
	text_count(b, k->push.samples);
	buf_str(b, " samples, ");
	megabytes(b, k->push.sent_bytes);
	if (k->last_push_s) {
		buf_str(b, "; the last ");
		duration(b, since(k->last_push_s, now_s));
		buf_str(b, " ago");
	}
	buf_u8(b, '\n');
	if (k->push.refused || k->push.rejected || k->push.dropped) {
		counted(b, "           refused: ", k->push.refused, " requests");
		counted(b, ", left out by the server: ", k->push.rejected,
			" profiles");
		counted(b, ", dropped from the spool: ", k->push.dropped,
			" requests\n");
	}
	counted(b, "spool      ", k->push.waiting, " requests wait, ");
	megabytes(b, k->push.waiting_bytes);
	buf_u8(b, '\n');
	if (*k->push.problem) {
		buf_str(b, "problem    ");
		text_safe(b, k->push.problem);
		buf_u8(b, '\n');
	}
}

void status_text(const struct continuous_status *s, bool running,
		 uint64_t now_s, struct buf *b)
{
	const struct keeper_report *k = &s->keeper_says;
	uint64_t life = s->running_s;

	buf_str(b, "state      ");
	text_safe(b, running ? s->state : "not running");
	if (*s->why) {
		buf_str(b, ": ");
		text_safe(b, s->why);
	}
	buf_str(b, running ? ", for " : ", ended ");
	duration(b, running ? life : since(s->written_s, now_s));
	buf_str(b, running ? "\n" : " ago\n");
	counted(b, "samples    ", k->samples, " in ");
	text_count(b, k->files);
	counted(b, " finished files, ", k->lost, " lost\n");
	if (k->full)
		counted(b, "           ", k->full,
			" files ended early: many stacks (--switch-memory)\n");
	if (k->unreadable)
		counted(b, "           ", k->unreadable,
			" files could not be read\n");
	buf_printf(b, "processor  %.2f%% of one, ",
		   life ? 100 * s->cpu_seconds / (double)life : 0);
	megabytes(b, s->memory_bytes);
	buf_str(b, " of memory\n");
	if (s->restarts)
		counted(b, "           ", s->restarts,
			" times a recorder died and was started again\n");
	counted(b, "disk       ", s->files, " files, ");
	megabytes(b, s->bytes);
	counted(b, "; ", s->removed, " removed; ");
	megabytes(b, s->free_bytes);
	buf_str(b, " are free\n");
	if (s->pushing)
		push_text(k, now_s, b);
}
