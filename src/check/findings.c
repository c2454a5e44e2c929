// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes findings for continuous integration: see findings.h. */
#include "check/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/search.h"
#include "base/sha256.h"
#include "base/text.h"

enum { FINGERPRINT = 16 };	/* bytes of the hash that are written */

struct finding *findings_add(struct findings *f)
{
	if (vec_push(&f->v, (struct finding){ .seconds = -1 }) < 0)
		return NULL;
	return &f->v.v[f->v.n - 1];
}

void findings_fini(struct findings *f)
{
	for (size_t i = 0; i < f->v.n; i++) {
		struct finding *x = &f->v.v[i];

		buf_fini(&x->name);
		buf_fini(&x->function);
		buf_fini(&x->image);
		buf_fini(&x->text);
		buf_fini(&x->details);
		buf_fini(&x->path);
	}
	vec_fini(&f->v);
	buf_fini(&f->verdict);
	buf_fini(&f->total);
	buf_fini(&f->broken);
}

/* Returns a buffer's text; buf_cstr would change the buffer. */
static const char *text_of(const struct buf *b, struct buf *copy)
{
	buf_reset(copy);
	buf_bytes(copy, b->p, b->n);
	return buf_cstr(copy);
}

static int by_rank(const void *a, const void *b)
{
	const struct finding *x = *(const struct finding *const *)a;
	const struct finding *y = *(const struct finding *const *)b;

	return ascending(x->rank, y->rank);
}

/* Returns the reported findings, worst first, and their number in *n.  The caller
 * frees the array; NULL if memory ran out. */
static const struct finding **reported(const struct findings *f, size_t *n)
{
	const struct finding **list = calloc(f->v.n + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; list && i < f->v.n; i++)
		if (f->v.v[i].level >= FINDING_WARNING)
			list[(*n)++] = &f->v.v[i];
	if (list)
		sort_rows(list, *n, by_rank);
	return list;
}

/* Appends a path, safe, and relative to `root` if it is below it. */
static void put_path(struct buf *out, const char *root, const struct buf *path)
{
	size_t n = root ? strlen(root) : 0;
	struct buf copy = { 0 };
	const char *p = text_of(path, &copy);

	while (n && root[n - 1] == '/')
		n--;
	if (root && *root && !strncmp(p, root, n) && p[n] == '/')
		p += n + 1;
	text_safe(out, p);
	buf_fini(&copy);
}

/* Appends a text in which workflow commands would end, or in a property (file=,
 * title=) another one would begin, with their escapes. */
static void put_command(struct buf *out, const struct buf *text, bool property)
{
	for (size_t i = 0; i < text->n; i++)
		if (strchr("%\r\n", text->p[i]) ||
		    (property && strchr(":,", text->p[i])))
			buf_printf(out, "%%%02X", text->p[i]);
		else
			buf_u8(out, text->p[i]);
}

static void annotation(const struct finding *x, const char *root,
		       const char *level, struct buf *out)
{
	struct buf path = { 0 };

	buf_printf(out, "::%s ", level);
	if (x->line) {
		put_path(&path, root, &x->path);
		buf_str(out, "file=");
		put_command(out, &path, true);
		buf_printf(out, ",line=%u,", x->line);
	}
	buf_str(out, "title=");
	put_command(out, &x->name, true);
	buf_str(out, x->level == FINDING_ERROR ? " is slower::"
					       : " may be slower::");
	put_command(out, &x->name, false);
	buf_u8(out, ' ');
	put_command(out, &x->text, false);
	buf_u8(out, '\n');
	buf_fini(&path);
}

void findings_github(const struct findings *f, const char *root, bool warn_only,
		     struct buf *out)
{
	const char *bad = warn_only ? "warning" : "error";
	const struct finding **list;
	size_t n;

	/* GitHub shows the first ten of each kind and step */
	buf_printf(out, "::%s title=tally check::",
		   f->inconclusive ? "warning" : "notice");
	put_command(out, &f->verdict, false);
	buf_u8(out, '\n');
	if (f->broken.n) {
		buf_printf(out, "::%s title=the new side is broken::", bad);
		put_command(out, &f->broken, false);
		buf_u8(out, '\n');
	}
	if (f->total_fails) {
		buf_printf(out, "::%s title=the total is slower::", bad);
		put_command(out, &f->total, false);
		buf_u8(out, '\n');
	}
	list = reported(f, &n);
	out->failed |= !list;
	for (size_t i = 0; list && i < n; i++)
		annotation(list[i], root, list[i]->level == FINDING_ERROR
			   ? bad : "warning", out);
	free(list);
}

