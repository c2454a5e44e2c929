/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_MODEL_H
#define TALLY_PROFILE_MODEL_H
/*
 * The profile model, filled by every source and read by every view.  It does
 * not depend on the source of the samples.
 *
 *	sample = (time, thread, cpu, event, weight, stack)
 *	stack  = node in a prefix tree; node = (parent node, location)
 *	location = (image, vaddr)
 *	location -> frame (leaf of a chain of inlined functions) -> function
 *
 * All tables are append-only arrays.  A row's index is its id; ids never
 * change.  A row refers only to rows of other tables that exist already.
 * Strings are ids in `str`.  Samples are not kept in memory by readers: they
 * are streamed in batches (reader.h), so memory follows unique stacks.
 *
 * Times are nanoseconds of one monotonic clock (CLOCK_MONOTONIC of the
 * recording machine); prof_run.start_wall_ns ties a run to the calendar.
 *
 * An address in a location lies inside the instruction it represents.  For a
 * frame that was called it is the return address - 1; for the innermost frame
 * it is the sampled instruction pointer.
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
#define PROF_STR_DAMAGED 1	/* "[damaged]": for rows lost from the file */

/* A fact of the environment: run = PROF_NONE for the whole file. */
struct prof_env {
	uint32_t run;
	uint32_t key, value;	/* str; keys: see doc/tally-format.5 */
};

enum prof_unit { PROF_UNIT_COUNT, PROF_UNIT_NS };

struct prof_event {
	uint32_t name;		/* str: event the user requested */
	uint32_t actual;	/* str: event that was opened */
	uint32_t note;		/* str: why they differ; "" if equal */
	uint8_t unit;		/* enum prof_unit of `weight` */
	uint8_t precise;	/* precise_ip used, 0..3 */
	uint8_t exclude_user, exclude_kernel;
	uint32_t type;		/* perf_event_attr.type, config… as opened */
	uint64_t config, config1, config2;
	uint64_t freq;		/* requested rate in Hz; 0 if a period was requested */
	uint64_t period;	/* requested or actual fixed period, in the event's
				 * unit; 0 if it varies */
};

struct prof_run {
	uint32_t command;	/* str: shell-quoted, "" for system-wide */
	int32_t exit_status;	/* wait status; -1 if not yet known */
	uint64_t start_ns, end_ns;	/* monotonic; end 0 while running */
	uint64_t start_wall_ns;		/* ns since 1970 */
	uint64_t user_ns, sys_ns;	/* CPU time of the command and its children; 0:
					 * unknown, or the run is in several files */
};

struct prof_thread {
	uint32_t run;
	uint32_t pid, tid;	/* as numbered by the kernel */
	uint32_t comm;		/* str; a new row when it changes */
	uint32_t parent;	/* pid of the parent process, 0 if unknown */
	uint64_t start_ns;	/* time from which this row is valid */
	uint32_t cgroup;	/* str: path of its control group, or "" */
	uint32_t task;		/* str: name of the asyncio task that it ran, or ""; a
				 * row for each */
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
	uint32_t reason;	/* str: why its file could not be used while
				 * recording; "" if it could */
	/* Set when symbolized; str, "" if absent: */
	uint32_t debug_file;	/* file that DWARF was read from */
	uint32_t note;		/* missing files that would help */
};

struct prof_loc {
	uint32_t image;
	uint64_t vaddr;
};

/*
 * Node 0 is the root.  A child of the root with loc >= PROF_MARK describes the
 * outer end of the stacks below it.  Stacks without a mark are complete, or
 * their source does not report their end.  Several nodes may have the same
 * mark; prof_stack_end distinguishes them.
 */
struct prof_node {
	uint32_t parent;	/* < own id */
	uint32_t loc;		/* PROF_NONE for the root */
};
#define PROF_MARK 0xfffffff0u
#define PROF_MARK_CUT (PROF_MARK + 0)	/* truncated: deeper than the source copies */
#define PROF_MARK_BROKEN (PROF_MARK + 1)	/* unwinding failed */
#define PROF_MARK_DAMAGED (PROF_MARK + 2)	/* rows of the stack are lost from
						 * the file */
/* Complete, but the outer part was read from the program's memory slightly
 * later: probably correct. */
#define PROF_MARK_READ_LATE (PROF_MARK + 3)
/* Complete, but a caller was found by heuristics because unwind data is
 * missing. */
#define PROF_MARK_HEURISTIC (PROF_MARK + 4)

