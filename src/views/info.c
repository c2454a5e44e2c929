// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the summary of a recording, and writes it as JSON and as text. */
#include "views/info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "views/query/lines.h"

/* Kinds of chunks (doc/tally-format.5), by number. */
static const char *const kinds[INFO_CHUNK_KINDS] = {
	"unknown", "tables", "samples", "symbols", "code", "end", "sums",
};

const char *chunk_kind_name(uint32_t kind)
{
	return kinds[kind < INFO_CHUNK_KINDS ? kind : 0];
}

const char *image_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[PROF_IMAGE_ELF] = "elf",	[PROF_IMAGE_KERNEL] = "kernel",
		[PROF_IMAGE_MODULE] = "module", [PROF_IMAGE_VDSO] = "vdso",
		[PROF_IMAGE_ANON] = "anonymous",
		[PROF_IMAGE_UNKNOWN] = "unknown",
		[PROF_IMAGE_GENERATED] = "generated",
	};

	return kind < COUNT(names) ? names[kind] : "unknown";
}

static bool add_chunk(void *ctx, const struct reader_chunk *c)
{
	struct info *in = ctx;
	struct chunk_sum *s = &in->chunks[c->kind < INFO_CHUNK_KINDS ? c->kind
								     : 0];

	s->chunks++;
	s->stored += c->stored;
	s->raw += c->raw;
	s->bad += !c->good;
	return true;
}

int info_build(struct info *in, struct reader *r, const char *path,
	       uint64_t file_bytes, struct error *err)
{
	int rc;

	*in = (struct info){ .reader = r, .path = path,
			     .file_bytes = file_bytes };
	for (int i = 0; i < INFO_CHUNK_KINDS; i++)
		in->chunks[i].kind = kinds[i];
	reader_each_chunk(r, add_chunk, in);
	rc = aggregate_run(r, &in->none, 0, false, &in->agg, err) ?:
	     quality_build(&in->quality, r, &in->agg, err) ?:
	     missing_build(&in->missing, &in->quality, err);
	if (rc < 0)
		info_fini(in);
	return rc;
}

void info_fini(struct info *in)
{
	missing_fini(&in->missing);
	quality_fini(&in->quality);
	aggregate_fini(&in->agg);
}

/* --- as JSON */

static void json_runs(const struct profile *p, struct json *j)
{
	json_array_lines(j, "runs");
	for (size_t i = 0; i < p->runs.n; i++) {
		const struct prof_run *r = &p->runs.v[i];

		json_object(j, NULL);
		json_uint(j, "run", i + 1);
		json_str(j, "command", profile_cstr(p, r->command));
		json_int(j, "wait_status", r->exit_status);
		json_uints(j, { "start_ns", r->start_ns }, { "end_ns", r->end_ns },
			   { "start_wall_ns", r->start_wall_ns },
			   { "user_ns", r->user_ns }, { "sys_ns", r->sys_ns });
		json_end(j);
	}
	json_end(j);
}

static void json_counts(const struct info *in, struct json *j)
{
	const struct profile *p = in->quality.p;

	json_object(j, "counts");
	json_uints(j, { "samples", in->quality.got }, { "threads", p->threads.n },
		   { "images", p->images.n }, { "locations", p->locs.n },
		   { "stack_nodes", p->nodes.n }, { "strings", p->str.str.n });
	json_bool(j, "symbolized", p->symbolized);
	json_uints(j, { "functions", p->funcs.n }, { "frames", p->frames.n },
		   { "symbols", p->symbols.n }, { "code_bytes", p->code_bytes.n },
		   { "code_lines", p->lines.n },
		   { "source_bytes", p->text_bytes.n });
	json_end(j);
}

