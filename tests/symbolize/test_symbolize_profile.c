// SPDX-License-Identifier: GPL-2.0-or-later
/* profile_symbolize on this very program, its vdso and a made-up kernel: what
 * it says must be what the compiler and the dynamic linker say. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/symbolize_profile.h"

/* Returns the address in itself of an inlined call and the line of each. */
static inline __attribute__((always_inline)) void *here(int *line)
{
	void *at;

#if defined(__x86_64__)
	__asm__ volatile("lea 0(%%rip), %0" : "=r"(at)); *line = __LINE__;
#elif defined(__aarch64__)
	__asm__ volatile("adr %0, . + 4" : "=r"(at)); *line = __LINE__;
#else
	at = NULL; *line = 0;
#endif
	return at;
}

void *probe(int *inner, int *outer);
__attribute__((noinline)) void *probe(int *inner, int *outer)
{
	void *at;

	at = here(inner); *outer = __LINE__;
	__asm__ volatile("" ::: "memory");
	return at;
}

static char exe[PATH_MAX];

static uint64_t load_bias(void)
{
	struct link_map *map;
	Dl_info info;

	if (!dladdr1((void *)probe, &info, (void **)&map, RTLD_DL_LINKMAP))
		fail_msg("dladdr");
	return map->l_addr;
}

static uint32_t add_image(struct profile *p, const char *path, int kind,
			  const struct build_id *id, uint64_t base)
{
	struct prof_image im = { .kind = (uint8_t)kind, .base = base };

	im.path = profile_str(p, path);
	if (id)
		im.build_id = *id;
	assert_int_equal(vec_push(&p->images, im), 0);
	return (uint32_t)(p->images.n - 1);
}

static struct build_id own_build_id(void)
{
	struct build_id id;
	struct image *img;
	struct error err;

	if (image_open_file(exe, &img, &err) < 0)
		fail_msg("%s", err.msg);
	id = image_build_id(img);
	image_close(img);
	return id;
}

static const char *func_name(const struct profile *p, uint32_t frame)
{
	if (frame == PROF_NONE)
		return "";
	return profile_cstr(p, p->funcs.v[p->frames.v[frame].func].name);
}

