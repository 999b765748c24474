using Cairn.Encryption;
using Cairn.Engine;

namespace Cairn;

// The operations that list keys.
public sealed unsafe partial class CairnCollection
{
    // A bucket has seven slots, so one step visits at most a few hundred keys.
    private const int BucketsPerStep = 64;

    /// <summary>
    /// Visits some entries and advances the cursor. Start with the default cursor, and call this method until it returns false.
    /// </summary>
    /// <param name="cursor">The position of the scan. Another process can continue with the same cursor later.</param>
    /// <param name="filter">The keys to visit. Null visits all keys.</param>
    /// <param name="visitor">Called for each entry. The key is valid only during the call.</param>
    /// <returns>False if the scan is complete.</returns>
    /// <remarks>
    /// A key that has a value during the whole scan is visited exactly once, even if other keys change. A key that is set, removed or set again during the
    /// scan can be visited or not. In an encrypted store a scan reads and decrypts every value, because the key is stored inside the encrypted value.
    /// </remarks>
    public bool Scan(ref ScanCursor cursor, KeyFilter? filter, ScanVisitor visitor)
    {
        ArgumentNullException.ThrowIfNull(visitor);
        ArgumentOutOfRangeException.ThrowIfNegative(cursor.Position, nameof(cursor));
        Engine.ThrowIfClosed();
        long bucket = cursor.Position;
        long end = Math.Min(bucket + BucketsPerStep, Engine.BucketCount);
        void Visit(ReadOnlySpan<byte> key, in EntryInfo info, uint collection)
        {
            if (collection == Number && (filter is null || filter.Matches(key)))
            {
                visitor(key, info);
            }
        }

        void VisitOpened(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, in EntryInfo info, uint collection) =>
            Visit(key, info, collection);

        OpenedVisitor visitOpened = VisitOpened;
        void VisitTag(ReadOnlySpan<byte> tag, in EntryInfo info, uint collection)
        {
            if (collection == Number)
            {
                VisitSealed(Engine, _cipher!, tag, collection, visitOpened);
            }
        }

        EntryVisitor visit = _cipher is null ? Visit : VisitTag;
        for (; bucket < end; bucket++)
        {
            Engine.VisitBucket(bucket, visit);
        }

        cursor = new ScanCursor(bucket);
        return bucket < Engine.BucketCount;
    }

    /// <summary>
    /// Lists the entries. The scan advances while the caller consumes the list. The remarks of <see cref="Scan"/> about concurrent changes apply.
    /// </summary>
    /// <param name="filter">The keys to list. Null lists all keys.</param>
    /// <returns>Copies of the keys, with the information of each entry.</returns>
    public IEnumerable<StoreEntry> Entries(KeyFilter? filter = null)
    {
        Engine.ThrowIfClosed();
        return List(filter);
    }

    private IEnumerable<StoreEntry> List(KeyFilter? filter)
    {
        var found = new List<StoreEntry>();
        var cursor = default(ScanCursor);
        bool isMore = true;
        while (isMore)
        {
            found.Clear();
            isMore = Scan(ref cursor, filter, (key, info) => found.Add(new StoreEntry(key.ToArray(), info)));
            foreach (StoreEntry entry in found)
            {
                yield return entry;
            }
        }
    }
}
