/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_ENTRY_H
#define TALLY_PUSH_ENTRY_H
/*
 * The content of one request, without the server's address and without secrets.  It
 * is the payload of a file of the spool, a protocol buffer:
 *
 *	message Entry {
 *	  uint64 kind = 1;		// enum entry_kind
 *	  repeated Series series = 2;	// ENTRY_PPROF
 *	  bytes otlp = 3;		// ENTRY_OTLP: a request, gzip
 *	  uint64 from_ns = 4, until_ns = 5;	// since 1970
 *	  repeated uint64 samples = 6;	// of the recording; add them up
 *	  bytes source = 7;		// recording, see push_hold; or none
 *	}
 *	message Series {
 *	  repeated Label labels = 1;	// { string name = 1, value = 2 }
 *	  bytes profile = 2;		// pprof, gzip
 *	  bytes id = 3;			// 16 bytes, from its content
 *	}
 *
 * Entries come from files, so all these functions accept hostile bytes.
 */
#include "base/buf.h"
#include "base/proto_in.h"
#include "base/vec.h"
#include "push/push.h"
#include "push/url.h"

enum entry_kind { ENTRY_PPROF = 1, ENTRY_OTLP = 2 };
enum { ENTRY_ID_BYTES = 16, ENTRY_SERIES_MAX = 4096, ENTRY_LABELS_MAX = 64 };

struct entry_series {
	struct cursor labels;		/* fields of the series */
	struct cursor profile;
	uint8_t id[ENTRY_ID_BYTES];
};

struct entry {
	enum entry_kind kind;
	uint64_t from_ns, until_ns, samples;
	struct cursor source;
	VEC(struct entry_series) series;	/* borrowed from the parsed bytes */
	struct cursor otlp;
};

/* To write an entry, call entry_begin, then add series or set the request. */
void entry_begin(struct buf *e, enum entry_kind kind, uint64_t from_ns,
		 uint64_t until_ns, uint64_t samples);
/* Sets the name of the recording. */
void entry_set_source(struct buf *e, const char *source);
/* Adds to the number of samples. */
void entry_count(struct buf *e, uint64_t samples);
/* Adds a series.  Its ID is derived from the labels and the profile. */
void entry_add_series(struct buf *e, const struct push_label *labels, size_t n,
		      const void *profile, size_t bytes);
/* Compresses an OTLP request of n bytes and makes it the entry's content. */
int entry_set_otlp(struct buf *e, const void *request, size_t n,
		   struct error *err);

/* Parses an entry, which borrows the bytes.  Returns ERR_FORMAT if they are no
 * entry. */
int entry_parse(const void *p, size_t n, struct entry *out, struct error *err);
void entry_fini(struct entry *e);

/* A request to a server, relative to the server's base address. */
struct entry_request {
	struct buf path;		/* path after the base, with the query */
	struct buf body;
	const char *content_type;
	const char *encoding;		/* Content-Encoding, or NULL */
	bool connect;			/* send Connect's version in a header */
	bool grpc_gzip;			/* send grpc-encoding: gzip */
	char type[80];			/* storage that content_type may point to */
};

/* Returns whether the entry fits into one request; otherwise it must be halved. */
bool entry_fits(const struct entry *e, enum push_protocol protocol);
/* Builds the request.  Returns ERR_USAGE if the protocol does not support such an
 * entry. */
int entry_request(const struct entry *e, enum push_protocol protocol,
		  const char *tenant, struct entry_request *out,
		  struct error *err);
void entry_request_fini(struct entry_request *q);

/* Splits an entry into two that together have the same content, for a server that
 * accepts less at once.  Splits between series or, if there is one, between its
 * samples.  Returns false and empty halves if the entry cannot be split. */
bool entry_halves(const struct entry *e, struct buf half[2],
		  struct error *err);

#endif
