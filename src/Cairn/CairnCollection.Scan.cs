using Cairn.Encryption;
using Cairn.Engine;

namespace Cairn;

// Listing keys.
public unsafe partial class CairnCollection
{
    // A bucket has seven slots, so a step of this many buckets visits a few hundred keys at most.
    private const int BucketsPerStep = 64;

    /// <summary>Visits some entries and moves the cursor behind them. Start with the default cursor; call until the result is false.</summary>
    /// <param name="cursor">Where the scan has got to. A cursor may be kept and continued by another process.</param>
    /// <param name="filter">Which keys to visit; null for all.</param>
    /// <param name="visitor">Called for each entry. The key is valid only during the call.</param>
    /// <returns>False when the scan is complete.</returns>
    /// <remarks>
    /// A key that has a value from the beginning of the scan to its end is visited exactly once, whatever changes meanwhile. A key that
    /// comes, goes or is set anew during the scan may be visited or not. In an encrypted store a key is known only when its value was
    /// decrypted with it, so a scan reads everything.
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

    /// <summary>Lists the entries, reading on as they are consumed. What <see cref="Scan"/> says of concurrent change holds.</summary>
    /// <param name="filter">Which keys to list; null for all.</param>
    /// <returns>Copies of keys, with what is known of each entry.</returns>
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
