// SPDX-License-Identifier: GPL-2.0-or-later
/* kallsyms and the choice among ELF symbols.  DWARF is compared with other tools
 * by tests/symbolize/symbolize.sh. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <elf.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolize/kernel/kallsyms.h"
#include "symbolize/kernel/kallsyms_kept.h"
#include "symbolize/symbolize.h"

static const char kernel[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81000100 t __helper\n"
	"ffffffff81000100 t helper\n"
	"ffffffff81000180 D some_data\n"
	"ffffffff81000400 W weak_func\n"
	"ffffffffc0200000 t nft_do_chain\t[nf_tables]\n"
	"ffffffffc0100000 t first\t[aaa]\n"
	"ffffffffc0100040 r table\t[aaa]\n";

static void test_kallsyms(void **state)
{
	static const struct {
		uint64_t addr;
		const char *name, *module;
		uint64_t start, size;
	} want[] = {
		{ 0xffffffff81000080, "startup_64", "", 0xffffffff81000000, 0x100 },
		{ 0xffffffff81000100, "helper", "", 0xffffffff81000100, 0x80 },
		{ 0xffffffff8100017f, "helper", "", 0xffffffff81000100, 0x80 },
		{ 0xffffffff81000180, NULL, "", 0, 0 },
		{ 0xffffffff80ffffff, NULL, "", 0, 0 },
		{ 0xffffffffc010003f, "first", "aaa", 0xffffffffc0100000,
		  0x40 },
		{ 0xffffffffc0100040, NULL, "", 0, 0 },
		{ 0xffffffffc0200fff, "nft_do_chain", "nf_tables",
		  0xffffffffc0200000, 0x1000 },
		{ 0xffffffffc0201000, NULL, "", 0, 0 },
	};
	struct kallsyms *k;
	struct error err;
	size_t i;

	(void)state;
	assert_int_equal(kallsyms_parse(kernel, sizeof(kernel) - 1, &k, &err),
			 0);
	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const char *name, *module;
		uint64_t start, size;
		bool found = kallsyms_find(k, want[i].addr, &name, &module,
					   &start, &size);

		assert_int_equal(found, want[i].name != NULL);
		assert_string_equal(name, found ? want[i].name : "");
		assert_string_equal(module, want[i].module);
		assert_int_equal(start, want[i].start);
		assert_int_equal(size, want[i].size);
	}
	assert_int_equal(kallsyms_address(k, "weak_func"), 0xffffffff81000400);
	assert_int_equal(kallsyms_address(k, "first"), 0);
	assert_int_equal(kallsyms_address(k, "nothing"), 0);
	kallsyms_close(k);
}

/* What an address must be called, "" for nothing, and until where. */
struct named {
	uint64_t addr;
	const char *name;
	uint64_t end;
};

static void check_names(const char *text, const struct named *want, size_t n)
{
	struct kallsyms *k;
	struct error err;

	assert_int_equal(kallsyms_parse(text, strlen(text), &k, &err), 0);
	for (size_t i = 0; i < n; i++) {
		const char *name, *module;
		uint64_t start, size;

		kallsyms_find(k, want[i].addr, &name, &module, &start, &size);
		assert_string_equal(name, want[i].name);
		if (*name)
			assert_int_equal(start + size, want[i].end);
	}
	kallsyms_close(k);
}

/* Lines of an x86-64 6.18 kernel's table, shortened: several names of one place
 * in each order, and names of no function. */
static void test_kallsyms_aliases(void **state)
{
	static const char text[] =
		"ffffffff81000000 T srso_alias_untrain_ret\n"
		"ffffffff81000000 T _stext\n"
		"ffffffff81000000 T _text\n"
		"ffffffff81000100 t __do_sys_getpid\n"
		"ffffffff81000100 T __ia32_sys_getpid\n"
		"ffffffff81000100 T __x64_sys_getpid\n"
		"ffffffff81000200 T __memmove\n"
		"ffffffff81000200 W memmove\n"
		"ffffffff81000200 T __pi_memmove\n"
		"ffffffff81000300 T __pfx_kfree\n"
		"ffffffff81000310 T kfree\n"
		"ffffffff81000400 t __kstrtab_start\n"
		"ffffffff81000400 t local_b\n"
		"ffffffff81000400 t local_a\n"
		"ffffffff81000500 T __irqentry_text_end\n"
		"ffffffff81000600 t $x\n"
		"ffffffff81000700 T _etext\n"
		"ffffffff81000800 T first_page_after\n";
	static const struct named want[] = {
		{ 0xffffffff81000010, "srso_alias_untrain_ret",
		  0xffffffff81000100 },
		{ 0xffffffff81000100, "__x64_sys_getpid", 0xffffffff81000200 },
		{ 0xffffffff810002ff, "__memmove", 0xffffffff81000300 },
		{ 0xffffffff81000304, "__pfx_kfree", 0xffffffff81000310 },
		{ 0xffffffff81000310, "kfree", 0xffffffff81000400 },
		{ 0xffffffff81000400, "local_a", 0xffffffff81000500 },
		{ 0xffffffff81000500, "", 0 },
		{ 0xffffffff81000700, "", 0 },
	};

	(void)state;
	check_names(text, want, sizeof(want) / sizeof(*want));
}

