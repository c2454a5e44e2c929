// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes recordings that no machine would make on demand:
 *
 *	made_recording hostile OUT	names that try to break out of a page
 *	made_recording many OUT SAMPLES STACKS
 *					so many samples of so many unique stacks
 *	made_recording hosts FOLDER HOSTS SAMPLES STACKS
 *					a recording of each of so many machines
 *	made_recording labels FOLDER TASKS
 *					recordings of machines with different labels,
 *					with hostile ones, and of so many tasks of one
 *					process
 *	made_recording deep OUT DEPTH	two functions that call each other so deep
 *	made_recording ladder OUT DEPTH FUNCTIONS
 *					one stack of so many functions in turn, with a
 *					sample in each of its frames
 *
 * The same arguments give the same bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/thread_labels.h"
#include "../profile/open_writer.h"

enum {
	FUNCS = 12000,
	IMAGES = 12,
	THREADS = 16,
	LINES = 4,		/* places in a function */
	DEEPEST = 60,
};

struct made {
	struct profile p;
	struct writer *w;
	uint32_t seed;
	uint32_t locs[FUNCS * LINES];
};

static void die(const char *what, const struct error *err)
{
	fprintf(stderr, "made_recording: %s: %s\n", what, err ? err->msg : "");
	exit(1);
}

static uint32_t rnd(struct made *m, uint32_t n)
{
	m->seed = m->seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)m->seed * n >> 32);
}

static uint32_t str(struct made *m, const char *s)
{
	uint32_t id = profile_str(&m->p, s);

	if (id == PROF_NONE)
		die("string", NULL);
	return id;
}

static void begin(struct made *m, const char *path, const char *command)
{
	struct error err = { 0 };
	struct prof_run run = { .start_ns = 1000000000,
				.end_ns = 61000000000ull,
				.start_wall_ns = 1700000000000000000ull };
	struct prof_event e = { .freq = 1000, .type = 1, .unit = PROF_UNIT_NS };

	if (profile_init(&m->p) < 0)
		die("profile", NULL);
	run.command = str(m, command);
	e.name = str(m, "cycles");
	e.actual = str(m, "cpu-clock");
	e.note = str(m, "made by a program");
	if (vec_push(&m->p.runs, run) < 0 || vec_push(&m->p.events, e) < 0)
		die("memory", NULL);
	m->p.symbolized = true;
	if (open_writer(path, &m->p, &m->w, &err) < 0)
		die(path, &err);
}

static void finish(struct made *m)
{
	struct error err = { 0 };

	if (writer_finish(m->w, &err) < 0)
		die("write", &err);
	writer_close(m->w);
	profile_fini(&m->p);
}

static void add_image(struct made *m, const char *path)
{
	struct prof_image im = { .path = str(m, path), .kind = PROF_IMAGE_ELF };

	if (vec_push(&m->p.images, im) < 0)
		die("memory", NULL);
}

static void add_thread(struct made *m, const char *comm, uint32_t tid)
{
	struct prof_thread t = { .pid = 100, .tid = tid, .comm = str(m, comm) };

	if (vec_push(&m->p.threads, t) < 0)
		die("memory", NULL);
}

static uint32_t add_loc(struct made *m, uint32_t image, uint64_t vaddr,
			uint32_t frame)
{
	uint32_t loc = profile_loc(&m->p, image, vaddr);

	while (m->p.loc_frame.n <= loc)
		if (vec_push(&m->p.loc_frame, PROF_NONE) < 0)
			die("memory", NULL);
	m->p.loc_frame.v[loc] = frame;
	return loc;
}

static uint32_t add_frame(struct made *m, uint32_t image, const char *name,
			  const char *file, uint32_t line, uint32_t outer)
{
	struct prof_func f = { .image = image, .name = str(m, name),
			       .file = str(m, file) };
	struct prof_frame fr = { .file = f.file, .line = line,
				 .outer = outer };

	fr.func = profile_func(&m->p, &f);
	return profile_frame(&m->p, &fr);
}

