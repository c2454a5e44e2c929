// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends POST requests by libcurl: see http.h.  The library is loaded on first use
 * instead of linked, because it loads some thirty others, which would delay all
 * other commands. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "push/http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Copies the value of a header field if it has this name. */
static bool take(const char *line, size_t n, const char *name, char *out,
		 size_t room)
{
	size_t m = strlen(name);

	if (n <= m || line[m] != ':' || strncasecmp(line, name, m))
		return false;
	line += m + 1;
	n -= m + 1;
	while (n && (*line == ' ' || *line == '\t')) {
		line++;
		n--;
	}
	while (n && (line[n - 1] == '\r' || line[n - 1] == '\n' ||
		     line[n - 1] == ' '))
		n--;
	if (n >= room)
		n = room - 1;
	memcpy(out, line, n);
	out[n] = 0;
	return true;
}

void http_take_header(struct http_answer *a, const char *line, size_t n)
{
	/* A status line begins a new answer, so earlier header fields are dropped. */
	if (n > 5 && !strncasecmp(line, "HTTP/", 5))
		a->retry_after[0] = a->location[0] = a->content_type[0] =
			a->grpc_status[0] = a->grpc_message[0] = 0;
	else if (!take(line, n, "Retry-After", a->retry_after,
		       sizeof(a->retry_after)) &&
		 !take(line, n, "Location", a->location,
		       sizeof(a->location)) &&
		 !take(line, n, "Content-Type", a->content_type,
		       sizeof(a->content_type)) &&
		 !take(line, n, "grpc-status", a->grpc_status,
		       sizeof(a->grpc_status)))
		take(line, n, "grpc-message", a->grpc_message,
		     sizeof(a->grpc_message));
}

#ifdef HAVE_CURL
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>

#include "base/vec.h"

enum {
	CONNECT_MS = 10000, TIMEOUT_MS = 30000,
	STREAM_MS = 600000,	/* limit of a request whose body is a stream … */
	STREAM_LEAST = 1000,	/* … which must be as fast: bytes per second */
};

#define CURL_FUNCTIONS(F) \
	F(curl_global_init) F(curl_easy_init) F(curl_easy_setopt) \
	F(curl_easy_perform) F(curl_easy_getinfo) F(curl_easy_cleanup) \
	F(curl_easy_reset) F(curl_easy_strerror) F(curl_slist_append) \
	F(curl_slist_free_all) F(curl_version_info)

#undef curl_easy_setopt
#undef curl_easy_getinfo

struct http {
	void *lib;
#define MEMBER(f) __typeof__(f) *f;
	CURL_FUNCTIONS(MEMBER)
#undef MEMBER
	CURL *easy;
	char *ca, *cert, *key, *agent;
	long timeout_ms;
};

static const char *const libraries[] = {
	"libcurl.so.4", "libcurl-gnutls.so.4",
};

static int load(struct http *h, struct error *err)
{
	for (size_t i = 0; !h->lib &&
			   i < COUNT(libraries); i++)
		h->lib = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	if (!h->lib)
		return error_set(err, ERR_UNSUPPORTED, "sending needs libcurl, "
				 "which is not installed; on Debian: apt-get "
				 "install "
				 "libcurl4");
#define RESOLVE(f) \
	h->f = (__typeof__(f) *)dlsym(h->lib, #f); \
	if (!h->f) \
		return error_set(err, ERR_UNSUPPORTED, \
				 "this libcurl lacks %s", #f);
	CURL_FUNCTIONS(RESOLVE)
#undef RESOLVE
	return 0;
}

static bool copy(char **to, const char *from)
{
	return !from || (*to = strdup(from));
}

int http_open(const struct http_options *o, struct http **out,
	      struct error *err)
{
	struct http *h = calloc(1, sizeof(*h));
	int rc;

	*out = NULL;
	if (!h)
		return error_nomem(err);
	rc = load(h, err);
	h->timeout_ms = o->timeout_ns ? (long)(o->timeout_ns / 1000000)
				      : TIMEOUT_MS;
	if (!rc && (!copy(&h->ca, o->ca) || !copy(&h->cert, o->cert) ||
		    !copy(&h->key, o->key) || !copy(&h->agent, o->agent)))
		rc = error_nomem(err);
	if (!rc && (h->curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
		    !(h->easy = h->curl_easy_init())))
		rc = error_set(err, ERR_UNSUPPORTED, "libcurl cannot start");
	if (rc)
		http_close(h);
	else
		*out = h;
	return rc;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	if (h->easy)
		h->curl_easy_cleanup(h->easy);
	free(h->ca);
	free(h->cert);
	free(h->key);
	free(h->agent);
	/* The library stays loaded, because its registrations in other libraries
	 * cannot be undone. */
	free(h);
}

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct http_answer *a = ctx;
	size_t left = HTTP_ANSWER_MAX - a->body.n, bytes = size * n;

	buf_bytes(&a->body, p, bytes < left ? bytes : left);
	/* A smaller number than `bytes` makes libcurl end the transfer. */
	return a->body.failed ? 0 : bytes < left ? bytes : left;
}

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
	http_take_header(ctx, p, size * n);
	return size * n;
}

