// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames of Java code on x86-64.
 *
 * Compiled code has a frame of fixed size.  Its topmost word is the return address;
 * the one below is the caller's rbp.  Only the first and last instructions of the
 * code run with a smaller frame, which matters where a sample interrupted them.
 *
 * Interpreter frames are based on rbp (src/hotspot/cpu/x86/frame_x86.hpp), which
 * points to the caller's rbp.  The return address is above it.  One word below is the
 * caller's rsp before space for the arguments was added; three words below, the
 * method.
 */
#include <string.h>

#include "base/buf.h"
#include "runtime/hotspot_internal.h"
#include "unwind/insn.h"

enum {
	TEXT_MAX = 2048,	/* maximum bytes of each part of a name */
	NAMES_MAX = 1 << 18,
	ARGUMENTS_MAX = 255,
};

/* Reads the text of a symbol.  Rejects text that would not be one line. */
static bool symbol_text(struct hotspot *h, uint64_t symbol, char *to, size_t n)
{
	uint64_t length;

	if (!symbol)
		return false;
	if (!hotspot_get(h, symbol, SYMBOL_LENGTH, &length)) {
		/* the upper half; the lower one counts references */
		if (!hotspot_get(h, symbol, SYMBOL_LENGTH_OLD, &length))
			return false;
		length >>= 16;
	}
	if (!length || length >= n ||
	    !h->door.read(h->door.ctx, symbol +
			  h->layout.field[SYMBOL_BODY].at, to, length))
		return false;
	to[length] = 0;
	for (char *p = to; p < to + length; p++)
		if ((uint8_t)*p < ' ' || *p == 0x7f)
			*p = '?';
	return true;
}

static bool pool_text(struct hotspot *h, uint64_t pool, uint64_t index,
		      char *to, size_t n)
{
	uint64_t length, symbol;

	return hotspot_get(h, pool, POOL_LENGTH, &length) && index &&
	       index < length && index <= UINT16_MAX &&
	       h->door.read(h->door.ctx, pool +
			    h->layout.type_size[TYPE_POOL] + index * 8,
			    &symbol, sizeof(symbol)) &&
	       symbol_text(h, symbol, to, n);
}

/* Writes a/b/C as a.b.C.  Classes generated for lambdas have an address in their
 * name, which differs between runs: it is omitted. */
static void put_class(struct buf *out, const char *name, size_t n)
{
	const char *address = memmem(name, n, "+0x", 3);

	if (!address)
		address = memmem(name, n, "/0x", 3);
	if (address)
		n = (size_t)(address - name);
	for (size_t i = 0; i < n; i++)
		buf_u8(out, name[i] == '/' ? '.' : (uint8_t)name[i]);
}

static const char *primitive(char c)
{
	static const char *const names['Z' + 1] = {
		['B'] = "byte", ['C'] = "char", ['D'] = "double", ['F'] = "float",
		['I'] = "int", ['J'] = "long", ['S'] = "short", ['Z'] = "boolean",
	};

	return c >= 0 && c <= 'Z' ? names[(int)c] : NULL;
}

/* Writes one type of a descriptor (JVMS §4.3.2).  Returns the text after it, or
 * NULL. */
static const char *put_type(struct buf *out, const char *s)
{
	unsigned dimensions = 0;

	while (*s == '[' && dimensions < ARGUMENTS_MAX) {
		dimensions++;
		s++;
	}
	if (*s == 'L') {
		const char *end = strchr(s, ';');

		if (!end)
			return NULL;
		put_class(out, s + 1, (size_t)(end - s - 1));
		s = end + 1;
	} else {
		const char *name = primitive(*s++);

		if (!name)
			return NULL;
		buf_str(out, name);
	}
	while (dimensions--)
		buf_str(out, "[]");
	return s;
}

/* Writes (Ljava/lang/Object;I)V as (java.lang.Object, int). */
static bool put_arguments(struct buf *out, const char *s)
{
	if (*s++ != '(')
		return false;
	buf_u8(out, '(');
	for (unsigned i = 0; *s != ')'; i++) {
		if (i)
			buf_str(out, ", ");
		if (i > ARGUMENTS_MAX || !(s = put_type(out, s)))
			return false;
	}
	buf_u8(out, ')');
	return true;
}

