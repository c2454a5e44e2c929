/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_MODEL_H
#define TALLY_PROFILE_MODEL_H
/*
 * The profile model: what every source fills and every view reads.  Nothing
 * here knows where a sample came from.
 *
 *	sample = (time, thread, cpu, event, weight, stack)
 *	stack  = node in a prefix tree; node = (parent node, location)
 *	location = (image, vaddr)
 *	location -> frame (leaf of a chain of inlined functions) -> function
 *
 * All tables are append-only arrays; a row's index is its id, ids never change,
 * and a row refers only to rows of other tables that exist already.  Strings
 * are ids in `str`.  Samples are not kept in memory by readers: they are
 * streamed in batches (reader.h), so memory follows unique stacks.
 *
 * Times are nanoseconds of one monotonic clock (CLOCK_MONOTONIC of the
 * recording machine); prof_run.start_wall_ns ties a run to the calendar.
 *
 * An address in a location lies inside the instruction it stands for: for a
 * frame that was called it is the return address - 1, for the innermost frame
 * the sampled instruction pointer itself.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "image/image.h"

#define PROF_NONE UINT32_MAX
/* Strings that every profile has. */
#define PROF_STR_EMPTY 0	/* "" */
#define PROF_STR_DAMAGED 1	/* "[damaged]": its rows are lost from the file */

/* A fact of the environment: run = PROF_NONE for the whole file. */
struct prof_env {
	uint32_t run;
	uint32_t key, value;	/* str; keys: see doc/tally-format.5 */
};

enum prof_unit { PROF_UNIT_COUNT, PROF_UNIT_NS };

struct prof_event {
	uint32_t name;		/* str: event the user requested */
	uint32_t actual;	/* str: event that was opened */
	uint32_t note;		/* str: why they differ, "" if they don't */
	uint8_t unit;		/* enum prof_unit of `weight` */
	uint8_t precise;	/* precise_ip really used, 0..3 */
	uint8_t exclude_user, exclude_kernel;
	uint32_t type;		/* perf_event_attr.type, config… as opened */
	uint64_t config, config1, config2;
	uint64_t freq;		/* asked rate in Hz, 0 when a period was asked */
	uint64_t period;	/* asked or (fixed) real period, 0 if it varies */
};

struct prof_run {
	uint32_t command;	/* str: shell-quoted, "" for system-wide */
	int32_t exit_status;	/* wait status; -1 while unknown */
	uint64_t start_ns, end_ns;	/* monotonic; end 0 while running */
	uint64_t start_wall_ns;		/* since 1970 */
	uint64_t user_ns, sys_ns;	/* of the command and its children */
};

struct prof_thread {
	uint32_t run;
	uint32_t pid, tid;	/* as the kernel numbers them */
	uint32_t comm;		/* str; a new row when it changes */
	uint32_t parent;	/* pid of the parent process, 0 if unknown */
	uint64_t start_ns;	/* when this row's life begins */
};

enum prof_image_kind {
	PROF_IMAGE_ELF,		/* vaddr is an ELF virtual address */
	PROF_IMAGE_KERNEL,	/* vaddr is address - base (prof_image.base) */
	PROF_IMAGE_MODULE,	/* vaddr is address - base */
	PROF_IMAGE_VDSO,	/* vaddr is an ELF virtual address */
	PROF_IMAGE_ANON,	/* no file: vaddr is the process address */
	PROF_IMAGE_UNKNOWN,	/* no mapping covers it: process address */
	PROF_IMAGE_GENERATED,	/* by the kernel (BPF, trampolines): vaddr is
				 * address - base */
};

enum {
	PROF_IMAGE_DELETED = 1,		/* gone or replaced when recorded */
	PROF_IMAGE_UNREADABLE = 2,	/* could not be opened: vaddr is a file
					 * offset */
};

struct prof_image {
	uint32_t path;		/* str */
	uint8_t kind, flags;
	struct build_id build_id;
	uint64_t base;		/* kernel, module: load address */
	uint32_t reason;	/* str: why its file could not be used when it
				 * was recorded, "" when it could */
	/* Filled when symbolized; strings, "" when not: */
	uint32_t debug_file;	/* where DWARF came from */
	uint32_t note;		/* what is missing and would help */
};

struct prof_loc {
	uint32_t image;
	uint64_t vaddr;
};