/* Nothing of one module reaches into what comes behind it; lines are in the order
 * of /proc/kallsyms: kernel, modules, ftrace, BPF. */
static void test_kallsyms_modules(void **state)
{
	static const char text[] =
		"ffffffff81000000 T last_of_kernel\n"
		"ffffffffc0201ff0 t last_of_b\t[mod_b]\n"
		"ffffffffc0200000 t first_of_b\t[mod_b]\n"
		"ffffffffc0100000 t only_of_a\t[mod_a]\n"
		"ffffffffc0300100 t ftrace_trampoline\t[__builtin__ftrace]\n"
		"ffffffffc0400040 t bpf_prog_0123456789abcdef_x\t[bpf]\n"
		"ffffffffc0400140 t bpf_prog_fedcba9876543210\t[bpf]\n";
	static const struct named want[] = {
		{ 0xffffffff81000fff, "last_of_kernel", 0xffffffff81001000 },
		{ 0xffffffff81001000, "", 0 },
		{ 0xffffffffc0100ffe, "only_of_a", 0xffffffffc0101000 },
		{ 0xffffffffc0101000, "", 0 },
		{ 0xffffffffc0200100, "first_of_b", 0xffffffffc0201ff0 },
		/* its own page has 16 bytes left */
		{ 0xffffffffc0202800, "last_of_b", 0xffffffffc0203000 },
		{ 0xffffffffc0203000, "", 0 },
		{ 0xffffffffc0300fff, "ftrace_trampoline",
		  0xffffffffc0301000 },
		{ 0xffffffffc0301000, "", 0 },
		{ 0xffffffffc040013f, "bpf_prog_0123456789abcdef_x",
		  0xffffffffc0400140 },
		{ 0xffffffffc0402000, "bpf_prog_fedcba9876543210",
		  0xffffffffc0411000 },
		{ 0xffffffffc0411000, "", 0 },
	};

	(void)state;
	check_names(text, want, sizeof(want) / sizeof(*want));
}

static bool count_symbol(void *ctx, const char *name, uint64_t addr)
{
	char *out = ctx;

	sprintf(out + strlen(out), "%s+%x ", name, (unsigned int)(addr & 0xfff));
	return strcmp(name, "stop") != 0;
}