/* Reason why a stack ends. */
enum prof_end_reason {
	PROF_END_UNKNOWN,
	PROF_END_NO_DATA,	/* no call frame information, and frame pointers did
				 * not lead to the caller */
	PROF_END_BAD_MEMORY,	/* the stack pointer does not point to stack memory */
	PROF_END_BAD_RULE,	/* invalid call frame information */
	PROF_END_NO_CODE,	/* a return address is not in code */
	PROF_END_NO_PROGRESS,	/* the caller's frame would be at a lower address */
	PROF_END_LOST_REGISTER,	/* a register was needed but not saved */
	PROF_END_TOO_DEEP,	/* more frames than the recorder stores */
	PROF_END_NO_MEMORY,	/* the recorder was out of memory */
	PROF_END_NO_REGISTERS,	/* no registers in the sample */
	PROF_END_NO_STACK,	/* its memory no longer existed (exec) or was swapped
				 * out */
	/* Truncated: the callers were beyond the copy, and when read later … */
	PROF_END_CHANGED,	/* the stack had changed */
	PROF_END_GONE,		/* the thread had ended */
	PROF_END_REFUSED,	/* reading its memory was not permitted */
	PROF_END_UNREADABLE,	/* the memory was unreadable */
	PROF_END_SENSELESS,	/* the memory did not lead to an outermost frame */
	PROF_END_INTERPRETER,	/* only native frames: frames of the interpreter
				 * could not be read */
	PROF_END_REASONS,
};

/* What threads wait for at a stack of waits.  A stack may have several rows. */
struct prof_wait_kind {
	uint32_t node;
	uint32_t kind;		/* str: "futex", "read pipe": a word for the kind, and
				 * one for the object if the kind has any */
};

/* Details of a mark.  Each marked node has at most one row. */
struct prof_stack_end {
	uint32_t node;
	uint32_t reason;	/* enum prof_end_reason, or a value from a newer
				 * version */
	uint32_t image;		/* image of the code that could not be unwound, or
				 * PROF_NONE */
};

struct prof_sample {
	uint64_t time_ns;
	uint32_t thread, cpu, event, stack;
	uint64_t weight;	/* period: in the event's unit */
	uint64_t more;		/* number of further samples that were summed into
				 * this one and whose weight it has (merge) */
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
	COLUMN_MORE = 64,
	COLUMN_ALL = 127,
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
	uint64_t value;		/* counter value in the event's unit */
	uint64_t enabled_ns, running_ns;	/* differ when multiplexed */
	uint64_t wanted;	/* expected samples, from rate or period; 0 if
				 * unknown */
};

/* A function.  Two rows differ if any field differs. */
struct prof_func {
	uint32_t image;
	uint32_t name;		/* str: linkage name, not demangled */
	uint32_t file, line;	/* declaration; line 0: `file` is only its source
				 * file; "" and 0 if unknown */
	uint64_t vaddr;		/* start of the symbol if only an ELF symbol names it
				 * (distinguishes local functions with equal names),
				 * else 0 */
};

/* One level of an inline chain, shared between locations. */
struct prof_frame {
	uint32_t func;
	uint32_t file;		/* str: source position of execution in this function */
	uint32_t line, column;
	uint32_t outer;		/* frame that this one is inlined into, < own id;
				 * PROF_NONE for the physical function */
};

/* An ELF symbol that was sampled (the unit of annotate) or is referenced by hot
 * code. */
struct prof_symbol {
	uint32_t image;
	uint32_t name;		/* str: ELF symbol name; "" for a function of a
				 * stripped file whose extent is known from call
				 * frame information: its locations have no frame */
	uint64_t vaddr, size;
};

/* Origin of the symbols of an image… */
enum {
	PROF_NAMES_SYMTAB = 1,		/* .symtab, of the file or its debug file */
	PROF_NAMES_DYNSYM = 2,		/* .dynsym: exported functions only */
	PROF_NAMES_DEBUGDATA = 4,	/* .gnu_debugdata */
	PROF_NAMES_UNWIND = 8,		/* .eh_frame: extents of functions */
	PROF_NAMES_DWARF = 16,		/* lines and inlined functions */
	PROF_NAMES_KALLSYMS = 32,
	PROF_NAMES_PERFMAP = 64,	/* the program's /tmp/perf-PID.map */
	PROF_NAMES_GOPCLNTAB = 128,	/* .gopclntab: Go's functions and lines */
	PROF_NAMES_RUNTIME = 256,	/* memory of a Java program */
	PROF_NAMES_JITDUMP = 512,	/* the program's jitdump file */
};
/* … and why some are missing. */
enum {
	PROF_MISSING_FILE = 1,		/* the image could not be opened */
	PROF_MISSING_CHANGED = 2,	/* the file has been replaced */
	PROF_MISSING_SYMTAB = 4,	/* stripped */
	PROF_MISSING_DWARF = 8,		/* no DWARF in the file or a separate file */
	PROF_MISSING_ALT = 16,		/* no alternate file (dwz) */
	PROF_MISSING_DWO = 32,		/* no split DWARF files */
	PROF_MISSING_DAMAGED = 64,	/* part of it could not be read */
	PROF_MISSING_KERNEL = 128,	/* the kernel hides its symbols, or another
					 * kernel runs */
};

