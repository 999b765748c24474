namespace Cairn.Cli.Output;

/// <summary>Formats rows of text in columns that are as wide as their widest cell.</summary>
internal sealed class TextTable
{
    private const string Gap = "  ";

    private readonly string[] _headings;
    private readonly bool[] _isRight;
    private readonly List<string[]> _rows = [];

    /// <summary>Creates a table without rows.</summary>
    /// <param name="headings">The headings of the columns. If one begins with &gt;, its column is aligned to the right.</param>
    public TextTable(params string[] headings)
    {
        _isRight = [.. headings.Select(heading => heading.StartsWith('>'))];
        _headings = [.. headings.Select(heading => heading.TrimStart('>'))];
    }

    public void Add(params string[] cells) => _rows.Add(cells);

    public void WriteTo(ToolOutput output)
    {
        int[] widths =
        [
            .. Enumerable.Range(0, _headings.Length)
                .Select(column => _rows.Select(row => row[column].Length).Append(_headings[column].Length).Max()),
        ];
        if (_headings.Any(heading => heading.Length > 0))
        {
            WriteRow(output, _headings, widths);
        }

        foreach (string[] row in _rows)
        {
            WriteRow(output, row, widths);
        }
    }

    private void WriteRow(ToolOutput output, string[] cells, int[] widths)
    {
        IEnumerable<string> padded = cells.Select(
            (cell, column) => _isRight[column] ? cell.PadLeft(widths[column]) : cell.PadRight(widths[column]));
        output.WriteLine(string.Join(Gap, padded).TrimEnd());
    }
}
