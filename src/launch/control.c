// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads commands to the recorder: see control.h. */
#include "launch/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

static int wrong(const char *spec, struct error *err)
{
	return error_set(err, ERR_USAGE, "--control '%s': use fifo:FIFO[,FIFO] "
			 "or fd:N[,N], the second one for answers", spec);
}

/* A FIFO opened for both directions stays open when its writer has gone. */
static int open_fifo(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return error_errno(err, errno, "--control: %s", path);
	if (!fstat(fd, &st) && S_ISFIFO(st.st_mode))
		return fd;
	close(fd);
	return error_set(err, ERR_USAGE, "--control: %s is not a FIFO: mkfifo "
			 "creates one", path);
}

static int take_fd(const char *text, struct error *err)
{
	char *end;
	long fd = strtol(text, &end, 10);
	int flags;

	if (end == text || *end || fd < 0 || fd > 1000000)
		return error_set(err, ERR_USAGE, "--control: \"%s\" is not a "
				 "descriptor number", text);
	flags = fcntl((int)fd, F_GETFL);
	if (flags < 0)
		return error_errno(err, errno, "--control: descriptor %ld", fd);
	/* The command must not inherit it. */
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	fcntl((int)fd, F_SETFL, flags | O_NONBLOCK);
	return (int)fd;
}

int control_open(struct control *c, const char *spec, struct error *err)
{
	char *copy, *first, *second;

	*c = (struct control){ .fd = -1, .ack_fd = -1, .name = "" };
	c->ours = !strncmp(spec, "fifo:", 5);
	if (!c->ours && strncmp(spec, "fd:", 3) != 0)
		return wrong(spec, err);
	first = copy = strdup(strchr(spec, ':') + 1);
	if (!copy)
		return error_nomem(err);
	second = strchr(copy, ',');
	if (second)
		*second++ = 0;
	if (!*first || (second && !*second)) {
		free(copy);
		return wrong(spec, err);
	}
	c->fd = c->ours ? open_fifo(first, err) : take_fd(first, err);
	if (c->fd >= 0 && second)
		c->ack_fd = c->ours ? open_fifo(second, err)
				    : take_fd(second, err);
	free(copy);
	if (c->fd >= 0 && (!second || c->ack_fd >= 0))
		return 0;
	control_close(c);
	return -err->code;
}

void control_close(struct control *c)
{
	if (c->ours && c->fd >= 0)
		close(c->fd);
	if (c->ours && c->ack_fd >= 0)
		close(c->ack_fd);
	c->fd = c->ack_fd = -1;
}

static enum control_command meaning(struct control *c)
{
	static const struct {
		const char *word;
		enum control_command command;
	} words[] = {
		{ "enable", CONTROL_ENABLE },	{ "disable", CONTROL_DISABLE },
		{ "snapshot", CONTROL_SNAPSHOT }, { "evlist", CONTROL_EVLIST },
		{ "ping", CONTROL_PING },	{ "stop", CONTROL_STOP },
		{ "from", CONTROL_FROM },	{ "until", CONTROL_UNTIL },
	};
	size_t n = strcspn(c->line, " ");

	c->name = c->line + n + strspn(c->line + n, " ");
	for (size_t i = 0; i < COUNT(words); i++)
		if (strlen(words[i].word) == n &&
		    !strncmp(words[i].word, c->line, n))
			return words[i].command;
	return CONTROL_UNKNOWN;
}

enum control_command control_next(struct control *c)
{
	char *end;
	ssize_t n;

	for (;;) {
		end = memchr(c->bytes, '\n', c->n);
		if (end)
			break;
		/* No command is that long. */
		if (c->n == sizeof(c->bytes))
			c->n = 0;
		n = read(c->fd, c->bytes + c->n, sizeof(c->bytes) - c->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (!n)		/* the writer is permanently gone */
			control_close(c);
		if (n <= 0)
			return CONTROL_NONE;
		c->n += (size_t)n;
	}
	n = end - c->bytes;
	memcpy(c->line, c->bytes, (size_t)n);
	c->line[n] = 0;
	c->n -= (size_t)n + 1;
	memmove(c->bytes, end + 1, c->n);
	return meaning(c);
}

static void put(int fd, const char *text)
{
	/* Answers that are not read are dropped. */
	if (write(fd, text, strlen(text)) < 0)
		return;
}

void control_ack(struct control *c, const char *text)
{
	if (c->ack_fd < 0)
		return;
	if (*text)
		put(c->ack_fd, text);
	put(c->ack_fd, "ack\n");
}
