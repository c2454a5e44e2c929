// SPDX-License-Identifier: GPL-2.0-or-later
/* One name of each kind that compilers give (Itanium C++ ABI §5.1). */
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace outer { inline namespace v2 {
struct __attribute__((abi_tag("tagged"))) tagged { tagged(); ~tagged(); int x; };
tagged::tagged() : x(1) {}
tagged::~tagged() { x = 0; }
tagged make() { return {}; }
} }

namespace {
struct hidden { int n; template<class T> T get(T t) const { return t; } };
}

enum class color : unsigned char { red, green };

template<class T, int N> struct box {
	T v[N];
	box() = default;
	template<class U> explicit box(U u) { v[0] = u; }
	operator T *() { return v; }
	template<class U> operator U() const { return U(); }
	T &operator[](int i) { return v[i]; }
	T operator()(T a, T b) const { return a > b ? a : b; }
	box &operator++() { return *this; }
	box operator++(int) { return *this; }
	box *operator->() { return this; }
	bool operator<(const box &) const { return false; }
	bool operator==(const box &) const { return true; }
	box operator<<(int) const { return *this; }
	void lref() & {}
	void rref() && {}
	void cvref() const volatile & {}
	static void *operator new(std::size_t n) { return ::operator new(n); }
	static void operator delete(void *p) { ::operator delete(p); }
	struct inner { T t; void f(box) {} };
};
template<class T, int N> bool operator!=(const box<T, N> &, T) { return true; }
long double operator""_half(long double x) { return x / 2; }
template struct box<int, 3>;
template struct box<color, 2>;

template<class T> struct holder { static T value; };
template<class T> T holder<T>::value{};
template struct holder<std::string>;

/* functions of all kinds of types */
void pointers(int *, const char *const *, void (*)(int, ...), int (&)[3],
	      char (*)[2][4], int box<int, 3>::*, void (box<int, 3>::*)() const,
	      void (box<int, 3>::*)() &&, int (*(*)(char))(long)) {}
void numbers(bool, char, signed char, unsigned char, wchar_t, char16_t,
	     char32_t, short, unsigned short, int, unsigned, long, unsigned long,
	     long long, unsigned long long, __int128, unsigned __int128, float,
	     double, long double, std::nullptr_t) {}
typedef float four __attribute__((vector_size(16)));
four vectors(four a, _Complex double) { return a; }
void quiet(void (*)() noexcept) noexcept {}
int (*returns(char))(long) { return nullptr; }
int (&rows(int (&a)[2][3]))[3] { return a[0]; }

/* templates */
template<class... T> std::size_t count(T &&...) { return sizeof...(T); }
template<class... T> std::tuple<T *...> all(T &...t) { return { &t... }; }
template<class F, class... T> auto call(F &&f, T &&...t)
	-> decltype(std::forward<F>(f)(std::forward<T>(t)...))
{ return std::forward<F>(f)(std::forward<T>(t)...); }
template<class... T> auto sum(T... t) -> decltype((t + ... + 0))
{ return (t + ... + 0); }
template<bool B, char C, int I, unsigned long U, color E> int values()
{ return I; }
template<auto P> int through() { return 1; }
template<template<class...> class C, class T> C<T> wrap(T t) { return { t }; }
template<class T> auto size_of(const T &t) -> decltype(t.size(), sizeof(t), 1)
{ return 1; }
template<class T> typename std::enable_if<(sizeof(T) > 2), T>::type wide(T t)
{ return t; }
template<class A, class B> auto choose(A a, B b) -> decltype(a ? b : b)
{ return a ? b : b; }
template<class T> auto made(T *p) -> decltype(new T(*p)) { return new T(*p); }
template<class T> auto cast(T *p)
	-> decltype(static_cast<const T *>(p), reinterpret_cast<long>(p), p[0])
{ return p[0]; }
int target(int x) { return x; }
int variable;

int lambdas(int n)
{
	auto plain = [n](int x) { return x + n; };
	auto generic = [](auto a, auto &&...b) { return (a + ... + b); };
	auto nested = [&] { return [&] { return plain(n); }(); };
	struct local { int v; int get(int d = [] { return 4; }()) { return d; } };
	static auto kept = std::make_unique<int>(n);
	static struct { int x; } unnamed;
	return call(plain, 2) + generic(1, 2L, 'c') + nested() + local().get() +
	       *kept + call([](auto x) { return x; }, unnamed.x);
}

template<class T> void many(T t)
{
	std::map<std::string, std::vector<T>> m;
	m["a"].push_back(t);
	std::function<void(T)> f = [m](T) {};
	f(t);
}

struct base1 { virtual ~base1() {} virtual base1 *self() { return this; } int a; };
struct base2 { virtual ~base2() {} virtual base2 *self2() { return this; } int b; };
struct derived : virtual base1, base2 {
	using base2::base2;
	derived *self() override { return this; }
	derived *self2() override { return this; }
};
static auto [first, second] = std::make_pair(1, 2L);
thread_local std::string perthread = "x";
const std::string &temporary = std::string("temporary");

#if __cplusplus >= 202002L
template<class T> concept small = sizeof(T) < 9;
template<small T> T constrained(T t) requires (sizeof(T) > 1) { return t; }
struct ordered { int x; auto operator<=>(const ordered &) const = default; };
struct literal { int a, b; };
template<literal L> int of_literal() { return L.a; }
template<class T> struct level {
	template<class U> requires (sizeof(T) < sizeof(U))
	static int inner(U u) { return (int)u; }
};
int numbered[4];
int modern(ordered a, ordered b, char8_t)
{
	auto f = []<class T, int N>(std::array<T, N> &) { return N; };
	std::array<int, 3> three{};
#if !defined(__clang__) || __clang_major__ > 17
	through<&numbered[2]>();
#endif
	return level<int>::inner(2L) + (a < b) + constrained(3) +
	       of_literal<literal{1, 2}>() + f.template operator()<int, 3>(three);
}
#endif

int use(int argc)
{
	box<int, 3> b(1), *p = new box<int, 3>;
	hidden h{ argc };
	int rowsof[2][3] = {};
	std::string s = b;
	double d = b;
	derived x;
	auto [u, v] = std::make_pair(argc, h.n);

	b.lref();
	std::move(b).rref();
	b.cvref();
	many(h);
	many(color::green);
	delete p;
	wrap<std::vector>(argc);
	all(argc, d, s);
	made(&d);
	return (int)count(b, s, 1) + lambdas(argc) + sum(1, 2L, 3) + (b != 1) +
	       values<true, 'x', -3, 7, color::green>() + through<&target>() +
	       through<&variable>() + through<&box<int, 3>::lref>() +
	       through<nullptr>() + size_of(s) + wide(argc) + cast(&argc) +
	       choose(argc, 'c') + rows(rowsof)[0] + (int)h.get(2L) + u + v +
	       (int)perthread.size() + x.self()->a + first;
}
