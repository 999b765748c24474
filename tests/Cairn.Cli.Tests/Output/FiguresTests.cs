using System.Text;
using Cairn.Cli.Output;

namespace Cairn.Cli.Tests.Output;

/// <summary>Numbers, keys and tables in output for users.</summary>
public sealed class FiguresTests
{
    [Theory]
    [InlineData(0, "0 B")]
    [InlineData(999, "999 B")]
    [InlineData(1000, "0.98 KiB")]
    [InlineData(1024, "1 KiB")]
    [InlineData(1536, "1.5 KiB")]
    [InlineData(268_435_456, "256 MiB")]
    [InlineData(1_610_612_736, "1.5 GiB")]
    [InlineData(1_099_511_627_776, "1 TiB")]
    [InlineData(long.MaxValue, "8192 PiB")]
    public void Size_has_three_digits_that_matter(long bytes, string expected)
    {
        Assert.Equal(expected, Figures.Bytes(bytes));
    }

    [Theory]
    [InlineData(0.25, "250 ms")]
    [InlineData(59.9, "59 s")]
    [InlineData(125, "2 min 5 s")]
    [InlineData(4800, "1 h 20 min")]
    [InlineData(1_047_600, "12 d 3 h")]
    [InlineData(-1, "0 ms")]
    public void Time_has_its_two_largest_units(double seconds, string expected)
    {
        Assert.Equal(expected, Figures.Time(TimeSpan.FromSeconds(seconds)));
    }

    [Theory]
    [InlineData("book:42", "book:42")]
    [InlineData("ключ 😀", "ключ 😀")]
    [InlineData("a\\b", "a\\\\b")]
    [InlineData("a\nb\rc\td", "a\\nb\\rc\\td")]
    [InlineData("\e[31m", "\\u{1B}[31m")]
    [InlineData("a\u202Eb", "a\\u{202E}b")]
    [InlineData("\u0085", "\\u{85}")]
    public void Key_is_escaped_so_that_a_terminal_obeys_nothing_in_it(string key, string expected)
    {
        Assert.Equal(expected, KeyText.Escape(Encoding.UTF8.GetBytes(key)));
    }

    [Fact]
    public void Bytes_that_are_not_utf8_are_escaped_one_by_one()
    {
        Assert.Equal("a\\xFF\\xC3b", KeyText.Escape([(byte)'a', 0xFF, 0xC3, (byte)'b']));
    }

    [Fact]
    public void Long_key_is_cut_in_a_message()
    {
        string quoted = KeyText.Quote(Encoding.UTF8.GetBytes(new string('k', 60_000)));

        Assert.Equal($"'{new string('k', 100)}…'", quoted);
    }

    [Fact]
    public void Columns_of_a_table_are_as_wide_as_their_widest_cell()
    {
        var stream = new MemoryStream();
        var output = new ToolOutput(stream);
        var table = new TextTable("name", ">count", "");
        table.Add("a", "1,000", "x");
        table.Add("longer", "1", "");

        table.WriteTo(output);
        output.Flush();

        Assert.Equal("name    count\na       1,000  x\nlonger      1\n", Encoding.UTF8.GetString(stream.ToArray()));
    }
}
