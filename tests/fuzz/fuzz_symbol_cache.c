// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of the symbol cache: the input replaces that of an image.  All that it says is
 * looked up; then something is added, and the file that is written must be readable. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "symbolize/symbol_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As symbol_cache.c describes a file. */
enum { HEADER = 144, SUM = 8, COUNTS = 48, STRINGS = 88, IMAGE = 96, KEY = 136 };
static const size_t row_bytes[] = { 48, 32, 16, 16, 36, 1 };
static const size_t count_at[] = { 0, 1, 3, 4, 2, 5 };

static char dir[] = "/tmp/tally-fuzz-XXXXXX", file[600];
static struct symbol_cache *cache;
static struct image *img;
static char key[600];		/* as symbol_cache.c makes it: the rest is 0 */

static uint64_t number_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/* Makes it the image's file: adds the key behind the n bytes.  Returns their number. */
static size_t make_ours(uint8_t *p, size_t n)
{
	uint64_t strings;
	uint32_t at;

	if (n < HEADER)
		return n;
	strings = number_at(p + STRINGS);
	at = (uint32_t)strings;
	strings += sizeof(key);
	memcpy(p + STRINGS, &strings, 8);
	memcpy(p + IMAGE, image_identity(img), KEY - IMAGE);
	memcpy(p + KEY, &at, 4);
	memcpy(p + n, key, sizeof(key));
	return n + sizeof(key);
}

/* Makes the hash right. */
static void mend(uint8_t *p, size_t n)
{
	uint64_t sum = 0;
	size_t at = HEADER;

	if (n < HEADER)
		return;
	memset(p + SUM, 0, 16);
	sum = hash_mix(sum, hash_bytes(p, HEADER));
	for (int i = 0; i < 6; i++) {
		uint64_t count = number_at(p + COUNTS + 8 * count_at[i]);

		if (count > (n - at) / row_bytes[i])
			return;
		sum = hash_mix(sum, hash_bytes(p + at, count * row_bytes[i]));
		at += count * row_bytes[i];
	}
	memcpy(p + SUM, &sum, 8);
}

static void clean_up(void)
{
	if (*file)
		unlink(file);
	rmdir(dir);
}

static struct cached_image *open_image(void)
{
	struct cached_image *k = cached_image_open(cache, img, "");

	if (!k)
		abort();
	return k;
}

static void add(struct cached_image *k)
{
	struct sym_frame f = { "name", "file", 1, 2, "decl", 3, false, 4, "plain" };
	struct cached_symbol s = { "symbol", "", 0xfffffffff000, 16, false };
	uint32_t symbol, frames;

	if (cached_symbol_at(k, s.start) != CACHED_NONE ||
	    cached_frames_at(k, s.start) != CACHED_NONE ||
	    cached_symbol_after(k, s.start) != UINT64_MAX)
		return;
	symbol = cached_store_symbol(k, &s);
	frames = cached_store_frames(k, &f, 1);
	if (symbol == CACHED_NONE || frames == CACHED_NONE)
		return;
	cached_place_symbol(k, s.start, s.start + 1, symbol);
	cached_place_frames(k, s.start, s.start + 1, frames);
	cached_image_sort(k);
}

enum { MOST = 16 << 20 };	/* bytes of strings */

static void look(const struct cached_image *k)
{
	struct sym_frame f[8];

	for (uint64_t at = 0; at < 4096; at++) {
		uint32_t symbol = cached_symbol_at(k, at);
		uint32_t frames = cached_frames_at(k, at);

		if (symbol != CACHED_NONE &&
		    strlen(cached_symbol(k, symbol).name) > MOST)
			abort();
		if (frames != CACHED_NONE && cached_frames(k, frames, f, 8) &&
		    strlen(f[0].name) + strlen(f[0].file) > 2 * MOST)
			abort();
	}
}

static void begin(void)
{
	struct cached_sources none = { .debug_file = "", .missing = "" };
	struct cached_image *k;
	struct error err;
	struct dirent *e;
	Dl_info libc;
	DIR *d;

	if (!mkdtemp(dir) || !dladdr((void *)(uintptr_t)gnu_get_libc_version, &libc) ||
	    image_open_file(libc.dli_fname, &img, &err) < 0 ||
	    snprintf(key, sizeof(key), "\n%s", image_name(img)) >= (int)sizeof(key) ||
	    symbol_cache_open(dir, 1 << 24, 0, &cache, &err) < 0)
		abort();
	atexit(clean_up);
	k = open_image();
	add(k);
	cached_image_close(k, &none);
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			snprintf(file, sizeof(file), "%s/%s", dir, e->d_name);
	if (!d || !*file)
		abort();
	closedir(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cached_sources none = { .debug_file = "", .missing = "" };
	uint8_t *copy = malloc(size + sizeof(key));
	struct cached_image *k;
	int fd;

	if (!copy)
		return 0;
	if (!cache)
		begin();
	if (size)
		memcpy(copy, data, size);
	size = make_ours(copy, size);
	mend(copy, size);
	unlink(file);
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, copy, size) != (ssize_t)size)
		abort();
	close(fd);
	k = open_image();
	look(k);
	add(k);
	cached_image_close(k, &none);
	k = open_image();
	if (!cached_image_sources(k))
		abort();
	look(k);
	cached_image_close(k, NULL);
	free(copy);
	return 0;
}
