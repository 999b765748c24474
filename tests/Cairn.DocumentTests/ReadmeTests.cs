namespace Cairn.DocumentTests;

/// <summary>
/// The shell blocks of README.md work when a user pastes them. Each block runs as a whole and in order, in a clean clone. Every block has a network of its
/// own, because README.md uses the default ports.
/// </summary>
public sealed class ReadmeTests
{
    [RequiresNamespacesFact("git", "bash", "redis-cli", "curl")]
    public async Task Every_shell_block_of_the_readme_prints_what_it_says()
    {
        using var shell = new CleanShell();
        await shell.CloneAsync();
        ShellBlock[] blocks = [.. ShellBlock.Read(await File.ReadAllLinesAsync(RepositoryFile.At("README.md")))];

        Assert.Equal(3, blocks.Count(block => block.Output.Count > 0));
        foreach (ShellBlock block in blocks)
        {
            ProgramRun run = await shell.PasteAsync(shell.Clone, block.Script);

            Assert.True(run.ExitCode == 0 && block.IsShownBy(run.Output), $"README.md:{block.Line} ended with {run.ExitCode} and printed:\n{run.Everything}");
        }
    }

    [Fact]
    public void Output_that_lacks_a_line_or_has_another_order_is_noticed()
    {
        string[] document = ["```sh", "echo OK", "echo '\"Dune\"'", "```", "", "```text", "OK", "\"Dune\"", "```", "", "```sh", "true", "```", "", "Words.", "", "```text", "no output", "```"];

        ShellBlock[] blocks = [.. ShellBlock.Read(document)];

        Assert.Equal([1, 11], blocks.Select(block => block.Line));
        Assert.Equal(["OK", "\"Dune\""], blocks[0].Output);
        Assert.Empty(blocks[1].Output);
        Assert.True(blocks[0].IsShownBy("noise\nOK\nnoise\nDune\n"));
        Assert.False(blocks[0].IsShownBy("Dune\nOK\n"));
        Assert.False(blocks[0].IsShownBy("OK\n"));
        Assert.False(blocks[0].IsShownBy("OK, or not\nDune\n"));
    }

    [Fact]
    public void Console_block_has_its_output_between_its_commands()
    {
        string[] document = ["```console", "$ cairn get a", "Dune", "$ cairn keys", "a", "```"];

        ShellBlock block = Assert.Single(ShellBlock.Read(document));

        Assert.Equal("cairn get a\ncairn keys\n", block.Script);
        Assert.Equal(["Dune", "a"], block.Output);
    }
}
