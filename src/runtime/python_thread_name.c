// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the name of a thread: the attribute _name of the object that the frame of
 * Thread._bootstrap has in its first local variable.
 *
 * The search takes some 10 reads.  Later samples read the words on the way and the
 * beginning of the text again, all at once, and search only if one of them differs.
 */
#include "runtime/python_thread_name.h"

enum {
	TRIES_MAX = 16,
	HEAD_MAX = 160,		/* bytes of a text object that are compared */
	REFERENCES = 8,		/* its first bytes are a count that changes */
};

bool python_thread_is_bootstrap(const struct python_objects *o,
				const struct frame_piece *name, uint8_t name_kind,
				const struct frame_piece *file, uint8_t file_kind)
{
	const char *method = o->types->layout.minor < 11 ? "_bootstrap"
							 : "Thread._bootstrap";

	return python_text_ends(o, name, name_kind, method, true) &&
	       python_text_ends(o, file, file_kind, "threading.py", false);
}

/* The part of a text object that is compared. */
static struct frame_span head_of(const struct python_thread_name *known)
{
	const uint64_t object = known->path.word[known->path.n - 1];
	const uint64_t end = (known->text.at + known->text.n + 7) & ~7ull;
	struct frame_span v = { object + REFERENCES, end - object - REFERENCES };

	if (v.n > HEAD_MAX)
		v.n = HEAD_MAX;
	return v;
}

static uint64_t hash_words(const uint64_t *words, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = frame_mix(h, words[i]);
	return h;
}

/* Returns whether all words on the way to the name are as before.  *head: hash of the
 * text's beginning. */
static bool is_there(const struct python_objects *o,
		     const struct python_thread_name *known, uint64_t *head)
{
	const struct python_path *p = &known->path;
	struct frame_span v[PYTHON_PATH + 1];
	uint64_t *words = o->room;
	size_t all;

	for (uint32_t i = 0; i < p->n; i++)
		v[i] = (struct frame_span){ p->at[i], 8 };
	v[p->n] = head_of(known);
	all = 8 * (size_t)p->n + (size_t)v[p->n].n;
	if (o->door->read(o->door->ctx, v, p->n + 1ul, words) != all)
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if (words[i] != p->word[i])
			return false;
	*head = hash_words(words + p->n, (size_t)v[p->n].n / 8);
	return true;
}

static bool search(const struct python_objects *o, uint64_t frame,
		   struct python_thread_name *known)
{
	uint64_t self, text;

	known->path.n = 0;
	if (!python_step(o, &known->path, python_first_local(o, frame), &self))
		return false;
	self &= ~(uint64_t)o->types->layout.tags;
	text = python_attribute(o, self, "_name", &known->path);
	if (!text || !python_text_find(o->types, o->door, text, &known->text,
				       &known->kind))
		return false;
	if (known->text.n > PYTHON_NAME_CHARS * (size_t)known->kind)
		known->text.n = PYTHON_NAME_CHARS * (size_t)known->kind;
	return true;
}

void python_thread_name_put(const struct python_objects *o, uint64_t frame,
			    struct python_thread_name *known, struct frame_out *out)
{
	const uint64_t first = python_first_local(o, frame);
	uint64_t head, key;
	bool same = known->path.n && known->path.at[0] == first &&
		    is_there(o, known, &head);

	if (!same) {
		if (known->tries >= TRIES_MAX)
			return;
		if (!search(o, frame, known) || !is_there(o, known, &head)) {
			known->path.n = 0;
			known->tries++;
			return;
		}
	}
	key = frame_mix(frame, known->text.at);
	if (same && head == known->head && frame_is_written(out, key, (uint32_t)head))
		return;
	known->head = head;
	known->tries = 0;
	frame_put_text(out, FRAME_THREAD, known->kind, &known->text);
	frame_set_written(out, key, (uint32_t)head);
}