/* Origin of one image's symbols.  Each image has at most one row. */
struct image_debug_info {
	uint32_t image;
	uint32_t names;		/* PROF_NAMES_* */
	uint32_t missing;	/* PROF_MISSING_* */
	uint32_t units;		/* PROF_MISSING_DWO: number of units without their
				 * file */
	uint32_t file;		/* str: a file that would help */
	uint32_t machine;	/* EM_* of its code; 0: unknown */
};

/* Code bytes of a hot function. */
struct prof_code {
	uint32_t image;
	uint64_t vaddr;
	uint32_t offset, size;	/* position in profile.code_bytes */
};

/*
 * Source position of code, for whole functions including addresses that were
 * not sampled.  From vaddr up to the image's next row, this is the innermost
 * frame.  The row after a function's last byte has PROF_NONE.
 */
struct prof_line {
	uint32_t image;
	uint64_t vaddr;
	uint32_t frame;
};

/* Lines of a source file at the time of recording. */
struct source_excerpt {
	uint32_t file;		/* str: as in frames */
	uint32_t line;		/* number of the first line, from 1 */
	uint32_t flags;		/* PROF_TEXT_* */
	uint32_t offset, size;	/* position in profile.text_bytes */
};
enum {
	PROF_TEXT_NEWER = 1,	/* the file was newer than the image built from it */
};

/*
 * Limit of the memory for rows read from a file.  Includes all tables, their
 * strings and bytes, and temporary memory of the reader.  Also includes the
 * memory that views need for each row (sums, names, positions in their own
 * tables).
 */
