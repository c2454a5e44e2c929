// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of symbolizers that are kept in a folder: they are those of a symbolizer without
 * one, whatever happened to the folder and to the files. */
#include "../checks.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "symbolize/symbol_cache.h"
#include "symbolize/symbolize.h"

/* A program of this test, which the compiler made with debug information. */
static char prog[] = "/tmp/tally-cache-XXXXXX/prog";
enum { COPIES = 12 };
static char dir[] = "/tmp/tally-cache-XXXXXX";
static char cache_dir[sizeof(dir) + 16];

static void print_result(struct buf *b, const struct sym_result *r)
{
	buf_printf(b, "%llx %s %s %llx %llx", (unsigned long long)r->vaddr,
		   r->symbol, r->sym_file, (unsigned long long)r->sym_start,
		   (unsigned long long)r->sym_size);
	for (size_t i = 0; i < r->nframes; i++) {
		const struct sym_frame *f = &r->frames[i];

		buf_printf(b, "; %s %s %s:%u:%u %s:%u %d %u", f->name, f->plain,
			   f->file, f->line, f->column, f->decl_file,
			   f->decl_line, f->inlined, f->lang);
	}
	buf_str(b, "\n");
}

static bool on_result(void *ctx, size_t i, const struct sym_result *r)
{
	(void)i;
	print_result(ctx, r);
	return true;
}

/* Looks up n addresses.  Returns the text of the results, which the caller frees. */
static struct buf look_up_these(const char *path, const struct symbol_cache *cache,
				const uint64_t *v, size_t n)
{
	struct sym_options o = { .cache = cache };
	struct symbolizer *s;
	struct buf out = { 0 };
	struct image *img;
	struct error err;

	assert_int_equal(image_open_file(path, &img, &err), 0);
	assert_int_equal(symbolizer_open(img, &o, &s, &err), 0);
	assert_int_equal(symbolizer_resolve(s, v, n, on_result, &out, &err), 0);
	symbolizer_close(s);
	image_close(img);
	assert_false(out.failed);
	return out;
}

static void expect_these(const char *path, const struct symbol_cache *cache,
			 const uint64_t *v, size_t n)
{
	struct buf alone = look_up_these(path, NULL, v, n);
	struct buf cached = look_up_these(path, cache, v, n);

	assert_string_equal(buf_cstr(&cached), buf_cstr(&alone));
	buf_fini(&alone);
	buf_fini(&cached);
}

/* Returns the address of a function. */
static uint64_t address_of(const char *path, const char *function)
{
	struct symbolizer *s;
	struct image *img;
	struct error err;
	uint64_t at, hi, start = 0, size;
	const char *name = "";

	assert_int_equal(image_open_file(path, &img, &err), 0);
	assert_true(image_code_range(img, &at, &hi));
	assert_int_equal(symbolizer_open(img, NULL, &s, &err), 0);
	while (at < hi && (!symbolizer_extent(s, at, &name, &start, &size) ||
			   strcmp(name, function)))
		at++;
	assert_true(at < hi);
	symbolizer_close(s);
	image_close(img);
	return start;
}

/* Looks up each `step`-th address of the code, the first `most` at most.  Returns the
 * text of the results, which the caller frees. */