/*
 * Node 0 is the root.  A child of the root with loc >= PROF_MARK describes the
 * outer end of the stacks below it.  Stacks without a mark are complete, or
 * their source cannot tell.  Several nodes may have the same mark;
 * prof_stack_end distinguishes them.
 */
struct prof_node {
	uint32_t parent;	/* < own id */
	uint32_t loc;		/* PROF_NONE for the root */
};
#define PROF_MARK 0xfffffff0u
#define PROF_MARK_CUT (PROF_MARK + 0)	/* deeper than the source copies */
#define PROF_MARK_BROKEN (PROF_MARK + 1)	/* unwinding failed */
#define PROF_MARK_DAMAGED (PROF_MARK + 2)	/* its rows are lost from the file */
/* Complete, but the outer part was read from the program's memory a moment
 * later: probably correct. */
#define PROF_MARK_READ_LATE (PROF_MARK + 3)
/* Complete, but a caller was found by heuristics, for lack of unwind data. */
#define PROF_MARK_HEURISTIC (PROF_MARK + 4)

/* Reason why a stack ends. */
enum prof_end_reason {
	PROF_END_UNKNOWN,
	PROF_END_NO_DATA,	/* code without call frame information that frame
				 * pointers did not lead out of */
	PROF_END_BAD_MEMORY,	/* the stack pointer is not in memory */
	PROF_END_BAD_RULE,	/* invalid call frame information */
	PROF_END_NO_CODE,	/* a return address is not in code */
	PROF_END_NO_PROGRESS,	/* the caller's frame would be below */
	PROF_END_LOST_REGISTER,	/* a register was needed and not saved */
	PROF_END_TOO_DEEP,	/* more frames than the recorder stores */
	PROF_END_NO_MEMORY,	/* the recorder was out of memory */
	PROF_END_NO_REGISTERS,	/* no registers in the sample */
	PROF_END_NO_STACK,	/* its memory no longer existed (exec) or was swapped out */
	/* Truncated: the callers were beyond the copy, and later … */
	PROF_END_CHANGED,	/* the program had continued in other frames */
	PROF_END_GONE,		/* the thread had ended */
	PROF_END_REFUSED,	/* its memory may not be read */
	PROF_END_UNREADABLE,	/* no memory was there */
	PROF_END_SENSELESS,	/* the memory led to no outermost frame */
	PROF_END_INTERPRETER,	/* the stack is native alone: frames of its
				 * interpreter could not be read */
	PROF_END_REASONS,
};

/* Details of a mark: at most one row for each node that is a mark. */
struct prof_stack_end {
	uint32_t node;
	uint32_t reason;	/* enum prof_end_reason, or a later one */
	uint32_t image;		/* image of the code that could not be unwound, or PROF_NONE */
};

struct prof_sample {
	uint64_t time_ns;
	uint32_t thread, cpu, event, stack;
	uint64_t weight;	/* period: in the event's unit */
};

/* Samples are processed in columns, at most this many rows at a time. */
enum { SAMPLE_BATCH = 8192 };
enum {
	COLUMN_TIME = 1,
	COLUMN_THREAD = 2,
	COLUMN_CPU = 4,
	COLUMN_EVENT = 8,
	COLUMN_WEIGHT = 16,
	COLUMN_STACK = 32,
	COLUMN_ALL = 63,
};

/* Lost samples, or a period of throttling. */
enum prof_loss_kind { PROF_LOST, PROF_THROTTLED };
struct prof_loss {
	uint32_t run, event, cpu;	/* event or cpu PROF_NONE: unknown */
	uint8_t kind;
	uint64_t time_ns;
	uint64_t count;		/* lost samples; throttle: number of times */
};

/* Totals of one event in one run. */
struct prof_stat {
	uint32_t run, event;
	uint64_t value;		/* what the counter counted, event's unit */
	uint64_t enabled_ns, running_ns;	/* differ when multiplexed */
	uint64_t wanted;	/* samples that rate or period called for; 0 if
				 * unknown */
};

/* A function.  Two rows differ if any field differs. */
struct prof_func {
	uint32_t image;
	uint32_t name;		/* str: linkage name, not demangled */
	uint32_t file, line;	/* declaration; line 0: `file` is only known to
				 * be its source file; "" and 0 if unknown */
	uint64_t vaddr;		/* start of the symbol when only an ELF symbol names it
				 * (tells equal local names apart), else 0 */
};

