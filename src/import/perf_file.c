// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the container of perf.data: header, events, features. */
#include "import/perf_file.h"

#include <byteswap.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#ifdef HAVE_LIBZSTD
#include <zstd.h>
#endif

#include "base/cursor.h"
#include "import/perf_swap.h"
#include "profile/reader.h"

/* Records of perf itself: tools/lib/perf/include/perf/event.h. */
enum {
	USER_HEADER_ATTR = PERF_FILE_USER,
	USER_TRACING_DATA = 66,
	USER_BUILD_ID = 67,
	USER_AUXTRACE = 71,
	USER_EVENT_UPDATE = 78,
	USER_HEADER_FEATURE = 80,
	USER_COMPRESSED = 81,
	USER_COMPRESSED2 = 83,
};

/* Feature bits of the header: tools/perf/util/header.h. */
enum {
	FEAT_BUILD_ID = 2,
	FEAT_HOSTNAME = 3,
	FEAT_OSRELEASE = 4,
	FEAT_ARCH = 6,
	FEAT_CPUDESC = 8,
	FEAT_CMDLINE = 11,
	FEAT_EVENT_DESC = 12,
	FEAT_CLOCK_DATA = 29,
	FEATURES = 256,
};

#define SWAPPED_MAGIC "2ELIFREP"

enum {
	HEADER = 8,		/* bytes of a record's header */
	FILES_MAX = 65536,	/* most files, one for each thread of a recorder */
	PIPE_HEADER = 16,
	FILE_HEADER = 104,
	ATTR_MIN = 64,		/* PERF_ATTR_SIZE_VER0 */
	ATTR_MAX = 4096,
	EVENTS_MAX = 65536,
	IDS_MAX = 1 << 22,
	TEXT_MAX = 4096,
	UPDATE_NAME = 2,	/* type of an EVENT_UPDATE record */
	BUILD_ID_FIELD = 24,	/* bytes: 20 of the ID, one of its size, three
				 * unused */
	MISC_BUILD_ID_SIZE = 1 << 15,
};

static int damaged(const struct perf_file *f, uint64_t offset, const char *what,
		   struct error *err)
{
	return error_set(err, ERR_FORMAT, "%s: damaged at offset %llu: %s",
			 f->name, (unsigned long long)offset, what);
}

/* Read numbers in the file's byte order. */
static uint16_t get_16(const struct perf_file *f, struct cursor *c)
{
	uint16_t v = cursor_u16(c);

	return f->swapped ? bswap_16(v) : v;
}

static uint32_t get_32(const struct perf_file *f, struct cursor *c)
{
	uint32_t v = cursor_u32(c);

	return f->swapped ? bswap_32(v) : v;
}

static uint64_t get_64(const struct perf_file *f, struct cursor *c)
{
	uint64_t v = cursor_u64(c);

	return f->swapped ? bswap_64(v) : v;
}

static int no_memory(const struct perf_file *f, struct error *err)
{
	return error_set(err, ERR_NOMEM, "%s: out of memory", f->name);
}

/* Reads an event's description, of the length that its writer used. */
static bool get_attr(const struct perf_file *f, struct cursor *c, size_t size,
		     struct perf_event_attr *out)
{
	const uint8_t *p = cursor_take(c, size);

	memset(out, 0, sizeof(*out));
	if (!p)
		return false;
	memcpy(out, p, size < sizeof(*out) ? size : sizeof(*out));
	if (f->swapped)
		perf_swap_attr((uint8_t *)out, sizeof(*out));
	return true;
}

/* Adds an event with its sample IDs. */
static int add_event(struct perf_file *f, const struct perf_event_attr *a,
		     struct cursor ids, uint64_t offset, struct error *err)
{
	struct perf_file_event e = { .attr = *a };
	uint32_t row = (uint32_t)f->events.n;

	if (row >= EVENTS_MAX)
		return damaged(f, offset, "too many events", err);
	if (vec_push(&f->events, e) < 0)
		return no_memory(f, err);
	while (cursor_left(&ids) >= 8) {
		uint32_t *slot = u64map_slot(&f->ids, get_64(f, &ids));

		if (!slot)
			return no_memory(f, err);
		if (*slot == U64MAP_NONE)
			*slot = row;
	}
	return 0;
}

