/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_PIECES_H
#define TALLY_EXPORT_PIECES_H
/*
 * Text that is built once and written often: the escaped name of a function,
 * the lines of a location, the numbers of a stack.  The format assigns numbers
 * to pieces.
 *
 *	if (!pieces_has(&w->names, fk)) {
 *		text_json(&w->names.text, export_name(x, fk));
 *		pieces_keep(&w->names, fk);
 *	}
 *	pieces_put(&w->names, fk, &x->out);
 *
 * If there are more than PIECES_MAX bytes, all pieces are dropped, so memory is
 * bounded even if each stack is a piece.
 */
#include "base/buf.h"
#include "base/error.h"

enum { PIECES_MAX = 256 << 20 };

struct pieces {
	struct buf text;	/* a new piece is appended to this text … */
	size_t kept;		/* … after this many bytes, the pieces kept */
	uint64_t *at;		/* by number: 1 + offset in `text`; 0: none */
	uint32_t *len;
	size_t n;
};

/* Allocates pieces 0 to n - 1. */
int pieces_init(struct pieces *p, size_t n, struct error *err);
void pieces_fini(struct pieces *p);
/* Makes the text appended to p->text since the last call piece i.  Write the
 * piece before you keep the next one. */
void pieces_keep(struct pieces *p, size_t i);

static inline bool pieces_has(const struct pieces *p, size_t i)
{
	return p->at[i];
}

/* Returns piece i; valid until the next one is kept. */
static inline const uint8_t *piece_text(const struct pieces *p, size_t i)
{
	/* where all pieces so far are empty, there is no text to point into */
	return p->len[i] ? p->text.p + (p->at[i] - 1) : (const uint8_t *)"";
}

static inline void pieces_put(const struct pieces *p, size_t i,
			      struct buf *out)
{
	if (p->at[i])
		buf_bytes(out, piece_text(p, i), p->len[i]);
	out->failed |= p->text.failed;
}

#endif
