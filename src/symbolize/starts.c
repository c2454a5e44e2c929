// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds functions that start programs and threads: see starts.h. */
#include "symbolize/starts.h"

#include <elf.h>
#include <string.h>

#include "image/cfi.h"
#include "symbolize/symbolize.h"

enum {
	/* Longer functions are not considered. */
	MAX_CODE = 64 << 10,
	/* Limits for referenced functions and for segments. */
	MAX_REFS = 512, MAX_SEGMENTS = 8,
	CALL = 0xe8,
	CALL_SIZE = 5, LEA_SIZE = 7,
};

bool symbolize_names_start(const char *name)
{
	static const char *const names[] = {
		"start_thread", "clone3", "__libc_start_call_main", "_start",
		"_dl_start_user", "_dl_start", "_dl_init", "_dl_fini",
		"[entry point]",
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* State of a search. */
struct search {
	struct starts *out;
	struct image *img;
	/* addresses of exported functions; 0: missing */
	uint64_t start_main, exit, pthread_create, setjmp, call_dtors;
	bool is_loader, has_tls_get_addr;
};

/* The bytes of a function or of a part of it. */
struct code {
	uint64_t start;
	struct span bytes;
};

static bool is_name(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(symbol, name, n) && (!symbol[n] || symbol[n] == '@');
}

static bool note_export(void *ctx, const struct image_symbol *sym)
{
	struct search *s = ctx;

	if (is_name(sym->name, "__libc_start_main"))
		s->start_main = sym->vaddr;
	else if (is_name(sym->name, "exit"))
		s->exit = sym->vaddr;
	else if (is_name(sym->name, "pthread_create"))
		s->pthread_create = sym->vaddr;
	else if (is_name(sym->name, "_setjmp"))
		s->setjmp = sym->vaddr;
	else if (is_name(sym->name, "__call_tls_dtors"))
		s->call_dtors = sym->vaddr;
	else if (is_name(sym->name, "_dl_mcount"))
		s->is_loader = true;
	else if (is_name(sym->name, "__tls_get_addr"))
		s->has_tls_get_addr = true;
	return true;
}

static void add(struct search *s, const char *name, uint64_t start,
		uint64_t size)
{
	struct start_function f = { name, start, size };

	/* if out of memory, the function remains without a name */
	if (size)
		(void)vec_push(&s->out->v, f);
}

/* Finds the function that covers vaddr from call frame information. */
static bool extent(struct search *s, uint64_t vaddr, struct code *out)
{
	struct cfi_section sect;
	struct cfi_cie cie;
	struct cfi_fde fde;

	if (!image_find_fde(s->img, vaddr, &sect, &cie, &fde) ||
	    !fde.size || fde.size > MAX_CODE)
		return false;
	out->start = fde.start;
	out->bytes = image_bytes(s->img, fde.start, (size_t)fde.size);
	return out->bytes.n == fde.size;
}

/* Finds the function that starts at vaddr. */
static bool function_at(struct search *s, uint64_t vaddr, struct code *out)
{
	return vaddr && extent(s, vaddr, out) && out->start == vaddr;
}

/* Adds the function that starts at vaddr. */
static void add_at(struct search *s, const char *name, uint64_t vaddr)
{
	struct code c;

	if (function_at(s, vaddr, &c))
		add(s, name, c.start, c.bytes.n);
}

static uint32_t read32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* Returns the address to which an instruction of `size` bytes at offset i
 * refers.  Its last four bytes are relative to its end. */
static uint64_t target(const struct code *c, size_t i, size_t size)
{
	int32_t rel = (int32_t)read32(c->bytes.p + i + size - 4);

	return c->start + i + size + (uint64_t)(int64_t)rel;
}

static bool is_call(const struct code *c, size_t i)
{
	return i + CALL_SIZE <= c->bytes.n && c->bytes.p[i] == CALL;
}

/* Matches a 64-bit lea disp32(%rip). */
static bool is_address_of(const struct code *c, size_t i)
{
	const uint8_t *p = c->bytes.p + i;

	return i + LEA_SIZE <= c->bytes.n && (p[0] & 0xfb) == 0x48 &&
	       p[1] == 0x8d && (p[2] & 0xc7) == 0x05;
}

static bool calls(const struct code *c, uint64_t function)
{
	for (size_t i = 0; function && i < c->bytes.n; i++)
		if (is_call(c, i) && target(c, i, CALL_SIZE) == function)
			return true;
	return false;
}

static bool holds(const struct code *c, const char *bytes, size_t n)
{
	return memmem(c->bytes.p, c->bytes.n, bytes, n) != NULL;
}

/* Matches: call *%reg; mov %eax,%edi; call exit. */
static bool exits_with_result(const struct search *s, const struct code *c)
{
	for (size_t i = 0; i + 4 + CALL_SIZE <= c->bytes.n; i++) {
		const uint8_t *p = c->bytes.p + i;

		if (p[0] == 0xff && (p[1] & 0xf8) == 0xd0 && p[2] == 0x89 &&
		    p[3] == 0xc7 && is_call(c, i + 4) &&
		    target(c, i + 4, CALL_SIZE) == s->exit)
			return true;
	}
	return false;
}

/* Matches: call *%reg or call *disp32(%reg), and mov $SYS_exit,%reg. */
static bool runs_thread(const struct search *s, const struct code *c)
{
	bool indirect = false, exits = false;

	for (size_t i = 0; i + 6 <= c->bytes.n; i++) {
		const uint8_t *p = c->bytes.p + i;

		indirect |= p[0] == 0xff && ((p[1] & 0xf8) == 0xd0 ||
					     (p[1] & 0xf8) == 0x90);
		exits |= (p[0] & 0xf8) == 0xb8 && read32(p + 1) == 60;
	}
	return indirect && exits && calls(c, s->setjmp) &&
	       calls(c, s->call_dtors);
}

/* Candidates for one name; the name is given only if there is exactly one. */
struct only {
	uint64_t vaddr;
	bool several;
};

static void note_candidate(struct only *o, uint64_t vaddr)
{
	if (o->vaddr && o->vaddr != vaddr)
		o->several = true;
	o->vaddr = vaddr;
}

static void find_call_main(struct search *s)
{
	struct only found = { 0 };
	struct code main, c;
	int left = MAX_REFS;

	if (!s->exit || !function_at(s, s->start_main, &main))
		return;
	for (size_t i = 0; i < main.bytes.n && left; i++)
		if (is_call(&main, i) && left-- &&
		    function_at(s, target(&main, i, CALL_SIZE), &c) &&
		    exits_with_result(s, &c))
			note_candidate(&found, c.start);
	if (!found.several)
		add_at(s, "__libc_start_call_main", found.vaddr);
}

/* Searches for start_thread among the functions whose addresses `c` takes. */
static void find_taken(struct search *s, const struct code *c, int *left,
		       struct only *found)
{
	struct code f;

	for (size_t i = 0; i < c->bytes.n && *left > 0; i++)
		if (is_address_of(c, i) && (*left)-- > 0 &&
		    function_at(s, target(c, i, LEA_SIZE), &f) &&
		    runs_thread(s, &f))
			note_candidate(found, f.start);
}

/* Finds start_thread: pthread_create, or a function that it calls, passes its
 * address to clone. */
static void find_start_thread(struct search *s)
{
	struct only found = { 0 };
	struct code create, c;
	int left = MAX_REFS;

	if (!s->setjmp || !function_at(s, s->pthread_create, &create))
		return;
	find_taken(s, &create, &left, &found);
	for (size_t i = 0; i < create.bytes.n && left > 0; i++)
		if (is_call(&create, i) && left-- > 0 &&
		    function_at(s, target(&create, i, CALL_SIZE), &c))
			find_taken(s, &c, &left, &found);
	if (!found.several)
		add_at(s, "start_thread", found.vaddr);
}

/* Finds clone3: mov $SYS_clone3,%eax; syscall.  After the system call, the new
 * thread starts in a part with its own call frame information, which says that
 * it has no caller. */
static void find_clone3(struct search *s)
{
	static const char begins[] = "\xb8\xb3\x01\x00\x00\x0f\x05";
	static const char ends[] = "\xb8\x3c\x00\x00\x00\x0f\x05";
	const struct image_segment *seg;
	size_t n = image_segments(s->img, &seg);

	for (size_t i = 0; i < n && i < MAX_SEGMENTS; i++) {
		struct span b = image_bytes(s->img, seg[i].vaddr, SIZE_MAX);
		const uint8_t *at = !seg[i].exec || !b.n ? NULL
			: memmem(b.p, b.n, begins, sizeof(begins) - 1);
		struct code head, child, tail;
		uint64_t call;

		if (!at)
			continue;
		call = seg[i].vaddr + (uint64_t)(at - b.p);
		if (!extent(s, call, &head))
			continue;
		/* after the system call: tests and a ret, outside both parts */
		for (uint64_t a = call + 7; a < call + 32; a++)
			if (extent(s, a, &child) && child.start > head.start &&
			    holds(&child, ends, sizeof(ends) - 1) &&
			    extent(s, child.start + child.bytes.n, &tail)) {
				add(s, "clone3", head.start, tail.start +
				    tail.bytes.n - head.start);
				return;
			}
	}
}

/*
 * Finds the functions of glibc's loader:
 *	_start: mov %rsp,%rdi; call _dl_start
 *	_dl_start_user: mov %rax,%r12; … call _dl_init; lea _dl_fini,%rdx; …
 *	jmp *%r12
 */
static void find_loader(struct search *s, uint64_t entry)
{
	struct code c = { entry, image_bytes(s->img, entry, 160) };
	const uint8_t *p = c.bytes.p;
	size_t call = 0, user = 3 + CALL_SIZE, i;

	if (c.bytes.n < user + 3 || memcmp(p, "\x48\x89\xe7\xe8", 4) ||
	    memcmp(p + user, "\x49\x89\xc4", 3))
		return;
	for (i = user + 3; i + 3 <= c.bytes.n &&
	     memcmp(p + i, "\x41\xff\xe4", 3); i++)
		if (is_call(&c, i) && i + CALL_SIZE + LEA_SIZE <= c.bytes.n &&
		    is_address_of(&c, i + CALL_SIZE))
			call = i;
	if (!call || i + 3 > c.bytes.n)
		return;
	add(s, "_start", entry, user);
	add(s, "_dl_start_user", entry + user, i + 3 - user);
	add_at(s, "_dl_start", target(&c, 3, CALL_SIZE));
	add_at(s, "_dl_init", target(&c, call, CALL_SIZE));
	add_at(s, "_dl_fini", target(&c, call + CALL_SIZE, LEA_SIZE));
}

/* Matches the start of crt1.o: xor %ebp,%ebp; mov %rdx,%r9; pop %rsi; mov
 * %rsp,%rdx; and $-16,%rsp; push %rax; push %rsp. */
static bool is_crt1(struct search *s, uint64_t entry)
{
	static const char code[] = "\x31\xed\x49\x89\xd1\x5e\x48\x89\xe2\x48\x83"
				   "\xe4\xf0\x50\x54";
	static const char endbr[] = "\xf3\x0f\x1e\xfa";
	size_t n = sizeof(code) - 1;
	struct span b = image_bytes(s->img, entry, n + 4);

	if (b.n == n + 4 && !memcmp(b.p, endbr, 4))
		return !memcmp(b.p + 4, code, n);
	return b.n >= n && !memcmp(b.p, code, n);
}

static void find_entry(struct search *s, bool is_x86_64)
{
	uint64_t entry = image_entry(s->img);
	size_t before = s->out->v.n;
	const char *name = "[entry point]";
	struct code c;

	if (!entry || image_type(s->img) == ET_REL)
		return;
	if (is_x86_64 && s->is_loader && s->has_tls_get_addr)
		find_loader(s, entry);
	if (s->out->v.n > before)
		return;
	if (is_x86_64 && is_crt1(s, entry))
		name = "_start";
	if (function_at(s, entry, &c))
		add(s, name, entry, c.bytes.n);
}

static void make(struct starts *out, struct image *img)
{
	struct search s = { .out = out, .img = img };
	bool is_x86_64 = image_machine(img) == EM_X86_64 && image_is_64(img);

	if (is_x86_64) {
		image_each_symbol(img, IMAGE_DYNSYM, note_export, &s);
		find_call_main(&s);
		find_start_thread(&s);
		/* only this library makes the system call */
		if (s.pthread_create && s.setjmp)
			find_clone3(&s);
	}
	find_entry(&s, is_x86_64);
}

const struct start_function *starts_find(struct starts *s, struct image *img,
					 uint64_t addr)
{
	if (!s->made) {
		s->made = true;
		make(s, img);
	}
	for (size_t i = 0; i < s->v.n; i++)
		if (addr - s->v.v[i].start < s->v.v[i].size)
			return &s->v.v[i];
	return NULL;
}

uint64_t starts_same_until(const struct starts *s, uint64_t addr, uint64_t end)
{
	for (size_t i = 0; i < s->v.n; i++) {
		uint64_t start = s->v.v[i].start, after = start + s->v.v[i].size;

		if (start > addr && start < end)
			end = start;
		if (after > addr && after < end)
			end = after;
	}
	return end;
}

void starts_fini(struct starts *s)
{
	vec_fini(&s->v);
}
