// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <random>
#include <vector>

#include <CGAL/Delaunay_triangulation_2.h>
#include <CGAL/Delaunay_triangulation_3.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>

using kernel = CGAL::Exact_predicates_inexact_constructions_kernel;

std::uint64_t part_delaunay(std::uint64_t seed)
{
	std::mt19937_64 rng(seed);
	std::uniform_real_distribution<double> u(0, 1);
	std::vector<kernel::Point_2> flat;
	std::vector<kernel::Point_3> solid;

	for (int i = 0; i < 8000; i++)
		flat.emplace_back(u(rng), u(rng));
	for (int i = 0; i < 2500; i++)
		solid.emplace_back(u(rng), u(rng), u(rng));
	CGAL::Delaunay_triangulation_2<kernel> t2(flat.begin(), flat.end());
	CGAL::Delaunay_triangulation_3<kernel> t3(solid.begin(), solid.end());
	return t2.number_of_faces() + t3.number_of_finite_cells();
}
