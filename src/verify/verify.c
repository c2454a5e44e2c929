// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares tally's answers with libdw's: see verify.h. */
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/search.h"
#include "base/text.h"
#include "symbolize/demangle/demangle.h"
#include "symbolize/symbolize.h"

/* The result of a comparison.  Results from VERIFY_NAME on are not explained. */
enum finding {
	VERIFY_SAME,
	VERIFY_UNKNOWN,		/* neither has an answer */
	VERIFY_SPELLING,
	VERIFY_STUB,
	VERIFY_NO_DWARF,
	VERIFY_SCOPE,
	VERIFY_FOLDED,
	VERIFY_NO_SPLIT,
	VERIFY_UNREADABLE,
	VERIFY_GO,
	VERIFY_START,
	VERIFY_NAME,
	VERIFY_CHAIN,
	VERIFY_FILE,
	VERIFY_LINE,
	VERIFY_ONLY_TALLY,
	VERIFY_ONLY_LIBDW,
};

static const char *const finding_text[] = {
	[VERIFY_SPELLING] = "explained: one path, written relative to the "
			    "compilation directory or not",
	[VERIFY_STUB] = "explained: libdw names no stubs of the linker",
	[VERIFY_NO_DWARF] = "explained: recorded without the DWARF that is here "
			    "now; `tally symbolize` takes it in",
	[VERIFY_SCOPE] = "explained: no linkage name in DWARF; tally adds the "
			 "scopes to the name",
	[VERIFY_FOLDED] = "explained: the linker folded identical code; more than "
			  "one line is right",
	[VERIFY_NO_SPLIT] = "explained: libdw has not found the split unit that "
			    "tally reads",
	[VERIFY_UNREADABLE] = "explained: this libdw finds no DWARF in the file",
	[VERIFY_GO] = "explained: libdw does not read Go's own table "
		      "(.gopclntab)",
	[VERIFY_START] = "explained: no symbol names it; tally knows by its code "
			 "that it starts threads or programs",
	[VERIFY_NAME] = "another name",
	[VERIFY_CHAIN] = "another inline chain",
	[VERIFY_FILE] = "another file",
	[VERIFY_LINE] = "another line",
	[VERIFY_ONLY_TALLY] = "only tally knows it",
	[VERIFY_ONLY_LIBDW] = "only libdw knows it",
};

/* The state of comparing one image. */
struct comparison {
	const struct opinion_request *q;
	const struct opinion *o;
	const struct verify_cases *c;
	bool no_dwarf;		/* tally answered without DWARF */
	bool go;		/* tally answered by .gopclntab */
};

void verify_cases_fini(struct verify_cases *c)
{
	vec_fini(&c->v);
	vec_fini(&c->frames);
}

static const char *str(const struct comparison *x, uint32_t id)
{
	return strtab_get(&x->o->str, id);
}

/* Returns whether the longer path ends with the shorter one. */
static bool is_tail(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	const char *longer = na > nb ? a : b, *shorter = na > nb ? b : a;
	size_t skip = strlen(longer) - strlen(shorter);

	return *shorter && *shorter != '/' && !strcmp(longer + skip, shorter) &&
	       (!skip || longer[skip - 1] == '/');
}

/* libdw leaves some files relative to the compilation directory. */
static enum finding compare_files(const char *ours, const char *dir,
				  const char *theirs)
{
	struct buf x = { 0 }, y = { 0 }, z = { 0 }, joined = { 0 };
	enum finding f;

	if (!strcmp(ours, theirs))
		return VERIFY_SAME;
	buf_printf(&joined, "%s/%s", dir, theirs);
	path_normal(ours, &x);
	path_normal(theirs, &y);
	path_normal(buf_cstr(&joined), &z);
	f = !strcmp(buf_cstr(&x), buf_cstr(&y)) ||
	    (*theirs != '/' && !strcmp(buf_cstr(&x), buf_cstr(&z)))
		    ? VERIFY_SAME
	    : is_tail(buf_cstr(&x), buf_cstr(&y)) ? VERIFY_SPELLING
						  : VERIFY_FILE;
	buf_fini(&joined);
	buf_fini(&x);
	buf_fini(&y);
	buf_fini(&z);
	return f;
}

