// One Dear ImGui context for one widget: Qt events in, draw lists out. No OpenGL.
//
// ImGui 1.86 (Debian 12) samples input once a frame. Events are queued, and a second change of the same button or key
// waits for the next frame, so that no fast click is lost.
#pragma once
#include <QByteArray>
#include <QElapsedTimer>
#include <QPointF>
#include <deque>
#include <functional>

class QEvent;
class QKeyEvent;
class QMouseEvent;
class QWheelEvent;
class QWidget;
struct ImDrawData;
struct ImGuiContext;

namespace stormcell::views {

class ImGuiHost {
 public:
  explicit ImGuiHost(QWidget* widget);
  ~ImGuiHost();
  ImGuiHost(const ImGuiHost&) = delete;
  ImGuiHost& operator=(const ImGuiHost&) = delete;

  void set_frame(std::function<void()> frame) { frame_ = std::move(frame); }
  void make_current() const;
  /// Colours and font from the widget; call it with the context current.
  void apply_theme();
  void load_font(
      double ratio);  ///< `ratio`: pixels a unit; the first of the atlas is the text's, the second one for headings
  /// One frame: queued input, the frame function, draw lists.
  ImDrawData* build_frame(double ratio);
  /// True where ImGui wants the event for itself.
  bool handle_event(QEvent* event);
  bool wants_more_frames() const { return frames_left_ > 0; }
  void wake() { frames_left_ = 3; }

 private:
  struct Input {
    enum Kind { move, button, wheel, key, text } kind;
    int code = 0;
    bool down = false;
    QPointF at;
    QByteArray typed;
    Qt::KeyboardModifiers modifiers;
  };
  void apply_input();
  void take_move(QPointF at);
  bool take_button(const QMouseEvent& event);
  void take_wheel(const QWheelEvent& event);
  void take_key(const QKeyEvent& event);
  void forget_input();

  QWidget* widget_;
  ImGuiContext* context_;
  std::function<void()> frame_;
  QElapsedTimer clock_;
  std::deque<Input> queue_;
  int frames_left_ = 3;
};

}  // namespace stormcell::views
