# SPDX-License-Identifier: GPL-2.0-or-later
# Spins in methods that are called in many ways, equally long, for SECONDS of processor
# time, and tells what it knows of that itself: for each method that spins, the line of
# its loop, how often it spun, and the chains of its callers (caller_locations).
#
#     ruby ruby_scenes.rb SECONDS FILE FOLDER
require 'json'

LOOPS = 400_000			# longer than the tick of timers
TRUTH = {}
# Methods written in C, which caller_locations lists with their caller's place.
IN_C = %w[each map times sort sort_by gsub instance_eval send call inject catch to_s
          initialize new method_missing join require load resume instance_exec upto step eval to_json]

def note(name, line)
  t = TRUTH[name] ||= { line: line, cpu: 0, chains: [] }
  t[:cpu] += 1
  all = caller_locations(2)
  chain = all.each_with_index.reject { |l, i|
    n = all[i + 1]
    l.lineno == 0 || n && IN_C.include?(l.label) && n.path == l.path && n.lineno == l.lineno
  }.map { |l, _| [l.label, l.absolute_path || l.path, l.lineno] }
  t[:chains] << chain unless t[:chains].include?(chain)
end

names = %w[plain recursion block proc lambda times sort gsub inject send missing
           instance_eval define ensure rescue retry catch fiber enumerator thread
           initialize tap json long loaded eval super yield]
names.each_with_index do |name, at|
  file = "#{ARGV[2]}/made_#{name}.rb"
  File.write(file, "\n" * (100 + 20 * at) + <<~END)
    def spin_#{name}(*unused)
      note('spin_#{name}', __LINE__ + 2)
      i = s = 0
      while i < LOOPS do s = (s + i * i) & 65535; i += 1 end
      '1'
    end
  END
  require file
end
File.write("#{ARGV[2]}/load.rb", "\n\n\nspin_loaded\n")

# Its later instructions are beyond the directly indexed ones, and beyond one block.
eval("def long\n" + "  x = [1, 2, 3].size\n" * 600 + "  spin_long\n" +
     "  x = [1, 2, 3].size\n" * 10 + "end\n", binding, "#{ARGV[2]}/long.rb", 1)

def recurse(n)
  n > 0 ? recurse(n - 1) : spin_recursion
end
def yielding
  yield
end
class Magic
  def method_missing(name, *args)
    spin_missing
  end
  def respond_to_missing?(*)
    true
  end
  define_method(:defined) { spin_define }
  def over
    spin_super
  end
  def to_json(*args)
    spin_json
  end
end
class Derived < Magic
  def initialize
    spin_initialize
  end
  def over
    super
  end
end
def fail_later(n)
  raise 'x' if n == 0
  fail_later(n - 1)
ensure
  spin_ensure if n == 3
end

def all
  spin_plain
  recurse(40)
  [1].each { |x| spin_block }
  proc { spin_proc }.call
  lambda { spin_lambda }.call
  1.times { spin_times }
  [2, 1].sort { |a, b| spin_sort; a <=> b }
  'a'.gsub(/a/) { spin_gsub }
  [1, 2].inject { |a, b| spin_inject; a }
  send(:spin_send)
  magic = Derived.new
  magic.unknown
  magic.instance_eval { spin_instance_eval }
  magic.defined
  magic.over
  [magic].to_json
  begin
    fail_later(3)
  rescue RuntimeError
    spin_rescue
  end
  tries = 0
  begin
    tries += 1
    raise 'y' if tries < 2
    spin_retry
  rescue RuntimeError
    retry
  end
  catch(:done) { spin_catch; throw :done }
  Fiber.new { spin_fiber }.resume
  Enumerator.new { |y| spin_enumerator; y << 1 }.next
  Thread.new { spin_thread }.join
  1.tap { spin_tap }
  long
  load "#{ARGV[2]}/load.rb"
  eval('spin_eval')
  yielding { spin_yield }
end

def used
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end
finish = used + ARGV[0].to_f
all while used < finish
File.write(ARGV[1], JSON.generate(TRUTH))
