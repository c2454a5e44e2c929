/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMOD_HOSTILE_H
#define KMOD_HOSTILE_H
/*
 * Hostile calls: what kmod_hostile.c, who calls, and kmod_calls.c, what is called, share.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kmod_torture.h"

enum {
	FDS = 4, MAPS = 8, THREADS = 3, OPS = 16, CALLS = 16,
	WINDOW = 4 << 20,	/* where one map lies */
	ROOM = 4096,		/* of a struct */
};

enum who { ROOT, PERFMON, PLAIN, WHO };

/* What the threads of a process share. */
struct gang {
	enum who who;
	uint32_t counters;	/* source of them, or 0 */
	bool no_drivers;	/* the kernel's own counters are left alone */
	int giver;		/* where a plain user gets open files, or -1 */
	int cgroup;		/* a folder of one at /groups, or -1 */
	int junk;		/* a file of bytes */
	bool narrow;		/* calls as i386 programs make them work */
	size_t page;
	uint8_t *windows;
	atomic_int fd[FDS];
	atomic_ulong left;	/* ioctls to make */
	atomic_ulong fine[CALLS], refused[CALLS], ops[OPS], granted;
};

struct hostile {
	struct gang *g;
	uint64_t random;
	unsigned long edge_turn;
	uint8_t *edge;		/* the last byte before memory that is not there,
				 * below 4 GB */
	/* What structs point to. */
	uint8_t cpus[16], kind_of[16];
	uint32_t tids[8], words[5];
	uint16_t rows[12];
	struct tally_rule rule;
	struct tally_map maps[3];
	struct tally_count counts[TALLY_COUNTS_MAX];
};

static inline uint64_t some(struct hostile *h, uint64_t n)
{
	return roll(&h->random) % n;
}

/* Any number, or one at an edge. */
uint64_t boundary(struct hostile *h);
/* One of the open files, or -1. */
int some_fd(struct hostile *h);
/* Any of the device's calls, with anything. */
void one_ioctl(struct hostile *h);
/* A recording as an honest program would set it up. */
void fill_setup(struct hostile *h, void *p);
/* Do calls as i386 programs make them work?  Kernels without them kill such a program. */
bool narrow_works(void);
/* The name of a row of calls, or NULL behind the last one. */
const char *call_name(unsigned int row);

#endif