/* Returns the name's number; 0: there is no method at this address. */
static uint32_t read_name(struct hotspot *h, uint64_t constants)
{
	char class[TEXT_MAX], name[TEXT_MAX], signature[TEXT_MAX];
	uint64_t pool, holder, symbol, index, sig;
	struct buf out = { 0 };
	uint32_t id = 0;

	if (h->names.str.n > NAMES_MAX ||
	    !hotspot_get(h, constants, CONST_POOL, &pool) || !pool ||
	    !hotspot_get(h, constants, CONST_NAME, &index) ||
	    !hotspot_get(h, constants, CONST_SIGNATURE, &sig) ||
	    !hotspot_get(h, pool, POOL_HOLDER, &holder) || !holder ||
	    !hotspot_get(h, holder, KLASS_NAME, &symbol) ||
	    !symbol_text(h, symbol, class, sizeof(class)) ||
	    !pool_text(h, pool, index, name, sizeof(name)) ||
	    !pool_text(h, pool, sig, signature, sizeof(signature)))
		return 0;
	put_class(&out, class, strlen(class));
	buf_u8(&out, '.');
	buf_str(&out, name);
	if (put_arguments(&out, signature) && !out.failed)
		id = strtab_add_n(&h->names, (char *)out.p, out.n);
	buf_fini(&out);
	return id == UINT32_MAX ? 0 : id;
}

/* Returns the method's name, or 0.  The name is read by way of Method, ConstMethod and
 * ConstantPool, which holds the symbols of name and signature, and the class. */
static uint32_t hotspot_method_name(struct hotspot *h, uint64_t method)
{
	uint32_t *slot, at = method ? u64map_get(&h->by_method, method)
				    : U64MAP_NONE;
	struct hotspot_method *m = at < h->methods.n ? &h->methods.v[at] : NULL;
	uint64_t constants;
	uint32_t name;

	if (!method || method % 8)
		return 0;
	if (m && m->batch == h->batch)
		return m->name;
	/* the methods of a program that has ended no longer change */
	if (!hotspot_get(h, method, METHOD_CONST, &constants) || !constants)
		return m ? m->name : 0;
	if (m && m->constants == constants) {
		m->batch = h->batch;
		return m->name;
	}
	name = read_name(h, constants);
	if (!name)
		return 0;
	if (m) {
		*m = (struct hotspot_method){ method, constants, name,
					      h->batch };
		return name;
	}
	if (vec_push(&h->methods, (struct hotspot_method){ method, constants,
		     name, h->batch }) < 0)
		return name;
	slot = u64map_slot(&h->by_method, method);
	if (slot)
		*slot = (uint32_t)h->methods.n - 1;
	return name;
}

enum {
	WORD = 8,
	R13 = UNWIND_R8 + 5,
	SENDER_SP = -1 * WORD,
	METHOD = -3 * WORD,
	LOCALS_MAX = 1 << 20,	/* maximum bytes by which a caller's frame may be
				 * extended */
	LAST_INSNS = 12,	/* maximum instructions of an epilogue, with its ret */
	ADAPTER_INSNS = 256,	/* an adapter moves up to 255 arguments */
	ADAPTER_MAX = 4096,	/* maximum bytes of arguments */
};

static bool has_pointer(const struct unwind_regs *r)
{
	return r->known >> UNWIND_RBP & 1 &&
	       r->r[UNWIND_RBP] >= r->r[UNWIND_RSP] &&
	       r->r[UNWIND_RBP] % WORD == 0;
}

static void by_pointer(const struct unwind_regs *r, struct unwind_caller *out)
{
	uint64_t rbp = r->r[UNWIND_RBP];

	*out = (struct unwind_caller){ .ra_at = rbp + WORD,
				       .sp = rbp + 2 * WORD,
				       .has_rbp = true, .rbp_at = rbp };
}

static uint32_t interpreted(struct hotspot *h, const struct unwind_regs *r,
			    const struct hotspot_stack *s)
{
	uint64_t method;

	return has_pointer(r) &&
	       s->word(s->ctx, r->r[UNWIND_RBP] + METHOD, &method)
		? hotspot_method_name(h, method) : 0;
}

/* Unwinds an interpreter frame.  Without a method there, the frame is not yet
 * complete. */
static bool interpreter_frame(struct hotspot *h, const struct unwind_regs *r,
			      const struct hotspot_stack *s,
			      struct unwind_caller *out)
{
	uint64_t sp;

	if (!interpreted(h, r, s))
		return false;
	by_pointer(r, out);
	if (s->word(s->ctx, r->r[UNWIND_RBP] + SENDER_SP, &sp) &&
	    sp % WORD == 0 && sp >= out->sp && sp - out->sp < LOCALS_MAX)
		out->sp = sp;
	return true;
}

/* Unwinds a frame whose return address is `words` words above rsp.  Its caller's rbp
 * is `rbp` words above rsp, or still in the register: -1. */
static bool at_word(const struct unwind_regs *r, uint64_t words, int64_t rbp,
		    struct unwind_caller *out)
{
	uint64_t sp = r->r[UNWIND_RSP];

	*out = (struct unwind_caller){
		.ra_at = sp + words * WORD, .sp = sp + (words + 1) * WORD,
		.has_rbp = rbp >= 0, .rbp_at = sp + (uint64_t)rbp * WORD,
	};
	return true;
}

