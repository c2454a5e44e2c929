// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads Python frames of stopped threads. */
#include "record/collect/python_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "launch/proc_text.h"
#include "runtime/python_frames.h"
#include "runtime/python_thread_name.h"

enum {
	PROCESSES_MAX = 1024,	/* number kept at a time */
	TRIES_MAX = 16,		/* attempts for a program that is starting */
	THREADS_MAX = 1 << 16,	/* number per process at a time */
	STATUS_MAX = 16384,
};

struct known_thread {
	uint64_t state;		/* address of its thread state, or 0 */
	uint32_t own;		/* its number in its pid namespace, or 0 */
	struct python_thread_name name;
};

struct python_process {
	uint32_t pid, row;	/* pid 0: free */
	uint32_t generation;	/* generation of the mappings last searched */
	struct python_file file;	/* interpreter's file */
	uint64_t bias;		/* address - address in the file */
	uint64_t runtime;	/* 0: not (yet) known */
	struct python_types types;
	struct python_found found;
	uint32_t tries, used;
	struct u64map by_tid;
	VEC(struct known_thread) threads;
	uint64_t *seen;		/* table of FRAME_SEEN words, once it runs Python */
};

struct reader {
	struct python_live *live;
	uint32_t pid;
};

void python_live_init(struct python_live *p, struct images *im, const char *proc)
{
	*p = (struct python_live){ .images = im, .proc = proc };
}

static void process_fini(struct python_process *q)
{
	u64map_fini(&q->by_tid);
	vec_fini(&q->threads);
	free(q->seen);
}

void python_live_fini(struct python_live *p)
{
	for (size_t i = 0; i < p->procs.n; i++) {
		process_fini(p->procs.v[i]);
		free(p->procs.v[i]);
	}
	vec_fini(&p->procs);
	vec_fini(&p->known);
	vec_fini(&p->files);
	u64map_fini(&p->by_pid);
	buf_fini(&p->part);
	free(p->scratch);
}

static size_t read_spans(void *ctx, const struct frame_span *v, size_t n, void *to)
{
	const struct reader *r = ctx;
	struct iovec local = { to, 0 }, remote[PYTHON_BATCH];
	ssize_t got;

	if (n > PYTHON_BATCH)
		return 0;
	for (size_t i = 0; i < n; i++) {
		remote[i] = (struct iovec){ (void *)(uintptr_t)v[i].at, v[i].n };
		local.iov_len += v[i].n;
	}
	got = process_vm_readv((pid_t)r->pid, &local, 1, remote, n, 0);
	return got > 0 ? (size_t)got : 0;
}

static void put_part(void *ctx, const void *p, size_t n)
{
	const struct reader *r = ctx;

	buf_bytes(&r->live->part, p, n);
}

static bool exports(void *ctx, const char *function)
{
	return image_exported(ctx, function, NULL);
}

bool python_file_of(struct image *img, struct python_file *f)
{
	f->version = image_exported(img, "Py_Version", NULL);
	f->by_names = f->version ? 0 : python_version(exports, img);
	f->runtime = image_exported(img, "_PyRuntime", NULL);
	f->code = image_exported(img, "PyCode_Type", NULL);
	f->text = image_exported(img, "PyUnicode_Type", NULL);
	f->bytes = image_exported(img, "PyBytes_Type", NULL);
	f->loop_bytes = 0;
	f->loop = image_exported(img, "_PyEval_EvalFrameDefault", &f->loop_bytes);
	return f->runtime && (f->version || f->by_names);
}

static bool read_python_file(const struct images *im, uint32_t image,
			     struct python_file *f)
{
	struct image *file = NULL;
	int fd = images_open_fd(im, image);
	bool found;

	if (fd < 0)
		return false;
	found = image_open_fd(fd, im->v.v[image].path, &file, NULL) >= 0 &&
		python_file_of(file, f);
	image_close(file);
	close(fd);
	return found;
}

enum { UNCHECKED, NONE, FIRST };	/* states of an image; others: position + FIRST */

void python_live_forget(struct python_live *p, uint32_t image)
{
	if (image < p->known.n)
		p->known.v[image] = UNCHECKED;
}

