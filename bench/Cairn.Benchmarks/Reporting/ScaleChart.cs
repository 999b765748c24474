using System.Text.Json;
using Cairn.HitRate;

namespace Cairn.Benchmarks.Reporting;

/// <summary>Draws the curves of docs/scale.md, and fills its tables, from the findings of <c>bench/run scale</c>.</summary>
internal static class ScaleChart
{
    private const int Left = 70;
    private const int Right = 485;
    private const int PanelHeight = 150;
    private const double MostMachines = 1_000;

    private static readonly string[] _kinds = ["first", "second", "fourth"];

    /// <summary>Draws the messages for each change, the work of the server, and the hits in memory, over the number of machines.</summary>
    public static string ToSvg(JsonElement rows)
    {
        var picture = new Picture("One server, 1 to 1,000 machines", "20 calls a second for 200 keys on each machine. One of a hundred changes its key.");
        (string Name, JsonElement[] Points)[] ways =
        [
            .. new[] { "publish", "track prefixes", "track keys" }.Select(way => (way, PointsOf(rows, way, 1))),
        ];
        Panel(picture, "Messages to machines for each change", ways, "messagesPerChange", 0.1, 10_000, value => value >= 10 ? Picture.Invariant($"{value:#,0}") : Picture.Invariant($"{value:0.#}"));
        Panel(picture, "How busy the server's thread is", ways, "busy", 0.0001, 1, value => value >= 0.1 ? Picture.Invariant($"{value * 100:0} %") : Picture.Invariant($"{value * 100:0.##} %"));
        Panel(
            picture,
            "Reads that memory answers, by the part of changes, with prefixes",
            [.. new[] { 0.1, 1, 10 }.Select(percent => (Picture.Invariant($"{percent} %"), PointsOf(rows, "track prefixes", percent)))],
            "hitRatio",
            0.001,
            1,
            value => Picture.Invariant($"{value * 100:0.#} %"));
        return picture.ToSvg(["bench/run scale: the simulator runs the real caches and clients over a model of Redis 7.0 with measured times. See docs/scale.md."]);
    }

    /// <summary>Returns the rows of a table in Markdown.</summary>
    public static IEnumerable<string> Table(JsonElement rows, string name) => name switch
    {
        "cluster" => ClusterTable(rows),
        "recovery" => RecoveryTable(rows),
        _ => MachinesTable(rows),
    };

    // A table for each curve, so that each is narrow enough for a phone.
    private static IEnumerable<string> MachinesTable(JsonElement rows)
    {
        var curves = rows.EnumerateArray().Where(row => Of(row, "shards") == 0 && !HasRecovery(row)).GroupBy(row => (Way: Text(row), Percent: Of(row, "changePercent")));
        foreach (var curve in curves)
        {
            yield return Picture.Invariant($"**{curve.Key.Way}, {curve.Key.Percent} % of the calls change a key**\n");
            yield return "| machines | changes / s | messages / change | server busy, % | hits in memory, % | factory runs / change |";
            yield return "|---|---|---|---|---|---|";
            foreach (JsonElement row in curve)
            {
                yield return Picture.Invariant($"| {Of(row, "machines"):#,0} | {Of(row, "changesPerSecond"):#,0.##} | {Of(row, "messagesPerChange"):#,0.#} | ")
                    + Picture.Invariant($"{Of(row, "busy") * 100:0.##} | {Of(row, "hitRatio") * 100:0.0} | {Of(row, "factoryRunsPerChange"):0.00} |");
            }

            yield return "";
        }
    }

    private static IEnumerable<string> ClusterTable(JsonElement rows)
    {
        yield return "| how | shards | messages / change | bytes / change | commands / s, all shards | the busiest shard |";
        yield return "|---|---|---|---|---|---|";
        foreach (JsonElement row in rows.EnumerateArray().Where(row => Of(row, "shards") > 0))
        {
            yield return Picture.Invariant(
                $"| {Text(row)} | {Of(row, "shards")} | {Of(row, "messagesPerChange"):#,0} | {Of(row, "bytesPerChange"):#,0} | {Of(row, "commandsPerSecond"):#,0} | {Of(row, "busy") * 100:0.##} % |");
        }
    }

