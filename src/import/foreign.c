// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds recordings from profiles that contain symbols: see foreign.h. */
#include "import/foreign.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Memory of rows of the model, with the tables to find them: */
	NODE_BYTES = 32,
	THREAD_BYTES = 128,
	PLACE_BYTES = 96,	/* a location and its key */
	FUNC_BYTES = 160,	/* a function of a place, its frame and symbol */
	STRING_BYTES = 64,
};

int foreign_nomem(const char *name, struct error *err)
{
	return error_set(err, ERR_NOMEM, "%s: out of memory for an import",
			 name);
}

int foreign_charge(struct foreign *f, uint64_t bytes)
{
	f->full |= bytes > f->room;
	if (f->full)
		return -ERR_NOMEM;
	f->room -= bytes;
	return 0;
}

uint32_t foreign_event(struct foreign *f, const char *name, bool time,
		       uint64_t period)
{
	struct prof_event row = {
		.unit = time ? PROF_UNIT_NS : PROF_UNIT_COUNT,
		.period = period,
	};

	row.name = row.actual = profile_str(&f->p, name);
	row.note = profile_str(&f->p, "");
	if (row.name == PROF_NONE || row.note == PROF_NONE ||
	    vec_push(&f->p.events, row) < 0)
		return PROF_NONE;
	return (uint32_t)f->p.events.n - 1;
}

/* Returns the kind of code that a file name of perf represents. */
static uint8_t image_kind(const char *path)
{
	if (!*path || !strcmp(path, "[unknown]"))
		return PROF_IMAGE_UNKNOWN;
	if (!strncmp(path, "[kernel", 7) || strstr(path, "vmlinux"))
		return PROF_IMAGE_KERNEL;
	if (!strcmp(path, "[vdso]"))
		return PROF_IMAGE_VDSO;
	if (strstr(path, "anon") || strstr(path, "/perf-") ||
	    !strcmp(path, "[heap]") || !strcmp(path, "[stack]"))
		return PROF_IMAGE_ANON;
	return *path == '[' || strstr(path, ".ko") ? PROF_IMAGE_MODULE
						    : PROF_IMAGE_ELF;
}

uint32_t foreign_image(struct foreign *f, const char *path)
{
	struct prof_image row = { .kind = image_kind(path) };

	if (row.kind == PROF_IMAGE_KERNEL)
		path = "[kernel]";
	row.path = profile_str(&f->p, path);
	row.reason = row.debug_file = row.note = profile_str(&f->p, "");
	return row.path == PROF_NONE
		? PROF_NONE : u64map_row(&f->images, &f->p.images, row.path, &row);
}

static bool thread_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct prof_thread *a = &((const struct profile *)ctx)->threads.v[id];
	const struct prof_thread *b = key;

	return a->pid == b->pid && a->tid == b->tid && a->comm == b->comm;
}

uint32_t foreign_thread(struct foreign *f, uint32_t pid, uint32_t tid,
			const char *comm)
{
	struct prof_thread row = { .pid = pid, .tid = tid };
	size_t before = f->p.threads.n;
	uint32_t id;

	row.comm = profile_str(&f->p, comm);
	if (row.comm == PROF_NONE)
		return PROF_NONE;
	/* the same number with another name is a separate row */
	id = idtab_row(&f->threads, &f->p.threads,
		       hash_mix(hash_mix(row.comm, pid), tid), thread_eq, &f->p, &row);
	return f->p.threads.n > before &&
	       foreign_charge(f, THREAD_BYTES + strlen(comm)) < 0 ? PROF_NONE : id;
}

/* Returns the number of a text that only equal places have. */
static uint32_t place_key(struct foreign *f, uint32_t image, uint64_t address,
			  const struct foreign_func *funcs, size_t n)
{
	buf_again(&f->tmp);
	buf_printf(&f->tmp, "%x:%llx", image, (unsigned long long)address);
	for (size_t i = 0; i < n; i++)
		buf_printf(&f->tmp, "\n%s\t%s\t%x:%x:%x", funcs[i].name,
			   funcs[i].file ? funcs[i].file : "", funcs[i].line,
			   funcs[i].column, funcs[i].start);
	buf_cstr(&f->tmp);
	return f->tmp.failed ? UINT32_MAX
			     : strtab_add_n(&f->keys, (const char *)f->tmp.p,
					    f->tmp.n);
}

/* Adds a name, which becomes a string of the recording, too. */
static uint32_t add_name(struct foreign *f, const char *name)
{
	size_t before = f->names.str.n;
	uint32_t id = strtab_add(&f->names, name);

	return f->names.str.n > before &&
	       foreign_charge(f, 2 * (strlen(name) + STRING_BYTES)) < 0
		       ? UINT32_MAX : id;
}

