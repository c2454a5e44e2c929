// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks beside libdw's (dwfl_thread_getframes) with the same registers and
 * memory, and beside libunwind's of the stopped thread: for scripts/bench/run
 * unwind.  Where both contradict, the thread is run on until it has returned to the
 * callers that tally found ("proven"), or elsewhere.
 *
 *	beside table FILE		CPU seconds, rows, bytes of FILE's table
 *	beside run SAMPLES COMMAND…	stops COMMAND now and then; time and
 *					agreement of both
 *
 * Prints "name value" lines.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "live.h"
#include "second.h"

enum { FRAMES = 4096, COPY = 65528, BELOW = 1024, PROOFS = 50 };

struct walked {
	uint64_t pc[FRAMES];
	size_t n;
	bool whole;
};

struct beside {
	pid_t pid;		/* the process, … */
	pid_t tid;		/* … and the thread that is looked at */
	struct live live;
	uint64_t maps;		/* hash of what is mapped */
	uint32_t generation;
	Dwfl *dwfl;
	bool attached;
	struct unwind_regs regs;
	uint8_t stack[COPY];
	struct unwind_memory mem;
	struct walked ours, theirs, others;
	uint64_t sp[FRAMES];	/* of ours */
	struct walked claim;	/* a stack that both others contradict */
	uint64_t claim_sp[FRAMES];
	struct second *second;
	struct unwind_stack last;
	size_t other_same, either, proven, tried;
	size_t samples, same, whole, their_whole, longer, frames, their_frames;
	size_t ends[3], reasons[UNWIND_REASONS], told;
	double first_ns, warm_ns, their_ns;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Of this process: other work of the machine does not count. */
static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int table(const char *path)
{
	struct unwind_table_stats s;
	struct unwind_table *t;
	struct error err;
	struct image *img;
	double start = cpu_ns(), opened;

	if (image_open_file(path, &img, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	if (unwind_table_open(img, &t) < 0)
		return 1;
	opened = cpu_ns();
	if (unwind_table_compile(t) < 0)
		return 1;
	s = unwind_table_stats(t);
	printf("open_s %.6f\nseconds %.6f\nrows %llu\nrules %llu\nbytes %llu\n",
	       (opened - start) / 1e9, (cpu_ns() - opened) / 1e9,
	       (unsigned long long)s.rows, (unsigned long long)s.rules,
	       (unsigned long long)s.bytes);
	unwind_table_close(t);
	return 0;
}

/* What an epilogue has taken off the stack is still there, below its pointer, as
 * the process stands still. */
static bool read_below(struct beside *b, uint64_t addr, Dwarf_Word *out)
{
	struct iovec here = { out, 8 }, there = { (void *)(uintptr_t)addr, 8 };

	return b->mem.start - addr <= BELOW &&
	       process_vm_readv(b->pid, &here, 1, &there, 1, 0) == 8;
}

/* libdw's side: the copy that we have, and what is below. */
static bool dw_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *out, void *arg)
{
	struct beside *b = arg;
	uint64_t off = addr - b->mem.start;

	(void)dwfl;
	if (off >= b->mem.size || b->mem.size - off < 8)
		return read_below(b, addr, out);
	memcpy(out, b->stack + off, 8);
	return true;
}

static bool dw_regs(Dwfl_Thread *thread, void *arg)
{
	struct beside *b = arg;
	Dwarf_Word regs[UNWIND_REGS];

	for (int i = 0; i < UNWIND_REGS; i++)
		regs[i] = b->regs.r[i];
	return dwfl_thread_state_registers(thread, 0, UNWIND_REGS, regs);
}

static pid_t dw_next(Dwfl *dwfl, void *arg, void **thread)
{
	struct beside *b = arg;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = b;
	return b->pid;
}

static bool dw_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl, (void)tid;
	*thread = arg;
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = dw_next, .get_thread = dw_thread,
	.memory_read = dw_read, .set_initial_registers = dw_regs,
};

static char no_path[] = "";
static char *debug_path = no_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debug_path,
};

