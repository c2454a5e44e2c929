// SPDX-License-Identifier: GPL-2.0-or-later
/* Readable names, and their short forms. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include "symbolize/demangle/demangle.h"

struct pair {
	const char *in, *out;
};

/* Right sides: the Itanium C++ ABI's and the Rust RFC 2603 examples, c++filt. */
static const struct pair names[] = {
	{ "main", "main" },
	{ "", "" },
	{ "_", "_" },
	{ "_ZN3Foo3barEi", "Foo::bar(int)" },
	{ "_Z3fooi.isra.0", "foo(int) [clone .isra.0]" },
	{ "foo.isra.0", "foo.isra.0" },
	{ "memcpy@@GLIBC_2.14", "memcpy" },
	{ "memcpy@GLIBC_2.2.5", "memcpy" },
	{ "_ZdlPv@@GLIBCXX_3.4", "operator delete(void*)" },
	{ "@", "@" },
	{ "_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar()" },
	{ "_ZZ4mainENKUliE_clEi",
	  "main::{lambda(int)#1}::operator()(int) const" },
	{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
	  "core::fmt::Formatter::pad" },
	{ "_D3std5stdio4File5closeMFZv", "std.stdio.File.close()" },
	{ "_Zbroken", "_Zbroken" },
	{ "_ZN", "_ZN" },
	/* suffixes, as c++filt and objdump -C show them */
	{ "_Z3fooi.isra.0.cold", "foo(int) [clone .isra.0] [clone .cold]" },
	{ "_Z3foov.constprop.0", "foo() [clone .constprop.0]" },
	{ "_Z3foov.part.12", "foo() [clone .part.12]" },
	{ "_Z3foov.lto_priv.0", "foo() [clone .lto_priv.0]" },
	{ "_Z3foov.avx2", "foo() [clone .avx2]" },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.123",
	  "core::fmt::Formatter::pad [clone .llvm.123]" },
	{ "_RNvNtCs1234_7mycrate3foo3bar.llvm.9876",
	  "mycrate::foo::bar [clone .llvm.9876]" },
	{ "_D3std5stdio4File5closeMFZv.cold",
	  "std.stdio.File.close() [clone .cold]" },
	{ "foo.part.0.cold", "foo.part.0.cold" },
	{ "puts@plt", "puts@plt" },
	{ "_ZdlPv@plt", "operator delete(void*)@plt" },
	{ "_ZdlPv@GLIBCXX_3.4@plt", "operator delete(void*)@plt" },
	{ "_ZdlPv$plt", "operator delete(void*)$plt" },
};

static void test_demangle(void **state)
{
	struct buf b = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		buf_reset(&b);
		demangle(names[i].in, &b);
		assert_string_equal(buf_cstr(&b), names[i].out);
	}
	buf_fini(&b);
}

/* Substitutions that double the name at each step: 2^40 characters. */
static void test_demangle_bomb(void **state)
{
	struct buf name = { 0 }, out = { 0 };
	int i;

	(void)state;
	buf_str(&name, "_Z1fSt4pairI1aS0_E");
	for (i = 0; i < 40; i++)
		buf_printf(&name, "St4pairIS%d_S%d_E", 2 * i + 1, 2 * i + 1);
	demangle(buf_cstr(&name), &out);
	assert_true(out.n <= 64 * 1024 + name.n);
	buf_fini(&name);
	buf_fini(&out);
}

/* The number of a substitution: S_, S0_ … SZ_, S10_ … */
static void substitution(struct buf *b, int i)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	buf_str(b, "S");
	if (i > 36)
		buf_u8(b, (uint8_t)digits[(i - 1) / 36]);
	if (i > 0)
		buf_u8(b, (uint8_t)digits[(i - 1) % 36]);
	buf_str(b, "_");
}

/* Short names that say nothing and may take thousands of years: a pack is
 * looked for in a type of 2^64 parts; conversions that may have arguments. */