/* One level of an inline chain, shared between locations. */
struct prof_frame {
	uint32_t func;
	uint32_t file;		/* str: where execution is in this function */
	uint32_t line, column;
	uint32_t outer;		/* frame this one is inlined into, < own id, or
				 * PROF_NONE for the physical function */
};

/* An ELF symbol that was sampled (the unit of annotate) or that hot code refers
 * to. */
struct prof_symbol {
	uint32_t image;
	uint32_t name;		/* str: ELF symbol name; "" for a function of a
				 * stripped file, whose extent call frame
				 * information knows: its locations have no frame */
	uint64_t vaddr, size;
};

/* Origin of the symbols of an image… */
enum {
	PROF_NAMES_SYMTAB = 1,		/* .symtab, of the file or its debug file */
	PROF_NAMES_DYNSYM = 2,		/* .dynsym: exported functions only */
	PROF_NAMES_DEBUGDATA = 4,	/* .gnu_debugdata */
	PROF_NAMES_UNWIND = 8,		/* .eh_frame: where functions begin and end */
	PROF_NAMES_DWARF = 16,		/* lines and inlined functions */
	PROF_NAMES_KALLSYMS = 32,
	PROF_NAMES_PERFMAP = 64,	/* the program's own: /tmp/perf-PID.map */
	PROF_NAMES_GOPCLNTAB = 128,	/* .gopclntab: Go's functions and lines */
	PROF_NAMES_RUNTIME = 256,	/* the memory of a Java program */
	PROF_NAMES_JITDUMP = 512,	/* the program's own: its jitdump file */
};
/* … and why some are missing. */
enum {
	PROF_MISSING_FILE = 1,		/* the image could not be opened */
	PROF_MISSING_CHANGED = 2,	/* the file has been replaced */
	PROF_MISSING_SYMTAB = 4,	/* stripped */
	PROF_MISSING_DWARF = 8,		/* neither in the file nor separate */
	PROF_MISSING_ALT = 16,		/* the alternate file (dwz) */
	PROF_MISSING_DWO = 32,		/* split files */
	PROF_MISSING_DAMAGED = 64,	/* part of it could not be read */
	PROF_MISSING_KERNEL = 128,	/* the kernel hides its symbols, or
					 * another one runs */
};

/* Origin of one image's symbols: at most one row for each image. */
struct image_debug_info {
	uint32_t image;
	uint32_t names;		/* PROF_NAMES_* */
	uint32_t missing;	/* PROF_MISSING_* */
	uint32_t units;		/* PROF_MISSING_DWO: units without theirs */
	uint32_t file;		/* str: a file that would help */
	uint32_t machine;	/* EM_* of its code; 0: not known */
};

/* Code bytes of a hot function. */
struct prof_code {
	uint32_t image;
	uint64_t vaddr;
	uint32_t offset, size;	/* in profile.code_bytes */
};

/*
 * Source position of code, for whole functions and not only sampled addresses:
 * from vaddr up to the image's next row, the innermost frame is this one.  The
 * row after a function's last byte has PROF_NONE.
 */
struct prof_line {
	uint32_t image;
	uint64_t vaddr;
	uint32_t frame;
};

/* Lines of a source file at the time of recording. */
struct source_excerpt {
	uint32_t file;		/* str: as in frames */
	uint32_t line;		/* of the first one, from 1 */
	uint32_t flags;		/* PROF_TEXT_* */
	uint32_t offset, size;	/* in profile.text_bytes */
};
enum {
	PROF_TEXT_NEWER = 1,	/* the file was newer than the image built from it */
};

/*
 * Limit of the memory for rows read from a file: all tables, their strings and
 * bytes, temporary memory of the reader, and for each row what views store
 * about it (sums, names, places in their own tables).
 */
enum {
	PROF_STACK_VIEWS = 16,	/* bytes for a node or location, of which there
				 * are most by far */
	PROF_ROW_VIEWS = 64,	/* … for a row of any other table */
};
struct prof_memory {
	uint64_t limit;		/* bytes; 0: any */
	uint64_t used;
	bool exceeded;		/* something was refused */
};

