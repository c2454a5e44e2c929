// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks the stacks of a program twice: by tally, and by libdw
 * (dwfl_thread_getframes), from the same registers and the same copies.
 *
 *	stackcheck [-F HZ] [-n SAMPLES] [-v N] COMMAND [ARGS…]
 *
 * Prints one line of counts on standard error:
 *	same	 the same addresses
 *	longer	 tally's begin with libdw's, and go on
 *	shorter	 the other way round
 *	differ	 at some frame
 * and, with -v N, of each other class the N first: the class, how libdw ended,
 * how tally did, where (image+address) the last common frame was, and the frames
 * behind it.  Samples of processes that the command starts are left out; what is
 * behind the copy is not read.
 */
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "record/collect/collector.h"
#include "launch/launch.h"
#include "record/perf/perf_source.h"

enum { FRAMES_MAX = 4096, SAME = 0, LONGER, SHORTER, DIFFER, CLASSES };

struct chain {
	uint64_t pc[FRAMES_MAX];
	size_t n;
	const char *end;
};

struct check {
	struct profile p;
	struct collector c;
	Dwfl *dwfl;
	uint32_t pid, generation;
	const struct record_copy *copy;
	uint32_t tid;
	struct chain theirs;
	size_t counts[CLASSES], marked[CLASSES], samples, limit;
	int verbose;
};

static const char *const class_names[CLASSES] = { "same", "longer", "shorter",
						  "differ" };

static int find_module(Dwfl_Module *mod, void **userdata, const char *name,
		       Dwarf_Addr base, char **file, Elf **elf)
{
	return dwfl_linux_proc_find_elf(mod, userdata, name, base, file, elf);
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)arg;
	(void)thread_arg;
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result,
			void *arg)
{
	const struct check *x = arg;
	uint64_t at = addr - x->copy->regs.r[UNWIND_RSP];

	(void)dwfl;
	if (at >= x->copy->size || x->copy->size - at < 8)
		return false;
	memcpy(result, x->copy->bytes + at, 8);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct check *x = arg;
	Dwarf_Word regs[UNWIND_REGS];

	for (int i = 0; i < UNWIND_REGS; i++)
		regs[i] = x->copy->regs.r[i];
	dwfl_thread_state_register_pc(thread, regs[UNWIND_RIP]);
	return dwfl_thread_state_registers(thread, 0, UNWIND_REGS, regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread, .get_thread = get_thread,
	.memory_read = read_memory, .set_initial_registers = set_registers,
};

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	struct check *x = arg;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact) ||
	    x->theirs.n == FRAMES_MAX)
		return DWARF_CB_ABORT;
	x->theirs.pc[x->theirs.n++] = pc - !exact;
	return DWARF_CB_OK;
}

/* The modules as they are now. */
static bool modules_read(struct check *x)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_module,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};

	if (!x->dwfl) {
		x->dwfl = dwfl_begin(&callbacks);
		if (!x->dwfl)
			return false;
	}
	dwfl_report_begin(x->dwfl);
	if (dwfl_linux_proc_report(x->dwfl, (pid_t)x->pid))
		return false;
	dwfl_report_end(x->dwfl, NULL, NULL);
	if (!x->generation &&
	    !dwfl_attach_state(x->dwfl, NULL, (pid_t)x->pid, &thread_callbacks,
			       x))
		return false;
	return true;
}

static void walk_theirs(struct check *x)
{
	x->theirs.n = 0;
	x->theirs.end = "end";
	if (dwfl_getthread_frames(x->dwfl, (pid_t)x->tid, add_frame, x))
		x->theirs.end = dwfl_errmsg(-1);
	if (!x->theirs.end)
		x->theirs.end = "?";
}

static void where(const struct check *x, struct mapset *maps, uint64_t pc)
{
	const struct map *m = mapset_find(maps, pc);
	const char *path = m ? x->c.images.v.v[m->image].path : "?";
	const char *slash = strrchr(path, '/');

	fprintf(stderr, " %s+0x%llx", slash ? slash + 1 : path,
	       (unsigned long long)(m ? pc + m->delta : pc));
}

static void tell(const struct check *x, struct mapset *maps, int class,
		 const struct record_sample *s, size_t common)
{
	fprintf(stderr, "%s: libdw %zu frames (%s), tally %u (%s %s), after",
	       class_names[class], x->theirs.n, x->theirs.end, s->nuser,
	       s->end.mark == PROF_MARK_CUT ? "cut" :
	       s->end.mark == PROF_MARK_HEURISTIC ? "guessed" :
	       s->end.mark ? "broken" : "whole",
	       s->end.mark == PROF_MARK_BROKEN ? prof_end_text(s->end.reason)
					       : "");
	if (common)
		where(x, maps, s->user[common - 1]);
	fprintf(stderr, " libdw:");
	for (size_t i = common; i < x->theirs.n && i < common + 3; i++)
		where(x, maps, x->theirs.pc[i]);
	fprintf(stderr, " tally:");
	for (size_t i = common; i < s->nuser && i < common + 3; i++)
		where(x, maps, s->user[i]);
	fputc('\n', stderr);
}

