// SPDX-License-Identifier: GPL-2.0-or-later
/* Names generated code from the program's own file (perfmap.h), or from the
 * recorder's file of names found in the program's memory.  Without a file, old
 * names remain. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "profile/symbolize_internal.h"
#include "symbolize/perfmap.h"

/* Maximum bytes read from the end of the file; enough for some hundred thousand
 * functions. */
enum { TEXT_MAX = 64 << 20, READ_STEP = 64 << 10, LINE_MAX = PERFMAP_NAME_MAX + 64 };

/* Reads the newest part of the file and sets *from to its offset.  Returns 0, or -1 if
 * out of memory.  Unreadable data is ignored. */
static int take_text(int fd, struct buf *text, uint64_t *from)
{
	off_t size = lseek(fd, 0, SEEK_END);

	size = size > TEXT_MAX ? size - TEXT_MAX : 0;
	*from = (uint64_t)size;
	lseek(fd, size, SEEK_SET);
	/* The file may still grow. */
	while (text->n < TEXT_MAX) {
		uint8_t *room = buf_room(text, READ_STEP);
		ssize_t n;

		if (!room)
			return -1;
		n = read(fd, room, READ_STEP);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		text->n += (size_t)n;
	}
	return 0;
}

/* Appends the line at an offset.  Sets *at to its position in the text, SIZE_MAX if there
 * is none. */
static void take_line(int fd, uint64_t offset, struct buf *text, size_t *at)
{
	uint8_t *room = text->n < TEXT_MAX ? buf_room(text, LINE_MAX) : NULL, *end;

	*at = SIZE_MAX;
	end = room ? memchr(room, '\n', io_read_at(fd, offset, room, LINE_MAX)) : NULL;
	if (!end)
		return;
	*at = text->n;
	text->n += (size_t)(end - room) + 1;
}

static struct perfmap_name line_at(const struct buf *text, size_t at)
{
	struct perfmap_name none = { .name = NULL }, out;
	char *line;

	if (at == SIZE_MAX)
		return none;
	line = (char *)text->p + at;
	return perfmap_parse(line, memchr(line, '\n', text->n - at), &out) ? out : none;
}

/* Names n sorted addresses of code by its line. */
static int names_by_line(int fd, const uint64_t *vaddrs, size_t n, struct buf *text,
			 struct perfmap_name *names)
{
	size_t *at = malloc((n + 1) * sizeof(*at));
	struct perfmap_name line = { .name = NULL };

	if (!at)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t offset = vaddrs[i] >> PERFMAP_LINE_SHIFT;

		if (i && offset == vaddrs[i - 1] >> PERFMAP_LINE_SHIFT)
			at[i] = at[i - 1];
		else
			take_line(fd, offset, text, &at[i]);
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t in_code = vaddrs[i] & (PERFMAP_EITHER_BIT - 1);

		if (!i || at[i] != at[i - 1])
			line = line_at(text, at[i]);
		names[i] = line;
		names[i].start = vaddrs[i] >> PERFMAP_LINE_SHIFT << PERFMAP_LINE_SHIFT;
		if (in_code >= line.size || vaddrs[i] & PERFMAP_EITHER_BIT)
			names[i].name = NULL;
	}
	free(at);
	return text->failed ? -ERR_NOMEM : 0;
}

static struct symbolize_perfmap_use perfmap_use(struct symbolize_run *f,
						const struct symbolize_item *part)
{
	struct symbolize_perfmap_use use = { .by_line = false };

	if (!f->o->perfmap_use)
		return use;
	symbolize_lock(f);
	f->o->perfmap_use(f->o->ctx, part->image, &use);
	symbolize_unlock(f);
	return use;
}

/* Returns whether an address of code by its line may belong to two functions. */
static bool is_either(struct symbolize_run *f, const struct symbolize_item *part)
{
	struct symbolize_perfmap_use use = perfmap_use(f, part);
	bool either = false;

	for (size_t i = 0; use.by_line && i < part->n; i++)
		either |= (f->vaddrs[part->at + i] & PERFMAP_EITHER_BIT) != 0;
	return either;
}

/* Looks up the addresses of a part in the file.  Returns 0 or a negative result if out of
 * memory. */
static int names_of(struct symbolize_run *f, const struct symbolize_item *part, int fd,
		    struct buf *text, struct perfmap_name *names)
{
	const uint64_t *vaddrs = f->vaddrs + part->at;
	struct symbolize_perfmap_use use = perfmap_use(f, part);
	struct perfmap_parts parts;

	if (use.by_line)
		return names_by_line(fd, vaddrs, part->n, text, names);
	parts = (struct perfmap_parts){ use.ends, use.nends, 0 };
	if (take_text(fd, text, &parts.from) < 0)
		return -ERR_NOMEM;
	return perfmap_resolve((char *)text->p, text->n, &parts, vaddrs, part->n, names);
}

/* Reads the file and looks up the addresses, before the turn.  Returns 1 if
 * there are names, 0 if not, -1 if out of memory. */
