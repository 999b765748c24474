using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace Cairn.ReleaseTests;

/// <summary>
/// The release for Windows, run under Wine. The tests of the store that do not need Linux run there unchanged. Tests of features that Wine does not
/// have, such as replacing an open file, are left out (docs/platforms.md).
/// </summary>
public sealed class WineTests(MadeForWindows made) : IClassFixture<MadeForWindows>
{
    [WineTheory]
    [InlineData("Platform.EverySystemTests", 7)]
    [InlineData("Platform.ByteLockTests", 11)]
    [InlineData("GetTests SetTests ConditionalWriteTests IncrementTests ManyTests ExpirationTests PeekTests PinTests ScanTests", 120)]
    [InlineData("Opening.ClosingTests Concurrency.TakeoverTests Engine.HoldTests Leasing.LeaseTests Eviction.PinOfDeadOwnerTests", 37)]
    [InlineData("Eviction.EvictionTests Eviction.KeepTests Eviction.KeepLimitsTests", 20)]
    [InlineData("Maps.PersistentMapTests Maps.DurableMapTests Maps.MapSharingTests Maps.MapModelTests", 41)]
    [InlineData("WriteAhead.StoreLogTests Encryption.EncryptedStoreTests Offline.VerifyTests", 50)]
    public async Task Tests_of_the_store_pass(string classes, int fewest)
    {
        var (exitCode, output) = await made.Wine!.RunAsync(made.Tests, ["run-tests", .. classes.Split(' ')]);

        string last = output.TrimEnd().Split('\n')[^1].Trim();
        Assert.True(exitCode == 0 && last.EndsWith(" passed, 0 failed", StringComparison.Ordinal), output);
        Assert.True(int.Parse(last.Split(' ')[0]) >= fewest, output);
    }

    [WineFact]
    public async Task Byte_lock_of_a_process_that_was_killed_from_outside_is_free()
    {
        using var directory = new TestDirectory();
        await File.WriteAllBytesAsync(directory["locked"], new byte[4096]);
        string[] arguments = ["hold-byte", Wine.PathOf(directory["locked"]), $"{(1L << 62) + 3}"];
        using Process holder = made.Wine!.Open(made.Tests, arguments);
        Assert.Equal("held", await holder.StandardOutput.ReadLineAsync());
        using Process refused = made.Wine.Open(made.Tests, arguments);
        Assert.Equal("refused", await refused.StandardOutput.ReadLineAsync());

        holder.Kill();
        await holder.WaitForExitAsync();

        using Process next = made.Wine.Open(made.Tests, arguments);
        Assert.Equal("held", await next.StandardOutput.ReadLineAsync());
        refused.Kill();
        next.Kill();
    }

    [WineFact]
    public async Task Tool_works_on_a_store_and_on_a_readable_file()
    {
        using var directory = new TestDirectory();
        string store = Wine.PathOf(directory["books.cairn"]);
        string file = Wine.PathOf(directory["books.json"]);

        Assert.Equal((0, ""), await RunToolAsync("set", "--store", store, "book:42", "Dune"));
        Assert.Equal((0, "Dune"), await RunToolAsync("get", "--store", store, "book:42"));
        Assert.Equal(0, (await RunToolAsync("verify", "--store", store)).ExitCode);
        Assert.Equal(0, (await RunToolAsync("file", "set", file, "book:43", "Emma")).ExitCode);
        Assert.Equal((0, "Emma"), await RunToolAsync("file", "get", file, "book:43"));
        Assert.Contains("Emma", await File.ReadAllTextAsync(directory["books.json"]), StringComparison.Ordinal);
    }

    [WineFact]
    public async Task Tool_serves_memcached()
    {
        using var directory = new TestDirectory();
        int port = FreePorts.Take();
        using Process server = made.Wine!.Open(
            made.Tool, "serve", "--store", Wine.PathOf(directory["books.cairn"]), "--memcached", $"127.0.0.1:{port}", "--resp", "off", "--http", "off");
        Task<string> output = server.StandardOutput.ReadToEndAsync();
        while (await server.StandardError.ReadLineAsync() is { } line && !line.Contains("Listening for memcached", StringComparison.Ordinal))
        {
            // Skips the output before that line.
        }

        using (var client = new TcpClient())
        {
            await client.ConnectAsync(IPAddress.Loopback, port);
            await using NetworkStream stream = client.GetStream();
            await stream.WriteAsync("set book:42 0 0 4\r\nDune\r\nget book:42\r\nquit\r\n"u8.ToArray());
            using var reader = new StreamReader(stream);
            Assert.Equal("STORED\r\nVALUE book:42 0 4\r\nDune\r\nEND\r\n", await reader.ReadToEndAsync());
        }

        server.Kill();
        await server.WaitForExitAsync();
        await output;
    }

    private async Task<(int ExitCode, string Output)> RunToolAsync(params string[] arguments)
    {
        var (exitCode, output) = await made.Wine!.RunAsync(made.Tool, arguments);
        return (exitCode, output.Trim());
    }
}
