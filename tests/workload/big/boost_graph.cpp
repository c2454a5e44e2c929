// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <random>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boyer_myrvold_planar_test.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/kruskal_min_spanning_tree.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <boost/graph/strong_components.hpp>

using graph = boost::adjacency_list<
	boost::vecS, boost::vecS, boost::directedS, boost::no_property,
	boost::property<boost::edge_weight_t, int>>;

std::uint64_t part_graph(std::uint64_t seed)
{
	enum { NODES = 5000, EDGES = 30000 };
	std::mt19937_64 rng(seed);
	graph g(NODES);
	std::vector<int> distance(NODES), component(NODES);
	std::vector<boost::graph_traits<graph>::edge_descriptor> tree;
	std::uint64_t sum = 0;

	for (int i = 0; i < EDGES; i++)
		boost::add_edge(rng() % NODES, rng() % NODES,
				int(rng() % 1000) + 1, g);
	boost::dijkstra_shortest_paths(
		g, boost::vertex(0, g),
		boost::distance_map(boost::make_iterator_property_map(
			distance.begin(), get(boost::vertex_index, g))));
	sum += boost::strong_components(
		g, boost::make_iterator_property_map(
			   component.begin(), get(boost::vertex_index, g)));
	boost::kruskal_minimum_spanning_tree(g, std::back_inserter(tree));
	for (int d : distance)
		sum += static_cast<unsigned>(d);
	return sum + tree.size();
}