/* Reads a string of a feature: its length, then bytes that end with zeros. */
static char *get_string(const struct perf_file *f, struct cursor *c)
{
	uint32_t n = get_32(f, c);
	const char *p = (const char *)cursor_take(c, n);

	return p && n <= TEXT_MAX ? strndup(p, n) : NULL;
}

static void set_string(const struct perf_file *f, char **to, struct cursor *c)
{
	free(*to);
	*to = get_string(f, c);
}

static void get_command(struct perf_file *f, struct cursor *c)
{
	uint32_t n = get_32(f, c);
	struct buf b = { 0 };

	for (uint32_t i = 0; i < n && !c->bad && b.n < TEXT_MAX; i++) {
		char *word = get_string(f, c);

		buf_printf(&b, "%s%s", i ? " " : "", word ? word : "?");
		free(word);
	}
	free(f->command);
	f->command = b.failed ? NULL : strdup(buf_cstr(&b));
	buf_fini(&b);
}

/* Reads the names of events, which their descriptions lack. */
static void get_event_names(struct perf_file *f, struct cursor *c)
{
	uint32_t n = get_32(f, c), size = get_32(f, c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		uint32_t nids;

		cursor_skip(c, size);
		nids = get_32(f, c);
		if (i < f->events.n)
			set_string(f, &f->events.v[i].name, c);
		else
			free(get_string(f, c));
		cursor_skip(c, (uint64_t)nids * 8);
	}
}

static bool image_eq(const void *ctx, uint32_t id, const void *path)
{
	const struct perf_file *f = ctx;

	return !strcmp(f->images.v[id].path, path);
}

/* Adds an image and takes ownership of im->path.  Of several build IDs for one
 * path, the first one counts. */
static int add_image(struct perf_file *f, struct perf_file_image im)
{
	uint64_t h = hash_bytes(im.path, strlen(im.path));

	if (idtab_find(&f->image_tab, h, image_eq, f, im.path) != IDTAB_NONE) {
		free(im.path);
		return 0;
	}
	if (vec_push(&f->images, im) < 0) {
		free(im.path);
		return -ERR_NOMEM;
	}
	return idtab_add(&f->image_tab, h, (uint32_t)f->images.n - 1);
}

/* Reads a build ID with its path; `c` is at the process ID. */
static int get_build_id(struct perf_file *f, uint16_t misc, struct cursor *c)
{
	struct perf_file_image im = { 0 };
	const uint8_t *id;

	cursor_skip(c, 4);
	id = cursor_take(c, BUILD_ID_FIELD);
	if (!id)
		return 0;
	im.id.len = misc & MISC_BUILD_ID_SIZE && id[20] <= 20 ? id[20] : 20;
	memcpy(im.id.bytes, id, im.id.len);
	im.path = strndup((const char *)c->p, cursor_left(c));
	return im.path ? add_image(f, im) : -ERR_NOMEM;
}

static int get_build_ids(struct perf_file *f, struct cursor *c)
{
	int rc = 0;

	while (!rc && cursor_left(c) >= HEADER) {
		struct cursor body;
		uint16_t misc, size;

		cursor_skip(c, 4);
		misc = get_16(f, c);
		size = get_16(f, c);
		if (size < HEADER)
			break;
		body = cursor_sub(c, size - HEADER);
		if (!body.bad)
			rc = get_build_id(f, misc, &body);
	}
	return rc;
}

static int get_feature(struct perf_file *f, uint64_t bit, struct cursor c,
		       struct error *err)
{
	int rc = 0;

	switch (bit) {
	case FEAT_BUILD_ID:
		rc = get_build_ids(f, &c);
		break;
	case FEAT_HOSTNAME:
		set_string(f, &f->hostname, &c);
		break;
	case FEAT_OSRELEASE:
		set_string(f, &f->release, &c);
		break;
	case FEAT_ARCH:
		set_string(f, &f->arch, &c);
		break;
	case FEAT_CPUDESC:
		set_string(f, &f->cpu, &c);
		break;
	case FEAT_CMDLINE:
		get_command(f, &c);
		break;
	case FEAT_EVENT_DESC:
		get_event_names(f, &c);
		break;
	case FEAT_CLOCK_DATA:
		cursor_skip(&c, 8);	/* skip version and clock ID */
		f->wall_ns = get_64(f, &c);
		f->clock_ns = get_64(f, &c);
		break;
	default:		/* newer, or unused */
		break;
	}
	return rc < 0 ? no_memory(f, err) : 0;
}

