// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records replayed from memory into a profile.  The files that the records
 * speak of are small ELF files made here (gABI 4: header, two PT_LOAD, one
 * PT_NOTE with a build-id).
 */
#include "replay.h"
#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "../profile/open_writer.h"
#include "profile/reader.h"
#include "record/collect/kernel_code.h"

/* The code segment as lld lays it out: its offset is no page boundary. */
#define CODE_OFFSET 0x1230
#define CODE_VADDR 0x203230

struct elf_file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	Elf64_Nhdr nh;
	char name[4];
	uint8_t id[20];
};

static struct elf_file elf_of(uint8_t id)
{
	struct elf_file f = {
		.eh = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN, .e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct elf_file, ph),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3,
			.e_shentsize = sizeof(Elf64_Shdr),
		},
		.nh = { 4, 20, NT_GNU_BUILD_ID }, .name = "GNU",
	};

	f.ph[0] = (Elf64_Phdr){ PT_LOAD, PF_R, 0, 0, 0, 0x1230, 0x1230,
				0x1000 };
	f.ph[1] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, CODE_OFFSET, CODE_VADDR,
				CODE_VADDR, 0x2000, 0x2000, 0x1000 };
	f.ph[2] = (Elf64_Phdr){ PT_NOTE, PF_R,
				offsetof(struct elf_file, nh),
				offsetof(struct elf_file, nh), 0,
				36, 36, 4 };
	memset(f.id, id, sizeof(f.id));
	return f;
}

static const char *make_file(struct replay *r, const char *name, uint8_t id)
{
	static char path[128];
	struct elf_file f = elf_of(id);
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	unlink(path);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(&f, sizeof(f), 1, out), 1);
	assert_int_equal(fseek(out, CODE_OFFSET + 0x2000 - 1, SEEK_SET), 0);
	fputc(0, out);
	assert_int_equal(fclose(out), 0);
	return path;
}

static void send(struct replay *r, struct record *rec)
{
	rec->time_ns = ++r->time;
	if (collector_record(&r->c, rec, &r->err) < 0)
		fail_msg("%s", r->err.msg);
}

/* The code segment of a file, mapped at `start`. */
static void map_id(struct replay *r, uint32_t pid, uint64_t start,
		   const char *path, uint8_t id)
{
	struct record rec = { .kind = RECORD_MMAP, .pid = pid, .tid = pid };

	rec.mmap = (struct mapping){ .start = start, .len = 0x3000,
					 .offset = 0x1000, .path = path };
	rec.mmap.build_id.len = 20;
	memset(rec.mmap.build_id.bytes, id, 20);
	send(r, &rec);
}

static void map_len(struct replay *r, uint64_t start, uint64_t len,
		    const char *path, uint8_t id)
{
	struct record rec = { .kind = RECORD_MMAP, .pid = 5, .tid = 5 };

	rec.mmap = (struct mapping){ .start = start, .len = len,
					 .offset = 0x1000, .path = path };
	rec.mmap.build_id.len = 20;
	memset(rec.mmap.build_id.bytes, id, 20);
	send(r, &rec);
}