static void sample(struct made *m, uint64_t time_ns, uint32_t thread,
		   uint32_t stack)
{
	struct prof_sample s = { .time_ns = time_ns, .thread = thread,
				 .stack = stack, .weight = 1000000 };
	struct error err = { 0 };

	if (writer_sample(m->w, &s, &err) < 0)
		die("write", &err);
}

static void many_images(struct made *m)
{
	char name[200];

	for (uint32_t i = 0; i < IMAGES; i++) {
		snprintf(name, sizeof(name), "/usr/lib/app/libpart%u.so.1", i);
		add_image(m, name);
	}
	memset(m->locs, 0xff, sizeof(m->locs));
}

/* Returns a place in a function.  Functions are as a C++ program has them, every
 * fifth place inlined into another. */
static uint32_t place(struct made *m, uint32_t i, uint32_t k)
{
	uint32_t image = i * 7 % IMAGES, line = 10 + i % 900 + k;
	uint32_t up = PROF_NONE, *loc = &m->locs[i * LINES + k];
	const char *file = "src/table.cpp";
	char name[200], outer[200];

	if (*loc != PROF_NONE)
		return *loc;
	snprintf(name, sizeof(name), "_ZN5store8Table_%02u10work_%05uE"
		 "RKSt6vectorIiSaIiEE", i % 97, i);
	snprintf(outer, sizeof(outer), "_ZN5store8Table_%02u10work_%05u"
		 "ERKSt6vectorIiSaIiEE", i * 31 % FUNCS % 97,
		 i * 31 % FUNCS);
	if ((i + k) % 5 == 0)
		up = add_frame(m, image, outer, file, line, PROF_NONE);
	return *loc = add_loc(m, image, 0x1000 + i * 0x100 + k * 0x10,
			      add_frame(m, image, name, file, line, up));
}

static void many_functions(struct made *m)
{
	many_images(m);
	for (uint32_t i = 0; i < FUNCS; i++)
		for (uint32_t k = 0; k < LINES; k++)
			place(m, i, k);
}

/* A new stack leaves an older one at some depth, as those of programs do. */
static uint32_t grow_stack(struct made *m, const uint32_t *stacks,
			   const uint8_t *depths, uint32_t n, uint8_t *depth)
{
	uint32_t from = n ? rnd(m, n) : 0, node = n ? stacks[from] : 0;
	uint32_t d = n ? depths[from] : 0, up = d ? rnd(m, d < 6 ? d : 6) : 0;
	uint32_t more = 1 + up + rnd(m, 3);

	for (; up; up--, d--)
		node = m->p.nodes.v[node].parent;
	if (d + more > DEEPEST)
		more = 1;
	for (; more; more--, d++) {
		uint32_t f = rnd(m, FUNCS);

		/* most calls go to few functions */
		f = (uint32_t)((uint64_t)f * f / FUNCS);
		node = profile_node(&m->p, node, place(m, f, rnd(m, LINES)));
	}
	*depth = (uint8_t)d;
	return node;
}

static void make_many(const char *path, uint32_t samples, uint32_t stacks)
{
	struct made *m = calloc(1, sizeof(*m));
	uint32_t *node = calloc(stacks, sizeof(*node));
	uint8_t *depth = calloc(stacks, 1);

	if (!m || !node || !depth)
		die("memory", NULL);
	m->seed = 1;
	begin(m, path, "app --many");
	many_functions(m);
	for (uint32_t i = 0; i < THREADS; i++)
		add_thread(m, i ? "worker" : "app", 100 + i);
	for (uint32_t i = 0; i < stacks; i++)
		node[i] = grow_stack(m, node, depth, i, &depth[i]);
	for (uint32_t i = 0; i < samples; i++) {
		uint64_t u = rnd(m, 1u << 20), k = u * u >> 20;

		/* each stack at least once; the first ones most */
		k = (k * k >> 20) * stacks >> 20;
		if (i % (samples / stacks) == 0 && i / (samples / stacks) <
						   stacks)
			k = i / (samples / stacks);
		sample(m, 1000000000 + (uint64_t)i * 60000000000ull / samples,
		       rnd(m, THREADS), node[k]);
	}
	finish(m);
	free(m);
	free(node);
	free(depth);
}

