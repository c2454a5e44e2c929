// SPDX-License-Identifier: GPL-2.0-or-later
#include "second.h"

#include "config.h"

#ifdef HAVE_LIBUNWIND
#include <libunwind-ptrace.h>
#include <stdlib.h>

struct second {
	unw_addr_space_t space;
	void *process;
	pid_t tid;		/* that it was made for */
};

struct second *second_new(void)
{
	struct second *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->space = unw_create_addr_space(&_UPT_accessors, 0);
	if (!s->space) {
		second_free(s);
		return NULL;
	}
	unw_set_caching_policy(s->space, UNW_CACHE_GLOBAL);
	return s;
}

void second_free(struct second *s)
{
	if (!s)
		return;
	if (s->process)
		_UPT_destroy(s->process);
	if (s->space)
		unw_destroy_addr_space(s->space);
	free(s);
}

void second_forget(struct second *s)
{
	unw_flush_cache(s->space, 0, 0);
	s->tid = 0;
}

/* "Signal frame" is to libunwind the one that the signal came in: it was not
 * called, nor was the restorer that returns to it. */
size_t second_walk(struct second *s, pid_t tid, uint64_t *pc, size_t max)
{
	unw_cursor_t c;
	unw_word_t ip;
	size_t n = 0;

	if (s->tid != tid) {
		if (s->process)
			_UPT_destroy(s->process);
		s->process = _UPT_create(tid);
		s->tid = tid;
	}
	if (!s->process || unw_init_remote(&c, s->space, s->process))
		return 0;
	do {
		bool signal = n && unw_is_signal_frame(&c) > 0;

		if (unw_get_reg(&c, UNW_REG_IP, &ip) || !ip)
			break;
		if (signal && n > 1)
			pc[n - 1]++;
		pc[n] = ip - (n && !signal);
		n++;
	} while (n < max && unw_step(&c) > 0);
	return n;
}
#else
struct second *second_new(void)
{
	return NULL;
}

void second_free(struct second *s)
{
	(void)s;
}

void second_forget(struct second *s)
{
	(void)s;
}

size_t second_walk(struct second *s, pid_t tid, uint64_t *pc, size_t max)
{
	(void)s, (void)tid, (void)pc, (void)max;
	return 0;
}
#endif
