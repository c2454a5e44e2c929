// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns records of a source into rows of the profile. */
#include "record/collect/collector.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/collect/collect_waits.h"
#include "record/collect/kernel_code.h"
#include "record/collect/hugepage_text.h"
#include "record/collect/wait_polls.h"

/* Time for which a thread may still get samples after its end. */
#define GONE_NS 2000000000u
/* Time for which pages of files read for tables are kept. */
#define RELEASE_NS 250000000u
#define RELEASE_CALM_NS 60000000000u
#define RELEASE_CALM_BYTES (24ull << 20)

int collector_init(struct collector *c, struct profile *p, const char *proc,
		   const char *sysfs, struct error *err)
{
	memset(c, 0, sizeof(*c));
	c->profile = p;
	c->proc = proc;
	c->sysfs = sysfs;
	if (images_init(&c->images, p, proc) < 0)
		return collector_nomem(err);
	python_live_init(&c->python_live, &c->images, proc);
	if (kernel_maps_init(&c->kernel, &c->images, proc, sysfs,
			     &c->processes.generation) < 0 ||
	    stacks_init(&c->stacks, p, &c->images, &c->kernel) < 0 ||
	    unwinder_init(&c->unwinder, &c->images) < 0 ||
	    thread_names_init(&c->thread_names) < 0 || strtab_init(&c->wait_tasks) < 0) {
		collector_fini(c);
		return collector_nomem(err);
	}
	return 0;
}

void collector_fini(struct collector *c)
{
	stacks_fini(&c->stacks);
	unwinder_fini(&c->unwinder);
	image_closer_fini(&c->closer);
	kernel_maps_fini(&c->kernel);
	processes_fini(&c->processes);
	images_fini(&c->images);
	vec_fini(&c->self_samples);
	held_fini(&c->held);
	jit_follow_fini(&c->jit);
	vec_fini(&c->got);
	vec_fini(&c->left_out);
	waits_fini(&c->waits);
	u64map_fini(&c->wait_samples.kinds);
	polled_waits_fini(&c->polled_waits);
	strtab_fini(&c->wait_tasks);
	python_live_fini(&c->python_live);
	latency_fini(&c->latency);
	thread_names_fini(&c->thread_names);
	u64map_fini(&c->task_rows);
	u64map_fini(&c->task_names);
	cgroups_fini(&c->cgroups);
	if (c->statm > 0)
		close(c->statm);
}

void collector_new_run(struct collector *c, uint32_t run)
{
	c->run = run;
	processes_clear(&c->processes);
	waits_clear(&c->waits);
	polled_waits_clear(&c->polled_waits);
	collector_forget_tasks(c);
}

void collector_forget_tasks(struct collector *c)
{
	u64map_clear(&c->task_rows);
	u64map_clear(&c->task_names);
}

static int take_sample(struct collector *c, const struct record *r,
		       struct error *err)
{
	struct prof_sample s = { .time_ns = r->time_ns, .cpu = r->cpu,
				 .event = r->event,
				 .weight = r->sample.weight };
	struct process *proc;
	struct sample_extra of = { "", r->sample.cgroup,
				   r->sample.count ? r->sample.count : 1,
				   r->sample.first_ns };
	uint32_t loc;
	int rc;

	if (r->event >= c->nevents) {
		c->ignored++;
		return 0;
	}
	rc = collector_process(c, r->pid, &proc, err);
	if (rc < 0)
		return rc;
	if (c->wait_samples.on && r->event == c->wait_samples.blocked)
		return collect_wait_sample(c, proc, r, err);
	if (c->wait_samples.on && r->event == c->wait_samples.waking)
		return collect_waking(c, proc, r, err);
	s.stack = collector_stack(c, proc, r, &loc);
	if (r->sample.copied && r->sample.frames)
		of.task = python_task(&c->unwinder.python);
	rc = collector_write_extra(c, r->pid, r->tid, &of, &s, loc, err);
	if (r->sample.halted_ns && c->wait_samples.polled)
		collect_halted(c, r);
	/* Only one event determines where a thread runs. */
	if (rc >= 0 && c->wait_samples.on && !r->event)
		rc = collect_latency(c, r, &s, loc, err);
	return rc;
}

