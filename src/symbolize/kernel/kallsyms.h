/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_KERNEL_KALLSYMS_H
#define TALLY_SYMBOLIZE_KERNEL_KALLSYMS_H
/*
 * Reads the running kernel's symbols from /proc/kallsyms text (proc(5)).
 * Addresses are those of the running kernel.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct kallsyms;

/*
 * Reads the table; the caller closes it.  Returns ERR_PERM if the table is
 * hidden (all addresses 0: kernel.kptr_restrict).
 *
 * `reach`: how far behind _text the caller looks for symbols.  The kernel lists its
 * own symbols first, by address, and takes long to write the rest, which is then not
 * read.  For symbols of modules, and tables that are not the kernel's own:
 * KALLSYMS_ALL.
 */
#define KALLSYMS_ALL UINT64_MAX
int kallsyms_open(const char *path, uint64_t reach, struct kallsyms **out,
		  struct error *err);
int kallsyms_parse(const char *text, size_t n, struct kallsyms **out,
		   struct error *err);
/*
 * Like kallsyms_open, but keeps only _text and the kernel's own symbols that cover the n
 * addresses _text + offsets[i], in ascending order.  Nothing else can be looked up.
 *
 * `copy`: NULL, or a file with an earlier table of the same kernel, which is faster to
 * read.  It is used if it is complete as far as needed and places the kernel where
 * `path` does.
 */
int kallsyms_open_some(const char *path, const char *copy,
		       const uint64_t *offsets, size_t n, struct kallsyms **out,
		       struct error *err);
/* Reads the text from the descriptor's position on; `name` is used in messages.
 * offsets: NULL, or keeps only some symbols as kallsyms_open_some does; `n` may then be 0.
 * Returns 1 if these cannot be found in this text, which then must be read as a whole. */
int kallsyms_read(int fd, const char *name, const uint64_t *offsets, size_t n,
		  struct kallsyms **out, struct error *err);
void kallsyms_close(struct kallsyms *k);
/* Finds the symbol that covers addr, its module ("" for the kernel itself) and
 * its range.  Returns false if there is none. */
bool kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **name,
		   const char **module, uint64_t *start, uint64_t *size);
/* Calls cb for all code symbols of a module ("": the kernel itself), by
 * address.  Returns false if the callback did. */
typedef bool kallsyms_cb(void *ctx, const char *name, uint64_t addr);
bool kallsyms_each(const struct kallsyms *k, const char *module,
		   kallsyms_cb *cb, void *ctx);
/* Returns the address of a symbol of the kernel itself (not of a module); 0 if
 * there is none. */
uint64_t kallsyms_address(const struct kallsyms *k, const char *name);

#endif
