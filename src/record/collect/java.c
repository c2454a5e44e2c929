// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds names and callers in code of the Java virtual machine at run time. */
#include "record/collect/java.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PROCESSES_MAX = 256,	/* number kept at a time */
	TRIES_MAX = 16,		/* attempts for a program that is starting */
};

struct java_process {
	struct images *images;
	struct live_memory *live;
	uint32_t pid;
	uint32_t generation;	/* generation of the mappings last searched */
	uint32_t libjvm;	/* image of libjvm.so, or UINT32_MAX */
	uint64_t bias;		/* address - vaddr in libjvm.so */
	struct image *file;	/* libjvm.so, while its symbols are needed */
	struct hotspot *hotspot;
	uint32_t tries, tried;	/* number of attempts, and batch of the last one */
	uint32_t used;		/* last batch that used it */
	struct frame_names names;
};

void java_init(struct java *j, struct images *im, struct live_memory *live)
{
	*j = (struct java){ .images = im, .live = live, .batch = 1 };
}

static void process_free(struct java_process *p)
{
	hotspot_free(p->hotspot);
	free(p);
}

void java_fini(struct java *j)
{
	for (size_t i = 0; i < j->procs.n; i++)
		process_free(j->procs.v[i]);
	vec_fini(&j->procs);
	u64map_fini(&j->by_pid);
}

void java_batch(struct java *j)
{
	j->batch++;
	for (size_t i = 0; i < j->procs.n; i++)
		if (j->procs.v[i]->hotspot)
			hotspot_batch(j->procs.v[i]->hotspot);
}

static bool read_memory(void *ctx, uint64_t addr, void *to, size_t n)
{
	const struct java_process *p = ctx;

	return live_read(p->live, p->pid, addr, to, n);
}

static uint64_t find_symbol(void *ctx, const char *name)
{
	struct java_process *p = ctx;
	uint64_t v = image_exported(p->file, name, NULL);

	return v ? v + p->bias : 0;
}

static void process_open(struct java_process *p)
{
	const struct recorded_image *r = &p->images->v.v[p->libjvm];
	struct hotspot_door door = { read_memory, find_symbol, p };
	int fd = images_open_fd(p->images, p->libjvm);

	if (fd < 0)
		return;
	if (!image_open_fd(fd, r->path, &p->file, NULL)) {
		hotspot_new(&p->hotspot, &door);
		image_close(p->file);
		p->file = NULL;
	}
	close(fd);
}

static bool is_libjvm(const struct recorded_image *r)
{
	const char *slash = strrchr(r->path, '/');

	return r->kind == PROF_IMAGE_ELF && r->nsegs && slash &&
	       !strcmp(slash + 1, "libjvm.so");
}

/* Finds the mapping of libjvm.so.  A different place means another program. */
static void find_libjvm(struct java_process *p, const struct mapset *maps)
{
	uint32_t image = UINT32_MAX;
	uint64_t bias = 0;

	p->generation = maps->generation;
	for (size_t i = 0; i < maps->maps.n && image == UINT32_MAX; i++) {
		const struct map *m = &maps->maps.v[i];

		if (is_libjvm(&p->images->v.v[m->image])) {
			image = m->image;
			bias = 0 - m->delta;
		}
	}
	if (image == p->libjvm && bias == p->bias)
		return;
	hotspot_free(p->hotspot);
	p->hotspot = NULL;
	frame_names_init(&p->names, p->images, PROF_IMAGE_JAVA, p->pid);
	p->tries = 0;
	p->libjvm = image;
	p->bias = bias;
}

void java_drop_ended(struct java *j)
{
	enum { LATE = 2 };	/* batches in which samples may still come */

	for (size_t i = 0; i < j->procs.n; i++) {
		struct java_process *p = j->procs.v[i];

		if (!p->hotspot || j->batch - p->used <= LATE ||
		    !kill((pid_t)p->pid, 0) || errno != ESRCH)
			continue;
		hotspot_free(p->hotspot);
		p->hotspot = NULL;
		p->libjvm = UINT32_MAX;
		p->generation = 0;
	}
}

/* Frees the row unused for longest. */
static struct java_process *process_oldest(struct java *j)
{
	struct java_process *old = j->procs.v[0];

	for (size_t i = 1; i < j->procs.n; i++)
		if (j->batch - j->procs.v[i]->used > j->batch - old->used)
			old = j->procs.v[i];
	return old;
}

static struct java_process *process_new(struct java *j, uint32_t pid)
{
	struct java_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct java_process){ .images = j->images, .live = j->live,
		.pid = pid, .libjvm = UINT32_MAX };
	frame_names_init(&p->names, j->images, PROF_IMAGE_JAVA, pid);
	if (j->procs.n >= PROCESSES_MAX) {
		struct java_process *old = process_oldest(j);
		uint32_t at = u64map_get(&j->by_pid, old->pid);

		hotspot_free(old->hotspot);
		*old = *p;
		free(p);
		u64map_put(&j->by_pid, pid, at);
		return old;
	}
	if (vec_push(&j->procs, p) < 0) {
		free(p);
		return NULL;
	}
	u64map_put(&j->by_pid, pid, (uint32_t)j->procs.n - 1);
	return p;
}

/* Returns NULL if the process runs no Java, or if this cannot be determined. */
static struct java_process *process_of(struct java *j, uint32_t pid,
				       const struct mapset *maps)
{
	uint32_t at = u64map_get(&j->by_pid, pid);
	struct java_process *p = at < j->procs.n ? j->procs.v[at] : NULL;

	if (j->images->foreign_proc)
		return NULL;
	if (!p || p->pid != pid)
		p = process_new(j, pid);
	if (!p)
		return NULL;
	p->used = j->batch;
	if (p->generation != maps->generation)
		find_libjvm(p, maps);
	if (!p->hotspot && p->libjvm != UINT32_MAX && p->tries < TRIES_MAX &&
	    p->tried != j->batch) {
		p->tries++;
		p->tried = j->batch;
		process_open(p);
	}
	return p->hotspot ? p : NULL;
}

bool java_code(struct java *j, uint32_t pid, const struct mapset *maps,
	       uint64_t pc, struct unwind_code *out)
{
	struct java_process *p = process_of(j, pid, maps);
	const struct hotspot_blob *b = p ? hotspot_find(p->hotspot, pc) : NULL;

	if (!b)
		return false;
	out->start = b->code;
	out->end = b->end;
	/* the interpreter and vtables are left by jumps instead of epilogues */
	if (b->kind != HOTSPOT_INTERPRETER && b->kind != HOTSPOT_TABLE)
		out->bytes = hotspot_bytes(p->hotspot, b);
	return true;
}

/* Adds all names up to this one. */
static uint64_t name_address(struct java_process *p, uint32_t name)
{
	while (p->names.written < name &&
	       frame_names_add(&p->names, hotspot_text(p->hotspot,
						       p->names.written + 1)))
		;
	return frame_names_address(&p->names, name);
}

bool java_frame(struct java *j, uint32_t pid, const struct mapset *maps,
		const struct unwind_regs *regs, bool exact,
		const struct hotspot_stack *stack, struct unwind_caller *out,
		uint64_t *name)
{
	struct java_process *p = process_of(j, pid, maps);
	const struct hotspot_blob *b;

	b = p ? hotspot_find(p->hotspot, regs->r[UNWIND_RIP] - !exact) : NULL;
	if (!b)
		return false;
	*name = name_address(p, hotspot_name(p->hotspot, b, regs, stack));
	return hotspot_frame(p->hotspot, b, regs, exact, stack, out);
}
