using System.Globalization;
using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Machines;

/// <summary>How a machine tells the cache of a change in the source.</summary>
internal enum ChangeWay
{
    Remove,
    Set,
    RemoveByTag,
    Expire,
    Clear,
}

/// <summary>A change of a key's value in the source, and what became of it.</summary>
internal sealed class SourceChange(int key, long version, ChangeWay way, Machine machine, long beganAt)
{
    public int Key => key;

    public long Version => version;

    public ChangeWay Way => way;

    public Machine Machine => machine;

    public int Life { get; } = machine.Life;

    public long BeganAt => beganAt;

    /// <summary>Gets or sets the moment at which the cache acknowledged the change.</summary>
    public long AcknowledgedAt { get; set; } = long.MaxValue;

    /// <summary>Gets the first moment at which the server had it, so that machines could learn of it.</summary>
    public long VisibleAt { get; private set; } = long.MaxValue;

    /// <summary>Gets or sets whether the server had it, and lost it in a failover.</summary>
    public bool IsLost { get; set; }

    // A machine is not notified of its own changes, so a machine that removed the key learns nothing from that.
    private Place? _visibleBy;
    private long _visibleToAllAt = long.MaxValue;

    /// <summary>Notes that the server has it, or a removal or a newer value in its place.</summary>
    /// <param name="by">The machine that removed the key; null if all machines learn of it.</param>
    /// <param name="now">The moment.</param>
    public void OnVisible(Place? by, long now)
    {
        if (VisibleAt == long.MaxValue)
        {
            (VisibleAt, _visibleBy) = (now, by);
        }

        if (_visibleToAllAt == long.MaxValue && (by is null || by != _visibleBy))
        {
            _visibleToAllAt = now;
        }
    }

    /// <summary>Returns the first moment at which a machine could learn of it.</summary>
    public long VisibleTo(Place reader) => _visibleBy == reader ? _visibleToAllAt : VisibleAt;

    /// <summary>Gets or sets the last moment at which the value reached the server after the change was acknowledged.</summary>
    public long ArrivedLateAt { get; set; } = long.MinValue;

    /// <summary>Gets or sets when the machine sent it.</summary>
    public long SentLateAt { get; set; } = long.MinValue;

    /// <summary>Returns whether this value may win over that change, because both were under way at the same time.</summary>
    /// <param name="later">The change that began later.</param>
    /// <param name="readAt">The beginning of the read.</param>
    /// <param name="heardWithin">How long the change may be unknown to the machine when it sends the value.</param>
    /// <param name="removedWithin">How long the value may stay until the machine removes it.</param>
    public bool MayWinOver(SourceChange later, long readAt, long heardWithin, long removedWithin) => way == ChangeWay.Set
        && (AcknowledgedAt > later.BeganAt
            || (ArrivedLateAt > later.BeganAt && SentLateAt < Math.Min(later.VisibleAt, later.BeganAt + heardWithin) + heardWithin
                && readAt < ArrivedLateAt + removedWithin));
}

/// <summary>A run of a factory.</summary>
internal sealed record FactoryRun(int Key, Machine Machine, int Life, long StartedAt);

/// <summary>The source of the values, such as a database: the version of each key, and all changes so far.</summary>
internal sealed class Source(int keys)
{
    private readonly List<SourceChange>[] _changes = [.. Enumerable.Range(0, keys).Select(_ => new List<SourceChange>())];

    public int Keys => keys;

    public List<FactoryRun> Running { get; } = [];

    public long VersionOf(int key) => _changes[key].Count;

    public IReadOnlyList<SourceChange> ChangesOf(int key) => _changes[key];

    public SourceChange Change(int key, ChangeWay way, Machine machine, long now)
    {
        var change = new SourceChange(key, _changes[key].Count + 1, way, machine, now);
        _changes[key].Add(change);
        return change;
    }

    public static string NameOf(int key) => string.Create(CultureInfo.InvariantCulture, $"k{key}");

    public static string TagOf(int key) => string.Create(CultureInfo.InvariantCulture, $"t{key % 2}");

    public static string ValueOf(int key, long version) => string.Create(CultureInfo.InvariantCulture, $"<k{key}#{version}>");

    /// <summary>Returns the version within a value, or within a record that contains one; -1 if there is none.</summary>
    public static long VersionIn(ReadOnlySpan<byte> record)
    {
        int start = record.LastIndexOf("#"u8);
        int end = record.LastIndexOf(">"u8);
        return start >= 0 && end > start && long.TryParse(record[(start + 1)..end], CultureInfo.InvariantCulture, out long version) ? version : -1;
    }
}
