using System.Net;
using System.Net.Sockets;
using Cairn.Platform;

namespace Cairn.Cli.Tests;

/// <summary>A first command that fails leaves no files. ServeStartTests covers 'serve'.</summary>
public sealed class FailedStartTests : ToolTest
{
    [Theory]
    [InlineData("set key")]
    [InlineData("set key value --add --replace")]
    [InlineData("set key value --ttl soon")]
    [InlineData("set key value --flags x")]
    [InlineData("set key value --capacity 1")]
    [InlineData("set key ! --base64")]
    [InlineData("set key --file {missing}")]
    [InlineData("set key --file {large} --capacity 1MiB")]
    [InlineData("set {long} value --capacity 1MiB")]
    [InlineData("set key value --collection {long} --capacity 1MiB")]
    [InlineData("set key value --replace --capacity 1MiB")]
    [InlineData("set key value --if-version 3 --capacity 1MiB")]
    [InlineData("set key value --store {missing}/store.cairn")]
    [InlineData("set key value --store {folder}")]
    [InlineData("create --capacity 1")]
    [InlineData("create --capacity 2TiB")]
    [InlineData("create --capacity 8MiB --max-capacity 4MiB")]
    [InlineData("create --capacity 1MiB --average-entry 1")]
    [InlineData("create --capacity 1MiB --max-capacity 1TiB")]
    [InlineData("create --store {missing}/store.cairn")]
    [InlineData("create --store {folder}")]
    [InlineData("create --store {large}")]
    [InlineData("create --key-file {missing}")]
    [InlineData("open")]
    [InlineData("open {missing}")]
    [InlineData("open {folder}")]
    [InlineData("open {large}")]
    [InlineData("open --port 0")]
    public void Command_that_fails_leaves_no_new_file(string command)
    {
        Directory.CreateDirectory(PathOf("folder"));
        File.WriteAllBytes(PathOf("large"), new byte[2 << 20]);
        string[] before = FilesHere();

        ToolRun run = Run([.. command.Split(' ').Select(Fill)]);

        Assert.NotEqual(ExitCode.Done, run.Code);
        Assert.DoesNotContain("internal error", run.Error, StringComparison.Ordinal);
        Assert.Equal(before, FilesHere());
    }

    [Fact]
    public void Store_that_cannot_be_shown_on_a_port_in_use_stays_as_it_was()
    {
        CreateStore();
        string[] before = FilesHere();
        using var other = new TcpListener(IPAddress.Loopback, 0);
        other.Start();

        ToolRun run = Run("open", "--port", $"{((IPEndPoint)other.LocalEndpoint).Port}");

        Assert.Equal(ExitCode.Server, run.Code);
        Assert.Equal(before, FilesHere());
    }

    private string[] FilesHere() =>
        [.. Directory.GetFileSystemEntries(Path.GetDirectoryName(StorePath)!, "*", SearchOption.AllDirectories).Order(StringComparer.Ordinal)];

    [Theory]
    [InlineData("backup {pipe}")]
    [InlineData("file set {pipe} key value")]
    [InlineData("file get {pipe} key")]
    [InlineData("file list {pipe}")]
    [InlineData("file verify {pipe}")]
    [InlineData("file edit {pipe}")]
    [InlineData("file convert {pipe}")]
    public void Pipe_is_refused_and_not_replaced_by_a_file(string command)
    {
        Run("set", "book:42", "Dune", "--capacity", "8MiB");
        MakePipe(PathOf("pipe"));
        string[] before = FilesHere();

        ToolRun run = Run([.. command.Split(' ').Select(Fill)]);

        Assert.NotEqual(ExitCode.Done, run.Code);
        Assert.Contains("device, pipe or socket", run.Error, StringComparison.Ordinal);
        Assert.True(HostPlatform.Current.IsSpecialFile(PathOf("pipe")));
        Assert.Equal(before, FilesHere());
    }

    [Fact]
    public async Task Export_to_a_pipe_goes_through_the_pipe()
    {
        Run("set", "book:42", "Dune", "--capacity", "8MiB");
        MakePipe(PathOf("pipe"));

        Task<string> reader = Task.Run(() => File.ReadAllText(PathOf("pipe")));
        ToolRun run = Run("export", "--file", PathOf("pipe"));

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.Contains("book:42", await reader.WaitAsync(TimeSpan.FromMinutes(1)), StringComparison.Ordinal);
    }

    private string Fill(string word) => word
        .Replace("{missing}", PathOf("missing"), StringComparison.Ordinal)
        .Replace("{folder}", PathOf("folder"), StringComparison.Ordinal)
        .Replace("{pipe}", PathOf("pipe"), StringComparison.Ordinal)
        .Replace("{large}", PathOf("large"), StringComparison.Ordinal)
        .Replace("{long}", new string('k', 70_000), StringComparison.Ordinal);
}
