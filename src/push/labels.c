// SPDX-License-Identifier: GPL-2.0-or-later
/* Assigns services and labels: see labels.h. */
#include "push/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"

#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_." \
		   "0123456789"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_char(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '.';
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

/* Returns the str of text from a recording, made fit for a label; UINT32_MAX if
 * out of memory or the text is NULL. */
static uint32_t value_of(struct services *s, const char *text)
{
	enum { COLUMNS = LABEL_VALUE_MAX / 4 };	/* each column has at most four
						 * bytes */
	struct buf raw = { 0 }, safe = { 0 }, cut = { 0 };
	uint32_t id;

	if (!text)
		return UINT32_MAX;
	buf_bytes(&raw, text, strnlen(text, LABEL_VALUE_MAX));
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

static int by_name(const void *pa, const void *pb)
{
	const struct export_label *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

struct label_list {
	struct export_label *v;
	size_t n;
};

/* Sets a label.  A later value replaces an earlier one, and "" is left out. */
static void add_label(struct label_list *t, const char *name, const char *value)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->v[i].name, name)) {
			t->v[i].value = value;
			return;
		}
	if (*value)
		t->v[t->n++] = (struct export_label){ name, value };
}

/* Returns a label's name in the protocol, which stays valid as long as *s; NULL if
 * out of memory.  Protocols without dots use underscores. */
static const char *name_for(struct services *s, const char *name, bool otlp)
{
	static const char *const names[][2] = {
		{ "service_name", "service.name" }, { "host", "host.name" },
		{ "container", "container.id" }, { "pod", "k8s.pod.uid" },
		{ "revision", "vcs.ref.head.revision" },
	};
	struct buf plain = { 0 };
	uint32_t id;

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(name, names[i][0]) || !strcmp(name, names[i][1]))
			return names[i][otlp];
	for (; *name; name++)
		buf_u8(&plain, !otlp && *name == '.' ? '_' : (uint8_t)*name);
	id = strtab_add(&s->str, buf_cstr(&plain));
	if (plain.failed)
		id = UINT32_MAX;
	buf_fini(&plain);
	return id == UINT32_MAX ? NULL : strtab_get(&s->str, id);
}

/* What the threads of a group have in common. */
struct group_key {
	uint32_t v[LABEL_CGROUP];	/* by enum thread_label: str */
	uint32_t thread;		/* one of them */
};

/* Appends a label with a value from the recording. */
static int tell_value(struct services *s, struct label_list *t, const char *name,
		      const char *value, bool otlp)
{
	uint32_t id = value_of(s, value);

	name = name_for(s, name, otlp);
	if (!name || id == UINT32_MAX)
		return -ERR_NOMEM;
	add_label(t, name, strtab_get(&s->str, id));
	return 0;
}

/* Appends the labels of a group to those of the groups before.  Later ones win. */
static int add_group(struct services *s, const struct thread_labels *l,
		     const struct group_key *k, const struct push_label *given,
		     size_t n, bool otlp, struct label_list *t)
{
	static const char *const names[] = { [LABEL_HOST] = "host",
					     [LABEL_SERVICE] = "service_name",
					     [LABEL_CONTAINER] = "container",
					     [LABEL_POD] = "pod" };
	const struct profile *p = l->p;
	uint32_t run = p->threads.v[k->thread].run;
	const char *revision = profile_env(p, PROF_NONE, "revision");
	int rc = 0;

	for (int i = LABEL_HOST; !rc && i < LABEL_CGROUP; i++) {
		const char *name = name_for(s, names[i], otlp);

		rc = name ? 0 : -ERR_NOMEM;
		if (!rc)
			add_label(t, name, strtab_get(&s->str, k->v[i]));
	}
	if (!rc && revision && *profile_cstr(p, p->runs.v[run].command))
		rc = tell_value(s, t, "revision", revision, otlp);
	for (size_t i = run ? l->given_end[run - 1] : 0, label_list = 0;
	     !rc && i < l->given_end[run] && label_list < LABELS_MAX;
	     i++, label_list++) {
		const char *name = strtab_get(&l->str, l->given.v[i].name);

		/* names in files may be anything */
		if (is_letter(*name) && strncmp(name, "__", 2) != 0 &&
		    strspn(name, NAME_CHARS) == strlen(name))
			rc = tell_value(s, t, name, strtab_get(
				&l->str, l->given.v[i].value), otlp);
	}
	for (size_t i = 0; !rc && i < n; i++) {
		const char *name = name_for(s, given[i].name, otlp);

		if (!name)
			return -ERR_NOMEM;
		add_label(t, name, given[i].value);
	}
	if (!rc)
		vec_sort(t, by_name);
	return rc;
}

