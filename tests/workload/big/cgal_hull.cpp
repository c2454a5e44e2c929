// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <random>
#include <vector>

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Kd_tree.h>
#include <CGAL/Orthogonal_k_neighbor_search.h>
#include <CGAL/Search_traits_3.h>
#include <CGAL/Surface_mesh.h>
#include <CGAL/convex_hull_3.h>

using kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using traits = CGAL::Search_traits_3<kernel>;
using search_type = CGAL::Orthogonal_k_neighbor_search<traits>;

std::uint64_t part_hull(std::uint64_t seed)
{
	std::mt19937_64 rng(seed);
	std::normal_distribution<double> g;
	std::vector<kernel::Point_3> points;
	CGAL::Surface_mesh<kernel::Point_3> mesh;
	std::uint64_t sum = 0;

	for (int i = 0; i < 6000; i++)
		points.emplace_back(g(rng), g(rng), g(rng));
	CGAL::convex_hull_3(points.begin(), points.end(), mesh);
	search_type::Tree tree(points.begin(), points.end());
	for (int i = 0; i < 2000; i++) {
		search_type s(tree, points[i], 8);

		for (auto it = s.begin(); it != s.end(); ++it)
			sum += it->second < 0.01;
	}
	return sum + mesh.number_of_faces();
}
