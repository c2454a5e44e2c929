// SPDX-License-Identifier: GPL-2.0-or-later
/* A jitdump file that grows while it is read: what is found lies in the file and covers
 * the address, lines ascend within their code. */
#include <stdlib.h>
#include <string.h>

#include "symbolize/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRS = 64, SIZE_MAX_HERE = 1 << 16 };

struct file {
	const uint8_t *p;
	size_t n, all;
};

static size_t read_file(void *ctx, uint64_t at, void *to, size_t n)
{
	const struct file *f = ctx;

	if (at >= f->n)
		return 0;
	if (n > f->n - at)
		n = f->n - (size_t)at;
	memcpy(to, f->p + at, n);
	return n;
}

static void check_lines(const struct jitdump *j, const struct jitdump_code *c,
			const char *v8_file)
{
	struct jitdump_lines l = { 0 };

	if (jitdump_lines(j, c, v8_file, &l))
		for (size_t i = 0; i < l.v.n; i++)
			if (l.v.v[i].offset >= c->size ||
			    (i && l.v.v[i].offset <= l.v.v[i - 1].offset) ||
			    l.v.v[i].file >= l.text.n ||
			    jitdump_line(&l, l.v.v[i].offset) != &l.v.v[i])
				abort();
	jitdump_lines_fini(&l);
}

static void check_code(const struct jitdump *j, const struct jitdump_code *c,
		       uint64_t addr, const struct file *f)
{
	struct buf b = { 0 };

	if (addr - c->addr >= c->size || c->bytes_at > f->n ||
	    c->size > f->n - c->bytes_at || c->name_at > c->bytes_at)
		abort();
	jitdump_name(j, c, &b);
	if (jitdump_bytes(j, c, 0, (size_t)c->size, &b) != c->size)
		abort();
	check_lines(j, c, "");
	check_lines(j, c, "/tmp/app.js");
	buf_fini(&b);
}

/* Addresses: those that the first bytes of records may have. */
static void check(struct jitdump *j, const struct file *f)
{
	for (size_t i = 0; i < ADDRS; i++) {
		uint64_t addr = 0, time_ns = UINT64_MAX;
		const struct jitdump_code *c;

		if (f->n >= 16) {
			size_t at = (i * 24 + 40) % (f->n - 15);

			memcpy(&addr, f->p + at, sizeof(addr));
			memcpy(&time_ns, f->p + at + 8, sizeof(time_ns));
		}
		c = jitdump_find(j, addr, time_ns);
		if (c)
			check_code(j, c, addr, f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file f = { data, size / 2, size };
	struct jitdump_door door = { read_file, &f };
	struct jitdump *j;
	uint64_t at;

	if (size > SIZE_MAX_HERE || jitdump_open(&door, &j) < 0)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (!jitdump_read(j))
			check(j, &f);
		f.n = f.all;
	}
	if (jitdump_damage(j, &at) && at > size)
		abort();
	jitdump_close(j);
	return 0;
}