struct grouping {
	VEC(struct group_key) keys;
	struct idtab tab;
};

static bool key_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct grouping *g = ctx;
	const struct group_key *a = key;

	return !memcmp(g->keys.v[id].v, a->v, sizeof(a->v));
}

static int make_groups(struct services *s, const struct thread_labels *l,
		       const struct grouping *g,
		       const struct push_label *given, size_t n, bool otlp)
{
	size_t most = n + LABEL_CGROUP + 1 + LABELS_MAX;

	s->groups = calloc(g->keys.n + 1, sizeof(*s->groups));
	s->labels = calloc(g->keys.n + 1, most * sizeof(*s->labels));
	if (!s->groups || !s->labels)
		return -ERR_NOMEM;
	s->ngroups = g->keys.n;
	for (size_t i = 0; i < g->keys.n; i++) {
		struct label_list t = { s->labels + i * most, 0 };

		if (add_group(s, l, &g->keys.v[i], given, n, otlp, &t) < 0)
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

/* Assigns a thread to the group with its labels. */
static int take_thread(struct services *s, struct thread_labels *l,
		       struct grouping *g, uint32_t thread, bool one)
{
	struct group_key k = { .thread = thread };
	uint64_t h = 0;
	uint32_t id;

	for (int i = 0; i < LABEL_CGROUP; i++) {
		if (i != LABEL_SERVICE || !one)
			k.v[i] = value_of(s, thread_label(
				l, thread, (enum thread_label)i));
		if (k.v[i] == UINT32_MAX)
			return -ERR_NOMEM;
		h = hash_mix(h, k.v[i]);
	}
	id = idtab_row(&g->tab, &g->keys, h, key_eq, g, &k);
	s->group_of[thread] = id;
	return id == IDTAB_NONE ? -ERR_NOMEM : 0;
}

int services_init(struct services *s, const struct profile *p,
		  const struct push_label *given, size_t n, bool otlp,
		  struct error *err)
{
	struct thread_labels labels;
	struct grouping g = { .tab = { 0 } };
	bool one = names_service(given, n);
	int rc = thread_labels_init(&labels, p);

	*s = (struct services){ 0 };
	if (!rc)
		rc = strtab_init(&s->str);
	s->group_of = calloc(p->threads.n + 1, sizeof(*s->group_of));
	if (!s->group_of)
		rc = -ERR_NOMEM;
	/* "" has number 0 and is left out of the labels */
	if (!rc && strtab_add(&s->str, ""))
		rc = -ERR_NOMEM;
	for (uint32_t i = 0; !rc && i < p->threads.n; i++)
		rc = take_thread(s, &labels, &g, i, one);
	if (!rc)
		rc = make_groups(s, &labels, &g, given, n, otlp);
	thread_labels_fini(&labels);
	idtab_fini(&g.tab);
	vec_fini(&g.keys);
	if (!rc)
		return 0;
	services_fini(s);
	return error_nomem(err);
}

void services_fini(struct services *s)
{
	strtab_fini(&s->str);
	free(s->group_of);
	free(s->groups);
	free(s->labels);
	*s = (struct services){ 0 };
}
