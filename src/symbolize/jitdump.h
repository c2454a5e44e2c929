/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_JITDUMP_H
#define TALLY_SYMBOLIZE_JITDUMP_H
/*
 * Code that a program made while it ran, as the program told it in a jitdump file
 * (Linux: tools/perf/Documentation/jitdump-specification.txt, version 1): when and
 * where each function's code was put, its bytes, name and lines, and how to unwind it.
 *
 * An address may belong to several functions, one after the other; which one is
 * asked for with the time.  Times are the file's: CLOCK_MONOTONIC in nanoseconds,
 * where the file does not say otherwise.
 *
 * V8 adds the size of an ELF header to the addresses of lines; this is taken off
 * again.  Some of its records hold garbage where file names belong: their lines
 * count if the caller knows the file.
 *
 * The bytes are hostile, and may change while they are read: nothing is mapped, each
 * record is checked against the file, and memory is bounded: 1,048,576 functions,
 * 4,194,304 pages of code.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

enum {
	JITDUMP_CODE_MAX = 64 << 20,	/* bytes of a function */
	JITDUMP_NAME_MAX = 4096,	/* longer names are cut */
	JITDUMP_LINES_MAX = 16 << 20,	/* bytes of a function's lines */
	JITDUMP_UNWIND_MAX = 16 << 20,
};

/* How the file is read: up to n bytes from offset `at`; how many there were. */
struct jitdump_door {
	size_t (*read)(void *ctx, uint64_t at, void *to, size_t n);
	void *ctx;
};

/* One function at one place.  After a move it has another place, but the same bytes,
 * name and lines. */
struct jitdump_code {
	uint64_t addr, size;
	uint64_t time_ns;	/* when it was put there */
	uint64_t first_addr;	/* where it was before it moved */
	uint64_t bytes_at;	/* file offset of the code: unique to the function */
	uint64_t name_at;	/* file offset of the name, which ends before bytes_at */
	uint64_t lines_at, lines_bytes;		/* file offset, bytes; 0: none */
	uint64_t unwind_at, unwind_bytes;	/* .eh_frame, then .eh_frame_hdr */
	uint64_t unwind_hdr_bytes;		/* … of it the latter */
};

struct jitdump_line {
	uint32_t offset;	/* in the code */
	uint32_t line;		/* 0: not known */
	size_t file;		/* offset of its name, in jitdump_lines.text */
};

/* Ascending by offset; each is for the code up to the next. */
struct jitdump_lines {
	VEC(struct jitdump_line) v;
	struct buf text;	/* names of files, each ended by NUL */
};

struct jitdump;

/* Reads the header.  ERR_FORMAT: this is no jitdump file of version 1 in our byte
 * order.  The door's context must outlive it. */
int jitdump_open(const struct jitdump_door *door, struct jitdump **out,
		 struct error *err);
void jitdump_close(struct jitdump *j);
/* Who wrote it, by its own number for itself; and for which machine (EM_*). */
uint32_t jitdump_pid(const struct jitdump *j);
uint32_t jitdump_machine(const struct jitdump *j);
/* Whether times are CLOCK_MONOTONIC's; else they only tell what came first. */
bool jitdump_is_timed(const struct jitdump *j);

/* Reads what the file has gained; a record that is not complete yet is left for the
 * next time.  0 or -ERR_NOMEM.  Behind the first record that makes no sense nothing
 * is read any more: jitdump_damage. */
int jitdump_read(struct jitdump *j);
/* Where that record is; false: there is none. */
bool jitdump_damage(const struct jitdump *j, uint64_t *at);
/* What was read so far. */
size_t jitdump_count(const struct jitdump *j);

/* The function whose code was at the address then: of those put there by that time
 * the last one; else the first one that was put there later, as some programs tell
 * late.  NULL: none ever was. */
const struct jitdump_code *jitdump_find(struct jitdump *j, uint64_t addr,
					uint64_t time_ns);
/* Whether several functions had code at the address, one after the other. */
bool jitdump_is_shared(struct jitdump *j, uint64_t addr);
/* Whose code has this file offset, where it was loaded; or NULL. */
const struct jitdump_code *jitdump_at(const struct jitdump *j, uint64_t offset);

/* Appends the name.  False: it cannot be read. */
bool jitdump_name(const struct jitdump *j, const struct jitdump_code *c,
		  struct buf *out);
/* Appends up to n bytes of the code from `offset` in it; how many. */
size_t jitdump_bytes(const struct jitdump *j, const struct jitdump_code *c,
		     uint64_t offset, size_t n, struct buf *out);
/* The unwinding record's bytes: .eh_frame and .eh_frame_hdr.  False: it has none. */
bool jitdump_unwind(const struct jitdump *j, const struct jitdump_code *c,
		    struct buf *out);
/* The lines, into `out`, which is all zero.  v8_file: "", or the file that V8's name for
 * the function ends with.  False: there are none, or they make no sense. */
bool jitdump_lines(const struct jitdump *j, const struct jitdump_code *c,
		   const char *v8_file, struct jitdump_lines *out);
void jitdump_lines_fini(struct jitdump_lines *l);
/* The line at an offset, or NULL. */
const struct jitdump_line *jitdump_line(const struct jitdump_lines *l,
					uint64_t offset);

#endif