static void test_demangle_endless(void **state)
{
	struct buf name = { 0 }, out = { 0 };
	int i;

	(void)state;
	buf_str(&name, "_Z1fDp1TI1BI1AS1_E");
	for (i = 2; i < 66; i++) {
		buf_str(&name, "S0_I");
		substitution(&name, i);
		substitution(&name, i);
		buf_str(&name, "E");
	}
	buf_str(&name, "E");
	demangle(buf_cstr(&name), &out);
	assert_true(out.n <= 64 * 1024 + name.n);
	buf_reset(&name);
	buf_reset(&out);
	buf_str(&name, "_ZN1A");
	for (i = 0; i < 100; i++)
		buf_str(&name, "cvT_I");
	buf_str(&name, "i");
	for (i = 0; i < 100; i++)
		buf_str(&name, "E");
	buf_str(&name, "Ev");
	demangle(buf_cstr(&name), &out);
	assert_true(out.n <= 64 * 1024 + name.n);
	buf_fini(&name);
	buf_fini(&out);
}

/* D: associative arrays of a type and a reference to the same, 2^60 of them. */
static void test_demangle_d_bomb(void **state)
{
	struct buf name = { 0 }, type = { 0 }, out = { 0 };
	int i;

	(void)state;
	buf_str(&type, "Ai");
	for (i = 0; i < 60; i++) {
		size_t back = type.n + (size_t)i;

		buf_str(&type, "Q");
		if (back >= 26)
			buf_u8(&type, (uint8_t)('A' + back / 26));
		buf_u8(&type, (uint8_t)('a' + back % 26));
	}
	buf_str(&name, "_D1a1fF");
	for (i = 0; i < 60; i++)
		buf_str(&name, "H");
	buf_str(&name, buf_cstr(&type));
	buf_str(&name, "Zv");
	demangle(buf_cstr(&name), &out);
	assert_string_equal(buf_cstr(&out), buf_cstr(&name));
	buf_fini(&name);
	buf_fini(&type);
	buf_fini(&out);
}

/* Names of more than 1,024 characters are read too. */
static void test_demangle_long(void **state)
{
	struct buf name = { 0 }, want = { 0 }, out = { 0 };
	int i;

	(void)state;
	buf_str(&name, "_ZN");
	for (i = 0; i < 600; i++) {
		buf_printf(&name, "4n%03d", i);
		buf_printf(&want, "n%03d::", i);
	}
	buf_str(&name, "1fEv");
	buf_str(&want, "f()");
	demangle(buf_cstr(&name), &out);
	assert_string_equal(buf_cstr(&out), buf_cstr(&want));
	buf_fini(&name);
	buf_fini(&want);
	buf_fini(&out);
}

/*
 * Fortran: symbols that gfortran writes, by the modules they were compiled from;
 * flang's examples (Bijective Internal Name Uniquing).  Ada: c++filt -s gnat.
 * OCaml: the test of perf (tests/demangle-ocaml-test.c).  Haskell: GHC's
 * commentary on symbol names.
 */