static bool is_push_rbp(const struct insn *x)
{
	return !x->map && !x->vector && x->op == 0x55 && !(x->rex & 1);
}

/* sub n, rsp */
static bool is_sub_rsp(const struct insn *x)
{
	return !x->map && !x->vector && (x->op == 0x81 || x->op == 0x83) &&
	       x->modrm == 0xec && (x->rex & 9) == 8;
}

/* mov rbp, n(rsp) */
static bool is_store_rbp(const struct insn *x)
{
	return !x->map && !x->vector && x->op == 0x89 && x->sib == 0x24 &&
	       (x->modrm == 0x6c || x->modrm == 0xac) && (x->rex & 13) == 8;
}

/*
 * Unwinds between a method's entry and the point where its frame is complete:
 *	push rbp; sub n, rsp		or
 *	sub n, rsp; mov rbp, n-16(rsp)
 * The instructions still to come show what was executed.
 */
static bool in_prologue(const struct hotspot_blob *b, const uint8_t *code,
			const struct unwind_regs *r, struct unwind_caller *out)
{
	uint64_t at = r->r[UNWIND_RIP] - b->code;
	bool sub = false, store = false;

	while (at < b->complete) {
		struct insn x;

		if (!insn_read(code + at, b->complete - at, &x))
			return false;
		if (is_push_rbp(&x))
			return at_word(r, 0, -1, out);
		sub |= is_sub_rsp(&x);
		store |= is_store_rbp(&x);
		at += x.size;
	}
	if (sub)
		return store ? at_word(r, 0, -1, out) : at_word(r, 1, 0, out);
	return store && at_word(r, b->frame_size / WORD - 1, -1, out);
}

static uint64_t immediate(const struct insn *x, const uint8_t *p)
{
	uint32_t v;

	if (x->op == 0x83)
		return p[x->imm_at];
	memcpy(&v, p + x->imm_at, sizeof(v));
	return v;
}

/* Returns the words that the instruction pops; -1: not part of an epilogue. */
static int64_t words_taken(const struct insn *x, const uint8_t *p)
{
	if (x->vector)
		return 0;
	if (x->map)
		/* except ud2 and syscall */
		return x->map == 1 && (x->op == 0x0b || x->op == 0x05) ? -1 : 0;
	if ((x->op & 0xf8) == 0x58)
		return 1;
	if ((x->op == 0x81 || x->op == 0x83) && x->modrm == 0xc4)
		return (x->rex & 9) == 8 ? (int64_t)(immediate(x, p) / WORD)
					 : -1;
	if ((x->op == 0x81 || x->op == 0x83) && x->modrm == 0xec)
		return -1;
	switch (x->op) {
	case 0xe8: case 0xe9: case 0xeb: case 0xff: case 0xf4: case 0xcc:
	case 0xc9: case 0x68: case 0x6a: return -1;
	default: return (x->op & 0xf8) == 0x50 ? -1 : 0;
	}
}

/*
 * Unwinds from the first instruction that removes the frame:
 *	add n, rsp; pop rbp; cmp n(r15), rsp; ja …; ret
 * The branch leads to a safepoint, where the thread waits for others.
 */
static bool in_epilogue(const struct hotspot_blob *b, const uint8_t *code,
			const struct unwind_regs *r, struct unwind_caller *out)
{
	uint64_t at = r->r[UNWIND_RIP] - b->code, n = b->end - b->code;
	uint64_t words = 0;
	int64_t rbp = -1;

	for (unsigned i = 0; i < LAST_INSNS && at < n; i++) {
		const uint8_t *p = code + at;
		struct insn x;
		int64_t taken;

		if (!insn_read(p, n - at, &x))
			return false;
		if (!x.map && !x.vector && (x.op == 0xc3 || x.op == 0xc2))
			return at_word(r, words, rbp, out);
		taken = words_taken(&x, p);
		if (taken < 0)
			return false;
		if (!x.map && !x.vector && x.op == 0x5d && !(x.rex & 1))
			rbp = (int64_t)words;
		words += (uint64_t)taken;
		at += x.size;
	}
	return false;
}

static bool compiled_frame(struct hotspot *h, const struct hotspot_blob *b,
			   const struct unwind_regs *r, bool exact,
			   struct unwind_caller *out)
{
	const uint8_t *code = exact ? hotspot_bytes(h, b) : NULL;

	if (code && b->complete != UINT32_MAX &&
	    r->r[UNWIND_RIP] - b->code < b->complete &&
	    in_prologue(b, code, r, out))
		return true;
	if (code && in_epilogue(b, code, r, out))
		return true;
	/* method handle calls jump to their target with the caller's frame */
	if (b->frame_size < 2 * WORD)
		return exact && at_word(r, 0, -1, out);
	return at_word(r, b->frame_size / WORD - 1, b->frame_size / WORD - 2,
		       out);
}