static void map_inode(struct replay *r, uint32_t pid, uint64_t start,
		      const char *path, uint64_t inode)
{
	struct record rec = { .kind = RECORD_MMAP, .pid = pid, .tid = pid };
	struct stat st;

	rec.mmap = (struct mapping){ .start = start, .len = 0x3000,
					 .offset = 0x1000, .path = path,
					 .dev = 1, .inode = inode };
	if (inode && !stat(path, &st))
		rec.mmap.dev = st.st_dev;
	send(r, &rec);
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

struct chain {
	const uint64_t *kernel, *user;
	uint32_t nkernel, nuser;
	bool cut;
};

/* Sends a sample; the row of its stack. */
static uint32_t sample(struct replay *r, uint32_t pid, const struct chain *c)
{
	struct record rec = { .kind = RECORD_SAMPLE, .pid = pid, .tid = pid };
	struct process *proc;
	uint32_t loc;

	rec.sample = (struct record_sample){
		.weight = 1, .kernel = c->kernel, .nkernel = c->nkernel,
		.user = c->user, .nuser = c->nuser, .cut = c->cut,
	};
	send(r, &rec);
	proc = processes_get(&r->c.processes, pid);
	return stacks_add(&r->c.stacks, proc->maps, &rec.sample, &loc);
}

static uint32_t sample_at(struct replay *r, uint32_t pid, uint64_t addr)
{
	return sample(r, pid, &(struct chain){ .user = &addr, .nuser = 1 });
}

/* "image+vaddr image+vaddr …", innermost first; the file's name only. */
static const char *stack_text(struct replay *r, uint32_t node)
{
	static char text[1024];
	size_t n = 0;

	text[0] = 0;
	for (; node; node = r->p.nodes.v[node].parent) {
		uint32_t loc = r->p.nodes.v[node].loc;
		const char *path, *slash;

		if (loc == PROF_MARK_BROKEN || loc == PROF_MARK_CUT) {
			n += (size_t)sprintf(text + n, " %s",
					     loc == PROF_MARK_CUT ? "CUT"
								  : "BROKEN");
			continue;
		}
		path = profile_cstr(&r->p, r->p.images.v[
			r->p.locs.v[loc].image].path);
		slash = strrchr(path, '/');
		n += (size_t)sprintf(text + n, "%s%s+%llx", n ? " " : "",
				     slash ? slash + 1 : path,
				     (unsigned long long)r->p.locs.v[loc].vaddr);
	}
	return text;
}

static void check_at(struct replay *r, uint32_t pid, uint64_t addr,
		     const char *want)
{
	assert_string_equal(stack_text(r, sample_at(r, pid, addr)), want);
}

static const struct prof_image *image_called(struct replay *r,
					     const char *name)
{
	for (size_t i = 0; i < r->p.images.n; i++) {
		const char *path = profile_cstr(&r->p, r->p.images.v[i].path);
		size_t n = strlen(path), k = strlen(name);

		if (n >= k && !strcmp(path + n - k, name))
			return &r->p.images.v[i];
	}
	fail_msg("no image %s", name);
	return NULL;
}

static int setup(void **state)
{
	struct timespec now;
	struct replay *r;

	if (replay_begin(state, "/nonexistent", 1))
		return -1;
	r = *state;
	/* Mappings are made after the files. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	r->time = ((uint64_t)now.tv_sec + 60) * 1000000000u;
	return 0;
}

static void addresses_become_elf_addresses(void **state)
{
	struct replay *r = *state;

	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	/* File offset 0x1300 = CODE_OFFSET + 0xd0. */
	check_at(r, 5, 0x700300, "a+203300");
	assert_int_equal(image_called(r, "/a")->flags, 0);
	assert_int_equal(image_called(r, "/a")->build_id.len, 20);
	assert_int_equal(image_called(r, "/a")->build_id.bytes[0], 1);
	check_at(r, 5, 0x6fffff, "[unknown]+6fffff");
	check_at(r, 5, 0x703000, "[unknown]+703000");
	assert_int_equal(r->c.samples, 3);
}

static void libraries_that_follow_each_other(void **state)
{
	struct replay *r = *state;
	char b[128];

	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	check_at(r, 5, 0x700300, "a+203300");
	strcpy(b, make_file(r, "b", 2));
	map_id(r, 5, 0x700000, b, 2);	/* dlclose, dlopen */
	check_at(r, 5, 0x700300, "b+203300");
	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	check_at(r, 5, 0x700300, "a+203300");
	assert_int_equal(r->p.images.n, 2);
}

static void a_file_that_is_gone(void **state)
{
	struct replay *r = *state;

	map_id(r, 5, 0x700000, "/nonexistent/gone", 9);
	check_at(r, 5, 0x700300, "gone+1300");	/* the file offset */
	assert_int_equal(image_called(r, "/gone")->flags,
			 PROF_IMAGE_UNREADABLE);
	assert_int_equal(image_called(r, "/gone")->build_id.bytes[19], 9);
}

/* Maps files one after the other at the same place. */
static void map_many(struct replay *r, int from, int to)
{
	char path[64];

	for (int i = from; i < to; i++) {
		snprintf(path, sizeof(path), "/nonexistent/%d", i);
		map_id(r, 5, 0x700000, path, 9);
	}
}

static void files_without_samples_are_dropped(void **state)
{
	struct replay *r = *state;
	uint64_t now = 1000000000;
	size_t most = 0;

	map_id(r, 5, 0x800000, make_file(r, "stays", 1), 1);
	map_many(r, 0, 5);
	check_at(r, 5, 0x700300, "4+1300");
	for (int round = 0; round < 10; round++) {
		map_many(r, 300 * round + 5, 300 * round + 305);
		assert_int_equal(collector_idle(&r->c, now += 1000000000,
						&r->err), 0);
		most = most < r->c.images.v.n ? r->c.images.v.n : most;
	}
	assert_true(most < 700);
	assert_true(r->c.images.aliases.n < 50);
	/* What is sampled or mapped stays, and numbers are used again. */
	check_at(r, 5, 0x700300, "3004+1300");
	map_many(r, 4, 5);
	check_at(r, 5, 0x700300, "4+1300");
	map_many(r, 5, 6);
	check_at(r, 5, 0x700300, "5+1300");
	check_at(r, 5, 0x800300, "stays+203300");
	assert_int_equal(r->p.images.n, 4);
}

static void a_file_that_was_replaced(void **state)
{
	struct replay *r = *state;

	map_id(r, 5, 0x700000, make_file(r, "new", 2), 1);
	check_at(r, 5, 0x700300, "new+1300");
	assert_int_equal(image_called(r, "/new")->flags,
			 PROF_IMAGE_UNREADABLE | PROF_IMAGE_DELETED);
	/* By inode as well. */
	map_inode(r, 5, 0x800000, make_file(r, "other", 3), 12345678901);
	check_at(r, 5, 0x800300, "other+1300");
	assert_int_equal(image_called(r, "/other")->flags,
			 PROF_IMAGE_UNREADABLE | PROF_IMAGE_DELETED);
}

static void one_file_known_in_two_ways(void **state)
{
	struct replay *r = *state;
	const char *path = make_file(r, "a", 1);

	map_id(r, 5, 0x700000, path, 1);
	map_inode(r, 6, 0x900000, path, inode_of(path));
	map_inode(r, 7, 0x900000, path, inode_of(path));
	check_at(r, 5, 0x700300, "a+203300");
	check_at(r, 6, 0x900300, "a+203300");
	check_at(r, 7, 0x900300, "a+203300");
	assert_int_equal(r->p.images.n, 1);
}

static void the_file_stays_open(void **state)
{
	struct replay *r = *state;
	const char *path = make_file(r, "a", 1);
	uint8_t magic[4];
	int fd;

	map_id(r, 5, 0x700000, path, 1);
	check_at(r, 5, 0x700300, "a+203300");
	assert_int_equal(unlink(path), 0);
	fd = images_open_row(&r->c.images, 0);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, magic, 4, 0), 4);
	assert_memory_equal(magic, "\177ELF", 4);
	close(fd);
	assert_int_equal(images_open_row(&r->c.images, 99), -1);
}