static int find_names(struct symbolize_run *f, const struct symbolize_item *part,
		      struct buf *text, struct perfmap_name **names)
{
	int fd, rc = -1;

	if (!f->o->open_image)
		return 0;
	symbolize_lock(f);
	fd = f->o->open_image(f->o->ctx, part->image);
	symbolize_unlock(f);
	if (fd < 0)
		return 0;
	*names = malloc(part->n * sizeof(**names));
	if (*names)
		rc = names_of(f, part, fd, text, *names);
	close(fd);
	return rc < 0 ? -1 : 1;
}

/* Parses "LINE FIRST FILE\1NAME" (record/python.h).  Functions get no symbol,
 * because the numbers of one function's lines are not contiguous. */
static void python_name(struct perfmap_name *name, struct sym_frame *out)
{
	char *at = (char *)name->name, *mark;

	name->start = name->size = 0;
	out->line = (uint32_t)strtoul(at, &at, 10);
	out->decl_line = (uint32_t)strtoul(at, &at, 10);
	mark = strchr(at, 1);
	if (*at != ' ' || !mark)
		return;
	*mark = 0;
	out->file = out->decl_file = at + 1;
	out->name = name->name = mark + 1;
}

static int add_names(struct symbolize_run *f, const struct symbolize_item *part,
		     struct perfmap_name *names, bool python, const bool *named,
		     enum perfmap_runtime *runtime)
{
	int rc = 0;

	for (size_t i = 0; i < part->n && !rc; i++) {
		struct sym_frame frame = { .name = names[i].name, .file = "",
					   .decl_file = "", .plain = "" };
		struct sym_result r = { .vaddr = f->vaddrs[part->at + i],
					.frames = &frame, .nframes = 1 };

		if (!names[i].name || named[i])
			continue;
		if (python) {
			python_name(&names[i], &frame);
		} else {
			frame.file = frame.decl_file = names[i].file;
			frame.decl_line = names[i].line;
			if (names[i].runtime)
				*runtime = names[i].runtime;
		}
		r.symbol = names[i].name;
		r.sym_start = names[i].start;
		r.sym_size = names[i].size;
		rc = symbolize_add_location(f, part, i, &r);
	}
	return rc;
}

/* Names an image of anonymous memory after the runtime that named its code. */
static int name_image(struct symbolize_run *f, uint32_t image,
		      enum perfmap_runtime runtime)
{
	uint32_t name;

	if (strcmp(profile_cstr(f->p, f->p->images.v[image].path), "[anon]"))
		return 0;
	name = profile_str(f->p, runtime == PERFMAP_V8 ? PROF_IMAGE_JAVASCRIPT
						       : PROF_IMAGE_DOTNET);
	if (name == PROF_NONE)
		return symbolize_nomem(f);
	f->p->images.v[image].path = name;
	return 0;
}

/* Names locations.  A jitdump file takes precedence over a perf map, because it
 * has times. */
static int name_found(struct symbolize_run *f, const struct symbolize_item *part,
		      struct buf *text, struct perfmap_name **names, bool *named)
{
	struct image_debug_info row = { .image = part->image };
	struct jitdump_names dump;
	const char *path = "";
	enum perfmap_runtime runtime = PERFMAP_OTHER;
	bool python;
	int found = find_names(f, part, text, names);
	int rc = symbolize_jitdump(f, part, named, &dump);

	path = profile_cstr(f->p, f->p->images.v[part->image].path);
	python = !strcmp(path, PROF_IMAGE_PYTHON) || !strcmp(path, PROF_IMAGE_PHP) ||
		 !strcmp(path, PROF_IMAGE_RUBY);
	if (found > 0)
		row.names = python || !strcmp(path, PROF_IMAGE_JAVA)
			    ? PROF_NAMES_RUNTIME : PROF_NAMES_PERFMAP;
	if (dump.found) {
		row.names |= PROF_NAMES_JITDUMP;
		row.machine = dump.machine;
		runtime = dump.runtime;
	}
	if (!rc && found < 0)
		rc = symbolize_nomem(f);
	if (!rc && found > 0)
		rc = add_names(f, part, *names, python, named, &runtime);
	if (!rc && runtime)
		rc = name_image(f, part->image, runtime);
	if (!rc && is_either(f, part))
		symbolize_note(f, part->image, "other functions were put at these addresses "
			       "at about the time of the sample");
	return rc || !row.names ? rc : symbolize_set_source(f, &row, "");
}

int symbolize_jit(struct symbolize_run *f, const struct symbolize_item *part)
{
	struct perfmap_name *names = NULL;
	struct buf text = { 0 };
	bool *named = calloc(part->n + 1, sizeof(*named));
	int rc;

	if (named) {
		rc = name_found(f, part, &text, &names, named);
	} else {
		symbolize_wait_turn(f, part);
		rc = symbolize_nomem(f);
	}
	free(named);
	free(names);
	buf_fini(&text);
	return rc;
}
