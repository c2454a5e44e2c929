// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches functions of all recordings and finds renamed ones (see match.h). */
#include "compare/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "compare/func_match.h"
#include "compare/labels.h"
#include "compare/renames.h"
#include "symbolize/demangle/clones.h"

/* Self cost of a function. */
struct function_cost {
	double cost, samples;
};

static int list_funcs(struct compare_match *m, bool by_image,
		      struct match_item *v, size_t *n)
{
	*n = 0;
	for (uint32_t r = 0; r < m->n; r++) {
		const struct profile *p = m->in[r].p;

		for (uint32_t i = 0; i < p->funcs.n; i++) {
			const struct prof_func *f = &p->funcs.v[i];
			const char *name = profile_cstr(p, f->name);
			size_t base = clone_base(name);
			struct match_item x = {
				.image = m->image_of[r][f->image],
				.name = strtab_add_n(m->str, name, base),
				.recording = r, .clone = name[base],
				.file = profile_cstr(p, f->file),
				.line = f->line, .vaddr = f->vaddr,
				.build = compare_build_of(&p->images.v[f->image]) };

			if (m->in[r].same->func[i] != i)
				continue;
			if (x.name == UINT32_MAX)
				return -ERR_NOMEM;
			/* One function may be in several images.  Without a
			 * source file, the image distinguishes functions. */
			if (!by_image && !*x.file)
				x.file = strtab_get(m->str, x.image);
			if (!by_image)
				x.image = 0;
			m->func_of[r][i] = (uint32_t)*n;
			v[(*n)++] = x;
		}
	}
	return 0;
}

/* Takes the functions' places from the newest recording that knows them.  func_of
 * holds indexes of items before, and of funcs after. */
static void describe_funcs(struct compare_match *m, const struct match_item *v,
			   const char **file)
{
	for (size_t r = 0; r < m->n; r++) {
		const struct profile *p = m->in[r].p;
		const uint32_t *same = m->in[r].same->func;
		uint32_t *of = m->func_of[r];

		for (uint32_t i = 0; i < p->funcs.n; i++) {
			const struct prof_func *f = &p->funcs.v[i];
			struct compare_func *to;
			uint8_t sides;
			uint32_t name;

			if (same[i] != i)
				continue;
			name = v[of[i]].name;
			of[i] = v[of[i]].id;
			to = &m->funcs.v[of[i]];
			sides = (uint8_t)(to->sides | 1u << m->in[r].side);
			if (!file[of[i]] || !to->line || f->line) {
				file[of[i]] = profile_cstr(p, f->file);
				*to = (struct compare_func){
					.image = m->image_of[r][f->image],
					.name = name,
					.line = f->line, .vaddr = f->vaddr,
					.kernel = prof_is_kernel(
						&p->images.v[f->image]) };
			}
			to->sides = sides;
			to->before = COMPARE_NONE;
		}
		for (uint32_t i = 0; i < p->funcs.n; i++)
			if (same[i] != i)
				of[i] = of[same[i]];
	}
}

static int number_funcs(struct compare_match *m, const struct match_item *v,
			size_t nids)
{
	const char **file = calloc(nids + 1, sizeof(*file));
	int rc = file && vec_reserve(&m->funcs, nids + 1) == 0 ? 0 : -ERR_NOMEM;

	if (!rc) {
		memset(m->funcs.v, 0, (nids + 1) * sizeof(*m->funcs.v));
		m->funcs.n = m->nnamed = nids;
		describe_funcs(m, v, file);
	}
	for (size_t i = 0; !rc && i < nids; i++) {
		m->funcs.v[i].file = strtab_add(m->str, file[i]);
		rc = m->funcs.v[i].file == UINT32_MAX ? -ERR_NOMEM : 0;
	}
	free(file);
	return rc;
}

static int match_funcs(struct compare_match *m, bool by_image)
{
	struct match_item *v;
	size_t n = 0;
	uint32_t nids = 0;
	int rc;

	for (size_t r = 0; r < m->n; r++)
		n += m->in[r].p->funcs.n;
	v = calloc(n + 1, sizeof(*v));
	rc = !v ? -ERR_NOMEM : list_funcs(m, by_image, v, &n) ?:
	     match_items(v, n, &nids) ?: number_funcs(m, v, nids);
	free(v);
	return rc;
}

