// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the table of offsets of the module _asyncio. */
#include "runtime/python_asyncio.h"

#include <elf.h>

enum {
	PAGE = 4096,
	PAGES_MAX = 8192,	/* between a function and its file's header */
	SEGMENTS_MAX = 32,
	DATA_MAX = 1 << 20,	/* bytes that are searched */
	TASK_MAX = 1024,	/* bytes of a task's structure */
	STATE_MAX = 16384,	/* bytes of a thread's structure */
};

/* Modules/_asynciomodule.c: struct _Py_AsyncioModuleDebugOffsets */
struct table {
	uint64_t task_bytes, task_name, other[5];
	uint64_t interpreter_bytes, interpreter_tasks;
	uint64_t state_bytes, running_loop, running_task, state_tasks;
};

_Static_assert((int)PAGE == (int)FRAME_WINDOW, "a page fits into the window");

static bool is_field(uint64_t at, uint64_t bytes, uint64_t most)
{
	return !(at & 7) && bytes <= most && at >= 8 && bytes >= 8 && at <= bytes - 8;
}

static bool is_table(const struct python_objects *o, const struct table *t)
{
	return t->interpreter_bytes == o->types->layout.interpreter_bytes &&
	       t->interpreter_tasks < t->interpreter_bytes &&
	       is_field(t->task_name, t->task_bytes, TASK_MAX) &&
	       is_field(t->running_loop, t->state_bytes, STATE_MAX) &&
	       is_field(t->running_task, t->state_bytes, STATE_MAX) &&
	       is_field(t->state_tasks, t->state_bytes, STATE_MAX);
}

/* Finds the page below an address that begins with an ELF file's mark, or returns 0. */
static uint64_t header_of(const struct python_objects *o, uint64_t function)
{
	static const union { uint8_t mark[4]; uint32_t word; } elf = { { 0x7f, 'E', 'L', 'F' } };
	uint64_t page = function & ~(uint64_t)(PAGE - 1);
	struct frame_span v[PYTHON_BATCH];
	uint64_t words[PYTHON_BATCH];
	size_t n = PYTHON_BATCH, got = n;

	for (int i = 0; i < PAGES_MAX / PYTHON_BATCH && got == n; i++) {
		for (n = 0; n < PYTHON_BATCH && page >= PAGE; n++, page -= PAGE)
			v[n] = (struct frame_span){ page, sizeof(*words) };
		got = n ? o->door->read(o->door->ctx, v, n, words) / sizeof(*words) : 0;
		for (size_t k = 0; k < got; k++)
			if ((uint32_t)words[k] == elf.word)
				return v[k].at;
	}
	return 0;
}

/* Searches a range for the table, from its end.  *left: number of bytes that may still
 * be searched */
static bool search(const struct python_objects *o, uint64_t from, uint64_t end,
		   uint64_t *left, struct python_asyncio *found)
{
	uint64_t at = end & ~7ull;
	size_t n;

	from = (from + 7) & ~7ull;
	if (at > from && at - from > *left)
		from = at - *left;
	*left -= at > from ? at - from : 0;
	while (at > from && at - from >= sizeof(struct table)) {
		n = at - from < PAGE ? (size_t)(at - from) : PAGE;
		at -= n;
		if (!frame_read(o->door, at, n, o->room))
			return false;
		for (size_t i = 0; i + sizeof(struct table) <= n; i += 8) {
			const struct table *t =
				(const void *)((const uint8_t *)o->room + i);

			if (!is_table(o, t))
				continue;
			found->table = at + i;
			found->running_task = (uint16_t)t->running_task;
			found->task_name = (uint16_t)t->task_name;
			return true;
		}
		/* the next part has what was cut off */
		at += at > from ? sizeof(struct table) - 8 : 0;
	}
	return false;
}

/* Returns the segments of the file with this header in memory, or 0: none. */
static size_t segments_of(const struct python_objects *o, uint64_t header,
			  Elf64_Phdr *segments)
{
	Elf64_Ehdr e;
	size_t n;

	if (!frame_read(o->door, header, sizeof(e), &e) || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_phentsize != sizeof(*segments) || e.e_phnum > SEGMENTS_MAX ||
	    e.e_phoff > PAGE)
		return 0;
	n = e.e_phnum;
	return n && frame_read(o->door, header + e.e_phoff, n * sizeof(*segments), segments)
	       ? n : 0;
}

/* Finds what is to be added to a segment's address, if the file at this header contains the
 * function. */
static bool find_bias(const Elf64_Phdr *segments, size_t n, uint64_t header,
		      uint64_t function, uint64_t *bias)
{
	bool known = false;

	for (size_t i = 0; i < n && !known; i++)
		if (segments[i].p_type == PT_LOAD && !segments[i].p_offset) {
			*bias = header - segments[i].p_vaddr;
			known = true;
		}
	for (size_t i = 0; i < n && known; i++)
		if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X) &&
		    function - (segments[i].p_vaddr + *bias) < segments[i].p_memsz)
			return true;
	return false;
}

bool python_asyncio_find(const struct python_objects *o, uint64_t function,
			 struct python_asyncio *found)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	uint64_t header = header_of(o, function), bias = 0, left = DATA_MAX, from;
	size_t n = header ? segments_of(o, header, segments) : 0;

	if (!n || !find_bias(segments, n, header, function, &bias))
		return false;
	/* Segments that are read-only after relocation come first. */
	while (n--) {
		from = segments[n].p_vaddr + bias;
		if (segments[n].p_type == PT_LOAD && (segments[n].p_flags & PF_W) &&
		    segments[n].p_filesz < 1ull << 40 &&
		    search(o, from, from + segments[n].p_filesz, &left, found))
			return true;
	}
	return false;
}
