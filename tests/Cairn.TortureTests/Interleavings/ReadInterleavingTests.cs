using System.Runtime.CompilerServices;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// Readers without a lock, while the value is overwritten, evicted or moved and its bytes are reused. They read whole values, and they find
/// a key that always exists. Some order catches each broken twin.
/// </summary>
public sealed class ReadInterleavingTests(ITestOutputHelper output) : IDisposable
{
    private readonly Stage _stage = new();

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Value_is_whole_while_its_entry_is_recycled() => ExpectWhole(hasFlags: false);

    [Fact]
    public void Value_that_is_read_the_long_way_is_whole_while_its_entry_is_recycled() => ExpectWhole(hasFlags: true);

    [Fact]
    public void Value_of_another_key_is_not_read_while_an_entry_is_recycled()
    {
        var entry = new RecycledEntry(_stage, isForOther: true);

        Explore(3).ExpectHolds(() => Beside(entry, () => FaultOfCopy(entry), () => entry.Recycle()));
    }

    [Fact]
    public void Value_is_whole_while_its_entry_is_recycled_twice()
    {
        var entry = new RecycledEntry(_stage);

        Explore(2).ExpectHolds(() => Beside(entry, () => FaultOfCopy(entry), () =>
        {
            entry.Recycle();
            entry.Recycle();
        }));
    }

    [Fact]
    public void Value_is_whole_or_gone_while_it_is_evicted()
    {
        var entry = new EvictedEntry(_stage, isUsed: false);

        ExploreEviction().ExpectHolds(() => Beside(entry, () => FaultOfCopy(entry, mayMiss: true)));
    }

    [Fact]
    public void Value_is_found_while_it_is_moved()
    {
        var entry = new EvictedEntry(_stage, isUsed: true);

        ExploreEviction().ExpectHolds(() => Beside(entry, () => FaultOfCopy(entry, mayMiss: false)));
    }

    [Fact]
    public void Key_is_found_while_its_entry_is_moved()
    {
        var entry = new EvictedEntry(_stage, isUsed: true);

        ExploreEviction().ExpectHolds(() => Beside(entry, () => entry.Store.DefaultCollection.Contains(entry.Key) ? null : "The key was not found."));
    }

    [Fact]
    public void Key_in_an_overflow_bucket_is_found_while_its_neighbours_come_and_go()
    {
        var key = new OverflowedKey(_stage);

        Explore(2).ExpectHolds(() => Beside(key, () => key.Get() is [1 or 2] ? null : "The key was not found."));
    }

    [Fact]
    public void Search_that_forgets_the_overflow_buckets_is_caught()
    {
        var key = new OverflowedKey(_stage);

        Explore(2).ExpectCaught(
            () => Beside(key, () => BrokenReaders.Contains(_stage.Memory, key.Ref, ReaderDefect.None) ? null : "The key was not found."));
    }

    [Fact]
    public void Reads_of_a_key_that_is_set_again_never_go_back()
    {
        _stage.Store.DefaultCollection.Set("key", [1, 1, 1, 1]);
        _stage.Keep();

        Explore(2).ExpectHolds(() =>
        {
            _stage.Reset();
            byte[] first = [];
            byte[] second = [];
            return new Scene(
                () => first is [>= 1, ..] && second is [<= 3, ..] && first[0] <= second[0] ? null : "A read missed, or went back.",
                () =>
                {
                    _stage.Store.DefaultCollection.Set("key", [2, 2, 2, 2]);
                    _stage.Store.DefaultCollection.Set("key", [3, 3, 3, 3]);
                },
                () =>
                {
                    first = _stage.Store.DefaultCollection.Get("key") ?? [];
                    second = _stage.Store.DefaultCollection.Get("key") ?? [];
                });
        });
    }

    [Fact]
    public void Reader_that_does_not_validate_is_caught() => ExpectCaught(ReaderDefect.ValidatesNothing);

    [Fact]
    public void Reader_that_looks_at_the_version_alone_is_caught() => ExpectCaught(ReaderDefect.ForgetsTheSlot);

    [Fact]
    public void Reader_that_looks_at_the_slot_alone_is_caught() => ExpectCaught(ReaderDefect.ForgetsTheVersion);

