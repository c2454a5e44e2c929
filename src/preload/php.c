// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds PHP in this program, and the frames of its thread (runtime/php_frames.h).  A
 * PHP without threads runs only in the main thread.
 */
#include <ucontext.h>

#include "preload/preload.h"
#include "runtime/php_frames.h"

enum { TRIES_MAX = 1000 };

static struct {
	struct php_types types;
	uint32_t tries;		/* attempts to read its version, which fail before PHP
				 * has started */
} php;

bool php_find(void)
{
	struct php_types *t = &php.types;

	t->globals = (uintptr_t)resolve_any("executor_globals", false,
					    &t->globals_bytes);
	t->modules = (uintptr_t)resolve_any("module_registry", false, NULL);
	t->loop = (uintptr_t)resolve_any("execute_ex", true, &t->loop_bytes);
	return t->globals && t->modules && t->loop && t->loop_bytes;
}

static bool is_known(const struct frame_door *door)
{
	if (php.types.layout.api)
		return true;
	return php.tries < TRIES_MAX && php.tries++ < TRIES_MAX &&
	       php_layout(&php.types, door);
}

size_t php_put(const struct frame_door *door, void *work, const struct slot *s,
	       const long long *g)
{
	const struct php_registers regs = {
		(uint64_t)g[REG_R14], (uint64_t)g[REG_R15],
	};

	if (s->tid != preload.pid || !is_known(door))
		return 0;
	return php_walk(&php.types, &regs, door, work);
}
