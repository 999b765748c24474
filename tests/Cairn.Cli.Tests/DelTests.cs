namespace Cairn.Cli.Tests;

public sealed class DelTests : ToolTest
{
    public DelTests() => CreateStore();

    [Fact]
    public void Keys_are_removed()
    {
        Run("set", "a", "1");
        Run("set", "b", "2");
        Run("set", "c", "3");

        ToolRun run = Run("del", "a", "b");

        Assert.Equal((0, "", ""), (run.Code, run.Output, run.Error));
        Assert.Equal(["c"], Run("keys").Lines);
    }

    [Fact]
    public void Key_that_is_not_there_is_named_and_the_others_are_removed()
    {
        Run("set", "a", "1");

        ToolRun run = Run("del", "a", "b");

        Assert.Equal((ExitCode.No, "cairn: 'b' has no value\n"), (run.Code, run.Error));
        Assert.Empty(Run("keys").Lines);
    }

    [Fact]
    public void Json_has_the_result_of_each_key()
    {
        Run("set", "a", "1");

        ToolRun run = Run("del", "a", "b", "--json");

        Assert.Equal(
            """{"removed":1,"keys":[{"key":"a","removed":true},{"key":"b","removed":false}]}""", Assert.Single(run.Lines));
        Assert.Equal((ExitCode.No, ""), (run.Code, run.Error));
    }

    [Fact]
    public void All_empties_one_collection()
    {
        Run("set", "a", "1");
        Run("set", "--collection", "sessions", "a", "2");

        ToolRun run = Run("del", "--collection", "sessions", "--all", "--json");

        Assert.Equal("""{"cleared":true}""", Assert.Single(run.Lines));
        Assert.Empty(Run("keys", "--collection", "sessions").Lines);
        Assert.Equal(["a"], Run("keys").Lines);
    }

    [Theory]
    [InlineData]
    [InlineData("--all", "a")]
    [InlineData("--al")]
    [InlineData("--bogus", "a")]
    public void Mistake_removes_nothing(params string[] args)
    {
        Run("set", "a", "1");
        Run("set", "--", "--al", "2");

        ToolRun run = Run(["del", .. args]);

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Equal(2, Run("keys").Lines.Length);
    }
}