static int dw_frame(Dwfl_Frame *state, void *arg)
{
	struct walked *w = arg;
	bool exact;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(state, &pc, &exact) || w->n == FRAMES)
		return DWARF_CB_ABORT;
	w->pc[w->n++] = pc - !exact;
	return DWARF_CB_OK;
}

/* What is mapped has changed since we looked. */
static bool maps_changed(struct beside *b)
{
	static char text[256 << 10];
	char path[64];
	size_t n = 0;
	uint64_t hash;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", b->pid);
	f = fopen(path, "re");
	if (f) {
		char line[512];

		while (fgets(line, sizeof(line), f)) {
			const char *mode = strchr(line, ' ');

			/* JITs' code may be writable */
			if (mode && mode[3] == 'x' &&
			    n + sizeof(line) < sizeof(text))
				n += (size_t)snprintf(text + n, sizeof(line),
						      "%s", line);
		}
		fclose(f);
	}
	hash = hash_bytes(text, n);
	if (hash == b->maps)
		return false;
	b->maps = hash;
	return true;
}

static void look_again(struct beside *b)
{
	if (b->generation)
		live_close(&b->live);
	live_open(&b->live, b->pid);
	if (b->second)
		second_forget(b->second);
	b->live.space.generation = ++b->generation;
	if (b->dwfl)
		dwfl_end(b->dwfl);
	b->dwfl = dwfl_begin(&callbacks);
	dwfl_linux_proc_report(b->dwfl, b->pid);
	dwfl_report_end(b->dwfl, NULL, NULL);
	b->attached = dwfl_attach_state(b->dwfl, NULL, b->pid,
					&thread_callbacks, b);
}

static void walk_ours(struct beside *b, double *ns)
{
	struct unwind_stack out = { .pc = b->ours.pc, .sp = b->sp,
				    .max = FRAMES };
	double start = now_ns();

	unwind_walk(b->live.cache, &b->live.space, &b->regs, &b->mem, &out);
	*ns += now_ns() - start;
	b->ours.n = out.n;
	b->ours.whole = out.end == UNWIND_COMPLETE;
	b->last = out;
	if (ns == &b->first_ns) {
		b->ends[out.end]++;
		b->reasons[out.reason]++;
	}
}

static void walk_theirs(struct beside *b, double *ns)
{
	double start = now_ns();

	b->theirs.n = 0;
	b->theirs.whole = b->attached &&
		!dwfl_getthread_frames(b->dwfl, b->tid, dw_frame, &b->theirs);
	*ns += now_ns() - start;
}

/* The frames from shortly before the first difference on. */
static void tell(struct beside *b)
{
	const struct walked *x = &b->ours, *y = &b->theirs, *z = &b->others;
	size_t i = 0, end;

	if (getenv("BESIDE_QUIET") || b->told++ >= 8)
		return;
	fprintf(stderr, "sample %zu: ours %zu (%s), libdw %zu%s, libunwind "
		"%zu\n", b->samples, x->n, x->whole ? "whole" :
		b->last.end == UNWIND_CUT ? "cut" :
		unwind_reason_text(b->last.reason), y->n,
		y->whole ? " whole" : "", z->n);
	while (i < x->n && i < y->n && x->pc[i] == y->pc[i])
		i++;
	i = i > 2 ? i - 2 : 0;
	for (end = i + 8; (i < x->n || i < y->n) && i < end; i++)
		fprintf(stderr, "  %2zu %12llx %12llx %12llx %s\n", i,
			i < x->n ? (unsigned long long)x->pc[i] : 0ull,
			i < y->n ? (unsigned long long)y->pc[i] : 0ull,
			i < z->n ? (unsigned long long)z->pc[i] : 0ull,
			live_path(&b->live, i < x->n ? x->pc[i] : y->pc[i]));
}

static bool equal(const struct walked *x, const struct walked *y)
{
	return x->n == y->n && !memcmp(x->pc, y->pc, x->n * sizeof(*x->pc));
}

