// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracks code that the kernel generates, by address and time. */
#include "record/collect/kernel_code.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/source/bpf_call.h"
#include "record/source/rights.h"

enum {
	PROGRAMS_MAX = 1 << 16,
	FUNCTIONS_MAX = 1 << 12,	/* of one program; the kernel allows 256 */
	NAME_MAX_BYTES = 512,		/* KSYM_NAME_LEN */
};

/* Returns the kernel's own name for the owner of such code (/proc/kallsyms). */
static const char *image_name_of(const struct record_ksymbol *s)
{
	if (s->type == PERF_RECORD_KSYMBOL_TYPE_BPF)
		return "[bpf]";
	if (!strncmp(s->name, "ftrace", 6))
		return "[ftrace]";
	if (!strncmp(s->name, "kprobe", 6))
		return "[kprobes]";
	return "[kernel code]";
}

/* Returns an image of this code: a known one if the same code is seen again. */
static uint32_t code_image(struct images *im, const struct record_ksymbol *s)
{
	const char *path = image_name_of(s);
	uint64_t number = hash_mix(hash_bytes(s->name, strlen(s->name)),
				   s->addr + (s->len << 48));
	uint32_t image = image_special(im, path, PROF_IMAGE_GENERATED, number);
	struct recorded_image *r;

	if (image == UINT32_MAX)
		return image;
	r = &im->v.v[image];
	r->base = s->addr;
	r->symbol_size = s->len;
	if (!r->symbol)
		r->symbol = strdup(s->name);
	return r->symbol ? image : UINT32_MAX;
}

int kernel_code_record(struct kernel_maps *k, struct images *im,
		       const struct record_ksymbol *s, uint32_t *generation)
{
	struct map map = { s->addr, s->addr + s->len, 0 - s->addr, 0 };

	if (map.end <= map.start || !*s->name)
		return 0;
	if (s->gone) {
		/* Other code may follow at this address. */
		if (!mapset_find(k->generated, s->addr))
			return 0;
		map.image = k->kernel;
		map.delta = 0 - k->base;
	} else {
		map.image = code_image(im, s);
	}
	if (map.image == UINT32_MAX ||
	    mapset_insert(&k->generated, &map, generation) < 0)
		return -ERR_NOMEM;
	k->space = ++*generation;
	return 0;
}

/* Builds the kernel's name of a program's code: bpf_prog_TAG_NAME.  The kernel names
 * parts of a program after their BTF names.  These are not read; the name is F. */
static void program_name(const struct bpf_prog_info *info, bool part,
			 char name[NAME_MAX_BYTES])
{
	size_t n = (size_t)sprintf(name, "bpf_prog_");

	for (size_t i = 0; i < sizeof(info->tag); i++)
		n += (size_t)sprintf(name + n, "%02x", info->tag[i]);
	if (part)
		strcpy(name + n, "_F");
	else if (*info->name)
		sprintf(name + n, "_%.*s", (int)sizeof(info->name),
			info->name);
}

static int program_info(int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uint64_t)(uintptr_t)info;
	return bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

struct scanning {
	struct kernel_maps *k;
	struct images *im;
	uint32_t *generation;
	VEC(uint64_t) addrs;
	VEC(uint32_t) lens;
};

static int scan_program(struct scanning *s, int fd)
{
	struct bpf_prog_info info = { 0 };
	char name[NAME_MAX_BYTES];
	uint32_t n;

	if (program_info(fd, &info) < 0)
		return 0;
	n = info.nr_jited_ksyms;
	if (!n || n > FUNCTIONS_MAX || info.nr_jited_func_lens != n)
		return 0;
	if (vec_reserve(&s->addrs, n) < 0 || vec_reserve(&s->lens, n) < 0)
		return -ERR_NOMEM;
	memset(&info, 0, sizeof(info));
	info.nr_jited_ksyms = info.nr_jited_func_lens = n;
	info.jited_ksyms = (uint64_t)(uintptr_t)s->addrs.v;
	info.jited_func_lens = (uint64_t)(uintptr_t)s->lens.v;
	if (program_info(fd, &info) < 0 || info.nr_jited_ksyms != n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		struct record_ksymbol sym = {
			.addr = s->addrs.v[i], .len = s->lens.v[i],
			.type = PERF_RECORD_KSYMBOL_TYPE_BPF, .name = name,
		};

		program_name(&info, i > 0, name);
		/* Hidden addresses are 0. */
		if (sym.addr && kernel_code_record(s->k, s->im, &sym,
						   s->generation) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

int kernel_code_scan(struct kernel_maps *k, struct images *im,
		     uint32_t *generation)
{
	struct scanning s = { .k = k, .im = im, .generation = generation };
	union bpf_attr attr;
	uint32_t id = 0;
	int rc = 0;

	if (rights_bpf_kills())
		return 0;
	for (int i = 0; i < PROGRAMS_MAX && !rc; i++) {
		int fd;

		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
		if (bpf_call(BPF_PROG_GET_NEXT_ID, &attr) < 0)
			break;	/* the last one, or not permitted */
		id = attr.next_id;
		memset(&attr, 0, sizeof(attr));
		attr.prog_id = id;
		fd = bpf_call(BPF_PROG_GET_FD_BY_ID, &attr);
		if (fd < 0)
			continue;
		rc = scan_program(&s, fd);
		close(fd);
	}
	vec_fini(&s.addrs);
	vec_fini(&s.lens);
	return rc;
}

const char *kernel_code_name(const struct images *im, uint32_t row,
			     uint64_t *size)
{
	const struct recorded_image *r;

	if (row >= im->by_row.n)
		return NULL;
	r = &im->v.v[im->by_row.v[row]];
	*size = r->symbol_size;
	return r->symbol;
}