struct renamer {
	struct compare_match *m;
	struct function_cost *cost[COMPARE_SIDES];	/* by function */
	double all[COMPARE_SIDES];
	VEC(struct rename_item) items[COMPARE_SIDES];
};

static void sum_costs(struct renamer *x, struct function_cost *const *cost)
{
	const struct compare_match *m = x->m;

	for (size_t r = 0; r < m->n; r++) {
		uint8_t side = m->in[r].side;

		for (size_t i = 0; i < m->in[r].p->funcs.n; i++) {
			struct function_cost *to =
				&x->cost[side][m->func_of[r][i]];

			to->cost += cost[r][i].cost;
			to->samples += cost[r][i].samples;
			x->all[side] += cost[r][i].cost;
		}
	}
}

/* Collects functions of one side only that have enough cost. */
static int find_items(struct renamer *x, int side)
{
	struct compare_match *m = x->m;

	for (uint32_t i = 0; i < m->funcs.n; i++) {
		const struct compare_func *f = &m->funcs.v[i];
		const struct function_cost *cost = &x->cost[side][i];
		const struct code_ngrams *code;
		struct rename_item new = {
			.func = i, .share = cost->cost / x->all[side],
			.image = strtab_get(m->str, f->image),
			.name = strtab_get(m->str, f->name),
			.file = path_base(strtab_get(m->str, f->file)),
		};

		if (!f->name || f->sides != 1u << side ||
		    cost->samples < RENAME_MIN_SAMPLES ||
		    !(new.share >= RENAME_MIN_SHARE))
			continue;
		code = compare_code_of(m, i, side);
		if (!code)
			continue;
		new.code = *code;
		if (vec_push(&x->items[side], new) < 0)
			return -ERR_NOMEM;
	}
	return m->failed ? -ERR_NOMEM : 0;
}

/* Makes `now` represent `old` on the old side from here on. */
static void rename_func(struct compare_match *m, uint32_t old, uint32_t now)
{
	m->funcs.v[now].before = old;
	m->funcs.v[now].sides |= (uint8_t)(1u << COMPARE_OLD);
	compare_code_rename(m, old, now);
}

static int pair(struct renamer *x, size_t *now, uint32_t *to)
{
	struct compare_match *m = x->m;
	const struct rename_item *old = x->items[COMPARE_OLD].v;
	const struct rename_item *new = x->items[COMPARE_NEW].v;
	size_t n = x->items[COMPARE_OLD].n;
	int rc = renames_find(old, n, new, x->items[COMPARE_NEW].n, now);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < m->funcs.n; i++)
		to[i] = i;
	for (size_t i = 0; i < n; i++)
		if (now[i] != RENAME_NONE) {
			to[old[i].func] = new[now[i]].func;
			rename_func(m, old[i].func, new[now[i]].func);
		}
	for (size_t r = 0; r < m->n; r++)
		for (size_t i = 0; i < m->in[r].p->funcs.n; i++)
			m->func_of[r][i] = to[m->func_of[r][i]];
	return 0;
}

static int match_renamed(struct compare_match *m,
			 struct function_cost *const *cost)
{
	struct renamer x = { .m = m };
	struct arrays a = { 0 };
	uint32_t *to = arrays_new(&a, m->funcs.n, sizeof(*to));
	size_t *now;
	int rc = compare_code_init(m);

	for (int s = 0; s < COMPARE_SIDES; s++)
		x.cost[s] = arrays_new(&a, m->funcs.n, sizeof(*x.cost[s]));
	if (a.failed)
		rc = -ERR_NOMEM;
	if (!rc)
		sum_costs(&x, cost);
	for (int s = 0; !rc && s < COMPARE_SIDES; s++)
		rc = find_items(&x, s);
	now = arrays_new(&a, x.items[COMPARE_OLD].n, sizeof(*now));
	if (!rc)
		rc = now ? pair(&x, now, to) : -ERR_NOMEM;
	for (int s = 0; s < COMPARE_SIDES; s++)
		vec_fini(&x.items[s]);
	arrays_fini(&a);
	return rc;
}

