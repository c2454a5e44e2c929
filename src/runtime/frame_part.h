/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_FRAME_PART_H
#define TALLY_RUNTIME_FRAME_PART_H
/*
 * Frames of an interpreter as part of a sample: a sequence of struct frame_entry, in
 * the same format for all languages (python_frames.h, php_frames.h, ruby_frames.h).
 *
 *	frame	the code, the position in it, and a witness: a hash that distinguishes
 *		the code from other code at the same address later
 *	run	follows the frames, innermost first, of one activation of the
 *		interpreter's loop.  It holds the address of the activation's record
 *		on the C stack.  The C frame whose stack pointer and caller's stack
 *		pointer enclose this address ran these frames.  0: there is no
 *		record, and a loop entry comes first
 *	loop	the first entry: the address of the loop's function, for counting its
 *		activations; each is one run.  Without a size: the address of code in
 *		the function that it calls to run the frames
 *	code	precedes the first frame of a code: its names and, for Python, its
 *		line table, as they were at the sample's moment
 *	task	at most one: the name of the asyncio task that the thread runs
 *	thread	at most one: the name of the thread, if it was not written yet or has
 *		changed
 *	state	ends the frames of one of several interpreters that the thread runs,
 *		which have an order only by their records
 *	end	the last entry: whether the chain is complete
 *
 * Walks run in signal handlers.  They call no function of the C library, allocate
 * nothing, take no lock and follow no pointer themselves.  The caller supplies the
 * memory reader.  All data read is checked.  Inconsistent data makes the chain torn,
 * never shorter or different.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FRAME_ENTRIES_MAX = 2048,	/* frames and runs in a sample */
	FRAME_TEXT_MAX = 2048,		/* bytes of a name or a file name */
	FRAME_TABLE_MAX = 24 << 10,	/* bytes of a line table */
	FRAME_CODES_MAX = 40 << 10,	/* bytes of all code entries in a sample */
	FRAME_NAME_MAX = 480,		/* bytes of a task's or a thread's name */
	FRAME_PART_MAX = FRAME_ENTRIES_MAX * 16 + FRAME_CODES_MAX +
			 2 * FRAME_NAME_MAX + 256,
	FRAME_INSTR_MAX = 1 << 26,	/* frame_entry.what of frames is less than
					 * this */
	FRAME_SEEN = 4096,		/* a power of two */
	FRAME_WINDOW = 4096,
	FRAME_PIECES = 5,
};

/* Values of frame_entry.what; a value below FRAME_INSTR_MAX is a frame. */
#define FRAME_STATE 0xfffffff9u
#define FRAME_THREAD 0xfffffffau
#define FRAME_TASK 0xfffffffbu
#define FRAME_LOOP 0xfffffffcu
#define FRAME_CODE 0xfffffffdu
#define FRAME_RUN 0xfffffffeu
#define FRAME_END 0xffffffffu

enum frame_state {
	FRAMES_COMPLETE,
	FRAMES_CUT,	/* there was no room for all frames */
	FRAMES_TORN,	/* inconsistent data was read */
};

struct frame_entry {
	uint64_t at;	/* code; run: address on the C stack; loop: function; task
			 * and thread: bytes of its name, which follows like that of a
			 * code */
	uint32_t what;	/* Python: offset of the instruction; others: line; or FRAME_* */
	uint32_t more;	/* witness; loop: size in bytes; task and thread: bytes per
			 * character, or 0: a generated name; state and end: enum
			 * frame_state */
};

enum frame_language { FRAME_PYTHON, FRAME_PHP, FRAME_RUBY, FRAME_LANGUAGES };
enum { FRAME_UTF8 = 8 };	/* value of frame_code.name_kind and file_kind */

/* Data after a FRAME_CODE entry.  Name, file and table follow, padded with zeros to a
 * multiple of 8 bytes. */
struct frame_code {
	uint32_t first_line;
	uint32_t table_bytes;		/* 0: no table, or too large */
	uint16_t name_bytes, file_bytes;
	uint8_t name_kind, file_kind;	/* bytes per character, or FRAME_UTF8 */
	uint8_t minor;			/* minor version of Python */
	uint8_t language;		/* enum frame_language */
};

/* A range of memory, laid out like struct iovec. */
struct frame_span {
	uint64_t at, n;
};

struct frame_door {
	/* Reads n spans into `to`, one after the other.  Returns the number of bytes
	 * before the first span that cannot be read. */
	size_t (*read)(void *ctx, const struct frame_span *v, size_t n,
		       void *to);
	/* Appends bytes to the sample's part. */
	void (*put)(void *ctx, const void *p, size_t n);
	void *ctx;
	/* Table of FRAME_SEEN words per process, initially zero: codes already
	 * written.  Each may be in two places, because a code that another one
	 * replaces is written again.  Threads may share it. */
	uint64_t *seen;
};

/* A part under construction. */
struct frame_out {
	const struct frame_door *door;
	void *room;		/* scratch space of FRAME_WINDOW bytes */
	size_t codes, all;	/* bytes written: of code entries; in total */
};

/* What was read last of a program's frames.  It may serve as scratch space in between;
 * then set n to 0. */
struct frame_window {
	uint64_t at;
	size_t n;
	uint64_t bytes[FRAME_WINDOW / 8];
};

/* Text to copy: memory, or a literal. */
struct frame_piece {
	uint64_t at;
	size_t n;
	const char *literal;
};

/* Numbers at any address.  (A compiler may make a call of memcpy().) */
struct u64_anywhere {
	uint64_t v;
} __attribute__((packed, may_alias));

struct u32_anywhere {
	uint32_t v;
} __attribute__((packed, may_alias));

/* Return what a structure that was read has at an offset. */
static inline uint64_t u64_at(const void *p, size_t at)
{
	return ((const struct u64_anywhere *)((const uint8_t *)p + at))->v;
}

static inline uint32_t u32_at(const void *p, size_t at)
{
	return ((const struct u32_anywhere *)((const uint8_t *)p + at))->v;
}

uint64_t frame_mix(uint64_t hash, uint64_t v);
bool frame_is_pointer(uint64_t p);
bool frame_read(const struct frame_door *door, uint64_t at, size_t n, void *to);
/* Returns n bytes at an address, n <= FRAME_WINDOW; NULL if they cannot be read.  Older
 * frames usually lie below newer ones, so this also reads the lower part of the page. */
const void *frame_window_at(struct frame_window *w, const struct frame_door *door,
			    uint64_t at, size_t n);
void frame_put_entry(struct frame_out *o, uint64_t at, uint32_t what, uint32_t more);
/* The same for n entries. */
void frame_put_entries(struct frame_out *o, const struct frame_entry *e, size_t n);
/* Return whether a code was already written, and note that it was.  Also for other
 * data that is written once. */
bool frame_is_written(const struct frame_out *o, uint64_t at, uint32_t witness);
void frame_set_written(const struct frame_out *o, uint64_t at, uint32_t witness);
/* Writes a code entry whose text is n pieces; `c` holds their sizes.  Returns false
 * if a piece could not be read.  Without room, nothing is written. */
bool frame_put_code(struct frame_out *o, uint64_t at, uint32_t witness,
		    const struct frame_code *c, const struct frame_piece *pieces,
		    size_t n);
/* Writes an entry with a text of at most FRAME_NAME_MAX bytes. */
void frame_put_text(struct frame_out *o, uint32_t what, uint8_t kind,
		    const struct frame_piece *text);

#endif
