#include "views/drawing/imgui/host.h"

#include <imgui.h>

#include <QClipboard>
#include <QFile>
#include <QFontInfo>
#include <QGuiApplication>
#include <QHash>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QSet>
#include <QWheelEvent>
#include <QWidget>
#include <algorithm>
#include <cstring>

#include "views/drawing/theme.h"

namespace stormcell::views {
namespace {

const QHash<int, ImGuiKey>& key_table() {
  static const QHash<int, ImGuiKey> table{{Qt::Key_Tab, ImGuiKey_Tab},
                                          {Qt::Key_Backtab, ImGuiKey_Tab},
                                          {Qt::Key_Left, ImGuiKey_LeftArrow},
                                          {Qt::Key_Right, ImGuiKey_RightArrow},
                                          {Qt::Key_Up, ImGuiKey_UpArrow},
                                          {Qt::Key_Down, ImGuiKey_DownArrow},
                                          {Qt::Key_PageUp, ImGuiKey_PageUp},
                                          {Qt::Key_PageDown, ImGuiKey_PageDown},
                                          {Qt::Key_Home, ImGuiKey_Home},
                                          {Qt::Key_End, ImGuiKey_End},
                                          {Qt::Key_Insert, ImGuiKey_Insert},
                                          {Qt::Key_Delete, ImGuiKey_Delete},
                                          {Qt::Key_Backspace, ImGuiKey_Backspace},
                                          {Qt::Key_Space, ImGuiKey_Space},
                                          {Qt::Key_Return, ImGuiKey_Enter},
                                          {Qt::Key_Enter, ImGuiKey_KeyPadEnter},
                                          {Qt::Key_Escape, ImGuiKey_Escape},
                                          {Qt::Key_A, ImGuiKey_A},
                                          {Qt::Key_C, ImGuiKey_C},
                                          {Qt::Key_V, ImGuiKey_V},
                                          {Qt::Key_X, ImGuiKey_X},
                                          {Qt::Key_Y, ImGuiKey_Y},
                                          {Qt::Key_Z, ImGuiKey_Z}};
  return table;
}

int button_index(Qt::MouseButton button) {
  return button == Qt::LeftButton ? 0 : button == Qt::RightButton ? 1 : button == Qt::MiddleButton ? 2 : -1;
}

ImVec4 vec(const QColor& c) {
  return {static_cast<float>(c.redF()), static_cast<float>(c.greenF()), static_cast<float>(c.blueF()),
          static_cast<float>(c.alphaF())};
}

}  // namespace

ImGuiHost::ImGuiHost(QWidget* widget) : widget_(widget) {
  ImGuiContext* before = ImGui::GetCurrentContext();
  context_ = ImGui::CreateContext();
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors | ImGuiBackendFlags_RendererHasVtxOffset;
  for (const ImGuiKey key : key_table()) io.KeyMap[key] = key;
  io.SetClipboardTextFn = [](void*, const char* text) {
    QGuiApplication::clipboard()->setText(QString::fromUtf8(text));
  };
  io.GetClipboardTextFn = [](void*) -> const char* {
    static thread_local QByteArray text;
    text = QGuiApplication::clipboard()->text().toUtf8();
    return text.constData();
  };
  apply_theme();
  clock_.start();
  if (before) ImGui::SetCurrentContext(before);
}

ImGuiHost::~ImGuiHost() { ImGui::DestroyContext(context_); }

void ImGuiHost::make_current() const { ImGui::SetCurrentContext(context_); }

void ImGuiHost::apply_theme() {
  const Theme& theme = Theme::of(widget_->palette());
  theme.dark ? ImGui::StyleColorsDark() : ImGui::StyleColorsLight();
  ImGuiStyle& s = ImGui::GetStyle();
  s.WindowBorderSize = 0;
  s.FrameRounding = 3;
  s.WindowPadding = {12, 10};
  s.ItemSpacing = {8, 7};
  s.Colors[ImGuiCol_WindowBg] = vec(theme.background);
  s.Colors[ImGuiCol_Text] = vec(theme.text);
  s.Colors[ImGuiCol_TextDisabled] = vec(theme.faint);
  s.Colors[ImGuiCol_FrameBg] = vec(theme.surface);
  s.Colors[ImGuiCol_PopupBg] = s.Colors[ImGuiCol_TableHeaderBg] = vec(theme.surface);
  s.Colors[ImGuiCol_TableBorderLight] = s.Colors[ImGuiCol_TableBorderStrong] = vec(theme.grid);
  s.Colors[ImGuiCol_Border] = s.Colors[ImGuiCol_Separator] = vec(theme.grid);
  s.Colors[ImGuiCol_CheckMark] = s.Colors[ImGuiCol_SliderGrab] = s.Colors[ImGuiCol_NavHighlight] = vec(theme.accent);
  QColor button = theme.accent;
  button.setAlphaF(0.25f);
  s.Colors[ImGuiCol_Button] = vec(button);
  button.setAlphaF(0.4f);
  s.Colors[ImGuiCol_ButtonHovered] = s.Colors[ImGuiCol_FrameBgHovered] = vec(button);
  s.FrameBorderSize = 1;
}

void ImGuiHost::load_font(double ratio) {
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  ImFontConfig config;
  // Never 0: the library's own checks would end the program.
  const auto pixels = static_cast<float>(std::max(8.0, QFontInfo(widget_->font()).pixelSize() * ratio));
  QFile file(":/fonts/DejaVuSans.ttf");
  const QByteArray data = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  // The text's size, and a larger one for headings: a scaled glyph is blurred.
  for (const float size : {pixels, 1.7f * pixels}) {
    if (data.isEmpty()) {
      config.SizePixels = size;
      io.Fonts->AddFontDefault(&config);
      continue;
    }
    void* copy = ImGui::MemAlloc(static_cast<size_t>(data.size()));  // the atlas frees it
    std::memcpy(copy, data.constData(), static_cast<size_t>(data.size()));
    io.Fonts->AddFontFromMemoryTTF(copy, static_cast<int>(data.size()), size, &config);
  }
  io.FontGlobalScale = static_cast<float>(1 / ratio);
}

ImDrawData* ImGuiHost::build_frame(double ratio) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(widget_->width()), static_cast<float>(widget_->height())};
  io.DisplayFramebufferScale = {static_cast<float>(ratio), static_cast<float>(ratio)};
  // Not clamped: two slow clicks across an idle gap must not become a double click.
  io.DeltaTime = std::max(1e-5f, static_cast<float>(static_cast<double>(clock_.nsecsElapsed()) * 1e-9));
  clock_.restart();
  apply_input();
  ImGui::NewFrame();
  if (frame_) frame_();
  ImGui::Render();
  switch (ImGui::GetMouseCursor()) {
    case ImGuiMouseCursor_TextInput:
      widget_->setCursor(Qt::IBeamCursor);
      break;
    case ImGuiMouseCursor_ResizeEW:
      widget_->setCursor(Qt::SizeHorCursor);
      break;
    case ImGuiMouseCursor_Hand:
      widget_->setCursor(Qt::PointingHandCursor);
      break;
    default:
      widget_->unsetCursor();
  }
  if (frames_left_ > 0) --frames_left_;
  if (ImGui::IsAnyMouseDown()) frames_left_ = std::max(frames_left_, 1);
  return ImGui::GetDrawData();
}