static const struct pair others[] = {
	{ "__shapes_MOD_area", "shapes::area" },
	{ "__par.kid_MOD_helper", "par::kid::helper" },
	{ "__shapes_MOD_area.constprop.0", "shapes::area [clone .constprop.0]" },
	{ "__shapes_MOD_", "__shapes_MOD_" },
	{ "___MOD_area", "___MOD_area" },
	{ "MAIN__", "MAIN__" },
	{ "plain_", "plain_" },
	{ "_QMmodSs1modSs2modFsubPfun", "mod::s1mod::s2mod::sub::fun" },
	{ "_QMshapesParea", "shapes::area" },
	{ "_QMshapes", "_QMshapes" },
	{ "_QQmain", "_QQmain" },
	{ "_ada_main_program", "main_program" },
	{ "ada__text_io__put_line", "ada.text_io.put_line" },
	{ "ada__text_io__put_line__2", "ada.text_io.put_line" },
	{ "ada__strings__unbounded__Oconcat__2", "ada.strings.unbounded.\"&\"" },
	{ "ada__calendar___elabs", "ada.calendar'Elab_Spec" },
	{ "geo__Oadd", "geo.\"+\"" },
	{ "geo___elabb", "geo'Elab_Body" },
	{ "geo__area", "geo__area" },
	{ "vec__Oadding", "vec__Oadding" },
	{ "system__init", "system__init" },
	{ "nft__do_chain__2", "nft__do_chain__2" },
	{ "gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal" },
	{ "main.(*T).Method", "main.(*T).Method" },
	{ "100%", "100%" },
	{ "camlStdlib__array__map_154", "Stdlib.array.map_154" },
	{ "camlStdlib__bytes__$2b$2b_2205", "Stdlib.bytes.++_2205" },
	{ "camlStdlib__anon_fn$5bstdlib$2eml$3a334$2c0$2d$2d54$5d_1453",
	  "Stdlib.anon_fn[stdlib.ml:334,0--54]_1453" },
	{ "camlfoo__bar", "camlfoo__bar" },
	{ "caml_main", "caml_main" },
	{ "base_GHCziBase_zdfMonadIO1_info", "base:GHC.Base.$fMonadIO1" },
	{ "base_GHCziList_zn_info", "base:GHC.List.!" },
	{ "ghczmprim_GHCziTuple_Z2T_info", "ghc-prim:GHC.Tuple.(,)" },
	{ "get_Zigzag_size_info", "get_Zigzag_size_info" },
	{ "HUnitzm1zi6_TestziHUnit_assert_info", "HUnit-1.6:Test.HUnit.assert" },
	/* the program's own modules have no package */
	{ "Main_zdwmedium_info", "Main.$wmedium" },
	{ "Main_fibzq_info", "Main.fib'" },
	{ "Main_zlzpzg_info", "Main.<+>" },
	{ "GeoziShape_area_info", "Geo.Shape.area" },
	{ "Geo_zdwarea_info", "Geo.$warea" },
	{ "Geo_area_info", "Geo_area_info" },
	{ "Main_get_size_info", "Main_get_size_info" },
	{ "Main__info", "Main__info" },
	{ "-[Foo bar:with:]", "-[Foo bar:with:]" },
	{ "$s4main3fooyyF", "$s4main3fooyyF" },
};

static void test_demangle_others(void **state)
{
	struct buf b = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		buf_reset(&b);
		demangle(others[i].in, &b);
		assert_string_equal(buf_cstr(&b), others[i].out);
	}
	buf_fini(&b);
}

/* Names of Phobos, by gdc; right sides: c++filt -s dlang, without what tally leaves
 * out: return types and attributes of function types, keys of arrays, suffixes of
 * numbers. */