static void put_xml(struct buf *out, const struct buf *text)
{
	struct buf copy = { 0 };

	text_xml(out, text_of(text, &copy));
	buf_fini(&copy);
}

static void junit_case(const struct finding *x, struct buf *out)
{
	const struct buf all = { .p = (uint8_t *)"all", .n = 3 };

	buf_str(out, "    <testcase classname=\"");
	put_xml(out, x->image.n ? &x->image : &all);
	buf_str(out, "\" name=\"");
	put_xml(out, &x->function);
	buf_u8(out, '"');
	if (x->line) {
		buf_str(out, " file=\"");
		put_xml(out, &x->path);
		buf_printf(out, "\" line=\"%u\"", x->line);
	}
	/* viewers show it as the duration of the test case */
	if (x->seconds >= 0)
		buf_printf(out, " time=\"%.6f\"", x->seconds);
	if (x->level == FINDING_ERROR) {
		buf_str(out, ">\n      <failure type=\"regressed\" message=\"");
		put_xml(out, &x->text);
		buf_str(out, "\">");
		for (size_t i = 0, end; i < x->details.n; i = end + 1) {
			struct buf line = x->details;

			for (end = i; end < x->details.n &&
			     x->details.p[end] != '\n'; end++)
				;
			line.p += i;
			line.n = end - i;
			put_xml(out, &line);
			buf_u8(out, '\n');
		}
		buf_str(out, "</failure>\n    </testcase>\n");
	} else if (x->level != FINDING_NONE) {
		buf_str(out, ">\n      <system-out>");
		put_xml(out, &x->text);
		buf_str(out, "</system-out>\n    </testcase>\n");
	} else {
		buf_str(out, "/>\n");
	}
}

void findings_junit(const struct findings *f, struct buf *out)
{
	size_t failures = f->total_fails;

	for (size_t i = 0; i < f->v.n; i++)
		failures += f->v.v[i].level == FINDING_ERROR;
	buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buf_printf(out, "<testsuites tests=\"%zu\" failures=\"%zu\">\n"
		   "  <testsuite name=\"tally check\" tests=\"%zu\" "
		   "failures=\"%zu\" errors=\"%d\" skipped=\"%d\">\n",
		   f->v.n + 1, failures, f->v.n + 1, failures, f->broken.n > 0,
		   f->inconclusive);
	buf_str(out, "    <testcase classname=\"all\" name=\"[total]\">");
	if (f->broken.n) {
		buf_str(out, "<error type=\"broken\" message=\"");
		put_xml(out, &f->broken);
		buf_str(out, "\"/>");
	}
	if (f->total_fails || f->inconclusive) {
		buf_str(out, f->total_fails
			? "<failure type=\"regressed\" message=\""
			: "<skipped message=\"");
		put_xml(out, f->total_fails ? &f->total : &f->verdict);
		buf_str(out, "\"/>");
	}
	buf_str(out, "</testcase>\n");
	for (size_t i = 0; i < f->v.n; i++)
		junit_case(&f->v.v[i], out);
	buf_str(out, "  </testsuite>\n</testsuites>\n");
}

/* Lists of issues. */

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

static void put_fingerprint(struct json *j, const char *key,
			    const struct issue *i)
{
	uint8_t hash[SHA256_BYTES];
	char text[2 * FINGERPRINT + 1];

	sha256(i->identity.p, i->identity.n, hash);
	text_hex(text, hash, FINGERPRINT);
	json_str(j, key, text);
}

/* Writes a path as a URI reference (RFC 3986 §4.2). */
static void put_uri(struct json *j, const char *path)
{
	struct buf uri = { 0 };

	if (*path == '/')
		buf_str(&uri, "file://");
	text_percent(&uri, path, "-._~/");
	json_buf(j, "uri", &uri);
}