/* Returns an image's interpreter, searched once; NULL: none. */
static const struct python_file *python_of(struct python_live *p, uint32_t image)
{
	const struct recorded_image *r = &p->images->v.v[image];
	struct python_file f;

	while (p->known.n <= image)
		if (vec_push(&p->known, UNCHECKED) < 0)
			return NULL;
	if (p->known.v[image] == UNCHECKED &&
	    r->kind == PROF_IMAGE_ELF && r->nsegs) {
		p->known.v[image] = NONE;
		if (read_python_file(p->images, image, &f) &&
		    vec_push(&p->files, f) >= 0)
			p->known.v[image] = FIRST + (uint32_t)p->files.n - 1;
	}
	return p->known.v[image] < FIRST ? NULL
	       : &p->files.v[p->known.v[image] - FIRST];
}

static void forget_threads(struct python_process *q)
{
	q->threads.n = 0;
	u64map_clear(&q->by_tid);
}

/* Finds the runtime.  The version is read from the program's memory, because at first
 * the memory may hold other data. */
static void find_runtime(struct python_live *p, struct python_process *q)
{
	struct reader r = { p, q->pid };
	uint64_t version = q->file.by_names;
	const struct frame_span v = { q->file.version + q->bias,
				       sizeof(version) };
	const struct frame_door door = { .read = read_spans, .ctx = &r };
	bool known;

	q->tries++;
	known = (version || read_spans(&r, &v, 1, &version) == sizeof(version)) &&
		python_layout(&q->types.layout, version, q->file.runtime + q->bias,
			      &door);
	q->types.runtime = q->file.runtime + q->bias;
	q->types.code = q->file.code + q->bias;
	q->types.text = q->file.text + q->bias;
	q->types.bytes = q->file.bytes + q->bias;
	q->types.loop = q->file.loop + q->bias;
	q->types.loop_bytes = q->file.loop_bytes;
	q->found = (struct python_found){ 0 };
	q->types.found = &q->found;
	if (known && !q->seen)
		q->seen = calloc(FRAME_SEEN, sizeof(*q->seen));
	if (known && q->seen)
		q->runtime = q->file.runtime + q->bias;
}

/* Returns a free row, or the one unused for longest. */
static struct python_process *process_reuse(const struct python_live *p)
{
	struct python_process *old = p->procs.v[0];

	for (size_t i = 0; i < p->procs.n && old->pid; i++)
		if (!p->procs.v[i]->pid ||
		    p->clock - p->procs.v[i]->used > p->clock - old->used)
			old = p->procs.v[i];
	return old;
}

static struct python_process *process_add(struct python_live *p)
{
	struct python_process *q = calloc(1, sizeof(*q));

	if (q && vec_push(&p->procs, q) < 0) {
		free(q);
		q = NULL;
	}
	if (q)
		q->row = (uint32_t)p->procs.n - 1;
	return q;
}

static struct python_process *process_find(const struct python_live *p,
					   uint32_t pid)
{
	uint32_t at = u64map_get(&p->by_pid, pid);

	return at < p->procs.n && p->procs.v[at]->pid == pid ? p->procs.v[at]
							     : NULL;
}

static void process_free(struct python_process *q)
{
	uint32_t row = q->row;

	process_fini(q);
	*q = (struct python_process){ .row = row };
}

/* Returns NULL when out of memory. */
static struct python_process *process_get(struct python_live *p, uint32_t pid)
{
	struct python_process *q = process_find(p, pid);
	uint32_t *slot;

	if (q)
		return q;
	q = p->procs.n && (p->free || p->procs.n >= PROCESSES_MAX)
	    ? process_reuse(p) : process_add(p);
	slot = q ? u64map_slot(&p->by_pid, pid) : NULL;
	if (!slot)
		return NULL;
	p->free -= p->free && !q->pid;
	process_free(q);
	q->pid = pid;
	*slot = q->row;
	return q;
}

/* Sets the interpreter.  A different place means another program. */
static void process_place(struct python_process *q, const struct python_file *f,
			  uint64_t bias)
{
	if (bias == q->bias && !memcmp(f, &q->file, sizeof(*f)))
		return;
	q->file = *f;
	q->bias = bias;
	q->runtime = q->tries = 0;
	forget_threads(q);
	free(q->seen);
	q->seen = NULL;
}

