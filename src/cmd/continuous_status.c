// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally status`: shows the state of a continuous recording. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "cmd/open.h"
#include "cmd/output.h"
#include "cmd/record_continuous.h"
#include "continuous/status.h"

enum { STATUS_MAX = 1 << 20, NOT_RUNNING = 3 };

struct status_opts {
	int json;
};

static const struct opt status_opt_table[] = {
	OPT_ROW_JSON(offsetof(struct status_opts, json)),
	OPT_END
};

/* Returns whether a recording runs, by the lock in its folder. */
static bool is_running(const char *dir, struct buf *path)
{
	bool locked;
	int fd;

	buf_reset(path);
	buf_printf(path, "%s/lock", dir);
	fd = open(buf_cstr(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}

static int run_status(struct cmd_io *io, void *opts, int argc, char **argv,
		      struct error *err)
{
	const struct status_opts *o = opts;
	const char *dir = argc > 0 ? argv[0] : CONTINUOUS_DIR;
	struct buf path = { 0 }, text = { 0 }, out = { 0 };
	struct continuous_status s;
	bool running;
	int rc;

	if (argc > 1)
		return error_set(err, ERR_USAGE, "specify only one folder");
	buf_printf(&path, "%s/status.json", dir);
	rc = io_read_file(buf_cstr(&path), STATUS_MAX, &text, err);
	if (rc == -ERR_NOTFOUND)
		rc = error_set(err, ERR_NOTFOUND, "%s: not the folder of a "
			       "continuous recording; use the folder given to "
			       "--output", dir);
	if (!rc) {
		rc = status_parse(text.p, text.n, &s, err);
		if (rc)
			error_prefix(err, "%s", buf_cstr(&path));
	}
	running = is_running(dir, &path);
	if (!rc && o->json)
		buf_bytes(&out, text.p, text.n);
	else if (!rc)
		status_text(&s, running, (uint64_t)time(NULL), &out);
	if (!rc)
		rc = cmd_output(io, NULL, &out, err);
	buf_fini(&path);
	buf_fini(&text);
	buf_fini(&out);
	return rc < 0 ? rc : running ? 0 : NOT_RUNNING;
}

const struct command cmd_status = {
	.name = "status",
	.summary = "show the state of a continuous recording",
	.args = "[DIR]",
	.opts = status_opt_table,
	.opts_size = sizeof(struct status_opts),
	.run = run_status,
};
