/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_VIEWS_MAKE_PROFILE_H
#define TALLY_TESTS_VIEWS_MAKE_PROFILE_H
/*
 * Small profiles made by hand, so that a test's right answers can be worked out
 * by hand.  Everything goes through a file in memory: writer, then reader.
 *
 *	struct maker m;
 *	maker_init(&m, 1);
 *	uint32_t a = maker_func(&m, m.app, "a", "a.c", 10);
 *	maker_sample(&m, (struct prof_sample){ .weight = 1 }, 2, main_loc,
 *a_loc); struct reader *r = maker_read(&m);
 */
#include "../checks.h"

#include "profile/reader.h"
#include "profile/writer.h"

struct maker {
	struct profile p;
	VEC(struct prof_sample) samples;
	uint32_t app, lib, kernel;	/* images */
	uint32_t thread;		/* thread row 0: "app", pid 100 */
	uint64_t next_vaddr;
	int fd;
	const uint8_t *bytes;
	size_t n;
};

/* `events` events named event0, event1…; one run from 1 s to 11 s; one thread.
 */
void maker_init(struct maker *m, unsigned int events);
void maker_fini(struct maker *m);

uint32_t maker_image(struct maker *m, const char *path,
		     enum prof_image_kind kind);
uint32_t maker_thread(struct maker *m, const char *comm, uint32_t pid,
		      uint32_t tid, uint32_t run);
uint32_t maker_run(struct maker *m, uint64_t start_ns, uint64_t end_ns);
uint32_t maker_func(struct maker *m, uint32_t image, const char *name,
		    const char *file, uint32_t line);
/* A location without name. */
uint32_t maker_address(struct maker *m, uint32_t image, uint64_t vaddr);
/* A new location in a function, at a line of the function's file. */
uint32_t maker_loc(struct maker *m, uint32_t func, uint32_t line);
/* … with functions inlined into each other, outermost first. */
uint32_t maker_inlined(struct maker *m, size_t n, const uint32_t *funcs,
		       const uint32_t *lines);
/* The stack of these locations (or marks), outermost first. */
uint32_t maker_stack(struct maker *m, size_t n, const uint32_t *locs);
/* Adds `times` equal samples. */
void maker_samples(struct maker *m, uint32_t stack, uint32_t event,
		   uint32_t thread, uint64_t weight, unsigned int times);

#define STACK(m, ...) \
	maker_stack((m), sizeof((uint32_t[]){ __VA_ARGS__ }) / \
			 sizeof(uint32_t), (uint32_t[]){ __VA_ARGS__ })

/* Writes the file and opens it; the maker keeps the bytes. */
struct reader *maker_read(struct maker *m);

#endif
