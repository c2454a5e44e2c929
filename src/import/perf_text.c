// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Imports the text of `perf script`:
 *
 *	comm [pid/]tid [cpu] seconds.micros: [period] event: [address symbol (file)]
 *	<tab>address symbol+0xoffset (file)
 *	  file.c:line
 *	<empty>
 *
 * Each line has one frame, innermost first.  The time distinguishes a header line
 * from others, so text without it (-F) is not read.
 */
#include <stdlib.h>
#include <string.h>

#include "import/foreign.h"

/* Begins records of other kinds, as by perf script --show-task-events. */
#define OTHER "PERF_RECORD_"

enum { LINE_MAX_BYTES = 1 << 16, INLINED_MAX = 256, EVENTS = 256 };

struct text_frame {
	uint32_t image;			/* PROF_NONE: inlined into the next frame */
	uint64_t address;
	size_t name, file;		/* offsets in `text` */
	uint32_t line;
};

struct perf_text {
	struct foreign *f;
	const char *name;
	const uint8_t *p, *end;
	size_t number;			/* line number */
	char *line;			/* LINE_MAX_BYTES and a NUL */
	struct buf text;		/* names in the current sample's frames */
	VEC(struct text_frame) frames;	/* frames of the current sample, innermost
					 * first */
	VEC(uint32_t) places;
	struct u64map events;		/* by the interned name */
	struct prof_sample sample;
	bool open;			/* a sample has begun */
};

struct head {
	char *comm, *event, *rest;
	uint32_t pid, tid, cpu;
	uint64_t time_ns, period;
	bool has_period;
};

/* Parses a number that ends at `end`. */
static bool number(const char *s, const char *end, int base, uint64_t *out)
{
	uint64_t v = 0;

	if (s == end)
		return false;
	for (; s < end; s++) {
		unsigned int d = *s >= '0' && *s <= '9' ? (unsigned int)*s - '0'
			: *s >= 'a' && *s <= 'f' ? (unsigned int)*s - 'a' + 10
			: 99;

		if (d >= (unsigned int)base ||
		    v > (UINT64_MAX - d) / (unsigned int)base)
			return false;
		v = v * (unsigned int)base + d;
	}
	*out = v;
	return true;
}

/* Parses "12345.678901:" as nanoseconds. */
static bool parse_time(const char *s, const char *end, uint64_t *out)
{
	const char *dot = memchr(s, '.', (size_t)(end - s));
	uint64_t whole, part;
	size_t digits;

	if (!dot || end[-1] != ':')
		return false;
	digits = (size_t)(end - 1 - dot - 1);
	if (digits < 1 || digits > 9 || !number(s, dot, 10, &whole) ||
	    !number(dot + 1, end - 1, 10, &part) || whole > 9000000000u)
		return false;
	for (; digits < 9; digits++)
		part *= 10;
	*out = whole * 1000000000u + part;
	return true;
}

/* Cuts off the last word.  Returns NULL if there is none. */
static char *last_word(char *from, char *to)
{
	while (to > from && to[-1] == ' ')
		to--;
	*to = 0;
	while (to > from && to[-1] != ' ')
		to--;
	return *to ? to : NULL;
}

/* Parses the fields before the time: a name that may contain blanks, numbers,
 * [cpu]. */
static bool parse_thread(char *from, char *to, struct head *h)
{
	char *word = last_word(from, to), *slash;
	uint64_t v;

	if (word && *word == '[' && word[strlen(word) - 1] == ']') {
		if (!number(word + 1, word + strlen(word) - 1, 10, &v))
			return false;
		h->cpu = (uint32_t)v;
		word = last_word(from, word);
	}
	if (!word)
		return false;
	slash = strchr(word, '/');
	if (!number(slash ? slash + 1 : word, word + strlen(word), 10, &v) ||
	    v > UINT32_MAX)
		return false;
	h->pid = h->tid = (uint32_t)v;
	if (slash && (!number(word, slash, 10, &v) || v > UINT32_MAX))
		return false;
	h->pid = (uint32_t)v;
	while (word > from && word[-1] == ' ')
		word--;
	*word = 0;
	h->comm = from + strspn(from, " ");
	return true;
}

/* Returns the first word that is a time, or NULL.  Only headers have one. */
static char *find_time(char *line, char **end, uint64_t *ns)
{
	for (;; line = *end) {
		char *word = line + strspn(line, " ");

		*end = word + strcspn(word, " ");
		if (!*word)
			return NULL;
		if (parse_time(word, *end, ns))
			return word;
	}
}