void ImGuiHost::apply_input() {
  ImGuiIO& io = ImGui::GetIO();
  bool button_touched[5] = {}, clicked = false, wheeled = false, typed = false;
  QSet<int> keys_touched;
  while (!queue_.empty()) {
    const Input& in = queue_.front();
    if (in.kind == Input::move && (clicked || wheeled)) break;
    if (in.kind == Input::button && button_touched[in.code]) break;
    if (in.kind == Input::key && (keys_touched.contains(in.code) || typed)) break;
    switch (in.kind) {
      case Input::move:
        io.MousePos = {static_cast<float>(in.at.x()), static_cast<float>(in.at.y())};
        break;
      case Input::button:
        io.MousePos = {static_cast<float>(in.at.x()), static_cast<float>(in.at.y())};
        io.MouseDown[in.code] = in.down;
        button_touched[in.code] = clicked = true;
        break;
      case Input::wheel:
        io.MouseWheelH += static_cast<float>(in.at.x());
        io.MouseWheel += static_cast<float>(in.at.y());
        wheeled = true;
        break;
      case Input::key:
        if (in.code >= 0) {
          io.KeysDown[in.code] = in.down;
          keys_touched.insert(in.code);
        }
        io.KeyCtrl = in.modifiers.testFlag(Qt::ControlModifier);
        io.KeyShift = in.modifiers.testFlag(Qt::ShiftModifier);
        io.KeyAlt = in.modifiers.testFlag(Qt::AltModifier);
        break;
      case Input::text:
        io.AddInputCharactersUTF8(in.typed.constData());
        typed = true;
        break;
    }
    queue_.pop_front();
  }
  if (!queue_.empty()) wake();
}