static int make_tables(struct compare_match *m, const struct compare_input *in)
{
	m->in = arrays_new(&m->arrays, m->n, sizeof(*m->in));
	m->image_of = arrays_new(&m->arrays, m->n, sizeof(*m->image_of));
	m->func_of = arrays_new(&m->arrays, m->n, sizeof(*m->func_of));
	for (size_t r = 0; !m->arrays.failed && r < m->n; r++) {
		m->in[r] = in[r];
		m->image_of[r] = arrays_new(&m->arrays, in[r].p->images.n,
					    sizeof(**m->image_of));
		m->func_of[r] = arrays_new(&m->arrays, in[r].p->funcs.n,
					   sizeof(**m->func_of));
	}
	return m->arrays.failed ? -ERR_NOMEM : 0;
}

/* Returns the function in which a stack's cost arose, or COMPARE_NONE. */
static uint32_t leaf_func(const struct compare_match *m, const struct profile *p,
			  uint32_t stack)
{
	uint32_t loc = p->nodes.v[stack].loc, at;

	if (!stack || prof_is_mark(loc))
		return COMPARE_NONE;
	at = profile_loc_frame(p, loc);
	while (at != PROF_NONE && !m->inlined &&
	       p->frames.v[at].outer != PROF_NONE)
		at = p->frames.v[at].outer;
	return at == PROF_NONE || p->frames.v[at].func >= p->funcs.n
		       ? COMPARE_NONE : p->frames.v[at].func;
}

/* Sums the cost of each function of the recordings. */
static int sum_functions(const struct compare_match *m, struct arrays *a,
			 struct function_cost **cost)
{
	for (size_t r = 0; r < m->n; r++) {
		const struct compare_input *in = &m->in[r];

		cost[r] = arrays_new(a, in->p->funcs.n, sizeof(*cost[r]));
		if (!cost[r])
			return -ERR_NOMEM;
		for (size_t i = 0; i < in->ncells; i++) {
			const struct compare_cell *c = &in->cells[i];
			uint32_t func = leaf_func(m, in->p, c->stack);

			if (func == COMPARE_NONE)
				continue;
			cost[r][func].cost += (double)c->weight;
			cost[r][func].samples += (double)c->count;
		}
	}
	return 0;
}

/* --- images, which are matched by file name and path, and renamed ones */

enum { PAIRS_TRIED = 256 };

/* Functions with one name in an image, which count as one here. */
struct named {
	uint32_t image, name;	/* str */
	double cost[COMPARE_SIDES];
};

struct image_cost {
	uint32_t image;		/* str */
	double cost[COMPARE_SIDES];
	bool kernel, taken;
};

struct pairing {
	struct compare_match *m;
	struct function_cost *const *cost;
	VEC(struct named) funcs;
	VEC(struct image_cost) images;
	struct u64map func_tab, image_tab;
};

/* Lists one item per image of each recording.  at[recording][image] is its
 * item. */
static int list_images(struct compare_match *m, struct match_item *v,
		       uint32_t **at, size_t *n)
{
	*n = 0;
	for (uint32_t r = 0; r < m->n; r++) {
		const struct profile *p = m->in[r].p;

		for (uint32_t i = 0; i < p->images.n; i++) {
			const struct prof_image *im = &p->images.v[i];
			const char *path = profile_cstr(p, im->path);
			uint64_t build = compare_build_of(im);
			uint32_t name;

			if (m->in[r].same->image[i] != i)
				continue;
			name = strtab_add(m->str, path_base(path));
			if (name == UINT32_MAX)
				return -ERR_NOMEM;
			at[r][i] = (uint32_t)*n;
			v[(*n)++] = (struct match_item){
				.name = name, .recording = r, .vaddr = build,
				.build = build, .file = path };
		}
	}
	return 0;
}

/* Names an image by its file name, or by a label if a recording has several of
 * that name. */
static int name_images(struct compare_match *m, const struct match_item *v,
		       size_t nids, uint32_t *const *at)
{
	struct label_image *im = calloc(nids + 1, sizeof(*im));
	struct labels l = { .nfuncs = 0 };
	int rc = im ? 0 : -ERR_NOMEM;

	for (size_t r = 0; !rc && r < m->n; r++) {
		const struct profile *p = m->in[r].p;

		for (uint32_t i = 0; i < p->images.n; i++) {
			const struct match_item *x = &v[at[r][i]];

			if (m->in[r].same->image[i] == i)
				im[x->id] = (struct label_image){
					x->id + 1, x->file,
					p->images.v[i].build_id.bytes,
					p->images.v[i].build_id.len };
		}
	}
	if (!rc)
		rc = labels_images(&l, im, nids, nids + 1);
	for (size_t r = 0; !rc && r < m->n; r++) {
		const uint32_t *same = m->in[r].same->image;

		for (uint32_t i = 0; !rc && i < m->in[r].p->images.n; i++) {
			uint32_t id = v[at[r][same[i]]].id;
			const char *label = label_image(&l, id + 1);

			m->image_of[r][i] = strtab_add(m->str, *label ? label
						: path_base(im[id].path));
			rc = m->image_of[r][i] == UINT32_MAX ? -ERR_NOMEM : 0;
		}
	}
	labels_fini(&l);
	free(im);
	return rc;
}

