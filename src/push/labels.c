// SPDX-License-Identifier: GPL-2.0-or-later
/* Assigns services and labels: see labels.h. */
#include "push/labels.h"

#include <stdlib.h>
#include <string.h>

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
		return error_set(err, ERR_USAGE, "--label %.64s: want NAME=VALUE, "
				 "with a letter first", text);
	for (size_t i = 0; i < n; i++)
		if (!is_name_char(text[i]))
			return error_set(err, ERR_USAGE, "--label %.64s: the name "
					 "of a label has letters, digits, _ and "
					 ". only", text);
	if (!strncmp(text, "__", 2))
		return error_set(err, ERR_USAGE, "--label %.64s: names that begin "
				 "with __ are the servers'", text);
	if (!equals[1] || strlen(equals + 1) > LABEL_VALUE_MAX)
		return error_set(err, ERR_USAGE, "--label %.64s: want a value of 1 "
				 "to %d bytes", text, LABEL_VALUE_MAX);
	text_safe(&safe, equals + 1);
	same = !safe.failed && !strcmp(buf_cstr(&safe), equals + 1);
	buf_fini(&safe);
	if (!same)
		return error_set(err, ERR_USAGE, "--label %.64s: the value has "
				 "control characters or is not UTF-8", text);
	*name = strdup(text);
	if (!*name)
		return error_set(err, ERR_NOMEM, "out of memory");
	(*name)[n] = 0;
	*value = *name + n + 1;
	return 0;
}

void label_metric(const struct profile *p, uint32_t event, struct buf *out)
{
	const struct prof_event *e = &p->events.v[event];
	const char *name = prof_event_actual(p, e);

	/* the name that exports use for cpu/nanoseconds */
	if (!event && e->unit == PROF_UNIT_NS) {
		buf_str(out, "process_cpu");
		return;
	}
	if (!is_letter(*name))
		buf_u8(out, '_');
	for (; *name; name++)
		buf_u8(out, is_name_char(*name) && *name != '.'
				    ? (uint8_t)*name : '_');
}

/* Returns the str of text from a recording, made fit for a label. */
static uint32_t value_of(struct services *s, const char *text, size_t n)
{
	enum { COLUMNS = LABEL_VALUE_MAX / 4 };	/* each column has at most four
						 * bytes */
	struct buf raw = { 0 }, safe = { 0 }, cut = { 0 };
	uint32_t id;

	buf_bytes(&raw, text, n < LABEL_VALUE_MAX ? n : LABEL_VALUE_MAX);
	text_safe(&safe, buf_cstr(&raw));
	text_cut(&cut, buf_cstr(&safe), COLUMNS);
	id = strtab_add(&s->str, buf_cstr(&cut));
	if (raw.failed || safe.failed || cut.failed)
		id = UINT32_MAX;
	buf_fini(&raw);
	buf_fini(&safe);
	buf_fini(&cut);
	return id;
}

/* Returns the program of a command line, without its folder and arguments. */
static uint32_t of_command(struct services *s, const char *command)
{
	const char *from = command, *end = command + strcspn(command, " ");

	if (*command == '\'') {		/* quoted for a shell */
		from = ++command;
		end = command + strcspn(command, "'");
	}
	for (const char *c = command; c < end; c++)
		if (*c == '/' && c + 1 < end)
			from = c + 1;
	return value_of(s, from, (size_t)(end - from));
}

static uint64_t process_key(const struct prof_thread *t)
{
	return (uint64_t)t->run << 32 | t->pid;
}

/* Collects the names of processes.  The name of a process is that of its main
 * thread if the recording has it. */
static int name_processes(const struct profile *p, struct u64map *names)
{
	for (int main = 0; main < 2; main++)
		for (size_t i = 0; i < p->threads.n; i++) {
			const struct prof_thread *t = &p->threads.v[i];
			uint32_t *at;

			if (main && t->pid != t->tid)
				continue;
			at = u64map_slot(names, process_key(t));
			if (!at)
				return -ERR_NOMEM;
			if (main || *at == U64MAP_NONE)
				*at = t->comm;
		}
	return 0;
}

/* Returns whether a thread is the kernel's.  Kernel threads are children of
 * kthreadd, which always has number 2. */
static bool is_kernel_thread(const struct prof_thread *t)
{
	return !t->pid || t->pid == 2 || t->parent == 2;
}

static uint32_t service_of(struct services *s, const struct profile *p,
			   size_t thread, const struct u64map *names)
{
	const struct prof_thread *t = &p->threads.v[thread];
	const char *command = profile_cstr(p, p->runs.v[t->run].command), *name;

	if (*command)
		return of_command(s, command);
	if (is_kernel_thread(t))
		return value_of(s, "kernel", 6);
	name = profile_cstr(p, u64map_get(names, process_key(t)));
	if (!*name)
		name = "unknown";
	return value_of(s, name, strlen(name));
}

