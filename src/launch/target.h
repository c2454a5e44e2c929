/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_TARGET_H
#define TALLY_LAUNCH_TARGET_H
/* The target of a recording: processes, threads, CPUs, a control group. */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

typedef VEC(uint32_t) id_list;

/* The target as the user wrote it. */
struct target_options {
	const char *pids, *tids, *cpus;	/* "1,2" and "0-3,8", or NULL */
	const char *cgroup;		/* path, or NULL */
	bool all_cpus, command;		/* a command is given */
	bool descendants;		/* with pids: also what they have started */
	uint64_t repeat;
};

struct target {
	id_list pids, tids, cpus;
	int cgroup_fd;		/* or -1 */
	bool attached;		/* -p or -t */
	bool descendants;	/* those of pids belong to the target, too */
	size_t left_out;	/* else: how many there are; see target_threads */
	bool system_wide;	/* everything on the CPUs or in the cgroup */
};

/* Opens the folder of a control group: a full path, or one below a hierarchy. */
int target_cgroup(const char *path, int *out, struct error *err);
/* Parses the options.  `t` must be zeroed, with cgroup_fd -1. */
int target_parse(struct target *t, const struct target_options *o,
		 struct error *err);
void target_fini(struct target *t);
/* Lists the existing threads of t->pids and t->tids.  With t->descendants, it adds the
 * processes to t->pids that these have started, else sets t->left_out.  Neither
 * includes the caller and what it started. */
int target_threads(struct target *t, id_list *out, struct error *err);
/* Writes what the user should know after that, or "". */
enum { TARGET_NOTE = 160 };
void target_note(const struct target *t, char *text, size_t size);

/* Descriptors for learning when all attached processes and threads have ended. */
struct target_ends {
	VEC(int) fds;		/* one for each of t->pids; -1 when ended or unknown */
};

int target_watch(const struct target *t, struct target_ends *w,
		 struct error *err);
void target_watch_end(struct target_ends *w);
/* Returns whether all have ended.  `fds`: w->fds after poll(2) for POLLIN. */
bool target_ended(const struct target *t, const struct target_ends *w,
		  const struct pollfd *fds);

#endif