enum {
	PROF_STACK_VIEWS = 16,	/* bytes for each node or location; by far the most
				 * frequent rows */
	PROF_ROW_VIEWS = 64,	/* … for each row of any other table */
	PROF_NAME_VIEWS = 128,	/* … of a name: the rest of a longer one is charged
				 * for each row that refers to it, because views
				 * copy it */
};
struct prof_memory {
	uint64_t limit;		/* bytes; 0: no limit */
	uint64_t used;
	bool exceeded;		/* an allocation was refused */
	size_t longest;		/* bytes of the longest string, or more */
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
	VEC(struct prof_wait_kind) wait_kinds;
	VEC(struct prof_loss) losses;
	VEC(struct prof_stat) stats;
	/* the symbol part: empty until symbolized */
	VEC(struct prof_func) funcs;
	VEC(struct prof_frame) frames;
	VEC(uint32_t) loc_frame;	/* innermost frame by location, or PROF_NONE;
					 * may be shorter than locs */
	VEC(struct prof_symbol) symbols;	/* any order */
	VEC(struct image_debug_info) sources;	/* any order */
	VEC(struct prof_line) lines;	/* by image and vaddr */
	VEC(struct prof_code) codes;
	struct buf code_bytes;
	VEC(struct source_excerpt) texts;
	struct buf text_bytes;
	bool symbolized;		/* the symbol part exists */
	bool foreign;			/* not stored: the profile was read from
					 * another user's file (root's excepted), so
					 * that no file named in it is opened */
	uint64_t written_ns;		/* not stored: time of the last change of the
					 * file, since 1970; 0: unknown */
	VEC(uint32_t) code_from;	/* not stored: images whose code was read from
					 * files of this machine for a view */
	bool lines_unread;		/* not stored: debug information was read for
					 * a view that shows no lines */
	size_t str_base;		/* ids from here on belong to the symbol part */
	/* lookup for interning; not stored */
	struct idtab loc_tab, func_tab, frame_tab;
	struct u64map node_tab, end_tab;
	struct prof_memory memory;
	/* Used while recording, see profile_keep_nodes: */
	size_t nodes_kept;
	size_t nodes_gone;		/* rows that are only in the file: nodes.v
					 * begins with this node */
	size_t threads_gone;		/* the same for threads */
	struct u64map node_before;	/* previous contents of node_tab */
	uint32_t before_end;		/* its nodes are below this number */
	uint32_t nodes_from;		/* older nodes are forgotten */
	size_t next_kept;
	uint32_t *next_loc;		/* by the node's number, modulo next_kept: the
					 * location of a node of nodes_gone whose
					 * parent is the node before it, or PROF_NONE */
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
/* The same with strings in a pool (base/strtab.h), which may be NULL. */
int profile_init_in(struct profile *p, struct strpool *pool);
void profile_fini(struct profile *p);

/* Interning: return the id of an equal row, or of a new one; PROF_NONE if out
 * of memory. */
uint32_t profile_str(struct profile *p, const char *s);
uint32_t profile_loc(struct profile *p, uint32_t image, uint64_t vaddr);
uint32_t profile_node(struct profile *p, uint32_t parent, uint32_t loc);
/* Limits the memory for interning nodes while recording.  The last n / 2 to n
 * nodes that were requested are found by profile_node, and so are nodes below the
 * one that was made before them, of the last 4 n; others get a new id.  The tables then
 * take 24 n and 16 n bytes.  Once nodes_repeat is set, the caller must tell readers
 * by setting PROF_ENV_REPEATED.  Called before there are nodes; if memory is lacking,
 * fewer are found. */
void profile_keep_nodes(struct profile *p, size_t n);
/* Removes the rows of all nodes, which have been written to the file, if
 * profile_keep_nodes was called. */
void profile_nodes_written(struct profile *p);
/* Removes the rows of all threads, which have been written to the file. */
void profile_threads_written(struct profile *p);
/* Forgets all nodes but stack ends: profile_node returns new ids from here on. */
void profile_forget_nodes(struct profile *p);
/* Frees the tables by which locations and nodes are found, if none is added any more. */
void profile_end_lookup(struct profile *p);
/* Returns about how many bytes the tables of a recording take in a process that looks up
 * its symbols or reads its file, rows that are only in the file included. */
uint64_t profile_table_bytes(const struct profile *p);
/* Begins the tables anew for another file of the same recording.  The environment,
 * the runs and the events stay, with the same ids.  The contents so far move to *old,
 * which the caller frees.  Returns 0, or -ERR_NOMEM with p unchanged. */
int profile_restart(struct profile *p, struct profile *old);
#define PROF_ENV_REPEATED "repeated_stacks"
/* Values of the key "source" that reports treat specially. */
#define PROF_SOURCE_TIMER "timers in the program"
#define PROF_SOURCE_PTRACE "ptrace"
/* Names of the numbers of samples that others represent, and of shortened copies of
 * stacks, because the recorder could not keep up. */
#define PROF_ENV_THINNED "thinned_samples"
#define PROF_ENV_SHORTENED "shortened_copies"
/* Present if the file ended because its tables were full; their size in bytes. */
#define PROF_ENV_FULL "full_tables"
/* Prefix of the environment keys that hold labels. */
#define PROF_ENV_LABEL "label."
/* Returns the node of a mark with this reason and image. */
uint32_t profile_end(struct profile *p, uint32_t mark, uint32_t reason,
		     uint32_t image);
uint32_t profile_func(struct profile *p, const struct prof_func *f);
uint32_t profile_frame(struct profile *p, const struct prof_frame *f);

int profile_set_env(struct profile *p, uint32_t run, const char *key,
		    const char *value);
int profile_set_number(struct profile *p, uint32_t run, const char *key, uint64_t n);
/* Returns the last value set, or NULL. */
const char *profile_env(const struct profile *p, uint32_t run,
			const char *key);
/* Returns the last value set for the whole recording, or "". */
const char *profile_fact(const struct profile *p, const char *key);
/* Starts a symbol part and drops an old one with its strings.  From here until
 * the profile is written only the symbol part (and image.debug_file,
 * image.note) may grow. */
int profile_begin_symbols(struct profile *p);
/* Frees the symbol part, but not its strings. */
void profile_drop_symbols(struct profile *p);
/* Moves the rows and bytes of the symbol part to a profile without one. */
void profile_move_symbols(struct profile *from, struct profile *to);
/* Makes functions and frames that were read from a file known to profile_func
 * and profile_frame.  Returns 0 or -ERR_NOMEM. */
int profile_index_symbols(struct profile *p);

static inline const char *profile_cstr(const struct profile *p, uint32_t id)
{
	return strtab_get(&p->str, id);
}

/* Returns the text of an enum prof_end_reason as shown to users, such as "no
 * unwind data". */
const char *prof_end_text(uint32_t reason);

/* Appends why there are no samples and how to get some, as shown to users. */
void profile_why_unsampled(const struct profile *p, struct buf *out);

/* Returns the debug information row of an image, or NULL. */
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

/* Return whether two rows of one profile are equal. */
static inline bool prof_same_func(const struct prof_func *a,
				  const struct prof_func *b)
{
	return a->name == b->name && a->image == b->image &&
	       a->vaddr == b->vaddr && a->file == b->file &&
	       a->line == b->line;
}

static inline bool prof_same_frame(const struct prof_frame *a,
				   const struct prof_frame *b)
{
	return a->func == b->func && a->outer == b->outer &&
	       a->line == b->line && a->column == b->column &&
	       a->file == b->file;
}

/* Returns whether events of two profiles measured the same thing in the same
 * unit and processor modes.  Rates may differ, because weights account for
 * them. */
bool prof_same_event(const struct profile *p, const struct prof_event *a,
		     const struct profile *q, const struct prof_event *b);

/* The wait events, blocked and runnable.  Their weights are the time a thread
 * was off CPU; type and config are those of context switches
 * (linux/perf_event.h). */
#define PROF_WAIT_TYPE 1u	/* PERF_TYPE_SOFTWARE */
#define PROF_WAIT_CONFIG 3u	/* PERF_COUNT_SW_CONTEXT_SWITCHES */
static inline bool prof_is_wait(const struct prof_event *e)
{
	return e->unit == PROF_UNIT_NS && e->type == PROF_WAIT_TYPE &&
	       e->config == PROF_WAIT_CONFIG;
}

/* Returns whether waits were sampled by polling sleeping threads at this rate;
 * otherwise every wait is recorded. */
static inline bool prof_is_sampled_wait(const struct prof_event *e)
{
	return prof_is_wait(e) && e->freq;
}

/* Returns whether an event records what ended waits, weighted by the duration
 * of the wait: time in a tracepoint event. */
#define PROF_WAKING_TYPE 2u	/* PERF_TYPE_TRACEPOINT */
static inline bool prof_is_waking(const struct prof_event *e)
{
	return e->unit == PROF_UNIT_NS && e->type == PROF_WAKING_TYPE;
}

/* Returns whether an event belongs to the table of waits and their causes. */
static inline bool prof_is_of_waits(const struct prof_event *e)
{
	return prof_is_wait(e) || prof_is_waking(e);
}

/* Returns whether an event is wall-clock time divided among the running
 * threads; it has type and config of the dummy event. */
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
 * sample represents: time before a program's first sample, and the
 * remainder. */
#define PLACE_BEFORE_FIRST "[before the first sample]"
#define PLACE_NOT_SAMPLED "[not sampled]"

/* The image of kind PROF_IMAGE_ANON whose addresses are numbers of Java
 * methods; the recorder read their names from the program's memory. */
#define PROF_IMAGE_JAVA "[java]"
/* The same for lines of Python functions; the names came with the samples. */
#define PROF_IMAGE_PYTHON "[python]"
/* The same for PHP functions, including those written in C. */
#define PROF_IMAGE_PHP "[php]"
#define PROF_IMAGE_RUBY "[ruby]"
/* Code that V8 generated and named in its perf map or jitdump file. */
#define PROF_IMAGE_JAVASCRIPT "[javascript]"
#define PROF_IMAGE_DOTNET "[.net]"	/* the same for .NET */
/* Begins the names of images of kind PROF_IMAGE_UNKNOWN that stand for waits whose stack is
 * unknown. */
#define PROF_IMAGE_NO_STACK "[no stack"
#define PROF_IMAGE_TIMER "/memfd:tally-timer"	/* tally's library in programs */

/* Returns whether the build ID alone identifies the code of a location, so that
 * another machine that has the file can name it. */
static inline bool prof_is_identified(const struct prof_image *im)
{
	return im->kind == PROF_IMAGE_ELF && im->build_id.len &&
	       !(im->flags & PROF_IMAGE_UNREADABLE);
}

static inline bool prof_is_kernel(const struct prof_image *im)
{
	return im->kind == PROF_IMAGE_KERNEL || im->kind == PROF_IMAGE_MODULE ||
	       im->kind == PROF_IMAGE_GENERATED;
}

#endif
