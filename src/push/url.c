// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses addresses of servers: see url.h. */
#include "push/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"

enum { URL_MAX = 2048 };

static const struct scheme {
	const char *name;
	enum push_protocol protocol;
	bool tls;
} schemes[] = {
	{ "pyroscope+http", PUSH_PYROSCOPE, false },
	{ "pyroscope+https", PUSH_PYROSCOPE, true },
	{ "parca+http", PUSH_PARCA, false },
	{ "parca+https", PUSH_PARCA, true },
	{ "parca+grpc", PUSH_PARCA_GRPC, false },
	{ "parca+grpcs", PUSH_PARCA_GRPC, true },
	{ "otlp+http", PUSH_OTLP, false },
	{ "otlp+https", PUSH_OTLP, true },
	{ "otlp+grpc", PUSH_OTLP_GRPC, false },
	{ "otlp+grpcs", PUSH_OTLP_GRPC, true },
};
enum { SCHEMES = COUNT(schemes) };

static const struct scheme *find_scheme(const char *text, size_t n)
{
	for (int i = 0; i < SCHEMES; i++)
		if (strlen(schemes[i].name) == n &&
		    !strncmp(schemes[i].name, text, n))
			return &schemes[i];
	return NULL;
}

/* Returns whether the host of an authority, without its port, is this machine. */
static bool is_local(const char *host, size_t n)
{
	static const char *const names[] = { "localhost", "127.", "[::1]" };

	for (size_t i = 0; i < COUNT(names); i++) {
		size_t m = strlen(names[i]);

		if (n >= m && !strncmp(host, names[i], m) &&
		    (names[i][m - 1] == '.' || n == m || host[m] == ':'))
			return true;
	}
	return false;
}

static int check_rest(const char *rest, size_t authority, struct error *err)
{
	if (!authority || rest[0] == ':' || rest[authority - 1] == ':')
		return error_set(err, ERR_USAGE, "the URL has no host, or no "
				 "port after ':'");
	/* In a path, @ is an ordinary character. */
	if (memchr(rest, '@', authority))
		return error_set(err, ERR_USAGE, "a URL with a user or password "
				 "can be read by all users of this machine; "
				 "--token-file FILE or TALLY_PUSH_TOKEN takes "
				 "\"Basic …\" instead");
	if (strpbrk(rest, "?#"))
		return error_set(err, ERR_USAGE, "the URL has a query (?) or a "
				 "fragment (#); use --label and --tenant "
				 "instead");
	for (const char *s = rest; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 0x7f)
			return error_set(err, ERR_USAGE, "the URL has a blank or "
					 "a character that is not ASCII");
	return 0;
}

int push_url_parse(const char *text, struct push_url *out, struct error *err)
{
	const char *colon = strstr(text, "://"), *rest;
	const struct scheme *s = colon ? find_scheme(text,
						     (size_t)(colon - text))
				       : NULL;
	size_t authority, n;
	struct buf base = { 0 };
	int rc;

	*out = (struct push_url){ 0 };
	if (!s)
		return error_set(err, ERR_USAGE, "not a URL for profiles: use "
				 "pyroscope+http(s)://HOST:PORT, "
				 "parca+http(s)://, parca+grpc(s)://, "
				 "otlp+http(s):// or otlp+grpc(s)://");
	rest = colon + 3;
	n = strlen(rest);
	authority = strcspn(rest, "/?#");
	if (n > URL_MAX)
		return error_set(err, ERR_USAGE, "the URL has more than %d "
				 "bytes", URL_MAX);
	rc = check_rest(rest, authority, err);
	if (rc)
		return rc;
	out->protocol = s->protocol;
	out->tls = s->tls;
	out->local = is_local(rest, authority);
	while (n > authority && rest[n - 1] == '/')
		n--;
	if (s->protocol == PUSH_PYROSCOPE && n - authority >= 7 &&
	    !strncmp(rest + n - 7, "/ingest", 7)) {
		out->protocol = PUSH_INGEST;
		n -= 7;
	}
	buf_str(&base, s->tls ? "https://" : "http://");
	buf_bytes(&base, rest, n);
	out->base = strdup(buf_cstr(&base));
	rc = base.failed || !out->base;
	buf_fini(&base);
	return rc ? error_nomem(err) : 0;
}

void push_url_fini(struct push_url *u)
{
	free(u->base);
	u->base = NULL;
}
