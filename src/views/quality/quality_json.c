// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes data quality as JSON, at the head of every view. */
#include "base/text.h"
#include "views/quality/quality.h"

/* maximum entries written; only hostile files have more */
enum { ENVS_LISTED = 1000 };

static void json_event(const struct quality *t, size_t i, struct json *j)
{
	const struct prof_event *e = &t->p->events.v[i];
	const struct quality_event *te = &t->events[i];

	json_object(j, NULL);
	json_str(j, "name", profile_cstr(t->p, e->name));
	json_str(j, "actual", profile_cstr(t->p, e->actual));
	json_str(j, "note", profile_cstr(t->p, e->note));
	json_str(j, "unit", e->unit == PROF_UNIT_NS ? "ns" : "count");
	json_uint(j, "precise", e->precise);
	json_bool(j, "user", !e->exclude_user);
	json_bool(j, "kernel", !e->exclude_kernel);
	json_uint(j, "frequency", e->freq);
	json_uint(j, "period", e->period);
	json_uint(j, "wanted", te->wanted);
	json_uint(j, "got", te->got);
	json_uint(j, "lost", te->lost);
	json_uint(j, "missed", te->missed);
	json_uint(j, "throttled", te->throttled);
	json_uint(j, "weight", te->weight);
	json_uint(j, "counted", te->value);
	json_uint(j, "enabled_ns", te->enabled_ns);
	json_uint(j, "running_ns", te->running_ns);
	json_end(j);
}

static void json_build_id(struct json *j, const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1];

	text_hex(hex, id->bytes, id->len <= BUILD_ID_MAX ? id->len
							 : BUILD_ID_MAX);
	json_str(j, "build_id", hex);
}

static void json_image(const struct quality *t, const struct quality_image *ti,
		       struct json *j)
{
	const struct prof_image *im = &t->p->images.v[ti->image];

	json_object(j, NULL);
	json_str(j, "path", profile_cstr(t->p, im->path));
	json_build_id(j, &im->build_id);
	json_uint(j, "samples", ti->samples);
	json_uint(j, "unresolved", ti->unresolved);
	json_str(j, "note", profile_cstr(t->p, im->note));
	json_end(j);
}

static void json_damage(const struct quality *t, struct json *j)
{
	const struct reader_damage *d = t->damage;

	json_object(j, "damage");
	json_bool(j, "incomplete", d->incomplete);
	json_uint(j, "bad_chunks", d->bad_chunks);
	json_uint(j, "bad_samples", d->bad_samples);
	json_str(j, "message", d->message);
	json_end(j);
}

/* Returns whether no later entry sets the same key. */
static bool is_last(const struct profile *p, size_t i, size_t n)
{
	const struct prof_env *e = &p->envs.v[i];

	for (size_t k = i + 1; k < n; k++)
		if (p->envs.v[k].run == e->run && p->envs.v[k].key == e->key)
			return false;
	return true;
}

static void json_environment(const struct quality *t, struct json *j)
{
	size_t n = t->p->envs.n < ENVS_LISTED ? t->p->envs.n : ENVS_LISTED;

	json_object(j, "environment");
	for (size_t i = 0; i < n; i++) {
		const struct prof_env *e = &t->p->envs.v[i];

		if (e->run == PROF_NONE && is_last(t->p, i, n))
			json_str(j, profile_cstr(t->p, e->key),
				 profile_cstr(t->p, e->value));
	}
	json_end(j);
}

static void json_samples(const struct quality *t, struct json *j)
{
	json_object(j, "samples");
	json_uint(j, "got", t->got);
	json_uint(j, "selected", t->shown);
	json_uint(j, "lost", t->lost);
	json_uint(j, "missed", t->missed);
	json_uint(j, "throttled", t->throttled);
	json_uint(j, "cut_stacks", t->cut);
	json_uint(j, "broken_stacks", t->broken);
	json_uint(j, "without_frames", t->frameless);
	json_uint(j, "unresolved", t->unresolved);
	json_end(j);
}

void quality_json(const struct quality *t, struct json *j)
{
	const struct profile *p = t->p;

	json_str(j, "command",
		 p->runs.n ? profile_cstr(p, p->runs.v[0].command) : "");
	json_uint(j, "runs", p->runs.n);
	json_uint(j, "start_wall_ns",
		  p->runs.n ? p->runs.v[0].start_wall_ns : 0);
	json_uint(j, "duration_ns", t->duration_ns);
	json_bool(j, "complete", !t->running && !t->damage->incomplete);
	json_environment(t, j);
	json_samples(t, j);
	quality_time_json(t, j);
	quality_stacks_json(t, j);
	json_array_lines(j, "events");
	for (size_t i = 0; i < p->events.n; i++)
		json_event(t, i, j);
	json_end(j);
	json_array_lines(j, "images");
	for (size_t i = 0; i < t->images.n; i++)
		json_image(t, &t->images.v[i], j);
	json_end(j);
	json_damage(t, j);
}
