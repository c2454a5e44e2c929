/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_ENTRY_H
#define TALLY_PUSH_ENTRY_H
/*
 * What one request tells, without the server's address and without secrets: the
 * payload of a file of the spool.  A protocol buffer:
 *
 *	message Entry {
 *	  uint64 kind = 1;		// enum entry_kind
 *	  repeated Series series = 2;	// ENTRY_PPROF
 *	  bytes otlp = 3;		// ENTRY_OTLP: a request, gzip
 *	  uint64 from_ns = 4, until_ns = 5;	// since 1970
 *	  repeated uint64 samples = 6;	// of the recording: to be added up
 *	}
 *	message Series {
 *	  repeated Label labels = 1;	// { string name = 1, value = 2 }
 *	  bytes profile = 2;		// pprof, gzip
 *	  bytes id = 3;			// 16 bytes, of its content
 *	}
 *
 * Entries come from files: everything here takes hostile bytes.
 */
#include "base/buf.h"
#include "base/proto_in.h"
#include "base/vec.h"
#include "push/push.h"
#include "push/url.h"

enum entry_kind { ENTRY_PPROF = 1, ENTRY_OTLP = 2 };
enum { ENTRY_ID_BYTES = 16, ENTRY_SERIES_MAX = 4096, ENTRY_LABELS_MAX = 64 };

struct entry_series {
	struct cursor labels;		/* the series' fields */
	struct cursor profile;
	uint8_t id[ENTRY_ID_BYTES];
};

struct entry {
	enum entry_kind kind;
	uint64_t from_ns, until_ns, samples;
	VEC(struct entry_series) series;	/* borrows the bytes */
	struct cursor otlp;
};

/* Writing.  entry_begin, then series or the request. */
void entry_begin(struct buf *e, enum entry_kind kind, uint64_t from_ns,
		 uint64_t until_ns, uint64_t samples);
/* Adds to its samples. */
void entry_count(struct buf *e, uint64_t samples);
/* The id follows from the labels and the profile. */
void entry_add_series(struct buf *e, const struct push_label *labels, size_t n,
		      const void *profile, size_t bytes);
int entry_set_otlp(struct buf *e, const void *request, size_t n,
		   struct error *err);

/* The bytes must outlive the entry.  ERR_FORMAT where they are none. */
int entry_parse(const void *p, size_t n, struct entry *out, struct error *err);
void entry_fini(struct entry *e);

/* A request to a server's base address. */
struct entry_request {
	struct buf path;		/* behind the base, with a query */
	struct buf body;
	const char *content_type;
	const char *encoding;		/* Content-Encoding, or NULL */
	bool connect;			/* has Connect's version in a header */
	bool grpc_gzip;			/* has grpc-encoding: gzip */
	char type[80];			/* what content_type may point to */
};

/* Whether the entry can be one request as it is; else it must be halved. */
bool entry_fits(const struct entry *e, enum push_protocol protocol);
/* ERR_USAGE where the protocol takes no such entry. */
int entry_request(const struct entry *e, enum push_protocol protocol,
		  const char *tenant, struct entry_request *out,
		  struct error *err);
void entry_request_fini(struct entry_request *q);

/* Two entries that together tell the same, for a server that takes less at once:
 * series apart or, of one, samples.  False where nothing can be divided; both are
 * empty then. */
bool entry_halves(const struct entry *e, struct buf half[2],
		  struct error *err);

#endif
