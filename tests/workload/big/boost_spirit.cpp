// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <string>

#include <boost/spirit/include/phoenix.hpp>
#include <boost/spirit/include/qi.hpp>

namespace qi = boost::spirit::qi;

/* Sums and products of numbers with brackets. */
template <typename It>
struct calculator : qi::grammar<It, double(), qi::space_type> {
	calculator() : calculator::base_type(sum)
	{
		using namespace qi;

		sum = product[_val = _1] >> *(('+' >> product[_val += _1]) |
					      ('-' >> product[_val -= _1]));
		product = factor[_val = _1] >> *(('*' >> factor[_val *= _1]) |
						 ('/' >> factor[_val /= _1]));
		factor = double_[_val = _1] | ('(' >> sum[_val = _1] >> ')') |
			('-' >> factor[_val = -_1]);
	}

	qi::rule<It, double(), qi::space_type> sum, product, factor;
};

std::uint64_t part_parse(std::uint64_t seed)
{
	calculator<std::string::const_iterator> grammar;
	std::string text = "1";
	double value = 0, total = 0;

	for (int i = 0; i < 1500; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		text += "+-*"[seed >> 62 & 1];
		text += " (" + std::to_string(seed >> 50) + ".5*(" +
			std::to_string(seed >> 55) + "- 3) / 7)";
	}
	for (int i = 0; i < 12; i++) {
		auto it = text.cbegin();

		if (qi::phrase_parse(it, text.cend(), grammar, qi::space,
				     value))
			total += value;
	}
	return static_cast<std::uint64_t>(static_cast<std::int64_t>(total));
}
