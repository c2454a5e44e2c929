/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_STARTS_H
#define TALLY_SYMBOLIZE_STARTS_H
/*
 * Identifies functions without a symbol at the outer end of stacks by their
 * code (private to src/symbolize).  Nearly every stack ends in them, and
 * distributions strip their names:
 *
 *	start_thread		glibc: pthread_create takes its address; it calls
 *				_setjmp, a function by a pointer and
 *				__call_tls_dtors, and ends the thread
 *	clone3			glibc: makes that system call, then calls the function
 *				passed by its caller
 *	__libc_start_call_main	glibc: called by __libc_start_main, calls a function
 *				by a pointer and exit with its result
 *	_start, _dl_start_user, _dl_start, _dl_init, _dl_fini
 *				glibc's loader: its entry point and its callees
 *	_start			entry point of a program with the code of glibc's
 *				crt1.o
 *	[entry point]		entry point of any other file
 *
 * A function gets its name only if all of this holds for exactly one function.
 * Requires x86-64; on other machines only entry points are found.
 */
#include "base/vec.h"
#include "image/image.h"

struct start_function {
	const char *name;	/* static */
	uint64_t start, size;
};

struct starts {
	VEC(struct start_function) v;
	bool made;
};

/* Returns the function that covers addr, or NULL.  The first call finds all of
 * them. */
const struct start_function *starts_find(struct starts *s, struct image *img,
					 uint64_t addr);
/* Returns the end of the range from addr on that lies within one of these functions, or
 * outside of all of them; at most `end`.  Call starts_find before. */
uint64_t starts_same_until(const struct starts *s, uint64_t addr, uint64_t end);
void starts_fini(struct starts *s);

#endif