void info_json(const struct info *in, struct buf *out)
{
	struct json j = json_on(out);

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	json_object(&j, "file");
	json_str(&j, "path", in->path);
	json_uint(&j, "bytes", in->file_bytes);
	json_array(&j, "chunks");
	for (int i = 0; i < INFO_CHUNK_KINDS; i++) {
		const struct chunk_sum *s = &in->chunks[i];

		if (!s->chunks)
			continue;
		json_object(&j, NULL);
		json_str(&j, "kind", s->kind);
		json_uints(&j, { "chunks", s->chunks }, { "stored", s->stored },
			   { "raw", s->raw }, { "damaged", s->bad });
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_object(&j, "header");
	quality_json(&in->quality, &j);
	missing_json(&in->missing, &j);
	json_end(&j);
	json_runs(in->quality.p, &j);
	json_counts(in, &j);
	json_end(&j);
	buf_u8(out, '\n');
}

/* --- as text */

enum { FIELD_WIDTH = 14, FIELD_WIDTH_MAX = 30 };

static void heading(struct buf *out, const char *text)
{
	buf_u8(out, '\n');
	buf_str(out, text);
	buf_u8(out, '\n');
}

static void field(struct buf *out, const char *name, size_t width,
		  const char *value)
{
	size_t n = strlen(name);

	buf_str(out, "  ");
	text_safe(out, name);
	line_pad(out, n < width ? width - n : 1);
	text_safe(out, value);
	buf_u8(out, '\n');
}

static void bytes(struct buf *out, uint64_t n)
{
	text_count(out, n);
	buf_str(out, n == 1 ? " byte" : " bytes");
}

static void put_file(const struct info *in, struct buf *out)
{
	buf_str(out, "File ");
	text_safe(out, in->path);
	buf_str(out, ", ");
	bytes(out, in->file_bytes);
	buf_u8(out, '\n');
	for (int i = 0; i < INFO_CHUNK_KINDS; i++) {
		const struct chunk_sum *s = &in->chunks[i];

		if (!s->chunks)
			continue;
		buf_printf(out, "  %-13s ", s->kind);
		bytes(out, s->stored);
		buf_printf(out, " in %" PRIu64 " chunk%s", s->chunks,
			   plural(s->chunks, "s"));
		if (s->raw != s->stored) {
			buf_str(out, ", ");
			bytes(out, s->raw);
			buf_str(out, " unpacked");
		}
		if (s->bad)
			buf_printf(out, ", %" PRIu64 " damaged", s->bad);
		buf_u8(out, '\n');
	}
}

static void put_environment(const struct profile *p, struct buf *out)
{
	size_t width = FIELD_WIDTH;
	bool any = false;

	for (size_t i = 0; i < p->envs.n; i++) {
		size_t n = strlen(profile_cstr(p, p->envs.v[i].key)) + 1;

		if (p->envs.v[i].run == PROF_NONE && n > width)
			width = n > FIELD_WIDTH_MAX ? FIELD_WIDTH_MAX : n;
	}
	for (size_t i = 0; i < p->envs.n; i++) {
		if (p->envs.v[i].run != PROF_NONE)
			continue;
		if (!any)
			heading(out, "Environment");
		any = true;
		field(out, profile_cstr(p, p->envs.v[i].key), width,
		      profile_cstr(p, p->envs.v[i].value));
	}
}

static void put_status(const struct prof_run *r, struct buf *out)
{
	int st = r->exit_status;

	if (!r->end_ns || st == -1)
		buf_str(out, ", end unknown");
	else if (WIFEXITED(st))
		buf_printf(out, ", exit status %d", WEXITSTATUS(st));
	else if (WIFSIGNALED(st))
		buf_printf(out, ", killed by signal %d", WTERMSIG(st));
}

static void put_runs(const struct profile *p, struct buf *out)
{
	heading(out, "Runs");
	for (size_t i = 0; i < p->runs.n; i++) {
		const struct prof_run *r = &p->runs.v[i];

		buf_printf(out, "  %-3zu ", i + 1);
		text_safe(out, quality_run_title(p, r));
		if (r->start_wall_ns) {
			buf_str(out, ", ");
			line_time(out, r->start_wall_ns);
		}
		if (r->end_ns > r->start_ns) {
			buf_str(out, ", ");
			line_duration(out, r->end_ns - r->start_ns);
		}
		put_status(r, out);
		if (r->user_ns || r->sys_ns) {
			buf_str(out, ", user ");
			line_duration(out, r->user_ns);
			buf_str(out, ", system ");
			line_duration(out, r->sys_ns);
		}
		buf_u8(out, '\n');
	}
}

static void put_event(const struct info *in, size_t i, struct buf *out)
{
	const struct prof_event *e = &in->quality.p->events.v[i];
	const struct quality_event *t = &in->quality.events[i];

	buf_str(out, "  ");
	text_safe(out, profile_cstr(in->quality.p, e->name));
	buf_str(out, ": opened as ");
	text_safe(out, profile_cstr(in->quality.p, e->actual));
	buf_printf(out, " (type %" PRIu32 ", config 0x%" PRIx64 ")", e->type,
		   e->config);
	if (e->freq)
		buf_printf(out, ", %" PRIu64 " Hz", e->freq);
	else if (e->period)
		buf_printf(out, ", every %" PRIu64, e->period);
	buf_printf(out, ", precise %u%s%s", e->precise,
		   e->exclude_user ? ", kernel only" : "",
		   e->exclude_kernel ? ", user only" : "");
	buf_str(out, "; counted ");
	text_count(out, t->value);
	buf_str(out, e->unit == PROF_UNIT_NS ? " ns" : "");
	buf_u8(out, '\n');
}

/* Appends remedies for an image, one per line. */
static void put_help(const struct missing_row *r, struct buf *out)
{
	const char *const lines[] = { r->command, r->note, r->fetch };

	for (size_t i = 0; i < COUNT(lines); i++) {
		if (!*lines[i])
			continue;
		buf_str(out, i == 1 && *r->command ? "             "
						   : "           -> ");
		text_safe(out, lines[i]);
		buf_u8(out, '\n');
	}
}

/* Appends the source of an image's names. */
static void put_names(const struct image_debug_info *s, struct buf *out)
{
	static const char *const from[] = {
		".symtab", ".dynsym", ".gnu_debugdata", NULL, "DWARF",
		"/proc/kallsyms", "/tmp/perf-PID.map", ".gopclntab",
		"the memory of the program", "its jitdump file",
	};
	const char *before = "           symbols from ";

	for (size_t i = 0; s && i < COUNT(from); i++)
		if (s->names >> i & 1 && from[i]) {
			buf_printf(out, "%s%s", before, from[i]);
			before = ", ";
		}
	if (*before == ',')
		buf_u8(out, '\n');
}

static void put_image(const struct info *in, const struct quality_image *ti,
		      const struct missing_row *lacks, struct buf *out)
{
	const struct profile *p = in->quality.p;
	const struct prof_image *im = &p->images.v[ti->image];
	size_t n = im->build_id.len <= BUILD_ID_MAX ? im->build_id.len : 0;

	buf_printf(out, "  %6.2f%%  ",
		   line_share(ti->samples, in->quality.shown));
	text_safe(out, profile_cstr(p, im->path));
	if (im->flags & PROF_IMAGE_DELETED)
		buf_str(out, " (deleted)");
	buf_printf(out, "\n           %s, ", image_kind_name(im->kind));
	text_count(out, ti->samples);
	buf_printf(out, " sample%s, ", plural(ti->samples, "s"));
	text_count(out, ti->unresolved);
	buf_str(out, " unresolved");
	if (n) {
		buf_str(out, ", build ID ");
		buf_hex(out, im->build_id.bytes, n);
	}
	buf_u8(out, '\n');
	put_names(profile_source(p, ti->image), out);
	if (*profile_cstr(p, im->debug_file)) {
		buf_str(out, "           debug file ");
		text_safe(out, profile_cstr(p, im->debug_file));
		buf_u8(out, '\n');
	}
	if (*profile_cstr(p, im->note)) {
		buf_str(out, "           ");
		text_safe(out, profile_cstr(p, im->note));
		buf_u8(out, '\n');
	}
	if (lacks)
		put_help(lacks, out);
}

static void put_images(const struct info *in, struct buf *out)
{
	const struct missing_row **lacks =
		calloc(in->quality.p->images.n + 1, sizeof(*lacks));

	heading(out, "Images with samples");
	for (size_t i = 0; lacks && i < in->missing.rows.n; i++)
		lacks[in->missing.rows.v[i].image] = &in->missing.rows.v[i];
	for (size_t i = 0; lacks && i < in->quality.images.n; i++) {
		const struct quality_image *ti = &in->quality.images.v[i];

		put_image(in, ti, lacks[ti->image], out);
	}
	out->failed |= !lacks;
	free(lacks);
}

static void put_stacks(const struct info *in, struct buf *out)
{
	const struct quality *t = &in->quality;

	if (!t->ends.n)
		return;
	heading(out, "Incomplete stacks");
	for (size_t i = 0; i < t->ends.n; i++) {
		buf_printf(out, "  %6.2f%%  ",
			   line_share(t->ends.v[i].samples, t->shown));
		stack_end_text(t, &t->ends.v[i], out);
		buf_u8(out, '\n');
	}
	quality_stacks_help(t, "           -> ", out);
}

static void put_count(struct buf *out, const char *name, uint64_t n)
{
	struct buf tmp = { 0 };

	text_count(&tmp, n);
	field(out, name, FIELD_WIDTH, buf_cstr(&tmp));
	buf_fini(&tmp);
}

static void put_counts(const struct info *in, struct buf *out)
{
	const struct profile *p = in->quality.p;

	heading(out, "Counts");
	put_count(out, "samples", in->quality.got);
	put_count(out, "lost", in->quality.lost);
	put_count(out, "missed", in->quality.missed);
	put_count(out, "throttled", in->quality.throttled);
	put_count(out, "threads", p->threads.n);
	put_count(out, "images", p->images.n);
	put_count(out, "locations", p->locs.n);
	put_count(out, "stack nodes", p->nodes.n);
	put_count(out, "strings", p->str.str.n);
	if (!p->symbolized) {
		field(out, "symbols", FIELD_WIDTH,
		      "not stored yet (tally symbolize adds them)");
		return;
	}
	put_count(out, "functions", p->funcs.n);
	put_count(out, "inline frames", p->frames.n);
	put_count(out, "symbols", p->symbols.n);
	put_count(out, "code bytes", p->code_bytes.n);
	put_count(out, "code lines", p->lines.n);
	put_count(out, "source bytes", p->text_bytes.n);
}

void info_text(const struct info *in, int columns, struct buf *out)
{
	const struct profile *p = in->quality.p;

	quality_text(&in->quality, columns, out);
	buf_u8(out, '\n');
	put_file(in, out);
	put_environment(p, out);
	put_runs(p, out);
	heading(out, "Events");
	for (size_t i = 0; i < p->events.n; i++)
		put_event(in, i, out);
	put_images(in, out);
	put_stacks(in, out);
	put_counts(in, out);
}
