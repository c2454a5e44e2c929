/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_JITDUMP_H
#define TALLY_SYMBOLIZE_JITDUMP_H
/*
 * Reads jitdump files (Linux:
 * tools/perf/Documentation/jitdump-specification.txt, version 1).  A program
 * writes one for the code that it generates.  It contains the time and address
 * at which each function was loaded, its bytes, name and lines.  Unwinding
 * information is skipped.
 *
 * An address may belong to several functions in succession; a lookup therefore
 * takes a time.  Times are the file's: CLOCK_MONOTONIC in nanoseconds, unless
 * the file declares otherwise.
 *
 * V8 adds the size of an ELF header to the addresses of lines; it is subtracted
 * here.  Some of V8's records contain garbage instead of file names; their
 * lines are only used if the caller knows the file.
 *
 * The bytes are hostile, and may change while they are read.  Nothing is
 * mapped, each record is checked against the file, and memory is bounded:
 * 1,048,576 functions, 4,194,304 pages of code.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

enum {
	JITDUMP_CODE_MAX = 64 << 20,	/* bytes of a function */
	JITDUMP_NAME_MAX = 4096,	/* longer names are truncated */
	JITDUMP_LINES_MAX = 16 << 20,	/* bytes of a function's lines */
};

/* Access to the file: reads up to n bytes from offset `at` and returns their
 * number. */
struct jitdump_door {
	size_t (*read)(void *ctx, uint64_t at, void *to, size_t n);
	void *ctx;
};

/* One function at one address.  After a move it has another address, but the
 * same bytes, name and lines. */
struct jitdump_code {
	uint64_t addr, size;
	uint64_t time_ns;	/* time at which it was loaded there */
	uint64_t first_addr;	/* address before the first move */
	uint64_t bytes_at;	/* file offset of the code: unique to the function */
	uint64_t name_at;	/* file offset of the name, which ends before bytes_at */
	uint64_t lines_at, lines_bytes;		/* file offset, bytes; 0: none */
};

struct jitdump_line {
	uint32_t offset;	/* offset in the code */
	uint32_t line;		/* 0: unknown */
	size_t file;		/* offset of its name, in jitdump_lines.text */
};

/* Lines in ascending order of offset; each one applies up to the next. */
struct jitdump_lines {
	VEC(struct jitdump_line) v;
	struct buf text;	/* file names, each terminated by NUL */
};

struct jitdump;

/* Opens a file and reads its header.  Returns -ERR_FORMAT if it is not a jitdump
 * file of version 1 in the byte order of this machine.  The door's context must
 * outlive *out, which the caller closes. */
int jitdump_open(const struct jitdump_door *door, struct jitdump **out);
void jitdump_close(struct jitdump *j);
/* Return the PID of the writer in its own PID namespace, and the machine (EM_*)
 * of the code. */
uint32_t jitdump_pid(const struct jitdump *j);
uint32_t jitdump_machine(const struct jitdump *j);
/* Returns whether times are from CLOCK_MONOTONIC; otherwise they only give the
 * order. */
bool jitdump_is_timed(const struct jitdump *j);

/* Reads the data added to the file; an incomplete record is left for the next
 * call.  Returns 0 or -ERR_NOMEM.  Stops permanently at the first invalid
 * record: see jitdump_damage. */
int jitdump_read(struct jitdump *j);
/* Sets *at to the offset of the invalid record.  Returns false if there is
 * none. */
bool jitdump_damage(const struct jitdump *j, uint64_t *at);
/* Returns the number of functions read so far. */
size_t jitdump_count(const struct jitdump *j);

/* Returns the function whose code was at the address at that time: the last one
 * loaded by then.  If there is none, returns the first one loaded later,
 * because some programs write records late; NULL if there was never any. */
const struct jitdump_code *jitdump_find(struct jitdump *j, uint64_t addr,
					uint64_t time_ns);
/* Returns whether several functions had code at the address in succession. */
bool jitdump_is_shared(struct jitdump *j, uint64_t addr);
/* Returns the function, at its first address, whose code has this file offset;
 * or NULL. */
const struct jitdump_code *jitdump_at(const struct jitdump *j, uint64_t offset);

/* Appends the name.  Returns false if it cannot be read. */
bool jitdump_name(const struct jitdump *j, const struct jitdump_code *c,
		  struct buf *out);
/* Appends up to n bytes of the code from `offset` in it.  Returns their
 * number. */
size_t jitdump_bytes(const struct jitdump *j, const struct jitdump_code *c,
		     uint64_t offset, size_t n, struct buf *out);
/* Reads the lines into `out`, which must be all-zero; free it with
 * jitdump_lines_fini. v8_file: "", or the file at the end of V8's name for the
 * function.  Returns false if there are none or they are invalid. */
bool jitdump_lines(const struct jitdump *j, const struct jitdump_code *c,
		   const char *v8_file, struct jitdump_lines *out);
void jitdump_lines_fini(struct jitdump_lines *l);
/* Returns the line at an offset, or NULL. */
const struct jitdump_line *jitdump_line(const struct jitdump_lines *l,
					uint64_t offset);

#endif
