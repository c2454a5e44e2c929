// SPDX-License-Identifier: GPL-2.0-or-later
/* Imports recordings of other profilers: see import.h. */
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "import/perf_records.h"
#include "profile/symbolize_profile.h"
#include "record/collect/collector.h"

/* Replaces /proc, because this machine's processes are not those of the recording. */
#define NO_PROC "/dev/null"
#define KERNEL "[kernel.kallsyms]"

struct import {
	const struct import_options *o;
	struct import_result *result;
	struct perf_file file;
	struct profile profile;
	struct collector collector;
	struct writer *writer;
	VEC(uint32_t) rows;	/* by event of the file; PROF_NONE: a dummy event */
	char *cache;		/* folder of perf's cache of programs */
	char *kallsyms;		/* the recorded kernel's symbols in that cache */
};

bool import_is_perf_data(const char *path)
{
	char *header = perf_file_header_path(path);
	int fd = header ? io_open_file(header, NULL) : -1;
	char magic[8];
	bool is = fd >= 0 && pread(fd, magic, 8, 0) == 8 &&
		  (!memcmp(magic, "PERFILE2", 8) ||
		   !memcmp(magic, "2ELIFREP", 8));

	free(header);
	if (fd >= 0)
		close(fd);
	return is;
}

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for an import");
}

/* Returns the name of an event if the file has none. */
static const char *event_name(const struct perf_event_attr *a)
{
	static const char *const hardware[] = {
		"cycles", "instructions", "cache-references", "cache-misses",
		"branches", "branch-misses", "bus-cycles",
		"stalled-cycles-frontend", "stalled-cycles-backend",
		"ref-cycles",
	}, *const software[] = {
		"cpu-clock", "task-clock", "page-faults", "context-switches",
		"cpu-migrations", "minor-faults", "major-faults",
		"alignment-faults", "emulation-faults", "dummy", "bpf-output",
		"cgroup-switches",
	};

	if (a->type == PERF_TYPE_HARDWARE &&
	    a->config < COUNT(hardware))
		return hardware[a->config];
	if (a->type == PERF_TYPE_SOFTWARE &&
	    a->config < COUNT(software))
		return software[a->config];
	return NULL;
}

/* Returns whether an event's name ends with modifiers that mean nothing for events of
 * the kernel, which have no precision: perf's own choice is "cpu-clock:pppH". */
static bool has_idle_modifiers(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && !colon[strspn(colon, ":pPH")];
}

static int add_event(struct import *x, const struct perf_file_event *e)
{
	const struct perf_event_attr *a = &e->attr;
	struct profile *p = &x->profile;
	bool software = a->type == PERF_TYPE_SOFTWARE;
	const char *name = e->name && *e->name ? e->name : event_name(a);
	struct prof_event row = {
		.unit = (software && a->config <= PERF_COUNT_SW_TASK_CLOCK) ||
			perf_records_off_cpu(e)
			? PROF_UNIT_NS : PROF_UNIT_COUNT,
		.precise = software ? 0 : a->precise_ip,
		.exclude_user = a->exclude_user,
		.exclude_kernel = a->exclude_kernel,
		.type = a->type, .config = a->config,
		.config1 = a->config1, .config2 = a->config2,
		.freq = a->freq ? a->sample_freq : 0,
		.period = a->freq ? 0 : a->sample_period,
	};
	char text[64];

	if (software && a->config == PERF_COUNT_SW_DUMMY)
		return vec_push(&x->rows, PROF_NONE);
	if (!name) {
		snprintf(text, sizeof(text), "event %u:0x%llx", a->type,
			 (unsigned long long)a->config);
		name = text;
	}
	if (software && name != text && has_idle_modifiers(name)) {
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(name, ":"),
			 name);
		name = text;
	}
	row.name = row.actual = profile_str(p, name);
	row.note = profile_str(p, "");
	if (row.name == PROF_NONE || row.note == PROF_NONE ||
	    vec_push(&p->events, row) < 0)
		return -ERR_NOMEM;
	return vec_push(&x->rows, (uint32_t)p->events.n - 1);
}

static int set(struct profile *p, const char *key, const char *value)
{
	return value && *value
	       ? profile_set_env(p, PROF_NONE, key, value) : 0;
}

