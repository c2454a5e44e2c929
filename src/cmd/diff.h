/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_DIFF_H
#define TALLY_CMD_DIFF_H
/* Options and functions that the files of `tally diff` share. */
#include "cmd/command.h"
#include "cmd/select_options.h"
#include "cmd/source_options.h"
#include "views/diff/diff.h"

struct diff_opts {
	const char *by, *order, *norm, *average, *format, *color, *output;
	const char *syntax;
	struct opt_strs side[DIFF_SIDES], labels[DIFF_SIDES];
	struct select_opts samples_of;
	struct source_opts source_at;
	struct opt_strs debug_dirs, images, symbols, old_maps;
	bool annotate, source, code, both, all;
	bool children, no_inline, samples, full_names, no_header, no_pager;
	bool svg, html, icicle;
	double limit;
	uint64_t top, width, context, max_memory, max_output;
	bool trust;
};

enum diff_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_SVG,
		   FORMAT_HTML };

extern const struct opt diff_opt_table[];
void diff_defaults(void *opts);
/* Returns an enum diff_format or an error. */
int diff_format(const struct diff_opts *o, struct error *err);
/* Fills in the spec except for the recordings.  Call diff_spec_fini even after an
 * error. */
int diff_spec_init(struct cmd_io *io, const struct diff_opts *o,
		   int format, struct diff_spec *spec, struct error *err);
void diff_spec_fini(struct diff_spec *spec);

/* diff_open.c: opens the recordings of both sides and merges those of each side. */
int diff_open(struct cmd_io *io, const struct diff_opts *o,
	      struct diff_spec *spec, struct reader *r[DIFF_SIDES],
	      struct error *err);
void diff_close(struct diff_spec *spec, struct reader *r[DIFF_SIDES]);

#endif
