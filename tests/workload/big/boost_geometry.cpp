// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <cmath>
#include <random>
#include <vector>

#include <boost/geometry.hpp>
#include <boost/geometry/geometries/box.hpp>
#include <boost/geometry/geometries/multi_polygon.hpp>
#include <boost/geometry/geometries/point_xy.hpp>
#include <boost/geometry/geometries/polygon.hpp>
#include <boost/geometry/index/rtree.hpp>

namespace bg = boost::geometry;
namespace bgi = boost::geometry::index;

using point = bg::model::d2::point_xy<double>;
using polygon = bg::model::polygon<point>;
using box = bg::model::box<point>;

static polygon star(double x, double y, double r, int spikes)
{
	polygon p;

	for (int i = 0; i < 2 * spikes; i++) {
		double a = -M_PI * i / spikes, s = i % 2 ? r : r / 2;

		bg::append(p.outer(), point(x + s * std::cos(a),
					    y + s * std::sin(a)));
	}
	bg::correct(p);
	return p;
}

std::uint64_t part_polygons(std::uint64_t seed)
{
	std::mt19937_64 rng(seed);
	std::uniform_real_distribution<double> u(0, 100);
	bgi::rtree<std::pair<box, unsigned>, bgi::rstar<16>> tree;
	bg::model::multi_polygon<polygon> all, next;
	std::uint64_t found = 0;

	for (unsigned i = 0; i < 2000; i++) {
		double x = u(rng), y = u(rng);

		tree.insert({ box(point(x, y), point(x + 1, y + 1)), i });
	}
	for (int i = 0; i < 500; i++) {
		std::vector<std::pair<box, unsigned>> hit;
		double x = u(rng), y = u(rng);

		tree.query(bgi::intersects(box(point(x, y),
					       point(x + 5, y + 5))),
			   std::back_inserter(hit));
		found += hit.size();
	}
	for (int i = 0; i < 25; i++) {
		bg::union_(all, star(u(rng), u(rng), 20, 12), next);
		std::swap(all, next);
		bg::clear(next);
	}
	return found + bg::num_points(all);
}
