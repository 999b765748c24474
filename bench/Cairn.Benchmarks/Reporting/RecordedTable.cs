using System.Text.Json;
using System.Text.RegularExpressions;

namespace Cairn.Benchmarks.Reporting;

/// <summary>
/// A table of bench/results/tables: figures of runs whose program writes no report, as it printed them. The file has the command, the date, the commit and the
/// machine, the columns, and the rows. A number keeps its digits. <c>true</c> and <c>false</c> say whether a goal is met, and <c>null</c> is no value.
/// </summary>
internal static partial class RecordedTable
{
    /// <summary>Returns the lines of the table in Markdown.</summary>
    /// <exception cref="InvalidDataException">A row has another number of cells than there are columns, or a property is missing.</exception>
    public static IEnumerable<string> Read(string root, string name)
    {
        string path = Path.Combine(root, "bench", "results", "tables", name + ".json");
        using var table = JsonDocument.Parse(File.ReadAllText(path));
        foreach (string property in new[] { "command", "date", "commit", "machine" })
        {
            if (!table.RootElement.TryGetProperty(property, out JsonElement value) || value.GetString() is not { Length: > 0 })
            {
                throw new InvalidDataException($"{path} has no {property}.");
            }
        }

        string[] columns = [.. table.RootElement.GetProperty("columns").EnumerateArray().Select(Text)];
        List<string> lines = [Line(columns), $"|{string.Concat(Enumerable.Repeat("---|", columns.Length))}"];
        foreach (JsonElement row in table.RootElement.GetProperty("rows").EnumerateArray())
        {
            string[] cells = [.. row.EnumerateArray().Select(Text)];
            if (cells.Length != columns.Length)
            {
                throw new InvalidDataException($"{path}: the row '{cells.FirstOrDefault()}' has {cells.Length} cells. The table has {columns.Length} columns.");
            }

            lines.Add(Line(cells));
        }

        return lines;
    }

    private static string Line(IEnumerable<string> cells) => $"|{string.Concat(cells.Select(cell => cell.Length == 0 ? " |" : $" {cell} |"))}";

    private static string Text(JsonElement cell) => cell.ValueKind switch
    {
        JsonValueKind.Number => Thousands().Replace(cell.GetRawText(), ","),
        JsonValueKind.True => "yes",
        JsonValueKind.False => "**no**",
        JsonValueKind.Null => "-",
        _ => cell.GetString()!,
    };

    // The places before each three digits of the integer part.
    [GeneratedRegex(@"(?<=^-?\d+)(?=(\d{3})+(\.|$))")]
    private static partial Regex Thousands();
}