static int read_features(struct perf_file *f, uint64_t at, const uint64_t *bits,
			 struct error *err)
{
	struct cursor table;
	int rc = 0;

	if (at > f->n)
		return 0;	/* truncated: features are at the end */
	table = cursor_of(f->p + at, f->n - at);
	for (uint64_t bit = 0; bit < FEATURES && !rc; bit++) {
		uint64_t off, size;

		if (!(bits[bit / 64] >> bit % 64 & 1))
			continue;
		off = get_64(f, &table);
		size = get_64(f, &table);
		if (table.bad || off > f->n || size > f->n - off)
			return damaged(f, at, "a section of the header lies "
				       "outside of the file", err);
		rc = get_feature(f, bit, cursor_of(f->p + off,
						   (size_t)size), err);
	}
	return rc;
}

static int read_attrs(struct perf_file *f, uint64_t at, uint64_t size,
		      uint64_t entry, struct error *err)
{
	struct cursor c;
	int rc = 0;

	if (at > f->n || size > f->n - at)
		return damaged(f, 24, "events lie outside of the file", err);
	if (entry < ATTR_MIN + 16 || entry > ATTR_MAX || size % entry || !size)
		return damaged(f, 16, "the size of an event's description", err);
	c = cursor_of(f->p + at, (size_t)size);
	while (!rc && cursor_left(&c)) {
		struct perf_event_attr a;
		uint64_t off, n;

		if (!get_attr(f, &c, (size_t)entry - 16, &a))
			break;
		off = get_64(f, &c);
		n = get_64(f, &c);
		if (off > f->n || n > f->n - off || n > IDS_MAX)
			return damaged(f, at, "an event's ids lie outside of "
				       "the file", err);
		rc = add_event(f, &a, cursor_of(f->p + off, (size_t)n), at,
			       err);
	}
	return rc;
}

static int add_part(struct perf_file *f, const uint8_t *p, size_t n,
		    uint64_t offset, uint8_t *own, struct error *err)
{
	struct perf_file_part part = { p, n, offset, own };

	if (n && vec_push(&f->parts, part) == 0)
		return 0;
	free(own);
	return n ? no_memory(f, err) : 0;
}

/* Returns the size of the whole records at the beginning of the data, after
 * converting them to this machine's byte order. */
static size_t whole_records(const struct perf_file *f, uint8_t *p, size_t n)
{
	size_t at = 0;

	while (n - at >= HEADER) {
		struct cursor c = cursor_of(p + at + 6, 2);
		uint16_t size = get_16(f, &c);

		if (size < HEADER || size > n - at)
			break;
		if (f->swapped)
			perf_swap_record(f, p + at, size);
		at += size;
	}
	return at;
}

/* The single stream of all compressed records. */
struct unpacker {
	void *stream;
	struct buf bytes;	/* start of a record that continues in the next
				 * block */
};

static void unpacker_fini(struct unpacker *u)
{
#ifdef HAVE_LIBZSTD
	if (u->stream)
		ZSTD_freeDStream(u->stream);
#endif
	buf_fini(&u->bytes);
}

#ifdef HAVE_LIBZSTD
static int inflate_block(struct perf_file *f, struct unpacker *u,
			 const uint8_t *p, size_t n, uint64_t offset,
			 struct error *err)
{
	ZSTD_inBuffer in = { p, n, 0 };
	size_t step = ZSTD_DStreamOutSize();
	bool full = false;

	if (!u->stream)
		u->stream = ZSTD_createDStream();
	while (u->stream && (in.pos < in.size || full)) {
		uint8_t *room = buf_room(&u->bytes, step);
		ZSTD_outBuffer to = { room, step, 0 };
		size_t rc;

		if (!room)
			return no_memory(f, err);
		rc = ZSTD_decompressStream(u->stream, &to, &in);
		if (ZSTD_isError(rc))
			return damaged(f, offset, "a compressed record", err);
		u->bytes.n += to.pos;
		full = to.pos == step;
		f->unpacked += to.pos;
		if (f->unpacked > f->max_memory)
			return error_set(err, ERR_FORMAT, "%s: its records take "
				"more than %llu MB unpacked; --max-memory SIZE "
				"allows more", f->name,
				(unsigned long long)(f->max_memory >> 20));
	}
	return u->stream ? 0 : no_memory(f, err);
}
#else
static int inflate_block(struct perf_file *f, struct unpacker *u,
			 const uint8_t *p, size_t n, uint64_t offset,
			 struct error *err)
{
	(void)u, (void)p, (void)n, (void)offset;
	return error_set(err, ERR_UNSUPPORTED, "%s is compressed with zstd, "
			 "which this tally was built without (install "
			 "libzstd-dev and configure again)", f->name);
}
#endif

