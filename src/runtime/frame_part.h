/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RUNTIME_FRAME_PART_H
#define TALLY_RUNTIME_FRAME_PART_H
/*
 * Frames of an interpreter as part of a sample: a sequence of struct frame_entry,
 * whatever the language (python_frames.h, php_frames.h).
 *
 *	frame	the code, where in it execution was, and a witness: a hash of what
 *		tells the code from other code that comes to be at its address
 *	run	behind the frames, innermost first, of one activation of the
 *		interpreter's loop: the address of what that activation keeps on the
 *		C stack.  The C frame with this address between its stack pointer
 *		and that of its caller is the one that ran them.  0: it keeps nothing
 *		there, and a loop entry comes first
 *	loop	the first: where the loop's function is, so that its activations can
 *		be counted: each is one run
 *	code	before the first frame of a code: its names and, of Python, its table of
 *		lines, which so are those of the sample's moment
 *	end	the last: whether the chain is whole
 *
 * Walks run in signal handlers: they call no function of the C library, allocate
 * nothing, take no lock and follow no pointer themselves.  What reads memory is the
 * caller's.  All that is read is checked; after a doubt the chain is torn, never a
 * shorter or another one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FRAME_ENTRIES_MAX = 2048,	/* frames and runs of a sample */
	FRAME_TEXT_MAX = 2048,		/* bytes of a name or a file's name */
	FRAME_TABLE_MAX = 24 << 10,	/* bytes of a table of lines */
	FRAME_CODES_MAX = 40 << 10,	/* bytes of all code entries of a sample */
	FRAME_PART_MAX = FRAME_ENTRIES_MAX * 16 + FRAME_CODES_MAX + 64,
	FRAME_INSTR_MAX = 1 << 26,	/* frame_entry.what of frames is below */
	FRAME_SEEN = 4096,		/* a power of two */
	FRAME_WINDOW = 4096,
	FRAME_PIECES = 5,
};

/* frame_entry.what; below FRAME_INSTR_MAX: a frame */
#define FRAME_LOOP 0xfffffffcu
#define FRAME_CODE 0xfffffffdu
#define FRAME_RUN 0xfffffffeu
#define FRAME_END 0xffffffffu

enum frame_state {
	FRAMES_WHOLE,
	FRAMES_CUT,	/* more frames than there is room for */
	FRAMES_TORN,	/* what was read makes no sense */
};

struct frame_entry {
	uint64_t at;	/* code; run: on the C stack; loop: function */
	uint32_t what;	/* of Python the offset of the instruction, of PHP the line;
			 * or FRAME_* */
	uint32_t more;	/* witness; loop: its bytes; end: enum frame_state */
};

enum frame_language { FRAME_PYTHON, FRAME_PHP };
enum { FRAME_UTF8 = 8 };	/* frame_code.name_kind and file_kind */

/* Behind a FRAME_CODE entry; then name, file and table, with zeros up to a
 * multiple of 8 bytes. */
struct frame_code {
	uint32_t first_line;
	uint32_t table_bytes;		/* 0: there is none, or it is too large */
	uint16_t name_bytes, file_bytes;
	uint8_t name_kind, file_kind;	/* bytes of a character, or FRAME_UTF8 */
	uint8_t minor;			/* of Python's version */
	uint8_t language;		/* enum frame_language */
};

/* As struct iovec. */
struct frame_span {
	uint64_t at, n;
};

struct frame_door {
	/* Reads n spans into `to`, one behind the other; returns the bytes up to
	 * the first that is not there. */
	size_t (*read)(void *ctx, const struct frame_span *v, size_t n,
		       void *to);
	/* Takes the next bytes of the sample's part. */
	void (*put)(void *ctx, const void *p, size_t n);
	void *ctx;
	/* FRAME_SEEN words of the process, zero at first: code that was put.  Threads
	 * may share them. */
	uint64_t *seen;
};

/* A part while it is made. */
struct frame_out {
	const struct frame_door *door;
	void *room;		/* FRAME_WINDOW bytes, whose contents may go */
	size_t codes, all;	/* bytes put: of code entries; all */
};

/* Text that is to be copied: memory, or a literal. */
struct frame_piece {
	uint64_t at;
	size_t n;
	const char *literal;
};

uint64_t frame_mix(uint64_t hash, uint64_t v);
bool frame_is_pointer(uint64_t p);
bool frame_read(const struct frame_door *door, uint64_t at, size_t n, void *to);
void frame_put_entry(struct frame_out *o, uint64_t at, uint32_t what, uint32_t more);
/* Was a code told already? */
bool frame_is_told(const struct frame_out *o, uint64_t at, uint32_t witness);
/* Tells of a code, whose text is n pieces, `c` their sizes.  False: a piece could not be
 * read.  When there is no room, it is not told. */
bool frame_put_code(struct frame_out *o, uint64_t at, uint32_t witness,
		    const struct frame_code *c, const struct frame_piece *pieces,
		    size_t n);

#endif
