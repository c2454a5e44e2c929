// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of every kind whose name is not plain text: lambdas, operators, local
 * classes, conversion functions, coroutines, ranges, templates of all these. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>
#if __cplusplus >= 202002L
#include <coroutine>
#include <ranges>
#endif

#define KEPT __attribute__((noinline, used))
static volatile int sink;

namespace {
struct hidden {
	int v;
	KEPT int run(int x) { return sink = x * 3 + v; }
	template<class T> KEPT T conv(T t) const { sink = v; return t + 1; }
	KEPT operator int() const { return sink = v; }
	KEPT operator const char *() const { sink = v; return "x"; }
	template<class T> KEPT explicit operator std::vector<T>() const
	{ return { T(v) }; }
	KEPT bool operator<(const hidden &o) const { return (sink = v) < o.v; }
	KEPT bool operator<=(const hidden &o) const { return (sink = v) <= o.v; }
	KEPT hidden operator<<(int n) const { sink = n; return { v << n }; }
	KEPT int operator()(int a) const { return sink = v + a; }
	KEPT int operator[](int a) const { return sink = v ^ a; }
	KEPT hidden *operator->() { sink = 1; return this; }
	KEPT hidden &operator++() { sink = ++v; return *this; }
	KEPT hidden operator++(int) { hidden h = *this; sink = v++; return h; }
	KEPT static void *operator new(std::size_t n) { return std::malloc(n); }
	KEPT static void operator delete(void *p) { std::free(p); }
	KEPT hidden(int n) : v(n) { sink = n; }
	KEPT ~hidden() { sink = 0; }
};
KEPT int anon(const char *s, hidden &h) { return sink = s[0] + (int)h; }
KEPT hidden operator+(const hidden &a, const hidden &b)
{ return { sink = a.v + b.v }; }
namespace inner { KEPT int deep(unsigned long n) { return sink = (int)n; } }
}

namespace outer { inline namespace v1 {
struct shown {
	int a;
	KEPT shown(int n) : a(n) { sink = n; }
	KEPT virtual ~shown() { sink = a; }
	KEPT int method(const std::string &s) const { return sink = a + (int)s.size(); }
	template<class F> KEPT int each(F f) const { return sink = f(a); }
};
} }

KEPT static int process(const std::vector<int> &v, int (*f)(int))
{
	int s = 0;

	for (int x : v)
		s += f(x);
	return sink = s;
}
KEPT static int process(long n) { return sink = (int)n; }
KEPT static double process(double n, unsigned char c, bool b)
{ sink = c + b; return n; }
static int with_partial(int *p, int n)
{
	if (!p)
		return 0;
	for (int i = 0; i < n; i++)
		sink = p[i] += std::rand() + (int)std::string(p[i], 'x').size();
	return p[0];
}
template<class F> KEPT static int apply(F f, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += f(i);
	return s;
}
template<class T, int N, bool B> KEPT static T values(T t) { sink = N; return B ? t : t + 1; }
static int (*pointer)(int) = [](int x) { return sink = x + 9; };

template<class T> struct box {
	T t;
	KEPT T get() { auto q = [this]() KEPT { return t; }; return q(); }
	KEPT operator T() const { sink = 1; return t; }
	struct nested { KEPT int go(box) { return sink = 4; } };
};

extern "C" {
KEPT int plain_c(int n) { return sink = n; }
KEPT static int hidden_c(int n) { return sink = n + 1; }
}