static void compare(struct check *x, struct mapset *maps,
		    const struct record_sample *s)
{
	size_t i = 0, n = s->nuser < x->theirs.n ? s->nuser : x->theirs.n;
	int class = SAME;

	while (i < n && s->user[i] == x->theirs.pc[i])
		i++;
	if (i < n)
		class = DIFFER;
	else if (s->nuser > n)
		class = LONGER;
	else if (x->theirs.n > n)
		class = SHORTER;
	if (class != SAME && x->counts[class] < (size_t)x->verbose)
		tell(x, maps, class, s, i);
	x->counts[class]++;
	x->marked[class] += s->end.mark != 0;
}

static int take(void *ctx, const struct record *r, struct error *err)
{
	struct check *x = ctx;
	struct record_sample s = r->sample;
	struct process *proc;

	if (r->kind != RECORD_SAMPLE)
		return collector_record(&x->c, r, err);
	proc = processes_find(&x->c.processes, r->pid);
	if (!s.copied || r->pid != x->pid || !proc || !s.copy.size ||
	    s.copy.is32 || x->samples >= x->limit || !proc->maps->maps.n)
		return 0;
	if (proc->maps->generation != x->generation) {
		/* an old program's modules would be in the way */
		if (!modules_read(x) && !x->generation)
			return 0;
		x->generation = proc->maps->generation;
	}
	x->copy = &s.copy;
	x->tid = r->tid;
	walk_theirs(x);
	unwinder_sample(&x->c.unwinder, proc->maps, r->pid, r->tid, &s);
	compare(x, proc->maps, &s);
	x->samples++;
	return 0;
}

static int run(struct check *x, char **argv, uint64_t hz, struct error *err)
{
	static const struct timespec pause = { 0, 2000000 };
	struct launch_state before = { .xfsz.sa_handler = SIG_DFL,
				       .chld.sa_handler = SIG_DFL };
	struct launch l = { .go = -1, .status_fd = -1 };
	uint32_t tid, cpus[1024];
	struct event_list events = { 0 };
	struct source_target t = { &tid, 1, cpus, 0, -1, false };
	struct source_options o = {
		.events = &events, .callchain = true, .inherit = true,
		.enable_on_exec = true, .freq = hz, .copy = true,
	};
	struct source *src = NULL;
	int r = events_parse("cpu-clock", "/sys", &events, err);

	getrlimit(RLIMIT_NOFILE, &before.files);
	for (long n = sysconf(_SC_NPROCESSORS_ONLN); t.ncpus < (size_t)n &&
	     t.ncpus < 1024; t.ncpus++)
		cpus[t.ncpus] = (uint32_t)t.ncpus;
	if (!r)
		r = launch_prepare(&l, argv, &before, err);
	x->pid = tid = (uint32_t)l.pid;
	if (!r)
		r = perf_source_type.open(&t, &o, &src, err);
	x->c.nevents = 1;
	if (!r)
		r = launch_go(&l, argv[0], err);
	while (!r && !launch_poll(&l)) {
		nanosleep(&pause, NULL);
		r = src->ops->drain(src, false, take, x, err);
	}
	if (!r)
		r = src->ops->drain(src, true, take, x, err);
	if (src)
		src->ops->close(src);
	launch_end(&l);
	event_list_fini(&events);
	return r;
}

int main(int argc, char **argv)
{
	struct check *x = calloc(1, sizeof(*x));
	struct error err = { 0 };
	uint64_t hz = 999;
	int opt, r;

	x->limit = SIZE_MAX;
	while ((opt = getopt(argc, argv, "+F:n:v:")) != -1) {
		if (opt == 'F')
			hz = strtoull(optarg, NULL, 10);
		else if (opt == 'n')
			x->limit = strtoull(optarg, NULL, 10);
		else if (opt == 'v')
			x->verbose = atoi(optarg);
		else
			return 2;
	}
	if (optind >= argc || !hz)
		return 2;
	if (profile_init(&x->p) < 0 ||
	    collector_init(&x->c, &x->p, "/proc", "/sys", &err) < 0)
		return 1;
	x->c.unwinder.no_live = true;
	r = run(x, argv + optind, hz, &err);
	if (r < 0)
		fprintf(stderr, "stackcheck: %s\n", err.msg);
	fprintf(stderr, "samples %zu", x->samples);
	for (int i = 0; i < CLASSES; i++)
		fprintf(stderr, " %s %zu", class_names[i], x->counts[i]);
	fprintf(stderr, " not-whole %zu\n", x->marked[SAME] + x->marked[LONGER] +
	       x->marked[SHORTER] + x->marked[DIFFER]);
	if (x->dwfl)
		dwfl_end(x->dwfl);
	collector_fini(&x->c);
	profile_fini(&x->p);
	free(x);
	return r < 0;
}