static enum finding compare_places(const struct comparison *x,
				   const struct verify_frame *ours,
				   const struct opinion_place *theirs)
{
	/* Line 0: the compiler assigned the code to no line. */
	if (ours->line != theirs->line)
		return VERIFY_LINE;
	return !ours->line ? VERIFY_SAME
			   : compare_files(ours->file, str(x, theirs->dir),
					   str(x, theirs->file));
}

/* Returns whether an ELF symbol of the code at an address has this name, ignoring
 * versions (`@@V`) and suffixes of clones (`.isra.0`). */
static bool is_symbol(const struct comparison *x, size_t at, const char *name)
{
	const struct opinion_part *s = &x->o->answers.v[at].symbols;
	size_t n = strcspn(name, "@");

	for (uint32_t i = 0; i < s->n; i++) {
		const char *theirs = str(x, x->o->symbols.v[s->first + i]);

		if (n && !strncmp(name, theirs, n) &&
		    (!theirs[n] || theirs[n] == '@' || theirs[n] == '.'))
			return true;
	}
	return false;
}

/* Returns whether a name is that of a DIE without a linkage name, preceded by its
 * scopes and possibly followed by arguments. */
static bool is_scoped(const char *name, const char *plain)
{
	struct buf readable = { 0 };
	const char *all, *at;
	bool found = false;
	size_t n;

	/* Template arguments may be spelled differently. */
	n = cxx_name_stem(plain);
	demangle(name, &readable);
	all = buf_cstr(&readable);
	for (at = all; n && *at && !found; at++)
		found = !strncmp(at, plain, n) &&
			(at == all || at[-1] == ':') &&
			(!at[n] || strchr("(<[ ", at[n]));
	buf_fini(&readable);
	return found;
}

/* An outermost function may have the name of any ELF symbol of its code: aliases,
 * clones. */
static enum finding compare_names(const struct comparison *x, size_t at,
				  const char *ours,
				  const struct opinion_frame *theirs)
{
	if (!strcmp(ours, str(x, theirs->linkage)) ||
	    !strcmp(ours, str(x, theirs->name)))
		return VERIFY_SAME;
	if (!theirs->inlined && is_symbol(x, at, ours))
		return VERIFY_SAME;
	if (!theirs->linkage && is_scoped(ours, str(x, theirs->name)))
		return VERIFY_SCOPE;
	return VERIFY_NAME;
}

static enum finding worse(enum finding a, enum finding b)
{
	return a > b ? a : b;
}

static enum finding compare_chain(const struct comparison *x, size_t at,
				  const struct opinion_part *chain)
{
	const struct verify_case *v = &x->c->v.v[at];
	const struct verify_frame *ours;
	const struct opinion_frame *theirs;
	enum finding f = VERIFY_SAME;

	if (v->n != chain->n || !v->n)
		return VERIFY_CHAIN;
	ours = &x->c->frames.v[v->first];
	theirs = &x->o->frames.v[chain->first];
	for (uint32_t i = 0; i < v->n; i++) {
		f = worse(f, compare_names(x, at, ours[i].name, &theirs[i]));
		if (i)
			f = worse(f, compare_places(x, &ours[i],
						    &theirs[i - 1].call));
	}
	return f;
}

/* Compares a function that no DWARF describes by its ELF symbols. */
static enum finding compare_symbol(const struct comparison *x, size_t at)
{
	const struct verify_case *v = &x->c->v.v[at];
	const char *name = v->n ? x->c->frames.v[v->first].name : "";
	size_t n = strlen(name);

	if (v->n > 1)
		return VERIFY_ONLY_TALLY;
	if (*name && is_symbol(x, at, name))
		return VERIFY_SAME;
	if ((n > 4 && !strcmp(name + n - 4, "@plt")) || !strncmp(name, ".plt", 4))
		return VERIFY_STUB;
	if (x->o->answers.v[at].symbols.n)
		return *name ? VERIFY_NAME : VERIFY_ONLY_LIBDW;
	return *name ? VERIFY_ONLY_TALLY : VERIFY_UNKNOWN;
}

static enum finding compare_lines(const struct comparison *x, size_t at)
{
	const struct verify_case *v = &x->c->v.v[at];
	const struct verify_frame none = { "", "", 0 };
	const struct verify_frame *in = v->n ? x->c->frames.v + v->first : &none;
	const struct opinion_part *places = &x->o->answers.v[at].places;
	enum finding best = in->line ? VERIFY_ONLY_TALLY : VERIFY_SAME;