static void test_demangle_d(void **state)
{
	static const struct pair d[] = {
		{ "_D2rt5tlsgc4scanFNbPvMDFNbQhQjZvZv",
		  "rt.tlsgc.scan(void*, scope delegate(void*, void*))" },
		{ "_D4core6thread5fiber5Fiber5resetMFNbNiPFZvZv",
		  "core.thread.fiber.Fiber.reset(function())" },
		{ "_D3std3uni10compressToFNaNbNfkMKAhZv",
		  "std.uni.compressTo(uint, scope ref ubyte[])" },
		{ "_D3std6digest6DigestQoMFNbNeMAxAvXAh",
		  "std.digest.Digest.digest(scope const(void[])[]...)" },
		{ "_D4core6atomic__T8atomicOpVAyaa2_2b3dTkTiZQzFNaNbNiNfKOkiZk",
		  "core.atomic.atomicOp!(\"+=\", uint, int).atomicOp(ref shared(u"
		  "int), int)" },
		{ "_D4core6memory2GC6addrOfFNaNbNiNePNgvZQf",
		  "core.memory.GC.addrOf(inout(void)*)" },
		{ "_D4core4time15__modsharedctorFZv",
		  "core.time.__modsharedctor()" },
		{ "_D3std7numeric3Fft6__ctorMFmZCQBcQBbQw",
		  "std.numeric.Fft.this(ulong)" },
		{ "_D3std4path12absolutePathFNaNfAyaLQeZQh",
		  "std.path.absolutePath(immutable(char)[], lazy immutable(char"
		  ")[])" },
		{ "_D2rt6dmain212_d_run_main2UAAamPUQgZiZ6runAllMFZv",
		  "rt.dmain2._d_run_main2(char[][], ulong, function(char[][])).r"
		  "unAll()" },
		{ "_D3std7process5execvFIAyaIAQfZi",
		  "std.process.execv(in immutable(char)[], in immutable(char)[]"
		  "[])" },
		{ "_D3std6base64__T10Base64ImplVai45Vai95Vai0Z12decodeLengthFNa"
		  "NbNfImZm",
		  "std.base64.Base64Impl!('-', '_', 0).decodeLength(in ulong)" },
		{ "_D6object__T7destroyVbi1TC6ObjectZQwFNbQoZv",
		  "object.destroy!(true, Object).destroy(Object)" },
		{ "_D3std3uni__T8spaceForVmi1ZQoFNaNbNiNfmZm",
		  "std.uni.spaceFor!(1).spaceFor(ulong)" },
		{ "_D3std7process6browseFNbNiNfMAxaZ9__lambda4FNbNiNeZPa",
		  "std.process.browse(scope const(char)[]).__lambda4()" },
		{ "_D3std3xml3Tag6toHashMxFNbNfZm",
		  "std.xml.Tag.toHash() const" },
		{ "_D3std8typecons__T5TupleTaTaZQl6toHashMxFNaNbNiNfZm",
		  "std.typecons.Tuple!(char, char).Tuple.toHash() const" },
		{ "_D3std9algorithm9searching__T10countUntilVAyaa11_615b305d203"
		  "e2030783830TAxSQCv3uni17CodepointIntervalZQCvFNaNbNiNfQBqZl",
		  "std.algorithm.searching.countUntil!(\"a[0] > 0x80\", const(std"
		  ".uni.CodepointInterval)[]).countUntil(const(std.uni.Codepoin"
		  "tInterval)[])" },
		{ "_D3std5range8nullSinkFNaNbNcNiNfZSQBgQBf8NullSink",
		  "std.range.nullSink()" },
		{ "_D3std3uri9urlEncodeFNaNfMHAyaQdZQg",
		  "std.uri.urlEncode(scope immutable(char)[][…])" },
		{ "_D3std5stdio4File6__dtorMFNfZv",
		  "std.stdio.File.~this()" },
		{ "_D3std3uni7toLowerFNaNfNkMAyaZQe",
		  "std.uni.toLower(return scope immutable(char)[])" },
		{ "_D3std3net4curl4Curl10onProgressMFNdDFmmmmZiZ9__lambda2MFmmmm"
		  "Zi",
		  "std.net.curl.Curl.onProgress(delegate(ulong, ulong, ulong, ul"
		  "ong)).__lambda2(ulong, ulong, ulong, ulong)" },
		{ "_D2rt4util8typeinfo__T15TypeInfoGenericTaThZQw11initializerMx"
		  "FNaNbNeZ1cyG1a",
		  "rt.util.typeinfo.TypeInfoGeneric!(char, ubyte).TypeInfoGeneri"
		  "c.initializer() const.c" },
		{ "_D3foo__T3barVde8C01P2VAfA2eNANe0P0Z3barFG3iZv",
		  "foo.bar!(…, …).bar(int[3])" },
		{ "_D1a1fFQaZv", "_D1a1fFQaZv" },
		{ "_D9a1f", "_D9a1f" },
		{ "_D", "_D" },
	};
	struct buf b = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(d) / sizeof(*d); i++) {
		buf_reset(&b);
		demangle(d[i].in, &b);
		assert_string_equal(buf_cstr(&b), d[i].out);
	}
	buf_fini(&b);
}

/* What the unit's language says; right sides: c++filt -s gnat. */
static void test_demangle_ada(void **state)
{
	static const struct pair ada[] = {
		{ "geo__area", "geo.area" },
		{ "geo__area__2", "geo.area" },
		{ "geo__inner__deep__local.0", "geo.inner.deep.local" },
		{ "geo__lock__takeN", "geo.lock.take" },
		{ "geo__vecSR__2", "geo.vec'Read" },
		{ "geo__vecDF", "geo.vec.Finalize" },
		{ "list__Oeq__3Xn", "list.\"=\"" },
		{ "_ada_amain", "amain" },
		{ "memcpy", "memcpy" },
		{ "__gnat_malloc", "__gnat_malloc" },
		{ "main", "main" },
	};
	enum { LANG_C99 = 0x0c, LANG_ADA95 = 0x0d };
	struct buf b = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ada) / sizeof(*ada); i++) {
		buf_reset(&b);
		demangle_as(LANG_ADA95, ada[i].in, &b);
		assert_string_equal(buf_cstr(&b), ada[i].out);
	}
	buf_reset(&b);
	demangle_as(LANG_C99, "geo__area", &b);
	assert_string_equal(buf_cstr(&b), "geo__area");
	buf_fini(&b);
}

