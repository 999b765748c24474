using System.Text;
using Cairn.Cli.Entries;

namespace Cairn.Cli.Tests.Entries;

/// <summary>A line is parsed to a complete entry, or to an error.</summary>
public sealed class EntryLineTests
{
    [Fact]
    public void Least_line_is_a_key_and_a_value()
    {
        var entry = new EntryLine();

        Assert.Null(Read(entry, """{"key":"book:42","value":"Dune"}"""));

        Assert.Equal("book:42"u8, entry.Key);
        Assert.Equal("Dune"u8, entry.Value);
        Assert.Equal((0U, null, null, null), (entry.Flags, entry.Expires, entry.Sliding, entry.Collection));
    }

    [Fact]
    public void Fullest_line_is_read_whole()
    {
        var entry = new EntryLine();

        Assert.Null(Read(
            entry,
            """
            {"collection":"s","keyBase64":"/2s=","valueBytes":2,"version":"9","flags":4294967295,"expires":"2030-01-01T00:00:00.001Z",
            "slidingMs":1200000,"slidingLimit":"2030-01-01T02:00:00+01:00","valueBase64":"/wA="}
            """.ReplaceLineEndings("")));

        Assert.Equal([0xFF, 0x6B], entry.Key.ToArray());
        Assert.Equal([0xFF, 0x00], entry.Value.ToArray());
        Assert.Equal((uint.MaxValue, "s"), (entry.Flags, entry.Collection));
        Assert.Equal(new DateTimeOffset(2030, 1, 1, 0, 0, 0, 1, TimeSpan.Zero), entry.Expires);
        Assert.Equal(TimeSpan.FromMinutes(20), entry.Sliding);
        Assert.Equal(new DateTimeOffset(2030, 1, 1, 1, 0, 0, TimeSpan.Zero), entry.SlidingLimit);
    }

    [Fact]
    public void Nothing_of_one_line_is_left_in_the_next()
    {
        var entry = new EntryLine();
        Read(entry, """{"key":"longer-key","value":"longer value","flags":1,"expires":"2030-01-01T00:00:00Z","collection":"s"}""");

        Assert.Null(Read(entry, """{"key":"k","value":""}"""));

        Assert.Equal("k"u8, entry.Key);
        Assert.True(entry.Value.IsEmpty);
        Assert.Equal((0U, null, null), (entry.Flags, entry.Expires, entry.Collection));
    }

    [Fact]
    public void Escapes_become_the_bytes_they_stand_for()
    {
        var entry = new EntryLine();

        Assert.Null(Read(entry, """{"key":"\u0000\n\"","value":"\ud83d\ude00\/é"}"""));

        Assert.Equal("\0\n\""u8, entry.Key);
        Assert.Equal("😀/é"u8, entry.Value);
    }

