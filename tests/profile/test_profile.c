// SPDX-License-Identifier: GPL-2.0-or-later
/* The model's interning and the file's round trip. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/outfile.h"
#include "profile/format.h"
#include "profile/reader.h"
#include "profile/replace.h"
#include "profile/writer.h"
#include "sample_profile.h"

enum { SAMPLES = 100 };

static void test_interning(void **state)
{
	struct profile p;
	uint32_t a, b;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	a = profile_loc(&p, 0, 0x1000);
	b = profile_loc(&p, 1, 0x1000);
	assert_int_not_equal(a, b);
	assert_int_equal(profile_loc(&p, 0, 0x1000), a);
	assert_int_equal(profile_node(&p, 0, a), 1);
	assert_int_equal(profile_node(&p, 1, a), 2);
	assert_int_equal(profile_node(&p, 0, a), 1);
	assert_int_equal(p.nodes.v[2].parent, 1);
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(profile_loc(&p, 2, i * 7), 2 + i);
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(profile_loc(&p, 2, i * 7), 2 + i);
	profile_fini(&p);
}

/* A whole file in memory: the caller frees. */
static struct buf make_file(bool symbols, size_t samples, size_t flush_every)
{
	struct profile p;
	struct writer *w;
	struct error err;
	struct buf out = { 0 };
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(profile_init(&p), 0);
	sample_profile_symbolize(&p);
	assert_int_equal(writer_open_fd(fd, "test", &p, &w, &err), 0);
	for (size_t i = 0; i < samples; i++) {
		struct prof_sample s = sample_profile_sample(i);

		assert_int_equal(writer_sample(w, &s, &err), 0);
		if (flush_every && i % flush_every == 0)
			assert_int_equal(writer_flush(w, &err), 0);
	}
	p.runs.v[0].end_ns = 99;
	p.runs.v[0].exit_status = 3;
	assert_int_equal(writer_flush(w, &err), 0);
	if (symbols) {
		assert_int_equal(profile_begin_symbols(&p), 0);
		sample_profile_symbols(&p);
	}
	assert_int_equal(writer_finish(w, &err), 0);
	writer_close(w);
	profile_fini(&p);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(io_read_fd(fd, "test", 1 << 20, &out, &err), 0);
	close(fd);
	return out;
}

/* Every stored field of every row. */
static void same_tables(const struct profile *a, const struct profile *b)
{
	for (size_t i = 0; i < format_ntables; i++) {
		const struct table *t = &format_tables[i];

		assert_int_equal(table_rows(a, t), table_rows(b, t));
		for (size_t r = 0; r < table_rows(a, t); r++)
			for (size_t c = 0; c < t->ncolumns; c++)
				assert_int_equal(
					column_get(table_row(a, t, r),
						   &t->columns[c]),
					column_get(table_row(b, t, r),
						   &t->columns[c]));
	}
}

static void check_tables(const struct profile *p, bool symbols)
{
	struct profile want;

	assert_int_equal(profile_init(&want), 0);
	sample_profile_symbolize(&want);
	want.runs.v[0].end_ns = 99;
	want.runs.v[0].exit_status = 3;
	if (symbols) {
		assert_int_equal(profile_begin_symbols(&want), 0);
		sample_profile_symbols(&want);
	}
	assert_int_equal(p->symbolized, symbols);
	assert_int_equal(p->str.str.n, want.str.str.n);
	for (uint32_t i = 0; i < want.str.str.n; i++)
		assert_string_equal(profile_cstr(p, i), profile_cstr(&want, i));
	same_tables(p, &want);
	assert_memory_equal(&p->images.v[0].build_id,
			    &want.images.v[0].build_id,
			    sizeof(struct build_id));
	assert_int_equal(p->images.v[0].note, want.images.v[0].note);
	assert_int_equal(p->codes.n, want.codes.n);
	if (symbols)
		assert_memory_equal(p->code_bytes.p, "\x55\x48\x89\xe5", 4);
	assert_int_equal(p->texts.n, want.texts.n);
	if (symbols)
		assert_memory_equal(p->text_bytes.p, "a\nb\nlast\n", 9);
	for (size_t i = 0; i < want.texts.n; i++)
		assert_memory_equal(&p->texts.v[i], &want.texts.v[i],
				    sizeof(want.texts.v[i]));
	assert_string_equal(profile_env(p, PROF_NONE, "hostname"), "box");
	assert_string_equal(profile_env(p, 0, "cwd"), "/tmp");
	assert_null(profile_env(p, 0, "hostname"));
	profile_fini(&want);
}

