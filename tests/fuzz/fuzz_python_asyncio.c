// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory of any contents in which the table of Python's module _asyncio is searched.
 * The memory begins at BASE with the address of a function and the size of an
 * interpreter's structure.
 */
#include "runtime/python_asyncio.h"
#include "tests/fuzz/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READS_MAX = 600, TASK_MAX = 1024, STATE_MAX = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t room[FRAME_WINDOW / 8];
	struct memory m = { .bytes = data, .size = size, .most = READS_MAX };
	const struct frame_door door = { read_memory, put_part, &m, NULL };
	struct python_types types = { 0 };
	const struct python_objects o = { &types, &door, room };
	struct python_asyncio a;
	uint64_t function;

	if (size < 16)
		return 0;
	memcpy(&function, data, sizeof(function));
	memcpy(&types.layout.interpreter_bytes, data + 8, 4);
	if (python_asyncio_find(&o, function, &a) &&
	    (a.table < BASE || a.table - BASE > size || a.running_task > STATE_MAX ||
	     a.task_name > TASK_MAX))
		abort();
	return 0;
}
