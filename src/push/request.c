// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Converts entries to the servers' requests:
 *
 *	Pyroscope	api/push/v1/push.proto by Connect's unary POST;
 *			/ingest of its "Server API" page
 *	Parca		parca/profilestore/v1alpha1/profilestore.proto, by its
 *			gateway's JSON and by gRPC
 *	OpenTelemetry	profiles_service.proto by OTLP/HTTP and OTLP/gRPC
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "export/proto.h"
#include "push/entry.h"
#include "push/grpc.h"

/* Paths after the base address. */
#define PATH_PUSH "/push.v1.PusherService/Push"
#define PATH_PARCA "/api/profiles/writeraw"
#define PATH_PARCA_GRPC "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"
#define PATH_OTLP "/v1development/profiles"
#define PATH_OTLP_GRPC \
	"/opentelemetry.proto.collector.profiles.v1development." \
	"ProfilesService/Export"

/* Reads a label's name and value, which borrow the bytes.  Returns false at the
 * end. */
static bool next_label(struct cursor *labels, struct cursor *name,
		       struct cursor *value)
{
	struct proto_field f, g;

	if (!proto_next(labels, &f) || f.wire != PROTO_BYTES)
		return false;
	*name = *value = cursor_of(NULL, 0);
	while (proto_next(&f.part, &g))
		if (g.wire == PROTO_BYTES && g.number == 1)
			*name = g.part;
		else if (g.wire == PROTO_BYTES && g.number == 2)
			*value = g.part;
	return !f.part.bad;
}

static const char *text_of(const struct cursor *c, struct buf *room)
{
	buf_again(room);
	buf_bytes(room, c->p, cursor_left(c));
	return buf_cstr(room);
}

static void put_uuid(struct buf *out, const uint8_t *id)
{
	uint8_t b[ENTRY_ID_BYTES];

	memcpy(b, id, sizeof(b));
	b[6] = (uint8_t)((b[6] & 0x0f) | 0x80);	/* version 8: RFC 9562 */
	b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
	for (int i = 0; i < ENTRY_ID_BYTES; i++)
		buf_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10
					  ? "-" : "", b[i]);
}

static void push_request(const struct entry *e, struct buf *out)
{
	struct buf series = { 0 }, sample = { 0 }, uuid = { 0 };

	for (size_t i = 0; i < e->series.n; i++) {
		const struct entry_series *s = &e->series.v[i];

		/* The protocol's label messages have the same encoding as the
		 * entry's. */
		buf_bytes(&series, s->labels.p, cursor_left(&s->labels));
		proto_bytes(&sample, 1, s->profile.p, cursor_left(&s->profile));
		buf_again(&uuid);
		put_uuid(&uuid, s->id);
		proto_bytes(&sample, 2, uuid.p, uuid.n);
		proto_part(&series, 2, &sample);
		proto_part(out, 1, &series);
	}
	buf_fini(&series);
	buf_fini(&sample);
	buf_close(&uuid, out);
}

static void parca_message(const struct entry *e, const char *tenant,
			  struct buf *out)
{
	struct buf series = { 0 }, part = { 0 };

	if (tenant)
		proto_str(out, 1, tenant);
	for (size_t i = 0; i < e->series.n; i++) {
		const struct entry_series *s = &e->series.v[i];

		buf_bytes(&part, s->labels.p, cursor_left(&s->labels));
		proto_part(&series, 1, &part);
		proto_bytes(&part, 1, s->profile.p, cursor_left(&s->profile));
		proto_part(&series, 2, &part);
		proto_part(out, 2, &series);
	}
	proto_uint(out, 3, 1);	/* addresses are those in the ELF files */
	buf_fini(&series);
	buf_fini(&part);
}

static void json_series(struct json *j, const struct entry_series *s)
{
	struct cursor labels = s->labels, name, value;
	struct buf text = { 0 }, more = { 0 };

	json_object(j, NULL);
	json_object(j, "labels");
	json_array(j, "labels");
	while (next_label(&labels, &name, &value)) {
		json_object(j, NULL);
		json_str(j, "name", text_of(&name, &text));
		json_str(j, "value", text_of(&value, &more));
		json_end(j);
	}
	json_end(j);
	json_end(j);
	json_array(j, "samples");
	json_object(j, NULL);
	buf_again(&text);
	base64(&text, s->profile.p, cursor_left(&s->profile));
	json_str(j, "rawProfile", buf_cstr(&text));
	json_end(j);
	json_end(j);
	json_end(j);
	buf_close(&text, j->out);
	buf_close(&more, j->out);
}

static void parca_json(const struct entry *e, const char *tenant,
		       struct buf *out)
{
	struct json j = json_on(out);

	json_object(&j, NULL);
	if (tenant)
		json_str(&j, "tenant", tenant);
	json_array(&j, "series");
	for (size_t i = 0; i < e->series.n; i++)
		json_series(&j, &e->series.v[i]);
	json_end(&j);
	json_bool(&j, "normalized", true);
	json_end(&j);
}

/* Writes the service as a name that Pyroscope accepts there.  Returns whether it
 * differs. */
static bool service_path(const struct buf *service, struct buf *out)
{
	bool differs = false;

	for (size_t i = 0; i < service->n; i++) {
		char c = (char)service->p[i];
		bool good = isalnum((unsigned char)c) || (c && strchr("-_./", c));

		buf_u8(out, good ? (uint8_t)c : '_');
		differs |= !good;
	}
	return differs;
}

/* Writes service{name=value,…}. The syntax has no escapes, so its special
 * characters are replaced.  A service with a name that is not possible is also a
 * label, which Pyroscope prefers. */
