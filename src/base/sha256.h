/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_SHA256_H
#define TALLY_BASE_SHA256_H
/* SHA-256 (FIPS 180-4) and base64 (RFC 4648 §4), for the hashes of scripts and
 * styles in the content security policy of HTML pages. */
#include "base/buf.h"

enum { SHA256_BYTES = 32 };

void sha256(const void *p, size_t n, uint8_t out[SHA256_BYTES]);
void base64(struct buf *out, const void *p, size_t n);

#endif
