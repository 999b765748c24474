using System.Text;

namespace Cairn.Cli.Tests;

public sealed class GetTests : ToolTest
{
    public GetTests() => CreateStore();

    [Fact]
    public void Value_is_printed_as_it_is()
    {
        Run("set", "book:42", "Dune");

        ToolRun run = Run("get", "book:42");

        Assert.Equal((0, "Dune", ""), (run.Code, run.Output, run.Error));
    }

    [Fact]
    public void Only_a_terminal_gets_a_line_feed_after_the_value()
    {
        Run("set", "book:42", "Dune");

        ToolRun run = Run(NewConsole(isTerminal: true), "get", "book:42");

        Assert.Equal("Dune\n", run.Output);
    }

    [Fact]
    public void Binary_value_comes_out_byte_by_byte()
    {
        byte[] value = TestBytes.Of(200_000);
        Run(value, "set", "cover", "-");

        ToolRun run = Run("get", "cover");

        Assert.Equal(value, run.Bytes);
    }

    [Fact]
    public void Missing_key_is_reported_on_standard_error_and_by_the_exit_code()
    {
        ToolRun run = Run("get", "absent");

        Assert.Equal((ExitCode.No, "", "cairn: 'absent' has no value\n"), (run.Code, run.Output, run.Error));
    }

    [Fact]
    public void Missing_key_in_a_missing_collection_does_not_create_the_collection()
    {
        ToolRun run = Run("get", "--collection", "sessions", "alice");

        Assert.Equal(ExitCode.No, run.Code);
        using CairnStore store = OpenStore();
        Assert.Empty(store.CollectionNames);
    }

    [Fact]
    public void Collections_are_apart()
    {
        Run("set", "alice", "own");
        Run("set", "--collection", "sessions", "alice", "token");

        Assert.Equal("own", Run("get", "alice").Output);
        Assert.Equal("token", Run("get", "--collection", "sessions", "alice").Output);
    }

    [Fact]
    public void Output_goes_to_a_file_that_its_owner_alone_can_read()
    {
        byte[] value = TestBytes.Of(1000);
        Run(value, "set", "cover", "-");
        string file = PathOf("cover.bin");

        ToolRun run = Run("get", "cover", "--output", file);

        Assert.Equal((0, ""), (run.Code, run.Output));
        Assert.Equal(value, File.ReadAllBytes(file));
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file));
        }
    }

    [Fact]
    public void Output_file_that_cannot_be_written_is_named()
    {
        Run("set", "book:42", "Dune");
        string file = PathOf("no/such/directory");

        ToolRun run = Run("get", "book:42", "--output", file);

        Assert.Equal(ExitCode.File, run.Code);
        Assert.StartsWith($"cairn: '{file}' cannot be written", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Missing_key_leaves_the_output_file_as_it_was()
    {
        string file = PathOf("kept");
        File.WriteAllText(file, "before");

        ToolRun run = Run("get", "absent", "--output", file);

        Assert.Equal(ExitCode.No, run.Code);
        Assert.Equal("before", File.ReadAllText(file));
    }

    [Fact]
    public void Base64_prints_what_base64_stores()
    {
        Run("set", "--base64", "cover", "/wA=");

        Assert.Equal([0xFF, 0x00], Run("get", "cover").Bytes);
        Assert.Equal("/wA=", Run("get", "--base64", "cover").Output);
    }

    [Fact]
    public void Json_has_all_properties_of_the_entry()
    {
        Run("set", "book:42", "Dune", "--ttl", "5m", "--flags", "7");

        System.Text.Json.JsonElement json = Run("get", "book:42", "--json").Json;

        Assert.Equal("book:42", json.GetProperty("key").GetString());
        Assert.True(json.GetProperty("found").GetBoolean());
        Assert.Equal("Dune", json.GetProperty("value").GetString());
        Assert.Equal(4, json.GetProperty("valueBytes").GetInt32());
        Assert.Equal(7, json.GetProperty("flags").GetInt32());
        Assert.Equal("2030-01-01T00:05:00.000Z", json.GetProperty("expires").GetString());
        Assert.NotEqual(0UL, ulong.Parse(json.GetProperty("version").GetString()!, System.Globalization.CultureInfo.InvariantCulture));
    }

    [Fact]
    public void Json_of_a_missing_key_says_so()
    {
        ToolRun run = Run("get", "absent", "--json");

        Assert.Equal(ExitCode.No, run.Code);
        Assert.Equal("""{"key":"absent","found":false}""", Assert.Single(run.Lines));
    }

    [Fact]
    public void Json_with_an_output_file_leaves_the_value_out()
    {
        Run("set", "book:42", "Dune");
        string file = PathOf("value");

        ToolRun run = Run("get", "book:42", "--json", "--output", file);

        Assert.False(run.Json.TryGetProperty("value", out _));
        Assert.Equal("Dune", File.ReadAllText(file));
    }

    [Fact]
    public void Key_that_is_not_text_is_given_in_base64()
    {
        byte[] key = [0xFF, 0x6B];
        using (CairnStore store = OpenStore())
        {
            store.DefaultCollection.Set(key, "binary"u8);
        }

        ToolRun run = Run("get", "--json", "--key-base64", Convert.ToBase64String(key));

        Assert.Equal("binary", run.Json.GetProperty("value").GetString());
        Assert.Equal("/2s=", run.Json.GetProperty("keyBase64").GetString());
    }

    [Theory]
    [InlineData("@alice")]
    [InlineData("/h")]
    [InlineData("/?")]
    [InlineData("[suggest]")]
    [InlineData("get")]
    [InlineData("true")]
    [InlineData("a b")]
    [InlineData("ключ")]
    public void Word_that_parsers_treat_specially_is_a_key_like_any_other(string key)
    {
        Assert.Equal(0, Run("set", key, "value").Code);

        Assert.Equal("value", Run("get", key).Output);
        Assert.Equal("value", Run("get", "--json", key).Json.GetProperty("value").GetString());
    }

    [Fact]
    public void Key_and_value_that_begin_with_a_hyphen_go_after_two()
    {
        Assert.Equal(0, Run("set", "--", "-key", "--value").Code);

        Assert.Equal("--value", Run("get", "--", "-key").Output);
    }

    [Theory]
    [InlineData("")]
    [InlineData("long")]
    public void Key_of_an_impossible_length_is_refused(string key)
    {
        ToolRun run = Run("get", key == "long" ? new string('k', 65_537) : key);

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains("a key has 1 to 65536 bytes", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Longest_key_is_a_key()
    {
        string key = new('k', 65_536);
        Run(Encoding.UTF8.GetBytes("value"), "set", key, "-");

        Assert.Equal("value", Run("get", key).Output);
    }
}
