// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines into addresses: see addresses.h. */
#include "cmd/addresses.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MAX_BATCH bounds the memory for results. */
enum { MAX_LINE = 99, MAX_BATCH = 64 * 1024 };

void addresses_init(struct addresses *a, int fd, struct symbol_names *names)
{
	memset(a, 0, offsetof(struct addresses, text));
	a->fd = fd;
	a->names = names;
}

void addresses_fini(struct addresses *a)
{
	vec_fini(&a->batch);
}

/* Whether a word is a name: what begins like a hexadecimal number is one only
 * with an offset. */
static bool is_name(const char *word)
{
	if (isxdigit((unsigned char)*word))
		return !isdigit((unsigned char)*word) && strchr(word, '+');
	return *word && (isalpha((unsigned char)*word) || strchr("_.$", *word));
}

uint64_t address_parse(const char *text, struct symbol_names *names)
{
	const char *end, *plus;
	uint64_t addr = 0;
	char *name;

	while (isspace((unsigned char)*text))
		text++;
	if (!is_name(text))
		return isxdigit((unsigned char)*text)
			? strtoull(text, NULL, 16) : 0;
	end = plus = text + strcspn(text, "+ \t\n\v\f\r");
	while (isspace((unsigned char)*plus))
		plus++;
	name = strndup(text, (size_t)(end - text));
	if (name && symbol_names_find(names, name, &addr) && *plus == '+')
		addr += strtoull(plus + 1, NULL, 0);
	free(name);
	return addr;
}

/* Takes one line out of the text; false when there is no whole one. */
static bool take_line(struct addresses *a, uint64_t *out)
{
	const char *from = a->text + a->at;
	size_t left = a->n < MAX_LINE ? a->n : MAX_LINE;
	const char *end = memchr(from, '\n', left);
	char line[MAX_LINE + 1];
	size_t n;

	if (!end && left < MAX_LINE && !(a->eof && left))
		return false;
	n = end ? (size_t)(end - from) : left;
	memcpy(line, from, n);
	line[n] = '\0';
	*out = address_parse(line, a->names);
	n += end != NULL;
	a->at += n;
	a->n -= n;
	return true;
}

static int take_lines(struct addresses *a)
{
	uint64_t addr;

	while (a->batch.n < MAX_BATCH && take_line(a, &addr))
		if (vec_push(&a->batch, addr) < 0)
			return -ERR_NOMEM;
	return 0;
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static int read_more(struct addresses *a, struct error *err)
{
	ssize_t n;

	memmove(a->text, a->text + a->at, a->n);
	a->at = 0;
	do {
		n = read(a->fd, a->text + a->n, sizeof(a->text) - a->n);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_errno(err, errno, "cannot read addresses");
	a->eof = n == 0;
	a->n += (size_t)n;
	return 0;
}

bool addresses_next(struct addresses *a, struct error *err)
{
	int rc;

	a->batch.n = 0;
	while (!(rc = take_lines(a)) && a->batch.n < MAX_BATCH && !a->eof) {
		if (a->batch.n && !readable(a->fd))
			break;
		if (read_more(a, err) < 0)
			return false;
	}
	if (rc < 0) {
		error_set(err, ERR_NOMEM, "out of memory");
		return false;
	}
	return a->batch.n > 0;
}