/* Parses a header line, which is modified. */
static bool parse_head(char *line, struct head *h)
{
	char *word, *end;

	*h = (struct head){ 0 };
	if (*line == '\t')
		return false;
	word = find_time(line, &end, &h->time_ns);
	if (!word || word == line || !parse_thread(line, word - 1, h))
		return false;
	word = end + strspn(end, " ");
	if (!strncmp(word, OTHER, strlen(OTHER)))
		return false;
	end = word + strcspn(word, " ");
	if (number(word, end, 10, &h->period)) {
		h->has_period = true;
		word = end + strspn(end, " ");
		end = word + strcspn(word, " ");
	}
	if (end == word || end[-1] != ':')
		return false;
	h->rest = *end ? end + 1 : end;
	end[-1] = 0;
	/* remove modifiers and what perf adds: cpu-clock:pppH */
	h->event = word;
	return true;
}

static bool next_line(struct perf_text *t)
{
	const uint8_t *nl;
	size_t n;

	if (t->p == t->end)
		return false;
	nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
	n = (size_t)((nl ? nl : t->end) - t->p);
	t->number++;
	/* longer lines are truncated */
	memcpy(t->line, t->p, n < LINE_MAX_BYTES ? n : LINE_MAX_BYTES);
	t->line[n < LINE_MAX_BYTES ? n : LINE_MAX_BYTES] = 0;
	n = strlen(t->line);
	if (n && t->line[n - 1] == '\r')
		t->line[n - 1] = 0;
	t->p = nl ? nl + 1 : t->end;
	return true;
}

static size_t keep(struct perf_text *t, const char *s)
{
	size_t at = t->text.n;

	buf_bytes(&t->text, s, strlen(s) + 1);
	return at;
}

/* address symbol+0xoffset (file) */
static int add_frame(struct perf_text *t, char *s)
{
	struct text_frame fr = { .line = 0 };
	char *end, *file, *plus;
	uint64_t v;

	s += strspn(s, " \t");
	end = s + strcspn(s, " ");
	if (!number(s, end, 16, &fr.address) ||
	    t->frames.n >= FOREIGN_DEPTH)
		return 0;
	s = end + strspn(end, " ");
	end = s + strlen(s);
	while (end > s && end[-1] == ' ')
		*--end = 0;
	file = NULL;
	if (end > s && end[-1] == ')') {
		/* the file name may contain parentheses: "(x (deleted))" */
		end[-1] = 0;
		for (file = end; file > s && !(file[-1] == '(' && (file - 1 == s
			|| file[-2] == ' ') && strncmp(file, "deleted)", 8)); )
			file--;
		if (file > s) {
			char *cut = file - 1;

			while (cut > s && cut[-1] == ' ')
				cut--;
			*cut = 0;
		} else {
			file = NULL;
		}
	}
	plus = strrchr(s, '+');
	if (plus && !strncmp(plus, "+0x", 3) &&
	    number(plus + 3, plus + strlen(plus), 16, &v))
		*plus = 0;
	fr.name = keep(t, strcmp(s, "[unknown]") ? s : "");
	fr.file = keep(t, "");
	fr.image = PROF_NONE;
	if (!file || strcmp(file, "inlined")) {
		fr.image = foreign_image(t->f, file ? file : "[unknown]");
		if (fr.image == PROF_NONE)
			return -ERR_NOMEM;
	}
	return vec_push(&t->frames, fr);
}

/* Adds " file.c:12" to the frame before it. */
static void add_line(struct perf_text *t, char *s)
{
	char *colon;
	uint64_t v;

	s += strspn(s, " ");
	colon = strrchr(s, ':');
	if (!colon || !t->frames.n ||
	    !number(colon + 1, colon + strlen(colon), 10, &v) ||
	    v > UINT32_MAX)
		return;
	*colon = 0;
	t->frames.v[t->frames.n - 1].file = keep(t, s);
	t->frames.v[t->frames.n - 1].line = (uint32_t)v;
}

/* Adds the frames of one place: inlined ones, and the function that contains them. */
static int add_place(struct perf_text *t, size_t from, size_t to)
{
	const struct text_frame *last = &t->frames.v[to - 1];
	struct foreign_func funcs[INLINED_MAX];
	uint32_t image = last->image, place;
	size_t n = 0;

	for (size_t i = from; i < to && n < INLINED_MAX; i++) {
		const struct text_frame *fr = &t->frames.v[i];
		const char *name = (const char *)t->text.p + fr->name;

		if (*name)
			funcs[n++] = (struct foreign_func){
				.name = name, .line = fr->line,
				.file = (const char *)t->text.p + fr->file,
			};
	}
	if (image == PROF_NONE)
		image = foreign_image(t->f, "[unknown]");
	if (image == PROF_NONE)
		return -ERR_NOMEM;
	place = foreign_place(t->f, image, last->address, funcs, n);
	return place == PROF_NONE ? -ERR_NOMEM : vec_push(&t->places, place);
}