static const struct pair briefs[] = {
	{ "main", "main" },
	{ "f()", "f()" },
	{ "f(int, char const*)", "f(…)" },
	{ "std::vector<int, std::allocator<int> >::push_back(int const&)",
	  "std::vector<…>::push_back(…)" },
	{ "bool operator< <int>(A<int> const&, A<int> const&)",
	  "bool operator< <…>(…)" },
	{ "operator<(A const&, A const&)", "operator<(…)" },
	{ "operator<<(std::ostream&, A const&)", "operator<<(…)" },
	{ "A<B>::operator()(int) const", "A<…>::operator()(…) const" },
	{ "A::operator()()", "A::operator()()" },
	{ "A::operator->() const", "A::operator->() const" },
	{ "A::operator->*(int)", "A::operator->*(…)" },
	{ "A::operator>>=(int)", "A::operator>>=(…)" },
	{ "A::operator[](unsigned long)", "A::operator[](…)" },
	{ "A::operator bool()", "A::operator bool()" },
	{ "operator new[](unsigned long)", "operator new[](…)" },
	{ "A::operator std::vector<int>()", "A::operator std::vector<…>()" },
	{ "my_operator<int>(int)", "my_operator<…>(…)" },
	{ "main::{lambda(int)#1}::operator()(int) const",
	  "main::{lambda(int)#1}::operator()(…) const" },
	{ "f<main::{lambda(int)#2}>(main::{lambda(int)#2})", "f<…>(…)" },
	{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f(…)" },
	{ "A<(anonymous namespace)::B>::g()", "A<…>::g()" },
	{ "A<((3)>(2))>::f()", "A<…>::f()" },
	{ "A<&B::operator> >::f()", "A<…>::f()" },
	{ "A<&(B::operator->())>::f()", "A<…>::f()" },
	{ "void (*f<int>(int))(long)", "void (*f<…>(…))(…)" },
	{ "f[abi:cxx11](int)", "f(…)" },
	{ "f(int) [clone .isra.0]", "f(…) [clone .isra.0]" },
	{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
	  "<alloc::vec::Vec<…> as core::ops::Drop>::drop" },
	{ "core::ptr::drop_in_place<alloc::string::String>",
	  "core::ptr::drop_in_place<…>" },
	{ "a::b::<fn(u8) -> u8>::c", "a::b::<…>::c" },
	{ "std::rt::lang_start::{{closure}}", "std::rt::lang_start::{{closure}}" },
	{ "core::fmt::Formatter::pad::h0123456789abcdef",
	  "core::fmt::Formatter::pad" },
	/* Go: as go tool pprof shortens */
	{ "github.com/google/pprof/v3.(*Dec).Read", "pprof.(*Dec).Read" },
	{ "gopkg.in/yaml.v3.Unmarshal", "yaml.v3.Unmarshal" },
	{ "github.com/a/b/v2/c-d.f.func1.2", "c-d.f.func1.2" },
	{ "main.(*T).Method", "main.(*T).Method" },
	{ "main.Map[go.shape.int_0,go.shape.string_1]", "main.Map[…]" },
	{ "ex.org/y.(*List[go.shape.struct { main.a string }_0]).Push",
	  "y.(*List[…]).Push" },
	{ "type:.eq.internal/abi.RegArgs", "type:.eq.abi.RegArgs" },
	{ "type..eq.struct { runtime.gList; runtime.n int32 }",
	  "type..eq.struct {…}" },
	{ "a/b.(*T[", "a/b.(*T[" },
	{ "main.run[...]", "main.run[…]" },
	{ "std.algorithm.sort!((a, b) => a < b, int[]).sort(int[])",
	  "std.algorithm.sort!(…).sort(…)" },
	{ "mycrate[1c9a4bd7e2f01234]::foo", "mycrate::foo" },
	{ "<[u8] as core::fmt::Debug>::fmt", "<[u8] as core::fmt::Debug>::fmt" },
	{ "shapes::area", "shapes::area" },
	{ "ada.strings.unbounded.\"<\"", "ada.strings.unbounded.\"<\"" },
	{ "-[Foo bar:with:]", "-[Foo bar:with:]" },
	{ "operator/(A const&, int)", "operator/(…)" },
	{ "operator delete(void*)@plt", "operator delete(…)@plt" },
	{ "broken<int", "broken<int" },
	{ "broken)(", "broken)(" },
	{ "a > b", "a > b" },
	{ "", "" },
};

static void test_demangle_short(void **state)
{
	struct buf b = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(briefs) / sizeof(*briefs); i++) {
		buf_reset(&b);
		demangle_short(briefs[i].in, &b);
		assert_string_equal(buf_cstr(&b), briefs[i].out);
	}
	buf_fini(&b);
}

