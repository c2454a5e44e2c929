<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Spins in functions that are called in many ways, equally long, for SECONDS of
// processor time, and tells what it knows of that itself: for each function that spins, the line of its loop, how often it spun, and the
// chains of its callers (debug_backtrace).
//
//     php php_scenes.php SECONDS FILE FOLDER

const LOOPS = 1000000;		// longer than the tick of timers
$TRUTH = [];

function note(string $name, int $line): void
{
	global $TRUTH;
	$TRUTH[$name] ??= ['line' => $line, 'cpu' => 0, 'chains' => []];
	$TRUTH[$name]['cpu']++;
	$chain = [];
	$frames = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
	for ($i = 1; $i < count($frames); $i++) {
		if (!isset($frames[$i]['file']))	// called by an internal function
			continue;
		$caller = $frames[$i + 1] ?? ['function' => 'include'];
		$function = in_array($caller['function'], ['include', 'require']) ?
			'{main}' : $caller['function'];
		$chain[] = [isset($caller['class']) ? $caller['class'] . '::' . $function :
			$function, $frames[$i]['file'], $frames[$i]['line']];
	}
	if (!in_array($chain, $TRUTH[$name]['chains']))
		$TRUTH[$name]['chains'][] = $chain;
}

$names = ['plain', 'recursion', 'closure', 'generator', 'delegate', 'exception', 'finally',
	'usort', 'map', 'replace', 'json', 'get', 'call', 'callstatic', 'tostring',
	'destruct', 'construct', 'method', 'included', 'userfunc', 'arrow'];
foreach ($names as $at => $name) {
	$file = "$argv[3]/made_$name.php";
	file_put_contents($file, '<?php' . str_repeat("\n", 100 + 20 * $at) . <<<"END"
		function spin_$name(...\$unused) {
			note('spin_$name', __LINE__ + 1);
			for (\$i = 0, \$s = 0; \$i < LOOPS; \$i++) { \$s = (\$s + \$i * \$i) & 65535; }
			return '1';
		}
		END);
	include $file;
}
file_put_contents("$argv[3]/include.php", "<?php\n\n\nspin_included();\n");

function recurse($n) { return $n ? recurse($n - 1) : spin_recursion(); }
function generate() { for ($i = 0; $i < 1; $i++) { yield spin_generator(); } }
function inner() { yield spin_delegate(); }
function outer() { yield from inner(); }
function fail($n)
{
	if ($n)
		return fail($n - 1);
	spin_exception();
	throw new Exception('x');
}
function finish()
{
	try {
		throw new Exception('y');
	} finally {
		spin_finally();
	}
}
class Json implements JsonSerializable
{
	public function jsonSerialize(): mixed { return spin_json(); }
}
class Magic
{
	public function __get($name) { return spin_get(); }
	public function __call($name, $args) { return spin_call(); }
	public static function __callStatic($name, $args) { return spin_callstatic(); }
	public function __toString(): string { return spin_tostring(); }
	public function method() { return spin_method(); }
}
class Life
{
	public function __construct() { spin_construct(); }
}
class Death
{
	public function __destruct() { spin_destruct(); }
}
class Derived extends Magic {}

function compare($a, $b)
{
	spin_usort();
	return $a <=> $b;
}

function all($folder)
{
	spin_plain();
	recurse(40);
	$f = function () { return spin_closure(); };
	$f();
	foreach (generate() as $x)
		;
	foreach (outer() as $x)
		;
	try {
		fail(3);
	} catch (Exception $e) {
	}
	try {
		finish();
	} catch (Exception $e) {
	}
	$two = [2, 1];
	usort($two, 'compare');
	array_map('spin_map', [1]);
	preg_replace_callback('/a/', 'spin_replace', 'a');
	json_encode([new Json]);
	$magic = new Derived;
	$magic->member;
	$magic->unknown();
	Magic::unknown();
	"$magic";
	$magic->method();
	new Death;
	new Life;
	include "$folder/include.php";
	call_user_func('spin_userfunc');
	(fn() => spin_arrow())();
}

function used()
{
	$r = getrusage();
	return $r['ru_utime.tv_sec'] + $r['ru_utime.tv_usec'] / 1e6;
}
$end = used() + $argv[1];
while (used() < $end)
	all($argv[3]);
file_put_contents($argv[2], json_encode($TRUTH));
