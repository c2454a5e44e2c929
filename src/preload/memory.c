// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks whether memory that a program refers to exists.  A system call answers bad
 * pointers with EFAULT, so the library must not fault on them first.
 */
#include "preload/preload.h"

enum { NO_HOW = 0x7fff };

/* rt_sigprocmask(2) reads the new mask before it checks its first argument, and
 * rejects the latter.  NULL is no mask, so the first page is read behind it. */
static bool page_is_mapped(uintptr_t page)
{
	return sys4(SYS_rt_sigprocmask, NO_HOW, page ? (long)page : 8, 0, 8) !=
	       -14 /* EFAULT */;
}

bool memory_is_mapped(struct mapped_page *m, const void *at, size_t n)
{
	uintptr_t from = (uintptr_t)at & ~(uintptr_t)(TIMER_PAGE - 1);

	if (preload.careful)
		return true;
	for (; from < (uintptr_t)at + n; from += TIMER_PAGE) {
		if (from == m->page && m->any)
			continue;
		if (!page_is_mapped(from))
			return false;
		m->page = from;
		m->any = true;
	}
	return true;
}

bool text_is_mapped(struct mapped_page *m, const char *s, size_t most)
{
	for (size_t i = 0; i < most; i++) {
		if (!memory_is_mapped(m, s + i, 1))
			return false;
		if (!s[i])
			return true;
	}
	return true;
}
