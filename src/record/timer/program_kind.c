// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows a command through scripts to its interpreter, and identifies it. */
#include "record/timer/program_kind.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "image/image.h"

enum { HEAD = 4096, SCRIPTS_MAX = 4 };

static bool may_run(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Searches like execvp(3). */
static bool find(const char *name, char path[PATH_MAX])
{
	const char *list = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return may_run(path);
	}
	for (list = list ? list : "/bin:/usr/bin"; *list;) {
		size_t n = strcspn(list, ":");

		snprintf(path, PATH_MAX, "%.*s%s%s", (int)(n < PATH_MAX ? n : 0),
			 list, n ? "/" : "./", name);
		if (may_run(path))
			return true;
		list += n + (list[n] == ':');
	}
	return false;
}

/* Parses "#! path …" and replaces *path by that path. */
static bool is_script(const char *head, size_t n, char path[PATH_MAX])
{
	size_t from = 2, len = 0;

	if (n < 3 || head[0] != '#' || head[1] != '!')
		return false;
	while (from < n && (head[from] == ' ' || head[from] == '\t'))
		from++;
	while (from + len < n && !strchr(" \t\n", head[from + len]))
		len++;
	snprintf(path, PATH_MAX, "%.*s", (int)len, head + from);
	return len > 0;
}

/* Checks PT_INTERP, which linkers place in the first bytes of the file. */
static int linker_of(const char *head, size_t n, const char *path,
		     struct error *err)
{
	static const char ours[] = "ld-linux-x86-64.so.2";
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (n < sizeof(h) || memcmp(head, ELFMAG, SELFMAG))
		return error_set(err, ERR_UNSUPPORTED, "%s is not an ELF "
				"program",
				 path);
	memcpy(&h, head, sizeof(h));
	if (head[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_X86_64)
		return error_set(err, ERR_UNSUPPORTED, "%s is a program for "
				 "another architecture", path);
	for (unsigned int i = 0; i < h.e_phnum; i++) {
		uint64_t at = h.e_phoff + i * sizeof(p);

		if (h.e_phentsize != sizeof(p) || h.e_phoff > n ||
		    at > n - sizeof(p))
			break;
		memcpy(&p, head + at, sizeof(p));
		if (p.p_type != PT_INTERP)
			continue;
		if (p.p_offset < n && p.p_filesz <= n - p.p_offset &&
		    memmem(head + p.p_offset, p.p_filesz, ours, sizeof(ours)))
			return 0;
		return error_set(err, ERR_UNSUPPORTED, "%s has another C "
				 "library", path);
	}
	return error_set(err, ERR_UNSUPPORTED, "%s is statically linked", path);
}

static int check_file(char path[PATH_MAX], bool *script, struct error *err)
{
	char head[HEAD];
	struct stat st;
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	*script = false;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		st.st_mode = 0;
	else
		n = pread(fd, head, sizeof(head), 0);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return error_set(err, ERR_UNSUPPORTED, "%s cannot be read",
				 path);
	*script = is_script(head, (size_t)n, path);
	if (*script)
		return 0;
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	    (st.st_mode & S_ISGID && st.st_gid != getegid()))
		return error_set(err, ERR_UNSUPPORTED, "%s changes its user",
				 path);
	return linker_of(head, (size_t)n, path, err);
}

/* Returns whether a section of an ELF file contains one of two parts; `second` may be
 * empty. */
static bool section_has(const char *path, const char *section, const char *first,
			size_t first_n, const char *second, size_t second_n)
{
	struct image *img;
	struct span text;
	bool found;

	if (image_open_file(path, &img, NULL))
		return false;
	text = image_section(img, section);
	found = text.n && (memmem(text.p, text.n, first, first_n) ||
			   (second_n && memmem(text.p, text.n, second, second_n)));
	image_close(img);
	return found;
}

/* The same for the names of a file's dynamic symbols and libraries. */
static bool has_dynamic_name(const char *path, const char *first, size_t first_n,
			     const char *second, size_t second_n)
{
	return section_has(path, ".dynstr", first, first_n, second, second_n);
}

/* GCC's runtime of AddressSanitizer ends the program if another library comes before
 * it. */
static int check_sanitizer(const char *path, struct error *err)
{
	static const char needed[] = "\0libasan.so.";

	if (!has_dynamic_name(path, needed, sizeof(needed) - 1, "", 0))
		return 0;
	return error_set(err, ERR_UNSUPPORTED, "%s uses AddressSanitizer, whose "
			 "library must be the first one", path);
}

int program_is_dynamic(const char *name, struct error *err)
{
	char path[PATH_MAX];
	bool script = true;
	int r = 0;

	if (!find(name, path))
		return error_set(err, ERR_NOTFOUND, "no command \"%s\"", name);
	for (int i = 0; script && i < SCRIPTS_MAX && !r; i++)
		r = check_file(path, &script, err);
	if (!r && !script)
		r = check_sanitizer(path, err);
	if (!r && script)
		return error_set(err, ERR_UNSUPPORTED, "%s is a script of "
				 "scripts", name);
	return r;
}

