// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of a PHP, of any contents: the walk of its frames, and what the recorder makes
 * of them.  The first byte chooses the version; the memory begins at BASE with
 * executor_globals.  The list of modules is at BASE + 1024.
 */
#include "runtime/php_frames.h"
#include "tests/fuzz/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READS_MAX = 64 * FRAME_ENTRIES_MAX, MODULES = 1024, SIZE_MAX_HERE = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct php_scratch scratch;
	static uint64_t seen[FRAME_SEEN];
	struct memory m = { .most = READS_MAX };
	struct frame_door door = { read_memory, put_part, &m, seen };
	struct php_types t = { .globals = BASE, .modules = BASE + MODULES,
			       .loop = 0x2000, .loop_bytes = 0x1000 };
	struct php_registers regs = { 0 };
	size_t n;

	if (size < 17 || size > SIZE_MAX_HERE)
		return 0;
	t.globals_bytes = data[0] & 1 ? 1984 : 1776;
	memcpy(&regs.frame, data + 1, 8);
	memcpy(&regs.op, data + 9, 8);
	m.bytes = data + 17;
	m.size = size - 17;
	memset(seen, 0, sizeof(seen));
	if (php_layout(&t, &door)) {
		n = php_walk(&t, &regs, &door, &scratch);
		if (n != m.part.n || n > FRAME_PART_MAX)
			abort();
		if (n)
			merge(m.part.p, m.part.n);
	}
	buf_fini(&m.part);
	return 0;
}
