using Cairn.Caching.Coherence;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>
/// The values that one thread may find while another notifies the sink or keeps a value. The situations are created step by step, with the real
/// coherence and with twins. Each twin leaves out one rule and finds an outdated value.
/// </summary>
public sealed class CoherenceThreadTests : IDisposable
{
    private const string Key = "book:42";
    private const long Old = 1;
    private const int SeenBlocked = 1_000;

    private readonly CoherentStore _stage = new();

    private ulong Hash => _stage.Store.DefaultCollection.HashOf(Key);

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void No_caller_finds_the_old_value_while_a_change_is_being_reported() => Assert.Null(FoundWhileTelling());

    [Fact]
    public void Change_during_keeping_is_reported_after_it() => Assert.Null(FoundAfterChangeDuringKeeping());

    [Fact]
    public void Value_from_before_a_change_is_not_kept_after_others_were_notified_of_it() => Assert.Null(FoundAfterLateKeeping());

    [Fact]
    public void Value_from_before_a_clearing_is_not_found() => Assert.Null(FoundAfterClearing());

    [Fact]
    public void Twin_without_a_defect_finds_nothing_old()
    {
        _stage.Use(new BrokenCoherence(_stage.Store, CoherenceDefect.None));

        Assert.Null(FoundWhileTelling());
        Assert.Null(FoundAfterChangeDuringKeeping());
        Assert.Null(FoundAfterLateKeeping());
        Assert.Null(FoundAfterClearing());
    }

    [Fact]
    public void Draining_that_is_published_before_the_sink_has_forgotten_is_caught()
    {
        _stage.Use(new BrokenCoherence(_stage.Store, CoherenceDefect.PublishesFirst));

        Assert.Equal(Old, FoundWhileTelling());
    }

    [Fact]
    public void Keeping_after_the_lock_was_released_is_caught()
    {
        _stage.Use(new BrokenCoherence(_stage.Store, CoherenceDefect.KeepsWithoutTheLock));

        Assert.Equal(Old, FoundAfterChangeDuringKeeping());
    }

    [Fact]
    public void Keeping_without_a_look_at_the_changes_since_the_mark_is_caught()
    {
        _stage.Use(new BrokenCoherence(_stage.Store, CoherenceDefect.KeepsWithoutLooking));

        Assert.Equal(Old, FoundAfterLateKeeping());
    }

    [Fact]
    public void Overrun_that_is_taken_for_nothing_is_caught()
    {
        _stage.Use(new BrokenCoherence(_stage.Store, CoherenceDefect.IgnoresOverruns));

        Assert.Equal(Old, FoundAfterClearing());
    }

    // Returns what a second reader finds while the first notifies the sink.
    private long? FoundWhileTelling()
    {
        _stage.Keep(_stage.Coherence.Mark(Hash), Hash, Old);
        _stage.Other.DefaultCollection.Set(Key, "new"u8);
        long? found = null;
        Thread? second = null;
        _stage.Held.BeforeForgetting = () =>
        {
            second = StartReader(value => found = value);
            UntilEndedOrBlocked(second);
        };

        _stage.Coherence.TryCatchUp(Hash);
        second!.Join();
        _stage.Held.BeforeForgetting = null;
        return found;
    }

    // Returns what is found if a change arrives, and another reader catches up with it, between the check of the ring and the keeping.
    private long? FoundAfterChangeDuringKeeping()
    {
        Thread? other = null;
        _stage.Coherence.TryKeep(_stage.Coherence.Mark(Hash), Hash, 0, _stage, stage =>
        {
            stage.Other.DefaultCollection.Set(Key, "new"u8);
            other = StartReader(_ => { });
            UntilEndedOrBlocked(other);
            stage.Held.Keep(Hash, Old);
            return true;
        });
        other!.Join();
        return _stage.Find(Hash);
    }

    // Returns what is found after keeping a value that was read before a change of which the sink has been notified.
    private long? FoundAfterLateKeeping()
    {
        ChangeMark mark = _stage.Coherence.Mark(Hash);
        _stage.Other.DefaultCollection.Set(Key, "new"u8);
        _stage.Coherence.TryCatchUp(Hash);
        _stage.Keep(mark, Hash, Old);
        return _stage.Find(Hash);
    }

    private long? FoundAfterClearing()
    {
        _stage.Keep(_stage.Coherence.Mark(Hash), Hash, Old);
        _stage.Other.DefaultCollection.Clear();
        return _stage.Find(Hash);
    }

    private Thread StartReader(Action<long?> found)
    {
        var reader = new Thread(() =>
        {
            _stage.Coherence.TryCatchUp(Hash);
            found(_stage.Held.TryFind(Hash, out long value) ? value : null);
        });
        reader.Start();
        return reader;
    }

    // The thread is seen blocked many times in a row, so the lock blocks it and not something brief.
    private static void UntilEndedOrBlocked(Thread thread)
    {
        for (int blocked = 0; thread.IsAlive && blocked < SeenBlocked; Thread.Yield())
        {
            blocked = (thread.ThreadState & ThreadState.WaitSleepJoin) != 0 ? blocked + 1 : 0;
        }
    }
}