static size_t on_more(char *p, size_t size, size_t n, void *ctx)
{
	const struct http_request *q = ctx;
	size_t got = q->more(q->ctx, p, size * n);

	return got == HTTP_ABORT ? CURL_READFUNC_ABORT : got;
}

static enum http_failure kind_of(CURLcode code)
{
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return HTTP_DISTRUST;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_NOT_BUILT_IN:
	case CURLE_UNKNOWN_OPTION:
	case CURLE_SSL_ENGINE_NOTFOUND:
		return HTTP_SETTINGS;
	default:
		return HTTP_AWAY;
	}
}

static bool set_up(struct http *h, const struct http_request *q,
		   struct http_answer *a, struct curl_slist *headers,
		   char *problem)
{
	long version = !q->http2 ? CURL_HTTP_VERSION_NONE
		       : !strncmp(q->url, "https:", 6)
			       ? CURL_HTTP_VERSION_2TLS
			       : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
	CURLcode code = CURLE_OK;

	h->curl_easy_reset(h->easy);
#define SET(option, value) \
	code = code ? code : h->curl_easy_setopt(h->easy, option, value)
	SET(CURLOPT_ERRORBUFFER, problem);
	SET(CURLOPT_URL, q->url);
	SET(CURLOPT_POST, 1L);
	if (q->more) {
		SET(CURLOPT_READFUNCTION, on_more);
		SET(CURLOPT_READDATA, q);
		SET(CURLOPT_LOW_SPEED_LIMIT, (long)STREAM_LEAST);
		SET(CURLOPT_LOW_SPEED_TIME, h->timeout_ms / 1000 + 1);
	} else {
		SET(CURLOPT_POSTFIELDS, q->n ? q->body : "");
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->n);
	}
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_HTTP_VERSION, version);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	SET(CURLOPT_TIMEOUT_MS, q->more ? (long)STREAM_MS : h->timeout_ms);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, a);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, a);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	/* libcurl 7.88 fails on a second request by HTTP/2 without TLS. */
	if (version == CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE) {
		SET(CURLOPT_FRESH_CONNECT, 1L);
		SET(CURLOPT_FORBID_REUSE, 1L);
	}
	if (h->agent)
		SET(CURLOPT_USERAGENT, h->agent);
	if (h->ca)
		SET(CURLOPT_CAINFO, h->ca);
	if (h->cert)
		SET(CURLOPT_SSLCERT, h->cert);
	if (h->key)
		SET(CURLOPT_SSLKEY, h->key);
#undef SET
	return code == CURLE_OK;
}

int http_post(void *ctx, const struct http_request *q, struct http_answer *a,
	      struct error *err)
{
	struct http *h = ctx;
	struct curl_slist *headers = NULL;
	char problem[CURL_ERROR_SIZE] = "";
	long status = 0;
	CURLcode code = CURLE_OUT_OF_MEMORY;
	bool nomem = false;

	*a = (struct http_answer){ 0 };
	/* Suppress "Expect:" before a large body, because old proxies do not
	 * answer it. */
	headers = h->curl_slist_append(NULL, "Expect:");
	for (size_t i = 0; headers && q->headers[i]; i++) {
		struct curl_slist *more =
			h->curl_slist_append(headers, q->headers[i]);

		nomem |= !more;
	}
	if (headers && !nomem) {
		code = set_up(h, q, a, headers, problem)
			       ? h->curl_easy_perform(h->easy)
			       : CURLE_UNKNOWN_OPTION;
		h->curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	}
	h->curl_slist_free_all(headers);
	a->status = (int)status;
	if (code == CURLE_OUT_OF_MEMORY || a->body.failed)
		return error_nomem(err);
	/* An answer that is longer than the kept part is valid. */
	if (code == CURLE_WRITE_ERROR && status)
		code = CURLE_OK;
	if (code != CURLE_OK) {
		a->failure = kind_of(code);
		snprintf(a->problem, sizeof(a->problem), "%s",
			 *problem ? problem : h->curl_easy_strerror(code));
	}
	return 0;
}
#else
int http_open(const struct http_options *o, struct http **out,
	      struct error *err)
{
	(void)o;
	*out = NULL;
	return error_set(err, ERR_UNSUPPORTED, "this tally was built without "
			 "libcurl; on Debian: apt-get install "
			 "libcurl4-openssl-dev, and build it again");
}

void http_close(struct http *h)
{
	(void)h;
}

int http_post(void *ctx, const struct http_request *q, struct http_answer *a,
	      struct error *err)
{
	(void)ctx;
	(void)q;
	*a = (struct http_answer){ 0 };
	return error_set(err, ERR_UNSUPPORTED, "built without libcurl");
}
#endif
