using System.Text.Json;

namespace Cairn.Cli.Tests;

public sealed class SetTests : ToolTest
{
    public SetTests() => CreateStore();

    [Fact]
    public void Success_is_silent()
    {
        ToolRun run = Run("set", "book:42", "Dune");

        Assert.Equal((0, "", ""), (run.Code, run.Output, run.Error));
    }

    [Fact]
    public void Value_comes_from_a_file()
    {
        byte[] value = TestBytes.Of(100_000);
        string file = PathOf("value");
        File.WriteAllBytes(file, value);

        Run("set", "cover", "--file", file);

        Assert.Equal(value, Run("get", "cover").Bytes);
    }

    [Fact]
    public void Empty_value_is_a_value()
    {
        Run("set", "empty", "");

        ToolRun run = Run("get", "empty", "--json");

        Assert.Equal("", run.Json.GetProperty("value").GetString());
    }

    [Theory]
    [InlineData("--ttl", "5m", 300)]
    [InlineData("--ttl", "1h30m", 5400)]
    [InlineData("--ttl", "2d", 172_800)]
    [InlineData("--expires", "2030-01-01T01:00:00Z", 3600)]
    [InlineData("--expires", "2030-01-01T03:00:00+02:00", 3600)]
    public void Value_is_there_until_it_expires(string option, string value, int seconds)
    {
        Run("set", "book:42", "Dune", option, value);

        Clock.Advance(TimeSpan.FromSeconds(seconds - 1));
        Assert.Equal(0, Run("get", "book:42").Code);
        Clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal(ExitCode.No, Run("get", "book:42").Code);
    }

    [Fact]
    public void Sliding_value_lives_while_it_is_read_up_to_its_limit()
    {
        Run("set", "alice", "token", "--sliding", "20m", "--ttl", "30m");

        Clock.Advance(TimeSpan.FromMinutes(15));
        Assert.Equal(0, Run("get", "alice").Code);
        Clock.Advance(TimeSpan.FromMinutes(14));
        Assert.Equal(0, Run("get", "alice").Code);
        Clock.Advance(TimeSpan.FromMinutes(1));

        Assert.Equal(ExitCode.No, Run("get", "alice").Code);
    }

    [Fact]
    public void No_expiry_overrides_the_default_of_the_collection()
    {
        using (CairnStore store = OpenStore())
        {
            store.Collection("sessions", new CollectionOptions { DefaultExpiration = TimeSpan.FromMinutes(5) });
        }

        Run("set", "--collection", "sessions", "mortal", "value");
        Run("set", "--collection", "sessions", "immortal", "value", "--no-expiry");
        Clock.Advance(TimeSpan.FromMinutes(5));

        Assert.Equal(["immortal"], Run("keys", "--collection", "sessions").Lines);
    }

    [Fact]
    public void Add_stores_only_what_is_not_there()
    {
        Assert.Equal(0, Run("set", "book:42", "Dune", "--add").Code);

        ToolRun second = Run("set", "book:42", "Emma", "--add");

        Assert.Equal((ExitCode.No, "cairn: 'book:42' has a value already\n"), (second.Code, second.Error));
        Assert.Equal("Dune", Run("get", "book:42").Output);
    }

    [Fact]
    public void Replace_stores_only_what_is_there()
    {
        Assert.Equal(ExitCode.No, Run("set", "book:42", "Dune", "--replace").Code);
        Run("set", "book:42", "Dune");

        Assert.Equal(0, Run("set", "book:42", "Emma", "--replace").Code);

        Assert.Equal("Emma", Run("get", "book:42").Output);
    }

    [Fact]
    public void Version_that_get_prints_is_the_one_that_set_compares()
    {
        Run("set", "book:42", "Dune");
        string version = Run("get", "book:42", "--json").Json.GetProperty("version").GetString()!;

        Assert.Equal(0, Run("set", "book:42", "Emma", "--if-version", version).Code);
        ToolRun late = Run("set", "book:42", "Ulysses", "--if-version", version, "--json");

        Assert.Equal((ExitCode.No, "versionMismatch"), (late.Code, late.Json.GetProperty("status").GetString()));
        Assert.Equal("Emma", Run("get", "book:42").Output);
    }

