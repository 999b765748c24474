using System.Runtime.CompilerServices;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// Reads of an entry that another opening replaces or removes, and then marks as garbage. The mark changes a byte that the entry's checksum covers. No read
/// takes the mark for damage or for a missing value.
/// </summary>
public sealed class MarkInterleavingTests(ITestOutputHelper output) : IDisposable
{
    private static readonly byte[] Key = Stage.PinnedKey("key");

    private readonly Stage _stage = new(openings: 2);

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Copy_of_a_value_that_is_replaced_meanwhile_is_the_old_or_the_new_one() =>
        ExpectRight(store => store.DefaultCollection.Get(Key));

    [Fact]
    public void Pinned_value_that_is_replaced_meanwhile_is_the_old_or_the_new_one() => ExpectRight(ReadPinned);

    [Fact]
    public void Value_that_a_callback_reads_and_that_is_replaced_meanwhile_is_the_old_or_the_new_one() => ExpectRight(store =>
    {
        byte[]? read = null;
        store.DefaultCollection.Read(Key, 0, (value, _, _) => read = value.ToArray());
        return read;
    });

    [Fact]
    public void Properties_of_a_value_that_is_replaced_meanwhile_are_found() =>
        ExpectRight(store => store.DefaultCollection.TryGetInfo(Key, out EntryInfo info) && info.ValueBytes == 4 ? [1, 1, 1, 1] : null);

    [Fact]
    public void Long_value_is_appended_to_the_old_or_the_new_value()
    {
        byte[] addition = new byte[5_000];
        Prepare();

        new Exploration(output).ExpectHolds(() =>
        {
            _stage.Reset();
            WriteStatus status = default;
            return new Scene(
                () => status != WriteStatus.Stored ? $"The status of the append is {status}."
                    : _stage.Store.GetStatistics().Totals.DamagedEntries != 0 ? "Damage was met."
                    : _stage.Store.DefaultCollection.Get(Key) is [2, 2, 2, 2, ..] ? null : "The new value is not there.",
                () => Assert.True(_stage.Store.DefaultCollection.Set(Key, [2, 2, 2, 2])),
                () => status = _stage[1].DefaultCollection.Append(Key, addition));
        });
    }

    [Fact]
    public void Removed_value_is_read_or_missing_and_is_not_damage()
    {
        Prepare();

        foreach (Func<CairnStore, byte[]?> read in (Func<CairnStore, byte[]?>[])[store => store.DefaultCollection.Get(Key), ReadPinned])
        {
            new Exploration(output).ExpectHolds(() => Beside(
                () => Assert.True(_stage.Store.DefaultCollection.Remove(Key)), read, value => value is null or [1, 1, 1, 1]));
        }
    }

    private static byte[]? ReadPinned(CairnStore store)
    {
        if (!store.DefaultCollection.TryPin(Key, out PinnedValue? pinned))
        {
            return null;
        }

        using (pinned)
        {
            Schedule.Step();
            return pinned.Value.ToArray();
        }
    }

    private void ExpectRight(Func<CairnStore, byte[]?> read, [CallerMemberName] string test = "")
    {
        Prepare();

        new Exploration(output, test).ExpectHolds(() => Beside(
            () => Assert.True(_stage.Store.DefaultCollection.Set(Key, [2, 2, 2, 2])), read, value => value is [1, 1, 1, 1] or [2, 2, 2, 2]));
    }

    private void Prepare()
    {
        _stage.Store.DefaultCollection.Set(Key, [1, 1, 1, 1]);
        _stage.Keep();
    }

    private Scene Beside(Action write, Func<CairnStore, byte[]?> read, Func<byte[]?, bool> isRight)
    {
        _stage.Reset();
        byte[]? value = null;
        return new Scene(
            () => !isRight(value) ? $"The value is {(value is null ? "missing" : Convert.ToHexString(value))}."
                : _stage.Store.GetStatistics().Totals.DamagedEntries == 0 ? null : "Damage was met.",
            write,
            () => value = read(_stage[1]));
    }
}
