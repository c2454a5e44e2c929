// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the code of two functions by sequences of instructions. */
#include "compare/code_overlap.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_RUN = 3, KIND_RUN = 5, RUNS_MIN = 8 };

/* Minimum share of the smaller function's sequences that the other contains. */
#define TEXT_SHARE 0.4
#define KIND_SHARE 0.6
/* Minimum share of the code that a function gained.  The code it had before is
 * excluded, and with it most chance matches. */
#define CAME_SHARE 0.4

static int by_value(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return ascending(a, b);
}

static uint64_t hash_of(const struct strtab *tokens, const uint32_t *word, size_t n)
{
	uint64_t h = 0;

	for (size_t i = 0; i < n; i++) {
		const char *s = strtab_get(tokens, word[i]);

		h = hash_mix(h, hash_bytes(s, strlen(s)));
	}
	return h;
}

/* Returns the hashes of all sequences of `length` words. */
static uint64_t *make_runs(const struct strtab *tokens, const uint32_t *word,
			   size_t n, size_t length, size_t *count)
{
	uint64_t *v = malloc((n + 1) * sizeof(*v));
	size_t k = 0;

	*count = 0;
	if (!v)
		return NULL;
	for (size_t i = 0; i + length <= n; i++)
		v[k++] = hash_of(tokens, word + i, length);
	sort_rows(v, k, by_value);
	for (size_t i = 0; i < k; i++)
		if (!*count || v[*count - 1] != v[i])
			v[(*count)++] = v[i];
	return v;
}

int code_ngrams_of(const struct profile *p, const struct prof_symbol *s,
		   const struct prof_symbol *by_address, struct code_ngrams *out)
{
	struct insn_tokens w;
	struct strtab tokens;
	uint64_t whole = 0;
	int rc;

	*out = (struct code_ngrams){ .text = NULL };
	if (strtab_init(&tokens) < 0)
		return -ERR_NOMEM;
	rc = insn_tokens(p, s, by_address, &tokens, &w);
	if (!rc) {
		out->text = make_runs(&tokens, w.full.v, w.full.n, TEXT_RUN,
				      &out->ntext);
		out->kind = make_runs(&tokens, w.weak.v, w.weak.n, KIND_RUN,
				      &out->nkind);
		whole = hash_of(&tokens, w.full.v, w.full.n) | 1;
		rc = !out->text || !out->kind ? -ERR_NOMEM
		     : out->nkind < RUNS_MIN;
		insn_tokens_fini(&w);
	}
	strtab_fini(&tokens);
	if (rc)
		code_ngrams_fini(out);
	out->whole = whole;
	return rc;
}

void code_ngrams_fini(struct code_ngrams *r)
{
	free(r->text);
	free(r->kind);
	*r = (struct code_ngrams){ .text = NULL };
}

/* Counts elements of `a` that are in `b` but not in `less` (NULL: empty).
 * *rest is the number of elements of `a` that are not in `less`. */
static size_t common_but(const uint64_t *a, size_t n, const uint64_t *less,
			 size_t l, const uint64_t *b, size_t m, size_t *rest)
{
	size_t i, j = 0, k = 0, count = 0;

	*rest = 0;
	for (i = 0; i < n; i++) {
		while (j < l && less[j] < a[i])
			j++;
		while (k < m && b[k] < a[i])
			k++;
		if (j < l && less[j] == a[i])
			continue;
		(*rest)++;
		count += k < m && b[k] == a[i];
	}
	return count;
}

static size_t common(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
	size_t rest;

	return common_but(a, n, NULL, 0, b, m, &rest);
}

static double share(size_t count, size_t of)
{
	return of ? (double)count / (double)of : 0;
}

bool code_overlaps(const struct code_ngrams *a, const struct code_ngrams *b)
{
	size_t text = a->ntext < b->ntext ? a->ntext : b->ntext;
	size_t kind = a->nkind < b->nkind ? a->nkind : b->nkind;

	return share(common(a->text, a->ntext, b->text, b->ntext), text) >=
		       TEXT_SHARE ||
	       share(common(a->kind, a->nkind, b->kind, b->nkind), kind) >=
		       KIND_SHARE;
}

bool code_came_from(const struct code_ngrams *now,
		    const struct code_ngrams *before,
		    const struct code_ngrams *other)
{
	size_t text, kind, both_text, both_kind;

	both_text = common_but(now->text, now->ntext, before->text, before->ntext,
			       other->text, other->ntext, &text);
	both_kind = common_but(now->kind, now->nkind, before->kind, before->nkind,
			       other->kind, other->nkind, &kind);
	if (text > other->ntext)
		text = other->ntext;
	if (kind > other->nkind)
		kind = other->nkind;
	return kind >= RUNS_MIN && (share(both_text, text) >= CAME_SHARE ||
				    share(both_kind, kind) >= CAME_SHARE);
}

/* Returns the share of the larger function's sequences that are in both. */
static double share_of_both(const uint64_t *a, size_t n, const uint64_t *b,
			    size_t m)
{
	return share(common(a, n, b, m), n > m ? n : m);
}

double mnemonic_overlap(const struct code_ngrams *a, const struct code_ngrams *b)
{
	return share_of_both(a->kind, a->nkind, b->kind, b->nkind);
}

double code_same_text(const struct code_ngrams *a, const struct code_ngrams *b)
{
	return share_of_both(a->text, a->ntext, b->text, b->ntext);
}