/* Returns how callers were recorded. */
static const char *callgraph(const struct perf_file *f)
{
	uint64_t type = 0;

	for (size_t i = 0; i < f->events.n; i++)
		type |= f->events.v[i].attr.sample_type;
	return type & PERF_SAMPLE_STACK_USER ? "dwarf"
	       : type & PERF_SAMPLE_CALLCHAIN ? "fp" : "none";
}

static int add_facts(struct import *x)
{
	const struct perf_file *f = &x->file;
	struct profile *p = &x->profile;

	if (set(p, "tally", x->o->version) < 0 ||
	    set(p, "arguments", f->command) < 0 ||
	    set(p, "source", "perf.data") < 0 ||
	    set(p, "callgraph", callgraph(f)) < 0 ||
	    set(p, "hostname", f->hostname) < 0 ||
	    set(p, "kernel", f->release) < 0 ||
	    set(p, "arch", f->arch) < 0 || set(p, "cpu", f->cpu) < 0)
		return -ERR_NOMEM;
	for (size_t i = 0; i < f->events.n; i++)
		if (add_event(x, &f->events.v[i]) < 0)
			return -ERR_NOMEM;
	x->collector.nevents = (uint32_t)p->events.n;
	return 0;
}

/* Adds the run; its times are set once they are known. */
static int add_run(struct import *x)
{
	struct prof_run row = { .exit_status = -1 };

	row.command = profile_str(&x->profile,
				  x->file.command ? x->file.command : "");
	if (row.command == PROF_NONE || vec_push(&x->profile.runs, row) < 0)
		return -ERR_NOMEM;
	collector_new_run(&x->collector, 0);
	return 0;
}

static int take_record(void *ctx, const struct record *r, struct error *err)
{
	struct import *x = ctx;
	struct record own = *r;

	if (own.event < x->rows.n)
		own.event = x->rows.v[own.event];
	if (own.kind == RECORD_SAMPLE && own.event == PROF_NONE)
		return 0;
	return collector_record(&x->collector, &own, err);
}

/* Writes a module's name: "[ext4]" for "[ext4]", "/lib/modules/…/ext4.ko.xz" and
 * "ext4.ko". */
static void module_name(const char *path, char *out, size_t size)
{
	const char *base = strrchr(path, '/'), *end;

	base = base ? base + 1 : path + (*path == '[');
	end = strstr(base, ".ko");
	if (!end)
		end = base + strcspn(base, "]");
	snprintf(out, size, "[%.*s]", (int)(end - base), base);
	for (char *c = out; *c; c++)
		if (*c == '-')
			*c = '_';
}

static int take_kernel(void *ctx, const struct perf_kernel_map *m,
		       struct error *err)
{
	struct import *x = ctx;
	struct collector *c = &x->collector;
	const struct build_id *id;
	char name[256];
	int rc;

	if (!strncmp(m->path, KERNEL, strlen(KERNEL))) {
		id = perf_file_build_id(&x->file, KERNEL);
		rc = kernel_maps_place(&c->kernel, &c->images,
				       m->text ? m->text : m->start, id,
				       &c->processes.generation);
	} else if (*m->path == '[' && strchr(m->path, '.')) {
		return 0;	/* of a guest, or a trampoline */
	} else {
		id = perf_file_build_id(&x->file, m->path);
		module_name(m->path, name, sizeof(name));
		rc = kernel_maps_add(&c->kernel, &c->images, name, m->start,
				     m->len, id, &c->processes.generation);
	}
	return rc < 0 ? no_memory(err) : 0;
}

/* Returns whether this machine runs the recorded kernel, by its build ID. */
static bool is_own_kernel(const struct perf_file *f)
{
	const struct build_id *id = perf_file_build_id(f, KERNEL);
	struct build_id own = kernel_notes_id("/sys/kernel/notes");

	return id && build_id_equal(id, &own);
}

/* Returns whether the clock is that of jitdump files (perf record -k mono). */
static bool is_monotonic(const struct perf_file *f)
{
	for (size_t i = 0; i < f->events.n; i++)
		if (!f->events.v[i].attr.use_clockid ||
		    f->events.v[i].attr.clockid != CLOCK_MONOTONIC)
			return false;
	return true;
}

