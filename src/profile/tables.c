// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Describes the tables of the file as data: how each field is stored and what
 * it refers to.  The order of columns is the order in the file and part of the
 * format (doc/tally-format.5, "Tables").
 */
#include <stdlib.h>
#include <string.h>

#include "profile/format.h"

#define SHOWN(name, type, field, code, ref, show) \
	{ name, offsetof(struct type, field), \
	  (uint8_t)sizeof(((struct type *)0)->field), code, ref, show }
#define COL(type, field, code, ref) \
	SHOWN(#field, type, field, code, ref, SHOW_NUMBER)
#define HEX(type, field, code) \
	SHOWN(#field, type, field, code, REF_NONE, SHOW_HEX)

static const struct column env_columns[] = {
	COL(prof_env, run, COL_PLUS1, REF_RUN_OPT),
	COL(prof_env, key, COL_ULEB, REF_STR),
	COL(prof_env, value, COL_ULEB, REF_STR),
};

static const struct column event_columns[] = {
	COL(prof_event, name, COL_ULEB, REF_STR),
	COL(prof_event, actual, COL_ULEB, REF_STR),
	COL(prof_event, note, COL_ULEB, REF_STR),
	SHOWN("unit", prof_event, unit, COL_ULEB, REF_NONE, SHOW_WORD),
	COL(prof_event, precise, COL_ULEB, REF_NONE),
	COL(prof_event, exclude_user, COL_ULEB, REF_NONE),
	COL(prof_event, exclude_kernel, COL_ULEB, REF_NONE),
	COL(prof_event, type, COL_ULEB, REF_NONE),
	HEX(prof_event, config, COL_ULEB),
	HEX(prof_event, config1, COL_ULEB),
	HEX(prof_event, config2, COL_ULEB),
	COL(prof_event, freq, COL_ULEB, REF_NONE),
	COL(prof_event, period, COL_ULEB, REF_NONE),
};

static const struct column run_columns[] = {
	COL(prof_run, command, COL_ULEB, REF_STR),
	SHOWN("wait_status", prof_run, exit_status, COL_PLUS1, REF_NONE, SHOW_SIGNED),
	COL(prof_run, start_ns, COL_ULEB, REF_NONE),
	COL(prof_run, end_ns, COL_ULEB, REF_NONE),
	COL(prof_run, start_wall_ns, COL_ULEB, REF_NONE),
	COL(prof_run, user_ns, COL_ULEB, REF_NONE),
	COL(prof_run, sys_ns, COL_ULEB, REF_NONE),
};

static const struct column thread_columns[] = {
	COL(prof_thread, run, COL_ULEB, REF_RUN),
	COL(prof_thread, pid, COL_DELTA, REF_NONE),
	COL(prof_thread, tid, COL_DELTA, REF_NONE),
	COL(prof_thread, comm, COL_ULEB, REF_STR),
	COL(prof_thread, parent, COL_DELTA, REF_NONE),
	COL(prof_thread, start_ns, COL_DELTA, REF_NONE),
	SHOWN("cgroup", prof_thread, cgroup, COL_ULEB, REF_STR, SHOW_OPTIONAL),
	SHOWN("task", prof_thread, task, COL_ULEB, REF_STR, SHOW_OPTIONAL),
};

static const struct column image_columns[] = {
	COL(prof_image, path, COL_ULEB, REF_STR),
	SHOWN("kind", prof_image, kind, COL_ULEB, REF_NONE, SHOW_WORD),
	COL(prof_image, flags, COL_ULEB, REF_NONE),
	COL(prof_image, build_id, COL_BUILD_ID, REF_NONE),
	HEX(prof_image, base, COL_ULEB),
	COL(prof_image, reason, COL_ULEB, REF_STR),
};

static const struct column loc_columns[] = {
	COL(prof_loc, image, COL_ULEB, REF_IMAGE),
	HEX(prof_loc, vaddr, COL_DELTA),
};

static const struct column node_columns[] = {
	COL(prof_node, parent, COL_BACK, REF_BACK),
	COL(prof_node, loc, COL_RECENT, REF_LOC),
};

static const struct column end_columns[] = {
	COL(prof_stack_end, node, COL_DELTA, REF_NODE),
	SHOWN("reason", prof_stack_end, reason, COL_ULEB, REF_NONE, SHOW_WORD),
	COL(prof_stack_end, image, COL_PLUS1, REF_IMAGE_OPT),
};

static const struct column wait_kind_columns[] = {
	COL(prof_wait_kind, node, COL_DELTA, REF_NODE),
	COL(prof_wait_kind, kind, COL_ULEB, REF_STR),
};

static const struct column loss_columns[] = {
	COL(prof_loss, run, COL_ULEB, REF_RUN),
	COL(prof_loss, event, COL_PLUS1, REF_EVENT_OPT),
	COL(prof_loss, cpu, COL_PLUS1, REF_NONE),
	SHOWN("kind", prof_loss, kind, COL_ULEB, REF_NONE, SHOW_NOTHING),
	COL(prof_loss, time_ns, COL_DELTA, REF_NONE),
	COL(prof_loss, count, COL_ULEB, REF_NONE),
};

static const struct column stat_columns[] = {
	COL(prof_stat, run, COL_ULEB, REF_RUN),
	COL(prof_stat, event, COL_ULEB, REF_EVENT),
	COL(prof_stat, value, COL_ULEB, REF_NONE),
	COL(prof_stat, enabled_ns, COL_ULEB, REF_NONE),
	COL(prof_stat, running_ns, COL_ULEB, REF_NONE),
	COL(prof_stat, wanted, COL_ULEB, REF_NONE),
};

static const struct column func_columns[] = {
	COL(prof_func, image, COL_ULEB, REF_IMAGE),
	COL(prof_func, name, COL_DELTA, REF_STR),
	COL(prof_func, file, COL_DELTA, REF_STR),
	COL(prof_func, line, COL_DELTA, REF_NONE),
	HEX(prof_func, vaddr, COL_DELTA),
};

static const struct column frame_columns[] = {
	COL(prof_frame, func, COL_DELTA, REF_FUNC),
	COL(prof_frame, file, COL_DELTA, REF_STR),
	COL(prof_frame, line, COL_DELTA, REF_NONE),
	COL(prof_frame, column, COL_ULEB, REF_NONE),
	COL(prof_frame, outer, COL_BACK, REF_BACK),
};

static const struct column loc_frame_columns[] = {
	{ "frame", 0, 4, COL_OPT, REF_FRAME_OPT, SHOW_NUMBER },
};

static const struct column symbol_columns[] = {
	COL(prof_symbol, image, COL_ULEB, REF_IMAGE),
	COL(prof_symbol, name, COL_DELTA, REF_STR),
	HEX(prof_symbol, vaddr, COL_DELTA),
	HEX(prof_symbol, size, COL_ULEB),
};

static const struct column source_columns[] = {
	COL(image_debug_info, image, COL_ULEB, REF_IMAGE),
	HEX(image_debug_info, names, COL_ULEB),
	HEX(image_debug_info, missing, COL_ULEB),
	COL(image_debug_info, units, COL_ULEB, REF_NONE),
	COL(image_debug_info, file, COL_ULEB, REF_STR),
	COL(image_debug_info, machine, COL_ULEB, REF_NONE),
};

static const struct column line_columns[] = {
	COL(prof_line, image, COL_ULEB, REF_IMAGE),
	HEX(prof_line, vaddr, COL_DELTA),
	COL(prof_line, frame, COL_OPT, REF_FRAME_OPT),
};

#define TABLE(section, field, type, cols, mut, sym) \
	{ section, #field, offsetof(struct profile, field), sizeof(type), mut, \
	  sym, cols, COUNT(cols), 0 }
/* A table with columns that version 1.0 got later. */
#define GROWN_TABLE(section, field, type, cols, mut, sym, optional) \
	{ section, #field, offsetof(struct profile, field), sizeof(type), mut, \
	  sym, cols, COUNT(cols), optional }

const struct table format_tables[] = {
	TABLE(SECTION_RUNS, runs, struct prof_run, run_columns, true, false),
	TABLE(SECTION_ENVS, envs, struct prof_env, env_columns, false, false),
	TABLE(SECTION_EVENTS, events, struct prof_event, event_columns, true,
	      false),
	GROWN_TABLE(SECTION_THREADS, threads, struct prof_thread,
		    thread_columns, false, false, 2),
	TABLE(SECTION_IMAGES, images, struct prof_image, image_columns, true,
	      false),
	TABLE(SECTION_LOCS, locs, struct prof_loc, loc_columns, false, false),
	TABLE(SECTION_NODES, nodes, struct prof_node, node_columns, false,
	      false),
	TABLE(SECTION_ENDS, ends, struct prof_stack_end, end_columns, false, false),
	TABLE(SECTION_WAIT_KINDS, wait_kinds, struct prof_wait_kind,
	      wait_kind_columns, false, false),
	TABLE(SECTION_LOSSES, losses, struct prof_loss, loss_columns, false,
	      false),
	TABLE(SECTION_STATS, stats, struct prof_stat, stat_columns, false,
	      false),
	TABLE(SECTION_SYMBOLS, symbols, struct prof_symbol, symbol_columns,
	      false, true),
	TABLE(SECTION_FUNCS, funcs, struct prof_func, func_columns, false,
	      true),
	TABLE(SECTION_FRAMES, frames, struct prof_frame, frame_columns, false,
	      true),
	TABLE(SECTION_LOC_FRAMES, loc_frame, uint32_t, loc_frame_columns,
	      false, true),
	TABLE(SECTION_LINES, lines, struct prof_line, line_columns, false,
	      true),
	TABLE(SECTION_SOURCES, sources, struct image_debug_info, source_columns,
	      false, true),
};
const size_t format_ntables = COUNT(format_tables);

static const struct column code_columns[] = {
	COL(prof_code, image, COL_ULEB, REF_IMAGE),
	HEX(prof_code, vaddr, COL_ULEB),
	COL(prof_code, size, COL_ULEB, REF_NONE),
};

static const struct column text_columns[] = {
	COL(source_excerpt, file, COL_ULEB, REF_STR),
	COL(source_excerpt, line, COL_ULEB, REF_NONE),
	HEX(source_excerpt, flags, COL_ULEB),
	COL(source_excerpt, size, COL_ULEB, REF_NONE),
};

const struct table code_table =
	TABLE(SECTION_CODES, codes, struct prof_code, code_columns, false, true);
const struct table text_table =
	TABLE(SECTION_TEXTS, texts, struct source_excerpt, text_columns, false,
	      true);

const struct table *format_table(uint64_t section)
{
	for (size_t i = 0; i < format_ntables; i++)
		if (format_tables[i].section == section)
			return &format_tables[i];
	return section == SECTION_CODES	  ? &code_table
	       : section == SECTION_TEXTS ? &text_table
					  : NULL;
}

/* Returns the number of rows that are only in the file. */
static size_t rows_gone(const struct profile *p, const struct table *t)
{
	return t->section == SECTION_NODES     ? p->nodes_gone
	       : t->section == SECTION_THREADS ? p->threads_gone
					       : 0;
}

size_t table_rows(const struct profile *p, const struct table *t)
{
	struct any_vec v;

	memcpy(&v, (const char *)p + t->vec, sizeof(v));
	return rows_gone(p, t) + v.n;
}

void *table_row(const struct profile *p, const struct table *t, size_t i)
{
	struct any_vec v;

	memcpy(&v, (const char *)p + t->vec, sizeof(v));
	return v.v ? (char *)v.v + (i - rows_gone(p, t)) * t->row : NULL;
}

void *table_add(struct profile *p, const struct table *t, const void *row)
{
	char *at = (char *)p + t->vec;
	struct any_vec v;

	memcpy(&v, at, sizeof(v));
	if (v.n == v.cap && vec_reserve_raw(&v.v, &v.cap, v.n + 1, t->row) < 0)
		return NULL;
	v.n++;
	memcpy(at, &v, sizeof(v));
	return memcpy((char *)v.v + (v.n - 1) * t->row, row, t->row);
}

void table_clear(struct profile *p, const struct table *t)
{
	struct any_vec v;

	memcpy(&v, (char *)p + t->vec, sizeof(v));
	free(v.v);
	memset((char *)p + t->vec, 0, sizeof(v));
}

void table_move(struct profile *from, struct profile *to, const struct table *t)
{
	memcpy((char *)to + t->vec, (char *)from + t->vec, sizeof(struct any_vec));
	memset((char *)from + t->vec, 0, sizeof(struct any_vec));
}
