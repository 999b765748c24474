using Cairn.Eviction;
using Cairn.Messages;
using Cairn.Platform;
using Cairn.Tests.WriteAhead;

namespace Cairn.Tests.Engine;

/// <summary>A failure of work for which no caller waits is reported, and neither too often nor to several logs.</summary>
public sealed class BackgroundFailureTests : LoggedStoreTest
{
    private readonly List<string> _messages = [];
    private long _nowMs;

    [Fact]
    public void Failure_is_reported_once_a_minute_with_the_number_of_others()
    {
        BackgroundFailures failures = Create();
        for (int i = 0; i < 3; i++)
        {
            failures.Report("Sweeping", "The disk is broken.");
        }

        _nowMs += 59_999;
        failures.Report("Sweeping", "The disk is broken.");
        Assert.Equal(["Sweeping failed; it is tried again: The disk is broken."], _messages);

        _nowMs++;
        failures.Report("Sweeping", "The disk is still broken.");
        Assert.Equal("Sweeping failed (3 more since the last such message); it is tried again: The disk is still broken.", _messages[^1]);
    }

    [Fact]
    public void Failures_of_one_kind_do_not_hide_another_kind()
    {
        BackgroundFailures failures = Create();
        failures.Report("Sweeping", "The disk is broken.");
        failures.Report("Growing", "The disk is full.");

        Assert.Equal(2, _messages.Count);
    }

    [Fact]
    public void Only_one_of_several_receivers_gets_a_failure_and_another_one_when_that_has_left()
    {
        BackgroundFailures failures = Create();
        Action<string> second = message => _messages.Add($"second: {message}");
        failures.Add(second);
        failures.Report("Sweeping", "a");
        Assert.Single(_messages);

        failures.Remove(_messages.Add);
        _nowMs += 60_000;
        failures.Report("Sweeping", "b");
        Assert.Equal("second: Sweeping failed; it is tried again: b", Assert.Single(_messages.Skip(1)));
    }

    [Fact]
    public void Failure_before_there_is_a_receiver_is_counted_in_the_first_message()
    {
        var failures = new BackgroundFailures { NowMs = () => _nowMs };
        failures.Report("Sweeping", "a");
        failures.Add(_messages.Add);
        failures.Report("Sweeping", "b");

        Assert.Equal("Sweeping failed (1 more since the last such message); it is tried again: b", Assert.Single(_messages));
    }

    [Fact]
    public void Sweep_that_fails_is_reported_by_the_store_and_in_its_statistics_until_one_succeeds()
    {
        CairnStore store = Open(Options with { RemovesExpired = true, TimeProvider = TimeProvider.System });
        using var reported = new ManualResetEventSlim();
        string? stated = null;
        store.Engine.Failures.Add(message =>
        {
            stated = store.GetStatistics().SweepFailure; // Here, because the next turn comes a second later and may succeed.
            lock (_messages)
            {
                _messages.Add(message);
            }

            reported.Set();
        });
        var broken = new BrokenObserver { IsBroken = true };
        store.Engine.Observer = broken;
        store.DefaultCollection.Set("key", "value"u8, TimeSpan.FromMilliseconds(1));

        Assert.True(reported.Wait(TimeSpan.FromMinutes(1)));
        Assert.Equal("The test says so.", stated);
        Assert.StartsWith("Removing expired entries failed; it is tried again: The test says so.", _messages[0], StringComparison.Ordinal);

        broken.IsBroken = false;
        store.DefaultCollection.Set("other", "value"u8, TimeSpan.FromMilliseconds(1));
        Assert.True(SpinWait.SpinUntil(() => store.GetStatistics().SweepFailure is null, TimeSpan.FromMinutes(1)));
        Assert.Single(_messages);
    }

    [Fact]
    public void Sweep_that_fails_in_one_partition_still_sweeps_the_others()
    {
        CairnStore store = Open(Options with { CapacityBytes = 64 << 20 });
        Assert.True(store.PartitionCount > 1);
        var broken = new BrokenObserver { IsBroken = true, Key = "0" };
        store.Engine.Observer = broken;
        for (int i = 0; i < 200; i++)
        {
            store.DefaultCollection.Set($"{i}", "value"u8, TimeSpan.FromMilliseconds(1));
        }

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Throws<StoreException>(() => store.SweepExpired());

        int elsewhere = Enumerable.Range(0, 200).Count(i => store.DefaultCollection.PartitionOf($"{i}") != store.DefaultCollection.PartitionOf("0"));
        Assert.InRange(store.GetStatistics().Totals.Expirations, elsewhere, 199);
    }

    [Fact]
    public void Records_that_no_caller_waits_for_and_the_disk_refuses_are_reported()
    {
        var disk = new FaultyPlatform();
        CairnStore store = disk.OpenStore(Small);
        using var reported = new ManualResetEventSlim();
        store.Engine.Failures.Add(message =>
        {
            _messages.Add(message);
            reported.Set();
        });
        CairnCollection books = store.Collection("books", Logged with { Durability = Durability.BackgroundCommit });
        disk.OnFlush = () => throw FaultyPlatform.Failed("The flush");
        books.Set("42", "Dune"u8);

        Assert.True(reported.Wait(TimeSpan.FromMinutes(1)));
        Assert.StartsWith("Making the last writes durable failed", _messages[0], StringComparison.Ordinal);
        disk.OnFlush = null;
        store.Dispose();
    }

    private BackgroundFailures Create()
    {
        var failures = new BackgroundFailures { NowMs = () => _nowMs };
        failures.Add(_messages.Add);
        return failures;
    }

    private sealed class BrokenObserver : IEntryObserver
    {
        public volatile bool IsBroken;

        public string? Key { get; init; }

        public void OnDeparted(ReadOnlySpan<byte> key, uint collection, EntryDeparture departure)
        {
            if (IsBroken && (Key is null || key.SequenceEqual(System.Text.Encoding.ASCII.GetBytes(Key))))
            {
                throw new StoreException("The test says so.");
            }
        }
    }
}
