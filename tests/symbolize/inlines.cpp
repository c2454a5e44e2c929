// SPDX-License-Identifier: GPL-2.0-or-later
// Compiled by symbolize.sh: templates, lambdas, member functions, namespaces.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace {
template <class T> struct holder {
	std::vector<T> v;

	int count(int limit) const
	{
		return (int)std::count_if(v.begin(), v.end(), [=](const T &x) {
			auto twice = [](int k) { return 2 * k; };
			return twice((int)x) > limit;
		});
	}
};
}

struct base {
	virtual ~base() {}
	virtual int get(int k) { return k + 1; }
};

struct derived : base {
	int get(int k) override
	{
		struct local {
			static int three(int x) { return 3 * x; }
		};
		return base::get(local::three(k));
	}
};

int main(int argc, char **argv)
{
	std::map<std::string, int> m;
	holder<int> h;
	derived d;

	for (int i = 0; i < argc; i++) {
		m[argv[i]]++;
		h.v.push_back(i);
	}
	std::sort(h.v.begin(), h.v.end(), [](int a, int b) { return a > b; });
	base *b = &d;
	return h.count(3) + (int)m.size() + b->get(argc) > 1000;
}