	for (uint32_t i = 0; i < places->n; i++) {
		const struct opinion_place *p =
			&x->o->places.v[places->first + i];
		enum finding f = compare_places(x, in, p);

		if (!i || f < best)
			best = f;
	}
	if (best == VERIFY_LINE && !in->line)
		best = VERIFY_ONLY_LIBDW;
	return best;
}

/* Returns whether the outermost function agrees with the ELF symbols, whatever
 * DWARF says. */
static bool symbol_agrees(const struct comparison *x, size_t at)
{
	const struct verify_case *v = &x->c->v.v[at];

	return v->n && is_symbol(x, at, x->c->frames.v[v->first + v->n - 1].name);
}

/* Handles an address for which only tally has names and lines. */
static enum finding only_ours(const struct comparison *x, size_t at,
			      enum finding f)
{
	const struct opinion_answer *a = &x->o->answers.v[at];
	const struct verify_case *v = &x->c->v.v[at];

	if (a->chains.n || a->places.n || !v->n)
		return f;
	if (x->go && (!a->symbols.n || symbol_agrees(x, at)))
		return VERIFY_GO;
	if (!a->symbols.n && v->n == 1 &&
	    symbolize_names_start(x->c->frames.v[v->first].name))
		return VERIFY_START;
	return f;
}

/* Finds a known reason for a difference, in libdw's data or in tally's. */
static enum finding explain(const struct comparison *x, size_t at,
			    enum finding f)
{
	const struct opinion_answer *a = &x->o->answers.v[at];

	if (f < VERIFY_NAME)
		return f;
	if (x->no_dwarf && (a->chains.n || a->places.n) &&
	    (!x->c->v.v[at].n || symbol_agrees(x, at)))
		return VERIFY_NO_DWARF;
	if (!x->o->dwarf && symbol_agrees(x, at))
		return VERIFY_UNREADABLE;
	if ((a->flags & OPINION_NO_SPLIT) && symbol_agrees(x, at))
		return VERIFY_NO_SPLIT;
	if ((a->flags & OPINION_FOLDED) && (f == VERIFY_LINE || f == VERIFY_FILE))
		return VERIFY_FOLDED;
	return only_ours(x, at, f);
}

/* Several chains are functions that share code.  An answer that equals any of them
 * is right. */
static enum finding compare(const struct comparison *x, size_t at)
{
	const struct opinion_part *chains = &x->o->answers.v[at].chains;
	enum finding f = chains->n ? VERIFY_ONLY_LIBDW : compare_symbol(x, at);
	enum finding line = compare_lines(x, at);

	for (uint32_t i = 0; i < chains->n; i++) {
		enum finding g = compare_chain(
			x, at, &x->o->chains.v[chains->first + i]);

		if (!i || g < f)
			f = g;
	}
	if (f == VERIFY_UNKNOWN && line != VERIFY_SAME)
		f = line;
	return explain(x, at, worse(f, line));
}

static void put_frame(struct buf *out, size_t i, const char *name,
		      const char *file, uint32_t line)
{
	if (i)
		buf_str(out, " < ");
	text_safe(out, *name ? name : "??");
	buf_u8(out, ' ');
	text_safe(out, *file ? file : "??");
	buf_printf(out, ":%u", line);
}

static void put_theirs(const struct comparison *x, size_t at, struct buf *out)
{
	const struct opinion *o = x->o;
	const struct opinion_answer *a = &o->answers.v[at];
	uint32_t nchains = a->chains.n ? a->chains.n : 1;
	struct opinion_place place = { 0 };

	if (a->places.n)
		place = o->places.v[a->places.first];
	for (uint32_t c = 0; c < nchains; c++) {
		struct opinion_part part = { 0 };

		buf_str(out, "    libdw  ");
		if (a->chains.n)
			part = o->chains.v[a->chains.first + c];
		for (uint32_t i = 0; i < part.n; i++) {
			const struct opinion_frame *f =
				&o->frames.v[part.first + i];

			put_frame(out, i, str(x, f->linkage ? f->linkage
							    : f->name),
				  str(x, place.file), place.line);
			place = f->call;
		}
		if (!part.n)
			put_frame(out, 0, a->symbols.n
				  ? str(x, o->symbols.v[a->symbols.first]) : "",
				  str(x, place.file), place.line);
		buf_u8(out, '\n');
	}
}

