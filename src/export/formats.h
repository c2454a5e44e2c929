/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_FORMATS_H
#define TALLY_EXPORT_FORMATS_H
/* The writers of all formats.  Each has a file of its own. */
#include "export/walk.h"

int export_bolt(struct export *x, struct error *err);
int export_callgrind(struct export *x, struct error *err);
int export_chrome(struct export *x, struct error *err);
int export_cpuprofile(struct export *x, struct error *err);
int export_csv(struct export *x, struct error *err);
int export_firefox(struct export *x, struct error *err);
int export_folded(struct export *x, struct error *err);
int export_go_pgo(struct export *x, struct error *err);
int export_llvm(struct export *x, struct error *err);
int export_otlp(struct export *x, struct error *err);
int export_perf_script(struct export *x, struct error *err);
int export_pprof(struct export *x, struct error *err);
int export_speedscope(struct export *x, struct error *err);
#ifdef HAVE_SQLITE
int export_sqlite(struct export *x, struct error *err);
#endif

#endif
