// SPDX-License-Identifier: GPL-2.0-or-later
/* Derives the labels of threads: see thread_labels.h. */
#include "profile/thread_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/cgroup_path.h"
#include "base/error.h"
#include "base/search.h"
#include "base/text.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_char(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '.';
}

int label_parse(const char *text, char **name, const char **value,
		struct error *err)
{
	const char *equals = strchr(text, '=');
	struct buf safe = { 0 };
	size_t n = equals ? (size_t)(equals - text) : 0;
	bool same;

	*name = NULL;
	if (!n || !is_letter(*text))
		return error_set(err, ERR_USAGE, "--label %.64s: expected "
				 "NAME=VALUE, beginning with a letter", text);
	for (size_t i = 0; i < n; i++)
		if (!is_name_char(text[i]))
			return error_set(err, ERR_USAGE, "--label %.64s: a "
					 "label name may contain only "
					 "letters, digits, _ and .", text);
	if (!strncmp(text, "__", 2))
		return error_set(err, ERR_USAGE, "--label %.64s: names that "
				 "begin with __ are reserved for servers",
				 text);
	if (!equals[1] || strlen(equals + 1) > LABEL_VALUE_MAX)
		return error_set(err, ERR_USAGE, "--label %.64s: the value "
				 "must have 1 to %d bytes",
				 text, LABEL_VALUE_MAX);
	text_safe(&safe, equals + 1);
	same = !safe.failed && !strcmp(buf_cstr(&safe), equals + 1);
	buf_fini(&safe);
	if (!same)
		return error_set(err, ERR_USAGE, "--label %.64s: the value "
				 "contains control characters or is not UTF-8",
				 text);
	*name = strdup(text);
	if (!*name)
		return error_nomem(err);
	(*name)[n] = 0;
	*value = *name + n + 1;
	return 0;
}

int profile_set_label(struct profile *p, uint32_t run, const char *name,
		      const char *value)
{
	struct buf key = { 0 };
	int rc;

	buf_printf(&key, PROF_ENV_LABEL "%s", name);
	rc = key.failed ? -ERR_NOMEM
			: profile_set_env(p, run, buf_cstr(&key), value);
	buf_fini(&key);
	return rc;
}

/* A label in the environment.  Those of a run win over those of the file, and
 * later ones over earlier ones. */
struct env_label {
	uint32_t run;		/* PROF_NONE: of the file */
	uint32_t key;
	size_t row;
};

static int by_run(const void *x, const void *y)
{
	const struct env_label *a = x, *b = y;

	return ascending(a->run, b->run) ?:
	       ascending(a->key, b->key) ?:
	       descending(a->row, b->row);
}

/* Each run of hostile files has few labels, so that names can be compared one by
 * one. */
enum { RUN_LABELS_MAX = 64 };

static bool has_name(const struct thread_labels *l, size_t from, uint32_t name)
{
	for (size_t i = from; i < l->given.n; i++)
		if (l->given.v[i].name == name)
			return true;
	return false;
}

static int take_label(struct thread_labels *l, size_t from, size_t row)
{
	const struct prof_env *e = &l->p->envs.v[row];
	const char *key = profile_cstr(l->p, e->key);
	struct run_label r = {
		strtab_add(&l->str, key + strlen(PROF_ENV_LABEL)),
		strtab_add(&l->str, profile_cstr(l->p, e->value)),
	};

	if (r.name == UINT32_MAX || r.value == UINT32_MAX)
		return -ERR_NOMEM;
	if (l->given.n - from >= RUN_LABELS_MAX || has_name(l, from, r.name))
		return 0;
	return vec_push(&l->given, r) < 0 ? -ERR_NOMEM : 0;
}

static int by_name(const void *x, const void *y, void *ctx)
{
	const struct run_label *a = x, *b = y;
	const struct thread_labels *l = ctx;

	return strcmp(strtab_get(&l->str, a->name),
		      strtab_get(&l->str, b->name));
}

/* Writes all labels of a run as one text. */
static int tell_all(struct thread_labels *l, uint32_t run, size_t from)
{
	struct buf b = { 0 };

	for (size_t i = from; i < l->given.n; i++)
		buf_printf(&b, "%s%s=%s", i > from ? ", " : "",
			   strtab_get(&l->str, l->given.v[i].name),
			   strtab_get(&l->str, l->given.v[i].value));
	l->all[run] = b.failed ? UINT32_MAX
			       : strtab_add(&l->str, b.n ? buf_cstr(&b) : "");
	buf_fini(&b);
	return l->all[run] == UINT32_MAX ? -ERR_NOMEM : 0;
}

