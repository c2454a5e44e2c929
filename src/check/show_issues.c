// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes what failed or may fail as lists of issues at file and line: SARIF 2.1.0
 * (OASIS, "Static Analysis Results Interchange Format"), as GitHub's code scanning
 * reads it, and GitLab's Code Quality report.  Both require a place for each issue.
 * A function whose file is unknown is reported at line 1 of its image.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "check/show.h"

enum { FINGERPRINT = 16 };	/* bytes of the hash that are written */

struct issue {
	const char *rule;	/* ID in `rules` */
	bool fails;
	struct buf text, path, identity;
	uint32_t line;
};

static const struct {
	const char *id, *text;
} rules[] = {
	{ "slower", "A function is significantly slower than in the baseline, "
	  "or new and expensive." },
	{ "may-be-slower", "A function may be slower; more runs would show it." },
	{ "total-slower", "A run as a whole is significantly slower." },
	{ "broken", "The new side failed, or did far less work." },
};

static void issue_fini(struct issue *i)
{
	buf_fini(&i->text);
	buf_fini(&i->path);
	buf_fini(&i->identity);
}

static struct issue of_row(const struct check *c, const struct check_row *r,
			   const char *root)
{
	struct issue i = { .rule = r->fails ? "slower" : "may-be-slower",
			   .fails = r->fails };
	struct buf name = { 0 };

	describe_name(c, r, false, &name);
	/* a new function is not a slower one */
	buf_printf(&i.text, "%s%s: ", buf_cstr(&name), !describe_tested(r) ? ""
		   : r->fails ? " is slower" : " may be slower");
	describe_sentence(c, r, &i.text);
	i.line = describe_place(c, r, root, &i.path);
	if (!i.line) {
		const char *image = check_row_image(c, r);

		text_safe(&i.path, *image ? image : "program");
		i.line = 1;
	}
	buf_reset(&name);
	check_row_name(c, r, &name);
	/* without the line, which also changes with the code above it */
	buf_printf(&i.identity, "%s %s %s", i.rule, check_row_image(c, r),
		   buf_cstr(&name));
	buf_fini(&name);
	return i;
}

static struct issue of_whole(const char *rule, const char *text)
{
	struct issue i = { .rule = rule, .fails = true, .line = 1 };

	text_safe(&i.text, text);
	buf_str(&i.path, "program");
	buf_str(&i.identity, rule);
	return i;
}

/* Calls `put` for each issue, worst first. */
static void each_issue(const struct check *c, const char *root, struct json *j,
		       void (*put)(struct json *j, const struct issue *i))
{
	struct buf t = { 0 };

	if (c->verdict == CHECK_BROKEN) {
		struct issue i = of_whole("broken", c->broken);

		put(j, &i);
		issue_fini(&i);
	}
	if (c->total_fails) {
		struct issue i;

		describe_total(c, &t);
		i = of_whole("total-slower", buf_cstr(&t));
		put(j, &i);
		issue_fini(&i);
	}
	for (int fails = 1; fails >= 0; fails--)
		for (size_t k = 0; k < c->order.n; k++) {
			const struct check_row *r = &c->rows.v[c->order.v[k]];
			struct issue i;

			if (fails ? !r->fails
				  : r->fails || r->status != CHECK_SUSPECT)
				continue;
			i = of_row(c, r, root);
			put(j, &i);
			issue_fini(&i);
		}
	buf_fini(&t);
}

static void put_fingerprint(struct json *j, const char *key,
			    const struct issue *i)
{
	uint8_t hash[SHA256_BYTES];
	char text[2 * FINGERPRINT + 1];

	sha256(i->identity.p, i->identity.n, hash);
	for (size_t k = 0; k < FINGERPRINT; k++)
		snprintf(text + 2 * k, 3, "%02x", hash[k]);
	json_str(j, key, text);
}

/* Writes a path as a URI reference (RFC 3986 §4.2). */
static void put_uri(struct json *j, struct buf *path)
{
	const char *p = buf_cstr(path);
	struct buf uri = { 0 };

	if (*p == '/')
		buf_str(&uri, "file://");
	for (; *p; p++)
		if (isalnum((unsigned char)*p) || strchr("-._~/", *p))
			buf_u8(&uri, (uint8_t)*p);
		else
			buf_printf(&uri, "%%%02X", (unsigned char)*p);
	json_str(j, "uri", buf_cstr(&uri));
	buf_fini(&uri);
}

static void put_sarif(struct json *j, const struct issue *i)
{
	struct buf path = { 0 }, text = { 0 };

	buf_bytes(&path, i->path.p, i->path.n);
	buf_bytes(&text, i->text.p, i->text.n);
	json_object(j, NULL);
	json_str(j, "ruleId", i->rule);
	json_str(j, "level", i->fails ? "error" : "warning");
	json_object(j, "message");
	json_str(j, "text", buf_cstr(&text));
	json_end(j);
	json_array(j, "locations");
	json_object(j, NULL);
	json_object(j, "physicalLocation");
	json_object(j, "artifactLocation");
	put_uri(j, &path);
	json_end(j);
	json_object(j, "region");
	json_uint(j, "startLine", i->line);
	json_end(j);
	json_end(j);
	json_end(j);
	json_end(j);
	json_object(j, "partialFingerprints");
	put_fingerprint(j, "tallyFunction/v1", i);
	json_end(j);
	json_end(j);
	buf_fini(&path);
	buf_fini(&text);
}

void check_sarif(const struct check *c, const char *root, struct buf *out)
{
	struct json j = json_on(out);

	json_object(&j, NULL);
	json_str(&j, "$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/"
		 "os/schemas/sarif-schema-2.1.0.json");
	json_str(&j, "version", "2.1.0");
	json_array(&j, "runs");
	json_object(&j, NULL);
	json_object(&j, "tool");
	json_object(&j, "driver");
	json_str(&j, "name", "tally check");
	json_array(&j, "rules");
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		json_object(&j, NULL);
		json_str(&j, "id", rules[i].id);
		json_object(&j, "shortDescription");
		json_str(&j, "text", rules[i].text);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_array_lines(&j, "results");
	each_issue(c, root, &j, put_sarif);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	buf_u8(out, '\n');
}

static void put_gitlab(struct json *j, const struct issue *i)
{
	struct buf path = { 0 }, text = { 0 };

	buf_bytes(&path, i->path.p, i->path.n);
	buf_bytes(&text, i->text.p, i->text.n);
	json_object(j, NULL);
	json_str(j, "description", buf_cstr(&text));
	json_str(j, "check_name", i->rule);
	put_fingerprint(j, "fingerprint", i);
	json_str(j, "severity", i->fails ? "major" : "minor");
	json_object(j, "location");
	json_str(j, "path", buf_cstr(&path));
	json_object(j, "lines");
	json_uint(j, "begin", i->line);
	json_end(j);
	json_end(j);
	json_end(j);
	buf_fini(&path);
	buf_fini(&text);
}

void check_code_quality(const struct check *c, const char *root, struct buf *out)
{
	struct json j = json_on(out);

	json_array_lines(&j, NULL);
	each_issue(c, root, &j, put_gitlab);
	json_end(&j);
	buf_u8(out, '\n');
}