void python_live_maps(struct python_live *p, uint32_t pid,
		      const struct mapset *maps)
{
	static const struct python_file none;
	struct python_process *q = process_get(p, pid);
	const struct python_file *f = NULL;
	uint64_t bias = 0;

	if (!q || q->generation == maps->generation || p->images->foreign_proc)
		return;
	q->generation = maps->generation;
	for (size_t i = 0; i < maps->maps.n && !f; i++) {
		f = python_of(p, maps->maps.v[i].image);
		bias = f ? 0 - maps->maps.v[i].delta : 0;
	}
	process_place(q, f ? f : &none, bias);
}

void python_live_set(struct python_live *p, uint32_t pid,
		     const struct python_file *f, uint64_t bias)
{
	struct python_process *q = process_get(p, pid);

	if (q)
		process_place(q, f, bias);
}

void python_live_fork(struct python_live *p, uint32_t pid, uint32_t parent)
{
	const struct python_process *q = process_find(p, parent);
	struct python_file f;

	if (!q)
		return;
	f = q->file;
	python_live_set(p, pid, &f, q->bias);
}

void python_live_end(struct python_live *p, uint32_t pid)
{
	struct python_process *q = process_find(p, pid);

	if (!q)
		return;
	process_free(q);
	p->free++;
}

void python_live_lost(struct python_live *p, uint32_t pid)
{
	struct python_process *q = process_find(p, pid);

	if (q && q->seen)
		memset(q->seen, 0, FRAME_SEEN * sizeof(*q->seen));
}

/* Returns NULL if the process runs no known Python. */
static struct python_process *process_of(struct python_live *p, uint32_t pid)
{
	struct python_process *q = process_find(p, pid);

	if (!q)
		return NULL;
	q->used = p->clock++;
	if (!q->runtime && q->file.runtime && q->tries < TRIES_MAX)
		find_runtime(p, q);
	return q->runtime ? q : NULL;
}

bool python_live_knows(struct python_live *p, uint32_t pid)
{
	return process_of(p, pid);
}

/* Returns the number that Python gets from the kernel: that of the thread's own pid
 * namespace. */
static uint32_t own_number(const struct python_live *p, uint32_t pid, uint32_t tid)
{
	struct buf b = { 0 };
	uint32_t own = 0;
	char path[96];

	snprintf(path, sizeof(path), "%s/%u/task/%u/status", p->proc, pid, tid);
	if (!io_read_file(path, STATUS_MAX, &b, NULL))
		own = proc_status_own((const char *)b.p, b.n);
	buf_fini(&b);
	return own ? own : tid;
}

/* Returns the thread with the address of its state, or NULL if it has none.  Valid
 * until the next call. */
static struct known_thread *thread_of(const struct python_live *p,
				      struct python_process *q, uint32_t tid,
				      const struct frame_door *door)
{
	const struct known_thread none = { 0 };
	struct known_thread *t;
	uint32_t *slot;

	if (q->threads.n >= THREADS_MAX)
		forget_threads(q);
	slot = u64map_slot(&q->by_tid, tid);
	if (!slot || (*slot >= q->threads.n && vec_push(&q->threads, none) < 0))
		return NULL;
	if (*slot >= q->threads.n)
		*slot = (uint32_t)q->threads.n - 1;
	t = &q->threads.v[*slot];
	if (!t->own)
		t->own = own_number(p, q->pid, tid);
	t->state = python_thread_state(&q->types, t->own, t->state, door);
	/* It may be another thread the next time. */
	if (t->state)
		return t;
	*t = none;
	return NULL;
}

bool python_live_frames(struct python_live *p, uint32_t pid, uint32_t tid,
			struct record_sample *s)
{
	struct python_process *q = process_of(p, pid);
	struct reader r = { p, pid };
	struct frame_door door = { read_spans, put_part, &r,
				    q ? q->seen : NULL };
	struct known_thread *thread;
	struct python_thread t;

	if (!q)
		return false;
	if (!p->scratch)
		p->scratch = malloc(sizeof(*p->scratch));
	thread = p->scratch ? thread_of(p, q, tid, &door) : NULL;
	if (!thread)
		return false;
	buf_reset(&p->part);
	t = (struct python_thread){ .state = thread->state, .tid = thread->own,
				    .name = &thread->name };
	s->frame_bytes = python_walk(&q->types, &t, &door, p->scratch);
	s->frames = p->part.p;
	return !p->part.failed && s->frame_bytes == p->part.n;
}
