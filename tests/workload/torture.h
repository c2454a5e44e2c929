/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TORTURE_H
#define TORTURE_H
/*
 * A program that does what a profiler inside of it could disturb, and prints
 * what came of it: the same with and without one, run by run.  See torture.c.
 */
#include <stdio.h>

/* Works for so long, mostly outside of the kernel. */
void burn_ms(unsigned int ms);
/* How a child ended, printed as "NAME: exit 3" or "NAME: signal 11". */
void show_child(const char *name, int pid);

void torture_signals(void);
void torture_waits(void);
void torture_jumps(void);
void torture_children(const char *self);
void torture_threads(void);
void torture_environ(void);
void torture_files(void);
void torture_filter(void);
void torture_stops(void);
void torture_transfers(void);

#endif