static int match_by_name(struct compare_match *m)
{
	struct arrays a = { 0 };
	uint32_t **at = arrays_new(&a, m->n, sizeof(*at)), nids = 0;
	struct match_item *v;
	size_t n = 0;
	int rc;

	for (size_t r = 0; at && r < m->n; r++) {
		at[r] = arrays_new(&a, m->in[r].p->images.n, sizeof(**at));
		n += m->in[r].p->images.n;
	}
	v = arrays_new(&a, n, sizeof(*v));
	rc = a.failed ? -ERR_NOMEM : list_images(m, v, at, &n) ?:
	     match_items(v, n, &nids) ?: name_images(m, v, nids, at);
	arrays_fini(&a);
	return rc;
}

static int sum_named(struct pairing *x, size_t recording)
{
	struct compare_match *m = x->m;
	const struct compare_input *in = &m->in[recording];

	for (size_t i = 0; i < in->p->funcs.n; i++) {
		const struct prof_func *f = &in->p->funcs.v[i];
		const char *name = profile_cstr(in->p, f->name);
		struct named new = { .image = m->image_of[recording][f->image] };
		uint32_t id = UINT32_MAX;

		new.name = strtab_add_n(m->str, name, clone_base(name));
		if (new.name != UINT32_MAX)
			id = u64map_row(&x->func_tab, &x->funcs,
					(uint64_t)new.image << 32 | new.name, &new);
		if (id == UINT32_MAX)
			return -ERR_NOMEM;
		x->funcs.v[id].cost[in->side] += x->cost[recording][i].cost;
	}
	return 0;
}

static int sum_images(struct pairing *x)
{
	const struct compare_match *m = x->m;

	for (size_t i = 0; i < x->funcs.n; i++) {
		const struct named *f = &x->funcs.v[i];
		struct image_cost new = { .image = f->image };
		uint32_t id = u64map_row(&x->image_tab, &x->images, f->image, &new);

		if (id == U64MAP_NONE)
			return -ERR_NOMEM;
		for (int s = 0; s < COMPARE_SIDES; s++)
			x->images.v[id].cost[s] += f->cost[s];
	}
	for (size_t r = 0; r < m->n; r++)
		for (size_t i = 0; i < m->in[r].p->images.n; i++) {
			uint32_t id = u64map_get(&x->image_tab,
						 m->image_of[r][i]);

			if (id != U64MAP_NONE &&
			    prof_is_kernel(&m->in[r].p->images.v[i]))
				x->images.v[id].kernel = true;
		}
	return 0;
}

/* Returns the share of an image's cost on its side that is in functions that
 * the other image has, too. */
static double shared(const struct pairing *x, uint32_t image, uint32_t other,
		     int side)
{
	double all = 0, both = 0;

	for (size_t i = 0; i < x->funcs.n; i++) {
		const struct named *f = &x->funcs.v[i];

		if (f->image != image || !f->name)
			continue;
		all += f->cost[side];
		if (u64map_get(&x->func_tab, (uint64_t)other << 32 | f->name) !=
		    U64MAP_NONE)
			both += f->cost[side];
	}
	return all > 0 ? both / all : 0;
}

/* Returns whether both images are the program that their side's recordings
 * started. */
static bool are_programs(const struct compare_match *m, uint32_t old,
			 uint32_t now)
{
	for (size_t r = 0; r < m->n; r++) {
		uint32_t image = m->in[r].side == COMPARE_OLD ? old : now;

		if (!path_is_program(m->in[r].p, strtab_get(m->str, image)))
			return false;
	}
	return true;
}

static bool are_same(const struct pairing *x, uint32_t old, uint32_t now)
{
	return are_programs(x->m, old, now) ||
	       (shared(x, old, now, COMPARE_OLD) >= 0.5 &&
		shared(x, now, old, COMPARE_NEW) >= 0.5);
}

