namespace Cairn.Cli.Output;

/// <summary>Rows of text in columns as wide as their widest cell.</summary>
internal sealed class TextTable
{
    private const string Gap = "  ";

    private readonly string[] _headings;
    private readonly bool[] _isRight;
    private readonly List<string[]> _rows = [];

    /// <summary>Makes a table without rows.</summary>
    /// <param name="headings">One for each column; one that begins with &gt; is aligned to the right, as are the cells below.</param>
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