static int take_given(struct thread_labels *l)
{
	const struct profile *p = l->p;
	VEC(struct env_label) found = { 0 };
	size_t at = 0, whole;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->envs.n; i++) {
		const struct prof_env *e = &p->envs.v[i];

		if (strncmp(profile_cstr(p, e->key), PROF_ENV_LABEL,
			    strlen(PROF_ENV_LABEL)) != 0)
			continue;
		if (vec_push(&found, (struct env_label){ e->run, e->key, i }))
			rc = -ERR_NOMEM;
	}
	vec_sort(&found, by_run);
	for (whole = found.n; whole && found.v[whole - 1].run == PROF_NONE;)
		whole--;
	for (uint32_t r = 0; !rc && r < p->runs.n; r++) {
		size_t from = l->given.n;

		for (; !rc && at < whole && found.v[at].run == r; at++)
			rc = take_label(l, from, found.v[at].row);
		for (size_t i = whole; !rc && i < found.n &&
				       i - whole < RUN_LABELS_MAX; i++)
			rc = take_label(l, from, found.v[i].row);
		sort_rows_r(l->given.v + from, l->given.n - from, by_name, l);
		l->given_end[r] = l->given.n;
		if (!rc)
			rc = tell_all(l, r, from);
	}
	vec_fini(&found);
	return rc;
}

static int take_hosts(struct thread_labels *l)
{
	const struct profile *p = l->p;
	uint32_t key = strtab_find(&p->str, "hostname");
	const char *whole = profile_env(p, PROF_NONE, "hostname");

	for (size_t i = 0; i < p->runs.n; i++)
		l->host[i] = UINT32_MAX;
	for (size_t i = 0; key != UINT32_MAX && i < p->envs.n; i++) {
		const struct prof_env *e = &p->envs.v[i];

		if (e->key == key && e->run < p->runs.n)
			l->host[e->run] = strtab_add(
				&l->str, profile_cstr(p, e->value));
	}
	for (size_t i = 0; i < p->runs.n; i++) {
		if (l->host[i] == UINT32_MAX)
			l->host[i] = strtab_add(&l->str, whole ? whole : "");
		if (l->host[i] == UINT32_MAX)
			return -ERR_NOMEM;
	}
	return 0;
}

static uint64_t process_key(const struct prof_thread *t)
{
	return (uint64_t)t->run << 32 | t->pid;
}

/* Collects the names of processes.  The name of a process is that of its main
 * thread if the recording has it. */
static int name_processes(struct thread_labels *l)
{
	const struct profile *p = l->p;

	for (int main = 0; main < 2; main++)
		for (size_t i = 0; i < p->threads.n; i++) {
			const struct prof_thread *t = &p->threads.v[i];
			uint32_t *at;

			if (main && t->pid != t->tid)
				continue;
			at = u64map_slot(&l->process_names, process_key(t));
			if (!at)
				return -ERR_NOMEM;
			if (main || *at == U64MAP_NONE)
				*at = t->comm;
		}
	return 0;
}

int thread_labels_init(struct thread_labels *l, const struct profile *p)
{
	int rc;

	*l = (struct thread_labels){ .p = p };
	rc = strtab_init(&l->str);
	l->given_end = calloc(p->runs.n + 1, sizeof(*l->given_end));
	l->host = calloc(p->runs.n + 1, sizeof(*l->host));
	l->all = calloc(p->runs.n + 1, sizeof(*l->all));
	if (!l->given_end || !l->host || !l->all)
		rc = -ERR_NOMEM;
	if (!rc)
		rc = take_given(l) ?: take_hosts(l) ?: name_processes(l);
	if (rc)
		thread_labels_fini(l);
	return rc ? -ERR_NOMEM : 0;
}

void thread_labels_fini(struct thread_labels *l)
{
	strtab_fini(&l->str);
	vec_fini(&l->given);
	vec_fini(&l->cgroups);
	free(l->given_end);
	free(l->host);
	free(l->all);
	u64map_fini(&l->cgroup_of);
	u64map_fini(&l->process_names);
	*l = (struct thread_labels){ 0 };
}

/* Returns the strs of container, pod and service of a thread's control group, or
 * NULL if out of memory. */
