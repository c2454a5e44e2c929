/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_UNWIND_SECOND_H
#define TALLY_TESTS_UNWIND_SECOND_H
/* Stacks of a stopped thread by libunwind, through ptrace(2). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct second;

/* NULL: this build has no libunwind. */
struct second *second_new(void);
void second_free(struct second *s);
/* Other files are mapped than before. */
void second_forget(struct second *s);
/* Innermost first, addresses within their instructions; their number. */
size_t second_walk(struct second *s, pid_t tid, uint64_t *pc, size_t max);

#endif