static size_t check_samples(struct reader *r, size_t want)
{
	struct sample_batch b;
	size_t n = 0;

	reader_rewind(r);
	while (reader_next(r, &b)) {
		for (size_t i = 0; i < b.n; i++, n++) {
			struct prof_sample s = sample_profile_sample(n);

			assert_int_equal(b.time_ns[i], s.time_ns);
			assert_int_equal(b.thread[i], s.thread);
			assert_int_equal(b.cpu[i], s.cpu);
			assert_int_equal(b.event[i], s.event);
			assert_int_equal(b.weight[i], s.weight);
			assert_int_equal(b.stack[i], s.stack);
		}
	}
	if (want)
		assert_int_equal(n, want);
	return n;
}

static struct reader *open_bytes(const struct buf *b)
{
	struct reader *r;
	struct error err;

	assert_int_equal(reader_open_bytes(b->p, b->n, "test", &r, &err), 0);
	return r;
}

static void round_trip(bool symbols, size_t samples, size_t flush_every)
{
	struct buf b = make_file(symbols, samples, flush_every);
	struct reader *r = open_bytes(&b);

	check_tables(reader_profile(r), symbols);
	assert_int_equal(reader_sample_count(r), samples);
	check_samples(r, samples);
	check_samples(r, samples);
	assert_string_equal(reader_damage(r)->message, "");
	assert_false(reader_damage(r)->incomplete);
	reader_close(r);
	buf_fini(&b);
}

static void test_round_trip(void **state)
{
	(void)state;
	round_trip(false, SAMPLES, 0);
	round_trip(true, SAMPLES, 0);
	round_trip(true, SAMPLES, 7);
	round_trip(true, 3 * SAMPLE_BATCH + 5, 0);
}

static void test_columns(void **state)
{
	struct buf b = make_file(false, SAMPLES, 0);
	struct reader *r = open_bytes(&b);
	struct sample_batch batch;

	(void)state;
	reader_columns(r, COLUMN_STACK | COLUMN_EVENT);
	assert_true(reader_next(r, &batch));
	assert_null(batch.time_ns);
	assert_null(batch.thread);
	assert_null(batch.cpu);
	assert_null(batch.weight);
	for (size_t i = 0; i < batch.n; i++) {
		assert_int_equal(batch.stack[i],
				 sample_profile_sample(i).stack);
		assert_int_equal(batch.event[i],
				 sample_profile_sample(i).event);
	}
	reader_close(r);
	buf_fini(&b);
}

/* Any cut opens (or says that the header is cut), yields a prefix of the
 * samples, and says that something is missing. */
static void test_every_cut(void **state)
{
	struct buf b = make_file(true, SAMPLES, 9);
	size_t last = 0;

	(void)state;
	for (size_t n = 0; n < b.n; n++) {
		uint8_t *copy = malloc(n + 1);
		struct reader *r;
		struct error err;
		size_t got;

		memcpy(copy, b.p, n);
		if (reader_open_bytes(copy, n, "cut", &r, &err) < 0) {
			assert_true(n < 32);
			assert_non_null(strstr(err.msg, "cut"));
			free(copy);
			continue;
		}
		assert_true(n >= 32);
		got = check_samples(r, 0);
		assert_true(got >= last);
		last = got;
		assert_true(reader_damage(r)->incomplete);
		assert_string_not_equal(reader_damage(r)->message, "");
		reader_close(r);
		free(copy);
	}
	assert_int_equal(last, SAMPLES);
	buf_fini(&b);
}