/* Matches "python3", "python3.11" … */
static bool is_python_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	name = slash ? slash + 1 : name;
	if (strncmp(name, "python", 6))
		return false;
	name += 6 + strspn(name + 6, "0123456789.");
	return !*name;
}

static bool is_env(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strcmp(slash ? slash + 1 : name, "env");
}

/* Returns the program that env(1) would run, from words. */
static const char *after_env(char *const *words)
{
	while (*words && (**words == '-' || strchr(*words, '=')))
		words++;
	return *words;
}

/* Returns whether a file exports the interpreter, or needs the library that does. */
static bool names_python(const char *path)
{
	static const char exported[] = "\0_PyRuntime", needed[] = "\0libpython3.";

	return has_dynamic_name(path, exported, sizeof(exported), needed,
				sizeof(needed) - 1);
}

enum { SCRIPT_WORDS = 8 };

/* Reads the program of a "#!" line into `line`.  Returns NULL if the file is not a
 * script. */
static const char *script_program(const char *path, char line[HEAD])
{
	char *words[SCRIPT_WORDS + 1] = { NULL }, *rest = NULL;
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0) {
		n = pread(fd, line, HEAD - 1, 0);
		close(fd);
	}
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	words[0] = strtok_r(line + 2, " \t", &rest);
	for (int i = 1; i < SCRIPT_WORDS && words[i - 1]; i++)
		words[i] = strtok_r(NULL, " \t", &rest);
	if (!words[0])
		return NULL;
	return is_env(words[0]) ? after_env(words + 1) : words[0];
}

/* Finds the program in which a command finally runs: the file in `path`, which is not
 * a script.  Stops early with true when `known` accepts a name.  Returns false if
 * there is none. */
static bool interpreter(char *const *command, bool (*known)(const char *name),
			char path[PATH_MAX], bool *by_name)
{
	const char *name = command[0];
	char line[HEAD];

	*by_name = false;
	if (name && is_env(name))
		name = after_env(command + 1);
	for (int i = 0; name && i < SCRIPTS_MAX; i++) {
		if (!find(name, path))
			return false;
		*by_name = known && known(name);
		if (*by_name)
			return true;
		name = script_program(path, line);
		if (!name)
			return true;
	}
	return false;
}

bool program_is_python(char *const *command)
{
	char path[PATH_MAX];
	bool by_name;

	return interpreter(command, is_python_name, path, &by_name) &&
	       (by_name || names_python(path));
}

bool program_is_php(char *const *command)
{
	static const char exported[] = "\0executor_globals";
	char path[PATH_MAX];
	bool by_name;

	return interpreter(command, NULL, path, &by_name) &&
	       has_dynamic_name(path, exported, sizeof(exported), "", 0);
}

bool program_is_ruby(char *const *command)
{
	static const char used[] = "\0ruby_run_node";
	char path[PATH_MAX];
	bool by_name;

	return interpreter(command, NULL, path, &by_name) &&
	       has_dynamic_name(path, used, sizeof(used), "", 0);
}

