// SPDX-License-Identifier: GPL-2.0-or-later
/* Records facts about the machine and the recording. */
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "record/perf/perf_plan.h"
#include "launch/proc_read.h"
#include "profile/thread_labels.h"
#include "record/revision.h"
#include "record/session.h"
#include "record/source/rights.h"

struct facts {
	struct profile *profile;
	int result;
};

static void fact(struct facts *f, const char *key, const char *value)
{
	if (!f->result && value && *value)
		f->result = profile_set_env(f->profile, PROF_NONE, key, value);
}

static void fact_number(struct facts *f, const char *key, long long v)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", v);
	fact(f, key, text);
}

/* Returns the value of the first line "KEY<blanks>: VALUE" of a text. */
static bool line_value(const char *text, const char *key, char *out,
		       size_t size)
{
	size_t n = strlen(key);

	while (text && *text) {
		const char *end = strchr(text, '\n');
		const char *p = text + n;

		if (!strncmp(text, key, n)) {
			p += strspn(p, " \t");
			if (*p == ':') {
				p += 1 + strspn(p + 1, " \t");
				snprintf(out, size, "%.*s", end && end > p
					 ? (int)(end - p) : (int)strlen(p), p);
				return true;
			}
		}
		text = end ? end + 1 : NULL;
	}
	return false;
}

static void cpu_facts(struct facts *f, const struct session *s)
{
	static const char *const keys[] = { "model name", "Model", "cpu model",
					    "uarch", "cpu" };
	struct buf b = { 0 };
	char model[160];

	if (!io_read_file("/proc/cpuinfo", 64 << 20, &b, NULL))
		for (size_t i = 0; i < COUNT(keys); i++)
			if (line_value(buf_cstr(&b), keys[i], model,
				       sizeof(model))) {
				fact(f, "cpu", model);
				break;
			}
	buf_reset(&b);
	fact_number(f, "cpus_online", sysconf(_SC_NPROCESSORS_ONLN));
	if (s->o->cpus)
		fact(f, "cpus_recorded", s->o->cpus);
	if (!io_read_file("/proc/meminfo", 65536, &b, NULL) &&
	    line_value(buf_cstr(&b), "MemTotal", model, sizeof(model)))
		fact(f, "memory", model);
	buf_fini(&b);
}

/* Records the boot ID.  It shows later whether kernel addresses still have the same
 * meaning. */
static void boot_fact(struct facts *f)
{
	struct buf b = { 0 };

	if (proc_line("/proc/sys/kernel/random/boot_id", &b))
		fact(f, "boot_id", buf_cstr(&b));
	buf_fini(&b);
}

static void system_facts(struct facts *f)
{
	struct utsname u;
	struct passwd *pw = getpwuid(geteuid());
	char cwd[4096];

	if (!uname(&u)) {
		fact(f, "hostname", u.nodename);
		fact(f, "kernel", u.release);
		fact(f, "arch", u.machine);
	}
	boot_fact(f);
	if (pw)
		fact(f, "user", pw->pw_name);
	fact_number(f, "uid", geteuid());
	if (getcwd(cwd, sizeof(cwd))) {
		struct buf revision = { 0 };

		fact(f, "cwd", cwd);
		revision_find(cwd, &revision);
		fact(f, "revision", buf_cstr(&revision));
		buf_fini(&revision);
	}
}

/* Writes a process's command line in shell syntax, or else its name. */
static void put_program(struct buf *out, uint32_t pid)
{
	enum { MOST = 2 << 20, WORDS = 64 };
	struct buf raw = { 0 };
	char path[64], *argv[WORDS + 1] = { NULL };
	size_t n = 0, at = 0;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	if (!io_read_file(path, MOST, &raw, NULL) && raw.n && buf_cstr(&raw)) {
		for (; at < raw.n && n < WORDS; n++) {
			argv[n] = (char *)raw.p + at;
			at += strlen(argv[n]) + 1;
		}
		shell_quote(out, argv);
	} else {
		proc_name(pid, "", out);
	}
	buf_fini(&raw);
}

/* Records the programs of -p, for the titles of reports. */
static void programs_fact(struct facts *f, const struct session *s)
{
	enum { SHOWN_MAX = 3 };
	const struct target *t = &s->target;
	struct buf text = { 0 };

	for (size_t i = 0; i < t->pids.n && i < SHOWN_MAX; i++) {
		size_t before = text.n + (i > 0) * 2;

		buf_str(&text, i ? ", " : "");
		put_program(&text, t->pids.v[i]);
		buf_printf(&text, "%s(pid %u)", text.n > before ? " " : "",
			   t->pids.v[i]);
	}
	if (t->pids.n > SHOWN_MAX)
		buf_printf(&text, " and %zu more", t->pids.n - SHOWN_MAX);
	if (s->o->pids && !s->o->tids)
		fact(f, "target_programs", buf_cstr(&text));
	buf_fini(&text);
}