    private static IEnumerable<string> RecoveryTable(JsonElement rows)
    {
        (JsonElement Row, JsonElement Recovery)[] cases = [.. rows.EnumerateArray().Where(HasRecovery).Select(row => (row, row.GetProperty("recovery")))];
        yield return "| machines | server gone for, ms | all receive changes after, ms | hits as before after, ms | most connections in 10 ms |";
        yield return "|---|---|---|---|---|";
        foreach ((JsonElement row, JsonElement recovery) in cases)
        {
            yield return Picture.Invariant(
                $"| {Of(row, "machines"):#,0} | {Of(recovery, "outageMs"):#,0} | {Of(recovery, "receivingMs"):#,0} | {Of(recovery, "hitRatioMs"):#,0} | {Of(recovery, "connectionsIn10Ms"):#,0} |");
        }

        yield return "\n| machines | server gone for, ms | commands in 100 ms (before) | server busy of 5 s, ms | factory runs | longest read, ms |";
        yield return "|---|---|---|---|---|---|";
        foreach ((JsonElement row, JsonElement recovery) in cases)
        {
            yield return Picture.Invariant($"| {Of(row, "machines"):#,0} | {Of(recovery, "outageMs"):#,0} | {Of(recovery, "commandsIn100Ms"):#,0} ({Of(recovery, "commandsIn100MsBefore"):#,0}) | ")
                + Picture.Invariant($"{Of(recovery, "busyMs"):#,0} | {Of(recovery, "factoryRuns"):#,0} | {Of(recovery, "longestReadMs"):#,0} |");
        }
    }

    // Both axes are logarithmic.
    private static void Panel(
        Picture picture, string heading, IReadOnlyList<(string Name, JsonElement[] Points)> curves, string value, double least, double most, Func<double, string> label)
    {
        picture.Heading(heading);
        int top = picture.Y + 16;
        int bottom = top + PanelHeight;
        for (double step = least; step <= most * 1.001; step *= 10)
        {
            double y = Y(step);
            picture.Curve([(Left, y), (Right, y)], "grid");
            picture.Text(Left - 8, y + 4, label(step), "label soft");
        }

        for (double step = 1; step <= MostMachines; step *= 10)
        {
            picture.Text(X(step) - 8, bottom + 18, Picture.Invariant($"{step:#,0}"), "soft");
        }

        double lastY = double.NegativeInfinity;
        foreach (((string name, JsonElement[] points), string kind) in curves.Zip(_kinds).OrderBy(curve => Y(Of(curve.First.Points[^1], value))))
        {
            picture.Curve([.. points.Select(point => (X(Of(point, "machines")), Y(Of(point, value))))], kind);
            lastY = Math.Max(Y(Of(points[^1], value)) + 4, lastY + 16);
            picture.Text(Right + 8, lastY, $"{name}: {label(Of(points[^1], value))}", "soft");
            picture.Describe($"{heading}, {name}: {string.Join(", ", points.Select(point => Picture.Invariant($"{Of(point, "machines")} machines {label(Of(point, value))}")))}.");
        }

        picture.Y = bottom + 50;

        double Y(double of) => bottom - (PanelHeight * Math.Log(Math.Clamp(of, least, most) / least) / Math.Log(most / least));
    }

    private static double X(double machines) => Left + ((Right - Left) * Math.Log(machines) / Math.Log(MostMachines));

    private static JsonElement[] PointsOf(JsonElement rows, string way, double percent) =>
        [.. rows.EnumerateArray().Where(row => Text(row) == way && Of(row, "changePercent") == percent && Of(row, "shards") == 0 && !HasRecovery(row)).OrderBy(row => Of(row, "machines"))];

    private static bool HasRecovery(JsonElement row) => row.GetProperty("recovery").ValueKind != JsonValueKind.Null;

    private static string Text(JsonElement row) => row.GetProperty("telling").GetString()!;

    private static double Of(JsonElement row, string name) => row.GetProperty(name).GetDouble();
}
