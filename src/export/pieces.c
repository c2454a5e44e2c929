// SPDX-License-Identifier: GPL-2.0-or-later
/* Text that is built once and written often (see pieces.h). */
#include "export/pieces.h"

#include <stdlib.h>

int pieces_init(struct pieces *p, size_t n, struct error *err)
{
	*p = (struct pieces){ .n = n };
	p->at = calloc(n + 1, sizeof(*p->at));
	p->len = calloc(n + 1, sizeof(*p->len));
	if (p->at && p->len)
		return 0;
	pieces_fini(p);
	return error_nomem(err);
}

void pieces_fini(struct pieces *p)
{
	free(p->at);
	free(p->len);
	buf_fini(&p->text);
	*p = (struct pieces){ 0 };
}

/* Drops all pieces except the one being built. */
static void forget(struct pieces *p)
{
	size_t n = p->text.n - p->kept;

	memmove(p->text.p, p->text.p + p->kept, n);
	memset(p->at, 0, p->n * sizeof(*p->at));
	p->text.n = n;
	p->kept = 0;
}

void pieces_keep(struct pieces *p, size_t i)
{
	if (p->text.n - p->kept > UINT32_MAX)
		p->text.failed = true;
	if (p->text.failed) {
		p->text.n = p->kept;
		return;
	}
	if (p->text.n > PIECES_MAX && p->kept)
		forget(p);
	p->at[i] = p->kept + 1;
	p->len[i] = (uint32_t)(p->text.n - p->kept);
	p->kept = p->text.n;
}