struct profile {
	struct strtab str;
	VEC(struct prof_env) envs;
	VEC(struct prof_event) events;
	VEC(struct prof_run) runs;
	VEC(struct prof_thread) threads;
	VEC(struct prof_image) images;
	VEC(struct prof_loc) locs;
	VEC(struct prof_node) nodes;	/* at least the root */
	VEC(struct prof_stack_end) ends;
	VEC(struct prof_loss) losses;
	VEC(struct prof_stat) stats;
	/* the symbol part: all empty while unsymbolized */
	VEC(struct prof_func) funcs;
	VEC(struct prof_frame) frames;
	VEC(uint32_t) loc_frame;	/* by loc: innermost frame or NONE; may
					 * be shorter than locs */
	VEC(struct prof_symbol) symbols;	/* any order */
	VEC(struct image_debug_info) sources;	/* any order */
	VEC(struct prof_line) lines;	/* by image and vaddr */
	VEC(struct prof_code) codes;
	struct buf code_bytes;
	VEC(struct source_excerpt) texts;
	struct buf text_bytes;
	bool symbolized;		/* a symbol part was made */
	bool foreign;			/* not stored: the file that it was read
					 * from is another user's (root's is not),
					 * so that no file that it names is
					 * opened */
	size_t str_base;		/* strings below are not of the symbol
					 * part */
	/* lookup for interning; not stored */
	struct idtab loc_tab, func_tab, frame_tab;
	struct u64map node_tab, end_tab;
	struct prof_memory memory;
	/* While recording, see profile_keep_nodes: */
	size_t nodes_kept;
	size_t nodes_gone;		/* rows that only the file has: nodes.v
					 * begins with this node */
	struct u64map node_before;	/* what node_tab held before */
	bool nodes_repeat;		/* equal nodes may have different ids */
};

/* Charges this many bytes to p->memory; returns false if that exceeds the
 * limit. */
bool profile_charge(struct profile *p, uint64_t bytes);
/* Releases bytes that were charged temporarily. */
void profile_uncharge(struct profile *p, uint64_t bytes);
/* Like vec_reserve for a vector of the profile; charges the growth. */
int profile_reserve_raw(struct profile *p, void *vec_ptr, size_t *cap,
			size_t want, size_t size);
#define profile_reserve(p, vec, want) \
	((want) <= (vec)->cap ? 0 : \
	 profile_reserve_raw((p), &(vec)->v, &(vec)->cap, (want), \
			     sizeof(*(vec)->v)))

/* Returns 0 or -ERR_NOMEM; the root node then exists. */
int profile_init(struct profile *p);
void profile_fini(struct profile *p);

/* Interning: return the id of an equal row, or of a new one; PROF_NONE if out
 * of memory. */
uint32_t profile_str(struct profile *p, const char *s);
uint32_t profile_loc(struct profile *p, uint32_t image, uint64_t vaddr);
uint32_t profile_node(struct profile *p, uint32_t parent, uint32_t loc);
/* Limits what is kept for interning nodes while recording: profile_node finds the last
 * n / 2 to n nodes that were asked for, others get a new id.  The tables then take 24
 * bytes a node.  The caller says so to readers by PROF_ENV_REPEATED once
 * nodes_repeat is set. */
void profile_keep_nodes(struct profile *p, size_t n);
/* Forgets the rows of all nodes, which the file has, if profile_keep_nodes was called. */
void profile_nodes_written(struct profile *p);
#define PROF_ENV_REPEATED "repeated_stacks"
/* Returns the node of a mark with this reason and image. */
uint32_t profile_end(struct profile *p, uint32_t mark, uint32_t reason,
		     uint32_t image);
uint32_t profile_func(struct profile *p, const struct prof_func *f);
uint32_t profile_frame(struct profile *p, const struct prof_frame *f);

int profile_set_env(struct profile *p, uint32_t run, const char *key,
		    const char *value);
/* Returns the last value set, or NULL. */
const char *profile_env(const struct profile *p, uint32_t run,
			const char *key);
/* Starts a symbol part and drops an old one with its strings.  From here until
 * the profile is written only the symbol part (and image.debug_file,
 * image.note) may grow. */
int profile_begin_symbols(struct profile *p);
/* Registers functions and frames that were read from a file with profile_func
 * and profile_frame; returns 0 or -ERR_NOMEM. */
int profile_index_symbols(struct profile *p);

static inline const char *profile_cstr(const struct profile *p, uint32_t id)
{
	return strtab_get(&p->str, id);
}