/* A flipped byte is noticed, and costs at most the chunk it is in. */
static void test_every_flip(void **state)
{
	struct buf b = make_file(true, SAMPLES, 9);

	(void)state;
	for (size_t n = 0; n < b.n; n++) {
		struct reader *r;
		struct error err;
		struct sample_batch batch;
		size_t got = 0;

		b.p[n] ^= 0x41;
		if (reader_open_bytes(b.p, b.n, "flip", &r, &err) < 0) {
			assert_true(n < 32);
			b.p[n] ^= 0x41;
			continue;
		}
		while (reader_next(r, &batch))
			got += batch.n;
		assert_true(reader_damage(r)->bad_chunks ||
			    reader_damage(r)->incomplete);
		assert_true(got + reader_damage(r)->bad_samples <= SAMPLES);
		assert_string_not_equal(reader_damage(r)->message, "");
		reader_close(r);
		b.p[n] ^= 0x41;
	}
	buf_fini(&b);
}

/* A middle chunk that is gone takes its own rows only. */
static void test_lost_middle(void **state)
{
	struct buf b = make_file(true, SAMPLES, 9);
	struct reader *r;
	struct sample_batch batch;
	size_t got = 0;

	(void)state;
	for (size_t i = 0; i < 100; i++)	/* inside the first tables */
		b.p[80 + i] = 0;
	r = open_bytes(&b);
	while (reader_next(r, &batch))
		got += batch.n;
	assert_true(reader_damage(r)->bad_chunks > 0);
	assert_int_equal(got + reader_damage(r)->bad_samples, SAMPLES);
	reader_close(r);
	buf_fini(&b);
}

static char *scratch_file(const struct buf *b)
{
	char *path = strdup("/tmp/tally-test-XXXXXX");
	int fd = mkstemp(path);
	struct error err;

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, path, b->p, b->n, &err), 0);
	close(fd);
	return path;
}

/* Symbolizing an unsymbolized copy gives the same bytes as at once; doing it
 * again does not grow the file. */
static void test_replace_symbols(void **state)
{
	struct buf plain = make_file(false, SAMPLES, 9);
	struct buf full = make_file(true, SAMPLES, 9);
	char *path = scratch_file(&plain);

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct reader *r;
		struct error err;
		struct buf got = { 0 };

		assert_int_equal(reader_open(path, 0, &r, &err), 0);
		assert_int_equal(profile_begin_symbols(reader_profile(r)), 0);
		sample_profile_symbols(reader_profile(r));
		assert_int_equal(writer_replace_symbols(
					 path, path, reader_profile(r), &err),
				 0);
		reader_close(r);
		assert_int_equal(io_read_file(path, 1 << 20, &got, &err), 0);
		assert_int_equal(got.n, full.n);
		assert_memory_equal(got.p, full.p, full.n);
		buf_fini(&got);
	}
	unlink(path);
	free(path);
	buf_fini(&plain);
	buf_fini(&full);
}

/* Symbolizing a recording that was cut does not make it whole. */
static void test_replace_in_cut(void **state)
{
	struct buf b = make_file(false, SAMPLES, 9);
	struct reader *r;
	struct error err;
	char *path;

	(void)state;
	b.n -= 1;
	path = scratch_file(&b);
	assert_int_equal(reader_open(path, 0, &r, &err), 0);
	assert_int_equal(profile_begin_symbols(reader_profile(r)), 0);
	sample_profile_symbols(reader_profile(r));
	assert_int_equal(writer_replace_symbols(path, path, reader_profile(r),
						&err), 0);
	reader_close(r);
	assert_int_equal(reader_open(path, 0, &r, &err), 0);
	assert_true(reader_profile(r)->symbolized);
	assert_true(reader_damage(r)->incomplete);
	check_samples(r, SAMPLES);
	reader_close(r);
	unlink(path);
	free(path);
	buf_fini(&b);
}