static void write_to(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Returns the first symbol's name by the kept table. */
static void kept_name(int kept, const char *kallsyms, const char *modules,
		      char *out)
{
	const char *name, *module;
	uint64_t start, size;
	struct kallsyms *k;
	struct error err;

	*out = 0;
	if (kallsyms_open_kept(kept, kallsyms, modules, NULL, 0, &k, &err) < 0)
		return;
	if (kallsyms_find(k, 0xffffffff81000010, &name, &module, &start, &size))
		snprintf(out, 64, "%s", name);
	kallsyms_close(k);
}

static void test_kallsyms_kept(void **state)
{
	static const char *const modules[] = {
		"loop 40960 0 - Live 0xffffffffc0200000\n"
		"nft 40960 3 a,b, Live 0xffffffffc0100000\n",
		/* used by others */
		"loop 40960 1 - Live 0xffffffffc0200000\n"
		"nft 40960 4 a,b,c, Live 0xffffffffc0100000\n",
		/* loaded again */
		"loop 40960 1 - Live 0xffffffffc0300000\n"
		"nft 40960 4 a,b,c, Live 0xffffffffc0100000\n",
		/* without the line's end, and one fewer */
		"loop 40960 1 - Live 0xffffffffc0300000",
	};
	static const char *const want[] = { "one", "one", "three", "four" };
	static const char *const texts[] = {
		"ffffffff81000000 T one\n", "ffffffff81000000 T two\n",
		"ffffffff81000000 T three\n", "ffffffff81000000 T four\n",
	};
	char dir[] = "/tmp/tally-kept.XXXXXX", k[64], m[64], got[64];
	int kept = kallsyms_keep(), status;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_true(kept > 2);
	snprintf(k, sizeof(k), "%s/kallsyms", dir);
	snprintf(m, sizeof(m), "%s/modules", dir);
	for (size_t i = 0; i < 4; i++) {
		pid_t pid;

		write_to(k, texts[i]);
		write_to(m, modules[i]);
		/* as helpers of a recorder, which end */
		pid = fork();
		if (!pid) {
			kept_name(kept, k, m, got);
			_exit(strcmp(got, want[i]) != 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		kept_name(kept, k, m, got);
		assert_string_equal(got, want[i]);
	}
	/* a kernel without modules */
	unlink(m);
	write_to(k, texts[0]);
	kept_name(kept, k, m, got);
	assert_string_equal(got, "one");
	unlink(k);
	kept_name(kept, k, m, got);
	assert_string_equal(got, "one");
	/* a writer that died left no size */
	assert_int_equal(pwrite(kept, "\0\0\0\0\0\0\0\0", 8, 8), 8);
	kept_name(kept, k, m, got);
	assert_string_equal(got, "");
	rmdir(dir);
	close(kept);
}

static void test_kallsyms_each(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\n"
				   "ffffffffc0200020 t two\t[m]\n"
				   "ffffffffc0200010 t one\t[m]\n"
				   "ffffffffc0200018 d data\t[m]\n"
				   "ffffffffc0200030 t stop\t[m]\n"
				   "ffffffffc0200040 t never\t[m]\n"
				   "ffffffffc0300000 t x\t[n]\n";
	struct kallsyms *k;
	char got[256] = "";

	(void)state;
	assert_int_equal(kallsyms_parse(text, sizeof(text) - 1, &k, NULL), 0);
	assert_false(kallsyms_each(k, "m", count_symbol, got));
	assert_string_equal(got, "one+10 two+20 stop+30 ");
	got[0] = '\0';
	assert_true(kallsyms_each(k, "", count_symbol, got));
	assert_string_equal(got, "_text+0 ");
	kallsyms_close(k);
}

/* The kernel's table is read until it lists what lies behind the wanted addresses. */
static void test_kallsyms_reach(void **state)
{
	static const char text[] = "0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _text\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000100 t f\n"
				   "ffffffff81000200 t g\n"
				   "ffffffff81000200 T g_too\n"
				   "ffffffff81000300 d next\n"
				   "ffffffff81000400 t never\n"
				   "ffffffffc0000000 t m\t[m]\n";
	static const struct { uint64_t reach; bool never; } cases[] = {
		{ 0x200, false }, { 0x2ff, false }, { 0x400, true },
		{ UINT64_MAX - 1, true }, { KALLSYMS_ALL, true },
	};
	char path[] = "/tmp/kallsyms-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *name, *module;
		uint64_t start, size;
		struct kallsyms *k;

		assert_int_equal(kallsyms_open(path, cases[i].reach, &k, NULL), 0);
		assert_true(kallsyms_find(k, 0xffffffff81000200, &name, &module,
					  &start, &size));
		assert_string_equal(name, "g_too");
		assert_int_equal(start, 0xffffffff81000200);
		assert_int_equal(size, 0x100);
		assert_int_equal(kallsyms_address(k, "_text"), 0xffffffff81000000);
		assert_int_equal(kallsyms_address(k, "never") != 0, cases[i].never);
		kallsyms_close(k);
	}
	unlink(path);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	fclose(f);
}

/* Only the symbols of some addresses are read: from a copy of the kernel's table where
 * that says what the table would, else from the table. */
static void test_kallsyms_some(void **state)
{
#define HEAD	"0000000000000000 A fixed_percpu_data\n" \
		"0000000000000010 D data\n" \
		"ffffffff81000000 T _text\n" \
		"ffffffff81000000 T _stext\n" \
		"ffffffff81000080 t before\n"
#define TAIL	"ffffffff81000100 T __pi_f\n" \
		"ffffffff81000200 t next\n" \
		"ffffffff81000300 t g\n" \
		"ffffffff81000380 d data\n" \
		"ffffffff81000400 t last\n"
#define NOW	HEAD "ffffffff81000100 t now\n" TAIL
#define COPY	HEAD "ffffffff81000100 t copied\n" TAIL
	static const struct {
		const char *what, *now, *copy;
		uint64_t offsets[3];
		const char *want[3];
	} cases[] = {
		{ "no copy", NOW, NULL, { 0x100, 0x1ff, 0x200 },
		  { "now", "now", "next" } },
		{ "a copy", NOW, COPY, { 0x100, 0x1ff, 0x200 },
		  { "copied", "copied", "next" } },
		{ "data are no code", NOW, COPY, { 0x150, 0x37f, 0x380 },
		  { "copied", "g", "" } },
		{ "the copy may be truncated", NOW, COPY,
		  { 0x150, 0x300, 0x400 }, { "now", "g", "last" } },
		{ "the copy is of another boot", NOW,
		  "ffffffff80ff0000 T _text\nffffffff81000100 t copied\n"
		  "ffffffff81000400 t end\n", { 0x150, 0x160, 0x170 },
		  { "now", "now", "now" } },
		{ "hidden", NOW, "0000000000000000 T _text\n"
		  "0000000000000000 t copied\n", { 0x150, 0x160, 0x170 },
		  { "now", "now", "now" } },
		{ "empty", NOW, "", { 0x150, 0x160, 0x170 },
		  { "now", "now", "now" } },
		{ "junk", NOW, "junk\n", { 0x150, 0x160, 0x170 },
		  { "now", "now", "now" } },
		{ "not sorted", HEAD TAIL "ffffffff81000240 t now\n"
		  "ffffffff81001000 t x\n", NULL, { 0x150, 0x250, 0x420 },
		  { "__pi_f", "now", "last" } },
		{ "modules follow", NOW "ffffffffc0000000 t m\t[m]\n"
		  "ffffffffc0000100 t n\t[m]\n", NULL,
		  { 0x150, 0x400, 0x3f000050 }, { "now", "last", "m" } },
		{ "no _text", "ffffffff81000000 T _stext\n"
		  "ffffffff81000100 t now\nffffffff81000200 t x\n", COPY,
		  { 0x120, 0x150, 0x150 }, { "now", "now", "now" } },
		{ "the last line is not ended", HEAD "ffffffff81000100 t now",
		  NULL, { 0x90, 0x100, 0x150 }, { "before", "now", "now" } },
	};
	char path[] = "/tmp/kallsyms-XXXXXX", copy[] = "/tmp/kallsyms-XXXXXX";

	(void)state;
	assert_true(close(mkstemp(path)) == 0 && close(mkstemp(copy)) == 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kallsyms *k;

		write_file(path, cases[i].now);
		if (cases[i].copy)
			write_file(copy, cases[i].copy);
		assert_int_equal(kallsyms_open_some(path, cases[i].copy ? copy
						    : NULL, cases[i].offsets, 3,
						    &k, NULL), 0);
		for (int at = 0; at < 3; at++) {
			const char *name, *module;
			uint64_t start, size;

			kallsyms_find(k, 0xffffffff81000000 +
				      cases[i].offsets[at], &name, &module,
				      &start, &size);
			if (strcmp(name, cases[i].want[at]))
				fail_msg("%s: %s, not %s", cases[i].what, name,
					 cases[i].want[at]);
			if (!strcmp(name, "m"))
				assert_string_equal(module, "m");
		}
		kallsyms_close(k);
	}
	assert_int_equal(kallsyms_open_some("/nonexistent", path,
					    cases[0].offsets, 3,
					    &(struct kallsyms *){ NULL },
					    &(struct error){ 0 }), -ERR_NOTFOUND);
	unlink(path);
	unlink(copy);
#undef HEAD
#undef TAIL
#undef NOW
#undef COPY
}

static void expect_same_symbol(const struct kallsyms *all,
			       const struct kallsyms *part, uint64_t addr)
{
	const char *name[2], *module;
	uint64_t start[2], size[2];

	kallsyms_find(all, addr, &name[0], &module, &start[0], &size[0]);
	kallsyms_find(part, addr, &name[1], &module, &start[1], &size[1]);
	assert_string_equal(name[0], name[1]);
	assert_int_equal(start[0], start[1]);
	assert_int_equal(size[0], size[1]);
}

/* What is read of this kernel's table says the same as the whole table. */
static void test_kallsyms_own(void **state)
{
	enum { SOME = 100 };
	struct kallsyms *all, *part;
	uint64_t text, some[SOME];
	int kept = kallsyms_keep();

	(void)state;
	if (kallsyms_open("/proc/kallsyms", KALLSYMS_ALL, &all, NULL) < 0) {
		close(kept);
		skip_test("/proc/kallsyms is hidden");
	}
	text = kallsyms_address(all, "_text");
	for (uint64_t reach = 0x1234; text && reach < 64 << 20; reach *= 3) {
		assert_int_equal(kallsyms_open("/proc/kallsyms", reach, &part, NULL),
				 0);
		for (uint64_t at = 0; at <= reach; at += reach / 500 + 1)
			expect_same_symbol(all, part, text + at);
		kallsyms_close(part);
		for (uint64_t i = 0; i < SOME; i++)
			some[i] = reach / SOME * i;
		assert_int_equal(kallsyms_open_some("/proc/kallsyms", NULL, some,
						    SOME, &part, NULL), 0);
		for (uint64_t i = 0; i < SOME; i++)
			expect_same_symbol(all, part, text + some[i]);
		kallsyms_close(part);
		/* the first time it is read, then it is the kept text */
		assert_int_equal(kallsyms_open_kept(kept, "/proc/kallsyms",
						    "/proc/modules", some, SOME,
						    &part, NULL), 0);
		for (uint64_t i = 0; i < SOME; i++)
			expect_same_symbol(all, part, text + some[i]);
		kallsyms_close(part);
	}
	kallsyms_close(all);
	close(kept);
}

static void test_kallsyms_hidden(void **state)
{
	static const char text[] = "0000000000000000 T _text\n"
				   "0000000000000000 t f\t[m]\n";
	struct kallsyms *k;
	struct error err;

	(void)state;
	assert_int_equal(kallsyms_parse(text, sizeof(text) - 1, &k, &err),
			 -ERR_PERM);
	assert_null(k);
	assert_non_null(strstr(err.msg, "kernel.kptr_restrict"));
	assert_non_null(strstr(err.msg, "sudo"));
	assert_int_equal(kallsyms_parse("junk\n", 5, &k, &err), -ERR_FORMAT);
	assert_int_equal(kallsyms_parse("", 0, &k, &err), -ERR_FORMAT);
	assert_int_equal(kallsyms_open("/nonexistent", KALLSYMS_ALL, &k, &err),
			 -ERR_NOTFOUND);
}

/* An ELF file with a symbol table and 4 KB of code at 0x1000. */
enum { NSYMS = 16 };
struct elf {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[5];	/* null, .text, .symtab, .strtab, .shstrtab */
	Elf64_Sym sym[NSYMS];
	char str[512], shstr[64];
};

static void elf_init(struct elf *e)
{
	static const char shstr[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

	memset(e, 0, sizeof(*e));
	memcpy(e->eh.e_ident, ELFMAG, SELFMAG);
	e->eh.e_ident[EI_CLASS] = ELFCLASS64;
	e->eh.e_ident[EI_DATA] = ELFDATA2LSB;
	e->eh.e_ident[EI_VERSION] = EV_CURRENT;
	e->eh.e_type = ET_DYN;
	e->eh.e_machine = EM_X86_64;
	e->eh.e_version = EV_CURRENT;
	e->eh.e_ehsize = sizeof(e->eh);
	e->eh.e_shoff = offsetof(struct elf, sh);
	e->eh.e_shentsize = sizeof(Elf64_Shdr);
	e->eh.e_shnum = 5;
	e->eh.e_shstrndx = 4;
	memcpy(e->shstr, shstr, sizeof(shstr));
	e->sh[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_NOBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = 0x1000,
		.sh_size = 0x1000 };
	e->sh[2] = (Elf64_Shdr){ .sh_name = 7, .sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct elf, sym), .sh_link = 3,
		.sh_size = sizeof(e->sym), .sh_entsize = sizeof(Elf64_Sym) };
	e->sh[3] = (Elf64_Shdr){ .sh_name = 15, .sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct elf, str),
		.sh_size = sizeof(e->str) };
	e->sh[4] = (Elf64_Shdr){ .sh_name = 23, .sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct elf, shstr),
		.sh_size = sizeof(e->shstr) };
}