static void ingest_name(const struct entry_series *s, struct buf *name,
			struct buf *metric)
{
	struct cursor labels = s->labels, key, value;
	struct buf k = { 0 }, v = { 0 }, service = { 0 }, others = { 0 };

	while (next_label(&labels, &key, &value)) {
		const char *label = text_of(&key, &k);

		text_of(&value, &v);
		for (size_t i = 0; i < v.n; i++)
			if (strchr("{},=", v.p[i]))
				v.p[i] = '_';
		if (!strcmp(label, "__name__"))
			buf_bytes(metric, v.p, v.n);
		else if (!strcmp(label, "service_name"))
			buf_bytes(&service, v.p, v.n);
		else
			buf_printf(&others, "%s%s=%s", others.n ? "," : "",
				   label, buf_cstr(&v));
	}
	if (service_path(&service, name))
		buf_printf(&others, "%sservice_name=%s", others.n ? "," : "",
			   buf_cstr(&service));
	buf_printf(name, "{%s}", buf_cstr(&others));
	buf_close(&k, name);
	buf_close(&v, name);
	buf_close(&service, name);
	buf_close(&others, name);
}

static void form_part(struct buf *out, const char *boundary, const char *name,
		      const char *file, const void *p, size_t n)
{
	buf_printf(out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"; "
		   "filename=\"%s\"\r\nContent-Type: application/octet-stream"
		   "\r\n\r\n", boundary, name, file);
	buf_bytes(out, p, n);
	buf_str(out, "\r\n");
}

/* Writes a form that names the types of values, because the server knows only
 * some. */
static void ingest(const struct entry *e, struct entry_request *q)
{
	const struct entry_series *s = &e->series.v[0];
	struct buf name = { 0 }, metric = { 0 }, config = { 0 }, id = { 0 };
	struct json j = json_on(&config);
	bool cpu;

	ingest_name(s, &name, &metric);
	cpu = !strcmp(buf_cstr(&metric), "process_cpu");
	buf_str(&q->path, "/ingest?name=");
	text_percent(&q->path, buf_cstr(&name), "-._~");
	buf_printf(&q->path, "&from=%llu&until=%llu&spyName=tally",
		   (unsigned long long)(e->from_ns / 1000000000),
		   (unsigned long long)((e->until_ns + 999999999) / 1000000000));
	json_object(&j, NULL);
	json_object(&j, cpu ? "cpu" : buf_cstr(&metric));
	json_str(&j, "units", cpu ? "nanoseconds" : "samples");
	json_str(&j, "display-name", cpu ? "cpu" : buf_cstr(&metric));
	json_end(&j);
	json_end(&j);
	put_uuid(&id, s->id);
	snprintf(q->type, sizeof(q->type), "multipart/form-data; boundary=%s",
		 buf_cstr(&id));
	q->content_type = q->type;
	form_part(&q->body, buf_cstr(&id), "profile", "profile.pprof",
		  s->profile.p, cursor_left(&s->profile));
	form_part(&q->body, buf_cstr(&id), "sample_type_config",
		  "sample_type_config.json", config.p, config.n);
	buf_printf(&q->body, "--%s--\r\n", buf_cstr(&id));
	buf_close(&name, &q->body);
	buf_close(&metric, &q->body);
	buf_close(&config, &q->body);
	buf_close(&id, &q->body);
}

bool entry_fits(const struct entry *e, enum push_protocol protocol)
{
	return protocol != PUSH_INGEST || e->series.n <= 1;
}

int entry_request(const struct entry *e, enum push_protocol protocol,
		  const char *tenant, struct entry_request *q,
		  struct error *err)
{
	struct buf message = { 0 };

	*q = (struct entry_request){ .content_type = "application/grpc" };
	if (push_is_otlp(protocol) != (e->kind == ENTRY_OTLP))
		return error_set(err, ERR_USAGE, "a request for %s cannot be "
				 "sent to %s", e->kind == ENTRY_OTLP
				 ? "otlp" : "pyroscope or parca",
				 push_is_otlp(protocol) ? "otlp"
							: "pyroscope or parca");
	switch (protocol) {
	case PUSH_PYROSCOPE:
		buf_str(&q->path, PATH_PUSH);
		q->content_type = "application/proto";
		q->connect = true;
		push_request(e, &q->body);
		break;
	case PUSH_INGEST:
		ingest(e, q);
		break;
	case PUSH_PARCA:
		buf_str(&q->path, PATH_PARCA);
		q->content_type = "application/json";
		parca_json(e, tenant, &q->body);
		break;
	case PUSH_PARCA_GRPC:
		buf_str(&q->path, PATH_PARCA_GRPC);
		parca_message(e, tenant, &message);
		grpc_frame(&q->body, false, message.p, message.n);
		break;
	case PUSH_OTLP:
		buf_str(&q->path, PATH_OTLP);
		q->content_type = "application/x-protobuf";
		q->encoding = "gzip";
		buf_bytes(&q->body, e->otlp.p, cursor_left(&e->otlp));
		break;
	case PUSH_OTLP_GRPC:
		buf_str(&q->path, PATH_OTLP_GRPC);
		q->grpc_gzip = true;
		grpc_frame(&q->body, true, e->otlp.p, cursor_left(&e->otlp));
		break;
	}
	buf_close(&message, &q->body);
	buf_cstr(&q->path);
	if (!q->body.failed && !q->path.failed)
		return 0;
	entry_request_fini(q);
	return error_nomem(err);
}

void entry_request_fini(struct entry_request *q)
{
	buf_fini(&q->path);
	buf_fini(&q->body);
}