void ImGuiHost::take_move(QPointF at) {
  if (!queue_.empty() && queue_.back().kind == Input::move)
    queue_.back().at = at;
  else
    queue_.push_back({Input::move, 0, false, at, {}, {}});
}

bool ImGuiHost::take_button(const QMouseEvent& event) {
  const int button = button_index(event.button());
  if (button < 0) return false;
  queue_.push_back({Input::button, button, event.type() != QEvent::MouseButtonRelease, event.position(), {}, {}});
  return true;
}

void ImGuiHost::take_wheel(const QWheelEvent& event) {
  queue_.push_back({Input::move, 0, false, event.position(), {}, {}});
  queue_.push_back({Input::wheel, 0, false, QPointF(event.angleDelta()) / 120.0, {}, event.modifiers()});
}

void ImGuiHost::take_key(const QKeyEvent& event) {
  const bool press = event.type() == QEvent::KeyPress;
  const auto known = key_table().constFind(event.key());
  queue_.push_back(
      {Input::key, known == key_table().cend() ? -1 : static_cast<int>(*known), press, {}, {}, event.modifiers()});
  if (press && !event.modifiers().testFlag(Qt::ControlModifier) && !event.text().isEmpty() &&
      event.text().at(0).isPrint())
    queue_.push_back({Input::text, 0, false, {}, event.text().toUtf8(), {}});
}

/// Releases all keys and buttons: their release happens elsewhere and is not seen here.
void ImGuiHost::forget_input() {
  ImGuiIO& io = ImGui::GetIO();
  queue_.clear();
  std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
  std::fill(std::begin(io.MouseDown), std::end(io.MouseDown), false);
  io.KeyCtrl = io.KeyShift = io.KeyAlt = false;
}

bool ImGuiHost::handle_event(QEvent* event) {
  make_current();
  const bool types = ImGui::GetIO().WantTextInput;
  bool consumed = true;
  switch (event->type()) {
    case QEvent::MouseMove:
      take_move(static_cast<QMouseEvent*>(event)->position());
      break;
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick:
    case QEvent::MouseButtonRelease:
      consumed = take_button(*static_cast<QMouseEvent*>(event));
      break;
    case QEvent::Wheel:
      take_wheel(*static_cast<QWheelEvent*>(event));
      break;
    case QEvent::ShortcutOverride:
      // While typing, Ctrl+A and the like belong to the text.
      if (types) event->accept();
      return types;
    case QEvent::KeyPress:
    case QEvent::KeyRelease:
      take_key(*static_cast<QKeyEvent*>(event));
      consumed = types;
      break;
    case QEvent::Leave:
      queue_.push_back({Input::move, 0, false, QPointF(-3e38, -3e38), {}, {}});
      consumed = false;
      break;
    case QEvent::FocusOut:
      forget_input();
      consumed = false;
      break;
    case QEvent::FocusIn:
      consumed = false;
      break;
    case QEvent::PaletteChange:
      apply_theme();
      consumed = false;
      break;
    default:
      return false;
  }
  wake();
  widget_->update();
  return consumed;
}

}  // namespace stormcell::views