/* Writes the sample that has begun. */
static int flush(struct perf_text *t, struct error *err)
{
	uint32_t node = 0;

	if (!t->open)
		return 0;
	t->open = false;
	t->places.n = 0;
	for (size_t i = 0, from = 0; i < t->frames.n; i++)
		if (t->frames.v[i].image != PROF_NONE ||
		    i + 1 == t->frames.n) {
			if (t->text.failed || add_place(t, from, i + 1) < 0)
				return foreign_nomem(t->name, err);
			from = i + 1;
		}
	for (size_t i = t->places.n; i-- && node != PROF_NONE;)
		node = foreign_node(t->f, node, t->places.v[i]);
	if (node == PROF_NONE)
		return foreign_nomem(t->name, err);
	t->sample.stack = node;
	return foreign_sample(t->f, &t->sample, err);
}

static bool is_clock(const char *event)
{
	size_t n = strcspn(event, ":");

	return (n == 9 && !strncmp(event, "cpu-clock", n)) ||
	       (n == 10 && !strncmp(event, "task-clock", n));
}

static uint32_t find_event(struct perf_text *t, const struct head *h)
{
	uint32_t str = profile_str(&t->f->p, h->event), *slot;

	slot = str == PROF_NONE || t->f->p.events.n >= EVENTS
		       ? NULL : u64map_slot(&t->events, str);
	if (!slot)
		return PROF_NONE;
	if (*slot == U64MAP_NONE)
		*slot = foreign_event(t->f, h->event,
				      h->has_period && is_clock(h->event), 0);
	return *slot;
}

static int begin_sample(struct perf_text *t, const struct head *h)
{
	t->frames.n = 0;
	buf_again(&t->text);
	t->sample = (struct prof_sample){
		.time_ns = h->time_ns ? h->time_ns : 1, .cpu = h->cpu,
		.weight = h->has_period ? h->period : 1,
		.thread = foreign_thread(t->f, h->pid, h->tid, h->comm),
		.event = find_event(t, h),
	};
	t->open = true;
	foreign_command(t->f, h->comm);
	if (t->sample.thread == PROF_NONE || t->sample.event == PROF_NONE)
		return -ERR_NOMEM;
	/* one frame on the same line */
	return h->rest[strspn(h->rest, " ")] ? add_frame(t, h->rest) : 0;
}

static int take_line(struct perf_text *t, struct error *err)
{
	char *s = t->line, *end;
	struct head h;
	uint64_t ns;
	int rc = 0;

	if (*s == '#')
		return 0;
	if (!*s)
		return flush(t, err);
	if (t->open && *s == '\t')
		return add_frame(t, s) < 0 ? foreign_nomem(t->name, err) : 0;
	if (t->open && t->frames.n && !strncmp(s, "  ", 2) &&
	    !find_time(s, &end, &ns)) {
		add_line(t, s);
		return 0;
	}
	rc = flush(t, err);
	if (rc)
		return rc;
	if (!parse_head(s, &h)) {
		t->f->result->skipped++;
		return 0;
	}
	return begin_sample(t, &h) < 0 ? foreign_nomem(t->name, err) : 0;
}

int perf_text_read(struct foreign *f, const uint8_t *p, size_t n,
		   const char *name, struct error *err)
{
	struct perf_text t = { .f = f, .name = name, .p = p, .end = p + n };
	int rc;

	t.line = malloc(LINE_MAX_BYTES + 1);
	rc = t.line ? 0 : foreign_nomem(name, err);
	while (!rc && next_line(&t))
		rc = take_line(&t, err);
	if (!rc)
		rc = flush(&t, err);
	free(t.line);
	buf_fini(&t.text);
	vec_fini(&t.frames);
	vec_fini(&t.places);
	u64map_fini(&t.events);
	return rc;
}

/* Recognizes the text by its first line that is no comment and no other record, which
 * must be a sample's header. */
bool perf_text_is(const uint8_t *p, size_t n)
{
	char line[512];
	struct head h;

	for (size_t at = 0; at < n;) {
		const uint8_t *nl = memchr(p + at, '\n', n - at);
		size_t len = (size_t)((nl ? nl : p + n) - (p + at));

		if (len && p[at] != '#') {
			if (!nl || len >= sizeof(line) ||
			    memchr(p + at, 0, len))
				return false;
			memcpy(line, p + at, len);
			line[len] = 0;
			if (!strstr(line, ": " OTHER))
				return parse_head(line, &h);
		}
		at += len + 1;
	}
	return false;
}