    [Fact]
    public void Search_that_looks_at_the_versions_alone_is_caught()
    {
        var entry = new EvictedEntry(_stage, isUsed: true);

        ExploreEviction().ExpectCaught(() => Beside(entry, () => FaultOfBrokenSearch(entry, ReaderDefect.ForgetsTheSlot)));
    }

    [Fact]
    public void Bytes_that_are_overwritten_before_their_slot_is_cleared_are_caught()
    {
        var entry = new RecycledEntry(_stage);

        Explore(3).ExpectCaught(
            () => Beside(entry, () => FaultOfCopy(entry), () => entry.Recycle(RecyclingDefect.OverwritesWhatTheSlotNames)));
    }

    [Fact]
    public void Reader_twin_without_a_defect_holds()
    {
        var entry = new RecycledEntry(_stage);

        Explore(3).ExpectHolds(() => Beside(entry, () => FaultOfBrokenCopy(entry, ReaderDefect.None), () => entry.Recycle()));
    }

    [Fact]
    public void Search_twin_without_a_defect_holds()
    {
        var entry = new EvictedEntry(_stage, isUsed: true);

        ExploreEviction().ExpectHolds(() => Beside(entry, () => FaultOfBrokenSearch(entry, ReaderDefect.None)));
    }

    private static string? FaultOfCopy(RecycledEntry entry)
    {
        Span<byte> copy = stackalloc byte[128];
        return !entry.Store.DefaultCollection.TryGet(entry.Key, copy, out int length)
            || RecycledEntry.IsRight(copy[..length]) ? null : "A value was read that the key never had.";
    }

    private static string? FaultOfCopy(EvictedEntry entry, bool mayMiss)
    {
        Span<byte> copy = stackalloc byte[1024];
        return !entry.Store.DefaultCollection.TryGet(entry.Key, copy, out int length)
            ? mayMiss ? null : "The key was not found."
            : copy[..length].SequenceEqual(entry.Value) ? null : "Another value was read.";
    }

    private static string? FaultOfBrokenCopy(RecycledEntry entry, ReaderDefect defect)
    {
        Span<byte> copy = stackalloc byte[128];
        return !BrokenReaders.TryGet(entry.Store.Engine, entry.Ref, copy, defect, out int length)
            || RecycledEntry.IsRight(copy[..length]) ? null : "A value was read that the key never had.";
    }

    private static string? FaultOfBrokenSearch(EvictedEntry entry, ReaderDefect defect) =>
        BrokenReaders.Contains(entry.Store.Engine.Memory, entry.Ref, defect) ? null : "The key was not found.";

    // Three actors: the version alone fails only between the two stores of a writer, while a reader is in the middle of its own work.
    private void ExpectWhole(bool hasFlags, [CallerMemberName] string test = "")
    {
        var entry = new RecycledEntry(_stage, hasFlags);

        Explore(3, test).ExpectHolds(() => Beside(entry, () => FaultOfCopy(entry), () => entry.Recycle()));
    }

    private void ExpectCaught(ReaderDefect defect, [CallerMemberName] string test = "")
    {
        var entry = new RecycledEntry(_stage);

        Explore(3, test).ExpectCaught(() => Beside(entry, () => FaultOfBrokenCopy(entry, defect), () => entry.Recycle()));
    }

    private Exploration Explore(int interruptions, [CallerMemberName] string test = "") =>
        new(output, test) { Interruptions = TortureRun.Count(interruptions, interruptions + 1) };

    private Exploration ExploreEviction([CallerMemberName] string test = "") => new(output, test) { Quiet = EvictedEntry.Quiet };

    private Scene Beside(RecycledEntry entry, Func<string?> findFault, Action change)
    {
        _stage.Reset();
        string? fault = null;
        return new Scene(
            () => fault ?? (entry.Store.GetStatistics().Totals.DamagedEntries == 0 ? null : "Damage was met."),
            change,
            () => fault = findFault());
    }

    private Scene Beside(OverflowedKey key, Func<string?> findFault)
    {
        _stage.Reset();
        string? fault = null;
        return new Scene(() => fault, key.Change, () => fault = findFault());
    }

    private Scene Beside(EvictedEntry entry, Func<string?> findFault)
    {
        _stage.Reset();
        string? fault = null;
        return new Scene(() => fault ?? entry.FindFault(), entry.Evict, () => fault = findFault());
    }
}