static void put_difference(const struct comparison *x, size_t at,
			   enum finding f, struct buf *out)
{
	const struct verify_case *v = &x->c->v.v[at];

	text_safe(out, x->q->path);
	buf_printf(out, " %#llx: %s\n    tally  ",
		   (unsigned long long)v->vaddr, finding_text[f]);
	for (uint32_t i = 0; i < v->n; i++) {
		const struct verify_frame *fr = &x->c->frames.v[v->first + i];

		put_frame(out, i, fr->name, fr->file, fr->line);
	}
	if (!v->n)
		buf_str(out, "??");
	buf_u8(out, '\n');
	put_theirs(x, at, out);
}

static int by_vaddr(const void *a, const void *b)
{
	const struct verify_case *x = a, *y = b;

	return ascending(x->vaddr, y->vaddr) ?: ascending(x->first, y->first);
}

/* Sorts the cases, removes repeated addresses and lists them. */
static uint64_t *sort_cases(struct verify_cases *c)
{
	uint64_t *vaddrs = calloc(c->v.n + 1, sizeof(*vaddrs));
	size_t n = 0;

	if (!vaddrs)
		return NULL;
	vec_sort(&c->v, by_vaddr);
	for (size_t i = 0; i < c->v.n; i++)
		if (!n || c->v.v[i].vaddr != c->v.v[n - 1].vaddr)
			c->v.v[n++] = c->v.v[i];
	c->v.n = n;
	for (size_t i = 0; i < n; i++)
		vaddrs[i] = c->v.v[i].vaddr;
	return vaddrs;
}

static void skip(const char *path, const struct verify_cases *c,
		 const char *why, struct verify_counts *counts,
		 struct buf *out)
{
	counts->skipped += c->v.n;
	text_safe(out, path);
	buf_printf(out, ": %zu address%s not compared: ", c->v.n,
		   plural(c->v.n, "es"));
	text_safe(out, why);
	buf_u8(out, '\n');
}

static void count(struct comparison *x, struct verify_counts *counts,
		  struct buf *out)
{
	for (size_t i = 0; i < x->c->v.n; i++) {
		enum finding f = compare(x, i);

		counts->same += f <= VERIFY_UNKNOWN;
		counts->unknown += f == VERIFY_UNKNOWN;
		counts->explained += f > VERIFY_UNKNOWN && f < VERIFY_NAME;
		counts->different += f >= VERIFY_NAME;
		if (f > VERIFY_UNKNOWN)
			put_difference(x, i, f, out);
	}
}

static int ask_and_count(struct comparison *x, struct opinion_request *q,
			 const struct build_id *expected,
			 struct verify_cases *c, struct verify_counts *counts,
			 struct buf *out, struct error *err)
{
	struct opinion *o;
	int rc = opinion_ask(q, &o, err);

	if (rc == -ERR_UNSUPPORTED || rc == -ERR_NOMEM)
		return rc;
	if (rc < 0) {	/* libdw cannot read the file: report it */
		skip(q->path, c, err->msg, counts, out);
		return 0;
	}
	x->o = o;
	x->q = q;
	if (expected->len && !build_id_equal(expected, &o->build_id))
		skip(q->path, c, "another file is there now (build-id)",
		     counts, out);
	else
		count(x, counts, out);
	opinion_free(o);
	return 0;
}

static int compare_image(const struct opinion_request *q, struct comparison x,
			 const struct build_id *expected,
			 struct verify_cases *c, struct verify_counts *counts,
			 struct buf *out, struct error *err)
{
	struct opinion_request mine = *q;
	uint64_t *vaddrs = sort_cases(c);
	int rc;

	if (!vaddrs)
		return error_nomem(err);
	x.c = c;
	mine.vaddrs = vaddrs;
	mine.n = c->v.n;
	counts->asked += c->v.n;
	rc = ask_and_count(&x, &mine, expected, c, counts, out, err);
	free(vaddrs);
	if (rc >= 0 && out->failed)
		rc = error_nomem(err);
	return rc;
}

int verify_image(const struct opinion_request *q, bool go,
		 const struct build_id *expected, struct verify_cases *c,
		 struct verify_counts *counts, struct buf *out,
		 struct error *err)
{
	struct comparison x = { .go = go };