static void memory_of_its_own(void **state)
{
	struct replay *r = *state;

	map_inode(r, 5, 0x700000, "//anon", 0);
	map_inode(r, 6, 0x700000, "//anon", 0);
	check_at(r, 5, 0x700300, "[anon]+700300");
	check_at(r, 6, 0x700300, "[anon]+700300");
	assert_int_equal(r->p.images.n, 2);	/* one per process */
	assert_int_equal(r->p.images.v[0].kind, PROF_IMAGE_ANON);
	assert_int_equal(r->p.images.v[0].base, 5);
	assert_int_equal(r->p.images.v[1].base, 6);
}

static void callers_are_looked_up_inside_their_call(void **state)
{
	static const uint64_t user[] = { 0x700300, 0x700400, 0x700500 };
	static const uint64_t kernel[] = { 0xffffffff80000010,
					   0xffffffff80000020 };
	struct replay *r = *state;

	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	assert_string_equal(stack_text(r, sample(r, 5, &(struct chain){
		.user = user, .nuser = 3 })),
		"a+203300 a+2033ff a+2034ff");
	/* Below the kernel the program's first address is where it was, not a
	 * return address. */
	assert_string_equal(stack_text(r, sample(r, 5, &(struct chain){
		.kernel = kernel, .nkernel = 2, .user = user, .nuser = 2 })),
		"[kernel]+ffffffff80000010 [kernel]+ffffffff8000001f "
		"a+203300 a+2033ff");
}

static void a_call_at_the_very_end(void **state)
{
	static const uint64_t user[] = { 0x700300, 0x703000 };
	struct replay *r = *state;

	/* A call that never returns may be a mapping's last instruction. */
	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	assert_string_equal(stack_text(r, sample(r, 5, &(struct chain){
		.user = user, .nuser = 2 })), "a+203300 a+205fff");
}

static void stacks_end_where_no_code_is(void **state)
{
	static const uint64_t user[] = { 0x700300, 0x700400, 0x1, 0x700500 };
	struct replay *r = *state;

	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	assert_string_equal(stack_text(r, sample(r, 5, &(struct chain){
		.user = user, .nuser = 4 })), "a+203300 a+2033ff BROKEN");
	assert_string_equal(stack_text(r, sample(r, 5, &(struct chain){
		.user = user, .nuser = 2, .cut = true })),
		"a+203300 a+2033ff CUT");
}

static void equal_stacks_are_one(void **state)
{
	static const uint64_t user[] = { 0x700300, 0x700400, 0x700500 };
	static const struct chain c = { .user = user, .nuser = 3 };
	struct replay *r = *state;
	uint32_t first;
	char b[128];

	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	first = sample(r, 5, &c);
	assert_int_equal(sample(r, 5, &c), first);
	/* Another process with the same library elsewhere: the same stack. */
	map_id(r, 6, 0x700000, make_file(r, "a", 1), 1);
	assert_int_equal(sample(r, 6, &c), first);
	/* After other code came to these addresses: not. */
	strcpy(b, make_file(r, "b", 2));
	map_id(r, 5, 0x700000, b, 2);
	assert_string_equal(stack_text(r, sample(r, 5, &c)),
			    "b+203300 b+2033ff b+2034ff");
	assert_int_equal(sample(r, 6, &c), first);
}

