/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_WORKLOAD_PARTS_H
#define TALLY_TESTS_WORKLOAD_PARTS_H
/*
 * The parts of a C++ program of real size: each works a few tens of
 * milliseconds inside templates of one library and returns a number that
 * depends on all of its work.  `seed` changes the data, not the amount.
 */
#include <cstdint>

std::uint64_t part_delaunay(std::uint64_t seed);	// CGAL
std::uint64_t part_hull(std::uint64_t seed);		// CGAL
std::uint64_t part_arrangement(std::uint64_t seed);	// CGAL
std::uint64_t part_polygons(std::uint64_t seed);	// Boost.Geometry
std::uint64_t part_parse(std::uint64_t seed);		// Boost.Spirit
std::uint64_t part_graph(std::uint64_t seed);		// Boost.Graph
std::uint64_t part_matrix(std::uint64_t seed);		// Eigen
std::uint64_t part_sparse(std::uint64_t seed);		// Eigen
std::uint64_t part_json(std::uint64_t seed);		// nlohmann-json
std::uint64_t part_std(std::uint64_t seed);		// libstdc++

#endif
