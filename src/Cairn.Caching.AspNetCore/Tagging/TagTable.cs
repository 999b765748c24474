namespace Cairn.Caching.AspNetCore.Tagging;

// The tags of responses, in a separate collection that all processes share.
//
//   tag      ->  stamp u64 | lineage u64 | count u64      the tag's stamp, and the epoch in which the tag received it
//   (epoch)  ->  lineage u64 | count u64                  the number of evictions
//
//   I1  A response is valid only while each of its tags has the stamp that the response was stored with. A tag without an entry has
//       no stamp, so its responses are void.
//   I2  Evicting a tag first raises the epoch, then removes the tag's entry. After that, I1 voids all earlier responses in all processes
//       without a search for them.
//   I3  A tag's entry is made only under a lease of its key, and its epoch is read while the lease is held. A removal ends the lease. So
//       for a tag with an entry: evictions that have ended raised the epoch before the entry's epoch, and other evictions will remove the
//       entry.
//   I4  A response that began in epoch E may be stored with a tag's stamp only if the stamp's epoch is not after E: it has E's lineage
//       and is not later, or it has an earlier lineage. By I3, no eviction of the tag that began after the response has then ended.
//       Otherwise the response may contain data that the eviction was meant to remove.
//   I5  Any entry may be lost, since the store is a cache. A lost stamp voids responses (I1). A lost epoch begins again under a
//       new lineage, to which no earlier E belongs.
//
// If a stopped process holds a lock, an entry cannot be written. It is removed instead, which needs no lock; I5 covers the rest. The
// collection does not grow without bound: a tag is one entry, which can be evicted like any other.
internal sealed class TagTable(CairnCollection entries)
{
    private const int RecordBytes = 8 + Epoch.Bytes;

    // Each failed attempt means that another process succeeded, so this many failures indicate a fault.
    private const int MaxAttempts = 1_000;

    // Leases are held for microseconds. After a wait this long the holder is probably a stopped process, so the caller continues without
    // the lease.
    private static readonly TimeSpan LeaseWait = TimeSpan.FromMilliseconds(50);

    // Valid UTF-8 contains neither byte, so these keys differ from all tags.
    private static ReadOnlySpan<byte> EpochKey => [0xFE];

    private static ReadOnlySpan<byte> EmptyTag => [0xFF];

    public static CacheKey KeyOf(string tag) => tag.Length > 0 ? tag : new CacheKey(EmptyTag);

    public static CacheKey KeyOf(ReadOnlySpan<byte> tag) => new(tag.Length > 0 ? tag : EmptyTag);

    /// <summary>Returns the present epoch and begins one if there is none. Returns the unknown epoch if that fails.</summary>
    public Epoch Now()
    {
        Span<byte> record = stackalloc byte[Epoch.Bytes];
        for (int attempt = 0; attempt < MaxAttempts; attempt++)
        {
            if (TryRead(EpochKey, record, out _))
            {
                return Epoch.Read(record);
            }

            Epoch.Begin().Write(record);
            if (entries.Add(EpochKey, record, Expiration.None) is not (WriteStatus.Stored or WriteStatus.Exists))
            {
                break;
            }
        }

        return Epoch.Unknown;
    }

    /// <summary>Voids all responses that carry the tag and began before the call.</summary>
    public void Evict(string tag)
    {
        Raise();
        VoidStamp(tag);

        // The next response then finds a stamp of an epoch before its own, even if other tags are evicted while it is made.
        Renew(tag, wait: TimeSpan.Zero, out _, out _);
    }

    /// <summary>Returns whether the tag has this stamp now (I1).</summary>
    public bool HasStamp(CacheKey tag, ulong stamp)
    {
        Span<byte> record = stackalloc byte[RecordBytes];
        return TryRead(tag, record, out _) && StampOf(record) == stamp;
    }

    /// <summary>Returns the stamp with which a response that began in this epoch may be stored, or 0 if it may not be stored (I4).</summary>
    public ulong StampFor(string tag, Epoch begun)
    {
        Span<byte> record = stackalloc byte[RecordBytes];
        for (int attempt = 0; begun.IsKnown && attempt < MaxAttempts; attempt++)
        {
            if (TryRead(KeyOf(tag), record, out _))
            {
                // The record is read before the present epoch. So if a lineage is still the present one, no later lineage existed at the
                // first read.
                Epoch given = Epoch.Read(record[8..]);
                bool isEarlier = given.Lineage == begun.Lineage ? given.Count <= begun.Count : Now().Lineage == begun.Lineage;
                return isEarlier ? StampOf(record) : 0;
            }

            // The tag is new, or its entry was lost. Any eviction since the response began may have been of this tag, so the response is
            // then not stored. The next response may use the stamp written here.
            LeaseStatus status = Renew(tag, LeaseWait, out ulong stamp, out Epoch renewed);
            if (status != LeaseStatus.Hit)
            {
                return status == LeaseStatus.Acquired && renewed == begun ? stamp : 0;
            }
        }

        return 0;
    }

    /// <summary>Raises the epoch, the first step of an eviction (I2).</summary>
    internal void Raise()
    {
        Span<byte> record = stackalloc byte[Epoch.Bytes];
        for (int attempt = 0; attempt < MaxAttempts; attempt++)
        {
            WriteStatus status;
            if (TryRead(EpochKey, record, out ulong version))
            {
                Epoch now = Epoch.Read(record);
                (now with { Count = now.Count + 1 }).Write(record);
                status = entries.CompareAndSwap(EpochKey, record, version, Expiration.None);
            }
            else
            {
                Epoch.Begin().Write(record);
                status = entries.Add(EpochKey, record, Expiration.None);
            }

            if (status == WriteStatus.Stored)
            {
                return;
            }

            if (status is not (WriteStatus.Exists or WriteStatus.VersionMismatch or WriteStatus.NotFound))
            {
                break;
            }
        }

        entries.Remove(EpochKey);
    }

    /// <summary>Removes the tag's entry, the second step of an eviction (I2).</summary>
    internal void VoidStamp(string tag) => entries.Remove(KeyOf(tag));

    private static ulong StampOf(ReadOnlySpan<byte> record) => BinaryPrimitives.ReadUInt64LittleEndian(record);

    // Gives a tag without an entry a stamp of the present epoch (I3). Hit: the tag has an entry by now, or had one a moment ago.
    private LeaseStatus Renew(string tag, TimeSpan wait, out ulong stamp, out Epoch given)
    {
        stamp = 0;
        given = Epoch.Unknown;
        LeaseStatus status = entries.AcquireLease(KeyOf(tag), wait, out StoreLease? lease);
        if (lease is null)
        {
            return status;
        }

        using (lease)
        {
            given = Now();
            if (!given.IsKnown)
            {
                return LeaseStatus.Busy;
            }

            stamp = Stamps.Next();
            Span<byte> record = stackalloc byte[RecordBytes];
            BinaryPrimitives.WriteUInt64LittleEndian(record, stamp);
            given.Write(record[8..]);
            return lease.TrySet(record, Expiration.None) ? LeaseStatus.Acquired : LeaseStatus.Hit;
        }
    }

    // A record of another length was not written by this class. It is removed, because otherwise it would block the writes in its place.
    private bool TryRead(CacheKey key, Span<byte> record, out ulong version)
    {
        bool isThere = entries.TryGet(key, record, out EntryInfo info);
        version = info.Version;
        if (isThere && info.ValueBytes == record.Length)
        {
            return true;
        }

        if (version != 0)
        {
            entries.CompareAndRemove(key, version);
        }

        return false;
    }
}