static int take_mmap(struct collector *c, const struct record *r)
{
	struct map m, pieces[HUGEPAGE_TEXT_PIECES];
	struct map_owner who;
	struct process *proc;
	int n;

	/* Some sources report the kernel's own text with pid -1.  Pid 0 represents
	 * all processes outside tally's pid namespace. */
	if (r->pid == UINT32_MAX || !r->pid)
		return 0;
	proc = processes_get(&c->processes, r->pid);
	if (!proc)
		return -ERR_NOMEM;
	who = map_owner_of(&c->processes, proc, r->time_ns);
	if (images_map(&c->images, &who, &r->mmap, &m) < 0)
		return -ERR_NOMEM;
	c->held.on |= c->images.jit_dumps.n && !c->images.other_clock;
	n = hugepage_text_find(&c->images, &who, &m, pieces);
	if (processes_map(&c->processes, r->pid, &m) < 0)
		return -ERR_NOMEM;
	while (n-- > 0)
		if (processes_map(&c->processes, r->pid, &pieces[n]) < 0)
			return -ERR_NOMEM;
	return 0;
}

static int take_comm(struct collector *c, const struct record *r)
{
	if (r->comm.exec) {
		if (processes_exec(&c->processes, r->pid, r->time_ns) < 0)
			return -ERR_NOMEM;
		c->execs++;
	}
	return processes_name(&c->processes, r->pid, r->tid, r->comm.name,
			      r->time_ns);
}

static int take_loss(struct collector *c, const struct record *r)
{
	bool lost = r->kind == RECORD_LOST;
	struct prof_loss row = {
		.run = c->run,
		.event = r->event < c->nevents ? r->event : PROF_NONE,
		.cpu = r->cpu,
		.kind = lost ? PROF_LOST : PROF_THROTTLED,
		.time_ns = r->time_ns,
		.count = lost ? r->lost : 1,
	};

	if (lost && row.event != PROF_NONE && collector_leaves_out(c, r->time_ns))
		return collector_leave_out(c, row.event, row.count, 0);
	if (lost)
		c->lost += row.count;
	else
		c->throttled++;
	return vec_push(&c->profile->losses, row) < 0 ? -ERR_NOMEM : 0;
}

/* Handles lost mapping records.  A known mapping may belong to another program by
 * now, and a wrong name is worse than none.  Mappings are read from PROC again at the
 * process's next sample. */
static int take_gap(struct collector *c, const struct record *r)
{
	c->gaps += r->lost;
	return c->images.foreign_proc ? 0 : processes_reread(&c->processes);
}

int collector_round(struct collector *c, struct error *err)
{
	return jit_follow_look(&c->jit, &c->images) < 0 ? collector_nomem(err) : 0;
}

int collector_record(void *ctx, const struct record *r, struct error *err)
{
	struct collector *c = ctx;
	int rc = 0;

	switch (r->kind) {
	case RECORD_SAMPLE:
		return take_sample(c, r, err);
	case RECORD_MMAP:
		rc = take_mmap(c, r);
		break;
	case RECORD_COMM:
		rc = take_comm(c, r);
		if (rc >= 0 && r->comm.exec && c->wait_samples.on)
			return collect_exec(c, r, err);
		break;
	case RECORD_FORK:
		rc = processes_fork(&c->processes, r->pid, r->tid,
				    r->fork.ppid, r->fork.ptid, r->time_ns);
		if (rc >= 0 && c->wait_samples.on && !c->wait_samples.alone)
			return collect_fork(c, r, err);
		break;
	case RECORD_EXIT:
		if (c->wait_samples.on && collect_exit(c, r, err) < 0)
			return -err->code;
		rc = processes_exit(&c->processes, r->pid, r->tid, r->time_ns);
		if (rc >= 0 && c->images.own_maps && r->pid == r->tid)
			rc = vec_push(&c->images.ended, r->pid) < 0
			     ? -ERR_NOMEM : 0;
		break;
	case RECORD_SWITCH:
	case RECORD_SWITCH_GAP:
		return c->wait_samples.on ? collect_switch(c, r, err) : 0;
	case RECORD_WAKE:
		waits_wake(&c->waits, r->wake.tid, r->time_ns,
			   &(struct waker){ .pid = r->pid, .tid = r->tid,
					    .interrupt = r->wake.interrupt });
		return 0;
	case RECORD_KSYMBOL:
		rc = kernel_code_record(&c->kernel, &c->images, &r->ksymbol,
					&c->processes.generation);
		break;
	case RECORD_CGROUP:
		if (!c->images.foreign_proc)
			cgroups_made(&c->cgroups, c->proc, r->cgroup.id, r->cgroup.path);
		return 0;
	case RECORD_LOST:
	case RECORD_THROTTLE:
		rc = take_loss(c, r);
		break;
	case RECORD_GAP:
		rc = take_gap(c, r);
		break;
	}
	return rc < 0 ? collector_nomem(err) : 0;
}