static bool process_is_python(unsigned long pid)
{
	char path[64], name[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%lu/exe", pid);
	n = readlink(path, name, sizeof(name) - 1);
	name[n < 0 ? 0 : n] = 0;
	return is_python_name(name) && names_python(path);
}

bool processes_are_python(const char *pids)
{
	char *end;

	for (;; pids = end + 1) {
		if (!process_is_python(strtoul(pids, &end, 10)))
			return false;
		if (*end != ',')
			return !*end;
	}
}

/* Returns whether the table of options has them, or a library of a suitable version
 * does. */
static bool takes_options(const char *path)
{
	static const char options[] = "--interpreted-frames-native-stack";

	return section_has(path, ".rodata", options, sizeof(options), "", 0) ||
	       has_dynamic_name(path, "libnode.so.", 11, "", 0);
}

/* A search for node in what a command runs. */
struct node_search {
	char path[PATH_MAX];	/* node found last, or "" */
	unsigned int words;	/* number of words looked at */
	bool found;
	bool unsure;		/* another node may be run, which is unknown or refuses
				 * the options */
};

enum { WORDS_MAX = 512, DEPTH_MAX = 3, SCRIPT_MAX = 64 << 10 };

static bool is_one_of(const char *name, const char *const *names)
{
	const char *slash = strrchr(name, '/');

	name = slash ? slash + 1 : name;
	while (*names && strcmp(name, *names))
		names++;
	return *names;
}

static const char *const shells[] = {
	"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", NULL,
};
/* They run the command among their arguments. */
static const char *const launchers[] = {
	"timeout", "nice", "nohup", "setsid", "stdbuf", "taskset", "ionice", "chrt",
	"time", NULL,
};
static const char *const node_names[] = { "node", "nodejs", NULL };
static const char *const node_choosers[] = { "nvm", "nvm.sh", "fnm", NULL };

static void look_at(struct node_search *s, char *const *command, int depth);

/* Looks at each word of a shell's text. */
static void look_at_text(struct node_search *s, char *text, int depth)
{
	static const char between[] = " \t\n;|&()<>`$\"'{}=", blank[] = " \t";
	char *word[2] = { NULL, NULL };

	while (*text && s->words < WORDS_MAX) {
		size_t n = strcspn(text, between);
		char after = text[n];

		if (!n && text[strspn(text, blank)] == '\n')
			text += strspn(text, blank);
		if (!n && *text == '\n' && text[1 + strspn(text + 1, blank)] == '#') {
			text += 1 + strcspn(text + 1, "\n");
			continue;
		}
		text[n] = 0;
		word[0] = text;
		if (n && ((after == '=' && !strcmp(text, "PATH")) ||
			  is_one_of(text, node_choosers)))
			s->unsure = true;
		else if (n)
			look_at(s, word, depth);
		text += n + (after != 0);
	}
}

static void look_at_script(struct node_search *s, const char *path, int depth)
{
	char *text = malloc(SCRIPT_MAX + 1);
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (text && fd >= 0)
		n = pread(fd, text, SCRIPT_MAX, 0);
	if (fd >= 0)
		close(fd);
	if (n > 0) {
		text[n] = 0;
		/* the "#!" line */
		look_at_text(s, text + strcspn(text, "\n"), depth);
	}
	free(text);
}

/* Looks at what a shell runs: the text after -c, or a script. */
static void look_at_shell(struct node_search *s, char *const *args, int depth)
{
	bool text = false;
	char *copy;

	for (; *args && **args == '-' && strcmp(*args, "--"); args++) {
		text |= (*args)[1] != '-' && strchr(*args, 'c');
		if (!strcasecmp(*args, "-o") && args[1])
			args++;
	}
	if (*args && !strcmp(*args, "--"))
		args++;
	if (!*args)
		return;
	copy = text ? strdup(*args) : NULL;
	if (copy)
		look_at_text(s, copy, depth);
	else if (!text)
		look_at_script(s, *args, depth);
	free(copy);
}

static void look_at_launched(struct node_search *s, char *const *args, int depth)
{
	char path[PATH_MAX];

	while (*args && !find(*args, path))
		args++;
	if (*args)
		look_at(s, args, depth);
}

static void found_node(struct node_search *s, const char *path)
{
	if (!strcmp(s->path, path))
		return;
	snprintf(s->path, sizeof(s->path), "%s", path);
	if (takes_options(path))
		s->found = true;
	else
		s->unsure = true;
}

static void look_at(struct node_search *s, char *const *command, int depth)
{
	char path[PATH_MAX], line[HEAD];
	const char *by;
	bool by_name;

	if (s->words++ >= WORDS_MAX || depth > DEPTH_MAX)
		return;
	if (is_env(command[0])) {
		while (*++command && (**command == '-' || strchr(*command, '=')))
			;
		if (*command)
			look_at(s, command, depth);
	} else if (is_one_of(command[0], shells)) {
		look_at_shell(s, command + 1, depth + 1);
	} else if (is_one_of(command[0], launchers)) {
		look_at_launched(s, command + 1, depth + 1);
	} else if (find(command[0], path)) {
		by = script_program(path, line);
		if (by && is_one_of(by, shells))
			look_at_script(s, path, depth + 1);
		else if (interpreter(command, NULL, path, &by_name) &&
			 is_one_of(path, node_names))
			found_node(s, path);
	}
}

bool program_runs_node(char *const *command)
{
	struct node_search s = { .words = 0 };

	if (command[0])
		look_at(&s, command, 0);
	return s.found && !s.unsure;
}

static bool is_erlang_name(const char *name)
{
	static const char *const names[] = {
		"erl", "escript", "elixir", "elixirc", "iex", "mix", "rebar3",
	};
	const char *slash = strrchr(name, '/');

	name = slash ? slash + 1 : name;
	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Checks the emulators of "erl", which is a script in bin/ of Erlang's folder. */
static bool erlang_takes_flags(void)
{
	char path[PATH_MAX], real[PATH_MAX], pattern[PATH_MAX + 32], *slash;
	bool all = true;
	glob_t g;

	if (!find("erl", path) || !realpath(path, real))
		return false;
	slash = strrchr(real, '/');
	*slash = 0;
	snprintf(pattern, sizeof(pattern), "%s/../erts-*/bin/beam.smp", real);
	if (glob(pattern, 0, NULL, &g))
		return false;
	for (size_t i = 0; i < g.gl_pathc; i++)
		all &= section_has(g.gl_pathv[i], ".rodata", "JPperf", 6, "", 0);
	globfree(&g);
	return all;
}

bool program_is_erlang(char *const *command)
{
	char path[PATH_MAX];
	bool by_name;

	return interpreter(command, is_erlang_name, path, &by_name) && by_name &&
	       erlang_takes_flags();
}

/* These programs have some 100 KB; others need not be searched. */
enum { DOTNET_HOST_MAX = 1 << 20 };

bool program_is_dotnet(char *const *command)
{
	char path[PATH_MAX];
	struct stat st;
	bool by_name;

	return interpreter(command, NULL, path, &by_name) && !stat(path, &st) &&
	       st.st_size < DOTNET_HOST_MAX &&
	       section_has(path, ".rodata", "libhostfxr.so", 13, "", 0);
}