/* Recordings of a minute on machines that run the same programs: nine of ten
 * stacks occur on all of them. */
static void make_host(const char *folder, uint32_t host, uint32_t samples,
		      uint32_t stacks)
{
	struct made *m = calloc(1, sizeof(*m));
	uint32_t *node = calloc(stacks, sizeof(*node));
	uint8_t *depth = calloc(stacks, 1);
	char text[4096];

	if (!m || !node || !depth)
		die("memory", NULL);
	m->seed = 1;
	snprintf(text, sizeof(text), "%s/host%04u.tally", folder, host);
	begin(m, text, "");
	snprintf(text, sizeof(text), "host%04u", host);
	profile_set_env(&m->p, PROF_NONE, "hostname", text);
	profile_set_env(&m->p, PROF_NONE, "arch", "x86_64");
	profile_set_env(&m->p, PROF_NONE, "label.canary",
			host % 100 ? "no" : "yes");
	many_images(m);
	for (uint32_t i = 0; i < THREADS; i++) {
		add_thread(m, i ? "worker" : "app", host + 100 * i);
		m->p.threads.v[i].pid = host + 100 * i;
		m->p.threads.v[i].cgroup = str(m, i % 2
			? "/system.slice/app.service" : "/system.slice/db.service");
	}
	for (uint32_t i = 0; i < stacks; i++) {
		if (i == stacks - stacks / 10)
			m->seed = host + 1000;
		node[i] = grow_stack(m, node, depth, i, &depth[i]);
	}
	m->seed = host + 2000;
	for (uint32_t i = 0; i < samples; i++) {
		uint64_t u = rnd(m, 1u << 20), k = u * u >> 20;

		k = k * stacks >> 20;
		sample(m, 1000000000 + (uint64_t)i * 60000000000ull / samples,
		       (uint32_t)(k % THREADS),
		       node[k]);
	}
	finish(m);
	free(m);
	free(node);
	free(depth);
}

static void make_hosts(const char *folder, uint32_t hosts, uint32_t samples,
		       uint32_t stacks)
{
	for (uint32_t i = 0; i < hosts; i++)
		make_host(folder, i, samples, stacks);
}

/* Runs with no, some and hostile labels.  The threads of run 0 run tasks, so that one
 * thread has several labels. */
