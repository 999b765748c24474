using Cairn.FileStore.Entries;
using Cairn.FileStore.Sharing;

namespace Cairn.FileStore.Engine;

/// <summary>
/// The state that a read needs: the word that changes with every commit, the generation that the table reflects, and the table itself.
/// </summary>
internal sealed unsafe class View(Channel channel, EntryTable table)
{
    /// <summary>A generation that is never current, for a table that may be out of date.</summary>
    public const long Stale = -1;

    private readonly long* _word = channel.Word;
    private EntryTable _table = table;
    private long _applied = Stale;
    private Snapshot? _snapshot;

    public Channel Channel { get; } = channel;

    /// <summary>Gets whether the table reflects the last commit.</summary>
    public bool IsCurrent
    {
        get
        {
            // Both reads are acquire reads: the search of the table must not begin before them. The first pairs with the commit of a writer, so
            // a change that was acknowledged before this read is visible here. The second pairs with Advance.
            bool isCurrent = Volatile.Read(ref *_word) == Volatile.Read(ref _applied);
            GC.KeepAlive(Channel); // The word is only readable while the channel is referenced.
            return isCurrent;
        }
    }

    public EntryTable Table => Volatile.Read(ref _table);

    /// <summary>Gets or sets all entries at one point in time; null if an entry has changed since the last snapshot.</summary>
    public Snapshot? Snapshot
    {
        get => Volatile.Read(ref _snapshot);
        set => Volatile.Write(ref _snapshot, value);
    }

    /// <summary>Sets the generation that the table reflects.</summary>
    public void Advance(long generation) => Volatile.Write(ref _applied, generation);

    public void Invalidate() => Volatile.Write(ref _applied, Stale);

    public void Replace(EntryTable table) => Volatile.Write(ref _table, table);
}

/// <summary>All entries at one point in time.</summary>
/// <param name="Values">The keys and values, as text.</param>
/// <param name="ValidUntilTicks">The earliest expiration of the entries.</param>
internal sealed record Snapshot(IReadOnlyDictionary<string, string> Values, long ValidUntilTicks);