/* More locations and callers than the caches have slots at first, or later. */
static void many_stacks_are_known_again(void **state)
{
	enum { N = 6000 };
	struct replay *r = *state;
	uint32_t *nodes = calloc(N, sizeof(*nodes));

	assert_non_null(nodes);
	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	for (uint32_t i = 0; i < 2 * N; i++) {
		const uint64_t user[] = { 0x700231, 0x700400 + i % N };
		uint32_t node = sample(r, 5, &(struct chain){ .user = user,
							      .nuser = 2 });

		assert_true(node && node != PROF_NONE);
		if (i >= N)
			assert_int_equal(node, nodes[i - N]);
		else
			nodes[i] = node;
	}
	assert_int_equal(r->p.locs.n, N + 1);
	free(nodes);
}

static void task(struct replay *r, enum record_kind kind, uint32_t pid,
		 uint32_t tid, uint32_t ppid, uint32_t ptid)
{
	struct record rec = { .kind = kind, .pid = pid, .tid = tid };

	rec.fork.ppid = ppid;
	rec.fork.ptid = ptid;
	send(r, &rec);
}

static void name(struct replay *r, uint32_t pid, const char *text, bool exec)
{
	struct record rec = { .kind = RECORD_COMM, .pid = pid, .tid = pid };

	rec.comm.name = text;
	rec.comm.exec = exec;
	send(r, &rec);
}

static const struct prof_thread *last_thread(struct replay *r)
{
	return &r->p.threads.v[r->p.threads.n - 1];
}

static void the_life_of_a_child(void **state)
{
	struct replay *r = *state;
	char tool[128];

	map_id(r, 5, 0x700000, make_file(r, "sh", 1), 1);
	name(r, 5, "sh", true);
	map_id(r, 5, 0x700000, make_file(r, "sh", 1), 1);
	task(r, RECORD_FORK, 6, 6, 5, 5);
	check_at(r, 6, 0x700300, "sh+203300");
	assert_int_equal(last_thread(r)->pid, 6);
	assert_int_equal(last_thread(r)->parent, 5);
	assert_string_equal(profile_cstr(&r->p, last_thread(r)->comm), "sh");
	name(r, 6, "tool", true);	/* exec */
	check_at(r, 6, 0x700300, "[unknown]+700300");
	strcpy(tool, make_file(r, "tool", 2));
	map_id(r, 6, 0x700000, tool, 2);
	check_at(r, 6, 0x700300, "tool+203300");
	assert_string_equal(profile_cstr(&r->p, last_thread(r)->comm), "tool");
	check_at(r, 5, 0x700300, "sh+203300");
	task(r, RECORD_EXIT, 6, 6, 5, 5);
	check_at(r, 6, 0x700300, "tool+203300");	/* late */
	assert_int_equal(collector_idle(&r->c, UINT64_MAX, &r->err), 0);
	check_at(r, 6, 0x700300, "[unknown]+700300");
	assert_string_equal(profile_cstr(&r->p, last_thread(r)->comm), "");
}

static void processes_without_samples_leave_no_trace(void **state)
{
	struct replay *r = *state;
	size_t strings = r->p.str.str.n;

	for (uint32_t i = 0; i < 1000; i++) {
		task(r, RECORD_FORK, 100 + i, 100 + i, 5, 5);
		name(r, 100 + i, "nobody", true);
		map_id(r, 100 + i, 0x700000, "/nonexistent/x", 1);
	}
	assert_int_equal(r->p.threads.n, 0);
	assert_int_equal(r->p.images.n, 0);
	assert_int_equal(r->p.str.str.n, strings);
}

static void losses_are_counted_where_they_happen(void **state)
{
	struct replay *r = *state;
	struct record rec = { .kind = RECORD_LOST, .cpu = 3, .event = 0 };

	rec.lost = 17;
	send(r, &rec);
	rec.kind = RECORD_THROTTLE;
	rec.event = SOURCE_NONE;
	send(r, &rec);
	assert_int_equal(r->p.losses.n, 2);
	assert_int_equal(r->p.losses.v[0].count, 17);
	assert_int_equal(r->p.losses.v[0].cpu, 3);
	assert_int_equal(r->p.losses.v[0].kind, PROF_LOST);
	assert_int_equal(r->p.losses.v[1].kind, PROF_THROTTLED);
	assert_int_equal(r->p.losses.v[1].event, PROF_NONE);
	assert_int_equal(r->c.lost, 17);
	assert_int_equal(r->c.throttled, 1);
}

static void samples_of_unknown_events_are_ignored(void **state)
{
	static const uint64_t ip = 1;
	struct replay *r = *state;
	struct record rec = { .kind = RECORD_SAMPLE, .event = 7 };

	rec.sample.user = &ip;
	rec.sample.nuser = 1;
	send(r, &rec);
	assert_int_equal(r->c.samples, 0);
	assert_int_equal(r->c.ignored, 1);
}

