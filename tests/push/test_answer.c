// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers of servers, and what is quoted of them. */
#include <stdlib.h>
#include <string.h>

#include "../checks.h"

#include "base/gzip.h"
#include "push/answer.h"

#define SECOND 1000000000ull
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void retry_after_is_seconds_or_a_date(void **state)
{
	static const struct {
		const char *text;
		uint64_t seconds;
	} cases[] = {
		{ "120", 120 }, { "0", 0 }, { "", 0 }, { "-5", 0 }, { "5x", 0 },
		{ "99999999999999999999", 3600 }, { "7200", 3600 },
		/* of RFC 9110: 784111777 s */
		{ "Sun, 06 Nov 1994 08:49:37 GMT", 77 },
		{ "Sun, 06 Nov 1994 08:00:00 GMT", 0 },
		{ "Sun, 06 Nov 1994 08:49:37 CET", 0 }, { "soon", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(push_retry_after(cases[i].text, 784111700),
				 cases[i].seconds * SECOND);
}

static void set_body(struct http_answer *a, const void *p, size_t n)
{
	buf_reset(&a->body);
	buf_bytes(&a->body, p, n);
}

static void answers_are_distinguished(void **state)
{
	static const struct {
		enum push_protocol protocol;
		int status;
		enum push_outcome outcome;
	} cases[] = {
		{ PUSH_PYROSCOPE, 200, PUSH_TAKEN },
		{ PUSH_PYROSCOPE, 204, PUSH_TAKEN },
		{ PUSH_PYROSCOPE, 301, PUSH_DENIED },
		{ PUSH_PYROSCOPE, 400, PUSH_REFUSED },
		{ PUSH_PYROSCOPE, 401, PUSH_DENIED },
		{ PUSH_PYROSCOPE, 403, PUSH_DENIED },
		{ PUSH_PYROSCOPE, 404, PUSH_DENIED },
		{ PUSH_PYROSCOPE, 408, PUSH_LATER },
		{ PUSH_PYROSCOPE, 413, PUSH_TOO_LARGE },
		{ PUSH_PYROSCOPE, 422, PUSH_REFUSED },
		{ PUSH_PYROSCOPE, 429, PUSH_LATER },
		{ PUSH_PYROSCOPE, 500, PUSH_LATER },
		{ PUSH_PYROSCOPE, 503, PUSH_LATER },
		/* OTLP/HTTP names what may be tried again: 429, 502, 503, 504 */
		{ PUSH_OTLP, 500, PUSH_REFUSED }, { PUSH_OTLP, 501, PUSH_REFUSED },
		{ PUSH_OTLP, 502, PUSH_LATER }, { PUSH_OTLP, 503, PUSH_LATER },
		{ PUSH_OTLP, 504, PUSH_LATER }, { PUSH_OTLP, 429, PUSH_LATER },
		{ PUSH_OTLP_GRPC, 502, PUSH_LATER },
		{ PUSH_OTLP_GRPC, 200, PUSH_LATER },	/* no status of gRPC */
	};
	struct push_verdict v;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct http_answer a = { .status = cases[i].status };

		push_judge(cases[i].protocol, &a, NULL, 0, &v);
		assert_int_equal(v.outcome, cases[i].outcome);
		if (v.outcome != PUSH_TAKEN)
			assert_true(*v.text);
	}
}

static void grpc_statuses_are_distinguished(void **state)
{
	/* OTLP/gRPC's table: 1, 4, 10, 11, 14 and 15 may be tried again */
	static const enum push_outcome want[17] = {
		PUSH_TAKEN, PUSH_LATER, PUSH_REFUSED, PUSH_REFUSED, PUSH_LATER,
		PUSH_DENIED, PUSH_REFUSED, PUSH_DENIED, PUSH_LATER, PUSH_REFUSED,
		PUSH_LATER, PUSH_LATER, PUSH_DENIED, PUSH_REFUSED, PUSH_LATER,
		PUSH_LATER, PUSH_DENIED,
	};
	struct push_verdict v;

	(void)state;
	for (int i = 0; i < 17; i++) {
		struct http_answer a = { .status = 200 };

		snprintf(a.grpc_status, sizeof(a.grpc_status), "%d", i);
		push_judge(PUSH_OTLP_GRPC, &a, NULL, 0, &v);
		assert_int_equal(v.outcome, want[i]);
	}
	struct http_answer a = { .status = 200, .grpc_status = "8",
		.grpc_message = "grpc: received message larger than max %285 vs. "
				"4%29" };
	push_judge(PUSH_PARCA_GRPC, &a, NULL, 0, &v);
	assert_int_equal(v.outcome, PUSH_TOO_LARGE);
	assert_non_null(strstr(v.text, "max (5 vs. 4)"));
}

static void servers_words_are_shown_safely(void **state)
{
	static const char json[] = "{\"code\":\"invalid_argument\",\"message\":"
				   "\"too \\u001b[31m many\\nlabels\"}";
	/* partial_success { rejected_profiles: 7 error_message: "hm" } */
	static const char partial[] = "\x0a\x06\x08\x07\x12\x02hm";
	static const char warning[] = "\x0a\x04\x12\x02hm";
	struct http_answer a = { .status = 400 };
	struct push_verdict v;
	struct error err;

	(void)state;
	set_body(&a, json, sizeof(json) - 1);
	push_judge(PUSH_PYROSCOPE, &a, NULL, 0, &v);
	assert_string_equal(v.text, "HTTP status 400: too \\x1b[31m many labels");
	/* compressed, although that was not asked for */
	buf_reset(&a.body);
	assert_int_equal(gzip_pack(&a.body, json, sizeof(json) - 1, GZIP_FAST, &err), 0);
	push_judge(PUSH_PYROSCOPE, &a, NULL, 0, &v);
	assert_string_equal(v.text, "HTTP status 400: too \\x1b[31m many labels");
	buf_u8(&a.body, 0);
	push_judge(PUSH_PYROSCOPE, &a, NULL, 0, &v);
	assert_string_equal(v.text, "HTTP status 400");
	a.body.n -= 10;
	push_judge(PUSH_PYROSCOPE, &a, NULL, 0, &v);
	assert_string_equal(v.text, "HTTP status 400");
	a.status = 200;
	set_body(&a, partial, sizeof(partial) - 1);
	push_judge(PUSH_OTLP, &a, NULL, 0, &v);
	assert_int_equal(v.outcome, PUSH_TAKEN);
	assert_int_equal(v.rejected, 7);
	assert_string_equal(v.text, "the server rejected 7 profiles: hm");
	set_body(&a, warning, sizeof(warning) - 1);
	push_judge(PUSH_OTLP, &a, NULL, 0, &v);
	assert_int_equal(v.rejected, 0);
	assert_string_equal(v.text, "the server warns: hm");
	push_judge(PUSH_PYROSCOPE, &a, NULL, 0, &v);
	assert_string_equal(v.text, "");
	buf_fini(&a.body);
}

static void servers_words_lack_the_token(void **state)
{
	static const char *const bodies[] = {
		"bad Bearer hunter2/xyz==", "hunter2/xyz and hunter2/xyz==",
		"{\"message\": \"bad token hunter2\\/xyz\"}",
		"cut after hunter2/x",
	};
	static const char secret[] = "Bearer hunter2/xyz==";
	struct http_answer a = { .status = 401 };
	struct push_verdict v;
	char text[400];

	(void)state;
	for (size_t i = 0; i < COUNT(bodies); i++) {
		set_body(&a, bodies[i], strlen(bodies[i]));
		push_judge(PUSH_PYROSCOPE, &a, secret, 0, &v);
		check_lacks(v.text, "hunter");
		assert_non_null(strstr(v.text, "[token]"));
	}
	/* where the text is cut */
	for (size_t n = 280; n < 310; n++) {
		memset(text, 'a', n);
		snprintf(text + n, sizeof(text) - n, "hunter2/xyz==");
		set_body(&a, text, strlen(text));
		push_judge(PUSH_PYROSCOPE, &a, secret, 0, &v);
		check_lacks(v.text, "hunt");
	}
	buf_fini(&a.body);
	a = (struct http_answer){ .status = 200, .grpc_status = "16",
				  .grpc_message = "no: hunter2/xyz%3D%3D" };
	push_judge(PUSH_OTLP_GRPC, &a, secret, 0, &v);
	check_lacks(v.text, "hunter");
	a = (struct http_answer){ .failure = HTTP_AWAY,
				  .problem = "proxy says hunter2/xyz" };
	push_judge(PUSH_OTLP, &a, secret, 0, &v);
	check_lacks(v.text, "hunter");
}

static void web_pages_are_no_acceptance(void **state)
{
	static const char html[] = "<html>log in</html>";
	struct http_answer a = { .status = 200,
				 .content_type = "text/html; charset=utf-8" };
	struct push_verdict v;

	(void)state;
	set_body(&a, html, sizeof(html) - 1);
	push_judge(PUSH_OTLP, &a, NULL, 0, &v);
	assert_int_equal(v.outcome, PUSH_DENIED);
	assert_non_null(strstr(v.text, "web page"));
	buf_fini(&a.body);
}

/* What servers say about sizes other than by 413. */
static void sizes_are_recognized(void **state)
{
	static const struct {
		enum push_protocol protocol;
		int status;
		const char *grpc_status, *text;
	} cases[] = {
		/* connect-go */
		{ PUSH_PYROSCOPE, 429, "", "message size 9 is larger than "
		  "configured max 4" },
		/* Pyroscope */
		{ PUSH_PYROSCOPE, 400, "", "the profile with labels '{a=\"b\"}' "
		  "exceeds the size limit (max_profile_size_byte, actual: 9, "
		  "limit: 4)" },
		{ PUSH_INGEST, 422, "", "the profile with labels '{}' exceeds "
		  "the samples count limit (max_profile_stacktrace_samples, "
		  "actual: 9, limit: 4)" },
		/* grpc-go, grpc-java, tonic */
		{ PUSH_OTLP_GRPC, 200, "8", "grpc: received message larger "
		  "than max (9 vs. 4)" },
		{ PUSH_OTLP_GRPC, 200, "8", "gRPC message exceeds maximum size "
		  "4: 9" },
		{ PUSH_OTLP_GRPC, 200, "11", "Error, decoded message length too "
		  "large: found 9 bytes, the limit is: 4 bytes" },
	};
	struct push_verdict v;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct http_answer a = { .status = cases[i].status };

		strcpy(a.grpc_status, cases[i].grpc_status);
		if (*a.grpc_status)
			strcpy(a.grpc_message, cases[i].text);
		else
			set_body(&a, cases[i].text, strlen(cases[i].text));
		push_judge(cases[i].protocol, &a, NULL, 0, &v);
		assert_int_equal(v.outcome, PUSH_TOO_LARGE);
		buf_fini(&a.body);
	}
	struct http_answer a = { .status = 200, .grpc_status = "x0" };
	push_judge(PUSH_OTLP_GRPC, &a, NULL, 0, &v);
	assert_int_equal(v.outcome, PUSH_LATER);
}

static void headers_are_those_of_the_last_answer(void **state)
{
	static const char *const lines[] = {
		"HTTP/1.1 100 Continue\r\n", "Retry-After: 1\r\n", "\r\n",
		"HTTP/1.1 429 Too Many\r\n", "retry-AFTER:  7 \r\n",
		"Retry-After-Not: 8\r\n", "grpc-status: 3\r\n", "no colon\r\n",
		"content-type: text/html\r\n",
	};
	struct http_answer a = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		http_take_header(&a, lines[i], strlen(lines[i]));
	assert_string_equal(a.retry_after, "7");
	assert_string_equal(a.grpc_status, "3");
	assert_string_equal(a.content_type, "text/html");
	http_take_header(&a, "HTTP/2 200", 10);
	assert_string_equal(a.retry_after, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retry_after_is_seconds_or_a_date),
		cmocka_unit_test(answers_are_distinguished),
		cmocka_unit_test(grpc_statuses_are_distinguished),
		cmocka_unit_test(servers_words_are_shown_safely),
		cmocka_unit_test(servers_words_lack_the_token),
		cmocka_unit_test(web_pages_are_no_acceptance),
		cmocka_unit_test(sizes_are_recognized),
		cmocka_unit_test(headers_are_those_of_the_last_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
