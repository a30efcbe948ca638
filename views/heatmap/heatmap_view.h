// The heatmap with its controls, one router over time below it, and the time strip.
#pragma once
#include "views/drawing/time_strip.h"
#include "views/frame/view.h"
#include "views/heatmap/heatmap_picture.h"

class QCheckBox;
class QComboBox;
class QLineEdit;
class QDoubleSpinBox;
class QToolButton;

namespace stormcell::views {

class HeatmapView : public View {
  Q_OBJECT
 public:
  explicit HeatmapView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return content_; }

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override;
  QStringList remarks() const override;
  bool keeps_controls() const override { return !data_.unlike.isEmpty(); }

 private:
  struct Data {
    std::shared_ptr<const LoadWindows> all, fine, other, other_fine;
    LoadChances chances;  ///< of the main run
    std::shared_ptr<const CellTrail> trail;
    std::optional<CellPlace> trail_of;  ///< also where there was none
    bool compared = false;              ///< true: it was checked whether the other run is of this model
    QString unlike;                     ///< the refusal if it is not
  };
  // The constructor's parts.
  void add_choices();
  void add_controls();
  void add_picture();
  void connect_controls();
  void connect_picture();

  // Shows the data that were read.
  void show_data();
  void show_strip();
  /// Disables choices that the run keeps no data for.
  void allow_what_is_kept();
  /// The chosen options; if runs cannot be subtracted, they are shown side by side, as remarks() says.
  HeatOptions shown_options() const;
  std::vector<HeatmapPicture::Panel> make_panels(HeatOptions shown);
  /// Words if the map shows fewer batches than the data have; empty: it shows all.
  QString part_text() const;
  /// The chosen router, or the first ones while none is chosen.
  std::vector<RouterOverTime> over_time(bool padding) const;
  static QString trail_text(const CellTrail& trail);
  /// True if the range is short enough to be read again from a finer level.
  static bool wants_fine(const Data& known, const Selection& selection);
  /// The windows for the selected range: finer ones if it is short.
  const LoadWindows& windows() const;
  const LoadWindows& other_windows() const;
  bool fine_fits() const;
  HeatOptions options() const;
  /// True if only one of two shown runs has padding among its cells: the other did not compute it, or had none.
  bool padding_in_one_run_only() const;
  void follow();

  QWidget* content_;
  HeatmapPicture* picture_;
  TimeStrip* strip_;
  QComboBox *metric_, *scale_, *order_, *pair_;
  QCheckBox* padding_;
  QDoubleSpinBox* high_;
  QLineEdit* cell_;
  QToolButton* play_;
  Data data_;
  Context context_;
  Selection selection_;
};

}  // namespace stormcell::views