static void ksymbol(struct replay *r, uint64_t addr, const char *name,
		    bool gone, uint16_t type)
{
	struct record rec = { .kind = RECORD_KSYMBOL };

	rec.ksymbol = (struct record_ksymbol){
		.addr = addr, .len = 0x100, .type = type, .gone = gone,
		.name = name,
	};
	send(r, &rec);
}

static void check_kernel(struct replay *r, uint64_t addr, const char *want,
			 const char *name)
{
	uint32_t node = sample(r, 5, &(struct chain){ .kernel = &addr,
						       .nkernel = 1 });
	uint32_t image = r->p.locs.v[r->p.nodes.v[node].loc].image;
	const char *got;
	uint64_t size = 0;

	assert_string_equal(stack_text(r, node), want);
	got = kernel_code_name(&r->c.images, image, &size);
	assert_string_equal(got ? got : "", name);
	assert_int_equal(size, got ? 0x100 : 0);
}

/* BPF programs follow each other at one address (types: BPF 1, OOL 2). */
static void generated_code_comes_and_goes(void **state)
{
	struct replay *r = *state;
	uint64_t at = 0xffffffffc0001000, base = 0xffffffff80000000;
	char kernel[32];

	r->c.kernel.base = base;
	snprintf(kernel, sizeof(kernel), "[kernel]+%llx",
		 (unsigned long long)(at + 0x10 - base));
	check_kernel(r, at + 0x10, kernel, "");
	ksymbol(r, at, "bpf_prog_1_a", false, 1);
	check_kernel(r, at + 0x10, "[bpf]+10", "bpf_prog_1_a");
	check_kernel(r, at + 0xff, "[bpf]+ff", "bpf_prog_1_a");
	ksymbol(r, at, "bpf_prog_1_a", true, 1);
	check_kernel(r, at + 0x10, kernel, "");
	ksymbol(r, at, "bpf_prog_2_b", false, 1);
	check_kernel(r, at + 0x10, "[bpf]+10", "bpf_prog_2_b");
	ksymbol(r, at, "bpf_prog_2_b", true, 1);
	ksymbol(r, at, "ftrace_trampoline", false, 2);
	check_kernel(r, at + 0x10, "[ftrace]+10", "ftrace_trampoline");
	/* The same again is the same. */
	ksymbol(r, at, "ftrace_trampoline", true, 2);
	ksymbol(r, at, "bpf_prog_1_a", false, 1);
	check_kernel(r, at + 0x10, "[bpf]+10", "bpf_prog_1_a");
	assert_int_equal(r->p.images.n, 4);
	assert_true(prof_is_kernel(&r->p.images.v[1]));
}

