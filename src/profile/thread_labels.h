/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_THREAD_LABELS_H
#define TALLY_PROFILE_THREAD_LABELS_H
/*
 * Labels of threads: those given to a recording (`record --label`), its host,
 * the names in the path of a thread's control group (base/cgroup_path.h), and the
 * asyncio task that a thread of Python ran.
 */
#include "profile/model.h"

enum { LABELS_MAX = 20, LABEL_VALUE_MAX = 1024 };

/* Parses "name=value" as users write it.  *name is allocated, *value points into
 * it.  ERR_USAGE describes the mistake. */
int label_parse(const char *text, char **name, const char **value,
		struct error *err);
/* Stores a label in a recording.  Returns 0 or -ERR_NOMEM. */
int profile_set_label(struct profile *p, uint32_t run, const char *name,
		      const char *value);

/* Labels that tally derives. */
enum thread_label {
	/* all labels given to the recording: "canary=yes, team=web" */
	LABEL_GIVEN,
	LABEL_HOST,	/* the recorded machine */
	/* the label service_name, service.name or service, or else the program
	 * of a recorded command, the systemd service, "kernel", or the name of
	 * the process */
	LABEL_SERVICE,
	LABEL_CONTAINER, LABEL_POD,
	LABEL_CGROUP,	/* the path */
	LABEL_TASK,	/* the asyncio task */
	LABEL_COUNT
};

/* Labels of one run, in order of their names. */
struct run_label {
	uint32_t name, value;	/* str of thread_labels */
};

struct thread_labels {
	const struct profile *p;
	struct strtab str;
	VEC(struct run_label) given;
	size_t *given_end;		/* by run: end of its labels in `given` */
	uint32_t *host, *all;		/* by run; str */
	VEC(uint32_t) cgroups;		/* str: container, pod and service of each
					 * path */
	struct u64map cgroup_of;	/* str of the profile -> index in
					 * `cgroups` */
	struct u64map process_names;	/* run and pid -> str of the profile */
};

/* Prepares the labels of a profile, which must outlive them and whose threads
 * must not change.  Returns 0 or -ERR_NOMEM. */
int thread_labels_init(struct thread_labels *l, const struct profile *p);
void thread_labels_fini(struct thread_labels *l);

/* Returns a thread's label, "" if it has none, or NULL if out of memory.  The
 * text is unsafe and valid until the next call. */
const char *thread_label(struct thread_labels *l, uint32_t thread,
			 enum thread_label label);
/* Returns the label with a name as users write it: one that was given, or a
 * derived one (host, service, container, pod, cgroup, task).  The result is as for
 * thread_label. */
const char *thread_label_named(struct thread_labels *l, uint32_t thread,
			       const char *name);
/* Returns whether a name is that of a derived label, or some run has it. */
bool thread_labels_know(const struct thread_labels *l, const char *name);

#endif