/* The adapter's instructions still to come. */
struct adapter {
	bool pop, push, align, store;
};

static void adapter_insn(const struct insn *x, struct adapter *a)
{
	if (x->map || x->vector)
		return;
	a->pop |= x->op == 0x58 && !(x->rex & 1);	/* pop rax */
	a->push |= x->op == 0x50 && !(x->rex & 1);
	a->align |= x->op == 0x83 && x->modrm == 0xe4;	/* and n, rsp */
	a->store |= x->op == 0x89 && x->modrm == 0x04 && x->sib == 0x24;
}

/*
 * To compiled code: mov (rsp), rax; …; and -16, rsp; push rax; …; jmp To the
 * interpreter: pop rax; mov rsp, r13; sub n, rsp; mov rax, (rsp); …; jmp
 *
 * The return address is therefore at rsp, except during a few instructions. r13 is
 * the value of rsp after the call.
 */
static bool adapter_frame(struct hotspot *h, const struct hotspot_blob *b,
			  const struct unwind_regs *r, struct unwind_caller *out)
{
	const uint8_t *code = hotspot_bytes(h, b);
	uint64_t at = r->r[UNWIND_RIP] - b->code, n = b->end - b->code, sp;
	struct adapter a = { 0 };
	struct insn x;

	for (unsigned i = 0; code && i < ADAPTER_INSNS && at < n; i++) {
		if (!insn_read(code + at, n - at, &x) ||
		    (!x.map && x.op == 0xff && (x.modrm >> 3 & 7) == 4))
			break;
		adapter_insn(&x, &a);
		at += x.size;
	}
	if (!a.pop && (a.store || (a.push && !a.align)))
		return false;		/* the return address is in rax */
	at_word(r, 0, -1, out);
	sp = r->r[R13];
	if (!a.pop && !a.push && (r->known >> R13 & 1) && sp % WORD == 0 &&
	    sp >= out->sp && sp - out->sp < ADAPTER_MAX)
		out->sp = sp;
	return true;
}

/*
 * Unwinds an adapter that has called the virtual machine to correct its caller's call
 * (gen_c2i_adapter): mov rsp, r13; and -16, rsp; pushf; sub 8, rsp; 16 registers (r15
 * lowest); the state of the FPU, whose size depends on the version; call.
 */
static bool patching_frame(const struct unwind_regs *r,
			   const struct hotspot_stack *s,
			   struct unwind_caller *out)
{
	static const uint16_t fpu[] = { 2688, 512 };	/* since JDK 9, before */
	enum { SAVED_R13 = 2 * WORD, SAVED = 18 * WORD, ALIGN = 16 };

	for (size_t i = 0; i < sizeof(fpu) / sizeof(*fpu); i++) {
		uint64_t at = r->r[UNWIND_RSP] + fpu[i], sp;

		if (!s->word(s->ctx, at + SAVED_R13, &sp) ||
		    sp - (at + SAVED) >= ALIGN || sp % WORD)
			continue;
		*out = (struct unwind_caller){ .ra_at = sp, .sp = sp + WORD };
		return true;
	}
	return false;
}

bool hotspot_frame(struct hotspot *h, const struct hotspot_blob *b,
		   const struct unwind_regs *regs, bool exact,
		   const struct hotspot_stack *stack,
		   struct unwind_caller *out)
{
	switch (b->kind) {
	case HOTSPOT_METHOD: return compiled_frame(h, b, regs, exact, out);
	case HOTSPOT_INTERPRETER:
		return interpreter_frame(h, regs, stack, out);
	case HOTSPOT_STUBS:
		if (exact || regs->r[UNWIND_RIP] != h->call_return ||
		    !has_pointer(regs))
			return false;
		by_pointer(regs, out);
		return true;
	case HOTSPOT_TABLE: return exact && at_word(regs, 0, -1, out);
	case HOTSPOT_ADAPTER:
		return exact ? adapter_frame(h, b, regs, out)
			     : patching_frame(regs, stack, out);
	default:
		return !exact && b->frame_size >= 2 * WORD &&
		       at_word(regs, b->frame_size / WORD - 1,
			       b->frame_size / WORD - 2, out);
	}
}

uint32_t hotspot_name(struct hotspot *h, const struct hotspot_blob *b,
		      const struct unwind_regs *regs,
		      const struct hotspot_stack *stack)
{
	uint32_t name = 0;

	if (b->kind == HOTSPOT_METHOD)
		name = hotspot_method_name(h, b->method);
	else if (b->kind == HOTSPOT_INTERPRETER)
		name = interpreted(h, regs, stack);
	return name ? name : b->name;
}