static void make_labelled(const char *folder, uint32_t run, uint32_t tasks)
{
	static const struct {
		const char *run, *name, *value;
	} labels[] = {
		{ "1", "team", "web" }, { "1", "canary", "yes" }, { "1", "revision", "r1" },
		{ "2", "team", "web" }, { "2", "canary", "no" }, { "2", "revision", "r2" },
		{ "3", "team", "db" }, { "3", "canary", "no" }, { "3", "revision", "r1" },
		{ "4", "<script>owned()</script>",
		  "\"><img src=x onerror=document.title='owned'>" },
		{ "4", "__proto__", "constructor" },
		{ "4", "team", "none" },	/* what others do not have */
		{ "5", "team", "a,b*?\xe2\x80\xae\x1b[31m" },
	};
	struct made *m = calloc(1, sizeof(*m));
	uint32_t node[40], threads;
	uint8_t depth[40];
	char text[4096], wide[1001];

	if (!m)
		die("memory", NULL);
	m->seed = run + 1;
	snprintf(text, sizeof(text), "%s/run%u.tally", folder, run);
	begin(m, text, "");
	/* between two units of stored times */
	m->p.runs.v[0].start_wall_ns += 220 * run;
	snprintf(text, sizeof(text), "host-%c", 'a' + run / 2);
	profile_set_env(&m->p, PROF_NONE, "hostname", text);
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (labels[i].run[0] == '0' + (int)run)
			profile_set_label(&m->p, PROF_NONE, labels[i].name,
					  labels[i].value);
	memset(wide, 'w', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = 0;
	if (run == 5)
		profile_set_label(&m->p, PROF_NONE, "wide", wide);
	many_images(m);
	threads = run ? 8 : tasks + 8;
	for (uint32_t i = 0; i < threads; i++) {
		/* eight threads, each with many tasks */
		add_thread(m, i % 8 ? "worker" : "app", 100 + i % 8);
		m->p.threads.v[i].cgroup = str(m, i % 2
			? "/system.slice/app.service" : "/system.slice/db.service");
		snprintf(text, sizeof(text), "task-%u", i);
		if (i >= 8)
			m->p.threads.v[i].task = str(m, text);
	}
	for (uint32_t i = 0; i < 40; i++)
		node[i] = grow_stack(m, node, depth, i, &depth[i]);
	for (uint32_t i = 0; i < 1000 + 2 * threads; i++) {
		/* each task at least once, the first ones most */
		uint64_t u = rnd(m, 1u << 16), t = u * u >> 16;
		uint32_t thread = i < threads ? i : (uint32_t)(t * threads >> 16);

		sample(m, 1000000000 + i * 1000000ull, thread,
		       node[rnd(m, 40) * (thread % 3 + 1) / 3]);
	}
	finish(m);
	free(m);
}

/* Three fifths of the samples are in a leaf below the recursion, one on the way
 * down, one beside it. */
static void make_deep(const char *path, uint32_t depth)
{
	static const char *const names[] = { "main", "even", "odd", "leaf",
					     "beside" };
	struct made *m = calloc(1, sizeof(*m));
	uint32_t *way = calloc(depth + 1, sizeof(*way)), node, leaf, beside;

	if (!m || !way)
		die("memory", NULL);
	m->seed = 1;
	begin(m, path, "app --deep");
	add_image(m, "/usr/bin/deep");
	add_thread(m, "deep", 100);
	for (uint32_t i = 0; i < 5; i++)
		m->locs[i] = add_loc(m, 0, 0x1000 + i * 0x100,
				     add_frame(m, 0, names[i], "deep.c",
					       10 * (i + 1), PROF_NONE));
	node = profile_node(&m->p, 0, m->locs[0]);
	beside = profile_node(&m->p, node, m->locs[4]);
	for (uint32_t i = 0; i < depth; i++)
		way[i] = node = profile_node(&m->p, node, m->locs[1 + i % 2]);
	leaf = profile_node(&m->p, node, m->locs[3]);
	for (uint32_t i = 0; i < 10000; i++)
		sample(m, 1000000000 + i * 5000000ull, 0,
		       i % 5 < 3 ? leaf : i % 5 == 3 ? beside
						     : way[depth / 20 * (i / 5 % 20)]);
	finish(m);
	free(way);
	free(m);
}

static void make_ladder(const char *path, uint32_t depth, uint32_t funcs)
{
	struct made *m = calloc(1, sizeof(*m));
	uint32_t *locs = malloc(funcs * sizeof(*locs)), node = 0;
	char name[30];

	if (!m || !locs)
		die("memory", NULL);
	begin(m, path, "ladder");
	add_image(m, "/usr/bin/ladder");
	add_thread(m, "ladder", 100);
	for (uint32_t i = 0; i < funcs; i++) {
		snprintf(name, sizeof(name), "rung_%u", i);
		locs[i] = add_loc(m, 0, 0x1000 + i * 0x100ull,
				  add_frame(m, 0, name, "ladder.c", 10 * (i + 1),
					    PROF_NONE));
	}
	for (uint32_t i = 0; i < depth; i++) {
		node = profile_node(&m->p, node, locs[i % funcs]);
		sample(m, 1000000000 + i * 1000ull, 0, node);
	}
	finish(m);
	free(locs);
	free(m);
}

static void make_hostile(const char *path)
{
	static const char *const names[] = {
		"<script>document.title='owned'</script>",
		"</script><script>document.title='owned'</script>",
		"</style></title><img src=x onerror=document.title='owned'>",
		"--><svg onload=document.title='owned'>",
		"\" onmouseover=\"document.title='owned'",
		"' onfocus='document.title=1' autofocus='",
		"]]><script>document.title='owned'</script>",
		"&lt;b&gt;&amp;&#60;",
		"javascript:document.title='owned'",
		"evil\xe2\x80\xaegnp.exe\xe2\x80\xac",
		"zero\xe2\x80\x8bwidth\xef\xbb\xbf",
		"\x1b]0;owned\x07\x1b[31mred\x1b[0m",
		"tab\tnewline\nreturn\rbell\x07",
		"bad utf-8 \xff\xfe\xc0\xaf end",
		"@@D @@J @@P @@T @@S",
		"${document.title='owned'}`",
		"__proto__", "constructor", "hasOwnProperty",
		"=cmd|'/c calc'!A0",
	};
	enum { N = sizeof(names) / sizeof(names[0]), LONG = 28000 };
	struct made *m = calloc(1, sizeof(*m));
	char *big = malloc(LONG + 1);
	uint32_t node = 0;

	if (!m || !big)
		die("memory", NULL);
	begin(m, path, "</title><script>document.title='owned'</script>");
	add_image(m, "/tmp/</script><b>\"img\"'&\xe2\x80\xae");
	add_image(m, "[kernel]");
	add_thread(m, "</script>'\"&", 100);
	add_thread(m, "\x1b[2J\xe2\x80\xae", 101);
	memset(big, 'x', LONG);
	memcpy(big, "void f<", 7);
	big[LONG] = 0;
	for (uint32_t i = 0; i <= N; i++) {
		const char *name = i < N ? names[i] : big;
		uint32_t up = PROF_NONE, fr;

		if (i % 3 == 1)
			up = add_frame(m, 0, names[i - 1], name, 1, PROF_NONE);
		fr = add_frame(m, 0, name, "</script>/\"a'.c", i, up);
		node = profile_node(&m->p, i % 7 ? node : 0,
				    add_loc(m, i % 5 == 4, 0x1000 + i * 16,
					    fr));
		for (uint32_t k = 0; k < 10 + i; k++)
			sample(m, 1000000000 + (k * 97ull + i) * 10000000, i % 2,
			       node);
	}
	finish(m);
	free(big);
	free(m);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "hostile")) {
		make_hostile(argv[2]);
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "deep") && atoi(argv[3]) > 0) {
		make_deep(argv[2], (uint32_t)atoi(argv[3]));
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "labels") && atoi(argv[3]) > 0) {
		for (uint32_t i = 0; i < 6; i++)
			make_labelled(argv[2], i, (uint32_t)atoi(argv[3]));
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "ladder") && atoi(argv[3]) > 0 &&
	    atoi(argv[4]) > 0) {
		make_ladder(argv[2], (uint32_t)atoi(argv[3]),
			    (uint32_t)atoi(argv[4]));
		return 0;
	}
	if (argc == 6 && !strcmp(argv[1], "hosts") && atoi(argv[3]) > 0 &&
	    atoi(argv[4]) > 0 && atoi(argv[5]) > 0) {
		make_hosts(argv[2], (uint32_t)atoi(argv[3]),
			   (uint32_t)atoi(argv[4]), (uint32_t)atoi(argv[5]));
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "many") && atoi(argv[3]) > 0 &&
	    atoi(argv[4]) > 0 && atoi(argv[3]) >= atoi(argv[4])) {
		make_many(argv[2], (uint32_t)atoi(argv[3]),
			  (uint32_t)atoi(argv[4]));
		return 0;
	}
	fprintf(stderr, "usage: made_recording hostile OUT\n"
			"       made_recording many OUT SAMPLES STACKS\n"
			"       made_recording hosts FOLDER HOSTS SAMPLES STACKS\n"
			"       made_recording labels FOLDER TASKS\n"
			"       made_recording deep OUT DEPTH\n"
			"       made_recording ladder OUT DEPTH FUNCTIONS\n");
	return 2;
}
