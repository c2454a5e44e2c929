// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads sections of an ELF image and decompresses them with zlib and zstd (gABI
 * chapter 4, "Compressed Sections", and the older .zdebug_ form), in two threads if
 * several large ones are requested.  A damaged section is treated as missing.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef HAVE_LIBZSTD
#include <zstd.h>
#endif

#include "image/image_internal.h"

enum {
	ZSTD = 2,	/* ELFCOMPRESS_ZSTD, not in every elf.h */
	/* The best possible ratios; a header that claims more is invalid.
	 * Deflate: 258 bytes in 2 bits; zstd: a block of 128 KiB in 3 bytes. */
	MAX_RATIO_ZLIB = 1032,
	MAX_RATIO_ZSTD = (128 << 10) / 3,
	MAX_JOBS = 16,
	THREAD_BYTES = 1 << 20,
};

/* One section to decompress. init allocates memory, run may execute in any
 * thread, done returns the data (empty if it was damaged). */
struct inflate_job {
	struct image *img;
	struct image_sect *s;
	const uint8_t *in;
	size_t nin;
	uint64_t size;
	bool zstd, good;
};

static bool is_compressed(const struct image_sect *s)
{
	return (s->flags & SHF_COMPRESSED) || !strncmp(s->name, ".zdebug_", 8);
}

/* Real debug information compresses to a quarter, rarely to a tenth. */
uint64_t image_inflate_room(const struct image *img)
{
	uint64_t most = (256ull << 20) + 32 * (uint64_t)img->bytes.n;

	if (most > IMAGE_MAX_INFLATED)
		most = IMAGE_MAX_INFLATED;
	return most > img->inflated ? most - img->inflated : 0;
}

/* Prepares the old GNU format: "ZLIB" and the big-endian size before the
 * deflate stream. */
static bool zdebug_init(struct span raw, struct inflate_job *job)
{
	int i;

	if (raw.n < 12 || memcmp(raw.p, "ZLIB", 4))
		return false;
	for (job->size = 0, i = 4; i < 12; i++)
		job->size = job->size << 8 | raw.p[i];
	job->in = raw.p + 12;
	job->nin = raw.n - 12;
	return true;
}

static bool chdr_init(struct image *img, struct span raw,
		      struct inflate_job *job)
{
	size_t head = image_is_64(img) ? sizeof(Elf64_Chdr)
				       : sizeof(Elf32_Chdr);
	Elf32_Chdr c32;
	Elf64_Chdr ch;

	if (raw.n < head)
		return false;
	if (image_is_64(img)) {
		memcpy(&ch, raw.p, sizeof(ch));
	} else {
		memcpy(&c32, raw.p, sizeof(c32));
		ch = (Elf64_Chdr){ .ch_type = c32.ch_type,
				   .ch_size = c32.ch_size };
	}
	job->size = ch.ch_size;
	job->in = raw.p + head;
	job->nin = raw.n - head;
	job->zstd = ch.ch_type == ZSTD;
	if (ch.ch_type != ELFCOMPRESS_ZLIB && ch.ch_type != ZSTD) {
		image_set_problem(img, "%s is compressed by unknown method "
			    "%" PRIu32, job->s->name, ch.ch_type);
		return false;
	}
#ifndef HAVE_LIBZSTD
	if (job->zstd) {
		image_set_problem(img, "%s is compressed with zstd, which this "
			    "tally was built without (install "
			    "libzstd-dev and configure again)",
			    job->s->name);
		return false;
	}
#endif
	return true;
}

/* Advises the kernel about the pages of this size that are inside the range. */
static void advise_inside(uint8_t *p, size_t n, uintptr_t page, int advice)
{
	uintptr_t lo = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t hi = ((uintptr_t)p + n) & ~(page - 1);

	if (lo < hi)
		(void)madvise((void *)lo, hi - lo, advice);
}

/* Gets the memory of a section, which is written as a whole, at once and in large
 * pages: else each small page would cost an interrupt. */
