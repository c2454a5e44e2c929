/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_STARTS_H
#define TALLY_SYMBOLIZE_STARTS_H
/*
 * Functions at the outer end of stacks that no symbol names, told by what they do
 * (private to src/symbolize).  Nearly every stack ends in them, and distributions
 * strip their names:
 *
 *	start_thread		glibc: pthread_create takes its address; it calls
 *				_setjmp, a function by a pointer and
 *				__call_tls_dtors, and ends the thread
 *	clone3			glibc: makes that system call and then calls what its
 *				caller gave it
 *	__libc_start_call_main	glibc: called by __libc_start_main, calls a function
 *				by a pointer and exit with its result
 *	_start, _dl_start_user, _dl_start, _dl_init, _dl_fini
 *				glibc's loader: its entry point and what that calls
 *	_start			of a program: the code of glibc's crt1.o is there
 *	[entry point]		of another file
 *
 * A function has its name only where all of this is so, and once; else it has none.
 * x86-64; on other machines there are entry points only.
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

/* The function that covers addr, or NULL.  The first call looks for them all. */
const struct start_function *starts_find(struct starts *s, struct image *img,
					 uint64_t addr);
void starts_fini(struct starts *s);

#endif
