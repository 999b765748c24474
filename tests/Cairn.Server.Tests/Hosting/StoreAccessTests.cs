using Cairn.Platform;
using Cairn.Server.Hosting;
using Cairn.Server.Tests.Testing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Tests.Hosting;

public sealed class StoreAccessTests
{
    [Theory]
    [InlineData(IoKind.Auto)]
    [InlineData(IoKind.Epoll)]
    public async Task Server_does_not_start_without_workers_if_the_system_refuses_their_threads(IoKind io)
    {
        using var directory = new StoreDirectory();
        BackgroundThread.IsRefused = true;
        ServerException refusal = await Assert.ThrowsAsync<ServerException>(() => CairnServer.StartAsync(new ServerOptions
        {
            StorePath = directory.FilePath, CapacityBytes = 32 << 20, Memcached = "127.0.0.1:0", Io = io,
        }));

        Assert.Contains("refuses the thread", refusal.Message, StringComparison.Ordinal);
        BackgroundThread.IsRefused = false;
        Assert.False(File.Exists(directory.FilePath));
    }

    [Fact]
    public void Failed_work_of_the_store_in_the_background_is_logged()
    {
        using var directory = new StoreDirectory();
        var log = new TestLog();
        using CairnStore store = StoreAccess.Open(new ServerOptions { StorePath = directory.FilePath, CapacityBytes = 32 << 20 }, log, out _);

        store.Engine.Failures.Report("Removing expired entries", "The disk is broken.");
        store.Engine.Failures.Report("Removing expired entries", "The disk is broken.");

        Assert.Equal("Removing expired entries failed; it is tried again: The disk is broken.", Assert.Single(log.Lines, line => line.Level == LogLevel.Warning).Message);
    }
}
