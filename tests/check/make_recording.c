// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a recording from a description on standard input (a function's code is
 * 4 KB, of which each line takes 4 bytes):
 *
 *	make_recording [OUT] <DESCRIPTION
 *
 *	file OUT		begin another recording
 *	env KEY VALUE
 *	event NAME FREQ PERIOD ns|count
 *	run START_NS STATUS [BYTES_WRITTEN]
 *	hit COUNT IMAGE FUNCTION FILE LINE [CALLER...]	samples of the last run
 *	lost COUNT
 *	cut			leave out the end
 *
 * IMAGE [kernel] is the kernel's.  Callers are functions of the same image, the
 * nearest first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../profile/open_writer.h"

enum { WORDS = 16 };

struct maker {
	struct profile p;
	struct writer *w;
	uint64_t time, period;
	bool cut;
};

static void fail(const char *what)
{
	fprintf(stderr, "make_recording: %s\n", what);
	exit(1);
}

static void must(int rc)
{
	if (rc < 0)
		fail("out of memory");
}

static uint32_t str(struct maker *m, const char *s)
{
	uint32_t id = profile_str(&m->p, s);

	if (id == PROF_NONE)
		fail("out of memory");
	return id;
}

static uint32_t image(struct maker *m, const char *path)
{
	struct prof_image im = { .path = str(m, path) };

	for (uint32_t i = 0; i < m->p.images.n; i++)
		if (m->p.images.v[i].path == im.path)
			return i;
	if (!strcmp(path, "[kernel]"))
		im.kind = PROF_IMAGE_KERNEL;
	must(vec_push(&m->p.images, im));
	return (uint32_t)m->p.images.n - 1;
}

static void add_symbol(struct maker *m, const struct prof_symbol *s)
{
	for (size_t i = 0; i < m->p.symbols.n; i++)
		if (m->p.symbols.v[i].vaddr == s->vaddr &&
		    m->p.symbols.v[i].image == s->image)
			return;
	must(vec_push(&m->p.symbols, *s));
}

static uint32_t location(struct maker *m, uint32_t im, const char *name,
			 const char *file, uint32_t line)
{
	struct prof_func fn = { .image = im, .name = str(m, name),
				.file = str(m, file), .line = 1 };
	struct prof_frame fr = { .file = fn.file, .line = line,
				 .outer = PROF_NONE };
	uint32_t loc, frame = PROF_NONE;
	struct prof_symbol sym;

	if (strcmp(name, "-")) {
		fr.func = profile_func(&m->p, &fn);
		frame = profile_frame(&m->p, &fr);
	}
	sym.image = im;
	sym.name = fn.name;
	sym.vaddr = 0x1000 * (1 + (uint64_t)fn.name);
	sym.size = 0x1000;
	loc = profile_loc(&m->p, im, sym.vaddr + 4 * (uint64_t)line % 0x1000);
	if (frame != PROF_NONE)
		add_symbol(m, &sym);
	while (m->p.loc_frame.n <= loc)
		must(vec_push(&m->p.loc_frame, PROF_NONE));
	m->p.loc_frame.v[loc] = frame;
	return loc;
}

static void hit(struct maker *m, char **w, int n)
{
	uint32_t im = image(m, w[2]), stack = 0;
	struct error err;
	unsigned long count = strtoul(w[1], NULL, 10);

	/* callers are declared in files of their own */
	for (int i = n - 1; i >= 6; i--) {
		char file[256];

		snprintf(file, sizeof(file), "/src/%s.c", w[i]);
		stack = profile_node(&m->p, stack,
				     location(m, im, w[i], file, 1));
	}
	stack = profile_node(&m->p, stack,
			     location(m, im, w[3], w[4],
				      (uint32_t)strtoul(w[5], NULL, 10)));
	for (unsigned long i = 0; i < count; i++) {
		struct prof_sample s = {
			.time_ns = m->time += 1000,
			.thread = (uint32_t)m->p.threads.n - 1,
			.stack = stack, .weight = m->period,
		};

		if (writer_sample(m->w, &s, &err) < 0)
			fail(err.msg);
	}
}

static void start_run(struct maker *m, char **w, int n)
{
	struct prof_run r = { .command = str(m, "./app"), .start_ns = m->time,
			      .end_ns = m->time + 1000000000,
			      .start_wall_ns = strtoull(w[1], NULL, 10),
			      .exit_status = atoi(w[2]) };
	struct prof_thread t = { .run = (uint32_t)m->p.runs.n, .pid = 100,
				 .tid = 100, .comm = str(m, "app") };

	if (n == 4)
		must(profile_set_env(&m->p, (uint32_t)m->p.runs.n, "written",
				     w[3]));
	must(vec_push(&m->p.runs, r));
	must(vec_push(&m->p.threads, t));
}

static void begin(struct maker *m, const char *path)
{
	struct error err;

	*m = (struct maker){ .time = 1000 };
	must(profile_init(&m->p));
	if (open_writer(path, &m->p, &m->w, &err) < 0)
		fail(err.msg);
	m->p.symbolized = true;
}

static void end(struct maker *m)
{
	struct error err;

	if (m->cut ? writer_flush(m->w, &err) < 0 : writer_finish(m->w, &err) < 0)
		fail(err.msg);
	writer_close(m->w);
	profile_fini(&m->p);
	m->w = NULL;
}

static void line(struct maker *m, char **w, int n)
{
	if (!strcmp(w[0], "file") && n == 2) {
		if (m->w)
			end(m);
		begin(m, w[1]);
	} else if (!m->w) {
		fail("want a file to write");
	} else if (!strcmp(w[0], "env") && n == 3) {
		must(profile_set_env(&m->p, PROF_NONE, w[1], w[2]));
	} else if (!strcmp(w[0], "event") && n == 5) {
		struct prof_event e = {
			.name = str(m, w[1]), .actual = str(m, w[1]),
			.type = 1, .freq = strtoull(w[2], NULL, 10),
			.unit = strcmp(w[4], "ns") ? PROF_UNIT_COUNT
						   : PROF_UNIT_NS,
		};

		m->period = strtoull(w[3], NULL, 10);
		must(vec_push(&m->p.events, e));
	} else if (!strcmp(w[0], "run") && (n == 3 || n == 4)) {
		start_run(m, w, n);
	} else if (!strcmp(w[0], "hit") && n >= 6) {
		hit(m, w, n);
	} else if (!strcmp(w[0], "lost") && n == 2) {
		struct prof_loss l = { .count = strtoull(w[1], NULL, 10) };

		must(vec_push(&m->p.losses, l));
	} else if (!strcmp(w[0], "cut")) {
		m->cut = true;
	} else {
		fail(w[0]);
	}
}

int main(int argc, char **argv)
{
	struct maker m = { .w = NULL };
	char text[4096], *w[WORDS], *save;

	if (argc == 2)
		begin(&m, argv[1]);
	while (fgets(text, sizeof(text), stdin)) {
		int n = 0;

		for (char *s = strtok_r(text, " \n", &save); s && n < WORDS;
		     s = strtok_r(NULL, " \n", &save))
			w[n++] = s;
		if (n)
			line(&m, w, n);
	}
	if (!m.w)
		fail("want a file to write");
	end(&m);
	return 0;
}
