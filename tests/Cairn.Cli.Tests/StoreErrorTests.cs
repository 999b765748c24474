using System.Text.Json;

namespace Cairn.Cli.Tests;

/// <summary>Files that are missing, are not stores or must not be used, and the creation of new stores.</summary>
public sealed class StoreErrorTests : ToolTest
{
    /// <summary>Gets the commands that read a store, with their minimal arguments.</summary>
    public static TheoryData<string> Looking =>
        ["get key", "del key", "del --all", "touch key --ttl 1m", "keys", "dump", "export", "stats", "top --count 1", "bigkeys", "open"];

    [Theory]
    [MemberData(nameof(Looking))]
    [InlineData("verify")]
    [InlineData("compact")]
    public void Store_that_is_not_there_is_an_error_and_is_not_created(string command)
    {
        ToolRun run = Run(command.Split(' '));

        Assert.Equal((ExitCode.Store, ""), (run.Code, run.Output));
        Assert.Equal($"cairn: there is no store '{StorePath}'; 'cairn create', 'cairn set' and 'cairn import' make one\n", run.Error);
        Assert.False(File.Exists(StorePath));
    }

    [Theory]
    [MemberData(nameof(Looking))]
    [InlineData("set key value")]
    [InlineData("import")]
    public void File_that_is_no_store_is_reported_and_not_changed(string command)
    {
        File.WriteAllText(StorePath, "These are my notes.");

        ToolRun run = Run(command.Split(' '));

        Assert.Equal((ExitCode.Damaged, ""), (run.Code, run.Output));
        Assert.StartsWith($"cairn: The file '{StorePath}' is not a Cairn store", run.Error, StringComparison.Ordinal);
        Assert.Equal(1, run.Error.Count(character => character == '\n'));
        Assert.Equal("These are my notes.", File.ReadAllText(StorePath));
    }

    [Theory]
    [MemberData(nameof(Looking))]
    public void Empty_file_is_no_store_and_stays_empty(string command)
    {
        File.WriteAllBytes(StorePath, []);

        ToolRun run = Run(command.Split(' '));

        Assert.Equal(ExitCode.Damaged, run.Code);
        Assert.Equal(0, new FileInfo(StorePath).Length);
    }

    [Fact]
    public void Directory_is_no_store()
    {
        ToolRun run = Run("get", "key", "--store", Path.GetDirectoryName(StorePath)!);

        Assert.Equal(ExitCode.Store, run.Code);
        Assert.Contains("is a directory", run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("get", "key")]
    [InlineData("set", "key", "value")]
    [InlineData("create")]
    public void Directory_that_is_not_there_is_an_error(params string[] args)
    {
        string path = PathOf("no/such/store.cairn");

        ToolRun run = Run([.. args, "--store", path]);

        Assert.Equal(ExitCode.Store, run.Code);
        Assert.Contains(path, run.Error, StringComparison.Ordinal);
        Assert.Equal(1, run.Error.Count(character => character == '\n'));
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData(" ")]
    public void Store_has_to_be_named(string? path)
    {
        var console = new TestConsole();
        if (path is not null)
        {
            console.Environment["CAIRN_STORE"] = path;
        }

        ToolRun run = Run(console, "get", "key");

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains("--store FILE", run.Error, StringComparison.Ordinal);
        Assert.Contains("CAIRN_STORE", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Option_names_the_store_before_the_environment_does_and_may_stand_before_the_command()
    {
        string other = PathOf("other.cairn");
        Run("create", "--capacity", "1MiB");
        Run("create", "--capacity", "1MiB", "--store", other);

        Run("--store", other, "set", "key", "value");

        Assert.Equal(["key"], Run("keys", "--store", other).Lines);
        Assert.Empty(Run("keys").Lines);
    }

    [Fact]
    public void Create_makes_a_store_of_the_size_asked_for()
    {
        ToolRun run = Run("create", "--capacity", "2MiB", "--max-capacity", "8MiB", "--average-entry", "1KiB", "--json");

        JsonElement json = run.Json;
        Assert.Equal(0, run.Code);
        Assert.Equal(new FileInfo(StorePath).Length, json.GetProperty("fileBytes").GetInt64());
        Assert.InRange(json.GetProperty("fileBytes").GetInt64(), 1 << 20, 2 << 20);
        Assert.Equal(8 << 20, json.GetProperty("maxCapacityBytes").GetInt64());
        Assert.Equal(1 << 20, json.GetProperty("maxValueBytes").GetInt64());
    }

    [Fact]
    public void Create_says_what_it_made()
    {
        ToolRun run = Run("create", "--capacity", "2MiB", "--max-capacity", "8MiB");

        Assert.StartsWith($"created {StorePath}: 2 MiB, may grow to 8 MiB, for ", run.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Create_leaves_a_store_that_is_there_alone()
    {
        Run("set", "key", "value", "--capacity", "1MiB");

        ToolRun run = Run("create");

        Assert.Equal(ExitCode.Store, run.Code);
        Assert.Equal("value", Run("get", "key").Output);
    }

    [Theory]
    [InlineData("--capacity must be 1 MiB to 1 TiB", "--capacity", "1023KiB")]
    [InlineData("--capacity must be 1 MiB to 1 TiB", "--capacity", "2TiB")]
    [InlineData("--max-capacity must be at least the capacity", "--capacity", "8MiB", "--max-capacity", "4MiB")]
    [InlineData("--average-entry must be 32 B to 1 MiB", "--average-entry", "31")]
    [InlineData("--capacity must be at least", "--capacity", "1MiB", "--max-capacity", "1TiB")]
    public void Impossible_size_is_a_usage_error_and_makes_nothing(string expected, params string[] args)
    {
        ToolRun run = Run(["create", .. args]);

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains(expected, run.Error, StringComparison.Ordinal);
        Assert.DoesNotContain("StoreOptions", run.Error, StringComparison.Ordinal);
        Assert.False(File.Exists(StorePath));
    }

    [Fact]
    public void Set_creates_the_store_and_says_so_to_people_only()
    {
        string other = PathOf("other.cairn");

        ToolRun people = Run(NewConsole(isTerminal: true), "set", "key", "value", "--capacity", "1MiB");
        ToolRun scripts = Run("set", "key", "value", "--capacity", "1MiB", "--store", other);

        Assert.Equal((0, $"cairn: created '{StorePath}' (1 MiB)\n"), (people.Code, people.Error));
        Assert.Equal((0, ""), (scripts.Code, scripts.Error));
    }
}
