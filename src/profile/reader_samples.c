// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads samples of a file in batches: see reader.h. */
#include <errno.h>

#include "profile/reader_internal.h"

void reader_columns(struct reader *r, unsigned int mask)
{
	r->mask = mask & COLUMN_ALL;
}

void reader_rewind(struct reader *r)
{
	r->next = 0;
	r->streamed = CHUNK_SAMPLES;
}

/* Returns whether the file has sums, and they are those of the samples that a reader would
 * get: a damaged file has samples less. */
static bool sums_usable(const struct reader *r)
{
	const struct reader_damage *d = &r->damage;
	bool any = false;

	for (size_t i = 0; i < r->chunks.n && !any; i++)
		any = r->chunks.v[i].kind == CHUNK_SUMS;
	return any && !d->incomplete && !d->bad_chunks && !d->bad_samples &&
	       reader_all_good(r);
}

void reader_rewind_sums(struct reader *r)
{
	const unsigned int summed = COLUMN_EVENT | COLUMN_WEIGHT | COLUMN_STACK |
				    COLUMN_MORE;

	reader_rewind(r);
	if (r->mask & ~summed)
		return;
	if (r->sums == SUMS_UNKNOWN)
		r->sums = sums_usable(r) ? SUMS_USABLE : SUMS_UNUSABLE;
	if (r->sums == SUMS_USABLE)
		r->streamed = CHUNK_SUMS;
}

/* Returns true if the ids of a row exist.  Columns that were not requested are
 * not checked, because the caller does not get them. */
static bool row_good(const struct reader *r, size_t i)
{
	const struct sample_columns *c = &r->columns;
	const struct profile *p = &r->profile;

	return (!(r->mask & COLUMN_THREAD) || c->thread[i] < p->threads.n) &&
	       (!(r->mask & COLUMN_EVENT) || c->event[i] < p->events.n) &&
	       (!(r->mask & COLUMN_STACK) || c->stack[i] < p->nodes.n);
}

/* Returns whether n numbers are below `end`.  A block of them takes vector
 * instructions. */
static bool all_below(const uint32_t *v, size_t n, size_t end)
{
	enum { BLOCK = 16 };
	uint32_t most = end < UINT32_MAX ? (uint32_t)end : UINT32_MAX, bad = 0;
	size_t i = 0;

	for (; i + BLOCK <= n; i += BLOCK)
		for (size_t k = i; k < i + BLOCK; k++)
			bad |= v[k] >= most;
	for (; i < n; i++)
		bad |= v[i] >= most;
	return !bad;
}

static bool batch_good(const struct reader *r)
{
	const struct sample_columns *c = &r->columns;
	const struct profile *p = &r->profile;

	return (!(r->mask & COLUMN_THREAD) ||
		all_below(c->thread, c->n, p->threads.n)) &&
	       (!(r->mask & COLUMN_EVENT) ||
		all_below(c->event, c->n, p->events.n)) &&
	       (!(r->mask & COLUMN_STACK) ||
		all_below(c->stack, c->n, p->nodes.n));
}

/* Removes rows with invalid ids (their rows were damaged). */
static void drop_bad_rows(struct reader *r, bool count)
{
	struct sample_columns *c = &r->columns;
	size_t k = 0;

	if (batch_good(r))
		return;
	for (size_t i = 0; i < c->n; i++) {
		if (!row_good(r, i))
			continue;
		c->time_ns[k] = c->time_ns[i];
		c->thread[k] = c->thread[i];
		c->cpu[k] = c->cpu[i];
		c->event[k] = c->event[i];
		c->weight[k] = c->weight[i];
		c->stack[k] = c->stack[i];
		c->more[k] = c->more[i];
		k++;
	}
	if (count)
		r->damage.bad_samples += c->n - k;
	c->n = k;
}

/* Maps equal stacks to one node.  A recorder that had forgotten a stack stored
 * it as another node. */
static void join_repeated(const struct reader *r)
{
	const struct sample_columns *c = &r->columns;

	if (!r->same || !(r->mask & COLUMN_STACK))
		return;
	for (size_t i = 0; i < c->n; i++)
		c->stack[i] = r->same[c->stack[i]];
}

static void *column_if(const struct reader *r, unsigned int bit, void *p)
{
	return r->mask & bit ? p : NULL;
}

static void batch_fill(const struct reader *r, struct sample_batch *out)
{
	const struct sample_columns *c = &r->columns;

	out->n = c->n;
	out->time_ns = column_if(r, COLUMN_TIME, c->time_ns);
	out->thread = column_if(r, COLUMN_THREAD, c->thread);
	out->cpu = column_if(r, COLUMN_CPU, c->cpu);
	out->event = column_if(r, COLUMN_EVENT, c->event);
	out->weight = column_if(r, COLUMN_WEIGHT, c->weight);
	out->stack = column_if(r, COLUMN_STACK, c->stack);
	out->more = column_if(r, COLUMN_MORE, c->more);
}

static void note_unread(struct reader *r, const struct chunk *c,
			bool first_time, bool no_memory)
{
	if (first_time) {
		reader_note_damage(r, c->offset, CHUNK_HEADER + c->stored);
		r->damage.bad_samples += c->kind == CHUNK_SAMPLES ? c->rows : 0;
	}
	r->damage.no_memory |= no_memory;
	if (first_time || no_memory)
		reader_describe_damage(r);
}

/* Notes a damaged chunk of sums, whose samples are read instead. */
static void check_sums(struct reader *r, size_t i)
{
	r->counted[i] = 1;
	if (!reader_payload_good(r, &r->chunks.v[i]))
		note_unread(r, &r->chunks.v[i], true, false);
}

/* Decodes the rows of a chunk. */
static bool get_rows(struct reader *r, const struct chunk *c)
{
	struct cursor body = cursor_of(r->p + c->offset + CHUNK_HEADER, c->stored);
	uint64_t rows = c->kind == CHUNK_SUMS ? cursor_uleb(&body) : c->rows;

	return !body.bad && rows <= SAMPLE_BATCH && reader_payload_good(r, c) &&
	       c->codec == CODEC_STORED &&
	       columns_get(body.p, cursor_left(&body), (size_t)rows, r->mask,
			   &r->columns, &r->scratch);
}

bool reader_next(struct reader *r, struct sample_batch *out)
{
	while (r->next < r->chunks.n) {
		size_t i = r->next++;
		const struct chunk *c = &r->chunks.v[i];
		bool first_time = !r->counted[i];

		if (c->kind == CHUNK_SUMS && first_time && r->streamed != c->kind)
			check_sums(r, i);
		if (c->kind != r->streamed)
			continue;
		r->counted[i] = 1;
		errno = 0;
		if (!get_rows(r, c)) {
			note_unread(r, c, first_time, errno == ENOMEM);
			continue;
		}
		reader_forget_pages(r, c->offset,
			     c->offset + CHUNK_HEADER + c->stored);
		drop_bad_rows(r, first_time);
		if (first_time && r->damage.bad_samples)
			reader_describe_damage(r);
		if (!r->columns.n)
			continue;
		join_repeated(r);
		batch_fill(r, out);
		return true;
	}
	return false;
}
