/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_SOURCE_MAPS_H
#define TALLY_CMD_SOURCE_MAPS_H
/* --source-map FROM=TO: where source files are now. */
#include "cmd/command.h"
#include "views/code/sources.h"

/* The words as maps, in their order; free them also after an error. */
int cmd_source_maps(const struct opt_strs *words, struct source_map **out,
		    struct error *err);
void cmd_source_maps_free(struct source_map *v, size_t n);

#endif
