using System.Buffers.Binary;

namespace Cairn.Caching.AspNetCore.Tagging;

// The tags of responses, in a collection of their own that all processes share.
//
//   tag      ->  stamp u64 | lineage u64 | count u64      the tag's stamp, and the epoch in which it got it
//   (epoch)  ->  lineage u64 | count u64                  how many evictions there have been
//
//   I1  A response counts only while each of its tags has the stamp that the response was stored with. A tag without an entry has
//       none: what carried it is void.
//   I2  Evicting a tag first raises the epoch, then removes the tag's entry. When that is done, I1 voids what was stored before, in all
//       processes, without looking for it.
//   I3  A tag's entry is made only under a lease of its key, and its epoch is read while the lease is held. A removal ends the lease. So of
//       the evictions of a tag that has an entry, those that have ended raised the epoch before the entry's, and the others will remove it.
//   I4  A response that was begun in epoch E may be stored with a tag's stamp only if the stamp's epoch is not after E: if it is of E's
//       lineage and not later, or of a lineage before that. By I3 no eviction of the tag has then ended that began after the response.
//       Otherwise the response may have been made of what the eviction was about.
//   I5  Any entry may be lost, since the store is a cache. A lost stamp voids responses (I1). A lost epoch begins again under a
//       new lineage, which no earlier E belongs to.
//
// What cannot be written, because a process is stopped with a lock, is removed instead, which needs no lock; I5 covers the rest. Nothing
// grows: a tag is one entry, which is evicted like any other.
internal sealed class TagTable(CairnCollection entries)
{
    private const int RecordBytes = 8 + Epoch.Bytes;

    // Each attempt that fails lets another's succeed; who fails this often meets something that is not understood.
    private const int MaxAttempts = 1_000;

    // Leases are held for microseconds. Who waits this long waits for a process that is stopped, and does without.
    private static readonly TimeSpan LeaseWait = TimeSpan.FromMilliseconds(50);

    // Valid UTF-8 has neither, so no tag is like them.
    private static ReadOnlySpan<byte> EpochKey => [0xFE];

    private static ReadOnlySpan<byte> EmptyTag => [0xFF];

    public static CacheKey KeyOf(string tag) => tag.Length > 0 ? tag : new CacheKey(EmptyTag);

    public static CacheKey KeyOf(ReadOnlySpan<byte> tag) => new(tag.Length > 0 ? tag : EmptyTag);

    /// <summary>The present epoch, begun if there is none; unknown if that cannot be done.</summary>
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

    /// <summary>Voids all responses that carry the tag and were begun before.</summary>
    public void Evict(string tag)
    {
        Raise();
        VoidStamp(tag);

        // The next response finds a stamp of an epoch before its own, however many other tags are evicted while it is made.
        Renew(tag, wait: TimeSpan.Zero, out _, out _);
    }

    /// <summary>Whether the tag has this stamp now (I1).</summary>
    public bool HasStamp(CacheKey tag, ulong stamp)
    {
        Span<byte> record = stackalloc byte[RecordBytes];
        return TryRead(tag, record, out _) && StampOf(record) == stamp;
    }

    /// <summary>The stamp with which a response that was begun in this epoch may be stored; 0 if it may not (I4).</summary>
    public ulong StampFor(string tag, Epoch begun)
    {
        Span<byte> record = stackalloc byte[RecordBytes];
        for (int attempt = 0; begun.IsKnown && attempt < MaxAttempts; attempt++)
        {
            if (TryRead(KeyOf(tag), record, out _))
            {
                // The record is read before the present epoch: a lineage that is still the present one then has had no other after it.
                Epoch given = Epoch.Read(record[8..]);
                bool isEarlier = given.Lineage == begun.Lineage ? given.Count <= begun.Count : Now().Lineage == begun.Lineage;
                return isEarlier ? StampOf(record) : 0;
            }

            // A first use of the tag, or its entry was lost. If there were evictions since the response was begun, it may be one that was
            // evicted; then the next response may use what is written here.
            LeaseStatus status = Renew(tag, LeaseWait, out ulong stamp, out Epoch renewed);
            if (status != LeaseStatus.Hit)
            {
                return status == LeaseStatus.Acquired && renewed == begun ? stamp : 0;
            }
        }

        return 0;
    }

    /// <summary>The first step of an eviction (I2).</summary>
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

    /// <summary>The second step of an eviction (I2).</summary>
    internal void VoidStamp(string tag) => entries.Remove(KeyOf(tag));

    private static ulong StampOf(ReadOnlySpan<byte> record) => BinaryPrimitives.ReadUInt64LittleEndian(record);

    // Gives a tag that has no entry a stamp of the present epoch (I3). Hit: it has one by now, or had one a moment ago.
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

    // What is not as long as it must be is somebody else's. It goes, or nothing could be written in its place.
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
            entries.Remove(key, version);
        }

        return false;
    }
}