/* Sizes at which the level changes, and those that are too short to get smaller. */
static void test_deflate(void **state)
{
	enum { MOST = 5000 };
	struct deflater deflater = { { NULL } };
	uint8_t in[MOST], out[MOST];
	unsigned int seed = 1;

	(void)state;
	for (size_t n = 1; n <= MOST; n += n < 200 ? 1 : 97)
		for (int noise = 0; noise < 2; noise++) {
			struct buf packed = { 0 };

			for (size_t i = 0; i < n; i++)
				in[i] = (uint8_t)(noise ? (size_t)rand_r(&seed) >> 7 : i % 7);
			assert_true(format_deflate(&deflater, in, n, &packed));
			assert_true(noise || n < 100 || packed.n < n / 2);
			assert_true(format_inflate(packed.p, packed.n, out, n));
			assert_memory_equal(in, out, n);
			buf_fini(&packed);
		}
	deflater_fini(&deflater);
}

/* A chunk of a table's rows, all of whose columns are zeros. */
static void put_bomb(struct buf *file, uint32_t seq, uint64_t section,
		     size_t first, size_t rows, size_t columns)
{
	struct chunk c = { .seq = seq, .kind = CHUNK_TABLES,
			   .codec = CODEC_ZLIB };
	struct buf body = { 0 }, raw = { 0 }, packed = { 0 };
	struct deflater deflater = { { NULL } };

	buf_uleb(&body, first);
	buf_uleb(&body, rows);
	buf_uleb(&body, columns);
	for (size_t i = 0; i < columns; i++) {
		buf_uleb(&body, rows);
		assert_non_null(buf_room(&body, rows));
		memset(body.p + body.n, 0, rows);
		body.n += rows;
	}
	buf_uleb(&raw, section);
	buf_uleb(&raw, body.n);
	buf_bytes(&raw, body.p, body.n);
	buf_fini(&body);
	assert_true(format_deflate(&deflater, raw.p, raw.n, &packed));
	deflater_fini(&deflater);
	c.raw = (uint32_t)raw.n;
	c.stored = (uint32_t)packed.n;
	c.payload_crc = format_crc(packed.p, packed.n);
	chunk_put_header(file, &c);
	buf_bytes(file, packed.p, packed.n);
	buf_fini(&raw);
	buf_fini(&packed);
}

/* Small files that would take all memory there is: rows that zlib made of
 * nothing. */
static void test_bombs(void **state)
{
	enum { ROWS = 2 << 20 };
	struct buf whole = make_file(false, 1, 1), file = { 0 };
	struct chunk refused;
	struct reader *r;
	struct error err;
	size_t at;
	char *path;

	(void)state;
	buf_bytes(&file, whole.p, FORMAT_HEADER);
	for (uint32_t i = 0; i < 8; i++)	/* a row is three bytes */
		put_bomb(&file, i, SECTION_ENVS, i * (size_t)ROWS, ROWS, 3);
	assert_true(file.n < 300000);
	/* all tables would take more than 64 times the file and 64 MB */
	assert_int_equal(reader_open_bytes(file.p, file.n, "bomb.tally", &r,
					   &err), -ERR_FORMAT);
	assert_null(r);
	assert_non_null(strstr(err.msg, "bomb.tally: "));
	assert_non_null(strstr(err.msg, "--max-memory SIZE"));
	assert_non_null(strstr(err.msg, " offset "));
	at = strtoull(strstr(err.msg, " offset ") + 8, NULL, 10);
	assert_in_range(at, FORMAT_HEADER, file.n - CHUNK_HEADER);
	assert_true(chunk_get_header(file.p + at, &refused));
	/* the caller may allow more, or less */
	path = scratch_file(&file);
	assert_int_equal(reader_open(path, 4ull << 30, &r, &err), 0);
	assert_int_equal(reader_profile(r)->envs.n, 8 * ROWS);
	reader_close(r);
	assert_int_equal(reader_open(path, 100, &r, &err), -ERR_FORMAT);
	unlink(path);
	free(path);
	buf_fini(&whole);
	buf_fini(&file);
	/* tally-format(5): a sixteenth of the memory, from 64 MB to 1 GB */
	assert_in_range(reader_usual_memory(0), 64 << 20, 1 << 30);
	assert_int_equal(reader_usual_memory(1000), reader_usual_memory(0) + 64000);
}

