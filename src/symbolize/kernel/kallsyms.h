/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_KERNEL_KALLSYMS_H
#define TALLY_SYMBOLIZE_KERNEL_KALLSYMS_H
/*
 * The running kernel's symbols: /proc/kallsyms text (proc(5)).
 * Addresses are those of the running kernel.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct kallsyms;

/* A hidden table (all addresses 0: kernel.kptr_restrict) is ERR_PERM. */
int kallsyms_open(const char *path, struct kallsyms **out, struct error *err);
int kallsyms_parse(const char *text, size_t n, struct kallsyms **out,
		   struct error *err);
void kallsyms_close(struct kallsyms *k);
/* The symbol that covers addr, its module ("" for the kernel itself) and range;
 * false when there is none. */
bool kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **name,
		   const char **module, uint64_t *start, uint64_t *size);
/* All code symbols of a module ("": of the kernel itself), by address; false when
 * the callback said so. */
typedef bool kallsyms_cb(void *ctx, const char *name, uint64_t addr);
bool kallsyms_each(const struct kallsyms *k, const char *module,
		   kallsyms_cb *cb, void *ctx);
/* The address of a symbol of the kernel itself (not of a module), 0 if none. */
uint64_t kallsyms_address(const struct kallsyms *k, const char *name);

#endif
