// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decompression of sections with zlib (gABI chapter 4, "Compressed Sections", and
 * the older .zdebug_ form), by two threads where several large ones are wanted.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

#include "image/image_internal.h"

enum {
	/* Deflate cannot do better; a header that promises more lies. */
	MAX_RATIO = 1032,
	MAX_JOBS = 16,
	THREAD_BYTES = 1 << 20,
};

/* Old GNU style: "ZLIB" and the big-endian size before the deflate stream. */
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

static bool chdr_init(const struct image *img, struct span raw,
		      struct inflate_job *job)
{
	size_t head = image_is_64(img) ? sizeof(Elf64_Chdr)
				       : sizeof(Elf32_Chdr);
	GElf_Chdr ch;

	if (raw.n < head || !gelf_getchdr(job->s->scn, &ch) ||
	    ch.ch_type != ELFCOMPRESS_ZLIB)
		return false;
	job->size = ch.ch_size;
	job->in = raw.p + head;
	job->nin = raw.n - head;
	return true;
}

bool inflate_job_init(struct image *img, struct image_sect *s, struct span raw,
		      struct inflate_job *job)
{
	*job = (struct inflate_job){ .s = s };
	if (s->flags & SHF_COMPRESSED ? !chdr_init(img, raw, job)
				      : !zdebug_init(raw, job))
		return false;
	if (!job->size || job->size / MAX_RATIO > job->nin ||
	    job->size > IMAGE_MAX_INFLATED - img->inflated)
		return false;
	s->owned = malloc((size_t)job->size);
	if (!s->owned)
		return false;
	img->inflated += job->size;
	return true;
}

void inflate_job_run(struct inflate_job *job)
{
	z_stream z = { 0 };
	uint64_t done = 0;
	size_t used = 0;
	int rc = Z_OK;

	if (inflateInit(&z) != Z_OK)
		return;
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
	job->good = done == job->size && (rc == Z_OK || rc == Z_STREAM_END);
}

struct span inflate_job_done(struct inflate_job *job)
{
	if (job->good)
		return (struct span){ job->s->owned, (size_t)job->size };
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

	if (!s || s->tried || l->n == MAX_JOBS || !image_sect_is_compressed(s))
		return;
	raw = image_sect_raw(s);
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
