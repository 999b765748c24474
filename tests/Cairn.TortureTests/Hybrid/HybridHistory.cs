using System.Globalization;
using Cairn.TortureTests.Histories;

namespace Cairn.TortureTests.Hybrid;

// Checks whether reads of a cache found a value that was too old, and whether factories ran without need.
//
//   R1  Every value that is read was set or created for that key, and not after the read.
//   R2  A change is a set, a removal, a removal of the key's tag, or a clear. A value that was set is too old as soon as a change of its key
//       is acknowledged that began after the set had ended. A value that a factory created is too old as soon as a change is acknowledged
//       that began after the factory had begun. No read that begins later finds a value that is too old.
//   R3  Two factories of a key run at the same time, or one after the other, only if the key was changed. The change came before the second
//       factory began. It came after the earlier of the calls that ran them began, because it can have cancelled a lease that one held.
//       Factories whose values are for the first level only need no lease and do not count. Neither do factories of keys that expire.
//
//   R4  When all work has ended, all caches find the same value of a key, or none. Exceptions are values for one first level only, and
//       keys that expire.
//
// A cache may lose any entry, so a miss proves nothing. A change whose process died may have happened or not. So it makes no value too old, but it
// satisfies R3.
internal sealed class HybridHistory
{
    private readonly Dictionary<int, Changes> _changes = [];
    private readonly Dictionary<long, Operation> _origins = [];
    private readonly Dictionary<long, long> _calls = [];
    private readonly List<string> _faults = [];
    private readonly long _boundTicks;

    /// <summary>Checks a history.</summary>
    /// <param name="operations">All operations.</param>
    /// <param name="restsFrom">The moment after which no operation changes or creates a value.</param>
    /// <param name="bound">How long after an acknowledged change older values may be read, for caches that are not on one machine.</param>
    public HybridHistory(IReadOnlyList<Operation> operations, long restsFrom, TimeSpan bound = default)
    {
        _boundTicks = (long)(bound.TotalSeconds * System.Diagnostics.Stopwatch.Frequency);
        foreach (IGrouping<int, Operation> ofKey in operations.Where(o => o.Effect is Effect.Wrote or Effect.Removed).GroupBy(o => o.Key))
        {
            _changes[ofKey.Key] = new Changes([.. ofKey]);
        }

        foreach (Operation origin in operations.Where(o => o.Effect is Effect.Wrote or Effect.Made))
        {
            _origins.Add(origin.Value, origin);
        }

        foreach (Operation read in operations.Where(o => o.Effect == Effect.Read))
        {
            Reads++;
            CheckRead(read);
            _calls[read.Value] = Math.Min(read.Start, _calls.GetValueOrDefault(read.Value, long.MaxValue));
        }

        foreach (IGrouping<int, Operation> ofKey in operations.Where(
            o => o.Effect == Effect.Read && o.Start >= restsFrom && !HybridKeys.IsLocal(o.Value) && !HybridKeys.Expires(o.Key)).GroupBy(o => o.Key))
        {
            Operation[] differing = [.. ofKey.DistinctBy(o => o.Value)];
            if (differing.Length > 1)
            {
                _faults.Add($"key {ofKey.Key}: at rest, some find one value and some another (R4):\n  {string.Join("\n  ", differing)}");
            }
        }

        foreach (IGrouping<int, Operation> ofKey in operations.Where(o => o.Effect == Effect.Made && !HybridKeys.IsLocal(o.Value) && !HybridKeys.Expires(o.Key)).GroupBy(o => o.Key))
        {
            CheckFactories([.. ofKey.OrderBy(o => o.Start)]);
        }
    }

    /// <summary>Gets the violations of R1, R2 and R4.</summary>
    public IReadOnlyList<string> Faults => _faults;

    public int Reads { get; private set; }

    public int FactoryRuns { get; private set; }

    /// <summary>Gets the factories that ran at the same time as another without a reason (R3), each with the earlier one.</summary>
    public List<(Operation First, Operation Second)> Overlaps { get; } = [];

    /// <summary>Gets the factories that ran after another without a reason (R3), each with the earlier one.</summary>
    public List<(Operation First, Operation Second)> Repetitions { get; } = [];

    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Reads} reads, {FactoryRuns} factory runs, of which {Overlaps.Count} beside another and {Repetitions.Count} after another without need");

    private void CheckRead(Operation read)
    {
        if (!_origins.TryGetValue(read.Value, out Operation origin) || origin.Key != read.Key || read.End < origin.Start)
        {
            _faults.Add($"key {read.Key}: no write had made the value that was read (R1):\n  {read}");
            return;
        }

        long madeBy = origin.Effect == Effect.Made ? origin.Start : origin.End;
        foreach (Changes changes in ChangesOf(read.Key))
        {
            if (changes.LatestBefore(read.Start - _boundTicks) is { } change && change.Start > madeBy)
            {
                _faults.Add($"key {read.Key}: what was read is older than a change (R2):\n  {origin}\n  {change}\n  {read}");
                return;
            }
        }
    }

    private void CheckFactories(Operation[] runs)
    {
        FactoryRuns += runs.Length;
        for (int i = 1; i < runs.Length; i++)
        {
            Operation second = runs[i];
            Operation first = runs[..i].MaxBy(run => run.End);
            if (first.End > second.Start)
            {
                if (!IsChangedBetween(first, second))
                {
                    Overlaps.Add((first, second));
                }
            }
            else if (!IsChangedBetween(runs[i - 1], second))
            {
                Repetitions.Add((runs[i - 1], second));
            }
        }
    }

    private bool IsChangedBetween(Operation first, Operation second) =>
        ChangesOf(second.Key).Any(changes => changes.All.Any(
            change => change.End >= Math.Min(CallOf(first), CallOf(second)) && change.Start <= second.Start));

    // The start of the call that ran the factory: the first call that read its value, or another that waited for it.
    private long CallOf(Operation run) => Math.Min(run.Start, _calls.GetValueOrDefault(run.Value, long.MaxValue));

    private IEnumerable<Changes> ChangesOf(int key)
    {
        foreach (int place in new[] { key, HybridKeys.OfTag(HybridKeys.TagOf(key)), HybridKeys.Everything })
        {
            if (_changes.TryGetValue(place, out Changes? changes))
            {
                yield return changes;
            }
        }
    }

    // The changes in the order of their ends. Each has the latest beginning among all changes up to it.
    private sealed class Changes
    {
        private readonly Operation[] _byEnd;
        private readonly Operation[] _latest;

        public Changes(Operation[] all)
        {
            All = all;
            _byEnd = [.. all.Where(change => !change.IsPending).OrderBy(change => change.End)];
            _latest = [.. _byEnd];
            for (int i = 1; i < _latest.Length; i++)
            {
                _latest[i] = _latest[i - 1].Start > _latest[i].Start ? _latest[i - 1] : _latest[i];
            }
        }

        public Operation[] All { get; }

        /// <summary>Returns, of the changes that had ended before a moment, the one that began last.</summary>
        public Operation? LatestBefore(long moment)
        {
            int low = 0;
            int high = _byEnd.Length;
            while (low < high)
            {
                int middle = (low + high) / 2;
                if (_byEnd[middle].End < moment)
                {
                    low = middle + 1;
                }
                else
                {
                    high = middle;
                }
            }

            return low == 0 ? null : _latest[low - 1];
        }
    }
}
