// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the functions of the program that wait. */
#include "views/wait_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/query/names.h"
#include "views/query/wait_kinds.h"

bool wait_place_is_library(const char *path)
{
	static const char *const names[] = {
		"libc.so", "libc-2", "ld-linux", "ld-musl", "libpthread",
		"libstdc++.so", "libc++.so", "libgcc_s.so", "librt.so",
		"libm.so", "[vdso]",
	};
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool is_system_key(struct wait_places *s, uint32_t fk)
{
	const struct frame_key *k = &s->rep->keys.keys.v[fk];

	if (!s->system[fk])
		s->system[fk] = wait_place_is_library(
				profile_cstr(s->rep->p, k->image)) ? 1 : -1;
	return s->system[fk] > 0;
}

bool wait_place_is_header(const struct profile *p, uint32_t frame)
{
	const char *file;

	if (frame >= p->frames.n)
		return false;
	file = profile_cstr(p, p->funcs.v[p->frames.v[frame].func].file);
	if (strstr(file, "-packages/"))
		return false;
	return !strncmp(file, "/usr/include/", 13) ||
	       !strncmp(file, "/usr/lib/", 9) ||
	       !strncmp(file, "<frozen ", 8) || strstr(file, "/lib/python3.");
}

bool wait_place_is_missing(const struct report *rep, struct wait_place at)
{
	const char *image = profile_cstr(rep->p, rep->keys.keys.v[at.func].image);

	return at.call == PROF_NONE &&
	       !strncmp(image, PROF_IMAGE_NO_STACK, strlen(PROF_IMAGE_NO_STACK));
}

/* Returns whether a location is code of a language that runs in the program. */
static bool is_runtime(const struct wait_places *s, uint32_t loc)
{
	const struct frame_keys *keys = &s->rep->keys;
	const char *image;

	if (prof_is_mark(loc) || keys->head[loc] == PROF_NONE ||
	    keys->steps[keys->head[loc]].fk == PROF_NONE)
		return false;
	image = profile_cstr(s->rep->p,
			     keys->keys.v[keys->steps[keys->head[loc]].fk].image);
	return !strcmp(image, PROF_IMAGE_PYTHON) ||
	       !strcmp(image, PROF_IMAGE_PHP) ||
	       !strcmp(image, PROF_IMAGE_RUBY) ||
	       !strcmp(image, PROF_IMAGE_JAVA) ||
	       !strcmp(image, PROF_IMAGE_JAVASCRIPT);
}

/* Returns whether a stack has such code.  The other frames then implement the
 * language. */
static bool has_runtime(const struct wait_places *s, uint32_t stack)
{
	const struct prof_node *nodes = s->rep->p->nodes.v;
	uint32_t node = stack;

	while (node && !is_runtime(s, nodes[node].loc))
		node = nodes[node].parent;
	return node;
}

/* Finds the place; if `fks` is set, also up to `*n` callers. */
static struct wait_place find_place(struct wait_places *s, uint32_t stack,
				    uint32_t *fks, int *n)
{
	int most = fks ? *n : 0, found = 0;
	const struct profile *p = s->rep->p;
	const struct frame_keys *keys = &s->rep->keys;
	struct wait_place at = { PROF_NONE, PROF_NONE };
	uint32_t innermost = keys->unknown;
	bool runtime = has_runtime(s, stack), any = false;

	for (uint32_t node = stack; node; node = p->nodes.v[node].parent) {
		uint32_t loc = p->nodes.v[node].loc, step;

		if (prof_is_mark(loc))
			break;
		if (runtime && !is_runtime(s, loc))
			continue;
		for (step = keys->head[loc]; step != PROF_NONE;
		     step = keys->steps[step].outer) {
			uint32_t fk = keys->steps[step].fk;

			if (fk == PROF_NONE)
				continue;
			if (!any)
				innermost = fk;
			any = true;
			if (keys->keys.v[fk].kernel)
				continue;
			if (at.func != PROF_NONE) {
				if (fk != (found ? fks[found - 1] : at.func))
					fks[found++] = fk;
				if (found < most)
					continue;
				*n = found;
				return at;
			}
			if (!is_system_key(s, fk) &&
			    !wait_place_is_header(p, step)) {
				at.func = fk;
				if (!most)
					return at;
			} else {
				at.call = fk;
			}
		}
	}
	if (fks)
		*n = found;
	if (at.func != PROF_NONE)
		return at;
	return (struct wait_place){ innermost, PROF_NONE };
}

struct wait_place wait_place(struct wait_places *s, uint32_t stack)
{
	struct wait_place *at = &s->known[stack];

	if (at->func == PROF_NONE)
		*at = find_place(s, stack, NULL, NULL);
	return *at;
}

int wait_place_callers(struct wait_places *s, uint32_t stack, uint32_t *fks, int n)
{
	find_place(s, stack, fks, &n);
	return n;
}

int wait_places_init(struct wait_places *s, const struct report *rep)
{
	*s = (struct wait_places){
		.rep = rep, .system = calloc(rep->keys.keys.n + 1, 1),
		.kinds = wait_kinds_of_nodes(rep->p),
		.known = malloc((rep->p->nodes.n + 1) * sizeof(*s->known)),
	};
	if (s->system && s->kinds && s->known) {
		memset(s->known, 0xff, rep->p->nodes.n * sizeof(*s->known));
		return 0;
	}
	wait_places_fini(s);
	return -ERR_NOMEM;
}

void wait_places_fini(struct wait_places *s)
{
	free(s->system);
	free(s->kinds);
	free(s->known);
	*s = (struct wait_places){ 0 };
}

static void put_name(const struct report *rep, uint32_t fk, bool full,
		     struct buf *out)
{
	struct buf name = { 0 };
	const struct frame_key *k = &rep->keys.keys.v[fk];

	name_symbol(rep->p, &rep->keys, k, full ? 0 : NAME_SHORT, &name);
	text_safe(out, buf_cstr(&name));
	buf_close(&name, out);
}

void wait_place_text(const struct report *rep, struct wait_place at, bool full,
		     struct buf *out)
{
	put_name(rep, at.func, full, out);
	if (at.call == PROF_NONE)
		return;
	buf_str(out, " in ");
	put_name(rep, at.call, full, out);
}
