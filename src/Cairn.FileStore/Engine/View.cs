using Cairn.FileStore.Entries;
using Cairn.FileStore.Sharing;

namespace Cairn.FileStore.Engine;

/// <summary>What a read needs, in one place: the word that tells of changes, the value of it that the table is as of, and the table.</summary>
internal sealed unsafe class View(Channel channel, EntryTable table)
{
    /// <summary>The generation of a table that may be out of date, whatever the word says.</summary>
    public const long Stale = -1;

    private readonly long* _word = channel.Word;
    private EntryTable _table = table;
    private long _applied = Stale;
    private Snapshot? _snapshot;

    public Channel Channel { get; } = channel;

    /// <summary>Whether no change has been committed since the table was brought up to date.</summary>
    public bool IsCurrent
    {
        get
        {
            // Acquire, both: the search of the table must not begin before. The first pairs with the commit of a writer, so a
            // change that was acknowledged before this read is seen here; the second with Advance.
            bool isCurrent = Volatile.Read(ref *_word) == Volatile.Read(ref _applied);
            GC.KeepAlive(Channel); // The word is readable for as long as the channel is referenced.
            return isCurrent;
        }
    }

    public EntryTable Table => Volatile.Read(ref _table);

    /// <summary>All entries at one moment; null if there was a change since the last time somebody asked.</summary>
    public Snapshot? Snapshot
    {
        get => Volatile.Read(ref _snapshot);
        set => Volatile.Write(ref _snapshot, value);
    }

    /// <summary>Says that the table has everything up to this generation.</summary>
    public void Advance(long generation) => Volatile.Write(ref _applied, generation);

    public void Invalidate() => Volatile.Write(ref _applied, Stale);

    public void Replace(EntryTable table) => Volatile.Write(ref _table, table);
}

/// <summary>All entries at one moment.</summary>
/// <param name="Values">Keys and values, as text.</param>
/// <param name="ValidUntilTicks">When the first of them expires.</param>
internal sealed record Snapshot(IReadOnlyDictionary<string, string> Values, long ValidUntilTicks);