static struct buf look_up(const char *path, const struct symbol_cache *cache,
			  unsigned int step, size_t most)
{
	struct sym_options o = { .cache = cache };
	struct symbolizer *s;
	struct sym_sources src;
	struct buf out = { 0 };
	struct image *img;
	struct error err;
	uint64_t lo, hi, *v, start, size;
	const char *name;
	size_t n = 0;

	assert_int_equal(image_open_file(path, &img, &err), 0);
	assert_true(image_code_range(img, &lo, &hi));
	v = malloc(((hi - lo) / step + 1) * sizeof(*v));
	assert_non_null(v);
	for (uint64_t at = lo; at < hi && n < most; at += step)
		v[n++] = at;
	assert_int_equal(symbolizer_open(img, &o, &s, &err), 0);
	assert_int_equal(symbolizer_resolve(s, v, n, on_result, &out, &err), 0);
	for (size_t i = 0; i < n; i += 7)
		if (symbolizer_extent(s, v[i], &name, &start, &size))
			buf_printf(&out, "%s %llx %llx\n", name,
				   (unsigned long long)start,
				   (unsigned long long)size);
	src = symbolizer_sources(s);
	buf_printf(&out, "%d %d %d %d %d %s|%s|%s\n", src.symtab, src.dynsym,
		   src.debugdata, src.unwind, src.dwarf, src.debug_file,
		   src.missing, src.damage);
	symbolizer_close(s);
	image_close(img);
	free(v);
	assert_false(out.failed);
	return out;
}

static void expect_same(const char *path, const struct symbol_cache *cache,
			unsigned int step, size_t most)
{
	struct buf alone = look_up(path, NULL, step, most);
	struct buf cached = look_up(path, cache, step, most);

	assert_string_equal(buf_cstr(&cached), buf_cstr(&alone));
	assert_true(alone.n > 100);
	buf_fini(&alone);
	buf_fini(&cached);
}

/* Calls each(ctx, path) for the files of the cache, and returns their number. */
static size_t each_file(void (*each)(void *ctx, const char *path), void *ctx)
{
	DIR *d = opendir(cache_dir);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d)) != NULL) {
		char path[512];

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", cache_dir, e->d_name);
		if (each)
			each(ctx, path);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

static void remove_file(void *ctx, const char *path)
{
	(void)ctx;
	assert_int_equal(unlink(path), 0);
}

static struct symbol_cache *open_cache(uint64_t bytes)
{
	struct symbol_cache *c;
	struct error err;

	each_file(remove_file, NULL);
	assert_int_equal(symbol_cache_open(cache_dir, bytes, 0, &c, &err), 0);
	return c;
}

static void results_are_those_without_a_cache(void **state)
{
	static const unsigned int steps[] = { 97, 89, 89, 31, 7, 3, 1, 1 };
	struct symbol_cache *c = open_cache(64 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		expect_same(prog, c, steps[i], SIZE_MAX);
	assert_int_equal(each_file(NULL, NULL), 1);
	symbol_cache_close(c);
}

static void inode_of(void *ctx, const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	*(ino_t *)ctx = st.st_ino;
}

/* A file that is written again has another inode.  It is written whenever anything was
 * looked up in the image itself. */
static void what_is_known_is_not_written_again(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	ino_t first, second;

	(void)state;
	expect_same(prog, c, 1, SIZE_MAX);
	each_file(inode_of, &first);
	expect_same(prog, c, 1, SIZE_MAX);
	expect_same(prog, c, 5, 100);
	each_file(inode_of, &second);
	assert_int_equal(first, second);
	symbol_cache_close(c);
}

static void write_at(const char *path, size_t at, uint8_t flip)
{
	int fd = open(path, O_RDWR);
	uint8_t b;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &b, 1, (off_t)at), 1);
	b ^= flip;
	assert_int_equal(pwrite(fd, &b, 1, (off_t)at), 1);
	close(fd);
}

/* The start of the machine in which the file was tested: only another one tests it
 * again.  See struct header in symbol_cache.c. */
enum { BOOT_AT = 16 };

struct damage {
	size_t at;
	off_t cut;
};

static void damage_file(void *ctx, const char *path)
{
	struct damage *d = ctx;
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	write_at(path, BOOT_AT, 1);
	if (d->cut)
		assert_int_equal(truncate(path, st.st_size * d->cut / 100), 0);
	else
		write_at(path, d->at % (size_t)st.st_size, 0x40);
}

static void change_start(void *ctx, const char *path)
{
	(void)ctx;
	write_at(path, BOOT_AT, 1);
}

