// A widget whose inside is drawn by a Dear ImGui frame function. Draws on demand: idle costs nothing.
#pragma once
#include <QImage>
#include <QWidget>

#include "views/drawing/imgui/host.h"
#include "views/drawing/imgui/raster.h"

namespace stormcell::views {

class ImGuiWidget : public QWidget {
  Q_OBJECT
 public:
  explicit ImGuiWidget(QWidget* parent = nullptr);
  /// Called within a frame; `frame` opens its own ImGui windows.
  void set_frame(std::function<void()> frame) { host_.set_frame(std::move(frame)); }
  /// The state behind the frame has changed.
  void refresh();
  int frames() const { return frames_; }
  QSize sizeHint() const override { return {800, 500}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// `ratio`: pixels per unit of the target, a screen or an exported picture.
  void draw(double ratio);
  ImGuiHost host_;
  ImGuiAtlas atlas_;
  QImage image_;
  double font_ratio_ = 0;
  int font_pixels_ = 0;
  int frames_ = 0;
};

/// The whole widget as one ImGui window without a frame; ends with ImGui::End().
bool begin_whole_window(const char* name);
/// Text in the larger font.
void heading(const QByteArray& utf8);

}  // namespace stormcell::views
