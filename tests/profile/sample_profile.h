/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_SAMPLE_PROFILE_H
#define TALLY_TESTS_SAMPLE_PROFILE_H
/* A small profile with a row in every table, for tests of the file format. */
#include "profile/model.h"

/* Two runs, two events, three threads, two images, an inline chain. */
void sample_profile_symbolize(struct profile *p);
/* Its symbol part. */
void sample_profile_symbols(struct profile *p);
/* The i-th of its samples. */
struct prof_sample sample_profile_sample(size_t i);

#endif
