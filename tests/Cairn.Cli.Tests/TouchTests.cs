namespace Cairn.Cli.Tests;

public sealed class TouchTests : ToolTest
{
    public TouchTests() => CreateStore();

    [Fact]
    public void Expiration_is_changed_and_the_value_stays()
    {
        Run("set", "book:42", "Dune", "--ttl", "1m");

        ToolRun run = Run("touch", "book:42", "--ttl", "1h");
        Clock.Advance(TimeSpan.FromMinutes(59));

        Assert.Equal((0, "", ""), (run.Code, run.Output, run.Error));
        Assert.Equal("Dune", Run("get", "book:42").Output);
    }

    [Fact]
    public void Expiration_can_be_taken_away()
    {
        Run("set", "book:42", "Dune", "--ttl", "1m");

        Run("touch", "book:42", "--no-expiry");
        Clock.Advance(TimeSpan.FromDays(1000));

        Assert.Equal("Dune", Run("get", "book:42").Output);
    }

    [Fact]
    public void Key_that_is_not_there_is_named_and_the_others_are_changed()
    {
        Run("set", "a", "1", "--ttl", "1m");

        ToolRun run = Run("touch", "a", "b", "--ttl", "1h");
        Clock.Advance(TimeSpan.FromMinutes(2));

        Assert.Equal((ExitCode.No, "cairn: 'b' has no value\n"), (run.Code, run.Error));
        Assert.Equal("1", Run("get", "a").Output);
    }

    [Fact]
    public void Json_has_the_result_of_each_key()
    {
        Run("set", "a", "1");

        ToolRun run = Run("touch", "a", "b", "--sliding", "1h", "--json");

        Assert.Equal(
            """{"touched":1,"keys":[{"key":"a","status":"touched"},{"key":"b","status":"notFound"}]}""", Assert.Single(run.Lines));
        Assert.Equal((ExitCode.No, ""), (run.Code, run.Error));
    }

    [Fact]
    public void Missing_collection_is_not_created()
    {
        ToolRun run = Run("touch", "--collection", "sessions", "alice", "--ttl", "1h");

        Assert.Equal(ExitCode.No, run.Code);
        using CairnStore store = OpenStore();
        Assert.Empty(store.CollectionNames);
    }

    [Fact]
    public void Without_an_expiration_there_is_nothing_to_do()
    {
        ToolRun run = Run("touch", "a");

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains("when should it expire?", run.Error, StringComparison.Ordinal);
    }
}
