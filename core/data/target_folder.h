// The folder kTargetsFolder beside a folder of pictures: the target of each, in a file of the same name.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/data/sequence_source.h"

namespace stormcell {

/// Pictures in the formats and with the rules of any folder, each of its own size. Grey ones get the channels of the
/// model's pictures.
class TargetFolder {
 public:
  /// `channels`: those of the model's pictures.
  TargetFolder(std::string folder, int64_t channels) : folder_(std::move(folder)), channels_(channels) {}

  /// Looks at the target of the picture that is called so, decoding it once. Error(bad_input) that names its file: it
  /// is not there, or is no picture that can be read.
  void add(const std::string& name);
  std::string path_of(const std::string& name) const;
  /// Index in the order of adding.
  const TargetPicture& outline(int64_t index) const { return of(index).outline; }
  /// Error(bad_input): it has changed since.
  TargetPicture picture(int64_t index) const;

 private:
  struct Target {
    std::string name;
    TargetPicture outline;
  };
  const Target& of(int64_t index) const { return targets_[index]; }
  TargetPicture read(const std::string& name) const;

  std::string folder_;
  int64_t channels_;
  std::vector<Target> targets_;
};

}  // namespace stormcell
