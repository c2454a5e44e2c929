// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the summary of a recording. */
#include "views/info.h"

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

	return kind < COUNT(names) ? names[kind]
						       : "unknown";
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
	rc = aggregate_run(r, &in->none, 0, false, &in->agg, err);
	if (!rc)
		rc = quality_build(&in->quality, r, &in->agg, err);
	if (!rc)
		rc = missing_build(&in->missing, &in->quality, err);
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

static void json_runs(const struct profile *p, struct json *j)
{
	json_array_lines(j, "runs");
	for (size_t i = 0; i < p->runs.n; i++) {
		const struct prof_run *r = &p->runs.v[i];

		json_object(j, NULL);
		json_uint(j, "run", i + 1);
		json_str(j, "command", profile_cstr(p, r->command));
		json_int(j, "wait_status", r->exit_status);
		json_uint(j, "start_ns", r->start_ns);
		json_uint(j, "end_ns", r->end_ns);
		json_uint(j, "start_wall_ns", r->start_wall_ns);
		json_uint(j, "user_ns", r->user_ns);
		json_uint(j, "sys_ns", r->sys_ns);
		json_end(j);
	}
	json_end(j);
}

static void json_counts(const struct info *in, struct json *j)
{
	const struct profile *p = in->quality.p;

	json_object(j, "counts");
	json_uint(j, "samples", in->quality.got);
	json_uint(j, "threads", p->threads.n);
	json_uint(j, "images", p->images.n);
	json_uint(j, "locations", p->locs.n);
	json_uint(j, "stack_nodes", p->nodes.n);
	json_uint(j, "strings", p->str.str.n);
	json_bool(j, "symbolized", p->symbolized);
	json_uint(j, "functions", p->funcs.n);
	json_uint(j, "frames", p->frames.n);
	json_uint(j, "symbols", p->symbols.n);
	json_uint(j, "code_bytes", p->code_bytes.n);
	json_uint(j, "code_lines", p->lines.n);
	json_uint(j, "source_bytes", p->text_bytes.n);
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
		json_uint(&j, "chunks", s->chunks);
		json_uint(&j, "stored", s->stored);
		json_uint(&j, "raw", s->raw);
		json_uint(&j, "damaged", s->bad);
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
