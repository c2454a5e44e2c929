/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_LOOKUP_H
#define TALLY_SYMBOLIZE_LOOKUP_H
/*
 * Names of addresses from an image and its debug information: symbols, Go's table, and
 * DWARF.  symbolizer.c puts a cache in front of it, so that most images of a continuous
 * recording are never opened.
 */
#include "symbolize/dwarf/debug_file.h"
#include "symbolize/symbolize.h"
#include "symbolize/symtab.h"

struct lookup;

/* Opens the image's sources of names.  Searches for debug files in `where`, whose
 * strings live until lookup_close; without dirs, it uses no other file.  Returns 0 or
 * -ERR_NOMEM, after which *out is NULL. */
int lookup_open(struct image *img, const struct debug_search *where,
		enum sym_detail detail, struct lookup **out);
void lookup_close(struct lookup *l);

/* Looks up all addresses: see symbolizer_resolve. */
int lookup_resolve(struct lookup *l, const uint64_t *vaddrs, size_t n, sym_cb *cb,
		   void *ctx);
/* Finds the symbol at an address.  hit->from is 0 if there is none. */
int lookup_symbol(struct lookup *l, uint64_t addr, struct symtab_hit *hit);
/* Also sets *next to the first address after it, at most `end`, that may have another
 * symbol. */
int lookup_symbol_range(struct lookup *l, uint64_t addr, uint64_t end,
			struct symtab_hit *hit, uint64_t *next);

/* Returns whether addresses have more frames than their symbols alone provide. */
bool lookup_has_frames(const struct lookup *l);
struct sym_sources lookup_sources(const struct lookup *l);
/* Returns whether symbols are missing because memory ran out. */
bool lookup_incomplete(const struct lookup *l);

#endif