static int keep_funcs(struct foreign *f, const struct foreign_func *funcs,
		      size_t n)
{
	struct foreign_place place = { (uint32_t)f->funcs.n, (uint32_t)n };

	if (foreign_charge(f, PLACE_BYTES + f->tmp.n + n * FUNC_BYTES) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		struct foreign_row row = {
			.name = add_name(f, funcs[i].name),
			.file = add_name(f, funcs[i].file ? funcs[i].file : ""),
			.line = funcs[i].line, .column = funcs[i].column,
			.start = funcs[i].start,
			.declared = funcs[i].declared,
		};

		if (row.name == UINT32_MAX || row.file == UINT32_MAX ||
		    vec_push(&f->funcs, row) < 0)
			return -ERR_NOMEM;
	}
	return vec_push(&f->places, place);
}

uint32_t foreign_place(struct foreign *f, uint32_t image, uint64_t address,
		       const struct foreign_func *funcs, size_t n)
{
	uint32_t key = place_key(f, image, address, funcs, n), loc = 0;
	size_t before = f->p.locs.n;

	if (key == UINT32_MAX)
		return PROF_NONE;
	if (key < f->loc_of.n)
		return f->loc_of.v[key];
	/* Invent an address if it is unknown or already has other functions. */
	if (address)
		loc = profile_loc(&f->p, image, address);
	while (loc != PROF_NONE && f->p.locs.n == before)
		loc = profile_loc(&f->p, image, ++f->made_up);
	if (loc == PROF_NONE || keep_funcs(f, funcs, n) < 0 ||
	    vec_push(&f->loc_of, loc) < 0)
		return PROF_NONE;
	return loc;
}

void foreign_command(struct foreign *f, const char *command)
{
	struct prof_run *run = &f->p.runs.v[0];
	uint32_t str = run->command == PROF_STR_EMPTY
			       ? profile_str(&f->p, command) : PROF_NONE;

	if (str != PROF_NONE)
		run->command = str;
}

uint32_t foreign_node(struct foreign *f, uint32_t up, uint32_t place)
{
	size_t before = f->p.nodes.n;
	uint32_t node = profile_node(&f->p, up, place);

	return f->p.nodes.n > before && foreign_charge(f, NODE_BYTES) < 0
		       ? PROF_NONE : node;
}

int foreign_sample(struct foreign *f, const struct prof_sample *s,
		   struct error *err)
{
	struct prof_run *run = &f->p.runs.v[0];
	int rc = writer_sample(f->w, s, err);

	if (!run->start_ns || s->time_ns < run->start_ns)
		run->start_ns = s->time_ns;
	if (s->time_ns >= run->end_ns)
		run->end_ns = s->time_ns + 1;
	f->result->samples += !rc;
	return rc;
}

int foreign_symbols(struct foreign *f)
{
	struct profile *p = &f->p;

	if (profile_begin_symbols(p) < 0)
		return -ERR_NOMEM;
	for (uint32_t loc = 0; loc < p->locs.n; loc++) {
		const struct foreign_place *place = &f->places.v[loc];
		uint32_t frame = PROF_NONE;

		for (size_t i = place->n; i--;) {
			const struct foreign_row *r =
				&f->funcs.v[place->at + i];
			struct prof_func func = {
				.image = p->locs.v[loc].image,
				.line = r->start,
			};
			struct prof_frame row = { .line = r->line,
						  .column = r->column,
						  .outer = frame };

			func.name = profile_str(p, strtab_get(&f->names,
							      r->name));
			row.file = profile_str(p, strtab_get(&f->names,
							     r->file));
			func.file = r->declared ? row.file : PROF_STR_EMPTY;
			if (func.name == PROF_NONE || row.file == PROF_NONE)
				return -ERR_NOMEM;
			row.func = profile_func(p, &func);
			frame = row.func == PROF_NONE
					? PROF_NONE : profile_frame(p, &row);
			if (frame == PROF_NONE)
				return -ERR_NOMEM;
		}
		if (vec_push(&p->loc_frame, frame) < 0)
			return -ERR_NOMEM;
	}
	p->symbolized = true;
	return 0;
}

int foreign_begin(struct foreign *f, const char *version, const char *source)
{
	struct prof_run run = { .exit_status = -1 };

	if (profile_init(&f->p) < 0 || strtab_init(&f->names) < 0 ||
	    strtab_init(&f->keys) < 0 ||
	    vec_push(&f->loc_of, PROF_NONE) < 0)
		return -ERR_NOMEM;
	run.command = profile_str(&f->p, "");
	if (run.command == PROF_NONE || vec_push(&f->p.runs, run) < 0)
		return -ERR_NOMEM;
	return profile_set_env(&f->p, PROF_NONE, "tally", version) < 0 ||
	       profile_set_env(&f->p, PROF_NONE, "source", source) < 0
		       ? -ERR_NOMEM : 0;
}

void foreign_end(struct foreign *f)
{
	if (f->w) {
		f->result->bytes = writer_bytes(f->w);
		writer_close(f->w);
	}
	profile_fini(&f->p);
	strtab_fini(&f->names);
	strtab_fini(&f->keys);
	vec_fini(&f->loc_of);
	vec_fini(&f->funcs);
	vec_fini(&f->places);
	idtab_fini(&f->threads);
	u64map_fini(&f->images);
	buf_fini(&f->tmp);
}
