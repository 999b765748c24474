using System.Diagnostics;
using Cairn.Platform;

namespace Cairn.Tests.Platform;

/// <summary>Waiting on a word works across mappings and processes, and ends at its time-out.</summary>
public sealed class WaitOnAddressTests : IDisposable
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);

    private readonly TestDirectory _directory = new();
    private readonly StoreFile _file;
    private readonly MappedRegion _region;

    public WaitOnAddressTests()
    {
        File.WriteAllBytes(_directory["words"], new byte[4096]);
        _file = HostPlatform.Current.Open(_directory["words"]);
        _region = _file.Map(4096, writable: true);
    }

    private unsafe ref uint Word => ref *(uint*)_region.Address;

    public void Dispose()
    {
        _region.Dispose();
        _file.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Word_with_another_value_is_not_waited_for()
    {
        Word = 5;

        Assert.True(Wait(4, Timeout.InfiniteTimeSpan));
    }

    [Fact]
    public void Wait_without_a_wake_lasts_its_time_and_says_so()
    {
        var timeout = TimeSpan.FromMilliseconds(20);
        long start = Stopwatch.GetTimestamp();

        // A signal may interrupt a wait, which then counts as woken.
        while (Wait(0, timeout))
        {
            start = Stopwatch.GetTimestamp();
        }

        Assert.True(Stopwatch.GetElapsedTime(start) >= timeout);
        Assert.False(Wait(0, TimeSpan.Zero));
    }

    [Fact]
    public void Negative_time_is_refused() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => Wait(0, TimeSpan.FromTicks(-1)));

    [Fact]
    public async Task Waiter_is_woken_through_another_mapping_of_the_file()
    {
        using StoreFile other = HostPlatform.Current.Open(_directory["words"]);
        MappedRegion sameWord = other.Map(4096, writable: true);
        Task<bool> waiter = OwnThread.Run(() => Wait(0, Long));

        WakeUntilCompleted(sameWord, waiter);

        Assert.True(await waiter);
    }

    [Fact]
    public async Task Wake_of_all_reaches_every_waiter()
    {
        List<Task> waiters =
        [
            .. Enumerable.Range(0, 4).Select(_ => OwnThread.Run(() =>
            {
                while (Volatile.Read(ref Word) == 0)
                {
                    Assert.True(Wait(0, Long));
                }
            })),
        ];

        Volatile.Write(ref Word, 1);
        Wake(_region, all: true);

        await Task.WhenAll(waiters);
    }

    [Fact]
    public async Task Waiter_in_another_process_is_woken()
    {
        using ChildProcess child = ChildProcess.Start(typeof(Program), "wait-on-word", _directory["words"]);
        Assert.Equal("waiting", child.ReadLine());
        Task<string> report = OwnThread.Run(child.ReadLine);

        WakeUntilCompleted(_region, report);

        Assert.Equal("True", await report);
    }

    // The word never changes, so only a wake can end the wait early. A wake before the wait is lost, so this one is repeated.
    private static void WakeUntilCompleted(MappedRegion region, Task waiter)
    {
        while (!waiter.IsCompleted)
        {
            Wake(region, all: false);
            Thread.Yield();
        }
    }

    private static unsafe void Wake(MappedRegion region, bool all) =>
        HostPlatform.Current.WakeByAddress((uint*)region.Address, all);

    private unsafe bool Wait(uint expected, TimeSpan timeout) =>
        HostPlatform.Current.WaitOnAddress((uint*)_region.Address, expected, timeout);
}
