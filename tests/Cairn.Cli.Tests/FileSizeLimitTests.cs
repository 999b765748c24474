namespace Cairn.Cli.Tests;

/// <summary>A write beyond the limit on file sizes fails with an error. Without care it would end the process (SIGXFSZ).</summary>
public sealed class FileSizeLimitTests : ToolTest
{
    [Fact]
    public void Cache_file_that_would_exceed_the_limit_on_file_sizes_is_an_error_and_stays_as_it_was()
    {
        string file = PathOf("cache.json");
        Run("file", "set", file, "a", "1");

        ToolRun append = RunWithFileLimit([.. Enumerable.Repeat((byte)'x', 100_000)], "file", "set", file, "b", "-");

        Assert.Equal(ExitCode.File, append.Code);
        Assert.Contains("ulimit -f", append.Error, StringComparison.Ordinal);
        Assert.Equal("1", Run("file", "get", file, "a").Output);
        Assert.Equal(ExitCode.Done, Run("file", "verify", file).Code);
    }

    [Fact]
    public void Export_that_exceeds_the_limit_on_file_sizes_is_an_error_and_leaves_no_file()
    {
        Run("set", "key", new string('x', 100_000), "--capacity", "8MiB");

        ToolRun export = RunWithFileLimit([], "export", "--store", StorePath, "--file", PathOf("export"));

        Assert.Equal(ExitCode.File, export.Code);
        Assert.Contains("ulimit -f", export.Error, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFiles(Path.GetDirectoryName(StorePath)!, "export*"));
    }

    [Fact]
    public void Server_that_cannot_write_the_file_with_its_number_says_so_and_leaves_no_file()
    {
        ToolRun serve = RunWithFileLimit(
            [], bytes: 0, "serve", "--store", StorePath, "--memcached", "127.0.0.1:0", "--resp", "off", "--http", "off", "--pid-file", PathOf("pid"));

        Assert.Equal(ExitCode.File, serve.Code);
        Assert.Contains("ulimit -f", serve.Error, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(Path.GetDirectoryName(StorePath)!));
    }

    // The runtime has a file in memory that is larger, unless this variable is set.
    private static ToolRun RunWithFileLimit(byte[] input, params string[] args) => RunWithFileLimit(input, 64 << 10, args);

    private static ToolRun RunWithFileLimit(byte[] input, int bytes, params string[] args)
    {
        using ToolProcess process = ToolProcess.StartProgram(
            "env", ["DOTNET_EnableWriteXorExecute=0", "prlimit", $"--fsize={bytes}:", .. ToolProcess.Command, .. args]);
        return process.Finish(input);
    }
}
