#include "views/drawing/imgui/widget.h"

#include <imgui.h>

#include <QEvent>
#include <QFontInfo>
#include <QPainter>
#include <QTimer>
#include <algorithm>

namespace stormcell::views {

ImGuiWidget::ImGuiWidget(QWidget* parent) : QWidget(parent), host_(this) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMinimumSize(200, 120);
}

void ImGuiWidget::refresh() {
  host_.wake();
  update();
}

void ImGuiWidget::draw(double ratio) {
  host_.make_current();
  const int pixels = QFontInfo(font()).pixelSize();
  if (font_ratio_ != ratio || font_pixels_ != pixels) {
    host_.load_font(ratio);
    ImGuiIO& io = ImGui::GetIO();
    io.Fonts->Flags |= ImFontAtlasFlags_NoBakedLines;  // lines become quads, which are cheap here
    unsigned char* texels = nullptr;
    io.Fonts->GetTexDataAsAlpha8(&texels, &atlas_.width, &atlas_.height);
    atlas_.texels.assign(texels, texels + static_cast<size_t>(atlas_.width) * static_cast<size_t>(atlas_.height));
    io.Fonts->SetTexID(this);
    font_ratio_ = ratio, font_pixels_ = pixels;
  }
  const QSize size = (QSizeF(this->size()) * ratio).toSize();
  if (image_.size() != size) image_ = QImage(size, QImage::Format_RGB32);
  image_.fill(palette().color(QPalette::Window));
  const ImDrawData* data = host_.build_frame(ratio);
  rasterize(*data, atlas_, image_);
  ++frames_;
}

void ImGuiWidget::paintEvent(QPaintEvent*) {
  QPainter p(this);
  // A picture has a scale of its own, which the widget does not know.
  const double ratio = std::max(devicePixelRatioF(), std::min(8.0, p.deviceTransform().m11()));
  const bool other_sizes = frames_ == 0 || ratio != font_ratio_;
  draw(ratio);
  // Sizes that ImGui measures in one frame are used in the next: a picture that is drawn once must be of the second.
  if (other_sizes) draw(ratio);
  p.drawImage(rect(), image_);
  if (host_.wants_more_frames() && isVisible()) QTimer::singleShot(16, this, qOverload<>(&QWidget::update));
}

bool ImGuiWidget::event(QEvent* event) {
  if (host_.handle_event(event)) {
    event->accept();
    return true;
  }
  return QWidget::event(event);
}

bool begin_whole_window(const char* name) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  return ImGui::Begin(name, nullptr,
                      ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                          ImGuiWindowFlags_NoBringToFrontOnFocus);
}

void heading(const QByteArray& utf8) {
  ImGui::PushFont(ImGui::GetIO().Fonts->Fonts[1]);
  ImGui::TextUnformatted(utf8.constData());
  ImGui::PopFont();
}

}  // namespace stormcell::views