static void target_fact(struct facts *f, const struct record_options *o)
{
	char text[256];

	if (o->pids || o->tids)
		snprintf(text, sizeof(text), "%s%.100s%s%s%.100s",
			 o->pids ? "pid " : "", o->pids ? o->pids : "",
			 o->pids && o->tids ? " " : "",
			 o->tids ? "tid " : "", o->tids ? o->tids : "");
	else if (o->cgroup)
		snprintf(text, sizeof(text), "cgroup %.200s", o->cgroup);
	else
		snprintf(text, sizeof(text), "%s", o->all_cpus || !o->command
			 ? "system" : "command");
	fact(f, "target", text);
}

/* Returns whether kernel names are hidden.  /proc/kallsyms shows 0 to unprivileged
 * readers (proc(5)); the first symbol's address may be 0 anyway. */
static bool kernel_names_hidden(const char **why)
{
	char text[4096], *line = text;
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	*why = "/proc/kallsyms cannot be read";
	if (fd < 0)
		return true;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	*why = "/proc/kallsyms hides its addresses";
	while (*line) {
		if (strtoull(line, NULL, 16))
			return false;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return true;
}

/* Announces what will be missing for lack of privileges. */
static void announce_limits(struct session *s, const struct source *src,
			    struct facts *f)
{
	bool kernel = false;
	const char *why;

	for (size_t i = 0; i < src->nevents; i++)
		kernel |= !src->events[i].exclude_kernel && !src->no_kernel;
	if (kernel && kernel_names_hidden(&why)) {
		fact(f, "kernel_names", why);
		session_notice(s, "functions of the kernel will have no names: "
			       "%s (see \"tally doctor\")", why);
	}
	if (src->ring_bytes && src->ring_bytes < perf_ring_size() >> src->waits)
		session_notice(s, "only %zu KB per CPU may be locked for "
			       "samples: bursts may be lost (see \"tally "
			       "doctor\")", src->ring_bytes / 1024);
}

int environment_fill(struct session *s, const struct source *src,
		     struct error *err)
{
	const struct record_options *o = s->o;
	struct facts f = { &s->profile, 0 };

	fact(&f, "tally", o->version);
	fact(&f, "arguments", o->arguments);
	fact(&f, "source", src->ops->name);
	fact(&f, "clock", "monotonic");
	fact(&f, "callgraph", !o->callchain ? "none" :
			      src->copy_bytes ? "dwarf" : "fp");
	target_fact(&f, o);
	programs_fact(&f, s);
	if (!o->inherit)
		fact(&f, "inherit", "no");
	if (o->delay > 0) {
		char text[32];

		snprintf(text, sizeof(text), "%g s", o->delay);
		fact(&f, "delay", text);
	}
	system_facts(&f);
	cpu_facts(&f, s);
	fact_number(&f, "ring_bytes_per_cpu", (long long)src->ring_bytes);
	if (src->copy_bytes)
		fact_number(&f, "stack_copy_bytes", src->copy_bytes);
	fact_number(&f, "max_stack", src->max_stack);
	fact_number(&f, "perf_event_paranoid",
		    perf_sysctl("perf_event_paranoid", -99));
	fact_number(&f, "perf_event_mlock_kb",
		    perf_sysctl("perf_event_mlock_kb", -1));
	announce_limits(s, src, &f);
	for (size_t i = 0; !f.result && i < o->nlabels; i++)
		f.result = profile_set_label(&s->profile, PROF_NONE,
					     o->labels[i].name,
					     o->labels[i].value);
	if (f.result < 0)
		return error_set(err, ERR_NOMEM,
				 "out of memory for the environment");
	return 0;
}

/* Writes "name (process 123)", or only the number if there is no name. */
static void program_name(uint32_t pid, struct buf *out)
{
	struct buf b = { 0 };

	if (proc_name(pid, "", &b)) {
		text_safe(out, buf_cstr(&b));
		buf_printf(out, " (process %u)", pid);
	} else {
		buf_printf(out, "process %u", pid);
	}
	buf_fini(&b);
}

int environment_closed(struct session *s, struct error *err)
{
	uint32_t n = s->collector.closed;
	struct buf who = { 0 };

	program_name(s->collector.closed_pid, &who);
	if (n > 1)
		buf_printf(&who, " and %u more", n - 1);
	session_notice(s, "%s will have no symbols: what %s mapped cannot be "
		       "read (see \"tally doctor\")", buf_cstr(&who),
		       n == 1 ? "it has" : "they have");
	buf_fini(&who);
	s->collector.closed = 0;
	return profile_set_number(&s->profile, PROF_NONE, "closed_programs", n) < 0
	       ? error_nomem(err) : 0;
}