    [Theory]
    [InlineData("", "not JSON")]
    [InlineData("nonsense", "not JSON at byte 1")]
    [InlineData("[]", "not a JSON object")]
    [InlineData("\"text\"", "not a JSON object")]
    [InlineData("{}", "either \"key\" or \"keyBase64\"")]
    [InlineData("""{"key":"k"}""", "either \"value\" or \"valueBase64\"")]
    [InlineData("""{"value":"v"}""", "either \"key\" or \"keyBase64\"")]
    [InlineData("""{"key":"k","keyBase64":"aw==","value":"v"}""", "either \"key\" or \"keyBase64\"")]
    [InlineData("""{"key":"k","value":"v","valueBase64":"dg=="}""", "either \"value\" or \"valueBase64\"")]
    [InlineData("""{"key":"k","value":"v","key":"j"}""", "\"key\" is there twice")]
    [InlineData("""{"key":"k","value":"v","expire":"2030-01-01T00:00:00Z"}""", "\"expire\" is no property")]
    [InlineData("""{"Key":"k","value":"v"}""", "\"Key\" is no property")]
    [InlineData("""{"key":"","value":"v"}""", "1 to 65536 bytes; this one has 0")]
    [InlineData("""{"key":1,"value":"v"}""", "\"key\" must be a string")]
    [InlineData("""{"key":"k","value":null}""", "\"value\" must be a string")]
    [InlineData("""{"key":"k","value":{"a":1}}""", "\"value\" must be a string")]
    [InlineData("""{"key":"k","valueBase64":"%"}""", "\"valueBase64\" is not Base64")]
    [InlineData("""{"keyBase64":"abc","value":"v"}""", "\"keyBase64\" is not Base64")]
    [InlineData("""{"key":"\ud800","value":"v"}""", "not valid Unicode")]
    [InlineData("""{"key":"k","value":"\udc00x"}""", "not valid Unicode")]
    [InlineData("""{"key":"k","value":"v","flags":-1}""", "\"flags\" must be")]
    [InlineData("""{"key":"k","value":"v","flags":4294967296}""", "\"flags\" must be")]
    [InlineData("""{"key":"k","value":"v","flags":"1"}""", "\"flags\" must be")]
    [InlineData("""{"key":"k","value":"v","flags":1.5}""", "\"flags\" must be")]
    [InlineData("""{"key":"k","value":"v","expires":"tomorrow"}""", "\"expires\" must be a moment")]
    [InlineData("""{"key":"k","value":"v","expires":"2030-01-01T00:00:00"}""", "\"expires\" must be a moment")]
    [InlineData("""{"key":"k","value":"v","expires":1893456000}""", "\"expires\" must be a moment")]
    [InlineData("""{"key":"k","value":"v","slidingMs":0}""", "\"slidingMs\" must be")]
    [InlineData("""{"key":"k","value":"v","slidingMs":8640000000001}""", "\"slidingMs\" must be")]
    [InlineData("""{"key":"k","value":"v","slidingLimit":"2030-01-01T00:00:00Z"}""", "\"slidingLimit\" needs \"slidingMs\"")]
    [InlineData("""{"key":"k","value":"v","collection":1}""", "\"collection\" must be a string")]
    [InlineData("""{"key":"k","value":"v","valueBytes":2}""", "has 1 bytes, but \"valueBytes\" says 2")]
    [InlineData("""{"key":"k","value":"v","valueBytes":"1"}""", "\"valueBytes\" must be a number")]
    [InlineData("""{"key":"k","value":"v","version":1}""", "\"version\" must be a string")]
    [InlineData("""{"key":"k","value":"v"} {"key":"l","value":"w"}""", "not JSON at byte 24")]
    [InlineData("""{"key":"k","value":"v"}x""", "not JSON at byte 23")]
    [InlineData("""{"key":"k","value":"v""", "not JSON")]
    [InlineData("""{"key":"k","value":"v",}""", "not JSON")]
    [InlineData("""{"key":"k" /* comment */,"value":"v"}""", "not JSON")]
    public void Line_that_is_no_entry_is_refused_with_the_reason(string line, string reason)
    {
        string? actual = Read(new EntryLine(), line);

        Assert.NotNull(actual);
        Assert.Contains(reason, actual, StringComparison.Ordinal);
        Assert.DoesNotContain("LineNumber", actual, StringComparison.Ordinal);
    }

    [Fact]
    public void Bytes_that_are_not_utf8_are_refused_in_text()
    {
        byte[] line = [.. "{\"key\":\"k\",\"value\":\""u8, 0xFF, .. "\"}"u8];

        Assert.Contains("not valid Unicode", new EntryLine().TryRead(line), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(65_536, null)]
    [InlineData(65_537, "1 to 65536 bytes; this one has 65537")]
    public void Key_is_as_long_as_a_store_takes(int length, string? reason)
    {
        string? actual = Read(new EntryLine(), $$"""{"key":"{{new string('k', length)}}","value":""}""");

        Assert.Equal(reason is null, actual is null);
        Assert.Contains(reason ?? "", actual ?? "", StringComparison.Ordinal);
    }

    private static string? Read(EntryLine entry, string line) => entry.TryRead(Encoding.UTF8.GetBytes(line));
}