/* Unpacks a block.  Its whole records become a part; the remainder waits for the
 * next block. */
static int unpack(struct perf_file *f, struct unpacker *u, const uint8_t *p,
		  size_t n, uint64_t offset, struct error *err)
{
	int rc = inflate_block(f, u, p, n, offset, err);
	size_t whole;
	uint8_t *own;

	if (rc < 0 || !u->bytes.n)
		return rc;
	whole = whole_records(f, u->bytes.p, u->bytes.n);
	if (u->bytes.n - whole > UINT16_MAX)
		return damaged(f, offset, "the size of a compressed record",
			       err);
	own = malloc(whole + 1);
	if (!own)
		return no_memory(f, err);
	memcpy(own, u->bytes.p, whole);
	memmove(u->bytes.p, u->bytes.p + whole, u->bytes.n - whole);
	u->bytes.n -= whole;
	return add_part(f, own, whole, offset, own, err);
}

static int get_update(struct perf_file *f, struct cursor c, struct error *err)
{
	uint64_t type = get_64(f, &c), id = get_64(f, &c);
	uint32_t row = u64map_get(&f->ids, id);
	char *name;

	if (type != UPDATE_NAME || row >= f->events.n || !cursor_left(&c))
		return 0;
	name = strndup((const char *)c.p, cursor_left(&c));
	if (!name)
		return no_memory(f, err);
	free(f->events.v[row].name);
	f->events.v[row].name = name;
	return 0;
}

/* Processes a record of perf itself.  *skip receives the number of bytes after it
 * that its size does not include. */
static int take_user(struct perf_file *f, struct unpacker *u, uint32_t type,
		     uint16_t misc, struct cursor c, uint64_t offset,
		     uint64_t *skip, struct error *err)
{
	struct perf_event_attr a;
	uint64_t n;
	int rc = 0;

	switch (type) {
	case USER_HEADER_ATTR: {
		struct cursor look = c;

		cursor_skip(&look, 4);
		n = get_32(f, &look);	/* the record's own size field */
		if (n < ATTR_MIN || n > cursor_left(&c) ||
		    !get_attr(f, &c, n, &a))
			return damaged(f, offset, "the size of an event's "
				       "description", err);
		return add_event(f, &a, c, offset, err);
	}
	case USER_HEADER_FEATURE:
		n = get_64(f, &c);
		return get_feature(f, n, c, err);
	case USER_BUILD_ID:
		rc = get_build_id(f, misc, &c);
		return rc < 0 ? no_memory(f, err) : 0;
	case USER_EVENT_UPDATE:
		return get_update(f, c, err);
	case USER_TRACING_DATA:
		*skip = (get_32(f, &c) + 7ull) & ~7ull;
		return 0;
	case USER_AUXTRACE:
		*skip = get_64(f, &c);
		f->skipped++;
		return 0;
	case USER_COMPRESSED:
		return unpack(f, u, c.p, cursor_left(&c), offset, err);
	case USER_COMPRESSED2:
		n = get_64(f, &c);
		if (n > cursor_left(&c))
			return damaged(f, offset, "a compressed record", err);
		return unpack(f, u, c.p, (size_t)n, offset, err);
	default:
		return 0;
	}
}

/* Divides the data at perf's own records, which are processed here. */
static int read_records(struct perf_file *f, const struct perf_file_bytes *in,
			uint64_t at, uint64_t end, struct unpacker *u,
			struct error *err)
{
	uint64_t begin = at;
	int rc = 0;

