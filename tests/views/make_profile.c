// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles by hand: see make_profile.h. */
#include "make_profile.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"

static uint32_t str(struct maker *m, const char *s)
{
	uint32_t id = profile_str(&m->p, s);

	assert_int_not_equal(id, PROF_NONE);
	return id;
}

uint32_t maker_run(struct maker *m, uint64_t start_ns, uint64_t end_ns)
{
	struct prof_run r = { .command = str(m, "app --work"),
			      .start_ns = start_ns, .end_ns = end_ns,
			      .start_wall_ns = 1700000000000000000 };

	assert_int_equal(vec_push(&m->p.runs, r), 0);
	return (uint32_t)m->p.runs.n - 1;
}

uint32_t maker_image(struct maker *m, const char *path,
		     enum prof_image_kind kind)
{
	struct prof_image im = { .path = str(m, path), .kind = kind };

	assert_int_equal(vec_push(&m->p.images, im), 0);
	return (uint32_t)m->p.images.n - 1;
}

uint32_t maker_thread(struct maker *m, const char *comm, uint32_t pid,
		      uint32_t tid, uint32_t run)
{
	struct prof_thread t = { .run = run, .pid = pid, .tid = tid,
				 .comm = str(m, comm) };

	assert_int_equal(vec_push(&m->p.threads, t), 0);
	return (uint32_t)m->p.threads.n - 1;
}

void maker_init(struct maker *m, unsigned int events)
{
	*m = (struct maker){ .fd = -1, .next_vaddr = 0x1000 };
	assert_int_equal(profile_init(&m->p), 0);
	for (unsigned int i = 0; i < events; i++) {
		char name[16];
		struct prof_event e = { .freq = 999, .type = 1 };

		snprintf(name, sizeof(name), "event%u", i);
		e.name = e.actual = str(m, name);
		assert_int_equal(vec_push(&m->p.events, e), 0);
	}
	maker_run(m, 1000000000, 11000000000);
	m->app = maker_image(m, "/usr/bin/app", PROF_IMAGE_ELF);
	m->lib = maker_image(m, "/usr/lib/libx.so.1", PROF_IMAGE_ELF);
	m->kernel = maker_image(m, "[kernel]", PROF_IMAGE_KERNEL);
	m->thread = maker_thread(m, "app", 100, 100, 0);
	m->p.symbolized = true;
}

void maker_fini(struct maker *m)
{
	if (m->bytes)
		munmap((void *)m->bytes, m->n);
	if (m->fd >= 0)
		close(m->fd);
	vec_fini(&m->samples);
	profile_fini(&m->p);
}

uint32_t maker_func(struct maker *m, uint32_t image, const char *name,
		    const char *file, uint32_t line)
{
	struct prof_func f = { .image = image, .name = str(m, name),
			       .file = str(m, file), .line = line };

	return profile_func(&m->p, &f);
}

uint32_t maker_address(struct maker *m, uint32_t image, uint64_t vaddr)
{
	return profile_loc(&m->p, image, vaddr);
}

uint32_t maker_inlined(struct maker *m, size_t n, const uint32_t *funcs,
		       const uint32_t *lines)
{
	uint32_t outer = PROF_NONE, loc;

	for (size_t i = 0; i < n; i++) {
		struct prof_frame f = { .func = funcs[i],
					.file = m->p.funcs.v[funcs[i]].file,
					.line = lines[i], .outer = outer };

		outer = profile_frame(&m->p, &f);
		assert_int_not_equal(outer, PROF_NONE);
	}
	loc = profile_loc(&m->p, m->p.funcs.v[funcs[0]].image,
			  m->next_vaddr);
	m->next_vaddr += 0x10;
	while (m->p.loc_frame.n <= loc)
		assert_int_equal(vec_push(&m->p.loc_frame, PROF_NONE), 0);
	m->p.loc_frame.v[loc] = outer;
	return loc;
}

uint32_t maker_loc(struct maker *m, uint32_t func, uint32_t line)
{
	return maker_inlined(m, 1, &func, &line);
}

uint32_t maker_stack(struct maker *m, size_t n, const uint32_t *locs)
{
	uint32_t node = 0;

	for (size_t i = 0; i < n; i++)
		node = profile_node(&m->p, node, locs[i]);
	if (node == PROF_NONE)
		fail_msg("no memory for a stack");
	return node;
}

void maker_samples(struct maker *m, uint32_t stack, uint32_t event,
		   uint32_t thread, uint64_t weight, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		struct prof_sample s = {
			.time_ns = 1000000000 + m->samples.n * 1000000,
			.thread = thread, .cpu = m->samples.n % 2,
			.event = event, .stack = stack, .weight = weight,
		};

		assert_int_equal(vec_push(&m->samples, s), 0);
	}
}

struct reader *maker_read(struct maker *m)
{
	struct error err = { 0 };
	struct reader *r = NULL;
	struct writer *w;
	struct io_map map;

	m->fd = memfd_create("profile", MFD_CLOEXEC);
	assert_true(m->fd >= 0);
	assert_int_equal(writer_open_fd(m->fd, "profile", &m->p, &w, &err), 0);
	for (size_t i = 0; i < m->samples.n; i++)
		assert_int_equal(writer_sample(w, &m->samples.v[i], &err), 0);
	assert_int_equal(writer_finish(w, &err), 0);
	writer_close(w);
	assert_int_equal(io_map_fd(m->fd, "profile", &map, &err), 0);
	m->bytes = map.p;
	m->n = map.n;
	if (reader_open_bytes(m->bytes, m->n, "profile", &r, &err) < 0)
		fail_msg("%s", err.msg);
	return r;
}