static void test_not_tally(void **state)
{
	struct reader *r;
	struct error err;

	(void)state;
	assert_true(reader_open_bytes("PERFILE2........................", 32,
				      "perf.data", &r, &err) < 0);
	assert_non_null(strstr(err.msg, "perf.data: not a tally recording"));
	/* the head of what tally wrote before its format was settled */
	assert_true(reader_open_bytes("\x89TALLY\r\n\1\0\4\0 \0\0\0\0\0\0\0\0"
				      "\0\0\0\0\0\0\0\0\0\0\0", 32, "early.tally",
				      &r, &err) < 0);
	assert_non_null(strstr(err.msg, "early.tally: "));
	assert_non_null(strstr(err.msg, "record again"));
	assert_true(reader_open("/nonexistent", 0, &r, &err) < 0);
	assert_int_equal(err.code, ERR_NOTFOUND);
}

/* An old recording is kept as FILE.old. */
static void test_keeps_old(void **state)
{
	struct buf b = make_file(false, 1, 0), got = { 0 };
	char *path = scratch_file(&b), old[64];
	struct outfile f;
	struct error err;

	(void)state;
	snprintf(old, sizeof(old), "%s.old", path);
	assert_int_equal(outfile_open(&f, path, true, &err), 0);
	assert_int_equal(recording_keep_old(&f, &err), 0);
	assert_int_equal(outfile_place(&f, &err), 0);
	outfile_drop(&f);
	assert_int_equal(io_read_file(old, 1 << 20, &got, &err), 0);
	assert_int_equal(got.n, b.n);
	unlink(path);
	unlink(old);
	free(path);
	buf_fini(&b);
	buf_fini(&got);
}

/* Stacks that come again and again, in no order, more than are kept. */
enum { REPEATED = 5000, REPEATED_KEPT = 64, REPEATED_DEPTH = 6 };

static void repeated_stack(size_t i, uint32_t *locs)
{
	uint64_t x = hash_u64(i % 700 * 3 + i % 3);

	for (size_t d = 0; d < REPEATED_DEPTH; d++)
		locs[d] = (uint32_t)(x >> 8 * d) % 3;
}

static uint32_t repeated_node(struct profile *p, size_t i)
{
	uint32_t locs[REPEATED_DEPTH], node = 0;

	repeated_stack(i, locs);
	if (i % 3)
		node = profile_end(p, PROF_MARK_CUT, i % 3, PROF_NONE);
	for (size_t d = 0; d < REPEATED_DEPTH; d++)
		node = profile_node(p, node, profile_loc(p, 0, locs[d]));
	assert_true(node != PROF_NONE);
	return node;
}

static void write_repeated(struct profile *p, struct writer *w)
{
	struct error err;

	for (size_t i = 0; i < REPEATED; i++) {
		struct prof_sample s = sample_profile_sample(0);

		s.time_ns = i;
		s.stack = repeated_node(p, i);
		assert_int_equal(writer_sample(w, &s, &err), 0);
		if (i % 10)
			continue;
		if (p->nodes_repeat && !profile_env(p, PROF_NONE,
						    PROF_ENV_REPEATED))
			assert_int_equal(profile_set_env(p, PROF_NONE,
							 PROF_ENV_REPEATED, "1"),
					 0);
		assert_int_equal(writer_flush(w, &err), 0);
		profile_nodes_written(p);
		assert_int_equal(p->nodes.n, 0);
		assert_true(p->node_tab.n + p->node_before.n <= REPEATED_KEPT);
	}
}

/* Makes a stack of `depth` frames with these locations; returns its innermost node. */
static uint32_t straight_stack(struct profile *p, uint32_t first, size_t depth)
{
	uint32_t node = 0;

	for (size_t i = 0; i < depth; i++)
		node = profile_node(p, node, first + (uint32_t)i);
	return node;
}

/* The nodes of one stack have consecutive numbers and are found as such, also when their
 * rows are only in the file. */