    [Fact]
    public void Json_has_the_result()
    {
        JsonElement json = Run("set", "--collection", "sessions", "alice", "token", "--json").Json;

        Assert.Equal("""{"key":"alice","collection":"sessions","status":"stored","valueBytes":5}""", json.GetRawText());
    }

    [Fact]
    public void Negative_number_is_a_value()
    {
        Assert.Equal(0, Run("set", "balance", "-5").Code);

        Assert.Equal("-5", Run("get", "balance").Output);
    }

    [Theory]
    [InlineData("0x10", 16)]
    [InlineData("4294967295", 4294967295)]
    public void Flags_are_kept(string text, uint flags)
    {
        Run("set", "book:42", "Dune", "--flags", text);

        Assert.Equal(flags, Run("get", "book:42", "--json").Json.GetProperty("flags").GetUInt32());
    }

    [Fact]
    public void Value_too_long_for_the_store_is_refused_and_the_earlier_one_stays()
    {
        Run("set", "cover", "before");

        ToolRun run = Run(new byte[(8 << 20) / 8 + 1], "set", "cover", "-");

        Assert.Equal(ExitCode.Store, run.Code);
        Assert.Contains("1,048,577 bytes, more than the", run.Error, StringComparison.Ordinal);
        Assert.Equal("before", Run("get", "cover").Output);
    }

    [Theory]
    [InlineData("which value?", "key")]
    [InlineData("given twice", "key", "value", "--file", "x")]
    [InlineData("--ttl and --expires contradict", "key", "value", "--ttl", "5m", "--expires", "2031-01-01T00:00:00Z")]
    [InlineData("--no-expiry contradicts", "key", "value", "--ttl", "5m", "--no-expiry")]
    [InlineData("--no-expiry contradicts", "key", "value", "--expires", "2031-01-01T00:00:00Z", "--no-expiry")]
    [InlineData("three different conditions", "key", "value", "--add", "--replace")]
    [InlineData("--expires lies in the past", "key", "value", "--expires", "2029-12-31T23:59:59Z")]
    [InlineData("--ttl must be above zero", "key", "value", "--ttl", "0s")]
    [InlineData("--ttl must be above zero and at most", "key", "value", "--ttl", "100001d")]
    [InlineData("--ttl takes a number with ms", "key", "value", "--ttl", "5")]
    [InlineData("--sliding takes a number with ms", "key", "value", "--sliding", "soon")]
    [InlineData("--expires takes a moment", "key", "value", "--expires", "2031-01-01")]
    [InlineData("--flags takes a number", "key", "value", "--flags", "4294967296")]
    [InlineData("--if-version takes the version", "key", "value", "--if-version", "new")]
    [InlineData("the value is not Base64", "key", "%%", "--base64")]
    [InlineData("the value has bytes that are not UTF-8", "key", "\uFFFD")]
    [InlineData("the key has bytes that are not UTF-8", "\uFFFD", "value")]
    [InlineData("the key is not Base64", "%%", "value", "--key-base64")]
    [InlineData("'more' is one argument too many", "key", "value", "more")]
    [InlineData("--ttl", "key", "value", "--ttl")]
    [InlineData("--ttl", "key", "value", "--ttl", "5m", "--ttl", "6m")]
    [InlineData("there is no option --tll (did you mean --ttl?)", "key", "value", "--tll", "5m")]
    [InlineData("--capacity must be 1 MiB to 1 TiB, not 1 KiB", "key", "value", "--capacity", "1KiB")]
    [InlineData("--capacity takes bytes, or a number with KiB", "key", "value", "--capacity", "much")]
    public void Mistake_is_one_line_that_says_what_is_wrong(string expected, params string[] args)
    {
        ToolRun run = Run(["set", .. args]);

        Assert.Equal((ExitCode.Usage, ""), (run.Code, run.Output));
        Assert.StartsWith("cairn: ", run.Error, StringComparison.Ordinal);
        Assert.Contains(expected, run.Error, StringComparison.Ordinal);
        Assert.Equal(1, run.Error.Count(character => character == '\n'));
        Assert.DoesNotContain("Parameter", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void File_that_cannot_be_read_is_named()
    {
        string missing = PathOf("missing");

        ToolRun run = Run("set", "key", "--file", missing);

        Assert.Equal(ExitCode.File, run.Code);
        Assert.StartsWith($"cairn: '{missing}' cannot be read", run.Error, StringComparison.Ordinal);
    }
}