static void rename_image(struct compare_match *m, uint32_t from, uint32_t to)
{
	for (size_t r = 0; r < m->n; r++)
		for (size_t i = 0; m->in[r].side == COMPARE_OLD &&
				   i < m->in[r].p->images.n; i++)
			if (m->image_of[r][i] == from)
				m->image_of[r][i] = to;
}

static bool only_on(const struct image_cost *im, int side)
{
	return !im->kernel && !im->taken && im->cost[side] > 0 &&
	       !(im->cost[!side] > 0);
}

static int by_cost(const void *x, const void *y)
{
	const struct image_cost *a = x, *b = y;
	double c = a->cost[0] + a->cost[1], d = b->cost[0] + b->cost[1];

	return descending(c, d) ?: ascending(a->image, b->image);
}

/* Pairs images, the most expensive first, because the number of attempts is
 * limited. */
static void image_pair(struct pairing *x)
{
	struct image_cost *im = x->images.v;
	size_t n = x->images.n, tries = 0;

	sort_rows(im, n, by_cost);
	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b < n && only_on(&im[a], COMPARE_OLD); b++) {
			if (!only_on(&im[b], COMPARE_NEW))
				continue;
			if (tries++ >= PAIRS_TRIED)
				return;
			if (!are_same(x, im[a].image, im[b].image))
				continue;
			rename_image(x->m, im[a].image, im[b].image);
			im[a].taken = im[b].taken = true;
		}
}

/* Fills image_of.  cost[recording][function]: of the profiles. */
static int match_images(struct compare_match *m, struct function_cost *const *cost)
{
	struct pairing x = { .m = m, .cost = cost };
	int rc = match_by_name(m);

	for (size_t r = 0; !rc && r < m->n; r++)
		rc = sum_named(&x, r);
	if (!rc)
		rc = sum_images(&x);
	if (!rc)
		image_pair(&x);
	vec_fini(&x.funcs);
	vec_fini(&x.images);
	u64map_fini(&x.func_tab);
	u64map_fini(&x.image_tab);
	return rc;
}

/* --- all steps */

int compare_match_init(struct compare_match *m, struct strtab *str,
		       const struct compare_input *in, size_t n, bool by_image,
		       bool inlined)
{
	struct arrays a = { 0 };
	struct function_cost **cost = arrays_new(&a, n, sizeof(*cost));
	int rc;

	*m = (struct compare_match){ .str = str, .n = n, .inlined = inlined };
	rc = !cost ? -ERR_NOMEM : make_tables(m, in) ?: sum_functions(m, &a, cost) ?:
	     match_images(m, cost) ?: match_funcs(m, by_image) ?: match_renamed(m, cost);
	arrays_fini(&a);
	return rc;
}

void compare_match_fini(struct compare_match *m)
{
	compare_code_free(m);
	compare_calls_free(m->calls);
	arrays_fini(&m->arrays);
	vec_fini(&m->funcs);
	u64map_fini(&m->unnamed);
	*m = (struct compare_match){ .n = 0 };
}

uint32_t compare_unnamed(struct compare_match *m, uint32_t image, bool kernel)
{
	struct compare_func new = { .image = image, .kernel = kernel,
				    .before = COMPARE_NONE };

	return u64map_row(&m->unnamed, &m->funcs, image, &new);
}

int compare_labels(const struct compare_match *m, const uint8_t *seen,
		   struct labels *out)
{
	struct label_func *v = calloc(m->nnamed + 1, sizeof(*v));
	/* images already have distinct names */
	int rc = v ? labels_images(out, NULL, 0, m->str->str.n + 1) : -ERR_NOMEM;
	size_t n = 0;

	for (uint32_t i = 0; !rc && i < m->nnamed; i++) {
		const struct compare_func *f = &m->funcs.v[i];

		if (!seen || seen[i])
			v[n++] = (struct label_func){
				.id = i + 1, .name = f->name,
				.image = f->image, .line = f->line,
				.file = strtab_get(m->str, f->file),
				.vaddr = f->vaddr, .kernel = f->kernel };
	}
	if (!rc)
		rc = labels_funcs(out, v, n, m->nnamed + 1, m->str->str.v);
	free(v);
	return rc;
}