static const uint32_t *cgroup_strs(struct thread_labels *l,
				   const struct prof_thread *t)
{
	uint32_t *at = u64map_slot(&l->cgroup_of, t->cgroup);
	struct cgroup_names names;
	uint32_t id[3];

	if (!at)
		return NULL;
	if (*at != U64MAP_NONE)
		return l->cgroups.v + *at;
	cgroup_names(profile_cstr(l->p, t->cgroup), &names);
	id[0] = strtab_add(&l->str, names.container);
	id[1] = strtab_add(&l->str, names.pod);
	id[2] = strtab_add(&l->str, names.service);
	if (id[0] == UINT32_MAX || id[1] == UINT32_MAX || id[2] == UINT32_MAX ||
	    vec_reserve(&l->cgroups, l->cgroups.n + 3) < 0)
		return NULL;
	*at = (uint32_t)l->cgroups.n;
	memcpy(l->cgroups.v + l->cgroups.n, id, sizeof(id));
	l->cgroups.n += 3;
	return l->cgroups.v + *at;
}

/* Returns the program of a command line, without its folder and arguments. */
static const char *program_of(struct thread_labels *l, const char *command)
{
	const char *from = command, *end = command + strcspn(command, " ");
	uint32_t id;

	if (*command == '\'') {		/* quoted for a shell */
		from = ++command;
		end = command + strcspn(command, "'");
	}
	for (const char *c = command; c < end; c++)
		if (*c == '/' && c + 1 < end)
			from = c + 1;
	id = strtab_add_n(&l->str, from, (size_t)(end - from));
	return id == UINT32_MAX ? NULL : strtab_get(&l->str, id);
}

/* Returns whether a thread is the kernel's.  Kernel threads are children of
 * kthreadd, which always has number 2. */
static bool is_kernel_thread(const struct prof_thread *t)
{
	return !t->pid || t->pid == 2 || t->parent == 2;
}

/* Returns a label that was given to a run, or NULL. */
static const char *given(const struct thread_labels *l, uint32_t run, const char *name)
{
	for (size_t i = run ? l->given_end[run - 1] : 0; i < l->given_end[run];
	     i++)
		if (!strcmp(strtab_get(&l->str, l->given.v[i].name), name))
			return strtab_get(&l->str, l->given.v[i].value);
	return NULL;
}

static const char *service_of(struct thread_labels *l,
			      const struct prof_thread *t)
{
	static const char *const names[] = { "service_name", "service.name",
					     "service" };
	const char *command = profile_cstr(l->p, l->p->runs.v[t->run].command);
	const uint32_t *cgroup;
	const char *name;
	uint32_t id;

	for (size_t i = 0; i < COUNT(names); i++) {
		name = given(l, t->run, names[i]);
		if (name)
			return name;
	}
	if (*command)
		return program_of(l, command);
	if (is_kernel_thread(t))
		return "kernel";
	cgroup = cgroup_strs(l, t);
	if (!cgroup)
		return NULL;
	name = strtab_get(&l->str, cgroup[2]);
	if (*name)
		return name;
	id = u64map_get(&l->process_names, process_key(t));
	name = id == U64MAP_NONE ? "" : profile_cstr(l->p, id);
	return *name ? name : "unknown";
}

const char *thread_label(struct thread_labels *l, uint32_t thread,
			 enum thread_label label)
{
	const struct prof_thread *t = &l->p->threads.v[thread];
	const uint32_t *cgroup;

	switch (label) {
	case LABEL_GIVEN:
		return strtab_get(&l->str, l->all[t->run]);
	case LABEL_HOST:
		return strtab_get(&l->str, l->host[t->run]);
	case LABEL_SERVICE:
		return service_of(l, t);
	case LABEL_CONTAINER:
	case LABEL_POD:
		cgroup = cgroup_strs(l, t);
		return cgroup ? strtab_get(&l->str,
					   cgroup[label == LABEL_POD])
			      : NULL;
	case LABEL_TASK:
		return profile_cstr(l->p, t->task);
	default:
		return profile_cstr(l->p, t->cgroup);
	}
}

static const char *const derived[LABEL_COUNT] = {
	[LABEL_HOST] = "host", [LABEL_SERVICE] = "service",
	[LABEL_CONTAINER] = "container", [LABEL_POD] = "pod",
	[LABEL_CGROUP] = "cgroup", [LABEL_TASK] = "task",
};

const char *thread_label_named(struct thread_labels *l, uint32_t thread,
			       const char *name)
{
	const char *text = given(l, l->p->threads.v[thread].run, name);

	if (text)
		return text;
	for (int i = 0; i < LABEL_COUNT; i++)
		if (derived[i] && !strcmp(derived[i], name))
			return thread_label(l, thread, (enum thread_label)i);
	return "";
}

bool thread_labels_know(const struct thread_labels *l, const char *name)
{
	for (int i = 0; i < LABEL_COUNT; i++)
		if (derived[i] && !strcmp(derived[i], name))
			return true;
	for (size_t i = 0; i < l->given.n; i++)
		if (!strcmp(strtab_get(&l->str, l->given.v[i].name), name))
			return true;
	return false;
}