static void elf_symbol(struct elf *e, const char *name, uint64_t at,
		       uint64_t size, int bind, int type)
{
	size_t i = 1, off = 1;

	while (e->sym[i].st_name) {
		off = e->sym[i].st_name + strlen(e->str + e->sym[i].st_name) + 1;
		i++;
	}
	strcpy(e->str + off, name);
	e->sym[i] = (Elf64_Sym){ .st_name = (uint32_t)off, .st_value = at,
		.st_size = size, .st_shndx = 1,
		.st_info = ELF64_ST_INFO(bind, type) };
}

struct got {
	const uint64_t *addrs;
	const char *const *names;
};

static bool check_symbol(void *ctx, size_t i, const struct sym_result *r)
{
	struct got *g = ctx;

	assert_int_equal(r->vaddr, g->addrs[i]);
	assert_string_equal(r->symbol, g->names[i]);
	assert_int_equal(r->nframes, *g->names[i] ? 1 : 0);
	if (r->nframes) {
		assert_string_equal(r->frames[0].name, g->names[i]);
		assert_string_equal(r->frames[0].file, "");
		assert_false(r->frames[0].inlined);
		assert_true(r->vaddr >= r->sym_start &&
			    r->vaddr < r->sym_start + r->sym_size);
	}
	return true;
}

