# SPDX-License-Identifier: GPL-2.0-or-later
# Makes C of the parts of the HTML page:
#
#	awk -f embed.awk page.html page.css one.js two.js… >html_assets.c
#
# The scripts are joined in the order given.  Lines of comment at the beginning
# of each file stay out of the page.

function kind(file) {
	if (file ~ /\.html$/)
		return "page"
	return file ~ /\.css$/ ? "style" : "script"
}

function begin(name) {
	if (current != "")
		printf "\t\t\"\";\n}\n"
	printf "\nconst char *html_%s(void)\n{\n\treturn\n", name
	current = name
}

BEGIN {
	print "// SPDX-License-Identifier: GPL-2.0-or-later"
	print "/* Made from src/views/html by embed.awk. */"
	print "#include \"views/html/html_data.h\""
}
FNR == 1 {
	head = 1
	if (kind(FILENAME) != current)
		begin(kind(FILENAME))
}
head && /^(\/\/|\/\*.*\*\/$|<!-- SPDX.*-->$|$)/ { next }
{
	head = 0
	sub(/^\t+/, "")
	if ($0 == "" || ($0 ~ /^\/\/ /))
		next
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	gsub(/\?\?/, "?\"\"?")
	printf "\t\t\"%s\\n\"\n", $0
}
END { printf "\t\t\"\";\n}\n" }
