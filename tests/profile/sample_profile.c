// SPDX-License-Identifier: GPL-2.0-or-later
/* See sample_profile.h. */
#include "sample_profile.h"

#include <stdlib.h>
#include <string.h>

static void must(int rc)
{
	if (rc < 0)
		abort();
}

void sample_profile_symbolize(struct profile *p)
{
	struct prof_image im = {
		.path = profile_str(p, "/usr/bin/demo"),
		.build_id = { 4, { 0xde, 0xad, 0xbe, 0xef } },
	};
	struct prof_image kernel = {
		.path = profile_str(p, "[kernel]"),
		.kind = PROF_IMAGE_KERNEL,
		.base = 0xffffffff81000000,
	};
	uint32_t node = 0;

	must(vec_push(&p->runs, (struct prof_run){
			.command = profile_str(p, "demo --fast"),
			.exit_status = -1, .start_ns = 1000000,
			.start_wall_ns = 1700000000000000000 }));
	must(vec_push(&p->events, (struct prof_event){
			.name = profile_str(p, "cycles"),
			.actual = profile_str(p, "cpu-clock"),
			.note = profile_str(p, "no PMU"), .unit = PROF_UNIT_NS,
			.type = 1, .freq = 999 }));
	must(vec_push(&p->events, (struct prof_event){
			.name = profile_str(p, "page-faults"),
			.actual = profile_str(p, "page-faults"),
			.type = 1, .config = 2, .period = 1 }));
	for (uint32_t i = 0; i < 3; i++)
		must(vec_push(&p->threads, (struct prof_thread){
			.run = 0, .pid = 100, .tid = 100 + i,
			.comm = profile_str(p, i ? "worker" : "demo"),
			.parent = 1, .start_ns = 1000000 + i }));
	must(vec_push(&p->images, im));
	must(vec_push(&p->images, kernel));
	for (uint32_t i = 0; i < 5; i++)
		node = profile_node(p, node, profile_loc(p, 0, 0x1000 + i * 16));
	profile_node(p, node, profile_loc(p, 1, 0x1234));
	profile_node(p, 0, PROF_MARK_CUT);
	profile_end(p, PROF_MARK_BROKEN, PROF_END_NO_DATA, 1);
	profile_end(p, PROF_MARK_BROKEN, PROF_END_BAD_MEMORY, PROF_NONE);
	profile_end(p, PROF_MARK_READ_LATE, PROF_END_UNKNOWN, 0);
	must(profile_set_env(p, PROF_NONE, "hostname", "box"));
	must(profile_set_env(p, 0, "cwd", "/tmp"));
	must(vec_push(&p->losses, (struct prof_loss){
			.run = 0, .event = PROF_NONE, .cpu = 1,
			.kind = PROF_LOST, .time_ns = 1500000, .count = 7 }));
	must(vec_push(&p->stats, (struct prof_stat){
			.run = 0, .event = 0, .value = 123456789,
			.enabled_ns = 5, .running_ns = 4, .wanted = 200 }));
}

void sample_profile_symbols(struct profile *p)
{
	struct prof_func outer = { .name = profile_str(p, "main"),
				   .file = profile_str(p, "/src/demo.c"),
				   .line = 10 };
	struct prof_func inner = { .name = profile_str(p, "_Z3addii"),
				   .file = profile_str(p, "/src/add.h"),
				   .line = 3 };
	struct prof_frame call = { .file = outer.file, .line = 12, .column = 5,
				   .outer = PROF_NONE };
	struct prof_frame leaf = { .file = inner.file, .line = 4, .column = 9 };

	call.func = profile_func(p, &outer);
	leaf.func = profile_func(p, &inner);
	leaf.outer = profile_frame(p, &call);
	must(vec_push(&p->loc_frame, profile_frame(p, &leaf)));
	must(vec_push(&p->loc_frame, leaf.outer));
	must(vec_push(&p->loc_frame, PROF_NONE));
	must(vec_push(&p->symbols, (struct prof_symbol){
			.image = 0, .name = outer.name, .vaddr = 0x1000,
			.size = 0x80 }));
	must(vec_push(&p->sources, (struct image_debug_info){
			.image = 0, .names = PROF_NAMES_DYNSYM,
			.missing = PROF_MISSING_SYMTAB | PROF_MISSING_DWARF,
			.file = outer.file }));
	must(vec_push(&p->codes, (struct prof_code){
			.image = 0, .vaddr = 0x1000, .offset = 0, .size = 4 }));
	buf_bytes(&p->code_bytes, "\x55\x48\x89\xe5", 4);
	must(vec_push(&p->lines, (struct prof_line){
			.image = 0, .vaddr = 0x1000, .frame = 0 }));
	must(vec_push(&p->lines, (struct prof_line){
			.image = 0, .vaddr = 0x1004, .frame = PROF_NONE }));
	must(vec_push(&p->texts, (struct source_excerpt){
			.file = outer.file, .line = 7, .offset = 0,
			.flags = PROF_TEXT_NEWER, .size = 4 }));
	must(vec_push(&p->texts, (struct source_excerpt){
			.file = outer.file, .line = 20, .offset = 4,
			.size = 5 }));
	buf_bytes(&p->text_bytes, "a\nb\nlast\n", 9);
	p->images.v[0].note = profile_str(p, "no debug file");
}

struct prof_sample sample_profile_sample(size_t i)
{
	return (struct prof_sample){
		.time_ns = 1000000 + i * 1001000,
		.thread = (uint32_t)(i % 3),
		.cpu = (uint32_t)(i % 2),
		.event = i % 7 == 0,
		.stack = (uint32_t)(i * i % 8),
		.weight = i % 7 ? 1001001 : 1,
	};
}