static void compare(struct beside *b)
{
	const struct walked *x = &b->ours, *y = &b->theirs;
	size_t n = x->n < y->n ? x->n : y->n;
	bool prefix = !memcmp(x->pc, y->pc, n * sizeof(*x->pc));

	b->samples++;
	b->other_same += equal(x, &b->others);
	b->either += equal(x, y) || equal(x, &b->others);
	b->frames += x->n;
	b->their_frames += y->n;
	b->whole += x->whole;
	b->their_whole += y->whole;
	if (prefix && x->n == y->n)
		b->same++;
	else if (prefix && x->n > n && x->whole)
		b->longer++;	/* libdw lost its way */
	else if (!equal(x, &b->others))
		tell(b);
}

/* The thread's registers, and its stack from there on. */
static bool capture(struct beside *b)
{
	struct iovec here = { b->stack, COPY }, there;
	struct user_regs_struct u;
	ssize_t got;

	if (ptrace(PTRACE_GETREGS, b->tid, NULL, &u))
		return false;
	b->regs = regs_of_ptrace(&u);
	if (b->live.stack_end > u.rsp && b->live.stack_end - u.rsp < COPY)
		here.iov_len = (size_t)(b->live.stack_end - u.rsp);
	there = (struct iovec){ (void *)(uintptr_t)u.rsp, here.iov_len };
	got = process_vm_readv(b->pid, &here, 1, &there, 1, 0);
	b->mem = (struct unwind_memory){ .bytes = b->stack, .start = u.rsp,
					 .size = got > 0 ? (size_t)got : 0 };
	return got >= 8;
}

/* Lets the thread run, instruction by instruction, until its stack pointer is at
 * sp or above; whether it is at pc then. */
static bool returns_to(struct beside *b, uint64_t sp, uint64_t pc)
{
	enum { STEPS = 200000 };
	struct user_regs_struct u;
	int signal = 0, status;

	for (int i = 0; i < STEPS; i++) {
		if (ptrace(PTRACE_SINGLESTEP, b->tid, NULL,
			   (void *)(intptr_t)signal) ||
		    waitpid(b->tid, &status, __WALL) != b->tid ||
		    !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GETREGS, b->tid, NULL, &u))
			return false;
		signal = status >> 16 || WSTOPSIG(status) == SIGTRAP
			 ? 0 : WSTOPSIG(status);
		if (u.rsp >= sp)
			return u.rip == pc;
	}
	return false;
}

/* Whether libdw finds from here what the claim says of frame i and its callers. */
static bool rest_is_same(struct beside *b, size_t i)
{
	const struct walked *x = &b->claim, *y = &b->theirs;
	double unused = 0;

	if (!capture(b))
		return false;
	walk_theirs(b, &unused);
	return y->n == x->n - i && y->pc[0] == x->pc[i] + 1 &&
	       !memcmp(y->pc + 1, x->pc + i + 1, (y->n - 1) * sizeof(*y->pc));
}

/* The program itself decides: it returns to the callers that tally has found, up
 * to one from where libdw finds the same. */
static bool is_proven(struct beside *b)
{
	enum { DEPTH = 4 };

	b->claim = b->ours;
	memcpy(b->claim_sp, b->sp, sizeof(b->sp));
	for (size_t i = 1; i < b->claim.n && i <= DEPTH; i++) {
		if (!returns_to(b, b->claim_sp[i], b->claim.pc[i] + 1))
			return false;
		if (rest_is_same(b, i))
			return true;
	}
	return false;
}

static void sample(struct beside *b)
{
	double unused = 0;

	if (maps_changed(b))
		look_again(b);
	if (!capture(b))
		return;
	walk_ours(b, &b->first_ns);
	walk_ours(b, &b->warm_ns);
	walk_theirs(b, &unused);
	walk_theirs(b, &b->their_ns);
	if (b->second)
		b->others.n = second_walk(b->second, b->tid, b->others.pc,
					  FRAMES);
	compare(b);
	if (!equal(&b->ours, &b->theirs) && !equal(&b->ours, &b->others) &&
	    b->tried++ < PROOFS)
		b->proven += is_proven(b);
}

