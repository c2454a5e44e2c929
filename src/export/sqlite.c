// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes an SQLite database: tables that join by id, and a view for each of the
 * usual questions.  Samples are rows in the order of the recording.  Stacks are
 * a tree of frames, whose parent is the caller.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <inttypes.h>
#include <stdio.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "export/formats.h"
#include "export/tree.h"

/* No journal is needed: no other process uses the file, and an incomplete file
 * is deleted. */
static const char schema[] =
	"PRAGMA journal_mode = OFF;"
	"PRAGMA locking_mode = EXCLUSIVE;"
	"PRAGMA synchronous = OFF;"
	"PRAGMA user_version = 1;"
	"CREATE TABLE event(id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
	" unit TEXT NOT NULL);"
	"CREATE TABLE thread(id INTEGER PRIMARY KEY, run INTEGER, pid INTEGER,"
	" tid INTEGER, comm TEXT NOT NULL);"
	"CREATE TABLE image(id INTEGER PRIMARY KEY, path TEXT NOT NULL,"
	" build_id TEXT NOT NULL);"
	"CREATE TABLE function(id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
	" linkage_name TEXT NOT NULL, file TEXT NOT NULL, line INTEGER);"
	"CREATE TABLE frame(id INTEGER PRIMARY KEY,"
	" parent INTEGER REFERENCES frame,"
	" function INTEGER NOT NULL REFERENCES function,"
	" image INTEGER REFERENCES image, address INTEGER,"
	" file TEXT NOT NULL, line INTEGER, inlined INTEGER NOT NULL);"
	"CREATE TABLE sample(time_ns INTEGER NOT NULL,"
	" thread INTEGER NOT NULL REFERENCES thread, cpu INTEGER,"
	" event INTEGER NOT NULL REFERENCES event, weight INTEGER NOT NULL,"
	" frame INTEGER NOT NULL REFERENCES frame);"
	"CREATE VIEW self AS SELECT event.name AS event, function.name AS function,"
	" count(*) AS samples, sum(weight) AS weight FROM sample"
	" JOIN event ON event.id = sample.event"
	" JOIN frame ON frame.id = sample.frame"
	" JOIN function ON function.id = frame.function"
	" GROUP BY event.id, function.id ORDER BY 4 DESC;"
	"BEGIN;";

/* Number of rows per INSERT.  A statement costs more than a row. */
enum {
	SAMPLE_ROWS = 64,
	SAMPLE_COLUMNS = 6,
	PAGE = 32768,
	MAX_PAGES = 1 << 30,
};

struct database {
	struct export *x;
	struct export_tree t;
	sqlite3 *db;
	sqlite3_stmt *row;
	uint64_t from_ns;
	int held;			/* sample rows bound so far */
	int64_t values[SAMPLE_ROWS * SAMPLE_COLUMNS];
};

static int failed(struct database *w, struct error *err)
{
	/* SQLite's own limit (set_pages), or a full disk */
	if (sqlite3_errcode(w->db) == SQLITE_FULL && w->x->spec->max_output)
		return error_set(err, ERR_IO, "cannot write the database: the "
				 "disk is full, or it has more than %" PRIu64
				 " MB: --max-output SIZE allows more",
				 w->x->spec->max_output >> 20);
	return error_set(err, ERR_IO, "cannot write %s: %s", w->x->sink->path,
			 sqlite3_errmsg(w->db));
}

static int run(struct database *w, const char *sql, struct error *err)
{
	return sqlite3_exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0 : failed(w, err);
}

static int rows_into(struct database *w, const char *sql, struct error *err)
{
	sqlite3_finalize(w->row);
	w->row = NULL;
	return sqlite3_prepare_v2(w->db, sql, -1, &w->row, NULL) == SQLITE_OK
		       ? 0 : failed(w, err);
}

/* Binds NULL.  SQLite keeps the last value of a column that is not bound again,
 * so each row binds all columns. */
static void nothing(struct database *w, int column)
{
	sqlite3_bind_null(w->row, column);
}

static void number(struct database *w, int column, uint64_t v)
{
	sqlite3_bind_int64(w->row, column, (sqlite3_int64)v);
}

/* Binds text.  SQLite copies it, because names may move before the row is
 * written. */
static void text(struct database *w, int column, const char *s)
{
	sqlite3_bind_text(w->row, column, s, -1, SQLITE_TRANSIENT);
}

static int put_row(struct database *w, struct error *err)
{
	int state = sqlite3_step(w->row);

	if (state != SQLITE_DONE)
		return failed(w, err);
	sqlite3_reset(w->row);
	return 0;
}

static int put_events(struct database *w, struct error *err)
{
	int rc = rows_into(w, "INSERT INTO event VALUES(?,?,?)", err);

	for (size_t i = 0; !rc && i < w->x->a.ncols; i++) {
		number(w, 1, i + 1);
		text(w, 2, export_event_name(w->x, i));
		text(w, 3, export_is_time(w->x, i) ? "ns" : "count");
		rc = put_row(w, err);
	}
	return rc;
}

static int put_threads(struct database *w, struct error *err)
{
	int rc = rows_into(w, "INSERT INTO thread VALUES(?,?,?,?,?)", err);

	for (size_t i = 0; !rc && i < w->x->a.lanes.n; i++) {
		const struct lane *l = &w->x->a.lanes.v[i];

		number(w, 1, i + 1);
		number(w, 2, l->run + 1ull);
		number(w, 3, l->pid);
		number(w, 4, l->tid);
		text(w, 5, export_str(w->x, l->comm));
		rc = put_row(w, err);
	}
	return rc;
}

