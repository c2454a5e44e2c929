/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_UNWIND_LIVE_H
#define TALLY_TESTS_UNWIND_LIVE_H
/* The code of a process that exists, with tables of all its files. */
#include <sys/types.h>
#include <sys/ucontext.h>
#include <sys/user.h>

#include "unwind/unwind.h"

enum { LIVE_MAPS = 512 };

struct live {
	struct unwind_code code[LIVE_MAPS];
	char path[LIVE_MAPS][128];
	size_t n;
	uint64_t stack_end;	/* of the main thread */
	struct unwind_space space;
	struct unwind_cache *cache;
	size_t finds;		/* how often the walker asked */
};

/* Reads /proc/PID/maps, 0 is ourselves. */
void live_open(struct live *l, pid_t pid);
void live_close(struct live *l);
/* Part of the name of the file that holds pc, or "". */
const char *live_path(const struct live *l, uint64_t pc);

struct unwind_regs regs_of_signal(const ucontext_t *uc);
struct unwind_regs regs_of_ptrace(const struct user_regs_struct *u);

#endif