KEPT int lambdas(int argc)
{
	int k = argc;
	auto a = [k](int x) KEPT {
		auto i = [x](int y) KEPT { return sink = x * y; };
		return i(x) + 1;
	};
	auto b = [](auto x) KEPT { return sink = (int)x + 1; };
	auto c = [](auto x, auto... y) KEPT { return sink = (int)(x + ... + y); };
	auto d = [&](int x, const char *s) mutable { return sink = k += x + s[0]; };
	struct local {
		int n;
		KEPT int m(char h) { return [h]() KEPT { return sink = h; }() + n; }
		KEPT bool operator==(const local &o) const { return sink = n == o.n; }
		KEPT local operator-() const { sink = n; return { -n }; }
	} l{ 3 };
	outer::shown s(argc);
	box<int> bi{ 3 };
	box<hidden> bh{ hidden(2) };
	box<int>::nested bn;
	std::function<int(int)> f = [&](int x) { return sink = x + k; };
	std::map<std::string, int> m{ { "a", 1 } };
	std::thread t([&] { sink = k; });

	t.join();
	std::for_each(m.begin(), m.end(), [](auto &p) KEPT { sink = p.second; });
	return a(argc) + b(3) + b(3L) + c(1, 2L) + c('c') + d(4, "x") + l.m('c') +
	       (l == -l) + apply([k](int x) KEPT { return x ^ k; }, 5) +
	       apply(f, 3) + s.each([&](int z) mutable { return z + argc; }) +
	       s.method("abc") + bi.get() + (int)bi + bh.t.v + bn.go(bi) +
	       std::accumulate(m.begin(), m.end(), 0, [](int n, auto &p) {
		       return n + p.second; });
}

KEPT int members(int argc)
{
	hidden h(argc), g(2);
	std::unique_ptr<hidden> p(new hidden(3));
	std::vector<int> v{ 3, 1, 2, argc };
	const char *s = h;

	std::sort(v.begin(), v.end(), [](int a, int b) { return (sink = a) > b; });
	return h.run(3) + (int)h.conv(4L) + h.conv('c') + (int)h + s[0] +
	       (h < g) + (h <= g) + (h << 2).v + h(3) + h[4] + h->v + (++h).v +
	       h++.v + p->v + anon("x", h) + (h + g).v + inner::deep(7) +
	       process(v, pointer) + process(3L) + (int)process(1.5, 'c', true) +
	       (int)values<long, -3, true>(2) + values<char, 7, false>('c') +
	       plain_c(3) + hidden_c(4) + with_partial(v.data(), 4) +
	       process(v, [](int z) { return sink = z; }) +
	       (int)static_cast<std::vector<long>>(h).size();
}

#if __cplusplus >= 202002L
struct generator {
	struct promise_type {
		int value;
		generator get_return_object()
		{ return { std::coroutine_handle<promise_type>::from_promise(*this) }; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v) { value = v; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> h;
};
static generator count(int n)
{
	for (int i = 0; i < n; i++)
		co_yield sink = i;
}
generator squares(int n)
{
	for (int i = 0; i < n; i++)
		co_yield sink = i * i;
}
KEPT int coroutines(int n)
{
	int s = 0;

	for (generator g : { count(n), squares(n) }) {
		while (g.h.resume(), !g.h.done())
			s += g.h.promise().value;
		g.h.destroy();
	}
	return s;
}
#if !defined(__clang__) || __clang_major__ > 15
KEPT int ranges(int n)
{
	int s = 0;

	for (int x : std::views::iota(0, n) |
	     std::views::filter([](int i) { return (sink = i) % 3 == 0; }) |
	     std::views::transform([n](int i) { return sink = i * n; }))
		s += x;
	return s;
}
#else
static int ranges(int n) { return n; }
#endif
template<class T> concept small = sizeof(T) < 9;
template<small T> KEPT static T constrained(T t) requires (sizeof(T) > 1)
{ sink = (int)t; return t; }
struct ordered {
	int x;
	KEPT auto operator<=>(const ordered &o) const { sink = x; return x <=> o.x; }
};
KEPT int modern(int n)
{
	return coroutines(n) + ranges(n) + constrained(n) + constrained(2L) +
	       (ordered{ n } < ordered{ 3 }) +
	       []<class T>(T t) KEPT { return sink = (int)t; }(3L);
}
#else
static int modern(int n) { return n; }
#endif

int main(int argc, char **argv)
{
	return (lambdas(argc) + members(argc) + modern(argc + 3) +
		[](const char *s) { return sink = s[0]; }(argv[0])) == 1;
}
