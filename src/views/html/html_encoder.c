// SPDX-License-Identifier: GPL-2.0-or-later
/* What all parts of the encoder write: text that is harmless in a page, and entries. */
#include "base/text.h"
#include "views/html/html_data.h"

enum { NAME_COLUMNS = 1000 };	/* maximum length of names */

const char *html_safe_text(struct html_encoder *e, const char *text)
{
	buf_again(&e->safe);
	buf_again(&e->cut);
	text_safe(&e->safe, text);
	text_cut(&e->cut, buf_cstr(&e->safe), NAME_COLUMNS);
	return buf_cstr(&e->cut);
}

void html_put_entries(struct html_encoder *e, const struct html_entries *x)
{
	const struct html_entry *v = x->v.v;
	size_t n = x->v.n;

	for (size_t i = 0; i < n; i++)
		buf_uleb(e->out, v[i].node - (i ? v[i - 1].node : 0));
	for (size_t i = 0; i < n; i++)
		buf_uleb(e->out, v[i].event);
	for (size_t i = 0; i < n; i++)
		buf_uleb(e->out, v[i].cohort);
	for (size_t i = 0; e->d->waits.any && i < n; i++)
		buf_uleb(e->out, v[i].kind);
	for (size_t i = 0; i < n; i++) {
		bool same = i && v[i].node == v[i - 1].node &&
			    v[i].event == v[i - 1].event &&
			    v[i].cohort == v[i - 1].cohort &&
			    v[i].kind == v[i - 1].kind;

		buf_uleb(e->out, same ? v[i].bucket - v[i - 1].bucket
				      : v[i].bucket);
	}
	for (size_t i = 0; i < n; i++)
		buf_uleb(e->out, v[i].c.count);
	for (size_t i = 0; i < n; i++)
		if (!e->d->cols[v[i].event].per)
			buf_uleb(e->out, v[i].c.weight);
}