/* Returns the bytes of mapped files that are in memory (proc_pid_statm(5)); 0 if unknown. */
static uint64_t resident_files(struct collector *c)
{
	char text[128];
	uint64_t pages;
	ssize_t n;

	if (!c->statm)
		c->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	n = pread(c->statm, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	return sscanf(text, "%*u %*u %" SCNu64, &pages) == 1
	       ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* With `calm`, pages of files are kept, but not many: a lookup in a file maps 64 KB of it
 * (fault_around_bytes, Linux). */
static bool release_is_due(struct collector *c, uint64_t now_ns)
{
	uint64_t kept = now_ns - c->released_ns;

	if (!c->calm)
		return kept > RELEASE_NS;
	return kept > RELEASE_CALM_NS || resident_files(c) > RELEASE_CALM_BYTES;
}

int collector_idle(struct collector *c, uint64_t now_ns, struct error *err)
{
	struct image_closer_input open = {
		.images = &c->images, .processes = &c->processes,
		.unwinder = &c->unwinder, .python = &c->python_live,
		.samples = c->samples, .self_samples = c->self_samples.v,
		.n_self_samples = c->self_samples.n, .calm = c->calm,
	};
	int rc;

	c->images.batch++;
	unwinder_idle(&c->unwinder);
	if (release_is_due(c, now_ns)) {
		unwinder_release(&c->unwinder);
		c->released_ns = now_ns;
	}
	if (now_ns > GONE_NS)
		processes_purge(&c->processes, now_ns - GONE_NS);
	jit_follow_forget(&c->jit, &c->processes);
	rc = image_closer_idle(&c->closer, &open, now_ns, err);
	if (rc >= 0 && c->wait_samples.on)
		rc = wait_polls_idle(c, now_ns, err);
	if (rc < 0)
		return rc;
	if (kernel_maps_refresh(&c->kernel, &c->images, c->proc, c->sysfs,
				&c->processes.generation, now_ns) < 0)
		return collector_nomem(err);
	return 0;
}

/* Context of the callbacks, because symbolize_options has only one. */
struct symbolizing {
	struct collector *c;
	collector_progress *progress;
	void *ctx;
};

static int open_image(void *ctx, uint32_t image)
{
	struct symbolizing *s = ctx;
	int fd = jit_follow_open(&s->c->jit, &s->c->images, image);

	return fd >= 0 ? fd : images_open_row(&s->c->images, image);
}

static void perfmap_use(void *ctx, uint32_t image, struct symbolize_perfmap_use *use)
{
	struct symbolizing *s = ctx;

	jit_follow_use(&s->c->jit, &s->c->images, image, use);
}

static int open_jitdump(void *ctx, uint32_t image, struct symbolize_jitdump_use *use)
{
	struct symbolizing *s = ctx;

	use->first = s->c->held.on;
	return images_open_jitdump(&s->c->images, image, &use->by_offset);
}

static const char *generated(void *ctx, uint32_t image, uint64_t *size)
{
	const struct symbolizing *s = ctx;

	return kernel_code_name(&s->c->images, image, size);
}

static void report_progress(void *ctx, const char *image, size_t done,
			    size_t total)
{
	const struct symbolizing *s = ctx;
	char text[160];

	snprintf(text, sizeof(text), "symbols: %zu of %zu %.100s", done, total,
		 image);
	s->progress(s->ctx, text);
}

int collector_symbolize(struct collector *c, const struct symbolize_options *o,
			collector_progress *progress, void *ctx,
			struct error *err)
{
	struct symbolizing s = { c, progress, ctx };
	struct symbolize_options own = *o;
	size_t n = c->profile->locs.n;
	int rc;

	/* Free the unwinder's memory for symbolizing. */
	if (!c->forked)
		unwinder_fini(&c->unwinder);
	/* Locations that only appear as callers have no samples of their own. */
	if (images_check_rows(&c->images) < 0 ||
	    image_closer_restore(&c->closer, c->profile) < 0 ||
	    vec_reserve(&c->self_samples, n + 1) < 0)
		return error_set(err, ERR_NOMEM, "out of memory for symbols");
	memset(c->self_samples.v + c->self_samples.n, 0,
	       (n - c->self_samples.n) * sizeof(*c->self_samples.v));
	c->self_samples.n = n;
	own.self_samples = o->no_code ? NULL : c->self_samples.v;
	own.code_budget = symbolize_code_budget(c->samples);
	own.open_image = open_image;
	own.perfmap_use = perfmap_use;
	own.open_jitdump = open_jitdump;
	own.generated = generated;
	own.progress = progress ? report_progress : NULL;
	own.ctx = &s;
	rc = profile_symbolize(c->profile, &own, err);
	if (progress)
		progress(ctx, NULL);
	return rc;
}
