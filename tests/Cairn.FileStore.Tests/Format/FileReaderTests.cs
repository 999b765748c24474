using System.Text;
using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;

namespace Cairn.FileStore.Tests.Format;

/// <summary>The content that a cache file may have, and the reported position of a mistake.</summary>
public class FileReaderTests
{
    private const string Before = "{\"format\":\"cairn.filestore/2\",\"entries\":[\n";

    [Theory]
    [InlineData("hello", 1, 1, "an object was expected")]
    [InlineData("[1]", 1, 1, "an object was expected")]
    [InlineData("{\"x\":1}", 1, 2, "begins neither")]
    [InlineData("{\"format\":\"other\",\"entries\":[]}", 1, 10, "\"other\"")]
    [InlineData("{\"format\":\"cairn.filestore/3\",\"entries\":[]}", 1, 10, "this version reads \"cairn.filestore/1\" and \"cairn.filestore/2\"")]
    [InlineData(Before + "[]\n]}", 2, 2, "a string was expected")]
    [InlineData(Before + "[\"a\"]\n]}", 2, 5, "a comma and the value of the entry")]
    [InlineData(Before + "[\"a\",]\n]}", 2, 6, "is not JSON")]
    [InlineData(Before + "[\"a\",\"1\",\"soon\"]\n]}", 2, 10, "not a time")]
    [InlineData(Before + "[\"a\",\"1\",\"2030-01-01\",1]\n]}", 2, 22, "the bracket that closes the entry")]
    [InlineData(Before + "[\"a\",\"1\"},\n]}", 2, 9, "the bracket that closes the entry")]
    [InlineData(Before + "{\"value\":\"1\"}\n]}", 2, 1, "no \"key\"")]
    [InlineData(Before + "{\"key\":\"a\"}\n]}", 2, 1, "one of \"value\"")]
    [InlineData(Before + "{\"key\":\"a\",\"value\":\"1\",\"bytes\":\"AA==\"}\n]}", 2, 24, "two values")]
    [InlineData(Before + "{\"key\":\"a\",\"bytes\":\"A\"}\n]}", 2, 20, "Base64")]
    [InlineData(Before + "{\"key\":\"a\",\"value\":\"1\",\"expire\":\"x\"}\n]}", 2, 24, "no property \"expire\"")]
    [InlineData(Before + "{\"key\":\"a\",\"value\":\"1\",\"expires\":\"soon\"}\n]}", 2, 34, "not a time")]
    [InlineData(Before + "{\"key\":\"ä\",\"value\":truth}\n]}", 2, 20, "is not JSON")]
    [InlineData(Before + "{\"key\":\"a\",\"value\":01}\n]}", 2, 20, "is not JSON")]
    [InlineData(Before + "{\"key\":\"a\",\"value\":\"two\nlines\"}\n]}", 2, 24, "does not end in its line")]
    [InlineData(Before + "{\"key\":\"a\",\"value\":\"\\x\"}\n]}", 2, 21, "no such escape")]
    [InlineData(Before + "{\"key\":\"a\",\"value\":\"\\u123\0\"}\n]}", 2, 21, "four hexadecimal digits")]
    [InlineData(Before + "{\"key\":\"a\",\"value\":\"1\"},\n]}", 3, 1, "an entry was expected")]
    [InlineData(Before + "{\"key\":\"a\",\"value\":\"1\"}\n]} x", 3, 4, "nothing may follow")]
    public void Mistake_is_named_with_its_line_and_column(string text, int line, int column, string problem)
    {
        var reader = new FileReader(Encoding.UTF8.GetBytes(text));

        Assert.Equal(TextOutcome.Invalid, reader.ReadFile(new EntryTable()));

        FormatProblem found = reader.Problem!;
        Assert.Equal((line, column), (found.Line, found.Column));
        Assert.Contains(problem, found.Text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("2030-01-31T23:59:59Z")]
    [InlineData("2030-01-31T23:59Z")]
    [InlineData("2030-01-31 23:59")]
    [InlineData("2030-01-31T23:59:59.1234567+02:00")]
    [InlineData("2030-01-31")]
    public void Times_of_ISO_8601_are_read(string time)
    {
        var table = new EntryTable();

        TextOutcome outcome = new FileReader(Encoding.UTF8.GetBytes($"{Before}{{\"key\":\"a\",\"value\":\"1\",\"expires\":\"{time}\"}}]}}")).ReadFile(table);

        Assert.Equal(TextOutcome.Complete, outcome);
        Assert.Equal(
            DateTimeOffset.Parse(time, System.Globalization.CultureInfo.InvariantCulture, System.Globalization.DateTimeStyles.AssumeUniversal).UtcTicks,
            table.Find("a")!.ExpiresTicks);
    }

    [Theory]
    [InlineData("null")]
    [InlineData("true")]
    [InlineData("-0.5e+10")]
    [InlineData("[1,[2,{}],\"]\"]")]
    [InlineData("{\"a\":{\"b\":[]},\"c\":\"\\ud800\"}")]
    public void Value_that_is_JSON_is_its_text(string json)
    {
        var table = new EntryTable();

        Assert.Equal(TextOutcome.Complete, new FileReader(Encoding.UTF8.GetBytes($"{Before}{{\"value\": {json} ,\"key\":\"a\"}}]}}")).ReadFile(table));

        Assert.Equal(json, Assert.IsType<JsonText>(table.Find("a")!.Value).Text);
    }

    [Fact]
    public void Every_prefix_of_a_file_is_torn_and_has_the_entries_that_are_whole()
    {
        byte[] whole = Encoding.UTF8.GetBytes(
            Before + "{\"key\":\"a\",\"value\":\"ä\\u00e4\"},\n[\"d\",\"ä\\u00e4\",\"2030-01-01T00:00:00Z\"],\n[\"b\",{\"x\":[1.5e3,true]}],\n{\"key\":\"a\",\"removed\":true},\n{\"key\":\"c\",\"bytes\":\"AA==\",\"expires\":\"2030-01-01T00:00:00Z\"}\n]}");
        for (int length = 1; length < whole.Length; length++)
        {
            var table = new EntryTable();
            var reader = new FileReader(whole.AsSpan(0, length));

            Assert.Equal(TextOutcome.Torn, reader.ReadFile(table));

            Assert.Equal(length >= whole.Length - 3, table.Find("c")?.Value is not null);
            Assert.InRange(reader.EndOfEntries, 0, length);
        }
    }

    [Fact]
    public void Deep_nesting_is_a_mistake_and_no_end_of_the_process()
    {
        string deep = new('[', 100_000);

        var reader = new FileReader(Encoding.UTF8.GetBytes($"{Before}{{\"key\":\"a\",\"value\":{deep}"));

        Assert.Equal(TextOutcome.Invalid, reader.ReadFile(new EntryTable()));
        Assert.Contains("depth of 512", reader.Problem!.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Text_that_is_not_UTF_8_is_a_mistake()
    {
        byte[] text = [.. Encoding.UTF8.GetBytes(Before + "{\"key\":\"a\",\"value\":\"x"), 0xC3, 0x28, .. "\"}]}"u8];

        var reader = new FileReader(text);

        Assert.Equal(TextOutcome.Invalid, reader.ReadFile(new EntryTable()));
        Assert.Equal((2, 22), (reader.Problem!.Line, reader.Problem.Column));
        Assert.Equal(TextOutcome.Invalid, new FileReader(Encoding.Unicode.GetPreamble()).ReadFile(new EntryTable()));
    }
}