static int put_images(struct database *w, struct error *err)
{
	const struct profile *p = w->x->p;
	struct buf id = { 0 };
	int rc = rows_into(w, "INSERT INTO image VALUES(?,?,?)", err);

	for (size_t i = 0; !rc && i < p->images.n; i++) {
		buf_again(&id);
		buf_hex(&id, p->images.v[i].build_id.bytes,
			p->images.v[i].build_id.len);
		number(w, 1, i + 1);
		text(w, 2, export_str(w->x, p->images.v[i].path));
		text(w, 3, buf_cstr(&id));
		rc = put_row(w, err);
	}
	buf_close(&id, &w->x->out);
	return rc;
}

static int put_functions(struct database *w, struct error *err)
{
	struct export *x = w->x;
	int rc = rows_into(w, "INSERT INTO function VALUES(?,?,?,?,?)", err);

	for (uint32_t i = 0; !rc && i < export_nfuncs(x); i++) {
		const struct prof_func *f = export_func(x, i);

		number(w, 1, i + 1ull);
		text(w, 2, export_name(x, i));
		text(w, 3, export_linkage(x, i));
		text(w, 4, f ? export_str(x, f->file) : "");
		if (f && f->line)
			number(w, 5, f->line);
		else
			nothing(w, 5);
		rc = put_row(w, err);
	}
	return rc;
}

static int put_frames(struct database *w, struct error *err)
{
	struct export *x = w->x;
	int rc = rows_into(w, "INSERT INTO frame VALUES(?,?,?,?,?,?,?,?)", err);

	for (size_t i = 0; !rc && i < w->t.nodes.n; i++) {
		const struct export_tree_node *n = &w->t.nodes.v[i];
		const struct export_frame *f = &n->frame;

		number(w, 1, i + 1);
		if (n->parent != PROF_NONE)
			number(w, 2, n->parent + 1ull);
		else
			nothing(w, 2);
		number(w, 3, f->fk + 1ull);
		if (f->loc < x->p->locs.n) {
			number(w, 4, x->p->locs.v[f->loc].image + 1ull);
			number(w, 5, x->p->locs.v[f->loc].vaddr);
		} else {
			nothing(w, 4);
			nothing(w, 5);
		}
		text(w, 6, export_str(x, f->file));
		if (f->line)
			number(w, 7, f->line);
		else
			nothing(w, 7);
		number(w, 8, f->inlined);
		rc = put_row(w, err);
	}
	return rc;
}

/* Prepares the insertion of `n` samples at once. */
static int sample_rows(struct database *w, int n, struct error *err)
{
	struct buf sql = { 0 };
	int rc;

	buf_str(&sql, "INSERT INTO sample VALUES(?,?,?,?,?,?)");
	for (int i = 1; i < n; i++)
		buf_str(&sql, ",(?,?,?,?,?,?)");
	rc = rows_into(w, buf_cstr(&sql), err);
	if (sql.failed)
		rc = error_nomem(err);
	buf_fini(&sql);
	return rc;
}

static int put_held(struct database *w, struct error *err)
{
	for (int i = 0; i < w->held * SAMPLE_COLUMNS; i++)
		sqlite3_bind_int64(w->row, i + 1, w->values[i]);
	w->held = 0;
	return put_row(w, err);
}

static int put_sample(void *ctx, const struct export_sample *s,
		      struct error *err)
{
	struct database *w = ctx;
	int64_t *row = &w->values[w->held * SAMPLE_COLUMNS];

	row[0] = (int64_t)(s->time_ns > w->from_ns ? s->time_ns - w->from_ns
						   : 0);
	row[1] = s->lane + 1ll;
	row[2] = s->cpu;
	row[3] = s->col + 1ll;
	row[4] = (int64_t)s->weight;
	row[5] = w->t.node_of[s->stack] + 1ll;
	return ++w->held == SAMPLE_ROWS ? put_held(w, err) : 0;
}

static int put_samples(struct database *w, struct error *err)
{
	int rc = sample_rows(w, SAMPLE_ROWS, err) ?:
		 export_samples(w->x, put_sample, w, err);

	if (rc || !w->held)
		return rc;
	return sample_rows(w, w->held, err) ?: put_held(w, err);
}

static int put_all(struct database *w, struct error *err)
{
	return run(w, schema, err) ?:
	       put_events(w, err) ?:
	       put_threads(w, err) ?:
	       put_images(w, err) ?:
	       put_functions(w, err) ?:
	       put_frames(w, err) ?:
	       put_samples(w, err) ?:
	       run(w, "COMMIT", err);
}

static int set_pages(struct database *w, struct error *err)
{
	uint64_t pages = w->x->spec->max_output / PAGE;
	char sql[96];

	if (!w->x->spec->max_output || pages > MAX_PAGES)
		pages = MAX_PAGES;
	else if (!pages)
		pages = 1;
	snprintf(sql, sizeof(sql), "PRAGMA page_size = %d; "
		 "PRAGMA max_page_count = %" PRIu64, PAGE, pages);
	return run(w, sql, err);
}

int export_sqlite(struct export *x, struct error *err)
{
	struct database w = { .x = x, .from_ns = export_start_ns(x) };
	int rc = export_tree_build(x, &w.t, err);

	if (!rc && sqlite3_open_v2(x->sink->path, &w.db, SQLITE_OPEN_READWRITE |
			    SQLITE_OPEN_NOMUTEX,
				   NULL) != SQLITE_OK)
		rc = failed(&w, err);
	if (!rc)
		rc = set_pages(&w, err) ?: put_all(&w, err);
	sqlite3_finalize(w.row);
	sqlite3_close(w.db);
	export_tree_fini(&w.t);
	return rc;
}