static int begin(struct import *x, struct error *err)
{
	struct collector *c = &x->collector;
	const char *home = getenv("HOME");
	int rc;

	if (profile_init(&x->profile) < 0)
		return no_memory(err);
	rc = collector_init(c, &x->profile, NO_PROC, NO_PROC, err);
	if (rc < 0)
		return rc;
	c->images.foreign_proc = true;
	c->images.other_clock = !is_monotonic(&x->file);
	c->unwinder.no_live = true;
	c->unwinder.tables.debug_dirs = x->o->debug_dirs;
	if (home && asprintf(&x->cache, "%s/.debug/.build-id", home) < 0)
		x->cache = NULL;
	c->images.cache = x->cache;
	/* This machine's vdso does not belong to another kernel. */
	if (!is_own_kernel(&x->file) && c->images.vdso >= 0) {
		close(c->images.vdso);
		c->images.vdso = -1;
	}
	return add_facts(x) < 0 || add_run(x) < 0 ? no_memory(err) : 0;
}

/* Returns the wall-clock time of the first sample.  If unknown, it is estimated by
 * the file's modification time. */
static uint64_t wall_start(const struct import *x, const char *path,
			   uint64_t first, uint64_t last)
{
	const struct perf_file *f = &x->file;
	struct stat st;

	if (f->wall_ns && f->clock_ns)
		return f->wall_ns + (first - f->clock_ns);
	if (stat(path, &st) < 0)
		return 0;
	return (uint64_t)clock_ns(st.st_mtim) - (last - first);
}

/* Returns the file with the recorded kernel's symbols in perf's cache, or NULL. */
static const char *cached_kallsyms(struct import *x)
{
	const struct build_id *id = perf_file_build_id(&x->file, KERNEL);
	char hex[2 * BUILD_ID_MAX + 1];

	if (!x->cache || !id || id->len < 2)
		return NULL;
	text_hex(hex, id->bytes, id->len);
	if (asprintf(&x->kallsyms, "%s/%.2s/%s/kallsyms", x->cache, hex,
		     hex + 2) < 0)
		x->kallsyms = NULL;
	return x->kallsyms && !access(x->kallsyms, R_OK) ? x->kallsyms : NULL;
}

/* Chooses the kernel's symbols: those in the recording, else in perf's cache.  The
 * running kernel has better ones if it is the recorded one, but takes long to write
 * them. */
static void find_kernel_names(struct import *x, struct symbolize_options *o)
{
	if (x->file.kallsyms)
		o->kallsyms = x->file.kallsyms;
	else if (is_own_kernel(&x->file))
		o->kallsyms_copy = cached_kallsyms(x);
	else
		o->kallsyms = cached_kallsyms(x);
}

/* Restricts files with symbols of JIT code, /tmp/perf-PID.map, because any process
 * that ever had the number may have written them.  They are used only on the
 * recorded machine, and only if they were written during the recording. */
static void allow_jit_maps(struct import *x, uint64_t end_ns)
{
	struct images *im = &x->collector.images;
	const struct prof_run *run = &x->profile.runs.v[0];
	char host[256] = "";

	im->began_ns = INT64_MAX;
	if (gethostname(host, sizeof(host) - 1) < 0 || !x->file.hostname ||
	    strcmp(host, x->file.hostname) || run->start_wall_ns > INT64_MAX ||
	    end_ns > INT64_MAX)
		return;
	im->began_ns = (int64_t)run->start_wall_ns;
	im->ended_ns = (int64_t)end_ns;
}

static int find_names(struct import *x, struct error *err)
{
	struct symbolize_options fo = {
		.vmlinux = x->o->vmlinux, .debug_dirs = x->o->debug_dirs,
		.no_code = x->o->no_code, .detail = x->o->detail,
	};

	find_kernel_names(x, &fo);
	return collector_symbolize(&x->collector, &fo, x->o->progress,
				   x->o->ctx, err);
}

static bool names_thread(const struct profile *p, const char *base, size_t n)
{
	n = n < 15 ? n : 15;	/* as the kernel cuts them */
	for (size_t i = 0; i < p->threads.n; i++) {
		const char *comm = profile_cstr(p, p->threads.v[i].comm);

		if (strlen(comm) == n && !memcmp(comm, base, n))
			return true;
	}
	return false;
}

/* Returns whether an option of perf takes the next word (perf-record(1)), which may
 * have the name of a thread, too. */
static bool takes_word(const char *word, size_t n)
{
	static const char *const with[] = {
		"--output", "--event", "--uid", "--cgroup", "--filter", "--pid",
		"--tid", "--cpu", "--call-graph", "--clockid",
	};

	if (n == 2 && *word == '-')
		return strchr("oeuGptCFcmkrxDMS", word[1]) != NULL;
	for (size_t i = 0; i < COUNT(with); i++)
		if (strlen(with[i]) == n && !memcmp(with[i], word, n))
			return true;
	return false;
}

