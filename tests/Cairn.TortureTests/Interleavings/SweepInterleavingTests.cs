using System.Runtime.CompilerServices;
using Cairn.Eviction;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// Sweeping expired entries while other operations use them. The others are sweeps, writes of their keys, reads that extend their lives, pins, and the
/// reuse of their segments.
/// </summary>
public sealed class SweepInterleavingTests : IDisposable
{
    private const int ValueBytes = 700;
    private const int Expiring = 12;
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    private readonly ITestOutputHelper _output;
    private readonly Stage _stage = new(openings: 2);
    private readonly DateTimeOffset _beginning;

    public SweepInterleavingTests(ITestOutputHelper output)
    {
        _output = output;
        for (int opening = 0; opening < 2; opening++)
        {
            _stage[opening].Engine.SweepIntervalSeconds = 0;
        }

        for (int i = 0; i < Expiring; i++)
        {
            _stage.Store.DefaultCollection.Set($"short {i}", ValueOf(i), Minute);
        }

        _stage.Store.DefaultCollection.Set("sliding", ValueOf(0), Expiration.Sliding(Minute + TimeSpan.FromSeconds(1)));
        _stage.Store.DefaultCollection.Set("stays", ValueOf(0));
        _stage.Keep();
        _beginning = _stage.Clock.Now;
    }

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Key_that_is_written_again_during_two_sweeps_is_neither_lost_nor_counted_twice() => Explore().ExpectHolds(() =>
    {
        Begin();
        return new Scene(
            () =>
            {
                // A sweep that found the lock taken left the rest to the next one.
                Sweep(_stage.Store);
                StoreStatistics statistics = _stage.Store.GetStatistics();
                return _stage.Store.DefaultCollection.Get("short 3") is { Length: 5 } && _stage.Store.DefaultCollection.Contains("stays")
                    ? FaultOf(statistics, entries: 3, expirations: Expiring)
                    : "The new value was lost.";
            },
            () => Sweep(_stage[0]),
            () => Sweep(_stage[1]),
            () => _stage[1].DefaultCollection.Set("short 3", "newer"u8, 2 * Minute));
    });

    [Fact]
    public void Entry_that_a_use_keeps_alive_is_not_swept() => Explore().ExpectHolds(() =>
    {
        Begin();
        bool isUsed = false;
        return new Scene(
            () =>
            {
                _stage.Clock.Advance(TimeSpan.FromSeconds(2));
                Sweep(_stage.Store);
                return isUsed == _stage.Store.DefaultCollection.Contains("sliding") || !isUsed ? FaultOf(_stage.Store.GetStatistics(), null, null) : "It was used, and is gone.";
            },
            () => Sweep(_stage[0]),
            () =>
            {
                long before = DeadlineOf("sliding");
                isUsed = _stage[1].DefaultCollection.Get("sliding") is not null && DeadlineOf("sliding") > before; // A hint only: the lock may be taken.
            });
    });

    [Fact]
    public void Pinned_bytes_stay_while_their_segment_is_swept_and_used_again() => Explore().ExpectHolds(() =>
    {
        Begin(isExpired: false);
        string? fault = null;
        return new Scene(
            () => fault ?? FaultOf(_stage.Store.GetStatistics(), null, null),
            () =>
            {
                if (_stage[1].DefaultCollection.TryPin("short 0", out PinnedValue? pinned))
                {
                    using (pinned)
                    {
                        for (int look = 0; look < 3; look++)
                        {
                            fault ??= pinned.Value.SequenceEqual(ValueOf(0)) ? null : $"The pinned bytes were others at look {look}.";
                            Schedule.Step();
                        }
                    }
                }
            },
            () =>
            {
                _stage.Clock.Advance(Minute);
                Sweep(_stage[0]);
                for (int i = 0; i < 8; i++)
                {
                    _stage[0].DefaultCollection.Set($"new {i}", ValueOf(100 + i));
                }
            });
    });

    private static byte[] ValueOf(int number)
    {
        byte[] value = new byte[ValueBytes];
        value.AsSpan().Fill((byte)(number + 1));
        return value;
    }

    // Sweeps in the order of the segments, independently of the sweeps in other runs.
    private static void Sweep(CairnStore store)
    {
        long now = store.Options.TimeProvider.GetUtcNow().ToUnixTimeMilliseconds();
        for (int segment = 0; segment < store.Engine.Memory.SegmentCount; segment++)
        {
            while (store.Engine.IsDueToSweep(segment, now, out int partition)
                && store.Engine.TrySweep(partition, segment, out SweepStep step) && !step.IsDone)
            {
                // Sweeps step by step.
            }
        }
    }

    private string? FaultOf(StoreStatistics statistics, long? entries, long? expirations) =>
        StoreAudit.FindFaults(_stage.Store, areBooksExact: true) is [var fault, ..] ? fault
        : statistics.Totals.DamagedEntries > 0 ? $"{statistics.Totals.DamagedEntries} damaged entries were met."
        : entries is not null && statistics.Totals.Entries != entries ? $"{statistics.Totals.Entries} entries are counted, not {entries}."
        : expirations is not null && statistics.Totals.Expirations != expirations ? $"{statistics.Totals.Expirations} expirations are counted, not {expirations}."
        : null;

    private long DeadlineOf(string key) =>
        _stage[1].DefaultCollection.TryGetInfo(key, out EntryInfo info) ? info.ExpiresAt!.Value.ToUnixTimeMilliseconds() : 0;

    private void Begin(bool isExpired = true)
    {
        _stage.Reset();
        _stage.Clock.Set(isExpired ? _beginning + Minute : _beginning);
    }

    private Exploration Explore([CallerMemberName] string test = "") =>
        new(_output, test) { Interruptions = TortureRun.Count(1, 2), RandomOrders = TortureRun.Count(200, 20_000), Quiet = EvictedEntry.Quiet };
}
