using System.Text;

namespace Cairn.Cli.Tests;

public sealed class KeysTests : ToolTest
{
    public KeysTests()
    {
        using CairnStore store = OpenStore();
        CairnCollection cache = store.DefaultCollection;
        cache.Set("book:1", "Emma"u8);
        cache.Set("book:22", "Dune"u8, TimeSpan.FromMinutes(5), flags: 7);
        cache.Set("cover:1", "…"u8);
    }

    [Fact]
    public void Every_key_is_on_a_line_of_its_own()
    {
        ToolRun run = Run("keys");

        Assert.Equal(["book:1", "book:22", "cover:1"], run.Lines.Order(StringComparer.Ordinal));
    }

    [Theory]
    [InlineData("--prefix", "book:", 2)]
    [InlineData("--prefix", "", 3)]
    [InlineData("--prefix", "b*", 0)]
    [InlineData("--match", "*:1", 2)]
    [InlineData("--match", "book:??", 1)]
    [InlineData("--match", "[^b]*", 1)]
    [InlineData("--limit", "2", 2)]
    public void Filter_chooses(string option, string value, int keys)
    {
        Assert.Equal(keys, Run("keys", option, value).Lines.Length);
    }

    [Fact]
    public void Long_prints_size_flags_and_expiration()
    {
        ToolRun run = Run("keys", "--long", "--prefix", "book:22");

        Assert.Equal(["4", "0x7", "2030-01-01T00:05:00.000Z", "book:22"], Assert.Single(run.Lines).Split(' ', StringSplitOptions.RemoveEmptyEntries));
    }

    [Fact]
    public void Json_has_a_line_for_each_key()
    {
        ToolRun run = Run("keys", "--json");

        Assert.Equal(
            ["book:1", "book:22", "cover:1"],
            run.JsonLines.Select(line => line.GetProperty("key").GetString()!).Order(StringComparer.Ordinal));
        Assert.All(run.JsonLines, line => Assert.False(line.TryGetProperty("value", out _)));
    }

    [Fact]
    public void Keys_are_bytes_in_a_pipe_and_escaped_on_a_terminal()
    {
        using (CairnStore store = OpenStore())
        {
            store.DefaultCollection.Clear();
            store.DefaultCollection.Set(new byte[] { 0xFF, (byte)'\n', 0x1B, (byte)'k' }, "value"u8);
        }

        Assert.Equal([0xFF, (byte)'\n', 0x1B, (byte)'k', (byte)'\n'], Run("keys").Bytes);
        Assert.Equal([0xFF, (byte)'\n', 0x1B, (byte)'k', 0], Run("keys", "--null").Bytes);
        Assert.Equal("\\xFF\\n\\u{1B}k\n", Run(NewConsole(isTerminal: true), "keys").Output);
        Assert.Equal("/wobaw==", Run("keys", "--json").Json.GetProperty("keyBase64").GetString());
    }

    [Fact]
    public void Null_ends_each_key_with_a_zero_byte()
    {
        string[] keys = Run("keys", "--null").Output.Split('\0');

        Assert.Equal(["", "book:1", "book:22", "cover:1"], keys.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Expired_keys_are_not_listed()
    {
        Clock.Advance(TimeSpan.FromMinutes(5));

        Assert.Equal(2, Run("keys").Lines.Length);
    }

    [Fact]
    public void Missing_collection_is_reported()
    {
        ToolRun run = Run("keys", "--collection", "sessions");

        Assert.Equal((ExitCode.No, "cairn: the store has no collection 'sessions'\n"), (run.Code, run.Error));
    }

    [Theory]
    [InlineData("--prefix", "a", "--match", "b")]
    [InlineData("--null", "--json")]
    [InlineData("--limit", "0")]
    [InlineData("book:1")]
    public void Mistake_is_a_usage_error(params string[] args)
    {
        Assert.Equal(ExitCode.Usage, Run(["keys", .. args]).Code);
    }

    [Fact]
    public void Many_keys_are_all_listed()
    {
        using (CairnStore store = OpenStore())
        {
            for (int i = 0; i < 5000; i++)
            {
                store.DefaultCollection.Set(Encoding.UTF8.GetBytes($"many:{i}"), "x"u8);
            }
        }

        Assert.Equal(5000, Run("keys", "--prefix", "many:").Lines.Distinct(StringComparer.Ordinal).Count());
    }
}
