/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_PROCESSES_H
#define TALLY_RECORD_COLLECT_PROCESSES_H
/*
 * The threads that exist, with their names and the address spaces of their processes,
 * as the sideband records report them.  Numbers are the kernel's; a reused number is
 * a new thread.
 *
 * Pointers are valid until the next call that adds a row.
 */
#include "base/buf.h"
#include "base/hash.h"
#include "record/source/mapset.h"

enum { COMM_MAX = 16 };		/* TASK_COMM_LEN */

struct process {
	uint32_t pid, parent;
	struct mapset *maps;
	bool discovered;	/* its mappings were read or followed */
	bool threaded;		/* has, or had, more than one thread */
	bool headless;		/* the first thread has exited: see processes_purge */
	uint64_t exec_ns;	/* time when its program was started, or 0 */
	uint32_t cgroup;	/* str of the profile: path of its control group */
	bool cgroup_read;	/* false: it is that of the parent, or unknown */
};

struct task {
	uint32_t pid, tid;
	uint32_t row;		/* prof_thread of this name, or UINT32_MAX */
	bool named;
	bool own_comm;		/* it has been renamed since it inherited its name */
	char comm[COMM_MAX];
	uint32_t given;		/* name given by the program: thread_names.h */
	uint64_t start_ns;	/* time since which it has this name */
	uint64_t cgroup;	/* ID at its last sample that had one, or 0 */
	uint64_t first_cgroup;	/* that of `row`, or 0; otherwise `row` is not used */
};

struct comm {
	char name[COMM_MAX];
};

struct comm_list {
	struct comm *v;
	size_t n, cap;
};

struct gone {
	uint64_t time_ns;
	uint32_t pid, tid;
};

struct processes {
	VEC(struct process) procs;
	VEC(struct task) tasks;
	VEC(uint32_t) free_procs, free_tasks;
	struct u64map by_pid, by_tid;
	VEC(struct gone) gone;	/* in order of exit */
	size_t gone_head;
	uint32_t generation;
	struct comm_list unrecorded;	/* of dropped processes: processes_unrecorded */
};

void processes_fini(struct processes *p);
/* Forgets all threads.  Generations continue. */
void processes_clear(struct processes *p);

/* Forgets the rows of the profile, whose tables begin anew. */
void processes_forget_rows(struct processes *p);

/* Return the existing row or a new one, or NULL when out of memory. */
struct process *processes_get(struct processes *p, uint32_t pid);
struct task *processes_task(struct processes *p, uint32_t pid, uint32_t tid);
/* Return the row or NULL. */
struct process *processes_find(struct processes *p, uint32_t pid);
/* Returns the pid of the process's parent (n = 1), of that one's parent (2) …, or 0. */
uint32_t processes_ancestor(struct processes *p, uint32_t pid, int n);
struct task *processes_find_task(struct processes *p, uint32_t tid);

/* These return 0 or -ERR_NOMEM. */
int processes_fork(struct processes *p, uint32_t pid, uint32_t tid,
		   uint32_t ppid, uint32_t ptid, uint64_t time_ns);
int processes_exec(struct processes *p, uint32_t pid, uint64_t time_ns);
int processes_name(struct processes *p, uint32_t pid, uint32_t tid,
		   const char *comm, uint64_t time_ns);
int processes_map(struct processes *p, uint32_t pid, const struct map *m);
/* Marks the thread as gone.  It stays for a while, for records that arrive late. */
int processes_exit(struct processes *p, uint32_t pid, uint32_t tid,
		   uint64_t time_ns);
/* Handles lost records: current mappings and names must be read again.  Returns 0 or
 * -ERR_NOMEM. */
int processes_reread(struct processes *p);
/* Drops the threads that exited before `time_ns`. */
void processes_purge(struct processes *p, uint64_t time_ns);
/*
 * Appends the names of programs that the kernel did not allow tally to record, each
 * once.  Events of a process end when it starts a program that changes its user or
 * that it may not read (Linux, begin_new_exec).  Such a start is followed by no
 * mapping.  `now_ns` is the end of the recording.  Returns 0 or -ERR_NOMEM.
 */
int processes_unrecorded(struct processes *p, uint64_t now_ns, struct buf *out);

/*
 * Appends processes that have not ended, as "1234 (name), 1235 (name)" and at most
 * five, and returns their number.  Processes `but` and tally are left out.
 */
size_t processes_running(struct processes *p, uint32_t but, struct buf *out);

#endif
