// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"

/* The vdso is no file. */
static struct image *read_memory(pid_t pid, uint64_t start, uint64_t end)
{
	size_t n = (size_t)(end - start);
	void *p = malloc(n);
	struct image *img = NULL;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid ? pid : getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && p && pread(fd, p, n, (off_t)start) == (ssize_t)n)
		image_open_bytes(p, n, "[vdso]", &img, NULL);
	if (fd >= 0)
		close(fd);
	free(p);
	return img;
}

/* Mappings begin at whole pages, segments may begin behind. */
static void set_delta(struct unwind_code *c, const struct image *img,
		      uint64_t offset)
{
	const struct image_segment *seg;
	size_t n = image_segments(img, &seg);

	for (size_t i = 0; i < n; i++)
		if (seg[i].exec && seg[i].offset < offset + (c->end - c->start) &&
		    seg[i].offset + seg[i].filesz > offset)
			c->delta = seg[i].vaddr - seg[i].offset + offset -
				   c->start;
}

static void add_map(struct live *l, pid_t pid, uint64_t start, uint64_t end,
		    uint64_t offset, const char *path)
{
	struct unwind_code *c = &l->code[l->n];
	struct image *img = NULL;

	*c = (struct unwind_code){ .start = start, .end = end,
				   .image = (uint32_t)l->n };
	snprintf(l->path[l->n], sizeof(l->path[0]), "%s", path);
	if (path[0] == '/')
		image_open_file(path, &img, NULL);
	else if (!strcmp(path, "[vdso]"))
		img = read_memory(pid, start, end);
	if (img)
		set_delta(c, img, offset);
	if (img)
		unwind_table_open(img, &c->table);
	l->n++;
}

static bool find(void *ctx, uint64_t pc, struct unwind_code *out)
{
	struct live *l = ctx;

	l->finds++;
	for (size_t i = 0; i < l->n; i++)
		if (pc >= l->code[i].start && pc < l->code[i].end) {
			*out = l->code[i];
			return true;
		}
	return false;
}

void live_open(struct live *l, pid_t pid)
{
	char path[64], line[512], name[256], perm[8];
	uint64_t start, end, offset;
	FILE *f;

	memset(l, 0, sizeof(*l));
	l->space = (struct unwind_space){ .find = find, .ctx = l,
					  .generation = 1 };
	unwind_cache_new(&l->cache);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid ? pid : getpid());
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		name[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %*s %255s", &start, &end, perm, &offset,
			   name) < 4)
			continue;
		if (!strcmp(name, "[stack]"))
			l->stack_end = end;
		if (perm[2] == 'x' && l->n < LIVE_MAPS)
			add_map(l, pid, start, end, offset, name);
	}
	if (f)
		fclose(f);
}

void live_close(struct live *l)
{
	for (size_t i = 0; i < l->n; i++)
		unwind_table_close(l->code[i].table);
	unwind_cache_free(l->cache);
}

const char *live_path(const struct live *l, uint64_t pc)
{
	for (size_t i = 0; i < l->n; i++)
		if (pc >= l->code[i].start && pc < l->code[i].end)
			return l->path[i];
	return "";
}

struct unwind_regs regs_of_signal(const ucontext_t *uc)
{
	static const int order[UNWIND_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
		REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
		REG_R14, REG_R15, REG_RIP,
	};
	struct unwind_regs r = { .known = 0x1ffff };

	for (int i = 0; i < UNWIND_REGS; i++)
		r.r[i] = (uint64_t)uc->uc_mcontext.gregs[order[i]];
	return r;
}

struct unwind_regs regs_of_ptrace(const struct user_regs_struct *u)
{
	return (struct unwind_regs){
		.r = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp,
		       u->rsp, u->r8, u->r9, u->r10, u->r11, u->r12, u->r13,
		       u->r14, u->r15, u->rip },
		.known = 0x1ffff,
	};
}
