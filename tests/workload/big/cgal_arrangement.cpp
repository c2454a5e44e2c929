// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <random>
#include <vector>

#include <CGAL/Arr_segment_traits_2.h>
#include <CGAL/Arrangement_2.h>
#include <CGAL/Boolean_set_operations_2.h>
#include <CGAL/Exact_predicates_exact_constructions_kernel.h>

using kernel = CGAL::Exact_predicates_exact_constructions_kernel;
using traits = CGAL::Arr_segment_traits_2<kernel>;
using polygon = CGAL::Polygon_2<kernel>;

static polygon square(int x, int y, int size)
{
	polygon p;

	p.push_back(kernel::Point_2(x, y));
	p.push_back(kernel::Point_2(x + size, y));
	p.push_back(kernel::Point_2(x + size, y + size));
	p.push_back(kernel::Point_2(x, y + size));
	return p;
}

std::uint64_t part_arrangement(std::uint64_t seed)
{
	std::mt19937_64 rng(seed);
	std::uniform_int_distribution<int> u(0, 10000);
	std::vector<traits::X_monotone_curve_2> segments;
	CGAL::Arrangement_2<traits> arr;
	std::vector<CGAL::Polygon_with_holes_2<kernel>> out;

	while (segments.size() < 60) {
		kernel::Point_2 a(u(rng), u(rng)), b(u(rng), u(rng));

		if (a != b)
			segments.emplace_back(a, b);
	}
	CGAL::insert(arr, segments.begin(), segments.end());
	for (int i = 0; i < 10; i++)
		CGAL::intersection(square(u(rng) % 50, u(rng) % 50, 40),
				   square(u(rng) % 50, u(rng) % 50, 40),
				   std::back_inserter(out));
	return arr.number_of_faces() + out.size();
}
