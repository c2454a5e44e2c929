// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary bytes as the table of functions and lines of a Go program, in an ELF file
 * without section headers: it is found by what it begins with. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/gopclntab.h"

enum {
	CODE = 0x1000, CODE_SIZE = 0x1000,
	DATA = 0x4000, DATA_AT = 0x2000,	/* address, place in the file */
	TABLE = 64,				/* in the data */
	SIZE_MAX_INPUT = 64 << 10,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A program of one segment of code and one that holds the table. */
static size_t make_file(uint8_t *p, const uint8_t *data, size_t size)
{
	Elf64_Ehdr e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				      ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_EXEC, .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT, .e_phoff = sizeof(e),
			 .e_ehsize = sizeof(e), .e_phnum = 2,
			 .e_phentsize = sizeof(Elf64_Phdr) };
	Elf64_Phdr ph[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = CODE,
		  .p_vaddr = CODE, .p_filesz = CODE_SIZE,
		  .p_memsz = CODE_SIZE },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W,
		  .p_offset = DATA_AT, .p_vaddr = DATA,
		  .p_filesz = TABLE + size, .p_memsz = TABLE + size },
	};

	memset(p, 0, DATA_AT + TABLE);
	memcpy(p, &e, sizeof(e));
	memcpy(p + sizeof(e), ph, sizeof(ph));
	memcpy(p + DATA_AT, "\xff Go buildinf:", 14);
	memcpy(p + DATA_AT + TABLE, data, size);
	return DATA_AT + TABLE + size;
}

static void ask(struct gopclntab *t, uint64_t addr)
{
	struct go_frame frames[GO_MAX_FRAMES];
	struct go_func f;
	bool found = gopclntab_find(t, addr, &f);
	size_t n = gopclntab_frames(t, addr, frames), sum = 0, i;

	if (found != (n > 0) ||
	    (found && (addr < f.start || addr - f.start >= f.size)))
		__builtin_trap();
	for (i = 0; i < n; i++)
		sum += strlen(frames[i].name) + strlen(frames[i].file);
	if (sum == SIZE_MAX)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gopclntab *t = NULL;
	struct image *img;
	uint64_t addr;
	uint8_t *file;
	size_t n;

	if (size > SIZE_MAX_INPUT)
		return 0;
	file = malloc(DATA_AT + TABLE + size);
	if (!file)
		return 0;
	n = make_file(file, data, size);
	if (image_open_bytes(file, n, "go", &img, NULL) == 0) {
		if (gopclntab_open(img, &t) == 0 && t) {
			for (addr = CODE; addr < CODE + CODE_SIZE; addr += 5)
				ask(t, addr);
			for (addr = 1; addr < UINT64_MAX / 3; addr *= 3)
				ask(t, addr);
		}
		gopclntab_close(t);
		image_close(img);
	}
	free(file);
	return 0;
}
