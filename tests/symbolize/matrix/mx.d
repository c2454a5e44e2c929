// SPDX-License-Identifier: GPL-2.0-or-later
module mx;

struct Box(T, int N)
{
	T v;

	int area(int k) { return cast(int)(v * k * N + half(k)); }
	static int half(int k) { return k / 2 + 1; }
}

int twice(alias f)(int x) { return f(f(x)); }

int run(int n)
{
	auto b = Box!(long, 3)(n);

	return b.area(n) + twice!(x => x * 3 + 1)(n);
}

extern (C) int main(int argc, char** argv)
{
	return run(argc) == 12_345;
}
