using System.Runtime.CompilerServices;
using Cairn.Storage;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// Pinning against eviction and recycling. A pinned value does not change, and its segment is reused after the pin is disposed. Broken
/// twins of either side change pinned bytes.
/// </summary>
public sealed class PinInterleavingTests(ITestOutputHelper output) : IDisposable
{
    private readonly Stage _stage = new(openings: 2);

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Pinned_bytes_stay_while_their_entry_is_evicted() => ExpectStable(isUsed: false, Pin);

    [Fact]
    public void Pinned_bytes_stay_while_their_entry_is_moved() => ExpectStable(isUsed: true, Pin);

    [Fact]
    public void Bytes_that_a_callback_reads_stay_while_their_entry_is_evicted() => ExpectStable(isUsed: false, ReadInCallback);

    [Fact]
    public void Bytes_that_two_pin_stay_until_both_have_read_them()
    {
        var entry = new EvictedEntry(_stage, isUsed: false);

        new Exploration(output) { Quiet = EvictedEntry.Quiet, Interruptions = TortureRun.Count(1, 2) }.ExpectHolds(
            () => Beside(entry, () => Pin(_stage[0], entry), () => Pin(_stage[1], entry)));
    }

    [Fact]
    public void Bytes_that_two_threads_pin_through_one_cell_stay_until_both_have_read_them()
    {
        var entry = new EvictedEntry(_stage, isUsed: false);

        new Exploration(output) { Quiet = EvictedEntry.Quiet, Interruptions = TortureRun.Count(1, 2) }.ExpectHolds(
            () => Beside(entry, () => Pin(_stage[1], entry), () => Pin(_stage[1], entry)));
    }

    [Fact]
    public void Pinned_bytes_stay_while_their_entry_is_recycled()
    {
        var entry = new RecycledEntry(_stage);

        Explore().ExpectHolds(() => Beside(entry, () => FaultOfPin(entry)));
    }

    [Fact]
    public void Bytes_of_another_key_are_not_pinned_while_an_entry_is_recycled()
    {
        var entry = new RecycledEntry(_stage, isForOther: true);

        Explore().ExpectHolds(() => Beside(entry, () => FaultOfPin(entry)));
    }

    [Fact]
    public void Pin_that_is_not_validated_is_caught() => ExpectCaught(ReaderDefect.ValidatesNothing);

    [Fact]
    public void Pin_that_looks_at_the_version_alone_is_caught() => ExpectCaught(ReaderDefect.ForgetsTheSlot);

    [Fact]
    public void Pin_that_looks_at_the_slot_alone_is_caught() => ExpectCaught(ReaderDefect.ForgetsTheVersion);

    [Fact]
    public void Recycling_that_looks_for_pins_before_it_clears_the_slot_is_caught() =>
        ExpectCaught(RecyclingDefect.LooksForPinsTooEarly);

    [Fact]
    public void Recycling_that_does_not_look_for_pins_is_caught() => ExpectCaught(RecyclingDefect.LooksForNoPins);

    [Fact]
    public void Pin_twin_without_a_defect_holds()
    {
        var entry = new RecycledEntry(_stage);

        Explore().ExpectHolds(() => Beside(entry, () => FaultOfBrokenPin(entry, ReaderDefect.None)));
    }

    private static string? Pin(CairnStore store, EvictedEntry entry)
    {
        if (!store.DefaultCollection.TryPin(entry.Key, out PinnedValue? pinned))
        {
            return null;
        }

        using (pinned)
        {
            return FaultOf(pinned.Value, entry);
        }
    }

    private static string? ReadInCallback(CairnStore store, EvictedEntry entry)
    {
        string? fault = null;
        store.DefaultCollection.Read(entry.Key, entry, (value, _, evicted) => fault = FaultOf(value, evicted));
        return fault;
    }

    // Reads the value three times, with steps of other actors in between.
    private static string? FaultOf(ReadOnlySpan<byte> value, EvictedEntry entry)
    {
        for (int look = 0; look < 3; look++)
        {
            if (!value.SequenceEqual(entry.Value))
            {
                return $"The pinned bytes were others at look {look}.";
            }

            Schedule.Step();
        }

        return null;
    }

    private static string? FaultOfPin(RecycledEntry entry)
    {
        if (!entry.Store.DefaultCollection.TryPin(entry.Key, out PinnedValue? pinned))
        {
            return null;
        }

        using (pinned)
        {
            return FaultOf(pinned.Value);
        }
    }

    private static unsafe string? FaultOfBrokenPin(RecycledEntry entry, ReaderDefect defect)
    {
        if (!BrokenReaders.TryPin(entry.Store.Engine, entry.Ref, defect, out int cell, out EntryView view))
        {
            return null;
        }

        string? fault = FaultOf(new ReadOnlySpan<byte>(view.Value, (int)view.ValueLength));
        entry.Store.Engine.Unpin(cell);
        return fault;
    }

    private static string? FaultOf(ReadOnlySpan<byte> value)
    {
        byte[] before = value.ToArray();
        Schedule.Step();
        bool isSame = value.SequenceEqual(before);
        Schedule.Step();
        return isSame && RecycledEntry.IsRight(before) && value.SequenceEqual(before)
            ? null : "The pinned bytes changed, or were not the key's.";
    }

    private void ExpectStable(bool isUsed, Func<CairnStore, EvictedEntry, string?> read, [CallerMemberName] string test = "")
    {
        var entry = new EvictedEntry(_stage, isUsed);

        new Exploration(output, test) { Quiet = EvictedEntry.Quiet }.ExpectHolds(() => Beside(entry, () => read(_stage[1], entry)));
    }

    private void ExpectCaught(ReaderDefect defect, [CallerMemberName] string test = "")
    {
        var entry = new RecycledEntry(_stage, isForOther: true);

        Explore(test).ExpectCaught(() => Beside(entry, () => FaultOfBrokenPin(entry, defect)));
    }

    private void ExpectCaught(RecyclingDefect defect, [CallerMemberName] string test = "")
    {
        var entry = new RecycledEntry(_stage);

        Explore(test).ExpectCaught(() => Beside(entry, () => FaultOfPin(entry), defect));
    }

    private Exploration Explore([CallerMemberName] string test = "") =>
        new(output, test) { Interruptions = TortureRun.Count(3, 4) };

    private Scene Beside(RecycledEntry entry, Func<string?> pin, RecyclingDefect defect = RecyclingDefect.None)
    {
        _stage.Reset();
        string? fault = null;
        return new Scene(
            () => fault ?? (entry.Store.GetStatistics().Totals.DamagedEntries == 0 ? null : "Damage was met."),
            () => entry.Recycle(defect),
            () => fault = pin());
    }

    private Scene Beside(EvictedEntry entry, params Func<string?>[] pins)
    {
        _stage.Reset();
        string? fault = null;
        return new Scene(
            () => fault ?? entry.FindFault(),
            [entry.Evict, .. pins.Select(pin => (Action)(() => fault ??= pin()))]);
    }
}