	while (!rc && at < end) {
		struct cursor c = cursor_of(in->p + at, (size_t)(end - at));
		uint32_t type = get_32(f, &c);
		uint16_t misc = get_16(f, &c), size = get_16(f, &c);
		uint64_t skip = 0;

		if (c.bad || (size >= HEADER && size > end - at)) {
			f->cut_at = at;
			break;
		}
		if (size < HEADER)
			return damaged(f, at, "a record that is shorter than "
				       "its header", err);
		if (type < USER_HEADER_ATTR) {
			if (in->own)
				perf_swap_record(f, in->own + at, size);
			at += size;
			continue;
		}
		rc = add_part(f, in->p + begin, (size_t)(at - begin), begin, NULL,
			      err) ?:
		     take_user(f, u, type, misc, cursor_sub(&c, size - HEADER), at,
			       &skip, err);
		if (skip > end - at - size) {
			f->cut_at = at;
			return rc;
		}
		begin = at += size + skip;
	}
	if (!rc)
		rc = add_part(f, in->p + begin, (size_t)(at - begin), begin,
			      NULL, err);
	return rc;
}

/* Reads the bitmap of the file's features, an array of the writer's longs.  If the writer
 * had the other byte order and 32 bits, the halves of each 64-bit number are exchanged.
 * This shows in the host name's bit, because perf always stores the host name. */
static void get_feature_bits(const struct perf_file *f, struct cursor *c,
			     uint64_t bits[FEATURES / 64])
{
	for (int i = 0; i < FEATURES / 64; i++)
		bits[i] = get_64(f, c);
	if (f->swapped && !(bits[0] >> FEAT_HOSTNAME & 1))
		for (int i = 0; i < FEATURES / 64; i++)
			bits[i] = bits[i] >> 32 | bits[i] << 32;
}

static int read_file(struct perf_file *f, struct cursor *c, struct error *err)
{
	uint64_t entry = get_64(f, c);
	uint64_t attrs = get_64(f, c), attrs_size = get_64(f, c);
	uint64_t data = get_64(f, c), data_size = get_64(f, c);
	struct unpacker u = { 0 };
	uint64_t bits[FEATURES / 64];
	int rc;

	cursor_skip(c, 16);		/* skip the event types, which are no
					 * longer used */
	get_feature_bits(f, c, bits);
	if (c->bad)
		return damaged(f, f->n, "it ends inside its header", err);
	if (data > f->n)
		return damaged(f, 40, "records lie outside of the file", err);
	if (!data_size || data_size > f->n - data) {
		f->cut_at = f->n;	/* the recorder was killed */
		data_size = f->n - data;
		memset(bits, 0, sizeof(bits));
	}
	rc = read_attrs(f, attrs, attrs_size, entry, err) ?:
	     read_features(f, data + data_size, bits, err) ?:
	     read_records(f, &f->files.v[0], data, data + data_size, &u, err);
	unpacker_fini(&u);
	return rc;
}

static int read_pipe(struct perf_file *f, struct error *err)
{
	struct unpacker u = { 0 };
	int rc = read_records(f, &f->files.v[0], PIPE_HEADER, f->n, &u, err);

	unpacker_fini(&u);
	if (!rc && !f->events.n)
		rc = damaged(f, PIPE_HEADER, "no event is described", err);
	return rc;
}

/* Maps a file.  One of the other byte order is copied, so that it can be
 * converted. */
static int add_file(struct perf_file *f, const char *path, struct error *err)
{
	struct perf_file_bytes in = { .path = strdup(path) };
	int rc;

	if (!in.path)
		return no_memory(f, err);
	rc = io_map_file(path, &in.map, err);
	if (rc < 0) {
		free(in.path);
		return rc;
	}
	/* The file of a thread without records is empty. */
	in.p = in.map.p ? in.map.p : (const uint8_t *)"";
	in.n = in.map.n;
	if (f->files.n ? f->swapped
		       : in.n >= 8 && !memcmp(in.p, SWAPPED_MAGIC, 8)) {
		f->swapped = true;
		in.own = malloc(in.n + 1);
		if (in.own && in.n)
			memcpy(in.own, in.p, in.n);
		in.p = in.own;
	}
	if ((in.n && !in.p) || vec_push(&f->files, in) < 0) {
		free(in.path);
		free(in.own);
		io_unmap(&in.map);
		return no_memory(f, err);
	}
	return 0;
}

static int read_first(struct perf_file *f, struct error *err)
{
	struct cursor c = cursor_of(f->p, f->n);
	const uint8_t *magic = cursor_take(&c, 8);
	uint64_t size = get_64(f, &c);

	if (c.bad || (memcmp(magic, "PERFILE2", 8) && !f->swapped))
		return error_set(err, ERR_FORMAT, "%s: not a file of perf",
				 f->name);
	if (size == PIPE_HEADER)
		return read_pipe(f, err);
	if (size < FILE_HEADER)
		return damaged(f, 8, "the size of its header", err);
	return read_file(f, &c, err);
}

