/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_URL_H
#define TALLY_PUSH_URL_H
/*
 * Where profiles go, as users write it:
 *
 *	pyroscope+http://HOST:4040	push.v1.PusherService/Push
 *	pyroscope+http://HOST:4040/ingest	the older /ingest
 *	parca+http://HOST:7070		the gateway's /api/profiles/writeraw (JSON)
 *	parca+grpc://HOST:7070		ProfileStoreService/WriteRaw
 *	otlp+http://HOST:4318		/v1development/profiles
 *	otlp+grpc://HOST:4317		ProfilesService/Export
 *
 * and each with TLS: +https, +grpcs.  A path before the endpoint's is kept.
 */
#include <stdbool.h>

#include "base/error.h"

enum push_protocol {
	PUSH_PYROSCOPE,
	PUSH_INGEST,		/* Pyroscope's /ingest */
	PUSH_PARCA,
	PUSH_PARCA_GRPC,
	PUSH_OTLP,
	PUSH_OTLP_GRPC,
};

struct push_url {
	enum push_protocol protocol;
	bool tls;
	bool local;		/* the host is this machine */
	char *base;		/* http(s)://HOST:PORT/PATH without a last slash */
};

static inline bool push_is_otlp(enum push_protocol p)
{
	return p >= PUSH_OTLP;
}

static inline bool push_is_grpc(enum push_protocol p)
{
	return p == PUSH_PARCA_GRPC || p == PUSH_OTLP_GRPC;
}

/* ERR_USAGE says what is wrong; a user or a password in a URL is, as others read
 * command lines.  The message never holds it. */
int push_url_parse(const char *text, struct push_url *out, struct error *err);
void push_url_fini(struct push_url *u);

#endif