static void get_pages(uint8_t *p, size_t n)
{
	enum { LARGE = 2 << 20, AT_ONCE = 64 << 20 };

	advise_inside(p, n, LARGE, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
	if (n <= AT_ONCE)
		advise_inside(p, n, (uintptr_t)sysconf(_SC_PAGESIZE),
			      MADV_POPULATE_WRITE);
#endif
}

/* Prepares decompression.  Returns false if the method is unknown or the header
 * damaged. */
static bool inflate_job_init(struct image *img, struct image_sect *s,
			     struct span raw, struct inflate_job *job)
{
	unsigned ratio;

	*job = (struct inflate_job){ .img = img, .s = s };
	if (s->flags & SHF_COMPRESSED ? !chdr_init(img, raw, job)
				      : !zdebug_init(raw, job)) {
		image_set_problem(img, "%s: damaged compression header",
			    s->name);
		return false;
	}
	ratio = job->zstd ? MAX_RATIO_ZSTD : MAX_RATIO_ZLIB;
	if (!job->size || job->size / ratio > job->nin) {
		image_set_problem(img, "%s: damaged compression header",
			    s->name);
		return false;
	}
	if (job->size > image_inflate_room(img)) {
		image_set_problem(img, "%s: would take %" PRIu64 " MB "
			    "decompressed, out of proportion to the file",
			    s->name, job->size >> 20);
		return false;
	}
	s->owned = malloc((size_t)job->size);
	if (!s->owned)
		return false;
	get_pages(s->owned, (size_t)job->size);
	img->inflated += job->size;
	return true;
}

/* Decompresses a whole section at once; libdeflate needs half of zlib's
 * time. */
static bool run_libdeflate(struct inflate_job *job)
{
#ifdef HAVE_LIBDEFLATE
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool good;

	if (!d)
		return false;
	good = libdeflate_zlib_decompress(d, job->in, job->nin, job->s->owned,
					  (size_t)job->size, NULL) ==
	       LIBDEFLATE_SUCCESS;
	libdeflate_free_decompressor(d);
	return good;
#else
	(void)job;
	return false;
#endif
}

/* Also accepts a stream that continues beyond the section's size. */
static bool run_zlib(struct inflate_job *job)
{
	z_stream z = { 0 };
	uint64_t done = 0;
	size_t used = 0;
	int rc = Z_OK;

	if (inflateInit(&z) != Z_OK)
		return false;
	while (rc == Z_OK && done < job->size) {
		uInt in = job->nin - used > 1u << 30 ? 1u << 30
						     : (uInt)(job->nin - used);
		uInt out = job->size - done > 1u << 30
				   ? 1u << 30 : (uInt)(job->size - done);

		z.next_in = (Bytef *)(uintptr_t)(job->in + used);
		z.avail_in = in;
		z.next_out = job->s->owned + done;
		z.avail_out = out;
		rc = inflate(&z, Z_NO_FLUSH);
		used += in - z.avail_in;
		done += out - z.avail_out;
	}
	inflateEnd(&z);
	return done == job->size && (rc == Z_OK || rc == Z_STREAM_END);
}

static bool run_zstd(struct inflate_job *job)
{
#ifdef HAVE_LIBZSTD
	return ZSTD_decompress(job->s->owned, (size_t)job->size, job->in,
			       job->nin) == job->size;
#else
	(void)job;
	return false;
#endif
}

static void inflate_job_run(struct inflate_job *job)
{
	if (job->zstd)
		job->good = run_zstd(job);
	else
		job->good = run_libdeflate(job) || run_zlib(job);
}

static struct span inflate_job_done(struct inflate_job *job)
{
	if (job->good)
		return (struct span){ job->s->owned, (size_t)job->size };
	image_set_problem(job->img, "%s: damaged compressed data", job->s->name);
	free(job->s->owned);
	job->s->owned = NULL;
	return (struct span){ NULL, 0 };
}

struct job_list {
	struct inflate_job v[MAX_JOBS];
	size_t n;
	uint64_t bytes;
	atomic_size_t next;
};

static void *run_jobs(void *arg)
{
	struct job_list *l = arg;
	size_t i;

	while ((i = atomic_fetch_add(&l->next, 1)) < l->n)
		inflate_job_run(&l->v[i]);
	return NULL;
}

static void add_job(struct image *img, const char *name, struct job_list *l)
{
	struct image_sect *s = image_find_debug_sect(img, name);
	struct span raw;

	if (!s || s->tried || l->n == MAX_JOBS || !is_compressed(s))
		return;
	raw = image_sect_raw(img, s);
	if (!raw.n || !inflate_job_init(img, s, raw, &l->v[l->n]))
		return;
	s->tried = true;
	l->bytes += l->v[l->n++].size;
}

void image_prefetch(struct image *img, const char *const *names, size_t n)
{
	struct job_list l = { .n = 0 };
	bool threaded = false;
	pthread_t t;
	size_t i;

	for (i = 0; i < n; i++)
		add_job(img, names[i], &l);
	if (l.n > 1 && l.bytes >= THREAD_BYTES)
		threaded = !pthread_create(&t, NULL, run_jobs, &l);
	run_jobs(&l);
	if (threaded)
		pthread_join(t, NULL);
	for (i = 0; i < l.n; i++)
		l.v[i].s->data = inflate_job_done(&l.v[i]);
}

static struct span inflate_section(struct image *img, struct image_sect *s,
				   struct span raw)
{
	struct inflate_job job;

	if (!inflate_job_init(img, s, raw, &job))
		return (struct span){ NULL, 0 };
	inflate_job_run(&job);
	return inflate_job_done(&job);
}

struct span image_sect_load(struct image *img, struct image_sect *s)
{
	if (s->tried)
		return s->data;
	s->tried = true;
	s->data = image_sect_raw(img, s);
	if (s->data.n && is_compressed(s))
		s->data = inflate_section(img, s, s->data);
	return s->data;
}