static void report(const struct beside *b)
{
	printf("samples %zu\nframes %zu\ntheir_frames %zu\nsame %zu\n"
	       "longer %zu\nwhole %zu\ntheir_whole %zu\n", b->samples,
	       b->frames, b->their_frames, b->same, b->longer, b->whole,
	       b->their_whole);
	printf("first_ns %.1f\nwarm_ns %.1f\ntheir_ns %.1f\n",
	       b->first_ns / (double)(b->frames + !b->frames),
	       b->warm_ns / (double)(b->frames + !b->frames),
	       b->their_ns / (double)(b->their_frames + !b->their_frames));
	if (b->second)
		printf("second_same %zu\neither %zu\n", b->other_same,
		       b->either);
	printf("proven %zu\n", b->proven);
	printf("cut %zu\nbroken %zu\n", b->ends[UNWIND_CUT],
	       b->ends[UNWIND_BROKEN]);
}

static pid_t spawn(char **argv)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!freopen("/dev/null", "w", stdout) ||
	    !freopen("/dev/null", "w", stderr))
		_exit(2);
	execvp(argv[0], argv);
	_exit(127);
}

/* Whether the thread runs: state R (proc(5)). */
static bool is_running(pid_t pid, pid_t tid)
{
	char path[64], text[256], *end = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f))
		end = strrchr(text, ')');
	if (f)
		fclose(f);
	return end && !strncmp(end, ") R", 3);
}

/* A thread of the process, one that runs if there is any. */
static pid_t choose_thread(const struct beside *b, uint64_t seed)
{
	pid_t any = b->pid, busy = 0;
	size_t n = 0;
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", b->pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		pid_t tid = atoi(d->d_name);

		if (tid > 0 && is_running(b->pid, tid) && seed % ++n == 0)
			busy = tid;
	}
	if (dir)
		closedir(dir);
	return busy ? busy : any;
}

/* Stops thread b->tid and samples it; what other threads stop for meanwhile is
 * let pass.  False: the process has ended. */
static bool sample_thread(struct beside *b)
{
	for (;;) {
		int status, signal = 0;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0 || (!WIFSTOPPED(status) && tid == b->pid))
			return false;
		if (WIFSTOPPED(status)) {
			bool event = status >> 16 == PTRACE_EVENT_STOP;

			if (event && tid == b->tid)
				sample(b);
			if (!event)
				signal = WSTOPSIG(status);
			ptrace(PTRACE_CONT, tid, NULL,
			       (void *)(intptr_t)signal);
			if (event && tid == b->tid)
				return true;
		} else if (tid == b->tid) {
			return true;
		}
	}
}

static int run(size_t samples, char **argv)
{
	struct beside *b = calloc(1, sizeof(*b));
	uint64_t seed = 1;
	bool lives = true;

	if (!b)
		return 1;
	b->pid = spawn(argv);
	usleep(20000);
	b->second = second_new();
	while (b->samples < samples && lives) {
		seed = hash_u64(seed + 1);
		usleep((useconds_t)(200 + seed % 1000));
		b->tid = choose_thread(b, seed);
		/* fails when it was done before */
		ptrace(PTRACE_SEIZE, b->tid, NULL, NULL);
		if (!ptrace(PTRACE_INTERRUPT, b->tid, NULL, NULL))
			lives = sample_thread(b);
		else if (kill(b->pid, 0))
			lives = false;
	}
	second_free(b->second);
	kill(b->pid, SIGKILL);
	report(b);
	if (b->dwfl)
		dwfl_end(b->dwfl);
	if (b->generation)
		live_close(&b->live);
	free(b);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "table"))
		return table(argv[2]);
	if (argc > 3 && !strcmp(argv[1], "run"))
		return run(strtoul(argv[2], NULL, 10), argv + 3);
	fprintf(stderr, "usage: beside table FILE | run SAMPLES COMMAND…\n");
	return 2;
}