static void fill(struct profile *p, const struct symbolize_options *o)
{
	struct error err;

	if (profile_symbolize(p, o, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(p->symbolized);
	assert_int_equal(p->loc_frame.n, p->locs.n);
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), k = strlen(tail);

	return n >= k && !strcmp(s + n - k, tail);
}

/* The lines of a profile with one hot function. */
static void check_lines(const struct profile *p, uint64_t vaddr, uint32_t frame)
{
	const struct prof_symbol *s = &p->symbols.v[0];
	size_t n = p->lines.n, i;
	uint32_t at = PROF_NONE;

	assert_true(n > 1);
	assert_int_equal(p->lines.v[0].vaddr, s->vaddr);
	assert_int_equal(p->lines.v[n - 1].vaddr, s->vaddr + s->size);
	assert_int_equal(p->lines.v[n - 1].frame, PROF_NONE);
	for (i = 0; i + 1 < n; i++) {
		assert_true(p->lines.v[i].vaddr < p->lines.v[i + 1].vaddr);
		if (p->lines.v[i].vaddr <= vaddr)
			at = p->lines.v[i].frame;
	}
	assert_int_equal(at, frame);
}

static void test_own_inlines(void **state)
{
	struct build_id id = own_build_id();
	struct symbolize_options o = { .code_budget = 1 << 20 };
	const struct prof_frame *inner, *outer;
	uint64_t self_samples[2] = { 10, 0 }, vaddr;
	int in_line, out_line;
	struct profile p;
	uint32_t image, loc, frame, gone, there;
	size_t lines, symbols;
	uint8_t *at;

	(void)state;
	at = probe(&in_line, &out_line);
	if (!at)
		skip_test("this processor's own address is not asked for yet");
	vaddr = (uint64_t)at - load_bias();
	assert_int_equal(profile_init(&p), 0);
	image = add_image(&p, exe, PROF_IMAGE_ELF, &id, 0);
	loc = profile_loc(&p, image, vaddr - 1);
	there = p.images.v[image].path;
	gone = profile_str(&p, "/nonexistent/file");
	profile_loc(&p, image, UINT64_MAX / 2);	/* nothing is there */
	o.self_samples = self_samples;
	fill(&p, &o);
	frame = profile_loc_frame(&p, loc);
	assert_string_equal(func_name(&p, frame), "here");
	inner = &p.frames.v[frame];
	assert_int_equal(inner->line, in_line);
	assert_true(ends_with(profile_cstr(&p, inner->file),
			      "test_symbolize_profile.c"));
	assert_string_equal(func_name(&p, inner->outer), "probe");
	assert_true(inner->outer < frame);
	outer = &p.frames.v[inner->outer];
	assert_int_equal(outer->line, out_line);
	assert_int_equal(outer->outer, PROF_NONE);
	assert_int_equal(p.funcs.v[outer->func].vaddr, 0);
	assert_int_equal(profile_loc_frame(&p, loc + 1), PROF_NONE);
	/* the code of the hot symbol is the code in memory */
	symbols = p.symbols.n;	/* with sanitizers, it calls functions of theirs */
	assert_true(symbols >= 1);
	assert_string_equal(profile_cstr(&p, p.symbols.v[0].name), "probe");
	assert_int_equal(p.symbols.v[0].vaddr + load_bias(), (uint64_t)probe);
	assert_int_equal(p.codes.n, 1);
	assert_int_equal(p.codes.v[0].size, p.symbols.v[0].size);
	assert_memory_equal(p.code_bytes.p + p.codes.v[0].offset,
			    (void *)probe, p.codes.v[0].size);
	/* every byte of it has its line: from its first one to behind its
	 * last, and the sampled one says what its location says */
	check_lines(&p, vaddr - 1, frame);
	lines = p.lines.n;
	/* again: the same, not more */
	fill(&p, &o);
	assert_int_equal(p.lines.n, lines);
	assert_int_equal(p.symbols.n, symbols);
	assert_string_equal(func_name(&p, profile_loc_frame(&p, loc)), "here");
	/* the binary is gone: names and code stay */
	p.images.v[0].path = gone;
	fill(&p, &o);
	assert_string_equal(func_name(&p, profile_loc_frame(&p, loc)), "here");
	assert_int_equal(p.symbols.n, symbols);
	assert_int_equal(p.codes.n, 1);
	assert_memory_equal(p.code_bytes.p + p.codes.v[0].offset,
			    (void *)probe, p.codes.v[0].size);
	check_lines(&p, vaddr - 1, profile_loc_frame(&p, loc));
	assert_int_equal(p.lines.n, lines);
	p.images.v[0].path = there;
	/* the budget is for what is not hot, which one of 201 samples is */
	o.code_budget = 4;
	fill(&p, &o);
	assert_int_equal(p.codes.n, 1);
	self_samples[0] = 1;
	self_samples[1] = 200;
	fill(&p, &o);
	assert_int_equal(p.codes.n, 0);
	assert_int_equal(p.code_bytes.n, 0);
	assert_int_equal(p.lines.n, 0);
	profile_fini(&p);
}

static void test_other_build_id(void **state)
{
	struct build_id id = { 4, { 0xde, 0xad, 0xbe, 0xef } };
	struct symbolize_options o = { 0 };
	struct profile p;
	uint32_t loc;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	add_image(&p, exe, PROF_IMAGE_ELF, &id, 0);
	loc = profile_loc(&p, 0, (uint64_t)probe - load_bias());
	add_image(&p, "/nonexistent/file", PROF_IMAGE_ELF, &id, 0);
	profile_loc(&p, 1, 16);
	fill(&p, &o);
	assert_int_equal(profile_loc_frame(&p, loc), PROF_NONE);
	assert_non_null(strstr(profile_cstr(&p, p.images.v[0].note),
			       "changed since recording"));
	assert_non_null(strstr(profile_cstr(&p, p.images.v[0].note),
			       "deadbeef"));
	assert_non_null(strstr(profile_cstr(&p, p.images.v[1].note),
			       "/nonexistent/file"));
	profile_fini(&p);
}

static int open_exe(void *ctx, uint32_t image)
{
	*(uint32_t *)ctx = image;
	return image == 0 ? open(exe, O_RDONLY | O_CLOEXEC) : -1;
}

static void test_open_by_caller(void **state)
{
	struct build_id id = own_build_id();
	uint32_t asked = 99, loc;
	struct symbolize_options o = { .open_image = open_exe, .ctx = &asked };
	struct profile p;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	add_image(&p, "/a/deleted/file", PROF_IMAGE_ELF, &id, 0);
	loc = profile_loc(&p, 0, (uint64_t)probe - load_bias());
	fill(&p, &o);
	assert_int_equal(asked, 0);
	assert_true(profile_loc_frame(&p, loc) != PROF_NONE);
	profile_fini(&p);
}

/* Callbacks with a state that no lock protects. */
struct callbacks {
	atomic_int inside;
	atomic_uint calls, together;
};

static void call_back(void *ctx)
{
	struct callbacks *c = ctx;

	atomic_fetch_add(&c->calls, 1);
	if (atomic_fetch_add(&c->inside, 1))
		atomic_fetch_add(&c->together, 1);
	usleep(2000);	/* another thread may come */
	atomic_fetch_sub(&c->inside, 1);
}

static int opens_nothing(void *ctx, uint32_t image)
{
	(void)image;
	call_back(ctx);
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void has_no_lines(void *ctx, uint32_t image, struct symbolize_perfmap_use *use)
{
	(void)image, (void)use;
	call_back(ctx);
}

static int has_no_jitdump(void *ctx, uint32_t image, struct symbolize_jitdump_use *use)
{
	(void)image, (void)use;
	call_back(ctx);
	return -1;
}

static const char *generates_nothing(void *ctx, uint32_t image, uint64_t *size)
{
	(void)image, (void)size;
	call_back(ctx);
	return NULL;
}

/* Two images are read at a time. */
static void test_callbacks_one_at_a_time(void **state)
{
	enum { IMAGES = 20 };
	struct callbacks c = { 0, 0, 0 };
	struct symbolize_options o = {
		.open_image = opens_nothing, .perfmap_use = has_no_lines,
		.open_jitdump = has_no_jitdump, .generated = generates_nothing,
		.ctx = &c,
	};
	struct profile p;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	for (uint32_t i = 0; i < IMAGES; i++) {
		add_image(&p, "[anon]", i % 4 == 3 ? PROF_IMAGE_UNKNOWN
						   : PROF_IMAGE_ANON, NULL, i);
		profile_loc(&p, i, 16);
	}
	fill(&p, &o);
	assert_true(atomic_load(&c.calls) >= IMAGES);
	assert_int_equal(atomic_load(&c.together), 0);
	profile_fini(&p);
}

static const char kernel[] =
	"ffffffff90000000 T _text\n"
	"ffffffff90001000 T do_work\n"
	"ffffffff90001400 T next\n"
	"ffffffffc0000000 t mod_func\t[some_mod]\n";

static void write_file(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* By names of a boot that had the kernel at `base` or elsewhere: those of the kernel
 * move with _text, those of modules are only known where nothing has moved. */
static void check_kernel(uint64_t base, bool same_boot)
{
	struct build_id id = { 2, { 1, 2 } };
	char path[] = "/tmp/tally-kallsyms.XXXXXX";
	struct symbolize_options o = { .kallsyms = path };
	struct profile p;
	uint32_t loc[4], frame;

	write_file(path, kernel);
	assert_int_equal(profile_init(&p), 0);
	add_image(&p, "[kernel]", PROF_IMAGE_KERNEL, &id, base);
	add_image(&p, "[some_mod]", PROF_IMAGE_MODULE, &id, 0xffffffffc0000000);
	add_image(&p, "[other_mod]", PROF_IMAGE_MODULE, &id,
		  0xffffffffc0000000);
	loc[0] = profile_loc(&p, 0, 0x1010);
	loc[1] = profile_loc(&p, 1, 0x10);
	loc[2] = profile_loc(&p, 2, 0x10);
	fill(&p, &o);
	frame = profile_loc_frame(&p, loc[0]);
	assert_string_equal(func_name(&p, frame), "do_work");
	assert_int_equal(p.funcs.v[p.frames.v[frame].func].vaddr, 0x1000);
	frame = profile_loc_frame(&p, loc[1]);
	if (same_boot)
		assert_string_equal(func_name(&p, frame), "mod_func");
	else
		assert_int_equal(frame, PROF_NONE);
	assert_int_equal(profile_loc_frame(&p, loc[2]), PROF_NONE);
	assert_true(p.images.v[2].note != 0);
	unlink(path);
	profile_fini(&p);
}

static void test_kernel(void **state)
{
	(void)state;
	check_kernel(0xffffffff90000000, true);
	check_kernel(0xffffffff81000000, false);
}

static void test_hidden_kernel(void **state)
{
	char path[] = "/tmp/tally-kallsyms.XXXXXX";
	struct symbolize_options o = { .kallsyms = path };
	struct profile p;

	(void)state;
	write_file(path, "0000000000000000 T _text\n");
	assert_int_equal(profile_init(&p), 0);
	add_image(&p, "[kernel]", PROF_IMAGE_KERNEL, NULL, 0);
	profile_loc(&p, 0, 0xffffffff81000000);
	fill(&p, &o);
	assert_non_null(strstr(profile_cstr(&p, p.images.v[0].note),
			       "kptr_restrict"));
	unlink(path);
	profile_fini(&p);
}

/* A kernel that this machine does not run gives no names. */
static void test_other_kernel(void **state)
{
	struct build_id id = { 2, { 0xab, 0xcd } };
	struct symbolize_options o = { 0 };
	struct profile p;
	uint32_t loc;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	add_image(&p, "[kernel]", PROF_IMAGE_KERNEL, &id, 0xffffffff81000000);
	loc = profile_loc(&p, 0, 0x1000);
	fill(&p, &o);
	assert_int_equal(profile_loc_frame(&p, loc), PROF_NONE);
	assert_true(p.images.v[0].note != 0);
	profile_fini(&p);
}

static void test_vdso(void **state)
{
	void *lib = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *at = lib ? dlsym(lib, "__vdso_clock_gettime") : NULL;
	struct symbolize_options o = { 0 };
	struct build_id id = { 3, { 1, 2, 3 } };
	struct link_map *map;
	struct image *img;
	struct profile p;
	uint32_t loc;

	(void)state;
	if (!at)
		skip_test("the kernel gives programs no vdso");
	assert_int_equal(dlinfo(lib, RTLD_DI_LINKMAP, &map), 0);
	assert_int_equal(profile_init(&p), 0);
	add_image(&p, "[vdso]", PROF_IMAGE_VDSO, &id, 0);
	loc = profile_loc(&p, 0, (uint64_t)at - map->l_addr + 1);
	fill(&p, &o);
	assert_int_equal(profile_loc_frame(&p, loc), PROF_NONE);
	assert_non_null(strstr(profile_cstr(&p, p.images.v[0].note),
			       "changed since recording"));
	/* its headers and notes are in the first page */
	assert_int_equal(image_open_bytes((void *)map->l_addr, 4096, "vdso",
					  &img, NULL), 0);
	p.images.v[0].build_id = image_build_id(img);
	image_close(img);
	fill(&p, &o);
	assert_non_null(strstr(func_name(&p, profile_loc_frame(&p, loc)),
			       "clock_gettime"));
	profile_fini(&p);
}

/* The linker calls it instead of realloc. */
void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
static atomic_long reallocs_left;	/* the call that makes it 0 fails */

void *__wrap_realloc(void *p, size_t n)
{
	return atomic_fetch_sub(&reallocs_left, 1) == 1 ? NULL
							: __real_realloc(p, n);
}

/* Two images are read at a time.  When tables of one cannot grow, the other goes on. */
static void test_no_memory_beside_another(void **state)
{
	enum { LOCS = 512 };
	struct symbolize_options o = { .detail = SYM_SYMBOLS };
	struct build_id id = own_build_id();
	struct error err;
	bool failed = true;

	(void)state;
	for (long at = 1; failed; at++) {
		struct profile p;
		int rc;

		assert_int_equal(profile_init(&p), 0);
		for (uint32_t image = 0; image < 3; image++) {
			add_image(&p, exe, PROF_IMAGE_ELF, &id, 0);
			for (uint64_t i = 0; i < LOCS; i++)
				profile_loc(&p, image, (uint64_t)probe -
					    load_bias() + (i << 8));
		}
		atomic_store(&reallocs_left, at);
		rc = profile_symbolize(&p, &o, &err);
		failed = atomic_load(&reallocs_left) <= 0;
		/* some tables only make the rest faster */
		assert_true(!rc || (failed && rc == -ERR_NOMEM));
		atomic_store(&reallocs_left, 0);
		profile_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_inlines),
		cmocka_unit_test(test_no_memory_beside_another),
		cmocka_unit_test(test_other_build_id),
		cmocka_unit_test(test_open_by_caller),
		cmocka_unit_test(test_callbacks_one_at_a_time),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_hidden_kernel),
		cmocka_unit_test(test_other_kernel),
		cmocka_unit_test(test_vdso),
	};

	if (!realpath("/proc/self/exe", exe))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
