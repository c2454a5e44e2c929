// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets error codes and messages: see error.h. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, enum errcode code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		err->code = code;
		va_start(ap, fmt);
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
		va_end(ap);
	}
	return -(int)code;
}

int error_nomem(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory");
}

static enum errcode code_of_errno(int errnum)
{
	switch (errnum) {
	case EPERM:
	case EACCES:
		return ERR_PERM;
	case ENOMEM:
		return ERR_NOMEM;
	case ENOENT:
		return ERR_NOTFOUND;
	case EMFILE:
		return ERR_FILES;
	default:
		return ERR_IO;
	}
}

int error_errno(struct error *err, int errnum, const char *fmt, ...)
{
	enum errcode code = code_of_errno(errnum);
	va_list ap;
	int n;

	if (!err)
		return -(int)code;
	err->code = code;
	va_start(ap, fmt);
	n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->msg))
		snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, ": %s",
			 strerror(errnum));
	return -(int)code;
}

void error_prefix(struct error *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;
	size_t room, len;
	int n;

	if (!err)
		return;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n + 3 > sizeof(err->msg))
		return;
	memcpy(err->msg + n, ": ", 2);
	room = sizeof(err->msg) - (size_t)n - 3;
	len = strnlen(old, room);
	memcpy(err->msg + n + 2, old, len);
	err->msg[(size_t)n + 2 + len] = 0;
}
