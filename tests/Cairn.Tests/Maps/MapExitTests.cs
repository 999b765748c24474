using System.Runtime.CompilerServices;
using Cairn.Storage;

namespace Cairn.Tests.Maps;

/// <summary>A map that has its file to itself is closed when its process ends.</summary>
public sealed class MapExitTests : StoreTest
{
    private const int Aborted = 128 + 6;
    private const int Interrupted = 128 + 2;
    private const int Terminated = 128 + 15;

    [Theory]
    [InlineData("return", 0)]
    [InlineData("exit", 3)]
    [InlineData("throw", Aborted)]
    [InlineData("return", 0, "busy")]
    [InlineData("exit", 3, "busy")]
    [InlineData("throw", Aborted, "busy")]
    public void Map_is_closed_when_its_process_ends_by_itself(string way, int exitCode, params string[] busy)
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), ["end-with-map", FilePath, way, .. busy]);
        Assert.Equal("ready", child.ReadLine());

        Assert.Equal(exitCode, child.Finish());

        Assert.True(IsClosed());
        Assert.True(OpenAgain().Map<int, int>("map").Contains(1));
    }

    [Theory]
    [InlineData]
    [InlineData("busy")]
    public void Map_is_closed_when_its_process_is_asked_to_end(params string[] busy)
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), ["end-with-map", FilePath, "wait", .. busy]);
        Assert.Equal("ready", child.ReadLine());
        Assert.False(IsClosed());

        ProcessSignals.Terminate(child.Id);

        Assert.Equal(Terminated, child.Finish());
        Assert.True(IsClosed());
        Assert.True(OpenAgain().Map<int, int>("map").Contains(1));
    }

    [Theory]
    [InlineData("return", null)]
    [InlineData("exit", null)]
    [InlineData("throw", null)]
    [InlineData("wait", Terminated)]
    [InlineData("wait", Interrupted)]
    public void Every_end_that_the_process_notices_leaves_a_put_durable_that_did_not_wait_for_the_disk(string way, int? signal)
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "end-with-map", FilePath, way, "background");
        Assert.Equal("ready", child.ReadLine());
        if (signal is { } exitCode)
        {
            Assert.False(IsDurable());
            (exitCode == Interrupted ? ProcessSignals.Interrupt : (Action<int>)ProcessSignals.Terminate)(child.Id);
            Assert.Equal(exitCode, child.Finish());
        }
        else
        {
            child.Finish();
        }

        Assert.True(IsDurable());
        Assert.Equal(1, OpenAgain().Map<int, int>("map")[1]);
    }

    [Fact]
    public void Put_of_a_killed_process_becomes_durable_while_another_process_has_the_map_open()
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "end-with-map", FilePath, "wait", "background");
        Assert.Equal("ready", child.ReadLine());
        using CairnStore other = OpenAgain();

        child.Kill();

        Assert.True(SpinWait.SpinUntil(IsDurable, TimeSpan.FromMinutes(1)));
    }

    [Theory]
    [InlineData(Terminated)]
    [InlineData(Interrupted)]
    public void Map_stays_open_in_a_process_that_ignores_a_request_to_end(int signal)
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "end-with-map", FilePath, "go-on");
        Assert.Equal("ready", child.ReadLine());

        (signal == Interrupted ? ProcessSignals.Interrupt : (Action<int>)ProcessSignals.Terminate)(child.Id);

        Assert.Equal(0, child.Finish());
        Assert.True(IsClosed());
        Assert.Equal(2, OpenAgain().Map<int, int>("map")[2]);
    }

    [Fact]
    public void Map_of_a_killed_process_is_not_closed_and_not_lost()
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "end-with-map", FilePath, "wait");
        Assert.Equal("ready", child.ReadLine());

        child.Kill();

        Assert.False(IsClosed());
        Assert.Equal(1, OpenAgain().Map<int, int>("map")[1]);
    }

    [Fact]
    public void Forgotten_map_is_not_kept_alive()
    {
        WeakReference store = OpenAndForget();

        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();

        Assert.False(store.IsAlive);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WeakReference OpenAndForget()
    {
        PersistentMap<int, int> map = PersistentMap.Open(Options, PersistentMapTests.Kept<int, int>());
        map[1] = 1;
        return new WeakReference(map.Store);
    }

    private bool IsClosed() => ReadSuperblock().State == Superblock.StateClosed;

    private bool IsDurable()
    {
        LogBlock log = ReadSuperblock().Log;
        return log.LogId != 0 && log.Durable == log.Tail;
    }

    private unsafe Superblock ReadSuperblock()
    {
        byte[] page = new byte[StoreLayout.SuperblockBytes];
        using FileStream file = File.OpenRead(FilePath);
        file.ReadExactly(page);
        fixed (byte* bytes = page)
        {
            return *(Superblock*)bytes;
        }
    }
}
