// The caption below a picture.
#include "views/frame/caption.h"

#include <QImage>
#include <QPainter>

#include "tests/testing/testing.h"

namespace stormcell::views {

class CaptionTest : public QObject {
  Q_OBJECT
 private slots:
  void a_caption_says_where_a_picture_comes_from() {
    Context context;
    auto session = std::make_shared<SessionOverview>();
    session->model = "/models/switch-base-8";
    session->runs.push_back({.id = 2, .kind = "optimize", .started = "2026-11-03T08:09:10Z"});
    context.session = session;
    context.main.file = "/somewhere/a.storm", context.main.run = 2, context.main.title = "a.storm #2 optimize";
    context.other.file = "/somewhere/b.storm", context.other.run = 1, context.other.title = "b.storm #1 run";
    Selection selection;
    selection.first_batch = 3, selection.end_batch = 9, selection.label = "fr", selection.router = "some";
    const QStringList all = {"switch-base-8", "a.storm #2 optimize", "2026-11-03 08:09 UTC"};
    QCOMPARE(caption_of(context, {}, Part::range, {}).parts, all);
    // The caption has the heeded parts; a router only marks.
    QCOMPARE(caption_of(context, selection, Part::range | Part::other, {}).parts,
             all + QStringList({"against b.storm #1 run", "batches 3 to 8"}));
    const Caption caption = caption_of(context, selection, Part::range, "Not applied here: label fr.");
    QCOMPARE(lines_of(caption).size(), 2);
    QVERIFY(lines_of(caption)[1].contains("label fr"));
    QCOMPARE(caption_height({}, QFont()), 0);
    QVERIFY(lines_of(caption_of({}, {}, Part::range, {})).isEmpty());
  }

  void a_caption_stays_in_its_strip() {
    const Caption caption{{"a model", QString(300, 'w') + ".storm #1 run", "2026-11-03 08:09 UTC"}, QString(400, 'x')};
    for (const Theme* theme : {&Theme::light(), &Theme::dim()})
      for (const int width : {1600, 300}) {
        const int height = caption_height(caption, QFont());
        QImage image(width, 100 + height, QImage::Format_RGB32);
        image.fill(Qt::magenta);
        QPainter p(&image);
        paint_caption(p, QRectF(0, 100, width, height), caption, QFont(), *theme);
        p.end();
        int readable = 0;
        for (int y = 0; y < image.height(); ++y)
          for (int x = 0; x < width; ++x) {
            const QColor at = image.pixelColor(x, y);
            QCOMPARE(at == QColor(Qt::magenta), y < 100);
            if (y < 100) continue;
            QVERIFY((x >= 11 && x < width - 11) || at == theme->background);
            readable += contrast(at, theme->background) >= 4.5;
          }
        QVERIFY2(readable > width / 5, qPrintable(QString::number(readable)));
      }
  }
};
STORMCELL_TEST(CaptionTest)

}  // namespace stormcell::views
#include "caption_test.moc"
