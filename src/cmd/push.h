/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_PUSH_H
#define TALLY_CMD_PUSH_H
/* The options of commands that send profiles, and their conversion to push/push.h. */
#include "base/buf.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "push/push.h"

enum push_symbols { SYMBOLS_NOT_GIVEN = -1, SYMBOLS_NAMES, SYMBOLS_SERVER };

struct cmd_push_opts {
	struct opt_strs labels;
	int symbols;		/* enum push_symbols */
	const char *tenant, *token_file, *ca, *cert, *key, *spool;
	double window, timeout;
	uint64_t spool_size;
};

/* Rows for the option table of a command.  Its options are a `type` with a struct
 * cmd_push_opts called `name`. */
#define CMD_PUSH_WINDOW_ROW(type, name) \
	{ OPT_UNIT, 0, "window", "TIME", offsetof(type, name.window), \
	  "Sum samples by stack over windows of this length (1s to 1h). " \
	  "Default: 10s." }

#define CMD_PUSH_SYMBOLS_ROW(type, name) \
	{ OPT_CHOICE, 0, "symbols", "names|server", \
	  offsetof(type, name.symbols), \
	  "Send the names of functions, or addresses and build IDs, which " \
	  "the server looks up; Parca also gets debug information. Default: " \
	  "names." }

#define CMD_PUSH_SEND_ROWS(type, name) \
	{ OPT_STR, 0, "tenant", "NAME", offsetof(type, name.tenant), \
	  "The tenant, for servers with several (X-Scope-OrgID)." }, \
	{ OPT_STR, 0, "token-file", "FILE", offsetof(type, name.token_file), \
	  "Read the authorization from FILE: a token, or \"Basic ...\". " \
	  "Default: the variable TALLY_PUSH_TOKEN." }, \
	{ OPT_STR, 0, "ca", "FILE", offsetof(type, name.ca), \
	  "Trust servers whose certificates are signed by those in FILE " \
	  "(PEM), instead of the system's." }, \
	{ OPT_STR, 0, "cert", "FILE", offsetof(type, name.cert), \
	  "Client certificate (PEM)." }, \
	{ OPT_STR, 0, "key", "FILE", offsetof(type, name.key), \
	  "Key of the client certificate (PEM)." }, \
	{ OPT_STR, 0, "spool", "DIR", offsetof(type, name.spool), \
	  "Store requests that cannot be sent in DIR, and send stored ones, " \
	  "oldest first." }, \
	{ OPT_UINT, 0, "spool-size", "BYTES", offsetof(type, name.spool_size), \
	  "Limit the size of DIR by removing the oldest requests. Default: " \
	  "256M." }, \
	{ OPT_UNIT, 0, "timeout", "TIME", offsetof(type, name.timeout), \
	  "End a request that takes longer. Default: 30s." }

#define CMD_PUSH_DEFAULTS { \
	.symbols = SYMBOLS_NOT_GIVEN, .window = 10, .timeout = 30, \
	.spool_size = 256 << 20 }

struct cmd_push {
	struct push_options options;	/* the caller sets notice, ctx and
					 * patience_ns */
	VEC(struct push_label) labels;
	struct buf authorization;
};

/* Adds the labels of the options to *p, which is empty or prepared.  Call
 * cmd_push_fini even after an error. */
int cmd_push_labels(const struct cmd_push_opts *o, struct cmd_push *p,
		    struct error *err);
/* Checks the options.  *p borrows from them; call cmd_push_fini even after an
 * error. */
int cmd_push_prepare(const struct cmd_push_opts *o, const char *url,
		     struct cmd_push *p, struct error *err);
void cmd_push_fini(struct cmd_push *p);

#endif
