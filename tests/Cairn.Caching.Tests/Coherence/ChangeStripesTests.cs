using Cairn.Caching.Coherence;
using Cairn.Caching.Tests.Levels;

namespace Cairn.Caching.Tests.Coherence;

public class ChangeStripesTests
{
    private const ulong Key = 0x1234_5678_9ABC_DEF0;
    private const ulong SameStripe = Key + 1;

    private readonly ChangeStripes _stripes = new();
    private readonly RecordingSink _sink = new();

    public ChangeStripesTests()
    {
        _stripes.Attach(_sink);
    }

    [Fact]
    public void Only_changes_of_the_very_hash_count()
    {
        ChangeMark mark = _stripes.Mark(Key);
        ChangeMark[] marks = _stripes.MarkAll();

        _stripes.Change(SameStripe);

        Assert.True(_stripes.IsUnchanged(mark, Key));
        Assert.True(_stripes.IsUnchanged(marks, Key));
        Assert.True(Keep(mark, 0));
        Assert.False(_stripes.IsUnchanged(marks, SameStripe));

        _stripes.Change(Key);

        Assert.False(_stripes.IsUnchanged(mark, Key));
        Assert.False(_stripes.IsUnchanged(marks, Key));
        Assert.False(Keep(mark, 0));
        Assert.True(Keep(mark, 1));
        Assert.Equal([SameStripe, Key], _sink.Changed);
    }

    [Theory]
    [InlineData(256, true)]
    [InlineData(257, false)]
    public void More_changes_of_a_stripe_than_it_remembers_count_as_a_change(int others, bool isKept)
    {
        ChangeMark mark = _stripes.Mark(Key);

        for (int i = 0; i < others; i++)
        {
            _stripes.Change(SameStripe);
        }

        Assert.Equal(isKept, _stripes.IsUnchanged(mark, Key));
        Assert.Equal(isKept, Keep(mark, 5));
    }

    [Fact]
    public void A_change_of_everything_counts_for_every_hash_once_it_is_reported()
    {
        ChangeMark mark = _stripes.Mark(Key);
        ChangeMark[] marks = _stripes.MarkAll();

        _stripes.ChangeAll();

        Assert.False(_stripes.IsUnchanged(mark, Key));
        Assert.False(_stripes.IsUnchanged(marks, ulong.MaxValue));
        Assert.False(Keep(mark, 100));
        Assert.Equal(1, _sink.All);
        Assert.True(Keep(_stripes.Mark(Key), 0));
    }

    [Fact]
    public void Value_that_the_keep_predicate_refuses_is_refused()
    {
        Assert.False(_stripes.TryKeep(_stripes.Mark(Key), Key, 0, 0, static _ => false));
    }

    [Fact]
    public void Written_value_that_is_kept_counts_as_a_change_and_the_sink_is_not_notified()
    {
        ChangeMark mark = _stripes.Mark(Key);

        Assert.True(_stripes.TryKeepWritten(mark, Key, 0, static _ => true));

        Assert.Empty(_sink.Changed);
        Assert.False(_stripes.IsUnchanged(mark, Key));
        Assert.False(Keep(mark, 0));
        Assert.False(_stripes.TryKeepWritten(mark, Key, 0, static _ => true));
        Assert.Equal([Key], _sink.Changed);
    }

    [Fact]
    public void Written_value_that_is_not_kept_is_reported_to_the_sink_as_a_change()
    {
        ChangeMark mark = _stripes.Mark(Key);

        Assert.False(_stripes.TryKeepWritten(mark, Key, 0, static _ => false));

        Assert.Equal([Key], _sink.Changed);
        Assert.False(_stripes.IsUnchanged(mark, Key));
    }

    [Fact]
    public async Task Nothing_is_kept_that_is_older_than_a_change_that_was_acknowledged()
    {
        var level = new ToyLevel(static (stripes, mark, state, keep) => stripes.TryKeep(mark, Key, 0, state, keep));

        Assert.Equal(0, await level.CountStaleAsync(5000));
    }

    [Fact]
    public async Task Keeping_without_the_look_at_the_changes_would_be_found_out()
    {
        var level = new ToyLevel(static (_, _, state, keep) => keep(state));

        Assert.NotEqual(0, await level.CountStaleAsync(5000));
    }

    private bool Keep(ChangeMark mark, int ownChanges) => _stripes.TryKeep(mark, Key, ownChanges, 0, static _ => true);

    private delegate bool Keeper(ChangeStripes stripes, ChangeMark mark, (ToyLevel Level, int Value) state, Func<(ToyLevel Level, int Value), bool> keep);

    /// <summary>
    /// A model with one key: a growing number in a second level, and a first level that must never be older than an acknowledged number.
    /// </summary>
    private sealed class ToyLevel : IChangeSink
    {
        private readonly ChangeStripes _stripes = new();
        private readonly Keeper _keeper;
        private int _second;
        private int _fills;

        // -1 without a value.
        private int _first = -1;

        public ToyLevel(Keeper keeper)
        {
            _keeper = keeper;
            _stripes.Attach(this);
        }

        public void OnChanged(ulong hash) => Volatile.Write(ref _first, -1);

        public void OnChangedMany(int shift, ulong value) => Volatile.Write(ref _first, -1);

        /// <summary>Returns how often a read found a number whose replacement had been acknowledged before.</summary>
        public async Task<int> CountStaleAsync(int changes)
        {
            using var stop = new CancellationTokenSource();
            Task filler = OwnThread.Run(() =>
            {
                while (!stop.IsCancellationRequested)
                {
                    ChangeMark mark = _stripes.Mark(Key);
                    int value = Volatile.Read(ref _second);
                    Thread.SpinWait(20);
                    _keeper(_stripes, mark, (this, value), static state =>
                    {
                        Volatile.Write(ref state.Level._first, state.Value);
                        return true;
                    });
                    Volatile.Write(ref _fills, _fills + 1);
                }
            });
            int stale = await OwnThread.Run(() =>
            {
                int count = 0;
                for (int i = 1; i <= changes; i++)
                {
                    Volatile.Write(ref _second, i);
                    _stripes.Change(Key);

                    // The change is acknowledged. A fill in progress must end without keeping the value that it read.
                    int fills = Volatile.Read(ref _fills);
                    SpinWait spin = default;
                    while (Volatile.Read(ref _fills) == fills)
                    {
                        spin.SpinOnce(sleep1Threshold: -1);
                    }

                    int found = Volatile.Read(ref _first);
                    count += found >= 0 && found < i ? 1 : 0;
                }

                return count;
            });
            await stop.CancelAsync();
            await filler;
            return stale;
        }
    }
}