static void test_stacks_in_a_row(void **state)
{
	struct profile p;
	uint32_t a, b, more;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	profile_keep_nodes(&p, 8);
	a = straight_stack(&p, 100, 10);
	assert_int_equal(a, 10);
	assert_int_equal(straight_stack(&p, 100, 10), a);
	assert_int_equal(p.node_tab.n, 1);	/* the outermost one */
	profile_nodes_written(&p);
	assert_int_equal(straight_stack(&p, 100, 10), a);
	b = profile_node(&p, a - 1, 7);		/* a second child */
	assert_int_equal(b, a + 1);
	more = profile_node(&p, b, 8);
	assert_int_equal(more, b + 1);
	profile_nodes_written(&p);
	assert_int_equal(profile_node(&p, a - 1, 7), b);
	assert_int_equal(profile_node(&p, b, 8), more);
	assert_int_equal(profile_node(&p, a - 1, 109), a);
	/* the root's marks are not its children by location */
	assert_int_not_equal(profile_node(&p, 0, 101), 2);
	assert_false(p.nodes_repeat);

	straight_stack(&p, 200, 32);
	profile_nodes_written(&p);
	assert_true(p.nodes_repeat);
	assert_true(straight_stack(&p, 100, 10) > more);
	a = straight_stack(&p, 200, 32);
	profile_forget_nodes(&p);
	assert_true(straight_stack(&p, 200, 32) > a);
	profile_fini(&p);
}

/* The recorder forgets stacks that it wrote; a reader sees none of that. */
static void test_repeated_stacks(void **state)
{
	char path[] = "/tmp/tally-test.XXXXXX";
	int fd = mkstemp(path);
	struct u64map seen = { 0 };
	struct sample_batch b;
	struct profile p;
	struct writer *w;
	struct reader *r;
	struct error err;
	size_t n = 0, distinct = 0;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(profile_init(&p), 0);
	sample_profile_symbolize(&p);
	profile_keep_nodes(&p, REPEATED_KEPT);
	assert_int_equal(writer_open_fd(fd, "test", &p, &w, &err), 0);
	write_repeated(&p, w);
	assert_true(p.nodes_repeat);
	assert_int_equal(writer_finish(w, &err), 0);
	writer_close(w);
	profile_fini(&p);

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(reader_open_fd(fd, "test", 0, &r, &err), 0);
	while (reader_next(r, &b))
		for (size_t i = 0; i < b.n; i++, n++) {
			const struct profile *q = reader_profile(r);
			uint32_t locs[REPEATED_DEPTH], node = b.stack[i], *slot;
			uint64_t chain = 0;

			repeated_stack(n, locs);
			for (size_t d = REPEATED_DEPTH; d-- > 0;) {
				const struct prof_node *at = &q->nodes.v[node];

				assert_int_equal(q->locs.v[at->loc].vaddr,
						 locs[d]);
				chain = chain * 3 + locs[d];
				node = at->parent;
			}
			if (n % 3) {
				assert_int_equal(q->nodes.v[node].loc,
						 PROF_MARK_CUT);
				node = q->nodes.v[node].parent;
			}
			assert_int_equal(node, 0);
			/* one stack, one node */
			slot = u64map_slot(&seen, chain * 3 + n % 3);
			assert_non_null(slot);
			if (*slot == U64MAP_NONE) {
				*slot = b.stack[i];
				distinct++;
			}
			assert_int_equal(*slot, b.stack[i]);
		}
	assert_int_equal(n, REPEATED);
	assert_true(distinct > 4 * REPEATED_KEPT);
	u64map_fini(&seen);
	reader_close(r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interning),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_every_flip),
		cmocka_unit_test(test_lost_middle),
		cmocka_unit_test(test_replace_symbols),
		cmocka_unit_test(test_replace_in_cut),
		cmocka_unit_test(test_not_tally),
		cmocka_unit_test(test_deflate),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_keeps_old),
		cmocka_unit_test(test_stacks_in_a_row),
		cmocka_unit_test(test_repeated_stacks),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
