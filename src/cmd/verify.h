/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_VERIFY_H
#define TALLY_CMD_VERIFY_H
/* --verify: compares names and lines with those of libdw. */
#include "cmd/command.h"
#include "profile/model.h"
#include "symbolize/symbolize.h"
#include "verify/verify.h"

/* Compares a recording.  Returns the exit status, 1 if a difference is not
 * explained.  debug_dirs: as in sym_options. */
int cmd_verify_profile(struct cmd_io *io, const struct profile *p,
		       const char *debug_dirs, struct error *err);

/* Adds the answer about one address.  Returns 0 or -ERR_NOMEM. */
int cmd_verify_add(struct verify_cases *c, const struct sym_result *r);
/* Compares a symbolizer's answers about an image.  Returns the exit status. */
int cmd_verify_image(struct cmd_io *io, struct image *img,
		     const struct symbolizer *s, const char *debug_dirs,
		     struct verify_cases *c, struct error *err);

#endif