/* Returns "no unwind data"…, as shown to users. */
const char *prof_end_text(uint32_t reason);

/* Appends why there are no samples and how to get some, as shown to users. */
void profile_why_unsampled(const struct profile *p, struct buf *out);

/* Returns the row of an image, or NULL. */
const struct image_debug_info *profile_source(const struct profile *p,
					      uint32_t image);

static inline uint32_t profile_loc_frame(const struct profile *p, uint32_t loc)
{
	return loc < p->loc_frame.n ? p->loc_frame.v[loc] : PROF_NONE;
}

/* Returns the name of the event that was measured. */
static inline const char *prof_event_actual(const struct profile *p,
					    const struct prof_event *e)
{
	const char *actual = profile_cstr(p, e->actual);

	return *actual ? actual : profile_cstr(p, e->name);
}

/* Returns whether events of two profiles measured the same thing in the same
 * unit and processor modes; rates may differ, because weights account for them.
 */
bool prof_same_event(const struct profile *p, const struct prof_event *a,
		     const struct profile *q, const struct prof_event *b);

/* The wait events, blocked and runnable: weights are the time a thread was off
 * its processor; type and config are those of context switches
 * (linux/perf_event.h). */
#define PROF_WAIT_TYPE 1u	/* PERF_TYPE_SOFTWARE */
#define PROF_WAIT_CONFIG 3u	/* PERF_COUNT_SW_CONTEXT_SWITCHES */
static inline bool prof_is_wait(const struct prof_event *e)
{
	return e->unit == PROF_UNIT_NS && e->type == PROF_WAIT_TYPE &&
	       e->config == PROF_WAIT_CONFIG;
}

/* Waits found by polling sleeping threads at this rate; otherwise every wait is
 * recorded. */
static inline bool prof_is_sampled_wait(const struct prof_event *e)
{
	return prof_is_wait(e) && e->freq;
}

/* What ended waits, weighted by their duration: time in a tracepoint event. */
#define PROF_WAKING_TYPE 2u	/* PERF_TYPE_TRACEPOINT */
static inline bool prof_is_waking(const struct prof_event *e)
{
	return e->unit == PROF_UNIT_NS && e->type == PROF_WAKING_TYPE;
}

/* Returns whether an event belongs to the table of waits and what ended them.
 */
static inline bool prof_tells_of_waits(const struct prof_event *e)
{
	return prof_is_wait(e) || prof_is_waking(e);
}

/* Wall-clock time divided among the running threads: type and config of the
 * dummy event. */
#define PROF_LATENCY_CONFIG 9u	/* PERF_COUNT_SW_DUMMY */
static inline bool prof_is_latency(const struct prof_event *e)
{
	return e->unit == PROF_UNIT_NS && e->type == PROF_WAIT_TYPE &&
	       e->config == PROF_LATENCY_CONFIG;
}

/* Returns the sampling period in the event's unit; 0 if it varies. */
static inline uint64_t prof_event_period(const struct prof_event *e)
{
	if (e->period || !e->freq || e->unit != PROF_UNIT_NS)
		return e->period;
	return 1000000000u / e->freq;
}

static inline bool prof_is_mark(uint32_t loc)
{
	return loc >= PROF_MARK && loc != PROF_NONE;
}

/* Images of kind PROF_IMAGE_UNKNOWN for CPU time that the kernel counted but no
 * sample represents: time before the first sample of a program, and the
 * remainder. */
#define PLACE_BEFORE_FIRST "[before the first sample]"
#define PLACE_NOT_SAMPLED "[not sampled]"

/* The image of kind PROF_IMAGE_ANON whose addresses are numbers of Java
 * methods, with names that the recorder read from the program's memory. */
#define PROF_IMAGE_JAVA "[java]"
/* … of lines of Python functions, with names that came with the samples. */
#define PROF_IMAGE_PYTHON "[python]"
/* … of PHP functions, those that are written in C among them. */
#define PROF_IMAGE_PHP "[php]"
/* Code that V8 made and named in its perf map or jitdump file. */
#define PROF_IMAGE_JAVASCRIPT "[javascript]"

static inline bool prof_is_kernel(const struct prof_image *im)
{
	return im->kind == PROF_IMAGE_KERNEL || im->kind == PROF_IMAGE_MODULE ||
	       im->kind == PROF_IMAGE_GENERATED;
}

#endif