static void files_are_used_after_another_start(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	ino_t first, second;

	(void)state;
	expect_same(prog, c, 1, SIZE_MAX);
	each_file(inode_of, &first);
	assert_int_equal(each_file(change_start, NULL), 1);
	expect_same(prog, c, 1, SIZE_MAX);
	expect_same(prog, c, 1, SIZE_MAX);
	each_file(inode_of, &second);
	assert_int_equal(first, second);
	symbol_cache_close(c);
}

static void damaged_files_count_as_missing(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	struct damage d = { 0 };

	(void)state;
	for (d.at = 0; d.at < 96; d.at += 5) {
		expect_same(prog, c, 13, 300);
		assert_int_equal(each_file(damage_file, &d), 1);
		expect_same(prog, c, 13, 300);
	}
	for (d.cut = 1; d.cut < 100; d.cut += 14) {
		expect_same(prog, c, 13, 300);
		assert_int_equal(each_file(damage_file, &d), 1);
		expect_same(prog, c, 13, 300);
	}
	symbol_cache_close(c);
}

static void settle(void)
{
	struct timespec t = { 3, 200000000 };

	while (nanosleep(&t, &t))
		;
}

static void copy_file(const char *from, const char *to)
{
	struct buf bytes = { 0 };
	struct error err;
	FILE *f;

	assert_int_equal(io_read_file(from, 64 << 20, &bytes, &err), 0);
	f = fopen(to, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
	assert_int_equal(fclose(f), 0);
	buf_fini(&bytes);
}

/* Another program with the same build ID must not choose the names of this one; nor may
 * one that was changed in place and has its old time and size again. */
static void names_are_those_of_the_file(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	char fake[sizeof(prog) + 8];
	struct timeval times[2];
	struct buf real, names;
	struct stat st;
	char *at;

	(void)state;
	snprintf(fake, sizeof(fake), "%s.fake", prog);
	real = look_up(fake, c, 1, SIZE_MAX);
	assert_non_null(strstr(buf_cstr(&real), "spend_time"));
	assert_int_equal(stat(fake, &st), 0);
	for (;;) {		/* rename it in all string tables */
		struct buf bytes = { 0 };
		struct error err;

		assert_int_equal(io_read_file(fake, 64 << 20, &bytes, &err), 0);
		at = memmem(bytes.p, bytes.n, "spend_time", 10);
		if (at)
			write_at(fake, (size_t)((uint8_t *)at - bytes.p), 0x20);
		buf_fini(&bytes);
		if (!at)
			break;
	}
	times[0].tv_sec = st.st_atim.tv_sec;
	times[0].tv_usec = st.st_atim.tv_nsec / 1000;
	times[1].tv_sec = st.st_mtim.tv_sec;
	times[1].tv_usec = st.st_mtim.tv_nsec / 1000;
	assert_int_equal(utimes(fake, times), 0);
	names = look_up(fake, c, 1, SIZE_MAX);
	check_lacks(buf_cstr(&names), "spend_time");
	assert_non_null(strstr(buf_cstr(&names), "Spend_time"));
	buf_fini(&names);
	names = look_up(fake, c, 1, SIZE_MAX);
	assert_non_null(strstr(buf_cstr(&names), "Spend_time"));
	expect_same(prog, c, 1, SIZE_MAX);
	assert_int_equal(unlink(fake), 0);
	buf_fini(&names);
	buf_fini(&real);
	symbol_cache_close(c);
}

static void debug_information_may_come_and_go(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	char bare[sizeof(prog) + 8], debug[sizeof(prog) + 8], kept[sizeof(prog) + 8];

	(void)state;
	snprintf(bare, sizeof(bare), "%s.bare", prog);
	snprintf(debug, sizeof(debug), "%s.debug", prog);
	snprintf(kept, sizeof(kept), "%s.kept", prog);
	expect_same(bare, c, 3, 2000);
	expect_same(bare, c, 3, 2000);
	copy_file(kept, debug);
	expect_same(bare, c, 3, 2000);
	settle();
	expect_same(bare, c, 3, 2000);
	expect_same(bare, c, 1, 2000);
	assert_int_equal(unlink(debug), 0);
	expect_same(bare, c, 3, 2000);
	assert_int_equal(unlink(bare), 0);
	symbol_cache_close(c);
}

static void add_size(void *ctx, const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	*(uint64_t *)ctx += (uint64_t)st.st_blocks * 512;
}

/* Copies of the program are programs of their own. */
static void the_folder_stays_below_its_size(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	char copy[sizeof(prog) + 8];
	uint64_t one = 0, all = 0;

	(void)state;
	expect_same(prog, c, 1, SIZE_MAX);
	each_file(add_size, &one);
	symbol_cache_close(c);
	c = open_cache(5 * one);
	for (int i = 0; i < COPIES; i++) {
		snprintf(copy, sizeof(copy), "%s.%d", prog, i);
		expect_same(copy, c, 1, SIZE_MAX);
		all = 0;
		each_file(add_size, &all);
		assert_true(all <= 5 * one);
		assert_int_equal(unlink(copy), 0);
	}
	assert_true(all >= 2 * one);
	symbol_cache_close(c);
}

static void folders_of_others_are_refused(void **state)
{
	char open_dir[sizeof(dir) + 8];
	struct symbol_cache *c;
	struct error err;

	(void)state;
	snprintf(open_dir, sizeof(open_dir), "%s/open", dir);
	assert_int_equal(mkdir(open_dir, 0777), 0);
	assert_int_equal(chmod(open_dir, 0777), 0);
	assert_int_equal(symbol_cache_open(open_dir, 1 << 20, 0, &c, &err),
			 -ERR_PERM);
	assert_non_null(strstr(err.msg, open_dir));
	assert_null(c);
	rmdir(open_dir);
}

static void nothing_is_written_to_a_full_disk(void **state)
{
	struct symbol_cache *c;
	struct error err;

	(void)state;
	each_file(remove_file, NULL);
	assert_int_equal(symbol_cache_open(cache_dir, 64 << 20, UINT64_MAX / 2, &c,
					   &err), 0);
	expect_same(prog, c, 3, 1000);
	assert_int_equal(each_file(NULL, NULL), 0);
	symbol_cache_close(c);
}

static void run(const char *cmd)
{
	assert_int_equal(system(cmd), 0);
}

static void make_file(const char *name, const char *text)
{
	char path[sizeof(dir) + 32];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static const char *compiler(void)
{
	const char *cc = getenv("CC");

	return cc && *cc ? cc : "cc";
}

/* A split file is looked for at the first lookup in its unit, which may be long after
 * the image was added.  Its results end with it, too. */
static void split_files_may_go(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	char split[sizeof(dir) + 16], cmd[400];
	uint64_t one, two;

	(void)state;
	snprintf(split, sizeof(split), "%s/split", dir);
	make_file("one.c", "int two(int n); __attribute__((noinline)) int one(int n)\n"
		  "{ return n + 1; }\nint main(int c, char **v)\n"
		  "{ (void)v; return one(c) + two(c); }\n");
	make_file("two.c", "int two(int n)\n{ return n * 3; }\n");
	snprintf(cmd, sizeof(cmd), "cd %s && %s -g -O1 -gsplit-dwarf -c one.c && "
		 "%s -g -O1 -gsplit-dwarf -c two.c && %s -o split one.o two.o",
		 dir, compiler(), compiler(), compiler());
	run(cmd);
	settle();
	one = address_of(split, "one");
	two = address_of(split, "two");
	expect_these(split, c, &one, 1);
	assert_int_equal(each_file(NULL, NULL), 1);
	expect_these(split, c, &two, 1);
	expect_these(split, c, &two, 1);
	snprintf(cmd, sizeof(cmd), "rm %s/two.dwo", dir);
	run(cmd);
	expect_these(split, c, &two, 1);
	symbol_cache_close(c);
}

/* Results that do not fit into a file are still given. */
static void results_may_be_too_large(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	char large[sizeof(dir) + 16], cmd[400];
	uint64_t v[2];

	(void)state;
	snprintf(large, sizeof(large), "%s/large.so", dir);
	make_file("large.s", ".text\n.globl large\n.type large,@function\n"
		  "large: ret\n.size large,0x4000000000\n"
		  ".section .note.GNU-stack,\"\"\n");
	snprintf(cmd, sizeof(cmd), "cd %s && %s -nostdlib -shared -o large.so large.s",
		 dir, compiler());
	run(cmd);
	settle();
	v[0] = address_of(large, "large");
	v[1] = v[0] + 0x10000000;
	expect_these(large, c, v, 2);
	expect_these(large, c, v, 2);
	v[1] = UINT64_MAX;
	expect_these(large, c, v, 2);
	symbol_cache_close(c);
}

static void path_of(void *ctx, const char *path)
{
	snprintf(ctx, 512, "%s", path);
}

/* Anybody can make a program whose file in the cache has the name of another one's,
 * because that is a plain hash. */
static void files_say_whose_they_are(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	char path[2][sizeof(dir) + 16], of_first[512], of_second[512], cmd[1200];
	uint64_t at;

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/whose%d.so", dir, i);
		snprintf(cmd, sizeof(cmd), ".text\n.globl func%d\n"
			 ".type func%d,@function\nfunc%d: ret\n.size func%d,1\n"
			 ".section .note.GNU-stack,\"\"\n", i, i, i, i);
		make_file("whose.s", cmd);
		snprintf(cmd, sizeof(cmd), "cd %s && %s -nostdlib -shared -o whose%d.so "
			 "whose.s", dir, compiler(), i);
		run(cmd);
	}
	settle();
	at = address_of(path[0], "func0");
	assert_int_equal(address_of(path[1], "func1"), at);
	expect_these(path[0], c, &at, 1);
	assert_int_equal(each_file(path_of, of_first), 1);
	snprintf(cmd, sizeof(cmd), "mv %s %s/first", of_first, dir);
	run(cmd);
	expect_these(path[1], c, &at, 1);
	assert_int_equal(each_file(path_of, of_second), 1);
	snprintf(cmd, sizeof(cmd), "mv %s/first %s", dir, of_second);
	run(cmd);
	expect_these(path[1], c, &at, 1);
	symbol_cache_close(c);
}

/* Results without debug files are not those of an empty list of folders: then they are
 * still looked for beside the image. */
static void results_depend_on_where_to_search(void **state)
{
	struct symbol_cache *c = open_cache(64 << 20);
	struct sym_options o[] = {
		{ .cache = c, .no_debug_files = true },
		{ .cache = c, .debug_dirs = "" },
	};
	char linked[sizeof(dir) + 16], cmd[400];
	struct symbolizer *s;
	struct image *img;
	struct error err;

	(void)state;
	snprintf(linked, sizeof(linked), "%s/linked", dir);
	snprintf(cmd, sizeof(cmd), "cd %s && cp prog.kept linked.debug && "
		 "strip -o linked prog && "
		 "objcopy --add-gnu-debuglink=linked.debug linked", dir);
	run(cmd);
	settle();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(image_open_file(linked, &img, &err), 0);
		assert_int_equal(symbolizer_open(img, &o[i], &s, &err), 0);
		assert_int_equal(symbolizer_sources(s).dwarf, i);
		symbolizer_close(s);
		image_close(img);
	}
	symbol_cache_close(c);
}

