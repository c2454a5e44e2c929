/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_URL_H
#define TALLY_PUSH_URL_H
/*
 * Addresses of servers, as users write them:
 *
 *	pyroscope+http://HOST:4040	push.v1.PusherService/Push
 *	pyroscope+http://HOST:4040/ingest	the older /ingest
 *	parca+http://HOST:7070		the gateway's /api/profiles/writeraw (JSON)
 *	parca+grpc://HOST:7070		ProfileStoreService/WriteRaw
 *	otlp+http://HOST:4318		/v1development/profiles
 *	otlp+grpc://HOST:4317		ProfilesService/Export
 *
 * Each also exists with TLS: +https, +grpcs.  A path before the endpoint's is kept.
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
	char *base;		/* http(s)://HOST:PORT/PATH without a trailing
				 * slash */
};

static inline bool push_is_otlp(enum push_protocol p)
{
	return p >= PUSH_OTLP;
}

static inline bool push_is_grpc(enum push_protocol p)
{
	return p == PUSH_PARCA_GRPC || p == PUSH_OTLP_GRPC;
}

/* Parses a URL. ERR_USAGE describes the mistake.  A user or password in a URL is
 * refused, because other users can read command lines; the message never contains
 * it. */
int push_url_parse(const char *text, struct push_url *out, struct error *err);
void push_url_fini(struct push_url *u);

#endif
