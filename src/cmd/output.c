// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes texts, at once or piece by piece. */
#include "cmd/output.h"

#include <errno.h>
#include <string.h>

#include "base/io.h"

int cmd_target_open(struct cmd_target *t, struct cmd_io *io, const char *path,
		    struct error *err)
{
	*t = (struct cmd_target){ .io = io, .file = { .fd = -1 },
				  .to_file = path && strcmp(path, "-") };
	return t->to_file ? outfile_open(&t->file, path, false, err) : 0;
}

int cmd_target_put(void *ctx, const void *p, size_t n, struct error *err)
{
	struct cmd_target *t = ctx;

	if (t->io->no_memory && t->io->no_memory())
		return error_nomem(err);
	if (t->to_file)
		return io_write_all(t->file.fd, t->file.path, p, n, err);
	errno = 0;
	if (fwrite(p, 1, n, t->io->out) == n)
		return 0;
	t->gone = errno == EPIPE;
	return error_errno(err, errno, "cannot write the output");
}

int cmd_target_close(struct cmd_target *t, int rc, struct error *err)
{
	if (t->to_file) {
		if (!rc)
			return outfile_close(&t->file, err);
		outfile_drop(&t->file);
		return rc;
	}
	if (rc < 0 && t->gone)
		return 0;
	if (!rc && fflush(t->io->out) && errno != EPIPE)
		return error_errno(err, errno, "cannot write the output");
	return rc;
}

uint64_t cmd_max_output(uint64_t asked, uint64_t bytes, uint64_t a_byte)
{
	return asked ? asked : bytes * a_byte + CMD_OUTPUT_MORE;
}

/* Returns the error of a text that has failed. */
static int text_failed(struct cmd_io *io, const struct buf *text, struct error *err)
{
	return text->most && !(io->no_memory && io->no_memory())
	       ? error_set(err, ERR_UNSUPPORTED, "the output has more than %zu bytes, "
			   "which no usual recording of this size needs: "
			   "--max-output SIZE allows more", text->most)
	       : error_nomem(err);
}

int cmd_output(struct cmd_io *io, const char *path, const struct buf *text,
	       struct error *err)
{
	struct cmd_target t;
	int rc;

	if (text->failed)
		return text_failed(io, text, err);
	rc = cmd_target_open(&t, io, path, err);
	if (!rc)
		rc = cmd_target_put(&t, text->p, text->n, err);
	return cmd_target_close(&t, rc, err);
}

int cmd_output_last(struct cmd_io *io, const char *path, struct buf *text,
		    struct error *err)
{
	int rc = cmd_output(io, path, text, err);

	buf_fini(text);
	return rc;
}

void cmd_use_pager(struct cmd_io *io, const char *path, bool no_pager)
{
	if (!path && !no_pager && io->start_pager)
		io->start_pager(io);
}

int cmd_output_paged(struct cmd_io *io, const char *path, bool no_pager,
		     const struct buf *text, struct error *err)
{
	cmd_use_pager(io, path, no_pager);
	return cmd_output(io, path, text, err);
}

/* A text on its way to a target. */
struct stream {
	struct cmd_target target;
	struct error *err;
	int rc;
};

static bool take(void *ctx, const uint8_t *p, size_t n)
{
	struct stream *s = ctx;

	s->rc = cmd_target_put(&s->target, p, n, s->err);
	return !s->rc;
}

int cmd_output_stream(struct cmd_io *io, const char *path, uint64_t most,
		      void (*make)(void *ctx, struct buf *out), void *ctx,
		      struct error *err)
{
	struct stream s = { .err = err };
	struct buf_sink sink = { .take = take, .ctx = &s };
	struct buf out = { .most = most, .sink = &sink };

	s.rc = cmd_target_open(&s.target, io, path, err);
	if (!s.rc) {
		make(ctx, &out);
		buf_flush(&out);
	}
	if (!s.rc && out.failed)
		s.rc = text_failed(io, &out, err);
	buf_fini(&out);
	return cmd_target_close(&s.target, s.rc, err);
}
