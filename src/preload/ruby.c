// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds Ruby in this program, and the frames of its threads
 * (runtime/ruby_frames.h). */
#include "preload/preload.h"
#include "runtime/ruby_frames.h"

static struct ruby_types ruby;

bool ruby_find(void)
{
	const char *version = resolve_any("ruby_version", false, NULL);

	ruby.vm = (uintptr_t)resolve_any("ruby_current_vm_ptr", false, NULL);
	ruby.loop = (uintptr_t)resolve_any("rb_vm_exec", true, &ruby.loop_bytes);
	return version && ruby_is_known(version) && ruby.vm && ruby.loop &&
	       ruby.loop_bytes;
}

static size_t put(const struct frame_door *door, void *work, struct slot *s,
		  uint64_t guess)
{
	uint64_t self;		/* pthread_self() */

	__asm__("mov %%fs:0, %0" : "=r"(self));
	s->state_at = ruby_thread(&ruby, self, guess, door);
	return s->state_at ? ruby_walk(&ruby, s->state_at, door, work) : 0;
}

size_t ruby_put(const struct frame_door *door, void *work, struct slot *s)
{
	uint64_t guess = s->state_at;
	size_t n = put(door, work, s, guess);

	/* One system thread runs several of Ruby's threads, one after the other.  What
	 * is left of a former one has no frames. */
	return !n && guess ? put(door, work, s, 0) : n;
}
