// A verb of the program: name, description, options, execute.
#pragma once
#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace stormcell::cli {

class Console;

class Verb {
 public:
  virtual ~Verb() = default;
  virtual void add_options(CLI::App& app) = 0;
  /// Returns the exit code. Throws Error.
  virtual int execute(Console& console) = 0;
};

std::unique_ptr<Verb> make_inspect();
std::unique_ptr<Verb> make_run();
std::unique_ptr<Verb> make_generate();
std::unique_ptr<Verb> make_profile();
std::unique_ptr<Verb> make_optimize();
std::unique_ptr<Verb> make_what_if();
std::unique_ptr<Verb> make_import();
std::unique_ptr<Verb> make_recorder();
std::unique_ptr<Verb> make_merge();
std::unique_ptr<Verb> make_analyze();
std::unique_ptr<Verb> make_place();
std::unique_ptr<Verb> make_calibrate();
std::unique_ptr<Verb> make_simulate();
std::unique_ptr<Verb> make_export();
std::unique_ptr<Verb> make_report();
std::unique_ptr<Verb> make_compare();
std::unique_ptr<Verb> make_diff();
std::unique_ptr<Verb> make_drift();
std::unique_ptr<Verb> make_cache();
std::unique_ptr<Verb> make_patterns();
std::unique_ptr<Verb> make_saturation();
std::unique_ptr<Verb> make_batch();
std::unique_ptr<Verb> make_doctor();
std::unique_ptr<Verb> make_measure_again();

}  // namespace stormcell::cli
