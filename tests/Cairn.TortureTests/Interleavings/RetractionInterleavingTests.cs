using System.Runtime.CompilerServices;
using Cairn.Keys;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// Retracting a value without the lock while the lock's holder moves it or writes a value that depends on it. The value does not return, and only one
/// operation reports that it removed it. Broken twins of either side restore the value.
/// </summary>
public sealed class RetractionInterleavingTests(ITestOutputHelper output) : IDisposable
{
    private static readonly byte[] Key = Stage.PinnedKey("key");

    private readonly Stage _stage = new(openings: 2);
    private ulong _version;

    private CairnStore Holder => _stage[0];

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Value_does_not_come_back_that_eviction_moves()
    {
        var entry = new EvictedEntry(_stage, isUsed: true);

        new Exploration(output) { Quiet = EvictedEntry.Quiet }.ExpectHolds(() => Evicting(entry, () => Assert.True(Kill(entry.Key))));
    }

    [Fact]
    public void Value_does_not_come_back_that_eviction_drops()
    {
        var entry = new EvictedEntry(_stage, isUsed: false);

        new Exploration(output) { Quiet = EvictedEntry.Quiet }.ExpectHolds(() => Evicting(entry, () => Kill(entry.Key)));
    }

    [Fact]
    public void Value_does_not_come_back_that_is_appended_to() => ExpectGone(() => Holder.DefaultCollection.Append(Key, "0"u8));

    [Fact]
    public void Value_does_not_come_back_that_is_replaced() => ExpectGone(() => Holder.DefaultCollection.Replace(Key, "2"u8));

    [Fact]
    public void Value_does_not_come_back_that_is_replaced_by_a_long_one() => ExpectGone(() => Holder.DefaultCollection.Replace(Key, new byte[5_000]));

    [Fact]
    public void Value_does_not_come_back_that_is_compared_and_swapped() =>
        ExpectGone(() => Holder.DefaultCollection.CompareAndSwap(Key, "2"u8, _version));

    [Fact]
    public void Value_does_not_come_back_that_is_incremented() => ExpectGone(() => Holder.DefaultCollection.Increment(Key, 1, out _));

    [Fact]
    public void Value_does_not_come_back_that_is_touched() => ExpectGone(() => Holder.DefaultCollection.Touch(Key, TimeSpan.FromMinutes(1)));

    [Fact]
    public void Old_value_does_not_come_back_that_is_set_again()
    {
        Prepare();

        new Exploration(output).ExpectHolds(() => Arrange(
            () => Assert.True(Holder.DefaultCollection.Set(Key, "2"u8)),
            () => Kill(Key),
            () => Holder.DefaultCollection.GetString(Key) is "2" or null ? null : "The old value is there."));
    }

    [Fact]
    public void One_of_two_has_removed_a_value_with_the_lock_and_without()
    {
        Prepare();

        new Exploration(output).ExpectHolds(() => Removing(() => Holder.DefaultCollection.Remove(Key)));
    }

    [Fact]
    public void One_of_two_has_removed_a_value_at_its_version_and_without_the_lock()
    {
        Prepare();

        new Exploration(output).ExpectHolds(() => Removing(() => Holder.DefaultCollection.CompareAndRemove(Key, _version) == WriteStatus.Stored));
    }

    [Fact]
    public void One_of_two_has_removed_a_value_without_the_lock()
    {
        Prepare();

        new Exploration(output).ExpectHolds(() => Removing(() => Holder.Engine.Kill(HolderRef())));
    }

    [Fact]
    public void Moving_by_a_plain_store_is_caught() =>
        ExpectCaught(() => BrokenHolders.Move(Holder.Engine, HolderRef(), isPlain: true));

    [Fact]
    public void Appending_by_a_plain_store_is_caught() =>
        ExpectCaught(() => BrokenHolders.Append(Holder.Engine, HolderRef(), "0"u8, isPlain: true));

    [Fact]
    public void Removing_by_a_plain_store_is_caught()
    {
        Prepare();

        new Exploration(output).ExpectCaught(() => Removing(() => BrokenHolders.Remove(Holder.Engine, HolderRef(), isPlain: true)));
    }

    [Fact]
    public void Retraction_that_tries_once_is_caught()
    {
        var entry = new EvictedEntry(_stage, isUsed: true);

        new Exploration(output) { Quiet = EvictedEntry.Quiet }.ExpectCaught(
            () => Evicting(entry, () => BrokenHolders.KillOnce(_stage[1].Engine, Stage.RefOf(_stage[1], entry.Key))));
    }

    [Fact]
    public void Twins_without_a_defect_hold()
    {
        Prepare();
        var exploration = new Exploration(output);

        exploration.ExpectHolds(() => Retracting(() => BrokenHolders.Move(Holder.Engine, HolderRef(), isPlain: false)));
        exploration.ExpectHolds(() => Retracting(() => BrokenHolders.Append(Holder.Engine, HolderRef(), "0"u8, isPlain: false)));
        exploration.ExpectHolds(() => Removing(() => BrokenHolders.Remove(Holder.Engine, HolderRef(), isPlain: false)));
    }

    private KeyRef HolderRef() => Stage.RefOf(Holder, Key);

    private bool Kill(byte[] key) => _stage[1].Engine.Kill(Stage.RefOf(_stage[1], key));

    private void Prepare()
    {
        Holder.DefaultCollection.Set(Key, "1"u8);
        Assert.True(Holder.DefaultCollection.TryGetInfo(Key, out EntryInfo info));
        _version = info.Version;
        _stage.Keep();
    }

    private void ExpectGone(Func<WriteStatus> write, [CallerMemberName] string test = "")
    {
        Prepare();

        new Exploration(output, test).ExpectHolds(
            () => Retracting(() => Assert.True(write() is WriteStatus.Stored or WriteStatus.NotFound)));
    }

    private void ExpectCaught(Action change, [CallerMemberName] string test = "")
    {
        Prepare();

        new Exploration(output, test).ExpectCaught(() => Retracting(change));
    }

    private Scene Evicting(EvictedEntry entry, Action kill)
    {
        _stage.Reset();
        return new Scene(
            () => Holder.DefaultCollection.Contains(entry.Key) ? "The value is there." : entry.FindFault(areBooksExact: false),
            entry.Evict,
            kill);
    }

    private Scene Retracting(Action change) => Arrange(
        change,
        () => Assert.True(Kill(Key)),
        () => Holder.DefaultCollection.Contains(Key) ? "The value is there." : null);

    private Scene Removing(Func<bool> remove)
    {
        bool isRemoved = false;
        bool isKilled = false;
        return Arrange(
            () => isRemoved = remove(),
            () => isKilled = Kill(Key),
            () => isRemoved != isKilled && !Holder.DefaultCollection.Contains(Key) ? null : $"Removed: {isRemoved}. Killed: {isKilled}.");
    }

    private Scene Arrange(Action change, Action kill, Func<string?> findFault)
    {
        _stage.Reset();
        return new Scene(findFault, change, kill);
    }
}