/* Recognizes the files of threads, "data.0" and so on.  They contain records only,
 * in separate streams if compressed. */
static bool is_thread_file(const char *name)
{
	return !strncmp(name, "data.", 5) && name[5] &&
	       !name[5 + strspn(name + 5, "0123456789")];
}

static int read_thread_file(struct perf_file *f, const char *path,
			    struct error *err)
{
	int rc = add_file(f, path, err);
	struct unpacker u = { 0 };

	if (rc < 0)
		return rc;
	f->name = f->files.v[f->files.n - 1].path;
	rc = read_records(f, &f->files.v[f->files.n - 1], 0,
			  f->files.v[f->files.n - 1].n, &u, err);
	unpacker_fini(&u);
	f->name = f->files.v[0].path;
	return rc;
}

/* Reads the other files in a directory of perf.  `dir` is not read if the
 * recording is no directory. */
static int read_directory(struct perf_file *f, const char *dir,
			  struct error *err)
{
	struct buf path = { 0 };
	DIR *d = opendir(dir);
	const struct dirent *e;
	int rc = 0;

	while (d && !rc && (e = readdir(d)) != NULL) {
		if (!is_thread_file(e->d_name))
			continue;
		buf_reset(&path);
		buf_printf(&path, "%s/%s", dir, e->d_name);
		if (f->files.n > FILES_MAX)
			rc = error_set(err, ERR_FORMAT, "%s: more than %d files",
				       dir, FILES_MAX);
		else
			rc = read_thread_file(f, buf_cstr(&path), err);
	}
	if (d)
		closedir(d);
	buf_reset(&path);
	buf_printf(&path, "%s/kcore_dir/kallsyms", dir);
	if (!rc && !access(buf_cstr(&path), R_OK)) {
		f->kallsyms = strdup(buf_cstr(&path));
		if (!f->kallsyms)
			rc = no_memory(f, err);
	}
	buf_fini(&path);
	return rc;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

char *perf_file_header_path(const char *path)
{
	char *header;

	if (!is_directory(path))
		return strdup(path);
	return asprintf(&header, "%s/data", path) < 0 ? NULL : header;
}

int perf_file_open(struct perf_file *f, const char *path, uint64_t max_memory,
		   struct error *err)
{
	char *header = perf_file_header_path(path);
	int rc;

	memset(f, 0, sizeof(*f));
	f->name = path;
	rc = header ? add_file(f, header, err) : no_memory(f, err);
	free(header);
	if (rc < 0)
		return rc;
	f->name = f->files.v[0].path;
	f->p = f->files.v[0].p;
	f->n = f->files.v[0].n;
	f->max_memory = max_memory ? max_memory : reader_usual_memory(f->n);
	rc = read_first(f, err);
	if (!rc && is_directory(path))
		rc = read_directory(f, path, err);
	if (rc < 0)
		perf_file_close(f);
	return rc;
}

void perf_file_close(struct perf_file *f)
{
	for (size_t i = 0; i < f->events.n; i++)
		free(f->events.v[i].name);
	for (size_t i = 0; i < f->images.n; i++)
		free(f->images.v[i].path);
	for (size_t i = 0; i < f->parts.n; i++)
		free(f->parts.v[i].own);
	vec_fini(&f->events);
	vec_fini(&f->images);
	idtab_fini(&f->image_tab);
	vec_fini(&f->parts);
	u64map_fini(&f->ids);
	free(f->hostname);
	free(f->release);
	free(f->arch);
	free(f->cpu);
	free(f->command);
	free(f->kallsyms);
	for (size_t i = 0; i < f->files.n; i++) {
		io_unmap(&f->files.v[i].map);
		free(f->files.v[i].own);
		free(f->files.v[i].path);
	}
	vec_fini(&f->files);
	memset(f, 0, sizeof(*f));
}

const struct build_id *perf_file_build_id(const struct perf_file *f,
					  const char *path)
{
	uint32_t i = idtab_find(&f->image_tab, hash_bytes(path, strlen(path)),
				image_eq, f, path);

	return i == IDTAB_NONE ? NULL : &f->images.v[i].id;
}
