# What reads pictures in formats of others: libpng, libjpeg (libjpeg-turbo's), and FFmpeg's libraries for video.
# STORMCELL_PICTURE_LIBRARIES are those that are whole; a source that uses one is compiled with its STORMCELL_WITH_...,
# by stormcell_picture_sources(SOURCE...). FFmpeg's are loaded by the program when it opens a video
# (core/formats/video.cpp): only tests, which write videos, link STORMCELL_VIDEO_LIBRARIES.
set(STORMCELL_PICTURE_LIBRARIES)
set(STORMCELL_VIDEO_LIBRARIES)
set(STORMCELL_PICTURE_DEFINITIONS)
stormcell_whole(STORMCELL_PNG FIND PNG TARGETS PNG::PNG
  SOURCE "#include <png.h>\nint main() { return png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, \
nullptr) == nullptr; }")
if(STORMCELL_PNG)
  find_package(PNG REQUIRED QUIET)
  list(APPEND STORMCELL_PICTURE_LIBRARIES PNG::PNG)
  list(APPEND STORMCELL_PICTURE_DEFINITIONS STORMCELL_WITH_PNG)
else()
  stormcell_left_out("reading of PNG" "libpng (libpng-dev): ${STORMCELL_PNG_REASON}")
endif()
stormcell_whole(STORMCELL_JPEG FIND JPEG TARGETS JPEG::JPEG
  SOURCE "#include <cstdio>\n#include <jpeglib.h>\n\
int main() { jpeg_decompress_struct j{}; jpeg_error_mgr e{}; j.err = jpeg_std_error(&e); jpeg_create_decompress(&j); \
jpeg_mem_src(&j, nullptr, 0); }")
if(STORMCELL_JPEG)
  find_package(JPEG REQUIRED QUIET)
  list(APPEND STORMCELL_PICTURE_LIBRARIES JPEG::JPEG)
  list(APPEND STORMCELL_PICTURE_DEFINITIONS STORMCELL_WITH_JPEG)
else()
  stormcell_left_out("reading of JPEG" "libjpeg (libjpeg62-turbo-dev): ${STORMCELL_JPEG_REASON}")
endif()
# What has video needs all four.
if(STORMCELL_READ_VIDEO)
  pkg_check_modules(FFMPEG QUIET IMPORTED_TARGET libavformat>=59 libavcodec>=59 libavutil>=57 libswscale>=6)
else()
  set(FFMPEG_FOUND OFF)
endif()
stormcell_whole(STORMCELL_VIDEO NEEDS FFMPEG_FOUND LIBRARIES ${FFMPEG_LINK_LIBRARIES} INCLUDES ${FFMPEG_INCLUDE_DIRS}
  SOURCE "extern \"C\" {\n#include <libavcodec/avcodec.h>\n#include <libavformat/avformat.h>\n\
#include <libavutil/display.h>\n#include <libswscale/swscale.h>\n}
int main() { AVFormatContext* f = avformat_alloc_context(); avcodec_alloc_context3(nullptr); \
av_display_rotation_get(nullptr); sws_freeContext(nullptr); avformat_free_context(f); }")
if(STORMCELL_VIDEO)
  list(APPEND STORMCELL_VIDEO_LIBRARIES PkgConfig::FFMPEG)
  list(APPEND STORMCELL_PICTURE_DEFINITIONS STORMCELL_WITH_VIDEO)
else()
  stormcell_left_out("reading of video"
    "FFmpeg's libraries (libavformat-dev, libavcodec-dev, libswscale-dev): ${STORMCELL_VIDEO_REASON}")
endif()

function(stormcell_picture_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS "${STORMCELL_PICTURE_DEFINITIONS}")
endfunction()