static bool stop_at_two(void *ctx, size_t i, const struct sym_result *r)
{
	(void)r;
	++*(size_t *)ctx;
	return i < 1;
}

static void test_symbols(void **state)
{
	static const uint64_t addrs[] = {
		0x0fff, 0x1000, 0x103f, 0x1040, 0x1100, 0x1150, 0x11ff,
		0x1200, 0x1300, 0x1310, 0x1400, 0x1fff, 0x2000,
	};
	static const char *const want[] = {
		"", "alias", "alias", "", "outer", "inner", "outer",
		"label", "sized", "sized", "last", "last", "",
	};
	struct got g = { addrs, want };
	struct symbolizer *s;
	struct image *img;
	struct error err;
	struct elf e;
	size_t calls = 0;

	(void)state;
	elf_init(&e);
	elf_symbol(&e, "__alias", 0x1000, 0x40, STB_GLOBAL, STT_FUNC);
	elf_symbol(&e, "a", 0x1000, 0x40, STB_LOCAL, STT_FUNC);
	elf_symbol(&e, "b", 0x1000, 0x40, STB_WEAK, STT_FUNC);
	elf_symbol(&e, "alias", 0x1000, 0x40, STB_GLOBAL, STT_FUNC);
	elf_symbol(&e, "longer_alias", 0x1000, 0x40, STB_GLOBAL, STT_FUNC);
	elf_symbol(&e, "outer", 0x1100, 0x100, STB_GLOBAL, STT_FUNC);
	elf_symbol(&e, "inner", 0x1150, 0x10, STB_LOCAL, STT_FUNC);
	elf_symbol(&e, "label", 0x1200, 0, STB_LOCAL, STT_NOTYPE);
	elf_symbol(&e, "sized", 0x1300, 0x100, STB_LOCAL, STT_FUNC);
	elf_symbol(&e, "in_sized", 0x1308, 0, STB_GLOBAL, STT_NOTYPE);
	elf_symbol(&e, "last", 0x1400, 0, STB_GLOBAL, STT_FUNC);
	elf_symbol(&e, "object", 0x1040, 8, STB_GLOBAL, STT_OBJECT);
	assert_int_equal(image_open_bytes(&e, sizeof(e), "e", &img, &err), 0);
	assert_int_equal(symbolizer_open(img, NULL, &s, &err), 0);
	assert_int_equal(symbolizer_resolve(s, addrs, 13, check_symbol, &g,
					    &err), 0);
	assert_int_equal(symbolizer_resolve(s, addrs, 13, stop_at_two, &calls,
					    &err), -ERR_STOPPED);
	assert_int_equal(calls, 2);
	assert_int_equal(symbolizer_resolve(s, addrs, 0, check_symbol, &g,
					    &err), 0);
	assert_true(symbolizer_sources(s).symtab);
	assert_false(symbolizer_sources(s).dwarf);
	symbolizer_close(s);
	image_close(img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_kallsyms_aliases),
		cmocka_unit_test(test_kallsyms_modules),
		cmocka_unit_test(test_kallsyms_each),
		cmocka_unit_test(test_kallsyms_reach),
		cmocka_unit_test(test_kallsyms_some),
		cmocka_unit_test(test_kallsyms_own),
		cmocka_unit_test(test_kallsyms_kept),
		cmocka_unit_test(test_kallsyms_hidden),
		cmocka_unit_test(test_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