/* A symbol without a size ends where call frame information has another function; here
 * the first one is in .eh_frame, the next one in .debug_frame. */
static void symbols_end_at_functions_of_both_sections(void **state)
{
	static const char *const sections[] = { ".eh_frame", ".debug_frame" };
	struct symbol_cache *c = open_cache(64 << 20);
	char path[sizeof(dir) + 16], text[400], name[16];
	uint64_t v[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/both.so", dir);
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "both%d.s", i);
		snprintf(text, sizeof(text),
			 ".cfi_sections %s\n.text\n%s.fill 16\n.cfi_startproc\n"
			 ".fill 16\n.cfi_endproc\n"
			 ".section .note.GNU-stack,\"\"\n",
			 sections[i], i ? "" : ".globl both\nboth: ");
		make_file(name, text);
	}
	snprintf(text, sizeof(text), "cd %s && %s -nostdlib -shared "
		 "-Wl,--eh-frame-hdr -o both.so both0.s both1.s", dir, compiler());
	run(text);
	settle();
	v[0] = address_of(path, "both");
	for (int i = 1; i < 64; i++)
		v[i] = v[0] + (uint64_t)i;
	expect_these(path, c, v, 64);
	expect_these(path, c, v, 64);
	symbol_cache_close(c);
}

static int make_program(void **state)
{
	static const char text[] =
		"static volatile unsigned sink;\n"
		"static inline unsigned mix(unsigned a) { return a * 31 + (a >> 3); }\n"
		"static inline unsigned twice(unsigned a) { return mix(mix(a)); }\n"
		"__attribute__((noinline)) unsigned spend_time(unsigned n)\n"
		"{ unsigned i, s = n;\n"
		"  for (i = 0; i < n; i++) { s ^= twice(i); sink = s; }\n"
		"  return s; }\n"
		"__attribute__((noinline)) static unsigned other(unsigned n)\n"
		"{ switch (n % 5) { case 0: return mix(n); case 1: return twice(n);\n"
		"  case 2: sink++; return n; default: return spend_time(n / 2); } }\n"
		"int main(int c, char **v) { (void)v; return (int)(other(c) + "
		"spend_time(c)); }\n";
	char path[sizeof(dir) + 16], cmd[400];
	FILE *f;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(prog, sizeof(prog), "%s/prog", dir);
	snprintf(cache_dir, sizeof(cache_dir), "%s/symbols", dir);
	snprintf(path, sizeof(path), "%s/prog.c", dir);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		return -1;
	snprintf(cmd, sizeof(cmd), "%s -g -O2 -Wl,--build-id -o %s %s",
		 compiler(), prog, path);
	if (system(cmd))
		return -1;
	snprintf(cmd, sizeof(cmd),
		 "cd %s && objcopy --only-keep-debug prog prog.kept && "
		 "cp prog prog.bare && cp prog prog.fake && cp prog.kept prog.debug && "
		 "strip prog.bare && "
		 "objcopy --add-gnu-debuglink=prog.debug prog.bare && rm prog.debug",
		 dir);
	if (system(cmd))
		return -1;
	for (int i = 0; i < COPIES; i++) {
		snprintf(cmd, sizeof(cmd), "%s.%d", prog, i);
		copy_file(prog, cmd);
	}
	settle();
	return 0;
}

static int remove_program(void **state)
{
	char cmd[sizeof(dir) + 16];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_those_without_a_cache),
		cmocka_unit_test(what_is_known_is_not_written_again),
		cmocka_unit_test(files_are_used_after_another_start),
		cmocka_unit_test(damaged_files_count_as_missing),
		cmocka_unit_test(names_are_those_of_the_file),
		cmocka_unit_test(debug_information_may_come_and_go),
		cmocka_unit_test(files_say_whose_they_are),
		cmocka_unit_test(results_depend_on_where_to_search),
		cmocka_unit_test(split_files_may_go),
		cmocka_unit_test(results_may_be_too_large),
		cmocka_unit_test(symbols_end_at_functions_of_both_sections),
		cmocka_unit_test(the_folder_stays_below_its_size),
		cmocka_unit_test(folders_of_others_are_refused),
		cmocka_unit_test(nothing_is_written_to_a_full_disk),
	};

	return cmocka_run_group_tests(tests, make_program, remove_program);
}