static void put_sarif(struct json *j, struct issue *i)
{
	json_object(j, NULL);
	json_str(j, "ruleId", i->rule);
	json_str(j, "level", i->fails ? "error" : "warning");
	json_object(j, "message");
	json_str(j, "text", buf_cstr(&i->text));
	json_end(j);
	json_array(j, "locations");
	json_object(j, NULL);
	json_object(j, "physicalLocation");
	json_object(j, "artifactLocation");
	put_uri(j, buf_cstr(&i->path));
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
}

static void put_gitlab(struct json *j, struct issue *i)
{
	json_object(j, NULL);
	json_str(j, "description", buf_cstr(&i->text));
	json_str(j, "check_name", i->rule);
	put_fingerprint(j, "fingerprint", i);
	json_str(j, "severity", i->fails ? "major" : "minor");
	json_object(j, "location");
	json_str(j, "path", buf_cstr(&i->path));
	json_object(j, "lines");
	json_uint(j, "begin", i->line);
	json_end(j);
	json_end(j);
	json_end(j);
}

typedef void put_issue(struct json *j, struct issue *i);

static void put(struct json *j, put_issue *write, struct issue *i)
{
	write(j, i);
	buf_fini(&i->text);
	buf_fini(&i->path);
	buf_fini(&i->identity);
}

static void issue_of_run(const char *rule, const struct buf *text, struct json *j,
			 put_issue *write)
{
	struct issue i = { .rule = rule, .fails = true, .line = 1 };
	struct buf copy = { 0 };

	text_safe(&i.text, text_of(text, &copy));
	buf_str(&i.path, "program");
	buf_str(&i.identity, rule);
	buf_fini(&copy);
	put(j, write, &i);
}

static void issue_of(const struct finding *x, const char *root, struct json *j,
		     put_issue *write)
{
	bool fails = x->level == FINDING_ERROR;
	struct issue i = { .rule = fails ? "slower" : "may-be-slower",
			   .fails = fails, .line = x->line };
	struct buf copy = { 0 };

	buf_bytes(&i.text, x->name.p, x->name.n);
	buf_str(&i.text, !x->slower ? ": " : fails ? " is slower: "
						   : " may be slower: ");
	buf_bytes(&i.text, x->text.p, x->text.n);
	if (x->line) {
		put_path(&i.path, root, &x->path);
	} else {
		text_safe(&i.path, x->image.n ? text_of(&x->image, &copy)
					      : "program");
		i.line = 1;
	}
	/* without the line, which also changes with the code above it */
	buf_str(&i.identity, i.rule);
	buf_u8(&i.identity, ' ');
	buf_bytes(&i.identity, x->image.p, x->image.n);
	buf_u8(&i.identity, ' ');
	buf_bytes(&i.identity, x->function.p, x->function.n);
	buf_fini(&copy);
	put(j, write, &i);
}

/* Writes all issues, worst first.  Returns false if memory ran out. */
static bool put_issues(const struct findings *f, const char *root, struct json *j,
		       put_issue *write)
{
	const struct finding **list;
	size_t n;
	bool ok;

	list = reported(f, &n);
	ok = list;
	if (f->broken.n)
		issue_of_run("broken", &f->broken, j, write);
	if (f->total_fails)
		issue_of_run("total-slower", &f->total, j, write);
	for (int level = FINDING_ERROR; level >= FINDING_WARNING; level--)
		for (size_t i = 0; list && i < n; i++)
			if ((int)list[i]->level == level)
				issue_of(list[i], root, j, write);
	free(list);
	return ok;
}

void findings_sarif(const struct findings *f, const char *root, struct buf *out)
{
	struct json j = json_on(out);
	bool whole;

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
	for (size_t i = 0; i < COUNT(rules); i++) {
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
	whole = put_issues(f, root, &j, put_sarif);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	buf_u8(out, '\n');
	out->failed |= !whole;
}

void findings_code_quality(const struct findings *f, const char *root,
			   struct buf *out)
{
	struct json j = json_on(out);
	bool whole;

	json_array_lines(&j, NULL);
	whole = put_issues(f, root, &j, put_gitlab);
	json_end(&j);
	buf_u8(out, '\n');
	out->failed |= !whole;
}