static const char *name_at(void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

/* Names of one table, ended by NULL: the input, then what is shown. */
static void test_demangle_short_apart(void **state)
{
	static const char *const tables[][2][5] = {
		{ { "void apply<main::{lambda(int)#1}>(main::{lambda(int)#1})",
		    "void apply<main::{lambda(int)#2}>(main::{lambda(int)#2})",
		    "other<int>(long)" },
		  { "void apply<main::{lambda(int)#1}>(…)",
		    "void apply<main::{lambda(int)#2}>(…)",
		    "other<…>(…)" } },
		/* the same name twice is one name */
		{ { "f<int>()", "f<int>()" }, { "f<…>()", "f<…>()" } },
		/* overloads */
		{ { "put(A const&, int)", "put(A const&, long)", "put(A const&)" },
		  { "put(…, int)", "put(…, long)", "put(…)" } },
		/* only what differs, and only as deep as it differs */
		{ { "M<std::pair<int const, A<B> >, C>::find(D)",
		    "M<std::pair<int const, A<E> >, C>::find(D)",
		    "M<std::pair<long, A<E> >, C>::find(D)" },
		  { "M<std::pair<int const, A<B>>, …>::find(…)",
		    "M<std::pair<int const, A<E>>, …>::find(…)",
		    "M<std::pair<long, …>, …>::find(…)" } },
		/* operators with brackets, commas in nested brackets */
		{ { "bool operator< <A<int, int>, B>(A<int, int>, B)",
		    "bool operator< <A<int, int>, C>(A<int, int>, C)" },
		  { "bool operator< <…, B>(…)", "bool operator< <…, C>(…)" } },
		/* the short form never has ABI tags */
		{ { "f[abi:a](int)", "f[abi:b](int)" },
		  { "f[abi:a](int)", "f[abi:b](int)" } },
		{ { "main.run[int]", "main.run[string]" },
		  { "main.run[int]", "main.run[string]" } },
		{ { "broken<int", "broken<…>", "broken<x>" },
		  { "broken<int", "broken<…>", "broken<x>" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct short_names *out = short_names_new(5);
		size_t n = 0;

		assert_non_null(out);
		for (; n < 5 && tables[i][0][n]; n++)
			short_names_add(out, tables[i][0][n]);
		short_names_apart(out, name_at, (void *)tables[i][0]);
		for (size_t k = 0; k < n; k++) {
			const char *text = short_names_get(out, k);

			assert_string_equal(*text ? text : tables[i][0][k], tables[i][1][k]);
		}
		assert_false(short_names_free(out));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demangle),
		cmocka_unit_test(test_demangle_bomb),
		cmocka_unit_test(test_demangle_endless),
		cmocka_unit_test(test_demangle_d_bomb),
		cmocka_unit_test(test_demangle_d),
		cmocka_unit_test(test_demangle_long),
		cmocka_unit_test(test_demangle_others),
		cmocka_unit_test(test_demangle_ada),
		cmocka_unit_test(test_demangle_short),
		cmocka_unit_test(test_demangle_short_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