static int by_name(const void *pa, const void *pb)
{
	const struct export_label *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

struct told {
	struct export_label *v;
	size_t n;
};

/* Sets a label.  A later value replaces an earlier one, and "" is left out. */
static void tell(struct told *t, const char *name, const char *value)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->v[i].name, name)) {
			t->v[i].value = value;
			return;
		}
	if (*value)
		t->v[t->n++] = (struct export_label){ name, value };
}

/* Returns a label's name in the protocol.  Protocols without dots use underscores. */
static const char *name_for(struct services *s, const char *name, bool otlp)
{
	static const char *const names[][2] = {
		{ "service_name", "service.name" }, { "host", "host.name" },
		{ "revision", "vcs.ref.head.revision" },
	};
	struct buf plain = { 0 };
	uint32_t id;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i][0]) || !strcmp(name, names[i][1]))
			return names[i][otlp];
	if (otlp || !strchr(name, '.'))
		return name;
	for (; *name; name++)
		buf_u8(&plain, *name == '.' ? '_' : (uint8_t)*name);
	id = plain.failed ? UINT32_MAX : strtab_add(&s->str, buf_cstr(&plain));
	buf_fini(&plain);
	return id == UINT32_MAX ? NULL : strtab_get(&s->str, id);
}

/* Appends the labels of a group to those of the groups before. */
static int tell_group(struct services *s, const struct profile *p,
		      uint32_t service, const struct push_label *given, size_t n,
		      bool otlp, struct told *t)
{
	const char *host = profile_env(p, PROF_NONE, "hostname");
	const char *revision = profile_env(p, PROF_NONE, "revision");
	bool command = p->runs.n && *profile_cstr(p, p->runs.v[0].command);
	uint32_t id;

	tell(t, name_for(s, "service_name", otlp), strtab_get(&s->str, service));
	if (host) {
		id = value_of(s, host, strlen(host));
		if (id == UINT32_MAX)
			return -ERR_NOMEM;
		tell(t, name_for(s, "host", otlp), strtab_get(&s->str, id));
	}
	if (revision && command) {
		id = value_of(s, revision, strlen(revision));
		if (id == UINT32_MAX)
			return -ERR_NOMEM;
		tell(t, name_for(s, "revision", otlp), strtab_get(&s->str, id));
	}
	for (size_t i = 0; i < n; i++) {
		const char *name = name_for(s, given[i].name, otlp);

		if (!name)
			return -ERR_NOMEM;
		tell(t, name, given[i].value);
	}
	qsort(t->v, t->n, sizeof(*t->v), by_name);
	return 0;
}

static int make_groups(struct services *s, const struct profile *p,
		       const uint32_t *service, size_t nservices,
		       const struct push_label *given, size_t n, bool otlp)
{
	size_t most = n + 3;

	s->groups = calloc(nservices + 1, sizeof(*s->groups));
	s->labels = calloc((nservices + 1) * most, sizeof(*s->labels));
	if (!s->groups || !s->labels)
		return -ERR_NOMEM;
	s->ngroups = nservices;
	for (size_t i = 0; i < nservices; i++) {
		struct told t = { s->labels + i * most, 0 };

		if (tell_group(s, p, service[i], given, n, otlp, &t) < 0)
			return -ERR_NOMEM;
		s->groups[i] = (struct export_group){ t.v, t.n };
	}
	return 0;
}

static bool names_service(const struct push_label *given, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(given[i].name, "service_name") ||
		    !strcmp(given[i].name, "service.name"))
			return true;
	return false;
}

int services_init(struct services *s, const struct profile *p,
		  const struct push_label *given, size_t n, bool otlp,
		  struct error *err)
{
	struct u64map names = { 0 }, group = { 0 };
	VEC(uint32_t) services = { 0 };
	bool one = names_service(given, n);
	int rc;

	*s = (struct services){ 0 };
	rc = strtab_init(&s->str);
	s->group_of = calloc(p->threads.n + 1, sizeof(*s->group_of));
	if (!s->group_of)
		rc = -ERR_NOMEM;
	if (!rc)
		rc = name_processes(p, &names);
	for (size_t i = 0; !rc && i < p->threads.n; i++) {
		uint32_t id = one ? 0 : service_of(s, p, i, &names);
		uint32_t *at = id == UINT32_MAX ? NULL
						 : u64map_slot(&group, id);

		if (at && *at == U64MAP_NONE) {
			*at = (uint32_t)services.n;
			if (vec_push(&services, id) < 0)
				at = NULL;
		}
		if (!at)
			rc = -ERR_NOMEM;
		else
			s->group_of[i] = *at;
	}
	if (!rc)
		rc = make_groups(s, p, services.v, services.n, given, n, otlp);
	u64map_fini(&names);
	u64map_fini(&group);
	vec_fini(&services);
	if (!rc)
		return 0;
	services_fini(s);
	return error_set(err, ERR_NOMEM, "out of memory");
}

void services_fini(struct services *s)
{
	strtab_fini(&s->str);
	free(s->group_of);
	free(s->groups);
	free(s->labels);
	*s = (struct services){ 0 };
}