	return compare_image(q, x, expected, c, counts, out, err);
}

/* Adds the frames of an address of the recording as a case. */
static int add_case(const struct profile *p, uint64_t vaddr, uint32_t frame,
		    struct verify_cases *c)
{
	struct verify_case v = { vaddr, (uint32_t)c->frames.n, 0 };

	while (frame != PROF_NONE) {
		const struct prof_frame *f = &p->frames.v[frame];

		if (vec_push(&c->frames, (struct verify_frame){
				profile_cstr(p, p->funcs.v[f->func].name),
				profile_cstr(p, f->file), f->line }) < 0)
			return -ERR_NOMEM;
		v.n++;
		frame = f->outer;
	}
	return vec_push(&c->v, v);
}

static int gather(const struct profile *p, uint32_t image,
		  struct verify_cases *c, struct error *err)
{
	int rc = 0;

	c->v.n = c->frames.n = 0;
	for (size_t i = 0; i < p->locs.n && rc >= 0; i++)
		if (p->locs.v[i].image == image)
			rc = add_case(p, p->locs.v[i].vaddr,
				      profile_loc_frame(p, (uint32_t)i), c);
	for (size_t i = 0; i < p->lines.n && rc >= 0; i++)
		if (p->lines.v[i].image == image &&
		    p->lines.v[i].frame != PROF_NONE)
			rc = add_case(p, p->lines.v[i].vaddr,
				      p->lines.v[i].frame, c);
	return rc < 0 ? error_nomem(err) : 0;
}

/* Returns the reason why libdw cannot be asked about an image, or NULL. */
static const char *not_comparable(const struct prof_image *im)
{
	switch (im->kind) {
	case PROF_IMAGE_ELF:
		return im->flags & PROF_IMAGE_UNREADABLE
		       ? "the file could not be read when it was recorded"
		       : im->flags & PROF_IMAGE_DELETED
		       ? "the file was gone or replaced when it was recorded"
		       : NULL;
	case PROF_IMAGE_VDSO:
		return "it is in memory only";
	case PROF_IMAGE_KERNEL:
	case PROF_IMAGE_MODULE:
	case PROF_IMAGE_GENERATED:
		return "code of the kernel, named by /proc/kallsyms";
	default:
		return "no file holds this code";
	}
}

int verify_profile(const struct profile *p, const char *debug_dirs,
		   verify_progress *progress, void *ctx,
		   struct verify_counts *counts, struct buf *out,
		   struct error *err)
{
	struct verify_cases c = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < p->images.n && rc >= 0; i++) {
		const struct prof_image *im = &p->images.v[i];
		const struct image_debug_info *s = profile_source(p, i);
		struct opinion_request q = {
			.path = profile_cstr(p, im->path),
			.debug_file = profile_cstr(p, im->debug_file),
			.debug_dirs = debug_dirs,
		};
		const char *why = not_comparable(im);
		struct comparison x = {
			.no_dwarf = !s || !(s->names & PROF_NAMES_DWARF),
			.go = s && s->names & PROF_NAMES_GOPCLNTAB,
		};

		rc = gather(p, i, &c, err);
		if (rc < 0 || !c.v.n)
			continue;
		if (progress)
			progress(ctx, q.path, i, p->images.n);
		if (why) {
			counts->asked += c.v.n;
			skip(q.path, &c, why, counts, out);
			continue;
		}
		rc = compare_image(&q, x, &im->build_id, &c, counts, out, err);
	}
	verify_cases_fini(&c);
	return rc;
}

void verify_summary(const struct verify_counts *counts, struct buf *out)
{
	text_count(out, counts->asked);
	buf_str(out, " addresses: ");
	text_count(out, counts->same);
	buf_str(out, " the same by libdw");
	if (counts->unknown) {
		buf_str(out, " (");
		text_count(out, counts->unknown);
		buf_str(out, " known to neither)");
	}
	buf_str(out, ", ");
	text_count(out, counts->explained);
	buf_str(out, " explained, ");
	text_count(out, counts->different);
	buf_str(out, " different");
	if (counts->skipped) {
		buf_str(out, ", ");
		text_count(out, counts->skipped);
		buf_str(out, " not compared");
	}
	buf_u8(out, '\n');
}
