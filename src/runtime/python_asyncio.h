/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_PYTHON_ASYNCIO_H
#define TALLY_RUNTIME_PYTHON_ASYNCIO_H
/*
 * The table of offsets that the module _asyncio publishes from CPython 3.14 on
 * (_Py_AsyncioDebugOffsets): of the running task in a thread's state, and of the name
 * in a task.
 *
 * No symbol leads to the table, and a program's memory has no section headers.  Any
 * function of the module leads to the module's ELF header, and the header to its data.
 * Linkers place the table at the end of the data.  It is recognized by the size of the
 * interpreter's structure, which the interpreter publishes, too, and by offsets that are
 * below the sizes next to them.
 */
#include "runtime/python_objects.h"

struct python_asyncio {
	uint64_t table;
	uint16_t running_task;	/* in the state of a thread */
	uint16_t task_name;	/* in a task */
};

/* Finds the table of the module that contains the function.  Takes up to about 600
 * reads. */
bool python_asyncio_find(const struct python_objects *o, uint64_t function,
			 struct python_asyncio *found);

#endif
