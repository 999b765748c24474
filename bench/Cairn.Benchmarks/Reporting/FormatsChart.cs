using Cairn.HitRate;

namespace Cairn.Benchmarks.Reporting;

/// <summary>
/// Draws how long a list takes to be serialized, written to a server, read from it and deserialized, one bar for each format. In the report, a row's
/// subject is the format, and what it is against is the step, "total", or "1 byte" for the size. All are medians, so the steps do not add up exactly to the
/// total.
/// </summary>
internal static class FormatsChart
{
    private const int BarsLeft = 168;
    private const int BarsWidth = 330;
    private const int BarHeight = 14;
    private const int Step = 22;

    private static readonly string[] _steps = ["serialize", "write", "read", "deserialize"];
    private static readonly string[] _kinds = ["first", "second", "third", "fourth"];

    public static string ToSvg(Report report)
    {
        var picture = new Picture("What a list takes to be written and read", "Time of one list, and its bytes: shorter is better. Each group has its own scale.");
        for (int step = 0; step < _steps.Length; step++)
        {
            picture.Bar(BarsLeft + (step * 110), picture.Y - 11, 12, 12, _kinds[step]);
            picture.Text(BarsLeft + 18 + (step * 110), picture.Y, _steps[step], "soft");
        }

        picture.Y += 36;
        foreach (var records in report.Rows.GroupBy(row => row.Case))
        {
            picture.Heading($"{records.Key}, through Redis");
            picture.Y += 12;
            double longest = records.GroupBy(row => row.Subject).Max(TotalNs);
            foreach (var format in records.GroupBy(row => row.Subject))
            {
                picture.Text(BarsLeft - 10, picture.Y + 12, format.Key, "label");
                double x = BarsLeft;
                for (int step = 0; step < _steps.Length; step++)
                {
                    double length = BarsWidth * NsOf(format, _steps[step]) / longest;
                    picture.Bar(x, picture.Y, length, BarHeight, _kinds[step]);
                    x += length;
                }

                string value = $"{Picture.Time(TotalNs(format))}, {Picture.Size(BytesOf(format))}";
                picture.Text(x + 8, picture.Y + 12, value, "value");
                picture.Describe($"{records.Key}, {format.Key}: {value}.");
                picture.Y += Step;
            }

            picture.Y += 28;
        }

        return picture.ToSvg([$"{report.Command} at {report.Commit} on {report.Date}", report.Machine]);
    }

    /// <summary>Returns the rows of the table of one number of records, in Markdown.</summary>
    public static IEnumerable<string> Table(Report report, string records)
    {
        yield return $"| {records} | bytes | serialize | write | read | deserialize | total | allocated, writing | reading |";
        yield return "|---|---|---|---|---|---|---|---|---|";
        foreach (var format in report.Rows.Where(row => row.Case == records).GroupBy(row => row.Subject))
        {
            string times = string.Join(" | ", _steps.Select(step => Picture.Time(NsOf(format, step))));
            string allocated = $"{Picture.Size(RowOf(format, "serialize").BytesAllocated ?? 0)} | {Picture.Size(RowOf(format, "deserialize").BytesAllocated ?? 0)}";
            yield return Picture.Invariant($"| {format.Key} | {BytesOf(format):#,0} | {times} | {Picture.Time(TotalNs(format))} | {allocated} |");
        }
    }

    private static ReportRow RowOf(IEnumerable<ReportRow> format, string step) => format.Single(row => row.Against == step);

    private static double NsOf(IEnumerable<ReportRow> format, string step) => RowOf(format, step).WallNs!.Value;

    private static double TotalNs(IEnumerable<ReportRow> format) => NsOf(format, "total");

    private static double BytesOf(IEnumerable<ReportRow> format) => RowOf(format, "1 byte").Ratio!.Value;
}