static void write_text(const struct replay *r, const char *name,
		       const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Lines of /proc/modules and /proc/kallsyms as proc(5) shows them. */
static void modules_that_are_loaded_meanwhile(void **state)
{
	struct replay *r = *state;

	write_text(r, "kallsyms", "ffffffff81000000 T _text\n");
	write_text(r, "modules", "old 8192 0 - Live 0xffffffffc0100000\n");
	collector_fini(&r->c);
	assert_int_equal(collector_init(&r->c, &r->p, r->dir, "/nonexistent",
					&r->err), 0);
	r->c.nevents = 1;
	check_kernel(r, 0xffffffff81000010, "[kernel]+10", "");
	check_kernel(r, 0xffffffffc0100010, "[old]+10", "");
	assert_false(r->c.kernel.stray);
	write_text(r, "modules", "new 8192 0 - Live 0xffffffffc0200000\n"
		   "old 8192 0 - Live 0xffffffffc0100000\n");
	check_kernel(r, 0xffffffffc0200010, "[kernel]+3f200010", "");
	assert_int_equal(collector_idle(&r->c, 5000000000, &r->err), 0);
	check_kernel(r, 0xffffffffc0200010, "[new]+10", "");
	check_kernel(r, 0xffffffffc0100010, "[old]+10", "");
	assert_int_equal(r->p.images.n, 3);
	/* Not for each stray address. */
	write_text(r, "modules", "third 8192 0 - Live 0xffffffffc0300000\n");
	check_kernel(r, 0xffffffffc0300010, "[kernel]+3f300010", "");
	assert_int_equal(collector_idle(&r->c, 5500000000, &r->err), 0);
	check_kernel(r, 0xffffffffc0300010, "[kernel]+3f300010", "");
	assert_int_equal(collector_idle(&r->c, 6000000000, &r->err), 0);
	check_kernel(r, 0xffffffffc0300010, "[third]+10", "");
}

/* After a loss of records only PROC knows what is where. */
static void lost_mappings_are_read_again(void **state)
{
	struct replay *r = *state;
	struct record gap = { .kind = RECORD_GAP, .event = SOURCE_NONE };
	char path[160], line[320];
	struct stat st;

	snprintf(path, sizeof(path), "%s", make_file(r, "first", 1));
	assert_int_equal(stat(path, &st), 0);
	collector_fini(&r->c);
	assert_int_equal(collector_init(&r->c, &r->p, r->dir, "/nonexistent",
					&r->err), 0);
	r->c.nevents = 1;
	r->c.live = true;
	map_inode(r, 5, 0x10000, path, st.st_ino);
	assert_int_equal(r->c.processes.procs.n, 1);
	r->c.processes.procs.v[0].discovered = true;
	gap.lost = 3;
	send(r, &gap);
	assert_int_equal(r->c.gaps, 3);
	assert_int_equal(r->c.lost, 0);
	/* Another program in the place of the first. */
	snprintf(path, sizeof(path), "%s", make_file(r, "second", 2));
	assert_int_equal(stat(path, &st), 0);
	snprintf(line, sizeof(line), "%s/5", r->dir);
	assert_int_equal(mkdir(line, 0700), 0);
	snprintf(line, sizeof(line), "20000-23000 r-xp 00001000 %x:%x %lu %s\n",
		 major(st.st_dev), minor(st.st_dev), (unsigned long)st.st_ino,
		 path);
	write_text(r, "5/maps", line);
	check_at(r, 5, 0x20240, "second+203240");
	check_at(r, 5, 0x10240, "[unknown]+10240");
}

/* Two code segments whose bytes share a page of the file (gABI 5: p_vaddr and
 * p_offset agree within a page): the loader maps that page twice, 0x200000
 * apart. */
static void segments_that_share_a_page(void **state)
{
	struct replay *r = *state;
	const char *path = make_file(r, "pages", 7);
	Elf64_Phdr ph[2] = {
		{ PT_LOAD, PF_R | PF_X, 0x1230, 0x1230, 0x1230, 0x100, 0x100,
		  0x1000 },
		{ PT_LOAD, PF_R | PF_X, 0x1330, 0x201330, 0x201330, 0x800,
		  0x800, 0x1000 },
	};
	uint64_t base = 0x7f0000000000;
	FILE *f = fopen(path, "r+");

	assert_non_null(f);
	assert_int_equal(fseek(f, offsetof(struct elf_file, ph), SEEK_SET), 0);
	assert_int_equal(fwrite(ph, sizeof(ph), 1, f), 1);
	assert_int_equal(fclose(f), 0);
	map_len(r, base + 0x1000, 0x1000, path, 7);
	map_len(r, base + 0x201000, 0x1000, path, 7);
	check_at(r, 5, base + 0x1240, "pages+1240");
	check_at(r, 5, base + 0x201340, "pages+201340");
}

/* The same inode with another content is another program. */
static void write_to_file(struct replay *r, bool batches)
{
	const char *path = make_file(r, "a", 1);
	struct elf_file other = elf_of(2);
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	uint64_t inode = inode_of(path);
	FILE *f;

	if (batches)
		assert_int_equal(collector_idle(&r->c, 1, &r->err), 0);
	map_inode(r, 5, 0x700000, path, inode);
	map_inode(r, 7, 0x700000, path, inode);
	check_at(r, 5, 0x700300, "a+203300");
	check_at(r, 7, 0x700300, "a+203300");
	if (batches)
		assert_int_equal(collector_idle(&r->c, 2, &r->err), 0);
	f = fopen(path, "r+");
	assert_non_null(f);
	other.ph[1].p_vaddr += 0x100000;
	assert_int_equal(fwrite(&other, sizeof(other), 1, f), 1);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	map_inode(r, 6, 0x700000, path, inode);
	check_at(r, 6, 0x700300, "a+303300");
	check_at(r, 5, 0x700300, "a+203300");
	assert_int_equal(r->p.images.n, 2);
}

static void a_file_that_was_written_to(void **state)
{
	write_to_file(*state, false);
}

/* A file is looked at once in a batch of records, and again in the next one. */
static void a_file_written_to_between_batches(void **state)
{
	write_to_file(*state, true);
}

/* Mapped before the file was born: another file of the same number. */
static void an_inode_that_is_used_again(void **state)
{
	struct replay *r = *state;
	const char *path = make_file(r, "a", 1);
	struct statx x;

	if (statx(AT_FDCWD, path, 0, STATX_BTIME, &x) < 0 ||
	    !(x.stx_mask & STATX_BTIME))
		skip_test("the file system keeps no time of birth");
	r->time = 1;
	map_inode(r, 5, 0x700000, path, inode_of(path));
	check_at(r, 5, 0x700300, "a+1300");
	assert_int_equal(image_called(r, "/a")->flags,
			 PROF_IMAGE_UNREADABLE | PROF_IMAGE_DELETED);
}

/* Each file of a rotation has the tables of its own samples only. */
static void the_next_file_begins_anew(void **state)
{
	static const uint64_t callers[] = { 0x700310, 0x700420 };
	struct chain c = { .user = callers, .nuser = 2 };
	struct replay *r = *state;
	struct wait_stack wait = { .to_ns = 1 };
	uint64_t bytes;

	assert_int_equal(profile_set_env(&r->p, PROF_NONE, "host", "h"), 0);
	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	map_id(r, 6, 0x700000, make_file(r, "b", 2), 2);
	check_at(r, 5, 0x700300, "a+203300");
	check_at(r, 6, 0x700300, "b+203300");
	/* a wait that is still open */
	c.cut = true;
	wait.stack = sample(r, 5, &c);
	wait.loc = r->p.nodes.v[wait.stack].loc;
	assert_int_equal(waits_sample(&r->c.waits, 5, 5, &wait, &r->err), 0);
	assert_int_equal(r->p.threads.n, 2);
	bytes = collector_table_bytes(&r->c);
	check_at(r, 6, 0x700308, "b+203308");
	assert_true(collector_table_bytes(&r->c) > bytes);
	/* what is only in the file counts */
	bytes = collector_table_bytes(&r->c);
	profile_threads_written(&r->p);
	assert_true(collector_table_bytes(&r->c) == bytes);

	assert_int_equal(collector_next_file(&r->c, &r->err), 0);
	assert_true(collector_table_bytes(&r->c) < bytes);
	wait = waits_find(&r->c.waits, 5)->sample;
	assert_string_equal(stack_text(r, wait.stack), "a+203310 a+20341f CUT");
	assert_int_equal(r->p.locs.v[wait.loc].vaddr, 0x203310);
	assert_int_equal(r->p.images.n, 1);
	assert_int_equal(r->p.locs.n, 2);
	assert_int_equal(r->p.threads.n, 0);
	assert_string_equal(profile_env(&r->p, PROF_NONE, "host"), "h");
	check_at(r, 6, 0x700300, "b+203300");
	assert_int_equal(r->p.threads.n, 1);
	assert_int_equal(r->p.threads.v[0].pid, 6);
	check_at(r, 5, 0x700300, "a+203300");
	assert_int_equal(r->p.images.n, 2);
	assert_int_equal(r->c.self_samples.n, r->p.locs.n);
}

enum { EVER_NEW = 100000, EVER_DEPTH = 24, CODE_SIZE = 0x2000 };

/* The addresses of a stack that hardly ever comes again. */
static void ever_new(uint32_t i, uint64_t *at)
{
	uint64_t x = i;

	for (int d = 0; d < EVER_DEPTH; d++) {
		x = hash_u64(x + 1);
		/* 0x1230 of the file is the first byte of code */
		at[d] = 0x700000 + 0x231 + x % (CODE_SIZE - 1);
	}
}

/* Samples that wait for descriptions of code keep a bounded number of stacks, and none
 * of them is lost. */
static void samples_that_are_held_are_bounded(void **state)
{
	static uint32_t want[CODE_SIZE + 0x1000], got[CODE_SIZE + 0x1000];
	struct replay *r = *state;
	struct prof_run run = { .exit_status = -1 };
	struct prof_event event = { .unit = PROF_UNIT_NS };
	uint64_t at[EVER_DEPTH];
	struct chain c = { .user = at, .nuser = EVER_DEPTH };
	struct writer *w;
	struct reader *in;
	struct sample_batch b;
	char path[128];
	size_t n = 0, most = 0;

	snprintf(path, sizeof(path), "%s/p.tally", r->dir);
	assert_int_equal(vec_push(&r->p.runs, run), 0);
	assert_int_equal(vec_push(&r->p.events, event), 0);
	profile_keep_nodes(&r->p, 1 << 16);
	assert_int_equal(open_writer(path, &r->p, &w, &r->err), 0);
	r->c.writer = w;
	r->c.held.on = true;
	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	for (uint32_t i = 0; i < EVER_NEW; i++) {
		ever_new(i, at);
		want[at[0] - 0x700000]++;
		sample(r, 5, &c);
		most = r->p.nodes.n > most ? r->p.nodes.n : most;
	}
	assert_true(most <= HELD_NODES_MAX + EVER_DEPTH);
	assert_true((uint64_t)r->p.nodes_gone > 2 * HELD_NODES_MAX);
	assert_true(r->p.node_tab.n + r->p.node_before.n <= 1 << 16);
	assert_true(r->c.held.rows.n < EVER_NEW / 2);
	assert_int_equal(profile_set_env(&r->p, PROF_NONE, PROF_ENV_REPEATED, "1"),
			 0);
	assert_int_equal(collector_release(&r->c, &r->err), 0);
	assert_int_equal(writer_finish(w, &r->err), 0);
	writer_close(w);
	r->c.writer = NULL;

	assert_int_equal(reader_open(path, 0, &in, &r->err), 0);
	while (reader_next(in, &b))
		for (size_t i = 0; i < b.n; i++, n++) {
			const struct profile *q = reader_profile(in);
			uint32_t node = b.stack[i];

			ever_new((uint32_t)n, at);
			got[q->locs.v[q->nodes.v[node].loc].vaddr - CODE_VADDR +
			    0x230]++;
			for (int d = 0; d < EVER_DEPTH; d++) {
				uint64_t v = q->locs.v[q->nodes.v[node].loc].vaddr;

				/* callers are inside their calls */
				assert_int_equal(v - CODE_VADDR + 0x230 + (d > 0),
						 at[d] - 0x700000);
				node = q->nodes.v[node].parent;
			}
			assert_int_equal(node, 0);
		}
	reader_close(in);
	assert_int_equal(n, EVER_NEW);
	assert_memory_equal(want, got, sizeof(want));
}

/* A source may add up samples that differ only in time: they become as many rows, from
 * the first one's time to the last one's.  Those outside of the time that is recorded
 * are left out one by one. */
static void one_record_for_many_samples(void **state)
{
	struct replay *r = *state;
	struct prof_run run = { .exit_status = -1 };
	struct prof_event event = { .unit = PROF_UNIT_NS };
	const uint64_t at = 0x700400;
	struct record rec = { .kind = RECORD_SAMPLE, .pid = 5, .tid = 5 };
	const struct prof_sample *row;
	uint64_t sum = 0;
	struct writer *w;
	char path[128];
	uint32_t loc;

	snprintf(path, sizeof(path), "%s/p.tally", r->dir);
	assert_int_equal(vec_push(&r->p.runs, run), 0);
	assert_int_equal(vec_push(&r->p.events, event), 0);
	assert_int_equal(open_writer(path, &r->p, &w, &r->err), 0);
	r->c.writer = w;
	r->c.held.on = true;	/* rows stay where they can be seen */
	map_id(r, 5, 0x700000, make_file(r, "a", 1), 1);
	rec.sample = (struct record_sample){
		.weight = 5003, .count = 5, .first_ns = 601, .user = &at,
		.nuser = 1,
	};
	r->time = 1000;
	send(r, &rec);
	assert_int_equal(r->c.samples, 5);
	assert_int_equal(r->c.got.v[0], 5);
	assert_int_equal(r->c.held.rows.n, 5);
	row = r->c.held.rows.v;
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(row[i].time_ns, 601 + 100 * i);
		assert_int_equal(row[i].stack, row[0].stack);
		assert_int_equal(row[i].thread, row[0].thread);
		assert_in_range(row[i].weight, 1000, 1001);
		sum += row[i].weight;
	}
	assert_int_equal(sum, 5003);
	loc = r->p.nodes.v[row[0].stack].loc;
	assert_int_equal(r->c.self_samples.v[loc], 5);

	/* Two at one moment; a first time beyond the last one. */
	rec.sample.count = 2;
	rec.sample.first_ns = 2001;
	r->time = 2000;
	send(r, &rec);
	rec.sample.first_ns = UINT64_MAX;
	r->time = 2000;
	send(r, &rec);
	assert_int_equal(r->c.held.rows.n, 9);
	for (size_t i = 5; i < 9; i++)
		assert_int_equal(r->c.held.rows.v[i].time_ns, 2001);

	r->c.from_ns = 3201;
	r->c.until_ns = 3401;
	rec.sample.count = 5;
	rec.sample.weight = 50;
	rec.sample.first_ns = 3001;
	r->time = 3400;
	send(r, &rec);
	assert_int_equal(r->c.held.rows.n, 11);
	assert_int_equal(r->c.held.rows.v[9].time_ns, 3201);
	assert_int_equal(r->c.held.rows.v[10].time_ns, 3301);
	assert_int_equal(r->c.left_out.v[0].n, 3);
	assert_int_equal(r->c.left_out.v[0].weight, 30);
	r->c.writer = NULL;
	writer_close(w);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, replay_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(addresses_become_elf_addresses),
		WITH(libraries_that_follow_each_other),
		WITH(a_file_that_is_gone),
		WITH(files_without_samples_are_dropped),
		WITH(a_file_that_was_replaced),
		WITH(one_file_known_in_two_ways),
		WITH(the_file_stays_open),
		WITH(memory_of_its_own),
		WITH(callers_are_looked_up_inside_their_call),
		WITH(a_call_at_the_very_end),
		WITH(stacks_end_where_no_code_is),
		WITH(equal_stacks_are_one),
		WITH(many_stacks_are_known_again),
		WITH(the_life_of_a_child),
		WITH(processes_without_samples_leave_no_trace),
		WITH(losses_are_counted_where_they_happen),
		WITH(lost_mappings_are_read_again),
		WITH(samples_of_unknown_events_are_ignored),
		WITH(generated_code_comes_and_goes),
		WITH(modules_that_are_loaded_meanwhile),
		WITH(segments_that_share_a_page),
		WITH(a_file_that_was_written_to),
		WITH(a_file_written_to_between_batches),
		WITH(an_inode_that_is_used_again),
		WITH(the_next_file_begins_anew),
		WITH(samples_that_are_held_are_bounded),
		WITH(one_record_for_many_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
