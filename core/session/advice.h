// Advice in errors about sessions.
#pragma once
#include <string_view>

namespace stormcell {

inline constexpr std::string_view
    kCheckPath = "check the path",
    kCheckPermissions = "check its permissions", kCopyAgain = "copy it again from where it was recorded",
    kNameSession = "name a file that run, profile, optimize, generate or import wrote with -o",
    kRecordOne = "record one: profile MODEL --data DATA -o S.storm",
    kChooseAnother = "choose another file for -o: an existing file is written to only if it is a session",
    kListRuns = "stormcell inspect S.storm lists them";

}  // namespace stormcell
