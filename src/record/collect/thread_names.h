/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_THREAD_NAMES_H
#define TALLY_RECORD_COLLECT_THREAD_NAMES_H
/*
 * Names that programs give to their threads without telling the kernel
 * (threading.Thread(name=…) of Python).  Such a name is shown where the kernel's says
 * nothing about the thread, because the thread has inherited it, or where the kernel's
 * is the beginning of it (TASK_COMM_LEN cuts it; Python sets it from 3.14 on).
 * Generated names ("Thread-7", from Python 3.10 on "Thread-7 (target)") become
 * "Thread-N" and "Thread-N (target)".
 */
#include "base/strtab.h"
#include "record/collect/processes.h"

struct thread_names {
	struct strtab text;
};

/* Returns 0 or -ERR_NOMEM. */
int thread_names_init(struct thread_names *n);
void thread_names_fini(struct thread_names *n);

/* Sets the name that a program gave to a thread; "": none.  Programs may name each
 * thread after its work, so the number of names is limited; threads beyond it keep the
 * kernel's.  Returns 0 or -ERR_NOMEM. */
int thread_names_give(struct thread_names *n, struct task *t, const char *name);
/* Returns the name given to the thread if it is shown, or NULL. */
const char *thread_names_shown(const struct thread_names *n, const struct task *t);

#endif
