// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes V8's .cpuprofile, which Chrome's developer tools and Visual Studio
 * Code open.
 *
 * It is a tree of nodes, and the nodes of samples with the time between them in
 * microseconds.  Only the first event is written.  In this format a sample
 * lasts until the next one, so the time between two is what the first one
 * represents.  The axis is CPU time, summed over threads.
 */
#include <stdlib.h>

#include "base/json.h"
#include "export/formats.h"
#include "export/pieces.h"
#include "export/tree.h"

struct cpuprofile {
	struct export *x;
	struct json j;
	struct export_tree t;
	struct pieces frames;		/* by fk, then of the root */
	uint64_t *hits;			/* by node of the tree */
	uint32_t *first, *next;		/* first child and next sibling, by node */
	uint64_t at, written_us;	/* time so far in ns, and time written in us */
};

static int add_hits(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		    struct cell c, struct error *err)
{
	struct cpuprofile *w = ctx;

	(void)lane;
	(void)err;
	if (!col)
		w->hits[w->t.node_of[node]] += c.count;
	return 0;
}

static void make_call_frame(struct cpuprofile *w, size_t at, const char *name,
			    const struct prof_func *f)
{
	struct json j = json_on(&w->frames.text);

	json_object(&j, NULL);
	json_str(&j, "functionName", name);
	json_str(&j, "scriptId", "0");
	json_str(&j, "url", f ? export_str(w->x, f->file) : "");
	json_int(&j, "lineNumber", f && f->line ? (int64_t)f->line - 1 : -1);
	json_int(&j, "columnNumber", f && f->line ? 0 : -1);
	json_end(&j);
	pieces_keep(&w->frames, at);
}

/* `fk` is PROF_NONE for the root. */
static void put_call_frame(struct cpuprofile *w, uint32_t fk)
{
	size_t at = fk == PROF_NONE ? export_nfuncs(w->x) : fk;

	if (!pieces_has(&w->frames, at))
		make_call_frame(w, at, fk == PROF_NONE
				? "(root)" : export_name(w->x, fk),
				fk == PROF_NONE ? NULL : export_func(w->x, fk));
	if (pieces_has(&w->frames, at))
		json_raw(&w->j, "callFrame", piece_text(&w->frames, at),
			 w->frames.len[at]);
}

static void put_children(struct cpuprofile *w, uint32_t first)
{
	json_array(&w->j, "children");
	for (uint32_t k = first; k != PROF_NONE; k = w->next[k])
		json_uint(&w->j, NULL, k + 2ull);
	json_end(&w->j);
}

/* Writes the nodes.  Ids count from 1, which is the root. */
static int put_nodes(struct cpuprofile *w, uint32_t top, struct error *err)
{
	struct export *x = w->x;
	int rc = 0;

	json_array_lines(&w->j, "nodes");
	json_object(&w->j, NULL);
	json_uint(&w->j, "id", 1);
	put_call_frame(w, PROF_NONE);
	json_uint(&w->j, "hitCount", 0);
	put_children(w, top);
	json_end(&w->j);
	for (uint32_t i = 0; !rc && i < w->t.nodes.n; i++) {
		const struct export_frame *f = &w->t.nodes.v[i].frame;

		json_object(&w->j, NULL);
		json_uint(&w->j, "id", i + 2ull);
		put_call_frame(w, f->fk);
		json_uint(&w->j, "hitCount", w->hits[i]);
		put_children(w, w->first[i]);
		if (f->line && w->hits[i]) {
			json_array(&w->j, "positionTicks");
			json_object(&w->j, NULL);
			json_uint(&w->j, "line", f->line);
			json_uint(&w->j, "ticks", w->hits[i]);
			json_end(&w->j);
			json_end(&w->j);
		}
		json_end(&w->j);
		rc = export_flush(x, false, err);
	}
	json_end(&w->j);
	return rc;
}

static int put_node(void *ctx, const struct export_sample *s, struct error *err)
{
	struct cpuprofile *w = ctx;

	if (!s->col)
		json_uint(&w->j, NULL, w->t.node_of[s->stack] + 2ull);
	return export_flush(w->x, false, err);
}

/* Writes, for each sample, the time that the previous one represents. */
static int put_delta(void *ctx, const struct export_sample *s,
		     struct error *err)
{
	struct cpuprofile *w = ctx;

	if (s->col)
		return 0;
	json_uint(&w->j, NULL, w->at / 1000 - w->written_us);
	w->written_us = w->at / 1000;
	w->at += s->weight;
	return export_flush(w->x, false, err);
}

static int put_all(struct cpuprofile *w, struct error *err)
{
	struct export *x = w->x;
	uint32_t top = PROF_NONE;
	uint64_t start = export_wall_ns(x) / 1000, sum = 0;
	int rc;

	for (size_t i = w->t.nodes.n; i--;) {
		uint32_t up = w->t.nodes.v[i].parent;
		uint32_t *list = up == PROF_NONE ? &top : &w->first[up];

		w->next[i] = *list;
		*list = (uint32_t)i;
	}
	for (size_t l = 0; x->a.ncols && l < x->a.lanes.n; l++)
		sum += x->totals[l * x->a.ncols].weight;
	json_object(&w->j, NULL);
	rc = put_nodes(w, top, err);
	json_uint(&w->j, "startTime", start);
	json_uint(&w->j, "endTime", start + sum / 1000);
	json_array(&w->j, "samples");
	if (!rc)
		rc = export_samples(x, put_node, w, err);
	json_end(&w->j);
	json_array(&w->j, "timeDeltas");
	if (!rc)
		rc = export_samples(x, put_delta, w, err);
	json_end(&w->j);
	json_end(&w->j);
	buf_u8(&x->out, '\n');
	return rc;
}

int export_cpuprofile(struct export *x, struct error *err)
{
	struct cpuprofile w = { .x = x, .j = json_on(&x->out) };
	int rc = export_tree_build(x, &w.t, err);

	if (!rc) {
		size_t n = w.t.nodes.n + 1;

		w.hits = calloc(n, sizeof(*w.hits));
		w.first = malloc(n * sizeof(*w.first));
		w.next = malloc(n * sizeof(*w.next));
		rc = w.hits && w.first && w.next ? 0 : error_nomem(err);
		for (size_t i = 0; !rc && i < n; i++)
			w.first[i] = w.next[i] = PROF_NONE;
	}
	if (!rc)
		rc = pieces_init(&w.frames, export_nfuncs(x) + 1, err) ?:
		     export_stack_sums(x, add_hits, &w, err) ?:
		     put_all(&w, err);
	x->out.failed |= w.frames.text.failed;
	pieces_fini(&w.frames);
	export_tree_fini(&w.t);
	free(w.hits);
	free(w.first);
	free(w.next);
	return rc;
}
