// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of a Ruby, of any contents: the search for its thread, the walk of its
 * frames, and what the recorder makes of them.  The memory begins at BASE with
 * ruby_current_vm_ptr.
 */
#include "runtime/ruby_frames.h"
#include "tests/fuzz/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READS_MAX = RUBY_THREADS_MAX + 16 * FRAME_ENTRIES_MAX, SIZE_MAX_HERE = 1 << 16 };
#define SELF 0x7000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ruby_types types = { BASE, 0x3000, 0x1000 };
	static struct ruby_scratch scratch;
	static uint64_t seen[FRAME_SEEN];
	struct memory m = { .bytes = data, .size = size, .most = READS_MAX };
	struct frame_door door = { read_memory, put_part, &m, seen };
	uint64_t thread;
	size_t n;

	if (size > SIZE_MAX_HERE)
		return 0;
	memset(seen, 0, sizeof(seen));
	thread = ruby_thread(&types, SELF, 0, &door);
	if (ruby_thread(&types, SELF, thread, &door) != thread)
		abort();
	if (thread) {
		n = ruby_walk(&types, thread, &door, &scratch);
		if (n != m.part.n || n > FRAME_PART_MAX)
			abort();
		if (n)
			merge(m.part.p, m.part.n);
	}
	buf_fini(&m.part);
	return 0;
}
