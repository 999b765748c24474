using System.Text;
using Cairn.Cli.Entries;

namespace Cairn.Cli.Tests.Entries;

public sealed class LineReaderTests
{
    [Theory]
    [InlineData("", "")]
    [InlineData("a", "1:a")]
    [InlineData("a\n", "1:a")]
    [InlineData("a\nb", "1:a 2:b")]
    [InlineData("\n\nb\n\n", "1: 2: 3:b 4:")]
    [InlineData("a\r\nb", "1:a\r 2:b")]
    public void Lines_come_with_their_numbers(string text, string expected)
    {
        Assert.Equal(expected, string.Join(' ', ReadAll(Encoding.UTF8.GetBytes(text), 1000)));
    }

    [Fact]
    public void Byte_order_mark_before_the_first_line_is_no_part_of_it()
    {
        Assert.Equal(["1:a", "2:\uFEFFb"], ReadAll(Encoding.UTF8.GetBytes("\uFEFFa\n\uFEFFb"), 1000));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(1000)]
    public void Reads_of_any_size_give_the_same_lines(int bytesPerRead)
    {
        string text = string.Join('\n', Enumerable.Range(0, 200).Select(i => new string('x', i)));

        string[] lines = ReadAll(Encoding.UTF8.GetBytes(text), 100_000, bytesPerRead);

        Assert.Equal(Enumerable.Range(0, 200).Select(i => $"{i + 1}:{new string('x', i)}"), lines);
    }

    [Fact]
    public void Line_longer_than_the_first_buffer_is_read_whole()
    {
        string line = new('x', 1_000_000);

        Assert.Equal([$"1:{line}", "2:y"], ReadAll(Encoding.UTF8.GetBytes($"{line}\ny"), 2_000_000));
    }

    [Theory]
    [InlineData("\ny")]
    [InlineData("\ny\n")]
    public void Line_too_long_to_be_an_entry_is_passed_over_and_counted(string rest)
    {
        string text = $"a\n{new string('x', 3_000_000)}{rest}";

        Assert.Equal(["1:a", "2:too long", "3:y"], ReadAll(Encoding.UTF8.GetBytes(text), 400_000));
    }

    [Fact]
    public void Line_too_long_at_the_end_is_counted()
    {
        Assert.Equal(["1:too long"], ReadAll(Encoding.UTF8.GetBytes(new string('x', 3_000_000)), 400_000));
    }

    [Fact]
    public void Bytes_read_are_counted_with_their_line_ends()
    {
        var reader = new LineReader(new MemoryStream("ab\ncd"u8.ToArray()), 1000);

        reader.TryRead(out _, out _);
        Assert.Equal(3, reader.BytesRead);
        reader.TryRead(out _, out _);
        Assert.Equal(5, reader.BytesRead);
    }

    private static string[] ReadAll(byte[] bytes, int longestLine, int bytesPerRead = int.MaxValue)
    {
        var lines = new List<string>();
        var reader = new LineReader(new SmallReads(bytes, bytesPerRead), longestLine);
        while (reader.TryRead(out ReadOnlySpan<byte> line, out bool isTooLong))
        {
            lines.Add($"{reader.Number}:{(isTooLong ? "too long" : Encoding.UTF8.GetString(line))}");
        }

        return [.. lines];
    }

    private sealed class SmallReads(byte[] bytes, int bytesPerRead) : MemoryStream(bytes)
    {
        public override int Read(byte[] buffer, int offset, int count) => base.Read(buffer, offset, Math.Min(count, bytesPerRead));
    }
}
