// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads memory of running programs after a sample. */
#include "record/collect/live_memory.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "launch/proc_read.h"

enum {
	PAGE = LIVE_PAGE,	/* the cost of one fault */
	BLOCK = 4 * PAGE,	/* bytes read at once */
	BLOCKS = 64,
	REFUSED_FOR = 1024,	/* in batches: rights may change, and process numbers
				 * are reused */
};

struct live_page {
	uint64_t addr;
	uint32_t pid, batch;
	uint32_t n;		/* number of bytes read */
	uint8_t bytes[BLOCK];
};

int live_memory_init(struct live_memory *m)
{
	memset(m, 0, sizeof(*m));
	m->pages = calloc(BLOCKS, sizeof(*m->pages));
	m->batch = 1;
	return m->pages ? 0 : -ERR_NOMEM;
}

void live_memory_fini(struct live_memory *m)
{
	free(m->pages);
	memset(m, 0, sizeof(*m));
}

void live_memory_forget(struct live_memory *m)
{
	m->batch++;
}

static struct live_refusal *refusal_of(struct live_memory *m, uint32_t pid)
{
	return &m->refused[hash_u64(pid) % LIVE_REFUSALS];
}

bool live_refused(struct live_memory *m, uint32_t pid)
{
	const struct live_refusal *r = refusal_of(m, pid);

	return m->absent ||
	       (r->pid == pid && m->batch - r->batch < REFUSED_FOR);
}

bool live_thread(struct live_memory *m, uint32_t pid, uint32_t tid)
{
	if (!pid || pid == UINT32_MAX || live_refused(m, pid))
		return false;
	if (m->seen == m->batch && m->pid == pid && m->tid == tid)
		return m->lives;
	m->seen = m->batch;
	m->pid = pid;
	m->tid = tid;
	m->lives = !syscall(SYS_tgkill, (int)pid, (int)tid, 0) ||
		   errno == EPERM;
	return m->lives;
}

static void block_fill(struct live_memory *m, struct live_page *b)
{
	ssize_t n = proc_memory_pages(b->pid, b->addr, b->bytes, BLOCK);

	m->reads++;
	b->n = n > 0 ? (uint32_t)n : 0;
	if (n < 0 && errno == ENOSYS)
		m->absent = true;
	/* an ended process keeps its number until its parent has waited for it */
	if (n < 0 && errno == ESRCH && m->pid == b->pid)
		m->lives = false;
	if (n < 0 && errno == EPERM)
		*refusal_of(m, b->pid) =
			(struct live_refusal){ b->pid, m->batch };
}

/* Returns the block that begins at addr, or NULL. */
static const struct live_page *block_at(struct live_memory *m, uint32_t pid,
					uint64_t addr)
{
	struct live_page *b = &m->pages[hash_mix(addr, pid) % BLOCKS];

	if (b->batch == m->batch && b->pid == pid && b->addr == addr)
		return b;
	if (live_refused(m, pid))
		return NULL;
	b->batch = m->batch;
	b->pid = pid;
	b->addr = addr;
	block_fill(m, b);
	return b;
}

/* Reads part of a block whose first pages cannot be read. */
static bool read_part(struct live_memory *m, uint32_t pid, uint64_t addr,
		      void *to, size_t n)
{
	if (live_refused(m, pid))
		return false;
	m->reads++;
	return proc_memory(pid, addr, to, n);
}

bool live_read(struct live_memory *m, uint32_t pid, uint64_t addr, void *to,
	       size_t n)
{
	uint8_t *out = to;

	while (n) {
		const struct live_page *b = block_at(m, pid, addr & ~(BLOCK - 1ull));
		size_t at = addr & (BLOCK - 1), part = BLOCK - at;

		if (part > n)
			part = n;
		if (b && at + part <= b->n)
			memcpy(out, b->bytes + at, part);
		else if (!b || !read_part(m, pid, addr, out, part))
			return false;
		out += part;
		addr += part;
		n -= part;
	}
	return true;
}

bool live_equal(struct live_memory *m, uint32_t pid, uint64_t addr,
		const uint8_t *bytes, size_t n)
{
	uint8_t now[256];

	while (n) {
		size_t part = n < sizeof(now) ? n : sizeof(now);

		if (!live_read(m, pid, addr, now, part) ||
		    memcmp(now, bytes, part))
			return false;
		addr += part;
		bytes += part;
		n -= part;
	}
	return true;
}