/* Finds the recorded program in the command: the word behind "--", else the first one
 * with the name of a thread.  Returns NULL if there is none. */
static const char *recorded_command(const struct profile *p, const char *command)
{
	const char *behind = strstr(command, " -- ");
	bool value = false;

	/* "--" may also belong to the program: `perf record git log -- file` */
	for (const char *at = strchr(command, ' '); at; at = strchr(at, ' ')) {
		const char *word = ++at, *end = at + strcspn(at, " ");
		const char *base = word;

		for (const char *c = word; c < end; c++)
			if (*c == '/')
				base = c + 1;
		if (behind && word > behind)
			return behind + 4;
		if (!value && base < end && *word != '-' &&
		    names_thread(p, base, (size_t)(end - base)))
			return word;
		value = takes_word(word, (size_t)(end - word));
	}
	return NULL;
}

/* Keeps the recorded program in the command, without the recorder and its options. */
static int strip_recorder(struct import *x)
{
	struct profile *p = &x->profile;
	const char *program = recorded_command(p, x->file.command
						  ? x->file.command : "");
	uint32_t str;

	if (!program)
		return 0;
	str = profile_str(p, program);
	if (str == PROF_NONE)
		return -ERR_NOMEM;
	p->runs.v[0].command = str;
	return 0;
}

static int import(struct import *x, const char *path, struct error *err)
{
	struct perf_records_cb cb = { take_record, take_kernel, x };
	struct perf_records_skipped rest = { 0 };
	struct prof_run *run;
	uint64_t first, last;
	int rc;

	if (x->o->progress)
		x->o->progress(x->o->ctx, "reading records");
	rc = perf_records_each(&x->file, &cb, &rest, &first, &last, err);
	if (rc < 0)
		return rc;
	run = &x->profile.runs.v[0];
	run->start_ns = first;
	run->end_ns = last > first ? last : first + 1;
	run->start_wall_ns = wall_start(x, path, first, last);
	x->result->skipped = rest.skipped + x->file.skipped +
			     x->collector.ignored;
	x->result->branches = rest.branches;
	x->result->data_sources = rest.data_sources;
	allow_jit_maps(x, run->start_wall_ns + (run->end_ns - run->start_ns));
	rc = collector_release(&x->collector, err);
	if (!rc && strip_recorder(x) < 0)
		rc = error_set(err, ERR_NOMEM, "%s: out of memory", path);
	if (!rc && x->o->symbols)
		rc = find_names(x, err);
	return rc ? rc : writer_finish(x->writer, err);
}

static bool is_another_users(const struct perf_file *f)
{
	for (size_t i = 0; i < f->files.n; i++) {
		uint32_t owner = f->files.v[i].map.owner;

		if (owner && owner != geteuid())
			return true;
	}
	return false;
}

int import_perf_data(const char *path, int fd, const char *name,
		     const struct import_options *o, struct import_result *out,
		     struct error *err)
{
	struct import x = { .o = o, .result = out };
	int rc = perf_file_open(&x.file, path, o->max_memory, err);

	memset(out, 0, sizeof(*out));
	if (rc < 0)
		return rc;
	x.collector.images.vdso = -1;
	if (is_another_users(&x.file) && !o->trust)
		rc = error_set(err, ERR_FORMAT, "%s belongs to another user, and "
			       "to import it the programs that it names are "
			       "opened: 'tally import --trust-recording' does "
			       "that", path);
	if (!rc)
		rc = begin(&x, err) ?:
		     writer_open_fd(fd, name, &x.profile, &x.writer, err);
	if (!rc) {
		if (o->temporary)
			writer_skip_compression(x.writer);
		x.collector.writer = x.writer;
		rc = import(&x, path, err);
	}
	out->samples = x.collector.samples;
	out->lost = x.collector.lost;
	out->cut_at = x.file.cut_at;
	if (x.writer) {
		out->bytes = writer_bytes(x.writer);
		writer_close(x.writer);
	}
	collector_fini(&x.collector);
	profile_fini(&x.profile);
	vec_fini(&x.rows);
	free(x.cache);
	free(x.kallsyms);
	perf_file_close(&x.file);
	return rc;
}
